//! Transfer between host and GPU.

use super::assembly::Contacts;
use super::bins::BinnedGrains;
use super::bodies::{BodiesFetched, GpuBodies};
use super::bonds::GpuBonds;
use super::diffusion::GpuDiffusion;
use super::domain::DomainState;
use super::gear::GpuGear;
use super::old_contacts::OldContacts;
use super::step::BATCH;
use super::strides::LongStrides;
use super::tables::{StaticTables, Tables};
use super::{Cells, GpuGrains, Number, Rows, WallRows, doubles, numbers, room_for_cubes};
use crate::fields::refill;
use crate::populations::Populations;
use seixo_device::Cpu;
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket};
use seixo_laws::Coordinate;
use seixo_laws::contact::COEFFICIENTS;
use seixo_sweeps::entries::{IN_CONTACT, TILE};
use seixo_sweeps::gear::{ORIENTATION_DERIVATIVES, POSITION_DERIVATIVES};
use seixo_sweeps::kernels::FLAGS;
use seixo_sweeps::layout::{EXTENDED_HISTORY_STRIDE, RECORD, WALL_CONTACT, history_stride};
use seixo_sweeps::tiles::ContactKernelConfig;
use std::sync::Arc;

/// Values in the history of an extended contact on a GPU: those of the host without padding.
const EXTENDED_HISTORY_ON_GPU: usize = 10;

/// Records of four numbers from records of three.
pub(super) fn widened(triples: &[f64]) -> impl Iterator<Item = f64> + '_ {
    triples.chunks_exact(3).flat_map(|v| [v[0], v[1], v[2], 0.0])
}

/// Arrived downloads of grains, from which all threads make the columns of the host.
struct Columns<'a> {
    device: &'a Cpu,
    arrived: &'a Arrived,
}

impl Columns<'_> {
    /// Downloaded words.
    fn words(&self, ticket: Ticket<u32>, to: &mut Vec<u32>) {
        self.arrived
            .make(ticket, |words| refill(self.device, to, words.len(), |k| words[k]));
    }

    /// Downloaded numbers.
    fn doubles<N: Number>(&self, ticket: Ticket<N>, to: &mut Vec<f64>) {
        let make = |numbers: &[N]| refill(self.device, to, numbers.len(), |k| numbers[k].double());
        self.arrived.make(ticket, make);
    }

    /// The first three numbers of each of these records of four.
    fn narrowed<N: Number>(&self, ticket: Ticket<N>, to: &mut Vec<f64>) {
        let make = |numbers: &[N]| {
            let n = numbers.len() / RECORD;
            refill(self.device, to, 3 * n, |k| numbers[k / 3 * RECORD + k % 3].double());
        };
        self.arrived.make(ticket, make);
    }
}

/// Loads of six numbers from records of forces and torques; zero torques without records of them.
fn joined(force: &[f64], torque: &[f64]) -> Vec<f64> {
    const NO_TORQUE: &[f64] = &[0.0; RECORD];
    let torques = torque.chunks_exact(RECORD).chain(std::iter::repeat(NO_TORQUE));
    let both = force.chunks_exact(RECORD).zip(torques);
    let loads = both.flat_map(|(force, torque)| [&force[..3], &torque[..3]]);
    loads.flatten().copied().collect()
}

/// Downloads of grains and walls that are in progress.
pub(super) struct Fetched<C, R> {
    words: [Ticket<u32>; 3],
    places: [Ticket<C>; 3],
    motion: [Ticket<R>; 2],
    turning: Option<[Ticket<R>; 2]>,
    half_spin: Option<Ticket<C>>,
    /// Values of each scalar, and the amounts that walls gave.
    diffusions: Vec<[Ticket<C>; 2]>,
    near: Option<Near<C, R>>,
    bodies: Option<BodiesFetched<C>>,
    /// Member numbers of grains, with bodies or in a subdomain.
    member: Option<Ticket<u32>>,
    orientations: Option<Ticket<C>>,
    /// Forces that single grains were given, and torques if they rotate.
    given_loads: Vec<Ticket<C>>,
    /// Derivatives of positions and orientations.
    derivatives: Option<[Ticket<C>; 2]>,
}

