//! The picked particle and its panel.

use std::ops::Range;

use super::{control_bar, panel::Panel};
use crate::{Particle, Snapshot, live::UserAction};

/// A picked particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picked {
    /// The particle.
    pub particle: Particle,
    /// Index in the current snapshot; `None` if absent.
    pub place: Option<usize>,
}

impl Picked {
    /// The particle at this index of a snapshot.
    pub fn at(snapshot: &Snapshot, place: usize) -> Picked {
        Picked {
            particle: Particle {
                id: snapshot.id[place],
                is_grain: place < snapshot.grains,
            },
            place: Some(place),
        }
    }

    /// The same particle in the next snapshot.
    pub fn within(self, snapshot: &Snapshot) -> Picked {
        // If the particles cannot be downloaded, it counts as absent.
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

/// Index range of grains or fluid particles in a snapshot.
fn part(snapshot: &Snapshot, is_grain: bool) -> Range<usize> {
    let all = snapshot.id.len();
    let grains = snapshot.grains.min(all);
    if is_grain { 0..grains } else { grains..all }
}

impl Panel {
    /// Draws the details of the picked particle, and buttons to push it.
    pub fn show_picked(&mut self, ui: &mut egui::Ui) {
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
                for (name, along) in control_bar::PUSH_DIRECTIONS {
                    if ui.small_button(name).clicked() {
                        controls.reach_in(UserAction::Push { id, along });
                    }
                }
            });
        }
        let Some(details) = &self.details else { return };
        // No grid: a long line must wrap.
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
