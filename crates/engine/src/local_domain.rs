//! One domain with its backend: a whole world, or a part of it that exchanges data with others.

use crate::backend::{Backend, Observed};
use crate::checkpoint::padded;
use crate::events::{OverlapCheck, stopped};
use crate::exchange::HaltReason;
use crate::fields::{Fields, computed, one_each};
use crate::gpu::{GpuBackend, GpuGrains, PairHistories};
use crate::guard::{StepError, StepErrorCause};
use crate::pending_grains::PendingSpheres;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::search::Pairs;
use crate::state::{Column, GrainColumns, Ledger, Sections, State};
use crate::world::Precision;
use seixo_device::gpu::{Gpu, GpuError};
use seixo_device::{Cpu, Strided};
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::layout::{EXTENDED_HISTORY_STRIDE, history_stride};
use seixo_sweeps::motion::{AT_REST, MotionReport, TOO_CONDUCTIVE, TOO_DEEP};

mod fluids;
mod heterogeneous;
mod one_gpu;
mod queued_steps;
mod repeated_steps;
mod split;

use one_gpu::OneGpu;
pub(crate) use one_gpu::fatal_for_fluids;
pub(crate) use queued_steps::{GpuExecutor, advance_on_gpu, compute_present_forces, queue_batch};

/// One domain with its backend.
pub(crate) struct LocalDomain {
    pub populations: Populations,
    pub backend: Backend,
}

/// Ids of pairs, and the histories of their first and of their second grains.
type ListedHistories = (Vec<u32>, [Vec<f64>; 2]);

/// What a change between two steps compares with.
pub(crate) struct BeforeChange {
    energies: Ledger,
    left_domain: f64,
    wall_work: f64,
    contacts: State,
}

impl LocalDomain {
    /// A domain that is computed on the CPU.
    pub(crate) fn new(populations: Populations) -> LocalDomain {
        LocalDomain {
            populations,
            backend: Backend::default(),
        }
    }

    /// Uploads grains and fluids, if there are any, to the GPU that steps them.
    pub(crate) fn upload(&mut self) -> Result<(), WorldError> {
        let uploaded = self.upload_all();
        self.note_failed_upload(uploaded)
    }

    /// The result of an upload. If a GPU failed in it, no step can be taken any more.
    pub(crate) fn note_failed_upload(&mut self, uploaded: Result<(), WorldError>) -> Result<(), WorldError> {
        let why = match &uploaded {
            Err(WorldError::Gpu(error)) => Some(error.to_string()),
            Err(WorldError::Stopped(stop)) => match &stop.cause {
                StepErrorCause::Device { what } => Some(what.clone()),
                _ => None,
            },
            _ => None,
        };
        if let Some(why) = why {
            self.backend.failure.get_or_insert(why);
        }
        uploaded
    }

    fn upload_all(&mut self) -> Result<(), WorldError> {
        let Some(gpu) = self.backend.gpu.clone() else { return Ok(()) };
        // Fluids need the bodies on the GPU first.
        if self.populations.grains.fields.len() > 0 && !self.populations.context.is_heterogeneous() {
            self.upload_grains(gpu.clone())?;
        }
        self.upload_fluids(&gpu)?;
        self.observe().map_err(stopped)
    }

    pub(crate) fn upload_grains(&mut self, gpu: Gpu) -> Result<(), WorldError> {
        let remote: Box<dyn GpuBackend> = match self.populations.context.precision() {
            Precision::F64 => Box::new(GpuGrains::<f64, f64>::import_host_state(gpu, &mut self.populations)?),
            Precision::Mixed => Box::new(GpuGrains::<f64, f32>::import_host_state(gpu, &mut self.populations)?),
            Precision::F32 => Box::new(GpuGrains::<f32, f32>::import_host_state(gpu, &mut self.populations)?),
        };
        self.leave_grains_to(remote);
        Ok(())
    }

    /// Uploads grains at the start, which have neither lists nor forces yet.
    pub(crate) fn upload_new_grains(&mut self, gpu: Gpu) -> Result<(), WorldError> {
        let remote: Box<dyn GpuBackend> = match self.populations.context.precision() {
            Precision::F64 => Box::new(GpuGrains::<f64, f64>::import_new(gpu, &mut self.populations)?),
            Precision::Mixed => Box::new(GpuGrains::<f64, f32>::import_new(gpu, &mut self.populations)?),
            Precision::F32 => Box::new(GpuGrains::<f32, f32>::import_new(gpu, &mut self.populations)?),
        };
        self.leave_grains_to(remote);
        Ok(())
    }

