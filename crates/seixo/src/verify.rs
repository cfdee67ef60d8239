//! `seixo verify`: the validation cases on this machine, measured against expected.
//!
//! A case is a folder of `validation/` – a scene, a reference with its source, a README with the tolerances and their reasons – and a
//! function here that runs the scene, measures from positions, velocities and forces what an observer would, and adds a row for each
//! figure of the reference.
//!
//! Among several domains, a case that is too small for them, or of a kind that is not divided, is told of and counts neither as passed nor as failed.
//!
//! Tolerances are those of double precision. Where another precision is asked for, what its rounding may do to a figure is added, and the
//! heading says so.

mod afloat;
mod archimedes;
mod balance;
mod bond;
mod clump;
mod cohesion;
mod contact;
mod curves;
mod dam;
mod droplet;
mod fluid;
mod gas;
mod granular;
mod heat;
mod incompressible;
mod measuring;
mod motion;
mod normal;
mod pile;
mod resistance;
mod shear;
mod silo;
mod specimen;
mod stand;
mod turning;
mod voxels;
mod wall;
mod wave;
mod wear;

pub use stand::{Curve, Row};

use crate::place::{DivisionArguments, PlaceArguments};
use clap::Args;
use seixo_engine::Refusal;
use seixo_engine::world::Precision;
use serde_json::json;
use stand::{Done, Stand};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// What to verify, and how to say it.
#[derive(Args, Clone, Debug, Default)]
pub struct VerifyArguments {
    /// Cases by name, or by the start of it as in `contact`; all if left out.
    pub cases: Vec<String>,
    /// Also run the cases that take minutes to hours.
    #[arg(long)]
    pub long: bool,
    /// Print one JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// Write rows and curves of the cases, as tables and charts, into this folder.
    #[arg(long, value_name = "DIR")]
    pub curves: Option<PathBuf>,
    /// Threads; all cores if left out.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Where, and with how many digits.
    #[command(flatten)]
    pub place: PlaceArguments,
    /// Among what the cases are divided.
    #[command(flatten)]
    pub division: DivisionArguments,
}

/// What a case is measured on.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Threads; 0 = all cores.
    pub threads: usize,
    /// Where, and with how many digits.
    pub place: PlaceArguments,
    /// Among what it is divided.
    pub division: DivisionArguments,
    /// The digits that this comes to.
    pub precision: Precision,
}

/// A folder of `validation/` and what it measures.
pub struct Case {
    /// Name of the folder.
    pub name: &'static str,
    /// Whether it takes minutes to hours.
    pub is_long: bool,
    scene: &'static str,
    reference: &'static str,
    measure: fn(&mut Stand) -> Done,
}

macro_rules! case {
    ($name:literal, $measure:path) => {
        Case {
            name: $name,
            is_long: false,
            scene: include_str!(concat!("../../../validation/", $name, "/scene.toml")),
            reference: include_str!(concat!("../../../validation/", $name, "/reference.csv")),
            measure: $measure,
        }
    };
    (long $name:literal, $measure:path) => {
        Case {
            is_long: true,
            ..case!($name, $measure)
        }
    };
}

