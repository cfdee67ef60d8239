//! Kernels of a step of grains.

use super::bonds::{bonds_on, quaternion, record_of};
use super::{INNER, LONG_STRIDES, STRIDE_RATIO, WHOLE, add_sum, begins_part, raise, store_sum};
use crate::bodies::FREE;
use crate::entries::{TILE, first_entry};
use crate::grain::{ContactLoad, Grain, grain_of, no_load};
use crate::layout::{Record, between_steps, kept_beside, last, record, xyz};
use crate::motion::{StepParameters, acceleration, angular_acceleration, flags_of, kicked};
use crate::tiles::{ContactKernelConfig, contacts_of};
use cubecl::prelude::*;
use seixo_laws::contact::Coefficients;
use seixo_laws::motion::drift;
use seixo_laws::rotation::rotated_by;
use seixo_laws::{Coordinate, Real, Vector3, between, near_vector, with_rest};

/// Configuration of a launch of [`grains()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepKernelConfig {
    /// Kind of contacts.
    pub kind: ContactKernelConfig,
    /// Whether contact forces are computed; otherwise those of the force and torque buffers are used.
    pub touch: bool,
    /// Whether grains move; otherwise forces and torques are stored.
    pub advance: bool,
    /// Whether velocities between steps, and what earlier steps marked, are read before contacts are computed. They take registers, which smooth grains
    /// in single precision leave.
    pub reads_early: bool,
    /// Whether powers of contacts are added up although another kernel of the step moves the grains. Otherwise they are only stored.
    pub adds_up: bool,
    /// Whether there is local damping, whose work enters the ledger at every step. It needs blocks of [`super::THREADS`] threads, as storing powers does.
    pub damped: bool,
    /// Whether some grains are near walls, whose forces the force and torque buffers hold.
    pub walls: bool,
    /// Whether bond forces or loads were computed before, so that these buffers hold values for every grain.
    pub outside: bool,
    /// Whether there are bond forces to be added up here.
    pub bonded: bool,
    /// Whether grains have orientations.
    pub rotates: bool,
    /// Whether some grains are moved by other kernels, because they belong to rigid bodies or are ghost particles.
    pub carries: bool,
    /// Whether a launch may be for a part of the rows.
    pub parted: bool,
}

