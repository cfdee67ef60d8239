//! A part of the world, and the planes that it is cut by: a tree.

use crate::division::samples::Sample;
use crate::world::Vec3;

/// Two lengths that differ by no more than this are alike, relative to their own \[-\].
const ALIKE: f64 = 1e-9;

/// Where something begins and ends along each axis \[m\].
pub type Extent = [[f64; 2]; 3];

/// A part of the world, and how it is cut.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// It is the block of one domain.
    Block,
    /// A plane across an axis, where this lies \[m\], and what is below and above.
    Cut { axis: usize, plane: f64, halves: Box<[Part; 2]> },
}

impl Part {
    /// Of how many domains this holds the blocks.
    pub fn count(&self) -> usize {
        match self {
            Part::Block => 1,
            Part::Cut { halves, .. } => halves.iter().map(Part::count).sum(),
        }
    }

    /// How wide this is at least along each axis, if every block is `reach` wide at least \[m\].
    fn least_width(&self, reach: f64) -> [f64; 3] {
        match self {
            Part::Block => [reach; 3],
            Part::Cut { axis, halves, .. } => {
                let [below, above] = [0, 1].map(|half| halves[half].least_width(reach));
                [0, 1, 2].map(|k| if k == *axis { below[k] + above[k] } else { below[k].max(above[k]) })
            }
        }
    }

    /// Appends where the blocks of this part are that begins and ends so.
    pub fn list_blocks(&self, extent: Extent, to: &mut Vec<Extent>) {
        match self {
            Part::Block => to.push(extent),
            Part::Cut { axis, plane, halves } => {
                let ends = divided_at(extent, *axis, *plane);
                halves.iter().zip(ends).for_each(|(half, extent)| half.list_blocks(extent, to));
            }
        }
    }

    /// Cuts what is so wide, where these places are \[m\], into so many blocks, across axes where that is allowed.
    pub fn cut(places: &mut [Vec3], extent: Extent, count: usize, reach: f64, may_cut: [bool; 3]) -> Part {
        if count < 2 {
            return Part::Block;
        }
        let layers = layers(&extent, reach, may_cut);
        let axis = longest(&extent, |axis| layers[axis] > 1);
        let (axis, below) = axis.map_or((0, count / 2), |axis| (axis, half_of(count, layers, axis)));
        let [low, high] = extent[axis];
        let nth = below * places.len() / count;
        let plane = match places.get(nth) {
            Some(_) => places.select_nth_unstable_by(nth, |a, b| a[axis].total_cmp(&b[axis])).1[axis],
            None => low + (high - low) * below as f64 / count as f64,
        };
        let beside = layers_beside(layers, axis);
        let least = [below, count - below].map(|count| count.div_ceil(beside) as f64 * reach);
        let plane = plane.max(low + least[0]).min(high - least[1]);
        places.sort_unstable_by_key(|place| place[axis] >= plane);
        let (places_below, places_above) = places.split_at_mut(places.partition_point(|place| place[axis] < plane));
        let [extent_below, extent_above] = divided_at(extent, axis, plane);
        let halves = [
            Part::cut(places_below, extent_below, below, reach, may_cut),
            Part::cut(places_above, extent_above, count - below, reach, may_cut),
        ];
        Part::Cut {
            axis,
            plane,
            halves: Box::new(halves),
        }
    }

    /// Moves planes to where each half has its share of the particles that samples tell of, between these ends. Within the block that a domain had, its
    /// particles count as spread alike along each axis, whatever they are across it.
    pub fn balance(&mut self, extent: Extent, samples: &[&Sample], reach: f64) {
        let count = self.count();
        let Part::Cut { axis, plane, halves } = self else { return };
        let here: Vec<&Sample> = samples.iter().filter(|sample| sample.share_in(&extent) > 0.0).copied().collect();
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
        for (half, extent) in halves.iter_mut().zip(divided_at(extent, *axis, *plane)) {
            half.balance(extent, &here, reach);
        }
    }
}

/// How wide something is \[m\].
pub fn width([low, high]: &[f64; 2]) -> f64 {
    high - low
}

/// The axis along which something is longest, of those that count.
pub fn longest(extent: &Extent, counts: impl Fn(usize) -> bool) -> Option<usize> {
    let axes = (0..3).filter(|&axis| counts(axis));
    axes.max_by(|&a, &b| width(&extent[a]).total_cmp(&width(&extent[b])))
}

/// How many blocks there is room for along each axis across which may be cut; one along others.
pub fn layers(extent: &Extent, reach: f64, may_cut: [bool; 3]) -> [usize; 3] {
    [0, 1, 2].map(|axis| {
        let layers = (width(&extent[axis]) / reach * (1.0 + ALIKE)).floor();
        if may_cut[axis] { layers.max(1.0) as usize } else { 1 }
    })
}

/// How many blocks there is room for in a layer across an axis.
fn layers_beside(mut layers: [usize; 3], axis: usize) -> usize {
    layers[axis] = 1;
    room_for(layers)
}

/// How many blocks there is room for in so many layers along each axis.
pub fn room_for(layers: [usize; 3]) -> usize {
    layers.into_iter().fold(1, usize::saturating_mul)
}

/// How many of so many blocks go below a plane across an axis: half of them, or what fills layers where these are scarce.
fn half_of(count: usize, layers: [usize; 3], axis: usize) -> usize {
    let beside = layers_beside(layers, axis);
    let half = count / 2;
    if half.div_ceil(beside) + (count - half).div_ceil(beside) <= layers[axis] {
        half
    } else {
        beside * (half / beside).max(1)
    }
}

/// What is below and above a plane.
fn divided_at(extent: Extent, axis: usize, plane: f64) -> [Extent; 2] {
    let (mut below, mut above) = (extent, extent);
    (below[axis][1], above[axis][0]) = (plane, plane);
    [below, above]
}
