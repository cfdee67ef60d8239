//! One frame of a run folder as a picture: the scene in perspective with legend, scale bar, title and time.

mod legend_labels;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use glam::DVec3;
use seixo_files::scene_names::SceneNames;
use seixo_files::vtk::{
    VtkBodies, VtkBonds, VtkContacts, VtkPoints, VtkWalls, read_bodies, read_bonds, read_contacts, read_polyhedra, read_walls,
};

use crate::{
    ViewError,
    bodies::Surfaces,
    bonds::{self, BondBreaks},
    camera::Projection,
    coloring::{Coloring, Legend, fields_of},
    fluid::SphereSet,
    render::{Pane, Renderer, Rod},
    scene_bounds::SceneBox,
    snapshot::{Snapshot, SnapshotParts},
};

/// View of the grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// The grains and fluid particles.
    #[default]
    Grains,
    /// The grains, and the free surface of fluids instead of their particles.
    Surface,
    /// The grains, and the visible part of the surface of fluids, smoothed in screen space, which takes no time.
    Smooth,
    /// The contacts as rods; thickness and color follow the normal force.
    Contacts,
    /// The contacts that are links of force chains.
    ForceChains,
    /// The bonds as rods, colored by one of their fields.
    Bonds,
    /// Marks where bonds broke up to the time of the frame, colored by mode.
    BondBreaks {
        /// Whether the intact bonds are drawn around them, thin and gray.
        has_bonds: bool,
    },
    /// The walls alone, colored by one of their fields.
    Walls,
}

impl Shown {
    /// Whether fluids and bodies are drawn beside the bonds or marks. Most contacts lie inside of them and would be hidden.
    fn is_among_others(self) -> bool {
        matches!(self, Shown::Bonds | Shown::BondBreaks { .. })
    }
}

/// Contents and view of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOptions {
    /// Frame index from 0; `None` = the last one.
    pub frame: Option<usize>,
    /// Width and height \[px\].
    pub size: (u32, u32),
    /// View of the grains.
    pub shown: Shown,
    /// Field for the color; `None` = automatic.
    ///
    /// Grains and fluid particles are colored by the field if they have it; a vector gives its magnitude, or a component as in `force_z`. Grains
    /// without the field are gray; fluids without it have a pale color each. Automatic is speed, or radius without velocities, and one color per
    /// fluid if a surface is shown. Walls have `wear_depth` or `worn_volume`. Bonds have `used`, the share of their strength, or `tension`, `shear`,
    /// `bending`, `torsion`, `energy`, `force`, `kind`.
    pub field: Option<String>,
    /// Values at the ends of the color scale in SI units; `None` = from the values of the frame.
    pub range: Option<(f64, f64)>,
    /// Direction from the scene to the camera; `None` = from the front, slightly from the side and above; a plane flow is seen head-on.
    pub view: Option<[f64; 3]>,
    /// Projection of the camera; `None` = orthographic for a plane flow, else perspective.
    pub projection: Option<Projection>,
    /// Clip plane: a direction and a distance along it \[m\] beyond which nothing is drawn except walls.
    pub cut: Option<[f64; 4]>,
    /// Whether walls are drawn.
    pub has_walls: bool,
    /// Whether bodies from meshes are drawn as meshes instead of their contact spheres, and polyhedral grains with their faces instead of their
    /// bounding spheres.
    pub has_meshes: bool,
    /// Title; `None` = the title of the scene, or the name of the run folder if there is none.
    pub title: Option<String>,
}

impl Default for PictureOptions {
    fn default() -> Self {
        PictureOptions {
            frame: None,
            shown: Shown::Grains,
            size: (1600, 1000),
            field: None,
            range: None,
            view: None,
            projection: None,
            cut: None,
            has_walls: true,
            has_meshes: true,
            title: None,
        }
    }
}

/// The grain file of a frame, by index from 0; of the last frame for `None`.
pub fn frame_of(run_folder: &Path, frame: Option<usize>) -> Result<PathBuf, ViewError> {
    chosen(frames(run_folder, "grains_")?, frame).map(|(path, _)| path)
}

