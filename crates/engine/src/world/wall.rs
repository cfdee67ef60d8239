//! Walls of a world: shape, motion and surface motion.

use super::Vec3;
use crate::world::speed_limit::{BELOW_SPEED_LIMIT, SPEED_LIMIT, speed_of};
use seixo_laws::Vector3;
use seixo_laws::wall::perpendicular;
use std::borrow::Cow;
use std::f64::consts::{PI, TAU};

/// A triangle, given by its corners \[m\].
pub type Triangle = [Vec3; 3];

/// Number of flat faces around a round wall in pictures.
const SEGMENTS_DRAWN: u64 = 64;

/// Surface of revolution of a straight segment about an axis: mantle of a cylinder, cone or cut cone; at height 0 a disk or ring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frustum {
    /// Center of the base \[m\].
    pub base: Vec3,
    /// Unit vector along the axis.
    pub axis: Vec3,
    /// Position of the other end along the axis, relative to the base \[m\].
    pub height: f64,
    /// Radii at the base and at the other end \[m\].
    pub radii: [f64; 2],
}

impl Frustum {
    /// Makes a disk.
    pub fn disk(center: Vec3, axis: Vec3, radius: f64) -> Frustum {
        Frustum {
            base: center,
            axis,
            height: 0.0,
            radii: [0.0, radius],
        }
    }

    /// Flat triangles whose corners lie on the mantle, `segments` around the axis.
    pub fn triangles(&self, segments: u64) -> Vec<Triangle> {
        let axis = vector(self.axis);
        let u = perpendicular::<f64>(&axis);
        let v = axis.cross(&u);
        let corner = |end: usize, segment: u64| {
            // The last corner equals the first in all bits.
            let (sin, cos) = (TAU * (segment % segments) as f64 / segments as f64).sin_cos();
            let outward = u.times(cos).plus(&v.times(sin)).times(self.radii[end]);
            let point = vector(self.base).plus(&axis.times(self.height * end as f64)).plus(&outward);
            [point.x, point.y, point.z]
        };
        let mut triangles = Vec::new();
        for segment in 0..segments {
            let [a, b, c, d] = [
                corner(0, segment),
                corner(0, segment + 1),
                corner(1, segment + 1),
                corner(1, segment),
            ];
            if self.radii[0] > 0.0 {
                triangles.push([a, b, c]);
            }
            if self.radii[1] > 0.0 {
                triangles.push([a, c, d]);
            }
        }
        triangles
    }
}

/// The surface of a wall at time zero.
#[derive(Clone, Debug, PartialEq)]
pub enum WallShape {
    /// Infinite plane; grains are on the side to which the normal points. A contact exists if N·(x − p) < R \[ME964 2011\].
    Plane {
        /// A point p of the plane \[m\].
        point: Vec3,
        /// Unit normal N.
        normal: Vec3,
    },
    /// Triangles with contacts on both sides.
    Mesh(Vec<Triangle>),
    /// Mantles and disks with contacts on both sides: a cylinder or cone with its caps.
    Round(Vec<Frustum>),
    /// A sphere with contacts inside and outside.
    Sphere {
        /// Center \[m\].
        center: Vec3,
        /// Radius \[m\].
        radius: f64,
    },
}

