//! Colors of grains from the fields of a frame, and their legend.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use rayon::prelude::*;
use seixo_files::vtk::{VtkPoints, unit_of};

use crate::{
    PictureOptions, SHARE, Shown, SnapshotParts, ViewError,
    color::{self, Rgb},
    fluid::SphereSet,
    scene_bounds::some_of,
};

/// Fragments with a color of their own; with the class of all others they fill a legend.
const MAX_FRAGMENTS: usize = 11;

/// Numbers of a rotation for each grain. A rotation has no color.
const OF_ROTATION: usize = 4;

/// Number of colors of a scale in a palette.
pub const SCALE: usize = 240;
/// Palette index for items without a value.
pub const OTHERS: u8 = 240;
/// Palette index of the first color of fluids beside colored grains.
const FLUIDS: u8 = 241;
/// Number of colors of fluids.
const MAX_FLUIDS: u8 = 12;

/// Colors of grains or other items, and their meaning. Items without a value have the color of others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coloring {
    /// At most 256 colors.
    pub palette: Vec<Rgb>,
    /// Palette index of each item.
    pub shade: Vec<u8>,
    /// Contents of the legend.
    pub legend: Legend,
}

/// The meaning of the colors.
#[derive(Clone, Debug, PartialEq)]
pub enum Legend {
    /// A scale of numbers.
    Scale {
        /// Name of the field.
        name: String,
        /// Unit of the ends.
        unit: String,
        /// Values at the ends.
        range: (f64, f64),
        /// Whether some grains have values below and above the range.
        goes_on: [bool; 2],
    },
    /// One color per class.
    Classes {
        /// Name of the field.
        name: String,
        /// Names and colors of the classes.
        classes: Vec<(String, Rgb)>,
    },
}

impl Default for Legend {
    fn default() -> Legend {
        Legend::Classes {
            name: String::new(),
            classes: Vec::new(),
        }
    }
}

/// The colors of a scale, the color of others, and the colors of fluids.
fn palette(of_scale: impl Fn(usize) -> Rgb) -> Vec<Rgb> {
    let fluids = (0..MAX_FLUIDS).map(|number| color::fluid(number.into()));
    (0..SCALE).map(of_scale).chain([color::OTHERS]).chain(fluids).collect()
}

/// The palette index of a value on a scale.
pub fn shade_of(value: f64, (low, high): (f64, f64)) -> u8 {
    if value.is_nan() {
        OTHERS
    } else {
        (((value - low) / (high - low)).clamp(0.0, 1.0) * (SCALE - 1) as f64 + 0.5) as u8
    }
}

impl Coloring {
    /// The color of the item at this index.
    pub fn color(&self, place: usize) -> Rgb {
        self.palette[usize::from(self.shade[place])]
    }

    /// The colors that the options request.
    pub fn of(grains: &VtkPoints, options: &PictureOptions) -> Result<Coloring, ViewError> {
        let has_velocity = grains.scalars.iter().any(|(name, _, _)| name == "velocity");
        let field = options.field.as_deref().unwrap_or(if has_velocity { "speed" } else { "radius" });
        let (values, unit) = values_of(grains, field)?;
        let mut coloring = match field {
            "material" | "group" | "fluid" => Coloring::classes(&values, field),
            "fragment" => Coloring::fragments(&values, field),
            _ => Coloring::scaled(&values, field, unit, options.range),
        };
        coloring.color_fluids(grains, &values);
        Ok(coloring)
    }

    /// Colors without meaning: gray for grains and a pale color for each fluid.
    pub fn plain(points: &VtkPoints) -> Coloring {
        let values = vec![f64::NAN; points.id.len()];
        let mut coloring = Coloring::scaled(&values, "", "", Some((0.0, 1.0)));
        coloring.color_fluids(points, &values);
        coloring
    }

    /// Gives each fluid its own color if the field exists for grains only.
    fn color_fluids(&mut self, points: &VtkPoints, values: &[f64]) {
        let Some((_, fluids, _)) = points.scalars.iter().find(|(name, ..)| name == "fluid") else {
            return;
        };
        let mut seen = BTreeSet::new();
        let lacking = self.shade.iter_mut().zip(fluids).zip(values).filter(|(_, value)| value.is_nan());
        for ((shade, &fluid), _) in lacking {
            if let Some(number) = whole_number(fluid) {
                *shade = FLUIDS + (number.rem_euclid(i64::from(MAX_FLUIDS))) as u8;
                seen.insert(number);
            }
        }
        if let Legend::Classes { classes, .. } = &mut self.legend {
            classes.extend(
                seen.iter()
                    .map(|&number| (format!("fluid {number}"), color::fluid(number as usize))),
            );
        }
    }

