//! Fluids.

use super::{begins, note, put_sum, raise};
use crate::entries::first_entry;
use crate::fluid::{FlowPlan, drifted, flown, is_passing, is_suspended, mass_at, medium_at, medium_of, parcel};
use crate::motion::Stepping;
use crate::sides::{near_image, put_back};
use crate::views::{Record, four_numbers, last, record, xyz};
use cubecl::prelude::*;
use seixo_laws::fluid::shifting::taken_up;
use seixo_laws::fluid::{Apart, Smoother, exchange, surface_energy};
use seixo_laws::motion::gravity_energy;
use seixo_laws::{Coordinate, Real, Vector3, widened};

/// Adds what was done to particle i to its sums: the powers that viscosity and diffusion took, and that it gained.
#[cube]
pub(super) fn add_up<R: Real, C: Coordinate<R>>(i: usize, took: Record<R>, half_velocity: &mut [Record<C>], thermal: &mut [Record<C>]) {
    let half = half_velocity[i];
    let heat = thermal[i];
    half_velocity[i] = record::<C>(&xyz::<C>(half), last::<C>(half) + C::wide(took.extract(2usize)));
    thermal[i] = four_numbers::<C>(
        heat.extract(0usize),
        heat.extract(1usize),
        heat.extract(2usize) + C::wide(took.extract(0usize)),
        last::<C>(heat) + C::wide(took.extract(1usize)),
    );
}

