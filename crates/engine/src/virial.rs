//! What pairs of grains contribute to the pressure.

use crate::fields::Fields;
use crate::search::Cells;
use crate::sides::sides_of;
use crate::simulation::Simulation;
use crate::world::Search;
use seixo_sweeps::pair::{Pair, depth_of, push_apart};
use seixo_sweeps::sides::{nearest_image, put_back};
use seixo_sweeps::views::{RECORD, coefficients, load};

impl Simulation {
    /// Σ f·l over the pairs of grains that touch \[J\]: force of a pair times the vector between its centers, across periodic sides to the
    /// nearest image. A third of it over the volume is the pressure that contacts carry (Love 1927, Weber 1966). Tangential forces are at
    /// right angles to that vector and have no part in it, so it is exact with friction, too.
    ///
    /// None where contacts can do more than push and rub: what they do then follows from what they remember.
    ///
    /// # Panics
    /// As all that reads a simulation: if it runs on a GPU and took steps since [`Simulation::observe`].
    pub fn pair_virial(&self) -> Option<f64> {
        self.assert_observed();
        if self.is_compound {
            return None;
        }
        let sides = sides_of(self.domain.as_ref(), self.time());
        // Lists lag behind, and on a GPU there are none here: the grains are put back and sorted anew.
        let mut grains = Fields::default();
        for i in 0..self.fields.len() {
            let at = i * RECORD;
            let returned = put_back(&load::<f64>(&self.fields.position, at), &sides);
            let velocity = load::<f64>(&self.fields.velocity, at).minus(&sides.slide.times(returned.passed));
            let place = returned.position;
            grains.id.push(self.fields.id[i]);
            grains.material.push(self.fields.material[i]);
            grains.position.extend([place.x, place.y, place.z, self.fields.position[at + 3]]);
            grains
                .velocity
                .extend([velocity.x, velocity.y, velocity.z, self.fields.velocity[at + 3]]);
        }
        if grains.len() == 0 {
            return Some(0.0);
        }
        let radii = grains.position.chunks_exact(RECORD).map(|record| record[3]);
        let mut cells = Cells::new(radii, Search::Auto, 0.0);
        (cells.sides, cells.kind) = (sides, self.sides);
        cells.sort(&self.device, &mut grains, |_| true);
        let Fields {
            position,
            velocity,
            material,
            ..
        } = &grains;
        let mut sum = 0.0;
        let mut near = Vec::new();
        for i in 0..grains.len() {
            cells.neighbors(i, position, 0.0, &mut near);
            for j in near.iter().map(|&j| j as usize).filter(|&j| j > i) {
                let (at, other) = (i * RECORD, j * RECORD);
                let image = nearest_image(&load::<f64>(position, at).minus(&load(position, other)), &sides, self.sides);
                let slide = sides.slide.times(image.passed);
                let pair = Pair {
                    apart: image.apart,
                    depth: depth_of(&image.apart, position[at + 3] + position[other + 3]),
                    velocity: load::<f64>(velocity, at).minus(&load(velocity, other)).minus(&slide),
                    radius_i: position[at + 3],
                    radius_j: position[other + 3],
                    mass_i: velocity[at + 3],
                    mass_j: velocity[other + 3],
                };
                if pair.depth > 0.0 {
                    let row = (material[i] * self.materials + material[j]) as usize;
                    sum += push_apart(&pair, &coefficients(&self.table, row)).force.dot(&pair.apart);
                }
            }
        }
        Some(sum)
    }
}
