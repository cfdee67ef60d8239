//! Where a scene says what: so that what the engine refuses, too, is shown with its file and line.

use crate::{
    assemble::Findings,
    diagnostics::{Complaint, Diagnostics, Next, Place},
    document::{Node, Value},
};
use seixo_engine::{
    Refusal,
    world::{Precision, World},
};
use std::path::{Path, PathBuf};

/// Most steps of a run. Up to 2^53 whole numbers are told apart by a double, and a time so many steps long from the one a step later.
const MOST_STEPS: f64 = 9e15;

/// Keys that say where grains are: shown where the key at fault is left out.
const PLACES: [&str; 3] = ["at", "fill", "file"];

/// The text of a scene and the changes that it was read with. The tree is made anew where it is asked for: a run does not keep it.
#[derive(Clone, Debug)]
pub struct Source {
    file: PathBuf,
    text: String,
    overrides: Vec<(String, String)>,
    groups: Vec<String>,
    grains: Owners,
    bodies: Owners,
}

/// The groups of what has ids: the first id of each stretch, its group, and the last id of all.
#[derive(Clone, Debug, Default)]
struct Owners {
    stretches: Vec<(u32, u32)>,
    last: Option<u32>,
}

impl Owners {
    fn new(owned: impl Iterator<Item = (u32, u32)>) -> Owners {
        let mut owned: Vec<(u32, u32)> = owned.collect();
        owned.sort_unstable();
        let last = owned.last().map(|(id, _)| *id);
        owned.dedup_by_key(|(_, group)| *group);
        Owners { stretches: owned, last }
    }

    fn of(&self, id: u32) -> Option<u32> {
        let is_known = self.last.is_some_and(|last| id <= last);
        let after = self.stretches.partition_point(|(first, _)| *first <= id);
        let (_, group) = self.stretches.get(after.checked_sub(1)?)?;
        is_known.then_some(*group)
    }
}

/// The tree of a scene after its overrides, with what is wrong with either so far.
pub(crate) fn tree(text: &str, file: &Path, overrides: &[(String, String)]) -> (Node, Diagnostics) {
    let mut found = Diagnostics {
        file: file.to_owned(),
        text: text.to_owned(),
        ..Diagnostics::default()
    };
    let mut root = Node::parse(text, &mut found);
    for (index, (path, value)) in overrides.iter().enumerate() {
        found.overrides.push(format!("{path}={value}"));
        let place = Place::Override(index);
        if let Err(complaint) = root.set(path, value, &place) {
            found.push(place, None, complaint);
        }
    }
    (root, found)
}

impl Source {
    /// The source of a scene at this file; what it came to is told by [`Source::of`].
    pub(crate) fn new(text: &str, file: &Path, overrides: &[(String, String)]) -> Source {
        Source {
            file: file.to_owned(),
            text: text.to_owned(),
            overrides: overrides.to_vec(),
            groups: Vec::new(),
            grains: Owners::default(),
            bodies: Owners::default(),
        }
    }

    /// The source, with who owns the grains and bodies of its world.
    pub(crate) fn of(mut self, world: &World) -> Source {
        let grains = &world.grains;
        self.groups.clone_from(&world.groups);
        self.grains = Owners::new(grains.id.iter().copied().zip(grains.group.iter().copied()));
        let group_of = |id: &u32| self.grains.of(*id);
        let bodies = grains.bodies.iter();
        self.bodies = Owners::new(bodies.filter_map(|body| Some((body.id, group_of(&body.carries.first()?.0)?))));
        self
    }

    /// What the engine refuses, with the place of the scene that is the cause; `None` where it is none of the scene's doing.
    pub fn explain(&self, refusal: &Refusal) -> Option<Diagnostics> {
        let (root, mut found) = tree(&self.text, &self.file, &self.overrides);
        let (path, complaint) = self.cause(refusal, &root)?;
        found.next = Some(Next::RestOfStart);
        let mut findings = Findings::new(root, found, &|path| path);
        findings.add(&path, complaint);
        Some(findings.into_diagnostics())
    }

    /// Where the scene says what the engine refuses, as `file:line:column`.
    pub fn place_of(&self, refusal: &Refusal) -> Option<String> {
        let found = self.explain(refusal)?;
        let first = found.list().first()?;
        found.line_and_column(first).map(|_| found.told_place(&first.place))
    }

    /// A run of this length \[s\] that steps of this length never bring to its end; `None` if they do.
    pub fn endless(&self, until: f64, time_step: f64) -> Option<Diagnostics> {
        let steps = until / time_step;
        if steps <= MOST_STEPS {
            return None;
        }
        let message = format!("a run of {until:e} s takes {steps:.3e} steps of {time_step:e} s: its time would come to a halt");
        let complaint = Complaint::new(message).limit(format!("{MOST_STEPS:.0e} steps"));
        let (root, found) = tree(&self.text, &self.file, &self.overrides);
        let key = if holds(&root, &["run", "time_step"]) {
            "time_step"
        } else {
            "until"
        };
        let mut findings = Findings::new(root, found, &|path| path);
        findings.add(
            &format!("run.{key}"),
            complaint.remedy("let the run end earlier, or use a longer time step or softer materials, which allow one"),
        );
        Some(findings.into_diagnostics())
    }

