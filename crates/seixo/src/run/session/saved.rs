//! Sessions in files: saved into one, and resumed from it or from a run folder.

use super::scene_files::{self, SceneFile, Unpacked};
use super::{Origin, Session, stopped};
use crate::run::RunError;
use crate::run::changes::{self, Change};
use crate::run::course::Course;
use crate::run::folder::{CHECKPOINTS, PROBES, SCENE, disk};
use crate::run::moved_files::{MovedFiles, whole};
use crate::run::outputs::Outputs;
use crate::run::record::{self, Record};
use crate::run::stage_runner::StageRunner;
use crate::run::startup::world_of;
use seixo_engine::Simulation;
use seixo_engine::state::{Column, State};
use seixo_files::checkpoint::{self, Header};
use seixo_files::layer::{Disk, FileLayer, Unwritten};
use seixo_files::{FilesError, table};
use seixo_scene::Scene;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Section of the text of the scene, four bytes a number.
const TEXT: &str = "session/scene";

/// What the header of a file of a session holds; the outputs of a run have no such key.
#[derive(Serialize, Deserialize)]
struct SessionHeader {
    session: SessionFile,
}

#[derive(Serialize, Deserialize)]
struct SessionFile {
    /// Length of the text of the scene \[bytes\].
    scene_bytes: usize,
    changes: Vec<Change>,
    steps_at_end: u64,
    /// Paths of the kept files in the text of the scene, and their lengths \[bytes\]; earlier versions kept none.
    #[serde(default)]
    files: Vec<(String, usize)>,
}

/// A checkpoint and the scene that it belongs to.
struct Found {
    /// The file.
    checkpoint: PathBuf,
    header: Header,
    state: State,
    text: String,
    changes: Vec<Change>,
    /// Files that the text names.
    files: Vec<SceneFile>,
    /// Run folder, if it is that of a run.
    folder: Option<PathBuf>,
    /// End of the run, if it is that of a session.
    steps_at_end: Option<u64>,
}

