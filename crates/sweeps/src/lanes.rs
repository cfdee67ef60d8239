//! Contact sweep for processors with vector units.
//!
//! Pairs that may touch are gathered into lanes, and the laws run on all lanes at once. The results are scattered in the order of the list. Each pair
//! in one row is computed once. The bits are the same for any number of threads and any width of the vector unit.
//!
//! Laws may have fewer digits than the states. Then differences of positions and of velocities, and depths of contacts, are taken with all digits
//! before they are rounded, and forces are added with all digits. A vector unit has twice as many lanes for numbers of half the size.
//!
//! ```
//! use seixo_sweeps::lanes::contacts_of_part;
//! use seixo_sweeps::part::{GrainsView, Limits, PartOut, PartRows};
//! use seixo_sweeps::{periodic::{OPEN, PeriodicBoundaries}, shortlist::Shortlist};
//! // Two grains overlap, with a linear spring of 1000 N/m. They repel each other with equal forces.
//! let (position, velocity, spin) = (&[0.0, 0.0, 0.0, 1.0, 1.9, 0.0, 0.0, 1.0], &[1.0; 8], &[0.0; 8]);
//! let (sides, table): (_, &[f64; 20]) = (&PeriodicBoundaries::open(), &std::array::from_fn(|k| if k == 0 { 1e3 } else { 0.0 }));
//! let grains = GrainsView { position, velocity, spin, material: &[0, 0], materials: 1, table, is_uniform: true, sides };
//! let rows = PartRows { first: 0, end: 2, row: &[0, 1, 1], neighbors: &[1], is_once: true };
//! let (mut force, shortlist) = ([0.0; 8], Shortlist { entry: &[0], grain: &[0], inside: 1 });
//! let out = PartOut { history: &mut [0.0; 4], force: &mut force, torque: &mut [0.0; 8] };
//! contacts_of_part::<f64, f64, OPEN>(&grains, &rows, shortlist, Limits { dt: 1e-3, overlap: 0.5 }, out);
//! assert!(force[0] < 0.0 && force[4] == -force[0]);
//! ```

#![allow(
    unsafe_code,
    reason = "functions compiled for processor features are called where the features are present"
)]

use crate::contact::PowerSums;
use crate::layout::{RECORD, coefficients};
use crate::pair::{ContactForces, Pair, depth_of, frictional_pair_contact};
use crate::part::{GrainsView, Limits, PartOut, PartRows, apart, array};
use crate::periodic::{OPEN, SHEARED, STRETCHED, image_velocity};
use crate::shortlist::Shortlist;
use crate::simd::prefetch;
use seixo_laws::contact::{COEFFICIENTS, Coefficients, ContactHistory, NormalLaw, TangentialLaw};
use seixo_laws::{Coordinate, Real, Vector3, larger, smaller};

/// Pairs per batch of lanes.
const LANES: usize = 32;

/// Number of pairs by which the records of a pair are prefetched.
const AHEAD: usize = 16;

/// One number per lane.
type Lane<R> = [R; LANES];

/// One record per lane, in memory order. It is copied as a whole, and transposed together with the others.
type Records<R> = [[R; RECORD]; LANES];

/// Pairs in lanes: input and output. `C` is the precision of states, `R` that of the laws.
struct Lanes<C, R> {
    /// Vectors from j to i, as records.
    apart: Records<R>,
    /// Velocities of i relative to j.
    velocity: Records<R>,
    /// Angular velocities of i.
    spin_i: Records<R>,
    /// Angular velocities of j.
    spin_j: Records<R>,
    /// Contact histories before and after.
    contact_history: Records<R>,
    /// Forces on i, each with a contact count.
    force: Records<R>,
    /// Torques on i.
    orientation_i: Records<R>,
    /// Torques on j.
    orientation_j: Records<R>,
    /// Powers taken by normal damping, tangential forces and tangential damping, and power supplied by sliding sides.
    power: Records<R>,
    /// Depths of the contacts, see [`Pair::depth`]; only if the laws have fewer digits than the states.
    depth: Lane<R>,
    radius: [Lane<R>; 2],
    mass: [Lane<R>; 2],
    coefficients: [Lane<R>; 9],
    /// Velocity of the partner's image relative to the partner, for sliding sides.
    slide: [Lane<R>; 3],
    /// Numbers of sides of a stretched cell between the grains, and a zero.
    crossed: Records<R>,
    /// Transposed input records: those above, in their order.
    came: [[Lane<R>; RECORD]; 5],
    /// Transposed output records: force, torques, history, powers.
    going: [[Lane<R>; RECORD]; 5],
    /// Sums of the powers, in the order of the pairs, so that they do not depend on the other pairs in the shortlist.
    total: [C; RECORD],
    /// Sums of the forces across the sides of a stretched cell, in the same order, and a zero.
    across: [C; RECORD],
    /// Largest excess of an overlap over its limit, for all pairs that passed through each lane.
    excess: Lane<R>,
}

