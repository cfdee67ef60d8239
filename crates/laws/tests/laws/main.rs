//! Tests of the formulas.

mod bonds;
mod crossing;
mod cube_root;
mod fluids;
mod muller;
mod projection;
mod restitution;
mod rests;
mod springs;
mod suspension;
mod tension;
mod wall;
