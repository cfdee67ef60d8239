//! Fluid that freezes into rigid bodies: tests of what the body has of its particles.

use crate::devices::started_on;
use crate::domains::among;
use crate::melting::{MASS, SOLVERS, SPACING, apart, totals};
use crate::pools::{G, domain, drop_in, fluids, sites, water, wet};
use crate::solvers::incompressible;
use crate::vectors::cross;
use crate::vessels;
use seixo_engine::world::{
    DeviceChoice, ExpectedGrains, Fluids, Interaction, Precision, Settings, Smoothing, Solver, StateLaw, Vec3, World,
};
use seixo_engine::{Freezing, Simulation};
use seixo_laws::motion::Scheme;

/// Corner of the drop that freezes, in spacings; it has eight along each edge.
const CORNER: i64 = 2;
const EDGE: i64 = 8;
/// Middle of the drop at the start \[m\].
const MIDDLE: f64 = (CORNER as f64 + 0.5 * EDGE as f64) * SPACING;
/// Velocity of the drop \[m/s\], and its angular velocity \[rad/s\].
const VELOCITY: Vec3 = [0.1, 0.03, -0.02];
const SPIN: Vec3 = [0.3, 0.1, 0.5];

/// A fluid of this solver without particles.
fn medium(solver: Solver) -> Fluids {
    let mut medium = water(20.0);
    if solver == Solver::Muller2003 {
        // XSPH keeps momentum only where densities are equal.
        (medium.viscosity, medium.xsph, medium.state) = (5.0, 0.0, StateLaw::Linear);
        (medium.body_stiffness, medium.body_restitution) = (500.0, 0.7);
    } else {
        (medium.artificial_viscosity, medium.density_diffusion) = (0.1, 0.1);
    }
    let mut fluids = fluids(vec![medium], SPACING, 3.0, None);
    fluids.largest_speed = 2.0;
    if solver == Solver::Muller2003 {
        (fluids.solver, fluids.smoothing) = (solver, Smoothing::Poly6);
    }
    fluids
}

/// Announces that fluid may freeze into spheres of half a spacing.
fn announce(world: &mut World) {
    world.groups = vec!["ice".to_owned()];
    world.materials[0].youngs_modulus = 1e6;
    world.interactions = vec![Some(Interaction::default())];
    world.later.freezes = true;
    world.later.grains = vec![ExpectedGrains {
        material: 0,
        radius: [0.5 * SPACING; 2],
        speed: 1.0,
        reach: 1.0,
        highest_id: None,
        mass_per_radius: None,
        shape: None,
    }];
}

/// A drop that moves, rotates and is deformed, and a second one at rest half a meter away.
fn drops(solver: Solver, gravity: f64) -> World {
    let mut fluids = medium(solver);
    for x in sites([CORNER; 3], [CORNER + EDGE; 3], SPACING, false) {
        let arm = x.map(|x| x - MIDDLE);
        let turning = cross(SPIN, arm);
        // Flow along x that grows with z, besides the rotation.
        let sheared = [2.0 * arm[2], 0.0, 0.0];
        let velocity = [0, 1, 2].map(|k| VELOCITY[k] + turning[k] + sheared[k]);
        drop_in(&mut fluids, x, velocity, 0.0);
    }
    for x in sites([27; 3], [31; 3], SPACING, false) {
        drop_in(&mut fluids, x, [0.0; 3], 0.0);
    }
    let mut world = wet(fluids, gravity, Some(domain([-2.0; 3], [2.0; 3], [false; 3])), Vec::new());
    announce(&mut world);
    world
}

/// The core of the first drop, or all of it, as it is now.
fn first_drop(simulation: &Simulation, is_whole: bool) -> Freezing {
    let fluid = simulation.fluid().expect("a wet world");
    let reach = if is_whole { 0.4 } else { 2.6 * SPACING };
    let is_in = |k: &usize| (0..3).all(|axis| (fluid.position[*k][axis] - MIDDLE).abs() < reach);
    let particles = (0..fluid.id.len()).filter(is_in).map(|k| fluid.id[k]).collect();
    Freezing {
        particles,
        material: 0,
        group: 0,
    }
}

/// Twice the polar moment of inertia of the particles of a drop about their center, which is the sum of the principal moments \[kg m²\], and their
/// kinetic energy \[J\].
fn moments_and_energy(simulation: &Simulation, freezing: &Freezing) -> [f64; 2] {
    let fluid = simulation.fluid().expect("a wet world");
    let chosen: Vec<usize> = (0..fluid.id.len()).filter(|&k| freezing.particles.contains(&fluid.id[k])).collect();
    let middle = [0, 1, 2].map(|axis| chosen.iter().map(|&k| fluid.position[k][axis]).sum::<f64>() / chosen.len() as f64);
    let square = |v: Vec3| v.iter().map(|x| x * x).sum::<f64>();
    let polar: f64 = chosen
        .iter()
        .map(|&k| square([0, 1, 2].map(|axis| fluid.position[k][axis] - middle[axis])))
        .sum();
    let kinetic: f64 = chosen.iter().map(|&k| square(fluid.velocity[k])).sum();
    [2.0 * MASS * polar, 0.5 * MASS * kinetic]
}

