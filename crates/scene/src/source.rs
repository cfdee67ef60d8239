//! Positions of keys in a scene, so that errors of the engine also show file and line.

use crate::{
    assemble::CheckState,
    diagnostics::{Diagnostic, Diagnostics, Next, Place, UnlocatedDiagnostic},
    document::{Node, Value},
    renamed_keys,
};
use seixo_engine::{
    WorldError,
    world::{Precision, TimeStep, World},
};
use std::{
    f64::consts::TAU,
    path::{Path, PathBuf},
};

/// Largest number of steps of a run. A double distinguishes whole numbers up to 2^53, and a time of so many steps from the next one.
const MAX_STEPS: f64 = 9e15;

/// Keys that define grains: shown if the key at fault is omitted.
const PLACES: [&str; 3] = ["at", "fill", "file"];

/// The text of a scene and its overrides. The tree is rebuilt on demand: a run does not keep it.
#[derive(Clone, Debug)]
pub struct Source {
    file: PathBuf,
    text: String,
    overrides: Vec<(String, String)>,
    groups: Vec<String>,
    grains: Owners,
    bodies: Owners,
}

/// The groups of items with ids: the first id of each range, its group, and the last id of all.
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

/// The tree of a scene after its overrides, with the errors of both so far.
pub(crate) fn tree(text: &str, file: &Path, overrides: &[(String, String)]) -> (Node, Diagnostics) {
    let mut found = Diagnostics {
        file: file.to_owned(),
        text: text.into(),
        ..Diagnostics::default()
    };
    let mut root = Node::parse(text, &mut found);
    renamed_keys::rename(&mut root, &mut found);
    for (index, (path, value)) in overrides.iter().enumerate() {
        found.overrides.push(format!("{path}={value}"));
        let place = Place::Override(index);
        if let Err(complaint) = root.set(path, value, &place) {
            found.push(place, None, complaint);
        }
        renamed_keys::rename(&mut root, &mut found);
    }
    (root, found)
}

/// The key of a diagnostic as a dotted path: that of its position, or that of its `--set`; `None` for an error of the scene as a whole.
pub fn key_of(found: &Diagnostics, diagnostic: &Diagnostic) -> Option<String> {
    match &diagnostic.place {
        Place::Whole => None,
        Place::Override(index) => Some(found.overrides.get(*index)?.split_once('=')?.0.to_owned()),
        Place::Span(_) => {
            let root = Node::parse(&found.text, &mut Diagnostics::default());
            let path = root.path_to(&diagnostic.place)?;
            (!path.is_empty()).then(|| path.join("."))
        }
    }
}

impl Source {
    /// The source of a scene at this file; [`Source::of`] adds the owners of ids.
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

    /// The source, with the owners of the grains and bodies of its world.
    pub(crate) fn of(mut self, world: &World) -> Source {
        let grains = &world.grains;
        self.groups.clone_from(&world.groups);
        self.grains = Owners::new(grains.id.iter().copied().zip(grains.group.iter().copied()));
        let group_of = |id: &u32| self.grains.of(*id);
        let bodies = grains.bodies.iter();
        self.bodies = Owners::new(bodies.filter_map(|body| Some((body.id, group_of(&body.carries.first()?.0)?))));
        self
    }

    /// An error of the engine, with the position in the scene of its cause; `None` if the scene is not the cause.
    pub fn explain(&self, refusal: &WorldError) -> Option<Diagnostics> {
        let (root, mut found) = tree(&self.text, &self.file, &self.overrides);
        let (path, complaint) = self.cause(refusal, &root)?;
        found.next = Some(Next::RestOfStart);
        let mut findings = CheckState::new(root, found, &|path| path);
        findings.add(&path, complaint);
        Some(findings.into_diagnostics())
    }

