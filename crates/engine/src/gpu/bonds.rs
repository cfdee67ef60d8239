//! Bonds and loads on the GPU.

use super::{Number, OnGpu, doubles, numbers, sides};
use crate::bonds::Break;
use crate::simulation::Simulation;
use seixo_device::exclusive_scan;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_laws::bond::{BreakMode, GLUE};
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::bonds::{BOND, BROKEN, ENERGY, GONE, MADE};
use seixo_sweeps::kernels::bodies::find_places;
use seixo_sweeps::kernels::bonds::{
    self as kernels, BondPlan, HoldPlan, MODE_BITS, PULL, SECOND, find_ends, find_rows, hold_bonds, hold_grains, let_go,
};
use seixo_sweeps::views::RECORD;
use std::collections::{HashMap, HashSet};

/// Rows of bonds and their entries, what bonds left, and what they took of every grain.
type ToAddUp<'a, C, R> = (&'a Buffer<u32>, &'a Buffer<u32>, &'a Buffer<R>, &'a Buffer<C>);

/// Steps are counted up to here in what tells of breaks, and then anew.
const STEPS: u32 = u32::MAX >> MODE_BITS;

/// The bonds that hold, and their rows by seat: what a grain is called from when this was made until it is made anew.
struct Table<C, R> {
    seat: Buffer<u32>,
    place: Buffer<u32>,
    row: Buffer<u32>,
    /// The same by place: first entry and end.
    rows: Buffer<u32>,
    entries: Buffer<u32>,
    /// Of every bond, seats and places of its grains.
    seats_of_ends: Buffer<u32>,
    ends: Buffer<u32>,
    /// How it was made, see [`seixo_sweeps::bonds::MADE`].
    axis: Buffer<C>,
    bent: Buffer<C>,
    /// Its row of glue.
    kind: Buffer<u32>,
    /// Whether some grains may have been turned against each other when they were bonded.
    has_bent: bool,
    /// In which step and how it broke, and where and with what energy.
    broke: Buffer<u32>,
    broken: Buffer<C>,
    /// What it does to its grains.
    pull: Buffer<R>,
    /// Which bond of the host's table every bond is, in the order in which rows meet them; none where only loads act.
    bonds: Vec<u32>,
    /// What share of it is booked here: half of one to a grain of another domain.
    shares: Vec<f64>,
}

/// Bonds and loads, see [`hold_grains()`].
pub(super) struct Holding<C, R> {
    table: Table<C, R>,
    glue: Buffer<R>,
    /// Whether there are several kinds of bonds.
    several: bool,
    loads: Buffer<R>,
    loaded: bool,
    /// Orientations, in the order of the grains.
    turn: Buffer<C>,
    /// What bonds of every grain took since somebody looked \[W\].
    taken: Buffer<C>,
    /// What bonds take and loads give, booked by cube.
    pub(super) power: Buffer<C>,
    bonded: bool,
    /// Whether the world is divided, so that grains come and go: their places are their seats then, and the table is made anew with the lists.
    is_divided: bool,
}

