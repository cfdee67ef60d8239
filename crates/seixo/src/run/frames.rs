//! Frames: the grains and walls at a time as `.vtp`, and the `.pvd` that lists them.

use super::folder::{FIELDS, disk};
use super::outputs::Sample;
use super::schedule::Schedule;
use seixo_engine::state::WallSnapshot;
use seixo_engine::world::World;
use seixo_files::FilesError;
use seixo_files::layer::{FileLayer, replace};
use seixo_files::vtk::{self, Field};
use std::path::{Path, PathBuf};
use std::time::Instant;

type Corners = [[f64; 3]; 2];

/// Wall time between two lists of the frames, unless a checkpoint is written \[s\].
const LIST_EVERY: f64 = 1.0;

/// The frames of a run: each written whole, and listed once it would survive a power cut.
pub(super) struct Frames {
    folder: PathBuf,
    fields: Vec<Field>,
    time_step: f64,
    bounds: Corners,
    has_walls: bool,
    schedule: Schedule,
    unlisted: Vec<PathBuf>,
    listed_at: Option<Instant>,
}

impl Frames {
    /// Frames of a world into a run folder, all still to be written.
    pub fn new(folder: &Path, world: &World, fields: Vec<Field>, every: f64, time_step: f64) -> Frames {
        Frames {
            folder: folder.join(FIELDS),
            fields,
            time_step,
            bounds: bounds(world),
            has_walls: !world.walls.is_empty(),
            schedule: Schedule::new(every, time_step),
            unlisted: Vec::new(),
            listed_at: None,
        }
    }

    /// When frames are due.
    pub fn schedule(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    /// Writes the next frame and, now and then, the list.
    pub fn write(&mut self, layer: &dyn FileLayer, sample: &Sample) -> Result<(), FilesError> {
        let index = self.schedule.next();
        self.put(
            layer,
            &name("grains", index),
            &vtk::grains(sample.grains(), &self.fields, sample.time()),
        )?;
        if self.has_walls {
            let walls = sample.walls();
            self.put(
                layer,
                &name("walls", index),
                &vtk::walls(walls, Some(within_planes(self.bounds, walls)), sample.time()),
            )?;
        }
        self.schedule.pass(sample.steps());
        if self.listed_at.is_none_or(|listed| listed.elapsed().as_secs_f64() >= LIST_EVERY) {
            self.list(layer)?;
        }
        Ok(())
    }

    /// Puts a file in its place without waiting for the disk: a kill leaves it whole, a power cut may not.
    fn put(&mut self, layer: &dyn FileLayer, name: &str, bytes: &[u8]) -> Result<(), FilesError> {
        let path = self.folder.join(name);
        let temporary = self.folder.join(format!("{name}.tmp"));
        let written = layer.create(&temporary).and_then(|mut file| file.write_all(bytes));
        let moved = written.and_then(|()| layer.rename(&temporary, &path));
        if moved.is_err() {
            // The first error is the one worth telling, and a leftover is swept up on resume.
            let _ = layer.remove(&temporary);
        }
        moved.map_err(disk(&path, "write it"))?;
        self.unlisted.push(path);
        Ok(())
    }

    /// Waits until the disk holds all frames, then lists them.
    pub fn list(&mut self, layer: &dyn FileLayer) -> Result<(), FilesError> {
        if self.unlisted.is_empty() {
            return Ok(());
        }
        for path in self.unlisted.drain(..) {
            layer
                .append(&path)
                .and_then(|mut file| file.sync())
                .map_err(disk(&path, "sync it"))?;
        }
        layer.sync_dir(&self.folder).map_err(disk(&self.folder, "sync it"))?;
        for kind in ["grains", "walls"].into_iter().take(1 + usize::from(self.has_walls)) {
            let time = |event: u64| self.schedule.step_of(event) as f64 * self.time_step;
            let frames: Vec<_> = (0..self.schedule.next()).map(|event| (time(event), name(kind, event))).collect();
            let path = self.folder.join(format!("{kind}.pvd"));
            replace(layer, &path, vtk::collection(&frames).as_bytes()).map_err(disk(&path, "write it"))?;
        }
        self.listed_at = Some(Instant::now());
        Ok(())
    }
}

fn name(kind: &str, index: u64) -> String {
    format!("{kind}_{index:06}.vtp")
}

/// The box in which planes are drawn: the domain, or what the scene starts with and half as much around it.
fn bounds(world: &World) -> Corners {
    if let Some(domain) = &world.domain {
        return [domain.min, domain.max];
    }
    let grains = world
        .grains
        .position
        .iter()
        .zip(&world.grains.radius)
        .map(|(&center, &radius)| (center, radius));
    let shown: Vec<_> = world.walls.iter().map(|wall| wall.shape.triangles()).collect();
    let corners = shown.iter().flat_map(|triangles| triangles.as_flattened());
    let corners = corners.map(|&corner| (corner, 0.0));
    let [mut low, mut high] = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for (center, radius) in grains.chain(corners) {
        for axis in 0..3 {
            low[axis] = f64::min(low[axis], center[axis] - radius);
            high[axis] = f64::max(high[axis], center[axis] + radius);
        }
    }
    let margin = 0.5 * (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
    [low.map(|x| x - margin), high.map(|x| x + margin)]
}

/// The part of the box on the inner side of all planes that face along an axis, so that the faces of a box end at its edges.
fn within_planes([mut low, mut high]: Corners, walls: &[WallSnapshot]) -> Corners {
    for (point, normal) in walls.iter().filter_map(|wall| wall.plane) {
        for axis in 0..3 {
            if normal[axis] == 1.0 {
                low[axis] = low[axis].max(point[axis]);
            } else if normal[axis] == -1.0 {
                high[axis] = high[axis].min(point[axis]);
            }
        }
    }
    [low, high]
}
