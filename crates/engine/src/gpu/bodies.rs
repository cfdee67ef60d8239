//! Rigid bodies on the GPU.

use super::step::BATCH;
use super::{GpuGrains, Number, doubles, numbers, stepping};
use crate::bodies::Bodies;
use crate::populations::Populations;
use seixo_device::gpu::{Arrived, Buffer, Copies, Gpu, GpuError, Ticket, units};
use seixo_laws::Coordinate;
use seixo_laws::motion::Scheme;
use seixo_sweeps::bodies::{LOAD, POSE_OF_BODY};
use seixo_sweeps::gear::{ORIENTATION_DERIVATIVES, POSITION_DERIVATIVES};
use seixo_sweeps::joints::JOINT;
use seixo_sweeps::kernels::THREADS;
use seixo_sweeps::kernels::bodies::{
    FREELY, LARGE, NOWHERE, PRESCRIBED, advance_bodies, advance_bodies_by_gear, carry_grains, drop_inside_bodies, find_loads, find_places,
    mark_candidates, move_prescribed_bodies, sum_forces_on_members,
};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::periodic::OPEN;
use std::sync::Arc;

/// The table of bodies in the precision of coordinates, see [`Bodies`].
pub(super) struct GpuBodies<C> {
    pub bodies: usize,
    pub members: usize,
    /// Index of each grain among the members; nearly empty if the state of the domain has it.
    pub member: Buffer<u32>,
    /// Body of each member for contacts, see [`Bodies::contact_body_of_members`], and whether each body has a prescribed motion.
    touching: Buffer<u32>,
    is_held: Buffer<u32>,
    /// Bodies with prescribed motion that are not at rest, and their poses at the coming steps.
    held: Buffer<u32>,
    poses: Buffer<C>,
    moving: usize,
    row: Buffer<u32>,
    /// Bodies with more than [`LARGE`] members, their number, and the forces on the members of each.
    large: Buffer<u32>,
    large_bodies: usize,
    sums: Buffer<C>,
    pub place: Buffer<u32>,
    body_of: Buffer<u32>,
    offset: Buffer<C>,
    /// Orientations of members in the frames of their bodies, if there are bonds or polyhedral grains.
    own_orientation: Buffer<C>,
    moments: Buffer<C>,
    /// Joints of bodies, and whether there are any.
    joints: Buffer<C>,
    jointed: bool,
    half_velocity: Buffer<C>,
    momentum: Buffer<C>,
    /// Derivatives of positions and of orientations, if bodies move freely by Gear's method.
    derivatives: Option<[Buffer<C>; 2]>,
    /// Motion and loads of bodies, shared with fluids on the same GPU.
    pub coupled: Arc<CoupledBodies<C>>,
    /// Present if the cores find the possible contacts of bodies.
    marked: Option<MarkedGroups>,
}

/// Groups of the members of bodies, and their marks by the broad phase on the cores.
struct MarkedGroups {
    group_of: Buffer<u32>,
    near: Buffer<u32>,
}

impl MarkedGroups {
    /// The groups of the host.
    fn new(gpu: &Gpu, host: &Populations) -> Result<Option<MarkedGroups>, GpuError> {
        if !host.splits_broad_phase() {
            return Ok(None);
        }
        let (groups, of_members) = host.grains.bounding_volumes.groups_of_members();
        Ok(Some(MarkedGroups {
            group_of: gpu.upload(of_members, "groups of spheres")?,
            near: gpu.buffer(groups, "groups of spheres")?,
        }))
    }
}

/// Bodies as fluids on a GPU use them: their motion, and the fluid loads on them.
pub(crate) struct CoupledBodies<C> {
    pub center: Buffer<C>,
    pub orientation: Buffer<C>,
    pub velocity: Buffer<C>,
    pub spin: Buffer<C>,
    /// See [`LOAD`].
    pub load: Buffer<C>,
}

