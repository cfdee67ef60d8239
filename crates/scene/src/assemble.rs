//! Assembles a world from the keys of a scene file, and checks combinations of keys.

use crate::{
    CheckpointPlan, CoarsePlan, OutputPlan, RunPlan, Scene, bonds,
    device::Device,
    diagnostics::{Diagnostics, UnlocatedDiagnostic},
    document::Node,
    fill::{corners, si},
    films, fluid, grains, heat,
    inlet::{self, Inlet},
    interactions::{Materials, interactions},
    probes::probes,
    quantity::Quantity,
    schema::{BoxShape, CoarseSection, GrainsSection, SceneFile, WorldSection},
    sections, shear, solids,
    source::Source,
    stage::{self, Plan},
    start::{self, Taken},
    vocabulary::{Side, Word},
    walls,
};
use seixo_analysis::Grid;
use seixo_engine::world::{
    DeviceChoice, Domain, GhostSelection, HaloOverlap, LaterAdditions, LeavingPolicy, Material, Precision, Settings, Shear, Wall, World,
};
use seixo_files::vtk::Field;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Most frames, and most lines of a log, that a run may ask for.
const MAX_FRAMES: f64 = 1e6;
pub(crate) const MAX_LINES: f64 = 1e8;
/// Largest number of grid points of coarse-grained fields: a gigabyte or two.
const MAX_POINTS: f64 = 1e7;
/// Widest kernel in spacings of its grid: each grain contributes to some 30 times its cube of grid points.
const MAX_SPACINGS: f64 = 20.0;
/// Errors and notes so far, with the positions of keys in the file.
pub(crate) struct CheckState<'a> {
    root: Node,
    diagnostics: Diagnostics,
    place: &'a (dyn Fn(PathBuf) -> PathBuf + Sync),
    /// Files and folders that the scene names, where they are now.
    files: Mutex<BTreeSet<PathBuf>>,
    pub notices: Vec<String>,
}

impl<'a> CheckState<'a> {
    pub fn new(root: Node, mut diagnostics: Diagnostics, place: &'a (dyn Fn(PathBuf) -> PathBuf + Sync)) -> Self {
        CheckState {
            root,
            notices: std::mem::take(&mut diagnostics.notices),
            diagnostics,
            place,
            files: Mutex::default(),
        }
    }

    /// Whether there is no error so far.
    pub fn is_sound(&self) -> bool {
        self.diagnostics.list().is_empty()
    }

    /// Adds an error about the key at a dotted path.
    pub fn add(&mut self, path: &str, complaint: UnlocatedDiagnostic) {
        let (node, place) = self.root.find(path.split('.').filter(|key| !key.is_empty()));
        self.diagnostics.push(place, node.shown(), complaint);
    }

    /// Position of the key at a dotted path, in words.
    pub fn location_text(&self, path: &str) -> String {
        self.diagnostics.location_text(&self.root.find(path.split('.')).1)
    }

    /// All errors and notes.
    pub fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics
    }

    /// Makes a path of the scene, which is relative to the scene's folder, absolute; or returns its current location if the file was moved.
    pub fn absolute(&self, file: &str) -> PathBuf {
        let folder = self.diagnostics.file.parent().unwrap_or(Path::new(""));
        let joined = folder.join(file);
        let whole = (self.place)(std::path::absolute(&joined).unwrap_or(joined));
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(whole.clone());
        whole
    }
}

