//! Fluids that are divided among domains: each owns the particles of fluid and of walls that are in its block, and has copies of those of others that
//! these see.
//!
//! Blocks of fluids are cut by fluids alone. All domains wait for each other with their grains and then with their fluids, so each has about as much of
//! either to do; and lists of the two, which are renewed at different steps, have planes of their own. A pair across a border is computed by both
//! owners, and each books half. How a wall presses follows from all fluid before it: the owner of a particle of a wall finds that, and tells the others.
//! On GPUs all find it who have the particle, so that domains wait for each other but once a step.

mod on_gpu;

use super::cuts::Cuts;
use super::letters::{Illegible, exchange, from_bytes, letter, read, to_bytes};
use super::on_gpu::Desk;
use super::samples::Sample;
use super::subdomain::{Halt, Shared, Subdomain, Verdict, agree, balance, halt, places_by_id, verdict};
use crate::fields::{FluidFields, Sorted};
use crate::flow::{Columns, Constraint, Flow, Left, Others, Share};
use crate::guard::Stop;
use crate::refusal::Refusal;
use crate::simulation::{Pass, Simulation};
use crate::state::State;
use crate::world::{Solver, Vec3};
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::motion::{LEFT, STALE};
use seixo_sweeps::views::RECORD;
use seixo_transport::Transport;
use std::sync::Arc;

/// What a domain has of fluids, beside what its simulation knows.
pub struct SharedFluids {
    cuts: Cuts,
    rank: usize,
    /// Particles of fluid that are known in two domains.
    fluid: Vec<Shared>,
    /// Likewise those of walls.
    walls: Vec<Shared>,
    /// Where domains on GPUs of this process hand each other what these show, and the bytes that this one gave at the last step.
    pub desk: Option<Arc<Desk>>,
    pub handed: u64,
}

/// Particles that go to another domain, by their ids, and those that come from there.
struct Swapped {
    with: usize,
    sent: Vec<u32>,
    came: FluidFields,
}

/// Whether a particle with this id is one of a wall.
fn is_of_wall(id: u32) -> bool {
    id & WALL != 0
}

impl Halt {
    /// A particle of a fluid or a wall was faster than lists are renewed.
    pub fn fluid_passed_through(id: u32) -> Halt {
        Halt::Lost(format!(
            "particle {id} of a fluid or a wall went through a whole domain between two renewals of the lists; use fewer domains, or a shorter time \
             step"
        ))
    }

    /// Neither a particle of fluid nor one of a wall is left in a domain, nor near it.
    pub fn no_fluid() -> Halt {
        Halt::Lost("no fluid is left in a domain on a GPU, and no wall that bounds one; use fewer domains, or domains on the CPU, which may be empty".to_owned())
    }
}

