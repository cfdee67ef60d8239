//! A frame as bytes for a page.
//!
//! All numbers are little-endian; a text is its length in bytes (u32) and UTF-8; a list is its length (u16) and its entries; a color is three bytes.
//! A frame is, one after the other:
//! - `SXF3`; number of the frame (u64); frames in all (u32, 2³² − 1 of a simulation that runs); time \[s\] (f64);
//! - how many grains and how many particles of fluids there are; how many balls are drawn, and how many of them, the first, are solid (the others are
//!   water, of which a smoothed surface is seen); how many rods, and how many panes; one of how many balls and rods is sent (u32 each);
//! - lowest corner \[m\] (three f64) and quantum of places \[m\] (three f32) of balls and rods; smallest radius of balls \[m\] and the power of two by
//!   which each level of radii is larger than the one before, then the same of rods (f32 each); lowest corner and quantum of places of panes, as before;
//! - of the particle that was picked the center, from the first of these corners, and the radius \[m\] (four f32): not numbers if it is not there;
//! - title; time, what there is, where a simulation that runs stands, and by how much it falls short, as people read them (empty where there is nothing to
//!   say); the name of what is shown; a list of the names of what can be shown, and one of the names of fields;
//! - the legend: 0, the name of the field, the heading, values at both ends (f64), whether values go on below and above (a byte each), a list of ticks (part
//!   of the scale as f32, text), and how many colors of the palette are those of the scale (u16); or 1, the name of the field, a list of classes (text, color);
//! - the palette, a list of colors;
//! - 1 and new walls, or 0 if they are those that the page has: how many triangles each has (their number and each as u32), how many edges (u32);
//! - zeros up to a multiple of four bytes; the corners of triangles, then the ends of edges, from the lowest corner \[m\] (three f32 each);
//! - of all balls x (u16), of all y, of all z, of all the radius, of all the place in the palette (a byte each); each of these, and what follows, begins at a
//!   multiple of four bytes;
//! - of all rods both ends (x, y and z as u16, twice), of all the color and the radius (a byte);
//! - of all panes three corners: x, y and z (u16), the normal in 127ths (three i8), the color.
//!
//! A place is the lowest corner and as many quanta: 65536 levels over the box of what is drawn, so it is off by at most one 131070th of that box along each
//! axis. What is far away from most of its kind is not drawn, as pictures do not frame it either: one stray would leave all others a few levels. Panes have a
//! box of their own, and those of walls are drawn wherever they are: a wall may be far larger than all grains.
//! A radius of level n is the smallest times 2 to the power of s (n − 1), where s is what the frame tells: 255 levels, each larger than the one before by the
//! same share, so that small ones keep as many digits as large ones. It is off by at most half of that share, and not at all where all are the same. A ball or
//! rod of level 0 is not drawn, as it is nowhere, far away, or has no size. A ball whose place in the palette is 255 is not drawn either, as panes are in its
//! place, but can be picked.

use std::borrow::Cow;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{
    letter::{Letter, hash_of},
    wish::{Wish, fields_of},
};
use crate::{
    SHARE, Shown, Snapshot,
    bounds::{self, Ball, Bounds, is_somewhere},
    color::Rgb,
    pace::Pace,
    render::{Pane, Rod},
    scale,
    scenery::Surroundings,
};

/// Highest level of places along an axis.
const PLACES: f64 = 65535.0;
/// Steps from the lowest level of radii to the highest.
const RADII: f64 = 254.0;
/// Place in the palette of what is not drawn itself.
const HIDDEN: u8 = 255;
/// What is said where something is not drawn, as it is far away from all else.
const FAR: &str = "   ·   what is far away is not drawn";
/// Bytes of the ends of a rod, and of a corner of a pane.
const RECORD: usize = 12;

/// What there is around a frame.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Frames in all; `None` of a simulation that runs.
    pub frames: Option<usize>,
    /// Where a simulation that runs stands.
    pub pace: Pace,
    /// Names of what can be shown.
    pub offered: Vec<&'static str>,
}

