//! A subdomain on a GPU: the grains that it owns, and ghost particles.
//!
//! Owned grains and ghosts are mixed, in the order of the cells; [`DomainState::member`] distinguishes them. Between two rebuilds of the lists,
//! subdomains exchange halos at every step: positions and motion of those grains that have ghosts elsewhere. At a rebuild, grains migrate and ghosts
//! are selected again. The GPU packs and unpacks all of this itself, so only the data that change pass through the host; ghosts go from GPU to GPU where
//! these reach each other.

mod body_forces;
mod contact_histories;
mod departure;
mod ghosts;
mod halo;
mod halt_flags;
mod migration;
mod packing;
mod split_steps;

use super::halo_exchange::{GhostExchange, HaloExchange};
use super::index_map::{Candidates, sampled};
use super::joint_halo::HaloPair;
use super::neighbor_lists::make_room;
use super::servos::SharedServoLoads;
use super::wall_lists::SentTable;
use super::{GpuGrains, Number, numbers};
use crate::exchange::{HaltReason, SharedParticles, next_message};
use crate::populations::Populations;
use body_forces::MemberForces;
use contact_histories::ArrivedHistories;
pub(super) use departure::grouped_by_block;
use ghosts::FoundGhosts;
use halo::HaloSide;
pub(crate) use halt_flags::HaltFlags;
use migration::{MigrationBuffer, with_reserve};
use packing::HostGrains;
pub(super) use packing::picked;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::{FREE, is_owned};
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::domain::Block;
use seixo_sweeps::kernels::domain::keep_too;
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::motion::LEFT_DOMAIN;
use seixo_sweeps::periodic::OPEN;
use split_steps::SplitSteps;
pub(super) use split_steps::StepPart;
use std::collections::HashSet;
use std::time::Duration;

/// Spare room for grains that migrate to this subdomain: one part in this many. These grains are stored behind the present ones.
pub(super) const RESERVE: usize = 8;

/// Marks of the grains that move by themselves in a decomposition-invariant run, and the halo of a subdomain.
pub(super) struct DomainState<C, R> {
    /// See [`seixo_sweeps::bodies`].
    pub member: Buffer<u32>,
    /// Ids in the previous order.
    pub old_id: Buffer<u32>,
    /// Whether there are several subdomains.
    pub is_decomposed: bool,
    /// Number of grains that had rows at the last rebuild of the lists.
    known: usize,
    /// New index of each grain after the last sort, if there are several subdomains.
    pub place_of: Buffer<u32>,
    sides: Vec<HaloSide<C, R>>,
    /// Parts of a step.
    split: SplitSteps,
    /// Parity of the step after which the halo was packed last.
    parity: u32,
    /// Owned grains that stay here at a migration, with those that arrived.
    staying: usize,
    /// A box that contains the centers of all grains before new ghosts arrive \[m\].
    own_box: Bounds,
    parcel: MigrationBuffer<C, R>,
    /// Contact histories of grains that migrated here, stored until there are lists.
    arrived: Vec<ArrivedHistories>,
    /// Blocks for which grains are sought at a rebuild of the lists, see [`seixo_sweeps::kernels::domain::find_for_others()`].
    blocks: SentTable<C>,
    /// Ghosts of others that were selected already, with the grains that migrate.
    begun: Option<FoundGhosts>,
    /// Grains that migrated here since then, and the index of the first of each message.
    newcomers: Vec<(usize, HostGrains<C, R>)>,
    /// Whether some grains left the world.
    leaving: bool,
    /// Forces on the grains of bodies, if these may be in several domains.
    body_forces: Option<MemberForces<R>>,
}

