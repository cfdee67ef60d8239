//! Forces of walls on polyhedral grains.
//!
//! Few grains are near walls, and few of their vertices touch one. A thread that looked at one vertex after the other would wait for each. So the threads
//! of a block share a few grains: first a thread takes an entry in the rows of these grains, by its bounding sphere. Then the vertices of all entries that
//! may touch are items of a list, and a thread tests some that follow each other. Those that touch become contacts, with a thread each. At last the thread
//! of an entry adds its contacts in the order of keys, and the thread of a grain its entries in the order of its row. Places in lists come from sums over
//! the block, so no bit depends on which thread comes first.
//!
//! Meshes have other contacts, and the thread of a grain takes them one after the other.

use super::bonds::quaternion;
use super::polyhedra::{CONTACT_BLOCK, CONTACT_COUNTS, CONTACT_THREADS, SIDE, posed};
use super::polyhedra_blocks::{list_passed, number_in_block, owner_of};
use super::polyhedra_lists::WALL_LOAD;
use super::{add_and_store_sum, is_halted, raise};
use crate::bodies::FREE;
use crate::contact::{PowerSums, Stored};
use crate::feature_contact::{history_in_slot, old_slot_from};
use crate::layout::{BITS, Record, TRIANGLE, coefficients, four_numbers, last, record, store, xyz};
use crate::motion::TOO_DEEP;
use crate::shape_meshes::{FEATURES, FIRST_OF_MESH, MeshRow, contacts_with_mesh};
use crate::shape_walls::{GrainByWall, ShapeWallLoad, contact_of_vertex, keep_contact, may_touch_element, mean_point, vertex_by_wall};
use crate::shapes::shape_at;
use crate::wall::row_of_wall;
use cubecl::prelude::*;
use seixo_laws::{Coordinate, Real, Vector3, larger, widened};

/// Grains of a block.
pub const WALL_GRAINS: usize = 8;

/// Threads of a block for each of its grains.
const THREADS_OF_GRAIN: usize = CONTACT_THREADS / WALL_GRAINS;

const _: () = assert!(THREADS_OF_GRAIN * WALL_GRAINS == CONTACT_THREADS && THREADS_OF_GRAIN > 1);

