//! Sums over a lattice of particles at rest, which calibrate solvers with density summation.

use crate::world::{Fluids, Space};
use std::f64::consts::PI;

/// Number of wave numbers along an axis, from zero to the shortest wave of a lattice.
const WAVES: [i32; 2] = [48, 16];

/// A cubic lattice, or a square one in a plane, with the interactions of fluid particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lattice {
    /// Σ_j V W \[-\], which is 1 except for a share that depends on the support and the smoothing function.
    pub density: f64,
    /// The maximum over k of |Σ_j ∇W sin(k·x_j)|²/Σ_j |∇W|²: the resistance of a pressure whose neighbors form a wave k, relative to that of a single
    /// pressure.
    pub stiffest: f64,
}

impl Lattice {
    /// The lattice of some fluids.
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
        // Waves along other axes, or in the opposite direction, are equivalent.
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
    use crate::world::{Particles, PressureTolerance, SignedDistances, Smoothing, Solver, ViscousForce, WallParticles};

    fn fluids(support: f64, across: Option<usize>) -> Fluids {
        Fluids {
            solver: Solver::Incompressible,
            projection: PressureTolerance::default(),
            smoothing: Smoothing::Wendland,
            viscous_force: ViscousForce::default(),
            particle_shifting: false,
            spacing: 0.02,
            support: 0.02 * support,
            across,
            kinds: Vec::new(),
            particles: Particles::default(),
            boundary: WallParticles::default(),
            slips: Vec::new(),
            inside: Vec::new(),
            signed_distances: SignedDistances::default(),
            largest_speed: 1.0,
            inlets: Vec::new(),
            outlets: Vec::new(),
            body_boundaries: Vec::new(),
        }
    }

    #[test]
    fn wide_supports_sum_up_to_the_density_and_resist_more_together() {
        let of = |support, across| Lattice::of(&fluids(support, across));
        // The sum over many particles approximates the integral, which is one.
        for across in [None, Some(1)] {
            assert!((of(6.0, across).density - 1.0).abs() < 1e-3, "{:?}", of(6.0, across));
            assert!(of(4.0, across).stiffest > of(3.0, across).stiffest && of(3.0, across).stiffest > 2.0);
        }
        // With four neighbors, by hand: (2 s sin kx)² + (2 s sin ky)² over 4 s², which is at most 2.
        let near = of(1.01, Some(1));
        assert!((near.stiffest - 2.0).abs() < 1e-9, "{near:?}");
    }
}
