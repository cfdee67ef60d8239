//! Walls: where their elements are now, and which grains are near them.

mod grid;
mod images;
mod motion;
mod points;
mod servo;
mod wear;

use crate::fields::{Fields, PART, part_range, parts};
use crate::refusal::Refusal;
use crate::search::{Cells, resize_with_room};
use crate::world::{Triangle, Vec3, Wall, WallMotion, WallShape};
use grid::SortRoom;
use images::Images;
use motion::is_on;
pub(crate) use motion::{Stance, axis_of_turning, fastest, is_moving};
use seixo_device::{Cpu, Ranges, Strided, exclusive_scan};
use seixo_laws::Vector3;
use seixo_laws::wall::rotated;
use seixo_sweeps::pose::{POSE, SERVO};
use seixo_sweeps::views::{ELEMENT, FRUSTUM, PLANE, SPHERE, TOUCH, TRIANGLE, WALL, load};
use seixo_sweeps::wall::elements_near;
pub(crate) use servo::{Borne, ended_ways};
use wear::SlidingWork;

/// All walls, their elements, and the list of (grain, element) that are near each other.
#[derive(Clone, Default)]
pub struct Walls {
    /// The walls as the world gives them.
    pub given: Vec<Wall>,
    /// Records of the elements now, see [`ELEMENT`].
    pub elements: Vec<f64>,
    /// Records of the walls now, see [`WALL`].
    pub records: Vec<f64>,
    /// First entry of every grain's row, and one more.
    pub row: Vec<u32>,
    /// Elements near each grain.
    pub list: Vec<u32>,
    /// What each entry remembers.
    pub history: Vec<f64>,
    /// Numbers that an entry remembers.
    pub remembered: usize,
    /// Records of touches of the last step, see [`TOUCH`].
    pub touches: Vec<f64>,
    /// First entry of every part, and one more.
    pub part_row: Vec<u32>,
    /// Time at which the list was made \[s\].
    pub listed_at: f64,
    /// Distance by which a grain and an element may be apart and still be listed \[m\].
    pub skin: f64,
    /// The part of it across which walls may hold grains; the rest is for motion \[m\].
    pub gap: f64,
    /// Whether each wall is there.
    there: Vec<bool>,
    /// Bound of the distance of grains from anything, for planes that turn \[m\].
    reach: f64,
    /// Records of the elements when their walls began to move as they do.
    pub start: Vec<f64>,
    /// Records of the walls then.
    pub at_rest: Vec<f64>,
    /// Records of the servos now, see [`SERVO`]; all zero for walls that have none.
    pub servos: Vec<f64>,
    /// Angle that each wall had turned when it began to move as it does \[rad\].
    turned_before: Vec<f64>,
    /// How far servos had gone whose motions ended, in the order in which they did \[m\].
    ended_ways: Vec<f64>,
    /// What grains of other domains press on each wall with a servo; empty in a world that is not divided.
    pub borne_elsewhere: Vec<Borne>,
    /// Poses of the walls now, see [`POSE`].
    poses: Vec<f64>,
    /// First element of each wall, and one more.
    first: Vec<usize>,
    /// Distance of each wall's farthest point from its axis \[m\].
    farthest: Vec<f64>,
    /// Middle of each wall when it began to move as it does, see [`WallShape::middle`] \[m\].
    pub middle: Vec<Vec3>,
    /// How far each servo had gone when the list was made \[m\].
    listed_way: Vec<f64>,
    /// Elements that are planes.
    pub planes: Vec<u32>,
    /// Grid of all other elements, see [`elements_near()`].
    pub grid: Vec<f64>,
    /// Shape of that grid.
    pub shape: Vec<u32>,
    /// First entry of each of its cells, and one more.
    pub cell_first: Vec<u32>,
    /// Elements of its cells.
    pub cell_list: Vec<u32>,
    /// What grains did to walls that wear.
    pub work: SlidingWork,
    images: Images,
    room: SortRoom,
    old_row: Vec<u32>,
    old_list: Vec<u32>,
    old_history: Vec<f64>,
}

fn vector(v: &[f64]) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}

