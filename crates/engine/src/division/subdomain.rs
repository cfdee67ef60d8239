//! One domain of a division: its grains, copies of those of others that they feel, and what it tells the others at every step.
//!
//! All domains run the same text in lock step. Lists are renewed in all of them as soon as one asks for it; only then grains change hands, and copies
//! are chosen anew. Between two renewals a copy follows its original step by step.

mod copies;
mod pushes;
mod servos;

use super::cuts::Cuts;
use super::fluids::SharedFluids;
use super::letters::{Illegible, exchange, from_bytes, letter, read, to_bytes};
use super::on_gpu::Desk;
use super::samples::Sample;
use crate::fields::{Fields, Sorted};
use crate::guard::Stop;
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::state::{Column, State};
use seixo_device::gpu::GpuError;
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::motion::LEFT;
use seixo_sweeps::sides::OPEN;
use seixo_transport::{Lost, Transport};
use std::sync::{Arc, Mutex, PoisonError};

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

impl From<GpuError> for Halt {
    fn from(error: GpuError) -> Halt {
        Halt::Lost(error.to_string())
    }
}

impl Halt {
    /// A grain was faster than lists are renewed.
    pub fn passed_through(id: u32) -> Halt {
        Halt::Lost(format!(
            "grain {id} went through a whole domain between two renewals of the lists; use fewer domains, or a shorter time step"
        ))
    }

    /// No grain is left in a domain on a GPU, nor near it.
    pub fn empty() -> Halt {
        Halt::Lost(
            "no grain is left in a domain on a GPU, nor near it; use fewer domains, or domains on the CPU, which may be empty".to_owned(),
        )
    }
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Halt {
        Halt::Refused(refusal)
    }
}

/// What a domain thinks of a step; of all, the gravest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Fine,
    Stale,
    Failed,
}

/// Particles that another domain has copies of, or this one copies of that one's, in the same order in both.
pub struct Shared {
    /// That domain.
    pub with: usize,
    /// Places, or ids, of its own.
    pub own: Vec<u32>,
    /// Places, or ids, of copies.
    pub copies: Vec<u32>,
}

/// A domain at work.
pub struct Subdomain {
    pub simulation: Simulation,
    /// Grains, and particles of fluids and of walls, that it sent to others since somebody looked.
    pub sent_away: u64,
    /// Whether any domain had a grain when lists were made last.
    pub has_grains: bool,
    /// What it has of fluids, if anything flows.
    pub fluids: Option<SharedFluids>,
    pub(super) cuts: Cuts,
    /// Which of all domains it is.
    pub rank: usize,
    /// Only ever used by who has the domain to himself; others may look at its simulation.
    pub(super) transport: Mutex<super::traffic::Counted>,
    /// With each of the domains beside it, in their order.
    pub(super) shared: Vec<Shared>,
    /// Where domains on GPUs of this process hand each other what these show.
    pub desk: Option<Arc<Desk>>,
}

impl Subdomain {
    /// A domain of a world cut like this, whose simulation holds the grains that it owns, and what their contacts remember.
    pub fn new(simulation: Simulation, cuts: Cuts, transport: Box<dyn Transport>) -> Subdomain {
        Subdomain {
            simulation,
            sent_away: 0,
            has_grains: true,
            fluids: None,
            cuts,
            rank: transport.rank(),
            transport: Mutex::new(super::traffic::Counted::new(transport)),
            shared: Vec::new(),
            desk: None,
        }
    }

    pub(super) fn transport(&mut self) -> &mut dyn Transport {
        through(&mut self.transport)
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
        if self.is_on_gpu() {
            return self.advance_on_gpu(steps);
        }
        let device = self.simulation.device.clone();
        device.enter(|| (0..steps).try_for_each(|_| self.step()))
    }

    fn step(&mut self) -> Result<(), Halt> {
        self.hear_of_servos()?;
        self.hear_of_pushes()?;
        let moved = self.simulation.move_grains();
        if self.has_grains {
            self.show_originals()?;
            let is_stale = self.simulation.lists_are_stale();
            let (all, farthest) = self.agree(verdict(&moved, is_stale))?;
            // A copy goes as far as its original, however little the grains here move.
            if let Some(first) = self.simulation.moves.first_mut() {
                first.stride_square = farthest;
            }
            if all == Verdict::Fine {
                self.simulation.push_inner_grains();
            }
            self.follow_originals()?;
            match all {
                Verdict::Failed => return Err(halt(moved)),
                Verdict::Stale => self.settle_anew()?,
                Verdict::Fine => {}
            }
            let pushed = self.simulation.push_grains();
            if agree(through(&mut self.transport), verdict(&pushed, false))? == Verdict::Failed {
                return Err(halt(pushed));
            }
        }
        self.step_fluids()
    }

