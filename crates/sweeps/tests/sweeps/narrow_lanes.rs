//! The contact sweep of a CPU with laws in single precision, and with each law.

use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_laws::{Coordinate, Real};
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::lanes::contacts_of_part;
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::part::{GrainsView, Limits, PartOut};
use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};
use seixo_sweeps::shortlist::Shortlist;

/// More than a batch of lanes.
const GRAINS: usize = 45;

/// Distance of adjacent grains in the first step \[m\]: they overlap by 10⁻⁴ of their diameter.
const FIRST_SPACING: f64 = 1.9998e-3;

/// The second of two steps of a chain of grains, a kilometer from the origin, that move together at 1 km/s: the components of forces and of torques, and
/// the powers. Their distance is 1.9998 mm in the first step, and `spacing` in the second. The coefficients are those of one material for all, or are
/// read for each pair.
fn step_of_chain<R: Real>(dt: R, overlap: R, tangential: TangentialLaw, spacing: f64, is_uniform: bool) -> ([Vec<f64>; 2], PowerSums<f64>)
where
    f64: Coordinate<R>,
{
    let materials = PairOfMaterials {
        effective_modulus: 1e7,
        effective_shear_modulus: 4e6,
        restitution: 0.5,
        friction: 0.5,
        tangential_stiffness: 1e3,
        ..PairOfMaterials::default()
    };
    let table = derive(NormalLaw::Hertz, tangential, &materials).row();
    let (mut velocity, mut spin) = (Vec::new(), Vec::new());
    for k in 0..GRAINS {
        let own = |number: usize| ((7 * k + 3 * number) % 11) as f64 / 11.0 - 0.5;
        velocity.extend([1e3 + 1e-3 * own(0), 1e-3 * own(1), 1e-3 * own(2), 1e-5]);
        spin.extend([own(3), own(4), own(5), 0.0]);
    }
    let sides = PeriodicBoundaries::open();
    let last = GRAINS as u32 - 1;
    let (partner, grain): (Vec<u32>, Vec<u16>) = ((1..=last).collect(), (0..last as u16).collect());
    let shortlist = Shortlist {
        first: 0,
        grain: &grain,
        partner: &partner,
        inside: partner.len(),
    };
    let mut history = vec![R::new(0.0); partner.len() * RECORD];
    let mut step = |spacing: f64| {
        let position: Vec<f64> = (0..GRAINS).flat_map(|k| [1e3 + spacing * k as f64, 0.0, 0.0, 1e-3]).collect();
        let grains = GrainsView {
            position: &position,
            velocity: &velocity,
            spin: &spin,
            material: &[0; GRAINS],
            materials: 1,
            table: &table,
            is_uniform,
            sides: &sides,
        };
        let (mut force, mut torque) = ([0.0; GRAINS * RECORD], [0.0; GRAINS * RECORD]);
        let out = PartOut {
            history: &mut history,
            force: &mut force,
            torque: &mut torque,
        };
        let power = contacts_of_part::<f64, R, OPEN>(&grains, shortlist, Limits { dt, overlap }, out);
        let contacts: f64 = force.chunks_exact(RECORD).map(|record| record[3]).sum();
        assert_eq!(contacts, 2.0 * f64::from(last));
        let vectors = |records: &[f64]| records.chunks_exact(RECORD).flat_map(|record| record[..3].to_vec()).collect();
        ([vectors(&force), vectors(&torque)], power)
    };
    step(FIRST_SPACING);
    step(spacing)
}

#[test]
fn laws_in_single_precision_lose_no_digits_of_small_overlaps_and_of_common_motion() {
    let (exact, powers) = step_of_chain::<f64>(1e-6, 0.5, TangentialLaw::Mindlin, FIRST_SPACING, true);
    let (rounded, rounded_powers) = step_of_chain::<f32>(1e-6, 0.5, TangentialLaw::Mindlin, FIRST_SPACING, true);
    for (exact, rounded) in exact.iter().zip(&rounded) {
        let largest = exact.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
        let apart = exact.iter().zip(rounded).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        // An operation rounds to 6·10⁻⁸. Depths from rounded squares would be wrong by more than 10⁻⁴, differences of rounded velocities by 10⁻², and
        // those of rounded positions altogether.
        assert!(largest > 0.0 && apart > 0.0 && apart < 1e-5 * largest, "{apart:e} of {largest:e}");
    }
    for (exact, rounded) in [
        (powers.normal_power, rounded_powers.normal_power),
        (powers.tangential_power, rounded_powers.tangential_power),
    ] {
        assert!(exact > 0.0 && (exact - rounded).abs() < 1e-4 * exact, "{exact:e} {rounded:e}");
    }
    assert!((powers.excess - rounded_powers.excess).abs() < 1e-6 * powers.excess.abs());
}

#[test]
fn one_material_for_all_changes_no_bit_whichever_law_it_has() {
    // Four times and a quarter of the overlap: twice and half of the contact radius, for which the laws of Mindlin keep different forces.
    for spacing in [1.9992e-3, 1.99995e-3] {
        let mut torques: Vec<Vec<u64>> = Vec::new();
        for &tangential in TangentialLaw::ALL {
            let (for_all, _) = step_of_chain::<f64>(1e-6, 0.5, tangential, spacing, true);
            let (by_pair, _) = step_of_chain::<f64>(1e-6, 0.5, tangential, spacing, false);
            let bits = |vectors: &[Vec<f64>; 2]| {
                vectors
                    .each_ref()
                    .map(|numbers| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            };
            assert_eq!(bits(&for_all), bits(&by_pair), "{tangential:?} at {spacing}");
            torques.push(bits(&for_all)[1].clone());
        }
        torques.sort();
        torques.dedup();
        // `mindlin` keeps the force as `mindlin_force` does while the contact grows, and as `mindlin_displacement` while it shrinks. All others differ.
        assert_eq!(torques.len(), TangentialLaw::ALL.len() - 1, "{spacing}");
    }
}
