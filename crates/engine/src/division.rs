//! Several domains, one answer: a world divided among simulations that each own the grains of a block.
//!
//! The [`Simulation`] that is divided stays: it is what readers, events and checkpoints see, brought up to date when somebody looks, as beside a GPU.
//! Results do not depend on the number of domains, to the last bit: see [`crate::world::Settings::divisible`]. A copy of a grain of another domain is a
//! grain that nothing here moves ([`GHOST`](seixo_sweeps::bodies::GHOST)); a pair across a border is computed by both owners, and each books half.

mod bodies;
mod bonds;
mod contacts;
mod cuts;
mod fluids;
mod letters;
mod on_gpu;
mod ranks;
mod report;
mod samples;
mod stops;
mod subdomain;
mod traffic;

pub(crate) use bodies::Pushes;
pub use cuts::{Borders, Space};
pub(crate) use letters::{Illegible, enclose, enclose_letter, unfold, unfold_letter};
pub use ranks::Ranks;
pub(crate) use samples::SAMPLED;
pub(crate) use subdomain::{Halt, Shared};
pub use traffic::Traffic;

use crate::border::Border;
use crate::broad::Broad;
use crate::fields::{Fields, Sorted};
use crate::gpu::PASSES;
use crate::guard::Stop;
use crate::measure::{NO_CONTACT, Work, sum};
use crate::place::gpu_asked_for;
use crate::refusal::Refusal;
use crate::resume::books;
use crate::search::Pairs;
use crate::simulation::{PASSES_OF_CPU, Simulation};
use crate::state::{Ledger, Profile, State};
use crate::world::{DeviceChoice, Precision, Settings, Vec3};
use contacts::joined;
use on_gpu::desk_for;
use report::Report;
use seixo_device::Cpu;
use seixo_device::gpu::{Gpu, GpuError, list};
use seixo_sweeps::bodies::is_ghost;
use seixo_transport::Transport;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use subdomain::Subdomain;

/// How a world is divided among domains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Divided {
    /// Grains that each domain owns.
    pub grains: Vec<usize>,
    /// Particles of fluid that each domain owns; empty where nothing flows.
    pub fluid: Vec<usize>,
    /// What was cut, of which each domain has a block: where the grains are or, where there are few, the fluid.
    pub space: Space,
    /// How often a grain, or a particle of fluid or of a wall, went from one domain to another.
    pub changed_hands: u64,
    /// What each domain told the others since the simulation was made.
    pub traffic: Vec<Traffic>,
}

/// The domains that a world is divided among.
pub(crate) struct Division {
    /// Those of this process.
    domains: Vec<Subdomain>,
    /// The processes that have one each, where there are several.
    ranks: Option<Ranks>,
    /// Grains and particles of fluid that each domain owned when somebody looked last, and bytes that the arrays of all held.
    grains: Vec<usize>,
    fluid: Vec<usize>,
    bytes: u64,
    /// Whether domains broke off where they do not fit each other, so that nothing can be made of them any more.
    is_lost: bool,
}

impl Division {
    /// Number of grains when somebody looked last.
    pub fn grains(&self) -> usize {
        self.grains.iter().sum()
    }

    /// Number of particles of fluid when somebody looked last.
    pub fn fluid_particles(&self) -> usize {
        self.fluid.iter().sum()
    }

    /// Bytes that the arrays of all domains held when somebody looked last.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What all domains tell, in their order, with their fluids or without.
    fn reports(&mut self, with_fluids: bool) -> Result<Vec<Report>, Halt> {
        if self.is_lost {
            return Err(Halt::Lost("the domains have lost each other".to_owned()));
        }
        let own: Result<Vec<Report>, Stop> = self.domains.iter_mut().map(|domain| Report::of(domain, with_fluids)).collect();
        let own = own.map_err(|stop| Halt::Stopped(Box::new(stop)))?;
        match &mut self.ranks {
            Some(ranks) => ranks.all_reports(own),
            None => Ok(own),
        }
    }

