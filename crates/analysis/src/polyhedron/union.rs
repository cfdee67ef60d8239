//! Volume, center and inertia of a union of convex polyhedra with rounded edges.
//!
//! The rounded parts are cut by parallel lines. A part is convex, so a line has one piece inside of it. Its ends are on the surface: on a face that is moved
//! outward by the rounding radius, on a cylinder around an edge of the core, or on a ball around a vertex. All of these are inside of the part, so the piece
//! reaches from the first to the last point of the line in any of them.

use super::{Polyhedron, PolyhedronError, PolyhedronFace};
use crate::solid::{LineSums, Solid, moment_of};
use crate::tensor::outer;
use glam::{DMat3, DQuat, DVec2, DVec3, EulerRot};
use std::ops::Range;

/// Lines along which the union is sampled, along the longer of the two sides across them.
const LINES: usize = 512;
/// Share of the distance of two lines by which a feature is taken to be wider: none is lost between two features by rounding errors.
const SLACK: f64 = 1e-9;
/// Sine of the angle between a line and an edge below which the balls at the ends of the edge are enough.
const PARALLEL: f64 = 1e-6;
/// Share by which the volume of a part along lines may be off for it to be resolved by them.
const RESOLVED: f64 = 0.02;
/// The piece of a line that misses a part.
const NOTHING: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// The union of solids, each of which is what is at most `rounding` away from its core, in lengths. A single one is exact but for rounding.
///
/// Several solids are cut by parallel lines, 512 across the longer side, along each of which their union is measured exactly. What the lines miss of each
/// solid is known, and is added by the share of it that is not in others. So solids that keep apart, and equal ones, are exact, too.
///
/// # Errors
/// As [`Polyhedron::swept`].
pub fn solid_of_parts(cores: &[Polyhedron], rounding: f64) -> Result<Solid, PolyhedronError> {
    if let [core] = cores {
        return core.swept(rounding);
    }
    // Faces along the lines would be off by up to half of the distance of two lines. Parts that are turned have hardly any.
    let turn = DMat3::from_quat(DQuat::from_euler(EulerRot::XYZ, 0.7, 0.4, 0.9));
    let vertices = || cores.iter().flat_map(|core| &core.vertices).map(|&vertex| turn * vertex);
    let low = vertices().fold(DVec3::INFINITY, DVec3::min) - rounding;
    let high = vertices().fold(DVec3::NEG_INFINITY, DVec3::max) + rounding;
    // About the middle of the box: nothing large cancels.
    let middle = 0.5 * (low + high);
    let turned: Vec<Polyhedron> = cores.iter().map(|core| placed(core, turn, middle)).collect();
    let exact = turned
        .iter()
        .map(|core| core.swept(rounding))
        .collect::<Result<Vec<Solid>, PolyhedronError>>()?;
    let mut sum = Integrals {
        volume: 0.0,
        first: DVec3::ZERO,
        second: DMat3::ZERO,
    };
    for (exact, [whole, own]) in exact.iter().zip(&by_lines(&turned, high - low, rounding)) {
        if own.volume > 0.0 {
            sum.add(&Integrals::of(own, 1.0));
            if (whole.volume / exact.volume - 1.0).abs() <= RESOLVED {
                let share = own.volume / whole.volume;
                sum.add(&Integrals::of(exact, share));
                sum.add(&Integrals::of(whole, -share));
            }
        }
    }
    let Solid { volume, center, inertia } = sum.solid();
    let back = turn.transpose();
    Ok(Solid {
        volume,
        center: back * (middle + center),
        inertia: back * inertia * turn,
    })
}

/// A polyhedron that is turned, relative to a point of the turned space.
fn placed(polyhedron: &Polyhedron, turn: DMat3, middle: DVec3) -> Polyhedron {
    let vertices: Vec<DVec3> = polyhedron.vertices.iter().map(|&vertex| turn * vertex - middle).collect();
    let of_face = |face: &PolyhedronFace| {
        let normal = turn * face.normal;
        PolyhedronFace {
            normal,
            offset: face.offset - normal.dot(middle),
            vertices: face.vertices.clone(),
        }
    };
    Polyhedron {
        faces: polyhedron.faces.iter().map(of_face).collect(),
        edges: polyhedron.edges.clone(),
        vertices,
    }
}

/// ∫ dV, ∫ x dV and ∫ x xᵀ dV.
struct Integrals {
    volume: f64,
    first: DVec3,
    second: DMat3,
}

