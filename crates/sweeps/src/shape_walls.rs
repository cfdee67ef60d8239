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
//! let (mut keys, mut springs) = ([0; 4], [0.0; 16]);
//! let load = contacts_with_wall(&grain, &words, &numbers, &plane, 0, &wall, (&[], &[]), &mut keys, &mut springs, &laws, 1e-3, 0.5);
//! // Both ends, with k δ each, and no torque.
//! assert_eq!((load.contacts, keys), (2, [1, 2, 0, 0]));
//! assert!((load.force.z - 2.0).abs() < 1e-12 && load.torque.length() < 1e-12);
//! ```

use crate::contact::{PowerSums, Stored};
use crate::layout::{PLANE, RECORD, WALL, load, store};
use crate::shape_pairs::PosedShape;
use crate::shapes::{contact_radius_of, rounding_of, shape_at, vertex_of};
use crate::wall::{nearest_on_element, velocity_of_surface};
use seixo_laws::contact::faded::{FadedPair, elastic_energy, faded_contact, faded_spring_energy};
use seixo_laws::contact::{Coefficients, ContactHistory, ContactPair, RelativeMotion};
use seixo_laws::{Real, Vector3};

/// A polyhedral grain by a wall.
#[derive(Clone, Copy, Debug)]
pub struct GrainByWall {
    /// Shape, scale, orientation, angular velocity and mass.
    pub posed: PosedShape<f64, f64>,
    /// Center \[m\].
    pub center: Vector3<f64>,
    /// Velocity \[m/s\].
    pub velocity: Vector3<f64>,
}

/// All that the contacts of a grain with an element of a wall do in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeWallLoad {
    /// Force on the grain \[N\].
    pub force: Vector3<f64>,
    /// Torque on it about its center \[N m\].
    pub torque: Vector3<f64>,
    /// Powers, and the largest excess of an overlap over its limit.
    pub powers: PowerSums<f64>,
    /// Energy stored in all contacts \[J\].
    pub stored: Stored<f64>,
    /// Mean of the contact points, weighted with the normal forces \[m\].
    pub point: Vector3<f64>,
    /// Largest overlap \[m\].
    pub overlap: f64,
    /// Number of contacts. If it exceeds the number of slots, histories are lost.
    pub contacts: u32,
}

const ZERO: Vector3<f64> = Vector3 { x: 0.0, y: 0.0, z: 0.0 };

/// What a grain that touches no wall gets.
pub const NO_WALL_LOAD: ShapeWallLoad = ShapeWallLoad {
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
    point: ZERO,
    overlap: 0.0,
    contacts: 0,
};

/// The point of a wall element nearest to a place.
struct Foot {
    /// Height of the place over it \[m\].
    height: f64,
    /// Unit normal towards the place.
    normal: Vector3<f64>,
}

/// The foot of a place on the wall element whose record starts at `e`.
fn foot_on(elements: &[f64], e: usize, place: &Vector3<f64>) -> Foot {
    if elements[e + 9] == f64::from(PLANE) {
        let normal = load::<f64>(elements, e + 3);
        return Foot {
            height: place.minus(&load::<f64>(elements, e)).dot(&normal),
            normal,
        };
    }
    let above = place.minus(&nearest_on_element::<f64>(place, elements, e));
    let height = above.length();
    let normal = if height > 0.0 { above.times(1.0 / height) } else { ZERO };
    Foot { height, normal }
}

/// Contacts of a polyhedral grain with the wall element whose record starts at `e` of `elements`, over one time step.
///
/// `words` and `numbers` are the table of shapes. The keys of `kept` are one more than the numbers of vertices and ascend; its histories have
/// [`RECORD`] numbers each. The slots in `keys` and `springs` are overwritten; free ones have the key zero. `overlap_limit` is the largest overlap over
/// the rounding radius \[-\].
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn contacts_with_wall(
    grain: &GrainByWall,
    words: &[u32],
    numbers: &[f64],
    elements: &[f64],
    e: usize,
    walls: &[f64],
    kept: (&[u32], &[f64]),
    keys: &mut [u32],
    springs: &mut [f64],
    coefficients: &Coefficients<f64>,
    dt: f64,
    overlap_limit: f64,
) -> ShapeWallLoad {
    let posed = &grain.posed;
    let shape = shape_at(words, posed.shape);
    let rounding = rounding_of::<f64>(&shape, numbers) * posed.scale;
    let effective_radius = contact_radius_of::<f64>(&shape, numbers) * posed.scale;
    let w = elements[e + 10] as usize * WALL;
    let spins = posed.spin.plus(&load::<f64>(walls, w + 6)).plus(&load::<f64>(walls, w + 15));
    let (known, histories) = kept;
    let mut all = NO_WALL_LOAD;
    let (mut old, mut pressing) = (0, 0.0);
    keys.fill(0);
    for v in 0..shape.vertices {
        let vertex = posed.orientation.to_space(&vertex_of::<f64>(&shape, numbers, v, posed.scale));
        let foot = foot_on(elements, e, &grain.center.plus(&vertex));
        let overlap = rounding - foot.height;
        if overlap <= 0.0 {
            continue;
        }
        let normal = foot.normal;
        let arm = vertex.minus(&normal.times(foot.height));
        let point = grain.center.plus(&arm);
        let of_wall = velocity_of_surface::<f64, f64>(walls, w, &point, &normal);
        let approach = RelativeMotion {
            velocity: grain.velocity.plus(&posed.spin.cross(&arm)).minus(&of_wall),
            twist: 0.5 * spins.dot(&normal),
        };
        let faded = FadedPair {
            touch: ContactPair {
                overlap,
                contact_radius: <f64 as Real>::root(effective_radius * overlap),
                effective_mass: posed.mass,
            },
            reach: rounding,
            share: 1.0,
            fading_force: 0.0,
        };
        while known.get(old).is_some_and(|&key| key < v + 1) {
            old += 1;
        }
        let mut history = ContactHistory {
            force: ZERO,
            contact_radius: 0.0,
        };
        if known.get(old) == Some(&(v + 1)) {
            history.force = load(histories, old * RECORD);
            history.contact_radius = histories[old * RECORD + 3];
        }
        let response = faded_contact::<f64>(&faded, &normal, &approach, &history, coefficients, dt);
        if let Some(key) = keys.get_mut(all.contacts as usize) {
            let at = all.contacts as usize * RECORD;
            *key = v + 1;
            store(springs, at, &response.history.force);
            springs[at + 3] = response.history.contact_radius;
        }
        let push = normal.times(response.normal).plus(&response.tangential);
        all.force = all.force.plus(&push);
        all.torque = all.torque.plus(&arm.cross(&push));
        all.point = all.point.plus(&point.times(response.normal));
        pressing += response.normal;
        all.powers.normal_power += response.normal_power;
        all.powers.tangential_power += response.tangential_power;
        all.powers.damping_power += response.damping_power;
        all.powers.wall_power += push.dot(&of_wall);
        all.powers.excess = all.powers.excess.max(overlap - overlap_limit * rounding);
        all.stored.normal += elastic_energy::<f64>(&faded, coefficients);
        all.stored.tangential += faded_spring_energy::<f64>(&response.history.force, &faded, coefficients);
        all.overlap = all.overlap.max(overlap);
        all.contacts += 1;
    }
    all.point = if pressing > 0.0 {
        all.point.times(1.0 / pressing)
    } else {
        grain.center
    };
    all
}
