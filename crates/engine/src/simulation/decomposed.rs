//! Domains of a simulation: how it is divided into them, steps with them, and is gathered from them.

use crate::backend::Observed;
use crate::bonds::BondPlan;
use crate::checkpoint::contact_ledger;
use crate::context::StepContext;
use crate::decomposition::{
    Decomposition, Partition, Report, Subdomain, Subdomains, exchange_over_links, failed_links, limit_waits, merged_contacts,
    peer_exchange_for, try_links,
};
use crate::device_choice::{alike, gpu_choice};
use crate::diffusion::Diffusion;
use crate::exchange::HaltReason;
use crate::fields::{Fields, Sorted, computed};
use crate::gpu::PASSES;
use crate::grains::GrainState;
use crate::guard::StepError;
use crate::local_domain::LocalDomain;
use crate::measure::{EnergyLedger, NO_CONTACT, sum};
use crate::pass::PASSES_OF_CPU;
use crate::polyhedra::Polyhedra;
use crate::populations::Populations;
use crate::program::Placement;
use crate::refusal::WorldError;
use crate::search::Pairs;
use crate::simulation::Simulation;
use crate::state::{Profile, State};
use crate::world::{DeviceChoice, Settings, Vec3};
use seixo_device::Cpu;
use seixo_device::gpu::{Gpu, list_with};
use seixo_sweeps::contact::PowerSums;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::Builder;

/// Whether no other subdomain is on the GPU of this one.
pub(super) fn has_own_gpu(gpus: &[Gpu], rank: usize) -> bool {
    gpus.get(rank)
        .is_some_and(|own| gpus.iter().filter(|gpu| gpu.is_same(own)).count() == 1)
}

impl Simulation {
    /// The decomposition of grains and fluids at the last call of [`crate::Simulation::observe`], if there is one.
    pub fn decomposition(&self) -> Option<Decomposition> {
        let subdomains = self.subdomains.as_ref()?;
        let work = |counts: &[usize], kind: usize| -> Vec<f64> {
            let of_each = counts.iter().zip(&subdomains.costs);
            of_each.map(|(count, cost)| *count as f64 * cost[kind]).collect()
        };
        Some(Decomposition {
            grain_work: work(&subdomains.grains, 0),
            fluid_work: work(&subdomains.fluid, 1),
            cut_moves: self.traffic.cut_moves,
            grains: subdomains.grains.clone(),
            fluid: subdomains.fluid.clone(),
            space: subdomains.domains[0].cuts.space(),
            migrations: self.traffic.migrations,
            communication: self.traffic.communication.clone(),
        })
    }

    /// Refuses a world that needs what domains there cannot do.
    pub(super) fn refuse_placement(&self, placement: Placement) -> Result<(), WorldError> {
        let Some(limit) = self.whole.populations.limit_on(placement) else {
            return Ok(());
        };
        let (what, why) = (limit.what, limit.why);
        Err(WorldError::Subdomains(
            if limit.not_on.contains(&Placement::CpuDomains) || placement == Placement::CpuAndGpuDomains {
                format!("a world with {what} cannot be decomposed into domains, as {why}; use one domain: --domains 1")
            } else {
                format!("a world with {what} is decomposed into domains on the CPU only, as {why}; use --device cpu")
            },
        ))
    }

    /// Refuses more subdomains than this machine can have threads for.
    pub(super) fn refuse_too_many_domains(&self) -> Result<(), WorldError> {
        let settings = &self.whole.populations.context.settings;
        let (count, most) = (settings.domains, Cpu::most_threads());
        if count > most && settings.ranks.is_none() {
            return Err(WorldError::Subdomains(format!(
                "{count} domains are too many for this machine: each takes a thread, and at most {most} are of any use; use --domains {most} or fewer"
            )));
        }
        Ok(())
    }

    /// The error that a user gets when subdomains could not start.
    pub(super) fn refused_start(&self, halt: HaltReason) -> WorldError {
        match halt {
            HaltReason::Refused(refusal) => refusal,
            halt => WorldError::Stopped(Box::new(self.whole.populations.halted(halt))),
        }
    }

