//! Encoding of a frame as bytes for a page.
//!
//! All numbers are little-endian. A text is its length in bytes (u32) and UTF-8. A list is its length (u16) and its entries. A color is three bytes.
//! A frame consists of, in this order:
//! - `SXF3`; number of the frame (u64); number of frames (u32, 2³² − 1 for a running simulation); time \[s\] (f64);
//! - the numbers of grains, of fluid particles, of balls drawn, of those at the beginning of the balls that are solid (the others are fluid, drawn as
//!   a smooth surface), of rods and of panes; and n if one of n balls and rods is sent (u32 each);
//! - lowest corner \[m\] (three f64) and quantum of places \[m\] (three f32) of balls and rods; smallest radius of balls \[m\] and the power of two
//!   between successive levels of radii, then the same for rods (f32 each); lowest corner and quantum of places of panes, as before;
//! - the center of the picked particle, relative to the first of these corners, and its radius \[m\] (four f32); NaN if it does not exist;
//! - texts: title; time; contents; progress of a running simulation; and its shortfall, both empty if there is nothing to say; the name of the view;
//!   a list of the available views, and a list of the fields;
//! - the legend: 0, name of the field, heading, values at both ends (f64), whether values lie below and above the ends (a byte each), a list of ticks
//!   (fraction of the scale as f32, text), and the number of colors of the palette that belong to the scale (u16); or 1, name of the field, a list of
//!   classes (text, color);
//! - the palette, a list of colors;
//! - 1 and new walls, or 0 if the page already has them: the number of walls, the number of triangles of each, and the number of edges (u32 each);
//! - zeros up to a multiple of four bytes; the corners of triangles, then the ends of edges, relative to the lowest corner \[m\] (three f32 each);
//! - of all balls x (u16), then of all y, z, radius and palette index (a byte each for the last two); each of these arrays, and the following data,
//!   begins at a multiple of four bytes;
//! - of all rods both ends (x, y and z as u16, twice), then of all the color and the radius (a byte);
//! - of all panes three corners, each with x, y and z (u16), the normal in units of 1/127 (three i8) and the color.
//!
//! A place is the lowest corner plus a number of quanta. It has 65536 levels over the box of the drawn objects, so its error is at most 1/131070 of
//! that box along each axis. Objects far away from most of their kind are not drawn, as pictures do not frame them either: a single outlier would
//! leave only a few levels for all others. Panes have their own box, and those of walls are drawn at any distance: a wall may be far larger than all
//! grains.
//! A radius of level n is the smallest radius times 2 to the power of s (n − 1); the frame contains s. There are 255 levels with a constant ratio, so
//! that small radii have the same relative accuracy as large ones. The relative error is at most half of the step between levels, and zero if all
//! radii are equal. A ball or rod of level 0 is not drawn: its position is not finite, it is far away, or it has no size. A ball with palette index
//! 255 is not drawn either, as panes replace it, but it can be picked.

use std::borrow::Cow;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{
    frame_request::{FrameRequest, fields_of},
    frame_writer::{FrameWriter, hash_of},
};
use crate::{
    SHARE, Shown, Snapshot,
    bounds::{self, Ball, Bounds, is_somewhere},
    color::Rgb,
    render::{Pane, Rod},
    run_speed::RunSpeed,
    scale,
    scene_bounds::SceneBox,
};

/// Highest level of positions along an axis.
const PLACES: f64 = 65535.0;
/// Steps from the lowest level of radii to the highest.
const RADII: f64 = 254.0;
/// Palette index of balls that are not drawn themselves.
const HIDDEN: u8 = 255;
/// Note for frames in which outliers are not drawn.
const FAR: &str = "   ·   what is far away is not drawn";
/// Bytes of the ends of a rod, and of a corner of a pane.
const RECORD: usize = 12;

/// Data of the source that accompany a frame.
#[derive(Clone, Debug, Default)]
pub struct FrameContext {
    /// Number of frames; `None` for a running simulation.
    pub frames: Option<usize>,
    /// Progress of a running simulation.
    pub pace: RunSpeed,
    /// Names of the available views.
    pub offered: Vec<&'static str>,
}

