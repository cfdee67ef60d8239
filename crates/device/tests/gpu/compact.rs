use crate::{MANY, SIZES, gpu, random, shuffled};
use seixo_device::gpu::{Gpu, Word, Workspace};

fn kept_of(keep: &[u32]) -> Vec<u32> {
    let gpu = gpu();
    let flags = gpu.upload(keep, "flags").unwrap();
    let run = || {
        let places = gpu.buffer(keep.len(), "places").unwrap();
        let kept = gpu.buffer(1, "number kept").unwrap();
        gpu.compact(&flags, keep.len(), &places, &kept).unwrap();
        let number = gpu.download(&kept).unwrap()[0] as usize;
        gpu.download_part(&places, 0..number).wait().unwrap()
    };
    let kept = run();
    assert!(kept == run(), "another run gives the same");
    kept
}

fn expected(keep: &[u32]) -> Vec<u32> {
    (0..keep.len() as u32).filter(|&item| keep[item as usize] != 0).collect()
}

#[test]
fn what_is_kept_stays_in_order() {
    for n in SIZES {
        let mut random = random(n as u64);
        let keep: Vec<u32> = (0..n).map(|_| (random() % 6).saturating_sub(2)).collect();
        assert_eq!(kept_of(&keep), expected(&keep), "{n} items");
    }
    assert!(kept_of(&[0; 300]).is_empty());
    assert_eq!(kept_of(&[u32::MAX; 300]), Vec::from_iter(0..300));
}

/// As many as blocks take more than one part of.
const SEVERAL_PARTS: usize = 3_000_001;

#[test]
fn lists_of_bits_are_in_order_as_far_as_there_is_room() {
    let gpu = gpu();
    let mut workspace = Workspace::new(&gpu).unwrap();
    for n in SIZES.into_iter().chain([SEVERAL_PARTS]) {
        let mut random = random(n as u64);
        let marks: Vec<u32> = (0..n).map(|_| random() & random()).collect();
        let there = gpu.upload(&marks, "marks").unwrap();
        let cases = if n == SEVERAL_PARTS {
            vec![(3, n / 5)]
        } else {
            vec![(1, n), (3, n / 5), (32, n / 4)]
        };
        for (lists, room) in cases {
            let (places, kept) = (
                gpu.zeros(lists * room, "places").unwrap(),
                gpu.buffer(lists, "numbers kept").unwrap(),
            );
            workspace.compact_by_bits(&gpu, (&there, lists), n, (&places, room), &kept).unwrap();
            let (places, kept) = (gpu.download(&places).unwrap(), gpu.download(&kept).unwrap());
            for list in 0..lists {
                let expected: Vec<u32> = (0..n as u32).filter(|&item| (marks[item as usize] >> list) & 1 == 1).collect();
                let written = expected.len().min(room);
                assert_eq!(kept[list] as usize, expected.len(), "{n} items, bit {list}");
                assert!(places[list * room..][..written] == expected[..written], "{n} items, bit {list}");
                assert!(places[list * room + written..][..room - written].iter().all(|&place| place == 0));
            }
        }
    }
}

#[test]
fn counts_are_summed_and_compacted_at_once() {
    let gpu = gpu();
    let mut workspace = Workspace::new(&gpu).unwrap();
    for n in SIZES.into_iter().chain([SEVERAL_PARTS]) {
        let mut random = random(n as u64);
        let counts: Vec<u32> = (0..n).map(|_| (random() % 9).saturating_sub(6)).collect();
        let there = gpu.upload(&counts, "counts").unwrap();
        let (sums, places) = (gpu.buffer(n + 1, "sums").unwrap(), gpu.buffer(n, "places").unwrap());
        let kept = gpu.buffer(2, "number kept, and sum").unwrap();
        workspace.scan_and_compact(&gpu, &there, n, &sums, (&places, &kept)).unwrap();
        let mut summed = [&counts[..], &[0]].concat();
        seixo_device::exclusive_scan(&mut summed);
        assert!(gpu.download(&sums).unwrap() == summed, "{n} counts");
        let kept = gpu.download(&kept).unwrap();
        assert_eq!(kept[1], summed[n]);
        assert!(
            gpu.download_part(&places, 0..kept[0] as usize).wait().unwrap() == expected(&counts),
            "{n} counts"
        );
    }
}

#[test]
fn of_many_what_is_kept_stays_in_order() {
    let mut random = random(17);
    let keep: Vec<u32> = (0..MANY).map(|_| u32::from(random() < 1 << 30)).collect();
    assert!(kept_of(&keep) == expected(&keep));
}

fn gathered_is_as_ordered<W: Word>(gpu: &Gpu, width: usize, number: impl Fn(u32) -> W) {
    for n in SIZES {
        let items = n + 3;
        let from: Vec<W> = (0..(items * width) as u32).map(&number).collect();
        let order = shuffled(items, 3);
        let to = gpu.buffer::<W>(n * width, "gathered").unwrap();
        gpu.gather(
            &gpu.upload(&from, "items").unwrap(),
            &gpu.upload(&order, "order").unwrap(),
            n,
            width,
            &to,
        );
        let expected: Vec<W> = order[..n]
            .iter()
            .flat_map(|&item| &from[item as usize * width..][..width])
            .copied()
            .collect();
        assert_eq!(gpu.download(&to).unwrap(), expected, "{n} items of {width}");
    }
}

#[test]
fn items_of_any_width_are_gathered() {
    let gpu = gpu();
    for width in [1, 3, 4, 6] {
        gathered_is_as_ordered(&gpu, width, |k| k * 7);
        gathered_is_as_ordered(&gpu, width, |k| k as f32 * 0.5);
    }
    gpu.demand_double().unwrap();
    for width in [1, 4] {
        gathered_is_as_ordered(&gpu, width, |k| f64::from(k) / 3.0);
    }
}

#[test]
fn items_come_to_their_places_and_others_stay() {
    let gpu = gpu();
    for n in SIZES {
        for width in [1, 4] {
            let items: Vec<u32> = (0..(n * width) as u32).collect();
            let places = shuffled(n + 3, 5);
            let to = gpu.upload(&vec![u32::MAX; (n + 3) * width], "scattered").unwrap();
            gpu.scatter(
                &gpu.upload(&items, "items").unwrap(),
                &gpu.upload(&places, "places").unwrap(),
                n,
                width,
                &to,
            );
            let mut expected = vec![u32::MAX; (n + 3) * width];
            for (&place, item) in places[..n].iter().zip(items.chunks_exact(width)) {
                expected[place as usize * width..][..width].copy_from_slice(item);
            }
            assert_eq!(gpu.download(&to).unwrap(), expected, "{n} items of {width}");
        }
    }
}
