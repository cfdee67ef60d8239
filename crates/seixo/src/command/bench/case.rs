//! Cases of the benchmark: worlds, settings, and the memory traffic of a step.

use super::lattice::Lattice;
use super::{bed, lattice, rigid_fluid, tank};
use clap::ValueEnum;
use seixo_device::{Cpu, Strided};
use seixo_engine::world::World;
use seixo_engine::world::{Grains, Interaction, Material, Precision, Settings, Vec3, Wall, WallMotion, WallShape};
use seixo_laws::contact::{NormalLaw, TangentialLaw};

/// Case of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// Settled bed: Hertz and Mindlin laws, with friction
    Bed,
    /// Settled bed: linear law, with friction
    BedLinear,
    /// Settled bed: Hertz law without friction, contact history and rotation
    NormalOnly,
    /// Lattice with six contacts per grain from the first step: linear law with friction and contact history
    Lattice,
    /// The same lattice without friction
    LatticeNormal,
    /// The same lattice without friction and without neighbor lists: cells are rebuilt at every step
    LatticeCells,
    /// Cube of grains without contacts, each bonded to its six neighbors by beams: three bonds per grain
    Bonds,
    /// Dam break: cube of weakly compressible water in a tank of wall particles; --support sets its number of neighbors
    Tank,
    /// Example of [ME964 2011]: a million spheres without friction fall into a box, 10 000 steps of 50 µs
    #[value(alias = "s2")]
    FallingSpheres,
    /// Dam break of a cube of fluid by [Müller 2003]; `seixo bench rigid-fluid` compares with the figures of [Silva 2010]
    Muller,
}

/// Defaults for the measurement of a case.
pub struct CaseDefaults {
    pub particles: &'static [u32],
    pub settle: u64,
    pub steps: u64,
    pub repeat: u32,
}

