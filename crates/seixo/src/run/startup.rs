//! Starts a run at time zero, or resumes one from its folder.

use super::bond_breaks::BondBreakTable;
use super::changes;
use super::course::Course;
use super::driver::{Driver, RunTables};
use super::exchange::Exchange;
use super::folder::{self, CHECKPOINTS, SCENE, disk};
use super::frames::bounds;
use super::log::Log;
use super::moved_files::{MovedFiles, whole};
use super::outputs::{Marks, Outputs};
use super::rank_agreement::{compare, first_alone};
use super::record::{self, Record};
use super::stage_runner::StageRunner;
use super::volume::expected_output;
use super::{Event, Options, RunEnd, RunError};
use seixo_engine::Simulation;
use seixo_engine::world::World;
use seixo_files::checkpoint;
use seixo_files::layer::{remove_temporaries, replace};
use seixo_scene::Scene;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Runs a scene into a folder, from time zero to its end or until a request stops it.
///
/// # Errors
/// If the folder is not free or another process owns it, the world is refused, the state of a grain becomes impossible, or a file cannot be written;
/// also if viewers are requested for several ranks.
pub fn start(mut scene: Scene, folder: &Path, options: Options) -> Result<RunEnd, RunError> {
    let clock = Instant::now();
    let options = options.settled(folder)?;
    let layer = options.layer;
    if options.writes() {
        folder::check_free(layer, folder, options.overwrite)?;
    }
    let scene_hash = record::scene_hash(&scene.resolved, &scene.world, &scene.plan.reserve);
    compare(options.ranks.as_ref(), "the scene, or a file that it names,", || scene_hash.clone())?;
    scene.settings.ranks = options.ranks.clone();
    let (bounds, grains) = (bounds(&scene), scene.world.grains.len());
    let given_masses = Some(has_given_masses(&scene));
    let simulation = Simulation::new(world_of(&mut scene), scene.settings.clone());
    let mut simulation = simulation.map_err(|refusal| RunError::refused(refusal, &scene.source))?;
    refuse_endless(&scene, &simulation)?;
    let needed = expected_output(&scene, grains, simulation.time_step().value);
    let free = folder::free_space(layer, folder)?;
    if needed > free {
        return Err(RunError::NoSpace {
            folder: folder.to_owned(),
            needed,
            free,
        });
    }

    let overwrite = options.overwrite;
    let owned = options.writes().then(|| folder::prepare(layer, folder, overwrite)).transpose()?;
    let mut record = Record::new(&mut simulation, &scene, &scene_hash);
    record.folder = Some(whole(folder));
    record.given_masses = given_masses;
    record.write(layer, folder)?;
    let path = folder.join(SCENE);
    replace(layer, &path, scene.resolved.as_bytes()).map_err(disk(&path, "write it"))?;
    let started = Event::Started {
        folder: folder.to_owned(),
        title: scene.title.clone(),
        grains: simulation.len(),
        fluid_particles: simulation.fluid_particles(),
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        until: scene.run.until,
        time_step: record.time_step.value,
        time_step_limit: record.time_step.limit,
        time_step_cause: record.time_step.cause.clone(),
        notices: [
            scene.notices.as_slice(),
            simulation.notices(),
            scene.run.too_short(record.time_step.value).as_slice(),
            folder::taken_over(owned.as_ref()).as_slice(),
        ]
        .concat(),
    };
    let (time_step, threads) = (record.time_step.value, simulation.threads());
    let outputs = Outputs::open((layer, folder), &scene, bounds, (time_step, threads), &Marks::new())?;
    let stage_runner = StageRunner::new(&scene.plan, time_step);
    let every = scene.output.energies_every;
    let exchange = Exchange::open((layer, folder), &stage_runner, every, time_step, (&Marks::new(), 0))?;
    let breaks = BondBreakTable::open((layer, folder), &scene.world.bonds, &Marks::new())?;
    let log = Log::create(layer, folder)?;
    record.starting = Some(clock.elapsed().as_secs_f64());
    let course = Course {
        simulation,
        stage_runner,
        outputs,
    };
    let tables = RunTables {
        owned: owned.map(Arc::new),
        exchange,
        breaks,
        log,
        record,
    };
    Driver::new(folder, (&scene, bounds), course, tables, options).drive(&started)
}

