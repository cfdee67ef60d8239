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
fn a_gpu_that_adds_up_alone_keeps_its_words() {
    let gpu = gpu();
    let words = gpu.upload(&[3u32, 5, 7], "words").unwrap();
    match gpu.add_up(&words, std::slice::from_ref(&gpu)) {
        Ok(()) => assert_eq!(gpu.download(&words).unwrap(), [3, 5, 7]),
        // Such a GPU can reach others only through the host.
        Err(refused) => assert!(refused.to_string().contains("no transport between its devices"), "{refused}"),
    }
}