/// Takes particle i of fluid on to the next step, with all that pushes it at this one, and adds up what was done to it, as [`add_up()`].
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub(super) fn fly_on<R: Real, C: Coordinate<R>>(
    i: usize,
    place: &Vector3<C>,
    force: &Vector3<R>,
    swelling: R,
    took: Record<R>,
    own_kind: usize,
    media: &[R],
    half_velocity: &mut [Record<C>],
    thermal: &mut [Record<C>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_flow: &mut [Record<R>],
    flags: &mut [u32],
    stepping: &Stepping<C, R>,
    parity: u32,
) {
    let half = half_velocity[i];
    let heat = thermal[i];
    let now = flown::<C, R>(
        place,
        &xyz::<C>(half),
        heat.extract(0usize),
        force,
        swelling,
        C::near(heat.extract(1usize)),
        &xyz::<C>(reference[i]),
        media,
        own_kind,
        stepping,
    );
    half_velocity[i] = record::<C>(&now.half, last::<C>(half) + C::wide(took.extract(2usize)));
    thermal[i] = four_numbers::<C>(
        now.excess,
        C::wide(swelling),
        heat.extract(2usize) + C::wide(took.extract(0usize)),
        last::<C>(heat) + C::wide(took.extract(1usize)),
    );
    new_position[i] = record::<C>(&now.position, now.volume);
    new_flow[i] = record::<R>(&now.velocity, now.pressure);
    raise(flags, parity, now.flags);
}

/// Forces and rates at this step, and particles of fluid on to the next; without `advance`, `rate` gets the former. With it, `rate` gets those of
/// particles that bodies bear: their kinds are the numbers from `first_laden` on. Where fluid carries small grains, `rate` gets all but theirs in any
/// case, and fluid waits for what they do to it, see [`suspension`](crate::kernels::suspension).
///
/// In a `divisible` world `owned` tells copies of particles that other domains own, see [`crate::bodies`]: they stay, and nothing is found of them.
///
/// Where particles are shifted, `motion` holds the velocities with which fluid goes on, too, see [`shift()`](crate::kernels::shifting::shift()).
///
/// Places and flows are read from one set of buffers, which no unit writes, and written to another. The last number of `half_velocity` adds up the
/// powers that a particle gains, what tension stores among them; `thermal` holds its excess of density, the rate of change of that a step before,
/// and sums of the powers that viscosity and diffusion take, its half of each pair's.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn flow<R: Coordinate<R>, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    owned: &[u32],
    media: &[R],
    position: &[Record<C>],
    flowing: &[Record<R>],
    motion: &[Record<R>],
    seen: &[Record<R>],
    half_velocity: &mut [Record<C>],
    thermal: &mut [Record<C>],
    rate: &mut [Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_flow: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    smoother: &Smoother<R>,
    stepping: &Stepping<C, R>,
    n: u32,
    parity: u32,
    first_laden: u32,
    #[comptime] plan: FlowPlan,
    #[comptime] advance: bool,
    #[comptime] divisible: bool,
) {
    let i = ABSOLUTE_POS;
    let zero = R::new(0.0);
    let own = min(i, n as usize - 1usize);
    let here = position[own];
    let moving = flowing[own];
    let entries = count[own];
    let mut took = Record::<R>::new(zero);
    let goes = begins(flags, parity, advance);
    if goes && i < n as usize {
        let is_fluid = last::<C>(here) > C::new(0.0);
        let mut stays = !is_fluid;
        if comptime!(divisible) {
            stays = stays || owned[i] != 0xffff_ffffu32;
        }
        if comptime!(advance) {
            if stays {
                let mut place = here;
                if comptime!(plan.passing) {
                    if is_passing(kind[i]) {
                        let on = drifted::<C, R>(&xyz::<C>(here), &xyz::<R>(motion[i]), &xyz::<C>(reference[i]), stepping);
                        place = record::<C>(&on.position, last::<C>(here));
                        raise(flags, parity, on.flags);
                    }
                }
                new_position[i] = place;
                new_flow[i] = moving;
            }
        }
        let mut is_found = is_fluid;
        if comptime!(plan.laden) {
            is_found = is_fluid || kind[i] >= first_laden;
        }
        if comptime!(!advance) {
            is_found = true;
        }
        if comptime!(plan.carrying) {
            is_found = is_found && !is_suspended(kind[i]);
        }
        if comptime!(divisible) {
            is_found = is_found && owned[i] == 0xffff_ffffu32;
        }
        if is_found {
            let mut place = xyz::<C>(here);
            let mut drag = xyz::<R>(moving);
            let mut velocity = xyz::<R>(moving);
            let mut runs = zero;
            let mut pressure = last::<R>(moving);
            let mut own_kind = 0usize;
            if !is_fluid {
                drag = xyz::<R>(seen[i]);
                velocity = Vector3::<R>::zero();
                if comptime!(plan.moving) {
                    velocity = xyz::<R>(motion[i]);
                    runs = last::<R>(motion[i]);
                }
                pressure = last::<R>(seen[i]);
            } else {
                if comptime!(plan.mixed) {
                    own_kind = kind[i] as usize;
                }
                if comptime!(plan.shifting) {
                    velocity = xyz::<R>(motion[i]);
                }
            }
            let volume = C::near(last::<C>(here));
            let this = parcel::<R>(volume, &velocity, runs, &drag, pressure);
            let mut force = Vector3::<R>::zero();
            let (mut swelling, mut viscous, mut diffusive) = (zero, zero, zero);
            let (mut stored, mut surface) = (zero, zero);
            let mut carried = Vector3::<R>::zero();
            let own_medium = medium_at::<R>(media, own_kind);
            let first = first_entry(i, tile_first);
            // Neighbors are read ahead, by their names even two ahead: what is computed meanwhile hides the way to memory.
            let mut j = own;
            let mut next = own;
            if entries > 0u32 {
                j = list[first] as usize;
            }
            if entries > 1u32 {
                next = list[first + 32usize] as usize;
            }
            let mut coming_place = position[j];
            let mut coming_flow = flowing[j];
            for s in 0..entries {
                let there = coming_place;
                let mut far = coming_flow;
                let at = j;
                j = next;
                if s + 2u32 < entries {
                    next = list[first + (s as usize + 2usize) * 32usize] as usize;
                }
                coming_place = position[j];
                coming_flow = flowing[j];
                let other_volume = C::near(last::<C>(there));
                let mut is_wall = !is_fluid;
                let mut other_velocity = xyz::<R>(far);
                if comptime!(plan.shifting) {
                    other_velocity = xyz::<R>(motion[at]);
                }
                let mut other_runs = zero;
                // A pair of fluid is looked at from both of its ends, one with a wall from one.
                let mut share = R::new(0.5);
                if comptime!(plan.bounded) {
                    if other_volume < zero {
                        far = seen[at];
                        is_wall = true;
                        // Walls that stand still have no velocity, whatever viscosity sees.
                        other_velocity = Vector3::<R>::zero();
                        if comptime!(plan.moving) {
                            other_velocity = xyz::<R>(motion[at]);
                            other_runs = last::<R>(motion[at]);
                        }
                        share = R::new(1.0);
                    }
                }
                let apart = near_image::<C, R>(&place.minus(&xyz::<C>(there)), &stepping.sides, plan.sides);
                let other_drag = xyz::<R>(far);
                let other = parcel::<R>(other_volume, &other_velocity, other_runs, &other_drag, last::<R>(far));
                let mut other_kind = own_kind;
                if comptime!(plan.mixed) {
                    // Of two of which one is a wall, the kind of the other counts; a wall has none.
                    if other_volume > zero {
                        other_kind = kind[at] as usize;
                    }
                }
                let medium = medium_of::<R>(&own_medium, media, own_kind, other_kind, is_wall, plan.mixed);
                let passed = exchange::<R>(
                    &Apart::by(&apart, smoother),
                    &this,
                    &other,
                    &medium,
                    &stepping.gravity,
                    smoother,
                    plan.smoothing,
                    plan.viscous,
                    plan.cohesive,
                );
                if comptime!(plan.shifting) {
                    let mut drifts = velocity.minus(&drag);
                    if other_volume > zero {
                        drifts = drifts.plus(&other_velocity.minus(&other_drag));
                    }
                    let product = medium.rest_density * volume * other.volume;
                    let faster = other_drag.minus(&drag);
                    carried = carried.plus(&taken_up::<R>(
                        &Apart::by(&apart, smoother),
                        product,
                        &drifts,
                        &faster,
                        smoother,
                        plan.smoothing,
                    ));
                }
                force = force.plus(&passed.force);
                swelling += other.volume * (passed.swelling + passed.diffusion);
                viscous += passed.viscous_power * share;
                diffusive += passed.diffusive_power * share;
                if comptime!(plan.cohesive) {
                    stored += passed.tension_power * share;
                    if comptime!(!advance) {
                        surface += surface_energy::<R>(&apart, &medium, smoother) * share;
                    }
                }
            }
            let mut gained = zero;
            if is_fluid {
                gained = force.dot(&velocity) + volume * pressure * swelling + stored;
                if comptime!(plan.shifting) {
                    let drift = velocity.minus(&drag);
                    let weight = stepping.gravity.times(mass_at::<R>(media, own_kind));
                    let taken = drift.dot(&force.plus(&weight)) - carried.dot(&drag);
                    diffusive += taken;
                    gained -= taken;
                    force = force.plus(&carried);
                    place = place.plus(&widened::<C, R>(&drift.times(stepping.dt)));
                }
            }
            let of_pairs = four_numbers::<R>(viscous, diffusive, gained, surface);
            if comptime!(advance && !plan.carrying) {
                if is_fluid {
                    fly_on::<R, C>(
                        i,
                        &place,
                        &force,
                        swelling,
                        of_pairs,
                        own_kind,
                        media,
                        half_velocity,
                        thermal,
                        reference,
                        new_position,
                        new_flow,
                        flags,
                        stepping,
                        parity,
                    );
                } else {
                    rate[i] = record::<R>(&force, swelling);
                }
            } else {
                rate[i] = record::<R>(&force, swelling);
                if is_fluid {
                    if comptime!(advance) {
                        add_up::<R, C>(i, of_pairs, half_velocity, thermal);
                    }
                    took = of_pairs;
                }
            }
        }
    }
    if comptime!(!advance) {
        note::<C, R>(power, took);
    }
}

/// Writes where particles are now as where they are listed; the last numbers of `reference` stay.
#[cube(launch)]
pub fn remember<C: Real>(position: &[Record<C>], reference: &mut [Record<C>], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let reach = last::<C>(reference[i]);
        reference[i] = record::<C>(&xyz::<C>(position[i]), reach);
    }
}

