//! Müller's fluid: densities, then forces, then motions.

use super::{begins, is_halted, raise};
use crate::entries::first_entry;
use crate::fluid::{FlowPlan, kicked, kind_of, mass_at};
use crate::motion::Stepping;
use crate::muller::{dense_of, density_of, draw_on, drawn, fluid_of, force_on, is_fluid, settled};
use crate::views::{Record, four_numbers, last, load, record, xyz};
use cubecl::prelude::*;
use seixo_laws::fluid::muller::Functions;
use seixo_laws::{Coordinate, Real, Vector3, near_vector};

/// Sums the densities of `n` particles up, and writes what they mean to `dense`, with the energies of springs to bodies; of spheres of bodies, what else
/// their places hold.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn sum_densities<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    habits: &[R],
    position: &[C],
    dense: &mut [Record<R>],
    flags: &mut [u32],
    functions: &Functions<R>,
    stepping: &Stepping<C, R>,
    n: u32,
    parity: u32,
    #[comptime] plan: FlowPlan,
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
                    habits,
                    functions,
                    &stepping.sides,
                    32usize,
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

/// Finds the forces on particles, be they spheres of bodies, and the powers that viscosity takes, for `rate`; and velocities after them, for `driven`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn drive<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    habits: &[R],
    position: &[C],
    flow: &[R],
    motion: &[R],
    dense: &[R],
    half_velocity: &[Record<C>],
    rate: &mut [Record<R>],
    driven: &mut [Record<R>],
    flags: &mut [u32],
    functions: &Functions<R>,
    stepping: &Stepping<C, R>,
    n: u32,
    parity: u32,
    #[comptime] plan: FlowPlan,
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
                habits,
                functions,
                &stepping.sides,
                32usize,
                plan,
            );
            let mass = mass_at::<R>(media, fluid_of(kind, i, plan));
            let onward = kicked::<C, R>(&xyz::<C>(half_velocity[i]), &found.force, mass, stepping);
            rate[i] = record::<R>(&found.force, found.viscous_power);
            driven[i] = record::<R>(&near_vector::<C, R>(&onward), R::new(0.0));
        }
    }
}

/// Takes the container of the coming step, so many `numbers` long, out of those `ahead`: one for every step from the last look of the host on.
#[cube(launch)]
pub fn hold<C: Real>(ahead: &[C], container: &mut [C], flags: &mut [u32], numbers: u32, parity: u32) {
    let k = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if k < numbers as usize {
            container[k] = ahead[(flags[10usize] * numbers) as usize + k];
        }
    }
}

/// Takes particles to the next step, within the `elements` records of their `container`; with `smooths`, neighbors draw velocities to theirs. Spheres of
/// bodies stay: it is their bodies that move them.
///
/// Places and velocities of others are read from buffers that no unit writes. The last number of `half_velocity` adds up the energies that walls
/// gave; the third of `thermal` those that viscosity and neighbors took.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn move_on<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    kind: &[u32],
    media: &[R],
    habits: &[R],
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
    flags: &mut [u32],
    functions: &Functions<R>,
    stepping: &Stepping<C, R>,
    n: u32,
    elements: u32,
    parity: u32,
    #[comptime] plan: FlowPlan,
    #[comptime] smooths: bool,
) {
    let i = ABSOLUTE_POS;
    let goes = begins(flags, parity, true);
    if goes && i < n as usize {
        let flows = is_fluid::<C>(position, i, plan.bounded);
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
                    32usize,
                    plan,
                );
            }
            let smoothed = drawn::<C, R>(&onward, &all, habits[own_kind * 4usize], mass);
            let now = settled::<C, R>(
                &load::<C>(position, i * 4usize),
                &before,
                &smoothed.velocity,
                &xyz::<C>(reference[i]),
                mass,
                habits[own_kind * 4usize + 1usize],
                container,
                elements,
                stepping,
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
        if comptime!(plan.bounded) {
            if !flows {
                new_position[i] = record::<C>(&load::<C>(position, i * 4usize), position[i * 4usize + 3usize]);
                new_flow[i] = record::<R>(&Vector3::<R>::zero(), R::new(0.0));
            }
        }
    }
}