/// The scene of a file of which each single key is valid.
pub(crate) fn assemble(mut file: SceneFile, source: Source, mut findings: CheckState) -> Result<Scene, Diagnostics> {
    sections::refuse_too_many(&file, &mut findings);
    if !findings.is_sound() {
        return Err(findings.diagnostics);
    }
    sections::check_names(&file, &mut findings);
    let title = file
        .title
        .get_or_insert_with(|| {
            findings
                .diagnostics
                .file
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        })
        .clone();
    let materials = Materials::new(&file);
    let interactions = interactions(&mut file.interaction, &materials, &mut findings);
    let domain = domain(&mut file.world, &mut findings);
    let mut taken = start::taken(&mut file, &materials, &mut findings);
    let grains::Gathered {
        grains,
        outlines,
        shapes,
        through_inlets,
    } = grains::gather(&mut file, taken.as_ref(), &materials, domain.as_ref(), &mut findings);
    let (walls, ranges) = all_walls(&mut file, &materials, &mut findings);
    let mut world = World {
        gravity: si(&file.world.gravity),
        local_damping: file.run.local_damping.si,
        locally_damped: file.run.local_damping_of.0,
        domain,
        materials: file
            .material
            .iter()
            .map(|(name, section)| Material {
                name: name.clone(),
                density: section.density.si,
                youngs_modulus: section.youngs_modulus.si,
                poisson_ratio: section.poisson_ratio.si,
            })
            .collect(),
        interactions,
        groups: file.grains.keys().cloned().collect(),
        shapes,
        grains,
        walls,
        later: LaterAdditions::default(),
        conduction: None,
        fluids: None,
        bonds: Vec::new(),
        loads: grains::loads(&file),
        saved: None,
    };
    if file.is_fluid_only() && world.materials.is_empty() {
        world.materials.push(material_of_walls());
        world.interactions = vec![None];
    }
    world.conduction = heat::conduction(&file, &world, &ranges, &mut findings);
    films::check_films(&file, &mut world, &mut findings);
    let mut plan = Plan {
        zones: stage::zones(&mut file, &mut findings),
        ..Plan::default()
    };
    stage::complete_paths(&mut file, &findings);
    (plan.stages, plan.absent) = stage::stages(&file, &world, &ranges, &mut findings);
    stage::bound_motions(&mut world, &mut plan.stages, file.run.until.si);
    (world.later.constrained_groups, world.later.motions) = (stage::switched(&plan.stages), stage::motions(&plan.stages));
    let solids = solids::solids(&file, &ranges, &plan.absent, &mut findings);
    solids::refuse_grains(&solids, &world, &plan.absent, &mut findings);
    world.fluids = fluid::fluids(&mut file, &world, &ranges, &plan, &outlines, &solids, &mut findings);
    if let Some(fluids) = &world.fluids {
        plan.fluid_inlets = fluids.inlets.iter().map(|inlet| inlet.name.clone()).collect();
        plan.fluid_outlets = fluids.outlets.iter().map(|outlet| outlet.name.clone()).collect();
    }
    fluid::body_boundary::melting(&file, &world, &outlines, &mut plan.stages, &mut findings);
    plan.inlets = inlet::inlets(&mut file, &materials, &world, (&plan.absent, &through_inlets), &mut findings);
    solids::refuse_inlets(&solids, &plan.inlets, &mut findings);
    world.later.grains = plan.inlets.iter().map(Inlet::expected).collect();
    stage::announce(&mut world, &plan, &mut findings);
    world.bonds = bonds::bonds(&mut file, &world, &plan.absent, &mut findings);
    if let Some(taken) = &mut taken {
        taken.bond(&mut world, &plan.absent, &mut findings);
    }
    check_interactions_complete(&world, &mut findings);
    check_bodies(&file, &world, &plan.absent, &mut findings);
    if world.grains.is_empty() && plan.inlets.is_empty() && world.fluids.is_none() && findings.diagnostics.list().is_empty() {
        let complaint = UnlocatedDiagnostic::new("the scene has neither grains nor a fluid");
        findings.add(
            "grains",
            complaint.remedy("add a table [grains.NAME] with `file`, `fill`, `at` or `inlet`, or a table [fluid.NAME] with `fill`"),
        );
    }
    let run = RunPlan {
        until: file.run.until.si,
        seed: file.run.seed.0,
    };
    let (device, precision) = place(&file, &mut findings);
    let output = output_plan(&mut file, &mut findings);
    let probes = probes(&mut file, &world, &ranges, &plan, &mut findings);
    stage::find_columns(&mut plan.stages, &file, &probes, &mut findings);
    plan.region_servos = walls::region_servos(&file, &world, &ranges, &probes, &mut findings);
    let source = source.of(&world);
    stage::set_aside(&mut world, &mut plan, &ranges, &mut findings);
    stage::note_early_end(&world, &plan, &mut findings);
    shear::note_rest(&world, &plan, &mut findings);
    if !findings.diagnostics.list().is_empty() {
        return Err(findings.diagnostics);
    }
    world.saved = taken.and_then(Taken::into_saved).map(Arc::new);
    let settings = Settings {
        device,
        precision,
        time_step: file.run.time_step.value().map(|step| step.si),
        search: file.run.search.0,
        scheme: file.run.integrator.0,
        skin: file.run.skin.value().map(|skin| skin.si),
        threads: file.run.threads.0 as usize,
        overlap_limit: file.run.overlap_limit.si,
        assembly: file.run.assembly.0,
        broad_phase: file.run.broad_phase,
        decomposition_invariant: file.run.decomposition_invariant,
        domains: file.run.domains.0.max(file.run.gpus.0) as usize,
        ghost_selection: GhostSelection::default(),
        halo_overlap: HaloOverlap::default(),
        load_balance: file.run.balance.map_or_else(Default::default, |balance| balance.0),
        gpus: file.run.gpus.0 as usize,
        ranks: None,
    };
    let checkpoint = CheckpointPlan {
        every_wall: file.checkpoint.every.si,
        keep: file.checkpoint.keep.0 as u32,
    };
    let resolved = match toml::to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            findings.add(
                "",
                UnlocatedDiagnostic::new(format!("the scene cannot be written back as TOML: {error}")).remedy("please report this scene"),
            );
            return Err(findings.diagnostics);
        }
    };
    Ok(Scene {
        title,
        world,
        settings,
        run,
        output,
        checkpoint,
        probes,
        plan,
        outlines,
        resolved,
        files: findings
            .files
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .into_iter()
            .collect(),
        notices: findings.notices,
        source,
    })
}

