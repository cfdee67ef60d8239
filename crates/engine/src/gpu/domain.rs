//! A domain on a GPU: the grains that it owns, and copies of those of others that it feels.
//!
//! Grains and copies stand among each other in the order of the cells; [`Border::member`] tells them apart. Between two renewals of the lists a domain
//! tells the others at every step where those of its grains are that they have copies of. As lists are renewed, grains change hands and copies are
//! chosen anew, all of which the GPU packs and unpacks by itself: only what changes goes through the host.

mod halts;
mod memories;
mod parcels;
mod sides;

use super::handed::{Shows, Swaps};
use super::lists::make_room;
use super::places::{invert_order, sampled};
use super::{Number, OnGpu, numbers};
use crate::division::{Halt, Shared, enclose, enclose_letter, unfold_letter};
use crate::simulation::Simulation;
pub(crate) use halts::Halts;
use memories::Arrived;
use parcels::{Parcel, enclose_all, widths_of};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::{FREE, GHOST};
use seixo_sweeps::domain::Block;
use seixo_sweeps::kernels::FLAGS;
use seixo_sweeps::kernels::domain::{keep_too, let_copies_go, let_go};
use seixo_sweeps::motion::LEFT;
use seixo_sweeps::sides::OPEN;
use seixo_sweeps::views::RECORD;
use sides::Side;
use std::collections::HashSet;

/// Grains that this domain takes in are behind those that it has. Room for so many parts of those that there are is held ready.
pub(super) const SPARE: usize = 8;

/// Which grains move by themselves in a divisible world; where it is divided, also what domains show each other.
pub(super) struct Border<C, R> {
    /// See [`seixo_sweeps::bodies`].
    pub member: Buffer<u32>,
    /// Ids in the order before this one.
    pub old_id: Buffer<u32>,
    /// Whether the world is divided.
    pub is_divided: bool,
    /// Grains that had rows when lists were renewed last.
    known: usize,
    /// Where grains went as they were sorted.
    place_of: Buffer<u32>,
    sides: Vec<Side<C, R>>,
    parcel: Parcel<C, R>,
    /// What the contacts of grains remember that came, until there are lists.
    arrived: Vec<Arrived>,
    /// Whether some left the world.
    leaving: bool,
}

/// What came of a step of a domain.
pub(crate) struct Stepped {
    /// Flags that it raised.
    pub raised: u32,
    /// Whether the host must see to them.
    pub must_be_seen_to: bool,
    /// Where its grains are that others have copies of: a letter for each of the domains beside it, in their order, unless GPUs tell each other.
    pub letters: Vec<Vec<u8>>,
}

/// The grains of a domain on a GPU, whatever its precision. Letters go to the domains beside it and come from there, in their order.
pub(crate) trait DomainOnGpu: Swaps {
    /// Takes over what is shared, by places before the grains were handed over.
    fn share(&mut self, shared: &[Shared]) -> Result<(), GpuError>;
    /// One step. Where others get what is shown by themselves, there are no letters.
    fn step_and_show(&mut self, host: &mut Simulation, by_letters: bool) -> Result<Stepped, GpuError>;
    /// Queues the step that is `ahead` steps from where the host stands, of a batch that was opened; others get what is shown by themselves.
    fn queue_and_show(&mut self, host: &Simulation, ahead: u32) -> Result<(), GpuError>;
    /// Lets other domains hear whether this one halts after that step; says whether all must have told before any hears.
    fn tell_halt(&self, halts: &Halts, rank: usize, ahead: u32) -> Result<bool, GpuError>;
    /// Hears whether any domain halts after that step.
    fn hear_halts(&self, halts: &Halts, rank: usize, ahead: u32);
    /// Takes servos to where the host stands, by what the grains of all domains press, which it knows.
    fn lead(&self, host: &mut Simulation);
    /// Puts copies where their originals are.
    fn follow(&mut self, letters: &[Vec<u8>]) -> Result<(), Halt>;
    /// Gets ready for grains to change hands after a step that raised these flags; says how many this domain has, and where some of them are.
    fn prepare(&mut self, host: &mut Simulation, raised: u32) -> Result<(usize, Vec<[f64; 3]>), GpuError>;
    /// Lets grains go that are in the blocks of others, with what their contacts remember, and forgets copies; says how many went. All others are in its
    /// own block.
    fn send_away(&mut self, host: &Simulation, own: &Block<f64>, others: &[Block<f64>]) -> Result<(u64, Vec<Vec<u8>>), Halt>;
    /// Takes in those that come.
    fn take_in(&mut self, letters: &[Vec<u8>]) -> Result<(), Halt>;
    /// Ids of its own grains.
    fn own_ids(&self) -> Result<Vec<u32>, GpuError>;
    /// Copies of grains that are felt in each of these blocks, or that are bonded to those of others.
    fn copies_for(&mut self, felt: &[Block<f64>], bonded: &HashSet<u32>) -> Result<Vec<Vec<u8>>, GpuError>;
    /// Takes in copies of theirs, and lists all anew.
    fn list_with(&mut self, host: &mut Simulation, letters: &[Vec<u8>]) -> Result<(), Halt>;
    /// Number of grains that are no copies.
    fn own_grains(&self) -> usize;
}