impl Integrals {
    /// Those of a solid, with this factor.
    fn of(solid: &Solid, factor: f64) -> Integrals {
        let Solid { volume, center, inertia } = *solid;
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        let about_center = DMat3::from_diagonal(DVec3::splat(0.5 * trace)) - inertia;
        Integrals {
            volume: volume * factor,
            first: center * (volume * factor),
            second: (about_center + outer(center, center) * volume) * factor,
        }
    }

    fn add(&mut self, other: &Integrals) {
        self.volume += other.volume;
        self.first += other.first;
        self.second += other.second;
    }

    fn solid(&self) -> Solid {
        let center = self.first / self.volume;
        Solid {
            volume: self.volume,
            center,
            inertia: moment_of(&(self.second - outer(center, center) * self.volume)),
        }
    }
}

/// Parallels to z in a rectangle about the origin.
struct Lines {
    /// Distance of neighboring lines.
    edge: f64,
    /// Numbers of columns along x and of rows along y.
    counts: [usize; 2],
}

impl Lines {
    /// Those through a box of this size.
    fn through(size: DVec3) -> Lines {
        let edge = size.truncate().max_element() / LINES as f64;
        let counts = (size.truncate() / edge).ceil();
        Lines {
            edge,
            counts: [counts.x as usize, counts.y as usize],
        }
    }

    /// Where a column or a row is along its axis.
    fn place(&self, axis: usize, index: usize) -> f64 {
        (index as f64 + 0.5 - 0.5 * self.counts[axis] as f64) * self.edge
    }

    /// Columns or rows from one place to another.
    fn between(&self, axis: usize, low: f64, high: f64) -> Range<usize> {
        let index = |place: f64| place / self.edge + 0.5 * self.counts[axis] as f64 - 0.5;
        let start = (index(low) - SLACK).ceil().max(0.0) as usize;
        let end = ((index(high) + SLACK).floor() + 1.0).max(0.0) as usize;
        start..end.min(self.counts[axis])
    }
}

/// A piece of the surface of a part, with what is behind it.
struct Feature {
    /// Rows and columns of the lines that may meet the piece.
    rows: Range<usize>,
    columns: Range<usize>,
    form: Form,
}

/// What a feature is.
enum Form {
    /// A face of the core, moved outward.
    Face { normal: DVec3, offset: f64, corners: Vec<DVec3> },
    /// A cylinder around an edge of the core. `across` is the sine of the angle between its axis and the lines.
    Edge {
        start: DVec3,
        along: DVec3,
        length: f64,
        across: f64,
    },
    /// A ball around a vertex of the core.
    Vertex { at: DVec3 },
}

/// The columns that are in both.
fn common(a: Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.max(b.start)..a.end.min(b.end)
}

/// Widens a piece of a line so that it has these points.
fn widen(piece: &mut (f64, f64), from: f64, to: f64) {
    *piece = (piece.0.min(from), piece.1.max(to));
}

impl Feature {
    /// Widens the pieces of the lines of the row at y, one for each column, by what is in the feature.
    fn widen_row(&self, lines: &Lines, y: f64, rounding: f64, pieces: &mut [(f64, f64)]) {
        match &self.form {
            Form::Face { normal, offset, corners } => {
                let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                for (k, a) in corners.iter().enumerate() {
                    let b = corners[(k + 1) % corners.len()];
                    (low, high) = (low.min(a.z), high.max(a.z));
                    if (a.y <= y) != (b.y <= y) {
                        let x = a.x + (b.x - a.x) * ((y - a.y) / (b.y - a.y));
                        (left, right) = (left.min(x), right.max(x));
                    }
                }
                if left > right {
                    return;
                }
                for column in common(lines.between(0, left, right), &self.columns) {
                    let height = (offset - normal.x * lines.place(0, column) - normal.y * y) / normal.z;
                    // A face along the line has no single height.
                    let height = height.clamp(low, high);
                    widen(&mut pieces[column], height, height);
                }
            }
            Form::Edge {
                start,
                along,
                length,
                across,
            } => {
                let dy = y - start.y;
                let columns = if along.y == 0.0 {
                    self.columns.clone()
                } else {
                    let middle = start.x + dy * (along.x / along.y);
                    let half = (rounding * across / along.y).abs();
                    common(lines.between(0, middle - half, middle + half), &self.columns)
                };
                for column in columns {
                    let dx = lines.place(0, column) - start.x;
                    let aside = (dx * along.y - dy * along.x) / across;
                    let square = rounding * rounding - aside * aside;
                    if square <= 0.0 {
                        continue;
                    }
                    // The point at the height h above the start is at h e_z + e·(dx, dy) along the axis e.
                    let advance = dx * along.x + dy * along.y;
                    let (middle, half) = (advance * along.z / (across * across), square.sqrt() / across);
                    let (mut from, mut to) = (middle - half, middle + half);
                    if along.z != 0.0 {
                        let [first, second] = [-advance / along.z, (length - advance) / along.z];
                        from = from.max(first.min(second));
                        to = to.min(first.max(second));
                    } else if !(0.0..=*length).contains(&advance) {
                        continue;
                    }
                    if from < to {
                        widen(&mut pieces[column], start.z + from, start.z + to);
                    }
                }
            }
            Form::Vertex { at } => {
                let dy = y - at.y;
                let in_row = rounding * rounding - dy * dy;
                let reach = in_row.max(0.0).sqrt();
                for column in common(lines.between(0, at.x - reach, at.x + reach), &self.columns) {
                    let dx = lines.place(0, column) - at.x;
                    let half = (in_row - dx * dx).max(0.0).sqrt();
                    if half > 0.0 {
                        widen(&mut pieces[column], at.z - half, at.z + half);
                    }
                }
            }
        }
    }
}