    /// Position in the scene of the cause of an error of the engine, as `file:line:column`.
    pub fn place_of(&self, refusal: &WorldError) -> Option<String> {
        let found = self.explain(refusal)?;
        let first = found.list().first()?;
        found.line_and_column(first).map(|_| found.location_text(&first.place))
    }

    /// The error for a run of this length \[s\] that this time step never completes; `None` if it does.
    pub fn endless(&self, until: f64, step: &TimeStep) -> Option<Diagnostics> {
        let (time_step, limit, cause) = (step.value, step.limit, &step.cause);
        let steps = until / time_step;
        if steps <= MAX_STEPS {
            return None;
        }
        let message = format!(
            "a run of {until:e} s takes {steps:.3e} steps of {time_step:e} s: its time would come to a halt; the stable limit of the step is {limit:.3e} s, \
             set by {cause}"
        );
        let complaint = UnlocatedDiagnostic::new(message).limit(format!("{MAX_STEPS:.0e} steps"));
        let (root, found) = tree(&self.text, &self.file, &self.overrides);
        let key = if holds(&root, &["run", "time_step"]) {
            "time_step"
        } else {
            "until"
        };
        let mut findings = CheckState::new(root, found, &|path| path);
        findings.add(
            &format!("run.{key}"),
            complaint.remedy("let the run end earlier, or use a longer time step; lower the stiffness or the damping that sets its limit"),
        );
        Some(findings.into_diagnostics())
    }

    /// Whether the scene has this key, in its file or by an override.
    pub(crate) fn has(&self, path: &[&str]) -> bool {
        holds(&tree(&self.text, &self.file, &self.overrides).0, path)
    }

    /// Rotations by more than a full turn whose angle has no unit: the paths of their angles, and these \[rad\].
    pub(crate) fn large_angles_without_unit(&self) -> Vec<(String, f64)> {
        let mut found = Vec::new();
        add_large_angles(&tree(&self.text, &self.file, &self.overrides).0, "", &mut found);
        found
    }

    /// The path of the first section whose grains enter later; of the whole scene if there is none.
    fn of_inlets(&self, root: &Node) -> String {
        let mut names = self.groups.iter();
        let first = names.find(|name| holds(root, &["grains", name.as_str(), "inlet"]));
        first.map_or_else(String::new, |name| format!("grains.{name}.inlet"))
    }

    /// The name of the group of a grain.
    fn group_of(&self, id: u32) -> Option<&str> {
        self.groups.get(self.grains.of(id)? as usize).map(String::as_str)
    }

    /// The section of a grain, to write behind the grain; empty if it is unknown.
    fn section_of(&self, id: u32) -> String {
        self.group_of(id).map_or_else(String::new, |name| format!(" of grains.{name}"))
    }

    /// The remedy for two grains that overlap at the start. A random fill has no overlaps with the sections before it, which other fills do not see.
    /// For polyhedra, overlaps are shares of their rounding radii.
    fn remedy_of_overlap(&self, ids: [u32; 2], of_rounding: bool, root: &Node) -> String {
        let of_both = if of_rounding {
            "move or shrink them, give their shape a larger `rounding`, or raise run.overlap_limit"
        } else {
            "move or shrink them, or raise run.overlap_limit"
        };
        let [a, b] = ids.map(|id| self.group_of(id).unwrap_or_default());
        // Sections are filled in alphabetical order.
        let later = a.max(b);
        if !holds(root, &["grains", later, "fill"]) {
            return of_both.to_owned();
        }
        if a == b {
            return format!("use a lower solid_fraction or method = \"random\" in grains.{later}.fill; or {of_both}");
        }
        let fraction = "with a solid_fraction of at most 0.35";
        format!("write method = \"random\" in grains.{later}.fill, which keeps free of earlier sections, {fraction}; or {of_both}")
    }

