//! Estimate of the size of the output.

use seixo_analysis::ShapeSurface;
use seixo_engine::world::Fluids;
use seixo_files::vtk::{Encoding, Field};
use seixo_scene::{Probe, Scene};

/// Estimates the numbers of grains and of fluid particles that enter after the start, through inlets and by stages.
pub fn entering_later(scene: &Scene) -> [f64; 2] {
    let until = scene.run.until;
    let through_inlets: f64 = scene.plan.inlets.iter().map(|inlet| inlet.grains_until(until)).sum();
    let of_fluids = |fluids: &Fluids| -> f64 {
        let inlets = fluids.inlets.iter();
        inlets.map(|inlet| inlet.particles_until(until, fluids.spacing)).sum()
    };
    let by_stages = scene.plan.reserve.len() as f64;
    [by_stages + through_inlets, scene.world.fluids.as_ref().map_or(0.0, of_fluids)]
}

/// Estimates the bytes of frames, tables and two checkpoints of a run that starts with this number of grains.
pub fn expected_output(scene: &Scene, grains: usize, time_step: f64) -> u64 {
    let [grains_later, particles_later] = entering_later(scene);
    let grains = grains as f64 + grains_later;
    let times = |every: f64| (scene.run.until / every.max(time_step)).floor() + 1.0;
    let wide = [Field::Velocity, Field::AngularVelocity, Field::Force, Field::Torque];
    let vectors = scene.output.fields.iter().filter(|field| wide.contains(field)).count() as f64;
    // Compression: positions hardly shrink, single-precision vectors a little, whole numbers almost vanish; base64 adds a third.
    let compressed = 4.0 / 3.0 * (22.0 + 10.0 * vectors);
    // Positions, radii, ids and two indices of vertices; vectors in single precision, and other fields in double.
    let raw = 52.0 + 12.0 * vectors + 8.0 * (scene.output.fields.len() as f64 - vectors);
    let of_grain = match scene.output.encoding {
        Encoding::Compressed => compressed,
        Encoding::Raw => raw,
    };
    let frame = grains * of_grain + 2e3;
    // Some three contacts per grain, and 24 numbers per grid point.
    let contacts = if scene.output.contacts { 3.0 * grains * 110.0 } else { 0.0 };
    let points = scene.output.coarse.map_or(0.0, |coarse| coarse.grid.len() as f64 * 130.0);
    // As many bonds as contacts, and as much in a checkpoint, with a line for each fragment.
    let bonds = if scene.world.bonds.is_empty() { 0.0 } else { 3.0 * grains * 110.0 };
    // Positions, velocities, pressures and densities hardly shrink; a checkpoint needs as much as for grains.
    let particles_at_start = scene.world.fluids.as_ref().map_or(0, |fluids| fluids.particles.len());
    let particles = particles_at_start as f64 + particles_later;
    // Some four vertices for each particle on the six faces of a cube, and as many again for splashes.
    let vertices = if scene.output.surface {
        50.0 * particles.powf(2.0 / 3.0)
    } else {
        0.0
    };
    // As those of grains, with density and pressure in single precision and the index of the fluid.
    let of_particle = match scene.output.encoding {
        Encoding::Compressed => 55.0,
        Encoding::Raw => 68.0,
    };
    // Half a vertex to three vertices for each triangle of a body.
    // The simulation may have taken the grains by now. So each counts with the mean of the shapes.
    let shapes = &scene.world.shapes;
    let of_shapes: usize = shapes.iter().map(|shape| ShapeSurface::of(shape).triangles.len()).sum();
    let triangles = scene.outlines.triangles() as f64 + grains * of_shapes as f64 / shapes.len().max(1) as f64;
    let frame = frame + contacts + points + bonds + particles * of_particle + vertices * 90.0 + triangles * 90.0;
    // Statistics are four numbers for each column.
    let wide = |probe: &Probe| if probe.average.is_some() { 350.0 } else { 70.0 };
    let lines: f64 = scene.probes.iter().map(|probe| wide(probe) * times(probe.every)).sum();
    let checkpoint = 300.0 * (grains + particles) + bonds;
    (frame * times(scene.output.every) + 250.0 * times(scene.output.energies_every) + lines + 2.0 * checkpoint) as u64
}