/// Stores the load of a grain at the wall element of entry k, or at the mesh whose first entry in the row of the grain it is. `radius` is that of the
/// bounding sphere.
#[cube]
fn store_wall_load<C: Coordinate<R>, R: Coordinate<R>>(
    k: usize,
    radius: C,
    sum: &ShapeWallLoad<C, R>,
    touches: R,
    loads: &mut [Record<C>],
    wall_contacts: &mut [C],
) {
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

/// One, if there are contacts; otherwise zero.
#[cube]
fn touching<R: Real>(contacts: u32) -> R {
    let mut touches = R::new(0.0);
    if contacts > 0u32 {
        touches = R::new(1.0);
    }
    touches
}

/// The powers of the load of an entry: none, as each contact gives its own to the block.
#[cube]
fn no_powers<R: Real>() -> PowerSums<R> {
    let zero = R::new(0.0);
    PowerSums::<R> {
        normal_power: zero,
        tangential_power: zero,
        damping_power: zero,
        wall_power: zero,
        excess: R::new(-1.0),
        across: Vector3::<R>::zero(),
    }
}

/// Grain i by a wall, as laws read it.
#[cube]
fn grain_by_wall<C: Coordinate<R>, R: Real>(
    i: usize,
    shape: &[u32],
    position: &[Record<C>],
    velocity: &[Record<R>],
    spin: &[Record<R>],
    orientation: &[Record<C>],
) -> GrainByWall<C, R> {
    let of_grain = posed::<C, R>(i, shape, position, velocity, spin, orientation);
    GrainByWall::<C, R> {
        posed: of_grain,
        center: xyz::<C>(position[i]),
        velocity: xyz::<R>(velocity[i]),
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

/// Contacts of the n grains near walls, whose indices are in `grains`, with the wall elements in their rows; spheres are left out. Blocks have
/// [`CONTACT_THREADS`] threads, and take [`WALL_GRAINS`] grains. All elements of a mesh are one wall, at the first entry of the row with one of them; there
/// are some with `meshes`, and `features` has theirs. Forces are added to those in the force and torque buffers; if all grains are `alone`, without
/// spheres, they overwrite these. Results of each entry are in `loads`, see [`WALL_LOAD`], and in `wall_contacts` for the walls.
///
/// A word of a buffer is written by one thread: records of an entry by that of the entry, those of a grain by that of the grain, and slots of a contact by
/// that of the contact.
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
    force: &mut [Record<R>],
    torque: &mut [Record<R>],
    flags: &mut [u32],
    power: &mut [Record<C>],
    dt: R,
    overlap_limit: R,
    slots: u32,
    n: u32,
    materials: u32,
    parity: u32,
    #[comptime] meshes: bool,
    #[comptime] alone: bool,
) {
    // Of each grain of the block: its index, shape, first entry in its row, and the number of its first entry among those of the block.
    let mut indices = Shared::<[u32]>::new_slice(WALL_GRAINS);
    let mut shapes = Shared::<[u32]>::new_slice(WALL_GRAINS);
    let mut rows = Shared::<[u32]>::new_slice(WALL_GRAINS);
    let mut poses = Shared::<[Record<C>]>::new_slice(WALL_GRAINS * 2);
    let mut first_entry = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    // Of the entry of each thread: its grain, its index in the list, its element, and the number of its first vertex among the items.
    let mut grain_of = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut listed = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut element_of = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut first_item = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    // Contacts of each entry before those that are computed together.
    let mut earlier = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    let mut counts = Shared::<[u32]>::new_slice(CONTACT_COUNTS);
    let mut touched = Shared::<[u32]>::new_slice(CONTACT_THREADS);
    // Of each contact: force and radius, torque and normal energy, tangential energy and overlap, weighted point and normal force.
    let mut pushes = Shared::<[Record<R>]>::new_slice(CONTACT_THREADS);
    let mut turns = Shared::<[Record<R>]>::new_slice(CONTACT_THREADS);
    let mut sizes = Shared::<[R]>::new_slice(CONTACT_THREADS * 2);
    let mut points = Shared::<[Record<C>]>::new_slice(CONTACT_THREADS);
    let unit = UNIT_POS as usize;
    // Threads of grains are far apart, as those at meshes would wait for each other.
    let own = unit / THREADS_OF_GRAIN;
    let is_of_grain = own * THREADS_OF_GRAIN == unit;
    if !is_halted(flags, parity) {
        let mut took = Record::<R>::new(R::new(0.0));
        let mut entries = 0u32.runtime();
        if unit < WALL_GRAINS {
            let place = CUBE_POS * WALL_GRAINS + unit;
            if place < n as usize {
                let i = grains[place];
                let mark = shape[i as usize];
                if mark != FREE {
                    let first = row[i as usize];
                    entries = row[i as usize + 1usize] - first;
                    indices[unit] = i;
                    shapes[unit] = mark;
                    rows[unit] = first;
                    poses[unit * 2usize] = position[i as usize];
                    poses[unit * 2usize + 1usize] = orientation[i as usize];
                }
            }
        }
        let of_grains = number_in_block(entries, &mut counts, CONTACT_THREADS);
        first_entry[unit] = of_grains.before;
        sync_cube();

        // Entries from `from` on are taken together. The number of rounds is the same for all threads of the block.
        let mut from = 0u32.runtime();
        while from < of_grains.all {
            let entry = from + UNIT_POS;
            let mut grain = 0usize.runtime();
            let mut k = 0u32.runtime();
            let mut vertices = 0u32.runtime();
            let mut is_meant = false;
            if entry < of_grains.all {
                for s in 1usize..WALL_GRAINS {
                    if first_entry[s] <= entry {
                        grain += 1usize;
                    }
                }
                k = rows[grain] + (entry - first_entry[grain]);
                let element = list[k as usize];
                let e = element as usize * 12usize;
                // Triangles are taken together, below.
                is_meant = elements[e + 9usize] != C::new(TRIANGLE);
                if is_meant {
                    let at = poses[grain * 2usize];
                    if may_touch_element::<C>(&xyz::<C>(at), last::<C>(at), elements, e) {
                        vertices = shape_at(words, shapes[grain]).vertices;
                    }
                }
                grain_of[unit] = grain as u32;
                listed[unit] = k;
                element_of[unit] = element;
            }
            let of_entries = number_in_block(vertices, &mut counts, CONTACT_THREADS);
            first_item[unit] = of_entries.before;
            earlier[unit] = 0u32;
            sync_cube();

            let mut contacts = 0u32.runtime();
            let mut push = Record::<R>::new(R::new(0.0));
            let mut turn = Record::<R>::new(R::new(0.0));
            let mut weighted = Record::<C>::new(C::new(0.0));
            let mut tangential_energy = R::new(0.0);
            let mut deepest = R::new(0.0);
            let mut base = 0u32.runtime();
            while base < of_entries.all {
                // Items of a thread follow each other, so that contacts are found in the order of keys.
                let length = min((of_entries.all - base + comptime!(CONTACT_BLOCK - 1)) / CONTACT_BLOCK, BITS);
                let begin = base + UNIT_POS * length;
                let mut bits = 0u32.runtime();
                let mut passed = 0u32.runtime();
                for b in 0u32..length {
                    let item = begin + b;
                    if item < of_entries.all {
                        let owner = owner_of(item, &mut first_item, CONTACT_BLOCK);
                        let g = grain_of[owner] as usize;
                        let at = poses[g * 2usize];
                        let near = vertex_by_wall::<C>(
                            item - first_item[owner],
                            &xyz::<C>(at),
                            last::<C>(at),
                            &quaternion::<C>(poses[g * 2usize + 1usize]),
                            &shape_at(words, shapes[g]),
                            numbers,
                            elements,
                            element_of[owner] as usize * 12usize,
                        );
                        if near.depth > C::new(0.0) {
                            bits |= 1u32 << b;
                            passed += 1u32;
                        }
                    }
                }
                let found = number_in_block(passed, &mut counts, CONTACT_THREADS);
                let mut done = 0u32.runtime();
                while done < found.all {
                    list_passed(bits, begin, 1u32, found.before, done, CONTACT_BLOCK, &mut touched);
                    sync_cube();
                    let together = min(found.all - done, CONTACT_BLOCK);
                    if UNIT_POS < together {
                        let item = touched[unit];
                        let owner = owner_of(item, &mut first_item, CONTACT_BLOCK);
                        let own_first = first_item[owner];
                        let mut number = earlier[owner];
                        for s in 0..unit {
                            if touched[s] >= own_first {
                                number += 1u32;
                            }
                        }
                        let i = indices[grain_of[owner] as usize] as usize;
                        let e = element_of[owner] as usize * 12usize;
                        let first_slot = listed[owner] as usize * slots as usize;
                        let of_contact = grain_by_wall::<C, R>(i, shape, position, velocity, spin, orientation);
                        let own_shape = shape_at(words, of_contact.posed.shape);
                        let near = vertex_by_wall::<C>(
                            item - own_first,
                            &of_contact.center,
                            of_contact.posed.scale,
                            &of_contact.posed.orientation,
                            &own_shape,
                            numbers,
                            elements,
                            e,
                        );
                        let mut of_push = Record::<R>::new(R::new(0.0));
                        let mut of_turn = Record::<R>::new(R::new(0.0));
                        let mut of_point = Record::<C>::new(C::new(0.0));
                        let mut energy = R::new(0.0);
                        let mut overlap = R::new(0.0);
                        // A compiler may round the same formula in another way than above. A contact that just begins may then be none.
                        if near.depth > C::new(0.0) {
                            let laws = coefficients::<R>(table, row_of_wall::<C>(i, material, materials, elements, records, e));
                            let w = C::whole(elements[e + 10usize]) as usize * 24usize;
                            let key = item - own_first + 1u32;
                            let old = old_slot_from(0u32.runtime(), key, first_slot, slots, old_keys);
                            let contact_history = history_in_slot::<R>(key, old, first_slot, slots, old_keys, old_springs);
                            let touch = contact_of_vertex::<C, R>(
                                &of_contact,
                                &near,
                                &own_shape,
                                numbers,
                                records,
                                w,
                                &contact_history,
                                &laws,
                                dt,
                                overlap_limit,
                            );
                            keep_contact::<C, R>(key, number, &touch, first_slot, slots, keys, springs);
                            let pressing = C::wide(touch.pressing);
                            of_push = record::<R>(&touch.force, touch.radius);
                            of_turn = record::<R>(&touch.torque, touch.normal_energy);
                            of_point = record::<C>(&touch.point.times(pressing), pressing);
                            energy = touch.tangential_energy;
                            overlap = touch.overlap;
                            took += four_numbers::<R>(touch.normal_power, touch.tangential_power, touch.damping_power, touch.wall_power);
                            if touch.excess > R::new(0.0) {
                                raise(flags, parity, TOO_DEEP);
                            }
                        } else if number < slots {
                            let at = first_slot + number as usize;
                            keys[at] = item - own_first + 1u32;
                            store::<R>(springs, at * 4usize, &Vector3::<R>::zero());
                            springs[at * 4usize + 3usize] = R::new(0.0);
                        }
                        pushes[unit] = of_push;
                        turns[unit] = of_turn;
                        points[unit] = of_point;
                        sizes[unit * 2usize] = energy;
                        sizes[unit * 2usize + 1usize] = overlap;
                    }
                    sync_cube();
                    // The thread of an entry adds the contacts of this entry.
                    if vertices > 0u32 {
                        let first = of_entries.before;
                        for s in 0usize..together as usize {
                            let item = touched[s];
                            if item >= first && item < first + vertices {
                                push += pushes[s];
                                turn += turns[s];
                                weighted += points[s];
                                tangential_energy += sizes[s * 2usize];
                                deepest = larger::<R>(deepest, sizes[s * 2usize + 1usize]);
                                contacts += 1u32;
                            }
                        }
                        earlier[unit] = contacts;
                    }
                    sync_cube();
                    done += CONTACT_BLOCK;
                }
                base += comptime!(CONTACT_BLOCK * BITS);
            }

            // What the entry does, for the thread of its grain.
            let touches = touching::<R>(contacts);
            if is_meant {
                let at = poses[grain * 2usize];
                let sum = ShapeWallLoad::<C, R> {
                    force: xyz::<R>(push),
                    torque: xyz::<R>(turn),
                    powers: no_powers::<R>(),
                    stored: Stored::<R> {
                        normal: last::<R>(turn),
                        tangential: tangential_energy,
                    },
                    conducting_radius: last::<R>(push),
                    point: mean_point::<C>(&xyz::<C>(at), &xyz::<C>(weighted), last::<C>(weighted)),
                    overlap: deepest,
                    contacts,
                };
                store_wall_load::<C, R>(k as usize, last::<C>(at), &sum, touches, loads, wall_contacts);
                if contacts < slots {
                    keys[(k * slots + contacts) as usize] = 0u32;
                }
                if contacts > slots {
                    raise(flags, parity, TOO_DEEP);
                }
            }
            pushes[unit] = record::<R>(&xyz::<R>(push), touches);
            turns[unit] = record::<R>(&xyz::<R>(turn), R::new(0.0));
            sync_cube();
            if is_of_grain {
                let own_first = first_entry[own];
                let begin = max(own_first, from);
                let end = min(first_entry[own + 1usize], from + CONTACT_BLOCK);
                if begin < end {
                    let i = indices[own] as usize;
                    let mut of_grain = force[i];
                    let mut turn_of_grain = torque[i];
                    if alone {
                        if begin == own_first {
                            of_grain = Record::<R>::new(R::new(0.0));
                            turn_of_grain = Record::<R>::new(R::new(0.0));
                        }
                    }
                    for s in begin..end {
                        of_grain += pushes[(s - from) as usize];
                        turn_of_grain += turns[(s - from) as usize];
                    }
                    force[i] = of_grain;
                    torque[i] = turn_of_grain;
                }
            }
            sync_cube();
            from += CONTACT_BLOCK;
        }

        if meshes {
            if is_of_grain {
                let count = first_entry[own + 1usize] - first_entry[own];
                if count > 0u32 {
                    let i = indices[own] as usize;
                    let grain = grain_by_wall::<C, R>(i, shape, position, velocity, spin, orientation);
                    let first = rows[own] as usize;
                    let end = first + count as usize;
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
                            let touches = touching::<R>(sum.contacts);
                            store_wall_load::<C, R>(k, grain.posed.scale, &sum, touches, loads, wall_contacts);
                            let mut of_grain = force[i];
                            let mut turn_of_grain = torque[i];
                            of_grain += record::<R>(&sum.force, touches);
                            turn_of_grain += record::<R>(&sum.torque, R::new(0.0));
                            force[i] = of_grain;
                            torque[i] = turn_of_grain;
                            took += four_numbers::<R>(
                                sum.powers.normal_power,
                                sum.powers.tangential_power,
                                sum.powers.damping_power,
                                sum.powers.wall_power,
                            );
                            if sum.powers.excess > R::new(0.0) || sum.contacts > slots {
                                raise(flags, parity, TOO_DEEP);
                            }
                        }
                    }
                }
            }
        }
        // The sums may use the same shared memory.
        sync_cube();
        add_and_store_sum::<C, R>(power, took, SIDE);
    }
}