/// Pairs of a part that are computed together: those inside it, or those across its border.
struct Batch<'a> {
    rows: &'a PartRows<'a>,
    /// Partners of the part's entries.
    neighbors: &'a [u32],
    /// Entries, counted from the part's first.
    entries: &'a [u32],
    /// Their grains, counted from the part's first.
    grains: &'a [u16],
    /// Place of the first of them in the shortlist, in which the histories are.
    first: usize,
}

/// Only vector units that the compiler may assume.
const NARROW: u32 = 0;
/// AVX2.
const WIDE: u32 = 1;
/// AVX-512.
const WIDEST: u32 = 2;

impl<C: Coordinate<R>, R: Real> Lanes<C, R> {
    /// Lanes with harmless values.
    fn new() -> Self {
        let (zero, one) = (R::new(0.0), R::new(1.0));
        let ones = [[one; RECORD]; LANES];
        Lanes {
            apart: ones,
            velocity: ones,
            spin_i: ones,
            spin_j: ones,
            contact_history: ones,
            force: ones,
            orientation_i: ones,
            orientation_j: ones,
            power: ones,
            depth: [one; LANES],
            radius: [[one; LANES]; 2],
            mass: [[one; LANES]; 2],
            coefficients: [[one; LANES]; 9],
            slide: [[zero; LANES]; 3],
            crossed: [[zero; RECORD]; LANES],
            came: [[[one; LANES]; RECORD]; 5],
            going: [[[zero; LANES]; RECORD]; 5],
            total: [C::new(0.0); RECORD],
            across: [C::new(0.0); RECORD],
            excess: [R::new(-1.0); LANES],
        }
    }

    #[inline(always)]
    fn coefficients_of(&self, lane: usize) -> Coefficients<R> {
        let c = &self.coefficients;
        Coefficients {
            normal_stiffness: c[0][lane],
            normal_damping: c[1][lane],
            tangential_stiffness: c[2][lane],
            tangential_damping: c[3][lane],
            friction: c[4][lane],
            normal_law: c[5][lane],
            tangential_law: c[6][lane],
            normal_rate: c[7][lane],
            tangential_rate: c[8][lane],
        }
    }

