//! Nearest points of walls, and the motion of walls.
//!
//! The effective radius at a curved wall is that of the grain, R* = R, as at a plane. This convention of the field is good if the radius of curvature
//! of the wall is large compared with R.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::wall::{nearest_on_triangle, velocity_of_point};
//! let at = |x: f64, y: f64, z: f64| Vector3 { x, y, z };
//! let (a, b, c) = (at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 1.0, 0.0));
//! // Above the face the nearest point is the foot of the perpendicular. Beyond a corner it is the corner.
//! assert!(nearest_on_triangle::<f64>(&at(0.25, 0.25, 2.0), &a, &b, &c).minus(&at(0.25, 0.25, 0.0)).length() < 1e-12);
//! assert_eq!(nearest_on_triangle::<f64>(&at(9.0, -1.0, 0.0), &a, &b, &c), b);
//! // The lowest point of a rolling wheel of radius 0.5 is at rest.
//! assert!(velocity_of_point::<f64>(&at(1.0, 0.0, 0.0), &at(0.0, 2.0, 0.0), &at(0.0, 0.0, -0.5)).length() < 1e-12);
//! ```

use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// The point of the triangle abc nearest to p, by the Voronoi region of p: corner, edge or face \[Ericson 2005, § 5.1.5\].
#[cube]
#[inline(always)]
pub fn nearest_on_triangle<R: Real>(p: &Vector3<R>, a: &Vector3<R>, b: &Vector3<R>, c: &Vector3<R>) -> Vector3<R> {
    let zero = R::new(0.0);
    let ab = b.minus(a);
    let ac = c.minus(a);
    let ap = p.minus(a);
    let d1 = ab.dot(&ap);
    let d2 = ac.dot(&ap);
    let bp = p.minus(b);
    let d3 = ab.dot(&bp);
    let d4 = ac.dot(&bp);
    let cp = p.minus(c);
    let d5 = ab.dot(&cp);
    let d6 = ac.dot(&cp);
    let va = d3 * d6 - d5 * d4;
    let vb = d5 * d2 - d1 * d6;
    let vc = d1 * d4 - d3 * d2;
    let mut along_ab = zero;
    let mut along_ac = zero;
    if d1 <= zero && d2 <= zero {
        along_ab = zero;
    } else if d3 >= zero && d4 <= d3 {
        along_ab = R::new(1.0);
    } else if d6 >= zero && d5 <= d6 {
        along_ac = R::new(1.0);
    } else if vc <= zero && d1 >= zero && d3 <= zero {
        along_ab = d1 / (d1 - d3);
    } else if vb <= zero && d2 >= zero && d6 <= zero {
        along_ac = d2 / (d2 - d6);
    } else if va <= zero && d4 - d3 >= zero && d5 - d6 >= zero {
        along_ac = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        along_ab = R::new(1.0) - along_ac;
    } else {
        let inverse = R::new(1.0) / (va + vb + vc);
        along_ab = vb * inverse;
        along_ac = vc * inverse;
    }
    a.plus(&ab.times(along_ab)).plus(&ac.times(along_ac))
}

/// A unit vector perpendicular to the unit vector `axis` \[Duff 2017, § 3\].
#[cube]
#[inline(always)]
pub fn perpendicular<R: Real>(axis: &Vector3<R>) -> Vector3<R> {
    let mut sign = R::new(1.0);
    if axis.z < R::new(0.0) {
        sign = R::new(-1.0);
    }
    let a = R::new(-1.0) / (sign + axis.z);
    Vector3::<R> {
        x: R::new(1.0) + sign * axis.x * axis.x * a,
        y: sign * axis.x * axis.y * a,
        z: -sign * axis.x,
    }
}

