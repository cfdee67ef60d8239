//! Forces of bonds and loads on grains.

use super::neighbor_lists::is_outside;
use super::{DONE, is_halted, sum_of_cube, widened_record};
use crate::bodies::is_ghost;
use crate::bonds::{BondEnd, apart_of, bond_parameters_at, moves_of, span_of};
use crate::entries::PLACE;
use crate::layout::{Record, last, load, record, xyz};
use crate::periodic::PeriodicBoundaries;
use cubecl::prelude::*;
use seixo_laws::bond::{BondForces, Utilization, bond_forces, deformed, rotation_since, utilization};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, near_vector};

/// Number of low bits in the state word of a bond that hold its break mode. The bits above hold the step of the break, counted from one. The word of
/// an intact bond is zero.
pub const MODE_BITS: u32 = 3;

/// Break mode of a bond whose grain was removed.
pub const REMOVED_BITS: u32 = 7;

/// Index in the flag buffer of the word for broken bonds. It halts no step.
pub const SOME_BROKE: usize = 11;

/// Records of a bond for its grains: force on the second grain and energy, torque on the first, torque on the second; both torques with the power
/// dissipated by damping.
pub const BOND_FORCE: usize = 3;

/// Numbers of a load on the grains of a group: force, padding, torque, padding.
pub const LOAD_OF_GROUP: usize = 8;

/// Flag of a bond in the row of its second grain.
pub const SECOND_GRAIN: u32 = 1 << SECOND_GRAIN_BIT;

/// Number of that bit.
pub const SECOND_GRAIN_BIT: u32 = 31;

/// Bits of a step in the state word of a bond, without those of its break mode.
const STEP_BITS: u32 = u32::MAX >> MODE_BITS;

/// Common properties of all bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BondPlan {
    /// Whether there are several kinds of bonds.
    pub several: bool,
    /// Whether some grains had a relative rotation when they were bonded.
    pub bent: bool,
    /// Whether bonds end beside the centers of their grains, see [`crate::bonds::ATTACHMENT`].
    pub attached: bool,
    /// Which sides are periodic.
    pub sides: u32,
}

/// Configuration of a launch of [`bond_forces_on_grains()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BondKernelConfig {
    /// Whether there are bonds.
    pub bonded: bool,
    /// Whether there are loads.
    pub loaded: bool,
    /// Whether grains have torques.
    pub frictional: bool,
    /// Whether some grains are near walls, whose forces the force and torque buffers hold.
    pub walls: bool,
    /// Whether some grains are ghost particles. The work of loads on them is added to the ledger of the subdomain that owns them.
    pub ghosts: bool,
    /// Whether single grains have loads of their own.
    pub single: bool,
}

/// A record as an orientation.
#[cube]
pub(super) fn quaternion<C: Real>(record: Record<C>) -> Quaternion<C> {
    Quaternion::<C> {
        w: record.extract(0usize),
        x: record.extract(1usize),
        y: record.extract(2usize),
        z: last::<C>(record),
    }
}

/// An orientation as a record.
#[cube]
pub(super) fn record_of<C: Real>(orientation: &Quaternion<C>) -> Record<C> {
    let mut record = Record::<C>::empty();
    record.insert(0usize, orientation.w);
    record.insert(1usize, orientation.x);
    record.insert(2usize, orientation.y);
    record.insert(3usize, orientation.z);
    record
}

/// Forces and used strength of a bond.
#[derive(CubeType, Clone, Copy, Debug)]
struct Bonded<C: Real, R: Real> {
    held: BondForces<R>,
    used: Utilization<R>,
    /// Middle between the centers \[m\].
    middle: Vector3<C>,
    /// Vectors from the centers to the ends of the bond, about which torques are; zero without attachments \[m\].
    arm_i: Vector3<R>,
    arm_j: Vector3<R>,
}

/// The grain at index i as an end of a bond. If the bond is attached beside the center, with this attachment, radius and velocity are those there. The
/// position is that of the center.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads")]
fn end_of<C: Coordinate<R>, R: Real>(
    i: usize,
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
    attachments: &[Record<C>],
    attachment: usize,
    #[comptime] plan: BondPlan,
) -> BondEnd<C, R> {
    let here = position[i];
    let moving = velocity[i];
    let turning = xyz::<R>(spin[i]);
    let pose = quaternion::<C>(orientation[i]);
    let mut radius = C::near(last::<C>(here));
    let mut velocity_there = xyz::<R>(moving);
    if plan.attached {
        let given = attachments[attachment];
        let arm = near_vector::<C, R>(&pose.to_space(&xyz::<C>(given)));
        radius = C::near(last::<C>(given));
        velocity_there = velocity_there.plus(&turning.cross(&arm));
    }
    BondEnd::<C, R> {
        position: xyz::<C>(here),
        radius,
        velocity: velocity_there,
        mass: last::<R>(moving),
        spin: turning,
        orientation: pose,
    }
}

