//! Wall particles behind planes: planes along the axes share a lattice, so that their corners close; other planes have layers.

use super::{Layout, count};
use crate::{diagnostics::UnlocatedDiagnostic, fill::refuse_too_many_of};
use glam::DVec3;
use seixo_engine::world::Vec3;

/// Largest number of particles along an axis.
const MAX_IN_LINE: f64 = 1e7;
/// Remedy for too many particles.
const REMEDY: &str = "use a larger spacing, or bound the plane by a smaller world.domain or by a box";
/// Sweeps in which a position is moved before all planes of a corner.
const SWEEPS: usize = 20;
/// How often a box is extended until planes close it on all sides that they can close.
const PASSES: usize = 3;
/// Number of planes from which on the box stays: the intersections of each three of them take too long.
const MANY: usize = 100;
/// Largest distance of planes that close a box, in its lengths: up to a farther one there would be too many wall particles.
const NEAR: f64 = 2.0;
/// Distance that counts as unbounded, in lengths of a box.
const FAR: f64 = 1e3;

/// Space on one side of a plane: n · x ≥ d, with the unit normal n and d \[m\].
type HalfSpace = (DVec3, f64);

/// A box with fluids, extended to the planes that close it along an axis: into corners, and to walls that fluids have not reached yet.
pub(super) fn reach(planes: &[HalfSpace], mut extent: [DVec3; 2]) -> [DVec3; 2] {
    for _ in 0..PASSES {
        let [min, max] = extent;
        let length = (max - min).max_element();
        if planes.is_empty() || planes.len() >= MANY || !(length > 0.0 && length.is_finite()) {
            break;
        }
        let lower = DVec3::AXES.into_iter().zip(min.to_array());
        let upper = DVec3::AXES.map(|axis| -axis).into_iter().zip((-max).to_array());
        let of_box = lower.chain(upper);
        let spaces: Vec<HalfSpace> = planes.iter().copied().chain(of_box).collect();
        for (of_end, end) in extent.iter_mut().enumerate() {
            for axis in 0..3 {
                let (mut opened, at) = (spaces.clone(), planes.len() + 3 * of_end + axis);
                let (facing, edge) = opened[at];
                opened[at].1 -= FAR * length;
                let last = lowest(&opened, facing, 1e-9 * length);
                if let Some(last) = last.filter(|last| *last < edge && *last > edge - NEAR * length) {
                    end[axis] = last * facing[axis];
                }
            }
        }
        if extent == [min, max] {
            break;
        }
    }
    extent
}

/// The lowest corner of the intersection of these spaces, along a direction \[m\].
fn lowest(spaces: &[HalfSpace], direction: DVec3, slack: f64) -> Option<f64> {
    let mut lowest: Option<f64> = None;
    for (i, a) in spaces.iter().enumerate() {
        for (j, b) in spaces.iter().enumerate().skip(i + 1) {
            for c in &spaces[j + 1..] {
                let across = b.0.cross(c.0);
                let volume = a.0.dot(across);
                if volume.abs() < 1e-9 {
                    continue;
                }
                let corner = (a.1 * across + b.1 * c.0.cross(a.0) + c.1 * a.0.cross(b.0)) / volume;
                let height = corner.dot(direction);
                if lowest.is_none_or(|low| height < low) && spaces.iter().all(|(normal, from)| normal.dot(corner) >= from - slack) {
                    lowest = Some(height);
                }
            }
        }
    }
    lowest
}

/// A plane; fluids may not be behind it.
pub(super) struct Flat {
    /// Index into the walls of the world.
    pub wall: u32,
    /// Unit normal, toward the fluid.
    pub normal: DVec3,
    /// Its distance along the normal \[m\].
    offset: f64,
    /// Corners of the box before it in which fluids may be \[m\].
    pub extent: [DVec3; 2],
}

impl Flat {
    /// A plane as the flow has it; `None` if it is parallel to the plane of the flow.
    pub(super) fn new(wall: u32, (point, normal): (Vec3, Vec3), extent: [DVec3; 2], across: Option<usize>) -> Option<Flat> {
        let given = DVec3::from(normal);
        let (mut normal, mut offset) = (given, given.dot(point.into()));
        if let Some(axis) = across {
            normal[axis] = 0.0;
            let length = normal.length();
            if length < 1e-9 {
                return None;
            }
            (normal, offset) = (normal / length, offset / length);
        }
        // Exactly along an axis, so that planes of one corner share their lattice.
        if let Some(axis) = (0..3).find(|&axis| normal[axis].abs() > 1.0 - 1e-12) {
            normal = DVec3::AXES[axis] * normal[axis].signum();
            if given[axis].abs() > 1.0 - 1e-12 {
                offset = normal[axis] * point[axis];
            }
        }
        Some(Flat {
            wall,
            normal,
            offset,
            extent,
        })
    }

