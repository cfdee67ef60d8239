//! Walls: where their elements are now, and which grains are near them.

use crate::fields::{Fields, PART, part_range, parts};
use crate::search::{Cells, resize_with_room};
use crate::world::{Triangle, Vec3, Wall, WallMotion, WallShape};
use seixo_device::{Cpu, Ranges, Strided, exclusive_scan, stable_order_by_key};
use seixo_laws::Vector3;
use seixo_laws::wall::rotated;
use seixo_sweeps::cells::{cell_index, cell_number};
use seixo_sweeps::kernels::step::POSE;
use seixo_sweeps::views::{ELEMENT, RECORD, TOUCH, WALL};
use seixo_sweeps::wall::elements_near;

/// All walls, their elements, and the list of (grain, element) that are near each other.
#[derive(Default)]
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
    /// Records of history.
    pub history: Vec<f64>,
    /// Records of touches of the last step, see [`TOUCH`].
    pub touches: Vec<f64>,
    /// First entry of every part, and one more.
    pub part_row: Vec<u32>,
    /// Time at which the list was made \[s\].
    pub listed_at: f64,
    /// Distance by which a grain and an element may be apart and still be listed \[m\].
    pub skin: f64,
    /// Whether each wall is there.
    there: Vec<bool>,
    /// Time since which each wall moves as it does \[s\].
    since: Vec<f64>,
    /// Bound of the distance of grains from anything, for planes that turn \[m\].
    reach: f64,
    /// Elements when their walls began to move as they do.
    start: Vec<f64>,
    /// First element of each wall, and one more.
    first: Vec<usize>,
    /// Fastest that a point of each wall can move apart from what its speed tells: |ω| times the distance to the axis \[m/s\].
    speed: Vec<f64>,
    /// Elements that are planes.
    pub planes: Vec<u32>,
    /// Grid of the triangles, see [`elements_near()`].
    pub grid: Vec<f64>,
    /// Shape of that grid.
    pub shape: Vec<u32>,
    /// First entry of each of its cells, and one more.
    pub cell_first: Vec<u32>,
    /// Elements of its cells.
    pub cell_list: Vec<u32>,
    room: SortRoom,
    old_row: Vec<u32>,
    old_list: Vec<u32>,
    old_history: Vec<f64>,
}

/// Triangles by the cells they are found from, before they are sorted; kept, so that moving walls do not allocate.
#[derive(Default)]
struct SortRoom {
    key: Vec<u32>,
    element: Vec<u32>,
    order: Vec<u32>,
}

fn vector(v: &[f64]) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}

/// Where a wall is: its axis, and how far it has turned about it.
struct Pose {
    through: Vector3<f64>,
    axis: Vector3<f64>,
    cos: f64,
    sin: f64,
}

impl Pose {
    /// The pose at this time \[s\] of a wall that moves like this.
    fn at(motion: &WallMotion, time: f64) -> Pose {
        let spin = vector(&motion.angular_velocity);
        let speed = spin.length();
        let (sin, cos) = (speed * time).sin_cos();
        Pose {
            through: vector(&motion.through).plus(&vector(&motion.velocity).times(time)),
            axis: if speed > 0.0 { spin.times(1.0 / speed) } else { spin },
            cos,
            sin,
        }
    }
}

impl Walls {
    /// Elements of the given walls; `reach` bounds the distance of grains from anything, for planes that turn \[m\].
    pub fn new(given: Vec<Wall>, reach: f64, skin: f64) -> Walls {
        let mut walls = Walls {
            skin,
            reach,
            there: vec![true; given.len()],
            since: vec![0.0; given.len()],
            first: vec![0],
            ..Walls::default()
        };
        for (index, wall) in given.iter().enumerate() {
            let mut push = |corners: [Vec3; 3], kind: f64| {
                for corner in corners {
                    walls.start.extend(corner);
                }
                walls.start.extend([kind, index as f64, 0.0]);
            };
            match &wall.shape {
                WallShape::Plane { point, normal } => push([*point, *normal, [0.0; 3]], 1.0),
                WallShape::Mesh(triangles) => triangles.iter().for_each(|triangle| push(*triangle, 0.0)),
            }
            walls.first.push(walls.start.len() / ELEMENT);
            walls.speed.push(walls.fastest(index, wall));
        }
        walls.elements = walls.start.clone();
        walls.records = vec![0.0; given.len() * WALL];
        walls.given = given;
        walls.place(0.0, true);
        walls
    }

