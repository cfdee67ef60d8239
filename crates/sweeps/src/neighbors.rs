//! Neighbors of a grain. All search structures give the same neighbors, each once.
//!
//! ```
//! use seixo_sweeps::layout::load;
//! use seixo_sweeps::neighbors::{NeighborQuery, RowPlan, SearchStructure, is_listed};
//! let positions = [0.0, 0.0, 0.0, 1.0, 2.1, 0.0, 0.0, 1.0, 5.0, 0.0, 0.0, 1.0];
//! let plan = RowPlan { lookup: SearchStructure::All, stride: 1, once: true, fill: true, sides: 0 };
//! let lists = |place: usize, other: usize| {
//!     let position = load::<f64>(&positions, 4 * place);
//!     let query = NeighborQuery::<f64> { place, position, radius: 1.0, skin: 0.2, part_first: 0, part_end: 3 };
//!     is_listed::<f64>(&query, &positions, other, plan)
//! };
//! // A pair inside a part is listed once, and not at all if its grains are farther apart than the skin.
//! assert_eq!([lists(0, 1), lists(1, 0), lists(0, 2)], [true, false, false]);
//! ```

use crate::buckets::{bucket_of, is_in_cell};
use crate::cells::{Run, Span, cell_number, cells_around, next_run, walk_around};
use crate::layout::{RECORD, load};
use crate::periodic::{PeriodicBoundaries, image_shift, reaches_domain};
use cubecl::prelude::*;
use seixo_laws::{Real, Vector3, larger};

/// Search structure for neighbors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchStructure {
    /// All pairs of grains \[ME964 2011\].
    All,
    /// Cells of uniform grids in which grains are sorted, one grid per size class \[PUC-Rio 2009, § 5.1.1\].
    #[default]
    Grids,
    /// All cells that the box of a grain overlaps; every grain is in each of these cells \[PUC-Rio 2009, § 5.1.2, after Ivson et al.\].
    TouchedCells,
    /// Hash tables, one per size class \[Silva 2010, § 4.2 and Algorithm 2\].
    Buckets,
    /// The same for grains that may move, followed by as many tables of grains that never move \[Silva 2010, § 4.2\]. Rows have the order of
    /// [`SearchStructure::Buckets`].
    DividedBuckets,
}

/// Layout of rows of neighbors, for which kernels and loops are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowPlan {
    /// Search structure.
    pub lookup: SearchStructure,
    /// Numbers from one entry of a row to the next.
    pub stride: usize,
    /// Whether a pair inside a part is listed only by its first member. Pairs across the border of a part are listed by both.
    pub once: bool,
    /// Whether entries are written, or only counted.
    pub fill: bool,
    /// Which sides are periodic, see [`crate::periodic`].
    pub sides: u32,
}

/// The grain whose neighbors are searched.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct NeighborQuery<R: Real> {
    /// Its index.
    pub place: usize,
    /// Its center \[m\].
    pub position: Vector3<R>,
    /// Its radius \[m\].
    pub radius: R,
    /// Largest distance of surfaces that count as near \[m\].
    pub skin: R,
    /// First index of its part.
    pub part_first: usize,
    /// Index after the last of its part.
    pub part_end: usize,
}

/// Whether two spheres are near: their surfaces, with this vector between the centers, are nearer than `skin`.
#[cube]
#[inline(always)]
pub fn are_near<R: Real>(apart: &Vector3<R>, radius: R, radius_of_other: R, skin: R) -> bool {
    let limit = radius + radius_of_other + skin;
    apart.dot(apart) < limit * limit
}

/// Whether grain j is listed in the row of this grain.
#[cube]
#[inline(always)]
pub fn is_listed<R: Real>(seeker: &NeighborQuery<R>, position: &[R], j: usize, #[comptime] plan: RowPlan) -> bool {
    let apart = seeker.position.minus(&load::<R>(position, j * 4usize));
    let mut wanted = are_near::<R>(&apart, seeker.radius, position[j * 4usize + 3usize], seeker.skin) && j != seeker.place;
    if plan.once {
        wanted = wanted && (j > seeker.place || j < seeker.part_first || j >= seeker.part_end);
    }
    wanted
}

