//! Observation of grains that subdomains on GPUs of this process own. Frames and checkpoints need no lists of all grains, which would take longest:
//! only readers of single contacts and changes do.

use crate::backend::Observed;
use crate::decomposition::{Report, Subdomains, put_contacts_of_domains};
use crate::exchange::HaltReason;
use crate::fields::{Fields, Sorted, computed};
use crate::guard::StepError;
use crate::measure::{NO_CONTACT, sum};
use crate::populations::Populations;
use crate::search::Pairs;
use crate::simulation::Simulation;
use crate::state::{Ledger, Sections, State};
use seixo_device::Cpu;
use seixo_sweeps::layout::{RECORD, WALL_CONTACT, history_stride};

impl Simulation {
    /// Whether grains of subdomains can be observed without lists of all grains.
    pub(super) fn gathers_without_lists(&self) -> bool {
        let Some(subdomains) = &self.subdomains else { return false };
        let populations = &self.whole.populations;
        let are_single =
            !populations.bodies.are_present && !populations.is_bonded() && !populations.diffuses() && !populations.has_polyhedra();
        let are_all = !populations.flows() && populations.cell.is_none();
        let on_gpus = subdomains.domains.iter().all(|domain| domain.local.populations.grains_on_gpu());
        are_single && are_all && on_gpus && subdomains.ranks.is_none()
    }

    /// Takes over ledgers and counters of all subdomains, which have observed them; if everything is needed, grains and rows of walls, too. Contacts
    /// between grains stay there.
    pub(super) fn gather_without_lists(&mut self, needed: Observed) -> Result<(), StepError> {
        let Some(mut subdomains) = self.subdomains.take() else {
            return Ok(());
        };
        let gathered = self.gather_from(&mut subdomains, needed);
        self.subdomains = Some(subdomains);
        gathered.map_err(|halt| self.whole.populations.halted(halt))
    }

    /// Brings up to date what is counted without a copy of the particles: [`Simulation::decomposition`], [`Simulation::profile`], and the numbers of
    /// rebuilds, grains and bytes. If several subdomains on GPUs have only grains, these stay there, and no other value can be read before
    /// [`Simulation::observe`]. All other simulations are observed.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn observe_counts(&mut self) -> Result<(), StepError> {
        if !self.gathers_without_lists() {
            return self.observe();
        }
        let Some(mut subdomains) = self.subdomains.take() else {
            return Ok(());
        };
        let gathered = self.gather_sums(&mut subdomains);
        self.subdomains = Some(subdomains);
        gathered.map_err(|halt| self.whole.populations.halted(halt))
    }

    /// Takes over ledgers and counters of all subdomains, whose grains are on GPUs.
    fn gather_sums(&mut self, subdomains: &mut Subdomains) -> Result<(), HaltReason> {
        subdomains.refuse_broken()?;
        let reports: Vec<Report> = subdomains.domains.iter_mut().map(Report::without_grains).collect();
        self.take_over_work(subdomains, &reports)?;
        let mut last = NO_CONTACT;
        for report in &reports {
            last = sum(last, &self.take_over_sums(report)?.0);
        }
        self.take_over_common(&mut subdomains.domains[0].local.populations);
        self.whole.populations.ledger.last_power_sums = last;
        let backends = subdomains.domains.iter().map(|domain| domain.local.backend.grains.as_deref());
        subdomains.grains = backends.map(|remote| remote.map_or(0, |remote| remote.owned_count())).collect();
        subdomains.bytes = subdomains.bytes_here();
        Ok(())
    }

    fn gather_from(&mut self, subdomains: &mut Subdomains, needed: Observed) -> Result<(), HaltReason> {
        self.gather_sums(subdomains)?;
        let domains: Vec<&Populations> = subdomains.domains.iter().map(|domain| &domain.local.populations).collect();
        let populations = &mut self.whole.populations;
        populations.ledger.on_gpu = energies_of(&domains);
        populations.ledger.is_of_subdomains = true;
        if needed == Observed::Everything {
            populations.gather_grains(&domains);
        }
        populations.walls.listed_at = domains[0].walls.listed_at;
        let now = populations.context.time();
        populations.walls.place(now, true);
        populations.place_sides();
        Ok(())
    }

    /// Like [`Simulation::observe`], with lists of all grains and their contacts.
    pub(super) fn observe_with_contacts(&mut self) -> Result<(), StepError> {
        self.observe()?;
        if !self.whole.populations.grains.are_pairs_elsewhere {
            return Ok(());
        }
        let mut contacts = State::default();
        self.save_contacts_of_subdomains(&mut contacts)?;
        let populations = &mut self.whole.populations;
        populations.save_wall_histories(&mut contacts);
        populations.save_wear(&mut contacts);
        populations.grains.are_pairs_elsewhere = false;
        let listed_at = populations.walls.listed_at;
        // The wear since the last rebuild is restored below.
        populations.walls.work.by_entry.clear();
        populations.forget_contacts();
        populations.list_from_references(listed_at);
        let of_pairs = populations.restore_contact_histories(&contacts, false);
        let restored = of_pairs.and_then(|()| populations.restore_wear_since_rebuild(&contacts, true));
        restored.map_err(|refusal| populations.failed(refusal.to_string()))
    }

    /// Saves the contact histories of the observed grains, which are on the GPUs of subdomains, as pending columns.
    pub(super) fn save_contacts_of_subdomains(&mut self, to: &mut dyn Sections) -> Result<(), StepError> {
        let are_two = self.has_two_histories();
        let Some(subdomains) = &mut self.subdomains else {
            return Ok(());
        };
        let populations = &self.whole.populations;
        let downloaded = subdomains.download_contacts(populations.index_by_id());
        let contacts = downloaded.map_err(|halt| populations.halted(halt))?;
        let kept = history_stride(populations.context.materials.are_extended);
        let numbers = [kept, if are_two { kept } else { 0 }];
        let (device, id) = (populations.context.device.clone(), populations.grains.fields.id.clone());
        to.put_pending(Box::new(move |to: &mut dyn Sections| {
            let device: &Cpu = &device;
            put_contacts_of_domains(contacts, &id, device, numbers, to);
        }));
        Ok(())
    }
}

