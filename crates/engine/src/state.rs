//! The state of a simulation as named sections: what a checkpoint holds.

use crate::cell::PeriodicCell;
use std::collections::VecDeque;
use std::time::Instant;

/// One column of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Doubles.
    F64(Vec<f64>),
    /// 32-bit integers.
    U32(Vec<u32>),
    /// 64-bit integers.
    U64(Vec<u64>),
}

/// Named columns; the names are those of the field table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// (name, column), in a fixed order.
    pub sections: Vec<(String, Column)>,
}

impl State {
    /// The column of this name.
    pub fn get(&self, name: &str) -> Option<&Column> {
        self.sections.iter().find(|(n, _)| n == name).map(|(_, c)| c)
    }

    /// Puts all of it elsewhere.
    pub fn put_to(self, to: &mut dyn Sections) {
        self.sections.into_iter().for_each(|(name, column)| to.put(&name, column));
    }
}

/// Where named columns go as they are saved, one after the other: each may be let go of before the next is made.
pub trait Sections {
    /// Takes a column.
    fn put(&mut self, name: &str, column: Column);
}

impl Sections for State {
    fn put(&mut self, name: &str, column: Column) {
        self.sections.push((name.to_owned(), column));
    }
}

/// Grains as they stand, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrainSnapshot {
    /// Ids, ascending.
    pub id: Vec<u32>,
    /// Centers \[m\].
    pub position: Vec<[f64; 3]>,
    /// Velocities at this time \[m/s\].
    pub velocity: Vec<[f64; 3]>,
    /// Angular velocities at this time \[rad/s\].
    pub angular_velocity: Vec<[f64; 3]>,
    /// Forces of contacts, bonds, loads and fluids, gravity not included \[N\]; of what fluids do to a body, its grains have shares by the volumes of
    /// their spheres.
    pub force: Vec<[f64; 3]>,
    /// Torques of the same about the centers of the grains \[N m\].
    pub torque: Vec<[f64; 3]>,
    /// Radii \[m\].
    pub radius: Vec<f64>,
    /// Ids of the rigid bodies that carry them, −1 where none does; empty in a world without bodies.
    pub body: Vec<i64>,
    /// Masses \[kg\]; of grains that a body carries, shares of its mass by the volumes of their spheres.
    pub mass: Vec<f64>,
    /// Material indices.
    pub material: Vec<u32>,
    /// Group indices.
    pub group: Vec<u32>,
    /// Grains and wall elements touched.
    pub coordination: Vec<u32>,
    /// Orientations, unit quaternions w x y z; empty without bonds.
    pub orientation: Vec<[f64; 4]>,
    /// Temperatures \[K\]; empty where no heat flows.
    pub temperature: Vec<f64>,
    /// Mean pressure inside each grain from its contacts and bonds \[Pa\]; empty where nobody asked for it, since it takes all of them.
    pub pressure: Vec<f64>,
    /// Smallest id of the grains that each hangs together with by bonds; empty where nobody asked for it, since it takes all bonds.
    pub fragment: Vec<u32>,
    /// The periodic cell that they are in.
    pub cell: PeriodicCell,
}

/// Particles of fluids as they stand, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FluidSnapshot {
    /// Ids, ascending.
    pub id: Vec<u32>,
    /// Index of the fluid of each.
    pub kind: Vec<u32>,
    /// Places \[m\].
    pub position: Vec<[f64; 3]>,
    /// Velocities at this time \[m/s\].
    pub velocity: Vec<[f64; 3]>,
    /// Densities \[kg/m³\].
    pub density: Vec<f64>,
    /// Pressures \[Pa\].
    pub pressure: Vec<f64>,
}

/// Particles of fluids that passed an inlet or an outlet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passed {
    /// How many.
    pub count: u64,
    /// Their mass \[kg\].
    pub mass: f64,
}

impl Passed {
    /// Counts some of this mass each \[kg\].
    pub(crate) fn take(&mut self, count: usize, mass: f64) {
        self.count += count as u64;
        self.mass += count as f64 * mass;
    }
}

/// What fluids are like at a point, from the particles around it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FluidSample {
    /// How much of the surroundings is fluid: Σ V W, about 1 inside, ½ at a surface, 0 outside \[-\].
    pub share: f64,
    /// Pressure \[Pa\]; 0 outside.
    pub pressure: f64,
    /// Density \[kg/m³\]; 0 outside.
    pub density: f64,
    /// Velocity \[m/s\]; 0 outside.
    pub velocity: [f64; 3],
}

