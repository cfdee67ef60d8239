//! What can be measured: worlds, steps, and what a step must move to and from memory.

use super::{bed, lattice, s4, tank};
use clap::ValueEnum;
use seixo::World;
use seixo_engine::world::{Grains, Interaction, Later, Material, Precision, Settings, Vec3, Wall, WallMotion, WallShape};
use seixo_laws::contact::{NormalLaw, TangentialLaw};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// A settled bed: Hertz and Mindlin with friction
    Bed,
    /// A settled bed: linear springs with friction
    BedLinear,
    /// A settled bed: Hertz without friction, no history, no rotation
    NormalOnly,
    /// Six contacts each from the first step: linear springs with friction and history
    Lattice,
    /// The same without friction
    LatticeNormal,
    /// The same without friction and without lists: cells made anew at every step
    LatticeCells,
    /// A cube of grains, each held by beams to its six neighbors, which it does not touch: three bonds a grain
    Bonds,
    /// A cube of water that breaks down in a tank of particles; what it sees, --support says
    Tank,
    /// A million frictionless spheres that fall into a box for 10 000 steps of 50 µs: the example of [ME964 2011]
    S2,
    /// A cube of fluid by [Müller 2003] that collapses in a box; seixo bench s4 prints the figures of [Silva 2010] beside
    Muller,
}

/// How a case is measured where the command line does not say.
pub struct Habits {
    pub particles: &'static [u32],
    pub settle: u64,
    pub steps: u64,
    pub repeat: u32,
}

