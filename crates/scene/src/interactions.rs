//! Materials by name, and the contact parameters of their pairs.

use crate::{
    assemble::CheckState,
    diagnostics::{UnlocatedDiagnostic, did_you_mean, listed},
    quantity::Quantity,
    schema::{CohesionSection, InteractionSection, SceneFile},
    vocabulary::Word,
};
use seixo_engine::world::Interaction;
use seixo_laws::contact::{Cohesion, CohesionLaw, NormalLaw, ResistanceLaw, TangentialLaw, TwistingLaw};
use std::collections::BTreeMap;

/// Materials by name.
pub(crate) struct Materials(Vec<String>);

impl Materials {
    pub fn new(file: &SceneFile) -> Self {
        Materials(file.material.keys().cloned().collect())
    }

    pub fn index(&self, name: &str) -> Result<u32, UnlocatedDiagnostic> {
        self.find(name)
            .ok_or_else(|| UnlocatedDiagnostic::new(format!("no material is named `{name}`")).remedy(self.hint(name)))
    }

    /// Names are in alphabetical order.
    fn find(&self, name: &str) -> Option<u32> {
        let found = self.0.binary_search_by(|known| known.as_str().cmp(name));
        found.ok().map(|index| index as u32)
    }

    pub fn known(&self) -> String {
        format!("materials are: {}", listed(self.0.iter().map(String::as_str)))
    }

    fn hint(&self, name: &str) -> String {
        if self.0.is_empty() {
            format!("add a table [material.{name}]")
        } else {
            did_you_mean(name, self.0.iter().map(String::as_str))
        }
    }

    /// The two materials of an interaction's name; names may contain hyphens themselves.
    fn pair(&self, name: &str) -> Result<(u32, u32), UnlocatedDiagnostic> {
        let splits = name.match_indices('-').map(|(at, _)| (&name[..at], &name[at + 1..]));
        let known: Vec<_> = splits.clone().filter_map(|(a, b)| Some((self.find(a)?, self.find(b)?))).collect();
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
                    UnlocatedDiagnostic::new(format!("interaction.{name}: `{name}` does not join two known materials"))
                        .limit("MATERIAL-MATERIAL")
                        .remedy(remedy),
                )
            }
            _ => Err(
                UnlocatedDiagnostic::new(format!("interaction.{name}: `{name}` can be read as several pairs of materials"))
                    .remedy("rename a material so that no hyphen is in doubt"),
            ),
        }
    }
}