/// The bytes of a frame as it was wished, and which walls a page has that got them, if before it has those that `walls` tells.
pub fn encode(snapshot: &Snapshot, wish: &Wish, around: &Around, walls: Option<u64>) -> (Vec<u8>, u64) {
    let every = wish.every.get();
    let Drawn { places, shade, solid } = Drawn::of(snapshot);
    let (balls, shade): (&[Ball], &[u8]) = (&thinned(&places, every, solid), &thinned(&shade, every, solid));
    let solid = solid.div_ceil(every);
    let painted: &[Rod] = &thinned(&snapshot.rods, every, 0);
    let rods: Vec<[Ball; 2]> = painted
        .par_iter()
        .with_min_len(SHARE)
        .map(|rod| ends_of(rod, snapshot.origin))
        .collect();
    let panes = [&snapshot.skin, &snapshot.panes, &snapshot.bodies];
    let panes: Vec<&Pane> = panes.into_iter().flatten().collect();
    let triangles: Vec<[Ball; 3]> = panes
        .par_iter()
        .with_min_len(SHARE)
        .map(|pane| corners_of(pane, snapshot.origin))
        .collect();

    let [room, room_of_rods] = [balls, rods.as_flattened()].map(Room::around);
    let room_of_panes = if snapshot.panes.is_empty() {
        Room::around(triangles.as_flattened())
    } else {
        Room::EVERYWHERE
    };
    let in_rooms = [
        room.bounds_of(balls),
        room_of_rods.bounds_of(rods.as_flattened()),
        room_of_panes.bounds_of(triangles.as_flattened()),
    ];
    let far = if in_rooms.iter().any(|(_, has_strays)| *has_strays) {
        FAR
    } else {
        ""
    };
    let [of_balls, of_rods, of_panes] = in_rooms.map(|(bounds, _)| bounds);
    let grid = grid(&bounds::joined(of_balls, of_rods));
    let grid_of_panes = self::grid(&of_panes);
    let radii = [of_balls, of_rods].map(|[low, high]| Radii::between(low[3], high[3]));
    let [low, low_of_panes] = [&grid, &grid_of_panes].map(|grid| snapshot.origin + DVec3::from(grid.map(|steps| f64::from(steps.low))));

    let mut letter = Letter(Vec::with_capacity(8 * balls.len() + 16 * rods.len() + 36 * panes.len() + (1 << 14)));
    letter.put(*b"SXF3");
    letter.put(snapshot.number.to_le_bytes());
    letter.count(around.frames.unwrap_or(u32::MAX as usize));
    letter.put(snapshot.time.to_le_bytes());
    for count in [
        snapshot.grains,
        snapshot.particles,
        balls.len(),
        solid,
        rods.len(),
        panes.len(),
        every,
    ] {
        letter.count(count);
    }
    letter.place(low);
    letter.singles(&grid.map(|steps| steps.quantum));
    letter.singles(&radii.map(|radii| [radii.smallest, radii.step]).concat());
    letter.place(low_of_panes);
    letter.singles(&grid_of_panes.map(|steps| steps.quantum));
    letter.singles(&picked(snapshot, wish, &grid));
    letter.text(&snapshot.title);
    let (factor, unit) = scale::readable(snapshot.time, "s");
    letter.text(&format!("{} {unit}", scale::digits(snapshot.time * factor, 4)));
    letter.text(&(snapshot.seen() + far));
    letter.text(&around.pace.line());
    letter.text(&around.pace.shortfall);
    letter.text(wish.name);
    letter.list(&around.offered, |letter, name| letter.text(name));
    letter.list(&fields_of(wish.options.shown, snapshot), |letter, field| letter.text(field));
    letter.legend(&snapshot.coloring.legend);
    letter.list(&palette_of(snapshot), |letter, &color| letter.put(color));
    let known = hash_of(&snapshot.walls);
    letter.put([u8::from(walls != Some(known))]);
    if walls == Some(known) {
        letter.align();
    } else {
        letter.walls(&snapshot.walls, low);
    }
    write_balls(&mut letter, (balls, shade), (&room, &grid), &radii[0]);
    letter.align();
    write_rods(&mut letter, (&rods, painted), (&room_of_rods, &grid), &radii[1]);
    write_panes(&mut letter, (&triangles, &panes), (&room_of_panes, &grid_of_panes));
    (letter.0, known)
}

/// The balls of a snapshot.
struct Drawn<'a> {
    places: Cow<'a, [Ball]>,
    /// Place in the palette of each.
    shade: Cow<'a, [u8]>,
    /// How many of them, the first, are no water.
    solid: usize,
}

