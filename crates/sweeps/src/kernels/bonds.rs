//! What bonds and loads do to grains, and how orientations go on.

use super::lists::is_outside;
use super::{is_halted, sum_of_cube, widened_record};
use crate::bodies::turn_at;
use crate::bonds::{End, apart_of, glue_at, moves_of, span_of};
use crate::sides::Sides;
use crate::views::{Record, last, load, record, xyz};
use cubecl::prelude::*;
use seixo_laws::bond::{Hold, Rest, Utilization, deformed, hold, utilization};
use seixo_laws::rotation::turned_by;
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, widened};

/// Bits of a word that tell how a bond broke; those above tell in which step, counted from one. A bond that holds has the word zero.
pub const MODE_BITS: u32 = 3;

/// Bits of a mode that tell that a grain of the bond is gone.
pub const GONE: u32 = 7;

/// Place in the buffer of flags of the word that tells that bonds broke. It stops no step.
pub const SOME_BROKE: usize = 11;

/// What one launch of [`hold_grains()`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HoldPlan {
    /// Whether there are bonds.
    pub bonded: bool,
    /// Whether they are of several kinds.
    pub several: bool,
    /// Whether what bonds take and loads give is booked now; needs cubes of [`super::UNITS`] units. Else what bonds take is added up by grain.
    pub books: bool,
    /// Whether grains have torques.
    pub frictional: bool,
    /// Whether some grains are near walls, whose forces the force and torque buffers hold.
    pub walls: bool,
    /// Which sides are periodic.
    pub sides: u32,
}

/// A record as an orientation.
#[cube]
fn quaternion<C: Real>(record: Record<C>) -> Quaternion<C> {
    Quaternion::<C> {
        w: record.extract(0usize),
        x: record.extract(1usize),
        y: record.extract(2usize),
        z: last::<C>(record),
    }
}

/// An orientation as a record.
#[cube]
fn record_of<C: Real>(turn: &Quaternion<C>) -> Record<C> {
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

/// The bond between the grains at these two places.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads")]
fn bonded<C: Coordinate<R>, R: Real>(
    bond: usize,
    first: usize,
    second: usize,
    made: &[Record<C>],
    kind_of: &[u32],
    glue: &[R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    turn: &[Record<C>],
    sides: &Sides<C, R>,
    #[comptime] kind: u32,
    #[comptime] several: bool,
) -> Bonded<C, R> {
    let here = end_of::<C, R>(first, position, velocity, spin, turn);
    let there = end_of::<C, R>(second, position, velocity, spin, turn);
    let axis = made[bond * 2usize];
    let rest = Rest::<C> {
        axis: xyz::<C>(axis),
        turn: quaternion::<C>(made[bond * 2usize + 1usize]),
    };
    let mut row = 0u32;
    if several {
        row = kind_of[bond];
    }
    let of_kind = glue_at::<R>(glue, row as usize);
    let span = span_of::<C, R>(&here, &there, &rest, C::near(last::<C>(axis)), &of_kind);
    let apart = apart_of::<C, R>(&here, &there, sides, kind);
    let middle = here.position.plus(&apart.times(C::new(0.5)));
    let shape = deformed::<C, R>(&apart, &here.turn, &there.turn, &rest);
    let held = hold::<R>(&shape, &moves_of::<C, R>(here, there), &span, &of_kind);
    let used = utilization::<R>(&held, &span, &of_kind);
    Bonded::<C, R> { held, used, middle }
}

/// Forces and torques of bonds and loads on all grains, into the buffers of forces and torques, beside what walls left there.
///
/// Bonds are in rows by seat, which is what a grain is called as long as it is on this GPU: `seat` tells it of every place, `place` the other way
/// round. `entries` holds two words for either end of a bond: the seat of the other grain, marked where that is the first of the two, and the bond.
/// Both ends compute it with the same numbers in the same order, so that what they write about it is the same to the bit.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn hold_grains<R: Coordinate<R>, C: Coordinate<R>>(
    seat: &[u32],
    place: &[u32],
    row: &[u32],
    entries: &[u32],
    made: &[Record<C>],
    kind_of: &[u32],
    broke: &mut [u32],
    broken: &mut [Record<C>],
    taken: &mut [C],
    glue: &[R],
    group: &[u32],
    pulls: &[R],
    wall_row: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    turn: &[Record<C>],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    sides: &Sides<C, R>,
    since: u32,
    n: u32,
    parity: u32,
    #[comptime] plan: HoldPlan,
) {
    let i = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        let mut took = Record::<R>::new(R::new(0.0));
        let mut before_now = C::new(0.0);
        if i < n as usize {
            let pull = group[i] as usize * 8usize;
            let mut pushed = load::<R>(pulls, pull);
            let mut turned = load::<R>(pulls, pull + 4usize);
            let mut given = pushed.dot(&xyz::<R>(velocity[i]));
            let mut touches = R::new(0.0);
            if plan.frictional {
                given += turned.dot(&xyz::<R>(spin[i]));
            }
            took.insert(3usize, given);
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
                let own = seat[i] as usize;
                let step = (since + flags[10] + 1u32) & 0x1fff_ffffu32;
                let mut drag = R::new(0.0);
                let mut energy = R::new(0.0);
                let end = row[own + 1usize] as usize;
                let mut k = row[own] as usize;
                // What tells where to look for the next bond is read while this one is computed. Behind the last row there is one entry more.
                let mut next_word = entries[k * 2usize];
                let mut next_bond = entries[k * 2usize + 1usize] as usize;
                let mut next_other = place[(next_word & 0x7fff_ffffu32) as usize] as usize;
                let mut next_before = broke[next_bond];
                while k < end {
                    let word = next_word;
                    let bond = next_bond;
                    let other = next_other;
                    let before = next_before;
                    k += 1usize;
                    next_word = entries[k * 2usize];
                    next_bond = entries[k * 2usize + 1usize] as usize;
                    next_other = place[(next_word & 0x7fff_ffffu32) as usize] as usize;
                    next_before = broke[next_bond];
                    // The other end may have found just now that it breaks.
                    if before == 0u32 || (before >> 3u32 == step && before & 7u32 != 7u32) {
                        let is_second = word >> 31u32 == 1u32;
                        let mut first = i;
                        let mut second = other;
                        if is_second {
                            first = other;
                            second = i;
                        }
                        let now = bonded::<C, R>(
                            bond,
                            first,
                            second,
                            made,
                            kind_of,
                            glue,
                            position,
                            velocity,
                            spin,
                            turn,
                            sides,
                            plan.sides,
                            plan.several,
                        );
                        // A share that is no number is as good as broken: it must not pass unseen.
                        if now.used.share <= R::new(1.0) {
                            energy += R::new(0.5) * now.held.energy;
                            drag += R::new(0.5) * now.held.damping_power;
                            if is_second {
                                pushed = pushed.plus(&now.held.force);
                                turned = turned.plus(&now.held.torque_j);
                            } else {
                                pushed = pushed.minus(&now.held.force);
                                turned = turned.plus(&now.held.torque_i);
                            }
                        } else {
                            broke[bond] = (step << 3u32) | R::whole(now.used.mode);
                            broken[bond] = record::<C>(&now.middle, C::wide(now.held.energy));
                            flags[11] = 1u32;
                        }
                    }
                }
                took.insert(0usize, drag);
                took.insert(1usize, energy);
                if plan.books {
                    before_now = taken[i];
                    taken[i] = C::new(0.0);
                } else {
                    taken[i] += C::wide(drag);
                }
            }
            force[i] = record::<R>(&pushed, touches);
            if plan.frictional {
                torque[i] = record::<R>(&turned, R::new(0.0));
            }
        }
        if plan.books {
            let total = widened_record::<C, R>(sum_of_cube::<R>(took));
            sync_cube();
            let mut sums = Record::<C>::new(C::new(0.0));
            sums.insert(0usize, before_now);
            let sums = sum_of_cube::<C>(sums);
            let at = CUBE_POS * 2usize;
            // A grid of several rows may have more cubes than there is anything to book for.
            if UNIT_POS == 0u32 && at < power.len() {
                power[at] += total + sums;
                power[at + 1usize] = total;
            }
        }
    }
}

