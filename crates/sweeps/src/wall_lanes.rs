//! Frictional contacts of the grains of a part with walls, for processors with vector units.
//!
//! Where elements touch a grain is found one by one, as every kind of element has branches of its own. The laws then run on the contacts of many
//! grains at once. Only a batch with contacts of several pairs of materials runs lane by lane. The bits are those of [`crate::wall::walls_of()`], which
//! computes one grain after the other.
//!
//! ```
//! use seixo_sweeps::layout::{ELEMENT, PLANE, WALL};
//! use seixo_sweeps::part::{GrainsView, Limits};
//! use seixo_sweeps::periodic::PeriodicBoundaries;
//! use seixo_sweeps::wall_lanes::{WallOut, WallRows, wall_contacts_of_part};
//! // A grain of radius 1 m is 0.9 m above a floor, with a linear spring of 1000 N/m.
//! let (position, velocity, spin) = (&[0.0, 0.0, 0.9, 1.0], &[0.0, 0.0, 0.0, 1.0], &[0.0; 4]);
//! let (sides, table): (_, &[f64; 20]) = (&PeriodicBoundaries::open(), &std::array::from_fn(|k| if k == 0 { 1e3 } else { 0.0 }));
//! let grains = GrainsView { position, velocity, spin, material: &[0], materials: 1, table, is_uniform: true, sides };
//! let mut elements = [0.0; ELEMENT];
//! (elements[5], elements[9]) = (1.0, f64::from(PLANE));
//! let rows = WallRows { first: 0, row: &[0, 1], list: &[0], elements: &elements, walls: &[0.0; WALL] };
//! let mut force = [0.0; 4];
//! let out = WallOut { history: &mut [0.0; 4], wall_contacts: &mut [0.0; 8], force: &mut force, torque: &mut [0.0; 4] };
//! wall_contacts_of_part(&grains, &rows, &[0], Limits { dt: 1e-3, overlap: 0.5 }, out);
//! assert!((force[2] - 100.0).abs() < 1e-9 && force[3] == 1.0);
//! ```

use crate::contact::PowerSums;
use crate::grain::Grain;
use crate::lanes::{HERTZ_DISPLACEMENT, HERTZ_MINDLIN, LINEAR, have_codes, with_codes};
use crate::layout::{ELEMENT, RECORD, WALL, WALL_CONTACT, add, coefficients, contact_history_at, load};
use crate::part::{GrainsView, Limits};
use crate::simd::{InLanes, SimdLevel, on_best_simd, prefetch};
use crate::wall::{
    WallLoad, approach_to_wall, close_to_wall, drop_shared_points, force_of_wall, nearest_point, normal_at, row_of_material,
    spin_of_surface, take_over_history, torque_of_wall, velocity_of_surface,
};
use seixo_laws::contact::{Coefficients, ContactHistory, frictional_contact};
use seixo_laws::{Vector3, larger};
use std::ops::Range;

/// Contacts per batch of lanes.
const LANES: usize = 32;

/// Number of grains near walls by which the records of such a grain are prefetched.
pub const WALLS_AHEAD: usize = 8;

/// Place of the contact radius in a contact history; zero without contact.
const MARK: usize = 3;

/// Place of the force on the grain, in the record of a wall contact.
const FORCE: usize = 4;

/// Place of the number that says whether an element touches, in the record of a wall contact.
const TOUCHES: usize = 7;

/// The zero vector.
const ZERO: Vector3<f64> = Vector3 { x: 0.0, y: 0.0, z: 0.0 };

/// Load of a grain without contacts.
const NO_LOAD: WallLoad<f64> = WallLoad {
    force: ZERO,
    torque: ZERO,
    contacts: 0.0,
    powers: PowerSums {
        normal_power: 0.0,
        tangential_power: 0.0,
        damping_power: 0.0,
        wall_power: 0.0,
        excess: -1.0,
        across: ZERO,
    },
};

/// One number per lane.
type Lane = [f64; LANES];

/// The components of a vector per lane.
type Vectors = [Lane; 3];

/// Walls, and the elements near the grains of a part.
pub struct WallRows<'a> {
    /// First grain of the part.
    pub first: usize,
    /// First entry of every grain's row, and the end of the last row.
    pub row: &'a [u32],
    /// Elements of all rows.
    pub list: &'a [u32],
    /// Records of the elements, see [`ELEMENT`].
    pub elements: &'a [f64],
    /// Records of the walls, see [`WALL`].
    pub walls: &'a [f64],
}

impl WallRows<'_> {
    /// First entry of the part.
    fn base(&self) -> usize {
        self.row[self.first] as usize
    }
}

