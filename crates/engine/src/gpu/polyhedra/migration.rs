//! Contact histories of polyhedral grains that migrate to other subdomains: with grains, and with walls.

use super::super::neighbor_lists::make_room;
use super::super::{Number, WallRows};
use super::{CONTACTS, GpuShapes};
use crate::exchange::{DecodeError, HaltReason, enclose, unfold};
use crate::polyhedra::SLOTS;
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::polyhedra_migration::{
    count_shape_contacts, count_shape_touches, pack_shape_contacts, pack_shape_touches, unpack_shape_contacts, unpack_shape_touches,
};
use seixo_sweeps::layout::RECORD;

/// Numbers of the histories in all slots of a pair.
const SPRINGS: usize = RECORD * SLOTS;

/// Grains that leave, or that have arrived: their indices and number, the ids of all grains, and which slots have the present histories.
pub(in crate::gpu) struct MigratingShapes<'a> {
    pub place: &'a Buffer<u32>,
    pub m: usize,
    pub id: &'a Buffer<u32>,
    pub present: usize,
}

/// Room for packed contact histories in GPU memory: the first pair of each grain; and for each pair the number of the grain among those packed, the other
/// grain or wall element, and all slots, of which those after the first free one have no meaning.
pub(in crate::gpu) struct ShapeContactBuffer<R> {
    start: Buffer<u32>,
    whose: Buffer<u32>,
    keys: Buffer<u32>,
    springs: Buffer<R>,
}

/// Downloads of packed contact histories, in progress.
pub(in crate::gpu) struct ShapeContactReadback<R> {
    start: Ticket<u32>,
    whose: Ticket<u32>,
    keys: Ticket<u32>,
    springs: Ticket<R>,
}

/// Packed contact histories that were downloaded. If there was not room for all, the last ones are missing.
pub(in crate::gpu) struct HostShapeContacts<R> {
    start: Vec<u32>,
    whose: Vec<u32>,
    keys: Vec<u32>,
    springs: Vec<R>,
}

impl<R: Number> ShapeContactBuffer<R> {
    /// Without room yet.
    pub fn new(gpu: &Gpu) -> Result<ShapeContactBuffer<R>, GpuError> {
        Ok(ShapeContactBuffer {
            start: gpu.buffer(RECORD, CONTACTS)?,
            whose: gpu.buffer(RECORD, CONTACTS)?,
            keys: gpu.buffer(RECORD, CONTACTS)?,
            springs: gpu.buffer(RECORD, CONTACTS)?,
        })
    }

    /// Makes room for this many pairs of m grains.
    fn make_room(&mut self, gpu: &Gpu, m: usize, pairs: usize) -> Result<(), GpuError> {
        make_room(gpu, &mut self.start, m + 1, CONTACTS)?;
        make_room(gpu, &mut self.whose, 2 * pairs, CONTACTS)?;
        make_room(gpu, &mut self.keys, SLOTS * pairs, CONTACTS)?;
        make_room(gpu, &mut self.springs, SPRINGS * pairs, CONTACTS)
    }

    /// Requests the download of the first pairs of m grains and the one behind, and of this many pairs.
    fn ask(&self, copies: &mut Copies, m: usize, pairs: usize) -> ShapeContactReadback<R> {
        ShapeContactReadback {
            start: copies.add(&self.start, 0..m + 1),
            whose: copies.add(&self.whose, 0..2 * pairs),
            keys: copies.add(&self.keys, 0..SLOTS * pairs),
            springs: copies.add(&self.springs, 0..SPRINGS * pairs),
        }
    }
}

impl<R: Number> ShapeContactReadback<R> {
    /// The contact histories, once they have arrived.
    pub fn contacts(self, arrived: &Arrived) -> HostShapeContacts<R> {
        HostShapeContacts {
            start: arrived.take(self.start),
            whose: arrived.take(self.whose),
            keys: arrived.take(self.keys),
            springs: arrived.take(self.springs),
        }
    }
}

impl<R: Number> HostShapeContacts<R> {
    /// Number of pairs of the first m grains.
    pub fn pairs(&self, m: usize) -> usize {
        self.start[m] as usize
    }

