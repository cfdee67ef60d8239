//! Polyhedral grains between host and GPU: what they do to the host, and contact histories in both directions.

use super::super::{GpuGrains, Number, doubles};
use super::Slots;
use crate::fields::{computed, part_range, parts};
use crate::polyhedra::{MeshFeatures, NO_LOAD, PairRecords, SLOTS};
use crate::populations::Populations;
use seixo_device::Cpu;
use seixo_device::gpu::{Arrived, Copies, Gpu, GpuError, Ticket};
use seixo_laws::Coordinate;
use seixo_laws::motion::{gravity_energy, kinetic_energy};
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::contact::Stored;
use seixo_sweeps::kernels::polyhedra_lists::{PAIR_LOAD, WALL_LOAD};
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::shape_pairs::PairLoad;
use seixo_sweeps::shape_walls::{NO_WALL_LOAD, ShapeWallLoad};

/// Numbers of a pair, and of a grain at a wall element.
const OF_PAIR: usize = RECORD * PAIR_LOAD;
const AT_WALL: usize = RECORD * WALL_LOAD;

fn load_of_pair(numbers: &[f64]) -> PairLoad<f64> {
    let mut all = PairLoad {
        force: load(numbers, 0),
        torque_i: load(numbers, 4),
        torque_j: load(numbers, 8),
        direction: load(numbers, 12),
        stored: Stored {
            normal: numbers[7],
            tangential: numbers[11],
        },
        contacts: numbers[3] as u32,
        ..NO_LOAD
    };
    all.powers.excess = numbers[15];
    // Without contacts, a GPU does not write this number.
    if all.contacts > 0 {
        all.conducting_radius = numbers[19];
    }
    all
}

fn numbers_of_pair(all: &PairLoad<f64>) -> [f64; OF_PAIR] {
    let (f, i, j, d) = (&all.force, &all.torque_i, &all.torque_j, &all.direction);
    let contacts = f64::from(all.contacts);
    let stored = &all.stored;
    [
        f.x,
        f.y,
        f.z,
        contacts,
        i.x,
        i.y,
        i.z,
        stored.normal,
        j.x,
        j.y,
        j.z,
        stored.tangential,
        d.x,
        d.y,
        d.z,
        all.powers.excess,
        0.0,
        0.0,
        0.0,
        all.conducting_radius,
    ]
}

fn load_at_wall(numbers: &[f64]) -> ShapeWallLoad<f64, f64> {
    ShapeWallLoad {
        force: load(numbers, 0),
        torque: load(numbers, 4),
        point: load(numbers, 8),
        stored: Stored {
            normal: numbers[7],
            tangential: numbers[11],
        },
        conducting_radius: numbers[12],
        overlap: numbers[15],
        contacts: numbers[3] as u32,
        ..NO_WALL_LOAD
    }
}

fn numbers_at_wall(all: &ShapeWallLoad<f64, f64>) -> [f64; AT_WALL] {
    let (f, t, p) = (&all.force, &all.torque, &all.point);
    let contacts = f64::from(all.contacts);
    let stored = &all.stored;
    [
        f.x,
        f.y,
        f.z,
        contacts,
        t.x,
        t.y,
        t.z,
        stored.normal,
        p.x,
        p.y,
        p.z,
        stored.tangential,
        all.conducting_radius,
        0.0,
        0.0,
        all.overlap,
    ]
}

/// Contact histories of some pairs on the host, in the slots of a GPU.
struct HostSlots<R> {
    keys: Vec<u32>,
    springs: Vec<R>,
}

impl<R: Number> HostSlots<R> {
    /// Free slots of this many pairs.
    fn new(pairs: usize) -> HostSlots<R> {
        HostSlots {
            keys: vec![0; SLOTS * pairs],
            springs: vec![R::of(0.0); RECORD * SLOTS * pairs],
        }
    }

    /// Puts the contacts of pair k into its slots.
    fn put(&mut self, k: usize, (keys, histories): (&[u32], &[f64])) {
        self.keys[k * SLOTS..][..keys.len()].copy_from_slice(keys);
        let slots = &mut self.springs[k * SLOTS * RECORD..][..histories.len()];
        for (slot, &number) in slots.iter_mut().zip(histories) {
            *slot = R::of(number);
        }
    }

    fn send(&self, gpu: &Gpu, to: &Slots<R>) {
        gpu.write_part(&to.keys, 0, &self.keys);
        gpu.write_part(&to.springs, 0, &self.springs);
    }
}

/// Downloads of slots that are in progress.
struct FetchedSlots<R> {
    keys: Ticket<u32>,
    springs: Ticket<R>,
}

/// Downloaded slots; without any if histories are not wanted.
struct ArrivedSlots {
    slots: usize,
    keys: Vec<u32>,
    springs: Vec<f64>,
}

impl<R: Number> Slots<R> {
    /// Requests so many slots of each of these pairs.
    fn ask(&self, copies: &mut Copies, pairs: usize, slots: usize) -> FetchedSlots<R> {
        FetchedSlots {
            keys: copies.add(&self.keys, 0..slots * pairs),
            springs: copies.add(&self.springs, 0..RECORD * slots * pairs),
        }
    }
}

