//! Water in boxes and in periodic domains.

use crate::floors::floor;
use seixo_engine::world::{
    Domain, Fluid, Fluids, LeavingPolicy, Particles, PressureTolerance, SignedDistances, Smoothing, Solver, Vec3, ViscousForce, Wall,
    WallParticles, World,
};

/// Gravity \[m/s²\].
pub const G: f64 = 9.81;

/// Water with this speed of sound, without viscosity and density diffusion.
pub fn water(sound_speed: f64) -> Fluid {
    Fluid::new("water", 1000.0, sound_speed)
}

/// A fluid in space or, with `across`, in a plane; without particles.
pub fn fluids(kinds: Vec<Fluid>, spacing: f64, support: f64, across: Option<usize>) -> Fluids {
    Fluids {
        solver: Solver::default(),
        projection: PressureTolerance::default(),
        smoothing: Smoothing::Wendland,
        viscous_force: ViscousForce::default(),
        particle_shifting: false,
        spacing,
        support: support * spacing,
        across,
        kinds,
        particles: Particles::default(),
        boundary: WallParticles::default(),
        slips: Vec::new(),
        inside: Vec::new(),
        signed_distances: SignedDistances::default(),
        largest_speed: 0.0,
        inlets: Vec::new(),
        outlets: Vec::new(),
        body_boundaries: Vec::new(),
    }
}

/// Adds a particle of fluid number 0.
pub fn drop_in(fluids: &mut Fluids, position: Vec3, velocity: Vec3, pressure: f64) {
    let Particles {
        id,
        position: places,
        velocity: velocities,
        pressure: pressures,
        kind,
    } = &mut fluids.particles;
    id.push(id.len() as u32);
    places.push(position);
    velocities.push(velocity);
    pressures.push(pressure);
    kind.push(0);
}

/// A world of fluids only.
pub fn wet(fluids: Fluids, gravity: f64, domain: Option<Domain>, walls: Vec<Wall>) -> World {
    World {
        gravity: [0.0, 0.0, -gravity],
        domain,
        materials: vec![seixo_engine::world::Material {
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

/// Sites of a square lattice in the plane y = 0, or of a cubic lattice, between two corners in spacings.
pub fn sites(low: [i64; 3], high: [i64; 3], spacing: f64, is_plane: bool) -> Vec<Vec3> {
    let middle = |k: i64| (k as f64 + 0.5) * spacing;
    let mut sites = Vec::new();
    for x in low[0]..high[0] {
        for y in low[1]..if is_plane { low[1] + 1 } else { high[1] } {
            for z in low[2]..high[2] {
                sites.push([middle(x), if is_plane { 0.0 } else { middle(y) }, middle(z)]);
            }
        }
    }
    sites
}

/// A tank of `cells` spacings, filled to a height, with `layers` of wall particles on all sides except the top; hydrostatic at the start.
pub fn tank(mut fluids: Fluids, cells: [i64; 3], filled: [i64; 3], layers: i64, domain: Option<Domain>) -> World {
    let (spacing, is_plane) = (fluids.spacing, fluids.across.is_some());
    let surface = filled[2] as f64 * spacing;
    let density = fluids.kinds[0].density;
    for x in sites([0; 3], filled, spacing, is_plane) {
        drop_in(&mut fluids, x, [0.0; 3], density * G * (surface - x[2]));
    }
    let low = [-layers; 3];
    let high = [cells[0] + layers, cells[1] + layers, cells[2]];
    let inside = |x: &Vec3| (0..2).all(|k| (is_plane && k == 1) || x[k] > 0.0 && x[k] < cells[k] as f64 * spacing) && x[2] > 0.0;
    for x in sites(low, high, spacing, is_plane).into_iter().filter(|x| !inside(x)) {
        fluids.boundary.position.push(x);
        fluids.boundary.wall.push(0);
    }
    fluids.slips = vec![false];
    wet(fluids, G, domain, vec![floor()])
}

/// A domain with these sides.
pub fn domain(min: Vec3, max: Vec3, periodic: [bool; 3]) -> Domain {
    Domain {
        periodic,
        ..Domain::open(min, max, LeavingPolicy::Error)
    }
}
