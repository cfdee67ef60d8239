//! A GPU lists the same pairs as the CPU, with any search. Software Vulkan suffices; without any adapter these tests fail.

use super::neighbor_lists::box_around;
use super::tables::{Index, RowSearch};
use super::{Cells, GpuGrains, Number, PairHistories, Rows};
use crate::assemble::fields_of;
use crate::populations::Populations;
use crate::search::Pairs;
use crate::search::tests::{Sphere, arrangement, check_sharing};
use crate::simulation::Simulation;
use crate::world::{Body, DeviceChoice, Grains, Interaction, Material, Search, Settings, WallMotion, World};
use proptest::prelude::*;
use seixo_device::Cpu;
use seixo_device::gpu::Gpu;
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use seixo_sweeps::bodies::{FREE, GHOST};
use seixo_sweeps::entries::{IN_CONTACT, PLACE, TILE};
use seixo_sweeps::kernels::{DONE, FLAGS, HALTED};
use seixo_sweeps::layout::RECORD;

/// Spheres at rest.
pub(crate) fn world(spheres: &[Sphere]) -> World {
    let mut grains = Grains::default();
    for (id, (center, radius)) in spheres.iter().enumerate() {
        grains.push(id as u32, *center, [0.0; 3], [0.0; 3], *radius, 0, 0);
    }
    World {
        materials: vec![Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(Interaction {
            normal: NormalLaw::Hertz,
            tangential: TangentialLaw::Mindlin,
            restitution: 0.5,
            friction: 0.5,
            ..Interaction::default()
        })],
        groups: vec!["grains".into()],
        grains,
        ..World::default()
    }
}

/// Spheres at rest, of which every other is fixed.
fn half_fixed(spheres: &[Sphere]) -> World {
    let mut world = world(spheres);
    let fixed = spheres.iter().enumerate().step_by(2);
    world.grains.bodies.extend(fixed.map(|(id, &(center, _))| Body {
        id: id as u32,
        mass: 1.0,
        moments: [1.0; 3],
        center,
        orientation: [1.0, 0.0, 0.0, 0.0],
        velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        motion: Some(WallMotion::default()),
        joint: None,
        carries: vec![(id as u32, [0.0; 3])],
    }));
    world
}

/// State of a world whose grains are sorted for lists.
fn sorted(world: &World, search: Search, skin: f64, decomposition_invariant: bool) -> Populations {
    let settings = Settings {
        search,
        skin: Some(skin),
        threads: 1,
        decomposition_invariant,
        ..Settings::default()
    };
    // Only lists: forces of grains with the same center are not finite.
    let fields = fields_of(&Cpu::new(1).unwrap(), &world.grains, &[2500.0], true);
    let mut host = Simulation::prepare(world, settings, fields).unwrap().whole.populations;
    if host.bodies.are_present {
        host.init_bodies(&world.grains);
    }
    host.rebuild_neighbor_lists();
    host
}

/// The rows of n grains on a GPU, as indices.
fn listed<R: Number>(gpu: &Gpu, rows: &Rows<R>, n: usize) -> Vec<Vec<u32>> {
    let [count, first, list] = [&rows.count, &rows.tile_first, &rows.list].map(|buffer| gpu.download(buffer).unwrap());
    let row = |i: usize| {
        let start = first[i / TILE] as usize + i % TILE;
        (0..count[i] as usize).map(|s| list[start + s * TILE] & PLACE).collect()
    };
    (0..n).map(row).collect()
}

