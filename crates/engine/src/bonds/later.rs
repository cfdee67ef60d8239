//! Kinds of bonds that may be made during a run.

use crate::world::{Bonds, PolyhedralShape};
use seixo_laws::bond::BondForces;

/// Forces of a bond, with the indices of its grains.
pub(crate) type BondAction = ([usize; 2], BondForces<f64>);

/// What bonds that are made later need.
pub(crate) struct BondPlan {
    /// The kinds of bonds of the world.
    pub kinds: Vec<Bonds>,
    /// The shapes of polyhedral grains of the world.
    pub shapes: Vec<PolyhedralShape>,
    /// Factor that remains of the time step limit of bonds \[-\].
    pub time_step_share: f64,
}