#[test]
fn what_freezes_keeps_mass_momenta_and_moments_and_loses_what_its_parts_moved_against_each_other() {
    for solver in SOLVERS {
        let mut simulation = started_on(drops(solver, 0.0), 2);
        // So few that viscosity leaves most of the shear.
        simulation.advance(20).expect("sound steps");
        let freezing = first_drop(&simulation, false);
        let count = freezing.particles.len();
        assert!((60..300).contains(&count), "{solver:?}: {count}");
        let [moments, energy] = moments_and_energy(&simulation, &freezing);
        let (before, particles, earlier) = (totals(&simulation), simulation.fluid_particles(), simulation.ledger());
        simulation.freeze(&freezing).expect("it can freeze");
        let after = totals(&simulation);
        assert_eq!(
            (simulation.fluid_particles(), simulation.len()),
            (particles - count, count),
            "{solver:?}"
        );
        let of_body = count as f64 * MASS;
        assert!((after.0 / before.0 - 1.0).abs() < 1e-12, "{solver:?}: {before:?} {after:?}");
        for k in 0..3 {
            assert!(
                (after.1[k] - before.1[k]).abs() < 1e-11 * of_body,
                "{solver:?}: {before:?} {after:?}"
            );
            assert!(
                (after.2[k] - before.2[k]).abs() < 1e-11 * of_body * 12.0 * SPACING,
                "{solver:?}: {before:?} {after:?}"
            );
        }
        let body = simulation.bodies()[0];
        assert!((body.mass / of_body - 1.0).abs() < 1e-12, "{solver:?}: {body:?}");
        let sum: f64 = body.moments.iter().sum();
        assert!((sum / moments - 1.0).abs() < 1e-11, "{solver:?}: {sum} {moments}");
        // Of all motions with these momenta, that of a rigid body has the least energy. Shear of 2/s has some of it in the drop.
        let linear: f64 = body.velocity.iter().map(|v| v * v).sum::<f64>();
        let turning: f64 = (0..3).map(|k| body.angular_velocity[k] * body.angular_momentum[k]).sum();
        let left = 0.5 * (body.mass * linear + turning);
        assert!(left < energy * (1.0 - 1e-3) && left > 0.0, "{solver:?}: {left} of {energy} J");
        // The ledger closes at once, with the loss in what was supplied.
        let ledger = simulation.ledger();
        assert!(
            (ledger.residual - earlier.residual).abs() < 1e-9 * earlier.kinetic,
            "{solver:?}: {earlier:?} {ledger:?}"
        );
        if solver == Solver::WeaklyCompressible {
            // Densities of Müller's fluid are sums over fluid, which end at the body now, and change its energy, too.
            assert!(ledger.inserted < earlier.inserted, "{earlier:?} {ledger:?}");
        }
        simulation.advance(100).expect("sound steps");
        let later = totals(&simulation);
        // Velocities of Müller's fluid are a half kick beside those of a body that leapfrogs.
        let tolerance = if solver == Solver::Muller2003 { 1e-3 } else { 1e-8 };
        assert!(
            (0..3).all(|k| (later.1[k] - after.1[k]).abs() < tolerance * of_body),
            "{solver:?}: {after:?} {later:?}"
        );
    }
}

