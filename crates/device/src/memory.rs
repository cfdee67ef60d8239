//! Memory that begins where caches and pages do.

#![allow(unsafe_code, reason = "a global allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, but arrays begin with a line of the cache, so that no record of 32 or 64 bytes lies in two of them; and large ones
/// with a large page, which Linux is asked for, so that their places are looked up sooner.
///
/// For programs: `#[global_allocator] static MEMORY: Aligned = Aligned;`
pub struct Aligned;

/// Bytes from which on memory is an array.
const ARRAY: usize = 4096;
/// Bytes of a line of the cache.
const LINE: usize = 64;
/// Bytes of a large page.
const PAGE: usize = 1 << 21;
/// Bytes from which on large pages are worth what they round up.
const LARGE: usize = 4 * PAGE;

fn is_large(layout: Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= LARGE
}

/// The layout with an alignment for its size; the same one for the same layout.
fn aligned(layout: Layout) -> Layout {
    let align = match layout.size() {
        _ if is_large(layout) => PAGE,
        ARRAY.. => LINE,
        _ => return layout,
    };
    layout.align_to(align).unwrap_or(layout)
}

/// Asks for large pages; a hint that may be refused.
fn hint(start: *mut u8, layout: Layout) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if is_large(layout) && !start.is_null() {
        // SAFETY: the memory was just allocated with this size, and begins with a page; the advice changes nothing that is stored.
        let _ = unsafe { rustix::mm::madvise(start.cast(), layout.size(), rustix::mm::Advice::LinuxHugepage) };
    }
    start
}

// SAFETY: all is handed on to the system's allocator, with a stricter alignment that follows from the layout alone, so that memory goes back
// with the layout it came with.
unsafe impl GlobalAlloc for Aligned {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout holds for a stricter alignment.
        hint(unsafe { System.alloc(aligned(layout)) }, layout)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: it was allocated with this layout.
        unsafe { System.dealloc(start, aligned(layout)) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.size().max(size) < ARRAY {
            // SAFETY: the caller's promise; the system knows memory of these sizes by the layout that was asked for, before and after.
            return unsafe { System.realloc(start, layout, size) };
        }
        // SAFETY: the caller promises that the size is neither zero nor too large for this alignment; as many bytes are copied as both have,
        // and the old memory goes back.
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
            // SAFETY: the layout is not empty; what is read was written or allocated as zeros, within the size.
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
