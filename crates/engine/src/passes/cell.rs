//! Strain of a periodic cell whose lengths are controlled: its stress, and its motion with that of its grains.

use crate::fields::{Fields, PART, part_range, parts};
use crate::guard::StepError;
use crate::periodic::check_periods;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::state::{Sections, State};
use crate::world::{Vec3, array, vector};
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_sweeps::layout::{RECORD, add, load};
use seixo_sweeps::periodic::by_components;

impl Populations {
    /// Whether the lengths of the cell are controlled.
    pub(crate) fn has_controlled_cell(&self) -> bool {
        self.cell.is_some()
    }

    /// Why the grains of this cell cannot be on a GPU, if they cannot.
    pub(crate) fn why_cell_on_host(&self) -> Option<String> {
        self.cell
            .as_ref()
            .map(|_| "the lengths of the periodic cell are controlled, and no GPU measures its stress in each step".to_owned())
    }

    /// Computes the virial Σ f l of the contacts by axis, of their forces f and branches l. With j at x_j + c L, c sides away, l = x_i − x_j − c L. So the
    /// sum is that of the force on each grain times its coordinate, less L times the sum of f c, which the contacts gave. The force on a grain must be
    /// that of contacts alone.
    pub(crate) fn measure_cell_stress(&mut self) {
        if self.cell.is_none() {
            return;
        }
        let n = self.grains.fields.len();
        let Fields { position, force, .. } = &self.grains.fields;
        let mut sums = vec![Vector3::<f64>::zero(); parts(n)];
        let data = (Strided {
            items: &mut sums[..],
            per_part: 1,
        },);
        self.context.device.run(parts(n), data, |part, (sum,): (Strided<Vector3<f64>>,)| {
            let (first, end) = part_range(part, n);
            sum.items[0] = (first..end).fold(Vector3::<f64>::zero(), |all, i| {
                let of_grain = by_components::<f64>(&load(force, i * RECORD), &load(position, i * RECORD));
                all.plus(&of_grain)
            });
        });
        // In the order of the parts, whatever threads computed them.
        let of_grains = sums.iter().fold(Vector3::<f64>::zero(), |all, sum| all.plus(sum));
        let power_sums = self.grains.contact_power_sums.iter();
        let across = power_sums.fold(Vector3::<f64>::zero(), |all, of_part| all.plus(&of_part.across));
        let virial = of_grains.minus(&by_components::<f64>(&across, &self.lengths_of_sides()));
        if let Some(cell) = &mut self.cell {
            (cell.virial, cell.across) = (array(&virial), array(&across));
        }
    }

    /// Lengths of the cell; zero along open axes \[m\].
    fn lengths_of_sides(&self) -> Vector3<f64> {
        let sides = &self.context.stepping.sides;
        let length = array(&sides.length);
        vector([0, 1, 2].map(|axis| if sides.is_open(axis) { 0.0 } else { length[axis] }))
    }

    /// Power of the sides on the grains \[W\]: the force of each image times its velocity. Zero without grains, whose forces are not measured.
    pub(crate) fn power_of_cell(&self) -> f64 {
        let cell = self.cell.as_ref().filter(|_| !self.has_no_grains());
        let across = cell.map_or([0.0; 3], |cell| cell.across);
        vector(across).dot(&self.context.stepping.sides.slide)
    }

    /// Sets the rates of change of the lengths, changes the velocities of the grains with them, and moves the sides over one step.
    ///
    /// # Errors
    /// If the cell becomes too short for periodic sides.
    pub(crate) fn move_cell(&mut self) -> Result<(), StepError> {
        let (Some(domain), length) = (self.context.domain, self.lengths_of_sides()) else {
            return Ok(());
        };
        let Some(cell) = &mut self.cell else { return Ok(()) };
        let lengths = array(&length);
        let volume = (0..3).fold(1.0, |volume, axis| {
            let of_open = domain.max[axis] - domain.min[axis];
            volume * if domain.periodic[axis] { lengths[axis] } else { of_open }
        });
        let before = vector(cell.speed);
        cell.steer(lengths, volume);
        let now = vector(cell.speed);
        if now != before {
            let power = self.power_of_cell();
            self.strain_velocities(&now.minus(&before), &length);
            self.context.stepping.sides.slide = now;
            // The power of this step is that of the new rates.
            self.ledger.last_power_sums.wall_power += self.power_of_cell() - power;
        }
        if now == Vector3::zero() {
            return Ok(());
        }
        let dt = self.context.stepping.dt;
        self.set_lengths_of_cell(array(&length.plus(&now.times(dt))));
        let reach = 2.0 * self.grains.cells.largest_radius() + self.grains.cells.skin;
        let domain = self.context.domain.unwrap_or(domain);
        check_periods(&domain, reach).map_err(|refusal| self.failed(refusal.to_string()))
    }

