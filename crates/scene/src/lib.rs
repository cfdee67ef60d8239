//! The scene file: schema, units, diagnostics, and its assembly into a world.
//!
//! [`load`] is the whole sequence: text → tree with positions (`document`) → keys and quantities (`reader`, `schema`) → world (`assemble`).
//!
//! ```
//! let text = seixo_scene::templates()[0].text;
//! let scene = seixo_scene::load_text(text, "bounce.toml".as_ref(), &[])?;
//! assert_eq!(scene.title, "Bouncing balls");
//! assert_eq!(scene.world.gravity, [0.0, 0.0, -9.81]);
//! let overrides = [("run.until".to_owned(), "1 s".to_owned())];
//! let shorter = seixo_scene::load_text(text, "bounce.toml".as_ref(), &overrides)?;
//! assert_eq!(shorter.run.until, 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assemble;
mod blocks;
mod bonds;
mod condition;
mod device;
pub mod diagnostics;
mod document;
mod doubts;
pub mod explain;
mod fill;
mod films;
mod fluid;
mod grain_boundary;
mod grain_keys;
mod grains;
mod heat;
mod inlet;
mod interactions;
mod joint;
mod mesh_placement;
mod mesh_uses;
mod orient_mesh;
mod outline;
mod polyhedra;
mod probes;
pub mod quantity;
mod range;
mod rate;
mod reader;
mod renamed_keys;
mod rounding;
mod scalars;
mod schema;
mod section;
mod sections;
mod shape;
mod shapes_in_use;
mod shear;
mod solids;
mod source;
mod spheres;
mod stage;
mod start;
mod synonyms;
mod templates;
mod vocabulary;
mod volume;
mod walls;

pub use condition::{Condition, Measure, ProbeColumn};
pub use device::Device;
pub use diagnostics::{Diagnostic, Diagnostics, UnlocatedDiagnostic, escape_controls};
pub use inlet::{Inlet, InletTotals};
pub use mesh_uses::{MeshUses, uses_of_mesh};
pub use outline::{Outlined, Outlines};
pub use probes::{Carrier, Enclosure, FluidProbe, Passage};
pub use rate::Rate;
pub use schema::schema;
pub use source::{Source, key_of};
pub use spheres::{VoxelizationRequest, VoxelizedMesh, spheres_of_mesh};
pub use stage::{Freeze, Plan, Stage, StageAction, StageItem, StageTarget, Zone};
pub use templates::{Template, templates};
pub use walls::RegionServo;

use diagnostics::Next;
use seixo_analysis::{Grid, Region, SpeedLimit};
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Domain, Settings, Vec3, World};
use seixo_files::vtk::{Encoding, Field};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A scene that was read, checked and assembled: ready to run.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Title.
    pub title: String,
    /// The world at the start.
    pub world: World,
    /// Device and settings of the steps.
    pub settings: Settings,
    /// Length of the run.
    pub run: RunPlan,
    /// Files that the run writes.
    pub output: OutputPlan,
    /// Interval of checkpoints.
    pub checkpoint: CheckpointPlan,
    /// Quantities logged over time, in alphabetical order.
    pub probes: Vec<Probe>,
    /// Events during the run.
    pub plan: Plan,
    /// Meshes of bodies that were made from meshes.
    pub outlines: Outlines,
    /// The scene as TOML with all defaults filled in and all paths absolute; it loads to the same scene, unless one of its files is moved.
    pub resolved: String,
    /// Absolute paths of the files and folders that it names, as they were read.
    pub files: Vec<PathBuf>,
    /// Notes for the user that are not errors.
    pub notices: Vec<String>,
    /// Positions of keys in the file, for errors of the engine.
    pub source: Source,
}

/// Length of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunPlan {
    /// Time at which the run ends \[s\].
    pub until: f64,
    /// Start of all random numbers.
    pub seed: u64,
}

impl RunPlan {
    /// Number of steps of this length \[s\] in the run: the number closest to its end, but at least one.
    pub fn steps(&self, time_step: f64) -> u64 {
        ((self.until / time_step).round() as u64).max(1)
    }

    /// The note for a run that ends before its first step of this length \[s\].
    pub fn too_short(&self, time_step: f64) -> Option<String> {
        let until = self.until;
        (until < time_step).then(|| {
            format!(
                "run.until = {until:.3e} s is before the end of the first time step, {time_step:.3e} s: the run takes this one step and ends after it; let \
                 it end later, or set a shorter run.time_step"
            )
        })
    }
}