/// Contact forces of this step and motion to the next, in one launch, so that no intermediate value passes through memory.
///
/// Positions, velocities and angular velocities are read from one set of buffers, which no thread writes, and written to another. `half_velocity` and
/// `half_spin` hold what is kept of velocities between steps beside `velocity` and `spin`, see [`kept_beside()`].
///
/// The last numbers of `half_velocity`, `half_spin` and `spin` sum the powers of normal damping, of tangential forces and of their damping.
/// [`crate::kernels::measure::collect()`] adds these sums to the ledger. So the ledger costs a step neither memory traffic nor a wait between
/// threads.
///
/// A grain is compared with its position at the last rebuild of the lists only if it could have moved too far: if it moves by more than
/// `stride_square` \[m²\] in this step, or if a grain did so in a step before. `widest_square` is the squared stride of the first level, and `level`
/// that of this step, see [`LONG_STRIDES`]. If `stride_square` is negative, all grains are compared.
///
/// If all grains have one material, `shared` holds the coefficients of their contacts. Arguments are constants of a launch, so they need neither a read
/// before the first contact nor registers in which they last from contact to contact.
///
/// A step may consist of several launches, see [`super::WHOLE`]. No launch reads what another one writes, so their order changes no result. `part` is
/// the part of this launch. The first n words of `parts` are not zero for the grains of all parts but [`INNER`]. The grains of those parts are listed
/// behind, see [`crate::kernels::domain::list_part()`]: m of this part, from word `begin` on. They need no sums over blocks.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn grains<R: Coordinate<R>, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &mut [u32],
    history: &mut [R],
    material: &[u32],
    member: &[u32],
    parts: &[u32],
    table: &[R],
    wall_row: &[u32],
    rows_of_bonds: &[u32],
    bonds: &[u32],
    pull: &[Record<R>],
    taken: &mut [C],
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
    orientation: &mut [Record<C>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    stepping: &StepParameters<C, R>,
    shared: &Coefficients<R>,
    overlap_limit: R,
    widest_square: R,
    stride_square: R,
    level: u32,
    n: u32,
    materials: u32,
    parity: u32,
    part: u32,
    begin: u32,
    m: u32,
    #[comptime] plan: StepKernelConfig,
) {
    let mut i = ABSOLUTE_POS;
    let mut is_meant = i < n as usize;
    if plan.parted {
        if part == INNER {
            let marked = parts[min(i, n as usize - 1usize)];
            is_meant = is_meant && marked == 0u32;
        } else if part != WHOLE {
            // There is a word behind the last list.
            let row = parts[begin as usize + min(i, m as usize)];
            is_meant = i < m as usize && row < n;
            i = row as usize;
        }
    }
    let mut took = Record::<R>::new(R::new(0.0));
    // Reads that do not depend on the flag come before it, so that one wait serves all.
    let own = min(i, n as usize - 1usize);
    let here = position[own];
    let moving = velocity[own];
    let mut turning = Record::<R>::new(R::new(0.0));
    if plan.kind.frictional {
        turning = spin[own];
    }
    let mut neighbors = 0u32;
    let mut first = 0usize;
    let mut word = 0u32;
    let mut second = 0u32;
    let mut own_material = 0u32;
    // One word for two answers, as it takes a register while contacts are computed: 1 if the grain is near a wall, and 2 if another kernel moves it.
    let mut status = 0u32;
    if plan.touch {
        neighbors = count[own];
        first = first_entry(own, tile_first);
        // A row without neighbors has room for these reads, too.
        word = list[first];
        if !plan.kind.frictional {
            second = list[first + TILE];
        }
        if !plan.kind.uniform {
            own_material = material[own];
        }
        if plan.walls {
            if wall_row[own] < wall_row[own + 1usize] {
                status |= 1u32;
            }
        }
    }
    if plan.carries {
        if member[own] != FREE {
            status |= 2u32;
        }
    }
    let mut half = Record::<R>::new(R::new(0.0));
    let mut half_turning = Record::<R>::new(R::new(0.0));
    let mut sure_square = stride_square;
    if plan.advance {
        if plan.reads_early {
            half = half_velocity[own];
            sure_square = sure_stride_square::<R>(flags, level, stride_square);
        }
    }
    let mut from = 0usize;
    let mut to = 0usize;
    if plan.bonded {
        from = rows_of_bonds[own * 2usize] as usize;
        to = rows_of_bonds[own * 2usize + 1usize] as usize;
    }
    let goes = begins_part(flags, parity, part, plan.advance);
    if goes && is_meant {
        let grain = grain_of::<C, R>(here, moving, turning);
        let mut load = no_load::<R>();
        let mut raised = 0u32;
        if plan.touch {
            load = contacts_of::<C, R>(
                &grain,
                neighbors,
                first,
                word,
                second,
                own_material,
                shared,
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
                // Added up as [`super::bonds::bond_forces_on_grains()`] does in steps with output, so that output changes no digit.
                let all = bonds_on::<R>(from, to, bonds, pull);
                let mut outer = no_load::<R>();
                outer.force = all.force;
                outer.torque = all.torque;
                taken[i] += C::wide(all.drag);
                if plan.walls {
                    if status & 1u32 == 1u32 {
                        add_buffered_forces::<R>(i, force, torque, &mut outer, plan.kind.frictional);
                    }
                }
                load.force = load.force.plus(&outer.force);
                load.torque = load.torque.plus(&outer.torque);
                load.contacts += outer.contacts;
            } else if plan.outside {
                add_buffered_forces::<R>(i, force, torque, &mut load, plan.kind.frictional);
            } else if plan.walls {
                // Kernel `walls` left the wall forces on grains with rows of wall elements in the force and torque buffers.
                if status & 1u32 == 1u32 {
                    add_buffered_forces::<R>(i, force, torque, &mut load, plan.kind.frictional);
                }
            }
        } else {
            load.force = xyz::<R>(force[i]);
            if plan.kind.frictional {
                load.torque = xyz::<R>(torque[i]);
            }
        }
        if plan.advance {
            // All are read before anything waits for one of them.
            if !plan.reads_early {
                half = half_velocity[i];
                sure_square = sure_stride_square::<R>(flags, level, stride_square);
            }
            if plan.kind.frictional {
                half_turning = half_spin[i];
            }
            // Sliding sides and local damping never occur together, so one number serves both.
            if plan.carries {
                if status & 2u32 == 0u32 {
                    let gone = go_on::<C, R>(
                        i,
                        &grain,
                        &load,
                        turning,
                        half,
                        half_turning,
                        half_velocity,
                        half_spin,
                        reference,
                        new_position,
                        new_velocity,
                        new_spin,
                        stepping,
                        sure_square,
                        plan.kind.frictional,
                    );
                    raised |= gone.flags;
                    record_long_stride::<R>(flags, gone.moved_square, widest_square);
                    took.insert(3usize, gone.damping_work + load.side_power * stepping.dt);
                    if plan.rotates {
                        rotate_grain::<R, C>(i, new_spin, half_spin, orientation, stepping.dt);
                    }
                } else {
                    hold::<C, R>(
                        i,
                        &grain,
                        &load,
                        turning,
                        half,
                        half_turning,
                        half_velocity,
                        half_spin,
                        force,
                        torque,
                        new_velocity,
                        new_spin,
                        plan.kind.frictional,
                    );
                    took.insert(3usize, load.side_power * stepping.dt);
                }
            } else {
                let gone = go_on::<C, R>(
                    i,
                    &grain,
                    &load,
                    turning,
                    half,
                    half_turning,
                    half_velocity,
                    half_spin,
                    reference,
                    new_position,
                    new_velocity,
                    new_spin,
                    stepping,
                    sure_square,
                    plan.kind.frictional,
                );
                raised |= gone.flags;
                record_long_stride::<R>(flags, gone.moved_square, widest_square);
                if plan.rotates {
                    rotate_grain::<R, C>(i, new_spin, half_spin, orientation, stepping.dt);
                }
                took.insert(3usize, gone.damping_work + load.side_power * stepping.dt);
            }
        } else {
            force[i] = record::<R>(&load.force, load.contacts);
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
            add_sum::<C, R>(power, took);
        }
    } else if plan.adds_up {
        add_sum::<C, R>(power, took);
    } else {
        store_sum::<C, R>(power, took);
    }
}

