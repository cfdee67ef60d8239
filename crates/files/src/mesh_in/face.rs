//! Faces of any number of corners, as triangles.

use super::stl::MAX_TRIANGLES;
use seixo_engine::world::Triangle;

/// Most corners of a face that is not convex: cutting it takes the square of their number.
const MAX_CORNERS: usize = 10_000;
/// Twice the area of a triangle, over the square of the size of its face, that is but rounding.
const FLAT: f64 = 1e-14;
const CROSSES_ITSELF: &str = "a face that crosses itself";

/// Cuts a face into triangles between its corners, each of which becomes the corner of one, so that neighbors fit; else says what is wrong with it.
///
/// That is a fan from the first corner where all triangles of the fan face as the face does, as in every convex one, else ears are cut off one
/// by one \[Meisters 1975\].
pub(super) fn cut(face: &[[f64; 3]], triangles: &mut Vec<Triangle>) -> Result<(), String> {
    let more = face.len().saturating_sub(2);
    if more == 0 {
        return Err(format!("a face with {} corners", face.len()));
    }
    if triangles.len() + more > MAX_TRIANGLES {
        return Err(format!("more than {MAX_TRIANGLES} triangles"));
    }
    let concave = if more > 1 { seen_from_its_front(face)? } else { None };
    match concave {
        None => triangles.extend(face[1..].windows(2).map(|pair| [face[0], pair[0], pair[1]])),
        Some(_) if face.len() > MAX_CORNERS => {
            return Err(format!(
                "a face that is not convex has {} corners, more than {MAX_CORNERS}",
                face.len()
            ));
        }
        Some(corners) => {
            let ears = ears(&corners).ok_or(CROSSES_ITSELF)?;
            triangles.extend(ears.iter().map(|ear| ear.map(|corner| face[corner])));
        }
    }
    Ok(())
}

/// The corners of a face as it is seen from its front, counterclockwise and in lengths of its size; `None` where a fan from the first one will do.
fn seen_from_its_front(face: &[[f64; 3]]) -> Result<Option<Vec<[f64; 2]>>, String> {
    let from_first = |corner: &[f64; 3]| [0, 1, 2].map(|k| corner[k] - face[0][k]);
    let size = face.iter().flat_map(from_first).fold(0.0f64, |size, x| size.max(x.abs()));
    // Lengths are scaled before they are multiplied, so that a small area does not underflow.
    let corners: Vec<[f64; 3]> = face.iter().map(|corner| from_first(corner).map(|x| x / size)).collect();
    let fan = || corners[1..].windows(2).map(|pair| cross(&pair[0], &pair[1]));
    // Twice the area along the normal (Newell); and the squares of those of the triangles of the fan, whatever way they face.
    let normal = fan().fold([0.0f64; 3], |sum, part| [0, 1, 2].map(|k| sum[k] + part[k]));
    let square = dot(&normal, &normal);
    let parts: f64 = fan().map(|part| dot(&part, &part)).sum();
    let is_fan = !fan().any(|part| dot(&part, &normal) < -1e-12 * square);
    if parts > FLAT && square <= FLAT * parts {
        return Err(CROSSES_ITSELF.to_owned());
    }
    if parts <= FLAT || is_fan {
        return Ok(None);
    }
    let axis = (0..3).max_by(|&a, &b| normal[a].abs().total_cmp(&normal[b].abs())).unwrap_or(2);
    let (mut u, mut v) = ((axis + 1) % 3, (axis + 2) % 3);
    if normal[axis] < 0.0 {
        (u, v) = (v, u);
    }
    Ok(Some(corners.iter().map(|corner| [corner[u], corner[v]]).collect()))
}

/// The triangles of a polygon, counterclockwise, by the numbers of its corners; `None` where it crosses itself.
fn ears(points: &[[f64; 2]]) -> Option<Vec<[usize; 3]>> {
    let area = |[a, b, c]: [usize; 3]| doubled_area(&points[a], &points[b], &points[c]);
    let mut left: Vec<usize> = (0..points.len()).collect();
    let mut ears = Vec::with_capacity(points.len());
    let mut start = 0;
    while left.len() > 3 {
        let count = left.len();
        let at = |k: usize| [k + count - 1, k, k + 1].map(|k| left[k % count]);
        let is_ear = |k: usize| area(at(k)) > FLAT && !is_another_in(points, &left, at(k));
        let mut tried = start..start + count;
        let ear = tried.clone().find(|&k| is_ear(k)).or_else(|| {
            // What is left is as thin as rounding.
            tried.find(|&k| area(at(k)).abs() <= FLAT)
        })?;
        ears.push(at(ear));
        start = ear % count;
        left.remove(start);
    }
    let last = [left[0], left[1], left[2]];
    ears.push(last);
    (area(last) >= -FLAT).then_some(ears)
}