impl<C: Number, R: Number> Border<C, R> {
    /// That of the host's grains, with room for so many, where it is divisible and no bodies are there.
    pub(super) fn new(gpu: &Gpu, host: &Simulation, room: usize) -> Result<Option<Border<C, R>>, GpuError> {
        if !host.settings.divisible || host.carries {
            return Ok(None);
        }
        let mut member = host.fields.member.clone();
        member.resize(room, FREE);
        let is_divided = host.has_ghosts;
        Ok(Some(Border {
            member: gpu.upload(&member, "domains")?,
            old_id: gpu.zeros(room, "domains")?,
            is_divided,
            known: 0,
            place_of: gpu.zeros(if is_divided { room } else { RECORD }, "domains")?,
            sides: Vec::new(),
            parcel: Parcel::new(gpu)?,
            arrived: Vec::new(),
            leaving: false,
        }))
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Grains that room is held ready for where n are there: in a domain some more, since others come.
    pub(super) fn room_for(host: &Simulation, n: usize) -> usize {
        if host.has_ghosts {
            (n + n / SPARE + 1024).next_multiple_of(RECORD)
        } else {
            n
        }
    }

    /// Grains that had rows when lists were renewed last.
    pub(super) fn known(&self) -> u32 {
        let divided = self.border.as_ref().filter(|border| border.is_divided);
        divided.map_or(u32::MAX, |border| border.known as u32)
    }

    /// Which grains are copies, in a domain.
    pub(super) fn members_of_domain(&self) -> Option<&Buffer<u32>> {
        let divided = self.border.as_ref().filter(|border| border.is_divided);
        divided.map(|border| &border.member)
    }

    fn border(&mut self) -> &mut Border<C, R> {
        self.border.as_mut().expect("a domain has a border")
    }

    /// Ids of all grains, and which are copies.
    pub(super) fn ids_and_members(&self) -> Result<(Vec<u32>, Vec<u32>), GpuError> {
        let mut copies = self.gpu.copies();
        let (id, member) = (copies.add(&self.id, 0..self.n), copies.add(self.member(), 0..self.n));
        let arrived = copies.wait()?;
        Ok((arrived.take(id), arrived.take(member)))
    }

    /// Finds own grains in a block, or beyond it, and those at the first so many places in [`Parcel::start`]: their places are the first of
    /// what orders the grains otherwise. Says how many.
    fn find(&self, block: &Block<f64>, beyond: bool, too: usize) -> Result<usize, GpuError> {
        let own = (&self.position[self.now], self.member(), self.n);
        self.cells.mark_within(&self.gpu, own, block, beyond);
        if too > 0 {
            let parcel = &self.border.as_ref().expect("a domain has a border").parcel;
            let (count, dim) = units(too);
            keep_too::launch(
                self.gpu.client(),
                count,
                dim,
                parcel.start.argument(),
                self.cells.lengths.argument(),
                too as u32,
            );
        }
        self.cells.list_marked(&self.gpu, self.n, &self.order)
    }

    /// Notes where every grain went as it was sorted.
    fn note_places(&self) {
        let border = self.border.as_ref().expect("a domain has a border");
        invert_order(&self.gpu, &self.order, self.n, &border.place_of);
    }
}

impl<C: Number + Coordinate<R>, R: Number> DomainOnGpu for OnGpu<C, R> {
    fn share(&mut self, shared: &[Shared]) -> Result<(), GpuError> {
        let gpu = self.gpu.clone();
        self.note_places();
        let widths = widths_of(&self.changing());
        let border = self.border();
        border.sides.clear();
        for shared in shared {
            let mut side = Side::new(&gpu)?;
            (side.shown, side.followed) = (shared.own.len(), shared.copies.len());
            for (places, from) in [(&mut side.own, &shared.own), (&mut side.copies, &shared.copies)] {
                make_room(&gpu, places, from.len(), "domains")?;
                gpu.write_part(places, 0, from);
            }
            side.make_room(&gpu, &widths)?;
            border.sides.push(side);
        }
        self.rename_shared();
        Ok(())
    }

