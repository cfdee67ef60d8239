//! Contacts of polyhedral grains, which count by a share Φ from 0 to 1.
//!
//! A contact fades out where another one at its end takes over. Its energy is U(δ) Φ, with the energy U of the normal law. Dashpots, tangential stiffness
//! and Coulomb's limit are those of the laws times Φ. If Φ grows, the stored tangential force stays. If it shrinks, the force shrinks in proportion, so
//! that the spring only loses energy by fading.
//!
//! Normal laws are functions of the overlap: linear, Hertz, viscoelastic and potential. There is neither cohesion nor resistance to rolling.
//!
//! ```
//! use seixo_laws::contact::faded::{FadedPair, elastic_energy, elastic_force};
//! use seixo_laws::contact::{ContactPair, NormalLaw, PairOfMaterials, TangentialLaw, derive};
//! let pair = PairOfMaterials { stiffness: 100.0, ..PairOfMaterials::default() };
//! let coefficients = derive(NormalLaw::Linear, TangentialLaw::None, &pair).coefficients;
//! let touch = ContactPair { overlap: 0.5, contact_radius: 0.5, effective_mass: 1.0 };
//! let half = FadedPair { touch, reach: 2.0, share: 0.5, fading_force: 0.0 };
//! // Half of ½ k δ², and half of k δ.
//! assert_eq!((elastic_energy::<f64>(&half, &coefficients), elastic_force::<f64>(&half, &coefficients)), (6.25, 25.0));
//! ```

use super::{
    Coefficients, ContactHistory, ContactPair, ContactResponse, NormalForce, NormalLaw, RelativeMotion, TangentialLaw, carried, mindlin,
    normal_energy, normal_force, potential, restrain, spring_energy, tangential_dashpot, tangential_stiffness, viscoelastic,
};
use crate::real::{Real, larger};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// Geometry of a contact that counts by a share.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct FadedPair<R: Real> {
    /// Overlap and effective quantities.
    pub touch: ContactPair<R>,
    /// Distance at which the surfaces just touch \[m\].
    pub reach: R,
    /// Share Φ \[-\].
    pub share: R,
    /// Normal force beside that of the law \[N\], because Φ changes with the overlap.
    pub fading_force: R,
}

/// Spring force \[N\] and dashpot \[N s/m\] of the normal law of a contact that counts fully.
#[cube]
#[inline(always)]
fn whole_force<R: Real>(faded: &FadedPair<R>, coefficients: &Coefficients<R>) -> NormalForce<R> {
    let mut spring = normal_force::<R>(&faded.touch, coefficients);
    if coefficients.normal_law == R::new(NormalLaw::VISCOELASTIC) {
        let viscous = viscoelastic::normal::<R>(&faded.touch, coefficients);
        spring.elastic = viscous.elastic;
        spring.damping = viscous.damping;
    }
    if coefficients.normal_law == R::new(NormalLaw::POTENTIAL) {
        spring.elastic = potential::elastic::<R>(faded.touch.overlap, faded.reach, coefficients.normal_stiffness);
        spring.damping = R::new(0.0);
    }
    spring
}

/// Energy U(δ) of the normal law of a contact that counts fully \[J\].
#[cube]
#[inline(always)]
pub fn whole_energy<R: Real>(touch: &ContactPair<R>, reach: R, coefficients: &Coefficients<R>) -> R {
    let mut energy = normal_energy::<R>(touch, coefficients);
    if coefficients.normal_law == R::new(NormalLaw::POTENTIAL) {
        energy = potential::energy::<R>(touch.overlap, reach, coefficients.normal_stiffness);
    }
    energy
}

/// Energy that the normal law stores \[J\].
#[cube]
#[inline(always)]
pub fn elastic_energy<R: Real>(faded: &FadedPair<R>, coefficients: &Coefficients<R>) -> R {
    faded.share * whole_energy::<R>(&faded.touch, faded.reach, coefficients)
}

/// Elastic normal force \[N\].
#[cube]
#[inline(always)]
pub fn elastic_force<R: Real>(faded: &FadedPair<R>, coefficients: &Coefficients<R>) -> R {
    faded.share * whole_force::<R>(faded, coefficients).elastic + faded.fading_force
}

/// What scales the stored tangential force of a contact: Φ, times the contact radius \[m\] if the force of the tangential law scales with it.
#[cube]
#[inline(always)]
fn scale_of_spring<R: Real>(faded: &FadedPair<R>, coefficients: &Coefficients<R>) -> R {
    let mut scale = faded.share;
    if coefficients.tangential_law == R::new(TangentialLaw::MINDLIN)
        || coefficients.tangential_law == R::new(TangentialLaw::MINDLIN_DISPLACEMENT)
    {
        scale = faded.share * faded.touch.contact_radius;
    }
    scale
}

/// Energy that the tangential spring stores \[J\], with its force at half steps.
#[cube]
#[inline(always)]
pub fn faded_spring_energy<R: Real>(force: &Vector3<R>, faded: &FadedPair<R>, coefficients: &Coefficients<R>) -> R {
    spring_energy::<R>(
        force,
        faded.share * tangential_stiffness::<R>(faded.touch.contact_radius, coefficients),
    )
}

