//! Two grains that touch: from their states to what they do to each other.

use cubecl::prelude::*;
use seixo_laws::contact::{Approach, Closeness, Coefficients, Imprint, Memory, Response, Supplement, Touch, interact, press, rub};
use seixo_laws::motion::inertia;
use seixo_laws::{Real, Vector3, larger};

/// The states of two grains i and j that touch.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Pair<R: Real> {
    /// x_i − x_j \[m\].
    pub apart: Vector3<R>,
    /// (R_i + R_j)² − |x_i − x_j|² \[m²\], taken in the precision of coordinates: an overlap that is small beside the radii keeps its digits.
    pub depth: R,
    /// v_i − v_j \[m/s\].
    pub velocity: Vector3<R>,
    /// Radius of i \[m\].
    pub radius_i: R,
    /// Radius of j \[m\].
    pub radius_j: R,
    /// Mass of i \[kg\].
    pub mass_i: R,
    /// Mass of j \[kg\].
    pub mass_j: R,
}

/// How the two touch.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Meeting<R: Real> {
    /// What the laws need.
    pub touch: Touch<R>,
    /// Unit normal from j to i.
    pub normal: Vector3<R>,
}

/// What the two do to each other.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Outcome<R: Real> {
    /// Force on i \[N\]; j gets the opposite.
    pub force: Vector3<R>,
    /// Torque on i per arm \[N\]; the one on j per arm is the same.
    pub bend: Vector3<R>,
    /// Distance of the contact point from the center of i \[m\].
    pub arm_i: R,
    /// Distance of the contact point from the center of j \[m\].
    pub arm_j: R,
    /// Overlap \[m\].
    pub overlap: R,
    /// What the contact remembers from now on.
    pub memory: Memory<R>,
    /// Power taken by normal damping \[W\].
    pub normal_power: R,
    /// Power taken by tangential forces \[W\].
    pub tangential_power: R,
    /// The part of it that damping takes \[W\].
    pub damping_power: R,
}

/// (R_i + R_j)² − |x_i − x_j|² \[m²\] of two grains this far apart: positive where they touch.
#[cube]
#[inline(always)]
pub fn depth_of<C: Real>(apart: &Vector3<C>, reach: C) -> C {
    reach * reach - apart.dot(apart)
}

/// Geometry and effective quantities of two grains that touch.
#[cube]
#[inline(always)]
pub fn meet<R: Real>(pair: &Pair<R>) -> Meeting<R> {
    let reach = pair.radius_i + pair.radius_j;
    let mass = pair.mass_i + pair.mass_j;
    let square = pair.apart.dot(&pair.apart);
    let inverse_distance = R::inverse_root(square);
    let sum = reach + square * inverse_distance;
    // One inverse serves three quotients.
    let inverse = R::inverse(sum * reach * mass);
    let overlap = pair.depth * (inverse * reach * mass);
    Meeting::<R> {
        touch: Touch::<R> {
            overlap,
            contact_radius: R::root(pair.radius_i * pair.radius_j * overlap * (inverse * sum * mass)),
            effective_mass: pair.mass_i * pair.mass_j * (inverse * sum * reach),
        },
        normal: pair.apart.times(inverse_distance),
    }
}

/// What two smooth grains do to each other: the normal force on i \[N\] and the power that damping takes.
#[cube]
#[inline(always)]
pub fn push_apart<R: Real>(pair: &Pair<R>, coefficients: &Coefficients<R>) -> Outcome<R> {
    let meeting = meet::<R>(pair);
    let pressure = press::<R>(&meeting.touch, pair.velocity.dot(&meeting.normal), coefficients);
    let zero = R::new(0.0);
    Outcome::<R> {
        force: meeting.normal.times(pressure.force),
        bend: Vector3::<R>::zero(),
        arm_i: zero,
        arm_j: zero,
        overlap: meeting.touch.overlap,
        memory: Memory::<R> {
            force: Vector3::<R>::zero(),
            contact_radius: zero,
        },
        normal_power: pressure.power,
        tangential_power: zero,
        damping_power: zero,
    }
}

/// How the surfaces of two grains move on each other, with their arms.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Rolling<R: Real> {
    /// What friction reads.
    pub approach: Approach<R>,
    /// Distance of the contact point from the center of i \[m\].
    pub arm_i: R,
    /// Distance of the contact point from the center of j \[m\].
    pub arm_j: R,
}