/// Every case, in the order in which they run.
pub const CASES: &[Case] = &[
    case!("contact_1", contact::elastic),
    case!("contact_2", contact::elastic),
    case!("contact_3", contact::rebound),
    case!("contact_4", contact::oblique),
    case!("contact_5", contact::sliding),
    case!("contact_6", contact::spinning),
    case!("contact_7", contact::opposite_spin),
    case!("contact_8", contact::spinning),
    case!("linear_impact", contact::linear),
    case!("viscoelastic", normal::viscoelastic),
    case!("hysteretic", normal::hysteretic),
    case!("potential", normal::potential),
    case!("jkr_hanging", cohesion::hanging),
    case!("jkr_impact", cohesion::impact),
    case!("dmt", cohesion::hanging),
    case!("sjkr", cohesion::hanging),
    case!("capillary_hanging", cohesion::hanging),
    case!("capillary_parting", cohesion::parting),
    case!("bouncing", motion::bouncing),
    case!("resting", motion::resting),
    case!("incline", motion::incline),
    case!("integrators", motion::integrators),
    case!("rolling_decay", resistance::rolling_decay),
    case!("rolling_incline", resistance::rolling_incline),
    case!("twisting_decay", resistance::twisting_decay),
    case!("twist_mixed", resistance::twist_mixed),
    case!("block", resistance::block),
    case!("mesh_floor", wall::mesh_floor),
    case!("mesh_edges", wall::mesh_edges),
    case!("lift", wall::lift),
    case!("conveyor", wall::conveyor),
    case!("turntable", wall::turntable),
    case!("wear_block", wear::block),
    case!("wear_ball", wear::ball),
    case!("asymmetric_top", clump::asymmetric_top),
    case!("clump_impact", clump::impact),
    case!("voxels", voxels::converging),
    case!("periodic_measurement", measuring::periodic_measurement),
    case!("cluster", balance::cluster),
    case!("heap", balance::heap),
    case!("haff", gas::haff),
    case!("heat_pair", heat::pair),
    case!("heat_chain", heat::chain),
    case!("heat_cubic", heat::cubic),
    case!("hydrostatic", fluid::hydrostatic),
    case!("incompressible", incompressible::incompressible),
    case!("poiseuille", fluid::poiseuille),
    case!("taylor_green", fluid::taylor_green),
    case!("spinning_drop", turning::spinning_drop),
    case!("taylor_couette", turning::taylor_couette),
    case!("spun_up_drum", turning::spun_up_drum),
    case!("standing_wave", wave::standing),
    case!("drop", droplet::drop),
    case!("archimedes", archimedes::short),
    case!("box_stability", afloat::box_stability),
    case!("dam_break_front", dam::front),
    case!(long "stack", motion::stacked),
    case!(long "janssen", silo::janssen),
    case!(long "beverloo", silo::beverloo),
    case!(long "repose", pile::repose),
    case!(long "mu_i", shear::mu_i),
    case!(long "penetration", granular::penetration),
    case!(long "drum", granular::drum),
    case!(long "silo", granular::silo),
    case!("gear", motion::integrators),
    case!("cantilever", bond::cantilever),
    case!("bond_failure", bond::failure),
    case!("bar", bond::bar),
    case!(long "uniaxial", specimen::uniaxial),
    case!(long "brazilian", specimen::brazilian),
    case!(long "cavity", fluid::cavity),
    case!(long "cavity_1000", fluid::cavity_1000),
    case!(long "rayleigh_taylor", fluid::rayleigh_taylor),
    case!(long "lobovsky", dam::impact),
    case!(long "wave_paddle", wave::paddled),
    case!(long "archimedes_long", archimedes::long),
    case!(long "sphere_in_tube", afloat::sphere_in_tube),
];

/// What a case came to.
pub struct Report {
    /// Name of the case.
    pub case: &'static str,
    /// What was measured.
    pub rows: Vec<Row>,
    /// Curves beside what is expected of them.
    pub curves: Vec<Curve>,
    /// Why it was not divided as was asked for, and so not measured to the end.
    pub undivided: Option<String>,
    /// Why else it could not be measured to the end.
    pub error: Option<String>,
    /// Wall time it took \[s\].
    pub seconds: f64,
}

impl Report {
    /// Whether everything was measured, but for what is not divided, and is within its tolerance.
    pub fn passes(&self) -> bool {
        self.error.is_none() && self.rows.iter().all(Row::passes)
    }
}

impl Case {
    /// Runs the case.
    pub fn run(&self, bench: &Bench) -> Report {
        let start = Instant::now();
        let mut stand = Stand::new(self, bench);
        let (mut undivided, mut error) = (None, None);
        if let Err(found) = (self.measure)(&mut stand) {
            let told = found.to_string();
            match found.downcast_ref() {
                Some(Refusal::Division(_)) => undivided = Some(told),
                _ => error = Some(told),
            }
        }
        Report {
            case: self.name,
            rows: stand.rows,
            curves: stand.curves,
            undivided,
            error,
            seconds: start.elapsed().as_secs_f64(),
        }
    }
}

/// The cases that the arguments ask for: a long one only with `--long`, or by its whole name.
///
/// # Errors
/// If a name is that of no case.
pub fn chosen(arguments: &VerifyArguments) -> Result<Vec<&'static Case>, String> {
    let wanted = &arguments.cases;
    if let Some(unknown) = wanted
        .iter()
        .find(|name| !CASES.iter().any(|case| case.name.starts_with(name.as_str())))
    {
        let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(format!("no case is named `{unknown}`; cases are: {}", known.join(", ")));
    }
    let is_chosen = |case: &&Case| {
        let is_named = wanted.iter().any(|name| name == case.name);
        let is_meant = wanted.is_empty() || wanted.iter().any(|name| case.name.starts_with(name.as_str()));
        is_named || is_meant && (arguments.long || !case.is_long)
    };
    Ok(CASES.iter().filter(is_chosen).collect())
}

