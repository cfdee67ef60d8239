//! Start from another run: with the grains of its last checkpoint, or of a frame.

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    document::Node,
    fill::{Inside, si},
    interactions::Materials,
    schema::{GrainsSection, SceneFile, StartSection},
    shape::orientation,
    shapes_in_use::{index_of, shapes_of_run},
    stage::{StageItem, frozen_sections},
};
use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Bonded, Grains, PairValues, PolyhedralShape, SavedGrains, Vec3, World};
use seixo_files::layer::Unwritten;
use seixo_files::{checkpoint, vtk};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Files of a run folder.
const SCENE: &str = "scene.toml";
const CHECKPOINTS: &str = "checkpoints";
const FIELDS: &str = "fields";

/// Grains are thinned by another stream of random numbers than fills draw from.
const THINNED: u64 = 0x7468_696e_6e65_6421;

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// What a scene takes from another run, with materials and groups of this scene.
#[derive(Default)]
pub(crate) struct Taken {
    saved: SavedGrains,
    /// Shapes of polyhedral grains of the other run.
    shapes: Vec<PolyhedralShape>,
    /// Names of the kinds of bonds in the other run.
    bonds: Vec<String>,
    /// Whether it is of a checkpoint, which has more than the grains.
    goes_on: bool,
}

impl GrainsSection {
    /// Whether the section has grains of its own, from the start or later.
    pub(crate) fn has_source(&self) -> bool {
        self.file.is_some() || self.fill.is_some() || self.at.is_some() || self.blocks.is_some() || self.inlet.is_some()
    }
}

/// What the scene takes from another run; `None` if it does not start from one. The path of the run is made absolute.
pub(crate) fn taken(file: &mut SceneFile, materials: &Materials, findings: &mut CheckState) -> Option<Taken> {
    let mut section = file.start.take()?;
    let taken = Taken::read(&mut section, file, materials, findings);
    file.start = Some(section);
    Some(taken.unwrap_or_else(|(key, complaint)| {
        let path = if key.is_empty() {
            "start".to_owned()
        } else {
            format!("start.{key}")
        };
        findings.add(&path, complaint.within("start"));
        Taken::default()
    }))
}

/// Refuses keys of a section whose grains come from another run.
pub(crate) fn check_section(section: &GrainsSection) -> Result<(), At> {
    let given = [
        ("shape", section.shape.is_some()),
        ("radius", section.radius.is_some()),
        ("mass", section.mass.is_some()),
        ("orientation", section.orientation.is_some()),
        ("rows", section.rows.is_some()),
        ("scale", section.scale.is_some()),
        ("velocity", si(&section.velocity) != [0.0; 3]),
        ("angular_velocity", si(&section.angular_velocity) != [0.0; 3]),
    ];
    if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let complaint = UnlocatedDiagnostic::new(format!("`{key}` of grains that come from another run is that of the run"));
        return Err((key, complaint.remedy(format!("remove `{key}`"))));
    }
    let coupled = [
        ("joint", section.joint.is_some()),
        ("displaces_fluid", section.displaces_fluid),
        ("melts_into", section.melts_into.is_some()),
        ("carried_by_fluid", section.carried_by_fluid),
    ];
    coupled.into_iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(key, _)| {
        let complaint = UnlocatedDiagnostic::new(format!("`{key}` is not for grains that come from another run"));
        Err((key, complaint.remedy("remove it, or give the section `file`, `fill` or `at`")))
    })
}

