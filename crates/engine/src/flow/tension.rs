//! What surfaces of fluids store.

use super::Flow;
use crate::fields::{PART, part_range, parts};
use seixo_device::{Cpu, Strided};
use seixo_laws::fluid::{Medium, surface_energy};
use seixo_sweeps::fluid::medium_at;
use seixo_sweeps::sides::nearest_image;
use seixo_sweeps::views::{RECORD, load};

impl Flow {
    /// Potentials of all pairs that are listed \[J\], or what a GPU last found them to be.
    pub fn surface_energy(&self, device: &Cpu) -> f64 {
        if self.remote.is_some() || !self.compiled_for.cohesive {
            return self.surface;
        }
        let n = self.fields.len();
        let among_fluid = medium_at::<f64>(&self.media, 0);
        let at_wall = Medium {
            pull: among_fluid.share_of_wall * among_fluid.pull,
            push: among_fluid.share_of_wall * among_fluid.push,
            ..among_fluid
        };
        let smoother = self.smoother();
        let mut shares = vec![0.0; parts(n)];
        let data = (Strided {
            items: &mut shares[..],
            per_part: 1,
        },);
        device.run(parts(n), data, |part, (share,): (Strided<f64>,)| {
            let (first, end) = part_range(part, n);
            for i in first..end {
                let here = load::<f64>(&self.fields.position, i * RECORD);
                for &j in &self.pairs.neighbors[self.pairs.row[i] as usize..self.pairs.row[i + 1] as usize] {
                    let j = j as usize;
                    let apart = here.minus(&load(&self.fields.position, j * RECORD));
                    let apart = nearest_image::<f64, f64>(&apart, &self.stepping.sides, self.compiled_for.sides).apart;
                    let medium = if self.is_wall(i) || self.is_wall(j) {
                        &at_wall
                    } else {
                        &among_fluid
                    };
                    // A pair across parts stands in the rows of both.
                    let listed = if j / PART == part { 1.0 } else { 0.5 };
                    share.items[0] += listed * surface_energy(&apart, medium, &smoother);
                }
            }
        });
        shares.iter().sum()
    }
}
