//! Diffusion of scalars on the GPU.

use super::neighbor_lists::make_room;
use super::polyhedra::{ConductingShapes, GpuShapes};
use super::{GpuGrains, Number, doubles, numbers, sides};
use crate::diffusion::Diffusion;
use crate::populations::Populations;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::diffusion::{add_wall_flows, content_outside, diffuse};
use seixo_sweeps::layout::RECORD;

/// A scalar of grains and walls. Its values are in the precision of coordinates, since the change in a step is small compared with them.
pub(super) struct GpuDiffusion<C, R> {
    /// Double-buffered, as positions.
    pub values: [Buffer<C>; 2],
    /// Amounts that walls gave since the last download.
    given: Buffer<C>,
    coefficients: Buffer<R>,
    capacities: Buffer<C>,
    walls: Buffer<C>,
    flows: Buffer<C>,
    /// Whether something flows through a wall.
    has_walls: bool,
    /// Kind of the sweep.
    kind: u32,
}

impl<C: Number, R: Number> GpuDiffusion<C, R> {
    /// All scalars of a simulation on the host, with room for this many grains.
    pub fn all_of(gpu: &Gpu, host: &Populations, room: usize) -> Result<Vec<GpuDiffusion<C, R>>, GpuError> {
        let all = host.diffusions.iter();
        all.map(|diffusion| GpuDiffusion::new(gpu, diffusion, &host.grains.fields.scalars[diffusion.scalar], room))
            .collect()
    }

    fn new(gpu: &Gpu, host: &Diffusion, values: &[f64], room: usize) -> Result<GpuDiffusion<C, R>, GpuError> {
        let upload = |values: &[f64]| gpu.upload(&numbers::<C>(values.iter().copied()), "scalars");
        let mut values = numbers::<C>(values.iter().copied());
        values.resize(room, C::of(0.0));
        Ok(GpuDiffusion {
            values: [gpu.upload(&values, "scalars")?, gpu.buffer(room, "scalars")?],
            given: gpu.zeros(host.walls.len(), "scalars of walls")?,
            coefficients: gpu.upload(&numbers::<R>(host.coefficients.iter().copied()), "scalars")?,
            capacities: upload(&host.capacities)?,
            walls: upload(&host.walls)?,
            flows: gpu.buffer(RECORD, "scalars of walls")?,
            has_walls: host.walls.iter().any(|&of_wall| of_wall >= 0.0),
            kind: host.kind(),
        })
    }

    /// Makes room for this many grains.
    pub fn make_room_for(&mut self, gpu: &Gpu, room: usize) -> Result<(), GpuError> {
        self.values.iter_mut().try_for_each(|values| gpu.lengthen(values, room, "scalars"))
    }

