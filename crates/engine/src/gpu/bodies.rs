//! Rigid bodies on the GPU.

use super::step::BATCH;
use super::{Number, OnGpu, doubles, numbers, stepping};
use crate::bodies::Bodies;
use crate::simulation::Simulation;
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::{LOAD, POSE_OF_BODY};
use seixo_sweeps::joints::JOINT;
use seixo_sweeps::kernels::bodies::{advance_bodies, carry_grains, drop_inside_bodies, find_places, hold_bodies};
use seixo_sweeps::sides::OPEN;
use seixo_sweeps::views::RECORD;
use std::sync::Arc;

/// The table of bodies, see [`Bodies`], with the digits of coordinates.
pub(super) struct Carriers<C> {
    bodies: usize,
    members: usize,
    /// Which member every grain is.
    pub member: Buffer<u32>,
    /// The body that each member is of as far as touching goes, see [`Bodies::that_touch`], and whether a body is held.
    touching: Buffer<u32>,
    is_held: Buffer<u32>,
    /// Those that are held and do not stand still, and where they are at each step to come.
    held: Buffer<u32>,
    poses: Buffer<C>,
    moving: usize,
    row: Buffer<u32>,
    place: Buffer<u32>,
    body_of: Buffer<u32>,
    offset: Buffer<C>,
    /// How members are turned in the frames of their bodies, where bonds ask for it.
    own_turn: Buffer<C>,
    moments: Buffer<C>,
    /// Joints of bodies, and whether there are any.
    joints: Buffer<C>,
    jointed: bool,
    half_velocity: Buffer<C>,
    momentum: Buffer<C>,
    /// What fluids on the same GPU know of bodies, and do to them.
    pub felt: Arc<FeltBodies<C>>,
}

/// Bodies as fluids on a GPU feel them: how they move, and what bears on them.
pub(crate) struct FeltBodies<C> {
    pub center: Buffer<C>,
    pub turn: Buffer<C>,
    pub velocity: Buffer<C>,
    pub spin: Buffer<C>,
    /// See [`LOAD`].
    pub load: Buffer<C>,
}

impl<C: Number> FeltBodies<C> {
    /// Those of the host.
    pub fn new(gpu: &Gpu, host: &Bodies) -> Result<FeltBodies<C>, GpuError> {
        // Buffers cannot be empty, though all bodies may have left.
        let upload = |values: &[f64]| gpu.upload(&with_room(values, RECORD * (host.len() + 1)), "rigid bodies");
        Ok(FeltBodies {
            center: upload(&host.center)?,
            turn: upload(&host.turn)?,
            velocity: upload(&host.velocity)?,
            spin: upload(&host.spin)?,
            load: gpu.upload(&with_room(&host.load, LOAD * (host.len() + 1)), "rigid bodies")?,
        })
    }

    /// Lets them move as those of the host do now.
    pub fn move_as(&self, gpu: &Gpu, host: &Bodies) {
        let columns = [
            (&self.center, &host.center),
            (&self.turn, &host.turn),
            (&self.velocity, &host.velocity),
            (&self.spin, &host.spin),
        ];
        for (buffer, column) in columns {
            gpu.write(buffer, &with_room(column, buffer.len()));
        }
    }
}

/// Numbers, and zeros behind them, so many in all.
fn with_room<C: Number>(values: &[f64], all: usize) -> Vec<C> {
    let mut numbers = numbers::<C>(values.iter().copied());
    numbers.resize(all, C::of(0.0));
    numbers
}

/// Bodies on their way to the host.
pub(super) struct BodiesFetched<C> {
    member: Ticket<u32>,
    columns: [Ticket<C>; 6],
}