impl WallShape {
    /// Triangles that approximate the surface: exact for a mesh, a polyhedron for round walls, none for a plane.
    pub fn triangles(&self) -> Cow<'_, [Triangle]> {
        match self {
            WallShape::Plane { .. } => Cow::Borrowed(&[]),
            WallShape::Mesh(triangles) => Cow::Borrowed(triangles),
            WallShape::Round(frusta) => frusta.iter().flat_map(|frustum| frustum.triangles(SEGMENTS_DRAWN)).collect(),
            WallShape::Sphere { center, radius } => {
                let rings = SEGMENTS_DRAWN / 2;
                let ring = |k: u64| (PI * k as f64 / rings as f64).sin_cos();
                let zones = (0..rings).map(|k| {
                    let ((sin, cos), (next_sin, next_cos)) = (ring(k), ring(k + 1));
                    let base = [center[0], center[1], center[2] + radius * cos];
                    // The poles are points; the sine of π, rounded, would not be zero.
                    let wide = |k: u64, sin: f64| if k == 0 || k == rings { 0.0 } else { radius * sin };
                    Frustum {
                        base,
                        axis: [0.0, 0.0, 1.0],
                        height: radius * (next_cos - cos),
                        radii: [wide(k, sin), wide(k + 1, next_sin)],
                    }
                });
                zones.flat_map(|zone| zone.triangles(SEGMENTS_DRAWN)).collect()
            }
        }
    }

    /// Largest normal speed of the surface for a rotation at 1 rad/s about this unit axis through a point \[m/s\]; for a plane, within
    /// `reach` of the point \[m\]. A surface that rotates about its own axis of symmetry has none.
    pub(crate) fn rim(&self, through: Vec3, axis: Vec3, reach: f64) -> f64 {
        let (through, axis) = (vector(through), vector(axis));
        let away = |point: Vec3| vector(point).minus(&through).cross(&axis).length();
        match self {
            WallShape::Plane { normal, .. } => reach * vector(*normal).cross(&axis).length(),
            WallShape::Mesh(triangles) => triangles.iter().flatten().fold(0.0, |most: f64, corner| most.max(away(*corner))),
            WallShape::Round(frusta) => {
                let rims = frusta.iter().map(|frustum| {
                    let along = vector(frustum.axis);
                    let end = vector(frustum.base).plus(&along.times(frustum.height));
                    let farthest = away(frustum.base).max(away([end.x, end.y, end.z]));
                    let width = frustum.radii[0].max(frustum.radii[1]);
                    let is_own = along.cross(&axis).length() < 1e-9 && farthest < 1e-9 * width;
                    if is_own { 0.0 } else { farthest + width }
                });
                rims.fold(0.0, f64::max)
            }
            WallShape::Sphere { center, .. } => away(*center),
        }
    }

    /// The shape in another place: `point` maps its points and `direction` its directions.
    pub fn placed(&self, point: impl Fn(&Vec3) -> Vec3, direction: impl Fn(&Vec3) -> Vec3) -> WallShape {
        match self {
            WallShape::Plane { point: at, normal } => WallShape::Plane {
                point: point(at),
                normal: direction(normal),
            },
            WallShape::Mesh(triangles) => {
                WallShape::Mesh(triangles.iter().map(|triangle| [0, 1, 2].map(|k| point(&triangle[k]))).collect())
            }
            WallShape::Round(frusta) => {
                let placed = frusta.iter().map(|frustum| Frustum {
                    base: point(&frustum.base),
                    axis: direction(&frustum.axis),
                    ..*frustum
                });
                WallShape::Round(placed.collect())
            }
            WallShape::Sphere { center, radius } => WallShape::Sphere {
                center: point(center),
                radius: *radius,
            },
        }
    }

    /// Reference point of a wall: the given point of a plane, or the center of the bounding box of other shapes \[m\].
    pub fn middle(&self) -> Vec3 {
        if let WallShape::Plane { point, .. } = self {
            return *point;
        }
        let [low, high] = self.bounds();
        [0, 1, 2].map(|axis| 0.5 * (low[axis] + high[axis]))
    }

    /// Lower and upper corner of the bounding box of [its triangles](WallShape::triangles) \[m\]; for a plane, which has none, from ∞ to −∞.
    pub fn bounds(&self) -> [Vec3; 2] {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for corner in self.triangles().iter().flatten() {
            for axis in 0..3 {
                low[axis] = low[axis].min(corner[axis]);
                high[axis] = high[axis].max(corner[axis]);
            }
        }
        [low, high]
    }

    /// Reason for which the surface cannot be used, if there is one.
    fn flaw(&self) -> Option<String> {
        let is_finite = |v: &[f64]| v.iter().all(|x| x.is_finite());
        match self {
            WallShape::Plane { point, normal } => {
                let length = vector(*normal).length();
                (!is_finite(point) || length.is_nan() || (length - 1.0).abs() > 1e-9)
                    .then(|| format!("its normal has the length {length}, must be 1"))
            }
            WallShape::Mesh(triangles) => (!is_finite(triangles.as_flattened().as_flattened()) || triangles.is_empty())
                .then(|| "its mesh is empty or holds numbers that are not finite; check the file".to_string()),
            WallShape::Round(frusta) => {
                let is_sound = |frustum: &Frustum| {
                    let Frustum { base, axis, height, radii } = frustum;
                    let has_extent = radii[0].max(radii[1]) > 0.0 && (*height != 0.0 || radii[0] != radii[1]);
                    let is_possible = |radius: f64| radius.is_finite() && radius >= 0.0;
                    let length = vector(*axis).length();
                    is_finite(base)
                        && (length - 1.0).abs() <= 1e-9
                        && height.is_finite()
                        && radii.iter().all(|&r| is_possible(r))
                        && has_extent
                };
                (frusta.is_empty() || !frusta.iter().all(is_sound)).then(|| {
                    "a mantle of it has an axis whose length is not 1, a negative radius, or neither height nor width; give it an extent"
                        .to_string()
                })
            }
            WallShape::Sphere { center, radius } => (!is_finite(center) || !radius.is_finite() || *radius <= 0.0)
                .then(|| format!("its radius is {radius} m, must be positive, and its center finite")),
        }
    }
}

