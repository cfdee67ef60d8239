//! Cells that are rebuilt at every step, for smooth grains and a skin of zero: the normal-only path of \[PUC-Rio 2009\]. There are no neighbor lists,
//! only the grains of each cell, and no step waits for the host.

use super::{GpuGrains, Number, stepping};
use crate::populations::Populations;
use crate::world::ForceAssembly;
use seixo_device::gpu::{Bins, Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::bins::{forces_and_advance, stored_in_bins};
use seixo_sweeps::kernels::step::StepKernelConfig;
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::motion::StepParameters;
use seixo_sweeps::neighbors::SearchStructure;
use seixo_sweeps::periodic::OPEN;

/// The grains of each cell.
pub(super) struct BinnedGrains<C> {
    /// Indices of the grains, by cell.
    items: Buffer<u32>,
    /// Position records of the grains, in that order.
    position: Buffer<C>,
    bins: Bins,
    /// Number of cells in use.
    cells: usize,
}

impl<C: Number> BinnedGrains<C> {
    /// Room for n grains, if the simulation uses cells at every step and its grains have no contact histories.
    pub(super) fn new(gpu: &Gpu, host: &Populations, n: usize) -> Result<Option<BinnedGrains<C>>, GpuError> {
        // Other searches need lists; so do periodic sides, heat, loads, Gear's methods and ordered rows.
        let has_cells = host.grains.cells.lookup() == SearchStructure::Grids
            && host.context.sides == OPEN
            && !host.diffuses()
            && !host.has_external_loads();
        let has_cells = has_cells && !host.is_geared() && !host.context.settings.decomposition_invariant;
        let is_asked = host.grains.cells.skin == 0.0
            && !host.context.materials.has_friction
            && has_cells
            && host.context.settings.assembly == ForceAssembly::Fused;
        if !is_asked {
            return Ok(None);
        }
        Ok(Some(BinnedGrains {
            items: gpu.buffer(n, "cells")?,
            position: gpu.buffer(RECORD * n, "positions by cell")?,
            bins: Bins::new(gpu, n, 1)?,
            cells: 0,
        }))
    }

    /// Number of cells.
    pub(super) fn cells(&self) -> usize {
        self.cells
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Sorts the grains into cells of the grids that were just laid out.
    pub(super) fn bin_grains(&mut self, host: &Populations, cells: usize) -> Result<(), GpuError> {
        let Some(binned) = &mut self.binned else {
            return Ok(());
        };
        if binned.bins.keys() < cells {
            binned.bins = Bins::new(&self.gpu, binned.items.len(), cells + cells / 4)?;
        }
        binned.cells = cells;
        self.find_cells(host, cells);
        self.bin();
        Ok(())
    }

    /// Sorts the grains into the cells of their keys, which are those of the current positions.
    pub(super) fn bin(&self) {
        if let Some(BinnedGrains {
            items,
            position,
            bins,
            cells,
        }) = &self.binned
        {
            bins.fill(&self.gpu, &self.key, self.n, *cells, items, &self.cells.first);
            self.gpu.gather(&self.position[self.now], items, self.n, RECORD, position);
        }
    }

    /// As [`GpuGrains::forces_and_motion`], with cells.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    pub(super) fn push_and_advance(&self, binned: &BinnedGrains<C>, host: &Populations, ahead: u32, parity: u32, plan: StepKernelConfig) {
        let adds_to_ledger = plan.damped || !plan.advance;
        let (count, dim) = if adds_to_ledger {
            units(self.n)
        } else {
            units_in_cubes_of(128, self.n)
        };
        // Only the list of walls can get out of date.
        let listed = StepParameters {
            skin_exceeded_square: (0.5 * host.walls.skin).powi(2),
            ..host.context.stepping
        };
        let strides = self.stride_bounds_within(host, ahead, listed.skin_exceeded_square);
        // SAFETY: threads beyond n do nothing. Cells in use have a first index, and there is one more. Items are indices below n. All fields have n
        // records. Flags have all their words, and powers two records for every block.
        unsafe {
            forces_and_advance::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                self.cells.grids.argument(),
                self.cells.shapes.argument(),
                self.cells.first.argument(),
                binned.items.argument(),
                binned.position.records(),
                self.key.argument(),
                self.material.argument(),
                self.table.argument(),
                self.walls.as_ref().map_or(&self.no_rows, |near| &near.row).argument(),
                self.position[self.now].records(),
                self.velocity[self.now].records(),
                self.half_velocity.records(),
                self.half_spin.records(),
                self.force.records(),
                self.torque.records(),
                self.reference.records(),
                self.position[self.now ^ 1].records(),
                self.velocity[self.now ^ 1].records(),
                self.spin[self.now ^ 1].records(),
                self.flags.argument(),
                self.power.records(),
                stepping::<C, R>(&listed),
                R::of(host.context.settings.overlap_limit),
                R::of(strides.widest_square),
                R::of(strides.square),
                strides.level,
                host.grains.cells.grids() as u32,
                self.n as u32,
                host.context.materials.count,
                parity,
                plan,
            );
        }
    }

    /// Adds the energy in contacts to the energies of the blocks.
    pub(super) fn add_energies_of_bins(&self, host: &Populations) {
        let Some(binned) = &self.binned else {
            return;
        };
        let (count, dim) = units(self.n);
        stored_in_bins::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.cells.grids.argument(),
            self.cells.shapes.argument(),
            self.cells.first.argument(),
            binned.items.argument(),
            self.position[self.now].records(),
            self.material.argument(),
            self.table.argument(),
            self.energy.records(),
            host.grains.cells.grids() as u32,
            self.n as u32,
            host.context.materials.count,
        );
    }
}
