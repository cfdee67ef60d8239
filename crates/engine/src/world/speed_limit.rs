//! The upper bound of speeds at the start.

/// Upper bound of speeds at the start \[m/s\]: at a tenth of the speed of light the error of Newtonian energies is 0.8 %.
pub(crate) const SPEED_LIMIT: f64 = 0.1 * 299_792_458.0;
/// The same limit for messages.
pub(crate) const BELOW_SPEED_LIMIT: &str = "below 2.998e7 m/s, a tenth of the speed of light";

/// Magnitude of a velocity \[m/s\].
pub(crate) fn speed_of(velocity: &[f64; 3]) -> f64 {
    velocity.iter().map(|c| c * c).sum::<f64>().sqrt()
}
