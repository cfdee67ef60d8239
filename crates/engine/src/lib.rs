//! The world, the step, the search, the ledger.
//!
//! A [`world::World`] becomes a [`Simulation`]; [`Simulation::step`] is the one page on which every line is one pass.

mod assemble;
mod bodies;
mod bonds;
mod border;
mod broad;
mod carry;
mod contact_records;
mod division;
mod events;
mod fields;
mod flow;
mod gear;
mod gpu;
mod guard;
mod heat;
mod held;
mod insertion;
mod joints;
mod lists;
mod loads;
mod measure;
mod passes;
mod place;
mod placement;
mod principal;
mod refusal;
mod resume;
mod search;
mod sides;
mod simulation;
pub mod sizes;
pub mod state;
mod step;
mod switches;
mod time_step;
mod together;
pub mod voxels;
mod walls;
pub mod world;

pub use bodies::BodySnapshot;
pub use bonds::{BondSnapshot, Break};
pub use broad::{BroadPhase, MayTouch};
pub use contact_records::{ContactRecord, Partner};
pub use division::{Borders, Divided, Ranks, Space, Traffic};
pub use events::Change;
pub use flow::{FluidLook, Melting, Solves};
pub use guard::{Cause, InFluid, Stop};
pub use insertion::{Room, Seen, free_of_walls};
pub use measure::Momentum;
pub use principal::principal;
pub use refusal::Refusal;
pub use search::{SearchTrial, Sharing, TableTrial, deepest_overlap};
pub use simulation::Simulation;
pub use time_step::{TimeStep, plan_time_step};
