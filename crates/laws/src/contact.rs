//! Contact of two grains, or of a grain and a wall: normal and tangential force with history \[PUC-Rio 2009, § 5.3; ME964 2011\].
//!
//! Conventions: the normal points from j to i, and the force is that on i. The normal velocity is negative during approach.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::contact::{ContactPair, NormalLaw, PairOfMaterials, RelativeMotion, TangentialLaw, derive, frictional_contact, no_response};
//! let pair = PairOfMaterials { stiffness: 1e4, tangential_stiffness: 1e4, friction: 0.5, ..PairOfMaterials::default() };
//! let coefficients = derive(NormalLaw::Linear, TangentialLaw::Linear, &pair).coefficients;
//! let touch = ContactPair { overlap: 1e-6, contact_radius: 1e-4, effective_mass: 1e-3 };
//! let normal = Vector3 { x: 0.0, y: 0.0, z: 1.0 };
//! let sliding = RelativeMotion { velocity: Vector3 { x: 1.0, y: 0.0, z: 0.0 }, twist: 0.0 };
//! let found = frictional_contact::<f64>(&touch, &normal, &sliding, &no_response::<f64>().history, &coefficients, 1e-3);
//! // Coulomb's law: friction on a sliding grain is μ times the normal force, against the motion.
//! assert!(found.normal > 0.0 && (found.tangential.x / found.normal + 0.5).abs() < 1e-12);
//! ```

pub mod cohesion;
pub mod extended;
pub mod faded;
mod family;
pub mod hertz;
pub mod hysteretic;
pub mod linear;
pub mod mindlin;
pub mod potential;
pub mod restitution;
pub mod rolling;
pub mod twisting;
pub mod viscoelastic;

pub use extended::{ExtendedCoefficients, ExtendedHistory, ExtendedPair, ExtendedResponse, interact, stored_in_joint};
pub use family::{
    Cohesion, CohesionLaw, NormalLaw, PairOfLaws, PairOfMaterials, ResistanceLaw, RollingLaw, TangentialLaw, TwistingLaw, derive,
    normal_energy, normal_force, stored_force_left, tangential_dashpot, tangential_stiffness,
};

use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Geometry and effective mass of a contact.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ContactPair<R: Real> {
    /// δ = R_i + R_j − |x_i − x_j| \[m\], positive.
    pub overlap: R,
    /// √(R* δ) \[m\].
    pub contact_radius: R,
    /// m* = m_i m_j / (m_i + m_j) \[kg\].
    pub effective_mass: R,
}

/// The two parts of a normal law: spring force \[N\] and dashpot coefficient \[N s/m\].
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct NormalForce<R: Real> {
    /// Spring force \[N\], repulsive when positive.
    pub elastic: R,
    /// Dashpot coefficient \[N s/m\].
    pub damping: R,
}

/// Spring of a normal law whose dashpot is a share of critical damping.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct NormalSpring<R: Real> {
    /// Spring force \[N\], repulsive when positive.
    pub elastic: R,
    /// Tangent stiffness over the constant whose root is in the damping parameter.
    pub tangent: R,
    /// Factor of a damping per effective mass \[-\].
    pub factor: R,
}

/// Coefficients of a pair of materials, derived once on the host by [`derive()`].
#[derive(CubeType, CubeTypeMut, CubeLaunch, Clone, Copy, Debug, PartialEq)]
pub struct Coefficients<R: Real> {
    /// Stiffness parameter of the normal law.
    pub normal_stiffness: R,
    /// Damping parameter of the normal law.
    pub normal_damping: R,
    /// Stiffness parameter of the tangential law.
    pub tangential_stiffness: R,
    /// Damping parameter of the tangential law, with the same damping ratio as in the normal direction.
    pub tangential_damping: R,
    /// Coulomb coefficient μ \[-\].
    pub friction: R,
    /// Code of the normal law, [`NormalLaw::code`].
    pub normal_law: R,
    /// Code of the tangential law, [`TangentialLaw::code`].
    pub tangential_law: R,
    /// Damping γ_n per effective mass \[1/s\], of the linear normal law and of Hertz's.
    pub normal_rate: R,
    /// Damping γ_t per effective mass \[1/s\].
    pub tangential_rate: R,
}

/// Numbers per row of a table of material pairs: those of [`Coefficients`], those of [`ExtendedCoefficients`], one of padding.
pub const COEFFICIENTS: usize = 20;