/// The bond between these grains.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads")]
fn bonded<C: Coordinate<R>, R: Real>(
    bond: usize,
    here: BondEnd<C, R>,
    there: BondEnd<C, R>,
    along: Record<C>,
    bent: &[Record<C>],
    attachments: &[Record<C>],
    kind_of: &[u32],
    bond_parameters: &[R],
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] plan: BondPlan,
) -> Bonded<C, R> {
    let axis_at_rest = xyz::<C>(along);
    let mut row = 0u32;
    if plan.several {
        row = kind_of[bond];
    }
    let of_kind = bond_parameters_at::<R>(bond_parameters, row as usize);
    let span = span_of::<C, R>(&here, &there, &axis_at_rest, C::near(last::<C>(along)), &of_kind);
    let mut apart = apart_of::<C, R>(&here, &there, sides, plan.sides);
    let middle = here.position.plus(&apart.times(C::new(0.5)));
    let mut arm_i = Vector3::<R>::zero();
    let mut arm_j = Vector3::<R>::zero();
    if plan.attached {
        let end_i = here.orientation.to_space(&xyz::<C>(attachments[bond * 2usize]));
        let end_j = there.orientation.to_space(&xyz::<C>(attachments[bond * 2usize + 1usize]));
        apart = apart.plus(&end_j).minus(&end_i);
        arm_i = near_vector::<C, R>(&end_i);
        arm_j = near_vector::<C, R>(&end_j);
    }
    let mut orientation = there.orientation.after(&here.orientation.back());
    if plan.bent {
        orientation = rotation_since::<C>(&here.orientation, &there.orientation, &quaternion::<C>(bent[bond]));
    }
    let shape = deformed::<C, R>(&apart, &here.orientation, &orientation, &axis_at_rest, span.per_length);
    let held = bond_forces::<R>(&shape, &moves_of::<C, R>(here, there), &span, &of_kind);
    let used = utilization::<R>(&held, &span, &of_kind);
    Bonded::<C, R> {
        held,
        used,
        middle,
        arm_i,
        arm_j,
    }
}

/// Clears the forces of a bond on its grains.
#[cube]
fn leave_nothing<R: Real>(bond: usize, pull: &mut [Record<R>]) {
    let nothing = Record::<R>::new(R::new(0.0));
    for k in 0..3usize {
        pull[bond * 3usize + k] = nothing;
    }
}

/// Evaluates the n bonds of the table and stores their forces in `pull`, see [`BOND_FORCE`]. `attachments` has two records a bond, if it has them: see
/// [`crate::bonds::ATTACHMENT`]. A bond that uses more than its strength breaks. From
/// this step on its force is zero, and its place and energy are stored.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn evaluate_bonds<R: Coordinate<R>, C: Coordinate<R>>(
    ends: &[u32],
    axis: &[Record<C>],
    bent: &[Record<C>],
    attachments: &[Record<C>],
    kind_of: &[u32],
    broke: &mut [u32],
    broken: &mut [Record<C>],
    bond_parameters: &[R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
    pull: &mut [Record<R>],
    flags: &mut [u32],
    sides: &PeriodicBoundaries<C, R>,
    since: u32,
    n: u32,
    parity: u32,
    #[comptime] plan: BondPlan,
) {
    let bond = ABSOLUTE_POS;
    // Reads that do not depend on the flag come before it, so that one wait serves all.
    let own = min(bond, n as usize - 1usize);
    let first = ends[own * 2usize] as usize;
    let second = ends[own * 2usize + 1usize] as usize;
    let along = axis[own];
    let state = broke[own];
    if state == 0u32 && bond < n as usize && !is_halted(flags, parity) {
        let at = bond * 2usize;
        let here = end_of::<C, R>(first, position, velocity, spin, orientation, attachments, at, plan);
        let there = end_of::<C, R>(second, position, velocity, spin, orientation, attachments, at + 1usize, plan);
        let now = bonded::<C, R>(bond, here, there, along, bent, attachments, kind_of, bond_parameters, sides, plan);
        let held = &now.held;
        // A share that is NaN counts as broken, so that the error is not hidden.
        if now.used.share <= R::new(1.0) {
            pull[bond * 3usize] = record::<R>(&held.force, held.energy);
            if plan.attached {
                // Torques of the law are about the ends of the bond.
                let about_i = held.torque_i.minus(&now.arm_i.cross(&held.force));
                let about_j = held.torque_j.plus(&now.arm_j.cross(&held.force));
                pull[bond * 3usize + 1usize] = record::<R>(&about_i, held.damping_power);
                pull[bond * 3usize + 2usize] = record::<R>(&about_j, held.damping_power);
            } else {
                pull[bond * 3usize + 1usize] = record::<R>(&held.torque_i, held.damping_power);
                pull[bond * 3usize + 2usize] = record::<R>(&held.torque_j, held.damping_power);
            }
        } else {
            let step = (since + flags[DONE] + 1u32) & STEP_BITS;
            broke[bond] = (step << MODE_BITS) | R::whole(now.used.mode);
            broken[bond] = record::<C>(&now.middle, C::wide(held.energy));
            flags[SOME_BROKE] = 1u32;
            leave_nothing::<R>(bond, pull);
        }
    }
}