/// Files that the run writes, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputPlan {
    /// Simulated time between two frames \[s\].
    pub every: f64,
    /// Arrays of the frames besides id and radius.
    pub fields: Vec<Field>,
    /// Encoding of the arrays of the frames.
    pub encoding: Encoding,
    /// Simulated time between two lines of the energy ledger \[s\].
    pub energies_every: f64,
    /// Whether each frame has the contacts.
    pub contacts: bool,
    /// Whether each frame has the free surface of the fluids.
    pub surface: bool,
    /// Coarse-grained fields of each frame.
    pub coarse: Option<CoarsePlan>,
}

/// Coarse-grained fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoarsePlan {
    /// Grid.
    pub grid: Grid,
    /// Width of the kernel \[m\].
    pub width: f64,
}

/// Interval of checkpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointPlan {
    /// Wall time between two checkpoints \[s\].
    pub every_wall: f64,
    /// Number of checkpoints that are kept.
    pub keep: u32,
}

/// A quantity logged over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Name as in the scene; letters, digits, `_` and `-` only.
    pub name: String,
    /// Simulated time between two lines \[s\].
    pub every: f64,
    /// Statistics of each column in each line, if they are logged.
    pub average: Option<Average>,
    /// The logged quantity.
    pub what: ProbeKind,
    /// What carries its places, which are given at time zero; `None` if they do not move.
    pub carrier: Option<Carrier>,
}

/// Statistics over a time back from each line of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Average {
    /// This time \[s\].
    pub window: f64,
    /// Simulated time between two samples \[s\].
    pub sample_every: f64,
}

/// The logged quantity of a probe.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeKind {
    /// Position of a grain.
    Position {
        /// Its id.
        grain: u32,
    },
    /// Number of grains that passed a plane along its normal.
    CountThrough {
        /// A point of the plane \[m\].
        point: Vec3,
        /// Its unit normal.
        normal: Vec3,
        /// Only grains within this distance of the point count \[m\].
        radius: Option<f64>,
    },
    /// Residence times of grains.
    ResidenceTime {
        /// Where the time of a grain begins.
        from: Passage,
        /// Where it ends.
        to: Passage,
    },
    /// Time-averaged velocity in cells, and the share of what is there that hardly moves.
    DeadZone {
        /// The cells.
        grid: Grid,
        /// Speed below which a cell is dead.
        limit: SpeedLimit,
        /// Simulated time between two samples \[s\].
        sample_every: f64,
        /// Only grains of this group, an index into [`World::groups`], and no fluid.
        group: Option<u32>,
        /// Only particles of this fluid, an index into the fluids of the world, and no grains.
        fluid: Option<u32>,
    },
    /// Energies.
    Energy,
    /// Center of mass of a group.
    GroupCenter {
        /// Index into [`World::groups`].
        group: u32,
    },
    /// Force of contacts, walls, bonds and loads on a group; for a boundary, the total force that acts on it.
    GroupForce {
        /// Index into [`World::groups`].
        group: u32,
    },
    /// Load on a group: of contacts and of fluids separately, each as one force and one torque.
    GroupLoad {
        /// Index into [`World::groups`].
        group: u32,
        /// Point about which torques are taken \[m\]; without, the center of mass of the group.
        about: Option<Vec3>,
    },
    /// Motion of a rigid body, and the load on it.
    Body {
        /// Its id.
        body: u32,
        /// Its orientation at the start, a unit quaternion w x y z: rotations count from it.
        orientation: [f64; 4],
        /// Point about which torques are taken \[m\]; without, its center of mass.
        about: Option<Vec3>,
    },
    /// Lengths of the periodic domain, its strains and its volume.
    Cell {
        /// Lower corner of the domain \[m\].
        min: Vec3,
        /// Upper corner of the domain at the start \[m\].
        max: Vec3,
    },
    /// Number of bonds that were made, and of those that are intact.
    Bonds,
    /// Size of the fragments, which are grains connected by bonds.
    Fragments {
        /// Of the grains of these groups, indices into [`World::groups`]; without, of all that are, or were, bonded.
        groups: Option<Vec<u32>>,
    },
    /// Force of grains and fluids on a wall.
    WallForce {
        /// Indices into [`World::walls`]: several for a box, whose faces count as one wall.
        walls: Range<usize>,
    },
    /// Volume worn from a wall.
    WornVolume {
        /// As for the force.
        walls: Range<usize>,
    },
    /// Mean stress in a region.
    Stress(Region),
    /// Strain of a group since the start, or since a stage.
    Strain {
        /// Index into [`World::groups`].
        group: u32,
        /// Only grains whose centers are inside then.
        region: Option<Region>,
        /// Index into [`Plan::stages`] of the stage at whose start the strain is zero; without, it is zero at the start of the run.
        since: Option<usize>,
    },
    /// Directions of the contacts between grains, in a region or everywhere.
    Fabric(Option<Region>),
    /// Contacts per grain, in a region or everywhere.
    Coordination(Option<Region>),
    /// Share of a region's volume that grains fill.
    SolidFraction(Region),
    /// Degree of mixing of groups.
    Mixing {
        /// Indices into [`World::groups`].
        groups: Vec<u32>,
        /// Cells along x, y and z.
        cells: [usize; 3],
        /// Corners of the box that is divided into the cells \[m\].
        bounds: Option<[Vec3; 2]>,
    },
    /// Angle of repose of a heap, or of a bed in a drum.
    AngleOfRepose {
        /// Index into [`World::groups`].
        group: u32,
        /// Only grains whose centers are inside.
        region: Option<Region>,
        /// Direction of the axis of the drum, if it is one.
        axis: Option<Vec3>,
    },
    /// Torque of grains and fluids on a wall about the point `through` of its axis, or about the origin if it has none.
    WallTorque {
        /// As for the force.
        walls: Range<usize>,
    },
    /// Power that grains and fluids supply to a wall.
    WallPower {
        /// As for the force.
        walls: Range<usize>,
    },
    /// Mean, smallest and largest value of a scalar in a group.
    GroupScalar {
        /// Index into [`World::groups`].
        group: u32,
        /// The scalar, such as the temperature.
        scalar: GrainScalar,
    },
    /// Heat from a wall into the grains.
    WallHeat {
        /// As for the force.
        walls: Range<usize>,
    },
    /// Balance of a scalar that grains carry, such as heat.
    ScalarLedger(GrainScalar),
    /// A quantity of fluids.
    Fluid(FluidProbe),
    /// Position of a wall: its middle, and its angle of rotation. The middle of a box is the mean of those of its faces.
    WallPosition {
        /// As for the force.
        walls: Range<usize>,
    },
}