    /// Reads the pairs from entry `at` of a batch on into the lanes. Unused lanes get two distant grains.
    #[inline(always)]
    fn fetch<const SIDES: u32>(&mut self, grains: &GrainsView<C>, batch: &Batch, at: usize, history: &[R]) {
        let ((x, _), (v, _)) = (grains.position.as_chunks::<RECORD>(), grains.velocity.as_chunks::<RECORD>());
        let ((w, _), (history, _)) = (grains.spin.as_chunks::<RECORD>(), history.as_chunks::<RECORD>());
        let last = batch.entries.len() - 1;
        for (lane, (&entry, &place)) in batch.entries[at..].iter().zip(&batch.grains[at..]).take(LANES).enumerate() {
            let later = batch.entries[(at + lane + AHEAD).min(last)] as usize;
            let partner = batch.neighbors[later] as usize;
            for numbers in [grains.position, grains.velocity, grains.spin] {
                prefetch(numbers, partner);
            }
            let (i, j) = (batch.rows.first + place as usize, batch.neighbors[entry as usize] as usize);
            let reach = x[i][3] + x[j][3];
            let (mut from_j, mut velocity) = (less(&x[i], &x[j]), less(&v[i], &v[j]));
            self.spin_i[lane] = near_record::<C, R>(&w[i]);
            self.spin_j[lane] = near_record::<C, R>(&w[j]);
            self.contact_history[lane] = history[batch.first + at + lane];
            self.radius[0][lane] = C::near(x[i][3]);
            self.radius[1][lane] = C::near(x[j][3]);
            self.mass[0][lane] = C::near(v[i][3]);
            self.mass[1][lane] = C::near(v[j][3]);
            if SIDES != OPEN {
                let image = apart::<C, SIDES>(&x[i], &x[j], grains.sides);
                let (apart, crossed) = (array(&image.apart), array(&image.crossed));
                let slide = array(&image_velocity::<C>(image.passed, &image.crossed, grains.sides, SIDES));
                for axis in 0..3 {
                    from_j[axis] = apart[axis];
                    if SIDES == SHEARED {
                        self.slide[axis][lane] = C::near(slide[axis]);
                        velocity[axis] -= slide[axis];
                    }
                    if SIDES == STRETCHED {
                        self.crossed[lane][axis] = C::near(crossed[axis]);
                        velocity[axis] -= slide[axis];
                    }
                }
            }
            if narrows::<C, R>() {
                // A small overlap is the difference of two large squares.
                let [x, y, z, _] = from_j;
                self.depth[lane] = C::near(depth_of::<C>(&Vector3 { x, y, z }, reach));
            }
            self.apart[lane] = near_record::<C, R>(&from_j);
            self.velocity[lane] = near_record::<C, R>(&velocity);
            if !grains.is_uniform {
                let row = (grains.material[i] * grains.materials + grains.material[j]) as usize * COEFFICIENTS;
                let numbers = &grains.table[row..row + COEFFICIENTS];
                for (slot, number) in self.coefficients.iter_mut().zip(numbers) {
                    slot[lane] = C::near(*number);
                }
            }
        }
        for lane in batch.entries.len() - at..LANES {
            self.apart[lane] = [R::new(4.0); RECORD];
            self.depth[lane] = R::new(-1.0);
            self.radius[0][lane] = R::new(1.0);
            self.radius[1][lane] = R::new(1.0);
        }
    }

