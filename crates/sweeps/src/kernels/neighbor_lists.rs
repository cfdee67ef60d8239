//! Rebuild of cells and neighbor lists.

use super::bodies::FREELY;
use super::{DONE, HALTED, THREADS, put_sum};
use crate::bodies::{FREE, REMOVED, is_carried, is_ghost};
use crate::buckets::bucket_of_grain;
use crate::cells::{cell_of, class_of};
use crate::entries::{TILE, first_entry};
use crate::layout::{Record, WALL_CONTACT, between_steps, kept_beside, last, load, record, xyz};
use crate::motion::StepParameters;
use crate::neighbors::{RowPlan, neighbors_of, overlapped_cells};
use crate::periodic::{PeriodicBoundaries, wrap};
use crate::wall::elements_near;
use cubecl::prelude::*;
use seixo_laws::motion::{gravity_energy, kinetic_energy};
use seixo_laws::{Coordinate, Real, Vector3, larger, smaller, widened};

/// Blocks that reduce the bounding box of all grains.
pub const BOUNDS: usize = 256;

/// A coordinate larger than all others.
pub(super) const FAR: f32 = 1.0e37;

/// Tiles of the grains of a block.
const TILES_OF_BLOCK: usize = THREADS / TILE;

/// Index of the second word that halts steps.
const HALTED_TOO: usize = HALTED + 1;

/// Bounding box of the grains of each of [`BOUNDS`] blocks: lower corner and number of grains, and upper corner. Grains outside of the domain, whose
/// corners are in `domain`, do not count; with `free_only`, neither do those that `member` does not mark as free.
#[cube(launch)]
pub fn bounds<C: Real>(
    position: &[Record<C>],
    domain: &[C],
    member: &[u32],
    corners: &mut [Record<C>],
    n: u32,
    #[comptime] free_only: bool,
) {
    let far = C::new(FAR);
    let mut low = Vector3::<C> { x: far, y: far, z: far };
    let mut high = low.times(C::new(-1.0));
    let mut kept = C::new(0.0);
    let mut i = ABSOLUTE_POS;
    while i < n as usize {
        let p = xyz::<C>(position[i]);
        let mut counts = !is_outside::<C>(&p, domain);
        if free_only {
            counts = counts && member[i] == FREE;
        }
        if counts {
            low = lower::<C>(&low, &p);
            high = upper::<C>(&high, &p);
            kept += C::new(1.0);
        }
        i += 65536usize;
    }
    put_corners::<C>(&low, &high, kept, corners);
}

/// As [`bounds()`], for n grains anywhere after queued steps. `even` holds their positions if an even number of steps was taken, which `flags` counts,
/// and `odd` if an odd one. The box is that of no grains, unless something halted the steps, here or in another subdomain, or `is_last` is 1.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn bounds_after_steps<C: Real>(
    even: &[Record<C>],
    odd: &[Record<C>],
    flags: &[u32],
    member: &[u32],
    corners: &mut [Record<C>],
    n: u32,
    is_last: u32,
    #[comptime] free_only: bool,
) {
    let far = C::new(FAR);
    let mut low = Vector3::<C> { x: far, y: far, z: far };
    let mut high = low.times(C::new(-1.0));
    let mut kept = C::new(0.0);
    let mut end = 0u32;
    if flags[HALTED] != 0u32 || flags[HALTED_TOO] != 0u32 || is_last == 1u32 {
        end = n;
    }
    let is_odd = flags[DONE] % 2u32 == 1u32;
    let mut i = ABSOLUTE_POS;
    while i < end as usize {
        let mut p = xyz::<C>(even[i]);
        if is_odd {
            p = xyz::<C>(odd[i]);
        }
        let mut counts = end > 0u32;
        if free_only {
            counts = member[i] == FREE;
        }
        if counts {
            low = lower::<C>(&low, &p);
            high = upper::<C>(&high, &p);
            kept += C::new(1.0);
        }
        i += 65536usize;
    }
    put_corners::<C>(&low, &high, kept, corners);
}