/// The point nearest to p of a surface of revolution of a straight segment: the lateral surface of a cylinder or a cone, or a disk.
///
/// `base` is a point of the axis \[m\], and `axis` is a unit vector. `shape` holds the height of the end of the segment \[m\], and its distances from
/// the axis at the base and at this height \[m\]. The distances are equal for a cylinder; a disk has height 0 and first distance 0. The nearest point
/// lies in the half-plane of p. For p on the axis many points are equally near, and one of them is returned.
#[cube]
#[inline(always)]
pub fn nearest_on_frustum<R: Real>(p: &Vector3<R>, base: &Vector3<R>, axis: &Vector3<R>, shape: &Vector3<R>) -> Vector3<R> {
    let zero = R::new(0.0);
    let from_base = p.minus(base);
    let height = from_base.dot(axis);
    let aside = from_base.minus(&axis.times(height));
    let distance = aside.length();
    let mut outward = perpendicular::<R>(axis);
    if distance > zero {
        outward = aside.times(R::new(1.0) / distance);
    }
    let rise = shape.x;
    let widening = shape.z - shape.y;
    let along = (height * rise + (distance - shape.y) * widening) / (rise * rise + widening * widening);
    let share = larger::<R>(smaller::<R>(along, R::new(1.0)), zero);
    base.plus(&axis.times(share * rise))
        .plus(&outward.times(shape.y + share * widening))
}

/// The point of a sphere's surface nearest to p; an arbitrary point of it if p is the center.
#[cube]
#[inline(always)]
pub fn nearest_on_sphere<R: Real>(p: &Vector3<R>, center: &Vector3<R>, radius: R) -> Vector3<R> {
    let from_center = p.minus(center);
    let distance = from_center.length();
    let mut outward = Vector3::<R> {
        x: R::new(0.0),
        y: R::new(0.0),
        z: R::new(1.0),
    };
    if distance > R::new(0.0) {
        outward = from_center.times(R::new(1.0) / distance);
    }
    center.plus(&outward.times(radius))
}

/// Rodrigues' rotation of v about the unit vector `axis` by the angle with this `cos` and `sin`.
#[cube]
#[inline(always)]
pub fn rotated<R: Real>(v: &Vector3<R>, axis: &Vector3<R>, cos: R, sin: R) -> Vector3<R> {
    v.times(cos)
        .plus(&axis.cross(v).times(sin))
        .plus(&axis.times(axis.dot(v) * (R::new(1.0) - cos)))
}

/// Velocity of a point of a rigid body, v + ω × r \[m/s\]. `arm` is its vector r from a point with `velocity`, and `spin` is ω.
#[cube]
#[inline(always)]
pub fn velocity_of_point<R: Real>(velocity: &Vector3<R>, spin: &Vector3<R>, arm: &Vector3<R>) -> Vector3<R> {
    velocity.plus(&spin.cross(arm))
}

/// Acceleration of such a point, a + dω/dt × r + ω × (ω × r) \[m/s²\], with dω/dt in `spin_up`.
#[cube]
#[inline(always)]
pub fn acceleration_of_point<R: Real>(acceleration: &Vector3<R>, spin_up: &Vector3<R>, spin: &Vector3<R>, arm: &Vector3<R>) -> Vector3<R> {
    acceleration.plus(&spin_up.cross(arm)).plus(&spin.cross(&spin.cross(arm)))
}

/// What a servo does in a step.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct ServoAction<R: Real> {
    /// Speed of the wall \[m/s, rad/s\].
    pub speed: R,
    /// Integral part of that speed \[m/s, rad/s\].
    pub integral: R,
}

