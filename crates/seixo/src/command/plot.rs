//! `seixo plot`: draws the tables of runs as charts.

use super::{Done, Failure, create_folder, write_file};
use crate::terminal;
use clap::{Args, ValueEnum};
use seixo_scene::quantity;
use seixo_view::{ChartFormat, Charts, ColumnPlot, ViewError, plot as draw, plot_columns};
use std::iter::once;
use std::path::{Path, PathBuf};

/// Draw charts of a run, or columns of one or several runs over each other
///
/// Without --y, it draws the energies, the probes, the time per pass, and the activity of CPU and GPU over time. With --y, it draws columns of probes
/// and energies of all given runs into one plot, over the time or over the column of --x, and measured data of --with beside them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo plot silo.out                                all charts as SVG, into silo.out/plots/
  seixo plot silo.out energies --format png --out .  the ledger as PNG, here
  seixo plot floating.out trace                      CPU and GPU side by side, if it ran heterogeneous
  seixo plot triaxial.out --x strain_zz --y contact_zz
                                                     stress over strain, from whichever probes have these columns
  seixo plot loose.out dense.out --y core.contact_zz --y core.contact_xx
                                                     two columns of the probe `core` of two runs, over the time
  seixo plot triaxial.out --x strain_zz --y contact_zz --with test.csv --map strain_zz=eps1 --map \"contact_zz=axial stress\"
                                                     the same beside a measured curve, whose columns have other names")]
pub struct PlotArguments {
    /// Folder of the run, then the charts to draw: all, energies, probes, profile or trace; default: all. With --y, folders of several runs
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Column for the vertical axis, such as kinetic or core.contact_zz, where `core` is a probe; repeat the option for more columns
    #[arg(long = "y", value_name = "COLUMN")]
    vertical: Vec<String>,
    /// Column for the horizontal axis; default: time
    #[arg(long = "x", value_name = "COLUMN", requires = "vertical")]
    horizontal: Option<String>,
    /// Measured data to draw as points: a table whose first line names columns, with units such as `stress [kPa]`; without a unit they are in SI
    /// units. Repeat the option for more tables
    #[arg(long = "with", value_name = "FILE", requires = "vertical")]
    measured: Vec<PathBuf>,
    /// Name that a column of --x or --y has in the measured data, if it has another one there; repeat the option for more columns
    #[arg(long = "map", value_name = "COLUMN=NAME", value_parser = mapping, requires = "measured")]
    mapped: Vec<(String, String)>,
    /// File format of the charts
    #[arg(long, value_enum, default_value = "svg")]
    format: Format,
    /// Folder for the charts; default: plots/ in the folder of the first run
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

fn mapping(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(column, name)| (column.trim(), name.trim()));
    match parts {
        Some((column, name)) if !column.is_empty() && !name.is_empty() => Ok((column.to_owned(), name.to_owned())),
        _ => Err("write the column of the run and its name in the measured data, such as contact_zz=stress".to_owned()),
    }
}

/// Returns what one of a unit is in another one; `None` if one is unknown or their dimensions differ.
fn factor(from: &str, to: &str) -> Option<f64> {
    let size = |unit: &str| {
        let symbol = if unit == "-" { "" } else { unit };
        let parsed = quantity::parse(&format!("1 {symbol}")).ok()?;
        Some((parsed.value, parsed.powers.unwrap_or_default()))
    };
    let ((from, dimension), (to, wanted)) = (size(from)?, size(to)?);
    (dimension == wanted).then_some(from / to)
}

fn input(error: impl ToString) -> Failure {
    Failure::Input(error.to_string())
}

impl PlotArguments {
    /// Returns the folder of the run and the charts to draw.
    fn charts(&self) -> Result<(&Path, Charts), Failure> {
        let (folder, what) = match &self.folders[..] {
            [folder] => (folder, What::All),
            [folder, word] => {
                let known = word
                    .to_str()
                    .filter(|_| !word.is_dir())
                    .and_then(|word| What::from_str(word, false).ok());
                (folder, known.ok_or_else(|| self.unclear())?)
            }
            _ => return Err(self.unclear()),
        };
        let charts = match what {
            What::All => Charts::All,
            What::Energies => Charts::Energies,
            What::Probes => Charts::Probes,
            What::Profile => Charts::Profile,
            What::Trace => Charts::Trace,
        };
        Ok((folder.as_path(), charts))
    }

    fn unclear(&self) -> Failure {
        let last = self.folders.last().map_or_else(String::new, |last| last.display().to_string());
        input(format!(
            "{last}: neither all, energies, probes, profile nor trace; to draw several runs into one plot, name a column of theirs with --y"
        ))
    }

    /// Draws columns over each other; returns the name of the file and its content.
    fn columns(&self, format: ChartFormat) -> Result<(String, Vec<u8>), Failure> {
        let horizontal = self.horizontal.as_deref().unwrap_or("time");
        let drawn: Vec<&str> = once(horizontal).chain(self.vertical.iter().map(String::as_str)).collect();
        if let Some((column, _)) = self.mapped.iter().find(|(column, _)| !drawn.contains(&column.as_str())) {
            return Err(input(format!(
                "--map {column}=…: this column is not drawn; spell it as in --x or --y: {}",
                drawn.join(", ")
            )));
        }
        let plot = ColumnPlot {
            runs: self.folders.clone(),
            horizontal: self.horizontal.clone(),
            vertical: self.vertical.clone(),
            measured: self.measured.clone(),
            mapped: self.mapped.clone(),
        };
        let bytes = plot_columns(&plot, factor, format).map_err(|error| match error {
            ViewError::UnknownMeasuredColumn { ref column, .. } => {
                input(format!("{error}; if one of them is meant, add --map COLUMN=NAME for {column}"))
            }
            error => input(error),
        })?;
        let fit = |letter: char| {
            if letter.is_alphanumeric() || "-_.".contains(letter) {
                letter
            } else {
                '_'
            }
        };
        let words = format!("{}-over-{horizontal}", self.vertical.join("-"));
        let name: String = words.chars().map(fit).collect();
        Ok((format!("{name}.{}", format.extension()), bytes))
    }
}

/// Draws the charts.
pub fn plot(arguments: &PlotArguments) -> Done {
    let format = match arguments.format {
        Format::Svg => ChartFormat::Svg,
        Format::Png => ChartFormat::Png,
    };
    let files = if arguments.vertical.is_empty() {
        let (folder, charts) = arguments.charts()?;
        draw(folder, charts, format).map_err(input)?
    } else {
        vec![arguments.columns(format)?]
    };
    let out = arguments.out.clone().unwrap_or_else(|| arguments.folders[0].join("plots"));
    create_folder(&out)?;
    for (name, bytes) in files {
        let path = out.join(name);
        write_file(&path, &bytes)?;
        terminal::out(&path.display().to_string())?;
    }
    Ok(())
}
