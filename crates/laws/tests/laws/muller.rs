//! Müller 2003 solver: action equals reaction at any densities, and sums over a lattice approximate their derivatives or half of them. XSPH reduces
//! relative velocities, walls reflect, and explicit Euler is stable up to the stated time step.

use proptest::prelude::*;
use seixo_laws::Vector3;
use seixo_laws::fluid::muller::{Functions, Particle, draw, gain, longest_step, pair_force, rebound, weight};
use seixo_laws::wall::{beside_frustum, beside_sphere, nearest_on_frustum, nearest_on_sphere};
use std::f64::consts::PI;

type V = Vector3<f64>;

fn vector([x, y, z]: [f64; 3]) -> V {
    V { x, y, z }
}

/// Not a power of two, so that no product is exact by chance \[m\].
const SUPPORT: f64 = 0.3;

/// A vector with components of magnitude below `size`.
fn small(size: f64) -> impl Strategy<Value = V> {
    prop::array::uniform3(-size..size).prop_map(vector)
}

fn particle(volume: f64, pressure: f64, velocity: V) -> Particle<f64> {
    Particle {
        volume,
        pressure,
        viscosity: 0.7,
        velocity,
    }
}

proptest! {
    /// Forces per volume are not opposite at different densities; forces are.
    #[test]
    fn what_one_particle_gets_the_other_gives_to_the_last_bit(
        apart in small(0.17), velocities in prop::array::uniform2(small(3.0)), pressures in prop::array::uniform2(-1e3..1e4f64),
        volumes in prop::array::uniform2(1e-7..1e-5f64), viscosities in prop::array::uniform2(0.0..1.0f64),
    ) {
        let functions = Functions::new(SUPPORT);
        let [i, j] = [0, 1].map(|k| Particle { viscosity: viscosities[k], ..particle(volumes[k], pressures[k], velocities[k]) });
        let square = apart.dot(&apart);
        let (a, b) = (pair_force(&apart, square, &i, &j, &functions), pair_force(&apart.times(-1.0), square, &j, &i, &functions));
        prop_assert_eq!(a.pressure, b.pressure.times(-1.0));
        prop_assert_eq!(a.viscous, b.viscous.times(-1.0));
        // Viscosity dissipates, to the rounding of a scalar product. Pressure acts along the line between the two.
        let parting = velocities[0].minus(&velocities[1]);
        prop_assert!(a.viscous.dot(&parting) <= 1e-14 * a.viscous.length() * parting.length());
        prop_assert!(apart.cross(&a.pressure).length() <= 1e-15 * 4.0 * apart.length() * a.pressure.length());
    }

    #[test]
    fn nothing_passes_from_the_support_on(direction in small(1.0), beyond in 1.0..3.0f64) {
        prop_assume!(direction.length() > 0.1);
        let functions = Functions::new(SUPPORT);
        let apart = direction.times(1.000_001 * beyond * SUPPORT / direction.length());
        let square = apart.dot(&apart);
        let [i, j] = [1.0, -1.0].map(|x| particle(1e-6, 1e4, vector([x, 0.0, 0.0])));
        let found = pair_force(&apart, square, &i, &j, &functions);
        prop_assert_eq!((found.pressure.length(), found.viscous.length(), weight(square, &functions)), (0.0, 0.0, 0.0));
    }

    /// Equal particles conserve their momentum, and their velocities approach each other without overshoot.
    #[test]
    fn neighbors_draw_velocities_together(apart in small(0.17), velocities in prop::array::uniform2(small(3.0)), share in 0.0..1.0f64) {
        let functions = Functions::new(SUPPORT);
        // The weight of a single neighbor is at most a quarter: 315/(64π) (Δ/H)³ with H = 2Δ is 0.196.
        let (square, volume) = (apart.dot(&apart), (0.5 * SUPPORT).powi(3));
        let [a, b] = [[0, 1], [1, 0]].map(|[i, j]| draw(square, volume, &velocities[i], &velocities[j], &functions).times(share));
        prop_assert_eq!(a, b.times(-1.0));
        let before = velocities[0].minus(&velocities[1]);
        let after = before.plus(&a).minus(&b);
        prop_assert!(after.length() <= before.length() * (1.0 + 1e-15) && after.dot(&before) >= 0.0);
        // The energy taken from the motion is not negative.
        let taken = -gain(2.0, &velocities[0], &a) - gain(2.0, &velocities[1], &b);
        prop_assert!(taken >= -1e-13, "{taken}");
    }

    /// In the frame of the wall: the velocity along the wall is unchanged, and the normal velocity is reversed and reduced by the restitution.
    #[test]
    fn walls_turn_what_comes_around(velocity in small(3.0), wall in small(1.0), direction in small(1.0), restitution in 0.0..1.0f64) {
        prop_assume!(direction.length() > 0.1);
        let normal = direction.times(1.0 / direction.length());
        let (before, after) = (velocity.minus(&wall), rebound(&velocity, &wall, &normal, restitution).minus(&wall));
        let (into, out) = (before.dot(&normal), after.dot(&normal));
        let expected = if into < 0.0 { -restitution * into } else { into };
        prop_assert!((out - expected).abs() < 1e-14 * 8.0, "{into} {out}");
        let along = before.minus(&normal.times(into)).minus(&after.minus(&normal.times(out)));
        prop_assert!(along.length() < 1e-14 * 8.0);
    }

    /// The signed distance along the normal leads to the nearest point of the wall.
    #[test]
    fn distances_from_round_walls_lead_to_their_nearest_points(
        place in small(2.0), center in small(0.3), direction in small(1.0), radii in prop::array::uniform2(0.2..1.5f64), height in 0.2..1.5f64,
    ) {
        prop_assume!(direction.length() > 0.1);
        let axis = direction.times(1.0 / direction.length());
        let shape = vector([height, radii[0], radii[1]]);
        let beside = beside_frustum(&place, &center, &axis, &shape);
        if beside.within > 0.0 {
            let nearest = nearest_on_frustum(&place, &center, &axis, &shape);
            let led = place.minus(&beside.normal.times(beside.distance));
            prop_assert!(led.minus(&nearest).length() < 1e-12, "{led:?} {nearest:?}");
        }
        let beside = beside_sphere(&place, &center, radii[0]);
        let led = place.minus(&beside.normal.times(beside.distance));
        prop_assert!(led.minus(&nearest_on_sphere(&place, &center, radii[0])).length() < 1e-14 * 8.0);
        prop_assert_eq!(beside.distance < 0.0, place.minus(&center).length() < radii[0]);
    }
}

