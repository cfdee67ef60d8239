//! Divergence-free smoothed particle hydrodynamics: incompressible fluids \[Bender 2015; Bender 2017\].
//!
//! With ∇W = (W′/r) (x_i − x_j), particles j of volume V_j, and walls that do not react:
//!
//! - Density over rest density: V_i W(0) + Σ_j V_j W over fluid and walls.
//! - Its rate of change: D_i(v) = Σ_j V_j (v_i − v_j)·∇W.
//! - Pressure acceleration: a_i = −1/ρ_i Σ_j V_j (p_i + p_j) ∇W, where p_j is zero in walls. ρ_i V_i a_i follows from D by the principle of virtual
//!   work. So the forces of all pairs are opposite, and pressures take no more power from the motion than Σ V_i p_i D_i(v).
//! - Its part by the pressure of i alone: −D_i(a) = A_i p_i with A_i = |Σ_j V_j ∇W|²/ρ_i + Σ_j |V_j ∇W|²/ρ_j, the last sum over fluid. 1/A_i is the
//!   factor α_i of the papers, with volumes in place of masses.
//!
//! The solver finds pressures p ≥ 0 with c + Δt² D(a) ≤ 0, one of the two with equality. c is the density error that the step would reach without
//! pressures. So no pressure is negative, and pressure is zero where the density stays below the rest density. Each iteration adds ω/(Δt² A_i) times
//! the remaining density error, as in the papers but for the relaxation ω, and clips negative pressures to zero as in \[Ihmsen 2014\].
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::fluid::{Smoothing, Space, dfsph};
//! let smoother = Smoothing::Wendland.smoother(0.3, Space::Volume);
//! let (apart, across) = (Vector3 { x: 0.1, y: 0.0, z: 0.0 }, Vector3 { x: 0.0, y: 1.0, z: 0.0 });
//! let rate = |parting: Vector3<f64>| dfsph::divergence_term::<f64>(&apart, &parting, 1e-3, &smoother, Smoothing::Wendland);
//! // Particles that part lower the density. A motion across the line between them does not change it.
//! assert!(rate(apart) < 0.0 && rate(apart.times(-1.0)) > 0.0 && rate(across) == 0.0);
//! // Pressure never pulls: it is zero where the density stays below the rest density.
//! assert_eq!(dfsph::corrected::<f64>(0.0, 0.0, -0.1, 1e3, 0.0, 0.01, 0.9).pressure, 0.0);
//! ```

use super::{Smoother, Smoothing};
use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// V_j ∇W of a neighbor with the volume `volume`, where `apart` = x_i − x_j \[1/m\].
#[cube]
#[inline(always)]
pub fn gradient<R: Real>(apart: &Vector3<R>, volume: R, smoother: &Smoother<R>, #[comptime] smoothing: Smoothing) -> Vector3<R> {
    apart.times(volume * smoother.slope(apart.length(), smoothing))
}

/// Contribution of one neighbor to the density sums of a particle, beside its density V_j W.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct DensityTerm<R: Real> {
    /// Contribution to Σ_j V_j ∇W \[1/m\].
    pub gradient: Vector3<R>,
    /// Contribution to the rate of change of density over rest density \[1/s\].
    pub density_rate: R,
    /// Contribution to A_i without the square of the gradient sum \[m/kg\].
    pub stiffness: R,
}

/// Contribution of neighbor j, with the relative velocity `parting` = v_i − v_j. `lightness` is 1/ρ_j, and zero for a wall.
#[cube]
#[inline(always)]
pub fn density_term<R: Real>(
    apart: &Vector3<R>,
    parting: &Vector3<R>,
    volume: R,
    lightness: R,
    smoother: &Smoother<R>,
    #[comptime] smoothing: Smoothing,
) -> DensityTerm<R> {
    let toward = gradient::<R>(apart, volume, smoother, smoothing);
    let density_rate = parting.dot(&toward);
    let stiffness = toward.dot(&toward) * lightness;
    DensityTerm::<R> {
        gradient: toward,
        density_rate,
        stiffness,
    }
}

