//! Bytes in and out: particle files, meshes and sieve curves in; VTK, meshes, logs and checkpoints out.
//!
//! Whatever a run writes passes one [`layer::FileLayer`]; a crash leaves the old file or the new one, never half of one.
//! Whatever a user hands in is distrusted: regular files only, sizes checked before memory is taken, errors with file, line and value.
//!
//! ```
//! use seixo_files::grains_in::{Limits, read};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("grains.csv");
//! std::fs::write(&path, "x[mm],y[mm],z[mm],radius[mm]\n0,0,0,1\n0,0,5,-1\n")?;
//! let message = read(&path, &Limits::default(), &mut Vec::new()).unwrap_err().to_string();
//! assert!(message.ends_with("grains.csv:3: column `radius[mm]`: `-1` is not a radius; use a number above zero"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod parallel;
pub mod path_in;
pub mod scene_names;
pub mod sieve_in;
pub mod table;
pub mod vtk;

pub use error::FilesError;
