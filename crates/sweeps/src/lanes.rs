//! Contact sweep for processors with vector units.
//!
//! Pairs that touch are gathered into lanes, and the laws run on all lanes at once. The results are scattered in the order of the list. Each pair in one
//! row is computed once. The bits are the same for any number of threads and any width of the vector unit.
//!
//! Laws may have fewer digits than the states. Then differences of positions and of velocities, and depths of contacts, are taken with all digits
//! before they are rounded, and forces are added with all digits. A vector unit has twice as many lanes for numbers of half the size.
//!
//! ```
//! use seixo_sweeps::lanes::contacts_of_part;
//! use seixo_sweeps::part::{GrainsView, Limits, PartOut};
//! use seixo_sweeps::{periodic::{OPEN, PeriodicBoundaries}, shortlist::Shortlist};
//! // Two grains overlap, with a linear spring of 1000 N/m. They repel each other with equal forces.
//! let (position, velocity, spin) = (&[0.0, 0.0, 0.0, 1.0, 1.9, 0.0, 0.0, 1.0], &[1.0; 8], &[0.0; 8]);
//! let (sides, table): (_, &[f64; 20]) = (&PeriodicBoundaries::open(), &std::array::from_fn(|k| if k == 0 { 1e3 } else { 0.0 }));
//! let grains = GrainsView { position, velocity, spin, material: &[0, 0], materials: 1, table, is_uniform: true, sides };
//! let (mut force, shortlist) = ([0.0; 8], Shortlist { first: 0, grain: &[0], partner: &[1], inside: 1 });
//! let out = PartOut { history: &mut [0.0; 4], force: &mut force, torque: &mut [0.0; 8] };
//! contacts_of_part::<f64, f64, OPEN>(&grains, shortlist, Limits { dt: 1e-3, overlap: 0.5 }, out);
//! assert!(force[0] < 0.0 && force[4] == -force[0]);
//! ```

#![allow(
    unsafe_code,
    reason = "functions compiled for processor features are called where the features are present"
)]

use crate::contact::PowerSums;
use crate::layout::{RECORD, coefficients};
use crate::pair::{ContactForces, ContactGeometry, Pair, contact_geometry, depth_of, forces_of_pair, load_of_pair};
use crate::part::{GrainsView, Limits, PartOut, apart, array};
use crate::periodic::{OPEN, SHEARED, STRETCHED, image_velocity};
use crate::shortlist::Shortlist;
use crate::simd::prefetch;
#[cfg(target_arch = "x86_64")]
use crate::simd::widest;
use seixo_laws::contact::{
    COEFFICIENTS, Coefficients, ContactHistory, ContactPair, NormalLaw, NormalResponse, TangentialLaw, TangentialLoad,
};
use seixo_laws::{Coordinate, Real, Vector3, larger, smaller};
#[cfg(target_arch = "x86_64")]
use std::any::Any;

/// Pairs per batch of lanes.
const LANES: usize = 32;

/// Number of pairs by which the records of a pair are prefetched.
const AHEAD: usize = 16;

/// One number per lane.
type Lane<R> = [R; LANES];

/// One record per lane, in memory order. It is copied as a whole, and transposed together with the others.
type Records<R> = [[R; RECORD]; LANES];

/// Records of a pair: the vector from j to i, the velocity of i relative to j, the angular velocities of both, and the contact history.
const APART: usize = 0;
const VELOCITY: usize = 1;
const SPIN_I: usize = 2;
const HISTORY: usize = 3;
const SPIN_J: usize = 4;

/// Records after the laws have run, beside the contact history for the next step: force on i with a one, torque on i, torque on j, and powers: taken by
/// normal damping, tangential forces and tangential damping, and supplied by sliding sides.
const FORCE: usize = APART;
const TORQUE_I: usize = VELOCITY;
const TORQUE_J: usize = SPIN_I;
const POWER: usize = SPIN_J;

