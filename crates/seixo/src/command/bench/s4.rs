//! S4's fluid: a cube of it collapses in a box, by the solver and at the numbers of particles that S4 tells steps per second of.

use super::case::world_of;
use seixo_engine::world::{
    Boundary, Fluid, Fluids, Interaction, Particles, Projection, Smoothing, Solver, StateLaw, Vec3, Wall, WallMotion, WallShape, World,
};
use serde::Serialize;

/// Density of the fluid \[kg/m³\].
const DENSITY: f64 = 1000.0;
/// Acceleration of gravity \[m/s²\].
const GRAVITY: f64 = 9.81;
/// Support \[spacings\]: 32 neighbors. S4 does not tell its own.
const SUPPORT: f64 = 2.0;
/// Root of the stiffness over the speed of a fall through the cube.
const ROOT_OVER_FLOW: f64 = 5.0;
/// XSPH's ε \[-\].
const XSPH: f64 = 0.5;

/// A line of a table of S4.
struct Line {
    particles: u32,
    /// Steps per second on its GPU, an NVIDIA 9600 GT.
    gpu: f64,
    /// Steps per second on its CPU, an Intel Core 2 Quad Q6600.
    cpu: f64,
}

/// A table of S4.
struct Table {
    number: &'static str,
    lines: &'static [Line],
}

/// Table 6.3, fluid alone. Where 16,384 stands, 16,394 is printed.
const FLUID_ALONE: Table = Table {
    number: "6.3",
    lines: &[
        Line {
            particles: 2048,
            gpu: 410.5,
            cpu: 28.9,
        },
        Line {
            particles: 4096,
            gpu: 167.0,
            cpu: 9.8,
        },
        Line {
            particles: 8192,
            gpu: 43.5,
            cpu: 3.0,
        },
        Line {
            particles: 16_384,
            gpu: 15.1,
            cpu: 1.4,
        },
        Line {
            particles: 32_768,
            gpu: 4.7,
            cpu: 0.5,
        },
    ],
};

/// Numbers of particles in the table.
pub static SIZES: [u32; FLUID_ALONE.lines.len()] = {
    let mut sizes = [0; FLUID_ALONE.lines.len()];
    let mut line = 0;
    while line < sizes.len() {
        sizes[line] = FLUID_ALONE.lines[line].particles;
        line += 1;
    }
    sizes
};

/// What S4 tells, beside what was reached.
#[derive(Serialize)]
pub struct Published {
    s4_table: &'static str,
    steps_per_second: f64,
    s4_gpu_steps_per_second: f64,
    s4_cpu_steps_per_second: f64,
    over_s4_gpu: f64,
    over_s4_cpu: f64,
}

impl Published {
    /// What S4 tells of so many particles, if it does.
    pub fn beside(particles: usize, steps_per_second: f64) -> Option<Published> {
        let line = FLUID_ALONE.lines.iter().find(|line| line.particles as usize == particles)?;
        Some(Published {
            s4_table: FLUID_ALONE.number,
            steps_per_second,
            s4_gpu_steps_per_second: line.gpu,
            s4_cpu_steps_per_second: line.cpu,
            over_s4_gpu: steps_per_second / line.gpu,
            over_s4_cpu: steps_per_second / line.cpu,
        })
    }

    /// The same in a line.
    pub fn text(&self) -> String {
        format!(
            "  {:.1} steps/s; S4, table {}: {:.1} on its GPU, {:.1} on its CPU – {:.1} and {:.1} times as many here",
            self.steps_per_second,
            self.s4_table,
            self.s4_gpu_steps_per_second,
            self.s4_cpu_steps_per_second,
            self.over_s4_gpu,
            self.over_s4_cpu
        )
    }
}

/// Exactly so many particles, layer upon layer, in a cube of a meter that stands in a box twice as long.
pub fn world(particles: usize) -> World {
    let side = (particles as f64).cbrt().ceil().max(1.0) as usize;
    let spacing = 1.0 / side as f64;
    let mut fluid = Particles::default();
    for k in 0..particles {
        let cell = [k % side, (k / side) % side, k / (side * side)];
        fluid.id.push(k as u32);
        fluid.position.push(cell.map(|k| (k as f64 + 0.5) * spacing));
        fluid.velocity.push([0.0; 3]);
        fluid.pressure.push(0.0);
        fluid.kind.push(0);
    }
    let plane = |point: Vec3, normal: Vec3| Wall {
        name: "box".to_owned(),
        material: 0,
        shape: WallShape::Plane { point, normal },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    };
    let walls = vec![
        plane([0.0; 3], [1.0, 0.0, 0.0]),
        plane([0.0; 3], [0.0, 1.0, 0.0]),
        plane([0.0; 3], [0.0, 0.0, 1.0]),
        plane([2.0, 1.0, 0.0], [-1.0, 0.0, 0.0]),
        plane([2.0, 1.0, 0.0], [0.0, -1.0, 0.0]),
    ];
    let fastest = (2.0 * GRAVITY).sqrt();
    let fluids = Fluids {
        solver: Solver::Muller2003,
        projection: Projection::default(),
        smoothing: Smoothing::Poly6,
        spacing,
        support: SUPPORT * spacing,
        across: None,
        kinds: vec![Fluid {
            name: "fluid".to_owned(),
            density: DENSITY,
            viscosity: 0.0,
            sound_speed: ROOT_OVER_FLOW * fastest,
            state: StateLaw::Linear,
            background_pressure: 0.0,
            artificial_viscosity: 0.0,
            density_diffusion: 0.0,
            xsph: XSPH,
            restitution: 1.0,
            body_stiffness: 0.0,
            body_restitution: 0.0,
            surface_tension: 0.0,
            contact_angle: std::f64::consts::FRAC_PI_2,
        }],
        particles: fluid,
        boundary: Boundary::default(),
        slips: vec![true; walls.len()],
        inside: vec![false; walls.len()],
        fastest,
        inlets: Vec::new(),
        outlets: Vec::new(),
        hulls: Vec::new(),
    };
    World {
        fluids: Some(fluids),
        ..world_of(Default::default(), Interaction::default(), walls, -GRAVITY)
    }
}
