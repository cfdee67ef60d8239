//! One subdomain of a decomposition: its own grains, the ghosts within their reach, and its messages at every step.
//!
//! All subdomains run the same code in lock step. All rebuild their neighbor lists as soon as one needs it; only then grains migrate, and ghosts are
//! chosen again. Between two rebuilds the ghosts are updated at every step.

mod body_forces;
mod domain_step;
mod ghosts;
mod queued_step;
mod servos;
mod start;

use crate::backend::Observed;
use crate::exchange::{DecodeError, HaltReason, SharedParticles, encode, exchange, from_bytes, read, to_bytes};
use crate::local_domain::{LocalDomain, advance_on_gpu};
use domain_step::DomainStep;
pub(super) use queued_step::QueuedDomainStep;

use super::bonds::{ATTACHMENTS, INTACT_BONDS};
use super::contacts::each_by_its_owner;
use super::fluids::FluidSubdomain;
use super::gpu::PeerExchange;
use super::load_balancing::LoadSample;
use super::partition::Partition;
use super::work::Work;
use crate::fields::{Fields, Sorted};
use crate::guard::{StepError, StepErrorCause};
use crate::polyhedra::pick_contacts_of_polyhedra;
use crate::program::execute;
use crate::search::ListCounts;
use crate::state::{Column, State};
use crate::world::GhostSelection;
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::periodic::OPEN;
use seixo_transport::Transport;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Result of a step in one subdomain; the gravest counts for all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepStatus {
    Fine,
    ListsOutOfDate,
    /// Bodies on GPUs left the world, which the host removes.
    BodiesLeft,
    Failed,
}

impl StepStatus {
    /// The status with this number, its place among them.
    fn of(number: u8) -> StepStatus {
        let statuses = [StepStatus::Fine, StepStatus::ListsOutOfDate, StepStatus::BodiesLeft];
        statuses.get(usize::from(number)).copied().unwrap_or(StepStatus::Failed)
    }
}

/// A subdomain with its simulation.
pub struct Subdomain {
    pub local: LocalDomain,
    /// Grains, fluid particles and wall particles that it sent to others since the last observation.
    pub migrated: u64,
    /// Whether any subdomain had a grain at the last rebuild.
    pub has_grains: bool,
    /// Its fluids, if there are any.
    pub fluids: Option<FluidSubdomain>,
    pub(crate) cuts: Partition,
    /// Rank of this subdomain.
    pub rank: usize,
    /// Used only through an exclusive reference to the subdomain; others may read its simulation.
    pub(super) transport: Mutex<super::communication::CountingTransport>,
    /// Shared particles with each neighbor, in the order of the neighbors.
    pub(super) shared: Vec<SharedParticles>,
    /// The halo exchange of subdomains on GPUs of this process.
    pub peer_exchange: Option<Arc<PeerExchange>>,
    /// Work for its grains.
    pub work: Work,
    /// Whether no other subdomain is on its GPU, so that the time of its launches is its own.
    pub has_own_gpu: bool,
}

impl Subdomain {
    /// A subdomain of this partition, whose simulation has its own grains and their contact histories.
    pub fn new(local: LocalDomain, cuts: Partition, transport: Box<dyn Transport>) -> Subdomain {
        let context = &local.populations.context;
        let work = Work::new(context.settings.load_balance, context.steps);
        Subdomain {
            local,
            migrated: 0,
            has_grains: true,
            fluids: None,
            cuts,
            rank: transport.rank(),
            transport: Mutex::new(super::communication::CountingTransport::new(transport)),
            shared: Vec::new(),
            peer_exchange: None,
            work,
            has_own_gpu: false,
        }
    }

    pub(super) fn transport(&mut self) -> &mut dyn Transport {
        through(&mut self.transport)
    }

    /// Takes steps, or as many as all subdomains can take.
    pub fn advance(&mut self, steps: u64) -> Result<(), HaltReason> {
        let began = self.local.populations.now();
        let advanced = if self.local.is_on_gpu() {
            advance_on_gpu(&mut QueuedDomainStep::of(self), steps)
        } else {
            (0..steps).try_for_each(|_| self.step())
        };
        self.local.populations.note("steps", began);
        advanced
    }

