//! Timelines: what each domain did when.

use crate::alike::assert_same;
use crate::beds::falling;
use crate::domains::started;
use seixo_engine::state::{TimelineRow, TimelineSpan};
use seixo_laws::contact::TangentialLaw;

/// Spans of a row, in their order.
fn of_row(spans: &[TimelineSpan], row: TimelineRow) -> Vec<&TimelineSpan> {
    spans.iter().filter(|span| span.row == row).collect()
}

/// Asserts that each span is within an earlier one, or after it.
fn assert_nested(spans: &[&TimelineSpan]) {
    let mut open: Vec<&TimelineSpan> = Vec::new();
    for &span in spans {
        assert!(span.from >= 0.0 && span.to >= span.from, "{span:?}");
        while open.last().is_some_and(|outer| outer.to <= span.from && outer.from < span.from) {
            open.pop();
        }
        if let Some(outer) = open.last() {
            assert!(outer.from <= span.from && span.to <= outer.to, "{outer:?} and {span:?}");
        }
        open.push(span);
    }
}

/// Exchanges of each step, in their order.
const EXCHANGES: [&str; 4] = [
    "departure of ghost positions",
    "agreement on neighbor lists",
    "neighbor lists and ghosts",
    "agreement on errors",
];

/// Calls of the transport.
const CALLS: [&str; 3] = ["send", "receive", "gather"];

/// Whether a span contains another one.
fn contains(outer: &TimelineSpan, inner: &TimelineSpan) -> bool {
    outer.from <= inner.from && inner.to <= outer.to
}

/// Asserts that a step has its exchanges one after the other, with contacts between them.
fn assert_in_order(step: &TimelineSpan, parts: &[&TimelineSpan]) {
    let of_step: Vec<&TimelineSpan> = parts.iter().copied().filter(|part| contains(step, part)).collect();
    let exchanges: Vec<&TimelineSpan> = of_step.iter().copied().filter(|part| EXCHANGES.contains(&&part.name[..])).collect();
    assert_eq!(exchanges.iter().map(|part| &part.name[..]).collect::<Vec<_>>(), EXCHANGES);
    assert!(exchanges.windows(2).all(|pair| pair[0].to <= pair[1].from), "{exchanges:?}");
    let mut contacts = of_step.iter().filter(|part| part.name == "contacts");
    assert!(
        contacts.any(|part| exchanges[1].to <= part.from && part.to <= exchanges[3].from),
        "{of_step:?}"
    );
}

#[test]
fn passes_and_exchanges_of_each_domain_are_in_its_steps_and_results_stay_the_same() {
    let world = falling(3000, TangentialLaw::Mindlin);
    let mut traced = started(&world, 2);
    traced.advance(20).unwrap();
    traced.begin_timeline(true);
    traced.advance(40).unwrap();
    let spans = traced.end_timeline();
    assert!(traced.end_timeline().is_empty());
    traced.advance(20).unwrap();
    let mut plain = started(&world, 2);
    plain.advance(80).unwrap();
    for simulation in [&mut traced, &mut plain] {
        simulation.observe().unwrap();
    }
    assert_same(&mut plain, &mut traced, "with a timeline");
    let whole = of_row(&spans, TimelineRow::Whole);
    assert_eq!(whole.iter().map(|span| &span.name[..]).collect::<Vec<_>>(), ["steps"]);
    for domain in 0..2 {
        let own = of_row(&spans, TimelineRow::Host(domain));
        assert_nested(&own);
        let named = |name: &str| own.iter().filter(|span| span.name == name).count();
        assert_eq!((named("steps"), named("step"), named("contacts") > 0), (1, 40, true));
        // A domain has one neighbor, to which it sends at every step.
        assert!(named("agreement on neighbor lists") == 40 && named("send") >= 40 && named("receive") >= 40);
        let window = own[0];
        assert!(window.name == "steps" && own.iter().all(|span| span.to <= window.to));
        let (steps, parts): (Vec<&TimelineSpan>, Vec<&TimelineSpan>) = own[1..].iter().copied().partition(|span| span.name == "step");
        assert!(
            steps.windows(2).all(|pair| pair[0].to <= pair[1].from),
            "domain {domain}: {steps:?}"
        );
        for step in &steps {
            assert_in_order(step, &parts);
        }
        let (calls, work): (Vec<&TimelineSpan>, Vec<&TimelineSpan>) =
            parts.iter().copied().partition(|part| CALLS.contains(&&part.name[..]));
        let is_within = |inner: &TimelineSpan, outer: &[&TimelineSpan]| outer.iter().any(|outer| contains(outer, inner));
        assert!(work.iter().all(|part| is_within(part, &steps)), "domain {domain}: {own:?}");
        assert!(calls.iter().all(|call| is_within(call, &work)), "domain {domain}: {own:?}");
    }
    assert_eq!(
        spans.len(),
        (0..2).map(|domain| of_row(&spans, TimelineRow::Host(domain)).len()).sum::<usize>() + 1
    );
}