impl<C: Number> CoupledBodies<C> {
    /// The bodies of the host.
    pub fn new(gpu: &Gpu, host: &Bodies) -> Result<CoupledBodies<C>, GpuError> {
        // Buffers cannot be empty, but all bodies may have left.
        let upload = |values: &[f64]| gpu.upload(&with_room(values, RECORD * (host.len() + 1)), "rigid bodies");
        Ok(CoupledBodies {
            center: upload(&host.center)?,
            orientation: upload(&host.orientation)?,
            velocity: upload(&host.velocity)?,
            spin: upload(&host.spin)?,
            load: gpu.upload(&with_room(&host.load, LOAD * (host.len() + 1)), "rigid bodies")?,
        })
    }

    /// Writes the current motion of the host's bodies.
    pub fn move_as(&self, gpu: &Gpu, host: &Bodies) {
        let columns = [
            (&self.center, &host.center),
            (&self.orientation, &host.orientation),
            (&self.velocity, &host.velocity),
            (&self.spin, &host.spin),
        ];
        for (buffer, column) in columns {
            gpu.write(buffer, &with_room(column, buffer.len()));
        }
    }
}

/// These numbers, padded with zeros to the length `all`.
fn with_room<C: Number>(values: &[f64], all: usize) -> Vec<C> {
    let mut numbers = numbers::<C>(values.iter().copied());
    numbers.resize(all, C::of(0.0));
    numbers
}

/// Downloads of the bodies that are in progress.
pub(super) struct BodiesFetched<C> {
    columns: [Ticket<C>; 6],
    derivatives: Option<[Ticket<C>; 2]>,
}

impl<C: Number> GpuBodies<C> {
    /// The bodies of the host.
    pub(super) fn new(gpu: &Gpu, host: &Populations) -> Result<GpuBodies<C>, GpuError> {
        let Bodies {
            row,
            half_velocity,
            momentum,
            moments,
            offset,
            body_of,
            place,
            joints,
            position_derivatives,
            orientation_derivatives,
            ..
        } = &host.bodies;
        // Buffers cannot be empty, but all bodies may have left.
        let words = |values: &[u32]| gpu.upload(&[values, &[0]].concat(), "rigid bodies");
        let upload = |values: &[f64]| gpu.upload(&with_room(values, values.len() + RECORD), "rigid bodies");
        let held = host.bodies.moving_prescribed();
        let own_orientation = match &host.bodies.own_orientation[..] {
            [] if host.is_bonded() || host.has_polyhedra() => [1.0, 0.0, 0.0, 0.0].repeat(body_of.len()),
            turns => turns.to_vec(),
        };
        let is_large = |b: &u32| (row[*b as usize + 1] - row[*b as usize]) as usize > LARGE;
        let large: Vec<u32> = (0..host.bodies.len() as u32).filter(is_large).collect();
        let is_held: Vec<u32> = (0..host.bodies.len())
            .map(|b| {
                if host.bodies.held.is_body_prescribed(b) {
                    PRESCRIBED
                } else {
                    FREELY
                }
            })
            .collect();
        Ok(GpuBodies {
            touching: words(&host.bodies.contact_body_of_members())?,
            is_held: words(&is_held)?,
            held: words(&held)?,
            poses: gpu.buffer(BATCH * held.len().max(1) * POSE_OF_BODY, "poses of bodies with prescribed motion")?,
            moving: held.len(),
            bodies: host.bodies.len(),
            members: body_of.len(),
            member: if host.context.settings.decomposition_invariant {
                words(&[])?
            } else {
                gpu.upload(&host.grains.fields.member, "rigid bodies")?
            },
            row: words(row)?,
            large: words(&large)?,
            large_bodies: large.len(),
            sums: gpu.zeros(if large.is_empty() { LOAD } else { LOAD * host.bodies.len() }, "rigid bodies")?,
            place: words(place)?,
            body_of: words(body_of)?,
            offset: upload(offset)?,
            own_orientation: upload(&own_orientation)?,
            moments: upload(moments)?,
            // Bodies that were added later have no joint.
            joints: gpu.upload(&with_room(joints.rest(0), JOINT * (host.bodies.len() + 1)), "rigid bodies")?,
            jointed: !joints.is_empty(),
            half_velocity: upload(half_velocity)?,
            momentum: upload(momentum)?,
            derivatives: if host.is_geared() && !position_derivatives.is_empty() {
                Some([upload(position_derivatives)?, upload(orientation_derivatives)?])
            } else {
                None
            },
            coupled: Arc::new(CoupledBodies::new(gpu, &host.bodies)?),
            marked: MarkedGroups::new(gpu, host)?,
        })
    }