/// Reads a scene file, applies `--set path.to.key=value` overrides, checks it and assembles the world.
/// Paths in the scene are relative to its folder.
///
/// # Errors
/// All errors, with their positions.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Scene, Diagnostics> {
    load_text(&text_of(path)?, path, overrides)
}

/// The text of a scene file.
///
/// # Errors
/// If it cannot be read.
pub fn text_of(path: &Path) -> Result<String, Diagnostics> {
    document::text_of(path).map_err(|complaint| {
        let mut found = Diagnostics {
            file: path.to_owned(),
            ..Diagnostics::default()
        };
        found.push(diagnostics::Place::Whole, None, complaint);
        found
    })
}

/// Densities in a scene. A file of grains may give masses in place of them, which only the record of a run shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Densities {
    /// Of its materials, by their indices \[kg/m³\]; empty if a key gives the masses of some grains.
    pub of_materials: Vec<f64>,
    /// The density of all grains, if the scene alone determines that they have one material, and no key gives their masses \[kg/m³\].
    pub of_grains: Option<f64>,
}

/// The densities of a scene, without assembling its world.
///
/// # Errors
/// As [`load`], except errors that only the whole world shows.
pub fn densities(path: &Path) -> Result<Densities, Diagnostics> {
    let (file, _) = sections(&text_of(path)?, path, &[])?;
    if file.start.is_some() || file.grains.values().any(|section| section.mass.is_some()) {
        return Ok(Densities {
            of_materials: Vec::new(),
            of_grains: None,
        });
    }
    let mut named: Vec<_> = file.grains.values().map(|section| &section.material).collect();
    named.dedup();
    // The rows of a file may have materials of their own.
    let is_reported = named.len() == 1 && file.grains.values().all(|section| section.file.is_none());
    let only = match (file.material.len(), named.first()) {
        (1, _) => file.material.values().next(),
        (_, Some(Some(name))) if is_reported => file.material.get(name),
        _ => None,
    };
    Ok(Densities {
        of_grains: only.map(|section| section.density.si),
        of_materials: file.material.values().map(|section| section.density.si).collect(),
    })
}