    /// Runs the laws on all lanes. The loop needs a function of its own; otherwise the compiler does not vectorize it.
    #[inline(always)]
    fn resolve<const SIDES: u32, const UNIT: u32>(&mut self, limits: Limits<R>, uniform: Option<&Coefficients<R>>) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
            #[inline(never)]
            fn widest<C: Coordinate<R>, R: Real, const SIDES: u32>(
                lanes: &mut Lanes<C, R>,
                limits: Limits<R>,
                uniform: Option<&Coefficients<R>>,
            ) {
                lanes.resolve_lanes::<SIDES>(limits, uniform);
            }
            #[target_feature(enable = "avx2")]
            #[inline(never)]
            fn wide<C: Coordinate<R>, R: Real, const SIDES: u32>(
                lanes: &mut Lanes<C, R>,
                limits: Limits<R>,
                uniform: Option<&Coefficients<R>>,
            ) {
                lanes.resolve_lanes::<SIDES>(limits, uniform);
            }
            match UNIT {
                // SAFETY: [`contacts_of_part`] selects this unit only if the processor has these features.
                WIDEST => return unsafe { widest::<C, R, SIDES>(self, limits, uniform) },
                // SAFETY: [`contacts_of_part`] selects this unit only if the processor has this feature.
                WIDE => return unsafe { wide::<C, R, SIDES>(self, limits, uniform) },
                _ => {}
            }
        }
        self.resolve_lanes::<SIDES>(limits, uniform);
    }

    #[inline(always)]
    fn resolve_lanes<const SIDES: u32>(&mut self, limits: Limits<R>, uniform: Option<&Coefficients<R>>) {
        let records = [&self.apart, &self.velocity, &self.spin_i, &self.spin_j, &self.contact_history];
        for (records, lanes) in records.into_iter().zip(&mut self.came) {
            for lane in 0..LANES {
                for number in 0..RECORD {
                    lanes[number][lane] = records[lane][number];
                }
            }
        }
        match uniform {
            Some(coefficients) if are_usual(coefficients) => {
                // As constants they leave out what only other laws need: a division, and one of two equal roots. No bit changes.
                let usual = Coefficients {
                    normal_law: R::new(NormalLaw::HERTZ),
                    tangential_law: R::new(TangentialLaw::MINDLIN),
                    normal_rate: R::new(0.0),
                    tangential_rate: R::new(0.0),
                    ..*coefficients
                };
                for lane in 0..LANES {
                    self.resolve_lane::<SIDES>(lane, limits, &usual);
                }
            }
            Some(coefficients) => {
                for lane in 0..LANES {
                    self.resolve_lane::<SIDES>(lane, limits, coefficients);
                }
            }
            None => {
                for lane in 0..LANES {
                    self.resolve_lane::<SIDES>(lane, limits, &self.coefficients_of(lane));
                }
            }
        }
        let records = [
            &mut self.force,
            &mut self.orientation_i,
            &mut self.orientation_j,
            &mut self.contact_history,
            &mut self.power,
        ];
        for (records, lanes) in records.into_iter().zip(&self.going) {
            for lane in 0..LANES {
                records[lane] = [lanes[0][lane], lanes[1][lane], lanes[2][lane], lanes[3][lane]];
            }
        }
    }

    #[inline(always)]
    fn resolve_lane<const SIDES: u32>(&mut self, lane: usize, limits: Limits<R>, coefficients: &Coefficients<R>) {
        let vector = |number: usize| Vector3 {
            x: self.came[number][0][lane],
            y: self.came[number][1][lane],
            z: self.came[number][2][lane],
        };
        let (apart, spin_i, spin_j) = (vector(0), vector(2), vector(3));
        let depth = if narrows::<C, R>() {
            self.depth[lane]
        } else {
            depth_of::<R>(&apart, self.radius[0][lane] + self.radius[1][lane])
        };
        let pair = Pair {
            apart,
            depth,
            velocity: vector(1),
            radius_i: self.radius[0][lane],
            radius_j: self.radius[1][lane],
            mass_i: self.mass[0][lane],
            mass_j: self.mass[1][lane],
        };
        let contact_history = ContactHistory {
            force: vector(4),
            contact_radius: self.came[4][3][lane],
        };
        let outcome: ContactForces<R> = frictional_pair_contact::<R>(&pair, &spin_i, &spin_j, &contact_history, coefficients, limits.dt);
        let (orientation_i, orientation_j) = (outcome.bend.times(outcome.arm_i), outcome.bend.times(outcome.arm_j));
        let (zero, one) = (R::new(0.0), R::new(1.0));
        // For grains without contact the laws may give NaN.
        let is_touching = pair.depth > zero;
        let or_nothing = |number: R| if is_touching { number } else { zero };
        let mut slide_power = zero;
        if SIDES == SHEARED {
            let slide = Vector3 {
                x: self.slide[0][lane],
                y: self.slide[1][lane],
                z: self.slide[2][lane],
            };
            slide_power = outcome.force.dot(&slide);
        }
        let powers = Vector3 {
            x: outcome.normal_power,
            y: outcome.tangential_power,
            z: outcome.damping_power,
        };
        let spring = &outcome.history;
        let results = [
            (&outcome.force, one),
            (&orientation_i, zero),
            (&orientation_j, zero),
            (&spring.force, spring.contact_radius),
            (&powers, slide_power),
        ];
        for (slots, (vector, last)) in self.going.iter_mut().zip(results) {
            slots[0][lane] = or_nothing(vector.x);
            slots[1][lane] = or_nothing(vector.y);
            slots[2][lane] = or_nothing(vector.z);
            slots[3][lane] = or_nothing(last);
        }
        let excess = outcome.overlap - limits.overlap * smaller::<R>(pair.radius_i, pair.radius_j);
        if is_touching {
            self.excess[lane] = larger::<R>(excess, self.excess[lane]);
        }
    }

    /// Adds the results to the grains, in order: to both grains for pairs `INSIDE` the part, otherwise to the first.
    #[inline(always)]
    fn scatter<const INSIDE: bool, const SIDES: u32>(&mut self, batch: &Batch, at: usize, out: &mut PartOut<C, R>) {
        let (history, _) = out.history.as_chunks_mut::<RECORD>();
        let ((force, _), (torque, _)) = (out.force.as_chunks_mut::<RECORD>(), out.torque.as_chunks_mut::<RECORD>());
        for (lane, (&entry, &place)) in batch.entries[at..].iter().zip(&batch.grains[at..]).take(LANES).enumerate() {
            let (entry, i) = (entry as usize, place as usize);
            let push = wide_record::<C, R>(&self.force[lane]);
            history[batch.first + at + lane] = self.contact_history[lane];
            self.total = more(&self.total, &wide_record::<C, R>(&self.power[lane]));
            if SIDES == STRETCHED {
                let crossed = wide_record::<C, R>(&self.crossed[lane]);
                self.across = more(&self.across, &products(&push, &crossed));
            }
            force[i] = more(&force[i], &push);
            torque[i] = more(&torque[i], &wide_record::<C, R>(&self.orientation_i[lane]));
            if INSIDE {
                let j = batch.neighbors[entry] as usize - batch.rows.first;
                force[j] = more(&force[j], &[-push[0], -push[1], -push[2], push[3]]);
                torque[j] = more(&torque[j], &wide_record::<C, R>(&self.orientation_j[lane]));
            }
        }
    }

    /// Power sums of the pairs since the last call. For a pair in two rows, as across parts, each row adds half to the ledger.
    fn take_power_sums(&mut self, share: C) -> PowerSums<C> {
        let total = std::mem::replace(&mut self.total, [C::new(0.0); RECORD]);
        let [normal_power, tangential_power, damping_power, wall_power] = total.map(|power| share * power);
        let across = std::mem::replace(&mut self.across, [C::new(0.0); RECORD]);
        let [x, y, z, _] = across.map(|force| share * force);
        PowerSums {
            normal_power,
            tangential_power,
            damping_power,
            wall_power,
            excess: C::wide(self.excess.iter().fold(R::new(-1.0), |most, &excess| larger::<R>(excess, most))),
            across: Vector3 { x, y, z },
        }
    }
}

