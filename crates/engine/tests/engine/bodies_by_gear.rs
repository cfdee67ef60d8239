//! Rigid bodies by Gear's method: tests against physics, and the same results in all placements of a CPU.

use crate::blocks::{momentum, pushed};
use crate::clumps::{Fill as _, Shape, heap, rod, world};
use crate::decomposition_bodies::{assert_one_answer, change, void};
use crate::domains::among;
use crate::floors::floor;
use crate::resumed::assert_same_when_resumed_after;
use crate::tied::with_joints;
use crate::vectors::dot;
use seixo_engine::world::{LeavingPolicy, Load, Settings, Vec3, World};
use seixo_engine::{BodySnapshot, Simulation, SurroundingsChange};
use seixo_laws::contact::TangentialLaw;
use seixo_laws::motion::Scheme;

/// One thread, with a scheme and a time step \[s\]; the planned one if it is `None`.
fn by(scheme: Scheme, time_step: Option<f64>) -> Settings {
    Settings {
        threads: 1,
        scheme,
        time_step,
        ..Settings::default()
    }
}

fn started(world: &World, settings: Settings) -> Simulation {
    Simulation::new(world.clone(), settings).expect("the world is sound")
}

fn apart<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// sn, cn and dn, Jacobi's elliptic functions, of `u` with the parameter `m`, by the arithmetic–geometric mean.
fn jacobi(u: f64, m: f64) -> Vec3 {
    let (mut a, mut b) = (1.0f64, (1.0 - m).sqrt());
    let mut ratios = Vec::new();
    for _ in 0..6 {
        let c = 0.5 * (a - b);
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        ratios.push(c / a);
    }
    let mut angle = 64.0 * a * u;
    for ratio in ratios.iter().rev() {
        angle = 0.5 * (angle + (ratio * angle.sin()).asin());
    }
    let (sn, cn) = angle.sin_cos();
    [sn, cn, (1.0 - m * sn * sn).sqrt()]
}

/// Moments of inertia of a free top \[kg m²\], and its angular velocity at time zero \[rad/s\].
const MOMENTS: Vec3 = [1.0, 2.0, 3.0];
const SPIN: Vec3 = [0.6, 0.0, 0.8];

/// Angular velocity of the top in the frame of its principal axes at a time \[s\], by Euler's equations \[Landau 1976, § 37\].
fn exact_spin(time: f64) -> Vec3 {
    let [i1, i2, i3] = MOMENTS;
    let energy: f64 = (0..3).map(|k| MOMENTS[k] * SPIN[k] * SPIN[k]).sum();
    let square: f64 = (0..3).map(|k| (MOMENTS[k] * SPIN[k]).powi(2)).sum();
    let rate = ((i3 - i2) * (square - energy * i1) / (i1 * i2 * i3)).sqrt();
    let parameter = (i2 - i1) * (energy * i3 - square) / ((i3 - i2) * (square - energy * i1));
    let [sn, cn, dn] = jacobi(rate * time, parameter);
    [
        ((energy * i3 - square) / (i1 * (i3 - i1))).sqrt() * cn,
        ((energy * i3 - square) / (i2 * (i3 - i2))).sqrt() * sn,
        ((square - energy * i1) / (i3 * (i3 - i1))).sqrt() * dn,
    ]
}

/// A free top: one soft sphere, so that contacts do not limit the time step.
fn top() -> World {
    let mut world = world(TangentialLaw::None);
    world.materials[0].youngs_modulus = 1.0;
    let mut shape = Shape::of(vec![([0.0; 3], 0.1)]);
    (shape.mass, shape.moments) = (1.0, MOMENTS);
    world
        .grains
        .clear_and(|grains| shape.put(grains, [0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], SPIN));
    world
}

/// The top after four seconds, and the error of its energy of rotation \[J\].
fn top_after(scheme: Scheme, dt: f64) -> (BodySnapshot, f64) {
    let mut simulation = started(&top(), by(scheme, Some(dt)));
    let before = simulation.ledger().rotational;
    simulation.advance((4.0 / dt).round() as u64).expect("sound steps");
    (simulation.bodies()[0], simulation.ledger().rotational - before)
}