impl Taken {
    fn read(section: &mut StartSection, file: &SceneFile, materials: &Materials, findings: &mut CheckState) -> Result<Taken, At> {
        let folder = findings.absolute(&section.from);
        section.from = folder.display().to_string();
        let (other, _) = scene_of(&folder).map_err(|complaint| ("from", complaint))?;
        let mut taken = match section.frame {
            Some(frame) => Taken {
                saved: of_frame(&folder, frame.0, &other, findings).map_err(|complaint| ("frame", complaint))?,
                shapes: refuse_shapes(&folder).map_err(|complaint| ("frame", complaint))?,
                ..Taken::default()
            },
            None => Taken {
                saved: of_checkpoint(&folder).map_err(|complaint| ("from", complaint))?,
                shapes: Vec::new(),
                bonds: other.bonds.keys().cloned().collect(),
                goes_on: true,
            },
        };
        if !other.fluid.is_empty() {
            findings
                .notices
                .push("start: fluids of the other run are left out; those of this scene begin at rest".to_owned());
        }
        taken.cut(section, file.run.seed.0, findings)?;
        // Only shapes that are taken matter.
        if let Some(&most) = taken.saved.grains.shape.iter().max().filter(|most| **most > 0) {
            taken.shapes = shapes_of_run(&folder).map_err(|complaint| ("from", complaint))?;
            if most as usize > taken.shapes.len() {
                let complaint = UnlocatedDiagnostic::new("the polyhedral grains of the other run have shapes that its scene does not have");
                return Err(("from", complaint.remedy("run the other scene again with this version")));
            }
            if let Some(flaw) = taken.saved.flaw_of_shapes(&taken.shapes) {
                let message = format!("the last checkpoint in {} does not fit: {flaw}", folder.join(CHECKPOINTS).display());
                let remedy = "run the other scene again with this version, or use the version that wrote it";
                return Err(("from", UnlocatedDiagnostic::new(message).remedy(remedy)));
            }
        }
        let rotation = section.rotate.as_ref().map(orientation).transpose();
        let rotation = rotation.map_err(|complaint| ("rotate.axis", complaint))?.unwrap_or_default();
        let shift = section.shift.as_ref().map_or([0.0; 3], si);
        taken.saved.place([rotation.w, rotation.x, rotation.y, rotation.z], shift);
        taken.name_groups(section, file, &other)?;
        taken.name_materials(file, &other, materials)?;
        Ok(taken)
    }

    /// Keeps the grains and rigid bodies of a region, and of them every n-th or a share.
    fn cut(&mut self, section: &mut StartSection, seed: u64, findings: &mut CheckState) -> Result<(), At> {
        if section.every.is_some() && section.share.is_some() {
            let complaint = UnlocatedDiagnostic::new("`every` and `share` both say how many grains are taken");
            return Err(("share", complaint.remedy("keep one of them")));
        }
        let inside = section.inside.as_mut().map(|region| Inside::new(region, findings)).transpose();
        let inside = inside.map_err(|complaint| ("inside", complaint))?;
        let (every, share) = (section.every.map(|every| every.0), section.share.map(|share| share.si));
        if inside.is_none() && every.is_none() && share.is_none() {
            return Ok(());
        }
        let grains = &self.saved.grains;
        let free = self
            .saved
            .free_grains()
            .into_iter()
            .map(|k| (vec![grains.id[k]], grains.position[k]));
        let of_bodies = grains.bodies.iter().map(|body| {
            let mut ids: Vec<u32> = body.carries.iter().map(|&(id, _)| id).collect();
            ids.sort_unstable();
            (ids, body.center)
        });
        let is_inside = |center: Vec3| inside.as_ref().is_none_or(|inside| inside.holds(DVec3::from(center)));
        let mut all: Vec<(Vec<u32>, Vec3)> = free.chain(of_bodies).filter(|&(_, center)| is_inside(center)).collect();
        all.sort_unstable_by_key(|(ids, _)| ids.first().copied());
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        random.set_stream(THINNED);
        let mut kept: HashSet<u32> = HashSet::new();
        for ((ids, _), number) in all.into_iter().zip(0u64..) {
            let is_kept = match (every, share) {
                (Some(every), _) => number % every == 0,
                (None, Some(share)) => random.random::<f64>() < share,
                (None, None) => true,
            };
            if is_kept {
                kept.extend(ids);
            }
        }
        if kept.is_empty() {
            let complaint = UnlocatedDiagnostic::new("no grain of the other run is left");
            let key = if inside.is_some() { "inside" } else { "share" };
            return Err((
                key,
                complaint.remedy("take more of them: a region that is in its coordinates, or a larger share"),
            ));
        }
        self.saved.retain(|id| kept.contains(&id));
        Ok(())
    }

