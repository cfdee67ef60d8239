//! Conversion of meshes to equal spheres.

use super::case_run::{CaseRun, Done, Line, Outcome};
use seixo_analysis::{Solid, solid_of_apart, solid_of_mesh};
use seixo_engine::voxels::{Edges, Lattice, VoxelFilling, voxels};
use seixo_engine::world::{DeviceChoice, Triangle, Vec3};
use std::collections::HashSet;
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI, TAU};

/// Radii of the spheres; the size of the bodies is about one length from the center.
const RADII: [f64; 3] = [0.05, 0.025, 0.0125];
/// The smallest radius.
const FINEST: f64 = RADII[2];
/// Number of vertices of a circle about the axis of a body; a profile has half as many.
const AROUND: usize = 256;
/// Edge and height of the box: whole multiples of the diameters of all spheres.
const BOX: [f64; 2] = [1.3, 0.7];
/// Rotation angles of bodies about x, then about z \[rad\], so that no face is parallel to the grid.
const TILT: [f64; 2] = [0.4, 0.7];
/// Share of a cube that its sphere fills.
const FILLED: f64 = PI / 6.0;
/// Largest share of half a layer that lines miss, with 16 × 16 lines through a cube along each axis. A cube is found if a face with the normal n
/// reaches into it by (|n_x| + |n_y| + |n_z| − the largest of the three)/32 of its width. Half a layer has a thickness of (|n_x| + |n_y| + |n_z|)/2
/// widths.
const MISSED: f64 = 1.0 / 24.0;
/// Upper bound of the second-order term of a volume, over the square of the first-order term (Minkowski's inequality of mixed volumes).
const NEXT_OF_VOLUME: f64 = 1.0 / 3.0;
/// The same for a moment of inertia of a body that grows equally on all sides: 10 ε² over the square of 5 ε.
const NEXT_OF_MOMENT: f64 = 2.0 / 5.0;

/// Device, and number of CPU threads.
type Place = (DeviceChoice, usize);

/// Relative excess of the figures of spheres over those of the body.
struct Excess {
    /// First-order term, of half a layer of cubes.
    first: f64,
    /// Upper bound of the second-order term.
    next: f64,
    /// Twice the standard deviation over all positions of the grid: the length of a column of cubes is rounded up to whole cubes.
    chance: f64,
}

impl Excess {
    /// Excess of the finest spheres. The first order is `layer` times their radius; the second order is at most `next` times the square of the first.
    fn new(layer: f64, next: f64, chance: f64) -> Excess {
        let first = layer * FINEST;
        Excess {
            first,
            next: next * first * first,
            chance,
        }
    }

    /// Tolerance relative to the first order. Missed cubes and the second order have opposite signs.
    fn tolerance(&self) -> f64 {
        (MISSED * self.first).max(self.next) + self.chance
    }

    /// Tolerance of the order of convergence, which should be one: the binary logarithm of the ratio of the excesses for twice the radius and for
    /// this radius. The second-order term and the random part are proportional to the square of the radius.
    fn tolerance_of_order(&self) -> f64 {
        (self.next + 3.0 * self.chance) / self.first / LN_2
    }
}

/// A closed mesh.
struct Body {
    mesh: Vec<Triangle>,
    edges: Edges,
}

impl Body {
    fn new(mesh: Vec<Triangle>) -> Body {
        Body {
            edges: Edges::of(&mesh),
            mesh,
        }
    }

    /// Returns the centers of the spheres of the body, also of those inside it.
    fn centers(&self, radius: f64, place: Place) -> Outcome<Vec<Vec3>> {
        let lattice = Lattice::new(&self.mesh, radius)?;
        let found = voxels(&self.mesh, &self.edges, &lattice, VoxelFilling::Solid, place, &mut Vec::new())?;
        Ok(found.taken.iter().map(|&cube| lattice.center(cube)).collect())
    }

    /// Returns the centers of the spheres, and the solid that they form.
    fn spheres(&self, radius: f64, place: Place) -> Outcome<(Vec<Vec3>, Solid)> {
        let centers = self.centers(radius, place)?;
        let spheres: Vec<_> = centers.iter().map(|&center| (center.into(), radius)).collect();
        let solid = solid_of_apart(&spheres);
        Ok((centers, solid))
    }
}

/// Volume and largest principal moment.
fn figures(solid: &Solid) -> [f64; 2] {
    [solid.volume, solid.principal_axes().0.x]
}

/// Surface of revolution about z with outward normals. The profile (distances from the axis and heights) goes from the axis up to the axis, or is a
/// closed curve.
fn revolved(profile: &[[f64; 2]], around: usize) -> Vec<Triangle> {
    let corner = |at: usize, [distance, height]: [f64; 2]| {
        let (sin, cos) = (TAU * ((at % around) as f64 + 0.5) / around as f64).sin_cos();
        [distance * cos, distance * sin, height]
    };
    let mut mesh = Vec::new();
    for pair in profile.windows(2) {
        for at in 0..around {
            let [a, b, c, d] = [(at, pair[0]), (at + 1, pair[0]), (at + 1, pair[1]), (at, pair[1])].map(|(at, point)| corner(at, point));
            // On the axis two vertices coincide.
            mesh.extend([[a, b, c], [a, c, d]].into_iter().filter(|[a, b, c]| a != b && b != c && c != a));
        }
    }
    mesh
}

/// Profile of a cylinder centered at the origin.
fn upright(radius: f64, height: f64) -> [[f64; 2]; 4] {
    let half = 0.5 * height;
    [[0.0, -half], [radius, -half], [radius, half], [0.0, half]]
}