    /// Moves the upper sides to these distances from the lower ones \[m\], along periodic axes.
    fn set_lengths_of_cell(&mut self, length: Vec3) {
        let sides = self.context.stepping.sides;
        let mut all = array(&sides.length);
        for axis in (0..3).filter(|&axis| !sides.is_open(axis)) {
            all[axis] = length[axis];
            if let Some(domain) = &mut self.context.domain {
                domain.max[axis] = domain.min[axis] + length[axis];
            }
        }
        self.context.stepping.sides.length = vector(all);
    }

    /// Adds to the velocity of each grain the share of its height of this change of the velocities of the upper sides \[m/s\], and its work to the
    /// ledger.
    fn strain_velocities(&mut self, change: &Vector3<f64>, length: &Vector3<f64>) {
        let (change, length) = (array(change), array(length));
        let per_height = vector([0, 1, 2].map(|axis| if length[axis] > 0.0 { change[axis] / length[axis] } else { 0.0 }));
        let low = self.context.stepping.sides.low;
        let kick_of = |position: &[f64], i: usize| by_components::<f64>(&per_height, &load::<f64>(position, i * RECORD).minus(&low));
        let n = self.grains.fields.len();
        let mut work = vec![0.0; parts(n)];
        let data = (Strided {
            items: &mut work[..],
            per_part: 1,
        },);
        self.context.device.run(parts(n), data, |part, (work,): (Strided<f64>,)| {
            let (first, end) = part_range(part, n);
            work.items[0] = (first..end).fold(0.0, |sum, i| {
                let (velocity, _) = self.velocities(i, &[]);
                let kick = kick_of(&self.grains.fields.position, i);
                let mean = velocity.plus(&kick.times(0.5));
                sum + self.grains.fields.velocity[i * RECORD + 3] * kick.dot(&mean)
            });
        });
        self.ledger.work.wall += work.iter().sum::<f64>();
        let Fields {
            position,
            velocity,
            half_velocity,
            ..
        } = &mut self.grains.fields;
        let position = &position[..];
        let data = (
            Strided {
                items: &mut velocity[..],
                per_part: PART * RECORD,
            },
            Strided {
                items: &mut half_velocity[..],
                per_part: PART * 3,
            },
        );
        self.context
            .device
            .run(parts(n), data, |part, (velocity, half_velocity): (Strided<f64>, Strided<f64>)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    let kick = kick_of(position, i);
                    add(velocity.items, (i - first) * RECORD, &kick);
                    add(half_velocity.items, (i - first) * 3, &kick);
                }
            });
    }

    /// Saves the cell, if its lengths are controlled.
    pub(crate) fn save_cell(&self, to: &mut dyn Sections) {
        if let Some(cell) = &self.cell {
            let lengths = [self.context.stepping.sides.length, self.grains.cells.sides.length];
            cell.save(lengths.map(|length| array(&length)), to);
        }
    }

    /// Restores a saved cell, with the lengths that it had at the rebuild of the lists.
    ///
    /// # Errors
    /// As [`crate::cell_control::CellState::restore`].
    pub(crate) fn restore_cell(&mut self, state: &State) -> Result<(), WorldError> {
        let Some(cell) = &mut self.cell else { return Ok(()) };
        let [now, listed] = cell.restore(state)?;
        self.context.stepping.sides.slide = vector(cell.speed);
        self.set_lengths_of_cell(now);
        self.grains.cells.sides.length = vector(listed);
        Ok(())
    }
}
