//! Estimate of the size of the output.

use seixo_analysis::ShapeSurface;
use seixo_engine::world::{Fluids, PolyhedralShape};
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
    let count = |wanted: &[Field]| scene.output.fields.iter().filter(|field| wanted.contains(field)).count() as f64;
    let vectors = count(&[Field::Velocity, Field::AngularVelocity, Field::Force, Field::Torque]);
    let rotations = count(&[Field::Orientation]);
    let others = scene.output.fields.len() as f64 - vectors - rotations;
    // Compression: positions hardly shrink, single-precision numbers a little, whole numbers almost vanish; base64 adds a third.
    let compressed = 4.0 / 3.0 * (22.0 + 10.0 * vectors + 14.0 * rotations);
    // Positions, radii, ids and two indices of vertices; vectors and rotations in single precision, and other fields in double.
    let raw = 52.0 + 12.0 * vectors + 16.0 * rotations + 8.0 * others;
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
    let triangles = scene.outlines.triangles() as f64;
    let polyhedra = grains * share_of_polyhedra(scene);
    let of_polyhedra = polyhedra * bytes_of_polyhedron(&scene.world.shapes, scene.output.encoding);
    let frame = frame + contacts + points + bonds + particles * of_particle + vertices * 90.0 + triangles * 90.0 + of_polyhedra;
    // Statistics are four numbers for each column.
    let wide = |probe: &Probe| if probe.average.is_some() { 350.0 } else { 70.0 };
    let lines: f64 = scene.probes.iter().map(|probe| wide(probe) * times(probe.every)).sum();
    // A die in a bed has some three partners, and histories of all contacts with each.
    let checkpoint = 300.0 * (grains + particles) + 400.0 * polyhedra + bonds;
    (frame * times(scene.output.every) + 250.0 * times(scene.output.energies_every) + lines + 2.0 * checkpoint) as u64
}

/// Share of the grains that are polyhedral. The simulation may have taken the grains by now; then all count as such if the world has shapes.
fn share_of_polyhedra(scene: &Scene) -> f64 {
    let shape = &scene.world.grains.shape;
    match (shape.len(), scene.world.shapes.len()) {
        (_, 0) => 0.0,
        (0, _) => 1.0,
        (grains, _) => shape.iter().filter(|&&shape| shape > 0).count() as f64 / grains as f64,
    }
}

/// Mean bytes of the surface of a polyhedral grain of one of these shapes in a frame.
fn bytes_of_polyhedron(shapes: &[PolyhedralShape], encoding: Encoding) -> f64 {
    let bytes = |shape: &PolyhedralShape| {
        let surface = ShapeSurface::of(shape);
        let [vertices, triangles] = [surface.position.len(), surface.triangles.len()].map(|count| count as f64);
        match encoding {
            // Indices, and ids and velocities, which the triangles of a grain share, almost vanish: frames of boxes, rocks, capsules and tablets have
            // 26 to 28 bytes for each triangle.
            Encoding::Compressed => 27.0 * triangles,
            // A vertex has a position in double and a normal in single precision; a triangle has four indices, an id and a velocity.
            Encoding::Raw => 36.0 * vertices + 48.0 * triangles,
        }
    };
    shapes.iter().map(bytes).sum::<f64>() / shapes.len().max(1) as f64
}
