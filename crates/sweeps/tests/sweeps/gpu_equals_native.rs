//! Every contact law gives the same forces natively and as a GPU kernel through wgpu. Software Vulkan is sufficient; without any adapter this test
//! fails.

#![allow(
    unsafe_code,
    reason = "a launch takes raw buffers; each is made here with the length it is passed with"
)]

use bytemuck::Pod;
use cubecl::prelude::*;
use seixo_laws::contact::{
    COEFFICIENTS, Cohesion, ContactHistory, ExtendedHistory, NormalLaw, PairOfMaterials, ResistanceLaw, RollingLaw, TangentialLaw,
    TwistingLaw, derive,
};
use seixo_laws::{Real, Vector3};
use seixo_sweeps::kernels::measure::{BOUNDS_RECORDS, preview_bounds};
use seixo_sweeps::layout::{add, coefficients, extended_coefficients, load};
use seixo_sweeps::pair::{Pair, depth_of, extended_contact, frictional_pair_contact, normal_pair_contact};

/// Numbers of a pair: positions, velocities and angular velocities of both grains, radii and masses, history, time step, twisting torque.
const GIVEN: usize = 28;
/// Numbers of the result: force, bend, history and powers with friction; force and power without friction; force, couple, history and powers of an
/// extended contact.
const FOUND: usize = 32;

/// Contact of two grains under the laws of row `row`, with and without friction.
#[cube]
fn contact_geometry<R: Real>(given: &[R], at: usize, table: &[R], row: usize, found: &mut [R], to: usize) {
    let apart = load::<R>(given, at).minus(&load::<R>(given, at + 3usize));
    let depth = depth_of::<R>(&apart, given[at + 18usize] + given[at + 19usize]);
    let pair = Pair::<R> {
        apart,
        depth,
        velocity: load::<R>(given, at + 6usize).minus(&load::<R>(given, at + 9usize)),
        radius_i: given[at + 18usize],
        radius_j: given[at + 19usize],
        mass_i: given[at + 20usize],
        mass_j: given[at + 21usize],
    };
    let contact_history = ContactHistory::<R> {
        force: load::<R>(given, at + 22usize),
        contact_radius: given[at + 25usize],
    };
    let pair_of_laws = coefficients::<R>(table, row);
    let spin_i = load::<R>(given, at + 12usize);
    let spin_j = load::<R>(given, at + 15usize);
    let rubbed = frictional_pair_contact::<R>(&pair, &spin_i, &spin_j, &contact_history, &pair_of_laws, given[at + 26usize]);
    add::<R>(found, to, &rubbed.force);
    add::<R>(found, to + 3usize, &rubbed.bend);
    add::<R>(found, to + 6usize, &rubbed.history.force);
    found[to + 9usize] = rubbed.normal_power;
    found[to + 10usize] = rubbed.tangential_power;
    found[to + 11usize] = rubbed.damping_power;
    let pushed = normal_pair_contact::<R>(&pair, &pair_of_laws);
    add::<R>(found, to + 12usize, &pushed.force);
    found[to + 15usize] = pushed.normal_power;
    let extended_history = ExtendedHistory::<R> {
        rolling: load::<R>(given, at + 22usize),
        twisting: given[at + 27usize],
        largest_overlap: given[at + 25usize],
        holds: R::new(1.0),
    };
    let row_of_coefficients = extended_coefficients::<R>(table, row);
    let stuck = extended_contact::<R>(
        &pair,
        &spin_i,
        &spin_j,
        &contact_history,
        &extended_history,
        &pair_of_laws,
        &row_of_coefficients,
        given[at + 26usize],
    );
    add::<R>(found, to + 16usize, &stuck.outcome.force);
    add::<R>(found, to + 19usize, &stuck.couple);
    add::<R>(found, to + 22usize, &stuck.outcome.history.force);
    add::<R>(found, to + 25usize, &stuck.extended_history.rolling);
    found[to + 28usize] = stuck.extended_history.twisting;
    found[to + 29usize] = stuck.extended_history.largest_overlap;
    found[to + 30usize] = stuck.outcome.normal_power;
    found[to + 31usize] = stuck.outcome.tangential_power;
}

#[cube(launch)]
fn meetings<R: Real>(given: &[R], table: &[R], found: &mut [R], rows: u32) {
    let k = ABSOLUTE_POS;
    if k < found.len() / 32usize {
        contact_geometry::<R>(given, k * 28usize, table, k % rows as usize, found, k * 32usize);
    }
}

