//! A camera that orbits a point.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use crate::camera::{Camera, Frame, Projection};

/// Rotation of the camera for a pointer movement over the height of the scene \[rad\].
const TURN: f64 = 3.2;
/// Relative change of the distance per line of the mouse wheel.
const ZOOM: f64 = 0.12;
/// Largest elevation of the camera, above or below \[rad\].
const STEEPEST: f64 = 1.55;

/// Position of a camera that looks at a point; z is up.
#[derive(Clone, Copy, Debug)]
pub struct Orbit {
    /// The point \[m\].
    target: DVec3,
    /// Azimuth around z and elevation \[rad\].
    angles: [f64; 2],
    /// Distance from the point in perspective \[m\].
    distance: f64,
}

impl Orbit {
    /// The orbit of a camera around the middle of its scene.
    pub fn of(camera: &Camera) -> Orbit {
        let back = -camera.axes[2];
        Orbit {
            target: camera.eye - back * camera.middle,
            angles: [back.y.atan2(back.x), back.z.clamp(-1.0, 1.0).asin().clamp(-STEEPEST, STEEPEST)],
            distance: camera.middle / camera.projection.remoteness(),
        }
    }

    /// Numbers that can be interpolated between orbits: the point, the angles, and the logarithm of the distance.
    pub fn numbers(&self) -> [f64; 6] {
        let (at, [around, over]) = (self.target, self.angles);
        [at.x, at.y, at.z, around, over, self.distance.ln()]
    }

    /// The orbit with these numbers.
    pub fn of_numbers([x, y, z, around, over, distance]: [f64; 6]) -> Orbit {
        Orbit {
            target: DVec3::new(x, y, z),
            angles: [around, over.clamp(-STEEPEST, STEEPEST)],
            distance: distance.exp(),
        }
    }

    /// The same orbit, with its azimuth shifted by full turns to be closest to that of another.
    pub fn turned_like(self, other: &Orbit) -> Orbit {
        let turns = ((other.angles[0] - self.angles[0]) / TAU).round();
        let angles = [self.angles[0] + turns * TAU, self.angles[1]];
        Orbit { angles, ..self }
    }

    /// The camera for this part of a picture.
    pub fn camera(&self, frame: Frame, projection: Projection) -> Camera {
        let [around, over] = self.angles;
        let from = DVec3::new(around.cos() * over.cos(), around.sin() * over.cos(), over.sin());
        Camera::standing(self.target, from, self.distance, frame, projection)
    }

    /// Rotates by fractions of the height of the scene.
    pub fn turn(&mut self, by: DVec2) {
        self.angles[0] -= TURN * by.x;
        self.angles[1] = (self.angles[1] + TURN * by.y).clamp(-STEEPEST, STEEPEST);
    }

    /// Moves the point with the pointer by this distance \[px\].
    pub fn pan(&mut self, by: DVec2, camera: &Camera) {
        let [right, up, _] = camera.axes;
        self.target += (up * by.y - right * by.x) * camera.middle / camera.focal;
    }

    /// Moves towards the point by this many lines of the mouse wheel.
    pub fn zoom(&mut self, lines: f64) {
        self.distance *= (-ZOOM * lines).exp();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame {
        corner: [0.0; 2],
        size: [800.0, 600.0],
    };

    /// Position of a point in the picture \[px\].
    fn seen(camera: &Camera, point: DVec3) -> [f64; 2] {
        let view = camera.view(point);
        [
            camera.center[0] + camera.focal * view.x / view.z,
            camera.center[1] - camera.focal * view.y / view.z,
        ]
    }

    #[test]
    fn a_camera_that_becomes_an_orbit_sees_the_same_and_what_it_looks_at_stays_in_the_middle() {
        for projection in [Projection::Perspective, Projection::Orthographic] {
            let balls = [(DVec3::new(1.0, 2.0, 3.0), 0.5), (DVec3::new(-2.0, 0.0, 1.0), 0.3)];
            let camera = Camera::framing(balls.into_iter(), (DVec3::new(0.4, -1.0, 0.3), projection), FRAME);
            let mut orbit = Orbit::of(&camera);
            let same = orbit.camera(FRAME, projection);
            for (center, _) in balls {
                let (a, b) = (seen(&camera, center), seen(&same, center));
                assert!((a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6, "{a:?} {b:?}");
            }
            orbit.turn(DVec2::new(0.3, 0.2));
            orbit.zoom(3.0);
            let [x, y] = seen(&orbit.camera(FRAME, projection), orbit.target);
            assert!((x - 400.0).abs() < 1e-9 && (y - 300.0).abs() < 1e-9, "{x} {y}");
        }
    }

    #[test]
    fn what_is_panned_follows_the_pointer() {
        for projection in [Projection::Perspective, Projection::Orthographic] {
            let balls = [(DVec3::ZERO, 1.0)];
            let mut orbit = Orbit::of(&Camera::framing(balls.into_iter(), (DVec3::new(0.0, -1.0, 0.5), projection), FRAME));
            let before = orbit.target;
            let camera = orbit.camera(FRAME, projection);
            orbit.pan(DVec2::new(37.0, -21.0), &camera);
            let [x, y] = seen(&orbit.camera(FRAME, projection), before);
            assert!((x - 437.0).abs() < 1e-6 && (y - 279.0).abs() < 1e-6, "{x} {y}");
        }
    }
}
