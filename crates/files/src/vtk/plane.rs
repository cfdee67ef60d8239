//! An infinite plane as a polygon: what of it lies inside a box.

type Vec3 = [f64; 3];

/// Corners of the part of the plane through `point` \[m\] that is inside the box, in order around `normal`; none where it passes by.
pub(super) fn cut(point: Vec3, normal: Vec3, [low, high]: [Vec3; 2]) -> Vec<Vec3> {
    let center = [0, 1, 2].map(|k| 0.5 * (low[k] + high[k]));
    let size = [0, 1, 2].map(|k| high[k] - low[k]);
    let distance = dot([0, 1, 2].map(|k| center[k] - point[k]), normal);
    let foot = [0, 1, 2].map(|k| center[k] - distance * normal[k]);
    let (u, v) = across(normal);
    let reach = dot(size, size).sqrt();
    let corner = |s: f64, t: f64| [0, 1, 2].map(|k| foot[k] + reach * (s * u[k] + t * v[k]));
    let square = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    (0..3).fold(square, |polygon, axis| {
        let above = clip(&polygon, |x| x[axis] - low[axis]);
        clip(&above, |x| high[axis] - x[axis])
    })
}

/// Area of a flat convex polygon \[m²\].
pub(super) fn area(corners: &[Vec3]) -> f64 {
    let from_first = |corner: Vec3| [0, 1, 2].map(|k| corner[k] - corners[0][k]);
    let fans = corners.windows(2).map(|edge| {
        let twice = cross(from_first(edge[0]), from_first(edge[1]));
        0.5 * dot(twice, twice).sqrt()
    });
    fans.sum()
}

/// The part of a convex polygon where `inside` is not negative \[Sutherland 1974\].
fn clip(polygon: &[Vec3], inside: impl Fn(&Vec3) -> f64) -> Vec<Vec3> {
    let mut kept = Vec::new();
    for (index, a) in polygon.iter().enumerate() {
        let b = &polygon[(index + 1) % polygon.len()];
        let (at_a, at_b) = (inside(a), inside(b));
        if at_a >= 0.0 {
            kept.push(*a);
        }
        if (at_a >= 0.0) != (at_b >= 0.0) {
            let share = at_a / (at_a - at_b);
            kept.push([0, 1, 2].map(|k| a[k] + share * (b[k] - a[k])));
        }
    }
    kept
}

/// Two unit vectors that make a right-handed frame with a unit normal.
fn across(normal: Vec3) -> (Vec3, Vec3) {
    let flattest = if normal[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let along = dot(flattest, normal);
    let u = [0, 1, 2].map(|k| flattest[k] - along * normal[k]);
    let length = dot(u, u).sqrt();
    let u = u.map(|x| x / length);
    (u, cross(normal, u))
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
