//! Forces of walls on polyhedral grains, sums over pairs, see [`super::polyhedra_pairs`], and motion.
//!
//! A grain has its shape in the table, or the mark [`FREE`] if it is a sphere. So [`super::step::grains()`] takes these marks for those of grains that
//! other kernels move. Ghost particles and grains of bodies have larger marks, see [`super::polyhedra_lists::mark_held()`].

use super::bonds::{quaternion, record_of};
use super::polyhedra_lists::{NO_END, PAIR_LOAD, WALL_LOAD};
use super::step::{go_on, record_long_stride, sure_stride_square};
use super::{add_and_store_sum, add_sum, is_halted, raise};
use crate::bodies::{FREE, is_carried};
use crate::grain::{grain_of, no_load};
use crate::layout::{Record, TRIANGLE, add, between_steps, coefficients, kept_beside, last, record, store, xyz};
use crate::motion::{StepParameters, TOO_DEEP};
use crate::shape_features::PosedShape;
use crate::shape_meshes::{FEATURES, FIRST_OF_MESH, MeshRow, contacts_with_mesh};
use crate::shape_motion::rotated_shape;
use crate::shape_walls::{GrainByWall, ShapeWallLoad, contacts_with_wall};
use crate::shapes::{moments_of, shape_at};
use crate::wall::row_of_wall;
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3, near_vector, widened};

/// Threads of a block that computes contacts of polyhedral grains. They take many registers and different times, so blocks are small.
pub const CONTACT_THREADS: usize = SIDE * SIDE;

/// Threads of a side of such a block, if they stand in a square.
pub(super) const SIDE: usize = 8;

/// Grain i as the laws of polyhedral grains read it; it may be a sphere, which is the first shape of the table.
#[cube]
pub(super) fn posed<C: Coordinate<R>, R: Real>(
    i: usize,
    shape: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
) -> PosedShape<C, R> {
    let mut of_table = shape[i];
    if of_table == FREE {
        of_table = 0u32;
    }
    PosedShape::<C, R> {
        shape: of_table,
        scale: last::<C>(position[i]),
        orientation: quaternion::<C>(orientation[i]),
        spin: xyz::<R>(spin[i]),
        mass: last::<R>(velocity[i]),
    }
}

/// Adds the load of a grain at the wall element of entry k, or at the mesh whose first entry in the row of the grain it is, to the force and torque of the
/// grain, and stores it. `radius` is that of the bounding sphere.
#[cube]
#[expect(clippy::too_many_arguments, reason = "a sweep's arguments are the buffers it reads and writes")]
fn take_wall_load<C: Coordinate<R>, R: Coordinate<R>>(
    i: usize,
    k: usize,
    radius: C,
    sum: &ShapeWallLoad<C, R>,
    loads: &mut [Record<C>],
    wall_contacts: &mut [C],
    force: &mut [R],
    torque: &mut [R],
) {
    let mut touches = R::new(0.0);
    if sum.contacts > 0u32 {
        touches = R::new(1.0);
    }
    add::<R>(force, i * 4usize, &sum.force);
    add::<R>(torque, i * 4usize, &sum.torque);
    force[i * 4usize + 3usize] += touches;
    let wide_force = widened::<C, R>(&sum.force);
    let at = k * WALL_LOAD;
    loads[at] = record::<C>(&wide_force, C::counted(sum.contacts));
    loads[at + 1usize] = record::<C>(&widened::<C, R>(&sum.torque), C::wide(sum.stored.normal));
    loads[at + 2usize] = record::<C>(&sum.point, C::wide(sum.stored.tangential));
    let mut sizes = Record::<C>::new(C::new(0.0));
    sizes.insert(0usize, C::wide(sum.conducting_radius));
    sizes.insert(3usize, C::wide(sum.overlap));
    loads[at + 3usize] = sizes;
    store::<C>(wall_contacts, k * 8usize, &sum.point);
    wall_contacts[k * 8usize + 3usize] = radius - C::wide(sum.overlap);
    store::<C>(wall_contacts, k * 8usize + 4usize, &wide_force);
    wall_contacts[k * 8usize + 7usize] = C::wide(touches);
}

