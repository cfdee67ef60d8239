//! The pairs of a list that may be in contact soon, and the contact histories of these pairs.
//!
//! Most pairs of a list do not touch before it is rebuilt. So only pairs of the shortlists have room for a history, in the order in which the contact
//! sweep reads them. All others have none.

use crate::fields::PART;
use seixo_laws::{Coordinate, Real};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::part::{GrainsView, PartRows};
use seixo_sweeps::shortlist::{Shortlist, pick_of_part};
use std::cell::RefCell;

/// Number of steps that a shortlist should last.
const PICKED_FOR: f64 = 8.0;

/// Room of a thread for the selection of the pairs of a part.
#[derive(Default)]
struct Selection {
    entry: Vec<u32>,
    grain: Vec<u16>,
    /// Entries that were selected before.
    before: Vec<u32>,
    /// One more than the former place of each of these entries; zero for others, and for all between two selections.
    former: Vec<u32>,
    double: Vec<f64>,
    single: Vec<f32>,
}

impl Selection {
    /// Makes room for this number of entries.
    fn make_room(&mut self, entries: usize) {
        if self.former.len() < entries {
            self.entry.resize(entries, 0);
            self.grain.resize(entries, 0);
            self.former.resize(entries, 0);
        }
    }
}

/// The grains of a part have numbers of 16 bits.
const _: () = assert!(PART <= 1 << 16);

/// Pairs of a part that keep their contact histories, in the order of their entries.
#[derive(Default)]
pub struct HeldPairs {
    /// The entry and the grain of each pair, counted from the part's first, and its history.
    pairs: Vec<(u32, u16, [f64; RECORD])>,
}

impl HeldPairs {
    /// Adds a pair by its entry and its grain, counted from the part's first, unless its history is zero. A negative zero is kept, so that a run goes on
    /// from a checkpoint with the same bits.
    pub fn push(&mut self, entry: u32, grain: usize, history: [f64; RECORD]) {
        if history.iter().any(|number| number.to_bits() != 0) {
            self.pairs.push((entry, grain as u16, history));
        }
    }
}

thread_local! {
    /// Kept from step to step, so that a new shortlist takes no new memory.
    static SELECTION: RefCell<Selection> = RefCell::default();
}

/// The shortlists of all parts, see [`seixo_sweeps::shortlist`].
#[derive(Clone, Default)]
pub struct Shortlists {
    /// One for each part; empty if the histories of all entries are stored.
    pub parts: Vec<PartShortlist>,
    /// Distance by which surfaces may still approach each other before another pair can be in contact \[m\].
    room: f64,
}

impl Shortlists {
    /// Shortlists of pairs with histories, which are rebuilt before they are used.
    pub fn of_parts(parts: Vec<PartShortlist>) -> Shortlists {
        Shortlists { parts, room: 0.0 }
    }

    /// Returns the margin of a new shortlist \[m\], if it is due after a step in which no two surfaces approached each other by more than `approach`
    /// \[m\].
    ///
    /// The margin is larger than the separation of two grains in a step. So a pair whose contact ends is computed once more, and releases its
    /// history.
    pub fn margin_after(&mut self, approach: f64, skin: f64) -> Option<f64> {
        self.room -= approach;
        if self.room > 0.0 {
            return None;
        }
        let lasting = (PICKED_FOR * approach).clamp(skin / 64.0, skin / 4.0);
        self.room = lasting.max(2.0 * approach);
        Some(self.room)
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let own = self.parts.capacity() * size_of::<PartShortlist>();
        own as u64 + self.parts.iter().map(PartShortlist::bytes).sum::<u64>()
    }
}

/// Contact histories in the precision of the laws, all zero for pairs without contact.
#[derive(Clone)]
pub enum Histories {
    /// In double precision.
    Double(Vec<f64>),
    /// In single precision.
    Single(Vec<f32>),
}

impl Default for Histories {
    fn default() -> Self {
        Histories::Double(Vec::new())
    }
}

/// The shortlist of a part, with the contact histories of its pairs.
#[derive(Clone, Default)]
pub struct PartShortlist {
    /// Entries of the list, counted from the part's first: of pairs inside the part, then of pairs across its border.
    entry: Vec<u32>,
    /// The grain that owns the row of each entry, counted from the part's first.
    grain: Vec<u16>,
    /// The partner in each of these entries, once the pairs were selected.
    partner: Vec<u32>,
    /// First grain of the part.
    first: usize,
    /// Number of pairs inside.
    inside: usize,
    /// Contact histories of the pairs.
    history: Histories,
}

impl PartShortlist {
    /// The pairs that have a history, from the histories of all entries of the part, which `is_single` rounds to single precision; `row` has the first
    /// entry of each of its grains, and the end of the last row. They are in no order yet that a sweep reads, and are selected again before they are
    /// used.
    pub fn with_histories(row: &[u32], of_entries: &[f64], is_single: bool) -> PartShortlist {
        let (records, _) = of_entries.as_chunks::<RECORD>();
        let mut held = HeldPairs::default();
        for (grain, bounds) in row.windows(2).enumerate() {
            for k in bounds[0] - row[0]..bounds[1] - row[0] {
                held.push(k, grain, records[k as usize]);
            }
        }
        PartShortlist::of_held(held, is_single)
    }

