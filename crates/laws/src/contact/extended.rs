//! Extended contact: a contact with cohesion, plastic flow, rolling resistance or twisting resistance beside friction.
//!
//! A scene without any of these never runs this code: see [`super::frictional_contact()`].
//!
//! ```
//! use seixo_laws::contact::{ContactPair, NormalLaw, PairOfMaterials, TangentialLaw, derive, no_response};
//! use seixo_laws::{Vector3, contact::extended::{ExtendedHistory, ExtendedPair, stored_in_joint}};
//! let pair = PairOfMaterials { stiffness: 1e4, restitution: 0.5, ..PairOfMaterials::default() };
//! let laws = derive(NormalLaw::Hysteretic, TangentialLaw::None, &pair);
//! let contact = ContactPair { overlap: 1e-4, contact_radius: 1e-3, effective_mass: 1e-6 };
//! let close = ExtendedPair { contact, effective_radius: 1e-2, reach: 4e-2, inertia: 1e-9 };
//! let history = ExtendedHistory { rolling: Vector3::zero(), twisting: 0.0, largest_overlap: 1e-4, holds: 1.0 };
//! let stored = stored_in_joint::<f64>(&close, &no_response::<f64>().history, &history, &laws.coefficients, &laws.extended_coefficients);
//! // Of the work ½ k δ² of loading only the share e² is stored, and so comes back. Plastic flow took the rest.
//! assert!((stored.normal / (0.5 * 1e4 * 1e-8) - 0.25).abs() < 1e-12);
//! ```

use super::rolling::RotationResistance;
use super::twisting::ContactDisk;
use super::{
    Coefficients, CohesionLaw, ContactHistory, ContactPair, ContactResponse, NormalForce, NormalLaw, RelativeMotion, TwistingLaw, carried,
    cohesion, hysteretic, no_response, normal_energy, normal_force, potential, restrain, rolling, spring_energy, stored_force_left,
    tangential_dashpot, tangential_stiffness, twisting, viscoelastic,
};
use crate::real::{Real, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Coefficients of a pair of materials for extended contacts, derived once on the host by [`super::derive()`].
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct ExtendedCoefficients<R: Real> {
    /// k₂ of the hysteretic law \[N/m\].
    pub unloading_stiffness: R,
    /// Code of the cohesion law.
    pub cohesion_law: R,
    /// Strength of the attraction, by law: 2π c \[Pa\], 4πγ \[N/m\], πγ/(4E*) \[m\], 4πσ cos θ \[N/m\].
    pub adhesion: R,
    /// V/π of a capillary bridge \[m³\].
    pub bridge_span: R,
    /// Gap at which a capillary bridge ruptures \[m\].
    pub bridge_length: R,
    /// Code of the rolling law.
    pub rolling_law: R,
    /// μ_r \[-\].
    pub rolling_friction: R,
    /// Damping ratio of the springs against rolling and twisting \[-\].
    pub rolling_damping: R,
    /// Code of the twisting law.
    pub twisting_law: R,
    /// μ_tw \[-\].
    pub twisting_friction: R,
}

/// Numbers of [`ExtendedCoefficients`].
pub const EXTENDED_COEFFICIENTS: usize = 10;

/// Two bodies near each other.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ExtendedPair<R: Real> {
    /// Geometry of their contact; without overlap, the overlap is negative and the contact radius is zero.
    pub contact: ContactPair<R>,
    /// R* \[m\].
    pub effective_radius: R,
    /// Distance of the centers at which the surfaces just touch \[m\].
    pub reach: R,
    /// Effective moment of inertia about their centers \[kg m²\].
    pub inertia: R,
}

/// Contact history of an extended contact, beside its tangential spring.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ExtendedHistory<R: Real> {
    /// Torque of the rolling spring on i \[N m\].
    pub rolling: Vector3<R>,
    /// Torque of the twisting spring on i about the normal \[N m\]; that on j about its own normal is the same.
    pub twisting: R,
    /// Largest overlap since contact began \[m\].
    pub largest_overlap: R,
    /// 1 while the bodies touch or are connected by cohesion, else 0.
    pub holds: R,
}

/// Numbers of [`ExtendedHistory`].
pub const EXTENDED_HISTORY: usize = 6;

/// Response of two bodies near each other.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ExtendedResponse<R: Real> {
    /// Forces and powers; the normal force may be attractive.
    pub response: ContactResponse<R>,
    /// Torque on i beside that of the tangential force \[N m\]; the torque on j is opposite.
    pub couple: Vector3<R>,
    /// Contact history for the next step.
    pub extended_history: ExtendedHistory<R>,
}

