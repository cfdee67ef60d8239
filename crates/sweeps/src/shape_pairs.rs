//! Contacts of two polyhedral grains: from their shapes and poses to forces.
//!
//! A contact is that of a vertex of one grain with a convex part of the other, or of an edge with an edge. Its energy is U(δ) Φ, where the share Φ
//! falls to zero at the ends of its features, because another contact takes over there. The forces are the slopes of the sum of these energies, see
//! `docs/design/polyhedra.md`. The grain i is that with the smaller id, so that both owners of a pair find the same bits.
//!
//! Every pair has the same number of slots for contact histories, each with a key and [`crate::layout::RECORD`] numbers. Slots are in the order of
//! their keys. The first free slot has the key zero; what is in those after it has no meaning.
//!
//! Few pairs of a list touch, and few features of a pair that touches are in contact. Features that are farther apart than the sum of the rounding radii
//! have no overlap. So bounds of their distance leave out most of them and change no bit: first the bounding spheres, then the support planes along the
//! direction of the last step, then the faces of a part under a vertex and the boxes around two edges.
//!
//! ```
//! use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
//! use seixo_laws::{Quaternion, Vector3};
//! use seixo_sweeps::shape_pairs::{PosedShape, ShapePair, shape_contacts};
//! use seixo_sweeps::shapes::{PartEnds, ShapeGeometry, lay_out};
//! // Two balls of radius 1 at a distance of 1, with springs of 100 N/m.
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
//! let orientation = Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.0 };
//! let posed = PosedShape { shape: 0, scale: 1.0, orientation, spin: Vector3::zero(), mass: 1.0 };
//! let apart = Vector3 { x: 1.0, y: 0.0, z: 0.0 };
//! let pair = ShapePair { apart, velocity: Vector3::zero(), direction: Vector3::zero(), i: posed, j: posed };
//! let springs = PairOfMaterials { stiffness: 100.0, ..PairOfMaterials::default() };
//! let laws = derive(NormalLaw::Linear, TangentialLaw::None, &springs).coefficients;
//! let (mut keys, mut histories) = ([0; 2], [0.0; 8]);
//! let load =
//!     shape_contacts::<f64, f64>(&pair, &words, &numbers, 0, 2, &[0; 2], &[0.0; 8], &mut keys, &mut histories, &laws, 1e-3, 1.0);
//! assert!(load.contacts == 1 && keys[1] == 0);
//! assert!((load.force.x - 100.0).abs() < 1e-9);
//! ```

pub use crate::shape_features::{EDGES, PosedShape, ShapePair, VERTEX_OF_I, VERTEX_OF_J, key_of};

use crate::contact::{PowerSums, Stored};
use crate::feature_contact::{SurfaceMotion, add_contact, add_end, old_history};
use crate::shape_features::{
    Fading, FeaturePair, Frame, PairSizes, PairSums, end_of_edges, fading_at_vertices, fading_of_edges, feature_pair, seen, sizes_of,
    square_between_boxes, unit, within_end,
};
use crate::shapes::{end_of_edge, extent_along, height_over_part, nearest_on_part, part_of, shape_at, vertex_of};
use cubecl::prelude::*;
use seixo_laws::contact::Coefficients;
use seixo_laws::nearest::{fading_rate, nearest_of_edges, overlap_at};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, smaller, widened};

/// All that the contacts of a pair do in one step.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct PairLoad<R: Real> {
    /// Force on i \[N\]; j gets the opposite.
    pub force: Vector3<R>,
    /// Torque on i about its center \[N m\].
    pub torque_i: Vector3<R>,
    /// Torque on j about its center \[N m\].
    pub torque_j: Vector3<R>,
    /// Powers, and the largest excess of an overlap over its limit, which is a share of the smaller rounding radius. Walls and periodic sides add
    /// nothing here.
    pub powers: PowerSums<R>,
    /// Energy stored in all contacts \[J\].
    pub stored: Stored<R>,
    /// Sum of the contact radii, each times the share of its contact \[m\]: heat flows through all of them.
    pub conducting_radius: R,
    /// Value of [`ShapePair::direction`] for the next step.
    pub direction: Vector3<R>,
    /// Number of contacts. If it exceeds the number of slots, histories are lost, and the step has to be repeated with more slots.
    pub contacts: u32,
}

