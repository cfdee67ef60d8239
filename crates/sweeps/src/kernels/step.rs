//! The passes of a step.

use super::{book, hand_on, is_halted, raise};
use crate::motion::{Stepping, acceleration, angular_acceleration, arrive, kicked};
use crate::tiles::{Grain, Kind, contacts_of, no_load};
use crate::views::{Record, last, load, record, xyz};
use crate::wall::walls_of;
use cubecl::prelude::*;
use seixo_laws::wall::rotated;
use seixo_laws::{Coordinate, Real, Vector3};

/// What one launch of [`grains()`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// What kind of contacts there are.
    pub kind: Kind,
    /// Whether forces are found; else those of the force and torque buffers stand.
    pub touch: bool,
    /// Whether grains move on; else forces and torques are stored.
    pub advance: bool,
    /// Whether some grains are near walls, whose forces the force and torque buffers hold.
    pub walls: bool,
}

/// Forces of contacts at this step, and the grains on to the next, in one go: nothing between the two goes through memory.
///
/// Positions, velocities and spins are read from one set of buffers, which no unit writes, and written to another.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn grains<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &mut [u32],
    history: &mut [R],
    material: &[u32],
    table: &[R],
    wall_row: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    stepping: &Stepping<C, R>,
    overlap_limit: R,
    n: u32,
    materials: u32,
    slot: u32,
    #[comptime] plan: Plan,
) {
    let i = ABSOLUTE_POS;
    if is_halted(flags, slot) {
        hand_on(flags, slot);
    } else {
        let mut took = Record::<R>::new(R::new(0.0));
        if i < n as usize {
            let here = position[i];
            let moving = velocity[i];
            let mut turning = Vector3::<R>::zero();
            if plan.kind.frictional {
                turning = xyz::<R>(spin[i]);
            }
            let grain = Grain::<C, R> {
                position: xyz::<C>(here),
                reach: last::<C>(here),
                radius: C::near(last::<C>(here)),
                velocity: xyz::<R>(moving),
                mass: last::<R>(moving),
                spin: turning,
            };
            let mut load = no_load::<R>();
            let mut raised = 0u32;
            if plan.touch {
                load = contacts_of::<C, R>(
                    i,
                    &grain,
                    count[i],
                    tile_first,
                    list,
                    history,
                    position,
                    velocity,
                    spin,
                    material,
                    materials,
                    table,
                    stepping.dt,
                    overlap_limit,
                    plan.kind,
                );
                if load.excess > R::new(0.0) {
                    raised |= 16u32;
                }
                if plan.walls {
                    if wall_row[i] < wall_row[i + 1usize] {
                        load.force = load.force.plus(&xyz::<R>(force[i]));
                        load.touches += last::<R>(force[i]);
                        if plan.kind.frictional {
                            load.torque = load.torque.plus(&xyz::<R>(torque[i]));
                        }
                    }
                }
                took.insert(0usize, load.normal_power);
                took.insert(1usize, load.tangential_power);
                took.insert(2usize, load.damping_power);
            } else {
                load.force = xyz::<R>(force[i]);
                if plan.kind.frictional {
                    load.torque = xyz::<R>(torque[i]);
                }
            }
            if plan.advance {
                let acceleration = acceleration::<C, R>(&grain.velocity, grain.mass, &load.force, stepping);
                let onward = kicked::<R>(&xyz::<R>(half_velocity[i]), &acceleration, stepping.dt);
                let mut damping_work = onward.damping_work;
                let arrival = arrive::<C, R>(&grain.position, &onward.half, &xyz::<C>(reference[i]), stepping);
                raised |= arrival.flags;
                half_velocity[i] = record::<R>(&onward.half, R::new(0.0));
                new_velocity[i] = record::<R>(&onward.whole, grain.mass);
                new_position[i] = record::<C>(&arrival.position, last::<C>(here));
                if plan.kind.frictional {
                    let acceleration = angular_acceleration::<C, R>(&grain.spin, grain.mass, grain.radius, &load.torque, stepping);
                    let onward = kicked::<R>(&xyz::<R>(half_spin[i]), &acceleration, stepping.dt);
                    half_spin[i] = record::<R>(&onward.half, R::new(0.0));
                    new_spin[i] = record::<R>(&onward.whole, R::new(0.0));
                    damping_work += onward.damping_work;
                }
                took.insert(3usize, damping_work);
            } else {
                force[i] = record::<R>(&load.force, load.touches);
                if plan.kind.frictional {
                    torque[i] = record::<R>(&load.torque, R::new(0.0));
                }
            }
            raise(flags, slot, raised);
        }
        book::<C, R>(power, took);
    }
}