impl Case {
    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Case::Bed => "bed",
            Case::BedLinear => "bed-linear",
            Case::NormalOnly => "normal-only",
            Case::Lattice => "lattice",
            Case::LatticeNormal => "lattice-normal",
            Case::LatticeCells => "lattice-cells",
            Case::Bonds => "bonds",
            Case::Tank => "tank",
            Case::S2 => "s2",
            Case::Muller => "muller",
        }
    }

    fn is_lattice(self) -> bool {
        matches!(self, Case::Lattice | Case::LatticeNormal | Case::LatticeCells)
    }

    /// Whether it is made of particles of a fluid.
    pub fn is_fluid(self) -> bool {
        matches!(self, Case::Tank | Case::Muller)
    }

    fn has_friction(self) -> bool {
        matches!(self, Case::Bed | Case::BedLinear | Case::Lattice | Case::Bonds)
    }

    /// How it is measured where the command line does not say.
    pub fn habits(self) -> Habits {
        const USUAL: &[u32] = &[100_000];
        const OF_S2: &[u32] = &[1_000_000];
        let (particles, settle, steps, repeat) = match self {
            Case::Bed | Case::BedLinear | Case::NormalOnly => (USUAL, 20_000, 500, 3),
            Case::Lattice | Case::Bonds | Case::Tank => (USUAL, 0, 200, 3),
            // Without friction a lattice under pressure gives way after some 250 steps.
            Case::LatticeNormal | Case::LatticeCells => (USUAL, 0, 50, 3),
            Case::S2 => (OF_S2, 0, 10_000, 1),
            Case::Muller => (USUAL, 0, 500, 3),
        };
        Habits {
            particles,
            settle,
            steps,
            repeat,
        }
    }

    /// What it starts from.
    pub fn world(self, particles: usize, solid_fraction: f64, support: f64) -> World {
        let (grains, length) = match self {
            Case::Bed | Case::BedLinear | Case::NormalOnly => bed::grains(bed::DIAMETER, particles, solid_fraction),
            Case::S2 => bed::grains(bed::DIAMETER_OF_S2, particles, solid_fraction),
            Case::Tank => return tank::world(particles, support),
            Case::Muller => return s4::fluid_alone(particles),
            Case::Lattice | Case::LatticeNormal | Case::LatticeCells => lattice::grains(particles, lattice::PRESSED),
            Case::Bonds => {
                let world = world_of(lattice::grains(particles, lattice::BONDED).0, self.interaction(), Vec::new(), 0.0);
                return World {
                    bonds: vec![lattice::bonds()],
                    ..world
                };
            }
        };
        let mut walls = open_box([length; 2]);
        if self.is_lattice() {
            walls.push(plane([length; 3], [0.0, 0.0, -1.0]));
        }
        let gravity = if self.is_lattice() { 0.0 } else { -9.81 };
        world_of(grains, self.interaction(), walls, gravity)
    }

    /// How its grains act on each other.
    pub fn interaction(self) -> Interaction {
        let stiffness = match self {
            Case::Bed | Case::NormalOnly | Case::Tank | Case::Muller => None,
            Case::BedLinear => Some(bed::STIFFNESS),
            Case::Lattice | Case::LatticeNormal | Case::LatticeCells | Case::Bonds => Some(lattice::stiffness()),
            Case::S2 => Some(stiffness(bed::DIAMETER_OF_S2, 20.0 * bed::STEP_OF_S2)),
        };
        let tangential = match (self.has_friction(), stiffness) {
            (false, _) => TangentialLaw::None,
            (true, None) => TangentialLaw::Mindlin,
            (true, Some(_)) => TangentialLaw::Linear,
        };
        Interaction {
            normal: if stiffness.is_some() { NormalLaw::Linear } else { NormalLaw::Hertz },
            tangential,
            restitution: 0.5,
            friction: 0.5,
            stiffness,
            ..Interaction::default()
        }
    }

    /// How it is stepped, but for the device.
    pub fn settings(self, threads: usize) -> Settings {
        let time_step = match self {
            Case::Bed | Case::BedLinear | Case::NormalOnly => Some(bed::STEP),
            Case::Lattice | Case::LatticeNormal | Case::LatticeCells => Some(lattice::STEP),
            Case::Bonds | Case::Tank | Case::Muller => None,
            Case::S2 => Some(bed::STEP_OF_S2),
        };
        Settings {
            time_step,
            skin: (self == Case::LatticeCells).then_some(0.0),
            threads,
            ..Settings::default()
        }
    }

    /// Bytes that one step of one grain must move to and from the memory of this machine: each field once per pass that needs it, the
    /// history of each contact once there and back. A lower bound: listed pairs that do not touch, and what caches lose, come on top.
    pub fn bytes_moved(self, contacts: f64, bonds: f64) -> f64 {
        const RECORD: f64 = 32.0;
        const TRIPLE: f64 = 24.0;
        if self == Case::Tank {
            // There and back: place, flow, velocity at half steps, excess and its rate before; there: forces, where the particle was listed. Then
            // place and flow are read, and forces written; each pair stands in one list.
            let advance = 2.0 * (2.0 * RECORD + TRIPLE + 16.0) + 2.0 * RECORD;
            return advance + 3.0 * RECORD + 0.5 * contacts * INDEX;
        }
        if self == Case::Muller {
            // Velocities after forces: velocity and force read, those written. With neighbors: these, place and density read, velocity written. Moved:
            // place and flow there and back, velocity there and back, where the particle was listed. Density: place read, it and its meaning written.
            // Force: place, flow and density read, force written. Each pair stands in two lists, which three sweeps read.
            let velocities = (TRIPLE + 2.0 * RECORD) + (3.0 * RECORD + TRIPLE);
            let moved = 2.0 * (2.0 * RECORD + TRIPLE) + RECORD;
            let densities = 2.0 * RECORD + 4.0 * RECORD + 8.0;
            return velocities + moved + densities + 4.0 * RECORD + 3.0 * contacts * INDEX;
        }
        let advance = 2.0 * (2.0 * RECORD + TRIPLE) + RECORD + TRIPLE;
        let contact = 2.0 * RECORD + RECORD + 2.0 * INDEX;
        if !self.has_friction() {
            return advance + contact;
        }
        let rotation = 2.0 * (RECORD + TRIPLE) + RECORD;
        let touching = advance + contact + rotation + 2.0 * RECORD + contacts * (INDEX + 2.0 * RECORD);
        if bonds == 0.0 {
            return touching;
        }
        // Orientations go on, which takes them and the spin; bonds read where grains are, how they move and turn, and add to forces and torques.
        let turning = 2.0 * RECORD + TRIPLE;
        touching + turning + 8.0 * RECORD + bonds * (2.0 * INDEX + (MADE + 4.0) * 8.0)
    }

    /// As [`Case::bytes_moved`], in the memory of a GPU, where a step is one pass and each of two grains lists the other. Making lists anew
    /// comes on top.
    pub fn bytes_moved_on_gpu(self, contacts: f64, bonds: f64, precision: Precision) -> f64 {
        let (double, single) = match precision {
            Precision::F64 => (8.0, 8.0),
            Precision::Mixed => (8.0, 4.0),
            Precision::F32 => (4.0, 4.0),
        };
        let (place, motion) = (4.0 * double, 4.0 * single);
        if self == Case::Tank {
            // There and back: place, velocity half a step before, excess; flow; the rate of swelling before. There: where the particle was listed.
            return 5.0 * place + 2.0 * (double + motion + single) + contacts * INDEX;
        }
        if self == Case::Muller {
            // Density: place read, it written. Force: place, flow, density and velocity read, force and velocity after it written. Moved: these, place,
            // density, where it was listed and what is booked read, place, flow, velocity and books written. All three read the lists.
            return (place + motion) + (2.0 * place + 4.0 * motion) + (7.0 * place + 4.0 * motion) + 3.0 * contacts * INDEX;
        }
        // There and back: position, velocity half a step before, velocity; there: where the grain was when the lists were made.
        let advance = 5.0 * place + 2.0 * motion;
        let entries = 2.0 * contacts;
        if !self.has_friction() {
            return advance + entries * INDEX;
        }
        let remembered = if self == Case::Bed { 4.0 } else { 3.0 };
        // There and back: angular velocity half a step before, angular velocity.
        let touching = advance + 2.0 * place + 2.0 * motion + entries * 2.0 * (INDEX + remembered * single);
        if bonds == 0.0 {
            return touching;
        }
        // Orientations go on; where grains are, how they move and turn is read once more; what bonds do to their grains goes through memory. Where
        // all grains stood alike when they were bonded, of how they stood half is read.
        let of_grain = 4.0 * place + 2.0 * motion + 2.0 * INDEX + 2.0 * double;
        let of_bond = 5.0 * INDEX + 4.0 * double + (12.0 + 2.0 * 8.0) * single;
        touching + of_grain + bonds * of_bond
    }
}

