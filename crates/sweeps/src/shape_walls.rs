//! Contacts of a polyhedral grain with planes, and with closed cylinders, cones and spheres around it: each vertex that is near enough has one.
//!
//! The energy of a contact is U(δ) with the overlap δ of the sphere around the vertex. It does not fade, as no other feature of the grain is nearer to a
//! plane, or to a convex surface around it, than a vertex.
//!
//! ```
//! use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
//! use seixo_laws::{Quaternion, Vector3};
//! use seixo_sweeps::layout::{ELEMENT, PLANE, WALL};
//! use seixo_sweeps::shape_pairs::PosedShape;
//! use seixo_sweeps::shape_walls::{GrainByWall, contacts_with_wall};
//! use seixo_sweeps::shapes::{PartEnds, ShapeGeometry, lay_out};
//! // A capsule that lies on the plane z = 0.
//! let capsule = ShapeGeometry {
//!     rounding: 0.25,
//!     contact_radius: 0.25,
//!     inscribed: 0.25,
//!     volume: 0.36,
//!     moments: [0.03, 0.2, 0.2],
//!     vertices: &[[-0.75, 0.0, 0.0], [0.75, 0.0, 0.0]],
//!     edges: &[[0, 1]],
//!     loops: &[],
//!     face_ends: &[],
//!     parts: &[PartEnds { vertices: 2, edges: 1, faces: 0 }],
//! };
//! let (mut words, mut numbers) = (Vec::new(), Vec::new());
//! lay_out(&[capsule], |word| words.push(word), |number| numbers.push(number));
//! let (mut plane, wall) = ([0.0; ELEMENT], [0.0; WALL]);
//! (plane[5], plane[9]) = (1.0, f64::from(PLANE));
//! let grain = GrainByWall {
//!     posed: PosedShape {
//!         shape: 0,
//!         scale: 2.0,
//!         orientation: Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.0 },
//!         spin: Vector3::zero(),
//!         mass: 3.0,
//!     },
//!     center: Vector3 { x: 0.0, y: 0.0, z: 0.49 },
//!     velocity: Vector3::zero(),
//! };
//! let pair = PairOfMaterials { stiffness: 100.0, ..PairOfMaterials::default() };
//! let laws = derive(NormalLaw::Linear, TangentialLaw::None, &pair).coefficients;
//! // Four slots, without a history yet.
//! let (old_keys, old_springs, mut keys, mut springs) = ([0; 4], [0.0; 16], [0; 4], [0.0; 16]);
//! let load = contacts_with_wall::<f64, f64>(
//!     &grain, &words, &numbers, &plane, 0, &wall, 0, 4, &old_keys, &old_springs, &mut keys, &mut springs, &laws, 1e-3, 0.5,
//! );
//! // Both ends, with k δ each, and no torque.
//! assert_eq!((load.contacts, keys), (2, [1, 2, 0, 0]));
//! assert!((load.force.z - 2.0).abs() < 1e-12 && load.torque.length() < 1e-12);
//! ```

use crate::contact::{PowerSums, Stored};
use crate::feature_contact::{history_in_slot, old_slot_from};
use crate::layout::{PLANE, load, store};
use crate::shape_features::PosedShape;
use crate::shapes::{Shape, contact_radius_of, rounding_of, shape_at, vertex_of};
use crate::wall::{nearest_on_element, velocity_of_surface};
use cubecl::prelude::*;
use seixo_laws::contact::faded::{FadedPair, elastic_energy, faded_contact, faded_spring_energy};
use seixo_laws::contact::{Coefficients, ContactHistory, ContactPair, RelativeMotion};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, larger, near_vector};

/// A polyhedral grain by a wall.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct GrainByWall<C: Real, R: Real> {
    /// Shape, scale, orientation, angular velocity and mass.
    pub posed: PosedShape<C, R>,
    /// Center \[m\].
    pub center: Vector3<C>,
    /// Velocity \[m/s\].
    pub velocity: Vector3<R>,
}

