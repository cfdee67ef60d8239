//! Decomposition of fluids: each subdomain owns the fluid and wall particles in its block, and has ghosts of the particles within their reach.
//!
//! The blocks of fluids depend on fluids alone. All subdomains synchronize after the step of their grains and again after that of their fluids, so
//! the work of either is balanced separately. The neighbor lists of the two are rebuilt at different steps and have partitions of their own. Both
//! owners compute a pair across a border, and each adds half of its energies to the ledger. The pressure of a wall particle depends on all fluid near
//! it: its owner computes it and sends it to the others. On GPUs every subdomain that has the particle computes it, so that subdomains synchronize
//! only once a step; GPUs that reach each other do this without their hosts.

mod gpu;

use super::gpu::PeerExchange;
use super::load_balancing::LoadSample;
use super::partition::Partition;
use super::subdomain::{StepStatus, Subdomain, agree, balance, halt, places_by_id, sum_of_lists};
use super::work::Work;
use crate::exchange::{DecodeError, HaltReason, SharedParticles, encode, exchange, from_bytes, read, to_bytes};
use crate::fields::{FluidFields, Sorted};
use crate::flow::{Columns, Constraint, Flow, FluidReport, Halo, IterationError};
use crate::guard::StepError;
use crate::local_domain::LocalDomain;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::search::ListCounts;
use crate::state::State;
use crate::world::Vec3;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::layout::RECORD;
use seixo_transport::Transport;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Data of a subdomain about fluids, beside that of its grains.
pub struct FluidSubdomain {
    cuts: Partition,
    rank: usize,
    /// Fluid particles that exist in two subdomains.
    fluid: Vec<SharedParticles>,
    /// Likewise wall particles.
    walls: Vec<SharedParticles>,
    /// The halo exchange of subdomains on GPUs of this process, and the bytes that this one sent in the last steps.
    pub peer_exchange: Option<Arc<PeerExchange>>,
    pub halo_message: u64,
    /// Number of columns that it sent to other GPUs within steps.
    columns_sent: usize,
    /// Time in which it selected ghosts since the last observation.
    pub selecting: Duration,
    /// Work for its fluids.
    pub work: Work,
}

/// Ids of particles that migrate to another subdomain, and of those that arrive from there.
struct MigratedParticles {
    with: usize,
    sent: Vec<u32>,
    came: FluidFields,
}

/// Why neighbor lists of fluids are rebuilt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FluidRebuild {
    /// Something moved by half the skin; fluid outside the world is removed.
    Motion,
    /// The same, but fluid outside the world stays until the end of the step.
    MotionWithinStep,
    /// The step ends, and lists that were rebuilt in it have fluid outside the world.
    Loss,
}

/// Whether a particle with this id is a wall particle.
fn is_of_wall(id: u32) -> bool {
    id & WALL != 0
}

impl FluidSubdomain {
    /// Rebuilds the neighbor lists of fluids in all subdomains if one of them needs it, by its status, for this reason. Otherwise updates the ghosts.
    /// Returns how many particles migrated to other subdomains.
    pub fn go_on(
        &mut self,
        own: StepStatus,
        reason: FluidRebuild,
        failure: &mut Option<StepError>,
        local: &mut LocalDomain,
        transport: &mut dyn Transport,
    ) -> Result<u64, HaltReason> {
        match agree(transport, own)? {
            StepStatus::Failed => Err(halt(failure.take())),
            StepStatus::ListsOutOfDate | StepStatus::BodiesLeft => {
                if reason != FluidRebuild::Loss {
                    let flow = local.populations.flow.as_deref();
                    let lists = flow.map_or_else(ListCounts::default, Flow::list_counts);
                    tune_skin(lists, local, transport)?;
                }
                self.migrate(reason != FluidRebuild::MotionWithinStep, local, transport)
            }
            StepStatus::Fine => {
                let columns: Columns = |flow| {
                    vec![
                        &mut flow.fields.position,
                        &mut flow.fields.velocity_pressure,
                        &mut flow.fields.particle_velocity,
                    ]
                };
                exchange_simulation_columns(columns, &self.fluid, local, transport)?;
                Ok(0)
            }
        }
    }

    /// Sends the pressures of wall particles to the other subdomains.
    pub fn exchange_wall_pressures(&self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        exchange_simulation_columns(|flow| vec![&mut flow.fields.velocity_pressure], &self.walls, local, transport)
    }

    /// Sends the velocities of particles that drift through the flow to the other subdomains.
    pub fn exchange_particle_velocities(&self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        exchange_simulation_columns(|flow| vec![&mut flow.fields.particle_velocity], &self.fluid, local, transport)
    }

