//! Displacement and velocity of a wall's motion at a time.

use super::vector;
use crate::world::{Servo, Vec3, WallMotion, WallPath};
use seixo_laws::{Quaternion, Vector3};
use std::f64::consts::{PI, TAU};

/// Displacement of a wall from its start, and its rates.
#[derive(Clone, Copy, Debug)]
pub struct WallDisplacement {
    /// Displacement of the axis since the start \[m\].
    pub shift: Vector3<f64>,
    /// Velocity of the axis \[m/s\].
    pub velocity: Vector3<f64>,
    /// Unit vector along the axis, also of a rotation by a servo; zero without rotation.
    pub axis: Vector3<f64>,
    /// Rotation angle about the axis \[rad\].
    pub angle: f64,
    /// Angular velocity about the axis \[rad/s\].
    pub rate: f64,
    /// Acceleration of the axis \[m/s²\]; jumps of the velocity do not count.
    pub acceleration: Vector3<f64>,
    /// Angular acceleration about the axis \[rad/s²\]; likewise.
    pub angular_acceleration: f64,
    /// Rotation angle within the frame of the motion \[rad\].
    pub turned: f64,
    /// What a frame that moves adds.
    pub across: Option<AcrossAxis>,
}

/// Rates of a rotation whose axis is not fixed, normal to the axis of the rotation since the start.
#[derive(Clone, Copy, Debug)]
pub struct AcrossAxis {
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<f64>,
    /// Angular acceleration \[rad/s²\].
    pub spin_up: Vector3<f64>,
}

impl WallDisplacement {
    /// Displacement at this time \[s\], without that of a servo.
    pub fn at(motion: &WallMotion, time: f64) -> WallDisplacement {
        let own = WallDisplacement::in_frame(motion, time);
        motion.of_frame().map_or(own, |frame| {
            let arm = vector(&motion.through).minus(&vector(&frame.through));
            own.carried(&WallDisplacement::in_frame(&frame, time), &arm)
        })
    }

    /// Displacement within the frame of the motion.
    fn in_frame(motion: &WallMotion, time: f64) -> WallDisplacement {
        let end = motion.stop.map_or(f64::INFINITY, |stop| stop - motion.start);
        let since = (time - motion.start).clamp(0.0, end);
        let spin = vector(&motion.angular_velocity);
        let speed = spin.length();
        let mut stance = WallDisplacement {
            shift: vector(&motion.velocity).times(since),
            velocity: vector(&motion.velocity),
            axis: if speed > 0.0 { spin.times(1.0 / speed) } else { spin },
            angle: speed * since,
            rate: speed,
            acceleration: Vector3::zero(),
            angular_acceleration: 0.0,
            turned: 0.0,
            across: None,
        };
        for vibration in &motion.vibrations {
            let amplitude = vector(&vibration.amplitude);
            let angular_frequency = TAU * vibration.frequency;
            let (sin, cos) = (angular_frequency * since + vibration.phase).sin_cos();
            stance.shift = stance.shift.plus(&amplitude.times(sin - vibration.phase.sin()));
            stance.velocity = stance.velocity.plus(&amplitude.times(angular_frequency * cos));
            stance.acceleration = stance
                .acceleration
                .minus(&amplitude.times(angular_frequency * angular_frequency * sin));
        }
        if let Some(path) = &motion.path {
            let [x, y, z] = [0, 1, 2].map(|axis| along(path, since, |k| path.position[k][axis]));
            let [way, velocity, acceleration] = [0, 1, 2].map(|k| vector(&[x[k], y[k], z[k]]));
            stance.shift = stance.shift.plus(&way);
            stance.velocity = stance.velocity.plus(&velocity);
            stance.acceleration = stance.acceleration.plus(&acceleration);
            if !path.angle.is_empty() {
                stance.axis = vector(&path.axis);
                [stance.angle, stance.rate, stance.angular_acceleration] = along(path, since, |k| path.angle[k]);
            }
        }
        if let Some(servo) = motion.servo.filter(Servo::turns) {
            stance.axis = vector(&servo.along);
        }
        if !is_on(motion, time) {
            (stance.velocity, stance.acceleration) = (Vector3::zero(), Vector3::zero());
            (stance.rate, stance.angular_acceleration) = (0.0, 0.0);
        }
        stance.turned = stance.angle;
        stance
    }

