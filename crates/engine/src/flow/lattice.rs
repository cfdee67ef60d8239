//! Sums over a lattice of particles at rest: what solvers that sum densities up are calibrated by.

use crate::world::{Fluids, Space};
use std::f64::consts::PI;

/// Steps of a wave vector along an axis, from zero to the shortest wave that a lattice holds.
const WAVES: [i32; 2] = [48, 16];

/// A cubic lattice, in a plane a square one, whose particles see each other as those of a fluid do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lattice {
    /// Σ_j V W \[-\], which is 1 but for a share that the support and the smoothing function decide.
    pub density: f64,
    /// The largest of all k of |Σ_j ∇W sin(k·x_j)|²/Σ_j |∇W|²: by how much more than alone a pressure resists when its neighbors join in with a
    /// wave k.
    pub stiffest: f64,
}

impl Lattice {
    /// That of some fluids.
    pub fn of(fluids: &Fluids) -> Lattice {
        let smoother = fluids.smoothing.smoother(fluids.support, fluids.space());
        let reach = (fluids.support / fluids.spacing).ceil() as i32;
        let is_plane = fluids.space() == Space::Plane;
        let across = if is_plane { 0..=0 } else { -reach..=reach };
        let sites = across.flat_map(|z| (-reach..=reach).flat_map(move |y| (-reach..=reach).map(move |x| [x, y, z].map(f64::from))));
        let mut density = 0.0;
        let mut slopes: Vec<([f64; 3], f64)> = Vec::new();
        for site in sites {
            let r = fluids.spacing * site.iter().map(|x| x * x).sum::<f64>().sqrt();
            density += fluids.volume() * smoother.value(r, fluids.smoothing);
            if r > 0.0 && r < fluids.support {
                slopes.push((site, smoother.slope(r, fluids.smoothing)));
            }
        }
        let alone: f64 = slopes
            .iter()
            .map(|(site, slope)| slope * slope * site.iter().map(|x| x * x).sum::<f64>())
            .sum();
        let together = |wave: [f64; 3]| -> f64 {
            let mut sum = [0.0; 3];
            for (site, slope) in &slopes {
                let phase: f64 = site.iter().zip(wave).map(|(x, k)| x * k).sum();
                let weight = slope * phase.sin();
                sum.iter_mut().zip(site).for_each(|(sum, x)| *sum += weight * x);
            }
            sum.iter().map(|x| x * x).sum::<f64>() / alone
        };
        // Waves along other axes, or the other way, are alike.
        let most = WAVES[usize::from(!is_plane)];
        let third = |b: i32| if is_plane { 0 } else { b };
        let waves = (0..=most).flat_map(|a| (0..=a).flat_map(move |b| (0..=third(b)).map(move |c| [a, b, c])));
        let stiffest = waves
            .map(|wave| together(wave.map(|k| PI * f64::from(k) / f64::from(most))))
            .fold(0.0, f64::max);
        Lattice { density, stiffest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Boundary, Particles, Projection, Smoothing, Solver, ViscousForce};

    fn fluids(support: f64, across: Option<usize>) -> Fluids {
        Fluids {
            solver: Solver::Incompressible,
            projection: Projection::default(),
            smoothing: Smoothing::Wendland,
            viscous_force: ViscousForce::default(),
            particle_shifting: false,
            spacing: 0.02,
            support: 0.02 * support,
            across,
            kinds: Vec::new(),
            particles: Particles::default(),
            boundary: Boundary::default(),
            slips: Vec::new(),
            inside: Vec::new(),
            fastest: 1.0,
            inlets: Vec::new(),
            outlets: Vec::new(),
            hulls: Vec::new(),
        }
    }

    #[test]
    fn wide_supports_sum_up_to_the_density_and_resist_more_together() {
        let of = |support, across| Lattice::of(&fluids(support, across));
        // A sum over many particles is the integral, which is one.
        for across in [None, Some(1)] {
            assert!((of(6.0, across).density - 1.0).abs() < 1e-3, "{:?}", of(6.0, across));
            assert!(of(4.0, across).stiffest > of(3.0, across).stiffest && of(3.0, across).stiffest > 2.0);
        }
        // With four neighbors, by hand: (2 s sin kx)² + (2 s sin ky)² over 4 s², which is 2 at most.
        let near = of(1.01, Some(1));
        assert!((near.stiffest - 2.0).abs() < 1e-9, "{near:?}");
    }
}
