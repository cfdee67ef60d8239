//! `seixo picture`: draws a frame of a run as an image.

use super::{Done, Failure, write_file};
use crate::terminal;
use clap::{Args, ValueEnum};
use seixo_view::{PictureOptions, Projection, Shown, ViewError, picture as draw};
use std::path::{Path, PathBuf};

/// Draw a frame of a run as a PNG image
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
  seixo picture silo.out --view 0,0,1 --projection orthographic   from above, as on a plan
  seixo picture silo.out --view 0,-1,0 --size 1920x1080 --no-walls --out front.png

The camera frames what is visible in this frame. Pictures of several frames with one camera and one color scale:
  seixo film silo.out --pictures frames --no-video")]
pub struct PictureArguments {
    /// Folder of the run
    folder: PathBuf,
    /// Number of the frame, from 0; default: the last frame
    #[arg(long, value_name = "N")]
    frame: Option<usize>,
    #[command(flatten)]
    look: LookArguments,
    /// Image file, PNG; default: picture.png in the run folder
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Options for the content of a picture and its camera.
#[derive(Args, Clone, Debug)]
pub struct LookArguments {
    /// Field by which grains and fluids are colored: a scalar, the magnitude of a vector, or a component such as force_z. Default: speed; with
    /// --surface one color for each fluid
    #[arg(long, visible_alias = "color")]
    field: Option<String>,
    /// Draw the free surface of fluids instead of their particles. `seixo surface` writes it as a mesh, with options
    #[arg(long, conflicts_with_all = ["contacts", "bonds", "cracks", "walls"])]
    surface: bool,
    /// Draw a smooth surface over the fluid particles instead of spheres. It is computed in screen space, at almost no cost
    #[arg(long, conflicts_with_all = ["surface", "contacts", "bonds", "cracks", "walls"])]
    smooth: bool,
    /// Draw the spheres of bodies that were made from meshes, and the bounding spheres of polyhedral grains, instead of their surfaces. With --bonds
    /// and --cracks, leave these bodies out
    #[arg(long, conflicts_with_all = ["contacts", "walls"])]
    spheres: bool,
    /// Draw contacts instead of grains, as rods; thickness and color show the normal force
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, default_missing_value = "all", conflicts_with = "field")]
    contacts: Option<Contacts>,
    /// Draw bonds instead of grains, as rods colored by a field of the bonds: utilization (share of the strength), tension, shear, bending, torsion, energy,
    /// force or kind. Default field: utilization
    #[arg(long, value_name = "FIELD", num_args = 0..=1, default_missing_value = "utilization", conflicts_with_all = ["field", "contacts", "walls"])]
    bonds: Option<String>,
    /// Draw a mark instead of grains at each bond that broke up to this frame, colored by break mode. With --bonds, draw the intact bonds too, in
    /// gray
    #[arg(long, conflicts_with_all = ["field", "contacts", "walls"])]
    cracks: bool,
    /// Draw the walls alone, colored by a field of the walls: wear_depth or worn_volume. Default field: wear_depth
    #[arg(long, value_name = "FIELD", num_args = 0..=1, default_missing_value = "wear_depth", conflicts_with_all = ["field", "contacts", "no_walls"])]
    walls: Option<String>,
    /// Values at the ends of the color scale, in SI units, such as 0,2.5; default: smallest and largest value of the frame
    #[arg(long, value_name = "LOW,HIGH", value_parser = numbers::<2>, allow_hyphen_values = true)]
    range: Option<[f64; 2]>,
    /// Direction from the scene to the camera, such as 0,-1,0 for a view along +y. A plane flow is seen head-on by default
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::<3>, allow_hyphen_values = true)]
    view: Option<[f64; 3]>,
    /// Projection of the camera. Default: orthographic for a plane flow, else perspective
    #[arg(long, value_enum, value_name = "WHICH")]
    projection: Option<ProjectionWord>,
    /// Hide everything farther than FAR [m] along the direction X,Y,Z, except walls. Example: 0,-1,0,0 shows the part behind the plane y = 0
    #[arg(long, value_name = "X,Y,Z,FAR", value_parser = numbers::<4>, allow_hyphen_values = true)]
    cut: Option<[f64; 4]>,
    /// Width and height of the image in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, default_value = "1600x1000")]
    size: (u32, u32),
    /// Do not draw walls
    #[arg(long)]
    no_walls: bool,
    /// Title; default: title of the scene, or name of the run folder if there is none
    #[arg(long)]
    title: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Contacts {
    /// All contacts
    All,
    /// Contacts of force chains only
    Chains,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProjectionWord {
    /// Near objects look larger
    Perspective,
    /// Near and far objects look equally large
    Orthographic,
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
    /// Converts the options to those of a picture of this frame.
    pub(super) fn options(&self, frame: Option<usize>) -> PictureOptions {
        let LookArguments { bonds, walls, field, .. } = self;
        PictureOptions {
            frame,
            shown: match self.contacts {
                Some(Contacts::All) => Shown::Contacts,
                Some(Contacts::Chains) => Shown::ForceChains,
                None if self.cracks => Shown::BondBreaks {
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
            projection: self.projection.map(|word| match word {
                ProjectionWord::Perspective => Projection::Perspective,
                ProjectionWord::Orthographic => Projection::Orthographic,
            }),
            cut: self.cut,
            has_walls: !self.no_walls,
            has_meshes: !self.spheres,
            title: self.title.clone(),
        }
    }
}

/// Converts an error of a view: a failure of the machine, or wrong input.
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

/// Refuses a file name whose ending belongs to another format.
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
    terminal::out(&path.display().to_string())
}
