//! A contact with all that laws can add to friction: attraction, plastic flow, resistance to rolling and twisting.
//!
//! A scene in which no pair of materials asks for any of it never comes here: see [`super::rub()`].

use super::rolling::Turning;
use super::twisting::Disk;
use super::{
    Approach, Coefficients, Memory, NormalForce, Response, Touch, carried, cohesion, hysteretic, mindlin, no_response, normal_energy,
    normal_force, potential, restrain, rolling, spring_energy, stored_force_left, tangential_dashpot, tangential_stiffness, twisting,
    viscoelastic,
};
use crate::real::{Real, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// What a pair of materials means to the laws of compound contacts, derived once on the host by [`super::derive()`].
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct Supplement<R: Real> {
    /// k₂ of the hysteretic law \[N/m\].
    pub unloading_stiffness: R,
    /// Code of the law of attraction.
    pub cohesion_law: R,
    /// Strength of the attraction, by law: 2π c \[Pa\], 4πγ \[N/m\], πγ/(4E*) \[m\], 4πσ cos θ \[N/m\].
    pub adhesion: R,
    /// V/π of a liquid bridge \[m³\].
    pub bridge_span: R,
    /// Gap at which a liquid bridge tears \[m\].
    pub bridge_length: R,
    /// Code of the law against rolling.
    pub rolling_law: R,
    /// μ_r \[-\].
    pub rolling_friction: R,
    /// Damping ratio of the springs against rolling and twisting \[-\].
    pub rolling_damping: R,
    /// Code of the law against twisting.
    pub twisting_law: R,
    /// μ_tw \[-\].
    pub twisting_friction: R,
    /// Heat conductance per contact radius, 4 k_i k_j/(k_i + k_j) \[W/(m K)\].
    pub conductivity: R,
}

/// Numbers of [`Supplement`].
pub const SUPPLEMENT: usize = 11;

/// Two bodies near each other.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Closeness<R: Real> {
    /// How they touch; the overlap is negative, and the contact radius zero, where they are apart.
    pub touch: Touch<R>,
    /// R* \[m\].
    pub effective_radius: R,
    /// Distance of the centers at which they just touch \[m\].
    pub reach: R,
    /// Reduced moment of inertia about their centers \[kg m²\].
    pub inertia: R,
}

/// What a compound contact remembers beside its tangential spring.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Imprint<R: Real> {
    /// Torque of the spring against rolling, on i \[N m\].
    pub rolling: Vector3<R>,
    /// Torque of the spring against twisting, on i about the normal \[N m\]; the same for j about its own.
    pub twisting: R,
    /// Largest overlap since the two touched \[m\].
    pub largest_overlap: R,
    /// 1 while they touch or hold each other, else 0.
    pub holds: R,
}

/// Numbers of [`Imprint`].
pub const IMPRINT: usize = 6;

/// What two bodies near each other do to each other.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Joint<R: Real> {
    /// Forces and powers; the normal force may pull.
    pub response: Response<R>,
    /// Torque on i beside that of the tangential force \[N m\]; j gets the opposite.
    pub couple: Vector3<R>,
    /// What the contact remembers from now on.
    pub imprint: Imprint<R>,
}

/// Spring and dashpot of any normal law.
#[cube]
#[inline(always)]
fn spring_of<R: Real>(close: &Closeness<R>, largest: R, coefficients: &Coefficients<R>, supplement: &Supplement<R>) -> NormalForce<R> {
    let law = coefficients.normal_law;
    let mut spring = normal_force::<R>(&close.touch, coefficients);
    if law == R::new(2.0) {
        let viscous = viscoelastic::normal::<R>(&close.touch, coefficients);
        spring.elastic = viscous.elastic;
        spring.damping = viscous.damping;
    }
    if law == R::new(3.0) {
        spring.elastic = hysteretic::elastic::<R>(close.touch.overlap, largest, coefficients, supplement);
        spring.damping = R::new(0.0);
    }
    if law == R::new(4.0) {
        spring.elastic = potential::elastic::<R>(close.touch.overlap, close.reach, coefficients.normal_stiffness);
        spring.damping = R::new(0.0);
    }
    spring
}

/// Tangent stiffness of the normal law, as springs against rolling read it \[N/m\].
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