/// Encodes the requested frame. `walls` is the hash of the walls that the page has; the returned number is the hash after this frame.
pub fn encode(snapshot: &Snapshot, request: &FrameRequest, around: &FrameContext, walls: Option<u64>) -> (Vec<u8>, u64) {
    let every = request.every.get();
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

    let mut message = FrameWriter(Vec::with_capacity(8 * balls.len() + 16 * rods.len() + 36 * panes.len() + (1 << 14)));
    message.put(*b"SXF3");
    message.put(snapshot.number.to_le_bytes());
    message.count(around.frames.unwrap_or(u32::MAX as usize));
    message.put(snapshot.time.to_le_bytes());
    for count in [
        snapshot.grains,
        snapshot.particles,
        balls.len(),
        solid,
        rods.len(),
        panes.len(),
        every,
    ] {
        message.count(count);
    }
    message.place(low);
    message.singles(&grid.map(|steps| steps.quantum));
    message.singles(&radii.map(|radii| [radii.smallest, radii.step]).concat());
    message.place(low_of_panes);
    message.singles(&grid_of_panes.map(|steps| steps.quantum));
    message.singles(&picked(snapshot, request, &grid));
    message.text(&snapshot.title);
    let (factor, unit) = scale::readable(snapshot.time, "s");
    message.text(&format!("{} {unit}", scale::digits(snapshot.time * factor, 4)));
    message.text(&(snapshot.seen() + far));
    message.text(&around.pace.line());
    message.text(&around.pace.shortfall);
    message.text(request.name);
    message.list(&around.offered, |message, name| message.text(name));
    message.list(&fields_of(request.options.shown, snapshot), |message, field| message.text(field));
    message.legend(&snapshot.coloring.legend);
    message.list(&palette_of(snapshot), |message, &color| message.put(color));
    let known = hash_of(&snapshot.walls);
    message.put([u8::from(walls != Some(known))]);
    if walls == Some(known) {
        message.align();
    } else {
        message.walls(&snapshot.walls, low);
    }
    write_balls(&mut message, (balls, shade), (&room, &grid), &radii[0]);
    message.align();
    write_rods(&mut message, (&rods, painted), (&room_of_rods, &grid), &radii[1]);
    write_panes(&mut message, (&triangles, &panes), (&room_of_panes, &grid_of_panes));
    (message.0, known)
}

/// The balls of a snapshot that are drawn.
struct Drawn<'a> {
    places: Cow<'a, [Ball]>,
    /// Palette index of each.
    shade: Cow<'a, [u8]>,
    /// Number of balls at the beginning that are not fluid.
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

/// The balls of a snapshot that represent particles.
fn shown(snapshot: &Snapshot) -> &[Ball] {
    &snapshot.balls[..snapshot.shown.min(snapshot.balls.len()).min(u32::MAX as usize)]
}

/// Number of balls that are not fluid.
fn solid_of(snapshot: &Snapshot, balls: usize) -> usize {
    if snapshot.is_smooth && snapshot.marks.is_none() {
        snapshot.grains.min(balls)
    } else {
        balls
    }
}

/// Index in the snapshot of the particle that a ball of the frame represents, if one of `every` balls was sent; `None` if it represents no particle.
pub fn place_of_ball(snapshot: &Snapshot, index: usize, every: usize) -> Option<usize> {
    let all = shown(snapshot).len();
    let place = place_of(index, every, (solid_of(snapshot, all), all));
    (snapshot.marks.is_none() && place < all).then_some(place)
}

/// Index of the ball that is sent as number `index`, one of every `every` balls. The choice is pseudo-random and reproducible: on a lattice, every
/// fourth ball would select every fourth plane. Balls of the first kind are chosen among their own kind.
fn place_of(index: usize, every: usize, (first_kind, all): (usize, usize)) -> usize {
    let start = index.saturating_mul(every);
    let end = if start < first_kind { first_kind } else { all };
    let choices = every.min(end.saturating_sub(start)).max(1);
    let scattered = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    start + scattered as usize % choices
}

/// The colors of balls. Colors of fluids come last in every palette, so that the rest of the longer palette completes the shorter one.
fn palette_of(snapshot: &Snapshot) -> Cow<'_, [Rgb]> {
    let palette: &[Rgb] = &snapshot.coloring.palette;
    match &snapshot.beside {
        Some(beside) if palette.len() < beside.palette.len() => [palette, &beside.palette[palette.len()..]].concat().into(),
        _ => palette.into(),
    }
}

/// One of every `every` items.
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

/// The corners of a pane as balls of negligible size.
fn corners_of(pane: &Pane, origin: DVec3) -> [Ball; 3] {
    pane.corners
        .map(|corner| (corner - origin).as_vec3().extend(f32::MIN_POSITIVE).to_array())
}

