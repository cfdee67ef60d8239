//! Contacts between grains and walls: planes, triangles, frustums, disks and spheres.
//!
//! The contact points of a sphere with a surface of several elements are the local minima of the distance from its center. Each element except the
//! infinite plane has one nearest point. Elements meet along edges, at corners, or at the rim of a cylinder and its cap. There, a point is a contact
//! only if it is the nearest point of every element that contains it. This counts faces, edges and corners once. A ball that rolls over coplanar
//! triangles has one contact at a time.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::layout::{ELEMENT, TRIANGLE};
//! use seixo_sweeps::wall::nearest_on_element;
//! // A triangle with the corners 0 0 0, 1 0 0 and 0 1 0. One center is above its face, the other is beside a corner.
//! let mut elements = [0.0; ELEMENT];
//! (elements[3], elements[7], elements[9]) = (1.0, 1.0, f64::from(TRIANGLE));
//! let nearest = |x: f64, y: f64, z: f64| nearest_on_element::<f64>(&Vector3 { x, y, z }, &elements, 0);
//! assert_eq!(nearest(0.25, 0.25, 3.0), Vector3 { x: 0.25, y: 0.25, z: 0.0 });
//! assert_eq!(nearest(-1.0, -2.0, 3.0), Vector3::zero());
//! ```

use crate::cells::{cell_index, cell_number};
use crate::contact::{PowerSums, Stored};
use crate::grain::Grain;
use crate::layout::{
    FRUSTUM, PLANE, SPHERE, coefficients, contact_history_at, extended_coefficients, extended_history_at, load, recall, store,
    store_extended_history, stored_extended_history,
};
use cubecl::prelude::*;
use seixo_laws::contact::cohesion::longest_gap;
use seixo_laws::contact::{
    ContactHistory, ContactPair, ExtendedPair, RelativeMotion, frictional_contact, interact, no_response, normal_contact, normal_energy,
    spring_energy, stored_in_joint, tangential_stiffness,
};
use seixo_laws::motion::inertia;
use seixo_laws::wall::{nearest_on_frustum, nearest_on_sphere, nearest_on_triangle};
use seixo_laws::{Coordinate, Real, Vector3, between, larger, near_vector, widened};

/// The point nearest to x of the element whose record starts at `e`; any kind except the plane.
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

/// The point of an element nearest to the center of a grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct NearestPoint<C: Real> {
    /// The point \[m\].
    pub point: Vector3<C>,
    /// Its distance from the center \[m\]; negative behind a plane.
    pub distance: C,
}

/// The point nearest to x of the element whose record starts at `e`; any kind.
#[cube]
#[inline(always)]
pub(crate) fn nearest_point<C: Real>(x: &Vector3<C>, elements: &[C], e: usize) -> NearestPoint<C> {
    let mut point = x.plus(&Vector3::<C>::zero());
    let mut distance = C::new(0.0);
    if elements[e + 9usize] == C::new(PLANE) {
        let normal = load::<C>(elements, e + 3usize);
        distance = x.minus(&load::<C>(elements, e)).dot(&normal);
        point = x.minus(&normal.times(distance));
    } else {
        point = nearest_on_element::<C>(x, elements, e);
        distance = x.minus(&point).length();
    }
    NearestPoint::<C> { point, distance }
}

/// The normal towards a center x of the element whose record starts at `e`, at its nearest point `point`.
#[cube]
#[inline(always)]
pub fn normal_at<C: Coordinate<R>, R: Real>(elements: &[C], e: usize, point: &Vector3<C>, x: &Vector3<C>, distance: R) -> Vector3<R> {
    let mut normal = near_vector::<C, R>(&load::<C>(elements, e + 3usize));
    if elements[e + 9usize] != C::new(PLANE) {
        normal = between::<C, R>(point, x).times(R::new(1.0) / distance);
    }
    normal
}

