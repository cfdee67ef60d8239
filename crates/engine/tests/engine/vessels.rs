//! Müller's fluid in vessels.

use crate::meshes::revolved;
use seixo_engine::world::{
    Domain, Fluid, Fluids, Frustum, Material, Particles, PressureTolerance, SignedDistances, Smoothing, Solver, StateLaw, Vec3,
    ViscousForce, Wall, WallMotion, WallParticles, WallShape, World,
};

/// Gravity \[m/s²\].
pub const G: f64 = 9.81;

/// Initial spacing of particles \[m\].
pub const SPACING: f64 = 0.02;

/// A fluid without particles, with the stiffness that scenes have for the largest expected speed `fastest` \[m/s\].
pub fn fluids(fastest: f64) -> Fluids {
    Fluids {
        solver: Solver::Muller2003,
        projection: PressureTolerance::default(),
        smoothing: Smoothing::Poly6,
        viscous_force: ViscousForce::default(),
        particle_shifting: false,
        spacing: SPACING,
        support: 2.0 * SPACING,
        across: None,
        kinds: vec![Fluid {
            viscosity: 1.0,
            state: StateLaw::Linear,
            xsph: 0.5,
            restitution: 1.0,
            ..Fluid::new("fluid", 1000.0, 5.0 * fastest)
        }],
        particles: Particles::default(),
        boundary: WallParticles::default(),
        slips: Vec::new(),
        inside: Vec::new(),
        signed_distances: SignedDistances::default(),
        largest_speed: fastest,
        inlets: Vec::new(),
        outlets: Vec::new(),
        body_boundaries: Vec::new(),
    }
}

/// Adds particles at rest on the sites of a cubic lattice between two corners in spacings.
pub fn pour(fluids: &mut Fluids, low: [i64; 3], high: [i64; 3]) {
    let middle = |k: i64| (k as f64 + 0.5) * SPACING;
    let particles = &mut fluids.particles;
    for z in low[2]..high[2] {
        for y in low[1]..high[1] {
            for x in low[0]..high[0] {
                particles.id.push(particles.id.len() as u32);
                particles.position.push([middle(x), middle(y), middle(z)]);
                particles.velocity.push([0.0; 3]);
                particles.pressure.push(0.0);
                particles.kind.push(0);
            }
        }
    }
}

/// A wall at rest.
pub fn wall(shape: WallShape) -> Wall {
    Wall {
        name: "vessel".to_owned(),
        material: 0,
        shape,
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    }
}

/// The floor z = 0 and the sides of a box of this many spacings, open at the top.
pub fn sides(cells: [i64; 2]) -> Vec<Wall> {
    let far = [cells[0] as f64 * SPACING, cells[1] as f64 * SPACING, 0.0];
    let plane = |point: Vec3, normal: Vec3| wall(WallShape::Plane { point, normal });
    vec![
        plane([0.0; 3], [0.0, 0.0, 1.0]),
        plane([0.0; 3], [1.0, 0.0, 0.0]),
        plane([0.0; 3], [0.0, 1.0, 0.0]),
        plane(far, [-1.0, 0.0, 0.0]),
        plane(far, [0.0, -1.0, 0.0]),
    ]
}

/// The lateral surface of a cylinder about the z axis, from z = 0 on.
fn mantle(radius: f64, height: f64) -> Frustum {
    Frustum {
        base: [0.0; 3],
        axis: [0.0, 0.0, 1.0],
        height,
        radii: [radius; 2],
    }
}

/// A world of fluids only; `inside` states for each wall whether the fluids are inside of it.
pub fn world(mut fluids: Fluids, gravity: f64, domain: Option<Domain>, walls: Vec<Wall>, inside: Vec<bool>) -> World {
    fluids.slips = vec![true; walls.len()];
    fluids.inside = inside;
    World {
        gravity: [0.0, 0.0, -gravity],
        domain,
        materials: vec![Material {
            name: "wall".to_owned(),
            density: 1000.0,
            youngs_modulus: 1e9,
            poisson_ratio: 0.3,
        }],
        interactions: vec![None],
        groups: Vec::new(),
        grains: Default::default(),
        walls,
        fluids: Some(fluids),
        ..World::default()
    }
}

/// A block of fluid that splashes against a pillar in a cup, with a ball behind it.
pub fn splash() -> World {
    let mut fluids = fluids(2.0);
    pour(&mut fluids, [-5, -5, 0], [5, -1, 10]);
    fluids.particles.velocity.fill([0.0, 2.0, 0.0]);
    let pillar = wall(WallShape::Round(vec![mantle(0.03, 0.4)]));
    let ball = wall(WallShape::Sphere {
        center: [0.0, 0.08, 0.02],
        radius: 0.03,
    });
    let bottom = Frustum::disk([0.0; 3], [0.0, 0.0, 1.0], 0.16);
    let cup = wall(WallShape::Round(vec![mantle(0.16, 0.6), bottom]));
    world(fluids, G, None, vec![cup, pillar, ball], vec![true, false, false])
}

/// A cup about the z axis, open at the top, as a mesh whose bottom is at z = 0.
pub fn cup(radius: f64, height: f64) -> Wall {
    wall(WallShape::Mesh(revolved(&[[0.0, 0.0], [radius, 0.0], [radius, height]])))
}

/// Signed distance from such a cup with a round side, up to two spacings \[m\].
pub fn cup_distance(radius: f64, height: f64) -> impl Fn(Vec3) -> f64 {
    move |[x, y, z]: Vec3| {
        let off_axis = x.hypot(y);
        let to_side = (off_axis - radius).hypot(z - z.clamp(0.0, height));
        let to_bottom = (off_axis - off_axis.min(radius)).hypot(z);
        let is_behind = z < 0.0 || off_axis > radius && z < height;
        let distance = to_side.min(to_bottom).min(2.0 * SPACING);
        if is_behind { -distance } else { distance }
    }
}

/// Samples the signed distance of a mesh wall, `apart` \[m\], in a box with these corners.
pub fn add_distances(world: &mut World, wall: u32, bounds: [Vec3; 2], apart: f64, distance: impl Fn(Vec3) -> f64) {
    let WallShape::Mesh(mesh) = &world.walls[wall as usize].shape else {
        panic!("wall {wall} is no mesh")
    };
    let fluids = world.fluids.as_mut().unwrap();
    fluids.signed_distances.add(vec![wall], mesh, bounds, apart, distance).unwrap();
}

/// The splash with its cup, wall number 1, by signed distances. Samples are not on the lattice of the fluid: between cells normals jump.
pub fn sampled_splash() -> World {
    let mut world = splash();
    let (radius, height) = (0.16, 0.6);
    world.walls.swap(0, 1);
    world.walls[1] = cup(radius, height);
    let band = 2.0 * SPACING + 0.0037;
    let bounds = [
        [-radius - band, -radius - band, -band],
        [radius + band, radius + band, height + band],
    ];
    world.fluids.as_mut().unwrap().inside = vec![false; 3];
    add_distances(&mut world, 1, bounds, 0.5 * SPACING, cup_distance(radius, height));
    world
}
