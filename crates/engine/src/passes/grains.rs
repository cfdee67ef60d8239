//! Motion of grains and walls, and their contacts: each pass runs a sweep over all parts.

use crate::border::PartSelection;
use crate::fields::{Fields, PART, one_each, part_range, parts};
use crate::measure::{NO_CONTACT, sum};
use crate::populations::Populations;
use crate::search::{Histories, PartShortlist};
use crate::walls::Walls;
use crate::world::ForceAssembly;
use seixo_device::{Ranges, Strided};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::bonds::BondPowerSums;
use seixo_sweeps::contact::{PowerSums, normal_contacts_in_cells};
use seixo_sweeps::extended_contact::extended_contacts_of_part;
use seixo_sweeps::grain::Grain;
use seixo_sweeps::lanes::contacts_of_part;
use seixo_sweeps::layout::{RECORD, WALL_CONTACT, add, history_stride, load};
use seixo_sweeps::motion::{AT_REST, MotionReport, advance};
use seixo_sweeps::motion_lanes::{MovingGrains, advance_part};
use seixo_sweeps::part::{GrainsView, Limits, PartOut, PartRows};
use seixo_sweeps::periodic::{OPEN, PERIODIC, SHEARED, STRETCHED};
use seixo_sweeps::rows::normal_contacts_in_row;
use seixo_sweeps::simd::prefetch;
use seixo_sweeps::wall::walls_of;
use seixo_sweeps::wall_lanes::{WALLS_AHEAD, WallOut, WallRows, wall_contacts_of_part};

/// Frictional contacts of the pairs in the shortlist of a part, which is first rebuilt if there is a `margin` \[m\]. `out` has forces and torques; the
/// histories are those of the shortlist, whose precision is that of the laws.
fn shortlisted_contacts<const SIDES: u32>(
    grains: &GrainsView<f64>,
    rows: &PartRows,
    shortlist: &mut PartShortlist,
    margin: Option<f64>,
    limits: Limits<f64>,
    out: PartOut<f64>,
) -> PowerSums<f64> {
    if let Some(margin) = margin {
        shortlist.rebuild::<SIDES>(grains, rows, margin);
    }
    let (pairs, histories) = shortlist.pairs();
    let PartOut { force, torque, .. } = out;
    match histories {
        Histories::Double(history) => {
            let history = &mut history[..];
            contacts_of_part::<f64, f64, SIDES>(grains, pairs, limits, PartOut { history, force, torque })
        }
        Histories::Single(history) => {
            let history = &mut history[..];
            let limits = Limits {
                dt: limits.dt as f32,
                overlap: limits.overlap as f32,
            };
            contacts_of_part::<f64, f32, SIDES>(grains, pairs, limits, PartOut { history, force, torque })
        }
    }
}

impl Populations {
    /// Advances the time of a simulation without grains.
    pub(crate) fn pass_time(&mut self, steps: u64) {
        self.context.steps += steps;
        self.ledger.last_power_sums = NO_CONTACT;
        if let Some(network) = &mut self.bonds {
            network.last = BondPowerSums::default();
        }
        self.move_walls_by(steps);
        self.move_prescribed_bodies(false);
    }

    /// Kick and drift: integrates velocities and positions of all grains over one step.
    pub(crate) fn advance_grains(&mut self) {
        self.context.steps += 1;
        match (
            self.context.materials.has_friction,
            self.bodies.are_present || self.grains.has_ghosts || self.has_polyhedra(),
        ) {
            (false, false) => self.advance_parts::<false, false>(),
            (false, true) => self.advance_parts::<false, true>(),
            (true, false) => self.advance_parts::<true, false>(),
            (true, true) => self.advance_parts::<true, true>(),
        }
    }

