//! Several domains, one answer: a world divided among simulations that each own the grains of a slab.
//!
//! The [`Simulation`] that is divided stays: it is what readers, events and checkpoints see, brought up to date when somebody looks, as beside a GPU.
//! Results do not depend on the number of domains, to the last bit: see [`crate::world::Settings::divisible`]. A copy of a grain of another domain is a
//! grain that nothing here moves ([`GHOST`](seixo_sweeps::bodies::GHOST)); a pair across a border is computed by both owners, and each books half.

mod letters;
mod slabs;
mod subdomain;

use crate::bodies::Bodies;
use crate::broad::Broad;
use crate::fields::{Fields, Sorted};
use crate::guard::Stop;
use crate::measure::{NO_CONTACT, Work, sum};
use crate::refusal::Refusal;
use crate::search::Pairs;
use crate::simulation::{PASSES_OF_CPU, Simulation};
use crate::state::{Ledger, Profile, State};
use crate::world::{DeviceChoice, Settings, Vec3};
use seixo_device::Cpu;
use seixo_sweeps::bodies::GHOST;
use seixo_sweeps::sides::SHEARED;
use seixo_transport::Channels;
use slabs::Slabs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use subdomain::{Halt, Subdomain};

/// How a world is divided among domains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Divided {
    /// Grains that each domain owns.
    pub grains: Vec<usize>,
    /// How often a grain went from one domain to another.
    pub changed_hands: u64,
}

/// The domains that a world is divided among.
pub(crate) struct Division {
    domains: Vec<Subdomain>,
}

impl Division {
    /// Number of grains.
    pub fn grains(&self) -> usize {
        self.domains.iter().map(Subdomain::len).sum()
    }

    /// Bytes that the arrays of all domains hold.
    pub fn bytes(&self) -> u64 {
        self.domains.iter().map(|domain| domain.simulation.bytes()).sum()
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
        halts.into_iter().next().map_or(Ok(()), Err)
    }
}

