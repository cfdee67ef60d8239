//! Step of the weakly compressible solver, and kernels for particles of all solvers.

use super::{begins, put_sum, raise, store_sum};
use crate::bodies::FREE;
use crate::compact_position::{CompactPosition, CompactScale, compact_apart, compact_position};
use crate::entries::{TILE, first_entry};
use crate::fluid::{
    FluidKernelConfig, WALL_BIT, advected, drifted_position, is_passing, is_suspended, mass_at, medium_at, medium_of, parcel,
};
use crate::layout::{Record, four_numbers, last, record, xyz};
use crate::motion::StepParameters;
use crate::periodic::{near_image, wrap};
use cubecl::prelude::*;
use seixo_laws::fluid::shifting::taken_up;
use seixo_laws::fluid::{Separation, Smoother, exchange, surface_energy};
use seixo_laws::motion::gravity_energy;
use seixo_laws::{Coordinate, Real, Vector3, near_vector, widened};

/// Adds the powers of particle i to its sums: those taken by viscosity and by diffusion, and the power that it gained.
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

/// Advances fluid particle i under its force by one step, and adds up its powers as [`add_up()`]. Returns its new position and volume.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub(super) fn fly_on<R: Real, C: Coordinate<R>>(
    i: usize,
    place: &Vector3<C>,
    force: &Vector3<R>,
    density_rate: R,
    took: Record<R>,
    own_kind: usize,
    media: &[R],
    half_velocity: &mut [Record<C>],
    thermal: &mut [Record<C>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_flow: &mut [Record<R>],
    flags: &mut [u32],
    stepping: &StepParameters<C, R>,
    parity: u32,
) -> Record<C> {
    let half = half_velocity[i];
    let heat = thermal[i];
    let now = advected::<C, R>(
        place,
        &xyz::<C>(half),
        heat.extract(0usize),
        force,
        density_rate,
        C::near(heat.extract(1usize)),
        &xyz::<C>(reference[i]),
        media,
        own_kind,
        stepping,
    );
    half_velocity[i] = record::<C>(&now.half, last::<C>(half) + C::wide(took.extract(2usize)));
    thermal[i] = four_numbers::<C>(
        now.excess,
        C::wide(density_rate),
        heat.extract(2usize) + C::wide(took.extract(0usize)),
        last::<C>(heat) + C::wide(took.extract(1usize)),
    );
    let onward = record::<C>(&now.position, now.volume);
    new_position[i] = onward;
    new_flow[i] = record::<R>(&now.velocity, now.pressure);
    raise(flags, parity, now.flags);
    onward
}

/// The compact position in a record.
#[cube]
pub(super) fn compact_of(record: Record<u32>) -> CompactPosition {
    CompactPosition {
        x: record.extract(0usize),
        y: record.extract(1usize),
        z: record.extract(2usize),
    }
}

/// A record of the compact position and the volume in a record of both.
#[cube]
pub(super) fn compacted<R: Real, C: Coordinate<R>>(place: Record<C>, scale: &CompactScale<C, R>) -> Record<u32> {
    let position = compact_position::<C, R>(&xyz::<C>(place), scale);
    let mut record = Record::<u32>::empty();
    record.insert(0usize, position.x);
    record.insert(1usize, position.y);
    record.insert(2usize, position.z);
    record.insert(3usize, u32::reinterpret(C::near(last::<C>(place))));
    record
}

/// Computes the records of compact positions and volumes of all particles, see [`crate::compact_position`].
#[cube(launch)]
pub fn compact_positions<R: Real, C: Coordinate<R>>(
    position: &[Record<C>],
    compact: &mut [Record<u32>],
    scale: &CompactScale<C, R>,
    n: u32,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        compact[i] = compacted::<R, C>(position[i], scale);
    }
}

