//! Surface tension between pairs: forces are derivatives of a potential, repulsive near and attractive far. An even fluid gets no pressure, and the
//! work to separate two halves is that of two surfaces.

use proptest::prelude::*;
use seixo_laws::Vector3;
use seixo_laws::fluid::tension::{layer, potential, slope, strengths};
use seixo_laws::fluid::{FluidParticle, Medium, PairRates, Separation, Smoothing, Space, exchange, surface_energy};
use std::f64::consts::PI;

type V = Vector3<f64>;

/// Not a power of two, so that no product is exact by chance \[m\].
const SUPPORT: f64 = 0.3;
/// Surface tension of water \[N/m\].
const TENSION: f64 = 0.072;
const SPACES: [Space; 2] = [Space::Volume, Space::Plane];

fn vector([x, y, z]: [f64; 3]) -> V {
    V { x, y, z }
}

/// A medium with surface tension only, with `per_support` particles per support.
fn medium(per_support: u32, space: Space) -> Medium<f64> {
    let [pull, push] = strengths(TENSION, SUPPORT, SUPPORT / f64::from(per_support), space);
    Medium {
        viscosity: 0.0,
        artificial_viscosity: 0.0,
        diffusion: 0.0,
        rest_density: 1000.0,
        pull,
        push,
        share_of_wall: 0.5,
    }
}

fn stored(apart: &V) -> f64 {
    let smoother = Smoothing::Wendland.smoother(SUPPORT, Space::Volume);
    surface_energy(apart, &medium(4, Space::Volume), &smoother)
}

fn passed(apart: &V, velocities: [V; 2]) -> PairRates<f64> {
    let smoother = Smoothing::Wendland.smoother(SUPPORT, Space::Volume);
    let [i, j] = velocities.map(|velocity| FluidParticle {
        volume: 1e-6,
        velocity,
        surface_velocity: velocity,
        viscous_velocity: velocity,
        pressure: 0.0,
    });
    let medium = medium(4, Space::Volume);
    exchange(
        &Separation::by(apart, &smoother),
        &i,
        &j,
        &medium,
        &V::zero(),
        &smoother,
        Smoothing::Wendland,
        None,
        true,
    )
}

fn small(size: f64) -> impl Strategy<Value = V> {
    prop::array::uniform3(-size..size).prop_map(vector)
}

proptest! {
    #[test]
    fn what_one_particle_gets_the_other_gives_along_the_line_between_them(apart in small(0.17), velocities in prop::array::uniform2(small(3.0))) {
        let (a, b) = (passed(&apart, velocities), passed(&apart.times(-1.0), [velocities[1], velocities[0]]));
        prop_assert_eq!(a.force, b.force.times(-1.0));
        prop_assert_eq!(a.tension_power, b.tension_power);
        // A multiple of the vector between them, with each component rounded once or twice.
        prop_assert!(apart.cross(&a.force).length() <= 4e-15 * apart.length() * a.force.length());
        // The stored energy is what the motion loses, to the rounding of a scalar product.
        let lost = -a.force.dot(&velocities[0].minus(&velocities[1]));
        let rounding = 1e-14 * a.force.length() * velocities[0].minus(&velocities[1]).length();
        prop_assert!((a.tension_power - lost).abs() <= rounding, "{} {lost}", a.tension_power);
    }

    #[test]
    fn forces_are_slopes_of_what_is_stored(apart in small(0.17)) {
        prop_assume!(apart.length() > 1e-3);
        let force = passed(&apart, [V::zero(); 2]).force;
        let h = 1e-6;
        let difference = [[h, 0.0, 0.0], [0.0, h, 0.0], [0.0, 0.0, h]].map(|step| {
            let step = vector(step);
            -(stored(&apart.plus(&step)) - stored(&apart.minus(&step))) / (2.0 * h)
        });
        // Central differences: h² times the third derivative, about 10³ U/H³, and energies rounded by 1e-16 over h.
        let of_force = medium(4, Space::Volume).push * SUPPORT;
        prop_assert!(vector(difference).minus(&force).length() < 1e-7 * of_force, "{difference:?} {force:?}");
    }
}