/// Speed of a servo wall: g e + I, bounded by the limit. The position of the wall integrates it.
///
/// g e is `gain` \[m/(s N)\] times the missing force \[N\], proportional control as of servo walls since \[Cundall 1979\]. The integral part I grows
/// in each step by g e times `share`, the step over the integral time. So no force is missing at rest, and none at a constant speed either.
///
/// Integration is conditional, against windup \[Åström 1995, § 3.5\]: I does not grow while the speed is at its limit, or while more than a quarter of
/// the target is missing or too much. It may always shrink, but then at most to zero: a blow would leave an integral of its own.
#[cube]
#[inline(always)]
pub fn servo_action<R: Real>(missing: R, target: R, integral: R, gain: R, share: R, limit: R) -> ServoAction<R> {
    let proportional = missing * gain;
    let grown = integral + proportional * share;
    let asked = proportional + grown;
    let speed = larger::<R>(smaller::<R>(asked, limit), -limit);
    let mut kept = grown;
    let zero = R::new(0.0);
    let beyond = (asked - speed) * missing;
    let quarter = R::new(0.25) * target;
    if beyond > zero || missing * missing > quarter * quarter {
        if proportional * integral >= zero {
            kept = integral;
        }
        let turns_back = integral > zero && grown < zero;
        let turns_forth = integral < zero && grown > zero;
        if turns_back || turns_forth {
            kept = zero;
        }
    }
    ServoAction::<R> { speed, integral: kept }
}

/// Position of a point relative to the unbounded surface of which a wall is a part.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct SurfacePoint<R: Real> {
    /// Signed distance \[m\].
    pub distance: R,
    /// Unit normal at the nearest point, towards positive distances.
    pub normal: Vector3<R>,
    /// Distance from the nearest point to the nearer end of the generating segment \[m\]; negative beyond the end.
    pub within: R,
}

/// Position of p relative to the unbounded cylinder, cone or plane of a frustum, with the arguments of [`nearest_on_frustum()`]. Distances are
/// negative inside a cylinder or cone, and on the side of a disk to which the axis points.
#[cube]
#[inline(always)]
pub fn beside_frustum<R: Real>(p: &Vector3<R>, base: &Vector3<R>, axis: &Vector3<R>, shape: &Vector3<R>) -> SurfacePoint<R> {
    let from_base = p.minus(base);
    let height = from_base.dot(axis);
    let aside = from_base.minus(&axis.times(height));
    let distance = aside.length();
    let mut outward = perpendicular::<R>(axis);
    if distance > R::new(0.0) {
        outward = aside.times(R::new(1.0) / distance);
    }
    let rise = shape.x;
    let widening = shape.z - shape.y;
    let square = rise * rise + widening * widening;
    let per_length = R::inverse_root(square);
    let beyond = distance - shape.y;
    let along = (height * rise + beyond * widening) * per_length;
    SurfacePoint::<R> {
        distance: (beyond * rise - height * widening) * per_length,
        normal: outward.times(rise * per_length).minus(&axis.times(widening * per_length)),
        within: smaller::<R>(along, square * per_length - along),
    }
}