/// Writes the box around the boxes of all threads of a block, and the sum of their numbers of grains.
#[cube]
pub(super) fn put_corners<C: Real>(low: &Vector3<C>, high: &Vector3<C>, kept: C, corners: &mut [Record<C>]) {
    let unit = UNIT_POS as usize;
    let mut lows = Shared::<[Record<C>]>::new_slice(THREADS);
    let mut highs = Shared::<[Record<C>]>::new_slice(THREADS);
    lows[unit] = record::<C>(low, kept);
    highs[unit] = record::<C>(high, C::new(0.0));
    sync_cube();
    let mut reach = 128usize;
    while reach > 0usize {
        if unit < reach {
            let both = last::<C>(lows[unit]) + last::<C>(lows[unit + reach]);
            lows[unit] = record::<C>(&lower::<C>(&xyz::<C>(lows[unit]), &xyz::<C>(lows[unit + reach])), both);
            highs[unit] = record::<C>(&upper::<C>(&xyz::<C>(highs[unit]), &xyz::<C>(highs[unit + reach])), C::new(0.0));
        }
        sync_cube();
        reach /= 2usize;
    }
    if unit == 0usize {
        corners[CUBE_POS * 2usize] = lows[0];
        corners[CUBE_POS * 2usize + 1usize] = highs[0];
    }
}

/// Whether a point is outside of the domain.
#[cube]
pub(super) fn is_outside<C: Real>(p: &Vector3<C>, domain: &[C]) -> bool {
    let low = load::<C>(domain, 0usize);
    let high = load::<C>(domain, 3usize);
    p.x < low.x || p.y < low.y || p.z < low.z || p.x > high.x || p.y > high.y || p.z > high.z
}

/// The lower bounds of two points along each axis.
#[cube]
pub(super) fn lower<C: Real>(a: &Vector3<C>, b: &Vector3<C>) -> Vector3<C> {
    Vector3::<C> {
        x: smaller::<C>(a.x, b.x),
        y: smaller::<C>(a.y, b.y),
        z: smaller::<C>(a.z, b.z),
    }
}

/// The upper bounds of two points along each axis.
#[cube]
pub(super) fn upper<C: Real>(a: &Vector3<C>, b: &Vector3<C>) -> Vector3<C> {
    Vector3::<C> {
        x: larger::<C>(a.x, b.x),
        y: larger::<C>(a.y, b.y),
        z: larger::<C>(a.z, b.z),
    }
}

/// The cell of every grain; `cells` for grains outside of the domain. Both corners of the domain are in `domain`. With `removes`, grains that `member` marks
/// as removed get keys after those, see [`crate::kernels::domain::REMOVED_KEYS`].
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn keys<C: Real>(
    position: &[C],
    grids: &[C],
    shapes: &[u32],
    domain: &[C],
    member: &[u32],
    key: &mut [u32],
    number_of_grids: u32,
    cells: u32,
    n: u32,
    #[comptime] rows: bool,
    #[comptime] removes: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let p = load::<C>(position, i * 4usize);
        let class = class_of::<C>(position[i * 4usize + 3usize], grids, number_of_grids as usize);
        let mut cell = cell_of::<C>(&p, grids, shapes, class, rows);
        if is_outside::<C>(&p, domain) {
            cell = cells;
        }
        if removes {
            if member[i] == REMOVED {
                cell = cells + 1u32 + i as u32 % 1024u32;
            }
        }
        key[i] = cell;
    }
}

/// Puts ids, materials, positions and velocities into a new order: item i of each becomes item `order[i]`. With `frictional`, angular velocities too.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn reorder_motion<R: Real, C: Real>(
    order: &[u32],
    id: &[u32],
    material: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    sorted_id: &mut [u32],
    sorted_material: &mut [u32],
    sorted_position: &mut [Record<C>],
    sorted_velocity: &mut [Record<R>],
    sorted_spin: &mut [Record<R>],
    n: u32,
    #[comptime] frictional: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let old = order[i] as usize;
        sorted_id[i] = id[old];
        sorted_material[i] = material[old];
        sorted_position[i] = position[old];
        sorted_velocity[i] = velocity[old];
        if frictional {
            sorted_spin[i] = spin[old];
        }
    }
}

/// Puts groups, velocities between steps and, with `frictional`, angular velocities between steps into a new order, and stores the positions, which are
/// in it already, as those of the list rebuild. With `marked`, member numbers too. With `indexed`, `place_of` gets the new index of each item.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn reorder_rest<R: Real, C: Real>(
    order: &[u32],
    group: &[u32],
    half_velocity: &[Record<R>],
    half_spin: &[Record<R>],
    position: &[Record<C>],
    member: &[u32],
    sorted_group: &mut [u32],
    sorted_half_velocity: &mut [Record<R>],
    sorted_half_spin: &mut [Record<R>],
    reference: &mut [Record<C>],
    sorted_member: &mut [u32],
    place_of: &mut [u32],
    n: u32,
    #[comptime] frictional: bool,
    #[comptime] marked: bool,
    #[comptime] indexed: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let old = order[i] as usize;
        sorted_group[i] = group[old];
        sorted_half_velocity[i] = half_velocity[old];
        reference[i] = position[i];
        if frictional {
            sorted_half_spin[i] = half_spin[old];
        }
        if marked {
            sorted_member[i] = member[old];
        }
        if indexed {
            place_of[old] = i as u32;
        }
    }
}