    fn step(&mut self) -> Result<(), HaltReason> {
        let began = self.local.populations.now();
        let passes = self.local.populations.passes();
        let mut step = DomainStep::of(self);
        let executed = execute(&mut step, passes);
        if executed.is_ok() {
            step.finish();
        }
        self.local.populations.note("step", began);
        executed
    }

    /// Runs some work on the fluids, if there are any.
    pub(super) fn with_fluids<T: Default>(
        &mut self,
        run: impl FnOnce(&mut FluidSubdomain, &mut LocalDomain, &mut dyn Transport) -> Result<T, HaltReason>,
    ) -> Result<T, HaltReason> {
        match &mut self.fluids {
            Some(fluids) => run(fluids, &mut self.local, through(&mut self.transport)),
            None => Ok(T::default()),
        }
    }

    /// Whether GPUs take many steps of fluids without their hosts.
    pub(super) fn fluids_step_in_batches(&self) -> bool {
        self.fluids.as_ref().is_some_and(|fluids| fluids.steps_in_batches(&self.local))
    }

    /// The step status of all subdomains, and the square of the largest displacement of a grain in a step \[m²\].
    pub(super) fn agree(&mut self, own: StepStatus) -> Result<(StepStatus, f64), HaltReason> {
        let strides = self.local.populations.grains.motion_reports.iter().map(|moved| moved.stride_square);
        let reported = [f64::from(own as u8), strides.fold(0.0, f64::max)];
        let (mut gravest, mut farthest) = (0.0f64, 0.0f64);
        for said in through(&mut self.transport).gather(to_bytes(&reported))? {
            let [step_status, stride_square] = from_bytes(&said)?[..] else {
                return Err(DecodeError.into());
            };
            (gravest, farthest) = (gravest.max(step_status), farthest.max(stride_square));
        }
        Ok((StepStatus::of(gravest as u8), farthest))
    }

