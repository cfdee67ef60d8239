//! Where the energy is.

use super::{book, sum_of_cube};
use crate::contact::{Stored, stored_between, stored_in_compound};
use crate::entries::{first_entry, history_at, imprint_of, spring_of};
use crate::fluid::WALL;
use crate::motion::{Stepping, acceleration, angular_acceleration};
use crate::sides::nearest_image;
use crate::views::{Record, coefficients, four_numbers, last, record, supplement, xyz};
use crate::wall::stored_in_walls_of;
use cubecl::prelude::*;
use seixo_laws::contact::Memory;
use seixo_laws::motion::{gravity_energy, kinetic_energy, rotational_energy, velocity_ahead};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, smaller, widened};

/// Energies of the grains of every cube \[J\]: kinetic, rotational, in gravity, stored in normal springs; and stored in tangential springs.
///
/// Forces and torques are those of this step. With `outside` only grains outside of the domain are looked at, and no springs.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn energies<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    history: &[R],
    material: &[u32],
    member: &[u32],
    table: &[R],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    half_velocity: &[Record<C>],
    half_spin: &[Record<C>],
    force: &[Record<R>],
    torque: &[Record<R>],
    energy: &mut [Record<C>],
    stepping: &Stepping<C, R>,
    n: u32,
    materials: u32,
    #[comptime] frictional: bool,
    #[comptime] numbers: usize,
    #[comptime] sides: u32,
    #[comptime] outside: bool,
    #[comptime] carries: bool,
) {
    let i = ABSOLUTE_POS;
    let mut held = Record::<C>::new(C::new(0.0));
    let mut tangential = Record::<C>::new(C::new(0.0));
    if i < n as usize {
        let x = xyz::<C>(position[i]);
        let radius = C::near(last::<C>(position[i]));
        let mass = last::<R>(velocity[i]);
        let mut wanted = true;
        let mut v = xyz::<R>(velocity[i]);
        let mut w = Vector3::<R>::zero();
        if frictional {
            w = xyz::<R>(spin[i]);
        }
        if outside {
            let low = &stepping.domain_min;
            let high = &stepping.domain_max;
            wanted = x.x < low.x || x.y < low.y || x.z < low.z || x.x > high.x || x.y > high.y || x.z > high.z;
        } else {
            let moving = acceleration::<C, R>(&v, mass, &xyz::<R>(force[i]), stepping);
            if frictional {
                let turning = angular_acceleration::<C, R>(&w, mass, radius, &xyz::<R>(torque[i]), stepping);
                let half = near_vector::<C, R>(&xyz::<C>(half_spin[i]));
                w = velocity_ahead::<R>(&half, &turning.rate, stepping.shows_ahead);
            }
            v = velocity_ahead::<R>(
                &near_vector::<C, R>(&xyz::<C>(half_velocity[i])),
                &moving.rate,
                stepping.shows_ahead,
            );
        }
        if carries {
            // Of those that bodies carry, only springs: the rest is the bodies'.
            wanted = wanted && member[i] == 0xffff_ffffu32;
        }
        if wanted {
            let wide_mass = C::wide(mass);
            held.insert(0usize, kinetic_energy::<C>(wide_mass, &widened::<C, R>(&v)));
            held.insert(1usize, rotational_energy::<C>(wide_mass, C::wide(radius), &widened::<C, R>(&w)));
            held.insert(2usize, gravity_energy::<C>(wide_mass, &widened::<C, R>(&stepping.gravity), &x));
        }
        if !outside {
            let mut normal = R::new(0.0);
            let mut springs = R::new(0.0);
            let first = first_entry(i, tile_first);
            for s in 0..count[i] {
                let entry = first + s as usize * 32usize;
                let word = list[entry];
                let j = (word & 0x7fff_ffffu32) as usize;
                let apart = nearest_image::<C, R>(&x.minus(&xyz::<C>(position[j])), &stepping.sides, sides).apart;
                let row = (material[i] * materials + material[j]) as usize;
                let pair = coefficients::<R>(table, row);
                let mut stored = Stored::<R> {
                    normal: R::new(0.0),
                    tangential: R::new(0.0),
                };
                let touched = word >> 31u32 == 1u32;
                if comptime!(numbers == 10usize) {
                    if touched {
                        let memory = Memory::<R> {
                            force: spring_of::<R>(entry, history, numbers),
                            contact_radius: history[history_at(entry, 3usize, numbers)],
                        };
                        stored = stored_in_compound::<C, R>(
                            &apart,
                            last::<C>(position[i]),
                            last::<C>(position[j]),
                            &memory,
                            &imprint_of::<R>(entry, history),
                            &pair,
                            &supplement::<R>(table, row),
                        );
                    }
                } else {
                    let mut spring = Vector3::<R>::zero();
                    if frictional {
                        if touched {
                            spring = spring_of::<R>(entry, history, numbers);
                        }
                    }
                    stored = stored_between::<C, R>(&apart, last::<C>(position[i]), last::<C>(position[j]), &spring, &pair);
                }
                normal += R::new(0.5) * stored.normal;
                springs += R::new(0.5) * stored.tangential;
            }
            held.insert(3usize, C::wide(normal));
            tangential.insert(0usize, C::wide(springs));
        }
    }
    let held_by_cube = sum_of_cube::<C>(held);
    sync_cube();
    let springs_of_cube = sum_of_cube::<C>(tangential);
    if UNIT_POS == 0u32 {
        energy[CUBE_POS * 2usize] = held_by_cube;
        energy[CUBE_POS * 2usize + 1usize] = springs_of_cube;
    }
}

