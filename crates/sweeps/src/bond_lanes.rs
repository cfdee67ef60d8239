//! Sweep over bonds for processors with vector units. Bonds are gathered into lanes, the laws run on all lanes at once, and the results are scattered
//! in the order of the rows.
//!
//! ```
//! use seixo_sweeps::bond_lanes::bonds_of_part;
//! use seixo_sweeps::bonds::{BondRows, BondedGrains};
//! use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};
//! // A point bond of 2 m, with parameters of 1, is stretched to 2.2 m. It pulls both grains with equal forces.
//! let (position, orientation) = (&[0.0, 0.0, 0.0, 1.0, 2.2, 0.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
//! let (velocity, spin, bond_parameters, sides) = (&[1.0; 8], &[0.0; 8], &[1.0; 17], &PeriodicBoundaries::open());
//! let grains = BondedGrains { position, velocity, spin, orientation, bond_parameters, sides };
//! let rows = BondRows { first: 0, end: 2, row: &[0, 1, 1], partner: &[1], attachments: &[], is_once: true };
//! let mut record = [2.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
//! let mut force = [0.0; 8];
//! bonds_of_part::<OPEN, true>(&grains, &rows, &mut record, &mut force, &mut [0.0; 8]);
//! assert!(force[0] > 0.0 && force[4] == -force[0]);
//! ```

use crate::bonds::{
    ATTACHMENT, BOND, BOND_REFERENCE, BROKEN, BondEnd, BondPowerSums, BondRows, BondedGrains, ENERGY, FIRST, KIND, attached,
    bond_parameters_at, end_at, moves_of, span_of,
};
use crate::layout::{RECORD, load, store};
use crate::periodic::{OPEN, nearest_image};
use crate::simd::{InLanes, SimdLevel, on_best_simd, prefetch};
use seixo_laws::bond::{
    BOND_PARAMETERS, BondForces, BondParameters, BondReference, beam, bond_forces, deformed, rotation_since, utilization,
};
use seixo_laws::{Quaternion, Vector3};

/// Bonds per batch of lanes.
const LANES: usize = 16;

/// Number of bonds by which the records of a partner are prefetched.
const AHEAD: usize = 8;

/// Records per bond that go in: position, velocity, angular velocity and orientation of both grains, and the reference of the bond.
const IN: usize = 10;

/// Records per bond that come out: force and energy; torque on the first grain and damping power; torque on the second grain and used share of
/// strength.
const OUT: usize = 3;

/// One record per lane, in memory order.
type Records = [[f64; RECORD]; LANES];

/// The same numbers with the lanes innermost.
type Numbers = [[f64; LANES]; RECORD];

/// Bonds in lanes. No vector crosses the end of a cache line.
#[repr(C, align(64))]
struct Lanes<'a, const POINTS: bool> {
    came: [Records; IN],
    numbers: [Numbers; IN],
    going: [Numbers; OUT],
    went: [Records; OUT],
    mode: [f64; LANES],
    kind: [f64; LANES],
    /// Vectors from the centers of both grains to the ends of the bond; zero unless bonds are attached elsewhere \[m\].
    arms: [[Vector3<f64>; 2]; LANES],
    /// Parameters if all bonds are of one kind; otherwise `None`, and `bond_parameters` is read.
    one_for_all: Option<BondParameters<f64>>,
    bond_parameters: &'a [f64],
}

/// The bond of a lane.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// Index of its record, counted from the part's first entry.
    k: usize,
    /// Its grains.
    ends: [usize; 2],
    /// End of the bond (0 or 1) whose row this is.
    own: usize,
}

