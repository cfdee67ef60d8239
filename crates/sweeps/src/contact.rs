//! Contacts between grains.

use crate::cells::{cell_index, cell_number};
use crate::pair::{Pair, push_apart, rub_together};
use crate::views::{add, coefficients, load, recall, store};
use cubecl::prelude::*;
use seixo_laws::contact::{Memory, Touch, normal_energy, spring_energy, tangential_stiffness};
use seixo_laws::{Real, Vector3, larger, smaller};

/// Where the work of contacts went in one step, and how deep the deepest was.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally<R: Real> {
    /// Power taken by normal damping \[W\].
    pub normal_power: R,
    /// Power taken by tangential forces: into springs, by damping, by sliding \[W\].
    pub tangential_power: R,
    /// The part of it that damping takes \[W\].
    pub damping_power: R,
    /// Power that moving walls put in \[W\].
    pub wall_power: R,
    /// How far the deepest overlap is above the limit \[m\]; negative below it.
    pub excess: R,
}

/// Contacts of grain i with the neighbors in its row `first..end` of the full list, history included; writes slot i of `force` and
/// `torque` and the row's records of `history`.
///
/// `touched` holds the tick at which each entry last touched: what an entry remembers counts only if that was the tick before `tick`, so
/// that entries which do not touch cost neither a read nor a reset.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn contacts_of<R: Real>(
    i: usize,
    first: usize,
    end: usize,
    neighbors: &[u32],
    history: &mut [R],
    touched: &mut [u32],
    tick: u32,
    position: &[R],
    velocity: &[R],
    spin: &[R],
    material: &[u32],
    materials: u32,
    table: &[R],
    force: &mut [R],
    torque: &mut [R],
    dt: R,
    overlap_limit: R,
) -> Tally<R> {
    let zero = R::new(0.0);
    let half = R::new(0.5);
    let x_i = load::<R>(position, i * 4usize);
    let radius_i = position[i * 4usize + 3usize];
    let v_i = load::<R>(velocity, i * 4usize);
    let mass_i = velocity[i * 4usize + 3usize];
    let w_i = load::<R>(spin, i * 4usize);
    let mut push = Vector3::<R>::zero();
    let mut turn = Vector3::<R>::zero();
    let mut touches = zero;
    let mut normal_power = zero;
    let mut tangential_power = zero;
    let mut damping_power = zero;
    let mut excess = R::new(-1.0);
    for k in first..end {
        let j = neighbors[k] as usize;
        let apart = x_i.minus(&load::<R>(position, j * 4usize));
        let radius_j = position[j * 4usize + 3usize];
        let reach = radius_i + radius_j;
        if apart.dot(&apart) < reach * reach {
            let coefficients = coefficients::<R>(table, (material[i] * materials + material[j]) as usize);
            let velocity_ij = v_i.minus(&load::<R>(velocity, j * 4usize));
            let pair = Pair::<R> {
                apart,
                velocity: velocity_ij,
                radius_i,
                radius_j,
                mass_i,
                mass_j: velocity[j * 4usize + 3usize],
            };
            let mut kept = zero;
            if touched[k] + 1u32 == tick {
                kept = R::new(1.0);
            }
            let memory = Memory::<R> {
                force: recall::<R>(history, k * 4usize).times(kept),
                contact_radius: history[k * 4usize + 3usize] * kept,
            };
            touched[k] = tick;
            let outcome = rub_together::<R>(&pair, &w_i, &load::<R>(spin, j * 4usize), &memory, &coefficients, dt);
            store::<R>(history, k * 4usize, &outcome.memory.force);
            history[k * 4usize + 3usize] = outcome.memory.contact_radius;
            // Each of the two grains books half of the contact's work.
            normal_power += half * outcome.normal_power;
            tangential_power += half * outcome.tangential_power;
            damping_power += half * outcome.damping_power;
            excess = larger::<R>(
                excess,
                radius_i + radius_j - pair.apart.length() - overlap_limit * smaller::<R>(radius_i, radius_j),
            );
            push = push.plus(&outcome.force);
            turn = turn.plus(&outcome.bend.times(outcome.arm_i));
            touches += R::new(1.0);
        }
    }
    add::<R>(force, i * 4usize, &push);
    force[i * 4usize + 3usize] += touches;
    add::<R>(torque, i * 4usize, &turn);
    Tally::<R> {
        normal_power,
        tangential_power,
        damping_power,
        wall_power: zero,
        excess,
    }
}