/// Computes forces and density rates, and advances fluid particles by one step. Without `advance`, `rate` gets the forces and rates. With it, `rate`
/// gets those of particles of bodies, whose kinds are the numbers from `first_laden` on. With grains in suspension, `rate` gets all forces except
/// theirs in any case. The fluid is then advanced later, see [`suspension`](crate::kernels::suspension).
///
/// If the world is `decomposition_invariant` (decomposition-invariant), `owned` marks ghost particles, see [`crate::bodies`]. They do not move and get no results.
///
/// With particle shifting or XSPH, `motion` also holds the velocities of fluid particles, see [`shift()`](crate::kernels::shifting::shift()) and
/// [`draw_along()`](crate::kernels::xsph::draw_along()).
///
/// Positions and flows are read from one set of buffers, which no thread writes, and written to another. The last number of `half_velocity` sums the
/// powers that a particle gains, including the energy stored by surface tension. `thermal` holds its density error, the density rate of the step
/// before, and sums of the powers taken by viscosity and diffusion, half of each pair's.
///
/// If it `uses_compact` positions, it reads those of neighbors from the records of [`compact_positions()`] in `compact`. Those of the particles that it
/// writes to `new_position` are written to `new_compact`.
///
/// If rows may be `short` ones, which only a step that advances reads, it sets the word of `outdated` for the next step when a particle is farther from
/// where it was in `selected_at` than the root of `stray_square` \[m²\]. It clears the word number `now`, see [`crate::kernels::short_rows`]. If
/// `stray_square` is zero, rows are not short, and `selected_at` is not read.
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
    compact: &[Record<u32>],
    flowing: &[Record<R>],
    motion: &[Record<R>],
    seen: &[Record<R>],
    half_velocity: &mut [Record<C>],
    thermal: &mut [Record<C>],
    rate: &mut [Record<R>],
    reference: &[Record<C>],
    selected_at: &[Record<C>],
    new_position: &mut [Record<C>],
    new_compact: &mut [Record<u32>],
    new_flow: &mut [Record<R>],
    outdated: &mut [u32],
    flags: &mut [u32],
    power: &mut [Record<C>],
    smoother: &Smoother<R>,
    compact_scale: &CompactScale<C, R>,
    stepping: &StepParameters<C, R>,
    stray_square: R,
    now: u32,
    n: u32,
    parity: u32,
    first_laden: u32,
    #[comptime] plan: FluidKernelConfig,
    #[comptime] uses_compact: bool,
    #[comptime] short: bool,
    #[comptime] advance: bool,
    #[comptime] decomposition_invariant: bool,
) {
    let i = ABSOLUTE_POS;
    let zero = R::new(0.0);
    let own = min(i, n as usize - 1usize);
    // A position in double precision, whose neighbors are compact, is read after them: it takes registers that others use until then.
    let mut here = Record::<C>::new(C::new(0.0));
    let mut own_compact = Record::<u32>::new(0u32);
    let mut volume = zero;
    if comptime!(uses_compact) {
        own_compact = compact[own];
        volume = R::reinterpret(own_compact.extract(3usize));
    } else {
        here = position[own];
        volume = C::near(last::<C>(here));
    }
    let moving = flowing[own];
    let entries = count[own];
    let mut took = Record::<R>::new(zero);
    let goes = begins(flags, parity, advance);
    if goes && i < n as usize {
        if comptime!(short) {
            if i == 0usize {
                outdated[now as usize] = 0u32;
            }
        }
        let is_fluid = volume > zero;
        let mut stays = !is_fluid;
        if comptime!(decomposition_invariant) {
            stays = stays || owned[i] != 0xffff_ffffu32;
        }
        if comptime!(advance) {
            if stays {
                let before = position[i];
                let mut place = before;
                if comptime!(plan.passing) {
                    if is_passing(kind[i]) {
                        let on = drifted_position::<C, R>(&xyz::<C>(before), &xyz::<R>(motion[i]), &xyz::<C>(reference[i]), stepping);
                        place = record::<C>(&on.position, last::<C>(before));
                        raise(flags, parity, on.flags);
                    }
                }
                new_position[i] = place;
                new_flow[i] = moving;
                if comptime!(uses_compact) {
                    new_compact[i] = compacted::<R, C>(place, compact_scale);
                }
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
        if comptime!(decomposition_invariant) {
            is_found = is_found && owned[i] == FREE;
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
                if comptime!(plan.has_drift()) {
                    velocity = xyz::<R>(motion[i]);
                }
            }
            let this = parcel::<R>(volume, &velocity, runs, &drag, pressure);
            let mut force = Vector3::<R>::zero();
            let (mut density_rate, mut viscous, mut diffusive) = (zero, zero, zero);
            let (mut stored, mut surface) = (zero, zero);
            let mut carried = Vector3::<R>::zero();
            let own_medium = medium_at::<R>(media, own_kind);
            let first = first_entry(i, tile_first);
            // Neighbors are read ahead, their indices by two entries. The computation hides the memory latency. There are two entries a turn. So what was
            // read ahead changes places with what is computed, and is not copied. After an odd number of entries comes the particle itself, at no
            // distance and with the same velocity and pressure. It adds nothing but surface energy.
            let mut j = own;
            let mut next = own;
            if entries > 0u32 {
                j = list[first] as usize;
            }
            if entries > 1u32 {
                next = list[first + TILE] as usize;
            }
            let mut coming_compact = own_compact;
            let mut coming_place = here;
            if comptime!(uses_compact) {
                coming_compact = compact[j];
            } else {
                coming_place = position[j];
            }
            let mut coming_flow = flowing[j];
            let turns = (entries / 2u32 + entries % 2u32) as usize;
            for turn in 0..turns {
                #[unroll]
                for half in 0..2usize {
                    let s = turn * 2usize + half;
                    let there = coming_place;
                    let compact_there = coming_compact;
                    let mut far = coming_flow;
                    let at = j;
                    j = next;
                    next = own;
                    if s + 2usize < entries as usize {
                        next = list[first + (s + 2usize) * TILE] as usize;
                    }
                    if comptime!(uses_compact) {
                        coming_compact = compact[j];
                    } else {
                        coming_place = position[j];
                    }
                    coming_flow = flowing[j];
                    let mut other_volume = zero;
                    let mut apart = Vector3::<R>::zero();
                    if comptime!(uses_compact) {
                        other_volume = R::reinterpret(compact_there.extract(3usize));
                        apart = compact_apart::<C, R>(&compact_of(own_compact), &compact_of(compact_there), compact_scale);
                    } else {
                        other_volume = C::near(last::<C>(there));
                        let between = place.minus(&xyz::<C>(there));
                        if comptime!(plan.sides > 0) {
                            apart = near_image::<C, R>(&between, &stepping.sides, plan.sides);
                        } else {
                            apart = near_vector::<C, R>(&between);
                        }
                    }
                    let mut is_wall = !is_fluid;
                    let mut other_velocity = xyz::<R>(far);
                    if comptime!(plan.has_drift()) {
                        other_velocity = xyz::<R>(motion[at]);
                    }
                    let mut other_runs = zero;
                    // A pair of fluid particles is evaluated from both ends, a pair with a wall particle from one.
                    let mut share = R::new(0.5);
                    if comptime!(plan.bounded) {
                        if other_volume < zero {
                            far = seen[at];
                            is_wall = true;
                            // Walls at rest have no velocity, whatever their viscous velocity.
                            other_velocity = Vector3::<R>::zero();
                            if comptime!(plan.moving) {
                                other_velocity = xyz::<R>(motion[at]);
                                other_runs = last::<R>(motion[at]);
                            }
                            share = R::new(1.0);
                        }
                    }
                    let other_drag = xyz::<R>(far);
                    let other = parcel::<R>(other_volume, &other_velocity, other_runs, &other_drag, last::<R>(far));
                    let mut other_kind = own_kind;
                    if comptime!(plan.mixed) {
                        // In a pair with a wall particle, the kind of the fluid particle counts. A wall particle has no fluid.
                        if other_volume > zero {
                            other_kind = kind[at] as usize;
                        }
                    }
                    let medium = medium_of::<R>(&own_medium, media, own_kind, other_kind, is_wall, plan.mixed);
                    let passed = exchange::<R>(
                        &Separation::by(&apart, smoother),
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
                            &Separation::by(&apart, smoother),
                            product,
                            &drifts,
                            &faster,
                            smoother,
                            plan.smoothing,
                        ));
                    }
                    force = force.plus(&passed.force);
                    density_rate += other.volume * (passed.density_rate + passed.diffusion);
                    if comptime!(plan.walls_take_power()) {
                        viscous += passed.viscous_power * share;
                        diffusive += passed.diffusive_power * share;
                    } else {
                        viscous += passed.viscous_power;
                        diffusive += passed.diffusive_power;
                    }
                    if comptime!(plan.cohesive) {
                        stored += passed.tension_power * share;
                        if comptime!(!advance) {
                            if s < entries as usize {
                                surface += surface_energy::<R>(&apart, &medium, smoother) * share;
                            }
                        }
                    }
                }
            }
            if comptime!(!plan.walls_take_power()) {
                // All of it was between two fluid particles.
                viscous *= R::new(0.5);
                diffusive *= R::new(0.5);
            }
            if comptime!(uses_compact) {
                place = xyz::<C>(position[i]);
            }
            let mut gained = zero;
            if is_fluid {
                gained = force.dot(&velocity) + volume * pressure * density_rate + stored;
                if comptime!(plan.has_drift()) {
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
                    let onward = fly_on::<R, C>(
                        i,
                        &place,
                        &force,
                        density_rate,
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
                    if comptime!(uses_compact) {
                        new_compact[i] = compacted::<R, C>(onward, compact_scale);
                    }
                    if comptime!(short) {
                        if stray_square > zero {
                            let strayed = near_vector::<C, R>(&xyz::<C>(onward).minus(&xyz::<C>(selected_at[i])));
                            if strayed.dot(&strayed) > stray_square {
                                // Reads of one word by many threads are faster than writes.
                                if outdated[(1u32 - now) as usize] == 0u32 {
                                    outdated[(1u32 - now) as usize] = 1u32;
                                }
                            }
                        }
                    }
                } else {
                    rate[i] = record::<R>(&force, density_rate);
                }
            } else {
                rate[i] = record::<R>(&force, density_rate);
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
        store_sum::<C, R>(power, took);
    }
}

/// Stores the present positions as those of the list rebuild. The last numbers of `reference` are kept.
#[cube(launch)]
pub fn record_list_positions<C: Real>(position: &[Record<C>], reference: &mut [Record<C>], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let reach = last::<C>(reference[i]);
        reference[i] = record::<C>(&xyz::<C>(position[i]), reach);
    }
}

/// Wraps particles that left through periodic sides. The change of the fluid's potential energy in gravity is summed by block into the first number
/// of `energy`. If the world is `decomposition_invariant` (decomposition-invariant), `owned` marks ghost particles, which are not counted.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn wrap_particles<R: Real, C: Coordinate<R>>(
    position: &mut [Record<C>],
    kind: &[u32],
    owned: &[u32],
    media: &[R],
    energy: &mut [Record<C>],
    stepping: &StepParameters<C, R>,
    n: u32,
    #[comptime] decomposition_invariant: bool,
) {
    let i = ABSOLUTE_POS;
    let mut gained = Record::<C>::new(C::new(0.0));
    if i < n as usize {
        let here = position[i];
        let before = xyz::<C>(here);
        let returned = wrap::<C, R>(&before, &stepping.sides);
        let mark = kind[i] >> WALL_BIT;
        let mut is_counted = mark == 0u32;
        if comptime!(decomposition_invariant) {
            is_counted = is_counted && owned[i] == FREE;
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

/// Writes 1 for every wall particle, else 0. Grains in suspension get 0.
#[cube(launch)]
pub fn mark_walls(kind: &[u32], marks: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut mark = kind[i] >> WALL_BIT;
        if is_suspended(kind[i]) {
            mark = 0u32;
        }
        marks[i] = mark;
    }
}

/// Counts the neighbors of every fluid particle within the support.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn count_near<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    position: &[Record<C>],
    near: &mut [u32],
    stepping: &StepParameters<C, R>,
    support: R,
    n: u32,
    #[comptime] plan: FluidKernelConfig,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let here = position[i];
        let mut all = 0u32;
        if last::<C>(here) > C::new(0.0) {
            for s in 0..count[i] {
                let j = list[first_entry(i, tile_first) + s as usize * TILE] as usize;
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