/// Position of the picked particle relative to the corner of a grid, and its radius; NaN if it does not exist.
fn picked(snapshot: &Snapshot, request: &FrameRequest, grid: &[Steps; 3]) -> Ball {
    let find = || {
        let picked = request.picked?;
        let grains = snapshot.grains.min(snapshot.id.len());
        let among = match (picked.is_grain, request.options.shown) {
            (true, _) => 0..grains,
            // The surface has vertices in place of particles.
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

/// Whether a ball has a finite position and a size.
fn is_there(ball: &Ball) -> bool {
    is_somewhere(ball) && ball[3] != 0.0
}

/// The box in which balls are drawn, as lowest and highest corner.
#[derive(Clone, Copy)]
struct Room([[f32; 3]; 2]);

impl Room {
    const EVERYWHERE: Room = Room([[f32::NEG_INFINITY; 3], [f32::INFINITY; 3]]);

    /// The box of all balls except outliers.
    fn around(balls: &[Ball]) -> Room {
        let ball = |&[x, y, z, radius]: &Ball| (Vec3::new(x, y, z).as_dvec3(), f64::from(radius.abs()));
        let around = SceneBox::of(balls.iter().map(ball));
        around.map_or(Room::EVERYWHERE, |around| {
            Room(around.limits.map(|corner| corner.as_vec3().to_array()))
        })
    }

    /// Whether a ball has a size and lies inside.
    fn has(&self, ball: &Ball) -> bool {
        is_there(ball) && self.is_around(ball)
    }

    fn is_around(&self, place: &Ball) -> bool {
        let [low, high] = &self.0;
        (0..3).all(|axis| (low[axis]..=high[axis]).contains(&place[axis]))
    }

    /// The bounds of the balls inside, and whether there are others.
    fn bounds_of(&self, balls: &[Ball]) -> (Bounds, bool) {
        let all = bounds::of(balls, is_there);
        // Usually all balls are inside, which their bounds show at once.
        if all == bounds::NOTHING || all.iter().all(|corner| self.is_around(corner)) {
            return (all, false);
        }
        (bounds::of(balls, |ball| self.has(ball)), true)
    }
}

/// The levels to which positions along an axis are rounded.
#[derive(Clone, Copy)]
struct Steps {
    low: f32,
    quantum: f32,
    /// Levels per meter.
    inverse: f64,
}

impl Steps {
    /// The finest levels that cover this range.
    fn between(low: f32, high: f32) -> Steps {
        let span = f64::from(high) - f64::from(low);
        // Rounded up, so that the highest value is within the levels.
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
    /// Power of two between successive levels.
    step: f32,
    /// Levels per power of two.
    inverse: f64,
}

impl Radii {
    /// The finest levels that cover this range.
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
        // All radii are equal; this saves a logarithm for each.
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

/// A position on a grid in bytes.
fn place(grid: &[Steps; 3], ball: &Ball) -> [[u8; 2]; 3] {
    std::array::from_fn(|axis| grid[axis].level(ball[axis]).to_le_bytes())
}

/// Writes positions, radii and palette indices of balls, one array after the other.
fn write_balls(message: &mut FrameWriter, (balls, shade): (&[Ball], &[u8]), (room, grid): (&Room, &[Steps; 3]), radii: &Radii) {
    let start = message.0.len();
    let [wide, narrow] = [2 * balls.len(), balls.len()];
    let [wide_plane, narrow_plane] = [wide, narrow].map(|length| length.next_multiple_of(4));
    message.0.resize(start + 3 * wide_plane + narrow_plane + narrow, 0);
    let (x, rest) = message.0[start..].split_at_mut(wide_plane);
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

/// Writes the ends of rods, then their colors and radii.
fn write_rods(message: &mut FrameWriter, (rods, painted): (&[[Ball; 2]], &[Rod]), (room, grid): (&Room, &[Steps; 3]), radii: &Radii) {
    let start = message.0.len();
    message.0.resize(start + (RECORD + 4) * rods.len(), 0);
    let (ends, paints) = message.0[start..].split_at_mut(RECORD * rods.len());
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

/// Writes the corners of panes with normals and colors. A pane with a non-finite position, or far away, becomes a triangle of zero area.
fn write_panes(message: &mut FrameWriter, (triangles, panes): (&[[Ball; 3]], &[&Pane]), (room, grid): (&Room, &[Steps; 3])) {
    let start = message.0.len();
    message.0.resize(start + 3 * RECORD * panes.len(), 0);
    let all = (
        triangles.par_iter(),
        panes.par_iter(),
        message.0[start..].par_chunks_exact_mut(3 * RECORD),
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
