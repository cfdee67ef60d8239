//! Contacts between grains.
//!
//! ```
//! use seixo_laws::Vector3;
//! use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
//! use seixo_sweeps::contact::stored_between;
//! let materials = PairOfMaterials { stiffness: 100.0, ..PairOfMaterials::default() };
//! let laws = derive(NormalLaw::Linear, TangentialLaw::None, &materials).coefficients;
//! let energy = |distance: f64| {
//!     let apart = Vector3 { x: distance, y: 0.0, z: 0.0 };
//!     stored_between::<f64, f64>(&apart, 1.0, 1.0, &Vector3::zero(), &laws).normal
//! };
//! // ½ k δ² with an overlap of half a meter, and nothing without overlap.
//! assert_eq!([energy(1.5), energy(2.0)], [12.5, 0.0]);
//! ```

use crate::cells::{next_run, walk_around};
use crate::layout::{add, coefficients, contact_history_at, extended_coefficients, extended_history_at, load};
use crate::pair::{Pair, depth_of, near, normal_pair_contact};
use crate::periodic::{PeriodicBoundaries, by_components, image_shift, nearest_image, reaches_domain, slide_of};
use cubecl::prelude::*;
use seixo_laws::contact::{
    Coefficients, ContactHistory, ContactPair, ExtendedCoefficients, ExtendedHistory, normal_energy, spring_energy, stored_in_joint,
    tangential_stiffness,
};
use seixo_laws::{Coordinate, Real, Vector3, larger, near_vector, smaller};

/// Powers of all contacts in one step, and the deepest overlap.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq)]
pub struct PowerSums<R: Real> {
    /// Power dissipated by normal damping \[W\].
    pub normal_power: R,
    /// Power taken by tangential forces: into springs, by damping and by sliding \[W\].
    pub tangential_power: R,
    /// Part of `tangential_power` dissipated by damping \[W\].
    pub damping_power: R,
    /// Power supplied by moving walls and by sliding periodic sides \[W\].
    pub wall_power: R,
    /// Largest excess of an overlap over its limit \[m\]; negative if all are below.
    pub excess: R,
    /// Sum of the forces across the sides of a stretched cell, by axis \[N\]: of each force on a grain from the image of another, the components times
    /// the numbers of sides crossed upward to that image. Negative in compression.
    pub across: Vector3<R>,
}

