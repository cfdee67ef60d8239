//! All outputs at given simulated times.

use super::checkpoint_job::{CheckpointJob, StoredCheckpoint};
use super::error::Halt;
use super::folder::ENERGIES;
use super::fragments::of_bonded;
use super::frame_files::FrameGrains;
use super::frames::{Corners, Frames};
use super::probes::ProbeLog;
use super::schedule::Schedule;
use super::surfaces::Surfaces;
use super::write_times::{CheckpointsRecord, FramesRecord};
use seixo_analysis::{Fragments, RigidMotion};
use seixo_engine::state::{
    FluidSample, FluidSnapshot, GrainColumns, GrainScalar, GrainSnapshot, Ledger, ScalarLedger, Sections, State, WallSnapshot,
};
use seixo_engine::{BodySnapshot, BondSnapshot, ContactRecord, FluidSampler, PendingGrains, PeriodicCell, PolyhedronSnapshot, Simulation};
use seixo_files::FilesError;
use seixo_files::layer::FileLayer;
use seixo_files::owner::Ownership;
use seixo_files::table::{Mark, Table};
use seixo_scene::{Carrier, Scene};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread::Scope;

/// Written length of each table, by its path in the run folder.
pub(super) type Marks = BTreeMap<String, Mark>;

/// What the outputs that are due at one step read of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Anything.
    Everything,
    /// The energy ledger.
    Ledger,
    /// The energy ledger, and these columns of grains, for which the thread that writes frames can wait.
    Grains(GrainColumns),
}

/// What was taken from a simulation before it goes on.
#[derive(Default)]
pub(super) struct Taken {
    /// Contacts, if an output that is due has requested them.
    pub contacts: Vec<ContactRecord>,
    /// Grains that are on their way, if no more is needed of them.
    pub grains: Option<PendingGrains>,
    /// Wall time that this took \[s\].
    pub seconds: f64,
}

/// Data that outputs read from a simulation at one step, each computed at most once.
pub(super) struct Sample<'a> {
    simulation: &'a Simulation,
    contacts: Vec<ContactRecord>,
    coming: Option<PendingGrains>,
    grains: OnceCell<GrainSnapshot>,
    fluid: OnceCell<FluidSnapshot>,
    look: OnceCell<FluidSampler<'a>>,
    bonds: OnceCell<Vec<BondSnapshot>>,
    walls: OnceCell<Vec<WallSnapshot>>,
    bodies: OnceCell<Vec<BodySnapshot>>,
    loads_on_bodies: OnceCell<[Vec<[[f64; 3]; 2]>; 2]>,
    ledger: OnceCell<Ledger>,
}

