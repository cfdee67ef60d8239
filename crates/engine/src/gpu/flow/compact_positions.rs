//! Compact positions of weakly compressible fluids in mixed precision, see [`seixo_sweeps::compact_position`].
//!
//! The kernel that moves particles writes the compact positions of the next step, too. All others that place particles do not. So they are computed from
//! positions after every rebuild of the lists, and before every step if wall particles or bodies move. Otherwise, only those of ghosts are computed
//! before every step.

use super::GpuFluid;
use crate::flow::Flow;
use crate::gpu::{Number, vector};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::compact_position::{CompactScale, CompactScaleLaunch};
use seixo_sweeps::fluid::Solver;
use seixo_sweeps::kernels::fluid::compact_positions;
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::periodic::{OPEN, PERIODIC};

/// Compact positions of all particles.
pub(super) struct CompactPositions {
    /// Whether forces read them. Otherwise there are none.
    pub are_used: bool,
    /// Records of compact position and volume, double-buffered as positions.
    pub records: [Buffer<u32>; 2],
    /// Whether those of the present positions are there, except of particles that other kernels move.
    pub are_current: bool,
    scale: CompactScale<f64, f64>,
}

impl CompactPositions {
    /// Room for n particles with coordinates of type C and all other numbers of type R.
    pub fn new<C, R>(gpu: &Gpu, host: &Flow, n: usize) -> Result<CompactPositions, GpuError> {
        let plan = host.compiled_for;
        let is_mixed = size_of::<C>() > size_of::<R>();
        let are_used = is_mixed && plan.solver == Solver::WeaklyCompressible && matches!(plan.sides, OPEN | PERIODIC);
        let len = if are_used { RECORD * n } else { RECORD };
        Ok(CompactPositions {
            are_used,
            records: [gpu.buffer(len, "positions")?, gpu.buffer(len, "positions")?],
            are_current: false,
            scale: CompactScale::within(host.widest_reach(), &host.stepping.sides),
        })
    }

    /// Makes room for n particles.
    pub fn make_room(&mut self, gpu: &Gpu, n: usize) -> Result<(), GpuError> {
        if self.are_used {
            for records in &mut self.records {
                gpu.lengthen(records, RECORD * n, "positions")?;
            }
        }
        Ok(())
    }

    /// Their scale, as a kernel argument.
    pub fn scale<C: Number, R: Number>(&self) -> CompactScaleLaunch<C, R> {
        CompactScaleLaunch::new(vector(&self.scale.per_span), vector(&self.scale.quantum))
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Computes the compact positions of all particles, unless the step before wrote them. Returns whether those of ghosts remain to be computed.
    pub(super) fn update_compact_positions(&mut self) -> bool {
        if !self.compact.are_used {
            return false;
        }
        let others_move = self.carriage.is_some() || self.body_boundaries.is_some();
        if self.compact.are_current && !others_move {
            return self.is_decomposed();
        }
        let (count, dim) = units(self.n);
        compact_positions::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.position[self.now].records(),
            self.compact.records[self.now].records(),
            self.compact.scale::<C, R>(),
            self.n as u32,
        );
        self.compact.are_current = true;
        false
    }
}
