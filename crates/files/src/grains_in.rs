//! Grains from a text file: a first line of column names with units, then a line for each grain; or a data file or dump of LAMMPS or LIGGGHTS.
//!
//! ```
//! use seixo_files::grains_in::{Limits, read};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("grains.csv");
//! std::fs::write(&path, "id,x[mm],y[mm],z[mm],radius[mm]\n7,0,0,4,2\n")?;
//! let grains = read(&path, &Limits::default(), &mut Vec::new())?;
//! assert_eq!((grains[0].id, grains[0].radius), (Some(7), Some(2e-3)));
//! assert_eq!(grains[0].position, [0.0, 0.0, 4e-3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod lammps_data;
mod lammps_dump;

use crate::FilesError;
use crate::columns::{Column, Header, Known, Lines, Quantity, open_input};
use seixo_engine::state::{GrainScalar, StartScalars};
use std::path::Path;

/// How much of a file is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest file \[bytes\].
    pub bytes: u64,
    /// Most grains.
    pub rows: usize,
    /// Number of grains to read from the start; the rest is ignored; `None` = all.
    pub take: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: 16 << 30,
            rows: 100_000_000,
            take: None,
        }
    }
}

/// A grain as its file gives it, in SI.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrainRow {
    /// Line of the file, from 1, for messages.
    pub line: u64,
    /// Id, if the file numbers its grains; no two are equal.
    pub id: Option<u32>,
    /// Center \[m\].
    pub position: [f64; 3],
    /// Velocity \[m/s\]; zero where the file gives none.
    pub velocity: [f64; 3],
    /// Angular velocity \[rad/s\]; zero where the file gives none.
    pub angular_velocity: [f64; 3],
    /// Radius \[m\], positive, if the file gives it.
    pub radius: Option<f64>,
    /// Mass \[kg\], positive, if the file gives it.
    pub mass: Option<f64>,
    /// Density \[kg/m³\], positive, if the file gives it and no mass.
    pub density: Option<f64>,
    /// Name of the material, if the file gives it.
    pub material: Option<String>,
    /// Type of the atom in LAMMPS or LIGGGHTS, if the file gives it.
    pub atom_type: Option<String>,
    /// Rigid body of which the grain is a sphere, as the file names it; `None` if the file gives none.
    pub body: Option<String>,
    /// Orientation of a clump as a quaternion w x y z of any length, if the file gives it.
    pub orientation: Option<[f64; 4]>,
    /// Scalars that the file gives, such as a temperature \[K\].
    pub scalars: StartScalars,
}

