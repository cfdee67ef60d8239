//! Bonds and loads on the GPU.

use super::{Number, OnGpu, doubles, numbers, sides};
use crate::bonds::Break;
use crate::simulation::Simulation;
use seixo_device::exclusive_scan;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_laws::bond::{BreakMode, GLUE};
use seixo_sweeps::bonds::{BOND, BROKEN, ENERGY, GONE, MADE};
use seixo_sweeps::kernels::bodies::find_places;
use seixo_sweeps::kernels::bonds::{
    self as kernels, BondPlan, HoldPlan, MODE_BITS, PULL, SECOND, find_ends, find_rows, hold_bonds, hold_grains, let_go,
};
use seixo_sweeps::views::RECORD;
use std::collections::HashMap;

/// Rows of bonds and their entries, what bonds left, and what they took of every grain.
type ToAddUp<'a, C, R> = (&'a Buffer<u32>, &'a Buffer<u32>, &'a Buffer<R>, &'a Buffer<C>);

/// Steps are counted up to here in what tells of breaks, and then anew.
const STEPS: u32 = u32::MAX >> MODE_BITS;

/// The table of bonds and their rows by seat, see [`hold_grains()`], and the loads.
pub(super) struct Holding<C, R> {
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
    /// Its row of glue, and whether there are several.
    kind: Buffer<u32>,
    several: bool,
    /// Whether some grains were turned against each other when they were bonded.
    has_bent: bool,
    /// In which step and how it broke, and where and with what energy.
    broke: Buffer<u32>,
    broken: Buffer<C>,
    /// What it does to its grains.
    pull: Buffer<R>,
    glue: Buffer<R>,
    loads: Buffer<R>,
    loaded: bool,
    /// Orientations, in the order of the grains.
    turn: Buffer<C>,
    /// What bonds of every grain took since somebody looked \[W\].
    taken: Buffer<C>,
    /// What bonds take and loads give, booked by cube.
    pub(super) power: Buffer<C>,
    /// Which bond of the host's table every bond is, in the order in which rows meet them; none where only loads act.
    bonds: Vec<u32>,
    bonded: bool,
}

