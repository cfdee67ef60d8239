//! Contacts of polyhedral grains give the same forces natively and as a GPU kernel through wgpu, as in `gpu_equals_native.rs`.

#![allow(
    unsafe_code,
    reason = "a launch takes raw buffers; each is made here with the length it is passed with"
)]

use crate::gpu_equals_native::client;
use crate::shape_pairs::{Table, numbers_from, random_pairs, vector};
use bytemuck::Pod;
use cubecl::prelude::*;
use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_laws::{Coordinate, Real, Vector3};
use seixo_sweeps::bodies::orientation_at;
use seixo_sweeps::layout::{coefficients, load, store};
use seixo_sweeps::shape_pairs::{PosedShape, ShapePair, shape_contacts};

/// Numbers of the result: force, torques, powers, energies.
const FOUND: usize = 13;
/// Slots of a pair.
const SLOTS: usize = 32;

/// Contacts of pair `k`. A place has the offset, both orientations and both scales; a motion has the velocity and both angular velocities.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn contacts_of_pair<C: Coordinate<R>, R: Real>(
    k: usize,
    places: &[C],
    motions: &[R],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    table: &[R],
    old_keys: &[u32],
    old_springs: &[R],
    keys: &mut [u32],
    springs: &mut [R],
    found: &mut [R],
) {
    let at = k * 13usize;
    let motion = k * 9usize;
    let i = PosedShape::<C, R> {
        shape: shapes[k * 2usize],
        scale: places[at + 11usize],
        orientation: orientation_at::<C>(places, at + 3usize),
        spin: load::<R>(motions, motion + 3usize),
        mass: R::new(1.0),
    };
    let j = PosedShape::<C, R> {
        shape: shapes[k * 2usize + 1usize],
        scale: places[at + 12usize],
        orientation: orientation_at::<C>(places, at + 7usize),
        spin: load::<R>(motions, motion + 6usize),
        mass: R::new(2.0),
    };
    let pair = ShapePair::<C, R> {
        apart: load::<C>(places, at),
        velocity: load::<R>(motions, motion),
        direction: Vector3::<R>::zero(),
        i,
        j,
    };
    let laws = coefficients::<R>(table, 0usize);
    let sum = shape_contacts::<C, R>(
        &pair,
        words,
        numbers,
        k * SLOTS,
        32u32,
        old_keys,
        old_springs,
        keys,
        springs,
        &laws,
        R::new(0.0009765625),
        R::new(0.5),
    );
    let to = k * 13usize;
    store::<R>(found, to, &sum.force);
    store::<R>(found, to + 3usize, &sum.torque_i);
    store::<R>(found, to + 6usize, &sum.torque_j);
    found[to + 9usize] = sum.powers.normal_power;
    found[to + 10usize] = sum.powers.tangential_power;
    found[to + 11usize] = sum.stored.normal;
    found[to + 12usize] = sum.stored.tangential;
}

#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn shape_meetings<C: Coordinate<R>, R: Real>(
    places: &[C],
    motions: &[R],
    shapes: &[u32],
    words: &[u32],
    numbers: &[C],
    table: &[R],
    old_keys: &[u32],
    old_springs: &[R],
    keys: &mut [u32],
    springs: &mut [R],
    found: &mut [R],
) {
    let k = ABSOLUTE_POS;
    if k < found.len() / 13usize {
        contacts_of_pair::<C, R>(
            k,
            places,
            motions,
            shapes,
            words,
            numbers,
            table,
            old_keys,
            old_springs,
            keys,
            springs,
            found,
        );
    }
}

/// These numbers in another precision.
fn numbers_of<T>(values: &[f64], number: impl Fn(f64) -> T) -> Vec<T> {
    values.iter().map(|&value| number(value)).collect()
}

