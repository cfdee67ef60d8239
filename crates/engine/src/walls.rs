//! Walls: where their elements are now, and which grains are near them.

use crate::fields::{Fields, PART, parts};
use crate::search::{Cells, resize_with_room};
use crate::world::{Triangle, Vec3, Wall, WallMotion, WallShape};
use seixo_device::exclusive_scan;
use seixo_laws::Vector3;
use seixo_laws::wall::nearest_on_triangle;
use seixo_sweeps::cells::{GRID, SHAPE, cell_index, cell_number};
use seixo_sweeps::views::{ELEMENT, RECORD, TOUCH, WALL};

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
    /// Elements at time zero.
    start: Vec<f64>,
    /// First element of each wall, and one more.
    first: Vec<usize>,
    /// Fastest that a point of each wall can move apart from what its speed tells: |ω| times the distance to the axis \[m/s\].
    speed: Vec<f64>,
    old_row: Vec<u32>,
    old_list: Vec<u32>,
    old_history: Vec<f64>,
    found: Vec<(u32, u32)>,
}

fn vector(v: &[f64]) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}

/// Rodrigues' rotation by the vector `angle` (axis times angle \[rad\]).
fn rotated(v: Vector3<f64>, angle: &Vector3<f64>) -> Vector3<f64> {
    let theta = angle.length();
    if theta == 0.0 {
        return v;
    }
    let axis = angle.times(1.0 / theta);
    let (sin, cos) = theta.sin_cos();
    v.times(cos)
        .plus(&axis.cross(&v).times(sin))
        .plus(&axis.times(axis.dot(&v) * (1.0 - cos)))
}