    /// A message with the pairs of these grains, which are numbered from zero on.
    pub fn message_of(&self, which: &[usize]) -> Vec<u8> {
        let (mut whose, mut keys, mut springs) = (Vec::new(), Vec::new(), Vec::<R>::new());
        for (number, &k) in which.iter().enumerate() {
            for pair in self.start[k] as usize..self.start[k + 1] as usize {
                whose.extend([number as u32, self.whose[2 * pair + 1]]);
                keys.extend_from_slice(&self.keys[SLOTS * pair..][..SLOTS]);
                springs.extend_from_slice(&self.springs[SPRINGS * pair..][..SPRINGS]);
            }
        }
        let mut message = Vec::new();
        enclose(&mut message, &whose);
        enclose(&mut message, &keys);
        enclose(&mut message, &springs);
        message
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuShapes<C, R> {
    /// Queues the packing of the contact histories of grains that leave, with grains and with walls, and requests their download. There is room for this
    /// many pairs of each.
    pub(in crate::gpu) fn pack_leaving(
        &mut self,
        gpu: &Gpu,
        near: Option<&WallRows<C, R>>,
        leaving: &MigratingShapes<'_>,
        rooms: [usize; 2],
        packed: &mut [ShapeContactBuffer<R>; 2],
        copies: &mut Copies,
    ) -> Result<[Option<ShapeContactReadback<R>>; 2], GpuError> {
        let (m, present) = (leaving.m, leaving.present);
        let [of_grains, of_walls] = packed;
        let (list, found) = (&self.pairs, &self.counts[0]);
        let (now, slots) = (list.now, &list.slots[present]);
        let (count, dim) = units(m);
        count_shape_contacts::launch::<R>(
            gpu.client(),
            count.clone(),
            dim,
            leaving.place.argument(),
            list.end_first[now].argument(),
            list.ends[now].argument(),
            list.loads[now].records(),
            found.argument(),
            m as u32,
        );
        of_grains.make_room(gpu, m, rooms[0])?;
        self.workspace.exclusive_scan(gpu, found, m, &of_grains.start)?;
        pack_shape_contacts::launch::<R>(
            gpu.client(),
            count.clone(),
            dim,
            leaving.place.argument(),
            of_grains.start.argument(),
            list.end_first[now].argument(),
            list.ends[now].argument(),
            list.pairs[now].argument(),
            leaving.id.argument(),
            list.loads[now].records(),
            slots.keys.argument(),
            slots.springs.argument(),
            of_grains.whose.argument(),
            of_grains.keys.argument(),
            of_grains.springs.argument(),
            rooms[0] as u32,
            SLOTS as u32,
            m as u32,
        );
        let with_grains = Some(of_grains.ask(copies, m, rooms[0]));
        let Some(near) = near.filter(|near| near.entries > 0) else {
            return Ok([with_grains, None]);
        };
        let at_walls = &self.at_walls;
        let (loads, slots) = (&at_walls.loads[at_walls.now], &at_walls.slots[present]);
        count_shape_touches::launch::<C>(
            gpu.client(),
            count.clone(),
            dim,
            leaving.place.argument(),
            near.row.argument(),
            loads.records(),
            found.argument(),
            m as u32,
        );
        of_walls.make_room(gpu, m, rooms[1])?;
        self.workspace.exclusive_scan(gpu, found, m, &of_walls.start)?;
        pack_shape_touches::launch::<R, C>(
            gpu.client(),
            count,
            dim,
            leaving.place.argument(),
            of_walls.start.argument(),
            near.row.argument(),
            near.list.argument(),
            loads.records(),
            slots.keys.argument(),
            slots.springs.argument(),
            of_walls.whose.argument(),
            of_walls.keys.argument(),
            of_walls.springs.argument(),
            rooms[1] as u32,
            SLOTS as u32,
            m as u32,
        );
        Ok([with_grains, Some(of_walls.ask(copies, m, rooms[1]))])
    }

    /// Restores the contact histories that grains brought in these messages, with grains and with walls, in the lists that were just built. `packed` is
    /// room for them.
    pub(in crate::gpu) fn restore_arrived(
        &self,
        gpu: &Gpu,
        near: Option<&WallRows<C, R>>,
        arrived: &MigratingShapes<'_>,
        messages: &[Vec<u8>; 2],
        packed: &mut ShapeContactBuffer<R>,
    ) -> Result<(), HaltReason> {
        for (message, is_of_walls) in messages.iter().zip([false, true]) {
            if message.is_empty() {
                continue;
            }
            let mut message = &message[..];
            let (whose, keys): (Vec<u32>, Vec<u32>) = (unfold(&mut message)?, unfold(&mut message)?);
            let springs: Vec<R> = unfold(&mut message)?;
            let pairs = whose.len() / 2;
            let is_named = whose.chunks_exact(2).all(|pair| (pair[0] as usize) < arrived.m);
            let are_whole = whose.len() == 2 * pairs && keys.len() == SLOTS * pairs && springs.len() == SPRINGS * pairs;
            if !is_named || !are_whole {
                return Err(DecodeError.into());
            }
            if pairs == 0 {
                continue;
            }
            packed.make_room(gpu, 0, pairs)?;
            gpu.write_part(&packed.whose, 0, &whose);
            gpu.write_part(&packed.keys, 0, &keys);
            gpu.write_part(&packed.springs, 0, &springs);
            if is_of_walls {
                self.unpack_touches(gpu, near, arrived, packed, pairs);
            } else {
                self.unpack_contacts(gpu, arrived, packed, pairs);
            }
        }
        Ok(())
    }

    /// Queues the unpacking of the histories of this many pairs of grains.
    fn unpack_contacts(&self, gpu: &Gpu, arrived: &MigratingShapes<'_>, packed: &ShapeContactBuffer<R>, pairs: usize) {
        let list = &self.pairs;
        let (now, slots) = (list.now, &list.slots[arrived.present]);
        let (count, dim) = units(pairs);
        unpack_shape_contacts::launch::<R>(
            gpu.client(),
            count,
            dim,
            packed.whose.argument(),
            packed.keys.argument(),
            packed.springs.argument(),
            arrived.place.argument(),
            arrived.id.argument(),
            list.end_first[now].argument(),
            list.ends[now].argument(),
            list.pairs[now].argument(),
            slots.keys.argument(),
            slots.springs.argument(),
            SLOTS as u32,
            pairs as u32,
        );
    }

    /// Queues the unpacking of the histories of this many grains at wall elements, or at meshes, of which an element is named.
    fn unpack_touches(
        &self,
        gpu: &Gpu,
        near: Option<&WallRows<C, R>>,
        arrived: &MigratingShapes<'_>,
        packed: &ShapeContactBuffer<R>,
        pairs: usize,
    ) {
        let Some(near) = near.filter(|near| near.entries > 0) else { return };
        let slots = &self.at_walls.slots[arrived.present];
        let (count, dim) = units(pairs);
        unpack_shape_touches::launch::<R>(
            gpu.client(),
            count,
            dim,
            packed.whose.argument(),
            packed.keys.argument(),
            packed.springs.argument(),
            arrived.place.argument(),
            near.row.argument(),
            near.list.argument(),
            self.at_walls.features.argument(),
            slots.keys.argument(),
            slots.springs.argument(),
            SLOTS as u32,
            pairs as u32,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_contacts_of_its_grains_alone() {
        // The first of three grains has two contacts, the second none.
        let all = HostShapeContacts {
            start: vec![0, 2, 2, 3],
            whose: vec![0, 70, 0, 71, 2, 72],
            keys: (0..3 * SLOTS as u32).collect(),
            springs: (0..3 * SPRINGS).map(|k| k as f32).collect(),
        };
        assert_eq!([1, 2, 3].map(|m| all.pairs(m)), [2, 2, 3]);
        let message = all.message_of(&[1, 2]);
        let mut rest = &message[..];
        assert_eq!(unfold::<u32>(&mut rest), Ok(vec![1, 72]));
        assert_eq!(unfold::<u32>(&mut rest), Ok(all.keys[2 * SLOTS..].to_vec()));
        assert_eq!(unfold::<f32>(&mut rest), Ok(all.springs[2 * SPRINGS..].to_vec()));
    }
}
