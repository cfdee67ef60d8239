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
//! use seixo_sweeps::shape_pairs::{EDGES, VERTEX_OF_I, VERTEX_OF_J, key_of};
//! // Keys are in the order of kinds, then of the features of i, then of those of j.
//! let keys = [key_of(VERTEX_OF_I, 0, 7), key_of(VERTEX_OF_I, 1, 0), key_of(VERTEX_OF_J, 0, 0), key_of(EDGES, 0, 0)];
//! assert!(0 < keys[0] && keys.is_sorted());
//! ```

use crate::contact::{PowerSums, Stored};
use crate::feature_contact::{SurfaceMotion, add_contact, add_end, old_history};
use crate::shapes::{
    Part, Shape, contact_radius_of, end_of_edge, extent_along, height_over_part, nearest_on_part, part_of, rounding_of, shape_at, vertex_of,
};
use cubecl::prelude::*;
use seixo_laws::contact::Coefficients;
use seixo_laws::nearest::{fading, fading_rate, nearest_of_edges, nearest_on_edge, overlap_at};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, larger, near_vector, smaller, widened};

/// Kind of contact: a vertex of i with a convex part of j.
pub const VERTEX_OF_I: u32 = 1;

/// Kind of contact: a vertex of j with a convex part of i.
pub const VERTEX_OF_J: u32 = 2;

/// Kind of contact: an edge of i with an edge of j.
pub const EDGES: u32 = 3;

/// Bits of a feature in the key of a contact.
const FEATURE_BITS: u32 = 15;

/// Key of a contact of this kind: its features are the number of a vertex, of a convex part or of an edge of each shape. It is never zero.
#[cube]
#[inline(always)]
pub fn key_of(#[comptime] kind: u32, of_i: u32, of_j: u32) -> u32 {
    ((of_i | (kind << FEATURE_BITS)) << FEATURE_BITS) | of_j
}

/// State of a polyhedral grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct PosedShape<C: Real, R: Real> {
    /// Index of its shape.
    pub shape: u32,
    /// Radius of its bounding sphere \[m\].
    pub scale: C,
    /// Orientation.
    pub orientation: Quaternion<C>,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<R>,
    /// Mass \[kg\].
    pub mass: R,
}

/// Two polyhedral grains i and j. Either may be a sphere.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct ShapePair<C: Real, R: Real> {
    /// x_i − x_j, to the nearest image \[m\].
    pub apart: Vector3<C>,
    /// v_i − v_j, less the sliding of periodic sides \[m/s\].
    pub velocity: Vector3<R>,
    /// Direction from j to i in which the two were nearest at the last step, of length one; zero for a new pair. It only saves work: results do not
    /// depend on it.
    pub direction: Vector3<R>,
    /// State of i.
    pub i: PosedShape<C, R>,
    /// State of j.
    pub j: PosedShape<C, R>,
}

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

/// Quantities that all contacts of a pair have in common.
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct PairSizes<C: Real, R: Real> {
    /// Sum of the rounding radii \[m\].
    pub reach: C,
    /// Rounding radius of j \[m\].
    pub rounding_j: C,
    /// Lengths below it are rounding errors \[m\].
    pub nothing: C,
    /// R* \[m\].
    pub effective_radius: R,
    /// m* \[kg\].
    pub effective_mass: R,
    /// Largest overlap that is allowed \[m\].
    pub allowed: R,
}

/// The frame of a grain: its axes, and its center relative to that of j \[m\].
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct Frame<C: Real> {
    pub orientation: Quaternion<C>,
    pub center: Vector3<C>,
}

/// The nearest points of two features, in the frame of a grain.
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct FeaturePair<C: Real> {
    /// From the point of j to that of i \[m\].
    pub gap: Vector3<C>,
    /// The point of j \[m\].
    pub on_j: Vector3<C>,
    /// Squared distance \[m²\].
    pub square: C,
}

/// How a contact fades at its ends.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub(crate) struct Fading<C: Real> {
    /// Share Φ \[-\].
    pub share: C,
    /// Σ x_k |φ′(x_k)|/φ(x_k) \[-\].
    pub pull: C,
}

