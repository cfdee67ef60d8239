//! Data files of LAMMPS and LIGGGHTS: a title, a header of counts and bounds, then sections, each after a line with its name.

use super::lammps_dump::units;
use super::{GrainRow, Limits, known_columns, refuse_too_many};
use crate::FilesError;
use crate::columns::{Header, Lines, Separator, UnitSystem, add_note};
use crate::error::quoted;
use std::collections::HashMap;

/// Columns of the atoms of a style, in its order.
type Style = &'static [&'static str];

/// The style of atoms that name none.
const SPHERE: (&str, Style) = ("sphere", &["id", "type", "diameter", "density", "x", "y", "z"]);
/// Counts of periods that may follow the columns of any style.
const IMAGES: Style = &["ix", "iy", "iz"];

/// The styles of atoms that are read.
const STYLES: &[(&str, Style)] = &[
    SPHERE,
    ("granular", SPHERE.1),
    ("bpm/sphere", &["id", "mol", "type", "diameter", "density", "x", "y", "z"]),
    ("atomic", &["id", "type", "x", "y", "z"]),
    ("charge", &["id", "type", "q", "x", "y", "z"]),
    ("bond", &["id", "mol", "type", "x", "y", "z"]),
    ("angle", &["id", "mol", "type", "x", "y", "z"]),
    ("molecular", &["id", "mol", "type", "x", "y", "z"]),
    ("full", &["id", "mol", "type", "q", "x", "y", "z"]),
    ("hybrid sphere", &["id", "type", "x", "y", "z", "diameter", "density"]),
    ("hybrid granular", &["id", "type", "x", "y", "z", "diameter", "density"]),
];

/// The number in a line `1000 atoms`.
pub(super) fn number_of_atoms(text: &str) -> Option<usize> {
    let mut words = content(text).split_whitespace();
    let count = words.next()?.parse::<usize>().ok()?;
    (words.next() == Some("atoms") && words.next().is_none()).then_some(count)
}

/// A line without its comment.
fn content(text: &str) -> &str {
    text.split_once('#').map_or(text, |(content, _)| content).trim()
}

/// What the lines of a part of the file are.
enum Part {
    Header,
    Atoms {
        style: &'static (&'static str, Style),
        header: Option<Header>,
    },
    Velocities {
        header: Option<Header>,
        places: HashMap<u32, usize>,
    },
    Unread,
}

/// Reads the atoms and their velocities.
pub(super) fn read(mut lines: Lines, limits: &Limits, notes: &mut Vec<String>) -> Result<Vec<GrainRow>, FilesError> {
    let (mut text, mut system, mut count) = (String::new(), UnitSystem::Si, None);
    let (mut part, mut unread) = (Part::Header, Vec::new());
    let mut rows: Vec<GrainRow> = Vec::new();
    while let Some(line) = lines.next(&mut text)? {
        let values = content(&text);
        // The first line is a title.
        if line == 1 && number_of_atoms(&text).is_none() {
            if let Some((_, name)) = text.split_once("units =") {
                system = units(&lines, name.split(',').next().unwrap_or_default().trim(), notes)?;
            }
            continue;
        }
        if values.starts_with(|c: char| c.is_alphabetic()) {
            part = started(&lines, &text, &rows, notes)?;
            if matches!(part, Part::Unread) {
                unread.push(quoted(values));
            }
            continue;
        }
        match &mut part {
            Part::Header => count = count.or(number_of_atoms(&text)),
            Part::Atoms { style, header } => {
                refuse_too_many(&lines, rows.len(), limits)?;
                let header = match header {
                    Some(header) => header,
                    None => header.insert(columns(&lines, values, style, system, notes)?),
                };
                let mut row = GrainRow {
                    line,
                    ..GrainRow::default()
                };
                header.row(&lines, values, |column, value| row.put(&lines, column, value))?;
                rows.push(row);
            }
            Part::Velocities { header, places } => {
                let header = match header {
                    Some(header) => header,
                    None => header.insert(columns_of_velocities(&lines, values, system)?),
                };
                let mut moving = GrainRow::default();
                header.row(&lines, values, |column, value| moving.put(&lines, column, value))?;
                let place = moving.id.and_then(|id| places.get(&id));
                let Some(&place) = place else {
                    let problem = format!("the velocity of an atom that is not there: {}", quoted(values));
                    return Err(lines.error(problem, "give the atoms before their velocities, with the same ids"));
                };
                (rows[place].velocity, rows[place].angular_velocity) = (moving.velocity, moving.angular_velocity);
            }
            Part::Unread => {}
        }
    }
    if count != Some(rows.len()) {
        let problem = format!("{} atoms, but the file announces {}", rows.len(), count.unwrap_or(0));
        return Err(lines.error(problem, "write the file again, or correct the line `atoms` of its header"));
    }
    if !unread.is_empty() {
        let (path, names) = (lines.path().display(), unread.join(", "));
        add_note(notes, format!("{path}: sections that are not read: {names}"));
    }
    Ok(rows)
}

