//! How domains halt together while the hosts look away: at the first step in which one of them finds its lists stale, or something wrong.

use crate::gpu::{Number, OnGpu};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::domain::{hear_halts, tell_halt};

/// The way in which GPUs hear of it, before the next step begins there.
pub(crate) enum Halts {
    /// Domains that are on one GPU: a word of each, for steps of either parity.
    OnOneGpu(Buffer<u32>),
    /// Each has a GPU to itself, with a word for steps of either parity, and these add them up.
    OnOwnGpus(Vec<Gpu>, Vec<Buffer<u32>>),
}

/// Words of a domain: one for steps of either parity.
const WORDS: usize = 2;

impl Halts {
    /// Of domains on these GPUs, which reach each other: all on one, or each on its own.
    pub fn of(gpus: &[Gpu]) -> Result<Halts, GpuError> {
        if gpus.iter().all(|gpu| gpu.is_same(&gpus[0])) {
            return Ok(Halts::OnOneGpu(gpus[0].zeros(WORDS * gpus.len(), "domains")?));
        }
        let words: Result<Vec<Buffer<u32>>, GpuError> = gpus.iter().map(|gpu| gpu.zeros(WORDS, "domains")).collect();
        Ok(Halts::OnOwnGpus(gpus.to_vec(), words?))
    }

    /// The words that a domain tells and hears, which of those who have some there it is, and how many these are.
    fn words(&self, domain: usize) -> (&Buffer<u32>, u32, u32) {
        match self {
            Halts::OnOneGpu(words) => (words, domain as u32, (words.len() / WORDS) as u32),
            Halts::OnOwnGpus(_, words) => (&words[domain], 0, 1),
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Lets the other domains hear whether this one halts after the step that was queued `ahead` steps from where the host stands. Says whether all
    /// must have told before any hears.
    pub(super) fn tell(&self, halts: &Halts, rank: usize, ahead: u32) -> Result<bool, GpuError> {
        let ((count, dim), (words, domain, domains)) = (units(1), halts.words(rank));
        let flags = self.flags.argument();
        tell_halt::launch(self.gpu.client(), count, dim, flags, words.argument(), domain, domains, ahead & 1);
        match halts {
            Halts::OnOneGpu(_) => Ok(true),
            Halts::OnOwnGpus(all, _) => self.gpu.add_up(words, all).map(|()| false),
        }
    }

    /// Hears whether any domain halts after that step.
    pub(super) fn hear(&self, halts: &Halts, rank: usize, ahead: u32) {
        let ((count, dim), (words, _, domains)) = (units(1), halts.words(rank));
        let flags = self.flags.argument();
        hear_halts::launch(self.gpu.client(), count, dim, words.argument(), flags, domains, ahead & 1);
    }
}