/// Writes the grains of a run that are listed in the row of this grain to `found`, in their order, and returns their number. There must be room for
/// all grains of the run. With `ONCE`, a pair inside a part is listed by its first member only.
#[inline(always)]
pub fn listed_in_run<R: Real, const ONCE: bool>(seeker: &NeighborQuery<R>, position: &[R], run: &Run, found: &mut [u32]) -> usize {
    let (records, _) = position.as_chunks::<RECORD>();
    let mut count = 0;
    for (j, &[x, y, z, radius]) in (run.first..run.end).zip(&records[run.first..run.end]) {
        let apart = seeker.position.minus(&Vector3 { x, y, z });
        let is_near = are_near::<R>(&apart, seeker.radius, radius, seeker.skin);
        let is_own = (j > seeker.place) | (j < seeker.part_first) | (j >= seeker.part_end);
        // Every grain is written, but only a listed one advances the index. So there is no branch to predict.
        found[count] = j as u32;
        count += usize::from(is_near & (j != seeker.place) & (!ONCE | is_own));
    }
    count
}

/// Writes entry number `count` of the row that starts at `at`, if rows are filled.
#[cube]
#[inline(always)]
pub fn enter(neighbors: &mut [u32], at: usize, count: u32, j: usize, #[comptime] plan: RowPlan) {
    if plan.fill {
        neighbors[at + count as usize * plan.stride] = j as u32;
    }
}

/// Neighbors of grain i: all j whose surfaces are nearer than `skin`, each once.
///
/// Counts them and, if the plan fills rows, writes them to `neighbors` from index `at` on. `n` is the number of all grains. `grids`, `shapes` and
/// `first` belong to the searched grids or tables. `items` holds the grains of every cell or bucket, unless the grains are sorted by cell. Entries
/// come in the order of grids, cells and indices.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn neighbors_of<R: Real>(
    i: usize,
    position: &[R],
    n: usize,
    grids: &[R],
    shapes: &[u32],
    number_of_grids: usize,
    first: &[u32],
    items: &[u32],
    skin: R,
    part_first: usize,
    part_end: usize,
    at: usize,
    neighbors: &mut [u32],
    sides: &PeriodicBoundaries<R, R>,
    #[comptime] plan: RowPlan,
) -> u32 {
    let center = load::<R>(position, i * 4usize);
    let radius = position[i * 4usize + 3usize];
    let mut count = 0u32;
    if comptime!(plan.sides > 0) {
        // The first grid holds the largest grains.
        let reach = radius + grids[4] + skin;
        for k in 0..27u32 {
            let seeker = NeighborQuery::<R> {
                place: i,
                position: center.plus(&image_shift::<R, R>(k, sides)),
                radius,
                skin,
                part_first,
                part_end,
            };
            if reaches_domain::<R, R>(&seeker.position, reach, sides) {
                let entry = at + count as usize * plan.stride;
                count += neighbors_of_image::<R>(
                    &seeker,
                    position,
                    n,
                    grids,
                    shapes,
                    number_of_grids,
                    first,
                    items,
                    entry,
                    neighbors,
                    plan,
                );
            }
        }
    } else {
        let seeker = NeighborQuery::<R> {
            place: i,
            position: center,
            radius,
            skin,
            part_first,
            part_end,
        };
        count = neighbors_of_image::<R>(
            &seeker,
            position,
            n,
            grids,
            shapes,
            number_of_grids,
            first,
            items,
            at,
            neighbors,
            plan,
        );
    }
    count
}

/// Neighbors of one periodic image of a grain, as [`neighbors_of()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn neighbors_of_image<R: Real>(
    seeker: &NeighborQuery<R>,
    position: &[R],
    n: usize,
    grids: &[R],
    shapes: &[u32],
    number_of_grids: usize,
    first: &[u32],
    items: &[u32],
    at: usize,
    neighbors: &mut [u32],
    #[comptime] plan: RowPlan,
) -> u32 {
    let mut count = 0u32;
    match comptime!(plan.lookup) {
        SearchStructure::All => {
            count = among_all::<R>(seeker, position, n, at, neighbors, plan);
        }
        SearchStructure::Grids => {
            count = in_grids::<R>(seeker, position, grids, shapes, number_of_grids, first, at, neighbors, plan);
        }
        SearchStructure::TouchedCells => {
            count = neighbors_in_overlapped_cells::<R>(seeker, position, grids, shapes, first, items, at, neighbors, plan);
        }
        SearchStructure::Buckets => {
            count = in_buckets::<R>(seeker, position, grids, shapes, number_of_grids, first, items, at, neighbors, plan);
        }
        SearchStructure::DividedBuckets => {
            count = in_divided_buckets::<R>(seeker, position, grids, shapes, number_of_grids, first, items, at, neighbors, plan);
        }
    }
    count
}