    /// These pairs, as [`PartShortlist::with_histories`].
    pub fn of_held(held: HeldPairs, is_single: bool) -> PartShortlist {
        let HeldPairs { pairs } = held;
        let mut history = if is_single {
            Histories::Single(Vec::with_capacity(pairs.len() * RECORD))
        } else {
            Histories::Double(Vec::with_capacity(pairs.len() * RECORD))
        };
        for (_, _, record) in &pairs {
            match &mut history {
                Histories::Double(numbers) => numbers.extend_from_slice(record),
                Histories::Single(numbers) => numbers.extend(record.map(|number| number as f32)),
            }
        }
        PartShortlist {
            entry: pairs.iter().map(|&(entry, ..)| entry).collect(),
            grain: pairs.iter().map(|&(_, grain, _)| grain).collect(),
            history,
            ..PartShortlist::default()
        }
    }

    /// The histories of all entries of the part.
    pub fn histories(&self, entries: usize) -> Vec<f64> {
        match &self.history {
            Histories::Double(history) => of_all_entries(&self.entry, history, entries),
            Histories::Single(history) => of_all_entries(&self.entry, history, entries),
        }
    }

    /// The pairs with a history other than zero, also than a negative zero: the entry and the grain, counted from the part's first, and the history.
    pub fn held(&self) -> impl Iterator<Item = (usize, usize, [f64; RECORD])> {
        let history_at = |place: usize| match &self.history {
            Histories::Double(history) => history.as_chunks::<RECORD>().0[place],
            Histories::Single(history) => history.as_chunks::<RECORD>().0[place].map(f64::from),
        };
        let pairs = self.entry.iter().zip(&self.grain).enumerate();
        let all = pairs.map(move |(place, (&entry, &grain))| (entry as usize, grain as usize, history_at(place)));
        all.filter(|(_, _, record)| record.iter().any(|&number| number != 0.0))
    }

    /// Selects the pairs whose surfaces are nearer than `margin` \[m\]. Pairs that were selected before keep their histories.
    pub fn rebuild<const SIDES: u32>(&mut self, grains: &GrainsView<f64>, rows: &PartRows, margin: f64) {
        // After a panic on the way, the room is dropped with its marks.
        let mut selection = SELECTION.take();
        self.rebuild_in::<SIDES>(&mut selection, grains, rows, margin);
        SELECTION.set(selection);
    }

    fn rebuild_in<const SIDES: u32>(&mut self, selection: &mut Selection, grains: &GrainsView<f64>, rows: &PartRows, margin: f64) {
        let entries = (rows.row[rows.end] - rows.row[rows.first]) as usize;
        selection.make_room(entries);
        let Selection {
            entry,
            grain,
            before,
            former,
            double,
            single,
        } = selection;
        let (entry, grain) = (&mut entry[..entries], &mut grain[..entries]);
        let [inside, across] = pick_of_part::<f64, SIDES>(grains, rows, margin, entry, grain);
        for (place, &k) in (1..).zip(&self.entry) {
            former[k as usize] = place;
        }
        self.inside = inside;
        before.clear();
        before.append(&mut self.entry);
        self.entry.extend(entry[..inside].iter().chain(&entry[entries - across..]));
        self.grain.clear();
        self.grain.extend(grain[..inside].iter().chain(&grain[entries - across..]));
        let own = &rows.neighbors[rows.row[rows.first] as usize..];
        self.partner.clear();
        self.partner.extend(self.entry.iter().map(|&k| own[k as usize]));
        self.first = rows.first;
        match &mut self.history {
            Histories::Double(history) => put_in_new_order(&self.entry, history, former, double),
            Histories::Single(history) => put_in_new_order(&self.entry, history, former, single),
        }
        before.iter().for_each(|&k| former[k as usize] = 0);
    }

    /// The pairs, and their histories in the same order.
    pub fn pairs(&mut self) -> (Shortlist<'_>, &mut Histories) {
        debug_assert_eq!(self.partner.len(), self.entry.len(), "pairs are selected before they are used");
        let shortlist = Shortlist {
            first: self.first,
            grain: &self.grain,
            partner: &self.partner,
            inside: self.inside,
        };
        (shortlist, &mut self.history)
    }

    /// Removes all histories.
    pub fn clear_histories(&mut self) {
        match &mut self.history {
            Histories::Double(history) => history.fill(0.0),
            Histories::Single(history) => history.fill(0.0),
        }
    }

    /// Memory \[bytes\].
    fn bytes(&self) -> u64 {
        let history = match &self.history {
            Histories::Double(history) => history.capacity() * 8,
            Histories::Single(history) => history.capacity() * 4,
        };
        ((self.entry.capacity() + self.partner.capacity()) * 4 + self.grain.capacity() * 2 + history) as u64
    }
}

