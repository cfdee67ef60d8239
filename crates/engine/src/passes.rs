//! The passes of a step: each runs a sweep over all parts.

use crate::border::Which;
use crate::fields::{Fields, PART, part_range, parts};
use crate::measure::{NO_CONTACT, sum};
use crate::simulation::Simulation;
use crate::walls::Walls;
use seixo_device::{Ranges, Strided};
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::compound::compound_contacts_of_part;
use seixo_sweeps::contact::{Tally, press_through_cells};
use seixo_sweeps::lanes::contacts_of_part;
use seixo_sweeps::motion::{Moved, STILL, advance};
use seixo_sweeps::part::{GrainsView, Limits, PartOut, PartRows};
use seixo_sweeps::rows::press_through_row;
use seixo_sweeps::shortlist::Shortlist;
use seixo_sweeps::sides::{OPEN, PERIODIC, SHEARED};
use seixo_sweeps::units::prefetch;
use seixo_sweeps::views::{RECORD, TOUCH, remembered};
use seixo_sweeps::wall::walls_of;

/// How many grains ahead the records of one near a wall are asked for.
const WALLS_AHEAD: usize = 48;

impl Simulation {
    /// Kick and drift: velocities and positions of all grains go one step on.
    pub(crate) fn advance_grains(&mut self) {
        self.steps += 1;
        match (self.frictional, self.carries || self.has_ghosts) {
            (false, false) => self.advance_parts::<false, false>(),
            (false, true) => self.advance_parts::<false, true>(),
            (true, false) => self.advance_parts::<true, false>(),
            (true, true) => self.advance_parts::<true, true>(),
        }
    }

