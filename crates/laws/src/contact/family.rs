//! Tables of contact laws. Each table generates the enum, the scene keywords and the dispatch. A new law is a file and a line here.

use super::restitution::{Spring, damping_ratio};
use super::{
    COEFFICIENTS, Coefficients, ContactPair, ExtendedCoefficients, NormalForce, hertz, hysteretic, linear, mindlin, potential, viscoelastic,
};
use crate::real::Real;
use cubecl::prelude::*;

/// Defines the enum of a family of laws with keywords and codes, from one line per law. Each code has a constant, by which laws are dispatched.
macro_rules! family {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $law:ident, $constant:ident = $code:literal, $keyword:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $law),+ }

        impl $name {
            /// Every law of the family.
            pub const ALL: &'static [$name] = &[$($name::$law),+];

            $(
                /// Code of the law with this name in a row of coefficients \[-\].
                pub const $constant: f32 = $code;
            )+

            /// Keyword of the law in a scene.
            pub fn keyword(self) -> &'static str {
                match self { $($name::$law => $keyword),+ }
            }

            /// Code of the law in a row of coefficients.
            pub fn code(self) -> f64 {
                f64::from(match self { $($name::$law => $name::$constant),+ })
            }

            /// The law with this scene keyword.
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
        Linear, LINEAR = 0.0, "linear";
        /// Hertz's spring with a dashpot proportional to the root of its tangent stiffness.
        Hertz, HERTZ = 1.0, "hertz";
        /// Hertz's spring with the dashpot of Kuwabara and Kono; restitution decreases with speed.
        Viscoelastic, VISCOELASTIC = 2.0, "viscoelastic";
        /// Loading along one spring, unloading along a stiffer one (Walton and Braun).
        Hysteretic, HYSTERETIC = 3.0, "hysteretic";
        /// A continuous repulsive potential; conservative.
        Potential, POTENTIAL = 4.0, "potential";
    }
}

family! {
    /// Law of the tangential force.
    TangentialLaw {
        /// None: no tangential force, no history, no rotation.
        None, NONE = 0.0, "none";
        /// Spring of constant stiffness with history, dashpot and Coulomb limit.
        Linear, LINEAR = 1.0, "linear";
        /// Mindlin's stiffness with history, dashpot and Coulomb limit.
        Mindlin, MINDLIN = 2.0, "mindlin";
        /// As `Mindlin`, but without scaling the stored force down while the contact unloads.
        MindlinForce, MINDLIN_FORCE = 3.0, "mindlin_force";
        /// Stores the displacement: the force scales up and down with the contact radius.
        MindlinDisplacement, MINDLIN_DISPLACEMENT = 4.0, "mindlin_displacement";
    }
}

family! {
    /// Law of cohesion.
    CohesionLaw {
        /// No cohesion.
        None, NONE = 0.0, "none";
        /// Attraction proportional to the contact area.
        Sjkr, SJKR = 1.0, "sjkr";
        /// Constant attraction in contact (Derjaguin, Muller and Toporov).
        Dmt, DMT = 2.0, "dmt";
        /// An elastic neck (Johnson, Kendall and Roberts).
        Jkr, JKR = 3.0, "jkr";
        /// A capillary bridge.
        Capillary, CAPILLARY = 4.0, "capillary";
    }
}

family! {
    /// Law of rolling resistance.
    RollingLaw {
        /// No resistance.
        None, NONE = 0.0, "none";
        /// A torque of constant direction and size.
        Constant, CONSTANT = 1.0, "constant";
        /// A spring with a dashpot and a slider.
        ElasticPlastic, ELASTIC_PLASTIC = 2.0, "elastic_plastic";
    }
}

family! {
    /// Law of twisting resistance.
    TwistingLaw {
        /// No resistance.
        None, NONE = 0.0, "none";
        /// A torque of constant direction and size.
        Constant, CONSTANT = 1.0, "constant";
        /// A spring with a dashpot and a slider.
        ElasticPlastic, ELASTIC_PLASTIC = 2.0, "elastic_plastic";
        /// Resistance by friction on the contact disk.
        Marshall, MARSHALL = 3.0, "marshall";
    }
}

impl TangentialLaw {
    /// Whether the stored force depends on the contact radius of the step before.
    pub fn needs_contact_radius(self) -> bool {
        matches!(self, TangentialLaw::Mindlin | TangentialLaw::MindlinDisplacement)
    }
}

