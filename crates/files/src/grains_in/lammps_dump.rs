//! Dumps of LAMMPS and LIGGGHTS as text: snapshots of items, each of which starts with a line `ITEM:`.

use super::{GrainRow, KNOWN, Limits, SCALARS, X, complete, known_columns, refuse_too_many};
use crate::FilesError;
use crate::columns::{Header, Known, Lines, Quantity, Separator, UnitSystem, add_note, number};
use crate::error::quoted;
use seixo_engine::state::GrainScalar;

/// First slot of the coordinates that are shares of the box.
const SCALED: usize = SCALARS + GrainScalar::ALL.len();

/// Dumps of a run that is over end with a whole snapshot.
const CUT_SHORT: &str = "remove the snapshot that is not complete from the end of the file";

/// The item that a line starts.
pub(super) fn item(text: &str) -> Option<&str> {
    text.strip_prefix("ITEM:").map(str::trim)
}

/// The unit system of a name in LAMMPS; adds a note where its numbers are taken as SI. Systems for atoms are refused.
pub(super) fn units(lines: &Lines, name: &str, notes: &mut Vec<String>) -> Result<UnitSystem, FilesError> {
    match name {
        "si" => Ok(UnitSystem::Si),
        "cgs" => Ok(UnitSystem::Cgs),
        "micro" => Ok(UnitSystem::Micro),
        "nano" => Ok(UnitSystem::Nano),
        "lj" => {
            add_note(
                notes,
                format!("{}: its units are lj, and its numbers are taken as SI", lines.path().display()),
            );
            Ok(UnitSystem::Si)
        }
        _ => {
            let problem = format!("numbers in units {} are not read", quoted(name));
            Err(lines.error(problem, "use one of si, cgs, micro, nano and lj"))
        }
    }
}

/// The box of a snapshot.
#[derive(Clone, Copy, Default)]
struct Bounds {
    /// Lower and upper bound along each axis \[m\].
    along: [[f64; 2]; 3],
    /// Whether the box is not orthogonal.
    is_skewed: bool,
}

/// What comes before the atoms of a snapshot.
#[derive(Default)]
struct Start {
    step: String,
    count: Option<usize>,
    bounds: Option<Bounds>,
}

/// Reads the last snapshot.
pub(super) fn read(mut lines: Lines, limits: &Limits, notes: &mut Vec<String>) -> Result<Vec<GrainRow>, FilesError> {
    let known = columns();
    let (mut text, mut system, mut start, mut snapshots) = (String::new(), UnitSystem::Si, Start::default(), 0);
    let (mut rows, mut header) = (Vec::new(), None);
    while lines.next(&mut text)?.is_some() {
        let Some(item) = item(&text).map(str::to_owned) else {
            let problem = format!("{} is a line of no item", quoted(&text));
            return Err(lines.error(problem, "give as many lines as the item before it announces"));
        };
        let mut words = item.split_whitespace();
        match words.next().unwrap_or_default() {
            "UNITS" => {
                follow(&mut lines, &mut text)?;
                system = units(&lines, &text, notes)?;
            }
            "TIME" => {
                follow(&mut lines, &mut text)?;
            }
            "TIMESTEP" => {
                follow(&mut lines, &mut text)?;
                start = Start {
                    step: text.clone(),
                    ..Start::default()
                };
            }
            "NUMBER" if item == "NUMBER OF ATOMS" => {
                follow(&mut lines, &mut text)?;
                let count = text.parse::<usize>().map_err(|_| {
                    let problem = format!("{} is not a number of atoms", quoted(&text));
                    lines.error(problem, "write a whole number")
                })?;
                start.count = Some(count);
            }
            "BOX" => start.bounds = Some(bounds(&mut lines, &mut text, &item, system)?),
            "ATOMS" => {
                let labels = words.map(str::to_owned).collect();
                let found = understood(&lines, labels, &known, system)?;
                rows = atoms(&mut lines, &mut text, &found, &start, limits)?;
                header = Some(found);
                snapshots += 1;
            }
            _ => {
                let problem = format!("the item {} is not read", quoted(&item));
                return Err(lines.error(problem, "dump the atoms: `dump 1 all custom 1000 grains.dump id type x y z radius`"));
            }
        }
    }
    let Some(header) = header else {
        return Err(lines.error("no item `ITEM: ATOMS`, and so no grains", CUT_SHORT));
    };
    header.note_unread(&lines, notes);
    if snapshots > 1 {
        let path = lines.path().display();
        add_note(
            notes,
            format!(
                "{path}: of its {snapshots} snapshots, the last is read, which is of time step {}",
                start.step
            ),
        );
    }
    Ok(rows)
}

