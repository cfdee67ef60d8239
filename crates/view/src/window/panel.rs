//! What a user sees and asks for beside the scene.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::loader::Wish;
use super::path::Path;
use super::picked::Picked;
use super::{KEYS, bar, choices, legend, marks, plots};
use crate::{Graphics, PictureOptions, Show, Snapshot, camera::Camera, chart::Chart, coloring::Legend, live::Controls, show::Details};

/// Width, in points.
const WIDTH: f32 = 290.0;
/// Frames of a recording a second, at first.
const RATE: f64 = 12.0;

/// Color of words about what went wrong.
pub const ALARM: egui::Color32 = egui::Color32::from_rgb(190, 30, 40);

/// What panels are told of the picture under them.
pub struct Picture {
    /// Pictures a second, of late.
    pub pace: f64,
    /// What was picked, if it is seen: middle and radius of its outline \[px\].
    pub circle: Option<([f64; 2], f64)>,
    /// The camera, once there is something to see.
    pub camera: Option<Camera>,
}

/// The state of the panels.
pub struct Panel {
    show: Arc<dyn Show>,
    title: String,
    /// How to look at the scene.
    pub options: PictureOptions,
    /// What is known of the particle that was picked.
    pub details: Option<Details>,
    /// Energies and probes.
    pub charts: Vec<Chart>,
    /// Seconds per pass.
    pub passes: Vec<(String, f64, String)>,
    /// What could not be read.
    pub error: Option<String>,
    /// What became of the last picture or view that was to be saved or named: where it is, or why it is not there.
    pub saved: Option<Result<String, String>>,
    /// Whether a picture is to be saved.
    pub saves: bool,
    /// The same as the error, of the frame in whose place the next one is shown.
    passed: Option<String>,
    pub(super) picked: Option<Picked>,
    has_plots: bool,
    /// Frame, time and what there is, of the snapshot that is shown.
    number: u64,
    time: f64,
    seen: String,
    fields: Vec<String>,
    legend: Legend,
    /// Ends of what is shown along each axis, far strays left out \[m\].
    box_of: [[f64; 2]; 3],
    /// The cut that was asked for at first.
    given_cut: Option<[f64; 4]>,
    /// Of a recording: frames a second while it is played.
    pub(super) rate: f64,
    pub(super) plays: bool,
    turned: Instant,
    pub(super) hand: bar::Reach,
    /// The way of the camera.
    pub(super) path: Path,
}