    /// Decomposes grains and fluids, if there are any, into the requested number of subdomains. A simulation that `goes_on` stays whole if too few
    /// particles are left to fill the subdomains.
    pub(crate) fn decompose(&mut self, goes_on: bool) -> Result<(), WorldError> {
        let count = self.whole.populations.context.settings.domains;
        self.refuse_too_many_domains()?;
        if self.whole.populations.context.is_heterogeneous() {
            self.refuse_placement(Placement::CpuAndGpuDomains)?;
        }
        self.refuse_placement(Placement::CpuDomains)?;
        let places: Vec<Vec3> = self.whole.populations.grains.fields.reference.as_chunks::<3>().0.to_vec();
        let gpus = self.gpus_of_domains()?;
        if !gpus.is_empty() {
            self.refuse_placement(Placement::GpuDomains)?;
        }
        let Some((cuts, of_fluids)) = self.partition_current(&places, !gpus.is_empty(), goes_on)? else {
            return self.prepare_for(&gpus);
        };
        if !gpus.is_empty() {
            limit_waits(&gpus);
        }
        let mut contacts = State::default();
        // Checkpoints of GPU runs save the history for each of the two grains.
        let are_two = !gpus.is_empty() && !self.whole.populations.grains.of_second.is_empty();
        self.whole
            .save_histories(&mut contacts, are_two)
            .map_err(|stop| WorldError::Stopped(Box::new(stop)))?;
        self.whole.populations.save_wear(&mut contacts);
        self.whole.populations.bonds_message(&mut contacts);
        self.prepare_for(&gpus)?;
        let precision = self.whole.populations.context.settings.precision;
        let device = self.whole.populations.context.device.clone();
        let owner = computed(&device, places.len(), |k| cuts.owner(&places[k]) as u32);
        let mut grains = vec![0; count];
        owner.iter().for_each(|&owner| grains[owner as usize] += 1);
        // Processes can exchange bytes only.
        let reached = if self.whole.populations.context.settings.ranks.is_none() {
            &gpus[..]
        } else {
            &[]
        };
        let transports = self.whole.populations.context.settings.transports();
        let threads = (self.threads() / transports.len()).max(1);
        let mut domains = Vec::new();
        for transport in transports {
            let mut share = self.share(threads)?;
            let rank = transport.rank();
            let own = owner.iter().zip(0..).filter(|(owner, _)| **owner as usize == rank);
            let own: Vec<(u32, u32)> = own.map(|(_, i)| (0, i)).collect();
            share.populations.grains.fields = Fields::gathered(&device, &[&self.whole.populations.grains.fields], &own);
            if rank == 0 {
                share.populations.ledger.last_power_sums = self.whole.populations.ledger.last_power_sums;
                if let (Some(share), Some(whole)) = (&mut share.populations.bonds, &self.whole.populations.bonds) {
                    share.last = whole.last;
                }
            }
            let mut domain = Subdomain::new(share, cuts.clone(), transport);
            domain.has_grains = !places.is_empty();
            domain.has_own_gpu = has_own_gpu(&gpus, rank);
            if let Some(cuts) = &of_fluids {
                self.whole.populations.share_fluids(cuts, rank, &mut domain)?;
            }
            domains.push(domain);
        }
        let mut subdomains = Subdomains {
            domains,
            ranks: self.whole.populations.context.settings.ranks.clone(),
            grains,
            fluid: of_fluids
                .as_ref()
                .map_or_else(Vec::new, |cuts| self.whole.populations.fluid_in(cuts)),
            bytes: 0,
            costs: vec![[0.0; 2]; count],
            is_broken: false,
        };
        let (listed_at, held) = (self.whole.populations.walls.listed_at, [contacts]);
        let listed = std::thread::scope(|scope| {
            if exchange_over_links(reached) {
                // GPUs compile what links take while the hosts list. If no thread starts, they do so afterwards.
                let _ = Builder::new().spawn_scoped(scope, || try_links(reached));
            }
            subdomains.all(|domain| {
                domain.list(listed_at, &held, &[])?;
                let worn = domain.local.populations.restore_wear_since_rebuild(&held[0], false);
                worn.map_err(HaltReason::Refused)?;
                domain.list_fluids()
            })
        });
        listed.map_err(|halt| self.refused_start(halt))?;
        self.link(&mut subdomains, reached, of_fluids.is_some())?;
        let uploaded = subdomains.all(|domain| match (gpus.get(domain.rank), precision) {
            (Some(gpu), Some(precision)) => domain.upload(gpu, precision),
            _ => Ok(()),
        });
        uploaded.map_err(|halt| self.refused_start(halt))?;
        subdomains.bytes = subdomains.bytes_here();
        self.subdomains = Some(subdomains);
        Ok(())
    }

