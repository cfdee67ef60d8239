//! Volume and mass of a sphere.

/// Volume of a sphere \[m³\].
pub fn volume_of_sphere(radius: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
}

/// Mass of a sphere \[kg\].
pub(crate) fn mass_of_sphere(radius: f64, density: f64) -> f64 {
    volume_of_sphere(radius) * density
}

/// Mass of a sphere \[kg\]: that which is given for it, or that of its density.
pub(crate) fn given_mass_or_of_sphere(given: Option<&f64>, radius: f64, density: f64) -> f64 {
    given.copied().unwrap_or_else(|| mass_of_sphere(radius, density))
}
