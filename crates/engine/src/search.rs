//! Which grains are near each other: cells, and the Verlet list with its history.

use crate::fields::{Fields, PART, part_range, parts};
use crate::world::{Search, World};
use seixo_device::{Cpu, Ranges, Strided, exclusive_scan, stable_order_by_key};
use seixo_sweeps::cells::{GRID, SHAPE, cell_of, class_of, neighbors_of};
use seixo_sweeps::contact::carry_history_of;
use seixo_sweeps::sides::Sides;
use seixo_sweeps::views::{RECORD, load};

/// Size classes at most; each halves the radius.
const CLASSES: usize = 8;

/// Uniform grids, one per size class, over the box that holds all grains.
#[derive(Default)]
pub struct Cells {
    /// Records of the grids, see [`seixo_sweeps::cells::GRID`].
    pub grids: Vec<f64>,
    /// Records of the grids' shapes, see [`seixo_sweeps::cells::SHAPE`].
    pub shapes: Vec<u32>,
    /// First place of every cell, and one more.
    pub first: Vec<u32>,
    /// Place of every grain in the order before.
    pub old_of: Vec<u32>,
    /// Distance by which surfaces may be apart and still count as near \[m\].
    pub skin: f64,
    /// The part of it across which grains may hold each other; the rest is for motion \[m\].
    pub gap: f64,
    /// Periodic sides when the lists were made.
    pub sides: Sides<f64, f64>,
    /// Which of them there are.
    pub kind: u32,
    /// Largest radius of each class in use \[m\], from large to small.
    largest: Vec<f64>,
    /// Edge that the cells may not fall below \[m\]; infinite for one cell that holds all.
    edge_at_least: f64,
    key: Vec<u32>,
}

impl Cells {
    /// Classes for these radii.
    pub fn new(radii: impl Iterator<Item = f64> + Clone, search: Search, skin: f64) -> Cells {
        let top = radii.clone().fold(0.0, f64::max);
        let mut largest = [0.0f64; CLASSES];
        for radius in radii {
            let halvings = match search {
                Search::Auto => (1..CLASSES).take_while(|&c| radius <= top / (1u32 << c) as f64).count(),
                Search::Grid | Search::BruteForce => 0,
            };
            largest[halvings] = largest[halvings].max(radius);
        }
        let edge_at_least = if search == Search::BruteForce { f64::INFINITY } else { 0.0 };
        Cells {
            largest: largest.into_iter().filter(|&r| r > 0.0).collect(),
            skin,
            edge_at_least,
            ..Cells::default()
        }
    }

    /// Number of grids.
    pub fn grids(&self) -> usize {
        self.largest.len()
    }

    /// Largest radius \[m\].
    pub fn largest_radius(&self) -> f64 {
        self.largest[0]
    }

    /// Smallest cell edge that the radii call for \[m\].
    pub fn smallest_edge(&self) -> f64 {
        2.0 * self.largest[self.largest.len() - 1] + self.skin
    }

    /// Lays grids of at most a few cells per grain over n grains between two corners and returns the number of cells.
    pub fn lay_out(&mut self, low: [f64; 3], high: [f64; 3], n: usize) -> usize {
        self.grids.clear();
        self.shapes.clear();
        let mut total = 0;
        let cells_at_most = (4 * n + 4096) as f64;
        for &largest in &self.largest {
            let mut edge = (2.0 * largest + self.skin).max(self.edge_at_least);
            let shape = loop {
                let shape = [0, 1, 2].map(|axis| ((high[axis] - low[axis]) / edge).floor().max(0.0) + 1.0);
                if shape.iter().product::<f64>() <= cells_at_most {
                    break shape.map(|cells| cells as u32);
                }
                edge *= 1.26;
            };
            self.grids.extend([low[0], low[1], low[2], 1.0 / edge, largest, 0.0, 0.0, 0.0]);
            let blocks = shape.map(|cells| cells.div_ceil(8));
            self.shapes
                .extend([shape[0], shape[1], shape[2], blocks[0], blocks[1], total, 0, 0]);
            total += blocks.iter().product::<u32>() * 512;
        }
        debug_assert_eq!((self.grids.len(), self.shapes.len()), (self.grids() * GRID, self.grids() * SHAPE));
        total as usize
    }

