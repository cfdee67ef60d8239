//! The part of a timeline that a domain records: its passes and exchanges, and within these the calls of its transport.

use super::subdomain::Subdomain;
use crate::state::{Timeline, TimelineRow, TimelineSpan};
use std::sync::PoisonError;
use std::time::Instant;

impl Subdomain {
    /// Begins a timeline, relative to this moment.
    pub fn begin_timeline(&mut self, since: Instant) {
        self.local.populations.timeline = Some(Timeline::new(since, false));
        *self.timeline_of_transport() = Some(Timeline::new(since, false));
    }

    /// Ends the timeline; returns its spans.
    pub fn end_timeline(&mut self) -> Vec<TimelineSpan> {
        let own = self.local.populations.timeline.take();
        let of_transport = self.timeline_of_transport().take();
        let row = TimelineRow::Host(self.rank);
        let both = [own, of_transport].into_iter().flatten();
        let mut spans: Vec<TimelineSpan> = both.flat_map(|timeline| timeline.into_spans(row)).collect();
        spans.sort_by(|a, b| a.from.total_cmp(&b.from).then(b.to.total_cmp(&a.to)));
        spans
    }

    fn timeline_of_transport(&mut self) -> &mut Option<Timeline> {
        &mut self.transport.get_mut().unwrap_or_else(PoisonError::into_inner).timeline
    }
}