    /// Leaves the grains to a GPU, which has them. Their fields and lists here are dropped.
    fn leave_grains_to(&mut self, remote: Box<dyn GpuBackend>) {
        self.backend.grains = Some(remote);
        self.populations.grains.are_on_gpu = true;
        self.backend.observed = None;
        (self.populations.grains.pairs, self.populations.grains.fields) = (Pairs::default(), Fields::default());
        self.populations.grains.of_second = Vec::new();
        if let Some(network) = &mut self.populations.bonds {
            network.forget_rows();
        }
    }

    /// Whether a GPU steps the grains, or the fluids.
    pub(crate) fn is_on_gpu(&self) -> bool {
        self.populations.grains_on_gpu() || self.populations.fluids_on_gpu()
    }

    /// Like [`crate::Simulation::advance`], on the GPU.
    pub(crate) fn advance_by_backend(&mut self, steps: u64) -> Result<(), StepError> {
        if steps == 0 {
            return Ok(());
        }
        let began = self.populations.now();
        let advanced = if self.populations.context.is_heterogeneous() {
            self.advance_heterogeneous(steps)
        } else {
            advance_on_gpu(&mut OneGpu::of(self), steps)
        };
        self.populations.note("steps", began);
        advanced
    }

    /// Number of steps that the device can take now without the host. Multiples of it make a GPU wait least.
    pub(crate) fn steps_at_once(&self) -> u64 {
        if self.is_on_gpu() { self.wished_batch(u64::MAX) } else { 1 }
    }

    /// Starts `steps` steps on a GPU, which must be taken next.
    pub(crate) fn queue_steps(&mut self, steps: u64) -> Result<(), StepError> {
        if steps == 0 || !self.is_on_gpu() || self.populations.context.is_heterogeneous() {
            return Ok(());
        }
        queue_batch(&mut OneGpu::of(self), steps)?;
        self.backend.is_batch_queued = true;
        Ok(())
    }

    /// Calls `visit` for each pair of grains in contact, with their indices and both contact histories.
    pub(crate) fn visit_contacts(
        &mut self,
        mut visit: impl FnMut(&Populations, u32, u32, &[f64; EXTENDED_HISTORY_STRIDE], &[f64; EXTENDED_HISTORY_STRIDE]),
    ) -> Result<(), StepError> {
        if self.populations.grains_on_gpu() {
            let downloaded = self.with_gpu_backend(|remote, _| remote.contact_histories())?;
            let device: &Cpu = &self.populations.context.device;
            let histories = downloaded(device);
            for (k, &[i, j]) in histories.pairs.iter().enumerate() {
                let [of_i, of_j] = histories.of(k).map(padded);
                visit(&self.populations, i, j, &of_i, &of_j);
            }
        } else {
            self.populations
                .visit_listed(|i, j, of_i, of_j| visit(&self.populations, i, j, of_i, of_j));
        }
        Ok(())
    }

    pub(crate) fn with_gpu_backend<T>(
        &mut self,
        run: impl FnOnce(&mut dyn GpuBackend, &mut Populations) -> Result<T, GpuError>,
    ) -> Result<T, StepError> {
        self.refuse_failed()?;
        let remote = self.backend.grains.as_mut().expect("the grains are on a GPU");
        let result = run(remote.as_mut(), &mut self.populations);
        result.map_err(|error| self.gpu_failed(error.to_string()))
    }

    /// Fails if the GPU has failed before.
    pub(crate) fn refuse_failed(&self) -> Result<(), StepError> {
        match &self.backend.failure {
            Some(why) => Err(self.populations.failed(why.clone())),
            None => Ok(()),
        }
    }

    /// The error of a GPU that fails for this reason, from now on.
    fn gpu_failed(&mut self, why: String) -> StepError {
        let error = self.populations.failed(why.clone());
        self.backend.failure.get_or_insert(why);
        error
    }

    /// Sets the target of the servo of a wall \[N, Pa, N m\], also on the GPU, where no steps may be queued.
    pub(crate) fn set_servo_target(&mut self, wall: usize, target: f64) -> Result<(), StepError> {
        self.populations.walls.set_servo_target(wall, target);
        if self.backend.grains.is_none() {
            return Ok(());
        }
        self.with_gpu_backend(|remote, host| {
            remote.send_servos(host);
            Ok(())
        })
    }