    /// The path of the first section whose grains come later; of the whole scene if none do.
    fn of_inlets(&self, root: &Node) -> String {
        let mut names = self.groups.iter();
        let first = names.find(|name| holds(root, &["grains", name.as_str(), "inlet"]));
        first.map_or_else(String::new, |name| format!("grains.{name}.inlet"))
    }

    /// The path of what is at fault, and what is wrong with it.
    fn cause(&self, refusal: &Refusal, root: &Node) -> Option<(String, Complaint)> {
        let told = || told(refusal);
        let of_group = |group: Option<u32>, key: &str| {
            let name = group.and_then(|group| self.groups.get(group as usize));
            let Some(name) = name else { return "grains".to_owned() };
            let is_there = |key: &&str| holds(root, &["grains", name.as_str(), *key]);
            let key = [key].into_iter().chain(PLACES).find(is_there).unwrap_or_default();
            format!("grains.{name}.{key}")
        };
        let of_grain = |id: &u32, key: &str| of_group(self.grains.of(*id), key);
        let of_body = |id: &u32, key: &str| of_group(self.bodies.of(*id), key);
        // Of keys that may be the cause, the first that is written.
        let written = |paths: &[&str]| {
            let is_there = |path: &&&str| holds(root, &path.split('.').collect::<Vec<_>>());
            let found = paths.iter().find(is_there).or(paths.first());
            found.map_or_else(String::new, |path| (*path).to_owned())
        };
        let must = |message: String, must: &str| Complaint::new(message).limit(must).remedy("give a value that is accepted");
        Some(match refusal {
            Refusal::Precision { .. } | Refusal::HeatInSingle => (written(&["run.precision", "run.device"]), told()),
            Refusal::Digits { precision, is_of_step, .. } => {
                let of_precision: &[&str] = if *precision == Precision::F32.name() {
                    &["run.precision", "run.device"]
                } else {
                    &[]
                };
                let of_step: &[&str] = if *is_of_step { &["run.time_step"] } else { &[] };
                let of_places: &[&str] = &["grains", "fluid"];
                (written(&[of_precision, of_step, of_places].concat()), told())
            }
            Refusal::Fluid(what) => (of_fluid(root, what), told()),
            Refusal::WallInFluid { wall, .. } | Refusal::FluidBehindWall { wall, .. } => (of_wall(root, wall, ""), told()),
            Refusal::Division(_) => (written(&["run.domains", "run.gpus"]), told()),
            Refusal::Threads(_) => ("run.threads".to_owned(), told()),
            Refusal::Bond { name, what } => (key_named(root, &format!("bonds.{name}"), what), told()),
            Refusal::BondStep { .. } | Refusal::TimeStep { .. } => ("run.time_step".to_owned(), told()),
            Refusal::NoGrains => ("grains".to_owned(), told()),
            Refusal::DuplicateId { id } => (of_grain(id, "file"), told()),
            Refusal::Grain {
                id,
                what,
                value,
                must: limit,
            } => {
                let message = format!("grain {id}: {what} is {value}");
                (of_grain(id, &what.replace(' ', "_")), must(message, limit))
            }
            Refusal::Body {
                id,
                what,
                value,
                must: limit,
            } => (
                of_body(id, &what.replace(' ', "_")),
                must(format!("body {id}: {what} is {value}"), limit),
            ),
            Refusal::BodyMotion { id, .. } => {
                let is_tied = |group: u32| {
                    holds(
                        root,
                        &["grains", self.groups.get(group as usize).map_or("", String::as_str), "joint"],
                    )
                };
                let key = if self.bodies.of(*id).is_some_and(is_tied) {
                    "joint"
                } else {
                    "motion"
                };
                (of_body(id, key), told())
            }
            Refusal::WithBodies { what, .. } => {
                let path = match *what {
                    "sides that slide past each other" => "world.domain.shear",
                    "Gear's methods" => "run.integrator",
                    _ => "grains",
                };
                (path.to_owned(), told())
            }
            Refusal::Material {
                name,
                what,
                value,
                must: limit,
            } => (
                format!("material.{name}.{what}"),
                must(format!("material.{name}: {what} is {value}"), limit),
            ),
            Refusal::NoInteraction { .. } => ("interaction".to_owned(), told()),
            Refusal::Interaction { a, b, what } => {
                let pair = [format!("{a}-{b}"), format!("{b}-{a}")]
                    .into_iter()
                    .find(|pair| holds(root, &["interaction", pair.as_str()]));
                let key = what.split_whitespace().next().unwrap_or_default();
                (
                    pair.map_or_else(|| "interaction".to_owned(), |pair| format!("interaction.{pair}.{key}")),
                    told(),
                )
            }
            Refusal::Wall { name, what } => (of_wall(root, name, what), told()),
            Refusal::Overlap {
                a,
                b,
                overlap,
                share,
                limit,
            } => {
                let message = format!("grains {a} and {b} overlap by {overlap:.3e} m at the start, {share:.1} % of the smaller radius");
                let complaint = Complaint::new(message).limit(format!("overlaps of {limit:.1} %"));
                (
                    of_grain(a, "at"),
                    complaint.remedy("move or shrink them, or raise run.overlap_limit"),
                )
            }
            Refusal::InWall { id, at, share, limit } => {
                let [x, y, z] = at;
                let message =
                    format!("grain {id} at ({x:.4e}, {y:.4e}, {z:.4e}) m is {share:.1} % of its radius inside a wall at the start");
                let complaint = Complaint::new(message).limit(format!("overlaps of {limit:.1} %"));
                (
                    of_grain(id, "at"),
                    complaint.remedy("move it or the wall, or raise run.overlap_limit"),
                )
            }
            Refusal::Outside { id, .. } => (of_grain(id, "at"), told()),
            Refusal::PeriodicSide { .. } => ("world.domain".to_owned(), told()),
            Refusal::Shear => ("world.domain.shear".to_owned(), told()),
            Refusal::DampedShear => ("run.local_damping".to_owned(), told()),
            Refusal::Setting { what, value, must: limit } => {
                let is_key = what.starts_with("run.") || what.starts_with("world.");
                let path = if is_key { (*what).to_owned() } else { self.of_inlets(root) };
                (path, must(format!("{what} is {value}"), limit))
            }
            Refusal::Taken { id, .. } | Refusal::FreedInside { id, .. } => (of_grain(id, "at"), told()),
            Refusal::WallInGrain { partner, .. } => (of_wall(root, partner.trim_start_matches("wall "), ""), told()),
            Refusal::Switch { group, what } => (key_named(root, &format!("grains.{group}"), what), told()),
            Refusal::Gpu(_)
            | Refusal::Assembly { .. }
            | Refusal::AssemblyElsewhere { .. }
            | Refusal::Unexpected { .. }
            | Refusal::Stopped(_)
            | Refusal::State { .. } => return None,
        })
    }
}

