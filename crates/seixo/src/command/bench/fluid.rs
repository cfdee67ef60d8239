//! Fluids as benches begin with them, on lattices: water that is weakly compressible, and the fluid of \[Müller 2003\].

use seixo_engine::world::{Boundary, Fluid, Fluids, Particles, Projection, Smoothing, Solver, StateLaw, Vec3, ViscousForce};

/// Density \[kg/m³\].
pub const DENSITY: f64 = 1000.0;
/// Acceleration of gravity \[m/s²\].
pub const GRAVITY: f64 = 9.81;
/// Share of their speed with which particles of it leave bodies.
const RESTITUTION_AT_BODIES: f64 = 0.7;
/// Support of the fluid of \[Müller 2003\] \[spacings\]: 32 neighbors. \[Silva 2010\] does not give its own.
const SUPPORT_OF_MULLER: f64 = 2.0;
/// Root of its stiffness over the speed of the fastest flow.
const ROOT_OVER_FLOW: f64 = 5.0;
/// XSPH's ε \[-\].
const XSPH: f64 = 0.5;

fn place(cell: [i64; 3], spacing: f64) -> Vec3 {
    cell.map(|k| (k as f64 + 0.5) * spacing)
}

/// Exactly so many particles at rest, layer upon layer of so many cells along x and y, with the pressure \[Pa\] that their height \[m\] gives.
pub fn layers(particles: usize, [length, width]: [usize; 2], spacing: f64, pressure: impl Fn(f64) -> f64) -> Particles {
    let mut fluid = Particles::default();
    for k in 0..particles {
        let cell = [k % length, k / length % width, k / (length * width)];
        let position = place(cell.map(|k| k as i64), spacing);
        fluid.id.push(k as u32);
        fluid.position.push(position);
        fluid.velocity.push([0.0; 3]);
        fluid.pressure.push(pressure(position[2]));
        fluid.kind.push(0);
    }
    fluid
}

/// Particles of a floor and of walls around it, so many layers deep, that leave a tank of so many cells free. All are of wall 0.
pub fn tank_of([length, width, height]: [i64; 3], layers: i64, spacing: f64) -> Boundary {
    let mut boundary = Boundary::default();
    for z in -layers..height {
        for y in -layers..width + layers {
            for x in -layers..length + layers {
                let is_inside = (0..length).contains(&x) && (0..width).contains(&y) && z >= 0;
                if !is_inside {
                    boundary.position.push(place([x, y, z], spacing));
                    boundary.wall.push(0);
                }
            }
        }
    }
    boundary
}

/// Water in particles of walls that sees so many spacings far, whose flow is at most a tenth as fast as sound \[m/s\].
pub fn water(particles: Particles, boundary: Boundary, [spacing, support]: [f64; 2], sound_speed: f64, walls: usize) -> Fluids {
    Fluids {
        support: support * spacing,
        boundary,
        fastest: 0.1 * sound_speed,
        ..fluids(
            Fluid {
                artificial_viscosity: 0.1,
                density_diffusion: 0.1,
                ..Fluid::new("water", DENSITY, sound_speed)
            },
            particles,
            spacing,
            walls,
        )
    }
}

/// The fluid of \[Müller 2003\], between walls without particles, that flows so fast \[m/s\].
pub fn muller(particles: Particles, spacing: f64, fastest: f64, walls: usize) -> Fluids {
    let sound_speed = ROOT_OVER_FLOW * fastest;
    Fluids {
        solver: Solver::Muller2003,
        smoothing: Smoothing::Poly6,
        support: SUPPORT_OF_MULLER * spacing,
        fastest,
        ..fluids(
            Fluid {
                state: StateLaw::Linear,
                xsph: XSPH,
                restitution: 1.0,
                body_stiffness: 0.25 * DENSITY * sound_speed.powi(2) * spacing,
                body_restitution: RESTITUTION_AT_BODIES,
                ..Fluid::new("fluid", DENSITY, sound_speed)
            },
            particles,
            spacing,
            walls,
        )
    }
}

/// One fluid in a world with so many walls, along which it slips.
fn fluids(kind: Fluid, particles: Particles, spacing: f64, walls: usize) -> Fluids {
    Fluids {
        solver: Solver::default(),
        projection: Projection::default(),
        smoothing: Smoothing::Wendland,
        viscous_force: ViscousForce::default(),
        particle_shifting: false,
        spacing,
        support: 0.0,
        across: None,
        kinds: vec![kind],
        particles,
        boundary: Boundary::default(),
        hulls: Vec::new(),
        slips: vec![true; walls],
        inside: vec![false; walls],
        fastest: 0.0,
        inlets: Vec::new(),
        outlets: Vec::new(),
    }
}
