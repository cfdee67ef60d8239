//! The contact sweep of a CPU where only some pairs of the shortlist touch.

use seixo_laws::contact::{ContactHistory, NormalLaw, PairOfLaws, PairOfMaterials, TangentialLaw, derive};
use seixo_laws::{Coordinate, Real, Vector3};
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::lanes::contacts_of_part;
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::pair::{Pair, depth_of, frictional_pair_contact};
use seixo_sweeps::part::{GrainsView, Limits, PartOut};
use seixo_sweeps::periodic::{OPEN, PERIODIC, PeriodicBoundaries};
use seixo_sweeps::shortlist::Shortlist;

/// Grains before those of the part.
const FIRST: usize = 3;

/// Grains of the part, a chain. Of its 96 pairs 64 hold: two batches of 32 lanes are full, and no pair after them touches. Each grain also has a partner
/// of its own across the border. Of these 97 pairs 65 hold, one more than two batches.
const OWN: usize = 97;

/// All grains.
const GRAINS: usize = FIRST + 2 * OWN;

/// Lengths of the domain along its periodic axes \[m\].
const LENGTHS: [f64; 2] = [0.25, 0.05];

/// Time step \[s\].
const DT: f64 = 1e-5;

/// Limit of the overlap, as a share of the smaller radius \[-\].
const OVERLAP: f64 = 0.5;

/// Distances of pairs that hold and of those that let go, over the sums of their radii, in each step.
const STEPS: [[f64; 2]; 3] = [[0.999, 0.999], [0.9985, 1.001], [0.999, 0.999]];

/// Forces, torques, and powers with the largest excess of an overlap.
type Outcome = [Vec<f64>; 3];

/// A pair of the list.
#[derive(Clone, Copy)]
struct Listed {
    /// Its grain, counted from the part's first.
    grain: u16,
    partner: u32,
    is_across: bool,
    /// Whether it is apart in the second step.
    separates: bool,
}

impl Listed {
    /// Both grains.
    fn grains(&self) -> [usize; 2] {
        [FIRST + self.grain as usize, self.partner as usize]
    }
}

/// All pairs: first those inside the part.
fn listed() -> Vec<Listed> {
    let pair = |grain: usize, is_across: bool| Listed {
        grain: grain as u16,
        partner: (FIRST + if is_across { OWN + grain } else { grain + 1 }) as u32,
        is_across,
        separates: grain % 3 == if is_across { 1 } else { 2 },
    };
    let inside = (0..OWN - 1).map(|grain| pair(grain, false));
    inside.chain((0..OWN).map(|grain| pair(grain, true))).collect()
}

/// A number of a grain between −½ and ½.
fn own(grain: usize, number: usize) -> f64 {
    ((7 * grain + 3 * number) % 11) as f64 / 11.0 - 0.5
}

fn radius(grain: usize) -> f64 {
    1e-3 * (1.0 + 0.2 * own(grain, 9))
}

/// Soft and rough, or stiff and nearly smooth.
fn material(grain: usize) -> u32 {
    u32::from(grain % 4 > 1)
}

/// Laws of two materials.
fn laws(first: u32, second: u32) -> PairOfLaws {
    let [modulus, friction] = [[1e7, 0.5], [2e7, 0.2], [4e7, 0.002]][(first + second) as usize];
    let materials = PairOfMaterials {
        effective_modulus: modulus,
        effective_shear_modulus: 0.4 * modulus,
        restitution: 0.5,
        friction,
        ..PairOfMaterials::default()
    };
    derive(NormalLaw::Hertz, TangentialLaw::Mindlin, &materials)
}

/// Centers and radii in a step. With periodic sides, the chain and all pairs across the border of the part pass through a side.
fn positions(pairs: &[Listed], [holding, letting_go]: [f64; 2], is_periodic: bool) -> Vec<f64> {
    let mut centers = vec![[0.0; 3]; GRAINS];
    centers[FIRST] = [0.1, 5e-4, 0.0];
    for (n, pair) in pairs.iter().enumerate() {
        let [i, j] = pair.grains();
        let aside = if n % 2 == 0 { 0.28 } else { -0.28 };
        let direction = if pair.is_across { [aside, -0.96, 0.0] } else { [0.96, 0.0, aside] };
        let distance = (radius(i) + radius(j)) * if pair.separates { letting_go } else { holding };
        let from = centers[i];
        centers[j] = std::array::from_fn(|axis| from[axis] + distance * direction[axis]);
    }
    if is_periodic {
        for center in &mut centers {
            for (x, length) in center.iter_mut().zip(LENGTHS) {
                *x = x.rem_euclid(length);
            }
        }
    }
    let records = centers.iter().enumerate().map(|(grain, &[x, y, z])| [x, y, z, radius(grain)]);
    records.collect::<Vec<_>>().concat()
}

/// The vector of a record.
fn vector(records: &[f64], grain: usize) -> Vector3<f64> {
    let [x, y, z] = std::array::from_fn(|axis| records[RECORD * grain + axis]);
    Vector3 { x, y, z }
}