/// Energies of the grains of all domains, in which each pair across a border counts by halves.
pub(super) fn energies_of(domains: &[&Populations]) -> Ledger {
    domains.iter().fold(Ledger::default(), |all, domain| {
        let own = &domain.ledger.on_gpu;
        Ledger {
            kinetic: all.kinetic + own.kinetic,
            rotational: all.rotational + own.rotational,
            elastic_normal: all.elastic_normal + own.elastic_normal,
            elastic_tangential: all.elastic_tangential + own.elastic_tangential,
            gravity: all.gravity + own.gravity,
            ..all
        }
    })
}

impl Populations {
    /// Takes over the grains that domains own, in the order in which the last lists of all would have sorted them, with their rows of walls.
    fn gather_grains(&mut self, domains: &[&Populations]) {
        let device = self.context.device.clone();
        let mut owned: Vec<(u32, u32)> = Vec::new();
        for (number, domain) in (0..).zip(domains) {
            let own = (0..domain.grains.fields.len()).filter(|&i| !domain.is_ghost(i));
            owned.extend(own.map(|i| (number, i as u32)));
        }
        let tables: Vec<&Fields> = domains.iter().map(|domain| &domain.grains.fields).collect();
        let at = |k: usize| {
            let (domain, i) = owned[k];
            (tables[domain as usize], i as usize)
        };
        let id = computed(&device, owned.len(), |k| {
            let (fields, i) = at(k);
            fields.id[i]
        });
        let listed_at = computed(&device, RECORD * owned.len(), |k| {
            let (fields, i) = at(k / RECORD);
            match k % RECORD {
                3 => fields.position[RECORD * i + 3],
                axis => fields.reference[3 * i + axis],
            }
        });
        self.grains.cells.order(&device, &mut Fields::of_places(id, listed_at), |_| true);
        let old_of = &self.grains.cells.old_of;
        let order: Vec<(u32, u32)> = computed(&device, old_of.len(), |slot| owned[old_of[slot] as usize]);
        self.grains.fields = Fields::gathered(&device, &tables, &order);
        // In domains they mark ghosts.
        self.grains.fields.member = Vec::new();
        self.grains.pairs = Pairs::default();
        self.grains.of_second = Vec::new();
        self.grains.are_pairs_elsewhere = true;
        self.gather_rows_of_walls(domains, &order);
    }

    /// Takes over the rows of walls of these grains, each given by its domain and its index there.
    fn gather_rows_of_walls(&mut self, domains: &[&Populations], order: &[(u32, u32)]) {
        let kept = history_stride(self.context.materials.are_extended);
        let walls = &mut self.walls;
        walls.row.clear();
        walls.list.clear();
        walls.history.clear();
        walls.wall_contacts.clear();
        // Domains have reported it already.
        walls.work.by_entry.clear();
        let rows: Vec<&[u32]> = domains.iter().map(|domain| &domain.walls.row[..]).collect();
        // Few grains are at walls. All threads find them, and one collects their entries.
        let counts = computed(&self.context.device, order.len(), |k| {
            let (domain, i) = order[k];
            let (row, i) = (rows[domain as usize], i as usize);
            row[i + 1] - row[i]
        });
        walls.row.reserve_exact(order.len() + 1);
        walls.row.push(0);
        for (&(domain, i), &count) in order.iter().zip(&counts) {
            if count > 0 {
                let from = &domains[domain as usize].walls;
                let first = from.row[i as usize] as usize;
                let end = first + count as usize;
                walls.list.extend_from_slice(&from.list[first..end]);
                walls.history.extend_from_slice(&from.history[kept * first..kept * end]);
                walls
                    .wall_contacts
                    .extend_from_slice(&from.wall_contacts[WALL_CONTACT * first..WALL_CONTACT * end]);
                walls
                    .work
                    .by_entry
                    .extend_from_slice(from.work.by_entry.get(first..end).unwrap_or_default());
            }
            walls.row.push(walls.list.len() as u32);
        }
    }
}
