//! A simulation on a GPU.
//!
//! The GPU holds the grains; the [`Simulation`] beside it is the host's copy, brought up to date when somebody looks. Both keep the same
//! clock, ledger and walls, so what reads, saves or explains a simulation is written once, for the host.

mod assembly;
mod bins;
mod bodies;
mod bonds;
mod domain;
mod exchange;
mod flow;
mod gear;
mod glance;
mod handed;
mod heat;
mod lists;
mod observe;
mod places;
mod servos;
mod step;
mod tables;
mod trial;
mod voxels;
mod wear;

#[cfg(test)]
pub(crate) mod search_tests;

use crate::glance::{Glancing, Shade};
use crate::simulation::Simulation;
use crate::world::Vec3;
use assembly::Contacts;
use bins::Binned;
use bodies::Carriers;
use bonds::Holding;
use domain::Border;
use gear::Geared;
use heat::HeatOnGpu;
use seixo_device::gpu::{Buffer, Gpu, GpuError, Word};
use seixo_laws::vector::Vector3Launch;
use seixo_laws::{Coordinate, Real, Vector3};
use seixo_sweeps::kernels::{KINDS, UNITS};
use seixo_sweeps::motion::{Stepping, SteppingLaunch};
use seixo_sweeps::sides::{Sides, SidesLaunch};
use seixo_sweeps::tiles::Kind;
use seixo_sweeps::views::{COMPOUND, RECORD};
use std::any::Any;
use std::sync::Arc;
use step::Queued;
use tables::Tables;

pub(crate) use bodies::FeltBodies;
pub(crate) use domain::{DomainOnGpu, Halts};
pub(crate) use flow::{FlowOnGpu, RemoteFlow};
pub(crate) use handed::{Handed, Swaps};
pub(crate) use step::{PASSAGES, PASSES, lists_are_stale};
pub(crate) use trial::tables_on;

/// A number type of the GPU, and how the host's doubles become such numbers and back.
pub(crate) trait Number: Real + Word + Coordinate<Self> {
    /// The nearest number of this type.
    fn of(x: f64) -> Self;
    /// As a double, without loss.
    fn double(self) -> f64;
}

impl Number for f64 {
    fn of(x: f64) -> f64 {
        x
    }
    fn double(self) -> f64 {
        self
    }
}

impl Number for f32 {
    fn of(x: f64) -> f32 {
        x as f32
    }
    fn double(self) -> f64 {
        f64::from(self)
    }
}

fn numbers<N: Number>(values: impl IntoIterator<Item = f64>) -> Vec<N> {
    values.into_iter().map(N::of).collect()
}

fn doubles<N: Number>(values: &[N]) -> Vec<f64> {
    values.iter().map(|&x| x.double()).collect()
}

/// A simulation whose grains are on a GPU, whatever its precision.
pub(crate) trait Remote: DomainOnGpu + Send + Sync {
    /// Takes up to `steps` steps; fewer if a flag was raised that the host must turn into an error. Returns the flags.
    fn advance(&mut self, host: &mut Simulation, steps: u64) -> Result<u32, GpuError>;
    /// Queues the first of `steps` steps, which the next call of `advance` must be about.
    fn go_ahead(&mut self, host: &Simulation, steps: u64) -> Result<(), GpuError>;
    /// How many steps are best queued at once, `most` at most.
    fn batch(&self, host: &Simulation, most: u64) -> u64;
    /// Gets ready for so many steps, which are to be queued one by one.
    fn open(&mut self, host: &Simulation, batch: u64);
    /// Queues the step that is `ahead` steps from where the host stands.
    fn queue(&mut self, host: &Simulation, ahead: u32) -> Result<(), GpuError>;
    /// Waits for the steps that were queued.
    fn close(&mut self, host: &mut Simulation) -> Result<Closed, GpuError>;
    /// Lists all anew where these flags, or walls, ask for it.
    fn renew_when_stale(&mut self, host: &mut Simulation, raised: u32) -> Result<(), GpuError>;
    /// What fluids on the same GPU share with grains: an [`OfBodies`] of the type of coordinates; none where there are no bodies.
    fn of_bodies(&self) -> Option<Box<dyn Any>>;
    /// Finds forces for where the grains are now, and brings ledger, grains and walls of the host up to date.
    fn observe(&mut self, host: &mut Simulation) -> Result<u32, GpuError>;
    /// Queues a copy of what pictures need.
    fn glance(&self, origin: Vec3, shade: Shade) -> Glancing;
    /// Brings grains and walls of the host up to date, whatever state they are in.
    fn give_back(&self, host: &mut Simulation) -> Result<(), GpuError>;
    /// What the pairs that touch remember, each once by its places.
    fn remembered(&self) -> Result<Vec<Remembered>, GpuError>;
    /// Sorts the grains and lists their pairs anew, and waits until that is done.
    fn list_anew(&mut self, host: &mut Simulation) -> Result<(), GpuError>;
    /// Number of pairs in the lists, each counted for both of its grains.
    fn listed(&self) -> Result<u64, GpuError>;
    /// The GPU.
    fn gpu(&self) -> &Gpu;
    /// Number of grains.
    fn grains(&self) -> usize;
}