impl<'a> Sample<'a> {
    pub fn of(simulation: &'a Simulation, contacts: Vec<ContactRecord>, coming: Option<PendingGrains>) -> Sample<'a> {
        Sample {
            simulation,
            contacts,
            coming,
            grains: OnceCell::new(),
            fluid: OnceCell::new(),
            look: OnceCell::new(),
            bonds: OnceCell::new(),
            walls: OnceCell::new(),
            bodies: OnceCell::new(),
            loads_on_bodies: OnceCell::new(),
            ledger: OnceCell::new(),
        }
    }
    pub fn time(&self) -> f64 {
        self.simulation.time()
    }
    pub fn steps(&self) -> u64 {
        self.simulation.steps()
    }
    pub fn gravity(&self) -> [f64; 3] {
        self.simulation.gravity()
    }
    /// The periodic cell.
    pub fn cell(&self) -> PeriodicCell {
        self.simulation.cell()
    }
    pub fn grains(&self) -> &GrainSnapshot {
        self.grains.get_or_init(|| self.simulation.snapshot())
    }
    /// Rigid bodies.
    pub fn bodies(&self) -> &[BodySnapshot] {
        self.bodies.get_or_init(|| self.simulation.bodies())
    }
    /// Polyhedral grains.
    pub fn polyhedra(&self) -> Vec<PolyhedronSnapshot> {
        self.simulation.polyhedra()
    }
    /// Force \[N\] and torque about the center of mass \[N m\] on each rigid body: by its grains, and by fluids.
    pub fn loads_on_bodies(&self) -> &[Vec<[[f64; 3]; 2]>; 2] {
        let loads = || {
            [
                self.simulation.loads_of_grains_on_bodies(),
                self.simulation.loads_of_fluids_on_bodies(),
            ]
        };
        self.loads_on_bodies.get_or_init(loads)
    }
    /// Returns the motion of a wall or a body since the start; `None` once the body has left.
    pub fn motion_of(&self, carrier: &Carrier) -> Option<RigidMotion> {
        match carrier {
            Carrier::Wall(wall) => {
                let (origin, rotation) = self.simulation.motion_of_wall(*wall);
                Some(RigidMotion::new(origin, rotation))
            }
            Carrier::Body { id, center, orientation } => {
                let body = self.bodies().iter().find(|body| body.id == *id)?;
                Some(RigidMotion::between((*center, *orientation), (body.center, body.orientation)))
            }
        }
    }
    /// Fluid particles; empty without fluids.
    pub fn fluid(&self) -> &FluidSnapshot {
        self.fluid.get_or_init(|| self.simulation.fluid().unwrap_or_default())
    }
    /// Returns the state of the fluids at these points \[m\].
    pub fn sample_fluid(&self, points: &[[f64; 3]]) -> Vec<FluidSample> {
        let look = self.look.get_or_init(|| self.simulation.sample_fluids());
        points.iter().map(|point| look.at(point)).collect()
    }
    /// Contacts, if an output that is due has requested them.
    pub fn contacts(&self) -> &[ContactRecord] {
        &self.contacts
    }
    /// Intact bonds.
    pub fn bonds(&self) -> &[BondSnapshot] {
        self.bonds.get_or_init(|| self.simulation.bonds_now())
    }
    /// Fragments of all grains that are, or were, bonded.
    pub fn fragments(&self) -> Fragments {
        of_bonded(self.simulation, self.grains(), self.bonds())
    }
    pub fn bonds_made_and_holding(&self) -> [usize; 2] {
        self.simulation.bond_counts()
    }
    pub fn walls(&self) -> &[WallSnapshot] {
        self.walls.get_or_init(|| self.simulation.walls())
    }
    /// Ledger of a scalar that grains carry; zero if they do not.
    pub fn scalar_ledger(&self, scalar: GrainScalar) -> ScalarLedger {
        self.simulation.scalar_ledger(scalar).unwrap_or_default()
    }
    /// Heat flow \[W\] and supplied heat \[J\] of each wall.
    pub fn heat_of_walls(&self) -> Vec<[f64; 2]> {
        self.simulation.heat_of_walls()
    }
    pub fn ledger(&self) -> &Ledger {
        self.ledger.get_or_init(|| self.simulation.ledger())
    }

    // Parts that the last output which needs them takes without a copy.
    /// Grains with at least these columns. Nothing is read after them: whether they are on their way decides how the other parts are read.
    pub fn into_grains(self, columns: GrainColumns) -> FrameGrains {
        if let Some(coming) = self.coming {
            return FrameGrains::Coming(coming);
        }
        let here = self.grains.into_inner();
        FrameGrains::Here(here.unwrap_or_else(|| self.simulation.snapshot_with(columns)))
    }
    pub fn take_bodies(&mut self) -> Vec<BodySnapshot> {
        self.bodies.take().unwrap_or_else(|| self.simulation.bodies())
    }
    pub fn take_fluid(&mut self) -> FluidSnapshot {
        self.fluid.take().unwrap_or_else(|| self.simulation.fluid().unwrap_or_default())
    }
    pub fn take_bonds(&mut self) -> Vec<BondSnapshot> {
        self.bonds.take().unwrap_or_else(|| self.simulation.bonds_now())
    }
    /// Walls as frames show them. They have no loads while grains are on their way: these would come with the grains.
    pub fn take_walls(&mut self) -> Vec<WallSnapshot> {
        let walls = || {
            if self.coming.is_some() {
                self.simulation.walls_now()
            } else {
                self.simulation.walls()
            }
        };
        self.walls.take().unwrap_or_else(walls)
    }
    pub fn take_contacts(&mut self) -> Vec<ContactRecord> {
        std::mem::take(&mut self.contacts)
    }
}

/// Opens a new table over time, or one that continues from a mark.
pub(super) fn table(layer: &dyn FileLayer, path: &Path, columns: &[&str], mark: Option<&Mark>) -> Result<Table, FilesError> {
    match mark {
        Some(mark) => Table::resume(layer, path, mark),
        None => Table::create(layer, path, &[&["time [s]"], columns].concat()),
    }
}

/// Frames, energies and probes of a run; of a session, only probes.
pub(super) struct Outputs {
    files: Option<Files>,
    probes: Vec<ProbeLog>,
    /// Kinetic energy at the last line of the energy ledger \[J\].
    pub kinetic: f64,
}

/// Files that a run writes besides the tables of its probes.
struct Files {
    frames: Frames,
    energies: Table,
    energies_schedule: Schedule,
}

impl Outputs {
    /// Opens the outputs of a new run, or of a run that resumes from the marks of a checkpoint. This number of threads compresses its frames, once
    /// [`Outputs::start_frames`] has been called.
    pub fn open(
        (layer, folder): (&dyn FileLayer, &Path),
        scene: &Scene,
        bounds: Corners,
        (time_step, threads): (f64, usize),
        marks: &Marks,
    ) -> Result<Outputs, FilesError> {
        let probe = |probe| ProbeLog::open((layer, folder), probe, &scene.world, time_step, marks);
        let files = Files {
            frames: Frames::new((layer, folder), (scene, bounds), (time_step, threads))?,
            energies: table(layer, &folder.join(ENERGIES), &Ledger::NAMES, marks.get(ENERGIES))?,
            energies_schedule: Schedule::new(scene.output.energies_every, time_step),
        };
        Ok(Outputs {
            files: Some(files),
            probes: scene.probes.iter().map(probe).collect::<Result<_, _>>()?,
            kinetic: 0.0,
        })
    }

