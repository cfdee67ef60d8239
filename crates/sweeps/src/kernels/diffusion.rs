//! Diffusion through contacts.

use super::neighbor_lists::is_outside;
use super::polyhedra_lists::{NO_END, PAIR_LOAD, WALL_LOAD};
use super::polyhedra_migration::partner_at;
use super::walls::is_of_wall;
use super::{THREADS, is_halted, raise, sum_of_cube};
use crate::bodies::{FREE, is_ghost};
use crate::diffusion::{DiffusiveFlow, capacity_of, diffused, flow_between, flow_from_walls, flow_through, no_flow};
use crate::entries::{PLACE, TILE, first_entry};
use crate::layout::{Record, last, load};
use crate::motion::TOO_CONDUCTIVE;
use crate::periodic::{PeriodicBoundaries, nearest_image};
use crate::wall::row_of_wall;
use cubecl::prelude::*;
use seixo_laws::diffusion::content;
use seixo_laws::{Coordinate, Real};

/// Flow into grain i through its pairs with a polyhedral grain, in the order of the ids of its partners, as
/// [`crate::diffusion::ShapeDiffusionView`] has it on the CPU.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn flow_through_pairs<C: Coordinate<R>, R: Real>(
    i: usize,
    end_first: &[u32],
    ends: &[u32],
    pairs: &[u32],
    loads: &[Record<R>],
    material: &[u32],
    materials: u32,
    coefficients: &[R],
    potential: &[C],
) -> DiffusiveFlow<C> {
    let mut all = no_flow::<C>();
    for s in end_first[i]..end_first[i + 1usize] {
        let end = ends[s as usize];
        if end != NO_END {
            let at = (end >> 1u32) as usize * PAIR_LOAD;
            if last::<R>(loads[at]) > R::new(0.0) {
                let j = partner_at(end, pairs);
                let row = (material[i] * materials + material[j]) as usize;
                let radius = last::<R>(loads[at + 4usize]);
                let one = flow_through::<C, R>(coefficients[row], radius, potential[i], potential[j]);
                all.flow += one.flow;
                all.conductance += one.conductance;
            }
        }
    }
    all
}

/// Flow into grain i, which is polyhedral, from the walls with potentials in its row `first..end`. The flow of every entry goes to `flows`.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn flow_into_shape_from_walls<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    end: usize,
    list: &[u32],
    elements: &[C],
    records: &[C],
    loads: &[Record<C>],
    wall_potential: &[C],
    potential: &[C],
    material: &[u32],
    materials: u32,
    coefficients: &[R],
    flows: &mut [C],
) -> DiffusiveFlow<C> {
    let mut all = no_flow::<C>();
    for k in first..end {
        let mut from_wall = C::new(0.0);
        let e = list[k] as usize * 12usize;
        let of_wall = wall_potential[C::whole(elements[e + 10usize]) as usize];
        let sizes = loads[k * WALL_LOAD + 3usize];
        let radius = C::near(sizes.extract(0usize));
        if of_wall >= C::new(0.0) && radius > R::new(0.0) {
            let row = row_of_wall::<C>(i, material, materials, elements, records, e);
            let one = flow_through::<C, R>(coefficients[row], radius, potential[i], of_wall);
            from_wall = one.flow;
            all.conductance += one.conductance;
            all.flow += from_wall;
        }
        flows[k] = from_wall;
    }
    all
}