impl<R: Number> FetchedSlots<R> {
    fn take(self, arrived: &Arrived, slots: usize) -> ArrivedSlots {
        ArrivedSlots {
            slots,
            keys: arrived.take(self.keys),
            springs: doubles(&arrived.take(self.springs)),
        }
    }
}

impl ArrivedSlots {
    /// Keys and histories of the contacts of pair k. Slots after the first free one have no meaning.
    fn of(&self, k: usize) -> (&[u32], &[f64]) {
        let first = k * self.slots;
        let keys = &self.keys[first..][..self.slots];
        let filled = keys.iter().take_while(|key| **key != 0).count();
        (&keys[..filled], &self.springs[RECORD * first..][..RECORD * filled])
    }
}

/// Rows of walls, downloaded: for each entry of a polyhedral grain its id and the element, its index and the entry. A mesh has its first element, and its
/// first entry in a row.
fn entries_of_polyhedra([id, marks]: [&[u32]; 2], [row, list]: [&[u32]; 2], meshes: &MeshFeatures) -> Vec<([u32; 2], [u32; 2])> {
    let polyhedral = (0..marks.len()).filter(|&i| marks[i] != FREE);
    let of_grain = move |i: usize| (row[i]..row[i + 1]).map(move |k| ([id[i], meshes.first_of(list[k as usize])], [i as u32, k]));
    let mut all: Vec<([u32; 2], [u32; 2])> = polyhedral.flat_map(of_grain).collect();
    all.sort_unstable();
    all.dedup_by_key(|(ids, _)| *ids);
    all
}

