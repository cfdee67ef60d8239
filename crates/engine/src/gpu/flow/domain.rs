//! Fluids of a domain on a GPU: the particles of fluid and of walls that it owns, and copies of those of others that these see.
//!
//! How a wall presses follows from all fluid before it. A domain finds that for all walls that its fluid sees, whoever owns them: so it has copies as far
//! as twice the reach of what it sees, and has to be told but once a step, where fluid is and how it flows. Copies of walls go with their walls, which
//! all domains know. As lists are renewed, particles change hands and copies are chosen anew, which the GPU does by itself, as with grains.

mod sides;

use super::{FlowOnGpu, RemoteFlow, body_in_lists};
use crate::division::{Halt, Illegible, Shared, enclose, unfold};
use crate::flow::Flow;
use crate::gpu::domain::SPARE;
use crate::gpu::handed::{Shows, Swaps};
use crate::gpu::lists::make_room;
use crate::gpu::places::{invert_order, rename_places, sampled};
use crate::gpu::{Number, room_for_cubes};
use crate::simulation::Simulation;
use seixo_device::gpu::{Buffer, Copies, Gpu, GpuError, Ticket, Word, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::{FREE, GHOST, is_ghost};
use seixo_sweeps::domain::Block;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::kernels::FLAGS;
use seixo_sweeps::kernels::domain::{let_copies_go, let_go, mark_rowless};
use seixo_sweeps::tiles::TILE;
use seixo_sweeps::views::RECORD;
use sides::Side;

/// Which particles are owned, in a divisible world; where it is divided, also what domains show each other.
pub(super) struct Border<C, R> {
    /// Which are owned here, which are copies, and which are no longer here, by the members of grains that are, see [`seixo_sweeps::bodies`].
    pub owned: Buffer<u32>,
    /// Whether the world is divided.
    pub is_divided: bool,
    /// Where particles went as they were sorted.
    place_of: Buffer<u32>,
    sides: Vec<Side<C, R>>,
    parcel: Parcel<C, R>,
}

/// Room for what is packed, column by column.
struct Parcel<C, R> {
    words: Vec<Buffer<u32>>,
    coordinates: Vec<Buffer<C>>,
    motions: Vec<Buffer<R>>,
}

/// What goes along with particles: ids and kinds, records of coordinates, and records of how they flow and, where walls move, move.
struct Columns<'a, C, R> {
    words: [&'a Buffer<u32>; 2],
    coordinates: [&'a Buffer<C>; 4],
    motions: Vec<&'a Buffer<R>>,
}

/// Particles that were packed.
struct Packed {
    letter: Vec<u8>,
    /// Places of those that are of fluid.
    fluid: Vec<u32>,
}

/// Fluids of a domain on a GPU, whatever their precision. Letters go to the domains beside it and come from there, in their order.
pub(crate) trait FlowOfDomain: Swaps {
    /// Takes over which fluid is shared, by places before it was handed over.
    fn share(&mut self, shared: &[Shared]) -> Result<(), GpuError>;
    /// One step, to where the host's clock is; tells the flags that it raised, and where its fluid is that others have copies of: by letters, or nothing
    /// where others get what is shown by themselves.
    fn step_and_show(&mut self, host: &mut Flow, simulation: &mut Simulation, by_letters: bool) -> Result<(u32, Vec<Vec<u8>>), GpuError>;
    /// Puts copies of fluid where their originals are.
    fn follow(&mut self, letters: &[Vec<u8>]) -> Result<(), Halt>;
    /// Gets ready for particles to change hands; says where some of its fluid is.
    fn prepare(&mut self, host: &mut Flow) -> Result<Vec<[f64; 3]>, GpuError>;
    /// Lets particles go that are in the blocks of others, and forgets copies; says how many went. All others are in its own block.
    fn send_away(&mut self, host: &mut Flow, own: &Block<f64>, others: &[Block<f64>]) -> Result<(u64, Vec<Vec<u8>>), Halt>;
    /// Takes in those that come.
    fn take_in(&mut self, host: &mut Flow, letters: &[Vec<u8>]) -> Result<(), Halt>;
    /// Copies of particles that are seen in each of these blocks.
    fn copies_for(&mut self, felt: &[Block<f64>]) -> Result<Vec<Vec<u8>>, GpuError>;
    /// Takes in copies of theirs, and lists all anew.
    fn list_with(&mut self, host: &mut Flow, letters: &[Vec<u8>]) -> Result<(), Halt>;
}

impl<C: Number, R: Number> Border<C, R> {
    /// That of the host's particles, where the world is divisible.
    pub fn new(gpu: &Gpu, host: &Flow, simulation: &Simulation) -> Result<Option<Border<C, R>>, GpuError> {
        if !host.divisible {
            return Ok(None);
        }
        let n = host.fields.len();
        let owned: Vec<u32> = (0..n).map(|i| if host.is_copy(i) { GHOST } else { FREE }).collect();
        let is_divided = simulation.has_ghosts;
        Ok(Some(Border {
            owned: gpu.upload(&owned, "domains")?,
            is_divided,
            place_of: gpu.zeros(if is_divided { n } else { RECORD }, "domains")?,
            sides: Vec::new(),
            parcel: Parcel {
                words: rooms(gpu, 2)?,
                coordinates: rooms(gpu, 4)?,
                motions: rooms(gpu, 2)?,
            },
        }))
    }

    /// Marks those of n particles of these kinds that get no rows, in a domain.
    pub fn mark_rowless<'a>(&self, gpu: &Gpu, kind: &Buffer<u32>, n: usize, marks: &'a Buffer<u32>) -> Option<&'a Buffer<u32>> {
        if !self.is_divided {
            return None;
        }
        let (count, dim) = units(n);
        mark_rowless::launch(
            gpu.client(),
            count,
            dim,
            kind.argument(),
            self.owned.argument(),
            marks.argument(),
            n as u32,
        );
        Some(marks)
    }

    /// Of n particles 1 for copies, else 0; nothing where there are none.
    pub fn copies(&self, gpu: &Gpu, n: usize) -> Result<Vec<u32>, GpuError> {
        if !self.is_divided {
            return Ok(Vec::new());
        }
        let owned = gpu.download_part(&self.owned, 0..n).wait()?;
        Ok(owned.into_iter().map(|member| u32::from(is_ghost(member))).collect())
    }
}