/// Coefficients of every pair of a normal and a tangential law; the laws of cohesion and resistance alternate.
fn table<R>(number: impl Fn(f64) -> R) -> Vec<R> {
    let pair = |turn: usize, normal: NormalLaw| PairOfMaterials {
        effective_modulus: 1e3,
        effective_shear_modulus: 4e2,
        restitution: 0.6,
        friction: 0.4,
        stiffness: 300.0,
        tangential_stiffness: 100.0,
        damping_rate: 5.0,
        tangential_damping_rate: 3.0,
        dissipative_time: 1e-2,
        potential_energy: 1.0,
        adhesive: match turn % 5 {
            0 => Some(Cohesion::Sjkr { energy_density: 100.0 }),
            1 => Some(Cohesion::Dmt { surface_energy: 1.0 }),
            2 if normal == NormalLaw::Hertz => Some(Cohesion::Jkr { surface_energy: 0.1 }),
            3 => Some(Cohesion::Capillary {
                surface_tension: 1.0,
                contact_angle: 0.3,
                volume: 1e-3,
            }),
            _ => None,
        },
        rolling: Some(ResistanceLaw {
            law: RollingLaw::ALL[turn % RollingLaw::ALL.len()],
            coefficient: 0.2,
            damping_ratio: 0.3,
        }),
        twisting: Some(ResistanceLaw {
            law: TwistingLaw::ALL[turn % TwistingLaw::ALL.len()],
            coefficient: 0.1,
            damping_ratio: 0.3,
        }),
    };
    let laws = NormalLaw::ALL
        .iter()
        .flat_map(|&normal| TangentialLaw::ALL.iter().map(move |&tangential| (normal, tangential)));
    let turns = (0..12).flat_map(|turn| {
        laws.clone()
            .enumerate()
            .map(move |(k, (normal, tangential))| (turn + k, normal, tangential))
    });
    turns
        .flat_map(|(turn, normal, tangential)| derive(normal, tangential, &pair(turn, normal)).row())
        .map(number)
        .collect()
}

/// Largest difference between the two results, over the largest number of its kind.
fn difference<R: Real + Pod>(number: impl Fn(f64) -> R + Copy, wide: impl Fn(R) -> f64) -> f64 {
    let pairs = 4096;
    let table = table(number);
    let rows = table.len() / COEFFICIENTS;
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    let mut given = Vec::new();
    for _ in 0..pairs {
        let mut one = [0.0; GIVEN];
        one[..26].fill_with(&mut random);
        let apart = Vector3 {
            x: one[0],
            y: one[1],
            z: one[2],
        };
        // The second is 1.9 to 1.98 away from the first, and both have radii near 1.
        let scale = (1.94 + 0.04 * random()) / apart.length();
        for axis in 0..3 {
            one[3 + axis] = one[axis] * (1.0 - scale);
        }
        for slot in &mut one[18..22] {
            *slot = 1.0 + 0.01 * *slot;
        }
        one[25] = 0.1;
        one[26] = 1.0 / 1024.0;
        one[27] = random();
        given.extend(one.map(number));
    }
    let mut native = vec![number(0.0); pairs * FOUND];
    for k in 0..pairs {
        contact_geometry::<R>(&given, k * GIVEN, &table, k % rows, &mut native, k * FOUND);
    }

    let client = client();
    let upload = |values: &[R]| client.create_from_slice(bytemuck::cast_slice(values));
    let found = upload(&vec![number(0.0); pairs * FOUND]);
    // SAFETY: every handle is passed with the number of items from which it was created.
    let argument = |handle, len| unsafe { BufferArg::from_raw_parts(handle, len) };
    meetings::launch::<R>(
        &client,
        CubeCount::Static(pairs as u32 / 64, 1, 1),
        CubeDim::new_1d(64),
        argument(upload(&given), given.len()),
        argument(upload(&table), table.len()),
        argument(found.clone(), pairs * FOUND),
        rows as u32,
    );
    let bytes = client.read_one(found).expect("the device returns its results");
    let device: Vec<R> = bytemuck::pod_collect_to_vec(&bytes);
    let mut worst = 0.0f64;
    for kind in 0..FOUND {
        let of_kind = |values: &[R]| values.iter().skip(kind).step_by(FOUND).map(|&x| wide(x)).collect::<Vec<f64>>();
        let (device, native) = (of_kind(&device), of_kind(&native));
        let largest = native.iter().fold(0.0, |most, x| f64::max(most, x.abs()));
        assert!(largest > 0.1, "number {kind} is never large");
        for (a, b) in device.iter().zip(&native) {
            assert!((a - b).is_finite());
            worst = worst.max((a - b).abs() / largest);
        }
    }
    worst
}