    /// The same displacement in a frame with this one, as seen in space; `arm` is the vector from the axis point of the frame to that of the wall, at
    /// the start \[m\]. Velocities and accelerations are those of relative motion in a rotating frame \[Goldstein 1980, § 4-9, 4-10\].
    fn carried(&self, frame: &WallDisplacement, arm: &Vector3<f64>) -> WallDisplacement {
        let turn = frame.rotation();
        let (of_frame, spin_up_of_frame) = (frame.spin(), frame.axis.times(frame.angular_acceleration));
        let here = turn.to_space(&arm.plus(&self.shift));
        let [velocity, acceleration, own_spin] = [self.velocity, self.acceleration, self.spin()].map(|v| turn.to_space(&v));
        let own_spin_up = turn.to_space(&self.axis.times(self.angular_acceleration));
        let swing = of_frame.cross(&here);
        let coriolis = of_frame.cross(&velocity).times(2.0);
        let centripetal = of_frame.cross(&swing);
        let spin = of_frame.plus(&own_spin);
        let spin_up = spin_up_of_frame.plus(&own_spin_up).plus(&of_frame.cross(&own_spin));
        let whole = turn.after(&self.rotation());
        let sine_axis = Vector3 {
            x: whole.x,
            y: whole.y,
            z: whole.z,
        };
        let sine = sine_axis.length();
        let axis = if sine > 0.0 { sine_axis.times(1.0 / sine) } else { sine_axis };
        let (rate, angular_acceleration) = (spin.dot(&axis), spin_up.dot(&axis));
        WallDisplacement {
            shift: frame.shift.plus(&here).minus(arm),
            velocity: frame.velocity.plus(&swing).plus(&velocity),
            axis,
            angle: 2.0 * sine.atan2(whole.w),
            rate,
            acceleration: frame
                .acceleration
                .plus(&spin_up_of_frame.cross(&here))
                .plus(&centripetal)
                .plus(&coriolis)
                .plus(&acceleration),
            angular_acceleration,
            turned: self.turned,
            across: Some(AcrossAxis {
                spin: spin.minus(&axis.times(rate)),
                spin_up: spin_up.minus(&axis.times(angular_acceleration)),
            }),
        }
    }

    /// Angular velocity \[rad/s\].
    pub fn spin(&self) -> Vector3<f64> {
        let along = self.axis.times(self.rate);
        self.across.map_or(along, |across| along.plus(&across.spin))
    }

    /// Rotation since the start.
    pub fn rotation(&self) -> Quaternion<f64> {
        let (sin, cos) = (0.5 * self.angle).sin_cos();
        let Vector3 { x, y, z } = self.axis.times(sin);
        Quaternion { w: cos, x, y, z }
    }

    /// Upper bound of the distance of a point, within `farthest` of the axis, from its position in another displacement of the same motion, if a
    /// servo moved the wall by `further` in between \[m\].
    pub fn distance(&self, other: &WallDisplacement, farthest: f64, further: &Vector3<f64>) -> f64 {
        let way = self.shift.minus(&other.shift).plus(further).length();
        if self.across.is_some() {
            // The chord over an angle δ is 2 sin(δ/2) of the distance, and the quaternions differ by 2 sin(δ/4), which is at least sin(δ/2).
            let (a, b) = (self.rotation(), other.rotation());
            let apart = |sign: f64| {
                let parts = [a.w - sign * b.w, a.x - sign * b.x, a.y - sign * b.y, a.z - sign * b.z];
                parts.iter().map(|part| part * part).sum::<f64>().sqrt()
            };
            return way + 2.0 * apart(1.0).min(apart(-1.0)).min(1.0) * farthest;
        }
        let turn = (self.angle - other.angle).abs().min(PI);
        way + 2.0 * (0.5 * turn).sin() * farthest
    }
}

/// Number of samples of a path between two of its positions, to find its largest speed.
const LOOKS: usize = 16;