impl Case {
    /// Name on the command line.
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
            Case::FallingSpheres => "falling-spheres",
            Case::Muller => "muller",
        }
    }

    /// Whether the case has fluid particles.
    pub fn is_fluid(self) -> bool {
        matches!(self, Case::Tank | Case::Muller)
    }

    fn has_friction(self) -> bool {
        matches!(self, Case::Bed | Case::BedLinear | Case::Lattice | Case::Bonds)
    }

    /// Returns the defaults for the measurement.
    pub fn defaults(self) -> CaseDefaults {
        const USUAL: &[u32] = &[100_000];
        const OF_FALLING_SPHERES: &[u32] = &[1_000_000];
        let (particles, settle, steps, repeat) = match self {
            Case::Bed | Case::BedLinear | Case::NormalOnly => (USUAL, 20_000, 500, 3),
            Case::Lattice | Case::Bonds | Case::Tank => (USUAL, 0, 200, 3),
            // A compressed lattice without friction collapses after some 250 steps.
            Case::LatticeNormal | Case::LatticeCells => (USUAL, 0, 50, 3),
            Case::FallingSpheres => (OF_FALLING_SPHERES, 0, 10_000, 1),
            Case::Muller => (USUAL, 0, 500, 3),
        };
        CaseDefaults {
            particles,
            settle,
            steps,
            repeat,
        }
    }

    /// Builds the world at the start.
    pub fn world(self, particles: usize, solid_fraction: f64, support: f64) -> World {
        let (grains, length) = match self {
            Case::Bed | Case::BedLinear | Case::NormalOnly => bed::grains(bed::DIAMETER, particles, solid_fraction),
            Case::FallingSpheres => bed::grains(bed::REFERENCE_DIAMETER, particles, solid_fraction),
            Case::Tank => return tank::world(particles, support),
            Case::Muller => return rigid_fluid::fluid_alone(particles),
            Case::Lattice | Case::LatticeNormal | Case::LatticeCells => {
                let lattice = Lattice::row(1, particles, lattice::PRESSED);
                return World {
                    grains: lattice.grains(),
                    ..self.box_of(&lattice)
                };
            }
            Case::Bonds => {
                let world = world_of(
                    Lattice::row(1, particles, lattice::BONDED).grains(),
                    self.interaction(),
                    Vec::new(),
                    0.0,
                );
                return World {
                    bonds: vec![lattice::bonds()],
                    ..world
                };
            }
        };
        world_of(grains, self.interaction(), open_box([length; 2]), -9.81)
    }

    /// Builds the world of a lattice, without its grains: a closed box around them, and no gravity.
    pub fn box_of(self, lattice: &Lattice) -> World {
        let far = lattice.lengths();
        let mut walls = open_box([far[0], far[1]]);
        walls.push(plane(far, [0.0, 0.0, -1.0]));
        world_of(Grains::default(), self.interaction(), walls, 0.0)
    }

    /// Whether its grains can have many sizes. With linear springs as stiff as those of small grains, large grains would crush them.
    pub fn has_sizes(self) -> bool {
        matches!(self, Case::Bed | Case::NormalOnly)
    }

    /// Builds the world of a bed of many sizes at the start; `spread` is the largest radius over the smallest.
    ///
    /// # Errors
    /// If the grains do not fit.
    pub fn world_of_many_sizes(self, particles: usize, spread: f64, solid_fraction: f64) -> Result<World, String> {
        let (grains, length) = bed::of_many_sizes(particles, spread, solid_fraction)?;
        Ok(world_of(grains, self.interaction(), open_box([length; 2]), -9.81))
    }

    /// Returns the contact law of its grains.
    pub fn interaction(self) -> Interaction {
        let stiffness = match self {
            Case::Bed | Case::NormalOnly | Case::Tank | Case::Muller => None,
            Case::BedLinear => Some(bed::STIFFNESS),
            Case::Lattice | Case::LatticeNormal | Case::LatticeCells | Case::Bonds => Some(lattice::stiffness()),
            Case::FallingSpheres => Some(stiffness(bed::REFERENCE_DIAMETER, 20.0 * bed::REFERENCE_STEP)),
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

    /// Returns the settings, except for the device.
    pub fn settings(self, threads: usize) -> Settings {
        let time_step = match self {
            Case::Bed | Case::BedLinear | Case::NormalOnly => Some(bed::STEP),
            Case::Lattice | Case::LatticeNormal | Case::LatticeCells => Some(lattice::STEP),
            Case::Bonds | Case::Tank | Case::Muller => None,
            Case::FallingSpheres => Some(bed::REFERENCE_STEP),
        };
        Settings {
            time_step,
            skin: (self == Case::LatticeCells).then_some(0.0),
            threads,
            ..Settings::default()
        }
    }

    /// Bytes of memory traffic on the CPU for one step of one particle: each field once per pass that uses it, and each contact history read and
    /// written once. A lower bound: listed pairs without contact and cache misses add to it.
    pub fn bytes_moved(self, contacts: f64, bonds: f64, precision: Precision) -> f64 {
        const RECORD: f64 = 32.0;
        const TRIPLE: f64 = 24.0;
        if self == Case::Tank {
            // Read and written: position, velocity and pressure, velocity at half steps, density excess and its previous rate. Read: forces, and the
            // position at the last list rebuild. Then position, velocity and pressure are read, and forces written; each pair is in one list.
            let advance = 2.0 * (2.0 * RECORD + TRIPLE + 16.0) + 2.0 * RECORD;
            return advance + 3.0 * RECORD + 0.5 * contacts * INDEX;
        }
        if self == Case::Muller {
            // Velocity after forces: reads velocity and force, writes velocity. XSPH: reads velocity, position and density, writes velocity. Motion:
            // reads and writes position, velocity and pressure, and the half-step velocity; reads the position at the last list rebuild. Density:
            // reads the position, writes density and values derived from it. Force: reads position, velocity, pressure and density, writes the
            // force. Each pair is in two lists, which three loops read.
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
        let history = if precision == Precision::Mixed { 0.5 * RECORD } else { RECORD };
        let touching = advance + contact + rotation + 2.0 * RECORD + contacts * (INDEX + 2.0 * history);
        if bonds == 0.0 {
            return touching;
        }
        // The update of orientations reads and writes them, and reads the angular velocity. Bonds read position, velocity, orientation and angular
        // velocity, and add to forces and torques.
        let turning = 2.0 * RECORD + TRIPLE;
        touching + turning + 8.0 * RECORD + bonds * (2.0 * INDEX + (MADE + 4.0) * 8.0)
    }

    /// As [`Case::bytes_moved`], on a GPU: a step is one pass, and each pair is in the lists of both grains. Rebuilding the lists adds to it.
    pub fn bytes_moved_on_gpu(self, contacts: f64, bonds: f64, precision: Precision) -> f64 {
        let (double, single) = match precision {
            Precision::F64 => (8.0, 8.0),
            Precision::Mixed => (8.0, 4.0),
            Precision::F32 => (4.0, 4.0),
        };
        let (place, motion) = (4.0 * double, 4.0 * single);
        if self == Case::Tank {
            // Read and written: position, half-step velocity, density excess; velocity and pressure; previous density rate. Read: position at the
            // last list rebuild.
            return 5.0 * place + 2.0 * (double + motion + single) + contacts * INDEX;
        }
        if self == Case::Muller {
            // Density: reads the position, writes the density. Force: reads position, velocity, pressure and density, writes the force and the new
            // velocity. Motion: reads these, position, density, position at the last list rebuild and energies; writes position, velocity, pressure
            // and energies. All three read lists.
            return (place + motion) + (2.0 * place + 4.0 * motion) + (7.0 * place + 4.0 * motion) + 3.0 * contacts * INDEX;
        }
        // Read and written: position, half-step velocity, velocity; in `mixed` the half-step velocity less the velocity, in single precision. The position at the last rebuild is read in few steps, but in each without lists.
        let listed_at = if self == Case::LatticeCells { place } else { 0.0 };
        let advance = 2.0 * place + 4.0 * motion + listed_at;
        let entries = 2.0 * contacts;
        if !self.has_friction() {
            return advance + entries * INDEX;
        }
        let remembered = if self == Case::Bed { 4.0 } else { 3.0 };
        // Read and written: half-step angular velocity, angular velocity, and the histories of contacts. Entries are written only if a contact begins or
        // ends.
        let touching = advance + 4.0 * motion + entries * (INDEX + 2.0 * remembered * single);
        if bonds == 0.0 {
            return touching;
        }
        // Orientations are updated; positions, velocities and orientations are read once more; bond forces pass through memory. If all grains had the
        // same orientation when they were bonded, half of the initial orientations are read.
        let of_grain = 4.0 * place + 2.0 * motion + 2.0 * INDEX + 2.0 * double;
        let of_bond = 5.0 * INDEX + 4.0 * double + (12.0 + 2.0 * 8.0) * single;
        touching + of_grain + bonds * of_bond
    }
}

/// Numbers that describe a bond at its creation.
const MADE: f64 = 8.0;
/// Size of a list entry \[bytes\].
const INDEX: f64 = 4.0;
/// Density of the grains \[kg/m³\].
const DENSITY: f64 = 2500.0;

/// Normal stiffness \[N/m\] for which a collision of grains of this diameter \[m\] lasts `duration` \[s\]: t = π √(m/(2 k)).
pub fn stiffness(diameter: f64, duration: f64) -> f64 {
    let mass = DENSITY * std::f64::consts::PI / 6.0 * diameter.powi(3);
    0.5 * mass * (std::f64::consts::PI / duration).powi(2)
}

/// Infinite plane wall.
pub fn plane(point: Vec3, normal: Vec3) -> Wall {
    Wall {
        name: "box".to_owned(),
        material: 0,
        shape: WallShape::Plane { point, normal },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    }
}

/// Floor and walls of a box of this length and width \[m\], with a corner at the origin.
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

/// World of grains of one material, with gravity along z \[m/s²\].
pub fn world_of(grains: Grains, interaction: Interaction, walls: Vec<Wall>, gravity: f64) -> World {
    World {
        gravity: [0.0, 0.0, gravity],
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
        ..World::default()
    }
}

/// Factor and addend of a step of [`Jitter`].
const FACTOR: u64 = 6_364_136_223_846_793_005;
const ADDEND: u64 = 1_442_695_040_888_963_407;

/// Random numbers from −1 to 1 by D. E. Knuth's linear congruential generator; every machine gets the same world.
pub struct Jitter(pub u64);

impl Jitter {
    /// Returns the next number.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(FACTOR).wrapping_add(ADDEND);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64 * 2.0 - 1.0
    }

    /// Leaves out this many numbers. A step of the generator is x → a x + c, so twice as many steps are x → a² x + (a + 1) c.
    pub fn skip(&mut self, mut numbers: u64) {
        let (mut factor, mut addend) = (FACTOR, ADDEND);
        while numbers > 0 {
            if numbers % 2 == 1 {
                self.0 = self.0.wrapping_mul(factor).wrapping_add(addend);
            }
            addend = addend.wrapping_mul(factor.wrapping_add(1));
            factor = factor.wrapping_mul(factor);
            numbers /= 2;
        }
    }
}

/// Grains that a thread lays out at once.
const BLOCK: usize = 1 << 16;

/// Returns grains of one size, which all cores lay out. `of` gives center \[m\] and velocity \[m/s\] of each, and takes `numbers` random numbers.
pub fn laid_out(particles: usize, radius: f64, numbers: u64, of: impl Fn(usize, &mut Jitter) -> [Vec3; 2] + Sync) -> Grains {
    let (mut position, mut velocity) = (vec![[0.0; 3]; particles], vec![[0.0; 3]; particles]);
    let lay_out = |block: usize, (position, velocity): (Strided<Vec3>, Strided<Vec3>)| {
        let mut jitter = Jitter(1);
        jitter.skip(numbers * (block * BLOCK) as u64);
        for (k, (center, motion)) in position.items.iter_mut().zip(velocity.items).enumerate() {
            [*center, *motion] = of(block * BLOCK + k, &mut jitter);
        }
    };
    let data = (
        Strided {
            items: &mut position[..],
            per_part: BLOCK,
        },
        Strided {
            items: &mut velocity[..],
            per_part: BLOCK,
        },
    );
    match Cpu::new(0) {
        Ok(cores) => cores.run(particles.div_ceil(BLOCK), data, lay_out),
        // Without further threads, this one lays out all.
        Err(_) => lay_out(0, data),
    }
    Grains {
        id: (0..particles as u32).collect(),
        position,
        velocity,
        angular_velocity: vec![[0.0; 3]; particles],
        radius: vec![radius; particles],
        material: vec![0; particles],
        group: vec![0; particles],
        ..Grains::default()
    }
}

/// Returns an empty table of grains with capacity for `particles`.
pub fn with_room(particles: usize) -> Grains {
    Grains {
        id: Vec::with_capacity(particles),
        position: Vec::with_capacity(particles),
        velocity: Vec::with_capacity(particles),
        angular_velocity: Vec::with_capacity(particles),
        radius: Vec::with_capacity(particles),
        material: Vec::with_capacity(particles),
        group: Vec::with_capacity(particles),
        ..Grains::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_left_out_are_those_that_would_have_come() {
        for left_out in [0, 1, 2, 5, 64, 1000, 393_216] {
            let (mut one_by_one, mut at_once) = (Jitter(1), Jitter(1));
            for _ in 0..left_out {
                one_by_one.next();
            }
            at_once.skip(left_out);
            assert_eq!(one_by_one.next(), at_once.next(), "{left_out}");
        }
    }

    #[test]
    fn cores_lay_out_the_grains_that_one_would_lay_out() {
        let of = |i: usize, jitter: &mut Jitter| {
            let center = [0.0, 1.0, 2.0].map(|x: f64| x + i as f64 + jitter.next());
            [center, [0.0; 3].map(|_: f64| jitter.next())]
        };
        let particles = 2 * BLOCK + 100;
        let grains = laid_out(particles, 0.5, 6, of);
        let mut jitter = Jitter(1);
        for i in 0..particles {
            assert_eq!([grains.position[i], grains.velocity[i]], of(i, &mut jitter), "{i}");
        }
        assert_eq!((grains.id[particles - 1], grains.radius.len()), (particles as u32 - 1, particles));
    }
}