/// A client of the default adapter of wgpu.
pub fn client() -> Client {
    let device = cubecl::device::Device::wgpu(cubecl::device::WgpuDeviceKind::DefaultDevice);
    let device = device.expect("a wgpu adapter; on a machine without a GPU install mesa-vulkan-drivers");
    device.client()
}

#[test]
fn every_law_in_single_precision() {
    // Rounding of f32 (6e-8), amplified by the subtraction that gives a 3 % overlap of two radii, and by 20 operations.
    let worst = difference::<f32>(|x| x as f32, f64::from);
    println!("largest difference, f32: {worst:.2e}");
    assert!(worst < 2e-5, "{worst:e}");
}

#[test]
fn every_law_in_double_precision() {
    let worst = difference::<f64>(|x| x, |x| x);
    println!("largest difference, f64: {worst:.2e}");
    assert!(worst < 1e-13, "{worst:e}");
}

#[test]
fn a_survey_of_many_places_has_the_bounds_of_all_that_are_seen() {
    const UNITS: usize = 64;
    let mut places: Vec<[f32; 4]> = (0..1000u16)
        .map(|k| {
            let part = f32::from(k) / 1000.0;
            [part, 1.0 - part, 5.0 * part, 0.01 + 0.01 * part]
        })
        .collect();
    // Far from all others.
    places[701] = [9.0, -8.0, 7.0, 0.5];
    places[702] = [f32::NAN, 0.0, 0.0, 0.7];
    places[703] = [0.0, f32::INFINITY, 0.0, 0.7];
    places[704] = [100.0, 0.0, 0.0, 0.0];
    places[705] = [0.0, 0.0, 0.0, f32::NAN];
    let values: Vec<f32> = (0..1000u16).map(f32::from).collect();
    let client = client();
    let upload = |bytes: &[u8]| client.create_from_slice(bytes);
    let found = upload(bytemuck::cast_slice(&[[0f32; 4]; BOUNDS_RECORDS * UNITS]));
    // SAFETY: every handle is passed with the number of items from which it was created.
    let argument = |handle, length| unsafe { BufferArg::from_raw_parts(handle, length) };
    preview_bounds::launch::<f32>(
        &client,
        CubeCount::Static(1, 1, 1),
        CubeDim::new_1d(256),
        argument(upload(bytemuck::cast_slice(&places)), places.len()),
        argument(upload(bytemuck::cast_slice(&values)), values.len()),
        argument(found.clone(), BOUNDS_RECORDS * UNITS),
        places.len() as u32,
        UNITS as u32,
        places.len().div_ceil(UNITS) as u32,
    );
    let bytes = client.read_one(found).expect("the device returns its results");
    let records: Vec<[[f32; 4]; BOUNDS_RECORDS]> = bytemuck::pod_collect_to_vec(&bytes);
    let (mut low, mut high, mut radii, mut seen) = ([f32::INFINITY; 4], [f32::NEG_INFINITY; 4], 0.0, 0.0);
    for [place, [value, sum, count, _], lowest, highest] in records {
        // It is one of them, with its own scalar.
        assert_eq!(place.map(f32::to_bits), places[value as usize].map(f32::to_bits));
        for axis in 0..4 {
            low[axis] = low[axis].min(lowest[axis]);
            high[axis] = high[axis].max(highest[axis]);
        }
        radii += f64::from(sum);
        seen += count;
    }
    assert_eq!(seen, 996.0);
    assert_eq!((low[0], low[1], low[2], low[3]), (0.0, -8.0, 0.0, 0.01));
    assert_eq!((high[0], high[1], high[2], high[3]), (9.0, 1.0, 7.0, 0.5));
    // Mean of radii from 10 to 20 mm, evenly spread, without those four and the large one.
    let mean = (radii - 0.5) / 995.0;
    assert!((mean - 0.015).abs() < 5e-5, "{mean}");
}
