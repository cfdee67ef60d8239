//! Cells made anew at every step, for smooth grains and a skin of zero: the normal-only path of \[PUC-Rio 2009\]. Nothing is listed but which grain is in
//! which cell, and no step waits for the host.

use super::lists::UNBOUNDED;
use super::{Number, OnGpu, numbers, stepping};
use crate::simulation::Simulation;
use crate::world::Assembly;
use seixo_device::gpu::{Bins, Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::bins::{push_and_advance, stored_in_bins};
use seixo_sweeps::kernels::step::Plan;
use seixo_sweeps::motion::Stepping;
use seixo_sweeps::neighbors::Lookup;
use seixo_sweeps::sides::OPEN;
use seixo_sweeps::views::RECORD;

/// Which grain is in which cell.
pub(super) struct Binned<C> {
    /// Places of grains, by cell.
    items: Buffer<u32>,
    /// Their records of position in that order.
    position: Buffer<C>,
    bins: Bins,
    /// Cells that are in use.
    cells: usize,
}

impl<C: Number> Binned<C> {
    /// Room for n grains, where a simulation asks for cells at every step and its grains have nothing to remember.
    pub(super) fn new(gpu: &Gpu, host: &Simulation, n: usize) -> Result<Option<Binned<C>>, GpuError> {
        // Other searches make lists, as periodic sides, heat, loads, Gear's methods and rows in an order do.
        let has_cells = host.cells.lookup() == Lookup::Grids && host.sides == OPEN && !host.conducts() && !host.is_driven();
        let has_cells = has_cells && !host.is_geared() && !host.settings.divisible;
        let is_asked = host.cells.skin == 0.0 && !host.frictional && has_cells && host.settings.assembly == Assembly::Fused;
        if !is_asked {
            return Ok(None);
        }
        Ok(Some(Binned {
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

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Puts the grains into cells of the grids just laid out.
    pub(super) fn bin_anew(&mut self, host: &Simulation, cells: usize) -> Result<(), GpuError> {
        let Some(binned) = &mut self.binned else {
            return Ok(());
        };
        if binned.bins.keys() < cells {
            binned.bins = Bins::new(&self.gpu, binned.items.len(), cells + cells / 4)?;
        }
        binned.cells = cells;
        self.gpu.write(&self.cells.domain, &numbers::<C>(UNBOUNDED.concat()));
        self.find_cells(host, cells, true);
        self.bin();
        Ok(())
    }

    /// Puts the grains into the cells that their keys name, those of where they are now.
    pub(super) fn bin(&self) {
        if let Some(Binned {
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

    /// As [`OnGpu::touch_and_advance`], through cells.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    pub(super) fn push_and_advance(&self, binned: &Binned<C>, host: &Simulation, parity: u32, plan: Plan) {
        let books = plan.damped || !plan.advance;
        let (count, dim) = if books { units(self.n) } else { units_in_cubes_of(128, self.n) };
        // What becomes stale is the list of walls.
        let listed = Stepping {
            stale_square: (0.5 * host.walls.skin).powi(2),
            ..host.stepping
        };
        // SAFETY: units beyond n do nothing; cells in use have a first place, and one more, items name places below n; all fields have n
        // records; flags have all their words, powers two records for every cube.
        unsafe {
            push_and_advance::launch_unchecked::<R, C>(
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
                R::of(host.settings.overlap_limit),
                host.cells.grids() as u32,
                self.n as u32,
                host.materials,
                parity,
                plan,
            );
        }
    }

    /// Adds what is stored in contacts to the energies of cubes.
    pub(super) fn add_energies_of_bins(&self, host: &Simulation) {
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
            host.cells.grids() as u32,
            self.n as u32,
            host.materials,
        );
    }
}