/// Output of a part. Slot 0 belongs to its first grain or entry.
pub struct WallOut<'a> {
    /// Contact histories of the entries.
    pub history: &'a mut [f64],
    /// Wall contacts of the entries, see [`WALL_CONTACT`].
    pub wall_contacts: &'a mut [f64],
    /// Forces and numbers of contacts, to which those of walls are added.
    pub force: &'a mut [f64],
    /// Torques, to which those of walls are added.
    pub torque: &'a mut [f64],
}

/// Adds the loads of walls to the grains of a part in these slots, each with at least one entry. Contacts have friction and are not extended. Returns
/// the powers of all contacts.
pub fn wall_contacts_of_part(
    grains: &GrainsView<f64>,
    rows: &WallRows,
    near: &[u16],
    limits: Limits<f64>,
    mut out: WallOut,
) -> PowerSums<f64> {
    if near.is_empty() {
        return NO_LOAD.powers;
    }
    let mut lanes = Lanes::new(grains.table, limits);
    let mut sums = Sums {
        all: NO_LOAD.powers,
        slot: 0,
        load: NO_LOAD,
    };
    for (k, &slot) in near.iter().enumerate() {
        let later = near[(k + WALLS_AHEAD).min(near.len() - 1)] as usize;
        for numbers in [grains.position, grains.velocity, grains.spin] {
            prefetch(numbers, rows.first + later);
        }
        prefetch(out.force, later);
        prefetch(out.torque, later);
        let i = rows.first + slot as usize;
        let grain = grain_at(grains, i);
        let entries = rows.row[i] as usize..rows.row[i + 1] as usize;
        find_contacts(grains, rows, &grain, i, &entries, &mut out);
        for entry in entries {
            if out.wall_contacts[(entry - rows.base()) * WALL_CONTACT + TOUCHES] > 0.0 {
                if lanes.count == LANES {
                    lanes.run(&mut out, &mut sums);
                }
                lanes.push(grains, rows, &grain, slot as usize, entry, &out);
            }
        }
    }
    lanes.run(&mut out, &mut sums);
    sums.close(&mut out);
    sums.all
}

/// The state of grain i.
fn grain_at(grains: &GrainsView<f64>, i: usize) -> Grain<f64, f64> {
    let at = i * RECORD;
    Grain {
        position: load(grains.position, at),
        reach: grains.position[at + 3],
        radius: grains.position[at + 3],
        velocity: load(grains.velocity, at),
        mass: grains.velocity[at + 3],
        spin: load(grains.spin, at),
    }
}

/// Finds where the elements of the row of grain i touch it. Contacts that ended lose their histories, to others of the same wall if such begin.
fn find_contacts(grains: &GrainsView<f64>, rows: &WallRows, grain: &Grain<f64, f64>, i: usize, entries: &Range<usize>, out: &mut WallOut) {
    let (first, end, base) = (entries.start, entries.end, rows.base());
    for entry in first..end {
        let nearest = nearest_point::<f64>(&grain.position, rows.elements, rows.list[entry] as usize * ELEMENT);
        let Vector3 { x, y, z } = nearest.point;
        let touches = if nearest.distance < grain.reach { 1.0 } else { 0.0 };
        let record = [x, y, z, nearest.distance, 0.0, 0.0, 0.0, touches];
        out.wall_contacts[(entry - base) * WALL_CONTACT..][..WALL_CONTACT].copy_from_slice(&record);
    }
    if end - first > 1 {
        drop_shared_points::<f64, f64>(
            grain,
            grains.material[i],
            first,
            end,
            rows.list,
            base,
            rows.elements,
            rows.walls,
            out.wall_contacts,
            grains.materials,
            grains.table,
            false,
        );
        for entry in first..end {
            if out.wall_contacts[(entry - base) * WALL_CONTACT + TOUCHES] > 0.0 {
                take_over_history::<f64, f64>(
                    entry,
                    first,
                    end,
                    rows.list,
                    base,
                    rows.elements,
                    out.history,
                    out.wall_contacts,
                    RECORD,
                    MARK,
                );
            }
        }
    }
    for entry in first - base..end - base {
        let history = &mut out.history[entry * RECORD..][..RECORD];
        if out.wall_contacts[entry * WALL_CONTACT + TOUCHES] == 0.0 && history[MARK] > 0.0 {
            history.fill(0.0);
        }
    }
}

