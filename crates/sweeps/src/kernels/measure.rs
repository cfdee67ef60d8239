//! Energies of grains, and reductions for previews.

use super::{add_sum, sum_of_cube};
use crate::bodies::FREE;
use crate::contact::{Stored, energy_of_extended, stored_between};
use crate::entries::{IN_CONTACT_BIT, PLACE, TILE, extended_history_of, first_entry, history_at, spring_of};
use crate::fluid::WALL;
use crate::layout::{Record, between_steps, coefficients, extended_coefficients, four_numbers, last, record, xyz};
use crate::motion::{StepParameters, acceleration, angular_acceleration};
use crate::periodic::nearest_image;
use crate::wall::stored_in_walls_of;
use cubecl::prelude::*;
use seixo_laws::contact::ContactHistory;
use seixo_laws::motion::{gravity_energy, kinetic_energy, rotational_energy, velocity_ahead};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, smaller, widened};

/// Energies of the grains of every block \[J\]: kinetic, rotational, in gravity, in normal springs, and in tangential springs.
///
/// Forces and torques are those of this step. With `outside`, only grains outside of the domain count, and no springs.
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
    half_velocity: &[Record<R>],
    half_spin: &[Record<R>],
    force: &[Record<R>],
    torque: &[Record<R>],
    energy: &mut [Record<C>],
    stepping: &StepParameters<C, R>,
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
                let half = near_vector::<C, R>(&between_steps::<C, R>(spin[i], half_spin[i]));
                w = velocity_ahead::<R>(&half, &turning.rate, stepping.velocity_lead);
            }
            v = velocity_ahead::<R>(
                &near_vector::<C, R>(&between_steps::<C, R>(velocity[i], half_velocity[i])),
                &moving.rate,
                stepping.velocity_lead,
            );
        }
        if carries {
            // Of grains in bodies only the springs count; their other energies are those of the body.
            wanted = wanted && member[i] == FREE;
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
                let entry = first + s as usize * TILE;
                let word = list[entry];
                let j = (word & PLACE) as usize;
                let apart = nearest_image::<C, R>(&x.minus(&xyz::<C>(position[j])), &stepping.sides, sides).apart;
                let row = (material[i] * materials + material[j]) as usize;
                let pair = coefficients::<R>(table, row);
                let mut stored = Stored::<R> {
                    normal: R::new(0.0),
                    tangential: R::new(0.0),
                };
                let touched = word >> IN_CONTACT_BIT == 1u32;
                if comptime!(numbers == 10usize) {
                    if touched {
                        let contact_history = ContactHistory::<R> {
                            force: spring_of::<R>(entry, history, numbers),
                            contact_radius: history[history_at(entry, 3usize, numbers)],
                        };
                        stored = energy_of_extended::<C, R>(
                            &apart,
                            last::<C>(position[i]),
                            last::<C>(position[j]),
                            &contact_history,
                            &extended_history_of::<R>(entry, history),
                            &pair,
                            &extended_coefficients::<R>(table, row),
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

/// Energies stored in the wall contacts of the grains of every block \[J\]: in normal and in tangential springs. If some grains are `shaped`, only those
/// with the mark [`FREE`] in `shape` count.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn wall_energies<R: Real, C: Coordinate<R>>(
    row: &[u32],
    list: &[u32],
    elements: &[C],
    records: &[C],
    history: &[R],
    wall_contacts: &[C],
    position: &[C],
    material: &[u32],
    shape: &[u32],
    table: &[R],
    energy: &mut [Record<C>],
    n: u32,
    materials: u32,
    #[comptime] frictional: bool,
    #[comptime] is_extended: bool,
    #[comptime] shaped: bool,
) {
    let i = ABSOLUTE_POS;
    let mut held = Record::<C>::new(C::new(0.0));
    if i < n as usize {
        let first = row[i] as usize;
        let mut end = row[i + 1usize] as usize;
        if shaped {
            if shape[i] != FREE {
                end = first;
            }
        }
        let stored = stored_in_walls_of::<C, R>(
            i,
            first,
            end,
            list,
            elements,
            records,
            history,
            wall_contacts,
            position,
            material,
            materials,
            table,
            frictional,
            is_extended,
        );
        held.insert(0usize, C::wide(stored.normal));
        held.insert(1usize, C::wide(stored.tangential));
    }
    let held_by_cube = sum_of_cube::<C>(held);
    if UNIT_POS == 0u32 {
        energy[CUBE_POS] = held_by_cube;
    }
}

/// Adds the sums in the records of grains, see [`crate::kernels::step::grains()`], to the ledger, and resets them.
#[cube(launch)]
pub fn collect<R: Real, C: Coordinate<R>>(
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    spin: &mut [Record<R>],
    power: &mut [Record<C>],
    n: u32,
    #[comptime] frictional: bool,
) {
    let i = ABSOLUTE_POS;
    let mut took = Record::<R>::new(R::new(0.0));
    if i < n as usize {
        took.insert(0usize, last::<R>(half_velocity[i]));
        half_velocity[i] = record::<R>(&xyz::<R>(half_velocity[i]), R::new(0.0));
        if frictional {
            took.insert(1usize, last::<R>(half_spin[i]));
            took.insert(2usize, last::<R>(spin[i]));
            half_spin[i] = record::<R>(&xyz::<R>(half_spin[i]), R::new(0.0));
            spin[i] = record::<R>(&xyz::<R>(spin[i]), R::new(0.0));
        }
    }
    add_sum::<C, R>(power, took);
}

/// Velocities or angular velocities between steps of n grains in the precision of coordinates, from the records that laws read and from what is kept
/// beside them, see [`between_steps()`].
#[cube(launch)]
pub fn restore<R: Real, C: Coordinate<R>>(read: &[Record<R>], kept: &[Record<R>], restored: &mut [Record<C>], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        restored[i] = record::<C>(&between_steps::<C, R>(read[i], kept[i]), C::new(0.0));
    }
}

/// Scalar for the color of a particle in pictures: the radius (0), the speed (1) or a component of the velocity (2 to 4).
#[cube]
fn color_scalar_of<R: Real>(radius: R, velocity: Record<R>, #[comptime] shade: u32) -> R {
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

/// Preview of n grains: positions relative to an origin \[m\] with radii, and one scalar each: the radius (shade 0), the speed (1) or a component of
/// the velocity (2 to 4).
#[cube(launch)]
pub fn preview_grains<R: Real, C: Coordinate<R>>(
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
        values[i] = color_scalar_of::<R>(radius, velocity[i], shade);
    }
}

/// As [`fn@preview_grains`], for n particles of fluids. Fluid particles have one radius \[m\], wall particles have radius zero.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn preview_fluid<R: Real, C: Coordinate<R>>(
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
        values[i] = color_scalar_of::<R>(shown, velocity[i], shade);
    }
}

/// Records that a thread of [`fn@preview_bounds`] writes.
pub const BOUNDS_RECORDS: usize = 4;

/// Bounds and a sample of n positions with radii and one scalar each, for pictures. Each thread processes up to `shares` particles. It writes one of
/// them; its scalar, the sum of radii, and the number of visible particles with finite positions; their smallest numbers; and their largest numbers.
#[cube(launch)]
pub fn preview_bounds<R: Real>(places: &[Record<R>], values: &[R], found: &mut [Record<R>], n: u32, units: u32, shares: u32) {
    let unit = ABSOLUTE_POS as u32;
    if unit < units {
        // Spread over the whole array, because neighbors in memory are neighbors in space.
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
        let first = unit as usize * BOUNDS_RECORDS;
        found[first] = places[shown as usize];
        found[first + 1usize] = four_numbers::<R>(values[shown as usize], radii, count, R::new(0.0));
        found[first + 2usize] = lowest;
        found[first + 3usize] = highest;
    }
}