    /// Sorts the grains by cell and id, dropping those for which `keep` is false; `old_of` then tells where each one was.
    pub fn sort(&mut self, device: &Cpu, fields: &mut Fields, keep: impl Fn([f64; 3]) -> bool + Sync) {
        let n = fields.len();
        let (mut low, mut high, mut kept) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3], 0);
        // The cells follow from the grains that stay: who goes on from a checkpoint knows no others.
        for center in fields.position.chunks_exact(RECORD).filter(|x| keep([x[0], x[1], x[2]])) {
            kept += 1;
            for axis in 0..3 {
                low[axis] = low[axis].min(center[axis]);
                high[axis] = high[axis].max(center[axis]);
            }
        }
        let cells = self.lay_out(low, high, kept);
        let mut key = std::mem::take(&mut self.key);
        key.resize(n, 0);
        let position = &fields.position[..];
        device.run(
            parts(n),
            (Strided {
                items: &mut key[..],
                per_part: PART,
            },),
            |part, (key,): (Strided<u32>,)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    let at = i * RECORD;
                    key.items[i - first] = if keep([position[at], position[at + 1], position[at + 2]]) {
                        let class = class_of::<f64>(position[at + 3], &self.grids, self.grids());
                        cell_of::<f64>(&load(position, at), &self.grids, &self.shapes, class, false)
                    } else {
                        cells as u32
                    };
                }
            },
        );
        stable_order_by_key(&key, cells + 1, &mut self.old_of, &mut self.first);
        self.key = key;
        self.first.truncate(cells + 1);
        self.old_of.truncate(self.first[cells] as usize);
        for cell in self.first.windows(2) {
            if cell[1] - cell[0] > 1 {
                self.old_of[cell[0] as usize..cell[1] as usize].sort_unstable_by_key(|&i| fields.id[i as usize]);
            }
        }
        fields.reorder(device, &self.old_of);
    }

    /// The neighbors of grain i closer than `skin`, written to `row`.
    pub fn neighbors(&self, i: usize, position: &[f64], skin: f64, row: &mut Vec<u32>) {
        let (grids, shapes, n) = (&self.grids[..], &self.shapes[..], position.len() / RECORD);
        let count = neighbors_of::<f64>(
            i,
            position,
            grids,
            shapes,
            self.grids(),
            &self.first,
            skin,
            0,
            n,
            0,
            &mut [],
            &self.sides,
            self.kind,
            1,
            false,
            false,
        );
        row.resize(count as usize, 0);
        neighbors_of::<f64>(
            i,
            position,
            grids,
            shapes,
            self.grids(),
            &self.first,
            skin,
            0,
            n,
            0,
            row,
            &self.sides,
            self.kind,
            1,
            false,
            true,
        );
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        (self.first.capacity() * 4 + self.old_of.capacity() * 4 + self.key.capacity() * 4) as u64
    }
}

/// Rows of near pairs: a pair inside a part stands in the row of its first member, a pair across parts in both.
#[derive(Default)]
pub struct Pairs {
    /// First entry of every grain's row, and one more.
    pub row: Vec<u32>,
    /// Places of the partners.
    pub neighbors: Vec<u32>,
    /// Records of history, see [`seixo_sweeps::views`].
    pub history: Vec<f64>,
    /// Ticks at which the entries last touched, see [`seixo_sweeps::lanes::PartOut`].
    pub touched: Vec<u32>,
    /// First entry of every part, and one more.
    pub part_row: Vec<u32>,
}

impl Pairs {
    /// Lists all pairs nearer than the skin; the history of pairs that touched at `last_tick` in the `old` list, `remembered` numbers each, is
    /// taken over.
    pub fn list(&mut self, device: &Cpu, cells: &Cells, position: &[f64], old: &Pairs, last_tick: u32, remembered: usize) {
        let n = position.len() / RECORD;
        let (grids, shapes, number, first_of, skin) = (&cells.grids[..], &cells.shapes[..], cells.grids(), &cells.first[..], cells.skin);
        self.row.resize(n + 1, 0);
        self.row[n] = 0;
        device.run(
            parts(n),
            (Strided {
                items: &mut self.row[..n],
                per_part: PART,
            },),
            |part, (count,): (Strided<u32>,)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    count.items[i - first] = neighbors_of::<f64>(
                        i,
                        position,
                        grids,
                        shapes,
                        number,
                        first_of,
                        skin,
                        first,
                        end,
                        0,
                        &mut [],
                        &cells.sides,
                        cells.kind,
                        1,
                        true,
                        false,
                    );
                }
            },
        );
        let entries = exclusive_scan(&mut self.row) as usize;
        self.part_row.clear();
        self.part_row
            .extend((0..parts(n)).map(|part| self.row[part * PART]).chain([entries as u32]));
        resize_with_room(&mut self.neighbors, entries);
        resize_with_room(&mut self.history, entries * remembered);
        resize_with_room(&mut self.touched, entries);
        let row = &self.row[..];
        let data = (
            Ranges {
                items: &mut self.neighbors[..],
                bounds: &self.part_row,
                stride: 1,
            },
            Ranges {
                items: &mut self.history[..],
                bounds: &self.part_row,
                stride: remembered,
            },
            Ranges {
                items: &mut self.touched[..],
                bounds: &self.part_row,
                stride: 1,
            },
        );
        device.run(
            parts(n),
            data,
            |part, (neighbors, history, touched): (Ranges<u32>, Ranges<f64>, Ranges<u32>)| {
                let (first, end) = part_range(part, n);
                let base = row[first] as usize;
                for (i, &at) in (first..end).zip(&row[first..end]) {
                    let at = at as usize - base;
                    neighbors_of::<f64>(
                        i,
                        position,
                        grids,
                        shapes,
                        number,
                        first_of,
                        skin,
                        first,
                        end,
                        at,
                        neighbors.items,
                        &cells.sides,
                        cells.kind,
                        1,
                        true,
                        true,
                    );
                }
                for i in first..end {
                    let (from, to) = (row[i] as usize - base, row[i + 1] as usize - base);
                    carry_history_of::<f64>(
                        i,
                        from,
                        to,
                        neighbors.items,
                        history.items,
                        touched.items,
                        last_tick,
                        &cells.old_of,
                        &old.row,
                        &old.neighbors,
                        &old.history,
                        &old.touched,
                        remembered,
                    );
                }
            },
        );
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        ((self.row.capacity() + self.neighbors.capacity() + self.touched.capacity() + self.part_row.capacity()) * 4
            + self.history.capacity() * 8) as u64
    }
}

