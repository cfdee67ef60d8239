//! Halt flags, with which all subdomains stop at the same step without their hosts. It is the first step in which one of them has lists out of date
//! or an error. Neighbors get them with the halo; this transfer is for the others, and for steps in parts, whose halo leaves before all is computed.

use crate::gpu::posted_words::PostedWords;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_sweeps::kernels::domain::{receive_halts, send_halt};

/// Transfer of halt flags between GPUs, before the next step begins there.
pub(crate) enum HaltFlags {
    /// All subdomains are on one GPU: two words for each, one for each parity of steps.
    OnOneGpu(Buffer<u32>),
    /// Each subdomain has its own GPU with two words, one for each parity of steps. The GPUs sum these words, unless each posts them to all.
    OnOwnGpus(Vec<Gpu>, Vec<Buffer<u32>>, Option<PostedWords>),
}

/// Words of a subdomain: one for each parity of steps.
const WORDS: usize = 2;

impl HaltFlags {
    /// Halt flags for subdomains on these GPUs, which can copy between each other: all on one, or each on its own. With `linked`, each can also write to
    /// all others.
    pub fn of(gpus: &[Gpu], linked: bool) -> Result<HaltFlags, GpuError> {
        if gpus.iter().all(|gpu| gpu.is_same(&gpus[0])) {
            return Ok(HaltFlags::OnOneGpu(gpus[0].zeros(WORDS * gpus.len(), "domains")?));
        }
        let words: Result<Vec<Buffer<u32>>, GpuError> = gpus.iter().map(|gpu| gpu.zeros(WORDS, "domains")).collect();
        let posted = linked.then(|| PostedWords::of(gpus, WORDS)).transpose()?;
        Ok(HaltFlags::OnOwnGpus(gpus.to_vec(), words?, posted))
    }

    /// The GPUs of all subdomains, if each has its own.
    pub fn gpus(&self) -> Option<&[Gpu]> {
        match self {
            HaltFlags::OnOneGpu(_) => None,
            HaltFlags::OnOwnGpus(gpus, ..) => Some(gpus),
        }
    }

    /// The words that a subdomain writes, and its index among the subdomains with words there.
    fn words(&self, domain: usize) -> (&Buffer<u32>, u32) {
        match self {
            HaltFlags::OnOneGpu(words) => (words, domain as u32),
            HaltFlags::OnOwnGpus(_, words, _) => (&words[domain], 0),
        }
    }

    /// Sends to the other subdomains whether that of this rank on this GPU halts after the step that was queued `ahead` steps after the host's clock, by
    /// its `flags`. Returns whether all must have sent before any receives.
    pub fn send(&self, gpu: &Gpu, flags: &Buffer<u32>, rank: usize, ahead: u32) -> Result<bool, GpuError> {
        let ((count, dim), (words, domain)) = (units(1), self.words(rank));
        send_halt::launch(gpu.client(), count, dim, flags.argument(), words.argument(), domain, ahead & 1);
        match self {
            HaltFlags::OnOneGpu(_) => Ok(true),
            HaltFlags::OnOwnGpus(all, _, None) => gpu.start_sum(words, words, words.len(), all).map(|()| false),
            HaltFlags::OnOwnGpus(_, _, Some(posted)) => {
                posted.post(gpu, words, rank);
                Ok(false)
            }
        }
    }

    /// Receives into the `flags` of this subdomain whether any halts after that step. Launches later than this wait for it.
    pub fn receive(&self, gpu: &Gpu, flags: &Buffer<u32>, rank: usize, ahead: u32) -> Result<(), GpuError> {
        let (words, domains) = match self {
            HaltFlags::OnOneGpu(words) => (words, words.len() / WORDS),
            HaltFlags::OnOwnGpus(_, words, None) => {
                gpu.await_sums()?;
                (&words[rank], 1)
            }
            HaltFlags::OnOwnGpus(all, _, Some(posted)) => (posted.collected(gpu, rank), all.len()),
        };
        let (count, dim) = units(1);
        receive_halts::launch(
            gpu.client(),
            count,
            dim,
            words.argument(),
            flags.argument(),
            domains as u32,
            ahead & 1,
        );
        Ok(())
    }
}