#[test]
fn a_drop_that_freezes_under_gears_method_falls_and_keeps_its_rotation() {
    for solver in SOLVERS {
        let settings = Settings {
            threads: 1,
            scheme: Scheme::Gear,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(drops(solver, G), settings).expect("the world is sound");
        simulation.advance(50).expect("sound steps");
        let freezing = first_drop(&simulation, true);
        simulation.freeze(&freezing).expect("it can freeze");
        let start = simulation.bodies()[0];
        simulation.advance(200).expect("sound steps");
        let (end, time) = (simulation.bodies()[0], 200.0 * simulation.time_step().value);
        // The series of a constant acceleration ends with its second derivative.
        for (k, down) in [0.0, 0.0, 0.5 * G * time * time].into_iter().enumerate() {
            let expected = start.center[k] + start.velocity[k] * time - down;
            assert!((end.center[k] - expected).abs() < 1e-11, "{solver:?}: {start:?} {end:?}");
        }
        // The error of a rotation by some 10⁻⁴ a step is of its fifth power.
        let apart = (0..3)
            .map(|k| (end.angular_momentum[k] - start.angular_momentum[k]).abs())
            .fold(0.0, f64::max);
        let size = start.angular_momentum.iter().map(|x| x.abs()).sum::<f64>();
        assert!(size > 0.0 && apart < 1e-9 * size, "{solver:?}: {start:?} {end:?}");
    }
}

#[test]
fn a_frozen_drop_falls_as_everything_does_and_keeps_its_rotation() {
    for solver in SOLVERS {
        let mut simulation = started_on(drops(solver, G), 1);
        simulation.advance(50).expect("sound steps");
        let freezing = first_drop(&simulation, true);
        simulation.freeze(&freezing).expect("it can freeze");
        let dt = simulation.time_step().value;
        let start = simulation.bodies()[0];
        simulation.advance(200).expect("sound steps");
        let (end, time) = (simulation.bodies()[0], 200.0 * dt);
        // Kicks at half steps add up to the fall exactly.
        let fall = [0.0, 0.0, 0.5 * G * time * time];
        for (k, down) in fall.into_iter().enumerate() {
            let expected = start.center[k] + start.velocity[k] * time - down;
            assert!((end.center[k] - expected).abs() < 1e-11, "{solver:?}: {start:?} {end:?}");
            let turning = start.angular_momentum[k];
            assert!(
                (end.angular_momentum[k] - turning).abs() < 1e-12,
                "{solver:?}: {turning} {}",
                end.angular_momentum[k]
            );
        }
        let speed = start.velocity[2] - G * time;
        assert!(
            (end.velocity[2] - speed).abs() < 1e-10,
            "{solver:?}: {} {speed} m/s",
            end.velocity[2]
        );
    }
}

#[test]
fn what_freezes_and_melts_is_as_much_fluid_as_before() {
    for solver in SOLVERS {
        let mut simulation = started_on(drops(solver, 0.0), 2);
        simulation.advance(30).expect("sound steps");
        let freezing = first_drop(&simulation, false);
        let particles = simulation.fluid_particles();
        simulation.freeze(&freezing).expect("it can freeze");
        simulation.advance(30).expect("sound steps");
        let (before, earlier) = (totals(&simulation), simulation.ledger());
        simulation.melt_frozen(0, 0).expect("it can melt");
        let (after, ledger) = (totals(&simulation), simulation.ledger());
        assert!(simulation.bodies().is_empty() && simulation.is_empty(), "{solver:?}");
        assert_eq!(simulation.fluid_particles(), particles, "{solver:?}");
        let of_body = freezing.particles.len() as f64 * MASS;
        assert!((after.0 / before.0 - 1.0).abs() < 1e-12, "{solver:?}: {before:?} {after:?}");
        for k in 0..3 {
            assert!(
                (after.1[k] - before.1[k]).abs() < 1e-11 * of_body,
                "{solver:?}: {before:?} {after:?}"
            );
            assert!(
                (after.2[k] - before.2[k]).abs() < 1e-11 * of_body * 12.0 * SPACING,
                "{solver:?}: {before:?} {after:?}"
            );
        }
        assert!(
            (ledger.residual - earlier.residual).abs() < 1e-9 * earlier.kinetic,
            "{solver:?}: {earlier:?} {ledger:?}"
        );
        // What melted can freeze again, as another body.
        let again = first_drop(&simulation, false);
        simulation.freeze(&again).expect("it can freeze");
        simulation.advance(10).expect("sound steps");
        assert_eq!(simulation.bodies().len(), 1, "{solver:?}");
    }
}

#[test]
fn going_on_from_before_and_from_after_fluid_froze_changes_no_bit() {
    for solver in SOLVERS {
        let world = drops(solver, G);
        let mut whole = started_on(world.clone(), 1);
        whole.advance(40).expect("sound steps");
        let (before, freezing) = (whole.save().expect("a sound state"), first_drop(&whole, false));
        whole.freeze(&freezing).expect("it can freeze");
        whole.advance(40).expect("sound steps");
        let after = whole.save().expect("a sound state");
        whole.advance(20).expect("sound steps");
        whole.melt_frozen(0, 0).expect("it can melt");
        whole.advance(20).expect("sound steps");
        let end = whole.save().expect("a sound state");
        let settings = Settings {
            threads: 3,
            ..Settings::default()
        };
        let mut from_before = Simulation::restore(world.clone(), settings.clone(), &before).expect("a state of this world");
        from_before.freeze(&freezing).expect("it can freeze");
        from_before.advance(60).expect("sound steps");
        let mut from_after = Simulation::restore(world.clone(), settings.clone(), &after).expect("a state of this world");
        from_after.advance(20).expect("sound steps");
        for (mut again, what) in [(from_before, "before"), (from_after, "after")] {
            again.melt_frozen(0, 0).expect("it can melt");
            again.advance(20).expect("sound steps");
            assert!(again.save().expect("a sound state") == end, "{solver:?}, from {what}");
        }
        let from_end = Simulation::restore(world, settings, &end).expect("a state of this world");
        assert_eq!(from_end.fluid(), whole.fluid(), "{solver:?}");
    }
}

/// Positions of fluid and spheres after the core of a drop froze.
fn frozen_with(world: &World, settings: Settings) -> [Vec<Vec3>; 2] {
    let mut simulation = Simulation::new(world.clone(), settings).expect("the world is sound");
    simulation.advance(30).expect("sound steps");
    simulation.observe().expect("a sound state");
    let freezing = first_drop(&simulation, false);
    simulation.freeze(&freezing).expect("it can freeze");
    simulation.advance(30).expect("sound steps");
    simulation.observe().expect("a sound state");
    let fluid = simulation.fluid().expect("a wet world");
    [fluid.position, simulation.snapshot().position]
}

#[track_caller]
fn assert_near(found: &[Vec<Vec3>; 2], expected: &[Vec<Vec3>; 2], what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len(), "{what}");
        let off = apart(found, expected);
        assert!(off < 1e-9, "{what}: {off}");
    }
}