/// Relative motion of the surfaces of two grains with these angular velocities.
#[cube]
#[inline(always)]
fn roll<R: Real>(pair: &Pair<R>, normal: &Vector3<R>, overlap: R, spin_i: &Vector3<R>, spin_j: &Vector3<R>) -> Rolling<R> {
    let half = R::new(0.5);
    let arm_i = pair.radius_i - half * overlap;
    let arm_j = pair.radius_j - half * overlap;
    let rolling = spin_i.times(arm_i).plus(&spin_j.times(arm_j));
    Rolling::<R> {
        approach: Approach::<R> {
            velocity: pair.velocity.minus(&rolling.cross(normal)),
            twist: half * spin_i.plus(spin_j).dot(normal),
        },
        arm_i,
        arm_j,
    }
}

/// What comes of a response of the laws.
#[cube]
#[inline(always)]
fn outcome_of<R: Real>(response: &Response<R>, normal: &Vector3<R>, rolling: &Rolling<R>, overlap: R) -> Outcome<R> {
    Outcome::<R> {
        force: normal.times(response.normal).plus(&response.tangential),
        bend: response.tangential.cross(normal),
        arm_i: rolling.arm_i,
        arm_j: rolling.arm_j,
        overlap,
        memory: Memory::<R> {
            force: response.memory.force.plus(&Vector3::<R>::zero()),
            contact_radius: response.memory.contact_radius,
        },
        normal_power: response.normal_power,
        tangential_power: response.tangential_power,
        damping_power: response.damping_power,
    }
}

/// What two rough grains with the angular velocities `spin_i` and `spin_j` do to each other.
#[cube]
#[inline(always)]
pub fn rub_together<R: Real>(
    pair: &Pair<R>,
    spin_i: &Vector3<R>,
    spin_j: &Vector3<R>,
    memory: &Memory<R>,
    coefficients: &Coefficients<R>,
    dt: R,
) -> Outcome<R> {
    let meeting = meet::<R>(pair);
    let rolling = roll::<R>(pair, &meeting.normal, meeting.touch.overlap, spin_i, spin_j);
    let response = rub::<R>(&meeting.touch, &meeting.normal, &rolling.approach, memory, coefficients, dt);
    outcome_of::<R>(&response, &meeting.normal, &rolling, meeting.touch.overlap)
}

/// Two grains near each other, as compound contacts see them.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Near<R: Real> {
    /// What the laws need.
    pub close: Closeness<R>,
    /// Unit normal from j to i.
    pub normal: Vector3<R>,
}

/// What the two do to each other in a compound contact.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Compound<R: Real> {
    /// As without.
    pub outcome: Outcome<R>,
    /// Torque on i beside that of the tangential force \[N m\]; j gets the opposite.
    pub couple: Vector3<R>,
    /// What the contact remembers beside its tangential spring.
    pub imprint: Imprint<R>,
}

/// Geometry and effective quantities of two grains that touch or may hold each other.
#[cube]
#[inline(always)]
pub fn near<R: Real>(pair: &Pair<R>) -> Near<R> {
    let one = R::new(1.0);
    let reach = pair.radius_i + pair.radius_j;
    let distance = pair.apart.length();
    let overlap = pair.depth / (reach + distance);
    let effective_radius = pair.radius_i * pair.radius_j / reach;
    let inertia_i = inertia::<R>(pair.mass_i, pair.radius_i);
    let inertia_j = inertia::<R>(pair.mass_j, pair.radius_j);
    Near::<R> {
        close: Closeness::<R> {
            touch: Touch::<R> {
                overlap,
                contact_radius: R::root(effective_radius * larger::<R>(overlap, R::new(0.0))),
                effective_mass: pair.mass_i * pair.mass_j / (pair.mass_i + pair.mass_j),
            },
            effective_radius,
            reach,
            inertia: inertia_i * inertia_j / (inertia_i + inertia_j),
        },
        normal: pair.apart.times(one / distance),
    }
}

/// What two grains do to each other that touch, or touched a step ago.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what a contact is made of")]
pub fn stick_together<R: Real>(
    pair: &Pair<R>,
    spin_i: &Vector3<R>,
    spin_j: &Vector3<R>,
    memory: &Memory<R>,
    imprint: &Imprint<R>,
    coefficients: &Coefficients<R>,
    supplement: &Supplement<R>,
    dt: R,
) -> Compound<R> {
    let near = near::<R>(pair);
    let overlap = near.close.touch.overlap;
    let rolling = roll::<R>(pair, &near.normal, overlap, spin_i, spin_j);
    let turning = spin_i.minus(spin_j);
    let joint = interact::<R>(
        &near.close,
        &near.normal,
        &rolling.approach,
        &turning,
        memory,
        imprint,
        coefficients,
        supplement,
        dt,
    );
    Compound::<R> {
        outcome: outcome_of::<R>(&joint.response, &near.normal, &rolling, overlap),
        couple: joint.couple,
        imprint: joint.imprint,
    }
}
