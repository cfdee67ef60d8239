//! The tables of contact laws: each table makes the enum, the scene keyword and the dispatch. A new law is a file and a line here.

use super::restitution::{Spring, damping_ratio};
use super::{Coefficients, NormalForce, Touch, hertz, linear, mindlin};
use crate::real::Real;
use cubecl::prelude::*;

/// Defines the enum of a family of laws with its keywords, from one line per law.
macro_rules! family {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $law:ident = $code:literal, $keyword:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $law),+ }

        impl $name {
            /// Every law of the family.
            pub const ALL: &'static [$name] = &[$($name::$law),+];

            /// The law's word in a scene file.
            pub fn keyword(self) -> &'static str {
                match self { $($name::$law => $keyword),+ }
            }

            /// The law's number in a row of coefficients.
            pub fn code(self) -> f64 {
                match self { $($name::$law => $code),+ }
            }

            /// The law of this scene keyword.
            pub fn from_keyword(word: &str) -> Option<$name> {
                match word { $($keyword => Some($name::$law),)+ _ => None }
            }
        }
    };
}

family! {
    /// Law of the normal force.
    NormalLaw {
        /// Hooke's spring and dashpot.
        Linear = 0.0, "linear";
        /// Hertz's spring with a dashpot proportional to the root of its tangent stiffness.
        Hertz = 1.0, "hertz";
    }
}

family! {
    /// Law of the tangential force.
    TangentialLaw {
        /// None: no history, no rotation.
        None = 0.0, "none";
        /// Spring of constant stiffness with history, dashpot and Coulomb limit.
        Linear = 1.0, "linear";
        /// Mindlin's stiffness with history, dashpot and Coulomb limit.
        Mindlin = 2.0, "mindlin";
    }
}

impl NormalLaw {
    /// The spring whose collision gives restitution its damping ratio.
    pub fn spring(self) -> Spring {
        match self {
            NormalLaw::Linear => Spring::Hooke,
            NormalLaw::Hertz => Spring::Hertz,
        }
    }
}

/// What a scene says of two materials that touch, with their elastic constants combined.
#[derive(Clone, Copy, Debug)]
pub struct PairOfMaterials {
    /// 1/E* = (1 − ν_i²)/E_i + (1 − ν_j²)/E_j \[Pa\].
    pub effective_modulus: f64,
    /// 1/G* = (2 − ν_i)/G_i + (2 − ν_j)/G_j \[Pa\].
    pub effective_shear_modulus: f64,
    /// Restitution e, 0 < e ≤ 1.
    pub restitution: f64,
    /// Friction μ.
    pub friction: f64,
    /// k_n of the linear law \[N/m\].
    pub stiffness: f64,
    /// k_t of the linear tangential law \[N/m\].
    pub tangential_stiffness: f64,
}

/// The coefficients of two laws for a pair of materials: restitution becomes damping here, once.
pub fn derive(normal: NormalLaw, tangential: TangentialLaw, pair: &PairOfMaterials) -> Coefficients<f64> {
    let damping_ratio = damping_ratio(normal.spring(), pair.restitution);
    let (normal_stiffness, normal_damping) = match normal {
        NormalLaw::Linear => linear::normal_parameters(pair, damping_ratio),
        NormalLaw::Hertz => hertz::normal_parameters(pair, damping_ratio),
    };
    let tangential_stiffness = match tangential {
        TangentialLaw::None => 0.0,
        TangentialLaw::Linear => pair.tangential_stiffness,
        TangentialLaw::Mindlin => mindlin::parameter(pair),
    };
    Coefficients {
        normal_stiffness,
        normal_damping,
        tangential_stiffness,
        tangential_damping: 2.0 * damping_ratio * tangential_stiffness.sqrt(),
        friction: if tangential == TangentialLaw::None { 0.0 } else { pair.friction },
        normal_law: normal.code(),
        tangential_law: tangential.code(),
    }
}

/// Spring force and dashpot of the pair's normal law.
#[cube]
#[inline(always)]
pub fn normal_force<R: Real>(touch: &Touch<R>, coefficients: &Coefficients<R>) -> NormalForce<R> {
    let mut law = hertz::normal::<R>(touch, coefficients);
    if coefficients.normal_law == R::new(0.0) {
        let linear = linear::normal::<R>(touch, coefficients);
        law.elastic = linear.elastic;
        law.damping = linear.damping;
    }
    law
}

/// Energy stored by the pair's normal law \[J\].
#[cube]
#[inline(always)]
pub fn normal_energy<R: Real>(touch: &Touch<R>, coefficients: &Coefficients<R>) -> R {
    let mut energy = hertz::energy::<R>(touch, coefficients);
    if coefficients.normal_law == R::new(0.0) {
        energy = linear::energy::<R>(touch, coefficients);
    }
    energy
}

/// Tangential stiffness of the pair's tangential law \[N/m\]; zero for none.
#[cube]
#[inline(always)]
pub fn tangential_stiffness<R: Real>(contact_radius: R, coefficients: &Coefficients<R>) -> R {
    let mut stiffness = coefficients.tangential_stiffness;
    if coefficients.tangential_law == R::new(2.0) {
        stiffness = mindlin::stiffness::<R>(contact_radius, coefficients);
    }
    stiffness
}

/// Tangential dashpot 2 ζ √(m* k_t) of the pair's tangential law \[N s/m\].
#[cube]
#[inline(always)]
pub fn tangential_dashpot<R: Real>(touch: &Touch<R>, coefficients: &Coefficients<R>) -> R {
    let mut root = R::root(touch.effective_mass * touch.contact_radius);
    if coefficients.tangential_law == R::new(1.0) {
        root = R::root(touch.effective_mass);
    }
    coefficients.tangential_damping * root
}

/// What the pair's tangential law leaves of the stored force when the contact radius changes.
#[cube]
#[inline(always)]
pub fn stored_force_left<R: Real>(before: R, now: R, coefficients: &Coefficients<R>) -> R {
    let mut left = R::new(1.0);
    if coefficients.tangential_law == R::new(2.0) {
        left = mindlin::stored_force_left::<R>(before, now);
    }
    left
}