/// All that the contacts of a grain with an element of a wall do in one step.
#[derive(CubeType, Clone, Copy, Debug, PartialEq)]
pub struct ShapeWallLoad<C: Real, R: Real> {
    /// Force on the grain \[N\].
    pub force: Vector3<R>,
    /// Torque on it about its center \[N m\].
    pub torque: Vector3<R>,
    /// Powers, and the largest excess of an overlap over its limit.
    pub powers: PowerSums<R>,
    /// Energy stored in all contacts \[J\].
    pub stored: Stored<R>,
    /// Sum of the contact radii, each times the share of its contact \[m\]: heat flows through all of them.
    pub conducting_radius: R,
    /// Mean of the contact points, weighted with the normal forces \[m\].
    pub point: Vector3<C>,
    /// Largest overlap \[m\].
    pub overlap: R,
    /// Number of contacts. If it exceeds the number of slots, histories are lost.
    pub contacts: u32,
}

const ZERO: Vector3<f64> = Vector3 { x: 0.0, y: 0.0, z: 0.0 };

/// What a grain that touches no wall gets.
pub const NO_WALL_LOAD: ShapeWallLoad<f64, f64> = ShapeWallLoad {
    force: ZERO,
    torque: ZERO,
    powers: PowerSums {
        normal_power: 0.0,
        tangential_power: 0.0,
        damping_power: 0.0,
        wall_power: 0.0,
        excess: -1.0,
        across: ZERO,
    },
    stored: Stored {
        normal: 0.0,
        tangential: 0.0,
    },
    conducting_radius: 0.0,
    point: ZERO,
    overlap: 0.0,
    contacts: 0,
};

/// The point of a wall element nearest to a place.
#[derive(CubeType, Clone, Copy, Debug)]
struct Foot<C: Real> {
    /// Height of the place over it \[m\].
    height: C,
    /// Unit normal towards the place.
    normal: Vector3<C>,
}

/// The foot of a place on the wall element whose record starts at `e`.
#[cube]
#[inline(always)]
fn foot_on<C: Real>(elements: &[C], e: usize, place: &Vector3<C>) -> Foot<C> {
    let mut height = C::new(0.0);
    let mut normal = load::<C>(elements, e + 3usize);
    if elements[e + 9usize] == C::new(PLANE) {
        height = place.minus(&load::<C>(elements, e)).dot(&normal);
    } else {
        let above = place.minus(&nearest_on_element::<C>(place, elements, e));
        height = above.length();
        normal = Vector3::<C>::zero();
        if height > C::new(0.0) {
            normal = above.times(C::new(1.0) / height);
        }
    }
    Foot::<C> { height, normal }
}

/// A vertex of a grain by a wall element.
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct VertexByWall<C: Real> {
    /// Its place from the center of the grain \[m\].
    pub arm: Vector3<C>,
    /// Its height over the element \[m\].
    pub height: C,
    /// Unit normal of the element towards it.
    pub normal: Vector3<C>,
    /// Overlap of the sphere around it with the wall \[m\]; not positive without contact.
    pub depth: C,
}

/// What the contact of a vertex with a wall does in one step.
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct ContactAtWall<C: Real, R: Real> {
    /// Force on the grain \[N\].
    pub force: Vector3<R>,
    /// Torque on it about its center \[N m\].
    pub torque: Vector3<R>,
    /// Normal force \[N\].
    pub pressing: R,
    /// Contact point \[m\].
    pub point: Vector3<C>,
    /// Power of the normal dashpot \[W\].
    pub normal_power: R,
    /// Power of friction \[W\].
    pub tangential_power: R,
    /// Power of the tangential dashpot \[W\].
    pub damping_power: R,
    /// Power of the wall \[W\].
    pub wall_power: R,
    /// Excess of the overlap over its limit \[m\].
    pub excess: R,
    /// Overlap \[m\].
    pub overlap: R,
    /// Energy of the normal law \[J\].
    pub normal_energy: R,
    /// Energy of the tangential spring \[J\].
    pub tangential_energy: R,
    /// Contact radius \[m\].
    pub radius: R,
    /// Tangential spring \[N\], for the next step.
    pub spring: Vector3<R>,
    /// Contact radius of the history.
    pub kept_radius: R,
}

/// Whether the vertices of a grain with this center and scale \[m\] may touch the wall element whose record starts at `e`: they are inside of the
/// bounding sphere, by the rounding radius. The margin is for shapes that are given with rounding errors.
#[cube]
#[inline(always)]
pub(crate) fn may_touch_element<C: Real>(center: &Vector3<C>, scale: C, elements: &[C], e: usize) -> bool {
    foot_on::<C>(elements, e, center).height <= C::new(1.00001) * scale
}

