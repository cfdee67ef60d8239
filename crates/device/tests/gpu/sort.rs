use crate::{MANY, SIZES, gpu, random, shuffled};
use seixo_device::gpu::{Bins, Order, Workspace};

/// `order` and `first`, computed twice.
fn sorted(key: &[u32], id: &[u32], keys: usize) -> (Vec<u32>, Vec<u32>) {
    let gpu = gpu();
    let (key, id) = (gpu.upload(key, "keys").unwrap(), gpu.upload(id, "ids").unwrap());
    let run = || {
        let order = gpu.buffer(key.len(), "order").unwrap();
        let first = gpu.buffer(keys + 1, "firsts").unwrap();
        let room = gpu.buffer(key.len(), "room").unwrap();
        let into = Order {
            order: &order,
            first: &first,
            room: &room,
        };
        gpu.order_by_key(&key, &id, key.len(), keys, into).unwrap();
        (gpu.download(&order).unwrap(), gpu.download(&first).unwrap())
    };
    let result = run();
    assert!(result == run(), "another run gives the same");
    result
}

/// Expected order by key and id from the standard library, and `first` from the CPU sort.
fn expected(key: &[u32], id: &[u32], keys: usize) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<u32> = (0..key.len() as u32).collect();
    order.sort_unstable_by_key(|&item| (key[item as usize], id[item as usize]));
    let (mut stable, mut first) = (Vec::new(), Vec::new());
    seixo_device::stable_order_by_key(key, keys, &mut stable, &mut first);
    (order, first)
}

#[test]
fn items_come_in_the_order_of_key_and_id() {
    for n in SIZES {
        let mut random = random(n as u64);
        let keys = n / 3 + 1;
        let key: Vec<u32> = (0..n).map(|_| random() % keys as u32).collect();
        let id = shuffled(n, 5);
        assert_eq!(sorted(&key, &id, keys), expected(&key, &id, keys), "{n} items");
    }
}

#[test]
fn where_ids_are_places_the_order_is_the_stable_one() {
    let mut random = random(8);
    let key: Vec<u32> = (0..5000).map(|_| random() % 700).collect();
    let id: Vec<u32> = (0..5000).collect();
    let (mut order, mut first) = (Vec::new(), Vec::new());
    seixo_device::stable_order_by_key(&key, 700, &mut order, &mut first);
    assert_eq!(sorted(&key, &id, 700), (order, first));
}

#[test]
fn one_key_for_all_and_a_key_for_each() {
    let id = shuffled(700, 2);
    let same = vec![3; 700];
    assert_eq!(sorted(&same, &id, 5), expected(&same, &id, 5));
    let distinct = shuffled(100_003, 9);
    let id = shuffled(100_003, 4);
    assert_eq!(sorted(&distinct, &id, 100_003), expected(&distinct, &id, 100_003));
}

#[test]
fn many_items_come_in_the_order_of_key_and_id() {
    let mut random = random(1);
    let keys = MANY / 4;
    let key: Vec<u32> = (0..MANY).map(|_| random() % keys as u32).collect();
    let id = shuffled(MANY, 6);
    assert!(sorted(&key, &id, keys) == expected(&key, &id, keys));
}

#[test]
fn a_workspace_sorts_and_compacts_as_calls_without_one() {
    let gpu = gpu();
    let mut workspace = Workspace::new(&gpu).unwrap();
    for n in [3_000, 40, 5_000] {
        let mut random = random(n as u64);
        let keys = n / 2;
        let key: Vec<u32> = (0..n).map(|_| random() % keys as u32).collect();
        let id = shuffled(n, 5);
        let [order, room, places] = ["order", "room", "places"].map(|what| gpu.buffer(n, what).unwrap());
        let (first, kept) = (gpu.buffer(keys + 1, "firsts").unwrap(), gpu.buffer(1, "number kept").unwrap());
        let into = Order {
            order: &order,
            first: &first,
            room: &room,
        };
        let (key_there, id_there) = (gpu.upload(&key, "keys").unwrap(), gpu.upload(&id, "ids").unwrap());
        workspace.order_by_key(&gpu, &key_there, &id_there, n, keys, into).unwrap();
        assert_eq!(
            (gpu.download(&order).unwrap(), gpu.download(&first).unwrap()),
            expected(&key, &id, keys),
            "{n} items"
        );
        let keep: Vec<u32> = key.iter().map(|key| key % 2).collect();
        workspace
            .compact(&gpu, &gpu.upload(&keep, "flags").unwrap(), n, &places, &kept)
            .unwrap();
        let number = gpu.download(&kept).unwrap()[0] as usize;
        let expected: Vec<u32> = (0..n as u32).filter(|&item| keep[item as usize] == 1).collect();
        assert_eq!(gpu.download_part(&places, 0..number).wait().unwrap(), expected, "{n} items");
    }
}

#[test]
fn bins_hold_their_items_in_order_again_and_again() {
    let gpu = gpu();
    for n in SIZES {
        let keys = n / 3 + 1;
        let bins = Bins::new(&gpu, n, keys + 5).unwrap();
        let (items, first) = (gpu.buffer(n, "items").unwrap(), gpu.buffer(keys + 1, "firsts").unwrap());
        for seed in 0..3 {
            let mut random = random(seed);
            let key: Vec<u32> = (0..n).map(|_| random() % keys as u32).collect();
            bins.fill(&gpu, &gpu.upload(&key, "keys").unwrap(), n, keys, &items, &first);
            let (mut order, mut firsts) = (Vec::new(), Vec::new());
            seixo_device::stable_order_by_key(&key, keys, &mut order, &mut firsts);
            assert_eq!(gpu.download(&items).unwrap(), order, "{n} items");
            assert_eq!(gpu.download(&first).unwrap(), firsts, "{n} items");
        }
    }
}
