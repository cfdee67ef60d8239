//! Energy of fluid surfaces.

use super::Flow;
use crate::fields::{PART, one_each, part_range, parts};
use seixo_device::{Cpu, Strided};
use seixo_laws::fluid::{Medium, surface_energy};
use seixo_sweeps::fluid::medium_at;

impl Flow {
    /// Potential energy of all listed pairs \[J\], or the last value from a GPU.
    pub fn surface_energy(&self, device: &Cpu) -> f64 {
        if self.is_on_gpu || !self.compiled_for.cohesive {
            return self.surface;
        }
        let n = self.fields.len();
        let among_fluid = medium_at::<f64>(&self.media, 0);
        let at_wall = Medium {
            pull: among_fluid.share_of_wall * among_fluid.pull,
            push: among_fluid.share_of_wall * among_fluid.push,
            ..among_fluid
        };
        let (smoother, is_once) = (self.smoother(), self.lists_once());
        let mut shares = vec![0.0; parts(n)];
        device.run(parts(n), (one_each(&mut shares),), |part, (share,): (Strided<f64>,)| {
            let (first, end) = part_range(part, n);
            for i in first..end {
                let here = self.place(i);
                for &j in self.pairs.of(i) {
                    let j = j as usize;
                    let apart = self.apart(&here, j);
                    let medium = if self.is_wall(i) || self.is_wall(j) {
                        &at_wall
                    } else {
                        &among_fluid
                    };
                    // A pair across parts is in the rows of both; in a decomposition-invariant world every pair is in both.
                    let listed = if is_once && j / PART == part { 1.0 } else { 0.5 };
                    share.items[0] += listed * surface_energy(&apart, medium, &smoother);
                }
            }
        });
        shares.iter().sum()
    }
}
