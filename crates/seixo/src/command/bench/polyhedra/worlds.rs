//! Worlds of `seixo bench polyhedra`: rocks or cubes in a turning drum, and cubes that lie on each other.

use super::super::case::{Jitter, open_box, world_of};
use clap::ValueEnum;
use seixo_analysis::{GrainShape, Polyhedron, PolyhedronError};
use seixo_engine::world::{Frustum, Grains, Interaction, PolyhedralGrain, Vec3, Wall, WallMotion, WallShape, World};
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use serde::Serialize;
use std::f64::consts::{PI, TAU};
use std::ops::RangeInclusive;

/// Edge of the cubes, and widths of the rocks \[m\].
const EDGE: f64 = 4e-3;
const WIDTHS: Vec3 = [4e-3, 3.6e-3, 3.2e-3];
/// Radius of the sphere that rounds edges and corners \[m\].
const ROUNDING: f64 = 2.5e-4;
/// Neighbors of the Voronoi cell of a rock, and numbers of faces of the rocks that are taken.
const NEIGHBORS: u32 = 14;
const FACES: RangeInclusive<usize> = 8..=14;
/// Number of different rocks, and of those that are drawn at most.
const ROCKS: usize = 8;
const TRIES: usize = 200;
/// Density \[kg/m³\].
const DENSITY: f64 = 2500.0;
/// Young's modulus in the drum \[Pa\]. It is low, as the time step falls with its root, and grains take some tenths of a second to settle. A rock that
/// lands with 1.7 m/s on another one, as from the top of a drum of 81,000, overlaps by 0.23 to 0.3 mm by Hertz's law with this restitution, where cores
/// would meet at 0.5 mm. Under the weight of the grains above, the overlap is below a tenth of the rounding radius.
const SOFT: f64 = 1e7;
/// Young's modulus of the cubes at rest \[Pa\].
const STIFF: f64 = 2e8;
/// Bulk volume of the grains over the volume of the drum, and solid fraction of the bulk \[-\].
const FILL: f64 = 0.35;
const PACKING: f64 = 0.55;
/// Spacing of the grains at the start over the largest bounding radius \[-\].
const SPACING: f64 = 2.02;
/// Speed at which the grains start to fall \[m/s\], so that they settle sooner.
const FALL: f64 = 0.5;
/// Angular velocity of the drum \[rad/s\]: 20 rpm.
const SPIN: f64 = TAU / 3.0;
/// Overlap of cubes at rest \[m\]: about that under the weight of one.
const PRESSED: f64 = 4e-7;
/// Gravity along z \[m/s²\].
const GRAVITY: f64 = -9.81;

/// Polyhedra of a drum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Eight different rocks of 8 to 14 faces: Voronoi cells with rounded edges
    Rock,
    /// Cubes with rounded edges
    Cube,
}

/// The drum: length and radius are equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Drum {
    /// Radius \[m\].
    pub radius: f64,
    /// Bulk volume over the volume of the drum \[-\].
    pub fill: f64,
}

/// Different rocks, the same on every machine.
fn rocks() -> Vec<GrainShape> {
    let mut jitter = Jitter(1);
    let mut random = || 0.5 * (jitter.next() + 1.0);
    let mut rock = |k: usize| -> Result<GrainShape, PolyhedronError> {
        let core = Polyhedron::rock(WIDTHS, NEIGHBORS, &mut random)?.shrunk(ROUNDING)?;
        core.grain_shape(&format!("rock {k}"), ROUNDING)
    };
    let is_usual = |rock: &GrainShape| FACES.contains(&rock.shape.faces.len()) && rock.shape.flaw().is_none();
    (0..TRIES).filter_map(|k| rock(k).ok()).filter(is_usual).take(ROCKS).collect()
}

