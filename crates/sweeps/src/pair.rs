//! Contact of two grains: from their states to forces.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_sweeps::pair::{Pair, contact_geometry, depth_of};
//! let (apart, velocity) = (Vector3 { x: 1.5, y: 0.0, z: 0.0 }, Vector3::zero());
//! let depth = depth_of::<f64>(&apart, 2.0);
//! let pair = Pair { apart, depth, velocity, radius_i: 1.0, radius_j: 1.0, mass_i: 2.0, mass_j: 2.0 };
//! let contact = contact_geometry::<f64>(&pair).contact_pair;
//! // R_i + R_j − |x_i − x_j|, and m_i m_j / (m_i + m_j).
//! assert!((contact.overlap - 0.5).abs() < 1e-14);
//! assert!((contact.effective_mass - 1.0).abs() < 1e-14);
//! ```

use cubecl::prelude::*;
use seixo_laws::contact::{
    Coefficients, ContactHistory, ContactPair, ContactResponse, ExtendedCoefficients, ExtendedHistory, ExtendedPair, RelativeMotion,
    TangentialLoad, frictional_response, interact, normal_contact, tangential_load,
};
use seixo_laws::motion::inertia;
use seixo_laws::{Real, Vector3, larger};

/// States of two grains i and j in contact.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Pair<R: Real> {
    /// x_i − x_j \[m\].
    pub apart: Vector3<R>,
    /// (R_i + R_j)² − |x_i − x_j|² \[m²\], in the precision of coordinates, so that a small overlap keeps its digits.
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

/// Geometry of a contact.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ContactGeometry<R: Real> {
    /// Overlap and effective quantities for the laws.
    pub contact_pair: ContactPair<R>,
    /// Unit normal from j to i.
    pub normal: Vector3<R>,
}

/// Forces and powers of a contact of two grains.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ContactForces<R: Real> {
    /// Force on i \[N\]; j gets the opposite.
    pub force: Vector3<R>,
    /// Torque on i over its arm \[N\]; the torque on j over its arm is the same.
    pub bend: Vector3<R>,
    /// Distance of the contact point from the center of i \[m\].
    pub arm_i: R,
    /// Distance of the contact point from the center of j \[m\].
    pub arm_j: R,
    /// Overlap \[m\].
    pub overlap: R,
    /// Contact history for the next step.
    pub history: ContactHistory<R>,
    /// Power dissipated by normal damping \[W\].
    pub normal_power: R,
    /// Power taken by tangential forces \[W\].
    pub tangential_power: R,
    /// Part of `tangential_power` dissipated by damping \[W\].
    pub damping_power: R,
}

/// (R_i + R_j)² − |x_i − x_j|² of two grains at this distance \[m²\]; positive in contact.
#[cube]
#[inline(always)]
pub fn depth_of<C: Real>(apart: &Vector3<C>, reach: C) -> C {
    reach * reach - apart.dot(apart)
}

/// Geometry and effective quantities of two grains in contact.
#[cube]
#[inline(always)]
pub fn contact_geometry<R: Real>(pair: &Pair<R>) -> ContactGeometry<R> {
    let reach = pair.radius_i + pair.radius_j;
    let mass = pair.mass_i + pair.mass_j;
    let square = pair.apart.dot(&pair.apart);
    let inverse_distance = R::inverse_root(square);
    let sum = reach + square * inverse_distance;
    // One inverse serves three quotients.
    let inverse = R::inverse(sum * reach * mass);
    let overlap = pair.depth * (inverse * reach * mass);
    ContactGeometry::<R> {
        contact_pair: ContactPair::<R> {
            overlap,
            contact_radius: R::root(pair.radius_i * pair.radius_j * overlap * (inverse * sum * mass)),
            effective_mass: pair.mass_i * pair.mass_j * (inverse * sum * reach),
        },
        normal: pair.apart.times(inverse_distance),
    }
}

/// Contact forces of two smooth grains: the normal force on i \[N\] and the power dissipated by damping.
#[cube]
#[inline(always)]
pub fn normal_pair_contact<R: Real>(pair: &Pair<R>, coefficients: &Coefficients<R>) -> ContactForces<R> {
    let geometry = contact_geometry::<R>(pair);
    let pressure = normal_contact::<R>(&geometry.contact_pair, pair.velocity.dot(&geometry.normal), coefficients);
    let zero = R::new(0.0);
    ContactForces::<R> {
        force: geometry.normal.times(pressure.force),
        bend: Vector3::<R>::zero(),
        arm_i: zero,
        arm_j: zero,
        overlap: geometry.contact_pair.overlap,
        history: ContactHistory::<R> {
            force: Vector3::<R>::zero(),
            contact_radius: zero,
        },
        normal_power: pressure.power,
        tangential_power: zero,
        damping_power: zero,
    }
}

/// Distance from the center of a grain to the contact point \[m\].
#[cube]
#[inline(always)]
fn arm<R: Real>(radius: R, overlap: R) -> R {
    radius - R::new(0.5) * overlap
}

/// Relative motion of the surfaces of two grains with these angular velocities.
#[cube]
#[inline(always)]
fn roll<R: Real>(pair: &Pair<R>, normal: &Vector3<R>, overlap: R, spin_i: &Vector3<R>, spin_j: &Vector3<R>) -> RelativeMotion<R> {
    let rolling = spin_i
        .times(arm::<R>(pair.radius_i, overlap))
        .plus(&spin_j.times(arm::<R>(pair.radius_j, overlap)));
    RelativeMotion::<R> {
        velocity: pair.velocity.minus(&rolling.cross(normal)),
        twist: R::new(0.5) * spin_i.plus(spin_j).dot(normal),
    }
}

