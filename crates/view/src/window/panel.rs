//! Panels beside the scene, and the requests of the user.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::camera_path::CameraPath;
use super::loader::WindowRequest;
use super::orbit::Orbit;
use super::picked::Picked;
use super::{KEYS, choices, control_bar, legend, marks, plots};
use crate::{
    FrameSource, Graphics, PictureOptions, Snapshot, camera::Camera, chart::Chart, coloring::Legend, frame_source::ParticleDetails,
    live::RunControl,
};

/// Width in points.
const WIDTH: f32 = 290.0;
/// Initial frames per second of a recording.
const RATE: f64 = 12.0;

/// Color of error messages.
pub const ALARM: egui::Color32 = egui::Color32::from_rgb(190, 30, 40);

/// Data of the picture for the panels.
pub struct Picture {
    /// Recent pictures per second.
    pub pace: f64,
    /// Center and radius of the outline of the picked particle, if visible \[px\].
    pub circle: Option<([f64; 2], f64)>,
    /// The camera, once there is a scene.
    pub camera: Option<Camera>,
    /// What a kept view remembers of the camera.
    pub orbit: Option<Orbit>,
}

/// The state of the panels.
pub struct Panel {
    show: Arc<dyn FrameSource>,
    title: String,
    /// View options.
    pub options: PictureOptions,
    /// Details of the picked particle.
    pub details: Option<ParticleDetails>,
    /// Energies and probes.
    pub charts: Vec<Chart>,
    /// Seconds per pass.
    pub passes: Vec<(String, f64, String)>,
    /// Error message of the last reading.
    pub error: Option<String>,
    /// Result of the last request to save a picture or view: its path or the reason of the failure.
    pub saved: Option<Result<String, String>>,
    /// Whether to save a picture.
    pub saves: bool,
    /// Error of a frame that was skipped, shown with the frame in its place.
    passed: Option<String>,
    pub(super) picked: Option<Picked>,
    has_plots: bool,
    /// Number, time and contents of the shown snapshot.
    number: u64,
    time: f64,
    seen: String,
    fields: Vec<String>,
    legend: Legend,
    /// Ends of the scene along each axis, without outliers \[m\].
    box_of: [[f64; 2]; 3],
    /// The initial cut.
    given_cut: Option<[f64; 4]>,
    /// Frames per second of a playing recording.
    pub(super) rate: f64,
    pub(super) plays: bool,
    turned: Instant,
    pub(super) hand: control_bar::ActionSettings,
    /// Path of the camera.
    pub(super) path: CameraPath,
}

impl Panel {
    /// Panels of a source with these initial options.
    pub fn new(show: Arc<dyn FrameSource>, options: &PictureOptions) -> Panel {
        Panel {
            options: options.clone(),
            given_cut: options.cut,
            details: None,
            charts: Vec::new(),
            passes: Vec::new(),
            error: None,
            saved: None,
            saves: false,
            passed: None,
            picked: None,
            has_plots: false,
            number: 0,
            time: 0.0,
            seen: String::new(),
            fields: Vec::new(),
            legend: Legend::default(),
            box_of: [[0.0, 1.0]; 3],
            rate: RATE,
            plays: false,
            turned: Instant::now(),
            hand: control_bar::ActionSettings::default(),
            path: CameraPath::default(),
            title: options.title.clone().unwrap_or_else(|| show.title()),
            show,
        }
    }

    /// Notes the snapshot that is shown now.
    pub fn seen(&mut self, snapshot: &Snapshot) {
        self.error = self.passed.take();
        (self.number, self.time, self.seen) = (snapshot.number, snapshot.time, snapshot.seen());
        (self.fields, self.legend) = (snapshot.fields.clone(), snapshot.coloring.legend.clone());
        if let Some(around) = &snapshot.extent().around {
            self.box_of = [0, 1, 2].map(|axis| [around.low[axis], around.high[axis]]);
        }
        self.picked = self.picked.map(|picked| picked.within(snapshot));
    }

    /// Notes an error. If no frame was shown so far, requests the previous frame.
    pub fn failed(&mut self, message: String) {
        if self.seen.is_empty()
            && let Some(frame) = self.frames().map(|frames| self.options.frame.unwrap_or(frames - 1))
            && frame > 0
        {
            self.go_to(frame - 1);
            self.passed = Some(message.clone());
        }
        self.error = Some(message);
    }