/// Contacts in lanes: input and output. No vector crosses the end of a cache line.
#[repr(C, align(64))]
struct Lanes<'a> {
    normal: Vectors,
    velocity: Vectors,
    spin: Vectors,
    wall_velocity: Vectors,
    wall_spin: Vectors,
    /// Tangential springs of the histories.
    stored: Vectors,
    radius_before: Lane,
    distance: Lane,
    overlap: Lane,
    radius: Lane,
    mass: Lane,
    force: Vectors,
    torque: Vectors,
    /// Tangential springs for the next step.
    next: Vectors,
    contact_radius: Lane,
    /// Powers taken by normal damping, tangential forces and tangential damping, and power supplied by the wall.
    powers: [Lane; 4],
    /// Slots of the grains, and entries of the list, counted from the part's first.
    slot: [usize; LANES],
    entry: [usize; LANES],
    /// Rows of the coefficients of the laws.
    row: [usize; LANES],
    /// Number of lanes in use. All others hold former contacts, or harmless values.
    count: usize,
    table: &'a [f64],
    limits: Limits<f64>,
}

impl<'a> Lanes<'a> {
    /// Lanes with harmless values.
    fn new(table: &'a [f64], limits: Limits<f64>) -> Lanes<'a> {
        let ones = [[1.0; LANES]; 3];
        Lanes {
            table,
            limits,
            count: 0,
            slot: [0; LANES],
            entry: [0; LANES],
            row: [0; LANES],
            normal: ones,
            velocity: ones,
            spin: ones,
            wall_velocity: ones,
            wall_spin: ones,
            stored: ones,
            radius_before: [1.0; LANES],
            distance: [1.0; LANES],
            overlap: [1.0; LANES],
            radius: [1.0; LANES],
            mass: [1.0; LANES],
            force: ones,
            torque: ones,
            next: ones,
            contact_radius: [1.0; LANES],
            powers: [[1.0; LANES]; 4],
        }
    }

    /// Reads the contact of a grain in a slot of the part and an entry of the list into the next lane.
    #[inline(always)]
    fn push(&mut self, grains: &GrainsView<f64>, rows: &WallRows, grain: &Grain<f64, f64>, slot: usize, entry: usize, out: &WallOut) {
        let (lane, own) = (self.count, entry - rows.base());
        let e = rows.list[entry] as usize * ELEMENT;
        let w = rows.elements[e + 10] as usize * WALL;
        let point = load::<f64>(out.wall_contacts, own * WALL_CONTACT);
        let distance = out.wall_contacts[own * WALL_CONTACT + 3];
        let normal = normal_at::<f64, f64>(rows.elements, e, &point, &grain.position, distance);
        let history = contact_history_at::<f64>(out.history, own * RECORD);
        put(
            &mut self.wall_velocity,
            lane,
            &velocity_of_surface::<f64, f64>(rows.walls, w, &point, &normal),
        );
        put(&mut self.wall_spin, lane, &spin_of_surface::<f64, f64>(rows.walls, w));
        put(&mut self.normal, lane, &normal);
        put(&mut self.velocity, lane, &grain.velocity);
        put(&mut self.spin, lane, &grain.spin);
        put(&mut self.stored, lane, &history.force);
        self.radius_before[lane] = history.contact_radius;
        self.distance[lane] = distance;
        self.overlap[lane] = grain.reach - distance;
        self.radius[lane] = grain.radius;
        self.mass[lane] = grain.mass;
        (self.slot[lane], self.entry[lane]) = (slot, own);
        self.row[lane] = row_of_material::<f64>(grains.material[rows.first + slot], grains.materials, rows.elements, rows.walls, e);
        self.count += 1;
    }

    /// Computes the contacts in the lanes, adds them to the grains in their order, and empties the lanes.
    fn run(&mut self, out: &mut WallOut, sums: &mut Sums) {
        if self.count == 0 {
            return;
        }
        on_best_simd(self);
        for lane in 0..self.count {
            if sums.slot != self.slot[lane] {
                sums.close(out);
                sums.slot = self.slot[lane];
            }
            let force = vector(&self.force, lane);
            let WallLoad {
                force: push,
                torque,
                contacts,
                powers,
            } = &mut sums.load;
            *push = push.plus(&force);
            *torque = torque.plus(&vector(&self.torque, lane));
            *contacts += 1.0;
            powers.normal_power += self.powers[0][lane];
            powers.tangential_power += self.powers[1][lane];
            powers.damping_power += self.powers[2][lane];
            powers.wall_power += self.powers[3][lane];
            powers.excess = larger(powers.excess, self.overlap[lane] - self.limits.overlap * self.radius[lane]);
            let Vector3 { x, y, z } = vector(&self.next, lane);
            let history = [x, y, z, self.contact_radius[lane]];
            out.history[self.entry[lane] * RECORD..][..RECORD].copy_from_slice(&history);
            out.wall_contacts[self.entry[lane] * WALL_CONTACT + FORCE..][..3].copy_from_slice(&[force.x, force.y, force.z]);
        }
        self.count = 0;
    }

    /// Runs the laws on all lanes, with the same coefficients in each.
    #[inline(always)]
    fn resolve_uniform(&mut self, coefficients: &Coefficients<f64>) {
        for lane in 0..LANES {
            self.resolve_lane(lane, coefficients);
        }
    }

    #[inline(always)]
    fn resolve_lane(&mut self, lane: usize, coefficients: &Coefficients<f64>) {
        let [normal, velocity, spin] = [&self.normal, &self.velocity, &self.spin].map(|columns| vector(columns, lane));
        let [wall_velocity, wall_spin, stored] = [&self.wall_velocity, &self.wall_spin, &self.stored].map(|columns| vector(columns, lane));
        let distance = self.distance[lane];
        let touch = close_to_wall::<f64>(self.overlap[lane], self.radius[lane], self.mass[lane]).contact;
        let approach = approach_to_wall::<f64>(&velocity.minus(&wall_velocity), &spin, &wall_spin, distance, &normal);
        let before = ContactHistory {
            force: stored,
            contact_radius: self.radius_before[lane],
        };
        let response = frictional_contact::<f64>(&touch, &normal, &approach, &before, coefficients, self.limits.dt);
        let force = force_of_wall::<f64>(&normal, response.normal, &response.tangential);
        let torque = torque_of_wall::<f64>(&normal, &response.tangential, distance);
        put(&mut self.force, lane, &force);
        put(&mut self.torque, lane, &torque);
        put(&mut self.next, lane, &response.history.force);
        self.contact_radius[lane] = response.history.contact_radius;
        self.powers[0][lane] = response.normal_power;
        self.powers[1][lane] = response.tangential_power;
        self.powers[2][lane] = response.damping_power;
        self.powers[3][lane] = force.dot(&wall_velocity);
    }
}

impl InLanes for Lanes<'_> {
    #[inline(always)]
    fn resolve<U: SimdLevel>(&mut self, _unit: U) {
        let first = self.row[0];
        if self.row[..self.count].iter().any(|&row| row != first) {
            for lane in 0..self.count {
                let own = coefficients::<f64>(self.table, self.row[lane]);
                self.resolve_lane(lane, &own);
            }
            return;
        }
        // As constants, the codes of laws leave out what only other laws need. No bit changes.
        let all = coefficients::<f64>(self.table, first);
        if have_codes(&all, &HERTZ_MINDLIN) {
            self.resolve_uniform(&with_codes(&all, &HERTZ_MINDLIN));
        } else if have_codes(&all, &HERTZ_DISPLACEMENT) {
            self.resolve_uniform(&with_codes(&all, &HERTZ_DISPLACEMENT));
        } else if have_codes(&all, &LINEAR) {
            self.resolve_uniform(&with_codes(&all, &LINEAR));
        } else {
            self.resolve_uniform(&all);
        }
    }
}

