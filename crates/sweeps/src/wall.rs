//! Contacts between grains and walls: planes, triangles, mantles, disks and spheres.
//!
//! The contact points of a sphere with a surface of several elements are the local minima of the distance from its center. Each element but
//! the infinite plane has one such point. Where elements meet – triangles along an edge or at a corner, a mantle and its cap along the rim –
//! it is one only if it is the nearest point of every element that holds it; this counts faces, edges and corners once, and a ball that
//! rolls over coplanar triangles feels one face at a time.

use crate::cells::{cell_index, cell_number};
use crate::contact::{Stored, Tally};
use crate::views::{FRUSTUM, PLANE, SPHERE, add, coefficients, load, recall, store};
use cubecl::prelude::*;
use seixo_laws::contact::{Approach, Memory, Touch, normal_energy, press, rub, spring_energy, tangential_stiffness};
use seixo_laws::wall::{nearest_on_frustum, nearest_on_sphere, nearest_on_triangle};
use seixo_laws::{Coordinate, Real, Vector3, between, larger, near_vector, widened};

/// The point nearest to x of the element whose record starts at `e`, of any kind but the plane.
#[cube]
#[inline(always)]
pub fn nearest_on_element<C: Real>(x: &Vector3<C>, elements: &[C], e: usize) -> Vector3<C> {
    let kind = elements[e + 9usize];
    let a = load::<C>(elements, e);
    let b = load::<C>(elements, e + 3usize);
    let c = load::<C>(elements, e + 6usize);
    let mut nearest = x.plus(&Vector3::<C>::zero());
    if kind == C::new(FRUSTUM) {
        nearest = nearest_on_frustum::<C>(x, &a, &b, &c);
    } else if kind == C::new(SPHERE) {
        nearest = nearest_on_sphere::<C>(x, &a, c.x);
    } else {
        nearest = nearest_on_triangle::<C>(x, &a, &b, &c);
    }
    nearest
}

/// Velocity of a wall's surface at a point with this normal \[m/s\]: the wall's own, and along the surface that of a belt or a roller.
#[cube]
#[inline(always)]
fn velocity_of_surface<C: Coordinate<R>, R: Real>(walls: &[C], w: usize, point: &Vector3<C>, normal: &Vector3<R>) -> Vector3<R> {
    let arm = between::<C, R>(&load::<C>(walls, w), point);
    let spin = near_vector::<C, R>(&load::<C>(walls, w + 6usize));
    let mut velocity = near_vector::<C, R>(&load::<C>(walls, w + 3usize)).plus(&spin.cross(&arm));
    if walls[w + 10usize] > C::new(0.0) {
        let arm = between::<C, R>(&load::<C>(walls, w + 18usize), point);
        let spin = near_vector::<C, R>(&load::<C>(walls, w + 15usize));
        let running = near_vector::<C, R>(&load::<C>(walls, w + 12usize)).plus(&spin.cross(&arm));
        velocity = velocity.plus(&running.minus(&normal.times(running.dot(normal))));
    }
    velocity
}

/// Wall elements nearer to grain i than `skin`: planes first, then the others that its cell of the walls' own grid lists.
///
/// `grid` is a record of [`crate::cells::GRID`] numbers whose last three are the far corner; outside of it there are planes only.
/// Counts the elements, and writes them to `list` from `at` on when `fill`.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn elements_near<C: Real>(
    i: usize,
    position: &[C],
    elements: &[C],
    planes: &[u32],
    number_of_planes: usize,
    grid: &[C],
    shape: &[u32],
    cell_first: &[u32],
    cell_list: &[u32],
    skin: C,
    at: usize,
    list: &mut [u32],
    #[comptime] fill: bool,
) -> u32 {
    let x = load::<C>(position, i * 4usize);
    let near = position[i * 4usize + 3usize] + skin;
    let mut count = 0u32;
    for s in 0..number_of_planes {
        let e = planes[s] as usize * 12usize;
        if x.minus(&load::<C>(elements, e)).dot(&load::<C>(elements, e + 3usize)) < near {
            if fill {
                list[at + count as usize] = planes[s];
            }
            count += 1u32;
        }
    }
    let inside = x.x >= grid[0] && x.y >= grid[1] && x.z >= grid[2] && x.x <= grid[5] && x.y <= grid[6] && x.z <= grid[7];
    if inside {
        let cx = cell_index::<C>(x.x, grid[0], grid[3], shape[0]);
        let cy = cell_index::<C>(x.y, grid[1], grid[3], shape[1]);
        let cz = cell_index::<C>(x.z, grid[2], grid[3], shape[2]);
        let cell = cell_number(shape, 0usize, cx, cy, cz, false) as usize;
        for s in cell_first[cell] as usize..cell_first[cell + 1usize] as usize {
            let nearest = nearest_on_element::<C>(&x, elements, cell_list[s] as usize * 12usize);
            if x.minus(&nearest).length() < near {
                if fill {
                    list[at + count as usize] = cell_list[s];
                }
                count += 1u32;
            }
        }
    }
    count
}