/// Normal forces between grain i and all grains that touch it, found through the cells and pressed in one go: no list, no history, no
/// rotation (S0's normal-only path). Cells may be out of date by motions of up to half a `skin` each. Writes slot i of `force`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn press_through_cells<R: Real>(
    i: usize,
    slot: usize,
    position: &[R],
    velocity: &[R],
    material: &[u32],
    materials: u32,
    table: &[R],
    grids: &[R],
    shapes: &[u32],
    number_of_grids: usize,
    cell_first: &[u32],
    skin: R,
    overlap_limit: R,
    force: &mut [R],
) -> Tally<R> {
    let zero = R::new(0.0);
    let x_i = load::<R>(position, i * 4usize);
    let radius_i = position[i * 4usize + 3usize];
    let v_i = load::<R>(velocity, i * 4usize);
    let mass_i = velocity[i * 4usize + 3usize];
    let row_i = material[i] * materials;
    let mut push = Vector3::<R>::zero();
    let mut touches = zero;
    let mut normal_power = zero;
    let mut excess = R::new(-1.0);
    for g in 0..number_of_grids {
        let grid = g * 8usize;
        let reach = radius_i + grids[grid + 4usize] + skin;
        let scale = grids[grid + 3usize];
        let x_first = cell_index::<R>(x_i.x - reach, grids[grid], scale, shapes[grid]);
        let x_last = cell_index::<R>(x_i.x + reach, grids[grid], scale, shapes[grid]);
        let y_first = cell_index::<R>(x_i.y - reach, grids[grid + 1usize], scale, shapes[grid + 1usize]);
        let y_last = cell_index::<R>(x_i.y + reach, grids[grid + 1usize], scale, shapes[grid + 1usize]);
        let z_first = cell_index::<R>(x_i.z - reach, grids[grid + 2usize], scale, shapes[grid + 2usize]);
        let z_last = cell_index::<R>(x_i.z + reach, grids[grid + 2usize], scale, shapes[grid + 2usize]);
        for z in z_first..z_last + 1u32 {
            for y in y_first..y_last + 1u32 {
                let mut x = x_first;
                while x <= x_last {
                    // Cells of one row of a block follow each other in number: their grains are one range.
                    let x_end = min(x_last, x | 7u32);
                    let first = cell_first[cell_number(shapes, g, x, y, z) as usize] as usize;
                    let end = cell_first[cell_number(shapes, g, x_end, y, z) as usize + 1usize] as usize;
                    x = x_end + 1u32;
                    for j in first..end {
                        let apart = x_i.minus(&load::<R>(position, j * 4usize));
                        let radius_j = position[j * 4usize + 3usize];
                        let sum = radius_i + radius_j;
                        if apart.dot(&apart) < sum * sum && j != i {
                            let coefficients = coefficients::<R>(table, (row_i + material[j]) as usize);
                            let velocity_ij = v_i.minus(&load::<R>(velocity, j * 4usize));
                            let mass_j = velocity[j * 4usize + 3usize];
                            let pair = Pair::<R> {
                                apart,
                                velocity: velocity_ij,
                                radius_i,
                                radius_j,
                                mass_i,
                                mass_j,
                            };
                            let outcome = push_apart::<R>(&pair, &coefficients);
                            normal_power += R::new(0.5) * outcome.normal_power;
                            push = push.plus(&outcome.force);
                            touches += R::new(1.0);
                            excess = larger::<R>(excess, sum - pair.apart.length() - overlap_limit * smaller::<R>(radius_i, radius_j));
                        }
                    }
                }
            }
        }
    }
    add::<R>(force, slot * 4usize, &push);
    force[slot * 4usize + 3usize] += touches;
    Tally::<R> {
        normal_power,
        tangential_power: zero,
        damping_power: zero,
        wall_power: zero,
        excess,
    }
}

