//! Fluids: what flows, what bounds it, and how it is discretized.

use super::Vec3;
use crate::refusal::Refusal;
pub use seixo_laws::fluid::{Smoothing, Space, StateLaw};
use std::f64::consts::PI;

/// The shortest support of a fluid with a surface tension \[spacings\]: with less, its particles hold each other in a lattice, and drops keep any
/// shape.
pub const LEAST_COHESIVE_SUPPORT: f64 = 4.0;

/// Contact angles that were found at walls as they were asked for, to some 6° \[rad\].
pub const CONTACT_ANGLES: [f64; 2] = [PI / 6.0, 13.0 * PI / 18.0];

/// A fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluid {
    /// Name as the scene spells it.
    pub name: String,
    /// Density ρ₀ at zero pressure \[kg/m³\].
    pub density: f64,
    /// Dynamic viscosity μ \[Pa s\].
    pub viscosity: f64,
    /// Speed of sound c \[m/s\]: not that of the real fluid but one at least ten times as fast as the flow, so that densities stay within 1 %.
    pub sound_speed: f64,
    /// How density becomes pressure.
    pub state: StateLaw,
    /// Pressure at rest density \[Pa\]: what keeps pressures positive where a flow has no free surface; zero where it has one.
    pub background_pressure: f64,
    /// Artificial viscosity α \[-\].
    pub artificial_viscosity: f64,
    /// Diffusion of density δ \[-\].
    pub density_diffusion: f64,
    /// XSPH's ε \[-\]: by which share of the difference to its neighbors a particle moves with them.
    pub xsph: f64,
    /// Surface tension σ \[N/m\].
    pub surface_tension: f64,
    /// Angle at which its surface meets walls, inside the fluid \[rad\]; without a tension it does not count.
    pub contact_angle: f64,
}

/// Particles of fluids as parallel columns; every column has the same length. All stand for the same volume at rest, see [`Fluids::volume`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Unique ids.
    pub id: Vec<u32>,
    /// Places \[m\].
    pub position: Vec<Vec3>,
    /// Velocities \[m/s\].
    pub velocity: Vec<Vec3>,
    /// Pressures \[Pa\].
    pub pressure: Vec<f64>,
    /// Index into [`Fluids::kinds`].
    pub kind: Vec<u32>,
}

/// Particles of walls, several layers deep: they have the pressure of the fluid before them and push it back (Adami, Hu & Adams 2012).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boundary {
    /// Places, where the walls are at time zero \[m\].
    pub position: Vec<Vec3>,
    /// Index into [`super::World::walls`]: they move with it.
    pub wall: Vec<u32>,
}

/// The fluids of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Fluids {
    /// Which function smooths.
    pub smoothing: Smoothing,
    /// Distance between particles at rest \[m\].
    pub spacing: f64,
    /// Distance H beyond which particles do not see each other \[m\]; the smoothing length h is half of it.
    pub support: f64,
    /// Axis across which nothing happens, where everything flows in a plane: then all places have the same coordinate along it, and masses,
    /// forces and energies are those of a meter of depth.
    pub across: Option<usize>,
    /// The fluids.
    pub kinds: Vec<Fluid>,
    /// Their particles.
    pub particles: Particles,
    /// What bounds them.
    pub boundary: Boundary,
    /// By wall of the world: whether fluids slip along it freely; else they stick to it.
    pub slips: Vec<bool>,
    /// The fastest flow that is expected \[m/s\].
    pub fastest: f64,
}

impl Particles {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }
}

/// How fast a surface tension \[N/m\] moves what has this density \[kg/m³\] and is as small as a smoothing length \[m\], √(σ/(ρ h)) \[m/s\]: sound must be
/// ten times as fast, or the pressure of the layer at the surface changes densities by more than some per cent.
pub fn capillary_speed(surface_tension: f64, density: f64, smoothing_length: f64) -> f64 {
    (surface_tension / (density * smoothing_length)).sqrt()
}

impl Fluids {
    /// Smoothing length h = H/2 \[m\].
    pub fn smoothing_length(&self) -> f64 {
        0.5 * self.support
    }

    /// Whether things flow in space or in a plane.
    pub fn space(&self) -> Space {
        if self.across.is_some() { Space::Plane } else { Space::Volume }
    }

    /// Volume of a particle at rest \[m³\].
    pub fn volume(&self) -> f64 {
        match self.space() {
            Space::Volume => self.spacing.powi(3),
            Space::Plane => self.spacing.powi(2),
        }
    }

    /// The longest stable time step \[s\], and what limits it.
    ///
    /// Of the conditions of Monaghan (1994, J. Comput. Phys. 110:399) and Morris, Fox & Zhu (1997, J. Comput. Phys. 136:214): sound passes no more
    /// than 0.4 h, viscosity spreads no farther than Δt ≤ h²/(8ν), and gravity moves nothing by more than Δt ≤ ¼ √(h/g). Waves that tension drives
    /// are followed with Δt ≤ ¼ √(ρh³/(2πσ)) (Brackbill, Kothe & Zemach 1992, J. Comput. Phys. 100:335; Adami, Hu & Adams 2010, J. Comput. Phys.
    /// 229:5011).
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
            let speed = sound_speed + self.fastest;
            lower(
                0.4 * h / speed,
                format!("sound in {name:?}: 0.4 h/(c + v) with h = {h:.3e} m, c + v = {speed:.3} m/s"),
            );
            let kinematic = fluid.viscosity / fluid.density;
            if kinematic > 0.0 {
                lower(
                    0.125 * h * h / kinematic,
                    format!("viscosity of {name:?}: h\u{b2}/(8\u{3bd}) with h = {h:.3e} m, \u{3bd} = {kinematic:.3e} m\u{b2}/s"),
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
        }
        if g > 0.0 {
            lower(
                0.25 * (h / g).sqrt(),
                format!("gravity: \u{bc} \u{221a}(h/g) with h = {h:.3e} m, g = {g:.3} m/s\u{b2}"),
            );
        }
        limit
    }
}

