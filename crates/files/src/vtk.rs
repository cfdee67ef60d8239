//! Files for ParaView and its kin: `.vtp` and `.vti` (XML with arrays in base64 of zlib level 1, or appended as they are) and the `.pvd` that lists
//! them by time.
//!
//! ```
//! use seixo_engine::state::GrainSnapshot;
//! use seixo_files::vtk::{Field, grains, read_grains};
//!
//! let (id, position, radius, mass) = (vec![7], vec![[0.1; 3]], vec![1e-3], vec![2.5]);
//! let snapshot = GrainSnapshot { id, position, radius, mass, ..GrainSnapshot::default() };
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("grains.vtp");
//! std::fs::write(&path, grains(&snapshot, &[Field::Mass], 0.5))?;
//! let found = read_grains(&path)?;
//! assert_eq!((found.time, &found.position), (0.5, &snapshot.position));
//! assert_eq!(found.scalars, [("mass".to_owned(), vec![2.5], 1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bodies;
mod bonds;
mod cell;
mod collection;
mod contacts;
mod fluid;
mod format;
mod image;
mod index;
mod plane;
mod polyhedra;
mod read;
mod store;
mod surface;
mod triangles;
mod values;
mod walls;

pub use bodies::{VtkBodies, bodies, read_bodies};
pub use bonds::{VtkBonds, bonds, read_bonds};
pub use cell::read_cell;
pub use collection::{collection, read_collection};
pub use contacts::{VtkContacts, contacts, read_contacts};
pub use fluid::{VtkFluid, fluid, read_fluid};
pub use format::{Encoding, Format};
pub use image::{Image, image};
pub use index::{RawRange, VtkArray, VtkGrid, VtkIndex, VtkNumbers, VtkType};
pub use polyhedra::{VtkPolyhedra, polyhedra, read_polyhedra};
pub use read::{VtkPoints, VtkWalls, read_grains, read_walls};
pub use surface::{SURFACE_FIELDS, surface};
pub use walls::walls;

use seixo_engine::state::{GrainScalar, GrainSnapshot};
use std::fmt::Write as _;
use std::str::FromStr;
use store::ArrayStore;
use values::Values;

/// Bytes that are compressed together.
const BLOCK: usize = 1 << 18;

/// A field of the grains that can be written; position, radius and id always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Velocity \[m/s\].
    Velocity,
    /// Angular velocity \[rad/s\].
    AngularVelocity,
    /// Contact force \[N\].
    Force,
    /// Contact torque \[N m\].
    Torque,
    /// Material index.
    Material,
    /// Group index.
    Group,
    /// Grains and wall elements touched.
    Coordination,
    /// Mass \[kg\].
    Mass,
    /// Id of the rigid body that carries the grain, −1 for none; only in worlds with bodies.
    Body,
    /// Mean pressure of contacts and bonds inside the grain \[Pa\]; the snapshot must have it.
    Pressure,
    /// A scalar that the grains carry; the snapshot must have it.
    Scalar(GrainScalar),
    /// Smallest id of the grains that it hangs together with by bonds; the snapshot must have it.
    Fragment,
    /// Volume \[m³\].
    Volume,
    /// Orientation, a unit quaternion w x y z, see [`GrainSnapshot::drawn_orientation`]; only in worlds with orientations.
    Orientation,
}

impl Field {
    /// Fields of all grains, with the words for them in scenes and files.
    const COMMON: [(Field, &'static str); 13] = [
        (Field::Velocity, "velocity"),
        (Field::AngularVelocity, "angular_velocity"),
        (Field::Force, "force"),
        (Field::Torque, "torque"),
        (Field::Material, "material"),
        (Field::Group, "group"),
        (Field::Coordination, "coordination"),
        (Field::Mass, "mass"),
        (Field::Body, "body"),
        (Field::Pressure, "pressure"),
        (Field::Fragment, "fragment"),
        (Field::Volume, "volume"),
        (Field::Orientation, "orientation"),
    ];

    /// Every field, with the word for it in scenes and files.
    pub fn all() -> impl Iterator<Item = (Field, &'static str)> {
        let scalars = GrainScalar::ALL.into_iter().map(|scalar| (Field::Scalar(scalar), scalar.name()));
        Field::COMMON.into_iter().chain(scalars)
    }

    /// The word for it.
    pub fn keyword(self) -> &'static str {
        Field::all().find(|(field, _)| *field == self).map_or("", |(_, keyword)| keyword)
    }

