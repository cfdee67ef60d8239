//! Tunes servos to the grains that walls push, or a cell.

use crate::populations::Populations;
use crate::walls::servo::Largest;
use crate::world::mass_of_sphere;
use seixo_sweeps::layout::RECORD;

impl Populations {
    /// Adjusts the gains of servos to the present grains: at the start, and after each change between two steps. Gains depend on the stiffness of
    /// contacts. Between changes grains can only leave, so gains stay below the stability limit.
    pub(crate) fn tune_servos(&mut self) {
        if !self.walls.has_servos() && self.cell.is_none() {
            return;
        }
        let (fields, materials) = (&self.grains.fields, &self.context.materials);
        let mut radius = vec![0.0f64; materials.densities.len()];
        let mut smallest = f64::INFINITY;
        for (&material, record) in fields.material.iter().zip(fields.position.chunks_exact(RECORD)) {
            let most = &mut radius[material as usize];
            *most = most.max(record[3]);
            smallest = smallest.min(record[3]);
        }
        let mut mass: Vec<f64> = radius
            .iter()
            .zip(&materials.densities)
            .map(|(&radius, &density)| mass_of_sphere(radius, density))
            .collect();
        if !self.grains.given_masses.is_empty() {
            for (i, &material) in fields.material.iter().enumerate() {
                let most = &mut mass[material as usize];
                *most = most.max(self.mass_alone(i));
            }
        }
        let table = &materials.coefficients[..];
        let largest = Largest { radius, mass, table };
        let dt = self.context.stepping.dt;
        if let Some(cell) = &mut self.cell {
            let tuned = largest.tuned_for_cell(&cell.control, smallest, dt);
            cell.tune(tuned);
        }
        self.walls.init_servos(&largest, dt);
    }
}
