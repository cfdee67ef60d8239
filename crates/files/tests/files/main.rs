//! Tests of files.

mod cache;
mod checkpoint;
mod input;
mod layer;
mod vtk;