impl NormalLaw {
    /// The spring for which a damping ratio follows from restitution; `None` for a law without such a dashpot.
    pub fn spring(self) -> Option<Spring> {
        match self {
            NormalLaw::Linear => Some(Spring::Hooke),
            NormalLaw::Hertz => Some(Spring::Hertz),
            NormalLaw::Viscoelastic | NormalLaw::Hysteretic | NormalLaw::Potential => None,
        }
    }

    /// Whether the law takes a damping γ_n per effective mass in place of a restitution.
    pub fn is_damped_per_mass(self) -> bool {
        self.spring().is_some()
    }

    /// The damping ratio for this restitution; zero for a law without such a dashpot.
    pub fn damping_ratio(self, restitution: f64) -> f64 {
        self.spring().map_or(0.0, |spring| damping_ratio(spring, restitution))
    }
}

/// Cohesion between two materials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cohesion {
    /// Cohesion energy density c \[J/m³\].
    Sjkr {
        /// c \[J/m³\].
        energy_density: f64,
    },
    /// Surface energy γ of each of the two bodies. The work of adhesion is 2γ.
    Dmt {
        /// γ \[J/m²\].
        surface_energy: f64,
    },
    /// Surface energy as for [`Cohesion::Dmt`].
    Jkr {
        /// γ \[J/m²\].
        surface_energy: f64,
    },
    /// A capillary bridge at every contact.
    Capillary {
        /// Surface tension σ \[N/m\].
        surface_tension: f64,
        /// Contact angle θ \[rad\].
        contact_angle: f64,
        /// Volume V of a bridge \[m³\].
        volume: f64,
    },
}

impl Cohesion {
    /// Law of this cohesion.
    pub fn law(&self) -> CohesionLaw {
        match self {
            Cohesion::Sjkr { .. } => CohesionLaw::Sjkr,
            Cohesion::Dmt { .. } => CohesionLaw::Dmt,
            Cohesion::Jkr { .. } => CohesionLaw::Jkr,
            Cohesion::Capillary { .. } => CohesionLaw::Capillary,
        }
    }
}

/// A law of resistance with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResistanceLaw<L> {
    /// The law.
    pub law: L,
    /// Coefficient μ_r or μ_tw: the limiting torque over R* F_n \[-\].
    pub coefficient: f64,
    /// Damping ratio of its spring \[-\].
    pub damping_ratio: f64,
}

/// Parameters of two materials in contact, with their elastic constants combined.
#[derive(Clone, Copy, Debug)]
pub struct PairOfMaterials {
    /// E* with 1/E* = (1 − ν_i²)/E_i + (1 − ν_j²)/E_j \[Pa\].
    pub effective_modulus: f64,
    /// G* with 1/G* = (2 − ν_i)/G_i + (2 − ν_j)/G_j \[Pa\].
    pub effective_shear_modulus: f64,
    /// Restitution e, 0 < e ≤ 1 \[-\].
    pub restitution: f64,
    /// Friction coefficient μ \[-\].
    pub friction: f64,
    /// k_n of the linear law \[N/m\].
    pub stiffness: f64,
    /// k_t of the linear tangential law \[N/m\].
    pub tangential_stiffness: f64,
    /// γ_n of the linear law and of Hertz's \[1/s\], beside the damping that follows from the restitution.
    pub damping_rate: f64,
    /// γ_t of the tangential law \[1/s\].
    pub tangential_damping_rate: f64,
    /// A of the viscoelastic law \[s\].
    pub dissipative_time: f64,
    /// ε of the potential law \[J\].
    pub potential_energy: f64,
    /// Cohesion.
    pub adhesive: Option<Cohesion>,
    /// Rolling resistance.
    pub rolling: Option<ResistanceLaw<RollingLaw>>,
    /// Twisting resistance.
    pub twisting: Option<ResistanceLaw<TwistingLaw>>,
}

impl Default for PairOfMaterials {
    /// A pair with all parameters zero but a restitution of 1.
    fn default() -> Self {
        PairOfMaterials {
            effective_modulus: 0.0,
            effective_shear_modulus: 0.0,
            restitution: 1.0,
            friction: 0.0,
            stiffness: 0.0,
            tangential_stiffness: 0.0,
            damping_rate: 0.0,
            tangential_damping_rate: 0.0,
            dissipative_time: 0.0,
            potential_energy: 0.0,
            adhesive: None,
            rolling: None,
            twisting: None,
        }
    }
}