/// Squared stride up to which a grain surely has not used up its skin after this step \[m²\]. Negative if a grain strode farther in an earlier step.
#[cube]
pub(super) fn sure_stride_square<R: Real>(flags: &mut [u32], level: u32, stride_square: R) -> R {
    let strode = flags[level as usize + LONG_STRIDES];
    select(strode == 0u32, stride_square, R::new(-1.0))
}

/// Sets the words of all levels whose stride is shorter than that of a grain. Threads that write at the same time write the same value.
///
/// Who sets a word sets those of all shorter strides, too. So one read shows whether another thread has set them all, or will before the step ends.
/// Reads of one word by many threads are faster than writes, but a read for each level would wait for the one before.
#[cube]
pub(super) fn record_long_stride<R: Real>(flags: &mut [u32], moved_square: R, widest_square: R) {
    let mut square = widest_square;
    let mut shorter = 0u32.runtime();
    #[unroll]
    for _level in 0..16usize {
        if moved_square > square {
            shorter += 1u32;
        }
        square *= R::new(STRIDE_RATIO);
    }
    if shorter > 0u32 {
        let widest = 16u32 - shorter;
        if flags[widest as usize + LONG_STRIDES] == 0u32 {
            for level in widest..16u32 {
                flags[level as usize + LONG_STRIDES] = 1u32;
            }
        }
    }
}

/// Adds the values in the force and torque buffers to the load of grain i.
#[cube]
pub(super) fn add_buffered_forces<R: Real>(
    i: usize,
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    load: &mut ContactLoad<R>,
    #[comptime] frictional: bool,
) {
    load.force = load.force.plus(&xyz::<R>(force[i]));
    load.contacts += last::<R>(force[i]);
    if frictional {
        load.torque = load.torque.plus(&xyz::<R>(torque[i]));
    }
}

/// Result of the motion of a grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct AdvanceResult<C: Real, R: Real> {
    /// Position \[m\].
    pub position: Vector3<C>,
    /// Raised flags.
    pub flags: u32,
    /// Energy dissipated by local damping \[J\].
    pub damping_work: R,
    /// Squared displacement in this step \[m²\].
    pub moved_square: R,
}

/// Moves grain i by one step under its load. `turning`, `half` and `half_turning` are its records of `spin`, `half_velocity` and `half_spin`. Its
/// position at the last rebuild of the lists is only read if it moves by more than `sure_square` \[m²\].
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub(super) fn go_on<C: Coordinate<R>, R: Coordinate<R>>(
    i: usize,
    grain: &Grain<C, R>,
    load: &ContactLoad<R>,
    turning: Record<R>,
    half: Record<R>,
    half_turning: Record<R>,
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    stepping: &StepParameters<C, R>,
    sure_square: R,
    #[comptime] frictional: bool,
) -> AdvanceResult<C, R> {
    let unread = Record::<C>::new(C::new(0.0));
    go_on_from::<C, R>(
        i,
        grain,
        load,
        turning,
        half,
        half_turning,
        unread,
        half_velocity,
        half_spin,
        reference,
        new_position,
        new_velocity,
        new_spin,
        stepping,
        sure_square,
        frictional,
        false,
    )
}