/// Sums over the contacts of a pair, and places in its slots.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub(crate) struct PairSums<C: Real, R: Real> {
    pub force: Vector3<R>,
    pub torque_i: Vector3<R>,
    pub torque_j: Vector3<R>,
    pub normal_power: R,
    pub tangential_power: R,
    pub damping_power: R,
    /// Power of a surface that runs along j \[W\].
    pub surface_power: R,
    pub excess: R,
    pub normal_energy: R,
    pub tangential_energy: R,
    pub conducting_radius: R,
    /// Smallest squared distance so far \[m²\]; negative before the first.
    pub least: C,
    /// Vector between these nearest points, from j to i \[m\].
    pub nearest: Vector3<C>,
    /// Old slot from which the next contact is looked for.
    pub old_slot: u32,
    /// Contacts so far.
    pub contacts: u32,
}

/// A point given in one frame, as seen in another.
#[cube]
#[inline(always)]
pub(crate) fn seen<C: Real>(point: &Vector3<C>, view: &Frame<C>) -> Vector3<C> {
    view.orientation.to_space(point).plus(&view.center)
}

/// A vector of length one along this one, whose squared length is given; zero for the zero vector.
#[cube]
#[inline(always)]
pub(crate) fn unit<C: Real>(vector: &Vector3<C>, square: C) -> Vector3<C> {
    vector.times(C::inverse_root(larger::<C>(square, C::new(1.0e-37))))
}

/// Nearest points on i and on j as a pair of features.
#[cube]
#[inline(always)]
pub(crate) fn feature_pair<C: Real>(on_i: &Vector3<C>, on_j: &Vector3<C>) -> FeaturePair<C> {
    let gap = on_i.minus(on_j);
    let square = gap.dot(&gap);
    FeaturePair::<C> {
        gap,
        on_j: on_j.plus(&Vector3::<C>::zero()),
        square,
    }
}

/// End `k` of two edges: the first and the second end of e with the nearest point of f, and vice versa.
#[cube]
#[inline(always)]
pub(crate) fn end_of_edges<C: Real>(k: u32, e1: &Vector3<C>, e2: &Vector3<C>, f1: &Vector3<C>, f2: &Vector3<C>) -> FeaturePair<C> {
    let mut on_i = e1.plus(&Vector3::<C>::zero());
    let mut on_j = f1.plus(&Vector3::<C>::zero());
    if k == 0u32 {
        on_j = nearest_on_edge::<C>(e1, f1, f2);
    } else if k == 1u32 {
        on_i = e2.plus(&Vector3::<C>::zero());
        on_j = nearest_on_edge::<C>(e2, f1, f2);
    } else if k == 2u32 {
        on_i = nearest_on_edge::<C>(f1, e1, e2);
    } else {
        on_i = nearest_on_edge::<C>(f2, e1, e2);
        on_j = f2.plus(&Vector3::<C>::zero());
    }
    feature_pair::<C>(&on_i, &on_j)
}

/// 1 − x of an end at this squared distance, x = δ_k/δ \[-\]: 1 if it is out of reach, and 0 if the contact is at this end.
#[cube]
#[inline(always)]
pub(crate) fn within_end<C: Real, R: Real>(square: C, overlap: C, sizes: &PairSizes<C, R>) -> C {
    let mut within = C::new(1.0);
    let of_end = overlap_at::<C>(square, sizes.reach);
    if of_end > C::new(0.0) {
        let beyond = overlap - of_end;
        within = C::new(0.0);
        if beyond > sizes.nothing {
            within = beyond / overlap;
        }
    }
    within
}

/// Lets a contact fade by one of its ends.
#[cube]
#[inline(always)]
fn fade<C: Real>(within: C, all: &mut Fading<C>) {
    if within > C::new(0.0) {
        all.share *= fading::<C>(within);
        all.pull += (C::new(1.0) - within) * fading_rate::<C>(within);
    } else {
        all.share = C::new(0.0);
    }
}

