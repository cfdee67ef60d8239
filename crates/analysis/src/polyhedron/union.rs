//! Volume, center and inertia of a union of convex polyhedra with rounded edges.

use super::{Polyhedron, PolyhedronError, PolyhedronFace};
use crate::solid::{LineSums, Solid, moment_of};
use crate::tensor::outer;
use glam::{DMat3, DQuat, DVec3, EulerRot};

/// Lines along which the union is sampled, along the longer of the two sides across them.
const LINES: usize = 512;

/// The union of solids that are what is at most `rounding` away from their cores. `sharp` are the same solids before their edges were rounded.
///
/// The sharp solids are cut by parallel lines, 512 across the longer side, along each of which their union is measured exactly. What rounding takes away
/// from each is exact. It is too much by the parts of edges that are inside of other solids, less than a quarter of a squared radius times their length.
///
/// # Errors
/// As [`Polyhedron::swept`].
pub fn solid_of_parts(sharp: &[Polyhedron], cores: &[Polyhedron], rounding: f64) -> Result<Solid, PolyhedronError> {
    let mut sum = Integrals::of(&by_lines(sharp), 1.0);
    for part in sharp {
        sum.add(&Integrals::of(&part.swept(0.0)?, -1.0));
    }
    for core in cores {
        sum.add(&Integrals::of(&core.swept(rounding)?, 1.0));
    }
    Ok(sum.solid())
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

/// The half spaces whose intersection is a part: outward normals, and distances of their planes from the origin along them.
type HalfSpaces = Vec<(DVec3, f64)>;

fn by_lines(parts: &[Polyhedron]) -> Solid {
    // Faces along the lines would be off by up to half of the distance of two lines. Parts that are turned have hardly any.
    let turn = DMat3::from_quat(DQuat::from_euler(EulerRot::XYZ, 0.7, 0.4, 0.9));
    let vertices = || parts.iter().flat_map(|part| &part.vertices).map(|&vertex| turn * vertex);
    let low = vertices().fold(DVec3::INFINITY, DVec3::min);
    let high = vertices().fold(DVec3::NEG_INFINITY, DVec3::max);
    let middle = 0.5 * (low + high);
    let edge = (high - low).truncate().max_element() / LINES as f64;
    let counts = ((high - low).truncate() / edge).ceil();
    let half_spaces = |part: &Polyhedron| -> HalfSpaces {
        let of_face = |face: &PolyhedronFace| {
            let corner = turn * part.vertices[face.vertices[0] as usize] - middle;
            let normal = turn * face.normal;
            (normal, normal.dot(corner))
        };
        part.faces.iter().map(of_face).collect()
    };
    let turned: Vec<HalfSpaces> = parts.iter().map(half_spaces).collect();
    let mut sums = LineSums::new(edge);
    let mut cuts: Vec<(f64, f64)> = Vec::new();
    for row in 0..counts.y as usize {
        let y = (row as f64 + 0.5 - 0.5 * counts.y) * edge;
        for column in 0..counts.x as usize {
            let x = (column as f64 + 0.5 - 0.5 * counts.x) * edge;
            cuts.clear();
            cuts.extend(turned.iter().filter_map(|part| piece_inside(part, [x, y])));
            sums.add([x, y], &mut cuts);
        }
    }
    let Solid { volume, center, inertia } = sums.solid(middle);
    let back = turn.transpose();
    Solid {
        volume,
        center: back * center,
        inertia: back * inertia * turn,
    }
}

/// The piece of the line at x and y that is inside of a part, from its start to its end along z.
fn piece_inside(part: &[(DVec3, f64)], [x, y]: [f64; 2]) -> Option<(f64, f64)> {
    let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
    for (normal, offset) in part {
        let depth = offset - normal.x * x - normal.y * y;
        if normal.z > 0.0 {
            to = to.min(depth / normal.z);
        } else if normal.z < 0.0 {
            from = from.max(depth / normal.z);
        } else if depth < 0.0 {
            return None;
        }
    }
    (to > from).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::super::grain_shape_of_parts;
    use super::*;

    /// A box with these corners.
    fn block(low: DVec3, high: DVec3) -> Polyhedron {
        let corner = |k: u32| {
            let side = |bit: u32, low: f64, high: f64| if (k >> bit) & 1 == 1 { high } else { low };
            DVec3::new(side(0, low.x, high.x), side(1, low.y, high.y), side(2, low.z, high.z))
        };
        Polyhedron::around(&(0..8).map(corner).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn boxes_side_by_side_are_one_box() {
        let sharp = [
            block(DVec3::ZERO, DVec3::new(1.0, 1.0, 2.0)),
            block(DVec3::new(1.0, 0.0, 0.0), DVec3::new(3.0, 1.0, 2.0)),
        ];
        let found = by_lines(&sharp);
        let whole = block(DVec3::ZERO, DVec3::new(3.0, 1.0, 2.0)).swept(0.0).unwrap();
        assert!(
            (found.volume / whole.volume - 1.0).abs() < 5e-3,
            "{} {}",
            found.volume,
            whole.volume
        );
        assert!(found.center.distance(whole.center) < 1e-3);
        assert!(
            (found.inertia - whole.inertia)
                .to_cols_array()
                .iter()
                .all(|x| x.abs() < 2e-3 * whole.volume)
        );
    }

    #[test]
    fn what_two_parts_share_is_counted_once() {
        // A cross of two bars of 4 x 1 x 1.
        let bars = [
            block(DVec3::new(-2.0, -0.5, -0.5), DVec3::new(2.0, 0.5, 0.5)),
            block(DVec3::new(-0.5, -2.0, -0.5), DVec3::new(0.5, 2.0, 0.5)),
        ];
        let rounding = 0.1;
        let cores: Vec<Polyhedron> = bars.iter().map(|bar| bar.shrunk(rounding).unwrap()).collect();
        let found = solid_of_parts(&bars, &cores, rounding).unwrap();
        let lost: f64 = (0..2)
            .map(|k| bars[k].swept(0.0).unwrap().volume - cores[k].swept(rounding).unwrap().volume)
            .sum();
        assert!((found.volume - (7.0 - lost)).abs() < 7e-3, "{}", found.volume);
        assert!(found.center.length() < 1e-3, "{}", found.center);
        let grain = grain_shape_of_parts("cross", rounding, &cores, &found).unwrap();
        assert_eq!((grain.shape.flaw(), grain.shape.parts.len()), (None, 2));
        assert_eq!(
            [grain.shape.vertices.len(), grain.shape.edges.len(), grain.shape.faces.len()],
            [16, 24, 12]
        );
        let farthest = 1.9f64.hypot(0.4).hypot(0.4);
        assert!((grain.radius - farthest - rounding).abs() < 1e-3);
    }
}
