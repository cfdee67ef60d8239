//! A warmed-up step allocates nothing.

#![allow(unsafe_code, reason = "a counting allocator is an unsafe trait by nature")]

#[path = "engine/beds.rs"]
mod beds;
#[path = "engine/warm.rs"]
mod warm;

use seixo_engine::Simulation;
use seixo_engine::world::Settings;
use seixo_laws::contact::TangentialLaw;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use warm::conducting;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller fulfills the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfills the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most buffers that a rebuild of neighbor lists takes and gives back for a part of 1024 grains, and for each further part; 49 were counted for one
/// part, and 84 for two.
const ROOM_TO_SORT: u64 = 56;
const ROOM_OF_PART: u64 = 40;

#[test]
fn a_warmed_up_step_allocates_nothing() {
    for (threads, tangential, is_warm) in [
        (1, TangentialLaw::Mindlin, false),
        (2, TangentialLaw::Mindlin, true),
        (1, TangentialLaw::None, false),
        (1, TangentialLaw::None, true),
    ] {
        // As many parts as threads, so that all threads work.
        let world = beds::falling(1000 * threads, tangential);
        let settings = Settings {
            threads,
            // A skin that is chosen during the run may become wider, and its lists longer.
            skin: Some(1e-4),
            ..Settings::default()
        };
        let mut simulation = Simulation::new(if is_warm { conducting(world) } else { world }, settings).unwrap();
        simulation.advance(8000).unwrap();
        let rebuilds = simulation.rebuilds();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        simulation.advance(1000).unwrap();
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        let rebuilds = simulation.rebuilds() - rebuilds;
        assert!(rebuilds > 0, "lists must have been rebuilt");
        // A rebuild of the neighbor lists takes room to sort, which it gives back.
        let room = ROOM_TO_SORT + ROOM_OF_PART * (threads as u64 - 1);
        assert!(
            allocations <= room * rebuilds,
            "{allocations} allocations in 1000 steps with {rebuilds} rebuilds on {threads} threads, {tangential:?}"
        );
    }
}
