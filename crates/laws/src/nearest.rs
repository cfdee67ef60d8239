//! Nearest points of planes, edges and vertices, and the fading of contacts between them.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::nearest::{nearest_of_edges, nearest_on_edge};
//! let at = |x: f64, y: f64, z: f64| Vector3 { x, y, z };
//! // Beyond an end the nearest point is the end.
//! assert_eq!(nearest_on_edge::<f64>(&at(5.0, 1.0, 0.0), &at(0.0, 0.0, 0.0), &at(2.0, 0.0, 0.0)), at(2.0, 0.0, 0.0));
//! // Two edges cross at a distance of 3.
//! let pair = nearest_of_edges::<f64>(&at(-1.0, 0.0, 0.0), &at(1.0, 0.0, 0.0), &at(0.0, -1.0, 3.0), &at(0.0, 1.0, 3.0));
//! assert_eq!((pair.on_e, pair.on_f, pair.square), (at(0.0, 0.0, 0.0), at(0.0, 0.0, 3.0), 9.0));
//! ```

use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Squared sine of the angle below which two edges count as parallel \[-\].
const PARALLEL: f32 = 1.0e-12;

/// Signed distance of p from the plane with this unit normal, which is `offset` along it from the origin \[m\].
#[cube]
#[inline(always)]
pub fn distance_from_plane<R: Real>(p: &Vector3<R>, normal: &Vector3<R>, offset: R) -> R {
    p.dot(normal) - offset
}

/// Whether a point of the plane of a polygon is on the inner side of the side from c to d. The corners go counterclockwise about the normal.
#[cube]
#[inline(always)]
pub fn is_inside_of_side<R: Real>(p: &Vector3<R>, c: &Vector3<R>, d: &Vector3<R>, normal: &Vector3<R>) -> bool {
    d.minus(c).cross(&p.minus(c)).dot(normal) >= R::new(0.0)
}

/// The point of the edge from c to d nearest to p.
#[cube]
#[inline(always)]
pub fn nearest_on_edge<R: Real>(p: &Vector3<R>, c: &Vector3<R>, d: &Vector3<R>) -> Vector3<R> {
    let along = d.minus(c);
    let share = within_edge::<R>(p.minus(c).dot(&along) / along.dot(&along));
    c.plus(&along.times(share))
}

/// A share of the way along an edge, or that of its nearer end.
#[cube]
#[inline(always)]
fn within_edge<R: Real>(share: R) -> R {
    larger::<R>(smaller::<R>(share, R::new(1.0)), R::new(0.0))
}

/// Nearest points of two edges.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct EdgePair<R: Real> {
    /// Point of the first edge \[m\].
    pub on_e: Vector3<R>,
    /// Point of the second edge \[m\].
    pub on_f: Vector3<R>,
    /// Their squared distance \[m²\]; −1 for parallel edges, where an end of one is as near.
    pub square: R,
}

/// Nearest points of the edge from e1 to e2 and that from f1 to f2 \[Ericson 2005, § 5.1.9\]. The determinant is the square of the vector product of
/// both directions, so that it keeps its digits for nearly parallel edges.
#[cube]
#[inline(always)]
pub fn nearest_of_edges<R: Real>(e1: &Vector3<R>, e2: &Vector3<R>, f1: &Vector3<R>, f2: &Vector3<R>) -> EdgePair<R> {
    let zero = R::new(0.0);
    let one = R::new(1.0);
    let a = e2.minus(e1);
    let b = f2.minus(f1);
    let c = e1.minus(f1);
    let aa = a.dot(&a);
    let bb = b.dot(&b);
    let ab = a.dot(&b);
    let across = a.cross(&b);
    let determinant = across.dot(&across);
    let mut square = R::new(-1.0);
    let mut on_e = e1.plus(&Vector3::<R>::zero());
    let mut on_f = f1.plus(&Vector3::<R>::zero());
    if determinant >= R::new(PARALLEL) * aa * bb {
        // (a·b)(b·c) − (a·c)(b·b) = (a × b)·(b × c).
        let mut s = within_edge::<R>(across.dot(&b.cross(&c)) / determinant);
        let mut t = (ab * s + b.dot(&c)) / bb;
        if t < zero || t > one {
            t = within_edge::<R>(t);
            s = within_edge::<R>((t * ab - a.dot(&c)) / aa);
        }
        on_e = e1.plus(&a.times(s));
        on_f = f1.plus(&b.times(t));
        let gap = on_e.minus(&on_f);
        square = gap.dot(&gap);
    }
    EdgePair::<R> { on_e, on_f, square }
}