/// Neighbors among all n grains.
#[cube]
#[inline(always)]
fn among_all<R: Real>(
    seeker: &NeighborQuery<R>,
    position: &[R],
    n: usize,
    at: usize,
    neighbors: &mut [u32],
    #[comptime] plan: RowPlan,
) -> u32 {
    let mut count = 0u32;
    for j in 0..n {
        if is_listed::<R>(seeker, position, j, plan) {
            enter(neighbors, at, count, j, plan);
            count += 1u32;
        }
    }
    count
}

/// Neighbors in the cells of the grids in which grains are sorted.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn in_grids<R: Real>(
    seeker: &NeighborQuery<R>,
    position: &[R],
    grids: &[R],
    shapes: &[u32],
    number_of_grids: usize,
    first: &[u32],
    at: usize,
    neighbors: &mut [u32],
    #[comptime] plan: RowPlan,
) -> u32 {
    let mut count = 0u32;
    for g in 0..number_of_grids {
        let reach = seeker.radius + grids[g * 8usize + 4usize] + seeker.skin;
        let mut walk = walk_around::<R>(&seeker.position, reach, grids, shapes, g, false);
        while walk.goes_on() {
            let run = next_run(&mut walk, first, false);
            for j in run.first..run.end {
                if is_listed::<R>(seeker, position, j, plan) {
                    enter(neighbors, at, count, j, plan);
                    count += 1u32;
                }
            }
        }
    }
    count
}

/// Half width of the box of a grain at p: the radius and half the skin \[m\]. It is enlarged by a few roundings, so that the boxes of near grains
/// always share a cell.
#[cube]
#[inline(always)]
pub fn box_reach<R: Real>(p: &Vector3<R>, radius: R, skin: R) -> R {
    let reach = radius + R::new(0.5) * skin;
    let zero = R::new(0.0);
    let x = larger::<R>(p.x, zero - p.x);
    let y = larger::<R>(p.y, zero - p.y);
    let z = larger::<R>(p.z, zero - p.z);
    let farthest = larger::<R>(larger::<R>(x, y), z) + reach;
    reach + R::new(8.0) * R::roundoff() * farthest
}

/// The cells that the box of grain i overlaps, in the only grid.
#[cube]
#[inline(always)]
pub fn overlapped_span<R: Real>(i: usize, position: &[R], grids: &[R], shapes: &[u32], skin: R) -> Span {
    let p = load::<R>(position, i * 4usize);
    let reach = box_reach::<R>(&p, position[i * 4usize + 3usize], skin);
    cells_around::<R>(&p, reach, grids, shapes, 0usize)
}

/// Numbers of the cells that the box of grain i overlaps. Counts them and, with `fill`, writes them to `cells`, and i to `owners`, from index `at`
/// on.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn overlapped_cells<R: Real>(
    i: usize,
    position: &[R],
    grids: &[R],
    shapes: &[u32],
    skin: R,
    at: usize,
    cells: &mut [u32],
    owners: &mut [u32],
    #[comptime] fill: bool,
) -> u32 {
    let span = overlapped_span::<R>(i, position, grids, shapes, skin);
    if fill {
        let mut entry = at;
        for z in span.z_first..span.z_last + 1u32 {
            for y in span.y_first..span.y_last + 1u32 {
                for x in span.x_first..span.x_last + 1u32 {
                    cells[entry] = cell_number(shapes, 0usize, x, y, z, true);
                    owners[entry] = i as u32;
                    entry += 1usize;
                }
            }
        }
    }
    (span.x_last - span.x_first + 1u32) * (span.y_last - span.y_first + 1u32) * (span.z_last - span.z_first + 1u32)
}