    /// Distance of a position before it; negative behind it \[m\].
    pub(super) fn before(&self, at: DVec3) -> f64 {
        self.normal.dot(at) - self.offset
    }

    /// The axis that its normal is along.
    pub(super) fn axis(&self) -> Option<usize> {
        (0..3).find(|&axis| self.normal[axis].abs() == 1.0)
    }

    /// Whether fluids may be at a position before it.
    fn reaches(&self, at: DVec3, slack: f64) -> bool {
        let [min, max] = self.extent;
        (min - slack).cmple(at).all() && at.cmple(max + slack).all()
    }
}

/// Coordinates along an axis, each with its plane.
type Line<'a> = Vec<(f64, Option<&'a Flat>)>;

/// Visits the positions behind planes that move together, each with its wall: as deep as the layers of a wall, also in their corners.
///
/// # Errors
/// If there are too many, with the wall that needs most of them.
pub(super) fn visit(flats: &[&Flat], layout: &Layout, visit: &mut dyn FnMut(DVec3, u32)) -> Result<(), (u32, UnlocatedDiagnostic)> {
    let Some(first) = flats.first() else { return Ok(()) };
    if flats.iter().any(|flat| flat.axis().is_some()) {
        visit_lattice(flats, layout, visit).map_err(|complaint| (first.wall, complaint))?;
    }
    for flat in flats.iter().filter(|flat| flat.axis().is_none()) {
        visit_layers(flat, flats, layout, visit).map_err(|complaint| (flat.wall, complaint))?;
    }
    Ok(())
}

/// The plane that closes an axis at its lower (1) or upper (-1) end, with its coordinate there; of several the one that leaves the least space.
fn closing<'a>(axis: usize, facing: f64, flats: &[&'a Flat]) -> Option<(f64, &'a Flat)> {
    let closing = flats.iter().filter(|flat| flat.normal[axis] == facing);
    let nearest = closing
        .copied()
        .reduce(|one, other| if other.offset > one.offset { other } else { one });
    nearest.map(|flat| (facing * flat.offset, flat))
}

/// Coordinates of the lattice of planes along one axis.
fn line<'a>(axis: usize, flats: &[&'a Flat], layout: &Layout) -> Result<Line<'a>, UnlocatedDiagnostic> {
    if layout.across == Some(axis) {
        return Ok(vec![(0.0, None)]);
    }
    let within = |coordinates: Vec<f64>| coordinates.into_iter().map(|x| (x, None)).collect::<Line<'a>>();
    if let Some([min, max]) = layout.periods[axis] {
        return Ok(within(layout.even(min, max)));
    }
    let (lower, upper) = (closing(axis, 1.0, flats), closing(axis, -1.0, flats));
    let ends = flats.iter().map(|flat| flat.extent.map(|corner| corner[axis]));
    let [from, to] = ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[from, to], [low, high]| {
        [from.min(low), to.max(high)]
    });
    let (low, high) = (lower.map_or(from, |(x, _)| x), upper.map_or(to, |(x, _)| x));
    let spacing = layout.spacing;
    if (high - low) / spacing > MAX_IN_LINE {
        let complaint = UnlocatedDiagnostic::new(format!("it is {:.1e} particles long", (high - low) / spacing));
        return Err(complaint.limit(format!("{MAX_IN_LINE:.0e} particles")).remedy(REMEDY));
    }
    let inner: Vec<f64> = match (lower, upper) {
        (Some(_), Some(_)) => layout.even(low, high),
        (Some(_), None) => (0..count(high - low, spacing) as u64)
            .map(|k| low + (k as f64 + 0.5) * spacing)
            .collect(),
        (None, Some(_)) => (0..count(high - low, spacing) as u64)
            .rev()
            .map(|k| high - (k as f64 + 0.5) * spacing)
            .collect(),
        (None, None) => {
            let origin = layout.origin[axis];
            let first = ((low - origin) / spacing - 0.5 - 1e-6).ceil();
            let sites = (0_u32..).map(|k| origin + (first + f64::from(k) + 0.5) * spacing);
            sites.take_while(|x| *x <= high + 1e-6 * spacing).collect()
        }
    };
    let depth = |layer: u32| (f64::from(layer) + 0.5) * spacing;
    let below = lower.map(|(x, flat)| (0..layout.layers).rev().map(move |layer| (x - depth(layer), Some(flat))));
    let above = upper.map(|(x, flat)| (0..layout.layers).map(move |layer| (x + depth(layer), Some(flat))));
    Ok(below
        .into_iter()
        .flatten()
        .chain(within(inner))
        .chain(above.into_iter().flatten())
        .collect())
}