impl Session {
    /// Saves everything that a resume needs into one file, in place of what was there: its scene, and the files that this names, such as meshes and
    /// tables, as they were when the session began. Files of over 64 MiB in total are left out unless they are temporary, and so is the run that a
    /// scene starts from; a resume reads them where they are.
    ///
    /// # Errors
    /// If the file cannot be written, and as [`Simulation::observe`].
    pub fn save(&mut self, path: &Path) -> Result<(), RunError> {
        let file = SessionFile {
            scene_bytes: self.origin.text.len(),
            changes: self.origin.changes.clone(),
            steps_at_end: self.steps_at_end,
            files: self
                .origin
                .files
                .iter()
                .map(|file| (file.path.display().to_string(), file.bytes.len()))
                .collect(),
        };
        let header = Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scene_hash: self.origin.scene_hash.clone(),
            time: self.course.simulation.time(),
            steps: self.course.simulation.steps(),
            outputs: serde_json::to_value(SessionHeader { session: file }).unwrap_or_default(),
        };
        checkpoint::write_file(&Disk, path, &header, |to| {
            self.course.save_to(to).map_err(stopped)?;
            to.put(TEXT, packed(self.origin.text.as_bytes()));
            for (index, file) in self.origin.files.iter().enumerate() {
                to.put(&file_section(index), packed(&file.bytes));
            }
            for (index, probe) in self.scene.probes.iter().enumerate() {
                let lines = self.course.outputs.kept_lines(index);
                to.put(&section(&probe.name), Column::F64(lines.concat()));
            }
            Ok::<(), RunError>(())
        })
    }

    /// Resumes from a file that [`Session::save`] wrote, from a run folder, or from one of its checkpoints; nothing there is changed. The overrides may
    /// change the keys that may change when a run resumes; those of physics, outputs and stages hold for later resumes, too.
    ///
    /// # Errors
    /// If there is no valid checkpoint, an override is of another key, the scene or one of its files has changed or is missing, or the world is refused.
    pub fn resume(path: &Path, overrides: &[(String, String)]) -> Result<Session, RunError> {
        changes::check(path, overrides)?;
        let mut found = find(path)?;
        let files = std::mem::take(&mut found.files);
        let unpacked = Unpacked::new(&files)?;
        let Found { header, state, text, .. } = &found;
        let first = found.folder.as_deref().map_or_else(String::new, |folder| {
            let record = Record::read(&Unwritten, folder);
            record.and_then(|record| record.folder).unwrap_or_else(|| whole(folder))
        });
        let folder = found.folder.as_deref().unwrap_or(path);
        let moved = MovedFiles::new(unpacked.places.clone(), &first, folder);
        let named = Mutex::new(BTreeMap::new());
        let place = |path: PathBuf| {
            let now = moved.place(path.clone());
            named.lock().unwrap_or_else(PoisonError::into_inner).insert(path, now.clone());
            now
        };
        let file = found.folder.as_ref().map_or_else(|| path.to_owned(), |folder| folder.join(SCENE));
        let load = |overrides: &[(String, String)]| {
            let loaded = seixo_scene::load_text_from(text, &file, overrides, &place);
            loaded.map_err(|errors| moved.missing(folder).unwrap_or(RunError::Scene(errors)))
        };
        let earlier = changes::overrides_of(&found.changes);
        let mut scene = load(&[earlier.as_slice(), overrides].concat())?;
        let other_scene = || RunError::OtherScene { folder: folder.to_owned() };
        let scene_hash = record::scene_hash(text, &scene.world, &scene.plan.reserve);
        if header.scene_hash != scene_hash {
            return Err(other_scene());
        }
        let time_step = scene.settings.time_step.map_or_else(
            || seixo_engine::plan_time_step(&scene.world, scene.settings.scheme).map(|step| step.value),
            Ok,
        )?;
        let restored = |scene: &Scene| StageRunner::restore(&scene.plan, time_step, state, header.steps).ok_or_else(other_scene);
        if changes::are_of_stages(overrides) {
            let before = load(&earlier)?;
            changes::check_stages(folder, [&before, &scene], restored(&before)?.stages().count())?;
        }
        let stage_runner = restored(&scene)?;
        let groups = stage_runner.user_record().groups();
        scene.world.later.constrained_groups.extend(groups);
        let simulation = Simulation::restore_changed(world_of(&mut scene), scene.settings.clone(), state, &stage_runner.past());
        let simulation = simulation.map_err(|refusal| RunError::refused_state(refusal, &scene.source, &found.checkpoint))?;
        let mut outputs = Outputs::kept(&scene, time_step);
        outputs.restore(state, &simulation);
        for (index, probe) in scene.probes.iter().enumerate() {
            outputs.keep_lines(index, earlier_lines(&found, &probe.name, probe.columns().len() + 1)?);
        }
        let planned = scene.run.steps(time_step);
        let steps_at_end = match (found.steps_at_end, stage_runner.is_over()) {
            (Some(steps), true) => steps,
            (None, true) => header.steps,
            (_, false) => planned,
        };
        let origin = Origin {
            text: text.clone(),
            changes: changes::with_lasting(&found.changes, overrides, (header.time, header.steps)),
            scene_hash,
            files: scene_files::kept(named.into_inner().unwrap_or_else(PoisonError::into_inner), files),
        };
        let course = Course {
            simulation,
            stage_runner,
            outputs,
        };
        Ok(Session::of(scene, course, origin, steps_at_end))
    }
}