/// Energies stored in the walls' contacts of the grains of every cube \[J\]: in normal and in tangential springs.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn wall_energies<R: Real, C: Coordinate<R>>(
    row: &[u32],
    list: &[u32],
    elements: &[C],
    records: &[C],
    history: &[R],
    touches: &[C],
    position: &[C],
    material: &[u32],
    table: &[R],
    energy: &mut [Record<C>],
    n: u32,
    materials: u32,
    #[comptime] frictional: bool,
    #[comptime] compound: bool,
) {
    let i = ABSOLUTE_POS;
    let mut held = Record::<C>::new(C::new(0.0));
    if i < n as usize {
        let stored = stored_in_walls_of::<C, R>(
            i,
            row[i] as usize,
            row[i + 1usize] as usize,
            list,
            elements,
            records,
            history,
            touches,
            position,
            material,
            materials,
            table,
            frictional,
            compound,
        );
        held.insert(0usize, C::wide(stored.normal));
        held.insert(1usize, C::wide(stored.tangential));
    }
    let held_by_cube = sum_of_cube::<C>(held);
    if UNIT_POS == 0u32 {
        energy[CUBE_POS] = held_by_cube;
    }
}

/// Books what grains added up in their own records, see [`crate::kernels::step::grains()`], and starts their sums anew.
#[cube(launch)]
pub fn collect<R: Real, C: Coordinate<R>>(
    half_velocity: &mut [Record<C>],
    half_spin: &mut [Record<C>],
    spin: &mut [Record<R>],
    power: &mut [Record<C>],
    n: u32,
    #[comptime] frictional: bool,
) {
    let i = ABSOLUTE_POS;
    let mut took = Record::<R>::new(R::new(0.0));
    if i < n as usize {
        took.insert(0usize, C::near(last::<C>(half_velocity[i])));
        half_velocity[i] = record::<C>(&xyz::<C>(half_velocity[i]), C::new(0.0));
        if frictional {
            took.insert(1usize, C::near(last::<C>(half_spin[i])));
            took.insert(2usize, last::<R>(spin[i]));
            half_spin[i] = record::<C>(&xyz::<C>(half_spin[i]), C::new(0.0));
            spin[i] = record::<R>(&xyz::<R>(spin[i]), R::new(0.0));
        }
    }
    book::<C, R>(power, took);
}

