//! The bar below the scene: the frames of a recording, or the reins of a simulation that runs.

use super::panel::{ALARM, Panel, Picture};
use crate::camera::Camera;
use crate::live::{Controls, Hand, Status};
use crate::pace::Pace;

/// Names of directions and the directions themselves.
pub const PUSHES: [(&str, [f64; 3]); 6] = [
    ("+x", [1.0, 0.0, 0.0]),
    ("−x", [-1.0, 0.0, 0.0]),
    ("+y", [0.0, 1.0, 0.0]),
    ("−y", [0.0, -1.0, 0.0]),
    ("+z", [0.0, 0.0, 1.0]),
    ("−z", [0.0, 0.0, -1.0]),
];

/// What a user set to act on a simulation with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reach {
    /// Angles by which gravity is tilted, about x and y \[deg\].
    tilt: [f64; 2],
    /// Gravity before it was tilted \[m/s²\], while it is.
    plumb: Option<[f64; 3]>,
}

/// Shows the bar.
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

/// The way of the camera, and what is taken from it to pictures and films.
fn camera(ui: &mut egui::Ui, panel: &mut Panel, picture: &Picture) {
    ui.menu_button("camera", |ui| {
        let path = &mut panel.path;
        path.keeps |= ui.button("keep this view (k)").clicked();
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
        if let Some(camera) = &picture.camera
            && ui.button("name this view").clicked()
        {
            panel.saved = Some(Ok(format!("for seixo picture and seixo film: {}", flag_of(camera))));
        }
    });
}

/// The direction from the scene to a camera, as pictures and films take it.
fn flag_of(camera: &Camera) -> String {
    let [x, y, z] = camera.axes[2].to_array().map(|part| {
        let rounded = (-1000.0 * part).round() / 1000.0;
        // Not with a sign, which zero may have.
        if rounded == 0.0 { 0.0 } else { rounded }
    });
    format!("--view={x},{y},{z}")
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
    let pace = Pace::of(controls);
    if let Some(cause) = controls.failure() {
        ui.colored_label(ALARM, cause);
    } else if is_over {
        ui.strong(pace.state);
    } else {
        go_on(ui, controls, controls.is_paused());
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
    // Nor before it is told what gravity is.
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
        ui.weak("what a hand does is written to the log; the run goes on from its checkpoints with it");
    });
    let plumb = panel.hand.plumb.unwrap_or(gravity);
    if let Some(controls) = panel.controls() {
        if tilt != panel.hand.tilt {
            controls.reach_in(Hand::Gravity(tilted(plumb, tilt)));
        }
        if drops {
            controls.reach_in(Hand::Drop);
        }
    }
    // Upright again, and told so, it may be turned by the scene.
    let is_plumb = tilt == [0.0; 2] && gravity == plumb;
    (panel.hand.tilt, panel.hand.plumb) = (tilt, (!is_plumb).then_some(plumb));
}

/// Lets a simulation stand still, or go on, or take a step.
fn go_on(ui: &mut egui::Ui, controls: &Controls, is_paused: bool) {
    if ui.button(if is_paused { "go on" } else { "pause" }).clicked() {
        controls.pause(!is_paused);
    }
    if is_paused && ui.button("one step").clicked() {
        controls.step(1);
    }
}

/// A direction turned about x, then about y \[deg\].
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
        for (from, flag) in [
            (DVec3::new(0.0, -2.0, 0.0), "--view=0,-1,0"),
            (DVec3::new(3.0, 0.0, -4.0), "--view=0.6,0,-0.8"),
            (DVec3::new(1.0, -1.0, 1.0), "--view=0.577,-0.577,0.577"),
        ] {
            assert_eq!(flag_of(&Camera::standing(DVec3::ZERO, from, 5.0, frame)), flag);
        }
    }
}
