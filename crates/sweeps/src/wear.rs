//! Wear of walls: the work of sliding of every wall contact.
//!
//! ```
//! use seixo_sweeps::layout::{ELEMENT, PLANE, WALL};
//! use seixo_sweeps::wear::wear_of;
//! // A grain that presses on a plane with 5 N slides by 1 m: a work of 5 J.
//! let (mut plane, wall) = ([0.0; ELEMENT], [0.0; WALL]);
//! (plane[5], plane[9]) = (1.0, f64::from(PLANE));
//! let contact = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 5.0, 1.0];
//! let (position, velocity, mut work) = ([0.0, 0.0, 1.0, 1.0], [2.0, 0.0, 0.0, 1.0], [0.0]);
//! wear_of::<f64, f64>(0, 0, 1, &[0], 0, &plane, &wall, &contact, &mut work, &position, &velocity, &[], 0.5, false);
//! assert_eq!(work, [5.0]);
//! ```

use crate::layout::load;
use crate::wall::{contact_velocity, normal_at, velocity_of_surface};
use cubecl::prelude::*;
use seixo_laws::wear::sliding_power;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Adds the sliding work of grain i in a step to each entry of its row `first..end` \[J\].
///
/// `wall_contacts` is the result of [`crate::wall::walls_of()`]; it and `work` begin at entry `list_first`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn wear_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    end: usize,
    list: &[u32],
    list_first: usize,
    elements: &[C],
    walls: &[C],
    wall_contacts: &[C],
    work: &mut [C],
    position: &[C],
    velocity: &[R],
    spin: &[R],
    dt: R,
    #[comptime] frictional: bool,
) {
    let x = load::<C>(position, i * 4usize);
    let v = load::<R>(velocity, i * 4usize);
    let mut w_i = Vector3::<R>::zero();
    if frictional {
        w_i = load::<R>(spin, i * 4usize);
    }
    for k in first..end {
        let at = (k - list_first) * 8usize;
        if wall_contacts[at + 7usize] > C::new(0.0) {
            let e = list[k] as usize * 12usize;
            let w = C::whole(elements[e + 10usize]) as usize * 24usize;
            let point = load::<C>(wall_contacts, at);
            let distance = C::near(wall_contacts[at + 3usize]);
            let force = near_vector::<C, R>(&load::<C>(wall_contacts, at + 4usize));
            let normal = normal_at::<C, R>(elements, e, &point, &x, distance);
            let relative = v.minus(&velocity_of_surface::<C, R>(walls, w, &point, &normal));
            let sliding = contact_velocity::<R>(&relative, &w_i, distance, &normal);
            work[k - list_first] += C::wide(sliding_power::<R>(&force, &sliding, &normal) * dt);
        }
    }
}