/// A_i of a particle of this rest density, from the sum of V_j ∇W and the contributions of its neighbors \[m/kg\].
#[cube]
#[inline(always)]
pub fn stiffness<R: Real>(gradients: &Vector3<R>, rest_density: R, of_neighbors: R) -> R {
    gradients.dot(gradients) / rest_density + of_neighbors
}

/// V_j (p_i + p_j) ∇W \[Pa/m\]: contribution of neighbor j to the force on i, over −V_i.
#[cube]
#[inline(always)]
pub fn pressure_term<R: Real>(
    apart: &Vector3<R>,
    volume: R,
    pressures: R,
    smoother: &Smoother<R>,
    #[comptime] smoothing: Smoothing,
) -> Vector3<R> {
    gradient::<R>(apart, volume, smoother, smoothing).times(pressures)
}

/// V_j (a_i − a_j)·∇W: contribution of relative velocities or accelerations to the rate of change of density over rest density.
#[cube]
#[inline(always)]
pub fn divergence_term<R: Real>(
    apart: &Vector3<R>,
    parting: &Vector3<R>,
    volume: R,
    smoother: &Smoother<R>,
    #[comptime] smoothing: Smoothing,
) -> R {
    parting.dot(&gradient::<R>(apart, volume, smoother, smoothing))
}

/// Excess of density \[-\] up to which [`source()`] counts as much as belongs to this one.
const SMALL_EXCESS: f32 = 0.01;

/// c \[-\]: the density error that this step would reach without pressures. If the step `corrects`, the present error counts. Otherwise only a
/// density below the rest density counts, and the step must not exceed the rest density.
///
/// An excess that counts as a whole is gone after the step, and particles leave each other with a velocity in proportion to excess/Δt, which they
/// keep. The shorter the step, the more energy they would get. So a step that is `share` of the longest one removes at most this share of the
/// excess, or of 1 % if there is less. The velocity is then that of the longest step.
#[cube]
#[inline(always)]
pub fn source<R: Real>(excess: R, density_rate: R, dt: R, share: R, #[comptime] corrects: bool) -> R {
    let mut there = smaller::<R>(excess, R::new(0.0));
    if comptime!(corrects) {
        there = smaller::<R>(excess, share * larger::<R>(excess, R::new(SMALL_EXCESS)));
    }
    there + dt * density_rate
}

/// ω/(Δt² A_i): the pressure that an iteration adds per unit of density error \[Pa\]; zero without neighbors.
#[cube]
#[inline(always)]
pub fn step_of_pressure<R: Real>(stiffness: R, relaxation: R, dt: R) -> R {
    let mut step = R::new(0.0);
    if stiffness > R::new(0.0) {
        step = relaxation / (dt * dt * stiffness);
    }
    step
}

/// A pressure after one iteration.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct CorrectedPressure<R: Real> {
    /// The pressure \[Pa\].
    pub pressure: R,
    /// Extrapolated pressure at which the next iteration begins \[Pa\].
    pub ahead: R,
    /// Remaining density error \[-\]; zero below the rest density.
    pub error: R,
    /// Scaled product of the last two changes \[Pa²\]; if its sum over all particles is positive, the iterations overshot.
    pub overshoot: R,
}

/// One iteration for the pressure of a particle. `before` is the pressure after the last iteration, `guess` the extrapolated one, and `density_rate`
/// belongs to the accelerations by the guesses. The new pressure is extrapolated by the share `carry` of its change \[Nesterov 1983\]. The
/// extrapolation restarts when the sum of `overshoot` shows an overshoot \[O'Donoghue 2015\].
#[cube]
#[inline(always)]
pub fn corrected<R: Real>(guess: R, before: R, source: R, step: R, density_rate: R, dt: R, carry: R) -> CorrectedPressure<R> {
    let zero = R::new(0.0);
    let left = source + dt * dt * density_rate;
    let pressure = larger::<R>(guess + step * left, zero);
    let change = pressure - before;
    let mut overshoot = zero;
    if step > zero {
        overshoot = (guess - pressure) * change / step;
    }
    CorrectedPressure::<R> {
        pressure,
        ahead: larger::<R>(pressure + carry * change, zero),
        error: larger::<R>(left, zero),
        overshoot,
    }
}