    /// One step of fluids, if anything flows.
    pub(super) fn step_fluids(&mut self) -> Result<(), Halt> {
        if let Some(fluids) = &mut self.fluids {
            self.sent_away += fluids.step(&mut self.simulation, through(&mut self.transport))?;
            let bytes = std::mem::take(&mut fluids.handed);
            self.counted().bytes += bytes;
        }
        Ok(())
    }

    /// What all domains think, and the square of how far a grain of any of them went in a step, at most \[m²\].
    fn agree(&mut self, own: Verdict) -> Result<(Verdict, f64), Halt> {
        let strides = self.simulation.moves.iter().map(|moved| moved.stride_square);
        let told = [f64::from(own as u8), strides.fold(0.0, f64::max)];
        let (mut gravest, mut farthest) = (0.0f64, 0.0f64);
        for said in through(&mut self.transport).gather(to_bytes(&told))? {
            let [verdict, stride_square] = from_bytes(&said)?[..] else {
                return Err(Illegible.into());
            };
            (gravest, farthest) = (gravest.max(verdict), farthest.max(stride_square));
        }
        let verdicts = [Verdict::Fine, Verdict::Stale];
        let all = verdicts.into_iter().find(|verdict| f64::from(*verdict as u8) == gravest);
        Ok((all.unwrap_or(Verdict::Failed), farthest))
    }

