//! Heat on the GPU.

use super::neighbor_lists::make_room;
use super::{GpuGrains, Number, doubles, numbers, sides};
use crate::heat::Heat;
use crate::populations::Populations;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::heat::{add_heat, conduct, heat_outside};
use seixo_sweeps::layout::RECORD;

/// Heat of grains and walls. All in the precision of coordinates, since the change in a step is small compared with a temperature.
pub(super) struct GpuHeat<C> {
    /// Double-buffered, as positions.
    pub temperature: [Buffer<C>; 2],
    /// Heat that walls gave since the last download \[J\].
    pub given: Buffer<C>,
    capacities: Buffer<C>,
    walls: Buffer<C>,
    flows: Buffer<C>,
    /// Whether a wall has a temperature.
    has_walls: bool,
}

impl<C: Number> GpuHeat<C> {
    /// Heat of a simulation on the host, with room for this many grains. `None` without heat conduction.
    pub fn new(gpu: &Gpu, host: &Populations, room: usize) -> Result<Option<GpuHeat<C>>, GpuError> {
        let Some(heat) = &host.heat else { return Ok(None) };
        let Heat { capacities, walls, .. } = &**heat;
        let upload = |values: &[f64]| gpu.upload(&numbers::<C>(values.iter().copied()), "temperatures");
        let mut temperature = numbers::<C>(host.grains.fields.temperature.iter().copied());
        temperature.resize(room, C::of(0.0));
        Ok(Some(GpuHeat {
            temperature: [gpu.upload(&temperature, "temperatures")?, gpu.buffer(room, "temperatures")?],
            given: gpu.zeros(walls.len(), "heat of walls")?,
            capacities: upload(capacities)?,
            walls: upload(walls)?,
            flows: gpu.buffer(RECORD, "heat of walls")?,
            has_walls: walls.iter().any(|&temperature| temperature >= 0.0),
        }))
    }

    /// Makes room for this many grains.
    pub fn make_room_for(&mut self, gpu: &Gpu, room: usize) -> Result<(), GpuError> {
        let [temperature, other] = &mut self.temperature;
        gpu.lengthen(temperature, room, "temperatures")?;
        gpu.lengthen(other, room, "temperatures")
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Advances the temperatures from `ahead` steps after the host's clock to the next step. Does nothing without heat conduction.
    pub(super) fn conduct(&self, host: &Populations, ahead: u32, parity: u32) {
        let Some(heat) = &self.heat else { return };
        // All subdomains of a decomposition-invariant run use one kernel, with or without grains near walls.
        let near = self
            .walls
            .as_ref()
            .filter(|near| heat.has_walls && (near.entries > 0 || host.context.settings.decomposition_invariant));
        let listed = near.filter(|near| near.entries > 0);
        let (count, dim) = units(self.n);
        let (no_words, no_numbers) = (&self.no_rows, &heat.capacities);
        conduct::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.material.argument(),
            self.table.argument(),
            heat.capacities.argument(),
            self.position[self.now].argument(),
            self.velocity[self.now].argument(),
            heat.temperature[self.now].argument(),
            heat.temperature[self.now ^ 1].argument(),
            near.map_or(no_words, |near| &near.row).argument(),
            listed.map_or(no_words, |near| &near.list).argument(),
            near.map_or(no_numbers, |near| &near.elements).argument(),
            near.map_or(no_numbers, |near| &near.records).argument(),
            listed.map_or(no_numbers, |near| &near.wall_contacts).argument(),
            heat.walls.argument(),
            heat.flows.argument(),
            self.flags.argument(),
            sides::<C, R>(&host.sides_ahead(ahead)),
            C::of(host.context.stepping.dt),
            self.n as u32,
            host.context.materials.count,
            parity,
            self.kind.sides,
            near.is_some(),
        );
        if let Some(near) = listed {
            let walls = heat.given.len();
            let (count, dim) = units(walls * THREADS);
            add_heat::launch::<C>(
                self.gpu.client(),
                count,
                dim,
                heat.flows.argument(),
                near.list.argument(),
                near.elements.argument(),
                heat.given.argument(),
                self.flags.argument(),
                near.entries as u32,
                walls as u32,
                C::of(host.context.stepping.dt),
                parity,
            );
        }
    }

    /// Puts temperatures into the new order of the grains.
    pub(super) fn reorder_heat(&self, of_old: usize, of_new: usize) {
        if let Some(GpuHeat { temperature, .. }) = &self.heat {
            self.gpu.gather(&temperature[of_old], &self.order, self.n, 1, &temperature[of_new]);
        }
    }

    /// Makes room for the heat flows of the new wall list.
    pub(super) fn make_room_for_heat(&mut self) -> Result<(), GpuError> {
        if let (Some(heat), Some(near)) = (&mut self.heat, &self.walls) {
            make_room(&self.gpu, &mut heat.flows, near.entries, "heat of walls")?;
        }
        Ok(())
    }

    /// Adds the heat of the grains outside the domain to the ledger as heat that left.
    pub(super) fn remove_leaving_heat(&self, host: &mut Populations) -> Result<(), GpuError> {
        let (Some(heat), Some(domain)) = (&self.heat, host.context.domain) else {
            return Ok(());
        };
        let corners = self.gpu.upload(&numbers::<C>(domain.open_corners().concat()), "the domain")?;
        let (count, dim) = units(self.n);
        heat_outside::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].argument(),
            self.velocity[self.now].argument(),
            self.material.argument(),
            heat.capacities.argument(),
            heat.temperature[self.now].argument(),
            self.member().argument(),
            corners.argument(),
            self.energy.records(),
            self.n as u32,
            self.has_members(),
        );
        let cubes = self.gpu.download_part(&self.energy, 0..2 * RECORD * self.cubes()).wait()?;
        let left: f64 = cubes.chunks_exact(2 * RECORD).map(|records| records[0].double()).sum();
        host.heat.iter_mut().for_each(|ledger| ledger.left += left);
        Ok(())
    }

    /// Updates the host's temperatures and the heat of walls with the downloaded data.
    pub(super) fn download_heat(&self, host: &mut Populations, temperature: &[C], given: &[C]) {
        host.grains.fields.temperature = doubles(temperature);
        if let (Some(ledger), Some(heat)) = (&mut host.heat, &self.heat) {
            ledger.given.iter_mut().zip(given).for_each(|(all, new)| *all += new.double());
            self.gpu.clear(&heat.given);
        }
    }
}
