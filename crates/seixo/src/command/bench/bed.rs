//! The bed: grains that drop into an open box, as in the decks of other programs.

use clap::ValueEnum;
use seixo::World;
use seixo_engine::world::{Grains, Interaction, Material, Settings, Vec3, Wall, WallMotion, WallShape};
use seixo_laws::contact::{NormalLaw, TangentialLaw};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// Hertz and Mindlin with friction
    Bed,
    /// Linear springs with friction
    BedLinear,
    /// Hertz without friction: no history, no rotation
    NormalOnly,
}

impl Case {
    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Case::Bed => "bed",
            Case::BedLinear => "bed-linear",
            Case::NormalOnly => "normal-only",
        }
    }
}

/// Diameter of the grains \[m\].
const DIAMETER: f64 = 1e-3;
/// Layers of grains at the start.
const LAYERS: f64 = 30.0;
/// Normal spring of the linear law \[N/m\]: a collision lasts some 20 steps.
const STIFFNESS: f64 = 400.0;

/// Random numbers from −1 to 1 (D. E. Knuth's linear congruence): the same bed on every machine.
struct Jitter(u64);

impl Jitter {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64 * 2.0 - 1.0
    }
}

/// The bed before it falls: a jittered lattice in a box without lid.
pub fn world(case: Case, particles: usize, solid_fraction: f64) -> World {
    let spacing = DIAMETER * (std::f64::consts::PI / 6.0 / solid_fraction).powf(1.0 / 3.0);
    let reach = (0.1 * DIAMETER).min(0.5 * (spacing - DIAMETER)).max(0.0);
    let side = (particles as f64 / LAYERS).sqrt().ceil() as usize;
    let mut jitter = Jitter(1);
    let mut grains = Grains::default();
    for i in 0..particles {
        let cell = [i % side, (i / side) % side, i / (side * side)];
        let center = cell.map(|k| k as f64 * spacing + spacing / 2.0 + reach * jitter.next());
        let velocity = [0.0; 3].map(|_: f64| jitter.next() * 0.05);
        grains.push(i as u32, center, velocity, [0.0; 3], DIAMETER / 2.0, 0, 0);
    }
    let length = side as f64 * spacing;
    let plane = |point: Vec3, normal: Vec3| Wall {
        name: "box".to_owned(),
        material: 0,
        shape: WallShape::Plane { point, normal },
        motion: WallMotion::default(),
    };
    let (normal, tangential) = match case {
        Case::Bed => (NormalLaw::Hertz, TangentialLaw::Mindlin),
        Case::BedLinear => (NormalLaw::Linear, TangentialLaw::Linear),
        Case::NormalOnly => (NormalLaw::Hertz, TangentialLaw::None),
    };
    World {
        gravity: [0.0, 0.0, -9.81],
        local_damping: 0.0,
        domain: None,
        materials: vec![Material {
            name: "grain".to_owned(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(Interaction {
            normal,
            tangential,
            restitution: 0.5,
            friction: 0.5,
            stiffness: (case == Case::BedLinear).then_some(STIFFNESS),
            tangential_stiffness: None,
        })],
        groups: vec!["bed".to_owned()],
        grains,
        walls: vec![
            plane([0.0; 3], [1.0, 0.0, 0.0]),
            plane([0.0; 3], [0.0, 1.0, 0.0]),
            plane([0.0; 3], [0.0, 0.0, 1.0]),
            plane([length; 3], [-1.0, 0.0, 0.0]),
            plane([length; 3], [0.0, -1.0, 0.0]),
        ],
    }
}

/// Steps of 5 µs.
pub fn settings(threads: usize) -> Settings {
    Settings {
        time_step: Some(5e-6),
        threads,
        ..Settings::default()
    }
}

/// Bytes that one step of one grain must move to and from memory: each field once per pass that needs it, the history of each contact
/// once there and back. A lower bound: listed pairs that do not touch, and what caches lose, come on top.
pub fn bytes_moved(case: Case, contacts: f64) -> f64 {
    const RECORD: f64 = 32.0;
    const TRIPLE: f64 = 24.0;
    const INDEX: f64 = 4.0;
    let advance = 2.0 * (2.0 * RECORD + TRIPLE) + RECORD + TRIPLE;
    let contact = 2.0 * RECORD + RECORD + 2.0 * INDEX;
    if case == Case::NormalOnly {
        return advance + contact;
    }
    let rotation = 2.0 * (RECORD + TRIPLE) + RECORD;
    advance + contact + rotation + 2.0 * RECORD + contacts * (INDEX + 2.0 * RECORD)
}