    /// A color for each integer.
    pub fn classes(values: &[f64], name: &str) -> Coloring {
        let whole: Vec<Option<i64>> = values.iter().map(|&value| whole_number(value)).collect();
        let mut known: Vec<i64> = whole.iter().flatten().copied().collect();
        known.sort_unstable();
        known.dedup();
        let shade = |value: &i64| (known.binary_search(value).unwrap_or(0) % SCALE) as u8;
        let class = |value: &i64| (value.to_string(), color::distinct(shade(value).into()));
        Coloring {
            palette: palette(color::distinct),
            shade: whole.iter().map(|value| value.as_ref().map_or(OTHERS, shade)).collect(),
            legend: Legend::Classes {
                name: name.into(),
                classes: known.iter().map(class).collect(),
            },
        }
    }

    /// A color for each of the most frequent numbers, and one for all others.
    fn fragments(values: &[f64], name: &str) -> Coloring {
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        for number in values.iter().filter_map(|&value| whole_number(value)) {
            *counts.entry(number).or_default() += 1;
        }
        let mut numbers: Vec<(i64, usize)> = counts.into_iter().collect();
        numbers.sort_by_key(|&(_, count)| Reverse(count));
        let has_others = numbers.len() > MAX_FRAGMENTS;
        numbers.truncate(MAX_FRAGMENTS);
        let ranks: BTreeMap<i64, usize> = numbers.iter().zip(0..).map(|(&(number, _), rank)| (number, rank)).collect();
        let rank = |value: f64| ranks.get(&whole_number(value)?);
        let shade = |&value: &f64| rank(value).map_or(OTHERS, |&rank| rank as u8);
        let class = |((number, _), rank): (&(i64, usize), usize)| (number.to_string(), color::distinct(rank));
        let others = has_others.then(|| ("others".to_owned(), color::OTHERS));
        Coloring {
            palette: palette(color::distinct),
            shade: values.iter().map(shade).collect(),
            legend: Legend::Classes {
                name: name.into(),
                classes: numbers.iter().zip(0..).map(class).chain(others).collect(),
            },
        }
    }

    /// Colors on a scale. Without a range, the scale leaves out the lowest and highest 0.2 % of the values.
    pub fn scaled(values: &[f64], name: &str, unit: &str, range: Option<(f64, f64)>) -> Coloring {
        let range = range.unwrap_or_else(|| range_of(values));
        let goes_on = [
            values.iter().any(|&value| value < range.0),
            values.iter().any(|&value| value > range.1),
        ];
        Coloring {
            palette: scale(),
            shade: values.iter().map(|&value| shade_of(value, range)).collect(),
            legend: Legend::Scale {
                name: name.into(),
                unit: unit.into(),
                range,
                goes_on,
            },
        }
    }
}

impl Coloring {
    /// As [`Coloring::scaled`], for very many numbers: a sample of them sets the ends of the scale.
    pub fn of_preview(values: &[f32], name: &str, unit: &str, range: Option<(f64, f64)>) -> Coloring {
        const MAX: usize = 1 << 16;
        let some: Vec<f64> = some_of(values.iter(), MAX).map(|&value| f64::from(value)).collect();
        let Coloring { legend, palette, .. } = Coloring::scaled(&some, name, unit, range);
        let Legend::Scale { range, .. } = legend else {
            return Coloring::default();
        };
        let values = values.par_iter().with_min_len(SHARE);
        let shade = values.map(|&value| shade_of(f64::from(value), range)).collect();
        Coloring { palette, shade, legend }
    }
}

/// The palette of a scale of numbers.
pub fn scale() -> Vec<Rgb> {
    palette(|place| color::viridis(place as f64 / (SCALE - 1) as f64))
}

/// The ends of a scale for these values, without the lowest and highest 0.2 %.
pub fn range_of(values: &[f64]) -> (f64, f64) {
    let mut finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let last = finite.len().saturating_sub(1);
    let [low, high] = [0.002, 0.998].map(|part| {
        let at = (part * last as f64).round() as usize;
        if finite.is_empty() {
            0.0
        } else {
            *finite.select_nth_unstable_by(at, f64::total_cmp).1
        }
    });
    let low = if low >= 0.0 && low < 0.5 * high { 0.0 } else { low };
    if high - low > 1e-9 * high.abs() {
        (low, high)
    } else {
        (low.min(0.0), if high > 0.0 { high } else { low.min(0.0) + 1.0 })
    }
}

