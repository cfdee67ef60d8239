//! Bonds and loads on the GPU.

use super::step::BATCH;
use super::transfer::kept_records;
use super::{GpuGrains, Number, doubles, numbers, sides};
use crate::bonds::{BondBreak, BondNetwork};
use crate::fields::GIVEN_LOAD;
use crate::populations::Populations;
use seixo_device::exclusive_scan;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_laws::bond::{BOND_PARAMETERS, BreakMode};
use seixo_sweeps::bodies::is_ghost;
use seixo_sweeps::bonds::{BOND, BOND_REFERENCE, BROKEN, ENERGY, REMOVED};
use seixo_sweeps::kernels::bodies::find_places;
use seixo_sweeps::kernels::bonds::{
    self as kernels, BOND_FORCE, BondKernelConfig, BondPlan, MODE_BITS, SECOND_GRAIN, bond_forces_on_grains, evaluate_bonds, find_ends,
    find_rows, let_go,
};
use seixo_sweeps::layout::RECORD;
use std::collections::{HashMap, HashSet};

/// Rows of bonds and their entries, the forces that bonds stored, and the damping power of the bonds of each grain.
type ToAddUp<'a, C, R> = (&'a Buffer<u32>, &'a Buffer<u32>, &'a Buffer<R>, &'a Buffer<C>);

/// Largest count of steps in the word of a bond break; behind it the count starts at zero.
const STEPS: u32 = u32::MAX >> MODE_BITS;

/// The intact bonds, and their rows by seat. A seat is the fixed index of a grain from one build of this table to the next.
struct Table<C, R> {
    body_index: Buffer<u32>,
    place: Buffer<u32>,
    row: Buffer<u32>,
    /// Rows by the current index of the grain: first entry and end.
    rows: Buffer<u32>,
    entries: Buffer<u32>,
    /// Seats and current indices of the two grains of each bond.
    seats_of_ends: Buffer<u32>,
    ends: Buffer<u32>,
    /// Reference state of each bond, see [`seixo_sweeps::bonds::BOND_REFERENCE`].
    axis: Buffer<C>,
    bent: Buffer<C>,
    /// Where each bond ends beside the centers of its grains, see [`seixo_sweeps::bonds::ATTACHMENT`]; not read if bonds end at centers.
    attachments: Buffer<C>,
    /// Row of each bond in the table of bond parameters.
    kind: Buffer<u32>,
    /// Whether some grains may have been rotated relative to each other when they were bonded.
    has_bent: bool,
    /// Step and mode of the break of each bond; then position and energy of the break.
    broke: Buffer<u32>,
    broken: Buffer<C>,
    /// Forces and torques of each bond on its grains.
    pull: Buffer<R>,
    /// Index of each bond in the host's table, in the order to which rows refer. Empty if there are only loads.
    bonds: Vec<u32>,
    /// Share of each bond in the ledger of this subdomain: half if one of its grains is a ghost.
    shares: Vec<f64>,
}

/// Bonds and loads, see [`bond_forces_on_grains()`].
pub(super) struct GpuBonds<C, R> {
    table: Table<C, R>,
    bond_parameters: Buffer<R>,
    /// Whether there are several kinds of bonds.
    several: bool,
    /// Whether bonds have attachments: there are shapes of polyhedral grains.
    attached: bool,
    /// Loads of the groups, for each step of a batch if some depend on time.
    loads: Buffer<R>,
    /// Number of groups if loads depend on time, otherwise zero.
    loads_per_step: u32,
    loaded: bool,
    /// Forces and torques that single grains were given, in the order of the grains; without rotation the torques are one record.
    given_loads: Option<[Buffer<C>; 2]>,
    /// Orientations, in the order of the grains.
    orientation: Buffer<C>,
    /// Damping power of the bonds of each grain, summed since the last download \[W\].
    taken: Buffer<C>,
    /// Power of damping in bonds and of loads, one sum for each block.
    pub(super) power: Buffer<C>,
    bonded: bool,
    /// Whether there are several subdomains, so that grains migrate. Then the current indices are the seats, and the table is rebuilt with the lists.
    is_decomposed: bool,
}