/// Largest angular velocity of a wall or its surface \[rad/s\]; no real wall is thin enough to exceed it.
const FASTEST_SPIN: f64 = 1e12;

/// Harmonic vibration with the displacement a (sin(2πf t + φ) − sin φ), which is zero at its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vibration {
    /// Amplitude times direction \[m\].
    pub amplitude: Vec3,
    /// Frequency f \[Hz\].
    pub frequency: f64,
    /// Phase φ \[rad\].
    pub phase: f64,
}

/// A path through given positions at given times.
///
/// The first position is that in the scene. Before it and after the last one the wall is at rest. Each component is a cubic Hermite polynomial
/// between two positions, so the velocity has no jump. Slopes are those of \[Fritsch 1984\]: the path does not overshoot, and a constant position is
/// kept exactly. They are zero at both ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallPath {
    /// Times in ascending order \[s\].
    pub time: Vec<f64>,
    /// Positions at these times \[m\]; only differences from the first one count.
    pub position: Vec<Vec3>,
    /// Rotation angles at these times \[rad\], about `axis` through [`WallMotion::through`]; empty if the wall does not rotate.
    pub angle: Vec<f64>,
    /// Unit axis of rotation.
    pub axis: Vec3,
}

/// What a servo sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServoTarget {
    /// Force of the wall on the grains along the direction of the servo \[N\].
    Force(f64),
    /// Force of the wall on the grains along the direction of the servo, per present area.
    Stress {
        /// Stress \[Pa\].
        stress: f64,
        /// The two extents whose product is the area.
        area: [Extent; 2],
    },
    /// Torque of the wall on the grains about the axis of the servo \[N m\].
    Torque(f64),
}

impl Default for ServoTarget {
    fn default() -> ServoTarget {
        ServoTarget::Force(0.0)
    }
}

impl ServoTarget {
    /// The set force \[N\], stress \[Pa\] or torque \[N m\].
    pub fn value(&self) -> f64 {
        match self {
            ServoTarget::Force(value) | ServoTarget::Stress { stress: value, .. } | ServoTarget::Torque(value) => *value,
        }
    }

    /// The same target with another set value.
    #[must_use]
    pub fn with_value(self, value: f64) -> ServoTarget {
        match self {
            ServoTarget::Force(_) => ServoTarget::Force(value),
            ServoTarget::Stress { area, .. } => ServoTarget::Stress { stress: value, area },
            ServoTarget::Torque(_) => ServoTarget::Torque(value),
        }
    }
}