impl<C: Number, R: Number> Table<C, R> {
    /// The bonds of the host between grains with these ids, whose places are their seats; copies of grains of other domains have no rows.
    fn new(gpu: &Gpu, host: &Simulation, ids: &[u32], is_copy: impl Fn(u32) -> bool) -> Result<Table<C, R>, GpuError> {
        let seats: Vec<u32> = (0..ids.len() as u32).collect();
        let places: HashMap<u32, u32> = ids.iter().copied().zip(0..).collect();
        let mut holding: Vec<([u32; 2], u32)> = Vec::new();
        if let Some(network) = &host.bonds {
            let found = |bond: usize| Some((network.places(bond, &places)?, bond as u32));
            holding.extend(network.all_holding().filter_map(found));
        }
        holding.sort_unstable_by_key(|&([i, j], bond)| (i.min(j), i.max(j), bond));
        let mut row = vec![0u32; ids.len() + 1];
        let with_rows = holding.iter().flat_map(|(ends, _)| ends).filter(|&&seat| !is_copy(seat));
        with_rows.for_each(|&seat| row[seat as usize] += 1);
        let mut entries = vec![0u32; exclusive_scan(&mut row) as usize];
        let mut next = row.clone();
        // Rows are in the order of the table or of ids, whatever the order of the grains, so that sums are the same after a saved state.
        let rank = |bond: u32| Some(host.bonds.as_deref()?.rank(bond as usize, host.settings.divisible));
        let mut order: Vec<usize> = (0..holding.len()).collect();
        order.sort_unstable_by_key(|&k| rank(holding[k].1));
        for k in order {
            let [first, second] = holding[k].0;
            let words = [(first, k as u32), (second, k as u32 | SECOND)];
            for (seat, word) in words.into_iter().filter(|(seat, _)| !is_copy(*seat)) {
                entries[next[seat as usize] as usize] = word;
                next[seat as usize] += 1;
            }
        }
        let seats_of_ends: Vec<u32> = holding.iter().flat_map(|(ends, _)| *ends).collect();
        let network = host.bonds.as_deref();
        let made = |numbers: std::ops::Range<usize>| {
            let table = network.map_or(&[][..], |network| &network.records[..]);
            let record = |&(_, bond): &([u32; 2], u32)| table[bond as usize * BOND..][numbers.clone()].to_vec();
            holding.iter().flat_map(record).collect::<Vec<f64>>()
        };
        let kind = |&(_, bond): &([u32; 2], u32)| network.map_or(0, |network| network.kind[bond as usize]);
        let share = |(ends, _): &([u32; 2], u32)| if ends.iter().any(|&seat| is_copy(seat)) { 0.5 } else { 1.0 };
        let bent = made(MADE / 2..MADE);
        // All parts of a divisible world run one kernel.
        let has_bent = host.settings.divisible || bent.chunks_exact(RECORD).any(|turn| turn != [1.0, 0.0, 0.0, 0.0]);
        // Buffers cannot be empty.
        let words = |values: &[u32]| gpu.upload(&[values, &[0, 0]].concat(), "bonds");
        Ok(Table {
            seat: gpu.upload(&seats, "bonds")?,
            place: gpu.upload(&seats, "bonds")?,
            row: words(&row)?,
            rows: words(&row.windows(2).flatten().copied().collect::<Vec<u32>>())?,
            entries: words(&entries)?,
            ends: words(&seats_of_ends)?,
            seats_of_ends: words(&seats_of_ends)?,
            axis: gpu.upload(&numbers::<C>(with_room(made(0..MADE / 2))), "bonds")?,
            // Where all stood alike, nobody reads it.
            bent: gpu.upload(&numbers::<C>(with_room(if has_bent { bent } else { Vec::new() })), "bonds")?,
            has_bent,
            pull: gpu.zeros(PULL * RECORD * (holding.len() + 1), "what bonds do")?,
            broke: gpu.zeros(holding.len() + 1, "bonds")?,
            kind: words(&holding.iter().map(kind).collect::<Vec<u32>>())?,
            broken: gpu.zeros(RECORD * (holding.len() + 1), "bonds")?,
            shares: holding.iter().map(share).collect(),
            bonds: holding.iter().map(|(_, bond)| *bond).collect(),
        })
    }
}

/// Numbers, and a record more, for buffers cannot be empty.
fn with_room(values: Vec<f64>) -> impl Iterator<Item = f64> {
    values.into_iter().chain([0.0; RECORD])
}

