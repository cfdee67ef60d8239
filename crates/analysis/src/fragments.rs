//! Fragments: grains connected by intact bonds.

use crate::stress::branch_of;
use glam::DVec3;
use seixo_engine::BondSnapshot;
use seixo_engine::state::GrainSnapshot;
use std::collections::HashMap;
use std::f64::consts::PI;

/// Grains that hang together, or a grain alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fragment {
    /// The smallest id of its grains, which stays the same while others break away.
    pub number: u32,
    /// Number of its grains.
    pub grains: usize,
    /// Mass \[kg\].
    pub mass: f64,
    /// Volume of its grains, of polyhedra that of their shapes \[m³\]; where grains overlap, both count.
    pub volume: f64,
    /// Center of mass \[m\]; of one that reaches across a periodic side as it is seen from the grain of its number.
    pub center: DVec3,
    /// Velocity of the center of mass \[m/s\].
    pub velocity: DVec3,
}

impl Fragment {
    /// Diameter of the sphere of the same volume \[m\].
    pub fn diameter(&self) -> f64 {
        (6.0 * self.volume / PI).cbrt()
    }
}

/// All fragments of some grains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fragments {
    /// Heaviest first; of those of one mass, the smallest number first.
    pub list: Vec<Fragment>,
    /// Number of the fragment of each grain, in the order of the snapshot; of a grain that does not count, its own id.
    pub number_of: Vec<u32>,
}

/// How large fragments are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentSizes {
    /// Number of those of two grains or more.
    pub fragments: usize,
    /// Number of grains that are alone.
    pub single_grains: usize,
    /// Share of the mass that the heaviest one has \[-\].
    pub largest_share: f64,
    /// Mass of the heaviest one \[kg\].
    pub largest_mass: f64,
    /// Mean mass, each weighted by its mass \[kg\]: that of the fragment in which a piece of the material is on the average.
    pub mean_mass: f64,
    /// Diameter that half of the mass is at or below \[m\].
    pub d50: f64,
    /// Diameter that four fifths of the mass are at or below \[m\].
    pub d80: f64,
}

/// The fragments of those grains of which `counts` says so, by their places in the snapshot: a bond joins two of them, and so does a rigid body
/// that carries both. Across periodic sides, grains of a body are where they are nearest to each other; bonds say where their grains are themselves.
pub fn fragments(grains: &GrainSnapshot, bonds: &[BondSnapshot], counts: impl Fn(usize) -> bool) -> Fragments {
    let links = links(grains, bonds);
    let links_of = |k: usize| {
        let from = links.partition_point(|&(of, ..)| of < k);
        links[from..].iter().take_while(move |&&(of, ..)| of == k)
    };
    let mut number_of = grains.id.clone();
    let mut is_seen = vec![false; grains.id.len()];
    let (mut list, mut open) = (Vec::new(), Vec::new());
    // Ids ascend: the first grain of a fragment that is met has the smallest.
    for start in 0..grains.id.len() {
        if is_seen[start] || !counts(start) {
            continue;
        }
        is_seen[start] = true;
        open.push((start, DVec3::from(grains.position[start])));
        let number = grains.id[start];
        let (mut members, mut mass, mut volume) = (0, 0.0, 0.0);
        let (mut moment, mut momentum) = (DVec3::ZERO, DVec3::ZERO);
        while let Some((k, place)) = open.pop() {
            number_of[k] = number;
            members += 1;
            mass += grains.mass[k];
            volume += grains.volume_of(k);
            moment += place * grains.mass[k];
            momentum += DVec3::from(grains.velocity[k]) * grains.mass[k];
            for &(_, other, apart) in links_of(k) {
                if !is_seen[other] && counts(other) {
                    is_seen[other] = true;
                    open.push((other, place + apart));
                }
            }
        }
        list.push(Fragment {
            number,
            grains: members,
            mass,
            volume,
            center: moment / mass,
            velocity: momentum / mass,
        });
    }
    list.sort_by(|a: &Fragment, b| b.mass.total_cmp(&a.mass).then(a.number.cmp(&b.number)));
    Fragments { list, number_of }
}

