//! Normal contacts of smooth grains in rows of neighbors, as stored on the CPU: for search structures that only build lists.
//!
//! ```
//! use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};
//! use seixo_sweeps::rows::normal_contacts_in_row;
//! // Two grains overlap, with a linear spring of 1000 N/m. Each has one contact, and their forces are opposite.
//! let (position, velocity) = ([0.0, 0.0, 0.0, 1.0, 1.9, 0.0, 0.0, 1.0], [1.0; 8]);
//! let table: [f64; 20] = std::array::from_fn(|k| if k == 0 { 1e3 } else { 0.0 });
//! let (neighbors, material, sides) = ([1, 0], [0, 0], PeriodicBoundaries::open());
//! let mut force = [0.0; 8];
//! for i in 0..2 {
//!     normal_contacts_in_row::<f64, f64>(
//!         i, i, i, i + 1, &neighbors, &position, &velocity, &material, 1, &table, 0.5, &mut force, &sides, OPEN);
//! }
//! assert!(force[0] < 0.0 && force[4] == -force[0] && force[3] == 1.0);
//! ```

use crate::contact::PowerSums;
use crate::grain::{Grain, Neighbor, no_load};
use crate::layout::{add, coefficients, load};
use crate::periodic::PeriodicBoundaries;
use crate::tiles::push_on;
use cubecl::prelude::*;
use seixo_laws::contact::ContactHistory;
use seixo_laws::{Coordinate, Real, Vector3};

/// Normal forces between grain i and its neighbors, entries `first..end` of `neighbors`: no history, no rotation. Every grain lists all its
/// neighbors. Writes slot `slot` of `force`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn normal_contacts_in_row<C: Coordinate<R>, R: Real>(
    i: usize,
    slot: usize,
    first: usize,
    end: usize,
    neighbors: &[u32],
    position: &[C],
    velocity: &[R],
    material: &[u32],
    materials: u32,
    table: &[R],
    overlap_limit: R,
    force: &mut [R],
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] kind: u32,
) -> PowerSums<R> {
    let zero = R::new(0.0);
    let grain = Grain::<C, R> {
        position: load::<C>(position, i * 4usize),
        reach: position[i * 4usize + 3usize],
        radius: C::near(position[i * 4usize + 3usize]),
        velocity: load::<R>(velocity, i * 4usize),
        mass: velocity[i * 4usize + 3usize],
        spin: Vector3::<R>::zero(),
    };
    let row = material[i] * materials;
    let mut all = no_load::<R>();
    for k in first..end {
        let place = neighbors[k];
        let j = place as usize;
        let neighbor = Neighbor::<C, R> {
            place,
            in_contact: 0u32,
            position: load::<C>(position, j * 4usize),
            reach: position[j * 4usize + 3usize],
            velocity: load::<R>(velocity, j * 4usize),
            mass: velocity[j * 4usize + 3usize],
            spin: Vector3::<R>::zero(),
            stored_history: ContactHistory::<R> {
                force: Vector3::<R>::zero(),
                contact_radius: zero,
            },
        };
        let pair = coefficients::<R>(table, (row + material[j]) as usize);
        push_on::<C, R>(&grain, &neighbor, &pair, sides, overlap_limit, &mut all, kind);
    }
    add::<R>(force, slot * 4usize, &all.force);
    force[slot * 4usize + 3usize] += all.contacts;
    PowerSums::<R> {
        normal_power: all.normal_power,
        tangential_power: zero,
        damping_power: zero,
        wall_power: all.side_power,
        excess: all.excess,
        across: all.across,
    }
}
