use super::gpu;
use seixo_device::gpu::{Link, Rows};

#[test]
fn a_copy_beside_its_original_is_the_same() {
    let gpu = gpu();
    assert!(gpu.reaches(&gpu));
    let from = gpu.upload(&[3u32, 5, 7, 11], "words").unwrap();
    let there = gpu.copy_to(&from, 3, &gpu).unwrap();
    gpu.write(&from, &[0; 4]);
    assert_eq!(gpu.download(&there).unwrap(), [3, 5, 7]);
}

#[test]
fn one_copy_takes_parts_of_different_types_along() {
    let gpu = gpu();
    let words = gpu.zeros::<u32>(192, "words").unwrap();
    let (first, second) = (words.part_from::<f32>(64, 4), words.part_from::<u32>(128, 3));
    // Parts are arguments of kernels like other buffers.
    gpu.copy(&gpu.upload(&[1.5f32, 2.5, 3.5, 4.5], "items").unwrap(), 4, &first);
    gpu.write(&second, &[5, 6, 7]);
    let there = gpu.copy_to(&words, 192, &gpu).unwrap();
    drop((words, first, second));
    let (first, second) = (there.part_from::<f32>(64, 4), there.part_from::<u32>(128, 3));
    let apart = gpu.zeros::<u32>(3, "words").unwrap();
    gpu.copy(&second, 3, &apart);
    assert_eq!(gpu.download(&first).unwrap(), [1.5, 2.5, 3.5, 4.5]);
    assert_eq!(gpu.download(&apart).unwrap(), [5, 6, 7]);
    assert_eq!(gpu.download(&there).unwrap()[128..132], [5, 6, 7, 0]);
}

#[test]
fn a_gpu_that_adds_up_alone_keeps_its_words() {
    let gpu = gpu();
    let words = gpu.upload(&[3u32, 5, 7], "words").unwrap();
    let sum = gpu
        .start_sum(&words, &words, 3, std::slice::from_ref(&gpu))
        .and_then(|()| gpu.await_sums());
    match sum {
        Ok(()) => assert_eq!(gpu.download(&words).unwrap(), [3, 5, 7]),
        // Such a GPU can reach others only through the host.
        Err(refused) => assert!(refused.to_string().contains("no transport between its devices"), "{refused}"),
    }
}

#[test]
fn words_that_a_gpu_posts_arrive_in_their_turn() {
    let gpu = gpu();
    if !gpu.accesses(&gpu) {
        // Only CUDA has addresses.
        assert_eq!(gpu.link_to(&gpu), Link::Absent);
        assert!(gpu.inbox(3, "words").is_err());
        return;
    }
    let (one, arrived) = (gpu.inbox(5, "words").unwrap(), gpu.zeros::<u32>(3, "words").unwrap());
    let several = [0, 1].map(|_| gpu.inbox(9, "words").unwrap());
    // Two senders share these inboxes.
    let routes = [gpu.route(&several, 0).unwrap(), gpu.route(&several, 4).unwrap()];
    let all_arrived = gpu.zeros::<u32>(7, "words").unwrap();
    let of_another = gpu.upload(&[1.5f32, 2.5, 3.5], "items").unwrap();
    let (memory, fetched) = (
        gpu.cuda_memory(&of_another).unwrap().unwrap(),
        gpu.zeros::<f32>(3, "items").unwrap(),
    );
    gpu.fetch((&of_another, &memory), 2, &fetched);
    assert_eq!(gpu.download(&fetched).unwrap(), [1.5, 2.5, 0.0]);
    for turn in 1..5 {
        let words = [turn, u32::MAX, 7 * turn];
        let first = [0, turn + 9, 1 << 31, turn];
        let (from, from_first) = (gpu.upload(&words, "words").unwrap(), gpu.upload(&first, "words").unwrap());
        gpu.post(&from, &one, turn);
        gpu.collect(&one, turn, &arrived);
        assert_eq!(gpu.download(&arrived).unwrap(), words);
        gpu.post_to_all(&from, &routes[1], turn);
        gpu.post_to_all(&from_first, &routes[0], turn);
        for inbox in &several {
            gpu.collect(inbox, turn, &all_arrived);
            assert_eq!(gpu.download(&all_arrived).unwrap(), [&first[..], &words[..]].concat());
        }
    }
}

#[test]
fn rows_that_a_gpu_posts_arrive_at_their_places_with_a_flag() {
    let gpu = gpu();
    if !gpu.accesses(&gpu) {
        // Only CUDA has addresses.
        return;
    }
    // Columns of eight records here, and of six zeros there.
    let wide: Vec<f64> = (0..32).map(|k| 0.1 + f64::from(k)).collect();
    let [second, third] = [0.2f32, 0.3].map(|x| (0..32).map(|k| x - k as f32).collect::<Vec<f32>>());
    let (first, [seconds, thirds]) = (
        gpu.upload(&wide, "items").unwrap(),
        [&second, &third].map(|items| gpu.upload(items, "items").unwrap()),
    );
    let (from, to) = ([6u32, 0, 7], [1u32, 5, 2]);
    let places = [from, to].map(|places| gpu.upload(&places, "places").unwrap());
    let inbox = gpu.inbox(3 * 16 + 1, "words").unwrap();
    let mut turn = 0;
    for has_third in [true, false] {
        for (raised, m) in [(0u32, 3usize), (9, 3), (1, 0)] {
            turn += 1;
            let flags = [[0, 0, raised, 0], [0, 4, 0, 0]].map(|flags| gpu.upload(&flags, "flags").unwrap());
            let arrived = gpu.zeros::<f64>(24, "items").unwrap();
            let others = [(); 2].map(|()| gpu.zeros::<f32>(24, "items").unwrap());
            let shown = Rows {
                places: &places[0],
                m,
                first: &first,
                second: &seconds,
                third: &thirds,
                has_third,
                flags: &flags[0],
                flag: 2,
            };
            gpu.post_rows(&shown, &inbox, turn);
            let followed = Rows {
                places: &places[1],
                m,
                first: &arrived,
                second: &others[0],
                third: &others[1],
                has_third,
                flags: &flags[1],
                flag: 3,
            };
            gpu.collect_rows(&inbox, turn, &followed);
            let (mut expected, mut expected_others) = (vec![0.0f64; 24], [vec![0.0f32; 24], vec![0.0f32; 24]]);
            for (from, to) in from.iter().zip(to).take(m) {
                let (from, to) = (*from as usize * 4, to as usize * 4);
                expected[to..to + 4].copy_from_slice(&wide[from..from + 4]);
                expected_others[0][to..to + 4].copy_from_slice(&second[from..from + 4]);
                if has_third {
                    // All but the fourth number.
                    expected_others[1][to..to + 3].copy_from_slice(&third[from..from + 3]);
                }
            }
            assert_eq!(gpu.download(&arrived).unwrap(), expected);
            assert_eq!(others.map(|column| gpu.download(&column).unwrap()), expected_others);
            assert_eq!(gpu.download(&flags[1]).unwrap(), [0, 4, 0, u32::from(raised != 0)]);
        }
    }
}
