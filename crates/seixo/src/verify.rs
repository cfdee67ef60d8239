//! `seixo verify`: runs the validation cases on this machine, and compares measured with expected values.
//!
//! A case is a folder of `validation/` with a scene, a reference with its source, and a README with the tolerances and their reasons. A function in
//! this module runs the scene, measures from positions, velocities and forces, and adds a row for each figure of the reference.
//!
//! With several subdomains, a case that is too small or cannot be decomposed is reported, and counts neither as passed nor as failed.
//!
//! Tolerances are those of double precision. In another precision, an allowance for rounding is added to each tolerance, and the heading says so.
//!
//! ```
//! use seixo::engine::world::Precision;
//! use seixo::verify::{Bench, VerifyArguments, chosen};
//!
//! let arguments = VerifyArguments { cases: vec!["contact_1".into()], ..VerifyArguments::default() };
//! let cases = chosen(&arguments)?;
//! let VerifyArguments { place, decomposition, .. } = arguments;
//! let report = cases[0].run(&Bench { threads: 1, place, decomposition, precision: Precision::F64 });
//! assert!(report.passes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod afloat;
mod archimedes;
mod balance;
mod bond;
mod case_run;
mod clump;
mod cohesion;
mod contact;
mod cube_pile;
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
mod packing;
mod pile;
mod polyhedra;
mod resistance;
mod rotating_fluid;
mod shear;
mod silo;
mod specimen;
mod tablets;
mod voxels;
mod wall;
mod wave;
mod wear;

pub use case_run::{Curve, Row};

use crate::device_options::{DecompositionArguments, DeviceArguments};
use case_run::{CaseRun, Done};
use clap::Args;
use seixo_engine::WorldError;
use seixo_engine::world::Precision;
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

/// Options for the selection of cases and for the output.
#[derive(Args, Clone, Debug, Default)]
pub struct VerifyArguments {
    /// Names of cases, or starts of names such as `contact`; default: all cases.
    pub cases: Vec<String>,
    /// Also run the cases that take minutes to hours.
    #[arg(long)]
    pub long: bool,
    /// Print one JSON object per line on the standard output.
    #[arg(long)]
    pub json: bool,
    /// Write rows and curves of the cases into this folder, as tables and charts.
    #[arg(long, value_name = "DIR")]
    pub curves: Option<PathBuf>,
    /// Number of CPU threads; 0 = all cores. Default: 1, and all cores for long cases.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Device and precision.
    #[command(flatten)]
    pub place: DeviceArguments,
    /// Decomposition.
    #[command(flatten)]
    pub decomposition: DecompositionArguments,
}

/// Device, precision and decomposition for the cases.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Number of threads; 0 = all cores.
    pub threads: usize,
    /// Device and precision.
    pub place: DeviceArguments,
    /// Decomposition.
    pub decomposition: DecompositionArguments,
    /// Precision of the device.
    pub precision: Precision,
}

/// Folder of `validation/`, and the function that measures it.
pub struct Case {
    /// Name of the folder.
    pub name: &'static str,
    /// Whether the case takes minutes to hours.
    pub is_long: bool,
    scene: &'static str,
    reference: &'static str,
    measure: fn(&mut CaseRun) -> Done,
}