impl SharedFluids {
    /// One step; returns how many particles went to other domains.
    pub fn step(&mut self, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<u64, Halt> {
        if simulation.flows_remotely() {
            return self.step_on_gpu(simulation, transport);
        }
        if simulation.solver_of_fluids() == Solver::Incompressible {
            return self.step_incompressible(simulation, transport);
        }
        let moved = simulation.move_fluids();
        let is_stale = raised(simulation) & (STALE | LEFT) != 0;
        let sent_away = self.go_on(moved, is_stale, true, simulation, transport)?;
        self.press_walls(simulation, transport)?;
        self.shift(simulation, transport)?;
        simulation.push_fluids();
        hear_of_hulls(simulation, transport)?;
        simulation.let_fluids_bear();
        Ok(sent_away)
    }

    fn step_incompressible(&mut self, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<u64, Halt> {
        self.press_walls(simulation, transport)?;
        simulation.pass(Pass::Fluids, Simulation::drag_fluids);
        self.project(Constraint::Density, simulation, transport)?;
        let moved = simulation.move_incompressible_fluids();
        let raised = raised(simulation);
        let sent_away = self.go_on(moved, raised & STALE != 0, false, simulation, transport)?;
        self.project(Constraint::Divergence, simulation, transport)?;
        hear_of_hulls(simulation, transport)?;
        simulation.let_incompressible_fluids_bear();
        Ok(sent_away + self.go_on(Ok(()), raised & LEFT != 0, true, simulation, transport)?)
    }

    /// Lists fluids anew in all domains if one asks for it, without fluid that left if that `takes_away`; else lets copies follow their originals.
    /// Returns how many particles went to other domains.
    fn go_on(
        &mut self,
        moved: Result<(), Stop>,
        is_stale: bool,
        takes_away: bool,
        simulation: &mut Simulation,
        transport: &mut dyn Transport,
    ) -> Result<u64, Halt> {
        match agree(transport, verdict(&moved, is_stale))? {
            Verdict::Failed => Err(halt(moved)),
            Verdict::Stale => self.settle_anew(takes_away, simulation, transport),
            Verdict::Fine => {
                let columns: Columns = |flow| vec![&mut flow.fields.position, &mut flow.fields.flow, &mut flow.fields.motion];
                tell_all(columns, &self.fluid, simulation, transport)?;
                Ok(0)
            }
        }
    }

    /// Finds how walls press, and tells the others.
    fn press_walls(&self, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<(), Halt> {
        simulation.pass(Pass::Boundaries, Simulation::press_boundaries);
        tell_all(|flow| vec![&mut flow.fields.flow], &self.walls, simulation, transport)
    }

    /// Finds with which velocities shifted particles go on, and tells the others.
    fn shift(&self, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<(), Halt> {
        if !simulation.shifts_fluids() {
            return Ok(());
        }
        simulation.pass(Pass::Fluids, Simulation::shift_fluids);
        tell_all(|flow| vec![&mut flow.fields.motion], &self.fluid, simulation, transport)
    }

    /// Finds pressures of incompressible fluids together with the others.
    fn project(&self, constraint: Constraint, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<(), Halt> {
        let mut others = Neighbors {
            shared: &self.fluid,
            transport,
        };
        let solved = simulation.pass(Pass::Fluids, |simulation| {
            simulation.with_flow(|flow, simulation| Some(flow.project(simulation, constraint, &mut others)))
        });
        solved.unwrap_or(Ok(()))
    }

    /// Lists what it owns as it was when lists were made, with copies.
    pub fn begin(&mut self, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<(), Halt> {
        let own = simulation.with_flow(|flow, _| std::mem::take(&mut flow.fields));
        self.list(own, simulation, transport)
    }

    /// Lets particles that went into other blocks change hands, and lists all anew, without fluid that left if that `takes_away`; returns how many it
    /// sent.
    fn settle_anew(&mut self, takes_away: bool, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<u64, Halt> {
        let mut own = simulation.with_flow(|flow, simulation| flow.settle_own(simulation, takes_away));
        let of_fluid = own
            .id
            .iter()
            .zip(own.reference.chunks_exact(RECORD))
            .filter(|(id, _)| !is_of_wall(**id));
        let places: Vec<[f64; 3]> = of_fluid.map(|(_, place)| [place[0], place[1], place[2]]).collect();
        let (partners, _) = balance(&mut self.cuts, &Sample::of(places.len(), &places), transport)?;
        let owner: Vec<usize> = own.reference.chunks_exact(RECORD).map(|place| self.cuts.owner(place)).collect();
        if let Some(i) = owner.iter().position(|owner| *owner != self.rank && !partners.contains(owner)) {
            return Err(Halt::fluid_passed_through(own.id[i]));
        }
        let swapped = swap(&own, &partners, |other, place| self.cuts.owner(place) == other, transport)?;
        let staying: Vec<u32> = (0..owner.len()).filter(|&i| owner[i] == self.rank).map(|i| i as u32).collect();
        own.reorder(&simulation.device, &staying);
        swapped.iter().for_each(|swapped| own.append(&swapped.came));
        self.list(own, simulation, transport)?;
        Ok(swapped.iter().map(|swapped| swapped.sent.len() as u64).sum())
    }

    /// Lists particles that it owns by where they were when lists were made, with copies of those of others.
    fn list(&mut self, own: FluidFields, simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<(), Halt> {
        let beside = self.cuts.beside(self.rank);
        let swapped = swap(&own, beside, |other, place| self.cuts.is_felt_in(other, place), transport)?;
        let known: Vec<(usize, Vec<u32>, Vec<u32>)> = swapped
            .iter()
            .map(|swapped| (swapped.with, swapped.sent.clone(), swapped.came.id.clone()))
            .collect();
        let mut copies: Vec<FluidFields> = swapped.into_iter().map(|swapped| swapped.came).collect();
        let listed = simulation.with_flow(|flow, simulation| {
            flow.list_with_copies(own, &mut copies, simulation);
            flow.fields.id.clone()
        });
        let places_of = places_by_id(&listed);
        let shared = |of_walls: bool| -> Vec<Shared> {
            let chosen = |ids: &[u32]| {
                let ids = ids.iter().copied().filter(|id| is_of_wall(*id) == of_walls);
                places_of(&ids.collect::<Vec<u32>>())
            };
            let shared = known.iter().map(|(with, own, copies)| Shared {
                with: *with,
                own: chosen(own),
                copies: chosen(copies),
            });
            shared.collect()
        };
        (self.fluid, self.walls) = (shared(false), shared(true));
        Ok(())
    }
}

/// Sends to each of these domains the particles that are for it, by their places, and takes in those that it sends.
fn swap(
    from: &FluidFields,
    others: &[usize],
    is_for: impl Fn(usize, &[f64]) -> bool,
    transport: &mut dyn Transport,
) -> Result<Vec<Swapped>, Halt> {
    let (mut sent, mut letters) = (Vec::new(), Vec::new());
    for &with in others {
        let places = from.reference.chunks_exact(RECORD).zip(0..);
        let chosen: Vec<u32> = places.filter(|(place, _)| is_for(with, place)).map(|(_, i)| i).collect();
        let picked = from.pick(&chosen);
        let mut state = State::default();
        picked.save(&mut state);
        letters.push(letter(&state));
        sent.push(picked.id);
    }
    let mut swapped = Vec::new();
    for ((received, sent), &with) in exchange(transport, others, letters)?.iter().zip(sent).zip(others) {
        let came = FluidFields::load(&read(received)?).map_err(|_| Illegible)?;
        swapped.push(Swapped { with, sent, came });
    }
    Ok(swapped)
}

/// Hears what fluids do to the particles of bodies in all domains.
fn hear_of_hulls(simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<(), Halt> {
    let Some(flow) = simulation.flow.as_deref_mut() else {
        return Ok(());
    };
    if let Some(told) = flow.tell_of_hulls() {
        flow.take_in_hulls(&transport.gather(told)?)?;
    }
    Ok(())
}

/// Flags that the last motion of fluids and walls raised.
fn raised(simulation: &Simulation) -> u32 {
    simulation.flow.as_ref().map_or(0, |flow| flow.flags())
}

/// Those beside a domain, who have copies of its fluid as it has of theirs.
struct Neighbors<'a> {
    shared: &'a [Shared],
    transport: &'a mut dyn Transport,
}

impl Others for Neighbors<'_> {
    type Lost = Halt;

    fn tell(&mut self, flow: &mut Flow, columns: Columns) -> Result<(), Halt> {
        tell(columns, self.shared, flow, self.transport)
    }

    fn sum(&mut self, own: Left) -> Result<Left, Halt> {
        let mut sum = Left::default();
        for told in self.transport.gather(own.bytes())? {
            sum = sum.plus(&Left::read(&told).ok_or(Illegible)?);
        }
        Ok(sum)
    }
}

/// As [`tell()`], of a simulation.
fn tell_all(columns: Columns, shared: &[Shared], simulation: &mut Simulation, transport: &mut dyn Transport) -> Result<(), Halt> {
    let Some(flow) = simulation.flow.as_deref_mut() else {
        return Ok(());
    };
    tell(columns, shared, flow, transport)
}

/// Tells others what stands in these columns of what they have copies of, and takes over what they tell. Columns that are empty are told of nowhere.
fn tell(columns: Columns, shared: &[Shared], flow: &mut Flow, transport: &mut dyn Transport) -> Result<(), Halt> {
    let mut columns = columns(flow);
    columns.retain(|column| !column.is_empty());
    for Shared { with, own, .. } in shared.iter().filter(|shared| !shared.own.is_empty()) {
        let mut told = Vec::with_capacity(own.len() * columns.len() * RECORD);
        for &i in own {
            columns
                .iter()
                .for_each(|column| told.extend_from_slice(&column[i as usize * RECORD..][..RECORD]));
        }
        transport.send(*with, to_bytes(&told))?;
    }
    for Shared { with, copies, .. } in shared.iter().filter(|shared| !shared.copies.is_empty()) {
        let told = from_bytes(&transport.receive(*with)?)?;
        let numbers = columns.len() * RECORD;
        if told.len() != copies.len() * numbers {
            return Err(Illegible.into());
        }
        for (&i, records) in copies.iter().zip(told.chunks_exact(numbers)) {
            for (column, record) in columns.iter_mut().zip(records.chunks_exact(RECORD)) {
                column[i as usize * RECORD..][..RECORD].copy_from_slice(record);
            }
        }
    }
    Ok(())
}

impl Simulation {
    /// Why fluids cannot be divided, if they cannot.
    pub(super) fn why_fluids_are_whole(&self) -> Option<&'static str> {
        self.flow.as_ref().and_then(|flow| flow.why_whole(self.domain.as_ref()))
    }

    /// How grains at these places, and fluids, are cut for as many domains as are asked for; not at all where there is neither, or where the simulation
    /// `goes_on` and few are left of what was divided, or come first, which do not fill these domains. What divisions ask for makes that the same to the bit in one domain.
    pub(super) fn cut_what_is_there(
        &mut self,
        places: &[Vec3],
        on_gpus: bool,
        goes_on: bool,
    ) -> Result<Option<(Cuts, Option<Cuts>)>, Refusal> {
        let cuts = self.cut_all(places, on_gpus);
        if !matches!(cuts, Err(Refusal::Division(_))) || !goes_on {
            return cuts;
        }
        let notice = format!(
            "what grains and fluids there are does not fill {} domains: it goes on in one",
            self.settings.domains
        );
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
        Ok(None)
    }

    /// How grains at these places, and fluids, are cut for as many domains as are asked for; not at all where there is neither.
    fn cut_all(&self, places: &[Vec3], on_gpus: bool) -> Result<Option<(Cuts, Option<Cuts>)>, Refusal> {
        let count = self.settings.domains;
        let of_fluids = self.cut_fluids(count, 0.0, on_gpus)?;
        let cuts = match &of_fluids {
            Some(cuts) if places.is_empty() => cuts.clone(),
            None if places.is_empty() => return Ok(None),
            _ => {
                let reach = self.longest_bond().max(2.0 * self.cells.largest_radius()) + self.cells.skin;
                match Cuts::cut(places, count, reach, self.domain.as_ref()) {
                    // Few grains, such as those of bodies that float, stand where the fluid does.
                    Err(refusal) if !on_gpus => self.cut_fluids(count, reach, false)?.ok_or(refusal)?,
                    Err(refusal) => return Err(refusal),
                    Ok(cuts) => cuts,
                }
            }
        };
        Ok(Some((cuts, of_fluids)))
    }

    /// So many blocks with equally much fluid in each, if anything flows or bounds what flowed, and at least so wide \[m\]; on GPUs so wide that copies of
    /// walls see all the fluid that the walls see.
    pub(super) fn cut_fluids(&self, count: usize, at_least: f64, on_gpus: bool) -> Result<Option<Cuts>, Refusal> {
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
        let reaches = if on_gpus && flow.compiled_for.bounded { 2.0 } else { 1.0 };
        let reach = at_least.max(reaches * (flow.plan.support + flow.cells.skin));
        Cuts::cut(&places, count, reach, self.domain.as_ref()).map(Some)
    }

    /// Particles of fluid in each of these blocks.
    pub(super) fn fluid_in(&self, cuts: &Cuts) -> Vec<usize> {
        let mut counts = vec![0; cuts.count()];
        let fields = self.flow.iter().map(|flow| &flow.fields);
        let places = fields.flat_map(|fields| fields.id.iter().zip(fields.reference.chunks_exact(RECORD)));
        let of_fluid = places.filter(|(id, _)| !is_of_wall(**id));
        of_fluid.for_each(|(_, place)| counts[cuts.owner(place)] += 1);
        counts
    }

    /// Gives a domain what it owns of fluids.
    pub(super) fn share_fluids(&self, cuts: &Cuts, rank: usize, domain: &mut Subdomain) -> Result<(), Refusal> {
        let Some(flow) = &self.flow else { return Ok(()) };
        let places = flow.fields.reference.chunks_exact(RECORD).zip(0..);
        let own: Vec<u32> = places.filter(|(place, _)| cuts.owner(place) == rank).map(|(_, i)| i).collect();
        let mut share = flow.share(flow.fields.pick(&own), &domain.simulation)?;
        share.hear_of_hulls(rank == 0);
        if rank == 0 {
            share.last = flow.last;
        }
        domain.simulation.flow = Some(Box::new(share));
        domain.fluids = Some(SharedFluids {
            cuts: cuts.clone(),
            rank,
            fluid: Vec::new(),
            walls: Vec::new(),
            desk: None,
            handed: 0,
        });
        Ok(())
    }

    /// Takes over the fluids of all domains, and what was booked there.
    pub(super) fn take_over_fluids(&mut self, shares: Vec<Share>) {
        self.with_flow(|flow, simulation| {
            flow.take_shares(shares);
            flow.follow_bodies(simulation);
            flow.list_anew(simulation);
        });
    }
}