/// Neighbors in all cells that the box of the grain overlaps. Two boxes share a box of cells; the pair counts only in its lowest corner.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn neighbors_in_overlapped_cells<R: Real>(
    seeker: &NeighborQuery<R>,
    position: &[R],
    grids: &[R],
    shapes: &[u32],
    first: &[u32],
    items: &[u32],
    at: usize,
    neighbors: &mut [u32],
    #[comptime] plan: RowPlan,
) -> u32 {
    let mut count = 0u32;
    let reach = box_reach::<R>(&seeker.position, seeker.radius, seeker.skin);
    let span = cells_around::<R>(&seeker.position, reach, grids, shapes, 0usize);
    for z in span.z_first..span.z_last + 1u32 {
        for y in span.y_first..span.y_last + 1u32 {
            for x in span.x_first..span.x_last + 1u32 {
                let cell = cell_number(shapes, 0usize, x, y, z, true) as usize;
                for k in first[cell] as usize..first[cell + 1usize] as usize {
                    let j = items[k] as usize;
                    if is_listed::<R>(seeker, position, j, plan) {
                        let other = overlapped_span::<R>(j, position, grids, shapes, seeker.skin);
                        let is_lowest = x == max(span.x_first, other.x_first)
                            && y == max(span.y_first, other.y_first)
                            && z == max(span.z_first, other.z_first);
                        if is_lowest {
                            enter(neighbors, at, count, j, plan);
                            count += 1u32;
                        }
                    }
                }
            }
        }
    }
    count
}

/// Neighbors in the buckets of all tables. A grain counts only for its own cell. So neither cells that share a bucket, nor a bucket for several
/// searched cells, give a pair twice.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn in_buckets<R: Real>(
    seeker: &NeighborQuery<R>,
    position: &[R],
    grids: &[R],
    shapes: &[u32],
    number_of_tables: usize,
    first: &[u32],
    items: &[u32],
    at: usize,
    neighbors: &mut [u32],
    #[comptime] plan: RowPlan,
) -> u32 {
    let mut count = 0u32;
    for g in 0..number_of_tables {
        let reach = seeker.radius + grids[g * 8usize + 4usize] + seeker.skin;
        let span = cells_around::<R>(&seeker.position, reach, grids, shapes, g);
        let by_cells = has_fewer_cells(&span, items_of(shapes, g, first));
        let entry = at + count as usize * plan.stride;
        count += in_table::<R>(
            seeker, position, grids, shapes, g, &span, by_cells, first, items, entry, neighbors, plan,
        );
    }
    count
}

/// Neighbors in the buckets of tables whose second half has the grains that never move. Each half has cells of its own. Entries are brought into the
/// order in which [`in_buckets`] finds them in undivided tables, so that sums over a row have the same bits.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn in_divided_buckets<R: Real>(
    seeker: &NeighborQuery<R>,
    position: &[R],
    grids: &[R],
    shapes: &[u32],
    number_of_tables: usize,
    first: &[u32],
    items: &[u32],
    at: usize,
    neighbors: &mut [u32],
    #[comptime] plan: RowPlan,
) -> u32 {
    let mut count = 0u32;
    let classes = number_of_tables / 2usize;
    for g in 0..classes {
        let fixed = classes + g;
        let reach = seeker.radius + grids[g * 8usize + 4usize] + seeker.skin;
        let span = cells_around::<R>(&seeker.position, reach, grids, shapes, g);
        let by_cells = has_fewer_cells(&span, items_of(shapes, g, first) + items_of(shapes, fixed, first));
        let start = at + count as usize * plan.stride;
        let moving = in_table::<R>(
            seeker, position, grids, shapes, g, &span, by_cells, first, items, start, neighbors, plan,
        );
        let own_span = cells_around::<R>(&seeker.position, reach, grids, shapes, fixed);
        let by_own_cells = has_fewer_cells(&own_span, items_of(shapes, fixed, first));
        let next = start + moving as usize * plan.stride;
        let resting = in_table::<R>(
            seeker,
            position,
            grids,
            shapes,
            fixed,
            &own_span,
            by_own_cells,
            first,
            items,
            next,
            neighbors,
            plan,
        );
        if plan.fill {
            // Without grains that never move, the entries are in order.
            if resting > 0u32 {
                sort_as_in_table::<R>(start, moving + resting, position, grids, shapes, g, by_cells, neighbors, plan);
            }
        }
        count += moving + resting;
    }
    count
}

/// Number of grains in table `g`.
#[cube]
#[inline(always)]
fn items_of(shapes: &[u32], g: usize, first: &[u32]) -> usize {
    let table = shapes[g * 8usize + 5usize] as usize;
    (first[table + shapes[g * 8usize + 3usize] as usize] - first[table]) as usize
}

