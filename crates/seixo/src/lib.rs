//! Seixo, a particle engine: scene file in, checked numbers and pictures out.
//!
//! The names are those of the scene file: a [`Scene`] is read and assembled, and its [`World`] becomes a [`Simulation`]:
//!
//! ```
//! let text = seixo::scene::templates()[0].text;
//! let scene = seixo::scene::load_text(text, "bounce.toml".as_ref(), &[])?;
//! let mut simulation = seixo::Simulation::new(scene.world, scene.settings)?;
//! simulation.advance(100)?;
//! println!("{:?} at {} s", simulation.snapshot().position[0], simulation.time());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The feature `program`, on by default, adds the command line and what it is made of: `run::start` runs a scene into a folder, `sweep` runs it at many
//! points, `verify` has the validation cases, and `view` draws. Without it no command line is built, and no picture. The features `window`, `page` and
//! `film` add what their names say; `full` adds all three.

#[cfg(feature = "program")]
pub mod command;
#[cfg(feature = "program")]
pub mod device_options;
#[cfg(feature = "program")]
mod failure;
#[cfg(feature = "program")]
pub mod run;
#[cfg(feature = "program")]
pub mod sweep;
#[cfg(feature = "program")]
mod terminal;
#[cfg(feature = "program")]
pub mod verify;

pub use seixo_analysis as analysis;
pub use seixo_device as device;
pub use seixo_engine as engine;
pub use seixo_engine::world::World;
pub use seixo_engine::{Simulation, StepError, WorldError};
pub use seixo_files as files;
pub use seixo_laws as laws;
pub use seixo_scene as scene;
pub use seixo_scene::Scene;
pub use seixo_transport as transport;
#[cfg(feature = "program")]
pub use seixo_view as view;
