//! `seixo slice`: draws a coarse-grained field of a frame on a plane.

use super::picture::{check_ending, size};
use super::{Done, Failure, quantity_in, write_file};
use crate::run::Record;
use crate::terminal;
use clap::{Args, ValueEnum};
use seixo_analysis::{Grid, Scalar, coarse_grain};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::{BondSnapshot, ContactRecord, Partner, PeriodicCell};
use seixo_files::layer::Disk;
use seixo_files::vtk::{VtkBonds, VtkContacts, VtkPoints, read_bonds, read_cell, read_contacts, read_grains};
use seixo_view::{Map, ViewError, bonds_of, contacts_of, fluid_frame_of, fluid_frames, frame_of, map};
use std::path::{Path, PathBuf};

/// Draw a coarse-grained field of a frame on a plane: solid fraction, velocity, pressure, stress
///
/// Grains, contacts and bonds of a frame are averaged with a smooth kernel ([Goldhirsch 2010], with Lucy's kernel) at the points of a grid on the
/// plane. Any run with grains can be sliced; stress and pressure need [output] contacts = true in the scene. Fluids are not averaged.
/// docs/reference/probes.md gives the formulas and their limits.
#[derive(Args)]
#[command(after_help = "\
Fields: solid_fraction, density, speed, velocity_x … velocity_z, temperature,
  pressure, deviatoric, stress_xx … stress_yz; stresses are positive in compression

Examples:
  seixo slice silo.out                                 solid fraction on a plane through the middle, seen along y
  seixo slice silo.out --field pressure                pressure, where the scene has [output] contacts = true
  seixo slice silo.out --field velocity_z --normal z --at \"2 cm\"     how fast grains sink through a level
  seixo slice silo.out --field speed --out speed.csv                   the values as a table, to plot elsewhere
  seixo slice silo.out --field stress_xz --width \"8 mm\" --frame 10   shear stress of the eleventh frame, smoother")]
pub struct SliceArguments {
    /// Folder of the run
    folder: PathBuf,
    /// Field to draw
    #[arg(long, value_parser = scalar, default_value = "solid_fraction")]
    field: Scalar,
    /// Number of the frame, from 0; default: the last frame
    #[arg(long, value_name = "N")]
    frame: Option<usize>,
    /// Axis normal to the plane
    #[arg(long, value_enum, default_value = "y")]
    normal: Axis,
    /// Position of the plane on that axis, such as "5 mm"; default: the middle of the grains
    #[arg(long, value_name = "LENGTH", value_parser = length, allow_hyphen_values = true)]
    at: Option<f64>,
    /// Width of the averaging kernel, such as "2 mm"; smaller details are smoothed out. The kernel is zero beyond twice its width. Default: the mean
    /// diameter of the grains
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    width: Option<f64>,
    /// Spacing of the grid points, at most the width of the kernel; default: a third of that width
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    spacing: Option<f64>,
    /// Values at the ends of the color scale, in SI units, such as 0,2.5; default: smallest and largest value on the plane
    #[arg(long, value_name = "LOW,HIGH", value_parser = super::picture::numbers::<2>, allow_hyphen_values = true)]
    range: Option<[f64; 2]>,
    /// Leave points blank where the solid fraction is below this value
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    blank_below: f64,
    /// Width and height of the image in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, default_value = "1600x1000")]
    size: (u32, u32),
    /// Title of the picture; default: title of the scene, or name of the run folder if there is none
    #[arg(long)]
    title: Option<String>,
    /// Image file (PNG), or table of the values if the name ends in .csv; default: slice_FIELD.png in the run folder
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Axis {
    /// Plane of y and z
    X,
    /// Plane of x and z
    Y,
    /// Plane of x and y
    Z,
}

const NAMES: [&str; 3] = ["x", "y", "z"];
/// Share of the grains at either end of an axis that may lie outside the picture.
const STRAYS: f64 = 0.002;
/// Largest number of grid points: more than the pixels of a picture can show.
const MAX_POINTS: f64 = 4e6;

fn length(text: &str) -> Result<f64, String> {
    quantity_in("m", text).map(|parsed| parsed.value)
}

fn scalar(text: &str) -> Result<Scalar, String> {
    let known: Result<Scalar, String> = text.parse();
    known.map_err(|unknown| format!("{unknown}; other fields of a frame are not averaged: seixo picture --field draws them"))
}

fn input(error: impl ToString) -> Failure {
    Failure::Input(error.to_string())
}

/// Returns the path of the grains to slice.
fn grain_file(folder: &Path, frame: Option<usize>) -> Result<PathBuf, Failure> {
    frame_of(folder, frame).map_err(|error| match error {
        ViewError::NoFrames { .. } if fluid_frames(folder).is_ok() => {
            let folder = folder.display();
            input(format!(
                "{folder}: this run has a fluid and no grains, but a slice averages grains; draw its particles with seixo picture {folder} --field pressure --cut 0,-1,0,0, or write them with seixo table {folder} --fluid"
            ))
        }
        error => input(error),
    })
}

/// Returns the values of a field of the grains, if the frame has it.
fn values_of<'a>(frame: &'a VtkPoints, wanted: &str) -> Option<&'a [f64]> {
    let mut fields = frame.scalars.iter();
    fields.find(|(name, _, _)| name == wanted).map(|(_, values, _)| values.as_slice())
}

