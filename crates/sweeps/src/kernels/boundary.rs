//! Particles of walls: where they are, and what fluid sees in them.

use super::{is_halted, raise};
use crate::bodies::turning_in_plane;
use crate::entries::first_entry;
use crate::fluid::{FlowPlan, carried, drag_velocity, fluid_before, is_outward, is_passing, led_on};
use crate::motion::Stepping;
use crate::pose::spin_of_wall;
use crate::views::{Record, last, load, record, xyz};
use cubecl::prelude::*;
use seixo_laws::fluid::Smoother;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Puts each of `n` particles of walls, whose places are in `walls`, where its wall has it, if that moves; those in inlets and outlets stay, see
/// [`flow()`](crate::kernels::flow::flow()). `start` holds three numbers for every particle, in the order of ids from 2³¹ on: where it is when the motion of its wall begins. `poses`
/// holds one pose per wall, of which there are `count_of_walls`, for every step from the last look of the host on.
///
/// With `watch`, a particle that is too far from where it is listed halts this step and not the next one: it is here already.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn place_boundary<R: Real, C: Coordinate<R>>(
    walls: &[u32],
    id: &[u32],
    kind: &[u32],
    moves: &[u32],
    start: &[C],
    at_rest: &[C],
    poses: &[C],
    servos: &[C],
    reference: &[Record<C>],
    position: &mut [Record<C>],
    motion: &mut [Record<R>],
    half_velocity: &mut [Record<C>],
    flags: &mut [u32],
    stepping: &Stepping<C, R>,
    count_of_walls: u32,
    n: u32,
    parity: u32,
    #[comptime] sides: u32,
    #[comptime] watch: bool,
) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let i = walls[k] as usize;
        let wall = (kind[i] & 0x7fff_ffffu32) as usize;
        let mut is_carried = 0u32;
        if !is_passing(kind[i]) {
            is_carried = moves[wall];
        }
        if is_carried == 1u32 {
            let from = (id[i] & 0x7fff_ffffu32) as usize * 3usize;
            let first_pose = (flags[10] * count_of_walls) as usize;
            let now = carried::<C, R>(
                wall,
                &load::<C>(start, from),
                at_rest,
                poses,
                first_pose,
                servos,
                &xyz::<C>(reference[i]),
                stepping,
                sides,
            );
            let before = position[i];
            let half = half_velocity[i];
            position[i] = record::<C>(&now.position, last::<C>(before));
            motion[i] = record::<R>(&near_vector::<C, R>(&now.velocity), R::new(0.0));
            half_velocity[i] = record::<C>(&now.acceleration, last::<C>(half));
            if comptime!(watch) {
                raise(flags, 1u32 - parity, now.flags);
            }
        }
    }
}

/// Finds what the fluid before each of `n` particles of walls, whose places are in `walls`, is like; where walls move, `motion` and the accelerations
/// in `half_velocity` are read: `seen` gets the velocity and the pressure that fluid sees in the wall. `slips` says of every wall whether fluid slips
/// along it. For `at_rest` and `poses` see [`place_boundary()`]; `body` tells where the bodies of hulls are, which are numbered behind walls, in their
/// table, and `spin` how they turn. If it `leads`, particles in outlets get new velocities, with this `pace` and the normals that stand in `half_velocity`, see [`led_on()`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn press_walls<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    walls: &[u32],
    kind: &[u32],
    slips: &[u32],
    at_rest: &[C],
    poses: &[C],
    body: &[u32],
    spin: &[C],
    media: &[R],
    position: &[C],
    flow: &[R],
    motion: &mut [Record<R>],
    half_velocity: &[Record<C>],
    seen: &mut [Record<R>],
    flags: &mut [u32],
    smoother: &Smoother<R>,
    stepping: &Stepping<C, R>,
    pace: R,
    count_of_walls: u32,
    n: u32,
    parity: u32,
    #[comptime] plan: FlowPlan,
    #[comptime] has_poses: bool,
    #[comptime] across: u32,
    #[comptime] leads: bool,
) {
    let k = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if k < n as usize {
            let i = walls[k] as usize;
            let mut own = Vector3::<R>::zero();
            let mut pull = stepping.gravity.plus(&Vector3::<R>::zero());
            if comptime!(plan.moving) {
                own = xyz::<R>(motion[i]);
                pull = stepping.gravity.minus(&near_vector::<C, R>(&xyz::<C>(half_velocity[i])));
            }
            let wall = (kind[i] & 0x1fff_ffffu32) as usize;
            let mut sticks = false;
            if !is_passing(kind[i]) {
                sticks = slips[wall] == 0u32;
            }
            let mut turns = Vector3::<C>::zero();
            if comptime!(plan.moving) {
                if sticks {
                    if wall < count_of_walls as usize {
                        let first_pose = (flags[10] * count_of_walls) as usize;
                        turns = spin_of_wall::<C>(wall, at_rest, poses, first_pose, has_poses);
                    } else if body[wall - count_of_walls as usize] != 0xffff_ffffu32 {
                        let seat = body[wall - count_of_walls as usize] as usize;
                        turns = turning_in_plane::<C>(&load::<C>(spin, seat * 4usize), across);
                    }
                }
            }
            let before = fluid_before::<C, R>(
                i,
                first_entry(i, tile_first),
                count[i],
                list,
                position,
                flow,
                kind,
                media,
                &pull,
                &near_vector::<C, R>(&turns),
                smoother,
                &stepping.sides,
                32usize,
                plan,
            );
            // What passes is fluid, and flows as it moves; beyond an outlet is the pressure that it has there.
            let mut velocity = own.plus(&Vector3::<R>::zero());
            let mut pressure = before.pressure;
            if !is_passing(kind[i]) {
                velocity = drag_velocity::<R>(&own, &before.velocity, !sticks);
            }
            if is_outward(kind[i]) {
                pressure = flow[i * 4usize + 3usize];
                if comptime!(leads) {
                    let normal = near_vector::<C, R>(&xyz::<C>(half_velocity[i]));
                    velocity = led_on::<R>(&own, &before, &normal, pace);
                    motion[i] = record::<R>(&velocity, R::new(0.0));
                }
            }
            seen[i] = record::<R>(&velocity, pressure);
        }
    }
}