/// Normal forces between grain i and its contacts, found through the cells and computed at once: no list, no history, no rotation (the normal-only
/// path of \[PUC-Rio 2009\]). Grains may have moved by up to half a `skin` each since the cells were built. Writes slot `slot` of `force`.
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn normal_contacts_in_cells<C: Coordinate<R>, R: Real>(
    i: usize,
    slot: usize,
    position: &[C],
    velocity: &[R],
    material: &[u32],
    materials: u32,
    table: &[R],
    grids: &[C],
    shapes: &[u32],
    number_of_grids: usize,
    cell_first: &[u32],
    skin: C,
    overlap_limit: R,
    force: &mut [R],
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] kind: u32,
) -> PowerSums<R> {
    let zero = R::new(0.0);
    let x_i = load::<C>(position, i * 4usize);
    let reach_i = position[i * 4usize + 3usize];
    let radius_i = C::near(reach_i);
    let v_i = load::<R>(velocity, i * 4usize);
    let mass_i = velocity[i * 4usize + 3usize];
    let row_i = material[i] * materials;
    let mut push = Vector3::<R>::zero();
    let mut wall_contacts = zero;
    let mut normal_power = zero;
    let mut excess = R::new(-1.0);
    let mut side_power = zero;
    let mut across = Vector3::<R>::zero();
    let mut first_image = 13u32;
    let mut images = 1u32;
    if comptime!(kind > 0) {
        first_image = 0u32;
        images = 27u32;
    }
    for k in first_image..first_image + images {
        let mut here = x_i.plus(&Vector3::<C>::zero());
        if comptime!(kind > 0) {
            here = x_i.plus(&image_shift::<C, R>(k, sides));
        }
        for g in 0..number_of_grids {
            let reach = reach_i + grids[g * 8usize + 4usize] + skin;
            let mut walk = walk_around::<C>(&here, reach, grids, shapes, g, false);
            let mut goes_on = true;
            if comptime!(kind > 0) {
                goes_on = reaches_domain::<C, R>(&here, reach, sides);
            }
            while goes_on && walk.goes_on() {
                let run = next_run(&mut walk, cell_first, false);
                for j in run.first..run.end {
                    let apart = here.minus(&load::<C>(position, j * 4usize));
                    let depth = depth_of::<C>(&apart, reach_i + position[j * 4usize + 3usize]);
                    if depth > C::new(0.0) && j != i {
                        let radius_j = C::near(position[j * 4usize + 3usize]);
                        let coefficients = coefficients::<R>(table, (row_i + material[j]) as usize);
                        let mut velocity_ij = v_i.minus(&load::<R>(velocity, j * 4usize));
                        let mut slide = Vector3::<R>::zero();
                        if comptime!(kind == 2) {
                            slide = slide_of::<C, R>(&x_i.minus(&load::<C>(position, j * 4usize)), sides);
                            velocity_ij = velocity_ij.minus(&slide);
                        }
                        let mut crossed = Vector3::<R>::zero();
                        if comptime!(kind == 3) {
                            let image = nearest_image::<C, R>(&x_i.minus(&load::<C>(position, j * 4usize)), sides, kind);
                            crossed = near_vector::<C, R>(&image.crossed);
                            velocity_ij = velocity_ij.minus(&by_components::<R>(&crossed, &sides.slide));
                        }
                        let mass_j = velocity[j * 4usize + 3usize];
                        let pair = Pair::<R> {
                            apart: near_vector::<C, R>(&apart),
                            depth: C::near(depth),
                            velocity: velocity_ij,
                            radius_i,
                            radius_j,
                            mass_i,
                            mass_j,
                        };
                        let outcome = normal_pair_contact::<R>(&pair, &coefficients);
                        normal_power += R::new(0.5) * outcome.normal_power;
                        side_power += R::new(0.5) * outcome.force.dot(&slide);
                        if comptime!(kind == 3) {
                            across = across.plus(&by_components::<R>(&outcome.force, &crossed).times(R::new(0.5)));
                        }
                        push = push.plus(&outcome.force);
                        wall_contacts += R::new(1.0);
                        excess = larger::<R>(excess, outcome.overlap - overlap_limit * smaller::<R>(radius_i, radius_j));
                    }
                }
            }
        }
    }
    add::<R>(force, slot * 4usize, &push);
    force[slot * 4usize + 3usize] += wall_contacts;
    PowerSums::<R> {
        normal_power,
        tangential_power: zero,
        damping_power: zero,
        wall_power: side_power,
        excess,
        across,
    }
}

/// Energy stored in contacts \[J\].
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, Default, PartialEq)]
pub struct Stored<R: Real> {
    /// Energy of normal springs \[J\].
    pub normal: R,
    /// Energy of tangential springs \[J\].
    pub tangential: R,
}

/// Energy stored in the contact of two grains \[J\]; zero without contact. `spring` is the force of the tangential spring.
#[cube]
#[inline(always)]
pub fn stored_between<C: Coordinate<R>, R: Real>(
    apart: &Vector3<C>,
    reach_i: C,
    reach_j: C,
    spring: &Vector3<R>,
    pair: &Coefficients<R>,
) -> Stored<R> {
    let mut normal = R::new(0.0);
    let mut tangential = R::new(0.0);
    let depth = depth_of::<C>(apart, reach_i + reach_j);
    if depth > C::new(0.0) {
        let radius_i = C::near(reach_i);
        let radius_j = C::near(reach_j);
        let reach = radius_i + radius_j;
        let overlap = C::near(depth) / (reach + near_vector::<C, R>(apart).length());
        let contact_radius = R::root(radius_i * radius_j / reach * overlap);
        let touch = ContactPair::<R> {
            overlap,
            contact_radius,
            effective_mass: R::new(0.0),
        };
        normal = normal_energy::<R>(&touch, pair);
        tangential = spring_energy::<R>(spring, tangential_stiffness::<R>(contact_radius, pair));
    }
    Stored::<R> { normal, tangential }
}