    fn values<'a>(self, snapshot: &'a GrainSnapshot) -> Values<'a> {
        match self {
            Field::Velocity => Values::Vectors32(&snapshot.velocity),
            Field::AngularVelocity => Values::Vectors32(&snapshot.angular_velocity),
            Field::Force => Values::Vectors32(&snapshot.force),
            Field::Torque => Values::Vectors32(&snapshot.torque),
            Field::Material => Values::Integers(&snapshot.material),
            Field::Group => Values::Integers(&snapshot.group),
            Field::Coordination => Values::Integers(&snapshot.coordination),
            Field::Mass => Values::Scalars64(&snapshot.mass),
            Field::Body => Values::Offsets(&snapshot.body),
            Field::Pressure => Values::Scalars32(&snapshot.pressure),
            Field::Scalar(scalar) => Values::Scalars64(&snapshot.scalars[scalar]),
            Field::Fragment => Values::Integers(&snapshot.fragment),
            Field::Volume => Values::Scalars64(&snapshot.volume),
            Field::Orientation => Values::Quaternions32(snapshot.drawn_orientation()),
        }
    }
}

/// SI unit of a field of grains or fluid particles; empty if it has none.
pub fn unit_of(name: &str) -> &'static str {
    match name {
        "velocity" => "m/s",
        "angular_velocity" => "rad/s",
        "force" => "N",
        "torque" => "N m",
        "mass" => "kg",
        "volume" => "m³",
        "density" => "kg/m³",
        "pressure" => "Pa",
        _ => GrainScalar::named(name).map_or("", GrainScalar::unit),
    }
}

impl std::fmt::Display for Field {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.keyword())
    }
}

/// A word that names no field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no field `{0}`; known are {known}", known = Field::all().map(|(_, keyword)| keyword).collect::<Vec<_>>().join(", "))]
pub struct UnknownField(pub String);

impl FromStr for Field {
    type Err = UnknownField;
    fn from_str(word: &str) -> Result<Field, UnknownField> {
        let found = Field::all().find(|(_, keyword)| *keyword == word);
        found.map(|(field, _)| field).ok_or_else(|| UnknownField(word.to_owned()))
    }
}

/// A `.vtp` or `.vti` in the making.
struct Document {
    text: String,
    /// What it holds, by VTK's word.
    kind: &'static str,
    store: ArrayStore,
}

