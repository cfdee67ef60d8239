//! How domains halt together while the hosts look away: at the first step in which one of them finds its lists stale, or something wrong.

use crate::gpu::{Number, OnGpu};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::HALT;
use seixo_sweeps::kernels::domain::{hear_halts, tell_halt};

/// The way in which GPUs hear of it, before the next step begins there.
pub(crate) enum Halts {
    /// Domains that are on one GPU: a word of each, for steps of either parity.
    OnOneGpu(Buffer<u32>),
    /// Each has a GPU to itself, and these add up their words.
    OnOwnGpus(Vec<Gpu>),
}

impl Halts {
    /// Of domains on these GPUs, which reach each other; none where some of several GPUs have more than one.
    pub fn of(gpus: &[Gpu]) -> Result<Option<Halts>, GpuError> {
        let on = |gpu: &Gpu| gpus.iter().filter(|other| gpu.is_same(other)).count();
        if gpus.iter().all(|gpu| on(gpu) == gpus.len()) {
            return Ok(Some(Halts::OnOneGpu(gpus[0].zeros(2 * gpus.len(), "domains")?)));
        }
        Ok(gpus.iter().all(|gpu| on(gpu) == 1).then(|| Halts::OnOwnGpus(gpus.to_vec())))
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Lets the other domains hear whether this one halts after the step that was queued `ahead` steps from where the host stands. Says whether all
    /// must have told before any hears.
    pub(super) fn tell(&self, halts: &Halts, rank: usize, ahead: u32) -> Result<bool, GpuError> {
        let parity = ahead & 1;
        match halts {
            Halts::OnOneGpu(told) => {
                let (count, dim) = units(1);
                let (rank, domains) = (rank as u32, told.len() as u32 / 2);
                tell_halt::launch(
                    self.gpu.client(),
                    count,
                    dim,
                    self.flags.argument(),
                    told.argument(),
                    rank,
                    domains,
                    parity,
                );
                Ok(true)
            }
            Halts::OnOwnGpus(all) => {
                self.gpu.add_up(&self.flags, HALT - parity as usize, all)?;
                Ok(false)
            }
        }
    }

    /// Hears what all domains told after that step.
    pub(super) fn hear(&self, halts: &Halts, ahead: u32) {
        if let Halts::OnOneGpu(told) = halts {
            let (count, dim) = units(1);
            let domains = told.len() as u32 / 2;
            hear_halts::launch(
                self.gpu.client(),
                count,
                dim,
                told.argument(),
                self.flags.argument(),
                domains,
                ahead & 1,
            );
        }
    }
}
