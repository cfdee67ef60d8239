//! Nearest points of round walls are on the wall, and no other point of it is nearer. Velocities of points of walls are derivatives of their
//! positions.

use seixo_laws::Vector3;
use seixo_laws::wall::{acceleration_of_point, nearest_on_frustum, nearest_on_sphere, perpendicular, rotated, velocity_of_point};

/// Numbers between −1 and 1, the same in every run.
fn numbers() -> impl FnMut() -> f64 {
    let mut state = 11u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

fn vector(mut number: impl FnMut() -> f64) -> Vector3<f64> {
    Vector3 {
        x: number(),
        y: number(),
        z: number(),
    }
}

/// Points of a frustum, `fine` along the axis and `fine` around it.
fn points(base: &Vector3<f64>, axis: &Vector3<f64>, shape: &Vector3<f64>, fine: u32) -> Vec<Vector3<f64>> {
    let u = perpendicular(axis);
    let v = axis.cross(&u);
    let mut points = Vec::new();
    for along in 0..=fine {
        let share = f64::from(along) / f64::from(fine);
        let radius = shape.y + share * (shape.z - shape.y);
        let center = base.plus(&axis.times(share * shape.x));
        for around in 0..fine {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(around) / f64::from(fine)).sin_cos();
            points.push(center.plus(&u.times(radius * cos)).plus(&v.times(radius * sin)));
        }
    }
    points
}

#[test]
fn nearest_points_of_mantles_disks_and_tips() {
    let mut number = numbers();
    for case in 0..400 {
        let base = vector(&mut number);
        let direction = vector(&mut number);
        let axis = direction.times(1.0 / direction.length());
        let (height, near, far) = (1.0 + number(), 1.0 + number(), 1.0 + number());
        // Cylinder, frustum of a cone, cone with its tip at either end, disk.
        let (x, y, z) = [
            (height, near, near),
            (height, near, far),
            (height, 0.0, far),
            (height, near, 0.0),
            (0.0, 0.0, far),
        ][case % 5];
        let shape = Vector3 { x, y, z };
        let p = vector(&mut number).times(3.0);
        let nearest = nearest_on_frustum(&p, &base, &axis, &shape);
        // It is on the surface.
        let along = nearest.minus(&base).dot(&axis);
        let aside = nearest.minus(&base).minus(&axis.times(along)).length();
        let widening = z - y;
        let share = if x > 0.0 { along / x } else { (aside - y) / widening };
        assert!((-1e-9..=1.0 + 1e-9).contains(&share), "{case}: {share}");
        assert!(
            (along - share * x).abs() < 1e-12 && (aside - y - share * widening).abs() < 1e-9,
            "{case}"
        );
        // No point is nearer, and the nearest of many is not much farther: their spacing is about a tenth.
        let distance = p.minus(&nearest).length();
        let sampled = points(&base, &axis, &shape, 120)
            .iter()
            .map(|q| p.minus(q).length())
            .fold(f64::INFINITY, f64::min);
        assert!(
            distance <= sampled + 1e-12 && sampled < distance + 0.06,
            "{case}: {distance} {sampled}"
        );
    }
}

#[test]
fn from_the_axis_and_the_center_there_is_a_nearest_point() {
    for axis in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.6, 0.0, -0.8]] {
        let axis: Vector3<f64> = Vector3 {
            x: axis[0],
            y: axis[1],
            z: axis[2],
        };
        assert!(perpendicular(&axis).dot(&axis).abs() < 1e-15 && (perpendicular(&axis).length() - 1.0).abs() < 1e-15);
        let zero: Vector3<f64> = Vector3::zero();
        let shape = Vector3 { x: 4.0, y: 0.5, z: 0.5 };
        let p = axis.times(1.5);
        assert!((nearest_on_frustum(&p, &zero, &axis, &shape).minus(&p).length() - 0.5).abs() < 1e-15);
        let disk = Vector3 { x: 0.0, y: 0.0, z: 2.0 };
        assert!(nearest_on_frustum(&p, &zero, &axis, &disk).length() < 1e-15);
        assert!((nearest_on_sphere(&p, &p, 0.3).minus(&p).length() - 0.3).abs() < 1e-15);
    }
}

#[test]
fn velocities_and_accelerations_of_points_are_rates_of_their_places() {
    let mut number = numbers();
    for _ in 0..50 {
        let direction = vector(&mut number);
        let axis = direction.times(1.0 / direction.length());
        let [from, arm, way, bend] = [(); 4].map(|()| vector(&mut number));
        let (rate, speeding) = (3.0 * number(), 2.0 * number());
        // The axis moves along a parabola, and the rotation accelerates.
        let turned = |t: f64| {
            let (sin, cos) = (rate * t + 0.5 * speeding * t * t).sin_cos();
            rotated(&arm, &axis, cos, sin)
        };
        let place = |t: f64| from.plus(&way.times(t)).plus(&bend.times(0.5 * t * t)).plus(&turned(t));
        let (t, h) = (0.7, 1e-4);
        let (before, now, after) = (place(t - h), place(t), place(t + h));
        let (velocity, spin) = (way.plus(&bend.times(t)), axis.times(rate + speeding * t));
        let moving = velocity_of_point(&velocity, &spin, &turned(t));
        let speeding_up = acceleration_of_point(&bend, &axis.times(speeding), &spin, &turned(t));
        let slope = after.minus(&before).times(0.5 / h);
        let curve = after.plus(&before).minus(&now.times(2.0)).times(1.0 / (h * h));
        // The error of differences is h² times the third and fourth derivatives, below a thousand.
        assert!(moving.minus(&slope).length() < 1e-5, "{moving:?} {slope:?}");
        assert!(speeding_up.minus(&curve).length() < 1e-5, "{speeding_up:?} {curve:?}");
    }
}
