//! Wear of walls: the work of sliding on every element, and what it makes of the surface.
//!
//! A step adds to the entries of the list, so no two grains write to one place; entries are added up by element, in their order, when the list
//! is made anew, and when somebody looks. What is known of an element is then a sum over lists of sums over their steps, on every device.

use super::Walls;
use crate::fields::{part_range, parts};
use crate::resume::WEAR;
use crate::simulation::Simulation;
use crate::state::{Column, State, WallWear};
use crate::world::{Frustum, Triangle, WallShape};
use seixo_device::Ranges;
use seixo_sweeps::views::ELEMENT;
use seixo_sweeps::wear::wear_of;
use std::f64::consts::PI;

/// Work of sliding \[J\]; nothing where no wall wears.
#[derive(Clone, Default)]
pub struct SlidingWork {
    /// On each element, until the list was made.
    pub by_element: Vec<f64>,
    /// Of each entry of the list, since then.
    pub by_entry: Vec<f64>,
}

impl SlidingWork {
    /// Forgets all that was done.
    pub fn forget(&mut self) {
        self.by_element.fill(0.0);
        self.by_entry.clear();
    }

    /// Takes over what a domain did to the elements, as it saved it.
    pub fn take_over(&mut self, told: &State) {
        if let Some(Column::F64(more)) = told.get(WEAR[0]) {
            self.by_element.iter_mut().zip(more).for_each(|(work, more)| *work += more);
        }
    }
}

fn area_of(triangle: &Triangle) -> f64 {
    let [a, b, c] = triangle.map(|corner| super::vector(&corner));
    0.5 * b.minus(&a).cross(&c.minus(&a)).length()
}

/// Area of a mantle or disk \[m²\].
fn area_of_frustum(frustum: &Frustum) -> f64 {
    let [near, far] = frustum.radii;
    PI * (near + far) * frustum.height.hypot(far - near)
}

/// For every element of a shape its area \[m²\], and the triangles that show it; of a plane, which has no end, neither.
fn elements_shown(shape: &WallShape) -> Vec<(f64, Vec<Triangle>)> {
    match shape {
        WallShape::Plane { .. } => vec![(f64::INFINITY, Vec::new())],
        WallShape::Mesh(triangles) => triangles.iter().map(|triangle| (area_of(triangle), vec![*triangle])).collect(),
        WallShape::Round(frusta) => {
            let shown = |frustum: &Frustum| WallShape::Round(vec![*frustum]).triangles().into_owned();
            frusta.iter().map(|frustum| (area_of_frustum(frustum), shown(frustum))).collect()
        }
        WallShape::Sphere { radius, .. } => vec![(4.0 * PI * radius * radius, shape.triangles().into_owned())],
    }
}

impl Walls {
    /// Whether any wall wears.
    pub fn wears(&self) -> bool {
        !self.work.by_element.is_empty()
    }

    /// Adds what the entries of this list have done to their elements, of which `elements` has the records; what was done to an image, its element
    /// bears.
    pub fn book_wear(work: &mut [f64], list: &[u32], elements: &[f64], by_entry: &[f64]) {
        for (&element, &more) in list.iter().zip(by_entry) {
            work[elements[element as usize * ELEMENT + 11] as usize] += more;
        }
    }

    /// Adds what the entries have done to their elements; the list is about to be made anew.
    pub fn book_wear_of_list(&mut self) {
        let mut by_entry = std::mem::take(&mut self.work.by_entry);
        Walls::book_wear(&mut self.work.by_element, &self.list, &self.elements, &by_entry);
        by_entry.clear();
        self.work.by_entry = by_entry;
    }

    /// Takes back what the entry of grain i and this element has done; if it is not listed, that goes to the element.
    pub fn give_back_wear(&mut self, i: usize, element: u32, work: f64) {
        match (self.row[i] as usize..self.row[i + 1] as usize).find(|&k| self.list[k] == element) {
            Some(k) => self.work.by_entry[k] = work,
            None => {
                let origin = self.origin_of(element);
                self.work.by_element[origin] += work;
            }
        }
    }

    /// What is worn of a wall, if it wears.
    pub fn wear(&self, wall: usize) -> Option<WallWear> {
        let rate = self.given[wall].specific_wear_rate;
        if rate == 0.0 {
            return None;
        }
        let mut work = self.work.by_element.clone();
        Walls::book_wear(&mut work, &self.list, &self.elements, &self.work.by_entry);
        let mut wear = WallWear::default();
        let elements = self.first[wall]..self.first[wall + 1];
        for (element, (area, shown)) in elements.zip(elements_shown(&self.given[wall].shape)) {
            let volume = rate * work[element];
            wear.volume += volume;
            let areas: Vec<f64> = shown.iter().map(area_of).collect();
            let whole: f64 = areas.iter().sum();
            wear.volumes.extend(areas.iter().map(|part| volume * part / whole));
            wear.depths.extend(areas.iter().map(|_| volume / area));
        }
        Some(wear)
    }
}

impl Simulation {
    /// Forces between grains and walls in a step, and the wear that comes of them.
    pub(crate) fn bear_on_walls(&mut self) {
        self.touch_walls();
        if self.walls.wears() && !self.walls.list.is_empty() {
            self.wear_walls();
        }
    }

    fn wear_walls(&mut self) {
        let n = self.fields.len();
        let (position, velocity, spin) = (&self.fields.position[..], &self.fields.velocity[..], &self.fields.spin[..]);
        let (dt, frictional) = (self.stepping.dt, self.frictional);
        let Walls {
            elements,
            records,
            row,
            list,
            touches,
            part_row,
            work,
            ..
        } = &mut self.walls;
        let (elements, records, row, list) = (&elements[..], &records[..], &row[..], &list[..]);
        let data = (
            Ranges {
                items: &mut touches[..],
                bounds: &part_row[..],
                stride: seixo_sweeps::views::TOUCH,
            },
            Ranges {
                items: &mut work.by_entry[..],
                bounds: &part_row[..],
                stride: 1,
            },
        );
        self.device
            .run(parts(n), data, |part, (touches, work): (Ranges<f64>, Ranges<f64>)| {
                let (first, end) = part_range(part, n);
                for i in first..end {
                    wear_of::<f64, f64>(
                        i,
                        row[i] as usize,
                        row[i + 1] as usize,
                        list,
                        row[first] as usize,
                        elements,
                        records,
                        touches.items,
                        work.items,
                        position,
                        velocity,
                        spin,
                        dt,
                        frictional,
                    );
                }
            });
    }
}
