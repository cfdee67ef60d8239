//! Contacts between grains and walls: planes and triangles.
//!
//! The contact points of a sphere with a surface of triangles are the local minima of the distance from its center. A point on a shared
//! edge or corner is one only if it is the nearest point of every triangle that holds it; this counts faces, edges and corners once, and
//! a ball that rolls over coplanar triangles feels one face at a time.

use crate::contact::{Stored, Tally};
use crate::views::{add, coefficients, load, recall, store};
use cubecl::prelude::*;
use seixo_laws::contact::{Approach, Memory, Touch, normal_energy, press, rub, spring_energy, tangential_stiffness};
use seixo_laws::wall::nearest_on_triangle;
use seixo_laws::{Real, Vector3, larger};

/// Contacts of grain i with the wall elements in its row `first..end` of the list.
///
/// `touches` is scratch with one record of [`crate::views::TOUCH`] numbers per entry of the part, and afterwards holds the force on the grain per
/// element. A contact that wanders from one triangle of a wall to the next takes its history along.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn walls_of<R: Real>(
    i: usize,
    slot: usize,
    first: usize,
    end: usize,
    list: &[u32],
    list_first: usize,
    elements: &[R],
    walls: &[R],
    history: &mut [R],
    touches: &mut [R],
    position: &[R],
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
    let x = load::<R>(position, i * 4usize);
    let radius = position[i * 4usize + 3usize];
    let v = load::<R>(velocity, i * 4usize);
    let mass = velocity[i * 4usize + 3usize];
    let near = radius * R::new(1.0e-6);
    for k in first..end {
        let at = (k - list_first) * 8usize;
        let e = list[k] as usize * 12usize;
        let a = load::<R>(elements, e);
        let b = load::<R>(elements, e + 3usize);
        let mut nearest = x.plus(&Vector3::<R>::zero());
        let mut distance = zero;
        if elements[e + 9usize] > zero {
            distance = x.minus(&a).dot(&b);
            nearest = x.minus(&b.times(distance));
        } else {
            nearest = nearest_on_triangle::<R>(&x, &a, &b, &load::<R>(elements, e + 6usize));
            distance = x.minus(&nearest).length();
        }
        store::<R>(touches, at, &nearest);
        touches[at + 3usize] = distance;
        touches[at + 7usize] = zero;
        if distance < radius {
            touches[at + 7usize] = R::new(1.0);
        }
    }
    for k in first..end {
        let at = (k - list_first) * 8usize;
        let e = list[k] as usize * 12usize;
        if touches[at + 7usize] > zero && elements[e + 9usize] == zero {
            let mine = recall::<R>(touches, at);
            let distance = touches[at + 3usize];
            for s in first..end {
                let other = (s - list_first) * 8usize;
                let o = list[s] as usize * 12usize;
                if s != k && touches[other + 3usize] < radius && elements[o + 9usize] == zero {
                    let apart = mine.minus(&recall::<R>(touches, other)).length();
                    if apart < near {
                        if s < k {
                            touches[at + 7usize] = zero;
                        }
                    } else if touches[other + 3usize] < distance {
                        let a = load::<R>(elements, o);
                        let b = load::<R>(elements, o + 3usize);
                        let on_other = nearest_on_triangle::<R>(&mine, &a, &b, &load::<R>(elements, o + 6usize));
                        if on_other.minus(&mine).length() < near {
                            touches[at + 7usize] = zero;
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
        if touches[at + 7usize] > zero {
            let w = R::whole(elements[e + 10usize]) as usize * 12usize;
            let distance = touches[at + 3usize];
            let point = recall::<R>(touches, at);
            let mut normal = load::<R>(elements, e + 3usize);
            if elements[e + 9usize] == zero {
                normal = x.minus(&point).times(R::new(1.0) / distance);
            }
            let overlap = radius - distance;
            let touch = Touch::<R> {
                overlap,
                contact_radius: R::root(radius * overlap),
                effective_mass: mass,
            };
            let pair = coefficients::<R>(table, (material[i] * materials + R::whole(walls[w + 9usize])) as usize);
            let through = load::<R>(walls, w);
            let wall_velocity = load::<R>(walls, w + 3usize).plus(&load::<R>(walls, w + 6usize).cross(&point.minus(&through)));
            let relative = v.minus(&wall_velocity);
            excess = larger::<R>(excess, overlap - overlap_limit * radius);
            if frictional {
                if history[h + 3usize] == zero {
                    for s in first..end {
                        let other = (s - list_first) * 8usize;
                        let same = elements[list[s] as usize * 12usize + 10usize] == elements[e + 10usize];
                        let g = (s - list_first) * 4usize;
                        if same && touches[other + 7usize] == zero && history[g + 3usize] > zero && history[h + 3usize] == zero {
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
                    twist: R::new(0.5) * w_i.plus(&load::<R>(walls, w + 6usize)).dot(&normal),
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
        store::<R>(touches, at + 4usize, &on_grain);
    }
    if frictional {
        for k in first..end {
            let h = (k - list_first) * 4usize;
            if touches[(k - list_first) * 8usize + 7usize] == zero && history[h + 3usize] > zero {
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
pub fn stored_in_walls_of<R: Real>(
    i: usize,
    first: usize,
    end: usize,
    list: &[u32],
    elements: &[R],
    walls: &[R],
    history: &[R],
    touches: &[R],
    position: &[R],
    material: &[u32],
    materials: u32,
    table: &[R],
    #[comptime] frictional: bool,
) -> Stored<R> {
    let radius = position[i * 4usize + 3usize];
    let mut normal = R::new(0.0);
    let mut tangential = R::new(0.0);
    for k in first..end {
        if touches[k * 8usize + 7usize] > R::new(0.0) {
            let w = R::whole(elements[list[k] as usize * 12usize + 10usize]) as usize * 12usize;
            let pair = coefficients::<R>(table, (material[i] * materials + R::whole(walls[w + 9usize])) as usize);
            let overlap = radius - touches[k * 8usize + 3usize];
            let contact_radius = R::root(radius * overlap);
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
