//! Fluids of every solver where they were refused once: in domains on a GPU, and with servos on a GPU (software Vulkan suffices; without any adapter
//! these tests fail).

use crate::couette::couette;
use crate::domains_on_a_gpu::after;
use crate::driven::{paddled, served};
use crate::ledgers::assert_same_ledger;
use crate::on_gpus::among;
use crate::pools::{fluids, tank, water};
use crate::solvers::incompressible;
use crate::vessels::{SPACING, splash};
use seixo_engine::Simulation;
use seixo_engine::world::{DeviceChoice, GhostSelection, Precision, Settings};

#[test]
fn domains_on_a_gpu_exchange_within_a_step() {
    let mut shifted = couette();
    shifted.fluids.as_mut().unwrap().particle_shifting = true;
    let mut smoothed = couette();
    smoothed.fluids.as_mut().unwrap().kinds[0].xsph = 0.5;
    for (what, world) in [
        ("incompressible", incompressible(paddled())),
        ("shifted", shifted),
        ("with XSPH", smoothed),
    ] {
        let [whole, decomposed] = [1, 2].map(|domains| after(&world, domains, Precision::Mixed, 40));
        assert_eq!(whole.fluid(), decomposed.fluid(), "{what}");
        assert_eq!(whole.solves_of_fluids(), decomposed.solves_of_fluids(), "{what}");
        assert_same_ledger(&whole, &decomposed, what);
    }
}

#[test]
fn gpus_take_many_steps_of_fluids_while_no_host_waits() {
    let steps = 40;
    let mut smoothed = couette();
    smoothed.fluids.as_mut().unwrap().kinds[0].xsph = 0.5;
    // A batch is half as long as lists last, and hosts agree on the next one, on its flags, and once or twice at each rebuild. The block of Müller's fluid
    // is so fast that its lists would last for a few steps only. With a wide skin they last for several batches.
    let wide = Some(1.5 * SPACING);
    for (what, world, skin) in [
        ("between plates", couette(), None),
        ("with XSPH", smoothed, None),
        ("of Müller's solver", splash(), wide),
    ] {
        let [whole, decomposed] = [1, 2].map(|domains| {
            let settings = Settings {
                skin,
                ..among(domains, Precision::Mixed)
            };
            let mut simulation = Simulation::new(world.clone(), settings).unwrap();
            simulation.advance(steps).unwrap();
            simulation.observe().unwrap();
            simulation
        });
        // Where hosts wait, they agree at least once a step.
        let found = decomposed.decomposition().unwrap();
        assert!(
            found.communication.iter().all(|counts| counts.collectives < steps),
            "{what}: {found:?}"
        );
        assert_eq!(whole.fluid(), decomposed.fluid(), "{what}");
    }
}

#[test]
fn ghosts_of_fluid_from_layers_of_cells_are_those_among_all_particles() {
    // A column of water that collapses in a tank, whose wall particles rest.
    let mut medium = water(44.0);
    (medium.viscosity, medium.artificial_viscosity, medium.density_diffusion) = (0.5, 0.05, 0.1);
    let mut pool = fluids(vec![medium], 0.05, 3.0, Some(1));
    pool.largest_speed = 4.4;
    let column = tank(pool, [32, 1, 24], [16, 1, 20], 3, None);
    for (what, world) in [("weakly compressible", column.clone()), ("incompressible", incompressible(column))] {
        let run = |domains: usize, ghost_selection: GhostSelection| {
            let settings = Settings {
                ghost_selection,
                ..among(domains, Precision::Mixed)
            };
            let mut simulation = Simulation::new(world.clone(), settings).unwrap();
            simulation.advance(200).unwrap();
            simulation.observe().unwrap();
            simulation
        };
        let [all, layers] = GhostSelection::ALL.map(|ghost_selection| run(2, ghost_selection));
        assert!(layers.rebuilds() > 0, "{what}: {}", layers.rebuilds());
        assert_eq!(all.fluid(), layers.fluid(), "{what}");
        assert_same_ledger(&all, &layers, what);
        let found = layers.decomposition().unwrap();
        assert!(
            found.communication.iter().all(|counts| !counts.selecting.is_zero()),
            "{what}: {found:?}"
        );
        if what == "weakly compressible" {
            // Among all particles, those beyond the reach of lists are ghosts only in front of walls, which are at one side and the bottom here.
            let bytes = |simulation: &Simulation| -> u64 {
                let found = simulation.decomposition().unwrap();
                found.communication.iter().map(|counts| counts.bytes).sum()
            };
            let [sent, sent_by_layers] = [&all, &layers].map(bytes);
            assert!(sent < sent_by_layers, "{what}: {sent} B, {sent_by_layers} B");
            // What is left out acts on nothing.
            assert_eq!(run(1, GhostSelection::All).fluid(), all.fluid(), "{what}");
        }
    }
}

#[test]
fn a_servo_moves_the_wall_particles_of_its_wall() {
    // Water of constant density may take another number of iterations: velocities then differ by what the solver leaves.
    for (world, [far, fast]) in [(served(), [1e-12, 1e-8]), (incompressible(served()), [1e-7, 1e-3])] {
        let [here, there] = [(DeviceChoice::Cpu, None), (DeviceChoice::Gpu(None), Some(Precision::F64))].map(|(device, precision)| {
            let settings = Settings {
                device,
                precision,
                threads: 1,
                ..Settings::default()
            };
            let mut simulation = Simulation::new(world.clone(), settings).unwrap();
            let start = simulation.walls().last().unwrap().position[0];
            simulation.advance(400).unwrap();
            simulation.observe().unwrap();
            let way = simulation.walls().last().unwrap().position[0] - start;
            (way, simulation.fluid().unwrap(), simulation.time())
        });
        // The paddle came to the grain at its largest speed, and stopped there.
        let fastest = 0.5 * here.2;
        assert!(here.0 > 1e-4 && here.0 < 0.6 * fastest, "{:e} m, at most {fastest:e} m", here.0);
        assert!((here.0 - there.0).abs() < 1e-12, "{} {}", here.0, there.0);
        let apart = |mine: &[[f64; 3]], its: &[[f64; 3]]| {
            let both = mine.iter().flatten().zip(its.iter().flatten());
            both.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
        };
        // Rounding of sums in another order; the fastest water has the speed of the paddle.
        let (x, v) = (
            apart(&here.1.position, &there.1.position),
            apart(&here.1.velocity, &there.1.velocity),
        );
        assert!(x < far && v < fast, "{x:e} m, {v:e} m/s");
        assert!(here.1.velocity.iter().any(|v| v[0] > 1e-4), "the water follows");
    }
}
