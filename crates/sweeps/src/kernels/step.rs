//! The passes of a step.

use super::bonds::{bonds_on, quaternion, record_of};
use super::{begins, book, book_and_note, is_halted, note, raise};
use crate::motion::{Stepping, acceleration, angular_acceleration, flags_of, kicked};
use crate::tiles::{Grain, Kind, Load, contacts_of, grain_of, no_load};
use crate::views::{Record, last, record, xyz};
use crate::wall::walls_of;
use cubecl::prelude::*;
use seixo_laws::motion::drift;
use seixo_laws::rotation::turned_by;
use seixo_laws::{Coordinate, Real, Vector3, between, near_vector};

/// What one launch of [`grains()`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// What kind of contacts there are.
    pub kind: Kind,
    /// Whether forces are found; else those of the force and torque buffers stand.
    pub touch: bool,
    /// Whether grains move on; else forces and torques are stored.
    pub advance: bool,
    /// Whether what contacts take is added up though grains do not move on here: another kernel of the step moves them. Else it is only noted.
    pub adds_up: bool,
    /// Whether there is local damping, whose work is booked at every step; needs cubes of [`super::UNITS`] units, as storing does.
    pub damped: bool,
    /// Whether some grains are near walls, whose forces the force and torque buffers hold.
    pub walls: bool,
    /// Whether bonds or loads were found before, so that these buffers hold something for every grain.
    pub outside: bool,
    /// Whether bonds left something for grains that is to be added up here.
    pub bonded: bool,
    /// Whether grains have orientations.
    pub turns: bool,
    /// Whether some grains do not move by themselves: rigid bodies carry them, or they are copies of those of other domains.
    pub carries: bool,
}