/// How the contact of the vertex at `place` of j with a convex part of i fades at the vertices of the part, in the frame of i.
#[cube]
#[inline(always)]
pub(crate) fn fading_at_vertices<C: Real, R: Real>(
    place: &Vector3<C>,
    overlap: C,
    part: &Part,
    shape: &Shape,
    numbers: &[C],
    scale: C,
    sizes: &PairSizes<C, R>,
) -> Fading<C> {
    let mut all = Fading::<C> {
        share: C::new(1.0),
        pull: C::new(0.0),
    };
    for v in part.vertex_first..part.vertex_end {
        let end = feature_pair::<C>(&vertex_of::<C>(shape, numbers, v, scale), place);
        fade::<C>(within_end::<C, R>(end.square, overlap, sizes), &mut all);
    }
    all
}

/// How the contact of two edges fades at their ends.
#[cube]
#[inline(always)]
pub(crate) fn fading_of_edges<C: Real, R: Real>(
    e1: &Vector3<C>,
    e2: &Vector3<C>,
    f1: &Vector3<C>,
    f2: &Vector3<C>,
    overlap: C,
    sizes: &PairSizes<C, R>,
) -> Fading<C> {
    let mut all = Fading::<C> {
        share: C::new(1.0),
        pull: C::new(0.0),
    };
    for k in 0..4u32 {
        let end = end_of_edges::<C>(k, e1, e2, f1, f2);
        fade::<C>(within_end::<C, R>(end.square, overlap, sizes), &mut all);
    }
    all
}

/// Whether features with at least this squared distance \[m²\] may touch, or be nearer than the nearest so far: only then are they computed. `bound` is
/// the squared distance beyond which features have no overlap.
#[cube]
#[inline(always)]
fn is_worth_computing<C: Real>(square: C, bound: C, least: C) -> bool {
    square < bound || least < C::new(0.0) || square < least
}

/// Distance of the intervals between a1 and a2 and between b1 and b2.
#[cube]
#[inline(always)]
fn between_intervals<C: Real>(a1: C, a2: C, b1: C, b2: C) -> C {
    let above = smaller::<C>(a1, a2) - larger::<C>(b1, b2);
    let below = smaller::<C>(b1, b2) - larger::<C>(a1, a2);
    larger::<C>(larger::<C>(above, below), C::new(0.0))
}

/// Squared distance of the boxes around two edges, with sides along the axes of the frame \[m²\]: the edges are no nearer to each other.
#[cube]
#[inline(always)]
pub(crate) fn square_between_boxes<C: Real>(e1: &Vector3<C>, e2: &Vector3<C>, f1: &Vector3<C>, f2: &Vector3<C>) -> C {
    let x = between_intervals::<C>(e1.x, e2.x, f1.x, f2.x);
    let y = between_intervals::<C>(e1.y, e2.y, f1.y, f2.y);
    let z = between_intervals::<C>(e1.z, e2.z, f1.z, f2.z);
    x * x + y * y + z * z
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

/// Quantities that all contacts of a pair have in common.
#[cube]
#[inline(always)]
fn sizes_of<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<C, R>,
    shape_i: &Shape,
    shape_j: &Shape,
    numbers: &[C],
    overlap_limit: R,
) -> PairSizes<C, R> {
    let rounding_i = rounding_of::<C>(shape_i, numbers) * pair.i.scale;
    let rounding_j = rounding_of::<C>(shape_j, numbers) * pair.j.scale;
    let radius_i = C::near(contact_radius_of::<C>(shape_i, numbers) * pair.i.scale);
    let radius_j = C::near(contact_radius_of::<C>(shape_j, numbers) * pair.j.scale);
    PairSizes::<C, R> {
        reach: rounding_i + rounding_j,
        rounding_j,
        nothing: C::roundoff() * C::new(8.0) * (pair.i.scale + pair.j.scale),
        effective_radius: radius_i * radius_j / (radius_i + radius_j),
        effective_mass: pair.i.mass * pair.j.mass / (pair.i.mass + pair.j.mass),
        allowed: overlap_limit * smaller::<R>(C::near(rounding_i), C::near(rounding_j)),
    }
}
