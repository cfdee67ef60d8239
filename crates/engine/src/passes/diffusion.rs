//! Diffusion of scalars through contacts: their values, what walls gave, and their ledgers.
//!
//! The pass precedes the motion of a step. A scalar flows between grains at their positions at the start of the step, through the contacts of the
//! previous step.
//! So a GPU, which has the wall contacts of that step, computes the same.

use crate::diffusion::{Diffusion, MAX_PER_STEP};
use crate::fields::{Fields, PART, part_range, parts};
use crate::guard::{StepError, StepErrorCause};
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::scalars::GrainScalar;
use crate::search::resize_with_room;
use crate::state::{Sections, State};
use seixo_device::{Ranges, Strided};
use seixo_sweeps::diffusion::{DiffusionOut, DiffusionView, ShapeDiffusionView, WallDiffusionView, diffuse_part, flow_into_from_walls};

/// The grain that loses the largest share of its difference in a step, and of which scalar.
struct LargestShare {
    scalar: GrainScalar,
    i: usize,
    share: f64,
}

impl Populations {
    /// Whether a scalar spreads through contacts.
    pub(crate) fn diffuses(&self) -> bool {
        !self.diffusions.is_empty()
    }

    /// The diffusion of a scalar.
    pub(crate) fn diffusion_of(&self, scalar: GrainScalar) -> Option<&Diffusion> {
        self.diffusions.iter().find(|diffusion| diffusion.scalar == scalar)
    }

    /// Advances a scalar by one step.
    pub(crate) fn diffuse(&mut self, scalar: GrainScalar) -> Result<(), StepError> {
        let Some(at) = self.diffusions.iter().position(|diffusion| diffusion.scalar == scalar) else {
            return Ok(());
        };
        self.find_flows(at);
        let diffusion = &mut self.diffusions[at];
        std::mem::swap(&mut self.grains.fields.scalars[scalar], &mut diffusion.next);
        for (&element, flow) in self.walls.list.iter().zip(&diffusion.flows) {
            diffusion.given[self.walls.wall_of(element)] += flow * self.context.stepping.dt;
        }
        if diffusion.shares.iter().any(|&share| share > MAX_PER_STEP) {
            return Err(self.too_conductive());
        }
        Ok(())
    }

    /// Finds the radius through which each entry of the wall list conducts, if grains may be polyhedral \[m\].
    fn find_wall_radii(&self, radii: &mut Vec<f64>) {
        let Some(polyhedra) = &self.polyhedra else { return };
        let at_walls = &polyhedra.at_walls;
        radii.clear();
        resize_with_room(radii, self.walls.list.len());
        for (load, &[_, entry]) in at_walls.records.loads.iter().zip(&at_walls.places) {
            radii[entry as usize] = load.conducting_radius;
        }
    }

