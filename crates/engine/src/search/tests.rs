use super::cells::{Cells, SizeClass};
use super::pairs::Pairs;
use super::tables::Tables;
use crate::fields::{Fields, PART};
use crate::search_benchmark::{HashTableBenchmark, TableSharing};
use crate::world::{Search, Settings};
use proptest::prelude::*;
use seixo_device::Cpu;
use seixo_sweeps::layout::RECORD;
use std::collections::BTreeSet;

/// Center and radius \[m\].
pub(crate) type Sphere = ([f64; 3], f64);

/// Up to `most` spheres: scattered, in clusters, on a line, at one position, on borders of cells, of one size or of radii up to 1:100, near
/// the origin or far from it on either side.
pub(crate) fn arrangement(most: usize) -> impl Strategy<Value = Vec<Sphere>> {
    let unit = [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64];
    let spheres = prop::collection::vec((unit, 0.0..1.0f64), 1..most);
    let offset = prop_oneof![
        4 => Just([0.0; 3]),
        1 => Just([-1e3, 250.0, -3e4]),
        1 => Just([-4e11, 1e12, 7.0]),
    ];
    (spheres, 0..5u8, 0.0..6.7f64, offset).prop_map(|(spheres, form, spread, offset)| {
        let place = |k: usize, u: [f64; 3]| match form {
            0 => [5.0 * u[0], 5.0 * u[1], u[2]],
            1 => u.map(|x| 3.0 * (x * 7.0).round() / 7.0 + 0.1 * ((x * 7.0) - (x * 7.0).round())),
            2 => [20.0 * u[0], 0.0, 0.0],
            3 => [0.3; 3],
            // Grains of one size without a skin, at distances of half a cell.
            _ => [k % 7, k / 7 % 7, k / 49].map(|c| 0.6 * c as f64),
        };
        let sphere = |(k, (u, r)): (usize, ([f64; 3], f64))| {
            let x = place(k, u);
            ([0, 1, 2].map(|axis| x[axis] + offset[axis]), 0.6 / 2f64.powf(spread * r))
        };
        spheres.into_iter().enumerate().map(sphere).collect()
    })
}

fn grains(centers: &[Sphere]) -> Fields {
    let mut fields = Fields::default();
    for (id, (center, radius)) in centers.iter().enumerate() {
        fields.id.push(id as u32);
        fields.position.extend([center[0], center[1], center[2], *radius]);
    }
    fields
}