    /// Sends a message to each neighbor, in their order, and waits for theirs.
    pub(super) fn exchange(&mut self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, HaltReason> {
        Ok(exchange(through(&mut self.transport), self.cuts.beside(self.rank), messages)?)
    }

    /// As [`Subdomain::exchange`], with these subdomains.
    pub(super) fn exchange_with(&mut self, others: &[usize], messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, HaltReason> {
        Ok(exchange(through(&mut self.transport), others, messages)?)
    }

    /// Migrates grains that moved into other blocks, and rebuilds the neighbor lists; on the host, also if a GPU steps the grains. It observes their
    /// forces before. So the GPU must have rebuilt its lists.
    pub(super) fn migrate(&mut self) -> Result<(), HaltReason> {
        let clock = Instant::now();
        let on_gpu = self.local.backend.gpu.clone().filter(|_| self.local.is_on_gpu());
        if on_gpu.is_none() {
            self.tune_skin(self.local.populations.list_counts())?;
        }
        self.observe(Observed::Everything)?;
        let mut contacts = State::default();
        // The other subdomains wait for this one, even after an error.
        self.local.save_contacts(&mut contacts).map_err(|stop| HaltReason::lost(&stop))?;
        if on_gpu.is_some() {
            self.local.download();
        }
        if self.local.populations.is_bonded() && self.local.populations.context.domain.is_some() {
            // A bond migrates with either of its grains; the ghost shows whether the other grain has left.
            self.local.populations.remove_bond_energy();
        }
        self.local.populations.staying_bonds_message(&mut contacts);
        let own = self.drop_ghosts();
        // The cells here are not those of the last sort on a GPU.
        let by_layers = on_gpu.is_none() && self.local.populations.context.settings.ghost_selection == GhostSelection::Layers;
        let mut sorted = by_layers.then_some(own);
        if self.local.populations.context.sides != OPEN {
            self.local.populations.wrap_grains();
        }
        if let Some(stayed) = self.local.populations.remove_left() {
            sorted = sorted.map(|sorted| picked(&sorted, &stayed));
        }
        let now = self.local.populations.context.time();
        self.local.populations.record_list_positions();
        self.local.populations.walls.record_rebuild(now);
        let places = self.local.populations.grains.fields.reference.as_chunks::<3>().0;
        let load = self.work.load(places.len(), self.local.populations.context.steps);
        let sample = LoadSample::of(places.len(), places).with_load(load);
        let partners = self.balance(&sample)?;
        let (held, stayed) = self.send_migrating(contacts, &partners)?;
        let sorted = sorted.map(|sorted| picked(&sorted, &stayed));
        self.list(now, &held, &sorted.unwrap_or_default())?;
        // A GPU counted it.
        self.local.populations.grains.rebuilds += u64::from(on_gpu.is_none());
        if let Some(fluids) = self.fluids.as_mut().filter(|_| on_gpu.is_some()) {
            self.local
                .populations
                .with_flow(|flow, surroundings| flow.follow_bodies(surroundings));
            self.migrated += fluids.migrate(true, &mut self.local, through(&mut self.transport))?;
        }
        if let (Some(gpu), Some(precision)) = (on_gpu, self.local.populations.context.settings.precision) {
            self.upload(&gpu, precision)?;
        }
        self.work.rebuilt(clock.elapsed());
        Ok(())
    }

    /// Chooses the skin of the next lists by the counts of all subdomains.
    pub(super) fn tune_skin(&mut self, own: ListCounts) -> Result<(), HaltReason> {
        if self.local.populations.grains.skin_tuning.is_none() {
            return Ok(());
        }
        let all = sum_of_lists(own, through(&mut self.transport))?;
        self.local.populations.tune_skin(&all);
        Ok(())
    }

    /// Balances the load of grains with the sample of this subdomain. Returns the subdomains to and from which grains may migrate. Halos are as wide as
    /// the skin requires.
    pub(super) fn balance(&mut self, sample: &LoadSample) -> Result<Vec<usize>, HaltReason> {
        let (partners, grains) = balance(&mut self.cuts, sample, &mut self.work, through(&mut self.transport))?;
        self.narrow_halos(grains);
        Ok(partners)
    }

    /// Makes halos as wide as the skin requires, for this number of grains in all subdomains.
    pub(super) fn narrow_halos(&mut self, grains: f64) {
        let cells = &self.local.populations.grains.cells;
        self.cuts.narrow_halos(cells.widest - cells.skin);
        self.has_grains = grains > 0.0;
    }

    /// Removes the ghosts. Returns the indices of the other grains.
    fn drop_ghosts(&mut self) -> Vec<u32> {
        let own = self.owned_indices();
        self.local
            .populations
            .grains
            .fields
            .reorder(&self.local.populations.context.device, &own);
        own
    }

    /// Indices of its own grains.
    fn owned_indices(&self) -> Vec<u32> {
        let member = &self.local.populations.grains.fields.member;
        (0..member.len() as u32).filter(|&i| !is_ghost(member[i as usize])).collect()
    }

    /// Sends grains with their contact histories to those of these subdomains that own their blocks, and receives arriving ones. Returns the contact
    /// histories of all grains here, some of them twice, and the indices of the grains that stayed, which are before the arriving ones.
    fn send_migrating(&mut self, contacts: State, partners: &[usize]) -> Result<(Vec<State>, Vec<u32>), HaltReason> {
        let own = self.rank;
        let fields = &self.local.populations.grains.fields;
        let owner: Vec<usize> = fields.reference.chunks_exact(3).map(|place| self.cuts.owner(place)).collect();
        if let Some(i) = owner.iter().position(|owner| *owner != own && !partners.contains(owner)) {
            let id = fields.id[i];
            return Err(HaltReason::passed_through(id));
        }
        let mut messages = Vec::new();
        for &other in partners {
            let leaving: Vec<u32> = (0..owner.len()).filter(|&i| owner[i] == other).map(|i| i as u32).collect();
            let mut state = State::default();
            self.migrated += leaving.len() as u64;
            if !leaving.is_empty() {
                let settlers = fields.pick(&leaving);
                settlers.save(None, &mut state);
                pick_contacts(&contacts, &settlers.id, &mut state);
            }
            messages.push(encode(&state));
        }
        let staying: Vec<u32> = (0..owner.len()).filter(|&i| owner[i] == own).map(|i| i as u32).collect();
        self.local
            .populations
            .grains
            .fields
            .reorder(&self.local.populations.context.device, &staying);
        let mut held = vec![contacts];
        for received in self.exchange_with(partners, messages)? {
            let state = read(&received)?;
            if !state.sections.is_empty() {
                self.local
                    .populations
                    .grains
                    .fields
                    .append(&Fields::load(&state).map_err(|_| DecodeError)?);
                held.push(state);
            }
        }
        Ok((held, staying))
    }

    /// Lists all grains at their positions of the last rebuild, at this time \[s\], with ghosts; restores their contact histories. The first grains here
    /// had the indices `sorted` at the last sort into cells.
    pub fn list(&mut self, listed_at: f64, held: &[State], sorted: &[u32]) -> Result<(), HaltReason> {
        self.local.populations.receive_bonds(held);
        let named = self.exchange_ghosts(sorted)?;
        let simulation = &mut self.local;
        simulation.populations.forget_contacts();
        simulation.populations.list_from_references(listed_at);
        simulation.populations.refuse_torn_bonds()?;
        simulation
            .populations
            .restore_histories_of_domains(&each_by_its_owner(held), false)?;
        let places_of = places_by_id(&simulation.populations.grains.fields.id);
        let named = named.iter().map(|named| SharedParticles {
            with: named.with,
            own: places_of(&named.own),
            ghosts: places_of(&named.ghosts),
        });
        self.shared = named.collect();
        self.local.populations.find_border();
        Ok(())
    }

    /// Lists its own fluid particles at their positions of the last rebuild, with ghosts.
    pub fn list_fluids(&mut self) -> Result<(), HaltReason> {
        let Some(fluids) = &mut self.fluids else { return Ok(()) };
        fluids.begin(&mut self.local, through(&mut self.transport))
    }

    /// Its own grains in their current state.
    pub fn own(&self) -> Fields {
        let mut own = self.local.populations.grains.fields.pick(&self.owned_indices());
        if !self.local.populations.bodies.are_present {
            own.member.clear();
        }
        own
    }
}

/// The transport, through an exclusive reference to the subdomain.
pub(super) fn through(transport: &mut Mutex<impl Transport>) -> &mut dyn Transport {
    transport.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// The items at these indices.
fn picked(items: &[u32], at: &[u32]) -> Vec<u32> {
    at.iter().map(|&i| items[i as usize]).collect()
}

/// The step status of all subdomains, given that of this one.
pub fn agree(transport: &mut dyn Transport, own: StepStatus) -> Result<StepStatus, HaltReason> {
    let all = transport.gather(vec![own as u8])?;
    let gravest = all.iter().filter_map(|said| said.first().copied()).max();
    Ok(gravest.map_or(StepStatus::Failed, StepStatus::of))
}

/// Balances the load of particles with the sample of this subdomain. Returns the subdomains to and from which particles may migrate, and the number
/// of particles in all subdomains.
pub fn balance(
    cuts: &mut Partition,
    sample: &LoadSample,
    work: &mut Work,
    transport: &mut dyn Transport,
) -> Result<(Vec<usize>, f64), HaltReason> {
    let reported = transport.gather(sample.encode())?;
    let mut samples: Vec<LoadSample> = reported
        .iter()
        .map(|reported| LoadSample::read(reported))
        .collect::<Result<_, _>>()?;
    let rank = transport.rank();
    let partners = match work.moved(cuts, &mut samples) {
        Some(moved) => {
            let partners = moved.partners(cuts, rank);
            *cuts = moved;
            partners
        }
        None => cuts.beside(rank).to_vec(),
    };
    Ok((partners, samples.iter().map(|sample| sample.load.particles).sum()))
}

/// Encodes counts of lists as a message.
pub fn encode_lists(lists: ListCounts) -> Vec<u8> {
    to_bytes(&[lists.grains, lists.entries])
}

/// Decodes counts of lists.
pub fn read_lists(message: &[u8]) -> Result<ListCounts, DecodeError> {
    let [grains, entries] = from_bytes(message)?[..] else {
        return Err(DecodeError);
    };
    Ok(ListCounts { grains, entries })
}

/// The counts of the lists of all subdomains together.
pub fn sum_of_lists(own: ListCounts, transport: &mut dyn Transport) -> Result<ListCounts, HaltReason> {
    let mut all = ListCounts::default();
    for reported in transport.gather(encode_lists(own))? {
        all = all.plus(read_lists(&reported)?);
    }
    Ok(all)
}

/// A function that finds the indices of particles by their ids, given all ids in their order.
pub fn places_by_id(ids: &[u32]) -> impl Fn(&[u32]) -> Vec<u32> + use<> {
    let mut place: Vec<(u32, u32)> = ids.iter().copied().zip(0..).collect();
    place.sort_unstable();
    move |ids| {
        let place_of = |id: &u32| place[place.partition_point(|(known, _)| known < id)].1;
        ids.iter().map(place_of).collect()
    }
}

/// The step status of a subdomain with this error, or none.
pub fn step_status(failure: Option<&StepError>, lists_out_of_date: bool) -> StepStatus {
    match (failure, lists_out_of_date) {
        (Some(_), _) => StepStatus::Failed,
        (None, true) => StepStatus::ListsOutOfDate,
        (None, false) => StepStatus::Fine,
    }
}

/// Why a subdomain with this error, or none, does not continue after one of all failed.
pub fn halt(failure: Option<StepError>) -> HaltReason {
    failure.map_or(HaltReason::Elsewhere, |error| HaltReason::Stopped(Box::new(error)))
}

/// As [`halt()`], where a GPU may have failed since, of which the others do not know: the states then do not fit together.
pub fn halt_on_gpu(failure: Option<StepError>) -> HaltReason {
    match failure {
        Some(error) if matches!(error.cause, StepErrorCause::Device { .. }) => HaltReason::lost(&error),
        failure => halt(failure),
    }
}

/// Selects the histories of contacts and bonds of grains with these ids.
fn pick_contacts(contacts: &State, ids: &[u32], to: &mut State) {
    let mut known = ids.to_vec();
    known.sort_unstable();
    let is_of = |id: &u32| known.binary_search(id).is_ok();
    for (names, columns) in [
        ("contacts/pair", &["contacts/history", "contacts/of_second"][..]),
        (INTACT_BONDS[0], &[INTACT_BONDS[1], ATTACHMENTS]),
        ("walls/touching", &["walls/history", "walls/touches"]),
    ] {
        let Some(Column::U32(pairs)) = contacts.get(names) else { continue };
        // The second number of a wall contact is not an id.
        let ends = if names == "walls/touching" { 1 } else { 2 };
        let chosen: Vec<usize> = pairs
            .chunks_exact(2)
            .zip(0..)
            .filter(|(pair, _)| pair[..ends].iter().any(is_of))
            .map(|(_, k)| k)
            .collect();
        let picked = chosen.iter().flat_map(|&k| &pairs[2 * k..][..2]).copied().collect();
        to.sections.push((names.to_owned(), Column::U32(picked)));
        for &name in columns {
            let Some(Column::F64(numbers)) = contacts.get(name) else { continue };
            let each = numbers.len() / (pairs.len() / 2).max(1);
            let picked = chosen.iter().flat_map(|&k| &numbers[each * k..][..each]).copied().collect();
            to.sections.push((name.to_owned(), Column::F64(picked)));
        }
    }
    pick_contacts_of_polyhedra(contacts, is_of, to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Sections;

    #[test]
    fn contacts_migrate_with_the_histories_of_both_grains() {
        let mut contacts = State::default();
        contacts.put("contacts/pair", Column::U32(vec![1, 2, 3, 4]));
        contacts.put("contacts/history", Column::F64(vec![12.0, 34.0]));
        contacts.put("contacts/of_second", Column::F64(vec![-12.5, -34.5]));
        let mut picked = State::default();
        pick_contacts(&contacts, &[4], &mut picked);
        let column = |name: &str| picked.get(name).cloned();
        assert_eq!(column("contacts/pair"), Some(Column::U32(vec![3, 4])));
        assert_eq!(column("contacts/history"), Some(Column::F64(vec![34.0])));
        assert_eq!(column("contacts/of_second"), Some(Column::F64(vec![-34.5])));
    }
}
