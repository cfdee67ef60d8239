//! Fluids of the benchmarks on lattices: weakly compressible water, and the fluid of \[Müller 2003\].

use seixo_engine::world::{
    Fluid, Fluids, Particles, PressureTolerance, SignedDistances, Smoothing, Solver, StateLaw, Vec3, ViscousForce, WallParticles,
};

/// Density \[kg/m³\].
pub const DENSITY: f64 = 1000.0;
/// Acceleration of gravity \[m/s²\].
pub const GRAVITY: f64 = 9.81;
/// Restitution of fluid particles at bodies \[-\].
const RESTITUTION_AT_BODIES: f64 = 0.7;
/// Support of the fluid of \[Müller 2003\] \[spacings\]: 32 neighbors. \[Silva 2010\] does not give its own support, but recommends 27 neighbors (§
/// 4.1).
pub const SUPPORT_OF_MULLER: f64 = 2.0;
/// Square root of its stiffness over the largest speed of the flow \[-\].
const ROOT_OVER_FLOW: f64 = 5.0;
/// Coefficient ε of XSPH \[-\].
const XSPH: f64 = 0.5;

fn place(cell: [i64; 3], spacing: f64) -> Vec3 {
    cell.map(|k| (k as f64 + 0.5) * spacing)
}

/// Returns exactly `particles` particles at rest, in layers of `length` × `width` cells, with a pressure \[Pa\] that depends on the height \[m\].
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

/// Wall particles of a floor and its side walls, `layers` deep, around a tank of `length` × `width` × `height` cells. All belong to wall 0.
pub fn tank_of([length, width, height]: [i64; 3], layers: i64, spacing: f64) -> WallParticles {
    let mut boundary = WallParticles::default();
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

/// Water with wall particles and this support \[spacings\]. The largest speed of the flow is a tenth of the speed of sound \[m/s\].
pub fn water(particles: Particles, boundary: WallParticles, [spacing, support]: [f64; 2], sound_speed: f64, walls: usize) -> Fluids {
    Fluids {
        support: support * spacing,
        boundary,
        largest_speed: 0.1 * sound_speed,
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

/// The fluid of \[Müller 2003\] between walls without particles, with this largest speed of the flow \[m/s\].
pub fn muller(particles: Particles, spacing: f64, fastest: f64, walls: usize) -> Fluids {
    let sound_speed = ROOT_OVER_FLOW * fastest;
    Fluids {
        solver: Solver::Muller2003,
        smoothing: Smoothing::Poly6,
        support: SUPPORT_OF_MULLER * spacing,
        largest_speed: fastest,
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

/// One fluid in a world with `walls` walls, all with free slip.
fn fluids(kind: Fluid, particles: Particles, spacing: f64, walls: usize) -> Fluids {
    Fluids {
        solver: Solver::default(),
        projection: PressureTolerance::default(),
        smoothing: Smoothing::Wendland,
        viscous_force: ViscousForce::default(),
        particle_shifting: false,
        spacing,
        support: 0.0,
        across: None,
        kinds: vec![kind],
        particles,
        boundary: WallParticles::default(),
        body_boundaries: Vec::new(),
        slips: vec![true; walls],
        inside: vec![false; walls],
        signed_distances: SignedDistances::default(),
        largest_speed: 0.0,
        inlets: Vec::new(),
        outlets: Vec::new(),
    }
}
