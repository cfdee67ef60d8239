//! The points of a sweep, and the file in its folder that names them.

use super::SweepError;
use super::variation::{MOST_POINTS, Variation};
use crate::run::folder::{LOCK, disk, own};
use seixo_files::layer::{Disk, FileLayer, replace};
use seixo_files::owner::Ownership;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The points of the sweep, in its folder.
pub const PLAN: &str = "sweep.json";
/// Length of the name of a point: so many hexadecimal digits differ among any number of points.
const NAME_LENGTH: usize = 16;
/// Most values of a key that a message lists.
const MOST_SHOWN: usize = 8;

/// Keys of a scene with their values, as `--set` takes them.
pub type Settings = Vec<(String, String)>;

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Digest of all settings: the name of its folder.
    pub name: String,
    /// The varied keys and their values.
    pub settings: Settings,
}

/// What a sweep runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the program.
    pub version: String,
    /// Path of the scene.
    pub scene: String,
    /// BLAKE3 of the scene and of the files that it names.
    pub digest: String,
    /// Settings of all points.
    pub settings: Settings,
    /// The points.
    pub points: Vec<Point>,
}

/// The points at all combinations of the values; those of the last key change fastest.
///
/// # Errors
/// If a range has no step, or there are too many points.
pub fn grid(variations: &[Variation]) -> Result<Vec<Vec<String>>, String> {
    let mut rows: Vec<Vec<String>> = vec![Vec::new()];
    for variation in variations {
        let values = variation.all()?;
        let count = rows.len().saturating_mul(values.len());
        if count > MOST_POINTS {
            return Err(format!(
                "the combinations of all values are {count} points or more, and a sweep has at most {MOST_POINTS}; vary less, or draw a sample \
                 with --sample lhs:N"
            ));
        }
        let longer = |row: Vec<String>| -> Vec<Vec<String>> {
            values
                .iter()
                .map(|value| [&row[..], std::slice::from_ref(value)].concat())
                .collect()
        };
        rows = rows.into_iter().flat_map(longer).collect();
    }
    Ok(rows)
}

/// Names the points with these values of the keys, each once.
pub fn named(settings: &[(String, String)], keys: &[&str], rows: Vec<Vec<String>>) -> Vec<Point> {
    let mut known = BTreeSet::new();
    let points = rows.into_iter().map(|row| {
        let own: Settings = keys.iter().map(|key| (*key).to_owned()).zip(row).collect();
        Point {
            name: digest(settings.iter().chain(&own)),
            settings: own,
        }
    });
    points.filter(|point| known.insert(point.name.clone())).collect()
}

