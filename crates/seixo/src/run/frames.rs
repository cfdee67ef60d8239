//! Frames: the grains and walls at a time as `.vtp`, and the `.pvd` that lists them.

use super::folder::{FIELDS, disk};
use super::outputs::Sample;
use super::schedule::Schedule;
use seixo_engine::state::WallSnapshot;
use seixo_engine::world::{WallShape, World};
use seixo_files::FilesError;
use seixo_files::layer::{FileLayer, replace};
use seixo_files::vtk::{self, Field};
use std::path::{Path, PathBuf};

type Corners = [[f64; 3]; 2];

/// The frames of a run.
pub(super) struct Frames {
    folder: PathBuf,
    fields: Vec<Field>,
    time_step: f64,
    bounds: Corners,
    pub schedule: Schedule,
}

impl Frames {
    /// Frames of a world into a run folder, all still to be written.
    pub fn new(folder: &Path, world: &World, fields: Vec<Field>, every: f64, time_step: f64) -> Frames {
        let schedule = Schedule::new(every, time_step);
        Frames {
            folder: folder.join(FIELDS),
            fields,
            time_step,
            bounds: bounds(world),
            schedule,
        }
    }

    /// Writes the next frame, each file whole or not at all, then lists it.
    pub fn write(&mut self, layer: &dyn FileLayer, sample: &Sample) -> Result<(), FilesError> {
        let put = |name: &str, bytes: &[u8]| {
            let path = self.folder.join(name);
            replace(layer, &path, bytes).map_err(disk(&path, "write it"))
        };
        let index = self.schedule.next();
        let list = |kind: &str| {
            let time = |event: u64| self.schedule.step_of(event) as f64 * self.time_step;
            vtk::collection(&(0..=index).map(|event| (time(event), name(kind, event))).collect::<Vec<_>>())
        };
        put(&name("grains", index), &vtk::grains(sample.grains(), &self.fields, sample.time()))?;
        let walls = sample.walls();
        if !walls.is_empty() {
            put(
                &name("walls", index),
                &vtk::walls(walls, Some(within_planes(self.bounds, walls)), sample.time()),
            )?;
            put("walls.pvd", list("walls").as_bytes())?;
        }
        put("grains.pvd", list("grains").as_bytes())
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
    let corners = world.walls.iter().filter_map(|wall| {
        if let WallShape::Mesh(triangles) = &wall.shape {
            Some(triangles)
        } else {
            None
        }
    });
    let corners = corners.flatten().flatten().map(|&corner| (corner, 0.0));
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
