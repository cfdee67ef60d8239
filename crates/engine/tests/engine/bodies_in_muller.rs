//! Rigid bodies in Müller's fluid: springs and dampers between their spheres and fluid particles, and their effects.

use crate::vectors::length;
use crate::vessels::{G, SPACING, fluids, pour, sides, splash, world};
use seixo_engine::world::{
    Body, BodyBoundary, DeviceChoice, Domain, Fluids, Interaction, LeavingPolicy, Precision, Scheme, Settings, Sphere, Vec3, World,
};
use seixo_engine::{BodySnapshot, Simulation};
use std::f64::consts::PI;

/// Stiffness of the spring between a particle and a sphere, unless a test sets another one \[N/m\].
const STIFFNESS: f64 = 500.0;
/// Rebound speed over approach speed of a particle at a heavy body.
const RESTITUTION: f64 = 0.7;

/// A fluid without particles that is coupled to bodies, with this largest expected speed \[m/s\].
fn springy(fastest: f64) -> Fluids {
    let mut fluids = fluids(fastest);
    (fluids.kinds[0].body_stiffness, fluids.kinds[0].body_restitution) = (STIFFNESS, RESTITUTION);
    fluids
}

/// A world of this fluid only, without gravity and walls.
fn weightless(fluids: Fluids) -> World {
    world(fluids, 0.0, None, Vec::new(), Vec::new())
}

fn started(world: World, time_step: Option<f64>) -> Simulation {
    let settings = Settings {
        time_step,
        threads: 1,
        ..Settings::default()
    };
    Simulation::new(world, settings).unwrap()
}

fn between(a: Vec3, b: Vec3) -> Vec3 {
    [0, 1, 2].map(|k| b[k] - a[k])
}

/// Adds a body to a world, with spheres of these offsets from its center and these radii \[m\]. Fluid in its place is removed.
fn put(world: &mut World, center: Vec3, velocity: Vec3, spheres: &[(Vec3, f64)], density_ratio: f64) {
    let fluids = world.fluids.as_mut().unwrap();
    let (id, first) = (world.grains.bodies.len() as u32, world.grains.len() as u32);
    let volume: f64 = spheres.iter().map(|(_, radius)| 4.0 / 3.0 * PI * radius.powi(3)).sum();
    let mass = density_ratio * 1000.0 * volume;
    let reach = spheres.iter().map(|(at, radius)| length(*at) + radius).fold(0.0, f64::max);
    let old = std::mem::take(&mut fluids.particles);
    let is_free = |x: Vec3| {
        let from_center = between(center, x);
        let clears = |(at, radius): &(Vec3, f64)| length(between(*at, from_center)) > radius + 0.5 * SPACING - 1e-9;
        spheres.iter().all(clears)
    };
    for k in (0..old.len()).filter(|&k| is_free(old.position[k])) {
        let new = &mut fluids.particles;
        new.id.push(new.id.len() as u32);
        new.position.push(old.position[k]);
        new.velocity.push(old.velocity[k]);
        new.pressure.push(old.pressure[k]);
        new.kind.push(old.kind[k]);
    }
    fluids.body_boundaries.push(BodyBoundary {
        body: id,
        offset: spheres.iter().map(|(at, _)| *at).collect(),
        radius: spheres.iter().map(|(_, radius)| *radius).collect(),
        volume: Vec::new(),
        slips: true,
        suspended: None,
    });
    let carried: Vec<Sphere> = (first..)
        .zip(spheres)
        .map(|(id, &(offset, radius))| Sphere { id, offset, radius })
        .collect();
    let body = Body {
        id,
        mass,
        // Those of a ball that contains all spheres.
        moments: [0.4 * mass * reach * reach; 3],
        center,
        orientation: [1.0, 0.0, 0.0, 0.0],
        velocity,
        angular_velocity: [0.0; 3],
        motion: None,
        joint: None,
        carries: Vec::new(),
    };
    world.groups = vec!["bodies".to_owned()];
    world.grains.push_body(body, &carried, 0, 0);
    world.interactions = vec![Some(Interaction::default())];
    world.materials[0].youngs_modulus = 1e6;
}

