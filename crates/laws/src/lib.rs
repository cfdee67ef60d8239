//! What two things do to each other: numbers in, numbers out, written once for every device.
//!
//! Every law is a `#[cube]` function generic over [`Real`]. Called from Rust it runs on the CPU; expanded by CubeCL it becomes a GPU kernel.
//! Pair loops use + − × ÷ and square roots only: logarithms and powers are taken once, on the host, when materials become
//! [`contact::Coefficients`].

#![allow(
    missing_docs,
    reason = "the cube macro generates undocumented items; `cargo xtask tidy` checks the written ones"
)]

pub mod bond;
pub mod contact;
pub mod crossing;
pub mod fluid;
pub mod heat;
pub mod motion;
pub mod real;
pub mod rotation;
pub mod vector;
pub mod wall;
pub mod wear;

pub use real::{Coordinate, Real, cube_root, larger, smaller};
pub use rotation::Quaternion;
pub use vector::{Vector3, between, near_vector, widened};