impl<'a> Drawn<'a> {
    fn of(snapshot: &'a Snapshot) -> Drawn<'a> {
        let places = snapshot.marks.as_deref().unwrap_or_else(|| shown(snapshot));
        let known = &snapshot.coloring.shade;
        let mut shade = Cow::Borrowed(&known[..known.len().min(places.len())]);
        if shade.len() < places.len() {
            shade.to_mut().resize(places.len(), 0);
        }
        let Some(colors) = &snapshot.beside else {
            return Drawn {
                places: places.into(),
                shade,
                solid: solid_of(snapshot, places.len()),
            };
        };
        let from = |length: usize| snapshot.grains.min(length)..;
        shade.to_mut().extend(&colors.shade[from(colors.shade.len())]);
        Drawn {
            solid: places.len(),
            places: [places, &snapshot.balls[from(snapshot.balls.len())]].concat().into(),
            shade,
        }
    }
}

/// The balls of a snapshot that stand for particles.
fn shown(snapshot: &Snapshot) -> &[Ball] {
    &snapshot.balls[..snapshot.shown.min(snapshot.balls.len()).min(u32::MAX as usize)]
}

/// How many of so many balls are no water.
fn solid_of(snapshot: &Snapshot, balls: usize) -> usize {
    if snapshot.is_smooth && snapshot.marks.is_none() {
        snapshot.grains.min(balls)
    } else {
        balls
    }
}

/// Where in a snapshot the particle is for which a ball of a frame stands, in which so many are one; `None` if it stands for no particle.
pub fn place_of_ball(snapshot: &Snapshot, index: usize, every: usize) -> Option<usize> {
    let all = shown(snapshot).len();
    let place = place_of(index, every, (solid_of(snapshot, all), all));
    (snapshot.marks.is_none() && place < all).then_some(place)
}

/// Which of every so many is sent as the one of this index. It seems random and is the same each time: on a lattice every fourth would be all of every fourth
/// plane. Where the first are of another kind than the others, those of this kind stand for each other.
fn place_of(index: usize, every: usize, (first_kind, all): (usize, usize)) -> usize {
    let start = index.saturating_mul(every);
    let end = if start < first_kind { first_kind } else { all };
    let choices = every.min(end.saturating_sub(start)).max(1);
    let scattered = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    start + scattered as usize % choices
}

/// The colors of balls. Those of water come last in every palette, so that one of few colors is filled up with the rest of the other.
fn palette_of(snapshot: &Snapshot) -> Cow<'_, [Rgb]> {
    let palette: &[Rgb] = &snapshot.coloring.palette;
    match &snapshot.beside {
        Some(beside) if palette.len() < beside.palette.len() => [palette, &beside.palette[palette.len()..]].concat().into(),
        _ => palette.into(),
    }
}

/// One of every so many of these.
fn thinned<T: Copy>(all: &[T], every: usize, first_kind: usize) -> Cow<'_, [T]> {
    if every == 1 {
        return Cow::Borrowed(all);
    }
    let chosen = (0..all.len().div_ceil(every)).map(|index| all[place_of(index, every, (first_kind, all.len()))]);
    Cow::Owned(chosen.collect())
}

fn ends_of(rod: &Rod, origin: DVec3) -> [Ball; 2] {
    rod.ends.map(|end| (end - origin).as_vec3().extend(rod.radius as f32).to_array())
}

/// The corners of a pane, as balls of next to no size.
fn corners_of(pane: &Pane, origin: DVec3) -> [Ball; 3] {
    pane.corners
        .map(|corner| (corner - origin).as_vec3().extend(f32::MIN_POSITIVE).to_array())
}

/// Where the particle is that was picked, from the corner of a grid; not numbers if it is not there.
fn picked(snapshot: &Snapshot, wish: &Wish, grid: &[Steps; 3]) -> Ball {
    let find = || {
        let picked = wish.picked?;
        let grains = snapshot.grains.min(snapshot.id.len());
        let among = match (picked.is_grain, wish.options.shown) {
            (true, _) => 0..grains,
            // In place of particles there are the vertices of their surface.
            (false, Shown::Surface) => return None,
            (false, _) => grains..snapshot.id.len(),
        };
        let place = among.start + snapshot.id[among].iter().position(|&id| id == picked.id)?;
        snapshot.balls.get(place)
    };
    let &[x, y, z, radius] = find().unwrap_or(&[f32::NAN; 4]);
    let [from_x, from_y, from_z] = grid.map(|steps| steps.low);
    [x - from_x, y - from_y, z - from_z, radius.abs()]
}

