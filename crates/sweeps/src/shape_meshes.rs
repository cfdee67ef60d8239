//! Contacts of a polyhedral grain with a wall from a mesh.
//!
//! The energy is that of two polyhedral grains, of which the mesh is the second: contacts of vertices of the grain with triangles, of corners of the mesh
//! with the grain, and of edges with edges. A vertex has contacts where a sphere about it has some, see [`crate::wall`], so triangles of one plane count
//! as one. Edges between them and corners inside of planes are no features, and those at the bottom of a valley are not touched.
//!
//! A contact of a vertex that leaves a triangle goes on at the next one, with its history. The surface of the wall may run, as that of a belt: contacts
//! see its velocity across their normals.
//!
//! ```
//! use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
//! use seixo_laws::{Quaternion, Vector3};
//! use seixo_sweeps::layout::{ELEMENT, WALL};
//! use seixo_sweeps::shape_meshes::{FEATURES, MeshRow, contacts_with_mesh};
//! use seixo_sweeps::shape_pairs::PosedShape;
//! use seixo_sweeps::shape_walls::GrainByWall;
//! use seixo_sweeps::shapes::{PartEnds, ShapeGeometry, lay_out};
//! // A ball over a triangle, whose rim is out of reach.
//! let ball = ShapeGeometry {
//!     rounding: 1.0,
//!     contact_radius: 1.0,
//!     inscribed: 1.0,
//!     volume: 4.2,
//!     moments: [0.4; 3],
//!     vertices: &[[0.0; 3]],
//!     edges: &[],
//!     loops: &[],
//!     face_ends: &[],
//!     parts: &[PartEnds { vertices: 1, edges: 0, faces: 0 }],
//! };
//! let (mut words, mut numbers) = (Vec::new(), Vec::new());
//! lay_out(&[ball], |word| words.push(word), |number| numbers.push(number));
//! let grain = GrainByWall {
//!     posed: PosedShape {
//!         shape: 0,
//!         scale: 0.5,
//!         orientation: Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.0 },
//!         spin: Vector3::zero(),
//!         mass: 3.0,
//!     },
//!     center: Vector3 { x: 0.0, y: 0.0, z: 0.49 },
//!     velocity: Vector3::zero(),
//! };
//! let triangle: [f64; ELEMENT] = [-9.0, -9.0, 0.0, 9.0, -9.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0];
//! let features: [u32; FEATURES] = [0, 1, 2, 0, 1, 2, 0, 0];
//! let row = MeshRow { first: 0, end: 1, wall: 0.0 };
//! let pair = PairOfMaterials { stiffness: 100.0, ..PairOfMaterials::default() };
//! let laws = derive(NormalLaw::Linear, TangentialLaw::None, &pair).coefficients;
//! let (old_keys, old_springs, mut keys, mut springs) = ([0; 4], [0.0; 16], [0; 4], [0.0; 16]);
//! let load = contacts_with_mesh::<f64, f64>(
//!     &grain, &words, &numbers, &row, &[0], &triangle, &features, &[0.0; WALL], 0, 4, &old_keys, &old_springs, &mut keys, &mut springs, &laws, 1e-3, 0.5,
//! );
//! assert!(load.contacts == 1 && (load.force.z - 1.0).abs() < 1e-12);
//! assert_eq!(keys[1..], [0; 3]);
//! ```

mod features;

pub use features::{FEATURES, FIRST_OF_MESH, MeshRow, NO_FEATURE, NUMBER_IN_MESH};