impl<C: Number, R: Number> Holding<C, R> {
    /// The bonds and loads of the host, if there are any.
    pub(super) fn new(gpu: &Gpu, host: &Simulation, cubes: usize) -> Result<Option<Holding<C, R>>, GpuError> {
        if !host.is_bonded() && host.loads.is_empty() {
            return Ok(None);
        }
        let (fields, n) = (&host.fields, host.fields.len());
        let groups = fields.group.iter().max().map_or(0, |&last| last + 1);
        let seats: Vec<u32> = (0..n as u32).collect();
        let places: HashMap<u32, u32> = fields.id.iter().copied().zip(0..).collect();
        let mut holding: Vec<([u32; 2], u32)> = Vec::new();
        if let Some(network) = &host.bonds {
            let found = |bond: usize| Some((network.places(bond, &places)?, bond as u32));
            holding.extend(network.all_holding().filter_map(found));
        }
        holding.sort_unstable_by_key(|&([i, j], bond)| (i.min(j), i.max(j), bond));
        let mut row = vec![0u32; n + 1];
        holding.iter().flat_map(|(ends, _)| ends).for_each(|&seat| row[seat as usize] += 1);
        let mut entries = vec![0u32; exclusive_scan(&mut row) as usize];
        let mut next = row.clone();
        // Rows are in the order of the table or of ids, whatever the order of the grains, so that sums are the same after a saved state.
        let rank = |bond: u32| Some(host.bonds.as_deref()?.rank(bond as usize, host.settings.divisible));
        let mut order: Vec<usize> = (0..holding.len()).collect();
        order.sort_unstable_by_key(|&k| rank(holding[k].1));
        for k in order {
            let [first, second] = holding[k].0;
            for (seat, word) in [(first, k as u32), (second, k as u32 | SECOND)] {
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
        let bent = made(MADE / 2..MADE);
        let has_bent = bent.chunks_exact(RECORD).any(|turn| turn != [1.0, 0.0, 0.0, 0.0]);
        // Buffers cannot be empty.
        let words = |values: &[u32]| gpu.upload(&[values, &[0, 0]].concat(), "bonds");
        let with_room = |values: Vec<f64>| values.into_iter().chain([0.0; RECORD]);
        Ok(Some(Holding {
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
            several: network.is_some_and(|network| network.glue.len() > GLUE),
            taken: gpu.zeros(n.next_multiple_of(RECORD), "the ledger")?,
            loaded: !host.loads.is_empty(),
            broken: gpu.zeros(RECORD * (holding.len() + 1), "bonds")?,
            glue: gpu.upload(
                &numbers::<R>(with_room(network.map_or_else(Vec::new, |network| network.glue.clone()))),
                "bonds",
            )?,
            loads: gpu.upload(&numbers::<R>(with_room(host.loads.records(groups))), "loads")?,
            turn: gpu.upload(&numbers::<C>(with_room(fields.turn.clone())), "orientations")?,
            power: gpu.zeros(2 * RECORD * cubes, "the ledger")?,
            bonds: holding.into_iter().map(|(_, bond)| bond).collect(),
            bonded: host.is_bonded(),
        }))
    }

    /// What grains are called, which goes along with them when they are sorted.
    pub(super) fn seats(&mut self) -> &mut Buffer<u32> {
        &mut self.seat
    }

    /// Orientations, where there are any, which go along, too.
    pub(super) fn turns(&mut self) -> Option<&mut Buffer<C>> {
        self.bonded.then_some(&mut self.turn)
    }

    fn plan(&self, sides: u32) -> BondPlan {
        BondPlan {
            several: self.several,
            bent: self.has_bent,
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
        Some((&holding.rows, &holding.entries, &holding.pull, &holding.taken))
    }

    /// Orientations, where there are any.
    pub(super) fn orientations(&self) -> Option<&Buffer<C>> {
        self.holding.as_ref().and_then(Holding::orientations)
    }

    /// Notes where the grains are in the new order.
    pub(super) fn find_seats(&self) {
        let Some(holding) = &self.holding else { return };
        let client = self.gpu.client();
        let (count, dim) = units(self.n);
        find_places::launch(client, count, dim, holding.seat.argument(), holding.place.argument(), self.n as u32);
        let (count, dim) = units(2 * holding.bonds.len());
        find_ends::launch(
            client,
            count,
            dim,
            holding.seats_of_ends.argument(),
            holding.place.argument(),
            holding.ends.argument(),
            holding.bonds.len() as u32,
        );
        let (count, dim) = units(self.n);
        find_rows::launch(
            client,
            count,
            dim,
            holding.seat.argument(),
            holding.row.argument(),
            holding.rows.argument(),
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
        if !holding.bonds.is_empty() {
            // Small cubes fill the registers better.
            let (count, dim) = units_in_cubes_of(128, holding.bonds.len());
            // SAFETY: units beyond the number of bonds do nothing; all columns of bonds have a record for each, three of what they do; those that
            // hold name places below n at both ends, all fields have n records; kinds are rows of the table of glue; flags have all their words.
            unsafe {
                hold_bonds::launch_unchecked::<R, C>(
                    self.gpu.client(),
                    count,
                    dim,
                    holding.ends.argument(),
                    holding.axis.records(),
                    holding.bent.records(),
                    holding.kind.argument(),
                    holding.broke.argument(),
                    holding.broken.records(),
                    holding.glue.argument(),
                    self.position[self.now].records(),
                    self.velocity[self.now].records(),
                    self.spin[self.now].records(),
                    holding.turn.records(),
                    holding.pull.records(),
                    self.flags.argument(),
                    sides::<C, R>(&host.stepping.sides),
                    (host.steps % u64::from(STEPS)) as u32,
                    holding.bonds.len() as u32,
                    parity,
                    holding.plan(self.kind.sides),
                );
            }
        }
        if !holding.loaded && !books {
            // The last kernel of the step adds up what bonds left.
            return;
        }
        let near_walls = self.walls.as_ref().filter(|near| near.entries > 0);
        let plan = HoldPlan {
            bonded: holding.bonded,
            loaded: holding.loaded,
            frictional: self.kind.frictional,
            walls: near_walls.is_some(),
        };
        let (count, dim) = units(self.n);
        // SAFETY: units beyond n do nothing; rows end at the number of entries, behind which there is one more that is read but not used; they
        // name bonds, each with three records; groups are rows of the loads; all fields have n records, those of rotation where it is read; flags have all their words, powers two
        // records for every cube.
        unsafe {
            hold_grains::launch_unchecked::<R, C>(
                self.gpu.client(),
                count,
                dim,
                holding.rows.argument(),
                holding.entries.argument(),
                holding.pull.records(),
                holding.taken.argument(),
                self.group.argument(),
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
        let Some(holding) = self.holding.as_ref().filter(|holding| !holding.bonds.is_empty()) else {
            return Ok(());
        };
        let Some(domain) = host.domain.map(|domain| domain.open_corners().concat()) else {
            return Ok(());
        };
        self.gpu.write(&self.cells.domain, &numbers::<C>(domain));
        let (count, dim) = units(holding.bonds.len());
        let_go::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            holding.ends.argument(),
            holding.axis.records(),
            holding.bent.records(),
            holding.kind.argument(),
            holding.broke.argument(),
            holding.glue.argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            holding.turn.records(),
            holding.pull.records(),
            holding.broken.records(),
            self.cells.domain.argument(),
            sides::<C, R>(&host.stepping.sides),
            holding.bonds.len() as u32,
            holding.plan(self.kind.sides),
        );
        self.fetch_breaks(host, host.steps)
    }

    /// Brings the host's table up to date with the bonds that broke in steps from `since` on.
    pub(super) fn fetch_breaks(&self, host: &mut Simulation, since: u64) -> Result<(), GpuError> {
        let Some(holding) = &self.holding else { return Ok(()) };
        let broke = self.gpu.download(&holding.broke)?;
        let (dt, Some(network)) = (host.stepping.dt, host.bonds.as_deref_mut()) else {
            return Ok(());
        };
        let is_new = |slot: &usize| broke[*slot] != 0 && network.records[holding.bonds[*slot] as usize * BOND + BROKEN] == 0.0;
        let new: Vec<u32> = (0..holding.bonds.len()).filter(is_new).map(|slot| slot as u32).collect();
        if new.is_empty() {
            return Ok(());
        }
        let order = self.gpu.upload(&new, "breaks")?;
        let records = self.gpu.buffer(RECORD * new.len(), "breaks")?;
        self.gpu.gather(&holding.broken, &order, new.len(), RECORD, &records);
        let records = doubles(&self.gpu.download(&records)?);
        let mut breaks: Vec<(u64, u32, BreakMode, &[f64])> = Vec::new();
        for (&slot, record) in new.iter().zip(records.chunks_exact(RECORD)) {
            let (word, bond) = (broke[slot as usize], holding.bonds[slot as usize]);
            // Counted from one, and modulo what the word holds.
            let counted = (word >> MODE_BITS).wrapping_sub(1 + (since % u64::from(STEPS)) as u32) & STEPS;
            let code = word & ((1 << MODE_BITS) - 1);
            if code == kernels::GONE {
                network.records[bond as usize * BOND + BROKEN] = GONE;
                host.work.left_domain += record[3];
                continue;
            }
            network.records[bond as usize * BOND + BROKEN] = f64::from(code);
            network.records[bond as usize * BOND + ENERGY] = record[3];
            if let Some(mode) = BreakMode::of(f64::from(code)) {
                breaks.push((since + u64::from(counted), bond, mode, record));
            }
        }
        breaks.sort_unstable_by_key(|&(step, bond, ..)| (step, bond));
        for (step, bond, mode, record) in breaks {
            network.work.fracture += record[3];
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
