//! Walls: current positions of their elements, and the list of near grains.

mod grid;
mod images;
pub(crate) mod motion;
mod points;
pub(crate) mod servo;
mod starts;
mod wear;

use crate::fields::{Fields, PART, part_range, parts, start_parts};
use crate::refusal::WorldError;
use crate::search::{Cells, resize_with_room};
use crate::world::{Triangle, Vec3, Wall, WallMotion, WallShape, array};
use grid::WallSortBuffers;
use images::Images;
pub(crate) use images::largest_displacement;
use motion::{AcrossAxis, is_on};
pub(crate) use motion::{WallDisplacement, fastest, is_moving, rotation_axis};
use seixo_device::{Cpu, Ranges, Strided, exclusive_scan};
use seixo_laws::wall::rotated;
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::layout::{ELEMENT, FRUSTUM, PLANE, RECORD, SPHERE, TRIANGLE, WALL, WALL_CONTACT, load};
use seixo_sweeps::wall::{elements_near, normal_at, velocity_of_surface};
use seixo_sweeps::wall_pose::{POSE, SERVO, rotation_of_wall};
pub(crate) use servo::ServoLoad;
pub(crate) use starts::{displacements_without_starts, last_motions};
use std::collections::BTreeSet;
use wear::SlidingWork;

/// Load on a wall.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallLoad {
    /// Force \[N\].
    pub force: Vec3,
    /// Torque about the point of its axis \[N m\].
    pub torque: Vec3,
    /// Power that the force supplies to the wall \[W\].
    pub power: f64,
}

impl WallLoad {
    /// Adds a force at a point of the wall: at this arm from the point of its axis \[m\], where its surface has this velocity \[m/s\].
    pub fn add(&mut self, force: &Vector3<f64>, arm: &Vector3<f64>, velocity: &Vector3<f64>) {
        let (push, twist) = (array(force), array(&arm.cross(force)));
        self.force = [0, 1, 2].map(|axis| self.force[axis] + push[axis]);
        self.torque = [0, 1, 2].map(|axis| self.torque[axis] + twist[axis]);
        self.power += force.dot(velocity);
    }
}

/// All walls, their elements, and the list of near pairs (grain, element).
#[derive(Clone, Default)]
pub struct Walls {
    /// The walls of the world.
    pub given: Vec<Wall>,
    /// Current records of the elements, see [`ELEMENT`].
    pub elements: Vec<f64>,
    /// Current records of the walls, see [`WALL`].
    pub records: Vec<f64>,
    /// Index of the first entry of each grain's row, and the total number.
    pub row: Vec<u32>,
    /// Elements near each grain.
    pub list: Vec<u32>,
    /// Contact history of each entry.
    pub history: Vec<f64>,
    /// Number of values in the history of an entry.
    pub contact_histories: usize,
    /// Contact records of the last step, see [`WALL_CONTACT`].
    pub wall_contacts: Vec<f64>,
    /// Index of the first entry of each part, and the total number.
    pub part_row: Vec<u32>,
    /// Time of the last rebuild of the list \[s\].
    pub listed_at: f64,
    /// Gap between a grain and an element up to which they are listed \[m\].
    pub skin: f64,
    /// Part of the skin across which walls may attract grains; the rest is for motion \[m\].
    pub gap: f64,
    /// Whether each wall exists.
    there: Vec<bool>,
    /// Upper bound of the distance of grains from any object, for rotating planes \[m\].
    reach: f64,
    /// Records of the elements at the start of the current motions.
    pub start: Vec<f64>,
    /// Records of the walls at the start of the current motions.
    pub at_rest: Vec<f64>,
    /// Current records of the servos, see [`SERVO`]; all zero for walls without servo.
    pub servos: Vec<f64>,
    /// Rotation angle of each wall at the start of its current motion \[rad\].
    turned_before: Vec<f64>,
    /// Position of the point of each wall that was at the origin at time zero, and rotation since then: at the start of its current motion \[m\].
    carried_before: Vec<(Vec3, Quaternion<f64>)>,
    /// Targets of the servos of the walls that were set between two steps \[N, Pa, N m\]; each ends with the motion of its wall.
    set_targets: Vec<Option<f64>>,
    /// Displacements of servos whose motions ended, in the order of their ends \[m\].
    finished_displacements: Vec<f64>,
    /// Wall of each of them.
    ended_servos_of: Vec<u32>,
    /// Walls of which checkpoints hold where their present motion began.
    with_starts: BTreeSet<usize>,
    /// Loads of grains of other subdomains on each wall with a servo; empty without decomposition.
    pub borne_elsewhere: Vec<ServoLoad>,
    /// Current poses of the walls, see [`POSE`].
    poses: Vec<f64>,
    /// Index of the first element of each wall, and the total number.
    first: Vec<usize>,
    /// Distance of the farthest point of each wall from its axis \[m\].
    farthest: Vec<f64>,
    /// Reference point of each wall at the start of its current motion, see [`WallShape::middle`] \[m\].
    pub middle: Vec<Vec3>,
    /// Displacement of each servo at the last rebuild of the list \[m\].
    listed_way: Vec<f64>,
    /// Elements that are planes.
    pub planes: Vec<u32>,
    /// Grid of the other elements, see [`elements_near()`].
    pub grid: Vec<f64>,
    /// Shape of that grid.
    pub shape: Vec<u32>,
    /// Index of the first entry of each of its cells, and the total number.
    pub cell_first: Vec<u32>,
    /// Elements of its cells.
    pub cell_list: Vec<u32>,
    /// Sliding work on walls that wear.
    pub work: SlidingWork,
    images: Images,
    room: WallSortBuffers,
    old_row: Vec<u32>,
    old_list: Vec<u32>,
    old_history: Vec<f64>,
}

