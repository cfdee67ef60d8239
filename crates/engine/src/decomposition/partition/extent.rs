//! The extent that is partitioned, and the halos of its partition.

use super::tree::{Extent, PartitionNode, longest, room_for, slabs, width};
use super::{EVERYWHERE, Partition};
use crate::world::{Domain, Vec3};

/// Width of slabs, relative to the reach of particles, from which on other cuts are not better \[-\]: a quarter of the particles of a slab are then
/// ghosts of its neighbors.
const WIDE: f64 = 8.0;

/// The space that is decomposed, as it was at first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartitionExtent {
    /// Extent of the particles along each axis \[m\].
    pub extent: [[f64; 2]; 3],
    /// Whether an axis is periodic.
    pub periodic: [bool; 3],
    /// The flow axis of sliding sides, if there are any. No plane is across it, as particles in contact across the sides can be anywhere along it.
    pub flow: Option<usize>,
    /// Distance from which on particles do not interact \[m\]; no block is narrower.
    pub reach: f64,
}

/// Estimate of the halos for a number of subdomains and uniformly distributed particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HaloEstimate {
    /// Number of neighbors of the subdomain with the largest halo exchange.
    pub beside: usize,
    /// Volume of its particles that are ghosts elsewhere, counted once for each neighbor \[m³\].
    pub reported: f64,
}

impl PartitionExtent {
    /// The extent of these positions \[m\], in a domain of the world.
    pub fn of(places: &[Vec3], reach: f64, domain: Option<&Domain>) -> PartitionExtent {
        let periodic = domain.map_or([false; 3], |domain| domain.periodic);
        let extent = [0, 1, 2].map(|axis| match domain.filter(|_| periodic[axis]) {
            Some(domain) => [domain.min[axis], domain.max[axis]],
            None => places.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], place| {
                [low.min(place[axis]), high.max(place[axis])]
            }),
        });
        PartitionExtent {
            extent,
            periodic,
            flow: domain.and_then(|domain| domain.shear).map(|shear| shear.flow),
            reach,
        }
    }

    /// The largest number of subdomains for which there is room.
    pub fn most_domains(&self) -> usize {
        room_for(slabs(&self.extent, self.reach, self.may_cut()))
    }

    /// The halos of this number of subdomains; none if there is no room for them.
    pub fn borders(&self, count: usize) -> Option<HaloEstimate> {
        let cuts = self.cut(&[], count)?;
        let borders = (0..count).map(|block| HaloEstimate {
            beside: cuts.beside[block].len(),
            reported: cuts.beside[block].iter().map(|other| self.shared(&cuts, block, *other)).sum(),
        });
        borders.max_by(|a, b| a.reported.total_cmp(&b.reported))
    }

    /// As [`Partition::cut`], without these positions where there are none; none if there is too little room.
    pub(super) fn cut(&self, places: &[Vec3], count: usize) -> Option<Partition> {
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
        let world = PartitionNode::cut(&mut places.to_vec(), self.extent, count, self.reach, may_cut);
        Some(Partition::new(*self, world))
    }

    /// The limits of periodic axes; infinite along others \[m\].
    pub(super) fn whole(&self) -> Extent {
        [0, 1, 2].map(|axis| if self.periodic[axis] { self.extent[axis] } else { EVERYWHERE[axis] })
    }

    /// The period of an axis; zero if it is not periodic \[m\].
    pub(super) fn period(&self, axis: usize) -> f64 {
        if self.periodic[axis] { width(&self.extent[axis]) } else { 0.0 }
    }

    fn may_cut(&self) -> [bool; 3] {
        [0, 1, 2].map(|axis| Some(axis) != self.flow)
    }

    /// Volume of a block that is within the reach of another one \[m³\].
    fn shared(&self, cuts: &Partition, block: usize, other: usize) -> f64 {
        let along = |axis: usize| {
            let [from, to] = self.extent[axis];
            let [low, high] = cuts.extents[block][axis];
            let [reach_low, reach_high] = cuts.extents[other][axis];
            let [low, high] = [low.max(from), high.min(to)];
            let period = self.period(axis);
            let images = if period > 0.0 { &[-1.0, 0.0, 1.0][..] } else { &[0.0] };
            let meets = |image: &f64| {
                let by = image * period;
                (high.min(reach_high + self.reach + by) - low.max(reach_low - self.reach + by)).max(0.0)
            };
            images.iter().map(meets).sum::<f64>().min(high - low)
        };
        (0..3).map(along).product()
    }
}
