//! The halo of a subdomain for one neighbor at every step, for grains and fluids alike. It has memory for one way only: joint with that of the
//! neighbor, so that two GPUs exchange both by themselves, or for copies between GPUs and messages.

use super::Number;
use super::halo_exchange::PackedHalo;
use super::joint_halo::{HaloPair, JointHalo};
use seixo_device::gpu::{Gpu, GpuError};
use std::sync::Arc;

/// Where the halo for a neighbor is packed, and where that of the neighbor arrives.
pub(super) struct StepHalo<C, R> {
    /// The halo of this step and of the one before, which may still be on its way.
    copied: [Arc<PackedHalo<C, R>>; 2],
    /// What comes for the ghosts, as received in a message.
    pub reported: PackedHalo<C, R>,
    /// Both halos, if two GPUs exchange them by themselves.
    pub joint: Option<JointHalo<C, R>>,
}

impl<C: Number, R: Number> StepHalo<C, R> {
    /// With minimal room for particles with this many `numbers` of motion.
    pub fn new(gpu: &Gpu, numbers: usize) -> Result<StepHalo<C, R>, GpuError> {
        Ok(StepHalo {
            copied: PackedHalo::twice(gpu, numbers)?,
            reported: PackedHalo::new(gpu, 1, &[], numbers)?,
            joint: None,
        })
    }

    /// Makes room for `shown` own particles and for `followed` ghosts until the next rebuild of the lists, with columns of these `widths` and this many
    /// `numbers` of motion. With a pair, its GPUs exchange the halos by themselves. The contents are lost.
    pub fn make_room(
        &mut self,
        gpu: &Gpu,
        pair: Option<HaloPair>,
        [shown, followed]: [usize; 2],
        (widths, numbers): (&[usize], usize),
    ) -> Result<(), GpuError> {
        let before = self.joint.take();
        if let Some(pair) = pair {
            if before.is_none() {
                // Nothing is copied any more.
                *self = StepHalo::new(gpu, numbers)?;
            }
            self.joint = Some(JointHalo::new(gpu, before, pair, [shown, followed], (widths, numbers))?);
            return Ok(());
        }
        PackedHalo::make_room(&mut self.copied, gpu, shown, widths, numbers)?;
        self.reported = self.reported.resized(gpu, followed, widths, numbers)?;
        Ok(())
    }

    /// Whether the halo is not packed, see [`JointHalo::straight`].
    pub fn is_straight(&self) -> bool {
        self.joint.as_ref().is_some_and(|joint| joint.straight().is_some())
    }

    /// Where the halo of a step is packed. Those of two steps in turn have the numbers 0 and 1.
    pub fn packed(&self, now: usize) -> &Arc<PackedHalo<C, R>> {
        self.joint.as_ref().map_or(&self.copied[now], |joint| &joint.packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_sweeps::layout::RECORD;

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn a_halo_has_memory_for_the_way_that_it_goes() {
        let gpu = Gpu::open(None).unwrap();
        let pair = HaloPair {
            gpus: [gpu.clone(), gpu.clone()],
            ranks: [0, 1],
            inboxes: None,
        };
        let (shown, followed) = (1000, 500);
        let mut halo = StepHalo::<f32, f32>::new(&gpu, RECORD).unwrap();
        let least = halo.reported.coordinates.len();
        for pair in [None, Some(pair), None] {
            let is_joint = pair.is_some();
            halo.make_room(&gpu, pair, [shown, followed], (&[], RECORD)).unwrap();
            let copied = [&*halo.copied[0], &*halo.copied[1], &halo.reported].map(|packed| packed.coordinates.len());
            if is_joint {
                assert_eq!(copied, [least; 3]);
            } else {
                assert!(copied[0] >= RECORD * shown && copied[1] >= RECORD * shown && copied[2] >= RECORD * followed);
            }
            assert_eq!(halo.joint.is_some(), is_joint);
            assert!([0, 1].iter().all(|&now| halo.packed(now).coordinates.len() >= RECORD * shown));
        }
    }
}