impl<C: Number> Carriers<C> {
    /// The bodies of the host.
    pub(super) fn new(gpu: &Gpu, host: &Simulation) -> Result<Carriers<C>, GpuError> {
        let Bodies {
            row,
            half_velocity,
            momentum,
            moments,
            offset,
            body_of,
            place,
            joints,
            ..
        } = &host.bodies;
        // Buffers cannot be empty, though all bodies may have left.
        let words = |values: &[u32]| gpu.upload(&[values, &[0]].concat(), "rigid bodies");
        let upload = |values: &[f64]| gpu.upload(&with_room(values, values.len() + RECORD), "rigid bodies");
        let held = host.bodies.held_moving();
        let own_turn = match &host.bodies.own_turn[..] {
            [] if host.is_bonded() => [1.0, 0.0, 0.0, 0.0].repeat(body_of.len()),
            turns => turns.to_vec(),
        };
        let is_held: Vec<u32> = (0..host.bodies.len()).map(|b| u32::from(host.bodies.held.holds(b))).collect();
        Ok(Carriers {
            touching: words(&host.bodies.that_touch())?,
            is_held: words(&is_held)?,
            held: words(&held)?,
            poses: gpu.buffer(BATCH * held.len().max(1) * POSE_OF_BODY, "poses of held bodies")?,
            moving: held.len(),
            bodies: host.bodies.len(),
            members: body_of.len(),
            member: gpu.upload(&host.fields.member, "rigid bodies")?,
            row: words(row)?,
            place: words(place)?,
            body_of: words(body_of)?,
            offset: upload(offset)?,
            own_turn: upload(&own_turn)?,
            moments: upload(moments)?,
            // Bodies that came later are on none.
            joints: gpu.upload(&with_room(joints.rest(0), JOINT * (host.bodies.len() + 1)), "rigid bodies")?,
            jointed: !joints.is_empty(),
            half_velocity: upload(half_velocity)?,
            momentum: upload(momentum)?,
            felt: Arc::new(FeltBodies::new(gpu, &host.bodies)?),
        })
    }

    fn columns(&self) -> [&Buffer<C>; 6] {
        [
            &self.felt.center,
            &self.half_velocity,
            &self.momentum,
            &self.felt.turn,
            &self.felt.velocity,
            &self.felt.spin,
        ]
    }

    /// Asks for all that changes, of n grains.
    pub(super) fn ask(&self, copies: &mut Copies, n: usize) -> BodiesFetched<C> {
        BodiesFetched {
            member: copies.add(&self.member, 0..n),
            columns: self.columns().map(|buffer| copies.add(buffer, 0..RECORD * self.bodies.max(1))),
        }
    }
}

