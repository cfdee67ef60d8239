//! Timeline of a simulation: what each domain did when, on its host and on its GPU.

use seixo_device::gpu::{LaunchTimes, TimedWork};
use std::collections::BTreeMap;
use std::time::Instant;

/// A row of a timeline. Spans of a row are one after the other, or one within the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimelineRow {
    /// The host, where it gathers all domains of a decomposed simulation and waits for them.
    Whole,
    /// The host of the domain with this number.
    Host(usize),
    /// Launches of a domain in one queue of its GPU.
    Queue {
        /// Number of the domain.
        domain: usize,
        /// Number of the queue.
        queue: u64,
    },
    /// Copies between the GPU of a domain and those of others, as one of its queues waits for them.
    Copies {
        /// Number of the domain.
        domain: usize,
        /// Number of the queue.
        queue: u64,
    },
}

/// A span of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineSpan {
    /// Row of the span.
    pub row: TimelineRow,
    /// Name of the work: that of a pass, an exchange, a launch or a message.
    pub name: String,
    /// Start, since the timeline began \[s\].
    pub from: f64,
    /// End \[s\].
    pub to: f64,
}

/// A timeline that is being recorded, of one host.
pub(crate) struct Timeline {
    since: Instant,
    /// Present on the host that also times the launches of all.
    launches: Option<LaunchTimes>,
    spans: Vec<(&'static str, Instant, Instant)>,
}

impl Timeline {
    /// An empty timeline that began at a moment, with or without the launches of this process.
    pub(crate) fn new(since: Instant, times_launches: bool) -> Timeline {
        Timeline {
            since,
            launches: if times_launches { LaunchTimes::since(since) } else { None },
            spans: Vec::new(),
        }
    }

    /// Records work that ends now.
    pub(crate) fn note(&mut self, name: &'static str, began: Instant) {
        self.spans.push((name, began, Instant::now()));
    }

    /// Ends the timeline. Returns its spans, those of the host in this row: a span before those within it.
    pub(crate) fn into_spans(self, row: TimelineRow) -> Vec<TimelineSpan> {
        let seconds = |instant: Instant| instant.duration_since(self.since).as_secs_f64();
        let of_host = self.spans.iter().map(|&(name, from, to)| TimelineSpan {
            row,
            name: name.to_owned(),
            from: seconds(from),
            to: seconds(to),
        });
        let mut spans: Vec<TimelineSpan> = of_host.collect();
        spans.sort_by(|a, b| a.from.total_cmp(&b.from).then(b.to.total_cmp(&a.to)));
        spans.extend(self.launches.map_or(Vec::new(), |launches| one_after_the_other(launches.end())));
        spans
    }
}

/// Spans of timed work, in the order of rows and time. Where two of a row overlap, the later one begins at the end of the earlier one: a queue runs its
/// launches one by one, but its clock is compared with that of the host again every second, with errors of some microseconds.
fn one_after_the_other(timed: Vec<TimedWork>) -> Vec<TimelineSpan> {
    let span = |work: TimedWork| {
        let (domain, queue) = (work.owner, work.queue);
        TimelineSpan {
            row: if work.is_given {
                TimelineRow::Copies { domain, queue }
            } else {
                TimelineRow::Queue { domain, queue }
            },
            name: work.name,
            from: work.from,
            to: work.to,
        }
    };
    let mut spans: Vec<TimelineSpan> = timed.into_iter().map(span).collect();
    spans.sort_by(|a, b| a.row.cmp(&b.row).then(a.from.total_cmp(&b.from)));
    let mut ends: BTreeMap<TimelineRow, f64> = BTreeMap::new();
    for span in &mut spans {
        let end = ends.entry(span.row).or_insert(span.from);
        span.from = span.from.max(*end);
        span.to = span.to.max(span.from);
        *end = span.to;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_of_a_queue_never_overlap() {
        let work = |queue: u64, is_given: bool, from: f64, to: f64| TimedWork {
            name: "work".to_owned(),
            owner: 1,
            queue,
            is_given,
            from,
            to,
        };
        let timed = vec![
            work(0, false, 2.0, 3.0),
            work(0, false, 0.0, 2.5),
            work(2, false, 0.5, 1.0),
            work(0, true, 1.0, 4.0),
        ];
        let found: Vec<(TimelineRow, f64, f64)> = one_after_the_other(timed)
            .iter()
            .map(|span| (span.row, span.from, span.to))
            .collect();
        let queue = |queue: u64| TimelineRow::Queue { domain: 1, queue };
        let copies = TimelineRow::Copies { domain: 1, queue: 0 };
        let expected = [(queue(0), 0.0, 2.5), (queue(0), 2.5, 3.0), (queue(2), 0.5, 1.0), (copies, 1.0, 4.0)];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_span_comes_before_those_within_it() {
        let start = Instant::now();
        let mut timeline = Timeline::new(start, false);
        timeline.note("inner", start);
        timeline.note("outer", start);
        let spans = timeline.into_spans(TimelineRow::Host(0));
        assert!(spans[0].to >= spans[1].to && spans[0].from == 0.0, "{spans:?}");
    }
}
