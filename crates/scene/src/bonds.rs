//! Bonds: from the keys of a scene to what glues grains together.

use crate::{
    assemble::Findings,
    condition::unknown,
    diagnostics::Complaint,
    grains::fnv1a,
    quantity::{NotNegative, Quantity},
    schema::{BondsSection, GrainsSection, SceneFile},
    stage::Thing,
};
use seixo_engine::world::{BondSize, Bonded, Bonds, World};
use seixo_files::pairs_in;
use seixo_files::vtk::Field;
use std::collections::{BTreeMap, HashSet};

/// Tolerance where the scene gives none: neighbors of a packing that was settled or grown do not all touch.
const USUAL_TOLERANCE: f64 = 0.05;

/// A complaint with the key it is about.
type At = (&'static str, Complaint);

/// What bonds can join.
struct Cast<'a> {
    grains: &'a BTreeMap<String, GrainsSection>,
    world: &'a World,
    /// What is not there at the start.
    absent: &'a [Thing],
    /// Whether all grains were read: of those that were refused, no id is known.
    is_whole: bool,
    /// Whether the bonds are made by a stage, when all grains may be there.
    is_later: bool,
}

/// The bonds of a scene, in alphabetical order; `absent` is what is not there at the start.
pub(crate) fn bonds(file: &mut SceneFile, world: &World, absent: &[Thing], findings: &mut Findings) -> Vec<Bonds> {
    let seed = file.run.seed.0;
    let is_whole = findings.is_sound();
    let mut bonds = Vec::new();
    for (index, (name, section)) in file.bonds.iter_mut().enumerate() {
        let path = format!("bonds.{name}");
        let cast = Cast {
            grains: &file.grains,
            world,
            absent,
            is_whole,
            is_later: absent.contains(&Thing::Bonds(index)),
        };
        match made(name, section, &cast, seed, findings) {
            Ok(made) => {
                findings.notices.extend(idle(&made).map(|idle| format!("{path}: {idle}")));
                bonds.push(made);
            }
            Err((key, complaint)) => findings.add(&format!("{path}.{key}"), complaint.within(&path)),
        }
    }
    let wants_fragments = file.output.fields.iter().flatten().any(|field| field.0 == Field::Fragment);
    if wants_fragments && file.bonds.is_empty() {
        let complaint = Complaint::new("output.fields: \"fragment\" is for scenes with bonds");
        findings.add("output.fields", complaint.remedy("remove it, or add a section [bonds.NAME]"));
    }
    bonds
}

/// The bonds of a section. Fills in what the section leaves to it.
fn made(name: &str, section: &mut BondsSection, cast: &Cast, seed: u64, findings: &Findings) -> Result<Bonds, At> {
    Ok(Bonds {
        name: name.to_owned(),
        between: cast.between(section, findings)?,
        law: section.law.0,
        section: section.section.0,
        size: size(section)?,
        youngs_modulus: section.youngs_modulus.si,
        poisson_ratio: section.poisson_ratio.si,
        damping_ratio: section.damping_ratio.si,
        tensile_strength: strength(section.tensile_strength, "tensile_strength")?,
        cohesion: strength(section.cohesion, "cohesion")?,
        friction_angle: section.friction_angle.si,
        fracture_energy: strength(section.fracture_energy, "fracture_energy")?,
        weibull_modulus: section.weibull_modulus.map(|modulus| modulus.si),
        // Numbers of its own per section: what else the scene holds does not change these strengths.
        seed: seed ^ fnv1a(name),
        one_piece: section.one_piece,
    })
}