/// Velocity of a wall at a point \[m/s\], without that of a moving surface.
#[cube]
#[inline(always)]
pub(crate) fn velocity_of_wall<C: Coordinate<R>, R: Real>(walls: &[C], w: usize, point: &Vector3<C>) -> Vector3<R> {
    let arm = between::<C, R>(&load::<C>(walls, w), point);
    let spin = near_vector::<C, R>(&load::<C>(walls, w + 6usize));
    near_vector::<C, R>(&load::<C>(walls, w + 3usize)).plus(&spin.cross(&arm))
}

/// Velocity of a wall's surface at a point with this normal \[m/s\]: that of the wall, plus the tangential velocity of a moving surface.
#[cube]
#[inline(always)]
pub fn velocity_of_surface<C: Coordinate<R>, R: Real>(walls: &[C], w: usize, point: &Vector3<C>, normal: &Vector3<R>) -> Vector3<R> {
    let mut velocity = velocity_of_wall::<C, R>(walls, w, point);
    if walls[w + 10usize] > C::new(0.0) {
        let arm = between::<C, R>(&load::<C>(walls, w + 18usize), point);
        let spin = near_vector::<C, R>(&load::<C>(walls, w + 15usize));
        let running = near_vector::<C, R>(&load::<C>(walls, w + 12usize)).plus(&spin.cross(&arm));
        velocity = velocity.plus(&running.minus(&normal.times(running.dot(normal))));
    }
    velocity
}

/// Angular velocity of a wall's surface \[rad/s\]: that of the wall, plus that of a moving surface.
#[cube]
#[inline(always)]
pub(crate) fn spin_of_surface<C: Coordinate<R>, R: Real>(walls: &[C], w: usize) -> Vector3<R> {
    let running = near_vector::<C, R>(&load::<C>(walls, w + 15usize));
    near_vector::<C, R>(&load::<C>(walls, w + 6usize)).plus(&running)
}

/// Velocity of a grain's surface relative to the wall's at the contact \[m/s\]. `relative` is the velocity of its center relative to the wall's, and
/// `distance` is that of the center from the contact point \[m\].
#[cube]
#[inline(always)]
pub(crate) fn contact_velocity<R: Real>(relative: &Vector3<R>, spin: &Vector3<R>, distance: R, normal: &Vector3<R>) -> Vector3<R> {
    relative.minus(&spin.times(distance).cross(normal))
}

/// Relative motion of a grain and a wall's surface at their contact, with the arguments of [`contact_velocity()`] and the angular velocity of the
/// surface.
#[cube]
#[inline(always)]
pub(crate) fn approach_to_wall<R: Real>(
    relative: &Vector3<R>,
    spin: &Vector3<R>,
    wall_spin: &Vector3<R>,
    distance: R,
    normal: &Vector3<R>,
) -> RelativeMotion<R> {
    RelativeMotion::<R> {
        velocity: contact_velocity::<R>(relative, spin, distance, normal),
        twist: R::new(0.5) * spin.plus(wall_spin).dot(normal),
    }
}

/// Force of a wall on a grain \[N\], from its normal and tangential parts.
#[cube]
#[inline(always)]
pub(crate) fn force_of_wall<R: Real>(normal: &Vector3<R>, pressure: R, tangential: &Vector3<R>) -> Vector3<R> {
    normal.times(pressure).plus(tangential)
}

/// Torque of this tangential force at this distance from the center of the grain \[N m\].
#[cube]
#[inline(always)]
pub(crate) fn torque_of_wall<R: Real>(normal: &Vector3<R>, tangential: &Vector3<R>, distance: R) -> Vector3<R> {
    tangential.cross(normal).times(distance)
}

/// Wall elements nearer to grain i than `skin`: planes first, then those listed in the grain's cell of the wall grid.
///
/// `grid` is a record of [`crate::cells::GRID`] numbers whose last three are the far corner. Outside of it there are planes only. Counts the elements
/// and, with `fill`, writes them to `list` from index `at` on.
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