/// As [`go_on()`]. If it `compares`, `origin` is the record of the position at the last rebuild of the lists, which was read before, and the grain is
/// compared with it however far it moves.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub(super) fn go_on_from<C: Coordinate<R>, R: Coordinate<R>>(
    i: usize,
    grain: &Grain<C, R>,
    load: &ContactLoad<R>,
    turning: Record<R>,
    half: Record<R>,
    half_turning: Record<R>,
    origin: Record<C>,
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    stepping: &StepParameters<C, R>,
    sure_square: R,
    #[comptime] frictional: bool,
    #[comptime] compares: bool,
) -> AdvanceResult<C, R> {
    let acceleration = acceleration::<C, R>(&grain.velocity, grain.mass, &load.force, stepping);
    let before = with_rest::<C, R>(&grain.velocity, &xyz::<R>(half));
    let onward = kicked::<C, R, C>(&before, &acceleration, stepping, stepping.lag);
    let mut damping_work = onward.damping_work;
    let position = drift::<C>(&grain.position, &onward.moving, C::wide(stepping.dt));
    let stride = near_vector::<C, R>(&onward.half).times(stepping.dt);
    // The difference of the stored positions, so that their rounding counts.
    let moved = between::<C, R>(&grain.position, &position);
    let moved_square = moved.dot(&moved);
    let mut far_square = moved_square;
    if compares {
        let far = between::<C, R>(&xyz::<C>(origin), &position);
        far_square = far.dot(&far);
    } else {
        // A comparison with NaN is false, so what is not finite is found in the same step.
        let is_near = moved_square <= sure_square;
        if !is_near {
            let far = between::<C, R>(&xyz::<C>(reference[i]), &position);
            far_square = far.dot(&far);
        }
    }
    let flags = flags_of::<C, R>(&position, stride.dot(&stride), far_square, stepping);
    half_velocity[i] = kept_beside::<C, R>(&onward.half, &onward.whole, last::<R>(half) + load.normal_power);
    new_velocity[i] = record::<R>(&onward.whole, grain.mass);
    new_position[i] = record::<C>(&position, grain.reach);
    if frictional {
        let acceleration = angular_acceleration::<C, R>(&grain.spin, grain.mass, grain.radius, &load.torque, stepping);
        let before = with_rest::<C, R>(&grain.spin, &xyz::<R>(half_turning));
        let onward = kicked::<C, R, C>(&before, &acceleration, stepping, C::new(0.0));
        half_spin[i] = kept_beside::<C, R>(&onward.half, &onward.whole, last::<R>(half_turning) + load.tangential_power);
        new_spin[i] = record::<R>(&onward.whole, last::<R>(turning) + load.damping_power);
        damping_work += onward.damping_work;
    }
    AdvanceResult::<C, R> {
        position,
        flags,
        damping_work,
        moved_square,
    }
}

/// Rotates grain i by its present angular velocity.
#[cube]
fn rotate_grain<R: Real, C: Coordinate<R>>(
    i: usize,
    new_spin: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    orientation: &mut [Record<C>],
    dt: R,
) {
    let spin = between_steps::<C, R>(new_spin[i], half_spin[i]);
    let after = rotated_by::<C>(&quaternion::<C>(orientation[i]), &spin, C::wide(dt));
    orientation[i] = record_of::<C>(&after);
}

/// Stores the forces on grain i of a body, and adds up the powers of its contacts; the body moves it. A ghost particle has neither, and follows its
/// original. The records are those of [`go_on()`].
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn hold<C: Coordinate<R>, R: Coordinate<R>>(
    i: usize,
    grain: &Grain<C, R>,
    load: &ContactLoad<R>,
    turning: Record<R>,
    half: Record<R>,
    half_turning: Record<R>,
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    #[comptime] frictional: bool,
) {
    force[i] = record::<R>(&load.force, load.contacts);
    half_velocity[i] = record::<R>(&xyz::<R>(half), last::<R>(half) + load.normal_power);
    new_velocity[i] = record::<R>(&grain.velocity, grain.mass);
    if frictional {
        torque[i] = record::<R>(&load.torque, R::new(0.0));
        half_spin[i] = record::<R>(&xyz::<R>(half_turning), last::<R>(half_turning) + load.tangential_power);
        new_spin[i] = record::<R>(&grain.spin, last::<R>(turning) + load.damping_power);
    }
}