/// Relative motion of two surfaces in contact.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct RelativeMotion<R: Real> {
    /// Velocity of i's surface relative to j's at the contact point \[m/s\].
    pub velocity: Vector3<R>,
    /// ½ (ω_i + ω_j)·n: the rate at which the contact rotates about its own normal \[rad/s\].
    pub twist: R,
}

/// Contact history of a frictional contact.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ContactHistory<R: Real> {
    /// Tangential spring force on i \[N\].
    pub force: Vector3<R>,
    /// Contact radius √(R* δ) at the last step \[m\]; zero means no contact.
    pub contact_radius: R,
}

/// Force on i, and its powers in this step.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ContactResponse<R: Real> {
    /// Normal force \[N\] along the normal, never negative.
    pub normal: R,
    /// Tangential force on i \[N\].
    pub tangential: Vector3<R>,
    /// Contact history for the next step.
    pub history: ContactHistory<R>,
    /// Power dissipated by normal damping \[W\].
    pub normal_power: R,
    /// Power that the tangential force takes from the motion \[W\]: into its spring, by damping and by sliding.
    pub tangential_power: R,
    /// Part of `tangential_power` that damping dissipates \[W\].
    pub damping_power: R,
}

/// The response without contact: no force and no history.
#[cube]
#[inline(always)]
pub fn no_response<R: Real>() -> ContactResponse<R> {
    let zero = R::new(0.0);
    ContactResponse::<R> {
        normal: zero,
        tangential: Vector3::<R>::zero(),
        history: ContactHistory::<R> {
            force: Vector3::<R>::zero(),
            contact_radius: zero,
        },
        normal_power: zero,
        tangential_power: zero,
        damping_power: zero,
    }
}

/// Normal force, and the power that its dashpot dissipates.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct NormalResponse<R: Real> {
    /// Normal force \[N\], never negative.
    pub force: R,
    /// Power dissipated by normal damping \[W\].
    pub power: R,
}

/// Normal force of a contact: spring and dashpot, never attractive.
#[cube]
#[inline(always)]
pub fn normal_contact<R: Real>(touch: &ContactPair<R>, normal_velocity: R, coefficients: &Coefficients<R>) -> NormalResponse<R> {
    let law = normal_force::<R>(touch, coefficients);
    let force = larger::<R>(law.elastic - law.damping * normal_velocity, R::new(0.0));
    NormalResponse::<R> {
        force,
        power: (law.elastic - force) * normal_velocity,
    }
}

/// Lower bound of a squared force \[N²\], so that no divisor is zero. It is below every force that matters and within the range of single precision.
const NOTHING: f32 = 1.0e-37;

/// The stored force of a contact that rotated. It is projected on the new tangent plane, rotated by the twist about the normal, and scaled to its
/// former length (\[PUC-Rio 2009, § 5.3.1\]: the same rotation as of f₁ and f₂ there, to first order).
#[cube]
#[inline(always)]
pub fn carried<R: Real>(stored: &Vector3<R>, normal: &Vector3<R>, turn: R) -> Vector3<R> {
    let flat = stored.minus(&normal.times(stored.dot(normal)));
    let turned = flat.plus(&normal.cross(&flat).times(turn));
    let shortening = R::inverse(larger::<R>(turned.dot(&turned), R::new(NOTHING)));
    turned.times(R::root(stored.dot(stored) * shortening))
}

/// Energy of a tangential spring whose force is `force` \[J\].
#[cube]
#[inline(always)]
pub fn spring_energy<R: Real>(force: &Vector3<R>, stiffness: R) -> R {
    let pull = force.dot(force);
    let mut energy = R::new(0.0);
    if pull > R::new(0.0) && stiffness > R::new(0.0) {
        energy = pull / (stiffness + stiffness);
    }
    energy
}

/// Response of a spring with a slider over one time step.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct SliderResponse<R: Real> {
    /// Force now.
    pub force: Vector3<R>,
    /// Spring force half a step later.
    pub next: Vector3<R>,
    /// Power taken from the motion \[W\]: into the spring, by damping and by sliding.
    pub power: R,
    /// Part of `power` that damping dissipates \[W\].
    pub damping_power: R,
}

