//! Divergence-free smoothed particle hydrodynamics: incompressible fluids \[Bender 2015; Bender 2017\].
//!
//! With ∇W = (W′/r) (x_i − x_j), particles j of volume V_j, and walls that nothing moves,
//!
//! - density over that at rest: V_i W(0) + Σ_j V_j W over fluid and walls;
//! - its rate of change: D_i(v) = Σ_j V_j (v_i − v_j)·∇W;
//! - acceleration by pressures: a_i = −1/ρ_i Σ_j V_j (p_i + p_j) ∇W, where p_j is zero in walls: ρ_i V_i a_i is what follows from D by the principle
//!   of virtual work, so forces are opposite for all pairs, and pressures take no more from the motion than Σ V_i p_i D_i(v);
//! - its share that comes from the pressure of i alone: −D_i(a) = A_i p_i with A_i = |Σ_j V_j ∇W|²/ρ_i + Σ_j |V_j ∇W|²/ρ_j, the last sum over fluid.
//!   1/A_i is the factor α_i of the papers, with volumes in place of masses.
//!
//! Pressures are sought that are negative nowhere, and zero where a particle stays thinner than at rest: p ≥ 0, c + Δt² D(a) ≤ 0, one of the two
//! with equality, where c is the excess of density that would be reached without them. Each iteration adds ω/(Δt² A_i) times what is left of the
//! excess, as in the papers but for the relaxation ω, and cuts off below zero (as \[Ihmsen 2014\]).

use super::{Smoother, Smoothing};
use crate::real::{Real, larger, smaller};
use crate::vector::Vector3;
use cubecl::prelude::*;

/// V_j ∇W \[1/m\] of a neighbor that is `apart` = x_i − x_j away and stands for `volume`.
#[cube]
#[inline(always)]
pub fn gradient<R: Real>(apart: &Vector3<R>, volume: R, smoother: &Smoother<R>, #[comptime] smoothing: Smoothing) -> Vector3<R> {
    apart.times(volume * smoother.slope(apart.length(), smoothing))
}

/// What one neighbor adds to how crowded it is around a particle, beside its density, V_j W.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug)]
pub struct Crowding<R: Real> {
    /// To Σ_j V_j ∇W \[1/m\].
    pub gradient: Vector3<R>,
    /// To the rate of change of the density over that at rest \[1/s\].
    pub swelling: R,
    /// To A_i, but for what the sum of gradients adds \[m/kg\].
    pub stiffness: R,
}

/// What neighbor j adds, which i parts from with the velocity `parting` = v_i − v_j. Its `lightness` is 1/ρ_j, zero for a wall.
#[cube]
#[inline(always)]
pub fn crowding<R: Real>(
    apart: &Vector3<R>,
    parting: &Vector3<R>,
    volume: R,
    lightness: R,
    smoother: &Smoother<R>,
    #[comptime] smoothing: Smoothing,
) -> Crowding<R> {
    let toward = gradient::<R>(apart, volume, smoother, smoothing);
    let swelling = parting.dot(&toward);
    let stiffness = toward.dot(&toward) * lightness;
    Crowding::<R> {
        gradient: toward,
        swelling,
        stiffness,
    }
}

/// A_i \[m/kg\] of a particle of this rest density, from the sum of V_j ∇W and from what its neighbors add.
#[cube]
#[inline(always)]
pub fn stiffness<R: Real>(gradients: &Vector3<R>, rest_density: R, of_neighbors: R) -> R {
    gradients.dot(gradients) / rest_density + of_neighbors
}

/// V_j (p_i + p_j) ∇W \[Pa/m\]: what two pressures add to the force on i, over −V_i.
#[cube]
#[inline(always)]
pub fn lean<R: Real>(apart: &Vector3<R>, volume: R, pressures: R, smoother: &Smoother<R>, #[comptime] smoothing: Smoothing) -> Vector3<R> {
    gradient::<R>(apart, volume, smoother, smoothing).times(pressures)
}

/// V_j (a_i − a_j)·∇W: what a difference of velocities or accelerations adds to the rate of change of the density over that at rest.
#[cube]
#[inline(always)]
pub fn swelling<R: Real>(
    apart: &Vector3<R>,
    parting: &Vector3<R>,
    volume: R,
    smoother: &Smoother<R>,
    #[comptime] smoothing: Smoothing,
) -> R {
    parting.dot(&gradient::<R>(apart, volume, smoother, smoothing))
}

/// c \[-\]: the excess of density that this step would lead to without pressures. If it `corrects`, the excess that is there counts; else only room
/// that is left below the density at rest, and the step may add nothing beyond it.
#[cube]
#[inline(always)]
pub fn source<R: Real>(excess: R, swelling: R, dt: R, #[comptime] corrects: bool) -> R {
    let mut there = excess;
    if !corrects {
        there = smaller::<R>(excess, R::new(0.0));
    }
    there + dt * swelling
}

/// ω/(Δt² A_i) \[Pa\]: the pressure that an iteration adds for each unit of excess; none where nothing is near.
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
pub struct Corrected<R: Real> {
    /// The pressure \[Pa\].
    pub pressure: R,
    /// The pressure at which the next iteration begins \[Pa\].
    pub ahead: R,
    /// Excess of density that was left \[-\]; zero where it was thinner than at rest.
    pub error: R,
    /// A share of the product of the last two changes \[Pa²\]: once the sum over all is positive, iterations have gone too far.
    pub turn: R,
}

/// One iteration for the pressure of a particle which was `before`, and from which the iteration looks at `guess`, with the accelerations that these
/// guesses lead to. Next it looks ahead, by the share `carry` of the change (\[Nesterov 1983\]; when `turn` tells that it went
/// too far, it starts anew: \[O'Donoghue 2015\]).
#[cube]
#[inline(always)]
pub fn corrected<R: Real>(guess: R, before: R, source: R, step: R, swelling: R, dt: R, carry: R) -> Corrected<R> {
    let zero = R::new(0.0);
    let left = source + dt * dt * swelling;
    let pressure = larger::<R>(guess + step * left, zero);
    let change = pressure - before;
    let mut turn = zero;
    if step > zero {
        turn = (guess - pressure) * change / step;
    }
    Corrected::<R> {
        pressure,
        ahead: larger::<R>(pressure + carry * change, zero),
        error: larger::<R>(left, zero),
        turn,
    }
}
