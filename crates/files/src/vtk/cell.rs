//! The periodic cell of a frame.

use super::read::{find, read, single};
use crate::FilesError;
use seixo_engine::PeriodicCell;
use std::fmt::Write as _;
use std::path::Path;

/// What says of each axis where its lower periodic side is, and how far the upper one is from that.
const SIDES: [[&str; 2]; 3] = [
    ["periodic_min_x", "periodic_length_x"],
    ["periodic_min_y", "periodic_length_y"],
    ["periodic_min_z", "periodic_length_z"],
];
/// The same names in files of earlier versions.
const EARLIER_SIDES: [[&str; 2]; 3] = [["side_x", "length_x"], ["side_y", "length_y"], ["side_z", "length_z"]];
/// The rates of change of lengths that are controlled.
const RATES: [&str; 3] = ["periodic_rate_x", "periodic_rate_y", "periodic_rate_z"];

/// A number \[SI\] that is one for the whole file.
pub(super) fn of_file(name: &str, value: f64) -> String {
    format!("<DataArray type=\"Float64\" Name=\"{name}\" NumberOfTuples=\"1\" format=\"ascii\">{value:?}</DataArray>\n")
}

/// Lower sides \[m\] and lengths \[m\] along periodic axes, and rates of change of lengths that are controlled \[m/s\].
pub(super) fn sides_of(cell: &PeriodicCell) -> String {
    let mut text = String::new();
    for (axis, [low, length]) in SIDES.into_iter().enumerate().filter(|(axis, _)| cell.is_periodic(*axis)) {
        let _ = write!(text, "{}{}", of_file(low, cell.low[axis]), of_file(length, cell.length[axis]));
        if let Some(stretch) = cell.stretch {
            text += &of_file(RATES[axis], stretch[axis]);
        }
    }
    text
}

/// The cell of a file with this text; open space if it names none.
pub(super) fn cell_in(text: &str) -> Result<PeriodicCell, String> {
    let mut cell = PeriodicCell::open();
    let sides = text.split("</FieldData>").next().unwrap_or_default();
    let both = [SIDES, EARLIER_SIDES].into_iter().flat_map(|names| names.into_iter().enumerate());
    for (axis, [low, length]) in both.filter(|(_, [low, _])| find(sides, low).is_ok()) {
        cell.low[axis] = single(sides, low, "lower side")?;
        cell.length[axis] = single(sides, length, "length between sides")?;
        if !(cell.length[axis] > 0.0 && cell.length[axis].is_finite()) {
            return Err(format!("its length between sides is {}", cell.length[axis]));
        }
        if find(sides, RATES[axis]).is_ok() {
            cell.stretch.get_or_insert_default()[axis] = single(sides, RATES[axis], "rate of a length")?;
        }
    }
    Ok(cell)
}

/// Reads the cell of a file of grains or fluids; open space if the file names none. Files of grains name cells whose lengths are controlled.
pub fn read_cell(path: &Path) -> Result<PeriodicCell, FilesError> {
    read(path, |content| cell_in(content.text))
}
