//! Partition of a world into blocks, one for each subdomain.
//!
//! Planes halve the world, then its parts, until there are as many blocks as subdomains: recursive bisection \[Berger 1987\]. While all planes can be
//! across one axis and leave blocks that are wide enough, they are: slabs have the fewest neighbors.

mod extent;
mod tree;

use super::load_balancing::LoadSample;
use crate::refusal::WorldError;
use crate::world::{Domain, Vec3};
pub use extent::{HaloEstimate, PartitionExtent};
use seixo_laws::Vector3;
use seixo_sweeps::domain::{Block, is_in_block};
use std::sync::Arc;
use tree::{Extent, PartitionNode, width};

/// Load of a block, relative to its share, above which planes move \[-\].
const TOLERATED: f64 = 1.05;

/// The whole of space.
const EVERYWHERE: Extent = [[f64::NEG_INFINITY, f64::INFINITY]; 3];

/// Blocks that partition the world. Those at its edge extend to infinity, except along periodic axes, where they are neighbors of those at the
/// opposite side.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    space: PartitionExtent,
    world: PartitionNode,
    /// For each block, its own space, and that with its halo.
    owned: Vec<Block<f64>>,
    blocks_in_reach: Vec<Block<f64>>,
    /// For each block, its planes, and its neighbors: the blocks within its reach.
    extents: Vec<Extent>,
    beside: Vec<Vec<usize>>,
    /// For each block, the numbers of its neighbors in the order of the exchange schedule.
    sides_in_order: Vec<Arc<[usize]>>,
}

impl Partition {
    /// Cuts space into blocks with equal numbers of these positions \[m\], none narrower than `reach`. No plane is across the flow axis of sliding
    /// sides: particles in contact across these sides can be anywhere along that axis.
    ///
    /// # Errors
    /// If there is too little room.
    pub fn cut(places: &[Vec3], count: usize, reach: f64, domain: Option<&Domain>) -> Result<Partition, WorldError> {
        let space = PartitionExtent::of(places, reach, domain);
        space.cut(places, count).ok_or_else(|| {
            let [x, y, z] = space.extent.map(|ends| width(&ends));
            WorldError::Subdomains(format!(
                "{count} domains are too many: particles extend over {x:.3e} x {y:.3e} x {z:.3e} m, and a domain is at least as wide as the interaction range, \
                 {reach:.3e} m; use at most {}",
                space.most_domains()
            ))
        })
    }

    fn new(space: PartitionExtent, world: PartitionNode) -> Partition {
        let length = [0, 1, 2].map(|axis| space.period(axis));
        let blocks = |whole: Extent| {
            let mut blocks = Vec::new();
            world.list_blocks(whole, &mut blocks);
            blocks
        };
        let extents = blocks(space.whole());
        let mut cuts = Partition {
            owned: blocks(EVERYWHERE).iter().map(|extent| block(extent, 0.0, [0.0; 3])).collect(),
            blocks_in_reach: extents.iter().map(|extent| block(extent, space.reach, length)).collect(),
            beside: vec![Vec::new(); extents.len()],
            sides_in_order: Vec::new(),
            space,
            world,
            extents,
        };
        for a in 0..cuts.count() {
            for b in a + 1..cuts.count() {
                if cuts.reaches(a, &cuts, b) || cuts.reaches(b, &cuts, a) {
                    cuts.beside[a].push(b);
                    cuts.beside[b].push(a);
                }
            }
        }
        let schedule = exchange_schedule(&cuts.beside);
        cuts.sides_in_order = schedule
            .iter()
            .zip(&cuts.beside)
            .map(|(rounds, beside)| sides(rounds, beside))
            .collect();
        cuts
    }

    /// Cuts with planes where all blocks have about the same weight, by samples of all subdomains. None if the blocks are balanced already, or the
    /// planes cannot move.
    pub fn balanced(&self, samples: &[LoadSample]) -> Option<Partition> {
        let weights: Vec<f64> = samples.iter().map(|sample| sample.weight).collect();
        if self.are_balanced(&weights) {
            return None;
        }
        let mut world = self.world.clone();
        world.balance(self.space.whole(), &samples.iter().collect::<Vec<_>>(), self.space.reach);
        (world != self.world).then(|| Partition::new(self.space, world))
    }

