//! The sweep over bonds for processors with vector units: bonds are collected into lanes, the laws run over all lanes at once, and the results go
//! back in the order of the rows.

use crate::bonds::{BOND, BROKEN, BondRows, BondTally, BondedGrains, ENERGY, End, FIRST, KIND, MADE, glue_at, moves_of, span_of};
use crate::sides::{OPEN, nearest_image};
use crate::units::{InLanes, Unit, on_widest, prefetch};
use crate::views::{RECORD, load, store};
use seixo_laws::bond::{GLUE, Glue, Hold, Rest, beam, deformed, hold, turned_since, utilization};
use seixo_laws::{Quaternion, Vector3};

/// Bonds resolved at once.
const LANES: usize = 16;

/// How many bonds ahead the records of a partner are asked for.
const AHEAD: usize = 8;

/// Records that go in: where the first and the second grain are, how they move, how they spin, how they are turned; how the bond was made.
const IN: usize = 10;

/// Records that come out: force and energy, torque on the first and damping power, torque on the second and the share of its strength used.
const OUT: usize = 3;

/// One record per lane, as it lies in memory.
type Records = [[f64; RECORD]; LANES];

/// The same, a lane for every number.
type Numbers = [[f64; LANES]; RECORD];

/// Bonds side by side.
struct Lanes<'a, const POINTS: bool> {
    came: [Records; IN],
    numbers: [Numbers; IN],
    going: [Numbers; OUT],
    went: [Records; OUT],
    mode: [f64; LANES],
    kind: [f64; LANES],
    /// Where all bonds are of one kind, that; else the table.
    one_for_all: Option<Glue<f64>>,
    glue: &'a [f64],
}

