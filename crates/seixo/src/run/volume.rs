//! How much a run will write.

use seixo_engine::world::FluidInlet;
use seixo_files::vtk::Field;
use seixo_scene::Scene;

/// Bytes that a run that starts with so many grains will write, about: frames, tables and two checkpoints.
pub fn expected_output(scene: &Scene, grains: usize, time_step: f64) -> u64 {
    let coming: f64 = scene.plan.inlets.iter().map(|inlet| inlet.grains_until(scene.run.until)).sum();
    let grains = (grains + scene.plan.reserve.len()) as f64 + coming;
    let times = |every: f64| (scene.run.until / every.max(time_step)).floor() + 1.0;
    let wide = [Field::Velocity, Field::AngularVelocity, Field::Force, Field::Torque];
    let vectors = scene.output.fields.iter().filter(|field| wide.contains(field)).count() as f64;
    // Places hardly shrink when packed, vectors in singles a little, whole numbers nearly vanish; base64 adds a third.
    let frame = grains * 4.0 / 3.0 * (22.0 + 10.0 * vectors) + 2e3;
    // Some three contacts a grain, and twenty-four numbers a point.
    let contacts = if scene.output.contacts { 3.0 * grains * 110.0 } else { 0.0 };
    let points = scene.output.coarse.map_or(0.0, |coarse| coarse.grid.len() as f64 * 130.0);
    // As many bonds, where there are any, and as much in a checkpoint, with a line for each fragment.
    let bonds = if scene.world.bonds.is_empty() { 0.0 } else { 3.0 * grains * 110.0 };
    // Places, velocities, pressures and densities, which hardly shrink; in a checkpoint as much as of grains.
    let particles = scene.world.fluids.as_ref().map_or(0.0, |fluids| {
        let until = |inlet: &FluidInlet| inlet.particles_until(scene.run.until, fluids.spacing);
        fluids.particles.len() as f64 + fluids.inlets.iter().map(until).sum::<f64>()
    });
    // Some four vertices for each particle of the six faces of a cube, and for what splashes as much again.
    let vertices = if scene.output.surface {
        50.0 * particles.powf(2.0 / 3.0)
    } else {
        0.0
    };
    // Half a vertex to three for each triangle of a body.
    let triangles = scene.outlines.triangles() as f64;
    let frame = frame + contacts + points + bonds + particles * 55.0 + vertices * 90.0 + triangles * 90.0;
    let lines: f64 = scene.probes.iter().map(|probe| 70.0 * times(probe.every)).sum();
    let checkpoint = 300.0 * (grains + particles) + bonds;
    (frame * times(scene.output.every) + 250.0 * times(scene.output.energies_every) + lines + 2.0 * checkpoint) as u64
}