    /// Starts the thread that writes frames and checkpoints; it ends when these outputs are dropped. Of a folder that another process has taken it
    /// writes nothing.
    pub fn start_frames<'scope, 'env>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        layer: &'env dyn FileLayer,
        owned: Option<Arc<Ownership<'env>>>,
    ) {
        if let Some(files) = &self.files {
            files.frames.start(scope, layer, owned);
        }
    }

    /// Probes that keep their lines in memory, and no files.
    pub fn kept(scene: &Scene, time_step: f64) -> Outputs {
        let probe = |probe| ProbeLog::kept(probe, &scene.world, time_step);
        Outputs {
            files: None,
            probes: scene.probes.iter().map(probe).collect(),
            kinetic: 0.0,
        }
    }

    /// Returns the lines of a probe that are kept in memory, by its index in [`Scene::probes`].
    pub fn kept_lines(&self, probe: usize) -> &[Vec<f64>] {
        self.probes.get(probe).map_or(&[][..], ProbeLog::kept_lines)
    }

    /// Puts earlier lines of a probe before those that are kept in memory.
    pub fn keep_lines(&mut self, probe: usize, earlier: Vec<Vec<f64>>) {
        if let Some(probe) = self.probes.get_mut(probe) {
            probe.keep_lines(earlier);
        }
    }

    /// Continues after a checkpoint: all outputs up to its step are written already.
    pub fn restore(&mut self, state: &State, simulation: &Simulation) {
        self.schedules().for_each(|schedule| schedule.pass(simulation.steps()));
        self.kinetic = simulation.ledger().kinetic;
        let cell = simulation.cell();
        self.probes.iter_mut().for_each(|probe| probe.restore(state, &cell));
    }

    /// Adds the data that later outputs depend on to a checkpoint.
    pub fn save(&self, to: &mut dyn Sections) {
        self.probes.iter().for_each(|probe| probe.save(to));
    }

    /// Prepares for a stage that begins at this step, by its index.
    pub fn begin_stage(&mut self, stage: usize, step: u64) {
        self.probes.iter_mut().for_each(|probe| probe.begin_stage(stage, step));
    }

    /// Returns a warning about outputs that could not be written, if there are any.
    pub fn warning(&self) -> Option<String> {
        self.files.as_ref()?.frames.warning()
    }

    /// Returns the wall time for which the run waited until earlier frames were written \[s\].
    pub fn waited_for_frames(&self) -> f64 {
        self.files.as_ref().map_or(0.0, |files| files.frames.waited())
    }

    /// Fails if a frame or a checkpoint could not be written since the last call.
    pub fn check_written(&self) -> Result<(), Halt> {
        self.files.as_ref().map_or(Ok(()), |files| files.frames.check())
    }

    /// Returns the surfaces of bodies that were made from meshes and of polyhedral grains, if there are any.
    pub fn surfaces(&self) -> Option<Arc<Surfaces>> {
        self.files.as_ref()?.frames.surfaces()
    }

    /// Waits until all frames are written, and lists them.
    pub fn list_frames(&mut self, layer: &dyn FileLayer) -> Result<(), Halt> {
        self.files.as_mut().map_or(Ok(()), |files| files.frames.list(layer))
    }

    /// Lets a checkpoint be written beside the run, after the frames before it.
    pub fn put_checkpoint(&self, checkpoint: CheckpointJob) {
        if let Some(files) = &self.files {
            files.frames.put_checkpoint(checkpoint);
        }
    }

    /// Returns once no checkpoint is left to be written.
    ///
    /// # Errors
    /// If a frame or a checkpoint could not be written.
    pub fn wait_for_checkpoints(&mut self) -> Result<(), Halt> {
        self.files.as_mut().map_or(Ok(()), |files| files.frames.wait_for_checkpoints())
    }