/// Numbers that tell how a bond was made.
const MADE: f64 = 8.0;
/// Of an entry of a list \[bytes\].
const INDEX: f64 = 4.0;
/// Of the grains \[kg/m³\].
const DENSITY: f64 = 2500.0;

/// The spring \[N/m\] with which a collision of grains of this diameter \[m\] takes so long \[s\]: t = π √(m/(2 k)).
pub fn stiffness(diameter: f64, duration: f64) -> f64 {
    let mass = DENSITY * std::f64::consts::PI / 6.0 * diameter.powi(3);
    0.5 * mass * (std::f64::consts::PI / duration).powi(2)
}

/// A wall without end.
pub fn plane(point: Vec3, normal: Vec3) -> Wall {
    Wall {
        name: "box".to_owned(),
        material: 0,
        shape: WallShape::Plane { point, normal },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    }
}

/// Floor and walls of a box of this length and width \[m\] with a corner at the origin.
pub fn open_box([length, width]: [f64; 2]) -> Vec<Wall> {
    let far = [length, width, 0.0];
    vec![
        plane([0.0; 3], [1.0, 0.0, 0.0]),
        plane([0.0; 3], [0.0, 1.0, 0.0]),
        plane([0.0; 3], [0.0, 0.0, 1.0]),
        plane(far, [-1.0, 0.0, 0.0]),
        plane(far, [0.0, -1.0, 0.0]),
    ]
}

/// Grains of one material, with gravity along z \[m/s²\].
pub fn world_of(grains: Grains, interaction: Interaction, walls: Vec<Wall>, gravity: f64) -> World {
    World {
        gravity: [0.0, 0.0, gravity],
        local_damping: 0.0,
        domain: None,
        materials: vec![Material {
            name: "grain".to_owned(),
            density: DENSITY,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(interaction)],
        groups: vec!["grains".to_owned()],
        grains,
        walls,
        later: Later::default(),
        conduction: None,
        fluids: None,
        bonds: Vec::new(),
        loads: Vec::new(),
    }
}

/// Random numbers from −1 to 1 (D. E. Knuth's linear congruence): the same world on every machine.
pub struct Jitter(pub u64);

impl Jitter {
    /// The next one.
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64 * 2.0 - 1.0
    }
}

/// Columns with room for so many grains.
pub fn with_room(particles: usize) -> Grains {
    Grains {
        id: Vec::with_capacity(particles),
        position: Vec::with_capacity(particles),
        velocity: Vec::with_capacity(particles),
        angular_velocity: Vec::with_capacity(particles),
        radius: Vec::with_capacity(particles),
        material: Vec::with_capacity(particles),
        group: Vec::with_capacity(particles),
        temperature: Vec::new(),
        bodies: Vec::new(),
    }
}
