//! Physical laws as pure functions of numbers, written once for all devices.
//!
//! Every law is a `#[cube]` function generic over [`Real`]. Called from Rust it runs on the CPU; CubeCL expands it into a GPU kernel. Pair loops
//! use + − × ÷ and square roots only. Logarithms and powers are computed once, on the host, when materials become [`contact::Coefficients`].
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::motion::{kinetic_energy, rotational_energy};
//! let (mass, radius) = (2.0, 0.5);
//! let velocity = Vector3 { x: 3.0, y: 0.0, z: 0.0 };
//! let spin = Vector3 { x: 0.0, y: 3.0 / radius, z: 0.0 };
//! let [forward, turning] = [kinetic_energy::<f64>(mass, &velocity), rotational_energy::<f64>(mass, radius, &spin)];
//! // A ball that rolls has two sevenths of its energy in its rotation.
//! assert!((turning / (forward + turning) - 2.0 / 7.0).abs() < 1e-12);
//! ```

#![allow(
    missing_docs,
    reason = "the cube macro generates undocumented items; `cargo xtask tidy` checks the written ones"
)]

pub mod bond;
pub mod contact;
pub mod diffusion;
pub mod film;
pub mod fluid;
pub mod heat;
pub mod motion;
pub mod nearest;
pub mod ray_triangle;
pub mod real;
pub mod rotation;
pub mod vector;
pub mod wall;
pub mod wear;

pub use real::{Coordinate, Real, blend, cube_root, larger, smaller};
pub use rotation::Quaternion;
pub use vector::{Vector3, between, near_vector, rest_of, widened, with_rest};
