//! Gear's method on the GPU: the derivatives of positions and orientations, and the pass that moves grains with them.

use super::{GpuGrains, Number, numbers, stepping};
use crate::populations::Populations;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_laws::motion::Scheme;
use seixo_sweeps::gear::{ORIENTATION_DERIVATIVES, POSITION_DERIVATIVES};
use seixo_sweeps::kernels::gear::advance_by_gear;
use seixo_sweeps::layout::RECORD;
use std::mem::swap;

/// Derivatives of all grains in the precision of coordinates, and buffers to sort them.
pub(super) struct GpuGear<C> {
    /// Second to fourth derivatives of positions.
    pub position_derivatives: Buffer<C>,
    spare_position_derivatives: Buffer<C>,
    /// First to fourth derivatives of orientations.
    pub orientation_derivatives: Buffer<C>,
    spare_orientation_derivatives: Buffer<C>,
    /// Orientations, unless bonds have them.
    orientation: Option<Buffer<C>>,
}

impl<C: Number> GpuGear<C> {
    /// Derivatives of the host, with room for this many grains. `None` unless grains move by Gear's method.
    pub(super) fn new(gpu: &Gpu, host: &Populations, room: usize) -> Result<Option<GpuGear<C>>, GpuError> {
        if !host.is_geared() {
            return Ok(None);
        }
        let fields = &host.grains.fields;
        let upload = |values: &[f64], len: usize, what: &'static str| {
            let mut values = numbers::<C>(values.iter().copied());
            // Buffers cannot be empty.
            values.resize(len.max(RECORD), C::of(0.0));
            gpu.upload(&values, what)
        };
        let turning = if host.context.materials.has_friction {
            ORIENTATION_DERIVATIVES * room
        } else {
            0
        };
        let position_derivatives = upload(&fields.position_derivatives, POSITION_DERIVATIVES * room, "derivatives")?;
        let orientation_derivatives = upload(&fields.orientation_derivatives, turning, "derivatives")?;
        let keeps_turns = host.context.materials.has_friction && !host.is_bonded();
        Ok(Some(GpuGear {
            spare_position_derivatives: gpu.buffer(position_derivatives.len(), "derivatives")?,
            spare_orientation_derivatives: gpu.buffer(orientation_derivatives.len(), "derivatives")?,
            position_derivatives,
            orientation_derivatives,
            orientation: keeps_turns
                .then(|| upload(&fields.orientation, RECORD * room, "orientations"))
                .transpose()?,
        }))
    }

    /// Columns that migrate with grains, and their values per grain.
    pub(super) fn columns(&self, turning: bool) -> impl Iterator<Item = (&Buffer<C>, usize)> {
        let orientation_derivatives = turning.then_some((&self.orientation_derivatives, ORIENTATION_DERIVATIVES));
        let orientation = self.orientation.as_ref().map(|orientation| (orientation, RECORD));
        [
            Some((&self.position_derivatives, POSITION_DERIVATIVES)),
            orientation_derivatives,
            orientation,
        ]
        .into_iter()
        .flatten()
    }

    /// Makes room for this many grains.
    pub(super) fn make_room_for(&mut self, gpu: &Gpu, room: usize, turning: bool) -> Result<(), GpuError> {
        for position_derivatives in [&mut self.position_derivatives, &mut self.spare_position_derivatives] {
            gpu.lengthen(position_derivatives, POSITION_DERIVATIVES * room, "derivatives")?;
        }
        if turning {
            for orientation_derivatives in [&mut self.orientation_derivatives, &mut self.spare_orientation_derivatives] {
                gpu.lengthen(orientation_derivatives, ORIENTATION_DERIVATIVES * room, "derivatives")?;
            }
        }
        match &mut self.orientation {
            Some(orientation) => gpu.lengthen(orientation, RECORD * room, "orientations"),
            None => Ok(()),
        }
    }

    /// Puts the derivatives of n grains and their orientations into a new order. `spare` is a free buffer for the orientations.
    pub(super) fn reorder(&mut self, gpu: &Gpu, order: &Buffer<u32>, (n, turning): (usize, bool), spare: &mut Buffer<C>) {
        gpu.gather(
            &self.position_derivatives,
            order,
            n,
            POSITION_DERIVATIVES,
            &self.spare_position_derivatives,
        );
        swap(&mut self.position_derivatives, &mut self.spare_position_derivatives);
        if turning {
            gpu.gather(
                &self.orientation_derivatives,
                order,
                n,
                ORIENTATION_DERIVATIVES,
                &self.spare_orientation_derivatives,
            );
            swap(&mut self.orientation_derivatives, &mut self.spare_orientation_derivatives);
        }
        if let Some(orientation) = &mut self.orientation {
            gpu.gather(orientation, order, n, RECORD, spare);
            swap(orientation, spare);
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Orientations, if there are any, of bonds or of Gear's method.
    pub(super) fn all_orientations(&self) -> Option<&Buffer<C>> {
        let geared = self.geared.as_ref().and_then(|geared| geared.orientation.as_ref());
        self.orientations().or(geared)
    }

    /// Moves grains by one step, with the stored forces.
    pub(super) fn gear_step(&self, host: &Populations, parity: u32) {
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
            geared.position_derivatives.argument(),
            self.all_orientations().unwrap_or(&self.wall_energy).records(),
            geared.orientation_derivatives.argument(),
            self.flags.argument(),
            self.power.records(),
            stepping::<C, C>(&host.context.stepping),
            C::of(host.context.settings.scheme.corrects().unwrap_or(Scheme::GEAR)),
            self.n as u32,
            parity,
            host.context.stepping.local_damping > 0.0,
            self.kind.frictional,
            self.has_members(),
        );
    }
}