/// All pairs of ids with gaps below the skin, by a test of every pair.
fn near(centers: &[Sphere], skin: f64) -> BTreeSet<(u32, u32)> {
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

/// Pairs of a list, with the number of rows that contain them, and whether they are inside one part.
fn listed(pairs: &Pairs, fields: &Fields) -> Vec<((u32, u32), usize, bool)> {
    let mut found: Vec<((u32, u32), usize, bool)> = Vec::new();
    for i in 0..fields.len() {
        for &j in pairs.of(i) {
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

fn check(centers: &[Sphere], skin: f64, search: Search) {
    let device = Cpu::new(2).unwrap();
    let mut fields = grains(centers);
    let mut cells = Cells::new(centers.iter().map(|c| c.1), search, skin);
    cells.sort(&device, &mut fields, |_| true);
    let mut old = Pairs::default();
    old.row.resize(centers.len() + 1, 0);
    let mut pairs = Pairs::default();
    pairs.fill_rows::<true>(&device, &cells.index(), &fields.position, fields.len());
    pairs.take_over(&device, &cells.old_of, &old, RECORD);
    let mut at_once = Pairs::default();
    // The second time, each part has room for as many entries as before.
    for _ in 0..2 {
        at_once.fill_rows_at_once::<true>(&device, &cells.index(), &fields.position, fields.len(), |_| true);
        assert_eq!((&at_once.row, &at_once.neighbors), (&pairs.row, &pairs.neighbors), "{search:?}");
    }
    let expected = near(centers, skin);
    let found = listed(&pairs, &fields);
    assert_eq!(found.iter().map(|f| f.0).collect::<BTreeSet<_>>(), expected, "{search:?}");
    for (pair, rows, is_inside) in found {
        assert_eq!(rows, if is_inside { 1 } else { 2 }, "{search:?} {pair:?}");
    }
    pairs.fill_rows::<false>(&device, &cells.index(), &fields.position, fields.len());
    let found = listed(&pairs, &fields);
    assert_eq!(found.len(), expected.len(), "{search:?}");
    assert!(
        found.iter().all(|&(_, rows, _)| rows == 2),
        "{search:?}: every grain lists all its neighbors"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_search_finds_exactly_the_near_pairs(centers in arrangement(400), skin in 0.0..0.3f64) {
        for search in Search::ALL {
            check(&centers, skin, search);
        }
    }

    #[test]
    fn rows_of_divided_tables_are_those_of_undivided_ones(centers in arrangement(400), skin in 0.0..0.3f64, every in 1usize..5) {
        let device = Cpu::new(2).unwrap();
        let radii = || centers.iter().map(|c| c.1);
        let mut fields = grains(&centers);
        let (mut all, mut divided) = (Cells::new(radii(), Search::SpatialHash, skin), Cells::new(radii(), Search::SpatialHash, skin));
        // Rebuild three times. Between, grains that are not at rest move, and so may the lowest corner of all.
        for _ in 0..3 {
            divided.order(&device, &mut fields, |_| true);
            let at_rest = |&i: &usize| (fields.id[i] as usize).is_multiple_of(every);
            let mut fixed: Vec<(u32, u32)> = (0..fields.len()).filter(at_rest).map(|i| (fields.id[i], i as u32)).collect();
            fixed.sort_unstable();
            divided.fill_tables(&device, &fields.position, &fixed);
            all.sort(&device, &mut fields, |_| true);
            let [expected, found] = [&all, &divided].map(|cells| {
                let mut pairs = Pairs::default();
                pairs.fill_rows::<true>(&device, &cells.index(), &fields.position, fields.len());
                (pairs.row, pairs.neighbors)
            });
            prop_assert_eq!(found, expected);
            for i in 0..fields.len() {
                if !(fields.id[i] as usize).is_multiple_of(every) {
                    fields.position[i * RECORD] -= 0.3 * f64::from(fields.id[i] % 3);
                }
            }
        }
        let fills = divided.tables.as_ref().and_then(Tables::at_rest).map(|fixed| fixed.fills());
        prop_assert_eq!(fills, Some(1));
    }

    #[test]
    fn cells_that_share_a_bucket_give_no_pair_twice_and_no_false_one(centers in arrangement(400), buckets in 0usize..4) {
        let device = Cpu::new(1).unwrap();
        let fields = grains(&centers);
        let largest = centers.iter().fold(0.0, |most, c| f64::max(most, c.1));
        let corner = |pick: fn(f64, f64) -> f64, from: f64| [0, 1, 2].map(|axis| centers.iter().fold(from, |x, c| pick(x, c.0[axis])));
        // So few buckets that the 27 cells around a grain share them: one, three, five, seven.
        let mut tables = Tables::of_buckets(&[SizeClass { largest, grains: buckets }]);
        tables.lay_out(corner(f64::min, f64::INFINITY), corner(f64::max, f64::NEG_INFINITY), centers.len(), 0.1);
        tables.fill(&device, &fields.position, 0..centers.len(), 0.1);
        let mut pairs = Pairs::default();
        pairs.fill_rows::<false>(&device, &tables.index(0.1), &fields.position, centers.len());
        let found = listed(&pairs, &fields);
        prop_assert_eq!(found.iter().map(|f| f.0).collect::<BTreeSet<_>>(), near(&centers, 0.1));
        prop_assert!(found.iter().all(|&(_, rows, _)| rows == 2), "twice: once in the row of each");
    }
}

/// Checks that each of the first `moving` fluid and rigid particles has all its neighbors, with any sharing of tables.
pub(crate) fn check_sharing(spheres: &[Sphere], moving: usize, settings: &Settings) {
    let particles: Vec<Sphere> = spheres
        .iter()
        .enumerate()
        .map(|(k, &(center, _))| (center, if k % 3 == 0 { 0.6 } else { 0.3 }))
        .collect();
    let is_moving = |id: u32| u64::from((id as usize) < moving);
    let expected: u64 = near(&particles, 0.0).into_iter().map(|(a, b)| is_moving(a) + is_moving(b)).sum();
    for sharing in [TableSharing::One, TableSharing::EachSize, TableSharing::EachSizeAndStatic] {
        let mut trial = HashTableBenchmark::new(&particles, moving, sharing, settings).unwrap();
        // Static tables are built once and must be valid in all later searches.
        for _ in 0..2 {
            assert!(trial.find().unwrap().iter().all(|&seconds| seconds > 0.0));
            assert_eq!(trial.neighbors().unwrap(), expected, "{sharing:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_sharing_of_tables_finds_all_neighbors_of_what_moves(spheres in arrangement(300), share in 0.0..1.0f64) {
        check_sharing(&spheres, 1 + (share * (spheres.len() - 1) as f64) as usize, &Settings::default());
    }
}

#[test]
fn degenerate_arrangements_are_searched_too() {
    let line: Vec<_> = (0..3000).map(|k| ([k as f64 * 0.9, 0.0, 0.0], 0.5)).collect();
    let far_apart = vec![
        ([0.0, 0.0, 0.0], 0.5),
        ([1e9, 0.0, 0.0], 0.5),
        ([1e9 + 0.5, 0.0, -1e7], 0.01),
        ([1e9 + 0.5, 0.0, 0.0], 1e-6),
    ];
    let one_place: Vec<_> = (0..100).map(|_| ([0.3, 0.3, 0.3], 0.5)).collect();
    let one = vec![([-7.0, 3.0, 1e14], 0.5)];
    // As many cells of 1 m as grains, with each grain on a corner of its cell. Neighbors are exactly at the limit of the reach, and some are closer
    // by a rounding error.
    let borders: Vec<_> = (0..1000u32)
        .map(|k| {
            let nearer = if k % 3 == 0 { 1.0 - f64::EPSILON } else { 1.0 };
            ([k % 10, k / 10 % 10, k / 100].map(|c| f64::from(c) * nearer - 4.0), 0.5)
        })
        .collect();
    for centers in [&line, &far_apart, &one_place, &one, &borders] {
        for (search, skin) in Search::ALL.into_iter().flat_map(|search| [(search, 0.0), (search, 0.1)]) {
            check(centers, skin, search);
        }
    }
}

#[test]
fn searches_keep_their_memory_small() {
    // Many small grains around a few large ones, and two that are far away.
    let mut centers: Vec<Sphere> = (0..4000u32)
        .map(|k| ([k % 16, k / 16 % 16, k / 256].map(|c| f64::from(c) * 0.03), 0.01))
        .collect();
    centers.extend([([0.1; 3], 1.0), ([0.4; 3], 1.0), ([1e6; 3], 0.01), ([-1e6; 3], 0.01)]);
    for search in Search::ALL {
        let device = Cpu::new(1).unwrap();
        let mut fields = grains(&centers);
        let mut cells = Cells::new(centers.iter().map(|c| c.1), search, 0.001);
        cells.sort(&device, &mut fields, |_| true);
        // At most a few cells per grain and class, 8³ per block, and twelve entries per grain.
        assert!(cells.bytes() < 4_000_000, "{search:?}: {} bytes", cells.bytes());
        check(&centers, 0.001, search);
    }
}

#[test]
fn auto_follows_the_spread_of_radii() {
    let chosen = |radii: &[f64]| Search::Auto.chosen_for(radii.iter().copied());
    assert_eq!(chosen(&[0.3; 4]), Search::Grid);
    assert_eq!(chosen(&[0.51, 1.0]), Search::Grid);
    assert_eq!(chosen(&[0.5, 1.0]), Search::HierarchicalGrid);
    assert_eq!(Search::SpatialHash.chosen_for([1.0, 9.0].into_iter()), Search::SpatialHash);
    // One class is one grid: below a spread of 2 both searches are the same.
    let grids = |search| Cells::new([0.51, 0.7, 1.0].into_iter(), search, 0.0).grids();
    assert_eq!((grids(Search::Grid), grids(Search::HierarchicalGrid)), (1, 1));
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
    pairs.fill_rows::<true>(&device, &cells.index(), &fields.position, fields.len());
    pairs.take_over(&device, &cells.old_of, &old, RECORD);
    // A force that identifies its pair, with the sign of the row.
    let mark = |pairs: &Pairs, fields: &Fields, k: usize, i: usize| {
        let (a, b) = (f64::from(fields.id[i]), f64::from(fields.id[pairs.neighbors[k] as usize]));
        [a - b, (a + b) * (a - b).signum(), 0.0, 1.0]
    };
    let has_let_go = |record: &[f64; RECORD]| (record[0].abs() as u32).is_multiple_of(5);
    for i in 0..fields.len() {
        for k in pairs.row[i] as usize..pairs.row[i + 1] as usize {
            let record = mark(&pairs, &fields, k, i);
            if !has_let_go(&record) {
                pairs.history[k * RECORD..][..RECORD].copy_from_slice(&record);
            }
        }
    }
    // Shortlists keep the same pairs.
    let mut short = Pairs {
        row: pairs.row.clone(),
        neighbors: pairs.neighbors.clone(),
        has_shortlists: true,
        ..Pairs::default()
    };
    short.set_histories(pairs.history.clone(), RECORD);
    let [kept, of_short] = [&pairs, &short].map(|pairs| pairs.with_histories(&device, RECORD));
    assert_eq!(kept.row, of_short.row);
    assert_eq!(kept.neighbors, of_short.neighbors);
    assert_eq!(kept.history, of_short.history);
    // The bed is rotated by a right angle and loses a layer, which gives another order of cells and other parts.
    for center in fields.position.chunks_exact_mut(RECORD) {
        (center[0], center[2]) = (center[2], -center[0]);
    }
    cells.sort(&device, &mut fields, |center| center[1] > 0.5);
    assert!(fields.len() < centers.len());
    let mut rebuilt = Pairs::default();
    rebuilt.fill_rows::<true>(&device, &cells.index(), &fields.position, fields.len());
    rebuilt.take_over(&device, &cells.old_of, &pairs, RECORD);
    let mut with_shortlists = Pairs {
        has_shortlists: true,
        ..Pairs::default()
    };
    with_shortlists.fill_rows_at_once::<true>(&device, &cells.index(), &fields.position, fields.len(), |_| true);
    with_shortlists.take_over(&device, &cells.old_of, &kept, RECORD);
    assert_eq!(with_shortlists.histories(RECORD), rebuilt.history);
    assert!(rebuilt.neighbors.len() > 9000);
    for i in 0..fields.len() {
        for k in rebuilt.row[i] as usize..rebuilt.row[i + 1] as usize {
            let record = mark(&rebuilt, &fields, k, i);
            let kept = &rebuilt.history[k * RECORD..][..RECORD];
            if has_let_go(&record) {
                assert_eq!(kept, [0.0; RECORD], "a pair that had let go is new");
            } else {
                assert_eq!(kept, record);
            }
        }
    }
}