    fn step_and_show(&mut self, host: &mut Simulation, by_letters: bool) -> Result<Stepped, GpuError> {
        self.set_out(host, 1);
        self.step(host, 0)?;
        self.show();
        let mut copies = self.gpu.copies();
        let flags = copies.add(&self.flags, 0..FLAGS);
        let (numbers, widths) = (self.numbers_of_motion(), widths_of(&self.changing()));
        let sides = &self.border.as_ref().expect("a domain has a border").sides;
        let told: Vec<_> = sides
            .iter()
            .filter(|_| by_letters)
            .map(|side| {
                let packed = &side.packed[self.now];
                let coordinates = copies.add(&packed.coordinates, 0..RECORD * side.shown);
                let motions = copies.add(&packed.motions, 0..numbers * side.shown);
                (coordinates, motions, side.belongings.ask(&mut copies, side.shown, &widths))
            })
            .collect();
        let touches = self.ask_for_touches(host, &mut copies);
        // One copy, and so one wait for all.
        let arrived = copies.wait()?;
        let raised = self.count_queued(host, &arrived.take(flags))?;
        Self::show_touches(host, &arrived, touches);
        let letters = told.into_iter().map(|(coordinates, motions, belongings)| {
            let mut letter = Vec::new();
            enclose(&mut letter, &arrived.take(coordinates));
            enclose(&mut letter, &arrived.take(motions));
            enclose_all(&mut letter, &arrived, belongings);
            letter
        });
        Ok(Stepped {
            raised,
            must_be_seen_to: self.must_be_seen_to(host, raised),
            letters: letters.collect(),
        })
    }

    fn queue_and_show(&mut self, host: &Simulation, ahead: u32) -> Result<(), GpuError> {
        self.step(host, ahead)?;
        self.show();
        Ok(())
    }

    fn tell_halt(&self, halts: &Halts, rank: usize, ahead: u32) -> Result<bool, GpuError> {
        self.tell(halts, rank, ahead)
    }

    fn hear_halts(&self, halts: &Halts, rank: usize, ahead: u32) {
        self.hear(halts, rank, ahead);
    }

    fn lead(&self, host: &mut Simulation) {
        self.lead_servos(host);
    }

    fn follow(&mut self, letters: &[Vec<u8>]) -> Result<(), Halt> {
        self.follow_originals(letters)
    }

    fn prepare(&mut self, host: &mut Simulation, raised: u32) -> Result<(usize, Vec<[f64; 3]>), GpuError> {
        self.start_renewal(host);
        if self.kind.sides != OPEN {
            self.put_grains_back(host)?;
        }
        self.collect();
        // A bond goes with either of its grains, and a copy may have left.
        self.let_bonds_go(host)?;
        self.book_what_bonds_took(host)?;
        let leaving = raised & LEFT != 0;
        if leaving {
            host.work.left_domain += self.energy_outside(host)?;
            self.book_heat_leaving(host)?;
        }
        self.gpu.write(&self.cells.domain, &numbers::<C>(Self::domain_of(host, leaving)));
        let n = self.n;
        let border = self.border();
        (border.leaving, border.known) = (leaving, n);
        let places = sampled(n);
        let sampled = places.len();
        self.gpu.write_part(&self.order, 0, &places);
        let gpu = self.gpu.clone();
        let border = self.border();
        border.parcel.make_room(&gpu, sampled, &[])?;
        let parcel = &self.border.as_ref().expect("a domain has a border").parcel;
        gpu.gather(&self.position[self.now], &self.order, sampled, RECORD, &parcel.coordinates);
        gpu.gather(self.member(), &self.order, sampled, 1, &parcel.words);
        let mut copies = gpu.copies();
        let position = copies.add(&parcel.coordinates, 0..RECORD * sampled);
        let member = copies.add(&parcel.words, 0..sampled);
        let arrived = copies.wait()?;
        let found = arrived.take(position);
        let places = found.chunks_exact(RECORD).zip(arrived.take(member));
        let own = places.filter(|(_, member)| *member == FREE);
        let places = own.map(|(place, _)| [0, 1, 2].map(|axis| place[axis].double())).collect();
        Ok((self.own_grains(), places))
    }