impl<const POINTS: bool> Lanes<'_, POINTS> {
    #[inline(always)]
    fn vector(&self, record: usize, lane: usize) -> Vector3<f64> {
        let [x, y, z, _] = &self.numbers[record];
        Vector3 {
            x: x[lane],
            y: y[lane],
            z: z[lane],
        }
    }

    #[inline(always)]
    fn rotated_record(&self, record: usize, lane: usize) -> Quaternion<f64> {
        let [w, x, y, z] = &self.numbers[record];
        Quaternion {
            w: w[lane],
            x: x[lane],
            y: y[lane],
            z: z[lane],
        }
    }

    #[inline(always)]
    fn last(&self, record: usize, lane: usize) -> f64 {
        self.numbers[record][RECORD - 1][lane]
    }

    #[inline(always)]
    fn resolve_lane(&mut self, lane: usize, bond_parameters: &BondParameters<f64>) {
        let end = |of: usize| BondEnd {
            position: self.vector(of, lane),
            radius: self.last(of, lane),
            velocity: self.vector(2 + of, lane),
            mass: self.last(2 + of, lane),
            spin: self.vector(4 + of, lane),
            orientation: self.rotated_record(6 + of, lane),
        };
        let (i, j): (BondEnd<f64, f64>, BondEnd<f64, f64>) = (end(0), end(1));
        let rest = BondReference {
            axis: self.vector(8, lane),
            orientation: self.rotated_record(9, lane),
        };
        let span = span_of::<f64, f64>(&i, &j, &rest.axis, self.last(8, lane), bond_parameters);
        let apart = j.position.minus(&i.position);
        let shape = deformed::<f64, f64>(
            &apart,
            &i.orientation,
            &rotation_since(&i.orientation, &j.orientation, &rest.orientation),
            &rest.axis,
            span.per_length,
        );
        let moves = moves_of(i, j);
        let held: BondForces<f64> = if POINTS {
            bond_forces(&shape, &moves, &span, bond_parameters)
        } else {
            beam::beam_forces(&shape, &moves, &span, bond_parameters)
        };
        let used = utilization(&held, &span, bond_parameters);
        let results = [
            (&held.force, held.energy),
            (&held.torque_i, held.damping_power),
            (&held.torque_j, used.share),
        ];
        for (slots, (vector, last)) in self.going.iter_mut().zip(results) {
            slots[0][lane] = vector.x;
            slots[1][lane] = vector.y;
            slots[2][lane] = vector.z;
            slots[3][lane] = last;
        }
        self.mode[lane] = used.mode;
    }
}

impl<const POINTS: bool> InLanes for Lanes<'_, POINTS> {
    #[inline(always)]
    fn resolve<U: SimdLevel>(&mut self, _unit: U) {
        for (records, lanes) in self.came.iter().zip(&mut self.numbers) {
            for lane in 0..LANES {
                for number in 0..RECORD {
                    lanes[number][lane] = records[lane][number];
                }
            }
        }
        if let Some(bond_parameters) = self.one_for_all {
            for lane in 0..LANES {
                self.resolve_lane(lane, &bond_parameters);
            }
        } else {
            for lane in 0..LANES {
                let bond_parameters = bond_parameters_at(self.bond_parameters, self.kind[lane] as usize);
                self.resolve_lane(lane, &bond_parameters);
            }
        }
        for (records, lanes) in self.went.iter_mut().zip(&self.going) {
            for lane in 0..LANES {
                records[lane] = [lanes[0][lane], lanes[1][lane], lanes[2][lane], lanes[3][lane]];
            }
        }
    }
}

/// Bond forces on all grains of a part. `records` belong to its entries, `force` and `torque` to its grains; the results are added to both. A bond
/// that uses more than its strength breaks and has no force from this step on. With `POINTS`, some bonds may be point bonds.
pub fn bonds_of_part<const SIDES: u32, const POINTS: bool>(
    grains: &BondedGrains,
    rows: &BondRows,
    records: &mut [f64],
    force: &mut [f64],
    torque: &mut [f64],
) -> BondPowerSums {
    let harmless = [[1.0; RECORD]; LANES];
    let mut lanes = Lanes::<POINTS> {
        came: [harmless; IN],
        numbers: [[[1.0; LANES]; RECORD]; IN],
        going: [[[0.0; LANES]; RECORD]; OUT],
        went: [harmless; OUT],
        mode: [0.0; LANES],
        kind: [0.0; LANES],
        arms: [[Vector3::zero(); 2]; LANES],
        one_for_all: (grains.bond_parameters.len() == BOND_PARAMETERS).then(|| bond_parameters_at(grains.bond_parameters, 0)),
        bond_parameters: grains.bond_parameters,
    };
    let base = rows.row[rows.first] as usize;
    let end = rows.row[rows.end] as usize;
    let mut all = BondPowerSums::default();
    let mut entries = [Entry::default(); LANES];
    let mut filled = 0;
    for own in rows.first..rows.end {
        for k in rows.row[own] as usize..rows.row[own + 1] as usize {
            let later = (rows.partner[(k + AHEAD).min(end - 1)] & !FIRST) as usize;
            for numbers in [grains.position, grains.velocity, grains.spin, grains.orientation] {
                prefetch(numbers, later);
            }
            let record = &records[(k - base) * BOND..][..BOND];
            if record[BROKEN] != 0.0 {
                continue;
            }
            let other = (rows.partner[k] & !FIRST) as usize;
            let ends = if rows.partner[k] & FIRST != 0 { [other, own] } else { [own, other] };
            entries[filled] = Entry { k: k - base, ends, own };
            lanes.put::<SIDES>(filled, grains, ends, &record[..BOND_REFERENCE]);
            if !rows.attachments.is_empty() {
                lanes.attach::<SIDES>(filled, grains, ends, &rows.attachments[k * ATTACHMENT..][..ATTACHMENT]);
            }
            lanes.kind[filled] = record[KIND];
            filled += 1;
            if filled == LANES {
                on_best_simd(&mut lanes);
                lanes.scatter(&entries, rows, records, force, torque, &mut all);
                filled = 0;
            }
        }
    }
    if filled > 0 {
        on_best_simd(&mut lanes);
        lanes.scatter(&entries[..filled], rows, records, force, torque, &mut all);
    }
    all
}