#[test]
fn what_is_within_a_vessel_is_on_the_negative_side_of_its_mantle_and_before_its_bottom() {
    let (base, axis) = (vector([1.0, 2.0, 3.0]), vector([0.0, 0.0, 1.0]));
    let at = |x: f64, z: f64| base.plus(&vector([x, 0.0, z]));
    let mantle = |place: &V| beside_frustum(place, &base, &axis, &vector([2.0, 1.0, 1.0]));
    let bottom = |place: &V| beside_frustum(place, &base, &axis, &vector([0.0, 0.0, 1.0]));
    let inside = mantle(&at(0.4, 0.5));
    assert!(
        (inside.distance + 0.6).abs() < 1e-15 && (inside.within - 0.5).abs() < 1e-15,
        "{inside:?}"
    );
    let above = mantle(&at(0.4, 2.3));
    assert!((above.within + 0.3).abs() < 1e-15 && above.distance < 0.0, "{above:?}");
    assert!((mantle(&at(1.2, 0.5)).distance - 0.2).abs() < 1e-15);
    let over = bottom(&at(0.4, 0.5));
    assert!((over.distance + 0.5).abs() < 1e-15 && (over.within - 0.4).abs() < 1e-15, "{over:?}");
    assert!((over.normal.z + 1.0).abs() < 1e-15);
}

/// Calls `add` for all neighbors of a particle in a cubic lattice with `support` spacings in the support.
fn over_lattice(support: i32, mut add: impl FnMut(V)) {
    let spacing = SUPPORT / f64::from(support);
    for x in -support..=support {
        for y in -support..=support {
            for z in -support..=support {
                if [x, y, z] != [0; 3] {
                    add(vector([x, y, z].map(|k| f64::from(k) * spacing)));
                }
            }
        }
    }
}

