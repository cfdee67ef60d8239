//! Motion of the grains of a part for processors with vector units. Grains move in lanes, with the bits that [`advance()`] gives one by one.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::motion::StepParameters;
//! use seixo_sweeps::motion_lanes::{MovingGrains, advance_part};
//! let (zero, corner) = (Vector3::zero(), Vector3 { x: 1e3, y: 1e3, z: 1e3 });
//! let stepping = StepParameters::<f64, f64> {
//!     dt: 0.5, reads_ahead: 0.25, velocity_lead: 0.25, lag: 0.0, gravity: zero, local_damping: 0.0, damped_gravity: 1.0,
//!     skin_exceeded_square: 1e6, stride_square: 1e6, domain_min: zero, domain_max: corner, sides: Default::default(),
//! };
//! // Forty grains of 2 kg and 1 m, of which each is pushed with 4 N along x: half a second later they are faster by 1 m/s.
//! let (mut position, mut velocity, mut half_velocity) = ([1.0; 160], [2.0; 160], [0.0; 120]);
//! let force: [f64; 160] = std::array::from_fn(|k| if k % 4 == 0 { 4.0 } else { 0.0 });
//! let grains = MovingGrains {
//!     position: &mut position, velocity: &mut velocity, spin: &mut [], half_velocity: &mut half_velocity, half_spin: &mut [],
//!     force: &force, torque: &[], reference: &[1.0; 120],
//! };
//! let moved = advance_part(grains, &stepping, false);
//! assert_eq!((moved.flags, moved.stride_square), (0, 0.25));
//! assert!(half_velocity.iter().step_by(3).all(|&speed| speed == 1.0) && position.iter().step_by(4).all(|&x| x == 1.5));
//! ```

use crate::layout::RECORD;
use crate::motion::{AT_REST, MotionReport, StepParameters, acceleration, advance, angular_acceleration, flags_of, kicked};
use crate::simd::{InLanes, LANES, SimdLevel, on_best_simd};
use seixo_laws::motion::drift;
use seixo_laws::{Vector3, larger, smaller};

/// Grains per batch of lanes.
const BATCH: usize = 32;

/// Numbers of the vectors without a fourth number.
const AXES: usize = 3;

/// N numbers of each grain of a batch, in memory order.
type Rows<const N: usize> = [[f64; N]; BATCH];

/// The same with the lanes innermost.
type Columns<const N: usize> = [[f64; BATCH]; N];

/// The grains of a part. Slot 0 of all slices belongs to its first grain; those that are only read may go on behind its last. Without rotation, the
/// slices of angular velocities and torques may be empty.
pub struct MovingGrains<'a> {
    /// Centers and radii \[m\].
    pub position: &'a mut [f64],
    /// Velocities \[m/s\] for laws, and masses \[kg\].
    pub velocity: &'a mut [f64],
    /// Angular velocities for laws \[rad/s\].
    pub spin: &'a mut [f64],
    /// Stored velocities \[m/s\], three numbers each.
    pub half_velocity: &'a mut [f64],
    /// Stored angular velocities \[rad/s\], three numbers each.
    pub half_spin: &'a mut [f64],
    /// Forces \[N\] and numbers of contacts.
    pub force: &'a [f64],
    /// Torques \[N m\].
    pub torque: &'a [f64],
    /// Centers at the last rebuild of the lists \[m\], three numbers each.
    pub reference: &'a [f64],
}

/// Columns of a batch, and what is kept of all batches. No vector crosses the end of a cache line.
#[repr(C, align(64))]
struct Lanes {
    position: Columns<RECORD>,
    velocity: Columns<RECORD>,
    spin: Columns<RECORD>,
    half_velocity: Columns<AXES>,
    half_spin: Columns<AXES>,
    force: Columns<RECORD>,
    torque: Columns<RECORD>,
    reference: Columns<AXES>,
    extremes: Extremes,
}