/// Refuses a fluid whose surface tension would not be what is asked for.
fn check_tension(fluids: &Fluids, fluid: &Fluid) -> Result<(), Refusal> {
    if fluid.surface_tension == 0.0 {
        return Ok(());
    }
    let Fluid {
        name,
        sound_speed,
        contact_angle,
        ..
    } = fluid;
    let capillary = capillary_speed(fluid.surface_tension, fluid.density, fluids.smoothing_length());
    let [least_angle, most_angle] = CONTACT_ANGLES;
    let what = if fluids.kinds.len() > 1 {
        "and is not alone: tension between fluids is not built yet; leave surface_tension out, or the other fluids".to_owned()
    } else if fluids.smoothing != Smoothing::Wendland {
        "which is known for Wendland's smoothing function alone; write smoothing = \"wendland\"".to_owned()
    } else if fluids.support < LEAST_COHESIVE_SUPPORT * fluids.spacing * (1.0 - 1e-9) {
        format!(
            "and a support of {:.3} spacings, with which particles hold each other in a lattice; use at least {LEAST_COHESIVE_SUPPORT}",
            fluids.support / fluids.spacing
        )
    } else if *sound_speed < 10.0 * capillary * (1.0 - 1e-9) {
        format!(
            "and a sound speed of {sound_speed} m/s, which must be ten times \u{221a}(\u{3c3}/(\u{3c1}h)) = {capillary:.4} m/s; write sound_speed = {:.4} or \
             leave it out",
            10.0 * capillary
        )
    } else if !(least_angle - 1e-9..=most_angle + 1e-9).contains(contact_angle) {
        format!(
            "and a contact angle of {:.1}\u{b0}; it must be from {:.0}\u{b0} to {:.0}\u{b0}",
            contact_angle.to_degrees(),
            least_angle.to_degrees(),
            most_angle.to_degrees()
        )
    } else {
        return Ok(());
    };
    Err(Refusal::Fluid(format!(
        "fluid {name:?} has a surface tension of {} N/m, {what}",
        fluid.surface_tension
    )))
}

/// Refuses fluids that cannot be simulated.
pub(crate) fn check_fluids(fluids: &Fluids) -> Result<(), Refusal> {
    let refuse = |what: String| Err(Refusal::Fluid(what));
    let Fluids { spacing, support, .. } = *fluids;
    if !(spacing.is_finite() && spacing > 0.0 && support.is_finite() && support >= 1.2 * spacing) {
        return refuse(format!(
            "a support of {support} m with a spacing of {spacing} m: it must be at least 1.2 spacings, or particles have no neighbors"
        ));
    }
    for fluid in &fluids.kinds {
        let Fluid { name, sound_speed, .. } = fluid;
        let positive = [("density", fluid.density), ("sound speed", *sound_speed)];
        let at_least_zero = [
            ("viscosity", fluid.viscosity),
            ("artificial viscosity", fluid.artificial_viscosity),
            ("density diffusion", fluid.density_diffusion),
            ("XSPH share", fluid.xsph),
            ("background pressure", fluid.background_pressure),
            ("surface tension", fluid.surface_tension),
        ];
        if let Some((what, value)) = positive.into_iter().find(|(_, x)| !(x.is_finite() && *x > 0.0)) {
            return refuse(format!("fluid {name:?} has a {what} of {value}; it must be positive"));
        }
        if let Some((what, value)) = at_least_zero.into_iter().find(|(_, x)| !(x.is_finite() && *x >= 0.0)) {
            return refuse(format!("fluid {name:?} has a {what} of {value}; it must be zero or more"));
        }
        if fluid.xsph > 0.0 {
            return refuse(format!(
                "fluid {name:?} has an XSPH share of {}, which is not built yet; leave xsph out",
                fluid.xsph
            ));
        }
        if *sound_speed < 10.0 * fluids.fastest * (1.0 - 1e-9) {
            return refuse(format!(
                "fluid {name:?} has a sound speed of {sound_speed} m/s where a flow of {:.3} m/s is expected; it must be ten times as fast, \
                 or densities change by more than 1 %: write sound_speed = {:.4} or leave it out",
                fluids.fastest,
                10.0 * fluids.fastest
            ));
        }
        check_tension(fluids, fluid)?;
    }
    let Particles {
        id,
        position,
        velocity,
        pressure,
        kind,
    } = &fluids.particles;
    let finite = |v: &Vec3| v.iter().all(|x| x.is_finite());
    for i in 0..id.len() {
        if !finite(&position[i]) || !finite(&velocity[i]) || !pressure[i].is_finite() || kind[i] as usize >= fluids.kinds.len() {
            return refuse(format!(
                "particle {} at {:?} has a place, a velocity, a pressure or a fluid that is none",
                id[i], position[i]
            ));
        }
    }
    Ok(())
}