    /// The largest speed of any point of a wall that moves from where its elements start \[m/s\].
    fn fastest(&self, index: usize, wall: &Wall) -> f64 {
        let WallMotion {
            velocity,
            angular_velocity,
            through,
        } = &wall.motion;
        let farthest = match wall.shape {
            WallShape::Plane { .. } => self.reach,
            WallShape::Mesh(_) => self.start[self.first[index] * ELEMENT..self.first[index + 1] * ELEMENT]
                .chunks_exact(ELEMENT)
                .flat_map(|record| record[..9].chunks_exact(3))
                .fold(0.0f64, |most, corner| most.max(vector(corner).minus(&vector(through)).length())),
        };
        vector(velocity).length() + vector(angular_velocity).length() * farthest
    }

    /// Lets a wall appear or vanish.
    pub fn set_there(&mut self, wall: usize, is_there: bool) {
        self.there[wall] = is_there;
        self.cell_first.clear();
    }

    /// Lets a wall move in another way from this time \[s\] on, at which its elements are where they are.
    pub fn set_motion(&mut self, wall: usize, motion: WallMotion, time: f64) {
        let elements = self.first[wall] * ELEMENT..self.first[wall + 1] * ELEMENT;
        self.start[elements.clone()].copy_from_slice(&self.elements[elements]);
        self.given[wall].motion = motion;
        self.since[wall] = time;
        self.speed[wall] = self.fastest(wall, &self.given[wall]);
        self.place(time, true);
        self.cell_first.clear();
    }

    /// Forgets which grains are near walls, and what they remember.
    pub fn forget(&mut self) {
        self.row.clear();
        self.list.clear();
        self.history.clear();
        self.touches.clear();
    }

    /// Whether a sphere touches no wall. The triangles must be sorted for spheres of at least its radius.
    pub fn is_free(&self, center: Vec3, radius: f64) -> bool {
        // What is near is nearer than the radius and the skin.
        let place = [center[0], center[1], center[2], radius - self.skin];
        self.near::<false>(0, &place, &mut []) == 0
    }

    /// Whether the wall of an element is there.
    pub fn is_there(&self, element: u32) -> bool {
        self.there[self.elements[element as usize * ELEMENT + 10] as usize]
    }

    /// Elements when their walls began to move as they do, and the points of the walls' axes.
    pub fn start(&self) -> (Vec<f64>, Vec<f64>) {
        (self.start.clone(), self.given.iter().flat_map(|wall| wall.motion.through).collect())
    }

