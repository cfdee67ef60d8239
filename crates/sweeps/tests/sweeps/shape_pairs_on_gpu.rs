//! The kernel of contacts of polyhedral grains gives the loads that a CPU gives, through wgpu as in `gpu_equals_native.rs`.

#![allow(
    unsafe_code,
    reason = "a launch takes raw buffers; each is made here with the length it is passed with"
)]

use crate::gpu_equals_native::client;
use crate::shape_pairs::{Table, numbers_from, random_pairs, vector};
use crate::shape_search_on_gpu::in_precision;
use bytemuck::Pod;
use cubecl::prelude::*;
use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_laws::vector::Vector3Launch;
use seixo_laws::{Coordinate, Real, Vector3};
use seixo_sweeps::kernels::FLAGS;
use seixo_sweeps::kernels::polyhedra::CONTACT_THREADS;
use seixo_sweeps::kernels::polyhedra_lists::PAIR_LOAD;
use seixo_sweeps::kernels::polyhedra_pairs::shape_pair_contacts;
use seixo_sweeps::layout::{RECORD, coefficients};
use seixo_sweeps::near_features::NearFeatures;
use seixo_sweeps::periodic::{OPEN, PeriodicBoundariesLaunch};
use seixo_sweeps::shape_pairs::{PairLoad, ShapePair, shape_contacts_over_steps};

/// Slots of a pair.
const SLOTS: usize = 32;
/// Numbers of the load of a pair.
const LOAD: usize = PAIR_LOAD * RECORD;
/// Places of [`numbers_of_load()`] in it.
const PLACES: [usize; 13] = [0, 1, 2, 4, 5, 6, 8, 9, 10, 7, 11, 15, 19];
/// Time step \[s\].
const DT: f64 = 0.000_976_562_5;
/// Largest overlap over the smaller rounding radius \[-\].
const OVERLAP_LIMIT: f64 = 0.5;

/// Force, both torques, energies, excess of the overlap and contact radius of a pair.
fn numbers_of_load<R: Real>(load: &PairLoad<R>) -> [R; 13] {
    let (force, i, j) = (&load.force, &load.torque_i, &load.torque_j);
    let (stored, excess) = (&load.stored, load.powers.excess);
    [
        force.x,
        force.y,
        force.z,
        i.x,
        i.y,
        i.z,
        j.x,
        j.y,
        j.z,
        stored.normal,
        stored.tangential,
        excess,
        load.conducting_radius,
    ]
}

/// These numbers in another precision.
fn numbers_of<T>(values: &[f64], number: impl Fn(f64) -> T) -> Vec<T> {
    values.iter().map(|&value| number(value)).collect()
}

/// Largest difference of two results over the largest number of their `kind`. Before the second step springs may have no energy.
#[track_caller]
fn difference_of_kind(kind: usize, step: usize, on_device: &[f64], native: &[f64]) -> f64 {
    let largest = native.iter().fold(0.0, |most, x| f64::max(most, x.abs()));
    assert!(largest > 0.0 || step == 0, "number {kind} is always zero");
    let mut worst = 0.0f64;
    for (a, b) in on_device.iter().zip(native) {
        assert!((a - b).is_finite(), "number {kind}: {a} {b}");
        worst = worst.max((a - b).abs());
    }
    worst / largest.max(f64::MIN_POSITIVE)
}