/// Resumes a run from the newest valid checkpoint of its folder. The results have the same bits as without interruption, except on another device.
/// The overrides may change keys that say nothing of the past of the run, such as `run.threads`, `run.until` or a friction coefficient. Those of
/// physics, outputs and stages hold for later resumes, too, and are listed in the record.
///
/// # Errors
/// If an override is of another key. If the folder has no run or no valid checkpoint, its scene has changed, a file that the scene names is missing, or
/// `run.until` is before the time of the checkpoint; else as [`start`].
pub fn resume(folder: &Path, overrides: &[(String, String)], options: Options) -> Result<RunEnd, RunError> {
    let clock = Instant::now();
    let options = options.settled(folder)?;
    let (layer, ranks) = (options.layer, options.ranks.clone());
    changes::check(folder, overrides)?;
    let path = folder.join(SCENE);
    if !layer.exists(&path).map_err(disk(&path, "look at it"))? {
        return Err(RunError::NotARun { folder: folder.to_owned() });
    }
    let owned = options.writes().then(|| folder::own(layer, folder)).transpose()?;
    // Reading may have to complete an unfinished checkpoint.
    let newest = || checkpoint::newest_valid(layer, &folder.join(CHECKPOINTS)).map_err(RunError::from);
    let (from, header, state) = first_alone(ranks.as_ref(), newest)?;
    compare(ranks.as_ref(), "the checkpoint", || checkpoint::digest(&state))?;
    let often = [CHECKPOINTS, folder::FIELDS, folder::CONTACTS, folder::COARSE, folder::RESULTS].map(|inside| folder.join(inside));
    for inside in [folder.to_owned()].into_iter().chain(often) {
        if !layer.exists(&inside).map_err(disk(&inside, "look at it"))? {
            continue;
        }
        remove_temporaries(layer, &inside).map_err(disk(&inside, "remove temporary files"))?;
    }
    let text = String::from_utf8_lossy(&layer.read(&path).map_err(disk(&path, "read it"))?).into_owned();
    let before = Record::read(layer, folder);
    let first = before
        .as_ref()
        .and_then(|before| before.folder.clone())
        .unwrap_or_else(|| whole(folder));
    let moved = MovedFiles::new(options.moved.clone(), &first, folder);
    let load = |overrides: &[(String, String)]| {
        let loaded = seixo_scene::load_text_from(&text, &path, overrides, &|path| moved.place(path));
        loaded.map_err(|found| moved.missing(folder).unwrap_or(RunError::Scene(found)))
    };
    let earlier = before.as_ref().map_or(&[][..], |before| before.changes.as_slice());
    let changes = changes::with_lasting(earlier, overrides, (header.time, header.steps));
    let changed = changes.len() - earlier.len();
    let earlier = changes::overrides_of(earlier);
    let mut scene = load(&[earlier.as_slice(), overrides].concat())?;
    scene.settings.ranks = ranks;
    let scene_hash = record::scene_hash(&text, &scene.world, &scene.plan.reserve);
    let marks: Option<Marks> = serde_json::from_value(header.outputs.clone()).ok();
    let Some(marks) = marks.filter(|_| header.scene_hash == scene_hash) else {
        return Err(RunError::OtherScene { folder: folder.to_owned() });
    };
    let time_step = scene.settings.time_step.map_or_else(
        || seixo_engine::plan_time_step(&scene.world, scene.settings.scheme).map(|step| step.value),
        Ok,
    )?;
    if scene.run.steps(time_step) < header.steps {
        return Err(RunError::PassedParticles {
            folder: folder.to_owned(),
            until: scene.run.until,
            reached: header.time,
        });
    }
    let other_scene = || RunError::OtherScene { folder: folder.to_owned() };
    if changes::are_of_stages(overrides) {
        // How many began, the list before says: another one may be shorter.
        let before = load(&earlier)?;
        let began = StageRunner::restore(&before.plan, time_step, &state, header.steps).ok_or_else(other_scene)?;
        changes::check_stages(folder, [&before, &scene], began.stages().count())?;
    }
    let stage_runner = StageRunner::restore(&scene.plan, time_step, &state, header.steps).ok_or_else(other_scene)?;
    let bounds = bounds(&scene);
    let given_masses = Some(has_given_masses(&scene));
    let simulation = Simulation::restore_changed(world_of(&mut scene), scene.settings.clone(), &state, &stage_runner.past());
    let mut simulation = simulation.map_err(|refusal| RunError::refused_state(refusal, &scene.source, &from))?;

    refuse_endless(&scene, &simulation)?;
    let mut record = Record::new(&mut simulation, &scene, &scene_hash);
    record.folder = Some(first);
    record.given_masses = given_masses;
    if let Some(before) = before {
        record.wall_time = before.wall_time;
        record.particle_steps = before.particle_steps;
        record.take_stages(before.stages, &stage_runner);
    }
    record.changes = changes;
    if changed > 0 {
        // A kill before the next checkpoint must not lose what the results after it will depend on.
        record.write(layer, folder)?;
    }
    let threads = simulation.threads();
    let mut outputs = Outputs::open((layer, folder), &scene, bounds, (record.time_step.value, threads), &marks)?;
    outputs.restore(&state, &simulation);
    let place = (layer, folder);
    let exchange = Exchange::open(place, &stage_runner, scene.output.energies_every, time_step, (&marks, header.steps))?;
    let breaks = BondBreakTable::open(place, &scene.world.bonds, &marks)?;
    let resumed = Event::Resumed {
        checkpoint: from,
        time: simulation.time(),
        steps: simulation.steps(),
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        until: scene.run.until,
        notices: [
            simulation.notices(),
            folder::taken_over(owned.as_ref()).as_slice(),
            changes::notices(&record.changes, changed).as_slice(),
        ]
        .concat(),
    };
    let log = Log::resume(layer, folder)?;
    record.starting = Some(clock.elapsed().as_secs_f64());
    let course = Course {
        simulation,
        stage_runner,
        outputs,
    };
    let tables = RunTables {
        owned: owned.map(Arc::new),
        exchange,
        breaks,
        log,
        record,
    };
    Driver::new(folder, (&scene, bounds), course, tables, options).drive(&resumed)
}

fn refuse_endless(scene: &Scene, simulation: &Simulation) -> Result<(), RunError> {
    let endless = scene.source.endless(scene.run.until, simulation.time_step());
    endless.map_or(Ok(()), |found| Err(RunError::Scene(found)))
}

/// Whether masses of grains are given, of those at the start or of those that a stage adds.
fn has_given_masses(scene: &Scene) -> bool {
    !scene.world.grains.masses.is_empty() || !scene.plan.reserve.masses.is_empty()
}

/// Returns the world of a scene, and takes its grains: a second copy of millions of grains would need too much memory.
pub(super) fn world_of(scene: &mut Scene) -> World {
    let grains = std::mem::take(&mut scene.world.grains);
    World {
        grains,
        ..scene.world.clone()
    }
}
