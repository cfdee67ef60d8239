//! Start of a subdomain on a GPU with grains that are made for it. Nothing but the GPU computes their lists and forces.

use super::Subdomain;
use crate::exchange::HaltReason;
use crate::fields::{Fields, Sorted};
use crate::refusal::WorldError;
use crate::world::{Precision, Vec3, array};
use seixo_device::Cpu;
use seixo_device::gpu::Gpu;
use seixo_sweeps::bodies::FREE;

/// Makes the fields of the grains in a box with these corners \[m\], and of others beside it, without forces.
pub type FieldsInBox<'a> = dyn Fn(Vec3, Vec3, &Cpu) -> Result<Fields, WorldError> + Sync + 'a;

impl Subdomain {
    /// Makes the grains of its block, uploads them to a GPU, lists them there with ghosts, and computes the first forces.
    pub fn begin_on_gpu(&mut self, make: &FieldsInBox<'_>, gpu: &Gpu, precision: Precision) -> Result<(), HaltReason> {
        self.make_grains(make)?;
        self.prepare_for(gpu, precision);
        self.local.upload_new_grains(gpu.clone())?;
        let rebuilds = self.local.populations.grains.rebuilds;
        self.list_first_on_gpu()?;
        self.local.populations.grains.rebuilds = rebuilds;
        let raised = self.on_gpu(|remote, host| Ok(remote.first_forces(host)?))?;
        self.agree_on_gpu(raised != 0, raised)?;
        Ok(())
    }

    /// Makes the grains of its block, but for those outside a domain that removes them.
    fn make_grains(&mut self, make: &FieldsInBox<'_>) -> Result<(), WorldError> {
        let block = self.cuts.owned(self.rank);
        let device = self.local.populations.context.device.clone();
        let mut fields = make(array(&block.low), array(&block.high), &device)?;
        let places = fields.reference.as_chunks::<3>().0.iter().zip(0..);
        let domain = self.local.populations.context.domain_to_leave();
        let stays = |place: &[f64; 3]| domain.is_none_or(|domain| !domain.is_outside_domain(place));
        let own = places.filter(|(place, _)| self.cuts.owner(*place) == self.rank && stays(place));
        let own: Vec<u32> = own.map(|(_, i)| i).collect();
        if own.len() < fields.len() {
            fields.reorder(&device, &own);
        }
        fields.member = vec![FREE; fields.len()];
        self.local.populations.grains.fields = fields;
        Ok(())
    }
}