    /// Picks a particle of the shown snapshot, or nothing.
    pub fn pick(&mut self, snapshot: &Snapshot, place: Option<usize>) {
        self.details = None;
        self.picked = place.map(|place| Picked::at(snapshot, place));
    }

    /// Index of the picked particle.
    pub fn position_of_picked(&self) -> Option<usize> {
        self.picked.and_then(|picked| picked.place)
    }

    /// GPU that may hold snapshots.
    pub fn graphics(&self) -> Option<&Graphics> {
        self.show.graphics()
    }

    /// Run control of a running simulation.
    pub fn controls(&self) -> Option<&RunControl> {
        self.show.controls()
    }

    /// Run control while the simulation accepts user actions.
    pub fn within_reach(&self) -> Option<&RunControl> {
        self.controls().filter(|controls| !controls.status().is_over)
    }

    /// Title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The run folder.
    pub fn folder(&self) -> Option<PathBuf> {
        self.show.folder()
    }

    /// Number of frames of a recording.
    pub fn frames(&self) -> Option<usize> {
        self.show.frames()
    }

    /// The current frame of a recording, or the one that is being loaded.
    pub fn frame(&self) -> usize {
        let last = self.frames().map_or(0, |frames| frames.saturating_sub(1));
        self.options.frame.unwrap_or(last)
    }

    /// Shows another frame of a recording; at its end, follows new frames.
    pub fn go_to(&mut self, frame: usize) {
        if let Some(frames) = self.frames() {
            self.options.frame = (frame < frames.saturating_sub(1)).then_some(frame);
        }
    }

    /// Moves some frames forward or back. For a paused simulation, runs as many steps.
    pub fn go(&mut self, by: i64) {
        if let Some(controls) = self.controls() {
            controls.step(by.max(0) as u64);
        }
        self.plays = false;
        self.go_to(self.frame().saturating_add_signed(by as isize));
    }

    /// Plays or pauses a recording or a simulation.
    pub fn play_or_pause(&mut self) {
        if let Some(controls) = self.controls() {
            return controls.pause(!controls.is_paused());
        }
        self.plays = !self.plays;
        if self.plays && self.frames() == Some(self.frame() + 1) {
            self.go_to(0);
        }
    }

    /// Whether pictures currently change.
    pub fn is_in_motion(&self) -> bool {
        self.plays || self.controls().is_some_and(|controls| !controls.is_paused())
    }

    /// Request for the loader.
    pub fn frame_request(&self) -> WindowRequest {
        WindowRequest {
            options: PictureOptions {
                // Walls are always loaded; hidden walls, cuts and the projection concern only the drawing.
                has_walls: true,
                cut: None,
                projection: None,
                ..self.options.clone()
            },
            goes_on: self.frames().is_none() || self.options.frame.is_none(),
            details: self
                .picked
                .filter(|picked| picked.place.is_some())
                .map(|picked| (self.number, picked.particle)),
            is_following: self.picked.is_some(),
            has_plots: self.has_plots,
        }
    }

    /// Advances a playing recording if it is time; returns the time until the next frame.
    fn play(&mut self) -> Option<Duration> {
        let wait = Duration::from_secs_f64(1.0 / self.rate);
        if !self.plays {
            return None;
        }
        // Only after the current frame was loaded, unless it cannot be.
        let is_there = self.frame() as u64 == self.number || self.error.is_some();
        if self.turned.elapsed() >= wait && is_there {
            self.turned = Instant::now();
            let last = self.frames().map_or(0, |frames| frames - 1);
            if self.frame() < last {
                self.go_to(self.frame() + 1);
            } else {
                self.plays = false;
            }
        }
        Some(wait.saturating_sub(self.turned.elapsed()).max(Duration::from_millis(5)))
    }