/// Downloads of the rows of walls that are in progress.
struct Near<C, R> {
    row: Ticket<u32>,
    list: Ticket<u32>,
    history: Ticket<R>,
    wall_contacts: Ticket<C>,
    work: Option<Ticket<C>>,
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Uploads the current state of a simulation on the host, with its contact histories. The lists follow from the positions of grains and walls at
    /// the last rebuild on the host.
    pub(crate) fn import_host_state(gpu: Gpu, host: &mut Populations) -> Result<GpuGrains<C, R>, GpuError> {
        let n = host.grains.fields.len();
        let room = Self::room_for(host, n);
        host.prepare_split_broad_phase();
        (host.bodies.damped, host.bodies.put_in) = (0.0, 0.0);
        host.bodies.power_of_prescribed_motion = host.power_of_prescribed_motion();
        let remembers_radius = host.context.materials.has_mindlin;
        let rows = host.context.materials.coefficients.chunks_exact(COEFFICIENTS);
        let damps_per_mass = rows.clone().any(|row| row[7..9] != [0.0; 2]);
        let mut laws = rows.map(|row| (row[5] as i64, row[6] as i64));
        let first = laws.next();
        let kind = ContactKernelConfig {
            frictional: host.context.materials.has_friction,
            uniform: host.context.materials.is_uniform && host.context.materials.count == 1,
            laws: first.filter(|first| laws.all(|other| other == *first)),
            sides: host.context.sides,
            is_extended: host.context.materials.are_extended,
            numbers: match (host.context.materials.are_extended, remembers_radius) {
                (true, _) => EXTENDED_HISTORY_ON_GPU,
                (false, true) => 4,
                (false, false) => 3,
            },
            damps_per_mass,
            one_by_one: host.context.settings.decomposition_invariant,
        };
        let turning = if kind.frictional { RECORD * room } else { RECORD };
        let fields = &host.grains.fields;
        let held = |values: &[f64]| {
            let mut values = numbers::<R>(values.iter().copied());
            values.resize(turning, R::of(0.0));
            values
        };
        let words = |values: &[u32]| {
            let mut values = values.to_vec();
            values.resize(room, 0);
            values
        };
        let records = |values: &mut dyn Iterator<Item = f64>| {
            let mut values = numbers::<C>(values);
            values.resize(RECORD * room, C::of(0.0));
            values
        };
        let motions = |values: &[f64]| {
            let mut values = numbers::<R>(values.iter().copied());
            values.resize(RECORD * room, R::of(0.0));
            values
        };
        let mut half_spin = numbers::<C>(widened(&fields.half_spin));
        half_spin.resize(turning, C::of(0.0));
        let listed_at = fields.position.chunks_exact(RECORD).zip(fields.reference.chunks_exact(3));
        let listed_at = records(&mut listed_at.flat_map(|(p, x)| [x[0], x[1], x[2], p[3]]));
        let cubes = room_for_cubes(room);
        let binned = BinnedGrains::new(&gpu, host, n)?;
        let contacts = Contacts::new(&gpu, n, host.context.settings.assembly)?;
        let servos = host.walls.servo_state();
        let walls = if host.walls.given.is_empty() {
            None
        } else {
            let time = host.walls.listed_at;
            host.walls.set_servos(&servos, true);
            host.walls.place(time, true);
            Some(WallRows::new(&gpu, host, room, BATCH)?)
        };
        let diffusions = GpuDiffusion::all_of(&gpu, host, room)?;
        let fields = &host.grains.fields;
        let mut remote = GpuGrains {
            kind,
            n,
            id: gpu.upload(&words(&fields.id), "ids")?,
            material: gpu.upload(&words(&fields.material), "materials")?,
            group: gpu.upload(&words(&fields.group), "groups")?,
            position: [gpu.upload(&listed_at, "positions")?, gpu.buffer(RECORD * room, "positions")?],
            velocity: [
                gpu.upload(&motions(&fields.velocity), "velocities")?,
                gpu.buffer(RECORD * room, "velocities")?,
            ],
            spin: [
                gpu.upload(&held(&fields.spin), "angular velocities")?,
                gpu.buffer(turning, "angular velocities")?,
            ],
            now: 0,
            half_velocity: gpu.upload(&records(&mut widened(&fields.half_velocity)), "velocities")?,
            half_spin: gpu.upload(&half_spin, "angular velocities")?,
            force: gpu.upload(&motions(&fields.force), "forces")?,
            torque: gpu.upload(&held(&fields.torque), "torques")?,
            reference: gpu.buffer(RECORD * room, "positions of the lists")?,
            table: gpu.upload(
                &numbers::<R>(host.context.materials.coefficients.iter().copied()),
                "the interaction table",
            )?,
            rows: Rows::new(&gpu, room)?,
            old_contacts: OldContacts::new(&gpu, if kind.frictional { room } else { 0 })?,
            key: gpu.buffer(room, "cells")?,
            order: gpu.buffer(room, "the order of cells")?,
            cells: Cells::new(&gpu, host.grains.cells.grids(), room)?,
            tables: host.grains.cells.tables.as_ref().map(|_| Tables::new(&gpu)).transpose()?,
            at_rest: StaticTables::new(&gpu, host)?,
            binned,
            contacts,
            walls,
            diffusions,
            border: DomainState::new(&gpu, host, room)?,
            geared: GpuGear::new(&gpu, host, room)?,
            holding: GpuBonds::new(&gpu, host, room, cubes)?,
            carriers: host.bodies.are_present.then(|| GpuBodies::new(&gpu, host)).transpose()?,
            no_rows: gpu.zeros(1, "walls")?,
            flags: Arc::new(gpu.zeros(FLAGS, "flags")?),
            power: gpu.zeros(2 * RECORD * cubes, "the ledger")?,
            wall_power: gpu.zeros(2 * RECORD * cubes, "the ledger")?,
            energy: gpu.zeros(2 * RECORD * cubes, "the ledger")?,
            wall_energy: gpu.zeros(RECORD * cubes, "the ledger")?,
            forces_known: true,
            queued: None,
            box_after_steps: None,
            interval: 64,
            since_rebuild: 64,
            strides: LongStrides::default(),
            gpu,
        };
        let (rebuilds, steps) = (host.grains.rebuilds, host.context.steps);
        let listed_at = host.walls.listed_at;
        host.context.steps = (listed_at / host.context.stepping.dt).round() as u64;
        remote.rebuild_neighbor_lists(host, false, None)?;
        remote.list_bonds_by_grain(host)?;
        (host.grains.rebuilds, host.context.steps) = (rebuilds, steps);
        host.walls.listed_at = listed_at;
        remote.restore_histories(host)?;
        remote.upload_wear(host)?;
        if let Some(cells) = remote.binned.as_ref().map(BinnedGrains::cells) {
            remote.bin_grains(host, cells)?;
        }
        let now = host.context.time();
        host.walls.set_servos(&servos, false);
        host.walls.place(now, true);
        if let Some(near) = &mut remote.walls {
            near.send(&remote.gpu, host)?;
        }
        Ok(remote)
    }

