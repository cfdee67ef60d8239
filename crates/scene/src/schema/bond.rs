//! Keys of bonds: between which grains, of what, and when they break.

use crate::{
    quantity::{Angle, BelowRightAngle, Length, NotNegative, Number, PoissonRatio, Positive, Pressure, Quantity, SurfaceEnergy, ZeroToOne},
    words::Word,
};
use schemars::JsonSchema;
use seixo_engine::world::CrossSection;
use seixo_laws::bond::BondLaw;
use serde::{Deserialize, Serialize};

/// Bonds of one kind, made at the start as the grains stand then, or by a stage that adds them, as the grains stand as it begins. So they begin
/// free of load. Exactly one of `among` and `pairs`. What breaks leaves grains that touch like any others.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BondsSection {
    /// Sections of grains, by name: bonds join neighbors of one section, and of two of them.
    #[schemars(example = serde_json::json!(["block"]))]
    pub among: Option<Vec<String>>,
    /// Who is a neighbor: two grains whose centers are closer than the sum of their radii times (1 + tolerance); 0.05 if left out.
    pub tolerance: Option<Quantity<Number, NotNegative>>,
    /// Text file with the columns `a` and `b`: the ids of two grains that are bonded in each line.
    #[schemars(example = &"cement.csv")]
    pub pairs: Option<String>,
    /// "beam": an elastic beam from center to center, which is stretched, sheared, bent and twisted. "point": a spring with dashpot that holds
    /// a material point of one grain to one of the other, where they turn freely.
    #[serde(default)]
    pub law: Word<BondLaw>,
    /// Cross-section: "circle" or "square".
    #[serde(default)]
    pub section: Word<CrossSection>,
    /// Radius of the circle, or side of the square.
    pub size: Option<Quantity<Length, Positive>>,
    /// The same as a share of the smaller of the two radii, a square of share 1 being two radii wide; 1 if left out. Not with `size`.
    pub share: Option<Quantity<Number, Positive>>,
    /// Young's modulus.
    pub youngs_modulus: Quantity<Pressure, Positive>,
    /// Poisson's ratio; it gives the shear modulus.
    #[serde(default = "usual_poisson_ratio")]
    pub poisson_ratio: Quantity<Number, PoissonRatio>,
    /// Damping ratio of the bond's vibrations: 0 for none, 1 for critical damping.
    #[serde(default)]
    pub damping_ratio: Quantity<Number, ZeroToOne>,
    /// Stress of tension and bending above which a bond tears; it never does if left out.
    pub tensile_strength: Option<Quantity<Pressure, NotNegative>>,
    /// Stress of shear and torsion above which a bond without axial load shears off (Mohr & Coulomb); it never does if left out.
    pub cohesion: Option<Quantity<Pressure, NotNegative>>,
    /// By how much compression helps against shearing off: its tangent times the axial stress adds to the cohesion.
    #[serde(default)]
    pub friction_angle: Quantity<Angle, BelowRightAngle>,
    /// Elastic energy per area of the cross-section above which a bond breaks; it never does if left out.
    pub fracture_energy: Option<Quantity<SurfaceEnergy, NotNegative>>,
    /// Weibull modulus by which strengths scatter from bond to bond about the given ones: the smaller, the wider. All are alike if left out.
    pub weibull_modulus: Option<Quantity<Number, Positive>>,
    /// Refuses a network that is not in one piece when it is made: that leaves a grain of `among`, or a part of the grains of `pairs`, loose.
    /// Grains of one boundary or clump hang together.
    #[serde(default)]
    pub one_piece: bool,
}

fn usual_poisson_ratio() -> Quantity<Number, PoissonRatio> {
    Quantity::new(0.2)
}
