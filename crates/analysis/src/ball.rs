//! How much of a ball is inside a box, a ball or a cylinder.

use glam::DVec3;
use seixo_engine::world::volume_of_sphere;
use std::f64::consts::{FRAC_PI_2, PI};

/// Slices along the axis by which a ball is clipped by a cylinder.
const SLICES: usize = 64;

/// Volume of the ball inside an upright box \[m³\], exact: the eight corners of the box taken in and out.
pub fn in_box(center: DVec3, radius: f64, min: DVec3, max: DVec3) -> f64 {
    if (center - min).min_element() >= radius && (max - center).min_element() >= radius {
        return volume_of_sphere(radius);
    }
    let faces = [(min - center) / radius, (max - center) / radius];
    let mut inside = 0.0;
    for corner in 0..8usize {
        let face = |axis: usize| faces[corner >> axis & 1][axis];
        let sign = if corner.count_ones() % 2 == 0 { 1.0 } else { -1.0 };
        inside += sign * beyond([face(0), face(1), face(2)]);
    }
    inside.max(0.0) * radius.powi(3)
}

/// Volume of the unit ball where x > a, y > b and z > c.
fn beyond(mut faces: [f64; 3]) -> f64 {
    faces.sort_by(f64::total_cmp);
    let [a, b, c] = faces.map(|face| face.max(-1.0));
    if a < 0.0 {
        return 2.0 * beyond([0.0, b, c]) - beyond([-a, b, c]);
    }
    if a * a + b * b + c * c >= 1.0 {
        return 0.0;
    }
    // Beyond the end the two faces leave nothing of the disk: there the chord of the one is where the other begins.
    let end = (1.0 - b * b - c * c).sqrt();
    let chord = |face: f64| (1.0 - face * face - a * a).sqrt();
    cut_up_to(end, [(b, c), (c, b)]) - cut_up_to(a, [(b, chord(b)), (c, chord(c))])
}

/// Antiderivative over x of the area of the disk y² + z² < 1 − x² where y > b ≥ 0 and z > c ≥ 0, which is
/// ½ ρ² (acos b/ρ − asin c/ρ) − ½ b √(ρ² − b²) − ½ c √(ρ² − c²) + b c with ρ² = 1 − x²; from both faces with their chords √(ρ² − b²).
fn cut_up_to(x: f64, faces: [(f64, f64); 2]) -> f64 {
    let cube = x - x.powi(3) / 3.0;
    let [b, c] = faces.map(|(face, chord)| {
        let square = 1.0 - face * face;
        let angle = if face == 0.0 { FRAC_PI_2 } else { chord.atan2(face) };
        let arc = (x / square.sqrt()).min(1.0).asin();
        let sector = cube * angle + face * ((square / 6.0 - 2.0 / 3.0) * arc - x * chord / 6.0) + 2.0 / 3.0 * (face * x).atan2(chord);
        0.5 * sector - 0.25 * face * (x * chord + square * arc)
    });
    b + c - 0.25 * PI * cube + faces[0].0 * faces[1].0 * x
}

/// Volume of the ball inside another ball \[m³\], exact.
pub fn in_ball(distance: f64, radius: f64, other: f64) -> f64 {
    if distance >= radius + other {
        return 0.0;
    }
    if distance <= (radius - other).abs() {
        return volume_of_sphere(radius.min(other));
    }
    let depth = radius + other - distance;
    let square = distance * distance + 2.0 * distance * (radius + other) - 3.0 * (radius - other).powi(2);
    PI * depth * depth * square / (12.0 * distance)
}

/// Volume of the ball inside a cylinder \[m³\], whose axis passes `aside` from the center and which goes from height `low` to `high` along
/// it, counted from the center. Slices across the axis are clipped exactly, and summed by the midpoint rule in the angle: some 10⁻³ of the
/// ball's volume are unsure.
pub fn in_cylinder(aside: f64, low: f64, high: f64, radius: f64, cylinder: f64) -> f64 {
    if aside + radius <= cylinder && low <= -radius && high >= radius {
        return volume_of_sphere(radius);
    }
    if aside - radius >= cylinder {
        return 0.0;
    }
    let [from, to] = [low, high].map(|height| (height / radius).clamp(-1.0, 1.0).asin());
    let step = (to - from) / SLICES as f64;
    let slices = (0..SLICES).map(|slice| {
        let cosine = (from + (slice as f64 + 0.5) * step).cos();
        lens(aside, radius * cosine, cylinder) * radius * cosine
    });
    (slices.sum::<f64>() * step).max(0.0)
}

