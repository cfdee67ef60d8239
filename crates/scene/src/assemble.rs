//! From the keys of a scene file to a world, with everything checked that one key alone cannot tell.

use crate::{
    CheckpointPlan, OutputPlan, Probe, ProbeKind, RunPlan, Scene,
    device::Device,
    diagnostics::{Complaint, Diagnostics, did_you_mean},
    document::Node,
    fill::{corners, si},
    grains,
    inlet::{self, Inlet},
    interactions::{Materials, interactions},
    quantity::{Positive, Quantity, Time},
    schema::{ProbeSection, SceneFile, WorldSection},
    stage::{self, Plan},
    walls,
    words::Word,
};
use seixo_engine::world::{Assembly, DeviceChoice, Domain, Later, Leaving, Material, Precision, Settings, Wall, World};
use seixo_files::vtk::Field;
use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
};

/// Most frames, and most lines of a log, that a run may ask for.
const MOST_FRAMES: f64 = 1e6;
const MOST_LINES: f64 = 1e8;
/// Longest name of a section: names become file names.
const LONGEST_NAME: usize = 64;

/// What was found so far, and where keys stand.
pub(crate) struct Findings {
    root: Node,
    diagnostics: Diagnostics,
    pub notices: Vec<String>,
}

impl Findings {
    pub fn new(root: Node, diagnostics: Diagnostics) -> Self {
        Findings {
            root,
            diagnostics,
            notices: Vec::new(),
        }
    }

    /// Notes a complaint about the key at a dotted path.
    pub fn add(&mut self, path: &str, complaint: Complaint) {
        let (node, place) = self.root.find(path.split('.').filter(|key| !key.is_empty()));
        self.diagnostics.push(place, node.shown(), complaint);
    }

    /// A path of the scene, which is relative to the scene's folder, made absolute.
    pub fn absolute(&self, file: &str) -> PathBuf {
        let folder = self.diagnostics.file.parent().unwrap_or(Path::new(""));
        let joined = folder.join(file);
        std::path::absolute(&joined).unwrap_or(joined)
    }
}

/// The scene of a file whose every key is sound by itself.
pub(crate) fn assemble(mut file: SceneFile, mut findings: Findings) -> Result<Scene, Diagnostics> {
    check_names(&file, &mut findings);
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
    let grains = grains::gather(&mut file, &materials, domain.as_ref(), &mut findings);
    let (walls, ranges) = all_walls(&mut file, &materials, &mut findings);
    let mut world = World {
        gravity: si(&file.world.gravity),
        local_damping: file.run.local_damping.si,
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
        grains,
        walls,
        later: Later::default(),
    };
    let mut plan = Plan {
        zones: stage::zones(&mut file, &mut findings),
        ..Plan::default()
    };
    (plan.stages, plan.absent) = stage::stages(&file, &world, &ranges, &mut findings);
    plan.inlets = inlet::inlets(&mut file, &materials, &world, &plan.absent, &mut findings);
    world.later.grains = plan.inlets.iter().map(Inlet::expected).collect();
    check_meetings(&world, &mut findings);
    if world.grains.is_empty() && plan.inlets.is_empty() && findings.diagnostics.list().is_empty() {
        findings.add(
            "grains",
            Complaint::new("the scene has no grains").remedy("add a table [grains.NAME] with `file`, `fill`, `at` or `inlet`"),
        );
    }
    let run = RunPlan {
        until: file.run.until.si,
        seed: file.run.seed.0,
    };
    let (device, precision) = place(&file, &mut findings);
    let output = output_plan(&mut file, &mut findings);
    let probes = probes(&mut file, &world, &ranges, &mut findings);
    if !findings.diagnostics.list().is_empty() {
        return Err(findings.diagnostics);
    }
    plan.reserve = stage::set_aside(&mut world, &plan.absent);
    let settings = Settings {
        device,
        precision,
        time_step: file.run.time_step.value().map(|step| step.si),
        search: file.run.search.0,
        skin: file.run.skin.value().map(|skin| skin.si),
        threads: file.run.threads.0 as usize,
        overlap_limit: file.run.overlap_limit.si,
        assembly: Assembly::default(),
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
                Complaint::new(format!("the scene cannot be written back as TOML: {error}")).remedy("please report this scene"),
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
        resolved,
        notices: findings.notices,
    })
}

