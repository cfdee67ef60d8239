//! How a run begins: anew, or from what a folder holds.

use super::agreement::{compare, first_alone};
use super::breaks::Breaks;
use super::course::Course;
use super::driver::{Books, Driver};
use super::exchange::Exchange;
use super::folder::{self, CHECKPOINTS, SCENE, disk};
use super::frames::bounds;
use super::log::Log;
use super::moved::{Moved, whole};
use super::outputs::{Marks, Outputs};
use super::record::{self, Record};
use super::volume::expected_output;
use super::{Ending, Event, Options, RunError};
use seixo_engine::Simulation;
use seixo_engine::world::World;
use seixo_files::checkpoint;
use seixo_files::layer::{remove_temporaries, replace};
use seixo_scene::Scene;
use std::path::Path;

/// Runs a scene into a folder, from time zero to its end or until it is asked to stop.
///
/// # Errors
/// If the folder is taken, or another process writes into it, the world is refused, a grain's state becomes impossible, or a file cannot be written; and if somebody would look at
/// several ranks.
pub fn start(mut scene: Scene, folder: &Path, options: Options) -> Result<Ending, RunError> {
    let options = options.settled(folder)?;
    let layer = options.layer;
    if options.writes() {
        folder::check_free(layer, folder, options.overwrite)?;
    }
    let scene_hash = record::scene_hash(&scene.resolved, &scene.world, &scene.plan.reserve);
    compare(options.ranks.as_ref(), "the scene, or a file that it names,", || scene_hash.clone())?;
    scene.settings.ranks = options.ranks.clone();
    let (bounds, grains) = (bounds(&scene), scene.world.grains.len());
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
    let mut record = Record::new(&mut simulation, &scene.title, &scene_hash, scene.run.until);
    record.folder = Some(whole(folder));
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
    let time_step = record.time_step.value;
    let outputs = Outputs::open((layer, folder), &scene, bounds, time_step, &Marks::new())?;
    let course = Course::new(&scene.plan, time_step);
    let every = scene.output.energies_every;
    let exchange = Exchange::open((layer, folder), &course, every, time_step, (&Marks::new(), 0))?;
    let breaks = Breaks::open((layer, folder), &scene.world.bonds, &Marks::new())?;
    let log = Log::create(layer, folder)?;
    let books = Books {
        owned,
        outputs,
        exchange,
        breaks,
        log,
        record,
    };
    Driver::new(folder, (&scene, bounds), (simulation, course), books, options).drive(&started)
}

/// Goes on from the newest valid checkpoint of a run folder, bit for bit as if the run had never stopped, unless on another device.
/// Of the overrides, those that matter are `run.threads`, `run.device`, `run.precision` and `run.until`.
///
/// # Errors
/// If the folder holds no run or no valid checkpoint, its scene has changed, a file that this names is missing, `run.until` is before the time of the
/// checkpoint, or as [`start`].
pub fn resume(folder: &Path, overrides: &[(String, String)], options: Options) -> Result<Ending, RunError> {
    let options = options.settled(folder)?;
    let (layer, ranks) = (options.layer, options.ranks.clone());
    let path = folder.join(SCENE);
    if !layer.exists(&path).map_err(disk(&path, "look at it"))? {
        return Err(RunError::NotARun { folder: folder.to_owned() });
    }
    let owned = options.writes().then(|| folder::own(layer, folder)).transpose()?;
    // Who looks at checkpoints may have to finish one.
    let newest = || checkpoint::newest_valid(layer, &folder.join(CHECKPOINTS)).map_err(RunError::from);
    let (from, header, state) = first_alone(ranks.as_ref(), newest)?;
    compare(ranks.as_ref(), "the checkpoint", || checkpoint::digest(&state))?;
    let often = [CHECKPOINTS, folder::FIELDS, folder::CONTACTS, folder::COARSE].map(|inside| folder.join(inside));
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
    let moved = Moved::new(options.moved.clone(), &first, folder);
    let loaded = seixo_scene::load_text_from(&text, &path, overrides, &|path| moved.place(path));
    let mut scene = loaded.map_err(|found| moved.missing(folder).unwrap_or(RunError::Scene(found)))?;
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
        return Err(RunError::Passed {
            folder: folder.to_owned(),
            until: scene.run.until,
            reached: header.time,
        });
    }
    let Some(course) = Course::restore(&scene.plan, time_step, &state, header.steps) else {
        return Err(RunError::OtherScene { folder: folder.to_owned() });
    };
    let bounds = bounds(&scene);
    let simulation = Simulation::restore_changed(world_of(&mut scene), scene.settings.clone(), &state, &course.past());
    let mut simulation = simulation.map_err(|refusal| RunError::refused(refusal, &scene.source))?;

    refuse_endless(&scene, &simulation)?;
    let mut record = Record::new(&mut simulation, &scene.title, &scene_hash, scene.run.until);
    record.folder = Some(first);
    if let Some(before) = before {
        record.wall_time = before.wall_time;
        record.particle_steps = before.particle_steps;
        record.take_stages(before.stages, &course);
    }
    let mut outputs = Outputs::open((layer, folder), &scene, bounds, record.time_step.value, &marks)?;
    outputs.restore(&state, &simulation);
    let place = (layer, folder);
    let exchange = Exchange::open(place, &course, scene.output.energies_every, time_step, (&marks, header.steps))?;
    let breaks = Breaks::open(place, &scene.world.bonds, &marks)?;
    let resumed = Event::Resumed {
        checkpoint: from,
        time: simulation.time(),
        steps: simulation.steps(),
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        until: scene.run.until,
        notices: [simulation.notices(), folder::taken_over(owned.as_ref()).as_slice()].concat(),
    };
    let log = Log::resume(layer, folder)?;
    let books = Books {
        owned,
        outputs,
        exchange,
        breaks,
        log,
        record,
    };
    Driver::new(folder, (&scene, bounds), (simulation, course), books, options).drive(&resumed)
}

fn refuse_endless(scene: &Scene, simulation: &Simulation) -> Result<(), RunError> {
    let endless = scene.source.endless(scene.run.until, simulation.time_step().value);
    endless.map_or(Ok(()), |found| Err(RunError::Scene(found)))
}

/// The scene's world, with its grains: a million of them are not kept twice.
fn world_of(scene: &mut Scene) -> World {
    let grains = std::mem::take(&mut scene.world.grains);
    World {
        grains,
        ..scene.world.clone()
    }
}