/// Which bond is in a lane.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// Place of its record, counted from the part's first entry.
    k: usize,
    /// Its grains.
    ends: [usize; 2],
    /// Which of them owns the row.
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
    fn turn(&self, record: usize, lane: usize) -> Quaternion<f64> {
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
    fn resolve_lane(&mut self, lane: usize, glue: &Glue<f64>) {
        let end = |of: usize| End {
            position: self.vector(of, lane),
            radius: self.last(of, lane),
            velocity: self.vector(2 + of, lane),
            mass: self.last(2 + of, lane),
            spin: self.vector(4 + of, lane),
            turn: self.turn(6 + of, lane),
        };
        let (i, j): (End<f64, f64>, End<f64, f64>) = (end(0), end(1));
        let rest = Rest {
            axis: self.vector(8, lane),
            turn: self.turn(9, lane),
        };
        let span = span_of::<f64, f64>(&i, &j, &rest.axis, self.last(8, lane), glue);
        let apart = j.position.minus(&i.position);
        let shape = deformed::<f64, f64>(
            &apart,
            &i.turn,
            &turned_since(&i.turn, &j.turn, &rest.turn),
            &rest.axis,
            span.per_length,
        );
        let moves = moves_of(i, j);
        let held: Hold<f64> = if POINTS {
            hold(&shape, &moves, &span, glue)
        } else {
            beam::hold(&shape, &moves, &span, glue)
        };
        let used = utilization(&held, &span, glue);
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
    fn resolve<U: Unit>(&mut self, _unit: U) {
        for (records, lanes) in self.came.iter().zip(&mut self.numbers) {
            for lane in 0..LANES {
                for number in 0..RECORD {
                    lanes[number][lane] = records[lane][number];
                }
            }
        }
        if let Some(glue) = self.one_for_all {
            for lane in 0..LANES {
                self.resolve_lane(lane, &glue);
            }
        } else {
            for lane in 0..LANES {
                let glue = glue_at(self.glue, self.kind[lane] as usize);
                self.resolve_lane(lane, &glue);
            }
        }
        for (records, lanes) in self.went.iter_mut().zip(&self.going) {
            for lane in 0..LANES {
                records[lane] = [lanes[0][lane], lanes[1][lane], lanes[2][lane], lanes[3][lane]];
            }
        }
    }
}

/// Bonds of all grains of a part. `records` are those of its entries, `force` and `torque` those of its grains; both gain what bonds do. A bond that
/// uses more than its strength breaks, and does nothing from this step on. With `POINTS`, some bonds may be of another law than beams.
pub fn bonds_of_part<const SIDES: u32, const POINTS: bool>(
    grains: &BondedGrains,
    rows: &BondRows,
    records: &mut [f64],
    force: &mut [f64],
    torque: &mut [f64],
) -> BondTally {
    let harmless = [[1.0; RECORD]; LANES];
    let mut lanes = Lanes::<POINTS> {
        came: [harmless; IN],
        numbers: [[[1.0; LANES]; RECORD]; IN],
        going: [[[0.0; LANES]; RECORD]; OUT],
        went: [harmless; OUT],
        mode: [0.0; LANES],
        kind: [0.0; LANES],
        one_for_all: (grains.glue.len() == GLUE).then(|| glue_at(grains.glue, 0)),
        glue: grains.glue,
    };
    let base = rows.row[rows.first] as usize;
    let end = rows.row[rows.end] as usize;
    let mut all = BondTally::default();
    let mut entries = [Entry::default(); LANES];
    let mut filled = 0;
    for own in rows.first..rows.end {
        for k in rows.row[own] as usize..rows.row[own + 1] as usize {
            let later = (rows.partner[(k + AHEAD).min(end - 1)] & !FIRST) as usize;
            for numbers in [grains.position, grains.velocity, grains.spin, grains.turn] {
                prefetch(numbers, later);
            }
            let record = &records[(k - base) * BOND..][..BOND];
            if record[BROKEN] != 0.0 {
                continue;
            }
            let other = (rows.partner[k] & !FIRST) as usize;
            let ends = if rows.partner[k] & FIRST != 0 { [other, own] } else { [own, other] };
            entries[filled] = Entry { k: k - base, ends, own };
            lanes.put::<SIDES>(filled, grains, ends, &record[..MADE]);
            lanes.kind[filled] = record[KIND];
            filled += 1;
            if filled == LANES {
                on_widest(&mut lanes);
                lanes.give_back(&entries, rows, records, force, torque, &mut all);
                filled = 0;
            }
        }
    }
    if filled > 0 {
        on_widest(&mut lanes);
        lanes.give_back(&entries[..filled], rows, records, force, torque, &mut all);
    }
    all
}

impl<const POINTS: bool> Lanes<'_, POINTS> {
    /// Reads a bond between these grains into a lane.
    #[inline(always)]
    fn put<const SIDES: u32>(&mut self, lane: usize, grains: &BondedGrains, ends: [usize; 2], made: &[f64]) {
        let fields = [grains.position, grains.velocity, grains.spin, grains.turn];
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

    /// Adds the results to the grains, in order; of a bond that stands in both rows, to the one whose row this is.
    #[inline(always)]
    fn give_back(
        &mut self,
        entries: &[Entry],
        rows: &BondRows,
        records: &mut [f64],
        force: &mut [f64],
        torque: &mut [f64],
        all: &mut BondTally,
    ) {
        let ((force, _), (torque, _)) = (force.as_chunks_mut::<RECORD>(), torque.as_chunks_mut::<RECORD>());
        for (lane, entry) in entries.iter().enumerate() {
            let [push, turn_i, turn_j] = [0, 1, 2].map(|record| self.went[record][lane]);
            let [energy, damping_power, used] = [push[3], turn_i[3], turn_j[3]];
            let is_inside = rows.is_once && entry.ends.iter().all(|grain| (rows.first..rows.end).contains(grain));
            let share = if is_inside { 1.0 } else { 0.5 };
            let record = &mut records[entry.k * BOND..][..BOND];
            record[ENERGY] = energy;
            // A share that is no number is as good as broken: it must not pass unseen.
            if used > 1.0 || used.is_nan() {
                record[BROKEN] = self.mode[lane];
                all.released += share * energy;
                all.broken += share;
                continue;
            }
            all.energy += share * energy;
            all.damping_power += share * damping_power;
            let opposite = push.map(|number| -number);
            for (grain, push, turn) in [(entry.ends[0], &opposite, &turn_i), (entry.ends[1], &push, &turn_j)] {
                if is_inside || grain == entry.own {
                    for axis in 0..3 {
                        force[grain - rows.first][axis] += push[axis];
                        torque[grain - rows.first][axis] += turn[axis];
                    }
                }
            }
        }
    }
}