    /// Lets all domains do something at the same time; tells the worst that came of it.
    fn all(&mut self, work: impl Fn(&mut Subdomain) -> Result<(), Halt> + Sync) -> Result<(), Halt> {
        let work = &work;
        let ends: Vec<Result<(), Halt>> = std::thread::scope(|scope| {
            let run = |domain: &mut Subdomain| {
                let panicked = |_| Err(Halt::Lost("it panicked, which is a fault of this program".to_owned()));
                let done = catch_unwind(AssertUnwindSafe(|| work(domain))).unwrap_or_else(panicked);
                if let Err(halt) = &done {
                    domain.give_up(halt);
                }
                done
            };
            let threads: Vec<_> = self.domains.iter_mut().map(|domain| scope.spawn(move || run(domain))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(Halt::Lost("a domain panicked".to_owned()))))
                .collect()
        });
        let mut halts: Vec<Halt> = ends.into_iter().filter_map(Result::err).collect();
        // One that says what happened says more than those that were told.
        halts.sort_by_key(|halt| match halt {
            Halt::Stopped(_) | Halt::Refused(_) => 0,
            Halt::Lost(_) => 1,
            Halt::Elsewhere => 2,
        });
        let Some(halt) = halts.into_iter().next() else { return Ok(()) };
        let halt = match &mut self.ranks {
            Some(ranks) => ranks.explained(halt),
            None => halt,
        };
        self.is_lost |= matches!(halt, Halt::Lost(_) | Halt::Refused(_));
        Err(halt)
    }
}