    /// Whether blocks with these weights are balanced, so that planes stay.
    pub fn are_balanced(&self, weights: &[f64]) -> bool {
        let total: f64 = weights.iter().sum();
        let most = weights.iter().copied().fold(0.0, f64::max);
        most <= TOLERATED * total / weights.len() as f64
    }

    /// The weights of these samples in each block, as far as the samples show.
    pub fn weights_of(&self, samples: &[LoadSample]) -> Vec<f64> {
        let weight_in = |extent: &Extent| samples.iter().map(|sample| sample.weight * sample.share_in(extent)).sum::<f64>();
        self.extents.iter().map(weight_in).collect()
    }

    /// Makes all halos narrower than the reach by this length \[m\].
    pub fn narrow_halos(&mut self, spare: f64) {
        let length = [0, 1, 2].map(|axis| self.space.period(axis));
        let width = self.space.reach - spare;
        self.blocks_in_reach = self.extents.iter().map(|extent| block(extent, width, length)).collect();
    }

    /// The space that was partitioned, as it was at first.
    pub fn space(&self) -> PartitionExtent {
        self.space
    }

    /// Number of blocks.
    pub fn count(&self) -> usize {
        self.extents.len()
    }

    /// The block that contains a position \[m\].
    pub fn owner(&self, place: &[f64]) -> usize {
        let (mut part, mut first) = (&self.world, 0);
        while let PartitionNode::Cut { axis, plane, halves } = part {
            let is_above = place[*axis] >= *plane;
            first += if is_above { halves[0].count() } else { 0 };
            part = &halves[usize::from(is_above)];
        }
        first
    }

    /// The neighbors of a block, in their order.
    pub fn beside(&self, block: usize) -> &[usize] {
        &self.beside[block]
    }

    /// Whether each block is a neighbor of every other.
    pub fn are_all_neighbors(&self) -> bool {
        self.beside.iter().all(|others| others.len() + 1 == self.count())
    }

    /// The numbers of the neighbors, as in [`Partition::beside`], in the order of the exchange schedule: the two blocks of a pair exchange in the same
    /// round. The list is shared, as a step needs it while the subdomain changes.
    pub fn sides_in_order(&self, block: usize) -> Arc<[usize]> {
        self.sides_in_order[block].clone()
    }

    /// The blocks to and from which particles of a block may migrate since the partition `before`, and its neighbors.
    pub fn partners(&self, before: &Partition, block: usize) -> Vec<usize> {
        let may_go = |from: usize, to: usize| before.reaches(from, self, to);
        let is_partner = |other: &usize| {
            *other != block && (may_go(block, *other) || may_go(*other, block) || self.beside[block].binary_search(other).is_ok())
        };
        (0..self.count()).filter(is_partner).collect()
    }

    /// Whether a particle at a position \[m\] is within the reach of a block.
    pub fn is_in_halo_of(&self, block: usize, place: &[f64]) -> bool {
        is_in_block(
            &Vector3 {
                x: place[0],
                y: place[1],
                z: place[2],
            },
            &self.blocks_in_reach[block],
        )
    }

    /// The space of a block with its halo.
    pub fn with_halo(&self, block: usize) -> Block<f64> {
        self.blocks_in_reach[block]
    }

    /// The own space of a block.
    pub fn owned(&self, block: usize) -> Block<f64> {
        self.owned[block]
    }

    /// The own space of each of these blocks.
    pub fn owned_by(&self, blocks: &[usize]) -> Vec<Block<f64>> {
        blocks.iter().map(|block| self.owned[*block]).collect()
    }

    /// The space of each neighbor of a block with its halo.
    pub fn halo_per_neighbor(&self, block: usize) -> Vec<Block<f64>> {
        self.beside[block].iter().map(|other| self.blocks_in_reach[*other]).collect()
    }

