//! Transfer between host and GPU.

use super::assembly::Contacts;
use super::bins::BinnedGrains;
use super::bodies::{BodiesFetched, GpuBodies};
use super::bonds::GpuBonds;
use super::diffusion::GpuDiffusion;
use super::domain::DomainState;
use super::few_grains::ONE_LAUNCH;
use super::gear::GpuGear;
use super::old_contacts::OldContacts;
use super::polyhedra::GpuShapes;
use super::step::BATCH;
use super::strides::LongStrides;
use super::tables::{StaticTables, Tables};
use super::upload::Upload;
use super::{Cells, GpuGrains, Number, Rows, WallRows, doubles, numbers, room_for_cubes};
use crate::fields::{Fields, refill};
use crate::pending_grains::PendingSpheres;
use crate::populations::Populations;
use crate::state::GrainColumns;
use seixo_device::Cpu;
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket, Word};
use seixo_laws::Coordinate;
use seixo_laws::contact::COEFFICIENTS;
use seixo_sweeps::gear::{ORIENTATION_DERIVATIVES, POSITION_DERIVATIVES};
use seixo_sweeps::kernels::FLAGS;
use seixo_sweeps::layout::{RECORD, WALL_CONTACT, history_stride};
use seixo_sweeps::tiles::ContactKernelConfig;
use std::sync::Arc;

/// Values in the history of an extended contact on a GPU: those of the host without padding.
const EXTENDED_HISTORY_ON_GPU: usize = 10;

/// Number of grains from which on columns are downloaded one after the other. A wait is short beside the copy of so large a column.
const MANY: usize = 1 << 22;

/// Number k of the records that a GPU keeps of these velocities between steps, three numbers each, beside the records that laws read; see
/// [`Coordinate::rest()`].
fn kept_number<C: Number + Coordinate<R>, R: Number>(between: &[f64], read: &[f64], k: usize) -> R {
    if k % RECORD == 3 {
        return R::of(0.0);
    }
    <C as Coordinate<R>>::rest(C::of(between[k / RECORD * 3 + k % RECORD]), R::of(read[k]))
}