    /// Converts the reason of a GPU that is without others to an error.
    fn stopped_by(&mut self, halt: HaltReason) -> StepError {
        match halt {
            HaltReason::Stopped(error) => *error,
            HaltReason::Lost(why) | HaltReason::Unreached(why) => self.gpu_failed(why),
            HaltReason::Refused(refusal) => self.populations.failed(refusal.to_string()),
            HaltReason::Elsewhere => self.populations.failed("another domain stopped".to_owned()),
        }
    }

    /// Converts flags of the GPU to an error.
    pub(crate) fn explained(&mut self, raised: u32) -> StepError {
        match self.motion_error(raised) {
            Err(error) => error,
            Ok(()) => self.contact_error(raised),
        }
    }

    /// As [`LocalDomain::explained`]; nothing if only bodies left whose grains are all in other domains.
    pub(crate) fn explained_here(&mut self, raised: u32) -> Option<StepError> {
        match self.motion_error(raised) {
            Err(error) => Some(error),
            Ok(()) if raised & (TOO_DEEP | TOO_CONDUCTIVE) == 0 => None,
            Ok(()) => Some(self.contact_error(raised)),
        }
    }

    /// Downloads the state, and finds a motion that became impossible.
    fn motion_error(&mut self, raised: u32) -> Result<(), StepError> {
        self.with_gpu_backend(|remote, host| remote.download_state(host))?;
        self.populations.grains.motion_reports = vec![MotionReport { flags: raised, ..AT_REST }];
        self.populations.guard_motion()
    }

    /// Finds a contact that became impossible, in the state that was downloaded.
    fn contact_error(&mut self, raised: u32) -> StepError {
        // The one at fault may be outside the domain.
        self.populations.list_grains(None);
        if let Err(error) = self.populations.guard_polyhedra() {
            return error;
        }
        self.populations.wall_contacts();
        if raised & TOO_CONDUCTIVE != 0 {
            return self.populations.too_conductive();
        }
        debug_assert_ne!(raised & TOO_DEEP, 0);
        self.populations.too_deep()
    }

    /// Ends the stepping on the GPU, which stays open. The state on the host must be observed before.
    pub(crate) fn download(&mut self) {
        if self.backend.grains.take().is_some() {
            self.populations.grains.are_on_gpu = false;
            self.populations.record_bond_energies();
        }
        self.backend.fluids = None;
        self.populations.with_flow(|flow, surroundings| flow.download(surroundings));
    }

    /// Updates all values that readers see: ledger, snapshot, momentum, walls. On the CPU they are always current.
    ///
    /// # Errors
    /// If a grain's state became impossible, or the GPU fails.
    pub(crate) fn observe(&mut self) -> Result<(), StepError> {
        // What could not be uploaded again is on no GPU any more, and of an earlier step here.
        self.refuse_failed()?;
        if self.backend.observed == Some(Observed::Everything) {
            return Ok(());
        }
        let began = self.populations.now();
        self.compute_pending_forces()?;
        // The motion of bodies depends on the forces of fluids, too.
        self.observe_fluids()?;
        if self.populations.grains_on_gpu() {
            let raised = self.with_gpu_backend(|remote, host| remote.observe(host))?;
            if raised != 0 {
                return Err(self.explained(raised));
            }
        }
        self.backend.observed = Some(Observed::Everything);
        self.populations.note("observation", began);
        Ok(())
    }

    /// Whether all particles of this domain are free spheres on a GPU.
    pub(crate) fn are_free_spheres(&self) -> bool {
        let remote = self.backend.grains.as_ref();
        remote.is_some_and(|remote| remote.are_free_spheres()) && !self.populations.flows()
    }

    /// As [`LocalDomain::observe`], without grains and walls where these are free spheres on a GPU.
    pub(crate) fn observe_ledger(&mut self) -> Result<(), StepError> {
        if self.backend.observed == Some(Observed::Everything) || !self.are_free_spheres() {
            return self.observe();
        }
        if self.backend.observed == Some(Observed::Ledger) {
            return self.refuse_failed();
        }
        let began = self.populations.now();
        let raised = self.with_gpu_backend(|remote, host| remote.observe_ledger(host))?;
        if raised != 0 {
            return Err(self.explained(raised));
        }
        self.backend.observed = Some(Observed::Ledger);
        self.populations.note("observation", began);
        Ok(())
    }

    /// Queues a copy of these columns of free spheres on a GPU, of which the ledger at this step was observed.
    pub(crate) fn queue_spheres(&mut self, columns: GrainColumns) -> Result<PendingSpheres, StepError> {
        self.with_gpu_backend(|remote, _| Ok(remote.request_spheres(columns)))
    }

