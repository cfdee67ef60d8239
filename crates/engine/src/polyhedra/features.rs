//! Near features of pairs of polyhedral grains. Most pairs of a list are not near enough to have any.

use seixo_sweeps::shape_features::Frame;

/// Near features of some pairs, pair after pair, see [`seixo_sweeps::near_features`]. They save work and change no result, so they are not saved.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptFeatures {
    /// Indices after the frame and after the last key of each pair. Pairs after the last one that has had features have no entry.
    ends: Vec<[u32; 2]>,
    /// The frame of the first grain as seen from the second when the features of a pair were looked for. A pair that keeps no features has none.
    frames: Vec<Frame<f64>>,
    /// Keys of the features.
    keys: Vec<u32>,
}

impl KeptFeatures {
    /// Numbers of frames and keys of the first k pairs.
    fn before(&self, k: usize) -> [usize; 2] {
        let last = self.ends[..k.min(self.ends.len())].last();
        last.map_or([0; 2], |ends| ends.map(|end| end as usize))
    }

    /// Frame and features of pair k.
    pub fn of(&self, k: usize) -> (Option<Frame<f64>>, &[u32]) {
        let ([frame, first], [frame_end, end]) = (self.before(k), self.before(k + 1));
        (self.frames[frame..frame_end].first().copied(), &self.keys[first..end])
    }

    /// Gives pair k these features, in place of those that it has. Without a frame it keeps none.
    pub fn replace(&mut self, k: usize, since: Option<Frame<f64>>, keys: &[u32]) {
        let ([frame, first], [frame_end, end]) = (self.before(k), self.before(k + 1));
        if self.ends.len() <= k {
            self.ends.resize(k + 1, [frame_end as u32, end as u32]);
        }
        drop(self.frames.splice(frame..frame_end, since));
        drop(self.keys.splice(first..end, keys.iter().copied()));
        let now = [usize::from(since.is_some()), keys.len()];
        let was = [frame_end - frame, end - first];
        for ends in &mut self.ends[k..] {
            for (end, (now, was)) in ends.iter_mut().zip(now.into_iter().zip(was)) {
                *end = *end + now as u32 - was as u32;
            }
        }
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let words = 2 * self.ends.capacity() + self.keys.capacity();
        (words * 4 + self.frames.capacity() * size_of::<Frame<f64>>()) as u64
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use seixo_laws::{Quaternion, Vector3};

    /// A frame that is not rotated, with its center at this x.
    pub fn frame(x: f64) -> Frame<f64> {
        Frame {
            orientation: Quaternion {
                w: 1.0,
                x: 0.0,
                y: 0.0,
                z: 0.0,
            },
            center: Vector3 { x, y: 0.0, z: 0.0 },
        }
    }

    #[test]
    fn features_of_a_pair_give_way_to_new_ones_and_leave_others_alone() {
        let mut kept = KeptFeatures::default();
        let all = |kept: &KeptFeatures| {
            [0, 1, 2, 3, 9].map(|k| {
                let (since, keys) = kept.of(k);
                (since.map(|frame| frame.center.x), keys.to_vec())
            })
        };
        let none = || -> (Option<f64>, Vec<u32>) { (None, Vec::new()) };
        assert_eq!(all(&kept), [none(), none(), none(), none(), none()]);
        kept.replace(2, Some(frame(2.0)), &[3, 5, 8]);
        kept.replace(0, Some(frame(0.5)), &[7]);
        let third = (Some(2.0), vec![3, 5, 8]);
        assert_eq!(all(&kept), [(Some(0.5), vec![7]), none(), third.clone(), none(), none()]);
        // Features were looked for, and there are none.
        kept.replace(1, Some(frame(1.0)), &[]);
        kept.replace(0, Some(frame(0.6)), &[1, 2]);
        kept.replace(3, Some(frame(3.0)), &[4]);
        let second = (Some(1.0), Vec::new());
        let fourth = (Some(3.0), vec![4]);
        assert_eq!(all(&kept), [(Some(0.6), vec![1, 2]), second, third, fourth.clone(), none()]);
        kept.replace(0, None, &[]);
        kept.replace(2, Some(frame(2.5)), &[6]);
        let third = (Some(2.5), vec![6]);
        assert_eq!(all(&kept), [none(), (Some(1.0), Vec::new()), third, fourth, none()]);
    }
}