impl<C: Number, R: Number> Holding<C, R> {
    /// The bonds and loads of the host, if there are any, with room for so many grains.
    pub(super) fn new(gpu: &Gpu, host: &Simulation, room: usize, cubes: usize) -> Result<Option<Holding<C, R>>, GpuError> {
        if !host.is_bonded() && host.loads.is_empty() {
            return Ok(None);
        }
        let (fields, network, is_divided) = (&host.fields, host.bonds.as_deref(), host.has_ghosts);
        // Grains that come from other domains may be of groups that are not here yet.
        let groups = fields.group.iter().max().map_or(0, |&last| last + 1).max(host.loads.groups());
        // In a domain the table follows the lists.
        let seated = if is_divided { &[][..] } else { &fields.id[..] };
        let mut turn = numbers::<C>(fields.turn.iter().copied());
        turn.resize(if host.is_bonded() { RECORD * room } else { RECORD }, C::of(0.0));
        Ok(Some(Holding {
            table: Table::new(gpu, host, seated, |_| false)?,
            several: network.is_some_and(|network| network.glue.len() > GLUE),
            taken: gpu.zeros(room.next_multiple_of(RECORD), "the ledger")?,
            loaded: !host.loads.is_empty(),
            glue: gpu.upload(
                &numbers::<R>(with_room(network.map_or_else(Vec::new, |network| network.glue.clone()))),
                "bonds",
            )?,
            loads: gpu.upload(&numbers::<R>(with_room(host.loads.records(groups))), "loads")?,
            turn: gpu.upload(&turn, "orientations")?,
            power: gpu.zeros(2 * RECORD * cubes, "the ledger")?,
            bonded: host.is_bonded(),
            is_divided,
        }))
    }

    /// Makes room for so many grains, and so many cubes.
    pub(super) fn make_room_for(&mut self, gpu: &Gpu, room: usize, cubes: usize) -> Result<(), GpuError> {
        gpu.lengthen(&mut self.power, 2 * RECORD * cubes, "the ledger")?;
        if self.bonded {
            gpu.lengthen(&mut self.turn, RECORD * room, "orientations")?;
            gpu.lengthen(&mut self.taken, room, "the ledger")?;
        }
        Ok(())
    }

    /// Whether grains have seats, which go along with them when they are sorted.
    fn is_seated(&self) -> bool {
        self.bonded && !self.is_divided
    }

    /// Seats of the grains, where they have some.
    pub(super) fn seats(&mut self) -> Option<&mut Buffer<u32>> {
        self.is_seated().then_some(&mut self.table.seat)
    }

    /// Orientations, where there are any, which go along, too.
    pub(super) fn turns(&mut self) -> Option<&mut Buffer<C>> {
        self.bonded.then_some(&mut self.turn)
    }

    fn plan(&self, sides: u32) -> BondPlan {
        BondPlan {
            several: self.several,
            bent: self.table.has_bent,
            sides,
        }
    }

    /// Orientations, to be looked at.
    pub(super) fn orientations(&self) -> Option<&Buffer<C>> {
        self.bonded.then_some(&self.turn)
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// What the last kernel of a step is to add up, if it is.
    pub(super) fn bonds_to_add_up(&self) -> Option<ToAddUp<'_, C, R>> {
        let holding = self.holding.as_ref().filter(|holding| holding.bonded && !holding.loaded)?;
        Some((&holding.table.rows, &holding.table.entries, &holding.table.pull, &holding.taken))
    }

    /// Orientations, where there are any.
    pub(super) fn orientations(&self) -> Option<&Buffer<C>> {
        self.holding.as_ref().and_then(Holding::orientations)
    }

    /// Notes where the grains are in the new order.
    pub(super) fn find_seats(&self) {
        let Some(holding) = self.holding.as_ref().filter(|holding| holding.is_seated()) else {
            return;
        };
        let client = self.gpu.client();
        let (count, dim) = units(self.n);
        find_places::launch(
            client,
            count,
            dim,
            holding.table.seat.argument(),
            holding.table.place.argument(),
            self.n as u32,
        );
        let (count, dim) = units(2 * holding.table.bonds.len());
        find_ends::launch(
            client,
            count,
            dim,
            holding.table.seats_of_ends.argument(),
            holding.table.place.argument(),
            holding.table.ends.argument(),
            holding.table.bonds.len() as u32,
        );
        let (count, dim) = units(self.n);
        find_rows::launch(
            client,
            count,
            dim,
            holding.table.seat.argument(),
            holding.table.row.argument(),
            holding.table.rows.argument(),
            self.n as u32,
        );
    }

