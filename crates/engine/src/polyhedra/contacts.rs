//! Contact histories of pairs of polyhedral grains. Most pairs of a list have none, and a pair with contacts has few of many possible ones.

use seixo_sweeps::layout::RECORD;

/// Largest number of contacts of a pair.
pub(crate) const SLOTS: usize = 32;

/// Histories of the contacts of some pairs, pair after pair, each with its key. Keys of a pair ascend, and none is zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeptContacts {
    /// Index after the last contact of each pair.
    pub ends: Vec<u32>,
    pub keys: Vec<u32>,
    pub histories: Vec<f64>,
}

impl KeptContacts {
    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.keys.clear();
        self.histories.clear();
    }

    /// Keys and histories of the contacts of pair k.
    pub fn of(&self, k: usize) -> (&[u32], &[f64]) {
        let first = if k == 0 { 0 } else { self.ends[k - 1] as usize };
        let end = self.ends[k] as usize;
        (&self.keys[first..end], &self.histories[first * RECORD..end * RECORD])
    }

    /// Appends the contacts of a pair from slots, of which those with a key of zero are free.
    pub fn push(&mut self, keys: &[u32], histories: &[f64]) {
        for (&key, history) in keys.iter().zip(histories.chunks_exact(RECORD)) {
            if key != 0 {
                self.keys.push(key);
                self.histories.extend_from_slice(history);
            }
        }
        self.ends.push(self.keys.len() as u32);
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        ((self.ends.capacity() + self.keys.capacity()) * 4 + self.histories.capacity() * 8) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_come_back_pair_by_pair_without_free_slots() {
        let mut kept = KeptContacts::default();
        let histories: Vec<f64> = (0..12).map(f64::from).collect();
        kept.push(&[5, 0, 9], &histories);
        kept.push(&[0, 0, 0], &histories);
        kept.push(&[7], &histories);
        assert_eq!(kept.of(0), (&[5, 9][..], &[0.0, 1.0, 2.0, 3.0, 8.0, 9.0, 10.0, 11.0][..]));
        assert_eq!(kept.of(1), (&[][..], &[][..]));
        assert_eq!(kept.of(2), (&[7][..], &[0.0, 1.0, 2.0, 3.0][..]));
    }
}
