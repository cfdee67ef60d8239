//! One domain of a division: its grains, copies of those of others that they feel, and what it tells the others at every step.
//!
//! All domains run the same text in lock step. Lists are renewed in all of them as soon as one asks for it; only then grains change hands, and copies
//! are chosen anew. Between two renewals a copy follows its original step by step.

use super::letters::{Illegible, from_bytes, letter, read, to_bytes};
use super::slabs::Slabs;
use crate::fields::{Fields, Sorted};
use crate::guard::Stop;
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::state::{Column, State};
use crate::world::Leaving;
use seixo_sweeps::bodies::{FREE, GHOST};
use seixo_sweeps::sides::OPEN;
use seixo_sweeps::views::RECORD;
use seixo_transport::{Lost, Transport};
use std::sync::{Mutex, PoisonError};

/// Of how many of its grains a domain tells where they are, for planes to be moved.
const SAMPLES: usize = 64;

/// Why a domain does not go on.
#[derive(Debug)]
pub enum Halt {
    /// Something in it became impossible.
    Stopped(Box<Stop>),
    /// Something in another one did.
    Elsewhere,
    /// Another one cannot be reached, or cannot be understood.
    Lost(String),
    /// Its grains cannot be listed.
    Refused(Refusal),
}

impl From<Lost> for Halt {
    fn from(lost: Lost) -> Halt {
        Halt::Lost(lost.to_string())
    }
}

impl From<Illegible> for Halt {
    fn from(_: Illegible) -> Halt {
        Halt::Lost("a domain said what this program does not understand".to_owned())
    }
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Halt {
        Halt::Refused(refusal)
    }
}

/// What a domain thinks of a step; of all, the gravest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Fine,
    Stale,
    Failed,
}

/// Grains that another domain has copies of, or this one copies of that one's, in the same order in both.
struct Shared {
    with: usize,
    own: Vec<u32>,
    copies: Vec<u32>,
}

/// A domain at work.
pub struct Subdomain {
    pub simulation: Simulation,
    /// Grains that it sent to others since somebody looked.
    pub sent_away: u64,
    slabs: Slabs,
    rank: usize,
    /// Only ever used by who has the domain to himself; others may look at its simulation.
    transport: Mutex<Box<dyn Transport>>,
    shared: Vec<Shared>,
}

impl Subdomain {
    /// A domain of these slabs, whose simulation holds the grains that it owns, and what their contacts remember.
    pub fn new(simulation: Simulation, slabs: Slabs, transport: Box<dyn Transport>) -> Subdomain {
        Subdomain {
            simulation,
            sent_away: 0,
            slabs,
            rank: transport.rank(),
            transport: Mutex::new(transport),
            shared: Vec::new(),
        }
    }

    /// Tells the others that this one cannot go on, unless they know.
    pub fn give_up(&mut self, halt: &Halt) {
        let why = match halt {
            Halt::Stopped(_) | Halt::Elsewhere => return,
            Halt::Lost(why) => why.clone(),
            Halt::Refused(refusal) => refusal.to_string(),
        };
        through(&mut self.transport).fail(&why);
    }

    /// Takes steps, or as many as all can take.
    pub fn advance(&mut self, steps: u64) -> Result<(), Halt> {
        let device = self.simulation.device.clone();
        device.enter(|| (0..steps).try_for_each(|_| self.step()))
    }

    fn step(&mut self) -> Result<(), Halt> {
        let moved = self.simulation.move_grains();
        let is_stale = self.simulation.lists_are_stale();
        match self.agree(verdict(&moved, is_stale))? {
            Verdict::Failed => return Err(halt(moved)),
            Verdict::Stale => self.settle_anew()?,
            Verdict::Fine => self.follow_originals()?,
        }
        let pushed = self.simulation.push_grains();
        match self.agree(verdict(&pushed, false))? {
            Verdict::Failed => Err(halt(pushed)),
            _ => Ok(()),
        }
    }

    /// What all domains think.
    fn agree(&mut self, own: Verdict) -> Result<Verdict, Halt> {
        let all = through(&mut self.transport).gather(vec![own as u8])?;
        let gravest = all.iter().filter_map(|said| said.first().copied()).max();
        Ok(match gravest {
            Some(0) => Verdict::Fine,
            Some(1) => Verdict::Stale,
            _ => Verdict::Failed,
        })
    }

    /// Lets grains that went into other slabs change hands, and lists all anew.
    fn settle_anew(&mut self) -> Result<(), Halt> {
        let mut contacts = State::default();
        self.simulation
            .save_contacts(&mut contacts)
            .map_err(|stop| Halt::Stopped(Box::new(stop)))?;
        self.drop_copies();
        if self.simulation.sides != OPEN {
            self.simulation.put_grains_back();
        }
        self.drop_lost();
        self.simulation.fields.reference = places(&self.simulation.fields.position);
        self.balance()?;
        let held = self.send_away(&contacts)?;
        self.list(self.simulation.time(), &held)?;
        self.simulation.rebuilds += 1;
        Ok(())
    }

