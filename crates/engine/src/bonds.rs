//! Bonds between grains: the network, what will be bonded, and what is shown.

mod attachment;
mod common_face;
pub(crate) mod later;
pub(crate) mod limit;
mod network;
pub(crate) mod plan;

pub(crate) use attachment::Attachment;
pub(crate) use later::BondPlan;
pub(crate) use limit::{likely_limit, limit_of_bonds};
pub(crate) use network::BondNetwork;
pub(crate) use plan::{
    BondCandidate, BondPositions, check_bonds, in_one_body, joined_for_good, lower_first, missing, nothing_near, pairs_at_start,
    record_joined, refused,
};

use crate::world::Vec3;
use seixo_laws::bond::BreakMode;

/// Break of a bond.
#[derive(Clone, Debug, PartialEq)]
pub struct BondBreak {
    /// Time \[s\].
    pub time: f64,
    /// Index into [`World::bonds`](crate::world::World::bonds).
    pub kind: u32,
    /// Ids of its grains.
    pub grains: [u32; 2],
    /// Midpoint of their centers \[m\].
    pub place: Vec3,
    /// Mode of the break.
    pub mode: BreakMode,
    /// Elastic energy before the break \[J\].
    pub energy: f64,
}

/// A bond at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BondSnapshot {
    /// Index into [`World::bonds`](crate::world::World::bonds).
    pub kind: u32,
    /// Ids of its grains.
    pub grains: [u32; 2],
    /// Center of the first grain, and of the nearest image of the second \[m\].
    pub ends: [Vec3; 2],
    /// Force on the second grain \[N\].
    pub force: Vec3,
    /// Elastic axial force, positive in tension \[N\].
    pub tension: f64,
    /// Elastic force perpendicular to the axis \[N\].
    pub shear: f64,
    /// The larger of the bending moments at its ends \[N m\].
    pub bending: f64,
    /// Torsion moment \[N m\].
    pub torsion: f64,
    /// Elastic energy \[J\].
    pub energy: f64,
    /// Load over strength \[-\].
    pub utilization: f64,
}
