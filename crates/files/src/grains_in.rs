//! Grains from a text file: a first line of column names with units, then a line for each grain.
//!
//! ```
//! use seixo_files::grains_in::{Limits, read};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("grains.csv");
//! std::fs::write(&path, "id,x[mm],y[mm],z[mm],radius[mm]\n7,0,0,4,2\n")?;
//! let grains = read(&path, &Limits::default())?;
//! assert_eq!((grains[0].id, grains[0].radius), (Some(7), Some(2e-3)));
//! assert_eq!(grains[0].position, [0.0, 0.0, 4e-3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
    /// Name of the material, if the file gives it.
    pub material: Option<String>,
    /// Orientation of a clump as a quaternion w x y z of any length, if the file gives it.
    pub orientation: Option<[f64; 4]>,
    /// Scalars that the file gives, such as a temperature \[K\].
    pub scalars: StartScalars,
}

/// The columns that are no scalars; those follow.
const KNOWN: [Known; SCALARS] = [
    Known {
        names: &["id"],
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
        names: &["x", "posx", "position_x"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["y", "posy", "position_y"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["z", "posz", "position_z"],
        quantity: Quantity::Length,
    },
    Known {
        names: &["vx", "velx", "velocity_x"],
        quantity: Quantity::Velocity,
    },
    Known {
        names: &["vy", "vely", "velocity_y"],
        quantity: Quantity::Velocity,
    },
    Known {
        names: &["vz", "velz", "velocity_z"],
        quantity: Quantity::Velocity,
    },
    Known {
        names: &["wx", "omega_x", "angular_velocity_x"],
        quantity: Quantity::AngularVelocity,
    },
    Known {
        names: &["wy", "omega_y", "angular_velocity_y"],
        quantity: Quantity::AngularVelocity,
    },
    Known {
        names: &["wz", "omega_z", "angular_velocity_z"],
        quantity: Quantity::AngularVelocity,
    },
    Known {
        names: &["qw", "orientation_w"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["qx", "orientation_x"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["qy", "orientation_y"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["qz", "orientation_z"],
        quantity: Quantity::Plain,
    },
    Known {
        names: &["mass", "m"],
        quantity: Quantity::Mass,
    },
];
const X: usize = 3;
const QW: usize = 12;
const MASS: usize = 16;
const SCALARS: usize = 17;

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
        match column.slot {
            0 => match value.parse() {
                Ok(id) => self.id = Some(id),
                Err(_) => return Err(column.wrong(lines, value, "is not an id", "use whole numbers from 0 to 4294967295")),
            },
            1 => self.material = Some(value.to_owned()),
            2 => match column.number(lines, value)? {
                radius if radius > 0.0 => self.radius = Some(radius),
                _ => return Err(column.wrong(lines, value, "is not a radius", "use a number above zero")),
            },
            MASS => match column.number(lines, value)? {
                mass if mass > 0.0 => self.mass = Some(mass),
                _ => return Err(column.wrong(lines, value, "is not a mass", "use a number above zero")),
            },
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

/// Reads a grain file. Columns stand apart by commas, or by tabs and spaces; `x`, `y` and `z` are required,
/// `id`, `radius`, `mass`, `material`, `vx` `vy` `vz`, `wx` `wy` `wz`, `qw` `qx` `qy` `qz` and the scalars of [`GrainScalar`] are not. Lines that are blank or start with `#` are skipped.
pub fn read(path: &Path, limits: &Limits) -> Result<Vec<GrainRow>, FilesError> {
    let (file, _) = open_input(path, "a grain file", limits.bytes)?;
    let mut lines = Lines::new(path, file);
    let mut text = String::new();
    if lines.next(&mut text)?.is_none() {
        return Err(FilesError::content(
            path,
            "the file is empty",
            "start it with a line like `x[m] y[m] z[m] radius[m]`",
        ));
    }
    let header = Header::parse(&lines, &text, &known_columns())?;
    if let Some(missing) = (X..X + 3).find(|&slot| !header.has(slot)) {
        return Err(lines.error(
            format!("no column `{}`", KNOWN[missing].names[0]),
            "name x, y and z in the first line",
        ));
    }
    let turned = (QW..QW + 4).filter(|&slot| header.has(slot)).count();
    if !turned.is_multiple_of(4) {
        return Err(lines.error(format!("{turned} of the columns qw, qx, qy and qz"), "name all four, or none"));
    }
    let mut rows = Vec::new();
    while limits.take.is_none_or(|take| rows.len() < take) {
        let Some(line) = lines.next(&mut text)? else { break };
        if rows.len() == limits.rows {
            return Err(lines.error(format!("more than {} grains, which is the limit", limits.rows), "take fewer"));
        }
        let mut row = GrainRow {
            line,
            ..GrainRow::default()
        };
        header.row(&lines, &text, |column, value| row.put(&lines, column, value))?;
        rows.push(row);
    }
    refuse_equal_ids(path, &rows)?;
    Ok(rows)
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
