//! Frames of a run: what they show is copied or requested from GPUs, and written by a thread beside the run. The same thread writes the checkpoints.

use super::checkpoint_job::{CheckpointJob, StoredCheckpoint};
use super::error::Halt;
use super::frame_files::{FrameData, FrameFiles, FrameGrains};
use super::outputs::Sample;
use super::schedule::Schedule;
use super::surfaces::Surfaces;
use super::write_queue::WriteQueue;
use super::write_times::{CheckpointsRecord, FramesRecord};
use seixo_engine::state::{GrainColumns, GrainSnapshot, WallSnapshot};
use seixo_engine::world::World;
use seixo_files::FilesError;
use seixo_files::layer::FileLayer;
use seixo_files::owner::Ownership;
use seixo_files::vtk::{Field, Format};
use seixo_scene::{Inlet, Scene};
use std::path::Path;
use std::sync::Arc;
use std::thread::Scope;
use std::time::Instant;

/// Lower and upper corner \[m\].
pub type Corners = [[f64; 3]; 2];

/// Parts of a frame that are taken from a simulation.
#[derive(Clone, Copy)]
struct Parts {
    grains: bool,
    bodies: bool,
    polyhedra: bool,
    fluid: bool,
    walls: bool,
    bonds: bool,
    contacts: bool,
}

/// Frames of a run.
pub(super) struct Frames {
    schedule: Schedule,
    parts: Parts,
    /// Columns of grains that are written, or from which something is computed before.
    columns: GrainColumns,
    surfaces: Option<Arc<Surfaces>>,
    queue: WriteQueue,
    /// Wall time for which the run stood still to copy what frames show \[s\].
    copied: f64,
    /// The part of it for the first frame, once that is taken \[s\].
    first_copied: Option<f64>,
}

/// Whether a world has grains, or will have some.
pub(super) fn has_grains(world: &World) -> bool {
    // The simulation has taken the grains by now, but groups stay as long as a scene has any grains, or will have.
    !world.groups.is_empty() || world.fluids.is_none()
}

impl Frames {
    /// Creates the frames of a scene with these [`bounds`], which this number of threads compresses.
    pub fn new(
        (layer, run): (&dyn FileLayer, &Path),
        (scene, bounds): (&Scene, Corners),
        (time_step, threads): (f64, usize),
    ) -> Result<Frames, FilesError> {
        let (world, plan) = (&scene.world, &scene.output);
        let schedule = Schedule::new(plan.every, time_step);
        let format = Format {
            encoding: plan.encoding,
            threads,
        };
        let files = FrameFiles::new((layer, run), (scene, bounds), (schedule, time_step), format)?;
        let has = |field: Field| plan.fields.contains(&field);
        let has_records = plan.contacts || plan.coarse.is_some();
        Ok(Frames {
            schedule,
            columns: if has_records || has(Field::Pressure) || has(Field::Fragment) {
                GrainColumns::ALL
            } else {
                shown_columns(&plan.fields)
            },
            parts: Parts {
                grains: has_grains(world) || has_records,
                bodies: files.surfaces().is_some_and(|surfaces| surfaces.has_bodies()),
                polyhedra: files.surfaces().is_some_and(|surfaces| surfaces.has_polyhedra()),
                fluid: world.fluids.is_some(),
                walls: !world.walls.is_empty(),
                bonds: !world.bonds.is_empty() || has_records || has(Field::Pressure) || has(Field::Fragment),
                contacts: has_records || has(Field::Pressure),
            },
            surfaces: files.surfaces(),
            queue: WriteQueue::new(files),
            copied: 0.0,
            first_copied: None,
        })
    }

    /// Starts the thread that writes the frames, and ends when these are dropped. Of a folder that another process has taken it writes nothing.
    pub fn start<'scope, 'env>(&self, scope: &'scope Scope<'scope, 'env>, layer: &'env dyn FileLayer, owned: Option<Arc<Ownership<'env>>>) {
        self.queue.start(scope, layer, owned);
    }

    /// Returns the schedule of the frames.
    pub fn schedule(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    /// Returns the surfaces of bodies that were made from meshes and of polyhedral grains, if there are any.
    pub fn surfaces(&self) -> Option<Arc<Surfaces>> {
        self.surfaces.clone()
    }

    /// Whether a frame needs single contacts.
    pub fn needs_contacts(&self) -> bool {
        self.parts.contacts
    }

    /// Returns the columns of grains that a frame shows, if it shows nothing else but walls.
    pub fn grains_alone(&self) -> Option<GrainColumns> {
        let Parts {
            grains,
            bodies,
            polyhedra,
            fluid,
            walls: _,
            bonds,
            contacts,
        } = self.parts;
        (grains && !(bodies || polyhedra || fluid || bonds || contacts)).then_some(self.columns)
    }

    /// Returns once another frame has room.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn wait_for_room(&mut self) -> Result<(), Halt> {
        self.queue.wait_for_room()
    }

