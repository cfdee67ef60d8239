//! `seixo plot`: draws the tables of a run as charts.

use super::{Done, Failure, create_folder, write_file};
use crate::terminal;
use clap::{Args, ValueEnum};
use seixo::view::{ChartFormat, Charts, plot as draw};
use std::path::PathBuf;

/// Draw charts of a run: energies, probes, time per pass, and the activity of CPU and GPU over time
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo plot silo.out                                all charts as SVG, into silo.out/plots/
  seixo plot silo.out energies --format png --out .  the ledger as PNG, here
  seixo plot floating.out trace                      CPU and GPU side by side, if it ran heterogeneous")]
pub struct PlotArguments {
    /// Folder of the run
    folder: PathBuf,
    /// Charts to draw
    #[arg(value_enum, default_value = "all")]
    what: What,
    /// File format of the charts
    #[arg(long, value_enum, default_value = "svg")]
    format: Format,
    /// Folder for the charts; default: plots/ in the run folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// All charts for which the run has data
    All,
    /// Energies of the energy ledger
    Energies,
    /// Each probe over time
    Probes,
    /// Wall time per pass
    Profile,
    /// Activity of CPU and GPU over time, for a run with device "heterogeneous"
    Trace,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Vector graphics, for documents and browsers
    Svg,
    /// Pixel image
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
    create_folder(&out)?;
    for (name, bytes) in files {
        let path = out.join(name);
        write_file(&path, &bytes)?;
        terminal::out(&path.display().to_string())?;
    }
    Ok(())
}