/// What is left of the stored tangential force, for every tangential law.
#[cube]
#[inline(always)]
fn force_left<R: Real>(before: R, now: R, coefficients: &Coefficients<R>) -> R {
    let mut left = stored_force_left::<R>(before, now, coefficients);
    if coefficients.tangential_law == R::new(4.0) {
        left = mindlin::displacement_kept::<R>(before, now);
    }
    left
}

/// Two bodies that are near each other, over one time step: they touch, or hold each other since they touched, or do nothing.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what a contact is made of")]
pub fn interact<R: Real>(
    close: &Closeness<R>,
    normal: &Vector3<R>,
    approach: &Approach<R>,
    turning: &Vector3<R>,
    memory: &Memory<R>,
    imprint: &Imprint<R>,
    coefficients: &Coefficients<R>,
    supplement: &Supplement<R>,
    dt: R,
) -> Joint<R> {
    let zero = R::new(0.0);
    let one = R::new(1.0);
    let overlap = close.touch.overlap;
    let mut longest = zero;
    if imprint.holds > zero {
        longest = cohesion::longest_gap::<R>(close.effective_radius, supplement);
    }
    let mut holds = zero;
    if -overlap < longest {
        holds = one;
    }
    let mut response = no_response::<R>();
    let mut couple = Vector3::<R>::zero();
    let mut next = Imprint::<R> {
        rolling: Vector3::<R>::zero(),
        twisting: zero,
        largest_overlap: zero,
        holds,
    };
    // What a touch sets free and a tear loses, all within this step.
    let mut taken_at_once = zero;
    if holds > imprint.holds {
        taken_at_once = cohesion::released_by_touching::<R>(close.effective_radius, coefficients, supplement);
    }
    if holds < imprint.holds {
        taken_at_once = cohesion::lost_by_tearing::<R>(close.effective_radius, coefficients, supplement);
    }
    if holds > zero {
        let normal_velocity = approach.velocity.dot(normal);
        let mut spring = NormalForce::<R> {
            elastic: zero,
            damping: zero,
        };
        if overlap > zero {
            next.largest_overlap = larger::<R>(imprint.largest_overlap, overlap);
            spring = spring_of::<R>(close, imprint.largest_overlap, coefficients, supplement);
            if coefficients.normal_law == R::new(3.0) && overlap > imprint.largest_overlap {
                response.normal_power = hysteretic::plastic_power::<R>(overlap, -normal_velocity, coefficients, supplement);
            }
        }
        let radius = close.touch.contact_radius;
        let sticking = cohesion::stick::<R>(overlap, radius, spring.elastic, close.effective_radius, coefficients, supplement);
        let mut damping = spring.damping;
        if supplement.cohesion_law == R::new(3.0) {
            let touch = Touch::<R> {
                overlap,
                contact_radius: sticking.contact_radius,
                effective_mass: close.touch.effective_mass,
            };
            damping = normal_force::<R>(&touch, coefficients).damping;
        }
        let touch = Touch::<R> {
            overlap,
            contact_radius: sticking.contact_radius,
            effective_mass: close.touch.effective_mass,
        };
        let mut push = spring.elastic - damping * normal_velocity;
        if supplement.cohesion_law != R::new(3.0) {
            push = larger::<R>(push, zero);
        }
        // Friction, rolling and twisting are all limited by what presses the surfaces together, not by what is left of it after the pull.
        let mut pressing = push + sticking.load;
        if supplement.cohesion_law == R::new(3.0) {
            pressing = larger::<R>(push - sticking.pull + sticking.load, zero);
        }
        let velocity = approach.velocity.minus(&normal.times(normal_velocity));
        let stiffness = tangential_stiffness::<R>(touch.contact_radius, coefficients);
        let dashpot = tangential_dashpot::<R>(&touch, coefficients);
        let left = force_left::<R>(memory.contact_radius, touch.contact_radius, coefficients);
        let stored = carried::<R>(&memory.force.times(left), normal, approach.twist * dt);
        let limit = coefficients.friction * pressing;
        let drag = restrain::<R>(&stored, &velocity, stiffness, dashpot, limit, dt);

        let about_normal = turning.dot(normal);
        let tangent_stiffness = normal_stiffness::<R>(touch.contact_radius, close.reach, coefficients);
        let roll = Turning::<R> {
            velocity: turning.minus(&normal.times(about_normal)),
            stored: carried::<R>(&imprint.rolling, normal, approach.twist * dt),
            load: pressing,
            arm: supplement.rolling_friction * close.effective_radius,
            normal_stiffness: tangent_stiffness,
            inertia: close.inertia,
        };
        let rolled = rolling::resist::<R>(&roll, supplement, dt);
        let twist = Turning::<R> {
            velocity: normal.times(about_normal),
            stored: normal.times(imprint.twisting),
            load: pressing,
            arm: supplement.twisting_friction * close.effective_radius,
            normal_stiffness: tangent_stiffness,
            inertia: close.inertia,
        };
        let disk = Disk::<R> {
            radius: touch.contact_radius,
            stiffness,
            dashpot,
            limit,
        };
        let twisted = twisting::resist::<R>(&twist, &disk, supplement, dt);

        couple = rolled.force.plus(&twisted.force);
        next.rolling = rolled.next.plus(&Vector3::<R>::zero());
        next.twisting = twisted.next.dot(normal);
        response.normal = push - sticking.pull;
        response.tangential = drag.force.plus(&Vector3::<R>::zero());
        response.memory.force = drag.next.plus(&Vector3::<R>::zero());
        response.memory.contact_radius = touch.contact_radius;
        response.normal_power += (spring.elastic - push) * normal_velocity;
        response.tangential_power = drag.power + rolled.power + twisted.power;
        response.damping_power = drag.damping_power + rolled.damping_power + twisted.damping_power;
    }
    response.normal_power += taken_at_once / dt;
    Joint::<R> {
        response,
        couple,
        imprint: next,
    }
}