    /// Takes the next frame from a sample and lets it be written; waits first if earlier ones are not written yet. `fetched` is the wall time that its
    /// data took until now \[s\].
    ///
    /// # Errors
    /// If an earlier frame could not be written.
    pub fn write(&mut self, mut sample: Sample, fetched: f64) -> Result<(), Halt> {
        // Before the copies are made: those of two frames need memory enough.
        self.queue.wait_for_room()?;
        let clock = Instant::now();
        let (parts, steps) = (self.parts, sample.steps());
        let mut frame = FrameData {
            index: self.schedule.next(),
            time: sample.time(),
            ..FrameData::default()
        };
        if parts.bodies {
            frame.bodies = sample.take_bodies();
        }
        if parts.polyhedra {
            frame.polyhedra = sample.polyhedra();
        }
        if parts.fluid {
            frame.fluid = sample.take_fluid();
        }
        if parts.walls {
            frame.walls = sample.take_walls();
        }
        if parts.bonds {
            frame.bonds = sample.take_bonds();
        }
        if parts.contacts {
            frame.contacts = sample.take_contacts();
        }
        if parts.grains {
            frame.grains = sample.into_grains(self.columns);
            if let FrameGrains::Here(grains) = &mut frame.grains {
                // A probe may have read more of them.
                leave_out_unshown(grains, self.columns);
            }
        }
        self.queue.put_frame(frame);
        let copied = fetched + clock.elapsed().as_secs_f64();
        self.first_copied = self.first_copied.or(Some(copied));
        self.copied += copied;
        self.schedule.pass(steps);
        Ok(())
    }

    /// Fails if a frame or a checkpoint could not be written; the error is returned once.
    pub fn check(&self) -> Result<(), Halt> {
        self.queue.check()
    }

    /// Returns a warning about frames without a surface although there is fluid, if there are any.
    pub fn warning(&self) -> Option<String> {
        self.queue.warning()
    }

    /// Returns the wall time for which the run waited until earlier frames were written \[s\].
    pub fn waited(&self) -> f64 {
        self.queue.waited_for_room()
    }

    /// Adds a checkpoint, which is written after the frames before it.
    pub fn put_checkpoint(&self, checkpoint: CheckpointJob) {
        self.queue.put_checkpoint(checkpoint);
    }

    /// Returns once no checkpoint is left to be written.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn wait_for_checkpoints(&mut self) -> Result<(), Halt> {
        self.queue.wait_for_checkpoints()
    }

    /// Returns the checkpoints that were stored since the last call.
    pub fn take_stored(&self) -> Vec<StoredCheckpoint> {
        self.queue.take_stored()
    }

    /// Waits until no checkpoint is left to be written, and returns the simulated time of the newest one \[s\]; `None` if there is none.
    pub fn newest_checkpoint(&self) -> Option<f64> {
        self.queue.newest_checkpoint()
    }

    /// Returns what frames and checkpoints cost so far; the copies of checkpoints are not part of it.
    pub fn times(&self) -> (FramesRecord, CheckpointsRecord) {
        let (frames, checkpoints) = self.queue.times();
        let frames = FramesRecord {
            copying: self.copied,
            first_copying: self.first_copied.unwrap_or_default(),
            ..frames
        };
        (frames, checkpoints)
    }

    /// Waits until all frames are written and the disk has them, then lists them.
    ///
    /// # Errors
    /// If one could not be written; those before it are listed.
    pub fn list(&mut self, layer: &dyn FileLayer) -> Result<(), Halt> {
        self.queue.list(layer)
    }
}

/// Returns the columns of grains that a file with these fields has.
fn shown_columns(fields: &[Field]) -> GrainColumns {
    let is_shown = |field: Field| fields.contains(&field);
    GrainColumns {
        velocity: is_shown(Field::Velocity),
        angular_velocity: is_shown(Field::AngularVelocity),
        force: is_shown(Field::Force),
        torque: is_shown(Field::Torque),
        body: is_shown(Field::Body),
        mass: is_shown(Field::Mass),
        volume: is_shown(Field::Volume),
        // Orientations are those of the shapes as they were drawn.
        shape: is_shown(Field::Orientation),
        material: is_shown(Field::Material),
        group: is_shown(Field::Group),
        coordination: is_shown(Field::Coordination),
        orientation: is_shown(Field::Orientation),
    }
}