    /// Moves the planes between slabs to where all have about as many grains.
    fn balance(&mut self) -> Result<(), Halt> {
        let places = self.simulation.fields.reference.chunks_exact(3);
        let mut along: Vec<f64> = places.map(|place| self.slabs.along(place)).collect();
        along.sort_unstable_by(f64::total_cmp);
        let (n, taken) = (along.len(), along.len().min(SAMPLES));
        let samples = (0..taken).map(|k| along[(2 * k + 1) * n / (2 * taken)]);
        let told: Vec<f64> = std::iter::once(n as f64).chain(samples).collect();
        let all = through(&mut self.transport).gather(to_bytes(&told))?;
        let mut read = Vec::new();
        for told in all {
            let numbers = from_bytes(&told)?;
            let (grains, samples) = numbers.split_first().ok_or(Illegible)?;
            read.push((*grains as usize, samples.to_vec()));
        }
        if let Some(moved) = self.slabs.balanced(&read) {
            self.slabs = moved;
        }
        Ok(())
    }

    /// Forgets the copies.
    fn drop_copies(&mut self) {
        let fields = &mut self.simulation.fields;
        let own: Vec<u32> = (0..fields.len() as u32).filter(|&i| fields.member[i as usize] != GHOST).collect();
        fields.reorder(&self.simulation.device, &own);
    }

    /// Removes grains that left the world.
    fn drop_lost(&mut self) {
        let simulation = &mut self.simulation;
        let Some(domain) = simulation.domain.filter(|domain| domain.leaving == Leaving::Delete) else {
            return;
        };
        let n = simulation.fields.len();
        let lost = |simulation: &Simulation, i: usize| domain.has_lost(&simulation.fields.position[i * RECORD..]);
        simulation.work.left_domain += (0..n)
            .filter(|&i| lost(simulation, i))
            .map(|i| simulation.energy_of(i))
            .sum::<f64>();
        let kept: Vec<u32> = (0..n).filter(|&i| !lost(simulation, i)).map(|i| i as u32).collect();
        if kept.len() < n {
            simulation.fields.reorder(&simulation.device, &kept);
        }
    }

    /// Sends grains to the domains whose slabs they are in, with what their contacts remember, and takes in those that come; returns what the contacts
    /// of all that are here remember, told by some of them twice.
    fn send_away(&mut self, contacts: &State) -> Result<Vec<State>, Halt> {
        let own = self.rank;
        let beside = self.slabs.beside(own);
        let fields = &self.simulation.fields;
        let owner: Vec<usize> = fields.reference.chunks_exact(3).map(|place| self.slabs.owner(place)).collect();
        if let Some(i) = owner.iter().position(|owner| *owner != own && !beside.contains(owner)) {
            let id = fields.id[i];
            return Err(Halt::Lost(format!(
                "grain {id} went through a whole domain between two renewals of the lists; use fewer domains, or a shorter time step"
            )));
        }
        for &other in &beside {
            let leaving: Vec<u32> = (0..owner.len()).filter(|&i| owner[i] == other).map(|i| i as u32).collect();
            let mut state = State::default();
            self.sent_away += leaving.len() as u64;
            if !leaving.is_empty() {
                let settlers = fields.pick(&leaving);
                settlers.save(&mut state);
                self.simulation.pick_contacts(contacts, &settlers.id, &mut state);
            }
            through(&mut self.transport).send(other, letter(&state))?;
        }
        let staying: Vec<u32> = (0..owner.len()).filter(|&i| owner[i] == own).map(|i| i as u32).collect();
        self.simulation.fields.reorder(&self.simulation.device, &staying);
        let mut held = vec![contacts.clone()];
        for &other in &beside {
            let state = read(&through(&mut self.transport).receive(other)?)?;
            if !state.sections.is_empty() {
                self.simulation.fields.append(&Fields::load(&state).map_err(|_| Illegible)?);
                held.push(state);
            }
        }
        Ok(held)
    }

    /// Lists all grains as they were when lists were made, at this time \[s\], with copies of those of others; their contacts get back what they remember.
    pub fn list(&mut self, listed_at: f64, held: &[State]) -> Result<(), Halt> {
        let named = self.exchange_copies()?;
        let simulation = &mut self.simulation;
        simulation.forget_contacts();
        simulation.list_from_references(listed_at);
        for contacts in held {
            simulation.give_back_histories(contacts, false)?;
        }
        let mut place: Vec<(u32, u32)> = simulation.fields.id.iter().copied().zip(0..).collect();
        place.sort_unstable();
        let places_of = |ids: &[u32]| {
            let place_of = |id: &u32| place[place.partition_point(|(known, _)| known < id)].1;
            ids.iter().map(place_of).collect()
        };
        let named = named.iter().map(|named| Shared {
            with: named.with,
            own: places_of(&named.own),
            copies: places_of(&named.copies),
        });
        self.shared = named.collect();
        Ok(())
    }