    /// Replaces the groups of the other run by those of this scene.
    fn name_groups(&mut self, section: &StartSection, file: &SceneFile, other: &SceneFile) -> Result<(), At> {
        if let Some(stray) = section.groups.keys().find(|there| !other.grains.contains_key(*there)) {
            let known: Vec<&str> = other.grains.keys().map(String::as_str).collect();
            let complaint = UnlocatedDiagnostic::new(format!("the other run has no group `{stray}`"));
            return Err(("groups", complaint.remedy(format!("its groups are: {}", known.join(", ")))));
        }
        let frozen = frozen_sections(file);
        let here = |there: &String| section.groups.get(there).unwrap_or(there).clone();
        let mut places: Vec<Option<u32>> = vec![None; other.grains.len()];
        let used: BTreeSet<u32> = self.saved.grains.group.iter().copied().collect();
        for (group, (there, of_other)) in other.grains.iter().enumerate() {
            if !used.contains(&(group as u32)) {
                continue;
            }
            let name = here(there);
            let Some((place, own)) = file
                .grains
                .iter()
                .zip(0u32..)
                .find(|((known, _), _)| **known == name)
                .map(|((_, own), k)| (k, own))
            else {
                let complaint = UnlocatedDiagnostic::new(format!(
                    "the other run has grains of the group `{name}`, and this scene has no section for them"
                ));
                return Err((
                    "from",
                    complaint.remedy(format!(
                        "add [grains.{name}] without `file`, `fill`, `at`, `blocks` and `inlet`, or write their name here as in groups = {{ {there} = \"NAME\" }}"
                    )),
                ));
            };
            if own.has_source() || frozen.contains(&name) {
                let complaint = UnlocatedDiagnostic::new(format!(
                    "grains of the other run belong to grains.{name}, which has grains of its own"
                ));
                return Err((
                    "from",
                    complaint.remedy(format!("give one of the two another name, as in groups = {{ {there} = \"NAME\" }}")),
                ));
            }
            if of_other.joint.is_some() {
                let complaint = UnlocatedDiagnostic::new(format!("the bodies of `{there}` are on joints in the other run"));
                return Err((
                    "from",
                    complaint.remedy("take grains of other groups, by `inside`, and make these by `at`"),
                ));
            }
            places[group] = Some(place);
        }
        let wanted: BTreeSet<String> = other.grains.keys().map(here).collect();
        let lacking = |(name, own): &(&String, &GrainsSection)| !own.has_source() && !frozen.contains(*name) && !wanted.contains(*name);
        if let Some((name, _)) = file.grains.iter().find(lacking) {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{name} has no grains: the other run has no group of this name"));
            return Err((
                "from",
                complaint.remedy("give it `file`, `fill`, `at` or `inlet`, or name a group of the run by groups = { … }"),
            ));
        }
        for group in &mut self.saved.grains.group {
            *group = places.get(*group as usize).copied().flatten().unwrap_or(0);
        }
        Ok(())
    }

    /// Replaces the materials of the other run by those of this scene: that of the section, or else the one of the same name.
    fn name_materials(&mut self, file: &SceneFile, other: &SceneFile, materials: &Materials) -> Result<(), At> {
        let names: Vec<&String> = other.material.keys().collect();
        let own: Vec<Option<&String>> = file.grains.values().map(|section| section.material.as_ref()).collect();
        let Grains { material, group, .. } = &mut self.saved.grains;
        for (material, &group) in material.iter_mut().zip(&*group) {
            let there = names.get(*material as usize).copied();
            let Some(name) = own.get(group as usize).copied().flatten().or(there) else {
                continue;
            };
            *material = materials.index(name).map_err(|complaint| ("from", complaint))?;
        }
        Ok(())
    }

    /// The grains that are taken.
    pub(crate) fn saved(&self) -> &SavedGrains {
        &self.saved
    }

