//! Grains that are smaller than the particles of a fluid: drag curves, Archimedes, Richardson & Zaki, and what must be kept.

mod pools;

use pools::{G, domain, drop_in, fluids, sites, tank, water, wet};
use seixo_engine::Simulation;
use seixo_engine::world::{Body, Hull, Interaction, Load, Settings, Solver, Sphere, Vec3, WallMotion, World};
use std::f64::consts::PI;

const DENSITY: f64 = 1000.0;
/// Of particles \[m\].
const SPACING: f64 = 0.02;
/// Edge of periodic boxes \[spacings\].
const CELLS: i64 = 12;

/// A small sphere, and its density over that of water.
#[derive(Clone, Copy)]
struct Ball {
    at: Vec3,
    radius: f64,
    density_ratio: f64,
    velocity: Vec3,
    is_held: bool,
}

impl Ball {
    fn volume(&self) -> f64 {
        4.0 / 3.0 * PI * self.radius.powi(3)
    }

    fn mass(&self) -> f64 {
        self.density_ratio * DENSITY * self.volume()
    }

    /// Puts it into a world: a body of one grain, which fluids carry.
    fn put(&self, world: &mut World) {
        let id = world.grains.bodies.len() as u32;
        let body = Body {
            id,
            mass: self.mass(),
            moments: [0.4 * self.mass() * self.radius * self.radius; 3],
            center: self.at,
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity: self.velocity,
            angular_velocity: [0.0; 3],
            motion: self.is_held.then(WallMotion::default),
            carries: Vec::new(),
        };
        let sphere = Sphere {
            id,
            offset: [0.0; 3],
            radius: self.radius,
        };
        world.grains.push_body(body, &[sphere], 0, 0);
        world.fluids.as_mut().expect("a wet world").hulls.push(Hull {
            body: id,
            offset: vec![[0.0; 3]],
            slips: false,
            radius: Vec::new(),
            suspended: Some(self.radius),
        });
        world.groups = vec!["balls".to_owned()];
        world.interactions = vec![Some(Interaction::default())];
        // Soft, so that the fluid sets the time step: balls hardly meet here.
        world.materials[0].youngs_modulus = 1e5;
    }
}

/// A ball that rests.
fn ball(at: Vec3, radius: f64, density_ratio: f64) -> Ball {
    Ball {
        at,
        radius,
        density_ratio,
        velocity: [0.0; 3],
        is_held: false,
    }
}