/// Potentials of all grains after one step, from one buffer to another. With `walls` that have potentials, `wall_flows` gets the flow of every entry
/// of their list. If there are polyhedral grains, `shapes`, these conduct through the contacts that `pair_loads` and `wall_loads` have, see
/// [`PAIR_LOAD`] and [`WALL_LOAD`]; `shape` has the mark [`FREE`] for spheres.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn diffuse<R: Real, C: Coordinate<R>>(
    tile_first: &[u32],
    count: &[u32],
    list: &[u32],
    material: &[u32],
    coefficients: &[R],
    capacities: &[C],
    position: &[C],
    velocity: &[R],
    potential: &[C],
    new_potential: &mut [C],
    wall_row: &[u32],
    wall_list: &[u32],
    elements: &[C],
    records: &[C],
    wall_contacts: &[C],
    wall_potential: &[C],
    wall_flows: &mut [C],
    shape: &[u32],
    end_first: &[u32],
    ends: &[u32],
    pairs: &[u32],
    pair_loads: &[Record<R>],
    wall_loads: &[Record<C>],
    flags: &mut [u32],
    sides: &PeriodicBoundaries<C, R>,
    dt: C,
    n: u32,
    materials: u32,
    parity: u32,
    #[comptime] sides_kind: u32,
    #[comptime] walls: bool,
    #[comptime] shapes: bool,
    #[comptime] kind: u32,
) {
    let i = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        if i < n as usize {
            let mut all = no_flow::<C>();
            let here = load::<C>(position, i * 4usize);
            let first = first_entry(i, tile_first);
            for s in 0..count[i] {
                let j = (list[first + s as usize * TILE] & PLACE) as usize;
                let apart = nearest_image::<C, R>(&here.minus(&load::<C>(position, j * 4usize)), sides, sides_kind);
                let row = (material[i] * materials + material[j]) as usize;
                let one = flow_between::<C, R>(
                    &apart.apart,
                    position[i * 4usize + 3usize],
                    position[j * 4usize + 3usize],
                    potential[i],
                    potential[j],
                    coefficients[row],
                    kind,
                );
                all.flow += one.flow;
                all.conductance += one.conductance;
            }
            if shapes {
                let of_pairs =
                    flow_through_pairs::<C, R>(i, end_first, ends, pairs, pair_loads, material, materials, coefficients, potential);
                all.flow += of_pairs.flow;
                all.conductance += of_pairs.conductance;
            }
            if walls {
                let begin = wall_row[i] as usize;
                let mut end = wall_row[i + 1usize] as usize;
                if shapes {
                    if shape[i] != FREE {
                        let of_shape = flow_into_shape_from_walls::<C, R>(
                            i,
                            begin,
                            end,
                            wall_list,
                            elements,
                            records,
                            wall_loads,
                            wall_potential,
                            potential,
                            material,
                            materials,
                            coefficients,
                            wall_flows,
                        );
                        all.flow += of_shape.flow;
                        all.conductance += of_shape.conductance;
                        end = begin;
                    }
                }
                let of_walls = flow_from_walls::<C, R>(
                    i,
                    begin,
                    end,
                    wall_list,
                    0usize,
                    elements,
                    records,
                    wall_contacts,
                    wall_potential,
                    position,
                    potential,
                    material,
                    materials,
                    coefficients,
                    wall_flows,
                );
                all.flow += of_walls.flow;
                all.conductance += of_walls.conductance;
            }
            let mass = C::wide(velocity[i * 4usize + 3usize]);
            let capacity = capacity_of::<C>(position[i * 4usize + 3usize], mass, capacities[material[i] as usize], kind);
            let change = diffused::<C>(potential[i], &all, capacity, dt);
            new_potential[i] = change.potential;
            if change.share > C::new(1.0) {
                raise(flags, parity, TOO_CONDUCTIVE);
            }
        }
    }
}

/// Adds the amount that every wall gave to grains in this step to its sum, one block per wall, in a fixed order.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn add_wall_flows<C: Real>(
    wall_flows: &[C],
    list: &[u32],
    elements: &[C],
    given: &mut [C],
    flags: &mut [u32],
    entries: u32,
    walls: u32,
    dt: C,
    parity: u32,
) {
    let wall = CUBE_POS;
    if !is_halted(flags, parity) {
        let mut sum = C::new(0.0);
        let mut k = UNIT_POS as usize;
        while k < entries as usize {
            if is_of_wall::<C>(k, wall, list, elements) {
                sum += wall_flows[k];
            }
            k += THREADS;
        }
        let mut amounts = Record::<C>::new(C::new(0.0));
        amounts.insert(0usize, sum);
        let total = sum_of_cube::<C>(amounts);
        if UNIT_POS == 0u32 && wall < walls as usize {
            given[wall] += total.extract(0usize) * dt;
        }
    }
}

/// Amount that grains outside of the domain hold, by block. With `copies`, ghost particles, which `member` marks, are not counted.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn content_outside<R: Real, C: Coordinate<R>>(
    position: &[C],
    velocity: &[R],
    material: &[u32],
    capacities: &[C],
    potential: &[C],
    member: &[u32],
    domain: &[C],
    held: &mut [Record<C>],
    n: u32,
    #[comptime] copies: bool,
    #[comptime] kind: u32,
) {
    let i = ABSOLUTE_POS;
    let mut amounts = Record::<C>::new(C::new(0.0));
    if i < n as usize {
        let mut wanted = is_outside::<C>(&load::<C>(position, i * 4usize), domain);
        if copies {
            wanted = wanted && !is_ghost(member[i]);
        }
        if wanted {
            let mass = C::wide(velocity[i * 4usize + 3usize]);
            let capacity = capacity_of::<C>(position[i * 4usize + 3usize], mass, capacities[material[i] as usize], kind);
            amounts.insert(0usize, content::<C>(capacity, potential[i]));
        }
    }
    let total = sum_of_cube::<C>(amounts);
    if UNIT_POS == 0u32 {
        held[CUBE_POS * 2usize] = total;
    }
}