/// The grains of a subdomain on a GPU, independent of its precision. Messages go to the neighbor subdomains and come from them, in their order.
pub(crate) trait DomainBackend: HaloExchange + GhostExchange {
    /// Takes over the shared grains, by their indices before the grains were uploaded.
    fn share(&mut self, shared: &[SharedParticles]) -> Result<(), GpuError>;
    /// A message with the forces on the grains of free bodies that are here.
    fn body_forces(&self, host: &mut Populations) -> Result<Vec<u8>, GpuError>;
    /// Takes the forces on free bodies from the messages of all domains.
    fn take_body_forces(&self, host: &mut Populations, messages: &[Vec<u8>]) -> Result<(), HaltReason>;
    /// Sends the loads of its grains on servos in that step to the other subdomains. Returns whether all must have sent before any receives.
    fn send_servo_loads(&self, shared: &SharedServoLoads, rank: usize, ahead: u32) -> Result<bool, GpuError>;
    /// Receives the loads of all subdomains. Launches later than this wait for them.
    ///
    /// # Errors
    /// If the GPU is lost.
    fn receive_servo_loads(&self, shared: &SharedServoLoads, rank: usize, ahead: u32) -> Result<(), GpuError>;
    /// A message with the loads of its grains on servos.
    fn servo_load_message(&self) -> Result<Vec<u8>, GpuError>;
    /// Takes the loads on servos from the messages of all subdomains.
    fn take_servo_loads(&self, messages: &[Vec<u8>]) -> Result<(), HaltReason>;
    /// Advances the servos by that step, with the loads of all subdomains.
    fn control_servos(&self, host: &Populations, ahead: u32);
    /// Sends to the other subdomains whether this one halts after that step. Returns whether all must have sent before any receives.
    fn send_halt(&self, halts: &HaltFlags, rank: usize, ahead: u32) -> Result<bool, GpuError>;
    /// Receives whether any subdomain halts after that step. Launches later than this wait for it.
    ///
    /// # Errors
    /// If the GPU is lost.
    fn receive_halts(&self, halts: &HaltFlags, rank: usize, ahead: u32) -> Result<(), GpuError>;
    /// Whether steps in parts, see [`StepPart`], are requested and possible here.
    fn requests_parts(&self, host: &Populations) -> bool;
    /// Takes all steps until the next rebuild of the lists in parts, or none. Makes room for the halos of these steps, which are joint for each neighbor
    /// that has one of the `pairs`.
    ///
    /// # Errors
    /// If there is no memory.
    fn split_steps(&mut self, splits: bool, pairs: Vec<Option<HaloPair>>) -> Result<(), GpuError>;
    /// Whether steps are taken in parts.
    fn is_split(&self) -> bool;
    /// Queues all parts of a step but the first.
    fn finish_motion(&self, host: &Populations, ahead: u32);
    /// Updates the ghosts from these messages.
    fn follow(&mut self, messages: &[Vec<u8>]) -> Result<(), HaltReason>;
    /// Prepares for migration after a step that raised these flags.
    fn prepare(&mut self, host: &mut Populations, raised: u32) -> Result<(), GpuError>;
    /// Positions of some owned grains \[m\].
    fn sample_positions(&mut self) -> Result<Vec<[f64; 3]>, GpuError>;
    /// Removes the grains that are in the blocks of others, with their contact histories, and all ghosts. Returns the number of migrating grains and
    /// the messages. Fails if an owned grain is in none of these blocks. Given the blocks of [`DomainBackend::ghosts_for`], already selects ghosts for these
    /// among the grains that stay; none may be bonded to grains of others then, and they may not travel by messages.
    fn send_migrating(
        &mut self,
        host: &Populations,
        own: &Block<f64>,
        others: &[Block<f64>],
        blocks_in_reach: Option<&[Block<f64>]>,
    ) -> Result<(u64, Vec<Vec<u8>>), HaltReason>;
    /// Receives migrating grains.
    fn receive_migrating(&mut self, messages: &[Vec<u8>]) -> Result<(), HaltReason>;
    /// Ids of the owned grains.
    fn owned_ids(&self) -> Result<Vec<u32>, GpuError>;
    /// Selects and packs the ghosts for each of these blocks: grains within it, and grains with ids in `bonded`, which are bonded to grains of others.
    /// Returns messages with them, which are empty unless they travel `by_messages`, and the time that this took.
    fn ghosts_for(
        &mut self,
        host: &Populations,
        blocks_in_reach: &[Block<f64>],
        bonded: &HashSet<u32>,
        by_messages: bool,
    ) -> Result<(Vec<Vec<u8>>, Duration), GpuError>;
    /// Receives the ghosts, unless they came from GPUs, and rebuilds all lists.
    fn list_with(&mut self, host: &mut Populations, messages: &[Vec<u8>]) -> Result<(), HaltReason>;
    /// Number of owned grains, without ghosts.
    fn owned_count(&self) -> usize;
}