impl<C: Number, R: Number> Table<C, R> {
    /// Table of the host's bonds between the grains with these ids, whose indices are their seats. Ghost particles have no rows.
    fn new(gpu: &Gpu, host: &Populations, ids: &[u32], is_copy: impl Fn(u32) -> bool) -> Result<Table<C, R>, GpuError> {
        let seats: Vec<u32> = (0..ids.len() as u32).collect();
        let places: HashMap<u32, u32> = ids.iter().copied().zip(0..).collect();
        let mut holding: Vec<([u32; 2], u32)> = Vec::new();
        if let Some(network) = &host.bonds {
            let found = |bond: usize| Some((network.places(bond, &places)?, bond as u32));
            holding.extend(network.intact_bonds().filter_map(found));
        }
        holding.sort_unstable_by_key(|&([i, j], bond)| (i.min(j), i.max(j), bond));
        let mut row = vec![0u32; ids.len() + 1];
        let with_rows = holding
            .iter()
            .flat_map(|(ends, _)| ends)
            .filter(|&&body_index| !is_copy(body_index));
        with_rows.for_each(|&body_index| row[body_index as usize] += 1);
        let mut entries = vec![0u32; exclusive_scan(&mut row) as usize];
        let mut next = row.clone();
        // Rows are in the order of the table or of ids, whatever the order of the grains. So sums are the same after a restart from a checkpoint.
        let rank = |bond: u32| {
            Some(
                host.bonds
                    .as_deref()?
                    .rank(bond as usize, host.context.settings.decomposition_invariant),
            )
        };
        let mut order: Vec<usize> = (0..holding.len()).collect();
        order.sort_unstable_by_key(|&k| rank(holding[k].1));
        for k in order {
            let [first, second] = holding[k].0;
            let words = [(first, k as u32), (second, k as u32 | SECOND_GRAIN)];
            for (body_index, word) in words.into_iter().filter(|(body_index, _)| !is_copy(*body_index)) {
                entries[next[body_index as usize] as usize] = word;
                next[body_index as usize] += 1;
            }
        }
        let seats_of_ends: Vec<u32> = holding.iter().flat_map(|(ends, _)| *ends).collect();
        let network = host.bonds.as_deref();
        let made = |numbers: std::ops::Range<usize>| {
            let table = network.map_or(&[][..], |network| &network.records[..]);
            let record = |&(_, bond): &([u32; 2], u32)| table[bond as usize * BOND..][numbers.clone()].to_vec();
            holding.iter().flat_map(record).collect::<Vec<f64>>()
        };
        let kind = |&(_, bond): &([u32; 2], u32)| network.map_or(0, |network| network.parameter_row[bond as usize]);
        let share = |(ends, _): &([u32; 2], u32)| {
            if ends.iter().any(|&body_index| is_copy(body_index)) {
                0.5
            } else {
                1.0
            }
        };
        let attachment = |&(_, bond): &([u32; 2], u32)| network.and_then(|network| network.attachment(bond as usize));
        let attachments: Vec<f64> = holding.iter().filter_map(attachment).flatten().copied().collect();
        let bent = made(BOND_REFERENCE / 2..BOND_REFERENCE);
        // All subdomains of a decomposition-invariant run use one kernel.
        let has_bent = host.context.settings.decomposition_invariant
            || bent.chunks_exact(RECORD).any(|orientation| orientation != [1.0, 0.0, 0.0, 0.0]);
        // Buffers cannot be empty.
        let words = |values: &[u32]| gpu.upload(&[values, &[0, 0]].concat(), "bonds");
        Ok(Table {
            body_index: gpu.upload(&seats, "bonds")?,
            place: gpu.upload(&seats, "bonds")?,
            row: words(&row)?,
            rows: words(&row.windows(2).flatten().copied().collect::<Vec<u32>>())?,
            entries: words(&entries)?,
            ends: words(&seats_of_ends)?,
            seats_of_ends: words(&seats_of_ends)?,
            axis: gpu.upload(&numbers::<C>(with_room(made(0..BOND_REFERENCE / 2))), "bonds")?,
            // Not read if no bond has a relative rotation.
            bent: gpu.upload(&numbers::<C>(with_room(if has_bent { bent } else { Vec::new() })), "bonds")?,
            attachments: gpu.upload(&numbers::<C>(with_room(attachments)), "bonds")?,
            has_bent,
            pull: gpu.zeros(BOND_FORCE * RECORD * (holding.len() + 1), "what bonds do")?,
            broke: gpu.zeros(holding.len() + 1, "bonds")?,
            kind: words(&holding.iter().map(kind).collect::<Vec<u32>>())?,
            broken: gpu.zeros(RECORD * (holding.len() + 1), "bonds")?,
            shares: holding.iter().map(share).collect(),
            bonds: holding.iter().map(|(_, bond)| *bond).collect(),
        })
    }
}