/// Energy stored in a compound contact \[J\].
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Hoard<R: Real> {
    /// By the normal law and by attraction.
    pub normal: R,
    /// In the springs against sliding, rolling and twisting.
    pub tangential: R,
}

/// Energy stored between two bodies near each other.
#[cube]
#[inline(always)]
pub fn stored_in_joint<R: Real>(
    close: &Closeness<R>,
    memory: &Memory<R>,
    imprint: &Imprint<R>,
    coefficients: &Coefficients<R>,
    supplement: &Supplement<R>,
) -> Hoard<R> {
    let mut normal = R::new(0.0);
    let mut tangential = R::new(0.0);
    if imprint.holds > R::new(0.0) {
        let touch = &close.touch;
        let mut elastic = R::new(0.0);
        if touch.overlap > R::new(0.0) {
            elastic = spring_of::<R>(close, imprint.largest_overlap, coefficients, supplement).elastic;
            normal = normal_energy::<R>(touch, coefficients);
            if coefficients.normal_law == R::new(3.0) {
                normal = hysteretic::energy::<R>(elastic, supplement);
            }
            if coefficients.normal_law == R::new(4.0) {
                normal = potential::energy::<R>(touch.overlap, close.reach, coefficients.normal_stiffness);
            }
        }
        let sticking = cohesion::stick::<R>(
            touch.overlap,
            touch.contact_radius,
            elastic,
            close.effective_radius,
            coefficients,
            supplement,
        );
        normal += sticking.energy;
        let radius = sticking.contact_radius;
        let sliding = tangential_stiffness::<R>(radius, coefficients);
        let tangent_stiffness = normal_stiffness::<R>(radius, close.reach, coefficients);
        let rolling_arm = supplement.rolling_friction * close.effective_radius;
        let rolling = rolling::stiffness::<R>(tangent_stiffness, rolling_arm);
        let mut twisting = rolling::stiffness::<R>(tangent_stiffness, supplement.twisting_friction * close.effective_radius);
        if supplement.twisting_law == R::new(3.0) {
            twisting = twisting::stiffness_of_disk::<R>(radius, sliding);
        }
        let twist = Vector3::<R> {
            x: imprint.twisting,
            y: R::new(0.0),
            z: R::new(0.0),
        };
        tangential = spring_energy::<R>(&memory.force, sliding)
            + spring_energy::<R>(&imprint.rolling, rolling)
            + spring_energy::<R>(&twist, twisting);
    }
    Hoard::<R> { normal, tangential }
}
