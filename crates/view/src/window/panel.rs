//! What a user sees and asks for beside the scene.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::loader::Wish;
use super::path::Path;
use super::{bar, legend, plots};
use crate::{
    Graphics, Particle, PictureOptions, Show, Shown, Snapshot,
    chart::Chart,
    coloring::Coloring,
    live::{Controls, Hand},
    show::Details,
};

/// Width, in points.
const WIDTH: f32 = 290.0;
/// Frames of a recording a second, at first.
const RATE: f64 = 12.0;

/// What stands for grains and fluids, with words for it.
const SHOWN: [(&str, Shown); 6] = [
    ("particles", Shown::Grains),
    ("fluids as a smooth surface", Shown::Smooth),
    ("contacts", Shown::Contacts),
    ("force chains", Shown::ForceChains),
    ("bonds", Shown::Bonds),
    ("cracks", Shown::Cracks { has_bonds: true }),
];

/// A particle that was picked.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Picked {
    particle: Particle,
    /// Place in the snapshot of now; `None` if it is not there.
    place: Option<usize>,
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
    /// The same, of the frame in whose place the next one is shown.
    passed: Option<String>,
    picked: Option<Picked>,
    has_plots: bool,
    /// Frame, time and what there is, of the snapshot that is shown.
    number: u64,
    time: f64,
    seen: String,
    fields: Vec<String>,
    coloring: Coloring,
    box_of: [[f64; 2]; 3],
    /// The cut that was asked for at first.
    given_cut: Option<[f64; 4]>,
    /// Of a recording: frames a second while it is played.
    pub(super) rate: f64,
    pub(super) plays: bool,
    turned: Instant,
    had_walls: bool,
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
            had_walls: options.has_walls,
            details: None,
            charts: Vec::new(),
            passes: Vec::new(),
            error: None,
            passed: None,
            picked: None,
            has_plots: false,
            number: 0,
            time: 0.0,
            seen: String::new(),
            fields: Vec::new(),
            coloring: Coloring::default(),
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
        (self.fields, self.coloring) = (snapshot.fields.clone(), snapshot.coloring.clone());
        self.coloring.shade.clear();
        for (axis, ends) in self.box_of.iter_mut().enumerate() {
            let along = snapshot
                .balls
                .iter()
                .map(|ball| f64::from(ball[axis]))
                .filter(|along| along.is_finite());
            let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            if low <= high {
                *ends = [low, high].map(|end| end + snapshot.origin[axis]);
            }
        }
        if let Some(picked) = &mut self.picked {
            // What cannot be brought here is not in this frame.
            let nothing = Snapshot::default();
            let snapshot = snapshot.here().unwrap_or(&nothing);
            let among = part(snapshot, picked.particle.is_grain);
            let first = among.start;
            picked.place = snapshot.id[among]
                .iter()
                .position(|&id| id == picked.particle.id)
                .map(|place| first + place);
        }
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
        self.picked = place.map(|place| Picked {
            particle: Particle {
                id: snapshot.id[place],
                is_grain: place < snapshot.grains,
            },
            place: Some(place),
        });
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

    /// Frames of a recording.
    pub fn frames(&self) -> Option<usize> {
        self.show.frames()
    }

    /// The frame that is shown of a recording.
    pub fn frame(&self) -> usize {
        self.options.frame.unwrap_or(self.number as usize)
    }

    /// Shows another frame of a recording.
    pub fn go_to(&mut self, frame: usize) {
        if let Some(frames) = self.frames() {
            self.options.frame = Some(frame.min(frames.saturating_sub(1)));
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

    /// Whether walls are drawn otherwise than before.
    pub fn turned_walls(&mut self) -> bool {
        std::mem::replace(&mut self.had_walls, self.options.has_walls) != self.options.has_walls
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
        let is_there = self.options.frame.is_none_or(|frame| frame as u64 == self.number) || self.error.is_some();
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
    pub fn show(&mut self, ui: &mut egui::Ui, pace: f64, circle: Option<([f64; 2], f64)>) {
        if let Some(wait) = self.play() {
            ui.ctx().request_repaint_after(wait);
        }
        egui::Panel::bottom("bar").show(ui, |ui| bar::bar(ui, self, pace));
        egui::Panel::right("look").exact_size(WIDTH).show(ui, |ui| {
            egui::ScrollArea::vertical().show(ui, |ui| self.look(ui));
        });
        let painter = ui.painter();
        let corner = ui.available_rect_before_wrap().min + egui::vec2(16.0, 12.0);
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
        if let Some((middle, radius)) = circle {
            let scale = ui.ctx().pixels_per_point();
            let middle = egui::pos2(middle[0] as f32, middle[1] as f32) / scale;
            let stroke = egui::Stroke::new(2.0, egui::Color32::from_rgb(220, 40, 60));
            ui.painter().circle_stroke(middle, (radius as f32 / scale).max(4.0) + 1.5, stroke);
        }
    }

    fn look(&mut self, ui: &mut egui::Ui) {
        if let Some(error) = &self.error {
            ui.colored_label(egui::Color32::from_rgb(190, 30, 40), error);
            ui.separator();
        }
        let word = |shown: Shown| SHOWN.iter().find(|(_, one)| *one == shown).map_or("the rest", |(word, _)| word);
        let before = self.options.shown;
        egui::ComboBox::from_label("shows").selected_text(word(before)).show_ui(ui, |ui| {
            for (word, shown) in SHOWN {
                ui.selectable_value(&mut self.options.shown, shown, word);
            }
        });
        if self.options.shown != before {
            (self.options.field, self.options.range) = (None, None);
        }
        let named = self.options.field.clone().unwrap_or_else(|| "automatic".to_owned());
        let fields = if self.options.shown == Shown::Bonds {
            bond_fields()
        } else {
            self.fields.clone()
        };
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
        legend::legend(ui, &self.coloring);
        self.hold_range(ui);
        ui.checkbox(&mut self.options.has_walls, "walls (W)");
        self.cut(ui);
        ui.separator();
        self.tell_picked(ui);
        ui.separator();
        self.has_plots = egui::CollapsingHeader::new("energies and probes")
            .show(ui, |ui| plots::charts(ui, &self.charts))
            .fully_open()
            | egui::CollapsingHeader::new("seconds per pass")
                .show(ui, |ui| plots::passes(ui, &self.passes))
                .fully_open();
        ui.separator();
        ui.weak("drag turns, Shift or the right button moves, the wheel zooms, F frames all, a click picks, K keeps a view, V flies through those that were kept, W takes walls away, Space plays, the arrow keys go frame by frame, Q quits");
    }

    /// Lets the ends of the scale stay what they are.
    fn hold_range(&mut self, ui: &mut egui::Ui) {
        let crate::coloring::Legend::Scale { range, .. } = &self.coloring.legend else {
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

    fn tell_picked(&mut self, ui: &mut egui::Ui) {
        let Some(picked) = self.picked else {
            ui.weak("click on a particle to see its fields and contacts");
            return;
        };
        let Particle { id, is_grain } = picked.particle;
        let kind = if is_grain { "grain" } else { "particle" };
        ui.horizontal(|ui| {
            ui.strong(format!("{kind} {id}"));
            if ui.small_button("let go").clicked() {
                (self.picked, self.details) = (None, None);
            }
        });
        if picked.place.is_none() {
            ui.weak("not in this frame");
        }
        if let Some(controls) = self.show.controls().filter(|_| is_grain) {
            ui.horizontal(|ui| {
                ui.label("push");
                for (name, along) in bar::PUSHES {
                    if ui.small_button(name).clicked() {
                        controls.reach_in(Hand::Push { id, along });
                    }
                }
            });
        }
        let Some(details) = &self.details else { return };
        // Not a grid: what does not fit in a line must wrap.
        for (name, value) in &details.values {
            ui.horizontal_wrapped(|ui| {
                ui.weak(name);
                ui.label(value);
            });
        }
        match details.touching {
            Some(1) => drop(ui.strong("1 contact")),
            Some(count) => drop(ui.strong(format!("{count} contacts"))),
            None if is_grain => drop(ui.weak("contacts were not recorded: contacts = true under [output]")),
            None => {}
        }
        for contact in &details.contacts {
            ui.label(contact);
        }
        let more = details.touching.unwrap_or(0).saturating_sub(details.contacts.len());
        if more > 0 {
            ui.weak(format!("and {more} more"));
        }
    }
}

/// Where grains stand in a snapshot, or particles of fluids.
fn part(snapshot: &Snapshot, is_grain: bool) -> Range<usize> {
    let all = snapshot.id.len();
    let grains = snapshot.grains.min(all);
    if is_grain { 0..grains } else { grains..all }
}

fn bond_fields() -> Vec<String> {
    let known = ["used", "tension", "shear", "bending", "torsion", "energy", "force", "kind"];
    known.map(str::to_owned).to_vec()
}