/// Frictional contacts of all grains of a part with the partners in their rows, with the widest vector units of this processor. A pair inside the
/// part is computed once if it is in one row. Wider units change no bit: every lane rounds as a scalar does, and no multiplication is fused with an
/// addition.
///
/// Only the pairs of the shortlist are evaluated. The history records of `out` are those of its pairs, in their order. `C` is the precision of states
/// and sums, `R` that of the laws and histories.
pub fn contacts_of_part<C: Coordinate<R>, R: Real, const SIDES: u32>(
    grains: &GrainsView<C>,
    rows: &PartRows,
    shortlist: Shortlist,
    limits: Limits<R>,
    out: PartOut<C, R>,
) -> PowerSums<C> {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
        fn widest<C: Coordinate<R>, R: Real, const SIDES: u32>(
            grains: &GrainsView<C>,
            rows: &PartRows,
            shortlist: Shortlist,
            limits: Limits<R>,
            out: PartOut<C, R>,
        ) -> PowerSums<C> {
            contacts_with::<C, R, SIDES, WIDEST>(grains, rows, shortlist, limits, out)
        }
        #[target_feature(enable = "avx2")]
        fn wide<C: Coordinate<R>, R: Real, const SIDES: u32>(
            grains: &GrainsView<C>,
            rows: &PartRows,
            shortlist: Shortlist,
            limits: Limits<R>,
            out: PartOut<C, R>,
        ) -> PowerSums<C> {
            contacts_with::<C, R, SIDES, WIDE>(grains, rows, shortlist, limits, out)
        }
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { widest::<C, R, SIDES>(grains, rows, shortlist, limits, out) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature that the function is compiled for.
            return unsafe { wide::<C, R, SIDES>(grains, rows, shortlist, limits, out) };
        }
    }
    contacts_with::<C, R, SIDES, NARROW>(grains, rows, shortlist, limits, out)
}

