//! Grid of wall elements, sorted by the cells of grains that may be near.

use super::{Walls, vector};
use seixo_device::stable_order_by_key;
use seixo_laws::Vector3;
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::cells::{cell_index, cell_number};
use seixo_sweeps::layout::{ELEMENT, FRUSTUM, PLANE, SPHERE};
use seixo_sweeps::wall::nearest_on_element;

/// Buffers for sorting the elements; they are kept, so that moving walls do not allocate.
#[derive(Clone, Default)]
pub(super) struct WallSortBuffers {
    key: Vec<u32>,
    element: Vec<u32>,
    order: Vec<u32>,
    sorted: Sorted,
}

/// What a sort of moving walls depends on. Walls that turn about their own axis often have the same elements as before.
#[derive(Clone, Default)]
struct Sorted {
    elements: Vec<f64>,
    there: Vec<bool>,
    /// Radius of the largest grain, and skin \[m\].
    sizes: [f64; 2],
}

impl Sorted {
    fn is_of(&self, walls: &Walls, largest: f64) -> bool {
        self.sizes == [largest, walls.skin] && self.there == walls.there && self.elements == walls.elements
    }
}

fn is_kind(record: &[f64], kind: f32) -> bool {
    record[9] == f64::from(kind)
}

/// Bounding box of an element that is not a plane.
pub(super) fn bounds_of(record: &[f64]) -> Bounds {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let mut hold = |center: &[f64], half: [f64; 3]| {
        for axis in 0..3 {
            low[axis] = low[axis].min(center[axis] - half[axis]);
            high[axis] = high[axis].max(center[axis] + half[axis]);
        }
    };
    if is_kind(record, FRUSTUM) {
        let axis = &record[3..6];
        // Extent of a circle about the axis: along each coordinate it depends on the angle to the axis.
        let wide = |radius: f64| [0, 1, 2].map(|k| radius * (1.0 - axis[k] * axis[k]).max(0.0).sqrt());
        let end = [0, 1, 2].map(|k| record[k] + record[6] * axis[k]);
        hold(&record[..3], wide(record[7]));
        hold(&end, wide(record[8]));
    } else if is_kind(record, SPHERE) {
        hold(&record[..3], [record[6]; 3]);
    } else {
        record[..9].chunks_exact(3).for_each(|corner| hold(corner, [0.0; 3]));
    }
    Bounds { low, high }
}