fn started(world: World) -> Simulation {
    let settings = Settings {
        threads: 2,
        // What such soft balls do to each other is not looked at.
        overlap_limit: 2.0,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

/// Water of this viscosity \[Pa s\] and this speed of sound \[m/s\] at rest, all around periodic, without gravity.
fn periodic(viscosity: f64, sound_speed: f64) -> World {
    let pressure = 0.05 * DENSITY * sound_speed * sound_speed;
    let mut medium = water(sound_speed);
    (medium.viscosity, medium.density_diffusion, medium.background_pressure) = (viscosity, 0.1, pressure);
    let mut fluids = fluids(vec![medium], SPACING, 3.0, None);
    fluids.fastest = 0.1 * sound_speed;
    for x in sites([0; 3], [CELLS; 3], SPACING, false) {
        drop_in(&mut fluids, x, [0.0; 3], pressure);
    }
    let edge = CELLS as f64 * SPACING;
    wet(fluids, 0.0, Some(domain([0.0; 3], [edge; 3], [true; 3])), Vec::new())
}

/// Lets a force along −z pull at each ball \[N\].
fn pull(world: &mut World, force: f64) {
    world.loads = vec![Load {
        group: 0,
        force: [0.0, 0.0, -force],
        torque: [0.0; 3],
    }];
}

/// How fast balls sink through water, of which there are so many particles, on average \[m/s\].
fn sinking(simulation: &Simulation) -> f64 {
    let water = simulation.fluid_particles() as f64 * DENSITY * SPACING.powi(3);
    let bodies = simulation.bodies();
    let of_balls = bodies.iter().map(|body| body.velocity[2]).sum::<f64>() / bodies.len() as f64;
    simulation.momentum_of_fluids()[2] / water - of_balls
}

/// The same after some steps, on average over as many more.
fn settled(mut simulation: Simulation, steps: u64) -> f64 {
    simulation.advance(steps).unwrap();
    let mut sum = 0.0;
    for _ in 0..steps {
        simulation.step().unwrap();
        sum += sinking(&simulation);
    }
    sum / steps as f64
}

/// Viscosity of slow flows \[Pa s\].
const THICK: f64 = 100.0;
/// Radius of balls in them \[m\].
const RADIUS: f64 = 0.4 * SPACING;
/// Velocity at which Re is 0.05 there \[m/s\].
const STOKES: f64 = 0.3125;

/// The force with which one sinks as fast by Stokes' law \[N\].
fn stokes_force() -> f64 {
    6.0 * PI * THICK * RADIUS * STOKES
}

#[test]
fn one_sphere_in_slow_flow_sinks_as_stokes_and_hasimoto_say() {
    let mut world = periodic(THICK, 20.0);
    ball([0.055, 0.1, 0.15], RADIUS, 2.5).put(&mut world);
    pull(&mut world, stokes_force());
    let found = settled(started(world), 150) / STOKES;
    // A sphere in each box of a cubic lattice: Hasimoto 1959, J. Fluid Mech. 5:317, eq. 4.
    let share = 4.0 / 3.0 * PI * (RADIUS / (CELLS as f64 * SPACING)).powi(3);
    let expected = 1.0 - 1.7601 * share.cbrt() + share;
    // What it stirs is a quarter of its own velocity, which viscosity of particles meets to some per cent; inertia takes 2 %.
    assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
}

#[test]
fn one_sphere_sinks_by_the_standard_drag_curve() {
    // Lapple & Shepherd 1940, Ind. Eng. Chem. 32:605.
    for (number, coefficient) in [(10.0, 4.26), (100.0, 1.09)] {
        let (speed, radius) = (2.0, 0.25 * SPACING);
        let mut world = periodic(DENSITY * speed * 2.0 * radius / number, 24.0);
        if let Some(fluids) = &mut world.fluids {
            fluids.kinds[0].artificial_viscosity = 0.05;
        }
        ball([0.055, 0.1, 0.15], radius, 2.5).put(&mut world);
        let force = coefficient * 0.5 * DENSITY * speed * speed * PI * radius * radius;
        pull(&mut world, force);
        let found = settled(started(world), 200) / speed;
        // The curve is met to 3 % of the force, and the box is short: it sinks into its own wake again.
        assert!((found - 1.0).abs() < 0.06, "{number}: {found}");
    }
}

/// Places of spheres of this radius at random in the periodic box, none of which overlap \[m\].
fn scattered(count: usize, radius: f64) -> Vec<Vec3> {
    let edge = CELLS as f64 * SPACING;
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / (1u64 << 31) as f64 * edge
    };
    let mut places: Vec<Vec3> = Vec::new();
    while places.len() < count {
        let at: Vec3 = [random(), random(), random()];
        let is_near = |other: &Vec3| {
            let along = |k: usize| {
                let apart = (at[k] - other[k]).abs();
                apart.min(edge - apart)
            };
            (0..3).map(|k| along(k).powi(2)).sum::<f64>() < 4.0 * radius * radius
        };
        if !places.iter().any(is_near) {
            places.push(at);
        }
    }
    places
}

#[test]
fn a_crowd_sinks_as_richardson_and_zaki_say() {
    let mut world = periodic(THICK, 20.0);
    let count = 645;
    for at in scattered(count, RADIUS) {
        // As dense as water: then the box is not faster and faster by more than its water is.
        ball(at, RADIUS, 1.0).put(&mut world);
    }
    pull(&mut world, stokes_force());
    let found = settled(started(world), 60) / STOKES;
    let share = count as f64 * 4.0 / 3.0 * PI * (RADIUS / (CELLS as f64 * SPACING)).powi(3);
    let expected = (1.0 - share).powf(4.7);
    // Single spheres would have nine tenths. How crowded it is varies from place to place at random, and so do they.
    assert!(expected < 0.62 && (found / expected - 1.0).abs() < 0.15, "{found} {expected}");
}

/// A tank of water, without viscosity but for an artificial one, 20 cm deep.
fn pool() -> World {
    let depth = 10;
    let fastest = (2.0 * G * depth as f64 * SPACING).sqrt();
    let mut medium = water(10.0 * fastest);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.1, 0.1);
    let mut fluids = fluids(vec![medium], SPACING, 3.0, None);
    fluids.fastest = fastest;
    tank(fluids, [8, 8, 16], [8, 8, depth], 3, None)
}

