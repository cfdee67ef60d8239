//! Heat on the GPU.

use super::lists::make_room;
use super::{Number, OnGpu, doubles, numbers, sides};
use crate::heat::Heat;
use crate::simulation::Simulation;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::UNITS;
use seixo_sweeps::kernels::heat::{book_heat, conduct, heat_outside};
use seixo_sweeps::views::RECORD;

/// What heat needs: all with the digits of coordinates, since what a step adds is small beside a temperature.
pub(super) struct HeatOnGpu<C> {
    /// Twice, as positions are.
    pub temperature: [Buffer<C>; 2],
    /// Heat that walls gave since the host last looked \[J\].
    pub given: Buffer<C>,
    capacities: Buffer<C>,
    walls: Buffer<C>,
    flows: Buffer<C>,
    /// Whether a wall has a temperature.
    has_walls: bool,
}

impl<C: Number> HeatOnGpu<C> {
    /// Of a simulation of the host, where heat flows, with room for so many grains.
    pub fn new(gpu: &Gpu, host: &Simulation, room: usize) -> Result<Option<HeatOnGpu<C>>, GpuError> {
        let Some(heat) = &host.heat else { return Ok(None) };
        let Heat { capacities, walls, .. } = &**heat;
        let upload = |values: &[f64]| gpu.upload(&numbers::<C>(values.iter().copied()), "temperatures");
        let mut temperature = numbers::<C>(host.fields.temperature.iter().copied());
        temperature.resize(room, C::of(0.0));
        Ok(Some(HeatOnGpu {
            temperature: [gpu.upload(&temperature, "temperatures")?, gpu.buffer(room, "temperatures")?],
            given: gpu.zeros(walls.len(), "heat of walls")?,
            capacities: upload(capacities)?,
            walls: upload(walls)?,
            flows: gpu.buffer(RECORD, "heat of walls")?,
            has_walls: walls.iter().any(|&temperature| temperature >= 0.0),
        }))
    }

    /// Makes room for so many grains.
    pub fn make_room_for(&mut self, gpu: &Gpu, room: usize) -> Result<(), GpuError> {
        let [temperature, other] = &mut self.temperature;
        gpu.lengthen(temperature, room, "temperatures")?;
        gpu.lengthen(other, room, "temperatures")
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Temperatures `ahead` steps from where the host stands, on to the next; where no heat flows, nothing.
    pub(super) fn conduct(&self, host: &Simulation, ahead: u32, parity: u32) {
        let Some(heat) = &self.heat else { return };
        // All parts of a divisible world run one kernel, be grains near walls there or not.
        let near = self
            .walls
            .as_ref()
            .filter(|near| heat.has_walls && (near.entries > 0 || host.settings.divisible));
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
            listed.map_or(no_numbers, |near| &near.touches).argument(),
            heat.walls.argument(),
            heat.flows.argument(),
            self.flags.argument(),
            sides::<C, R>(&host.sides_ahead(ahead)),
            C::of(host.stepping.dt),
            self.n as u32,
            host.materials,
            parity,
            self.kind.sides,
            near.is_some(),
        );
        if let Some(near) = listed {
            let walls = heat.given.len();
            let (count, dim) = units(walls * UNITS);
            book_heat::launch::<C>(
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
                C::of(host.stepping.dt),
                parity,
            );
        }
    }

    /// Puts temperatures into the new order of the grains.
    pub(super) fn reorder_heat(&self, of_old: usize, of_new: usize) {
        if let Some(HeatOnGpu { temperature, .. }) = &self.heat {
            self.gpu.gather(&temperature[of_old], &self.order, self.n, 1, &temperature[of_new]);
        }
    }

    /// Makes room for the heat of the walls' new list.
    pub(super) fn make_room_for_heat(&mut self) -> Result<(), GpuError> {
        if let (Some(heat), Some(near)) = (&mut self.heat, &self.walls) {
            make_room(&self.gpu, &mut heat.flows, near.entries, "heat of walls")?;
        }
        Ok(())
    }

    /// Books the heat of the grains outside of the domain as left.
    pub(super) fn book_heat_leaving(&self, host: &mut Simulation) -> Result<(), GpuError> {
        let (Some(heat), Some(domain)) = (&self.heat, host.domain) else {
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
        host.heat.iter_mut().for_each(|books| books.left += left);
        Ok(())
    }

    /// Takes what came of temperatures and of the walls' heat to the host.
    pub(super) fn show_heat(&self, host: &mut Simulation, temperature: &[C], given: &[C]) {
        host.fields.temperature = doubles(temperature);
        if let (Some(books), Some(heat)) = (&mut host.heat, &self.heat) {
            books.given.iter_mut().zip(given).for_each(|(all, new)| *all += new.double());
            self.gpu.clear(&heat.given);
        }
    }
}