    /// Requests the current values of n grains, and the amounts that walls gave.
    pub fn ask(&self, copies: &mut Copies, now: usize, n: usize) -> [Ticket<C>; 2] {
        [copies.add(&self.values[now], 0..n), copies.add(&self.given, 0..self.given.len())]
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Advances all scalars from `ahead` steps after the host's clock to the next step.
    pub(super) fn diffuse(&self, host: &Populations, ahead: u32, parity: u32) {
        for diffusion in &self.diffusions {
            self.diffuse_one(diffusion, host, ahead, parity);
        }
    }

    fn diffuse_one(&self, diffusion: &GpuDiffusion<C, R>, host: &Populations, ahead: u32, parity: u32) {
        // All subdomains of a decomposition-invariant run use one kernel, with or without grains near walls.
        let near = self
            .walls
            .as_ref()
            .filter(|near| diffusion.has_walls && (near.entries > 0 || host.context.settings.decomposition_invariant));
        let listed = near.filter(|near| near.entries > 0);
        let (count, dim) = units(self.n);
        let (no_words, no_numbers) = (&self.no_rows, &diffusion.capacities);
        let no_shapes = ConductingShapes {
            marks: no_words,
            end_first: no_words,
            ends: no_words,
            pairs: no_words,
            pair_loads: self.old_contacts.placeholder(),
            wall_loads: &self.wall_energy,
        };
        let shapes = self.shapes.as_ref().map_or(no_shapes, GpuShapes::conducting);
        diffuse::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.material.argument(),
            diffusion.coefficients.argument(),
            diffusion.capacities.argument(),
            self.position[self.now].argument(),
            self.velocity[self.now].argument(),
            diffusion.values[self.now].argument(),
            diffusion.values[self.now ^ 1].argument(),
            near.map_or(no_words, |near| &near.row).argument(),
            listed.map_or(no_words, |near| &near.list).argument(),
            near.map_or(no_numbers, |near| &near.elements).argument(),
            near.map_or(no_numbers, |near| &near.records).argument(),
            listed.map_or(no_numbers, |near| &near.wall_contacts).argument(),
            diffusion.walls.argument(),
            diffusion.flows.argument(),
            shapes.marks.argument(),
            shapes.end_first.argument(),
            shapes.ends.argument(),
            shapes.pairs.argument(),
            shapes.pair_loads.records(),
            shapes.wall_loads.records(),
            self.flags.argument(),
            sides::<C, R>(&host.sides_ahead(ahead)),
            C::of(host.context.stepping.dt),
            self.n as u32,
            host.context.materials.count,
            parity,
            self.kind.sides,
            near.is_some(),
            self.shapes.is_some(),
            diffusion.kind,
        );
        if let Some(near) = listed {
            let walls = diffusion.given.len();
            let (count, dim) = units(walls * THREADS);
            add_wall_flows::launch::<C>(
                self.gpu.client(),
                count,
                dim,
                diffusion.flows.argument(),
                near.list.argument(),
                near.elements.argument(),
                diffusion.given.argument(),
                self.flags.argument(),
                near.entries as u32,
                walls as u32,
                C::of(host.context.stepping.dt),
                parity,
            );
        }
    }

    /// Puts all scalars into the new order of the grains.
    pub(super) fn reorder_scalars(&self, of_old: usize, of_new: usize) {
        for GpuDiffusion { values, .. } in &self.diffusions {
            self.gpu.gather(&values[of_old], &self.order, self.n, 1, &values[of_new]);
        }
    }

    /// Makes room for the flows of the new wall list.
    pub(super) fn make_room_for_wall_flows(&mut self) -> Result<(), GpuError> {
        let Some(near) = &self.walls else { return Ok(()) };
        let mut all = self.diffusions.iter_mut();
        all.try_for_each(|diffusion| make_room(&self.gpu, &mut diffusion.flows, near.entries, "scalars of walls"))
    }

    /// Adds the scalars of the grains outside the domain to the ledgers as what left.
    pub(super) fn remove_leaving_scalars(&self, host: &mut Populations) -> Result<(), GpuError> {
        let Some(domain) = host.context.domain.filter(|_| !self.diffusions.is_empty()) else {
            return Ok(());
        };
        let corners = self.gpu.upload(&numbers::<C>(domain.open_corners().concat()), "the domain")?;
        for (diffusion, ledger) in self.diffusions.iter().zip(&mut host.diffusions) {
            let (count, dim) = units(self.n);
            content_outside::launch::<R, C>(
                self.gpu.client(),
                count,
                dim,
                self.position[self.now].argument(),
                self.velocity[self.now].argument(),
                self.material.argument(),
                diffusion.capacities.argument(),
                diffusion.values[self.now].argument(),
                self.member().argument(),
                corners.argument(),
                self.energy.records(),
                self.n as u32,
                self.has_members(),
                diffusion.kind,
            );
            let cubes = self.gpu.download_part(&self.energy, 0..2 * RECORD * self.cubes()).wait()?;
            ledger.left += cubes.chunks_exact(2 * RECORD).map(|records| records[0].double()).sum::<f64>();
        }
        Ok(())
    }

    /// Updates scalar k of the host and the amounts of walls with the downloaded data.
    pub(super) fn download_scalar(&self, host: &mut Populations, k: usize, [values, given]: [Vec<C>; 2]) {
        let ledger = &mut host.diffusions[k];
        host.grains.fields.scalars[ledger.scalar] = doubles(&values);
        ledger.given.iter_mut().zip(given).for_each(|(all, new)| *all += new.double());
        self.gpu.clear(&self.diffusions[k].given);
    }
}