/// Largest difference between the two results in two steps, over the largest number of its kind. The kernel gets the keys of contacts that the CPU found.
fn difference<C: Coordinate<R> + Pod, R: Coordinate<R> + Pod>(
    place: impl Fn(f64) -> C + Copy,
    number: impl Fn(f64) -> R + Copy,
    wide: impl Fn(R) -> f64 + Copy,
) -> f64 {
    let table_of_shapes = Table::new();
    let mut random = numbers_from(31);
    let mut any_motion = || {
        let motion = vector(&mut random);
        Vector3 {
            x: number(motion.x),
            y: number(motion.y),
            z: number(motion.z),
        }
    };
    let moving = |pair: &ShapePair<f64, f64>| {
        let mut pair = in_precision::<C, R>(pair, place, number);
        (pair.velocity, pair.i.spin, pair.j.spin) = (any_motion(), any_motion(), any_motion());
        pair.j.mass = number(2.0);
        pair
    };
    let given = random_pairs(&table_of_shapes, 0.03);
    let pairs: Vec<ShapePair<C, R>> = (0..8).flat_map(|_| &given).map(moving).collect();
    let count = pairs.len();
    // The grains of pair k are 2k and 2k + 1; the second is at rest at the origin.
    let (mut positions, mut orientations) = (Vec::new(), Vec::new());
    let (mut velocities, mut spins, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    for pair in &pairs {
        let ends = [
            (pair.apart, pair.velocity, pair.i),
            (Vector3::<C>::zero(), Vector3::<R>::zero(), pair.j),
        ];
        for (at, velocity, grain) in ends {
            let (turn, spin) = (grain.orientation, grain.spin);
            positions.extend([at.x, at.y, at.z, grain.scale]);
            orientations.extend([turn.w, turn.x, turn.y, turn.z]);
            velocities.extend([velocity.x, velocity.y, velocity.z, grain.mass]);
            spins.extend([spin.x, spin.y, spin.z, number(0.0)]);
            shapes.push(grain.shape);
        }
    }
    let ends: Vec<u32> = (0..2 * count as u32).collect();
    let order: Vec<u32> = (0..count as u32).collect();
    let materials = PairOfMaterials {
        effective_modulus: 1e3,
        effective_shear_modulus: 4e2,
        restitution: 0.6,
        friction: 0.4,
        ..PairOfMaterials::default()
    };
    let table = numbers_of(&derive(NormalLaw::Hertz, TangentialLaw::Mindlin, &materials).row(), number);
    let (words, numbers) = (table_of_shapes.words, numbers_of(&table_of_shapes.numbers, place));
    let (laws, dt, overlap_limit) = (coefficients::<R>(&table, 0), number(DT), number(OVERLAP_LIMIT));

    let client = client();
    let upload = |bytes: &[u8]| client.create_from_slice(bytes);
    // SAFETY: every handle is passed with the number of items, or of records of four, from which it was created.
    let argument = |handle, length| unsafe { BufferArg::from_raw_parts(handle, length) };
    let blocks = count.div_ceil(CONTACT_THREADS);
    let (slots, records) = (count * SLOTS, 2 * count);
    let (mut keys, mut springs) = (vec![0u32; slots], vec![number(0.0); RECORD * slots]);
    let springs_there = [0, 1].map(|_| upload(bytemuck::cast_slice(&springs)));
    let mut worst = 0.0f64;
    for step in 0..2 {
        let (old_keys, old_springs) = (keys.clone(), springs.clone());
        let load_of = |(k, pair): (usize, &ShapePair<C, R>)| {
            shape_contacts_over_steps::<C, R>(
                pair,
                &words,
                &numbers,
                k * SLOTS,
                SLOTS as u32,
                &old_keys,
                &old_springs,
                &mut keys,
                &mut springs,
                &laws,
                dt,
                overlap_limit,
                &mut NearFeatures::none(),
            )
        };
        let native: Vec<PairLoad<R>> = pairs.iter().enumerate().map(load_of).collect();
        let mut loads = vec![number(0.0); count * LOAD];
        for (load, native) in loads.chunks_exact_mut(LOAD).zip(&native) {
            load[3] = number(f64::from(native.contacts));
        }
        let loads = upload(bytemuck::cast_slice(&loads));
        let power = upload(bytemuck::cast_slice(&vec![place(0.0); 2 * RECORD * blocks]));
        let zeros = || Vector3Launch::<C>::new(place(0.0), place(0.0), place(0.0));
        let slide = Vector3Launch::<R>::new(number(0.0), number(0.0), number(0.0));
        shape_pair_contacts::launch::<R, C>(
            &client,
            CubeCount::Static(blocks as u32, 1, 1),
            CubeDim::new_1d(CONTACT_THREADS as u32),
            argument(upload(bytemuck::cast_slice(&ends)), ends.len()),
            argument(upload(bytemuck::cast_slice(&order)), order.len()),
            argument(upload(bytemuck::cast_slice(&shapes)), shapes.len()),
            argument(upload(bytemuck::cast_slice(&words)), words.len()),
            argument(upload(bytemuck::cast_slice(&numbers)), numbers.len()),
            argument(upload(bytemuck::cast_slice(&positions)), records),
            argument(upload(bytemuck::cast_slice(&velocities)), records),
            argument(upload(bytemuck::cast_slice(&spins)), records),
            argument(upload(bytemuck::cast_slice(&orientations)), records),
            argument(upload(bytemuck::cast_slice(&vec![0u32; records])), records),
            argument(upload(bytemuck::cast_slice(&vec![0u32; records])), records),
            argument(upload(bytemuck::cast_slice(&table)), table.len()),
            argument(upload(bytemuck::cast_slice(&old_keys)), slots),
            argument(springs_there[step].clone(), RECORD * slots),
            argument(upload(bytemuck::cast_slice(&keys)), slots),
            argument(springs_there[1 - step].clone(), RECORD * slots),
            argument(loads.clone(), count * PAIR_LOAD),
            argument(upload(bytemuck::cast_slice(&[0u32; FLAGS])), FLAGS),
            argument(power.clone(), 2 * blocks),
            PeriodicBoundariesLaunch::<C, R>::new(zeros(), zeros(), zeros(), zeros(), slide),
            dt,
            overlap_limit,
            SLOTS as u32,
            count as u32,
            1,
            0,
            OPEN,
            false,
        );
        let [load_bytes, power_bytes] = [loads, power].map(|handle| client.read_one(handle).expect("the device returns its results"));
        let loads: Vec<R> = bytemuck::pod_collect_to_vec(&load_bytes);
        let powers: Vec<C> = bytemuck::pod_collect_to_vec(&power_bytes);
        for (kind, &at) in PLACES.iter().enumerate() {
            let on_device: Vec<f64> = loads.iter().skip(at).step_by(LOAD).map(|&x| wide(x)).collect();
            let native: Vec<f64> = native.iter().map(|load| wide(numbers_of_load(load)[kind])).collect();
            worst = worst.max(difference_of_kind(kind, step, &on_device, &native));
        }
        // Those of normal dashpots and of friction, of the pairs of each block.
        for kind in 0..2 {
            let power_of = |load: &PairLoad<R>| wide([load.powers.normal_power, load.powers.tangential_power][kind]);
            let on_device = powers.chunks_exact(2 * RECORD).map(|block| wide(C::near(block[RECORD + kind])));
            let on_device: Vec<f64> = on_device.collect();
            let native = native.chunks(CONTACT_THREADS).map(|block| block.iter().map(power_of).sum::<f64>());
            let native: Vec<f64> = native.collect();
            worst = worst.max(difference_of_kind(PLACES.len() + kind, step, &on_device, &native));
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