/// The row of the interaction table for grain i and the wall of the element whose record starts at `e`.
#[cube]
#[inline(always)]
pub(crate) fn row_of_wall<C: Real>(i: usize, material: &[u32], materials: u32, elements: &[C], walls: &[C], e: usize) -> usize {
    row_of_material::<C>(material[i], materials, elements, walls, e)
}

/// As [`row_of_wall()`], for a grain of material `own`.
#[cube]
#[inline(always)]
pub(crate) fn row_of_material<C: Real>(own: u32, materials: u32, elements: &[C], walls: &[C], e: usize) -> usize {
    let w = C::whole(elements[e + 10usize]) as usize * 24usize;
    (own * materials + C::whole(walls[w + 9usize])) as usize
}

/// Largest distance of a grain's center at which an element of a wall of this material may act on it.
#[cube]
#[inline(always)]
fn reach_of<C: Coordinate<R>, R: Real>(reach: C, table: &[R], row: usize, #[comptime] is_extended: bool) -> C {
    let mut all = reach;
    if is_extended {
        all += C::wide(longest_gap::<R>(C::near(reach), &extended_coefficients::<R>(table, row)));
    }
    all
}

/// A grain near a wall, for extended contacts: the wall is flat, rigid and of infinite mass.
#[cube]
#[inline(always)]
pub(crate) fn close_to_wall<R: Real>(overlap: R, radius: R, mass: R) -> ExtendedPair<R> {
    ExtendedPair::<R> {
        contact: ContactPair::<R> {
            overlap,
            contact_radius: R::root(radius * larger::<R>(overlap, R::new(0.0))),
            effective_mass: mass,
        },
        effective_radius: radius,
        reach: radius,
        inertia: inertia::<R>(mass, radius),
    }
}

/// What walls do to a grain in a step.
#[derive(CubeType, Clone, Copy, Debug, PartialEq)]
pub struct WallLoad<R: Real> {
    /// Force on the grain \[N\].
    pub force: Vector3<R>,
    /// Torque on it about its center \[N m\]; zero without friction.
    pub torque: Vector3<R>,
    /// Number of contacts.
    pub contacts: R,
    /// Powers, and the largest excess of an overlap over its limit.
    pub powers: PowerSums<R>,
}

/// Index of the record of the element of entry k, in a row from entry `first` on. The element of the first entry is `lead`, so it needs no read.
#[cube]
#[inline(always)]
fn record_of_entry(k: usize, first: usize, lead: u32, list: &[u32]) -> usize {
    let mut element = lead;
    if k != first {
        element = list[k];
    }
    element as usize * 12usize
}

/// Drops contacts of a row `first..end` of several entries whose points lie on another element, see the module.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn drop_shared_points<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    material: u32,
    first: usize,
    end: usize,
    list: &[u32],
    list_first: usize,
    elements: &[C],
    walls: &[C],
    wall_contacts: &mut [C],
    materials: u32,
    table: &[R],
    #[comptime] is_extended: bool,
) {
    let nothing = C::new(0.0);
    // Points closer than this are the same: a share of the radius, plus the resolution of coordinates. The share is larger in single precision, which
    // loses four digits for triangles that are much longer than wide.
    let share = C::new(1.0e-6) + C::roundoff() * C::new(1.0e4);
    let near = grain.reach * share + grain.position.length() * C::roundoff() * C::new(16.0);
    for k in first..end {
        let at = (k - list_first) * 8usize;
        let e = list[k] as usize * 12usize;
        if wall_contacts[at + 7usize] > nothing && elements[e + 9usize] != C::new(PLANE) {
            let mine = recall::<C>(wall_contacts, at);
            let distance = wall_contacts[at + 3usize];
            let row = row_of_material::<C>(material, materials, elements, walls, e);
            let bound = reach_of::<C, R>(grain.reach, table, row, is_extended);
            for s in first..end {
                let other = (s - list_first) * 8usize;
                let o = list[s] as usize * 12usize;
                if s != k && wall_contacts[other + 3usize] < bound && elements[o + 9usize] != C::new(PLANE) {
                    let apart = mine.minus(&recall::<C>(wall_contacts, other)).length();
                    if apart < near {
                        if s < k {
                            wall_contacts[at + 7usize] = nothing;
                        }
                    } else if wall_contacts[other + 3usize] < distance {
                        let on_other = nearest_on_element::<C>(&mine, elements, o);
                        if on_other.minus(&mine).length() < near {
                            wall_contacts[at + 7usize] = nothing;
                        }
                    }
                }
            }
        }
    }
}

