//! Features of two polyhedral grains that are near each other, kept over steps.
//!
//! As neighbor lists keep grains, a pair keeps the keys of its features that were nearer to each other than the bound of contacts and a margin when they
//! were looked for, and the frame of i as seen from j at that time. A point of i has moved by no more than the shift of its center and its way around it,
//! see [`motion_since()`]. So has the distance of two features, as each is the least distance of points of i and points of j. As long as the motion is
//! within the margin, a contact was nearer than the bound and the margin, and so it is among the features that are kept.
//!
//! The bound of contacts is above their largest distance by more than the rounding errors of both distances and of the motion.
//!
//! A CPU keeps them as here, see [`crate::shape_search::find_contacts_over_steps()`], and a GPU as in [`crate::kernels::polyhedra_near`].
//!
//! ```
//! use seixo_laws::{Quaternion, Vector3};
//! use seixo_sweeps::near_features::NearFeatures;
//! use seixo_sweeps::shape_features::Frame;
//! let mut near = NearFeatures::<f64>::none();
//! assert!(near.since.is_none() && near.keys().is_empty());
//! let orientation = Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.0 };
//! near.begin(Some(Frame { orientation, center: Vector3::zero() }), &[3, 8]);
//! assert!(near.keys() == [3, 8] && !near.are_new);
//! ```

use crate::shape_features::{Frame, ShapePair};
use cubecl::prelude::*;
use seixo_laws::{Quaternion, Real, Vector3};

/// Features that a pair can keep on a CPU. A pair with more is searched in every step.
pub const NEAR_ROOM: usize = 256;

/// Motion after which features are looked for again, over the sum of the radii of the bounding spheres \[-\]. A wide margin keeps more features, of which
/// fewer are in contact.
const MARGIN: f32 = 0.01;

/// How far the grains of a pair may move before its features are looked for again \[m\]. The radii are those of the bounding spheres.
#[cube]
pub(crate) fn margin_of<C: Real>(radius_i: C, radius_j: C) -> C {
    C::new(MARGIN) * (radius_i + radius_j)
}

/// A bound of the way \[m\] from its former place of any point of a grain with this bounding radius, when it had another orientation and center. For a
/// rotation by the angle θ, the way is at most 2 sin(θ/2) times the radius, and the difference of both quaternions is 2 sin(θ/4), which is at least
/// sin(θ/2).
///
/// ```
/// use seixo_laws::{Quaternion, Vector3};
/// use seixo_sweeps::near_features::motion_since;
/// let upright = Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.0 };
/// let (sine, cosine) = 0.05f64.sin_cos();
/// let turned = Quaternion { w: cosine, x: 0.0, y: 0.0, z: sine };
/// let (here, there) = (Vector3::<f64>::zero(), Vector3 { x: 0.0, y: 0.3, z: 0.0 });
/// // Turned by 0.1 rad: the end of an arm of 2 m moves by 0.2 m, and the center by 0.3 m.
/// assert!((motion_since(&turned, &there, &upright, &here, 2.0) - 0.5).abs() < 1e-4);
/// ```
#[cube]
pub fn motion_since<C: Real>(
    orientation: &Quaternion<C>,
    center: &Vector3<C>,
    old_orientation: &Quaternion<C>,
    old_center: &Vector3<C>,
    radius: C,
) -> C {
    let shift = center.minus(old_center);
    let w = orientation.w - old_orientation.w;
    let x = orientation.x - old_orientation.x;
    let y = orientation.y - old_orientation.y;
    let z = orientation.z - old_orientation.z;
    C::root(shift.dot(&shift)) + C::new(2.0) * C::root(w * w + x * x + y * y + z * z) * radius
}

/// Near features of a pair on a CPU, with room for as many as it can keep. A grain that changes its shape or scale has to leave the list of pairs first.
#[derive(Clone, Debug)]
pub struct NearFeatures<C: Real> {
    /// The frame of i as seen from j when they were looked for; none if the pair keeps no features.
    pub since: Option<Frame<C>>,
    /// Whether they were looked for in this step.
    pub are_new: bool,
    /// Their number.
    count: usize,
    /// Their keys in ascending order. Words after the last have no meaning.
    keys: [u32; NEAR_ROOM],
}

impl<C: Real> NearFeatures<C> {
    /// Those of a pair that keeps none.
    pub fn none() -> NearFeatures<C> {
        NearFeatures {
            since: None,
            are_new: false,
            count: 0,
            keys: [0; NEAR_ROOM],
        }
    }

    /// From now on these are the features that a pair keeps, at most [`NEAR_ROOM`].
    pub fn begin(&mut self, since: Option<Frame<C>>, keys: &[u32]) {
        (self.since, self.are_new, self.count) = (since, false, keys.len());
        self.keys[..keys.len()].copy_from_slice(keys);
    }

    /// Keys of the features.
    pub fn keys(&self) -> &[u32] {
        &self.keys[..self.count]
    }

    /// Room for the keys of features that are looked for.
    pub(crate) fn room(&mut self) -> &mut [u32] {
        &mut self.keys
    }

    /// So many features were found, and their keys are in the room, as far as there is room. If there is too little, none are kept.
    pub(crate) fn found(&mut self, count: u32, view: Frame<C>) {
        let fits = count as usize <= NEAR_ROOM;
        (self.since, self.count) = if fits { (Some(view), count as usize) } else { (None, 0) };
        self.are_new = true;
    }

    /// Whether the pair keeps features, and its grains are still so near to where these were looked for that all its contacts are among them.
    pub(crate) fn are_kept<R: Real>(&self, pair: &ShapePair<C, R>, view: &Frame<C>) -> bool {
        self.since.is_some_and(|then| {
            let motion = motion_since::<C>(&view.orientation, &view.center, &then.orientation, &then.center, pair.i.scale);
            motion <= margin_of::<C>(pair.i.scale, pair.j.scale)
        })
    }
}
