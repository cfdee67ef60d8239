//! Groups of close spheres of bodies: a coarser description of their shape.

use crate::bodies::Bodies;
use seixo_sweeps::layout::RECORD;

/// Largest number of spheres in a group. With this number, boxes of groups are small compared to bodies, and few compared to spheres.
const MAX_SPHERES: usize = 16;

/// Members of bodies, in groups.
#[derive(Default)]
pub(crate) struct Groups {
    /// Members, group by group.
    members: Vec<u32>,
    /// Index of the first member of each group, and the total number.
    first: Vec<u32>,
    /// The body of each group.
    pub body: Vec<u32>,
    /// Index of the first group of each body, and the total number.
    pub row: Vec<u32>,
    /// The group of each member.
    pub of: Vec<u32>,
    /// Index of the first member of each body, and the total number, when the groups were made.
    made_for: Vec<u32>,
}

/// Halves a set of members across the longest side of their bounding box in the frame of their body, until groups are small. Appends the start
/// of each group to `begin`; the first group starts at `first`.
fn cut(members: &mut [u32], first: usize, offset: &[f64], begin: &mut Vec<u32>) {
    if members.len() <= MAX_SPHERES {
        begin.push(first as u32);
        return;
    }
    let place = |m: u32, axis: usize| offset[m as usize * RECORD + axis];
    let extent = |axis: usize| {
        let ends = members.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &m| {
            [low.min(place(m, axis)), high.max(place(m, axis))]
        });
        ends[1] - ends[0]
    };
    let extents = [0, 1, 2].map(extent);
    let longest = (1..3).fold(0, |longest, axis| if extents[axis] > extents[longest] { axis } else { longest });
    let half = members.len() / 2;
    // Spheres on lattices have equal coordinates: ties are ordered by member, so that neighbors stay together.
    members.select_nth_unstable_by(half, |&a, &b| place(a, longest).total_cmp(&place(b, longest)).then(a.cmp(&b)));
    let (lower, upper) = members.split_at_mut(half);
    cut(lower, first, offset, begin);
    cut(upper, first + half, offset, begin);
}

impl Groups {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// The members of a group.
    pub fn members(&self, group: usize) -> &[u32] {
        &self.members[self.first[group] as usize..self.first[group + 1] as usize]
    }

    /// Makes groups of the members of these bodies, unless the bodies have the same numbers of members as before. Any groups are valid; those of
    /// other bodies may only be larger than necessary.
    pub fn follow(&mut self, bodies: &Bodies) {
        if self.made_for == bodies.row {
            return;
        }
        self.made_for.clone_from(&bodies.row);
        self.members.clear();
        self.members.extend(0..bodies.body_of.len() as u32);
        self.first.clear();
        self.body.clear();
        self.row.clear();
        for (b, ends) in bodies.row.windows(2).enumerate() {
            self.row.push(self.first.len() as u32);
            let (first, end) = (ends[0] as usize, ends[1] as usize);
            cut(&mut self.members[first..end], first, &bodies.offset, &mut self.first);
            self.body.resize(self.first.len(), b as u32);
        }
        self.row.push(self.first.len() as u32);
        self.first.push(self.members.len() as u32);
        self.of.resize(self.members.len(), 0);
        for (group, ends) in self.first.windows(2).enumerate() {
            for &m in &self.members[ends[0] as usize..ends[1] as usize] {
                self.of[m as usize] = group as u32;
            }
        }
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let words = [&self.members, &self.first, &self.body, &self.row, &self.of, &self.made_for];
        words.iter().map(|words| 4 * words.capacity() as u64).sum()
    }
}