    /// Whether one GPU steps the grains that can take their given loads as they are.
    pub(crate) fn takes_given_loads(&self) -> bool {
        let remote = self.backend.grains.as_ref();
        remote.is_some_and(|remote| remote.takes_given_loads()) && !self.populations.flows()
    }

    /// Sends the loads that were given to grains in the observed state to the GPU, and observes it again, as its precision may be lower.
    pub(crate) fn send_given_loads(&mut self) -> Result<(), StepError> {
        self.with_gpu_backend(|remote, host| {
            remote.send_given_loads(host);
            Ok(())
        })?;
        self.backend.observed = None;
        self.observe()
    }

    /// Removes grains and bodies that left the world: on the host, as a body is removed as a whole. The rest is listed and uploaded again, with the
    /// present forces. So the lists on the GPU must have been rebuilt.
    pub(crate) fn remove_left_with_bodies(&mut self) -> Result<(), StepError> {
        self.observe()?;
        let mut contacts = State::default();
        self.save_contacts(&mut contacts)?;
        self.download();
        self.populations.remove_bond_energy();
        self.populations.forget_contacts();
        let rebuilds = self.populations.grains.rebuilds;
        self.populations.rebuild_neighbor_lists();
        // The GPU counted it.
        self.populations.grains.rebuilds = rebuilds;
        let restored = self.populations.restore_contact_histories(&contacts, false);
        self.populations.with_flow(|flow, surroundings| {
            if flow.follow_bodies(surroundings) {
                flow.rebuild_neighbor_lists(surroundings);
            }
        });
        restored.and_then(|()| self.upload()).map_err(|refusal| match refusal {
            WorldError::Stopped(stop) => *stop,
            refusal => self.populations.failed(refusal.to_string()),
        })
    }

    /// Saves contact histories, by ids of grains and elements of walls.
    pub(crate) fn save_contacts(&mut self, to: &mut dyn Sections) -> Result<(), StepError> {
        // On a GPU, both grains of a contact store a history.
        let are_two = self.populations.grains_on_gpu();
        self.save_histories(to, are_two)
    }

    /// What a change of the observed state will compare with; with `are_two`, contact histories of both grains are kept.
    pub(crate) fn begin_change(&mut self, are_two: bool) -> Result<BeforeChange, WorldError> {
        let mut contacts = State::default();
        self.save_histories(&mut contacts, are_two).map_err(stopped)?;
        Ok(BeforeChange {
            energies: self.populations.gpu_energies(),
            left_domain: self.populations.left_domain(),
            wall_work: self.populations.wall_work(),
            contacts,
        })
    }

    /// Lists everything again after a change, with the contact histories from before.
    pub(crate) fn list_changed(&mut self, before: &BeforeChange, meets: OverlapCheck) -> Result<(), WorldError> {
        self.populations.forget_contacts();
        self.populations.rebuild_neighbor_lists();
        self.populations.restore_contact_histories(&before.contacts, false)?;
        if meets != OverlapCheck::Nothing {
            self.populations.find_overlaps(meets)?;
        }
        self.populations.tune_servos();
        self.populations.recompute_forces_of_fluids();
        Ok(())
    }

    /// Saves contact histories; with `are_two`, those of both grains.
    pub(crate) fn save_histories(&mut self, to: &mut dyn Sections, are_two: bool) -> Result<(), StepError> {
        if self.populations.grains_on_gpu() {
            let downloaded = self.with_gpu_backend(|remote, _| remote.contact_histories())?;
            let (device, id) = (self.populations.context.device.clone(), self.populations.grains.fields.id.clone());
            // Millions of pairs take long, and the GPU may go on.
            to.put_pending(Box::new(move |to: &mut dyn Sections| {
                let device: &Cpu = &device;
                put_histories_of_gpu(downloaded(device), &id, device, are_two, to);
            }));
        } else {
            let (pair, histories) = self.populations.listed_histories(are_two);
            put_pairs(pair, histories, are_two, to);
        }
        self.populations.save_wall_histories(to);
        if self.populations.grains_on_gpu() && self.populations.has_polyhedra() {
            self.with_gpu_backend(|remote, host| remote.fetch_histories_of_shapes(host))?;
        }
        self.populations.save_polyhedra(to);
        Ok(())
    }