impl Simulation {
    /// Why this world cannot be divided, if it cannot.
    fn why_whole(&self) -> Option<&'static str> {
        let asks = [
            (self.settings.device != DeviceChoice::Cpu, "a device other than the CPU"),
            (self.carries, "rigid bodies, or grains that are held"),
            (self.bonds.is_some(), "bonds"),
            (self.flow.is_some(), "fluids"),
            (self.conducts(), "heat"),
            (self.is_geared(), "Gear's method"),
            (!self.switched.is_empty(), "grains that stages hold, set free or load anew"),
            (self.sides == SHEARED, "sides that slide past each other"),
            (self.walls.has_servos(), "servos"),
            (self.walls.wears(), "walls that wear"),
        ];
        asks.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, what)| what)
    }

    /// How the grains are divided among domains, if they are.
    pub fn divided(&self) -> Option<Divided> {
        let division = self.division.as_ref()?;
        Some(Divided {
            grains: division.domains.iter().map(Subdomain::len).collect(),
            changed_hands: self.changed_hands + division.domains.iter().map(|domain| domain.sent_away).sum::<u64>(),
        })
    }

    /// Divides the grains, if there are any, among as many domains as are asked for.
    pub(crate) fn divide(&mut self) -> Result<(), Refusal> {
        let count = self.settings.domains;
        if let Some(what) = self.why_whole() {
            return Err(Refusal::Division(format!(
                "a world with {what} is not divided among domains; leave --domains out"
            )));
        }
        if self.fields.len() == 0 {
            return Ok(());
        }
        let places: Vec<Vec3> = self.fields.reference.as_chunks::<3>().0.to_vec();
        let reach = 2.0 * self.cells.largest_radius() + self.cells.skin;
        let slabs = Slabs::cut(&places, count, reach, self.domain.as_ref())?;
        let mut contacts = State::default();
        self.save_contacts(&mut contacts).map_err(|stop| Refusal::Stopped(Box::new(stop)))?;
        let threads = (self.threads() / count).max(1);
        let mut domains = Vec::new();
        for transport in Channels::all(count) {
            let mut share = self.share(threads)?;
            let rank = domains.len();
            let own = places.iter().zip(0..).filter(|(place, _)| slabs.owner(*place) == rank);
            share.fields = self.fields.pick(&own.map(|(_, i)| i).collect::<Vec<u32>>());
            if rank == 0 {
                share.last_tally = self.last_tally;
            }
            domains.push(Subdomain::new(share, slabs.clone(), Box::new(transport)));
        }
        let mut division = Division { domains };
        let (listed_at, held) = (self.walls.listed_at, [contacts]);
        let listed = division.all(|domain| domain.list(listed_at, &held));
        listed.map_err(|halt| match halt {
            Halt::Refused(refusal) => refusal,
            halt => Refusal::Stopped(Box::new(self.halted(halt))),
        })?;
        self.division = Some(division);
        Ok(())
    }

    /// A simulation of the same world without grains, for a domain.
    fn share(&self, threads: usize) -> Result<Simulation, Refusal> {
        let mut walls = self.walls.clone();
        walls.forget();
        Ok(Simulation {
            device: Arc::new(Cpu::new(threads)?),
            settings: Settings {
                threads,
                domains: 1,
                ..self.settings.clone()
            },
            domain: self.domain,
            sides: self.sides,
            fields: Fields::default(),
            bodies: Bodies::default(),
            carries: false,
            has_ghosts: true,
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
            profile: Profile::new(&PASSES_OF_CPU),
            owes_forces: false,
            trace: None,
            gpu: None,
            remote: None,
            division: None,
            changed_hands: 0,
            is_current: true,
            held: Ledger::default(),
            of_second: Vec::new(),
            bonds: None,
            kinds_of_bonds: Vec::new(),
            left_to_bonds: self.left_to_bonds,
            flow: None,
            heat: None,
            notices: Vec::new(),
        })
    }

    /// Whether grain i is a copy of one that another domain owns.
    pub(crate) fn is_copy(&self, i: usize) -> bool {
        self.has_ghosts && self.fields.member[i] == GHOST
    }

    /// As [`Simulation::advance`], in all domains.
    pub(crate) fn advance_divided(&mut self, steps: u64) -> Result<(), Stop> {
        let Some(division) = &mut self.division else { return Ok(()) };
        // What the domains have need not be here as well.
        (self.pairs, self.old_pairs, self.fields) = (Pairs::default(), Pairs::default(), Fields::default());
        self.is_current = false;
        let done = division.all(|domain| domain.advance(steps));
        self.steps = division.domains[0].simulation.steps;
        let Err(halt) = done else { return Ok(()) };
        let stop = self.halted(halt);
        self.fetch_grains();
        Err(stop)
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

    /// Takes over where the grains of all domains are, and what was booked there.
    fn fetch_grains(&mut self) {
        let Some(division) = &mut self.division else { return };
        let mut fields = Fields::default();
        let mut last = NO_CONTACT;
        for domain in &mut division.domains {
            fields.append(&domain.own());
            self.changed_hands += std::mem::take(&mut domain.sent_away);
            let simulation = &mut domain.simulation;
            last = sum(last, &simulation.last_tally);
            self.work = self.work.plus(&std::mem::take(&mut simulation.work));
        }
        let first = &mut division.domains[0].simulation;
        (self.steps, self.profile) = (first.steps, first.profile.clone());
        self.rebuilds += std::mem::take(&mut first.rebuilds);
        for domain in &mut division.domains[1..] {
            domain.simulation.rebuilds = 0;
        }
        (self.fields, self.last_tally) = (fields, last);
    }

    /// As [`Simulation::observe`], of a world that is divided.
    pub(crate) fn observe_division(&mut self) -> Result<(), Stop> {
        self.fetch_grains();
        let Some(mut division) = self.division.take() else { return Ok(()) };
        self.forget_contacts();
        self.list_from_references(division.domains[0].simulation.walls.listed_at);
        let mut told = Ok(());
        for domain in &mut division.domains {
            let mut contacts = State::default();
            told = told.and_then(|()| domain.simulation.save_contacts(&mut contacts));
            let given = self.give_back_histories(&contacts, false);
            told = told.and(given.map_err(|refusal| self.failed(refusal.to_string())));
        }
        self.division = Some(division);
        told
    }
}