impl<C: Number, R: Number> DomainState<C, R> {
    /// State for the grains of the host, with room for this many. `None` unless the run is decomposition-invariant.
    pub(super) fn new(gpu: &Gpu, host: &Populations, room: usize) -> Result<Option<DomainState<C, R>>, GpuError> {
        if !host.context.settings.decomposition_invariant {
            return Ok(None);
        }
        let mut member = host.grains.fields.member.clone();
        member.resize(room, FREE);
        let is_decomposed = host.grains.has_ghosts;
        Ok(Some(DomainState {
            member: gpu.upload(&member, "domains")?,
            old_id: gpu.zeros(room, "domains")?,
            is_decomposed,
            known: 0,
            place_of: gpu.zeros(if is_decomposed { room } else { RECORD }, "domains")?,
            sides: Vec::new(),
            split: SplitSteps::new(gpu)?,
            parity: 0,
            staying: 0,
            own_box: Bounds::NOTHING,
            parcel: MigrationBuffer::new(gpu)?,
            arrived: Vec::new(),
            blocks: SentTable::new(gpu, "domains")?,
            begun: None,
            newcomers: Vec::new(),
            leaving: false,
            body_forces: MemberForces::new(gpu, host)?,
        }))
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Number of grains for which buffers have room if there are n: in a subdomain some more, as grains migrate to it.
    pub(super) fn room_for(host: &Populations, n: usize) -> usize {
        if host.grains.has_ghosts {
            (n + n / RESERVE + 1024).next_multiple_of(RECORD)
        } else {
            n
        }
    }

    /// Number of grains that had rows at the last rebuild of the lists.
    pub(super) fn rows_at_last_rebuild(&self) -> u32 {
        let decomposed = self.border.as_ref().filter(|border| border.is_decomposed);
        decomposed.map_or(u32::MAX, |border| border.known as u32)
    }

    /// Marks of owned grains and ghosts, in a subdomain.
    pub(super) fn members_of_domain(&self) -> Option<&Buffer<u32>> {
        let decomposed = self.border.as_ref().filter(|border| border.is_decomposed);
        decomposed.map(|border| &border.member)
    }

    fn border(&mut self) -> &mut DomainState<C, R> {
        self.border.as_mut().expect("a domain has a border")
    }

    /// Ids of all grains, and their marks as owned or ghost.
    pub(super) fn ids_and_members(&self) -> Result<(Vec<u32>, Vec<u32>), GpuError> {
        let mut copies = self.gpu.copies();
        let (id, member) = (copies.add(&self.id, 0..self.n), copies.add(self.member(), 0..self.n));
        let arrived = copies.wait()?;
        Ok((arrived.take(id), arrived.take(member)))
    }

    /// Corners of the domain in which grains are sought at a rebuild of the lists: those outside it leave the world.
    fn sought_in(&self) -> &Buffer<C> {
        let is_bounded = self.border.as_ref().is_some_and(|border| border.leaving);
        if is_bounded { &self.cells.domain } else { &self.cells.unbounded }
    }

    /// Queues marks of owned grains in a block, or outside it if `beyond`, and of those at the first `too` indices in [`MigrationBuffer::start`].
    fn mark(&self, block: &Block<f64>, beyond: bool, too: usize) {
        let own = (&self.position[self.now], self.member(), self.n);
        self.cells.mark_within(&self.gpu, own, self.sought_in(), block, beyond);
        if too > 0 {
            let parcel = &self.border.as_ref().expect("a domain has a border").parcel;
            let (count, dim) = units(too);
            keep_too::launch(
                self.gpu.client(),
                count,
                dim,
                parcel.start.argument(),
                self.cells.lengths.argument(),
                too as u32,
            );
        }
    }

    /// Finds the grains that [`GpuGrains::mark`] marks for this block, but tests only those in cells near it, see [`super::Cells::list_in_layers`]. Writes
    /// their indices to the start of the buffer `order`, and returns their number.
    fn find_in_layers(&mut self, host: &Populations, block: &Block<f64>, too: usize) -> Result<usize, GpuError> {
        let border = self.border.as_ref().expect("a domain has a border");
        let among = Candidates {
            position: &self.position[self.now],
            member: &border.member,
            is_bounded: border.leaving,
            n: self.n,
            sorted: border.known,
            motion: host.grains.cells.largest_motion(),
            bonded: (&border.parcel.start, too),
        };
        self.cells.list_in_layers(&self.gpu, &among, block, &self.order)
    }

    /// Number of owned grains.
    fn owned_without_ghosts(&self) -> usize {
        let sides = self.border.as_ref().map_or(&[][..], |border| &border.sides);
        self.n - sides.iter().map(|side| side.followed_ghosts).sum::<usize>()
    }
}

impl<C: Number + Coordinate<R>, R: Number> DomainBackend for GpuGrains<C, R> {
    fn share(&mut self, shared: &[SharedParticles]) -> Result<(), GpuError> {
        let gpu = self.gpu.clone();
        let border = self.border();
        border.sides.clear();
        for shared in shared {
            let mut side = HaloSide::new(&gpu)?;
            (side.shown, side.followed_ghosts) = (shared.own.len(), shared.ghosts.len());
            for (places, from) in [(&mut side.own, &shared.own), (&mut side.ghosts, &shared.ghosts)] {
                make_room(&gpu, places, from.len(), "domains")?;
                gpu.write_part(places, 0, from);
            }
            side.room = with_reserve(side.shown);
            border.sides.push(side);
        }
        self.rename_shared();
        Ok(())
    }