#[inline(always)]
fn contacts_with<C: Coordinate<R>, R: Real, const SIDES: u32, const UNIT: u32>(
    grains: &GrainsView<C>,
    rows: &PartRows,
    shortlist: Shortlist,
    limits: Limits<R>,
    mut out: PartOut<C, R>,
) -> PowerSums<C> {
    let first_row = grains.material.first().map_or(0, |&m| (m * grains.materials + m) as usize) * COEFFICIENTS;
    let of_first: [R; COEFFICIENTS] = std::array::from_fn(|k| C::near(grains.table[first_row + k]));
    let one_for_all = coefficients::<R>(&of_first, 0);
    let uniform = grains.is_uniform.then_some(&one_for_all);
    let batch = |(entries, places), first| Batch {
        rows,
        neighbors: &rows.neighbors[rows.row[rows.first] as usize..],
        entries,
        grains: places,
        first,
    };
    let (inside, across) = (batch(shortlist.inside(), 0), batch(shortlist.across(), shortlist.inside));
    let mut lanes = Lanes::<C, R>::new();
    for at in (0..inside.entries.len()).step_by(LANES) {
        lanes.fetch::<SIDES>(grains, &inside, at, out.history);
        lanes.resolve::<SIDES, UNIT>(limits, uniform);
        lanes.scatter::<true, SIDES>(&inside, at, &mut out);
    }
    let of_inside = lanes.take_power_sums(C::new(1.0));
    for at in (0..across.entries.len()).step_by(LANES) {
        lanes.fetch::<SIDES>(grains, &across, at, out.history);
        lanes.resolve::<SIDES, UNIT>(limits, uniform);
        lanes.scatter::<false, SIDES>(&across, at, &mut out);
    }
    let of_across = lanes.take_power_sums(C::new(0.5));
    PowerSums {
        normal_power: of_inside.normal_power + of_across.normal_power,
        tangential_power: of_inside.tangential_power + of_across.tangential_power,
        damping_power: of_inside.damping_power + of_across.damping_power,
        wall_power: of_inside.wall_power + of_across.wall_power,
        excess: of_across.excess,
        across: of_inside.across.plus(&of_across.across),
    }
}

/// Whether the laws have fewer digits than the states.
#[inline(always)]
fn narrows<C, R>() -> bool {
    size_of::<R>() < size_of::<C>()
}

/// Whether these are the coefficients of Hertz's and Mindlin's laws without damping per mass.
#[inline(always)]
fn are_usual<R: Real>(coefficients: &Coefficients<R>) -> bool {
    let zero = R::new(0.0);
    coefficients.normal_law == R::new(NormalLaw::HERTZ)
        && coefficients.tangential_law == R::new(TangentialLaw::MINDLIN)
        && coefficients.normal_rate == zero
        && coefficients.tangential_rate == zero
}

/// A record in the precision of the laws.
#[inline(always)]
fn near_record<C: Coordinate<R>, R: Real>(record: &[C; RECORD]) -> [R; RECORD] {
    [C::near(record[0]), C::near(record[1]), C::near(record[2]), C::near(record[3])]
}

/// A record of the laws in the precision of states.
#[inline(always)]
fn wide_record<C: Coordinate<R>, R: Real>(record: &[R; RECORD]) -> [C; RECORD] {
    [C::wide(record[0]), C::wide(record[1]), C::wide(record[2]), C::wide(record[3])]
}

/// Sum of two records.
#[inline(always)]
fn more<R: Real>(a: &[R; RECORD], b: &[R; RECORD]) -> [R; RECORD] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
}

/// Products of the numbers of two records.
#[inline(always)]
fn products<R: Real>(a: &[R; RECORD], b: &[R; RECORD]) -> [R; RECORD] {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]]
}

/// Difference of two records.
#[inline(always)]
fn less<R: Real>(a: &[R; RECORD], b: &[R; RECORD]) -> [R; RECORD] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
}