    /// Lays out the panels and handles user input.
    pub fn show(&mut self, ui: &mut egui::Ui, picture: &Picture) {
        if let Some(wait) = self.play() {
            ui.ctx().request_repaint_after(wait);
        }
        egui::Panel::bottom("bar").show(ui, |ui| control_bar::bar(ui, self, picture));
        egui::Panel::right("look").exact_size(WIDTH).show(ui, |ui| {
            egui::ScrollArea::vertical().show(ui, |ui| self.look(ui));
        });
        let (painter, free) = (ui.painter(), ui.available_rect_before_wrap());
        let corner = free.min + egui::vec2(16.0, 12.0);
        let ink = egui::Color32::from_rgb(38, 44, 54);
        let title = painter.text(corner, egui::Align2::LEFT_TOP, &self.title, egui::FontId::proportional(20.0), ink);
        let (factor, unit) = crate::scale::readable(self.time, "s");
        let line = format!("t = {} {unit}   ·   {}", crate::scale::digits(self.time * factor, 4), self.seen);
        painter.text(
            title.left_bottom(),
            egui::Align2::LEFT_TOP,
            line,
            egui::FontId::proportional(13.0),
            ink,
        );
        let scale = ui.ctx().pixels_per_point();
        if let Some((middle, radius)) = picture.circle {
            let middle = egui::pos2(middle[0] as f32, middle[1] as f32) / scale;
            let stroke = egui::Stroke::new(2.0, egui::Color32::from_rgb(220, 40, 60));
            painter.circle_stroke(middle, (radius as f32 / scale).max(4.0) + 1.5, stroke);
        }
        if let Some(camera) = &picture.camera {
            marks::draw(painter, free, camera, scale);
        }
    }

    fn look(&mut self, ui: &mut egui::Ui) {
        if let Some(error) = &self.error {
            ui.colored_label(ALARM, error);
            ui.separator();
        }
        if let Some(saved) = &self.saved {
            match saved {
                Ok(words) => ui.label(words),
                Err(error) => ui.colored_label(ALARM, error),
            };
            ui.separator();
        }
        let before = self.options.shown;
        let has_frames = self.frames().is_some();
        egui::ComboBox::from_label("shows")
            .selected_text(choices::word_for(before))
            .show_ui(ui, |ui| {
                for shown in choices::shown(has_frames) {
                    ui.selectable_value(&mut self.options.shown, shown, choices::word_for(shown));
                }
            });
        if self.options.shown != before {
            (self.options.field, self.options.range) = (None, None);
        }
        let named = self.options.field.clone().unwrap_or_else(|| "automatic".to_owned());
        let fields = choices::fields_of(self.options.shown, &self.fields);
        egui::ComboBox::from_label("colored by").selected_text(named).show_ui(ui, |ui| {
            let before = self.options.field.clone();
            ui.selectable_value(&mut self.options.field, None, "automatic");
            for field in fields {
                ui.selectable_value(&mut self.options.field, Some(field.clone()), field);
            }
            if self.options.field != before {
                self.options.range = None;
            }
        });
        legend::legend(ui, &self.legend);
        self.fix_range(ui);
        ui.checkbox(&mut self.options.has_walls, "walls (W)");
        ui.checkbox(&mut self.options.has_meshes, "bodies as their meshes");
        self.clip(ui);
        ui.separator();
        self.show_picked(ui);
        ui.separator();
        self.has_plots = egui::CollapsingHeader::new("energies and probes")
            .show(ui, |ui| plots::charts(ui, &self.charts, self.time))
            .fully_open()
            | egui::CollapsingHeader::new("seconds per pass")
                .show(ui, |ui| plots::passes(ui, &self.passes))
                .fully_open();
        ui.separator();
        let keys = KEYS.map(|(key, what)| format!("{key} {what}"));
        ui.weak(keys.join(", "));
    }

    /// Draws controls to fix the color range.
    fn fix_range(&mut self, ui: &mut egui::Ui) {
        let Legend::Scale { range, .. } = &self.legend else {
            return;
        };
        let mut is_held = self.options.range.is_some();
        if ui.checkbox(&mut is_held, "hold the scale").changed() {
            self.options.range = is_held.then_some(*range);
        }
        if let Some((low, high)) = &mut self.options.range {
            let speed = ((*high - *low).abs() / 200.0).max(f64::MIN_POSITIVE);
            let (was_low, was_high) = (*low, *high);
            ui.horizontal(|ui| {
                ui.add(egui::DragValue::new(low).speed(speed).max_decimals(9));
                ui.label("to");
                ui.add(egui::DragValue::new(high).speed(speed).max_decimals(9));
            });
            if low >= high || !low.is_finite() || !high.is_finite() {
                (*low, *high) = (was_low, was_high);
            }
        }
    }

