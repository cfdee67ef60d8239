//! What a fluid is like.

use seixo_laws::fluid::StateLaw;
use std::f64::consts::FRAC_PI_2;

/// A fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluid {
    /// Name as the scene spells it.
    pub name: String,
    /// Density ρ₀ at zero pressure \[kg/m³\].
    pub density: f64,
    /// Dynamic viscosity μ \[Pa s\].
    pub viscosity: f64,
    /// Speed of sound c \[m/s\]: not that of the real fluid but one at least ten times as fast as the flow, so that densities stay within 1 %. Of
    /// [`Solver::Muller2003`](super::Solver::Muller2003) √k, the root of its stiffness, of any size. With
    /// [`Solver::Incompressible`](super::Solver::Incompressible) it scales artificial viscosity alone.
    pub sound_speed: f64,
    /// How density becomes pressure.
    pub state: StateLaw,
    /// Pressure at rest density \[Pa\]: what keeps pressures positive where a flow has no free surface; zero where it has one.
    pub background_pressure: f64,
    /// Artificial viscosity α \[-\].
    pub artificial_viscosity: f64,
    /// Diffusion of density δ \[-\].
    pub density_diffusion: f64,
    /// XSPH's ε \[-\]: by which share of the difference to its neighbors a particle moves with them; of
    /// [`Solver::Muller2003`](super::Solver::Muller2003) only.
    pub xsph: f64,
    /// Surface tension σ \[N/m\].
    pub surface_tension: f64,
    /// Angle at which its surface meets walls, inside the fluid \[rad\]; without a tension it does not count.
    pub contact_angle: f64,
    /// Share of its velocity into a wall with which a particle leaves it \[-\]; of [`Solver::Muller2003`](super::Solver::Muller2003) only.
    pub restitution: f64,
    /// Stiffness of the spring between a particle and a sphere of a body \[N/m\]; of [`Solver::Muller2003`](super::Solver::Muller2003) with bodies
    /// only.
    pub body_stiffness: f64,
    /// Share of its velocity onto the sphere of a heavy body with which a particle leaves it \[-\]: likewise.
    pub body_restitution: f64,
}

impl Fluid {
    /// A fluid of this name, density \[kg/m³\] and speed of sound \[m/s\] by Tait's equation of state, in which all else is zero: nothing rubs, diffuses or
    /// holds together. Were there a tension, its surface would meet walls at a right angle.
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

    /// Density at which it has this pressure \[Pa\], unless it is incompressible \[kg/m³\].
    pub(crate) fn density_at(&self, pressure: f64) -> f64 {
        self.state
            .density(pressure - self.background_pressure, self.density, self.sound_speed)
    }
}