impl<C: Number, R: Number> Parcel<C, R> {
    /// Room for m packed particles.
    fn make_room(&mut self, gpu: &Gpu, m: usize) -> Result<(), GpuError> {
        for room in &mut self.words {
            make_room(gpu, room, m, "domains")?;
        }
        for room in &mut self.coordinates {
            make_room(gpu, room, RECORD * m, "domains")?;
        }
        for room in &mut self.motions {
            make_room(gpu, room, RECORD * m, "domains")?;
        }
        Ok(())
    }
}

/// So many buffers with hardly any room yet.
fn rooms<T: Word>(gpu: &Gpu, count: usize) -> Result<Vec<Buffer<T>>, GpuError> {
    (0..count).map(|_| gpu.buffer(RECORD, "domains")).collect()
}

/// Gathers those m items of each column that stand first in an order, of so many numbers each, and asks for them.
fn gathered<T: Word>(
    gpu: &Gpu,
    columns: &[&Buffer<T>],
    (order, m, width): (&Buffer<u32>, usize, usize),
    into: &[Buffer<T>],
    copies: &mut Copies,
) -> Vec<Ticket<T>> {
    let mut tickets = Vec::new();
    for (column, room) in columns.iter().zip(into) {
        gpu.gather(column, order, m, width, room);
        tickets.push(copies.add(room, 0..width * m));
    }
    tickets
}

/// The next columns of a letter, with so many numbers each.
fn columns_of<T: Word>(letter: &mut &[u8], columns: usize, numbers: usize) -> Result<Vec<Vec<T>>, Illegible> {
    let mut read = Vec::new();
    for _ in 0..columns {
        let column: Vec<T> = unfold(letter)?;
        if column.len() != numbers {
            return Err(Illegible);
        }
        read.push(column);
    }
    Ok(read)
}

impl<C: Number + Coordinate<R>, R: Number> FlowOnGpu<C, R> {
    fn border(&self) -> &Border<C, R> {
        self.border.as_ref().expect("a domain has a border")
    }

    fn border_mut(&mut self) -> &mut Border<C, R> {
        self.border.as_mut().expect("a domain has a border")
    }

