//! Small grains in fluids, with the fluids or both on a GPU (software Vulkan suffices; without any adapter these tests fail).

use crate::balls::{Ball, CELLS, SPACING, STOKES, alone, ball, hasimoto, momentum, pool, put_cube, sinking, stirred};
use crate::pools::G;
use seixo_engine::Simulation;
use seixo_engine::world::{DeviceChoice, Domain, LeavingPolicy, Precision, Settings, Vec3, World};

const GPU: DeviceChoice = DeviceChoice::Gpu(None);
const BOTH: DeviceChoice = DeviceChoice::Heterogeneous(None);

fn settings(device: DeviceChoice, precision: Option<Precision>) -> Settings {
    Settings {
        device,
        precision,
        threads: 2,
        // Overlaps of such soft balls are not tested.
        overlap_limit: 2.0,
        ..Settings::default()
    }
}

fn on(device: DeviceChoice, precision: Option<Precision>, world: World) -> Simulation {
    Simulation::new(world, settings(device, precision)).unwrap()
}

fn advance(simulation: &mut Simulation, steps: u64) {
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
}

/// Balls on the floor of a tank, sinking in it, in a corner and under a floating cube, and falling into it and onto the cube.
fn settling() -> World {
    let mut world = pool();
    put_cube(&mut world, [2, 2, 8], 4, 0.5);
    let radius = 0.25 * SPACING;
    let places = [
        ([0.05, 0.05, radius], 0.0),
        ([0.02, 0.14, 0.18], 0.0),
        ([0.08, 0.08, 0.13], 0.0),
        ([0.14, 0.14, 0.215], 1.0),
        ([0.085, 0.08, 0.25], 1.0),
    ];
    for (at, falling) in places {
        let velocity = [0.0, 0.0, -falling];
        Ball {
            velocity,
            ..ball(at, radius, 2.5)
        }
        .put(&mut world);
    }
    world
}

/// Compared values: positions and velocities of bodies, fluid loads on them, and velocities of the water.
fn columns(simulation: &Simulation) -> [Vec<Vec3>; 4] {
    let (bodies, fluid) = (simulation.bodies(), simulation.fluid().unwrap());
    let loads = simulation.loads_of_fluids_on_bodies();
    [
        bodies.iter().map(|body| body.center).collect(),
        bodies.iter().map(|body| body.velocity).collect(),
        loads.into_iter().map(|[force, _]| force).collect(),
        fluid.velocity,
    ]
}

/// Largest difference of two columns; positions on opposite sides of a periodic box are equal.
fn apart(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    let edge = CELLS as f64 * SPACING;
    let pairs = a.as_flattened().iter().zip(b.as_flattened());
    pairs.fold(0.0, |most: f64, (a, b)| {
        let apart = (a - b).abs();
        most.max(apart.min((apart - edge).abs()))
    })
}

/// Largest differences of all columns: of positions over the particle spacing, of others over their largest value.
fn differences(a: &Simulation, b: &Simulation) -> [f64; 4] {
    let (a, b) = (columns(a), columns(b));
    let largest = |column: &[Vec3]| column.as_flattened().iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let sizes = [SPACING, largest(&a[1]), largest(&a[2]), largest(&a[3])];
    [0, 1, 2, 3].map(|k| apart(&a[k], &b[k]) / sizes[k])
}

#[test]
fn grains_and_water_go_the_same_way_wherever_they_are() {
    for world in [stirred as fn() -> World, settling] {
        let start = columns(&on(DeviceChoice::Cpu, None, world()));
        let mut here = on(DeviceChoice::Cpu, None, world());
        let kinetic = here.ledger().kinetic;
        advance(&mut here, 100);
        let [centers, velocities, loads, _] = columns(&here);
        let (way, slowed) = (apart(&start[0], &centers), apart(&start[1], &velocities));
        assert!(
            way > 0.1 * SPACING && slowed > 0.05 && apart(&start[2], &loads) > 0.0,
            "{way} m, {slowed} m/s"
        );
        for (device, precision, tolerance) in [
            (GPU, Precision::F64, 1e-9),
            (BOTH, Precision::F64, 1e-9),
            // Forces in f32 differ by some 10⁻⁶, and trajectories of pairs diverge from there.
            (GPU, Precision::Mixed, 2e-3),
            (BOTH, Precision::Mixed, 2e-3),
            // Positions differ as well, and a spacing is a tenth of them: distances differ by as much.
            (GPU, Precision::F32, 1e-2),
        ] {
            let mut there = on(device, Some(precision), world());
            advance(&mut there, 100);
            let off = differences(&here, &there);
            assert!(off.iter().all(|off| *off < tolerance), "{device:?} {precision:?}: {off:?}");
            let (a, b) = (here.ledger(), there.ledger());
            let moved = kinetic + a.viscosity;
            for (a, b) in [(a.viscosity, b.viscosity), (a.wall_work, b.wall_work), (a.diffusion, b.diffusion)] {
                assert!((a - b).abs() < tolerance * moved, "{device:?} {precision:?}: {a} {b} of {moved} J");
            }
        }
    }
}