/// Position of p relative to a sphere; distances are negative inside.
#[cube]
#[inline(always)]
pub fn beside_sphere<R: Real>(p: &Vector3<R>, center: &Vector3<R>, radius: R) -> SurfacePoint<R> {
    let from_center = p.minus(center);
    let distance = from_center.length();
    let mut normal = Vector3::<R> {
        x: R::new(0.0),
        y: R::new(0.0),
        z: R::new(1.0),
    };
    if distance > R::new(0.0) {
        normal = from_center.times(R::new(1.0) / distance);
    }
    SurfacePoint::<R> {
        distance: distance - radius,
        normal,
        within: radius,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: f64 = 10.0;
    const STIFFNESS: f64 = 1e3;
    const STEP: f64 = 1e-3;

    /// The missing force \[N\] over the steps of a wall on a bed with this dashpot \[N s/m\], which is withdrawn at a constant speed \[m/s\]. At the
    /// start a thousandth of the target is missing.
    fn missing_force(dashpot: f64, withdrawn: f64, gain: f64, share: f64, steps: usize) -> Vec<f64> {
        let (mut overlap, mut integral, mut speed) = (0.999 * TARGET / STIFFNESS, 0.0, 0.0);
        let step = |_| {
            let missing = TARGET - STIFFNESS * overlap - dashpot * (speed - withdrawn);
            let action = servo_action::<f64>(missing, TARGET, integral, gain, share, 1e9);
            (speed, integral) = (action.speed, action.integral);
            overlap += (speed - withdrawn) * STEP;
            missing
        };
        (0..steps).map(step).collect()
    }

    #[test]
    fn no_force_is_missing_while_the_bed_is_withdrawn() {
        let gain = 0.5 / (STIFFNESS * STEP + 0.2);
        let lagging = missing_force(0.2, 0.5, gain, 0.0, 4000);
        // Proportional control alone follows at the speed that the error gives: 0.5 m/s need 1.2 N.
        assert!((lagging[3999] - 0.5 / gain).abs() < 1e-9, "{}", lagging[3999]);
        let exact = missing_force(0.2, 0.5, gain, 1e-2, 4000);
        assert!(exact[3999].abs() < 1e-9, "{}", exact[3999]);
    }

    #[test]
    fn a_wall_that_waited_at_its_limit_does_not_overshoot_by_what_it_waited() {
        // The bed runs away faster than the wall may follow for 2000 steps; then it stands.
        let (mut overlap, mut integral) = (0.0, 0.0);
        let mut highest = 0.0f64;
        for step in 0..6000 {
            let load = (STIFFNESS * overlap).max(0.0);
            let action = servo_action::<f64>(TARGET - load, TARGET, integral, 0.5, 1e-2, 0.1);
            integral = action.integral;
            overlap += (action.speed - if step < 2000 { 0.2 } else { 0.0 }) * STEP;
            highest = highest.max(load);
        }
        // Without the conditions, the integral would have grown to 100 m/s, and the load far beyond the target.
        assert!(highest > 9.99 && highest < 10.5, "{highest}");
    }

    #[test]
    fn a_blow_on_a_wall_that_follows_a_bed_ends_its_integral_and_leaves_none() {
        for sign in [1.0, -1.0] {
            // The wall follows at half of its limit. With the error of the blow its integral would turn to 500 times the limit.
            let (target, gain, share, limit) = (sign * TARGET, 0.5, 1e-2, 0.1);
            let blow = servo_action::<f64>(-999.0 * target, target, sign * 0.5 * limit, gain, share, limit);
            assert_eq!((blow.speed, blow.integral), (-sign * limit, 0.0));
            // A small error may turn it.
            let [missing, integral] = [-0.1 * target, sign * 1e-4];
            let turned = servo_action::<f64>(missing, target, integral, gain, share, 1e9);
            assert_eq!(turned.integral, integral + gain * missing * share);
            assert!(turned.integral * integral < 0.0);
        }
    }

    #[test]
    fn an_integral_of_a_past_motion_shrinks_whatever_the_error() {
        // Four times the speed at which a quarter of the target would be missing.
        let (gain, mut overlap, mut integral) = (0.5, TARGET / STIFFNESS, 5.0);
        for _ in 0..4000 {
            let action = servo_action::<f64>(TARGET - STIFFNESS * overlap, TARGET, integral, gain, 1e-2, 1e9);
            integral = action.integral;
            overlap += action.speed * STEP;
        }
        assert!(
            (STIFFNESS * overlap / TARGET - 1.0).abs() < 1e-9 && integral.abs() < 1e-9,
            "{integral}"
        );
    }

    #[test]
    fn the_limit_of_stability_is_that_of_the_documentation() {
        // (p + 2q)(2 + β) = 4 with p = g k Δt, q = g c and β = Δt/T.
        for (dashpot, share) in [(0.0, 0.0), (0.0, 0.5), (0.3, 0.0), (0.3, 0.1)] {
            let limit = 4.0 / ((2.0 + share) * (1.0 + 2.0 * dashpot));
            let last = |gain: f64| {
                let missing = missing_force(dashpot, 0.0, gain, share, 1000);
                missing[990..].iter().fold(0.0f64, |most, missing| most.max(missing.abs()))
            };
            let (below, above) = (last(0.97 * limit), last(1.03 * limit));
            assert!(below < 1e-6 && above > 0.1 * TARGET, "{dashpot} {share}: {below} {above}");
        }
    }
}