use crate::contact::{PowerSums, Stored};
use crate::feature_contact::{SurfaceMotion, add_contact, add_end, old_history};
use crate::layout::load;
use crate::shape_features::{
    EDGES, Fading, FeaturePair, Frame, PairSizes, PairSums, PosedShape, ShapePair, SlotPlaces, VERTEX_OF_I, VERTEX_OF_J, end_of_edges,
    fading_at_vertices, fading_of_edges, feature_pair, seen, within_end,
};
use crate::shape_walls::{GrainByWall, ShapeWallLoad};
use crate::shapes::{contact_radius_of, end_of_edge, nearest_on_part, part_of, rounding_of, shape_at, vertex_of};
use crate::wall::velocity_of_wall;
use cubecl::prelude::*;
use features::{corner_from, edge_from, is_contact, is_hollow_corner, is_hollow_edge, is_of_mesh, on_triangle, touches_triangle};
use seixo_laws::contact::{Coefficients, ContactHistory};
use seixo_laws::nearest::{fading_rate, nearest_of_edges, overlap_at};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, between, larger, near_vector};

/// Bits of a feature of a mesh in the key of a contact.
const MESH_BITS: u32 = 17;

/// Bits of a feature of the grain there.
const GRAIN_BITS: u32 = 30 - MESH_BITS;

/// A key without its other bits.
const OF_MESH: u32 = (1 << MESH_BITS) - 1;

/// Largest number of triangles of a mesh, so that each of its features fits into a key of a contact.
pub const MOST_TRIANGLES: usize = (1 << MESH_BITS) / 3;

/// Largest number of vertices, edges or parts of a shape that touches meshes, for the same reason.
pub const MOST_FEATURES_AT_MESHES: usize = (1 << GRAIN_BITS) - 1;

/// Points nearer to each other than this share of the rounding radius are one \[-\].
const SAME_POINT: f32 = 1.0e-6;

/// What a mesh adds to the sums over the contacts of a grain.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
struct MeshSums<C: Real, R: Real> {
    /// Sum of the contact points, weighted with forces.
    weighted: Vector3<C>,
    pressing: C,
    deepest: R,
}

/// Key of a contact of this kind.
#[cube]
#[inline(always)]
fn key_at_mesh(#[comptime] kind: u32, of_grain: u32, of_mesh: u32) -> u32 {
    ((of_grain | (kind << GRAIN_BITS)) << MESH_BITS) | of_mesh
}

/// The old slot with this key; `slots` if there is none.
#[cube]
#[inline(always)]
fn slot_with(key: u32, first_slot: usize, slots: u32, old_keys: &[u32]) -> u32 {
    let mut found = slots;
    let mut slot = 0u32.runtime();
    let mut goes_on = slots > 0u32;
    while goes_on {
        let old = old_keys[first_slot + slot as usize];
        if old == key {
            found = slot;
        }
        slot += 1u32;
        goes_on = old != 0u32 && old < key && slot < slots;
    }
    found
}

/// The old slot of a contact of the same vertex with a triangle that it has left, after so many others; `slots` if there is none.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn slot_left<C: Real>(
    key: u32,
    others: u32,
    place: &Vector3<C>,
    center: &Vector3<C>,
    row: &MeshRow<C>,
    list: &[u32],
    elements: &[C],
    features: &[u32],
    bound: C,
    same: C,
    first_slot: usize,
    slots: u32,
    old_keys: &[u32],
) -> u32 {
    let mut found = slots;
    let mut passed = 0u32.runtime();
    let mut slot = 0u32.runtime();
    let mut goes_on = slots > 0u32;
    while goes_on {
        let old = old_keys[first_slot + slot as usize];
        if old != 0u32 && (old >> MESH_BITS) == (key >> MESH_BITS) {
            if !touches_triangle::<C>(old & OF_MESH, place, center, row, list, elements, features, bound, same) {
                if passed == others {
                    found = slot;
                }
                passed += 1u32;
            }
        }
        slot += 1u32;
        goes_on = old != 0u32 && found == slots && slot < slots;
    }
    found
}

/// The history in a slot; that of no contact if `slot` is none of `slots`.
#[cube]
#[inline(always)]
fn history_in<R: Real>(slot: u32, first_slot: usize, slots: u32, old_springs: &[R]) -> ContactHistory<R> {
    let mut force = Vector3::<R>::zero();
    let mut contact_radius = R::new(0.0);
    if slot < slots {
        let at = (first_slot + slot as usize) * 4usize;
        force = load::<R>(old_springs, at);
        contact_radius = old_springs[at + 3usize];
    }
    ContactHistory::<R> { force, contact_radius }
}

