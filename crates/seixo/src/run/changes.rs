//! Keys of a scene that may change when a run resumes: those that say nothing of its past.

use super::RunError;
use seixo_scene::Scene;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How long a change lasts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lasts {
    /// Until the process ends: the next resume takes the value of the scene again.
    Process,
    /// Until the end of the run, through all later resumes.
    Run,
}

/// The keys that may change; `*` stands for a name. Any other key says what the run was until now: which grains and walls it has, in which steps
/// it counts time, which frames it has.
const CHANGEABLE: &[(&str, Lasts)] = &[
    ("run.until", Lasts::Process),
    ("run.threads", Lasts::Process),
    ("run.device", Lasts::Process),
    ("run.precision", Lasts::Process),
    ("run.domains", Lasts::Process),
    ("run.gpus", Lasts::Process),
    ("run.balance", Lasts::Process),
    ("run.overlap_limit", Lasts::Run),
    ("run.local_damping", Lasts::Run),
    ("interaction.*.friction", Lasts::Run),
    ("interaction.*.restitution", Lasts::Run),
    ("output.energies_every", Lasts::Run),
    ("output.fields", Lasts::Run),
    ("probe.*.every", Lasts::Run),
    ("checkpoint.every", Lasts::Run),
    ("checkpoint.keep", Lasts::Run),
    (STAGES, Lasts::Run),
];

/// The list of stages, of which those that began may not change.
const STAGES: &str = "stage";

/// A change of a key when a run was resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The key, such as `interaction.glass-glass.friction`.
    pub key: String,
    /// Its value since then.
    pub value: String,
    /// Simulated time at the change \[s\].
    pub time: f64,
    /// Number of completed steps at the change.
    pub steps: u64,
}

/// How long a change of this key lasts; `None` if it may not change.
fn lasting(key: &str) -> Option<Lasts> {
    let is_key = |pattern: &str| {
        let (parts, wanted) = (key.split('.'), pattern.split('.'));
        parts.clone().count() == wanted.clone().count() && parts.zip(wanted).all(|(part, wanted)| wanted == "*" || part == wanted)
    };
    CHANGEABLE.iter().find(|(pattern, _)| is_key(pattern)).map(|&(_, lasts)| lasts)
}

/// Refuses keys that may not change.
pub(super) fn check(folder: &Path, overrides: &[(String, String)]) -> Result<(), RunError> {
    match overrides.iter().find(|(key, _)| lasting(key).is_none()) {
        Some((key, _)) => Err(refused(folder, key)),
        None => Ok(()),
    }
}

fn refused(folder: &Path, key: &str) -> RunError {
    let known: Vec<&str> = CHANGEABLE.iter().map(|&(pattern, _)| pattern).collect();
    RunError::Unchangeable {
        folder: folder.to_owned(),
        key: key.to_owned(),
        known: known.join(", "),
    }
}

/// Earlier changes, and those of these overrides that last, at this time \[s\] and step.
pub(super) fn with_lasting(earlier: &[Change], overrides: &[(String, String)], (time, steps): (f64, u64)) -> Vec<Change> {
    let lasts = overrides.iter().filter(|(key, _)| lasting(key) == Some(Lasts::Run));
    let change = |(key, value): &(String, String)| Change {
        key: key.clone(),
        value: value.clone(),
        time,
        steps,
    };
    earlier.iter().cloned().chain(lasts.map(change)).collect()
}

/// The overrides that earlier changes stand for.
pub(super) fn overrides_of(changes: &[Change]) -> Vec<(String, String)> {
    changes.iter().map(|change| (change.key.clone(), change.value.clone())).collect()
}

/// A notice for each of the last changes, of this number.
pub(super) fn notices(changes: &[Change], last: usize) -> Vec<String> {
    let last = &changes[changes.len() - last..];
    last.iter()
        .map(|Change { key, value, .. }| format!("from here on {key} = {value}, also when the run is resumed again"))
        .collect()
}

/// Whether these overrides change the stages.
pub(super) fn are_of_stages(overrides: &[(String, String)]) -> bool {
    overrides.iter().any(|(key, _)| key == STAGES)
}

/// Refuses a scene whose first stages, those that began, are not those of the scene before.
pub(super) fn check_stages(folder: &Path, [before, now]: [&Scene; 2], began: usize) -> Result<(), RunError> {
    let first = |scene: &Scene| format!("{:?}", scene.plan.stages.iter().take(began).collect::<Vec<_>>());
    if first(before) == first(now) {
        Ok(())
    } else {
        Err(refused(folder, &format!("the first {began} of the list {STAGES}, which began,")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_stars_and_for_nothing_else() {
        let key = |key: &str| lasting(key).is_some();
        assert!(key("interaction.glass-glass.friction") && key("probe.core.every") && key("stage"));
        assert!(!key("interaction.glass-glass") && !key("interaction.a.b.friction") && !key("grains.bed.fill.count") && !key("*"));
    }
}
