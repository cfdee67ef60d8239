//! Features of two polyhedral grains: poses, nearest points as both see them, keys of contacts, and how a contact fades at its ends.
//!
//! ```
//! use seixo_sweeps::shape_features::{EDGES, VERTEX_OF_I, VERTEX_OF_J, key_of};
//! // Keys are in the order of kinds, then of the features of i, then of those of j.
//! let keys = [key_of(VERTEX_OF_I, 0, 7), key_of(VERTEX_OF_I, 1, 0), key_of(VERTEX_OF_J, 0, 0), key_of(EDGES, 0, 0)];
//! assert!(0 < keys[0] && keys.is_sorted());
//! ```

use crate::shapes::{Part, Shape, contact_radius_of, rounding_of, vertex_of};
use cubecl::prelude::*;
use seixo_laws::nearest::{fading, fading_rate, nearest_on_edge, overlap_at};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, larger, smaller};

/// Kind of contact: a vertex of i with a convex part of j.
pub const VERTEX_OF_I: u32 = 1;

/// Kind of contact: a vertex of j with a convex part of i.
pub const VERTEX_OF_J: u32 = 2;

/// Kind of contact: an edge of i with an edge of j.
pub const EDGES: u32 = 3;

/// Bits of a feature in the key of a contact.
pub(crate) const FEATURE_BITS: u32 = 15;

/// The first bit of the kind of contact in a key.
pub(crate) const KIND_BIT: u32 = 2 * FEATURE_BITS;

/// Largest number of a feature.
pub(crate) const FEATURES: u32 = (1 << FEATURE_BITS) - 1;

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
    /// Direction from j to i in which the two were nearest at the last step, of length one; zero for a new pair, and where cores meet. A pair in contact
    /// has it as the normal of its record. To a search it only saves work: forces do not depend on it.
    pub direction: Vector3<R>,
    /// State of i.
    pub i: PosedShape<C, R>,
    /// State of j.
    pub j: PosedShape<C, R>,
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
pub struct Frame<C: Real> {
    /// Orientation of its axes.
    pub orientation: Quaternion<C>,
    /// Its center \[m\].
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
pub(crate) struct PairSums<R: Real> {
    /// Force on i \[N\].
    pub force: Vector3<R>,
    /// Torque on i about its center \[N m\].
    pub torque_i: Vector3<R>,
    /// Torque on j about its center \[N m\].
    pub torque_j: Vector3<R>,
    /// Power of the normal dashpots \[W\].
    pub normal_power: R,
    /// Power of friction \[W\].
    pub tangential_power: R,
    /// Power of the tangential dashpots \[W\].
    pub damping_power: R,
    /// Power of a surface that runs along j \[W\].
    pub surface_power: R,
    /// Largest excess of an overlap over its limit \[m\].
    pub excess: R,
    /// Energy of the normal laws \[J\].
    pub normal_energy: R,
    /// Energy of the tangential springs \[J\].
    pub tangential_energy: R,
    /// Sum of the contact radii, each times the share of its contact \[m\].
    pub conducting_radius: R,
    /// Places in the slots.
    pub at: SlotPlaces,
}

/// Places in the slots of a pair. A struct of its own, as `CubeTypeMut` takes no integer beside the numbers of one type parameter.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub(crate) struct SlotPlaces {
    /// Old slot from which the next contact is looked for.
    pub old: u32,
    /// Contacts so far.
    pub contacts: u32,
}

/// A point given in one frame, as seen in another.
#[cube]
#[inline(always)]
pub(crate) fn seen<C: Real>(point: &Vector3<C>, view: &Frame<C>) -> Vector3<C> {
    view.orientation.to_space(point).plus(&view.center)
}

/// A point of the frame in which `view` is given, as seen in that of `view`: the inverse of [`seen()`].
#[cube]
#[inline(always)]
pub(crate) fn seen_from<C: Real>(point: &Vector3<C>, view: &Frame<C>) -> Vector3<C> {
    view.orientation.back().to_space(&point.minus(&view.center))
}

/// The frame of i as seen from j.
#[cube]
#[inline(always)]
pub(crate) fn frame_of_i<C: Real, R: Real>(pair: &ShapePair<C, R>) -> Frame<C> {
    let back = pair.j.orientation.back();
    Frame::<C> {
        orientation: back.after(&pair.i.orientation),
        center: back.to_space(&pair.apart),
    }
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
    if square < sizes.reach * sizes.reach {
        let beyond = overlap - overlap_at::<C>(square, sizes.reach);
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

/// Quantities that all contacts of a pair have in common.
#[cube]
#[inline(always)]
pub(crate) fn sizes_of<C: Coordinate<R>, R: Real>(
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