    /// Gives the polyhedral grains that are taken their shapes and orientations in a table that has them as spheres. Their shapes come after those in
    /// use.
    pub(crate) fn give_shapes(&self, grains: &mut Grains, used: &mut Vec<PolyhedralShape>) {
        if self.shapes.is_empty() {
            return;
        }
        let indices: Vec<u32> = self.shapes.iter().map(|shape| index_of(used, shape)).collect();
        let (saved, count) = (&self.saved.grains, grains.len());
        let places: HashMap<u32, usize> = grains.id.iter().copied().zip(0..).collect();
        grains.shape.resize(count, 0);
        grains.orientation.resize(count, [1.0, 0.0, 0.0, 0.0]);
        for ((id, &shape), &orientation) in saved.id.iter().zip(&saved.shape).zip(&saved.orientation) {
            if let (Some(&place), Some(before)) = (places.get(id), shape.checked_sub(1)) {
                (grains.shape[place], grains.orientation[place]) = (indices[before as usize] + 1, orientation);
                // Bodies come without the masses of their grains.
                grains.masses.extend(saved.masses.get(id).map(|mass| (*id, *mass)));
            }
        }
    }

    /// Lets the bonds of the other run take the place of those that sections of the same name would make.
    pub(crate) fn bond(&mut self, world: &mut World, absent: &[StageItem], findings: &mut CheckState) {
        if !self.goes_on {
            return;
        }
        let all: Vec<([u32; 2], Option<usize>)> = self.saved.bonds(self.bonds.len()).collect();
        let mut complain = |message: String, remedy: &str| {
            let complaint = UnlocatedDiagnostic::new(message).remedy(remedy).within("start");
            findings.add("start.from", complaint);
        };
        if all.iter().any(|(_, kind)| kind.is_none()) {
            complain(
                "the other run has bonds with stiffnesses of their own, from the column `stiffness` of a file".to_owned(),
                "give the bonds of that run one stiffness for each section, or start from a frame, and make the bonds by `pairs`",
            );
            return;
        }
        let mut kinds = BTreeSet::new();
        for (index, bonds) in world.bonds.iter_mut().enumerate() {
            let Some(kind) = self.bonds.iter().position(|name| *name == bonds.name) else {
                continue;
            };
            if absent.contains(&StageItem::Bonds(index)) {
                continue;
            }
            let pairs: Vec<[u32; 2]> = all.iter().filter(|(_, of)| *of == Some(kind)).map(|&(ids, _)| ids).collect();
            if pairs.is_empty() {
                complain(
                    format!("no bond of bonds.{} holds in the other run", bonds.name),
                    "remove the section, or give it another name for bonds that are made at the start",
                );
                continue;
            }
            kinds.insert(kind);
            (bonds.between, bonds.of_pairs, bonds.one_piece) = (Bonded::Pairs(pairs), PairValues::default(), false);
        }
        for (kind, name) in self.bonds.iter().enumerate() {
            if !kinds.contains(&kind) && all.iter().any(|(_, of)| *of == Some(kind)) {
                findings.notices.push(format!(
                    "start: the bonds `{name}` of the other run are left out; a section [bonds.{name}] keeps them"
                ));
            }
        }
        self.saved.retain_bonds(|kind| kinds.contains(&kind));
    }

    /// What goes on in the world; `None` if only grains are taken.
    pub(crate) fn into_saved(self) -> Option<SavedGrains> {
        self.goes_on.then_some(self.saved)
    }
}

/// The scene of a run, and its document.
pub(crate) fn scene_of(folder: &Path) -> Result<(SceneFile, Node), UnlocatedDiagnostic> {
    let path = folder.join(SCENE);
    if !path.is_file() {
        let complaint = UnlocatedDiagnostic::new(format!("{} is not a run folder: it has no {SCENE}", folder.display()));
        return Err(complaint.remedy("give the folder that `seixo run` wrote, such as silo.out"));
    }
    let read = crate::text_of(&path).and_then(|text| crate::sections(&text, &path, &[]));
    let (scene, root) = read.map_err(|found| {
        let first = found.list().first().map_or_else(String::new, |first| first.message.clone());
        UnlocatedDiagnostic::new(format!("{}: {first}", path.display())).remedy("resume that run with this version first, or run it again")
    })?;
    if scene.world.domain.as_ref().is_some_and(|domain| domain.shear.is_some()) {
        let complaint =
            UnlocatedDiagnostic::new("the sides of the other run slide past each other, and a run begins with sides that face each other");
        return Err(complaint.remedy("start from a run whose world.domain has no `shear`"));
    }
    Ok((scene, root))
}