/// Largest distance of two points that differ by rounding, as a share of their distance from the origin \[-\].
const SAME_POINT: f64 = 1e-9;

/// No rotation.
const UNTURNED: Quaternion<f64> = Quaternion {
    w: 1.0,
    x: 0.0,
    y: 0.0,
    z: 0.0,
};

pub(crate) fn vector(v: &[f64]) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}

/// Record of the pose of a wall, see [`POSE`].
fn pose(wall: &Wall, is_there: bool, time: f64, next: f64) -> [f64; POSE] {
    let WallDisplacement {
        shift,
        velocity,
        axis,
        angle,
        rate,
        acceleration,
        angular_acceleration,
        turned: _,
        across,
    } = WallDisplacement::at(&wall.motion, time);
    let through = vector(&wall.motion.through).plus(&shift);
    let (sin, cos) = angle.sin_cos();
    let acts = f64::from(is_there && is_on(&wall.motion, next));
    let mut record = [0.0; POSE];
    for (numbers, vector) in [(0, through), (3, axis), (8, velocity), (13, acceleration)] {
        record[numbers..numbers + 3].copy_from_slice(&[vector.x, vector.y, vector.z]);
    }
    (record[6], record[7], record[11], record[12]) = (cos, sin, rate, acts);
    record[16] = angular_acceleration;
    if let Some(AcrossAxis { spin, spin_up }) = across {
        for (numbers, vector) in [(17, spin), (20, spin_up)] {
            record[numbers..numbers + 3].copy_from_slice(&[vector.x, vector.y, vector.z]);
        }
        record[23] = 1.0;
    }
    record
}

/// Records of the elements of a shape, starting with index `first`, see [`ELEMENT`].
fn elements_of(shape: &WallShape, wall: usize, first: usize) -> Vec<f64> {
    let mut records = Vec::new();
    let mut push = |numbers: [Vec3; 3], kind: f32| {
        let element = first + records.len() / ELEMENT;
        records.extend(numbers.as_flattened());
        records.extend([f64::from(kind), wall as f64, element as f64]);
    };
    match shape {
        WallShape::Plane { point, normal } => push([*point, *normal, [0.0; 3]], PLANE),
        WallShape::Mesh(triangles) => triangles.iter().for_each(|triangle| push(*triangle, TRIANGLE)),
        WallShape::Round(frusta) => {
            for frustum in frusta {
                let sizes = [frustum.height, frustum.radii[0], frustum.radii[1]];
                push([frustum.base, frustum.axis, sizes], FRUSTUM);
            }
        }
        WallShape::Sphere { center, radius } => push([*center, [0.0; 3], [*radius, 0.0, 0.0]], SPHERE),
    }
    records
}