/// Upper bounds of the speeds of a motion within its frame: of its axis along a unit direction, or in any, with the servo \[m/s\], and of its rotation \[rad/s\].
pub fn fastest(motion: &WallMotion, direction: Option<&Vec3>) -> [f64; 2] {
    let part = |v: &Vec3| direction.map_or(vector(v).length(), |along| vector(v).dot(&vector(along)).abs());
    let vibrating = motion
        .vibrations
        .iter()
        .map(|v| TAU * v.frequency * part(&v.amplitude))
        .sum::<f64>();
    let [servo, servo_turning] = motion.servo.as_ref().map_or([0.0; 2], |servo| {
        if servo.turns() {
            [0.0, servo.velocity_limit]
        } else {
            [servo.velocity_limit * part(&servo.along), 0.0]
        }
    });
    let of_path = WallMotion {
        path: motion.path.clone(),
        ..WallMotion::default()
    };
    let mut on_path = [0.0f64; 2];
    for pair in motion.path.iter().flat_map(|path| path.time.windows(2)) {
        for look in 0..=LOOKS {
            let stance = WallDisplacement::at(&of_path, pair[0] + (pair[1] - pair[0]) * look as f64 / LOOKS as f64);
            let Vector3 { x, y, z } = stance.velocity;
            on_path = [on_path[0].max(part(&[x, y, z])), on_path[1].max(stance.rate.abs())];
        }
    }
    let turning = vector(&motion.angular_velocity).length();
    [
        part(&motion.velocity) + vibrating + servo + on_path[0],
        turning + on_path[1] + servo_turning,
    ]
}

/// Axis about which a motion rotates the whole wall within its frame, if it does.
pub fn rotation_axis(motion: &WallMotion) -> Option<Vec3> {
    let by_path = motion.path.as_ref().filter(|path| !path.angle.is_empty()).map(|path| path.axis);
    let by_servo = motion.servo.filter(Servo::turns).map(|servo| servo.along);
    Some(motion.angular_velocity)
        .filter(|spin| *spin != [0.0; 3])
        .or(by_path)
        .or(by_servo)
}

/// Whether a motion is active, between its start and its stop.
pub fn is_on(motion: &WallMotion, time: f64) -> bool {
    time >= motion.start && motion.stop.is_none_or(|stop| time < stop)
}

/// Whether any part of a motion, including a servo, moves the wall.
pub fn is_moving(motion: &WallMotion) -> bool {
    motion
        .frame
        .is_some_and(|frame| frame.velocity != [0.0; 3] || frame.angular_velocity != [0.0; 3])
        || motion.velocity != [0.0; 3]
        || motion.angular_velocity != [0.0; 3]
        || !motion.vibrations.is_empty()
        || motion.path.is_some()
        || motion.servo.is_some()
}