pub(crate) fn domain(section: &mut WorldSection, findings: &mut CheckState) -> Option<Domain> {
    let leaving = section.leaving.get_or_insert(Word(LeavingPolicy::Error)).0;
    let Some(shape) = &section.domain else {
        if leaving == LeavingPolicy::Delete {
            findings
                .notices
                .push("world.leaving has no effect: the world has no `domain`".to_owned());
        }
        return None;
    };
    let periodic = shape.sides.map(|side| side.0 == Side::Periodic);
    let shear = shape.shear.as_ref().map(|shear| Shear {
        flow: shear.flow.0 as usize,
        gradient: shear.gradient.0 as usize,
        rate: shear.rate.si,
    });
    if let Some(shear) = shear {
        let mut complain = |key: &str, message: &str, remedy: &str| {
            let complaint = UnlocatedDiagnostic::new(message).remedy(remedy).within("world.domain.shear");
            findings.add(&format!("world.domain.{key}"), complaint);
        };
        if shear.flow == shear.gradient {
            complain("shear.gradient", "flow and gradient are the same axis", "write two different axes");
        }
        if !periodic[shear.flow] || !periodic[shear.gradient] {
            complain(
                "shear",
                "the sides along flow and gradient must be periodic",
                "write sides = [\"periodic\", \"periodic\", \"periodic\"]",
            );
        }
    }
    let control = shape.control.as_ref().and_then(|control| {
        let found = control.control();
        found
            .map_err(|complaint| findings.add("world.domain.control", complaint.within("world.domain.control")))
            .ok()
    });
    match corners(&BoxShape {
        min: shape.min,
        max: shape.max,
    }) {
        Ok((min, max)) => Some(Domain {
            min: min.to_array(),
            max: max.to_array(),
            leaving,
            periodic,
            shear,
            control,
        }),
        Err(complaint) => {
            findings.add("world.domain", complaint.within("world.domain"));
            None
        }
    }
}

fn all_walls(file: &mut SceneFile, materials: &Materials, findings: &mut CheckState) -> (Vec<Wall>, BTreeMap<String, Range<usize>>) {
    let (mut walls, mut ranges) = (Vec::new(), BTreeMap::new());
    let is_fluid_only = file.is_fluid_only();
    for (name, section) in &mut file.wall {
        let material = match &section.material {
            Some(material) => materials.index(material),
            // No grains need it.
            None if is_fluid_only => Ok(0),
            None => {
                let complaint = UnlocatedDiagnostic::new("`material` is missing, and contacts of grains need it");
                Err(complaint.remedy(format!("add material = \"…\"; {}", materials.known())))
            }
        };
        let material = material.unwrap_or_else(|complaint| {
            findings.add(&format!("wall.{name}.material"), complaint.within(&format!("wall.{name}")));
            0
        });
        ranges.insert(name.clone(), walls::build(name, section, material, &mut walls, findings));
    }
    walls::set_areas(&file.wall, &ranges, &mut walls, findings);
    (walls, ranges)
}

/// Material of walls without grains: none of its values is used.
fn material_of_walls() -> Material {
    Material {
        name: "wall".to_owned(),
        density: 1000.0,
        youngs_modulus: 1e9,
        poisson_ratio: 0.3,
    }
}