/// All coefficients of a pair of materials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairOfLaws {
    /// Coefficients of frictional contacts.
    pub coefficients: Coefficients<f64>,
    /// Coefficients of extended contacts.
    pub extended_coefficients: ExtendedCoefficients<f64>,
}

impl PairOfLaws {
    /// The row of the coefficient table that sweeps read.
    pub fn row(&self) -> [f64; COEFFICIENTS] {
        let (c, s) = (&self.coefficients, &self.extended_coefficients);
        [
            c.normal_stiffness,
            c.normal_damping,
            c.tangential_stiffness,
            c.tangential_damping,
            c.friction,
            c.normal_law,
            c.tangential_law,
            c.normal_rate,
            c.tangential_rate,
            s.unloading_stiffness,
            s.cohesion_law,
            s.adhesion,
            s.bridge_span,
            s.bridge_length,
            s.rolling_law,
            s.rolling_friction,
            s.rolling_damping,
            s.twisting_law,
            s.twisting_friction,
            0.0,
        ]
    }

    /// Whether this pair needs [`super::extended`]: it has more than friction with the linear or the Hertz law.
    pub fn is_extended(&self) -> bool {
        let (c, s) = (&self.coefficients, &self.extended_coefficients);
        let is_plain = [NormalLaw::Linear, NormalLaw::Hertz].map(NormalLaw::code).contains(&c.normal_law)
            && s.cohesion_law == CohesionLaw::None.code()
            && s.rolling_law == RollingLaw::None.code()
            && s.twisting_law == TwistingLaw::None.code();
        !is_plain
    }
}

/// Coefficients of two laws for a pair of materials. Restitution becomes damping here, once.
pub fn derive(normal: NormalLaw, tangential: TangentialLaw, pair: &PairOfMaterials) -> PairOfLaws {
    PairOfLaws {
        coefficients: coefficients(normal, tangential, pair),
        extended_coefficients: extended_coefficients(pair),
    }
}

fn extended_coefficients(pair: &PairOfMaterials) -> ExtendedCoefficients<f64> {
    use std::f64::consts::PI;
    let (adhesion, bridge_span, bridge_length) = match pair.adhesive {
        None => (0.0, 0.0, 0.0),
        Some(Cohesion::Sjkr { energy_density }) => (2.0 * PI * energy_density, 0.0, 0.0),
        Some(Cohesion::Dmt { surface_energy }) => (4.0 * PI * surface_energy, 0.0, 0.0),
        Some(Cohesion::Jkr { surface_energy }) => (PI * surface_energy / (4.0 * pair.effective_modulus), 0.0, 0.0),
        Some(Cohesion::Capillary {
            surface_tension,
            contact_angle,
            volume,
        }) => (
            4.0 * PI * surface_tension * contact_angle.cos(),
            volume / PI,
            (1.0 + 0.5 * contact_angle) * volume.cbrt(),
        ),
    };
    ExtendedCoefficients {
        unloading_stiffness: hysteretic::unloading_stiffness(pair),
        cohesion_law: pair.adhesive.map_or(CohesionLaw::None, |adhesive| adhesive.law()).code(),
        adhesion,
        bridge_span,
        bridge_length,
        rolling_law: pair.rolling.map_or(RollingLaw::None, |rolling| rolling.law).code(),
        rolling_friction: pair.rolling.map_or(0.0, |rolling| rolling.coefficient),
        rolling_damping: pair
            .rolling
            .map(|rolling| rolling.damping_ratio)
            .or(pair.twisting.map(|twisting| twisting.damping_ratio))
            .unwrap_or(0.0),
        twisting_law: pair.twisting.map_or(TwistingLaw::None, |twisting| twisting.law).code(),
        twisting_friction: pair.twisting.map_or(0.0, |twisting| twisting.coefficient),
    }
}

