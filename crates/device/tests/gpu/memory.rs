use crate::{gpu, shuffled};
use cubecl::prelude::*;
use cubecl::wgpu::wgpu;
use seixo_device::gpu::{Api, Fold, Gpu, GpuError, Number, Order, Queue, Room, list, units};

#[cube(launch_unchecked)]
fn add_one(words: &mut [u32]) {
    if ABSOLUTE_POS < words.len() {
        words[ABSOLUTE_POS] += 1;
    }
}

/// Reverses the numbers of every record; `lengths` gets the numbers of records and words that the kernel sees.
#[cube(launch_unchecked)]
fn reverse_records<N: Number>(records: &[Vector<N, Const<4>>], words: &mut [N], lengths: &mut [u32]) {
    if ABSOLUTE_POS < records.len() {
        let record = records[ABSOLUTE_POS];
        #[unroll]
        for k in 0..4usize {
            words[ABSOLUTE_POS * 4 + k] = record.extract(3 - k);
        }
    }
    if ABSOLUTE_POS == 0 {
        lengths[0] = records.len() as u32;
        lengths[1] = words.len() as u32;
    }
}

fn add(gpu: &Gpu, words: &seixo_device::gpu::Buffer<u32>) {
    let (count, dim) = units(words.len());
    // SAFETY: the kernel compares its index with the number of words.
    unsafe { add_one::launch_unchecked(gpu.client(), count, dim, words.argument()) };
}

#[test]
fn what_is_uploaded_comes_back() {
    let gpu = gpu();
    for n in [0, 1, 1000] {
        let items = shuffled(n, 1);
        let buffer = gpu.upload(&items, "items").unwrap();
        assert_eq!(buffer.len(), n);
        assert_eq!(gpu.download(&buffer).unwrap(), items);
        let doubled: Vec<u32> = items.iter().map(|x| 2 * x).collect();
        gpu.write(&buffer, &doubled);
        assert_eq!(gpu.download(&buffer).unwrap(), doubled);
        assert_eq!(gpu.download_part(&buffer, n / 2..n).wait().unwrap(), doubled[n / 2..]);
    }
    let records = [[1.5f64, -2.0, 3.0, 0.1]; 9];
    let buffer = gpu.upload(&records, "records").unwrap();
    assert_eq!(gpu.download(&buffer).unwrap(), records);
}

#[test]
fn zeros_are_zero_even_where_something_was() {
    let gpu = gpu();
    for n in [0, 1, 5000] {
        drop(gpu.upload(&vec![7.0f64; n], "sevens").unwrap());
        let zeros = gpu.zeros::<f64>(n, "zeros").unwrap();
        assert_eq!(gpu.download(&zeros).unwrap(), vec![0.0; n]);
    }
}

fn records_are_vectors<N: Number>(number: impl Fn(usize) -> N) {
    let gpu = gpu();
    for n in [0, 1, 300] {
        let given: Vec<N> = (0..4 * n).map(&number).collect();
        let from = gpu.upload(&given, "records").unwrap();
        let to = gpu.buffer::<N>(4 * n, "words").unwrap();
        let lengths = gpu.buffer::<u32>(2, "lengths").unwrap();
        let (count, dim) = units(n);
        // SAFETY: the kernel compares its index with the number of records, which both buffers share.
        unsafe {
            reverse_records::launch_unchecked::<N>(gpu.client(), count, dim, from.records(), to.argument(), lengths.argument());
        }
        let expected: Vec<N> = given.chunks(4).flat_map(|record| record.iter().rev().copied()).collect();
        assert_eq!(gpu.download(&to).unwrap(), expected);
        assert_eq!(gpu.download(&lengths).unwrap(), [n as u32, 4 * n as u32]);
    }
}

#[test]
fn four_numbers_are_a_record_in_single_precision() {
    records_are_vectors(|k| k as f32);
}