    /// Lets subdomains on these GPUs, and their fluids if there are any, exchange between the GPUs, if these can.
    fn link(&mut self, subdomains: &mut Subdomains, gpus: &[Gpu], has_fluids: bool) -> Result<(), WorldError> {
        let populations = &self.whole.populations;
        let walls = populations.walls.given.len();
        let of_grains = peer_exchange_for(gpus, walls, populations.flow.is_some() || populations.has_loose_bodies())?;
        let of_fluids = if has_fluids { peer_exchange_for(gpus, walls, false)? } else { None };
        if of_grains.is_some() {
            self.note_failed_links(gpus);
        }
        for domain in &mut subdomains.domains {
            domain.peer_exchange = of_grains.clone();
            if let Some(fluids) = &mut domain.fluids {
                fluids.peer_exchange = of_fluids.clone();
            }
        }
        Ok(())
    }

    /// Tries the links between these GPUs, and gives a notice for each that fails.
    pub(super) fn note_failed_links(&mut self, gpus: &[Gpu]) {
        for notice in failed_links(gpus) {
            // A run may be decomposed again.
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
    }

    /// Prepares the profile and settings for the first of these GPUs, if there are any.
    pub(super) fn prepare_for(&mut self, gpus: &[Gpu]) -> Result<(), WorldError> {
        if let Some(gpu) = gpus.first() {
            self.whole.populations.context.settings.precision = Some(self.precision_of_world_on(gpu)?);
            // Work of subdomains and of the GPU is reported under the same pass names.
            if self.whole.populations.profile.passes.len() != PASSES.len() {
                self.whole.populations.profile = Profile::new(&PASSES);
            }
        }
        self.whole.backend.gpu = gpus.first().cloned();
        Ok(())
    }

    /// The device of the settings. `auto` is the CPU for polyhedral grains, as in one domain.
    fn device_for_domains(&mut self) -> DeviceChoice {
        let populations = &self.whole.populations;
        let device = populations.context.settings.device;
        let kept = populations.why_polyhedra_on_host().filter(|_| device == DeviceChoice::Auto);
        let Some(why) = kept else { return device };
        let notice = format!("{why}: running on the CPU");
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
        DeviceChoice::Cpu
    }

    /// The GPUs of the subdomains, in their order; none if they run on the CPU.
    pub(super) fn gpus_of_domains(&mut self) -> Result<Vec<Gpu>, WorldError> {
        let (domains, asked) = (
            self.whole.populations.context.settings.domains,
            self.whole.populations.context.settings.gpus,
        );
        let Some(choice) = gpu_choice(self.device_for_domains(), &mut self.notices) else {
            if asked > 1 {
                return Err(WorldError::Subdomains(format!(
                    "{asked} GPUs are asked for, but this runs on the CPU; leave --gpus out, or name a GPU that seixo info finds with --device"
                )));
            }
            self.check_precision_of_cpu()?;
            return Ok(Vec::new());
        };
        let is_named = matches!(self.whole.populations.context.settings.device, DeviceChoice::Gpu(Some(_)));
        if asked <= 1 && (is_named || self.whole.populations.context.settings.ranks.is_none()) {
            return Ok(vec![Gpu::open(choice)?; domains]);
        }
        let Some((api, alike)) = alike(&list_with(choice).found, choice) else {
            // The reason why there is none.
            return Ok(vec![Gpu::open(choice)?; domains]);
        };
        if asked <= 1 {
            // The ranks of one machine are distributed over its GPUs.
            let ranks = self.whole.populations.context.settings.ranks.as_ref();
            let own = ranks.map_or(0, |ranks| ranks.own_gpu(alike.len()));
            return Ok(vec![Gpu::open(Some((api, alike[own])))?; domains]);
        }
        if alike.len() < asked {
            return Err(WorldError::Subdomains(format!(
                "{asked} GPUs are asked for, and {api} reaches {} (seixo info); use at most as many",
                alike.len()
            )));
        }
        let opened = Gpu::open_all(api, &alike[..asked])?;
        Ok((0..domains).map(|domain| opened[domain * asked / domains].clone()).collect())
    }

    /// A simulation of the same world without grains, for one subdomain.
    pub(super) fn share(&self, threads: usize) -> Result<LocalDomain, WorldError> {
        let mut walls = self.whole.populations.walls.clone();
        walls.forget();
        walls.work.forget();
        let settings = Settings {
            threads,
            domains: 1,
            gpus: 1,
            ranks: None,
            ..self.whole.populations.context.settings.clone()
        };
        let grains = GrainState::new(
            Fields::default(),
            self.whole.populations.grains.cells.clone(),
            Vec::new(),
            self.whole.populations.grains.next_id,
        );
        let populations = Populations {
            context: StepContext {
                device: Arc::new(Cpu::new(threads)?),
                settings,
                ..self.whole.populations.context.clone()
            },
            cell: None,
            grains: GrainState {
                has_ghosts: true,
                skin_tuning: self.whole.populations.grains.skin_tuning,
                ..grains
            },
            bodies: self.whole.populations.bodies.of_domain(),
            walls,
            loads: self.whole.populations.loads.clone(),
            constrained_groups: Vec::new(),
            bonds: self
                .whole
                .populations
                .bonds
                .as_ref()
                .map(|network| Box::new(network.of_same_kinds())),
            bond_plan: BondPlan {
                kinds: Vec::new(),
                shapes: Vec::new(),
                ..self.whole.populations.bond_plan
            },
            polyhedra: self.whole.populations.polyhedra.as_deref().map(Polyhedra::of_domain),
            flow: None,
            diffusions: self.whole.populations.diffusions.iter().map(Diffusion::of_domain).collect(),
            ledger: EnergyLedger::default(),
            profile: Profile::new(&PASSES_OF_CPU),
            trace: None,
            timeline: None,
        };
        Ok(LocalDomain::new(populations))
    }

    /// As [`crate::Simulation::advance`], in all subdomains.
    pub(crate) fn advance_decomposed(&mut self, steps: u64) -> Result<(), StepError> {
        let Some(subdomains) = &mut self.subdomains else {
            return Ok(());
        };
        // The arrays of the subdomains are not needed here as well.
        (self.whole.populations.grains.pairs, self.whole.populations.grains.fields) = (Pairs::default(), Fields::default());
        if let Some(flow) = &mut self.whole.populations.flow {
            flow.pairs = Pairs::default();
        }
        self.whole.populations.bonds.iter_mut().for_each(|network| network.forget_rows());
        self.whole.populations.polyhedra.iter_mut().for_each(|polyhedra| polyhedra.forget());
        self.whole.populations.grains.are_pairs_elsewhere = false;
        self.whole.populations.ledger.is_of_subdomains = false;
        self.whole.backend.observed = None;
        let began = self.whole.populations.now();
        let done = subdomains.all(|domain| domain.advance(steps));
        self.whole.populations.note("steps", began);
        self.whole.populations.context.steps = subdomains.domains[0].local.populations.context.steps;
        let Err(halt) = done else { return Ok(()) };
        if subdomains.domains.iter().any(|domain| domain.local.populations.grains_on_gpu()) && !subdomains.is_broken {
            subdomains.domains.iter_mut().for_each(Subdomain::download_state);
            // The error that stopped them is reported in any case.
            let _ = self.fetch(false);
        }
        Err(self.whole.populations.halted(halt))
    }

    /// Gathers the grains of all subdomains, their ledgers and, if requested, the fluids; returns the contact histories.
    fn fetch(&mut self, with_fluids: bool) -> Result<Vec<State>, StepError> {
        let Some(mut subdomains) = self.subdomains.take() else {
            return Ok(Vec::new());
        };
        let reports = subdomains.reports(with_fluids);
        let taken = reports.and_then(|reports| self.take_over(&mut subdomains, reports));
        self.subdomains = Some(subdomains);
        taken.map_err(|halt| self.whole.populations.halted(halt))
    }

    /// Takes over what subdomains sent, how long they worked, and how often their planes moved.
    pub(super) fn take_over_work(&mut self, subdomains: &mut Subdomains, reports: &[Report]) -> Result<(), HaltReason> {
        self.traffic.add(reports)?;
        let worked = reports.iter().map(Report::work).collect::<Result<Vec<_>, _>>()?;
        subdomains.costs = worked.iter().map(|(costs, _)| *costs).collect();
        // All subdomains move their planes together.
        self.traffic.cut_moves += worked.first().map_or(0, |(_, moves)| *moves);
        Ok(())
    }

    fn take_over(&mut self, subdomains: &mut Subdomains, reports: Vec<Report>) -> Result<Vec<State>, HaltReason> {
        let (mut fields, mut last, mut contacts, mut fluids) = (Fields::default(), NO_CONTACT, Vec::new(), Vec::new());
        (subdomains.grains, subdomains.bytes) = (Vec::new(), 0);
        self.take_over_work(subdomains, &reports)?;
        for report in reports {
            let (power_sums, bytes) = self.take_over_sums(&report)?;
            last = sum(last, &power_sums);
            subdomains.grains.push(report.fields.len());
            subdomains.bytes += bytes;
            fields.append(&report.fields);
            contacts.push(report.reported);
            fluids.extend(report.fluids);
        }
        if subdomains.ranks.is_none() {
            subdomains.bytes = subdomains.bytes_here();
        }
        self.take_over_common(&mut subdomains.domains[0].local.populations);
        (self.whole.populations.grains.fields, self.whole.populations.ledger.last_power_sums) = (fields, last);
        self.whole.populations.merge_bond_reports(&contacts);
        if !fluids.is_empty() {
            subdomains.fluid = fluids.iter().map(|share| share.count).collect();
            self.whole.populations.gather_fluids(fluids);
        }
        Ok(contacts)
    }

    /// Adds the ledger and the migrations that a subdomain reports. Returns the powers of its contacts in the last step, and the bytes of its arrays.
    pub(super) fn take_over_sums(&mut self, report: &Report) -> Result<(PowerSums<f64>, u64), HaltReason> {
        let [sent_away, bytes] = report.counts()?;
        let (work, power_sums) = contact_ledger(&report.reported)?;
        let populations = &mut self.whole.populations;
        populations.ledger.work = populations.ledger.work.plus(&work);
        populations.walls.work.take_over(&report.reported);
        for diffusion in &mut populations.diffusions {
            diffusion.take_over(&report.reported);
        }
        self.traffic.migrations += sent_away;
        Ok((power_sums, bytes))
    }

    /// Takes over what is the same in all subdomains, of which this is the first.
    pub(super) fn take_over_common(&mut self, first: &mut Populations) {
        let populations = &mut self.whole.populations;
        (populations.context.steps, populations.profile) = (first.context.steps, first.profile.clone());
        populations.walls.set_servos(&first.walls.servo_state(), false);
        populations.gather_bodies(&mut first.bodies);
        populations.take_over_skin(first);
        // All subdomains rebuild their neighbor lists at the same steps, so one counter suffices.
        populations.grains.rebuilds += std::mem::take(&mut first.grains.rebuilds);
    }

    /// As [`crate::Simulation::observe`], of a decomposed world; of free spheres on GPUs of this process also the ledger alone.
    pub(crate) fn observe_decomposition(&mut self, needed: Observed) -> Result<(), StepError> {
        let began = self.whole.populations.now();
        let observed = self.gather_observed(needed);
        self.whole.populations.note("observation", began);
        observed
    }

    /// Observes all subdomains, and gathers what they have.
    fn gather_observed(&mut self, needed: Observed) -> Result<(), StepError> {
        let observed = self
            .subdomains
            .as_mut()
            .map_or(Ok(()), |subdomains| subdomains.all(|domain| domain.observe(needed)));
        observed.map_err(|halt| self.whole.populations.halted(halt))?;
        if self.gathers_without_lists() {
            return self.gather_without_lists(needed);
        }
        let all = self.fetch(true)?;
        let Some(subdomains) = &self.subdomains else {
            return Ok(());
        };
        let listed_at = subdomains.domains[0].local.populations.walls.listed_at;
        // The subdomains have reported the wear since the last rebuild.
        self.whole.populations.walls.work.by_entry.clear();
        let (populations, merges) = (&mut self.whole.populations, self.whole.backend.gpu.is_some());
        // Contacts are sorted on one thread while the others list the grains.
        let all = std::thread::scope(|scope| {
            let merged = scope.spawn(move || if merges { vec![merged_contacts(all)] } else { all });
            populations.forget_contacts();
            populations.list_from_references(listed_at);
            merged.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
        let populations = &mut self.whole.populations;
        let given = populations.restore_histories_of_domains(&all, false).and_then(|()| {
            let mut reports = all.iter();
            reports.try_for_each(|reported| populations.restore_wear_since_rebuild(reported, true))
        });
        given.map_err(|refusal| self.whole.populations.failed(refusal.to_string()))
    }

    /// Partition of grains at these positions, and of fluids, into the requested number of subdomains. `None` if there are no particles, or if the
    /// simulation `goes_on` and too few are left to fill the subdomains, or the first are still to come. The settings of a decomposition then give
    /// the same bits in one subdomain.
    pub(super) fn partition_current(
        &mut self,
        places: &[Vec3],
        on_gpus: bool,
        goes_on: bool,
    ) -> Result<Option<(Partition, Option<Partition>)>, WorldError> {
        let cuts = self.whole.populations.partition_all(places, on_gpus);
        if !matches!(cuts, Err(WorldError::Subdomains(_))) || !goes_on {
            return cuts;
        }
        let notice = format!(
            "too few particles for {} domains: the run continues in one",
            self.whole.populations.context.settings.domains
        );
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
        Ok(None)
    }
}
