//! State of a simulation as named sections: the content of a checkpoint.
//!
//! ```
//! use seixo_engine::state::{Column, Sections, State};
//!
//! let mut state = State::default();
//! state.put("radius", Column::F64(vec![1e-3, 2e-3]));
//! assert_eq!(state.get("radius"), Some(&Column::F64(vec![1e-3, 2e-3])));
//! assert_eq!(state.get("torque"), None);
//! ```

pub(crate) mod arrays;
mod timeline;

use crate::periodic_cell::PeriodicCell;
pub use crate::scalars::{GrainScalar, GrainScalars, StartScalars};
use crate::world::{PolyhedralShape, volume_of_sphere};
pub use arrays::{ArrayMemory, Arrays, ArraysError, NumberType, ParticleArray};
use seixo_laws::Quaternion;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
pub(crate) use timeline::Timeline;
pub use timeline::{TimelineRow, TimelineSpan};

/// A column of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Double-precision numbers.
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

    /// Moves all columns to `to`.
    pub fn put_to(self, to: &mut dyn Sections) {
        self.sections.into_iter().for_each(|(name, column)| to.put(&name, column));
    }
}

/// A sink for named columns, which are saved one after the other; each may be freed before the next is made.
pub trait Sections {
    /// Takes a column.
    fn put(&mut self, name: &str, column: Column);
    /// Takes columns that are still to be made, now or later.
    fn put_pending(&mut self, columns: PendingColumns);
}

/// Columns that are still to be made, from data that no longer change: any thread can put them.
pub type PendingColumns = Box<dyn FnOnce(&mut dyn Sections) + Send>;

impl Sections for State {
    fn put(&mut self, name: &str, column: Column) {
        self.sections.push((name.to_owned(), column));
    }

    fn put_pending(&mut self, columns: PendingColumns) {
        let all: &mut dyn Sections = self;
        columns(all);
    }
}

/// A state whose pending columns are not made yet, so that a simulation can go on before they are.
///
/// ```
/// use seixo_engine::state::{Column, PendingState, Sections, State};
///
/// let mut pending = PendingState::default();
/// pending.put("id", Column::U32(vec![3]));
/// pending.put_pending(Box::new(|to: &mut dyn Sections| to.put("radius", Column::F64(vec![1e-3]))));
/// let mut state = State::default();
/// std::thread::scope(|scope| {
///     scope.spawn(|| pending.put_to(&mut state));
/// });
/// assert_eq!(state.sections.len(), 2);
/// ```
#[derive(Default)]
pub struct PendingState(Vec<PendingColumns>);

impl PendingState {
    /// Makes all columns, one after the other, and moves them to `to`.
    pub fn put_to(self, to: &mut dyn Sections) {
        for columns in self.0 {
            let all: &mut dyn Sections = &mut *to;
            columns(all);
        }
    }
}

impl Sections for PendingState {
    fn put(&mut self, name: &str, column: Column) {
        let name = name.to_owned();
        self.0.push(Box::new(move |to: &mut dyn Sections| to.put(&name, column)));
    }

    fn put_pending(&mut self, columns: PendingColumns) {
        self.0.push(columns);
    }
}