    /// The path of the key at fault, and the error.
    fn cause(&self, refusal: &WorldError, root: &Node) -> Option<(String, UnlocatedDiagnostic)> {
        let reported = || from_message(refusal);
        let of_group = |group: Option<u32>, key: &str| {
            let name = group.and_then(|group| self.groups.get(group as usize));
            let Some(name) = name else { return "grains".to_owned() };
            let is_there = |key: &&str| holds(root, &["grains", name.as_str(), *key]);
            let key = [key].into_iter().chain(PLACES).find(is_there).unwrap_or_default();
            format!("grains.{name}.{key}")
        };
        let of_grain = |id: &u32, key: &str| of_group(self.grains.of(*id), key);
        let of_body = |id: &u32, key: &str| of_group(self.bodies.of(*id), key);
        // Of the keys that may be the cause, the first one in the file.
        let written = |paths: &[&str]| {
            let is_there = |path: &&&str| holds(root, &path.split('.').collect::<Vec<_>>());
            let found = paths.iter().find(is_there).or(paths.first());
            found.map_or_else(String::new, |path| (*path).to_owned())
        };
        let must = |message: String, must: &str| {
            UnlocatedDiagnostic::new(message)
                .limit(must)
                .remedy("give a value that is accepted")
        };
        Some(match refusal {
            WorldError::Precision { .. } | WorldError::ScalarInSingle { .. } => (written(&["run.precision", "run.device"]), reported()),
            WorldError::Digits { precision, is_of_step, .. } => {
                let of_precision: &[&str] = if *precision == Precision::F32.name() {
                    &["run.precision", "run.device"]
                } else {
                    &[]
                };
                let of_step: &[&str] = if *is_of_step { &["run.time_step"] } else { &[] };
                let of_places: &[&str] = &["grains", "fluid"];
                (written(&[of_precision, of_step, of_places].concat()), reported())
            }
            WorldError::Fluid(what) => (of_fluid(root, what), reported()),
            WorldError::WallInFluid { wall, .. } | WorldError::FluidBehindWall { wall, .. } => (of_wall(root, wall, ""), reported()),
            WorldError::Subdomains(_) => (written(&["run.domains", "run.gpus"]), reported()),
            WorldError::Threads(_) => ("run.threads".to_owned(), reported()),
            WorldError::Bond { name, what } => (key_named(root, &format!("bonds.{name}"), what), reported()),
            WorldError::BondStep { .. } | WorldError::TimeStep { .. } => ("run.time_step".to_owned(), reported()),
            WorldError::NoGrains | WorldError::UnknownName { .. } => ("grains".to_owned(), reported()),
            WorldError::DuplicateId { id } => (of_grain(id, "file"), reported()),
            WorldError::Grain {
                id,
                what,
                value,
                must: limit,
            } => {
                let message = format!("grain {id}: {what} is {value}");
                (of_grain(id, &what.replace(' ', "_")), must(message, limit))
            }
            WorldError::Body {
                id,
                what,
                value,
                must: limit,
            } => (
                of_body(id, &what.replace(' ', "_")),
                must(format!("body {id}: {what} is {value}"), limit),
            ),
            WorldError::BodyMotion { id, .. } => {
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
                (of_body(id, key), reported())
            }
            WorldError::WithBodies { what, .. } => {
                let path = match *what {
                    "sides that slide past each other" => "world.domain.shear",
                    _ => "grains",
                };
                (path.to_owned(), reported())
            }
            WorldError::Shape { name, .. } => (format!("shape.{name}"), reported()),
            WorldError::WithPolyhedra { what, .. } => (beside_polyhedra(root, what), reported()),
            WorldError::Material {
                name,
                what,
                value,
                must: limit,
            } => (
                format!("material.{name}.{what}"),
                must(format!("material.{name}: {what} is {value}"), limit),
            ),
            WorldError::NoInteraction { .. } => ("interaction".to_owned(), reported()),
            WorldError::Interaction { a, b, what } => {
                let pair = [format!("{a}-{b}"), format!("{b}-{a}")]
                    .into_iter()
                    .find(|pair| holds(root, &["interaction", pair.as_str()]));
                let key = what.split_whitespace().next().unwrap_or_default();
                (
                    pair.map_or_else(|| "interaction".to_owned(), |pair| format!("interaction.{pair}.{key}")),
                    reported(),
                )
            }
            WorldError::Wall { name, what } => (of_wall(root, name, what), reported()),
            WorldError::TooFast { name, how, .. } => (of_wall(root, name, how), reported()),
            WorldError::Overlap {
                a,
                b,
                overlap,
                share,
                limit,
                of_rounding,
            } => {
                let [of_a, of_b] = [a, b].map(|id| self.section_of(*id));
                let grains = if of_a == of_b {
                    format!("grains {a} and {b}{of_a}")
                } else {
                    format!("grain {a}{of_a} and grain {b}{of_b}")
                };
                let radius = radius_of_shares(*of_rounding);
                let message = format!("{grains} overlap by {overlap:.3e} m at the start, {share:.1} % of the smaller {radius}");
                let complaint = UnlocatedDiagnostic::new(message).limit(format!("overlaps of {limit:.1} %"));
                let remedy = self.remedy_of_overlap([*a, *b], *of_rounding, root);
                (of_grain(a, "at"), complaint.remedy(remedy))
            }
            WorldError::InWall {
                id,
                at,
                wall,
                share,
                limit,
                of_rounding,
            } => {
                let [x, y, z] = at;
                let grain = format!("grain {id}{}", self.section_of(*id));
                let message = format!(
                    "{grain} at ({x:.4e}, {y:.4e}, {z:.4e}) m is {share:.1} % of its {} inside a wall at the start: wall.{wall}",
                    radius_of_shares(*of_rounding)
                );
                let complaint = UnlocatedDiagnostic::new(message).limit(format!("overlaps of {limit:.1} %"));
                (
                    of_grain(id, "at"),
                    complaint.remedy(if *of_rounding {
                        "move it or the wall, give its shape a larger `rounding`, or raise run.overlap_limit"
                    } else if *share < 100.0 {
                        "move it or the wall, or raise run.overlap_limit"
                    } else {
                        // Only planes have a side for grains.
                        "move it or the wall: grains of a plane are on the side to which its normal points, those of a box inside"
                    }),
                )
            }
            WorldError::Outside { id, .. } => (of_grain(id, "at"), reported()),
            WorldError::PeriodicSide { .. } => ("world.domain".to_owned(), reported()),
            WorldError::Shear => ("world.domain.shear".to_owned(), reported()),
            WorldError::Cell(_) => ("world.domain.control".to_owned(), reported()),
            WorldError::AssemblyElsewhere { .. } => ("run.assembly".to_owned(), reported()),
            WorldError::DampedShear => ("run.local_damping".to_owned(), reported()),
            WorldError::FluidSurroundings { what, value, must: limit } => {
                let is_key = what.starts_with("run.") || what.starts_with("world.");
                let path = if is_key { (*what).to_owned() } else { self.of_inlets(root) };
                (path, must(format!("{what} is {value}"), limit))
            }
            WorldError::Taken { id, .. } | WorldError::FreedInside { id, .. } => (of_grain(id, "at"), reported()),
            WorldError::WallInGrain { partner, .. } => (of_wall(root, partner.trim_start_matches("wall "), ""), reported()),
            WorldError::Switch { group, what } => (key_named(root, &format!("grains.{group}"), what), reported()),
            WorldError::Gpu(_)
            | WorldError::Unexpected { .. }
            | WorldError::FrozenInside { .. }
            | WorldError::ExternalForces(_)
            | WorldError::Stopped(_)
            | WorldError::State { .. } => return None,
        })
    }
}