/// Extremes of all grains that passed through each lane, from which flags follow: a loop with flags is not vectorized.
#[repr(C)]
struct Extremes {
    /// Largest squared displacement in the step \[m²\].
    stride_square: [f64; BATCH],
    /// The same by stored velocities, for flags.
    flagged_stride_square: [f64; BATCH],
    /// Largest squared distance from where a grain was at the last rebuild of the lists \[m²\].
    far_square: [f64; BATCH],
    /// Zero, or NaN if a position was not a finite number.
    strange: [f64; BATCH],
    /// Smallest coordinates, or those of the lower corner of the domain \[m\].
    low: Columns<AXES>,
    /// Largest coordinates, or those of the upper corner of the domain \[m\].
    high: Columns<AXES>,
}

impl Extremes {
    fn new(stepping: &StepParameters<f64, f64>) -> Extremes {
        let (low, high) = (&stepping.domain_min, &stepping.domain_max);
        Extremes {
            stride_square: [0.0; BATCH],
            flagged_stride_square: [0.0; BATCH],
            far_square: [0.0; BATCH],
            strange: [0.0; BATCH],
            low: [low.x, low.y, low.z].map(|x| [x; BATCH]),
            high: [high.x, high.y, high.z].map(|x| [x; BATCH]),
        }
    }

    /// The report on all grains. Their flags are those of two corners of the box around the grains and the domain.
    fn report(&self, stepping: &StepParameters<f64, f64>) -> MotionReport<f64> {
        let mut all = AT_REST;
        for lane in 0..BATCH {
            let [low, high] = [&self.low, &self.high].map(|corner| vector(corner, lane));
            all.flags |= flags_of(&low, self.flagged_stride_square[lane], self.far_square[lane], stepping);
            all.flags |= flags_of(&high, 0.0, self.strange[lane], stepping);
            all.stride_square = all.stride_square.max(self.stride_square[lane]);
        }
        all
    }
}

/// What rotating grains of a batch have.
struct Rotation<'a> {
    spin: &'a mut Rows<RECORD>,
    half_spin: &'a mut Rows<AXES>,
    torque: &'a Rows<RECORD>,
}

/// A step of the grains of a batch.
struct Step<'a> {
    lanes: &'a mut Lanes,
    position: &'a mut Rows<RECORD>,
    velocity: &'a mut Rows<RECORD>,
    half_velocity: &'a mut Rows<AXES>,
    force: &'a Rows<RECORD>,
    reference: &'a Rows<AXES>,
    rotation: Option<Rotation<'a>>,
    stepping: &'a StepParameters<f64, f64>,
}

impl InLanes for Step<'_> {
    #[inline(always)]
    fn resolve<U: SimdLevel>(&mut self, unit: U) {
        // Without damping: as a constant it leaves the branches out.
        let stepping = StepParameters {
            local_damping: 0.0,
            ..*self.stepping
        };
        records_to_columns(unit, self.position, &mut self.lanes.position);
        records_to_columns(unit, self.velocity, &mut self.lanes.velocity);
        if let Some(Rotation { spin, half_spin, torque }) = &mut self.rotation {
            records_to_columns(unit, spin, &mut self.lanes.spin);
            records_to_columns(unit, torque, &mut self.lanes.torque);
            vectors_to_columns(half_spin, &mut self.lanes.half_spin);
            turn(self.lanes, &stepping);
            columns_to_records(unit, &self.lanes.spin, spin);
            columns_to_vectors(&self.lanes.half_spin, half_spin);
        }
        records_to_columns(unit, self.force, &mut self.lanes.force);
        vectors_to_columns(self.half_velocity, &mut self.lanes.half_velocity);
        vectors_to_columns(self.reference, &mut self.lanes.reference);
        go(self.lanes, &stepping);
        columns_to_records(unit, &self.lanes.position, self.position);
        columns_to_records(unit, &self.lanes.velocity, self.velocity);
        columns_to_vectors(&self.lanes.half_velocity, self.half_velocity);
    }
}

