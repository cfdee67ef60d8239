//! Heat: temperatures, what walls give, and the books.
//!
//! The pass stands before the motion of a step: heat flows between grains where they are at its start, through the contacts that the passes of
//! the step before have found, so that a GPU finds the same with the walls' touches that it has just then.

use crate::fields::{Fields, PART, part_range, parts};
use crate::guard::{Cause, Stop};
use crate::refusal::Refusal;
use crate::search::resize_with_room;
use crate::simulation::Simulation;
use crate::state::{Column, HeatLedger, Sections, State};
use crate::world::World;
use seixo_device::{Ranges, Strided};
use seixo_laws::heat::heat_held;
use seixo_sweeps::heat::{HeatOfWalls, HeatOut, HeatView, conduct_part};
use seixo_sweeps::views::RECORD;

/// Largest share of its difference to its surroundings that a grain may lose in a step, see [`seixo_laws::heat::share_per_step`].
pub(crate) const MOST_PER_STEP: f64 = 1.0;

/// Section of the books.
const BOOKS: &str = "heat/books";

/// What heat needs beside the field of temperatures.
#[derive(Default)]
pub(crate) struct Heat {
    /// Specific heat capacities by material \[J/(kg K)\].
    pub capacities: Vec<f64>,
    /// Temperatures of walls \[K\]; negative where insulated.
    pub walls: Vec<f64>,
    /// Heat that each wall gave to grains \[J\].
    pub given: Vec<f64>,
    /// Heat of grains that came \[J\].
    pub inserted: f64,
    /// Heat of grains that left \[J\].
    pub left: f64,
    /// Heat of the grains at time zero \[J\].
    pub initial: f64,
    /// Temperatures one step on, while they are found \[K\].
    next: Vec<f64>,
    /// Heat conductance of every grain \[W/K\].
    conductance: Vec<f64>,
    /// Largest share per step of every part.
    shares: Vec<f64>,
    /// Heat flow into a grain by entry of the walls' list \[W\].
    flows: Vec<f64>,
}

impl Heat {
    /// Of a world that conducts.
    pub fn of(world: &World) -> Option<Box<Heat>> {
        let conduction = world.conduction.as_ref()?;
        let capacities = conduction
            .materials
            .iter()
            .map(|thermal| thermal.specific_heat_capacity.unwrap_or(0.0));
        Some(Box::new(Heat {
            capacities: capacities.collect(),
            walls: conduction.walls.iter().map(|temperature| temperature.unwrap_or(-1.0)).collect(),
            given: vec![0.0; conduction.walls.len()],
            ..Heat::default()
        }))
    }

    /// The same for a domain of the world, which has booked nothing yet.
    pub fn of_domain(&self) -> Box<Heat> {
        Box::new(Heat {
            capacities: self.capacities.clone(),
            walls: self.walls.clone(),
            given: vec![0.0; self.given.len()],
            ..Heat::default()
        })
    }

    /// Takes over what a domain booked, as it saved it.
    pub fn take_over(&mut self, told: &State) {
        if let Some(Column::F64(books)) = told.get(BOOKS)
            && let [_, left, _, given @ ..] = &books[..]
        {
            self.left += left;
            self.given.iter_mut().zip(given).for_each(|(all, more)| *all += more);
        }
    }

    /// Begins the books anew.
    pub fn forget(&mut self) {
        self.left = 0.0;
        self.given.fill(0.0);
    }

    /// Heat that grain i holds \[J\].
    pub fn of_grain(&self, fields: &Fields, i: usize) -> f64 {
        let mass = fields.velocity[i * RECORD + 3];
        heat_held(mass, self.capacities[fields.material[i] as usize], fields.temperature[i])
    }

    /// Heat that all these grains hold \[J\].
    pub fn of_all(&self, fields: &Fields) -> f64 {
        (0..fields.len()).map(|i| self.of_grain(fields, i)).sum()
    }
}

