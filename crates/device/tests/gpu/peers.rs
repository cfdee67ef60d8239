use super::gpu;
use seixo_device::gpu::Link;

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