/// The part that a line with its name starts.
fn started(lines: &Lines, text: &str, rows: &[GrainRow], notes: &mut Vec<String>) -> Result<Part, FilesError> {
    let style = text.split_once('#').map(|(_, style)| style.trim());
    match content(text) {
        "Atoms" => {
            let style = style.unwrap_or_else(|| {
                let (path, (name, columns)) = (lines.path().display(), SPHERE);
                add_note(
                    notes,
                    format!(
                        "{path}: `Atoms` names no style, so it is read as `Atoms # {name}`: {}",
                        columns.join(" ")
                    ),
                );
                name
            });
            let is_meant = |(name, _): &&(&str, Style)| style == *name || name.starts_with("hybrid") && style.starts_with(*name);
            match STYLES.iter().find(is_meant) {
                Some(style) => Ok(Part::Atoms { style, header: None }),
                None => {
                    let problem = format!("atoms of style {} are not read", quoted(style));
                    let names: Vec<&str> = STYLES.iter().map(|(name, _)| *name).collect();
                    let remedy = format!("write atoms of one of the styles {}, or dump them as text", names.join(", "));
                    Err(lines.error(problem, remedy))
                }
            }
        }
        "Velocities" => Ok(Part::Velocities {
            header: None,
            places: rows.iter().enumerate().filter_map(|(place, row)| Some((row.id?, place))).collect(),
        }),
        _ => Ok(Part::Unread),
    }
}

/// The columns of the atoms, by their style and the number of values in their first line.
fn columns(
    lines: &Lines,
    values: &str,
    (name, own): &(&str, Style),
    system: UnitSystem,
    notes: &mut Vec<String>,
) -> Result<Header, FilesError> {
    let count = values.split_whitespace().count();
    let mut labels: Vec<&str> = own.to_vec();
    if count == own.len() + IMAGES.len() {
        labels.extend(IMAGES);
    } else if name.starts_with("hybrid") && count > own.len() {
        labels.push("values of other styles");
        labels.resize(count, "");
    }
    if count != labels.len() {
        let problem = format!("{count} values, but an atom of style {name} has {}: {}", own.len(), own.join(" "));
        return Err(lines.error(problem, "name the style of the atoms, as in `Atoms # sphere`"));
    }
    let labels = labels.into_iter().map(str::to_owned).collect();
    let header = Header::of_labels(lines, labels, Separator::Space, &known_columns(), system)?;
    header.note_unread(lines, notes);
    Ok(header)
}

/// The columns of the velocities, by the number of values in their first line.
fn columns_of_velocities(lines: &Lines, values: &str, system: UnitSystem) -> Result<Header, FilesError> {
    let all = ["id", "vx", "vy", "vz", "wx", "wy", "wz"];
    let labels = match values.split_whitespace().count() {
        4 => &all[..4],
        7 => &all[..],
        count => {
            let problem = format!("{count} values, but a velocity has 4 or 7: {}", all.join(" "));
            return Err(lines.error(problem, "write the velocities of atoms of style sphere"));
        }
    };
    let labels = labels.iter().map(|&label| label.to_owned()).collect();
    Header::of_labels(lines, labels, Separator::Space, &known_columns(), system)
}