/// A complaint from what a refusal says, which ends with the remedy.
fn told(refusal: &Refusal) -> Complaint {
    let text = refusal.to_string();
    let parts = text.rsplit_once("; ").or_else(|| text.rsplit_once(": "));
    let (message, remedy) = parts.unwrap_or((&text, "change it, or leave it out"));
    Complaint::new(message).remedy(remedy)
}

/// The path of a fluid's key that a message is about: of the fluid that it names in quotes, or of the only one.
fn of_fluid(root: &Node, message: &str) -> String {
    let names: Vec<&String> = keys(root, &["fluid"]).collect();
    let named = names.iter().find(|name| message.contains(&format!("{name:?}")));
    match (named, names.as_slice()) {
        (Some(name), _) | (None, [name]) => key_named(root, &format!("fluid.{name}"), message),
        _ => "fluid".to_owned(),
    }
}

/// The path of a wall's key that a message is about. Of the faces of a box each has a name of its own.
fn of_wall(root: &Node, name: &str, message: &str) -> String {
    let section = name.split('.').next().unwrap_or_default();
    let path = key_named(root, &format!("wall.{section}"), message);
    let is_of_motion = MOVES.iter().any(|word| word_at(message, word).is_some()) && holds(root, &["wall", section, "motion"]);
    if is_of_motion && path == format!("wall.{section}") {
        path + ".motion"
    } else {
        path
    }
}

/// What a message says of a wall whose motion is at fault.
const MOVES: [&str; 4] = ["moves", "turns", "vibrates", "path"];

/// The path of the key of a section that a message names first, of those that are written; of the section if it names none.
fn key_named(root: &Node, section: &str, message: &str) -> String {
    let path: Vec<&str> = section.split('.').collect();
    let named = keys(root, &path).filter_map(|key| {
        let apart = key.replace('_', " ");
        let at = [key.as_str(), apart.as_str()]
            .into_iter()
            .filter_map(|word| word_at(message, word))
            .min()?;
        Some((at, key))
    });
    named
        .min()
        .map_or_else(|| section.to_owned(), |(_, key)| format!("{section}.{key}"))
}

/// Where a text has a word, or several in a row, that are not parts of longer ones.
fn word_at(text: &str, word: &str) -> Option<usize> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |at: &usize| !text[..*at].ends_with(is_of_word) && !text[at + word.len()..].starts_with(is_of_word);
    text.match_indices(word).map(|(at, _)| at).find(is_whole)
}

/// What stands at a path of the tree.
fn at<'a>(root: &'a Node, path: &[&str]) -> Option<&'a Node> {
    path.iter().try_fold(root, |node, key| match &node.value {
        Value::Table(table) => table.get(*key).map(|entry| &entry.node),
        _ => None,
    })
}

/// The keys of the table at a path; none if there is no table.
fn keys<'a>(root: &'a Node, path: &[&str]) -> impl Iterator<Item = &'a String> + use<'a> {
    let table = at(root, path).and_then(|node| match &node.value {
        Value::Table(table) => Some(table.keys()),
        _ => None,
    });
    table.into_iter().flatten()
}

/// Whether the tree holds what is at a path.
fn holds(root: &Node, path: &[&str]) -> bool {
    at(root, path).is_some()
}