/// The record of a wall's pose, see [`POSE`].
fn pose(wall: &Wall, is_there: bool, time: f64, next: f64) -> [f64; POSE] {
    let Stance {
        shift,
        velocity,
        axis,
        angle,
        rate,
        acceleration,
        angular_acceleration,
    } = Stance::at(&wall.motion, time);
    let through = vector(&wall.motion.through).plus(&shift);
    let (sin, cos) = angle.sin_cos();
    let acts = f64::from(is_there && is_on(&wall.motion, next));
    let mut record = [0.0; POSE];
    for (numbers, vector) in [(0, through), (3, axis), (8, velocity), (13, acceleration)] {
        record[numbers..numbers + 3].copy_from_slice(&[vector.x, vector.y, vector.z]);
    }
    (record[6], record[7], record[11], record[12]) = (cos, sin, rate, acts);
    record[16] = angular_acceleration;
    record
}

/// Records of the elements of a shape, of which this is the first, see [`ELEMENT`].
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

/// The record of a wall when its motion begins, see [`WALL`].
fn record_at_rest(wall: &Wall) -> [f64; WALL] {
    let surface = &wall.motion.surface;
    let mut record = [0.0; WALL];
    record[..3].copy_from_slice(&wall.motion.through);
    record[9] = f64::from(wall.material);
    record[10] = f64::from(surface.runs());
    record[12..21].copy_from_slice([surface.velocity, surface.angular_velocity, surface.through].as_flattened());
    record
}