    /// What bonds and loads do, beside what walls did; nothing where there are none, or forces are known.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    pub(super) fn hold_grains(&self, host: &Simulation, parity: u32, books: bool) {
        let Some(holding) = self.holding.as_ref().filter(|_| !self.forces_known) else {
            return;
        };
        if !holding.table.bonds.is_empty() {
            // Small cubes fill the registers better.
            let (count, dim) = units_in_cubes_of(128, holding.table.bonds.len());
            // SAFETY: units beyond the number of bonds do nothing; all columns of bonds have a record for each, three of what they do; those that
            // hold name places below n at both ends, all fields have n records; kinds are rows of the table of glue; flags have all their words.
            unsafe {
                hold_bonds::launch_unchecked::<R, C>(
                    self.gpu.client(),
                    count,
                    dim,
                    holding.table.ends.argument(),
                    holding.table.axis.records(),
                    holding.table.bent.records(),
                    holding.table.kind.argument(),
                    holding.table.broke.argument(),
                    holding.table.broken.records(),
                    holding.glue.argument(),
                    self.position[self.now].records(),
                    self.velocity[self.now].records(),
                    self.spin[self.now].records(),
                    holding.turn.records(),
                    holding.table.pull.records(),
                    self.flags.argument(),
                    sides::<C, R>(&host.stepping.sides),
                    (host.steps % u64::from(STEPS)) as u32,
                    holding.table.bonds.len() as u32,
                    parity,
                    holding.plan(self.kind.sides),
                );
            }
        }
        if !holding.loaded && !books {
            // The last kernel of the step adds up what bonds left.
            return;
        }
        // As where forces are found: all parts of a divisible world run one kernel.
        let near_walls = self.walls.as_ref().filter(|near| near.entries > 0 || host.settings.divisible);
        let plan = HoldPlan {
            bonded: holding.bonded,
            loaded: holding.loaded,
            frictional: self.kind.frictional,
            walls: near_walls.is_some(),
            copies: self.has_members(),
        };
        let (count, dim) = units(self.n);
        // SAFETY: units beyond n do nothing; rows end at the number of entries, behind which there is one more that is read but not used; they
        // name bonds, each with three records; groups are rows of the loads; all fields have n records and members n words, those of rotation where it is read; flags have all their words, powers two
        // records for every cube.
        unsafe {
            hold_grains::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                holding.table.rows.argument(),
                holding.table.entries.argument(),
                holding.table.pull.records(),
                holding.taken.argument(),
                self.group.argument(),
                self.member().argument(),
                holding.loads.argument(),
                near_walls.map_or(&self.no_rows, |near| &near.row).argument(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                self.force.records(),
                self.torque.records(),
                self.flags.argument(),
                holding.power.records(),
                self.n as u32,
                parity,
                plan,
            );
        }
    }

    /// Lets bonds of grains outside of the domain go, and books what they take along.
    pub(super) fn let_bonds_go(&self, host: &mut Simulation) -> Result<(), GpuError> {
        let Some(holding) = self.holding.as_ref().filter(|holding| !holding.table.bonds.is_empty()) else {
            return Ok(());
        };
        let Some(domain) = host.domain.map(|domain| domain.open_corners().concat()) else {
            return Ok(());
        };
        self.gpu.write(&self.cells.domain, &numbers::<C>(domain));
        let (count, dim) = units(holding.table.bonds.len());
        let_go::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            holding.table.ends.argument(),
            holding.table.axis.records(),
            holding.table.bent.records(),
            holding.table.kind.argument(),
            holding.table.broke.argument(),
            holding.glue.argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            holding.turn.records(),
            holding.table.pull.records(),
            holding.table.broken.records(),
            self.cells.domain.argument(),
            sides::<C, R>(&host.stepping.sides),
            holding.table.bonds.len() as u32,
            holding.plan(self.kind.sides),
        );
        self.fetch_breaks(host, host.steps)
    }

    /// Books what bonds took of grains in steps that are done, for some grains are about to come or go.
    pub(super) fn book_what_bonds_took(&self, host: &mut Simulation) -> Result<(), GpuError> {
        let dt = host.stepping.dt;
        if let (Some(holding), Some(network)) = (self.holding.as_ref().filter(|holding| holding.bonded), &mut host.bonds) {
            let taken = self.gpu.download_part(&holding.taken, 0..self.n).wait()?;
            network.work.damping += dt * taken.iter().map(|&power| power.double()).sum::<f64>();
            self.gpu.clear(&holding.taken);
        }
        Ok(())
    }

    /// Lays the bonds of a domain out anew for grains and copies as they stand; those of which a grain is not here are marked as gone.
    pub(super) fn lay_bonds(&mut self, host: &mut Simulation) -> Result<(), GpuError> {
        if !self.holding.as_ref().is_some_and(|holding| holding.bonded && holding.is_divided) {
            return Ok(());
        }
        let (ids, member) = self.ids_and_members()?;
        let table = Table::new(&self.gpu, host, &ids, |place| is_ghost(member[place as usize]))?;
        if let Some(network) = &mut host.bonds
            && table.bonds.len() < network.holding()
        {
            let laid: HashSet<usize> = table.bonds.iter().map(|&bond| bond as usize).collect();
            let torn: Vec<usize> = network.all_holding().filter(|bond| !laid.contains(bond)).collect();
            torn.into_iter().for_each(|bond| network.records[bond * BOND + BROKEN] = GONE);
        }
        if let Some(holding) = &mut self.holding {
            holding.table = table;
        }
        Ok(())
    }

    /// Brings the host's table up to date with the bonds that broke in steps from `since` on.
    pub(super) fn fetch_breaks(&self, host: &mut Simulation, since: u64) -> Result<(), GpuError> {
        let Some(holding) = &self.holding else { return Ok(()) };
        let broke = self.gpu.download(&holding.table.broke)?;
        let (dt, Some(network)) = (host.stepping.dt, host.bonds.as_deref_mut()) else {
            return Ok(());
        };
        let is_new = |slot: &usize| broke[*slot] != 0 && network.records[holding.table.bonds[*slot] as usize * BOND + BROKEN] == 0.0;
        let new: Vec<u32> = (0..holding.table.bonds.len()).filter(is_new).map(|slot| slot as u32).collect();
        if new.is_empty() {
            return Ok(());
        }
        let order = self.gpu.upload(&new, "breaks")?;
        let records = self.gpu.buffer(RECORD * new.len(), "breaks")?;
        self.gpu.gather(&holding.table.broken, &order, new.len(), RECORD, &records);
        let records = doubles(&self.gpu.download(&records)?);
        let mut breaks: Vec<(u64, u32, BreakMode, f64, &[f64])> = Vec::new();
        for (&slot, record) in new.iter().zip(records.chunks_exact(RECORD)) {
            let (word, bond) = (broke[slot as usize], holding.table.bonds[slot as usize]);
            // Counted from one, and modulo what the word holds.
            let counted = (word >> MODE_BITS).wrapping_sub(1 + (since % u64::from(STEPS)) as u32) & STEPS;
            let (code, share) = (word & ((1 << MODE_BITS) - 1), holding.table.shares[slot as usize]);
            if code == kernels::GONE {
                network.records[bond as usize * BOND + BROKEN] = GONE;
                network.records[bond as usize * BOND + ENERGY] = 0.0;
                host.work.left_domain += share * record[3];
                continue;
            }
            network.records[bond as usize * BOND + BROKEN] = f64::from(code);
            network.records[bond as usize * BOND + ENERGY] = record[3];
            if let Some(mode) = BreakMode::of(f64::from(code)) {
                breaks.push((since + u64::from(counted), bond, mode, share, record));
            }
        }
        breaks.sort_unstable_by_key(|&(step, bond, ..)| (step, bond));
        for (step, bond, mode, share, record) in breaks {
            network.work.fracture += share * record[3];
            network.breaks.push(Break {
                time: step as f64 * dt,
                kind: network.kind[bond as usize],
                grains: network.ids(bond as usize),
                place: [record[0], record[1], record[2]],
                mode,
                energy: record[3],
            });
        }
        Ok(())
    }
}