#[test]
fn four_numbers_are_a_record_in_double_precision() {
    gpu().demand_double().unwrap();
    records_are_vectors(|k| k as f64 / 3.0);
}

#[test]
fn software_vulkan_has_whole_numbers_of_64_bits() {
    gpu().demand_long().unwrap();
}

#[test]
fn a_copy_sees_the_launches_before_it_and_none_after() {
    let gpu = gpu();
    let words = gpu.zeros::<u32>(100_000, "words").unwrap();
    let mut copies = Vec::new();
    for _ in 0..40 {
        let mut several = gpu.copies();
        let ticket = several.add(&words, 0..100_000);
        copies.push((gpu.download_later(&words), several.queue(), ticket));
        add(&gpu, &words);
    }
    gpu.write(&words, &vec![1_000_000; 100_000]);
    add(&gpu, &words);
    for (k, (copy, several, ticket)) in copies.into_iter().enumerate() {
        let expected = vec![k as u32; 100_000];
        assert_eq!(copy.wait().unwrap(), expected, "after {k} launches");
        assert_eq!(several.wait().unwrap().take(ticket), expected, "after {k} launches");
    }
    assert_eq!(gpu.download(&words).unwrap(), vec![1_000_001; 100_000]);
}

#[test]
fn what_is_carried_off_is_what_the_launches_before_made_of_it() {
    let gpu = gpu();
    let words = gpu.zeros::<u32>(1_000_000, "words").unwrap();
    std::thread::scope(|scope| {
        let mut seen = Vec::new();
        for k in 0..40 {
            let (first, second) = (gpu.parcel::<u32>(1_000_000), gpu.parcel::<u32>(10));
            gpu.copy(&words, 1_000_000, &first);
            gpu.copy(&words, 10, &second);
            add(&gpu, &second);
            let mut copies = gpu.copies();
            let tickets = (copies.add(&first, 0..1_000_000), copies.add(&second, 0..10));
            // Another thread downloads it at any time, while the next buffer is filled.
            seen.push(scope.spawn(move || {
                let arrived = copies.carry_off().wait().unwrap();
                let is_same = arrived.make(tickets.0, |words| words.iter().all(|&word| word == k));
                assert!(is_same, "after {k} launches");
                assert_eq!(arrived.take(tickets.1), [k + 1; 10]);
            }));
            add(&gpu, &words);
            if seen.len() > 3 {
                seen.remove(0).join().unwrap();
            }
        }
    });
    assert_eq!(gpu.download(&words).unwrap(), vec![40; 1_000_000]);
}

#[test]
fn what_is_shared_is_read_where_it_lies_and_stays_as_it_is() {
    let gpu = gpu();
    let setup = gpu.graphics().expect("a device that draws; with CUDA, NVIDIA's driver for Vulkan");
    let words = gpu.zeros::<u32>(100_000, "words").unwrap();
    let mut shared = Vec::new();
    for _ in 0..20 {
        let parcel = gpu.parcel::<u32>(100_000);
        gpu.copy(&words, 100_000, &parcel);
        let mut copies = gpu.copies();
        let ticket = copies.add(&parcel, 10..100_000);
        let mut others = gpu.copies();
        let beside = others.add(&parcel, 0..3);
        let (parts, arrived) = copies.share(&[&ticket], others).unwrap().unwrap();
        assert_eq!(arrived.take(beside), vec![shared.len() as u32; 3]);
        shared.extend(parts);
        drop((copies, parcel));
        // Memory allocated meanwhile does not overlap it.
        let other = gpu.parcel::<u32>(100_000);
        gpu.clear(&other);
        add(&gpu, &words);
    }
    for (k, shared) in (0u32..).zip(&shared) {
        let size = shared.part.end - shared.part.start;
        assert!(size >= 4 * 99_990, "{:?}", shared.part);
        let buffer = setup.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = setup.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&shared.buffer, shared.part.start, &buffer, 0, size);
        setup.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., Result::unwrap);
        setup.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let bytes = buffer.get_mapped_range(..).unwrap();
        let is_same = bytes.chunks(4).take(99_990).all(|word| word == k.to_le_bytes());
        assert!(is_same, "after {k} launches");
    }
    assert_eq!(gpu.download(&words).unwrap(), vec![20; 100_000]);
}