/// Frees the memory of all other columns.
fn leave_out_unshown(grains: &mut GrainSnapshot, columns: GrainColumns) {
    let vectors = [
        (columns.velocity, &mut grains.velocity),
        (columns.angular_velocity, &mut grains.angular_velocity),
        (columns.force, &mut grains.force),
        (columns.torque, &mut grains.torque),
    ];
    vectors
        .into_iter()
        .filter(|(is_shown, _)| !is_shown)
        .for_each(|(_, values)| *values = Vec::new());
    let numbers = [
        (columns.material, &mut grains.material),
        (columns.group, &mut grains.group),
        (columns.coordination, &mut grains.coordination),
    ];
    numbers
        .into_iter()
        .filter(|(is_shown, _)| !is_shown)
        .for_each(|(_, values)| *values = Vec::new());
    if !columns.mass {
        grains.mass = Vec::new();
    }
    if !columns.volume {
        grains.volume = Vec::new();
    }
    if !columns.shape {
        grains.shape = Vec::new();
    }
    if !columns.body {
        grains.body = Vec::new();
    }
    if !columns.orientation {
        grains.orientation = Vec::new();
    }
}

/// Returns the box in which planes are drawn: the domain, or else the initial objects and the inlets, with a margin of half that size.
pub fn bounds(scene: &Scene) -> Corners {
    let world = &scene.world;
    if let Some(domain) = &world.domain {
        return [domain.min, domain.max];
    }
    let grains = world
        .grains
        .position
        .iter()
        .zip(&world.grains.radius)
        .map(|(&center, &radius)| (center, radius));
    let fluids = world.fluids.iter().flat_map(|fluids| {
        let places = fluids.particles.position.iter();
        let coming = fluids.inlets.iter().flat_map(|inlet| &inlet.sites);
        places.chain(coming).map(move |&place| (place, 0.5 * fluids.spacing))
    });
    let shown: Vec<_> = world.walls.iter().map(|wall| wall.shape.triangles()).collect();
    let corners = shown.iter().flat_map(|triangles| triangles.as_flattened());
    let inlets = scene.plan.inlets.iter().flat_map(Inlet::bounds);
    let corners = corners.copied().chain(inlets).map(|corner| (corner, 0.0));
    let [mut low, mut high] = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for (center, radius) in grains.chain(fluids).chain(corners) {
        for axis in 0..3 {
            low[axis] = f64::min(low[axis], center[axis] - radius);
            high[axis] = f64::max(high[axis], center[axis] + radius);
        }
    }
    if low[0] > high[0] {
        // Nothing in the world has a position.
        return [[-0.5; 3], [0.5; 3]];
    }
    let margin = 0.5 * (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
    [low.map(|x| x - margin), high.map(|x| x + margin)]
}

/// Clips the box by all planes normal to an axis, so that the faces of a box end at its edges.
pub(super) fn within_planes([mut low, mut high]: Corners, walls: &[WallSnapshot]) -> Corners {
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

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_files::vtk::grains;

    #[test]
    fn what_no_file_shows_is_left_out_and_files_stay_the_same() {
        let all = GrainSnapshot {
            id: vec![3],
            position: vec![[1.0, 2.0, 3.0]],
            velocity: vec![[4.0, 5.0, 6.0]],
            angular_velocity: vec![[7.0, 8.0, 9.0]],
            force: vec![[1.5; 3]],
            torque: vec![[2.5; 3]],
            radius: vec![0.5],
            body: vec![-1],
            mass: vec![2.0],
            volume: vec![0.3],
            material: vec![1],
            group: vec![2],
            coordination: vec![4],
            orientation: vec![[1.0, 0.0, 0.0, 0.0]],
            ..GrainSnapshot::default()
        };
        for (field, _) in Field::all() {
            if matches!(field, Field::Pressure | Field::Fragment | Field::Scalar(_)) {
                continue;
            }
            let mut kept = all.clone();
            leave_out_unshown(&mut kept, shown_columns(&[field]));
            assert!(grains(&kept, &[field], 0.0) == grains(&all, &[field], 0.0), "{field}");
        }
        let mut kept = all;
        leave_out_unshown(&mut kept, shown_columns(&[Field::Mass]));
        assert!(kept.velocity.is_empty() && kept.torque.is_empty() && kept.group.is_empty() && kept.orientation.is_empty());
        assert_eq!((kept.mass, kept.body), (vec![2.0], vec![]));
    }
}
