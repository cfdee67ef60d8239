//! A frame as bytes for a page.
//!
//! All numbers are little-endian; a text is its length in bytes (u32) and UTF-8; a list is its length (u16) and its entries; a color is three bytes.
//! A frame is, one after the other:
//! - `SXF1`; number of the frame (u64); frames in all (u32, 2³² − 1 of a simulation that runs); time \[s\] (f64);
//! - how many grains there are, how many particles of fluids, and how many balls are drawn (u32 each);
//! - lowest corner \[m\] (three f64) and quantum of places \[m\] (three f32); smallest radius and quantum of radii \[m\] (f32 each);
//! - title; time, and what there is, as people read them; a list of the names of fields;
//! - the legend: 0, the name of the field, the heading, values at both ends (f64), whether values go on below and above (a byte each), a list of ticks (part
//!   of the scale as f32, text), and how many colors of the palette are those of the scale (u16); or 1, the name of the field, a list of classes (text, color);
//! - the palette, a list of colors;
//! - 1 and new walls, or 0 if they are those that the page has: how many triangles each has (their number and each as u32), how many edges (u32);
//! - zeros up to a multiple of four bytes; the corners of triangles, then the ends of edges, from the lowest corner \[m\] (three f32 each);
//! - of all balls x (u16), of all y, of all z, of all the radius, of all the place in the palette (a byte each); each of these begins at a multiple of four bytes.
//!
//! A place is the lowest corner and as many quanta: 65536 levels over the box of what is drawn, so it is off by at most one 131070th of that box along each
//! axis. A radius is the smallest and as many quanta, less one; a ball whose radius is 0 is not drawn, as it is nowhere, has no size, or is not to be seen.

use glam::DVec3;
use rayon::prelude::*;

use crate::{
    Snapshot,
    color::Rgb,
    coloring::{Legend, SCALE},
    scale,
    surface::Surface,
};

/// Highest levels of places along the three axes, and of radii.
const LEVELS: [f64; 4] = [65535.0, 65535.0, 65535.0, 254.0];
/// Balls, or triangles, that one thread takes at a time.
const SHARE: usize = 1 << 14;
/// Walls with more triangles than this show no edges: finding these would take longer than a frame may.
const MOST_EDGED: usize = 20_000;
/// Classes of a legend that a page has room for.
const MOST_CLASSES: usize = 24;

/// The bytes of a frame and which walls a page has that got them, if before it has those that `walls` tells.
pub fn encode(snapshot: &Snapshot, frames: Option<usize>, walls: Option<u64>) -> (Vec<u8>, u64) {
    let drawn = snapshot.shown.min(snapshot.balls.len()).min(u32::MAX as usize);
    let balls = &snapshot.balls[..drawn];
    let grid = Grid::around(balls);
    let [x, y, z, _] = grid.low.map(f64::from);
    let low = snapshot.origin + DVec3::new(x, y, z);
    let mut letter = Letter(Vec::with_capacity(8 * drawn + (1 << 14)));
    letter.put(*b"SXF1");
    letter.put(snapshot.number.to_le_bytes());
    letter.count(frames.unwrap_or(u32::MAX as usize));
    letter.put(snapshot.time.to_le_bytes());
    letter.count(snapshot.grains);
    letter.count(snapshot.particles);
    letter.count(drawn);
    for place in low.to_array() {
        letter.put(place.to_le_bytes());
    }
    let [in_x, in_y, in_z, in_radius] = grid.quantum;
    for number in [in_x, in_y, in_z, grid.low[3], in_radius] {
        letter.put(number.to_le_bytes());
    }
    letter.text(&snapshot.title);
    let (factor, unit) = scale::readable(snapshot.time, "s");
    letter.text(&format!("{} {unit}", scale::digits(snapshot.time * factor, 4)));
    letter.text(&snapshot.seen());
    letter.list(&snapshot.fields, |letter, field| letter.text(field));
    letter.legend(&snapshot.coloring.legend);
    letter.list(&snapshot.coloring.palette, |letter, &color| letter.put(color));
    let known = hash_of(&snapshot.walls);
    letter.put([u8::from(walls != Some(known))]);
    if walls == Some(known) {
        letter.align();
    } else {
        letter.walls(&snapshot.walls, low);
    }
    letter.balls(balls, &snapshot.coloring.shade, &grid);
    (letter.0, known)
}

/// Whether a ball is somewhere and has a size.
fn is_seen(ball: &[f32; 4]) -> bool {
    ball.iter().all(|number| number.is_finite()) && ball[3] > 0.0
}

/// Lowest and highest of each of the four numbers of balls.
type Bounds = [[f32; 4]; 2];

const NOTHING: Bounds = [[f32::INFINITY; 4], [f32::NEG_INFINITY; 4]];

fn joined([low, high]: Bounds, [lower, higher]: Bounds) -> Bounds {
    [
        std::array::from_fn(|axis| low[axis].min(lower[axis])),
        std::array::from_fn(|axis| high[axis].max(higher[axis])),
    ]
}

/// The levels to which places and radii are rounded.
struct Grid {
    low: [f32; 4],
    quantum: [f32; 4],
    /// Levels per meter.
    inverse: [f64; 4],
}

