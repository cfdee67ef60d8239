//! Müller 2003 solver: densities, then forces, then motion.

use super::{DONE, begins, is_halted, raise};
use crate::bodies::FREE;
use crate::entries::{TILE, first_entry};
use crate::fluid::{FluidKernelConfig, kicked, kind_of, mass_at};
use crate::layout::{Record, four_numbers, last, load, record, xyz};
use crate::motion::StepParameters;
use crate::muller::{contain, dense_of, density_of, draw_on, drawn, fluid_of, force_on, is_fluid};
use cubecl::prelude::*;
use seixo_laws::fluid::muller::Functions;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Sums the densities of `n` particles, and writes the resulting states to `dense`, with the energies of springs to bodies. For a sphere of a body,
/// `dense` gets the last number of its position record and zeros.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn sum_densities<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    fluid_parameters: &[R],
    position: &[C],
    dense: &mut [Record<R>],
    flags: &mut [u32],
    functions: &Functions<R>,
    stepping: &StepParameters<C, R>,
    n: u32,
    parity: u32,
    #[comptime] plan: FluidKernelConfig,
) {
    let i = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if i < n as usize {
            let flows = is_fluid::<C>(position, i, plan.bounded);
            if flows {
                let summed = density_of::<C, R>(
                    i,
                    first_entry(i, tile_first),
                    count[i],
                    list,
                    position,
                    kind,
                    media,
                    fluid_parameters,
                    functions,
                    &stepping.sides,
                    TILE,
                    plan,
                );
                let found = dense_of::<R>(i, summed.density, kind, media, plan);
                dense[i] = four_numbers::<R>(found.volume, found.pressure, found.excess, summed.elastic);
            }
            if comptime!(plan.bounded) {
                if !flows {
                    let zero = R::new(0.0);
                    dense[i] = four_numbers::<R>(C::near(position[i * 4usize + 3usize]), zero, zero, zero);
                }
            }
        }
    }
}

/// Computes the forces on particles and on spheres of bodies, and the powers taken by viscosity, for `rate`. Writes the velocities after forces to
/// `driven`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn muller_forces<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    fluid_parameters: &[R],
    position: &[C],
    flow: &[R],
    motion: &[R],
    dense: &[R],
    half_velocity: &[Record<C>],
    rate: &mut [Record<R>],
    driven: &mut [Record<R>],
    flags: &mut [u32],
    functions: &Functions<R>,
    stepping: &StepParameters<C, R>,
    n: u32,
    parity: u32,
    #[comptime] plan: FluidKernelConfig,
) {
    let i = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if i < n as usize {
            let found = force_on::<C, R>(
                i,
                first_entry(i, tile_first),
                count[i],
                list,
                position,
                flow,
                motion,
                dense,
                kind,
                media,
                fluid_parameters,
                functions,
                &stepping.sides,
                TILE,
                plan,
            );
            let mass = mass_at::<R>(media, fluid_of(kind, i, plan));
            let onward = kicked::<C, R>(&xyz::<C>(half_velocity[i]), &found.force, mass, stepping);
            rate[i] = record::<R>(&found.force, found.viscous_power);
            driven[i] = record::<R>(&near_vector::<C, R>(&onward), R::new(0.0));
        }
    }
}

/// Copies the container of the next step, `numbers` long, from `ahead`, which holds one for every step since the last synchronization with the host.
#[cube(launch)]
pub fn place_container<C: Real>(ahead: &[C], container: &mut [C], flags: &mut [u32], numbers: u32, parity: u32) {
    let k = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if k < numbers as usize {
            container[k] = ahead[(flags[DONE] * numbers) as usize + k];
        }
    }
}

/// Advances particles by one step inside the `elements` records of their `container`. With `meshes`, `samples` holds the signed distances of those
/// that are meshes. With `smooths`, XSPH smooths their velocities. Spheres of bodies are moved by their bodies instead. If the world is
/// `decomposition_invariant`, `owned` marks ghosts, see [`crate::bodies`]: they stay.
///
/// Positions and velocities of neighbors are read from buffers that no thread writes. The last number of `half_velocity` sums the energies supplied
/// by walls, and the third of `thermal` those taken by viscosity and XSPH.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn move_on<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    owned: &[u32],
    media: &[R],
    fluid_parameters: &[R],
    position: &[C],
    dense: &[R],
    driven: &[R],
    rate: &[Record<R>],
    half_velocity: &mut [Record<C>],
    thermal: &mut [Record<C>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_flow: &mut [Record<R>],
    container: &[C],
    samples: &[R],
    flags: &mut [u32],
    functions: &Functions<R>,
    stepping: &StepParameters<C, R>,
    n: u32,
    elements: u32,
    parity: u32,
    #[comptime] plan: FluidKernelConfig,
    #[comptime] smooths: bool,
    #[comptime] meshes: bool,
    #[comptime] decomposition_invariant: bool,
) {
    let i = ABSOLUTE_POS;
    let goes = begins(flags, parity, true);
    if goes && i < n as usize {
        let mut flows = is_fluid::<C>(position, i, plan.bounded);
        if comptime!(decomposition_invariant) {
            flows = flows && owned[i] == FREE;
        }
        if flows {
            let own_kind = kind_of(kind, i, plan.mixed);
            let mass = mass_at::<R>(media, own_kind);
            let half = half_velocity[i];
            let before = xyz::<C>(half);
            let forced = rate[i];
            let onward = kicked::<C, R>(&before, &xyz::<R>(forced), mass, stepping);
            let mut all = Vector3::<R>::zero();
            if smooths {
                all = draw_on::<C, R>(
                    i,
                    first_entry(i, tile_first),
                    count[i],
                    list,
                    position,
                    driven,
                    dense,
                    functions,
                    &stepping.sides,
                    TILE,
                    plan,
                );
            }
            let smoothed = drawn::<C, R>(&onward, &all, fluid_parameters[own_kind * 4usize], mass);
            let now = contain::<C, R>(
                &load::<C>(position, i * 4usize),
                &before,
                &smoothed.velocity,
                &xyz::<C>(reference[i]),
                mass,
                fluid_parameters[own_kind * 4usize + 1usize],
                container,
                samples,
                elements,
                stepping,
                meshes,
            );
            let heat = thermal[i];
            let taken = smoothed.taken + last::<R>(forced) * stepping.dt;
            let sum = heat.extract(2usize) + C::wide(taken);
            thermal[i] = four_numbers::<C>(heat.extract(0usize), heat.extract(1usize), sum, last::<C>(heat));
            half_velocity[i] = record::<C>(&now.velocity, last::<C>(half) + C::wide(now.given));
            new_position[i] = record::<C>(&now.position, C::wide(dense[i * 4usize]));
            new_flow[i] = record::<R>(&near_vector::<C, R>(&now.velocity), dense[i * 4usize + 1usize]);
            raise(flags, parity, now.flags);
        }
        if comptime!(plan.bounded || decomposition_invariant) {
            if !flows {
                new_position[i] = record::<C>(&load::<C>(position, i * 4usize), position[i * 4usize + 3usize]);
                new_flow[i] = record::<R>(&Vector3::<R>::zero(), R::new(0.0));
            }
        }
    }
}
