//! The scene file: schema, units, diagnostics, and its assembly into a world.
//!
//! [`load`] is the whole way: text → tree with places (`document`) → keys and quantities (`reader`, `schema`) → world (`assemble`).

mod assemble;
mod bonds;
mod boundary;
mod condition;
mod device;
pub mod diagnostics;
mod document;
pub mod explain;
mod fill;
mod fluid;
mod grains;
mod heat;
mod inlet;
mod interactions;
mod joint;
mod outline;
mod outward;
mod probes;
pub mod quantity;
mod range;
mod rate;
mod reader;
mod schema;
mod section;
mod sections;
mod shape;
mod shear;
mod source;
mod spheres;
mod stage;
mod synonyms;
mod templates;
mod usable;
mod volume;
mod walls;
mod words;

pub use condition::{Condition, Measure};
pub use device::Device;
pub use diagnostics::{Complaint, Diagnostic, Diagnostics, escape_controls};
pub use inlet::{Inlet, Poured};
pub use outline::{Outlined, Outlines};
pub use probes::FluidProbe;
pub use rate::Rate;
pub use schema::schema;
pub use source::Source;
pub use spheres::{SphereWish, SpheresOfMesh, spheres_of_mesh};
pub use stage::{Act, Plan, Stage, Staged, Thing, Zone};
pub use templates::{Template, templates};
pub use usable::{MeshUses, uses_of_mesh};

use diagnostics::Next;
use seixo_analysis::{Grid, Region};
use seixo_engine::world::{Domain, Settings, Vec3, World};
use seixo_files::vtk::Field;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A scene that was read, checked and assembled: ready to run.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What it shows.
    pub title: String,
    /// What the simulation starts from.
    pub world: World,
    /// How, and on what, the world is stepped.
    pub settings: Settings,
    /// How long it runs.
    pub run: RunPlan,
    /// What is written.
    pub output: OutputPlan,
    /// When checkpoints are written.
    pub checkpoint: CheckpointPlan,
    /// What is logged over time, in alphabetical order.
    pub probes: Vec<Probe>,
    /// What happens while it runs.
    pub plan: Plan,
    /// What bodies look like that were made from meshes.
    pub outlines: Outlines,
    /// The scene as TOML with every default filled in and every path absolute; it loads to this scene again, unless a file of it is moved.
    pub resolved: String,
    /// What the user should know although nothing is wrong.
    pub notices: Vec<String>,
    /// Where it says what, for what the engine refuses.
    pub source: Source,
}

/// How long a scene runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunPlan {
    /// Time at which the run ends \[s\].
    pub until: f64,
    /// Every random choice follows from it.
    pub seed: u64,
}

impl RunPlan {
    /// How many steps of this length \[s\] the run takes: what comes nearest to its end, and one at least.
    pub fn steps(&self, time_step: f64) -> u64 {
        ((self.until / time_step).round() as u64).max(1)
    }

    /// What should be told of a run that ends before its first step of this length \[s\] does.
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

/// What is written, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputPlan {
    /// Simulated time between two frames \[s\].
    pub every: f64,
    /// What frames hold beside id and radius.
    pub fields: Vec<Field>,
    /// Simulated time between two lines of the energy ledger \[s\].
    pub energies_every: f64,
    /// Whether the contacts of each frame are written.
    pub contacts: bool,
    /// Whether the free surface of the fluids of each frame is written.
    pub surface: bool,
    /// Coarse-grained fields of each frame.
    pub coarse: Option<CoarsePlan>,
}

/// Fields that are coarse-grained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoarsePlan {
    /// Where.
    pub grid: Grid,
    /// With a kernel of this width \[m\].
    pub width: f64,
}

/// When checkpoints are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointPlan {
    /// Wall time between two checkpoints \[s\].
    pub every_wall: f64,
    /// How many are kept.
    pub keep: u32,
}

/// A quantity logged over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Name as the scene spells it; letters, digits, `_` and `-` only.
    pub name: String,
    /// Simulated time between two lines \[s\].
    pub every: f64,
    /// What is logged.
    pub what: ProbeKind,
}