impl Simulation {
    /// Whether heat flows.
    pub(crate) fn conducts(&self) -> bool {
        self.heat.is_some()
    }

    /// Takes the temperatures one step on.
    pub(crate) fn conduct_heat(&mut self) -> Result<(), Stop> {
        let Some(mut heat) = self.heat.take() else { return Ok(()) };
        self.find_heat(&mut heat);
        std::mem::swap(&mut self.fields.temperature, &mut heat.next);
        for (&element, flow) in self.walls.list.iter().zip(&heat.flows) {
            heat.given[self.walls.wall_of(element)] += flow * self.stepping.dt;
        }
        let is_too_much = heat.shares.iter().any(|&share| share > MOST_PER_STEP);
        self.heat = Some(heat);
        if is_too_much { Err(self.too_conductive()) } else { Ok(()) }
    }

    /// Finds temperatures one step on, and heat flows now.
    fn find_heat(&self, heat: &mut Heat) {
        let fields = &self.fields;
        let n = fields.len();
        let view = HeatView {
            position: &fields.position,
            velocity: &fields.velocity,
            material: &fields.material,
            temperature: &fields.temperature,
            materials: self.materials,
            table: &self.table,
            capacities: &heat.capacities,
            sides: (&self.stepping.sides, self.sides),
            rows: (&self.pairs.row, &self.pairs.neighbors),
            is_once: self.lists_once(),
            dt: self.stepping.dt,
        };
        let walls = HeatOfWalls {
            rows: (&self.walls.row, &self.walls.list),
            elements: &self.walls.elements,
            records: &self.walls.records,
            touches: &self.walls.touches,
            temperature: &heat.walls,
        };
        heat.next.resize(n, 0.0);
        heat.conductance.resize(n, 0.0);
        heat.shares.resize(parts(n), 0.0);
        resize_with_room(&mut heat.flows, self.walls.list.len());
        let data = (
            Strided {
                items: &mut heat.next[..],
                per_part: PART,
            },
            Strided {
                items: &mut heat.conductance[..],
                per_part: PART,
            },
            Ranges {
                items: &mut heat.flows[..],
                bounds: &self.walls.part_row,
                stride: 1,
            },
            Strided {
                items: &mut heat.shares[..],
                per_part: 1,
            },
        );
        type Data<'a> = (Strided<'a, f64>, Strided<'a, f64>, Ranges<'a, f64>, Strided<'a, f64>);
        self.device
            .run(parts(n), data, |part, (temperature, conductance, wall_flows, share): Data| {
                let out = HeatOut {
                    temperature: temperature.items,
                    conductance: conductance.items,
                    wall_flows: wall_flows.items,
                };
                share.items[0] = conduct_part(&view, &walls, part_range(part, n), out);
            });
    }

    /// The grain that heat flows through fastest, and its share per step.
    fn most_conductive(&mut self) -> Option<(usize, f64)> {
        let mut heat = self.heat.take()?;
        self.find_heat(&mut heat);
        let share = |i: usize| {
            let capacity = self.fields.velocity[i * RECORD + 3] * heat.capacities[self.fields.material[i] as usize];
            seixo_laws::heat::share_per_step(heat.conductance[i], self.stepping.dt, capacity)
        };
        let grains = (0..self.fields.len()).map(|i| (i, share(i)));
        let most = grains.max_by(|a, b| a.1.total_cmp(&b.1).then(self.fields.id[b.0].cmp(&self.fields.id[a.0])));
        self.heat = Some(heat);
        most
    }

    /// The error that names the grain that heat flows through faster than the time step can follow.
    pub(crate) fn too_conductive(&mut self) -> Stop {
        let (i, share) = self.most_conductive().unwrap_or((0, MOST_PER_STEP));
        let time_step = self.stepping.dt / share;
        self.stop(i, 1, Cause::TooConductive { share, time_step })
    }