    /// Sends a letter to each of the domains beside this one, in their order, and waits for theirs.
    pub(super) fn exchange(&mut self, letters: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Halt> {
        Ok(exchange(through(&mut self.transport), self.cuts.beside(self.rank), letters)?)
    }

    /// The same with other domains.
    pub(super) fn exchange_with(&mut self, others: &[usize], letters: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Halt> {
        Ok(exchange(through(&mut self.transport), others, letters)?)
    }

    /// Lets grains that went into other blocks change hands, and lists all anew.
    fn settle_anew(&mut self) -> Result<(), Halt> {
        let mut contacts = State::default();
        self.simulation
            .save_contacts(&mut contacts)
            .map_err(|stop| Halt::Stopped(Box::new(stop)))?;
        if self.simulation.is_bonded() && self.simulation.domain.is_some() {
            // A bond goes with either of its grains: whether that of another domain has left, its copy tells.
            self.simulation.book_bonds_leaving(LEFT);
        }
        self.simulation.tell_bonds(&mut contacts);
        self.drop_copies();
        if self.simulation.sides != OPEN {
            self.simulation.put_grains_back();
        }
        self.simulation.drop_lost();
        let now = self.simulation.time();
        self.simulation.note_references();
        self.simulation.walls.note_listed(now);
        let places = self.simulation.fields.reference.as_chunks::<3>().0;
        let partners = self.balance(&Sample::of(places.len(), places))?;
        let held = self.send_away(contacts, &partners)?;
        self.list(now, &held)?;
        self.simulation.rebuilds += 1;
        Ok(())
    }

    /// Moves planes to where all blocks have about as many grains; this one has those of a sample. Returns the domains that grains may go to or come from.
    pub(super) fn balance(&mut self, sample: &Sample) -> Result<Vec<usize>, Halt> {
        let (partners, grains) = balance(&mut self.cuts, sample, through(&mut self.transport))?;
        self.has_grains = grains > 0.0;
        Ok(partners)
    }

    /// Forgets the copies.
    fn drop_copies(&mut self) {
        let own = self.own_places();
        self.simulation.fields.reorder(&self.simulation.device, &own);
    }

    /// Places of the grains that it owns.
    fn own_places(&self) -> Vec<u32> {
        let member = &self.simulation.fields.member;
        (0..member.len() as u32).filter(|&i| !is_ghost(member[i as usize])).collect()
    }

    /// Sends grains to those of these domains whose blocks they are in, with what their contacts remember, and takes in those that come; returns what the contacts
    /// of all that are here remember, told by some of them twice.
    fn send_away(&mut self, contacts: State, partners: &[usize]) -> Result<Vec<State>, Halt> {
        let own = self.rank;
        let fields = &self.simulation.fields;
        let owner: Vec<usize> = fields.reference.chunks_exact(3).map(|place| self.cuts.owner(place)).collect();
        if let Some(i) = owner.iter().position(|owner| *owner != own && !partners.contains(owner)) {
            let id = fields.id[i];
            return Err(Halt::passed_through(id));
        }
        let mut letters = Vec::new();
        for &other in partners {
            let leaving: Vec<u32> = (0..owner.len()).filter(|&i| owner[i] == other).map(|i| i as u32).collect();
            let mut state = State::default();
            self.sent_away += leaving.len() as u64;
            if !leaving.is_empty() {
                let settlers = fields.pick(&leaving);
                settlers.save(&mut state);
                pick_contacts(&contacts, &settlers.id, &mut state);
            }
            letters.push(letter(&state));
        }
        let staying: Vec<u32> = (0..owner.len()).filter(|&i| owner[i] == own).map(|i| i as u32).collect();
        self.simulation.fields.reorder(&self.simulation.device, &staying);
        let mut held = vec![contacts];
        for received in self.exchange_with(partners, letters)? {
            let state = read(&received)?;
            if !state.sections.is_empty() {
                self.simulation.fields.append(&Fields::load(&state).map_err(|_| Illegible)?);
                held.push(state);
            }
        }
        Ok(held)
    }

    /// Lists all grains as they were when lists were made, at this time \[s\], with copies of those of others; their contacts get back what they remember.
    pub fn list(&mut self, listed_at: f64, held: &[State]) -> Result<(), Halt> {
        self.simulation.take_in_bonds(held);
        let named = self.exchange_copies()?;
        let simulation = &mut self.simulation;
        simulation.forget_contacts();
        simulation.list_from_references(listed_at);
        simulation.refuse_torn_bonds()?;
        for contacts in held {
            simulation.give_back_histories(contacts, false)?;
        }
        let places_of = places_by_id(&simulation.fields.id);
        let named = named.iter().map(|named| Shared {
            with: named.with,
            own: places_of(&named.own),
            copies: places_of(&named.copies),
        });
        self.shared = named.collect();
        self.simulation.find_border();
        Ok(())
    }

    /// Lists the fluids that it owns as they were when lists were made, with copies of those of others.
    pub fn list_fluids(&mut self) -> Result<(), Halt> {
        let Some(fluids) = &mut self.fluids else { return Ok(()) };
        fluids.begin(&mut self.simulation, through(&mut self.transport))
    }

    /// Its own grains, as they stand.
    pub fn own(&self) -> Fields {
        let mut own = self.simulation.fields.pick(&self.own_places());
        if !self.simulation.carries {
            own.member.clear();
        }
        own
    }
}

/// The way to the others, of who has the domain to himself.
pub(super) fn through(transport: &mut Mutex<impl Transport>) -> &mut dyn Transport {
    transport.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// What all domains think of a step of which this one thinks so.
pub fn agree(transport: &mut dyn Transport, own: Verdict) -> Result<Verdict, Halt> {
    let all = transport.gather(vec![own as u8])?;
    let gravest = all.iter().filter_map(|said| said.first().copied()).max();
    Ok(match gravest {
        Some(0) => Verdict::Fine,
        Some(1) => Verdict::Stale,
        _ => Verdict::Failed,
    })
}

/// Moves planes to where all blocks have about as many particles, of which this domain has those of a sample. Returns the domains that particles may go to
/// from here or come from, and how many there are in all domains.
pub fn balance(cuts: &mut Cuts, sample: &Sample, transport: &mut dyn Transport) -> Result<(Vec<usize>, f64), Halt> {
    let told = transport.gather(sample.told())?;
    let samples: Vec<Sample> = told.iter().map(|told| Sample::read(told)).collect::<Result<_, _>>()?;
    let rank = transport.rank();
    let partners = match cuts.balanced(&samples) {
        Some(moved) => {
            let partners = moved.partners(cuts, rank);
            *cuts = moved;
            partners
        }
        None => cuts.beside(rank).to_vec(),
    };
    Ok((partners, samples.iter().map(|sample| sample.particles).sum()))
}

/// What finds the places of particles by their ids, of these that stand in their order.
pub fn places_by_id(ids: &[u32]) -> impl Fn(&[u32]) -> Vec<u32> + use<> {
    let mut place: Vec<(u32, u32)> = ids.iter().copied().zip(0..).collect();
    place.sort_unstable();
    move |ids| {
        let place_of = |id: &u32| place[place.partition_point(|(known, _)| known < id)].1;
        ids.iter().map(place_of).collect()
    }
}

/// What a domain thinks of what it did.
pub fn verdict(done: &Result<(), Stop>, is_stale: bool) -> Verdict {
    match (done, is_stale) {
        (Err(_), _) => Verdict::Failed,
        (Ok(()), true) => Verdict::Stale,
        (Ok(()), false) => Verdict::Fine,
    }
}

/// Why a domain does not go on that came to an end like this, while others may have come to another.
pub fn halt(done: Result<(), Stop>) -> Halt {
    done.map_or_else(|stop| Halt::Stopped(Box::new(stop)), |()| Halt::Elsewhere)
}

/// Of what contacts and bonds remember, what those of some grains do, which are named by their ids.
fn pick_contacts(contacts: &State, ids: &[u32], to: &mut State) {
    let mut known = ids.to_vec();
    known.sort_unstable();
    let is_of = |id: &u32| known.binary_search(id).is_ok();
    for (names, columns) in [
        ("contacts/pair", &["contacts/history"][..]),
        ("bonds/ends", &["bonds/record"]),
        ("walls/touching", &["walls/history", "walls/touches"]),
    ] {
        let Some(Column::U32(pairs)) = contacts.get(names) else { continue };
        // Of a wall, the second number is no id.
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
}
