//! Selection of ghosts at a rebuild of the lists, and their way to the other subdomains: from GPU to GPU, or in messages. For all neighbors, the host
//! waits once, for their numbers. If there is not room for some of them, it waits again.
//!
//! Where it can, a GPU selects among the grains that stay when it looks for those that migrate, and the host waits once for both. The grains that arrive are
//! few, and hosts have them in messages. So the host tests them, and passes those that are ghosts elsewhere on in messages.

use super::DomainState;
use super::departure::rounded;
use super::halo::HaloSide;
use super::migration::widths_of;
use super::packing::PackedGrains;
use crate::exchange::{DecodeError, HaltReason, enclose, unfold};
use crate::gpu::halo_exchange::{GhostExchange, HaloMessage};
use crate::gpu::neighbor_lists::{box_around, make_room};
use crate::gpu::{GpuGrains, Number, numbers};
use crate::populations::Populations;
use crate::world::GhostSelection;
use seixo_device::gpu::{Arrived, Copies, Gpu, GpuError, Ticket};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::is_owned;
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::domain::{Block, is_in_block};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Grains that are ghosts in another subdomain, on the GPU of either.
pub(super) struct PackedGhosts<C, R> {
    packed: Arc<PackedGrains<C, R>>,
    count: usize,
    /// Messages with further grains, which come behind these.
    newcomers: Vec<Vec<u8>>,
    /// A box that contains the centers of all \[m\].
    bounds: Bounds,
    gpu: Gpu,
}

/// Ghosts that were selected among the grains that stay here, before others arrived.
pub(super) struct FoundGhosts {
    /// Number of grains then.
    n: usize,
    /// Number of ghosts for each neighbor.
    counts: Vec<usize>,
    /// A box that contained the centers of all grains \[m\].
    own_box: Bounds,
}

impl FoundGhosts {
    /// So many ghosts for each neighbor among n grains, around which a box with these corners has arrived.
    pub fn of<C: Number>(arrived: &Arrived, n: usize, counts: &[u32], corners: Ticket<C>) -> FoundGhosts {
        FoundGhosts {
            n,
            counts: counts.iter().map(|&count| count as usize).collect(),
            own_box: arrived.make(corners, |corners| box_around(corners).0),
        }
    }
}

/// The part of a box around own grains in which those within a block are, if there are any. Images, and grains that are selected for another reason, can
/// be anywhere along an axis.
fn within<C: Number>(own: &Bounds, block: &Block<f64>, is_anywhere: bool) -> Bounds {
    let [low, high, length] = [block.low, block.high, block.length].map(|v| [v.x, v.y, v.z]);
    let ends = [0, 1, 2].map(|axis| {
        if is_anywhere || length[axis] > 0.0 {
            [own.low[axis], own.high[axis]]
        } else {
            // Bounds as the GPU compares them.
            let [from, to] = [low[axis], high[axis]].map(|end| C::of(end).double());
            [own.low[axis].max(from), own.high[axis].min(to)]
        }
    });
    Bounds {
        low: ends.map(|[low, _]| low),
        high: ends.map(|[_, high]| high),
    }
}

/// Appends a box to a message.
fn enclose_box(message: &mut Vec<u8>, bounds: &Bounds) {
    enclose(message, &[bounds.low, bounds.high].concat());
}

