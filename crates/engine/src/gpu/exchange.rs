//! From the host to the GPU and back.

use super::assembly::Contacts;
use super::bins::Binned;
use super::bodies::{BodiesFetched, Carriers};
use super::bonds::Holding;
use super::domain::Border;
use super::gear::Geared;
use super::heat::HeatOnGpu;
use super::step::BATCH;
use super::tables::Tables;
use super::{Cells, Number, OnGpu, Remembered, Rows, WallRows, doubles, numbers, room_for_cubes};
use crate::place::of_partner;
use crate::simulation::Simulation;
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket};
use seixo_laws::Coordinate;
use seixo_laws::contact::COEFFICIENTS;
use seixo_sweeps::gear::{TURNS, WAYS};
use seixo_sweeps::kernels::FLAGS;
use seixo_sweeps::tiles::{Kind, PLACE, TILE, TOUCHED};
use seixo_sweeps::views::{COMPOUND, RECORD, TOUCH, remembered};
use std::sync::Arc;

/// Numbers that a compound contact remembers on a GPU: those of the host without padding.
const COMPOUND_ON_GPU: usize = 10;

/// Records of four from records of three.
fn widened(triples: &[f64]) -> impl Iterator<Item = f64> + '_ {
    triples.chunks_exact(3).flat_map(|v| [v[0], v[1], v[2], 0.0])
}

/// Records of three from records of four.
fn narrowed(records: Vec<f64>) -> Vec<f64> {
    records.chunks_exact(RECORD).flat_map(|v| [v[0], v[1], v[2]]).collect()
}

/// Grains and walls on their way to the host.
pub(super) struct Fetched<C, R> {
    words: [Ticket<u32>; 3],
    places: [Ticket<C>; 3],
    motion: [Ticket<R>; 2],
    turning: Option<[Ticket<R>; 2]>,
    half_spin: Option<Ticket<C>>,
    heat: Option<[Ticket<C>; 2]>,
    near: Option<Near<C, R>>,
    bodies: Option<BodiesFetched<C>>,
    /// Which grains are copies of those of other domains, if some may be.
    member: Option<Ticket<u32>>,
    orientations: Option<Ticket<C>>,
    /// Derivatives of places and of orientations.
    derivatives: Option<[Ticket<C>; 2]>,
}

/// Rows of walls on their way to the host.
struct Near<C, R> {
    row: Ticket<u32>,
    list: Ticket<u32>,
    history: Ticket<R>,
    touches: Ticket<C>,
    work: Option<Ticket<C>>,
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Takes over a simulation of the host as it stands, with its histories. Lists follow from where grains and walls were when the
    /// host's were made.
    pub(crate) fn take_over(gpu: Gpu, host: &mut Simulation) -> Result<OnGpu<C, R>, GpuError> {
        let n = host.fields.len();
        let room = Self::room_for(host, n);
        (host.bodies.damped, host.bodies.put_in) = (0.0, 0.0);
        host.bodies.power_of_holding = host.power_of_holding();
        let remembers_radius = host.has_mindlin;
        let mut laws = host.table.chunks_exact(COEFFICIENTS).map(|row| (row[5] as i64, row[6] as i64));
        let first = laws.next();
        let kind = Kind {
            frictional: host.frictional,
            uniform: host.is_uniform && host.materials == 1,
            laws: first.filter(|first| laws.all(|other| other == *first)),
            sides: host.sides,
            compound: host.is_compound,
            numbers: match (host.is_compound, remembers_radius) {
                (true, _) => COMPOUND_ON_GPU,
                (false, true) => 4,
                (false, false) => 3,
            },
            one_by_one: host.settings.divisible,
        };
        let turning = if kind.frictional { RECORD * room } else { RECORD };
        let fields = &host.fields;
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
        let binned = Binned::new(&gpu, host, n)?;
        let contacts = Contacts::new(&gpu, n, host.settings.assembly)?;
        let servos = host.walls.servo_state();
        let walls = if host.walls.given.is_empty() {
            None
        } else {
            let time = host.walls.listed_at;
            host.walls.set_servos(&servos, true);
            host.walls.place(time, true);
            Some(WallRows::new(&gpu, host, room, BATCH)?)
        };
        let heat = HeatOnGpu::new(&gpu, host, room)?;
        let fields = &host.fields;
        let mut remote = OnGpu {
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
            table: gpu.upload(&numbers::<R>(host.table.iter().copied()), "the interaction table")?,
            rows: Rows::new(&gpu, room)?,
            old_rows: Rows::new(&gpu, if kind.frictional { room } else { 0 })?,
            key: gpu.buffer(room, "cells")?,
            order: gpu.buffer(room, "the order of cells")?,
            cells: Cells::new(&gpu, host.cells.grids(), room)?,
            tables: host.cells.tables.as_ref().map(|_| Tables::new(&gpu)).transpose()?,
            binned,
            contacts,
            walls,
            heat,
            border: Border::new(&gpu, host, room)?,
            geared: Geared::new(&gpu, host, room)?,
            holding: Holding::new(&gpu, host, room, cubes)?,
            carriers: host.carries.then(|| Carriers::new(&gpu, host)).transpose()?,
            no_rows: gpu.zeros(1, "walls")?,
            flags: Arc::new(gpu.zeros(FLAGS, "flags")?),
            power: gpu.zeros(2 * RECORD * cubes, "the ledger")?,
            wall_power: gpu.zeros(2 * RECORD * cubes, "the ledger")?,
            energy: gpu.zeros(2 * RECORD * cubes, "the ledger")?,
            wall_energy: gpu.zeros(RECORD * cubes, "the ledger")?,
            forces_known: true,
            queued: None,
            interval: 64,
            since_renewal: 64,
            gpu,
        };
        let (rebuilds, steps) = (host.rebuilds, host.steps);
        let listed_at = host.walls.listed_at;
        host.steps = (listed_at / host.stepping.dt).round() as u64;
        remote.renew_lists(host, false)?;
        remote.lay_bonds(host)?;
        (host.rebuilds, host.steps) = (rebuilds, steps);
        host.walls.listed_at = listed_at;
        remote.give_histories(host)?;
        remote.give_wear(host)?;
        if let Some(cells) = remote.binned.as_ref().map(Binned::cells) {
            remote.bin_anew(host, cells)?;
        }
        let now = host.time();
        host.walls.set_servos(&servos, false);
        host.walls.place(now, true);
        if let Some(near) = &mut remote.walls {
            near.send(&remote.gpu, host)?;
        }
        Ok(remote)
    }

