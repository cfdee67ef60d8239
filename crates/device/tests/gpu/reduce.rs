use crate::{MANY, SIZES, gpu, random};
use seixo_device::gpu::{Fold, Gpu, Number};

fn folded<N: Number>(gpu: &Gpu, values: &[N], fold: Fold) -> N {
    let values = gpu.upload(values, "values").unwrap();
    let run = || gpu.download(&gpu.fold(&values, values.len(), fold).unwrap()).unwrap()[0];
    let result = run();
    assert_eq!(
        bytemuck::bytes_of(&result),
        bytemuck::bytes_of(&run()),
        "another run gives the same bits"
    );
    result
}

/// Numbers from -1 to 1.
fn numbers(n: usize) -> Vec<f64> {
    let mut random = random(n as u64);
    (0..n).map(|_| f64::from(random()) / f64::from(1u32 << 30) - 1.0).collect()
}

#[test]
fn sums_are_right_to_rounding() {
    let gpu = gpu();
    for n in SIZES {
        let wide = numbers(n);
        let exact: f64 = wide.iter().sum();
        assert!((folded(&gpu, &wide, Fold::Sum) - exact).abs() <= 1e-15 * n as f64, "{n} numbers");
        let narrow: Vec<f32> = wide.iter().map(|&x| x as f32).collect();
        let exact: f64 = narrow.iter().map(|&x| f64::from(x)).sum();
        assert!(
            (f64::from(folded(&gpu, &narrow, Fold::Sum)) - exact).abs() <= 1e-6 * n as f64,
            "{n} numbers"
        );
    }
}

#[test]
fn whole_numbers_are_summed_exactly_however_many() {
    let gpu = gpu();
    // Integer sums below 2²⁴ are exact in single precision.
    let values: Vec<f32> = (0..MANY).map(|k| f32::from(u8::from(k % 1000 == 999))).collect();
    assert_eq!(folded(&gpu, &values, Fold::Sum), (MANY / 1000) as f32);
    let values: Vec<f64> = (0..MANY / 2).map(|k| (k % 1000) as f64).collect();
    assert_eq!(folded(&gpu, &values, Fold::Sum), values.iter().sum::<f64>());
}

#[test]
fn extremes_are_exact() {
    let gpu = gpu();
    for n in SIZES.into_iter().filter(|&n| n > 0) {
        let wide = numbers(n);
        let narrow: Vec<f32> = wide.iter().map(|&x| x as f32).collect();
        assert_eq!(folded(&gpu, &wide, Fold::Smallest), wide.iter().copied().fold(f64::MAX, f64::min));
        assert_eq!(folded(&gpu, &wide, Fold::Largest), wide.iter().copied().fold(f64::MIN, f64::max));
        assert_eq!(
            folded(&gpu, &narrow, Fold::Smallest),
            narrow.iter().copied().fold(f32::MAX, f32::min)
        );
        assert_eq!(
            folded(&gpu, &narrow, Fold::Largest),
            narrow.iter().copied().fold(f32::MIN, f32::max)
        );
    }
    assert_eq!(folded::<f64>(&gpu, &[], Fold::Smallest), f64::MAX);
    assert_eq!(folded::<f32>(&gpu, &[], Fold::Largest), f32::MIN);
    assert_eq!(folded::<f32>(&gpu, &[], Fold::Sum), 0.0);
}

#[test]
fn what_is_not_a_number_hides_no_extreme() {
    let gpu = gpu();
    let mut values = vec![f32::NAN; 600];
    (values[3], values[511]) = (-2.0, 5.0);
    assert_eq!(folded(&gpu, &values, Fold::Largest), 5.0);
    assert_eq!(folded(&gpu, &values, Fold::Smallest), -2.0);
    assert!(folded(&gpu, &values, Fold::Sum).is_nan());
}

/// Sums of segments of these lengths, with items of `width` numbers, and the expected sums.
fn sums_of_segments(gpu: &Gpu, lengths: &[u32], width: usize, before: u32) -> (Vec<f64>, Vec<f64>) {
    let mut first = vec![before];
    lengths.iter().for_each(|&length| first.push(first[first.len() - 1] + length));
    let items = first[lengths.len()] as usize;
    let start = before as usize * width;
    let mut values = vec![9e9; start];
    values.extend(numbers((items - before as usize) * width));
    let expected = first
        .windows(2)
        .flat_map(|ends| {
            let items = &values[ends[0] as usize * width..ends[1] as usize * width];
            (0..width)
                .map(|column| items.chunks(width).map(|item| item[column]).sum())
                .collect::<Vec<f64>>()
        })
        .collect();
    let sums = gpu.buffer::<f64>(lengths.len() * width, "sums").unwrap();
    let (values, first) = (gpu.upload(&values, "values").unwrap(), gpu.upload(&first, "firsts").unwrap());
    gpu.sum_by_segment(&values, width, &first, lengths.len(), &sums);
    (gpu.download(&sums).unwrap(), expected)
}

#[test]
fn segments_are_summed_each_by_itself() {
    let gpu = gpu();
    let mut random = random(12);
    let ragged: Vec<u32> = (0..3000).map(|_| random() % 9).collect();
    let long = [0, 1, 63, 64, 65, 100_003, 0];
    for (lengths, width) in [(&ragged[..], 1), (&ragged[..], 3), (&long[..], 6), (&[][..], 1)] {
        let (sums, expected) = sums_of_segments(&gpu, lengths, width, 0);
        assert_eq!(sums.len(), expected.len());
        for (sum, expected) in sums.iter().zip(&expected) {
            assert!((sum - expected).abs() < 1e-10, "{sum} {expected}");
        }
    }
}

#[test]
fn sums_of_segments_have_the_same_bits_wherever_they_lie() {
    let gpu = gpu();
    let lengths = [700, 3, 64, 129];
    let (sums, _) = sums_of_segments(&gpu, &lengths, 3, 0);
    for before in [0, 1, 77] {
        assert_eq!(sums_of_segments(&gpu, &lengths, 3, before).0, sums);
    }
}

#[test]
fn segments_in_single_precision() {
    let gpu = gpu();
    let values: Vec<f32> = (0..1000).map(|k| k as f32).collect();
    let sums = gpu.buffer::<f32>(2, "sums").unwrap();
    let (values, first) = (
        gpu.upload(&values, "values").unwrap(),
        gpu.upload(&[0, 999, 1000], "firsts").unwrap(),
    );
    gpu.sum_by_segment(&values, 1, &first, 2, &sums);
    assert_eq!(gpu.download(&sums).unwrap(), [498_501.0, 999.0]);
}