/// Lets bonds go whose grains are outside of the domain; the energy that they take along is summed by cube into the first number of `energy` \[J\].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn let_go<R: Coordinate<R>, C: Coordinate<R>>(
    seat: &[u32],
    place: &[u32],
    row: &[u32],
    entries: &[u32],
    made: &[Record<C>],
    kind_of: &[u32],
    broke: &mut [u32],
    glue: &[R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    turn: &[Record<C>],
    energy: &mut [Record<C>],
    domain: &[C],
    sides: &Sides<C, R>,
    since: u32,
    n: u32,
    #[comptime] kind: u32,
    #[comptime] several: bool,
) {
    let i = ABSOLUTE_POS;
    let mut taken = Record::<R>::new(R::new(0.0));
    if i < n as usize {
        if is_outside::<C>(&xyz::<C>(position[i]), domain) {
            let own = seat[i] as usize;
            let gone = (((since + 1u32) & 0x1fff_ffffu32) << 3u32) | 7u32;
            let mut along = R::new(0.0);
            for k in row[own]..row[own + 1usize] {
                let word = entries[k as usize * 2usize];
                let bond = entries[k as usize * 2usize + 1usize] as usize;
                // The other end may have let it go just now.
                if broke[bond] == 0u32 || broke[bond] == gone {
                    let other = place[(word & 0x7fff_ffffu32) as usize] as usize;
                    let mut first = i;
                    let mut second = other;
                    if word >> 31u32 == 1u32 {
                        first = other;
                        second = i;
                    }
                    let now = bonded::<C, R>(
                        bond, first, second, made, kind_of, glue, position, velocity, spin, turn, sides, kind, several,
                    );
                    let mut share = R::new(1.0);
                    if is_outside::<C>(&xyz::<C>(position[other]), domain) {
                        share = R::new(0.5);
                    }
                    along += share * now.held.energy;
                    broke[bond] = gone;
                }
            }
            taken.insert(0usize, along);
        }
    }
    let total = sum_of_cube::<R>(taken);
    if UNIT_POS == 0u32 {
        energy[CUBE_POS * 2usize] = widened_record::<C, R>(total);
    }
}

/// Orientations of all grains one step on; those that are carried turn as their bodies do.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn turn_grains<R: Real, C: Coordinate<R>>(
    half_spin: &[Record<R>],
    member: &[u32],
    body_of: &[u32],
    turn_of_body: &[C],
    own_turn: &[C],
    turn: &mut [Record<C>],
    flags: &mut [u32],
    dt: C,
    n: u32,
    parity: u32,
    #[comptime] carries: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if !is_halted(flags, parity) {
            let half = widened::<C, R>(&xyz::<R>(half_spin[i]));
            let after = turned_by::<C>(&quaternion::<C>(turn[i]), &half, dt);
            turn[i] = record_of::<C>(&after);
            if carries {
                if member[i] != 0xffff_ffffu32 {
                    let of_body = body_of[member[i] as usize] as usize;
                    let own = turn_at::<C>(own_turn, member[i] as usize * 4usize);
                    turn[i] = record_of::<C>(&turn_at::<C>(turn_of_body, of_body * 4usize).after(&own));
                }
            }
        }
    }
}
