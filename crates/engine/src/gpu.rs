//! A simulation on a GPU.
//!
//! The GPU holds the current state of the grains. The [`Simulation`] beside it is the host's copy, which is brought up to date on request. Both have
//! the same clock, ledger and walls. So the code that reads, saves or explains a simulation exists once, for the host.
//!
//! CubeCL calls a block of GPU threads a cube, and a thread a unit.

mod arrays;
mod assembly;
mod bins;
mod bodies;
mod bonds;
mod diffusion;
mod domain;
mod few_grains;
mod flow;
mod gear;
mod halo_exchange;
mod inboxes;
mod index_map;
mod joint_halo;
mod neighbor_lists;
mod observe;
mod old_contacts;
mod polyhedra;
mod posted_words;
mod preview;
mod restore;
mod search_benchmark;
mod servos;
mod start;
mod step;
mod step_halo;
mod strides;
mod tables;
mod touching;
mod transfer;
mod upload;
mod voxels;
mod wall_lists;
mod wear;

#[cfg(test)]
pub(crate) mod search_tests;

use crate::pending_grains::PendingSpheres;
use crate::populations::Populations;
use crate::preview::{ColorScalar, PendingPreview};
use crate::program::GrainLaunch;
use crate::search::ListCounts;
use crate::state::GrainColumns;
use crate::state::arrays::{ArrayNumber, ArraysError, ParticleArray};
use crate::world::Vec3;
use assembly::Contacts;
use bins::BinnedGrains;
use bodies::GpuBodies;
use bonds::GpuBonds;
use diffusion::GpuDiffusion;
use domain::DomainState;
use gear::GpuGear;
use old_contacts::OldContacts;
use polyhedra::GpuShapes;
use seixo_device::Cpu;
use seixo_device::gpu::{Buffer, Gpu, GpuError, Word, Workspace, bytes_of, items_of};
use seixo_laws::vector::Vector3Launch;
use seixo_laws::{Coordinate, Real, Vector3};
use seixo_sweeps::bounding_boxes::Bounds;
use seixo_sweeps::kernels::{KINDS, THREADS};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::motion::{StepParameters, StepParametersLaunch};
use seixo_sweeps::periodic::{PERIODIC, PeriodicBoundaries, PeriodicBoundariesLaunch};
use seixo_sweeps::tiles::ContactKernelConfig;
use servos::ServoLoads;
use std::any::Any;
use std::sync::Arc;
use step::PendingSteps;
use strides::LongStrides;
use tables::{StaticTables, Tables};
use wall_lists::SentTable;

pub(crate) use bodies::CoupledBodies;
pub(crate) use domain::{DomainBackend, HaltFlags};
pub(crate) use flow::{ColumnExchange, FluidColumn, FluidDomainBackend, FluidGpuBackend, FluidNeighbors, GpuFluid, NoNeighbors};
pub(crate) use halo_exchange::{GhostExchange, HaloExchange, HaloMessage};
pub(crate) use inboxes::Inboxes;
pub(crate) use joint_halo::HaloPair;
pub(crate) use search_benchmark::tables_on;
pub(crate) use servos::SharedServoLoads;
pub(crate) use step::{FLUID_LISTS, LISTS, OPEN_BOUNDARIES, PASSES, lists_out_of_date};
pub(crate) use touching::PairHistories;