/// Contacts of the n grains near walls, whose indices are in `grains`, with the wall elements in their rows; spheres are left out. All elements of a mesh
/// are one wall, at the first entry of the row with one of them; there are some with `meshes`, and `features` has theirs. Forces are added to those in the
/// force and torque buffers. Results of each entry are in `loads`, see [`WALL_LOAD`], and in `wall_contacts` for the walls.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn shape_walls<R: Coordinate<R>, C: Coordinate<R>>(
    grains: &[u32],
    row: &[u32],
    list: &[u32],
    elements: &[C],
    features: &[u32],
    records: &[C],
    shape: &[u32],
    words: &[u32],
    numbers: &[C],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
    material: &[u32],
    table: &[R],
    old_keys: &[u32],
    old_springs: &[R],
    keys: &mut [u32],
    springs: &mut [R],
    loads: &mut [Record<C>],
    wall_contacts: &mut [C],
    force: &mut [R],
    torque: &mut [R],
    flags: &mut [u32],
    power: &mut [Record<C>],
    dt: R,
    overlap_limit: R,
    slots: u32,
    n: u32,
    materials: u32,
    parity: u32,
    #[comptime] meshes: bool,
) {
    let place = ABSOLUTE_POS;
    if !is_halted(flags, parity) {
        let mut took = Record::<R>::new(R::new(0.0));
        if place < n as usize {
            let i = grains[place] as usize;
            if shape[i] != FREE {
                let of_grain = posed::<C, R>(i, shape, position, velocity, spin, orientation);
                let radius = last::<C>(position[i]);
                let grain = GrainByWall::<C, R> {
                    posed: of_grain,
                    center: xyz::<C>(position[i]),
                    velocity: xyz::<R>(velocity[i]),
                };
                let first = row[i] as usize;
                let end = row[i + 1usize] as usize;
                let mut normal_power = R::new(0.0);
                let mut tangential_power = R::new(0.0);
                let mut damping_power = R::new(0.0);
                let mut wall_power = R::new(0.0);
                for k in first..end {
                    let e = list[k] as usize * 12usize;
                    // Triangles are taken together, below.
                    if elements[e + 9usize] != C::new(TRIANGLE) {
                        let laws = coefficients::<R>(table, row_of_wall::<C>(i, material, materials, elements, records, e));
                        let sum = contacts_with_wall::<C, R>(
                            &grain,
                            words,
                            numbers,
                            elements,
                            e,
                            records,
                            k * slots as usize,
                            slots,
                            old_keys,
                            old_springs,
                            keys,
                            springs,
                            &laws,
                            dt,
                            overlap_limit,
                        );
                        take_wall_load::<C, R>(i, k, radius, &sum, loads, wall_contacts, force, torque);
                        normal_power += sum.powers.normal_power;
                        tangential_power += sum.powers.tangential_power;
                        damping_power += sum.powers.damping_power;
                        wall_power += sum.powers.wall_power;
                        if sum.powers.excess > R::new(0.0) || sum.contacts > slots {
                            raise(flags, parity, TOO_DEEP);
                        }
                    }
                }
                if meshes {
                    for k in first..end {
                        let e = list[k] as usize * 12usize;
                        if is_first_of_mesh::<C>(k, first, list, elements, features) {
                            let near = MeshRow::<C> {
                                first: k,
                                end,
                                wall: elements[e + 10usize],
                            };
                            let laws = coefficients::<R>(table, row_of_wall::<C>(i, material, materials, elements, records, e));
                            let sum = contacts_with_mesh::<C, R>(
                                &grain,
                                words,
                                numbers,
                                &near,
                                list,
                                elements,
                                features,
                                records,
                                k * slots as usize,
                                slots,
                                old_keys,
                                old_springs,
                                keys,
                                springs,
                                &laws,
                                dt,
                                overlap_limit,
                            );
                            take_wall_load::<C, R>(i, k, radius, &sum, loads, wall_contacts, force, torque);
                            normal_power += sum.powers.normal_power;
                            tangential_power += sum.powers.tangential_power;
                            damping_power += sum.powers.damping_power;
                            wall_power += sum.powers.wall_power;
                            if sum.powers.excess > R::new(0.0) || sum.contacts > slots {
                                raise(flags, parity, TOO_DEEP);
                            }
                        }
                    }
                }
                took.insert(0usize, normal_power);
                took.insert(1usize, tangential_power);
                took.insert(2usize, damping_power);
                took.insert(3usize, wall_power);
            }
        }
        add_and_store_sum::<C, R>(power, took, SIDE);
    }
}

/// Whether entry k of a row of walls, which starts at entry `first`, is that of a triangle, and the first of its mesh in the row.
#[cube]
fn is_first_of_mesh<C: Real>(k: usize, first: usize, list: &[u32], elements: &[C], features: &[u32]) -> bool {
    let own = list[k] as usize;
    let mesh = features[own * FEATURES + FIRST_OF_MESH];
    let mut earlier = 0u32.runtime();
    for s in first..k {
        if features[list[s] as usize * FEATURES + FIRST_OF_MESH] == mesh {
            earlier += 1u32;
        }
    }
    elements[own * 12usize + 9usize] == C::new(TRIANGLE) && earlier == 0u32
}

