//! Everything that a step changes in one domain: its particles, bodies, walls and bonds, with their clock and ledger.

use crate::bodies::Bodies;
use crate::bonds::{BondNetwork, BondPlan};
use crate::cell_control::CellState;
use crate::context::StepContext;
use crate::diffusion::Diffusion;
use crate::flow::Flow;
use crate::grains::GrainState;
use crate::loads::Loads;
use crate::measure::{EnergyLedger, Work};
use crate::pass::{PASSES_OF_CPU, Pass};
use crate::polyhedra::Polyhedra;
use crate::state::{Profile, Timeline, Trace};
use crate::walls::Walls;
use std::time::Instant;

/// Everything that a step changes in one domain. A backend computes the steps; here are the present values, or those of the last observation.
pub(crate) struct Populations {
    pub context: StepContext,
    /// The state of the periodic cell, if its lengths are controlled.
    pub cell: Option<Box<CellState>>,
    pub grains: GrainState,
    pub bodies: Bodies,
    pub walls: Walls,
    pub loads: Loads,
    /// Groups whose grains may be fixed, released or loaded, with their names.
    pub constrained_groups: Vec<(u32, String)>,
    /// The bond network, if there are or may be bonds.
    pub bonds: Option<Box<BondNetwork>>,
    pub bond_plan: BondPlan,
    /// Shapes and pairs of polyhedral grains, if there are any.
    pub polyhedra: Option<Box<Polyhedra>>,
    /// Fluids, if there are any.
    pub flow: Option<Box<Flow>>,
    /// Scalars that spread through contacts, such as heat.
    pub diffusions: Vec<Diffusion>,
    pub ledger: EnergyLedger,
    pub profile: Profile,
    /// Spans of work, if a GPU and the CPU cores work at the same time.
    pub trace: Option<Trace>,
    /// A timeline, while one is recorded.
    pub timeline: Option<Timeline>,
}

impl Populations {
    /// Whether a GPU steps the grains.
    pub(crate) fn grains_on_gpu(&self) -> bool {
        self.grains.are_on_gpu
    }

    /// Whether GPUs have summed the energies of the observed grains: that which steps them, or those of the subdomains that own them.
    pub(crate) fn has_energies_of_gpus(&self) -> bool {
        self.grains_on_gpu() || self.ledger.is_of_subdomains
    }

    /// Whether there are no grains here.
    pub fn has_no_grains(&self) -> bool {
        self.grains.fields.len() == 0
    }

    /// The ledger of the energies of bodies: in a subdomain separate from that of its grains, as the others compute the same.
    pub(crate) fn body_ledger(&mut self) -> &mut Work {
        if self.grains.has_ghosts {
            &mut self.bodies.ledger
        } else {
            &mut self.ledger.work
        }
    }

    /// Number of fluid particles here.
    pub fn fluid_particles(&self) -> usize {
        self.flow.as_ref().map_or(0, |flow| flow.count)
    }

    /// Runs a pass and adds its time to the profile.
    pub(crate) fn pass<T>(&mut self, pass: Pass, run: impl FnOnce(&mut Populations) -> T) -> T {
        let start = Instant::now();
        let result = run(self);
        self.profile.add_time(pass as usize, start, 1);
        if let Some(trace) = &mut self.trace {
            trace.note(PASSES_OF_CPU[pass as usize], Some(start), self.context.steps);
        }
        self.note(PASSES_OF_CPU[pass as usize], Some(start));
        result
    }

    /// The present moment, while a timeline is recorded: the beginning of work that [`Populations::note`] will record.
    pub(crate) fn now(&self) -> Option<Instant> {
        self.timeline.as_ref().map(|_| Instant::now())
    }

    /// Records work that began at this moment and ends now.
    pub(crate) fn note(&mut self, name: &'static str, began: Option<Instant>) {
        if let (Some(timeline), Some(began)) = (&mut self.timeline, began) {
            timeline.note(name, began);
        }
    }
}