impl<C: Number> BodiesFetched<C> {
    /// Brings the host's bodies up to date; returns the energy that local damping took of them since they were handed over \[J\], and the sum of
    /// the powers that what holds bodies put in at all steps \[W\].
    pub(super) fn show(self, host: &mut Simulation, arrived: &Arrived) -> [f64; 2] {
        host.fields.member = arrived.take(self.member);
        let [center, half_velocity, momentum, turn, velocity, spin] = self.columns.map(|ticket| {
            let mut column = doubles(&arrived.take(ticket));
            column.truncate(RECORD * host.bodies.len());
            column
        });
        let bodies = &mut host.bodies;
        (bodies.center, bodies.momentum, bodies.turn) = (center, momentum, turn);
        (bodies.velocity, bodies.spin, bodies.half_velocity) = (velocity, spin, half_velocity);
        bodies.find_places(&host.fields.member);
        [&mut bodies.half_velocity, &mut bodies.momentum].map(|column| {
            let last = column
                .chunks_exact_mut(RECORD)
                .map(|record| std::mem::take(&mut record[RECORD - 1]));
            last.sum()
        })
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Bodies one step on, and their grains with them.
    pub(super) fn move_bodies(&self, host: &Simulation, parity: u32) {
        let Some(carriers) = self.carriers.as_ref().filter(|carriers| carriers.bodies > 0) else {
            return;
        };
        let client = self.gpu.client();
        let (count, dim) = units(carriers.bodies);
        advance_bodies::launch::<R, C>(
            client,
            count,
            dim,
            carriers.row.argument(),
            carriers.place.argument(),
            carriers.offset.argument(),
            carriers.moments.argument(),
            self.force.argument(),
            self.torque.argument(),
            carriers.felt.center.argument(),
            carriers.half_velocity.argument(),
            carriers.momentum.argument(),
            carriers.felt.turn.argument(),
            carriers.felt.velocity.argument(),
            carriers.felt.spin.argument(),
            carriers.is_held.argument(),
            carriers.felt.load.argument(),
            carriers.joints.argument(),
            self.flags.argument(),
            stepping::<C, C>(&host.stepping),
            carriers.bodies as u32,
            parity,
            carriers.jointed,
        );
        if carriers.moving > 0 {
            let (count, dim) = units(carriers.moving);
            hold_bodies::launch::<C>(
                client,
                count,
                dim,
                carriers.held.argument(),
                carriers.poses.argument(),
                carriers.felt.center.argument(),
                carriers.half_velocity.argument(),
                carriers.momentum.argument(),
                carriers.felt.turn.argument(),
                carriers.moments.argument(),
                carriers.felt.velocity.argument(),
                carriers.felt.spin.argument(),
                self.flags.argument(),
                stepping::<C, C>(&host.stepping),
                carriers.moving as u32,
                parity,
            );
        }
        let (count, dim) = units(carriers.members);
        carry_grains::launch::<R, C>(
            client,
            count,
            dim,
            carriers.place.argument(),
            carriers.body_of.argument(),
            carriers.offset.argument(),
            carriers.felt.center.argument(),
            carriers.felt.turn.argument(),
            carriers.felt.velocity.argument(),
            carriers.felt.spin.argument(),
            self.position[self.now].records(),
            self.reference.records(),
            self.half_velocity.records(),
            self.position[self.now ^ 1].records(),
            self.velocity[self.now ^ 1].records(),
            self.spin[self.now ^ 1].records(),
            carriers.own_turn.argument(),
            self.orientations().unwrap_or(&self.wall_energy).records(),
            self.flags.argument(),
            stepping::<C, C>(&host.stepping),
            carriers.members as u32,
            parity,
            self.kind.sides,
            self.orientations().is_some(),
        );
    }

    /// Poses of the bodies that are held at the ends of the next `batch` steps.
    pub(super) fn send_poses_of_bodies(&self, host: &Simulation, batch: u64) {
        let Some(carriers) = self.carriers.as_ref().filter(|carriers| carriers.moving > 0) else {
            return;
        };
        let time = |step: u64| (host.steps + step) as f64 * host.stepping.dt;
        let mut poses: Vec<f64> = (1..=batch).flat_map(|step| host.poses_of_bodies(time(step))).collect();
        poses.resize(carriers.poses.len(), 0.0);
        self.gpu.write(&carriers.poses, &numbers::<C>(poses));
    }

    /// The bodies that members touch as, and which are held; without bodies buffers that stand in, and are not read.
    pub(super) fn held_members<'a>(&'a self, stand_ins: [&'a Buffer<u32>; 2]) -> (&'a Buffer<u32>, &'a Buffer<u32>) {
        let carriers = self.carriers.as_ref();
        carriers.map_or((stand_ins[0], stand_ins[1]), |carriers| (&carriers.touching, &carriers.is_held))
    }

    /// Puts centers of bodies that left through periodic sides back.
    pub(super) fn put_bodies_back(&self, host: &mut Simulation) -> Result<(), GpuError> {
        let Some(carriers) = self
            .carriers
            .as_ref()
            .filter(|carriers| self.kind.sides != OPEN && carriers.bodies > 0)
        else {
            return Ok(());
        };
        host.place_sides();
        let bodies = &mut host.bodies;
        bodies.center = doubles(&self.gpu.download_part(&carriers.felt.center, 0..RECORD * carriers.bodies).wait()?);
        host.work.wall += bodies.put_back(&host.stepping.sides, &host.stepping.gravity);
        self.gpu
            .write(&carriers.felt.center, &with_room(&bodies.center, carriers.felt.center.len()));
        Ok(())
    }

    /// Notes where the grains of bodies are in the new order.
    pub(super) fn find_members(&self) {
        let Some(carriers) = &self.carriers else { return };
        let (count, dim) = units(self.n);
        find_places::launch(
            self.gpu.client(),
            count,
            dim,
            carriers.member.argument(),
            carriers.place.argument(),
            self.n as u32,
        );
    }

    /// Drops pairs of grains that one body carries.
    pub(super) fn drop_inside_bodies(&self) {
        let Some(carriers) = &self.carriers else { return };
        let (count, dim) = units(self.n);
        drop_inside_bodies::launch(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            carriers.member.argument(),
            carriers.touching.argument(),
            self.n as u32,
        );
    }

    /// Which member every grain is; where all move by themselves a column that stands in, and is not read.
    pub(super) fn member(&self) -> &Buffer<u32> {
        let carried = self.carriers.as_ref().map(|carriers| &carriers.member);
        let bordering = self.border.as_ref().map(|border| &border.member);
        carried.or(bordering).unwrap_or(&self.group)
    }

    /// Whether some grains may not move by themselves, which [`OnGpu::member`] tells.
    pub(super) fn has_members(&self) -> bool {
        self.carriers.is_some() || self.border.is_some()
    }
}