    /// Records of the poses of all walls at this time, see [`POSE`].
    pub fn poses(&self, time: f64) -> impl Iterator<Item = f64> + '_ {
        self.given.iter().zip(&self.since).flat_map(move |(wall, since)| {
            let Pose { through, axis, cos, sin } = Pose::at(&wall.motion, time - since);
            let is_plane = f64::from(matches!(wall.shape, WallShape::Plane { .. }));
            [
                through.x, through.y, through.z, axis.x, axis.y, axis.z, cos, sin, is_plane, 0.0, 0.0, 0.0,
            ] as [f64; POSE]
        })
    }

    /// What grain i remembers of an element that it touches, and the record of the touch.
    pub fn touch_of(&self, i: usize, element: u32) -> Option<(&[f64], &[f64])> {
        let k = (self.row[i] as usize..self.row[i + 1] as usize).find(|&k| self.list[k] == element)?;
        let touch = &self.touches[k * TOUCH..][..TOUCH];
        (touch[7] > 0.0).then_some((&self.history[k * RECORD..][..RECORD], touch))
    }

    /// Whether anything moves.
    pub fn has_moving(&self) -> bool {
        self.speed.iter().any(|&speed| speed > 0.0)
    }

    /// Upper bound of how far any wall moved since the list was made \[m\].
    pub fn moved_since_listed(&self, time: f64) -> f64 {
        self.speed
            .iter()
            .fold(0.0, |most: f64, &speed| most.max(speed * (time - self.listed_at).abs()))
    }

    /// Steps that may be taken from step `steps` on before a wall moved farther than `far` since the list was made.
    pub fn steps_until_moved(&self, steps: u64, dt: f64, far: f64) -> u64 {
        if !self.has_moving() {
            return u64::MAX;
        }
        let moved = |steps: u64| self.moved_since_listed(steps as f64 * dt) > far;
        let fastest = self.speed.iter().fold(0.0, |most: f64, &speed| most.max(speed));
        // The quotient may be off by rounding; the answer is what the comparison says.
        let mut count = (((self.listed_at + far / fastest) / dt) as u64).saturating_sub(steps + 1);
        while count > 0 && moved(steps + count - 1) {
            count -= 1;
        }
        while !moved(steps + count) && count < 1 << 40 {
            count += 1;
        }
        count
    }

    /// Puts the moving walls (or `all`) where they are at this time \[s\].
    pub fn place(&mut self, time: f64, all: bool) {
        for (index, wall) in self.given.iter().enumerate() {
            if self.speed[index] == 0.0 && !all {
                continue;
            }
            let pose = Pose::at(&wall.motion, time - self.since[index]);
            let start = vector(&wall.motion.through);
            let record = &mut self.records[index * WALL..][..WALL];
            record[..3].copy_from_slice(&[pose.through.x, pose.through.y, pose.through.z]);
            record[3..6].copy_from_slice(&wall.motion.velocity);
            record[6..9].copy_from_slice(&wall.motion.angular_velocity);
            record[9] = f64::from(wall.material);
            let is_plane = matches!(wall.shape, WallShape::Plane { .. });
            for element in self.first[index]..self.first[index + 1] {
                for corner in 0..3 {
                    let at = element * ELEMENT + corner * 3;
                    let v = vector(&self.start[at..]);
                    let now = match (is_plane, corner) {
                        (true, 1) => rotated(&v, &pose.axis, pose.cos, pose.sin),
                        _ => rotated(&v.minus(&start), &pose.axis, pose.cos, pose.sin).plus(&pose.through),
                    };
                    self.elements[at..at + 3].copy_from_slice(&[now.x, now.y, now.z]);
                }
            }
        }
    }

    /// Lists all grains and elements nearer than the skin, by grain and element; known history is taken over.
    pub fn list(&mut self, device: &Cpu, cells: &Cells, fields: &Fields, time: f64) {
        let n = fields.len();
        std::mem::swap(&mut self.row, &mut self.old_row);
        std::mem::swap(&mut self.list, &mut self.old_list);
        std::mem::swap(&mut self.history, &mut self.old_history);
        self.sort(cells.largest_radius());
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
                    count.items[i - first] = self.near::<false>(i, position, &mut []);
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
                    self.near::<true>(i, position, &mut list.items[from..to]);
                }
            },
        );
        self.list = list;
        self.history.clear();
        resize_with_room(&mut self.history, self.list.len() * RECORD);
        self.touches.clear();
        resize_with_room(&mut self.touches, self.list.len() * TOUCH);
        self.listed_at = time;
        if self.old_row.is_empty() {
            return;
        }
        for i in 0..n {
            let old = cells.old_of[i] as usize;
            let (old_first, old_end) = (self.old_row[old] as usize, self.old_row[old + 1] as usize);
            for k in self.row[i] as usize..self.row[i + 1] as usize {
                if let Some(q) = (old_first..old_end).find(|&q| self.old_list[q] == self.list[k]) {
                    self.history[k * RECORD..][..RECORD].copy_from_slice(&self.old_history[q * RECORD..][..RECORD]);
                }
            }
        }
    }

    /// Sorts the triangles into the cells of a grid of their own: into every cell from which they can be near a grain of radius up to
    /// `largest`. Done once while nothing moves.
    pub fn sort(&mut self, largest: f64) {
        if !self.cell_first.is_empty() && !self.has_moving() {
            return;
        }
        let reach = largest + self.skin;
        let is_plane = |record: &[f64]| record[9] > 0.0;
        self.planes.clear();
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        let there = &self.there;
        let is_there = |record: &[f64]| there[record[10] as usize];
        for (index, record) in self
            .elements
            .chunks_exact(ELEMENT)
            .enumerate()
            .filter(|(_, record)| is_there(record))
        {
            if is_plane(record) {
                self.planes.push(index as u32);
                continue;
            }
            for (k, x) in record[..9].iter().enumerate() {
                low[k % 3] = low[k % 3].min(x - reach);
                high[k % 3] = high[k % 3].max(x + reach);
            }
        }
        // Walls that are not there count, too: the grid is only ever coarser than this allows.
        let triangles = self.elements.len() / ELEMENT - self.planes.len();
        let mut edge = 2.0 * reach;
        let cells_at_most = (4 * triangles + 4096) as f64;
        let shape = loop {
            let shape = [0, 1, 2].map(|axis| ((high[axis] - low[axis]) / edge).floor().max(0.0) + 1.0);
            if shape.iter().product::<f64>() <= cells_at_most {
                break shape.map(|cells| cells as u32);
            }
            edge *= 1.26;
        };
        let blocks = shape.map(|cells| cells.div_ceil(8));
        self.grid.clear();
        self.grid
            .extend([low[0], low[1], low[2], 1.0 / edge, largest, high[0], high[1], high[2]]);
        self.shape.clear();
        self.shape.extend([shape[0], shape[1], shape[2], blocks[0], blocks[1], 0, 0, 0]);
        let SortRoom { key, element, order } = &mut self.room;
        key.clear();
        element.clear();
        let diagonal = 0.5 * edge * 3.0f64.sqrt();
        for (index, record) in self
            .elements
            .chunks_exact(ELEMENT)
            .enumerate()
            .filter(|(_, record)| is_there(record) && !is_plane(record))
        {
            let (a, b, c) = (vector(record), vector(&record[3..]), vector(&record[6..]));
            let normal = b.minus(&a).cross(&c.minus(&a));
            let area = normal.length();
            let corner = |axis: usize| [record[axis], record[axis + 3], record[axis + 6]];
            let range = [0, 1, 2].map(|axis| {
                let index = |x: f64| cell_index::<f64>(x, low[axis], 1.0 / edge, shape[axis]);
                let [first, second, third] = corner(axis);
                (
                    index(first.min(second).min(third) - reach),
                    index(first.max(second).max(third) + reach),
                )
            });
            for z in range[2].0..=range[2].1 {
                for y in range[1].0..=range[1].1 {
                    for x in range[0].0..=range[0].1 {
                        let center = Vector3 {
                            x: low[0] + (f64::from(x) + 0.5) * edge,
                            y: low[1] + (f64::from(y) + 0.5) * edge,
                            z: low[2] + (f64::from(z) + 0.5) * edge,
                        };
                        if center.minus(&a).dot(&normal).abs() <= (diagonal + reach) * area {
                            key.push(cell_number(&self.shape, 0, x, y, z, false));
                            element.push(index as u32);
                        }
                    }
                }
            }
        }
        let cells = blocks.iter().product::<u32>() as usize * 512;
        stable_order_by_key(key, cells, order, &mut self.cell_first);
        self.cell_list.clear();
        self.cell_list.extend(order.iter().map(|&k| element[k as usize]));
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
            let wall = self.elements[self.list[entry] as usize * ELEMENT + 10] as usize;
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

    /// Triangles of a wall now, and its plane if it is one; neither while it is not there.
    pub fn surface(&self, wall: usize) -> (Vec<Triangle>, Option<(Vec3, Vec3)>) {
        if !self.there[wall] {
            return (Vec::new(), None);
        }
        let corner = |at: usize| [self.elements[at], self.elements[at + 1], self.elements[at + 2]];
        let elements = self.first[wall]..self.first[wall + 1];
        match self.given[wall].shape {
            WallShape::Plane { .. } => {
                let at = elements.start * ELEMENT;
                (Vec::new(), Some((corner(at), corner(at + 3))))
            }
            WallShape::Mesh(_) => (elements.map(|e| [0, 3, 6].map(|k| corner(e * ELEMENT + k))).collect(), None),
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let words =
            self.row.capacity() + self.list.capacity() + self.old_row.capacity() + self.old_list.capacity() + self.cell_list.capacity();
        let numbers = self.history.capacity() + self.old_history.capacity() + self.touches.capacity() + 2 * self.elements.capacity();
        (words * 4 + numbers * 8) as u64
    }
}