/// What sliding grains took from a wall.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallWear {
    /// Worn volume of the whole wall \[m³\].
    pub volume: f64,
    /// Worn volume of each of the triangles that show it \[m³\]: of an element that several show, by their areas.
    pub volumes: Vec<f64>,
    /// Worn volume over area of the element that each triangle shows \[m\].
    pub depths: Vec<f64>,
}

/// A wall as it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallSnapshot {
    /// Name as the scene spells it.
    pub name: String,
    /// Triangles that show it now \[m\]; none for a plane.
    pub triangles: Vec<[[f64; 3]; 3]>,
    /// (point, normal) now, for a plane; neither these nor triangles while the wall is not there.
    pub plane: Option<([f64; 3], [f64; 3])>,
    /// Where its middle is now, see [`crate::world::WallShape::middle`] \[m\].
    pub position: [f64; 3],
    /// Angle that it turned about its axis since time zero \[rad\].
    pub angle: f64,
    /// Force of the grains on the wall \[N\].
    pub force: [f64; 3],
    /// Torque of the grains on the wall about its axis point (the origin for a fixed wall) \[N m\].
    pub torque: [f64; 3],
    /// What is worn of it; `None` for a wall that does not wear.
    pub wear: Option<WallWear>,
}

/// The energy ledger \[J\]: where the energy is and where it went since time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Σ ½ m v².
    pub kinetic: f64,
    /// Σ ½ I ω².
    pub rotational: f64,
    /// Stored in normal contact springs.
    pub elastic_normal: f64,
    /// Stored in tangential contact springs.
    pub elastic_tangential: f64,
    /// Stored in bonds.
    pub elastic_bonds: f64,
    /// Stored by the pressure of fluids.
    pub compression: f64,
    /// Stored by the tension of their surfaces, less a constant for each particle.
    pub surface: f64,
    /// −Σ m g·x.
    pub gravity: f64,
    /// Taken by normal damping.
    pub normal_damping: f64,
    /// Taken by tangential damping.
    pub tangential_damping: f64,
    /// Taken by frictional sliding (and by tangential springs let go).
    pub friction: f64,
    /// Taken by local non-viscous damping.
    pub local_damping: f64,
    /// Taken by damping in bonds.
    pub bond_damping: f64,
    /// Held by bonds when they broke or were dissolved.
    pub fracture: f64,
    /// Taken by the viscosity of fluids.
    pub viscosity: f64,
    /// Taken by the diffusion of their densities; of incompressible ones, by pressures that keep these.
    pub diffusion: f64,
    /// Work done on grains and fluids by walls, by loads, and by what holds bodies.
    pub wall_work: f64,
    /// Taken along by grains that left the domain or were removed.
    pub left_domain: f64,
    /// Put in between two steps: with grains that came, by velocities, walls, gravity or holding that were changed. What is held is not in the books.
    pub inserted: f64,
    /// Total of all terms at time zero.
    pub initial: f64,
    /// What the balance misses: stored + taken − wall work − inserted − initial.
    pub residual: f64,
}

impl Ledger {
    /// Column names with units, in the order of [`Ledger::values`].
    pub const NAMES: [&'static str; 21] = [
        "kinetic [J]",
        "rotational [J]",
        "elastic_normal [J]",
        "elastic_tangential [J]",
        "elastic_bonds [J]",
        "compression [J]",
        "surface [J]",
        "gravity [J]",
        "normal_damping [J]",
        "tangential_damping [J]",
        "friction [J]",
        "local_damping [J]",
        "bond_damping [J]",
        "fracture [J]",
        "viscosity [J]",
        "diffusion [J]",
        "wall_work [J]",
        "left_domain [J]",
        "inserted [J]",
        "initial [J]",
        "residual [J]",
    ];

    /// What grains, contacts, bonds and fluids hold.
    pub(crate) fn total(&self) -> f64 {
        self.kinetic
            + self.rotational
            + self.elastic_normal
            + self.elastic_tangential
            + self.elastic_bonds
            + self.compression
            + self.surface
            + self.gravity
    }

    /// The terms in the order of [`Ledger::NAMES`].
    pub fn values(&self) -> [f64; 21] {
        [
            self.kinetic,
            self.rotational,
            self.elastic_normal,
            self.elastic_tangential,
            self.elastic_bonds,
            self.compression,
            self.surface,
            self.gravity,
            self.normal_damping,
            self.tangential_damping,
            self.friction,
            self.local_damping,
            self.bond_damping,
            self.fracture,
            self.viscosity,
            self.diffusion,
            self.wall_work,
            self.left_domain,
            self.inserted,
            self.initial,
            self.residual,
        ]
    }
}