/// A grain with another angular velocity: the wall, as the second body of a pair.
#[cube]
#[inline(always)]
fn posed_with<C: Real, R: Real>(posed: &PosedShape<C, R>, spin: &Vector3<R>) -> PosedShape<C, R> {
    PosedShape::<C, R> {
        shape: posed.shape,
        scale: posed.scale,
        // Twice reversed is a copy.
        orientation: posed.orientation.back().back(),
        spin: spin.plus(&Vector3::<R>::zero()),
        mass: posed.mass,
    }
}

/// How the surface of the wall whose record starts at `w` runs at a place. It is at rest if its numbers are zero.
#[cube]
#[inline(always)]
fn running_surface<C: Coordinate<R>, R: Real>(walls: &[C], w: usize, place: &Vector3<C>) -> SurfaceMotion<R> {
    let arm = between::<C, R>(&load::<C>(walls, w + 18usize), place);
    let spin = near_vector::<C, R>(&load::<C>(walls, w + 15usize));
    SurfaceMotion::<R> {
        velocity: near_vector::<C, R>(&load::<C>(walls, w + 12usize)).plus(&spin.cross(&arm)),
        spin,
    }
}

/// Adds a contact of two features that are nearer than the rounding radius. Returns U Φ/δ \[N\].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn add_at_mesh<C: Coordinate<R>, R: Real>(
    key: u32,
    feature: &FeaturePair<C>,
    fades: &Fading<C>,
    frame: &Frame<C>,
    pair: &ShapePair<C, R>,
    sizes: &PairSizes<C, R>,
    surface: &SurfaceMotion<R>,
    contact_history: &ContactHistory<R>,
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    springs: &mut [R],
    coefficients: &Coefficients<R>,
    dt: R,
    sums: &mut PairSums<R>,
    all: &mut MeshSums<C, R>,
) -> R {
    let overlap = overlap_at::<C>(feature.square, sizes.reach);
    // The force acts on the surface of the wall, as for spheres.
    let at_surface = PairSizes::<C, R> {
        reach: sizes.reach,
        rounding_j: C::new(0.5) * overlap,
        nothing: sizes.nothing,
        effective_radius: sizes.effective_radius,
        effective_mass: sizes.effective_mass,
        allowed: sizes.allowed,
    };
    let before = sums.force.plus(&Vector3::<R>::zero());
    let per_overlap = add_contact::<C, R>(
        key,
        feature,
        fades,
        frame,
        pair,
        &at_surface,
        surface,
        contact_history,
        first_slot,
        slots,
        keys,
        springs,
        coefficients,
        dt,
        sums,
        true,
    );
    let push = C::wide(sums.force.minus(&before).length());
    all.weighted = all.weighted.plus(&seen::<C>(&feature.on_j, frame).times(push));
    all.pressing += push;
    all.deepest = larger::<R>(all.deepest, C::near(overlap));
    per_overlap
}