/// Spring force and dashpot of any normal law.
#[cube]
#[inline(always)]
fn spring_of<R: Real>(
    close: &ExtendedPair<R>,
    largest: R,
    coefficients: &Coefficients<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
) -> NormalForce<R> {
    let law = coefficients.normal_law;
    let mut spring = normal_force::<R>(&close.contact, coefficients);
    if law == R::new(2.0) {
        let viscous = viscoelastic::normal::<R>(&close.contact, coefficients);
        spring.elastic = viscous.elastic;
        spring.damping = viscous.damping;
    }
    if law == R::new(3.0) {
        spring.elastic = hysteretic::elastic::<R>(close.contact.overlap, largest, coefficients, extended_coefficients);
        spring.damping = R::new(0.0);
    }
    if law == R::new(4.0) {
        spring.elastic = potential::elastic::<R>(close.contact.overlap, close.reach, coefficients.normal_stiffness);
        spring.damping = R::new(0.0);
    }
    spring
}

/// Tangent stiffness of the normal law for rolling springs \[N/m\].
#[cube]
#[inline(always)]
fn normal_stiffness<R: Real>(contact_radius: R, reach: R, coefficients: &Coefficients<R>) -> R {
    let law = coefficients.normal_law;
    let mut stiffness = coefficients.normal_stiffness;
    if law == R::new(1.0) || law == R::new(2.0) {
        stiffness = R::new(1.5) * coefficients.normal_stiffness * contact_radius;
    }
    if law == R::new(4.0) {
        stiffness = potential::stiffness::<R>(reach, coefficients.normal_stiffness);
    }
    stiffness
}

/// Response of two nearby bodies over one time step. They touch, are still connected since they touched, or do not interact.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what a contact is made of")]
pub fn interact<R: Real>(
    close: &ExtendedPair<R>,
    normal: &Vector3<R>,
    approach: &RelativeMotion<R>,
    turning: &Vector3<R>,
    contact_history: &ContactHistory<R>,
    extended_history: &ExtendedHistory<R>,
    coefficients: &Coefficients<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
    dt: R,
) -> ExtendedResponse<R> {
    let zero = R::new(0.0);
    let one = R::new(1.0);
    let overlap = close.contact.overlap;
    let mut longest = zero;
    if extended_history.holds > zero {
        longest = cohesion::longest_gap::<R>(close.effective_radius, extended_coefficients);
    }
    let mut holds = zero;
    if -overlap < longest {
        holds = one;
    }
    let mut response = no_response::<R>();
    let mut couple = Vector3::<R>::zero();
    let mut next = ExtendedHistory::<R> {
        rolling: Vector3::<R>::zero(),
        twisting: zero,
        largest_overlap: zero,
        holds,
    };
    // Energy released at first contact, or lost at rupture, all within this step.
    let mut taken_at_once = zero;
    if holds > extended_history.holds {
        taken_at_once = cohesion::released_by_touching::<R>(close.effective_radius, coefficients, extended_coefficients);
    }
    if holds < extended_history.holds {
        taken_at_once = cohesion::lost_by_tearing::<R>(close.effective_radius, coefficients, extended_coefficients);
    }
    if holds > zero {
        let normal_velocity = approach.velocity.dot(normal);
        let mut spring = NormalForce::<R> {
            elastic: zero,
            damping: zero,
        };
        if overlap > zero {
            next.largest_overlap = larger::<R>(extended_history.largest_overlap, overlap);
            spring = spring_of::<R>(close, extended_history.largest_overlap, coefficients, extended_coefficients);
            if coefficients.normal_law == R::new(NormalLaw::HYSTERETIC) && overlap > extended_history.largest_overlap {
                response.normal_power = hysteretic::plastic_power::<R>(overlap, -normal_velocity, coefficients, extended_coefficients);
            }
        }
        let radius = close.contact.contact_radius;
        let sticking = cohesion::cohesive_force::<R>(
            overlap,
            radius,
            spring.elastic,
            close.effective_radius,
            coefficients,
            extended_coefficients,
        );
        let mut damping = spring.damping;
        if extended_coefficients.cohesion_law == R::new(CohesionLaw::JKR) {
            let touch = ContactPair::<R> {
                overlap,
                contact_radius: sticking.contact_radius,
                effective_mass: close.contact.effective_mass,
            };
            damping = normal_force::<R>(&touch, coefficients).damping;
        }
        let touch = ContactPair::<R> {
            overlap,
            contact_radius: sticking.contact_radius,
            effective_mass: close.contact.effective_mass,
        };
        let mut push = spring.elastic - damping * normal_velocity;
        if extended_coefficients.cohesion_law != R::new(CohesionLaw::JKR) {
            push = larger::<R>(push, zero);
        }
        // Friction, rolling and twisting are limited by the load on the surfaces, not by the net force after attraction.
        let mut pressing = push + sticking.load;
        if extended_coefficients.cohesion_law == R::new(CohesionLaw::JKR) {
            pressing = larger::<R>(push - sticking.pull + sticking.load, zero);
        }
        let velocity = approach.velocity.minus(&normal.times(normal_velocity));
        let stiffness = tangential_stiffness::<R>(touch.contact_radius, coefficients);
        let dashpot = tangential_dashpot::<R>(&touch, coefficients);
        let left = stored_force_left::<R>(contact_history.contact_radius, touch.contact_radius, coefficients);
        let stored = carried::<R>(&contact_history.force.times(left), normal, approach.twist * dt);
        let limit = coefficients.friction * pressing;
        let drag = restrain::<R>(&stored, &velocity, stiffness, dashpot, limit, dt);

        let about_normal = turning.dot(normal);
        let tangent_stiffness = normal_stiffness::<R>(touch.contact_radius, close.reach, coefficients);
        let roll = RotationResistance::<R> {
            velocity: turning.minus(&normal.times(about_normal)),
            stored: carried::<R>(&extended_history.rolling, normal, approach.twist * dt),
            load: pressing,
            arm: extended_coefficients.rolling_friction * close.effective_radius,
            normal_stiffness: tangent_stiffness,
            inertia: close.inertia,
        };
        let rolled = rolling::resist::<R>(&roll, extended_coefficients, dt);
        let twist = RotationResistance::<R> {
            velocity: normal.times(about_normal),
            stored: normal.times(extended_history.twisting),
            load: pressing,
            arm: extended_coefficients.twisting_friction * close.effective_radius,
            normal_stiffness: tangent_stiffness,
            inertia: close.inertia,
        };
        let disk = ContactDisk::<R> {
            radius: touch.contact_radius,
            stiffness,
            dashpot,
            limit,
        };
        let twisted = twisting::resist::<R>(&twist, &disk, extended_coefficients, dt);

        couple = rolled.force.plus(&twisted.force);
        next.rolling = rolled.next.plus(&Vector3::<R>::zero());
        next.twisting = twisted.next.dot(normal);
        response.normal = push - sticking.pull;
        response.tangential = drag.force.plus(&Vector3::<R>::zero());
        response.history.force = drag.next.plus(&Vector3::<R>::zero());
        response.history.contact_radius = touch.contact_radius;
        response.normal_power += (spring.elastic - push) * normal_velocity;
        response.tangential_power = drag.power + rolled.power + twisted.power;
        response.damping_power = drag.damping_power + rolled.damping_power + twisted.damping_power;
    }
    response.normal_power += taken_at_once / dt;
    ExtendedResponse::<R> {
        response,
        couple,
        extended_history: next,
    }
}