    /// Draws controls for the clip plane.
    fn clip(&mut self, ui: &mut egui::Ui) {
        // The axis of the cut, if it is parallel to one.
        let along = |cut: [f64; 4]| {
            let mut axes = (0..3).filter(|&axis| cut[axis] != 0.0);
            axes.next().filter(|_| axes.next().is_none())
        };
        let before = self.options.cut.map(along);
        let mut chosen = before;
        ui.horizontal(|ui| {
            ui.label("cut");
            ui.selectable_value(&mut chosen, None, "nothing");
            for (at, name) in ["x", "y", "z"].into_iter().enumerate() {
                ui.selectable_value(&mut chosen, Some(Some(at)), name);
            }
            if self.given_cut.is_some_and(|cut| along(cut).is_none()) {
                ui.selectable_value(&mut chosen, Some(None), "as given");
            }
        });
        let Some(Some(axis)) = chosen else {
            self.options.cut = chosen.and(self.given_cut);
            return;
        };
        let [low, high] = self.box_of[axis];
        let (sign, mut at) = match self.options.cut.filter(|_| before == chosen) {
            Some(cut) => (cut[axis].signum(), cut[axis].signum() * cut[3]),
            // Cut away the side towards the initial position of the eye.
            None => (if axis == 1 { -1.0 } else { 1.0 }, 0.5 * (low + high)),
        };
        let slider = egui::Slider::new(&mut at, low..=high).clamping(egui::SliderClamping::Edits);
        ui.add(slider.max_decimals(4).text("m"));
        let mut cut = [0.0; 4];
        (cut[axis], cut[3]) = (sign, sign * at);
        self.options.cut = Some(cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Particle, ViewError};

    /// A recording of five frames that cannot be read.
    struct Five;

    impl FrameSource for Five {
        fn title(&self) -> String {
            String::new()
        }

        fn frames(&self) -> Option<usize> {
            Some(5)
        }

        fn frame(&self, _: &PictureOptions, _: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
            Ok(None)
        }

        fn details(&self, _: u64, _: Particle) -> Result<ParticleDetails, ViewError> {
            Ok(ParticleDetails::default())
        }
    }

    #[test]
    fn at_its_end_a_recording_is_followed() {
        let mut panel = Panel::new(Arc::new(Five), &PictureOptions::default());
        assert!(panel.frame_request().goes_on, "at first");
        for (frame, shown, goes_on) in [(2, 2, false), (4, 4, true), (0, 0, false), (usize::MAX, 4, true)] {
            panel.go_to(frame);
            assert_eq!((panel.frame(), panel.frame_request().goes_on), (shown, goes_on), "{frame}");
        }
        panel.go(-1);
        assert_eq!((panel.frame(), panel.frame_request().goes_on), (3, false));
        panel.go(1);
        assert_eq!((panel.frame(), panel.frame_request().goes_on), (4, true));
    }

    #[test]
    fn a_recording_whose_last_frame_is_damaged_begins_with_the_one_before() {
        let mut panel = Panel::new(Arc::new(Five), &PictureOptions::default());
        panel.failed("it is cut off".to_owned());
        assert_eq!(panel.frame_request().options.frame, Some(3));
        panel.seen(&Snapshot {
            number: 3,
            grains: 1,
            ..Snapshot::default()
        });
        assert_eq!(panel.error.as_deref(), Some("it is cut off"));
    }

    #[test]
    fn what_was_picked_is_followed_while_it_is_away() {
        let mut panel = Panel::new(Arc::new(Five), &PictureOptions::default());
        assert!(!panel.frame_request().is_following);
        let with = |id: u32| Snapshot {
            balls: vec![[0.0, 0.0, 0.0, 1.0]],
            id: vec![id],
            grains: 1,
            shown: 1,
            ..Snapshot::default()
        };
        let picked = Particle { id: 7, is_grain: true };
        panel.pick(&with(7), Some(0));
        for (id, place) in [(7, Some(0)), (8, None), (7, Some(0))] {
            panel.seen(&with(id));
            let request = panel.frame_request();
            assert_eq!(panel.position_of_picked(), place);
            assert_eq!((request.is_following, request.details), (true, place.map(|_| (0, picked))));
        }
    }
}
