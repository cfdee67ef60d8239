//! Equations of state: pressure as a function of density.
//!
//! ```
//! use seixo_laws::fluid::state::{StateLaw, pressure};
//! let (rest_density, sound_speed) = (1000.0, 30.0);
//! let stiffness = rest_density * sound_speed * sound_speed;
//! for (law, _) in StateLaw::ALL {
//!     let slope = pressure::<f64>(1e-6, stiffness, law) / (1e-6 * rest_density);
//!     // Small changes of density travel at the speed of sound: dp/dρ = c². At the rest density there is no pressure.
//!     assert!((slope / (sound_speed * sound_speed) - 1.0).abs() < 1e-5);
//!     assert_eq!(pressure::<f64>(0.0, stiffness, law), 0.0);
//! }
//! ```

use crate::real::Real;
use cubecl::prelude::*;

/// An equation of state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StateLaw {
    /// p = ρ₀ c²/7 ((ρ/ρ₀)⁷ − 1) \[Tait 1888; Cole 1948; Monaghan 1994\].
    #[default]
    Tait,
    /// p = c² (ρ − ρ₀) (\[Silva 2010, eq. 2.4\] with k = c²).
    Linear,
}

impl StateLaw {
    /// All equations with their keywords in a scene.
    pub const ALL: [(StateLaw, &'static str); 2] = [(StateLaw::Tait, "tait"), (StateLaw::Linear, "linear")];

    /// Density at which a fluid has this pressure \[Pa\], in \[kg/m³\].
    pub fn density(self, pressure: f64, rest_density: f64, sound_speed: f64) -> f64 {
        let relative = pressure / (rest_density * sound_speed * sound_speed);
        rest_density
            * match self {
                StateLaw::Tait => (1.0 + 7.0 * relative).powf(1.0 / 7.0),
                StateLaw::Linear => 1.0 + relative,
            }
    }

    /// Energy per mass stored by compression from the rest density, ∫ p/ρ² dρ \[J/kg\].
    pub fn energy(self, density: f64, rest_density: f64, sound_speed: f64) -> f64 {
        let x = density / rest_density;
        let e = x - 1.0;
        sound_speed
            * sound_speed
            * match self {
                // (x⁶/6 + 1/x − 7/6)/7, factored by (x − 1)², so that small compressions keep their digits.
                StateLaw::Tait => e * e * (6.0 + x * (5.0 + x * (4.0 + x * (3.0 + x * (2.0 + x))))) / (42.0 * x),
                StateLaw::Linear => e.ln_1p() - e / x,
            }
    }
}

/// Pressure \[Pa\] of a fluid with the relative density error (ρ − ρ₀)/ρ₀ and the stiffness ρ₀ c² \[Pa\].
#[cube]
#[inline(always)]
pub fn pressure<R: Real>(excess: R, stiffness: R, #[comptime] law: StateLaw) -> R {
    let mut pressure = stiffness * excess;
    if comptime!(law == StateLaw::Tait) {
        // ((1 + e)⁷ − 1)/7, expanded, so that small density errors keep their digits.
        let e = excess;
        let higher = R::new(5.0) + e * (R::new(5.0) + e * (R::new(3.0) + e * (R::new(1.0) + e / R::new(7.0))));
        pressure *= R::new(1.0) + e * (R::new(3.0) + e * higher);
    }
    pressure
}