    fn send_away(&mut self, host: &Simulation, own: &Block<f64>, others: &[Block<f64>]) -> Result<(u64, Vec<Vec<u8>>), Halt> {
        let (mut letters, mut sent) = (Vec::new(), 0);
        for other in others {
            let m = self.find(other, false, 0)?;
            let mut letter = self.packed(m)?;
            if m > 0 {
                for memories in self.memories_of(m, host.walls.remembered)? {
                    enclose_letter(&mut letter, &memories);
                }
                let (count, dim) = units(m);
                let_go::launch(
                    self.gpu.client(),
                    count,
                    dim,
                    self.order.argument(),
                    self.member().argument(),
                    m as u32,
                );
            }
            sent += m as u64;
            letters.push(letter);
        }
        if self.find(own, true, 0)? > 0 {
            let first = self.gpu.download_part(&self.order, 0..1).wait()?[0] as usize;
            let id = self.gpu.download_part(&self.id, first..first + 1).wait()?[0];
            return Err(Halt::passed_through(id));
        }
        let (count, dim) = units(self.n);
        let_copies_go::launch(self.gpu.client(), count, dim, self.member().argument(), self.n as u32);
        Ok((sent, letters))
    }

    fn take_in(&mut self, letters: &[Vec<u8>]) -> Result<(), Halt> {
        for letter in letters {
            let (mut letter, first) = (&letter[..], self.n);
            let count = self.unpacked(&mut letter, FREE)?;
            if count > 0 {
                let letters = [unfold_letter(&mut letter)?, unfold_letter(&mut letter)?];
                self.border().arrived.push(Arrived { first, count, letters });
            }
        }
        Ok(())
    }

    fn own_ids(&self) -> Result<Vec<u32>, GpuError> {
        let (ids, member) = self.ids_and_members()?;
        let own = ids.into_iter().zip(member).filter(|(_, member)| *member == FREE);
        Ok(own.map(|(id, _)| id).collect())
    }

    fn copies_for(&mut self, felt: &[Block<f64>], bonded: &HashSet<u32>) -> Result<Vec<Vec<u8>>, GpuError> {
        let mut too: Vec<u32> = Vec::new();
        if !bonded.is_empty() {
            let (ids, member) = self.ids_and_members()?;
            let own = ids.iter().zip(&member).zip(0..);
            too.extend(
                own.filter(|((id, member), _)| **member == FREE && bonded.contains(*id))
                    .map(|(_, place)| place),
            );
        }
        let gpu = self.gpu.clone();
        let parcel = &mut self.border().parcel;
        make_room(&gpu, &mut parcel.start, too.len(), "domains")?;
        gpu.write_part(&parcel.start, 0, &too);
        let sides = &mut self.border().sides;
        sides.truncate(felt.len());
        while sides.len() < felt.len() {
            sides.push(Side::new(&gpu)?);
        }
        let mut letters = Vec::new();
        for (k, felt) in felt.iter().enumerate() {
            let m = self.find(felt, false, too.len())?;
            let border = self.border.as_mut().expect("a domain has a border");
            let side = &mut border.sides[k];
            make_room(&gpu, &mut side.own, m, "domains")?;
            gpu.copy(&self.order, m, &side.own);
            side.shown = m;
            letters.push(self.packed(m)?);
        }
        Ok(letters)
    }

    fn list_with(&mut self, host: &mut Simulation, letters: &[Vec<u8>]) -> Result<(), Halt> {
        let (gpu, widths) = (self.gpu.clone(), widths_of(&self.changing()));
        for (k, letter) in letters.iter().enumerate() {
            let first = self.n;
            let count = self.unpacked(&mut &letter[..], GHOST)?;
            let places: Vec<u32> = (first..first + count).map(|place| place as u32).collect();
            let side = &mut self.border().sides[k];
            make_room(&gpu, &mut side.copies, count, "domains")?;
            gpu.write_part(&side.copies, 0, &places);
            side.followed = count;
            side.make_room(&gpu, &widths)?;
        }
        let leaving = self.border().leaving;
        self.sort(host, leaving, true)?;
        if self.n == 0 {
            return Err(Halt::empty());
        }
        self.note_places();
        self.rename_shared();
        self.list_pairs(host)?;
        self.list_walls(host)?;
        self.make_room_for_heat()?;
        self.lay_bonds(host)?;
        for arrived in std::mem::take(&mut self.border().arrived) {
            self.give_memories(&arrived, host.walls.remembered)?;
        }
        Ok(())
    }

    fn own_grains(&self) -> usize {
        let sides = self.border.as_ref().map_or(&[][..], |border| &border.sides);
        self.n - sides.iter().map(|side| side.followed).sum::<usize>()
    }
}
