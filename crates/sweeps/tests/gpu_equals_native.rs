//! The contact sweep, written once, gives the same forces called natively and as a GPU kernel through wgpu (software Vulkan will do;
//! without any adapter this test fails).

#![allow(
    unsafe_code,
    reason = "a launch takes raw buffers; each is made here with the length it is passed with"
)]

use bytemuck::Pod;
use cubecl::prelude::*;
use seixo_laws::Real;
use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_sweeps::contact::contacts_of;
use seixo_sweeps::lanes::{GrainsView, Limits, PartOut, PartRows, contacts_of_part};

#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn contacts_kernel<R: Real>(
    row: &[u32],
    neighbors: &[u32],
    history: &mut [R],
    touched: &mut [u32],
    position: &[R],
    velocity: &[R],
    spin: &[R],
    material: &[u32],
    table: &[R],
    force: &mut [R],
    torque: &mut [R],
    dt: R,
    overlap_limit: R,
) {
    let i = ABSOLUTE_POS;
    if i < material.len() {
        contacts_of::<R>(
            i,
            row[i] as usize,
            row[i + 1] as usize,
            neighbors,
            history,
            touched,
            2u32,
            position,
            velocity,
            spin,
            material,
            2u32,
            table,
            force,
            torque,
            dt,
            overlap_limit,
        );
    }
}

/// A jittered lattice of grains of two materials in contact, with random velocities, and the full neighbor list.
struct Bed<R> {
    row: Vec<u32>,
    neighbors: Vec<u32>,
    history: Vec<R>,
    position: Vec<R>,
    velocity: Vec<R>,
    spin: Vec<R>,
    material: Vec<u32>,
    table: Vec<R>,
}

