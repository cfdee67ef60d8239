//! How records lie in memory.
//!
//! Every field of a grain is a record of [`RECORD`] numbers, so that a grain's record is one aligned load:
//! `position` = x y z radius, `velocity` = x y z mass, `spin` = angular velocity x y z and padding,
//! `force` = x y z and the number of touches, `torque` = x y z and padding. A contact's `history` = tangential spring force x y z and contact
//! radius; where contacts are compound, also torque against rolling x y z and against twisting, largest overlap, whether they hold, padding.

use cubecl::prelude::*;
use seixo_laws::contact::{Coefficients, Imprint, Memory, Supplement};
use seixo_laws::{Real, Vector3};

/// Numbers per record.
pub const RECORD: usize = 4;

/// Numbers that a compound contact remembers, with padding.
pub const COMPOUND: usize = 12;

/// Numbers that a contact remembers on the host.
pub fn remembered(is_compound: bool) -> usize {
    if is_compound { COMPOUND } else { RECORD }
}

/// Numbers per wall element: nine that say where it is, its kind, see [`TRIANGLE`] and its like, its wall, and the element that it is an image of
/// beyond a periodic side, or itself.
pub const ELEMENT: usize = 12;

/// Kind of element: a triangle by its three corners.
pub const TRIANGLE: f32 = 0.0;

/// Kind of element: an infinite plane by a point and its unit normal, touched from the side that the normal points to.
pub const PLANE: f32 = 1.0;

/// Kind of element: mantle of a cylinder or cone, or disk, by a point of the axis, the unit axis, and height and radii as
/// [`seixo_laws::wall::nearest_on_frustum()`] takes them.
pub const FRUSTUM: f32 = 2.0;

/// Kind of element: a sphere by its center, three zeros and its radius.
pub const SPHERE: f32 = 3.0;

/// Numbers per wall: a point of its axis, its velocity, its angular velocity, its material, whether its surface runs, padding; velocity and
/// angular velocity of the surface beside those of the wall, a point of the axis of the latter, padding.
pub const WALL: usize = 24;

/// Numbers per touch of a wall element: nearest point, its distance, force on the grain, padding.
pub const TOUCH: usize = 8;

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

/// As [`load()`], from numbers that the sweep also writes.
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
    // The last number first: one check of the bounds serves all.
    let tangential_law = table[at + 6usize];
    Coefficients::<R> {
        normal_stiffness: table[at],
        normal_damping: table[at + 1usize],
        tangential_stiffness: table[at + 2usize],
        tangential_damping: table[at + 3usize],
        friction: table[at + 4usize],
        normal_law: table[at + 5usize],
        tangential_law,
    }
}

/// The supplement of row `row` of the interaction table.
#[cube]
#[inline(always)]
pub fn supplement<R: Real>(table: &[R], row: usize) -> Supplement<R> {
    let at = row * 20usize + 8usize;
    let conductivity = table[at + 10usize];
    Supplement::<R> {
        unloading_stiffness: table[at],
        cohesion_law: table[at + 1usize],
        adhesion: table[at + 2usize],
        bridge_span: table[at + 3usize],
        bridge_length: table[at + 4usize],
        rolling_law: table[at + 5usize],
        rolling_friction: table[at + 6usize],
        rolling_damping: table[at + 7usize],
        twisting_law: table[at + 8usize],
        twisting_friction: table[at + 9usize],
        conductivity,
    }
}

/// What a contact remembers of its tangential spring, from its history.
#[cube]
#[inline(always)]
pub fn memory_at<R: Real>(history: &[R], at: usize) -> Memory<R> {
    Memory::<R> {
        force: load::<R>(history, at),
        contact_radius: history[at + 3usize],
    }
}

/// What a compound contact remembers beside it.
#[cube]
#[inline(always)]
pub fn imprint_at<R: Real>(history: &[R], at: usize) -> Imprint<R> {
    Imprint::<R> {
        rolling: load::<R>(history, at + 4usize),
        twisting: history[at + 7usize],
        largest_overlap: history[at + 8usize],
        holds: history[at + 9usize],
    }
}

/// As [`imprint_at()`], from numbers that the sweep also writes.
#[cube]
#[inline(always)]
pub fn recalled_imprint<R: Real>(history: &mut [R], at: usize) -> Imprint<R> {
    let holds = history[at + 9usize];
    Imprint::<R> {
        rolling: recall::<R>(history, at + 4usize),
        twisting: history[at + 7usize],
        largest_overlap: history[at + 8usize],
        holds,
    }
}

/// Writes what a compound contact remembers from now on.
#[cube]
#[inline(always)]
pub fn store_imprint<R: Real>(history: &mut [R], at: usize, imprint: &Imprint<R>) {
    store::<R>(history, at + 4usize, &imprint.rolling);
    history[at + 7usize] = imprint.twisting;
    history[at + 8usize] = imprint.largest_overlap;
    history[at + 9usize] = imprint.holds;
}

/// 1, or −1 where number c of what the first of two grains remembers is the opposite of what the second does: forces and torques turn
/// around, radii, overlaps and the twist about the normal do not.
#[cube]
#[inline(always)]
pub fn sign_of_second<R: Real>(#[comptime] c: usize) -> R {
    let mut sign = R::new(1.0);
    if comptime!(c != 3 && c < 7) {
        sign = R::new(-1.0);
    }
    sign
}

/// A record of four numbers as one load of a GPU. Natively such a vector holds a single number, so records appear in kernels only.
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
