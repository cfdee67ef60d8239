//! Diffusion of scalars through contacts: what they need beside their values, and their ledger.

use crate::fields::Fields;
use crate::scalars::GrainScalar;
use crate::state::{Column, State};
use crate::world::World;
use seixo_laws::diffusion::content;
use seixo_laws::film::SPHERE;
use seixo_sweeps::diffusion::{FILM, HEAT, capacity_of};
use seixo_sweeps::layout::RECORD;

/// Largest share of its difference to its neighbors that a grain may lose in a step, see [`seixo_laws::diffusion::share_per_step`].
pub(crate) const MAX_PER_STEP: f64 = 1.0;

/// Data of the diffusion of one scalar, beside its values.
#[derive(Clone)]
pub(crate) struct Diffusion {
    pub scalar: GrainScalar,
    /// Coefficient of contacts, by pair of materials.
    pub coefficients: Vec<f64>,
    /// Specific capacities, by material.
    pub capacities: Vec<f64>,
    /// Values of the scalar at walls; negative for walls through which nothing flows.
    pub walls: Vec<f64>,
    /// Amount from each wall to grains.
    pub given: Vec<f64>,
    /// Amount of grains that were added.
    pub inserted: f64,
    /// Amount of grains that left.
    pub left: f64,
    /// Amount in the grains at time zero.
    pub initial: f64,
    /// Values after the step, during their computation.
    pub(crate) next: Vec<f64>,
    /// Conductance of the contacts of each grain.
    pub(crate) conductance: Vec<f64>,
    /// Largest share per step in each part.
    pub(crate) shares: Vec<f64>,
    /// Flow into a grain for each entry of the wall list.
    pub(crate) flows: Vec<f64>,
    /// Radius through which each entry of the wall list conducts, if grains may be polyhedral \[m\].
    pub(crate) wall_radii: Vec<f64>,
}

impl Diffusion {
    /// All diffusions of a world.
    pub fn all_of(world: &World) -> Vec<Diffusion> {
        let heat = world.conduction.as_ref().map(|conduction| {
            let capacities = conduction
                .materials
                .iter()
                .map(|thermal| thermal.specific_heat_capacity.unwrap_or(0.0));
            Diffusion {
                capacities: capacities.collect(),
                walls: conduction.walls.iter().map(|temperature| temperature.unwrap_or(-1.0)).collect(),
                ..Diffusion::new(world, GrainScalar::Temperature, |a, b| world.contact_conductivity(a, b))
            }
        });
        let film = world.has_films().then(|| {
            let rate = |a: usize, b: usize| {
                world
                    .interaction(a as u32, b as u32)
                    .and_then(|interaction| interaction.film_exchange)
            };
            Diffusion {
                capacities: vec![SPHERE; world.materials.len()],
                ..Diffusion::new(world, GrainScalar::FilmThickness, |a, b| SPHERE * rate(a, b).unwrap_or(0.0))
            }
        });
        heat.into_iter().chain(film).collect()
    }

    /// A diffusion with these coefficients of contacts between two materials; nothing flows through walls.
    fn new(world: &World, scalar: GrainScalar, coefficient: impl Fn(usize, usize) -> f64) -> Diffusion {
        let materials = 0..world.materials.len();
        Diffusion {
            scalar,
            coefficients: materials
                .clone()
                .flat_map(|a| materials.clone().map(move |b| (a, b)))
                .map(|(a, b)| coefficient(a, b))
                .collect(),
            capacities: vec![0.0; world.materials.len()],
            walls: vec![-1.0; world.walls.len()],
            given: vec![0.0; world.walls.len()],
            inserted: 0.0,
            left: 0.0,
            initial: 0.0,
            next: Vec::new(),
            conductance: Vec::new(),
            shares: Vec::new(),
            flows: Vec::new(),
            wall_radii: Vec::new(),
        }
    }

    /// Kind of the sweep, which says how contacts conduct and what grains hold.
    pub fn kind(&self) -> u32 {
        match self.scalar {
            GrainScalar::Temperature => HEAT,
            GrainScalar::FilmThickness => FILM,
        }
    }

    /// Data for a subdomain, with an empty ledger.
    pub fn of_domain(&self) -> Diffusion {
        let mut share = self.clone();
        (share.inserted, share.initial) = (0.0, 0.0);
        share.forget();
        share
    }

    /// The ledger as a section of a checkpoint.
    pub fn section(&self) -> (&'static str, Column) {
        let ledger = [self.inserted, self.left, self.initial].into_iter();
        (
            self.scalar.ledger_section(),
            Column::F64(ledger.chain(self.given.iter().copied()).collect()),
        )
    }

    /// Restores the ledger from a checkpoint. Returns whether it was there, for the same walls.
    pub fn restore(&mut self, state: &State) -> bool {
        let Some(Column::F64(values)) = state.get(self.scalar.ledger_section()) else {
            return false;
        };
        let [inserted, left, initial, given @ ..] = &values[..] else {
            return false;
        };
        if given.len() != self.given.len() {
            return false;
        }
        (self.inserted, self.left, self.initial) = (*inserted, *left, *initial);
        self.given.copy_from_slice(given);
        true
    }

    /// Adds the ledger that a subdomain saved.
    pub fn take_over(&mut self, reported: &State) {
        if let Some(Column::F64(ledger)) = reported.get(self.scalar.ledger_section())
            && let [_, left, _, given @ ..] = &ledger[..]
        {
            self.left += left;
            self.given.iter_mut().zip(given).for_each(|(all, more)| *all += more);
        }
    }

    /// Resets the ledger.
    pub fn forget(&mut self) {
        self.left = 0.0;
        self.given.fill(0.0);
    }

    /// Capacity of grain i.
    pub fn capacity_of(&self, fields: &Fields, i: usize) -> f64 {
        let [radius, mass] = [fields.position[i * RECORD + 3], fields.velocity[i * RECORD + 3]];
        capacity_of::<f64>(radius, mass, self.capacities[fields.material[i] as usize], self.kind())
    }

    /// Amount in grain i.
    pub fn of_grain(&self, fields: &Fields, i: usize) -> f64 {
        content(self.capacity_of(fields, i), fields.scalars[self.scalar][i])
    }

    /// Amount in all these grains.
    pub fn of_all(&self, fields: &Fields) -> f64 {
        (0..fields.len()).map(|i| self.of_grain(fields, i)).sum()
    }
}