/// Energy stored in an extended contact \[J\].
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct StoredEnergy<R: Real> {
    /// Energy of the normal law and of attraction \[J\].
    pub normal: R,
    /// Energy of the springs against sliding, rolling and twisting \[J\].
    pub tangential: R,
}

/// Energy stored between two bodies near each other.
#[cube]
#[inline(always)]
pub fn stored_in_joint<R: Real>(
    close: &ExtendedPair<R>,
    contact_history: &ContactHistory<R>,
    extended_history: &ExtendedHistory<R>,
    coefficients: &Coefficients<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
) -> StoredEnergy<R> {
    let mut normal = R::new(0.0);
    let mut tangential = R::new(0.0);
    if extended_history.holds > R::new(0.0) {
        let touch = &close.contact;
        let mut elastic = R::new(0.0);
        if touch.overlap > R::new(0.0) {
            elastic = spring_of::<R>(close, extended_history.largest_overlap, coefficients, extended_coefficients).elastic;
            normal = normal_energy::<R>(touch, coefficients);
            if coefficients.normal_law == R::new(NormalLaw::HYSTERETIC) {
                normal = hysteretic::energy::<R>(elastic, extended_coefficients);
            }
            if coefficients.normal_law == R::new(NormalLaw::POTENTIAL) {
                normal = potential::energy::<R>(touch.overlap, close.reach, coefficients.normal_stiffness);
            }
        }
        let sticking = cohesion::cohesive_force::<R>(
            touch.overlap,
            touch.contact_radius,
            elastic,
            close.effective_radius,
            coefficients,
            extended_coefficients,
        );
        normal += sticking.energy;
        let radius = sticking.contact_radius;
        let sliding = tangential_stiffness::<R>(radius, coefficients);
        let tangent_stiffness = normal_stiffness::<R>(radius, close.reach, coefficients);
        let rolling_arm = extended_coefficients.rolling_friction * close.effective_radius;
        let rolling = rolling::stiffness::<R>(tangent_stiffness, rolling_arm);
        let mut twisting = rolling::stiffness::<R>(tangent_stiffness, extended_coefficients.twisting_friction * close.effective_radius);
        if extended_coefficients.twisting_law == R::new(TwistingLaw::MARSHALL) {
            twisting = twisting::stiffness_of_disk::<R>(radius, sliding);
        }
        let twist = Vector3::<R> {
            x: extended_history.twisting,
            y: R::new(0.0),
            z: R::new(0.0),
        };
        tangential = spring_energy::<R>(&contact_history.force, sliding)
            + spring_energy::<R>(&extended_history.rolling, rolling)
            + spring_energy::<R>(&twist, twisting);
    }
    StoredEnergy::<R> { normal, tangential }
}
