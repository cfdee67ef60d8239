//! Memory layout of records.
//!
//! Every field of a grain is a record of [`RECORD`] numbers, so that it is read by one aligned load:
//!
//! - `position`: x y z and radius;
//! - `velocity`: x y z and mass;
//! - `spin`: angular velocity x y z and padding;
//! - `force`: x y z and number of contacts;
//! - `torque`: x y z and padding;
//! - `history` of a contact: tangential spring force x y z and contact radius. For extended contacts also rolling torque x y z, twisting torque,
//!   largest overlap, whether the contact holds, and padding.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::layout::{RECORD, load, store};
//! // The force on the second of two grains.
//! let push = Vector3 { x: 1.0, y: 2.0, z: 3.0 };
//! let mut force = [0.0; 2 * RECORD];
//! store::<f64>(&mut force, RECORD, &push);
//! assert_eq!(force, [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0]);
//! assert_eq!(load::<f64>(&force, RECORD), push);
//! ```

use cubecl::prelude::*;
use seixo_laws::contact::{Coefficients, ContactHistory, ExtendedCoefficients, ExtendedHistory};
use seixo_laws::{Coordinate, Real, Vector3, rest_of, with_rest};

/// Numbers per record.
pub const RECORD: usize = 4;

/// Bits of a word of memory.
pub const BITS: u32 = u32::BITS;

/// Numbers of the history of an extended contact, including padding.
pub const EXTENDED_HISTORY_STRIDE: usize = 12;

/// Place of the largest overlap in the history of an extended contact.
pub const LARGEST_OVERLAP: usize = 8;

/// Place of the number that says whether an extended contact holds, in its history.
pub const HOLDS: usize = 9;

/// Numbers of a contact history on the host.
pub fn history_stride(is_extended: bool) -> usize {
    if is_extended { EXTENDED_HISTORY_STRIDE } else { RECORD }
}

/// Numbers per wall element: nine for its geometry, its kind (see [`TRIANGLE`] and the constants after it), its wall, and the element of which it is
/// an image beyond a periodic side, or itself.
pub const ELEMENT: usize = 12;

/// Kind of element: a triangle, given by its three corners.
pub const TRIANGLE: f32 = 0.0;

/// Kind of element: an infinite plane, given by a point and its unit normal. Contacts are on the side of the normal.
pub const PLANE: f32 = 1.0;

/// Kind of element: lateral surface of a cylinder or cone, or disk, given by a point of the axis, the unit axis, and height and radii as in
/// [`seixo_laws::wall::nearest_on_frustum()`].
pub const FRUSTUM: f32 = 2.0;

/// Kind of element: a sphere, given by its center, three zeros and its radius.
pub const SPHERE: f32 = 3.0;

/// Kind of container element, see [`crate::muller::CONTAINER_ELEMENT`]: a mesh by its signed distances on a grid, given by the corner of the grid with
/// the lowest indices and its first two unit axes.
pub const DISTANCE_GRID: f32 = 4.0;

/// Numbers per wall: a point of its axis, its velocity, its angular velocity, its material, whether its surface moves, padding; velocity and angular
/// velocity of the surface relative to the wall, a point of the axis of the latter, padding.
pub const WALL: usize = 24;

/// Numbers per wall contact: nearest point, its distance, force on the grain, padding.
pub const WALL_CONTACT: usize = 8;

/// The first three numbers of the record that starts at `at`.
#[cube]
#[inline(always)]
pub fn load<R: Real>(numbers: &[R], at: usize) -> Vector3<R> {
    let z = numbers[at + 2usize];
    Vector3::<R> {
        x: numbers[at],
        y: numbers[at + 1usize],
        z,
    }
}

/// As [`load()`], from a buffer that the sweep also writes.
#[cube]
#[inline(always)]
pub fn recall<R: Real>(numbers: &mut [R], at: usize) -> Vector3<R> {
    let z = numbers[at + 2usize];
    Vector3::<R> {
        x: numbers[at],
        y: numbers[at + 1usize],
        z,
    }
}

/// Overwrites three numbers.
#[cube]
#[inline(always)]
pub fn store<R: Real>(numbers: &mut [R], at: usize, value: &Vector3<R>) {
    numbers[at] = value.x;
    numbers[at + 1usize] = value.y;
    numbers[at + 2usize] = value.z;
}

/// Adds to three numbers.
#[cube]
#[inline(always)]
pub fn add<R: Real>(numbers: &mut [R], at: usize, value: &Vector3<R>) {
    numbers[at] += value.x;
    numbers[at + 1usize] += value.y;
    numbers[at + 2usize] += value.z;
}

/// The coefficients of row `row` of the interaction table.
#[cube]
#[inline(always)]
pub fn coefficients<R: Real>(table: &[R], row: usize) -> Coefficients<R> {
    let at = row * 20usize;
    // The last number is read first, so that one bounds check serves all.
    let tangential_rate = table[at + 8usize];
    Coefficients::<R> {
        normal_stiffness: table[at],
        normal_damping: table[at + 1usize],
        tangential_stiffness: table[at + 2usize],
        tangential_damping: table[at + 3usize],
        friction: table[at + 4usize],
        normal_law: table[at + 5usize],
        tangential_law: table[at + 6usize],
        normal_rate: table[at + 7usize],
        tangential_rate,
    }
}