#[test]
fn pressure_pushes_with_half_of_its_gradient_and_viscosity_with_the_laplacian() {
    let functions = Functions::new(SUPPORT);
    let volume = (SUPPORT / 4.0).powi(3);
    let slope = vector([300.0, -200.0, 500.0]);
    let own = particle(volume, 700.0, V::zero());
    let (mut pressure, mut viscous) = (V::zero(), V::zero());
    over_lattice(4, |place| {
        // A velocity along x that grows with the square of z: its Laplacian is 2.
        let velocity = vector([place.z * place.z, 0.0, 0.0]);
        let other = particle(volume, 700.0 + slope.dot(&place), velocity);
        let found = pair_force(&place.times(-1.0), place.dot(&place), &own, &other, &functions);
        (pressure, viscous) = (pressure.plus(&found.pressure), viscous.plus(&found.viscous));
    });
    let half = slope.times(-0.5);
    // On a lattice with four spacings in the support, sums agree with integrals within one percent.
    let missed = pressure.times(1.0 / volume).minus(&half).length() / half.length();
    assert!(missed < 0.01, "{pressure:?} {missed}");
    let laplacian = viscous.x / volume / own.viscosity;
    assert!(
        (laplacian - 2.0).abs() < 0.02 && viscous.y.abs() + viscous.z.abs() < 1e-12,
        "{laplacian}"
    );
}

#[test]
fn a_lattice_at_rest_has_the_density_at_rest() {
    let functions = Functions::new(SUPPORT);
    // With two spacings, as in most scenes, the error of the sum is one percent; with four it is negligible.
    for (support, off) in [(2, 0.011), (4, 1e-3)] {
        let mut sum = weight(0.0, &functions);
        over_lattice(support, |place| sum += weight(place.dot(&place), &functions));
        let relative = sum * (SUPPORT / f64::from(support)).powi(3);
        assert!((relative - 1.0).abs() < off, "{support}: {relative}");
    }
}

/// Share of a wave with the wave number q that is left if all particles take the mean of their neighbors, weighted by the function for density: its
/// Fourier transform, by Simpson's rule.
fn left_of_wave(q: f64) -> f64 {
    let functions = Functions::new(SUPPORT);
    let count = 2000;
    let step = SUPPORT / f64::from(count);
    let sum: f64 = (1..count)
        .map(|k| {
            let r = step * f64::from(k);
            f64::from(2 + 2 * (k % 2)) * 4.0 * PI * r * r * weight(r * r, &functions) * (q * r).sin() / (q * r)
        })
        .sum();
    sum * step / 3.0
}

#[test]
fn sound_grows_beyond_the_longest_step_and_not_below() {
    let q = 0.2 / SUPPORT;
    let drawn = 1.0 - left_of_wave(q);
    for (stiffness, viscosity, xsph) in [(100.0, 0.0, 0.5), (100.0, 0.02, 0.0), (40.0, 0.05, 0.1)] {
        let longest = longest_step(stiffness, viscosity, xsph, SUPPORT);
        let grown = |share: f64| {
            let dt = share * longest;
            let (mut strain, mut velocity) = (1.0f64, 0.0f64);
            let energy = |strain: f64, velocity: f64| 0.5 * stiffness * strain * strain + velocity * velocity;
            let before = energy(strain, velocity);
            // Ten periods of the wave.
            let steps = (10.0 * 2.0 * PI / (q * (0.5 * stiffness).sqrt() * dt)) as u64;
            for _ in 0..steps {
                // One step of explicit Euler, then XSPH: pressure with half of its gradient, strain from the old velocity.
                let forced = velocity - (0.5 * stiffness * q * strain + viscosity * q * q * velocity) * dt;
                strain += q * velocity * dt;
                velocity = forced * (1.0 - xsph * drawn);
            }
            energy(strain, velocity) / before
        };
        let (below, beyond) = (grown(0.8), grown(1.25));
        assert!(below < 1.0 && beyond > 1.0, "{stiffness} {viscosity} {xsph}: {below} {beyond}");
    }
}
