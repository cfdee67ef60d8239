//! What there is to be cut, and what borders come of it.

use super::part::{Extent, Part, layers, longest, room_for, width};
use super::{Cuts, EVERYWHERE};
use crate::world::{Domain, Vec3};

/// How many times as wide as particles feel each other slabs must be for other cuts not to be better \[-\]: then a quarter of what a slab has is known
/// to its neighbors too.
const WIDE: f64 = 8.0;

/// What is divided among domains, as it was at first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Space {
    /// Where there is anything along each axis \[m\].
    pub extent: [[f64; 2]; 3],
    /// Whether the ends of an axis are beside each other.
    pub periodic: [bool; 3],
    /// The axis along which sides slide, if any do: it is not cut across, for what meets across them is anywhere along it.
    pub flow: Option<usize>,
    /// Distance from which on particles feel nothing of each other \[m\]; no block is narrower.
    pub reach: f64,
}

/// What borders a number of domains have where particles are spread alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Borders {
    /// Domains beside the one that has most to tell.
    pub beside: usize,
    /// In how much space that one's particles are known to others, for each of these anew \[m³\].
    pub told: f64,
}

impl Space {
    /// Where these places are \[m\], in a domain of the world.
    pub fn of(places: &[Vec3], reach: f64, domain: Option<&Domain>) -> Space {
        let periodic = domain.map_or([false; 3], |domain| domain.periodic);
        let extent = [0, 1, 2].map(|axis| match domain.filter(|_| periodic[axis]) {
            Some(domain) => [domain.min[axis], domain.max[axis]],
            None => places.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], place| {
                [low.min(place[axis]), high.max(place[axis])]
            }),
        });
        Space {
            extent,
            periodic,
            flow: domain.and_then(|domain| domain.shear).map(|shear| shear.flow),
            reach,
        }
    }

    /// For how many domains there is room.
    pub fn most_domains(&self) -> usize {
        room_for(layers(&self.extent, self.reach, self.may_cut()))
    }

    /// The borders that so many domains have; none where there is no room for them.
    pub fn borders(&self, count: usize) -> Option<Borders> {
        let cuts = self.cut(&[], count)?;
        let borders = (0..count).map(|block| Borders {
            beside: cuts.beside[block].len(),
            told: cuts.beside[block].iter().map(|other| self.shared(&cuts, block, *other)).sum(),
        });
        borders.max_by(|a, b| a.told.total_cmp(&b.told))
    }

    /// As [`Cuts::cut`], without these places where there are none; none if there is too little room.
    pub(super) fn cut(&self, places: &[Vec3], count: usize) -> Option<Cuts> {
        if count > self.most_domains() {
            return None;
        }
        let may_cut = self.may_cut();
        let may_cut = match longest(&self.extent, |axis| may_cut[axis])
            .filter(|&axis| width(&self.extent[axis]) >= count as f64 * WIDE * self.reach)
        {
            Some(longest) => [0, 1, 2].map(|axis| axis == longest),
            None => may_cut,
        };
        let world = Part::cut(&mut places.to_vec(), self.extent, count, self.reach, may_cut);
        Some(Cuts::new(*self, world))
    }

    /// The ends of periodic axes; along others all there is \[m\].
    pub(super) fn whole(&self) -> Extent {
        [0, 1, 2].map(|axis| if self.periodic[axis] { self.extent[axis] } else { EVERYWHERE[axis] })
    }

    /// What images are apart along a periodic axis; along others zero \[m\].
    pub(super) fn period(&self, axis: usize) -> f64 {
        if self.periodic[axis] { width(&self.extent[axis]) } else { 0.0 }
    }

    fn may_cut(&self) -> [bool; 3] {
        [0, 1, 2].map(|axis| Some(axis) != self.flow)
    }

    /// How much of a block another one feels \[m³\].
    fn shared(&self, cuts: &Cuts, block: usize, other: usize) -> f64 {
        let along = |axis: usize| {
            let [from, to] = self.extent[axis];
            let [low, high] = cuts.extents[block][axis];
            let [felt_low, felt_high] = cuts.extents[other][axis];
            let [low, high] = [low.max(from), high.min(to)];
            let period = self.period(axis);
            let images = if period > 0.0 { &[-1.0, 0.0, 1.0][..] } else { &[0.0] };
            let meets = |image: &f64| {
                let by = image * period;
                (high.min(felt_high + self.reach + by) - low.max(felt_low - self.reach + by)).max(0.0)
            };
            images.iter().map(meets).sum::<f64>().min(high - low)
        };
        (0..3).map(along).product()
    }
}