/// Steps that were queued, and came to an end.
#[derive(Clone, Copy, Default)]
pub(crate) struct Closed {
    /// The flags that they raised.
    pub raised: u32,
    /// Steps that were taken.
    pub taken: u64,
    /// Whether the host must see to the flags, and not only to stale lists.
    pub must_be_seen_to: bool,
}

/// Bodies on a GPU, and the flags of the grains that they carry.
pub(crate) struct OfBodies<C> {
    pub bodies: Arc<FeltBodies<C>>,
    pub flags: Arc<Buffer<u32>>,
}

/// A pair by its places, and what each of the two remembers: opposite but for rounding.
pub(crate) type Remembered = (u32, u32, [f64; COMPOUND], [f64; COMPOUND]);

/// Rows of neighbors in tiles, see [`seixo_sweeps::tiles`].
struct Rows<R> {
    count: Buffer<u32>,
    tile_first: Buffer<u32>,
    list: Buffer<u32>,
    history: Buffer<R>,
}

/// The walls, and which grains are near them.
struct WallRows<C, R> {
    start: Buffer<C>,
    at_rest: Buffer<C>,
    elements: Buffer<C>,
    records: Buffer<C>,
    poses: Buffer<C>,
    servos: Buffer<C>,
    planes: Buffer<u32>,
    grid: Buffer<C>,
    shape: Buffer<u32>,
    cell_first: Buffer<u32>,
    cell_list: Buffer<u32>,
    row: Buffer<u32>,
    old_row: Buffer<u32>,
    list: Buffer<u32>,
    old_list: Buffer<u32>,
    history: Buffer<R>,
    old_history: Buffer<R>,
    touches: Buffer<C>,
    /// Work of sliding of each entry since the list was made, where walls wear.
    work: Option<Buffer<C>>,
    /// Grains that have a row, and how many they are.
    grains: Buffer<u32>,
    near: usize,
    entries: usize,
}

/// The grids that sort the grains, with room that renewals share.
struct Cells<C> {
    grids: Buffer<C>,
    shapes: Buffer<u32>,
    domain: Buffer<C>,
    first: Buffer<u32>,
    corners: Buffer<C>,
    lengths: Buffer<u32>,
    kept: Buffer<u32>,
}