/// The domain of a scene that has one, without assembling its world.
///
/// # Errors
/// As [`densities`].
pub fn domain(path: &Path) -> Result<Option<Domain>, Diagnostics> {
    let (mut file, root) = sections(&text_of(path)?, path, &[])?;
    Ok(assemble::domain(
        &mut file.world,
        &mut assemble::CheckState::new(root, Diagnostics::default(), &|path| path),
    ))
}

/// Moves a scene to a GPU if its overrides give a number of GPUs and no device. Without a device, or on the CPU, it would leave the GPUs idle.
fn ask_for_a_gpu(file: &mut schema::SceneFile, overrides: &[(String, String)]) {
    let is_given = |key: &str| overrides.iter().any(|(path, _)| path == key);
    if is_given("run.gpus") && !is_given("run.device") && file.run.device == Device::Cpu {
        file.run.device = Device::Gpu(None);
    }
}

/// Checks each single key of a scene with these overrides, without assembling its world.
///
/// # Errors
/// As [`densities`].
pub fn check_keys(text: &str, path_for_messages: &Path, overrides: &[(String, String)]) -> Result<(), Diagnostics> {
    sections(text, path_for_messages, overrides).map(|_| ())
}

/// The sections of a scene of which each single key is valid, and the keys with their positions.
fn sections(text: &str, path: &Path, overrides: &[(String, String)]) -> Result<(schema::SceneFile, document::Node), Diagnostics> {
    let (root, mut found) = source::tree(text, path, overrides);
    let read: Option<schema::SceneFile> = reader::read(root.clone(), &mut found);
    match read {
        Some(file) if found.list.is_empty() => Ok((file, root)),
        _ => Err(found),
    }
}

/// As [`load`], from a text in place of the file at `path_for_messages`.
///
/// # Errors
/// All errors, with their positions.
pub fn load_text(text: &str, path_for_messages: &Path, overrides: &[(String, String)]) -> Result<Scene, Diagnostics> {
    load_text_from(text, path_for_messages, overrides, &|path| path)
}

/// Checks the values at and below one path of a scene, as `["interaction", "glass-glass", "friction"]`, as far as each can be judged alone. Missing keys
/// are no error, because a program may still add them.
///
/// ```
/// let text = "[run]\nuntil = '2 m'\n";
/// let refused = seixo_scene::check_value(text, "drum.toml".as_ref(), &["run", "until"]).unwrap_err();
/// assert!(refused.list()[0].message.ends_with("is length [m], but time [s] belongs here"));
/// assert!(seixo_scene::check_value(text, "drum.toml".as_ref(), &["world"]).is_ok());
/// ```
///
/// # Errors
/// All errors there, with their positions; or those of a text that is not TOML.
pub fn check_value(text: &str, path_for_messages: &Path, path: &[&str]) -> Result<(), Diagnostics> {
    let (root, mut found) = source::tree(text, path_for_messages, &[]);
    if found.list.is_empty() {
        reader::read_at::<schema::SceneFile>(root, path, &mut found);
    }
    if found.list.is_empty() { Ok(()) } else { Err(found) }
}

/// As [`load_text`], for files that may have been moved: `place` maps the absolute path in the scene to the current one.
///
/// # Errors
/// All errors, with their positions.
pub fn load_text_from(
    text: &str,
    path_for_messages: &Path,
    overrides: &[(String, String)],
    place: &(dyn Fn(PathBuf) -> PathBuf + Sync),
) -> Result<Scene, Diagnostics> {
    let (root, mut found) = source::tree(text, path_for_messages, overrides);
    let is_sound = found.list.is_empty();
    found.next = Some(if is_sound { Next::Sections } else { Next::Keys });
    let file = if is_sound { reader::read(root.clone(), &mut found) } else { None };
    let scene = match file {
        Some(mut file) if found.list.is_empty() => {
            found.next = Some(Next::Start);
            ask_for_a_gpu(&mut file, overrides);
            let source = Source::new(text, path_for_messages, overrides);
            assemble::assemble(file, source, assemble::CheckState::new(root, found, place))
        }
        _ => Err(found),
    };
    scene.map_err(|mut found| {
        found.sort();
        found
    })
}
