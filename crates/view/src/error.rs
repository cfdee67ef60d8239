//! Errors of pictures and plots.

use std::path::PathBuf;

/// Why there is no picture or plot. Every message names the object, the limit and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// There is no graphics adapter.
    #[error(
        "no graphics adapter to draw with: {found}; on a Linux machine without a GPU install the software driver \
         (package mesa-vulkan-drivers) and try again"
    )]
    NoAdapter {
        /// Adapters that were looked for and found.
        found: String,
    },
    /// A window cannot be opened.
    #[error(
        "no display to open a window on: {cause}; look at it in a browser, seixo view --browser, which also works from another machine through ssh -L, \
         or draw pictures with seixo picture and seixo film"
    )]
    NoDisplay {
        /// Message of the system.
        cause: String,
    },
    /// The build lacks a part that was asked for.
    #[error(
        "this program was built without {what}; install it with `cargo install --path crates/seixo --features {feature}`, or {instead}"
    )]
    LeftOut {
        /// What it lacks.
        what: &'static str,
        /// Cargo feature that has it.
        feature: &'static str,
        /// What can be done without it.
        instead: &'static str,
    },
    /// The page cannot be served.
    #[error("cannot listen on {address}: {source}; leave --port out, so that a free one is taken")]
    Listen {
        /// Address and port.
        address: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The running simulation cannot be shown.
    #[error("{cause}")]
    Live {
        /// Reason.
        cause: String,
    },
    /// The graphics device failed.
    #[error("the graphics adapter {adapter} failed: {cause}; try a smaller picture or another adapter")]
    Device {
        /// Name of the adapter.
        adapter: String,
        /// Error message of the device.
        cause: String,
    },
    /// The path is not a run folder.
    #[error("{}: {what}; name the folder of a run: seixo run SCENE makes SCENE.out", .path.display())]
    NotAFolder {
        /// Path that was given.
        path: PathBuf,
        /// What the path is instead.
        what: &'static str,
    },
    /// The run wrote no frames.
    #[error("{}: no frames (fields/grains_*.vtp) in this run folder; set [output] every in the scene and run it", .folder.display())]
    NoFrames {
        /// The run folder.
        folder: PathBuf,
    },
    /// A link in the run folder points outside of it.
    #[error(
        "{}: leads out of the run folder, to {}, and a page shows nothing from there; copy it into the folder, or look at it in a window, seixo view",
        .path.display(), .to.display()
    )]
    Outside {
        /// The link.
        path: PathBuf,
        /// Target of the link.
        to: PathBuf,
    },
    /// The run wrote no contacts.
    #[error("{}: this frame has no contacts; set contacts = true under [output] in the scene and run it", .path.display())]
    NoContacts {
        /// Path of the missing contacts.
        path: PathBuf,
    },
    /// The run has no bonds.
    #[error("{}: no bonds here; add a section [bonds.NAME] to the scene and run it", .path.display())]
    NoBonds {
        /// Path of the missing bonds.
        path: PathBuf,
    },
    /// The frame has no fluid.
    #[error("{}: no fluid here; add a section [fluid.NAME] to the scene and run it", .path.display())]
    NoFluid {
        /// Path of the missing fluid.
        path: PathBuf,
    },
    /// The surface of the fluids of a frame cannot be computed.
    #[error("{}: {source}", .path.display())]
    Surface {
        /// The file of the fluids.
        path: PathBuf,
        /// Reason.
        source: seixo_analysis::SurfaceError,
    },
    /// The requested frame does not exist.
    #[error("frame {frame} does not exist; this run folder has frames 0 to {last}")]
    FrameOutOfRange {
        /// Requested frame.
        frame: usize,
        /// Last frame of the run folder.
        last: usize,
    },
    /// A frame cannot be read.
    #[error("no picture of this frame: {0}")]
    Frame(#[from] seixo_files::FilesError),
    /// The frame does not have the requested field.
    #[error("no field named {field:?} in this frame; it has {}", .known.join(", "))]
    UnknownField {
        /// Requested field.
        field: String,
        /// Fields of the frame.
        known: Vec<String>,
    },
    /// The walls of the frame do not have the requested field.
    #[error(
        "the walls of this frame have no field {field:?}{}; walls have wear_depth and worn_volume where the scene gives them a wear_coefficient and a hardness",
        if .known.is_empty() { String::new() } else { format!(", but {}", .known.join(", ")) }
    )]
    UnknownWallField {
        /// Requested field.
        field: String,
        /// Fields of the walls.
        known: Vec<String>,
    },
    /// The picture is too small or too large.
    #[error("a picture of {width} × {height} pixels is out of limits; both sides must be {min} to {max} pixels", min = ViewError::SIDE.start(), max = ViewError::SIDE.end())]
    Size {
        /// Requested width \[px\].
        width: u32,
        /// Requested height \[px\].
        height: u32,
    },
    /// The view direction is zero or not finite.
    #[error("the view direction {0:?} must be three finite numbers, not all zero, such as 1, -2, 1")]
    Direction([f64; 3]),
    /// The clip plane has no direction or no finite position.
    #[error(
        "the cut {0:?} must be four finite numbers: a direction that is not all zero, and how far along it to cut [m], such as 0, -1, 0, 0.05"
    )]
    Cut([f64; 4]),
    /// The color range is empty.
    #[error("the color range {0} to {1} must be two finite numbers, the first below the second")]
    Range(f64, f64),
    /// A table is malformed.
    #[error("{}:{line}: {cause}; the table was changed after the run, or the disk damaged it", .path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// Line number in the table, from 1.
        line: usize,
        /// Error in that line.
        cause: String,
    },
    /// A file or folder cannot be read.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The folder holds nothing to plot.
    #[error(
        "{}: nothing to plot; energies.csv, probes/*.csv, profile.csv and, of a run with --device heterogeneous, trace.csv are missing or hold no rows",
        .folder.display()
    )]
    NothingToPlot {
        /// The run folder.
        folder: PathBuf,
    },
    /// No table of a run has the requested column.
    #[error("{}: no column named {column:?} in energies.csv and probes/*.csv; the columns are {}", .folder.display(), .known.join("; "))]
    UnknownColumn {
        /// The run folder.
        folder: PathBuf,
        /// Requested column.
        column: String,
        /// Each table with its columns.
        known: Vec<String>,
    },
    /// Several tables of a run have the requested column.
    #[error(
        "{}: a column named {column:?} is in the tables {}; say which one is meant, such as {}.{column}",
        .folder.display(), .tables.join(", "), .tables[0]
    )]
    AmbiguousColumn {
        /// The run folder.
        folder: PathBuf,
        /// Requested column.
        column: String,
        /// Tables that have it, two or more.
        tables: Vec<String>,
    },
    /// Two columns have no row in which both are numbers.
    #[error("{}: {vertical} and {horizontal} are not known at the same times, so there is nothing to draw; choose other columns", .path.display())]
    NoPoints {
        /// Run folder, or file of measured data.
        path: PathBuf,
        /// Column of the vertical axis.
        vertical: String,
        /// Column of the horizontal axis.
        horizontal: String,
    },
    /// Columns of the horizontal axis have different units.
    #[error("{column} is in [{}] in one table and in [{}] in another, and both cannot have one axis; draw them in two plots", .units[0], .units[1])]
    MixedUnits {
        /// Name of the columns.
        column: String,
        /// Their units.
        units: [String; 2],
    },
    /// A table of measured data cannot be read.
    #[error(
        "{}: {source}; --with takes a file of measured data, a table whose first line names columns, such as `time [s];stress [kPa]`",
        .path.display()
    )]
    NoMeasured {
        /// The table.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A table of measured data is malformed.
    #[error("{}:{line}: {cause}", .path.display())]
    Measured {
        /// The table.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// Error in that line, and its remedy.
        cause: String,
    },
    /// A table of measured data lacks the requested column.
    #[error("{}: no column named {column:?}; the columns are {}", .path.display(), .known.join(", "))]
    UnknownMeasuredColumn {
        /// The table.
        path: PathBuf,
        /// Requested column.
        column: String,
        /// Its columns.
        known: Vec<String>,
    },
    /// A column of measured data cannot be converted to the unit of the runs.
    #[error("{}: column {column:?} is in [{unit}], which cannot be converted to [{wanted}], the unit of the run", .path.display())]
    MeasuredUnit {
        /// The table.
        path: PathBuf,
        /// Name of the column.
        column: String,
        /// Its unit.
        unit: String,
        /// Unit of the runs.
        wanted: String,
    },
    /// The pictures of a film have an odd side.
    #[error("a film of {width} × {height} pixels cannot be encoded: both sides must be even; try --size {}x{}", .width + .width % 2, .height + .height % 2)]
    FilmSize {
        /// Requested width \[px\].
        width: u32,
        /// Requested height \[px\].
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
    /// Limits for the sides of a picture \[px\]: every graphics adapter can draw these, with four samples per pixel if it supports images and buffers
    /// of that size.
    pub(crate) const SIDE: std::ops::RangeInclusive<u32> = 64..=4096;

    /// Checks the sides of a picture against the limits.
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
