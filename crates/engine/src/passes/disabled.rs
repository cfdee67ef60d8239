//! Groups that are disabled and enabled between two steps: their grains leave the simulation, and come back in the state in which they left.

use crate::fields::{Fields, Sorted};
use crate::populations::Populations;
use crate::refusal::WorldError;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::layout::{RECORD, store};

impl Populations {
    /// Rejects a group that cannot be disabled.
    pub(crate) fn check_disabling(&self, group: u32) -> Result<(), WorldError> {
        self.circumstances(group).flaw_of_disabling().map_or(Ok(()), |what| {
            Err(WorldError::Switch {
                group: format!("of group {group}"),
                what,
            })
        })
    }

    /// Removes the grains of a group, with the bonds among them, and stores their state. Grains with prescribed motion leave as free ones.
    pub(crate) fn disable_grains(&mut self, group: u32) {
        self.change_prescribed(|populations| {
            populations.free_group(group);
            populations.withdraw(group);
        });
    }

    fn withdraw(&mut self, group: u32) {
        let fields = &self.grains.fields;
        let mut places: Vec<u32> = (0..fields.len() as u32).filter(|&i| fields.group[i as usize] == group).collect();
        // The order of the cells depends on the device.
        places.sort_unstable_by_key(|&i| fields.id[i as usize]);
        let mut leaving = fields.pick(&places);
        leaving.member.clear();
        leaving.force.fill(0.0);
        leaving.torque.fill(0.0);
        for (k, &i) in places.iter().enumerate() {
            let (velocity, spin) = self.velocities(i as usize, &[]);
            store(&mut leaving.velocity, RECORD * k, &velocity);
            store(&mut leaving.half_velocity, 3 * k, &velocity);
            if self.context.materials.has_friction {
                store(&mut leaving.spin, RECORD * k, &spin);
                store(&mut leaving.half_spin, 3 * k, &spin);
            }
        }
        if let Some(network) = &mut self.bonds {
            network.store_rows();
            let is_among = |bond: &usize| network.ids(*bond).iter().all(|id| leaving.id.binary_search(id).is_ok());
            let among = network.intact_bonds().filter(is_among).map(|bond| bond as u32);
            self.grains.disabled.bonds.extend(among);
        }
        self.remove_grains(&leaving.id);
        self.grains.disabled.fields.append(&leaving);
    }

    /// Adds the disabled grains of a group again, with the bonds among them.
    pub(crate) fn enable_grains(&mut self, group: u32) {
        let stored = &self.grains.disabled.fields;
        let (coming, others): (Vec<u32>, Vec<u32>) = (0..stored.len() as u32).partition(|&k| stored.group[k as usize] == group);
        let (coming, others) = (stored.pick(&coming), stored.pick(&others));
        self.grains.disabled.fields = others;
        self.append_grains(&coming);
        self.restore_bonds_among(&coming);
    }

    fn restore_bonds_among(&mut self, grains: &Fields) {
        let Some(network) = &self.bonds else { return };
        let mut ids = grains.id.clone();
        ids.sort_unstable();
        let is_among = |bond: &u32| network.ids(*bond as usize).iter().all(|id| ids.binary_search(id).is_ok());
        let (coming, others): (Vec<u32>, Vec<u32>) = self.grains.disabled.bonds.iter().copied().partition(is_among);
        let coming: Vec<usize> = coming.into_iter().map(|bond| bond as usize).collect();
        let energies: Vec<(usize, f64)> = self
            .current_bonds(network, coming.iter().copied())
            .map(|(bond, state)| (bond, state.held.energy))
            .collect();
        self.grains.disabled.bonds = others;
        if let Some(network) = &mut self.bonds {
            network.restore(&energies);
        }
        self.list_bonds_by_grain(&coming, 1.0);
    }

    /// Appends grains without forces, whose velocities at half steps are those at this time, and begins their motion.
    pub(crate) fn append_grains(&mut self, new: &Fields) {
        let first = self.grains.fields.len();
        self.add_inserted_scalars(new);
        self.grains.fields.append(new);
        self.loads.follow(&self.grains.fields);
        let end = self.grains.fields.len();
        if self.bodies.are_present {
            self.grains.fields.member.resize(end, FREE);
        }
        self.orient_grains();
        let power = self.add_loads(first..end);
        self.ledger.last_power_sums.wall_power += power;
        self.begin_gear(first..end);
        self.set_half_step_velocities(first..end);
    }
}
