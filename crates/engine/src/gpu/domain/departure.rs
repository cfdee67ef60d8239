//! Grains that leave for other subdomains. They are found, packed and downloaded with their contact histories in one wait, as long as there is room for
//! all; otherwise there is room the next time. Where it can, the GPU finds and packs the ghosts of others in the same wait.

use super::DomainState;
use super::contact_histories::HostHistories;
use super::ghosts::FoundGhosts;
use super::migration::{MigratingCounts, widths_of};
use super::packing::HostGrains;
use crate::exchange::{HaltReason, append_message};
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::polyhedra::{HostShapeContacts, MigratingShapes, ShapeContactReadback};
use crate::gpu::{GpuGrains, Number};
use crate::populations::Populations;
use seixo_device::gpu::{Copies, GpuError, units};
use seixo_laws::{Coordinate, Vector3};
use seixo_sweeps::domain::{Block, is_in_block};
use seixo_sweeps::kernels::domain::{MOST_NEIGHBORS, mark_gone};

/// Grains that leave, and their contact histories with grains and with walls.
struct Departure<C, R> {
    grains: HostGrains<C, R>,
    histories: [Option<HostHistories<R>>; 2],
    /// The same of polyhedral grains, if there are any.
    shape_contacts: Option<[Option<HostShapeContacts<R>>; 2]>,
}

impl<C: Number, R: Number> Departure<C, R> {
    /// A message with these grains; empty without any.
    fn message_of(&self, which: &[usize]) -> Vec<u8> {
        let mut message = Vec::new();
        if which.is_empty() {
            return message;
        }
        self.grains.picked(which).enclose_in(&mut message);
        for histories in &self.histories {
            let inner = histories.as_ref().map_or_else(Vec::new, |histories| histories.message_of(which));
            append_message(&mut message, &inner);
        }
        for contacts in self.shape_contacts.iter().flatten() {
            let inner = contacts.as_ref().map_or_else(Vec::new, |contacts| contacts.message_of(which));
            append_message(&mut message, &inner);
        }
        message
    }
}

/// The numbers of those of m particles at these positions that are in each block. Fails with one that is in none.
pub(in crate::gpu) fn grouped_by_block<C: Number>(
    m: usize,
    position: impl Fn(usize) -> Vector3<C>,
    blocks: &[Block<f64>],
) -> Result<Vec<Vec<usize>>, usize> {
    let rounded: Vec<Block<C>> = blocks.iter().map(rounded).collect();
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    for k in 0..m {
        let place = position(k);
        let owner = rounded.iter().position(|block| is_in_block::<C>(&place, block)).ok_or(k)?;
        groups[owner].push(k);
    }
    Ok(groups)
}