/// A step with these pairs in the shortlist.
fn sweep<R: Real, const SIDES: u32>(grains: &GrainsView<f64>, pairs: &[Listed], limits: Limits<R>, history: &mut [R]) -> Outcome
where
    f64: Coordinate<R>,
{
    let partner: Vec<u32> = pairs.iter().map(|pair| pair.partner).collect();
    let grain: Vec<u16> = pairs.iter().map(|pair| pair.grain).collect();
    let shortlist = Shortlist {
        first: FIRST,
        grain: &grain,
        partner: &partner,
        inside: pairs.iter().filter(|pair| !pair.is_across).count(),
    };
    let [mut force, mut torque] = [(); 2].map(|()| vec![0.0; OWN * RECORD]);
    let out = PartOut {
        history,
        force: &mut force,
        torque: &mut torque,
    };
    let PowerSums {
        normal_power,
        tangential_power,
        damping_power,
        wall_power,
        excess,
        ..
    } = contacts_of_part::<f64, R, SIDES>(grains, shortlist, limits, out);
    let powers = vec![normal_power, tangential_power, damping_power, wall_power, excess];
    [force, torque, powers]
}

/// The same step, one pair at a time, and only those that touch.
fn one_by_one(grains: &GrainsView<f64>, pairs: &[Listed], history: &mut [ContactHistory<f64>], is_periodic: bool) -> Outcome {
    let [mut force, mut torque] = [(); 2].map(|()| vec![0.0; OWN * RECORD]);
    let mut powers = vec![0.0, 0.0, 0.0, 0.0, -1.0];
    let add = |to: &mut [f64], grain: usize, numbers: [f64; RECORD]| {
        for (sum, number) in to[RECORD * grain..].iter_mut().zip(numbers) {
            *sum += number;
        }
    };
    for (pair, history) in pairs.iter().zip(history) {
        let [i, j] = pair.grains();
        let mut apart = vector(grains.position, i).minus(&vector(grains.position, j));
        if is_periodic {
            apart.x -= LENGTHS[0] * (apart.x / LENGTHS[0]).round();
            apart.y -= LENGTHS[1] * (apart.y / LENGTHS[1]).round();
        }
        let [radius_i, radius_j] = [radius(i), radius(j)];
        if apart.length() >= radius_i + radius_j {
            *history = no_history();
            continue;
        }
        let contact = frictional_pair_contact::<f64>(
            &Pair {
                apart,
                depth: depth_of::<f64>(&apart, radius_i + radius_j),
                velocity: vector(grains.velocity, i).minus(&vector(grains.velocity, j)),
                radius_i,
                radius_j,
                mass_i: grains.velocity[RECORD * i + 3],
                mass_j: grains.velocity[RECORD * j + 3],
            },
            &vector(grains.spin, i),
            &vector(grains.spin, j),
            history,
            &laws(material(i), material(j)).coefficients,
            DT,
        );
        *history = contact.history;
        let [push, bend_i, bend_j] = [contact.force, contact.bend.times(contact.arm_i), contact.bend.times(contact.arm_j)];
        add(&mut force, i - FIRST, [push.x, push.y, push.z, 1.0]);
        add(&mut torque, i - FIRST, [bend_i.x, bend_i.y, bend_i.z, 0.0]);
        if !pair.is_across {
            add(&mut force, j - FIRST, [-push.x, -push.y, -push.z, 1.0]);
            add(&mut torque, j - FIRST, [bend_j.x, bend_j.y, bend_j.z, 0.0]);
        }
        // The other half is that of the part beyond the border.
        let share = if pair.is_across { 0.5 } else { 1.0 };
        powers[0] += share * contact.normal_power;
        powers[1] += share * contact.tangential_power;
        powers[2] += share * contact.damping_power;
        powers[4] = (contact.overlap - OVERLAP * radius_i.min(radius_j)).max(powers[4]);
    }
    [force, torque, powers]
}

fn no_history() -> ContactHistory<f64> {
    ContactHistory {
        force: Vector3::zero(),
        contact_radius: 0.0,
    }
}

/// Asserts that forces and torques differ by this share of the largest at most, and powers by ten times as much of each.
#[track_caller]
fn assert_near(found: &Outcome, expected: &Outcome, rounding: f64) {
    for (found, expected) in found.iter().zip(expected).take(2) {
        let components = |numbers: &[f64]| -> Vec<f64> { numbers.chunks_exact(RECORD).flat_map(|record| record[..3].to_vec()).collect() };
        let numbers_of_contacts = |numbers: &[f64]| -> Vec<f64> { numbers.chunks_exact(RECORD).map(|record| record[3]).collect() };
        assert_eq!(numbers_of_contacts(found), numbers_of_contacts(expected));
        let (found, expected) = (components(found), components(expected));
        let largest = expected.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
        let off = found.iter().zip(&expected).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        assert!(largest > 0.0 && off <= rounding * largest, "{off:e} of {largest:e}");
    }
    for (found, expected) in found[2].iter().zip(&expected[2]) {
        assert!(
            (found - expected).abs() <= 10.0 * rounding * expected.abs(),
            "{found:e} {expected:e}"
        );
    }
}

