//! Bonds: from the keys of a scene to a network between grains.

use crate::{
    assemble::CheckState,
    condition::unknown,
    diagnostics::UnlocatedDiagnostic,
    grains::fnv1a,
    quantity::{NotNegative, Quantity},
    schema::{BondsSection, GrainsSection, SceneFile},
    stage::StageItem,
};
use seixo_engine::world::{BondSize, Bonded, Bonds, PairValues, World};
use seixo_files::pairs_in;
use seixo_files::vtk::Field;
use seixo_laws::bond::BondLaw;
use std::collections::{BTreeMap, HashSet};

/// Default tolerance: neighbors in a packing that settled or grew do not all have contacts.
const DEFAULT_TOLERANCE: f64 = 0.05;

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// Grains that bonds can connect.
struct Cast<'a> {
    grains: &'a BTreeMap<String, GrainsSection>,
    world: &'a World,
    /// Items that are not present at the start.
    absent: &'a [StageItem],
    /// Whether all grains were read: the ids of refused grains are unknown.
    is_whole: bool,
    /// Whether a stage makes the bonds, when all grains may be present.
    is_later: bool,
}

/// The bonds of a scene, in alphabetical order; `absent` lists items that are not present at the start.
pub(crate) fn bonds(file: &mut SceneFile, world: &World, absent: &[StageItem], findings: &mut CheckState) -> Vec<Bonds> {
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
            is_later: absent.contains(&StageItem::Bonds(index)),
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
        let complaint = UnlocatedDiagnostic::new("output.fields: \"fragment\" is for scenes with bonds");
        findings.add("output.fields", complaint.remedy("remove it, or add a section [bonds.NAME]"));
    }
    bonds
}

/// The bonds of a section. Fills in keys that the section omits.
fn made(name: &str, section: &mut BondsSection, cast: &Cast, seed: u64, findings: &mut CheckState) -> Result<Bonds, At> {
    let (damping_ratio, damping) = damping(section)?;
    let (between, of_pairs) = cast.between(section, findings)?;
    Ok(Bonds {
        name: name.to_owned(),
        between,
        law: section.law.0,
        section: section.section.0,
        size: size(section)?,
        youngs_modulus: modulus(section, &of_pairs)?,
        of_pairs,
        stiffness: section.stiffness.map(|stiffness| stiffness.si),
        poisson_ratio: section.poisson_ratio.si,
        damping_ratio,
        damping,
        tensile_strength: strength(section.tensile_strength, "tensile_strength")?,
        cohesion: strength(section.cohesion, "cohesion")?,
        friction_angle: section.friction_angle.si,
        fracture_energy: strength(section.fracture_energy, "fracture_energy")?,
        weibull_modulus: section.weibull_modulus.map(|modulus| modulus.si),
        // Each section has its own random numbers: its strengths do not depend on the rest of the scene.
        seed: seed ^ fnv1a(name),
        one_piece: section.one_piece,
    })
}

