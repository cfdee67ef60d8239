//! Materials by name, and how pairs of them act on each other.

use crate::{
    assemble::Findings,
    diagnostics::{Complaint, did_you_mean},
    quantity::Quantity,
    schema::{InteractionSection, SceneFile},
    words::Word,
};
use seixo_engine::world::Interaction;
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use std::collections::BTreeMap;

/// Materials by name.
pub(crate) struct Materials(Vec<String>);

impl Materials {
    pub fn new(file: &SceneFile) -> Self {
        Materials(file.material.keys().cloned().collect())
    }

    pub fn index(&self, name: &str) -> Result<u32, Complaint> {
        let found = self.0.iter().position(|known| known == name);
        found
            .map(|index| index as u32)
            .ok_or_else(|| Complaint::new(format!("no material is named `{name}`")).remedy(self.hint(name)))
    }

    pub fn known(&self) -> String {
        format!("materials are: {}", self.0.join(", "))
    }

    fn hint(&self, name: &str) -> String {
        if self.0.is_empty() {
            format!("add a table [material.{name}]")
        } else {
            did_you_mean(name, self.0.iter().map(String::as_str))
        }
    }

    /// The two materials that an interaction's name joins; names may hold hyphens themselves.
    fn pair(&self, name: &str) -> Result<(u32, u32), Complaint> {
        let splits = name.match_indices('-').map(|(at, _)| (&name[..at], &name[at + 1..]));
        let known: Vec<_> = splits
            .clone()
            .filter_map(|(a, b)| Some((self.index(a).ok()?, self.index(b).ok()?)))
            .collect();
        match known.as_slice() {
            [(a, b)] => Ok((*a.min(b), *a.max(b))),
            [] => {
                let pairs: Vec<String> = self
                    .0
                    .iter()
                    .flat_map(|a| self.0.iter().map(move |b| format!("{a}-{b}")))
                    .take(400)
                    .collect();
                let remedy = did_you_mean(name, pairs.iter().take(40).map(String::as_str));
                Err(
                    Complaint::new(format!("interaction.{name}: `{name}` does not join two known materials"))
                        .limit("MATERIAL-MATERIAL")
                        .remedy(remedy),
                )
            }
            _ => Err(
                Complaint::new(format!("interaction.{name}: `{name}` can be read as several pairs of materials"))
                    .remedy("rename a material so that no hyphen is in doubt"),
            ),
        }
    }
}

/// The table of pairs, symmetric; fills in the laws that the scene leaves out.
pub(crate) fn interactions(
    sections: &mut BTreeMap<String, InteractionSection>,
    materials: &Materials,
    findings: &mut Findings,
) -> Vec<Option<Interaction>> {
    let count = materials.0.len();
    let mut table = vec![None; count * count];
    for (name, section) in sections {
        let (a, b) = match materials.pair(name) {
            Ok((a, b)) => (a as usize, b as usize),
            Err(complaint) => {
                findings.add(&format!("interaction.{name}"), complaint);
                continue;
            }
        };
        if table[a * count + b].is_some() {
            let complaint = Complaint::new(format!("interaction.{name}: these two materials have an interaction already"));
            findings.add(
                &format!("interaction.{name}"),
                complaint.remedy("A-B and B-A are the same pair: remove one"),
            );
        }
        let interaction = interaction(name, section, findings);
        table[a * count + b].clone_from(&interaction);
        table[b * count + a] = interaction;
    }
    table
}

/// One pair's laws; fills in what the section leaves to them.
fn interaction(name: &str, section: &mut InteractionSection, findings: &mut Findings) -> Option<Interaction> {
    let normal = section.normal.get_or_insert(Word(NormalLaw::Hertz)).0;
    let usual = if normal == NormalLaw::Linear {
        TangentialLaw::Linear
    } else {
        TangentialLaw::Mindlin
    };
    let tangential = section.tangential.get_or_insert(Word(usual)).0;
    let mut complain = |key: &str, message: String, remedy: &str| {
        findings.add(
            &format!("interaction.{name}{key}"),
            Complaint::new(format!("interaction.{name}: {message}")).remedy(remedy),
        );
    };
    match (normal, section.stiffness) {
        (NormalLaw::Linear, None) => complain(
            "",
            "normal = \"linear\" needs `stiffness`".to_owned(),
            "add stiffness = \"1e5 N/m\", or use normal = \"hertz\"",
        ),
        (NormalLaw::Hertz, Some(_)) => complain(
            ".stiffness",
            "`stiffness` is for normal = \"linear\"".to_owned(),
            "remove it: hertz takes its stiffness from the materials",
        ),
        _ => {}
    }
    match (tangential, section.tangential_stiffness, section.stiffness) {
        (TangentialLaw::Linear, None, Some(stiffness)) => section.tangential_stiffness = Some(Quantity::new(2.0 / 7.0 * stiffness.si)),
        (TangentialLaw::Linear, None, None) if normal == NormalLaw::Hertz => {
            complain(
                "",
                "tangential = \"linear\" with normal = \"hertz\" needs `tangential_stiffness`".to_owned(),
                "add tangential_stiffness = \"1e5 N/m\", or use \"mindlin\"",
            );
        }
        (TangentialLaw::None | TangentialLaw::Mindlin, Some(_), _) => {
            complain(
                ".tangential_stiffness",
                "`tangential_stiffness` is for tangential = \"linear\"".to_owned(),
                "remove it",
            );
        }
        _ => {}
    }
    if section.friction.is_none() && tangential != TangentialLaw::None {
        complain(
            "",
            format!("tangential = \"{}\" needs `friction`", tangential.keyword()),
            "add friction = 0.3, or write tangential = \"none\"",
        );
    }
    Some(Interaction {
        normal,
        tangential,
        restitution: section.restitution.si,
        friction: section.friction.get_or_insert_default().si,
        stiffness: section.stiffness.map(|stiffness| stiffness.si),
        tangential_stiffness: section.tangential_stiffness.map(|stiffness| stiffness.si),
    })
}