/// A ball.
fn put_ball(world: &mut World, radius: f64, center: Vec3, velocity: Vec3, density_ratio: f64) {
    put(world, center, velocity, &[([0.0; 3], radius)], density_ratio);
}

/// A particle at half a spacing along all axes with this velocity, beside a ball with a radius of one spacing that it overlaps by `depth` along x.
fn pair(depth: f64, velocity: Vec3, density_ratio: f64) -> World {
    let mut world = weightless(springy(1.0));
    let middle = 0.5 * SPACING;
    let distance = 1.5 * SPACING - depth;
    put_ball(&mut world, SPACING, [middle - distance, middle, middle], [0.0; 3], density_ratio);
    let fluids = world.fluids.as_mut().unwrap();
    pour(fluids, [0; 3], [1; 3]);
    fluids.particles.velocity[0] = velocity;
    world
}

#[test]
fn a_particle_presses_a_sphere_by_as_much_as_they_overlap_and_more_where_it_comes() {
    let depth = 0.1 * SPACING;
    let force = |depth: f64, velocity: Vec3| started(pair(depth, velocity, 2.0), None).loads_of_fluids_on_bodies()[0];
    let [still, torque] = force(depth, [0.0; 3]);
    let expected = -STIFFNESS * depth;
    assert!((still[0] / expected - 1.0).abs() < 1e-9, "{} of {expected} N", still[0]);
    // The force passes through the center of the ball.
    assert!(
        length([0.0, still[1], still[2]]) < 1e-12 && length(torque) < 1e-12,
        "{still:?} {torque:?}"
    );
    let ([met, _], [left, _], [slid, _]) = (
        force(depth, [-0.05, 0.0, 0.0]),
        force(depth, [0.05, 0.0, 0.0]),
        force(depth, [0.0, 0.05, 0.0]),
    );
    assert!(met[0] < still[0] && still[0] < left[0] && left[0] <= 0.0, "{met:?} {left:?}");
    // A sliding particle drags the ball along and presses it no more than a particle at rest.
    assert!(slid[1] > 0.0 && (slid[0] / still[0] - 1.0).abs() < 1e-9, "{slid:?}");
    // Beyond the contact distance there is no force at any velocity.
    assert_eq!(force(-1e-6, [-0.05, 0.0, 0.0])[0], [0.0; 3]);
}

#[test]
fn what_presses_beside_the_middle_turns_a_body() {
    // Of two balls in a row, the right one is pressed from above.
    let mut world = weightless(springy(1.0));
    let (arm, middle, depth) = (0.03, 0.5 * SPACING, 0.1 * SPACING);
    let center = [middle - arm, middle, middle - (1.5 * SPACING - depth)];
    let spheres = [([-arm, 0.0, 0.0], SPACING), ([arm, 0.0, 0.0], SPACING)];
    put(&mut world, center, [0.0; 3], &spheres, 2.0);
    pour(world.fluids.as_mut().unwrap(), [0; 3], [1; 3]);
    let simulation = started(world, None);
    let [force, torque] = simulation.loads_of_fluids_on_bodies()[0];
    let pressed = STIFFNESS * depth;
    assert!((force[2] / -pressed - 1.0).abs() < 1e-9, "{force:?}");
    // r × F with r along x and F down is along y.
    assert!((torque[1] / (arm * pressed) - 1.0).abs() < 1e-9, "{torque:?}");
}