/// Forces of contacts at this step, and the grains on to the next, in one go: nothing between the two goes through memory.
///
/// Positions, velocities and spins are read from one set of buffers, which no unit writes, and written to another. The last numbers of
/// `half_velocity`, `half_spin` and `spin` add up the powers that normal damping, tangential forces and their damping take, until
/// [`crate::kernels::measure::collect()`] books them: the ledger costs a step neither memory traffic nor a wait of one unit for another.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn grains<R: Coordinate<R>, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &mut [u32],
    history: &mut [R],
    material: &[u32],
    member: &[u32],
    table: &[R],
    wall_row: &[u32],
    rows_of_bonds: &[u32],
    bonds: &[u32],
    pull: &[Record<R>],
    taken: &mut [C],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    half_velocity: &mut [Record<C>],
    half_spin: &mut [Record<C>],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    turn: &mut [Record<C>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    stepping: &Stepping<C, R>,
    overlap_limit: R,
    n: u32,
    materials: u32,
    parity: u32,
    #[comptime] plan: Plan,
) {
    let i = ABSOLUTE_POS;
    let mut took = Record::<R>::new(R::new(0.0));
    // What does not depend on the flag is read before it, so that one wait serves all.
    let own = min(i, n as usize - 1usize);
    let here = position[own];
    let moving = velocity[own];
    let mut turning = Record::<R>::new(R::new(0.0));
    if plan.kind.frictional {
        turning = spin[own];
    }
    let mut neighbors = 0u32;
    if plan.touch {
        neighbors = count[own];
    }
    let mut from = 0usize;
    let mut to = 0usize;
    if plan.bonded {
        from = rows_of_bonds[own * 2usize] as usize;
        to = rows_of_bonds[own * 2usize + 1usize] as usize;
    }
    let goes = begins(flags, parity, plan.advance);
    if goes && i < n as usize {
        let grain = grain_of::<C, R>(here, moving, turning);
        let mut load = no_load::<R>();
        let mut raised = 0u32;
        if plan.touch {
            load = contacts_of::<C, R>(
                i,
                &grain,
                neighbors,
                tile_first,
                list,
                history,
                position,
                velocity,
                spin,
                material,
                materials,
                table,
                &stepping.sides,
                stepping.dt,
                overlap_limit,
                plan.kind,
            );
            if load.excess > R::new(0.0) {
                raised |= 16u32;
            }
            if plan.bonded {
                // Added up as [`super::bonds::hold_grains()`] does where forces are looked at, so that looks change no digit.
                let all = bonds_on::<R>(from, to, bonds, pull);
                let mut outer = no_load::<R>();
                outer.force = all.force;
                outer.torque = all.torque;
                taken[i] += C::wide(all.drag);
                if plan.walls {
                    add_walls::<R>(i, wall_row, force, torque, &mut outer, plan.kind.frictional);
                }
                load.force = load.force.plus(&outer.force);
                load.torque = load.torque.plus(&outer.torque);
                load.touches += outer.touches;
            } else if plan.outside {
                add_pushes::<R>(i, force, torque, &mut load, plan.kind.frictional);
            } else if plan.walls {
                add_walls::<R>(i, wall_row, force, torque, &mut load, plan.kind.frictional);
            }
        } else {
            load.force = xyz::<R>(force[i]);
            if plan.kind.frictional {
                load.torque = xyz::<R>(torque[i]);
            }
        }
        if plan.advance {
            if plan.carries {
                if member[i] == 0xffff_ffffu32 {
                    let gone = go_on::<C, R>(
                        i,
                        &grain,
                        &load,
                        turning,
                        half_velocity,
                        half_spin,
                        reference,
                        new_position,
                        new_velocity,
                        new_spin,
                        stepping,
                        plan.kind.frictional,
                    );
                    raised |= gone.flags;
                    took.insert(3usize, gone.damping_work);
                    if plan.turns {
                        turn_with::<R, C>(i, half_spin, turn, stepping.dt);
                    }
                } else {
                    hold::<C, R>(
                        i,
                        &grain,
                        &load,
                        turning,
                        half_velocity,
                        half_spin,
                        force,
                        torque,
                        new_velocity,
                        new_spin,
                        plan.kind.frictional,
                    );
                }
            } else {
                let gone = go_on::<C, R>(
                    i,
                    &grain,
                    &load,
                    turning,
                    half_velocity,
                    half_spin,
                    reference,
                    new_position,
                    new_velocity,
                    new_spin,
                    stepping,
                    plan.kind.frictional,
                );
                raised |= gone.flags;
                if plan.turns {
                    turn_with::<R, C>(i, half_spin, turn, stepping.dt);
                }
                // Sides that slide and local damping are never met together: one number serves both.
                took.insert(3usize, gone.damping_work + load.side_power * stepping.dt);
            }
        } else {
            force[i] = record::<R>(&load.force, load.touches);
            if plan.kind.frictional {
                torque[i] = record::<R>(&load.torque, R::new(0.0));
            }
            took.insert(0usize, load.normal_power);
            took.insert(1usize, load.tangential_power);
            took.insert(2usize, load.damping_power);
            took.insert(3usize, load.side_power * stepping.dt);
        }
        raise(flags, parity, raised);
    }
    if plan.advance {
        if plan.damped {
            book::<C, R>(power, took);
        }
    } else if plan.adds_up {
        book::<C, R>(power, took);
    } else {
        note::<C, R>(power, took);
    }
}

/// Adds what walls do to grain i, where it has a row of them: kernel [`walls()`] left it in the buffers of forces and torques.
#[cube]
pub(super) fn add_walls<R: Real>(
    i: usize,
    wall_row: &[u32],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    load: &mut Load<R>,
    #[comptime] frictional: bool,
) {
    if wall_row[i] < wall_row[i + 1usize] {
        add_pushes::<R>(i, force, torque, load, frictional);
    }
}

/// Adds to the load of grain i what stands in the buffers of forces and torques.
#[cube]
fn add_pushes<R: Real>(i: usize, force: &mut [Record<R>], torque: &mut [Record<R>], load: &mut Load<R>, #[comptime] frictional: bool) {
    load.force = load.force.plus(&xyz::<R>(force[i]));
    load.touches += last::<R>(force[i]);
    if frictional {
        load.torque = load.torque.plus(&xyz::<R>(torque[i]));
    }
}

/// What came of moving a grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct Gone<C: Real, R: Real> {
    /// Where it is now \[m\].
    pub position: Vector3<C>,
    /// Raised flags.
    pub flags: u32,
    /// Energy that local damping took \[J\].
    pub damping_work: R,
}

