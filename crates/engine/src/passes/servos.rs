//! Tunes servos to the grains that their walls push.

use crate::populations::Populations;
use crate::walls::servo::Largest;
use seixo_sweeps::layout::RECORD;

impl Populations {
    /// Adjusts the gains of servos to the present grains: at the start, and after each change between two steps. Gains depend on the stiffness of
    /// contacts. Between changes grains can only leave, so gains stay below the stability limit.
    pub(crate) fn tune_servos(&mut self) {
        if !self.walls.has_servos() {
            return;
        }
        let mut radius = vec![0.0f64; self.context.materials.densities.len()];
        for (&material, record) in self
            .grains
            .fields
            .material
            .iter()
            .zip(self.grains.fields.position.chunks_exact(RECORD))
        {
            let most = &mut radius[material as usize];
            *most = most.max(record[3]);
        }
        let (densities, table) = (&self.context.materials.densities[..], &self.context.materials.coefficients[..]);
        let largest = Largest { radius, densities, table };
        self.walls.init_servos(&largest, self.context.stepping.dt);
    }
}