/// Whether a ball is somewhere and has a size.
fn is_there(ball: &Ball) -> bool {
    is_somewhere(ball) && ball[3] != 0.0
}

/// The box in which balls are drawn, from its lowest corner to its highest.
#[derive(Clone, Copy)]
struct Room([[f32; 3]; 2]);

impl Room {
    const EVERYWHERE: Room = Room([[f32::NEG_INFINITY; 3], [f32::INFINITY; 3]]);

    /// That of all of these but far strays.
    fn around(balls: &[Ball]) -> Room {
        let ball = |&[x, y, z, radius]: &Ball| (Vec3::new(x, y, z).as_dvec3(), f64::from(radius.abs()));
        let around = Surroundings::of(balls.iter().map(ball));
        around.map_or(Room::EVERYWHERE, |around| {
            Room(around.limits.map(|corner| corner.as_vec3().to_array()))
        })
    }

    /// Whether a ball has a size, and is in there.
    fn has(&self, ball: &Ball) -> bool {
        is_there(ball) && self.is_around(ball)
    }

    fn is_around(&self, place: &Ball) -> bool {
        let [low, high] = &self.0;
        (0..3).all(|axis| (low[axis]..=high[axis]).contains(&place[axis]))
    }

    /// The bounds of those balls that it has, and whether there are others.
    fn bounds_of(&self, balls: &[Ball]) -> (Bounds, bool) {
        let all = bounds::of(balls, is_there);
        // Mostly it has them all, which one look at each tells.
        if all == bounds::NOTHING || all.iter().all(|corner| self.is_around(corner)) {
            return (all, false);
        }
        (bounds::of(balls, |ball| self.has(ball)), true)
    }
}

/// The levels to which places along an axis are rounded.
#[derive(Clone, Copy)]
struct Steps {
    low: f32,
    quantum: f32,
    /// Levels per meter.
    inverse: f64,
}

impl Steps {
    /// The finest in which all that lies between these has its place.
    fn between(low: f32, high: f32) -> Steps {
        let span = f64::from(high) - f64::from(low);
        // Rounded up, so that the highest is within the levels.
        let quantum = if span > 0.0 { ((span / PLACES) as f32).next_up() } else { 0.0 };
        Steps {
            low: if low.is_finite() { low } else { 0.0 },
            quantum,
            inverse: if quantum > 0.0 { 1.0 / f64::from(quantum) } else { 0.0 },
        }
    }

    fn level(&self, number: f32) -> u16 {
        ((f64::from(number) - f64::from(self.low)) * self.inverse + 0.5) as u16
    }
}

/// The levels to which radii are rounded.
#[derive(Clone, Copy)]
struct Radii {
    smallest: f32,
    /// The power of two by which each level is larger than the one before.
    step: f32,
    /// Levels per power of two.
    inverse: f64,
}

impl Radii {
    /// The finest in which all that are between these have their place.
    fn between(smallest: f32, largest: f32) -> Radii {
        let span = (f64::from(largest) / f64::from(smallest)).log2();
        // Rounded up, so that the largest is within the levels.
        let step = if span > 0.0 { ((span / RADII) as f32).next_up() } else { 0.0 };
        Radii {
            smallest: if smallest.is_finite() { smallest } else { 0.0 },
            step,
            inverse: if step > 0.0 { 1.0 / f64::from(step) } else { 0.0 },
        }
    }

    fn level(&self, radius: f32) -> u8 {
        // All are the same, which saves a logarithm for each.
        if self.step == 0.0 {
            return 1;
        }
        let steps = (f64::from(radius.abs()) / f64::from(self.smallest)).log2() * self.inverse;
        ((steps + 0.5) as u8).saturating_add(1)
    }
}

fn grid([low, high]: &Bounds) -> [Steps; 3] {
    std::array::from_fn(|axis| Steps::between(low[axis], high[axis]))
}

/// A place on a grid in bytes.
fn place(grid: &[Steps; 3], ball: &Ball) -> [[u8; 2]; 3] {
    std::array::from_fn(|axis| grid[axis].level(ball[axis]).to_le_bytes())
}

