//! Diffusion through contacts: a scalar of each grain, its potential, evens out between grains that touch.
//!
//! A grain of capacity κ holds the amount κ p at the potential p. A contact of conductance H lets H (p_j − p_i) per time into grain i, and takes as
//! much from grain j, so the sum of all amounts is conserved. For heat the potential is a temperature, and the amount an energy, see
//! [`crate::heat`]; for films the potential is a thickness, and the amount a volume, see [`crate::film`].
//!
//! ```
//! use seixo_laws::diffusion::{after, content, flow};
//! let (capacity_i, capacity_j) = (2.0, 5.0);
//! let (before_i, before_j) = (300.0, 310.0);
//! let amount = 0.1 * flow::<f64>(3.0, before_i, before_j);
//! let (after_i, after_j) = (after::<f64>(before_i, amount, capacity_i), after::<f64>(before_j, -amount, capacity_j));
//! // The potentials approach each other, and the sum of both amounts stays.
//! assert!(before_i < after_i && after_i < after_j && after_j < before_j);
//! let sum = |i: f64, j: f64| content::<f64>(capacity_i, i) + content::<f64>(capacity_j, j);
//! assert!((sum(after_i, after_j) - sum(before_i, before_j)).abs() < 1e-9);
//! ```

use crate::real::Real;
use cubecl::prelude::*;

/// Flow into the first of two bodies at these potentials \[amount/s\]; the flow into the second is exactly opposite.
#[cube]
#[inline(always)]
pub fn flow<R: Real>(conductance: R, potential_i: R, potential_j: R) -> R {
    conductance * (potential_j - potential_i)
}

/// Amount that a body of this capacity holds at this potential, κ p.
#[cube]
#[inline(always)]
pub fn content<R: Real>(capacity: R, potential: R) -> R {
    capacity * potential
}

/// Potential of a body of this capacity after this amount flowed into it.
#[cube]
#[inline(always)]
pub fn after<R: Real>(potential: R, amount: R, capacity: R) -> R {
    potential + amount / capacity
}

/// Share of its difference to its neighbors that a body of this capacity loses in one step, Σ H Δt / κ \[-\].
///
/// Explicit steps are stable while this is at most 1 for every body. By Gershgorin no rate of the network exceeds twice the largest Σ H / κ. A
/// potential then stays between those of its neighbors.
#[cube]
#[inline(always)]
pub fn share_per_step<R: Real>(conductances: R, dt: R, capacity: R) -> R {
    conductances * dt / capacity
}