/// Records of the forces or torques that grains were given, from the number `first` of each load on.
fn given_records<C: Number>(host: &Populations, first: usize) -> Vec<C> {
    let loads = host.grains.fields.given_load.chunks_exact(GIVEN_LOAD);
    numbers(loads.flat_map(|load| [load[first], load[first + 1], load[first + 2], 0.0]))
}

/// These numbers and one more record, as buffers cannot be empty.
fn with_room(values: Vec<f64>) -> impl Iterator<Item = f64> {
    values.into_iter().chain([0.0; RECORD])
}

/// Loads of groups in some steps, and one more record, as buffers cannot be empty.
fn loads_from(host: &Populations, groups: u32, first: u64, steps: usize) -> Vec<f64> {
    let time = |step: u64| step as f64 * host.context.stepping.dt;
    let in_steps = (first..first + steps as u64).flat_map(|step| host.loads.records(groups, time(step)));
    with_room(in_steps.collect()).collect()
}

impl<C: Number, R: Number> GpuBonds<C, R> {
    /// Bonds and loads of the host, with room for this many grains and blocks. `None` if there are neither.
    pub(super) fn new(gpu: &Gpu, host: &Populations, room: usize, cubes: usize) -> Result<Option<GpuBonds<C, R>>, GpuError> {
        if !host.is_bonded() && host.loads.is_empty() {
            return Ok(None);
        }
        let (fields, network, is_decomposed) = (&host.grains.fields, host.bonds.as_deref(), host.grains.has_ghosts);
        // Grains that migrate here may belong to groups that are not here yet.
        let groups = fields.group.iter().max().map_or(0, |&last| last + 1).max(host.loads.groups());
        let steps_of_loads = if host.has_loads_of_time() { BATCH } else { 1 };
        // In a subdomain the table is rebuilt with the lists.
        let seated = if is_decomposed { &[][..] } else { &fields.id[..] };
        let mut orientation = numbers::<C>(fields.orientation.iter().copied());
        orientation.resize(if host.is_bonded() { RECORD * room } else { RECORD }, C::of(0.0));
        let turning = if host.context.materials.has_friction { room } else { 1 };
        let given = |first: usize, room: usize| {
            let mut records = given_records::<C>(host, first);
            records.resize(RECORD * room, C::of(0.0));
            gpu.upload(&records, "loads of grains")
        };
        let given_loads = if host.loads.act_on_single_grains() {
            Some([given(0, room)?, given(3, turning)?])
        } else {
            None
        };
        Ok(Some(GpuBonds {
            table: Table::new(gpu, host, seated, |_| false)?,
            several: network.is_some_and(|network| network.bond_parameters.len() > BOND_PARAMETERS),
            attached: network.is_some_and(BondNetwork::has_attachments),
            taken: gpu.zeros(room.next_multiple_of(RECORD), "the ledger")?,
            loaded: !host.loads.is_empty(),
            given_loads,
            bond_parameters: gpu.upload(
                &numbers::<R>(with_room(network.map_or_else(Vec::new, |network| network.bond_parameters.clone()))),
                "bonds",
            )?,
            loads: gpu.upload(&numbers::<R>(loads_from(host, groups, host.context.steps, steps_of_loads)), "loads")?,
            loads_per_step: if steps_of_loads > 1 { groups } else { 0 },
            orientation: gpu.upload(&orientation, "orientations")?,
            power: gpu.zeros(2 * RECORD * cubes, "the ledger")?,
            bonded: host.is_bonded(),
            is_decomposed,
        }))
    }

