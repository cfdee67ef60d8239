//! Boxes sorted along one axis: the test of boxes against boxes of \[Silva 2010, Algorithm 7\].

use seixo_sweeps::bounding_boxes::Bounds;

/// A box in the order of their lower ends.
struct SortedBox {
    bounds: Bounds,
    owner: u32,
    /// Largest upper end of this box and of all before it \[m\].
    end: f64,
}

/// Boxes with their owners, sorted along the longest side of the box around all.
#[derive(Default)]
pub(crate) struct SortedBoxes {
    axis: usize,
    boxes: Vec<SortedBox>,
}

impl SortedBoxes {
    /// Takes these boxes, with their owners, in place of the previous ones.
    pub fn fill(&mut self, boxes: impl Iterator<Item = (Bounds, u32)>) {
        let unsorted = |(bounds, owner)| SortedBox { bounds, owner, end: 0.0 };
        self.boxes.clear();
        self.boxes.extend(boxes.map(unsorted));
        let whole = self.boxes.iter().fold(Bounds::NOTHING, |whole, one| whole.with(&one.bounds));
        let edges = whole.edges();
        let axis = (1..3).fold(0, |longest, axis| if edges[axis] > edges[longest] { axis } else { longest });
        self.axis = axis;
        self.boxes
            .sort_unstable_by(|a, b| a.bounds.low[axis].total_cmp(&b.bounds.low[axis]));
        let mut end = f64::NEG_INFINITY;
        for one in &mut self.boxes {
            end = end.max(one.bounds.high[axis]);
            one.end = end;
        }
    }

    /// Whether a box of another owner than `own` overlaps this one.
    pub fn are_near(&self, bounds: &Bounds, own: u32) -> bool {
        let axis = self.axis;
        let begun = self.boxes.partition_point(|other| other.bounds.low[axis] <= bounds.high[axis]);
        self.boxes[..begun]
            .iter()
            .rev()
            .take_while(|other| other.end >= bounds.low[axis])
            .any(|other| other.owner != own && other.bounds.overlaps(bounds))
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        (self.boxes.capacity() * size_of::<SortedBox>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::SortedBoxes;
    use seixo_laws::Vector3;
    use seixo_sweeps::bounding_boxes::Bounds;

    #[test]
    fn the_same_boxes_are_near_as_in_a_test_of_each_against_each() {
        // A long box lies across many small ones, so that ends are not in the order of beginnings.
        let at = |k: usize| {
            let angle = 2.4 * k as f64;
            let center = Vector3 {
                x: 8.0 * angle.sin(),
                y: 12.0 * (1.7 * angle).cos(),
                z: (0.6 * angle).sin(),
            };
            Bounds::around(&center, if k.is_multiple_of(25) { 2.0 } else { 0.2 })
        };
        let boxes: Vec<(Bounds, u32)> = (0..200).map(|k| (at(k), (k / 2) as u32)).collect();
        let mut sorted = SortedBoxes::default();
        sorted.fill(boxes.iter().copied());
        let mut near = 0;
        for (bounds, own) in &boxes {
            let expected = boxes.iter().any(|(other, owner)| owner != own && other.overlaps(bounds));
            assert_eq!(sorted.are_near(bounds, *own), expected, "{bounds:?}");
            near += usize::from(expected);
        }
        assert!((1..boxes.len()).contains(&near), "{near}");
        sorted.fill(std::iter::empty());
        assert!(!sorted.are_near(&boxes[0].0, u32::MAX));
    }
}
