//! The bar below the scene: the frames of a recording, or the run control of a simulation.

use super::panel::{ALARM, Panel, Picture};
use crate::camera::{Camera, Projection};
use crate::live::{RunControl, Status, UserAction};
use crate::run_speed::RunSpeed;

/// Names of directions and the directions themselves.
pub const PUSH_DIRECTIONS: [(&str, [f64; 3]); 6] = [
    ("+x", [1.0, 0.0, 0.0]),
    ("−x", [-1.0, 0.0, 0.0]),
    ("+y", [0.0, 1.0, 0.0]),
    ("−y", [0.0, -1.0, 0.0]),
    ("+z", [0.0, 0.0, 1.0]),
    ("−z", [0.0, 0.0, -1.0]),
];

/// User settings for actions on a simulation.
#[derive(Clone, Copy, Debug, Default)]
pub struct ActionSettings {
    /// Tilt of gravity about x and y \[deg\].
    tilt: [f64; 2],
    /// Gravity before the tilt \[m/s²\], while it is tilted.
    plumb: Option<[f64; 3]>,
}

/// Draws the bar.
pub fn bar(ui: &mut egui::Ui, panel: &mut Panel, picture: &Picture) {
    ui.horizontal_wrapped(|ui| {
        match panel.frames() {
            Some(frames) => recording(ui, panel, frames),
            None => running(ui, panel),
        }
        camera(ui, panel, picture);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.weak(format!("{:.0} pictures/s", picture.pace));
        });
    });
}

/// Draws the menu of the camera path, saved pictures and views.
fn camera(ui: &mut egui::Ui, panel: &mut Panel, picture: &Picture) {
    ui.menu_button("camera", |ui| {
        let path = &mut panel.path;
        if ui.button("keep this view (k)").clicked()
            && let Some(orbit) = picture.orbit
        {
            path.add_view(orbit);
        }
        let word = if path.flies() {
            "stay here (v)"
        } else {
            "fly through the views (v)"
        };
        if ui.add_enabled(path.len() > 1, egui::Button::new(word)).clicked() {
            path.fly_or_stay();
        }
        if ui.add_enabled(path.len() > 0, egui::Button::new("forget the views")).clicked() {
            path.forget();
        }
        ui.weak(format!("{} kept", path.len()));
        ui.separator();
        panel.saves |= ui.button("save a picture (s)").clicked();
        if let Some(camera) = &picture.camera {
            let mut is_orthographic = camera.projection == Projection::Orthographic;
            if ui.checkbox(&mut is_orthographic, "orthographic").changed() {
                panel.options.projection = Some(if is_orthographic {
                    Projection::Orthographic
                } else {
                    Projection::Perspective
                });
            }
        }
        if let Some(camera) = &picture.camera
            && ui.button("name this view").clicked()
        {
            panel.saved = Some(Ok(format!("for seixo picture and seixo film: {}", flag_of(camera))));
        }
    });
}

/// The view direction and projection of a camera, as options of pictures and films.
fn flag_of(camera: &Camera) -> String {
    let [x, y, z] = camera.axes[2].to_array().map(|part| {
        let rounded = (-1000.0 * part).round() / 1000.0;
        // Removes the sign of a negative zero.
        if rounded == 0.0 { 0.0 } else { rounded }
    });
    let projection = match camera.projection {
        Projection::Perspective => "",
        Projection::Orthographic => " --projection orthographic",
    };
    format!("--view={x},{y},{z}{projection}")
}

fn recording(ui: &mut egui::Ui, panel: &mut Panel, frames: usize) {
    if ui.button(if panel.plays { "pause" } else { "play" }).clicked() {
        panel.play_or_pause();
    }
    let mut frame = panel.frame();
    let last = frames.saturating_sub(1);
    ui.spacing_mut().slider_width = (ui.available_width() - 490.0).max(80.0);
    if ui.add(egui::Slider::new(&mut frame, 0..=last).text(format!("of {last}"))).changed() {
        panel.plays = false;
        panel.go_to(frame);
    }
    ui.add(egui::DragValue::new(&mut panel.rate).range(0.5..=120.0).suffix(" frames/s"));
}