/// Forces of walls on the grains near them: they overwrite the force and torque of grains that have a row.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn walls<R: Real, C: Coordinate<R>>(
    row: &[u32],
    list: &[u32],
    elements: &[C],
    records: &[C],
    history: &mut [R],
    touches: &mut [C],
    position: &[C],
    velocity: &[R],
    spin: &[R],
    material: &[u32],
    table: &[R],
    force: &mut [R],
    torque: &mut [R],
    flags: &mut [u32],
    power: &mut [Record<C>],
    dt: R,
    overlap_limit: R,
    n: u32,
    materials: u32,
    slot: u32,
    #[comptime] frictional: bool,
) {
    let i = ABSOLUTE_POS;
    if !is_halted(flags, slot) {
        let mut took = Record::<R>::new(R::new(0.0));
        if i < n as usize {
            let first = row[i] as usize;
            let end = row[i + 1usize] as usize;
            if first < end {
                #[unroll]
                for c in 0..4usize {
                    force[i * 4usize + c] = R::new(0.0);
                    if frictional {
                        torque[i * 4usize + c] = R::new(0.0);
                    }
                }
                let tally = walls_of::<C, R>(
                    i,
                    i,
                    first,
                    end,
                    list,
                    0usize,
                    elements,
                    records,
                    history,
                    touches,
                    position,
                    velocity,
                    spin,
                    material,
                    materials,
                    table,
                    force,
                    torque,
                    dt,
                    overlap_limit,
                    frictional,
                );
                took.insert(0usize, tally.normal_power);
                took.insert(1usize, tally.tangential_power);
                took.insert(2usize, tally.damping_power);
                took.insert(3usize, tally.wall_power);
                if tally.excess > R::new(0.0) {
                    raise(flags, slot, 16u32);
                }
            }
        }
        book::<C, R>(power, took);
    }
}

/// Numbers of a pose: the point of the axis now, the axis, cosine and sine of the angle turned, whether the wall is a plane, padding.
pub const POSE: usize = 12;

/// Puts the corners of the elements, a unit each, where the poses of their walls at this step have them. `poses` holds one pose per wall.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn place<C: Real>(start: &[C], poses: &[C], records: &mut [C], elements: &mut [C], through: &[C], first_pose: u32, n: u32) {
    let e = ABSOLUTE_POS;
    if e < n as usize {
        let at = e * 12usize;
        let wall = C::whole(start[at + 10usize]) as usize;
        let pose = (first_pose as usize + wall) * 12usize;
        let to = load::<C>(poses, pose);
        let axis = load::<C>(poses, pose + 3usize);
        let cos = poses[pose + 6usize];
        let sin = poses[pose + 7usize];
        let from = load::<C>(through, wall * 3usize);
        let is_plane = poses[pose + 8usize] > C::new(0.0);
        #[unroll]
        for corner in 0..3usize {
            let v = load::<C>(start, at + corner * 3usize);
            let mut now = rotated::<C>(&v.minus(&from), &axis, cos, sin).plus(&to);
            if corner == 1usize {
                if is_plane {
                    now = rotated::<C>(&v, &axis, cos, sin);
                }
            }
            elements[at + corner * 3usize] = now.x;
            elements[at + corner * 3usize + 1usize] = now.y;
            elements[at + corner * 3usize + 2usize] = now.z;
        }
        records[wall * 12usize] = to.x;
        records[wall * 12usize + 1usize] = to.y;
        records[wall * 12usize + 2usize] = to.z;
    }
}
