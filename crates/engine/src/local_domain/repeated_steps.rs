//! Steps of a small system on a GPU, repeated from a recording: the host would take longer to launch them than the GPU to run them.

use crate::gpu::LaunchState;
use crate::guard::StepError;
use crate::local_domain::LocalDomain;
use crate::program::Work;
use seixo_device::gpu::Recording;

/// Steps in a recording. An even number, as steps alternate between two parities.
const RECORDED: u32 = 8;
/// Fewest steps in a batch that is worth a recording, which costs as much as launching dozens of steps. Lists are expected to last two batches.
const LEAST_BATCH: u64 = 64;
/// Fewest steps to be taken, this batch included, that are worth a recording: it is dropped after them.
const LEAST_LEFT: u64 = 256;

/// A recording of steps, with what its launches refer to.
#[derive(Default)]
pub(super) struct RepeatedSteps(Option<(Recording, LaunchState)>);

impl RepeatedSteps {
    /// Queues the first steps of a batch from a recording, which it makes if it is worth it, as `left` steps are to be taken in all; returns their
    /// number. It is even, so the step after them has the parity of the first.
    pub fn queue(&mut self, local: &mut LocalDomain, batch: u64, left: u64) -> Result<u64, StepError> {
        let state = launch_state(local);
        if self.0.as_ref().is_some_and(|(_, recorded)| state != Some(*recorded)) {
            self.0 = None;
        }
        let Some(state) = state else { return Ok(0) };
        let steps = u64::from(RECORDED);
        let mut queued = 0;
        if self.0.is_none() {
            if batch < LEAST_BATCH || left < LEAST_LEFT {
                return Ok(0);
            }
            self.0 = record(local)?.map(|recording| (recording, state));
            queued = steps;
        }
        if let Some((recording, _)) = &self.0 {
            while queued + steps <= batch {
                local.with_gpu_backend(|remote, _| remote.gpu().replay(recording))?;
                queued += steps;
            }
        }
        Ok(queued)
    }
}

/// Number of steps to queue, at most `most`: an even one if steps can be repeated, so that the next batch begins with the state of the recording.
pub(super) fn repeatable_batch(local: &LocalDomain, most: u64) -> u64 {
    if most > u64::from(RECORDED) && launch_state(local).is_some() {
        most & !1
    } else {
        most
    }
}

/// What the launches of all steps from now on refer to; `None` if these differ, or repetition does not pay.
fn launch_state(local: &LocalDomain) -> Option<LaunchState> {
    let remote = local.backend.grains.as_ref().filter(|_| !local.populations.fluids_on_gpu())?;
    remote.launch_state(&local.populations)
}

/// Queues the first steps of a batch, and records them.
fn record(local: &mut LocalDomain) -> Result<Option<Recording>, StepError> {
    // A domain that is alone exchanges nothing in these.
    let launches = local.queued_lists().grains.iter().filter_map(|queued| match queued.work {
        Work::Grains(launch) => Some(launch),
        _ => None,
    });
    local.with_gpu_backend(|remote, host| {
        let gpu = remote.gpu().clone();
        gpu.record(move || {
            for ahead in 0..RECORDED {
                for launch in launches.clone() {
                    remote.launch(launch, host, ahead)?;
                }
            }
            Ok(())
        })
    })
}