fn cube() -> Result<GrainShape, PolyhedronError> {
    let core = Polyhedron::block([EDGE; 3])?.shrunk(ROUNDING)?;
    let mut grain = core.grain_shape("cube", ROUNDING)?;
    // All axes of a cube are principal ones, so those of its faces may be those of the shape.
    let radius = grain.radius;
    grain.shape.vertices = core.vertices().iter().map(|&vertex| (vertex / radius).to_array()).collect();
    grain.shape.drawn_axes = None;
    Ok(grain)
}

/// A grain of the shape with this index.
fn grain(id: usize, shape: usize, form: &GrainShape, center: Vec3) -> PolyhedralGrain {
    PolyhedralGrain {
        id: id as u32,
        shape: shape as u32,
        radius: form.radius,
        mass: form.shape.mass(form.radius, DENSITY),
        center,
        orientation: [1.0, 0.0, 0.0, 0.0],
        velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        material: 0,
        group: 0,
    }
}

/// A random orientation, all with the same probability.
fn orientation(jitter: &mut Jitter) -> [f64; 4] {
    loop {
        let quaternion = [0.0; 4].map(|_: f64| jitter.next());
        let square: f64 = quaternion.iter().map(|x| x * x).sum();
        if (0.01..=1.0).contains(&square) {
            return quaternion.map(|x| x / square.sqrt());
        }
    }
}

/// The world of grains of these shapes with this Young's modulus \[Pa\].
fn world(grains: Grains, shapes: Vec<GrainShape>, youngs_modulus: f64, walls: Vec<Wall>) -> World {
    let interaction = Interaction {
        normal: NormalLaw::Hertz,
        tangential: TangentialLaw::Mindlin,
        restitution: 0.5,
        friction: 0.5,
        ..Interaction::default()
    };
    let mut world = world_of(grains, interaction, walls, GRAVITY);
    for material in &mut world.materials {
        (material.density, material.youngs_modulus) = (DENSITY, youngs_modulus);
    }
    world.shapes = shapes.into_iter().map(|form| form.shape).collect();
    world
}

/// Centers of a hexagonal close packing in a drum of this radius and length about the axis y, from the lowest layer on. Bounding spheres, of radius
/// `widest` at most, touch neither each other nor the drum. `None` if there are fewer.
fn centers(particles: usize, radius: f64, widest: f64) -> Option<Vec<Vec3>> {
    let spacing = SPACING * widest;
    let (room, end) = (radius - 0.5 * spacing, 0.5 * (radius - spacing));
    let mut centers = Vec::with_capacity(particles);
    let mut layer = 0;
    while centers.len() < particles {
        let height = f64::from(layer) * spacing * (2.0f64 / 3.0).sqrt() - room;
        if height > room {
            return None;
        }
        let half = (room * room - height * height).max(0.0).sqrt();
        let first = f64::from(layer % 2) * spacing / 12.0f64.sqrt() - end;
        let rows = ((end - first) / (spacing * 0.75f64.sqrt())).floor() as i32;
        for row in 0..=rows {
            let along = first + f64::from(row) * spacing * 0.75f64.sqrt();
            let shift = 0.5 * f64::from((row + layer) % 2);
            let across = (-half / spacing - shift).ceil() as i32..=(half / spacing - shift).floor() as i32;
            centers.extend(across.map(|k| [(f64::from(k) + shift) * spacing, along, height]));
        }
        layer += 1;
    }
    centers.truncate(particles);
    Some(centers)
}

/// A closed drum about the axis y, as long as its radius, that turns.
fn turning_drum(radius: f64) -> Wall {
    let (axis, end) = ([0.0, 1.0, 0.0], [0.0, 0.5 * radius, 0.0]);
    let start = end.map(|x: f64| -x);
    let mantle = Frustum {
        base: start,
        axis,
        height: radius,
        radii: [radius; 2],
    };
    Wall {
        name: "drum".to_owned(),
        material: 0,
        shape: WallShape::Round(vec![mantle, Frustum::disk(start, axis, radius), Frustum::disk(end, axis, radius)]),
        motion: WallMotion {
            angular_velocity: [0.0, SPIN, 0.0],
            ..WallMotion::default()
        },
        specific_wear_rate: 0.0,
    }
}