/// Contacts of grain i with the wall elements in its row `first..end` of the list.
///
/// `touches` is scratch with one record of [`crate::views::TOUCH`] numbers per entry of the part, and afterwards holds the force on the grain per
/// element. A contact that wanders from one element of a wall to the next takes its history along.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn walls_of<C: Coordinate<R>, R: Real>(
    i: usize,
    slot: usize,
    first: usize,
    end: usize,
    list: &[u32],
    list_first: usize,
    elements: &[C],
    walls: &[C],
    history: &mut [R],
    touches: &mut [C],
    position: &[C],
    velocity: &[R],
    spin: &[R],
    material: &[u32],
    materials: u32,
    table: &[R],
    force: &mut [R],
    torque: &mut [R],
    dt: R,
    overlap_limit: R,
    #[comptime] frictional: bool,
) -> Tally<R> {
    let zero = R::new(0.0);
    let nothing = C::new(0.0);
    let x = load::<C>(position, i * 4usize);
    let reach = position[i * 4usize + 3usize];
    let radius = C::near(reach);
    let v = load::<R>(velocity, i * 4usize);
    let mass = velocity[i * 4usize + 3usize];
    // Points closer than this are one: a share of the radius – more in single precision, which loses four digits to triangles that are much
    // longer than wide –, and what coordinates cannot tell apart.
    let share = C::new(1.0e-6) + C::roundoff() * C::new(1.0e4);
    let near = reach * share + x.length() * C::roundoff() * C::new(16.0);
    for k in first..end {
        let at = (k - list_first) * 8usize;
        let e = list[k] as usize * 12usize;
        let mut nearest = x.plus(&Vector3::<C>::zero());
        let mut distance = nothing;
        if elements[e + 9usize] == C::new(PLANE) {
            let normal = load::<C>(elements, e + 3usize);
            distance = x.minus(&load::<C>(elements, e)).dot(&normal);
            nearest = x.minus(&normal.times(distance));
        } else {
            nearest = nearest_on_element::<C>(&x, elements, e);
            distance = x.minus(&nearest).length();
        }
        store::<C>(touches, at, &nearest);
        touches[at + 3usize] = distance;
        touches[at + 7usize] = nothing;
        if distance < reach {
            touches[at + 7usize] = C::new(1.0);
        }
    }
    for k in first..end {
        let at = (k - list_first) * 8usize;
        let e = list[k] as usize * 12usize;
        if touches[at + 7usize] > nothing && elements[e + 9usize] != C::new(PLANE) {
            let mine = recall::<C>(touches, at);
            let distance = touches[at + 3usize];
            for s in first..end {
                let other = (s - list_first) * 8usize;
                let o = list[s] as usize * 12usize;
                if s != k && touches[other + 3usize] < reach && elements[o + 9usize] != C::new(PLANE) {
                    let apart = mine.minus(&recall::<C>(touches, other)).length();
                    if apart < near {
                        if s < k {
                            touches[at + 7usize] = nothing;
                        }
                    } else if touches[other + 3usize] < distance {
                        let on_other = nearest_on_element::<C>(&mine, elements, o);
                        if on_other.minus(&mine).length() < near {
                            touches[at + 7usize] = nothing;
                        }
                    }
                }
            }
        }
    }
    let mut push = Vector3::<R>::zero();
    let mut turn = Vector3::<R>::zero();
    let mut normal_power = zero;
    let mut damping_power = zero;
    let mut tangential_power = zero;
    let mut wall_power = zero;
    let mut excess = R::new(-1.0);
    for k in first..end {
        let at = (k - list_first) * 8usize;
        let h = (k - list_first) * 4usize;
        let e = list[k] as usize * 12usize;
        let mut on_grain = Vector3::<R>::zero();
        if touches[at + 7usize] > nothing {
            let w = C::whole(elements[e + 10usize]) as usize * 24usize;
            let distance = C::near(touches[at + 3usize]);
            let point = recall::<C>(touches, at);
            let mut normal = near_vector::<C, R>(&load::<C>(elements, e + 3usize));
            if elements[e + 9usize] != C::new(PLANE) {
                normal = between::<C, R>(&point, &x).times(R::new(1.0) / distance);
            }
            let overlap = C::near(reach - touches[at + 3usize]);
            let touch = Touch::<R> {
                overlap,
                contact_radius: R::root(radius * overlap),
                effective_mass: mass,
            };
            let pair = coefficients::<R>(table, (material[i] * materials + C::whole(walls[w + 9usize])) as usize);
            let running = near_vector::<C, R>(&load::<C>(walls, w + 15usize));
            let wall_spin = near_vector::<C, R>(&load::<C>(walls, w + 6usize)).plus(&running);
            let wall_velocity = velocity_of_surface::<C, R>(walls, w, &point, &normal);
            let relative = v.minus(&wall_velocity);
            excess = larger::<R>(excess, overlap - overlap_limit * radius);
            if frictional {
                if history[h + 3usize] == zero {
                    for s in first..end {
                        let other = (s - list_first) * 8usize;
                        let same = elements[list[s] as usize * 12usize + 10usize] == elements[e + 10usize];
                        let g = (s - list_first) * 4usize;
                        if same && touches[other + 7usize] == nothing && history[g + 3usize] > zero && history[h + 3usize] == zero {
                            let inherited = recall::<R>(history, g);
                            store::<R>(history, h, &inherited);
                            history[h + 3usize] = history[g + 3usize];
                            store::<R>(history, g, &Vector3::<R>::zero());
                            history[g + 3usize] = zero;
                        }
                    }
                }
                let w_i = load::<R>(spin, i * 4usize);
                let approach = Approach::<R> {
                    velocity: relative.minus(&w_i.times(distance).cross(&normal)),
                    twist: R::new(0.5) * w_i.plus(&wall_spin).dot(&normal),
                };
                let memory = Memory::<R> {
                    force: recall::<R>(history, h),
                    contact_radius: history[h + 3usize],
                };
                let response = rub::<R>(&touch, &normal, &approach, &memory, &pair, dt);
                store::<R>(history, h, &response.memory.force);
                history[h + 3usize] = response.memory.contact_radius;
                normal_power += response.normal_power;
                damping_power += response.damping_power;
                tangential_power += response.tangential_power;
                turn = turn.plus(&response.tangential.cross(&normal).times(distance));
                on_grain = normal.times(response.normal).plus(&response.tangential);
            } else {
                let pressure = press::<R>(&touch, relative.dot(&normal), &pair);
                normal_power += pressure.power;
                on_grain = normal.times(pressure.force);
            }
            push = push.plus(&on_grain);
            wall_power += on_grain.dot(&wall_velocity);
            force[slot * 4usize + 3usize] += R::new(1.0);
        }
        store::<C>(touches, at + 4usize, &widened::<C, R>(&on_grain));
    }
    if frictional {
        for k in first..end {
            let h = (k - list_first) * 4usize;
            if touches[(k - list_first) * 8usize + 7usize] == nothing && history[h + 3usize] > zero {
                store::<R>(history, h, &Vector3::<R>::zero());
                history[h + 3usize] = zero;
            }
        }
        add::<R>(torque, slot * 4usize, &turn);
    }
    add::<R>(force, slot * 4usize, &push);
    Tally::<R> {
        normal_power,
        tangential_power,
        damping_power,
        wall_power,
        excess,
    }
}