/// A number type of the GPU, with conversions from and to the doubles of the host.
pub(crate) trait Number: Real + Word + Coordinate<Self> + ArrayNumber {
    /// Nearest number of this type.
    fn of(x: f64) -> Self;
    /// Value as a double, without loss.
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

/// The words of this many numbers of type T.
fn words_of<T>(numbers: usize) -> usize {
    numbers * size_of::<T>() / size_of::<u32>()
}

/// Writes numbers into words, from this word on.
fn put_numbers<T: Word>(words: &mut [u32], first: usize, numbers: &[T]) {
    let put: Vec<u32> = items_of(bytes_of(numbers)).expect("numbers have whole words");
    words[first..first + put.len()].copy_from_slice(&put);
}

/// A simulation whose grains are on a GPU, independent of its precision.
pub(crate) trait GpuBackend: DomainBackend + Send + Sync {
    /// Number of steps that are best queued at once, at most `most`.
    fn batch(&self, host: &Populations, most: u64) -> u64;
    /// Prepares a batch of this many steps, whose launches are then queued one by one.
    fn open(&mut self, host: &Populations, batch: u64);
    /// Queues some work of the step that is `ahead` steps after the host's clock.
    fn launch(&mut self, launch: GrainLaunch, host: &Populations, ahead: u32) -> Result<(), GpuError>;
    /// What the launches of the next steps refer to, if each of these steps makes the same ones with the same arguments, parity excepted. `None` if they
    /// depend on time, or if forces are known already.
    fn launch_state(&self, host: &Populations) -> Option<LaunchState>;
    /// The host did other work while queued steps ran: their time in the profile starts now.
    fn restart_clock(&mut self);
    /// Waits for the queued steps. If the halo is sent `by_messages`, these are part of the result.
    fn close(&mut self, host: &mut Populations, by_messages: bool) -> Result<FinishedSteps, GpuError>;
    /// Sends the servos of the host, which are at its clock; no steps may be queued.
    fn send_servos(&self, host: &Populations);
    /// Downloads the poses of bodies and the box of the free grains, for the broad phase on the cores.
    fn download_poses(&self, host: &mut Populations) -> Result<(), GpuError>;
    /// Whether a grain or a body is outside a domain that removes it, at the end of finished steps.
    fn has_outside(&self, host: &Populations) -> Result<bool, GpuError>;
    /// Counts of the neighbor lists, which are out of date.
    fn list_counts(&self, host: &Populations) -> Result<ListCounts, GpuError>;
    /// Rebuilds the neighbor lists if these flags or the walls require it. The flag for leaving the domain says that grains are to be removed.
    fn rebuild_if_needed(&mut self, host: &mut Populations, raised: u32) -> Result<(), GpuError>;
    /// What fluids on the same GPU share with the grains: [`SharedWithFluids`], in the type of coordinates.
    fn shared_with_fluids(&self) -> Box<dyn Any>;
    /// Computes the forces at the current positions, and brings ledger, grains and walls of the host up to date.
    fn observe(&mut self, host: &mut Populations) -> Result<u32, GpuError>;
    /// Whether all grains and ghosts are free spheres, of which readers see no more than fields that each GPU has.
    fn are_free_spheres(&self) -> bool;
    /// As [`GpuBackend::observe`], of free spheres but for the grains and their contacts with walls.
    fn observe_ledger(&mut self, host: &mut Populations) -> Result<u32, GpuError>;
    /// Queues a copy of these columns of free spheres, whose forces are those at the current positions.
    fn request_spheres(&self, columns: GrainColumns) -> PendingSpheres;
    /// Computes the first forces of grains that were uploaded without, with velocities between steps that fit them, and the energies. Returns the flags
    /// that this raised.
    fn first_forces(&mut self, host: &mut Populations) -> Result<u32, GpuError>;
    /// Whether it can take changed loads of single grains without an upload of everything.
    fn takes_given_loads(&self) -> bool;
    /// Sends the loads of single grains, with the forces and velocities that belong to them. The state on the host must be observed before.
    fn send_given_loads(&self, host: &Populations);
    /// Queues a copy of the data for previews.
    fn preview(&self, origin: Vec3, shade: ColorScalar) -> PendingPreview;
    /// Brings grains and walls of the host up to date, in any state.
    fn download_state(&self, host: &mut Populations) -> Result<(), GpuError>;
    /// Contact histories of the touching pairs. Each pair is listed once, by the indices of its grains.
    fn contact_histories(&self) -> Result<PendingHistories, GpuError>;
    /// Downloads the contact histories of polyhedral grains, if there are any, to the host's lists of them.
    fn fetch_histories_of_shapes(&self, host: &mut Populations) -> Result<(), GpuError>;
    /// Sorts the grains, rebuilds their neighbor lists, and waits for completion.
    fn rebuild_lists(&mut self, host: &mut Populations) -> Result<(), GpuError>;
    /// The arrays of the grains in the memory of the GPU, once all that was queued is done.
    fn arrays(&self) -> Result<Vec<ParticleArray<'static>>, ArraysError>;
    /// Number of pairs in the lists. Each pair counts twice, once for each of its grains.
    fn listed(&self) -> Result<u64, GpuError>;
    /// The GPU.
    fn gpu(&self) -> &Gpu;
    /// Number of grains.
    fn grains(&self) -> usize;
}

/// What launches refer to, and what a batch of steps may change. Two steps that begin with the same state make the same launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaunchState {
    /// Index of the buffers with the current positions.
    now: usize,
    /// Number of rebuilds of the neighbor lists, which exchange buffers.
    rebuilds: u64,
}

/// Result of queued steps that have finished.
#[derive(Default)]
pub(crate) struct FinishedSteps {
    /// Flags that the steps raised.
    pub raised: u32,
    /// Number of steps that were taken.
    pub taken: u64,
    /// Whether the flags require an action of the host other than a rebuild of the lists.
    pub needs_host: bool,
    /// Own particles that are ghosts elsewhere: one message for each neighbor subdomain, in their order. Empty if GPUs copy between each other.
    pub messages: Vec<Vec<u8>>,
}

/// What grains share with fluids on the same GPU, so that both halt at the same step.
pub(crate) struct SharedWithFluids<C> {
    pub flags: Arc<Buffer<u32>>,
    /// Rigid bodies, if there are any.
    pub bodies: Option<Arc<CoupledBodies<C>>>,
    /// Servos of walls, if there are walls.
    pub servos: Option<Arc<Buffer<C>>>,
}