    /// With `MIXED`, others move some of the grains, or rotate them.
    fn advance_parts<const FRICTIONAL: bool, const MIXED: bool>(&mut self) {
        let n = self.grains.fields.len();
        let Fields {
            member,
            shape,
            position,
            velocity,
            spin,
            half_velocity,
            half_spin,
            force,
            torque,
            reference,
            ..
        } = &mut self.grains.fields;
        let (member, shape, stepping) = (&member[..], &shape[..], &self.context.stepping);
        let (force, torque, reference) = (&force[..], &torque[..], &reference[..]);
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
                items: &mut self.grains.motion_reports[..],
                per_part: 1,
            },
        );
        type Data<'a> = (
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, MotionReport<f64>>,
        );
        self.context.device.run(
            parts(n),
            data,
            |part, (position, velocity, spin, half_velocity, half_spin, moves): Data| {
                let (first, end) = part_range(part, n);
                let torque = if FRICTIONAL { &torque[first * RECORD..] } else { &[] };
                let (force, reference) = (&force[first * RECORD..], &reference[first * 3..]);
                if !MIXED {
                    let grains = MovingGrains {
                        position: position.items,
                        velocity: velocity.items,
                        spin: spin.items,
                        half_velocity: half_velocity.items,
                        half_spin: half_spin.items,
                        force,
                        torque,
                        reference,
                    };
                    moves.items[0] = advance_part(grains, stepping, FRICTIONAL);
                    return;
                }
                let mut all = AT_REST;
                for i in 0..end - first {
                    if member.get(first + i).is_some_and(|&m| m != FREE) {
                        continue;
                    }
                    let is_polyhedral = shape.get(first + i).is_some_and(|&shape| shape > 0);
                    let moved = advance(
                        i,
                        position.items,
                        velocity.items,
                        spin.items,
                        half_velocity.items,
                        half_spin.items,
                        force,
                        torque,
                        reference,
                        stepping,
                        FRICTIONAL && !is_polyhedral,
                    );
                    all.flags |= moved.flags;
                    all.stride_square = all.stride_square.max(moved.stride_square);
                    all.damping_work += moved.damping_work;
                }
                moves.items[0] = all;
            },
        );
    }

    /// Moves the walls to their positions at the new time; servos use the loads of the previous step.
    pub(crate) fn move_walls(&mut self) {
        self.move_walls_by(1);
    }

    /// Like [`Populations::move_walls`], `steps` steps after the last call; servos take each of them.
    pub(crate) fn move_walls_by(&mut self, steps: u64) {
        if self.walls.has_servos() {
            let dt = self.context.stepping.dt;
            for step in self.context.steps - steps + 1..=self.context.steps {
                self.walls.control(step as f64 * dt, dt);
            }
        }
        if self.walls.has_moving() {
            self.walls.place(self.context.time(), false);
        }
    }

    /// Computes forces between grains, except those computed before.
    pub(crate) fn contact_forces(&mut self) {
        let which = if std::mem::take(&mut self.grains.border.inner_is_done) {
            PartSelection::AtBorder
        } else {
            PartSelection::All
        };
        self.contact_forces_of(which);
    }

    /// Computes forces between grains in the parts without ghost particles, which do not need the halo exchange.
    pub(crate) fn inner_contact_forces(&mut self) {
        self.grains.border.inner_is_done = true;
        self.contact_forces_of(PartSelection::Inner);
    }

    fn contact_forces_of(&mut self, which: PartSelection) {
        self.place_sides();
        if self.context.settings.assembly != ForceAssembly::Fused {
            return self.contacts_by_list();
        }
        if self.context.materials.has_friction {
            self.frictional_contacts(which);
        } else {
            self.normal_contacts(which);
        }
    }

    /// Length by which two grains approached each other in the last step at most \[m\]: by their own motion, and across sides that slide by that of
    /// the images, too.
    fn approach_in_a_step(&self) -> f64 {
        let strides = self.grains.motion_reports.iter().map(|moved| moved.stride_square);
        2.0 * strides.fold(0.0, f64::max).sqrt() + self.slid_in_a_step()
    }

    fn frictional_contacts(&mut self, which: PartSelection) {
        let (n, is_once) = (self.grains.fields.len(), self.lists_once());
        let approach = self.approach_in_a_step();
        let margin = match which {
            PartSelection::AtBorder => self.grains.border.margin,
            // The lengths of a stretched cell change in a pass of their own. So there, all pairs of the list are tested.
            _ if self.context.sides == STRETCHED => Some(self.grains.cells.skin),
            _ => self.grains.pairs.shortlist.margin_after(approach, self.grains.cells.skin),
        };
        self.grains.border.margin = margin;
        let border = &self.grains.border.parts[..];
        let Fields {
            position,
            velocity,
            spin,
            material,
            force,
            torque,
            ..
        } = &mut self.grains.fields;
        let grains = GrainsView {
            position: &position[..],
            velocity: &velocity[..],
            spin: &spin[..],
            material: &material[..],
            materials: self.context.materials.count,
            table: &self.context.materials.coefficients[..],
            is_uniform: self.context.materials.is_uniform,
            sides: &self.context.stepping.sides,
        };
        let (row, neighbors) = (&self.grains.pairs.row[..], &self.grains.pairs.neighbors[..]);
        let limits = Limits {
            dt: self.context.stepping.dt,
            overlap: self.context.settings.overlap_limit,
        };
        let (is_extended, kind) = (self.context.materials.are_extended, self.context.sides);
        let data = (
            Ranges {
                items: &mut self.grains.pairs.history[..],
                bounds: &self.grains.pairs.part_row,
                stride: history_stride(is_extended),
            },
            one_each(&mut self.grains.pairs.shortlist.parts),
            Strided {
                items: &mut force[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut torque[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut self.grains.contact_power_sums[..],
                per_part: 1,
            },
        );
        type Data<'a> = (
            Ranges<'a, f64>,
            Strided<'a, PartShortlist>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, PowerSums<f64>>,
        );
        self.context
            .device
            .run(parts(n), data, |part, (history, shortlist, force, torque, power_sums): Data| {
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
                if is_extended {
                    let contacts = match kind {
                        STRETCHED => extended_contacts_of_part::<f64, STRETCHED>,
                        _ => extended_contacts_of_part::<f64, SHEARED>,
                    };
                    power_sums.items[0] = contacts(&grains, &rows, limits, out);
                    return;
                }
                let contacts = match kind {
                    OPEN => shortlisted_contacts::<OPEN>,
                    PERIODIC => shortlisted_contacts::<PERIODIC>,
                    STRETCHED => shortlisted_contacts::<STRETCHED>,
                    _ => shortlisted_contacts::<SHEARED>,
                };
                power_sums.items[0] = contacts(&grains, &rows, &mut shortlist.items[0], margin, limits, out);
            });
    }

    fn normal_contacts(&mut self, which: PartSelection) {
        let (n, is_listed, border) = (self.grains.fields.len(), self.uses_row_contacts(), &self.grains.border.parts[..]);
        let Fields {
            position,
            velocity,
            material,
            force,
            ..
        } = &mut self.grains.fields;
        let (position, velocity, material) = (&position[..], &velocity[..], &material[..]);
        let (cells, pairs, table, materials) = (
            &self.grains.cells,
            &self.grains.pairs,
            &self.context.materials.coefficients[..],
            self.context.materials.count,
        );
        let overlap_limit = self.context.settings.overlap_limit;
        let (sides, kind) = (&self.context.stepping.sides, self.context.sides);
        let data = (
            Strided {
                items: &mut force[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut self.grains.contact_power_sums[..],
                per_part: 1,
            },
        );
        self.context.device.run(
            parts(n),
            data,
            |part, (force, power_sums): (Strided<f64>, Strided<PowerSums<f64>>)| {
                if !which.means(border, part) {
                    return;
                }
                let (first, end) = part_range(part, n);
                force.items.fill(0.0);
                let mut all = NO_CONTACT;
                for i in first..end {
                    let one = if is_listed {
                        normal_contacts_in_row::<f64, f64>(
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
                        normal_contacts_in_cells::<f64, f64>(
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
                power_sums.items[0] = all;
            },
        );
    }

    /// Computes forces between grains and walls, and adds them to those between grains.
    pub(crate) fn wall_contacts(&mut self) {
        if self.walls.list.is_empty() {
            self.grains.wall_power_sums.fill(NO_CONTACT);
            return;
        }
        if self.context.materials.has_friction {
            self.wall_contacts_of_parts::<true>()
        } else {
            self.wall_contacts_of_parts::<false>()
        }
        self.wall_contacts_of_polyhedra();
    }

    fn wall_contacts_of_parts<const FRICTIONAL: bool>(&mut self) {
        let n = self.grains.fields.len();
        let Fields {
            position,
            velocity,
            spin,
            material,
            shape,
            force,
            torque,
            ..
        } = &mut self.grains.fields;
        let (position, velocity, spin, material) = (&position[..], &velocity[..], &spin[..], &material[..]);
        let shape = &shape[..];
        let (table, materials, dt) = (
            &self.context.materials.coefficients[..],
            self.context.materials.count,
            self.context.stepping.dt,
        );
        let Walls {
            elements,
            records,
            row,
            list,
            history,
            wall_contacts,
            part_row,
            ..
        } = &mut self.walls;
        let (elements, records, row, list, part_row) = (&elements[..], &records[..], &row[..], &list[..], &part_row[..]);
        let overlap_limit = self.context.settings.overlap_limit;
        let is_extended = self.context.materials.are_extended;
        let grains = GrainsView {
            position,
            velocity,
            spin,
            material,
            materials,
            table,
            is_uniform: self.context.materials.is_uniform,
            sides: &self.context.stepping.sides,
        };
        let data = (
            Ranges {
                items: &mut history[..],
                bounds: part_row,
                stride: history_stride(is_extended),
            },
            Ranges {
                items: &mut wall_contacts[..],
                bounds: part_row,
                stride: WALL_CONTACT,
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
                items: &mut self.grains.wall_power_sums[..],
                per_part: 1,
            },
        );
        type Data<'a> = (
            Ranges<'a, f64>,
            Ranges<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, f64>,
            Strided<'a, PowerSums<f64>>,
        );
        self.context
            .device
            .run(parts(n), data, |part, (history, wall_contacts, force, torque, power_sums): Data| {
                let (first, end) = part_range(part, n);
                let base = row[first] as usize;
                let mut all = NO_CONTACT;
                // Most grains are far from walls, in no order that a processor could predict. So those near walls are collected without a branch.
                let (mut near, mut count) = ([0u16; PART], 0);
                for (slot, bounds) in row[first..=end].windows(2).enumerate() {
                    near[count] = slot as u16;
                    let is_sphere = shape.get(first + slot).is_none_or(|&shape| shape == 0);
                    count += usize::from(bounds[0] < bounds[1] && is_sphere);
                }
                let near = &near[..count];
                if FRICTIONAL && !is_extended {
                    let rows = WallRows {
                        first,
                        row,
                        list,
                        elements,
                        walls: records,
                    };
                    let limits = Limits {
                        dt,
                        overlap: overlap_limit,
                    };
                    let out = WallOut {
                        history: history.items,
                        wall_contacts: wall_contacts.items,
                        force: force.items,
                        torque: torque.items,
                    };
                    power_sums.items[0] = wall_contacts_of_part(&grains, &rows, near, limits, out);
                    return;
                }
                for (k, &slot) in near.iter().enumerate() {
                    let later = near[(k + WALLS_AHEAD).min(count - 1)] as usize;
                    for numbers in [position, velocity, spin] {
                        prefetch(numbers, first + later);
                    }
                    prefetch(force.items, later);
                    prefetch(torque.items, later);
                    let i = first + slot as usize;
                    let (at, entries) = (i * RECORD, row[i] as usize..row[i + 1] as usize);
                    let grain = Grain::<f64, f64> {
                        position: load::<f64>(position, at),
                        reach: position[at + 3],
                        radius: position[at + 3],
                        velocity: load::<f64>(velocity, at),
                        mass: velocity[at + 3],
                        spin: if FRICTIONAL {
                            load::<f64>(spin, at)
                        } else {
                            Vector3::<f64>::zero()
                        },
                    };
                    let one = walls_of::<f64, f64>(
                        &grain,
                        material[i],
                        entries.start,
                        entries.end,
                        list[entries.start],
                        list,
                        base,
                        elements,
                        records,
                        history.items,
                        wall_contacts.items,
                        materials,
                        table,
                        dt,
                        overlap_limit,
                        FRICTIONAL,
                        is_extended,
                    );
                    let own = (i - first) * RECORD;
                    add::<f64>(force.items, own, &one.force);
                    force.items[own + 3] += one.contacts;
                    if FRICTIONAL {
                        add::<f64>(torque.items, own, &one.torque);
                    }
                    all = sum(all, &one.powers);
                }
                power_sums.items[0] = all;
            });
    }
}