/// Rotates all lanes, as [`advance()`].
#[inline(always)]
fn turn(lanes: &mut Lanes, stepping: &StepParameters<f64, f64>) {
    for lane in 0..BATCH {
        let (radius, mass) = (lanes.position[3][lane], lanes.velocity[3][lane]);
        let (spin, torque) = (vector(&lanes.spin, lane), vector(&lanes.torque, lane));
        let turning = angular_acceleration(&spin, mass, radius, &torque, stepping);
        let onward = kicked(&vector(&lanes.half_spin, lane), &turning, stepping, stepping.lag);
        put(&mut lanes.half_spin, lane, &onward.half);
        put(&mut lanes.spin, lane, &onward.whole);
    }
}

/// Moves all lanes, as [`advance()`].
#[inline(always)]
fn go(lanes: &mut Lanes, stepping: &StepParameters<f64, f64>) {
    for lane in 0..BATCH {
        let mass = lanes.velocity[3][lane];
        let (velocity, force) = (vector(&lanes.velocity, lane), vector(&lanes.force, lane));
        let moving = acceleration(&velocity, mass, &force, stepping);
        let onward = kicked(&vector(&lanes.half_velocity, lane), &moving, stepping, stepping.lag);
        let new = drift(&vector(&lanes.position, lane), &onward.moving, stepping.dt);
        let moved = new.minus(&vector(&lanes.reference, lane));
        let (stride, way) = (onward.half.times(stepping.dt), onward.moving.times(stepping.dt));
        put(&mut lanes.half_velocity, lane, &onward.half);
        put(&mut lanes.velocity, lane, &onward.whole);
        put(&mut lanes.position, lane, &new);
        let (extremes, far_square) = (&mut lanes.extremes, moved.dot(&moved));
        extremes.stride_square[lane] = larger::<f64>(way.dot(&way), extremes.stride_square[lane]);
        extremes.flagged_stride_square[lane] = larger::<f64>(stride.dot(&stride), extremes.flagged_stride_square[lane]);
        extremes.far_square[lane] = larger::<f64>(far_square, extremes.far_square[lane]);
        extremes.strange[lane] += far_square * 0.0;
        for (axis, x) in [new.x, new.y, new.z].into_iter().enumerate() {
            extremes.low[axis][lane] = smaller::<f64>(x, extremes.low[axis][lane]);
            extremes.high[axis][lane] = larger::<f64>(x, extremes.high[axis][lane]);
        }
    }
}

/// Moves the grains of a part by one step, with the widest vector units of this processor. Each moves as [`advance()`] moves it, and the report is
/// that of all of them. With local damping they move one by one.
pub fn advance_part(grains: MovingGrains, stepping: &StepParameters<f64, f64>, frictional: bool) -> MotionReport<f64> {
    let MovingGrains {
        position,
        velocity,
        spin,
        half_velocity,
        half_spin,
        force,
        torque,
        reference,
    } = grains;
    let n = position.len() / RECORD;
    let batches = if stepping.local_damping == 0.0 { n / BATCH } else { 0 };
    let mut lanes = Lanes {
        position: [[0.0; BATCH]; RECORD],
        velocity: [[0.0; BATCH]; RECORD],
        spin: [[0.0; BATCH]; RECORD],
        half_velocity: [[0.0; BATCH]; AXES],
        half_spin: [[0.0; BATCH]; AXES],
        force: [[0.0; BATCH]; RECORD],
        torque: [[0.0; BATCH]; RECORD],
        reference: [[0.0; BATCH]; AXES],
        extremes: Extremes::new(stepping),
    };
    for batch in 0..batches {
        let rotation = if frictional {
            Some(Rotation {
                spin: rows_to_change(spin, batch),
                half_spin: rows_to_change(half_spin, batch),
                torque: rows_of(torque, batch),
            })
        } else {
            None
        };
        let mut step = Step {
            lanes: &mut lanes,
            position: rows_to_change(position, batch),
            velocity: rows_to_change(velocity, batch),
            half_velocity: rows_to_change(half_velocity, batch),
            force: rows_of(force, batch),
            reference: rows_of(reference, batch),
            rotation,
            stepping,
        };
        on_best_simd(&mut step);
    }
    let mut all = lanes.extremes.report(stepping);
    for i in batches * BATCH..n {
        let moved = advance(
            i,
            position,
            velocity,
            spin,
            half_velocity,
            half_spin,
            force,
            torque,
            reference,
            stepping,
            frictional,
        );
        all.flags |= moved.flags;
        all.stride_square = all.stride_square.max(moved.stride_square);
        all.damping_work += moved.damping_work;
    }
    all
}