#[test]
fn a_parcel_for_which_there_is_no_memory_harms_no_one_else() {
    let gpu = gpu();
    let words = gpu.upload(&[1, 2, 3], "words").unwrap();
    let too_large = 1 << 40;
    let parcel = gpu.parcel::<u32>(too_large);
    gpu.copy(&words, 3, &parcel);
    let mut copies = gpu.copies();
    copies.add(&parcel, 0..too_large);
    drop(parcel);
    let Err(GpuError::Lost { cause }) = copies.carry_off().wait() else {
        panic!("four tebibytes were there")
    };
    println!("{cause}");
    add(&gpu, &words);
    assert_eq!(gpu.download(&words).unwrap(), [2, 3, 4]);
    gpu.wait().unwrap();
}

#[test]
fn launches_of_several_threads_are_one_sequence() {
    let gpu = gpu();
    let words = gpu.zeros::<u32>(1000, "words").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(|_| add(&gpu, &words)));
        }
    });
    assert_eq!(gpu.download(&words).unwrap(), vec![100; 1000]);
}

#[test]
fn launches_of_two_queues_do_not_disturb_each_other() {
    let gpu = &gpu();
    let count_from = |start: u32| {
        let words = gpu.upload(&vec![start; 100_000], "words").unwrap();
        for k in 1..=40 {
            add(gpu, &words);
            assert_eq!(gpu.download(&words).unwrap(), vec![start + k; 100_000]);
        }
    };
    std::thread::scope(|scope| {
        for (queue, start) in Queue::PAIR.into_iter().zip([0, 1_000_000]) {
            scope.spawn(move || queue.enter(|| count_from(start)));
        }
        count_from(2_000_000);
    });
}

#[test]
fn a_copy_outlives_its_buffer() {
    let gpu = gpu();
    let words = gpu.upload(&[1, 2, 3], "words").unwrap();
    let copy = gpu.download_later(&words);
    drop(words);
    let other = gpu.upload(&[9, 9, 9], "others").unwrap();
    assert_eq!(copy.wait().unwrap(), [1, 2, 3]);
    assert_eq!(gpu.download(&other).unwrap(), [9, 9, 9]);
}

#[test]
fn the_account_counts_live_bytes() {
    let gpu = gpu();
    let sharing = gpu.clone();
    let a = gpu.buffer::<f64>(1000, "a").unwrap();
    let b = sharing.buffer::<u32>(10, "b").unwrap();
    assert_eq!((gpu.bytes_in_use(), gpu.peak()), (8040, 8040));
    drop(a);
    assert_eq!((gpu.bytes_in_use(), gpu.peak()), (40, 8040));
    drop(b);
    assert_eq!((sharing.bytes_in_use(), sharing.peak()), (0, 8040));
    let other = Gpu::open(None).unwrap();
    assert_eq!(other.peak(), 0, "whoever opens the GPU again has an account of their own");
}

#[test]
fn more_memory_than_there_is_is_an_error_and_the_device_goes_on() {
    let gpu = gpu();
    let before = gpu.upload(&[5u32; 100], "before").unwrap();
    let Err(error) = gpu.buffer::<u32>(1 << 42, "positions") else {
        panic!("2^44 bytes were given");
    };
    assert!(matches!(
        error,
        GpuError::OutOfMemory {
            what: "positions",
            needed: 17_592_186_044_416,
            held: 400,
            ..
        }
    ));
    assert!(error.to_string().contains("17.6 TB are needed"), "{error}");
    assert_eq!(gpu.bytes_in_use(), 400);
    add(&gpu, &before);
    assert_eq!(gpu.download(&before).unwrap(), [6; 100]);
}