/// Downloaded contact histories, of which the threads of a device make those of all pairs.
pub(crate) type PendingHistories = Box<dyn FnOnce(&Cpu) -> PairHistories + Send>;

/// Rows of neighbors in tiles, see [`seixo_sweeps::tiles`].
struct Rows<R> {
    count: Buffer<u32>,
    /// Number of particles whose neighbors were counted.
    counted: usize,
    tile_first: Buffer<u32>,
    list: Buffer<u32>,
    history: Buffer<R>,
    workspace: Workspace,
    /// Sums of counts by block.
    sums: Buffer<u32>,
}

/// The walls, and the grains near them.
struct WallRows<C, R> {
    start: Buffer<C>,
    at_rest: Buffer<C>,
    /// Memory of the elements and records, so that one copy sends both.
    placed: Buffer<u32>,
    elements: Buffer<C>,
    records: Buffer<C>,
    poses: Buffer<C>,
    /// Shared with fluids on the same GPU, whose wall particles follow these walls.
    servos: Arc<Buffer<C>>,
    planes: SentTable<u32>,
    grid: SentTable<C>,
    shape: SentTable<u32>,
    cell_first: SentTable<u32>,
    cell_list: SentTable<u32>,
    row: Buffer<u32>,
    old_row: Buffer<u32>,
    list: Buffer<u32>,
    old_list: Buffer<u32>,
    history: Buffer<R>,
    old_history: Buffer<R>,
    wall_contacts: Buffer<C>,
    /// Work of sliding of each entry since the list was built, if walls wear.
    work: Option<Buffer<C>>,
    /// Present if the loads on servos are sums of whole numbers.
    servo_loads: Option<ServoLoads<C>>,
    /// Grains that have a row, and their number.
    grains: Buffer<u32>,
    near: usize,
    entries: usize,
    /// A record for each of these grains, see [`seixo_sweeps::kernels::neighbor_lists::wall_rows()`].
    leads: Buffer<u32>,
}

/// The grids that sort the grains, with buffers that all rebuilds reuse.
struct Cells<C> {
    grids: Buffer<C>,
    shapes: Buffer<u32>,
    /// The records of grids and shapes at the last sort, which the buffers hold.
    sorted_by: (Vec<C>, Vec<u32>),
    /// Corners of the domain of a search.
    domain: Buffer<C>,
    /// Corners of an infinite box.
    unbounded: Buffer<C>,
    first: Buffer<u32>,
    corners: Buffer<C>,
    lengths: Buffer<u32>,
    /// Number of items of a list, and, of rows of walls, the number of their entries.
    kept: Buffer<u32>,
    workspace: Workspace,
    /// Number of ghosts among each of the candidates, and that before it.
    counts: Buffer<u32>,
    starts: Buffer<u32>,
}

/// Grains with coordinates of type C and all other numbers of type R.
pub(crate) struct GpuGrains<C, R> {
    gpu: Gpu,
    kind: ContactKernelConfig,
    n: usize,
    /// Number of grains up to which a step may be one launch.
    most_in_one_launch: usize,
    id: Buffer<u32>,
    material: Buffer<u32>,
    group: Buffer<u32>,
    /// Double-buffered: a step reads one buffer and writes the other. `now` is the index of the current state.
    position: [Buffer<C>; 2],
    velocity: [Buffer<R>; 2],
    spin: [Buffer<R>; 2],
    now: usize,
    /// What is kept of the velocities between steps beside the present `velocity`, as in `half_spin` beside `spin`. Together they have the precision of
    /// coordinates, as the change in a step is small compared with the value. See [`seixo_sweeps::layout::kept_beside()`].
    half_velocity: Buffer<R>,
    half_spin: Buffer<R>,
    force: Buffer<R>,
    torque: Buffer<R>,
    reference: Buffer<C>,
    table: Buffer<R>,
    rows: Rows<R>,
    /// Contacts before the last rebuild of the rows.
    old_contacts: OldContacts<R>,
    key: Buffer<u32>,
    order: Buffer<u32>,
    cells: Cells<C>,
    /// Structure of the pair search, if it is not the grids that sort the grains.
    tables: Option<Tables<C>>,
    /// Present if spheres of bodies at rest are in tables of their own.
    at_rest: Option<StaticTables<C>>,
    /// Present if cells are rebuilt at every step.
    binned: Option<BinnedGrains<C>>,
    /// Present if forces are computed in several launches.
    contacts: Option<Contacts<C, R>>,
    walls: Option<WallRows<C, R>>,
    /// Scalars of grains, in the order of the host's.
    diffusions: Vec<GpuDiffusion<C, R>>,
    /// Present with rigid bodies.
    carriers: Option<GpuBodies<C>>,
    /// Present in decomposition-invariant runs without bodies; with bodies, `carriers` has this data.
    border: Option<DomainState<C, R>>,
    /// Present with Gear's method.
    geared: Option<GpuGear<C>>,
    /// Present with bonds or loads.
    holding: Option<GpuBonds<C, R>>,
    /// Present with polyhedral grains.
    shapes: Option<GpuShapes<C, R>>,
    /// Placeholder argument for runs without walls.
    no_rows: Buffer<u32>,
    /// Shared with fluids on the same GPU that wait for bodies.
    flags: Arc<Buffer<u32>>,
    power: Buffer<C>,
    wall_power: Buffer<C>,
    /// Energies, one sum for each block.
    energy: Buffer<C>,
    wall_energy: Buffer<C>,
    /// Whether forces and torques belong to the current positions.
    forces_known: bool,
    /// Queued steps whose result the host has not collected yet.
    queued: Option<PendingSteps>,
    /// Box around the centers of the free grains after the last steps, if the lists are to be rebuilt there \[m\].
    box_after_steps: Option<Bounds>,
    /// Number of entries of the lists of pairs, if it came with the flags of the last steps.
    entries_after_steps: Option<u64>,
    /// Steps between the last two rebuilds of the lists.
    interval: u64,
    since_rebuild: u64,
    /// How far grains moved in single steps since then.
    strides: LongStrides,
}