/// The principal axes of a body in space.
fn axes(body: &BodySnapshot) -> [Vec3; 3] {
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| body.turned(axis))
}

/// Components of the angular velocity along the principal axes.
fn own_spin(body: &BodySnapshot) -> Vec3 {
    axes(body).map(|axis| dot(axis, body.angular_velocity))
}

#[test]
fn a_free_top_is_followed_to_fourth_order() {
    for scheme in [Scheme::Gear, Scheme::GearOfPlaces] {
        let tops = [0.02, 0.01, 0.005].map(|dt| top_after(scheme, dt).0);
        // The angular velocity in the body is known in closed form. The angular momentum in space is constant; it also depends on the orientation.
        let exact = exact_spin(4.0);
        let of_spin = tops.map(|body| apart(own_spin(&body), exact));
        let of_momentum = tops.map(|body| apart(body.angular_momentum, [0.6, 0.0, 2.4]));
        assert!(of_spin[2] < 1e-8 && of_momentum[2] < 1e-8, "{of_spin:?} {of_momentum:?}");
        for errors in [of_spin, of_momentum] {
            for pair in errors.windows(2) {
                // The next term of the error is smaller by the angle of a step, 0.02 at most, times a small number.
                let order = (pair[0] / pair[1]).log2();
                assert!((order - 4.0).abs() < 0.3, "{scheme:?}: order {order} of {errors:?}");
            }
        }
        let [coarse, middle, fine] = tops.map(|body| body.orientation);
        let order = (apart(coarse, middle) / apart(middle, fine)).log2();
        assert!((order - 4.0).abs() < 0.3, "{scheme:?}: order {order} of the orientation");
    }
}

#[test]
fn a_free_top_keeps_angular_momentum_and_energy_to_fourth_order() {
    let [(coarse, lost), (fine, left)] = [0.02, 0.01].map(|dt| top_after(Scheme::Gear, dt));
    // 2T = 2.28 J and L² = 6.12 J² s². The angle of a step is 0.02, its fourth power 1.6e-7; half of it divides the error by 16.
    assert!(lost.abs() < 1e-6 && left.abs() < 6e-8, "{lost:e} J, {left:e} J");
    let squares = [coarse, fine].map(|body| dot(body.angular_momentum, body.angular_momentum) / 6.12 - 1.0);
    assert!(squares[0].abs() < 1e-6 && squares[1].abs() < 6e-8, "{squares:?}");
    // The stored angular momentum is that of the angular velocity, in space.
    let (own, axes) = (own_spin(&fine), axes(&fine));
    let expected = [0, 1, 2].map(|k| (0..3).map(|a| MOMENTS[a] * own[a] * axes[a][k]).sum::<f64>());
    assert!(apart(expected, fine.angular_momentum) < 1e-13, "{expected:?} {fine:?}");
}

#[test]
fn a_body_falls_without_error_also_after_changes_of_gravity_and_loads() {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [1.0, 2.0, -10.0];
    world.later.constrained_groups = vec![0];
    let shape = rod(3, 1e-3);
    let (velocity, spin) = ([0.1, 0.0, 0.2], [0.0, 0.0, 5.0]);
    world
        .grains
        .clear_and(|grains| shape.put(grains, [0.0; 3], [1.0, 0.0, 0.0, 0.0], velocity, spin));
    let mut simulation = started(&world, by(Scheme::Gear, None));
    let changes = [
        SurroundingsChange::Gravity([-3.0, 0.0, 4.0]),
        SurroundingsChange::Load(Load::constant(0, [2e-4, 0.0, -1e-4], [0.0; 3])),
    ];
    let push = [2e-4, 0.0, -1e-4].map(|force| 3.0 * force / shape.mass);
    let later = [0, 1, 2].map(|k| [-3.0, 0.0, 4.0][k] + push[k]);
    let (mut center, mut moving, mut before) = ([0.0; 3], velocity, 0.0);
    let phases = [
        ([1.0, 2.0, -10.0], None),
        ([-3.0, 0.0, 4.0], Some(&changes[0])),
        (later, Some(&changes[1])),
    ];
    for (rate, change) in phases {
        if let Some(change) = change {
            simulation.change(std::slice::from_ref(change)).expect("a sound change");
        }
        simulation.advance(500).expect("sound steps");
        let body = simulation.bodies()[0];
        let time = simulation.time() - before;
        before = simulation.time();
        center = [0, 1, 2].map(|k| center[k] + moving[k] * time + 0.5 * rate[k] * time * time);
        moving = [0, 1, 2].map(|k| moving[k] + rate[k] * time);
        // Rounding of 500 steps.
        assert!(apart(body.center, center) < 1e-14, "{:?} {center:?}", body.center);
        assert!(apart(body.velocity, moving) < 1e-12, "{:?} {moving:?}", body.velocity);
        assert!(apart(body.angular_velocity, spin) < 1e-9, "{:?}", body.angular_velocity);
    }
}