/// Visits the positions behind the planes along the axes.
fn visit_lattice(flats: &[&Flat], layout: &Layout, visit: &mut dyn FnMut(DVec3, u32)) -> Result<(), UnlocatedDiagnostic> {
    let [along_x, along_y, along_z] = [line(0, flats, layout)?, line(1, flats, layout)?, line(2, flats, layout)?];
    let lines = [&along_x, &along_y, &along_z];
    let sites: f64 = lines.iter().map(|line| line.len() as f64).product();
    let inner: f64 = lines
        .iter()
        .map(|line| line.iter().filter(|(_, flat)| flat.is_none()).count() as f64)
        .product();
    refuse_too_many_of("wall particles", sites - inner, REMEDY)?;
    let ends_of_x: Line = along_x.iter().copied().filter(|(_, flat)| flat.is_some()).collect();
    let slack = 1e-6 * layout.spacing;
    for &(z, behind_z) in &along_z {
        for &(y, behind_y) in &along_y {
            // If the row is inside along both other axes, only its ends are behind a plane.
            let is_inner = behind_z.is_none() && behind_y.is_none();
            for &(x, behind_x) in if is_inner { &ends_of_x } else { &along_x } {
                let at = DVec3::new(x, y, z);
                let behind = [behind_x, behind_y, behind_z];
                let mut foot = at;
                for (axis, flat) in behind.iter().enumerate() {
                    if let Some(flat) = flat {
                        foot[axis] = flat.normal[axis] * flat.offset;
                    }
                }
                let mut owners = behind.iter().flatten().copied();
                let is_reached = owners.clone().any(|flat| flat.reaches(foot, slack));
                let is_near = flats.iter().all(|flat| flat.before(at) >= -layout.band() - slack);
                if is_reached
                    && is_near
                    && let Some(first) = owners.next()
                {
                    let deeper = |one: &Flat, other: &Flat| other.before(at) < one.before(at) - slack;
                    let owner = owners.fold(first, |one, other| if deeper(one, other) { other } else { one });
                    visit(at, owner.wall);
                }
            }
        }
    }
    Ok(())
}

/// Visits layers behind an oblique plane.
fn visit_layers(flat: &Flat, flats: &[&Flat], layout: &Layout, visit: &mut dyn FnMut(DVec3, u32)) -> Result<(), UnlocatedDiagnostic> {
    let (spacing, normal) = (layout.spacing, flat.normal);
    let (u, v) = match layout.across {
        Some(axis) => (DVec3::AXES[axis].cross(normal), DVec3::AXES[axis]),
        None => normal.any_orthonormal_pair(),
    };
    let steps = |direction: DVec3| -> [i64; 2] {
        if layout.across.is_some_and(|axis| direction[axis] == 1.0) {
            return [0, 0];
        }
        let [min, max] = flat.extent;
        let (middle, half) = (0.5 * (min + max), 0.5 * (max - min) + layout.band());
        let (middle, half) = ((middle - layout.origin).dot(direction), half.dot(direction.abs()));
        [middle - half, middle + half].map(|end| (end / spacing).floor() as i64)
    };
    let ([from_u, to_u], [from_v, to_v]) = (steps(u), steps(v));
    let sites = (to_u as f64 - from_u as f64 + 1.0) * (to_v as f64 - from_v as f64 + 1.0);
    refuse_too_many_of("wall particles", sites * f64::from(layout.layers), REMEDY)?;
    for layer in 0..layout.layers {
        let depth = (f64::from(layer) + 0.5) * spacing;
        for j in from_v..=to_v {
            for i in from_u..=to_u {
                let along = |direction: DVec3, index: i64| direction * (layout.origin.dot(direction) + (index as f64 + 0.5) * spacing);
                let mut at = normal * (flat.offset - depth) + along(u, i) + along(v, j);
                if let Some(axis) = layout.across {
                    at[axis] = 0.0;
                }
                let is_near = flats.iter().all(|other| other.before(at) >= -layout.band() * (1.0 + 1e-6));
                if is_near && flat.reaches(foot(at, flats), 1e-3 * spacing) {
                    visit(at, flat.wall);
                }
            }
        }
    }
    Ok(())
}

/// A position moved before all planes.
fn foot(mut at: DVec3, flats: &[&Flat]) -> DVec3 {
    for _ in 0..SWEEPS {
        for flat in flats {
            at -= flat.normal * flat.before(at).min(0.0);
        }
    }
    at
}
