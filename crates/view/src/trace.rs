//! The trace of a heterogeneous run: the passes of CPU and GPU over time, and the share of time in which both worked.

use std::path::Path;

use crate::{
    ViewError,
    chart::{Bar, Lanes},
    color::{self, Rgb},
    plot::each_line,
    scale,
};

/// The names of places in the table, each with the name of its lane, from top to bottom.
const LANES: [(&str, &str); 2] = [("gpu", "GPU"), ("cpu", "CPU")];
/// Indices of the two lanes.
const GPU: usize = 0;
const CPU: usize = 1;
/// The name of the pass in which the CPU only waits for the GPU.
const WAITING: &str = "waiting";
/// Number of steps drawn; with more, single passes could not be distinguished.
const STEPS_SHOWN: u64 = 4;

/// Wall time of one pass.
pub struct Span {
    step: u64,
    /// Index of its lane.
    lane: usize,
    pass: String,
    /// Start and end \[s\].
    from: f64,
    to: f64,
}

impl Span {
    fn read(cells: &[&str]) -> Result<Span, String> {
        let [step, place, pass, from, to] = cells else {
            return Err("expected step, processor, pass, start and end".to_owned());
        };
        let lane = LANES.iter().position(|(word, _)| word == place);
        let span = Span {
            step: step.parse().map_err(|_| format!("{step:?} is not the number of a step"))?,
            lane: lane.ok_or_else(|| format!("{place:?} is neither cpu nor gpu"))?,
            pass: (*pass).to_owned(),
            from: seconds(from)?,
            to: seconds(to)?,
        };
        if span.to < span.from {
            return Err(format!("{pass} ends at {to} s, before it begins"));
        }
        Ok(span)
    }
}

fn seconds(cell: &str) -> Result<f64, String> {
    let time = cell.parse::<f64>().ok().filter(|time| time.is_finite());
    time.ok_or_else(|| format!("{cell:?} is not a number of seconds"))
}

/// The rows of the table.
pub fn spans(path: &Path) -> Result<Vec<Span>, ViewError> {
    let mut spans = Vec::new();
    each_line(path, |line, cells| {
        if line > 1 {
            spans.push(Span::read(cells)?);
        }
        Ok(())
    })?;
    Ok(spans)
}

/// A few steps from the middle of a nonempty trace. The title gives the share of time in which both worked.
pub fn lanes(spans: &[Span], run: &str) -> Lanes {
    let first = spans[spans.len() / 2].step.saturating_sub(STEPS_SHOWN / 2);
    let of_steps = |span: &&Span| (first..=first.saturating_add(STEPS_SHOWN - 1)).contains(&span.step);
    let (mut begin, mut end, mut last) = (f64::INFINITY, f64::NEG_INFINITY, first);
    for span in spans.iter().filter(of_steps) {
        (begin, end, last) = (begin.min(span.from), end.max(span.to), last.max(span.step));
    }
    let milliseconds = |time: f64| 1e3 * (time.clamp(begin, end) - begin);
    let mut lanes = LANES.map(|(_, name)| (name.to_owned(), Vec::new()));
    let mut kinds: Vec<(String, Rgb)> = Vec::new();
    for span in spans.iter().filter(|span| span.from < end && span.to > begin) {
        let known = kinds.iter().position(|(pass, _)| *pass == span.pass);
        let kind = known.unwrap_or_else(|| {
            let is_work = span.pass != WAITING;
            let shade = if is_work { color::distinct(kinds.len()) } else { color::OTHERS };
            kinds.push((span.pass.clone(), shade));
            kinds.len() - 1
        });
        let [from, to] = [span.from, span.to].map(milliseconds);
        lanes[span.lane].1.push(Bar { kind, from, to });
    }
    let share = scale::digits(100.0 * share_of_overlap(spans), 2);
    Lanes {
        title: format!("{run} · GPU and CPU at work together for {share} % of the time"),
        horizontal: format!("time [ms] · steps {first} to {last}"),
        length: milliseconds(end),
        lanes: lanes.into(),
        kinds,
    }
}

/// Time in which both GPU and CPU worked, over the time in which either was busy; waiting is not work.
fn share_of_overlap(spans: &[Span]) -> f64 {
    let mut edges = Vec::with_capacity(2 * spans.len());
    for span in spans {
        let what = if span.pass == WAITING { LANES.len() } else { span.lane };
        edges.extend([(span.from, what, 1), (span.to, what, -1)]);
    }
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut open, mut both, mut either) = ([0; LANES.len() + 1], 0.0, 0.0);
    for pair in edges.windows(2) {
        let (time, what, change) = pair[0];
        open[what] += change;
        let lasting = pair[1].0 - time;
        if open.iter().any(|&count| count > 0) {
            either += lasting;
        }
        if open[GPU] > 0 && open[CPU] > 0 {
            both += lasting;
        }
    }
    if either > 0.0 { both / either } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(spans: &[(&str, &str, f64, f64)]) -> f64 {
        let read = |&(place, pass, from, to): &(&str, &str, f64, f64)| {
            let [from, to] = [from, to].map(|time| time.to_string());
            Span::read(&["7", place, pass, &from, &to]).unwrap()
        };
        share_of_overlap(&spans.iter().map(read).collect::<Vec<_>>())
    }

    #[test]
    fn time_counts_as_shared_while_both_are_at_work() {
        let fluids = ("gpu", "fluids", 1.0, 5.0);
        assert_eq!(share(&[]), 0.0);
        assert_eq!(share(&[fluids]), 0.0);
        assert_eq!(share(&[fluids, ("cpu", "contacts", 1.0, 5.0)]), 1.0);
        assert_eq!(share(&[("cpu", "contacts", 0.0, 2.0), fluids]), 0.2);
        // One after the other, with an idle gap between.
        assert_eq!(
            share(&[fluids, ("cpu", "contacts", 5.0, 6.0), ("cpu", "integration", 8.0, 9.0)]),
            0.0
        );
        let inside = ("cpu", "contacts", 2.0, 3.0);
        assert_eq!(share(&[fluids, inside]), 0.25);
        assert_eq!(share(&[fluids, inside, ("cpu", "integration", 7.0, 11.0)]), 0.125);
        // A waiting CPU does not work, whatever it did before.
        assert_eq!(share(&[fluids, inside, ("cpu", "waiting", 3.0, 5.0)]), 0.25);
        assert_eq!(share(&[fluids, ("cpu", "waiting", 1.0, 5.0)]), 0.0);
        // Overlapping spans of one lane count once.
        assert_eq!(share(&[fluids, inside, inside, fluids, ("cpu", "wall contacts", 2.5, 3.0)]), 0.25);
    }
}
