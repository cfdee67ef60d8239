//! Memory aligned to cache lines and pages.

#![allow(unsafe_code, reason = "a global allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system allocator with a stricter alignment for arrays. Arrays begin at a cache line, so that no record of 32 or 64 bytes spans two lines.
/// Large arrays begin at a large page, which Linux is asked for; this makes address translation faster. Huge arrays are mappings of their own, whose
/// zeros come from the system when a thread first touches a page: no thread writes them beforehand, alone.
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
/// Size from which memory is a mapping of its own \[bytes\]. Smaller memory is kept for reuse by the system allocator.
const HUGE: usize = 32 * PAGE;

/// Whether the memory is a mapping of its own; a function of the layout alone.
fn is_huge(layout: Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= HUGE && layout.align() <= PAGE
}

/// A new mapping for this layout, which begins at a large page and holds zeros; null if there is no memory.
#[cfg(target_os = "linux")]
fn map(layout: Layout) -> *mut u8 {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    let Some(size) = layout
        .size()
        .checked_next_multiple_of(PAGE)
        .filter(|size| *size <= isize::MAX as usize - PAGE)
    else {
        return std::ptr::null_mut();
    };
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the system chooses an unused range of addresses, one page longer than needed.
    let Ok(start) = (unsafe { mmap_anonymous(std::ptr::null_mut(), size + PAGE, access, MapFlags::PRIVATE) }) else {
        return std::ptr::null_mut();
    };
    let before = start.align_offset(PAGE);
    // SAFETY: `before` is less than a page. So both ranges are inside the new mapping, and no one uses them: what is left is `size` bytes from the first
    // border of a page on.
    unsafe {
        let first = start.byte_add(before);
        if before > 0 {
            let _ = munmap(start, before);
        }
        let _ = munmap(first.byte_add(size), PAGE - before);
        first.cast()
    }
}

/// As Linux alone has large pages here, there is no other mapping.
#[cfg(not(target_os = "linux"))]
fn map(_layout: Layout) -> *mut u8 {
    std::ptr::null_mut()
}

/// Ends a mapping of [`map`] for this layout.
///
/// # Safety
/// The mapping must not be used any more.
unsafe fn unmap(start: *mut u8, layout: Layout) {
    #[cfg(target_os = "linux")]
    // SAFETY: the mapping has this size, and the caller does not use it any more.
    let _ = unsafe { rustix::mm::munmap(start.cast(), layout.size().next_multiple_of(PAGE)) };
    #[cfg(not(target_os = "linux"))]
    let _ = (start, layout);
}

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

// SAFETY: huge memory is a mapping of its own, and all other calls go to the system allocator with a stricter alignment. Which of them and which
// alignment follows from the layout alone. So memory is freed as it was allocated.
unsafe impl GlobalAlloc for Aligned {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_huge(layout) {
            return hint(map(layout), layout);
        }
        // SAFETY: the caller's guarantees for the layout also hold for a stricter alignment.
        hint(unsafe { System.alloc(aligned(layout)) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let start = unsafe { self.alloc(layout) };
        if !start.is_null() && !is_huge(layout) {
            // SAFETY: the memory was just allocated with this size. A mapping has zeros already.
            unsafe { start.write_bytes(0, layout.size()) };
        }
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if is_huge(layout) {
            // SAFETY: it was mapped for this layout, and the caller does not use it any more.
            return unsafe { unmap(start, layout) };
        }
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
        for size in [1, 4095, 4096, 100_000, LARGE, HUGE + 1] {
            let layout = Layout::from_size_align(size, 8).unwrap();
            // SAFETY: the layout is not empty; reads stay within the size and follow a write or a zeroed allocation.
            unsafe {
                let start = Aligned.alloc_zeroed(layout);
                assert!((0..size).all(|k| *start.add(k) == 0));
                assert_eq!(start as usize % aligned(layout).align(), 0);
                assert!(!is_huge(layout) || (start as usize).is_multiple_of(PAGE));
                start.add(size - 1).write(7);
                let grown = Aligned.realloc(start, layout, 3 * size);
                assert_eq!(*grown.add(size - 1), 7);
                Aligned.dealloc(grown, Layout::from_size_align(3 * size, 8).unwrap());
            }
        }
        assert_eq!(aligned(Layout::from_size_align(4096, 8).unwrap()).align(), 64);
    }
}