/// Body of the reference, with its axis along z.
fn mesh_of(name: &str) -> Outcome<Vec<Triangle>> {
    let half = AROUND / 2;
    let circle = |share: f64| (0..=half).map(move |k| (k, (share * PI * (k % half) as f64 / half as f64).sin_cos()));
    Ok(match name {
        "ball" => {
            let points = circle(1.0).map(|(k, (sin, cos))| if k == half { [0.0, 1.0] } else { [sin, -cos] });
            revolved(&points.collect::<Vec<_>>(), AROUND)
        }
        "box" => revolved(&upright(BOX[0] * FRAC_1_SQRT_2, BOX[1]), 4),
        "cylinder" => revolved(&upright(0.8, 0.9), AROUND),
        "torus" => {
            let points = circle(2.0).map(|(_, (sin, cos))| [0.7 + 0.3 * cos, 0.3 * sin]);
            revolved(&points.collect::<Vec<_>>(), AROUND)
        }
        "cone" => revolved(&[[0.0, 0.0], [0.9, 0.0], [0.0, 1.0]], AROUND),
        _ => return Err(format!("no body is named `{name}`").into()),
    })
}

/// Mesh with transformed vertices.
fn moved(mesh: &[Triangle], place: impl Fn(Vec3) -> Vec3) -> Vec<Triangle> {
    mesh.iter().map(|triangle| triangle.map(&place)).collect()
}

fn tilted([x, y, z]: Vec3) -> Vec3 {
    let turned = |x: f64, y: f64, angle: f64| [x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()];
    let [y, z] = turned(y, z, TILT[0]);
    let [x, y] = turned(x, y, TILT[1]);
    [x, y, z]
}

/// Position with cyclically permuted axes.
fn exchanged(place: Vec3, by: usize) -> Vec3 {
    [0, 1, 2].map(|k| place[(k + by) % 3])
}

/// Number of positions that are in only one of two sets.
fn apart(these: &[Vec3], those: &[Vec3]) -> usize {
    let set = |places: &[Vec3]| -> HashSet<[u64; 3]> { places.iter().map(|place| place.map(f64::to_bits)).collect() };
    set(these).symmetric_difference(&set(those)).count()
}

/// Volume, largest principal moment and center of the spheres of bodies, which are the same for permuted axes and on every device.
pub fn converging(case_run: &mut CaseRun) -> Done {
    let settings = case_run.scene()?.settings;
    let place = (settings.device, settings.threads);
    let (mut of_meshes, mut of_axes, mut of_devices) = (0.0f64, 0, 0);
    let mut lines: Vec<Line> = vec![("half a layer".to_owned(), vec![(0.0, 1.0), (RADII[0], 1.0)])];
    for (name, [volume, moment, layer, layer_of_moment, aside, symmetries]) in case_run.reference()? {
        let body = Body::new(moved(&mesh_of(name)?, tilted));
        let own = solid_of_mesh(&body.mesh);
        let excess = |solid: &Solid, filled: f64| {
            let [found, turning] = figures(solid);
            [found / (filled * volume) - 1.0, turning / (filled * moment) - 1.0]
        };
        of_meshes = excess(&own, 1.0).iter().fold(of_meshes, |most, share| most.max(share.abs()));
        let found = RADII
            .iter()
            .map(|&radius| body.spheres(radius, place))
            .collect::<Outcome<Vec<_>>>()?;
        let shares: Vec<[f64; 2]> = found.iter().map(|(_, solid)| excess(solid, FILLED)).collect();
        let width = 2.0 * FINEST;
        let chance = width * width / 3.0 * (symmetries * layer / volume).sqrt();
        let expected = [
            Excess::new(layer, NEXT_OF_VOLUME, chance),
            Excess::new(layer_of_moment, NEXT_OF_MOMENT, chance * layer_of_moment / layer),
        ];
        for (k, what) in ["volume", "largest principal moment"].into_iter().enumerate() {
            let (share, expected) = (shares[2][k], &expected[k]);
            case_run.row(format!("{name}: error of {what} [-]"), share, expected.first, expected.tolerance());
            let order = (shares[1][k] / share).log2();
            case_run.row(
                format!("{name}: order of the error of {what} [-]"),
                order,
                1.0,
                expected.tolerance_of_order(),
            );
        }
        case_run.row(
            format!("{name}: error of center over R [-]"),
            found[2].1.center.distance(own.center) / FINEST,
            aside,
            chance / FINEST + expected[0].first * aside,
        );
        for by in [1, 2] {
            let there = Body::new(moved(&body.mesh, |place| exchanged(place, by))).centers(RADII[1], place)?;
            let here: Vec<Vec3> = found[1].0.iter().map(|&center| exchanged(center, by)).collect();
            of_axes += apart(&here, &there);
        }
        of_devices += apart(&found[2].0, &body.centers(FINEST, (DeviceChoice::Cpu, 2))?);
        let over_layer = |(radius, share): (&f64, &[f64; 2])| (*radius, share[0] / (layer * radius));
        lines.push((name.to_owned(), RADII.iter().zip(&shares).map(over_layer).collect()));
    }
    let whole = Body::new(mesh_of("box")?).centers(FINEST, place)?;
    let [across, up] = BOX.map(|length| (0.5 * length / FINEST).round());
    case_run.row(
        "upright box of whole cubes: spheres [-]",
        whole.len() as f64,
        across * across * up,
        0.0,
    );
    case_run.row("spheres that are not the same from every axis [-]", of_axes as f64, 0.0, 0.0);
    case_run.row(
        "spheres that are not the same on the CPU with two threads [-]",
        of_devices as f64,
        0.0,
        0.0,
    );
    case_run.row("largest error of volume or moment that a mesh encloses [-]", of_meshes, 0.0, 1e-3);
    case_run.curve(
        "excess",
        ["radius of the spheres [lengths]", "excess of volume over half a layer of cubes [-]"],
        lines,
    );
    Ok(())
}
