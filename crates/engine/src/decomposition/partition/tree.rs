//! A part of the world, and the planes that cut it: a tree.

use crate::decomposition::load_balancing::LoadSample;
use crate::world::Vec3;

/// Relative difference up to which two lengths count as equal \[-\].
const ALIKE: f64 = 1e-9;

/// Limits along each axis \[m\].
pub type Extent = [[f64; 2]; 3];

/// A part of the world, and its cuts.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionNode {
    /// The block of one subdomain.
    Block,
    /// A plane across an axis at this coordinate \[m\], and the parts below and above it.
    Cut {
        axis: usize,
        plane: f64,
        halves: Box<[PartitionNode; 2]>,
    },
}

impl PartitionNode {
    /// Number of blocks in this part.
    pub fn count(&self) -> usize {
        match self {
            PartitionNode::Block => 1,
            PartitionNode::Cut { halves, .. } => halves.iter().map(PartitionNode::count).sum(),
        }
    }

    /// The smallest width along each axis at which every block is at least `reach` wide \[m\].
    fn least_width(&self, reach: f64) -> [f64; 3] {
        match self {
            PartitionNode::Block => [reach; 3],
            PartitionNode::Cut { axis, halves, .. } => {
                let [below, above] = [0, 1].map(|half| halves[half].least_width(reach));
                [0, 1, 2].map(|k| if k == *axis { below[k] + above[k] } else { below[k].max(above[k]) })
            }
        }
    }

    /// Appends the extents of the blocks of a part with this extent.
    pub fn list_blocks(&self, extent: Extent, to: &mut Vec<Extent>) {
        match self {
            PartitionNode::Block => to.push(extent),
            PartitionNode::Cut { axis, plane, halves } => {
                let ends = decomposition_at(extent, *axis, *plane);
                halves.iter().zip(ends).for_each(|(half, extent)| half.list_blocks(extent, to));
            }
        }
    }

    /// Cuts a part with these positions \[m\] into a number of blocks, across the axes that may be cut.
    pub fn cut(places: &mut [Vec3], extent: Extent, count: usize, reach: f64, may_cut: [bool; 3]) -> PartitionNode {
        if count < 2 {
            return PartitionNode::Block;
        }
        let layers = slabs(&extent, reach, may_cut);
        let axis = longest(&extent, |axis| layers[axis] > 1);
        let (axis, below) = axis.map_or((0, count / 2), |axis| (axis, half_of(count, layers, axis)));
        let [low, high] = extent[axis];
        let nth = below * places.len() / count;
        let plane = match places.get(nth) {
            Some(_) => places.select_nth_unstable_by(nth, |a, b| a[axis].total_cmp(&b[axis])).1[axis],
            None => low + (high - low) * below as f64 / count as f64,
        };
        let beside = slabs_per_layer(layers, axis);
        let least = [below, count - below].map(|count| count.div_ceil(beside) as f64 * reach);
        let plane = plane.max(low + least[0]).min(high - least[1]);
        places.sort_unstable_by_key(|place| place[axis] >= plane);
        let (places_below, places_above) = places.split_at_mut(places.partition_point(|place| place[axis] < plane));
        let [extent_below, extent_above] = decomposition_at(extent, axis, plane);
        let halves = [
            PartitionNode::cut(places_below, extent_below, below, reach, may_cut),
            PartitionNode::cut(places_above, extent_above, count - below, reach, may_cut),
        ];
        PartitionNode::Cut {
            axis,
            plane,
            halves: Box::new(halves),
        }
    }

    /// Moves planes so that each half has its share of the weights of the samples, within this extent. Particles of one block count as uniformly
    /// distributed along each axis, independent of the other axes.
    pub fn balance(&mut self, extent: Extent, samples: &[&LoadSample], reach: f64) {
        let count = self.count();
        let PartitionNode::Cut { axis, plane, halves } = self else { return };
        let here: Vec<&LoadSample> = samples.iter().filter(|sample| sample.share_in(&extent) > 0.0).copied().collect();
        let mut weighed: Vec<(f64, f64)> = here.iter().flat_map(|sample| sample.weighed(*axis, &extent)).collect();
        weighed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = weighed.iter().map(|(_, weight)| weight).sum();
        let wanted = all * halves[0].count() as f64 / count as f64;
        let mut below = 0.0;
        let reached = weighed.into_iter().find(|(_, weight)| {
            below += weight;
            below >= wanted
        });
        let [low, high] = extent[*axis];
        let least = [0, 1].map(|half| halves[half].least_width(reach)[*axis]);
        let wished = reached.map_or(*plane, |(place, _)| place);
        *plane = wished.max(low + least[0]).min(high - least[1]);
        for (half, extent) in halves.iter_mut().zip(decomposition_at(extent, *axis, *plane)) {
            half.balance(extent, &here, reach);
        }
    }
}

/// Width along each axis \[m\].
pub fn width([low, high]: &[f64; 2]) -> f64 {
    high - low
}

/// The longest of the axes that count.
pub fn longest(extent: &Extent, counts: impl Fn(usize) -> bool) -> Option<usize> {
    let axes = (0..3).filter(|&axis| counts(axis));
    axes.max_by(|&a, &b| width(&extent[a]).total_cmp(&width(&extent[b])))
}

/// Number of blocks for which there is room along each axis that may be cut; one along others.
pub fn slabs(extent: &Extent, reach: f64, may_cut: [bool; 3]) -> [usize; 3] {
    [0, 1, 2].map(|axis| {
        let layers = (width(&extent[axis]) / reach * (1.0 + ALIKE)).floor();
        if may_cut[axis] { layers.max(1.0) as usize } else { 1 }
    })
}

/// Number of blocks for which there is room in a layer across an axis.
fn slabs_per_layer(mut layers: [usize; 3], axis: usize) -> usize {
    layers[axis] = 1;
    room_for(layers)
}

/// Number of blocks for which there is room with these layers along each axis.
pub fn room_for(layers: [usize; 3]) -> usize {
    layers.into_iter().fold(1, usize::saturating_mul)
}

/// Number of blocks below a plane across an axis: half of them, or whole layers where these are scarce.
fn half_of(count: usize, layers: [usize; 3], axis: usize) -> usize {
    let beside = slabs_per_layer(layers, axis);
    let half = count / 2;
    if half.div_ceil(beside) + (count - half).div_ceil(beside) <= layers[axis] {
        half
    } else {
        beside * (half / beside).max(1)
    }
}

/// The extents below and above a plane.
fn decomposition_at(extent: Extent, axis: usize, plane: f64) -> [Extent; 2] {
    let (mut below, mut above) = (extent, extent);
    (below[axis][1], above[axis][0]) = (plane, plane);
    [below, above]
}
