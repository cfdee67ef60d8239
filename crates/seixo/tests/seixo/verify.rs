//! Every short case of `validation/` passes.

use seixo::device_options::{DecompositionArguments, DeviceArguments};
use seixo::engine::world::Precision;
use seixo::verify::{Bench, CASES, Case, Row, VerifyArguments, chosen};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Short cases that take over ten seconds each.
const TEN_SECONDS: [&str; 3] = ["haff", "incompressible", "box_stability"];

/// Asserts that the short cases of this choice pass.
#[track_caller]
fn assert_pass(is_chosen: impl Fn(&str) -> bool) {
    let cases: Vec<&Case> = CASES.iter().filter(|case| !case.is_long && is_chosen(case.name)).collect();
    let next = AtomicUsize::new(0);
    let bench = Bench {
        threads: 1,
        place: DeviceArguments::default(),
        decomposition: DecompositionArguments::default(),
        precision: Precision::F64,
    };
    let work = || {
        let mut failures = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let report = case.run(&bench);
            assert!(report.error.is_some() || !report.rows.is_empty(), "{} measures nothing", case.name);
            failures.extend(report.error.map(|error| format!("{}: {error}", case.name)));
            failures.extend(
                report
                    .rows
                    .iter()
                    .filter(|row| !row.passes())
                    .map(|row| format!("{}: {row:?}", case.name)),
            );
        }
        failures
    };
    let failures: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn short_cases_pass() {
    assert_pass(|name| !TEN_SECONDS.contains(&name));
}

#[test]
fn cases_of_ten_seconds_pass() {
    assert_pass(|name| TEN_SECONDS.contains(&name));
}

#[test]
fn cases_pass_among_two_domains_and_those_too_small_say_so() {
    let bench = Bench {
        threads: 2,
        place: DeviceArguments::default(),
        decomposition: DecompositionArguments {
            domains: Some(2),
            gpus: None,
        },
        precision: Precision::F64,
    };
    let report = |name: &str| CASES.iter().find(|case| case.name == name).unwrap().run(&bench);
    for name in ["heat_chain", "heat_cubic", "bar", "poiseuille", "dice"] {
        let report = report(name);
        assert!(
            report.passes() && report.single_domain.is_none(),
            "{name}: {:?} {:?}",
            report.error,
            report.rows
        );
    }
    let alone = report("bouncing");
    assert!(alone.rows.is_empty() && alone.error.is_none());
    assert!(alone.single_domain.unwrap().contains("use at most 1"));
}

#[test]
fn a_figure_that_is_not_a_number_fails() {
    let row = |measured, expected| Row {
        name: String::new(),
        measured,
        expected,
        tolerance: 0.1,
        tolerance_f64: 0.1,
    };
    assert!(row(1.05, 1.0).passes());
    assert!(!row(1.2, 1.0).passes());
    assert!(!row(f64::NAN, 1.0).passes());
}

#[test]
fn cases_are_chosen_by_name() {
    let names = |words: &[&str], long| -> Result<Vec<&str>, String> {
        let cases = words.iter().map(|word| (*word).to_owned()).collect();
        let arguments = VerifyArguments {
            cases,
            long,
            ..VerifyArguments::default()
        };
        Ok(chosen(&arguments)?.iter().map(|case| case.name).collect())
    };
    assert_eq!(names(&["heap"], false).unwrap(), ["heap"]);
    assert_eq!(names(&["contact"], false).unwrap().len(), 8);
    assert_eq!(names(&["silo"], false).unwrap(), ["silo"]);
    assert!(names(&[], true).unwrap().contains(&"silo"));
    assert!(!names(&[], false).unwrap().contains(&"silo"));
    assert!(names(&["silos"], false).unwrap_err().contains("`silos`"));
}