/// The rows of all grains on CPU and GPU, with neighbors by their ids, in a run that is decomposition-invariant or not.
fn rows(gpu: &Gpu, world: &World, search: Search, skin: f64, decomposition_invariant: bool) -> [Vec<Vec<u32>>; 2] {
    let mut host = sorted(world, search, skin, decomposition_invariant);
    let mut pairs = Pairs::default();
    let n = host.grains.fields.len();
    pairs.fill_rows::<false>(&host.context.device, &host.grains.cells.index(), &host.grains.fields.position, n);
    if host.bodies.are_present {
        pairs.drop_inside_bodies(&host.grains.fields.member, &host.bodies.contact_body_of_members());
    }
    if decomposition_invariant {
        pairs.sort_rows(&host.context.device, &host.grains.fields.id);
    }
    let id = host.grains.fields.id.clone();
    let here = (0..n).map(|i| pairs.of(i).iter().map(|&j| id[j as usize]).collect()).collect();
    let remote = GpuGrains::<f64, f64>::import_host_state(gpu.clone(), &mut host).unwrap();
    let by_id = |row: Vec<u32>| row.into_iter().map(|j| id[j as usize]).collect();
    [here, listed(gpu, &remote.rows, n).into_iter().map(by_id).collect()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn a_gpu_lists_the_neighbors_that_the_cpu_lists_in_the_same_order(
        spheres in arrangement(300),
        skin in 0.0..0.3f64,
        decomposition_invariant in any::<bool>(),
    ) {
        let gpu = Gpu::open(None).unwrap();
        for search in Search::ALL {
            let [here, there] = rows(&gpu, &world(&spheres), search, skin, decomposition_invariant);
            prop_assert!(!decomposition_invariant || here.iter().all(|row| row.is_sorted()), "{:?}: in the order of ids", search);
            prop_assert_eq!(here, there, "{:?}", search);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn tables_of_fixed_spheres_change_no_row(spheres in arrangement(300), skin in 0.0..0.3f64) {
        let gpu = Gpu::open(None).unwrap();
        let world = half_fixed(&spheres);
        let [expected, all] = rows(&gpu, &world, Search::SpatialHash, skin, false);
        let [here, there] = rows(&gpu, &world, Search::SpatialHashStatic, skin, false);
        prop_assert_eq!(&all, &expected);
        prop_assert_eq!(&here, &expected, "on the CPU");
        prop_assert_eq!(&there, &expected, "on the GPU");
    }

    #[test]
    fn any_sharing_of_tables_on_a_gpu_finds_all_neighbors_of_what_moves(spheres in arrangement(300)) {
        let settings = Settings { device: DeviceChoice::Gpu(None), ..Settings::default() };
        check_sharing(&spheres, spheres.len().div_ceil(2), &settings);
    }
}

#[test]
fn a_gpu_lists_degenerate_arrangements_too() {
    let gpu = Gpu::open(None).unwrap();
    let line: Vec<Sphere> = (0..3000).map(|k| ([f64::from(k) * -0.9, 0.0, 0.0], 0.5)).collect();
    let one = vec![([-7.0, 3.0, 1e14], 0.5)];
    let dust: Vec<Sphere> = (0..2000u32)
        .map(|k| ([k % 16, k / 16 % 16, k / 256].map(|c| f64::from(c) * 0.03), 0.01))
        .chain([([0.1; 3], 1.0), ([1e6; 3], 0.01), ([-1e6; 3], 0.01)])
        .collect();
    for spheres in [&line, &one, &dust] {
        for search in Search::ALL {
            let [here, there] = rows(&gpu, &world(spheres), search, 0.05, false);
            assert!(here == there, "{search:?}");
            assert!(spheres.len() == 1 || here.iter().any(|row| !row.is_empty()), "{search:?}");
        }
    }
}

#[test]
fn a_gpu_sorts_rows_of_any_length_by_ids() {
    let gpu = Gpu::open(None).unwrap();
    let crowd = |k: u32, at: f64| ([at + 1e-4 * f64::from(k * 37 % 211), 1e-4 * f64::from(k * 53 % 211), 0.0], 0.5);
    // Rows with as many neighbors as a block sorts together, with fewer and with more.
    let sizes = [129u32, 110, 40, 200];
    let crowds = (0u32..)
        .zip(sizes)
        .flat_map(|(place, size)| (0..size).map(move |k| crowd(k, 3.0 * f64::from(place))));
    let line = (0..70u32).map(|k| ([-2.0 - 0.9 * f64::from(k * 29 % 70), 0.0, 0.0], 0.5));
    let spheres: Vec<Sphere> = crowds.chain(line).collect();
    let [here, there] = rows(&gpu, &world(&spheres), Search::Grid, 0.05, true);
    assert!(here.iter().all(|row| row.is_sorted()));
    for size in sizes {
        assert!(here.iter().any(|row| row.len() == size as usize - 1), "{size}");
    }
    assert!(here == there);
}

/// These rows on a GPU. Words of the list that belong to no row are no index.
fn uploaded(gpu: &Gpu, rows: &[Vec<u32>]) -> Rows<f64> {
    let count: Vec<u32> = rows.iter().map(|row| row.len() as u32).collect();
    let mut first = vec![0];
    for tile in count.chunks(TILE) {
        first.push(first[first.len() - 1] + tile.iter().max().unwrap() * TILE as u32);
    }
    let mut list = vec![u32::MAX; first[first.len() - 1] as usize + 2 * TILE];
    for (i, row) in rows.iter().enumerate() {
        for (s, &j) in row.iter().enumerate() {
            list[first[i / TILE] as usize + i % TILE + s * TILE] = j;
        }
    }
    let mut there = Rows::new(gpu, rows.len()).unwrap();
    gpu.write(&there.count, &count);
    gpu.write(&there.tile_first, &first);
    there.list = gpu.upload(&list, "neighbors").unwrap();
    there
}

#[test]
fn a_gpu_sorts_rows_in_any_order_of_entries_as_a_cpu_does() {
    /// A prime, so that no grain is in a row twice.
    const GRAINS: u32 = 509;
    let gpu = Gpu::open(None).unwrap();
    // An odd factor gives no id twice. One grain has the id that stands for none in the kernel.
    let mut id: Vec<u32> = (1..=GRAINS).map(|k| k.wrapping_mul(2_654_435_761)).collect();
    id[77] = u32::MAX;
    // The longest rows of tiles: at the limits of each way to sort, and beyond them.
    let longest = [
        0, 1, 2, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 110, 127, 128, 129, 140, 192, 193, 400,
    ];
    type Arrange = fn(&mut [u32], &[u32]);
    let orders: [Arrange; 4] = [
        |_, _| (),
        |row, id| row.sort_unstable_by_key(|&j| id[j as usize]),
        |row, id| row.sort_unstable_by_key(|&j| !id[j as usize]),
        // Runs, as from cells.
        |row, id| row.chunks_mut(5).for_each(|run| run.sort_unstable_by_key(|&j| id[j as usize])),
    ];
    let mut rows = Vec::new();
    for order in orders {
        for length in longest {
            for of_tile in 0..TILE as u32 {
                let shorter = if of_tile % 3 == 0 { 0 } else { length * of_tile / TILE as u32 };
                let step = 1 + (rows.len() as u32 * 37) % (GRAINS - 1);
                let mut row: Vec<u32> = (0..length - shorter).map(|s| (of_tile + s * step) % GRAINS).collect();
                order(&mut row, &id);
                rows.push(row);
            }
        }
    }
    // The last tile is not full, and neither is its block, as the number of tiles is no multiple of eight.
    rows.truncate(rows.len() - 7);
    let there = uploaded(&gpu, &rows);
    let id_there = gpu.upload(&id, "ids").unwrap();
    there.sort(&gpu, &id_there, rows.len());
    let found = listed(&gpu, &there, rows.len());
    for (row, found) in rows.iter_mut().zip(found) {
        row.sort_unstable_by_key(|&j| id[j as usize]);
        assert_eq!(*row, found);
    }
}

#[test]
fn the_box_behind_steps_is_that_of_the_positions_where_they_ended() {
    let gpu = Gpu::open(None).unwrap();
    let cells = Cells::<f64>::new(&gpu, 1, 1).unwrap();
    // More grains than threads.
    let n = 70_000u32;
    let record = |k: u32| [f64::from(k * 7 % 1000), -f64::from(k * 13 % 777), f64::from(k) * 1e-3, 0.5];
    let even: Vec<f64> = (0..n).flat_map(record).collect();
    let odd: Vec<f64> = even.iter().map(|x| 2.0 * x + 1.0).collect();
    let [even, odd] = [&even, &odd].map(|positions| gpu.upload(positions, "positions").unwrap());
    let n = n as usize;
    // Some of the outermost grains are ghosts.
    let member: Vec<u32> = (0..n as u32).map(|k| if k % 1000 < 990 { FREE } else { GHOST }).collect();
    let member = gpu.upload(&member, "ghosts").unwrap();
    let cases = [
        (0, [1, 0], false, None),
        (7, [0, 1], false, None),
        (7, [0, 1], true, Some(&member)),
        (8, [0, 0], true, Some(&member)),
        (5, [0, 0], true, None),
        (5, [0, 0], false, None),
    ];
    for (done, halted, is_last, member) in cases {
        let mut flags = vec![0u32; FLAGS];
        flags[DONE] = done;
        flags[HALTED..DONE].copy_from_slice(&halted);
        let flags = gpu.upload(&flags, "flags").unwrap();
        let mut copies = gpu.copies();
        let corners = cells.request_bounds(&gpu, [&even, &odd], (member, n), (&flags, is_last), &mut copies);
        let found = copies.wait().unwrap().make(corners, box_around);
        let ended = if done % 2 == 0 { &even } else { &odd };
        if halted != [0, 0] || is_last {
            assert_eq!(
                found,
                cells.bounds(&gpu, (ended, &cells.unbounded), member, n).unwrap(),
                "{done} steps"
            );
        } else {
            assert_eq!(found.1, 0, "lists that stay in use need no box");
        }
    }
}

#[test]
fn a_rebuild_like_the_one_before_allocates_nothing() {
    let gpu = Gpu::open(None).unwrap();
    let spheres: Vec<Sphere> = (0..3000u32)
        .map(|k| ([k % 15, k / 15 % 15, k / 225].map(|c| f64::from(c) * 0.95), 0.5))
        .collect();
    let mut host = sorted(&world(&spheres), Search::Grid, 0.1, false);
    let mut remote = GpuGrains::<f64, f64>::import_host_state(gpu.clone(), &mut host).unwrap();
    // The first one still makes room for contacts of the rows before.
    for _ in 0..2 {
        remote.rebuild_neighbor_lists(&mut host, false, None).unwrap();
    }
    gpu.fail_allocation(1);
    let rebuilt = remote.rebuild_neighbor_lists(&mut host, false, None);
    gpu.fail_allocation(0);
    assert_eq!(rebuilt, Ok(()));
    let entries = remote.rows.ends(&gpu, spheres.len()).unwrap();
    assert!(entries > 3000);
    let listed = listed(&gpu, &remote.rows, spheres.len());
    assert_eq!(entries, listed.iter().map(|row| row.len() as u64).sum::<u64>());
}

#[test]
fn rows_of_laws_in_single_precision_begin_with_the_pairs_that_overlap() {
    let gpu = Gpu::open(None).unwrap();
    // Inside the lattice, every grain overlaps six others, and another twelve are near.
    let spheres: Vec<Sphere> = (0..1000u32)
        .map(|k| ([k % 10, k / 10 % 10, k / 100].map(|c| f64::from(c) * 0.95), 0.5))
        .collect();
    let (n, world) = (spheres.len(), world(&spheres));
    let mut host = sorted(&world, Search::Grid, 0.5, false);
    let wide = GpuGrains::<f64, f64>::import_host_state(gpu.clone(), &mut host).unwrap();
    let position = gpu.download(&wide.position[wide.now]).unwrap();
    let overlap = |i: usize, j: usize| {
        let squares = (0..3).map(|axis| (position[i * RECORD + axis] - position[j * RECORD + axis]).powi(2));
        squares.sum::<f64>() < 1.0
    };
    let in_cells = listed(&gpu, &wide.rows, n);
    let mut host = sorted(&world, Search::Grid, 0.5, false);
    let mixed = GpuGrains::<f64, f32>::import_host_state(gpu.clone(), &mut host).unwrap();
    let rows = listed(&gpu, &mixed.rows, n);
    assert_ne!(rows, in_cells, "pairs that overlap are not the first in cells");
    for (i, (mut row, mut expected)) in rows.into_iter().zip(in_cells).enumerate() {
        let touching: Vec<u32> = expected.iter().copied().filter(|&j| overlap(i, j as usize)).collect();
        assert!(row.starts_with(&touching), "grain {i}: {row:?} begins with {touching:?}");
        row.sort_unstable();
        expected.sort_unstable();
        assert_eq!(row, expected, "grain {i} keeps its neighbors");
    }
    // The order of ids depends on nothing far away, such as the time of the rebuild.
    let mut host = sorted(&world, Search::Grid, 0.5, true);
    let invariant = GpuGrains::<f64, f32>::import_host_state(gpu.clone(), &mut host).unwrap();
    let id = host.grains.fields.id.clone();
    for row in listed(&gpu, &invariant.rows, n) {
        assert!(row.is_sorted_by_key(|&j| id[j as usize]), "in the order of ids");
    }
}

/// Contact histories of all pairs.
fn histories(remote: &GpuGrains<f64, f32>, host: &Populations) -> PairHistories {
    let device: &Cpu = &host.context.device;
    let downloaded = remote.touching().unwrap();
    downloaded(device)
}

#[test]
fn a_rebuild_keeps_histories_of_contacts_in_memory_for_one_set_of_rows() {
    let gpu = Gpu::open(None).unwrap();
    // Inside the lattice, every grain overlaps six others, and another twelve are near.
    let spheres: Vec<Sphere> = (0..3375u32)
        .map(|k| ([k % 15, k / 15 % 15, k / 225].map(|c| f64::from(c) * 0.95), 0.5))
        .collect();
    let n = spheres.len();
    let mut host = sorted(&world(&spheres), Search::Grid, 0.5, false);
    let mut remote = GpuGrains::<f64, f32>::import_host_state(gpu.clone(), &mut host).unwrap();
    // All pairs that overlap are in contact, each with other numbers.
    let position = gpu.download(&remote.position[remote.now]).unwrap();
    let [count, first, mut list] =
        [&remote.rows.count, &remote.rows.tile_first, &remote.rows.list].map(|buffer| gpu.download(buffer).unwrap());
    for i in 0..n {
        for s in 0..count[i] as usize {
            let entry = first[i / TILE] as usize + s * TILE + i % TILE;
            let j = (list[entry] & PLACE) as usize;
            let squares = (0..3).map(|axis| (position[i * RECORD + axis] - position[j * RECORD + axis]).powi(2));
            if squares.sum::<f64>() < 1.0 {
                list[entry] |= IN_CONTACT;
            }
        }
    }
    gpu.write(&remote.rows.list, &list);
    let numbers: Vec<f32> = (0..remote.rows.history.len()).map(|k| k as f32).collect();
    gpu.write(&remote.rows.history, &numbers);
    let before = histories(&remote, &host);
    let contacts = before.pairs.len();
    assert!(contacts * 10 > 27 * n, "{contacts} contacts");
    // After a step, histories also go to buffers that only steps need.
    remote.forces_known = false;
    remote.rebuild_neighbor_lists(&mut host, false, None).unwrap();
    assert!(histories(&remote, &host) == before, "each contact keeps its history");
    // In mixed precision an entry has four bytes for the neighbor, and four for each number of its history. So has a contact, unless its history is in
    // those buffers, four times four numbers a grain. Buffers have up to a quarter of spare room. All other columns take some 300 bytes a grain.
    let (numbers, contacts) = (remote.kind.numbers, 2 * contacts);
    let entries = gpu.download(&remote.rows.tile_first).unwrap()[n.div_ceil(TILE)] as usize;
    let words = entries * (1 + numbers) + contacts + contacts * numbers - 16 * n;
    let most = 4 * words * 5 / 4 + 400 * n;
    assert!(gpu.peak() < most as u64, "{} bytes, {most} expected at most", gpu.peak());
    remote.forces_known = true;
    remote.rebuild_neighbor_lists(&mut host, false, None).unwrap();
    assert!(
        histories(&remote, &host) == before,
        "each contact keeps its history, without those buffers too"
    );
}

/// Checks that rows are the same with any room for marks, for a lattice of this many grains along each side, at this spacing, with this skin. The
/// longest row has at least `longest` entries.
fn check_room_for_marks(gpu: &Gpu, (side, spacing): (u32, f64), skin: f64, longest: usize) {
    let spheres: Vec<Sphere> = (0..side * side * side)
        .map(|k| {
            let center = [k % side, k / side % side, k / (side * side)].map(|c| f64::from(c) * spacing);
            (center, 0.5)
        })
        .collect();
    let mut host = sorted(&world(&spheres), Search::Grid, skin, false);
    // Rows of laws in double precision are in the order of cells.
    let remote = GpuGrains::<f64, f64>::import_host_state(gpu.clone(), &mut host).unwrap();
    let n = remote.n;
    let rows = |words: usize, touching_first: bool, rows_are_short: bool| {
        let room = gpu.buffer::<f64>((words * n / 2).max(RECORD), "marks").unwrap();
        let search = RowSearch {
            index: Index::of(&host.grains.cells, &remote.cells, None, &remote.no_rows),
            position: &remote.position[remote.now],
            n,
            all: n,
            lengths: &remote.cells.lengths,
            member: None,
            room: &room,
            touching_first,
            rows_are_short,
        };
        let mut rows = Rows::<f64>::new(gpu, n).unwrap();
        rows.count(gpu, &search).unwrap();
        let entries = rows.entries(gpu, n).unwrap();
        rows.fill(gpu, &search, entries).unwrap();
        assert_eq!(search.marks_touching(), touching_first && words > 1);
        assert_eq!(search.takes_notes(), rows_are_short && words == 8);
        if touching_first && !search.marks_touching() {
            rows.put_touching_first(gpu, &search);
        }
        listed(gpu, &rows, n)
    };
    // Without marks, each pass compares all positions.
    let in_cells = rows(0, false, false);
    assert!(in_cells == listed(gpu, &remote.rows, n));
    assert!(in_cells.iter().any(|row| row.len() >= longest));
    let touching_first = rows(0, true, false);
    assert!(touching_first != in_cells);
    for (words, rows_are_short) in [(1, false), (2, false), (3, true), (8, false), (8, true)] {
        let what = format!("{words} words a grain, for rows that are short: {rows_are_short}");
        assert!(rows(words, false, rows_are_short) == in_cells, "{what}");
        assert!(
            rows(words, true, rows_are_short) == touching_first,
            "{what}, and pairs that overlap first"
        );
    }
}

#[test]
fn rows_are_the_same_with_room_for_all_marks_and_for_none() {
    let gpu = Gpu::open(None).unwrap();
    // More neighbors than one word has bits, than a thread collects, and than notes have room for, but not at the corners.
    check_room_for_marks(&gpu, (10, 0.7), 0.6, 41);
    // Few neighbors, in several blocks of cells.
    check_room_for_marks(&gpu, (14, 0.95), 0.4, 18);
}
