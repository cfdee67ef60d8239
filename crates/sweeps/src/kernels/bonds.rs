//! What bonds and loads do to grains.

use super::lists::is_outside;
use super::{is_halted, sum_of_cube, widened_record};
use crate::bonds::{End, apart_of, glue_at, moves_of, span_of};
use crate::sides::Sides;
use crate::views::{Record, last, load, record, xyz};
use cubecl::prelude::*;
use seixo_laws::bond::{Hold, Utilization, deformed, hold, turned_since, utilization};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3};

/// Bits of a word that tell how a bond broke; those above tell in which step, counted from one. A bond that holds has the word zero.
pub const MODE_BITS: u32 = 3;

/// Bits of a mode that tell that a grain of the bond is gone.
pub const GONE: u32 = 7;

/// Place in the buffer of flags of the word that tells that bonds broke. It stops no step.
pub const SOME_BROKE: usize = 11;

/// Records that a bond leaves for its grains: force on the second and energy, torque on the first, torque on the second, these two with the power
/// that damping takes.
pub const PULL: usize = 3;

/// Mark of a bond in the row of its second grain.
pub const SECOND: u32 = 1 << 31;

/// What all bonds have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BondPlan {
    /// Whether they are of several kinds.
    pub several: bool,
    /// Whether some grains were turned against each other when they were bonded.
    pub bent: bool,
    /// Which sides are periodic.
    pub sides: u32,
}

/// What one launch of [`hold_grains()`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HoldPlan {
    /// Whether there are bonds.
    pub bonded: bool,
    /// Whether there are loads.
    pub loaded: bool,
    /// Whether grains have torques.
    pub frictional: bool,
    /// Whether some grains are near walls, whose forces the force and torque buffers hold.
    pub walls: bool,
    /// Whether some grains are copies of those of other domains, where what loads give them is booked.
    pub copies: bool,
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
pub(super) fn record_of<C: Real>(turn: &Quaternion<C>) -> Record<C> {
    let mut record = Record::<C>::empty();
    record.insert(0usize, turn.w);
    record.insert(1usize, turn.x);
    record.insert(2usize, turn.y);
    record.insert(3usize, turn.z);
    record
}

/// What a bond does now, and how far it is towards giving way.
#[derive(CubeType, Clone, Copy, Debug)]
struct Bonded<C: Real, R: Real> {
    held: Hold<R>,
    used: Utilization<R>,
    /// Middle between the centers \[m\].
    middle: Vector3<C>,
}

/// The grain at place i as an end of a bond.
#[cube]
fn end_of<C: Coordinate<R>, R: Real>(
    i: usize,
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    turn: &[Record<C>],
) -> End<C, R> {
    let here = position[i];
    let moving = velocity[i];
    End::<C, R> {
        position: xyz::<C>(here),
        radius: C::near(last::<C>(here)),
        velocity: xyz::<R>(moving),
        mass: last::<R>(moving),
        spin: xyz::<R>(spin[i]),
        turn: quaternion::<C>(turn[i]),
    }
}

/// The bond between these grains.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads")]
fn bonded<C: Coordinate<R>, R: Real>(
    bond: usize,
    here: End<C, R>,
    there: End<C, R>,
    along: Record<C>,
    bent: &[Record<C>],
    kind_of: &[u32],
    glue: &[R],
    sides: &Sides<C, R>,
    #[comptime] plan: BondPlan,
) -> Bonded<C, R> {
    let axis_at_rest = xyz::<C>(along);
    let mut row = 0u32;
    if plan.several {
        row = kind_of[bond];
    }
    let of_kind = glue_at::<R>(glue, row as usize);
    let span = span_of::<C, R>(&here, &there, &axis_at_rest, C::near(last::<C>(along)), &of_kind);
    let apart = apart_of::<C, R>(&here, &there, sides, plan.sides);
    let middle = here.position.plus(&apart.times(C::new(0.5)));
    let mut turn = there.turn.after(&here.turn.back());
    if plan.bent {
        turn = turned_since::<C>(&here.turn, &there.turn, &quaternion::<C>(bent[bond]));
    }
    let shape = deformed::<C, R>(&apart, &here.turn, &turn, &axis_at_rest, span.per_length);
    let held = hold::<R>(&shape, &moves_of::<C, R>(here, there), &span, &of_kind);
    let used = utilization::<R>(&held, &span, &of_kind);
    Bonded::<C, R> { held, used, middle }
}