/// The fluid file of a frame, by index from 0; that of the last one for `None`.
///
/// # Errors
/// If there is no such frame.
pub fn fluid_frame_of(run_folder: &Path, frame: Option<usize>) -> Result<PathBuf, ViewError> {
    chosen(fluid_frames(run_folder)?, frame).map(|(path, _)| path)
}

/// One of these frames, by index from 0, and its number; the last one for `None`.
fn chosen(mut frames: Vec<PathBuf>, frame: Option<usize>) -> Result<(PathBuf, usize), ViewError> {
    let last = frames.len() - 1;
    let index = frame.unwrap_or(last);
    if index > last {
        return Err(ViewError::FrameOutOfRange { frame: index, last });
    }
    Ok((frames.swap_remove(index), index))
}

/// The contact file of the frame with this grain file.
pub fn contacts_of(run_folder: &Path, grains: &Path) -> Result<PathBuf, ViewError> {
    let path = run_folder.join("contacts").join(file_name(grains).replace("grains_", "contacts_"));
    if path.exists() {
        Ok(path)
    } else {
        Err(ViewError::NoContacts { path })
    }
}

/// The bond file of the frame with this grain file.
pub fn bonds_of(grains: &Path) -> Result<PathBuf, ViewError> {
    let path = beside(grains, "bonds");
    if path.exists() {
        Ok(path)
    } else {
        Err(ViewError::NoBonds { path })
    }
}

/// The fluid files of all frames, in order.
pub fn fluid_frames(run_folder: &Path) -> Result<Vec<PathBuf>, ViewError> {
    frames(run_folder, "fluid_").map_err(|error| match error {
        ViewError::NoFrames { folder } if frame_of(&folder, None).is_ok() => ViewError::NoFluid { path: folder },
        error => error,
    })
}

/// One frame of a run folder as a PNG image.
pub fn picture(run_folder: &Path, options: &PictureOptions) -> Result<Vec<u8>, ViewError> {
    options.check()?;
    let snapshot = Snapshot::read(run_folder, options)?;
    snapshot.draw(&Renderer::offscreen()?, options)?.png()
}

/// The files that define the frames of a run, in order: grain files, or fluid files if there are no grains.
pub fn frames_of(run_folder: &Path) -> Result<Vec<PathBuf>, ViewError> {
    match frames(run_folder, "grains_") {
        Err(ViewError::NoFrames { .. }) => frames(run_folder, "fluid_"),
        found => found,
    }
}

