//! Which features of two polyhedral grains are in contact.
//!
//! Few pairs of a list touch, and few features of a pair that touches are in contact. Features that are farther apart than the sum of the rounding radii
//! have no overlap. So bounds of their distance leave out most of them and change no bit: first the bounding spheres, then the support planes along the
//! direction of the last step, then the faces of a part under a vertex and the boxes around two edges.
//!
//! Bounds take few operations, and nearest points take many. A loop goes from feature to feature until the bounds leave one; then its nearest points are
//! computed. On a GPU, the threads of a block share the features of many pairs by the same bounds and criteria, see [`crate::kernels::polyhedra_search`].
//! Over many steps, most searches are saved by features that are kept, see [`find_contacts_over_steps()`].
//! Shares of contacts are left to the law: here it is enough that a contact is at none of its ends.
//!
//! ```
//! use seixo_laws::{Quaternion, Vector3};
//! use seixo_sweeps::near_features::NearFeatures;
//! use seixo_sweeps::shape_features::{PosedShape, ShapePair, VERTEX_OF_I, key_of};
//! use seixo_sweeps::shape_search::find_contacts_over_steps;
//! use seixo_sweeps::shapes::{PartEnds, ShapeGeometry, lay_out};
//! // Two balls of radius 1 at a distance of 1: the only vertex of i touches the only part of j.
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
//! let posed = PosedShape { shape: 0, scale: 1.0, orientation, spin: Vector3::<f64>::zero(), mass: 1.0 };
//! let apart = Vector3 { x: 1.0, y: 0.0, z: 0.0 };
//! let pair = ShapePair { apart, velocity: Vector3::zero(), direction: Vector3::zero(), i: posed, j: posed };
//! let (mut keys, mut near) = ([9; 4], NearFeatures::none());
//! let found = find_contacts_over_steps::<f64, f64>(&pair, &words, &numbers, 0, 4, &mut keys, &mut near);
//! assert_eq!((found.contacts, found.direction.x), (1, 1.0));
//! assert_eq!(keys[..2], [key_of(VERTEX_OF_I, 0, 0), 0]);
//! ```

mod features;

pub(crate) use features::{key_of_edges, key_of_vertex};

use crate::near_features::{NEAR_ROOM, NearFeatures, margin_of};
use crate::shape_features::{PairSizes, ShapePair, frame_of_i, sizes_of, unit};
use crate::shapes::{extent_along, shape_at};
use cubecl::prelude::*;
use features::{Search, nothing_found, search_among, search_features};
use seixo_laws::{Coordinate, Quaternion, Real, Vector3, larger, near_vector, widened};

/// Result of a search in a pair.
#[derive(Clone, Copy, Debug)]
pub struct FoundContacts<R: Real> {
    /// Number of contacts. If it exceeds the number of slots, the keys of those beyond are nowhere.
    pub contacts: u32,
    /// Value of [`ShapePair::direction`] for the next step.
    pub direction: Vector3<R>,
}

/// What a search takes from two grains before it looks at their features.
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct Approach<C: Real> {
    /// Whether the bounding spheres are near enough.
    pub spheres_meet: bool,
    /// Features that are farther apart do not touch \[m\].
    pub bound: C,
    /// Unit vector from j to i in space: the direction of the last step, or from center to center.
    pub axis: Vector3<C>,
    /// The same in the frame of i.
    pub axis_i: Vector3<C>,
    /// The same in the frame of j.
    pub axis_j: Vector3<C>,
    /// Place of the center of i along it, seen from that of j \[m\].
    pub center_i: C,
}

/// How far the vertices of two grains reach toward each other along the axis of their [`Approach`].
#[derive(CubeType, Clone, Copy, Debug)]
pub(crate) struct Extents<C: Real> {
    /// Least place of a vertex of i, seen from its center \[m\].
    pub low_i: C,
    /// Largest place of a vertex of j, seen from its center \[m\].
    pub high_j: C,
}