/// What is joined, from either side, in order: places of both grains in the snapshot, and the way from the first to the second \[m\].
fn links(grains: &GrainSnapshot, bonds: &[BondSnapshot]) -> Vec<(usize, usize, DVec3)> {
    let place_of = |id: u32| grains.id.binary_search(&id).ok();
    let mut links = Vec::new();
    let mut join = |i: usize, j: usize, apart: DVec3| links.extend([(i, j, apart), (j, i, -apart)]);
    for bond in bonds {
        if let [Some(i), Some(j)] = bond.grains.map(place_of) {
            join(i, j, branch_of(bond));
        }
    }
    let mut before = HashMap::new();
    for (k, &body) in grains.body.iter().enumerate().filter(|(_, body)| **body >= 0) {
        if let Some(last) = before.insert(body, k) {
            let apart = [0, 1, 2].map(|axis| grains.position[k][axis] - grains.position[last][axis]);
            join(last, k, grains.cell.nearest(apart).of(apart).into());
        }
    }
    links.sort_by_key(|&(i, j, _)| (i, j));
    links
}

impl Fragments {
    /// Share of the mass that is in each fragment and in those behind it in the list, which are no heavier \[-\].
    pub fn passing(&self) -> Vec<f64> {
        let mut mass = 0.0;
        let mut passing = Vec::with_capacity(self.list.len());
        for fragment in self.list.iter().rev() {
            mass += fragment.mass;
            passing.push(mass);
        }
        passing.reverse();
        passing.iter().map(|lighter| lighter / mass).collect()
    }