/// Gives entry k of a row `first..end`, which has no history yet, that of a contact with the same wall that has ended.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn take_over_history<C: Real, R: Real>(
    k: usize,
    first: usize,
    end: usize,
    list: &[u32],
    list_first: usize,
    elements: &[C],
    history: &mut [R],
    wall_contacts: &mut [C],
    #[comptime] numbers: usize,
    #[comptime] mark: usize,
) {
    let zero = R::new(0.0);
    let h = (k - list_first) * numbers;
    if history[h + mark] == zero {
        let e = list[k] as usize * 12usize;
        for s in first..end {
            let other = (s - list_first) * 8usize;
            let same = elements[list[s] as usize * 12usize + 10usize] == elements[e + 10usize];
            let g = (s - list_first) * numbers;
            if same && wall_contacts[other + 7usize] == C::new(0.0) && history[g + mark] > zero && history[h + mark] == zero {
                #[unroll]
                for c in 0..numbers {
                    history[h + c] = history[g + c];
                    history[g + c] = zero;
                }
            }
        }
    }
}

/// Contacts of a grain of this material with the wall elements in its row `first..end` of the list, which has at least one entry, of element `lead`.
/// The row may be cut short to none.
///
/// `wall_contacts` is a scratch buffer with one record of [`crate::layout::WALL_CONTACT`] numbers per entry of the part; afterwards it holds the force on
/// the grain per element. A contact that moves from one element of a wall to the next keeps its history.
///
/// Most rows have one entry. What was found of it is kept, as it would take a GPU as long to read what it just wrote as to read other memory. For the
/// same reason the history of the first entry and the coefficients of its laws are read before they are known to be needed.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn walls_of<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    material: u32,
    first: usize,
    end: usize,
    lead: u32,
    list: &[u32],
    list_first: usize,
    elements: &[C],
    walls: &[C],
    history: &mut [R],
    wall_contacts: &mut [C],
    materials: u32,
    table: &[R],
    dt: R,
    overlap_limit: R,
    #[comptime] frictional: bool,
    #[comptime] is_extended: bool,
) -> WallLoad<R> {
    // Numbers of a contact history, and the index of the one that marks an existing contact.
    let numbers = comptime!(if is_extended { 12usize } else { 4usize });
    let mark = comptime!(if is_extended { 9usize } else { 3usize });
    let zero = R::new(0.0);
    let nothing = C::new(0.0);
    let is_only = end - first == 1usize;
    let mut first_mark = zero;
    let mut first_x = zero;
    let mut first_y = zero;
    let mut first_z = zero;
    let mut first_radius = zero;
    if frictional {
        let h = (first - list_first) * numbers;
        first_mark = history[h + mark];
        first_x = history[h];
        first_y = history[h + 1usize];
        first_z = history[h + 2usize];
        first_radius = history[h + 3usize];
    }
    let lead_row = row_of_material::<C>(material, materials, elements, walls, lead as usize * 12usize);
    let mut pair = coefficients::<R>(table, lead_row);
    // The last entry of the row: its nearest point, distance, and whether it is a contact.
    let mut last_x = nothing;
    let mut last_y = nothing;
    let mut last_z = nothing;
    let mut last_distance = nothing;
    let mut last_touches = nothing;
    for k in first..end {
        let at = (k - list_first) * 8usize;
        let e = record_of_entry(k, first, lead, list);
        let nearest = nearest_point::<C>(&grain.position, elements, e);
        let mut touches = nothing;
        let row = row_of_material::<C>(material, materials, elements, walls, e);
        if nearest.distance < reach_of::<C, R>(grain.reach, table, row, is_extended) {
            touches = C::new(1.0);
        }
        if is_extended {
            // A contact that held a step ago and is now out of range ruptures in this step; the law adds its energy to the ledger.
            if history[(k - list_first) * numbers + mark] > zero {
                touches = C::new(1.0);
            }
        }
        store::<C>(wall_contacts, at, &nearest.point);
        wall_contacts[at + 3usize] = nearest.distance;
        wall_contacts[at + 7usize] = touches;
        last_x = nearest.point.x;
        last_y = nearest.point.y;
        last_z = nearest.point.z;
        last_distance = nearest.distance;
        last_touches = touches;
    }
    if !is_only {
        drop_shared_points::<C, R>(
            grain,
            material,
            first,
            end,
            list,
            list_first,
            elements,
            walls,
            wall_contacts,
            materials,
            table,
            is_extended,
        );
    }
    let mut push = Vector3::<R>::zero();
    let mut couple_sum = Vector3::<R>::zero();
    let mut contacts = zero;
    let mut normal_power = zero;
    let mut damping_power = zero;
    let mut tangential_power = zero;
    let mut wall_power = zero;
    let mut excess = R::new(-1.0);
    for k in first..end {
        let at = (k - list_first) * 8usize;
        let h = (k - list_first) * numbers;
        let e = record_of_entry(k, first, lead, list);
        let mut point_x = nothing;
        let mut point_y = nothing;
        let mut point_z = nothing;
        let mut away = nothing;
        let mut touches = nothing;
        if is_only {
            point_x = last_x;
            point_y = last_y;
            point_z = last_z;
            away = last_distance;
            touches = last_touches;
        } else {
            point_x = wall_contacts[at];
            point_y = wall_contacts[at + 1usize];
            point_z = wall_contacts[at + 2usize];
            away = wall_contacts[at + 3usize];
            touches = wall_contacts[at + 7usize];
        }
        let mut on_grain = Vector3::<R>::zero();
        if touches > nothing {
            let w = C::whole(elements[e + 10usize]) as usize * 24usize;
            let distance = C::near(away);
            let point = Vector3::<C> {
                x: point_x,
                y: point_y,
                z: point_z,
            };
            let normal = normal_at::<C, R>(elements, e, &point, &grain.position, distance);
            let overlap = C::near(grain.reach - away);
            let close = close_to_wall::<R>(overlap, grain.radius, grain.mass);
            let touch = &close.contact;
            let row = row_of_material::<C>(material, materials, elements, walls, e);
            if k != first {
                pair = coefficients::<R>(table, row);
            }
            let mut touched = R::new(1.0);
            let wall_spin = spin_of_surface::<C, R>(walls, w);
            let wall_velocity = velocity_of_surface::<C, R>(walls, w, &point, &normal);
            let relative = grain.velocity.minus(&wall_velocity);
            excess = larger::<R>(excess, overlap - overlap_limit * grain.radius);
            if frictional {
                let mut before_x = zero;
                let mut before_y = zero;
                let mut before_z = zero;
                let mut radius_before = zero;
                if is_only {
                    before_x = first_x;
                    before_y = first_y;
                    before_z = first_z;
                    radius_before = first_radius;
                } else {
                    take_over_history::<C, R>(k, first, end, list, list_first, elements, history, wall_contacts, numbers, mark);
                    before_x = history[h];
                    before_y = history[h + 1usize];
                    before_z = history[h + 2usize];
                    radius_before = history[h + 3usize];
                }
                let approach = approach_to_wall::<R>(&relative, &grain.spin, &wall_spin, distance, &normal);
                let contact_history = ContactHistory::<R> {
                    force: Vector3::<R> {
                        x: before_x,
                        y: before_y,
                        z: before_z,
                    },
                    contact_radius: radius_before,
                };
                let mut couple = Vector3::<R>::zero();
                let mut response = no_response::<R>();
                if is_extended {
                    let extended_history = stored_extended_history::<R>(history, h);
                    let turning = grain.spin.minus(&wall_spin);
                    let joint = interact::<R>(
                        &close,
                        &normal,
                        &approach,
                        &turning,
                        &contact_history,
                        &extended_history,
                        &pair,
                        &extended_coefficients::<R>(table, row),
                        dt,
                    );
                    store_extended_history::<R>(history, h, &joint.extended_history);
                    couple = joint.couple;
                    response = joint.response;
                    touched = joint.extended_history.holds;
                    if touched == zero {
                        wall_contacts[at + 7usize] = nothing;
                    }
                } else {
                    response = frictional_contact::<R>(touch, &normal, &approach, &contact_history, &pair, dt);
                }
                store::<R>(history, h, &response.history.force);
                history[h + 3usize] = response.history.contact_radius;
                normal_power += response.normal_power;
                damping_power += response.damping_power;
                tangential_power += response.tangential_power;
                let torque = torque_of_wall::<R>(&normal, &response.tangential, distance);
                couple_sum = couple_sum.plus(&torque).plus(&couple);
                on_grain = force_of_wall::<R>(&normal, response.normal, &response.tangential);
            } else {
                let pressure = normal_contact::<R>(touch, relative.dot(&normal), &pair);
                normal_power += pressure.power;
                on_grain = normal.times(pressure.force);
            }
            push = push.plus(&on_grain);
            wall_power += on_grain.dot(&wall_velocity);
            contacts += touched;
        }
        store::<C>(wall_contacts, at + 4usize, &widened::<C, R>(&on_grain));
    }
    if frictional {
        // A contact that ended loses its history, unless another entry took it over.
        for k in first..end {
            let h = (k - list_first) * numbers;
            let mut touches = nothing;
            let mut marked = zero;
            if is_only {
                touches = last_touches;
                marked = first_mark;
            } else {
                touches = wall_contacts[(k - list_first) * 8usize + 7usize];
                marked = history[h + mark];
            }
            if touches == nothing && marked > zero {
                #[unroll]
                for c in 0..numbers {
                    history[h + c] = zero;
                }
            }
        }
    }
    WallLoad::<R> {
        force: push,
        torque: couple_sum,
        contacts,
        powers: PowerSums::<R> {
            normal_power,
            tangential_power,
            damping_power,
            wall_power,
            excess,
            across: Vector3::<R>::zero(),
        },
    }
}

