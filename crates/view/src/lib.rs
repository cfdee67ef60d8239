//! Pictures, films and plots of a run folder, and windows and pages that show a running simulation.
//!
//! [`picture()`] renders one frame to a PNG: grains, bodies, fluids or their surface, and walls, or contacts, bonds and cracks. [`map()`] draws a
//! field on a plane. [`plot()`] turns the tables of a run into charts, and [`encode()`] draws any [`Chart`].
//!
//! Windows, pages and videos are parts that a build may leave out: the cargo features `window`, `page` and `film`. Where one is left out, its types
//! stay, and opening or beginning one is [`ViewError::LeftOut`].
//!
//! ```
//! use seixo_view::{ChartFormat, curves};
//!
//! let fall: Vec<(f64, f64)> = (0..=20).map(|k| 0.05 * f64::from(k)).map(|time| (time, 4.905 * time * time)).collect();
//! let svg = curves("Free fall", "time [s]", "distance [m]", &[("ball".to_owned(), fall)], ChartFormat::Svg)?;
//! let text = String::from_utf8(svg)?;
//! assert!(text.starts_with("<svg") && text.contains("Free fall"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod animation;
mod bodies;
mod bonds;
mod bounds;
mod camera;
mod canvas;
mod chart;
mod color;
mod coloring;
mod error;
mod film;
mod fluid;
mod frame_source;
mod gpu_particles;
pub mod live;
mod map;
mod offscreen;
mod overlay;
#[cfg(feature = "page")]
mod page;
#[cfg(not(feature = "page"))]
#[path = "left_out/page.rs"]
mod page;
mod particle_details;
mod picture;
mod plot;
mod render;
mod run_speed;
mod scale;
mod scene_bounds;
mod snapshot;
mod surface;
mod text;
mod trace;
#[cfg(feature = "film")]
mod video;
#[cfg(not(feature = "film"))]
#[path = "left_out/video.rs"]
mod video;
#[cfg(feature = "window")]
mod window;
#[cfg(not(feature = "window"))]
#[path = "left_out/window.rs"]
mod window;

/// Whether this build has windows: the cargo feature `window`.
pub const HAS_WINDOWS: bool = cfg!(feature = "window");
/// Whether this build has pages for browsers: the cargo feature `page`.
pub const HAS_PAGES: bool = cfg!(feature = "page");
/// Whether this build encodes videos: the cargo feature `film`. Every build writes animated GIF files.
pub const HAS_VIDEOS: bool = cfg!(feature = "film");

/// Number of balls, numbers or triangles per task; smaller tasks are not worth another thread.
const SHARE: usize = 1 << 16;

pub use animation::Animation;
pub use bonds::FIELDS as BOND_FIELDS;
pub use camera::Projection;
pub use canvas::Canvas;
pub use chart::{Chart, Panel, encode};
pub use error::ViewError;
pub use film::Film;
pub use frame_source::{FrameSource, PATIENCE, Particle, ParticleDetails, Recording};
pub use gpu_particles::{GpuParticles, Graphics, Memory, Piece};
pub use live::Live;
pub use map::{Map, map};
pub use offscreen::OffscreenRenderer;
pub use page::{Page, bytes_of_frame};
pub use picture::{PictureOptions, Shown, bonds_of, contacts_of, fluid_frame_of, fluid_frames, frame_of, frames_of, picture};
pub use plot::{ChartFormat, Charts, ColumnPlot, curves, plot, plot_columns};
pub use run_speed::{IN_TIME, RunSpeed};
pub use snapshot::{PreviewParts, Snapshot, SnapshotParts};
pub use surface::SmoothMesh;
pub use video::Video;
pub use window::{Display, KEYS};

#[cfg(test)]
mod bodies_tests;
#[cfg(test)]
mod gpu_particles_tests;
#[cfg(test)]
mod outliers_tests;
#[cfg(all(test, feature = "page"))]
mod page_tests;
#[cfg(test)]
mod picture_tests;
#[cfg(test)]
mod plot_tests;
#[cfg(test)]
mod surface_tests;