    /// How large they are; what needs a mass is not a number where there is none.
    pub fn sizes(&self) -> FragmentSizes {
        let single_grains = self.list.iter().filter(|fragment| fragment.grains == 1).count();
        let mass: f64 = self.list.iter().map(|fragment| fragment.mass).sum();
        let squares: f64 = self.list.iter().map(|fragment| fragment.mass * fragment.mass).sum();
        let largest_mass = self.list.first().map_or(f64::NAN, |fragment| fragment.mass);
        let passing = self.passing();
        // The lightest one up to which there is this share of the mass.
        let diameter_at = |share: f64| {
            let heavier = passing.partition_point(|&passing| passing >= share);
            heavier.checked_sub(1).map_or(f64::NAN, |at| self.list[at].diameter())
        };
        FragmentSizes {
            fragments: self.list.len() - single_grains,
            single_grains,
            largest_share: largest_mass / mass,
            largest_mass,
            mean_mass: squares / mass,
            d50: diameter_at(0.5),
            d80: diameter_at(0.8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::PeriodicCell;
    use seixo_engine::world::{Domain, LeavingPolicy, PolyhedralShape};

    /// Grains of one kilogram and one meter in a row along x, a meter apart, with every second id.
    fn row(count: u32) -> GrainSnapshot {
        GrainSnapshot {
            id: (0..count).map(|k| 2 * k).collect(),
            position: (0..count).map(|k| [f64::from(k), 0.0, 0.0]).collect(),
            velocity: (0..count).map(|k| [0.0, f64::from(k), 0.0]).collect(),
            radius: vec![0.5; count as usize],
            mass: vec![1.0; count as usize],
            ..GrainSnapshot::default()
        }
    }

    /// A bond between the grains of these ids, the second one this far from the first \[m\].
    fn bond(grains: [u32; 2], apart: f64) -> BondSnapshot {
        let start = f64::from(grains[0] / 2);
        BondSnapshot {
            kind: 0,
            grains,
            ends: [[start, 0.0, 0.0], [start + apart, 0.0, 0.0]],
            force: [0.0; 3],
            tension: 0.0,
            shear: 0.0,
            bending: 0.0,
            torsion: 0.0,
            energy: 0.0,
            utilization: 0.0,
        }
    }

    #[test]
    fn bonds_join_grains_and_the_smallest_id_names_what_they_join() {
        // 6, 8 and 10 are one, 2 and 4 another, listed in no order; 0 is alone, and so is 12, whose partner is not there.
        let bonds = [bond([6, 8], 1.0), bond([2, 4], 1.0), bond([8, 10], 1.0), bond([99, 12], 1.0)];
        let found = fragments(&row(7), &bonds, |_| true);
        assert_eq!(found.number_of, [0, 2, 2, 6, 6, 6, 12]);
        let reported: Vec<_> = found.list.iter().map(|fragment| (fragment.number, fragment.grains)).collect();
        assert_eq!(reported, [(6, 3), (2, 2), (0, 1), (12, 1)]);
        let first = found.list[0];
        assert_eq!((first.mass, first.center, first.velocity), (3.0, DVec3::X * 4.0, DVec3::Y * 4.0));
        assert!((first.diameter() - 3f64.cbrt()).abs() < 1e-14);
        assert_eq!(found.passing(), [1.0, 4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]);
        let sizes = found.sizes();
        assert_eq!((sizes.fragments, sizes.single_grains), (2, 2));
        assert_eq!((sizes.largest_mass, sizes.largest_share), (3.0, 3.0 / 7.0));
        assert_eq!(sizes.mean_mass, (9.0 + 4.0 + 1.0 + 1.0) / 7.0);
        assert!((sizes.d50 - 2f64.cbrt()).abs() < 1e-14 && (sizes.d80 - 3f64.cbrt()).abs() < 1e-14);
    }

    #[test]
    fn fragments_of_polyhedra_have_the_volume_of_their_shapes() {
        let block = PolyhedralShape {
            volume: 2.0,
            ..PolyhedralShape::default()
        };
        let grains = GrainSnapshot {
            shape: vec![1, 1, 0],
            shapes: [block].into(),
            ..row(3)
        };
        let found = fragments(&grains, &[bond([0, 2], 1.0)], |_| true);
        assert!((found.list[0].volume - 0.5).abs() < 1e-15 && (found.list[1].volume - PI / 6.0).abs() < 1e-15);
        assert!((found.list[0].diameter() - (3.0 / PI).cbrt()).abs() < 1e-14);
    }

    #[test]
    fn grains_that_do_not_count_join_nothing() {
        let bonds = [bond([0, 2], 1.0), bond([2, 4], 1.0), bond([4, 6], 1.0)];
        let found = fragments(&row(4), &bonds, |k| k != 1);
        assert_eq!(found.number_of, [0, 2, 4, 4]);
        assert_eq!(found.list.len(), 2);
        assert_eq!(found.list[0].number, 4);
        let none = fragments(&row(4), &bonds, |_| false);
        let sizes = none.sizes();
        assert!(none.list.is_empty() && none.passing().is_empty());
        assert!(sizes.fragments == 0 && sizes.largest_share.is_nan() && sizes.d50.is_nan() && sizes.mean_mass.is_nan());
    }

    #[test]
    fn a_body_joins_what_it_carries() {
        let grains = GrainSnapshot {
            body: vec![-1, 7, 3, 7, -1],
            ..row(5)
        };
        let found = fragments(&grains, &[bond([0, 6], 3.0)], |_| true);
        assert_eq!(found.number_of, [0, 0, 4, 0, 8]);
        assert_eq!(found.list[0].center, DVec3::X * (4.0 / 3.0));
    }

    #[test]
    fn a_body_across_a_periodic_side_is_whole() {
        let domain = Domain {
            periodic: [true, false, false],
            ..Domain::open([0.0; 3], [5.0; 3], LeavingPolicy::Error)
        };
        let grains = GrainSnapshot {
            body: vec![3, -1, -1, -1, 3],
            cell: PeriodicCell::of(Some(&domain), 0.0),
            ..row(5)
        };
        let found = fragments(&grains, &[], |_| true);
        assert_eq!((found.list[0].grains, found.list[0].center), (2, DVec3::X * -0.5));
    }

    #[test]
    fn a_fragment_across_a_periodic_side_is_whole() {
        // A domain of five meters: the last grain is bonded to the image of the first behind it.
        let found = fragments(&row(5), &[bond([8, 0], 1.0)], |_| true);
        assert_eq!((found.list[0].number, found.list[0].center), (0, DVec3::X * -0.5));
    }
}
