//! Where grains can come: what is there, and what is free.

use crate::events::stopped;
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::walls::Walls;
use crate::world::{Grains, Vec3, Wall};
use seixo_sweeps::views::RECORD;
use std::collections::HashMap;

/// A grain, as far as places and groups are concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
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
    /// Whether that body is held or on a joint, so that no velocity can be given to it.
    pub is_bound: bool,
}

/// How much smaller than they are grains count when they come: what touches by rounding is no overlap.
const SHRUNK: f64 = 1.0 - 1e-6;

/// Free places among the grains and walls of a simulation.
pub struct Room<'a> {
    walls: &'a Walls,
    edge: f64,
    /// Spheres by the cells of their centers.
    cells: HashMap<[i64; 3], Vec<(Vec3, f64)>>,
}

impl<'a> Room<'a> {
    /// Places among these walls, sorted, without grains of more than the `largest` radius.
    fn among(walls: &'a Walls, largest: f64) -> Room<'a> {
        Room {
            walls,
            edge: 2.0 * largest,
            cells: HashMap::new(),
        }
    }

    /// Takes the places of grains that come.
    ///
    /// # Errors
    /// If a place is taken already.
    pub(crate) fn take_all(&mut self, grains: &Grains) -> Result<(), Refusal> {
        for (k, &id) in grains.id.iter().enumerate() {
            let (at, radius) = (grains.position[k], grains.radius[k] * SHRUNK);
            if !self.is_free(at, radius) {
                return Err(Refusal::Taken { id, at });
            }
            self.take(at, radius);
        }
        Ok(())
    }

    /// Whether a sphere would touch nothing.
    pub fn is_free(&self, center: Vec3, radius: f64) -> bool {
        let [x, y, z] = self.cell_of(center);
        let near = (0..27).filter_map(|n| self.cells.get(&[x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1]));
        let touches = |&(other, its): &(Vec3, f64)| {
            let square: f64 = (0..3).map(|k| (center[k] - other[k]).powi(2)).sum();
            square < (radius + its).powi(2)
        };
        !near.flatten().any(touches) && self.walls.is_free(center, radius)
    }

    /// Takes a place.
    pub fn take(&mut self, center: Vec3, radius: f64) {
        self.cells.entry(self.cell_of(center)).or_default().push((center, radius));
    }

    fn cell_of(&self, center: Vec3) -> [i64; 3] {
        center.map(|x| (x / self.edge).floor() as i64)
    }
}

impl Simulation {
    /// All grains, in the order of the cells.
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn grains(&self) -> impl Iterator<Item = Seen> + '_ {
        self.assert_observed();
        let fields = &self.fields;
        (0..fields.len()).map(|i| {
            let place = &fields.position[i * RECORD..][..RECORD];
            Seen {
                id: fields.id[i],
                group: fields.group[i],
                center: [place[0], place[1], place[2]],
                radius: place[3],
                mass: self.mass_of(i),
                body: self.body_of(i).map(|b| self.bodies.id[b]),
                is_bound: self.is_bound(i),
            }
        })
    }

    /// What is free for spheres of up to the `largest` radius with their centers between two corners \[m\].
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn room(&mut self, low: Vec3, high: Vec3, largest: f64) -> Result<Room<'_>, Refusal> {
        self.observe().map_err(stopped)?;
        self.walls.sort(self.cells.largest_radius());
        let is_near = |seen: &Seen| {
            let reach = seen.radius + largest;
            (0..3).all(|k| seen.center[k] >= low[k] - reach && seen.center[k] <= high[k] + reach)
        };
        let near: Vec<Seen> = self.grains().filter(is_near).collect();
        let mut room = Room::among(&self.walls, near.iter().fold(largest, |most, seen| most.max(seen.radius)));
        near.iter().for_each(|seen| room.take(seen.center, seen.radius));
        Ok(room)
    }
}

/// Walls where a world has them at time zero, sorted for spheres by center and radius \[m\].
fn walls_for(walls: Vec<Wall>, spheres: impl Iterator<Item = (Vec3, f64)>) -> Walls {
    let (reach, largest) = spheres.fold((0.0f64, 0.0f64), |(reach, largest), (center, radius)| {
        (center.iter().fold(reach, |most, x| most.max(x.abs())), largest.max(radius))
    });
    let mut walls = Walls::new(walls, reach, 0.0, 0.0, RECORD);
    walls.sort(largest);
    walls
}

/// How many of these spheres, by center and radius \[m\], touch none of these walls at time zero.
pub fn free_of_walls(walls: &[Wall], spheres: &[(Vec3, f64)]) -> usize {
    let walls = walls_for(walls.to_vec(), spheres.iter().copied());
    spheres.iter().filter(|(center, radius)| walls.is_free(*center, *radius)).count()
}

/// Refuses grains that have no room among these walls, which stand, and each other.
pub(crate) fn check_places(walls: Vec<Wall>, grains: &Grains) -> Result<(), Refusal> {
    let spheres = grains.position.iter().copied().zip(grains.radius.iter().copied());
    let walls = walls_for(walls, spheres);
    let largest = grains.radius.iter().copied().fold(0.0, f64::max);
    Room::among(&walls, largest).take_all(grains)
}
