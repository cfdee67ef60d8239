//! Contacts between grains.

use crate::cells::{cell_index, cell_number};
use crate::views::{add, coefficients, load, recall, store};
use cubecl::prelude::*;
use seixo_laws::contact::{Approach, Memory, Touch, normal_energy, press, rub, spring_energy, tangential_stiffness};
use seixo_laws::{Real, Vector3};

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

/// Contacts of grain i with the neighbors in its row `first..end` of the list.
///
/// Adds to the slot of i in `force` and `torque`, whose first slot belongs to grain `part_first`; with `once`, pairs inside the part
/// `part_first..part_end` stand in one row only and the reaction goes to the slot of j. Without `frictional` there is no history, no rotation:
/// `spin`, `history` and `torque` are not touched.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn contacts_of<R: Real>(
    i: usize,
    first: usize,
    end: usize,
    neighbors: &[u32],
    history: &mut [R],
    history_first: usize,
    position: &[R],
    velocity: &[R],
    spin: &[R],
    material: &[u32],
    materials: u32,
    table: &[R],
    force: &mut [R],
    torque: &mut [R],
    part_first: usize,
    part_end: usize,
    dt: R,
    overlap_limit: R,
    #[comptime] frictional: bool,
    #[comptime] once: bool,
) -> Tally<R> {
    let zero = R::new(0.0);
    let half = R::new(0.5);
    let x_i = load::<R>(position, i * 4usize);
    let radius_i = position[i * 4usize + 3usize];
    let v_i = load::<R>(velocity, i * 4usize);
    let mass_i = velocity[i * 4usize + 3usize];
    let row_i = material[i] * materials;
    let mut w_i = Vector3::<R>::zero();
    if frictional {
        w_i = load::<R>(spin, i * 4usize);
    }
    let mut push = Vector3::<R>::zero();
    let mut turn = Vector3::<R>::zero();
    let mut touches = zero;
    let mut normal_power = zero;
    let mut damping_power = zero;
    let mut tangential_power = zero;
    let mut excess = R::new(-1.0);
    for k in first..end {
        let j = neighbors[k] as usize;
        let d = x_i.minus(&load::<R>(position, j * 4usize));
        let radius_j = position[j * 4usize + 3usize];
        let reach = radius_i + radius_j;
        let square = d.dot(&d);
        let mut reacts = false;
        // A pair that stands in two rows books half of its work in each.
        let mut share = half;
        if once {
            reacts = j >= part_first && j < part_end;
            if reacts {
                share = R::new(1.0);
            }
        }
        if square < reach * reach {
            let distance = R::root(square);
            let overlap = reach - distance;
            let mass_j = velocity[j * 4usize + 3usize];
            let mass = mass_i + mass_j;
            // One division serves three quotients.
            let inverse = R::new(1.0) / (distance * reach * mass);
            let normal = d.times(inverse * reach * mass);
            let touch = Touch::<R> {
                overlap,
                contact_radius: R::root(radius_i * radius_j * overlap * (inverse * distance * mass)),
                effective_mass: mass_i * mass_j * (inverse * distance * reach),
            };
            let pair = coefficients::<R>(table, (row_i + material[j]) as usize);
            let v = v_i.minus(&load::<R>(velocity, j * 4usize));
            excess = max(excess, overlap - overlap_limit * min(radius_i, radius_j));
            touches += R::new(1.0);
            let mut on_i = Vector3::<R>::zero();
            if frictional {
                let arm_i = radius_i - half * overlap;
                let arm_j = radius_j - half * overlap;
                let w_j = load::<R>(spin, j * 4usize);
                let rolling = w_i.times(arm_i).plus(&w_j.times(arm_j));
                let approach = Approach::<R> {
                    velocity: v.minus(&rolling.cross(&normal)),
                    twist: half * w_i.plus(&w_j).dot(&normal),
                };
                let at = (k - history_first) * 4usize;
                let memory = Memory::<R> { force: recall::<R>(history, at), contact_radius: history[at + 3usize] };
                let response = rub::<R>(&touch, &normal, &approach, &memory, &pair, dt);
                store::<R>(history, at, &response.memory.force);
                history[at + 3usize] = response.memory.contact_radius;
                normal_power += share * response.normal_power;
                damping_power += share * response.damping_power;
                tangential_power += share * response.tangential_power;
                let bend = response.tangential.cross(&normal);
                turn = turn.plus(&bend.times(arm_i));
                on_i = normal.times(response.normal).plus(&response.tangential);
                if once {
                    if reacts {
                        add::<R>(torque, (j - part_first) * 4usize, &bend.times(arm_j));
                    }
                }
            } else {
                let pressure = press::<R>(&touch, v.dot(&normal), &pair);
                normal_power += share * pressure.power;
                on_i = normal.times(pressure.force);
            }
            push = push.plus(&on_i);
            if once {
                if reacts {
                    let slot = (j - part_first) * 4usize;
                    add::<R>(force, slot, &on_i.times(R::new(-1.0)));
                    force[slot + 3usize] += R::new(1.0);
                }
            }
        } else if frictional {
            let at = (k - history_first) * 4usize;
            if history[at + 3usize] > zero {
                store::<R>(history, at, &Vector3::<R>::zero());
                history[at + 3usize] = zero;
            }
        }
    }
    let slot = (i - part_first) * 4usize;
    add::<R>(force, slot, &push);
    force[slot + 3usize] += touches;
    if frictional {
        add::<R>(torque, slot, &turn);
    }
    Tally::<R> { normal_power, tangential_power, damping_power, wall_power: zero, excess }
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
                for x in x_first..x_last + 1u32 {
                    let cell = cell_number(shapes, g, x, y, z) as usize;
                    let first = cell_first[cell] as usize;
                    let end = cell_first[cell + 1usize] as usize;
                    for j in first..end {
                        let d = x_i.minus(&load::<R>(position, j * 4usize));
                        let radius_j = position[j * 4usize + 3usize];
                        let sum = radius_i + radius_j;
                        let square = d.dot(&d);
                        if square < sum * sum && j != i {
                            let distance = R::root(square);
                            let normal = d.times(R::new(1.0) / distance);
                            let overlap = sum - distance;
                            let mass_j = velocity[j * 4usize + 3usize];
                            let touch = Touch::<R> {
                                overlap,
                                contact_radius: R::root(radius_i * radius_j / sum * overlap),
                                effective_mass: mass_i * mass_j / (mass_i + mass_j),
                            };
                            let pair = coefficients::<R>(table, (row_i + material[j]) as usize);
                            let v = v_i.minus(&load::<R>(velocity, j * 4usize));
                            let pressure = press::<R>(&touch, v.dot(&normal), &pair);
                            normal_power += R::new(0.5) * pressure.power;
                            push = push.plus(&normal.times(pressure.force));
                            touches += R::new(1.0);
                            excess = max(excess, overlap - overlap_limit * min(radius_i, radius_j));
                        }
                    }
                }
            }
        }
    }
    add::<R>(force, slot * 4usize, &push);
    force[slot * 4usize + 3usize] += touches;
    Tally::<R> { normal_power, tangential_power: zero, damping_power: zero, wall_power: zero, excess }
}

