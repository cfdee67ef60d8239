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
use crate::layout::{PLANE, load, store};
use crate::shape_features::PosedShape;
use crate::shapes::{contact_radius_of, rounding_of, shape_at, vertex_of};
use crate::wall::{nearest_on_element, velocity_of_surface};
use cubecl::prelude::*;
use seixo_laws::contact::faded::{FadedPair, elastic_energy, faded_contact, faded_spring_energy};
use seixo_laws::contact::{Coefficients, ContactHistory, ContactPair, RelativeMotion};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector};

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
    let rounding = rounding_of::<C>(&shape, numbers) * scale;
    let reach = C::near(rounding);
    let effective_radius = C::near(contact_radius_of::<C>(&shape, numbers) * scale);
    let w = C::whole(elements[e + 10usize]) as usize * 24usize;
    let wall_spin = near_vector::<C, R>(&load::<C>(walls, w + 6usize));
    let running = near_vector::<C, R>(&load::<C>(walls, w + 15usize));
    let spins = grain.posed.spin.plus(&wall_spin).plus(&running);
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
    let mut old_slot = 0u32;
    let mut contacts = 0u32;
    // Vertices are inside of the bounding sphere, by the rounding radius. The margin is for shapes that are given with rounding errors.
    let mut vertices = shape.vertices;
    if foot_on::<C>(elements, e, &grain.center).height > C::new(1.00001) * scale {
        vertices = 0u32;
    }
    for v in 0u32..vertices {
        let vertex = grain.posed.orientation.to_space(&vertex_of::<C>(&shape, numbers, v, scale));
        let foot = foot_on::<C>(elements, e, &grain.center.plus(&vertex));
        let depth = rounding - foot.height;
        if depth > nothing {
            let overlap = C::near(depth);
            let normal = near_vector::<C, R>(&foot.normal);
            let lever = vertex.minus(&foot.normal.times(foot.height));
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
            // Contacts come in the order of keys, as old slots do, so that each is passed once.
            let key = v + 1u32;
            let mut spring = Vector3::<R>::zero();
            let mut contact_radius = R::new(0.0);
            let mut goes_on = old_slot < slots;
            while goes_on {
                let old = old_keys[first_slot + old_slot as usize];
                goes_on = old != 0u32 && old < key;
                if goes_on {
                    old_slot += 1u32;
                    goes_on = old_slot < slots;
                }
            }
            if old_slot < slots {
                let at = first_slot + old_slot as usize;
                if old_keys[at] == key {
                    spring = load::<R>(old_springs, at * 4usize);
                    contact_radius = old_springs[at * 4usize + 3usize];
                }
            }
            let contact_history = ContactHistory::<R> {
                force: spring,
                contact_radius,
            };
            let response = faded_contact::<R>(&faded, &normal, &approach, &contact_history, coefficients, dt);
            if contacts < slots {
                let at = first_slot + contacts as usize;
                keys[at] = key;
                store::<R>(springs, at * 4usize, &response.history.force);
                springs[at * 4usize + 3usize] = response.history.contact_radius;
            }
            let push = normal.times(response.normal).plus(&response.tangential);
            force = force.plus(&push);
            torque = torque.plus(&arm.cross(&push));
            weighted = weighted.plus(&point.times(C::wide(response.normal)));
            pressing += C::wide(response.normal);
            normal_power += response.normal_power;
            tangential_power += response.tangential_power;
            damping_power += response.damping_power;
            wall_power += push.dot(&of_wall);
            excess = larger::<R>(excess, overlap - overlap_limit * reach);
            normal_energy += elastic_energy::<R>(&faded, coefficients);
            tangential_energy += faded_spring_energy::<R>(&response.history.force, &faded, coefficients);
            conducting_radius += radius;
            deepest = larger::<R>(deepest, overlap);
            contacts += 1u32;
        }
    }
    if contacts < slots {
        keys[first_slot + contacts as usize] = 0u32;
    }
    let mut point = grain.center.plus(&Vector3::<C>::zero());
    if pressing > nothing {
        point = weighted.times(C::new(1.0) / pressing);
    }
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