fn bits<R: Real>(numbers: &[R]) -> Vec<u64>
where
    f64: Coordinate<R>,
{
    numbers
        .iter()
        .map(|&number| <f64 as Coordinate<R>>::wide(number).to_bits())
        .collect()
}

fn bits_of(outcome: &Outcome) -> [Vec<u64>; 3] {
    outcome.each_ref().map(|numbers| bits::<f64>(numbers))
}

/// Three steps, in the second of which every third pair is apart.
fn assert_only_pairs_that_touch_count<R: Real, const SIDES: u32>(limits: Limits<R>, rounding: f64)
where
    f64: Coordinate<R>,
{
    let pairs = listed();
    let table = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[i, j]| laws(i, j).row()).concat();
    let material: Vec<u32> = (0..GRAINS).map(material).collect();
    let records = |of: fn(usize) -> [f64; RECORD]| (0..GRAINS).map(of).collect::<Vec<_>>().concat();
    let velocity = records(|k| [1e-2 * own(k, 0), 1e-2 * own(k, 1), 1e-2 * own(k, 2), 1e-5 * (1.0 + own(k, 6))]);
    let spin = records(|k| [own(k, 3), own(k, 4), own(k, 5), 0.0]);
    let mut sides = PeriodicBoundaries::<f64, f64>::open();
    if SIDES == PERIODIC {
        [sides.low.x, sides.low.y] = [0.0; 2];
        [sides.length.x, sides.length.y] = LENGTHS;
    }
    let blank = vec![R::new(0.0); pairs.len() * RECORD];
    let mut history = blank.clone();
    let mut history_one_by_one = vec![no_history(); pairs.len()];
    for (step, distances) in STEPS.into_iter().enumerate() {
        let position = positions(&pairs, distances, SIDES == PERIODIC);
        let grains = GrainsView {
            position: &position,
            velocity: &velocity,
            spin: &spin,
            material: &material,
            materials: 2,
            table: &table,
            is_uniform: false,
            sides: &sides,
        };
        let is_cut = pairs.iter().filter(|pair| !pair.is_across).any(|pair| {
            let [i, j] = pair.grains().map(|grain| vector(&position, grain).x);
            (i - j).abs() > 0.5 * LENGTHS[0]
        });
        assert_eq!(is_cut, SIDES == PERIODIC, "a pair passes through a side");

        let touching: Vec<usize> = (0..pairs.len()).filter(|&n| step != 1 || !pairs[n].separates).collect();
        assert!(touching.len() > 128 && (step != 1 || touching.len() < pairs.len()));
        let only: Vec<Listed> = touching.iter().map(|&n| pairs[n]).collect();
        let mut history_of_touching: Vec<R> = touching.iter().flat_map(|&n| history[RECORD * n..][..RECORD].to_vec()).collect();
        let of_touching = sweep::<R, SIDES>(&grains, &only, limits, &mut history_of_touching);
        let mut expected = blank.clone();
        for (record, &n) in history_of_touching.chunks_exact(RECORD).zip(&touching) {
            expected[RECORD * n..][..RECORD].copy_from_slice(record);
        }
        let of_all = sweep::<R, SIDES>(&grains, &pairs, limits, &mut history);
        assert!(bits_of(&of_all) == bits_of(&of_touching), "step {step}");
        assert!(bits(&history) == bits(&expected), "step {step}");
        let of_each = one_by_one(&grains, &pairs, &mut history_one_by_one, SIDES == PERIODIC);
        assert_near(&of_all, &of_each, rounding);

        if step == 2 {
            let mut new = blank.clone();
            sweep::<R, SIDES>(&grains, &pairs, limits, &mut new);
            let records = history.chunks_exact(RECORD).zip(new.chunks_exact(RECORD));
            let had_spring = records.map(|(record, new)| bits(record) != bits(new));
            let (went, stayed): (Vec<_>, Vec<_>) = pairs.iter().zip(had_spring).partition(|(pair, _)| pair.separates);
            assert!(
                went.iter().all(|&(_, had_spring)| !had_spring),
                "pairs that touch again begin with a spring"
            );
            // Of the others, those that slide need not depend on theirs.
            assert!(stayed.iter().filter(|&&(_, had_spring)| had_spring).count() > 30);
        }
    }
}

#[test]
fn pairs_that_are_apart_for_a_step_change_no_bit_and_touch_again_without_a_spring() {
    let limits = Limits { dt: DT, overlap: OVERLAP };
    // Sums of up to 200 numbers in the same order.
    assert_only_pairs_that_touch_count::<f64, OPEN>(limits, 1e-12);
    assert_only_pairs_that_touch_count::<f64, PERIODIC>(limits, 1e-12);
}

#[test]
fn pairs_that_are_apart_for_a_step_change_no_bit_with_laws_in_single_precision() {
    let limits = Limits {
        dt: DT as f32,
        overlap: OVERLAP as f32,
    };
    // An operation rounds to 6·10⁻⁸.
    assert_only_pairs_that_touch_count::<f32, OPEN>(limits, 1e-5);
    assert_only_pairs_that_touch_count::<f32, PERIODIC>(limits, 1e-5);
}
