//! The particle that was picked, and what a panel tells of it.

use std::ops::Range;

use super::{bar, panel::Panel};
use crate::{Particle, Snapshot, live::Hand};

/// A particle that was picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picked {
    /// The particle.
    pub particle: Particle,
    /// Place in the snapshot of now; `None` if it is not there.
    pub place: Option<usize>,
}

impl Picked {
    /// That at this place of a snapshot.
    pub fn at(snapshot: &Snapshot, place: usize) -> Picked {
        Picked {
            particle: Particle {
                id: snapshot.id[place],
                is_grain: place < snapshot.grains,
            },
            place: Some(place),
        }
    }

    /// The same, in the snapshot that is shown next.
    pub fn within(self, snapshot: &Snapshot) -> Picked {
        // What cannot be brought here is not in this frame.
        let nothing = Snapshot::default();
        let snapshot = snapshot.here().unwrap_or(&nothing);
        let among = part(snapshot, self.particle.is_grain);
        let first = among.start;
        let found = snapshot.id[among].iter().position(|&id| id == self.particle.id);
        Picked {
            place: found.map(|place| first + place),
            ..self
        }
    }
}

/// Where grains stand in a snapshot, or particles of fluids.
fn part(snapshot: &Snapshot, is_grain: bool) -> Range<usize> {
    let all = snapshot.id.len();
    let grains = snapshot.grains.min(all);
    if is_grain { 0..grains } else { grains..all }
}

impl Panel {
    /// Tells what is known of the particle that was picked, and lets it be pushed.
    pub fn tell_picked(&mut self, ui: &mut egui::Ui) {
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
        if let Some(controls) = self.within_reach().filter(|_| is_grain) {
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
        let mut contacts = details.of_contacts(is_grain).into_iter();
        if let Some(count) = contacts.next() {
            ui.strong(count);
        }
        for contact in contacts {
            ui.label(contact);
        }
    }
}