/// Whether a corner that is left lies in an ear, or on its edge, and is not in the place of one of its own.
fn is_another_in(points: &[[f64; 2]], left: &[usize], ear: [usize; 3]) -> bool {
    let [a, b, c] = ear.map(|corner| &points[corner]);
    let is_in = |point: &[f64; 2]| {
        [[a, b], [b, c], [c, a]]
            .iter()
            .all(|[from, to]| doubled_area(from, to, point) >= -FLAT)
    };
    left.iter()
        .map(|&corner| &points[corner])
        .any(|point| point != a && point != b && point != c && is_in(point))
}

/// Twice the area of a triangle in the plane; negative where it is clockwise.
fn doubled_area(a: &[f64; 2], b: &[f64; 2], c: &[f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The triangles of a polygon that lies in a plane across (1, 1, 1), and what they are in the plane it was drawn in.
    fn cut_flat(polygon: &[[f64; 2]]) -> Result<Vec<[[f64; 2]; 3]>, String> {
        let face: Vec<[f64; 3]> = polygon.iter().map(|[x, y]| [*x, *y, -x - y]).collect();
        let mut triangles = Vec::new();
        cut(&face, &mut triangles)?;
        Ok(triangles.iter().map(|triangle| triangle.map(|[x, y, _]| [x, y])).collect())
    }

    fn area(polygon: &[[f64; 2]]) -> f64 {
        let next = polygon.iter().cycle().skip(1);
        polygon.iter().zip(next).map(|(a, b)| 0.5 * (a[0] * b[1] - a[1] * b[0])).sum()
    }

    /// Whether a point is inside of a polygon, by a ray along x.
    fn is_inside(polygon: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
        let next = polygon.iter().cycle().skip(1);
        let crossings = polygon
            .iter()
            .zip(next)
            .filter(|(a, b)| (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]));
        crossings.count() % 2 == 1
    }

    /// In one order of the corners and in all others: which is first, and which way around.
    fn cuts_all_around(polygon: &[[f64; 2]]) {
        for first in 0..polygon.len() {
            for is_mirrored in [false, true] {
                let mut turned = polygon.to_vec();
                turned.rotate_left(first);
                if is_mirrored {
                    turned.reverse();
                }
                let triangles = cut_flat(&turned).unwrap();
                assert_eq!(triangles.len(), polygon.len() - 2);
                // All face as the polygon does and lie in it, and together they are as large: they cover it once.
                let areas: Vec<f64> = triangles.iter().map(|triangle| area(triangle)).collect();
                assert!(
                    (areas.iter().sum::<f64>() / area(&turned) - 1.0).abs() < 1e-12,
                    "{turned:?}: {triangles:?}"
                );
                for (triangle, size) in triangles.iter().zip(&areas) {
                    assert!(size * area(&turned) > 0.0, "{turned:?}: {triangle:?}");
                    let middle = [0, 1].map(|k| (triangle[0][k] + triangle[1][k] + triangle[2][k]) / 3.0);
                    assert!(is_inside(&turned, middle), "{turned:?}: {triangle:?}");
                }
                assert!(turned.iter().all(|corner| triangles.iter().flatten().any(|found| found == corner)));
            }
        }
    }

    #[test]
    fn concave_faces_are_covered_once_whatever_corner_is_first() {
        cuts_all_around(&[[0.0, 0.0], [4.0, 1.0], [0.0, 2.0], [1.0, 1.0]]);
        // An L, a comb with corners along its straight back, and a star.
        cuts_all_around(&[[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]]);
        let mut comb = vec![[0.0, 2.0], [0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [6.0, 0.0], [6.0, 2.0]];
        for x in [5.0, 3.0, 1.0] {
            comb.extend([[x, 0.5], [x - 0.9, 2.0]]);
        }
        comb.pop();
        cuts_all_around(&comb);
        let star: Vec<[f64; 2]> = (0..10)
            .map(|k| {
                let (sin, cos) = (f64::from(k) * std::f64::consts::PI / 5.0).sin_cos();
                let radius = f64::from(1 + 2 * (k % 2));
                [radius * cos, radius * sin]
            })
            .collect();
        cuts_all_around(&star);
    }

    #[test]
    fn convex_faces_are_fans_from_their_first_corner() {
        let square = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]];
        let triangles = cut_flat(&square).unwrap();
        let fan: Vec<_> = (1..4).map(|k| [square[0], square[k], square[k + 1]]).collect();
        assert_eq!(triangles, fan);
    }

    #[test]
    fn faces_that_cross_themselves_are_refused() {
        let crossed = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
        assert_eq!(cut_flat(&crossed).unwrap_err(), "a face that crosses itself");
        let mut many = vec![[0.0, 0.0]; MAX_CORNERS + 1];
        for (k, corner) in many.iter_mut().enumerate() {
            *corner = [(k / 2) as f64, if k % 2 == 0 { 0.0 } else { 1.0 + k as f64 }];
        }
        let message = cut_flat(&many).unwrap_err();
        assert!(message.contains("10001 corners"), "{message}");
    }
}
