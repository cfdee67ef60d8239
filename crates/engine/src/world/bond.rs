//! Bonds between grains: geometry and parameters.

use seixo_laws::bond::{BondLaw, BondParameters, size_between};

/// Shape of a bond's cross-section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossSection {
    /// A disk; its size is the radius.
    #[default]
    Circle,
    /// A square; its size is the side.
    Square,
}

impl CrossSection {
    /// All shapes.
    pub const ALL: [CrossSection; 2] = [CrossSection::Circle, CrossSection::Square];

    /// Name in a scene.
    pub fn name(self) -> &'static str {
        match self {
            CrossSection::Circle => "circle",
            CrossSection::Square => "square",
        }
    }

    /// c_A, c_I, c_J, c_W and c_T, see [`BondParameters`], and Timoshenko's shear coefficient κ at Poisson's ratio ν \[Cowper 1966\].
    /// Torsion of a square after \[Timoshenko 1970, § 109\].
    fn shares(self, nu: f64) -> ([f64; 5], f64) {
        use std::f64::consts::PI;
        match self {
            CrossSection::Circle => ([PI, PI / 4.0, PI / 2.0, PI / 4.0, PI / 2.0], 6.0 * (1.0 + nu) / (7.0 + 6.0 * nu)),
            CrossSection::Square => (
                [1.0, 1.0 / 12.0, 0.140_577, 1.0 / 6.0, 0.208_17],
                10.0 * (1.0 + nu) / (12.0 + 11.0 * nu),
            ),
        }
    }
}

/// Size of a bond's cross-section: radius of a disk, side of a square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BondSize {
    /// Share of the smaller of the two radii; for a square, of twice that radius \[-\]. With a share of one, the bond of two polyhedral grains has the area
    /// of their common face.
    Share(f64),
    /// Length \[m\].
    Length(f64),
}

/// Selection of the pairs that are bonded.
#[derive(Clone, Debug, PartialEq)]
pub enum Bonded {
    /// All pairs of grains of these groups, indices into [`super::World::groups`], whose centers are closer than (R_i + R_j)(1 + tolerance). Polyhedral grains
    /// also need a common face, over which their faces are nowhere farther apart than the tolerance times the sum of their rounding radii.
    Near {
        /// Groups.
        groups: Vec<u32>,
        /// Tolerance \[-\].
        tolerance: f64,
    },
    /// These pairs of ids.
    Pairs(Vec<[u32; 2]>),
}

/// Values of the single pairs of [`Bonded::Pairs`], in their order. A column is empty if its values are those of the kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairValues {
    /// Stiffnesses of point bonds \[N/m\].
    pub stiffness: Vec<f64>,
    /// Factors on all strengths, besides those of the scatter \[-\].
    pub strength: Vec<f64>,
}

/// Bonds of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Bonds {
    /// Name in the scene.
    pub name: String,
    /// Pairs of grains.
    pub between: Bonded,
    /// Values of single pairs.
    pub of_pairs: PairValues,
    /// Bond law.
    pub law: BondLaw,
    /// Shape of the cross-section.
    pub section: CrossSection,
    /// Size of the cross-section.
    pub size: BondSize,
    /// Young's modulus E \[Pa\].
    pub youngs_modulus: f64,
    /// Stiffness k of point bonds \[N/m\], in place of E A/L₀.
    pub stiffness: Option<f64>,
    /// Poisson's ratio ν \[-\].
    pub poisson_ratio: f64,
    /// Damping ratio ζ \[-\]; zero with `damping`.
    pub damping_ratio: f64,
    /// Coefficient of the dashpot of point bonds \[N s/m\], in place of 2 ζ √(k m*).
    pub damping: Option<f64>,
    /// Tensile strength σ_t \[Pa\]; infinite if they do not fail in tension.
    pub tensile_strength: f64,
    /// Cohesion c \[Pa\]; infinite if they do not fail in shear.
    pub cohesion: f64,
    /// Friction angle φ of the Mohr–Coulomb line \[rad\].
    pub friction_angle: f64,
    /// Fracture energy per area of the cross-section \[J/m²\]; infinite if it breaks no bond.
    pub fracture_energy: f64,
    /// Weibull modulus of the scatter of strengths about the given values; `None` if all strengths are equal.
    pub weibull_modulus: Option<f64>,
    /// Seed of the random scatter.
    pub seed: u64,
    /// Whether all of their grains must be connected, by them and by rigid bodies, when the bonds are made.
    pub one_piece: bool,
}

/// Replaces an infinite strength; single precision represents it, too.
pub const UNBREAKABLE: f64 = 1e30;

impl Bonds {
    /// Whether no load breaks them.
    pub(crate) fn is_unbreakable(&self) -> bool {
        let strengths = [self.tensile_strength, self.cohesion, self.fracture_energy];
        strengths.iter().all(|strength| *strength >= UNBREAKABLE)
    }

    /// Parameters for the bond laws.
    pub fn bond_parameters(&self) -> BondParameters<f64> {
        self.parameters_of_pair(None)
    }

    /// The same for a pair, with its stiffness \[N/m\] if it has one of its own.
    pub(crate) fn parameters_of_pair(&self, stiffness: Option<f64>) -> BondParameters<f64> {
        let stiffness = stiffness.or(self.stiffness);
        let ([area, bending, torsion, bending_edge, torsion_edge], shear_share) = self.section.shares(self.poisson_ratio);
        let (size_share, size_length) = match (self.size, self.section) {
            (BondSize::Length(length), _) => (0.0, length),
            (BondSize::Share(share), CrossSection::Circle) => (share, 0.0),
            (BondSize::Share(share), CrossSection::Square) => (2.0 * share, 0.0),
        };
        let shear_modulus = self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio));
        let [tensile_strength, fracture_energy] = [self.tensile_strength, self.fracture_energy].map(|x| x.min(UNBREAKABLE));
        BondParameters {
            law: self.law.code(),
            axial: if stiffness.is_some() { 0.0 } else { self.youngs_modulus * area },
            bending: self.youngs_modulus * bending,
            torsion: shear_modulus * torsion,
            softness: 12.0 * self.youngs_modulus * bending / (shear_share * shear_modulus * area),
            per_area: 1.0 / area,
            per_bending_edge: 1.0 / bending_edge,
            per_torsion_edge: 1.0 / torsion_edge,
            damping_ratio: self.damping_ratio,
            per_tensile_strength: 1.0 / tensile_strength,
            cohesion: self.cohesion.min(UNBREAKABLE),
            slope: self.friction_angle.tan(),
            per_fracture_energy: 1.0 / (area * fracture_energy),
            size_share,
            size_length,
            stiffness: stiffness.unwrap_or(0.0),
            damping: self.damping.unwrap_or(0.0),
        }
    }

    /// Size of the cross-section between grains of these radii \[m\].
    pub fn size_between(&self, radius_i: f64, radius_j: f64) -> f64 {
        size_between(&self.bond_parameters(), radius_i, radius_j)
    }
}
