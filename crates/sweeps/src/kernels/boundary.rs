//! Wall particles: their motion, and the fluid state extrapolated to them.

use super::{DONE, is_halted, raise};
use crate::bodies::angular_velocity_in_plane;
use crate::entries::{TILE, first_entry};
use crate::fluid::{BELOW_WALL, FluidKernelConfig, carried, fluid_before, is_outward, is_passing, outlet_velocity, viscous_velocity};
use crate::layout::{Record, last, load, record, xyz};
use crate::motion::StepParameters;
use crate::wall_pose::spin_of_wall;
use cubecl::prelude::*;
use seixo_laws::fluid::Smoother;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Moves each of `n` wall particles, whose indices are in `walls`, with its wall. Those in inlets and outlets are not moved, see
/// [`flow()`](crate::kernels::fluid::flow()). `start` holds three numbers for every particle, in the order of ids from 2³¹ on: its position at the
/// start of the motion of its wall. `poses` holds one pose for each of the `count_of_walls` walls, for every step since the last synchronization with
/// the host.
///
/// With `watch`, a particle that is too far from its position at the last list rebuild halts this step, not the next one: it has already moved.
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
    stepping: &StepParameters<C, R>,
    count_of_walls: u32,
    n: u32,
    parity: u32,
    #[comptime] sides: u32,
    #[comptime] watch: bool,
) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let i = walls[k] as usize;
        let wall = (kind[i] & BELOW_WALL) as usize;
        let mut is_carried = 0u32;
        if !is_passing(kind[i]) {
            is_carried = moves[wall];
        }
        if is_carried == 1u32 {
            let from = (id[i] & BELOW_WALL) as usize * 3usize;
            let first_pose = (flags[DONE] * count_of_walls) as usize;
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

/// Extrapolates the fluid to each of `n` wall particles, whose indices are in `walls`. `seen` gets their viscous velocity and pressure. If walls
/// move, `motion` and the accelerations in `half_velocity` are read. `slips` holds for every wall whether fluid slips along it. For `at_rest` and
/// `poses` see [`place_boundary()`]. `body` holds the indices of the bodies of body boundaries, which are numbered after walls, and `spin` holds
/// angular velocities of bodies. If it `leads`, particles in outlets get new velocities by [`outlet_velocity()`], with this `pace` and the normals in
/// `half_velocity`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn wall_pressures<R: Real, C: Coordinate<R>>(
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
    stepping: &StepParameters<C, R>,
    pace: R,
    count_of_walls: u32,
    n: u32,
    parity: u32,
    #[comptime] plan: FluidKernelConfig,
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
            let mut angular_velocity = Vector3::<C>::zero();
            if comptime!(plan.moving) {
                if sticks {
                    if wall < count_of_walls as usize {
                        let first_pose = (flags[DONE] * count_of_walls) as usize;
                        angular_velocity = spin_of_wall::<C>(wall, at_rest, poses, first_pose, has_poses);
                    } else if body[wall - count_of_walls as usize] != 0xffff_ffffu32 {
                        let body_index = body[wall - count_of_walls as usize] as usize;
                        angular_velocity = angular_velocity_in_plane::<C>(&load::<C>(spin, body_index * 4usize), across);
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
                &near_vector::<C, R>(&angular_velocity),
                smoother,
                &stepping.sides,
                TILE,
                plan,
            );
            // A particle of an open boundary is fluid, and its viscous velocity is its own. In an outlet it keeps its pressure.
            let mut velocity = own.plus(&Vector3::<R>::zero());
            let mut pressure = before.pressure;
            if !is_passing(kind[i]) {
                velocity = viscous_velocity::<R>(&own, &before.velocity, !sticks);
            }
            if is_outward(kind[i]) {
                pressure = flow[i * 4usize + 3usize];
                if comptime!(leads) {
                    let normal = near_vector::<C, R>(&xyz::<C>(half_velocity[i]));
                    velocity = outlet_velocity::<R>(&own, &before, &normal, pace);
                    motion[i] = record::<R>(&velocity, R::new(0.0));
                }
            }
            seen[i] = record::<R>(&velocity, pressure);
        }
    }
}
