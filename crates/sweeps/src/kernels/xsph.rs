//! XSPH in weakly compressible fluids.

use crate::entries::{TILE, first_entry};
use crate::fluid::FluidKernelConfig;
use crate::layout::{Record, load, record};
use crate::motion::StepParameters;
use crate::xsph::draw_on;
use cubecl::prelude::*;
use seixo_laws::fluid::Smoother;
use seixo_laws::{Coordinate, Real};

/// Writes the velocity with which each fluid particle moves to `motion`. The values of wall particles are kept.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn draw_along<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    position: &[C],
    flow: &[R],
    kind: &[u32],
    media: &[R],
    shares: &[R],
    motion: &mut [Record<R>],
    smoother: &Smoother<R>,
    stepping: &StepParameters<C, R>,
    n: u32,
    #[comptime] plan: FluidKernelConfig,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        if position[i * 4usize + 3usize] > C::new(0.0) {
            let drift = draw_on::<C, R>(
                i,
                first_entry(i, tile_first),
                count[i],
                list,
                position,
                flow,
                kind,
                media,
                shares,
                smoother,
                &stepping.sides,
                TILE,
                plan,
            );
            motion[i] = record::<R>(&load::<R>(flow, i * 4usize).plus(&drift), R::new(0.0));
        }
    }
}