/// A contact over one time step. The contact radius in its history is that times Φ or, for a spring of constant stiffness, Φ alone.
#[cube]
#[inline(always)]
pub fn faded_contact<R: Real>(
    faded: &FadedPair<R>,
    normal: &Vector3<R>,
    approach: &RelativeMotion<R>,
    contact_history: &ContactHistory<R>,
    coefficients: &Coefficients<R>,
    dt: R,
) -> ContactResponse<R> {
    let normal_velocity = approach.velocity.dot(normal);
    let spring = whole_force::<R>(faded, coefficients);
    let elastic = faded.share * spring.elastic;
    let pressing = larger::<R>(elastic - faded.share * spring.damping * normal_velocity, R::new(0.0));
    let velocity = approach.velocity.minus(&normal.times(normal_velocity));
    let stiffness = faded.share * tangential_stiffness::<R>(faded.touch.contact_radius, coefficients);
    let dashpot = faded.share * tangential_dashpot::<R>(&faded.touch, coefficients);
    let scale = scale_of_spring::<R>(faded, coefficients);
    let mut left = mindlin::stored_force_left::<R>(contact_history.contact_radius, scale);
    if coefficients.tangential_law == R::new(TangentialLaw::MINDLIN_DISPLACEMENT) {
        left = mindlin::displacement_kept::<R>(contact_history.contact_radius, scale);
    }
    let stored = carried::<R>(&contact_history.force.times(left), normal, approach.twist * dt);
    let drag = restrain::<R>(&stored, &velocity, stiffness, dashpot, coefficients.friction * pressing, dt);
    ContactResponse::<R> {
        normal: pressing + faded.fading_force,
        tangential: drag.force,
        history: ContactHistory::<R> {
            force: drag.next,
            contact_radius: scale,
        },
        normal_power: (elastic - pressing) * normal_velocity,
        tangential_power: drag.power,
        damping_power: drag.damping_power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{PairOfMaterials, derive};

    fn faded(overlap: f64, share: f64) -> FadedPair<f64> {
        FadedPair {
            touch: ContactPair {
                overlap,
                contact_radius: (0.5 * overlap).sqrt(),
                effective_mass: 1e-3,
            },
            reach: 2.0,
            share,
            fading_force: 0.0,
        }
    }

    #[test]
    fn the_force_is_the_slope_of_the_energy_for_each_law() {
        let materials = PairOfMaterials {
            effective_modulus: 1e4,
            stiffness: 300.0,
            potential_energy: 2.0,
            ..PairOfMaterials::default()
        };
        for law in [NormalLaw::Linear, NormalLaw::Hertz, NormalLaw::Viscoelastic, NormalLaw::Potential] {
            let coefficients = derive(law, TangentialLaw::None, &materials).coefficients;
            let energy = |overlap: f64| elastic_energy::<f64>(&faded(overlap, 0.7), &coefficients);
            let slope = (energy(0.1 + 1e-6) - energy(0.1 - 1e-6)) / 2e-6;
            let force = elastic_force::<f64>(&faded(0.1, 0.7), &coefficients);
            assert!(force > 0.0 && (slope / force - 1.0).abs() < 1e-7, "{law:?}: {slope} {force}");
        }
    }

    #[test]
    fn a_spring_only_loses_energy_while_its_contact_fades() {
        let materials = PairOfMaterials {
            effective_modulus: 1e4,
            effective_shear_modulus: 4e3,
            friction: 100.0,
            stiffness: 300.0,
            tangential_stiffness: 100.0,
            ..PairOfMaterials::default()
        };
        let normal = Vector3 { x: 0.0, y: 0.0, z: 1.0 };
        let at_rest = RelativeMotion {
            velocity: Vector3::zero(),
            twist: 0.0,
        };
        let laws = [
            (NormalLaw::Linear, TangentialLaw::Linear),
            (NormalLaw::Hertz, TangentialLaw::Mindlin),
            (NormalLaw::Hertz, TangentialLaw::MindlinForce),
        ];
        for (normal_law, tangential_law) in laws {
            let coefficients = derive(normal_law, tangential_law, &materials).coefficients;
            let mut history = ContactHistory {
                force: Vector3 { x: 1.0, y: 0.0, z: 0.0 },
                contact_radius: scale_of_spring::<f64>(&faded(0.1, 0.5), &coefficients),
            };
            let mut energy = faded_spring_energy::<f64>(&history.force, &faded(0.1, 0.5), &coefficients);
            for (share, force) in [(0.25, 0.5), (0.5, 0.5), (1.0, 0.5), (0.1, 0.05)] {
                let now = faded(0.1, share);
                history = faded_contact::<f64>(&now, &normal, &at_rest, &history, &coefficients, 1e-3).history;
                assert!((history.force.x - force).abs() < 1e-12, "{tangential_law:?} {share}: {history:?}");
                let left = faded_spring_energy::<f64>(&history.force, &now, &coefficients);
                assert!(left <= energy, "{tangential_law:?} {share}: {left} {energy}");
                energy = left;
            }
        }
    }
}