/// Unit normal of a triangle, from its record; zero if it has no area.
fn normal_of_triangle(record: &[f64]) -> Vector3<f64> {
    let [a, b, c] = [0, 3, 6].map(|at| load::<f64>(record, at));
    let across = b.minus(&a).cross(&c.minus(&a));
    across.times(1.0 / across.length().max(f64::MIN_POSITIVE))
}

/// Record of a wall at the start of its motion, see [`WALL`].
fn record_at_rest(wall: &Wall) -> [f64; WALL] {
    let surface = &wall.motion.surface;
    let mut record = [0.0; WALL];
    record[..3].copy_from_slice(&wall.motion.through);
    record[9] = f64::from(wall.material);
    record[10] = f64::from(surface.runs());
    record[12..21].copy_from_slice([surface.velocity, surface.angular_velocity, surface.through].as_flattened());
    record
}

/// Distance of the farthest point of a shape from a point \[m\]; `reach` for a plane.
pub(crate) fn farthest_of(shape: &WallShape, through: &Vec3, reach: f64) -> f64 {
    let through = vector(through);
    let away = |point: &Vec3| vector(point).minus(&through).length();
    match shape {
        WallShape::Plane { .. } => reach,
        WallShape::Mesh(triangles) => triangles.iter().flatten().map(away).fold(0.0, f64::max),
        WallShape::Round(frusta) => {
            let extents = frusta.iter().map(|f| away(&f.base) + f.height.abs() + f.radii[0].max(f.radii[1]));
            extents.fold(0.0, f64::max)
        }
        WallShape::Sphere { center, radius } => away(center) + radius,
    }
}

impl Walls {
    /// Makes the elements of the given walls; `reach` bounds the distance of grains from any object, for rotating planes \[m\].
    pub fn new(given: Vec<Wall>, reach: f64, skin: f64, gap: f64, contact_histories: usize) -> Walls {
        let mut walls = Walls {
            skin: skin + gap,
            gap,
            contact_histories,
            reach,
            there: vec![true; given.len()],
            first: vec![0],
            servos: vec![0.0; given.len() * SERVO],
            set_targets: vec![None; given.len()],
            listed_way: vec![0.0; given.len()],
            turned_before: vec![0.0; given.len()],
            carried_before: vec![([0.0; 3], UNTURNED); given.len()],
            ..Walls::default()
        };
        for (index, wall) in given.iter().enumerate() {
            let first = walls.start.len() / ELEMENT;
            walls.start.extend(elements_of(&wall.shape, index, first));
            walls.at_rest.extend(record_at_rest(wall));
            walls.farthest.push(farthest_of(&wall.shape, &wall.motion.through, reach));
            walls.middle.push(wall.shape.middle());
            walls.first.push(walls.start.len() / ELEMENT);
        }
        debug_assert_eq!(walls.at_rest.len(), given.len() * WALL);
        if given.iter().any(|wall| wall.specific_wear_rate > 0.0) {
            walls.work.by_element = vec![0.0; walls.start.len() / ELEMENT];
        }
        walls.elements = walls.start.clone();
        walls.records = walls.at_rest.clone();
        walls.given = given;
        walls.place(0.0, true);
        walls
    }

    /// Sets the skin of the next list \[m\].
    pub fn set_skin(&mut self, skin: f64) {
        self.skin = skin + self.gap;
        self.cell_first.clear();
    }

    /// Makes a wall appear or vanish.
    pub fn set_there(&mut self, wall: usize, is_there: bool) {
        self.there[wall] = is_there;
        self.cell_first.clear();
    }

