//! `seixo picture`: a frame of a run as an image.

use super::{Done, Failure, write_file};
use crate::say;
use clap::{Args, ValueEnum};
use seixo::view::{PictureOptions, Shown, ViewError, picture as draw};
use std::path::{Path, PathBuf};

/// Draw a frame of a run to a PNG image
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo picture silo.out                                the last frame, to silo.out/picture.png
  seixo picture silo.out --frame 10 --field force_z     the eleventh, colored by vertical force
  seixo picture dam.out --field pressure                particles of fluids, colored by their pressure
  seixo picture dam.out --surface                       the free surface of fluids instead of their particles, a color for each fluid
  seixo picture dam.out --surface --field speed         the same, colored by speed
  seixo picture teapots.out --spheres                   bodies that were made from meshes as the spheres with which they touch
  seixo picture silo.out --cut 0,-1,0,0                 what is behind the plane y = 0
  seixo picture silo.out --contacts chains              the force chains, where the scene has [output] contacts = true
  seixo picture beam.out --bonds                        bonds, colored by the share of their strength that they use
  seixo picture beam.out --cracks                       where bonds broke until then, colored by how they did
  seixo picture beam.out --field fragment               what still hangs together, where the scene's fields have it
  seixo picture chute.out --walls                       how deep walls are worn, where the scene says that they wear
  seixo picture silo.out --view 0,-1,0 --size 1920x1080 --no-walls --out front.png")]
pub struct PictureArguments {
    /// The run folder
    folder: PathBuf,
    /// Frame, counted from 0; the last if left out
    #[arg(long, value_name = "N")]
    frame: Option<usize>,
    #[command(flatten)]
    look: LookArguments,
    /// The image file; picture.png in the run folder if left out
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What is shown of a run, and from where.
#[derive(Args, Clone, Debug)]
pub struct LookArguments {
    /// Field to color grains and fluids by: its magnitude, or a component as in force_z; if left out speed, with --surface a color for each fluid
    #[arg(long, visible_alias = "color")]
    field: Option<String>,
    /// Draw the free surface of fluids instead of their particles; seixo surface writes it as a mesh, with options
    #[arg(long, conflicts_with_all = ["contacts", "bonds", "cracks", "walls"])]
    surface: bool,
    /// Draw of particles of fluids what the eye sees of a surface over them: smoothed in the picture, at no cost
    #[arg(long, conflicts_with_all = ["surface", "contacts", "bonds", "cracks", "walls"])]
    smooth: bool,
    /// Draw bodies that were made from meshes as the spheres with which they touch; with --bonds and --cracks, leave them out
    #[arg(long, conflicts_with_all = ["contacts", "walls"])]
    spheres: bool,
    /// Draw contacts instead of grains, as rods whose thickness and color follow the normal force
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, default_missing_value = "all", conflicts_with = "field")]
    contacts: Option<Contacts>,
    /// Draw bonds instead of grains, as rods colored by a field of theirs: used, tension, shear, bending, torsion, energy, force or kind
    #[arg(long, value_name = "FIELD", num_args = 0..=1, default_missing_value = "used", conflicts_with_all = ["field", "contacts", "walls"])]
    bonds: Option<String>,
    /// Draw marks instead of grains where bonds broke up to this frame, colored by how they did; with --bonds, among those that hold, in gray
    #[arg(long, conflicts_with_all = ["field", "contacts", "walls"])]
    cracks: bool,
    /// Draw the walls alone, colored by a field of theirs: wear_depth or worn_volume
    #[arg(long, value_name = "FIELD", num_args = 0..=1, default_missing_value = "wear_depth", conflicts_with_all = ["field", "contacts", "no_walls"])]
    walls: Option<String>,
    /// Values at the ends of the color scale, in SI units; those of the frame if left out
    #[arg(long, value_name = "LOW,HIGH", value_parser = numbers::<2>, allow_hyphen_values = true)]
    range: Option<[f64; 2]>,
    /// Direction from the scene to the camera
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::<3>, allow_hyphen_values = true)]
    view: Option<[f64; 3]>,
    /// Leave out what lies farther along a direction than this [m], walls excepted: a look inside
    #[arg(long, value_name = "X,Y,Z,FAR", value_parser = numbers::<4>, allow_hyphen_values = true)]
    cut: Option<[f64; 4]>,
    /// Width and height in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, default_value = "1600x1000")]
    size: (u32, u32),
    /// Leave the walls out
    #[arg(long)]
    no_walls: bool,
    /// Title; the name of the run folder if left out
    #[arg(long)]
    title: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Contacts {
    /// Every contact
    All,
    /// The links of force chains
    Chains,
}

pub(super) fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| format!("write {N} numbers with commas between them"))
}

pub(super) fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text
        .split_once(['x', '×'])
        .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    sides.ok_or_else(|| "write width and height in pixels with an x between them, such as 1600x1000".to_owned())
}

impl LookArguments {
    /// The same in words of pictures, of this frame.
    pub(super) fn options(&self, frame: Option<usize>) -> PictureOptions {
        let LookArguments { bonds, walls, field, .. } = self;
        PictureOptions {
            frame,
            shown: match self.contacts {
                Some(Contacts::All) => Shown::Contacts,
                Some(Contacts::Chains) => Shown::ForceChains,
                None if self.cracks => Shown::Cracks {
                    has_bonds: bonds.is_some(),
                },
                None if bonds.is_some() => Shown::Bonds,
                None if walls.is_some() => Shown::Walls,
                None if self.surface => Shown::Surface,
                None if self.smooth => Shown::Smooth,
                None => Shown::Grains,
            },
            size: self.size,
            field: [walls, bonds, field].into_iter().flatten().next().cloned(),
            range: self.range.map(|[low, high]| (low, high)),
            view: self.view,
            cut: self.cut,
            has_walls: !self.no_walls,
            has_meshes: !self.spheres,
            title: self.title.clone(),
        }
    }
}

/// What went wrong with a view: the machine, or what was asked for.
pub(super) fn failure(error: ViewError) -> Failure {
    match error {
        ViewError::NoAdapter { .. }
        | ViewError::NoDisplay { .. }
        | ViewError::Listen { .. }
        | ViewError::Device { .. }
        | ViewError::Film(_)
        | ViewError::Encoding(_) => Failure::Run(error.to_string()),
        _ => Failure::Input(error.to_string()),
    }
}

/// Refuses a file that other programs would take for something else.
pub(super) fn check_ending(path: &Path, ending: &str, what: &str) -> Done {
    if path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending)) {
        return Ok(());
    }
    let named = path.with_extension(ending);
    Err(Failure::Input(format!(
        "{}: {what}; write --out {}",
        path.display(),
        named.display()
    )))
}

/// Draws the picture.
pub fn picture(arguments: &PictureArguments) -> Done {
    let path = arguments.out.clone().unwrap_or_else(|| arguments.folder.join("picture.png"));
    check_ending(&path, "png", "pictures are PNG images")?;
    let image = draw(&arguments.folder, &arguments.look.options(arguments.frame)).map_err(|error| match error {
        ViewError::Frame(_) => Failure::Input(format!("{error}; --frame N draws another")),
        error => failure(error),
    })?;
    write_file(&path, &image)?;
    say::out(&path.display().to_string())
}
