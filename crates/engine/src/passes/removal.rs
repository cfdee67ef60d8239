//! Removal of grains that left the domain from the present lists, without a search.
//!
//! Out of a silo, grains leave every few steps. A rebuild for each of them would take more time than those for motion. What is left of the lists is
//! what a search finds among the other grains, in the same cells and at the positions of the last rebuild. A resumed run lists its grains in this way.

use crate::checkpoint::{misfit, numbers};
use crate::fields::{Sorted, computed, parts};
use crate::grains::GrainState;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::search::{Extent, Remaining};
use crate::state::{Column, Sections, State};
use crate::world::LeavingPolicy;
use seixo_device::Cpu;
use seixo_sweeps::layout::{RECORD, history_stride};

/// Section of what the grids were laid out for.
const EXTENT: &str = "lists/extent";

impl Populations {
    /// Whether the present lists are kept when grains leave.
    ///
    /// Bodies, bonds, polyhedral grains and fluids have tables of their own with indices of grains, and hash tables are filled at a rebuild only. With
    /// `decomposition_invariant`, lists are rebuilt in the same steps as in domains, where a grain may have ghosts.
    pub(crate) fn keeps_lists(&self) -> bool {
        // While a GPU takes a step of incompressible fluids beside the cores, the flow is not here.
        let has_fluids = self.flows() || self.context.is_heterogeneous();
        let has_others = self.bodies.are_present || self.is_bonded() || self.has_polyhedra() || has_fluids;
        let are_rebuilt = self.grains_on_gpu() || self.grains.cells.tables.is_some() || self.context.settings.decomposition_invariant;
        self.leaving() == LeavingPolicy::Delete && !has_others && !are_rebuilt
    }

    /// Removes grains that left from all fields and lists. The skin stays used up as far as it is.
    pub(crate) fn remove_left_from_lists(&mut self) {
        self.remove_grain_energy();
        let is_outside = |populations: &Populations, i: usize| populations.has_left(&populations.grains.fields.position[i * RECORD..]);
        self.remove_leaving_scalars(is_outside);
        let populations = &*self;
        let remaining = Remaining::of(populations.grains.fields.len(), |i| !is_outside(populations, i));
        let n = remaining.count();
        let (has_rows, is_once) = (self.lists_pairs(), self.lists_once());
        let numbers = history_stride(self.context.materials.are_extended);
        let device: &Cpu = &self.context.device;
        let GrainState { fields, cells, pairs, .. } = &mut self.grains;
        fields.reorder(device, &remaining.old_of);
        cells.remove_grains(&remaining);
        if has_rows {
            let old = self.context.materials.has_friction.then(|| pairs.with_histories(device, numbers));
            let listed_at = computed(device, RECORD * n, |k| match k % RECORD {
                3 => fields.position[k],
                axis => fields.reference[3 * (k / RECORD) + axis],
            });
            let index = cells.index();
            if is_once {
                pairs.remove_grains::<true>(device, &remaining, &index, &listed_at);
            } else {
                pairs.remove_grains::<false>(device, &remaining, &index, &listed_at);
            }
            if let Some(old) = old {
                pairs.take_over(device, &remaining.old_of, &old, numbers);
            }
        }
        self.walls.remove_grains(&remaining);
        self.grains.motion_reports.truncate(parts(n));
        self.grains.contact_power_sums.truncate(parts(n));
        self.grains.wall_power_sums.truncate(parts(n));
    }

    /// Saves what the grids were laid out for, if grains were removed since.
    pub(crate) fn save_extent(&self, to: &mut dyn Sections) {
        let Extent { low, high, grains } = self.grains.cells.extent;
        if self.keeps_lists() && grains != self.grains.fields.len() {
            to.put(EXTENT, Column::F64([&low[..], &high[..], &[grains as f64]].concat()));
        }
    }

    /// Restores what the grids of the next lists are laid out for. Without a saved extent, they follow from the grains.
    pub(crate) fn restore_extent(&mut self, state: &State) -> Result<(), WorldError> {
        if state.get(EXTENT).is_none() {
            return Ok(());
        }
        let saved = numbers(state, EXTENT, Some(7))?;
        let corner = |at: usize| [saved[at], saved[at + 1], saved[at + 2]];
        let (low, high, grains) = (corner(0), corner(3), saved[6]);
        let is_box = saved.iter().all(|number| number.is_finite()) && (0..3).all(|axis| low[axis] <= high[axis]);
        let least = self.grains.fields.len() as f64;
        let is_count = (least..=f64::from(u32::MAX)).contains(&grains) && grains.fract() == 0.0;
        if !is_box || !is_count {
            return Err(misfit("its grains were sorted in a box in which they cannot have been"));
        }
        self.grains.cells.given_extent = Some(Extent {
            low,
            high,
            grains: grains as usize,
        });
        Ok(())
    }
}