/// Sums over the contacts of a grain, which may be in two batches, and over those of all grains before.
struct Sums {
    all: PowerSums<f64>,
    /// Slot of the grain.
    slot: usize,
    load: WallLoad<f64>,
}

impl Sums {
    /// Adds the load to the grain, and its powers to those of all.
    fn close(&mut self, out: &mut WallOut) {
        let WallLoad {
            force,
            torque,
            contacts,
            powers,
        } = std::mem::replace(&mut self.load, NO_LOAD);
        if contacts == 0.0 {
            return;
        }
        let at = self.slot * RECORD;
        add::<f64>(out.force, at, &force);
        out.force[at + 3] += contacts;
        add::<f64>(out.torque, at, &torque);
        self.all.normal_power += powers.normal_power;
        self.all.tangential_power += powers.tangential_power;
        self.all.damping_power += powers.damping_power;
        self.all.wall_power += powers.wall_power;
        self.all.excess = self.all.excess.max(powers.excess);
    }
}

/// The vector of a lane.
#[inline(always)]
fn vector([x, y, z]: &Vectors, lane: usize) -> Vector3<f64> {
    Vector3 {
        x: x[lane],
        y: y[lane],
        z: z[lane],
    }
}

/// Sets the vector of a lane.
#[inline(always)]
fn put(columns: &mut Vectors, lane: usize, vector: &Vector3<f64>) {
    columns[0][lane] = vector.x;
    columns[1][lane] = vector.y;
    columns[2][lane] = vector.z;
}