impl Cast<'_> {
    /// The grains that the section connects, and values of single pairs.
    fn between(&self, section: &mut BondsSection, findings: &mut CheckState) -> Result<(Bonded, PairValues), At> {
        match (&section.among, &mut section.pairs) {
            (Some(names), None) => {
                let groups = self.groups(names).map_err(|complaint| ("among", complaint))?;
                let tolerance = section.tolerance.get_or_insert(Quantity::new(DEFAULT_TOLERANCE)).si;
                Ok((Bonded::Near { groups, tolerance }, PairValues::default()))
            }
            (None, Some(_)) if section.tolerance.is_some() => {
                let complaint = UnlocatedDiagnostic::new("`tolerance` finds neighbors, and `pairs` names them");
                Err(("tolerance", complaint.remedy("remove it, or write `among` in place of `pairs`")))
            }
            (None, Some(file)) => self.pairs(file, findings).map_err(|complaint| ("pairs", complaint)),
            (Some(_), Some(_)) => {
                let complaint = UnlocatedDiagnostic::new("`among` finds the pairs to bond, and `pairs` names them");
                Err(("pairs", complaint.remedy("keep one, and write a section of bonds for the other")))
            }
            (None, None) => {
                let complaint = UnlocatedDiagnostic::new("bonds need `among` or `pairs`");
                Err((
                    "",
                    complaint.remedy("add among = [\"NAME\"], sections of grains whose neighbors are bonded, or pairs = \"FILE\""),
                ))
            }
        }
    }

    /// Indices of the groups of these names.
    fn groups(&self, names: &[String]) -> Result<Vec<u32>, UnlocatedDiagnostic> {
        let mut groups = Vec::new();
        for name in names {
            let found = self.grains.iter().zip(0..).find(|((known, _), _)| *known == name);
            let Some(((_, section), group)) = found else {
                return Err(unknown("group of grains", name, self.grains.keys()));
            };
            if !self.is_later && (section.inlet.is_some() || self.absent.contains(&StageItem::Group(group))) {
                return Err(
                    UnlocatedDiagnostic::new(format!("the grains of `{name}` come later, and bonds are made at the start"))
                        .limit("sections whose grains are there from the start")
                        .remedy("take it out of `among`, or let a stage `add` these bonds when its grains are there"),
                );
            }
            if groups.contains(&group) {
                return Err(UnlocatedDiagnostic::new(format!("`{name}` is there twice"))
                    .limit("each section once")
                    .remedy("remove one of them"));
            }
            groups.push(group);
        }
        if groups.is_empty() {
            return Err(UnlocatedDiagnostic::new("bonds among no grains")
                .limit("one section of grains, or several")
                .remedy("write among = [\"NAME\"]"));
        }
        Ok(groups)
    }

    /// The pairs of a file, and their values; its path is made absolute.
    fn pairs(&self, file: &mut String, findings: &mut CheckState) -> Result<(Bonded, PairValues), UnlocatedDiagnostic> {
        let whole = findings.absolute(file);
        *file = whole.display().to_string();
        let pairs = pairs_in::read(&whole, &mut findings.notices).map_err(|error| UnlocatedDiagnostic::of_file(&error))?;
        let grains = &self.world.grains;
        let is_there = |k: &usize| self.is_later || !self.absent.contains(&StageItem::Group(grains.group[*k]));
        let ids: HashSet<u32> = (0..grains.len()).filter(is_there).map(|k| grains.id[k]).collect();
        // Grains of inlets get their ids when they enter.
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
            return Err(UnlocatedDiagnostic::new(format!("{}:{line}: no grain has the id {id}{when}", whole.display()))
                .limit(format!("ids of grains {from}, up to {highest}"))
                .remedy("use the ids of the file's column `id`; without one, grains are counted from 0 on, section by section in alphabetical order"));
        }
        let values = PairValues {
            stiffness: pairs.iter().filter_map(|pair| pair.stiffness).collect(),
            strength: pairs.iter().filter_map(|pair| pair.strength).collect(),
        };
        Ok((Bonded::Pairs(pairs.into_iter().map(|pair| pair.ids).collect()), values))
    }
}

/// The size of the cross-section.
fn size(section: &mut BondsSection) -> Result<BondSize, At> {
    match (section.size, section.share) {
        (Some(_), Some(_)) => {
            let complaint = UnlocatedDiagnostic::new("`size` and `share` both say how thick the bonds are");
            Err((
                "share",
                complaint.remedy("keep `size`, a length, or `share`, a share of the smaller radius"),
            ))
        }
        (Some(length), None) => Ok(BondSize::Length(length.si)),
        (None, _) => Ok(BondSize::Share(section.share.get_or_insert(Quantity::new(1.0)).si)),
    }
}

