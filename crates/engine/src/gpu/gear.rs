//! Gear's method on the GPU: the derivatives of places and orientations, and the pass that moves grains by them.

use super::{Number, OnGpu, numbers, stepping};
use crate::simulation::Simulation;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_laws::motion::Scheme;
use seixo_sweeps::gear::{TURNS, WAYS};
use seixo_sweeps::kernels::gear::advance_by_gear;
use seixo_sweeps::views::RECORD;
use std::mem::swap;

/// Derivatives of all grains, with the digits of coordinates, and room to sort them.
pub(super) struct Geared<C> {
    /// Second to fourth derivatives of places.
    pub ways: Buffer<C>,
    spare_ways: Buffer<C>,
    /// First to fourth derivatives of orientations.
    pub turns: Buffer<C>,
    spare_turns: Buffer<C>,
    /// Orientations, where bonds do not keep them.
    turn: Option<Buffer<C>>,
}

impl<C: Number> Geared<C> {
    /// Derivatives as the host has them, where it moves grains by Gear's method, with room for so many grains.
    pub(super) fn new(gpu: &Gpu, host: &Simulation, room: usize) -> Result<Option<Geared<C>>, GpuError> {
        if !host.is_geared() {
            return Ok(None);
        }
        let fields = &host.fields;
        let upload = |values: &[f64], len: usize, what: &'static str| {
            let mut values = numbers::<C>(values.iter().copied());
            // Buffers cannot be empty.
            values.resize(len.max(RECORD), C::of(0.0));
            gpu.upload(&values, what)
        };
        let turning = if host.frictional { TURNS * room } else { 0 };
        let ways = upload(&fields.ways, WAYS * room, "derivatives")?;
        let turns = upload(&fields.turns, turning, "derivatives")?;
        let keeps_turns = host.frictional && !host.is_bonded();
        Ok(Some(Geared {
            spare_ways: gpu.buffer(ways.len(), "derivatives")?,
            spare_turns: gpu.buffer(turns.len(), "derivatives")?,
            ways,
            turns,
            turn: keeps_turns
                .then(|| upload(&fields.turn, RECORD * room, "orientations"))
                .transpose()?,
        }))
    }

    /// What grains take along, and how many numbers of each.
    pub(super) fn columns(&self, turning: bool) -> impl Iterator<Item = (&Buffer<C>, usize)> {
        let turns = turning.then_some((&self.turns, TURNS));
        let turn = self.turn.as_ref().map(|turn| (turn, RECORD));
        [Some((&self.ways, WAYS)), turns, turn].into_iter().flatten()
    }

    /// Makes room for so many grains.
    pub(super) fn make_room_for(&mut self, gpu: &Gpu, room: usize, turning: bool) -> Result<(), GpuError> {
        for ways in [&mut self.ways, &mut self.spare_ways] {
            gpu.lengthen(ways, WAYS * room, "derivatives")?;
        }
        if turning {
            for turns in [&mut self.turns, &mut self.spare_turns] {
                gpu.lengthen(turns, TURNS * room, "derivatives")?;
            }
        }
        match &mut self.turn {
            Some(turn) => gpu.lengthen(turn, RECORD * room, "orientations"),
            None => Ok(()),
        }
    }

    /// Puts the derivatives of n grains into a new order, and the orientations, for which `spare` is free.
    pub(super) fn reorder(&mut self, gpu: &Gpu, order: &Buffer<u32>, (n, turning): (usize, bool), spare: &mut Buffer<C>) {
        gpu.gather(&self.ways, order, n, WAYS, &self.spare_ways);
        swap(&mut self.ways, &mut self.spare_ways);
        if turning {
            gpu.gather(&self.turns, order, n, TURNS, &self.spare_turns);
            swap(&mut self.turns, &mut self.spare_turns);
        }
        if let Some(turn) = &mut self.turn {
            gpu.gather(turn, order, n, RECORD, spare);
            swap(turn, spare);
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Orientations, where there are any, whoever keeps them.
    pub(super) fn all_orientations(&self) -> Option<&Buffer<C>> {
        let geared = self.geared.as_ref().and_then(|geared| geared.turn.as_ref());
        self.orientations().or(geared)
    }

    /// Grains one step on, under the forces that are stored.
    pub(super) fn advance_by_gear(&self, host: &Simulation, parity: u32) {
        let Some(geared) = &self.geared else { return };
        let (count, dim) = units(self.n);
        advance_by_gear::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.member().argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            self.half_velocity.records(),
            self.half_spin.records(),
            self.force.records(),
            self.torque.records(),
            self.reference.records(),
            self.position[self.now ^ 1].records(),
            self.velocity[self.now ^ 1].records(),
            self.spin[self.now ^ 1].records(),
            geared.ways.argument(),
            self.all_orientations().unwrap_or(&self.wall_energy).records(),
            geared.turns.argument(),
            self.flags.argument(),
            self.power.records(),
            stepping::<C, C>(&host.stepping),
            C::of(host.settings.scheme.corrects().unwrap_or(Scheme::GEAR)),
            self.n as u32,
            parity,
            host.stepping.local_damping > 0.0,
            self.kind.frictional,
            self.has_members(),
        );
    }
}
