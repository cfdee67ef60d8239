//! Heat conduction: temperatures, heat of walls, and the heat ledger.
//!
//! The pass precedes the motion of a step. Heat flows between grains at their positions at the start of the step, through the contacts of the
//! previous step.
//! So a GPU, which has the wall contacts of that step, computes the same.

use crate::fields::{Fields, PART, part_range, parts};
use crate::guard::{StepError, StepErrorCause};
use crate::heat::{Heat, LEDGER_SECTION, MAX_PER_STEP};
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::search::resize_with_room;
use crate::state::{Column, Sections, State};
use seixo_device::{Ranges, Strided};
use seixo_sweeps::heat::{HeatOut, HeatView, WallHeatView, conduct_part};
use seixo_sweeps::layout::RECORD;

impl Populations {
    /// Whether heat is conducted.
    pub(crate) fn conducts(&self) -> bool {
        self.heat.is_some()
    }

    /// Advances the temperatures by one step.
    pub(crate) fn conduct_heat(&mut self) -> Result<(), StepError> {
        let Some(mut heat) = self.heat.take() else { return Ok(()) };
        self.find_heat(&mut heat);
        std::mem::swap(&mut self.grains.fields.temperature, &mut heat.next);
        for (&element, flow) in self.walls.list.iter().zip(&heat.flows) {
            heat.given[self.walls.wall_of(element)] += flow * self.context.stepping.dt;
        }
        let is_too_much = heat.shares.iter().any(|&share| share > MAX_PER_STEP);
        self.heat = Some(heat);
        if is_too_much { Err(self.too_conductive()) } else { Ok(()) }
    }

    /// Computes temperatures after the step, and current heat flows.
    fn find_heat(&self, heat: &mut Heat) {
        let fields = &self.grains.fields;
        let n = fields.len();
        let view = HeatView {
            position: &fields.position,
            velocity: &fields.velocity,
            material: &fields.material,
            temperature: &fields.temperature,
            materials: self.context.materials.count,
            table: &self.context.materials.coefficients,
            capacities: &heat.capacities,
            sides: (&self.context.stepping.sides, self.context.sides),
            rows: (&self.grains.pairs.row, &self.grains.pairs.neighbors),
            is_once: self.lists_once(),
            dt: self.context.stepping.dt,
        };
        let walls = WallHeatView {
            rows: (&self.walls.row, &self.walls.list),
            elements: &self.walls.elements,
            records: &self.walls.records,
            contact_count: &self.walls.wall_contacts,
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
        self.context
            .device
            .run(parts(n), data, |part, (temperature, conductance, wall_flows, share): Data| {
                let out = HeatOut {
                    temperature: temperature.items,
                    conductance: conductance.items,
                    wall_flows: wall_flows.items,
                };
                share.items[0] = conduct_part(&view, &walls, part_range(part, n), out);
            });
    }

    /// Index of the grain with the largest share per step, and this share.
    fn most_conductive(&mut self) -> Option<(usize, f64)> {
        let mut heat = self.heat.take()?;
        self.find_heat(&mut heat);
        let share = |i: usize| {
            let capacity = self.grains.fields.velocity[i * RECORD + 3] * heat.capacities[self.grains.fields.material[i] as usize];
            seixo_laws::heat::share_per_step(heat.conductance[i], self.context.stepping.dt, capacity)
        };
        let grains = (0..self.grains.fields.len()).map(|i| (i, share(i)));
        let most = grains.max_by(|a, b| {
            a.1.total_cmp(&b.1)
                .then(self.grains.fields.id[b.0].cmp(&self.grains.fields.id[a.0]))
        });
        self.heat = Some(heat);
        most
    }

    /// Error that names the grain whose heat flow is too fast for the time step.
    pub(crate) fn too_conductive(&mut self) -> StepError {
        let (i, share) = self.most_conductive().unwrap_or((0, MAX_PER_STEP));
        let time_step = self.context.stepping.dt / share;
        self.stop(i, 1, StepErrorCause::TooConductive { share, time_step })
    }

    /// Initializes the heat ledger at time zero, and rejects heat flows that are too fast for the time step.
    pub(crate) fn init_heat_ledger(&mut self) -> Result<(), WorldError> {
        let held = self.heat_now();
        if let Some(heat) = &mut self.heat {
            heat.initial = held;
        }
        match self.most_conductive() {
            Some((_, share)) if share > MAX_PER_STEP => Err(WorldError::Stopped(Box::new(self.too_conductive()))),
            _ => Ok(()),
        }
    }

    pub(crate) fn heat_now(&self) -> f64 {
        self.heat.as_ref().map_or(0.0, |heat| heat.of_all(&self.grains.fields))
    }

    /// Adds the heat of new grains to the ledger.
    pub(crate) fn add_inserted_heat(&mut self, new: &Fields) {
        if let Some(heat) = &mut self.heat {
            heat.inserted += heat.of_all(new);
        }
    }

    /// Adds the heat of grains selected by `leaves` to the heat that left.
    pub(crate) fn remove_leaving_heat(&mut self, leaves: impl Fn(&Populations, usize) -> bool) {
        if let Some(mut heat) = self.heat.take() {
            let leaving = (0..self.grains.fields.len()).filter(|&i| leaves(self, i));
            heat.left += leaving.map(|i| heat.of_grain(&self.grains.fields, i)).sum::<f64>();
            self.heat = Some(heat);
        }
    }

    /// Saves the heat ledger.
    pub(crate) fn save_heat(&self, to: &mut dyn Sections) {
        if let Some(heat) = &self.heat {
            let ledger = [heat.inserted, heat.left, heat.initial]
                .into_iter()
                .chain(heat.given.iter().copied());
            to.put(LEDGER_SECTION, Column::F64(ledger.collect()));
        }
    }

    /// Restores the heat ledger.
    pub(crate) fn restore_heat(&mut self, state: &State) -> Result<(), WorldError> {
        let misfit = |what: &str| Err(WorldError::State { what: what.into() });
        let grains = self.grains.fields.len();
        let ledger = state.get(LEDGER_SECTION);
        let Some(heat) = &mut self.heat else {
            return if ledger.is_some() {
                misfit("its grains conduct heat")
            } else {
                Ok(())
            };
        };
        match ledger {
            Some(Column::F64(values)) if values.len() == 3 + heat.given.len() && self.grains.fields.temperature.len() == grains => {
                (heat.inserted, heat.left, heat.initial) = (values[0], values[1], values[2]);
                heat.given.copy_from_slice(&values[3..]);
                Ok(())
            }
            _ => misfit("its grains have no temperatures, or its walls are others"),
        }
    }
}