    /// Writes where the grains are now, and what contacts remember, in the order of the lists just made.
    fn give_histories(&mut self, host: &Simulation) -> Result<(), GpuError> {
        let gpu = &self.gpu;
        // Behind them there may be room for others.
        let order = gpu.download_part(&self.order, 0..self.n).wait()?;
        let position = order
            .iter()
            .flat_map(|&i| host.fields.position[i as usize * RECORD..][..RECORD].to_vec());
        gpu.write_part(&self.position[self.now], 0, &numbers::<C>(position));
        let mut place = vec![0u32; self.n];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        if self.kind.frictional {
            let mut by_place: Vec<(u32, u32, [f64; COMPOUND])> = Vec::new();
            host.visit_listed(|i, j, of_i, of_j| {
                let (i, j) = (place[i as usize], place[j as usize]);
                by_place.extend([(i, j, *of_i), (j, i, *of_j)]);
            });
            by_place.sort_unstable_by_key(|&(i, j, _)| (i, j));
            let rows = &self.rows;
            let (count, first) = (gpu.download(&rows.count)?, gpu.download(&rows.tile_first)?);
            let mut list = gpu.download(&rows.list)?;
            let mut history = vec![R::of(0.0); rows.history.len()];
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
                        list[entry] |= TOUCHED;
                        for (c, &value) in by_place[from + found].2[..self.kind.numbers].iter().enumerate() {
                            history[(entry / TILE * self.kind.numbers + c) * TILE + entry % TILE] = R::of(value);
                        }
                    }
                }
            }
            gpu.write(&self.rows.list, &list);
            gpu.write(&self.rows.history, &history);
        }
        if let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0) {
            let (row, list) = (gpu.download(&near.row)?, gpu.download(&near.list)?);
            let mut history = vec![R::of(0.0); near.history.len()];
            let mut touches = vec![C::of(0.0); near.touches.len()];
            for (i, &old) in order.iter().enumerate() {
                for k in row[i] as usize..row[i + 1] as usize {
                    if let Some((remembered, touch)) = host.walls.touch_of(old as usize, list[k]) {
                        for (slot, &x) in history[k * host.walls.remembered..].iter_mut().zip(remembered) {
                            *slot = R::of(x);
                        }
                        for (slot, &x) in touches[k * touch.len()..].iter_mut().zip(touch) {
                            *slot = C::of(x);
                        }
                    }
                }
            }
            gpu.write(&near.history, &history);
            gpu.write(&near.touches, &touches);
        }
        Ok(())
    }

    /// Asks for all that the host needs to show grains and walls.
    pub(super) fn ask_for_fields(&self, copies: &mut Copies) -> Fetched<C, R> {
        let n = self.n;
        let mut records = |buffer: &Buffer<R>| copies.add(buffer, 0..RECORD * n);
        let motion = [&self.velocity[self.now], &self.force].map(&mut records);
        let is_turning = self.kind.frictional;
        let turning = is_turning.then(|| [&self.spin[self.now], &self.torque].map(records));
        let entries = self.walls.as_ref().map_or(0, |near| near.entries);
        Fetched {
            bodies: self.carriers.as_ref().map(|carriers| carriers.ask(copies, n)),
            member: self.members_of_domain().map(|member| copies.add(member, 0..n)),
            orientations: self.all_orientations().map(|turn| copies.add(turn, 0..RECORD * n)),
            derivatives: self.geared.as_ref().map(|geared| {
                let turns = if self.kind.frictional { TURNS * n } else { 0 };
                [copies.add(&geared.ways, 0..WAYS * n), copies.add(&geared.turns, 0..turns)]
            }),
            words: [&self.id, &self.material, &self.group].map(|buffer| copies.add(buffer, 0..n)),
            places: [&self.position[self.now], &self.reference, &self.half_velocity].map(|buffer| copies.add(buffer, 0..RECORD * n)),
            motion,
            turning,
            half_spin: is_turning.then(|| copies.add(&self.half_spin, 0..RECORD * n)),
            heat: self.heat.as_ref().map(|heat| {
                let temperature = copies.add(&heat.temperature[self.now], 0..n);
                [temperature, copies.add(&heat.given, 0..heat.given.len())]
            }),
            near: self.walls.as_ref().map(|near| Near {
                row: copies.add(&near.row, 0..n + 1),
                list: copies.add(&near.list, 0..entries),
                history: copies.add(&near.history, 0..entries * remembered(self.kind.compound)),
                touches: copies.add(&near.touches, 0..entries * TOUCH),
                work: near.work.as_ref().map(|work| copies.add(work, 0..entries)),
            }),
        }
    }

    /// Brings the host's grains and walls up to date with what came.
    pub(super) fn show_fields(&self, host: &mut Simulation, arrived: &Arrived, fetched: Fetched<C, R>) {
        let fields = &mut host.fields;
        [fields.id, fields.material, fields.group] = fetched.words.map(|ticket| arrived.take(ticket));
        let [position, reference, half_velocity] = fetched.places.map(|ticket| doubles(&arrived.take(ticket)));
        (fields.position, fields.reference, fields.half_velocity) = (position, narrowed(reference), narrowed(half_velocity));
        [fields.velocity, fields.force] = fetched.motion.map(|ticket| doubles(&arrived.take(ticket)));
        if let Some(turning) = fetched.turning {
            [fields.spin, fields.torque] = turning.map(|ticket| doubles(&arrived.take(ticket)));
        }
        if let Some(half_spin) = fetched.half_spin {
            fields.half_spin = narrowed(doubles(&arrived.take(half_spin)));
        }
        if let Some([temperature, given]) = fetched.heat.map(|heat| heat.map(|ticket| arrived.take(ticket))) {
            self.show_heat(host, &temperature, &given);
        }
        if let Some(fetched) = fetched.bodies {
            let [took, put_in] = fetched.show(host, arrived);
            host.work.local_damping += took - std::mem::replace(&mut host.bodies.damped, took);
            host.work.wall += host.stepping.dt * (put_in - std::mem::replace(&mut host.bodies.put_in, put_in));
        }
        if let Some(member) = fetched.member {
            host.fields.member = arrived.take(member);
        }
        if let Some(turn) = fetched.orientations {
            host.fields.turn = doubles(&arrived.take(turn));
        }
        if let Some(derivatives) = fetched.derivatives {
            [host.fields.ways, host.fields.turns] = derivatives.map(|ticket| doubles(&arrived.take(ticket)));
        }
        let now = host.time();
        host.walls.place(now, false);
        host.walls.row = vec![0; self.n + 1];
        if let Some(near) = fetched.near {
            (host.walls.row, host.walls.list) = (arrived.take(near.row), arrived.take(near.list));
            host.walls.history = doubles(&arrived.take(near.history));
            host.walls.touches = doubles(&arrived.take(near.touches));
            host.walls.work.by_entry = near.work.map_or(Vec::new(), |work| doubles(&arrived.take(work)));
        }
    }

    /// What the pairs that touched at the last step remember.
    pub(super) fn touching(&self) -> Result<Vec<Remembered>, GpuError> {
        if !self.kind.frictional {
            return Ok(Vec::new());
        }
        let (gpu, rows, numbers) = (&self.gpu, &self.rows, self.kind.numbers);
        let (count, first) = (gpu.download(&rows.count)?, gpu.download(&rows.tile_first)?);
        let (list, history) = (gpu.download(&rows.list)?, gpu.download(&rows.history)?);
        let mut ends: Vec<(u32, u32, [f64; COMPOUND])> = Vec::new();
        for i in 0..self.n {
            for s in 0..count[i] as usize {
                let entry = first[i / TILE] as usize + s * TILE + i % TILE;
                if list[entry] & TOUCHED != 0 {
                    let number = |c: usize| history[(entry / TILE * numbers + c) * TILE + entry % TILE].double();
                    let record = std::array::from_fn(|c| if c < numbers { number(c) } else { 0.0 });
                    ends.push((i as u32, list[entry] & PLACE, record));
                }
            }
        }
        ends.sort_unstable_by_key(|&(i, j, _)| (i.min(j), i.max(j), i));
        // Only one end of a pair is listed where the other is a copy of a grain of another domain.
        let pairs = ends.chunk_by(|a, b| (a.0, a.1) == (b.1, b.0));
        let both = |pair: &[(u32, u32, [f64; COMPOUND])]| {
            let (i, j, of_i) = pair[0];
            (i, j, of_i, pair.get(1).map_or_else(|| of_partner(&of_i), |(_, _, of_j)| *of_j))
        };
        Ok(pairs.map(both).collect())
    }
}
