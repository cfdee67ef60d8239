//! Pictures, films and plots of a run folder, and windows and pages on what runs.
//!
//! [`picture()`] renders one frame of grains, bodies, fluids or their surface and walls, or of contacts, bonds and cracks, to a PNG; [`map()`] draws a field on a plane; [`plot()`] turns the tables of a run into charts, and [`encode()`] draws any
//! [`Chart`].

mod aboard;
mod board;
mod bodies;
mod bonds;
mod bounds;
mod camera;
mod canvas;
mod chart;
mod closely;
mod color;
mod coloring;
mod drawer;
mod error;
mod film;
mod fluid;
pub mod live;
mod map;
mod pace;
mod page;
mod picture;
mod plot;
mod render;
mod scale;
mod scenery;
mod show;
mod snapshot;
mod surface;
mod text;
mod trace;
mod video;
mod window;

/// Balls, numbers or triangles that one thread takes at a time: fewer are not worth another one.
const SHARE: usize = 1 << 16;

pub use aboard::{Aboard, Graphics, Memory, Piece};
pub use canvas::Canvas;
pub use chart::{Chart, Panel, encode};
pub use drawer::Drawer;
pub use error::ViewError;
pub use film::Film;
pub use live::Live;
pub use map::{Map, map};
pub use pace::IN_TIME;
pub use page::{Page, bytes_of_frame};
pub use picture::{PictureOptions, Shown, bonds_of, contacts_of, fluid_frames, frame_of, frames_of, picture};
pub use plot::{ChartFormat, Charts, curves, plot};
pub use show::{Details, PATIENCE, Particle, Recording, Show};
pub use snapshot::{Few, Parts, Snapshot};
pub use surface::SmoothMesh;
pub use video::Video;
pub use window::{Display, KEYS};

#[cfg(test)]
mod aboard_tests;
#[cfg(test)]
mod bodies_tests;
#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod picture_tests;
#[cfg(test)]
mod plot_tests;
#[cfg(test)]
mod strays_tests;
#[cfg(test)]
mod surface_tests;
