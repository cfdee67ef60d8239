//! Particle shifting in fluids.

use crate::entries::{TILE, first_entry};
use crate::fluid::FluidKernelConfig;
use crate::layout::{Record, record, xyz};
use crate::motion::StepParameters;
use crate::shifting::drift_of;
use cubecl::prelude::*;
use seixo_laws::fluid::Smoother;
use seixo_laws::fluid::shifting::Shifting;
use seixo_laws::{Coordinate, Real};

/// Writes the velocity of each fluid particle, including its drift, to `motion`. The values of wall particles are kept.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn shift<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    position: &[C],
    flowing: &[Record<R>],
    motion: &mut [Record<R>],
    shifting: &Shifting<R>,
    smoother: &Smoother<R>,
    stepping: &StepParameters<C, R>,
    n: u32,
    #[comptime] plan: FluidKernelConfig,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if position[i * 4usize + 3usize] > C::new(0.0) {
            let drift = drift_of::<C, R>(
                i,
                first_entry(i, tile_first),
                count[i],
                list,
                position,
                shifting,
                smoother,
                &stepping.sides,
                TILE,
                plan,
            );
            motion[i] = record::<R>(&xyz::<R>(flowing[i]).plus(&drift), R::new(0.0));
        }
    }
}
