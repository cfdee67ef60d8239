//! Memory aligned to cache lines and pages.

#![allow(unsafe_code, reason = "a global allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system allocator with a stricter alignment for arrays. Arrays begin at a cache line, so that no record of 32 or 64 bytes spans two lines.
/// Large arrays begin at a large page, which Linux is asked for; this makes address translation faster.
///
/// In programs: `#[global_allocator] static MEMORY: Aligned = Aligned;`
pub struct Aligned;

/// Size from which memory counts as an array \[bytes\].
const ARRAY: usize = 4096;
/// Size of a cache line \[bytes\].
const LINE: usize = 64;
/// Size of a large page \[bytes\].
const PAGE: usize = 1 << 21;
/// Size from which large pages are worth the rounding \[bytes\].
const LARGE: usize = 4 * PAGE;

fn is_large(layout: Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= LARGE
}

/// The layout with the alignment for its size; a function of the layout alone.
fn aligned(layout: Layout) -> Layout {
    let align = match layout.size() {
        _ if is_large(layout) => PAGE,
        ARRAY.. => LINE,
        _ => return layout,
    };
    layout.align_to(align).unwrap_or(layout)
}

/// Requests large pages; the system may ignore the hint.
fn hint(start: *mut u8, layout: Layout) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if is_large(layout) && !start.is_null() {
        // SAFETY: the memory was just allocated with this size and begins at a page; the advice does not change its contents.
        let _ = unsafe { rustix::mm::madvise(start.cast(), layout.size(), rustix::mm::Advice::LinuxHugepage) };
    }
    start
}

// SAFETY: all calls go to the system allocator with a stricter alignment, which follows from the layout alone. So memory is freed with the layout of
// its allocation.
unsafe impl GlobalAlloc for Aligned {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantees for the layout also hold for a stricter alignment.
        hint(unsafe { System.alloc(aligned(layout)) }, layout)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: it was allocated with this layout.
        unsafe { System.dealloc(start, aligned(layout)) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.size().max(size) < ARRAY {
            // SAFETY: guaranteed by the caller. Memory below this size has the requested layout in the system allocator, before and after.
            return unsafe { System.realloc(start, layout, size) };
        }
        // SAFETY: the caller guarantees that the size is neither zero nor too large for this alignment. The copy covers the smaller of both sizes,
        // and the old memory is freed.
        unsafe {
            let new = Layout::from_size_align_unchecked(size, layout.align());
            let moved = self.alloc(new);
            if !moved.is_null() {
                std::ptr::copy_nonoverlapping(start, moved, layout.size().min(size));
                self.dealloc(start, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_with_a_line_and_keep_what_they_hold_when_they_grow() {
        for size in [1, 4095, 4096, 100_000, LARGE] {
            let layout = Layout::from_size_align(size, 8).unwrap();
            // SAFETY: the layout is not empty; reads stay within the size and follow a write or a zeroed allocation.
            unsafe {
                let start = Aligned.alloc_zeroed(layout);
                assert!((0..size).all(|k| *start.add(k) == 0));
                assert_eq!(start as usize % aligned(layout).align(), 0);
                start.add(size - 1).write(7);
                let grown = Aligned.realloc(start, layout, 3 * size);
                assert_eq!(*grown.add(size - 1), 7);
                Aligned.dealloc(grown, Layout::from_size_align(3 * size, 8).unwrap());
            }
        }
        assert_eq!(aligned(Layout::from_size_align(4096, 8).unwrap()).align(), 64);
    }
}