/// Neighbors in the buckets of table `g`: in those of the cells of a box or, if not `by_cells`, in all of them.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn in_table<R: Real>(
    seeker: &NeighborQuery<R>,
    position: &[R],
    grids: &[R],
    shapes: &[u32],
    g: usize,
    span: &Span,
    by_cells: bool,
    first: &[u32],
    items: &[u32],
    at: usize,
    neighbors: &mut [u32],
    #[comptime] plan: RowPlan,
) -> u32 {
    let mut count = 0u32;
    if by_cells {
        for z in span.z_first..span.z_last + 1u32 {
            for y in span.y_first..span.y_last + 1u32 {
                for x in span.x_first..span.x_last + 1u32 {
                    let bucket = bucket_of(shapes, g, x, y, z) as usize;
                    for k in first[bucket] as usize..first[bucket + 1usize] as usize {
                        let j = items[k] as usize;
                        if is_listed::<R>(seeker, position, j, plan) {
                            if is_in_cell::<R>(&load::<R>(position, j * 4usize), grids, shapes, g, x, y, z) {
                                enter(neighbors, at, count, j, plan);
                                count += 1u32;
                            }
                        }
                    }
                }
            }
        }
    } else {
        let table = shapes[g * 8usize + 5usize] as usize;
        let table_first = first[table] as usize;
        let table_end = first[table + shapes[g * 8usize + 3usize] as usize] as usize;
        for k in table_first..table_end {
            let j = items[k] as usize;
            if is_listed::<R>(seeker, position, j, plan) {
                enter(neighbors, at, count, j, plan);
                count += 1u32;
            }
        }
    }
    count
}

/// Sorts `count` entries from index `start` on into the order in which a loop over the cells of table `g`, or over all its buckets, finds them.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn sort_as_in_table<R: Real>(
    start: usize,
    count: u32,
    position: &[R],
    grids: &[R],
    shapes: &[u32],
    g: usize,
    by_cells: bool,
    neighbors: &mut [u32],
    #[comptime] plan: RowPlan,
) {
    for s in 0..count {
        let j = neighbors[start + s as usize * plan.stride];
        let mut place = s;
        let mut goes_on = s > 0u32;
        while goes_on {
            let before = neighbors[start + (place as usize - 1usize) * plan.stride];
            goes_on = is_found_before::<R>(j as usize, before as usize, position, grids, shapes, g, by_cells);
            if goes_on {
                neighbors[start + place as usize * plan.stride] = before;
                place -= 1u32;
                goes_on = place > 0u32;
            }
        }
        neighbors[start + place as usize * plan.stride] = j;
    }
}

/// Whether a loop over the cells of table `g`, or over all its buckets, finds grain i before grain j.
#[cube]
#[inline(always)]
fn is_found_before<R: Real>(i: usize, j: usize, position: &[R], grids: &[R], shapes: &[u32], g: usize, by_cells: bool) -> bool {
    let own = cells_around::<R>(&load::<R>(position, i * 4usize), R::new(0.0), grids, shapes, g);
    let other = cells_around::<R>(&load::<R>(position, j * 4usize), R::new(0.0), grids, shapes, g);
    let mut is_before = i < j;
    if by_cells {
        if own.x_first != other.x_first {
            is_before = own.x_first < other.x_first;
        }
        if own.y_first != other.y_first {
            is_before = own.y_first < other.y_first;
        }
        if own.z_first != other.z_first {
            is_before = own.z_first < other.z_first;
        }
    } else {
        let bucket = bucket_of(shapes, g, own.x_first, own.y_first, own.z_first);
        let bucket_of_other = bucket_of(shapes, g, other.x_first, other.y_first, other.z_first);
        if bucket != bucket_of_other {
            is_before = bucket < bucket_of_other;
        }
    }
    is_before
}

/// Whether a box of cells has fewer cells than there are items; otherwise a loop over all items is faster. Boxes of more than 1600 cells along an
/// axis count as larger, because their number of cells may exceed 32 bits.
#[cube]
#[inline(always)]
fn has_fewer_cells(span: &Span, items: usize) -> bool {
    let most = 1600u32;
    let x = span.x_last - span.x_first + 1u32;
    let y = span.y_last - span.y_first + 1u32;
    let z = span.z_last - span.z_first + 1u32;
    let cells = min(x, most) * min(y, most) * min(z, most);
    x <= most && y <= most && z <= most && cells as usize <= items
}
