//! Contacts of two polyhedral grains: from their shapes and poses to forces.
//!
//! A contact is that of a vertex of one grain with a convex part of the other, or of an edge with an edge. Its energy is U(δ) Φ, where the share Φ
//! falls to zero at the ends of its features, because another contact takes over there. The forces are the slopes of the sum of these energies, see
//! `docs/design/polyhedra.md`. The grain i is that with the smaller id, so that both owners of a pair find the same bits.
//!
//! Every pair has the same number of slots for contact histories, each with a key and [`crate::layout::RECORD`] numbers. Slots are in the order of
//! their keys. The first free slot has the key zero; what is in those after it has no meaning.
//!
//! A step has two parts, which a GPU takes in two launches. First [`crate::shape_search`] finds the features in contact and writes their keys to the slots.
//! Then each contact is computed by itself, from its key. The loads of a pair are the sums over its contacts in the order of keys.
//!
//! ```
//! use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
//! use seixo_laws::{Quaternion, Vector3};
//! use seixo_sweeps::near_features::NearFeatures;
//! use seixo_sweeps::shape_pairs::{PosedShape, ShapePair, shape_contacts_over_steps};
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
//! let (mut keys, mut histories, mut near) = ([0; 2], [0.0; 8], NearFeatures::none());
//! let load = shape_contacts_over_steps::<f64, f64>(
//!     &pair, &words, &numbers, 0, 2, &[0; 2], &[0.0; 8], &mut keys, &mut histories, &laws, 1e-3, 1.0, &mut near,
//! );
//! assert!(load.contacts == 1 && keys[1] == 0);
//! assert!((load.force.x - 100.0).abs() < 1e-9);
//! ```

pub use crate::shape_features::{EDGES, PosedShape, ShapePair, VERTEX_OF_I, VERTEX_OF_J, key_of};

use crate::contact::{PowerSums, Stored};
use crate::feature_contact::{SurfaceMotion, add_contact, add_end, old_history};
use crate::layout::store;
use crate::near_features::NearFeatures;
use crate::shape_features::{
    FEATURE_BITS, FEATURES, Fading, FeaturePair, Frame, KIND_BIT, PairSizes, PairSums, SlotPlaces, end_of_edges, fading_at_vertices,
    fading_of_edges, feature_pair, seen, sizes_of, within_end,
};
use crate::shape_search::find_contacts_over_steps;
use crate::shapes::{edge_end, nearest_on_part, part_of, shape_at, vertex_of};
use cubecl::prelude::*;
use seixo_laws::contact::Coefficients;
use seixo_laws::nearest::{fading_rate, nearest_of_edges, overlap_at};
use seixo_laws::{Coordinate, Real, Vector3, larger};