/// The integer that a value stands for; `None` for NaN.
fn whole_number(value: f64) -> Option<i64> {
    (!value.is_nan()).then_some(value as i64)
}

/// Names of all fields for the color of points.
pub fn fields_of(points: &VtkPoints) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    for (name, _, width) in &points.scalars {
        match (name.as_str(), *width) {
            (_, OF_ROTATION) => {}
            ("velocity", 3) => fields.insert(0, "speed".to_owned()),
            _ => fields.push(name.clone()),
        }
        if *width == 3 {
            fields.extend(["x", "y", "z"].map(|axis| format!("{name}_{axis}")));
        }
    }
    fields.extend(["radius", "id"].map(str::to_owned));
    fields
}

impl SnapshotParts {
    /// Names of all fields for the color of particles.
    pub fn fields(self) -> Vec<String> {
        fields_of(&SphereSet::of_both(self.grains, self.fluid).points)
    }
}

impl PictureOptions {
    /// Checks that the field of particles exists.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn check_field(&self, fields: &[String]) -> Result<(), ViewError> {
        let is_of_particles = matches!(self.shown, Shown::Grains | Shown::Surface | Shown::Smooth);
        // The magnitude of the velocity has its own name.
        let is_there = |field: &str| {
            fields
                .iter()
                .any(|known| known == field || (known == "speed" && field == "velocity"))
        };
        match &self.field {
            Some(field) if is_of_particles && !is_there(field) => Err(ViewError::UnknownField {
                field: field.clone(),
                known: fields.to_vec(),
            }),
            _ => Ok(()),
        }
    }
}

/// The values of a field by name, and its unit.
fn values_of(grains: &VtkPoints, field: &str) -> Result<(Vec<f64>, &'static str), ViewError> {
    let asked = if field == "speed" { "velocity" } else { field };
    if asked == "radius" {
        return Ok((grains.radius.clone(), "m"));
    }
    if asked == "id" {
        return Ok((grains.id.iter().map(|&id| f64::from(id)).collect(), ""));
    }
    let (base, component) = match asked.rsplit_once('_') {
        Some((base, axis @ ("x" | "y" | "z"))) => (base, "xyz".find(axis)),
        _ => (asked, None),
    };
    let colored = || grains.scalars.iter().filter(|(_, _, width)| *width != OF_ROTATION);
    let find = |name: &str| colored().find(|(known, _, _)| known == name);
    let Some((name, values, width)) = find(asked).or_else(|| find(base).filter(|(_, _, width)| *width == 3)) else {
        let mut known = vec!["radius".to_string(), "id".to_string()];
        known.extend(colored().map(|(name, _, _)| name.clone()));
        return Err(ViewError::UnknownField {
            field: field.to_string(),
            known,
        });
    };
    let unit = unit_of(name);
    let rows = values.chunks(*width);
    Ok(match component {
        Some(axis) if *width == 3 => (rows.map(|row| row[axis]).collect(), unit),
        _ if *width == 1 => (values.clone(), unit),
        _ => (
            rows.map(|row| row.iter().map(|value| value * value).sum::<f64>().sqrt()).collect(),
            unit,
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fluid_has_a_color_of_its_own_where_a_field_is_one_of_grains() {
        let field = |name: &str, of_grains: [f64; 2], of_fluids: [f64; 2]| (name.to_owned(), [of_grains, of_fluids].concat(), 1);
        let points = VtkPoints {
            time: 0.0,
            position: vec![[0.0; 3]; 4],
            radius: vec![1.0; 4],
            id: vec![0, 1, 0, 1],
            scalars: vec![
                field("group", [0.0, 1.0], [f64::NAN; 2]),
                field("body", [-1.0, 7.0], [f64::NAN; 2]),
                field("fluid", [f64::NAN; 2], [0.0, 1.0]),
            ],
        };
        let of = |name: &str| {
            let options = PictureOptions {
                field: Some(name.to_owned()),
                ..PictureOptions::default()
            };
            Coloring::of(&points, &options).unwrap()
        };
        for name in ["group", "body"] {
            let found = of(name);
            let all: BTreeSet<Rgb> = (0..4).map(|place| found.color(place)).chain([color::OTHERS]).collect();
            assert_eq!(all.len(), 5, "{name}: {all:?}");
        }
        let Legend::Classes { classes, .. } = of("group").legend else {
            panic!("groups are classes")
        };
        let names: Vec<&str> = classes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["0", "1", "fluid 0", "fluid 1"]);
        // Grains belong to no fluid.
        assert_eq!([0, 1].map(|place| of("fluid").color(place)), [color::OTHERS; 2]);
    }
}