/// Returns the masses of the grains \[kg\], from the frame or from the densities of the scene. The record of the run shows whether a file gave masses: the
/// file may have changed since then.
fn masses(folder: &Path, frame: &VtkPoints) -> Result<Vec<f64>, Failure> {
    if let Some(mass) = values_of(frame, "mass") {
        return Ok(mass.to_vec());
    }
    let scene = folder.join("scene.toml");
    let densities = seixo_scene::densities(&scene).map_err(|found| Failure::Scene(Box::new(found)))?;
    let density = |i: usize| match values_of(frame, "material") {
        Some(material) => densities.of_materials.get(material[i] as usize).copied(),
        None => densities.of_grains,
    };
    let mass = |(i, radius): (usize, &f64)| Some(4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * density(i)?);
    let is_given = Record::read(&Disk, folder).and_then(|record| record.given_masses) == Some(true);
    let masses: Option<Vec<f64>> = frame.radius.iter().enumerate().map(mass).collect();
    masses.filter(|_| !is_given).ok_or_else(|| {
        input("grains are of several materials or of given masses, and the frame does not say which is of which; add \"mass\" to `fields` under [output] in the scene and run it")
    })
}

/// Returns the periodic cell of a frame of a run at this time \[s\]: that of the scene, or that of the frame if its lengths are controlled.
fn cell_of(folder: &Path, path: &Path, time: f64) -> Result<PeriodicCell, Failure> {
    let domain = seixo_scene::domain(&folder.join("scene.toml")).map_err(|found| Failure::Scene(Box::new(found)))?;
    match domain {
        Some(domain) if domain.control.is_some() => read_cell(path).map_err(input),
        domain => Ok(PeriodicCell::of(domain.as_ref(), time)),
    }
}

/// Whether there are polyhedra in the frame with this file of grains.
fn has_polyhedra(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(name.replacen("grains_", "polyhedra_", 1)).exists()
}

/// Reads the grains of a frame.
fn grains_of(folder: &Path, path: &Path, frame: VtkPoints) -> Result<GrainSnapshot, Failure> {
    let volume = values_of(&frame, "volume").map_or_else(Vec::new, <[f64]>::to_vec);
    if has_polyhedra(path) && (volume.is_empty() || values_of(&frame, "mass").is_none()) {
        return Err(input(
            "polyhedra have masses and volumes of their own, and the frame lacks them; add \"mass\" and \"volume\" to `fields` under [output] in the scene and run it",
        ));
    }
    let mass = masses(folder, &frame)?;
    let velocity = values_of(&frame, "velocity")
        .ok_or_else(|| input("the frame has no velocities; add \"velocity\" to `fields` under [output] in the scene and run it"))?;
    Ok(GrainSnapshot {
        velocity: velocity.as_chunks().0.to_vec(),
        mass,
        volume,
        id: frame.id,
        position: frame.position,
        radius: frame.radius,
        cell: cell_of(folder, path, frame.time)?,
        ..GrainSnapshot::default()
    })
}