/// Upper limit for the blocks of a launch with n threads: grids of several rows have a few more blocks than needed.
fn room_for_cubes(n: usize) -> usize {
    let cubes = n.div_ceil(THREADS).max(1);
    cubes + cubes.div_ceil(seixo_device::gpu::MAX_BLOCKS as usize)
}

/// Makes sure that there is room for the sums of this many blocks, and keeps those that are there. A longer buffer has room for an eighth more, so that few
/// rebuilds of the lists need one.
fn make_room_for_sums<C: Number>(gpu: &Gpu, sums: &mut Buffer<C>, cubes: usize) -> Result<(), GpuError> {
    if 2 * RECORD * cubes > sums.len() {
        gpu.lengthen(sums, 2 * RECORD * (cubes + cubes / 8), "the ledger")?;
    }
    Ok(())
}

/// Whether particles that pass such periodic sides gain energy: because the sides slide or stretch, or because gravity acts from one to the other.
fn sides_do_work(kind: u32, sides: &PeriodicBoundaries<f64, f64>, gravity: &Vector3<f64>) -> bool {
    let gravity = [gravity.x, gravity.y, gravity.z];
    kind != PERIODIC || (0..3).any(|axis| !sides.is_open(axis) && gravity[axis] != 0.0)
}

/// Work of periodic sides when n particles were wrapped \[J\]: the sum over the values of all blocks.
fn done_by_sides<C: Number>(gpu: &Gpu, reported: &Buffer<C>, n: usize) -> Result<f64, GpuError> {
    let cubes = gpu.download_part(reported, 0..2 * RECORD * n.div_ceil(THREADS)).wait()?;
    Ok(cubes.chunks_exact(2 * RECORD).map(|records| records[0].double()).sum())
}

/// The raised flags from the words of the GPU, one bit for each kind.
fn raised(flags: &[u32]) -> u32 {
    let kinds = flags[..KINDS].iter().enumerate();
    kinds.fold(0, |all, (kind, &word)| all | u32::from(word != 0) << kind)
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    fn cubes(&self) -> usize {
        self.n.div_ceil(THREADS).max(1)
    }
}

fn vector<N: Number>(v: &Vector3<f64>) -> Vector3Launch<N> {
    Vector3Launch::new(N::of(v.x), N::of(v.y), N::of(v.z))
}

/// Periodic sides as a kernel argument.
fn sides<C: Number, R: Number>(host: &PeriodicBoundaries<f64, f64>) -> PeriodicBoundariesLaunch<C, R> {
    PeriodicBoundariesLaunch::new(
        vector(&host.low),
        vector(&host.length),
        vector(&host.across),
        vector(&host.offset),
        vector(&host.slide),
    )
}

/// Parameters of the motion of all grains, as a kernel argument.
fn stepping<C: Number + Coordinate<R>, R: Number>(host: &StepParameters<f64, f64>) -> StepParametersLaunch<C, R> {
    StepParametersLaunch::new(
        R::of(host.dt),
        R::of(host.reads_ahead),
        R::of(host.velocity_lead),
        C::of(host.lag),
        vector(&host.gravity),
        R::of(host.local_damping),
        R::of(host.damped_gravity),
        R::of(host.skin_exceeded_square),
        R::of(host.stride_square),
        vector(&host.domain_min),
        vector(&host.domain_max),
        sides(&host.sides),
    )
}