/// Leaves nothing of a bond for its grains.
#[cube]
fn leave_nothing<R: Real>(bond: usize, pull: &mut [Record<R>]) {
    let nothing = Record::<R>::new(R::new(0.0));
    for k in 0..3usize {
        pull[bond * 3usize + k] = nothing;
    }
}

/// What the n bonds of the table do, each left in `pull` for its grains, see [`PULL`]. One that uses more than its strength breaks, leaves nothing
/// from this step on, and tells where it broke and with what energy.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn hold_bonds<R: Coordinate<R>, C: Coordinate<R>>(
    ends: &[u32],
    axis: &[Record<C>],
    bent: &[Record<C>],
    kind_of: &[u32],
    broke: &mut [u32],
    broken: &mut [Record<C>],
    glue: &[R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    turn: &[Record<C>],
    pull: &mut [Record<R>],
    flags: &mut [u32],
    sides: &Sides<C, R>,
    since: u32,
    n: u32,
    parity: u32,
    #[comptime] plan: BondPlan,
) {
    let bond = ABSOLUTE_POS;
    // What does not depend on the flag is read before it, so that one wait serves all.
    let own = min(bond, n as usize - 1usize);
    let first = ends[own * 2usize] as usize;
    let second = ends[own * 2usize + 1usize] as usize;
    let along = axis[own];
    let state = broke[own];
    if state == 0u32 && bond < n as usize && !is_halted(flags, parity) {
        let here = end_of::<C, R>(first, position, velocity, spin, turn);
        let there = end_of::<C, R>(second, position, velocity, spin, turn);
        let now = bonded::<C, R>(bond, here, there, along, bent, kind_of, glue, sides, plan);
        let held = &now.held;
        // A share that is no number is as good as broken: it must not pass unseen.
        if now.used.share <= R::new(1.0) {
            pull[bond * 3usize] = record::<R>(&held.force, held.energy);
            pull[bond * 3usize + 1usize] = record::<R>(&held.torque_i, held.damping_power);
            pull[bond * 3usize + 2usize] = record::<R>(&held.torque_j, held.damping_power);
        } else {
            let step = (since + flags[10] + 1u32) & 0x1fff_ffffu32;
            broke[bond] = (step << 3u32) | R::whole(now.used.mode);
            broken[bond] = record::<C>(&now.middle, C::wide(held.energy));
            flags[11] = 1u32;
            leave_nothing::<R>(bond, pull);
        }
    }
}

/// What all its bonds do to a grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub(super) struct Bundle<R: Real> {
    /// \[N\].
    pub force: Vector3<R>,
    /// \[N m\].
    pub torque: Vector3<R>,
    /// Half of their energy \[J\].
    pub energy: R,
    /// Half of the power that their damping takes \[W\].
    pub drag: R,
}