    /// Sets the motion of a wall from this time \[s\] and its current position on; start and stop of the motion count from now.
    ///
    /// # Errors
    /// As [`Walls::repeat`].
    pub fn set_motion(&mut self, wall: usize, motion: &WallMotion, time: f64) -> Result<(), WorldError> {
        self.place(time, true);
        let shape = self.given[wall]
            .shape
            .placed(|point| self.moved(wall, point), |direction| self.turned(wall, direction));
        self.carried_before[wall] = self.carried(wall);
        self.turned_before[wall] += WallDisplacement::at(&self.given[wall].motion, time).turned + self.turned_by_servo(wall);
        self.end_servo(wall);
        self.begin_motion(wall, shape, motion, time)
    }

    /// Whether exactly this motion, which does not turn the wall, moves it already at this time \[s\], with the same point of its axis.
    pub fn goes_straight_by(&self, wall: usize, motion: &WallMotion, time: f64) -> bool {
        let present = &self.given[wall].motion;
        let same = WallMotion {
            through: present.through,
            start: present.start,
            // It stops nothing.
            until: present.until,
            ..motion.clone()
        };
        if *present != same || rotation_axis(present).is_some() || present.start > time {
            return false;
        }
        let through = vector(&present.through).plus(&WallDisplacement::at(present, time).shift);
        let apart = through.minus(&vector(&motion.through)).length();
        apart <= SAME_POINT * (through.length() + self.reach)
    }

    /// Rejects motions that walls cannot get at this time \[s\], one after the other, before anything is changed: with an image that would move
    /// otherwise, or those that `check` refuses. It gets the moved wall, and the distance \[m\] within which there is anything.
    pub fn check_motions<'a>(
        &self,
        motions: impl Iterator<Item = (usize, &'a WallMotion)>,
        time: f64,
        check: impl Fn(&Wall, f64) -> Result<(), WorldError>,
    ) -> Result<(), WorldError> {
        let mut moved: Option<Walls> = None;
        for (wall, motion) in motions {
            let walls = moved.get_or_insert_with(|| self.clone());
            walls.set_motion(wall, motion, time)?;
            check(&walls.given[wall], walls.reach)?;
        }
        Ok(())
    }

    /// Begins a motion of a wall that has this shape at this time \[s\].
    ///
    /// # Errors
    /// As [`Walls::repeat`].
    fn begin_motion(&mut self, wall: usize, shape: WallShape, motion: &WallMotion, time: f64) -> Result<(), WorldError> {
        let given = &mut self.given[wall];
        given.shape = shape;
        given.motion = motion.begun(time);
        let elements = self.first[wall] * ELEMENT..self.first[wall + 1] * ELEMENT;
        self.start[elements].copy_from_slice(&elements_of(&given.shape, wall, self.first[wall]));
        self.at_rest[wall * WALL..][..WALL].copy_from_slice(&record_at_rest(given));
        self.farthest[wall] = farthest_of(&given.shape, &given.motion.through, self.reach);
        self.middle[wall] = given.shape.middle();
        self.repeat_wall(wall)?;
        self.place(time, true);
        self.cell_first.clear();
        Ok(())
    }

    /// Clears the list of near grains and the contact histories.
    pub fn forget(&mut self) {
        self.add_wear_of_list();
        self.row.clear();
        self.list.clear();
        self.history.clear();
        self.wall_contacts.clear();
    }

    /// Whether a sphere has no contact with any wall. The elements must be sorted for spheres of at least its radius.
    pub fn is_free(&self, center: Vec3, radius: f64) -> bool {
        // The search finds elements up to the sum of this radius and the skin.
        let place = [center[0], center[1], center[2], radius - self.skin];
        self.near::<false>(0, &place, &mut []) == 0
    }

    /// The wall of an element.
    pub fn wall_of(&self, element: u32) -> usize {
        self.elements[element as usize * ELEMENT + 10] as usize
    }

    /// Whether the wall of an element exists.
    pub fn is_there(&self, element: u32) -> bool {
        self.there[self.wall_of(element)]
    }

