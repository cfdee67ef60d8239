//! The world, the step, the search, the ledger.
//!
//! A [`world::World`] becomes a [`Simulation`]; [`Simulation::step`] is the one page on which every line is one pass.

mod assemble;
mod fields;
mod gpu;
mod guard;
mod measure;
mod passes;
mod place;
mod refusal;
mod resume;
mod search;
mod sides;
mod simulation;
pub mod state;
mod step;
mod time_step;
mod virial;
mod walls;
pub mod world;

pub use guard::{Cause, Stop};
pub use measure::Momentum;
pub use refusal::Refusal;
pub use search::deepest_overlap;
pub use simulation::Simulation;
pub use time_step::{TimeStep, plan_time_step};