#[test]
fn momentum_of_grains_and_water_is_kept_on_a_gpu_and_beside_it() {
    for device in [GPU, BOTH] {
        let mut simulation = on(device, Some(Precision::F64), stirred());
        let ((before, size), start) = (momentum(&simulation), simulation.ledger());
        // In several parts: an observation in between changes nothing.
        for steps in [1, 70, 129] {
            advance(&mut simulation, steps);
        }
        let ((after, _), now) = (momentum(&simulation), simulation.ledger());
        assert!(apart(&[before], &[after]) < 1e-11 * size, "{device:?}: {before:?} {after:?}");
        assert!(
            now.kinetic < 0.5 * start.kinetic && now.viscosity > 0.5 * start.kinetic,
            "{device:?}: {now:?}"
        );
        // Second order in the step; the shortest relaxation time is twenty steps.
        assert!((now.residual - start.residual).abs() < 5e-3 * start.kinetic, "{device:?}: {now:?}");
    }
}

#[test]
fn looking_changes_no_bit_and_runs_repeat() {
    for device in [GPU, BOTH] {
        let run = |parts: &[u64]| {
            let mut simulation = on(device, None, stirred());
            parts.iter().for_each(|&steps| advance(&mut simulation, steps));
            simulation
        };
        let (whole, again) = (run(&[90]), run(&[90]));
        assert_eq!((whole.bodies(), whole.fluid()), (again.bodies(), again.fluid()), "{device:?}");
        assert_eq!(whole.loads_of_fluids_on_bodies(), again.loads_of_fluids_on_bodies(), "{device:?}");
        // A GPU may rebuild neighbor lists at other steps: the observation is equal, later sums may have another order.
        let off = differences(&whole, &run(&[30, 60]));
        assert!(off.iter().all(|off| *off < 1e-4), "{device:?}: {off:?}");
    }
}

#[test]
fn forces_that_are_found_again_are_the_same() {
    for device in [GPU, BOTH] {
        let mut whole = on(device, Some(Precision::F64), stirred());
        advance(&mut whole, 45);
        let mut again = on(device, Some(Precision::F64), stirred());
        advance(&mut again, 45);
        // All neighbor lists are rebuilt. Drag is blended with some hundredths of the force of the previous step, not with the current one.
        again.change(&[]).unwrap();
        let off = differences(&whole, &again);
        assert!(off.iter().all(|off| *off < 1e-10), "{device:?}: {off:?}");
        for simulation in [&mut whole, &mut again] {
            advance(simulation, 45);
        }
        let off = differences(&whole, &again);
        assert!(off.iter().all(|off| *off < 1e-9), "{device:?}: {off:?}");
    }
}

#[test]
fn a_run_goes_on_elsewhere_from_what_was_saved() {
    let mut whole = on(DeviceChoice::Cpu, None, stirred());
    advance(&mut whole, 100);
    let in_full = |device| settings(device, (device != DeviceChoice::Cpu).then_some(Precision::F64));
    for (first, then) in [(GPU, BOTH), (BOTH, GPU), (GPU, DeviceChoice::Cpu), (DeviceChoice::Cpu, BOTH)] {
        let mut simulation = Simulation::new(stirred(), in_full(first)).unwrap();
        advance(&mut simulation, 40);
        let state = simulation.save().unwrap();
        let mut simulation = Simulation::restore(stirred(), in_full(then), &state).unwrap();
        advance(&mut simulation, 60);
        let off = differences(&whole, &simulation);
        assert!(off.iter().all(|off| *off < 1e-9), "{first:?} to {then:?}: {off:?}");
    }
}

#[test]
fn one_sphere_sinks_as_stokes_and_hasimoto_say_on_a_gpu_too() {
    for device in [GPU, BOTH] {
        let mut simulation = on(device, None, alone());
        advance(&mut simulation, 150);
        let (mut found, looks) = (0.0, 15);
        for _ in 0..looks {
            advance(&mut simulation, 10);
            found += sinking(&simulation) / (f64::from(looks) * STOKES);
        }
        let expected = hasimoto();
        // The stirred velocity is a quarter of its own velocity, and the viscosity of particles is accurate to some per cent; inertia makes 2 %.
        assert!((found / expected - 1.0).abs() < 0.05, "{device:?}: {found} {expected}");
    }
}

/// Two balls in and above water; one leaves the domain.
fn thrown_out() -> World {
    let (mut world, radius) = (pool(), 0.25 * SPACING);
    let thrown = Ball {
        velocity: [0.0, 0.0, 4.0],
        ..ball([0.05, 0.05, 0.25], radius, 2.5)
    };
    thrown.put(&mut world);
    ball([0.11, 0.08, 0.12], radius, 2.5).put(&mut world);
    world.domain = Some(Domain::open([-1.0; 3], [1.0, 1.0, 0.32], LeavingPolicy::Delete));
    world
}

#[test]
fn a_grain_that_leaves_is_felt_no_more_and_the_others_are() {
    let mut here = on(DeviceChoice::Cpu, None, thrown_out());
    let steps = (0.05 / here.time_step().value) as u64;
    advance(&mut here, steps);
    for device in [GPU, BOTH] {
        let mut there = on(device, Some(Precision::F64), thrown_out());
        advance(&mut there, steps);
        let bodies = there.bodies();
        assert!(bodies.len() == 1 && bodies[0].id == 1, "{device:?}: {bodies:?}");
        // The fall is not free: buoyancy bears two fifths of the weight, and there is drag.
        let falling = -bodies[0].velocity[2] / (G * there.time());
        assert!(falling > 0.1 && falling < 0.7, "{device:?}: {falling} of a free fall");
        let off = differences(&here, &there);
        assert!(off.iter().all(|off| *off < 1e-9), "{device:?}: {off:?}");
    }
}
