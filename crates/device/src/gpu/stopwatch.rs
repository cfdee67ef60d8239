//! How long a GPU works on what one queue gets.

use super::recording::outside_recordings;
use super::runtime::caught;
use super::timeline::UNREADABLE;
use super::{Api, Client, Gpu, GpuError};
use cubecl::client::ProfileWindow;
use cubecl::future::block_on;
use std::time::{Duration, Instant};

/// A measurement of the time in which a GPU works on all that its queue gets, from [`Gpu::start_stopwatch`] to [`Stopwatch::stop`].
///
/// With CUDA the GPU takes the time, from the end of all that was queued before. If nothing is queued then, the time until the first launch counts, too.
/// With wgpu the host takes the time and waits for the GPU at both ends.
pub struct Stopwatch {
    client: Client,
    begun: Begun,
}

enum Begun {
    /// `None` once it has ended.
    Window(Option<ProfileWindow>),
    At(Instant),
}

impl Gpu {
    /// Starts a measurement on the queue of this thread.
    ///
    /// # Errors
    /// If the device was lost.
    pub fn start_stopwatch(&self) -> Result<Stopwatch, GpuError> {
        let _calls = outside_recordings();
        let client = self.runtime.client.clone();
        let window = match self.description().api {
            Api::Cuda => caught(|| client.profile_start()).ok().and_then(Result::ok),
            Api::Wgpu => None,
        };
        let begun = if window.is_some() {
            Begun::Window(window)
        } else {
            self.wait()?;
            Begun::At(Instant::now())
        };
        Ok(Stopwatch { client, begun })
    }
}

impl Stopwatch {
    /// Waits for the GPU; returns for how long it has worked. `None` if its events cannot be read.
    ///
    /// # Errors
    /// If the device was lost.
    pub fn stop(mut self, gpu: &Gpu) -> Result<Option<Duration>, GpuError> {
        let _calls = outside_recordings();
        match &mut self.begun {
            Begun::At(started) => {
                gpu.wait()?;
                Ok(Some(started.elapsed()))
            }
            Begun::Window(window) => {
                let times = window.take().map(|window| caught(|| self.client.profile_end(window)));
                // The wait for events has no limit, unlike this one.
                gpu.wait()?;
                let Some(Ok(Ok(times))) = times else { return Ok(None) };
                let ticks = caught(|| block_on(times.resolve())).ok().flatten();
                let time = ticks.map(|ticks| ticks.duration());
                Ok(time.filter(|time| !time.is_zero() && time.as_secs_f64() < UNREADABLE))
            }
        }
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        if let Begun::Window(Some(window)) = self.begun {
            let _calls = outside_recordings();
            // A failure of the device is reported by what comes after.
            let _ = caught(|| self.client.profile_abandon(window));
        }
    }
}