/// A dumbbell, inclined by 30°, that hits a plane without friction.
fn thrown_dumbbell(restitution: f64) -> World {
    let mut world = world(TangentialLaw::None);
    world.interactions[0].as_mut().expect("one").restitution = restitution;
    world.materials[0].youngs_modulus = 1e9;
    world.walls.push(floor());
    let (radius, half, lean) = (1e-3, 1.5e-3, std::f64::consts::FRAC_PI_6);
    let turn = [(0.5 * lean).cos(), 0.0, (0.5 * lean).sin(), 0.0];
    let height = radius + half * lean.sin() + 1e-6;
    let shape = Shape::of(vec![([half, 0.0, 0.0], radius), ([-half, 0.0, 0.0], radius)]);
    world
        .grains
        .clear_and(|grains| shape.put(grains, [0.0, 0.0, height], turn, [0.0, 0.0, -0.02], [0.0; 3]));
    world
}

/// The dumbbell some steps after its collision.
fn after_collision(world: &World, settings: Settings) -> Simulation {
    let mut simulation = started(world, settings);
    let mut has_touched = false;
    for _ in 0..200_000 {
        simulation.step().expect("a sound step");
        let touches = simulation.contacts() > 0;
        if has_touched && !touches {
            // The series of Gear's method forgets the last contact.
            simulation.advance(20).expect("sound steps");
            return simulation;
        }
        has_touched |= touches;
    }
    panic!("no collision, or one without end");
}

#[test]
fn a_body_bounces_as_by_leapfrog_in_the_limit_of_short_steps() {
    let world = thrown_dumbbell(1.0);
    for dt in [4e-7f64, 2e-7, 1e-7] {
        let [leapfrog, gear] = [Scheme::Leapfrog, Scheme::Gear].map(|scheme| after_collision(&world, by(scheme, Some(dt))).bodies()[0]);
        assert!(leapfrog.angular_velocity[1] < -10.0, "{leapfrog:?}");
        // Both are of second order at the onset of a Hertzian contact, here of some hundred steps.
        let bar = 1e-6 * (dt / 4e-7).powi(2);
        let (speed, turning) = (0.02, leapfrog.angular_velocity[1].abs());
        let off = apart(leapfrog.velocity, gear.velocity) / speed;
        let turned = apart(leapfrog.angular_velocity, gear.angular_velocity) / turning;
        assert!(off < bar && turned < bar, "{dt:e}: {off:e} {turned:e}");
    }
}

#[test]
fn the_ledger_of_a_bounce_and_of_a_damped_fall_balances() {
    let mut world = thrown_dumbbell(0.6);
    world.local_damping = 0.2;
    let simulation = after_collision(&world, by(Scheme::Gear, Some(1e-7)));
    let ledger = simulation.ledger();
    assert!(ledger.normal_damping > 0.0 && ledger.local_damping > 0.0, "{ledger:?}");
    // The power of a collision is summed over some hundred steps, and that of local damping at the start of each.
    assert!(ledger.residual.abs() < 5e-3 * ledger.initial, "{ledger:?}");
    let mut simulation = started(&void(), by(Scheme::Gear, None));
    simulation.advance(2000).expect("sound steps");
    let ledger = simulation.ledger();
    assert!(ledger.local_damping > 0.0, "{ledger:?}");
    assert!(ledger.residual.abs() < 2e-3 * ledger.local_damping, "{ledger:?}");
}

