//! Keys of bonds: which grains they connect, their elasticity and their strength.

use crate::{
    quantity::{
        Angle, BelowRightAngle, Dashpot, Length, NotNegative, Number, PoissonRatio, Positive, Pressure, Quantity, Stiffness, SurfaceEnergy,
        ZeroToOne,
    },
    vocabulary::Word,
};
use schemars::JsonSchema;
use seixo_engine::world::CrossSection;
use seixo_laws::bond::BondLaw;
use serde::{Deserialize, Serialize};

/// Bonds of one kind. They are made at the start, or by a stage that adds them, from the positions at that moment, so they start without load.
/// Exactly one of `among` and `pairs`. After a bond broke, its grains interact by contacts like any others.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BondsSection {
    /// Names of grain sections: bonds connect neighbors within each section and between two of them.
    #[schemars(example = serde_json::json!(["block"]))]
    pub among: Option<Vec<String>>,
    /// Neighbors are two spheres whose centers are closer than the sum of their radii times (1 + tolerance), or two polyhedra whose faces are nearer than
    /// the sum of their rounding radii times the tolerance; if left out 0.05.
    #[schemars(example = 0.05)]
    pub tolerance: Option<Quantity<Number, NotNegative>>,
    /// Text file with the columns `a` and `b`: each line has the ids of two grains to bond. A column `stiffness`, in N/m, gives each "point" bond its
    /// own; a column `strength` is a factor on all strengths of the bond.
    #[schemars(example = &"cement.csv")]
    pub pairs: Option<String>,
    /// "beam": an elastic beam between the centers, with extension, shear, bending and torsion. "point": a spring and dashpot between a material
    /// point of each grain, about which the grains rotate freely.
    #[serde(default)]
    pub law: Word<BondLaw>,
    /// Form of the cross-section: "circle" or "square".
    #[serde(default)]
    pub section: Word<CrossSection>,
    /// Radius of the circle, or side of the square. Not with `share`.
    pub size: Option<Quantity<Length, Positive>>,
    /// Size of the cross-section as a share of the smaller of the two radii; a square of share 1 is two radii wide. With a share of 1, the bond of two
    /// polyhedra has the area of their common face; 1 if left out. Not with `size`.
    pub share: Option<Quantity<Number, Positive>>,
    /// Young's modulus. Needed unless there is a `stiffness`, here or as a column of `pairs`.
    pub youngs_modulus: Option<Quantity<Pressure, Positive>>,
    /// Stiffness of "point" bonds in all directions, in place of Young's modulus times the cross-section over the length.
    #[schemars(example = &"1e5 N/m")]
    pub stiffness: Option<Quantity<Stiffness, Positive>>,
    /// Poisson's ratio, from which the shear modulus follows.
    #[serde(default = "usual_poisson_ratio")]
    #[schemars(example = 0.2)]
    pub poisson_ratio: Quantity<Number, PoissonRatio>,
    /// Damping ratio of the vibrations of the bond: 0 for none, 1 for critical damping; 0 if left out. Not with `damping`.
    #[schemars(example = 0.1)]
    pub damping_ratio: Option<Quantity<Number, ZeroToOne>>,
    /// Coefficient of the dashpot of "point" bonds: force over relative velocity of the two points, in place of a damping ratio.
    #[schemars(example = &"0.2 N s/m")]
    pub damping: Option<Quantity<Dashpot, NotNegative>>,
    /// Tensile stress, of extension and bending, above which a bond breaks; it never does if left out.
    #[schemars(example = &"5 MPa")]
    pub tensile_strength: Option<Quantity<Pressure, NotNegative>>,
    /// Shear stress, of shear and torsion, above which a bond without axial load breaks (Mohr & Coulomb); it never does if left out.
    #[schemars(example = &"20 MPa")]
    pub cohesion: Option<Quantity<Pressure, NotNegative>>,
    /// Friction angle: compression increases the shear strength by its tangent times the axial stress.
    #[serde(default)]
    pub friction_angle: Quantity<Angle, BelowRightAngle>,
    /// Elastic energy per cross-section area above which a bond breaks; it never does if left out.
    pub fracture_energy: Option<Quantity<SurfaceEnergy, NotNegative>>,
    /// Weibull modulus of the strengths, which scatter from bond to bond about the given values; a smaller modulus gives a wider scatter. All are
    /// alike if left out.
    #[schemars(example = 8)]
    pub weibull_modulus: Option<Quantity<Number, Positive>>,
    /// Refuses a bond network that is not connected: one that leaves a grain of `among`, or some of the grains of `pairs`, separate. Grains of the
    /// same boundary or clump count as connected.
    #[serde(default)]
    pub one_piece: bool,
}

fn usual_poisson_ratio() -> Quantity<Number, PoissonRatio> {
    Quantity::new(0.2)
}