/// Pairs in lanes: input and output. `C` is the precision of states, `R` that of the laws. No vector crosses the end of a cache line: all arrays before
/// the sums have whole lines.
#[repr(C, align(64))]
struct Lanes<C, R> {
    /// Records of the pairs, from [`APART`] on: what they come with, and then what acts.
    records: [Records<R>; 5],
    /// The same numbers, transposed.
    numbers: [[Lane<R>; RECORD]; 5],
    /// Depths of the contacts, see [`Pair::depth`].
    depth: Lane<R>,
    /// Radii of i.
    radius_i: Lane<R>,
    /// Radii of j.
    radius_j: Lane<R>,
    /// Masses of i.
    mass_i: Lane<R>,
    /// Masses of j.
    mass_j: Lane<R>,
    coefficients: [Lane<R>; 9],
    /// Geometry of the contacts: overlaps, contact radii, effective masses, and normals.
    geometry: [Lane<R>; 6],
    /// What acts on the tangential springs: normal forces and powers of their dashpots, tangential velocities, stored forces, stiffnesses, dashpots.
    load: [Lane<R>; 10],
    /// Velocity of the partner's image relative to the partner, for sliding sides.
    slide: [Lane<R>; 3],
    /// Numbers of sides of a stretched cell between the grains, and a zero.
    crossed: Records<R>,
    /// Largest excess of an overlap over its limit, for all pairs that passed through each lane.
    excess: Lane<R>,
    /// Sums of the powers, in the order of the pairs, so that they do not depend on the other pairs in the shortlist.
    total: [C; RECORD],
    /// Sums of the forces across the sides of a stretched cell, in the same order, and a zero.
    across: [C; RECORD],
    /// Places of the pairs in their batch.
    place: [u32; LANES],
    /// Number of lanes with a pair. The rest have two distant grains, and other numbers of former pairs; their results are not read.
    count: usize,
    /// Place of the first pair of the batch that was not looked at yet.
    next: usize,
}

/// Pairs of a part that are computed together: those inside it, or those across its border.
struct Batch<'a> {
    /// First grain of the part.
    first: usize,
    /// Their grains, counted from the part's first.
    grains: &'a [u16],
    /// Their partners.
    partners: &'a [u32],
}

/// Only vector units that the compiler may assume.
const NARROW: u32 = 0;
/// AVX2.
const WIDE: u32 = 1;
/// AVX-512.
const WIDEST: u32 = 2;

/// Defines a method that runs another one in a function of its own, compiled for a vector unit. In one function of all loops, the compiler runs out of
/// registers and does not vectorize.
macro_rules! on_unit {
    ($name:ident, $of:ident<$($constant:ident: $kind:ty),*>($($argument:ident: $type:ty),*)) => {
        #[inline(always)]
        fn $name<$(const $constant: $kind,)* const UNIT: u32>(&mut self, $($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
                #[inline(never)]
                fn widest<C: Coordinate<R>, R: Real, $(const $constant: $kind),*>(lanes: &mut Lanes<C, R>, $($argument: $type),*) {
                    lanes.$of::<$($constant,)* WIDEST>($($argument),*);
                }
                #[target_feature(enable = "avx2")]
                #[inline(never)]
                fn wide<C: Coordinate<R>, R: Real, $(const $constant: $kind),*>(lanes: &mut Lanes<C, R>, $($argument: $type),*) {
                    lanes.$of::<$($constant,)* WIDE>($($argument),*);
                }
                match UNIT {
                    // SAFETY: [`contacts_of_part`] selects this unit only if the processor has these features.
                    WIDEST => return unsafe { widest::<C, R, $($constant),*>(self, $($argument),*) },
                    // SAFETY: [`contacts_of_part`] selects this unit only if the processor has this feature.
                    WIDE => return unsafe { wide::<C, R, $($constant),*>(self, $($argument),*) },
                    _ => {}
                }
            }
            self.$of::<$($constant,)* NARROW>($($argument),*);
        }
    };
}

