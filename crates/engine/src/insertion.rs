//! Where grains can come: what is there, and what is free.

use crate::events::stopped;
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::walls::Walls;
use crate::world::{Vec3, Wall};
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

/// Free places among the grains and walls of a simulation.
pub struct Room<'a> {
    walls: &'a Walls,
    edge: f64,
    /// Spheres by the cells of their centers.
    cells: HashMap<[i64; 3], Vec<(Vec3, f64)>>,
}

impl Room<'_> {
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
        let mut room = Room {
            walls: &self.walls,
            edge: 2.0 * near.iter().fold(largest, |most, seen| most.max(seen.radius)),
            cells: HashMap::new(),
        };
        near.iter().for_each(|seen| room.take(seen.center, seen.radius));
        Ok(room)
    }
}

/// How many of these spheres, by center and radius \[m\], touch none of these walls at time zero.
pub fn free_of_walls(walls: &[Wall], spheres: &[(Vec3, f64)]) -> usize {
    let (reach, largest) = spheres.iter().fold((0.0f64, 0.0f64), |(reach, largest), (center, radius)| {
        (center.iter().fold(reach, |most, x| most.max(x.abs())), largest.max(*radius))
    });
    let mut walls = Walls::new(walls.to_vec(), reach, 0.0, 0.0, RECORD);
    walls.sort(largest);
    spheres.iter().filter(|(center, radius)| walls.is_free(*center, *radius)).count()
}
