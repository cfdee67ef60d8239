//! Walls as polygons.

use super::plane;
use super::read::parts;
use super::{ArrayStore, Document, Format, Values, VtkWalls};
use seixo_engine::state::WallSnapshot;
use std::fmt::Write as _;

/// Worn volume and depth where a wall does not wear.
const UNWORN: (f64, f64) = (f64::NAN, f64::NAN);

/// What shows walls: polygons.
#[derive(Default)]
struct Polygons {
    /// Corners of all, one after the other \[m\].
    corners: Vec<[f64; 3]>,
    /// Index of the wall of each.
    wall: Vec<u32>,
    /// Behind the last corner of each.
    end: Vec<i64>,
    worn_volume: Vec<f64>,
    wear_depth: Vec<f64>,
}

impl Polygons {
    fn of(walls: &[WallSnapshot], bounds: Option<[[f64; 3]; 2]>) -> Polygons {
        let mut all = Polygons::default();
        for (index, wall) in walls.iter().enumerate() {
            let mut polygon = |corners: &[[f64; 3]], (volume, depth): (f64, f64)| {
                all.worn_volume.push(volume);
                all.wear_depth.push(depth);
                all.corners.extend_from_slice(corners);
                all.wall.push(index as u32);
                all.end.push(all.corners.len() as i64);
            };
            for (k, triangle) in wall.triangles.iter().enumerate() {
                let worn = wall.wear.as_ref().map_or(UNWORN, |wear| (wear.volumes[k], wear.depths[k]));
                polygon(triangle, worn);
            }
            if let (Some((point, normal)), Some(bounds)) = (wall.plane, bounds) {
                let corners = plane::cut(point, normal, bounds);
                if corners.len() >= 3 {
                    let volume = wall.wear.as_ref().map_or(f64::NAN, |wear| wear.volume);
                    polygon(&corners, (volume, volume / plane::area(&corners)));
                }
            }
        }
        all
    }
}

impl VtkWalls {
    /// The walls at one time \[s\] as they would be read back from a file of [`walls`].
    pub fn of(walls: &[WallSnapshot], bounds: Option<[[f64; 3]; 2]>, time: f64) -> VtkWalls {
        let polygons = Polygons::of(walls, bounds);
        let mut fields = vec![("worn_volume", polygons.worn_volume), ("wear_depth", polygons.wear_depth)];
        if walls.iter().all(|wall| wall.wear.is_none()) {
            fields.clear();
        }
        let names = walls.iter().map(|wall| wall.name.clone()).collect();
        let polygons = polygons.wall.iter().zip(parts(&polygons.corners, &polygons.end).flatten());
        VtkWalls::fanned(time, names, polygons, &fields)
    }
}

/// The walls at one time \[s\] as a `.vtp`: polygons with the index of their wall, and the names of the walls; where any wall wears, also with
/// worn volume \[m³\] and depth \[m\], of a plane the mean over what is drawn; not a number for walls that do not wear.
/// A plane is drawn where it crosses the box `bounds` (lower and upper corner \[m\]); without one it is left out.
pub fn walls(walls: &[WallSnapshot], bounds: Option<[[f64; 3]; 2]>, time: f64) -> Vec<u8> {
    Format::default().walls(walls, bounds, time)
}

impl Format {
    /// As [`walls`], in this format.
    pub fn walls(self, walls: &[WallSnapshot], bounds: Option<[[f64; 3]; 2]>, time: f64) -> Vec<u8> {
        let Polygons {
            corners: points,
            wall: wall_of,
            end: offsets,
            worn_volume,
            wear_depth,
        } = Polygons::of(walls, bounds);
        let mut names = format!(
            r#"<Array type="String" Name="wall_names" NumberOfTuples="{}" format="ascii">"#,
            walls.len()
        );
        for wall in walls {
            wall.name.bytes().chain([0]).for_each(|byte| {
                let _ = write!(names, "{byte} ");
            });
        }
        names.push_str("</Array>\n");
        let cells = format!(r#"NumberOfPolys="{}""#, offsets.len());
        let mut document = Document::new(ArrayStore::new(self), (time, &names), points.len(), &cells);
        let mut arrays = vec![("wall", Values::Integers(&wall_of))];
        if walls.iter().any(|wall| wall.wear.is_some()) {
            arrays.push(("worn_volume", Values::Scalars64(&worn_volume)));
            arrays.push(("wear_depth", Values::Scalars64(&wear_depth)));
        }
        document.group(r#"CellData Scalars="wall""#, &arrays);
        let corners: Vec<i64> = (0..points.len() as i64).collect();
        document.polygons(&points, &corners, &offsets);
        document.finish()
    }
}