/// Runs the cases; exit code 1 if one fails, 2 if one is unknown or the device is not there.
pub fn verify(arguments: &VerifyArguments) -> ExitCode {
    let cases = match chosen(arguments) {
        Ok(cases) => cases,
        Err(unknown) => {
            // Where even the error stream is gone, the exit code has to do.
            let _ = writeln!(io::stderr(), "error: {unknown}");
            return ExitCode::from(2);
        }
    };
    let (device, precision, notices) = match arguments.place.probe() {
        Ok(found) => found,
        Err(refused) => {
            let _ = writeln!(io::stderr(), "error: {refused}");
            return ExitCode::from(2);
        }
    };
    for notice in notices {
        let _ = writeln!(io::stderr(), "note: {notice}");
    }
    let mut reports = Vec::new();
    for case in cases {
        // A few grains keep one core busy; their results are the same bits on any number of threads.
        let report = case.run(&Bench {
            threads: arguments.threads.unwrap_or(if case.is_long { 0 } else { 1 }),
            place: arguments.place.clone(),
            division: arguments.division,
            precision,
        });
        if let Some(folder) = &arguments.curves
            && let Err(failed) = curves::write(folder, &report)
        {
            let _ = writeln!(io::stderr(), "error: {failed}");
            return ExitCode::FAILURE;
        }
        let shown = if arguments.json {
            show_json(&report)
        } else {
            show(&report, &device, precision)
        };
        reports.push(report);
        if !arrives(shown) {
            return ExitCode::FAILURE;
        }
    }
    let undivided = reports.iter().filter(|report| report.undivided.is_some()).count();
    let failed = reports.iter().filter(|report| !report.passes()).count();
    let rows: usize = reports.iter().map(|report| report.rows.len()).sum();
    let seconds: f64 = reports.iter().map(|report| report.seconds).sum();
    let end = match (failed, arguments.json) {
        (_, true) => {
            let precision = precision.name();
            json!({"event": "verified", "device": device, "precision": precision, "cases": reports.len(), "rows": rows, "undivided_cases": undivided, "failed_cases": failed, "seconds": seconds}).to_string()
        }
        (0, false) if undivided > 0 => format!(
            "All {} cases that were divided pass: {rows} rows in {seconds:.1} s; {undivided} were not divided",
            reports.len() - undivided
        ),
        (0, false) => format!("All {} cases pass: {rows} rows in {seconds:.1} s", reports.len()),
        (_, false) => format!("{failed} of {} cases FAIL", reports.len()),
    };
    let told = arrives(writeln!(io::stdout(), "{end}"));
    if failed == 0 && told {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether what was printed arrives; unless its reader went away, it is told why not.
fn arrives(printed: io::Result<()>) -> bool {
    if let Err(error) = &printed
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = writeln!(io::stderr(), "error: cannot write to the standard output: {error}");
    }
    printed.is_ok()
}

fn show(report: &Report, device: &str, precision: Precision) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let tolerance = match precision {
        Precision::F64 => "tolerance".to_owned(),
        _ => format!("tolerance ({})", precision.name()),
    };
    writeln!(out, "{} ({:.1} s on {device})", report.case, report.seconds)?;
    writeln!(out, "  {:<66} {:>14} {:>14} {tolerance:>17}", "", "measured", "expected")?;
    for row in &report.rows {
        let [measured, expected] = [row.measured, row.expected].map(number);
        let tolerance = format!("{:.1e}", row.tolerance);
        let verdict = if row.passes() { "pass" } else { "FAIL" };
        writeln!(out, "  {:<66} {measured:>14} {expected:>14} {tolerance:>17}  {verdict}", row.name)?;
    }
    if let Some(why) = &report.undivided {
        writeln!(out, "  not divided: {why}")?;
    }
    if let Some(error) = &report.error {
        writeln!(out, "  FAIL: {error}")?;
    }
    writeln!(out)
}

/// A number at a glance: plain where it is neither tiny nor huge.
fn number(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-2..1e5).contains(&value.abs());
    if is_plain { format!("{value:.5}") } else { format!("{value:.4e}") }
}

fn show_json(report: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for row in &report.rows {
        writeln!(
            out,
            "{}",
            json!({"event": "row", "case": report.case, "row": row, "pass": row.passes()})
        )?;
    }
    let (case, pass, error, seconds) = (report.case, report.passes(), &report.error, report.seconds);
    let undivided = &report.undivided;
    writeln!(
        out,
        "{}",
        json!({"event": "case", "case": case, "pass": pass, "undivided": undivided, "error": error, "seconds": seconds})
    )
}