impl Walls {
    /// Sorts the elements, except planes, into the cells of their own grid: into each cell from which they can be near a grain of radius up
    /// to `largest`. While nothing moves, this is done once.
    pub fn sort(&mut self, largest: f64) {
        if !self.cell_first.is_empty() && (!self.has_moving() || self.room.sorted.is_of(self, largest)) {
            return;
        }
        let reach = largest + self.skin;
        self.planes.clear();
        let mut whole = Bounds::NOTHING;
        let there = &self.there;
        let is_there = |record: &[f64]| there[record[10] as usize];
        for (index, record) in self
            .elements
            .chunks_exact(ELEMENT)
            .enumerate()
            .filter(|(_, record)| is_there(record))
        {
            if is_kind(record, PLANE) {
                self.planes.push(index as u32);
                continue;
            }
            whole = whole.with(&bounds_of(record).widened(reach));
        }
        let Bounds { low, high } = whole;
        // Absent walls count, too: the grid is only coarser than necessary.
        let bounded = self.elements.len() / ELEMENT - self.planes.len();
        let mut edge = 2.0 * reach;
        let cells_at_most = (4 * bounded + 4096) as f64;
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
        let WallSortBuffers { key, element, order, .. } = &mut self.room;
        key.clear();
        element.clear();
        // Distance of the farthest points of a cell from its center.
        let diagonal = 0.5 * edge * 3.0f64.sqrt();
        let records = self.elements.chunks_exact(ELEMENT).enumerate();
        for (index, record) in records.filter(|(_, record)| is_there(record) && !is_kind(record, PLANE)) {
            let bounds = bounds_of(record).widened(reach);
            let range = [0, 1, 2].map(|axis| {
                let index = |x: f64| cell_index::<f64>(x, low[axis], 1.0 / edge, shape[axis]);
                (index(bounds.low[axis]), index(bounds.high[axis]))
            });
            for z in range[2].0..=range[2].1 {
                for y in range[1].0..=range[1].1 {
                    for x in range[0].0..=range[0].1 {
                        let middle = [x, y, z].map(|index| (f64::from(index) + 0.5) * edge);
                        let center: Vector3<f64> = vector(&low).plus(&vector(&middle));
                        let nearest = nearest_on_element::<f64>(&center, record, 0);
                        if center.minus(&nearest).length() <= diagonal + reach {
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
        if self.has_moving() {
            let Sorted { elements, there, sizes } = &mut self.room.sorted;
            elements.clone_from(&self.elements);
            there.clone_from(&self.there);
            *sizes = [largest, self.skin];
        } else {
            self.room.sorted = Sorted::default();
        }
    }

    /// Whether an element may be near a sphere inside this box. The elements must be sorted for spheres of at least its radius.
    pub fn may_come_near(&self, bounds: &Bounds) -> bool {
        let record = |e: u32| &self.elements[e as usize * ELEMENT..][..ELEMENT];
        let is_near_plane = |&e: &u32| {
            let plane = record(e);
            // Distance of the corner that is farthest behind the plane.
            let distance: f64 = (0..3)
                .map(|k| {
                    let corner = if plane[3 + k] > 0.0 { bounds.low[k] } else { bounds.high[k] };
                    (corner - plane[k]) * plane[3 + k]
                })
                .sum();
            distance < self.skin
        };
        if self.planes.iter().any(is_near_plane) {
            return true;
        }
        let (low, high) = (
            [self.grid[0], self.grid[1], self.grid[2]],
            [self.grid[5], self.grid[6], self.grid[7]],
        );
        if !bounds.overlaps(&Bounds { low, high }) {
            return false;
        }
        let range = [0, 1, 2].map(|axis| {
            let index = |x: f64| cell_index::<f64>(x, low[axis], self.grid[3], self.shape[axis]);
            index(bounds.low[axis])..index(bounds.high[axis]) + 1
        });
        let wide = bounds.widened(self.skin);
        let is_near = |&e: &u32| wide.overlaps(&bounds_of(record(e)));
        let [along_x, along_y, mut along_z] = range;
        along_z.any(|z| {
            along_y.clone().any(|y| {
                along_x.clone().any(|x| {
                    let cell = cell_number(&self.shape, 0, x, y, z, false) as usize;
                    let listed = self.cell_first[cell] as usize..self.cell_first[cell + 1] as usize;
                    self.cell_list[listed].iter().any(is_near)
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Frustum, Wall, WallMotion, WallShape};

    #[test]
    fn moving_walls_are_sorted_again_only_when_they_are_elsewhere() {
        let drum = Frustum {
            base: [0.0; 3],
            axis: [0.0, 1.0, 0.0],
            height: 0.4,
            radii: [0.2; 2],
        };
        let wall = Wall {
            name: "drum".to_owned(),
            material: 0,
            shape: WallShape::Round(vec![drum]),
            motion: WallMotion {
                velocity: [0.1, 0.0, 0.0],
                ..WallMotion::default()
            },
            specific_wear_rate: 0.0,
        };
        let walls_at = |time: f64| {
            let mut walls = Walls::new(vec![wall.clone()], 1.0, 1e-3, 0.0, 0);
            walls.place(time, false);
            walls.sort(5e-3);
            walls
        };
        let mut walls = walls_at(0.0);
        assert!(!walls.cell_list.is_empty());
        walls.cell_list.clear();
        walls.sort(5e-3);
        assert!(walls.cell_list.is_empty());
        walls.place(1.0, false);
        walls.sort(5e-3);
        let moved = walls_at(1.0);
        assert!(!walls.cell_list.is_empty());
        assert_eq!(
            (&walls.grid, &walls.cell_first, &walls.cell_list),
            (&moved.grid, &moved.cell_first, &moved.cell_list)
        );
        walls.cell_list.clear();
        // Larger grains need another grid.
        walls.sort(6e-3);
        assert!(!walls.cell_list.is_empty());
    }
}
