//! Normal contacts of a grain with two smooth neighbors at once, for GPUs.
//!
//! A thread that computes one neighbor after the other waits for the records of each. Compilers delay reads even if the program text reads early, so
//! here both contacts are computed behind one question that needs all records.

use crate::grain::{ContactLoad, Grain, Neighbor, pair_of};
use crate::pair::{depth_of, normal_pair_contact};
use crate::periodic::{Image, PeriodicBoundaries, nearest_image};
use cubecl::prelude::*;
use seixo_laws::contact::Coefficients;
use seixo_laws::{Coordinate, Real, Vector3, larger, smaller};

/// Adds the normal forces of two smooth neighbors to a grain, one after the other as [`crate::tiles::push_on()`] does; the second only if `is_pair`.
///
/// One question serves both, and it depends on each record that was read for them. Otherwise compilers move reads to where they are needed: behind the
/// question, or behind the forces of the first neighbor.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what two contacts are made of")]
pub(crate) fn push_both_on<C: Coordinate<R>, R: Real>(
    grain: &Grain<C, R>,
    one: &Neighbor<C, R>,
    other: &Neighbor<C, R>,
    is_pair: bool,
    laws_of_one: &Coefficients<R>,
    laws_of_other: &Coefficients<R>,
    sides: &PeriodicBoundaries<C, R>,
    overlap_limit: R,
    all: &mut ContactLoad<R>,
    #[comptime] kind: u32,
) {
    let zero = C::new(0.0);
    let image_of_one = nearest_image::<C, R>(&grain.position.minus(&one.position), sides, kind);
    let image_of_other = nearest_image::<C, R>(&grain.position.minus(&other.position), sides, kind);
    let depth_of_one = depth_of_moving::<C, R>(grain, one, &image_of_one);
    let depth_of_other = select(is_pair, depth_of_moving::<C, R>(grain, other, &image_of_other), C::new(-1.0));
    let touches_one = depth_of_one > zero;
    let touches_other = depth_of_other > zero;
    if touches_one || touches_other {
        push_if::<C, R>(
            touches_one,
            grain,
            one,
            &image_of_one,
            depth_of_one,
            laws_of_one,
            sides,
            overlap_limit,
            all,
            kind,
        );
        push_if::<C, R>(
            touches_other,
            grain,
            other,
            &image_of_other,
            depth_of_other,
            laws_of_other,
            sides,
            overlap_limit,
            all,
            kind,
        );
    }
}

/// As [`depth_of()`] of a grain and the image of a neighbor, in an expression that needs the neighbor's motion: −1 if its mass is negative, which no
/// mass is.
#[cube]
#[inline(always)]
fn depth_of_moving<C: Coordinate<R>, R: Real>(grain: &Grain<C, R>, neighbor: &Neighbor<C, R>, image: &Image<C>) -> C {
    let depth = depth_of::<C>(&image.apart, grain.reach + neighbor.reach);
    select(neighbor.mass >= R::new(0.0), depth, C::new(-1.0))
}

/// As [`crate::tiles::push_on()`] for a neighbor at this depth, computed without a branch and taken if it `touches`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what a contact is made of")]
pub(crate) fn push_if<C: Coordinate<R>, R: Real>(
    touches: bool,
    grain: &Grain<C, R>,
    neighbor: &Neighbor<C, R>,
    image: &Image<C>,
    depth: C,
    coefficients: &Coefficients<R>,
    sides: &PeriodicBoundaries<C, R>,
    overlap_limit: R,
    all: &mut ContactLoad<R>,
    #[comptime] kind: u32,
) {
    let half = R::new(0.5);
    let pair = pair_of::<C, R>(grain, neighbor, image, depth, sides, kind);
    let outcome = normal_pair_contact::<R>(&pair, coefficients);
    if comptime!(kind == 2) {
        let side_power = all.side_power + half * C::near(image.passed) * outcome.force.dot(&sides.slide);
        all.side_power = select(touches, side_power, all.side_power);
    }
    let allowed = overlap_limit * smaller::<R>(grain.radius, pair.radius_j);
    let normal_power = all.normal_power + half * outcome.normal_power;
    let force = all.force.plus(&outcome.force);
    let excess = larger::<R>(all.excess, outcome.overlap - allowed);
    let contacts = all.contacts + R::new(1.0);
    all.normal_power = select(touches, normal_power, all.normal_power);
    all.force = Vector3::<R> {
        x: select(touches, force.x, all.force.x),
        y: select(touches, force.y, all.force.y),
        z: select(touches, force.z, all.force.z),
    };
    all.excess = select(touches, excess, all.excess);
    all.contacts = select(touches, contacts, all.contacts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grain::no_load;
    use crate::periodic::{OPEN, SHEARED};
    use crate::tiles::push_on;
    use seixo_laws::contact::{ContactHistory, NormalLaw, PairOfMaterials, TangentialLaw, derive};

    fn neighbor(x: f64, radius: f64) -> Neighbor<f64, f64> {
        Neighbor {
            place: 1,
            in_contact: 0,
            position: Vector3 { x, y: 0.3, z: -0.1 },
            reach: radius,
            velocity: Vector3 { x: 0.7, y: -x, z: 0.2 },
            mass: 2.0 * radius,
            spin: Vector3::zero(),
            stored_history: ContactHistory {
                force: Vector3::zero(),
                contact_radius: 0.0,
            },
        }
    }

    #[test]
    fn two_neighbors_at_once_push_to_the_bit_as_one_by_one() {
        let grain = Grain {
            position: Vector3::zero(),
            reach: 1.0,
            radius: 1.0,
            velocity: Vector3 { x: 0.1, y: 0.2, z: 0.3 },
            mass: 3.0,
            spin: Vector3::zero(),
        };
        let materials = PairOfMaterials {
            effective_modulus: 1e3,
            stiffness: 100.0,
            restitution: 0.5,
            ..PairOfMaterials::default()
        };
        let sliding = PeriodicBoundaries {
            length: Vector3 { x: 6.0, y: 6.0, z: 6.0 },
            across: Vector3 { x: 1.0, y: 0.0, z: 0.0 },
            slide: Vector3 { x: 0.0, y: 0.4, z: 0.0 },
            ..PeriodicBoundaries::open()
        };
        // Deep, shallow, apart, and deep beyond a side.
        let neighbors = [neighbor(1.2, 1.0), neighbor(-1.4, 0.6), neighbor(2.9, 1.1), neighbor(4.7, 0.8)];
        let mut contacts = 0.0;
        for law in [NormalLaw::Linear, NormalLaw::Hertz] {
            let laws = derive(law, TangentialLaw::None, &materials).coefficients;
            for (one, other) in neighbors.iter().flat_map(|one| neighbors.iter().map(move |other| (one, other))) {
                for is_pair in [false, true] {
                    for (sides, kind) in [(&PeriodicBoundaries::open(), OPEN), (&sliding, SHEARED)] {
                        let (mut at_once, mut one_by_one) = (no_load::<f64>(), no_load::<f64>());
                        push_both_on(&grain, one, other, is_pair, &laws, &laws, sides, 0.01, &mut at_once, kind);
                        push_on(&grain, one, &laws, sides, 0.01, &mut one_by_one, kind);
                        if is_pair {
                            push_on(&grain, other, &laws, sides, 0.01, &mut one_by_one, kind);
                        }
                        assert_eq!(format!("{at_once:?}"), format!("{one_by_one:?}"), "{law:?} {is_pair} {kind}");
                        contacts += at_once.contacts;
                    }
                }
            }
        }
        assert!(contacts > 50.0, "{contacts}");
    }
}