/// Grains with coordinates C and everything else R.
pub(crate) struct OnGpu<C, R> {
    gpu: Gpu,
    kind: Kind,
    n: usize,
    id: Buffer<u32>,
    material: Buffer<u32>,
    group: Buffer<u32>,
    /// Twice: a step reads one and writes the other; `now` tells which holds the state.
    position: [Buffer<C>; 2],
    velocity: [Buffer<R>; 2],
    spin: [Buffer<R>; 2],
    now: usize,
    /// With the digits of coordinates, as `half_spin`: what a step adds is small beside it.
    half_velocity: Buffer<C>,
    half_spin: Buffer<C>,
    force: Buffer<R>,
    torque: Buffer<R>,
    reference: Buffer<C>,
    table: Buffer<R>,
    rows: Rows<R>,
    old_rows: Rows<R>,
    key: Buffer<u32>,
    order: Buffer<u32>,
    cells: Cells<C>,
    /// What pairs are found through, where that is not the grids that sort the grains.
    tables: Option<Tables<C>>,
    /// Where cells are made anew at every step.
    binned: Option<Binned<C>>,
    /// Where forces are put together in several launches.
    contacts: Option<Contacts<C, R>>,
    walls: Option<WallRows<C, R>>,
    /// Where heat flows.
    heat: Option<HeatOnGpu<C>>,
    /// Where bodies carry grains.
    carriers: Option<Carriers<C>>,
    /// Where the world is divisible, but for bodies, which carriers tell of.
    border: Option<Border<C, R>>,
    /// Where grains move by Gear's method.
    geared: Option<Geared<C>>,
    /// Where grains are bonded or loaded.
    holding: Option<Holding<C, R>>,
    /// Stands in where there are no walls.
    no_rows: Buffer<u32>,
    /// Fluids on the same GPU that wait for bodies look at them, too.
    flags: Arc<Buffer<u32>>,
    power: Buffer<C>,
    wall_power: Buffer<C>,
    /// Energies, summed by cube.
    energy: Buffer<C>,
    wall_energy: Buffer<C>,
    /// Whether forces and torques are those of where the grains are now.
    forces_known: bool,
    /// Steps that the host has not looked at yet.
    queued: Option<Queued>,
    /// Steps between the last two renewals of the lists.
    interval: u64,
    since_renewal: u64,
}

/// Cubes that a launch of n units may have: grids of several rows have a few more than needed.
fn room_for_cubes(n: usize) -> usize {
    let cubes = n.div_ceil(UNITS).max(1);
    cubes + cubes.div_ceil(seixo_device::gpu::MOST_CUBES as usize)
}

/// What periodic sides did as n particles were put back \[J\]: the sum of what cubes told.
fn done_by_sides<C: Number>(gpu: &Gpu, told: &Buffer<C>, n: usize) -> Result<f64, GpuError> {
    let cubes = gpu.download_part(told, 0..2 * RECORD * n.div_ceil(UNITS)).wait()?;
    Ok(cubes.chunks_exact(2 * RECORD).map(|records| records[0].double()).sum())
}

/// The flags that were raised, a bit for each kind, from the words of the GPU.
fn raised(flags: &[u32]) -> u32 {
    let kinds = flags[..KINDS].iter().enumerate();
    kinds.fold(0, |all, (kind, &word)| all | u32::from(word != 0) << kind)
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    fn cubes(&self) -> usize {
        self.n.div_ceil(UNITS).max(1)
    }
}

fn vector<N: Number>(v: &Vector3<f64>) -> Vector3Launch<N> {
    Vector3Launch::new(N::of(v.x), N::of(v.y), N::of(v.z))
}

/// Periodic sides, as a launch takes them.
fn sides<C: Number, R: Number>(host: &Sides<f64, f64>) -> SidesLaunch<C, R> {
    SidesLaunch::new(
        vector(&host.low),
        vector(&host.length),
        vector(&host.across),
        vector(&host.offset),
        vector(&host.slide),
    )
}

/// What all grains need to know to move, as a launch takes it.
fn stepping<C: Number + Coordinate<R>, R: Number>(host: &Stepping<f64, f64>) -> SteppingLaunch<C, R> {
    SteppingLaunch::new(
        R::of(host.dt),
        R::of(host.reads_ahead),
        R::of(host.shows_ahead),
        C::of(host.lag),
        vector(&host.gravity),
        R::of(host.local_damping),
        R::of(host.stale_square),
        R::of(host.stride_square),
        vector(&host.domain_min),
        vector(&host.domain_max),
        sides(&host.sides),
    )
}