/// Least and largest components across the lines of the unit vectors in the narrowest cone around the sum of these; those of all unit vectors, if the
/// cone is wider than a half space, or if there are none.
fn spread(directions: &[DVec3]) -> [DVec2; 2] {
    let axis = directions.iter().sum::<DVec3>().normalize_or_zero();
    let cosine = directions.iter().map(|direction| direction.dot(axis)).fold(1.0, f64::min);
    if directions.is_empty() || cosine <= 0.0 {
        return [DVec2::NEG_ONE, DVec2::ONE];
    }
    let sine = (1.0 - cosine * cosine).sqrt();
    let largest = |component: f64| {
        if component >= cosine {
            1.0
        } else {
            component * cosine + (1.0 - component * component).max(0.0).sqrt() * sine
        }
    };
    [
        DVec2::new(-largest(-axis.x), -largest(-axis.y)),
        DVec2::new(largest(axis.x), largest(axis.y)),
    ]
}

/// The features of what is at most `rounding` away from a core.
fn features(core: &Polyhedron, rounding: f64, lines: &Lines) -> Vec<Feature> {
    let place = |vertex: u32| core.vertices[vertex as usize];
    let feature = |[low, high]: [DVec2; 2], form: Form| Feature {
        rows: lines.between(1, low.y, high.y),
        columns: lines.between(0, low.x, high.x),
        form,
    };
    let mut found = Vec::new();
    let mut normals_of: Vec<Vec<DVec3>> = vec![Vec::new(); core.vertices.len()];
    for face in &core.faces {
        let normal = face.normal;
        face.vertices.iter().for_each(|&vertex| normals_of[vertex as usize].push(normal));
        let corners: Vec<DVec3> = face.vertices.iter().map(|&vertex| place(vertex) + normal * rounding).collect();
        let low = corners.iter().copied().fold(DVec3::INFINITY, DVec3::min).truncate();
        let high = corners.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max).truncate();
        let offset = face.offset + rounding;
        found.push(feature([low, high], Form::Face { normal, offset, corners }));
    }
    for edge in &core.edges {
        let [start, end] = edge.ends.map(place);
        let along = (end - start).normalize_or_zero();
        let across = along.truncate().length();
        if across < PARALLEL {
            continue;
        }
        let normals = edge.faces.map(|faces| faces.map(|face| core.faces[face as usize].normal));
        let [least, largest] = spread(normals.as_ref().map_or(&[][..], |normals| &normals[..]));
        let low = start.min(end).truncate() + least * rounding;
        let high = start.max(end).truncate() + largest * rounding;
        let length = start.distance(end);
        let form = Form::Edge {
            start,
            along,
            length,
            across,
        };
        found.push(feature([low, high], form));
    }
    for (&at, normals) in core.vertices.iter().zip(&normals_of) {
        let corners = spread(normals).map(|component| at.truncate() + component * rounding);
        found.push(feature(corners, Form::Vertex { at }));
    }
    found
}