/// Contact forces from a response of the laws.
#[cube]
#[inline(always)]
fn outcome_of<R: Real>(pair: &Pair<R>, response: &ContactResponse<R>, normal: &Vector3<R>, overlap: R) -> ContactForces<R> {
    ContactForces::<R> {
        force: normal.times(response.normal).plus(&response.tangential),
        bend: response.tangential.cross(normal),
        arm_i: arm::<R>(pair.radius_i, overlap),
        arm_j: arm::<R>(pair.radius_j, overlap),
        overlap,
        history: ContactHistory::<R> {
            force: response.history.force.plus(&Vector3::<R>::zero()),
            contact_radius: response.history.contact_radius,
        },
        normal_power: response.normal_power,
        tangential_power: response.tangential_power,
        damping_power: response.damping_power,
    }
}

/// Contact forces of two rough grains with the angular velocities `spin_i` and `spin_j`.
#[cube]
#[inline(always)]
pub fn frictional_pair_contact<R: Real>(
    pair: &Pair<R>,
    spin_i: &Vector3<R>,
    spin_j: &Vector3<R>,
    contact_history: &ContactHistory<R>,
    coefficients: &Coefficients<R>,
    dt: R,
) -> ContactForces<R> {
    let geometry = contact_geometry::<R>(pair);
    let load = load_of_pair::<R>(pair, &geometry, spin_i, spin_j, contact_history, coefficients, dt);
    forces_of_pair::<R>(pair, &geometry, &load, coefficients, dt)
}

/// What acts on the tangential spring of a contact of two rough grains in a step, for a known geometry.
#[cube]
#[inline(always)]
pub fn load_of_pair<R: Real>(
    pair: &Pair<R>,
    geometry: &ContactGeometry<R>,
    spin_i: &Vector3<R>,
    spin_j: &Vector3<R>,
    contact_history: &ContactHistory<R>,
    coefficients: &Coefficients<R>,
    dt: R,
) -> TangentialLoad<R> {
    let rolling = roll::<R>(pair, &geometry.normal, geometry.contact_pair.overlap, spin_i, spin_j);
    tangential_load::<R>(
        &geometry.contact_pair,
        &geometry.normal,
        &rolling,
        contact_history,
        coefficients,
        dt,
    )
}

/// Contact forces of two rough grains under this load.
#[cube]
#[inline(always)]
pub fn forces_of_pair<R: Real>(
    pair: &Pair<R>,
    geometry: &ContactGeometry<R>,
    load: &TangentialLoad<R>,
    coefficients: &Coefficients<R>,
    dt: R,
) -> ContactForces<R> {
    let response = frictional_response::<R>(load, geometry.contact_pair.contact_radius, coefficients, dt);
    outcome_of::<R>(pair, &response, &geometry.normal, geometry.contact_pair.overlap)
}

/// Geometry of two nearby grains, for extended contacts.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ExtendedGeometry<R: Real> {
    /// Input of the laws.
    pub close: ExtendedPair<R>,
    /// Unit normal from j to i.
    pub normal: Vector3<R>,
}

/// Forces, torque and history of an extended contact.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct ExtendedForces<R: Real> {
    /// Contact forces as in a frictional contact.
    pub outcome: ContactForces<R>,
    /// Torque on i beside that of the tangential force \[N m\]; j gets the opposite.
    pub couple: Vector3<R>,
    /// Contact history beside the tangential spring.
    pub extended_history: ExtendedHistory<R>,
}

/// Geometry and effective quantities of two grains that touch or may be connected by cohesion.
#[cube]
#[inline(always)]
pub fn near<R: Real>(pair: &Pair<R>) -> ExtendedGeometry<R> {
    let one = R::new(1.0);
    let reach = pair.radius_i + pair.radius_j;
    let distance = pair.apart.length();
    let overlap = pair.depth / (reach + distance);
    let effective_radius = pair.radius_i * pair.radius_j / reach;
    let inertia_i = inertia::<R>(pair.mass_i, pair.radius_i);
    let inertia_j = inertia::<R>(pair.mass_j, pair.radius_j);
    ExtendedGeometry::<R> {
        close: ExtendedPair::<R> {
            contact: ContactPair::<R> {
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

/// Extended contact of two grains that touch, or touched a step ago.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what a contact is made of")]
pub fn extended_contact<R: Real>(
    pair: &Pair<R>,
    spin_i: &Vector3<R>,
    spin_j: &Vector3<R>,
    contact_history: &ContactHistory<R>,
    extended_history: &ExtendedHistory<R>,
    coefficients: &Coefficients<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
    dt: R,
) -> ExtendedForces<R> {
    let near = near::<R>(pair);
    let overlap = near.close.contact.overlap;
    let rolling = roll::<R>(pair, &near.normal, overlap, spin_i, spin_j);
    let turning = spin_i.minus(spin_j);
    let joint = interact::<R>(
        &near.close,
        &near.normal,
        &rolling,
        &turning,
        contact_history,
        extended_history,
        coefficients,
        extended_coefficients,
        dt,
    );
    ExtendedForces::<R> {
        outcome: outcome_of::<R>(pair, &joint.response, &near.normal, overlap),
        couple: joint.couple,
        extended_history: joint.extended_history,
    }
}