    /// The space of each neighbor of a block with a halo of this width \[m\].
    pub fn halos_of_neighbors(&self, of: usize, width: f64) -> Vec<Block<f64>> {
        let length = [0, 1, 2].map(|axis| self.space.period(axis));
        let others = self.beside[of].iter();
        others.map(|other| block(&self.extents[*other], width, length)).collect()
    }

    /// Whether a block is within the reach of a block of another partition.
    fn reaches(&self, block: usize, others: &Partition, other: usize) -> bool {
        (0..3).all(|axis| {
            let [low, high] = self.extents[block][axis];
            let [from, to] = others.extents[other][axis];
            let (length, reach) = (self.space.period(axis), self.space.reach);
            let meets = |by: f64| from + by <= high + reach && low - reach <= to + by;
            meets(0.0) || length > 0.0 && (meets(length) || meets(-length))
        })
    }
}

/// A block with this margin on each side, and the distance of its periodic images \[m\].
fn block(extent: &Extent, margin: f64, length: [f64; 3]) -> Block<f64> {
    let vector = |[x, y, z]: [f64; 3]| Vector3 { x, y, z };
    Block {
        low: vector(extent.map(|[low, _]| low - margin)),
        high: vector(extent.map(|[_, high]| high + margin)),
        length: vector(length),
    }
}

/// The order in which each block exchanges with its neighbors. Each pair takes the first round that is free for both of its blocks.
fn exchange_schedule(beside: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut taken: Vec<Vec<Option<usize>>> = vec![Vec::new(); beside.len()];
    for (a, others) in beside.iter().enumerate() {
        for &b in others.iter().filter(|b| **b > a) {
            let is_free = |who: usize, round: usize| taken[who].get(round).is_none_or(Option::is_none);
            let round = (0..).find(|&round| is_free(a, round) && is_free(b, round)).unwrap_or_default();
            for (who, other) in [(a, b), (b, a)] {
                let room = taken[who].len().max(round + 1);
                taken[who].resize(room, None);
                taken[who][round] = Some(other);
            }
        }
    }
    taken.into_iter().map(|rounds| rounds.into_iter().flatten().collect()).collect()
}

