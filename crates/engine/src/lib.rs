//! World, time step, neighbor search and energy ledger of the particle engine.
//!
//! A [`world::World`] becomes a [`Simulation`]; in [`Simulation::step`], each line is one pass.
//!
//! ```
//! use seixo_engine::Simulation;
//! use seixo_engine::world::{Interaction, Material, Settings, World};
//!
//! let mut world = World { gravity: [0.0, 0.0, -9.81], ..World::default() };
//! let glass = Material { name: "glass".into(), density: 2500.0, youngs_modulus: 1e7, poisson_ratio: 0.2 };
//! world.materials.push(glass);
//! world.interactions.push(Some(Interaction::default()));
//! world.groups.push("balls".into());
//! world.grains.push(0, [0.0; 3], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
//! let mut simulation = Simulation::new(world, Settings { threads: 1, ..Settings::default() })?;
//! simulation.advance(100)?;
//! let acceleration = simulation.snapshot().velocity[0][2] / simulation.time();
//! assert!((acceleration + 9.81).abs() < 1e-9, "the ball falls freely");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assemble;
mod backend;
mod bodies;
mod bonds;
mod border;
mod broad_phase;
mod cell_control;
mod checkpoint;
mod contact_list;
mod contact_records;
mod context;
mod coordinate_precision;
mod decomposition;
mod device_choice;
mod diffusion;
mod dry_run;
mod events;
mod exchange;
mod fields;
mod flow;
mod gpu;
mod grains;
mod group_constraints;
mod guard;
mod insertion;
mod joints;
mod loads;
mod local_domain;
mod measure;
mod pass;
mod passes;
mod pending_grains;
mod periodic;
mod periodic_cell;
mod polyhedra;
mod populations;
mod prepared_grains;
mod prescribed_motion;
mod preview;
mod program;
pub mod radius_distribution;
mod ranks;
mod refusal;
mod scalars;
mod search;
mod search_benchmark;
mod simulation;
mod spheres;
pub mod state;
mod surroundings;
mod time_step;
pub mod voxels;
mod walls;
pub mod world;

pub use bodies::BodySnapshot;
pub use bonds::{BondBreak, BondSnapshot};
pub use broad_phase::{BroadPhase, PossibleContacts};
pub use contact_records::{ContactRecord, Partner};
pub use decomposition::{Communication, Decomposition, HaloEstimate, PartitionExtent};
pub use device_choice::gpu_of;
pub use dry_run::{DryRun, PlannedChange};
pub use events::SurroundingsChange;
pub use flow::{FluidSampler, Freezing, Melting, PressureSolves};
pub use guard::{FluidErrorCause, StepError, StepErrorCause};
pub use insertion::{FreeSpace, PlacedGrain, free_of_walls};
pub use measure::Momentum;
pub use pending_grains::PendingGrains;
pub use periodic_cell::{Image, PeriodicCell};
pub use polyhedra::PolyhedronSnapshot;
pub use preview::{ColorScalar, GpuPreview, PendingPreview, Preview, PreviewBounds};
pub use program::{PassLine, Placement, PlacementLimit, PlacementRow, Population, placement_limits, placements};
pub use ranks::Ranks;
pub use refusal::WorldError;
pub use search::{StaticTable, deepest_overlap};
pub use search_benchmark::{HashTableBenchmark, SearchBenchmark, TableSharing};
pub use simulation::{ExternalForces, ServoStatus, Simulation};
pub use time_step::plan_time_step;
pub use world::{TimeStep, principal};