/// Distance of a wall's farthest point from its axis \[m\]; of a plane `reach`.
fn farthest_of(wall: &Wall, reach: f64) -> f64 {
    let through = vector(&wall.motion.through);
    let away = |point: &Vec3| vector(point).minus(&through).length();
    match &wall.shape {
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
    /// Elements of the given walls; `reach` bounds the distance of grains from anything, for planes that turn \[m\].
    pub fn new(given: Vec<Wall>, reach: f64, skin: f64, gap: f64, remembered: usize) -> Walls {
        let mut walls = Walls {
            skin: skin + gap,
            gap,
            remembered,
            reach,
            there: vec![true; given.len()],
            first: vec![0],
            servos: vec![0.0; given.len() * SERVO],
            listed_way: vec![0.0; given.len()],
            turned_before: vec![0.0; given.len()],
            ..Walls::default()
        };
        for (index, wall) in given.iter().enumerate() {
            let first = walls.start.len() / ELEMENT;
            walls.start.extend(elements_of(&wall.shape, index, first));
            walls.at_rest.extend(record_at_rest(wall));
            walls.farthest.push(farthest_of(wall, reach));
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

    /// Lets a wall appear or vanish.
    pub fn set_there(&mut self, wall: usize, is_there: bool) {
        self.there[wall] = is_there;
        self.cell_first.clear();
    }

    /// Lets a wall move in another way from this time \[s\] on, from where it is; start and stop of the motion count from now.
    ///
    /// # Errors
    /// As [`Walls::repeat`].
    pub fn set_motion(&mut self, wall: usize, motion: &WallMotion, time: f64) -> Result<(), Refusal> {
        self.place(time, true);
        let shape = self.given[wall]
            .shape
            .placed(|point| self.moved(wall, point), |direction| self.turned(wall, direction));
        self.turned_before[wall] += Stance::at(&self.given[wall].motion, time).angle;
        self.end_servo(wall);
        let given = &mut self.given[wall];
        given.shape = shape;
        given.motion = motion.begun(time);
        let elements = self.first[wall] * ELEMENT..self.first[wall + 1] * ELEMENT;
        self.start[elements].copy_from_slice(&elements_of(&given.shape, wall, self.first[wall]));
        self.at_rest[wall * WALL..][..WALL].copy_from_slice(&record_at_rest(given));
        self.farthest[wall] = farthest_of(given, self.reach);
        self.middle[wall] = given.shape.middle();
        self.repeat_wall(wall)?;
        self.place(time, true);
        self.cell_first.clear();
        Ok(())
    }

    /// Forgets which grains are near walls, and what they remember.
    pub fn forget(&mut self) {
        self.book_wear_of_list();
        self.row.clear();
        self.list.clear();
        self.history.clear();
        self.touches.clear();
    }

    /// Whether a sphere touches no wall. The elements must be sorted for spheres of at least its radius.
    pub fn is_free(&self, center: Vec3, radius: f64) -> bool {
        // What is near is nearer than the radius and the skin.
        let place = [center[0], center[1], center[2], radius - self.skin];
        self.near::<false>(0, &place, &mut []) == 0
    }

    /// The wall of an element.
    pub fn wall_of(&self, element: u32) -> usize {
        self.elements[element as usize * ELEMENT + 10] as usize
    }

    /// Whether the wall of an element is there.
    pub fn is_there(&self, element: u32) -> bool {
        self.there[self.wall_of(element)]
    }

    /// Records of the poses of all walls at this time, see [`POSE`], when the next step is at `next` \[s\]; what servos add is not in them.
    pub fn poses(&self, time: f64, next: f64) -> impl Iterator<Item = f64> + '_ {
        self.given
            .iter()
            .zip(&self.there)
            .flat_map(move |(wall, &is_there)| pose(wall, is_there, time, next))
    }

    /// What grain i remembers of an element that it touches, and the record of the touch.
    pub fn touch_of(&self, i: usize, element: u32) -> Option<(&[f64], &[f64])> {
        let k = (self.row[i] as usize..self.row[i + 1] as usize).find(|&k| self.list[k] == element)?;
        let touch = &self.touches[k * TOUCH..][..TOUCH];
        (touch[7] > 0.0).then_some((&self.history[k * self.remembered..][..self.remembered], touch))
    }

    /// How far grains or walls may move before the list is stale \[m\].
    pub fn slack(&self) -> f64 {
        0.5 * (self.skin - self.gap)
    }

    /// Whether anything moves.
    pub fn has_moving(&self) -> bool {
        self.given.iter().any(|wall| is_moving(&wall.motion))
    }

    /// Upper bound of how far any wall moved since the list was made \[m\].
    pub fn moved_since_listed(&self, time: f64) -> f64 {
        self.moved_with_servos(time, 0.0)
    }

    /// As [`Walls::moved_since_listed`], when servos go on for so long at their limits \[s\] from where they are.
    fn moved_with_servos(&self, time: f64, onward: f64) -> f64 {
        let moving = self.given.iter().enumerate().filter(|(_, wall)| is_moving(&wall.motion));
        let moved = moving.map(|(index, Wall { motion, .. })| {
            let servo = &self.servos[index * SERVO..][..SERVO];
            let further = vector(servo).times(servo[7] - self.listed_way[index]);
            let (then, now) = (Stance::at(motion, self.listed_at), Stance::at(motion, time));
            now.distance(&then, self.farthest[index], &further) + servo[5] * onward
        });
        moved.fold(0.0, f64::max)
    }

    /// Steps, `most` at most, that may be taken from step `steps` on before a wall moved farther than `far` since the list was made.
    pub fn steps_until_moved(&self, steps: u64, dt: f64, far: f64, most: u64) -> u64 {
        if !self.has_moving() {
            return most;
        }
        let is_near = |k: &u64| self.moved_with_servos((steps + k) as f64 * dt, *k as f64 * dt) <= far;
        (0..most).take_while(is_near).count() as u64
    }

    /// Notes that the list is made now, at this time \[s\].
    pub fn note_listed(&mut self, time: f64) {
        self.listed_at = time;
        for (way, servo) in self.listed_way.iter_mut().zip(self.servos.chunks_exact(SERVO)) {
            *way = servo[7];
        }
    }

    /// Puts the moving walls (or `all`) where they are at this time \[s\].
    pub fn place(&mut self, time: f64, all: bool) {
        let [mut poses, mut records, mut elements] = [&mut self.poses, &mut self.records, &mut self.elements].map(std::mem::take);
        poses.clear();
        poses.extend(self.poses(time, time));
        self.put(&poses, all, &mut records, &mut elements);
        (self.poses, self.records, self.elements) = (poses, records, elements);
    }

    /// Lists all grains, but for those to be skipped, and elements nearer than the skin, by grain and element; known history is taken over. The
    /// elements must be sorted for the largest grain.
    pub fn list(&mut self, device: &Cpu, cells: &Cells, fields: &Fields, time: f64, skips: impl Fn(usize) -> bool + Sync) {
        let remembered = self.remembered;
        let n = fields.len();
        self.book_wear_of_list();
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
        self.part_row.clear();
        self.part_row
            .extend((0..parts(n)).map(|part| self.row[part * PART]).chain([entries]));
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
        resize_with_room(&mut self.history, self.list.len() * remembered);
        self.touches.clear();
        resize_with_room(&mut self.touches, self.list.len() * TOUCH);
        if self.wears() {
            resize_with_room(&mut self.work.by_entry, self.list.len());
        }
        self.note_listed(time);
        if self.old_row.is_empty() {
            return;
        }
        for i in 0..n {
            let old = cells.old_of[i] as usize;
            let (old_first, old_end) = (self.old_row[old] as usize, self.old_row[old + 1] as usize);
            for k in self.row[i] as usize..self.row[i + 1] as usize {
                if let Some(q) = (old_first..old_end).find(|&q| self.old_list[q] == self.list[k]) {
                    self.history[k * remembered..][..remembered].copy_from_slice(&self.old_history[q * remembered..][..remembered]);
                }
            }
        }
        self.carry_through_sides(&cells.old_of);
    }

    /// Counts the elements near grain i, and writes them to `list` when `FILL`.
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

    /// Force \[N\] and torque about its axis point \[N m\] of the grains on each wall, from the touches of the last step.
    pub fn loads(&self) -> Vec<([f64; 3], [f64; 3])> {
        let mut loads = vec![([0.0; 3], [0.0; 3]); self.given.len()];
        for (entry, touch) in self.touches.chunks_exact(TOUCH).enumerate() {
            let on_grain = vector(&touch[4..]);
            let wall = self.wall_of(self.list[entry]);
            let arm = vector(touch).minus(&vector(&self.records[wall * WALL..]));
            let torque = arm.cross(&on_grain);
            let (force_sum, torque_sum) = &mut loads[wall];
            for (sum, part) in force_sum.iter_mut().zip([on_grain.x, on_grain.y, on_grain.z]) {
                *sum -= part;
            }
            for (sum, part) in torque_sum.iter_mut().zip([torque.x, torque.y, torque.z]) {
                *sum -= part;
            }
        }
        loads
    }

    /// A point of a wall at time zero, where the wall is now.
    fn moved(&self, wall: usize, point: &Vec3) -> Vec3 {
        let pose = &self.poses[wall * POSE..][..POSE];
        let from_axis = vector(point).minus(&load(&self.at_rest, wall * WALL));
        let now = rotated(&from_axis, &vector(&pose[3..]), pose[6], pose[7]).plus(&load(&self.records, wall * WALL));
        [now.x, now.y, now.z]
    }

    /// A direction of a wall at time zero, as the wall is turned now.
    fn turned(&self, wall: usize, direction: &Vec3) -> Vec3 {
        let pose = &self.poses[wall * POSE..][..POSE];
        let now = rotated(&vector(direction), &vector(&pose[3..]), pose[6], pose[7]);
        [now.x, now.y, now.z]
    }

    /// Triangles that show a wall now, and its plane if it is one; neither while it is not there.
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

    /// Where the middle of a wall is now \[m\], see [`WallShape::middle`], and the angle that the wall turned by all of its motions \[rad\].
    pub fn whereabouts(&self, wall: usize, time: f64) -> (Vec3, f64) {
        let angle = Stance::at(&self.given[wall].motion, time).angle;
        (self.moved(wall, &self.middle[wall]), self.turned_before[wall] + angle)
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let words =
            self.row.capacity() + self.list.capacity() + self.old_row.capacity() + self.old_list.capacity() + self.cell_list.capacity();
        let numbers = self.history.capacity() + self.old_history.capacity() + self.touches.capacity() + 2 * self.elements.capacity();
        let numbers = numbers + self.work.by_element.capacity() + self.work.by_entry.capacity();
        (words * 4 + numbers * 8) as u64
    }
}