    /// Makes room for this many grains and blocks.
    pub(super) fn make_room_for(&mut self, gpu: &Gpu, room: usize, cubes: usize) -> Result<(), GpuError> {
        gpu.lengthen(&mut self.power, 2 * RECORD * cubes, "the ledger")?;
        if self.bonded {
            gpu.lengthen(&mut self.orientation, RECORD * room, "orientations")?;
            gpu.lengthen(&mut self.taken, room, "the ledger")?;
        }
        let turning = self.given_loads.as_ref().is_some_and(|[force, torque]| force.len() == torque.len());
        for column in self.given_loads_to_sort(turning) {
            gpu.lengthen(column, RECORD * room, "loads of grains")?;
        }
        Ok(())
    }

    /// Forces and, with rotation, torques that single grains were given, which are sorted with the grains.
    pub(super) fn given_loads_to_sort(&mut self, turning: bool) -> impl Iterator<Item = &mut Buffer<C>> {
        self.given_loads
            .iter_mut()
            .flat_map(move |columns| columns.iter_mut().take(1 + usize::from(turning)))
    }

    /// Whether grains have seats, which are sorted with them.
    fn is_seated(&self) -> bool {
        self.bonded && !self.is_decomposed
    }

    /// Seats of the grains, if they have some.
    pub(super) fn seats(&mut self) -> Option<&mut Buffer<u32>> {
        self.is_seated().then_some(&mut self.table.body_index)
    }

    /// Orientations, which are sorted with the grains, if there are any.
    pub(super) fn orientations_to_sort(&mut self) -> Option<&mut Buffer<C>> {
        self.bonded.then_some(&mut self.orientation)
    }

    fn plan(&self, sides: u32) -> BondPlan {
        BondPlan {
            several: self.several,
            bent: self.table.has_bent,
            attached: self.attached,
            sides,
        }
    }

    /// Orientations, read-only.
    pub(super) fn orientations(&self) -> Option<&Buffer<C>> {
        self.bonded.then_some(&self.orientation)
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Bond forces that the last kernel of a step adds up, if it does. Polyhedral grains need the sum of all forces before.
    pub(super) fn bonds_to_add_up(&self) -> Option<ToAddUp<'_, C, R>> {
        let are_spheres = self.shapes.is_none();
        let holding = self
            .holding
            .as_ref()
            .filter(|holding| are_spheres && holding.bonded && !holding.loaded)?;
        Some((&holding.table.rows, &holding.table.entries, &holding.table.pull, &holding.taken))
    }

    /// Orientations, if there are any. Those of bonded grains serve polyhedral grains, too.
    pub(super) fn orientations(&self) -> Option<&Buffer<C>> {
        let of_shapes = self.shapes.as_ref().and_then(|shapes| shapes.orientation.as_ref());
        self.holding.as_ref().and_then(GpuBonds::orientations).or(of_shapes)
    }

    /// Forces and, with rotation, torques that single grains were given.
    pub(super) fn given_loads(&self) -> impl Iterator<Item = &Buffer<C>> {
        let columns = self.holding.as_ref().and_then(|holding| holding.given_loads.as_ref());
        columns.into_iter().flatten().take(1 + usize::from(self.kind.frictional))
    }

    /// Whether single grains were given loads.
    pub(super) fn has_given_loads(&self) -> bool {
        self.given_loads().next().is_some()
    }

    /// Writes the given loads of the host, whose order is that of the grains here, and the forces and velocities that belong to them.
    pub(super) fn write_given_loads(&self, host: &Populations) {
        let (gpu, fields) = (&self.gpu, &host.grains.fields);
        for (column, first) in self.given_loads().zip([0, 3]) {
            gpu.write_part(column, 0, &given_records::<C>(host, first));
        }
        gpu.write_part(&self.force, 0, &numbers::<R>(fields.force.iter().copied()));
        gpu.write_part(
            &self.half_velocity,
            0,
            &kept_records::<C, R>(&fields.half_velocity, &fields.velocity),
        );
        if self.kind.frictional {
            gpu.write_part(&self.torque, 0, &numbers::<R>(fields.torque.iter().copied()));
            gpu.write_part(&self.half_spin, 0, &kept_records::<C, R>(&fields.half_spin, &fields.spin));
        }
    }