impl<C: Coordinate<R>, R: Real> Lanes<C, R> {
    on_unit!(fetch, fetch_pairs<SIDES: u32>(grains: &GrainsView<C>, batch: &Batch, history: &mut [[R; RECORD]]));
    on_unit!(resolve, resolve_lanes<SIDES: u32>(limits: Limits<R>, uniform: Option<&Coefficients<R>>));
    on_unit!(scatter, scatter_pairs<INSIDE: bool, SIDES: u32>(batch: &Batch, force: &mut [[C; RECORD]], torque: &mut [[C; RECORD]]));

    /// Lanes with harmless values.
    fn new() -> Self {
        let (zero, one) = (R::new(0.0), R::new(1.0));
        Lanes {
            records: [[[one; RECORD]; LANES]; 5],
            numbers: [[[one; LANES]; RECORD]; 5],
            place: [0; LANES],
            count: 0,
            next: 0,
            depth: [one; LANES],
            radius_i: [one; LANES],
            radius_j: [one; LANES],
            mass_i: [one; LANES],
            mass_j: [one; LANES],
            coefficients: [[one; LANES]; 9],
            geometry: [[one; LANES]; 6],
            load: [[zero; LANES]; 10],
            slide: [[zero; LANES]; 3],
            crossed: [[zero; RECORD]; LANES],
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

    /// Reads the next pairs of a batch that touch into the lanes, with their `history`. All other pairs that it looks at lose theirs.
    #[inline(always)]
    fn fetch_pairs<const SIDES: u32, const UNIT: u32>(&mut self, grains: &GrainsView<C>, batch: &Batch, history: &mut [[R; RECORD]]) {
        let [(x, _), (v, _), (w, _)] = [grains.position, grains.velocity, grains.spin].map(|numbers| numbers.as_chunks::<RECORD>());
        // Of one length, so that one test of an index serves all three.
        let (v, w) = (&v[..x.len()], &w[..x.len()]);
        let (pairs, last) = (batch.partners.len(), batch.partners.len() - 1);
        let (places, history) = (&batch.grains[..pairs], &mut history[..pairs]);
        let (mut lane, mut next) = (0, self.next);
        while lane < LANES && next < pairs {
            let later = batch.partners[(next + AHEAD).min(last)] as usize;
            for numbers in [grains.position, grains.velocity, grains.spin] {
                prefetch(numbers, later);
            }
            let (i, j) = (batch.first + places[next] as usize, batch.partners[next] as usize);
            let reach = x[i][3] + x[j][3];
            let (mut from_j, mut velocity) = (less(&x[i], &x[j]), less(&v[i], &v[j]));
            self.records[SPIN_I][lane] = near_record::<C, R>(&w[i]);
            self.records[SPIN_J][lane] = near_record::<C, R>(&w[j]);
            self.radius_i[lane] = C::near(x[i][3]);
            self.radius_j[lane] = C::near(x[j][3]);
            self.mass_i[lane] = C::near(v[i][3]);
            self.mass_j[lane] = C::near(v[j][3]);
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
            // With all digits: a small overlap is the difference of two large squares.
            let depth = depth_of::<C>(
                &Vector3 {
                    x: from_j[0],
                    y: from_j[1],
                    z: from_j[2],
                },
                reach,
            );
            self.depth[lane] = C::near(depth);
            self.records[APART][lane] = near_record::<C, R>(&from_j);
            self.records[VELOCITY][lane] = near_record::<C, R>(&velocity);
            self.records[HISTORY][lane] = history[next];
            history[next] = [R::new(0.0); RECORD];
            self.place[lane] = next as u32;
            // Every pair is written, but only one that touches advances the lane. So there is no branch to predict.
            lane += usize::from(depth > C::new(0.0));
            next += 1;
        }
        (self.count, self.next) = (lane, next);
        if !grains.is_uniform {
            for (lane, &place) in self.place[..lane].iter().enumerate() {
                let (i, j) = (
                    batch.first + places[place as usize] as usize,
                    batch.partners[place as usize] as usize,
                );
                let row = (grains.material[i] * grains.materials + grains.material[j]) as usize * COEFFICIENTS;
                let numbers = &grains.table[row..row + COEFFICIENTS];
                for (slot, number) in self.coefficients.iter_mut().zip(numbers) {
                    slot[lane] = C::near(*number);
                }
            }
        }
        for lane in lane..LANES {
            self.records[APART][lane] = [R::new(4.0); RECORD];
            for numbers in [&mut self.radius_i, &mut self.radius_j, &mut self.mass_i, &mut self.mass_j] {
                numbers[lane] = R::new(1.0);
            }
            self.depth[lane] = R::new(-1.0);
        }
    }

    /// Runs the laws on all lanes.
    #[inline(always)]
    fn resolve_lanes<const SIDES: u32, const UNIT: u32>(&mut self, limits: Limits<R>, uniform: Option<&Coefficients<R>>) {
        to_lanes::<R, UNIT>(&self.records[APART], &mut self.numbers[APART]);
        // A processor transposes the next records while it waits for the roots and quotients of a vector of 64 bytes.
        let width = 64 / size_of::<R>();
        let share = (self.records.len() - 1) * width / LANES;
        for group in 0..LANES / width {
            for lane in group * width..(group + 1) * width {
                self.resolve_geometry(lane);
            }
            for record in 1 + group * share..1 + (group + 1) * share {
                to_lanes::<R, UNIT>(&self.records[record], &mut self.numbers[record]);
            }
        }
        // As constants, the codes of laws leave out what only other laws need: quotients, and one of two equal roots. No bit changes.
        match uniform {
            Some(coefficients) if have_codes(coefficients, &HERTZ_MINDLIN) => {
                self.resolve_uniform::<SIDES>(limits, &with_codes(coefficients, &HERTZ_MINDLIN));
            }
            Some(coefficients) if have_codes(coefficients, &HERTZ_DISPLACEMENT) => {
                self.resolve_uniform::<SIDES>(limits, &with_codes(coefficients, &HERTZ_DISPLACEMENT));
            }
            Some(coefficients) if have_codes(coefficients, &LINEAR) => {
                self.resolve_uniform::<SIDES>(limits, &with_codes(coefficients, &LINEAR));
            }
            Some(coefficients) => self.resolve_uniform::<SIDES>(limits, coefficients),
            None => {
                for lane in 0..LANES {
                    self.resolve_load(lane, limits, &self.coefficients_of(lane));
                }
                for lane in 0..LANES {
                    self.resolve_forces::<SIDES>(lane, limits, &self.coefficients_of(lane));
                }
            }
        }
        for (records, lanes) in self.records.iter_mut().zip(&self.numbers) {
            for lane in 0..LANES {
                records[lane] = [lanes[0][lane], lanes[1][lane], lanes[2][lane], lanes[3][lane]];
            }
        }
    }

    /// Runs the laws on all lanes, with the same coefficients in each. In two loops, each with a root and a quotient in a row, more lanes are on their way
    /// at once.
    #[inline(always)]
    fn resolve_uniform<const SIDES: u32>(&mut self, limits: Limits<R>, coefficients: &Coefficients<R>) {
        for lane in 0..LANES {
            self.resolve_load(lane, limits, coefficients);
        }
        for lane in 0..LANES {
            self.resolve_forces::<SIDES>(lane, limits, coefficients);
        }
    }

    /// The pair of a lane.
    #[inline(always)]
    fn pair(&self, lane: usize) -> Pair<R> {
        let [apart, velocity] = [APART, VELOCITY].map(|record| self.vector(record, lane));
        Pair {
            apart,
            depth: self.depth[lane],
            velocity,
            radius_i: self.radius_i[lane],
            radius_j: self.radius_j[lane],
            mass_i: self.mass_i[lane],
            mass_j: self.mass_j[lane],
        }
    }

    /// The vector of an input record of a lane.
    #[inline(always)]
    fn vector(&self, record: usize, lane: usize) -> Vector3<R> {
        let [x, y, z, _] = &self.numbers[record];
        Vector3 {
            x: x[lane],
            y: y[lane],
            z: z[lane],
        }
    }

    /// Geometry of a contact, in a loop of its own: a processor starts the roots and quotients of more lanes before it needs the first result.
    #[inline(always)]
    fn resolve_geometry(&mut self, lane: usize) {
        let ContactGeometry { contact_pair, normal } = contact_geometry::<R>(&self.pair(lane));
        let ContactPair {
            overlap,
            contact_radius,
            effective_mass,
        } = contact_pair;
        let numbers = [overlap, contact_radius, effective_mass, normal.x, normal.y, normal.z];
        for (slot, number) in self.geometry.iter_mut().zip(numbers) {
            slot[lane] = number;
        }
    }

    /// The geometry of the contact of a lane.
    #[inline(always)]
    fn geometry(&self, lane: usize) -> ContactGeometry<R> {
        let [overlap, contact_radius, effective_mass, x, y, z] = self.geometry.each_ref().map(|numbers| numbers[lane]);
        ContactGeometry {
            contact_pair: ContactPair {
                overlap,
                contact_radius,
                effective_mass,
            },
            normal: Vector3 { x, y, z },
        }
    }

    /// What acts on the tangential spring of a lane.
    #[inline(always)]
    fn resolve_load(&mut self, lane: usize, limits: Limits<R>, coefficients: &Coefficients<R>) {
        let [spin_i, spin_j] = [SPIN_I, SPIN_J].map(|record| self.vector(record, lane));
        let contact_history = ContactHistory {
            force: self.vector(HISTORY, lane),
            contact_radius: self.numbers[HISTORY][3][lane],
        };
        let load = load_of_pair::<R>(
            &self.pair(lane),
            &self.geometry(lane),
            &spin_i,
            &spin_j,
            &contact_history,
            coefficients,
            limits.dt,
        );
        let (velocity, stored) = (&load.velocity, &load.stored);
        let numbers = [
            load.pressure.force,
            load.pressure.power,
            velocity.x,
            velocity.y,
            velocity.z,
            stored.x,
            stored.y,
            stored.z,
            load.stiffness,
            load.dashpot,
        ];
        for (slot, number) in self.load.iter_mut().zip(numbers) {
            slot[lane] = number;
        }
    }

    /// Forces and powers of a lane.
    #[inline(always)]
    fn resolve_forces<const SIDES: u32>(&mut self, lane: usize, limits: Limits<R>, coefficients: &Coefficients<R>) {
        let (pair, geometry) = (self.pair(lane), self.geometry(lane));
        let [force, power, vx, vy, vz, x, y, z, stiffness, dashpot] = self.load.each_ref().map(|numbers| numbers[lane]);
        let load = TangentialLoad {
            pressure: NormalResponse { force, power },
            velocity: Vector3 { x: vx, y: vy, z: vz },
            stored: Vector3 { x, y, z },
            stiffness,
            dashpot,
        };
        let outcome: ContactForces<R> = forces_of_pair::<R>(&pair, &geometry, &load, coefficients, limits.dt);
        let (torque_i, torque_j) = (outcome.bend.times(outcome.arm_i), outcome.bend.times(outcome.arm_j));
        let (zero, one) = (R::new(0.0), R::new(1.0));
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
            (&torque_i, zero),
            (&torque_j, zero),
            (&spring.force, spring.contact_radius),
            (&powers, slide_power),
        ];
        for (slots, (vector, last)) in self.numbers.iter_mut().zip(results) {
            slots[0][lane] = vector.x;
            slots[1][lane] = vector.y;
            slots[2][lane] = vector.z;
            slots[3][lane] = last;
        }
        let excess = outcome.overlap - limits.overlap * smaller::<R>(pair.radius_i, pair.radius_j);
        if pair.depth > zero {
            self.excess[lane] = larger::<R>(excess, self.excess[lane]);
        }
    }

    /// Adds the results to the grains, in order: to both grains for pairs `INSIDE` the part, otherwise to the first.
    #[inline(always)]
    fn scatter_pairs<const INSIDE: bool, const SIDES: u32, const UNIT: u32>(
        &mut self,
        batch: &Batch,
        force: &mut [[C; RECORD]],
        torque: &mut [[C; RECORD]],
    ) {
        let torque = &mut torque[..force.len()];
        let places = &batch.grains[..batch.partners.len()];
        let (mut total, mut across) = (self.total, self.across);
        for (lane, &place) in self.place[..self.count].iter().enumerate() {
            let place = place as usize;
            let i = places[place] as usize;
            let push = wide_record::<C, R>(&self.records[FORCE][lane]);
            total = more(&total, &wide_record::<C, R>(&self.records[POWER][lane]));
            if SIDES == STRETCHED {
                let crossed = wide_record::<C, R>(&self.crossed[lane]);
                across = more(&across, &products(&push, &crossed));
            }
            force[i] = more(&force[i], &push);
            torque[i] = more(&torque[i], &wide_record::<C, R>(&self.records[TORQUE_I][lane]));
            if INSIDE {
                let j = batch.partners[place] as usize - batch.first;
                force[j] = more(&force[j], &[-push[0], -push[1], -push[2], push[3]]);
                torque[j] = more(&torque[j], &wide_record::<C, R>(&self.records[TORQUE_J][lane]));
            }
        }
        (self.total, self.across) = (total, across);
    }

    /// Computes the contacts of a batch; the `history` is that of its pairs.
    #[inline(always)]
    fn compute<const INSIDE: bool, const SIDES: u32, const UNIT: u32>(
        &mut self,
        grains: &GrainsView<C>,
        batch: &Batch,
        limits: Limits<R>,
        uniform: Option<&Coefficients<R>>,
        history: &mut [[R; RECORD]],
        [force, torque]: [&mut [[C; RECORD]]; 2],
    ) {
        self.next = 0;
        while self.next < batch.partners.len() {
            self.fetch::<SIDES, UNIT>(grains, batch, history);
            if self.count == 0 {
                break;
            }
            self.resolve::<SIDES, UNIT>(limits, uniform);
            for (&place, record) in self.place[..self.count].iter().zip(&self.records[HISTORY]) {
                history[place as usize] = *record;
            }
            self.scatter::<INSIDE, SIDES, UNIT>(batch, force, torque);
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

/// Frictional contacts of all grains of a part with their partners in the shortlist, with the widest vector units of this processor. Pairs inside the
/// part act on both grains, all others on the grain of the part. Wider units change no bit: every lane rounds as a scalar does, and no multiplication is
/// fused with an addition.
///
/// The history records of `out` are those of its pairs, in their order. `C` is the precision of states
/// and sums, `R` that of the laws and histories.
pub fn contacts_of_part<C: Coordinate<R>, R: Real, const SIDES: u32>(
    grains: &GrainsView<C>,
    shortlist: Shortlist,
    limits: Limits<R>,
    out: PartOut<C, R>,
) -> PowerSums<C> {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
            return contacts_with::<C, R, SIDES, WIDEST>(grains, shortlist, limits, out);
        }
        if is_x86_feature_detected!("avx2") {
            return contacts_with::<C, R, SIDES, WIDE>(grains, shortlist, limits, out);
        }
    }
    contacts_with::<C, R, SIDES, NARROW>(grains, shortlist, limits, out)
}

fn contacts_with<C: Coordinate<R>, R: Real, const SIDES: u32, const UNIT: u32>(
    grains: &GrainsView<C>,
    shortlist: Shortlist,
    limits: Limits<R>,
    out: PartOut<C, R>,
) -> PowerSums<C> {
    let first_row = grains.material.first().map_or(0, |&m| (m * grains.materials + m) as usize) * COEFFICIENTS;
    let of_first: [R; COEFFICIENTS] = std::array::from_fn(|k| C::near(grains.table[first_row + k]));
    let one_for_all = coefficients::<R>(&of_first, 0);
    let uniform = grains.is_uniform.then_some(&one_for_all);
    let batch = |(grains, partners)| Batch {
        first: shortlist.first,
        grains,
        partners,
    };
    let (inside, across) = (batch(shortlist.inside()), batch(shortlist.across()));
    let (history, _) = out.history.as_chunks_mut::<RECORD>();
    let (of_pairs_inside, of_pairs_across) = history.split_at_mut(shortlist.inside);
    let ((force, _), (torque, _)) = (out.force.as_chunks_mut::<RECORD>(), out.torque.as_chunks_mut::<RECORD>());
    let mut lanes = Lanes::<C, R>::new();
    lanes.compute::<true, SIDES, UNIT>(grains, &inside, limits, uniform, of_pairs_inside, [&mut *force, &mut *torque]);
    let of_inside = lanes.take_power_sums(C::new(1.0));
    lanes.compute::<false, SIDES, UNIT>(grains, &across, limits, uniform, of_pairs_across, [force, torque]);
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

/// Transposes records into lanes.
#[inline(always)]
fn to_lanes<R: Real, const UNIT: u32>(records: &Records<R>, lanes: &mut [Lane<R>; RECORD]) {
    #[cfg(target_arch = "x86_64")]
    if UNIT == WIDEST {
        let double = (records as &dyn Any).downcast_ref::<Records<f64>>();
        if let (Some(records), Some(lanes)) = (double, (lanes as &mut dyn Any).downcast_mut::<[Lane<f64>; RECORD]>()) {
            // SAFETY: [`contacts_of_part`] selects this unit only if the processor has the features.
            return unsafe { widest::all_to_lanes(records, lanes) };
        }
    }
    for lane in 0..LANES {
        for number in 0..RECORD {
            lanes[number][lane] = records[lane][number];
        }
    }
}

/// Codes of a normal and a tangential law.
pub(crate) type Codes = [f32; 2];

/// Hertz's and Mindlin's laws.
pub(crate) const HERTZ_MINDLIN: Codes = [NormalLaw::HERTZ, TangentialLaw::MINDLIN];
/// Hertz's law, and Mindlin's with a stored displacement.
pub(crate) const HERTZ_DISPLACEMENT: Codes = [NormalLaw::HERTZ, TangentialLaw::MINDLIN_DISPLACEMENT];
/// Springs of constant stiffness.
pub(crate) const LINEAR: Codes = [NormalLaw::LINEAR, TangentialLaw::LINEAR];

/// Whether these are the coefficients of these laws, without damping per mass.
#[inline(always)]
pub(crate) fn have_codes<R: Real>(coefficients: &Coefficients<R>, &[normal, tangential]: &Codes) -> bool {
    let zero = R::new(0.0);
    coefficients.normal_law == R::new(normal)
        && coefficients.tangential_law == R::new(tangential)
        && coefficients.normal_rate == zero
        && coefficients.tangential_rate == zero
}

/// Coefficients of these laws without damping per mass.
#[inline(always)]
pub(crate) fn with_codes<R: Real>(coefficients: &Coefficients<R>, &[normal, tangential]: &Codes) -> Coefficients<R> {
    Coefficients {
        normal_law: R::new(normal),
        tangential_law: R::new(tangential),
        normal_rate: R::new(0.0),
        tangential_rate: R::new(0.0),
        ..*coefficients
    }
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