/// Moves grain i on by one step under its load. `turning` is its record of `spin`.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub(super) fn go_on<C: Coordinate<R>, R: Coordinate<R>>(
    i: usize,
    grain: &Grain<C, R>,
    load: &Load<R>,
    turning: Record<R>,
    half_velocity: &mut [Record<C>],
    half_spin: &mut [Record<C>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    stepping: &Stepping<C, R>,
    #[comptime] frictional: bool,
) -> Gone<C, R> {
    let acceleration = acceleration::<C, R>(&grain.velocity, grain.mass, &load.force, stepping);
    let half = half_velocity[i];
    let onward = kicked::<C, R, C>(&xyz::<C>(half), &acceleration, stepping, stepping.lag);
    let mut damping_work = onward.damping_work;
    let position = drift::<C>(&grain.position, &onward.moving, C::wide(stepping.dt));
    let stride = near_vector::<C, R>(&onward.half).times(stepping.dt);
    let moved = between::<C, R>(&xyz::<C>(reference[i]), &position);
    let flags = flags_of::<C, R>(&position, stride.dot(&stride), moved.dot(&moved), stepping);
    half_velocity[i] = record::<C>(&onward.half, last::<C>(half) + C::wide(load.normal_power));
    new_velocity[i] = record::<R>(&onward.whole, grain.mass);
    new_position[i] = record::<C>(&position, grain.reach);
    if frictional {
        let acceleration = angular_acceleration::<C, R>(&grain.spin, grain.mass, grain.radius, &load.torque, stepping);
        let half = half_spin[i];
        let onward = kicked::<C, R, C>(&xyz::<C>(half), &acceleration, stepping, C::new(0.0));
        half_spin[i] = record::<C>(&onward.half, last::<C>(half) + C::wide(load.tangential_power));
        new_spin[i] = record::<R>(&onward.whole, last::<R>(turning) + load.damping_power);
        damping_work += onward.damping_work;
    }
    Gone::<C, R> {
        position,
        flags,
        damping_work,
    }
}

/// Turns grain i with the angular velocity that it moves with now.
#[cube]
fn turn_with<R: Real, C: Coordinate<R>>(i: usize, half_spin: &mut [Record<C>], turn: &mut [Record<C>], dt: R) {
    let spin = xyz::<C>(half_spin[i]);
    let after = turned_by::<C>(&quaternion::<C>(turn[i]), &spin, C::wide(dt));
    turn[i] = record_of::<C>(&after);
}

/// Leaves grain i, which a body carries, its forces, and adds up what its contacts took; the body moves it. A copy of a grain of another domain has
/// neither, and follows its original.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn hold<C: Coordinate<R>, R: Coordinate<R>>(
    i: usize,
    grain: &Grain<C, R>,
    load: &Load<R>,
    turning: Record<R>,
    half_velocity: &mut [Record<C>],
    half_spin: &mut [Record<C>],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    #[comptime] frictional: bool,
) {
    force[i] = record::<R>(&load.force, load.touches);
    let half = half_velocity[i];
    half_velocity[i] = record::<C>(&xyz::<C>(half), last::<C>(half) + C::wide(load.normal_power));
    new_velocity[i] = record::<R>(&grain.velocity, grain.mass);
    if frictional {
        torque[i] = record::<R>(&load.torque, R::new(0.0));
        let half = half_spin[i];
        half_spin[i] = record::<C>(&xyz::<C>(half), last::<C>(half) + C::wide(load.tangential_power));
        new_spin[i] = record::<R>(&grain.spin, last::<R>(turning) + load.damping_power);
    }
}

/// Forces of walls on the n grains near them, of which `grains` gives the places: they overwrite the force and torque of these grains.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn walls<R: Real, C: Coordinate<R>>(
    grains: &[u32],
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
    parity: u32,
    #[comptime] frictional: bool,
    #[comptime] compound: bool,
) {
    let k = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        let mut took = Record::<R>::new(R::new(0.0));
        if k < n as usize {
            let i = grains[k] as usize;
            let first = row[i] as usize;
            let end = row[i + 1usize] as usize;
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
                compound,
            );
            took.insert(0usize, tally.normal_power);
            took.insert(1usize, tally.tangential_power);
            took.insert(2usize, tally.damping_power);
            took.insert(3usize, tally.wall_power);
            if tally.excess > R::new(0.0) {
                raise(flags, parity, 16u32);
            }
        }
        book_and_note::<C, R>(power, took);
    }
}
