//! Physical laws as pure functions of numbers, written once for all devices.
//!
//! Every law is a `#[cube]` function generic over [`Real`]. Called from Rust it runs on the CPU; CubeCL expands it into a GPU kernel. Pair loops
//! use + − × ÷ and square roots only. Logarithms and powers are computed once, on the host, when materials become [`contact::Coefficients`].

#![allow(
    missing_docs,
    reason = "the cube macro generates undocumented items; `cargo xtask tidy` checks the written ones"
)]

pub mod bond;
pub mod contact;
pub mod diffusion;
pub mod fluid;
pub mod heat;
pub mod motion;
pub mod ray_triangle;
pub mod real;
pub mod rotation;
pub mod vector;
pub mod wall;
pub mod wear;

pub use real::{Coordinate, Real, cube_root, larger, smaller};
pub use rotation::Quaternion;
pub use vector::{Vector3, between, near_vector, widened};