#[test]
fn a_buffer_whose_words_have_no_number_of_32_bits_is_refused() {
    let gpu = gpu();
    let most = 4 * u64::from(u32::MAX);
    let Err(GpuError::OutOfMemory {
        needed,
        room: Room::Block(free),
        ..
    }) = gpu.buffer::<u32>(1 << 32, "positions")
    else {
        panic!("it was given, or the largest buffer is not named");
    };
    assert!(needed == most + 4 && free <= most, "{needed} {free}");
}

/// Set when a test runs itself in its own process.
const AGAIN: &str = "SEIXO_TEST_RUNS_AGAIN";

/// Runs a test of this file again in a process that this shell line starts.
#[cfg(unix)]
fn run_again(test: &str, shell: &str) {
    let answer = std::process::Command::new("sh")
        .args(["-c", &format!("{shell} exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args([&format!("memory::{test}"), "--exact", "--nocapture"])
        .env(AGAIN, "yes")
        .output()
        .unwrap();
    let (output, errors) = (String::from_utf8_lossy(&answer.stdout), String::from_utf8_lossy(&answer.stderr));
    assert!(answer.status.success() && output.contains("1 passed"), "{output}{errors}");
    assert!(!errors.contains("panicked"), "no thread panics on the way: {errors}");
}

#[cfg(unix)]
#[test]
fn memory_taken_piece_by_piece_ends_in_an_error_and_comes_back() {
    let gpu = gpu();
    // Software GPUs allocate from the address space, which has no limit.
    if gpu.description().is_software && std::env::var_os(AGAIN).is_none() {
        return run_again("memory_taken_piece_by_piece_ends_in_an_error_and_comes_back", "ulimit -v 16000000;");
    }
    let piece = 1 << 25;
    let mut pieces = Vec::new();
    let error = loop {
        match gpu.buffer::<u32>(piece, "pieces") {
            Ok(buffer) => pieces.push(buffer),
            Err(error) => break error,
        }
        assert!(pieces.len() < 10_000, "a terabyte was given");
    };
    println!("after {} pieces: {error}", pieces.len());
    assert!(matches!(error, GpuError::OutOfMemory { .. }), "{error}");
    let into = Order {
        order: &pieces[2],
        first: &pieces[3],
        room: &pieces[4],
    };
    let refused = gpu.order_by_key(&pieces[0], &pieces[1], piece, piece - 1, into);
    assert!(
        matches!(refused, Err(GpuError::OutOfMemory { .. })),
        "memory for a moment is refused, too"
    );
    drop(pieces);
    let keep = gpu.zeros::<u32>(piece, "flags").unwrap();
    let (places, kept) = (gpu.buffer(piece, "places").unwrap(), gpu.buffer(1, "number kept").unwrap());
    add(&gpu, &keep);
    gpu.compact(&keep, piece - 1, &places, &kept).unwrap();
    assert_eq!(gpu.download(&kept).unwrap(), [piece as u32 - 1]);
}

#[test]
fn the_allocation_that_is_to_fail_fails() {
    let gpu = gpu();
    gpu.fail_allocation(3);
    let a = gpu.zeros::<u32>(10, "a").unwrap();
    let b = gpu.upload(&[1u32], "b").unwrap();
    let Err(error) = gpu.upload(&[1u32, 2], "c") else {
        panic!("it was given")
    };
    let expected = GpuError::OutOfMemory {
        gpu: gpu.description().to_string(),
        what: "c",
        needed: 8,
        held: 44,
        room: Room::Unknown,
    };
    assert_eq!(error, expected);
    let c = gpu.upload(&[1u32, 2], "c").unwrap();
    assert_eq!(gpu.bytes_in_use(), 52);
    drop((a, b, c));
}

#[test]
fn primitives_hand_on_every_failed_allocation() {
    let gpu = gpu();
    let n = 5_000_000;
    let keys = gpu.zeros::<u32>(n, "keys").unwrap();
    let ids = gpu.upload(&shuffled(n, 1), "ids").unwrap();
    let (order, first) = (gpu.buffer::<u32>(n, "order").unwrap(), gpu.buffer::<u32>(n + 1, "firsts").unwrap());
    let values = gpu.zeros::<f32>(n, "values").unwrap();
    let room = gpu.buffer::<u32>(n, "room").unwrap();
    let into = Order {
        order: &order,
        first: &first,
        room: &room,
    };
    let held = gpu.bytes_in_use();
    let all: [&dyn Fn() -> Result<(), GpuError>; 4] = [
        &|| gpu.exclusive_scan(&keys, n, &first),
        &|| gpu.compact(&keys, n, &order, &first),
        &|| gpu.fold(&values, n, Fold::Sum).map(drop),
        &|| gpu.order_by_key(&ids, &ids, n, n, into),
    ];
    for (primitive, fewest) in all.into_iter().zip([3, 1, 3, 4]) {
        let failures = (1..).take_while(|&k| {
            gpu.fail_allocation(k);
            let answer = primitive();
            assert_eq!(gpu.bytes_in_use(), held, "scratch is given back");
            matches!(answer, Err(GpuError::OutOfMemory { .. }))
        });
        let failures = failures.count();
        gpu.fail_allocation(0);
        assert!(failures >= fewest, "{failures} allocations");
        gpu.wait().unwrap();
    }
}

#[test]
fn a_launch_that_cannot_be_shows_when_its_result_is_read_and_the_device_goes_on() {
    let gpu = gpu();
    let words = gpu.upload(&[1, 2, 3], "words").unwrap();
    let (count, _) = units(3);
    // SAFETY: the kernel compares its index with the number of words.
    unsafe { add_one::launch_unchecked(gpu.client(), count, CubeDim::new_1d(1 << 20), words.argument()) };
    let Err(GpuError::Lost { cause }) = gpu.download(&words) else {
        panic!("a cube of a million units ran");
    };
    println!("{cause}");
    assert!(cause.contains("1048576") && !cause.contains('\n'), "{cause}");
    gpu.write(&words, &[4, 5, 6]);
    add(&gpu, &words);
    assert_eq!(gpu.download(&words).unwrap(), [5, 6, 7]);
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_that_reports_what_is() {
    let found = list().found;
    let Err(error) = Gpu::open(Some((Api::Wgpu, 99))) else {
        panic!("it was opened")
    };
    let message = error.to_string();
    assert!(message.contains("wgpu:99 was asked for"), "{message}");
    assert!(message.contains(&found[0].name), "{message}");
}

#[test]
fn every_gpu_that_is_listed_opens_and_reports_its_name() {
    let listing = list();
    println!("{listing}");
    for description in &listing.found {
        let gpu = Gpu::open(Some((description.api, description.index))).unwrap();
        assert_eq!(gpu.description(), description);
        let words = gpu.zeros::<u32>(3, "words").unwrap();
        add(&gpu, &words);
        assert_eq!(gpu.download(&words).unwrap(), [1; 3]);
    }
    if !cfg!(feature = "cuda") {
        assert_eq!(listing.missing[0], "CUDA: this build has no CUDA (cargo feature cuda)");
    }
}

#[cfg(unix)]
#[test]
fn without_a_driver_the_reasons_are_reported() {
    if std::env::var_os(AGAIN).is_none() {
        let nowhere = "VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent CUDA_VISIBLE_DEVICES=";
        return run_again("without_a_driver_the_reasons_are_reported", nowhere);
    }
    let listing = list();
    assert_eq!(listing.found, []);
    let line = "Vulkan/Metal/DirectX 12: no driver offers an adapter";
    assert!(listing.missing.iter().any(|reason| reason == line), "{listing}");
    let Err(error) = Gpu::open(None) else { panic!("it was opened") };
    assert!(
        error.to_string().contains(line) && error.to_string().contains("mesa-vulkan-drivers"),
        "{error}"
    );
}
