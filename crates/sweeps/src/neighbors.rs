//! The neighbors of a grain: the same ones, each once, however they are looked for.

use crate::buckets::{bucket_of, is_in_cell};
use crate::cells::{Span, cell_number, cells_around, next_run, walk_around};
use crate::sides::{Sides, image_shift, reaches_domain};
use crate::views::load;
use cubecl::prelude::*;
use seixo_laws::{Real, Vector3, larger};

/// Where the neighbors of a grain are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// Among all grains \[ME964 2011\].
    All,
    /// In the cells of the grids that sort the grains, one grid for each size class \[PUC-Rio 2009, § 5.1.1\].
    #[default]
    Grids,
    /// In all cells that the grain's box touches: every grain stands in as many \[PUC-Rio 2009, § 5.1.2, after Ivson et al.\].
    TouchedCells,
    /// In hash tables, one for each size class \[Silva 2010, Algorithm 2\].
    Buckets,
}

/// How rows of neighbors are made: kernels and loops are compiled for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowPlan {
    /// Where neighbors are looked for.
    pub lookup: Lookup,
    /// Places from one entry of a row to the next.
    pub stride: usize,
    /// Whether a pair inside a part is listed only by its first member; pairs across the border of a part are listed by both.
    pub once: bool,
    /// Whether entries are written, or only counted.
    pub fill: bool,
    /// Which sides are periodic, see [`crate::sides`].
    pub sides: u32,
}

/// A grain whose neighbors are looked for.
#[derive(CubeType, Clone, Copy, Debug)]
pub struct Seeker<R: Real> {
    /// Its place.
    pub place: usize,
    /// Its center \[m\].
    pub position: Vector3<R>,
    /// Its radius \[m\].
    pub radius: R,
    /// Distance by which surfaces may be apart and still be near \[m\].
    pub skin: R,
    /// First place of its part.
    pub part_first: usize,
    /// The place behind the last of its part.
    pub part_end: usize,
}

/// Whether grain j belongs into the row of the seeker.
#[cube]
#[inline(always)]
pub fn is_listed<R: Real>(seeker: &Seeker<R>, position: &[R], j: usize, #[comptime] plan: RowPlan) -> bool {
    let d = seeker.position.minus(&load::<R>(position, j * 4usize));
    let limit = seeker.radius + position[j * 4usize + 3usize] + seeker.skin;
    let mut wanted = d.dot(&d) < limit * limit && j != seeker.place;
    if plan.once {
        wanted = wanted && (j > seeker.place || j < seeker.part_first || j >= seeker.part_end);
    }
    wanted
}

/// Writes entry number `count` of the row that starts at `at`, if it is to be written.
#[cube]
#[inline(always)]
pub fn enter(neighbors: &mut [u32], at: usize, count: u32, j: usize, #[comptime] plan: RowPlan) {
    if plan.fill {
        neighbors[at + count as usize * plan.stride] = j as u32;
    }
}

/// Neighbors of grain i: all j whose surfaces are nearer than `skin`, each once.
///
/// Counts them, and writes them to `neighbors` from `at` on, if the plan is to fill rows. `n` is the number of all grains; `grids`, `shapes` and
/// `first` belong to the grids or tables that are looked into, and `items` names the grains of every cell or bucket but where the grains are
/// sorted by it. Entries come in the order of grids, cells and places.
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
    sides: &Sides<R, R>,
    #[comptime] plan: RowPlan,
) -> u32 {
    let center = load::<R>(position, i * 4usize);
    let radius = position[i * 4usize + 3usize];
    let mut count = 0u32;
    if comptime!(plan.sides > 0) {
        // The first grid is that of the largest grains.
        let reach = radius + grids[4] + skin;
        for k in 0..27u32 {
            let seeker = Seeker::<R> {
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
        let seeker = Seeker::<R> {
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

/// Neighbors of one image of a grain, as [`neighbors_of()`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn neighbors_of_image<R: Real>(
    seeker: &Seeker<R>,
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
        Lookup::All => {
            count = among_all::<R>(seeker, position, n, at, neighbors, plan);
        }
        Lookup::Grids => {
            count = in_grids::<R>(seeker, position, grids, shapes, number_of_grids, first, at, neighbors, plan);
        }
        Lookup::TouchedCells => {
            count = in_touched_cells::<R>(seeker, position, grids, shapes, first, items, at, neighbors, plan);
        }
        Lookup::Buckets => {
            count = in_buckets::<R>(seeker, position, grids, shapes, number_of_grids, first, items, at, neighbors, plan);
        }
    }
    count
}

/// Neighbors among all n grains.
#[cube]
#[inline(always)]
fn among_all<R: Real>(seeker: &Seeker<R>, position: &[R], n: usize, at: usize, neighbors: &mut [u32], #[comptime] plan: RowPlan) -> u32 {
    let mut count = 0u32;
    for j in 0..n {
        if is_listed::<R>(seeker, position, j, plan) {
            enter(neighbors, at, count, j, plan);
            count += 1u32;
        }
    }
    count
}

/// Neighbors in the cells of the grids that sort the grains.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn in_grids<R: Real>(
    seeker: &Seeker<R>,
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

/// How far the box of a grain at p reaches from its center \[m\]: the radius and half the skin, and by some roundings more, so that the boxes
/// of near grains always share a cell.
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

/// The cells that the box of grain i touches, of the one grid there is.
#[cube]
#[inline(always)]
pub fn touched_span<R: Real>(i: usize, position: &[R], grids: &[R], shapes: &[u32], skin: R) -> Span {
    let p = load::<R>(position, i * 4usize);
    let reach = box_reach::<R>(&p, position[i * 4usize + 3usize], skin);
    cells_around::<R>(&p, reach, grids, shapes, 0usize)
}

/// The numbers of the cells that the box of grain i touches: counts them and, with `fill`, writes them to `cells` and i beside them to `owners`,
/// from `at` on.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn touched_cells<R: Real>(
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
    let span = touched_span::<R>(i, position, grids, shapes, skin);
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

/// Neighbors in all cells that the seeker's box touches. Two boxes share a box of cells; its lowest corner is the one cell in which the pair
/// counts.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn in_touched_cells<R: Real>(
    seeker: &Seeker<R>,
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
                        let other = touched_span::<R>(j, position, grids, shapes, seeker.skin);
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

/// Neighbors in the buckets of all tables. A grain counts in its own cell only: cells that share a bucket, or a bucket that serves several of
/// the cells looked into, give no pair twice.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn in_buckets<R: Real>(
    seeker: &Seeker<R>,
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
        let table = shapes[g * 8usize + 5usize] as usize;
        let table_first = first[table] as usize;
        let table_end = first[table + shapes[g * 8usize + 3usize] as usize] as usize;
        if has_fewer_cells(&span, table_end - table_first) {
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
            for k in table_first..table_end {
                let j = items[k] as usize;
                if is_listed::<R>(seeker, position, j, plan) {
                    enter(neighbors, at, count, j, plan);
                    count += 1u32;
                }
            }
        }
    }
    count
}

/// Whether a box of cells has fewer of them than there are items: else looking at every item is less work. Boxes of more than 1600 cells
/// along an axis, whose number 32 bits may not hold, have not.
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