/// Converts the contacts of a frame. Fields need the force and the branch vector of each contact.
fn records_of(contacts: &VtkContacts) -> Vec<ContactRecord> {
    let lines = contacts.ends.iter().zip(&contacts.normal_force).zip(&contacts.tangential_force);
    let record = |((&[from, to], &force), &tangential_force): ((&[[f64; 3]; 2], &f64), &[f64; 3])| {
        let branch = [0, 1, 2].map(|k| to[k] - from[k]);
        let long = branch.iter().map(|x| x * x).sum::<f64>().sqrt();
        let normal = branch.map(|x| x / long);
        ContactRecord {
            a: 0,
            b: Partner::Grain(0),
            center: to,
            point: from,
            branch,
            normal,
            overlap: 0.0,
            normal_force: normal.map(|x| x * force),
            tangential_force,
        }
    };
    lines.map(record).collect()
}

/// Converts the bonds of a frame. Fields need the force and the ends of each bond.
fn bonds_in(bonds: &VtkBonds) -> Vec<BondSnapshot> {
    let snapshot = |bond: usize| BondSnapshot {
        kind: 0,
        grains: bonds.grains[bond],
        ends: bonds.ends[bond],
        force: bonds.force[bond],
        tension: 0.0,
        shear: 0.0,
        bending: 0.0,
        torsion: 0.0,
        energy: 0.0,
        utilization: 0.0,
    };
    (0..bonds.ends.len()).map(snapshot).collect()
}

/// Returns the ends of a periodic axis of the domain, or else an interval that contains nearly all grains \[m\].
fn ends(grains: &GrainSnapshot, axis: usize) -> [f64; 2] {
    let PeriodicCell { low, length, .. } = &grains.cell;
    if grains.cell.is_periodic(axis) {
        return [low[axis], low[axis] + length[axis]];
    }
    [-1.0, 1.0].map(|side| {
        let mut faces: Vec<f64> = grains
            .position
            .iter()
            .zip(&grains.radius)
            .map(|(x, r)| x[axis] + side * r)
            .collect();
        faces.sort_unstable_by(f64::total_cmp);
        let strays = (STRAYS * faces.len() as f64) as usize;
        if side < 0.0 {
            faces[strays]
        } else {
            faces[faces.len() - 1 - strays]
        }
    })
}

impl SliceArguments {
    /// Returns the grid on the plane, and the width of the kernel \[m\].
    fn grid(&self, grains: &GrainSnapshot) -> Result<(Grid, f64), Failure> {
        let normal = self.normal as usize;
        let width = self
            .width
            .unwrap_or_else(|| 2.0 * grains.radius.iter().sum::<f64>() / grains.radius.len() as f64);
        let spacing = self.spacing.unwrap_or(width / 3.0);
        if !(spacing > 0.0 && spacing <= width) {
            return Err(input(format!(
                "the spacing is {spacing} m, must be above 0 and at most the width, {width} m"
            )));
        }
        let at = self.at.unwrap_or_else(|| {
            let mut places: Vec<f64> = grains.position.iter().map(|x| x[normal]).collect();
            *places.select_nth_unstable_by(grains.position.len() / 2, f64::total_cmp).1
        });
        let faces = |side: f64| grains.position.iter().zip(&grains.radius).map(move |(x, r)| x[normal] + side * r);
        let [least, most] = [
            faces(-1.0).fold(f64::INFINITY, f64::min),
            faces(1.0).fold(f64::NEG_INFINITY, f64::max),
        ];
        if !grains.cell.is_periodic(normal) && !(least - 2.0 * width..=most + 2.0 * width).contains(&at) {
            return Err(input(format!(
                "the plane {} = {at} m is out of reach of all grains; they are between {least} m and {most} m, so choose --at there",
                NAMES[normal]
            )));
        }
        let (mut low, mut high) = ([at - 0.5 * spacing; 3], [at + 0.5 * spacing; 3]);
        for axis in (0..3).filter(|&axis| axis != normal) {
            [low[axis], high[axis]] = ends(grains, axis);
        }
        let points: f64 = (0..3).map(|axis| ((high[axis] - low[axis]) / spacing).max(1.0)).product();
        if points > MAX_POINTS {
            return Err(input(format!(
                "{points:.0} points are more than {MAX_POINTS:.0}; choose a larger --spacing or --width"
            )));
        }
        // The grid covers the far ends completely: a partial cell would leave a stripe.
        let high = [0, 1, 2].map(|axis| low[axis] + ((high[axis] - low[axis]) / spacing * (1.0 - 1e-9)).ceil() * spacing);
        Ok((Grid::between(low.into(), high.into(), spacing), width))
    }

