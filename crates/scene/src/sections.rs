//! How many sections a scene may have, and what they may be called.

use crate::{assemble::Findings, diagnostics::Complaint, schema::SceneFile};

/// Longest name of a section: names become file names.
const LONGEST_NAME: usize = 64;
/// Most materials: they act on each other in pairs, all of which stand in a table.
const MOST_MATERIALS: usize = 256;
/// Most pairs of them.
const MOST_PAIRS: usize = MOST_MATERIALS * (MOST_MATERIALS + 1) / 2;
/// Most fluids: each is told from all others.
const MOST_FLUIDS: usize = 64;
/// Most sections of kinds that have files, or are looked at between steps, of their own.
const MOST_WATCHED: usize = 1000;
/// Most sections of other kinds, and most stages.
const MOST_OTHERS: usize = 10_000;

/// A table of sections by name.
struct Table<'a> {
    key: &'static str,
    names: Vec<&'a String>,
    /// Most sections.
    most: usize,
}

fn tables(file: &SceneFile) -> [Table<'_>; 11] {
    let table = |key, names, most| Table { key, names, most };
    [
        table("material", file.material.keys().collect(), MOST_MATERIALS),
        table("interaction", file.interaction.keys().collect(), MOST_PAIRS),
        table("shape", file.shape.keys().collect(), MOST_WATCHED),
        table("grains", file.grains.keys().collect(), MOST_OTHERS),
        table("wall", file.wall.keys().collect(), MOST_OTHERS),
        table("fluid", file.fluid.keys().collect(), MOST_FLUIDS),
        table("inlet", file.inlet.keys().collect(), MOST_WATCHED),
        table("outlet", file.outlet.keys().collect(), MOST_WATCHED),
        table("bonds", file.bonds.keys().collect(), MOST_WATCHED),
        table("zone", file.zone.keys().collect(), MOST_WATCHED),
        table("probe", file.probe.keys().collect(), MOST_WATCHED),
    ]
}

/// Refuses more sections than any work is meant for, before that is begun.
pub(crate) fn refuse_too_many(file: &SceneFile, findings: &mut Findings) {
    let counted = tables(file).map(|table| (table.key, table.names.len(), table.most));
    for (key, count, most) in counted.into_iter().chain([("stage", file.stage.len(), MOST_OTHERS)]) {
        if count > most {
            let complaint = Complaint::new(format!("{key}: the scene has {count} sections of this kind")).limit(format!("{most} sections"));
            findings.add(key, complaint.remedy("put what is alike into one section"));
        }
    }
}

/// Refuses names that cannot be those of files.
pub(crate) fn check_names(file: &SceneFile, findings: &mut Findings) {
    for Table { key, names, .. } in tables(file) {
        let most = if key == "interaction" { 2 * LONGEST_NAME + 1 } else { LONGEST_NAME };
        for name in names {
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            if !is_plain || name.is_empty() || name.len() > most {
                let complaint = Complaint::new(format!("{key}: {name:?} cannot be a name, because names become file names"));
                findings.add(
                    key,
                    complaint.limit(format!("1 to {most} letters, digits, _ and -")).remedy("rename it"),
                );
            }
        }
    }
}
