//! Insertion of grains: occupied and free space.

use crate::refusal::WorldError;
use crate::walls::Walls;
use crate::world::{Grains, Vec3, Wall};
use seixo_sweeps::layout::RECORD;
use std::collections::HashMap;

/// Position and group of a grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedGrain {
    /// Its id.
    pub id: u32,
    /// Its group.
    pub group: u32,
    /// Its center \[m\].
    pub center: Vec3,
    /// Its radius \[m\].
    pub radius: f64,
    /// Its mass \[kg\].
    pub mass: f64,
    /// Id of the rigid body that carries it.
    pub body: Option<u32>,
    /// Whether that body has prescribed motion or a joint, so that its velocity cannot be set.
    pub is_bound: bool,
}

/// Factor on the radii of new grains: a contact by a rounding error is no overlap.
const SHRUNK: f64 = 1.0 - 1e-6;

/// Free space among the grains and walls of a simulation.
pub struct FreeSpace<'a> {
    walls: &'a Walls,
    edge: f64,
    /// Spheres, by the cells of their centers.
    cells: HashMap<[i64; 3], Vec<(Vec3, f64)>>,
}

impl<'a> FreeSpace<'a> {
    /// Free space among these sorted walls, without grains yet; no grain may be larger than the `largest` radius.
    pub(crate) fn among(walls: &'a Walls, largest: f64) -> FreeSpace<'a> {
        FreeSpace {
            walls,
            edge: 2.0 * largest,
            cells: HashMap::new(),
        }
    }

    /// Occupies the space of new grains.
    ///
    /// # Errors
    /// If it is already occupied.
    pub(crate) fn take_all(&mut self, grains: &Grains) -> Result<(), WorldError> {
        for (k, &id) in grains.id.iter().enumerate() {
            let (at, radius) = (grains.position[k], grains.radius[k] * SHRUNK);
            if !self.is_free(at, radius) {
                return Err(WorldError::Taken { id, at });
            }
            self.take(at, radius);
        }
        Ok(())
    }

    /// Whether a sphere would have no contact.
    pub fn is_free(&self, center: Vec3, radius: f64) -> bool {
        let [x, y, z] = self.cell_of(center);
        let near = (0..27).filter_map(|n| self.cells.get(&[x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1]));
        let wall_contacts = |&(other, its): &(Vec3, f64)| {
            let square: f64 = (0..3).map(|k| (center[k] - other[k]).powi(2)).sum();
            square < (radius + its).powi(2)
        };
        !near.flatten().any(wall_contacts) && self.walls.is_free(center, radius)
    }

    /// Occupies the space of a sphere.
    pub fn take(&mut self, center: Vec3, radius: f64) {
        self.cells.entry(self.cell_of(center)).or_default().push((center, radius));
    }

    fn cell_of(&self, center: Vec3) -> [i64; 3] {
        center.map(|x| (x / self.edge).floor() as i64)
    }
}

/// Walls at time zero, sorted for spheres by center and radius \[m\].
fn walls_for(walls: Vec<Wall>, spheres: impl Iterator<Item = (Vec3, f64)>) -> Walls {
    let (reach, largest) = spheres.fold((0.0f64, 0.0f64), |(reach, largest), (center, radius)| {
        (center.iter().fold(reach, |most, x| most.max(x.abs())), largest.max(radius))
    });
    let mut walls = Walls::new(walls, reach, 0.0, 0.0, RECORD);
    walls.sort(largest);
    walls
}

/// Number of these spheres, by center and radius \[m\], without contact with these walls at time zero.
pub fn free_of_walls(walls: &[Wall], spheres: &[(Vec3, f64)]) -> usize {
    let walls = walls_for(walls.to_vec(), spheres.iter().copied());
    spheres.iter().filter(|(center, radius)| walls.is_free(*center, *radius)).count()
}

/// Rejects grains that overlap each other or these walls, which are at rest.
pub(crate) fn check_places(walls: Vec<Wall>, grains: &Grains) -> Result<(), WorldError> {
    let spheres = grains.position.iter().copied().zip(grains.radius.iter().copied());
    let walls = walls_for(walls, spheres);
    let largest = grains.radius.iter().copied().fold(0.0, f64::max);
    FreeSpace::among(&walls, largest).take_all(grains)
}
