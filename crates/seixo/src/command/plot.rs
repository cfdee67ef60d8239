//! `seixo plot`: the tables of a run as charts.

use super::{Done, Failure, write_file};
use crate::say;
use clap::{Args, ValueEnum};
use seixo::view::{ChartFormat, Charts, plot as draw};
use std::path::PathBuf;

/// Draw energies, probes and time per pass of a run, and what CPU and GPU were at when
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo plot silo.out                                all charts as SVG, into silo.out/plots/
  seixo plot silo.out energies --format png --out .  the ledger as PNG, here
  seixo plot floating.out trace                      CPU and GPU side by side, if it ran heterogeneous")]
pub struct PlotArguments {
    /// The run folder
    folder: PathBuf,
    /// Which charts
    #[arg(value_enum, default_value = "all")]
    what: What,
    /// Format of the charts
    #[arg(long, value_enum, default_value = "svg")]
    format: Format,
    /// Folder for the charts; `plots` in the run folder if left out
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Everything there is something for
    All,
    /// The energy ledger
    Energies,
    /// Each probe
    Probes,
    /// Time per pass
    Profile,
    /// What CPU and GPU were at, of a run on both at the same time
    Trace,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Lines and text, for documents and browsers
    Svg,
    /// Pixels
    Png,
}

/// Draws the charts.
pub fn plot(arguments: &PlotArguments) -> Done {
    let charts = match arguments.what {
        What::All => Charts::All,
        What::Energies => Charts::Energies,
        What::Probes => Charts::Probes,
        What::Profile => Charts::Profile,
        What::Trace => Charts::Trace,
    };
    let format = match arguments.format {
        Format::Svg => ChartFormat::Svg,
        Format::Png => ChartFormat::Png,
    };
    let files = draw(&arguments.folder, charts, format).map_err(|error| Failure::Input(error.to_string()))?;
    let out = arguments.out.clone().unwrap_or_else(|| arguments.folder.join("plots"));
    std::fs::create_dir_all(&out).map_err(|error| Failure::Run(format!("{}: cannot create it: {error}", out.display())))?;
    for (name, bytes) in files {
        let path = out.join(name);
        write_file(&path, &bytes)?;
        say::out(&path.display().to_string())?;
    }
    Ok(())
}