/// The columns that are no scalars; those follow.
const KNOWN: [Known; SCALARS] = [
    Known {
        names: &["id", "particle id", "atom id"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["material"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["radius", "r"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["x", "posx", "position_x", "x position", "center_x", "points:0", "xu"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["y", "posy", "position_y", "y position", "center_y", "points:1", "yu"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["z", "posz", "position_z", "z position", "center_z", "points:2", "zu"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vx", "velx", "velocity_x", "x velocity", "velocity:0", "v:0"],
        quantity: Quantity::Velocity,
    },
    Known {
        names: &["vy", "vely", "velocity_y", "y velocity", "velocity:1", "v:1"],
        quantity: Quantity::Velocity,
    },
    Known {
        names: &["vz", "velz", "velocity_z", "z velocity", "velocity:2", "v:2"],
        quantity: Quantity::Velocity,
    },
    Known {
        names: &["wx", "omega_x", "angular_velocity_x", "angular_velocity:0", "omega:0"],
        quantity: Quantity::AngularVelocity,
    },
    Known {
        names: &["wy", "omega_y", "angular_velocity_y", "angular_velocity:1", "omega:1"],
        quantity: Quantity::AngularVelocity,
    },
    Known {
        names: &["wz", "omega_z", "angular_velocity_z", "angular_velocity:2", "omega:2"],
        quantity: Quantity::AngularVelocity,
    },
    Known {
        names: &["qw", "orientation_w", "quatw"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["qx", "orientation_x", "quati"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["qy", "orientation_y", "quatj"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["qz", "orientation_z", "quatk"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["mass", "m"],
        quantity: Quantity::Mass,
    },
    Known {
        names: &["diameter", "d"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["density", "rho"],
        quantity: Quantity::Density,
    },
    Known {
        names: &["type", "atom type"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["body"],
        quantity: Quantity::Plain,
    },
];
const RADIUS: usize = 2;
const X: usize = 3;
const QW: usize = 12;
const MASS: usize = 16;
const DIAMETER: usize = 17;
const DENSITY: usize = 18;
const TYPE: usize = 19;
const BODY: usize = 20;
const SCALARS: usize = 21;

/// What a frame has in place of the body of a grain that moves alone.
const NO_BODY: &str = "-1";

/// All columns that a file may have.
fn known_columns() -> Vec<Known> {
    let scalars = GrainScalar::ALL.into_iter().map(|scalar| Known {
        names: scalar.names(),
        quantity: match scalar {
            GrainScalar::Temperature => Quantity::Temperature,
            GrainScalar::FilmThickness => Quantity::Length,
        },
    });
    KNOWN.into_iter().chain(scalars).collect()
}

impl GrainRow {
    /// Puts one value where its column says.
    fn put(&mut self, lines: &Lines, column: &Column, value: &str) -> Result<(), FilesError> {
        let positive = |what: &str| match column.number(lines, value)? {
            number if number > 0.0 => Ok(number),
            _ => Err(column.wrong(lines, value, &format!("is not a {what}"), "use a number above zero")),
        };
        match column.slot {
            0 => match value.parse() {
                Ok(id) => self.id = Some(id),
                Err(_) => return Err(column.wrong(lines, value, "is not an id", "use whole numbers from 0 to 4294967295")),
            },
            1 => self.material = Some(value.to_owned()),
            RADIUS => self.radius = Some(positive("radius")?),
            DIAMETER => self.radius = Some(positive("diameter")? / 2.0),
            MASS => self.mass = Some(positive("mass")?),
            DENSITY => self.density = Some(positive("density")?),
            TYPE => self.atom_type = Some(value.to_owned()),
            BODY => self.body = Some(value.to_owned()).filter(|body| !body.is_empty() && body != NO_BODY),
            slot if slot >= SCALARS => {
                let scalar = GrainScalar::ALL[slot - SCALARS];
                let number = column.number(lines, value)?;
                if let Some(must) = scalar.flaw_of(number) {
                    return Err(column.wrong(lines, value, &format!("is not {}", scalar.noun()), &format!("it must be {must}")));
                }
                self.scalars[scalar] = Some(number);
            }
            slot if slot >= QW => {
                self.orientation.get_or_insert_default()[slot - QW] = column.number(lines, value)?;
            }
            slot => {
                let vectors = [&mut self.position, &mut self.velocity, &mut self.angular_velocity];
                vectors
                    .into_iter()
                    .flatten()
                    .zip(X..)
                    .filter(|(_, at)| *at == slot)
                    .try_for_each(|(component, _)| {
                        *component = column.number(lines, value)?;
                        Ok(())
                    })?;
            }
        }
        Ok(())
    }
}

/// What a grain file can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Table,
    LammpsData,
    LammpsDump,
}

/// What a file is, by its first lines. The errors of unreadable ones are left to the reader.
fn kind_of(path: &Path, limits: &Limits) -> Result<Kind, FilesError> {
    /// Lines of a data file within which the number of its atoms stands.
    const LOOKED_AT: usize = 10;
    let (file, _) = open_input(path, "a grain file", limits.bytes)?;
    let mut lines = Lines::new(path, file);
    let mut text = String::new();
    for _ in 0..LOOKED_AT {
        match lines.next(&mut text) {
            Ok(Some(_)) if lammps_dump::item(&text).is_some() => return Ok(Kind::LammpsDump),
            Ok(Some(_)) if lammps_data::number_of_atoms(&text).is_some() => return Ok(Kind::LammpsData),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => break,
        }
    }
    Ok(Kind::Table)
}

/// Reads a grain file: a table, a data file of LAMMPS, or a dump of LAMMPS or LIGGGHTS as text, whose last snapshot is taken.
///
/// Columns of a table stand apart by semicolons, tabs, commas or spaces. `x`, `y` and `z` are required,
/// `id`, `radius` or `diameter`, `mass` or `density`, `material`, `body`, `vx` `vy` `vz`, `wx` `wy` `wz`, `qw` `qx` `qy` `qz` and the scalars of
/// [`GrainScalar`] are not. Lines that are blank or start with `#` are skipped. Adds a note to `notes` that names the columns that are not read.
pub fn read(path: &Path, limits: &Limits, notes: &mut Vec<String>) -> Result<Vec<GrainRow>, FilesError> {
    let kind = kind_of(path, limits)?;
    let (file, _) = open_input(path, "a grain file", limits.bytes)?;
    let lines = Lines::new(path, file);
    let mut rows = match kind {
        Kind::Table => read_table(lines, limits, notes)?,
        Kind::LammpsData => lammps_data::read(lines, limits, notes)?,
        Kind::LammpsDump => lammps_dump::read(lines, limits, notes)?,
    };
    rows.truncate(limits.take.unwrap_or(usize::MAX));
    refuse_equal_ids(path, &rows)?;
    Ok(rows)
}

fn read_table(mut lines: Lines, limits: &Limits, notes: &mut Vec<String>) -> Result<Vec<GrainRow>, FilesError> {
    let mut text = String::new();
    if lines.next(&mut text)?.is_none() {
        return Err(FilesError::content(
            lines.path(),
            "the file is empty",
            "start it with a line like `x[m] y[m] z[m] radius[m]`",
        ));
    }
    let mut header = Header::parse(&lines, &text, &known_columns())?;
    if let Some(missing) = (X..X + 3).find(|&slot| !header.has(slot)) {
        return Err(lines.error(
            format!("no column `{}`", KNOWN[missing].names[0]),
            "name x, y and z in the first line",
        ));
    }
    complete(&lines, &mut header)?;
    header.note_unread(&lines, notes);
    let mut rows = Vec::new();
    while limits.take.is_none_or(|take| rows.len() < take) {
        let Some(line) = lines.next(&mut text)? else { break };
        refuse_too_many(&lines, rows.len(), limits)?;
        let mut row = GrainRow {
            line,
            ..GrainRow::default()
        };
        header.row(&lines, &text, |column, value| row.put(&lines, column, value))?;
        rows.push(row);
    }
    Ok(rows)
}

/// Refuses a part of an orientation, and leaves out what another column says: the diameter beside the radius, the density beside the mass.
fn complete(lines: &Lines, header: &mut Header) -> Result<(), FilesError> {
    let turned = (QW..QW + 4).filter(|&slot| header.has(slot)).count();
    if !turned.is_multiple_of(4) {
        return Err(lines.error(format!("{turned} of the columns qw, qx, qy and qz"), "name all four, or none"));
    }
    for (kept, left_out) in [(RADIUS, DIAMETER), (MASS, DENSITY)] {
        if header.has(kept) {
            header.leave_out(left_out);
        }
    }
    Ok(())
}

/// Refuses a grain beyond the limit, after this many.
fn refuse_too_many(lines: &Lines, count: usize, limits: &Limits) -> Result<(), FilesError> {
    if count >= limits.rows {
        return Err(lines.error(format!("more than {} grains, which is the limit", limits.rows), "take fewer"));
    }
    Ok(())
}

fn refuse_equal_ids(path: &Path, rows: &[GrainRow]) -> Result<(), FilesError> {
    let mut ids: Vec<(u32, u64)> = rows.iter().filter_map(|row| Some((row.id?, row.line))).collect();
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(&[(id, first), (_, second)]) => Err(FilesError::line(
            path,
            second,
            format!("column `id`: {id} is already the id of line {first}"),
            "number each grain once",
        )),
        _ => Ok(()),
    }
}