/// Adds the loads of its pairs to the force and torque of each of n grains, in the order of the ids of its partners. The buffers then hold values for
/// all grains. They do so before with `outside`; otherwise, with `walls`, those of grains near walls.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn add_up_shape_pairs<R: Real>(
    end_first: &[u32],
    ends: &[u32],
    loads: &[Record<R>],
    wall_row: &[u32],
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    flags: &mut [u32],
    n: u32,
    parity: u32,
    #[comptime] outside: bool,
    #[comptime] walls: bool,
) {
    let i = ABSOLUTE_POS;
    if i < n as usize && !is_halted(flags, parity) {
        let mut push = Vector3::<R>::zero();
        let mut turn = Vector3::<R>::zero();
        let mut partners = R::new(0.0);
        if outside {
            push = xyz::<R>(force[i]);
            turn = xyz::<R>(torque[i]);
            partners = last::<R>(force[i]);
        } else if walls {
            if wall_row[i] < wall_row[i + 1usize] {
                push = xyz::<R>(force[i]);
                turn = xyz::<R>(torque[i]);
                partners = last::<R>(force[i]);
            }
        }
        for s in end_first[i] as usize..end_first[i + 1usize] as usize {
            let word = ends[s];
            if word != NO_END {
                let at = (word >> 1u32) as usize * PAIR_LOAD;
                let of_pair = loads[at];
                if last::<R>(of_pair) > R::new(0.0) {
                    partners += R::new(1.0);
                    if word & 1u32 == 0u32 {
                        push = push.plus(&xyz::<R>(of_pair));
                        turn = turn.plus(&xyz::<R>(loads[at + 1usize]));
                    } else {
                        push = push.minus(&xyz::<R>(of_pair));
                        turn = turn.plus(&xyz::<R>(loads[at + 2usize]));
                    }
                }
            }
        }
        force[i] = record::<R>(&push, partners);
        torque[i] = record::<R>(&turn, R::new(0.0));
    }
}

/// Moves the polyhedral ones of n grains by one step, under the forces and torques in these buffers. Velocities and flags are as in
/// [`crate::kernels::step::grains()`], which comes before. `held` has the shapes of the grains to move, and larger numbers for all others.
#[cube(launch)]
#[expect(clippy::too_many_arguments, reason = "a kernel's arguments are the buffers it reads and writes")]
pub fn move_shapes<R: Coordinate<R>, C: Coordinate<R>>(
    held: &[u32],
    words: &[u32],
    numbers: &[C],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    half_velocity: &mut [Record<R>],
    half_spin: &mut [Record<R>],
    force: &[Record<R>],
    torque: &[Record<R>],
    reference: &[Record<C>],
    new_position: &mut [Record<C>],
    new_velocity: &mut [Record<R>],
    new_spin: &mut [Record<R>],
    orientation: &mut [Record<C>],
    momentum: &mut [Record<C>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    stepping: &StepParameters<C, R>,
    widest_square: R,
    stride_square: R,
    level: u32,
    n: u32,
    parity: u32,
    #[comptime] damped: bool,
) {
    let i = ABSOLUTE_POS;
    let mut took = Record::<R>::new(R::new(0.0));
    if i < n as usize && !is_halted(flags, parity) {
        let mark = held[i];
        if is_carried(mark) {
            let here = position[i];
            let turning = spin[i];
            let grain = grain_of::<C, R>(here, velocity[i], turning);
            let mut load = no_load::<R>();
            load.force = xyz::<R>(force[i]);
            let sure_square = sure_stride_square::<R>(flags, level, stride_square);
            let half = half_velocity[i];
            let half_turning = half_spin[i];
            let gone = go_on::<C, R>(
                i,
                &grain,
                &load,
                turning,
                half,
                half_turning,
                half_velocity,
                half_spin,
                reference,
                new_position,
                new_velocity,
                new_spin,
                stepping,
                sure_square,
                false,
            );
            let own = shape_at(words, mark);
            let moments = moments_of::<C>(&own, numbers, C::wide(grain.mass), last::<C>(here));
            let turned = rotated_shape::<C, R>(
                &quaternion::<C>(orientation[i]),
                &xyz::<C>(momentum[i]),
                &grain.spin,
                &xyz::<R>(torque[i]),
                &moments,
                stepping,
            );
            orientation[i] = record_of::<C>(&turned.orientation);
            momentum[i] = record::<C>(&turned.momentum, last::<C>(momentum[i]));
            // The angular velocity between steps stays what it is: the angular momentum has its part.
            let kept = between_steps::<C, R>(turning, half_turning);
            let read = near_vector::<C, R>(&turned.spin);
            half_spin[i] = kept_beside::<C, R>(&kept, &read, last::<R>(half_turning));
            new_spin[i] = record::<R>(&read, last::<R>(turning));
            took.insert(3usize, gone.damping_work + turned.damping_work);
            record_long_stride::<R>(flags, gone.moved_square, widest_square);
            raise(flags, parity, gone.flags);
        }
    }
    if damped {
        add_sum::<C, R>(power, took);
    }
}
