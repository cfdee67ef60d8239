//! Bonds of a frame as rods, and bond breaks as marks.

use std::path::Path;

use glam::DVec3;
use seixo_files::vtk::{VtkBonds, VtkPoints};

use crate::{
    PictureOptions, ViewError,
    color::{self, Rgb},
    coloring::{Coloring, Legend},
    plot::each_line,
    render::Rod,
};

/// Names of all fields for the color of bonds.
pub const FIELDS: [&str; 8] = ["utilization", "tension", "shear", "bending", "torsion", "energy", "force", "kind"];
/// Radius of a rod over the length of its bond.
const THICKNESS: f64 = 0.12;
/// The same for rods that only give context to the marks.
const THINNESS: f64 = 0.04;
/// Radius of a mark over the mean radius of the grains.
const MARK: f64 = 0.35;

/// Bonds as rods with their coloring: the used share of the strength, or another field.
pub fn rods(bonds: &VtkBonds, options: &PictureOptions) -> Result<(Coloring, Vec<Rod>), ViewError> {
    let (values, name, unit) = values_of(bonds, options.field.as_deref().unwrap_or("utilization"))?;
    let coloring = if name == "kind" {
        Coloring::classes(&values, name)
    } else {
        Coloring::scaled(&values, name, unit, options.range)
    };
    let colored = bonds.ends.iter().enumerate();
    let rods = colored.map(|(place, ends)| rod(ends, THICKNESS, coloring.color(place))).collect();
    Ok((coloring, rods))
}

/// Bonds as thin rods in one color without meaning.
pub fn plain_rods(bonds: &VtkBonds) -> Vec<Rod> {
    bonds.ends.iter().map(|ends| rod(ends, THINNESS, color::BOND)).collect()
}

fn rod(ends: &[[f64; 3]; 2], thickness: f64, color: Rgb) -> Rod {
    let ends = ends.map(DVec3::from);
    Rod {
        ends,
        radius: thickness * ends[0].distance(ends[1]),
        color,
    }
}

/// The values of a bond field, its name in the legend and its unit.
fn values_of<'a>(bonds: &'a VtkBonds, field: &str) -> Result<(Vec<f64>, &'a str, &'static str), ViewError> {
    if field == "force" {
        let force = bonds.force.iter().map(|&force| DVec3::from(force).length());
        return Ok((force.collect(), "force", "N"));
    }
    if field == "kind" {
        return Ok((bonds.kind.iter().map(|&kind| f64::from(kind)).collect(), "kind", ""));
    }
    let Some((name, values)) = bonds.fields.iter().find(|(name, _)| name == field) else {
        let known = bonds.fields.iter().map(|(name, _)| name.as_str());
        return Err(ViewError::UnknownField {
            field: field.to_owned(),
            known: known.chain(["force", "kind"]).map(str::to_owned).collect(),
        });
    };
    let (name, unit) = match name.as_str() {
        "utilization" => ("utilization", ""),
        "tension" | "shear" => (name.as_str(), "N"),
        "bending" | "torsion" => (name.as_str(), "N m"),
        "energy" => (name.as_str(), "J"),
        _ => (name.as_str(), ""),
    };
    Ok((values.clone(), name, unit))
}

/// Places and modes of bond breaks.
#[derive(Debug, PartialEq)]
pub struct BondBreaks {
    /// Names of the modes, indexed by number.
    pub modes: Vec<String>,
    /// Place \[m\] and mode of every break.
    pub breaks: Vec<(DVec3, usize)>,
}

impl BondBreaks {
    /// Bond breaks up to this time \[s\], from the table of a run.
    pub fn until(run_folder: &Path, time: f64) -> Result<BondBreaks, ViewError> {
        let path = run_folder.join("bonds.csv");
        if !path.exists() {
            return Err(ViewError::NoBonds { path });
        }
        let (mut modes, mut breaks) = (Vec::new(), Vec::new());
        let mut columns = [0; 5];
        each_line(&path, |line, cells| {
            if line == 1 {
                let column = |name: &str| {
                    let found = cells.iter().position(|cell| cell.starts_with(name));
                    found.ok_or_else(|| format!("there is no column {name:?}"))
                };
                let [when, x, y, z, mode] = ["time [", "x [", "y [", "z [", "mode ("].map(column);
                columns = [when?, x?, y?, z?, mode?];
                modes = names_in(cells[columns[4]]);
                return Ok(());
            }
            let number = |column: usize| {
                let found = cells.get(column).and_then(|cell| cell.parse::<f64>().ok());
                found.ok_or_else(|| format!("cell {} is not a number", column + 1))
            };
            let [when, x, y, z, mode] = columns;
            let mode = number(mode)? as usize;
            if mode >= modes.len() {
                return Err(format!("mode {mode} is not one of the {} that the first line names", modes.len()));
            }
            if number(when)? <= time {
                breaks.push((DVec3::new(number(x)?, number(y)?, number(z)?), mode));
            }
            Ok(())
        })?;
        Ok(BondBreaks { modes, breaks })
    }

    /// Center and radius of a mark for each break \[m\].
    pub fn marks(&self, grains: &VtkPoints) -> Vec<(DVec3, f64)> {
        let mean_radius = grains.radius.iter().sum::<f64>() / grains.radius.len().max(1) as f64;
        self.breaks.iter().map(|&(center, _)| (center, MARK * mean_radius)).collect()
    }

    /// Colors of the marks and their legend. It lists all modes in every frame, so that a series of pictures has one legend.
    pub fn coloring(&self) -> Coloring {
        let class = |(mode, name): (usize, &String)| (name.clone(), color::distinct(mode));
        Coloring {
            palette: (0..self.modes.len()).map(color::distinct).collect(),
            shade: self.breaks.iter().map(|&(_, mode)| mode as u8).collect(),
            legend: Legend::Classes {
                name: "broken by".to_owned(),
                classes: self.modes.iter().enumerate().map(class).collect(),
            },
        }
    }
}

/// The names in a column header such as `mode (0 tension; 1 shear)`.
fn names_in(column: &str) -> Vec<String> {
    let inside = column.split_once('(').map_or("", |(_, inside)| inside.trim_end_matches(')'));
    let names = inside.split("; ").filter_map(|numbered| numbered.split_once(' '));
    names.map(|(_, name)| name.to_owned()).collect()
}