/// Name of the radius of which an overlap is a share: of a sphere, or `of_rounding` of a polyhedron.
fn radius_of_shares(of_rounding: bool) -> &'static str {
    if of_rounding { "rounding radius" } else { "radius" }
}

/// An error from a message that ends with the remedy.
fn from_message(refusal: &WorldError) -> UnlocatedDiagnostic {
    let text = refusal.to_string();
    let parts = text.rsplit_once("; ").or_else(|| text.rsplit_once(": "));
    let (message, remedy) = parts.unwrap_or((&text, "change it, or leave it out"));
    UnlocatedDiagnostic::new(message).remedy(remedy)
}

/// The path of the key of a fluid in a message: of the fluid that the message names in quotes, or of the only one.
fn of_fluid(root: &Node, message: &str) -> String {
    let names: Vec<&String> = keys(root, &["fluid"]).collect();
    let named = names.iter().find(|name| message.contains(&format!("{name:?}")));
    match (named, names.as_slice()) {
        (Some(name), _) | (None, [name]) => key_named(root, &format!("fluid.{name}"), message),
        _ => "fluid".to_owned(),
    }
}

/// The path of the key with which polyhedral grains do not go, by the words for it in the message.
fn beside_polyhedra(root: &Node, what: &str) -> String {
    // Of sections with names, the first one that has the key.
    let in_section = |table: &str, key: &str| {
        let name = keys(root, &[table]).find(|name| holds(root, &[table, name.as_str(), key]))?;
        Some(format!("{table}.{name}.{key}"))
    };
    let found = match what.split([' ', ',']).next().unwrap_or_default() {
        "fluids" => in_section("grains", "displaces_fluid").or_else(|| Some("fluid".to_owned())),
        "liquid" => in_section("interaction", "film_exchange"),
        "a" => Some("run.device".to_owned()),
        "sides" => Some("world.domain".to_owned()),
        "Gear's" => Some("run.integrator".to_owned()),
        "force" => Some("run.assembly".to_owned()),
        "bonds" => Some("bonds".to_owned()),
        _ => None,
    };
    found.unwrap_or_else(|| "shape".to_owned())
}

