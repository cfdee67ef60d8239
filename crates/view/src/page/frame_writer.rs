//! Writer for the parts of a frame: numbers, texts, lists, a legend, walls.

use glam::DVec3;
use rayon::prelude::*;

use crate::{
    SHARE,
    color::Rgb,
    coloring::{Legend, SCALE},
    scale,
    surface::Surface,
};

/// Walls with more triangles than this show no edges: the search for edges would take too long.
const MAX_EDGED: usize = 50_000;
/// Most classes of a legend on a page.
const MAX_CLASSES: usize = 24;

/// A message under construction.
pub struct FrameWriter(pub Vec<u8>);

impl FrameWriter {
    /// Adds these bytes.
    pub fn put<const LENGTH: usize>(&mut self, bytes: [u8; LENGTH]) {
        self.0.extend_from_slice(&bytes);
    }

    /// Adds a count.
    pub fn count(&mut self, count: usize) {
        self.put(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }

    /// Adds numbers in single precision.
    pub fn singles(&mut self, numbers: &[f32]) {
        numbers.iter().for_each(|number| self.put(number.to_le_bytes()));
    }

    /// Adds a position in double precision.
    pub fn place(&mut self, place: DVec3) {
        place.to_array().iter().for_each(|number| self.put(number.to_le_bytes()));
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Adds a list.
    pub fn list<T>(&mut self, entries: &[T], write: impl Fn(&mut FrameWriter, &T)) {
        let count = u16::try_from(entries.len()).unwrap_or(u16::MAX);
        self.put(count.to_le_bytes());
        for entry in &entries[..usize::from(count)] {
            write(self, entry);
        }
    }

    /// Adds zeros up to a multiple of four bytes.
    pub fn align(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    /// Adds a legend.
    pub fn legend(&mut self, legend: &Legend) {
        match legend {
            Legend::Scale {
                name,
                unit,
                range,
                goes_on,
            } => {
                let (unit, marks) = scale::marks(*range, unit, 6);
                self.put([0]);
                self.text(name);
                self.text(&scale::with_unit(&name.replace('_', " "), &unit));
                for end in [range.0, range.1] {
                    self.put(end.to_le_bytes());
                }
                self.put(goes_on.map(u8::from));
                self.list(&marks, |message, (part, text)| {
                    message.put((*part as f32).to_le_bytes());
                    message.text(text);
                });
                self.put((SCALE as u16).to_le_bytes());
            }
            Legend::Classes { name, classes } => {
                self.put([1]);
                self.text(name);
                self.list(
                    &classes[..classes.len().min(MAX_CLASSES)],
                    |message, (label, color): &(String, Rgb)| {
                        message.text(label);
                        message.put(*color);
                    },
                );
            }
        }
    }

    /// Adds walls relative to the corner `low` \[m\], without triangles at non-finite positions.
    pub fn walls(&mut self, walls: &[Vec<[DVec3; 3]>], low: DVec3) {
        let near = |corner: DVec3| (corner - low).as_vec3();
        let is_somewhere = |corners: &&[DVec3; 3]| corners.iter().all(|&corner| near(corner).is_finite());
        let mut triangles: Vec<[DVec3; 3]> = Vec::with_capacity(walls.iter().map(Vec::len).sum());
        self.count(walls.len());
        for wall in walls {
            let before = triangles.len();
            triangles.extend(wall.iter().filter(is_somewhere));
            self.count(triangles.len() - before);
        }
        let edges = if triangles.len() <= MAX_EDGED {
            Surface::new(&triangles).edges
        } else {
            Vec::new()
        };
        self.count(edges.len());
        self.align();
        for &corner in triangles.as_flattened().iter().chain(edges.as_flattened()) {
            self.singles(&near(corner).to_array());
        }
    }
}

/// Hash of walls; other walls are very unlikely to have the same.
pub fn hash_of(walls: &[Vec<[DVec3; 3]>]) -> u64 {
    let with = |hash: u64, bits: u64| (hash.rotate_left(5) ^ bits).wrapping_mul(0x517c_c1b7_2722_0a95);
    let of_share = |share: &[[DVec3; 3]]| {
        let numbers = share.iter().flatten().flat_map(|corner| corner.to_array());
        numbers.fold(0, |hash, number| with(hash, number.to_bits()))
    };
    walls.iter().fold(0, |hash, wall| {
        let parts: Vec<u64> = wall.par_chunks(SHARE).map(of_share).collect();
        parts.into_iter().fold(with(hash, wall.len() as u64), with)
    })
}