/// Wraps grains that left through periodic sides. The change of their energies is summed by block into the first number of `energy`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn wrap_grains<R: Real, C: Coordinate<R>>(
    position: &mut [Record<C>],
    velocity: &mut [Record<R>],
    half_velocity: &mut [Record<R>],
    energy: &mut [Record<C>],
    member: &[u32],
    stepping: &StepParameters<C, R>,
    n: u32,
    #[comptime] carries: bool,
) {
    let i = ABSOLUTE_POS;
    let mut gained = Record::<C>::new(C::new(0.0));
    if i < n as usize {
        let before = xyz::<C>(position[i]);
        let returned = wrap::<C, R>(&before, &stepping.sides);
        let moved = returned.position.minus(&before);
        if moved.dot(&moved) > C::new(0.0) {
            let mass = C::wide(last::<R>(velocity[i]));
            let was = xyz::<R>(velocity[i]);
            let slowed = stepping.sides.slide.times(C::near(returned.passed));
            let is = was.minus(&slowed);
            let kinetic = kinetic_energy::<C>(mass, &widened::<C, R>(&is)) - kinetic_energy::<C>(mass, &widened::<C, R>(&was));
            let mut by_sides = kinetic + gravity_energy::<C>(mass, &widened::<C, R>(&stepping.gravity), &moved);
            if carries {
                // Grains of bodies are wrapped with their bodies.
                if member[i] != FREE {
                    by_sides = C::new(0.0);
                }
            }
            gained.insert(0usize, by_sides);
            let half = half_velocity[i];
            let kept = between_steps::<C, R>(velocity[i], half).minus(&widened::<C, R>(&slowed));
            position[i] = record::<C>(&returned.position, last::<C>(position[i]));
            velocity[i] = record::<R>(&is, last::<R>(velocity[i]));
            half_velocity[i] = kept_beside::<C, R>(&kept, &is, last::<R>(half));
        }
    }
    put_sum::<C>(energy, gained);
}

/// Writes the number of neighbors of each of n grains to `out`, and the entries of each tile to `sizes`, or, if the plan fills rows, the neighbors of each
/// grain to its row. `all` is the number of grains among which neighbors are searched. With `copies`, ghost particles, which `member` marks, get no
/// neighbors.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn neighbor_rows<C: Real>(
    position: &[C],
    grids: &[C],
    shapes: &[u32],
    first: &[u32],
    items: &[u32],
    tile_first: &[u32],
    member: &[u32],
    out: &mut [u32],
    sizes: &mut [u32],
    sides: &PeriodicBoundaries<C, C>,
    skin: C,
    number_of_grids: u32,
    all: u32,
    n: u32,
    #[comptime] plan: RowPlan,
    #[comptime] copies: bool,
) {
    let i = ABSOLUTE_POS;
    let mut has_row = i < n as usize;
    if copies {
        if has_row {
            has_row = !is_ghost(member[i]);
            if !plan.fill {
                out[i] = 0u32;
            }
        }
    }
    let mut length = 0u32.runtime();
    if has_row {
        let mut at = 0usize;
        if plan.fill {
            at = first_entry(i, tile_first);
        }
        let count = neighbors_of::<C>(
            i,
            position,
            all as usize,
            grids,
            shapes,
            number_of_grids as usize,
            first,
            items,
            skin,
            0usize,
            0usize,
            at,
            out,
            sides,
            plan,
        );
        if !plan.fill {
            out[i] = count;
            length = count;
        }
    }
    if !plan.fill {
        put_tile_sizes(length, sizes, n);
    }
}

/// The buckets of the n grains from index `start` on.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn buckets<C: Real>(
    position: &[C],
    grids: &[C],
    shapes: &[u32],
    key: &mut [u32],
    owners: &mut [u32],
    number_of_tables: u32,
    start: u32,
    n: u32,
) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let i = start as usize + k;
        key[k] = bucket_of_grain::<C>(i, position, grids, shapes, number_of_tables as usize);
        owners[k] = i as u32;
    }
}