    fn columns(&self) -> [&Buffer<C>; 6] {
        [
            &self.coupled.center,
            &self.half_velocity,
            &self.momentum,
            &self.coupled.orientation,
            &self.coupled.velocity,
            &self.coupled.spin,
        ]
    }

    /// Requests the download of all that changes; the member numbers of grains are not among it.
    pub(super) fn ask(&self, copies: &mut Copies) -> BodiesFetched<C> {
        BodiesFetched {
            columns: self.columns().map(|buffer| copies.add(buffer, 0..RECORD * self.bodies.max(1))),
            derivatives: self.derivatives.as_ref().map(|[of_positions, of_orientations]| {
                [
                    copies.add(of_positions, 0..POSITION_DERIVATIVES * self.bodies),
                    copies.add(of_orientations, 0..ORIENTATION_DERIVATIVES * self.bodies),
                ]
            }),
        }
    }
}

impl<C: Number> BodiesFetched<C> {
    /// Updates the host's bodies, after the member numbers of grains. Returns two sums since the upload: the energy that local damping took from the bodies \[J\], and the power of
    /// prescribed motion \[W\].
    pub(super) fn show(self, host: &mut Populations, arrived: &Arrived) -> [f64; 2] {
        let [center, half_velocity, momentum, orientation, velocity, spin] = self.columns.map(|ticket| {
            let mut column = doubles(&arrived.take(ticket));
            column.truncate(RECORD * host.bodies.len());
            column
        });
        let bodies = &mut host.bodies;
        (bodies.center, bodies.momentum, bodies.orientation) = (center, momentum, orientation);
        (bodies.velocity, bodies.spin, bodies.half_velocity) = (velocity, spin, half_velocity);
        if let Some(derivatives) = self.derivatives {
            let derivatives = derivatives.map(|ticket| doubles(&arrived.take(ticket)));
            [bodies.position_derivatives, bodies.orientation_derivatives] = derivatives;
        }
        bodies.find_places(&host.grains.fields.member);
        [&mut bodies.half_velocity, &mut bodies.momentum].map(|column| {
            let last = column
                .chunks_exact_mut(RECORD)
                .map(|record| std::mem::take(&mut record[RECORD - 1]));
            last.sum()
        })
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Moves bodies by one step, and their grains with them.
    pub(super) fn move_bodies(&self, host: &Populations, parity: u32) {
        let Some(carriers) = self.carriers.as_ref().filter(|carriers| carriers.bodies > 0) else {
            return;
        };
        let client = self.gpu.client();
        let (place, force, torque) = match self.member_forces() {
            Some(forces) => (&forces.order, &forces.force, &forces.torque),
            None => (&carriers.place, &self.force, &self.torque),
        };
        let has_large = carriers.large_bodies > 0;
        if has_large {
            let (count, dim) = units(carriers.large_bodies * THREADS);
            sum_forces_on_members::launch::<R, C>(
                client,
                count,
                dim,
                carriers.large.argument(),
                carriers.row.argument(),
                place.argument(),
                carriers.offset.argument(),
                carriers.coupled.orientation.argument(),
                force.argument(),
                torque.argument(),
                carriers.sums.argument(),
                self.flags.argument(),
                carriers.large_bodies as u32,
                parity,
            );
        }
        let (count, dim) = units(carriers.bodies);
        if let Some([of_positions, of_orientations]) = &carriers.derivatives {
            advance_bodies_by_gear::launch::<R, C>(
                client,
                count,
                dim,
                carriers.row.argument(),
                place.argument(),
                carriers.offset.argument(),
                carriers.moments.argument(),
                force.argument(),
                torque.argument(),
                carriers.coupled.center.argument(),
                carriers.half_velocity.argument(),
                carriers.momentum.argument(),
                carriers.coupled.orientation.argument(),
                carriers.coupled.velocity.argument(),
                carriers.coupled.spin.argument(),
                carriers.is_held.argument(),
                carriers.coupled.load.argument(),
                carriers.sums.argument(),
                of_positions.argument(),
                of_orientations.argument(),
                self.flags.argument(),
                stepping::<C, C>(&host.context.stepping),
                C::of(host.context.settings.scheme.corrects().unwrap_or(Scheme::GEAR)),
                carriers.bodies as u32,
                parity,
                has_large,
            );
        } else {
            advance_bodies::launch::<R, C>(
                client,
                count,
                dim,
                carriers.row.argument(),
                place.argument(),
                carriers.offset.argument(),
                carriers.moments.argument(),
                force.argument(),
                torque.argument(),
                carriers.coupled.center.argument(),
                carriers.half_velocity.argument(),
                carriers.momentum.argument(),
                carriers.coupled.orientation.argument(),
                carriers.coupled.velocity.argument(),
                carriers.coupled.spin.argument(),
                carriers.is_held.argument(),
                carriers.coupled.load.argument(),
                carriers.sums.argument(),
                carriers.joints.argument(),
                self.flags.argument(),
                stepping::<C, C>(&host.context.stepping),
                carriers.bodies as u32,
                parity,
                carriers.jointed,
                has_large,
            );
        }
        if carriers.moving > 0 {
            let (count, dim) = units(carriers.moving);
            move_prescribed_bodies::launch::<C>(
                client,
                count,
                dim,
                carriers.held.argument(),
                carriers.poses.argument(),
                carriers.coupled.center.argument(),
                carriers.half_velocity.argument(),
                carriers.momentum.argument(),
                carriers.coupled.orientation.argument(),
                carriers.moments.argument(),
                carriers.coupled.velocity.argument(),
                carriers.coupled.spin.argument(),
                self.flags.argument(),
                stepping::<C, C>(&host.context.stepping),
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
            carriers.coupled.center.argument(),
            carriers.coupled.orientation.argument(),
            carriers.coupled.velocity.argument(),
            carriers.coupled.spin.argument(),
            self.position[self.now].records(),
            self.reference.records(),
            self.half_velocity.records(),
            self.half_spin.records(),
            self.position[self.now ^ 1].records(),
            self.velocity[self.now ^ 1].records(),
            self.spin[self.now ^ 1].records(),
            carriers.own_orientation.argument(),
            self.orientations().unwrap_or(&self.wall_energy).records(),
            self.flags.argument(),
            stepping::<C, C>(&host.context.stepping),
            carriers.members as u32,
            parity,
            self.kind.sides,
            self.orientations().is_some(),
        );
    }

    /// Sends the poses of bodies with prescribed motion at the ends of the next `batch` steps.
    pub(super) fn send_poses_of_bodies(&self, host: &Populations, batch: u64) {
        let Some(carriers) = self.carriers.as_ref().filter(|carriers| carriers.moving > 0) else {
            return;
        };
        let time = |step: u64| (host.context.steps + step) as f64 * host.context.stepping.dt;
        let mut poses: Vec<f64> = (1..=batch).flat_map(|step| host.poses_of_bodies(time(step))).collect();
        poses.resize(carriers.poses.len(), 0.0);
        self.gpu.write(&carriers.poses, &numbers::<C>(poses));
    }

    /// The body of each member for contacts, and whether each body has a prescribed motion. Without bodies it returns these placeholders, which are
    /// not read.
    pub(super) fn prescribed_members<'a>(&'a self, stand_ins: [&'a Buffer<u32>; 2]) -> (&'a Buffer<u32>, &'a Buffer<u32>) {
        let carriers = self.carriers.as_ref();
        carriers.map_or((stand_ins[0], stand_ins[1]), |carriers| (&carriers.touching, &carriers.is_held))
    }

    /// Wraps the centers of bodies that left through periodic sides.
    pub(super) fn wrap_bodies(&self, host: &mut Populations) -> Result<(), GpuError> {
        let Some(carriers) = self
            .carriers
            .as_ref()
            .filter(|carriers| self.kind.sides != OPEN && carriers.bodies > 0)
        else {
            return Ok(());
        };
        host.place_sides();
        let bodies = &mut host.bodies;
        bodies.center = doubles(
            &self
                .gpu
                .download_part(&carriers.coupled.center, 0..RECORD * carriers.bodies)
                .wait()?,
        );
        let by_sides = bodies.put_back(&host.context.stepping.sides, &host.context.stepping.gravity);
        self.gpu
            .write(&carriers.coupled.center, &with_room(&bodies.center, carriers.coupled.center.len()));
        host.body_ledger().wall += by_sides;
        Ok(())
    }

    /// Records the new indices of the grains of bodies after a sort.
    pub(super) fn find_members(&self) {
        let Some(carriers) = &self.carriers else { return };
        if self.members_of_domain().is_some() {
            self.gpu.write(&carriers.place, &vec![NOWHERE; carriers.place.len()]);
        }
        let (count, dim) = units(self.n);
        find_places::launch(
            self.gpu.client(),
            count,
            dim,
            self.member().argument(),
            carriers.place.argument(),
            self.n as u32,
        );
        if self.members_of_domain().is_some() && carriers.bodies > 0 {
            let (count, dim) = units(carriers.bodies);
            find_loads::launch(
                self.gpu.client(),
                count,
                dim,
                carriers.row.argument(),
                carriers.place.argument(),
                carriers.is_held.argument(),
                carriers.bodies as u32,
            );
        }
    }

    /// As [`super::GpuBackend::download_poses`].
    pub(super) fn fetch_poses(&self, host: &mut Populations) -> Result<(), GpuError> {
        let Some(carriers) = self.carriers.as_ref().filter(|carriers| carriers.bodies > 0) else {
            return Ok(());
        };
        let mut copies = self.gpu.copies();
        let poses = [&carriers.coupled.center, &carriers.coupled.orientation];
        let [center, orientation] = poses.map(|buffer| copies.add(buffer, 0..RECORD * carriers.bodies));
        let arrived = copies.wait()?;
        host.bodies.center = doubles(&arrived.take(center));
        host.bodies.orientation = doubles(&arrived.take(orientation));
        host.grains.bounding_volumes.free = if self.n > carriers.members {
            let position = &self.position[self.now];
            Some(self.cells.box_of_free(&self.gpu, position, Some(self.member()), self.n)?)
        } else {
            None
        };
        Ok(())
    }

    /// Writes the member numbers of grains for a search to the buffer of keys: spheres of bodies that the host does not mark by `near` count as ghosts,
    /// which have no rows. Returns whether there are such marks.
    pub(super) fn mark_candidates(&self, host: &Populations, near: u8) -> bool {
        let broad = &host.grains.bounding_volumes;
        let carriers = self.carriers.as_ref().filter(|_| !broad.is_idle());
        let Some(marked) = carriers.and_then(|carriers| carriers.marked.as_ref()) else {
            return false;
        };
        let marks: Vec<u32> = broad.marks().iter().map(|&mark| u32::from(mark)).collect();
        self.gpu.write(&marked.near, &marks);
        let (count, dim) = units(self.n);
        mark_candidates::launch(
            self.gpu.client(),
            count,
            dim,
            self.member().argument(),
            marked.group_of.argument(),
            marked.near.argument(),
            self.key.argument(),
            u32::from(near),
            self.n as u32,
        );
        true
    }

    /// Drops pairs of grains of the same body.
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
            self.member().argument(),
            carriers.touching.argument(),
            self.n as u32,
        );
    }

    /// Index of each grain among the members, or its mark in a subdomain. If all grains move by themselves, it returns a placeholder that is not
    /// read.
    pub(super) fn member(&self) -> &Buffer<u32> {
        let carried = self.carriers.as_ref().map(|carriers| &carriers.member);
        let bordering = self.border.as_ref().map(|border| &border.member);
        bordering.or(carried).unwrap_or(&self.group)
    }

    /// Whether some grains may not move by themselves, according to [`GpuGrains::member`].
    pub(super) fn has_members(&self) -> bool {
        self.carriers.is_some() || self.border.is_some()
    }
}