/// An extent of the area on which a servo sets a stress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// A constant length \[m\].
    Length(f64),
    /// The present distance of two walls, which are planes that face each other.
    Between {
        /// Their indices in [`super::World::walls`].
        walls: [usize; 2],
        /// Width of the strip along each of them that carries nothing \[m\].
        edge: f64,
    },
}

impl Extent {
    /// The length between walls of these shapes \[m\].
    pub(crate) fn length(&self, walls: &[Wall]) -> f64 {
        match self {
            Extent::Length(length) => *length,
            Extent::Between { walls: pair, edge } => match pair.map(|index| walls.get(index).map(|wall| &wall.shape)) {
                [
                    Some(WallShape::Plane { point, normal }),
                    Some(WallShape::Plane { point: opposite, .. }),
                ] => (vector(*opposite).minus(&vector(*point)).dot(&vector(*normal)) - 2.0 * edge).max(0.0),
                _ => 0.0,
            },
        }
    }

    /// Reason for which it cannot be used, if there is one.
    fn flaw(&self, walls: &[Wall]) -> Option<String> {
        let Extent::Between { walls: pair, edge } = self else {
            return (!(self.length(walls).is_finite() && self.length(walls) > 0.0))
                .then(|| format!("an extent of its servo is {self:?}, must be positive"));
        };
        let [Some(one), Some(other)] = pair.map(|index| walls.get(index)) else {
            return Some(format!(
                "the area of its servo lies between walls {pair:?}, and there are {}",
                walls.len()
            ));
        };
        let names = format!("the area of its servo lies between {} and {}", one.name, other.name);
        let (WallShape::Plane { normal: first, .. }, WallShape::Plane { normal: second, .. }) = (&one.shape, &other.shape) else {
            return Some(format!("{names}, and one of them is not a plane; name two planes"));
        };
        if vector(*first).plus(&vector(*second)).length() > 1e-6 {
            return Some(format!(
                "{names}, which do not face each other; name two parallel planes with opposite normals"
            ));
        }
        if !(edge.is_finite() && *edge >= 0.0) {
            return Some(format!("the edge of the area of its servo is {edge} m, must be zero or positive"));
        }
        let length = self.length(walls);
        (!(length.is_finite() && length > 0.0))
            .then(|| format!("{names}, which leave nothing between them and two edges of {edge} m; check their positions"))
    }
}

/// Force control: the wall moves along a direction, or turns about an axis, until its load on the grains reaches a set value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Servo {
    /// Unit vector along which the wall loads the grains; for a torque the axis, which goes through [`WallMotion::through`].
    pub along: Vec3,
    /// Set value.
    pub target: ServoTarget,
    /// Largest speed \[m/s\]; for a torque the largest angular velocity \[rad/s\].
    pub velocity_limit: f64,
    /// Speed per missing force \[m/(s N)\], or angular velocity per missing torque \[rad/(s N m)\]. The default is ½ / (n (k Δt + c)), with the
    /// number n of grains in contact, and the stiffness k and dashpot c of the stiffest contact that can carry the load alone.
    pub gain: Option<f64>,
    /// Time in which the integral part of the speed grows by a constant proportional part \[s\]. The default is 200 / (k g), with this stiffness and
    /// the gain g of one contact.
    pub integral_time: Option<f64>,
}

impl Servo {
    /// Whether it turns its wall.
    pub fn turns(&self) -> bool {
        matches!(self.target, ServoTarget::Torque(_))
    }

    /// Reason for which the area of its stress cannot be used, if there is one. `walls` are those of the world.
    pub fn flaw_of_area(&self, walls: &[Wall]) -> Option<String> {
        match self.target {
            ServoTarget::Stress { area, .. } => area.iter().find_map(|extent| extent.flaw(walls)),
            _ => None,
        }
    }
}

/// Motion of a surface along itself, such as a belt or a roller, with or without motion of the wall. Only the tangential component counts.
/// It rotates and moves with the wall.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceMotion {
    /// Velocity of the surface \[m/s\].
    pub velocity: Vec3,
    /// Angular velocity of the surface \[rad/s\].
    pub angular_velocity: Vec3,
    /// A point of the rotation axis at time zero \[m\].
    pub through: Vec3,
}

