//! How records lie in memory.
//!
//! Every field of a grain is a record of [`RECORD`] numbers, so that a grain's record is one aligned load:
//! `position` = x y z radius, `velocity` = x y z mass, `spin` = angular velocity x y z and padding,
//! `force` = x y z and the number of touches, `torque` = x y z and padding. A contact's `history` = tangential spring force x y z and contact radius.

use cubecl::prelude::*;
use seixo_laws::contact::Coefficients;
use seixo_laws::{Real, Vector3};

/// Numbers per record.
pub const RECORD: usize = 4;

/// Numbers per wall element: nine that say where it is, its kind – of which these are told by [`TRIANGLE`] and its like –, its wall, padding.
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
    let at = row * 8usize;
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
    let mut record = Record::<R>::empty();
    record.insert(0usize, v.x);
    record.insert(1usize, v.y);
    record.insert(2usize, v.z);
    record.insert(3usize, last);
    record
}