/// Features of a pair that are farther apart do not touch \[m\]. The margin keeps rounding errors from being a criterion, in any precision, and vertices
/// that are beside the plane of their face, as in meshes.
#[cube]
#[inline(always)]
pub(crate) fn bound_of_contacts<C: Coordinate<R>, R: Real>(pair: &ShapePair<C, R>, sizes: &PairSizes<C, R>) -> C {
    sizes.reach + C::new(5.0e-5) * (pair.i.scale + pair.j.scale)
}

/// Whether the bounding spheres of two grains are near enough for a contact.
#[cube]
#[inline(always)]
pub(crate) fn spheres_meet<C: Coordinate<R>, R: Real>(pair: &ShapePair<C, R>) -> bool {
    // As the margin of the bound.
    let spheres = C::new(1.00001) * (pair.i.scale + pair.j.scale);
    pair.apart.dot(&pair.apart) < spheres * spheres
}

/// Looks at two grains from afar.
#[cube]
#[inline(always)]
pub(crate) fn approach_of<C: Coordinate<R>, R: Real>(pair: &ShapePair<C, R>, sizes: &PairSizes<C, R>) -> Approach<C> {
    let mut toward_i = widened::<C, R>(&pair.direction);
    if toward_i.dot(&toward_i) < C::new(0.5) {
        toward_i = pair.apart.plus(&Vector3::<C>::zero());
    }
    let axis = unit::<C>(&toward_i, toward_i.dot(&toward_i));
    Approach::<C> {
        spheres_meet: spheres_meet::<C, R>(pair),
        bound: bound_of_contacts::<C, R>(pair, sizes),
        axis_i: pair.i.orientation.back().to_space(&axis),
        axis_j: pair.j.orientation.back().to_space(&axis),
        center_i: pair.apart.dot(&axis),
        axis,
    }
}

/// How far two grains reach toward each other.
#[cube]
#[inline(always)]
pub(crate) fn extents_of<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<C, R>,
    approach: &Approach<C>,
    words: &[u32],
    numbers: &[C],
) -> Extents<C> {
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    Extents::<C> {
        low_i: -extent_along::<C>(&shape_i, numbers, pair.i.scale, &approach.axis_i.times(C::new(-1.0))),
        high_j: extent_along::<C>(&shape_j, numbers, pair.j.scale, &approach.axis_j),
    }
}

/// Distance of the support planes of the two along this axis \[m\]; negative where they overlap.
#[cube]
#[inline(always)]
pub(crate) fn gap_of_planes<C: Real>(approach: &Approach<C>, extents: &Extents<C>) -> C {
    approach.center_i + extents.low_i - extents.high_j
}

/// Whether support planes of the two along this axis are near enough for a contact.
#[inline(always)]
fn planes_meet<C: Real>(approach: &Approach<C>, extents: &Extents<C>) -> bool {
    gap_of_planes::<C>(approach, extents) < approach.bound
}

/// Value of [`ShapePair::direction`] for the next step, if the nearest points were found at this vector from j to i in the frame of j, which has this
/// orientation.
#[cube]
#[inline(always)]
pub(crate) fn direction_along<C: Coordinate<R>, R: Real>(nearest: &Vector3<C>, orientation: &Quaternion<C>) -> Vector3<R> {
    near_vector::<C, R>(&unit::<C>(&orientation.to_space(nearest), nearest.dot(nearest)))
}

/// The sizes of a pair that a search needs, which are all but the limit of the overlap.
#[cube]
#[inline(always)]
pub(crate) fn sizes_of_search<C: Coordinate<R>, R: Real>(pair: &ShapePair<C, R>, words: &[u32], numbers: &[C]) -> PairSizes<C, R> {
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    sizes_of::<C, R>(pair, &shape_i, &shape_j, numbers, R::new(0.0))
}