/// Grains at one time, in the order of their ids.
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
    /// Forces of contacts, bonds, loads and fluids, without gravity \[N\]. Loads are those of groups, and external forces on single grains. A force of
    /// fluids on a body is distributed over its grains by the volumes of their spheres.
    pub force: Vec<[f64; 3]>,
    /// Torques of the same forces about the centers of the grains \[N m\].
    pub torque: Vec<[f64; 3]>,
    /// Radii \[m\].
    pub radius: Vec<f64>,
    /// Ids of the rigid bodies that carry them, −1 for free grains; empty in a world without bodies.
    pub body: Vec<i64>,
    /// Masses \[kg\]; the mass of a body is distributed over its grains by the volumes of their spheres.
    pub mass: Vec<f64>,
    /// Volumes \[m³\], see [`GrainSnapshot::volume_of`]; may be left out.
    pub volume: Vec<f64>,
    /// 0 for a sphere, k for the shape k − 1 of [`GrainSnapshot::shapes`]; empty without polyhedral grains.
    pub shape: Vec<u32>,
    /// Shapes of polyhedral grains.
    pub shapes: Arc<[PolyhedralShape]>,
    /// Material indices.
    pub material: Vec<u32>,
    /// Group indices.
    pub group: Vec<u32>,
    /// Numbers of grains and wall elements in contact with each grain.
    pub coordination: Vec<u32>,
    /// Orientations, unit quaternions w x y z: of polyhedral grains and of the rigid bodies that carry grains those of their principal axes. Free spheres
    /// rotate with bonds only. Empty in a world without bonds, polyhedral grains and rigid bodies.
    pub orientation: Vec<[f64; 4]>,
    /// Scalars that grains carry, such as temperatures.
    pub scalars: GrainScalars,
    /// Mean pressure inside each grain from its contacts and bonds \[Pa\]; empty if not requested, as it requires all of them.
    pub pressure: Vec<f64>,
    /// Smallest id of the grains connected to each grain by bonds; empty if not requested, as it requires all bonds.
    pub fragment: Vec<u32>,
    /// Their periodic cell.
    pub cell: PeriodicCell,
}

impl GrainSnapshot {
    /// Volume of the grain at this place of the snapshot \[m³\]: of a polyhedral grain that of its shape, else that of its sphere. Whatever adds up
    /// volumes of grains takes them from here.
    pub fn volume_of(&self, k: usize) -> f64 {
        self.volume.get(k).copied().unwrap_or_else(|| {
            let radius = self.radius[k];
            self.shape_of(k)
                .map_or_else(|| volume_of_sphere(radius), |shape| shape.volume_at(radius))
        })
    }

    /// Orientations as [`GrainSnapshot::orientation`], but of polyhedral grains those of the axes in which their shapes were drawn. Without the column of
    /// shapes they are the same.
    pub fn drawn_orientation(&self) -> Cow<'_, [[f64; 4]]> {
        if self.orientation.len() != self.shape.len() {
            return Cow::Borrowed(&self.orientation);
        }
        let drawn = |(k, &orientation): (usize, &[f64; 4])| {
            let axes = self.shape_of(k).and_then(|shape| shape.drawn_axes);
            axes.map_or(orientation, |axes| {
                let Quaternion { w, x, y, z } = quaternion(orientation).after(&quaternion(axes).back());
                [w, x, y, z]
            })
        };
        self.orientation.iter().enumerate().map(drawn).collect()
    }

    /// Shape of the grain at this place of the snapshot, if it is polyhedral.
    pub fn shape_of(&self, k: usize) -> Option<&PolyhedralShape> {
        let index = self.shape.get(k)?.checked_sub(1)?;
        self.shapes.get(index as usize)
    }
}

fn quaternion([w, x, y, z]: [f64; 4]) -> Quaternion<f64> {
    Quaternion { w, x, y, z }
}

/// Which columns a [`GrainSnapshot`] has besides ids, positions, radii and scalars. The others are empty, and take no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrainColumns {
    /// Velocities.
    pub velocity: bool,
    /// Angular velocities.
    pub angular_velocity: bool,
    /// Forces.
    pub force: bool,
    /// Torques.
    pub torque: bool,
    /// Ids of rigid bodies.
    pub body: bool,
    /// Masses.
    pub mass: bool,
    /// Volumes.
    pub volume: bool,
    /// Shapes of polyhedral grains.
    pub shape: bool,
    /// Material indices.
    pub material: bool,
    /// Group indices.
    pub group: bool,
    /// Numbers of contacts.
    pub coordination: bool,
    /// Orientations.
    pub orientation: bool,
}

impl GrainColumns {
    /// All columns.
    pub const ALL: GrainColumns = GrainColumns {
        velocity: true,
        angular_velocity: true,
        force: true,
        torque: true,
        body: true,
        mass: true,
        volume: true,
        shape: true,
        material: true,
        group: true,
        coordination: true,
        orientation: true,
    };
}