macro_rules! case {
    ($name:literal, $measure:path) => {
        Case {
            name: $name,
            is_long: false,
            scene: include_str!(concat!("../validation/", $name, "/scene.toml")),
            reference: include_str!(concat!("../validation/", $name, "/reference.csv")),
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

/// All cases, in the order in which they run.
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
    case!("cube", resistance::cube),
    case!("toppling", polyhedra::toppling),
    case!("ball_shape", polyhedra::ball_shape),
    case!("face_on", polyhedra::face_on),
    case!("tumbling_box", polyhedra::tumbling_box),
    case!("box_impact", polyhedra::box_impact),
    case!("dice", polyhedra::dice),
    case!("mesh_floor", wall::mesh_floor),
    case!("mesh_edges", wall::mesh_edges),
    case!("lift", wall::lift),
    case!("conveyor", wall::conveyor),
    case!("turntable", wall::turntable),
    case!("wear_block", wear::block),
    case!("wear_ball", wear::ball),
    case!("asymmetric_top", clump::asymmetric_top),
    case!("gear_top", clump::asymmetric_top),
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
    case!("spinning_drop", rotating_fluid::spinning_drop),
    case!("taylor_couette", rotating_fluid::taylor_couette),
    case!("spun_up_drum", rotating_fluid::spun_up_drum),
    case!("standing_wave", wave::standing),
    case!("drop", droplet::drop),
    case!("archimedes", archimedes::short),
    case!("box_stability", afloat::box_stability),
    case!("dam_break_front", dam::front),
    case!(long "stack", motion::stacked),
    case!(long "cube_stack", motion::stacked),
    case!(long "janssen", silo::janssen),
    case!(long "beverloo", silo::beverloo),
    case!(long "repose", pile::repose),
    case!(long "cube_packing", packing::dice_packing),
    case!(long "tetrahedron_packing", packing::dice_packing),
    case!(long "cube_repose", cube_pile::repose),
    case!(long "tablet_silo", tablets::discharge),
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

/// Result of a case.
pub struct Report {
    /// Name of the case.
    pub case: &'static str,
    /// Measured figures.
    pub rows: Vec<Row>,
    /// Measured curves beside the expected ones.
    pub curves: Vec<Curve>,
    /// Reason why the case could not be decomposed, or computed on the device, as requested, and so was not completed.
    pub single_domain: Option<String>,
    /// Any other reason why the case was not completed.
    pub error: Option<String>,
    /// Wall time \[s\].
    pub seconds: f64,
}

impl Report {
    /// Whether all figures were measured and are within their tolerances; a case that cannot run as requested passes too.
    pub fn passes(&self) -> bool {
        self.error.is_none() && self.rows.iter().all(Row::passes)
    }
}

impl Case {
    /// Runs the case.
    pub fn run(&self, bench: &Bench) -> Report {
        let start = Instant::now();
        let mut case_run = CaseRun::new(self, bench);
        let (mut single_domain, mut error) = (None, None);
        if let Err(found) = (self.measure)(&mut case_run) {
            let reported = found.to_string();
            match found.downcast_ref() {
                Some(WorldError::Subdomains(_)) => single_domain = Some(reported),
                _ => error = Some(reported),
            }
        }
        Report {
            case: self.name,
            rows: case_run.rows,
            curves: case_run.curves,
            single_domain,
            error,
            seconds: start.elapsed().as_secs_f64(),
        }
    }
}

/// Returns the cases that the arguments select: a long case only with `--long` or by its full name.
///
/// # Errors
/// If no case has the name.
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

/// Runs the cases; returns exit code 1 if one fails, and 2 if one is unknown or the device is missing.
pub fn verify(arguments: &VerifyArguments) -> u8 {
    let cases = match chosen(arguments) {
        Ok(cases) => cases,
        Err(unknown) => {
            // Without an error stream, only the exit code is left.
            let _ = writeln!(io::stderr(), "error: {unknown}");
            return 2;
        }
    };
    let place = arguments.place.clone().with_gpus_of(&arguments.decomposition);
    let (device, precision, notices) = match place.probe() {
        Ok(found) => found,
        Err(refused) => {
            let _ = writeln!(io::stderr(), "error: {refused}");
            return 2;
        }
    };
    for notice in notices {
        let _ = writeln!(io::stderr(), "note: {notice}");
    }
    let mut reports = Vec::new();
    for case in cases {
        // A case with few grains keeps one core busy; its results have the same bits for any number of threads.
        let report = case.run(&Bench {
            threads: arguments.threads.unwrap_or(if case.is_long { 0 } else { 1 }),
            place: place.clone(),
            decomposition: arguments.decomposition,
            precision,
        });
        if let Some(folder) = &arguments.curves
            && let Err(failed) = curves::write(folder, &report)
        {
            let _ = writeln!(io::stderr(), "error: {failed}");
            return 1;
        }
        let shown = if arguments.json {
            show_json(&report)
        } else {
            show(&report, &device, precision)
        };
        reports.push(report);
        if !arrives(shown) {
            return 1;
        }
    }
    let single_domain = reports.iter().filter(|report| report.single_domain.is_some()).count();
    let failed = reports.iter().filter(|report| !report.passes()).count();
    let rows: usize = reports.iter().map(|report| report.rows.len()).sum();
    let seconds: f64 = reports.iter().map(|report| report.seconds).sum();
    let end = match (failed, arguments.json) {
        (_, true) => {
            let precision = precision.name();
            json!({"event": "verified", "device": device, "precision": precision, "cases": reports.len(), "rows": rows, "single_domain_cases": single_domain, "failed_cases": failed, "seconds": seconds}).to_string()
        }
        (0, false) if single_domain > 0 => format!(
            "All {} cases that ran as requested pass: {rows} rows in {seconds:.1} s; {single_domain} did not",
            reports.len() - single_domain
        ),
        (0, false) => format!("All {} cases pass: {rows} rows in {seconds:.1} s", reports.len()),
        (_, false) => format!("{failed} of {} cases FAIL", reports.len()),
    };
    let reported = arrives(writeln!(io::stdout(), "{end}"));
    u8::from(failed > 0 || !reported)
}

/// Prints the reason if the output failed, but not for a closed pipe. Returns whether the output succeeded.
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
        let result = if row.passes() { "pass" } else { "FAIL" };
        writeln!(out, "  {:<66} {measured:>14} {expected:>14} {tolerance:>17}  {result}", row.name)?;
    }
    if let Some(why) = &report.single_domain {
        writeln!(out, "  not as requested: {why}")?;
    }
    if let Some(error) = &report.error {
        writeln!(out, "  FAIL: {error}")?;
    }
    writeln!(out)
}

/// Formats a number: without exponent if it is neither tiny nor huge.
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
    let single_domain = &report.single_domain;
    writeln!(
        out,
        "{}",
        json!({"event": "case", "case": case, "pass": pass, "single_domain": single_domain, "error": error, "seconds": seconds})
    )
}
