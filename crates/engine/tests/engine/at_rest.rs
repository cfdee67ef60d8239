//! Matter at rest under strong damping stays at rest with the time step of "auto": the ledger of grains closes, and water does not start to move.

use crate::beds;
use crate::pools::{G, domain, fluids, tank, water};
use seixo_engine::Simulation;
use seixo_engine::world::{Settings, World};
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
        // Reliability criterion 6: the residual is at most 1e-3 of the energy that was converted.
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

/// A tank of still water with this density diffusion and artificial viscosity, and with a viscosity \[Pa s\].
fn still_water([diffusion, artificial, viscosity]: [f64; 3], is_plane: bool) -> World {
    let (spacing, depth) = (0.02, 10);
    let fastest = (2.0 * G * depth as f64 * spacing).sqrt();
    let mut medium = water(10.0 * fastest);
    (medium.density_diffusion, medium.artificial_viscosity, medium.viscosity) = (diffusion, artificial, viscosity);
    let layers = if is_plane { 4 } else { 3 };
    let mut fluids = fluids(vec![medium], spacing, layers as f64, is_plane.then_some(1));
    fluids.largest_speed = fastest;
    let width = if is_plane { [20, 1] } else { [8, 8] };
    let around = domain([-1.0; 3], [1.0; 3], [false; 3]);
    tank(fluids, [width[0], width[1], 14], [width[0], width[1], depth], layers, Some(around))
}

#[test]
fn still_water_stays_still_whatever_diffuses_in_it() {
    for is_plane in [true, false] {
        // In the last case each viscosity alone would allow half of the limit.
        for (given, cause) in [
            ([0.7, 0.0, 0.0], "diffusion of densities"),
            ([0.1, 5.0, 0.0], "viscosity of \"water\" with the artificial one"),
            ([0.7, 2.0, 100.0], "viscosity of \"water\" with the artificial one"),
        ] {
            let mut simulation = Simulation::new(still_water(given, is_plane), Settings::default()).unwrap();
            assert!(simulation.time_step().cause.starts_with(cause), "{:?}", simulation.time_step());
            simulation.advance(400).unwrap();
            let fluid = simulation.fluid().unwrap();
            let fastest = fluid.velocity.iter().flatten().fold(0.0, |most: f64, v| most.max(v.abs()));
            // Relative to the velocity after a fall through the tank: the initial state is not exactly in equilibrium and emits some sound.
            assert!(
                fastest < 0.05 * (2.0 * G * 0.2f64).sqrt(),
                "{given:?} plane {is_plane}: {fastest} m/s"
            );
        }
    }
}

#[test]
fn a_step_in_which_diffusion_would_run_away_is_refused() {
    for given in [[0.7, 0.0, 0.0], [0.1, 5.0, 0.0]] {
        let limit = Simulation::new(still_water(given, true), Settings::default())
            .unwrap()
            .time_step()
            .limit;
        let settings = Settings {
            time_step: Some(1.01 * limit),
            ..Settings::default()
        };
        assert!(Simulation::new(still_water(given, true), settings).is_err(), "{given:?}");
    }
}
