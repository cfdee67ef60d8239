//! Dead zones: velocities in cells, averaged over the samples between two lines of a probe.

use super::fluids::FluidConstants;
use super::outputs::Sample;
use super::schedule::Schedule;
use seixo_analysis::{Grid, MeanFlow, SpeedLimit};
use seixo_engine::state::{Column, Sections, State};
use seixo_files::vtk::{Image, image};

/// Averages of a probe of dead zones.
pub(super) struct DeadZones {
    limit: SpeedLimit,
    /// What is averaged: grains of one group, or particles of one fluid; with neither, all.
    group: Option<u32>,
    fluid: Option<u32>,
    /// Schedule of the samples.
    pub schedule: Schedule,
    /// Samples since the last line.
    flow: MeanFlow,
    /// Samples of the last line, and its time \[s\].
    last: Option<(MeanFlow, f64)>,
}

impl DeadZones {
    /// Creates averages without samples.
    pub fn new(grid: Grid, limit: SpeedLimit, [group, fluid]: [Option<u32>; 2], schedule: Schedule) -> DeadZones {
        DeadZones {
            limit,
            group,
            fluid,
            schedule,
            flow: MeanFlow::new(grid),
            last: None,
        }
    }

    /// Takes a sample if one is due.
    pub fn look(&mut self, sample: &Sample, fluids: &FluidConstants) {
        if !self.schedule.is_due(sample.steps()) {
            return;
        }
        self.flow.samples += 1;
        if self.fluid.is_none() {
            self.flow.add_grains(sample.grains(), self.group);
        }
        if self.group.is_none() {
            self.flow.add_fluid(sample.fluid(), self.fluid, fluids.masses(), fluids.cell());
        }
    }

    /// Returns the columns of the probe, of the samples since the last line.
    pub fn values(&self) -> [f64; 4] {
        let dead = self.flow.dead_zone(self.limit);
        [dead.share, dead.mean_speed, dead.limit, dead.filled]
    }

    /// Ends a line at this time \[s\]: the samples of the next one follow.
    pub fn end_line(&mut self, time: f64) {
        let next = MeanFlow::new(self.flow.grid);
        self.last = Some((std::mem::replace(&mut self.flow, next), time));
    }

    /// Returns the fields of the last line as a `.vti`, if there was one.
    pub fn fields(&self) -> Option<Vec<u8>> {
        let (flow, time) = self.last.as_ref()?;
        let (velocity, speed, filled) = (flow.velocity(), flow.speed(), flow.filled());
        let limit = flow.dead_zone(self.limit).limit;
        let is_dead = |(speed, filled): (&f64, &f64)| if *filled > 0.0 && *speed < limit { 1.0 } else { 0.0 };
        let dead: Vec<f64> = speed.iter().zip(&filled).map(is_dead).collect();
        let fields = Image {
            origin: flow.grid.origin.to_array(),
            spacing: flow.grid.spacing,
            points: flow.grid.points,
            scalars: &[("speed", &speed), ("filled", &filled), ("is_dead", &dead)],
            vectors: &[("velocity", &velocity)],
            tensors: &[],
        };
        Some(image(&fields, *time))
    }

    /// Adds the samples since the last line to a checkpoint.
    pub fn save(&self, to: &mut dyn Sections, name: &str) {
        let MeanFlow {
            samples,
            volume,
            mass,
            momentum,
            ..
        } = &self.flow;
        let sums = [*samples as f64].into_iter().chain(volume.iter().copied());
        let sums = sums.chain(mass.iter().copied()).chain(momentum.iter().flatten().copied());
        to.put(name, Column::F64(sums.collect()));
    }

    /// Restores these samples from a checkpoint, if they are there.
    pub fn restore(&mut self, state: &State, name: &str) {
        let cells = self.flow.grid.len();
        if let Some(Column::F64(sums)) = state.get(name)
            && let Some((&samples, sums)) = sums.split_first()
            && sums.len() == 5 * cells
        {
            self.flow.samples = samples as u64;
            self.flow.volume.copy_from_slice(&sums[..cells]);
            self.flow.mass.copy_from_slice(&sums[cells..2 * cells]);
            self.flow.momentum.copy_from_slice(sums[2 * cells..].as_chunks::<3>().0);
        }
    }
}