impl<const POINTS: bool> Lanes<'_, POINTS> {
    /// Loads a bond between these grains into a lane.
    #[inline(always)]
    fn put<const SIDES: u32>(&mut self, lane: usize, grains: &BondedGrains, ends: [usize; 2], made: &[f64]) {
        let fields = [grains.position, grains.velocity, grains.spin, grains.orientation];
        for (field, numbers) in fields.into_iter().enumerate() {
            let (numbers, _) = numbers.as_chunks::<RECORD>();
            for (end, &grain) in ends.iter().enumerate() {
                self.came[2 * field + end][lane] = numbers[grain];
            }
        }
        for (slot, numbers) in self.came[8..].iter_mut().zip(made.as_chunks::<RECORD>().0) {
            slot[lane] = *numbers;
        }
        if SIDES != OPEN {
            let [from, to] = ends.map(|grain| load::<f64>(grains.position, grain * RECORD));
            let apart = nearest_image::<f64, f64>(&to.minus(&from), grains.sides, SIDES).apart;
            store(&mut self.came[0][lane], 0, &Vector3::zero());
            store(&mut self.came[1][lane], 0, &apart);
        }
    }

    /// Moves both ends of the bond in a lane from the centers of its grains to where it is attached.
    #[inline(always)]
    fn attach<const SIDES: u32>(&mut self, lane: usize, grains: &BondedGrains, ends: [usize; 2], attachment: &[f64]) {
        let [from, to] = ends.map(|grain| end_at(grain, grains.position, grains.velocity, grains.spin, grains.orientation));
        let apart = nearest_image::<f64, f64>(&to.position.minus(&from.position), grains.sides, SIDES).apart;
        let [(first, arm_i), (second, arm_j)] = [attached(&from, attachment, 0), attached(&to, attachment, 1)];
        // Positions are relative to the center of the first grain.
        for (end, (place, grain)) in [(arm_i, first), (apart.plus(&arm_j), second)].into_iter().enumerate() {
            store(&mut self.came[end][lane], 0, &place);
            self.came[end][lane][3] = grain.radius;
            store(&mut self.came[2 + end][lane], 0, &grain.velocity);
        }
        self.arms[lane] = [arm_i, arm_j];
    }

    /// Adds the results to the grains, in order. For a bond in two rows, it adds only to the grain that owns this row.
    #[inline(always)]
    fn scatter(
        &mut self,
        entries: &[Entry],
        rows: &BondRows,
        records: &mut [f64],
        force: &mut [f64],
        torque: &mut [f64],
        all: &mut BondPowerSums,
    ) {
        let ((force, _), (torque, _)) = (force.as_chunks_mut::<RECORD>(), torque.as_chunks_mut::<RECORD>());
        for (lane, entry) in entries.iter().enumerate() {
            let [push, mut orientation_i, mut orientation_j] = [0, 1, 2].map(|record| self.went[record][lane]);
            let [energy, damping_power, used] = [push[3], orientation_i[3], orientation_j[3]];
            let is_inside = rows.is_once && entry.ends.iter().all(|grain| (rows.first..rows.end).contains(grain));
            let share = if is_inside { 1.0 } else { 0.5 };
            let record = &mut records[entry.k * BOND..][..BOND];
            record[ENERGY] = energy;
            // A share that is NaN counts as broken, so that the error is not hidden.
            if used > 1.0 || used.is_nan() {
                record[BROKEN] = self.mode[lane];
                all.released += share * energy;
                all.broken += share;
                continue;
            }
            all.energy += share * energy;
            all.damping_power += share * damping_power;
            let opposite = push.map(|number| -number);
            if !rows.attachments.is_empty() {
                // Torques of the law are about the ends of the bond.
                let ([arm_i, arm_j], force) = (&self.arms[lane], load::<f64>(&push, 0));
                let about_i = load::<f64>(&orientation_i, 0).minus(&arm_i.cross(&force));
                let about_j = load::<f64>(&orientation_j, 0).plus(&arm_j.cross(&force));
                store(&mut orientation_i, 0, &about_i);
                store(&mut orientation_j, 0, &about_j);
            }
            for (grain, push, orientation) in [(entry.ends[0], &opposite, &orientation_i), (entry.ends[1], &push, &orientation_j)] {
                if is_inside || grain == entry.own {
                    for axis in 0..3 {
                        force[grain - rows.first][axis] += push[axis];
                        torque[grain - rows.first][axis] += orientation[axis];
                    }
                }
            }
        }
    }
}
