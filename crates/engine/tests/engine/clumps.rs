//! Small worlds with rigid bodies.

use crate::floors::floor;
use seixo_engine::world::{Body, Domain, Grains, Interaction, LeavingPolicy, Material, Sphere, Vec3, Wall, WallShape, World};
use seixo_laws::contact::{NormalLaw, TangentialLaw};

/// Glass spheres without overlaps, relative to their center of mass and in the frame of their principal axes.
pub struct Shape {
    pub spheres: Vec<(Vec3, f64)>,
    pub mass: f64,
    pub moments: Vec3,
}

fn mass(radius: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * 2500.0
}

impl Shape {
    /// Computes mass and moments by Steiner's theorem.
    pub fn of(spheres: Vec<(Vec3, f64)>) -> Shape {
        let mut moments = [0.0; 3];
        for (at, radius) in &spheres {
            for (axis, moment) in moments.iter_mut().enumerate() {
                let from_axis: f64 = (0..3).filter(|&k| k != axis).map(|k| at[k] * at[k]).sum();
                *moment += mass(*radius) * (0.4 * radius * radius + from_axis);
            }
        }
        Shape {
            mass: spheres.iter().map(|(_, radius)| mass(*radius)).sum(),
            moments,
            spheres,
        }
    }

    /// Four touching spheres that stand on a face of their tetrahedron.
    pub fn tetrahedron(radius: f64) -> Shape {
        let (low, top) = (-radius / 6f64.sqrt(), radius * 1.5f64.sqrt());
        let out = 2.0 * radius / 3f64.sqrt();
        Shape::of(vec![
            ([out, 0.0, low], radius),
            ([-0.5 * out, radius, low], radius),
            ([-0.5 * out, -radius, low], radius),
            ([0.0, 0.0, top], radius),
        ])
    }

    /// Adds the body and its grains to a table.
    pub fn put(&self, grains: &mut Grains, center: Vec3, orientation: [f64; 4], velocity: Vec3, angular_velocity: Vec3) {
        let first = grains.len() as u32;
        let spheres: Vec<Sphere> = (first..)
            .zip(&self.spheres)
            .map(|(id, &(offset, radius))| Sphere { id, offset, radius })
            .collect();
        let body = Body {
            id: grains.bodies.len() as u32,
            mass: self.mass,
            moments: self.moments,
            center,
            orientation,
            velocity,
            angular_velocity,
            motion: None,
            joint: None,
            carries: Vec::new(),
        };
        grains.push_body(body, &spheres, 0, 0);
    }
}

/// Touching spheres in a row along x.
pub fn rod(count: usize, radius: f64) -> Shape {
    let middle = 0.5 * (count as f64 - 1.0);
    Shape::of(
        (0..count)
            .map(|k| ([2.0 * radius * (k as f64 - middle), 0.0, 0.0], radius))
            .collect(),
    )
}

pub fn domain(periodic: [bool; 3], leaving: LeavingPolicy, edge: f64) -> Domain {
    Domain {
        periodic,
        ..Domain::open([0.0; 3], [edge; 3], leaving)
    }
}

/// A world of glass without grains.
pub fn world(tangential: TangentialLaw) -> World {
    let interaction = Interaction {
        normal: NormalLaw::Hertz,
        tangential,
        restitution: 0.6,
        friction: if tangential == TangentialLaw::None { 0.0 } else { 0.5 },
        ..Interaction::default()
    };
    World {
        materials: vec![Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(interaction)],
        groups: vec!["clumps".into()],
        grains: Grains::default(),
        ..World::default()
    }
}

/// Rods, tetrahedra and single grains that fall onto a floor, in a box or with periodic sides along x and y. In the latter case, grains are deleted
/// below the floor.
pub fn heap(count: usize, periodic: Option<LeavingPolicy>) -> World {
    let mut world = world(TangentialLaw::Mindlin);
    world.gravity = [0.0, 0.0, -50.0];
    let side = (count as f64).cbrt().ceil() as usize;
    let spacing = 6.2e-3;
    let length = side as f64 * spacing;
    let mut grains = Grains::default();
    for k in 0..count {
        let cell = [k % side, k / side % side, k / side / side];
        let center = cell.map(|c| (c as f64 + 0.5) * spacing);
        let angle = 1.7 * k as f64;
        let turn = [angle.cos(), 0.0, angle.sin() * 0.6, angle.sin() * 0.8];
        let velocity = [0.1 * angle.sin(), 0.1 * (2.0 * angle).cos(), -0.3];
        let spin = [20.0 * (3.0 * angle).sin(), 0.0, 10.0];
        match k % 3 {
            0 => rod(3, 1e-3).put(&mut grains, center, turn, velocity, spin),
            1 => Shape::tetrahedron(1e-3).put(&mut grains, center, turn, velocity, spin),
            _ => grains.push(grains.len() as u32, center, velocity, spin, 1.5e-3, 0, 0),
        }
    }
    world.grains = grains;
    let plane = |name: &str, point: Vec3, normal: Vec3| Wall {
        name: name.into(),
        shape: WallShape::Plane { point, normal },
        ..floor()
    };
    world.walls.push(floor());
    if let Some(leaving) = periodic {
        let mut sides = domain([true, true, false], leaving, length);
        (sides.min[2], sides.max[2]) = (0.0, 2.0 * length);
        world.domain = Some(sides);
        // With deletion, the floor has a hole through which grains fall out of the domain.
        let end = if leaving == LeavingPolicy::Delete { 0.5 * length } else { length };
        let [a, b, c, d] = [[0.0, 0.0], [end, 0.0], [end, length], [0.0, length]].map(|[x, y]| [x, y, 1e-4]);
        world.walls[0].shape = WallShape::Mesh(vec![[a, b, c], [a, c, d]]);
    } else {
        world.walls.extend([
            plane("left", [0.0; 3], [1.0, 0.0, 0.0]),
            plane("right", [length, 0.0, 0.0], [-1.0, 0.0, 0.0]),
            plane("front", [0.0; 3], [0.0, 1.0, 0.0]),
            plane("back", [0.0, length, 0.0], [0.0, -1.0, 0.0]),
        ]);
    }
    world
}

/// Fills a table from scratch.
pub trait Fill {
    /// Clears the table and fills it.
    fn clear_and(&mut self, fill: impl FnOnce(&mut Grains));
}

impl Fill for Grains {
    fn clear_and(&mut self, fill: impl FnOnce(&mut Grains)) {
        *self = Grains::default();
        fill(self);
    }
}