/// As [`stored_between()`], for two grains that may be connected by cohesion without overlap.
#[cube]
#[inline(always)]
pub fn energy_of_extended<C: Coordinate<R>, R: Real>(
    apart: &Vector3<C>,
    reach_i: C,
    reach_j: C,
    contact_history: &ContactHistory<R>,
    extended_history: &ExtendedHistory<R>,
    coefficients: &Coefficients<R>,
    extended_coefficients: &ExtendedCoefficients<R>,
) -> Stored<R> {
    let one = R::new(1.0);
    let pair = Pair::<R> {
        apart: near_vector::<C, R>(apart),
        depth: C::near(depth_of::<C>(apart, reach_i + reach_j)),
        velocity: Vector3::<R>::zero(),
        radius_i: C::near(reach_i),
        radius_j: C::near(reach_j),
        mass_i: one,
        mass_j: one,
    };
    let close = near::<R>(&pair).close;
    let hoard = stored_in_joint::<R>(&close, contact_history, extended_history, coefficients, extended_coefficients);
    Stored::<R> {
        normal: hoard.normal,
        tangential: hoard.tangential,
    }
}

/// Energy stored in the contacts of row `first..end` of grain i. Arguments are those of [`crate::part::PartRows`].
#[cube]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
pub fn stored_in_contacts_of<C: Coordinate<R>, R: Real>(
    i: usize,
    first: usize,
    end: usize,
    neighbors: &[u32],
    history: &[R],
    position: &[C],
    material: &[u32],
    materials: u32,
    table: &[R],
    part_first: usize,
    part_end: usize,
    sides: &PeriodicBoundaries<C, R>,
    #[comptime] kind: u32,
    #[comptime] frictional: bool,
    #[comptime] is_extended: bool,
    #[comptime] once: bool,
) -> Stored<R> {
    let x_i = load::<C>(position, i * 4usize);
    let reach_i = position[i * 4usize + 3usize];
    let mut normal = R::new(0.0);
    let mut tangential = R::new(0.0);
    for k in first..end {
        let j = neighbors[k] as usize;
        let there = load::<C>(position, j * 4usize);
        let reach_j = position[j * 4usize + 3usize];
        let row = (material[i] * materials + material[j]) as usize;
        let pair = coefficients::<R>(table, row);
        let apart = nearest_image::<C, R>(&x_i.minus(&there), sides, kind).apart;
        let mut stored = Stored::<R> {
            normal: R::new(0.0),
            tangential: R::new(0.0),
        };
        if is_extended {
            let at = k * 12usize;
            stored = energy_of_extended::<C, R>(
                &apart,
                reach_i,
                reach_j,
                &contact_history_at::<R>(history, at),
                &extended_history_at::<R>(history, at),
                &pair,
                &extended_coefficients::<R>(table, row),
            );
        } else {
            let mut spring = Vector3::<R>::zero();
            if frictional {
                spring = load::<R>(history, k * 4usize);
            }
            stored = stored_between::<C, R>(&apart, reach_i, reach_j, &spring, &pair);
        }
        let mut share = R::new(0.5);
        if once {
            if j >= part_first && j < part_end {
                share = R::new(1.0);
            }
        }
        normal += share * stored.normal;
        tangential += share * stored.tangential;
    }
    Stored::<R> { normal, tangential }
}