/// Vertex `v` of a grain with this pose, by the wall element whose record starts at `e`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn vertex_by_wall<C: Real>(
    v: u32,
    center: &Vector3<C>,
    scale: C,
    orientation: &Quaternion<C>,
    shape: &Shape,
    numbers: &[C],
    elements: &[C],
    e: usize,
) -> VertexByWall<C> {
    let arm = orientation.to_space(&vertex_of::<C>(shape, numbers, v, scale));
    let foot = foot_on::<C>(elements, e, &center.plus(&arm));
    let depth = rounding_of::<C>(shape, numbers) * scale - foot.height;
    VertexByWall::<C> {
        arm,
        height: foot.height,
        normal: foot.normal,
        depth,
    }
}

/// Writes the contact number `contact` of a grain at an element to its slot, if there is one.
#[cube]
#[inline(always)]
pub(crate) fn keep_contact<C: Real, R: Real>(
    key: u32,
    contact: u32,
    touch: &ContactAtWall<C, R>,
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    springs: &mut [R],
) {
    if contact < slots {
        let at = first_slot + contact as usize;
        keys[at] = key;
        store::<R>(springs, at * 4usize, &touch.spring);
        springs[at * 4usize + 3usize] = touch.kept_radius;
    }
}

/// What the contact of a vertex with the wall whose record starts at `w` does in one step. Its depth is positive. `overlap_limit` is the largest overlap
/// over the rounding radius \[-\].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn contact_of_vertex<C: Coordinate<R>, R: Real>(
    grain: &GrainByWall<C, R>,
    near: &VertexByWall<C>,
    shape: &Shape,
    numbers: &[C],
    walls: &[C],
    w: usize,
    contact_history: &ContactHistory<R>,
    coefficients: &Coefficients<R>,
    dt: R,
    overlap_limit: R,
) -> ContactAtWall<C, R> {
    let scale = grain.posed.scale;
    let reach = C::near(rounding_of::<C>(shape, numbers) * scale);
    let effective_radius = C::near(contact_radius_of::<C>(shape, numbers) * scale);
    let wall_spin = near_vector::<C, R>(&load::<C>(walls, w + 6usize));
    let running = near_vector::<C, R>(&load::<C>(walls, w + 15usize));
    let spins = grain.posed.spin.plus(&wall_spin).plus(&running);
    let overlap = C::near(near.depth);
    let normal = near_vector::<C, R>(&near.normal);
    let lever = near.arm.minus(&near.normal.times(near.height));
    let point = grain.center.plus(&lever);
    let arm = near_vector::<C, R>(&lever);
    let of_wall = velocity_of_surface::<C, R>(walls, w, &point, &normal);
    let approach = RelativeMotion::<R> {
        velocity: grain.velocity.plus(&grain.posed.spin.cross(&arm)).minus(&of_wall),
        twist: R::new(0.5) * spins.dot(&normal),
    };
    let radius = R::root(effective_radius * overlap);
    let touch = ContactPair::<R> {
        overlap,
        contact_radius: radius,
        effective_mass: grain.posed.mass,
    };
    let faded = FadedPair::<R> {
        touch,
        reach,
        share: R::new(1.0),
        fading_force: R::new(0.0),
    };
    let response = faded_contact::<R>(&faded, &normal, &approach, contact_history, coefficients, dt);
    let push = normal.times(response.normal).plus(&response.tangential);
    let normal_energy = elastic_energy::<R>(&faded, coefficients);
    let tangential_energy = faded_spring_energy::<R>(&response.history.force, &faded, coefficients);
    ContactAtWall::<C, R> {
        torque: arm.cross(&push),
        pressing: response.normal,
        point,
        normal_power: response.normal_power,
        tangential_power: response.tangential_power,
        damping_power: response.damping_power,
        wall_power: push.dot(&of_wall),
        excess: overlap - overlap_limit * reach,
        overlap,
        normal_energy,
        tangential_energy,
        radius,
        kept_radius: response.history.contact_radius,
        spring: response.history.force,
        force: push,
    }
}

/// Mean of contact points, from their sum weighted with normal forces, and the sum of these \[N\]; the center of the grain without a force.
#[cube]
#[inline(always)]
pub(crate) fn mean_point<C: Real>(center: &Vector3<C>, weighted: &Vector3<C>, pressing: C) -> Vector3<C> {
    let mut point = center.plus(&Vector3::<C>::zero());
    if pressing > C::new(0.0) {
        point = weighted.times(C::new(1.0) / pressing);
    }
    point
}