/// Contacts of a polyhedral grain with a wall from a mesh, over one time step.
///
/// `words` and `numbers` are the table of shapes. `list` has the wall elements near the grain in the entries of `row`, `elements` their records, `features`
/// their features, see [`FEATURES`], and `walls` the records of walls. The slots of the grain at this mesh are `first_slot` and the following ones, `slots`
/// in all. Histories are read from `old_keys` and `old_springs`, and written to `keys` and `springs`; both have the same layout. The key after the last
/// contact is set to zero, and slots after it are left as they are. `overlap_limit` is the largest overlap over the rounding radius \[-\].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn contacts_with_mesh<C: Coordinate<R>, R: Real>(
    grain: &GrainByWall<C, R>,
    words: &[u32],
    numbers: &[C],
    row: &MeshRow<C>,
    list: &[u32],
    elements: &[C],
    features: &[u32],
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
    let one = C::new(1.0);
    let shape = shape_at(words, grain.posed.shape);
    let scale = grain.posed.scale;
    let rounding = rounding_of::<C>(&shape, numbers) * scale;
    let bound = rounding * rounding;
    // The share is larger in single precision, as for spheres.
    let share = C::new(SAME_POINT) + C::roundoff() * C::new(1.0e4);
    let same = rounding * share + grain.center.length() * C::roundoff() * C::new(16.0);
    let w = C::whole(row.wall) as usize * 24usize;
    let carried = velocity_of_wall::<C, R>(walls, w, &grain.center);
    let wall_spin = near_vector::<C, R>(&load::<C>(walls, w + 6usize));
    let surface = running_surface::<C, R>(walls, w, &grain.center);
    // The center of the grain is the origin, so that no digits are lost, and the mesh has its center there, too.
    let of_grain = Frame::<C> {
        orientation: grain.posed.orientation.back().back(),
        center: Vector3::<C>::zero(),
    };
    let of_space = Frame::<C> {
        orientation: Quaternion::<C> {
            w: one,
            x: nothing,
            y: nothing,
            z: nothing,
        },
        center: Vector3::<C>::zero(),
    };
    let back = grain.posed.orientation.back();
    let pair = ShapePair::<C, R> {
        apart: Vector3::<C>::zero(),
        velocity: grain.velocity.minus(&carried),
        direction: Vector3::<R>::zero(),
        i: posed_with::<C, R>(&grain.posed, &grain.posed.spin),
        j: posed_with::<C, R>(&grain.posed, &wall_spin),
    };
    let sizes = PairSizes::<C, R> {
        reach: rounding,
        rounding_j: nothing,
        nothing: C::roundoff() * C::new(16.0) * scale,
        effective_radius: C::near(contact_radius_of::<C>(&shape, numbers) * scale),
        effective_mass: grain.posed.mass,
        allowed: overlap_limit * C::near(rounding),
    };
    let mut sums = PairSums::<R> {
        force: Vector3::<R>::zero(),
        torque_i: Vector3::<R>::zero(),
        torque_j: Vector3::<R>::zero(),
        normal_power: zero,
        tangential_power: zero,
        damping_power: zero,
        surface_power: zero,
        excess: R::new(-1.0),
        normal_energy: zero,
        tangential_energy: zero,
        conducting_radius: zero,
        at: SlotPlaces { old: 0u32, contacts: 0u32 },
    };
    let mut all = MeshSums::<C, R> {
        weighted: Vector3::<C>::zero(),
        pressing: nothing,
        deepest: zero,
    };
    let whole = Fading::<C> { share: one, pull: nothing };
    for v in 0u32..shape.vertices {
        let place = grain.posed.orientation.to_space(&vertex_of::<C>(&shape, numbers, v, scale));
        // Contacts of this vertex that have no history of their own.
        let mut fresh = 0u32.runtime();
        for k in row.first..row.end {
            let element = list[k] as usize;
            if is_of_mesh::<C>(elements, element * 12usize, row.wall) {
                if is_contact::<C>(k, &place, &grain.center, row, list, elements, bound, same) {
                    let key = key_at_mesh(VERTEX_OF_I, v, features[element * FEATURES + NUMBER_IN_MESH]);
                    let mut slot = slot_with(key, first_slot, slots, old_keys);
                    if slot == slots {
                        slot = slot_left::<C>(
                            key,
                            fresh,
                            &place,
                            &grain.center,
                            row,
                            list,
                            elements,
                            features,
                            bound,
                            same,
                            first_slot,
                            slots,
                            old_keys,
                        );
                        fresh += 1u32;
                    }
                    let contact_history = history_in::<R>(slot, first_slot, slots, old_springs);
                    let point = on_triangle::<C>(&place, &grain.center, elements, element * 12usize);
                    let feature = feature_pair::<C>(&place, &point);
                    add_at_mesh::<C, R>(
                        key,
                        &feature,
                        &whole,
                        &of_space,
                        &pair,
                        &sizes,
                        &surface,
                        &contact_history,
                        first_slot,
                        slots,
                        keys,
                        springs,
                        coefficients,
                        dt,
                        &mut sums,
                        &mut all,
                    );
                }
            }
        }
    }
    for p in 0u32..shape.parts {
        let part = part_of(&shape, words, p);
        let mut from = 0u32.runtime();
        let mut goes_on = row.first < row.end;
        while goes_on {
            let corner = corner_from::<C>(
                from,
                &grain.center,
                row,
                list,
                elements,
                features,
                &back,
                &part,
                &shape,
                words,
                numbers,
                scale,
                rounding,
            );
            goes_on = corner.number != NO_FEATURE;
            if goes_on {
                from = corner.number + 1u32;
                let place = back.to_space(&corner.place);
                let there = nearest_on_part::<C>(&place, &part, &shape, words, numbers, scale);
                let feature = feature_pair::<C>(&there, &place);
                let gap = of_grain.orientation.to_space(&feature.gap);
                let overlap = overlap_at::<C>(feature.square, rounding);
                let fades = fading_at_vertices::<C, R>(&place, overlap, &part, &shape, numbers, scale, &sizes);
                if fades.share > nothing {
                    if !is_hollow_corner::<C>(corner.number, &gap, row, list, elements, features) {
                        let key = key_at_mesh(VERTEX_OF_J, p, corner.number);
                        let contact_history = old_history::<R>(key, first_slot, slots, old_keys, old_springs, &mut sums);
                        let per_overlap = add_at_mesh::<C, R>(
                            key,
                            &feature,
                            &fades,
                            &of_grain,
                            &pair,
                            &sizes,
                            &surface,
                            &contact_history,
                            first_slot,
                            slots,
                            keys,
                            springs,
                            coefficients,
                            dt,
                            &mut sums,
                            &mut all,
                        );
                        if fades.share < one {
                            for v in part.vertex_first..part.vertex_end {
                                let end = feature_pair::<C>(&vertex_of::<C>(&shape, numbers, v, scale), &place);
                                let within = within_end::<C, R>(end.square, overlap, &sizes);
                                if within < one {
                                    let attraction = per_overlap * C::near(fading_rate::<C>(within));
                                    add_end::<C, R>(&end, attraction, &of_grain, &Vector3::<C>::zero(), &mut sums);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    for e in 0u32..shape.edges {
        let first = vertex_of::<C>(&shape, numbers, end_of_edge(&shape, words, e, 0u32), scale);
        let second = vertex_of::<C>(&shape, numbers, end_of_edge(&shape, words, e, 1u32), scale);
        let e1 = grain.posed.orientation.to_space(&first);
        let e2 = grain.posed.orientation.to_space(&second);
        let mut from = 0u32.runtime();
        let mut goes_on = row.first < row.end;
        while goes_on {
            let edge = edge_from::<C>(from, &grain.center, row, list, elements, features, &e1, &e2, scale, rounding);
            goes_on = edge.number != NO_FEATURE;
            if goes_on {
                from = edge.number + 1u32;
                let nearest = nearest_of_edges::<C>(&e1, &e2, &edge.first, &edge.second);
                let feature = feature_pair::<C>(&nearest.on_e, &nearest.on_f);
                let overlap = overlap_at::<C>(feature.square, rounding);
                let fades = fading_of_edges::<C, R>(&e1, &e2, &edge.first, &edge.second, overlap, &sizes);
                if fades.share > nothing {
                    if !is_hollow_edge::<C>(edge.number, &feature.gap, row, list, elements, features) {
                        let key = key_at_mesh(EDGES, e, edge.number);
                        let contact_history = old_history::<R>(key, first_slot, slots, old_keys, old_springs, &mut sums);
                        let per_overlap = add_at_mesh::<C, R>(
                            key,
                            &feature,
                            &fades,
                            &of_space,
                            &pair,
                            &sizes,
                            &surface,
                            &contact_history,
                            first_slot,
                            slots,
                            keys,
                            springs,
                            coefficients,
                            dt,
                            &mut sums,
                            &mut all,
                        );
                        if fades.share < one {
                            for k in 0..4u32 {
                                let end = end_of_edges::<C>(k, &e1, &e2, &edge.first, &edge.second);
                                let within = within_end::<C, R>(end.square, overlap, &sizes);
                                if within < one {
                                    let attraction = per_overlap * C::near(fading_rate::<C>(within));
                                    add_end::<C, R>(&end, attraction, &of_space, &Vector3::<C>::zero(), &mut sums);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    if sums.at.contacts < slots {
        keys[first_slot + sums.at.contacts as usize] = 0u32;
    }
    let mut point = grain.center.plus(&Vector3::<C>::zero());
    if all.pressing > nothing {
        point = grain.center.plus(&all.weighted.times(one / all.pressing));
    }
    // All forces act on points of a rigid wall.
    let wall_power = sums.force.dot(&carried) + sums.torque_i.dot(&wall_spin) + sums.surface_power;
    ShapeWallLoad::<C, R> {
        force: sums.force,
        torque: sums.torque_i,
        powers: PowerSums::<R> {
            normal_power: sums.normal_power,
            tangential_power: sums.tangential_power,
            damping_power: sums.damping_power,
            wall_power,
            excess: sums.excess,
            across: Vector3::<R>::zero(),
        },
        stored: Stored::<R> {
            normal: sums.normal_energy,
            tangential: sums.tangential_energy,
        },
        conducting_radius: sums.conducting_radius,
        point,
        overlap: all.deepest,
        contacts: sums.at.contacts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::TRIANGLE;

    #[test]
    fn the_contact_of_a_vertex_goes_on_at_the_next_triangle() {
        let key = |vertex: u32, triangle: u32| key_at_mesh(VERTEX_OF_I, vertex, triangle);
        // Two triangles of a square, as records and as numbers of their features.
        let kind = f64::from(TRIANGLE);
        let elements = [
            [-3.0, -3.0, 0.0, 3.0, -3.0, 0.0, 3.0, 3.0, 0.0, kind, 0.0, 0.0],
            [-3.0, -3.0, 0.0, 3.0, 3.0, 0.0, -3.0, 3.0, 0.0, kind, 0.0, 1.0],
        ];
        let mut features = [[NO_FEATURE; FEATURES]; 2];
        for (number, words) in (0..).zip(&mut features) {
            (words[NUMBER_IN_MESH], words[FIRST_OF_MESH]) = (number, 0);
        }
        let row = MeshRow {
            first: 0,
            end: 2,
            wall: 0.0,
        };
        // Triangle 7 is not near the grain any more.
        let old_keys = [key(3, 1), key(4, 0), key(4, 7), 0];
        assert_eq!(
            [key(3, 1), key(4, 7), key(4, 1)].map(|key| slot_with(key, 0, 4, &old_keys)),
            [0, 2, 4]
        );
        let left = |[x, y, z]: [f64; 3], others: u32| {
            slot_left::<f64>(
                key(4, 1),
                others,
                &Vector3 { x, y, z },
                &Vector3::zero(),
                &row,
                &[0, 1],
                elements.as_flattened(),
                features.as_flattened(),
                0.01,
                1e-7,
                0,
                4,
                &old_keys,
            )
        };
        // Over triangle 1, vertex 4 has left both of its triangles, and over triangle 0 it has left the other one.
        assert_eq!([0, 1, 2].map(|others| left([-1.0, 1.0, 0.05], others)), [1, 2, 4]);
        assert_eq!([0, 1].map(|others| left([1.0, -1.0, 0.05], others)), [2, 4]);
    }
}
