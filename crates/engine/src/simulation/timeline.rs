//! A timeline of some steps, on request.

use crate::simulation::Simulation;
use crate::state::{Timeline, TimelineRow, TimelineSpan};
use seixo_device::gpu::Api;
use std::time::Instant;

impl Simulation {
    /// Begins a timeline of all that follows, until [`Simulation::end_timeline`]. Results are the same to the bit.
    ///
    /// With `times_launches`, GPUs that are reached through CUDA also report when each launch ran. Every launch then takes the host some microseconds
    /// longer, and few grains are not stepped from recordings. One simulation of a process can have these times at once.
    pub fn begin_timeline(&mut self, times_launches: bool) {
        // One that was never ended still has the times of launches.
        self.end_timeline();
        let since = Instant::now();
        let has_cuda = self
            .whole
            .backend
            .gpu
            .as_ref()
            .is_some_and(|gpu| gpu.description().api == Api::Cuda);
        self.whole.populations.timeline = Some(Timeline::new(since, times_launches && has_cuda));
        if let Some(subdomains) = &mut self.subdomains {
            subdomains.domains.iter_mut().for_each(|domain| domain.begin_timeline(since));
        }
    }

    /// Ends the timeline, and returns its spans: those of the domains of this process. Empty if none was begun. Waits for the launches that were timed.
    pub fn end_timeline(&mut self) -> Vec<TimelineSpan> {
        let row = match self.subdomains {
            Some(_) => TimelineRow::Whole,
            None => TimelineRow::Host(0),
        };
        let mut spans = match self.whole.populations.timeline.take() {
            Some(timeline) => timeline.into_spans(row),
            None => Vec::new(),
        };
        if let Some(subdomains) = &mut self.subdomains {
            spans.extend(subdomains.domains.iter_mut().flat_map(|domain| domain.end_timeline()));
        }
        spans
    }
}