#[test]
fn a_particle_leaves_a_heavy_ball_with_the_share_that_is_asked_for_and_the_ledger_closes() {
    let thrown = |time_step: f64| {
        let speed = 0.2;
        let mut simulation = started(pair(-5e-4, [-speed, 0.0, 0.0], 1e4), Some(time_step));
        let start = simulation.ledger();
        // The contact lasts 12 ms.
        simulation.advance((0.02 / time_step) as u64).unwrap();
        let (left, end) = (simulation.fluid().unwrap().velocity[0][0] / speed, simulation.ledger());
        assert_eq!(end.elastic_normal, 0.0, "they have parted");
        assert!((left - RESTITUTION).abs() < 0.01, "{left}");
        let lost = start.kinetic - end.kinetic;
        assert!((end.viscosity / lost - 1.0).abs() < 0.02, "{end:?}");
        (end.residual - start.residual) / start.kinetic
    };
    // Explicit Euler adds energy, of first order in the time step.
    let (whole, half) = (thrown(1e-5), thrown(5e-6));
    assert!(whole.abs() < 0.01 && (half / whole - 0.5).abs() < 0.1, "{whole} {half}");
}

#[test]
fn springs_hold_energy_while_a_particle_is_in_a_sphere() {
    let mut simulation = started(pair(-5e-4, [-0.2, 0.0, 0.0], 1e4), Some(5e-6));
    let start = simulation.ledger();
    // A quarter of an oscillation after the impact, the particle reverses.
    let quarter = 0.5 * PI * (1000.0 * SPACING.powi(3) / STIFFNESS).sqrt();
    simulation.advance(((2.5e-3 + quarter) / 5e-6) as u64).unwrap();
    let held = simulation.ledger();
    assert!(
        held.elastic_normal > 0.5 * start.kinetic && held.elastic_normal < start.kinetic,
        "{held:?}"
    );
    assert!((held.residual - start.residual).abs() < 0.01 * start.kinetic, "{held:?}");
}

/// A ball that flies through fluid in a periodic box, without gravity.
fn shot() -> World {
    let mut water = springy(1.0);
    (water.kinds[0].viscosity, water.kinds[0].xsph) = (5.0, 0.0);
    pour(&mut water, [0; 3], [10; 3]);
    let edge = 10.0 * SPACING;
    let domain = Domain {
        periodic: [true; 3],
        ..Domain::open([0.0; 3], [edge; 3], LeavingPolicy::Error)
    };
    let mut world = world(water, 0.0, Some(domain), Vec::new(), Vec::new());
    let spheres = [([-0.01, 0.0, 0.0], 0.02), ([0.02, 0.01, 0.0], 0.015)];
    put(&mut world, [0.5 * edge; 3], [1.0, 0.3, -0.2], &spheres, 3.0);
    world
}