/// Fluid particles at one time, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FluidSnapshot {
    /// Ids, ascending.
    pub id: Vec<u32>,
    /// Index of the fluid of each particle.
    pub kind: Vec<u32>,
    /// Positions \[m\].
    pub position: Vec<[f64; 3]>,
    /// Velocities at this time \[m/s\].
    pub velocity: Vec<[f64; 3]>,
    /// Densities \[kg/m³\].
    pub density: Vec<f64>,
    /// Pressures \[Pa\].
    pub pressure: Vec<f64>,
}

/// Fluid particles that passed an inlet or an outlet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PassedParticles {
    /// Their number.
    pub count: u64,
    /// Their mass \[kg\].
    pub mass: f64,
}

impl PassedParticles {
    /// Adds particles of this mass each \[kg\].
    pub(crate) fn take(&mut self, count: usize, mass: f64) {
        self.count += count as u64;
        self.mass += count as f64 * mass;
    }
}

/// State of the fluids at a point, interpolated from the particles around it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FluidSample {
    /// Share of the surroundings that is fluid: Σ V W, about 1 inside, ½ at a surface, 0 outside \[-\].
    pub share: f64,
    /// Pressure \[Pa\]; 0 outside.
    pub pressure: f64,
    /// Density \[kg/m³\]; 0 outside.
    pub density: f64,
    /// Velocity \[m/s\]; 0 outside.
    pub velocity: [f64; 3],
}

/// Wear of a wall by sliding grains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallWear {
    /// Worn volume of the whole wall \[m³\].
    pub volume: f64,
    /// Worn volume of each displayed triangle \[m³\]; the volume of an element that several triangles display is distributed by their areas.
    pub volumes: Vec<f64>,
    /// Worn volume per area of the element that each triangle displays \[m\].
    pub depths: Vec<f64>,
}

/// A wall at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallSnapshot {
    /// Name in the scene.
    pub name: String,
    /// Triangles of its current surface \[m\]; empty for a plane.
    pub triangles: Vec<[[f64; 3]; 3]>,
    /// Current (point, normal) of a plane; `None`, as are the triangles, while the wall is absent.
    pub plane: Option<([f64; 3], [f64; 3])>,
    /// Current position of its reference point, see [`crate::world::WallShape::middle`] \[m\].
    pub position: [f64; 3],
    /// Rotation about its axis since time zero \[rad\].
    pub angle: f64,
    /// Force of the grains on the wall \[N\].
    pub force: [f64; 3],
    /// Torque of the grains on the wall about a point of its axis, or about the origin for a fixed wall \[N m\].
    pub torque: [f64; 3],
    /// Power that grains and fluids supply to the wall, Σ f·v over the points where they act on it \[W\]: negative where the wall drives them. v is the
    /// velocity of the surface, moving surfaces included.
    pub power: f64,
    /// Wear; `None` for a wall that does not wear.
    pub wear: Option<WallWear>,
}

/// The energy ledger \[J\]: energies now and transfers since time zero.
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
    /// Dissipated by normal damping.
    pub normal_damping: f64,
    /// Dissipated by tangential damping.
    pub tangential_damping: f64,
    /// Dissipated by frictional sliding, and by the release of tangential springs.
    pub friction: f64,
    /// Dissipated by local non-viscous damping.
    pub local_damping: f64,
    /// Dissipated by damping in bonds.
    pub bond_damping: f64,
    /// Elastic energy of bonds at the moment when they broke or were removed.
    pub fracture: f64,
    /// Dissipated by the viscosity of fluids.
    pub viscosity: f64,
    /// Dissipated by density diffusion; for incompressible fluids, by the pressures that preserve density.
    pub diffusion: f64,
    /// Work on grains and fluids by walls, loads and prescribed motion.
    pub wall_work: f64,
    /// Energy of grains that left the domain or were removed.
    pub left_domain: f64,
    /// Energy added between two steps: by new grains, and by changes of velocities, walls, gravity or prescribed motion. Bodies with prescribed
    /// motion have no energy in the ledger.
    pub inserted: f64,
    /// Total of all terms at time zero.
    pub initial: f64,
    /// Residual of the balance: stored + dissipated − wall work − inserted − initial.
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

    /// Energy of grains, contacts, bonds and fluids.
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

