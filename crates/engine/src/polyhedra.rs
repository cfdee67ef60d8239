//! Polyhedral grains of a domain: the table of their shapes, and the lists of the pairs with one of them and of those near walls.
//!
//! A pair of which a grain is polyhedral is not in the rows of neighbors. It is in a list of its own, which is in the order of ids: it is computed once,
//! by the grain with the lower id. So sums over the pairs of a grain have the same order whatever the order of the cells is.

mod at_walls;
mod columns;
mod contacts;
mod features;
mod mesh_features;
mod pairs;
mod records;
mod snapshot;

pub(crate) use at_walls::GrainsAtWalls;
pub(crate) use columns::{AT_WALLS, ColumnNames, ContactColumns, OF_PAIRS, merge_contacts_of_polyhedra, pick_contacts_of_polyhedra};
pub(crate) use contacts::SLOTS;
pub(crate) use mesh_features::MeshFeatures;
pub(crate) use pairs::{NO_LOAD, ShapePairs};
pub(crate) use records::PairRecords;
pub use snapshot::PolyhedronSnapshot;

use crate::world::{PolyhedralShape, World};
use seixo_laws::Vector3;
use seixo_sweeps::contact::{PowerSums, Stored};
use seixo_sweeps::shapes::{PartEnds, ShapeGeometry, lay_out, moments_of, rounding_of, shape_at};
use std::sync::Arc;

/// Polyhedral grains of a domain: shapes, pairs and walls.
#[derive(Default)]
pub(crate) struct Polyhedra {
    pub shapes: ShapeTable,
    pub pairs: ShapePairs,
    pub at_walls: GrainsAtWalls,
    pub meshes: MeshFeatures,
}

/// The table of shapes, see [`seixo_sweeps::shapes`]. Its first shape is a sphere, so that the shape of a grain is its index.
#[derive(Clone, Default)]
pub(crate) struct ShapeTable {
    pub words: Vec<u32>,
    pub numbers: Vec<f64>,
    /// The shapes after the sphere, as the world has them.
    pub given: Arc<[PolyhedralShape]>,
}

impl Polyhedra {
    /// Those of a world, without pairs yet; `None` if it has no shapes, so that all its grains are spheres.
    pub fn of(world: &World) -> Option<Box<Polyhedra>> {
        (!world.shapes.is_empty()).then(|| {
            Box::new(Polyhedra {
                shapes: ShapeTable::of(&world.shapes),
                meshes: MeshFeatures::of(&world.walls),
                ..Polyhedra::default()
            })
        })
    }

    /// The same shapes and walls for a subdomain, without pairs yet.
    pub fn of_domain(&self) -> Box<Polyhedra> {
        Box::new(Polyhedra {
            shapes: self.shapes.clone(),
            meshes: self.meshes.clone(),
            ..Polyhedra::default()
        })
    }

    /// Number of shapes of the world.
    pub fn shapes(&self) -> usize {
        self.shapes.given.len()
    }

    /// Principal moments of inertia of a grain of this mass \[kg\] and scale \[m\], in kg m²; `None` for a sphere.
    pub fn moments(&self, shape: Option<&u32>, mass: f64, scale: f64) -> Option<Vector3<f64>> {
        let shape = *shape.filter(|&&shape| shape > 0)?;
        let shape = shape_at(&self.shapes.words, shape);
        Some(moments_of::<f64>(&shape, &self.shapes.numbers, mass, scale))
    }

    /// Energy stored in all contacts \[J\], of normal and of tangential springs.
    pub fn stored(&self) -> [f64; 2] {
        let of_pairs = self.pairs.records.loads.iter().map(|load| &load.stored);
        let of_walls = self.at_walls.records.loads.iter().map(|load| &load.stored);
        let add = |[normal, tangential]: [f64; 2], more: &Stored<f64>| [normal + more.normal, tangential + more.tangential];
        of_pairs.chain(of_walls).fold([0.0; 2], add)
    }

    /// Powers of all contacts, part by part.
    pub fn power_sums(&self) -> impl Iterator<Item = &PowerSums<f64>> {
        self.pairs.records.power_sums.iter().chain(&self.at_walls.records.power_sums)
    }

    /// Removes all pairs, with their contact histories.
    pub fn forget(&mut self) {
        (self.pairs, self.at_walls) = (ShapePairs::default(), GrainsAtWalls::default());
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let table = self.shapes.words.capacity() * 4 + self.shapes.numbers.capacity() * 8;
        table as u64 + self.pairs.bytes() + self.at_walls.bytes() + self.meshes.bytes()
    }
}

/// Indices of a shape in the form of the table.
struct Laid {
    loops: Vec<u32>,
    face_ends: Vec<u32>,
    parts: Vec<PartEnds>,
}

impl Laid {
    fn of(shape: &PolyhedralShape) -> Laid {
        let ends = shape.faces.iter().scan(0, |end, face| {
            *end += face.len() as u32;
            Some(*end)
        });
        Laid {
            loops: shape.faces.concat(),
            face_ends: ends.collect(),
            parts: shape.part_ends(),
        }
    }
}

impl ShapeTable {
    fn of(shapes: &[PolyhedralShape]) -> ShapeTable {
        let ball = PolyhedralShape::ball("sphere");
        let all: Vec<&PolyhedralShape> = std::iter::once(&ball).chain(shapes).collect();
        let laid: Vec<Laid> = all.iter().map(|shape| Laid::of(shape)).collect();
        let geometries: Vec<ShapeGeometry> = all
            .iter()
            .zip(&laid)
            .map(|(shape, laid)| ShapeGeometry {
                rounding: shape.rounding,
                contact_radius: shape.rounding,
                inscribed: shape.inscribed(),
                volume: shape.volume,
                moments: shape.moments,
                vertices: &shape.vertices,
                edges: &shape.edges,
                loops: &laid.loops,
                face_ends: &laid.face_ends,
                parts: &laid.parts,
            })
            .collect();
        let mut table = ShapeTable {
            given: shapes.into(),
            ..ShapeTable::default()
        };
        lay_out(&geometries, |word| table.words.push(word), |number| table.numbers.push(number));
        table
    }

    /// Rounding radius of a grain of this shape and scale \[m\].
    pub fn rounding(&self, shape: u32, scale: f64) -> f64 {
        rounding_of::<f64>(&shape_at(&self.words, shape), &self.numbers) * scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_grain_is_its_index_in_the_table() {
        let rod = PolyhedralShape {
            name: "rod".into(),
            rounding: 0.25,
            volume: 0.36,
            moments: [0.03, 0.2, 0.2],
            vertices: vec![[-0.75, 0.0, 0.0], [0.75, 0.0, 0.0]],
            edges: vec![[0, 1]],
            ..PolyhedralShape::default()
        };
        let polyhedra = Polyhedra {
            shapes: ShapeTable::of(&[rod]),
            ..Polyhedra::default()
        };
        assert_eq!([0, 1].map(|shape| polyhedra.shapes.rounding(shape, 2.0)), [2.0, 0.5]);
        assert_eq!(polyhedra.moments(Some(&0), 3.0, 2.0), None);
        let moments = polyhedra.moments(Some(&1), 3.0, 2.0).unwrap();
        assert!((moments.x - 0.36).abs() < 1e-12 && (moments.y - 2.4).abs() < 1e-12);
    }
}