impl Panel {
    /// Panels of what is shown, to be looked at in this way first.
    pub fn new(show: Arc<dyn Show>, options: &PictureOptions) -> Panel {
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
            hand: bar::Reach::default(),
            path: Path::default(),
            title: options.title.clone().unwrap_or_else(|| show.title()),
            show,
        }
    }

    /// Notes what is shown now.
    pub fn seen(&mut self, snapshot: &Snapshot) {
        self.error = self.passed.take();
        (self.number, self.time, self.seen) = (snapshot.number, snapshot.time, snapshot.seen());
        (self.fields, self.legend) = (snapshot.fields.clone(), snapshot.coloring.legend.clone());
        if let Some(around) = &snapshot.extent().around {
            self.box_of = [0, 1, 2].map(|axis| [around.low[axis], around.high[axis]]);
        }
        self.picked = self.picked.map(|picked| picked.within(snapshot));
    }

    /// Notes that something cannot be shown. If nothing was so far, the frame before it is to be.
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

    /// Picks a particle of the snapshot that is shown, or nothing.
    pub fn pick(&mut self, snapshot: &Snapshot, place: Option<usize>) {
        self.details = None;
        self.picked = place.map(|place| Picked::at(snapshot, place));
    }

    /// The place of what was picked.
    pub fn place_picked(&self) -> Option<usize> {
        self.picked.and_then(|picked| picked.place)
    }

    /// The device that snapshots may lie on.
    pub fn graphics(&self) -> Option<&Graphics> {
        self.show.graphics()
    }

    /// How a simulation that runs is steered.
    pub fn controls(&self) -> Option<&Controls> {
        self.show.controls()
    }

    /// The same, where it is not over, so that one can reach in.
    pub fn within_reach(&self) -> Option<&Controls> {
        self.controls().filter(|controls| !controls.status().is_over)
    }

    /// What is shown is called so.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The run folder.
    pub fn folder(&self) -> Option<PathBuf> {
        self.show.folder()
    }

    /// Frames of a recording.
    pub fn frames(&self) -> Option<usize> {
        self.show.frames()
    }

    /// The frame that is shown of a recording, or will be in a moment.
    pub fn frame(&self) -> usize {
        let last = self.frames().map_or(0, |frames| frames.saturating_sub(1));
        self.options.frame.unwrap_or(last)
    }

    /// Shows another frame of a recording; at its end, whatever comes next.
    pub fn go_to(&mut self, frame: usize) {
        if let Some(frames) = self.frames() {
            self.options.frame = (frame < frames.saturating_sub(1)).then_some(frame);
        }
    }

    /// Goes some frames on or back; of a simulation that runs, on by as many steps, if it stands still.
    pub fn go(&mut self, by: i64) {
        if let Some(controls) = self.controls() {
            controls.step(by.max(0) as u64);
        }
        self.plays = false;
        self.go_to(self.frame().saturating_add_signed(by as isize));
    }

    /// Lets frames follow each other, or a simulation go on, or stops that.
    pub fn play_or_pause(&mut self) {
        if let Some(controls) = self.controls() {
            return controls.pause(!controls.is_paused());
        }
        self.plays = !self.plays;
        if self.plays && self.frames() == Some(self.frame() + 1) {
            self.go_to(0);
        }
    }

    /// Whether pictures follow each other just now.
    pub fn is_in_motion(&self) -> bool {
        self.plays || self.controls().is_some_and(|controls| !controls.is_paused())
    }

    /// What the loader is asked for.
    pub fn wish(&self) -> Wish {
        Wish {
            options: PictureOptions {
                // Walls are there in any case, and shown or not, and so is what is cut away.
                has_walls: true,
                cut: None,
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

    /// Goes on with a recording that is played, if it is time; returns how long until then.
    fn play(&mut self) -> Option<Duration> {
        let wait = Duration::from_secs_f64(1.0 / self.rate);
        if !self.plays {
            return None;
        }
        // Not before the frame of now is there, if it can be shown.
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

    /// Lays the panels out, and hears what is asked for.
    pub fn show(&mut self, ui: &mut egui::Ui, picture: &Picture) {
        if let Some(wait) = self.play() {
            ui.ctx().request_repaint_after(wait);
        }
        egui::Panel::bottom("bar").show(ui, |ui| bar::bar(ui, self, picture));
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
        self.hold_range(ui);
        ui.checkbox(&mut self.options.has_walls, "walls (W)");
        ui.checkbox(&mut self.options.has_meshes, "bodies as their meshes");
        self.cut(ui);
        ui.separator();
        self.tell_picked(ui);
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

    /// Lets the ends of the scale stay what they are.
    fn hold_range(&mut self, ui: &mut egui::Ui) {
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

    /// Lets a plane cut off what lies before it.
    fn cut(&mut self, ui: &mut egui::Ui) {
        // The axis along which is cut, if it is one.
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
            // From the front: what lies towards the eye of a first look goes.
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

    impl Show for Five {
        fn title(&self) -> String {
            String::new()
        }

        fn frames(&self) -> Option<usize> {
            Some(5)
        }

        fn frame(&self, _: &PictureOptions, _: Option<u64>) -> Result<Option<Arc<Snapshot>>, ViewError> {
            Ok(None)
        }

        fn details(&self, _: u64, _: Particle) -> Result<Details, ViewError> {
            Ok(Details::default())
        }
    }

    #[test]
    fn at_its_end_a_recording_is_followed() {
        let mut panel = Panel::new(Arc::new(Five), &PictureOptions::default());
        assert!(panel.wish().goes_on, "at first");
        for (frame, shown, goes_on) in [(2, 2, false), (4, 4, true), (0, 0, false), (usize::MAX, 4, true)] {
            panel.go_to(frame);
            assert_eq!((panel.frame(), panel.wish().goes_on), (shown, goes_on), "{frame}");
        }
        panel.go(-1);
        assert_eq!((panel.frame(), panel.wish().goes_on), (3, false));
        panel.go(1);
        assert_eq!((panel.frame(), panel.wish().goes_on), (4, true));
    }

    #[test]
    fn a_recording_whose_last_frame_is_damaged_begins_with_the_one_before() {
        let mut panel = Panel::new(Arc::new(Five), &PictureOptions::default());
        panel.failed("it is cut off".to_owned());
        assert_eq!(panel.wish().options.frame, Some(3));
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
        assert!(!panel.wish().is_following);
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
            let wish = panel.wish();
            assert_eq!(panel.place_picked(), place);
            assert_eq!((wish.is_following, wish.details), (true, place.map(|_| (0, picked))));
        }
    }
}