/// A block with bounds as a GPU compares them.
pub(super) fn rounded<C: Number>(block: &Block<f64>) -> Block<C> {
    let vector = |v: &Vector3<f64>| Vector3 {
        x: C::of(v.x),
        y: C::of(v.y),
        z: C::of(v.z),
    };
    Block {
        low: vector(&block.low),
        high: vector(&block.high),
        length: vector(&block.length),
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// As [`super::DomainBackend::send_migrating`].
    pub(super) fn send_departing(
        &mut self,
        host: &Populations,
        own: &Block<f64>,
        others: &[Block<f64>],
        blocks_in_reach: Option<&[Block<f64>]>,
    ) -> Result<(u64, Vec<Vec<u8>>), HaltReason> {
        self.border().staying = self.owned_without_ghosts();
        if self.n == 0 {
            self.count_old_contacts()?;
            return Ok((0, vec![Vec::new(); others.len()]));
        }
        let departure = self.download_departing(host.walls.contact_histories, own, blocks_in_reach)?;
        let (grains, m) = (&departure.grains, departure.grains.len());
        let groups = grouped_by_block::<C>(m, |k| grains.position(k), others).map_err(|k| HaltReason::passed_through(grains.id(k)))?;
        let messages = groups.iter().map(|which| departure.message_of(which)).collect();
        let border = self.border.as_mut().expect("a domain has a border");
        border.staying -= m;
        let (count, dim) = units(self.n);
        let place = border.parcel.place.argument();
        mark_gone::launch(
            self.gpu.client(),
            count,
            dim,
            place,
            border.member.argument(),
            m as u32,
            self.n as u32,
        );
        // While the hosts exchange messages.
        self.gpu.submit_aside();
        Ok((m as u64, messages))
    }

    /// Finds the own grains outside the own block, and downloads them, with this many values of each contact history with a wall. Their indices are in
    /// [`super::MigrationBuffer::place`] then. Selects the ghosts for each of the blocks in reach, if they are given.
    fn download_departing(
        &mut self,
        of_walls: usize,
        own: &Block<f64>,
        blocks_in_reach: Option<&[Block<f64>]>,
    ) -> Result<Departure<C, R>, GpuError> {
        let (n, widths) = (self.n, widths_of(&self.belongings()));
        let mut in_reach = blocks_in_reach.filter(|blocks| blocks.len() <= MOST_NEIGHBORS);
        let mut is_counted = false;
        loop {
            let MigratingCounts {
                grains,
                histories,
                shape_contacts,
            } = self.border().parcel.room;
            let room = grains.min(n);
            // At every repeat, as `count_old_contacts` overwrites the marks in `cells.lengths`, and a repeat lists only the grains that leave.
            let lists = self.list_for_others(own, in_reach, room)?;
            // The GPU searches while the host queues the rest.
            self.gpu.submit_aside();
            self.pack_departing(room, &widths)?;
            let mut copies = self.gpu.copies();
            let coming = self.pack_leaving_histories(room, histories, of_walls, &mut copies)?;
            let of_shapes = self.pack_leaving_shapes(room, shape_contacts, &mut copies)?;
            let parcel = &self.border.as_ref().expect("a domain has a border").parcel;
            let kept = copies.add(&parcel.kept, 0..lists);
            let packed = parcel.packed.ask(&mut copies, &widths);
            let corners = match in_reach.take() {
                Some(blocks) => Some(self.pack_first_ghosts(blocks.len(), &mut copies)?),
                None => None,
            };
            let pending = copies.queue();
            if !is_counted {
                // The GPU does this while the host waits for these grains, and writes messages with them.
                self.count_old_contacts()?;
                self.gpu.submit_aside();
                is_counted = true;
            }
            let arrived = pending.wait()?;
            let kept = arrived.take(kept);
            if let Some(corners) = corners {
                self.border().begun = Some(FoundGhosts::of(&arrived, n, &kept[1..], corners));
            }
            let m = kept[0] as usize;
            let parcel = &mut self.border().parcel;
            if m > room {
                // The number of histories is not known yet.
                parcel.room.grains = m;
                parcel.room = parcel.room.with_reserve();
                continue;
            }
            let histories = coming.map(|coming| coming.map(|coming| coming.histories(&arrived)));
            let entries = [0, 1].map(|k| histories[k].as_ref().map_or(0, |histories: &HostHistories<R>| histories.entries(m)));
            let of_shapes = of_shapes.map(|coming| coming.map(|coming| coming.map(|coming| coming.contacts(&arrived))));
            let pairs = |k: usize| {
                let contacts = of_shapes.as_ref().and_then(|of_shapes| of_shapes[k].as_ref());
                contacts.map_or(0, |contacts| contacts.pairs(m))
            };
            let found = MigratingCounts {
                grains: m,
                histories: entries,
                shape_contacts: [pairs(0), pairs(1)],
            };
            let is_whole = parcel.room.holds(found);
            parcel.room = found.with_reserve();
            if is_whole {
                return Ok(Departure {
                    grains: packed.grains(&arrived, m, &widths),
                    histories,
                    shape_contacts: of_shapes,
                });
            }
        }
    }

    /// As [`GpuGrains::pack_leaving_histories`], of polyhedral grains, if there are any.
    fn pack_leaving_shapes(
        &mut self,
        m: usize,
        rooms: [usize; 2],
        copies: &mut Copies,
    ) -> Result<Option<[Option<ShapeContactReadback<R>>; 2]>, GpuError> {
        let present = self.present_slots();
        let Some(shapes) = &mut self.shapes else { return Ok(None) };
        let parcel = &mut self.border.as_mut().expect("a domain has a border").parcel;
        let leaving = MigratingShapes {
            place: &parcel.place,
            m,
            id: &self.id,
            present,
        };
        let packed = &mut parcel.shape_contacts;
        Ok(Some(shapes.pack_leaving(
            &self.gpu,
            self.walls.as_ref(),
            &leaving,
            rooms,
            packed,
            copies,
        )?))
    }

    /// Queues the search for the own grains outside the own block, of which the first `room` are listed in [`super::MigrationBuffer::found`]. With blocks in
    /// reach, also lists the ghosts for each of these, as far as there is room for them. Returns the number of lists.
    fn list_for_others(&mut self, own: &Block<f64>, in_reach: Option<&[Block<f64>]>, room: usize) -> Result<usize, GpuError> {
        let (gpu, n, neighbors) = (self.gpu.clone(), self.n, in_reach.map_or(0, <[Block<f64>]>::len));
        match in_reach {
            Some(blocks) => {
                self.make_sides(neighbors)?;
                self.find_for_others(own, blocks)?;
            }
            None => self.mark(own, true, 0),
        }
        let lists = 1 + neighbors;
        let DomainState { parcel, sides, .. } = self.border.as_mut().expect("a domain has a border");
        let of_ghosts = sides[..neighbors].iter().map(|side| side.room.min(n));
        parcel.found_room = of_ghosts.fold(room, usize::max);
        make_room(&gpu, &mut parcel.found, lists * parcel.found_room, "domains")?;
        let into = (&parcel.found, parcel.found_room);
        let marks = (&self.cells.lengths, lists);
        self.cells.workspace.compact_by_bits(&gpu, marks, n, into, &parcel.kept)?;
        Ok(lists)
    }

    /// Queues the packing of the found grains, for which there is this much room.
    fn pack_departing(&mut self, room: usize, widths: &[usize]) -> Result<(), GpuError> {
        let gpu = self.gpu.clone();
        let parcel = &mut self.border().parcel;
        make_room(&gpu, &mut parcel.place, room, "domains")?;
        parcel.packed.make_room(&gpu, room, widths)?;
        let parcel = &self.border.as_ref().expect("a domain has a border").parcel;
        self.pack_found(&parcel.packed, (&parcel.found, &parcel.kept), (0, 0), &parcel.place, room);
        Ok(())
    }
}
