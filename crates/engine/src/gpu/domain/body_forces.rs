//! Forces on the grains of bodies, by the indices of members: those of this domain, then those of all domains.

use crate::bodies::BodyForces;
use crate::exchange::DecodeError;
use crate::gpu::{GpuGrains, Number, doubles, numbers};
use crate::populations::Populations;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::bodies::forces_on_members;
use seixo_sweeps::layout::RECORD;

/// Forces and torques on all members of bodies.
pub(in crate::gpu) struct MemberForces<R> {
    /// The indices of the members, in their order.
    pub order: Buffer<u32>,
    /// A force and a torque for each member, a record each.
    pub force: Buffer<R>,
    pub torque: Buffer<R>,
}

impl<R: Number> MemberForces<R> {
    /// Room for the members of the host's bodies; `None` unless there are bodies and several domains.
    pub fn new(gpu: &Gpu, host: &Populations) -> Result<Option<MemberForces<R>>, GpuError> {
        if !(host.grains.has_ghosts && host.bodies.are_present) {
            return Ok(None);
        }
        let members = host.bodies.body_of.len();
        let order: Vec<u32> = (0..members.max(1) as u32).collect();
        Ok(Some(MemberForces {
            order: gpu.upload(&order, "rigid bodies")?,
            force: gpu.zeros(RECORD * members.max(1), "rigid bodies")?,
            torque: gpu.zeros(RECORD * members.max(1), "rigid bodies")?,
        }))
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Forces on the members of bodies, if their grains are in several domains.
    pub(in crate::gpu) fn member_forces(&self) -> Option<&MemberForces<R>> {
        self.border.as_ref().and_then(|border| border.body_forces.as_ref())
    }

    /// Collects the forces on those members whose grains are here.
    pub(in crate::gpu) fn collect_member_forces(&self) {
        let (Some(forces), Some(carriers)) = (self.member_forces(), &self.carriers) else {
            return;
        };
        if carriers.members == 0 {
            return;
        }
        let (count, dim) = units(carriers.members);
        forces_on_members::launch::<R>(
            self.gpu.client(),
            count,
            dim,
            carriers.place.argument(),
            self.force.records(),
            self.torque.records(),
            forces.force.records(),
            forces.torque.records(),
            carriers.members as u32,
        );
    }

    /// Downloads the forces on the members that are here. Returns a message with those on free bodies.
    pub(super) fn local_member_forces(&self, host: &mut Populations) -> Result<Vec<u8>, GpuError> {
        let Some(forces) = self.member_forces() else {
            return Ok(Vec::new());
        };
        let mut copies = self.gpu.copies();
        let tickets = [&forces.force, &forces.torque].map(|buffer| copies.add(buffer, 0..buffer.len()));
        let arrived = copies.wait()?;
        let [force, torque] = tickets.map(|ticket| doubles(&arrived.take(ticket)));
        let bodies = &mut host.bodies;
        let is_free = |member: &usize| !bodies.held.is_body_prescribed(bodies.body_of[*member] as usize);
        let free = (0..bodies.body_of.len()).filter(is_free);
        let message = BodyForces::message(free.map(|member| (member as u32, BodyForces::record_at(&force, &torque, member * RECORD))));
        bodies.body_forces = BodyForces::new(force, torque);
        Ok(message)
    }

    /// Uploads the forces on all members of free bodies, from the messages of all domains.
    pub(super) fn take_member_forces(&self, host: &mut Populations, messages: &[Vec<u8>]) -> Result<(), DecodeError> {
        let Some(forces) = self.member_forces() else { return Ok(()) };
        for message in messages {
            host.bodies.body_forces.take_in(message)?;
        }
        let [force, torque] = host.bodies.body_forces.records().map(|column| numbers::<R>(column.iter().copied()));
        self.gpu.write(&forces.force, &force);
        self.gpu.write(&forces.torque, &torque);
        Ok(())
    }
}