    /// Records the new indices of the grains after a sort.
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
            holding.table.body_index.argument(),
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
            holding.table.body_index.argument(),
            holding.table.row.argument(),
            holding.table.rows.argument(),
            self.n as u32,
        );
    }

    /// Adds forces of bonds and loads to those of walls. Does nothing without bonds and loads, or if the forces are up to date.
    #[expect(
        unsafe_code,
        reason = "unchecked launches: the step's own kernels are compiled without bounds checks"
    )]
    pub(super) fn bond_forces(&self, host: &Populations, parity: u32, ledger: bool) {
        let Some(holding) = self.holding.as_ref().filter(|_| !self.forces_known) else {
            return;
        };
        if !holding.table.bonds.is_empty() {
            // Small blocks use the registers better.
            let (count, dim) = units_in_cubes_of(128, holding.table.bonds.len());
            // SAFETY: threads beyond the number of bonds do nothing. All columns of bonds have one record for each bond, three for its forces, and two for
            // its attachment if these are read. Both ends of intact bonds are indices below n, and all fields have n records. Kinds are rows of the table
            // of bond parameters. Flags have all their words.
            unsafe {
                evaluate_bonds::launch_unchecked::<R, C>(
                    self.gpu.client(),
                    count,
                    dim,
                    holding.table.ends.argument(),
                    holding.table.axis.records(),
                    holding.table.bent.records(),
                    holding.table.attachments.records(),
                    holding.table.kind.argument(),
                    holding.table.broke.argument(),
                    holding.table.broken.records(),
                    holding.bond_parameters.argument(),
                    self.position[self.now].records(),
                    self.velocity[self.now].records(),
                    self.spin[self.now].records(),
                    holding.orientation.records(),
                    holding.table.pull.records(),
                    self.flags.argument(),
                    sides::<C, R>(&host.context.stepping.sides),
                    (host.context.steps % u64::from(STEPS)) as u32,
                    holding.table.bonds.len() as u32,
                    parity,
                    holding.plan(self.kind.sides),
                );
            }
        }
        if !holding.loaded && !ledger && self.shapes.is_none() {
            // The last kernel of the step adds up the stored bond forces.
            return;
        }
        // As for contact forces: all subdomains of a decomposition-invariant run use one kernel.
        let near_walls = self
            .walls
            .as_ref()
            .filter(|near| near.entries > 0 || host.context.settings.decomposition_invariant);
        let plan = BondKernelConfig {
            bonded: holding.bonded,
            loaded: holding.loaded,
            frictional: self.kind.frictional,
            walls: near_walls.is_some(),
            ghosts: self.has_members(),
            single: holding.given_loads.is_some(),
        };
        let given = holding.given_loads.as_ref();
        let [given_force, given_torque] = [0, 1].map(|which| given.map_or(&holding.orientation, |columns| &columns[which]));
        let (count, dim) = units(self.n);
        // SAFETY: threads beyond n do nothing. Rows end at the number of entries, behind which there is one more that is read but not used. Entries
        // refer to bonds, each with three records. Groups are rows of the loads. All fields have n records, those of rotation if it is read, and
        // members n words; so have the loads of single grains if they are read. Flags have all their words, and powers two records for every block.
        unsafe {
            bond_forces_on_grains::launch_unchecked::<R, C>(
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
                given_force.records(),
                given_torque.records(),
                near_walls.map_or(&self.no_rows, |near| &near.row).argument(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                self.force.records(),
                self.torque.records(),
                self.flags.argument(),
                holding.power.records(),
                self.n as u32,
                holding.loads_per_step,
                parity,
                plan,
            );
        }
    }

    /// Sends the loads that depend on time, for the next `batch` steps.
    pub(super) fn send_loads(&self, host: &Populations, batch: usize) {
        if let Some(holding) = self.holding.as_ref().filter(|holding| holding.loads_per_step > 0) {
            let mut loads = loads_from(host, holding.loads_per_step, host.context.steps, batch);
            loads.resize(holding.loads.len(), 0.0);
            self.gpu.write(&holding.loads, &numbers::<R>(loads));
        }
    }

    /// Removes the bonds of grains outside the domain, and adds their energy to the ledger.
    pub(super) fn remove_bonds(&self, host: &mut Populations) -> Result<(), GpuError> {
        let Some(holding) = self.holding.as_ref().filter(|holding| !holding.table.bonds.is_empty()) else {
            return Ok(());
        };
        let Some(domain) = host.context.domain.map(|domain| domain.open_corners().concat()) else {
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
            holding.table.attachments.records(),
            holding.table.kind.argument(),
            holding.table.broke.argument(),
            holding.bond_parameters.argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            holding.orientation.records(),
            holding.table.pull.records(),
            holding.table.broken.records(),
            self.cells.domain.argument(),
            sides::<C, R>(&host.context.stepping.sides),
            holding.table.bonds.len() as u32,
            holding.plan(self.kind.sides),
        );
        self.fetch_breaks(host, host.context.steps)
    }

    /// Adds the damping of bonds in finished steps to the ledger, as some grains are about to enter or leave.
    pub(super) fn add_bond_work(&self, host: &mut Populations) -> Result<(), GpuError> {
        let dt = host.context.stepping.dt;
        if let (Some(holding), Some(network)) = (self.holding.as_ref().filter(|holding| holding.bonded), &mut host.bonds) {
            let taken = self.gpu.download_part(&holding.taken, 0..self.n).wait()?;
            network.work.damping += dt * taken.iter().map(|&power| power.double()).sum::<f64>();
            self.gpu.clear(&holding.taken);
        }
        Ok(())
    }

    /// Rebuilds the table of bonds of a subdomain for the current grains and ghosts. Bonds of absent grains are marked as removed.
    pub(super) fn list_bonds_by_grain(&mut self, host: &mut Populations) -> Result<(), GpuError> {
        if !self.holding.as_ref().is_some_and(|holding| holding.bonded && holding.is_decomposed) {
            return Ok(());
        }
        let (ids, member) = self.ids_and_members()?;
        let table = Table::new(&self.gpu, host, &ids, |place| is_ghost(member[place as usize]))?;
        if let Some(network) = &mut host.bonds
            && table.bonds.len() < network.intact_count()
        {
            let laid: HashSet<usize> = table.bonds.iter().map(|&bond| bond as usize).collect();
            let torn: Vec<usize> = network.intact_bonds().filter(|bond| !laid.contains(bond)).collect();
            torn.into_iter().for_each(|bond| network.records[bond * BOND + BROKEN] = REMOVED);
        }
        if let Some(holding) = &mut self.holding {
            holding.table = table;
        }
        Ok(())
    }

    /// Updates the host's table with the bonds that broke in steps from `since` on.
    pub(super) fn fetch_breaks(&self, host: &mut Populations, since: u64) -> Result<(), GpuError> {
        let Some(holding) = &self.holding else { return Ok(()) };
        let broke = self.gpu.download(&holding.table.broke)?;
        let (dt, Some(network)) = (host.context.stepping.dt, host.bonds.as_deref_mut()) else {
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
            // The word counts steps from one, modulo its range.
            let counted = (word >> MODE_BITS).wrapping_sub(1 + (since % u64::from(STEPS)) as u32) & STEPS;
            let (code, share) = (word & ((1 << MODE_BITS) - 1), holding.table.shares[slot as usize]);
            if code == kernels::REMOVED_BITS {
                network.records[bond as usize * BOND + BROKEN] = REMOVED;
                network.records[bond as usize * BOND + ENERGY] = 0.0;
                host.ledger.work.left_domain += share * record[3];
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
            network.breaks.push(BondBreak {
                time: step as f64 * dt,
                kind: network.kind(bond as usize),
                grains: network.ids(bond as usize),
                place: [record[0], record[1], record[2]],
                mode,
                energy: record[3],
            });
        }
        Ok(())
    }
}