/// Name of a run folder.
pub fn name_of(run_folder: &Path) -> String {
    let name = run_folder.canonicalize().unwrap_or_else(|_| run_folder.to_path_buf());
    name.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Title of the scene of a run; the name of the run folder if there is none.
pub fn title_of(run_folder: &Path) -> String {
    SceneNames::read(run_folder).title.unwrap_or_else(|| name_of(run_folder))
}

impl Snapshot {
    /// Reads a frame of a run folder.
    ///
    /// # Errors
    /// If the frame does not exist, cannot be read, or lacks the requested contents.
    pub fn read(run_folder: &Path, options: &PictureOptions) -> Result<Snapshot, ViewError> {
        Snapshot::read_by(run_folder, options, |file| SphereSet::read(file).map(Arc::new))
    }

    /// As [`Snapshot::read`]; `tables` provides the tables of the frame with a given file.
    ///
    /// # Errors
    /// As [`Snapshot::read`].
    pub(crate) fn read_by(
        run_folder: &Path,
        options: &PictureOptions,
        tables: impl FnOnce(&Path) -> Result<Arc<SphereSet>, ViewError>,
    ) -> Result<Snapshot, ViewError> {
        let (path, number) = &chosen(frames_of(run_folder)?, options.frame)?;
        let balls = match options.shown {
            Shown::Surface => Arc::new(SphereSet::with_surface(path)?),
            _ => tables(path)?,
        };
        let walls_path = beside(path, "walls");
        let walls = if options.has_walls && walls_path.exists() {
            read_walls(&walls_path)?
        } else {
            VtkWalls::default()
        };
        let bodies = if options.has_meshes { surfaces_beside(path)? } else { None };
        let contacts = match options.shown {
            Shown::Contacts | Shown::ForceChains => Some(read_contacts(&contacts_of(run_folder, path)?)?),
            _ => None,
        };
        let bonds = match options.shown {
            Shown::Bonds | Shown::BondBreaks { has_bonds: true } => Some(read_bonds(&bonds_of(path)?)?),
            _ => None,
        };
        let cracks = match options.shown {
            Shown::BondBreaks { .. } => Some(BondBreaks::until(run_folder, balls.points.time)?),
            _ => None,
        };
        let options = PictureOptions {
            title: options.title.clone().or_else(|| Some(title_of(run_folder))),
            ..options.clone()
        };
        let snapshot = Snapshot::of((&balls, bodies, walls), (contacts, bonds, cracks), &options, *number as u64)?;
        Ok(snapshot.labeled(run_folder))
    }

    /// Names groups, materials and fluids in the legend, if it has a color for each.
    fn labeled(mut self, run_folder: &Path) -> Snapshot {
        if matches!(self.coloring.legend, Legend::Classes { .. }) {
            legend_labels::label(&mut self.coloring.legend, &SceneNames::read(run_folder));
        }
        self
    }

    /// A snapshot of a simulation that runs into a folder.
    ///
    /// # Errors
    /// If the parts lack the requested contents.
    pub fn of_parts(run_folder: &Path, parts: SnapshotParts, options: &PictureOptions, number: u64) -> Result<Snapshot, ViewError> {
        let cracks = match options.shown {
            Shown::BondBreaks { .. } => Some(BondBreaks::until(run_folder, parts.time)?),
            _ => None,
        };
        let balls = SphereSet::of_both(parts.grains, parts.fluid);
        let snapshot = Snapshot::of(
            (&balls, parts.bodies, parts.walls),
            (parts.contacts, parts.bonds, cracks),
            options,
            number,
        )?;
        Ok(snapshot.labeled(run_folder))
    }

    /// A snapshot of these grains, fluids, bodies and walls, and of contacts, bonds or bond breaks.
    ///
    /// # Errors
    /// If they lack the field for the color.
    pub(crate) fn of(
        (balls, bodies, file): (&SphereSet, Option<VtkBodies>, VtkWalls),
        (contacts, bonds, cracks): (Option<VtkContacts>, Option<VtkBonds>, Option<BondBreaks>),
        options: &PictureOptions,
        number: u64,
    ) -> Result<Snapshot, ViewError> {
        let SphereSet {
            points,
            surface,
            grains,
            particles,
        } = balls;
        let (grains, particles) = (*grains, *particles);
        let (mut panes, mut marks) = (Vec::new(), None);
        let (coloring, rods) = match (options.shown, contacts, bonds, cracks) {
            (Shown::Surface | Shown::Smooth, ..) if particles > 0 => {
                let field = options.field.clone().or_else(|| Some("fluid".to_owned()));
                (Coloring::of(points, &PictureOptions { field, ..options.clone() })?, Vec::new())
            }
            (Shown::Walls, ..) => {
                let (coloring, colored) = colored(&file, options)?;
                panes = colored;
                (coloring, Vec::new())
            }
            (shown, Some(contacts), ..) => rods(&contacts, points, shown, options.range),
            (Shown::Bonds, _, Some(bonds), _) => bonds::rods(&bonds, options)?,
            (_, _, bonds, Some(cracks)) => {
                marks = Some(cracks.marks(points));
                (cracks.coloring(), bonds.as_ref().map_or_else(Vec::new, bonds::plain_rods))
            }
            _ => (Coloring::of(points, options)?, Vec::new()),
        };
        let mut walls = vec![Vec::new(); file.names.len()];
        let mut painted = panes.iter().map(|&(index, _)| index).peekable();
        for (index, (corners, wall)) in file.triangles.into_iter().zip(file.wall).enumerate() {
            if painted.next_if_eq(&index).is_none()
                && let Some(wall) = walls.get_mut(wall as usize)
            {
                wall.push(corners.map(DVec3::from));
            }
        }
        let of_skin = |corners: &[(usize, DVec3); 3]| Pane {
            corners: corners.map(|(at, _)| points.position[at].into()),
            normals: corners.map(|(_, normal)| normal),
            colors: corners.map(|(at, _)| coloring.color(at)),
        };
        let skin = surface.iter().map(of_skin).collect();
        let place = |(&center, &radius): (&[f64; 3], &f64)| (DVec3::from(center), radius);
        let all = || points.position.iter().zip(&points.radius).map(place);
        // The origin must not lie halfway to an outlier, since all other positions would lose digits.
        let origin = SceneBox::of(all()).map_or(DVec3::ZERO, |around| around.center());
        let ball = |(center, radius): (DVec3, f64)| (center - origin).as_vec3().extend(radius as f32).to_array();
        let mut balls: Vec<[f32; 4]> = all().map(ball).collect();
        let shown = match options.shown {
            Shown::Grains | Shown::Smooth => points.id.len(),
            Shown::Surface => grains,
            _ => 0,
        };
        let bodies = bodies.filter(|_| options.has_meshes && (shown > 0 || options.shown.is_among_others()));
        let has_others = options.shown.is_among_others() && (particles > 0 || bodies.is_some());
        let beside = has_others.then(|| Coloring::plain(points));
        let colors = beside.as_ref().unwrap_or(&coloring);
        let surfaces = bodies.map(|bodies| Surfaces::of(&bodies, &points.id[..grains], colors));
        let bodies = surfaces.map_or_else(Vec::new, |surfaces| surfaces.in_place_of(&mut balls));
        Ok(Snapshot {
            number,
            title: options.title.clone().unwrap_or_default(),
            time: points.time,
            fields: fields_of(points),
            skin,
            bodies,
            coloring,
            beside,
            shown,
            is_smooth: options.shown == Shown::Smooth,
            grains,
            particles,
            rods,
            marks: marks.map(|marks| marks.into_iter().map(ball).collect()),
            panes: panes.into_iter().map(|(_, pane)| pane).collect(),
            origin,
            balls,
            id: points.id.clone(),
            walls,
            gpu_particles: None,
            extent: OnceLock::new(),
        })
    }
}

/// Surfaces of bodies and of polyhedral grains in the frame with this file, if it has some.
fn surfaces_beside(file: &Path) -> Result<Option<VtkBodies>, ViewError> {
    let [bodies, polyhedra] = ["bodies", "polyhedra"].map(|kind| Some(beside(file, kind)).filter(|path| path.exists()));
    let bodies = bodies.map(|path| read_bodies(&path)).transpose()?;
    let polyhedra = polyhedra.map(|path| read_polyhedra(&path)).transpose()?;
    Ok(match polyhedra {
        Some(polyhedra) => Some(bodies.unwrap_or_default().with_polyhedra(&polyhedra)),
        None => bodies,
    })
}

/// The triangles of walls that have a field, with their indices in the file, and their coloring.
fn colored(file: &VtkWalls, options: &PictureOptions) -> Result<(Coloring, Vec<(usize, Pane)>), ViewError> {
    let asked = options.field.as_deref().unwrap_or("wear_depth");
    let Some((name, values)) = file.fields.iter().find(|(name, _)| name == asked) else {
        return Err(ViewError::UnknownWallField {
            field: asked.to_owned(),
            known: file.fields.iter().map(|(name, _)| name.clone()).collect(),
        });
    };
    let unit = match name.as_str() {
        "wear_depth" => "m",
        "worn_volume" => "m³",
        _ => "",
    };
    // NaN marks a wall without the field.
    let chosen: Vec<usize> = (0..values.len()).filter(|&index| values[index].is_finite()).collect();
    let shown: Vec<f64> = chosen.iter().map(|&index| values[index]).collect();
    let coloring = Coloring::scaled(&shown, name, unit, options.range);
    let pane = |(place, &index): (usize, &usize)| (index, Pane::flat(file.triangles[index].map(DVec3::from), coloring.color(place)));
    let panes = chosen.iter().enumerate().map(pane).collect();
    Ok((coloring, panes))
}

/// Radius of the rod of the strongest force, over the mean radius of the grains.
const THICKEST: f64 = 0.45;
/// Least radius of a rod over that of the strongest force, so that it remains visible.
const THINNEST: f64 = 0.03;

/// Contacts as rods, with their coloring.
fn rods(contacts: &VtkContacts, grains: &VtkPoints, shown: Shown, range: Option<(f64, f64)>) -> (Coloring, Vec<Rod>) {
    let chosen: Vec<usize> = (0..contacts.ends.len())
        .filter(|&i| shown == Shown::Contacts || contacts.is_in_chain[i])
        .collect();
    let forces: Vec<f64> = chosen.iter().map(|&i| contacts.normal_force[i]).collect();
    let coloring = Coloring::scaled(&forces, "normal force", "N", range);
    let strongest = match coloring.legend {
        Legend::Scale { range: (_, high), .. } => high.max(f64::MIN_POSITIVE),
        Legend::Classes { .. } => 1.0,
    };
    let mean_radius = grains.radius.iter().sum::<f64>() / grains.radius.len().max(1) as f64;
    let rod = |(place, (&i, &force)): (usize, (&usize, &f64))| Rod {
        ends: contacts.ends[i].map(DVec3::from),
        radius: THICKEST * mean_radius * (force.abs() / strongest).clamp(THINNEST, 1.0),
        color: coloring.color(place),
    };
    let rods = chosen.iter().zip(&forces).enumerate().map(rod).collect();
    (coloring, rods)
}

impl PictureOptions {
    pub(crate) fn check(&self) -> Result<(), ViewError> {
        ViewError::check_size(self.size)?;
        if let Some(view) = self.view
            && DVec3::from(view).try_normalize().is_none()
        {
            return Err(ViewError::Direction(view));
        }
        if let Some(cut @ [x, y, z, far]) = self.cut
            && (DVec3::new(x, y, z).try_normalize().is_none() || !far.is_finite())
        {
            return Err(ViewError::Cut(cut));
        }
        match self.range {
            Some((low, high)) if !(low < high && (high - low).is_finite()) => Err(ViewError::Range(low, high)),
            _ => Ok(()),
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The file of another kind of the same frame.
pub(crate) fn beside(file: &Path, kind: &str) -> PathBuf {
    let name = file_name(file);
    let number = name.split_once('_').map_or(name.as_str(), |(_, number)| number);
    file.with_file_name(format!("{kind}_{number}"))
}

/// Refuses a run folder that is none.
pub fn check_folder(run_folder: &Path) -> Result<(), ViewError> {
    if run_folder.is_dir() {
        return Ok(());
    }
    Err(ViewError::NotAFolder {
        path: run_folder.to_path_buf(),
        what: if run_folder.exists() {
            "this is a file"
        } else {
            "there is no such folder"
        },
    })
}

/// The files of one kind in a run folder, in order.
fn frames(run_folder: &Path, kind: &str) -> Result<Vec<PathBuf>, ViewError> {
    let fields = run_folder.join("fields");
    let mut frames = Vec::new();
    check_folder(run_folder)?;
    if !fields.exists() {
        return Err(ViewError::NoFrames {
            folder: run_folder.to_path_buf(),
        });
    }
    for entry in std::fs::read_dir(&fields).map_err(ViewError::io(&fields))? {
        let path = entry.map_err(ViewError::io(&fields))?.path();
        let name = file_name(&path);
        if name.starts_with(kind) && name.ends_with(".vtp") {
            frames.push(path);
        }
    }
    frames.sort();
    if frames.is_empty() {
        Err(ViewError::NoFrames {
            folder: run_folder.to_path_buf(),
        })
    } else {
        Ok(frames)
    }
}