impl Grid {
    /// The finest in which all these balls have their places.
    fn around(balls: &[[f32; 4]]) -> Grid {
        let of_share = |share: &[[f32; 4]]| {
            let seen = share.iter().filter(|ball| is_seen(ball));
            seen.fold(NOTHING, |bounds, ball| joined(bounds, [*ball, *ball]))
        };
        let [low, high] = balls.par_chunks(SHARE).map(of_share).reduce(|| NOTHING, joined);
        let quantum: [f32; 4] = std::array::from_fn(|axis| {
            let span = f64::from(high[axis]) - f64::from(low[axis]);
            // Rounded up, so that the highest is within the levels.
            if span > 0.0 {
                ((span / LEVELS[axis]) as f32).next_up()
            } else {
                0.0
            }
        });
        Grid {
            low: low.map(|low| if low.is_finite() { low } else { 0.0 }),
            quantum,
            inverse: quantum.map(|quantum| if quantum > 0.0 { 1.0 / f64::from(quantum) } else { 0.0 }),
        }
    }

    /// The level of one of the four numbers of a ball, and a part to be cut off.
    fn level(&self, axis: usize, number: f32) -> f64 {
        (f64::from(number) - f64::from(self.low[axis])) * self.inverse[axis] + 0.5
    }
}

/// A number that other walls are most unlikely to have.
fn hash_of(walls: &[Vec<[DVec3; 3]>]) -> u64 {
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

/// A message that is being written.
struct Letter(Vec<u8>);

impl Letter {
    fn put<const LENGTH: usize>(&mut self, bytes: [u8; LENGTH]) {
        self.0.extend_from_slice(&bytes);
    }

    fn count(&mut self, count: usize) {
        self.put(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn list<T>(&mut self, entries: &[T], write: impl Fn(&mut Letter, &T)) {
        let count = u16::try_from(entries.len()).unwrap_or(u16::MAX);
        self.put(count.to_le_bytes());
        for entry in &entries[..usize::from(count)] {
            write(self, entry);
        }
    }

    fn align(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn legend(&mut self, legend: &Legend) {
        match legend {
            Legend::Scale {
                name,
                unit,
                range: (low, high),
                goes_on,
            } => {
                let (factor, unit) = scale::readable(low.abs().max(high.abs()), unit);
                let (values, step) = if low < high && (high - low).is_finite() {
                    scale::ticks(low * factor, high * factor, 6)
                } else {
                    (Vec::new(), 1.0)
                };
                self.put([0]);
                self.text(name);
                self.text(&scale::with_unit(&name.replace('_', " "), &unit));
                for end in [low, high] {
                    self.put(end.to_le_bytes());
                }
                self.put(goes_on.map(u8::from));
                self.list(&values, |letter, value| {
                    letter.put((((value / factor - low) / (high - low)) as f32).to_le_bytes());
                    letter.text(&scale::number(*value, step));
                });
                self.put((SCALE as u16).to_le_bytes());
            }
            Legend::Classes { name, classes } => {
                self.put([1]);
                self.text(name);
                self.list(
                    &classes[..classes.len().min(MOST_CLASSES)],
                    |letter, (label, color): &(String, Rgb)| {
                        letter.text(label);
                        letter.put(*color);
                    },
                );
            }
        }
    }

    /// The walls, seen from this place \[m\]; triangles that are nowhere are left out.
    fn walls(&mut self, walls: &[Vec<[DVec3; 3]>], low: DVec3) {
        let near = |corner: DVec3| (corner - low).as_vec3();
        let is_somewhere = |corners: &&[DVec3; 3]| corners.iter().all(|&corner| near(corner).is_finite());
        let mut triangles: Vec<[DVec3; 3]> = Vec::with_capacity(walls.iter().map(Vec::len).sum());
        self.count(walls.len());
        for wall in walls {
            let before = triangles.len();
            triangles.extend(wall.iter().filter(is_somewhere));
            self.count(triangles.len() - before);
        }
        let edges = if triangles.len() <= MOST_EDGED {
            Surface::new(&triangles).edges
        } else {
            Vec::new()
        };
        self.count(edges.len());
        self.align();
        for &corner in triangles.as_flattened().iter().chain(edges.as_flattened()) {
            for number in near(corner).to_array() {
                self.put(number.to_le_bytes());
            }
        }
    }

    /// Places, radii and shades of balls, one plane of numbers after the other.
    fn balls(&mut self, balls: &[[f32; 4]], shade: &[u8], grid: &Grid) {
        let start = self.0.len();
        let [wide, narrow] = [2 * balls.len(), balls.len()];
        let [wide_plane, narrow_plane] = [wide, narrow].map(|length| length.next_multiple_of(4));
        self.0.resize(start + 3 * wide_plane + narrow_plane + narrow, 0);
        let (x, rest) = self.0[start..].split_at_mut(wide_plane);
        let (y, rest) = rest.split_at_mut(wide_plane);
        let (z, rest) = rest.split_at_mut(wide_plane);
        let (radii, shades) = rest.split_at_mut(narrow_plane);
        let known = shade.len().min(narrow);
        shades[..known].copy_from_slice(&shade[..known]);
        let shares = (
            balls.par_chunks(SHARE),
            x[..wide].par_chunks_mut(2 * SHARE),
            y[..wide].par_chunks_mut(2 * SHARE),
            z[..wide].par_chunks_mut(2 * SHARE),
            radii[..narrow].par_chunks_mut(SHARE),
        );
        shares.into_par_iter().for_each(|(balls, x, y, z, radii)| {
            let places = x.chunks_exact_mut(2).zip(y.chunks_exact_mut(2)).zip(z.chunks_exact_mut(2));
            for ((ball, ((x, y), z)), radius) in balls.iter().zip(places).zip(radii) {
                if is_seen(ball) {
                    for (axis, place) in [x, y, z].into_iter().enumerate() {
                        place.copy_from_slice(&(grid.level(axis, ball[axis]) as u16).to_le_bytes());
                    }
                    *radius = (grid.level(3, ball[3]) as u8).saturating_add(1);
                }
            }
        });
    }
}