/// The rows of a batch.
#[inline(always)]
fn rows_of<const N: usize>(numbers: &[f64], batch: usize) -> &Rows<N> {
    let (rows, _) = numbers.as_chunks::<N>();
    let (batches, _) = rows.as_chunks::<BATCH>();
    &batches[batch]
}

/// As [`rows_of`], to be changed.
#[inline(always)]
fn rows_to_change<const N: usize>(numbers: &mut [f64], batch: usize) -> &mut Rows<N> {
    let (rows, _) = numbers.as_chunks_mut::<N>();
    let (batches, _) = rows.as_chunks_mut::<BATCH>();
    &mut batches[batch]
}

#[inline(always)]
fn records_to_columns<U: SimdLevel>(unit: U, rows: &Rows<RECORD>, columns: &mut Columns<RECORD>) {
    let (groups, _) = rows.as_chunks::<LANES>();
    for (group, records) in groups.iter().enumerate() {
        let numbers = unit.to_lanes(records.each_ref());
        for (column, numbers) in columns.iter_mut().zip(&numbers) {
            column[group * LANES..][..LANES].copy_from_slice(numbers);
        }
    }
}

#[inline(always)]
fn columns_to_records<U: SimdLevel>(unit: U, columns: &Columns<RECORD>, rows: &mut Rows<RECORD>) {
    let (groups, _) = rows.as_chunks_mut::<LANES>();
    for (group, records) in groups.iter_mut().enumerate() {
        let mut numbers = [[0.0; LANES]; RECORD];
        for (numbers, column) in numbers.iter_mut().zip(columns) {
            numbers.copy_from_slice(&column[group * LANES..][..LANES]);
        }
        *records = unit.out_of_lanes(&numbers);
    }
}

#[inline(always)]
fn vectors_to_columns(rows: &Rows<AXES>, columns: &mut Columns<AXES>) {
    for lane in 0..BATCH {
        for axis in 0..AXES {
            columns[axis][lane] = rows[lane][axis];
        }
    }
}

#[inline(always)]
fn columns_to_vectors(columns: &Columns<AXES>, rows: &mut Rows<AXES>) {
    // Written as a whole: the compiler does not know that rows and columns are apart in memory.
    let mut all = [[0.0; AXES]; BATCH];
    for lane in 0..BATCH {
        all[lane] = [columns[0][lane], columns[1][lane], columns[2][lane]];
    }
    *rows = all;
}

/// The first three numbers of a lane.
#[inline(always)]
fn vector<const N: usize>(columns: &Columns<N>, lane: usize) -> Vector3<f64> {
    Vector3 {
        x: columns[0][lane],
        y: columns[1][lane],
        z: columns[2][lane],
    }
}

/// Replaces the first three numbers of a lane.
#[inline(always)]
fn put<const N: usize>(columns: &mut Columns<N>, lane: usize, vector: &Vector3<f64>) {
    columns[0][lane] = vector.x;
    columns[1][lane] = vector.y;
    columns[2][lane] = vector.z;
}