/// What lines measure of each rounded part in a box of this size about the origin: the whole part, and what is its own. A point of a line in several parts
/// is that of the part where the line came in first.
fn by_lines(cores: &[Polyhedron], size: DVec3, rounding: f64) -> Vec<[Solid; 2]> {
    let lines = Lines::through(size);
    let parts: Vec<Vec<Feature>> = cores.iter().map(|core| features(core, rounding, &lines)).collect();
    let mut rows = vec![vec![NOTHING; lines.counts[0]]; cores.len()];
    let mut sums: Vec<[LineSums; 2]> = cores.iter().map(|_| [0; 2].map(|_| LineSums::new(lines.edge))).collect();
    let mut cuts: Vec<(f64, f64, usize)> = Vec::new();
    for row in 0..lines.counts[1] {
        let y = lines.place(1, row);
        for (part, pieces) in parts.iter().zip(&mut rows) {
            pieces.fill(NOTHING);
            for feature in part.iter().filter(|feature| feature.rows.contains(&row)) {
                feature.widen_row(&lines, y, rounding, pieces);
            }
        }
        for column in 0..lines.counts[0] {
            let at = [lines.place(0, column), y];
            cuts.clear();
            cuts.extend(rows.iter().enumerate().filter_map(|(part, pieces)| {
                let (from, to) = pieces[column];
                (to > from).then_some((from, to, part))
            }));
            cuts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
            let mut end = f64::NEG_INFINITY;
            for &(from, to, part) in &cuts {
                let [whole, own] = &mut sums[part];
                whole.add(at, &mut [(from, to)]);
                if to > end {
                    own.add(at, &mut [(from.max(end), to)]);
                    end = to;
                }
            }
        }
    }
    let solid = |sums: &LineSums| sums.solid(DVec3::ZERO);
    sums.iter().map(|[whole, own]| [solid(whole), solid(own)]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::grain_shape_of_parts;
    use super::*;
    use std::f64::consts::PI;

    /// A box with these corners.
    fn block(low: DVec3, high: DVec3) -> Polyhedron {
        let corner = |k: u32| {
            let side = |bit: u32, low: f64, high: f64| if (k >> bit) & 1 == 1 { high } else { low };
            DVec3::new(side(0, low.x, high.x), side(1, low.y, high.y), side(2, low.z, high.z))
        };
        Polyhedron::around(&(0..8).map(corner).collect::<Vec<_>>()).unwrap()
    }

    /// The core of a cube of edge one at this place along x.
    fn cube(x: f64, rounding: f64) -> Polyhedron {
        let low = DVec3::X * x;
        block(low, low + DVec3::ONE).shrunk(rounding).unwrap()
    }

    /// Whether two solids are the same to this share.
    fn are_alike(a: &Solid, b: &Solid, share: f64) -> bool {
        let size = b.volume.cbrt();
        let moments = (a.inertia - b.inertia).to_cols_array();
        (a.volume / b.volume - 1.0).abs() < share
            && a.center.distance(b.center) < share * size
            && moments.iter().all(|moment| moment.abs() < share * b.volume * size * size)
    }

    #[test]
    fn boxes_side_by_side_are_one_box() {
        let sharp = [
            block(DVec3::ZERO, DVec3::new(1.0, 1.0, 2.0)),
            block(DVec3::new(1.0, 0.0, 0.0), DVec3::new(3.0, 1.0, 2.0)),
        ];
        let found = solid_of_parts(&sharp, 0.0).unwrap();
        let whole = block(DVec3::ZERO, DVec3::new(3.0, 1.0, 2.0)).swept(0.0).unwrap();
        // They share nothing, so nothing is left to the lines.
        assert!(are_alike(&found, &whole, 1e-6), "{found:?}");
    }

    #[test]
    fn what_two_parts_share_is_counted_once() {
        // A cross of two bars of 4 x 1 x 1.
        let bars = [
            block(DVec3::new(-2.0, -0.5, -0.5), DVec3::new(2.0, 0.5, 0.5)),
            block(DVec3::new(-0.5, -2.0, -0.5), DVec3::new(0.5, 2.0, 0.5)),
        ];
        let (rounding, flat) = (0.1f64, 0.4f64);
        let cores: Vec<Polyhedron> = bars.iter().map(|bar| bar.shrunk(rounding).unwrap()).collect();
        let found = solid_of_parts(&cores, rounding).unwrap();
        // Both have the half width w = 0.4 + √(r² − t²) at the height 0.4 + t. What they share is ∫ 4 w² dz.
        let quarter = flat * flat * rounding + 0.5 * PI * flat * rounding.powi(2) + 2.0 / 3.0 * rounding.powi(3);
        let shared = 2.0 * flat + 8.0 * quarter;
        let volume = 2.0 * cores[0].swept(rounding).unwrap().volume - shared;
        // Lines measure unions to about 2e-5, as those of spheres.
        assert!((found.volume / volume - 1.0).abs() < 4e-5, "{} {volume}", found.volume);
        assert!(found.center.length() < 1e-4, "{}", found.center);
        let grain = grain_shape_of_parts("cross", rounding, &cores, &found).unwrap();
        assert_eq!((grain.shape.flaw(), grain.shape.parts.len()), (None, 2));
        assert_eq!(
            [grain.shape.vertices.len(), grain.shape.edges.len(), grain.shape.faces.len()],
            [16, 24, 12]
        );
        let farthest = 1.9f64.hypot(0.4).hypot(0.4);
        assert!((grain.radius - farthest - rounding).abs() < 1e-3);
    }

    #[test]
    fn rounding_takes_nothing_from_edges_inside_of_other_parts() {
        for rounding in [0.2, 0.3] {
            // Cubes are full between their rounded ends, 0.4 long at least, so those at each 0.25 leave no groove.
            let cores: Vec<Polyhedron> = (0..11).map(|k| cube(0.25 * f64::from(k), rounding)).collect();
            let found = solid_of_parts(&cores, rounding).unwrap();
            let bar = block(DVec3::ZERO, DVec3::new(3.5, 1.0, 1.0)).shrunk(rounding).unwrap();
            // Lines measure unions to about 2e-5, as those of spheres.
            assert!(are_alike(&found, &bar.swept(rounding).unwrap(), 4e-5), "{rounding}: {found:?}");
        }
    }

    #[test]
    fn rounded_ends_leave_a_groove() {
        // Cubes of edge one at 0 and 0.5 are full up to 0.7 and from 0.8 on.
        let (rounding, half) = (0.3f64, 0.05f64);
        let found = solid_of_parts(&[0.0, 0.5].map(|x| cube(x, rounding)), rounding).unwrap();
        let bar = block(DVec3::ZERO, DVec3::new(1.5, 1.0, 1.0)).shrunk(rounding).unwrap();
        // Sections are a² + 4 a ρ + π ρ² with a = 0.4. At a distance u from a full one, ρ² is r² − u².
        let arc = 0.5 * (half * (rounding * rounding - half * half).sqrt() + rounding * rounding * (half / rounding).asin());
        let groove = 2.0 * (4.0 * 0.4 * (rounding * half - arc) + PI * half.powi(3) / 3.0);
        let volume = bar.swept(rounding).unwrap().volume - groove;
        // The groove is 4e-4 of the volume, and lines measure unions to about 2e-5.
        assert!((found.volume / volume - 1.0).abs() < 4e-5, "{} {volume}", found.volume);
    }

    #[test]
    fn equal_parts_are_one() {
        for rounding in [0.1, 0.3] {
            let one = cube(2.0, rounding);
            let twice = solid_of_parts(&[one.clone(), one.clone()], rounding).unwrap();
            assert!(are_alike(&twice, &one.swept(rounding).unwrap(), 1e-9), "{twice:?}");
        }
    }

    #[test]
    fn parts_that_keep_apart_are_summed_up() {
        let rounding = 0.3;
        let cores = [cube(0.0, rounding), cube(3.0, rounding)];
        let found = solid_of_parts(&cores, rounding).unwrap();
        let one = cores[0].swept(rounding).unwrap();
        assert!((found.volume / (2.0 * one.volume) - 1.0).abs() < 1e-9, "{}", found.volume);
        assert!(found.center.distance(DVec3::new(2.0, 0.5, 0.5)) < 1e-9, "{}", found.center);
        // Steiner: each is 1.5 from the middle.
        let across = 2.0 * (one.inertia.y_axis.y + 2.25 * one.volume);
        assert!((found.inertia.y_axis.y / across - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_part_that_is_given_often_weighs_no_more() {
        let rounding = 0.2;
        let plate = block(DVec3::new(0.5, 0.0, 0.0), DVec3::new(4.0, 1.0, 0.5))
            .shrunk(rounding)
            .unwrap();
        let few = [cube(0.0, rounding), plate];
        let often: Vec<Polyhedron> = std::iter::repeat_n(few[0].clone(), 9).chain(few.iter().cloned()).collect();
        let [few, often] = [&few[..], &often[..]].map(|cores| solid_of_parts(cores, rounding).unwrap());
        assert!(few.center.x > 1.5, "{}", few.center);
        assert!(are_alike(&often, &few, 1e-9), "{often:?} {few:?}");
    }
}