/// Sum of all bonds of a grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct BondForceSum<R: Real> {
    /// Force \[N\].
    pub force: Vector3<R>,
    /// Torque \[N m\].
    pub torque: Vector3<R>,
    /// Half of their energy \[J\].
    pub energy: R,
    /// Half of the power dissipated by their damping \[W\].
    pub drag: R,
}

/// Sum of the bonds in the entries from `from` to before `to` for their grain, in this order.
#[cube]
pub(super) fn bonds_on<R: Real>(from: usize, to: usize, entries: &[u32], pull: &[Record<R>]) -> BondForceSum<R> {
    let mut force = Vector3::<R>::zero();
    let mut torque = Vector3::<R>::zero();
    let mut drag = R::new(0.0);
    let mut energy = R::new(0.0);
    // The next entry is read while this bond is added. After the last row there is one more entry.
    let mut next = entries[from];
    for k in from..to {
        let word = next;
        next = entries[k + 1usize];
        let is_second = word >> SECOND_GRAIN_BIT;
        let at = (word & PLACE) as usize * 3usize;
        let push = pull[at];
        let bend = pull[at + 1usize + is_second as usize];
        if is_second == 1u32 {
            force = force.plus(&xyz::<R>(push));
        } else {
            force = force.minus(&xyz::<R>(push));
        }
        torque = torque.plus(&xyz::<R>(bend));
        energy += R::new(0.5) * last::<R>(push);
        drag += R::new(0.5) * last::<R>(bend);
    }
    BondForceSum::<R> {
        force,
        torque,
        energy,
        drag,
    }
}