    fn advance_parts<const FRICTIONAL: bool, const CARRIES: bool>(&mut self) {
        let n = self.fields.len();
        let Fields {
            member,
            position,
            velocity,
            spin,
            half_velocity,
            half_spin,
            force,
            torque,
            reference,
            ..
        } = &mut self.fields;
        let (member, force, torque, reference, stepping) = (&member[..], &force[..], &torque[..], &reference[..], &self.stepping);
        let rotating = usize::from(FRICTIONAL);
        let data = (
            Strided {
                items: &mut position[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut velocity[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut spin[..],
                per_part: PART * RECORD * rotating,
            },
            Strided {
                items: &mut half_velocity[..],
                per_part: PART * 3,
            },
            Strided {
                items: &mut half_spin[..],
                per_part: PART * 3 * rotating,
            },
            Strided {
                items: &mut self.moves[..],
                per_part: 1,
            },
        );
        type Data<'a> = (
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, Moved<f64>>,
        );
        self.device.run(
            parts(n),
            data,
            |part, (position, velocity, spin, half_velocity, half_spin, moves): Data| {
                let (first, end) = part_range(part, n);
                let torque = if FRICTIONAL { &torque[first * RECORD..] } else { &[] };
                let mut all = STILL;
                for i in 0..end - first {
                    if CARRIES && member[first + i] != FREE {
                        continue;
                    }
                    let moved = advance(
                        i,
                        position.items,
                        velocity.items,
                        spin.items,
                        half_velocity.items,
                        half_spin.items,
                        &force[first * RECORD..],
                        torque,
                        &reference[first * 3..],
                        stepping,
                        FRICTIONAL,
                    );
                    all.flags |= moved.flags;
                    all.stride_square = all.stride_square.max(moved.stride_square);
                    all.damping_work += moved.damping_work;
                }
                moves.items[0] = all;
            },
        );
    }

    /// Puts the walls where they are at the new time; servos go by the loads of the step before.
    pub(crate) fn move_walls(&mut self) {
        self.move_walls_by(1);
    }

    /// As [`Simulation::move_walls`], so many steps after they were moved last: servos take each of them.
    pub(crate) fn move_walls_by(&mut self, steps: u64) {
        if self.walls.has_servos() {
            let dt = self.stepping.dt;
            for step in self.steps - steps + 1..=self.steps {
                self.walls.control(step as f64 * dt, dt);
            }
        }
        if self.walls.has_moving() {
            self.walls.place(self.time(), false);
        }
    }

    /// Forces between grains, but for those that were found already.
    pub(crate) fn touch_grains(&mut self) {
        let which = if std::mem::take(&mut self.border.inner_is_done) {
            Which::AtBorder
        } else {
            Which::All
        };
        self.touch_some_grains(which);
    }

    /// Forces between grains of parts that copies of grains of other domains do not push, wherever these are now.
    pub(crate) fn touch_inner_grains(&mut self) {
        self.border.inner_is_done = true;
        self.touch_some_grains(Which::Inner);
    }

    fn touch_some_grains(&mut self, which: Which) {
        self.place_sides();
        if self.frictional {
            self.rub_grains(which);
        } else {
            self.press_grains(which);
        }
    }

    fn rub_grains(&mut self, which: Which) {
        let (n, is_once) = (self.fields.len(), self.lists_once());
        let stride = self.moves.iter().fold(0.0, |most: f64, moved| most.max(moved.stride_square)).sqrt();
        // Sides that slide move images on as well: there, all pairs of the list are looked at.
        let margin = match which {
            Which::AtBorder => self.border.margin,
            _ if self.sides == SHEARED => Some(self.cells.skin),
            _ => self.pairs.shortlist.margin_after(stride, self.cells.skin),
        };
        self.border.margin = margin;
        let border = &self.border.parts[..];
        let Fields {
            position,
            velocity,
            spin,
            material,
            force,
            torque,
            ..
        } = &mut self.fields;
        let grains = GrainsView {
            position: &position[..],
            velocity: &velocity[..],
            spin: &spin[..],
            material: &material[..],
            materials: self.materials,
            table: &self.table[..],
            is_uniform: self.is_uniform,
            sides: &self.stepping.sides,
        };
        let (row, neighbors) = (&self.pairs.row[..], &self.pairs.neighbors[..]);
        let limits = Limits {
            dt: self.stepping.dt,
            overlap: self.settings.overlap_limit,
        };
        let (is_compound, kind) = (self.is_compound, self.sides);
        let data = (
            Ranges {
                items: &mut self.pairs.history[..],
                bounds: &self.pairs.part_row,
                stride: remembered(is_compound),
            },
            Ranges {
                items: &mut self.pairs.shortlist.entry[..],
                bounds: &self.pairs.part_row,
                stride: usize::from(!is_compound),
            },
            Ranges {
                items: &mut self.pairs.shortlist.grain[..],
                bounds: &self.pairs.part_row,
                stride: usize::from(!is_compound),
            },
            Strided {
                items: &mut self.pairs.shortlist.count[..],
                per_part: usize::from(!is_compound),
            },
            Strided {
                items: &mut force[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut torque[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut self.tallies[..],
                per_part: 1,
            },
        );
        type Data<'a> = (
            Ranges<'a, f64>,
            Ranges<'a, u32>,
            Ranges<'a, u16>,
            Strided<'a, [u32; 2]>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, Tally<f64>>,
        );
        self.device.run(
            parts(n),
            data,
            |part, (history, entry, grain, count, force, torque, tally): Data| {
                if !which.means(border, part) {
                    return;
                }
                let (first, end) = part_range(part, n);
                force.items.fill(0.0);
                torque.items.fill(0.0);
                let rows = PartRows {
                    first,
                    end,
                    row,
                    neighbors,
                    is_once,
                };
                let out = PartOut {
                    history: history.items,
                    force: force.items,
                    torque: torque.items,
                };
                if is_compound {
                    tally.items[0] = compound_contacts_of_part::<f64>(&grains, &rows, limits, out);
                    return;
                }
                let shortlist = Shortlist {
                    entry: entry.items,
                    grain: grain.items,
                    count: &mut count.items[0],
                };
                let contacts = match kind {
                    OPEN => contacts_of_part::<f64, OPEN>,
                    PERIODIC => contacts_of_part::<f64, PERIODIC>,
                    _ => contacts_of_part::<f64, SHEARED>,
                };
                tally.items[0] = contacts(&grains, &rows, shortlist, margin, limits, out);
            },
        );
    }

    fn press_grains(&mut self, which: Which) {
        let (n, is_listed, border) = (self.fields.len(), self.presses_by_rows(), &self.border.parts[..]);
        let Fields {
            position,
            velocity,
            material,
            force,
            ..
        } = &mut self.fields;
        let (position, velocity, material) = (&position[..], &velocity[..], &material[..]);
        let (cells, pairs, table, materials) = (&self.cells, &self.pairs, &self.table[..], self.materials);
        let overlap_limit = self.settings.overlap_limit;
        let (sides, kind) = (&self.stepping.sides, self.sides);
        let data = (
            Strided {
                items: &mut force[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut self.tallies[..],
                per_part: 1,
            },
        );
        self.device
            .run(parts(n), data, |part, (force, tally): (Strided<f64>, Strided<Tally<f64>>)| {
                if !which.means(border, part) {
                    return;
                }
                let (first, end) = part_range(part, n);
                force.items.fill(0.0);
                let mut all = NO_CONTACT;
                for i in first..end {
                    let one = if is_listed {
                        press_through_row::<f64, f64>(
                            i,
                            i - first,
                            pairs.row[i] as usize,
                            pairs.row[i + 1] as usize,
                            &pairs.neighbors,
                            position,
                            velocity,
                            material,
                            materials,
                            table,
                            overlap_limit,
                            force.items,
                            sides,
                            kind,
                        )
                    } else {
                        press_through_cells::<f64, f64>(
                            i,
                            i - first,
                            position,
                            velocity,
                            material,
                            materials,
                            table,
                            &cells.grids,
                            &cells.shapes,
                            cells.grids(),
                            &cells.first,
                            cells.skin,
                            overlap_limit,
                            force.items,
                            sides,
                            kind,
                        )
                    };
                    all = sum(all, &one);
                }
                tally.items[0] = all;
            });
    }

    /// Forces between grains and walls, added to those between grains.
    pub(crate) fn touch_walls(&mut self) {
        if self.walls.list.is_empty() {
            self.wall_tallies.fill(NO_CONTACT);
            return;
        }
        if self.frictional {
            self.touch_wall_parts::<true>()
        } else {
            self.touch_wall_parts::<false>()
        }
    }

    fn touch_wall_parts<const FRICTIONAL: bool>(&mut self) {
        let n = self.fields.len();
        let Fields {
            position,
            velocity,
            spin,
            material,
            force,
            torque,
            ..
        } = &mut self.fields;
        let (position, velocity, spin, material) = (&position[..], &velocity[..], &spin[..], &material[..]);
        let (table, materials, dt) = (&self.table[..], self.materials, self.stepping.dt);
        let Walls {
            elements,
            records,
            row,
            list,
            history,
            touches,
            part_row,
            ..
        } = &mut self.walls;
        let (elements, records, row, list, part_row) = (&elements[..], &records[..], &row[..], &list[..], &part_row[..]);
        let overlap_limit = self.settings.overlap_limit;
        let is_compound = self.is_compound;
        let data = (
            Ranges {
                items: &mut history[..],
                bounds: part_row,
                stride: remembered(is_compound),
            },
            Ranges {
                items: &mut touches[..],
                bounds: part_row,
                stride: TOUCH,
            },
            Strided {
                items: &mut force[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut torque[..],
                per_part: PART * RECORD * usize::from(FRICTIONAL),
            },
            Strided {
                items: &mut self.wall_tallies[..],
                per_part: 1,
            },
        );
        type Data<'a> = (
            Ranges<'a, f64>,
            Ranges<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, Tally<f64>>,
        );
        self.device
            .run(parts(n), data, |part, (history, touches, force, torque, tally): Data| {
                let (first, end) = part_range(part, n);
                let base = row[first] as usize;
                let mut all = NO_CONTACT;
                for i in first..end {
                    let later = (i + WALLS_AHEAD).min(end - 1);
                    if row[later] < row[later + 1] {
                        for numbers in [position, velocity, spin] {
                            prefetch(numbers, later);
                        }
                        prefetch(force.items, later - first);
                        prefetch(torque.items, later - first);
                    }
                    if row[i] == row[i + 1] {
                        continue;
                    }
                    let one = walls_of::<f64, f64>(
                        i,
                        i - first,
                        row[i] as usize,
                        row[i + 1] as usize,
                        list,
                        base,
                        elements,
                        records,
                        history.items,
                        touches.items,
                        position,
                        velocity,
                        spin,
                        material,
                        materials,
                        table,
                        force.items,
                        torque.items,
                        dt,
                        overlap_limit,
                        FRICTIONAL,
                        is_compound,
                    );
                    all = sum(all, &one);
                }
                tally.items[0] = all;
            });
    }
}