    /// Sends the velocities after forces, which neighbors smooth, to the other subdomains.
    pub fn exchange_driven_velocities(&self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let columns: Columns = |flow| flow.muller.iter_mut().map(|muller| &mut muller.driven).collect();
        exchange_simulation_columns(columns, &self.fluid, local, transport)
    }

    /// Sends the densities of Müller's solver to the other subdomains.
    pub fn exchange_densities(&self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let columns: Columns = |flow| flow.muller.iter_mut().map(|muller| &mut muller.dense).collect();
        exchange_simulation_columns(columns, &self.fluid, local, transport)
    }

    /// Solves for the pressures of incompressible fluids together with the other subdomains.
    pub fn project(&self, constraint: Constraint, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let mut others = NeighborSubdomains {
            shared: &self.fluid,
            transport,
        };
        local.populations.solve_pressures(constraint, &mut others)
    }

    /// Lists its own particles at their positions of the last rebuild, with ghosts.
    pub fn begin(&mut self, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let own = local.populations.with_flow(|flow, _| std::mem::take(&mut flow.fields));
        self.list(own, local, transport)
    }

    /// Migrates particles that moved into other blocks, and rebuilds the neighbor lists; with `takes_away`, removes fluid that left. Returns how many
    /// particles it sent.
    pub fn migrate(&mut self, takes_away: bool, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<u64, HaltReason> {
        let clock = Instant::now();
        let can_leave = takes_away && local.populations.context.domain_to_leave().is_some();
        let takes_energy = can_leave && local.populations.flow.as_ref().is_some_and(|flow| flow.pairs_hold_energy());
        if takes_energy {
            exchange_simulation_columns(|flow| vec![&mut flow.fields.position], &self.fluid, local, transport)?;
        }
        let (mut own, held) = local.populations.with_flow(|flow, local| {
            // The decrease of this sum over all domains is what pairs lose with the particles that are removed.
            let held = takes_energy.then(|| flow.pair_energy(&local.context.device));
            (flow.drop_ghosts_and_left(local, takes_away), held)
        });
        let of_fluid = own
            .id
            .iter()
            .zip(own.reference.chunks_exact(RECORD))
            .filter(|(id, _)| !is_of_wall(**id));
        let places: Vec<[f64; 3]> = of_fluid.map(|(_, place)| [place[0], place[1], place[2]]).collect();
        let load = self.work.load(places.len(), local.populations.context.steps);
        let sample = LoadSample::of(places.len(), &places).with_load(load);
        let (partners, _) = balance(&mut self.cuts, &sample, &mut self.work, transport)?;
        let owner: Vec<usize> = own.reference.chunks_exact(RECORD).map(|place| self.cuts.owner(place)).collect();
        if let Some(i) = owner.iter().position(|owner| *owner != self.rank && !partners.contains(owner)) {
            return Err(HaltReason::fluid_passed_through(own.id[i]));
        }
        let (swapped, _) = exchange_migrating(&own, &partners, |other, place| self.cuts.owner(place) == other, transport)?;
        let staying: Vec<u32> = (0..owner.len()).filter(|&i| owner[i] == self.rank).map(|i| i as u32).collect();
        own.reorder(&local.populations.context.device, &staying);
        swapped.iter().for_each(|swapped| own.append(&swapped.came));
        self.list(own, local, transport)?;
        local.populations.with_flow(|flow, local| {
            if let Some(held) = held {
                flow.left += held - flow.pair_energy(&local.context.device);
            }
        });
        self.work.rebuilt(clock.elapsed());
        Ok(swapped.iter().map(|swapped| swapped.sent.len() as u64).sum())
    }

    /// Lists its own particles at their positions of the last rebuild, with ghosts.
    fn list(&mut self, own: FluidFields, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
        let beside = self.cuts.beside(self.rank);
        let (swapped, spent) = exchange_migrating(&own, beside, |other, place| self.cuts.is_in_halo_of(other, place), transport)?;
        self.selecting += spent;
        let known: Vec<(usize, Vec<u32>, Vec<u32>)> = swapped
            .iter()
            .map(|swapped| (swapped.with, swapped.sent.clone(), swapped.came.id.clone()))
            .collect();
        let mut copies: Vec<FluidFields> = swapped.into_iter().map(|swapped| swapped.came).collect();
        let listed = local.populations.with_flow(|flow, local| {
            flow.list_with_ghosts(own, &mut copies, local);
            flow.fields.id.clone()
        });
        let places_of = places_by_id(&listed);
        let shared = |of_walls: bool| -> Vec<SharedParticles> {
            let chosen = |ids: &[u32]| {
                let ids = ids.iter().copied().filter(|id| is_of_wall(*id) == of_walls);
                places_of(&ids.collect::<Vec<u32>>())
            };
            let shared = known.iter().map(|(with, own, copies)| SharedParticles {
                with: *with,
                own: chosen(own),
                ghosts: chosen(copies),
            });
            shared.collect()
        };
        (self.fluid, self.walls) = (shared(false), shared(true));
        Ok(())
    }
}

/// Chooses the skin of the next lists of fluids by the counts of all subdomains.
fn tune_skin(own: ListCounts, local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
    let flow = local.populations.flow.as_deref_mut();
    if let Some(flow) = flow.filter(|flow| flow.skin_tuning.is_some()) {
        flow.tune_skin(&sum_of_lists(own, transport)?);
    }
    Ok(())
}

/// Sends the particles that are for each of these subdomains, and receives theirs. Also returns the time in which they were selected.
fn exchange_migrating(
    from: &FluidFields,
    others: &[usize],
    is_for: impl Fn(usize, &[f64]) -> bool,
    transport: &mut dyn Transport,
) -> Result<(Vec<MigratedParticles>, Duration), HaltReason> {
    let (mut sent, mut messages, mut spent) = (Vec::new(), Vec::new(), Duration::ZERO);
    for &with in others {
        let clock = Instant::now();
        let places = from.reference.chunks_exact(RECORD).zip(0..);
        let chosen: Vec<u32> = places.filter(|(place, _)| is_for(with, place)).map(|(_, i)| i).collect();
        spent += clock.elapsed();
        let picked = from.pick(&chosen);
        let mut state = State::default();
        picked.save(None, &mut state);
        messages.push(encode(&state));
        sent.push(picked.id);
    }
    let mut swapped = Vec::new();
    for ((received, sent), &with) in exchange(transport, others, messages)?.iter().zip(sent).zip(others) {
        let came = FluidFields::load(&read(received)?).map_err(|_| DecodeError)?;
        swapped.push(MigratedParticles { with, sent, came });
    }
    Ok((swapped, spent))
}

/// Receives the fluid forces on body boundary particles from all subdomains.
pub fn reduce_body_boundary_forces(local: &mut LocalDomain, transport: &mut dyn Transport) -> Result<(), HaltReason> {
    let Some(flow) = local.populations.flow.as_deref_mut() else {
        return Ok(());
    };
    if let Some(reported) = flow.body_boundary_message() {
        flow.apply_body_boundary_forces(&transport.gather(reported)?)?;
    }
    Ok(())
}

/// The neighbors of a subdomain: each has ghosts of the other's particles.
struct NeighborSubdomains<'a> {
    shared: &'a [SharedParticles],
    transport: &'a mut dyn Transport,
}