/// The number by which pictures tell particles apart: the radius (0), the speed (1) or a component of the velocity (2 to 4).
#[cube]
fn shade_of<R: Real>(radius: R, velocity: Record<R>, #[comptime] shade: u32) -> R {
    let v = xyz::<R>(velocity);
    if comptime!(shade == 0) {
        radius
    } else if comptime!(shade == 1) {
        R::root(v.dot(&v))
    } else if comptime!(shade == 2) {
        v.x
    } else if comptime!(shade == 3) {
        v.y
    } else {
        v.z
    }
}

/// What pictures need of n grains: places from an origin \[m\] with radii, and one number each: the radius (shade 0), the speed (1) or a component of
/// the velocity (2 to 4).
#[cube(launch)]
pub fn glance_at_grains<R: Real, C: Coordinate<R>>(
    position: &[Record<C>],
    velocity: &[Record<R>],
    places: &mut [Record<R>],
    values: &mut [R],
    origin: &Vector3<C>,
    n: u32,
    #[comptime] shade: u32,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let radius = C::near(last::<C>(position[i]));
        places[i] = record::<R>(&near_vector::<C, R>(&xyz::<C>(position[i]).minus(origin)), radius);
        values[i] = shade_of::<R>(radius, velocity[i], shade);
    }
}

/// As [`fn@glance_at_grains`], of n particles of fluids, which are shown with one radius \[m\], and those of walls with none.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn glance_at_fluid<R: Real, C: Coordinate<R>>(
    position: &[Record<C>],
    velocity: &[Record<R>],
    kind: &[u32],
    places: &mut [Record<R>],
    values: &mut [R],
    origin: &Vector3<C>,
    radius: R,
    n: u32,
    #[comptime] shade: u32,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let shown = select(kind[i] & WALL == 0, radius, R::new(0.0));
        places[i] = record::<R>(&near_vector::<C, R>(&xyz::<C>(position[i]).minus(origin)), shown);
        values[i] = shade_of::<R>(shown, velocity[i], shade);
    }
}

/// Records that a unit of [`fn@survey`] writes.
pub const SURVEYED: usize = 4;

/// What is to be known of n places with radii, and of one number each, before anybody draws them. Each unit looks at so many shares of them and writes: one of them;
/// its number, the sum of all radii, and how many have one and are somewhere; of these the lowest numbers; and the highest.
#[cube(launch)]
pub fn survey<R: Real>(places: &[Record<R>], values: &[R], found: &mut [Record<R>], n: u32, units: u32, shares: u32) {
    let unit = ABSOLUTE_POS as u32;
    if unit < units {
        // From all over, as neighbors in memory are neighbors in space.
        let mut shown = unit + (unit % shares) * units;
        if shown >= n {
            shown = unit;
        }
        let far = R::new(3e38);
        let near = R::new(-3e38);
        let mut lowest = Record::<R>::new(far);
        let mut highest = Record::<R>::new(near);
        let mut radii = R::new(0.0);
        let mut count = R::new(0.0);
        for share in 0..shares {
            let at = unit + share * units;
            if at < n {
                let place = places[at as usize];
                let mut is_seen = last::<R>(place) > R::new(0.0);
                #[unroll]
                for k in 0..4usize {
                    let number = place.extract(k);
                    is_seen = is_seen && number < far && number > near;
                }
                if is_seen {
                    #[unroll]
                    for k in 0..4usize {
                        lowest.insert(k, smaller::<R>(lowest.extract(k), place.extract(k)));
                        highest.insert(k, larger::<R>(highest.extract(k), place.extract(k)));
                    }
                    radii += last::<R>(place);
                    count += R::new(1.0);
                }
            }
        }
        let first = unit as usize * SURVEYED;
        found[first] = places[shown as usize];
        found[first + 1usize] = four_numbers::<R>(values[shown as usize], radii, count, R::new(0.0));
        found[first + 2usize] = lowest;
        found[first + 3usize] = highest;
    }
}