/// Energy stored in the contacts of grain i with the wall elements of its row. `wall_contacts` is the result of [`walls_of()`].
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
    wall_contacts: &[C],
    position: &[C],
    material: &[u32],
    materials: u32,
    table: &[R],
    #[comptime] frictional: bool,
    #[comptime] is_extended: bool,
) -> Stored<R> {
    let radius = position[i * 4usize + 3usize];
    let mut normal = R::new(0.0);
    let mut tangential = R::new(0.0);
    for k in first..end {
        if wall_contacts[k * 8usize + 7usize] > C::new(0.0) {
            let row = row_of_wall::<C>(i, material, materials, elements, walls, list[k] as usize * 12usize);
            let pair = coefficients::<R>(table, row);
            let overlap = C::near(radius - wall_contacts[k * 8usize + 3usize]);
            let close = close_to_wall::<R>(overlap, C::near(radius), R::new(1.0));
            if is_extended {
                let at = k * 12usize;
                let contact_history = contact_history_at::<R>(history, at);
                let hoard = stored_in_joint::<R>(
                    &close,
                    &contact_history,
                    &extended_history_at::<R>(history, at),
                    &pair,
                    &extended_coefficients::<R>(table, row),
                );
                normal += hoard.normal;
                tangential += hoard.tangential;
            } else {
                normal += normal_energy::<R>(&close.contact, &pair);
                if frictional {
                    let spring = tangential_stiffness::<R>(close.contact.contact_radius, &pair);
                    tangential += spring_energy::<R>(&load::<R>(history, k * 4usize), spring);
                }
            }
        }
    }
    Stored::<R> { normal, tangential }
}