/// Kinetic and rotational energies of the polyhedral grains of the host that no body carries, and those in gravity \[J\].
fn energies_of_polyhedra(host: &Populations) -> [f64; 3] {
    let (fields, gravity) = (&host.grains.fields, &host.context.stepping.gravity);
    let device: &Cpu = &host.context.device;
    let n = fields.len();
    let of_part = |part: usize| {
        let (first, end) = part_range(part, n);
        let polyhedral = (first..end).filter(|&i| host.is_polyhedral(i) && host.body_of(i).is_none());
        polyhedral.fold([0.0; 3], |sum, i| {
            let (velocity, spin) = host.velocities(i, &[]);
            let (mass, center) = (fields.velocity[i * RECORD + 3], load::<f64>(&fields.position, i * RECORD));
            let own = [
                kinetic_energy(mass, &velocity),
                host.rotation_of(i, &spin).0,
                gravity_energy(mass, gravity, &center),
            ];
            [0, 1, 2].map(|k: usize| sum[k] + own[k])
        })
    };
    let all: Vec<[f64; 3]> = computed(device, parts(n), of_part);
    all.into_iter().fold([0.0; 3], |sum, own| [0, 1, 2].map(|k: usize| sum[k] + own[k]))
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Brings polyhedral grains of the host, whose columns were downloaded before, and what their contacts do, up to date. Histories of contacts are
    /// fetched only `with_histories`; otherwise the host has none.
    pub(in crate::gpu) fn fetch_shapes(&self, host: &mut Populations, with_histories: bool) -> Result<(), GpuError> {
        let (Some(shapes), Some(polyhedra)) = (&self.shapes, host.polyhedra.as_deref_mut()) else {
            return Ok(());
        };
        let (n, present, slots) = (self.n, self.present_slots(), if with_histories { SLOTS } else { 0 });
        let (list, at_walls) = (&shapes.pairs, &shapes.at_walls);
        let near = self.walls.as_ref();
        let entries = near.map_or(0, |near| near.entries);
        let mut copies = self.gpu.copies();
        let [id, marks] = [&self.id, &shapes.marks].map(|words| copies.add(words, 0..n));
        let momentum = copies.add(&shapes.momentum, 0..RECORD * n);
        let pairs = copies.add(&list.pairs[list.now], 0..2 * list.count);
        let loads = copies.add(&list.loads[list.now], 0..OF_PAIR * list.count);
        let of_pairs = list.slots[present].ask(&mut copies, list.count, slots);
        let rows = near.map(|near| [copies.add(&near.row, 0..n + 1), copies.add(&near.list, 0..entries)]);
        let wall_loads = copies.add(&at_walls.loads[at_walls.now], 0..AT_WALL * entries);
        let of_entries = at_walls.slots[present].ask(&mut copies, entries, slots);
        let arrived = copies.wait()?;

        let [id, marks] = [id, marks].map(|words| arrived.take(words));
        let fields = &mut host.grains.fields;
        fields.shape = marks.iter().map(|&mark| if mark == FREE { 0 } else { mark }).collect();
        let momentum = doubles(&arrived.take(momentum));
        fields.angular_momentum = momentum
            .chunks_exact(RECORD)
            .flat_map(|record| [record[0], record[1], record[2]])
            .collect();

        let pairs = arrived.take(pairs);
        let pairs: &[[u32; 2]] = pairs.as_chunks().0;
        let (loads, of_pairs) = (doubles(&arrived.take(loads)), of_pairs.take(&arrived, slots));
        let ids_of = |k: usize| pairs[k].map(|place| id[place as usize]);
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by_key(|&k| ids_of(k));
        let mut records = PairRecords::default();
        for k in order {
            let (keys, histories) = of_pairs.of(k);
            records.push(ids_of(k), load_of_pair(&loads[k * OF_PAIR..][..OF_PAIR]), keys, histories);
        }
        polyhedra.pairs.records = records;
        polyhedra.pairs.rebuild(pairs, &id);

        let (loads, of_entries) = (doubles(&arrived.take(wall_loads)), of_entries.take(&arrived, slots));
        let listed = rows.map_or(Vec::new(), |rows| {
            let [row, list] = rows.map(|words| arrived.take(words));
            entries_of_polyhedra([&id, &marks], [&row, &list], &polyhedra.meshes)
        });
        let mut records = PairRecords::default();
        for &(ids, [_, entry]) in &listed {
            let k = entry as usize;
            let (keys, histories) = of_entries.of(k);
            records.push(ids, load_at_wall(&loads[k * AT_WALL..][..AT_WALL]), keys, histories);
        }
        polyhedra.at_walls.records = records;
        polyhedra.at_walls.rebuild(listed);
        Ok(())
    }

    /// Adds the energies of polyhedral grains, which were fetched, to those of the other grains. Not in a subdomain: there the host sums the energies of
    /// the whole world.
    pub(in crate::gpu) fn add_energies_of_shapes(&self, host: &mut Populations) {
        let sums_here = self.shapes.is_some() && !host.grains.has_ghosts;
        let Some(polyhedra) = host.polyhedra.as_deref().filter(|_| sums_here) else {
            return;
        };
        let [normal, tangential] = polyhedra.stored();
        let [kinetic, rotational, gravity] = energies_of_polyhedra(host);
        let all = &mut host.ledger.on_gpu;
        all.kinetic += kinetic;
        all.rotational += rotational;
        all.gravity += gravity;
        all.elastic_normal += normal;
        all.elastic_tangential += tangential;
    }

    /// Writes the contacts of polyhedral grains of the host to the lists that were just built.
    pub(in crate::gpu) fn restore_shapes(&self, host: &Populations) -> Result<(), GpuError> {
        let (Some(shapes), Some(polyhedra)) = (&self.shapes, host.polyhedra.as_deref()) else {
            return Ok(());
        };
        let (gpu, n, present) = (&self.gpu, self.n, self.present_slots());
        let (list, at_walls) = (&shapes.pairs, &shapes.at_walls);
        let near = self.walls.as_ref();
        let entries = near.map_or(0, |near| near.entries);
        let mut copies = gpu.copies();
        let [id, marks] = [&self.id, &shapes.marks].map(|words| copies.add(words, 0..n));
        let pairs = copies.add(&list.pairs[list.now], 0..2 * list.count);
        let rows = near.map(|near| [copies.add(&near.row, 0..n + 1), copies.add(&near.list, 0..entries)]);
        let arrived = copies.wait()?;
        let [id, marks] = [id, marks].map(|words| arrived.take(words));
        let pairs = arrived.take(pairs);

        let records = &polyhedra.pairs.records;
        let (mut loads, mut slots) = (Vec::with_capacity(OF_PAIR * list.count), HostSlots::<R>::new(list.count));
        for (k, pair) in pairs.as_chunks::<2>().0.iter().enumerate() {
            let ids = pair.map(|place| id[place as usize]);
            let known = records.ids.binary_search(&ids).ok();
            let own = known.map_or(NO_LOAD, |known| records.loads[known]);
            loads.extend(numbers_of_pair(&own).map(R::of));
            if let Some(known) = known {
                slots.put(k, records.contacts_of(known));
            }
        }
        gpu.write_part(&list.loads[list.now], 0, &loads);
        slots.send(gpu, &list.slots[present]);

        let Some(rows) = rows else { return Ok(()) };
        let [row, listed] = rows.map(|words| arrived.take(words));
        let records = &polyhedra.at_walls.records;
        let (mut loads, mut slots) = (vec![C::of(0.0); AT_WALL * entries], HostSlots::<R>::new(entries));
        for (ids, [_, entry]) in entries_of_polyhedra([&id, &marks], [&row, &listed], &polyhedra.meshes) {
            if let Ok(known) = records.ids.binary_search(&ids) {
                let k = entry as usize;
                let own = numbers_at_wall(&records.loads[known]).map(C::of);
                loads[k * AT_WALL..][..AT_WALL].copy_from_slice(&own);
                slots.put(k, records.contacts_of(known));
            }
        }
        gpu.write_part(&at_walls.loads[at_walls.now], 0, &loads);
        slots.send(gpu, &at_walls.slots[present]);
        Ok(())
    }
}