/// The extended coefficients of row `row` of the interaction table.
#[cube]
#[inline(always)]
pub fn extended_coefficients<R: Real>(table: &[R], row: usize) -> ExtendedCoefficients<R> {
    let at = row * 20usize + 9usize;
    // The last number is read first, so that one bounds check serves all.
    let twisting_friction = table[at + 9usize];
    ExtendedCoefficients::<R> {
        unloading_stiffness: table[at],
        cohesion_law: table[at + 1usize],
        adhesion: table[at + 2usize],
        bridge_span: table[at + 3usize],
        bridge_length: table[at + 4usize],
        rolling_law: table[at + 5usize],
        rolling_friction: table[at + 6usize],
        rolling_damping: table[at + 7usize],
        twisting_law: table[at + 8usize],
        twisting_friction,
    }
}

/// Tangential spring and contact radius from a contact history.
#[cube]
#[inline(always)]
pub fn contact_history_at<R: Real>(history: &[R], at: usize) -> ContactHistory<R> {
    ContactHistory::<R> {
        force: load::<R>(history, at),
        contact_radius: history[at + 3usize],
    }
}

/// The rest of the history of an extended contact.
#[cube]
#[inline(always)]
pub fn extended_history_at<R: Real>(history: &[R], at: usize) -> ExtendedHistory<R> {
    ExtendedHistory::<R> {
        rolling: load::<R>(history, at + 4usize),
        twisting: history[at + 7usize],
        largest_overlap: history[at + LARGEST_OVERLAP],
        holds: history[at + HOLDS],
    }
}

/// As [`extended_history_at()`], from a buffer that the sweep also writes.
#[cube]
#[inline(always)]
pub fn stored_extended_history<R: Real>(history: &mut [R], at: usize) -> ExtendedHistory<R> {
    let holds = history[at + HOLDS];
    ExtendedHistory::<R> {
        rolling: recall::<R>(history, at + 4usize),
        twisting: history[at + 7usize],
        largest_overlap: history[at + LARGEST_OVERLAP],
        holds,
    }
}

/// Stores the history of an extended contact beside its tangential spring.
#[cube]
#[inline(always)]
pub fn store_extended_history<R: Real>(history: &mut [R], at: usize, extended_history: &ExtendedHistory<R>) {
    store::<R>(history, at + 4usize, &extended_history.rolling);
    history[at + 7usize] = extended_history.twisting;
    history[at + LARGEST_OVERLAP] = extended_history.largest_overlap;
    history[at + HOLDS] = extended_history.holds;
}

/// Factor from the history of the first grain of a contact to that of the second, for number c: −1 for forces and torques, 1 for radii, overlaps and
/// the twist about the normal.
#[cube]
#[inline(always)]
pub fn sign_of_second<R: Real>(#[comptime] c: usize) -> R {
    let mut sign = R::new(1.0);
    if comptime!(c != 3 && c < 7) {
        sign = R::new(-1.0);
    }
    sign
}

/// A record of four numbers as one load of a GPU. Natively such a vector holds one number, so records appear in kernels only.
pub type Record<R> = Vector<R, Const<4>>;

/// The first three numbers of a record.
#[cube]
pub fn xyz<R: Real>(record: Record<R>) -> Vector3<R> {
    Vector3::<R> {
        x: record.extract(0usize),
        y: record.extract(1usize),
        z: record.extract(2usize),
    }
}

/// The last number of a record.
#[cube]
pub fn last<R: Real>(record: Record<R>) -> R {
    record.extract(3usize)
}

/// A record of a vector and one more number.
#[cube]
pub fn record<R: Real>(v: &Vector3<R>, last: R) -> Record<R> {
    four_numbers::<R>(v.x, v.y, v.z, last)
}

/// A velocity or angular velocity between steps, from the record that laws read and from what is kept beside it, see [`kept_beside()`].
#[cube]
pub fn between_steps<C: Coordinate<R>, R: Real>(read: Record<R>, kept: Record<R>) -> Vector3<C> {
    with_rest::<C, R>(&xyz::<R>(read), &xyz::<R>(kept))
}

/// What a grain keeps of a velocity or angular velocity between steps beside the vector that laws read, with one more number. If laws have half of the
/// digits, this is the difference, see [`Coordinate::rest()`]: half of the bytes. Who overwrites one of the two vectors must overwrite both.
#[cube]
pub fn kept_beside<C: Coordinate<R>, R: Real>(half: &Vector3<C>, read: &Vector3<R>, last: R) -> Record<R> {
    record::<R>(&rest_of::<C, R>(half, read), last)
}

/// A record of four numbers.
#[cube]
pub fn four_numbers<R: Real>(first: R, second: R, third: R, fourth: R) -> Record<R> {
    let mut record = Record::<R>::empty();
    record.insert(0usize, first);
    record.insert(1usize, second);
    record.insert(2usize, third);
    record.insert(3usize, fourth);
    record
}
