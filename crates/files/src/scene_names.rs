//! Names of a scene, as `run.json` in its run folder has them.
//!
//! ```
//! use seixo_files::scene_names::SceneNames;
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("run.json"), r#"{ "title": "Drum", "groups": ["beans", "peas"] }"#)?;
//! let names = SceneNames::read(folder.path());
//! assert_eq!(names.title.as_deref(), Some("Drum"));
//! assert_eq!(names.groups, ["beans", "peas"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use serde::Deserialize;
use std::{fs, path::Path};

/// Title of a scene, and names of its groups, materials and fluids in the order of their numbers in frames.
///
/// ```
/// let names = seixo_files::scene_names::SceneNames::read(std::path::Path::new("no run"));
/// assert!(names.title.is_none() && names.groups.is_empty());
/// ```
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SceneNames {
    /// Title; `None` if there is none.
    pub title: Option<String>,
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Names of the materials.
    pub materials: Vec<String>,
    /// Names of the fluids.
    pub fluids: Vec<String>,
}

impl SceneNames {
    /// The names of the scene of a run. Names that its record lacks, or all without a readable record, are empty.
    pub fn read(run_folder: &Path) -> SceneNames {
        let text = fs::read(run_folder.join("run.json")).unwrap_or_default();
        let mut names: SceneNames = serde_json::from_slice(&text).unwrap_or_default();
        names.title = names.title.filter(|title| !title.is_empty());
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_may_lack_names() {
        let folder = tempfile::tempdir().unwrap();
        let read = |record: &str| {
            fs::write(folder.path().join("run.json"), record).unwrap();
            SceneNames::read(folder.path())
        };
        assert_eq!(SceneNames::read(folder.path()), SceneNames::default());
        let names = read(r#"{"title": "Drum", "groups": ["beans", "peas"], "fluids": ["water"], "steps": 3}"#);
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let expected = SceneNames {
            title: Some("Drum".to_owned()),
            groups: of(&["beans", "peas"]),
            materials: Vec::new(),
            fluids: of(&["water"]),
        };
        assert_eq!(names, expected);
        assert_eq!(read(r#"{"title": ""}"#), SceneNames::default());
        assert_eq!(read("{"), SceneNames::default());
    }
}
