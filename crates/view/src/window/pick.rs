//! Finds the particle under the pointer.

use glam::DVec3;

use crate::{
    Snapshot,
    camera::{Camera, clip_plane},
    scene_bounds::radius_of,
};

/// Index of the first visible ball at this pixel.
pub fn ball_at(snapshot: &Snapshot, camera: &Camera, pixel: [f64; 2], cut: Option<[f64; 4]>) -> Option<usize> {
    let slope = [
        (pixel[0] - camera.center[0]) / camera.focal,
        (camera.center[1] - pixel[1]) / camera.focal,
    ];
    let [right, up, forward] = camera.axes;
    let ray = (right * slope[0] + up * slope[1] + forward).normalize();
    let eye = camera.eye - snapshot.origin;
    let cut = cut.map(|cut| clip_plane(cut, snapshot.origin));
    let mut nearest = (f64::INFINITY, None);
    for (place, ball) in snapshot.balls.iter().take(snapshot.shown).enumerate() {
        let center = DVec3::new(ball[0].into(), ball[1].into(), ball[2].into());
        let way = center - eye;
        let along = way.dot(ray);
        let inside = radius_of(ball).powi(2) - (way - ray * along).length_squared();
        if inside < 0.0 || along < camera.near || cut.is_some_and(|(direction, far)| direction.dot(center) > far) {
            continue;
        }
        let depth = along - inside.sqrt();
        if depth < nearest.0 {
            nearest = (depth, Some(place));
        }
    }
    nearest.1
}

/// Center and radius of the outline of a ball \[px\]; `None` if it does not exist or is behind the eye.
pub fn circle_around(snapshot: &Snapshot, camera: &Camera, place: usize) -> Option<([f64; 2], f64)> {
    let ball = snapshot.balls.get(place)?;
    let view = camera.view(snapshot.origin + DVec3::new(ball[0].into(), ball[1].into(), ball[2].into()));
    (view.z > camera.near).then(|| {
        let scale = camera.focal / view.z;
        let middle = [camera.center[0] + scale * view.x, camera.center[1] - scale * view.y];
        (middle, scale * radius_of(ball))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::{Frame, Projection};

    #[test]
    fn the_nearest_of_what_is_under_the_pointer_is_picked_unless_it_is_cut_away() {
        let snapshot = Snapshot {
            // The last ball belongs to a body and is not drawn itself.
            balls: vec![[0.0, 3.0, 0.0, 0.5], [0.0, 0.0, 0.0, 0.5], [2.0, 0.0, 0.0, -0.5]],
            shown: 3,
            ..Snapshot::default()
        };
        let frame = Frame {
            corner: [0.0; 2],
            size: [600.0, 600.0],
        };
        let camera = Camera::standing(DVec3::ZERO, -DVec3::Y, 10.0, frame, Projection::Perspective);
        for place in [1, 2] {
            let (middle, radius) = circle_around(&snapshot, &camera, place).unwrap();
            assert_eq!(ball_at(&snapshot, &camera, middle, None), Some(place));
            assert_eq!(
                ball_at(&snapshot, &camera, [middle[0], middle[1] - 0.97 * radius], None),
                Some(place)
            );
        }
        let (middle, radius) = circle_around(&snapshot, &camera, 2).unwrap();
        assert_eq!(ball_at(&snapshot, &camera, [middle[0] + 1.1 * radius, middle[1]], None), None);
        // With the part nearer than y = 1 cut away, the ball behind is seen.
        let cut = Some([0.0, -2.0, 0.0, -1.0]);
        assert_eq!(ball_at(&snapshot, &camera, [300.0, 300.0], cut), Some(0));
    }
}