/// Energy stored in contacts \[J\].
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, Default, PartialEq)]
pub struct Stored<R: Real> {
    /// In normal springs.
    pub normal: R,
    /// In tangential springs.
    pub tangential: R,
}

/// Energy stored in the contacts of row `first..end` of grain i; arguments as in [`contacts_of()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn stored_in_contacts_of<R: Real>(
    i: usize,
    first: usize,
    end: usize,
    neighbors: &[u32],
    history: &[R],
    position: &[R],
    material: &[u32],
    materials: u32,
    table: &[R],
    part_first: usize,
    part_end: usize,
    #[comptime] frictional: bool,
    #[comptime] once: bool,
) -> Stored<R> {
    let x_i = load::<R>(position, i * 4usize);
    let radius_i = position[i * 4usize + 3usize];
    let mut normal = R::new(0.0);
    let mut tangential = R::new(0.0);
    for k in first..end {
        let j = neighbors[k] as usize;
        let radius_j = position[j * 4usize + 3usize];
        let reach = radius_i + radius_j;
        let distance = x_i.minus(&load::<R>(position, j * 4usize)).length();
        if distance < reach {
            let mut share = R::new(0.5);
            if once {
                if j >= part_first && j < part_end {
                    share = R::new(1.0);
                }
            }
            let overlap = reach - distance;
            let contact_radius = R::root(radius_i * radius_j / reach * overlap);
            let touch = Touch::<R> {
                overlap,
                contact_radius,
                effective_mass: R::new(0.0),
            };
            let pair = coefficients::<R>(table, (material[i] * materials + material[j]) as usize);
            normal += share * normal_energy::<R>(&touch, &pair);
            if frictional {
                let spring = tangential_stiffness::<R>(contact_radius, &pair);
                tangential += share * spring_energy::<R>(&load::<R>(history, k * 4usize), spring);
            }
        }
    }
    Stored::<R> { normal, tangential }
}

/// Takes the history of the pairs in row `first..end` of grain i over from the old list: from the old row of i, or with opposite sign from
/// the old row of the partner. `old_of` gives each grain's place in the old order; `neighbors`, `history` and `touched` start at the entry
/// that `first` counts from. Only what touched at `last_tick` is remembered.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn carry_history_of<R: Real>(
    i: usize,
    first: usize,
    end: usize,
    neighbors: &[u32],
    history: &mut [R],
    touched: &mut [u32],
    last_tick: u32,
    old_of: &[u32],
    old_row: &[u32],
    old_neighbors: &[u32],
    old_history: &[R],
    old_touched: &[u32],
) {
    let old_i = old_of[i] as usize;
    for k in first..end {
        let old_j = old_of[neighbors[k] as usize] as usize;
        touched[k] = 0u32;
        for q in old_row[old_i] as usize..old_row[old_i + 1usize] as usize {
            if old_neighbors[q] as usize == old_j && old_touched[q] == last_tick {
                store::<R>(history, k * 4usize, &load::<R>(old_history, q * 4usize));
                history[k * 4usize + 3usize] = old_history[q * 4usize + 3usize];
                touched[k] = last_tick;
            }
        }
        if touched[k] == 0u32 {
            for q in old_row[old_j] as usize..old_row[old_j + 1usize] as usize {
                if old_neighbors[q] as usize == old_i && old_touched[q] == last_tick {
                    store::<R>(history, k * 4usize, &load::<R>(old_history, q * 4usize).times(R::new(-1.0)));
                    history[k * 4usize + 3usize] = old_history[q * 4usize + 3usize];
                    touched[k] = last_tick;
                }
            }
        }
    }
}
