//! Limits on the number of sections of a scene, and on their names.

use crate::{assemble::CheckState, diagnostics::UnlocatedDiagnostic, schema::SceneFile};

/// Longest name of a section: names become file names.
const LONGEST_NAME: usize = 64;
/// Largest number of materials: all their pairs are in a table.
const MAX_MATERIALS: usize = 256;
/// Largest number of pairs.
const MAX_PAIRS: usize = MAX_MATERIALS * (MAX_MATERIALS + 1) / 2;
/// Largest number of fluids: each is compared with all others.
const MAX_FLUIDS: usize = 64;
/// Largest number of sections of kinds with their own files or checks between steps.
const MAX_WATCHED: usize = 1000;
/// Largest number of sections of other kinds, and of stages.
const MAX_OTHERS: usize = 10_000;

/// A table of sections by name.
struct Table<'a> {
    key: &'static str,
    names: Vec<&'a String>,
    /// Largest number of sections.
    most: usize,
}

fn tables(file: &SceneFile) -> [Table<'_>; 11] {
    let table = |key, names, most| Table { key, names, most };
    [
        table("material", file.material.keys().collect(), MAX_MATERIALS),
        table("interaction", file.interaction.keys().collect(), MAX_PAIRS),
        table("shape", file.shape.keys().collect(), MAX_WATCHED),
        table("grains", file.grains.keys().collect(), MAX_OTHERS),
        table("wall", file.wall.keys().collect(), MAX_OTHERS),
        table("fluid", file.fluid.keys().collect(), MAX_FLUIDS),
        table("inlet", file.inlet.keys().collect(), MAX_WATCHED),
        table("outlet", file.outlet.keys().collect(), MAX_WATCHED),
        table("bonds", file.bonds.keys().collect(), MAX_WATCHED),
        table("zone", file.zone.keys().collect(), MAX_WATCHED),
        table("probe", file.probe.keys().collect(), MAX_WATCHED),
    ]
}

/// Refuses more sections than any use needs, before work on them begins.
pub(crate) fn refuse_too_many(file: &SceneFile, findings: &mut CheckState) {
    let counted = tables(file).map(|table| (table.key, table.names.len(), table.most));
    for (key, count, most) in counted.into_iter().chain([("stage", file.stage.len(), MAX_OTHERS)]) {
        if count > most {
            let complaint =
                UnlocatedDiagnostic::new(format!("{key}: the scene has {count} sections of this kind")).limit(format!("{most} sections"));
            findings.add(key, complaint.remedy("put what is alike into one section"));
        }
    }
}

/// Refuses names that cannot be file names.
pub(crate) fn check_names(file: &SceneFile, findings: &mut CheckState) {
    for Table { key, names, .. } in tables(file) {
        let most = if key == "interaction" { 2 * LONGEST_NAME + 1 } else { LONGEST_NAME };
        for name in names {
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            if !is_plain || name.is_empty() || name.len() > most {
                let complaint = UnlocatedDiagnostic::new(format!("{key}: {name:?} cannot be a name, because names become file names"));
                findings.add(
                    key,
                    complaint.limit(format!("1 to {most} letters, digits, _ and -")).remedy("rename it"),
                );
            }
        }
    }
}