/// The ledger of heat \[J\]: where it is and where it went since time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeatLedger {
    /// Σ m c T of all grains.
    pub held: f64,
    /// Given by walls.
    pub from_walls: f64,
    /// Brought by grains that came.
    pub inserted: f64,
    /// Taken along by grains that left.
    pub left: f64,
    /// Held at time zero.
    pub initial: f64,
    /// What the balance misses: held − from walls − inserted + left − initial.
    pub residual: f64,
}

impl HeatLedger {
    /// Column names with units, in the order of [`HeatLedger::values`].
    pub const NAMES: [&'static str; 6] = [
        "held [J]",
        "from_walls [J]",
        "inserted [J]",
        "left [J]",
        "initial [J]",
        "residual [J]",
    ];

    /// The terms in the order of [`HeatLedger::NAMES`].
    pub fn values(&self) -> [f64; 6] {
        [self.held, self.from_walls, self.inserted, self.left, self.initial, self.residual]
    }
}

/// Seconds of wall time per pass since the start, in the order of the step, by the words of the step.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// (pass, seconds, calls).
    pub passes: Vec<(&'static str, f64, u64)>,
    /// The first that a GPU does.
    of_gpu: usize,
}

impl Profile {
    /// Nothing yet of these passes.
    pub(crate) fn new(passes: &[&'static str]) -> Profile {
        Profile::beside(passes, &[])
    }

    /// Nothing yet of passes of a GPU, beside others.
    pub(crate) fn beside(others: &[&'static str], of_gpu: &[&'static str]) -> Profile {
        Profile {
            passes: others.iter().chain(of_gpu).map(|&name| (name, 0.0, 0)).collect(),
            of_gpu: if of_gpu.is_empty() { 0 } else { others.len() },
        }
    }

    /// Books as [`Profile::book`] does, by the number among the passes of a GPU.
    pub(crate) fn book_on_gpu(&mut self, pass: usize, start: Instant, calls: u64) {
        self.book(self.of_gpu + pass, start, calls);
    }

    /// Adds what was booked elsewhere of the passes of a GPU alone.
    pub(crate) fn add_of_gpu(&mut self, other: &Profile) {
        for (pass, (_, seconds, calls)) in self.passes[self.of_gpu..].iter_mut().zip(&other.passes) {
            pass.1 += seconds;
            pass.2 += calls;
        }
    }

    /// Books the time since `start`, in which a pass was called so often.
    pub(crate) fn book(&mut self, pass: usize, start: Instant, calls: u64) {
        let entry = &mut self.passes[pass];
        entry.1 += start.elapsed().as_secs_f64();
        entry.2 += calls;
    }
}

/// A stretch of wall time that a pass took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The pass, by the words of the step.
    pub pass: &'static str,
    /// Whether a GPU was at it: from when the host asked for it to when the host had it.
    pub is_on_gpu: bool,
    /// The step that it leads to.
    pub step: u64,
    /// When it began and ended, since the simulation was set up \[s\].
    pub from: f64,
    /// See `from`.
    pub to: f64,
}

/// The latest spans of what goes on at the same time.
pub(crate) struct Trace {
    start: Instant,
    /// When the GPU was last asked.
    asked: Instant,
    spans: VecDeque<Span>,
}

impl Trace {
    /// Spans that are kept.
    const MOST: usize = 4096;

    pub(crate) fn new() -> Trace {
        Trace {
            start: Instant::now(),
            asked: Instant::now(),
            spans: VecDeque::with_capacity(Trace::MOST),
        }
    }

    /// Notes that a GPU begins.
    pub(crate) fn ask(&mut self) {
        self.asked = Instant::now();
    }

    /// Notes what a pass took that ends now, on a GPU since that was asked.
    pub(crate) fn note(&mut self, pass: &'static str, began: Option<Instant>, step: u64) {
        if self.spans.len() == Trace::MOST {
            self.spans.pop_front();
        }
        let since = |instant: Instant| instant.duration_since(self.start).as_secs_f64();
        self.spans.push_back(Span {
            pass,
            is_on_gpu: began.is_none(),
            step,
            from: since(began.unwrap_or(self.asked)),
            to: since(Instant::now()),
        });
    }

    pub(crate) fn spans(&self) -> impl Iterator<Item = &Span> {
        self.spans.iter()
    }
}