/// A heap of clumps and grains with local damping.
fn geared_heap(count: usize, leaving: Option<LeavingPolicy>) -> World {
    let mut world = heap(count, leaving);
    world.local_damping = 0.1;
    world
}

fn with(domains: usize) -> Settings {
    Settings {
        scheme: Scheme::Gear,
        ..among(domains)
    }
}

fn after(world: &World, domains: usize, steps: u64) -> Simulation {
    let mut simulation = started(world, with(domains));
    simulation.advance(steps).expect("sound steps");
    simulation.observe().expect("a sound state");
    simulation
}

#[test]
fn a_heap_is_the_same_among_any_number_of_domains() {
    for leaving in [None, Some(LeavingPolicy::Delete)] {
        let world = geared_heap(100, leaving);
        let mut whole = after(&world, 1, 6000);
        assert!(whole.rebuilds() > 3 && whole.ledger().normal_damping > 0.0, "{:?}", whole.ledger());
        for domains in [2, 4] {
            let mut decomposed = after(&world, domains, 6000);
            assert_one_answer(&mut whole, &mut decomposed, &format!("{leaving:?}, {domains} domains"));
            let state = after(&world, domains, 3500).save().expect("a sound state");
            let mut again = Simulation::restore(world.clone(), with(domains + 1), &state).expect("a state of this world");
            again.advance(2500).expect("sound steps");
            again.observe().expect("a sound state");
            assert_one_answer(&mut whole, &mut again, &format!("{leaving:?}, from {domains} domains"));
        }
    }
    // Domains without grains.
    let world = void();
    let (mut whole, mut decomposed) = (after(&world, 1, 4000), after(&world, 4, 4000));
    assert_one_answer(&mut whole, &mut decomposed, "clumps in the void");
}

#[test]
fn bodies_are_changed_the_same_while_the_world_is_divided() {
    let world = geared_heap(120, None);
    let mut whole = started(&world, with(1));
    change(&mut whole);
    assert!(whole.bodies().len() < world.grains.bodies.len());
    let mut decomposed = started(&world, with(3));
    change(&mut decomposed);
    assert_one_answer(&mut whole, &mut decomposed, "3 domains");
}

#[test]
fn going_on_from_a_saved_heap_is_the_same_to_the_bit() {
    let tilt = vec![SurroundingsChange::Gravity([5.0, 0.0, -40.0])];
    for leaving in [None, Some(LeavingPolicy::Delete)] {
        let past = [(1000, tilt.clone())];
        let state = assert_same_when_resumed_after(&geared_heap(60, leaving), &by(Scheme::Gear, None), &past, [2500, 2500]);
        assert!(state.get("bodies/orientation_derivatives").is_some());
    }
}

#[test]
fn what_a_body_by_gears_method_loses_of_momentum_water_gains() {
    let world = pushed();
    let time = 400.0 * started(&world, by(Scheme::Leapfrog, None)).time_step().value;
    let mut simulation = started(&world, by(Scheme::Gear, None));
    let dt = simulation.time_step().value;
    let (before, given) = (momentum(&simulation), simulation.bodies()[0].velocity);
    let mut largest = 0.0f64;
    for _ in 0..(time / dt).round() as u64 {
        simulation.step().expect("a sound step");
        let [force, _] = simulation.loads_of_fluids_on_bodies()[0];
        largest = largest.max(dot(force, force).sqrt());
    }
    let (after, kept) = (momentum(&simulation), simulation.bodies()[0].velocity);
    assert!(kept[0] < 0.9 * given[0], "water held nothing: {kept:?}");
    // Velocities of the body are predicted from the forces up to this time, those of the water are integrated by them: they differ by less than the
    // impulse of a step.
    assert!(apart(before, after) < dt * largest, "{before:?} {after:?}, {:e}", dt * largest);
}

#[test]
fn bodies_on_joints_are_refused() {
    let refusal = Simulation::new(with_joints(heap(120, None)), by(Scheme::Gear, None))
        .err()
        .expect("joints and Gear's method")
        .to_string();
    assert!(refusal.contains("joint") && refusal.contains("another integrator"), "{refusal}");
}