/// Puts particles that left through periodic sides back. What the energy of fluid changes by in gravity is summed by cube into the first number of
/// `energy`; in a `divisible` world `owned` tells copies, which are not counted.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn put_back_inside<R: Real, C: Coordinate<R>>(
    position: &mut [Record<C>],
    kind: &[u32],
    owned: &[u32],
    media: &[R],
    energy: &mut [Record<C>],
    stepping: &Stepping<C, R>,
    n: u32,
    #[comptime] divisible: bool,
) {
    let i = ABSOLUTE_POS;
    let mut gained = Record::<C>::new(C::new(0.0));
    if i < n as usize {
        let here = position[i];
        let before = xyz::<C>(here);
        let returned = put_back::<C, R>(&before, &stepping.sides);
        let mark = kind[i] >> 31u32;
        let mut is_counted = mark == 0u32;
        if comptime!(divisible) {
            is_counted = is_counted && owned[i] == 0xffff_ffffu32;
        }
        if is_counted {
            let moved = returned.position.minus(&before);
            let mass = C::wide(mass_at::<R>(media, kind[i] as usize));
            let by_sides = gravity_energy::<C>(mass, &widened::<C, R>(&stepping.gravity), &moved);
            gained.insert(0usize, by_sides);
        }
        position[i] = record::<C>(&returned.position, last::<C>(here));
    }
    put_sum::<C>(energy, gained);
}

/// Writes 1 for every particle of a wall, else 0, as for small grains.
#[cube(launch)]
pub fn mark_walls(kind: &[u32], marks: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut mark = kind[i] >> 31u32;
        if is_suspended(kind[i]) {
            mark = 0u32;
        }
        marks[i] = mark;
    }
}

/// Counts the neighbors of every particle of fluid that are within the support.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn count_near<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    position: &[Record<C>],
    near: &mut [u32],
    stepping: &Stepping<C, R>,
    support: R,
    n: u32,
    #[comptime] plan: FlowPlan,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let here = position[i];
        let mut all = 0u32;
        if last::<C>(here) > C::new(0.0) {
            for s in 0..count[i] {
                let j = list[first_entry(i, tile_first) + s as usize * 32usize] as usize;
                let apart = xyz::<C>(here).minus(&xyz::<C>(position[j]));
                let apart = near_image::<C, R>(&apart, &stepping.sides, plan.sides);
                if apart.dot(&apart) < support * support {
                    all += 1u32;
                }
            }
        }
        near[i] = all;
    }
}