/// Resizes and, where that needs memory, takes a quarter more, so that lists that breathe do not allocate.
pub fn resize_with_room<T: Clone + Default>(items: &mut Vec<T>, len: usize) {
    if items.capacity() < len {
        items.reserve_exact(len + len / 4 - items.len());
    }
    items.resize(len, T::default());
}

/// The grains of a world that overlap most, relative to the smaller radius: (id, id, overlap \[m\]).
pub fn deepest_overlap(world: &World) -> Option<(u32, u32, f64)> {
    let device = Cpu::new(1).ok()?;
    let grains = &world.grains;
    let mut fields = Fields::default();
    fields.id.extend(0..grains.len() as u32);
    for (center, radius) in grains.position.iter().zip(&grains.radius) {
        fields.position.extend([center[0], center[1], center[2], *radius]);
    }
    let mut cells = Cells::new(grains.radius.iter().copied(), Search::Auto, 0.0);
    if grains.is_empty() {
        return None;
    }
    cells.sort(&device, &mut fields, |_| true);
    let mut deepest: Option<(u32, u32, f64, f64)> = None;
    let mut row = Vec::new();
    for i in 0..fields.len() {
        cells.neighbors(i, &fields.position, 0.0, &mut row);
        for &j in row.iter().filter(|&&j| j as usize > i) {
            let (a, b) = (
                &fields.position[i * RECORD..][..RECORD],
                &fields.position[j as usize * RECORD..][..RECORD],
            );
            let distance = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
            let overlap = a[3] + b[3] - distance;
            let share = overlap / a[3].min(b[3]);
            if deepest.is_none_or(|d| share > d.3) {
                deepest = Some((
                    grains.id[fields.id[i] as usize],
                    grains.id[fields.id[j as usize] as usize],
                    overlap,
                    share,
                ));
            }
        }
    }
    deepest.map(|(a, b, overlap, _)| (a.min(b), a.max(b), overlap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn grains(centers: &[([f64; 3], f64)]) -> Fields {
        let mut fields = Fields::default();
        for (id, (center, radius)) in centers.iter().enumerate() {
            fields.id.push(id as u32);
            fields.position.extend([center[0], center[1], center[2], *radius]);
        }
        fields
    }

    /// All pairs of ids whose surfaces are nearer than the skin, by looking at every pair.
    fn near(centers: &[([f64; 3], f64)], skin: f64) -> BTreeSet<(u32, u32)> {
        let mut pairs = BTreeSet::new();
        for (i, (a, radius_a)) in centers.iter().enumerate() {
            for (j, (b, radius_b)) in centers.iter().enumerate().skip(i + 1) {
                let square: f64 = (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum();
                if square < (radius_a + radius_b + skin).powi(2) {
                    pairs.insert((i as u32, j as u32));
                }
            }
        }
        pairs
    }

    /// The pairs of a list with how many rows they stand in, and whether they are inside one part.
    fn listed(pairs: &Pairs, fields: &Fields) -> Vec<((u32, u32), usize, bool)> {
        let mut found: Vec<((u32, u32), usize, bool)> = Vec::new();
        for i in 0..fields.len() {
            for &j in &pairs.neighbors[pairs.row[i] as usize..pairs.row[i + 1] as usize] {
                let (a, b) = (fields.id[i], fields.id[j as usize]);
                found.push(((a.min(b), a.max(b)), 1, i / PART == j as usize / PART));
            }
        }
        found.sort_unstable();
        found.dedup_by(|next, kept| {
            next.0 == kept.0 && {
                kept.1 += 1;
                true
            }
        });
        found
    }

    fn check(centers: &[([f64; 3], f64)], skin: f64, search: Search) {
        let device = Cpu::new(2).unwrap();
        let mut fields = grains(centers);
        let mut cells = Cells::new(centers.iter().map(|c| c.1), search, skin);
        cells.sort(&device, &mut fields, |_| true);
        let mut old = Pairs::default();
        old.row.resize(centers.len() + 1, 0);
        let mut pairs = Pairs::default();
        pairs.list(&device, &cells, &fields.position, &old, 7, RECORD);
        let found = listed(&pairs, &fields);
        assert_eq!(found.iter().map(|f| f.0).collect::<BTreeSet<_>>(), near(centers, skin));
        for (pair, rows, is_inside) in found {
            assert_eq!(rows, if is_inside { 1 } else { 2 }, "{pair:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn every_search_finds_exactly_the_near_pairs(
            centers in prop::collection::vec(([-5.0..5.0f64, -5.0..5.0f64, -1.0..1.0f64], 0.0..1.0f64), 1..400),
            spread in 0.0..4.0f64,
            skin in 0.0..0.3f64,
        ) {
            let centers: Vec<_> = centers.into_iter().map(|(x, r)| (x, 0.6 / 2f64.powf(spread * r))).collect();
            for search in [Search::Auto, Search::Grid, Search::BruteForce] {
                check(&centers, skin, search);
            }
        }
    }

    #[test]
    fn degenerate_arrangements_are_searched_too() {
        let line: Vec<_> = (0..3000).map(|k| ([k as f64 * 0.9, 0.0, 0.0], 0.5)).collect();
        check(&line, 0.1, Search::Auto);
        let far_apart = [
            ([0.0, 0.0, 0.0], 0.5),
            ([1e9, 0.0, 0.0], 0.5),
            ([1e9 + 0.5, 0.0, -1e7], 0.01),
            ([1e9 + 0.5, 0.0, 0.0], 1e-6),
        ];
        check(&far_apart, 0.0, Search::Auto);
        let one_place: Vec<_> = (0..100).map(|_| ([0.3, 0.3, 0.3], 0.5)).collect();
        check(&one_place, 0.0, Search::Auto);
    }

    #[test]
    fn history_follows_its_pair_through_a_new_order() {
        let centers: Vec<_> = (0..4000u64)
            .map(|k| ([(k % 20) as f64 * 0.95, (k / 20 % 20) as f64 * 0.95, (k / 400) as f64 * 0.95], 0.5))
            .collect();
        let device = Cpu::new(2).unwrap();
        let mut fields = grains(&centers);
        let mut cells = Cells::new(centers.iter().map(|c| c.1), Search::Auto, 0.1);
        cells.sort(&device, &mut fields, |_| true);
        let mut old = Pairs::default();
        old.row.resize(centers.len() + 1, 0);
        let mut pairs = Pairs::default();
        pairs.list(&device, &cells, &fields.position, &old, 7, RECORD);
        // A force that tells its pair, with the sign of the row it stands in.
        let mark = |pairs: &Pairs, fields: &Fields, k: usize, i: usize| {
            let (a, b) = (f64::from(fields.id[i]), f64::from(fields.id[pairs.neighbors[k] as usize]));
            [a - b, (a + b) * (a - b).signum(), 0.0, 1.0]
        };
        for i in 0..fields.len() {
            for k in pairs.row[i] as usize..pairs.row[i + 1] as usize {
                let record = mark(&pairs, &fields, k, i);
                pairs.history[k * RECORD..][..RECORD].copy_from_slice(&record);
                pairs.touched[k] = 7 - u32::from((record[0].abs() as u32).is_multiple_of(5));
            }
        }
        // The bed turns by a right angle and loses a layer: another order of cells, other parts.
        for center in fields.position.chunks_exact_mut(RECORD) {
            (center[0], center[2]) = (center[2], -center[0]);
        }
        cells.sort(&device, &mut fields, |center| center[1] > 0.5);
        assert!(fields.len() < centers.len());
        let mut renewed = Pairs::default();
        renewed.list(&device, &cells, &fields.position, &pairs, 7, RECORD);
        assert!(renewed.neighbors.len() > 9000);
        for i in 0..fields.len() {
            for k in renewed.row[i] as usize..renewed.row[i + 1] as usize {
                let record = mark(&renewed, &fields, k, i);
                if (record[0].abs() as u32).is_multiple_of(5) {
                    assert_eq!(renewed.touched[k], 0, "a pair that had let go is new");
                } else {
                    assert_eq!((&renewed.history[k * RECORD..][..RECORD], renewed.touched[k]), (&record[..], 7));
                }
            }
        }
    }
}
