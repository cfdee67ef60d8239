//! Backend of fluids: on the CPU, or on a GPU.

use super::Flow;
use crate::search::Pairs;
use crate::surroundings::Surroundings;
use seixo_device::Cpu;

impl Flow {
    /// Marks the particles as those of a GPU, and drops the rows here.
    pub fn leave_to_gpu(&mut self, device: &Cpu) {
        self.surface = self.surface_energy(device);
        self.is_on_gpu = true;
        (self.pairs, self.before_walls) = (Pairs::default(), Pairs::default());
        self.suspension.forget_rows();
    }

    /// Downloads the particles from the GPU. The state on the host must be up to date.
    pub fn download(&mut self, surroundings: &Surroundings) {
        if std::mem::take(&mut self.is_on_gpu) {
            self.rebuild_lists(surroundings);
        }
    }
}