    fn columns(&self) -> Columns<'_, C, R> {
        let now = self.now;
        let motion = self.plan.moving.then_some(&self.motion);
        Columns {
            words: [&self.id, &self.kind],
            coordinates: [&self.position[now], &self.half_velocity, &self.thermal, &self.reference],
            motions: std::iter::once(&self.flowing[now]).chain(motion).collect(),
        }
    }

    /// Makes room for so many particles.
    fn make_room_for(&mut self, n: usize) -> Result<(), GpuError> {
        if n <= self.id.len() {
            return Ok(());
        }
        let room = (n + n / SPARE).next_multiple_of(RECORD);
        let (gpu, what) = (&self.gpu, "particles of fluids");
        let border = self.border.as_mut().expect("a domain has a border");
        let words = [&mut self.id, &mut self.kind, &mut self.member, &mut self.key, &mut self.order];
        let others = [&mut self.walls, &mut self.cells.lengths, &mut border.owned, &mut border.place_of];
        for words in words.into_iter().chain(others) {
            gpu.lengthen(words, room, what)?;
        }
        let kept = [&mut self.half_velocity, &mut self.thermal, &mut self.reference];
        for column in self.position.iter_mut().chain(kept) {
            gpu.lengthen(column, RECORD * room, what)?;
        }
        for column in self.flowing.iter_mut().chain([&mut self.seen, &mut self.rate]) {
            gpu.lengthen(column, RECORD * room, what)?;
        }
        if self.plan.moving {
            gpu.lengthen(&mut self.motion, RECORD * room, what)?;
        }
        gpu.lengthen(&mut self.rows.count, room, "rows of neighbors")?;
        gpu.lengthen(&mut self.rows.tile_first, room.div_ceil(TILE) + 1, "rows of neighbors")?;
        gpu.lengthen(&mut self.power, 2 * RECORD * room_for_cubes(room), "the ledger")
    }

    /// Finds own particles in a block, or beyond it: their places are the first of what orders the particles otherwise. Says how many.
    fn find(&self, block: &Block<f64>, beyond: bool) -> Result<usize, GpuError> {
        let own = (&self.position[self.now], &self.border().owned, self.n);
        self.cells.mark_within(&self.gpu, own, block, beyond);
        self.cells.list_marked(&self.gpu, self.n, &self.order)
    }

    /// The m particles whose places are the first of [`FlowOnGpu::find`].
    fn packed(&mut self, m: usize) -> Result<Packed, GpuError> {
        let mut packed = Packed {
            letter: Vec::new(),
            fluid: Vec::new(),
        };
        if m == 0 {
            return Ok(packed);
        }
        let gpu = self.gpu.clone();
        self.border_mut().parcel.make_room(&gpu, m)?;
        let parcel = &self.border().parcel;
        let columns = self.columns();
        let mut copies = gpu.copies();
        let places = copies.add(&self.order, 0..m);
        let records = (&self.order, m, RECORD);
        let words = gathered(&gpu, &columns.words, (&self.order, m, 1), &parcel.words, &mut copies);
        let coordinates = gathered(&gpu, &columns.coordinates, records, &parcel.coordinates, &mut copies);
        let motions = gathered(&gpu, &columns.motions, records, &parcel.motions, &mut copies);
        let arrived = copies.wait()?;
        let words: Vec<Vec<u32>> = words.into_iter().map(|ticket| arrived.take(ticket)).collect();
        let places: Vec<u32> = arrived.take(places);
        let of_fluid = places.iter().zip(&words[1]).filter(|(_, kind)| **kind & WALL == 0);
        packed.fluid = of_fluid.map(|(place, _)| *place).collect();
        let letter = &mut packed.letter;
        words.iter().for_each(|column| enclose(letter, column));
        coordinates.into_iter().for_each(|ticket| enclose(letter, &arrived.take(ticket)));
        motions.into_iter().for_each(|ticket| enclose(letter, &arrived.take(ticket)));
        Ok(packed)
    }

    /// Takes packed particles in behind all others, as such members; returns the places of those that are of fluid.
    fn unpacked(&mut self, letter: &[u8], of: u32) -> Result<Vec<u32>, Halt> {
        if letter.is_empty() {
            return Ok(Vec::new());
        }
        let (mut letter, first) = (letter, self.n);
        let id: Vec<u32> = unfold(&mut letter)?;
        let m = id.len();
        let kinds = columns_of::<u32>(&mut letter, 1, m)?;
        let (of_coordinates, of_motions) = (self.columns().coordinates.len(), self.columns().motions.len());
        let coordinates = columns_of::<C>(&mut letter, of_coordinates, RECORD * m)?;
        let motions = columns_of::<R>(&mut letter, of_motions, RECORD * m)?;
        self.make_room_for(first + m)?;
        let (gpu, kind, columns) = (&self.gpu, &kinds[0], self.columns());
        for (column, words) in columns.words.into_iter().zip([&id, kind]) {
            gpu.write_part(column, first, words);
        }
        for (column, records) in columns.coordinates.into_iter().zip(&coordinates) {
            gpu.write_part(column, RECORD * first, records);
        }
        for (column, records) in columns.motions.into_iter().zip(&motions) {
            gpu.write_part(column, RECORD * first, records);
        }
        let bodies: Vec<u32> = kind.iter().map(|kind| body_in_lists(*kind)).collect();
        gpu.write_part(&self.member, first, &bodies);
        gpu.write_part(&self.border().owned, first, &vec![of; m]);
        self.n += m;
        let of_fluid = (first as u32..).zip(kind).filter(|(_, kind)| **kind & WALL == 0);
        Ok(of_fluid.map(|(place, _)| place).collect())
    }

    /// From places before the particles were sorted to those where they are now.
    fn rename_shared(&self) {
        let border = self.border();
        invert_order(&self.gpu, &self.order, self.n, &border.place_of);
        for side in &border.sides {
            rename_places(&self.gpu, &side.own, side.shown, &border.place_of);
            rename_places(&self.gpu, &side.copies, side.followed, &border.place_of);
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> FlowOfDomain for FlowOnGpu<C, R> {
    fn share(&mut self, shared: &[Shared]) -> Result<(), GpuError> {
        let sides: Result<Vec<Side<C, R>>, GpuError> = shared
            .iter()
            .map(|shared| Side::new(&self.gpu, &shared.own, &shared.copies))
            .collect();
        self.border_mut().sides = sides?;
        self.rename_shared();
        Ok(())
    }

    fn step_and_show(&mut self, host: &mut Flow, simulation: &mut Simulation, by_letters: bool) -> Result<(u32, Vec<Vec<u8>>), GpuError> {
        self.open(host, simulation, simulation.steps - 1, 1);
        self.place_boundaries(host, 0, true);
        // Where walls are now, they were at the end of the step before: what went too far was listed anew, and no domain may halt in a step alone.
        self.gpu.clear(&self.flags);
        self.press_and_push(host, 0, true, !self.is_led);
        self.place_boundaries(host, 1, true);
        let (gpu, now) = (&self.gpu, self.now);
        let mut copies = gpu.copies();
        let flags = copies.add(&self.flags, 0..FLAGS);
        let mut told = Vec::new();
        for side in &self.border().sides {
            let packed = &side.packed[now];
            gpu.gather(&self.position[now], &side.own, side.shown, RECORD, &packed.coordinates);
            gpu.gather(&self.flowing[now], &side.own, side.shown, RECORD, &packed.motions);
            if by_letters {
                let places = copies.add(&packed.coordinates, 0..RECORD * side.shown);
                told.push((places, copies.add(&packed.motions, 0..RECORD * side.shown)));
            }
        }
        // One copy, and so one wait for all.
        let arrived = copies.wait()?;
        let closed = self.count_queued(&arrived.take(flags), &mut simulation.profile);
        let letters = told.into_iter().map(|(places, flows)| {
            let mut letter = Vec::new();
            enclose(&mut letter, &arrived.take(places));
            enclose(&mut letter, &arrived.take(flows));
            letter
        });
        Ok((closed.raised, letters.collect()))
    }

    fn follow(&mut self, letters: &[Vec<u8>]) -> Result<(), Halt> {
        for (k, (side, letter)) in self.border().sides.iter().zip(letters).enumerate() {
            let (mut letter, m) = (&letter[..], side.followed);
            let places = columns_of::<C>(&mut letter, 1, RECORD * m)?;
            let flows = columns_of::<R>(&mut letter, 1, RECORD * m)?;
            self.gpu.write_part(&side.told.coordinates, 0, &places[0]);
            self.gpu.write_part(&side.told.motions, 0, &flows[0]);
            self.put_copies(k, &side.told);
        }
        Ok(())
    }

    fn prepare(&mut self, host: &mut Flow) -> Result<Vec<[f64; 3]>, GpuError> {
        self.stand_here(host)?;
        let (gpu, places) = (self.gpu.clone(), sampled(self.n));
        let m = places.len();
        gpu.write_part(&self.order, 0, &places);
        self.border_mut().parcel.make_room(&gpu, m)?;
        let Border { owned, parcel, .. } = self.border();
        let mut copies = gpu.copies();
        let words = gathered(&gpu, &[owned, &self.kind], (&self.order, m, 1), &parcel.words, &mut copies);
        let position = &self.position[self.now];
        let position = gathered(&gpu, &[position], (&self.order, m, RECORD), &parcel.coordinates, &mut copies);
        let arrived = copies.wait()?;
        let words: Vec<Vec<u32>> = words.into_iter().map(|ticket| arrived.take(ticket)).collect();
        let records: Vec<C> = position.into_iter().flat_map(|ticket| arrived.take(ticket)).collect();
        let marks = words[0].iter().zip(&words[1]);
        let own_fluid = records
            .chunks_exact(RECORD)
            .zip(marks)
            .filter(|(_, (owned, kind))| **owned == FREE && **kind & WALL == 0);
        Ok(own_fluid.map(|(place, _)| [0, 1, 2].map(|axis| place[axis].double())).collect())
    }

    fn send_away(&mut self, host: &mut Flow, own: &Block<f64>, others: &[Block<f64>]) -> Result<(u64, Vec<Vec<u8>>), Halt> {
        let (mut letters, mut sent) = (Vec::new(), 0);
        for other in others {
            let m = self.find(other, false)?;
            let packed = self.packed(m)?;
            let (count, dim) = units(m);
            let_go::launch(
                self.gpu.client(),
                count,
                dim,
                self.order.argument(),
                self.border().owned.argument(),
                m as u32,
            );
            host.count -= packed.fluid.len();
            sent += m as u64;
            letters.push(packed.letter);
        }
        if self.find(own, true)? > 0 {
            let first = self.gpu.download_part(&self.order, 0..1).wait()?[0] as usize;
            let id = self.gpu.download_part(&self.id, first..first + 1).wait()?[0];
            return Err(Halt::fluid_passed_through(id));
        }
        let (count, dim) = units(self.n);
        let_copies_go::launch(self.gpu.client(), count, dim, self.border().owned.argument(), self.n as u32);
        Ok((sent, letters))
    }

    fn take_in(&mut self, host: &mut Flow, letters: &[Vec<u8>]) -> Result<(), Halt> {
        for letter in letters {
            host.count += self.unpacked(letter, FREE)?.len();
        }
        Ok(())
    }

    fn copies_for(&mut self, felt: &[Block<f64>]) -> Result<Vec<Vec<u8>>, GpuError> {
        let (gpu, mut letters) = (self.gpu.clone(), Vec::new());
        let sides = &mut self.border_mut().sides;
        sides.truncate(felt.len());
        while sides.len() < felt.len() {
            sides.push(Side::new(&gpu, &[], &[])?);
        }
        for (k, felt) in felt.iter().enumerate() {
            let m = self.find(felt, false)?;
            let packed = self.packed(m)?;
            self.border_mut().sides[k].show(&gpu, &packed.fluid)?;
            letters.push(packed.letter);
        }
        Ok(letters)
    }

    fn list_with(&mut self, host: &mut Flow, letters: &[Vec<u8>]) -> Result<(), Halt> {
        let gpu = self.gpu.clone();
        for (k, letter) in letters.iter().enumerate() {
            let fluid = self.unpacked(letter, GHOST)?;
            self.border_mut().sides[k].follow(&gpu, &fluid)?;
        }
        self.sort(host)?;
        if self.n == 0 {
            return Err(Halt::no_fluid());
        }
        self.rename_shared();
        Ok(self.list_pairs(host)?)
    }
}