fn coefficients(normal: NormalLaw, tangential: TangentialLaw, pair: &PairOfMaterials) -> Coefficients<f64> {
    let damping_ratio = normal.damping_ratio(pair.restitution);
    let (normal_stiffness, normal_damping) = match normal {
        NormalLaw::Linear => linear::normal_parameters(pair, damping_ratio),
        NormalLaw::Hertz => hertz::normal_parameters(pair, damping_ratio),
        NormalLaw::Viscoelastic => viscoelastic::normal_parameters(pair),
        NormalLaw::Hysteretic => hysteretic::normal_parameters(pair),
        NormalLaw::Potential => potential::normal_parameters(pair),
    };
    let tangential_stiffness = match tangential {
        TangentialLaw::None => 0.0,
        TangentialLaw::Linear => pair.tangential_stiffness,
        TangentialLaw::Mindlin | TangentialLaw::MindlinForce | TangentialLaw::MindlinDisplacement => mindlin::parameter(pair),
    };
    Coefficients {
        normal_stiffness,
        normal_damping,
        tangential_stiffness,
        tangential_damping: 2.0 * damping_ratio * tangential_stiffness.sqrt(),
        friction: if tangential == TangentialLaw::None { 0.0 } else { pair.friction },
        normal_law: normal.code(),
        tangential_law: tangential.code(),
        normal_rate: if normal.is_damped_per_mass() { pair.damping_rate } else { 0.0 },
        tangential_rate: if tangential == TangentialLaw::None {
            0.0
        } else {
            pair.tangential_damping_rate
        },
    }
}

/// Spring force and dashpot of the pair's normal law.
#[cube]
#[inline(always)]
pub fn normal_force<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> NormalForce<R> {
    let mut spring = hertz::normal::<R>(touch, coefficients);
    if coefficients.normal_law == R::new(NormalLaw::LINEAR) {
        let linear = linear::normal::<R>(touch, coefficients);
        spring.elastic = linear.elastic;
        spring.tangent = linear.tangent;
        spring.factor = linear.factor;
    }
    NormalForce::<R> {
        elastic: spring.elastic,
        damping: coefficients.normal_damping * R::root(touch.effective_mass * spring.tangent)
            + dashpot_per_mass::<R>(coefficients.normal_rate, touch.effective_mass, spring.factor),
    }
}

/// Dashpot γ m* f of a damping per effective mass \[N s/m\]. A selection, so that kernels for which γ is a constant zero leave the factor out.
#[cube]
#[inline(always)]
fn dashpot_per_mass<R: Real>(rate: R, effective_mass: R, factor: R) -> R {
    let mut dashpot = rate * effective_mass * factor;
    if rate == R::new(0.0) {
        dashpot = R::new(0.0);
    }
    dashpot
}

/// Energy stored by the pair's normal law \[J\].
#[cube]
#[inline(always)]
pub fn normal_energy<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> R {
    let mut energy = hertz::energy::<R>(touch, coefficients);
    if coefficients.normal_law == R::new(NormalLaw::LINEAR) {
        energy = linear::energy::<R>(touch, coefficients);
    }
    energy
}

/// Tangential stiffness of the pair's tangential law \[N/m\].
#[cube]
#[inline(always)]
pub fn tangential_stiffness<R: Real>(contact_radius: R, coefficients: &Coefficients<R>) -> R {
    let mut stiffness = coefficients.tangential_stiffness;
    // Without a tangential law the coefficient is zero.
    if coefficients.tangential_law != R::new(TangentialLaw::LINEAR) {
        stiffness = mindlin::stiffness::<R>(contact_radius, coefficients);
    }
    stiffness
}

/// Tangential dashpot 2 ζ √(m* k_t) + γ_t m* f of the pair's tangential law \[N s/m\]. The factor f is 1 with a spring of constant stiffness, and
/// Hertz's √(δ/d) with Mindlin's \[Silbert 2001\].
#[cube]
#[inline(always)]
pub fn tangential_dashpot<R: Real>(touch: &ContactPair<R>, coefficients: &Coefficients<R>) -> R {
    let mut tangent = touch.contact_radius;
    let mut factor = hertz::factor::<R>(touch);
    if coefficients.tangential_law == R::new(TangentialLaw::LINEAR) {
        tangent = R::new(1.0);
        factor = R::new(1.0);
    }
    coefficients.tangential_damping * R::root(touch.effective_mass * tangent)
        + dashpot_per_mass::<R>(coefficients.tangential_rate, touch.effective_mass, factor)
}

/// Share of the stored force that the pair's tangential law keeps when the contact radius changes \[-\].
#[cube]
#[inline(always)]
pub fn stored_force_left<R: Real>(before: R, now: R, coefficients: &Coefficients<R>) -> R {
    let mut left = R::new(1.0);
    if coefficients.tangential_law == R::new(TangentialLaw::MINDLIN) {
        left = mindlin::stored_force_left::<R>(before, now);
    }
    if coefficients.tangential_law == R::new(TangentialLaw::MINDLIN_DISPLACEMENT) {
        left = mindlin::displacement_kept::<R>(before, now);
    }
    left
}