/// The buckets of n grains, whose indices are `owners`.
#[cube(launch)]
pub fn buckets_of_listed<C: Real>(
    position: &[C],
    grids: &[C],
    shapes: &[u32],
    owners: &[u32],
    key: &mut [u32],
    number_of_tables: u32,
    n: u32,
) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        key[k] = bucket_of_grain::<C>(owners[k] as usize, position, grids, shapes, number_of_tables as usize);
    }
}

/// Marks the grains that may move: 1, or 0 for members of bodies that are `at_rest`.
#[cube(launch)]
pub fn mark_moving(member: &[u32], at_rest: &[u32], marks: &mut [u32], n: u32) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut mark = 1u32;
        if is_carried(member[i]) {
            mark = 1u32 - at_rest[member[i] as usize];
        }
        marks[i] = mark;
    }
}

/// Sets `moved` to 1 if one of n grains is not at its recorded position. Their indices are `place`.
#[cube(launch)]
pub fn note_moved<C: Real>(position: &[Record<C>], place: &[u32], recorded: &[Record<C>], moved: &mut [u32], n: u32) {
    let k = ABSOLUTE_POS;
    if k < n as usize {
        let now = xyz::<C>(position[place[k] as usize]);
        let was = xyz::<C>(recorded[k]);
        if now.x < was.x || now.y < was.y || now.z < was.z || now.x > was.x || now.y > was.y || now.z > was.z {
            moved[0] = 1u32;
        }
    }
}

/// Appends tables of n grains that never move, whose indices are `place`, to those of the `moving` others: after their `firsts` entries of `first`.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn append_tables(
    first_of_static: &[u32],
    static_items: &[u32],
    place: &[u32],
    first: &mut [u32],
    items: &mut [u32],
    moving: u32,
    firsts: u32,
    appended: u32,
    n: u32,
) {
    let k = ABSOLUTE_POS;
    if k < appended as usize {
        first[firsts as usize + k] = moving + first_of_static[k];
    }
    if k < n as usize {
        items[moving as usize + k] = place[static_items[k] as usize];
    }
}

/// Writes the number of cells that the box of every grain overlaps to `cells`. With `fill`, writes the numbers of these cells to `cells` and their
/// grains to `owners`, from the grain's entry of `row` on.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn cells_of_boxes<C: Real>(
    position: &[C],
    grids: &[C],
    shapes: &[u32],
    row: &[u32],
    cells: &mut [u32],
    owners: &mut [u32],
    skin: C,
    n: u32,
    #[comptime] fill: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize {
        let mut at = 0usize;
        if fill {
            at = row[i] as usize;
        }
        let count = overlapped_cells::<C>(i, position, grids, shapes, skin, at, cells, owners, fill);
        if !fill {
            cells[i] = count;
        }
    }
}

/// Writes the entries of each tile of 32 grains: its longest row times 32. Each thread has the length of the row of its grain, or zero without one. All
/// threads of a block must call it.
#[cube]
pub(super) fn put_tile_sizes(length: u32, sizes: &mut [u32], n: u32) {
    // Other shared memory of the kernel may be at the same place.
    sync_cube();
    let mut lengths = Shared::<[u32]>::new_slice(THREADS);
    let unit = UNIT_POS as usize;
    lengths[unit] = length;
    sync_cube();
    let tile = CUBE_POS * TILES_OF_BLOCK + unit;
    if unit < TILES_OF_BLOCK && tile * TILE < n as usize {
        let mut most = 0u32;
        for k in 0..TILE {
            most = max(most, lengths[unit * TILE + k]);
        }
        sizes[tile] = most * TILE as u32;
    }
}

/// Sums the lengths of n rows: one sum for each of [`BOUNDS`] blocks.
#[cube(launch)]
pub fn sum_lengths(count: &[u32], sums: &mut [u32], n: u32) {
    let mut shared = Shared::<[u32]>::new_slice(THREADS);
    let unit = UNIT_POS as usize;
    let mut own = 0u32;
    let mut i = ABSOLUTE_POS;
    while i < n as usize {
        own += count[i];
        i += 65536usize;
    }
    shared[unit] = own;
    sync_cube();
    let mut reach = 128usize;
    while reach > 0usize {
        if unit < reach {
            let other = shared[unit + reach];
            shared[unit] += other;
        }
        sync_cube();
        reach /= 2usize;
    }
    if unit == 0usize {
        sums[CUBE_POS] = shared[0];
    }
}