fn of_checkpoint(folder: &Path) -> Result<SavedGrains, UnlocatedDiagnostic> {
    let newest = checkpoint::newest_valid(&Unwritten, &folder.join(CHECKPOINTS));
    let (path, _, state) = newest.map_err(|error| UnlocatedDiagnostic::of_file(&error))?;
    SavedGrains::of(&state).map_err(|refusal| {
        UnlocatedDiagnostic::new(format!("{}: {refusal}", path.display()))
            .remedy("let `seixo resume` of this version write another checkpoint, or name a `frame`")
    })
}

/// Refuses polyhedral grains of a frame; returns that there are none.
fn refuse_shapes(folder: &Path) -> Result<Vec<PolyhedralShape>, UnlocatedDiagnostic> {
    let shapes = shapes_of_run(folder)?;
    if shapes.is_empty() {
        return Ok(shapes);
    }
    let complaint = UnlocatedDiagnostic::new("a start from a frame takes no polyhedral grains, and the other run has such grains");
    Err(complaint.remedy("leave `frame` out: the last checkpoint has them"))
}

/// The grains of a frame.
fn of_frame(folder: &Path, frame: u64, other: &SceneFile, findings: &mut CheckState) -> Result<SavedGrains, UnlocatedDiagnostic> {
    let path = folder.join(FIELDS).join(format!("grains_{frame:06}.vtp"));
    let points = vtk::read_grains(&path).map_err(|error| UnlocatedDiagnostic::of_file(&error))?;
    let field = |name: &str| points.scalars.iter().find(|(known, ..)| known == name).map(|(_, values, _)| values);
    let is_body = |section: &GrainsSection| section.shape.is_some() || section.joint.is_some() || section.displaces_fluid;
    if other.grains.values().any(is_body) {
        let complaint = UnlocatedDiagnostic::new("frames have no rigid bodies, and the other run has some");
        return Err(complaint.remedy("leave `frame` out: the last checkpoint has them"));
    }
    let indices = |name: &str, count: usize| match field(name) {
        Some(values) => Ok(values.iter().map(|&value| value as u32).collect()),
        None if count < 2 => Ok(vec![0; points.id.len()]),
        None => {
            let complaint = UnlocatedDiagnostic::new(format!("frames of the other run do not say of which {name} a grain is"));
            Err(complaint.remedy(format!(
                "run it with output.fields = [\"velocity\", \"{name}\"], or leave `frame` out for the last checkpoint"
            )))
        }
    };
    let (material, group): (Vec<u32>, Vec<u32>) = (indices("material", other.material.len())?, indices("group", other.grains.len())?);
    let vectors = |name: &str| field(name).map(|values| values.as_chunks::<3>().0.to_vec());
    let still = || vec![[0.0; 3]; points.id.len()];
    let mut grains = Grains {
        velocity: vectors("velocity").unwrap_or_else(still),
        angular_velocity: vectors("angular_velocity").unwrap_or_else(still),
        material,
        group,
        ..Grains::default()
    };
    for scalar in GrainScalar::ALL {
        grains.scalars[scalar] = field(scalar.name()).cloned().unwrap_or_default();
    }
    (grains.id, grains.position, grains.radius) = (points.id.clone(), points.position.clone(), points.radius.clone());
    findings.notices.push(format!(
        "start: frame {frame} has no histories of contacts and no bonds: friction and bonds begin where the grains are; without `frame`, the last checkpoint has them"
    ));
    Ok(SavedGrains::from(grains))
}