fn running(ui: &mut egui::Ui, panel: &mut Panel) {
    let Some(controls) = panel.controls() else { return };
    let Status {
        until, gravity, is_over, ..
    } = controls.status();
    let pace = RunSpeed::of(controls);
    if let Some(cause) = controls.failure() {
        ui.colored_label(ALARM, cause);
    } else if is_over {
        ui.strong(pace.state);
    } else {
        pause_controls(ui, controls, controls.is_paused());
    }
    let mut rate = controls.rate();
    let mut is_real = rate.is_some();
    if ui.checkbox(&mut is_real, "real time").changed() {
        rate = is_real.then_some(1.0);
        controls.set_rate(rate);
    }
    if let Some(mut times) = rate {
        let speed = 0.01 * times;
        if ui
            .add(egui::DragValue::new(&mut times).range(1e-6..=1e6).speed(speed).prefix("×"))
            .changed()
        {
            controls.set_rate(Some(times));
        }
    }
    if !pace.shortfall.is_empty() {
        ui.colored_label(egui::Color32::from_rgb(190, 90, 0), &pace.shortfall);
    }
    ui.label(&pace.time);
    ui.weak(&pace.steps);
    // Actions are hidden at the end, and before gravity is known.
    if is_over || until == 0.0 {
        return;
    }
    let mut tilt = panel.hand.tilt;
    let mut drops = false;
    ui.menu_button("reach in", |ui| {
        ui.label("tilt gravity about x and y");
        ui.add(egui::Slider::new(&mut tilt[0], -90.0..=90.0).suffix("°"));
        ui.add(egui::Slider::new(&mut tilt[1], -90.0..=90.0).suffix("°"));
        drops = ui.button("drop a handful of grains").clicked();
        ui.weak("user actions are written to the log; a resumed run contains them");
    });
    let plumb = panel.hand.plumb.unwrap_or(gravity);
    if let Some(controls) = panel.controls() {
        if tilt != panel.hand.tilt {
            controls.reach_in(UserAction::Gravity(tilted(plumb, tilt)));
        }
        if drops {
            controls.reach_in(UserAction::Drop);
        }
    }
    // Once gravity is reported upright again, the scene may change it.
    let is_plumb = tilt == [0.0; 2] && gravity == plumb;
    (panel.hand.tilt, panel.hand.plumb) = (tilt, (!is_plumb).then_some(plumb));
}

/// Draws buttons to pause, resume or step a simulation.
fn pause_controls(ui: &mut egui::Ui, controls: &RunControl, is_paused: bool) {
    if ui.button(if is_paused { "go on" } else { "pause" }).clicked() {
        controls.pause(!is_paused);
    }
    if is_paused && ui.button("one step").clicked() {
        controls.step(1);
    }
}

/// A vector rotated about x, then about y \[deg\].
fn tilted(gravity: [f64; 3], [about_x, about_y]: [f64; 2]) -> [f64; 3] {
    let turn = glam::DQuat::from_rotation_y(about_y.to_radians()) * glam::DQuat::from_rotation_x(about_x.to_radians());
    (turn * glam::DVec3::from(gravity)).to_array()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::camera::Frame;

    #[test]
    fn a_view_that_is_named_is_the_direction_to_the_camera() {
        let frame = Frame {
            corner: [0.0; 2],
            size: [800.0, 600.0],
        };
        let (perspective, orthographic) = (Projection::Perspective, Projection::Orthographic);
        for (from, projection, flag) in [
            (DVec3::new(0.0, -2.0, 0.0), perspective, "--view=0,-1,0"),
            (DVec3::new(3.0, 0.0, -4.0), perspective, "--view=0.6,0,-0.8"),
            (DVec3::new(1.0, -1.0, 1.0), perspective, "--view=0.577,-0.577,0.577"),
            (DVec3::new(0.0, -2.0, 0.0), orthographic, "--view=0,-1,0 --projection orthographic"),
        ] {
            assert_eq!(flag_of(&Camera::standing(DVec3::ZERO, from, 5.0, frame, projection)), flag);
        }
    }
}