#[test]
fn pairs_push_near_and_pull_far_and_let_go_at_the_support() {
    for space in SPACES {
        let Medium { pull, push, .. } = medium(4, space);
        let signs: Vec<bool> = (0..1000).map(|k| slope(f64::from(k) / 1000.0, pull, push) > 0.0).collect();
        assert!(!signs[0] && signs[999]);
        let turns = signs.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(turns, 1, "{space:?}");
        assert_eq!((slope(1.0, pull, push), potential(1.0, pull, push)), (0.0, 0.0));
    }
    let end = vector([SUPPORT * 1.5, 0.0, 0.0]);
    assert_eq!((passed(&end, [V::zero(); 2]).force, stored(&end)), (V::zero(), 0.0));
}

/// Virial and energy of evenly spread pairs, by Simpson's rule. Both vanish compared with those of the attraction alone.
#[test]
fn an_even_fluid_has_neither_pressure_nor_energy_from_tension() {
    for (space, dimensions) in SPACES.into_iter().zip([3, 2]) {
        let Medium { pull, push, .. } = medium(4, space);
        let count = 2000;
        let integral = |f: &dyn Fn(f64) -> f64| -> f64 {
            let weight = |k: u32| if k == 0 || k == count { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
            (0..=count).map(|k| weight(k) * f(f64::from(k) / f64::from(count))).sum()
        };
        let virial =
            integral(&|q| q.powi(dimensions + 1) * slope(q, pull, push)) / integral(&|q| q.powi(dimensions + 1) * slope(q, pull, 0.0));
        let energy = integral(&|q| q.powi(dimensions - 1) * potential(q, pull, push))
            / integral(&|q| q.powi(dimensions - 1) * potential(q, pull, 0.0));
        // The rule neglects derivatives at the ends, of the order of 1/2000⁴.
        assert!(virial.abs() < 1e-10 && energy.abs() < 1e-10, "{space:?} {virial:e} {energy:e}");
    }
}

/// All pairs of a lattice across a plane, for each of its particles on one side. Sums and integrals differ by 1.7 (Δ/H)².
#[test]
fn two_halves_part_with_the_work_of_two_surfaces() {
    const PER_SUPPORT: i32 = 16;
    let spacing = SUPPORT / f64::from(PER_SUPPORT);
    for space in SPACES {
        let medium = medium(PER_SUPPORT as u32, space);
        let smoother = Smoothing::Wendland.smoother(SUPPORT, space);
        let (across, area) = match space {
            Space::Volume => (PER_SUPPORT, spacing * spacing),
            Space::Plane => (0, spacing),
        };
        let mut work = 0.0;
        for z in 1..=PER_SUPPORT {
            for x in -PER_SUPPORT..=PER_SUPPORT {
                for y in -across..=across {
                    let apart = vector([x, y, z].map(|k| spacing * f64::from(k)));
                    // The number of layers on either side with this distance.
                    work -= f64::from(z) * surface_energy(&apart, &medium, &smoother);
                }
            }
        }
        let tension = 0.5 * work / area * layer(space);
        assert!((tension / TENSION - 1.0).abs() < 0.01, "{space:?}: {tension}");
    }
}

/// The energy of a density wave is proportional to the Fourier transform of the potential. Where it is negative, particles cluster.
#[test]
fn no_wave_of_density_lowers_the_energy() {
    let Medium { pull, push, .. } = medium(4, Space::Volume);
    let count = 4000;
    let transform = |wave: f64| -> f64 {
        let sum: f64 = (0..count)
            .map(|k| {
                let q = (f64::from(k) + 0.5) / f64::from(count);
                q * (wave * q).sin() * potential(q, pull, push)
            })
            .sum();
        4.0 * PI * sum / (wave * f64::from(count))
    };
    let all: Vec<f64> = (1..=400).map(|k| transform(0.25 * f64::from(k))).collect();
    let [least, most] = all.iter().fold([0.0f64; 2], |[least, most], x| [least.min(*x), most.max(*x)]);
    // It is not entirely positive: its minimum is −5e-6 of the maximum.
    assert!(least > -1e-5 * most, "{least} {most}");
}
