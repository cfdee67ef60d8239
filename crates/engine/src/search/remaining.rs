//! Grains that remain when others are removed between two rebuilds of the lists.

/// Grains that remain when others are removed between two rebuilds of the lists, in the same order.
pub struct Remaining {
    /// Their previous indices.
    pub old_of: Vec<u32>,
    /// Number of them before each previous index, and of all.
    before: Vec<u32>,
}

impl Remaining {
    /// Those of n grains that stay.
    pub fn of(n: usize, stays: impl Fn(usize) -> bool) -> Remaining {
        let mut remaining = Remaining {
            old_of: Vec::with_capacity(n),
            before: Vec::with_capacity(n + 1),
        };
        for i in 0..n {
            remaining.before.push(remaining.old_of.len() as u32);
            if stays(i) {
                remaining.old_of.push(i as u32);
            }
        }
        remaining.before.push(remaining.old_of.len() as u32);
        remaining
    }

    /// Number of grains that remain.
    pub fn count(&self) -> usize {
        self.old_of.len()
    }

    /// Number of grains that remain among the first n.
    pub fn before(&self, n: usize) -> u32 {
        self.before[n]
    }

    /// Present index of the grain with this previous one, unless it was removed.
    pub fn place(&self, old: usize) -> Option<u32> {
        let place = self.before[old];
        (place < self.before[old + 1]).then_some(place)
    }
}
