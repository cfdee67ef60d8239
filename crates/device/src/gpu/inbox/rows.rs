//! Rows of columns that a GPU writes straight into the inbox of another one, which puts them straight into its own columns: one launch on each side.
//!
//! The words of a turn are those of the rows, one after the other, and then a flag. Each word comes from one thread and is awaited by one, so neighboring
//! threads write neighboring words of the inbox.

#![allow(unsafe_code, reason = "launches write to addresses")]

use super::{Inbox, load, store};
use crate::gpu::{Buffer, Gpu, units};
use cubecl::prelude::*;

/// Rows of two or three columns of records, which are four numbers each, and a flag.
pub struct Rows<'a, C, R> {
    /// Indices of the records, which are distinct.
    pub places: &'a Buffer<u32>,
    /// Number of the rows.
    pub m: usize,
    /// The first column.
    pub first: &'a Buffer<C>,
    /// The second column.
    pub second: &'a Buffer<R>,
    /// The third column, of which the fourth numbers arrive as zero. Another buffer if rows have two columns only.
    pub third: &'a Buffer<R>,
    /// Whether rows have a third column.
    pub has_third: bool,
    /// Flags of this GPU.
    pub flags: &'a Buffer<u32>,
    /// Index of the flag that is posted with the rows or, where they arrive, of the one that becomes 1 if the posted one is not zero.
    pub flag: usize,
}

impl<C, R> Rows<'_, C, R> {
    /// Words of a record of the first column, of a record of the others, and of a row.
    fn widths(&self) -> [u32; 3] {
        // Four numbers have as many words as one has bytes.
        let [wide, narrow] = [size_of::<C>(), size_of::<R>()].map(|bytes| bytes as u32);
        [wide, narrow, wide + if self.has_third { 2 * narrow } else { narrow }]
    }

    /// Words of a turn.
    pub fn words(&self) -> usize {
        let [.., row] = self.widths();
        self.m * row as usize + 1
    }

    /// Asserts that the places, the flag and the words of a turn are there.
    fn check(&self, inbox: &Inbox) {
        assert!(self.m <= self.places.len() && self.flag < self.flags.len(), "{} rows", self.m);
        assert!(
            self.words() <= inbox.room(),
            "{} words for an inbox of {}",
            self.words(),
            inbox.room()
        );
    }
}

/// Writes the words of m rows, and then a flag, to an address as those of this turn. The records of the first column have `wide` words, those of the
/// others `narrow` ones, and all of a row have `row` words.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn post_rows(
    place: &[u32],
    first: &[u32],
    second: &[u32],
    third: &[u32],
    flags: &[u32],
    address: u64,
    turn: u32,
    flag: u32,
    m: u32,
    #[comptime] wide: u32,
    #[comptime] narrow: u32,
    #[comptime] row: u32,
) {
    let others = comptime!(wide + narrow);
    // The fourth number of the third column stays zero.
    let end = comptime!(wide + narrow + narrow / 4u32 * 3u32);
    let k = ABSOLUTE_POS as u32;
    let n = m * row;
    if k <= n {
        let mut word = 0u32;
        if k == n {
            word = flags[flag as usize];
        }
        if k < n {
            let i = place[(k / row) as usize];
            let c = k % row;
            if c < wide {
                word = first[(i * wide + c) as usize];
            } else if c < others {
                word = second[(i * narrow + c - wide) as usize];
            } else if c < end {
                word = third[(i * narrow + c - others) as usize];
            }
        }
        let with_turn = ((turn as u64) << 32u64) + (word as u64);
        store(address + (k as u64) * 8u64, with_turn);
    }
}

/// Waits for the words of this turn that [`post_rows()`] writes to an address, and puts them into m rows at these places. Sets a flag if that of the other
/// GPU is set.
#[cube(launch_unchecked)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
fn await_rows(
    address: u64,
    place: &[u32],
    first: &mut [u32],
    second: &mut [u32],
    third: &mut [u32],
    flags: &mut [u32],
    turn: u32,
    flag: u32,
    m: u32,
    #[comptime] wide: u32,
    #[comptime] narrow: u32,
    #[comptime] row: u32,
) {
    let others = comptime!(wide + narrow);
    let k = ABSOLUTE_POS as u32;
    let n = m * row;
    if k <= n {
        let own = address + (k as u64) * 8u64;
        let due = turn as u64;
        let mut with_turn = load(own);
        while with_turn >> 32u64 != due {
            with_turn = load(own);
        }
        let word = with_turn as u32;
        if k == n {
            if word != 0u32 {
                flags[flag as usize] = 1u32;
            }
        } else {
            let i = place[(k / row) as usize];
            let c = k % row;
            if c < wide {
                first[(i * wide + c) as usize] = word;
            } else if c < others {
                second[(i * narrow + c - wide) as usize] = word;
            } else {
                third[(i * narrow + c - others) as usize] = word;
            }
        }
    }
}

impl Gpu {
    /// As [`Gpu::post`], for rows of columns.
    ///
    /// # Panics
    /// If the inbox has no room for them, or places or the flag are missing. All places must be indices of records in all columns.
    pub fn post_rows<C, R>(&self, rows: &Rows<'_, C, R>, to: &Inbox, turn: u32) {
        rows.check(to);
        let [wide, narrow, row] = rows.widths();
        let (count, dim) = units(rows.words());
        // SAFETY: threads beyond the words do nothing. Places are read below m and are indices of records, whose words are read below their widths; the
        // flag is there. The inbox has room for the words of a turn from this address on, and its memory stays there while it exists. The caller keeps
        // it until they were collected, and this GPU may write there, see `accesses`.
        unsafe {
            post_rows::launch_unchecked(
                self.client(),
                count,
                dim,
                rows.places.argument(),
                rows.first.as_words(),
                rows.second.as_words(),
                rows.third.as_words(),
                rows.flags.argument(),
                to.address(turn),
                turn,
                rows.flag as u32,
                rows.m as u32,
                wide,
                narrow,
                row,
            );
        }
    }

    /// As [`Gpu::collect`], for rows of columns: puts them into the records at these places. The flag becomes 1 if the flag that came with them is not
    /// zero. As many rows must have been posted, of columns of the same types.
    ///
    /// # Panics
    /// As [`Gpu::post_rows`].
    pub fn collect_rows<C, R>(&self, from: &Inbox, turn: u32, rows: &Rows<'_, C, R>) {
        rows.check(from);
        let [wide, narrow, row] = rows.widths();
        let (count, dim) = units(rows.words());
        // SAFETY: threads beyond the words do nothing, and the inbox has that many for each turn. Places are read below m and are distinct indices of
        // records, so no two threads write one word; the flag is there.
        unsafe {
            await_rows::launch_unchecked(
                self.client(),
                count,
                dim,
                from.address(turn),
                rows.places.argument(),
                rows.first.as_words(),
                rows.second.as_words(),
                rows.third.as_words(),
                rows.flags.argument(),
                turn,
                rows.flag as u32,
                rows.m as u32,
                wide,
                narrow,
                row,
            );
        }
    }
}