/// The symmetric table of pairs; fills in the laws that the scene omits.
pub(crate) fn interactions(
    sections: &mut BTreeMap<String, InteractionSection>,
    materials: &Materials,
    findings: &mut CheckState,
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
            let complaint = UnlocatedDiagnostic::new(format!("interaction.{name}: these two materials have an interaction already"));
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

/// The laws of one pair; fills in those that the section omits.
fn interaction(name: &str, section: &mut InteractionSection, findings: &mut CheckState) -> Option<Interaction> {
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
            UnlocatedDiagnostic::new(format!("interaction.{name}: {message}")).remedy(remedy),
        );
    };
    match (normal, section.stiffness) {
        (NormalLaw::Linear | NormalLaw::Hysteretic, None) => complain(
            "",
            format!("normal = \"{}\" needs `stiffness`", normal.keyword()),
            "add stiffness = \"1e5 N/m\", or use normal = \"hertz\"",
        ),
        (NormalLaw::Hertz | NormalLaw::Viscoelastic | NormalLaw::Potential, Some(_)) => complain(
            ".stiffness",
            "`stiffness` is for normal = \"linear\" and \"hysteretic\"".to_owned(),
            "remove it: hertz takes its stiffness from the materials",
        ),
        _ => {}
    }
    match (normal, section.dissipative_time) {
        (NormalLaw::Viscoelastic, None) => complain(
            "",
            "normal = \"viscoelastic\" needs `dissipative_time`".to_owned(),
            "add dissipative_time = \"1e-6 s\", or use normal = \"hertz\" with a restitution",
        ),
        (NormalLaw::Viscoelastic, Some(_)) | (_, None) => {}
        _ => complain(
            ".dissipative_time",
            "`dissipative_time` is for normal = \"viscoelastic\"".to_owned(),
            "remove it",
        ),
    }
    match (normal, section.potential_energy) {
        (NormalLaw::Potential, None) => complain(
            "",
            "normal = \"potential\" needs `potential_energy`".to_owned(),
            "add potential_energy = \"1e-6 J\"",
        ),
        (NormalLaw::Potential, Some(_)) | (_, None) => {}
        _ => complain(
            ".potential_energy",
            "`potential_energy` is for normal = \"potential\"".to_owned(),
            "remove it",
        ),
    }
    match (normal, section.restitution) {
        (NormalLaw::Viscoelastic | NormalLaw::Potential, None) => section.restitution = Some(Quantity::new(1.0)),
        (law, None) if law.is_damped_per_mass() && (section.damping.is_some() || section.tangential_damping.is_some()) => {}
        (law, None) if law.is_damped_per_mass() => complain(
            "",
            "`restitution` is missing".to_owned(),
            "add restitution = 0.5, or damping = \"500 1/s\", a rate per mass",
        ),
        (_, None) => complain("", "`restitution` is missing".to_owned(), "add restitution = 0.5"),
        (law, Some(_)) if law.is_damped_per_mass() && section.damping.is_some() => complain(
            ".damping",
            "`damping` and `restitution` both give the dashpot".to_owned(),
            "leave one of them out",
        ),
        (NormalLaw::Viscoelastic | NormalLaw::Potential, Some(restitution)) if restitution.si != 1.0 => complain(
            ".restitution",
            format!("normal = \"{}\" does not follow a restitution", normal.keyword()),
            "remove it",
        ),
        _ => {}
    }
    if section.damping.is_some() && !normal.is_damped_per_mass() {
        complain(
            ".damping",
            "`damping` is for normal = \"linear\" and \"hertz\"".to_owned(),
            "remove it, or write normal = \"hertz\"",
        );
    }
    if section.damping.is_some() && section.cohesion.as_ref().is_some_and(|cohesion| cohesion.law.0 == CohesionLaw::Jkr) {
        complain(
            ".damping",
            "`damping` has no part in \"jkr\"".to_owned(),
            "write a restitution in its place, or another law of cohesion",
        );
    }
    match (section.damping, section.tangential_damping) {
        (_, Some(_)) if tangential == TangentialLaw::None => complain(
            ".tangential_damping",
            "`tangential_damping` needs a tangential law".to_owned(),
            "remove it, or write tangential = \"mindlin\"",
        ),
        (None, Some(_)) => complain(
            ".tangential_damping",
            "`tangential_damping` goes with `damping`".to_owned(),
            "add damping = \"500 1/s\" in place of the restitution, or remove it",
        ),
        _ => {}
    }
    match (tangential, section.tangential_stiffness, section.stiffness) {
        (TangentialLaw::Linear, None, None) => {
            complain(
                "",
                format!(
                    "tangential = \"linear\" with normal = \"{}\" needs `tangential_stiffness`",
                    normal.keyword()
                ),
                "add tangential_stiffness = \"1e5 N/m\", or use \"mindlin\"",
            );
        }
        (law, Some(_), _) if law != TangentialLaw::Linear => {
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
    let cohesion = match section.cohesion.as_ref().map(adhesive) {
        None => None,
        Some(Ok(cohesion)) => cohesion,
        Some(Err((key, message, remedy))) => {
            complain(&format!(".cohesion{key}"), message, remedy);
            None
        }
    };
    if section.cohesion.as_ref().is_some_and(|cohesion| cohesion.law.0 == CohesionLaw::Jkr) && normal != NormalLaw::Hertz {
        complain(
            ".cohesion",
            "\"jkr\" is Hertz's law with a neck".to_owned(),
            "write normal = \"hertz\", or another law of cohesion",
        );
    }
    let rolling = section.rolling.as_mut().map(|rolling| ResistanceLaw {
        law: rolling.law.0,
        coefficient: rolling.coefficient.si,
        damping_ratio: rolling.damping_ratio.get_or_insert(Quantity::new(DEFAULT_DAMPING)).si,
    });
    let damping_of_rolling = rolling.map_or(DEFAULT_DAMPING, |rolling| rolling.damping_ratio);
    let twisting = section.twisting.as_mut().map(|twisting| {
        let is_marshall = twisting.law.0 == TwistingLaw::Marshall;
        if is_marshall && tangential == TangentialLaw::None {
            complain(
                ".twisting",
                "twisting after \"marshall\" follows from friction, and there is none".to_owned(),
                "write tangential = \"mindlin\", or twisting = { law = \"constant\", coefficient = 0.1 }",
            );
        }
        if twisting.coefficient.is_some() == is_marshall {
            complain(
                ".twisting",
                format!(
                    "`coefficient` is needed by every law against twisting but \"marshall\", not by it; the law is \"{}\"",
                    twisting.law.0.keyword()
                ),
                "write twisting = { law = \"marshall\" }, or { law = \"constant\", coefficient = 0.1 }",
            );
        }
        if twisting
            .damping_ratio
            .is_some_and(|ratio| rolling.is_some() && ratio.si != damping_of_rolling)
        {
            complain(
                ".twisting.damping_ratio",
                "springs against rolling and twisting share one damping ratio".to_owned(),
                "remove this one",
            );
        }
        ResistanceLaw {
            law: twisting.law.0,
            coefficient: twisting.coefficient.map_or(0.0, |coefficient| coefficient.si),
            damping_ratio: twisting.damping_ratio.map_or(damping_of_rolling, |ratio| ratio.si),
        }
    });
    let mut interaction = Interaction {
        normal,
        tangential,
        restitution: match (section.restitution, section.damping) {
            (Some(restitution), _) => restitution.si,
            (None, Some(_)) => 1.0,
            (None, None) => f64::NAN,
        },
        damping: section.damping.map(|damping| damping.si),
        tangential_damping: section.tangential_damping.map(|damping| damping.si),
        friction: section.friction.get_or_insert_default().si,
        stiffness: section.stiffness.map(|stiffness| stiffness.si),
        tangential_stiffness: section.tangential_stiffness.map(|stiffness| stiffness.si),
        dissipative_time: section.dissipative_time.map(|time| time.si),
        potential_energy: section.potential_energy.map(|energy| energy.si),
        cohesion,
        film_exchange: section.film_exchange.map(|rate| rate.si),
        rolling,
        twisting,
    };
    if section.damping.is_some() && tangential != TangentialLaw::None {
        interaction.tangential_damping = Some(interaction.damping_rates()[1]);
    }
    if tangential == TangentialLaw::Linear {
        interaction.tangential_stiffness = interaction.tangential_spring();
    }
    section.tangential_damping = interaction.tangential_damping.map(Quantity::new);
    section.tangential_stiffness = interaction.tangential_stiffness.map(Quantity::new);
    Some(interaction)
}

/// Default damping ratio of the springs of rolling resistance \[Ai 2011\].
const DEFAULT_DAMPING: f64 = 0.3;

/// Key, message and remedy of an error.
type Wrong = (&'static str, String, &'static str);

/// The law of a section of cohesion; none if its law is "none".
fn adhesive(section: &CohesionSection) -> Result<Option<Cohesion>, Wrong> {
    let CohesionSection {
        law,
        energy_density,
        surface_energy,
        surface_tension,
        contact_angle,
        volume,
    } = section;
    let law = law.0;
    let needed = |value: Option<f64>, key: &str, remedy: &'static str| {
        value.ok_or_else(|| ("", format!("cohesion = \"{}\" needs `{key}`", law.keyword()), remedy))
    };
    let given = [
        (".energy_density", energy_density.is_some(), law == CohesionLaw::Sjkr),
        (
            ".surface_energy",
            surface_energy.is_some(),
            matches!(law, CohesionLaw::Dmt | CohesionLaw::Jkr),
        ),
        (".surface_tension", surface_tension.is_some(), law == CohesionLaw::Capillary),
        (".contact_angle", contact_angle.is_some(), law == CohesionLaw::Capillary),
        (".volume", volume.is_some(), law == CohesionLaw::Capillary),
    ];
    if let Some((key, ..)) = given.into_iter().find(|(_, is_given, is_used)| *is_given && !is_used) {
        return Err((
            key,
            format!("cohesion = \"{}\" has no use for `{}`", law.keyword(), &key[1..]),
            "remove it",
        ));
    }
    let surface_energy = || {
        needed(
            surface_energy.map(|energy| energy.si),
            "surface_energy",
            "add surface_energy = \"0.05 J/m^2\"",
        )
    };
    Ok(match law {
        CohesionLaw::None => None,
        CohesionLaw::Sjkr => Some(Cohesion::Sjkr {
            energy_density: needed(
                energy_density.map(|density| density.si),
                "energy_density",
                "add energy_density = \"1e5 J/m^3\"",
            )?,
        }),
        CohesionLaw::Dmt => Some(Cohesion::Dmt {
            surface_energy: surface_energy()?,
        }),
        CohesionLaw::Jkr => Some(Cohesion::Jkr {
            surface_energy: surface_energy()?,
        }),
        CohesionLaw::Capillary => Some(Cohesion::Capillary {
            surface_tension: needed(
                surface_tension.map(|tension| tension.si),
                "surface_tension",
                "add surface_tension = \"0.072 N/m\"",
            )?,
            contact_angle: contact_angle.map_or(0.0, |angle| angle.si),
            volume: needed(volume.map(|volume| volume.si), "volume", "add volume = \"1e-12 m^3\"")?,
        }),
    })
}