#[test]
fn what_a_body_loses_of_momentum_fluid_gains() {
    // The velocities of this fluid are those at whole steps; this requires Euler's schemes for the bodies.
    for scheme in [Scheme::SymplecticEuler, Scheme::ExplicitEuler] {
        let settings = Settings {
            scheme,
            threads: 1,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(shot(), settings).unwrap();
        let total = |simulation: &Simulation| {
            let (body, fluid) = (simulation.bodies()[0], simulation.momentum_of_fluids());
            [0, 1, 2].map(|k| body.mass * body.velocity[k] + fluid[k])
        };
        let (before, given) = (total(&simulation), simulation.bodies()[0].velocity);
        simulation.advance(300).unwrap();
        // Eight kilograms of fluid, rounded at every step.
        let off = length(between(before, total(&simulation)));
        assert!(off < 1e-11, "{scheme:?}: {off}");
        let kept = simulation.bodies()[0].velocity;
        assert!(kept[0] < 0.9 * given[0], "fluid held nothing: {kept:?}");
    }
}

/// A ball that falls onto a settled pool, nine spacings wide and slightly less deep: its state after 0.6 s, its radius, and the height of the highest
/// fluid particle \[m\].
fn fallen(density_ratio: f64) -> (BodySnapshot, f64, f64) {
    let fastest = (2.0 * G * 7.0 * SPACING).sqrt();
    let mut water = springy(fastest);
    let fluid = &mut water.kinds[0];
    fluid.restitution = 0.0;
    fluid.xsph = 0.2;
    fluid.body_stiffness = 0.25 * 1000.0 * fluid.sound_speed.powi(2) * SPACING;
    pour(&mut water, [0; 3], [10, 10, 8]);
    // Closer than at the start of other tests, and irregular: a lattice would support the ball.
    for (k, x) in water.particles.position.iter_mut().enumerate() {
        *x = [0, 1, 2].map(|axis| {
            let shift = ((k * 3 + axis) as f64 * 0.618_034).fract() - 0.5;
            0.9 * (x[axis] + 0.2 * SPACING * shift)
        });
    }
    let radius = 1.5 * SPACING;
    let mut world = world(water, G, None, sides([9, 9]), vec![false; 5]);
    put_ball(
        &mut world,
        radius,
        [4.5 * SPACING, 4.5 * SPACING, 9.2 * SPACING],
        [0.0; 3],
        density_ratio,
    );
    let mut simulation = started(world, None);
    simulation.advance((0.6 / simulation.time_step().value) as u64).unwrap();
    let top = simulation.fluid().unwrap().position.iter().fold(0.0, |top: f64, x| top.max(x[2]));
    (simulation.bodies()[0], radius, top)
}

#[test]
fn a_light_ball_floats_on_the_fluid_and_a_heavy_one_sinks() {
    // In a prototype of two hundred lines, the light ball is 1.1 to 1.3 spacings above the highest particle, and the heavy one 2.4 below.
    let (light, radius, top) = fallen(0.3);
    assert!(light.center[2] > top && light.center[2] < top + radius + SPACING, "{light:?} {top}");
    // A floating body rests, except for the motion of the settling fluid: a fiftieth of the fall in the prototype.
    assert!(length(light.velocity) < 0.06 * (2.0 * G * 7.0 * SPACING).sqrt(), "{light:?}");
    let (heavy, _, top) = fallen(5.0);
    assert!(heavy.center[2] < top - SPACING, "{heavy:?} {top}");
}

/// Two fluids that splash against a pillar and two bodies beside it.
pub fn compressed_splash() -> World {
    let mut world = splash();
    let fluids = world.fluids.as_mut().unwrap();
    (fluids.kinds[0].body_stiffness, fluids.kinds[0].body_restitution) = (STIFFNESS, RESTITUTION);
    let mut oil = fluids.kinds[0].clone();
    oil.name = "oil".to_owned();
    (oil.density, oil.body_stiffness) = (800.0, 300.0);
    fluids.kinds.push(oil);
    for (kind, x) in fluids.particles.kind.iter_mut().zip(&fluids.particles.position) {
        *kind = u32::from(x[2] > 5.0 * SPACING);
    }
    put_ball(&mut world, 0.02, [0.06, 0.03, 0.05], [0.0; 3], 2.0);
    let spheres = [([0.0, 0.0, -0.015], 0.02), ([0.0, 0.0, 0.015], 0.02)];
    put(&mut world, [-0.07, 0.03, 0.06], [0.0; 3], &spheres, 1.0);
    world
}

#[test]
fn going_on_from_a_checkpoint_and_more_threads_change_no_bit() {
    let on = |threads: usize| {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        Simulation::new(compressed_splash(), settings).unwrap()
    };
    let (mut one, mut two) = (on(1), on(2));
    let before = one.bodies();
    one.advance(150).unwrap();
    two.advance(150).unwrap();
    assert_eq!(one.bodies(), two.bodies());
    // The splash has reached both bodies.
    for (then, now) in before.iter().zip(one.bodies()) {
        assert!(now.center[1] > then.center[1] + 1e-3, "{then:?} {now:?}");
    }
    let state = one.save().unwrap();
    let mut again = Simulation::restore(compressed_splash(), Settings::default(), &state).unwrap();
    // Springs are recomputed, not saved.
    let [held, found] = [&one, &again].map(|simulation| simulation.ledger().elastic_normal);
    assert!(held > 0.0 && (found / held - 1.0).abs() < 1e-12, "{held} {found}");
    one.advance(100).unwrap();
    again.advance(100).unwrap();
    assert_eq!((one.bodies(), one.fluid()), (again.bodies(), again.fluid()));
    assert_eq!(one.ledger().viscosity, again.ledger().viscosity);
}

#[test]
fn what_cannot_touch_is_refused_with_a_remedy() {
    let refused = |change: &dyn Fn(&mut Fluids), time_step: Option<f64>| {
        let mut world = pair(0.0, [0.0; 3], 2.0);
        change(world.fluids.as_mut().unwrap());
        let settings = Settings {
            time_step,
            ..Settings::default()
        };
        match Simulation::new(world, settings) {
            Err(refusal) => refusal.to_string(),
            Ok(_) => panic!("it was accepted"),
        }
    };
    let large = refused(&|fluids| fluids.body_boundaries[0].radius[0] = 1.6 * SPACING, None);
    for phrase in [
        "a radius of 0.032 m",
        "the support of 0.04 m",
        "at most 3.0000e-2 m",
        "finer spheres",
    ] {
        assert!(large.contains(phrase), "{phrase}: {large}");
    }
    let uneven = refused(&|fluids| fluids.body_boundaries[0].radius.clear(), None);
    assert!(uneven.contains("0 radii for 1 spheres"), "{uneven}");
    let springy = refused(&|fluids| fluids.kinds[0].body_restitution = 1.0, None);
    assert!(springy.contains("at least 0.000001 and below 1"), "{springy}");
    let soft = refused(&|fluids| fluids.kinds[0].body_stiffness = 0.0, None);
    assert!(soft.contains("it must be positive"), "{soft}");
    // With so little damping, explicit Euler is stable for steps of some ten microseconds only.
    let swinging = refused(&|fluids| fluids.kinds[0].body_restitution = 0.99, Some(2e-4));
    assert!(
        swinging.contains("springs between") && swinging.contains("explicit Euler lets grow"),
        "{swinging}"
    );
    // At a thousandth of the density of water, the particles around a ball reverse it.
    let mut light = pair(0.0, [0.0; 3], 0.001);
    light.fluids.as_mut().unwrap().kinds[0].body_restitution = 0.3;
    let settings = Settings {
        time_step: Some(2e-4),
        ..Settings::default()
    };
    let turned = Simulation::new(light, settings).err().unwrap().to_string();
    assert!(turned.contains("dampers between") && turned.contains("on the body of"), "{turned}");
}

#[test]
fn a_crowd_splashes_the_same_wherever_it_and_the_fluid_are() {
    let after = |device, precision| {
        let settings = Settings {
            device,
            precision,
            threads: 2,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(compressed_splash(), settings).unwrap();
        simulation.advance(100).unwrap();
        simulation.observe().unwrap();
        (simulation.bodies(), simulation.ledger())
    };
    let (here, ledger) = after(DeviceChoice::Cpu, None);
    let start = compressed_splash().grains.bodies;
    let way = here
        .iter()
        .zip(&start)
        .map(|(now, before)| length(between(before.center, now.center)));
    let way = way.fold(0.0, f64::max);
    for device in [DeviceChoice::Gpu(None), DeviceChoice::Heterogeneous(None)] {
        let (there, of_both) = after(device, Some(Precision::F64));
        for (a, b) in here.iter().zip(&there) {
            let off = length(between(a.center, b.center));
            assert!(off < 1e-9 * way, "{device:?}: {off} of {way} m");
        }
        let ledger_error = [
            ledger.viscosity - of_both.viscosity,
            ledger.elastic_normal - of_both.elastic_normal,
            ledger.residual - of_both.residual,
        ];
        let size = ledger.kinetic.abs();
        assert!(
            ledger_error.iter().all(|off| off.abs() < 1e-9 * size),
            "{device:?}: {ledger_error:?} of {size} J"
        );
    }
}
