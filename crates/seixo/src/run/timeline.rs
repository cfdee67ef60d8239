//! A timeline of some steps in the trace format of Chrome, which Perfetto and chrome://tracing show.

use super::folder::disk;
use seixo_engine::Simulation;
use seixo_engine::state::{TimelineRow, TimelineSpan};
use seixo_files::FilesError;
use seixo_files::layer::{FileLayer, replace};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::PathBuf;

/// A timeline that a run writes.
#[derive(Clone, Debug)]
pub struct TimelineOptions {
    /// File that it is written to, in the trace format of Chrome.
    pub file: PathBuf,
    /// Number of completed steps at which it begins, and at which it ends.
    pub steps: Range<u64>,
    /// Whether it has the launches on GPUs that are reached through CUDA. Each then takes the host some microseconds longer.
    pub times_launches: bool,
}

/// The timeline of a run, recorded between two of its steps.
pub(super) struct RunTimeline {
    options: TimelineOptions,
    progress: Progress,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Pending,
    Recording,
    Over,
}

impl RunTimeline {
    /// A timeline that has not begun.
    pub fn new(options: TimelineOptions) -> RunTimeline {
        RunTimeline {
            options,
            progress: Progress::Pending,
        }
    }

    /// Begins the timeline at its first step; writes it at its last one, or if the run is over. Returns a notice about the file. A timeline that cannot
    /// be written does not end the run.
    pub fn attend(&mut self, simulation: &mut Simulation, layer: &dyn FileLayer, is_over: bool) -> Option<String> {
        let (steps, file) = (simulation.steps(), self.options.file.display());
        let Range { start, end } = self.options.steps;
        match self.progress {
            Progress::Pending if is_over => {
                self.progress = Progress::Over;
                Some(format!(
                    "{file} was not written: the run ended after {steps} steps, and its timeline begins after {start}; use --trace-steps"
                ))
            }
            // As in a run that was resumed later.
            Progress::Pending if steps >= end => {
                self.progress = Progress::Over;
                Some(format!(
                    "{file} was not written: the run goes on from step {steps}, and its timeline ends after {end}"
                ))
            }
            Progress::Pending if steps >= start => {
                simulation.begin_timeline(self.options.times_launches);
                self.progress = Progress::Recording;
                None
            }
            Progress::Recording if is_over || steps >= end => {
                let spans = simulation.end_timeline();
                self.progress = Progress::Over;
                Some(match self.write(layer, &spans) {
                    Ok(()) => format!("{file} has the timeline of steps {start} to {steps}"),
                    Err(error) => format!("the timeline was not written: {error}"),
                })
            }
            _ => None,
        }
    }

    /// The next step at which the timeline begins or ends; the largest number if there is none.
    pub fn next_step(&self) -> u64 {
        match self.progress {
            Progress::Pending => self.options.steps.start,
            Progress::Recording => self.options.steps.end,
            Progress::Over => u64::MAX,
        }
    }

    fn write(&self, layer: &dyn FileLayer, spans: &[TimelineSpan]) -> Result<(), FilesError> {
        let file = &self.options.file;
        replace(layer, file, chrome_trace(spans).as_bytes()).map_err(disk(file, "write it"))
    }
}

/// Spans in the trace format of Chrome: a process for each domain, and a thread for each of its rows.
pub(crate) fn chrome_trace(spans: &[TimelineSpan]) -> String {
    let mut rows: Vec<TimelineRow> = spans.iter().map(|span| span.row).collect();
    rows.sort_unstable();
    rows.dedup();
    let named = |what: &str, (process, thread): (u64, u64), name: String| json!({"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}});
    let names = rows.iter().flat_map(|&row| {
        let place = place_of(row);
        let process = match place.0 {
            0 => "all domains".to_owned(),
            number => format!("domain {}", number - 1),
        };
        [named("process_name", place, process), named("thread_name", place, name_of(row))]
    });
    let events = spans.iter().map(|span| {
        let (process, thread) = place_of(span.row);
        let (from, duration) = (1e6 * span.from, 1e6 * (span.to - span.from));
        json!({"ph": "X", "name": span.name, "pid": process, "tid": thread, "ts": from, "dur": duration})
    });
    let all: Vec<Value> = names.chain(events).collect();
    json!({"displayTimeUnit": "ns", "traceEvents": all}).to_string()
}

/// Numbers of the process and the thread of a row.
fn place_of(row: TimelineRow) -> (u64, u64) {
    match row {
        TimelineRow::Whole => (0, 0),
        TimelineRow::Host(domain) => (1 + domain as u64, 0),
        TimelineRow::Queue { domain, queue } => (1 + domain as u64, 1 + 2 * queue),
        TimelineRow::Copies { domain, queue } => (1 + domain as u64, 2 + 2 * queue),
    }
}

fn name_of(row: TimelineRow) -> String {
    match row {
        TimelineRow::Whole | TimelineRow::Host(_) => "host".to_owned(),
        TimelineRow::Queue { queue, .. } => format!("GPU, queue {queue}"),
        TimelineRow::Copies { queue, .. } => format!("GPU, queue {queue}: copies to and from other GPUs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names_and_places_of_their_own() {
        let rows = [
            TimelineRow::Whole,
            TimelineRow::Host(0),
            TimelineRow::Host(1),
            TimelineRow::Queue { domain: 1, queue: 0 },
            TimelineRow::Copies { domain: 1, queue: 0 },
        ];
        let span = |row: TimelineRow| TimelineSpan {
            row,
            name: "a \"pass\"".to_owned(),
            from: 0.5,
            to: 0.75,
        };
        let trace: Value = serde_json::from_str(&chrome_trace(&rows.map(span))).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let places: Vec<(u64, u64)> = events
            .iter()
            .filter(|event| event["ph"] == "X" && event["name"] == "a \"pass\"" && event["ts"] == 5e5 && event["dur"] == 2.5e5)
            .map(|event| (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap()))
            .collect();
        assert_eq!(places, [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)]);
        let names = |what: &str| events.iter().filter(|event| event["name"] == what).count();
        assert_eq!((names("process_name"), names("thread_name")), (5, 5));
        assert!(events.iter().any(|event| event["args"]["name"] == "domain 1"));
    }
}
