//! Changes of walls and gravity between two steps, and overlaps of new grains.

use crate::cell_control::controlled;
use crate::events::{OverlapCheck, SurroundingsChange};
use crate::measure::NO_CONTACT;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::world::vector;
use seixo_sweeps::layout::WALL_CONTACT;

impl Populations {
    /// Makes changes at this time \[s\], from the current positions of the walls.
    ///
    /// # Errors
    /// If a wall cannot have this motion from its position.
    pub(crate) fn change_surroundings(&mut self, changes: &[SurroundingsChange], time: f64) -> Result<(), WorldError> {
        for change in changes {
            match change {
                SurroundingsChange::Wall { wall, is_there } => self.walls.set_there(*wall, *is_there),
                SurroundingsChange::Motion { wall, motion } => {
                    self.with_flow(|flow, surroundings| flow.begin_from_here(surroundings, *wall));
                    self.walls.set_motion(*wall, motion, time)?;
                    self.tune_servos();
                    self.with_flow(|flow, surroundings| flow.move_otherwise(surroundings, *wall));
                }
                SurroundingsChange::Inlet { inlet, is_open } => {
                    self.with_flow(|flow, surroundings| flow.switch_inlet(*inlet, *is_open, surroundings.context.steps));
                }
                SurroundingsChange::Gravity(gravity) => self.context.stepping.gravity = vector(*gravity),
                SurroundingsChange::Cell(axes) => {
                    let control = controlled(self.context.domain.as_ref(), *axes)?;
                    if let Some(cell) = &mut self.cell {
                        cell.control = control;
                    }
                    self.tune_servos();
                }
                SurroundingsChange::Hold { .. } | SurroundingsChange::Free { .. } | SurroundingsChange::Load(_) => {}
            }
        }
        Ok(())
    }

    /// Computes overlaps with walls that appeared, or with contacts that were excluded during prescribed motion, for the ledger. Forces
    /// follow in the next step.
    pub(crate) fn find_overlaps(&mut self, meets: OverlapCheck) -> Result<(), WorldError> {
        let (force, torque) = (self.grains.fields.force.clone(), self.grains.fields.torque.clone());
        let (of_pairs, history, wall_contacts) = (
            (self.grains.pairs.history.clone(), self.grains.pairs.shortlist.clone()),
            self.walls.history.clone(),
            self.walls.wall_contacts.clone(),
        );
        let of_polyhedra = self
            .polyhedra
            .as_ref()
            .map(|polyhedra| (polyhedra.pairs.records.clone(), polyhedra.at_walls.records.clone()));
        if meets != OverlapCheck::Walls {
            self.contact_forces();
            self.polyhedra_forces();
        }
        self.wall_contacts();
        if self.is_too_deep() {
            let (share, i, partner) = self.deepest_overlap_now();
            let (id, share, limit) = (self.grains.fields.id[i], 100.0 * share, 100.0 * self.context.settings.overlap_limit);
            let of_rounding = self.is_polyhedral(i);
            return Err(match meets {
                OverlapCheck::Grains => WorldError::FreedInside {
                    id,
                    partner,
                    share,
                    limit,
                    of_rounding,
                },
                OverlapCheck::Frozen => WorldError::FrozenInside {
                    id,
                    partner,
                    share,
                    limit,
                    of_rounding,
                },
                OverlapCheck::Nothing | OverlapCheck::Walls => WorldError::WallInGrain {
                    partner,
                    id,
                    share,
                    limit,
                    of_rounding,
                },
            });
        }
        if let (Some(polyhedra), Some((pairs, at_walls))) = (&mut self.polyhedra, of_polyhedra) {
            // Contacts that are not new are as they were. New ones count for the ledger alone, and conduct no heat in this step.
            let (records, records_at_walls) = (&mut polyhedra.pairs.records, &mut polyhedra.at_walls.records);
            records.go_back(pairs, |load| load.contacts > 0, |new| new.conducting_radius = 0.0);
            records_at_walls.go_back(at_walls, |load| load.contacts > 0, |new| new.conducting_radius = 0.0);
        }
        (self.grains.pairs.history, self.grains.pairs.shortlist) = of_pairs;
        for (new, old) in self
            .walls
            .wall_contacts
            .chunks_exact_mut(WALL_CONTACT)
            .zip(wall_contacts.chunks_exact(WALL_CONTACT))
        {
            if old[WALL_CONTACT - 1] > 0.0 {
                new.copy_from_slice(old);
            } else {
                new[4..WALL_CONTACT - 1].fill(0.0);
            }
        }
        (self.grains.fields.force, self.grains.fields.torque, self.walls.history) = (force, torque, history);
        self.grains.wall_power_sums.fill(NO_CONTACT);
        Ok(())
    }
}