    /// Returns the axes of the plane, to the right and upwards.
    fn sides(&self) -> [usize; 2] {
        [[1, 2], [0, 2], [0, 1]][self.normal as usize]
    }

    /// Writes the table: position and value of each grid point.
    fn table(&self, grid: &Grid, values: &[f64]) -> Vec<u8> {
        let [across, up] = self.sides();
        let unit = if self.field.unit().is_empty() { "-" } else { self.field.unit() };
        let mut text = format!("{} [m],{} [m],{} [{unit}]\n", NAMES[across], NAMES[up], self.field.word());
        for (index, value) in values.iter().enumerate() {
            let place = [index % grid.points[across], index / grid.points[across]];
            let [right, above] = [(across, place[0]), (up, place[1])].map(|(axis, k)| grid.origin[axis] + grid.spacing * k as f64);
            text.push_str(&format!("{right},{above},{value}\n"));
        }
        text.into_bytes()
    }

    /// Draws the picture of these values.
    fn image(&self, (grid, width): (&Grid, f64), time: f64, values: &[f64]) -> Result<Vec<u8>, Failure> {
        let (normal, [across, up]) = (self.normal as usize, self.sides());
        let folder = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
        let run = folder.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let titles = [self.title.clone(), Record::read(&Disk, &folder).map(|record| record.title)];
        let title = titles.into_iter().flatten().find(|title| !title.is_empty()).unwrap_or(run);
        let (at, width) = (1e3 * grid.origin[normal], 1e3 * width);
        let drawn = Map {
            title: &title,
            time,
            plane: &format!("{} = {at:.4} mm   ·   kernel of {width:.3} mm", NAMES[normal]),
            axes: [NAMES[across], NAMES[up]],
            origin: [grid.origin[across], grid.origin[up]],
            spacing: grid.spacing,
            points: [grid.points[across], grid.points[up]],
            values,
            field: self.field.word(),
            unit: self.field.unit(),
            range: self.range.map(|[low, high]| (low, high)),
        };
        map(&drawn, self.size).map_err(input)
    }
}

/// Draws the slice.
pub fn slice(arguments: &SliceArguments) -> Done {
    let name = format!("slice_{}.png", arguments.field.word());
    let out = arguments.out.clone().unwrap_or_else(|| arguments.folder.join(name));
    let is_table = out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    if !is_table {
        check_ending(&out, "png", "slices are PNG images, or tables if the name ends in .csv")?;
    }
    let path = grain_file(&arguments.folder, arguments.frame)?;
    let frame = read_grains(&path).map_err(input)?;
    let time = frame.time;
    if frame.id.is_empty() {
        return Err(input(format!(
            "{}: there is no grain in this frame; choose another --frame",
            path.display()
        )));
    }
    if fluid_frame_of(&arguments.folder, arguments.frame).is_ok() {
        terminal::note("the fluid of this frame is left out: a slice averages grains");
    }
    if arguments.field == Scalar::Temperature && values_of(&frame, "temperature").is_some() {
        terminal::note(
            "this is the granular temperature of velocities; seixo picture --field temperature draws the temperature of the grains",
        );
    }
    let grains = grains_of(&arguments.folder, &path, frame)?;
    let (mut contacts, mut bonds) = (Vec::new(), Vec::new());
    if arguments.field.needs_contacts() {
        let file = contacts_of(&arguments.folder, &path).map_err(input)?;
        contacts = records_of(&read_contacts(&file).map_err(input)?);
        // Only frames of bonded grains have bonds.
        if let Ok(file) = bonds_of(&path) {
            bonds = bonds_in(&read_bonds(&file).map_err(input)?);
        }
    }
    let (grid, width) = arguments.grid(&grains)?;
    let fields = coarse_grain(&grid, width, &grains, &contacts, &bonds);
    let mut values = arguments.field.values(&fields);
    if !arguments.field.is_density() {
        let thin = values.iter_mut().zip(&fields.solid_fraction);
        thin.filter(|(_, share)| **share < arguments.blank_below)
            .for_each(|(value, _)| *value = f64::NAN);
    }
    let bytes = if is_table {
        arguments.table(&grid, &values)
    } else {
        arguments.image((&grid, width), time, &values)?
    };
    write_file(&out, &bytes)?;
    terminal::out(&out.display().to_string())
}