    /// Writes the current positions and the contact histories, in the order of the lists that were just built.
    fn restore_histories(&mut self, host: &Populations) -> Result<(), GpuError> {
        let gpu = &self.gpu;
        // The buffers may have room for more grains.
        let order = gpu.download_part(&self.order, 0..self.n).wait()?;
        let position = order
            .iter()
            .flat_map(|&i| host.grains.fields.position[i as usize * RECORD..][..RECORD].to_vec());
        let position = numbers::<C>(position);
        gpu.write_part(&self.position[self.now], 0, &position);
        let listed = gpu.download_part(&self.reference, 0..RECORD * self.n).wait()?;
        if position.iter().zip(&listed).any(|(now, listed)| now.double() != listed.double()) {
            self.strides.begin_displaced(host.grains.rebuilds);
        }
        let mut place = vec![0u32; self.n];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        if self.kind.frictional {
            self.restore_histories_of_pairs(host, &place)?;
        }
        if let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0) {
            let (row, list) = (gpu.download(&near.row)?, gpu.download(&near.list)?);
            let mut history = vec![R::of(0.0); near.history.len()];
            let mut wall_contacts = vec![C::of(0.0); near.wall_contacts.len()];
            for (i, &old) in order.iter().enumerate() {
                for k in row[i] as usize..row[i + 1] as usize {
                    if let Some((contact_histories, touch)) = host.walls.wall_contact_of(old as usize, list[k]) {
                        for (slot, &x) in history[k * host.walls.contact_histories..].iter_mut().zip(contact_histories) {
                            *slot = R::of(x);
                        }
                        for (slot, &x) in wall_contacts[k * touch.len()..].iter_mut().zip(touch) {
                            *slot = C::of(x);
                        }
                    }
                }
            }
            gpu.write(&near.history, &history);
            gpu.write(&near.wall_contacts, &wall_contacts);
        }
        Ok(())
    }

    /// Writes the histories of the host's pairs to the lists, in which `place` is the index of each grain of the host.
    fn restore_histories_of_pairs(&self, host: &Populations, place: &[u32]) -> Result<(), GpuError> {
        let mut by_place: Vec<(u32, u32, [f64; EXTENDED_HISTORY_STRIDE])> = Vec::new();
        host.visit_listed(|i, j, of_i, of_j| {
            let (i, j) = (place[i as usize], place[j as usize]);
            by_place.extend([(i, j, *of_i), (j, i, *of_j)]);
        });
        if by_place.is_empty() {
            // The lists of many grains take gigabytes of the host's memory.
            return Ok(());
        }
        by_place.sort_unstable_by_key(|&(i, j, _)| (i, j));
        let (gpu, rows, numbers) = (&self.gpu, &self.rows, self.kind.numbers);
        let [count, first, mut list] = self.download_rows()?;
        let mut history = vec![R::of(0.0); list.len() * numbers];
        let mut next = 0;
        for i in 0..self.n {
            let from = next;
            while next < by_place.len() && by_place[next].0 as usize == i {
                next += 1;
            }
            for s in 0..count[i] as usize {
                let entry = first[i / TILE] as usize + s * TILE + i % TILE;
                let known = by_place[from..next].binary_search_by_key(&list[entry], |&(_, j, _)| j);
                if let Ok(found) = known {
                    list[entry] |= IN_CONTACT;
                    for (c, &value) in by_place[from + found].2[..numbers].iter().enumerate() {
                        history[(entry / TILE * numbers + c) * TILE + entry % TILE] = R::of(value);
                    }
                }
            }
        }
        gpu.write_part(&rows.list, 0, &list);
        gpu.write_part(&rows.history, 0, &history);
        Ok(())
    }

    /// Length of the row of each grain, first entry of each tile, and the entries of all tiles without the spare room behind them.
    fn download_rows(&self) -> Result<[Vec<u32>; 3], GpuError> {
        let (gpu, rows) = (&self.gpu, &self.rows);
        let mut copies = gpu.copies();
        let count = copies.add(&rows.count, 0..self.n);
        let first = copies.add(&rows.tile_first, 0..self.n.div_ceil(TILE) + 1);
        let arrived = copies.wait()?;
        let (count, first) = (arrived.take(count), arrived.take(first));
        let list = gpu.download_part(&rows.list, 0..first[first.len() - 1] as usize).wait()?;
        Ok([count, first, list])
    }

    /// Requests the download of all that the host needs of grains and walls.
    pub(super) fn ask_for_fields(&self, copies: &mut Copies) -> Fetched<C, R> {
        let n = self.n;
        let mut records = |buffer: &Buffer<R>| copies.add(buffer, 0..RECORD * n);
        let motion = [&self.velocity[self.now], &self.force].map(&mut records);
        let is_turning = self.kind.frictional;
        let turning = is_turning.then(|| [&self.spin[self.now], &self.torque].map(records));
        let entries = self.walls.as_ref().map_or(0, |near| near.entries);
        Fetched {
            bodies: self.carriers.as_ref().map(|carriers| carriers.ask(copies)),
            member: (self.carriers.is_some() || self.members_of_domain().is_some()).then(|| copies.add(self.member(), 0..n)),
            orientations: self.all_orientations().map(|orientation| copies.add(orientation, 0..RECORD * n)),
            given_loads: self.given_loads().map(|column| copies.add(column, 0..RECORD * n)).collect(),
            derivatives: self.geared.as_ref().map(|geared| {
                let turns = if self.kind.frictional { ORIENTATION_DERIVATIVES * n } else { 0 };
                [
                    copies.add(&geared.position_derivatives, 0..POSITION_DERIVATIVES * n),
                    copies.add(&geared.orientation_derivatives, 0..turns),
                ]
            }),
            words: [&self.id, &self.material, &self.group].map(|buffer| copies.add(buffer, 0..n)),
            places: [&self.position[self.now], &self.reference, &self.half_velocity].map(|buffer| copies.add(buffer, 0..RECORD * n)),
            motion,
            turning,
            half_spin: is_turning.then(|| copies.add(&self.half_spin, 0..RECORD * n)),
            diffusions: self.diffusions.iter().map(|diffusion| diffusion.ask(copies, self.now, n)).collect(),
            near: self.walls.as_ref().map(|near| Near {
                row: copies.add(&near.row, 0..n + 1),
                list: copies.add(&near.list, 0..entries),
                history: copies.add(&near.history, 0..entries * history_stride(self.kind.is_extended)),
                wall_contacts: copies.add(&near.wall_contacts, 0..entries * WALL_CONTACT),
                work: near.work.as_ref().map(|work| copies.add(work, 0..entries)),
            }),
        }
    }

    /// Updates the host's grains and walls with the downloaded data.
    pub(super) fn download_fields(&self, host: &mut Populations, arrived: &Arrived, fetched: Fetched<C, R>) {
        let device = host.context.device.clone();
        let columns = Columns { device: &device, arrived };
        let fields = &mut host.grains.fields;
        let [id, material, group] = fetched.words;
        columns.words(id, &mut fields.id);
        columns.words(material, &mut fields.material);
        columns.words(group, &mut fields.group);
        let [position, reference, half_velocity] = fetched.places;
        columns.doubles(position, &mut fields.position);
        columns.narrowed(reference, &mut fields.reference);
        columns.narrowed(half_velocity, &mut fields.half_velocity);
        let [velocity, force] = fetched.motion;
        columns.doubles(velocity, &mut fields.velocity);
        columns.doubles(force, &mut fields.force);
        if let Some([spin, torque]) = fetched.turning {
            columns.doubles(spin, &mut fields.spin);
            columns.doubles(torque, &mut fields.torque);
        }
        if let Some(half_spin) = fetched.half_spin {
            columns.narrowed(half_spin, &mut fields.half_spin);
        }
        for (k, tickets) in fetched.diffusions.into_iter().enumerate() {
            self.download_scalar(host, k, tickets.map(|ticket| arrived.take(ticket)));
        }
        if let Some(member) = fetched.member {
            columns.words(member, &mut host.grains.fields.member);
        }
        if let Some(fetched) = fetched.bodies {
            let [took, put_in] = fetched.show(host, arrived);
            let damped = took - std::mem::replace(&mut host.bodies.damped, took);
            host.body_ledger().local_damping += damped;
            host.ledger.work.wall += host.context.stepping.dt * (put_in - std::mem::replace(&mut host.bodies.put_in, put_in));
        }
        if let Some(orientation) = fetched.orientations {
            columns.doubles(orientation, &mut host.grains.fields.orientation);
        }
        let given: Vec<Vec<f64>> = fetched
            .given_loads
            .into_iter()
            .map(|ticket| doubles(&arrived.take(ticket)))
            .collect();
        if let Some((force, torque)) = given.split_first() {
            host.grains.fields.given_load = joined(force, torque.first().map_or(&[][..], |torque| &torque[..]));
        }
        if let Some([of_position, of_orientation]) = fetched.derivatives {
            columns.doubles(of_position, &mut host.grains.fields.position_derivatives);
            columns.doubles(of_orientation, &mut host.grains.fields.orientation_derivatives);
        }
        let now = host.context.time();
        host.walls.place(now, false);
        if let Some(near) = fetched.near {
            columns.words(near.row, &mut host.walls.row);
            host.walls.list = arrived.take(near.list);
            host.walls.history = doubles(&arrived.take(near.history));
            host.walls.wall_contacts = doubles(&arrived.take(near.wall_contacts));
            host.walls.work.by_entry = near.work.map_or(Vec::new(), |work| doubles(&arrived.take(work)));
        } else {
            host.walls.row = vec![0; self.n + 1];
        }
    }
}