impl SurfaceMotion {
    /// Whether the surface moves.
    pub(crate) fn runs(&self) -> bool {
        self.velocity != [0.0; 3] || self.angular_velocity != [0.0; 3]
    }
}

/// Motion of the frame in which a wall moves: the translation and the rotation of what carries the wall. Start and stop are those of the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionFrame {
    /// Translational velocity of the frame and of its rotation axis \[m/s\].
    pub velocity: Vec3,
    /// Angular velocity \[rad/s\]; zero = no rotation.
    pub angular_velocity: Vec3,
    /// A point of the rotation axis at time zero \[m\].
    pub through: Vec3,
}

/// Motion of a wall or of a body with prescribed motion: the sum of all parts, in a frame that may move, too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallMotion {
    /// Translational velocity of the wall and of its rotation axis \[m/s\].
    pub velocity: Vec3,
    /// Angular velocity \[rad/s\]; zero = no rotation.
    pub angular_velocity: Vec3,
    /// A point of the rotation axis at time zero \[m\].
    pub through: Vec3,
    /// Vibrations, which are summed.
    pub vibrations: Vec<Vibration>,
    /// Prescribed path.
    pub path: Option<WallPath>,
    /// Force control.
    pub servo: Option<Servo>,
    /// Time at which the motion starts \[s\]; times of vibrations and paths count from it.
    pub start: f64,
    /// Time after which the wall is at rest \[s\].
    pub stop: Option<f64>,
    /// Latest time at which the motion ends, as another motion follows or the run ends \[s\]. It stops nothing: periodic sides need it to bound
    /// the displacement of the wall.
    pub until: Option<f64>,
    /// Motion of the surface along itself.
    pub surface: SurfaceMotion,
    /// Motion of the frame in which all other parts take place; `None` for a frame at rest. Not with a servo.
    pub frame: Option<MotionFrame>,
}

impl WallMotion {
    /// The motion of its frame as one of its own, in a frame at rest.
    pub(crate) fn of_frame(&self) -> Option<WallMotion> {
        let MotionFrame {
            velocity,
            angular_velocity,
            through,
        } = self.frame?;
        Some(WallMotion {
            velocity,
            angular_velocity,
            through,
            start: self.start,
            stop: self.stop,
            until: self.until,
            ..WallMotion::default()
        })
    }

    /// Converts a motion with times relative to its start into one with times relative to zero, for a start at `time` \[s\].
    pub(crate) fn begun(&self, time: f64) -> WallMotion {
        WallMotion {
            start: time + self.start,
            stop: self.stop.map(|stop| time + stop),
            until: self.until.map(|until| time + until),
            ..self.clone()
        }
    }

    /// Longest time for which any part of it moves the wall \[s\].
    pub(crate) fn longest(&self) -> f64 {
        let ends = self.stop.into_iter().chain(self.until);
        (ends.fold(f64::INFINITY, f64::min) - self.start).max(0.0)
    }