/// Digest of settings. Of two for one key the later one holds.
fn digest<'a>(settings: impl Iterator<Item = &'a (String, String)>) -> String {
    let settings: BTreeMap<&str, &str> = settings.map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let mut hasher = blake3::Hasher::new();
    for text in settings.iter().flat_map(|(key, value)| [key, value]) {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    let mut name = hasher.finalize().to_string();
    name.truncate(NAME_LENGTH);
    name
}

impl Point {
    /// The varied keys and their values in a line.
    pub fn text(&self) -> String {
        spelled(&self.settings)
    }
}

fn spelled(settings: &[(String, String)]) -> String {
    let all: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    all.join(" ")
}

impl Plan {
    /// All settings of a point.
    pub fn overrides(&self, point: &Point) -> Settings {
        [&self.settings[..], &point.settings].concat()
    }

    /// The varied keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.points
            .iter()
            .take(1)
            .flat_map(|point| point.settings.iter().map(|(key, _)| key.as_str()))
    }

    /// Makes the folder the one of this sweep and of this process.
    ///
    /// # Errors
    /// If the folder has something else or another sweep, another process owns it, or the disk fails.
    pub fn claim(&self, folder: &Path) -> Result<Ownership<'static>, SweepError> {
        refuse_other_content(folder)?;
        std::fs::create_dir_all(folder).map_err(disk(folder, "create it"))?;
        let owned = own(&Disk, folder)?;
        match stored(folder)? {
            Some(earlier) => self.refuse_unlike(&earlier, folder)?,
            None => {
                let path = folder.join(PLAN);
                let text = serde_json::to_string_pretty(self).map_err(io::Error::from);
                let written = text.and_then(|text| replace(&Disk, &path, (text + "\n").as_bytes()));
                written.map_err(disk(&path, "write it"))?;
            }
        }
        Ok(owned)
    }

    fn refuse_unlike(&self, earlier: &Plan, folder: &Path) -> Result<(), SweepError> {
        let names = |plan: &Plan| -> BTreeSet<String> { plan.points.iter().map(|point| point.name.clone()).collect() };
        let why = if earlier.digest != self.digest {
            let scene = &earlier.scene;
            format!("holds a sweep of another scene: {scene}, or a file that it names, is not what it was when that sweep began")
        } else if names(earlier) != names(self) {
            format!(
                "holds another sweep, of {}; this one is of {}{}",
                earlier.described(),
                self.described(),
                self.difference(earlier)
            )
        } else {
            return Ok(());
        };
        let folder = folder.display();
        Err(SweepError::Input(format!(
            "{folder}: {why}. Nothing was changed; name another folder with --out, or remove this one"
        )))
    }

    /// Values of the first varied key that takes others here than in an earlier sweep.
    fn difference(&self, earlier: &Plan) -> String {
        for key in earlier.keys().chain(self.keys()) {
            let [there, here] = [earlier, self].map(|plan| plan.values(key));
            let only: Vec<String> = [("there", &there, &here), ("here", &here, &there)]
                .into_iter()
                .filter_map(|(place, these, others)| listed(these, others).map(|values| format!("only {place}: {values}")))
                .collect();
            if !only.is_empty() {
                return format!("; values of {key} {}", only.join("; "));
            }
        }
        if self.settings == earlier.settings {
            return "; the values are the same, in other combinations".to_owned();
        }
        String::new()
    }

    /// The values of a varied key, in the order of the points, as often as points have them.
    fn values(&self, key: &str) -> Vec<&str> {
        let settings = self.points.iter().flat_map(|point| &point.settings);
        settings.filter(|(own, _)| own == key).map(|(_, value)| value.as_str()).collect()
    }

    fn described(&self) -> String {
        let keys: Vec<&str> = self.keys().collect();
        let settings = if self.settings.is_empty() {
            String::new()
        } else {
            format!(" with {}", spelled(&self.settings))
        };
        format!(
            "{} over {}{settings}",
            crate::terminal::many(self.points.len(), "point"),
            keys.join(", ")
        )
    }
}

/// The first values of a list that another one lacks, each once; `None` if there are none.
fn listed(these: &[&str], others: &[&str]) -> Option<String> {
    let mut known: BTreeSet<&str> = others.iter().copied().collect();
    let missing: Vec<&str> = these.iter().copied().filter(|value| known.insert(*value)).collect();
    let shown = &missing[..missing.len().min(MOST_SHOWN)];
    let more = match missing.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!missing.is_empty()).then(|| shown.join(", ") + &more)
}

/// The plan in a folder; `None` if there is none.
fn stored(folder: &Path) -> Result<Option<Plan>, SweepError> {
    let path = folder.join(PLAN);
    let at = path.display();
    if !path.exists() {
        return Ok(None);
    }
    let bytes = Disk.read(&path).map_err(disk(&path, "read it"))?;
    let plan = serde_json::from_slice(&bytes);
    plan.map(Some).map_err(|error| {
        SweepError::Input(format!(
            "{at}: this is not what a sweep writes there ({error}); put it back, or name another folder with --out"
        ))
    })
}

/// Refuses a folder with other content than that of a sweep.
fn refuse_other_content(folder: &Path) -> Result<(), SweepError> {
    if !folder.exists() || folder.join(PLAN).exists() {
        return Ok(());
    }
    let inside = Disk.list(folder).map_err(disk(folder, "list it"))?;
    // A sweep that was killed before it wrote its plan leaves these.
    let own = [folder.join(LOCK), folder.join(PLAN).with_extension("json.tmp")];
    if inside.iter().all(|path| own.contains(path)) {
        return Ok(());
    }
    Err(SweepError::Input(format!(
        "{}: is not empty and not the folder of a sweep (it has no {PLAN}), so nothing in it was touched; name another folder with --out",
        folder.display()
    )))
}