/// All that the contacts of a pair do in one step.
#[derive(Clone, Copy, Debug)]
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
    /// Number of contacts. If it exceeds the number of slots, those beyond are in none of the sums, and the step has to be repeated with more slots.
    pub contacts: u32,
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
    sums: &mut PairSums<R>,
) -> R {
    let contact_history = old_history::<R>(key, first_slot, slots, old_keys, old_springs, sums);
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

/// Sums over no contacts. The next one is that of slot `c`.
#[cube]
#[inline(always)]
fn no_sums<R: Real>(c: u32) -> PairSums<R> {
    let zero = R::new(0.0);
    PairSums::<R> {
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
        at: SlotPlaces { old: 0u32, contacts: c },
    }
}

/// What the contact in slot `c` of a pair does over one time step. Its key is there already, see [`find_contacts_over_steps()`]; its history is read
/// from the old slots and written to its slot. All other arguments are those of [`shape_contacts_over_steps()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub(crate) fn contact_in_slot<C: Coordinate<R>, R: Real>(
    c: u32,
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
) -> PairSums<R> {
    let one = C::new(1.0);
    let shape_i = shape_at(words, pair.i.shape);
    let shape_j = shape_at(words, pair.j.shape);
    let sizes = sizes_of::<C, R>(pair, &shape_i, &shape_j, numbers, overlap_limit);
    let at = first_slot + c as usize;
    let key = keys[at];
    let kind = key >> KIND_BIT;
    // All is seen from j, or from i if a vertex of j touches a part of i. Twice reversed is a copy.
    let mut here = key & FEATURES;
    let mut there = (key >> FEATURE_BITS) & FEATURES;
    let mut shape_here = pair.j.shape;
    let mut shape_there = pair.i.shape;
    let mut scale_here = pair.j.scale;
    let mut scale_there = pair.i.scale;
    let mut turn_here = pair.j.orientation.back().back();
    let mut turn_there = pair.i.orientation.back().back();
    let mut center = Vector3::<C>::zero();
    let mut toward = pair.apart.plus(&Vector3::<C>::zero());
    if kind == VERTEX_OF_J {
        here = (key >> FEATURE_BITS) & FEATURES;
        there = key & FEATURES;
        shape_here = pair.i.shape;
        shape_there = pair.j.shape;
        scale_here = pair.i.scale;
        scale_there = pair.j.scale;
        turn_here = pair.i.orientation.back().back();
        turn_there = pair.j.orientation.back().back();
        center = pair.apart.plus(&Vector3::<C>::zero());
        toward = pair.apart.times(C::new(-1.0));
    }
    let back = turn_here.back();
    let frame = Frame::<C> {
        orientation: turn_here.back().back(),
        center: center.plus(&Vector3::<C>::zero()),
    };
    let view = Frame::<C> {
        orientation: back.after(&turn_there),
        center: back.to_space(&toward),
    };
    let own = shape_at(words, shape_here);
    let other = shape_at(words, shape_there);
    let mut gap = Vector3::<C>::zero();
    let mut on_j = Vector3::<C>::zero();
    let mut square = C::new(-1.0);
    let mut share = one;
    let mut pull = C::new(0.0);
    if kind == EDGES {
        let e1 = seen::<C>(&edge_end::<C>(&other, words, numbers, there, 0u32, scale_there), &view);
        let e2 = seen::<C>(&edge_end::<C>(&other, words, numbers, there, 1u32, scale_there), &view);
        let f1 = edge_end::<C>(&own, words, numbers, here, 0u32, scale_here);
        let f2 = edge_end::<C>(&own, words, numbers, here, 1u32, scale_here);
        let nearest = nearest_of_edges::<C>(&e1, &e2, &f1, &f2);
        if nearest.square >= C::new(0.0) {
            let feature = feature_pair::<C>(&nearest.on_e, &nearest.on_f);
            let fades = fading_of_edges::<C, R>(&e1, &e2, &f1, &f2, overlap_at::<C>(feature.square, sizes.reach), &sizes);
            gap = feature.gap.plus(&Vector3::<C>::zero());
            on_j = feature.on_j.plus(&Vector3::<C>::zero());
            square = feature.square;
            share = fades.share;
            pull = fades.pull;
        }
    } else {
        let place = seen::<C>(&vertex_of::<C>(&other, numbers, there, scale_there), &view);
        let part = part_of(&own, words, here);
        let on_part = nearest_on_part::<C>(&place, &part, &own, words, numbers, scale_here);
        gap = place.minus(&on_part);
        on_j = on_part.plus(&Vector3::<C>::zero());
        if kind == VERTEX_OF_J {
            gap = on_part.minus(&place);
            on_j = place.plus(&Vector3::<C>::zero());
        }
        square = gap.dot(&gap);
        if kind == VERTEX_OF_J {
            let overlap = overlap_at::<C>(square, sizes.reach);
            let fades = fading_at_vertices::<C, R>(&place, overlap, &part, &own, numbers, scale_here, &sizes);
            share = fades.share;
            pull = fades.pull;
        }
    }
    let feature = FeaturePair::<C> { gap, on_j, square };
    let fades = Fading::<C> { share, pull };
    let mut sums = no_sums::<R>(c);
    // A compiler may round the same formula in another way than in the search. A contact that just begins may then be none.
    if square >= C::new(0.0) && square < sizes.reach * sizes.reach && share > C::new(0.0) {
        let per_overlap = add_contact_of_pair::<C, R>(
            key,
            &feature,
            &fades,
            &frame,
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
        if share < one {
            let overlap = overlap_at::<C>(square, sizes.reach);
            if kind == EDGES {
                let e1 = seen::<C>(&edge_end::<C>(&other, words, numbers, there, 0u32, scale_there), &view);
                let e2 = seen::<C>(&edge_end::<C>(&other, words, numbers, there, 1u32, scale_there), &view);
                let f1 = edge_end::<C>(&own, words, numbers, here, 0u32, scale_here);
                let f2 = edge_end::<C>(&own, words, numbers, here, 1u32, scale_here);
                for k in 0..4u32 {
                    let end = end_of_edges::<C>(k, &e1, &e2, &f1, &f2);
                    add_end_of_pair::<C, R>(&end, overlap, per_overlap, &frame, &pair.apart, &sizes, &mut sums);
                }
            } else {
                let place = seen::<C>(&vertex_of::<C>(&other, numbers, there, scale_there), &view);
                let part = part_of(&own, words, here);
                for v in part.vertex_first..part.vertex_end {
                    let end = feature_pair::<C>(&vertex_of::<C>(&own, numbers, v, scale_here), &place);
                    add_end_of_pair::<C, R>(&end, overlap, per_overlap, &frame, &pair.apart, &sizes, &mut sums);
                }
            }
        }
    } else {
        store::<R>(springs, at * 4usize, &Vector3::<R>::zero());
        springs[at * 4usize + 3usize] = R::new(0.0);
    }
    sums
}

/// Adds the attraction at an end of a contact with this overlap \[m\], if the end is within reach. `per_overlap` is U Φ/δ of the contact \[N\].
#[cube]
#[inline(always)]
fn add_end_of_pair<C: Coordinate<R>, R: Real>(
    end: &FeaturePair<C>,
    overlap: C,
    per_overlap: R,
    frame: &Frame<C>,
    apart: &Vector3<C>,
    sizes: &PairSizes<C, R>,
    sums: &mut PairSums<R>,
) {
    let within = within_end::<C, R>(end.square, overlap, sizes);
    if within < C::new(1.0) {
        let attraction = per_overlap * C::near(fading_rate::<C>(within));
        add_end::<C, R>(end, attraction, frame, apart, sums);
    }
}

/// Adds what one contact of a pair does to the sums over those before it.
#[inline(always)]
fn add_sums<R: Real>(of_contact: &PairSums<R>, all: &mut PairSums<R>) {
    all.force = all.force.plus(&of_contact.force);
    all.torque_i = all.torque_i.plus(&of_contact.torque_i);
    all.torque_j = all.torque_j.plus(&of_contact.torque_j);
    all.normal_power += of_contact.normal_power;
    all.tangential_power += of_contact.tangential_power;
    all.damping_power += of_contact.damping_power;
    all.excess = larger::<R>(all.excess, of_contact.excess);
    all.normal_energy += of_contact.normal_energy;
    all.tangential_energy += of_contact.tangential_energy;
    all.conducting_radius += of_contact.conducting_radius;
}

/// Contacts of two polyhedral grains over one time step, on a CPU. The pair keeps its `near` features from step to step, see
/// [`find_contacts_over_steps()`].
///
/// `words` and `numbers` are the table of shapes, see [`crate::shapes`]. The slots of the pair are `first_slot` and the following ones, `slots` in all.
/// Histories are read from `old_keys` and `old_springs`, and written to `keys` and `springs`; both have the same layout. So a step can be repeated.
/// The key after the last contact is set to zero, and slots after it are left as they are.
///
/// `overlap_limit` is the largest overlap over the smaller rounding radius \[-\].
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn shape_contacts_over_steps<C: Coordinate<R>, R: Real>(
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
    near: &mut NearFeatures<C>,
) -> PairLoad<R> {
    let found = find_contacts_over_steps::<C, R>(pair, words, numbers, first_slot, slots, keys, near);
    let mut sums = no_sums::<R>(0);
    for c in 0..found.contacts.min(slots) {
        let of_contact = contact_in_slot::<C, R>(
            c,
            pair,
            words,
            numbers,
            first_slot,
            slots,
            old_keys,
            old_springs,
            keys,
            springs,
            coefficients,
            dt,
            overlap_limit,
        );
        add_sums::<R>(&of_contact, &mut sums);
    }
    PairLoad {
        force: sums.force,
        torque_i: sums.torque_i,
        torque_j: sums.torque_j,
        powers: PowerSums {
            normal_power: sums.normal_power,
            tangential_power: sums.tangential_power,
            damping_power: sums.damping_power,
            wall_power: R::new(0.0),
            excess: sums.excess,
            across: Vector3::<R>::zero(),
        },
        stored: Stored {
            normal: sums.normal_energy,
            tangential: sums.tangential_energy,
        },
        conducting_radius: sums.conducting_radius,
        direction: found.direction,
        contacts: found.contacts,
    }
}