    /// Opens the books at time zero, and refuses heat that flows faster than the time step can follow.
    pub(crate) fn open_heat_books(&mut self) -> Result<(), Refusal> {
        let held = self.heat_now();
        if let Some(heat) = &mut self.heat {
            heat.initial = held;
        }
        match self.most_conductive() {
            Some((_, share)) if share > MOST_PER_STEP => Err(Refusal::Stopped(Box::new(self.too_conductive()))),
            _ => Ok(()),
        }
    }

    fn heat_now(&self) -> f64 {
        self.heat.as_ref().map_or(0.0, |heat| heat.of_all(&self.fields))
    }

    /// Books the heat of grains that came.
    pub(crate) fn book_heat_inserted(&mut self, new: &Fields) {
        if let Some(heat) = &mut self.heat {
            heat.inserted += heat.of_all(new);
        }
    }

    /// Books the heat that grains which `leaves` picks take along.
    pub(crate) fn book_heat_leaving(&mut self, leaves: impl Fn(&Simulation, usize) -> bool) {
        if let Some(mut heat) = self.heat.take() {
            let leaving = (0..self.fields.len()).filter(|&i| leaves(self, i));
            heat.left += leaving.map(|i| heat.of_grain(&self.fields, i)).sum::<f64>();
            self.heat = Some(heat);
        }
    }

    /// Where heat is and where it went; `None` where none flows.
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn heat(&self) -> Option<HeatLedger> {
        self.assert_observed();
        let heat = self.heat.as_ref()?;
        let (held, from_walls) = (self.heat_now(), heat.given.iter().sum::<f64>());
        Some(HeatLedger {
            held,
            from_walls,
            inserted: heat.inserted,
            left: heat.left,
            initial: heat.initial,
            residual: held - from_walls - heat.inserted + heat.left - heat.initial,
        })
    }

    /// Heat flow from every wall into the grains that touch it now \[W\], and heat that it gave since time zero \[J\].
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn heat_of_walls(&self) -> Vec<[f64; 2]> {
        self.assert_observed();
        let Some(heat) = &self.heat else { return Vec::new() };
        let mut walls: Vec<[f64; 2]> = heat.given.iter().map(|&given| [0.0, given]).collect();
        let mut flow = [0.0];
        for i in 0..self.fields.len() {
            for k in self.walls.row[i] as usize..self.walls.row[i + 1] as usize {
                seixo_sweeps::heat::conduct_from_walls::<f64, f64>(
                    i,
                    k,
                    k + 1,
                    &self.walls.list,
                    k,
                    &self.walls.elements,
                    &self.walls.records,
                    &self.walls.touches,
                    &heat.walls,
                    &self.fields.position,
                    &self.fields.temperature,
                    &self.fields.material,
                    self.materials,
                    &self.table,
                    &mut flow,
                );
                walls[self.walls.wall_of(self.walls.list[k])][0] += flow[0];
            }
        }
        walls
    }

    /// Saves the books.
    pub(crate) fn save_heat(&self, to: &mut dyn Sections) {
        if let Some(heat) = &self.heat {
            let books = [heat.inserted, heat.left, heat.initial]
                .into_iter()
                .chain(heat.given.iter().copied());
            to.put(BOOKS, Column::F64(books.collect()));
        }
    }

    /// Takes saved books up.
    pub(crate) fn restore_heat(&mut self, state: &State) -> Result<(), Refusal> {
        let misfit = |what: &str| Err(Refusal::State { what: what.into() });
        let grains = self.fields.len();
        let books = state.get(BOOKS);
        let Some(heat) = &mut self.heat else {
            return if books.is_some() {
                misfit("its grains conduct heat")
            } else {
                Ok(())
            };
        };
        match books {
            Some(Column::F64(values)) if values.len() == 3 + heat.given.len() && self.fields.temperature.len() == grains => {
                (heat.inserted, heat.left, heat.initial) = (values[0], values[1], values[2]);
                heat.given.copy_from_slice(&values[3..]);
                Ok(())
            }
            _ => misfit("its grains have no temperatures, or its walls are others"),
        }
    }
}