impl Simulation {
    /// Why this world cannot be divided, if it cannot.
    fn why_whole(&self) -> Option<&'static str> {
        let asks = [(
            matches!(self.settings.device, DeviceChoice::Heterogeneous(_)),
            "the CPU and a GPU at the same time",
        )];
        let of_grains = asks.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, what)| what);
        of_grains.or_else(|| self.why_fluids_are_whole())
    }

    /// Why domains of this world cannot be on GPUs, if they cannot.
    fn why_not_on_gpus(&self) -> Option<&'static str> {
        let asks = [
            (self.carries, "bodies or grains that are held"),
            (!self.switched.is_empty(), "grains that stages hold, set free or load anew"),
        ];
        let of_grains = asks.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, what)| what);
        of_grains.or_else(|| self.why_fluids_are_not_on_gpus())
    }

    /// How grains and fluids were divided among domains when [`Simulation::observe`] was called last, if they are.
    pub fn divided(&self) -> Option<Divided> {
        let division = self.division.as_ref()?;
        Some(Divided {
            grains: division.grains.clone(),
            fluid: division.fluid.clone(),
            space: division.domains[0].cuts.space(),
            changed_hands: self.changed_hands,
            traffic: self.traffic.clone(),
        })
    }

    /// Divides grains and fluids, if there are any, among as many domains as are asked for; not at all where the simulation `goes_on` and they do not fill these.
    pub(crate) fn divide(&mut self, goes_on: bool) -> Result<(), Refusal> {
        let count = self.settings.domains;
        let most = Cpu::most_threads();
        if count > most && self.settings.ranks.is_none() {
            return Err(Refusal::Division(format!(
                "{count} domains are too many for this machine: each takes a thread, and at most {most} are of any use; use --domains {most} or fewer"
            )));
        }
        if let Some(what) = self.why_whole() {
            return Err(Refusal::Division(format!(
                "a world with {what} is not divided among domains; leave --domains out"
            )));
        }
        let places: Vec<Vec3> = self.fields.reference.as_chunks::<3>().0.to_vec();
        let gpus = self.gpus_of_domains()?;
        let Some((cuts, of_fluids)) = self.cut_what_is_there(&places, !gpus.is_empty(), goes_on)? else {
            return self.get_ready_for(&gpus);
        };
        if let Some(what) = self.why_not_on_gpus().filter(|_| !gpus.is_empty()) {
            return Err(Refusal::Division(format!(
                "a world with {what} is divided among domains on the CPU only; use --device cpu"
            )));
        }
        let mut contacts = State::default();
        // What was saved on a GPU has it of either grain.
        let are_two = !gpus.is_empty() && !self.of_second.is_empty();
        self.save_memories(&mut contacts, are_two)
            .map_err(|stop| Refusal::Stopped(Box::new(stop)))?;
        self.save_wear(&mut contacts);
        self.tell_bonds(&mut contacts);
        self.get_ready_for(&gpus)?;
        let precision = self.settings.precision;
        let mut grains = vec![0; count];
        places.iter().for_each(|place| grains[cuts.owner(place)] += 1);
        // Processes cannot hand each other anything but bytes, and what domains hand each other tells no more than where grains are and how they move.
        let reached = if self.settings.ranks.is_none() { &gpus[..] } else { &[] };
        let of_grains = if self.conducts() || self.is_bonded() { &[] } else { reached };
        let desk = desk_for(of_grains, self.flow.is_some() || self.walls.has_servos())?;
        let desk_of_fluids = if of_fluids.is_some() { desk_for(reached, true)? } else { None };
        let transports = self.settings.transports();
        let threads = (self.threads() / transports.len()).max(1);
        let mut domains = Vec::new();
        for transport in transports {
            let mut share = self.share(threads)?;
            let rank = transport.rank();
            let own = places.iter().zip(0..).filter(|(place, _)| cuts.owner(*place) == rank);
            share.fields = self.fields.pick(&own.map(|(_, i)| i).collect::<Vec<u32>>());
            if rank == 0 {
                share.last_tally = self.last_tally;
                if let (Some(share), Some(whole)) = (&mut share.bonds, &self.bonds) {
                    share.last = whole.last;
                }
            }
            let mut domain = Subdomain::new(share, cuts.clone(), transport);
            domain.has_grains = !places.is_empty();
            domain.desk = desk.clone();
            if let Some(cuts) = &of_fluids {
                self.share_fluids(cuts, rank, &mut domain)?;
                domain.fluids.iter_mut().for_each(|fluids| fluids.desk = desk_of_fluids.clone());
            }
            domains.push(domain);
        }
        let mut division = Division {
            domains,
            ranks: self.settings.ranks.clone(),
            grains,
            fluid: of_fluids.map_or_else(Vec::new, |cuts| self.fluid_in(&cuts)),
            bytes: 0,
            is_lost: false,
        };
        let (listed_at, held) = (self.walls.listed_at, [contacts]);
        let listed = division.all(|domain| {
            domain.list(listed_at, &held)?;
            let worn = domain.simulation.give_back_wear_since_listed(&held[0], false);
            worn.map_err(Halt::Refused)?;
            domain.list_fluids()?;
            match (gpus.get(domain.rank), precision) {
                (Some(gpu), Some(precision)) => domain.hand_over(gpu, precision),
                _ => Ok(()),
            }
        });
        listed.map_err(|halt| match halt {
            Halt::Refused(refusal) => refusal,
            halt => Refusal::Stopped(Box::new(self.halted(halt))),
        })?;
        division.bytes = division.domains.iter().map(|domain| domain.simulation.bytes()).sum();
        self.division = Some(division);
        Ok(())
    }

    /// Gets ready for the first of these GPUs, if there are any.
    fn get_ready_for(&mut self, gpus: &[Gpu]) -> Result<(), Refusal> {
        if let Some(gpu) = gpus.first() {
            self.settings.precision = Some(self.precision_of_world_on(gpu)?);
            // What domains or the GPU do is told by the same words.
            if self.profile.passes.len() != PASSES.len() {
                self.profile = Profile::new(&PASSES);
            }
        }
        self.gpu = gpus.first().cloned();
        Ok(())
    }

    /// The GPUs that domains are on, in their order; none where they are on the cores of this machine.
    fn gpus_of_domains(&mut self) -> Result<Vec<Gpu>, Refusal> {
        let (domains, asked) = (self.settings.domains, self.settings.gpus);
        let Some(first) = gpu_asked_for(self.settings.device, &mut self.notices)? else {
            if asked > 1 {
                return Err(Refusal::Division(format!(
                    "{asked} GPUs are asked for, but this runs on the CPU; leave --gpus out, or name a GPU that seixo info finds with --device"
                )));
            }
            return match self.settings.precision {
                Some(precision) if precision != Precision::F64 => Err(Refusal::Precision {
                    precision: precision.name(),
                }),
                _ => Ok(Vec::new()),
            };
        };
        let is_named = matches!(self.settings.device, DeviceChoice::Gpu(Some(_)));
        if asked <= 1 && (is_named || self.settings.ranks.is_none()) {
            return Ok(vec![first; domains]);
        }
        let api = first.description().api;
        let found = list().found.into_iter().filter(|found| found.api == api);
        let alike: Vec<usize> = found.map(|found| found.index).collect();
        if asked <= 1 {
            // Ranks of one machine take its GPUs in turn.
            let own = self.settings.ranks.as_ref().map_or(0, |ranks| ranks.rank() % alike.len());
            return Ok(vec![Gpu::open(Some((api, alike[own])))?; domains]);
        }
        if alike.len() < asked {
            return Err(Refusal::Division(format!(
                "{asked} GPUs are asked for, and {api} reaches {} (seixo info); use at most as many",
                alike.len()
            )));
        }
        let opened: Result<Vec<Gpu>, GpuError> = alike[..asked].iter().map(|&index| Gpu::open(Some((api, index)))).collect();
        let opened = opened?;
        Ok((0..domains).map(|domain| opened[domain * asked / domains].clone()).collect())
    }

    /// A simulation of the same world without grains, for a domain.
    fn share(&self, threads: usize) -> Result<Simulation, Refusal> {
        let mut walls = self.walls.clone();
        walls.forget();
        walls.work.forget();
        Ok(Simulation {
            device: Arc::new(Cpu::new(threads)?),
            settings: Settings {
                threads,
                domains: 1,
                gpus: 1,
                ranks: None,
                ..self.settings.clone()
            },
            domain: self.domain,
            sides: self.sides,
            fields: Fields::default(),
            bodies: self.bodies.of_domain(),
            carries: self.carries,
            has_ghosts: true,
            border: Border::default(),
            moves_of_bodies: Vec::new(),
            broad: Broad::default(),
            table: self.table.clone(),
            materials: self.materials,
            densities: self.densities.clone(),
            expected: Vec::new(),
            next_id: self.next_id,
            frictional: self.frictional,
            has_mindlin: self.has_mindlin,
            is_compound: self.is_compound,
            is_uniform: self.is_uniform,
            cells: self.cells.clone(),
            pairs: Pairs::default(),
            old_pairs: Pairs::default(),
            walls,
            loads: self.loads.clone(),
            switched: Vec::new(),
            stepping: self.stepping,
            moves: Vec::new(),
            tallies: Vec::new(),
            wall_tallies: Vec::new(),
            last_tally: NO_CONTACT,
            work: Work::default(),
            steps: self.steps,
            rebuilds: 0,
            time_step: self.time_step.clone(),
            digits: self.digits,
            profile: Profile::new(&PASSES_OF_CPU),
            owes_forces: false,
            trace: None,
            gpu: None,
            remote: None,
            division: None,
            changed_hands: 0,
            traffic: Vec::new(),
            is_current: true,
            held: Ledger::default(),
            of_second: Vec::new(),
            bonds: self.bonds.as_ref().map(|network| Box::new(network.of_same_kinds())),
            kinds_of_bonds: Vec::new(),
            left_to_bonds: self.left_to_bonds,
            flow: None,
            heat: self.heat.as_ref().map(|heat| heat.of_domain()),
            notices: Vec::new(),
        })
    }

    /// Whether grain i is a copy of one that another domain owns.
    pub(crate) fn is_copy(&self, i: usize) -> bool {
        self.has_ghosts && is_ghost(self.fields.member[i])
    }

    /// As [`Simulation::advance`], in all domains.
    pub(crate) fn advance_divided(&mut self, steps: u64) -> Result<(), Stop> {
        let Some(division) = &mut self.division else { return Ok(()) };
        // What the domains have need not be here as well.
        (self.pairs, self.old_pairs, self.fields) = (Pairs::default(), Pairs::default(), Fields::default());
        if let Some(flow) = &mut self.flow {
            flow.pairs = Pairs::default();
        }
        self.bonds.iter_mut().for_each(|network| network.forget_rows());
        self.is_current = false;
        let done = division.all(|domain| domain.advance(steps));
        self.steps = division.domains[0].simulation.steps;
        let Err(halt) = done else { return Ok(()) };
        if division.domains.iter().any(|domain| domain.simulation.is_remote()) && !division.is_lost {
            division.domains.iter_mut().for_each(Subdomain::give_back);
            // What stopped them is told in any case.
            let _ = self.fetch(false);
        }
        Err(self.halted(halt))
    }

    /// What a user is told of a domain that halted.
    fn halted(&self, halt: Halt) -> Stop {
        match halt {
            Halt::Stopped(stop) => *stop,
            Halt::Refused(refusal) => self.failed(refusal.to_string()),
            Halt::Lost(why) => self.failed(why),
            Halt::Elsewhere => self.failed("another domain halted".to_owned()),
        }
    }

    /// Takes over where the grains of all domains are, and the fluids, if that is asked for, and what was booked there; returns what contacts remember.
    fn fetch(&mut self, with_fluids: bool) -> Result<Vec<State>, Stop> {
        let Some(mut division) = self.division.take() else {
            return Ok(Vec::new());
        };
        let reports = division.reports(with_fluids);
        let taken = reports.and_then(|reports| self.take_over(&mut division, reports));
        self.division = Some(division);
        taken.map_err(|halt| self.halted(halt))
    }

    fn take_over(&mut self, division: &mut Division, reports: Vec<Report>) -> Result<Vec<State>, Halt> {
        let (mut fields, mut last, mut contacts, mut fluids) = (Fields::default(), NO_CONTACT, Vec::new(), Vec::new());
        (division.grains, division.bytes) = (Vec::new(), 0);
        self.add_traffic(&reports)?;
        for report in reports {
            let [sent_away, bytes] = report.counts()?;
            let (work, tally) = books(&report.told)?;
            last = sum(last, &tally);
            self.work = self.work.plus(&work);
            self.changed_hands += sent_away;
            self.walls.work.take_over(&report.told);
            if let Some(heat) = &mut self.heat {
                heat.take_over(&report.told);
            }
            division.grains.push(report.fields.len());
            division.bytes += bytes;
            fields.append(&report.fields);
            contacts.push(report.told);
            fluids.extend(report.fluids);
        }
        let first = &mut division.domains[0].simulation;
        (self.steps, self.profile) = (first.steps, first.profile.clone());
        self.walls.set_servos(&first.walls.servo_state(), false);
        self.take_over_bodies(&mut first.bodies);
        // They renew their lists together.
        self.rebuilds += std::mem::take(&mut first.rebuilds);
        (self.fields, self.last_tally) = (fields, last);
        self.take_reports_of_bonds(&contacts);
        if !fluids.is_empty() {
            division.fluid = fluids.iter().map(|share| share.count).collect();
            self.take_over_fluids(fluids);
        }
        Ok(contacts)
    }

    /// As [`Simulation::observe`], of a world that is divided.
    pub(crate) fn observe_division(&mut self) -> Result<(), Stop> {
        let observed = self.division.as_mut().map_or(Ok(()), |division| division.all(Subdomain::observe));
        observed.map_err(|halt| self.halted(halt))?;
        let all = self.fetch(true)?;
        let Some(division) = &self.division else { return Ok(()) };
        let listed_at = division.domains[0].simulation.walls.listed_at;
        // Domains know what was done since the lists were made, and have told it.
        self.walls.work.by_entry.clear();
        self.forget_contacts();
        self.list_from_references(listed_at);
        let all = if self.gpu.is_some() { vec![joined(all)] } else { all };
        let given = all.iter().try_for_each(|told| {
            self.give_back_histories(told, false)?;
            self.give_back_wear_since_listed(told, true)
        });
        given.map_err(|refusal| self.failed(refusal.to_string()))
    }
}
