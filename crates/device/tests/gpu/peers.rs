use super::gpu;

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