    /// What the sweep of a diffusion reads.
    fn views<'a>(&'a self, diffusion: &'a Diffusion, wall_radii: &'a [f64]) -> (DiffusionView<'a>, WallDiffusionView<'a>) {
        let fields = &self.grains.fields;
        let shapes = self.polyhedra.as_ref().map(|polyhedra| {
            let pairs = &polyhedra.pairs;
            ShapeDiffusionView {
                shape: &fields.shape,
                pairs: (&pairs.places, &pairs.records.loads),
                ends: (&pairs.row, &pairs.ends),
                wall_radii,
            }
        });
        let grains = DiffusionView {
            position: &fields.position,
            velocity: &fields.velocity,
            material: &fields.material,
            potential: &fields.scalars[diffusion.scalar],
            materials: self.context.materials.count,
            coefficients: &diffusion.coefficients,
            capacities: &diffusion.capacities,
            sides: (&self.context.stepping.sides, self.context.sides),
            rows: (&self.grains.pairs.row, &self.grains.pairs.neighbors),
            is_once: self.lists_once(),
            dt: self.context.stepping.dt,
            kind: diffusion.kind(),
            shapes,
        };
        let walls = WallDiffusionView {
            rows: (&self.walls.row, &self.walls.list),
            elements: &self.walls.elements,
            records: &self.walls.records,
            contact_count: &self.walls.wall_contacts,
            potential: &diffusion.walls,
        };
        (grains, walls)
    }

    /// Current flow of a diffusion from each wall into its grains.
    pub(crate) fn flows_from_walls(&self, diffusion: &Diffusion) -> Vec<f64> {
        let mut radii = Vec::new();
        self.find_wall_radii(&mut radii);
        let (grains, walls) = self.views(diffusion, &radii);
        let mut of_walls = vec![0.0; diffusion.given.len()];
        let mut flows = Vec::new();
        for i in 0..self.grains.fields.len() {
            let (first, end) = (self.walls.row[i] as usize, self.walls.row[i + 1] as usize);
            flows.clear();
            flows.resize(end - first, 0.0);
            flow_into_from_walls(i, &grains, &walls, first, &mut flows);
            for (&element, flow) in self.walls.list[first..end].iter().zip(&flows) {
                of_walls[self.walls.wall_of(element)] += flow;
            }
        }
        of_walls
    }

    /// Computes the values after the step, and the current flows, of one diffusion.
    fn find_flows(&mut self, at: usize) {
        let n = self.grains.fields.len();
        let diffusion = &mut self.diffusions[at];
        let [mut next, mut conductance, mut shares, mut flows, mut wall_radii] = [
            &mut diffusion.next,
            &mut diffusion.conductance,
            &mut diffusion.shares,
            &mut diffusion.flows,
            &mut diffusion.wall_radii,
        ]
        .map(std::mem::take);
        next.resize(n, 0.0);
        conductance.resize(n, 0.0);
        shares.resize(parts(n), 0.0);
        resize_with_room(&mut flows, self.walls.list.len());
        self.find_wall_radii(&mut wall_radii);
        let (view, walls) = self.views(&self.diffusions[at], &wall_radii);
        let data = (
            Strided {
                items: &mut next[..],
                per_part: PART,
            },
            Strided {
                items: &mut conductance[..],
                per_part: PART,
            },
            Ranges {
                items: &mut flows[..],
                bounds: &self.walls.part_row,
                stride: 1,
            },
            Strided {
                items: &mut shares[..],
                per_part: 1,
            },
        );
        type Data<'a> = (Strided<'a, f64>, Strided<'a, f64>, Ranges<'a, f64>, Strided<'a, f64>);
        self.context
            .device
            .run(parts(n), data, |part, (potential, conductance, wall_flows, share): Data| {
                let out = DiffusionOut {
                    potential: potential.items,
                    conductance: conductance.items,
                    wall_flows: wall_flows.items,
                };
                share.items[0] = diffuse_part(&view, &walls, part_range(part, n), out);
            });
        let diffusion = &mut self.diffusions[at];
        (diffusion.next, diffusion.conductance, diffusion.shares) = (next, conductance, shares);
        (diffusion.flows, diffusion.wall_radii) = (flows, wall_radii);
    }

    /// The largest share per step of all grains and scalars.
    fn largest_share(&mut self) -> Option<LargestShare> {
        (0..self.diffusions.len()).for_each(|at| self.find_flows(at));
        let fields = &self.grains.fields;
        let share = |diffusion: &Diffusion, i: usize| {
            let capacity = diffusion.capacity_of(fields, i);
            seixo_laws::diffusion::share_per_step(diffusion.conductance[i], self.context.stepping.dt, capacity)
        };
        let all = self.diffusions.iter().flat_map(|diffusion| {
            (0..fields.len()).map(move |i| LargestShare {
                scalar: diffusion.scalar,
                i,
                share: share(diffusion, i),
            })
        });
        all.max_by(|a, b| a.share.total_cmp(&b.share).then(fields.id[b.i].cmp(&fields.id[a.i])))
    }

    /// Error that names the grain whose scalar changes too fast for the time step.
    pub(crate) fn too_conductive(&mut self) -> StepError {
        let LargestShare { scalar, i, share } = self.largest_share().unwrap_or(LargestShare {
            scalar: GrainScalar::Temperature,
            i: 0,
            share: MAX_PER_STEP,
        });
        let time_step = self.context.stepping.dt / share;
        self.stop(i, 1, StepErrorCause::TooConductive { scalar, share, time_step })
    }

    /// Initializes the ledgers at time zero, and rejects flows that are too fast for the time step.
    pub(crate) fn init_scalar_ledgers(&mut self) -> Result<(), WorldError> {
        for diffusion in &mut self.diffusions {
            diffusion.initial = diffusion.of_all(&self.grains.fields);
        }
        match self.largest_share() {
            Some(largest) if largest.share > MAX_PER_STEP => Err(WorldError::Stopped(Box::new(self.too_conductive()))),
            _ => Ok(()),
        }
    }

    /// Adds the scalars of new grains to the ledgers.
    pub(crate) fn add_inserted_scalars(&mut self, new: &Fields) {
        for diffusion in &mut self.diffusions {
            diffusion.inserted += diffusion.of_all(new);
        }
    }

    /// Adds the scalars of grains selected by `leaves` to what left.
    pub(crate) fn remove_leaving_scalars(&mut self, leaves: impl Fn(&Populations, usize) -> bool) {
        if !self.diffuses() {
            return;
        }
        let leaving: Vec<usize> = (0..self.grains.fields.len()).filter(|&i| leaves(self, i)).collect();
        for diffusion in &mut self.diffusions {
            diffusion.left += leaving.iter().map(|&i| diffusion.of_grain(&self.grains.fields, i)).sum::<f64>();
        }
    }

    /// Saves the ledgers of scalars.
    pub(crate) fn save_scalar_ledgers(&self, to: &mut dyn Sections) {
        for diffusion in &self.diffusions {
            let (name, ledger) = diffusion.section();
            to.put(name, ledger);
        }
    }

    /// Restores the ledgers of scalars.
    pub(crate) fn restore_scalar_ledgers(&mut self, state: &State) -> Result<(), WorldError> {
        let grains = self.grains.fields.len();
        for scalar in GrainScalar::ALL {
            let diffusion = self.diffusions.iter_mut().find(|diffusion| diffusion.scalar == scalar);
            let is_right = match diffusion {
                Some(diffusion) => self.grains.fields.scalars[scalar].len() == grains && diffusion.restore(state),
                None => state.get(scalar.ledger_section()).is_none(),
            };
            if !is_right {
                let name = scalar.name();
                return Err(WorldError::State {
                    what: format!("it and the scene differ in which grains have the field {name}, or in their walls"),
                });
            }
        }
        Ok(())
    }
}
