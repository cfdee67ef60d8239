//! Contact of two grains, or of a grain and a wall: normal and tangential force with history \[PUC-Rio 2009, ch. 3 and § 5.3; ME964 2011\].
//!
//! Conventions: the normal points from j to i, the force is the one on i, approach has a negative normal velocity.

pub mod cohesion;
pub mod compound;
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

pub use compound::{Closeness, Imprint, Joint, Supplement, interact, stored_in_joint};
pub use family::{
    Adhesive, CohesionLaw, NormalLaw, PairOfLaws, PairOfMaterials, Resistance, RollingLaw, TangentialLaw, TwistingLaw, derive,
    normal_energy, normal_force, stored_force_left, tangential_dashpot, tangential_stiffness,
};

use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// How two bodies touch.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Touch<R: Real> {
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

/// The spring of a normal law whose dashpot is a share of critical damping.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct NormalSpring<R: Real> {
    /// Spring force \[N\], repulsive when positive.
    pub elastic: R,
    /// Tangent stiffness over the constant that the damping parameter holds the root of.
    pub tangent: R,
}

/// What a pair of materials means to the laws, derived once on the host by [`derive()`].
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Coefficients<R: Real> {
    /// Stiffness parameter of the normal law.
    pub normal_stiffness: R,
    /// Damping parameter of the normal law.
    pub normal_damping: R,
    /// Stiffness parameter of the tangential law.
    pub tangential_stiffness: R,
    /// Damping parameter of the tangential law: the same share of critical damping as in normal direction.
    pub tangential_damping: R,
    /// Coulomb coefficient μ \[-\].
    pub friction: R,
    /// Code of the normal law, [`NormalLaw::code`].
    pub normal_law: R,
    /// Code of the tangential law, [`TangentialLaw::code`].
    pub tangential_law: R,
}

/// Numbers per row of a table of pairs of materials: those of [`Coefficients`], a padding, those of [`Supplement`].
pub const COEFFICIENTS: usize = 20;

/// Relative motion of two touching surfaces.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Approach<R: Real> {
    /// Velocity of i's surface relative to j's at the contact point \[m/s\].
    pub velocity: Vector3<R>,
    /// ½ (ω_i + ω_j)·n \[rad/s\]: the turn of the contact about its own normal.
    pub twist: R,
}

/// What a frictional contact remembers.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Memory<R: Real> {
    /// Tangential spring force on i \[N\].
    pub force: Vector3<R>,
    /// Contact radius √(R* δ) at the last step \[m\]; zero means not touching.
    pub contact_radius: R,
}

/// Force on i and where the work went in this step.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Response<R: Real> {
    /// Normal force \[N\] along the normal, never negative.
    pub normal: R,
    /// Tangential force on i \[N\].
    pub tangential: Vector3<R>,
    /// What the contact remembers from now on.
    pub memory: Memory<R>,
    /// Power taken by normal damping \[W\].
    pub normal_power: R,
    /// Power taken from the motion by the tangential force \[W\]: into its spring, by damping, by sliding.
    pub tangential_power: R,
    /// The part of it that damping takes \[W\].
    pub damping_power: R,
}

/// Nothing, remembered and done.
#[cube]
#[inline(always)]
pub fn no_response<R: Real>() -> Response<R> {
    let zero = R::new(0.0);
    Response::<R> {
        normal: zero,
        tangential: Vector3::<R>::zero(),
        memory: Memory::<R> {
            force: Vector3::<R>::zero(),
            contact_radius: zero,
        },
        normal_power: zero,
        tangential_power: zero,
        damping_power: zero,
    }
}

/// The normal force and the power its dashpot takes.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Pressure<R: Real> {
    /// Normal force \[N\], never negative.
    pub force: R,
    /// Power taken by normal damping \[W\].
    pub power: R,
}

