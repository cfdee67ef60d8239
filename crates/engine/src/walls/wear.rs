//! Wear of walls: sliding work on each element, and the wear that it causes.
//!
//! A step adds work to the entries of the list, so no two grains write to the same address. Entries are summed by element, in their order, when the
//! list is rebuilt and at each observation. So the work on an element is a sum over lists of sums over their steps, on every device.

use super::Walls;
use crate::checkpoint::WEAR;
use crate::state::{Column, State, WallWear};
use crate::world::{Frustum, Triangle, WallShape};
use seixo_sweeps::layout::ELEMENT;
use std::f64::consts::PI;

/// Sliding work \[J\]; empty if no wall wears.
#[derive(Clone, Default)]
pub struct SlidingWork {
    /// Work on each element until the rebuild of the list.
    pub by_element: Vec<f64>,
    /// Work of each entry of the list since then.
    pub by_entry: Vec<f64>,
}

impl SlidingWork {
    /// Resets all work.
    pub fn forget(&mut self) {
        self.by_element.fill(0.0);
        self.by_entry.clear();
    }

    /// Adds the work on the elements that a subdomain saved.
    pub fn take_over(&mut self, reported: &State) {
        if let Some(Column::F64(more)) = reported.get(WEAR[0]) {
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

/// Area of each element of a shape \[m²\], and the triangles that display it; infinity and none for a plane.
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

    /// Adds the work of the entries of a list to their elements, whose records are `elements`. Work on an image is added to its element.
    pub fn add_wear(work: &mut [f64], list: &[u32], elements: &[f64], by_entry: &[f64]) {
        for (&element, &more) in list.iter().zip(by_entry) {
            work[elements[element as usize * ELEMENT + 11] as usize] += more;
        }
    }

    /// Adds the work of the entries to their elements, before a rebuild of the list.
    pub fn add_wear_of_list(&mut self) {
        let mut by_entry = std::mem::take(&mut self.work.by_entry);
        Walls::add_wear(&mut self.work.by_element, &self.list, &self.elements, &by_entry);
        by_entry.clear();
        self.work.by_entry = by_entry;
    }

    /// Restores the work of the entry of grain i and this element; if it is not listed, it is added to the element.
    pub fn restore_wear(&mut self, i: usize, element: u32, work: f64) {
        match (self.row[i] as usize..self.row[i + 1] as usize).find(|&k| self.list[k] == element) {
            Some(k) => self.work.by_entry[k] = work,
            None => {
                let origin = self.origin_of(element);
                self.work.by_element[origin] += work;
            }
        }
    }

    /// Wear of a wall, if it wears.
    pub fn wear(&self, wall: usize) -> Option<WallWear> {
        let rate = self.given[wall].specific_wear_rate;
        if rate == 0.0 {
            return None;
        }
        let mut work = self.work.by_element.clone();
        Walls::add_wear(&mut work, &self.list, &self.elements, &self.work.by_entry);
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