/// Returns a turning drum with so many polyhedra on a lattice in it, which start to fall.
///
/// # Errors
/// If a shape cannot be made.
pub fn drum(particles: usize, form: Form) -> Result<(World, Drum), PolyhedronError> {
    let shapes = match form {
        Form::Rock => rocks(),
        Form::Cube => vec![cube()?],
    };
    let of_grain = |k: usize| k % shapes.len();
    let volume = |form: &GrainShape| form.shape.volume * form.radius.powi(3);
    let bulk = (0..particles).map(|k| volume(&shapes[of_grain(k)])).sum::<f64>() / PACKING;
    let widest = shapes.iter().map(|form| form.radius).fold(0.0, f64::max);
    let mut radius = (bulk / (FILL * PI)).cbrt().max(3.0 * widest);
    // In a small drum, few places are left beside the wall.
    let places = loop {
        match centers(particles, radius, widest) {
            Some(places) => break places,
            None => radius *= 1.02,
        }
    };
    let mut grains = Grains::default();
    grains.reserve(particles);
    let mut jitter = Jitter(1);
    for (k, center) in places.into_iter().enumerate() {
        let shape = of_grain(k);
        let mut one = grain(k, shape, &shapes[shape], center);
        one.orientation = orientation(&mut jitter);
        one.velocity = [0.0, 0.0, -FALL].map(|speed| speed + 0.05 * jitter.next());
        grains.push_polyhedron(&one);
    }
    let fill = bulk / (PI * radius.powi(3));
    let world = world(grains, shapes, SOFT, vec![turning_drum(radius)]);
    Ok((world, Drum { radius, fill }))
}

/// Returns a cube of about so many cubes that lie on each other and on the floor, between walls.
///
/// # Errors
/// If the shape cannot be made.
pub fn rest(particles: usize) -> Result<World, PolyhedronError> {
    let form = cube()?;
    let side = ((particles as f64).cbrt().round() as usize).max(1);
    let (first, spacing) = (0.5 * EDGE - PRESSED, EDGE - PRESSED);
    let mut grains = Grains::default();
    grains.reserve(side.pow(3));
    for k in 0..side.pow(3) {
        let cell = [k % side, (k / side) % side, k / (side * side)];
        grains.push_polyhedron(&grain(k, 0, &form, cell.map(|place| first + spacing * place as f64)));
    }
    let length = 2.0 * first + spacing * (side - 1) as f64;
    Ok(world(grains, vec![form], STIFF, open_box([length; 2])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rocks_have_eight_to_fourteen_faces_and_start_apart_in_their_drum() {
        assert_eq!(rocks().len(), ROCKS);
        for form in [Form::Rock, Form::Cube] {
            let (world, drum) = drum(3000, form).unwrap();
            let grains = &world.grains;
            assert_eq!((grains.len(), grains.masses.len()), (3000, 3000));
            assert!(drum.fill > 0.2 && drum.fill <= FILL * (1.0 + 1e-9), "{drum:?}");
            for (center, radius) in grains.position.iter().zip(&grains.radius) {
                assert!(center[0].hypot(center[2]) + radius < drum.radius, "{center:?}");
                assert!(center[1].abs() + radius < 0.5 * drum.radius, "{center:?}");
            }
            let widest = grains.radius.iter().copied().fold(0.0, f64::max);
            let apart = |a: &Vec3, b: &Vec3| (0..3).map(|k: usize| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
            for (k, one) in grains.position.iter().enumerate().step_by(50) {
                let others = grains.position.iter().enumerate().filter(|(other, _)| *other != k);
                assert!(others.map(|(_, other)| apart(one, other)).all(|gap| gap > 2.0 * widest), "{k}");
            }
        }
    }
}