/// What a probe logs.
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
        /// Count only within this distance of the point \[m\].
        radius: Option<f64>,
    },
    /// Energies.
    Energy,
    /// Center of mass of a group.
    GroupCenter {
        /// Index into [`World::groups`].
        group: u32,
    },
    /// Force of contacts, walls, bonds and loads on a group: of a boundary, what it is pushed with.
    GroupForce {
        /// Index into [`World::groups`].
        group: u32,
    },
    /// How many bonds were made, and how many hold.
    Bonds,
    /// How large the fragments are that bonds hold together.
    Fragments {
        /// Of the grains of these groups, indices into [`World::groups`]; of all that are, or were, bonded without.
        groups: Option<Vec<u32>>,
    },
    /// Force of grains and fluids on a wall.
    WallForce {
        /// Indices into [`World::walls`]: several for a box, whose faces count as one.
        walls: Range<usize>,
    },
    /// Volume that is worn of a wall.
    WornVolume {
        /// As for the force.
        walls: Range<usize>,
    },
    /// Mean stress in a region.
    Stress(Region),
    /// How a group is deformed since the start.
    Strain {
        /// Index into [`World::groups`].
        group: u32,
        /// Only grains whose centers are inside at the start.
        region: Option<Region>,
    },
    /// Directions of the contacts between grains, in a region or everywhere.
    Fabric(Option<Region>),
    /// Contacts per grain, in a region or everywhere.
    Coordination(Option<Region>),
    /// Share of a region that grains fill.
    SolidFraction(Region),
    /// How well groups are mixed.
    Mixing {
        /// Indices into [`World::groups`].
        groups: Vec<u32>,
        /// Cells along x, y and z.
        cells: [usize; 3],
        /// Corners of the box that the cells divide \[m\].
        bounds: Option<[Vec3; 2]>,
    },
    /// Torque of grains and fluids on a wall about the point that its axis goes through, or about the origin if it has none.
    WallTorque {
        /// As for the force.
        walls: Range<usize>,
    },
    /// Mean temperature of a group, by mass.
    GroupTemperature {
        /// Index into [`World::groups`].
        group: u32,
    },
    /// Heat that a wall gives.
    WallHeat {
        /// As for the force.
        walls: Range<usize>,
    },
    /// Where heat is.
    Heat,
    /// Something of fluids.
    Fluid(FluidProbe),
    /// Where a wall is: its middle, and the angle that it turned. The middle of a box is the mean of those of its faces.
    WallPosition {
        /// As for the force.
        walls: Range<usize>,
    },
}

/// Reads a scene file, applies `--set path.to.key=value` overrides, checks it and assembles the world.
/// Paths in the scene are relative to its folder.
///
/// # Errors
/// Everything that is wrong, with places.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Scene, Diagnostics> {
    match document::text_of(path) {
        Ok(text) => load_text(&text, path, overrides),
        Err(complaint) => {
            let mut found = Diagnostics {
                file: path.to_owned(),
                ..Diagnostics::default()
            };
            found.push(diagnostics::Place::Whole, None, complaint);
            Err(found)
        }
    }
}

/// Densities of what a scene holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Densities {
    /// Of its materials, by their indices \[kg/m³\].
    pub of_materials: Vec<f64>,
    /// That of all grains, if the scene alone tells that they are of one material \[kg/m³\].
    pub of_grains: Option<f64>,
}

/// The densities of a scene, without assembling its world.
///
/// # Errors
/// As [`load`], but for what only the whole world shows.
pub fn densities(path: &Path) -> Result<Densities, Diagnostics> {
    let (file, _) = sections(path)?;
    let mut named: Vec<_> = file.grains.values().map(|section| &section.material).collect();
    named.dedup();
    // The rows of a file may name materials of their own.
    let is_told = named.len() == 1 && file.grains.values().all(|section| section.file.is_none());
    let only = match (file.material.len(), named.first()) {
        (1, _) => file.material.values().next(),
        (_, Some(Some(name))) if is_told => file.material.get(name),
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
    let (mut file, root) = sections(path)?;
    Ok(assemble::domain(
        &mut file.world,
        &mut assemble::Findings::new(root, Diagnostics::default(), &|path| path),
    ))
}

/// The sections of a scene file whose every key is sound by itself, and the keys with their places.
fn sections(path: &Path) -> Result<(schema::SceneFile, document::Node), Diagnostics> {
    let mut found = Diagnostics {
        file: path.to_owned(),
        ..Diagnostics::default()
    };
    match document::text_of(path) {
        Ok(text) => found.text = text,
        Err(complaint) => found.push(diagnostics::Place::Whole, None, complaint),
    }
    let root = document::Node::parse(&found.text.clone(), &mut found);
    let read: Option<schema::SceneFile> = reader::read(root.clone(), &mut found);
    match read {
        Some(file) if found.list.is_empty() => Ok((file, root)),
        _ => Err(found),
    }
}

/// As [`load`], from text that stands for the file at `path_for_messages`.
///
/// # Errors
/// Everything that is wrong, with places.
pub fn load_text(text: &str, path_for_messages: &Path, overrides: &[(String, String)]) -> Result<Scene, Diagnostics> {
    load_text_from(text, path_for_messages, overrides, &|path| path)
}

/// As [`load_text`], where files may have been moved: `place` tells where one is by the absolute path that the scene gives it.
///
/// # Errors
/// Everything that is wrong, with places.
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
        Some(file) if found.list.is_empty() => {
            found.next = Some(Next::Start);
            let source = Source::new(text, path_for_messages, overrides);
            assemble::assemble(file, source, assemble::Findings::new(root, found, place))
        }
        _ => Err(found),
    };
    scene.map_err(|mut found| {
        found.sort();
        found
    })
}