/// What the bonds that the entries from `from` to before `to` name do to their grain, added up in their order.
#[cube]
pub(super) fn bonds_on<R: Real>(from: usize, to: usize, entries: &[u32], pull: &[Record<R>]) -> Bundle<R> {
    let mut force = Vector3::<R>::zero();
    let mut torque = Vector3::<R>::zero();
    let mut drag = R::new(0.0);
    let mut energy = R::new(0.0);
    // Which bond is next is read while this one is. Behind the last row there is one entry more.
    let mut next = entries[from];
    for k in from..to {
        let word = next;
        next = entries[k + 1usize];
        let is_second = word >> 31u32;
        let at = (word & 0x7fff_ffffu32) as usize * 3usize;
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
    Bundle::<R> {
        force,
        torque,
        energy,
        drag,
    }
}

/// Forces and torques of bonds and loads on all grains, into the buffers of forces and torques, beside what walls left there. What bonds
/// left is added up in the order of the table: `rows` tells first and last entry of every grain, entries name bonds, marked with [`SECOND`]. What
/// they take and loads give is booked, with what grains added up in `taken` before; what loads give copies, which `member` tells, is booked where their
/// originals are.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn hold_grains<R: Coordinate<R>, C: Coordinate<R>>(
    rows: &[u32],
    entries: &[u32],
    pull: &[Record<R>],
    taken: &mut [C],
    group: &[u32],
    member: &[u32],
    loads: &[R],
    wall_row: &[u32],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    n: u32,
    parity: u32,
    #[comptime] plan: HoldPlan,
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
            let mut touches = R::new(0.0);
            if plan.loaded {
                let load_of_group = group[i] as usize * 8usize;
                pushed = load::<R>(loads, load_of_group);
                let mut given = pushed.dot(&xyz::<R>(velocity[i]));
                if plan.frictional {
                    turned = load::<R>(loads, load_of_group + 4usize);
                    given += turned.dot(&xyz::<R>(spin[i]));
                }
                if plan.copies {
                    if member[i] == 0xffff_fffeu32 {
                        given = R::new(0.0);
                    }
                }
                took.insert(3usize, given);
            }
            if plan.walls {
                if wall_row[i] < wall_row[i + 1usize] {
                    pushed = pushed.plus(&xyz::<R>(force[i]));
                    touches = last::<R>(force[i]);
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
            force[i] = record::<R>(&pushed, touches);
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
        // A grid of several rows may have more cubes than there is anything to book for.
        if UNIT_POS == 0u32 && at < power.len() {
            power[at] += total + sums;
            power[at + 1usize] = total;
        }
    }
}

/// Notes where the grains of all `bonds` bonds are in the new order, from their seats: a seat is what a grain is called as long as it is on this GPU.
#[cube(launch)]
pub fn find_ends(seats: &[u32], place: &[u32], ends: &mut [u32], bonds: u32) {
    let end = ABSOLUTE_POS;
    if end < bonds as usize * 2usize {
        ends[end] = place[seats[end] as usize];
    }
}

/// Notes first entry and end of the rows of all n grains in the new order, from the rows of their seats.
#[cube(launch)]
pub fn find_rows(seat: &[u32], row: &[u32], rows: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let own = seat[i] as usize;
        rows[i * 2usize] = row[own];
        rows[i * 2usize + 1usize] = row[own + 1usize];
    }
}

/// Lets bonds go of which a grain is outside of the domain; with what energy, they tell as those that break.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn let_go<R: Coordinate<R>, C: Coordinate<R>>(
    ends: &[u32],
    axis: &[Record<C>],
    bent: &[Record<C>],
    kind_of: &[u32],
    broke: &mut [u32],
    glue: &[R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    turn: &[Record<C>],
    pull: &mut [Record<R>],
    broken: &mut [Record<C>],
    domain: &[C],
    sides: &Sides<C, R>,
    n: u32,
    #[comptime] plan: BondPlan,
) {
    let bond = ABSOLUTE_POS;
    if bond < n as usize {
        if broke[bond] == 0u32 {
            let here = end_of::<C, R>(ends[bond * 2usize] as usize, position, velocity, spin, turn);
            let there = end_of::<C, R>(ends[bond * 2usize + 1usize] as usize, position, velocity, spin, turn);
            if is_outside::<C>(&here.position, domain) || is_outside::<C>(&there.position, domain) {
                let now = bonded::<C, R>(bond, here, there, axis[bond], bent, kind_of, glue, sides, plan);
                broken[bond] = record::<C>(&now.middle, C::wide(now.held.energy));
                broke[bond] = 7u32;
                leave_nothing::<R>(bond, pull);
            }
        }
    }
}