/// The numbers of these neighbors of a block, which are listed in `beside`.
fn sides(rounds: &[usize], beside: &[usize]) -> Arc<[usize]> {
    rounds.iter().filter_map(|other| beside.binary_search(other).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{LeavingPolicy, Shear};

    fn row(count: u32) -> Vec<Vec3> {
        (0..count).map(|k| [0.0, f64::from(k) * 0.1, 0.0]).collect()
    }

    /// Positions distributed over a box without order: multiples of irrational numbers.
    fn strewn(count: u32, size: [f64; 3]) -> Vec<Vec3> {
        let along = |k: u32, axis: usize| (f64::from(k) * [0.754_877_666, 0.569_840_291, 0.414_213_562][axis]).fract() * size[axis];
        (0..count).map(|k| [along(k, 0), along(k, 1), along(k, 2)]).collect()
    }

    fn domain(size: [f64; 3], periodic: [bool; 3]) -> Domain {
        let mut domain = Domain::open([0.0; 3], size, LeavingPolicy::Delete);
        domain.periodic = periodic;
        domain
    }

    fn counts(cuts: &Partition, places: &[Vec3]) -> Vec<usize> {
        let mut counts = vec![0; cuts.count()];
        places.iter().for_each(|place| counts[cuts.owner(place)] += 1);
        counts
    }

    fn samples(cuts: &Partition, places: &[Vec3]) -> Vec<LoadSample> {
        let owned = |block: usize| places.iter().filter(move |place| cuts.owner(*place) == block).copied();
        let sample = |block: usize| LoadSample::of(owned(block).count(), &owned(block).collect::<Vec<_>>());
        (0..cuts.count()).map(sample).collect()
    }

    #[test]
    fn everything_has_one_owner_and_is_felt_by_all_within_reach() {
        for (size, count, reach) in [([0.5, 12.0, 0.6], 4, 0.3), ([3.0, 3.3, 3.1], 8, 0.7), ([6.0, 6.0, 0.4], 7, 0.5)] {
            for periodic in [[false; 3], [true; 3], [true, false, true]] {
                let (places, domain) = (strewn(500, size), domain(size, periodic));
                let cuts = Partition::cut(&places, count, reach, Some(&domain)).unwrap();
                let share = 500 / count;
                assert!(counts(&cuts, &places).iter().all(|count| count.abs_diff(share) <= 3), "{cuts:?}");
                let apart = |a: &Vec3, b: &Vec3| {
                    let along = |axis: usize| {
                        let apart = (a[axis] - b[axis]).abs();
                        if periodic[axis] { apart.min(size[axis] - apart) } else { apart }
                    };
                    [0, 1, 2].map(along).iter().map(|x| x * x).sum::<f64>().sqrt()
                };
                let vector = |&[x, y, z]: &Vec3| Vector3 { x, y, z };
                for a in &places {
                    let from = cuts.owner(a);
                    assert!((0..count).all(|block| is_in_block(&vector(a), &cuts.owned(block)) == (block == from)));
                    for b in places.iter().filter(|b| apart(a, b) < reach) {
                        let to = cuts.owner(b);
                        assert!(cuts.is_in_halo_of(to, a) && (from == to || cuts.beside(from).contains(&to)));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_long_is_cut_into_slabs_and_a_cube_into_cubes() {
        let slabs = Partition::cut(&strewn(1000, [40.0, 3.0, 3.0]), 4, 1.0, None).unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(|k| slabs.beside(k).to_vec()),
            [vec![1], vec![0, 2], vec![1, 3], vec![2]]
        );
        assert!(!slabs.are_all_neighbors());
        let cubes = Partition::cut(&strewn(1000, [10.0, 10.0, 10.0]), 8, 1.0, None).unwrap();
        for block in 0..8 {
            let Block { low, high, .. } = cubes.owned(block);
            let planes = [[low.x, high.x], [low.y, high.y], [low.z, high.z]].map(|ends| ends.into_iter().find(|end| end.is_finite()));
            assert!(planes.iter().all(|plane| (plane.unwrap() - 5.0).abs() < 0.3), "{planes:?}");
            assert_eq!(cubes.beside(block).len(), 7);
        }
        assert!(cubes.are_all_neighbors());
    }

    #[test]
    fn every_pair_takes_its_turn_at_the_same_time() {
        for (size, count) in [([10.0, 10.0, 10.0], 27), ([40.0, 3.0, 3.0], 5), ([9.0, 9.0, 2.0], 9)] {
            let cuts = Partition::cut(&strewn(5000, size), count, 1.0, Some(&domain(size, [true, true, false]))).unwrap();
            let in_order = |block: usize| -> Vec<usize> {
                let sides = cuts.sides_in_order(block);
                sides.iter().map(|&side| cuts.beside(block)[side]).collect()
            };
            let schedule: Vec<Vec<usize>> = (0..count).map(in_order).collect();
            let mut met = vec![0; count];
            let mut rounds = 0;
            while (0..count).any(|block| met[block] < schedule[block].len()) {
                let next = |block: usize| schedule[block].get(met[block]).copied();
                let meeting: Vec<usize> = (0..count).filter(|&block| next(block).and_then(next) == Some(block)).collect();
                assert!(!meeting.is_empty(), "all wait for each other");
                meeting.iter().for_each(|&block| met[block] += 1);
                rounds += 1;
            }
            let most = (0..count).map(|block| cuts.beside(block).len()).max().unwrap();
            assert!(rounds < 2 * most, "{rounds} turns with {most} beside");
            for (block, mut others) in schedule.into_iter().enumerate() {
                others.sort_unstable();
                assert_eq!(others, cuts.beside(block));
            }
        }
    }

    #[test]
    fn sides_that_slide_do_so_along_planes() {
        let places = row(100);
        let mut domain = Domain::open([-1.0, -0.05, -2.0], [1.0, 9.95, 2.0], LeavingPolicy::Delete);
        domain.periodic = [true; 3];
        for (flow, gradient, cut) in [(1, 2, 2), (1, 0, 2), (2, 1, 1)] {
            let rate = 1.0;
            domain.shear = Some(Shear { flow, gradient, rate });
            let cuts = Partition::cut(&places, 2, 0.5, Some(&domain)).unwrap();
            assert!(matches!(&cuts.world, PartitionNode::Cut { axis, .. } if *axis == cut), "{cuts:?}");
        }
    }

    #[test]
    fn as_many_blocks_as_there_is_room_for_and_no_more() {
        let refusal = Partition::cut(&row(11), 4, 0.3, None).unwrap_err().to_string();
        assert!(
            refusal.contains("4 domains are too many") && refusal.contains("use at most 3"),
            "{refusal}"
        );
        // All blocks are wide enough, however many particles are in one corner.
        let clustered: Vec<Vec3> = strewn(1000, [1.0; 3]).iter().map(|place| place.map(|x| x.powi(4))).collect();
        for (reach, most) in [(0.3, 27), (0.45, 8), (0.2, 64)] {
            for count in 1..=most {
                let cuts = Partition::cut(&clustered, count, reach, None).unwrap();
                let mut inner = Vec::new();
                cuts.world.list_blocks([[0.0, 1.0]; 3], &mut inner);
                assert_eq!(inner.len(), count);
                assert!(inner.iter().flatten().all(|ends| width(ends) >= reach * (1.0 - 1e-6)), "{inner:?}");
            }
            let refusal = Partition::cut(&clustered, most + 1, reach, None).unwrap_err().to_string();
            assert!(refusal.contains(&format!("use at most {most}")), "{refusal}");
        }
    }

    #[test]
    fn planes_follow_the_particles() {
        // Slabs, then blocks: all particles move to one end, or corner.
        for (size, count) in [([40.0, 1.0, 1.0], 4), ([8.0, 8.0, 8.0], 8), ([8.0, 8.0, 8.0], 6)] {
            let mut cuts = Partition::cut(&strewn(1000, size), count, 0.3, None).unwrap();
            let places: Vec<Vec3> = strewn(4000, size).iter().map(|place| place.map(|x| 0.7 * x)).collect();
            for _ in 0..6 {
                let Some(moved) = cuts.balanced(&samples(&cuts, &places)) else {
                    break;
                };
                for place in &places {
                    let (from, to) = (cuts.owner(place), moved.owner(place));
                    assert!(from == to || moved.partners(&cuts, from).contains(&to) && moved.partners(&cuts, to).contains(&from));
                }
                cuts = moved;
            }
            let (found, share) = (counts(&cuts, &places), 4000 / count);
            assert!(found.iter().all(|found| found.abs_diff(share) < share / 10), "{found:?}");
            assert_eq!(cuts.balanced(&samples(&cuts, &[])), None);
        }
    }

    #[test]
    fn narrower_halos_hold_fewer_particles() {
        let places = row(100);
        let mut cuts = Partition::cut(&places, 2, 0.5, None).unwrap();
        let in_both = |cuts: &Partition| {
            let is_in_both = |place: &&Vec3| (0..2).all(|block| cuts.is_in_halo_of(block, &place[..]));
            places.iter().filter(is_in_both).count()
        };
        assert!((9..=11).contains(&in_both(&cuts)), "{}", in_both(&cuts));
        cuts.narrow_halos(0.25);
        assert!((4..=6).contains(&in_both(&cuts)), "{}", in_both(&cuts));
    }

    #[test]
    fn a_sample_is_read_as_it_was_reported() {
        let sample = LoadSample::of(1234, &strewn(500, [1.0, 2.0, 3.0]));
        assert_eq!(LoadSample::read(&sample.encode()), Ok(sample.clone()));
        assert!(LoadSample::read(&sample.encode()[..24]).is_err() && LoadSample::read(&[]).is_err());
        let half = sample.share_in(&[[0.0, 0.5], [0.0, 2.0], [0.0, 3.0]]);
        assert!((half - 0.5).abs() < 0.02, "{half}");
    }
}