/// Energy stored in the contacts of grain i with the wall elements of its row; `touches` as [`walls_of()`] left it.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn stored_in_walls_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    end: usize,
    list: &[u32],
    elements: &[C],
    walls: &[C],
    history: &[R],
    touches: &[C],
    position: &[C],
    material: &[u32],
    materials: u32,
    table: &[R],
    #[comptime] frictional: bool,
) -> Stored<R> {
    let radius = position[i * 4usize + 3usize];
    let mut normal = R::new(0.0);
    let mut tangential = R::new(0.0);
    for k in first..end {
        if touches[k * 8usize + 7usize] > C::new(0.0) {
            let w = C::whole(elements[list[k] as usize * 12usize + 10usize]) as usize * 24usize;
            let pair = coefficients::<R>(table, (material[i] * materials + C::whole(walls[w + 9usize])) as usize);
            let overlap = C::near(radius - touches[k * 8usize + 3usize]);
            let contact_radius = R::root(C::near(radius) * overlap);
            let touch = Touch::<R> {
                overlap,
                contact_radius,
                effective_mass: R::new(0.0),
            };
            normal += normal_energy::<R>(&touch, &pair);
            if frictional {
                let spring = tangential_stiffness::<R>(contact_radius, &pair);
                tangential += spring_energy::<R>(&load::<R>(history, k * 4usize), spring);
            }
        }
    }
    Stored::<R> { normal, tangential }
}