    /// Reason for which the motion cannot be used, if there is one.
    pub(crate) fn flaw(&self) -> Option<String> {
        if let Some(frame) = self.of_frame() {
            if self.servo.is_some() {
                return Some("it has a servo, whose direction is fixed, and a frame that moves; it may have one of the two".to_owned());
            }
            if let Some(flaw) = frame.flaw() {
                return Some(format!("of its frame: {flaw}"));
            }
        }
        let is_finite = |v: &[f64]| v.iter().all(|x| x.is_finite());
        let SurfaceMotion {
            velocity,
            angular_velocity,
            through,
        } = self.surface;
        let vectors = [
            self.velocity,
            self.angular_velocity,
            self.through,
            velocity,
            angular_velocity,
            through,
        ];
        if !is_finite(vectors.as_flattened()) || !self.start.is_finite() {
            return Some("a number of its motion is not finite".to_owned());
        }
        let of_vibrations = self.vibrations.iter().map(|v| TAU * v.frequency * speed_of(&v.amplitude));
        let mut speeds = [speed_of(&self.velocity), speed_of(&velocity)].into_iter().chain(of_vibrations);
        if let Some(speed) = speeds.find(|speed| *speed >= SPEED_LIMIT) {
            return Some(format!("it moves at {speed:e} m/s, must be {BELOW_SPEED_LIMIT}; check the unit"));
        }
        let spins = [speed_of(&self.angular_velocity), speed_of(&angular_velocity)];
        if let Some(spin) = spins.into_iter().find(|spin| *spin > FASTEST_SPIN) {
            return Some(format!(
                "it turns at {spin:e} rad/s, must be at most {FASTEST_SPIN:e} rad/s; check the unit"
            ));
        }
        if let Some(stop) = self.stop.filter(|&stop| stop.is_nan() || stop <= self.start) {
            return Some(format!("its motion stops at {stop} s, must be after its start at {} s", self.start));
        }
        let is_wrong = |v: &&Vibration| !(is_finite(&v.amplitude) && v.phase.is_finite() && v.frequency.is_finite() && v.frequency > 0.0);
        if let Some(wrong) = self.vibrations.iter().find(is_wrong) {
            return Some(format!("it vibrates as {wrong:?}; frequency must be positive, all else finite"));
        }
        if let Some(path) = &self.path {
            let (count, angles) = (path.time.len(), path.angle.len());
            let rises = path.time.windows(2).all(|pair| pair[0] < pair[1]);
            if count < 2 || path.position.len() != count || angles != 0 && angles != count || !rises {
                return Some("its path needs two or more places, at times that rise".to_owned());
            }
            if !is_finite(&path.time) || !is_finite(path.position.as_flattened()) || !is_finite(&path.angle) {
                return Some("a number of its path is not finite".to_owned());
            }
            if angles > 0 && (self.angular_velocity != [0.0; 3] || (vector(path.axis).length() - 1.0).abs() > 1e-9) {
                return Some("it turns by the angles of its path about a unit axis, or at a constant rate, not both".to_owned());
            }
        }
        let servo = self.servo?;
        let is_positive = |x: f64| x.is_finite() && x > 0.0;
        if !is_positive(servo.target.value())
            || !is_positive(servo.velocity_limit)
            || !servo.gain.is_none_or(is_positive)
            || !servo.integral_time.is_none_or(is_positive)
        {
            return Some(format!(
                "its servo is {servo:?}; target, velocity_limit, gain and integral_time must be positive"
            ));
        }
        let turns_otherwise = self.angular_velocity != [0.0; 3] || self.path.as_ref().is_some_and(|path| !path.angle.is_empty());
        if servo.turns() && turns_otherwise {
            return Some("a servo with a torque turns it, and so does another part of its motion; leave one of them out".to_owned());
        }
        ((vector(servo.along).length() - 1.0).abs() > 1e-9).then(|| "the direction of its servo must have the length 1".to_owned())
    }
}

/// A rigid boundary for grains.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Name in the scene.
    pub name: String,
    /// Index into [`super::World::materials`].
    pub material: u32,
    /// Surface at time zero.
    pub shape: WallShape,
    /// Prescribed motion.
    pub motion: WallMotion,
    /// Wear volume per sliding work, see [`seixo_laws::wear`] \[1/Pa\]; 0 = no wear.
    pub specific_wear_rate: f64,
}

impl Wall {
    /// Reason for which the wall cannot be used among the walls of the world, if there is one.
    pub(crate) fn flaw(&self, walls: &[Wall]) -> Option<String> {
        let rate = self.specific_wear_rate;
        let of_wear = || {
            (!(rate.is_finite() && rate >= 0.0))
                .then(|| format!("its specific wear rate is {rate} 1/Pa, must be zero or positive, and finite"))
        };
        let of_area = || self.motion.servo.and_then(|servo| servo.flaw_of_area(walls));
        self.shape.flaw().or_else(|| self.motion.flaw()).or_else(of_area).or_else(of_wear)
    }
}

fn vector(v: Vec3) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}