/// Overlap of two cores at this squared distance \[m\], whose rounding radii have the sum `reach`; not positive without contact.
#[cube]
#[inline(always)]
pub fn overlap_at<R: Real>(square: R, reach: R) -> R {
    (reach * reach - square) / (reach + R::root(square))
}

/// Share φ of a contact with the overlap δ that has an end with the overlap δ_k \[-\]: φ = 1 − 3x² + 2x³ with x = δ_k/δ, from `within` = 1 − x. It is 1
/// while the end is out of reach, and 0 at the end. Both slopes vanish there.
#[cube]
#[inline(always)]
pub fn fading<R: Real>(within: R) -> R {
    within * within * (R::new(3.0) - within - within)
}

/// −φ′/φ of [`fading()`] \[-\], for a positive `within`.
#[cube]
#[inline(always)]
pub fn fading_rate<R: Real>(within: R) -> R {
    R::new(6.0) * (R::new(1.0) - within) / (within * (R::new(3.0) - within - within))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from −1 to 1.
    fn random() -> impl FnMut() -> f64 {
        let mut state = 11u64;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
        }
    }

    #[test]
    fn no_other_points_of_two_edges_are_nearer() {
        let mut random = random();
        for _ in 0..1000 {
            let mut point = || Vector3 {
                x: random(),
                y: random(),
                z: random(),
            };
            let (e1, e2, f1, f2) = (point(), point(), point(), point());
            let found = nearest_of_edges::<f64>(&e1, &e2, &f1, &f2);
            for k in 0..=50 {
                let s = f64::from(k) / 50.0;
                let on_e = e1.plus(&e2.minus(&e1).times(s));
                let gap = on_e.minus(&nearest_on_edge::<f64>(&on_e, &f1, &f2));
                assert!(gap.dot(&gap) >= found.square - 1e-12, "{k}");
            }
            let gap = found.on_e.minus(&found.on_f);
            assert!((gap.dot(&gap) - found.square).abs() < 1e-14);
        }
    }

    #[test]
    fn nearly_parallel_edges_cross_where_they_do() {
        // Edges of two meters cross a tenth of the way from their middles, at an angle of 1e-5, and 1 m apart.
        let angle = 1e-5;
        let at = |x: f64, y: f64, z: f64| Vector3 { x, y, z };
        let found = nearest_of_edges::<f64>(
            &at(-1.0, 0.0, 0.0),
            &at(1.0, 0.0, 0.0),
            &at(-1.0, -1.1 * angle, 1.0),
            &at(1.0, 0.9 * angle, 1.0),
        );
        assert!((found.on_e.x - 0.1).abs() < 1e-9 && (found.square - 1.0).abs() < 1e-14, "{found:?}");
        let parallel = nearest_of_edges::<f64>(&at(0.0, 0.0, 0.0), &at(1.0, 0.0, 0.0), &at(0.0, 1.0, 0.0), &at(3.0, 1.0, 0.0));
        assert_eq!(parallel.square, -1.0);
    }

    #[test]
    fn the_rate_of_fading_is_its_slope() {
        let step = 1e-6;
        for k in 1..20 {
            let within = f64::from(k) / 20.0;
            // x falls where `within` grows.
            let slope = (fading::<f64>(within - step) - fading::<f64>(within + step)) / (2.0 * step);
            let found = -fading_rate::<f64>(within) * fading::<f64>(within);
            assert!((slope - found).abs() < 1e-8, "{within}: {slope} {found}");
        }
        assert_eq!([0.0, 1.0].map(fading::<f64>), [0.0, 1.0]);
    }
}