/// A component of a path relative to its first position, and its first and second derivative, at this time: see [`WallPath`].
fn along(path: &WallPath, time: f64, value: impl Fn(usize) -> f64) -> [f64; 3] {
    let last = path.time.len() - 1;
    if time <= path.time[0] {
        return [0.0; 3];
    }
    if time >= path.time[last] {
        return [value(last) - value(0), 0.0, 0.0];
    }
    let k = path.time.partition_point(|&t| t <= time) - 1;
    let length = |k: usize| path.time[k + 1] - path.time[k];
    let secant = |k: usize| (value(k + 1) - value(k)) / length(k);
    // Harmonic mean of the two secants, weighted by the lengths; zero at extremes and ends.
    let slope = |k: usize| {
        if k == 0 || k == last || secant(k - 1) * secant(k) <= 0.0 {
            return 0.0;
        }
        let (before, after) = (length(k - 1), length(k));
        let (left, right) = (2.0 * after + before, after + 2.0 * before);
        (left + right) / (left / secant(k - 1) + right / secant(k))
    };
    let (step, mean) = (length(k), secant(k));
    let (first, second) = (slope(k), slope(k + 1));
    let s = (time - path.time[k]) / step;
    // Hermite polynomial, from its value and slope at the left end.
    let (bend, twist) = (3.0 * mean - 2.0 * first - second, first + second - 2.0 * mean);
    let way = step * s * (first + s * (bend + s * twist));
    let rate = first + s * (2.0 * bend + 3.0 * s * twist);
    [value(k) - value(0) + way, rate, (2.0 * bend + 6.0 * s * twist) / step]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{MotionFrame, Vibration};

    fn path(rows: &[(f64, f64)]) -> WallMotion {
        WallMotion {
            path: Some(WallPath {
                time: rows.iter().map(|row| row.0).collect(),
                position: rows.iter().map(|row| [row.1, 0.0, 0.0]).collect(),
                ..WallPath::default()
            }),
            ..WallMotion::default()
        }
    }

    #[test]
    fn a_path_goes_through_its_places_holds_and_never_overshoots() {
        let rows = [(1.0, 5.0), (1.5, 5.0), (2.0, 7.0), (4.0, 8.0), (4.5, 8.0), (6.0, 3.0)];
        let motion = path(&rows);
        for (time, place) in rows {
            assert!(
                (WallDisplacement::at(&motion, time).shift.x - (place - 5.0)).abs() < 1e-14,
                "{time}"
            );
        }
        let mut before = WallDisplacement::at(&motion, 0.0);
        for k in 1..=7000 {
            let time = 1e-3 * f64::from(k);
            let now = WallDisplacement::at(&motion, time);
            assert!((-2.0..=3.0).contains(&now.shift.x), "{time}: {now:?}");
            let is_held = [(0.0, 1.5), (4.0, 4.5), (6.0, 7.0)]
                .iter()
                .any(|&(from, to)| time > from && time < to);
            assert!(!is_held || now.velocity.x == 0.0, "{time}: {now:?}");
            // Velocity is the derivative of the position and has no jump. The error of the trapezoidal rule is a twelfth of the cube of the step
            // times 192 m/s³.
            let mean = 0.5 * (before.velocity.x + now.velocity.x);
            assert!((now.shift.x - before.shift.x - 1e-3 * mean).abs() < 2e-8, "{time}");
            assert!((now.velocity.x - before.velocity.x).abs() < 0.1, "{time}");
            before = now;
        }
    }

    #[test]
    fn motions_add_up_between_start_and_stop_and_bounds_hold() {
        let motion = WallMotion {
            velocity: [0.3, 0.0, 0.0],
            angular_velocity: [0.0, 0.0, 40.0],
            vibrations: vec![
                Vibration {
                    amplitude: [0.0, 0.01, 0.0],
                    frequency: 7.0,
                    phase: 1.0,
                },
                Vibration {
                    amplitude: [0.002, 0.0, 0.0],
                    frequency: 31.0,
                    phase: 0.0,
                },
            ],
            start: 0.2,
            stop: Some(0.7),
            ..path(&[(0.0, 0.0), (0.3, 1.0), (0.6, 0.4)])
        };
        let (at_rest, moved) = (WallDisplacement::at(&motion, 0.1), WallDisplacement::at(&motion, 0.9));
        assert_eq!((at_rest.shift.length(), at_rest.velocity.length(), at_rest.angle), (0.0, 0.0, 0.0));
        assert_eq!((moved.velocity.length(), moved.rate), (0.0, 0.0));
        assert_eq!((moved.acceleration.length(), moved.angular_acceleration), (0.0, 0.0));
        assert!((moved.angle - 40.0 * 0.5).abs() < 1e-12, "{moved:?}");
        let h = 1e-6;
        for k in 1..50 {
            let time = 0.2 + 0.01 * f64::from(k);
            let [before, now, after] = [time - h, time, time + h].map(|time| WallDisplacement::at(&motion, time));
            let rate = after.shift.minus(&before.shift).times(0.5 / h);
            assert!(rate.minus(&now.velocity).length() < 1e-4, "{time}: {rate:?} {now:?}");
            // Acceleration is the derivative of the velocity, except where the second derivative of the path jumps.
            let rate = after.velocity.minus(&before.velocity).times(0.5 / h);
            let is_smooth = ![0.0, 0.3].iter().any(|bend| (time - 0.2 - bend).abs() < 2.0 * h);
            let off = rate.minus(&now.acceleration).length();
            assert!(
                !is_smooth || off < 1e-4 * (1.0 + now.acceleration.length()),
                "{time}: {rate:?} {now:?}"
            );
            // A point half a meter from the axis is never farther from its earlier position than the bound.
            let point = |stance: &WallDisplacement| {
                let arm = Vector3 {
                    x: 0.5 * stance.angle.cos(),
                    y: 0.5 * stance.angle.sin(),
                    z: 0.0,
                };
                stance.shift.plus(&arm)
            };
            let apart = point(&now).minus(&point(&at_rest)).length();
            let bound = now.distance(&at_rest, 0.5, &Vector3::zero());
            assert!(apart <= bound + 1e-12, "{time}: {apart} {bound}");
        }
    }
    #[test]
    fn a_motion_in_a_frame_is_carried_by_it_and_bounds_hold() {
        let own = WallMotion {
            velocity: [0.3, 0.0, 0.1],
            angular_velocity: [0.0, 5.0, 20.0],
            through: [0.2, 0.1, 0.0],
            vibrations: vec![Vibration {
                amplitude: [0.0, 0.01, 0.0],
                frequency: 7.0,
                phase: 1.0,
            }],
            start: 0.2,
            stop: Some(0.9),
            ..path(&[(0.0, 0.0), (0.3, 1.0), (0.8, 0.4)])
        };
        let (spin, through, velocity) = ([6.0, -8.0, 3.0], [0.5, -0.4, 0.3], [-0.2, 0.1, 0.4]);
        let carried = WallMotion {
            frame: Some(MotionFrame {
                velocity,
                angular_velocity: spin,
                through,
            }),
            ..own.clone()
        };
        let arm = vector(&[0.4, -0.3, 0.5]);
        let place = |motion: &WallMotion, time: f64| {
            let now = WallDisplacement::at(motion, time);
            vector(&motion.through).plus(&now.shift).plus(&now.rotation().to_space(&arm))
        };
        // The frame alone takes a point to where the whole motion has it: it turns about its own axis.
        let rides = |time: f64| {
            let since = (time - 0.2).clamp(0.0, 0.7);
            let frame = WallMotion {
                angular_velocity: spin,
                ..WallMotion::default()
            };
            let from_axis = place(&own, time).minus(&vector(&through));
            let turned = WallDisplacement::at(&frame, since).rotation().to_space(&from_axis);
            vector(&through).plus(&vector(&velocity).times(since)).plus(&turned)
        };
        let at_rest = WallDisplacement::at(&carried, 0.1);
        assert!(at_rest.shift.length() < 1e-15 && at_rest.angle == 0.0, "{at_rest:?}");
        assert_eq!(WallDisplacement::at(&carried, 1.0).spin().length(), 0.0);
        let (h, mut before) = (1e-6, at_rest);
        for k in 1..80 {
            let time = 0.2 + 0.01 * f64::from(k) + 0.005;
            assert!(place(&carried, time).minus(&rides(time)).length() < 1e-13, "{time}");
            let [earlier, now, later] = [time - h, time, time + h].map(|time| WallDisplacement::at(&carried, time));
            let chord = place(&carried, time).minus(&place(&carried, before_time(k))).length();
            let bound = now.distance(&before, arm.length(), &Vector3::zero());
            assert!(chord <= bound + 1e-12, "{time}: {chord} {bound}");
            before = now;
            if time > 0.9 - 2.0 * h {
                continue;
            }
            // Velocity and acceleration of a point are the derivatives of its position and velocity, except where the second derivative of the path
            // jumps.
            let speed_of = |now: &WallDisplacement| {
                let arm = now.rotation().to_space(&arm);
                now.velocity.plus(&now.spin().cross(&arm))
            };
            let moved = place(&carried, time + h).minus(&place(&carried, time - h)).times(0.5 / h);
            assert!(moved.minus(&speed_of(&now)).length() < 1e-7 * (1.0 + moved.length()), "{time}");
            let gained = speed_of(&later).minus(&speed_of(&earlier)).times(0.5 / h);
            let arm = now.rotation().to_space(&arm);
            let spin_up = now.axis.times(now.angular_acceleration).plus(&now.across.unwrap().spin_up);
            let turning = spin_up.cross(&arm).plus(&now.spin().cross(&now.spin().cross(&arm)));
            let acceleration = now.acceleration.plus(&turning);
            assert!(
                gained.minus(&acceleration).length() < 1e-5 * (1.0 + acceleration.length()),
                "{time}: {gained:?} {acceleration:?}"
            );
        }
    }

    /// Time of the look before the k-th of the test above \[s\].
    fn before_time(k: i32) -> f64 {
        if k == 1 { 0.1 } else { 0.2 + 0.01 * f64::from(k - 1) + 0.005 }
    }
}