/// The records that a GPU keeps of these velocities between steps, three numbers each, beside the records that laws read.
pub(super) fn kept_records<C: Number + Coordinate<R>, R: Number>(between: &[f64], read: &[f64]) -> Vec<R> {
    (0..read.len()).map(|k| kept_number::<C, R>(between, read, k)).collect()
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

    /// Velocities between steps, three numbers each, from what was kept of them beside these records, see [`Coordinate::with_rest()`].
    fn between_steps<C: Number + Coordinate<R>, R: Number>(&self, kept: Ticket<R>, read: &[f64], to: &mut Vec<f64>) {
        let make = |rests: &[R]| {
            let n = rests.len() / RECORD;
            refill(self.device, to, 3 * n, |k| {
                let at = k / 3 * RECORD + k % 3;
                <C as Coordinate<R>>::with_rest(R::of(read[at]), rests[at]).double()
            });
        };
        self.arrived.make(kept, make);
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

/// Downloads of the columns that all grains have.
struct FetchedColumns<C, R> {
    words: [Ticket<u32>; 3],
    places: [Ticket<C>; 2],
    motion: [Ticket<R>; 3],
    turning: Option<[Ticket<R>; 3]>,
}

/// Downloads of grains and walls that are in progress.
pub(super) struct Fetched<C, R> {
    /// `None` for many grains, whose columns are downloaded one after the other.
    columns: Option<FetchedColumns<C, R>>,
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

impl<C: Number + Coordinate<R>, R: Number> FetchedColumns<C, R> {
    /// Makes the columns of the host from those that arrived.
    fn make(self, columns: &Columns, fields: &mut Fields) {
        let [id, material, group] = self.words;
        columns.words(id, &mut fields.id);
        columns.words(material, &mut fields.material);
        columns.words(group, &mut fields.group);
        let [position, reference] = self.places;
        columns.doubles(position, &mut fields.position);
        columns.narrowed(reference, &mut fields.reference);
        let [velocity, half_velocity, force] = self.motion;
        columns.doubles(velocity, &mut fields.velocity);
        columns.between_steps::<C, R>(half_velocity, &fields.velocity, &mut fields.half_velocity);
        columns.doubles(force, &mut fields.force);
        if let Some([spin, half_spin, torque]) = self.turning {
            columns.doubles(spin, &mut fields.spin);
            columns.between_steps::<C, R>(half_spin, &fields.spin, &mut fields.half_spin);
            columns.doubles(torque, &mut fields.torque);
        }
    }
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
        GpuGrains::import(gpu, host, false)
    }

    /// Uploads grains at the start, which have neither lists nor forces yet. In a subdomain they are listed without ghosts.
    pub(crate) fn import_new(gpu: Gpu, host: &mut Populations) -> Result<GpuGrains<C, R>, GpuError> {
        GpuGrains::import(gpu, host, true)
    }

    fn import(gpu: Gpu, host: &mut Populations, is_new: bool) -> Result<GpuGrains<C, R>, GpuError> {
        let n = host.grains.fields.len();
        let room = Self::room_for(host, n);
        host.prepare_split_broad_phase();
        (host.bodies.damped, host.bodies.put_in) = (0.0, 0.0);
        host.bodies.power_of_prescribed_motion = host.power_of_prescribed_motion();
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
            numbers: match (host.context.materials.are_extended, host.context.materials.needs_contact_radius) {
                (true, _) => EXTENDED_HISTORY_ON_GPU,
                (false, true) => 4,
                (false, false) => 3,
            },
            damps_per_mass,
            one_by_one: host.context.settings.decomposition_invariant,
        };
        let turning = if kind.frictional { RECORD * room } else { RECORD };
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
        let device = host.context.device.clone();
        let upload = Upload {
            gpu: &gpu,
            device: &device,
        };
        let fields = &host.grains.fields;
        let words = |values: &[u32], what: &'static str| upload.column([room, values.len()], what, |k| values[k]);
        let laws_of = |values: &[f64], room: usize, what: &'static str| upload.column([room, values.len()], what, |k| R::of(values[k]));
        let kept_of = |between: &[f64], read: &[f64], room: usize, what: &'static str| {
            upload.column([room, between.len() / 3 * RECORD], what, |k| kept_number::<C, R>(between, read, k))
        };
        let listed_at = upload.column([RECORD * room, RECORD * n], "positions", |k| {
            C::of(if k % RECORD < 3 {
                fields.reference[k / RECORD * 3 + k % RECORD]
            } else {
                fields.position[k]
            })
        })?;
        let mut remote = GpuGrains {
            kind,
            n,
            most_in_one_launch: ONE_LAUNCH,
            id: words(&fields.id, "ids")?,
            material: words(&fields.material, "materials")?,
            group: words(&fields.group, "groups")?,
            position: [listed_at, gpu.buffer(RECORD * room, "positions")?],
            velocity: [
                laws_of(&fields.velocity, RECORD * room, "velocities")?,
                gpu.buffer(RECORD * room, "velocities")?,
            ],
            spin: [
                laws_of(&fields.spin, turning, "angular velocities")?,
                gpu.buffer(turning, "angular velocities")?,
            ],
            now: 0,
            half_velocity: kept_of(&fields.half_velocity, &fields.velocity, RECORD * room, "velocities")?,
            half_spin: kept_of(&fields.half_spin, &fields.spin, turning, "angular velocities")?,
            force: laws_of(&fields.force, RECORD * room, "forces")?,
            torque: laws_of(&fields.torque, turning, "torques")?,
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
            shapes: GpuShapes::new(&gpu, host, room)?,
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
            entries_after_steps: None,
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
        if !is_new {
            remote.restore_histories(host)?;
            remote.restore_shapes(host)?;
            remote.upload_wear(host)?;
        }
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

    /// Requests the download of the columns that all grains have.
    fn ask_for_columns(&self, copies: &mut Copies) -> FetchedColumns<C, R> {
        let (n, is_turning) = (self.n, self.kind.frictional);
        let mut records = |buffer: &Buffer<R>| copies.add(buffer, 0..RECORD * n);
        let motion = [&self.velocity[self.now], &self.half_velocity, &self.force].map(&mut records);
        let turning = is_turning.then(|| [&self.spin[self.now], &self.half_spin, &self.torque].map(records));
        FetchedColumns {
            words: [&self.id, &self.material, &self.group].map(|buffer| copies.add(buffer, 0..n)),
            places: [&self.position[self.now], &self.reference].map(|buffer| copies.add(buffer, 0..RECORD * n)),
            motion,
            turning,
        }
    }

    /// Queues a copy of what these columns of free spheres are made of, and of the marks of ghosts in a subdomain. Whoever waits for it makes the fields.
    pub(super) fn queue_spheres(&self, wanted: GrainColumns) -> PendingSpheres {
        let (n, now) = (self.n, self.now);
        let rotates = self.kind.frictional && wanted.angular_velocity;
        let mut copies = self.gpu.copies();
        let id = copies.add(&self.id, 0..n);
        let member = self.members_of_domain().map(|member| copies.add(member, 0..n));
        let material = wanted.material.then(|| copies.add(&self.material, 0..n));
        let group = wanted.group.then(|| copies.add(&self.group, 0..n));
        let position = copies.add(&self.position[now], 0..RECORD * n);
        let mut records = |is_needed: bool, buffer: &Buffer<R>| is_needed.then(|| copies.add(buffer, 0..RECORD * n));
        // Velocities at the end of a step follow from those between steps, masses and forces.
        let velocity = records(wanted.velocity || wanted.mass || rotates, &self.velocity[now]);
        let half_velocity = records(wanted.velocity, &self.half_velocity);
        let force = records(wanted.velocity || wanted.force || wanted.coordination, &self.force);
        let spin = records(rotates, &self.spin[now]);
        let half_spin = records(rotates, &self.half_spin);
        let torque = records(self.kind.frictional && (rotates || wanted.torque), &self.torque);
        let coming = copies.queue_for_later();
        PendingSpheres::of(move |device: &Cpu| {
            let arrived = coming.wait()?;
            let columns = Columns { device, arrived: &arrived };
            let mut fields = Fields::default();
            columns.words(id, &mut fields.id);
            columns.doubles(position, &mut fields.position);
            for (ticket, to) in [
                (member, &mut fields.member),
                (material, &mut fields.material),
                (group, &mut fields.group),
            ] {
                ticket.into_iter().for_each(|ticket| columns.words(ticket, to));
            }
            for (ticket, to) in [
                (velocity, &mut fields.velocity),
                (force, &mut fields.force),
                (spin, &mut fields.spin),
                (torque, &mut fields.torque),
            ] {
                ticket.into_iter().for_each(|ticket| columns.doubles(ticket, to));
            }
            for (kept, read, to) in [
                (half_velocity, &fields.velocity, &mut fields.half_velocity),
                (half_spin, &fields.spin, &mut fields.half_spin),
            ] {
                kept.into_iter().for_each(|kept| columns.between_steps::<C, R>(kept, read, to));
            }
            Ok(fields)
        })
    }

    /// Downloads the columns that all grains have one after the other, so that the host never holds all of them twice.
    fn download_columns(&self, device: &Cpu, fields: &mut Fields) -> Result<(), GpuError> {
        let now = self.now;
        for (buffer, to) in [
            (&self.id, &mut fields.id),
            (&self.material, &mut fields.material),
            (&self.group, &mut fields.group),
        ] {
            self.download_column(device, (buffer, 1), |columns, ticket| columns.words(ticket, to))?;
        }
        self.download_column(device, (&self.position[now], RECORD), |columns, ticket| {
            columns.doubles(ticket, &mut fields.position);
        })?;
        self.download_column(device, (&self.reference, RECORD), |columns, ticket| {
            columns.narrowed(ticket, &mut fields.reference);
        })?;
        for (buffer, to) in [(&self.velocity[now], &mut fields.velocity), (&self.force, &mut fields.force)] {
            self.download_column(device, (buffer, RECORD), |columns, ticket| columns.doubles(ticket, to))?;
        }
        self.download_column(device, (&self.half_velocity, RECORD), |columns, ticket| {
            columns.between_steps::<C, R>(ticket, &fields.velocity, &mut fields.half_velocity);
        })?;
        if !self.kind.frictional {
            return Ok(());
        }
        for (buffer, to) in [(&self.spin[now], &mut fields.spin), (&self.torque, &mut fields.torque)] {
            self.download_column(device, (buffer, RECORD), |columns, ticket| columns.doubles(ticket, to))?;
        }
        self.download_column(device, (&self.half_spin, RECORD), |columns, ticket| {
            columns.between_steps::<C, R>(ticket, &fields.spin, &mut fields.half_spin);
        })
    }

    /// Downloads a column with this many numbers for each grain, which `make` converts.
    fn download_column<T: Word>(
        &self,
        device: &Cpu,
        (buffer, numbers): (&Buffer<T>, usize),
        make: impl FnOnce(&Columns, Ticket<T>),
    ) -> Result<(), GpuError> {
        let mut copies = self.gpu.copies();
        let ticket = copies.add(buffer, 0..numbers * self.n);
        let arrived = copies.wait()?;
        make(&Columns { device, arrived: &arrived }, ticket);
        Ok(())
    }

    /// Requests the download of all that the host needs of grains and walls.
    pub(super) fn ask_for_fields(&self, copies: &mut Copies) -> Fetched<C, R> {
        let n = self.n;
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
            columns: (n < MANY).then(|| self.ask_for_columns(copies)),
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

    /// Updates the host's grains and walls with the downloaded data, and with the columns of many grains, which it downloads.
    pub(super) fn download_fields(&self, host: &mut Populations, arrived: &Arrived, fetched: Fetched<C, R>) -> Result<(), GpuError> {
        let device = host.context.device.clone();
        let columns = Columns { device: &device, arrived };
        match fetched.columns {
            Some(of_all) => of_all.make(&columns, &mut host.grains.fields),
            None => self.download_columns(&device, &mut host.grains.fields)?,
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
        Ok(())
    }
}