impl Halo for NeighborSubdomains<'_> {
    type Lost = HaltReason;

    fn exchange_columns(&mut self, flow: &mut Flow, columns: Columns) -> Result<(), HaltReason> {
        exchange_columns(columns, self.shared, flow, self.transport)
    }

    fn sum(&mut self, own: IterationError) -> Result<IterationError, HaltReason> {
        sum_of_errors(own, self.transport)
    }
}

/// The sum of the remaining errors of all subdomains.
fn sum_of_errors(own: IterationError, transport: &mut dyn Transport) -> Result<IterationError, HaltReason> {
    let mut sum = IterationError::default();
    for reported in transport.gather(own.bytes())? {
        sum = sum.plus(&IterationError::read(&reported).ok_or(DecodeError)?);
    }
    Ok(sum)
}

/// As [`exchange_columns()`], of a domain.
fn exchange_simulation_columns(
    columns: Columns,
    shared: &[SharedParticles],
    local: &mut LocalDomain,
    transport: &mut dyn Transport,
) -> Result<(), HaltReason> {
    let Some(flow) = local.populations.flow.as_deref_mut() else {
        return Ok(());
    };
    exchange_columns(columns, shared, flow, transport)
}

/// Sends these columns of the particles that are ghosts elsewhere, and receives those of its own ghosts. Empty columns are not sent.
fn exchange_columns(
    columns: Columns,
    shared: &[SharedParticles],
    flow: &mut Flow,
    transport: &mut dyn Transport,
) -> Result<(), HaltReason> {
    let mut columns = columns(flow);
    columns.retain(|column| !column.is_empty());
    for SharedParticles { with, own, .. } in shared.iter().filter(|shared| !shared.own.is_empty()) {
        let mut reported = Vec::with_capacity(own.len() * columns.len() * RECORD);
        for &i in own {
            columns
                .iter()
                .for_each(|column| reported.extend_from_slice(&column[i as usize * RECORD..][..RECORD]));
        }
        transport.send(*with, to_bytes(&reported))?;
    }
    for SharedParticles { with, ghosts: copies, .. } in shared.iter().filter(|shared| !shared.ghosts.is_empty()) {
        let reported = from_bytes(&transport.receive(*with)?)?;
        let numbers = columns.len() * RECORD;
        if reported.len() != copies.len() * numbers {
            return Err(DecodeError.into());
        }
        for (&i, records) in copies.iter().zip(reported.chunks_exact(numbers)) {
            for (column, record) in columns.iter_mut().zip(records.chunks_exact(RECORD)) {
                column[i as usize * RECORD..][..RECORD].copy_from_slice(record);
            }
        }
    }
    Ok(())
}