/// Young's modulus; zero if a stiffness stands in its place, or one for each pair.
fn modulus(section: &BondsSection, of_pairs: &PairValues) -> Result<f64, At> {
    if !of_pairs.stiffness.is_empty() {
        if section.law.0 != BondLaw::Point {
            let complaint = UnlocatedDiagnostic::new("the column `stiffness` of the pairs is for law = \"point\"");
            return Err((
                "pairs",
                complaint.remedy("remove the column and write youngs_modulus, or write law = \"point\""),
            ));
        }
        let keys = [
            ("youngs_modulus", section.youngs_modulus.is_some()),
            ("stiffness", section.stiffness.is_some()),
        ];
        return match keys.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                let complaint = UnlocatedDiagnostic::new(format!(
                    "`{key}` and the column `stiffness` of the pairs both say how stiff the bonds are"
                ));
                Err((key, complaint.remedy("keep one of them")))
            }
            None => Ok(0.0),
        };
    }
    match (section.youngs_modulus, section.stiffness) {
        (_, Some(_)) if section.law.0 != BondLaw::Point => {
            let complaint = UnlocatedDiagnostic::new("`stiffness` is for law = \"point\"");
            Err(("stiffness", complaint.remedy("write youngs_modulus in its place")))
        }
        (Some(_), Some(_)) => {
            let complaint = UnlocatedDiagnostic::new("`youngs_modulus` and `stiffness` both say how stiff the bonds are");
            Err(("stiffness", complaint.remedy("keep one of them")))
        }
        (Some(modulus), None) => Ok(modulus.si),
        (None, Some(_)) => Ok(0.0),
        (None, None) => {
            let complaint = UnlocatedDiagnostic::new("bonds need `youngs_modulus`");
            Err((
                "",
                complaint.remedy("add youngs_modulus = \"1 GPa\", or with law = \"point\" a stiffness = \"1e5 N/m\""),
            ))
        }
    }
}

/// Damping ratio \[-\], and the coefficient of the dashpot \[N s/m\] if it stands in its place.
fn damping(section: &mut BondsSection) -> Result<(f64, Option<f64>), At> {
    match (section.damping, section.damping_ratio) {
        (Some(_), _) if section.law.0 != BondLaw::Point => {
            let complaint = UnlocatedDiagnostic::new("`damping` is for law = \"point\"");
            Err(("damping", complaint.remedy("write damping_ratio in its place")))
        }
        (Some(_), Some(_)) => {
            let complaint = UnlocatedDiagnostic::new("`damping_ratio` and `damping` both say how the bonds are damped");
            Err(("damping", complaint.remedy("keep one of them")))
        }
        (Some(damping), None) => Ok((0.0, Some(damping.si))),
        (None, _) => Ok((section.damping_ratio.get_or_insert(Quantity::new(0.0)).si, None)),
    }
}

/// A strength; infinite if the scene gives none.
fn strength<D>(given: Option<Quantity<D, NotNegative>>, key: &'static str) -> Result<f64, At> {
    match given {
        None => Ok(f64::INFINITY),
        Some(strength) if strength.si > 0.0 => Ok(strength.si),
        Some(_) => {
            let complaint = UnlocatedDiagnostic::new(format!("a {key} of zero holds nothing: every bond would break at the first load"));
            Err((
                key,
                complaint.limit("> 0").remedy(format!(
                    "leave `{key}` out for bonds that never break this way, or leave the bonds out"
                )),
            ))
        }
    }
}

/// Keys that are given but have no effect.
fn idle(bonds: &Bonds) -> impl Iterator<Item = &'static str> + use<> {
    let strengths = [bonds.tensile_strength, bonds.cohesion, bonds.fracture_energy];
    let scatter = bonds.weibull_modulus.is_some() && strengths.iter().all(|strength| strength.is_infinite());
    let friction = bonds.friction_angle > 0.0 && bonds.cohesion.is_infinite();
    let factors = !bonds.of_pairs.strength.is_empty() && strengths.iter().all(|strength| strength.is_infinite());
    let scatter = scatter.then_some("`weibull_modulus` has no effect, as no strength is given that could scatter");
    let friction = friction.then_some("`friction_angle` has no effect without `cohesion`, to which it adds");
    let factors = factors.then_some("the column `strength` of the pairs has no effect, as no strength is given that it could multiply");
    scatter.into_iter().chain(friction).chain(factors)
}