/// A spring with a dashpot and a slider that slides at `limit`, over one time step. It serves forces with velocities, and torques with angular
/// velocities.
///
/// The stored spring force is that at half steps, f^{t+Δt/2} = f^{t−Δt/2} − k v Δt. At whole steps the mean of two half steps acts. This is of second
/// order in Δt, and conserves energy exactly while the contact sticks. Damping acts below the limit and not while it slides.
#[cube]
#[inline(always)]
pub fn restrain<R: Real>(stored: &Vector3<R>, velocity: &Vector3<R>, stiffness: R, dashpot: R, limit: R, dt: R) -> SliderResponse<R> {
    let step = velocity.times(stiffness * dt);
    let spring = stored.minus(&step.times(R::new(0.5)));
    let slides = spring.dot(&spring) >= limit * limit;
    // Selects replace branches here. At the end of a long chain of operations a mispredicted branch makes a processor wait for the whole chain.
    let mut onward = R::new(0.5);
    let mut damping = dashpot;
    if slides {
        onward = R::new(0.0);
        damping = R::new(0.0);
    }
    let damped = spring.minus(&velocity.times(damping));
    let share = smaller::<R>(
        limit * R::inverse_root(larger::<R>(damped.dot(&damped), R::new(NOTHING))),
        R::new(1.0),
    );
    let force = damped.times(share);
    let mut kept = R::new(1.0);
    if slides {
        kept = share;
    }
    let elastic = spring.times(kept);
    let next = elastic.minus(&step.times(onward));
    let power = -force.dot(velocity);
    let damping_power = elastic.dot(velocity) + power;
    SliderResponse::<R> {
        force,
        next,
        power,
        damping_power,
    }
}

/// What acts on the spring and the slider of a frictional contact in a time step.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct TangentialLoad<R: Real> {
    /// Normal force, and the power that its dashpot dissipates.
    pub pressure: NormalResponse<R>,
    /// Tangential velocity of the surfaces \[m/s\].
    pub velocity: Vector3<R>,
    /// Spring force that is left of the last step \[N\].
    pub stored: Vector3<R>,
    /// Stiffness of the spring \[N/m\].
    pub stiffness: R,
    /// Dashpot coefficient \[N s/m\].
    pub dashpot: R,
}

/// First part of a frictional contact over one time step: the normal force, and what acts in the tangent plane.
#[cube]
#[inline(always)]
pub fn tangential_load<R: Real>(
    touch: &ContactPair<R>,
    normal: &Vector3<R>,
    approach: &RelativeMotion<R>,
    contact_history: &ContactHistory<R>,
    coefficients: &Coefficients<R>,
    dt: R,
) -> TangentialLoad<R> {
    let normal_velocity = approach.velocity.dot(normal);
    let left = stored_force_left::<R>(contact_history.contact_radius, touch.contact_radius, coefficients);
    TangentialLoad::<R> {
        pressure: normal_contact::<R>(touch, normal_velocity, coefficients),
        velocity: approach.velocity.minus(&normal.times(normal_velocity)),
        stored: carried::<R>(&contact_history.force.times(left), normal, approach.twist * dt),
        stiffness: tangential_stiffness::<R>(touch.contact_radius, coefficients),
        dashpot: tangential_dashpot::<R>(touch, coefficients),
    }
}

/// Second part of a frictional contact over one time step. Coulomb's law limits the spring of the tangential law.
#[cube]
#[inline(always)]
pub fn frictional_response<R: Real>(
    load: &TangentialLoad<R>,
    contact_radius: R,
    coefficients: &Coefficients<R>,
    dt: R,
) -> ContactResponse<R> {
    let limit = coefficients.friction * load.pressure.force;
    let drag = restrain::<R>(&load.stored, &load.velocity, load.stiffness, load.dashpot, limit, dt);
    ContactResponse::<R> {
        normal: load.pressure.force,
        tangential: drag.force,
        history: ContactHistory::<R> {
            force: drag.next,
            contact_radius,
        },
        normal_power: load.pressure.power,
        tangential_power: drag.power,
        damping_power: drag.damping_power,
    }
}

/// A frictional contact over one time step.
#[cube]
#[inline(always)]
pub fn frictional_contact<R: Real>(
    touch: &ContactPair<R>,
    normal: &Vector3<R>,
    approach: &RelativeMotion<R>,
    contact_history: &ContactHistory<R>,
    coefficients: &Coefficients<R>,
    dt: R,
) -> ContactResponse<R> {
    let load = tangential_load::<R>(touch, normal, approach, contact_history, coefficients, dt);
    frictional_response::<R>(&load, touch.contact_radius, coefficients, dt)
}