fn check_names(file: &SceneFile, findings: &mut Findings) {
    let tables = [
        ("material", file.material.keys().collect::<Vec<_>>()),
        ("interaction", file.interaction.keys().collect()),
        ("grains", file.grains.keys().collect()),
        ("wall", file.wall.keys().collect()),
        ("zone", file.zone.keys().collect()),
        ("probe", file.probe.keys().collect()),
    ];
    for (table, names) in tables {
        let most = if table == "interaction" {
            2 * LONGEST_NAME + 1
        } else {
            LONGEST_NAME
        };
        for name in names {
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            if !is_plain || name.is_empty() || name.len() > most {
                let complaint = Complaint::new(format!("{table}: {name:?} cannot be a name, because names become file names"));
                findings.add(
                    table,
                    complaint.limit(format!("1 to {most} letters, digits, _ and -")).remedy("rename it"),
                );
            }
        }
    }
}

fn domain(section: &mut WorldSection, findings: &mut Findings) -> Option<Domain> {
    let leaving = section.leaving.get_or_insert(Word(Leaving::Error)).0;
    let Some(shape) = &section.domain else {
        if leaving == Leaving::Delete {
            findings
                .notices
                .push("world.leaving has no effect: the world has no `domain`".to_owned());
        }
        return None;
    };
    match corners(shape) {
        Ok((min, max)) => Some(Domain {
            min: min.to_array(),
            max: max.to_array(),
            leaving,
        }),
        Err(complaint) => {
            findings.add("world.domain", complaint.within("world.domain"));
            None
        }
    }
}

fn all_walls(file: &mut SceneFile, materials: &Materials, findings: &mut Findings) -> (Vec<Wall>, BTreeMap<String, Range<usize>>) {
    let (mut walls, mut ranges) = (Vec::new(), BTreeMap::new());
    for (name, section) in &mut file.wall {
        let material = materials.index(&section.material).unwrap_or_else(|complaint| {
            findings.add(&format!("wall.{name}.material"), complaint.within(&format!("wall.{name}")));
            0
        });
        ranges.insert(name.clone(), walls::build(name, section, material, &mut walls, findings));
    }
    (walls, ranges)
}

/// Materials that can meet need an interaction.
fn check_meetings(world: &World, findings: &mut Findings) {
    if !findings.diagnostics.list().is_empty() {
        return;
    }
    for (a, b) in grains::meetings(&world.grains, &world.later.grains, world.walls.iter().map(|wall| wall.material)) {
        if world.interaction(a, b).is_none() {
            let [a, b] = [a, b].map(|index| &world.materials[index as usize].name);
            let complaint = Complaint::new(format!("{a} and {b} can meet, but the scene does not say how they interact"));
            findings.add(
                "interaction",
                complaint.remedy(format!("add a table [interaction.{a}-{b}] with restitution and friction")),
            );
        }
    }
}

/// Where the world is stepped, and with how many digits.
fn place(file: &SceneFile, findings: &mut Findings) -> (DeviceChoice, Option<Precision>) {
    let device = file.run.device.choice().unwrap_or_else(|complaint| {
        findings.add("run.device", complaint.within("run.device"));
        DeviceChoice::Cpu
    });
    let precision = file.run.precision.value().map(|word| word.0);
    if file.run.device == Device::Cpu && precision.is_some_and(|precision| precision != Precision::F64) {
        let complaint = Complaint::new("run.precision: the CPU computes in f64 only").limit("\"auto\" or \"f64\"");
        findings.add(
            "run.precision",
            complaint.remedy("leave it out, or choose a GPU: device = \"gpu\", or --device gpu"),
        );
    }
    (device, precision)
}

/// Refuses intervals that would fill the disk.
fn check_interval(path: &str, until: f64, every: f64, most: f64, findings: &mut Findings) {
    let times = until / every;
    if times > most {
        let complaint = Complaint::new(format!("{path}: {every} s in a run of {until} s asks for {times:.3e} outputs"));
        findings.add(
            path,
            complaint
                .limit(format!("{most:e} outputs, that is every {:e} s", until / most))
                .remedy("write less often"),
        );
    }
}

