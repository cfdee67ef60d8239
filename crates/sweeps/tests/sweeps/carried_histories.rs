//! Contact histories that are carried from the old rows of a GPU to new ones.

use proptest::prelude::*;
use seixo_sweeps::entries::{IN_CONTACT, TILE, carry_history_of, contacts_in_row, history_at, put_packed_number};

/// The row of the first grain of a tile.
fn row(entries: &[u32]) -> Vec<u32> {
    let mut list = vec![0; entries.len() * TILE];
    for (s, &entry) in entries.iter().enumerate() {
        list[s * TILE] = entry;
    }
    list
}

/// Number c of the history of a pair with the grain that had this old index.
fn number(old: u32, c: usize) -> f64 {
    f64::from(old) + 0.25 * c as f64
}

/// Number of grains: rows of more contacts than a word has bits are among those that are tested.
const GRAINS: u32 = 90;

/// Some of all grains but the first, in any order.
fn partners() -> impl Strategy<Value = Vec<u32>> {
    prop::sample::subsequence((1..GRAINS).collect::<Vec<u32>>(), 0..GRAINS as usize).prop_shuffle()
}

proptest! {
    #[test]
    fn histories_follow_their_pairs_in_any_order_of_rows(
        order in Just((1..GRAINS).collect::<Vec<u32>>()).prop_shuffle(),
        new in partners(),
        old in partners(),
        touched in prop::collection::vec(prop::bool::weighted(0.8), GRAINS as usize),
        by_id in any::<bool>(),
        in_spare in 0u32..4,
    ) {
        let old_of: Vec<u32> = std::iter::once(0).chain(order).collect();
        let id: Vec<u32> = old_of.iter().map(|&old| 10 * old).collect();
        let (mut new, mut old) = (new, old);
        if by_id {
            // Rows are in the order of ids then, which grow with old indices.
            old.sort_unstable();
            new.sort_unstable_by_key(|&j| id[j as usize]);
        }
        let flagged = |&j: &u32| if touched[j as usize] { j | IN_CONTACT } else { j };
        let old_list = row(&old.iter().map(flagged).collect::<Vec<u32>>());
        let mut old_history = vec![0.0; 3 * old_list.len()];
        for (s, &j) in old.iter().enumerate() {
            for c in 0..3 {
                old_history[history_at(s * TILE, c, 3)] = number(j, c);
            }
        }
        let mut list = row(&new);
        let mut history = vec![0.0; 3 * list.len()];
        let contacts = contacts_in_row(0, old.len() as u32, &[0], &old_list);
        let mut partner = vec![0; contacts as usize];
        // Room for a few contacts in the four buffers, one number in each, and for all others in the last.
        let mut spare_buffers = [(); 4].map(|()| vec![0.0; in_spare as usize]);
        let mut rest = vec![0.0; 3 * contacts.saturating_sub(in_spare) as usize];
        let [a, b, c, d] = &mut spare_buffers;
        let in_contact = (0..old.len()).filter(|&s| touched[old[s] as usize]);
        for (at, s) in in_contact.enumerate() {
            partner[at] = if by_id { 10 * old[s] } else { old[s] };
            for k in 0..3 {
                put_packed_number::<f64>(old_history[history_at(s * TILE, k, 3)], at, k, a, b, c, d, &mut rest, in_spare, 3);
            }
        }
        let start = [0, contacts];
        let count = new.len() as u32;
        carry_history_of::<f64>(
            0, count, &[0], &mut list, &mut history, &old_of, &start, &partner, a, b, c, d, &rest, in_spare, &id, 1, 3, by_id,
        );
        for (s, &j) in new.iter().enumerate() {
            let before = old_of[j as usize];
            if old.contains(&before) && touched[before as usize] {
                prop_assert_eq!(list[s * TILE], j | IN_CONTACT);
                for c in 0..3 {
                    prop_assert_eq!(history[history_at(s * TILE, c, 3)], number(before, c));
                }
            } else {
                prop_assert_eq!(list[s * TILE], j);
            }
        }
    }
}