/// Normal part of a contact: spring and dashpot, never attractive.
#[cube]
#[inline(always)]
pub fn press<R: Real>(touch: &Touch<R>, normal_velocity: R, coefficients: &Coefficients<R>) -> Pressure<R> {
    let law = normal_force::<R>(touch, coefficients);
    let force = larger::<R>(law.elastic - law.damping * normal_velocity, R::new(0.0));
    Pressure::<R> {
        force,
        power: (law.elastic - force) * normal_velocity,
    }
}

/// Below every squared force that matters \[N²\], above what single precision cannot hold: a divisor that is never zero.
const NOTHING: f32 = 1.0e-37;

/// The stored force carried along by a contact that turned: projected on the new tangent plane, turned by the twist about the normal,
/// and given its length back (\[PUC-Rio 2009, § 5.3.1\]: the same rotation as f₁ and f₂ there, to first order).
#[cube]
#[inline(always)]
pub fn carried<R: Real>(stored: &Vector3<R>, normal: &Vector3<R>, turn: R) -> Vector3<R> {
    let flat = stored.minus(&normal.times(stored.dot(normal)));
    let turned = flat.plus(&normal.cross(&flat).times(turn));
    let shortening = R::inverse(larger::<R>(turned.dot(&turned), R::new(NOTHING)));
    turned.times(R::root(stored.dot(stored) * shortening))
}

/// Energy of a tangential spring that pulls with `force` \[J\].
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

/// What a spring with a slider did over one time step.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Restraint<R: Real> {
    /// What it exerts now.
    pub force: Vector3<R>,
    /// What its spring exerts half a step later.
    pub next: Vector3<R>,
    /// Power it takes \[W\]: into its spring, by damping, by sliding.
    pub power: R,
    /// The part of it that damping takes \[W\].
    pub damping_power: R,
}

/// A spring with a dashpot behind a slider that gives way at `limit`, over one time step; for forces and velocities, or for torques and
/// angular velocities.
///
/// The stored spring force lives at half steps, f^{t+Δt/2} = f^{t−Δt/2} − k v Δt, and acts at whole steps with the mean of the two:
/// of second order in Δt, and exact in energy while it sticks. Damping acts inside the limit and not while sliding.
#[cube]
#[inline(always)]
pub fn restrain<R: Real>(stored: &Vector3<R>, velocity: &Vector3<R>, stiffness: R, dashpot: R, limit: R, dt: R) -> Restraint<R> {
    let step = velocity.times(stiffness * dt);
    let spring = stored.minus(&step.times(R::new(0.5)));
    let slides = spring.dot(&spring) >= limit * limit;
    // No branches on numbers at the end of so long a chain: a processor that guesses wrong there waits for all of it.
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
    Restraint::<R> {
        force,
        next,
        power,
        damping_power,
    }
}

/// A frictional contact over one time step: Coulomb's law limits the spring of the tangential law.
#[cube]
#[inline(always)]
pub fn rub<R: Real>(
    touch: &Touch<R>,
    normal: &Vector3<R>,
    approach: &Approach<R>,
    memory: &Memory<R>,
    coefficients: &Coefficients<R>,
    dt: R,
) -> Response<R> {
    let normal_velocity = approach.velocity.dot(normal);
    let pressure = press::<R>(touch, normal_velocity, coefficients);
    let velocity = approach.velocity.minus(&normal.times(normal_velocity));
    let stiffness = tangential_stiffness::<R>(touch.contact_radius, coefficients);
    let left = stored_force_left::<R>(memory.contact_radius, touch.contact_radius, coefficients);
    let stored = carried::<R>(&memory.force.times(left), normal, approach.twist * dt);
    let dashpot = tangential_dashpot::<R>(touch, coefficients);
    let limit = coefficients.friction * pressure.force;
    let drag = restrain::<R>(&stored, &velocity, stiffness, dashpot, limit, dt);
    Response::<R> {
        normal: pressure.force,
        tangential: drag.force,
        memory: Memory::<R> {
            force: drag.next,
            contact_radius: touch.contact_radius,
        },
        normal_power: pressure.power,
        tangential_power: drag.power,
        damping_power: drag.damping_power,
    }
}