/// Energy stored in contacts \[J\].
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, Default, PartialEq)]
pub struct Stored<R: Real> {
    /// In normal springs.
    pub normal: R,
    /// In tangential springs.
    pub tangential: R,
}

/// Energy stored in the contacts of row `first..end` of grain i; arguments as in [`contacts_of`].
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
            let touch = Touch::<R> { overlap, contact_radius, effective_mass: R::new(0.0) };
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
/// the old row of the partner. `old_of` gives each grain's place in the old order; `history` starts at entry `history_first`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn carry_history_of<R: Real>(
    i: usize,
    first: usize,
    end: usize,
    neighbors: &[u32],
    history: &mut [R],
    history_first: usize,
    old_of: &[u32],
    old_row: &[u32],
    old_neighbors: &[u32],
    old_history: &[R],
) {
    let old_i = old_of[i] as usize;
    for k in first..end {
        let at = (k - history_first) * 4usize;
        let old_j = old_of[neighbors[k] as usize] as usize;
        store::<R>(history, at, &Vector3::<R>::zero());
        history[at + 3usize] = R::new(0.0);
        for q in old_row[old_i] as usize..old_row[old_i + 1usize] as usize {
            if old_neighbors[q] as usize == old_j {
                store::<R>(history, at, &load::<R>(old_history, q * 4usize));
                history[at + 3usize] = old_history[q * 4usize + 3usize];
            }
        }
        if history[at + 3usize] == R::new(0.0) {
            for q in old_row[old_j] as usize..old_row[old_j + 1usize] as usize {
                if old_neighbors[q] as usize == old_i {
                    store::<R>(history, at, &load::<R>(old_history, q * 4usize).times(R::new(-1.0)));
                    history[at + 3usize] = old_history[q * 4usize + 3usize];
                }
            }
        }
    }
}