/// Whether features with at least this squared distance \[m²\] may touch, or be nearer than the nearest so far: only then are they computed. `bound` is
/// the squared distance beyond which features have no overlap.
#[cube]
#[inline(always)]
fn is_worth_computing<C: Real>(square: C, bound: C, least: C) -> bool {
    square < bound || least < C::new(0.0) || square < least
}

/// Remembers the nearest of all pairs of features.
#[cube]
#[inline(always)]
fn note<C: Real, R: Real>(feature: &FeaturePair<C>, frame: &Frame<C>, sums: &mut PairSums<C, R>) {
    if sums.least < C::new(0.0) || feature.square < sums.least {
        sums.least = feature.square;
        sums.nearest = frame.orientation.to_space(&feature.gap);
    }
}

/// Adds a contact of two features of a pair of grains, with its history in the old slots, see [`add_contact()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn add_contact_of_pair<C: Coordinate<R>, R: Real>(
    key: u32,
    feature: &FeaturePair<C>,
    fades: &Fading<C>,
    frame: &Frame<C>,
    pair: &ShapePair<C, R>,
    sizes: &PairSizes<C, R>,
    first_slot: usize,
    slots: u32,
    old_keys: &[u32],
    old_springs: &[R],
    keys: &mut [u32],
    springs: &mut [R],
    coefficients: &Coefficients<R>,
    dt: R,
    sums: &mut PairSums<C, R>,
) -> R {
    let contact_history = old_history::<C, R>(key, first_slot, slots, old_keys, old_springs, sums);
    let at_rest = SurfaceMotion::<R> {
        velocity: Vector3::<R>::zero(),
        spin: Vector3::<R>::zero(),
    };
    add_contact::<C, R>(
        key,
        feature,
        fades,
        frame,
        pair,
        sizes,
        &at_rest,
        &contact_history,
        first_slot,
        slots,
        keys,
        springs,
        coefficients,
        dt,
        sums,
        false,
    )
}