/// Refuses keys that are incompatible with rigid bodies, which are clumps and boundaries, or that need them.
fn check_bodies(file: &SceneFile, world: &World, absent: &[stage::StageItem], findings: &mut CheckState) {
    for (name, section) in &file.grains {
        let Some(Bodies { what, key, early, instead }) = Bodies::of(section, file) else {
            continue;
        };
        let is_absent =
            |thing: &stage::StageItem| matches!(thing, stage::StageItem::Group(group) if world.groups[*group as usize] == *name);
        if let Some(early) = early.filter(|_| absent.iter().any(is_absent)) {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{name}: {what} cannot be added by a stage yet")).within("stage");
            findings.add(&format!("grains.{name}.{key}"), complaint.remedy(early));
        }
        if world.domain.is_some_and(|domain| domain.shear.is_some()) {
            let complaint = UnlocatedDiagnostic::new(format!("world.domain.shear: {what} do not cross sides that slide past each other"));
            findings.add("world.domain.shear", complaint.remedy(format!("remove `shear`, or {instead}")));
        }
    }
    let is_wanted = |wanted: Field| file.output.fields.iter().flatten().any(|field| field.0 == wanted);
    let is_body = |section: &GrainsSection| Bodies::of(section, file).is_some_and(|bodies| bodies.early.is_some());
    let has_bodies = !world.grains.bodies.is_empty() || file.grains.values().any(is_body);
    if is_wanted(Field::Body) && !has_bodies {
        let complaint = UnlocatedDiagnostic::new("output.fields: \"body\" is for scenes with clumps");
        findings.add("output.fields", complaint.remedy("remove it, or give grains a `shape` of spheres"));
    }
    // Where a shape is wrong, its own error is enough.
    let has_shape = |section: &GrainsSection| section.shape.is_some() || section.blocks.is_some();
    let is_shaped = !world.shapes.is_empty() || file.grains.values().any(has_shape);
    let has_orientations = has_bodies || is_shaped || !file.bonds.is_empty();
    if is_wanted(Field::Orientation) && !has_orientations {
        let complaint = UnlocatedDiagnostic::new("output.fields: \"orientation\" is for scenes with polyhedra, clumps or bonds");
        findings.add(
            "output.fields",
            complaint.remedy("remove it, or give grains a `shape`: free spheres have no orientation"),
        );
    }
}

/// The reason for which grains of a section are rigid bodies, or polyhedral grains, which are alike in part.
struct Bodies {
    what: &'static str,
    /// The key that causes it.
    key: &'static str,
    /// How to avoid adding them later; none for polyhedral grains that are no bodies, which stages can add.
    early: Option<&'static str>,
    /// What to use instead.
    instead: &'static str,
}

impl Bodies {
    fn of(section: &GrainsSection, file: &SceneFile) -> Option<Bodies> {
        let is_polyhedral = file.has_polyhedron(section);
        if section.shape.is_some() && !is_polyhedral {
            return Some(Bodies {
                what: "clumps",
                key: "shape",
                early: Some("let them be there from the start, for instance above a wall that a stage removes"),
                instead: "use spheres",
            });
        }
        if section.is_boundary() {
            return Some(Bodies {
                what: "boundaries of grains",
                key: if section.fixed { "fixed" } else { "motion" },
                early: Some("let them be there from the start, with a motion that has a `start`, or add a wall in their place"),
                instead: "write the boundary as a wall",
            });
        }
        if section.joint.is_some() {
            return Some(Bodies {
                what: "bodies on joints",
                key: "joint",
                early: Some("let them be there from the start"),
                instead: "leave `joint` out",
            });
        }
        let Some(key) = section.key_to_fluids() else {
            return is_polyhedral.then_some(Bodies {
                what: "polyhedral grains",
                key: "shape",
                early: None,
                instead: "use spheres",
            });
        };
        let [what, instead] = if section.displaces_fluid {
            ["bodies that displace fluids", "leave `displaces_fluid` out"]
        } else {
            ["grains that fluids carry", "leave `carried_by_fluid` out"]
        };
        Some(Bodies {
            what,
            key,
            early: Some("let them be there from the start, for instance above a wall that a stage removes"),
            instead,
        })
    }
}

