//! Scale bar and axes in the scene.

use crate::{camera::Camera, color, scale};

/// Distance of the marks from the left and lower edge of the scene, in points.
const ASIDE: f32 = 18.0;
/// Height of the ends of the bar, in points.
const END: f32 = 8.0;
/// Length of an axis in the image plane, in points.
const AXIS: f32 = 26.0;
/// Position of an axis name, over the length of the axis.
const BEYOND: f32 = 1.35;

/// Names and colors of the axes.
const AXES: [(&str, egui::Color32); 3] = [
    ("x", egui::Color32::from_rgb(200, 45, 45)),
    ("y", egui::Color32::from_rgb(35, 140, 60)),
    ("z", egui::Color32::from_rgb(45, 85, 200)),
];

/// Draws scale bar and axes at the lower left of the free area.
pub fn draw(painter: &egui::Painter, free: egui::Rect, camera: &Camera, pixels_per_point: f32) {
    let [red, green, blue] = color::INK;
    let (ink, font) = (egui::Color32::from_rgb(red, green, blue), egui::FontId::proportional(12.0));
    // Correct at the point around which the camera turns.
    let meters = camera.middle / camera.focal * f64::from(pixels_per_point);
    let (length, label) = scale::bar(meters, f64::from(free.width()));
    let left = free.left_bottom() + egui::vec2(ASIDE, -ASIDE);
    let right = left + egui::vec2(length as f32, 0.0);
    painter.line_segment([left, right], egui::Stroke::new(2.0, ink));
    for end in [left, right] {
        let half = egui::vec2(0.0, 0.5 * END);
        painter.line_segment([end - half, end + half], egui::Stroke::new(1.5, ink));
    }
    let over = left.lerp(right, 0.5) - egui::vec2(0.0, 0.5 * END);
    let words = painter.text(over, egui::Align2::CENTER_BOTTOM, label, font.clone(), ink);
    let middle = egui::pos2(left.x + BEYOND * AXIS, words.top() - BEYOND * AXIS - 0.5 * END);
    for (axis, [across, down]) in seen(camera) {
        let (name, shade) = AXES[axis];
        let tip = AXIS * egui::vec2(across, down);
        painter.line_segment([middle, middle + tip], egui::Stroke::new(2.0, shade));
        painter.text(middle + BEYOND * tip, egui::Align2::CENTER_CENTER, name, font.clone(), shade);
    }
}

/// The axes by index, from back to front, and the direction of each to the right and down.
fn seen(camera: &Camera) -> [(usize, [f32; 2]); 3] {
    let [right, up, forward] = camera.axes;
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| forward[b].total_cmp(&forward[a]));
    axes.map(|axis| (axis, [right[axis] as f32, -up[axis] as f32]))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::camera::{Frame, Projection};

    #[test]
    fn axes_point_to_where_the_camera_sees_them() {
        let frame = Frame {
            corner: [0.0; 2],
            size: [800.0, 600.0],
        };
        // Seen from the front and slightly above: y points away, and z, towards the eye, is drawn over it.
        let camera = Camera::standing(DVec3::ZERO, DVec3::new(0.0, -1.0, 0.2), 5.0, frame, Projection::Perspective);
        let [first, second, third] = seen(&camera);
        assert_eq!([first.0, second.0, third.0], [1, 0, 2]);
        let is_near = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).abs() < 1e-5 && (a[1] - b[1]).abs() < 1e-5;
        assert!(is_near(second.1, [1.0, 0.0]), "{second:?}");
        // Lengths of a right triangle with legs 1 and 0.2.
        let (long, short) = (1.0 / 1.04_f32.sqrt(), 0.2 / 1.04_f32.sqrt());
        assert!(is_near(third.1, [0.0, -long]), "{third:?}");
        assert!(is_near(first.1, [0.0, -short]), "{first:?}");
    }
}
