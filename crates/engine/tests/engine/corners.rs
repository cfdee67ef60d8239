//! Polyhedral grains for tests.

use seixo_engine::Simulation;
use seixo_engine::world::{Interaction, PolyhedralGrain, PolyhedralShape, Vec3, World};
use std::f64::consts::PI;

pub const DENSITY: f64 = 2000.0;
/// No rotation.
pub const UPRIGHT: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

/// A box with these half edges of its core and this rounding radius, in any lengths. Its volume is that of the swept box; its moments are those of a
/// sharp one of the same outer edges.
pub fn block(name: &str, half: Vec3, rounding: f64) -> PolyhedralShape {
    let reach = half.iter().map(|x| x * x).sum::<f64>().sqrt() + rounding;
    let [a, b, c] = half.map(|x| x / reach);
    let r = rounding / reach;
    let sides = 8.0 * (a * b + b * c + c * a);
    let volume = 8.0 * a * b * c + sides * r + 2.0 * PI * r * r * (a + b + c) + 4.0 / 3.0 * PI * r.powi(3);
    let [x, y, z] = [a + r, b + r, c + r].map(|outer| outer * outer / 3.0);
    let vertices = (0..8u32).map(|k| {
        let side = |bit: usize, x: f64| if (k >> bit) & 1 == 1 { x } else { -x };
        [side(0, a), side(1, b), side(2, c)]
    });
    let edges = (0..8u32)
        .flat_map(|k| [1, 2, 4].map(|bit| [k, k | bit]))
        .filter(|[from, to]| from != to);
    PolyhedralShape {
        name: name.into(),
        rounding: r,
        volume,
        moments: [y + z, z + x, x + y],
        vertices: vertices.collect(),
        edges: edges.collect(),
        faces: vec![
            vec![0, 4, 6, 2],
            vec![1, 3, 7, 5],
            vec![0, 1, 5, 4],
            vec![2, 6, 7, 3],
            vec![0, 2, 3, 1],
            vec![4, 5, 7, 6],
        ],
        ..PolyhedralShape::default()
    }
}

/// A capsule along x, with a core of this half length and this rounding radius, in any lengths. Its moments are those of a rod of some thickness.
pub fn capsule(name: &str, half: f64, rounding: f64) -> PolyhedralShape {
    let reach = half + rounding;
    let (h, r) = (half / reach, rounding / reach);
    let across = (h + r).powi(2) / 3.0;
    PolyhedralShape {
        name: name.into(),
        rounding: r,
        volume: 2.0 * PI * r * r * h + 4.0 / 3.0 * PI * r.powi(3),
        moments: [0.5 * r * r, across, across],
        vertices: vec![[-h, 0.0, 0.0], [h, 0.0, 0.0]],
        edges: vec![[0, 1]],
        ..PolyhedralShape::default()
    }
}

/// A prism along x on a regular polygon of so many sides, with a core of this circumradius and half length, and this rounding radius, in any lengths. Vertex k
/// of an end is at k/sides of a turn from y to z; those of the end at +x come first. Volume and moments are those of a sharp cylinder around it.
pub fn prism(name: &str, sides: u32, [radius, half]: [f64; 2], rounding: f64) -> PolyhedralShape {
    let reach = radius.hypot(half) + rounding;
    let [a, h, r] = [radius, half, rounding].map(|x| x / reach);
    let (outer, length) = (a + r, h + r);
    let across = outer.powi(2) / 4.0 + length.powi(2) / 3.0;
    let vertex = |k: u32| {
        let angle = 2.0 * PI * f64::from(k % sides) / f64::from(sides);
        [if k < sides { h } else { -h }, a * angle.cos(), a * angle.sin()]
    };
    let next = |k: u32| (k + 1) % sides;
    let mut faces: Vec<Vec<u32>> = (0..sides).map(|k| vec![k, sides + k, sides + next(k), next(k)]).collect();
    faces.push((0..sides).collect());
    faces.push((sides..2 * sides).rev().collect());
    PolyhedralShape {
        name: name.into(),
        rounding: r,
        volume: 2.0 * PI * outer.powi(2) * length,
        moments: [0.5 * outer.powi(2), across, across],
        vertices: (0..2 * sides).map(vertex).collect(),
        edges: (0..sides)
            .flat_map(|k| [[k, next(k)], [sides + k, sides + next(k)], [k, sides + k]])
            .collect(),
        faces,
        ..PolyhedralShape::default()
    }
}

/// A world of one material with these shapes, without grains and gravity.
pub fn world(shapes: Vec<PolyhedralShape>, interaction: Interaction) -> World {
    let built = World::builder()
        .material("stone", DENSITY, 1e7, 0.2)
        .interaction("stone", "stone", interaction)
        .build();
    World {
        groups: vec!["stones".into()],
        shapes,
        ..built.expect("all names are known")
    }
}

/// Appends a grain of this shape with the next id, and returns it for changes.
pub fn put(world: &mut World, shape: u32, radius: f64, center: Vec3, velocity: Vec3) -> PolyhedralGrain {
    turned(world, shape, radius, center, UPRIGHT, velocity)
}

/// The same, with an orientation.
pub fn turned(world: &mut World, shape: u32, radius: f64, center: Vec3, orientation: [f64; 4], velocity: Vec3) -> PolyhedralGrain {
    let grain = PolyhedralGrain {
        id: world.grains.len() as u32,
        shape,
        radius,
        mass: world.shapes[shape as usize].mass(radius, DENSITY),
        center,
        orientation,
        velocity,
        angular_velocity: [0.0; 3],
        material: 0,
        group: 0,
    };
    world.grains.push_polyhedron(&grain);
    grain
}

/// The rotation about an axis of unit length by an angle \[rad\].
pub fn about(axis: Vec3, angle: f64) -> [f64; 4] {
    let (sine, cosine) = (0.5 * angle).sin_cos();
    [cosine, sine * axis[0], sine * axis[1], sine * axis[2]]
}

/// Advances until all contacts have ended.
pub fn through_a_collision(simulation: &mut Simulation) {
    let mut has_touched = false;
    for _ in 0..1_000_000 {
        simulation.step().expect("a sound step");
        let touches = simulation.contacts() > 0;
        if has_touched && !touches {
            return;
        }
        has_touched |= touches;
    }
    panic!("no collision, or one without end");
}