    /// Memory of the arrays on the device where they are stepped \[bytes\].
    pub(crate) fn bytes(&self) -> u64 {
        if let Some(remote) = &self.backend.grains {
            return remote.gpu().peak();
        }
        let tallies = (self.populations.grains.contact_power_sums.capacity() + self.populations.grains.wall_power_sums.capacity())
            * size_of::<PowerSums<f64>>();
        self.populations.grains.fields.bytes()
            + self.populations.grains.disabled.fields.bytes()
            + self.populations.bodies.bytes()
            + self.populations.grains.bounding_volumes.bytes()
            + self.populations.grains.cells.bytes()
            + self.populations.grains.pairs.bytes()
            + self.populations.grains.contact_list.bytes()
            + self.populations.walls.bytes()
            + self.populations.flow.as_ref().map_or(0, |flow| flow.bytes())
            + self.populations.bonds.as_ref().map_or(0, |network| network.bytes())
            + self.populations.polyhedra.as_ref().map_or(0, |polyhedra| polyhedra.bytes())
            + tallies as u64
    }
}

impl Populations {
    /// The ids of all pairs in contact that are listed here, and the histories of their first and, with `are_two`, of their second grains.
    fn listed_histories(&self, are_two: bool) -> ListedHistories {
        let (kept, id) = (history_stride(self.context.materials.are_extended), &self.grains.fields.id);
        let parts = self.listed_parts();
        let mut found = vec![ListedHistories::default(); parts];
        let data = (one_each(&mut found),);
        self.context.device.run(parts, data, |part, (found,): (Strided<ListedHistories>,)| {
            let (pair, [of_first, of_second]) = &mut found.items[0];
            self.visit_listed_in_part(part, |i, j, of_i, of_j| {
                pair.extend([i, j].map(|place| id[place as usize]));
                of_first.extend(&of_i[..kept]);
                if are_two {
                    of_second.extend(&of_j[..kept]);
                }
            });
        });
        let pairs = found.iter().map(|(pair, _)| pair.len() / 2).sum::<usize>();
        let mut all = ListedHistories::default();
        all.0.reserve_exact(2 * pairs);
        all.1[0].reserve_exact(kept * pairs);
        all.1[1].reserve_exact(if are_two { kept * pairs } else { 0 });
        // Each part is freed once it is copied.
        for (pair, [of_first, of_second]) in found {
            all.0.extend_from_slice(&pair);
            all.1[0].extend_from_slice(&of_first);
            all.1[1].extend_from_slice(&of_second);
        }
        all
    }

    /// The energy that a change has supplied \[J\], once the changed state is observed.
    pub(crate) fn gained(&mut self, before: &BeforeChange) -> f64 {
        let after = self.gpu_energies();
        // A change of the spring energy is neither a loss by friction nor a gain from it.
        self.ledger.work.tangential += after.elastic_tangential - before.energies.elastic_tangential;
        let by_sides = self.wall_work() - before.wall_work;
        after.total() - before.energies.total() + self.left_domain() - before.left_domain - by_sides
    }

    /// Energy of grains and fluids that left the domain and were removed \[J\].
    pub(crate) fn left_domain(&self) -> f64 {
        self.ledger.work.left_domain + self.left_with_fluids()
    }

    /// Removes the grains with these sorted ids, and each body that carries one of them, as a whole.
    pub(crate) fn remove_grains(&mut self, ids: &[u32]) {
        self.remove_leaving_scalars(|populations, i| ids.binary_search(&populations.grains.fields.id[i]).is_ok());
        let id = self.grains.fields.id.clone();
        self.retain_grains(|i| ids.binary_search(&id[i]).is_err());
        // As after a resume: grains that were given loads may be gone.
        self.loads.follow(&self.grains.fields);
    }
}

/// Puts the ids of all pairs and their histories, with `are_two` those of both grains.
fn put_histories_of_gpu(all: PairHistories, id: &[u32], device: &Cpu, are_two: bool, to: &mut dyn Sections) {
    let pair = computed(device, all.pairs.len(), |k| all.pairs[k].map(|place| id[place as usize]));
    put_pairs(pair.into_flattened(), [all.of_first, all.of_second], are_two, to);
}

/// Puts the ids of pairs and their histories, with `are_two` those of both grains.
pub(crate) fn put_pairs(pair: Vec<u32>, [of_first, of_second]: [Vec<f64>; 2], are_two: bool, to: &mut dyn Sections) {
    if are_two {
        to.put("contacts/of_second", Column::F64(of_second));
    }
    to.put("contacts/pair", Column::U32(pair));
    to.put("contacts/history", Column::F64(of_first));
}