/// Histories of all `entries` of a part, from those of the entries in a shortlist.
fn of_all_entries<R: Real>(entry: &[u32], history: &[R], entries: usize) -> Vec<f64>
where
    f64: Coordinate<R>,
{
    let mut of_entries = vec![0.0; entries * RECORD];
    let ((to, _), (from, _)) = (of_entries.as_chunks_mut::<RECORD>(), history.as_chunks::<RECORD>());
    for (&k, record) in entry.iter().zip(from) {
        to[k as usize] = record.map(<f64 as Coordinate<R>>::wide);
    }
    of_entries
}

/// Puts the histories in the order of the entries of a new shortlist. `former` has one more than the former place of each entry of the part, and zero
/// for entries that were not in the shortlist. `before` is room for the histories so far.
fn put_in_new_order<R: Copy + Default>(entry: &[u32], history: &mut Vec<R>, former: &[u32], before: &mut Vec<R>) {
    before.clear();
    before.extend_from_slice(history);
    history.clear();
    history.resize(entry.len() * RECORD, R::default());
    let ((to, _), (from, _)) = (history.as_chunks_mut::<RECORD>(), before.as_chunks::<RECORD>());
    for (record, &k) in to.iter_mut().zip(entry) {
        if let Some(place) = former[k as usize].checked_sub(1) {
            *record = from[place as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_sweeps::periodic::{OPEN, PeriodicBoundaries};

    #[test]
    fn histories_follow_their_pairs_from_one_shortlist_to_the_next() {
        // A grain far away, and four others. A part has three of these. The first has all others in its row.
        let place = |x: f64| [x, 0.0, 0.0, 1.0];
        let position = [place(9.0), place(0.0), place(1.9), place(2.1), place(-1.9)].concat();
        let sides = PeriodicBoundaries::open();
        let grains = GrainsView {
            position: &position,
            velocity: &[],
            spin: &[],
            material: &[0; 5],
            materials: 1,
            table: &[],
            is_uniform: true,
            sides: &sides,
        };
        let rows = PartRows {
            first: 1,
            end: 4,
            row: &[0, 1, 4, 4, 4],
            neighbors: &[3, 2, 3, 4],
            is_once: true,
        };
        let record = |number: f64| [number, 0.0, 0.0, 0.5];
        let before = [record(7.0), [0.0; RECORD], record(9.0)].concat();
        let numbers = |history: &Histories| match history {
            Histories::Double(history) => history.len(),
            Histories::Single(history) => history.len(),
        };
        for is_single in [false, true] {
            let mut shortlist = PartShortlist::with_histories(&rows.row[1..], &before, is_single);
            assert_eq!(numbers(&shortlist.history), 2 * RECORD);
            for (margin, inside) in [(0.01, 1), (0.5, 2), (0.01, 1)] {
                shortlist.rebuild::<OPEN>(&grains, &rows, margin);
                let (pairs, history) = shortlist.pairs();
                assert_eq!(matches!(history, Histories::Single(_)), is_single);
                assert_eq!(
                    (pairs.inside, pairs.partner.len(), numbers(history)),
                    (inside, inside + 1, (inside + 1) * RECORD)
                );
                assert_eq!((pairs.first, pairs.inside().1[0], pairs.across().1), (1, 2, &[4][..]));
                assert_eq!(shortlist.histories(3), before);
                let held: Vec<_> = shortlist.held().collect();
                assert_eq!(held, [(0, 0, record(7.0)), (2, 0, record(9.0))], "an entry has no history");
            }
            shortlist.clear_histories();
            assert_eq!(shortlist.histories(3), [0.0; 3 * RECORD]);
        }
    }

    #[test]
    fn histories_in_single_precision_take_half_the_memory_and_come_back_the_same() {
        let digits = [0.1, -2.0 / 3.0, 1e-9, 3e-4];
        let [double, single] = [false, true].map(|is_single| PartShortlist::with_histories(&[0, 1], &digits, is_single));
        assert_eq!(double.histories(1), digits);
        let rounded = single.histories(1);
        assert_eq!(rounded, digits.map(|number| f64::from(number as f32)));
        assert_eq!(double.bytes() - single.bytes(), 4 * RECORD as u64);
        // A checkpoint holds double precision, and loses nothing.
        assert_eq!(PartShortlist::with_histories(&[0, 1], &rounded, true).histories(1), rounded);
    }

    #[test]
    fn a_shortlist_is_due_before_another_pair_can_touch() {
        let mut shortlists = Shortlists::default();
        let margin = shortlists.margin_after(2e-6, 1e-3).unwrap();
        assert!((margin - 16e-6).abs() < 1e-12);
        let steps = (0..100).take_while(|_| shortlists.margin_after(2e-6, 1e-3).is_none()).count();
        assert!(steps as f64 * 2e-6 < margin + 1e-12, "{steps}");
    }
}
