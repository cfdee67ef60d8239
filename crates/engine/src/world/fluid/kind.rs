//! Properties of a fluid.

use seixo_laws::fluid::StateLaw;
use std::f64::consts::FRAC_PI_2;

/// A fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluid {
    /// Name in the scene.
    pub name: String,
    /// Density ρ₀ at zero pressure \[kg/m³\].
    pub density: f64,
    /// Dynamic viscosity μ \[Pa s\].
    pub viscosity: f64,
    /// Speed of sound c \[m/s\]. It is not that of the real fluid but at least ten times the speed of the flow, so that densities vary by less than 1
    /// %.
    /// For [`Solver::Muller2003`](super::Solver::Muller2003) it is √k, the root of the stiffness, of any value. With
    /// [`Solver::Incompressible`](super::Solver::Incompressible) it scales artificial viscosity only.
    pub sound_speed: f64,
    /// Equation of state.
    pub state: StateLaw,
    /// Pressure at rest density \[Pa\]. It keeps pressures positive in flows without a free surface; zero in flows with one.
    pub background_pressure: f64,
    /// Artificial viscosity α \[-\].
    pub artificial_viscosity: f64,
    /// Density diffusion coefficient δ \[-\].
    pub density_diffusion: f64,
    /// XSPH coefficient ε, 0 to 1 \[-\]: share of the velocity difference to its neighbors that a particle takes over. With
    /// [`Solver::Muller2003`](super::Solver::Muller2003) it is added to its velocity; with
    /// [`Solver::WeaklyCompressible`](super::Solver::WeaklyCompressible) only to the velocity with which it moves. Zero with
    /// [`Solver::Incompressible`](super::Solver::Incompressible).
    pub xsph: f64,
    /// Surface tension σ \[N/m\].
    pub surface_tension: f64,
    /// Contact angle with walls, measured inside the fluid \[rad\]; not used without surface tension.
    pub contact_angle: f64,
    /// Restitution of a particle at a wall: rebound over approach speed \[-\]. For [`Solver::Muller2003`](super::Solver::Muller2003) only.
    pub restitution: f64,
    /// Stiffness of the spring between a particle and a sphere of a body \[N/m\]. For [`Solver::Muller2003`](super::Solver::Muller2003) with bodies
    /// only.
    pub body_stiffness: f64,
    /// Restitution of a particle at a sphere of a heavy body \[-\]. For [`Solver::Muller2003`](super::Solver::Muller2003) with bodies only.
    pub body_restitution: f64,
}

impl Fluid {
    /// A fluid with this name, density \[kg/m³\] and speed of sound \[m/s\], with Tait's equation of state.
    ///
    /// It has no viscosity, diffusion or surface tension; the contact angle is a right angle.
    pub fn new(name: &str, density: f64, sound_speed: f64) -> Fluid {
        Fluid {
            name: name.to_owned(),
            density,
            viscosity: 0.0,
            sound_speed,
            state: StateLaw::Tait,
            background_pressure: 0.0,
            artificial_viscosity: 0.0,
            density_diffusion: 0.0,
            xsph: 0.0,
            surface_tension: 0.0,
            contact_angle: FRAC_PI_2,
            restitution: 0.0,
            body_stiffness: 0.0,
            body_restitution: 0.0,
        }
    }

    /// Density at this pressure \[Pa\], for compressible fluids \[kg/m³\].
    pub(crate) fn density_at(&self, pressure: f64) -> f64 {
        self.state
            .density(pressure - self.background_pressure, self.density, self.sound_speed)
    }
}