/// Finds the contacts of two polyhedral grains on a CPU, and writes their keys in ascending order to `keys` from `first_slot` on, as far as the `slots` of
/// the pair have room. The key after the last contact is zero.
///
/// A pair keeps its `near` features from step to step. As long as its grains have hardly moved, contacts are looked for among these alone. Else its
/// features are searched, and those that are near take the place of those in `near`.
///
/// Contacts, and the direction of a pair in contact, have the same bits whatever features were kept. Another pair ends at its support planes, as always, or
/// gets the direction of the nearest of its near features.
///
/// `words` and `numbers` are the table of shapes, see [`crate::shapes`].
pub fn find_contacts_over_steps<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<C, R>,
    words: &[u32],
    numbers: &[C],
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    near: &mut NearFeatures<C>,
) -> FoundContacts<R> {
    let sizes = sizes_of_search::<C, R>(pair, words, numbers);
    let approach = approach_of::<C, R>(pair, &sizes);
    let mut search = nothing_found::<C>();
    if approach.spheres_meet {
        let extents = extents_of::<C, R>(pair, &approach, words, numbers);
        if planes_meet::<C>(&approach, &extents) {
            let view = frame_of_i::<C, R>(pair);
            if !near.are_kept::<R>(pair, &view) {
                let wide = Approach::<C> {
                    bound: approach.bound + margin_of::<C>(pair.i.scale, pair.j.scale),
                    ..approach
                };
                let mut looked = nothing_found::<C>();
                search_pair::<C, R>(
                    pair,
                    &sizes,
                    &wide,
                    &extents,
                    words,
                    numbers,
                    0,
                    NEAR_ROOM as u32,
                    near.room(),
                    &mut looked,
                    true,
                );
                near.found(looked.contacts, view);
                if looked.contacts == 0 {
                    search = looked;
                }
            }
            if near.since.is_some() {
                search_among::<C, R>(
                    pair,
                    &sizes,
                    &approach,
                    &view,
                    near.keys(),
                    words,
                    numbers,
                    first_slot,
                    slots,
                    keys,
                    &mut search,
                );
            } else {
                search_pair::<C, R>(
                    pair,
                    &sizes,
                    &approach,
                    &extents,
                    words,
                    numbers,
                    first_slot,
                    slots,
                    keys,
                    &mut search,
                    false,
                );
            }
        }
    }
    if search.contacts < slots {
        keys[first_slot + search.contacts as usize] = 0;
    }
    let direction = if search.least >= C::new(0.0) {
        direction_along::<C, R>(&search.nearest, &pair.j.orientation)
    } else {
        near_vector::<C, R>(&approach.axis)
    };
    FoundContacts {
        contacts: search.contacts,
        direction,
    }
}

/// Searches the features of a pair whose support planes meet, and writes the keys of its contacts in ascending order, or, if the search is for `near`
/// features, the keys of all that are nearer than the bound of its approach.
///
/// A pair that is apart looks once more, at all features that may be nearer than the nearest so far. Then the direction is that of the nearest points, in
/// which the distance of the planes is that of the cores. So the next steps end at these planes, until the grains come nearer.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn search_pair<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<C, R>,
    sizes: &PairSizes<C, R>,
    approach: &Approach<C>,
    extents: &Extents<C>,
    words: &[u32],
    numbers: &[C],
    first_slot: usize,
    slots: u32,
    keys: &mut [u32],
    search: &mut Search<C>,
    near: bool,
) {
    let bound_square = approach.bound * approach.bound;
    let mut limit = approach.bound;
    let mut round = 0;
    let mut goes_on = true;
    while goes_on {
        search_features::<C, R>(
            pair, sizes, approach, extents, words, numbers, limit, first_slot, slots, keys, search, near,
        );
        round += 1;
        goes_on = round < 2 && search.contacts == 0 && search.least > bound_square;
        limit = C::root(larger::<C>(search.least, bound_square));
    }
}