fn output_plan(file: &mut SceneFile, findings: &mut Findings) -> OutputPlan {
    let until = file.run.until.si;
    let every = file.output.every.get_or_insert(Quantity::new(until / 100.0)).si;
    let energies_every = file.output.energies_every.get_or_insert(Quantity::new(every)).si;
    check_interval("output.every", until, every, MOST_FRAMES, findings);
    check_interval("output.energies_every", until, energies_every, MOST_LINES, findings);
    let fields = file
        .output
        .fields
        .get_or_insert_with(|| vec![Word(Field::Velocity)])
        .iter()
        .map(|field| field.0)
        .collect();
    OutputPlan {
        every,
        fields,
        energies_every,
    }
}

fn probes(file: &mut SceneFile, world: &World, walls: &BTreeMap<String, Range<usize>>, findings: &mut Findings) -> Vec<Probe> {
    let until = file.run.until.si;
    let usual: Quantity<Time, Positive> = file.output.energies_every.unwrap_or(Quantity::new(until / 100.0));
    let is_sound = findings.diagnostics.list().is_empty();
    let mut probes = Vec::new();
    for (name, section) in &mut file.probe {
        let every = section.every.get_or_insert(usual).si;
        check_interval(&format!("probe.{name}.every"), until, every, MOST_LINES, findings);
        match probe_kind(section, world, walls, is_sound) {
            Ok(what) => probes.push(Probe {
                name: name.clone(),
                every,
                what,
            }),
            Err((key, complaint)) => findings.add(&format!("probe.{name}.{key}"), complaint.within(&format!("probe.{name}"))),
        }
    }
    probes
}

fn probe_kind(
    section: &ProbeSection,
    world: &World,
    walls: &BTreeMap<String, Range<usize>>,
    is_sound: bool,
) -> Result<ProbeKind, (&'static str, Complaint)> {
    let unknown =
        |what: &str, name: &str, known: Vec<&str>| Complaint::new(format!("no {what} is named `{name}`")).remedy(did_you_mean(name, known));
    match section {
        ProbeSection {
            position: Some(id),
            count_through: None,
            energy: None,
            group_center: None,
            wall_force: None,
            ..
        } => {
            let grain = id.0 as u32;
            // Grains that were refused have no ids to look up.
            if !is_sound || world.grains.id.contains(&grain) {
                return Ok(ProbeKind::Position { grain });
            }
            let highest = world.grains.id.iter().max().copied().unwrap_or(0);
            let complaint = Complaint::new(format!("no grain has the id {grain}")).limit(format!("ids up to {highest}"));
            Err((
                "position",
                complaint.remedy("use an id of the scene's grains, or group_center = \"NAME\" for a group of one"),
            ))
        }
        ProbeSection {
            position: None,
            count_through: Some(count),
            energy: None,
            group_center: None,
            wall_force: None,
            ..
        } => {
            let normal = walls::unit(&count.plane.normal).map_err(|complaint| ("count_through.plane.normal", complaint))?;
            Ok(ProbeKind::CountThrough {
                point: si(&count.plane.point),
                normal,
                radius: count.radius.map(|radius| radius.si),
            })
        }
        ProbeSection {
            position: None,
            count_through: None,
            energy: Some(true),
            group_center: None,
            wall_force: None,
            ..
        } => Ok(ProbeKind::Energy),
        ProbeSection {
            position: None,
            count_through: None,
            energy: None,
            group_center: Some(name),
            wall_force: None,
            ..
        } => {
            let group = world.groups.iter().position(|group| group == name);
            let known = || world.groups.iter().map(String::as_str).collect();
            group
                .map(|index| ProbeKind::GroupCenter { group: index as u32 })
                .ok_or_else(|| ("group_center", unknown("group of grains", name, known())))
        }
        ProbeSection {
            position: None,
            count_through: None,
            energy: None,
            group_center: None,
            wall_force: Some(name),
            ..
        } => {
            let known = || walls.keys().map(String::as_str).collect();
            walls
                .get(name)
                .map(|range| ProbeKind::WallForce { walls: range.clone() })
                .ok_or_else(|| ("wall_force", unknown("wall", name, known())))
        }
        _ => {
            let complaint =
                Complaint::new("a probe logs exactly one of `position`, `count_through`, `energy = true`, `group_center` and `wall_force`");
            Err(("", complaint.remedy("keep one, and write a probe for each of the others")))
        }
    }
}