fn steps_of(simulation: &Simulation, time: f64) -> u64 {
    (time / simulation.time_step().value) as u64
}

#[test]
fn held_grains_are_lifted_by_the_weight_of_their_volume_under_water_and_by_nothing_above() {
    let (radius, surface) = (0.25 * SPACING, 10.0 * SPACING);
    let mut world = pool();
    // On the floor, in a corner, in the middle, at the surface, and above the uppermost particles by more than a support.
    let places = [
        [0.05, 0.05, radius],
        [radius, radius, radius],
        [0.11, 0.11, 0.5 * surface],
        [0.05, 0.11, surface],
        [0.11, 0.05, surface + 3.5 * SPACING],
    ];
    for at in places {
        let held = Ball {
            is_held: true,
            ..ball(at, radius, 2.5)
        };
        held.put(&mut world);
    }
    let mut simulation = started(world);
    let steps = steps_of(&simulation, 0.15);
    simulation.advance(steps).unwrap();
    let mut lifts = [0.0; 5];
    for _ in 0..2 * steps {
        simulation.step().unwrap();
        for (lift, [force, _]) in lifts.iter_mut().zip(simulation.loads_of_fluids_on_bodies()) {
            *lift += force[2] / (2 * steps) as f64;
        }
    }
    let weight = DENSITY * G * ball([0.0; 3], radius, 1.0).volume();
    let [floor, corner, middle, at_surface, above] = lifts.map(|lift| lift / weight);
    // Water is not quite at rest, and gets the reaction where it is thin.
    for (place, lift) in [("floor", floor), ("corner", corner), ("middle", middle)] {
        assert!((lift - 1.0).abs() < 0.04, "{place}: {lift}");
    }
    assert!((at_surface - 0.5).abs() < 0.2, "{at_surface}");
    assert_eq!(above, 0.0);
}

#[test]
fn what_is_as_dense_as_water_stays_and_what_is_denser_sinks() {
    let radius = 0.25 * SPACING;
    let mut world = pool();
    let start = 0.12;
    ball([0.05, 0.08, start], radius, 1.0).put(&mut world);
    ball([0.11, 0.08, start], radius, 1.1).put(&mut world);
    let mut simulation = started(world);
    let steps = steps_of(&simulation, 0.4);
    simulation.advance(steps).unwrap();
    let time = simulation.time();
    // What a fiftieth of its weight would do.
    let off = 0.5 * 0.02 * G * time * time;
    let [neutral, heavy] = [0, 1].map(|b: usize| simulation.bodies()[b].center[2] - start);
    assert!(neutral.abs() < off, "{neutral} m of {off} m");
    // Newton's law gives 0.17 m/s in the end, of which it has three quarters after a fifth of a second.
    let terminal = (8.0 / 3.0 * 0.1 * G * radius / 0.44).sqrt();
    assert!(-heavy > 0.5 * terminal * time && -heavy < terminal * time, "{heavy} m");
}