/// Number of wall elements near every grain. Grains of bodies with prescribed motion have none.
///
/// With `fill`, writes the elements near each of the n grains whose indices are `place`, to rows that start at `row`, and sets the contacts of these entries
/// to none. Also writes what [`walls()`](crate::kernels::wall_forces::walls()) reads first to `leads`: the index of the grain, the first entry and the end of
/// its row, and the element of that entry. Otherwise each of these reads waits for the one before.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn wall_rows<C: Real>(
    position: &[C],
    elements: &[C],
    planes: &[u32],
    grid: &[C],
    shape: &[u32],
    cell_first: &[u32],
    cell_list: &[u32],
    row: &[u32],
    place: &[u32],
    member: &[u32],
    touching: &[u32],
    is_held: &[u32],
    out: &mut [u32],
    wall_contacts: &mut [C],
    leads: &mut [u32],
    skin: C,
    number_of_planes: u32,
    n: u32,
    #[comptime] fill: bool,
    #[comptime] carries: bool,
) {
    let mut i = ABSOLUTE_POS;
    if i < n as usize {
        let mut at = 0usize;
        if fill {
            i = place[i] as usize;
            at = row[i] as usize;
        }
        let mut is_free = true;
        if comptime!(carries && !fill) {
            if is_ghost(member[i]) {
                // Another subdomain owns it.
                is_free = false;
            } else if member[i] != FREE {
                is_free = is_held[touching[member[i] as usize] as usize] == FREELY;
            }
        }
        let mut count = 0u32;
        if is_free {
            count = elements_near::<C>(
                i,
                position,
                elements,
                planes,
                number_of_planes as usize,
                grid,
                shape,
                cell_first,
                cell_list,
                skin,
                at,
                out,
                fill,
            );
        }
        if fill {
            let end = row[i + 1usize];
            let lead = ABSOLUTE_POS * 4usize;
            leads[lead] = i as u32;
            leads[lead + 1usize] = at as u32;
            leads[lead + 2usize] = end;
            leads[lead + 3usize] = out[at];
            for number in at * WALL_CONTACT..end as usize * WALL_CONTACT {
                wall_contacts[number] = C::new(0.0);
            }
        } else {
            out[i] = count;
        }
    }
}

/// Copies the histories of wall contacts from the old list to the new, for the n grains near walls, whose indices are `place`. They are zero for a new
/// element, and for a new grain, whose old index is `known` or above. A grain that was wrapped at a periodic side is near another image of the element,
/// which gets the history.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn carry_wall_histories<R: Real, C: Real>(
    row: &[u32],
    list: &[u32],
    elements: &[C],
    history: &mut [R],
    place: &[u32],
    old_of: &[u32],
    old_row: &[u32],
    old_list: &[u32],
    old_history: &[R],
    known: u32,
    n: u32,
    #[comptime] numbers: usize,
) {
    if ABSOLUTE_POS < n as usize {
        let i = place[ABSOLUTE_POS] as usize;
        let mut from = 0usize;
        let mut to = 0usize;
        if old_of[i] < known {
            from = old_row[old_of[i] as usize] as usize;
            to = old_row[old_of[i] as usize + 1usize] as usize;
        }
        for k in row[i] as usize..row[i + 1usize] as usize {
            #[unroll]
            for c in 0..numbers {
                history[k * numbers + c] = R::new(0.0);
            }
            for q in from..to {
                if old_list[q] == list[k] {
                    #[unroll]
                    for c in 0..numbers {
                        history[k * numbers + c] = old_history[q * numbers + c];
                    }
                }
            }
        }
        let mark = comptime!(if numbers == 12usize { 9usize } else { 3usize });
        for q in from..to {
            if old_history[q * numbers + mark] > R::new(0.0) {
                let k = entry_of_origin::<C>(old_list[q], row[i], row[i + 1usize], list, elements);
                if k < row[i + 1usize] {
                    #[unroll]
                    for c in 0..numbers {
                        history[k as usize * numbers + c] = old_history[q * numbers + c];
                    }
                }
            }
        }
    }
}

/// Entry of a wall element in the row of a grain: the element itself, or the first image of the same origin; `end` if there is none.
#[cube]
pub(super) fn entry_of_origin<C: Real>(element: u32, first: u32, end: u32, list: &[u32], elements: &[C]) -> u32 {
    let origin = elements[element as usize * 12usize + 11usize];
    let mut found = end;
    for k in first..end {
        if elements[list[k as usize] as usize * 12usize + 11usize] == origin {
            if found == end {
                found = k;
            }
        }
    }
    for k in first..end {
        if list[k as usize] == element {
            found = k;
        }
    }
    found
}