fn bed<R: Copy>(number: impl Fn(f64) -> R) -> Bed<R> {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    let side = 10usize;
    let mut centers = Vec::new();
    let (mut position, mut velocity, mut spin, mut material) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for k in 0..side.pow(3) {
        let radius = 1.0 + 0.05 * random();
        let center = [k % side, k / side % side, k / side / side].map(|c| c as f64 * 1.96 + 0.02 * random());
        centers.push((center, radius));
        position.extend([center[0], center[1], center[2], radius].map(&number));
        velocity.extend([random(), random(), random(), radius * radius * radius].map(&number));
        spin.extend([random(), random(), random(), 0.0].map(&number));
        material.push((k % 2) as u32);
    }
    let (mut row, mut neighbors) = (vec![0], Vec::new());
    for (i, (a, radius_a)) in centers.iter().enumerate() {
        for (j, (b, radius_b)) in centers.iter().enumerate() {
            let square: f64 = (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum();
            if i != j && square < (radius_a + radius_b + 0.1).powi(2) {
                neighbors.push(j as u32);
            }
        }
        row.push(neighbors.len() as u32);
    }
    let history = (0..neighbors.len())
        .flat_map(|_| [random(), random(), random(), 0.1].map(&number))
        .collect();
    let mut table = Vec::new();
    for (normal, tangential) in [
        (NormalLaw::Hertz, TangentialLaw::Mindlin),
        (NormalLaw::Hertz, TangentialLaw::Linear),
        (NormalLaw::Hertz, TangentialLaw::Linear),
        (NormalLaw::Linear, TangentialLaw::Linear),
    ] {
        let pair = PairOfMaterials {
            effective_modulus: 1e3,
            effective_shear_modulus: 4e2,
            restitution: 0.6,
            friction: 0.4,
            stiffness: 300.0,
            tangential_stiffness: 100.0,
        };
        table.extend(derive(normal, tangential, &pair).row().map(&number));
    }
    Bed {
        row,
        neighbors,
        history,
        position,
        velocity,
        spin,
        material,
        table,
    }
}

/// Largest difference between the two runs over the largest force, for forces, torques and histories.
fn difference<R: Real + Pod>(number: impl Fn(f64) -> R, wide: impl Fn(R) -> f64) -> f64 {
    let bed = bed(number);
    let n = bed.material.len();
    let zero = vec![R::new(0.0); 4 * n];
    let (dt, limit) = (R::new(0.0009765625), R::new(0.5));

    // Every other entry touched at the tick before and remembers.
    let mut touched: Vec<u32> = (0..bed.neighbors.len() as u32).map(|k| k % 2).collect();
    let touched_before = touched.clone();
    let (mut history, mut force, mut torque) = (bed.history.clone(), zero.clone(), zero.clone());
    for i in 0..n {
        contacts_of::<R>(
            i,
            bed.row[i] as usize,
            bed.row[i + 1] as usize,
            &bed.neighbors,
            &mut history,
            &mut touched,
            2,
            &bed.position,
            &bed.velocity,
            &bed.spin,
            &bed.material,
            2,
            &bed.table,
            &mut force,
            &mut torque,
            dt,
            limit,
        );
    }

    let device = cubecl::device::Device::wgpu(cubecl::device::WgpuDeviceKind::DefaultDevice);
    let client = device
        .expect("a wgpu adapter; on a machine without a GPU install mesa-vulkan-drivers")
        .client();
    let words = |values: &[u32]| (client.create_from_slice(bytemuck::cast_slice(values)), values.len());
    let numbers = |values: &[R]| (client.create_from_slice(bytemuck::cast_slice(values)), values.len());
    let outputs = [numbers(&bed.history), numbers(&zero), numbers(&zero)];
    // SAFETY: every handle is passed with the number of items it was created from.
    let argument = |(handle, len): (_, usize)| unsafe { BufferArg::from_raw_parts(handle, len) };
    contacts_kernel::launch::<R>(
        &client,
        CubeCount::Static(n.div_ceil(64) as u32, 1, 1),
        CubeDim::new_1d(64),
        argument(words(&bed.row)),
        argument(words(&bed.neighbors)),
        argument(outputs[0].clone()),
        argument(words(&touched_before)),
        argument(numbers(&bed.position)),
        argument(numbers(&bed.velocity)),
        argument(numbers(&bed.spin)),
        argument(words(&bed.material)),
        argument(numbers(&bed.table)),
        argument(outputs[1].clone()),
        argument(outputs[2].clone()),
        dt,
        limit,
    );
    let mut worst = 0.0f64;
    for ((handle, _), native) in outputs.into_iter().zip([history, force, torque]) {
        let bytes = client.read_one(handle).expect("the device returns its results");
        let device: Vec<R> = bytemuck::pod_collect_to_vec(&bytes);
        let largest = native.iter().map(|&x| f64::abs(wide(x))).fold(0.0, f64::max);
        assert!(largest > 1.0, "the bed must press");
        for (&a, &b) in device.iter().zip(&native) {
            let difference = f64::abs(wide(a) - wide(b)) / largest;
            assert!(difference.is_finite());
            worst = f64::max(worst, difference);
        }
    }
    worst
}

#[test]
fn vector_lanes_equal_the_sweep_row_by_row() {
    let bed = bed::<f64>(|x| x);
    let n = bed.material.len();
    let (dt, limit) = (1e-3, 0.5);
    let zero = vec![0.0; 4 * n];
    let (mut history, mut force, mut torque) = (vec![0.0; bed.history.len()], zero.clone(), zero.clone());
    let mut touched = vec![0; bed.neighbors.len()];
    for i in 0..n {
        contacts_of::<f64>(
            i,
            bed.row[i] as usize,
            bed.row[i + 1] as usize,
            &bed.neighbors,
            &mut history,
            &mut touched,
            2,
            &bed.position,
            &bed.velocity,
            &bed.spin,
            &bed.material,
            2,
            &bed.table,
            &mut force,
            &mut torque,
            dt,
            limit,
        );
    }

    // The same pairs, each in the row of its first grain only.
    let (mut row, mut neighbors) = (vec![0], Vec::new());
    for i in 0..n {
        neighbors.extend(
            bed.neighbors[bed.row[i] as usize..bed.row[i + 1] as usize]
                .iter()
                .filter(|&&j| j as usize > i),
        );
        row.push(neighbors.len() as u32);
    }
    let (mut half_history, mut half_force, mut half_torque) = (vec![0.0; 4 * neighbors.len()], zero.clone(), zero);
    let mut half_touched = vec![0; neighbors.len()];
    let grains = GrainsView {
        position: &bed.position,
        velocity: &bed.velocity,
        spin: &bed.spin,
        material: &bed.material,
        materials: 2,
        table: &bed.table,
        is_uniform: false,
    };
    let rows = PartRows {
        first: 0,
        end: n,
        row: &row,
        neighbors: &neighbors,
    };
    let out = PartOut {
        history: &mut half_history,
        touched: &mut half_touched,
        force: &mut half_force,
        torque: &mut half_torque,
    };
    contacts_of_part::<f64>(
        &grains,
        &rows,
        Limits {
            dt,
            overlap: limit,
            tick: 2,
        },
        out,
    );

    let largest = force.iter().fold(0.0, |most, &f| f64::max(most, f64::abs(f)));
    for (a, b) in force.iter().chain(&torque).zip(half_force.iter().chain(&half_torque)) {
        // Only the order of the sums differs.
        assert!(f64::abs(a - b) < 1e-13 * largest, "{a} {b}");
    }
}

#[test]
fn contact_sweep_in_single_precision() {
    // Rounding of f32 (6e-8), amplified by the subtraction that makes a 4 % overlap out of two radii.
    let worst = difference::<f32>(|x| x as f32, f64::from);
    println!("largest difference, f32: {worst:.2e}");
    assert!(worst < 1e-5, "{worst:e}");
}

#[test]
fn contact_sweep_in_double_precision() {
    let worst = difference::<f64>(|x| x, |x| x);
    println!("largest difference, f64: {worst:.2e}");
    assert!(worst < 1e-13, "{worst:e}");
}