/// Contacts of a polyhedral grain with the wall element whose record starts at `e` of `elements`, over one time step.
///
/// `words` and `numbers` are the table of shapes. The slots of the grain at this element are `first_slot` and the following ones, `slots` in all.
/// Histories are read from `old_keys` and `old_springs`, and written to `keys` and `springs`; both have the same layout. Keys are one more than the
/// numbers of vertices and ascend. The key after the last contact is set to zero, and slots after it are left as they are. `overlap_limit` is the
/// largest overlap over the rounding radius \[-\].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn contacts_with_wall<C: Coordinate<R>, R: Real>(
    grain: &GrainByWall<C, R>,
    words: &[u32],
    numbers: &[C],
    elements: &[C],
    e: usize,
    walls: &[C],
    first_slot: usize,
    slots: u32,
    old_keys: &[u32],
    old_springs: &[R],
    keys: &mut [u32],
    springs: &mut [R],
    coefficients: &Coefficients<R>,
    dt: R,
    overlap_limit: R,
) -> ShapeWallLoad<C, R> {
    let zero = R::new(0.0);
    let nothing = C::new(0.0);
    let shape = shape_at(words, grain.posed.shape);
    let scale = grain.posed.scale;
    let w = C::whole(elements[e + 10usize]) as usize * 24usize;
    let mut force = Vector3::<R>::zero();
    let mut torque = Vector3::<R>::zero();
    let mut weighted = Vector3::<C>::zero();
    let mut pressing = nothing;
    let mut normal_power = zero;
    let mut tangential_power = zero;
    let mut damping_power = zero;
    let mut wall_power = zero;
    let mut excess = R::new(-1.0);
    let mut normal_energy = zero;
    let mut tangential_energy = zero;
    let mut conducting_radius = zero;
    let mut deepest = zero;
    let mut old_slot = 0u32.runtime();
    let mut contacts = 0u32.runtime();
    let mut vertices = 0u32.runtime();
    if may_touch_element::<C>(&grain.center, scale, elements, e) {
        vertices = shape.vertices;
    }
    for v in 0u32..vertices {
        let near = vertex_by_wall::<C>(v, &grain.center, scale, &grain.posed.orientation, &shape, numbers, elements, e);
        if near.depth > nothing {
            // Contacts come in the order of keys, as old slots do, so that each is passed once.
            let key = v + 1u32;
            old_slot = old_slot_from(old_slot, key, first_slot, slots, old_keys);
            let contact_history = history_in_slot::<R>(key, old_slot, first_slot, slots, old_keys, old_springs);
            let touch = contact_of_vertex::<C, R>(
                grain,
                &near,
                &shape,
                numbers,
                walls,
                w,
                &contact_history,
                coefficients,
                dt,
                overlap_limit,
            );
            keep_contact::<C, R>(key, contacts, &touch, first_slot, slots, keys, springs);
            force = force.plus(&touch.force);
            torque = torque.plus(&touch.torque);
            weighted = weighted.plus(&touch.point.times(C::wide(touch.pressing)));
            pressing += C::wide(touch.pressing);
            normal_power += touch.normal_power;
            tangential_power += touch.tangential_power;
            damping_power += touch.damping_power;
            wall_power += touch.wall_power;
            excess = larger::<R>(excess, touch.excess);
            normal_energy += touch.normal_energy;
            tangential_energy += touch.tangential_energy;
            conducting_radius += touch.radius;
            deepest = larger::<R>(deepest, touch.overlap);
            contacts += 1u32;
        }
    }
    if contacts < slots {
        keys[first_slot + contacts as usize] = 0u32;
    }
    let point = mean_point::<C>(&grain.center, &weighted, pressing);
    ShapeWallLoad::<C, R> {
        force,
        torque,
        powers: PowerSums::<R> {
            normal_power,
            tangential_power,
            damping_power,
            wall_power,
            excess,
            across: Vector3::<R>::zero(),
        },
        stored: Stored::<R> {
            normal: normal_energy,
            tangential: tangential_energy,
        },
        conducting_radius,
        point,
        overlap: deepest,
        contacts,
    }
}