/// Largest difference between the two results after two steps, over the largest number of its kind.
fn difference<C: Coordinate<R> + Pod, R: Real + Pod>(
    place: impl Fn(f64) -> C,
    number: impl Fn(f64) -> R + Copy,
    wide: impl Fn(R) -> f64 + Copy,
) -> f64 {
    let Table { words, numbers } = Table::new();
    let mut random = numbers_from(31);
    let (mut places, mut motions, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    let pairs = random_pairs(&Table::new(), 0.03);
    let count = 8 * pairs.len();
    for pair in (0..8).flat_map(|_| &pairs) {
        places.extend([pair.apart.x, pair.apart.y, pair.apart.z]);
        for one in [&pair.i, &pair.j] {
            let turn = one.orientation;
            places.extend([turn.w, turn.x, turn.y, turn.z]);
            shapes.push(one.shape);
        }
        places.extend([pair.i.scale, pair.j.scale]);
        for _ in 0..3 {
            let motion = vector(&mut random);
            motions.extend([motion.x, motion.y, motion.z]);
        }
    }
    let materials = PairOfMaterials {
        effective_modulus: 1e3,
        effective_shear_modulus: 4e2,
        restitution: 0.6,
        friction: 0.4,
        ..PairOfMaterials::default()
    };
    let laws = derive(NormalLaw::Hertz, TangentialLaw::Mindlin, &materials).row();
    let (places, numbers) = (numbers_of(&places, &place), numbers_of(&numbers, &place));
    let (motions, table) = (numbers_of(&motions, number), numbers_of(&laws, number));
    let slots = count * SLOTS;
    let mut native = vec![number(0.0); count * FOUND];
    let (mut old_keys, mut old_springs) = (vec![0; slots], vec![number(0.0); 4 * slots]);
    for _ in 0..2 {
        let (mut keys, mut springs) = (old_keys.clone(), old_springs.clone());
        for k in 0..count {
            contacts_of_pair::<C, R>(
                k,
                &places,
                &motions,
                &shapes,
                &words,
                &numbers,
                &table,
                &old_keys,
                &old_springs,
                &mut keys,
                &mut springs,
                &mut native,
            );
        }
        (old_keys, old_springs) = (keys, springs);
    }

    let client = client();
    let upload = |bytes: &[u8]| client.create_from_slice(bytes);
    let found = upload(bytemuck::cast_slice(&vec![number(0.0); count * FOUND]));
    let keys = [0, 1].map(|_| upload(bytemuck::cast_slice(&vec![0u32; slots])));
    let springs = [0, 1].map(|_| upload(bytemuck::cast_slice(&vec![number(0.0); 4 * slots])));
    // SAFETY: every handle is passed with the number of items from which it was created.
    let argument = |handle, length| unsafe { BufferArg::from_raw_parts(handle, length) };
    for step in 0..2 {
        shape_meetings::launch::<C, R>(
            &client,
            CubeCount::Static(count.div_ceil(64) as u32, 1, 1),
            CubeDim::new_1d(64),
            argument(upload(bytemuck::cast_slice(&places)), places.len()),
            argument(upload(bytemuck::cast_slice(&motions)), motions.len()),
            argument(upload(bytemuck::cast_slice(&shapes)), shapes.len()),
            argument(upload(bytemuck::cast_slice(&words)), words.len()),
            argument(upload(bytemuck::cast_slice(&numbers)), numbers.len()),
            argument(upload(bytemuck::cast_slice(&table)), table.len()),
            argument(keys[step].clone(), slots),
            argument(springs[step].clone(), 4 * slots),
            argument(keys[1 - step].clone(), slots),
            argument(springs[1 - step].clone(), 4 * slots),
            argument(found.clone(), count * FOUND),
        );
    }
    let bytes = client.read_one(found).expect("the device returns its results");
    let on_device: Vec<R> = bytemuck::pod_collect_to_vec(&bytes);
    let mut worst = 0.0f64;
    for kind in 0..FOUND {
        let of_kind = |values: &[R]| values.iter().skip(kind).step_by(FOUND).map(|&x| wide(x)).collect::<Vec<f64>>();
        let (on_device, native) = (of_kind(&on_device), of_kind(&native));
        let largest = native.iter().fold(0.0, |most, x| f64::max(most, x.abs()));
        assert!(largest > 0.0, "number {kind} is always zero");
        for (a, b) in on_device.iter().zip(&native) {
            assert!((a - b).is_finite(), "number {kind}: {a} {b}");
            worst = worst.max((a - b).abs() / largest);
        }
    }
    worst
}

#[test]
fn shapes_in_single_precision() {
    // Rounding of f32 (6e-8) over an overlap of three hundredths, and over the angle between nearly parallel edges.
    let worst = difference::<f32, f32>(|x| x as f32, |x| x as f32, f64::from);
    println!("largest difference, f32: {worst:.2e}");
    assert!(worst < 1e-4, "{worst:e}");
}

#[test]
fn shapes_in_mixed_precision() {
    let worst = difference::<f64, f32>(|x| x, |x| x as f32, f64::from);
    println!("largest difference, f64 and f32: {worst:.2e}");
    assert!(worst < 1e-5, "{worst:e}");
}

#[test]
fn shapes_in_double_precision() {
    let worst = difference::<f64, f64>(|x| x, |x| x, |x| x);
    println!("largest difference, f64: {worst:.2e}");
    assert!(worst < 1e-11, "{worst:e}");
}