impl Cast<'_> {
    /// Which grains the section joins.
    fn between(&self, section: &mut BondsSection, findings: &Findings) -> Result<Bonded, At> {
        match (&section.among, &mut section.pairs) {
            (Some(names), None) => Ok(Bonded::Near {
                groups: self.groups(names).map_err(|complaint| ("among", complaint))?,
                tolerance: section.tolerance.get_or_insert(Quantity::new(USUAL_TOLERANCE)).si,
            }),
            (None, Some(_)) if section.tolerance.is_some() => {
                let complaint = Complaint::new("`tolerance` finds neighbors, and `pairs` names them");
                Err(("tolerance", complaint.remedy("remove it, or write `among` in place of `pairs`")))
            }
            (None, Some(file)) => self
                .pairs(file, findings)
                .map(Bonded::Pairs)
                .map_err(|complaint| ("pairs", complaint)),
            (Some(_), Some(_)) => {
                let complaint = Complaint::new("`among` finds the pairs to bond, and `pairs` names them");
                Err(("pairs", complaint.remedy("keep one, and write a section of bonds for the other")))
            }
            (None, None) => {
                let complaint = Complaint::new("bonds need `among` or `pairs`");
                Err((
                    "",
                    complaint.remedy("add among = [\"NAME\"], sections of grains whose neighbors are bonded, or pairs = \"FILE\""),
                ))
            }
        }
    }

    /// Indices of the groups of these names.
    fn groups(&self, names: &[String]) -> Result<Vec<u32>, Complaint> {
        let mut groups = Vec::new();
        for name in names {
            let found = self.grains.iter().zip(0..).find(|((known, _), _)| *known == name);
            let Some(((_, section), group)) = found else {
                return Err(unknown("group of grains", name, self.grains.keys()));
            };
            if !self.is_later && (section.inlet.is_some() || self.absent.contains(&Thing::Group(group))) {
                return Err(
                    Complaint::new(format!("the grains of `{name}` come later, and bonds are made at the start"))
                        .limit("sections whose grains are there from the start")
                        .remedy("take it out of `among`, or let a stage `add` these bonds when its grains are there"),
                );
            }
            if groups.contains(&group) {
                return Err(Complaint::new(format!("`{name}` is there twice"))
                    .limit("each section once")
                    .remedy("remove one of them"));
            }
            groups.push(group);
        }
        if groups.is_empty() {
            return Err(Complaint::new("bonds among no grains")
                .limit("one section of grains, or several")
                .remedy("write among = [\"NAME\"]"));
        }
        Ok(groups)
    }

    /// The pairs of a file; its path is made absolute.
    fn pairs(&self, file: &mut String, findings: &Findings) -> Result<Vec<[u32; 2]>, Complaint> {
        let whole = findings.absolute(file);
        *file = whole.display().to_string();
        let pairs = pairs_in::read(&whole).map_err(|error| Complaint::of_file(&error))?;
        let grains = &self.world.grains;
        let is_there = |k: &usize| self.is_later || !self.absent.contains(&Thing::Group(grains.group[*k]));
        let ids: HashSet<u32> = (0..grains.len()).filter(is_there).map(|k| grains.id[k]).collect();
        // Grains of inlets get their ids as they come.
        let is_known = self.is_whole && !(self.is_later && self.grains.values().any(|section| section.inlet.is_some()));
        let missing = |id: &u32| is_known && !ids.contains(id);
        let unmatched = pairs.iter().find_map(|pair| Some((pair.line, pair.ids.into_iter().find(missing)?)));
        if let Some((line, id)) = unmatched {
            let highest = ids.iter().max().copied().unwrap_or(0);
            let when = if self.is_later { "" } else { " at the start" };
            let from = if self.is_later {
                "of the scene"
            } else {
                "that are there from the start"
            };
            return Err(Complaint::new(format!("{}:{line}: no grain has the id {id}{when}", whole.display()))
                .limit(format!("ids of grains {from}, up to {highest}"))
                .remedy("use the ids of the file's column `id`; without one, grains are counted from 0 on, section by section in alphabetical order"));
        }
        Ok(pairs.into_iter().map(|pair| pair.ids).collect())
    }
}

/// How thick the bonds are.
fn size(section: &mut BondsSection) -> Result<BondSize, At> {
    match (section.size, section.share) {
        (Some(_), Some(_)) => {
            let complaint = Complaint::new("`size` and `share` both say how thick the bonds are");
            Err((
                "share",
                complaint.remedy("keep `size`, a length, or `share`, a share of the smaller radius"),
            ))
        }
        (Some(length), None) => Ok(BondSize::Length(length.si)),
        (None, _) => Ok(BondSize::Share(section.share.get_or_insert(Quantity::new(1.0)).si)),
    }
}

/// A strength; infinite if the scene gives none.
fn strength<D>(given: Option<Quantity<D, NotNegative>>, key: &'static str) -> Result<f64, At> {
    match given {
        None => Ok(f64::INFINITY),
        Some(strength) if strength.si > 0.0 => Ok(strength.si),
        Some(_) => {
            let complaint = Complaint::new(format!("a {key} of zero holds nothing: every bond would break at the first load"));
            Err((
                key,
                complaint.limit("> 0").remedy(format!(
                    "leave `{key}` out for bonds that never break this way, or leave the bonds out"
                )),
            ))
        }
    }
}

/// Keys that are given and have no effect.
fn idle(bonds: &Bonds) -> impl Iterator<Item = &'static str> + use<> {
    let strengths = [bonds.tensile_strength, bonds.cohesion, bonds.fracture_energy];
    let scatter = bonds.weibull_modulus.is_some() && strengths.iter().all(|strength| strength.is_infinite());
    let friction = bonds.friction_angle > 0.0 && bonds.cohesion.is_infinite();
    let scatter = scatter.then_some("`weibull_modulus` has no effect, as no strength is given that could scatter");
    let friction = friction.then_some("`friction_angle` has no effect without `cohesion`, to which it adds");
    scatter.into_iter().chain(friction)
}