/// Materials that can have contacts need an interaction.
fn check_interactions_complete(world: &World, findings: &mut CheckState) {
    if !findings.diagnostics.list().is_empty() {
        return;
    }
    for (a, b) in grains::material_pairs(&world.grains, &world.later.grains, world.walls.iter().map(|wall| wall.material)) {
        if world.interaction(a, b).is_none() {
            let [a, b] = [a, b].map(|index| &world.materials[index as usize].name);
            let complaint = UnlocatedDiagnostic::new(format!("{a} and {b} can meet, but the scene does not say how they interact"));
            findings.add(
                "interaction",
                complaint.remedy(format!("add a table [interaction.{a}-{b}] with restitution and friction")),
            );
        }
    }
}

/// Device and precision of the run.
fn place(file: &SceneFile, findings: &mut CheckState) -> (DeviceChoice, Option<Precision>) {
    let device = file.run.device.choice().unwrap_or_else(|complaint| {
        findings.add("run.device", complaint.within("run.device"));
        DeviceChoice::Cpu
    });
    let precision = file.run.precision.value().map(|word| word.0);
    if file.run.device == Device::Cpu && precision == Some(Precision::F32) {
        let complaint =
            UnlocatedDiagnostic::new("run.precision: the CPU computes in f64 or mixed, not in f32").limit("\"auto\", \"f64\" or \"mixed\"");
        findings.add(
            "run.precision",
            complaint.remedy("leave it out, or choose a GPU: device = \"gpu\", or --device gpu"),
        );
    }
    (device, precision)
}

/// Refuses intervals that would fill the disk.
pub(crate) fn check_interval(path: &str, until: f64, every: f64, most: f64, findings: &mut CheckState) {
    let times = until / every;
    if times > most {
        let complaint = UnlocatedDiagnostic::new(format!("{path}: {every} s in a run of {until} s asks for {times:.3e} outputs"));
        findings.add(
            path,
            complaint
                .limit(format!("{most:e} outputs, that is every {:e} s", until / most))
                .remedy("write less often"),
        );
    }
}

fn output_plan(file: &mut SceneFile, findings: &mut CheckState) -> OutputPlan {
    let until = file.run.until.si;
    let every = file.output.every.get_or_insert(Quantity::new(until / 100.0)).si;
    let energies_every = file.output.energies_every.get_or_insert(Quantity::new(every)).si;
    check_interval("output.every", until, every, MAX_FRAMES, findings);
    check_interval("output.energies_every", until, energies_every, MAX_LINES, findings);
    let fields = file
        .output
        .fields
        .get_or_insert_with(|| vec![Word(Field::Velocity)])
        .iter()
        .map(|field| field.0)
        .collect();
    if file.output.surface && file.fluid.is_empty() {
        let complaint = UnlocatedDiagnostic::new("output.surface: the scene has no fluid whose surface could be written");
        findings.add("output.surface", complaint.remedy("leave it out, or add a table [fluid.NAME]"));
    }
    let coarse = file.output.coarse.as_ref().and_then(|section| coarse_plan(section, findings));
    OutputPlan {
        every,
        fields,
        encoding: file.output.encoding.0,
        energies_every,
        contacts: file.output.contacts,
        surface: file.output.surface,
        coarse,
    }
}

fn coarse_plan(section: &CoarseSection, findings: &mut CheckState) -> Option<CoarsePlan> {
    let (spacing, width) = (section.spacing.si, section.width.si);
    let (min, max) = match corners(&section.region) {
        Ok(corners) => corners,
        Err(complaint) => {
            findings.add("output.coarse.region", complaint.within("output.coarse.region"));
            return None;
        }
    };
    let points = ((max - min) / spacing).element_product();
    if points > MAX_POINTS {
        let complaint = UnlocatedDiagnostic::new(format!("output.coarse: a spacing of {spacing} m asks for {points:.3e} points"));
        let complaint = complaint.limit(format!("{MAX_POINTS:e} points"));
        findings.add(
            "output.coarse.spacing",
            complaint.remedy("use a larger spacing or a smaller region"),
        );
    } else if !(spacing..=MAX_SPACINGS * spacing).contains(&width) {
        let complaint = UnlocatedDiagnostic::new(format!(
            "output.coarse: a width of {width} m does not go with a spacing of {spacing} m"
        ));
        let complaint = complaint.limit(format!("a width of 1 to {MAX_SPACINGS} spacings"));
        findings.add(
            "output.coarse.width",
            complaint.remedy("use about one grain diameter for the width, and half of that for the spacing"),
        );
    } else {
        let grid = Grid::between(min, max, spacing);
        return Some(CoarsePlan { grid, width });
    }
    None
}