/// Finds the checkpoint of a path, and its scene.
fn find(path: &Path) -> Result<Found, RunError> {
    let exists = |path: &Path| Unwritten.exists(path).map_err(disk(path, "look at it"));
    // Only files have a size.
    let is_file = Unwritten.size(path).is_ok();
    let is_folder = !is_file && exists(&path.join(SCENE))?;
    if !is_folder && !is_file && exists(path)? {
        return Err(RunError::NotARun { folder: path.to_owned() });
    }
    let (checkpoint, header, state) = if is_folder {
        checkpoint::newest_valid(&Unwritten, &path.join(CHECKPOINTS))?
    } else {
        let (header, state) = checkpoint::read(&Unwritten, path)?;
        (path.to_owned(), header, state)
    };
    if let Ok(SessionHeader { session }) = serde_json::from_value(header.outputs.clone()) {
        let (text, files) = scene_in(&state, &session).ok_or_else(|| FilesError::Content {
            path: path.to_owned(),
            problem: "it has no readable scene".to_owned(),
            remedy: "resume from another checkpoint, or start the scene again",
        })?;
        return Ok(Found {
            checkpoint,
            header,
            state,
            text,
            changes: session.changes,
            files,
            folder: None,
            steps_at_end: Some(session.steps_at_end),
        });
    }
    // A checkpoint is in a folder of the run folder.
    let above = std::path::absolute(path)
        .ok()
        .and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    let folder = if is_folder { path.to_owned() } else { above.unwrap_or_default() };
    let scene = folder.join(SCENE);
    if !exists(&scene)? {
        return Err(RunError::NotARun { folder });
    }
    let text = Unwritten.read(&scene).map_err(disk(&scene, "read it"))?;
    Ok(Found {
        checkpoint,
        header,
        state,
        text: String::from_utf8_lossy(&text).into_owned(),
        changes: Record::read(&Unwritten, &folder).map_or_else(Vec::new, |record| record.changes),
        files: Vec::new(),
        folder: Some(folder),
        steps_at_end: None,
    })
}

/// The lines of a probe with this many columns up to the checkpoint; none if there is no table of them.
fn earlier_lines(found: &Found, name: &str, width: usize) -> Result<Vec<Vec<f64>>, RunError> {
    let Some(folder) = &found.folder else {
        let lines = match found.state.get(&section(name)) {
            Some(Column::F64(numbers)) => numbers.chunks_exact(width).map(<[f64]>::to_vec).collect(),
            _ => Vec::new(),
        };
        return Ok(lines);
    };
    let path = folder.join(PROBES).join(format!("{name}.csv"));
    if !Unwritten.exists(&path).map_err(disk(&path, "look at it"))? {
        return Ok(Vec::new());
    }
    let (_, columns) = table::read(&Unwritten, &path)?;
    let count = columns
        .first()
        .map_or(0, |times| times.iter().take_while(|time| **time <= found.header.time).count());
    Ok((0..count).map(|row| columns.iter().map(|column| column[row]).collect()).collect())
}

/// Section of the lines of a probe.
fn section(probe: &str) -> String {
    format!("session/lines/{probe}")
}

/// Section of the content of a file of the scene.
fn file_section(index: usize) -> String {
    format!("session/file/{index}")
}

/// Bytes as a column.
fn packed(bytes: &[u8]) -> Column {
    let number = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    };
    Column::U32(bytes.chunks(4).map(number).collect())
}

/// The bytes of this length in a section; `None` if they are not there.
fn bytes_in(state: &State, section: &str, length: usize) -> Option<Vec<u8>> {
    let Column::U32(words) = state.get(section)? else { return None };
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if bytes.len() < length {
        return None;
    }
    bytes.truncate(length);
    Some(bytes)
}

/// The text of the scene of a session and its files; `None` if a part is not there.
fn scene_in(state: &State, session: &SessionFile) -> Option<(String, Vec<SceneFile>)> {
    let text = String::from_utf8(bytes_in(state, TEXT, session.scene_bytes)?).ok()?;
    let files = session.files.iter().enumerate().map(|(index, (path, length))| {
        let bytes = bytes_in(state, &file_section(index), *length)?;
        Some(SceneFile { path: path.into(), bytes })
    });
    Some((text, files.collect::<Option<_>>()?))
}