    /// Sends copies of grains that others feel, and takes in theirs; returns the ids of both in place of places.
    fn exchange_copies(&mut self) -> Result<Vec<Shared>, Halt> {
        let beside = self.slabs.beside(self.rank);
        let mut fields = std::mem::take(&mut self.simulation.fields);
        let mut sent = Vec::new();
        for &other in &beside {
            let felt = fields
                .reference
                .chunks_exact(3)
                .zip(0..)
                .filter(|(place, _)| self.slabs.is_felt_in(other, place));
            let picked = fields.pick(&felt.map(|(_, i)| i).collect::<Vec<u32>>());
            let mut state = State::default();
            picked.save(&mut state);
            through(&mut self.transport).send(other, letter(&state))?;
            sent.push(picked.id);
        }
        fields.member = vec![FREE; fields.len()];
        let mut copied = Vec::new();
        for (other, own) in beside.into_iter().zip(sent) {
            let mut copies = Fields::load(&read(&through(&mut self.transport).receive(other)?)?).map_err(|_| Illegible)?;
            copies.member = vec![GHOST; copies.len()];
            fields.append(&copies);
            copied.push(Shared {
                with: other,
                own,
                copies: copies.id,
            });
        }
        self.simulation.fields = fields;
        Ok(copied)
    }

    /// Puts copies where their originals are now.
    fn follow_originals(&mut self) -> Result<(), Halt> {
        let fields = &mut self.simulation.fields;
        for shared in &self.shared {
            let moving = shared.own.iter().flat_map(|&i| {
                let at = i as usize * RECORD;
                let spin = fields.spin.get(at..at + 3).unwrap_or_default();
                [&fields.position[at..at + 3], &fields.velocity[at..at + 3], spin].concat()
            });
            through(&mut self.transport).send(shared.with, to_bytes(&moving.collect::<Vec<f64>>()))?;
        }
        for shared in &self.shared {
            let moving = from_bytes(&through(&mut self.transport).receive(shared.with)?)?;
            let numbers = if fields.spin.is_empty() { 6 } else { 9 };
            if moving.len() != numbers * shared.copies.len() {
                return Err(Illegible.into());
            }
            for (&i, moving) in shared.copies.iter().zip(moving.chunks_exact(numbers)) {
                let at = i as usize * RECORD;
                let columns = [&mut fields.position, &mut fields.velocity, &mut fields.spin];
                for (column, numbers) in columns.into_iter().zip(moving.chunks_exact(3)) {
                    column[at..at + 3].copy_from_slice(numbers);
                }
            }
        }
        Ok(())
    }

    /// Its own grains, as they stand.
    pub fn own(&self) -> Fields {
        let fields = &self.simulation.fields;
        let own: Vec<u32> = (0..fields.len() as u32).filter(|&i| fields.member[i as usize] != GHOST).collect();
        let mut own = fields.pick(&own);
        own.member.clear();
        own
    }

    /// How many grains it owns.
    pub fn len(&self) -> usize {
        let member = &self.simulation.fields.member;
        member.iter().filter(|member| **member != GHOST).count()
    }
}

/// The way to the others, of who has the domain to himself.
fn through(transport: &mut Mutex<Box<dyn Transport>>) -> &mut dyn Transport {
    transport.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
}

fn verdict(done: &Result<(), Stop>, is_stale: bool) -> Verdict {
    match (done, is_stale) {
        (Err(_), _) => Verdict::Failed,
        (Ok(()), true) => Verdict::Stale,
        (Ok(()), false) => Verdict::Fine,
    }
}

fn halt(done: Result<(), Stop>) -> Halt {
    done.map_or_else(|stop| Halt::Stopped(Box::new(stop)), |()| Halt::Elsewhere)
}

/// Places, three numbers each, of records.
fn places(position: &[f64]) -> Vec<f64> {
    position.chunks_exact(RECORD).flat_map(|record| &record[..3]).copied().collect()
}

impl Simulation {
    /// Of what contacts remember, what those of some grains do, which are named by their ids.
    fn pick_contacts(&self, contacts: &State, ids: &[u32], to: &mut State) {
        let mut known = ids.to_vec();
        known.sort_unstable();
        let is_of = |id: &u32| known.binary_search(id).is_ok();
        for (names, columns) in [
            ("contacts/pair", &["contacts/history"][..]),
            ("walls/touching", &["walls/history", "walls/touches"]),
        ] {
            let Some(Column::U32(pairs)) = contacts.get(names) else { continue };
            // Of a wall, the second number is no id.
            let ends = if names == "contacts/pair" { 2 } else { 1 };
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
    }
}
