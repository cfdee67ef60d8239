//! The start of a simulation takes a bounded memory on the host.

#![allow(unsafe_code, reason = "a counting allocator is an unsafe trait by nature")]

use seixo_engine::Simulation;
use seixo_engine::world::{Grains, Interaction, Material, Settings, World};
use seixo_laws::contact::TangentialLaw;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller fulfills the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller fulfills the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Grains along each edge of a cube. Columns that double their room as they grow would have half as much again for this number of grains.
const SIDE: usize = 35;
/// Most memory for a grain \[bytes\]: 244 for its columns, some 130 for three contacts in double precision, the rest for cells and lists.
const MOST: usize = 450;

/// A cube of grains in contact with their neighbors.
fn lattice() -> World {
    let n = SIDE.pow(3);
    let center = |i: usize| [i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)].map(|k| 0.99e-3 * k as f64);
    World {
        materials: vec![Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(Interaction {
            tangential: TangentialLaw::Mindlin,
            friction: 0.5,
            ..Interaction::default()
        })],
        groups: vec!["grains".into()],
        grains: Grains {
            id: (0..n as u32).collect(),
            position: (0..n).map(center).collect(),
            velocity: vec![[0.0; 3]; n],
            angular_velocity: vec![[0.0; 3]; n],
            radius: vec![0.5e-3; n],
            material: vec![0; n],
            group: vec![0; n],
            ..Grains::default()
        },
        ..World::default()
    }
}

#[test]
fn a_start_takes_little_more_memory_than_the_grains() {
    let before = HELD.load(Ordering::Relaxed);
    let world = lattice();
    PEAK.store(HELD.load(Ordering::Relaxed), Ordering::Relaxed);
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let simulation = Simulation::new(world, settings).unwrap();
    assert!(simulation.contacts() > 2 * simulation.len() as u64);
    let of_a_grain = (PEAK.load(Ordering::Relaxed) - before) / simulation.len();
    assert!(of_a_grain <= MOST, "{of_a_grain} bytes for a grain");
}
