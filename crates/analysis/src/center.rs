//! Centers of mass of groups, be they across periodic sides.

use glam::DVec3;
use seixo_engine::PeriodicCell;
use seixo_engine::state::GrainSnapshot;

/// Center of mass of a group of grains \[m\], in the domain; not a number once all of it has left.
///
/// Across periodic sides the group is taken together where it is not: the circle that an axis is closed to is cut at the widest stretch that no
/// grain of the group reaches into. Where there is none, the group reaches all the way around and has no center along that axis: not a number.
pub fn center_of_group(grains: &GrainSnapshot, group: u32) -> [f64; 3] {
    let members: Vec<usize> = (0..grains.id.len()).filter(|&i| grains.group[i] == group).collect();
    let mut balls: Vec<(DVec3, f64)> = members
        .iter()
        .map(|&i| (grains.position[i].into(), grains.radius.get(i).copied().unwrap_or(0.0)))
        .collect();
    let mut is_around = [false; 3];
    for axis in grains.cell.axes() {
        if grains.cell.is_periodic(axis) {
            is_around[axis] = !take_together(&mut balls, axis, &grains.cell);
        }
    }
    // Around the gradient of a shear, nothing says which images count along the flow.
    let is_lost = is_around[grains.cell.axes()[0]];
    for axis in (0..3).filter(|&axis| is_lost && grains.cell.slide[axis] != 0.0) {
        is_around[axis] = true;
    }
    let (mut mass, mut moment) = (0.0, DVec3::ZERO);
    for (&i, (place, _)) in members.iter().zip(&balls) {
        mass += grains.mass[i];
        moment += *place * grains.mass[i];
    }
    let center = grains.cell.inside((moment / mass).to_array());
    [0, 1, 2].map(|axis| if is_around[axis] { f64::NAN } else { center[axis] })
}

/// Moves balls to images that are together along a periodic axis; false if they reach all the way around.
fn take_together(balls: &mut [(DVec3, f64)], axis: usize, cell: &PeriodicCell) -> bool {
    let (low, length) = (cell.low[axis], cell.length[axis]);
    // Where each begins, in lengths of the cell from its lower side, and how far it goes.
    let begins = |&(place, radius): &(DVec3, f64)| (place[axis] - radius - low) / length;
    let share = |ball: &(DVec3, f64)| begins(ball) - begins(ball).floor();
    let mut stretches: Vec<[f64; 2]> = balls
        .iter()
        .map(|ball| [share(ball), share(ball) + 2.0 * ball.1 / length])
        .collect();
    stretches.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let mut reached = stretches.iter().fold(f64::NEG_INFINITY, |end, stretch| end.max(stretch[1])) - 1.0;
    let (mut widest, mut cut) = (0.0, 0.0);
    for [begin, end] in stretches {
        if begin - reached > widest {
            (widest, cut) = (begin - reached, begin);
        }
        reached = reached.max(end);
    }
    for (place, radius) in balls.iter_mut() {
        let ball = (*place, *radius);
        let count = f64::from(share(&ball) < cut) - begins(&ball).floor();
        *place += DVec3::from(cell.image(axis, count).shift);
    }
    widest > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::world::{Domain, LeavingPolicy, Shear};

    /// Balls of 0.1 m in a domain of 2 m by 2 m by 3 m whose sides are periodic along x and z.
    fn grains(places: &[[f64; 3]], shear: Option<Shear>, time: f64) -> GrainSnapshot {
        let domain = Domain {
            periodic: [true, false, true],
            shear,
            ..Domain::open([0.0; 3], [2.0, 2.0, 3.0], LeavingPolicy::Error)
        };
        GrainSnapshot {
            id: (0..).take(places.len()).collect(),
            position: places.to_vec(),
            radius: vec![0.1; places.len()],
            mass: vec![2.0; places.len()],
            group: vec![0; places.len()],
            cell: PeriodicCell::of(Some(&domain), time),
            ..GrainSnapshot::default()
        }
    }

    fn assert_at(grains: &GrainSnapshot, expected: [f64; 3]) {
        let found = center_of_group(grains, 0);
        let is_near = |axis: usize| (found[axis] - expected[axis]).abs() < 1e-14 || (found[axis].is_nan() && expected[axis].is_nan());
        assert!((0..3).all(is_near), "{found:?} {expected:?}");
    }

    #[test]
    fn a_group_across_sides_has_its_center_where_it_is() {
        assert_at(&grains(&[[0.5, 1.0, 1.0], [0.7, 5.0, 2.0]], None, 0.0), [0.6, 3.0, 1.5]);
        let across = [[0.1, 1.0, 2.9], [1.7, 1.0, 0.5], [1.9, 4.0, 2.9]];
        assert_at(&grains(&across, None, 0.0), [1.9, 2.0, 0.1]);
        // A grain may stand outside for a while.
        assert_at(&grains(&[[2.05, 1.0, -0.05]], None, 0.0), [0.05, 1.0, 2.95]);
        assert!(center_of_group(&grains(&[], None, 0.0), 0)[1].is_nan());
    }

    #[test]
    fn what_reaches_all_the_way_around_has_no_center_there() {
        let row: Vec<[f64; 3]> = (0..16).map(|k| [0.4, 1.0, 0.1875 * f64::from(k)]).collect();
        assert_at(&grains(&row, None, 0.0), [0.4, 1.0, f64::NAN]);
        // Without three of them there is a gap of 0.5 m or so.
        assert_at(&grains(&row[..13], None, 0.0), [0.4, 1.0, 1.125]);
    }

    #[test]
    fn images_above_a_shear_count_where_they_slid_to() {
        let shear = Shear {
            flow: 0,
            gradient: 2,
            rate: 0.1,
        };
        // Images above are 0.6 m ahead: a pair across the upper side is upright, 0.4 m apart, and its middle is above the side.
        assert_at(&grains(&[[0.9, 1.0, 2.9], [0.3, 1.0, 0.3]], Some(shear), 2.0), [0.3, 1.0, 0.1]);
    }
}