    fn body_forces(&self, host: &mut Populations) -> Result<Vec<u8>, GpuError> {
        self.local_member_forces(host)
    }

    fn take_body_forces(&self, host: &mut Populations, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        Ok(self.take_member_forces(host, messages)?)
    }

    fn send_servo_loads(&self, shared: &SharedServoLoads, rank: usize, ahead: u32) -> Result<bool, GpuError> {
        self.send_servo_words(shared, rank, ahead)
    }

    fn receive_servo_loads(&self, shared: &SharedServoLoads, rank: usize, ahead: u32) -> Result<(), GpuError> {
        self.receive_servo_words(shared, rank, ahead)
    }

    fn servo_load_message(&self) -> Result<Vec<u8>, GpuError> {
        self.message_with_servo_loads()
    }

    fn take_servo_loads(&self, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        Ok(self.sum_servo_messages(messages)?)
    }

    fn control_servos(&self, host: &Populations, ahead: u32) {
        self.control_servos_of(host, ahead & 1);
    }

    fn send_halt(&self, halts: &HaltFlags, rank: usize, ahead: u32) -> Result<bool, GpuError> {
        halts.send(&self.gpu, &self.flags, rank, ahead)
    }

    fn receive_halts(&self, halts: &HaltFlags, rank: usize, ahead: u32) -> Result<(), GpuError> {
        halts.receive(&self.gpu, &self.flags, rank, ahead)
    }

    fn requests_parts(&self, host: &Populations) -> bool {
        self.can_split(host)
    }

    fn split_steps(&mut self, splits: bool, pairs: Vec<Option<HaloPair>>) -> Result<(), GpuError> {
        self.list_parts(splits, pairs)
    }

    fn is_split(&self) -> bool {
        self.border.as_ref().is_some_and(|border| border.split.is_on())
    }

    fn finish_motion(&self, host: &Populations, ahead: u32) {
        self.launch_later_parts(host, ahead);
    }

    fn follow(&mut self, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        self.receive_ghost_positions(messages)
    }

    fn prepare(&mut self, host: &mut Populations, raised: u32) -> Result<(), GpuError> {
        self.count_rebuild(host);
        self.wrap_bodies(host)?;
        if self.kind.sides != OPEN {
            self.wrap_grains(host)?;
        }
        let leaving = raised & LEFT_DOMAIN != 0;
        if leaving {
            // Grains that migrate take their sums of power along, but those that leave the world do not.
            self.collect();
        }
        // A bond migrates with either of its grains, and a ghost may have left the world.
        self.remove_bonds(host)?;
        self.add_bond_work(host)?;
        if leaving {
            host.ledger.work.left_domain += self.energy_outside(host)?;
            self.remove_leaving_scalars(host)?;
        }
        // The GPU waits for what the host writes.
        if leaving {
            self.gpu.write(&self.cells.domain, &numbers::<C>(Self::domain_of(host, leaving)));
        }
        // It has been idle since the last step, and can begin while the host queues the search for grains that leave.
        self.gpu.submit_aside();
        let n = self.n;
        let border = self.border();
        (border.leaving, border.known) = (leaving, n);
        Ok(())
    }

