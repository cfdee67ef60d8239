//! Heat conduction through contacts.
//!
//! Two half-spaces of conductivities k_i and k_j in contact over a disk of radius a have the thermal resistance 1/(4 k_i a) + 1/(4 k_j a)
//! \[Batchelor 1977; Vargas 2001\]. So the heat flow is Q = H (T_j − T_i) with H = 4 k_i k_j / (k_i + k_j) a, which is 2 k a for equal
//! conductivities. A grain has one temperature. How it changes is in [`crate::diffusion`].
//!
//! ```
//! use seixo_laws::heat::{conductance, contact_conductivity, real_contact_radius};
//! let [alike, perfect] = [1.1, 1e12].map(|other| conductance::<f64>(contact_conductivity(1.1, other), 3e-5));
//! // Two sides resist in series. A perfect conductor on one side leaves half of the resistance.
//! assert!((perfect / alike - 2.0).abs() < 1e-9);
//! // Grains that are a thousand times too soft touch over a radius that is ten times too large.
//! assert!((real_contact_radius(1e7, 1e10) - 0.1).abs() < 1e-12);
//! ```

use crate::real::Real;
use cubecl::prelude::*;

/// Heat conductance per contact radius of two materials, 4 k_i k_j / (k_i + k_j) \[W/(m K)\].
pub fn contact_conductivity(conductivity_i: f64, conductivity_j: f64) -> f64 {
    4.0 * conductivity_i * conductivity_j / (conductivity_i + conductivity_j)
}

/// Contact radius of the real solid over that of the softer simulated one, under the same force \[-\]. By Hertz a³ = 3/4 F R*/E*, so it is
/// (E*_simulated / E*_real)^⅓.
pub fn real_contact_radius(simulated_modulus: f64, real_modulus: f64) -> f64 {
    (simulated_modulus / real_modulus).cbrt()
}

/// Heat conductance H \[W/K\] of a contact of this radius.
#[cube]
#[inline(always)]
pub fn conductance<R: Real>(contact_conductivity: R, contact_radius: R) -> R {
    contact_conductivity * contact_radius
}

/// Heat capacity of a body of this mass and specific heat capacity, m c \[J/K\].
#[cube]
#[inline(always)]
pub fn heat_capacity<R: Real>(mass: R, specific_heat_capacity: R) -> R {
    mass * specific_heat_capacity
}

#[cfg(test)]
mod tests {
    use super::{contact_conductivity, real_contact_radius};

    #[test]
    fn a_disk_between_unlike_solids_resists_as_its_two_sides_in_series() {
        let radius = 3e-5;
        let of_side = |conductivity: f64| 1.0 / (4.0 * conductivity * radius);
        let conductance = super::conductance(contact_conductivity(400.0, 1.1), radius);
        assert!((conductance * (of_side(400.0) + of_side(1.1)) - 1.0).abs() < 1e-14);
        // With a perfect conductor only the constriction in the other solid remains.
        assert!((super::conductance(contact_conductivity(1e12, 1.1), radius) * of_side(1.1) - 1.0).abs() < 1e-11);
    }

    #[test]
    fn softened_grains_conduct_as_real_ones_under_the_same_force() {
        let (force, effective_radius, soft, real) = (0.3, 1e-3, 5e6, 7e10);
        let radius = |modulus: f64| (0.75 * force * effective_radius / modulus).cbrt();
        let corrected = radius(soft) * real_contact_radius(soft, real);
        assert!((corrected / radius(real) - 1.0).abs() < 1e-14);
    }
}