/// Known columns of a dump: those of any grain file, and coordinates as shares of the box.
fn columns() -> Vec<Known> {
    let scaled = [&["xs", "xsu"], &["ys", "ysu"], &["zs", "zsu"]];
    let scaled = scaled.map(|names| Known {
        names,
        quantity: Quantity::Plain,
    });
    known_columns().into_iter().chain(scaled).collect()
}

/// Puts the next line into `text` and gives its number; it belongs to the item before it.
fn follow(lines: &mut Lines, text: &mut String) -> Result<u64, FilesError> {
    match lines.next(text)? {
        Some(line) if item(text).is_none() => Ok(line),
        _ => Err(lines.error("the item ends early", CUT_SHORT)),
    }
}

fn bounds(lines: &mut Lines, text: &mut String, item: &str, system: UnitSystem) -> Result<Bounds, FilesError> {
    let mut bounds = Bounds {
        is_skewed: item.contains("xy") || item.contains("abc"),
        ..Bounds::default()
    };
    for along in &mut bounds.along {
        follow(lines, text)?;
        let numbers: Option<Vec<f64>> = text.split_whitespace().map(number).collect();
        match numbers.as_deref() {
            Some([low, high, ..]) => *along = [*low, *high].map(|bound| bound * system.size_of(Quantity::Length)),
            _ => {
                let problem = format!("{} is not a lower and an upper bound of the box", quoted(text));
                return Err(lines.error(problem, "write two numbers"));
            }
        }
    }
    Ok(bounds)
}

/// The columns of the atoms. Coordinates in units of length are preferred to shares of the box.
fn understood(lines: &Lines, labels: Vec<String>, known: &[Known], system: UnitSystem) -> Result<Header, FilesError> {
    let mut header = Header::of_labels(lines, labels, Separator::Space, known, system)?;
    header.leave_out_repeated();
    for axis in 0..3 {
        if header.has(X + axis) {
            header.leave_out(SCALED + axis);
        } else if !header.has(SCALED + axis) {
            let problem = format!("the atoms have no column `{}`", KNOWN[X + axis].names[0]);
            return Err(lines.error(problem, "dump x, y and z of each atom"));
        }
    }
    complete(lines, &mut header)?;
    Ok(header)
}

fn atoms(lines: &mut Lines, text: &mut String, header: &Header, start: &Start, limits: &Limits) -> Result<Vec<GrainRow>, FilesError> {
    let Some(count) = start.count else {
        return Err(lines.error("no item `ITEM: NUMBER OF ATOMS` before the atoms", "write it before `ITEM: ATOMS`"));
    };
    let is_scaled = (SCALED..SCALED + 3).any(|slot| header.has(slot));
    let bounds = start.bounds.unwrap_or_default();
    if is_scaled && (start.bounds.is_none() || bounds.is_skewed) {
        let problem = "the coordinates xs, ys and zs are shares of a box that is not orthogonal or not given";
        return Err(lines.error(problem, "dump x, y and z of each atom"));
    }
    let mut rows = Vec::new();
    for _ in 0..count {
        let line = follow(lines, text)?;
        refuse_too_many(lines, rows.len(), limits)?;
        let mut row = GrainRow {
            line,
            ..GrainRow::default()
        };
        header.row(lines, text, |column, value| match column.slot.checked_sub(SCALED) {
            Some(axis) => {
                let [low, high] = bounds.along[axis];
                row.position[axis] = low + column.number(lines, value)? * (high - low);
                Ok(())
            }
            None => row.put(lines, column, value),
        })?;
        rows.push(row);
    }
    Ok(rows)
}