#[test]
fn what_freezes_does_not_depend_on_the_number_of_domains() {
    for solver in SOLVERS {
        let world = drops(solver, G);
        assert_near(
            &frozen_with(&world, among(3)),
            &frozen_with(&world, among(1)),
            &format!("{solver:?}"),
        );
    }
}

#[test]
fn what_freezes_on_a_gpu_freezes_as_on_the_cpu() {
    for solver in SOLVERS {
        let world = drops(solver, G);
        let settings = |device: DeviceChoice, precision: Option<Precision>| Settings {
            threads: 1,
            device,
            precision,
            ..Settings::default()
        };
        let there = frozen_with(&world, settings(DeviceChoice::Gpu(None), Some(Precision::F64)));
        let here = frozen_with(&world, settings(DeviceChoice::Cpu, None));
        assert_near(&there, &here, &format!("{solver:?}"));
    }
}

#[test]
fn what_cannot_freeze_is_refused_with_its_reason() {
    let world = drops(Solver::WeaklyCompressible, 0.0);
    let reported = |world: &World, freezing: &Freezing| {
        let refusal = started_on(world.clone(), 1).freeze(freezing).err();
        refusal.map_or("nothing".to_owned(), |refusal| refusal.to_string())
    };
    let of = |particles: &[u32]| Freezing {
        particles: particles.to_vec(),
        material: 0,
        group: 0,
    };
    let block: Vec<u32> = (0..512).collect();
    assert_eq!(reported(&world, &of(&block)), "nothing");
    assert!(reported(&world, &of(&[])).contains("0 of them are there"));
    assert!(reported(&world, &of(&[1, 2, 2, 9])).contains("each once"));
    assert!(reported(&world, &of(&[1, 9, 5000])).contains("2 of them are there"));
    assert!(reported(&world, &of(&[0, 1, 2, 3])).contains("on one line"));
    let other = |change: &dyn Fn(&mut World)| {
        let mut world = world.clone();
        change(&mut world);
        reported(&world, &of(&block))
    };
    assert!(other(&|world| world.later.freezes = false).contains("not announced"));
    assert!(other(&|world| world.later.grains[0].radius = [SPACING; 2]).contains("not announced"));
    assert!(other(&|world| world.materials[0].density = 1e6).contains("as dense as the fluid"));
    assert!(reported(&incompressible(world.clone()), &of(&block)).contains("\"dfsph\""));
}

#[test]
fn what_freezes_in_a_wall_is_refused() {
    let fastest = (2.0 * G * 5.0 * SPACING).sqrt();
    let mut fluids = vessels::fluids(fastest);
    let fluid = &mut fluids.kinds[0];
    (fluid.restitution, fluid.body_restitution, fluid.body_stiffness) = (0.0, 0.5, 500.0);
    vessels::pour(&mut fluids, [0; 3], [6, 6, 5]);
    let mut world = vessels::world(fluids, G, None, vessels::sides([6, 6]), vec![false; 5]);
    announce(&mut world);
    let mut simulation = started_on(world, 1);
    // Müller's particles go down to the very surface of the floor, and spheres have half a spacing beside their centers.
    simulation
        .advance((0.2 / simulation.time_step().value) as u64)
        .expect("sound steps");
    let particles = simulation.fluid().expect("a wet world").id;
    let refusal = simulation.freeze(&Freezing {
        particles,
        material: 0,
        group: 0,
    });
    let reported = refusal.expect_err("spheres in the floor").to_string();
    assert!(reported.contains("of what froze overlaps with"), "{reported}");
}