    fn sample_positions(&mut self) -> Result<Vec<[f64; 3]>, GpuError> {
        let places = sampled(self.n);
        let sampled = places.len();
        self.gpu.write_part(&self.order, 0, &places);
        let gpu = self.gpu.clone();
        let border = self.border();
        border.parcel.packed.make_room(&gpu, sampled, &[])?;
        let parcel = &self.border.as_ref().expect("a domain has a border").parcel.packed;
        gpu.gather(&self.position[self.now], &self.order, sampled, RECORD, &parcel.coordinates);
        gpu.gather(self.member(), &self.order, sampled, 1, &parcel.words);
        let mut copies = gpu.copies();
        let position = copies.add(&parcel.coordinates, 0..RECORD * sampled);
        let member = copies.add(&parcel.words, 0..sampled);
        let arrived = copies.wait()?;
        let found = arrived.take(position);
        let places = found.chunks_exact(RECORD).zip(arrived.take(member));
        let own = places.filter(|(_, member)| is_owned(*member));
        Ok(own.map(|(place, _)| [0, 1, 2].map(|axis| place[axis].double())).collect())
    }

    fn send_migrating(
        &mut self,
        host: &Populations,
        own: &Block<f64>,
        others: &[Block<f64>],
        blocks_in_reach: Option<&[Block<f64>]>,
    ) -> Result<(u64, Vec<Vec<u8>>), HaltReason> {
        self.send_departing(host, own, others, blocks_in_reach)
    }

    fn receive_migrating(&mut self, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        for message in messages {
            let (mut message, first) = (&message[..], self.n);
            let count = self.unpacked(&mut message, None)?;
            self.border().staying += count;
            if count > 0 {
                let messages = [next_message(&mut message)?, next_message(&mut message)?];
                let of_shapes = match &self.shapes {
                    Some(_) => Some([next_message(&mut message)?, next_message(&mut message)?]),
                    None => None,
                };
                self.border().arrived.push(ArrivedHistories {
                    first,
                    count,
                    messages,
                    of_shapes,
                });
            }
        }
        Ok(())
    }

    fn owned_ids(&self) -> Result<Vec<u32>, GpuError> {
        let (ids, member) = self.ids_and_members()?;
        let own = ids.into_iter().zip(member).filter(|(_, member)| is_owned(*member));
        Ok(own.map(|(id, _)| id).collect())
    }

    fn ghosts_for(
        &mut self,
        host: &Populations,
        blocks_in_reach: &[Block<f64>],
        bonded: &HashSet<u32>,
        by_messages: bool,
    ) -> Result<(Vec<Vec<u8>>, Duration), GpuError> {
        self.select_ghosts(host, blocks_in_reach, bonded, by_messages)
    }

    fn list_with(&mut self, host: &mut Populations, messages: &[Vec<u8>]) -> Result<(), HaltReason> {
        let (ghosts, bounds) = self.append_all_ghosts(messages)?;
        let border = self.border();
        let (leaving, kept) = (border.leaving, border.staying + ghosts);
        // Where grains leave the world, the host has to ask how many.
        let is_known = !leaving && bounds.low[0] <= bounds.high[0];
        let known = is_known.then_some((bounds, kept));
        // It has been idle since the selection of ghosts, and can be busy while the host queues the sort, and then the search.
        self.gpu.submit_aside();
        self.sort(host, (leaving, true), known)?;
        self.rename_shared();
        self.gpu.submit_aside();
        self.list_neighbors(host)?;
        self.make_room_for_wall_flows()?;
        self.list_bonds_by_grain(host)?;
        for arrived in std::mem::take(&mut self.border().arrived) {
            self.restore_migrated_histories(&arrived, host.walls.contact_histories)?;
            self.restore_migrated_shapes(&arrived)?;
        }
        // The GPU works while the hosts wait for each other.
        self.gpu.submit();
        Ok(())
    }

    fn owned_count(&self) -> usize {
        self.owned_without_ghosts()
    }
}
