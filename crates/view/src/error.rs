//! What can keep a picture or a plot from being drawn.

use std::path::PathBuf;

/// Why there is no picture or plot; every message names the thing, the limit and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No device can draw.
    #[error(
        "no graphics adapter to draw with: {found}; on a Linux machine without a GPU install the software driver \
         (package mesa-vulkan-drivers) and try again"
    )]
    NoAdapter {
        /// What was looked for and found.
        found: String,
    },
    /// No window can be opened.
    #[error(
        "no display to open a window on: {cause}; look at it in a browser, seixo view --browser, which also works from another machine through ssh -L, \
         or draw pictures with seixo picture and seixo film"
    )]
    NoDisplay {
        /// What the system said.
        cause: String,
    },
    /// The page cannot be served.
    #[error("cannot listen on {address}: {source}; leave --port out, so that a free one is taken")]
    Listen {
        /// Where.
        address: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// What runs could not be shown.
    #[error("{cause}")]
    Live {
        /// Why not.
        cause: String,
    },
    /// The device gave up.
    #[error("the graphics adapter {adapter} failed: {cause}; try a smaller picture or another adapter")]
    Device {
        /// Name of the adapter.
        adapter: String,
        /// What it said.
        cause: String,
    },
    /// What should be a run folder is none.
    #[error("{}: {what}; name the folder of a run: seixo run SCENE makes SCENE.out", .path.display())]
    NotAFolder {
        /// What was named.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// The run wrote no frames.
    #[error("{}: no frames (fields/grains_*.vtp) in this run folder; set [output] every in the scene and run it", .folder.display())]
    NoFrames {
        /// The run folder.
        folder: PathBuf,
    },
    /// A link in the run folder leads elsewhere.
    #[error(
        "{}: leads out of the run folder, to {}, and a page shows nothing from there; copy it into the folder, or look at it in a window, seixo view",
        .path.display(), .to.display()
    )]
    Outside {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
    /// The run wrote no contacts.
    #[error("{}: this frame has no contacts; set contacts = true under [output] in the scene and run it", .path.display())]
    NoContacts {
        /// Where they would be.
        path: PathBuf,
    },
    /// The run has no bonds.
    #[error("{}: no bonds here; add a section [bonds.NAME] to the scene and run it", .path.display())]
    NoBonds {
        /// Where they would be.
        path: PathBuf,
    },
    /// The frame has no fluid.
    #[error("{}: no fluid here; add a section [fluid.NAME] to the scene and run it", .path.display())]
    NoFluid {
        /// Where it would be.
        path: PathBuf,
    },
    /// The fluids of a frame have no surface that can be drawn.
    #[error("{}: {source}", .path.display())]
    Surface {
        /// The file of the fluids.
        path: PathBuf,
        /// Why not.
        source: seixo_analysis::SurfaceError,
    },
    /// The frame asked for does not exist.
    #[error("frame {frame} does not exist; this run folder holds frames 0 to {last}")]
    FrameOutOfRange {
        /// Frame asked for.
        frame: usize,
        /// Last frame there.
        last: usize,
    },
    /// A frame that cannot be read.
    #[error("no picture of this frame: {0}")]
    Frame(#[from] seixo_files::FilesError),
    /// The field asked for is not in the frame.
    #[error("no field named {field:?} in this frame; it holds {}", .known.join(", "))]
    UnknownField {
        /// Field asked for.
        field: String,
        /// Fields there.
        known: Vec<String>,
    },
    /// The walls of the frame do not have the field asked for.
    #[error(
        "the walls of this frame have no field {field:?}{}; walls have wear_depth and worn_volume where the scene gives them a wear_coefficient and a hardness",
        if .known.is_empty() { String::new() } else { format!(", but {}", .known.join(", ")) }
    )]
    UnknownWallField {
        /// Field asked for.
        field: String,
        /// Fields there.
        known: Vec<String>,
    },
    /// A picture too small or too large.
    #[error("a picture of {width} × {height} pixels is out of limits; both sides must be {min} to {max} pixels", min = ViewError::SIDE.start(), max = ViewError::SIDE.end())]
    Size {
        /// Width asked for, in pixels.
        width: u32,
        /// Height asked for, in pixels.
        height: u32,
    },
    /// A viewing direction without a direction.
    #[error("the view direction {0:?} must be three finite numbers, not all zero, such as 1, -2, 1")]
    Direction([f64; 3]),
    /// A plane of a cut without a direction or a place.
    #[error(
        "the cut {0:?} must be four finite numbers: a direction that is not all zero, and how far along it to cut [m], such as 0, -1, 0, 0.05"
    )]
    Cut([f64; 4]),
    /// A color range that is empty.
    #[error("the color range {0} to {1} must be two finite numbers, the first below the second")]
    Range(f64, f64),
    /// A table that is not one.
    #[error("{}:{line}: {cause}; the table was changed after the run, or the disk damaged it", .path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// Line in it, from 1.
        line: usize,
        /// What is wrong there.
        cause: String,
    },
    /// A file or folder that cannot be read.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder without anything to plot.
    #[error(
        "{}: nothing to plot; energies.csv, probes/*.csv, profile.csv and, of a run with --device heterogeneous, trace.csv are missing or hold no rows",
        .folder.display()
    )]
    NothingToPlot {
        /// The run folder.
        folder: PathBuf,
    },
    /// A film whose pictures have an odd side.
    #[error("a film of {width} × {height} pixels cannot be encoded: both sides must be even; try --size {}x{}", .width + .width % 2, .height + .height % 2)]
    FilmSize {
        /// Width asked for \[px\].
        width: u32,
        /// Height asked for \[px\].
        height: u32,
    },
    /// The film could not be encoded.
    #[error("the film could not be encoded: {0}")]
    Film(String),
    /// The image or chart could not be written.
    #[error("the image could not be encoded: {0}")]
    Encoding(String),
}

impl ViewError {
    /// Sides a picture may have \[px\]: what every graphics adapter draws, with four samples for each pixel where it has images and buffers for so many.
    pub(crate) const SIDE: std::ops::RangeInclusive<u32> = 64..=4096;

    /// Refuses sides that are out of limits.
    pub(crate) fn check_size((width, height): (u32, u32)) -> Result<(), ViewError> {
        if ViewError::SIDE.contains(&width) && ViewError::SIDE.contains(&height) {
            Ok(())
        } else {
            Err(ViewError::Size { width, height })
        }
    }

    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> ViewError {
        let path = path.to_path_buf();
        move |source| ViewError::Io { path, source }
    }
}