/// Grains that fly through water in all directions, all around periodic, without gravity.
fn stirred() -> World {
    let mut world = periodic(2.0, 24.0);
    for (k, at) in scattered(40, 0.3 * SPACING).into_iter().enumerate() {
        let turn = k as f64;
        let flying = Ball {
            velocity: [turn.cos(), (1.7 * turn).sin(), (2.9 * turn).cos()],
            ..ball(at, 0.3 * SPACING, 1.0 + 0.1 * turn)
        };
        flying.put(&mut world);
    }
    world
}

#[test]
fn momentum_is_kept_to_rounding_and_what_is_lost_of_energy_drag_took() {
    let mut simulation = started(stirred());
    let total = |simulation: &Simulation| {
        let water = simulation.momentum_of_fluids();
        let bodies = simulation.bodies();
        [0, 1, 2].map(|k| water[k] + bodies.iter().map(|body| body.mass * body.velocity[k]).sum::<f64>())
    };
    let size: f64 = simulation
        .bodies()
        .iter()
        .map(|body| body.mass * body.velocity.iter().map(|v| v * v).sum::<f64>().sqrt())
        .sum();
    let (before, start) = (total(&simulation), simulation.ledger());
    simulation.advance(200).unwrap();
    let (after, now) = (total(&simulation), simulation.ledger());
    for k in 0..3 {
        assert!((after[k] - before[k]).abs() < 1e-11 * size, "{before:?} {after:?}");
    }
    assert!(
        now.kinetic < 0.5 * start.kinetic && now.viscosity > 0.5 * start.kinetic,
        "{start:?} {now:?}"
    );
    // What the motion of water does to grains besides drag is small: they are a thousandth of it.
    assert!(now.wall_work.abs() < 0.05 * start.kinetic, "{now:?}");
    // Of second order in the step, of which the shortest relaxation is twenty.
    assert!((now.residual - start.residual).abs() < 5e-3 * start.kinetic, "{now:?}");
}

#[test]
fn going_on_from_a_checkpoint_and_more_threads_change_no_bit() {
    let whole = |threads: usize| {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(stirred(), settings).unwrap();
        simulation.advance(60).unwrap();
        simulation
    };
    let (mut one, two) = (whole(1), whole(2));
    assert_eq!(one.bodies(), two.bodies());
    assert_eq!(one.fluid(), two.fluid());
    let state = one.save().unwrap();
    one.advance(60).unwrap();
    let mut again = Simulation::restore(stirred(), Settings::default(), &state).unwrap();
    again.advance(60).unwrap();
    assert_eq!(one.bodies(), again.bodies());
    assert_eq!(one.fluid(), again.fluid());
    assert_eq!(one.loads_of_fluids_on_bodies(), again.loads_of_fluids_on_bodies());
    assert_eq!(one.ledger(), again.ledger());
}

fn hull(world: &mut World) -> &mut Hull {
    &mut world.fluids.as_mut().unwrap().hulls[0]
}

#[test]
fn what_fluids_cannot_carry_is_refused() {
    let refused = |change: &dyn Fn(&mut World)| {
        let mut world = periodic(1.0, 24.0);
        ball([0.1; 3], 0.3 * SPACING, 2.0).put(&mut world);
        change(&mut world);
        Simulation::new(world, Settings::default()).err().unwrap().to_string()
    };
    let large = refused(&|world| hull(world).suspended = Some(0.8 * SPACING));
    assert!(large.contains("at most 1.5000e-2 m"), "{large}");
    let two = refused(&|world| hull(world).offset.push([0.0; 3]));
    assert!(two.contains("one particle, at its center"), "{two}");
    let incompressible = refused(&|world| world.fluids.as_mut().unwrap().solver = Solver::Incompressible);
    assert!(incompressible.contains("solver = \"wcsph\" alone"), "{incompressible}");
    let plane = refused(&|world| world.fluids.as_mut().unwrap().across = Some(1));
    assert!(plane.contains("flow in a plane"), "{plane}");
}