impl Document {
    /// Starts the one piece of a document of polygons; `cells` is the attribute that counts them.
    fn new(store: ArrayStore, (time, field_data): (f64, &str), points: usize, cells: &str) -> Document {
        let of_piece = format!(r#"NumberOfPoints="{points}" {cells}"#);
        Document::of(store, "PolyData", "", (time, field_data), &of_piece)
    }

    /// Starts the one piece of a document, with the attributes of both. Arrays of the field data must be in the store.
    fn of(store: ArrayStore, kind: &'static str, attributes: &str, (time, field_data): (f64, &str), of_piece: &str) -> Document {
        let compressor = store.attribute();
        let text = format!(
            r#"<?xml version="1.0"?>
<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64"{compressor}>
<{kind}{attributes}>
<FieldData>
<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{time:?}</DataArray>
{field_data}</FieldData>
<Piece {of_piece}>
"#
        );
        Document { text, kind, store }
    }

    fn group(&mut self, tag: &str, arrays: &[(&str, Values)]) {
        let _ = writeln!(self.text, "<{tag}>");
        for (name, values) in arrays {
            self.store.array(&mut self.text, name, values, "");
        }
        let name = tag.split_whitespace().next().unwrap_or(tag);
        let _ = writeln!(self.text, "</{name}>");
    }

    /// Points with these arrays, of which the first is shown; each is a vertex.
    fn vertices(&mut self, arrays: &[(&str, Values)], position: &[[f64; 3]]) {
        let count = position.len();
        // Room for all at once: a text that grows by moving is held twice. What is not needed is never touched.
        let bytes_a_point: usize = 24 + 2 * 8 + arrays.iter().map(|(_, values)| values.bytes_a_point()).sum::<usize>();
        self.store.reserve(&mut self.text, count * bytes_a_point);
        let shown = arrays.first().map_or("", |array| array.0);
        self.group(&format!(r#"PointData Scalars="{shown}""#), arrays);
        self.group("Points", &[("position", Values::Vectors64(position))]);
        let connectivity: Vec<i64> = (0..count as i64).collect();
        let offsets: Vec<i64> = (1..=count as i64).collect();
        self.group(
            "Verts",
            &[
                ("connectivity", Values::Offsets(&connectivity)),
                ("offsets", Values::Offsets(&offsets)),
            ],
        );
    }

    /// Lines between each two of these points.
    fn lines(&mut self, ends: &[[f64; 3]]) {
        self.group("Points", &[("position", Values::Vectors64(ends))]);
        let connectivity: Vec<i64> = (0..ends.len() as i64).collect();
        let offsets: Vec<i64> = (1..=ends.len() as i64 / 2).map(|line| 2 * line).collect();
        self.group(
            "Lines",
            &[
                ("connectivity", Values::Offsets(&connectivity)),
                ("offsets", Values::Offsets(&offsets)),
            ],
        );
    }

    /// Polygons between points: of each the corners are those up to its end, from that of the one before.
    fn polygons(&mut self, points: &[[f64; 3]], corners: &[i64], ends: &[i64]) {
        self.group("Points", &[("position", Values::Vectors64(points))]);
        self.group(
            "Polys",
            &[("connectivity", Values::Offsets(corners)), ("offsets", Values::Offsets(ends))],
        );
    }

    /// Triangles between points.
    fn triangles(&mut self, points: &[[f64; 3]], triangles: &[[u32; 3]]) {
        let corners: Vec<i64> = triangles.as_flattened().iter().map(|&vertex| i64::from(vertex)).collect();
        let ends: Vec<i64> = (1..=triangles.len() as i64).map(|triangle| 3 * triangle).collect();
        self.polygons(points, &corners, &ends);
    }

    fn finish(mut self) -> Vec<u8> {
        let _ = writeln!(self.text, "</Piece>\n</{}>", self.kind);
        self.store.finish(self.text)
    }
}

impl VtkPoints {
    /// The grains at one time \[s\] with all fields that the snapshot has, as they would be read back from a file.
    pub fn of(snapshot: GrainSnapshot, time: f64) -> VtkPoints {
        let count = snapshot.id.len();
        let column = |(field, keyword): (Field, &str)| {
            let (values, width) = field.values(&snapshot).numbers();
            (values.len() == count * width).then(|| (keyword.to_owned(), values, width))
        };
        VtkPoints {
            time,
            scalars: Field::all().filter_map(column).collect(),
            position: snapshot.position,
            radius: snapshot.radius,
            id: snapshot.id,
        }
    }
}

/// The grains at one time \[s\] as a `.vtp`: points with radius, id and the given fields. A cell whose lengths are controlled goes with them.
pub fn grains(snapshot: &GrainSnapshot, fields: &[Field], time: f64) -> Vec<u8> {
    Format::default().grains(snapshot, fields, time)
}

impl Format {
    /// As [`grains`], in this format.
    pub fn grains(self, snapshot: &GrainSnapshot, fields: &[Field], time: f64) -> Vec<u8> {
        let count = snapshot.id.len();
        let cell = snapshot.cell.stretch.map(|_| cell::sides_of(&snapshot.cell)).unwrap_or_default();
        let cells = format!(r#"NumberOfVerts="{count}""#);
        let mut document = Document::new(ArrayStore::new(self), (time, &cell), count, &cells);
        let mut arrays = vec![
            ("radius", Values::Scalars64(&snapshot.radius)),
            ("id", Values::Integers(&snapshot.id)),
        ];
        arrays.extend(fields.iter().map(|field| (field.keyword(), field.values(snapshot))));
        document.vertices(&arrays, &snapshot.position);
        document.finish()
    }
}