    /// Records of the poses of all walls at this time, see [`POSE`], for a next step at `next` \[s\]; without displacements of servos.
    pub fn poses(&self, time: f64, next: f64) -> impl Iterator<Item = f64> + '_ {
        self.given
            .iter()
            .zip(&self.there)
            .flat_map(move |(wall, &is_there)| pose(wall, is_there, time, next))
    }

    /// Contact history and contact record of grain i and an element, if they are listed.
    pub fn wall_contact_of(&self, i: usize, element: u32) -> Option<(&[f64], &[f64])> {
        let k = (self.row[i] as usize..self.row[i + 1] as usize).find(|&k| self.list[k] == element)?;
        let touch = &self.wall_contacts[k * WALL_CONTACT..][..WALL_CONTACT];
        (touch[7] > 0.0).then_some((&self.history[k * self.contact_histories..][..self.contact_histories], touch))
    }

    /// Distance that grains or walls may move before the list is out of date \[m\].
    pub fn slack(&self) -> f64 {
        0.5 * (self.skin - self.gap)
    }

    /// Whether any wall moves.
    pub fn has_moving(&self) -> bool {
        self.given.iter().any(|wall| is_moving(&wall.motion))
    }

    /// Upper bound of the displacement of any wall since the rebuild of the list \[m\].
    pub fn moved_since_listed(&self, time: f64) -> f64 {
        self.moved_with_servos(time, 0.0)
    }

    /// Like [`Walls::moved_since_listed`], if servos continue for `onward` \[s\] at their speed limits.
    fn moved_with_servos(&self, time: f64, onward: f64) -> f64 {
        let moving = self.given.iter().enumerate().filter(|(_, wall)| is_moving(&wall.motion));
        let moved = moving.map(|(index, Wall { motion, .. })| {
            let servo = &self.servos[index * SERVO..][..SERVO];
            let way = servo[7] - self.listed_way[index];
            let (then, now) = (WallDisplacement::at(motion, self.listed_at), WallDisplacement::at(motion, time));
            // A servo that turns the wall has no direction, and its displacement is an angle.
            let (by_turning, lever) = if servo[11] > 0.0 {
                (way.abs() * self.farthest[index], self.farthest[index])
            } else {
                (0.0, 1.0)
            };
            now.distance(&then, self.farthest[index], &vector(servo).times(way)) + by_turning + servo[5] * onward * lever
        });
        moved.fold(0.0, f64::max)
    }

    /// Number of steps, at most `most`, from step `steps` until a wall could have moved farther than `far` since the rebuild of the list.
    pub fn steps_until_moved(&self, steps: u64, dt: f64, far: f64, most: u64) -> u64 {
        if !self.has_moving() {
            return most;
        }
        let is_near = |k: &u64| self.moved_with_servos((steps + k) as f64 * dt, *k as f64 * dt) <= far;
        (0..most).take_while(is_near).count() as u64
    }

    /// Records a rebuild of the list at this time \[s\].
    pub fn record_rebuild(&mut self, time: f64) {
        self.listed_at = time;
        for (way, servo) in self.listed_way.iter_mut().zip(self.servos.chunks_exact(SERVO)) {
            *way = servo[7];
        }
    }

    /// Moves the moving walls, or `all`, to their positions at this time \[s\].
    pub fn place(&mut self, time: f64, all: bool) {
        let [mut poses, mut records, mut elements] = [&mut self.poses, &mut self.records, &mut self.elements].map(std::mem::take);
        poses.clear();
        poses.extend(self.poses(time, time));
        self.put(&poses, all, &mut records, &mut elements);
        (self.poses, self.records, self.elements) = (poses, records, elements);
    }

    /// Lists near pairs of grains, except skipped ones, and elements, sorted by grain and element; takes over known contact histories. The
    /// elements must be sorted for the largest grain.
    pub fn list(&mut self, device: &Cpu, cells: &Cells, fields: &Fields, time: f64, skips: impl Fn(usize) -> bool + Sync) {
        let contact_histories = self.contact_histories;
        let n = fields.len();
        self.add_wear_of_list();
        std::mem::swap(&mut self.row, &mut self.old_row);
        std::mem::swap(&mut self.list, &mut self.old_list);
        std::mem::swap(&mut self.history, &mut self.old_history);
        let mut row = std::mem::take(&mut self.row);
        let position = &fields.position[..];
        row.resize(n + 1, 0);
        row[n] = 0;
        device.run(
            parts(n),
            (Strided {
                items: &mut row[..n],
                per_part: PART,
            },),
            |part, (count,): (Strided<u32>,)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    count.items[i - first] = if skips(i) { 0 } else { self.near::<false>(i, position, &mut []) };
                }
            },
        );
        let entries = exclusive_scan(&mut row);
        self.row = row;
        start_parts(&self.row, &mut self.part_row);
        let mut list = std::mem::take(&mut self.list);
        resize_with_room(&mut list, entries as usize);
        device.run(
            parts(n),
            (Ranges {
                items: &mut list[..],
                bounds: &self.part_row,
                stride: 1,
            },),
            |part, (list,): (Ranges<u32>,)| {
                let (first, end) = part_range(part, n);
                let base = self.row[first];
                for i in first..end {
                    let (from, to) = ((self.row[i] - base) as usize, (self.row[i + 1] - base) as usize);
                    if from < to {
                        self.near::<true>(i, position, &mut list.items[from..to]);
                    }
                }
            },
        );
        self.list = list;
        self.history.clear();
        resize_with_room(&mut self.history, self.list.len() * contact_histories);
        self.wall_contacts.clear();
        resize_with_room(&mut self.wall_contacts, self.list.len() * WALL_CONTACT);
        if self.wears() {
            resize_with_room(&mut self.work.by_entry, self.list.len());
        }
        self.record_rebuild(time);
        if self.old_row.is_empty() {
            return;
        }
        for i in 0..n {
            let old = cells.old_of[i] as usize;
            let (old_first, old_end) = (self.old_row[old] as usize, self.old_row[old + 1] as usize);
            for k in self.row[i] as usize..self.row[i + 1] as usize {
                if let Some(q) = (old_first..old_end).find(|&q| self.old_list[q] == self.list[k]) {
                    self.history[k * contact_histories..][..contact_histories]
                        .copy_from_slice(&self.old_history[q * contact_histories..][..contact_histories]);
                }
            }
        }
        self.carry_through_sides(&cells.old_of);
        // The old list is needed only here.
        (self.old_row, self.old_list, self.old_history) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// Counts the elements near grain i; with `FILL`, also writes them to `list`.
    fn near<const FILL: bool>(&self, i: usize, position: &[f64], list: &mut [u32]) -> u32 {
        elements_near::<f64>(
            i,
            position,
            &self.elements,
            &self.planes,
            self.planes.len(),
            &self.grid,
            &self.shape,
            &self.cell_first,
            &self.cell_list,
            self.skin,
            0,
            list,
            FILL,
        )
    }

    /// Loads of these grains on each wall, from the contacts of the last step. The force of a polyhedral grain on a mesh is at one of its triangles.
    pub fn loads(&self, grains: &Fields) -> Vec<WallLoad> {
        let mut loads = vec![WallLoad::default(); self.given.len()];
        for (i, row) in self.row.windows(2).enumerate() {
            let center = load::<f64>(&grains.position, i * RECORD);
            let is_polyhedral = grains.shape.get(i).is_some_and(|&shape| shape > 0);
            for entry in row[0] as usize..row[1] as usize {
                let touch = &self.wall_contacts[entry * WALL_CONTACT..][..WALL_CONTACT];
                if touch[7] <= 0.0 {
                    continue;
                }
                let (element, point) = (self.list[entry] as usize * ELEMENT, vector(touch));
                let wall = self.wall_of(self.list[entry]);
                let normal = if is_polyhedral && self.elements[element + 9] == f64::from(TRIANGLE) {
                    normal_of_triangle(&self.elements[element..])
                } else {
                    normal_at::<f64, f64>(&self.elements, element, &point, &center, touch[3])
                };
                let velocity = velocity_of_surface::<f64, f64>(&self.records, wall * WALL, &point, &normal);
                let arm = point.minus(&vector(&self.records[wall * WALL..]));
                loads[wall].add(&vector(&touch[4..]).times(-1.0), &arm, &velocity);
            }
        }
        loads
    }

    /// Current position of a point of a wall that is given at time zero.
    fn moved(&self, wall: usize, point: &Vec3) -> Vec3 {
        let from_axis = vector(point).minus(&load(&self.at_rest, wall * WALL));
        let now = self.rotated_with(wall, &from_axis).plus(&load(&self.records, wall * WALL));
        [now.x, now.y, now.z]
    }

    /// Current direction of a direction of a wall that is given at time zero.
    fn turned(&self, wall: usize, direction: &Vec3) -> Vec3 {
        let now = self.rotated_with(wall, &vector(direction));
        [now.x, now.y, now.z]
    }

    /// A vector rotated as a wall is now.
    fn rotated_with(&self, wall: usize, vector: &Vector3<f64>) -> Vector3<f64> {
        let rotation = rotation_of_wall::<f64>(&self.poses, wall * POSE, &self.servos, wall);
        rotated(vector, &rotation.axis, rotation.cosine, rotation.sine)
    }

    /// Current triangles of a wall, and its plane if it is one; neither while it is absent.
    pub fn surface(&self, wall: usize) -> (Vec<Triangle>, Option<(Vec3, Vec3)>) {
        if !self.there[wall] {
            return (Vec::new(), None);
        }
        let shape = &self.given[wall].shape;
        let triangles = shape
            .triangles()
            .iter()
            .map(|triangle| triangle.map(|corner| self.moved(wall, &corner)))
            .collect();
        let numbers = |at: usize| [self.elements[at], self.elements[at + 1], self.elements[at + 2]];
        let first = self.first[wall] * ELEMENT;
        let plane = matches!(shape, WallShape::Plane { .. }).then(|| (numbers(first), numbers(first + 3)));
        (triangles, plane)
    }

    /// Current reference point of a wall \[m\], see [`WallShape::middle`], and its total rotation angle by all of its motions, within their frames
    /// \[rad\].
    pub fn pose_at(&self, wall: usize, time: f64) -> (Vec3, f64) {
        let angle = WallDisplacement::at(&self.given[wall].motion, time).turned;
        (
            self.moved(wall, &self.middle[wall]),
            self.turned_before[wall] + angle + self.turned_by_servo(wall),
        )
    }

    /// Current velocity of the axis of a wall \[m/s\], and its angular velocity \[rad/s\], with those by its servo.
    pub fn velocities_at(&self, wall: usize, time: f64) -> [Vec3; 2] {
        let pose = WallDisplacement::at(&self.given[wall].motion, time);
        let servo = &self.servos[wall * SERVO..][..SERVO];
        // A servo that turns its wall has a full turn, and no direction.
        let velocity = pose.velocity.plus(&vector(servo).times(servo[8]));
        let spin = if servo[11] > 0.0 { pose.axis.times(servo[8]) } else { pose.spin() };
        [array(&velocity), array(&spin)]
    }

    /// Current position of the point of a wall that was at the origin at time zero \[m\], and the rotation since then, by all of its motions.
    pub fn carried(&self, wall: usize) -> (Vec3, Quaternion<f64>) {
        let (origin, before) = &self.carried_before[wall];
        let rotation = rotation_of_wall::<f64>(&self.poses, wall * POSE, &self.servos, wall);
        let (sin, cos) = (0.5 * rotation.sine.atan2(rotation.cosine)).sin_cos();
        let Vector3 { x, y, z } = rotation.axis.times(sin);
        let since = Quaternion { w: cos, x, y, z };
        (self.moved(wall, origin), since.after(before).normalized())
    }

    /// Memory \[bytes\].
    pub fn bytes(&self) -> u64 {
        let words =
            self.row.capacity() + self.list.capacity() + self.old_row.capacity() + self.old_list.capacity() + self.cell_list.capacity();
        let numbers = self.history.capacity() + self.old_history.capacity() + self.wall_contacts.capacity() + 2 * self.elements.capacity();
        let numbers = numbers + self.work.by_element.capacity() + self.work.by_entry.capacity();
        (words * 4 + numbers * 8) as u64
    }
}
