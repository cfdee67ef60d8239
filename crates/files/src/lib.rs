//! Bytes in and out: particle files, meshes and sieve curves in; VTK, meshes, logs and checkpoints out.
//!
//! Whatever a run writes passes one [`layer::FileLayer`]; a crash leaves the old file or the new one, never half of one.
//! Whatever a user hands in is distrusted: regular files only, sizes checked before memory is taken, errors with file, line and value.

pub mod cache;
pub mod checkpoint;
mod columns;
mod error;
pub mod grains_in;
pub mod grains_out;
pub mod layer;
pub mod mesh_in;
pub mod mesh_out;
pub mod owner;
pub mod pairs_in;
pub mod path_in;
pub mod scene_names;
pub mod sieve_in;
pub mod table;
pub mod vtk;

pub use error::FilesError;