/// The path of the key of a wall in a message. Each face of a box has its own name.
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

/// The message about a wall with an invalid motion.
const MOVES: [&str; 4] = ["moves", "turns", "vibrates", "path"];

/// The path of the section's key that a message names first, of the keys in the file; of the section if it names none.
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

/// Position in a text of one or several words that are not parts of longer ones.
fn word_at(text: &str, word: &str) -> Option<usize> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |at: &usize| !text[..*at].ends_with(is_of_word) && !text[at + word.len()..].starts_with(is_of_word);
    text.match_indices(word).map(|(at, _)| at).find(is_whole)
}

/// The node at a path of the tree.
fn at<'a>(root: &'a Node, path: &[&str]) -> Option<&'a Node> {
    path.iter().try_fold(root, |node, key| match &node.value {
        Value::Table(table) => table.get(*key).map(|entry| &entry.node),
        _ => None,
    })
}

/// Adds the angles of [`Source::large_angles_without_unit`] in the table at a path.
fn add_large_angles(node: &Node, path: &str, found: &mut Vec<(String, f64)>) {
    let Value::Table(table) = &node.value else { return };
    for (key, entry) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let angle = match entry.node.value {
            Value::Integer(angle) => angle as f64,
            Value::Float(angle) => angle,
            _ => 0.0,
        };
        if key == "angle" && table.contains_key("axis") && angle.abs() > TAU {
            found.push((path.clone(), angle));
        }
        add_large_angles(&entry.node, &path, found);
    }
}

/// The keys of the table at a path; none if there is no table.
fn keys<'a>(root: &'a Node, path: &[&str]) -> impl Iterator<Item = &'a String> + use<'a> {
    let table = at(root, path).and_then(|node| match &node.value {
        Value::Table(table) => Some(table.keys()),
        _ => None,
    });
    table.into_iter().flatten()
}

/// Whether the tree has a node at a path.
fn holds(root: &Node, path: &[&str]) -> bool {
    at(root, path).is_some()
}