/// Forces and torques of bonds and loads on all grains, written to the force and torque buffers in addition to those of walls. Bond forces are added
/// in the order of the table. `rows` holds first and last entry of every grain, and entries are bond indices, flagged with [`SECOND_GRAIN`].
/// Dissipation of bonds and work of loads are added to the ledger, with the earlier sums of the grains in `taken`. The work of loads on ghost
/// particles, which `member` marks, belongs to the ledger of the subdomain that owns them. `loads` has [`LOAD_OF_GROUP`] numbers for each group, for
/// each step of a batch if `loads_per_step` is not zero. `given_force` and `given_torque` are loads of single grains, if `plan` says that there are some.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn bond_forces_on_grains<R: Coordinate<R>, C: Coordinate<R>>(
    rows: &[u32],
    entries: &[u32],
    pull: &[Record<R>],
    taken: &mut [C],
    group: &[u32],
    member: &[u32],
    loads: &[R],
    given_force: &[Record<C>],
    given_torque: &[Record<C>],
    wall_row: &[u32],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    n: u32,
    loads_per_step: u32,
    parity: u32,
    #[comptime] plan: BondKernelConfig,
) {
    let i = ABSOLUTE_POS;
    let mut from = 0usize;
    let mut to = 0usize;
    if plan.bonded {
        let own = min(i, n as usize - 1usize);
        from = rows[own * 2usize] as usize;
        to = rows[own * 2usize + 1usize] as usize;
    }
    if !is_halted(flags, parity) {
        let mut took = Record::<R>::new(R::new(0.0));
        let mut before = C::new(0.0);
        if i < n as usize {
            let mut pushed = Vector3::<R>::zero();
            let mut turned = Vector3::<R>::zero();
            let mut wall_contacts = R::new(0.0);
            if plan.loaded {
                let load_of_group = (flags[DONE] * loads_per_step + group[i]) as usize * LOAD_OF_GROUP;
                pushed = load::<R>(loads, load_of_group);
                if plan.single {
                    pushed = pushed.plus(&near_vector::<C, R>(&xyz::<C>(given_force[i])));
                }
                let mut given = pushed.dot(&xyz::<R>(velocity[i]));
                if plan.frictional {
                    turned = load::<R>(loads, load_of_group + 4usize);
                    if plan.single {
                        turned = turned.plus(&near_vector::<C, R>(&xyz::<C>(given_torque[i])));
                    }
                    given += turned.dot(&xyz::<R>(spin[i]));
                }
                if plan.ghosts {
                    if is_ghost(member[i]) {
                        given = R::new(0.0);
                    }
                }
                took.insert(3usize, given);
            }
            if plan.walls {
                if wall_row[i] < wall_row[i + 1usize] {
                    pushed = pushed.plus(&xyz::<R>(force[i]));
                    wall_contacts = last::<R>(force[i]);
                    if plan.frictional {
                        turned = turned.plus(&xyz::<R>(torque[i]));
                    }
                }
            }
            if plan.bonded {
                let all = bonds_on::<R>(from, to, entries, pull);
                pushed = pushed.plus(&all.force);
                turned = turned.plus(&all.torque);
                took.insert(0usize, all.drag);
                took.insert(1usize, all.energy);
                before = taken[i];
                taken[i] = C::new(0.0);
            }
            force[i] = record::<R>(&pushed, wall_contacts);
            if plan.frictional {
                torque[i] = record::<R>(&turned, R::new(0.0));
            }
        }
        let total = widened_record::<C, R>(sum_of_cube::<R>(took));
        sync_cube();
        let mut sums = Record::<C>::new(C::new(0.0));
        sums.insert(0usize, before);
        let sums = sum_of_cube::<C>(sums);
        let at = CUBE_POS * 2usize;
        // A grid of several rows may have more blocks than there are records.
        if UNIT_POS == 0u32 && at < power.len() {
            power[at] += total + sums;
            power[at + 1usize] = total;
        }
    }
}

/// Writes the new indices of the grains of all `bonds` bonds, from their seats. A seat is the number of a grain as long as it is on this GPU.
#[cube(launch)]
pub fn find_ends(seats: &[u32], place: &[u32], ends: &mut [u32], bonds: u32) {
    let end = ABSOLUTE_POS;
    if end < bonds as usize * 2usize {
        ends[end] = place[seats[end] as usize];
    }
}

/// Writes first entry and end of the rows of all n grains in the new order, from the rows of their seats.
#[cube(launch)]
pub fn find_rows(body_index: &[u32], row: &[u32], rows: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let own = body_index[i] as usize;
        rows[i * 2usize] = row[own];
        rows[i * 2usize + 1usize] = row[own + 1usize];
    }
}

/// Removes the bonds of grains outside of the domain. Their energies are stored as those of broken bonds.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn let_go<R: Coordinate<R>, C: Coordinate<R>>(
    ends: &[u32],
    axis: &[Record<C>],
    bent: &[Record<C>],
    attachments: &[Record<C>],
    kind_of: &[u32],
    broke: &mut [u32],
    bond_parameters: &[R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
    pull: &mut [Record<R>],
    broken: &mut [Record<C>],
    domain: &[C],
    sides: &PeriodicBoundaries<C, R>,
    n: u32,
    #[comptime] plan: BondPlan,
) {
    let bond = ABSOLUTE_POS;
    if bond < n as usize {
        if broke[bond] == 0u32 {
            let at = bond * 2usize;
            let first = ends[at] as usize;
            let second = ends[at + 1usize] as usize;
            let here = end_of::<C, R>(first, position, velocity, spin, orientation, attachments, at, plan);
            let there = end_of::<C, R>(second, position, velocity, spin, orientation, attachments, at + 1usize, plan);
            if is_outside::<C>(&here.position, domain) || is_outside::<C>(&there.position, domain) {
                let now = bonded::<C, R>(
                    bond,
                    here,
                    there,
                    axis[bond],
                    bent,
                    attachments,
                    kind_of,
                    bond_parameters,
                    sides,
                    plan,
                );
                broken[bond] = record::<C>(&now.middle, C::wide(now.held.energy));
                broke[bond] = 7u32;
                leave_nothing::<R>(bond, pull);
            }
        }
    }
}
