//! Sweeps: the work of one pass for one particle, written once for all devices.
//!
//! A sweep reads slices, calls laws and yields slot i. It does not depend on threads or launches, cannot fail, and contains no formula of a law.

#![allow(
    missing_docs,
    reason = "the cube macro generates undocumented items; `cargo xtask tidy` checks the written ones"
)]
#![allow(
    clippy::needless_range_loop,
    clippy::collapsible_if,
    reason = "kernels know neither iterators nor chained lets"
)]
#![allow(
    unused_assignments,
    reason = "a variable of a kernel needs a value before the branches that set it"
)]

pub mod bins;
pub mod bodies;
pub mod bond_lanes;
pub mod bonds;
pub mod bounding_boxes;
pub mod buckets;
pub mod cells;
pub mod compact_position;
pub mod contact;
pub mod dfsph;
pub mod diffusion;
pub mod domain;
pub mod entries;
pub mod extended_contact;
mod feature_contact;
pub mod fluid;
pub mod fluid_lanes;
pub mod gear;
pub mod grain;
pub mod joints;
pub mod kernels;
pub mod lanes;
pub mod layout;
pub mod motion;
pub mod motion_lanes;
pub mod muller;
pub mod near_features;
pub mod neighbors;
pub mod pair;
pub mod part;
pub mod periodic;
pub mod rows;
pub mod shape_features;
pub mod shape_meshes;
pub mod shape_motion;
pub mod shape_pairs;
pub mod shape_search;
pub mod shape_walls;
pub mod shapes;
pub mod shifting;
pub mod shortlist;
pub mod simd;
mod smooth_pairs;
pub mod suspension;
pub mod tiles;
pub mod voxelize;
pub mod wall;
pub mod wall_lanes;
pub mod wall_pose;
pub mod wear;
pub mod xsph;