/// Area that two disks share \[m²\].
fn lens(distance: f64, a: f64, b: f64) -> f64 {
    if distance >= a + b {
        return 0.0;
    }
    if distance <= (a - b).abs() {
        return PI * a.min(b).powi(2);
    }
    let angle = |of: f64, other: f64| {
        let cosine = (distance * distance + of * of - other * other) / (2.0 * distance * of);
        of * of * cosine.clamp(-1.0, 1.0).acos()
    };
    let kite = (a + b - distance) * (distance + a - b) * (distance - a + b) * (distance + a + b);
    angle(a, b) + angle(b, a) - 0.5 * kite.max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: f64 = 9.0;

    #[test]
    fn a_box_cuts_caps_wedges_and_corners() {
        let unit = volume_of_sphere(1.0);
        let cut = |min: [f64; 3], max: [f64; 3]| in_box(DVec3::ZERO, 1.0, min.into(), max.into());
        assert_eq!(cut([-1.0; 3], [1.0; 3]), unit);
        assert!((cut([0.0; 3], [FAR; 3]) - unit / 8.0).abs() < 1e-14);
        assert!((cut([0.0, 0.0, -FAR], [FAR; 3]) - unit / 4.0).abs() < 1e-14);
        // A cap of height h has π h² (3 − h) / 3.
        for height in [0.1, 0.7, 1.0, 1.6] {
            let expected = PI * height * height * (3.0 - height) / 3.0;
            let found = cut([-FAR, -FAR, 1.0 - height], [FAR; 3]);
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
        assert_eq!(cut([0.6, 0.6, 0.6], [FAR; 3]), 0.0);
        // A cube inside the ball is full.
        assert!((cut([-0.3, -0.2, -0.1], [0.2, 0.4, 0.3]) - 0.5 * 0.6 * 0.4).abs() < 1e-14);
    }

    #[test]
    fn boxes_that_fill_space_share_a_ball_out_completely() {
        let (center, radius) = (DVec3::new(0.13, -0.37, 0.71), 0.9);
        for edge in [0.31, 0.77, 1.9] {
            let mut total = 0.0;
            for cell in 0..8000 {
                let corner =
                    DVec3::new(f64::from(cell % 20), f64::from(cell / 20 % 20), f64::from(cell / 400)) * edge - DVec3::splat(10.0 * edge);
                total += in_box(center, radius, corner, corner + DVec3::splat(edge));
            }
            assert!((total / volume_of_sphere(radius) - 1.0).abs() < 1e-12, "{edge}: {total}");
        }
    }

    #[test]
    fn cylinders_and_balls_cut_like_planes_when_they_are_large() {
        let half = volume_of_sphere(1.0) / 2.0;
        assert!((in_cylinder(1e3, -FAR, FAR, 1.0, 1e3) / half - 1.0).abs() < 1e-3);
        assert!((in_ball(1e3, 1.0, 1e3) / half - 1.0).abs() < 1e-3);
        assert!((in_cylinder(0.0, 0.0, FAR, 1.0, FAR) / half - 1.0).abs() < 1e-3);
        // A ball pierced along its middle: 4π/3 (1 − (1 − r²)^{3/2}).
        let pierced = volume_of_sphere(1.0) * (1.0 - 0.75f64.powf(1.5));
        assert!((in_cylinder(0.0, -FAR, FAR, 1.0, 0.5) / pierced - 1.0).abs() < 1e-3);
        // What two stacked cylinders share out is the whole.
        let stacked = in_cylinder(0.8, -FAR, 0.3, 1.0, 1.2) + in_cylinder(0.8, 0.3, FAR, 1.0, 1.2);
        assert!((stacked / in_cylinder(0.8, -FAR, FAR, 1.0, 1.2) - 1.0).abs() < 1e-3);
        assert_eq!((in_ball(3.0, 1.0, 2.0), in_ball(0.5, 1.0, 2.0)), (0.0, volume_of_sphere(1.0)));
    }
}