/// Takes a box from a message.
fn unfold_box(message: &mut &[u8]) -> Result<Bounds, DecodeError> {
    match unfold::<f64>(message)?[..] {
        [a, b, c, d, e, f] => Ok(Bounds {
            low: [a, b, c],
            high: [d, e, f],
        }),
        _ => Err(DecodeError),
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Queues one search for the grains that leave this block, and for the ghosts for each of the blocks in reach among those that stay. It also finds the box
    /// around all grains.
    pub(super) fn find_for_others(&mut self, own: &Block<f64>, in_reach: &[Block<f64>]) -> Result<(), GpuError> {
        let gpu = self.gpu.clone();
        let bounds_of = |block: &Block<f64>| [block.low, block.high, block.length].map(|v| [v.x, v.y, v.z]).concat();
        let blocks = std::iter::once(own).chain(in_reach).flat_map(bounds_of);
        self.border().blocks.send(&gpu, &numbers::<C>(blocks))?;
        let border = self.border.as_ref().expect("a domain has a border");
        let grains = (&self.position[self.now], &border.member, self.n);
        let blocks = (&border.blocks.buffer, in_reach.len() + 1);
        self.cells.find_for_others(&gpu, grains, self.sought_in(), blocks);
        Ok(())
    }

    /// Queues the packing of the ghosts that [`GpuGrains::find_for_others`] found for each of so many neighbors, and requests the box.
    pub(super) fn pack_first_ghosts(&mut self, neighbors: usize, copies: &mut Copies) -> Result<Ticket<C>, GpuError> {
        let widths = widths_of(&self.belongings());
        for k in 0..neighbors {
            self.pack_ghosts(k, true, &widths)?;
        }
        Ok(self.cells.request_corners(copies))
    }

    /// Makes so many sides.
    pub(super) fn make_sides(&mut self, count: usize) -> Result<(), GpuError> {
        let gpu = self.gpu.clone();
        let sides = &mut self.border().sides;
        sides.truncate(count);
        while sides.len() < count {
            sides.push(HaloSide::new(&gpu)?);
        }
        Ok(())
    }

    /// As [`super::DomainBackend::ghosts_for`].
    pub(super) fn select_ghosts(
        &mut self,
        host: &Populations,
        blocks: &[Block<f64>],
        bonded: &HashSet<u32>,
        by_messages: bool,
    ) -> Result<(Vec<Vec<u8>>, Duration), GpuError> {
        let clock = Instant::now();
        let bonded = self.send_bonded(bonded)?;
        let gpu = self.gpu.clone();
        self.make_sides(blocks.len())?;
        let border = self.border();
        for side in &mut border.sides {
            (side.shown, side.packed) = (0, 0);
            side.newcomers.clear();
        }
        border.own_box = Bounds::NOTHING;
        let begun = border.begun.take();
        let mut messages = vec![Vec::new(); blocks.len()];
        if self.n == 0 {
            return Ok((messages, clock.elapsed()));
        }
        let widths = widths_of(&self.belongings());
        let mut is_boxed = begun.is_some();
        let mut pending = match begun {
            Some(found) => self.keep_first_ghosts(&found, blocks)?,
            None => (0..blocks.len()).collect(),
        };
        while !pending.is_empty() {
            let n = self.n;
            for &k in &pending {
                self.queue_ghosts(host, k, &blocks[k], bonded, &widths)?;
            }
            gpu.submit_aside();
            if !is_boxed {
                self.cells.find_bounds(&gpu, (&self.position[self.now], self.sought_in()), None, n);
            }
            let mut copies = gpu.copies();
            let corners = (!is_boxed).then(|| self.cells.request_corners(&mut copies));
            let sides = &self.border.as_ref().expect("a domain has a border").sides;
            let tickets: Vec<_> = pending
                .iter()
                .map(|&k| {
                    let packed = by_messages.then(|| sides[k].outgoing.ask(&mut copies, &widths));
                    (k, copies.add(&sides[k].kept, 0..1), packed)
                })
                .collect();
            let arrived = copies.wait()?;
            let border = self.border.as_mut().expect("a domain has a border");
            if let Some(corners) = corners {
                border.own_box = arrived.make(corners, |corners| box_around(corners).0);
            }
            is_boxed = true;
            pending.clear();
            for (k, kept, packed) in tickets {
                let (side, m) = (&mut border.sides[k], arrived.take(kept)[0] as usize);
                if !side.keep_found(m, n) {
                    pending.push(k);
                    continue;
                }
                side.outgoing_box = within::<C>(&border.own_box, &blocks[k], bonded > 0);
                if let Some(packed) = packed.filter(|_| m > 0) {
                    enclose_box(&mut messages[k], &side.outgoing_box);
                    packed.grains(&arrived, m, &widths).enclose_in(&mut messages[k]);
                }
            }
        }
        Ok((messages, clock.elapsed()))
    }

    /// Keeps the ghosts for these blocks that were selected before grains arrived, and adds those among the grains that arrived since. Returns the neighbors
    /// for which there was not room for all ghosts.
    fn keep_first_ghosts(&mut self, first: &FoundGhosts, blocks: &[Block<f64>]) -> Result<Vec<usize>, GpuError> {
        let DomainState {
            sides, newcomers, own_box, ..
        } = self.border();
        let arrived = newcomers.iter().map(|(_, grains)| grains.bounds());
        *own_box = arrived.fold(first.own_box, |bounds, more| bounds.with(&more));
        let are_packed = |k: &usize| sides[*k].keep_found(first.counts[*k], first.n);
        let (packed, others): (Vec<usize>, Vec<usize>) = (0..blocks.len()).partition(are_packed);
        for k in packed {
            let border = self.border();
            border.sides[k].outgoing_box = within::<C>(&border.own_box, &blocks[k], false);
            self.show_newcomers(k, &blocks[k])?;
        }
        self.border().newcomers.clear();
        Ok(others)
    }

    /// Adds those of the grains that arrived after the selection had begun to the ghosts for neighbor k, whose block with its halo this is.
    fn show_newcomers(&mut self, k: usize, block: &Block<f64>) -> Result<(), GpuError> {
        let (gpu, block) = (self.gpu.clone(), rounded::<C>(block));
        let DomainState { newcomers, sides, .. } = self.border();
        let side = &mut sides[k];
        for (first, grains) in newcomers.iter() {
            let which: Vec<usize> = (0..grains.len())
                .filter(|&i| is_in_block::<C>(&grains.position(i), &block))
                .collect();
            if which.is_empty() {
                continue;
            }
            let places: Vec<u32> = which.iter().map(|i| (first + i) as u32).collect();
            gpu.lengthen(&mut side.own, side.shown + places.len(), "domains")?;
            gpu.write_part(&side.own, side.shown, &places);
            side.shown += places.len();
            let mut message = Vec::new();
            grains.picked(&which).enclose_in(&mut message);
            side.newcomers.push(message);
        }
        Ok(())
    }

    /// Sends the indices of own grains with these ids, which are bonded to grains of others; returns their number.
    fn send_bonded(&mut self, bonded: &HashSet<u32>) -> Result<usize, GpuError> {
        if bonded.is_empty() {
            return Ok(0);
        }
        let (ids, member) = self.ids_and_members()?;
        let own = ids.iter().zip(&member).zip(0..);
        let too: Vec<u32> = own
            .filter(|((id, member), _)| is_owned(**member) && bonded.contains(*id))
            .map(|(_, place)| place)
            .collect();
        let gpu = self.gpu.clone();
        let parcel = &mut self.border().parcel;
        make_room(&gpu, &mut parcel.start, too.len(), "domains")?;
        gpu.write_part(&parcel.start, 0, &too);
        Ok(too.len())
    }

    /// Queues the selection of the ghosts for neighbor k, whose block with its halo this is, and their packing. There are `bonded` ghosts in any case.
    fn queue_ghosts(&mut self, host: &Populations, k: usize, block: &Block<f64>, bonded: usize, widths: &[usize]) -> Result<(), GpuError> {
        let (gpu, n) = (self.gpu.clone(), self.n);
        match host.context.settings.ghost_selection {
            GhostSelection::All => {
                self.mark(block, false, bonded);
                let border = self.border.as_ref().expect("a domain has a border");
                let (cells, found) = (&mut self.cells, &border.sides[k].kept);
                cells.workspace.compact(&gpu, &cells.lengths, n, &self.order, found)?;
            }
            GhostSelection::Layers => {
                let m = self.find_in_layers(host, block, bonded)?;
                gpu.write_part(&self.border().sides[k].kept, 0, &[m as u32]);
            }
        }
        self.pack_ghosts(k, false, widths)
    }

    /// Queues the packing of the ghosts that were found for neighbor k. Their indices are in the order or, before grains arrive, in a list beside that of the
    /// grains that leave.
    fn pack_ghosts(&mut self, k: usize, is_first: bool, widths: &[usize]) -> Result<(), GpuError> {
        let (gpu, n) = (self.gpu.clone(), self.n);
        let side = &mut self.border().sides[k];
        let room = side.room.min(n);
        make_room(&gpu, &mut side.own, room, "domains")?;
        PackedGrains::make_room_apart(&mut side.outgoing, &gpu, room, widths)?;
        let border = self.border.as_ref().expect("a domain has a border");
        let (side, parcel) = (&border.sides[k], &border.parcel);
        let (found, list) = if is_first {
            ((&parcel.found, &parcel.kept), (k + 1, (k + 1) * parcel.found_room))
        } else {
            ((&self.order, &side.kept), (0, 0))
        };
        self.pack_found(&side.outgoing, found, list, &side.own, room);
        Ok(())
    }

    /// Copies ghosts from another GPU whose memory this one accesses, and keeps them. Returns whether it does. The other host has waited for the numbers
    /// of its ghosts, so they are packed; and it packs new ones only after this GPU has listed these.
    fn fetch_ghosts(&mut self, side: usize, theirs: &PackedGhosts<C, R>) -> Result<bool, GpuError> {
        let gpu = self.gpu.clone();
        // Both of a pair decide alike.
        if gpu.is_same(&theirs.gpu) || !gpu.accesses(&theirs.gpu) || !theirs.gpu.accesses(&gpu) {
            return Ok(false);
        }
        let widths = widths_of(&self.belongings());
        let side = &mut self.border().sides[side];
        PackedGrains::make_room_apart(&mut side.room_for_incoming, &gpu, theirs.packed.room(), &widths)?;
        if theirs.count > 0 && !side.room_for_incoming.fetch(&gpu, (&theirs.packed, &theirs.gpu), &widths)? {
            return Ok(false);
        }
        side.incoming = Some(PackedGhosts {
            packed: side.room_for_incoming.clone(),
            count: theirs.count,
            newcomers: theirs.newcomers.clone(),
            bounds: theirs.bounds,
            gpu: gpu.clone(),
        });
        Ok(true)
    }

    fn outgoing_ghosts(&self, side: usize) -> PackedGhosts<C, R> {
        let side = &self.border.as_ref().expect("a domain has a border").sides[side];
        PackedGhosts {
            packed: side.outgoing.clone(),
            count: side.packed,
            newcomers: side.newcomers.clone(),
            bounds: side.outgoing_box,
            gpu: self.gpu.clone(),
        }
    }

    /// Appends the ghosts that came from GPUs, or in these messages, behind all other grains; returns the number of ghosts, and a box that contains the
    /// centers of all grains \[m\].
    pub(super) fn append_all_ghosts(&mut self, messages: &[Vec<u8>]) -> Result<(usize, Bounds), HaltReason> {
        let gpu = self.gpu.clone();
        let before = self.n;
        let mut bounds = self.border().own_box;
        for k in 0..self.border().sides.len() {
            let side = &mut self.border().sides[k];
            let (incoming, mut message) = (side.incoming.take(), messages.get(k).map_or(&[][..], |message| &message[..]));
            let Some(ghosts) = incoming else {
                let count = if message.is_empty() {
                    0
                } else {
                    bounds = bounds.with(&unfold_box(&mut message)?);
                    self.unpacked(&mut message, Some((k, 0)))?
                };
                self.border().sides[k].followed_ghosts = count;
                continue;
            };
            let mut count = ghosts.count;
            if count > 0 {
                self.make_room_for(self.n + count)?;
                make_room(&gpu, &mut self.border().sides[k].ghosts, count, "domains")?;
                let side = &self.border.as_ref().expect("a domain has a border").sides[k];
                self.unpack_ghosts(&ghosts.packed, count, &side.ghosts);
                self.n += count;
            }
            for newcomers in &ghosts.newcomers {
                count += self.unpacked(&mut &newcomers[..], Some((k, count)))?;
            }
            if count > 0 {
                bounds = bounds.with(&ghosts.bounds);
            }
            self.border().sides[k].followed_ghosts = count;
        }
        Ok((self.n - before, bounds))
    }
}

impl<C: Number + Coordinate<R>, R: Number> GhostExchange for GpuGrains<C, R> {
    fn hand_ghosts(&self, side: usize) -> HaloMessage {
        Box::new(self.outgoing_ghosts(side))
    }

    fn copy_ghosts(&mut self, side: usize, theirs: HaloMessage) -> Result<HaloMessage, HaltReason> {
        let theirs = theirs.downcast::<PackedGhosts<C, R>>().map_err(|_| HaltReason::from(DecodeError))?;
        let own = self.outgoing_ghosts(side);
        if self.fetch_ghosts(side, &theirs)? {
            // The other one does the same.
            return Ok(Box::new(own));
        }
        let widths = widths_of(&self.belongings());
        let there = own.copied(&widths, &theirs.gpu)?;
        let here = theirs.copied(&widths, &own.gpu)?;
        self.border().sides[side].incoming = Some(here);
        Ok(Box::new(there))
    }

    fn receive_ghosts(&mut self, side: usize, copied: HaloMessage) -> Result<(), HaltReason> {
        let copied = copied.downcast::<PackedGhosts<C, R>>().map_err(|_| HaltReason::from(DecodeError))?;
        if !self.fetch_ghosts(side, &copied)? {
            if !copied.gpu.is_same(&self.gpu) {
                return Err(HaltReason::unreadable_ghosts());
            }
            self.border().sides[side].incoming = Some(*copied);
        }
        Ok(())
    }

    fn ghost_bytes(&self) -> u64 {
        let sides = self.border.as_ref().map_or(&[][..], |border| &border.sides);
        let ghosts: usize = sides.iter().map(|side| side.shown).sum();
        ghosts as u64 * PackedGrains::<C, R>::bytes_each(&widths_of(&self.belongings()))
    }
}

impl<C: Number, R: Number> PackedGhosts<C, R> {
    /// These ghosts on another GPU.
    fn copied(&self, widths: &[usize], to: &Gpu) -> Result<PackedGhosts<C, R>, GpuError> {
        let packed = if self.count == 0 {
            self.packed.clone()
        } else {
            PackedGrains::copied(&self.packed, widths, &self.gpu, to)?
        };
        Ok(PackedGhosts {
            packed,
            count: self.count,
            newcomers: self.newcomers.clone(),
            bounds: self.bounds,
            gpu: to.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_laws::Vector3;

    #[test]
    fn ghosts_of_a_block_are_in_the_part_of_the_box_within_it() {
        let own = Bounds {
            low: [0.0; 3],
            high: [4.0, 1.0, 1.0],
        };
        let everywhere = |x: f64| Vector3 { x, y: x, z: x };
        let mut block = Block {
            low: Vector3 {
                x: 3.5,
                ..everywhere(f64::NEG_INFINITY)
            },
            high: everywhere(f64::INFINITY),
            length: Vector3::zero(),
        };
        let part = within::<f32>(&own, &block, false);
        assert_eq!((part.low, part.high), ([3.5, 0.0, 0.0], own.high));
        assert_eq!(within::<f32>(&own, &block, true), own);
        // An image of the other end may be in the block.
        block.length.x = 4.0;
        assert_eq!(within::<f32>(&own, &block, false), own);
        let mut message = Vec::new();
        enclose_box(&mut message, &part);
        assert_eq!(unfold_box(&mut &message[..]), Ok(part));
    }
}