/// Places, radii and shades of balls, one plane of numbers after the other.
fn write_balls(letter: &mut Letter, (balls, shade): (&[Ball], &[u8]), (room, grid): (&Room, &[Steps; 3]), radii: &Radii) {
    let start = letter.0.len();
    let [wide, narrow] = [2 * balls.len(), balls.len()];
    let [wide_plane, narrow_plane] = [wide, narrow].map(|length| length.next_multiple_of(4));
    letter.0.resize(start + 3 * wide_plane + narrow_plane + narrow, 0);
    let (x, rest) = letter.0[start..].split_at_mut(wide_plane);
    let (y, rest) = rest.split_at_mut(wide_plane);
    let (z, rest) = rest.split_at_mut(wide_plane);
    let (sizes, shades) = rest.split_at_mut(narrow_plane);
    shades[..shade.len()].copy_from_slice(shade);
    let shares = (
        balls.par_chunks(SHARE),
        x[..wide].par_chunks_mut(2 * SHARE),
        y[..wide].par_chunks_mut(2 * SHARE),
        z[..wide].par_chunks_mut(2 * SHARE),
        sizes[..narrow].par_chunks_mut(SHARE),
        shades.par_chunks_mut(SHARE),
    );
    shares.into_par_iter().for_each(|(balls, x, y, z, sizes, shades)| {
        let places = x.chunks_exact_mut(2).zip(y.chunks_exact_mut(2)).zip(z.chunks_exact_mut(2));
        let looks = sizes.iter_mut().zip(shades);
        for ((ball, ((x, y), z)), (size, shade)) in balls.iter().zip(places).zip(looks) {
            if room.has(ball) {
                for (bytes, level) in [x, y, z].into_iter().zip(place(grid, ball)) {
                    bytes.copy_from_slice(&level);
                }
                *size = radii.level(ball[3]);
            }
            if ball[3] < 0.0 {
                *shade = HIDDEN;
            }
        }
    });
}

/// Ends of rods, then their colors and radii.
fn write_rods(letter: &mut Letter, (rods, painted): (&[[Ball; 2]], &[Rod]), (room, grid): (&Room, &[Steps; 3]), radii: &Radii) {
    let start = letter.0.len();
    letter.0.resize(start + (RECORD + 4) * rods.len(), 0);
    let (ends, paints) = letter.0[start..].split_at_mut(RECORD * rods.len());
    let all = (
        rods.par_iter(),
        painted.par_iter(),
        ends.par_chunks_exact_mut(RECORD),
        paints.par_chunks_exact_mut(4),
    );
    all.into_par_iter()
        .with_min_len(SHARE)
        .for_each(|(rod, Rod { color, .. }, ends, paint)| {
            if rod.iter().all(|end| room.has(end)) {
                for (bytes, end) in ends.chunks_exact_mut(RECORD / 2).zip(rod) {
                    bytes.copy_from_slice(place(grid, end).as_flattened());
                }
                paint[..3].copy_from_slice(color);
                paint[3] = radii.level(rod[0][3]);
            }
        });
}

/// Corners of panes with normals and colors. What is nowhere, or far away, becomes a triangle without an area.
fn write_panes(letter: &mut Letter, (triangles, panes): (&[[Ball; 3]], &[&Pane]), (room, grid): (&Room, &[Steps; 3])) {
    let start = letter.0.len();
    letter.0.resize(start + 3 * RECORD * panes.len(), 0);
    let all = (
        triangles.par_iter(),
        panes.par_iter(),
        letter.0[start..].par_chunks_exact_mut(3 * RECORD),
    );
    all.into_par_iter().with_min_len(SHARE).for_each(|(corners, pane, bytes)| {
        if corners.iter().all(|corner| room.has(corner)) {
            let painted = corners.iter().zip(pane.normals).zip(pane.colors);
            for (bytes, ((corner, normal), color)) in bytes.chunks_exact_mut(RECORD).zip(painted) {
                bytes[..6].copy_from_slice(place(grid, corner).as_flattened());
                bytes[6..9].copy_from_slice(&normal.to_array().map(|part| (127.0 * part).round() as i8 as u8));
                bytes[9..].copy_from_slice(&color);
            }
        }
    });
}