impl Populations {
    /// Partition of grains at these positions, and of fluids, into the requested number of subdomains; `None` if there are no particles.
    pub(crate) fn partition_all(&self, places: &[Vec3], on_gpus: bool) -> Result<Option<(Partition, Option<Partition>)>, WorldError> {
        let count = self.context.settings.domains;
        let of_fluids = self.partition_fluids(count, 0.0, on_gpus)?;
        let cuts = match &of_fluids {
            Some(cuts) if places.is_empty() => cuts.clone(),
            None if places.is_empty() => return Ok(None),
            _ => {
                let reach = self.longest_bond().max(2.0 * self.grains.cells.largest_radius()) + self.grains.cells.widest;
                match Partition::cut(places, count, reach, self.context.domain.as_ref()) {
                    // A few grains, such as those of floating bodies, are partitioned with the fluid.
                    Err(refusal) => self.partition_fluids(count, reach, on_gpus)?.ok_or(refusal)?,
                    Ok(cuts) => cuts,
                }
            }
        };
        Ok(Some((cuts, of_fluids)))
    }

    /// Blocks with equal numbers of fluid particles and a minimum width \[m\], if there are fluid or wall particles. On GPUs the width lets ghosts of
    /// walls have all fluid within their reach, unless walls have no pressures.
    pub(super) fn partition_fluids(&self, count: usize, at_least: f64, on_gpus: bool) -> Result<Option<Partition>, WorldError> {
        let Some(flow) = &self.flow else { return Ok(None) };
        let all = flow.fields.id.iter().zip(flow.fields.reference.as_chunks::<RECORD>().0);
        let places = |of_walls: bool| -> Vec<Vec3> {
            let chosen = all.clone().filter(|(id, _)| is_of_wall(**id) == of_walls);
            chosen.map(|(_, &[x, y, z, _])| [x, y, z]).collect()
        };
        let (fluid, walls) = (places(false), places(true));
        let places = if fluid.is_empty() { walls } else { fluid };
        if places.is_empty() {
            return Ok(None);
        }
        let reaches = if on_gpus && flow.compiled_for.bounded && flow.muller.is_none() {
            2.0
        } else {
            1.0
        };
        let reach = at_least.max(reaches * flow.reach_of_lists());
        Partition::cut(&places, count, reach, self.context.domain.as_ref()).map(Some)
    }

    /// Number of fluid particles in each of these blocks.
    pub(crate) fn fluid_in(&self, cuts: &Partition) -> Vec<usize> {
        let mut counts = vec![0; cuts.count()];
        let fields = self.flow.iter().map(|flow| &flow.fields);
        let places = fields.flat_map(|fields| fields.id.iter().zip(fields.reference.chunks_exact(RECORD)));
        let of_fluid = places.filter(|(id, _)| !is_of_wall(**id));
        of_fluid.for_each(|(_, place)| counts[cuts.owner(place)] += 1);
        counts
    }

    /// Gives a subdomain its own fluid and wall particles.
    pub(crate) fn share_fluids(&self, cuts: &Partition, rank: usize, domain: &mut Subdomain) -> Result<(), WorldError> {
        let Some(flow) = &self.flow else { return Ok(()) };
        let places = flow.fields.reference.chunks_exact(RECORD).zip(0..);
        let own: Vec<u32> = places.filter(|(place, _)| cuts.owner(place) == rank).map(|(_, i)| i).collect();
        let mut share = flow.share(flow.fields.pick(&own), &domain.local.populations.surroundings())?;
        share.reduce_body_boundary_forces(rank == 0);
        if rank == 0 {
            share.last = flow.last;
        }
        domain.local.populations.flow = Some(Box::new(share));
        domain.fluids = Some(FluidSubdomain {
            cuts: cuts.clone(),
            rank,
            fluid: Vec::new(),
            walls: Vec::new(),
            peer_exchange: None,
            halo_message: 0,
            columns_sent: 0,
            selecting: Duration::ZERO,
            work: Work::new(self.context.settings.load_balance, self.context.steps),
        });
        Ok(())
    }

    /// Gathers the fluids of all subdomains, and their ledgers.
    pub(crate) fn gather_fluids(&mut self, shares: Vec<FluidReport>) {
        self.with_flow(|flow, local| {
            flow.merge_reports(shares);
            flow.follow_bodies(local);
            flow.rebuild_lists(local);
        });
    }
}
