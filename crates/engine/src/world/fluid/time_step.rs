//! Longest time steps of fluids.

use super::{Fluid, Fluids, Solver, ViscousForce};
use crate::world::Vec3;
use seixo_laws::fluid::muller::longest_step;
use std::f64::consts::PI;

impl Fluids {
    /// Decay rate that viscosity may cause in a wave, over ν/h², see [`Fluids::limit_of_time_step`].
    fn spread_of_viscosity(&self) -> f64 {
        let is_central = self.viscous_force == ViscousForce::Central && self.solver == Solver::WeaklyCompressible;
        match (is_central, self.support >= 2.999 * self.spacing) {
            (false, _) => 8.0,
            (true, true) => 14.0,
            (true, false) => 17.0,
        }
    }

    /// Longest stable time step \[s\], and the limiting cause.
    ///
    /// Three conditions are those of \[Monaghan 1994\] and \[Morris 1997\]. Sound travels at most 0.4 h in a step. Viscosity requires Δt ≤ h²/(8ν),
    /// and gravity Δt ≤ ¼ √(h/g). Capillary waves require Δt ≤ ¼ √(ρh³/(2πσ)) \[Brackbill 1992; Adami 2010\]. Explicit Euler has one more condition,
    /// see [`longest_step()`]. For incompressible fluids the flow replaces sound: it moves at most 0.4 spacings in a step. There, artificial
    /// viscosity can be the largest viscosity. It counts twice, as it resists compression more than shear.
    ///
    /// Diffusion in a weakly compressible fluid uses the rule of Adams and Bashforth, which damps a decay at the rate λ if λΔt ≤ 1 \[Hairer 1996, §
    /// V.1\]. This includes velocities, as laws read them half a step ahead. For a wave with the wave vector k on a lattice, densities have λ = 2δhc
    /// Σ_j V_j |W′/r| (1 − cos k·r_j). Viscosity has the same with ν in place of δhc. Velocities under artificial viscosity have the largest
    /// eigenvalue of αhc Σ_j V_j |W′/r| r̂ r̂ᵀ (1 − cos k·r_j). The sums were evaluated for all k, both smoothing functions, and supports of 1.5 to 5
    /// spacings on square and cubic lattices. They are at most 3.5/h², which is their integral without the cosine, 14/H², and 2.24/h². With a tenth
    /// more for disordered particles: λ = 8δc/h, 8ν/h², 2.5αc/h. Sound at its own limit, by the same analysis, does not reduce these. Central viscous
    /// forces resist compression, too: the largest eigenvalue of νk Σ_j V_j W r_j r_jᵀ (1 − cos k·r_j) is at most 12.9ν/h² from three spacings on and
    /// 15.9ν/h² below, which makes that 14 and 17.
    pub fn limit_of_time_step(&self, gravity: Vec3) -> (f64, String) {
        let h = self.smoothing_length();
        let g = gravity.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut limit = (f64::INFINITY, String::new());
        let mut lower = |value: f64, cause: String| {
            if value < limit.0 {
                limit = (value, cause);
            }
        };
        for fluid in &self.kinds {
            let Fluid {
                name,
                sound_speed,
                surface_tension,
                ..
            } = fluid;
            let mut kinematic = fluid.viscosity / fluid.density;
            let spread = self.spread_of_viscosity();
            match self.solver {
                Solver::WeaklyCompressible | Solver::Muller2003 => {
                    let speed = sound_speed + self.largest_speed;
                    lower(
                        0.4 * h / speed,
                        format!("sound in {name:?}: 0.4 h/(c + v) with h = {h:.3e} m, c + v = {speed:.3} m/s"),
                    );
                }
                Solver::Incompressible => {
                    let (spacing, speed) = (self.spacing, self.largest_speed);
                    lower(
                        self.longest_step_of_flow(),
                        format!("the flow: 0.4 spacings/v with a spacing of {spacing:.3e} m, v = {speed:.3} m/s"),
                    );
                    kinematic += 2.0 * self.artificial_kinematic_viscosity(fluid);
                }
            }
            if self.solver == Solver::WeaklyCompressible {
                let (diffusion, alpha) = (fluid.density_diffusion, fluid.artificial_viscosity);
                if diffusion > 0.0 {
                    lower(
                        0.125 * h / (diffusion * sound_speed),
                        format!(
                            "diffusion of densities in {name:?}: h/(8\u{3b4}c) with h = {h:.3e} m, \u{3b4} = {diffusion}, c = {sound_speed:.3} m/s"
                        ),
                    );
                }
                if alpha > 0.0 {
                    lower(
                        h * h / (spread * kinematic + 2.5 * alpha * h * sound_speed),
                        format!(
                            "viscosity of {name:?} with the artificial one: h\u{b2}/({spread}\u{3bd} + 2.5\u{3b1}hc) with h = {h:.3e} m, \u{3bd} = \
                             {kinematic:.3e} m\u{b2}/s, \u{3b1} = {alpha}, c = {sound_speed:.3} m/s"
                        ),
                    );
                }
            }
            if kinematic > 0.0 {
                lower(
                    h * h / (spread * kinematic),
                    format!("viscosity of {name:?}: h\u{b2}/({spread}\u{3bd}) with h = {h:.3e} m, \u{3bd} = {kinematic:.3e} m\u{b2}/s"),
                );
            }
            if *surface_tension > 0.0 {
                lower(
                    0.25 * (fluid.density * h.powi(3) / (2.0 * PI * surface_tension)).sqrt(),
                    format!(
                        "surface tension of {name:?}: \u{bc} \u{221a}(\u{3c1}h\u{b3}/(2\u{3c0}\u{3c3})) with h = {h:.3e} m, \u{3c3} = {surface_tension:.3e} N/m"
                    ),
                );
            }
            if self.solver == Solver::Muller2003 {
                let stiffness = sound_speed * sound_speed;
                lower(
                    longest_step(stiffness, kinematic, fluid.xsph, self.support),
                    format!(
                        "sound in {name:?}, which explicit Euler lets grow unless k\u{394}t\u{b2}/2 \u{2264} \u{3bd}\u{394}t + \u{3b5}H\u{b2}/22, with k = \
                         {stiffness:.3e} J/kg, \u{3bd} = {kinematic:.3e} m\u{b2}/s, \u{3b5} = {}, H = {:.3e} m",
                        fluid.xsph, self.support
                    ),
                );
            }
        }
        if g > 0.0 {
            lower(
                0.25 * (h / g).sqrt(),
                format!("gravity: \u{bc} \u{221a}(h/g) with h = {h:.3e} m, g = {g:.3} m/s\u{b2}"),
            );
        }
        limit
    }

    /// Longest step \[s\] in which the fastest expected flow moves at most 0.4 spacings.
    pub(crate) fn longest_step_of_flow(&self) -> f64 {
        0.4 * self.spacing / self.largest_speed
    }
}
