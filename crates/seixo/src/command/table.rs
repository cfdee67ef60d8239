//! `seixo table`: writes the particles of a frame as a text table.

use super::{Done, Failure, write_file};
use crate::terminal;
use clap::Args;
use seixo_files::grains_out::particles;
use seixo_files::scene_names::SceneNames;
use seixo_files::vtk::{read_fluid, read_grains};
use seixo_view::{fluid_frame_of, frame_of};
use std::path::PathBuf;

/// Write the grains or the fluid particles of a frame as a text table (CSV)
///
/// Each line has the id, the center, the radius and the fields of a particle, in SI units. For fluid particles the radius is half their spacing. A
/// table of grains can be the `file` of [grains.NAME] in another scene, which reads velocity, angular_velocity, orientation, material, mass,
/// temperature and film_thickness. Clumps cannot be read back.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo table silo.out                                    all grains of the last frame, with all fields, to silo.out/table.csv
  seixo table silo.out --frame 0 --fields velocity --out start.csv
  seixo table silo.out --fields none --out heap.csv       ids, centers and radii, as a start for another scene
  seixo table tank.out --fluid --out water.csv            fluid particles with velocity, density and pressure")]
pub struct TableArguments {
    /// Folder of the run
    folder: PathBuf,
    /// Number of the frame, from 0; default: the last frame
    #[arg(long, value_name = "N")]
    frame: Option<usize>,
    /// The fluid particles instead of the grains
    #[arg(long)]
    fluid: bool,
    /// Fields to write, separated by commas, or "none"; default: all that the frame has
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    fields: Option<Vec<String>>,
    /// File to write; default: table.csv in the run folder
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the table.
pub fn table(arguments: &TableArguments) -> Done {
    let input = |error: String| Failure::Input(error);
    let points = if arguments.fluid {
        let path = fluid_frame_of(&arguments.folder, arguments.frame).map_err(|error| input(error.to_string()))?;
        read_fluid(&path).map_err(|error| input(error.to_string()))?.points()
    } else {
        let path = frame_of(&arguments.folder, arguments.frame).map_err(|error| input(error.to_string()))?;
        read_grains(&path).map_err(|error| input(error.to_string()))?
    };
    let known: Vec<&str> = points.scalars.iter().map(|(name, ..)| name.as_str()).collect();
    let fields: Vec<&str> = match &arguments.fields {
        None => known.clone(),
        Some(words) if *words == ["none"] => Vec::new(),
        Some(words) => words.iter().map(String::as_str).collect(),
    };
    if let Some(unknown) = fields.iter().find(|field| !known.contains(field)) {
        return Err(input(format!(
            "the frame has no field {unknown}; it has: {}. Others are chosen by `fields` under [output] of a scene",
            known.join(", ")
        )));
    }
    let path = arguments.out.clone().unwrap_or_else(|| arguments.folder.join("table.csv"));
    let materials = SceneNames::read(&arguments.folder).materials;
    write_file(&path, particles(&points, &fields, &materials).as_bytes())?;
    terminal::out(&path.display().to_string())
}