impl Walls {
    /// Elements of the given walls; `reach` bounds the distance of grains from anything, for planes that turn \[m\].
    pub fn new(given: Vec<Wall>, reach: f64) -> Walls {
        let mut walls = Walls {
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
            let mut farthest = 0.0f64;
            match &wall.shape {
                WallShape::Plane { point, normal } => {
                    push([*point, *normal, [0.0; 3]], 1.0);
                    farthest = reach;
                }
                WallShape::Mesh(triangles) => {
                    for triangle in triangles {
                        push(*triangle, 0.0);
                        for corner in triangle {
                            farthest = farthest.max(vector(corner).minus(&vector(&wall.motion.through)).length());
                        }
                    }
                }
            }
            let WallMotion {
                velocity,
                angular_velocity,
                ..
            } = &wall.motion;
            walls
                .speed
                .push(vector(velocity).length() + vector(angular_velocity).length() * farthest);
            walls.first.push(walls.start.len() / ELEMENT);
        }
        walls.elements = walls.start.clone();
        walls.records = vec![0.0; given.len() * WALL];
        walls.given = given;
        walls.place(0.0, true);
        walls
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

    /// Puts the moving walls (or `all`) where they are at this time \[s\].
    pub fn place(&mut self, time: f64, all: bool) {
        for (index, wall) in self.given.iter().enumerate() {
            if self.speed[index] == 0.0 && !all {
                continue;
            }
            let velocity = vector(&wall.motion.velocity);
            let spin = vector(&wall.motion.angular_velocity);
            let start = vector(&wall.motion.through);
            let through = start.plus(&velocity.times(time));
            let angle = spin.times(time);
            let record = &mut self.records[index * WALL..][..WALL];
            for (slot, v) in [&through, &velocity, &spin].into_iter().enumerate() {
                record[slot * 3..slot * 3 + 3].copy_from_slice(&[v.x, v.y, v.z]);
            }
            record[9] = f64::from(wall.material);
            let is_plane = matches!(wall.shape, WallShape::Plane { .. });
            for element in self.first[index]..self.first[index + 1] {
                for corner in 0..3 {
                    let at = element * ELEMENT + corner * 3;
                    let v = vector(&self.start[at..]);
                    let now = match (is_plane, corner) {
                        (true, 1) => rotated(v, &angle),
                        (true, 2) => v,
                        _ => rotated(v.minus(&start), &angle).plus(&through),
                    };
                    self.elements[at..at + 3].copy_from_slice(&[now.x, now.y, now.z]);
                }
            }
        }
    }

    /// Lists all grains and elements nearer than the skin, by grain and element; known history is taken over.
    pub fn list(&mut self, cells: &Cells, fields: &Fields, time: f64) {
        let n = fields.len();
        std::mem::swap(&mut self.row, &mut self.old_row);
        std::mem::swap(&mut self.list, &mut self.old_list);
        std::mem::swap(&mut self.history, &mut self.old_history);
        self.find(cells, fields);
        self.row.clear();
        self.row.resize(n + 1, 0);
        for &(grain, _) in &self.found {
            self.row[grain as usize] += 1;
        }
        exclusive_scan(&mut self.row);
        resize_with_room(&mut self.list, self.found.len());
        for &(grain, element) in &self.found {
            let slot = &mut self.row[grain as usize];
            self.list[*slot as usize] = element;
            *slot += 1;
        }
        self.row.copy_within(..n, 1);
        self.row[0] = 0;
        self.part_row.clear();
        self.part_row
            .extend((0..parts(n)).map(|part| self.row[part * PART]).chain([self.found.len() as u32]));
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

    /// All (grain, element) nearer than the skin, by element.
    fn find(&mut self, cells: &Cells, fields: &Fields) {
        self.found.clear();
        for element in 0..self.elements.len() / ELEMENT {
            let record = &self.elements[element * ELEMENT..][..ELEMENT];
            let (a, b, c) = (vector(record), vector(&record[3..]), vector(&record[6..]));
            if record[9] > 0.0 {
                for (i, grain) in fields.position.chunks_exact(RECORD).enumerate() {
                    if vector(grain).minus(&a).dot(&b) < grain[3] + cells.skin {
                        self.found.push((i as u32, element as u32));
                    }
                }
                continue;
            }
            let normal = b.minus(&a).cross(&c.minus(&a));
            let area = normal.length();
            let (low, high) = corners(&a, &b, &c);
            for g in 0..cells.grids() {
                let grid = &cells.grids[g * GRID..][..GRID];
                let shape = &cells.shapes[g * SHAPE..][..SHAPE];
                let reach = grid[4] + cells.skin;
                let range = [0, 1, 2].map(|axis| {
                    let index = |x: f64| cell_index::<f64>(x, grid[axis], grid[3], shape[axis]);
                    (index(low[axis] - reach), index(high[axis] + reach))
                });
                // Grains outside the grid's box do not exist, so a triangle far from it meets only cells of the border.
                let edge = 1.0 / grid[3];
                let diagonal = 0.5 * edge * 3.0f64.sqrt();
                for z in range[2].0..=range[2].1 {
                    for y in range[1].0..=range[1].1 {
                        for x in range[0].0..=range[0].1 {
                            let cell = cell_number(&cells.shapes, g, x, y, z) as usize;
                            if cells.first[cell] == cells.first[cell + 1] {
                                continue;
                            }
                            let center = Vector3 {
                                x: grid[0] + (f64::from(x) + 0.5) * edge,
                                y: grid[1] + (f64::from(y) + 0.5) * edge,
                                z: grid[2] + (f64::from(z) + 0.5) * edge,
                            };
                            if center.minus(&a).dot(&normal).abs() > (diagonal + reach) * area {
                                continue;
                            }
                            for i in cells.first[cell]..cells.first[cell + 1] {
                                let grain = &fields.position[i as usize * RECORD..][..RECORD];
                                let p = vector(grain);
                                if p.minus(&nearest_on_triangle::<f64>(&p, &a, &b, &c)).length() < grain[3] + cells.skin {
                                    self.found.push((i, element as u32));
                                }
                            }
                        }
                    }
                }
            }
        }
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

    /// Triangles of a wall now, and its plane if it is one.
    pub fn surface(&self, wall: usize) -> (Vec<Triangle>, Option<(Vec3, Vec3)>) {
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
            self.row.capacity() + self.list.capacity() + self.old_row.capacity() + self.old_list.capacity() + 2 * self.found.capacity();
        let numbers = self.history.capacity() + self.old_history.capacity() + self.touches.capacity() + 2 * self.elements.capacity();
        (words * 4 + numbers * 8) as u64
    }
}

/// Lower and upper corner of the box around a triangle.
fn corners(a: &Vector3<f64>, b: &Vector3<f64>, c: &Vector3<f64>) -> ([f64; 3], [f64; 3]) {
    let low = [a.x.min(b.x).min(c.x), a.y.min(b.y).min(c.y), a.z.min(b.z).min(c.z)];
    let high = [a.x.max(b.x).max(c.x), a.y.max(b.y).max(c.y), a.z.max(b.z).max(c.z)];
    (low, high)
}
