//! Grains at rest under strong damping stay at rest at the time step that "auto" takes: the ledger closes.

mod beds;

use seixo_engine::Simulation;
use seixo_engine::world::Settings;
use seixo_laws::contact::{NormalLaw, TangentialLaw};

#[test]
fn damped_beds_come_to_rest_and_the_ledger_closes() {
    for (normal, tangential, restitution) in [
        (NormalLaw::Hertz, TangentialLaw::Mindlin, 0.1),
        (NormalLaw::Hertz, TangentialLaw::Mindlin, 0.3),
        (NormalLaw::Linear, TangentialLaw::Linear, 0.3),
        (NormalLaw::Hertz, TangentialLaw::Mindlin, 0.9),
    ] {
        let mut world = beds::falling(500, tangential);
        world.walls[0].motion.velocity = [0.0; 3];
        let interaction = world.interactions[0].as_mut().unwrap();
        (interaction.normal, interaction.restitution, interaction.friction) = (normal, restitution, 0.8);
        interaction.stiffness = Some(2000.0);
        let mut simulation = Simulation::new(world, Settings::default()).unwrap();
        let start = simulation.ledger();
        while simulation.time() < 0.02 {
            simulation.advance(500).unwrap();
        }
        let end = simulation.ledger();
        let moved = start.gravity - end.gravity;
        println!("{normal:?} e {restitution}: {end:?}");
        assert!(moved > 1e-5);
        // Reliability bar 6: the residual is at most 1e-3 of the energy that moved.
        assert!(
            end.residual.abs() < 1e-3 * moved,
            "{normal:?}, e {restitution}: residual {:e} of {moved:e} J",
            end.residual
        );
        if restitution < 0.5 {
            assert!(end.kinetic + end.rotational < 1e-3 * moved, "{normal:?}, e {restitution}: {end:?}");
        }
    }
}