/// Contacts of two polyhedral grains over one time step.
///
/// `words` and `numbers` are the table of shapes, see [`crate::shapes`]. The slots of the pair are `first_slot` and the following ones, `slots` in all.
/// Histories are read from `old_keys` and `old_springs`, and written to `keys` and `springs`; both have the same layout. So a step can be repeated.
/// The key after the last contact is set to zero, and slots after it are left as they are.
///
/// `overlap_limit` is the largest overlap over the smaller rounding radius \[-\].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn shape_contacts<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<C, R>,
    words: &[u32],
    numbers: &[C],
    first_slot: usize,
    slots: u32,
    old_keys: &[u32],
    old_springs: &[R],
    keys: &mut [u32],
    springs: &mut [R],
    coefficients: &Coefficients<R>,
    dt: R,
    overlap_limit: R,
) -> PairLoad<R> {
    let zero = R::new(0.0);
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    let scale_i = pair.i.scale;
    let scale_j = pair.j.scale;
    let sizes = sizes_of::<C, R>(pair, &shape_i, &shape_j, numbers, overlap_limit);
    let reach_square = sizes.reach * sizes.reach;
    // Features that are farther apart than `reach` do not touch. The margins keep rounding errors from being a criterion, in any precision, and
    // vertices that are beside the plane of their face, as in meshes.
    let both = scale_i + scale_j;
    let spheres = C::new(1.00001) * both;
    let bound = sizes.reach + C::new(5.0e-5) * both;
    let bound_square = bound * bound;
    let mut toward_i = widened::<C, R>(&pair.direction);
    if toward_i.dot(&toward_i) < C::new(0.5) {
        toward_i = pair.apart.plus(&Vector3::<C>::zero());
    }
    let mut sums = PairSums::<C, R> {
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
        least: C::new(-1.0),
        nearest: toward_i.plus(&Vector3::<C>::zero()),
        old_slot: 0u32,
        contacts: 0u32,
    };
    if pair.apart.dot(&pair.apart) < spheres * spheres {
        let back_i = pair.i.orientation.back();
        let back_j = pair.j.orientation.back();
        let axis = unit::<C>(&toward_i, toward_i.dot(&toward_i));
        let axis_i = back_i.to_space(&axis);
        let axis_j = back_j.to_space(&axis);
        let low_i = -extent_along::<C>(&shape_i, numbers, scale_i, &axis_i.times(C::new(-1.0)));
        let high_j = extent_along::<C>(&shape_j, numbers, scale_j, &axis_j);
        let center_i = pair.apart.dot(&axis);
        if center_i + low_i - high_j < bound {
            // The frame of each grain in space, and that of the other grain as seen from it. Twice reversed is a copy.
            let frame_i = Frame::<C> {
                orientation: pair.i.orientation.back().back(),
                center: pair.apart.plus(&Vector3::<C>::zero()),
            };
            let frame_j = Frame::<C> {
                orientation: pair.j.orientation.back().back(),
                center: Vector3::<C>::zero(),
            };
            let i_from_j = Frame::<C> {
                orientation: back_j.after(&pair.i.orientation),
                center: back_j.to_space(&pair.apart),
            };
            let j_from_i = Frame::<C> {
                orientation: back_i.after(&pair.j.orientation),
                center: back_i.to_space(&pair.apart.times(C::new(-1.0))),
            };
            // A pair that is apart looks once more, at all features that may be nearer than the nearest so far. Then the direction is that of the
            // nearest points, in which the distance of the planes is that of the cores. So the next steps end above, until the grains come nearer.
            let mut limit = bound;
            let mut round = 0u32;
            let mut goes_on = true;
            while goes_on {
                for v in 0u32..shape_i.vertices {
                    let vertex = vertex_of::<C>(&shape_i, numbers, v, scale_i);
                    if center_i + vertex.dot(&axis_i) - high_j < limit {
                        let place = seen::<C>(&vertex, &i_from_j);
                        for p in 0u32..shape_j.parts {
                            let part = part_of(&shape_j, words, p);
                            let height = height_over_part::<C>(&place, &part, words, numbers, scale_j);
                            if is_worth_computing::<C>(height * height, bound_square, sums.least) {
                                let there = nearest_on_part::<C>(&place, &part, &shape_j, words, numbers, scale_j);
                                let feature = feature_pair::<C>(&place, &there);
                                note::<C, R>(&feature, &frame_j, &mut sums);
                                if feature.square < reach_square {
                                    let whole = Fading::<C> {
                                        share: C::new(1.0),
                                        pull: C::new(0.0),
                                    };
                                    add_contact_of_pair::<C, R>(
                                        key_of(VERTEX_OF_I, v, p),
                                        &feature,
                                        &whole,
                                        &frame_j,
                                        pair,
                                        &sizes,
                                        first_slot,
                                        slots,
                                        old_keys,
                                        old_springs,
                                        keys,
                                        springs,
                                        coefficients,
                                        dt,
                                        &mut sums,
                                    );
                                }
                            }
                        }
                    }
                }
                for p in 0u32..shape_i.parts {
                    let part = part_of(&shape_i, words, p);
                    for w in 0u32..shape_j.vertices {
                        let vertex = vertex_of::<C>(&shape_j, numbers, w, scale_j);
                        if center_i + low_i - vertex.dot(&axis_j) < limit {
                            let place = seen::<C>(&vertex, &j_from_i);
                            let height = height_over_part::<C>(&place, &part, words, numbers, scale_i);
                            if is_worth_computing::<C>(height * height, bound_square, sums.least) {
                                let there = nearest_on_part::<C>(&place, &part, &shape_i, words, numbers, scale_i);
                                let feature = feature_pair::<C>(&there, &place);
                                note::<C, R>(&feature, &frame_i, &mut sums);
                                if feature.square < reach_square {
                                    let overlap = overlap_at::<C>(feature.square, sizes.reach);
                                    let fades = fading_at_vertices::<C, R>(&place, overlap, &part, &shape_i, numbers, scale_i, &sizes);
                                    if fades.share > C::new(0.0) {
                                        let per_overlap = add_contact_of_pair::<C, R>(
                                            key_of(VERTEX_OF_J, p, w),
                                            &feature,
                                            &fades,
                                            &frame_i,
                                            pair,
                                            &sizes,
                                            first_slot,
                                            slots,
                                            old_keys,
                                            old_springs,
                                            keys,
                                            springs,
                                            coefficients,
                                            dt,
                                            &mut sums,
                                        );
                                        if fades.share < C::new(1.0) {
                                            for v in part.vertex_first..part.vertex_end {
                                                let end = feature_pair::<C>(&vertex_of::<C>(&shape_i, numbers, v, scale_i), &place);
                                                let within = within_end::<C, R>(end.square, overlap, &sizes);
                                                if within < C::new(1.0) {
                                                    let attraction = per_overlap * C::near(fading_rate::<C>(within));
                                                    add_end::<C, R>(&end, attraction, &frame_i, &pair.apart, &mut sums);
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                // Edges of j between the support planes, by their numbers modulo 32: most are not, and are passed for each edge of i without being read.
                let mut reached = 0u32;
                for f in 0u32..shape_j.edges {
                    let f1 = vertex_of::<C>(&shape_j, numbers, end_of_edge(&shape_j, words, f, 0u32), scale_j);
                    let f2 = vertex_of::<C>(&shape_j, numbers, end_of_edge(&shape_j, words, f, 1u32), scale_j);
                    if center_i + low_i - larger::<C>(f1.dot(&axis_j), f2.dot(&axis_j)) < limit {
                        reached |= 1u32 << (f % 32u32);
                    }
                }
                for e in 0u32..shape_i.edges {
                    let first = vertex_of::<C>(&shape_i, numbers, end_of_edge(&shape_i, words, e, 0u32), scale_i);
                    let second = vertex_of::<C>(&shape_i, numbers, end_of_edge(&shape_i, words, e, 1u32), scale_i);
                    if center_i + smaller::<C>(first.dot(&axis_i), second.dot(&axis_i)) - high_j < limit {
                        let e1 = seen::<C>(&first, &i_from_j);
                        let e2 = seen::<C>(&second, &i_from_j);
                        for f in 0u32..shape_j.edges {
                            if (reached >> (f % 32u32)) & 1u32 == 1u32 {
                                let f1 = vertex_of::<C>(&shape_j, numbers, end_of_edge(&shape_j, words, f, 0u32), scale_j);
                                let f2 = vertex_of::<C>(&shape_j, numbers, end_of_edge(&shape_j, words, f, 1u32), scale_j);
                                let square = square_between_boxes::<C>(&e1, &e2, &f1, &f2);
                                if is_worth_computing::<C>(square, bound_square, sums.least) {
                                    let nearest = nearest_of_edges::<C>(&e1, &e2, &f1, &f2);
                                    if nearest.square >= C::new(0.0) {
                                        let feature = feature_pair::<C>(&nearest.on_e, &nearest.on_f);
                                        note::<C, R>(&feature, &frame_j, &mut sums);
                                        if feature.square < reach_square {
                                            let overlap = overlap_at::<C>(feature.square, sizes.reach);
                                            let fades = fading_of_edges::<C, R>(&e1, &e2, &f1, &f2, overlap, &sizes);
                                            if fades.share > C::new(0.0) {
                                                let per_overlap = add_contact_of_pair::<C, R>(
                                                    key_of(EDGES, e, f),
                                                    &feature,
                                                    &fades,
                                                    &frame_j,
                                                    pair,
                                                    &sizes,
                                                    first_slot,
                                                    slots,
                                                    old_keys,
                                                    old_springs,
                                                    keys,
                                                    springs,
                                                    coefficients,
                                                    dt,
                                                    &mut sums,
                                                );
                                                if fades.share < C::new(1.0) {
                                                    for k in 0..4u32 {
                                                        let end = end_of_edges::<C>(k, &e1, &e2, &f1, &f2);
                                                        let within = within_end::<C, R>(end.square, overlap, &sizes);
                                                        if within < C::new(1.0) {
                                                            let attraction = per_overlap * C::near(fading_rate::<C>(within));
                                                            add_end::<C, R>(&end, attraction, &frame_j, &pair.apart, &mut sums);
                                                        }
                                                    }
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                round += 1u32;
                goes_on = round < 2u32 && sums.contacts == 0u32 && sums.least > bound_square;
                limit = C::root(larger::<C>(sums.least, bound_square));
            }
        }
    }
    if sums.contacts < slots {
        keys[first_slot + sums.contacts as usize] = 0u32;
    }
    PairLoad::<R> {
        force: sums.force,
        torque_i: sums.torque_i,
        torque_j: sums.torque_j,
        powers: PowerSums::<R> {
            normal_power: sums.normal_power,
            tangential_power: sums.tangential_power,
            damping_power: sums.damping_power,
            wall_power: zero,
            excess: sums.excess,
            across: Vector3::<R>::zero(),
        },
        stored: Stored::<R> {
            normal: sums.normal_energy,
            tangential: sums.tangential_energy,
        },
        conducting_radius: sums.conducting_radius,
        direction: near_vector::<C, R>(&unit::<C>(&sums.nearest, sums.nearest.dot(&sums.nearest))),
        contacts: sums.contacts,
    }
}