    /// Returns the checkpoints that were stored since the last call.
    pub fn take_stored(&self) -> Vec<StoredCheckpoint> {
        self.files.as_ref().map(|files| files.frames.take_stored()).unwrap_or_default()
    }

    /// Waits until no checkpoint is left to be written, and returns the simulated time of the newest one \[s\]; `None` if there is none.
    pub fn newest_checkpoint(&self) -> Option<f64> {
        self.files.as_ref()?.frames.newest_checkpoint()
    }

    /// Returns what frames and checkpoints cost so far; the copies of checkpoints are not part of it.
    pub fn write_times(&self) -> (FramesRecord, CheckpointsRecord) {
        self.files.as_ref().map(|files| files.frames.times()).unwrap_or_default()
    }

    /// Returns the length of each table. Tables up to here survive a power cut, so that a checkpoint can rely on them.
    pub fn marks(&mut self, layer: &dyn FileLayer) -> Result<Marks, FilesError> {
        let mut marks = Marks::new();
        if let Some(files) = &mut self.files {
            marks.insert(ENERGIES.to_owned(), files.energies.mark()?);
        }
        for probe in &mut self.probes {
            probe.write_results(layer)?;
            if let Some(mark) = probe.mark()? {
                marks.insert(probe.place.clone(), mark);
            }
        }
        Ok(marks)
    }

    /// Returns the first step after this one at which an output is due.
    pub fn next_step_after(&mut self, step: u64) -> u64 {
        let written = self.schedules().map(|schedule| schedule.step_after(step)).min();
        let looked_at = self.probes.iter().map(|probe| probe.next_check).filter(|&look| look > step).min();
        written.into_iter().chain(looked_at).min().unwrap_or(u64::MAX)
    }

    /// Whether an output is due at this step.
    pub fn is_due(&mut self, step: u64) -> bool {
        let writes = self.schedules().any(|schedule| schedule.is_due(step));
        writes || self.probes.iter().any(|probe| probe.is_looked_at(step))
    }

    /// Whether an output is due at this step that needs single contacts, which take time to compute.
    pub fn needs_contacts(&mut self, step: u64) -> bool {
        let mut probes = self.probes.iter();
        let mut frames = self.files.iter_mut().map(|files| &mut files.frames);
        frames.any(|frames| frames.needs_contacts() && frames.schedule().is_due(step))
            || probes.any(|probe| probe.needs_contacts() && probe.is_measured(step))
    }

    /// Returns what the outputs that are due at this step read.
    pub fn needs(&mut self, step: u64) -> Needs {
        if self
            .probes
            .iter_mut()
            .any(|probe| probe.is_measured(step) || probe.is_looked_at(step))
        {
            return Needs::Everything;
        }
        if let Some(files) = &mut self.files
            && files.frames.schedule().is_due(step)
        {
            return files.frames.grains_alone().map_or(Needs::Everything, Needs::Grains);
        }
        Needs::Ledger
    }

    /// Returns once another frame has room.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn wait_for_room(&mut self) -> Result<(), Halt> {
        self.files.as_mut().map_or(Ok(()), |files| files.frames.wait_for_room())
    }

    /// Writes the outputs that are due now, frames beside the run; `hear` gets the index and the line of each probe.
    pub fn write_due(&mut self, simulation: &Simulation, taken: Taken, mut hear: impl FnMut(usize, &[f64])) -> Result<(), Halt> {
        let steps = simulation.steps();
        let sample = Sample::of(simulation, taken.contacts, taken.grains);
        for (index, probe) in self.probes.iter_mut().enumerate() {
            if probe.is_measured(steps) {
                if let Some(line) = probe.measure(&sample)? {
                    hear(index, &line);
                }
            } else if probe.is_looked_at(steps) {
                probe.look(&sample);
            }
        }
        if let Some(files) = &mut self.files {
            if files.energies_schedule.is_due(steps) {
                let ledger = sample.ledger();
                let row: Vec<f64> = [sample.time()].into_iter().chain(ledger.values()).collect();
                files.energies.row(&row)?;
                self.kinetic = ledger.kinetic;
            }
            if files.frames.schedule().is_due(steps) {
                files.frames.write(sample, taken.seconds)?;
            }
        }
        self.schedules().for_each(|schedule| schedule.pass(steps));
        Ok(())
    }

    fn schedules(&mut self) -> impl Iterator<Item = &mut Schedule> {
        let probes = self.probes.iter_mut().flat_map(ProbeLog::schedules);
        let files = self.files.iter_mut();
        files
            .flat_map(|files| [files.frames.schedule(), &mut files.energies_schedule])
            .chain(probes)
    }
}