/// The ledger of a scalar that grains carry: the amount now, and transfers since time zero. Amounts of heat are in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScalarLedger {
    /// Amount in all grains; of heat, Σ m c T.
    pub held: f64,
    /// Amount from walls.
    pub from_walls: f64,
    /// Amount of grains that were added.
    pub inserted: f64,
    /// Amount of grains that left.
    pub left: f64,
    /// Amount at time zero.
    pub initial: f64,
    /// Residual of the balance: held − from walls − inserted + left − initial.
    pub residual: f64,
}

impl ScalarLedger {
    /// Column names with units, in the order of [`ScalarLedger::values`].
    pub fn names(scalar: GrainScalar) -> [String; 6] {
        ["held", "from_walls", "inserted", "left", "initial", "residual"].map(|name| format!("{name} [{}]", scalar.amount_unit()))
    }

    /// The terms in the order of [`ScalarLedger::names`].
    pub fn values(&self) -> [f64; 6] {
        [self.held, self.from_walls, self.inserted, self.left, self.initial, self.residual]
    }
}

/// Wall time per pass since the start \[s\], in the order of the step, with the names of the passes.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// (pass, seconds, calls).
    pub passes: Vec<(&'static str, f64, u64)>,
    /// Index of the first GPU pass.
    of_gpu: usize,
}

impl Profile {
    /// An empty profile of these passes.
    pub(crate) fn new(passes: &[&'static str]) -> Profile {
        Profile::beside(passes, &[])
    }

    /// An empty profile of GPU passes after others.
    pub(crate) fn beside(others: &[&'static str], of_gpu: &[&'static str]) -> Profile {
        Profile {
            passes: others.iter().chain(of_gpu).map(|&name| (name, 0.0, 0)).collect(),
            of_gpu: if of_gpu.is_empty() { 0 } else { others.len() },
        }
    }

    /// Adds a time as [`Profile::add_time`] does, with an index among the GPU passes.
    pub(crate) fn add_on_gpu(&mut self, pass: usize, start: Instant, calls: u64) {
        self.add_time(self.of_gpu + pass, start, calls);
    }

    /// Adds times of a profile of GPU passes only.
    pub(crate) fn add_of_gpu(&mut self, other: &Profile) {
        for (pass, (_, seconds, calls)) in self.passes[self.of_gpu..].iter_mut().zip(&other.passes) {
            pass.1 += seconds;
            pass.2 += calls;
        }
    }

    /// Adds the time since `start`, and this number of calls, to a pass.
    pub(crate) fn add_time(&mut self, pass: usize, start: Instant, calls: u64) {
        let entry = &mut self.passes[pass];
        entry.1 += start.elapsed().as_secs_f64();
        entry.2 += calls;
    }
}

/// Time interval of a pass on the wall clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Name of the pass.
    pub pass: &'static str,
    /// Whether the pass ran on a GPU: the interval is from the request by the host to the arrival of the result.
    pub is_on_gpu: bool,
    /// Number of the step that the pass belongs to.
    pub step: u64,
    /// Start, since the simulation was set up \[s\].
    pub from: f64,
    /// End \[s\].
    pub to: f64,
}

/// Latest spans of work that runs concurrently.
pub(crate) struct Trace {
    start: Instant,
    /// Time of the last request to the GPU.
    asked: Instant,
    spans: VecDeque<Span>,
}

impl Trace {
    /// Largest number of spans that are stored.
    const MAX: usize = 4096;

    pub(crate) fn new() -> Trace {
        Trace {
            start: Instant::now(),
            asked: Instant::now(),
            spans: VecDeque::with_capacity(Trace::MAX),
        }
    }

    /// Records that GPU work starts.
    pub(crate) fn ask(&mut self) {
        self.asked = Instant::now();
    }

    /// Records a pass that ends now; without `began` it is a GPU pass that started at the last request.
    pub(crate) fn note(&mut self, pass: &'static str, began: Option<Instant>, step: u64) {
        if self.spans.len() == Trace::MAX {
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
