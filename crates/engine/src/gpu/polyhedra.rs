//! Polyhedral grains on the GPU: their shapes, poses and contacts, and the launches of a step.
//!
//! The state of a pair is in slots that exist twice. A step reads one set and writes the other, with the same index as positions. So nothing in a step
//! depends on the order in which threads run.

mod conduction;
mod lists;
mod migration;
mod observed;

pub(super) use conduction::ConductingShapes;
pub(super) use lists::ShapesOfDomain;
pub(super) use migration::{HostShapeContacts, MigratingShapes, ShapeContactBuffer, ShapeContactReadback};

use super::{GpuGrains, Number, THREADS, numbers, room_for_cubes, sides, stepping};
use crate::polyhedra::SLOTS;
use crate::populations::Populations;
use seixo_device::gpu::{Buffer, Gpu, GpuError, Workspace, units, units_in_cubes_of};
use seixo_laws::Coordinate;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::kernels::polyhedra::{CONTACT_THREADS, SUM_GRAINS, add_up_shape_pairs, move_shapes};
use seixo_sweeps::kernels::polyhedra_migration::mark_arrived_shapes;
use seixo_sweeps::kernels::polyhedra_near::{KEPT, NEAR_THREADS, find_near_contacts};
use seixo_sweeps::kernels::polyhedra_pairs::{MOST_SLOTS, shape_pair_contacts};
use seixo_sweeps::kernels::polyhedra_search::{SEARCH_THREADS, search_shape_pairs, search_threads};
use seixo_sweeps::kernels::polyhedra_walls::{WALL_GRAINS, shape_walls};
use seixo_sweeps::layout::{ELEMENT, RECORD};
use seixo_sweeps::shape_meshes::FEATURES;

/// What buffers of contacts are called in errors.
const CONTACTS: &str = "contacts of polyhedral grains";

const _: () = assert!(SLOTS <= MOST_SLOTS && SLOTS <= KEPT);

/// Contact histories in slots, of which each pair has [`SLOTS`].
struct Slots<R> {
    keys: Buffer<u32>,
    springs: Buffer<R>,
}

/// The list of pairs with a polyhedral grain, see [`seixo_sweeps::kernels::polyhedra_lists`].
struct PairTable<C, R> {
    /// Index of the first pair in which each grain is the first, and indices of both grains of each pair. With the loads of the pairs they exist twice:
    /// before and after a rebuild.
    first: [Buffer<u32>; 2],
    pairs: [Buffer<u32>; 2],
    loads: [Buffer<R>; 2],
    /// Which of both is present.
    now: usize,
    /// Number of pairs, and of ends of the grains here.
    count: usize,
    end_count: usize,
    /// Ends of pairs by grain, twice, too.
    end_first: [Buffer<u32>; 2],
    ends: [Buffer<u32>; 2],
    slots: [Slots<R>; 2],
    features: NearFeatures<C>,
    work: WorkOrder,
}

/// Features of the pairs of a list that are near each other, see [`seixo_sweeps::kernels::polyhedra_near`]. They save work, and are not saved: a new list
/// begins without any, and results do not depend on them.
struct NearFeatures<C> {
    /// Their keys, and a word with their numbers.
    keys: Buffer<u32>,
    counts: Buffer<u32>,
    /// Where the grains of the pair were.
    poses: Buffer<C>,
}

/// The order in which threads take the pairs of a list: those that touched at the rebuild come first. A pair that touches takes many times as long as one
/// that does not, and all threads of a warp wait for the slowest.
struct WorkOrder {
    /// Marks of pairs that touched, and their number before each pair.
    marks: Buffer<u32>,
    before: Buffer<u32>,
    /// Indices of pairs.
    order: Buffer<u32>,
}

/// Loads and contact histories of the entries in the rows of walls; those of spheres are not used. A mesh has those of its first entry in a row.
struct WallTable<C, R> {
    /// Features of all wall elements, see [`seixo_sweeps::shape_meshes::FEATURES`].
    features: Buffer<u32>,
    /// Whether there are walls from meshes.
    has_meshes: bool,
    loads: [Buffer<C>; 2],
    now: usize,
    slots: [Slots<R>; 2],
}

/// Polyhedral grains, see [`crate::polyhedra::Polyhedra`].
pub(super) struct GpuShapes<C, R> {
    /// The table of shapes.
    words: Buffer<u32>,
    numbers: Buffer<C>,
    /// Shape of each grain; [`FREE`] for a sphere.
    pub marks: Buffer<u32>,
    /// Whether no grain is a sphere, a ghost particle, bonded or in a body. Not in a decomposition-invariant run, where all subdomains use one kernel.
    are_alone: bool,
    /// In a subdomain or with bodies, the same, but [`seixo_sweeps::bodies::GHOST`] for ghost particles and for grains of bodies.
    held: Option<Buffer<u32>>,
    /// Orientations; none if grains are bonded, as these have the same.
    pub orientation: Option<Buffer<C>>,
    /// Angular momenta in space at half steps \[kg m²/s\]; not used for spheres. The last number of each record is the shape, zero for a sphere: so a
    /// grain takes it along to another subdomain.
    pub momentum: Buffer<C>,
    pairs: PairTable<C, R>,
    at_walls: WallTable<C, R>,
    /// Counts of pairs and of ends.
    counts: [Buffer<u32>; 2],
    workspace: Workspace,
    /// Powers of pairs, and of grains at walls: sums of the blocks.
    pub power: Buffer<C>,
    pub wall_power: Buffer<C>,
}

/// Blocks that compute contacts of n pairs.
fn contact_cubes(n: usize) -> usize {
    room_for_cubes(n * (THREADS / CONTACT_THREADS))
}

/// Blocks that compute contacts of n grains near walls.
fn wall_cubes(n: usize) -> usize {
    room_for_cubes(n * (THREADS / WALL_GRAINS))
}

impl<R: Number> Slots<R> {
    fn new(gpu: &Gpu) -> Result<Slots<R>, GpuError> {
        Ok(Slots {
            keys: gpu.buffer(RECORD, CONTACTS)?,
            springs: gpu.buffer(RECORD, CONTACTS)?,
        })
    }
}

impl<C: Number> NearFeatures<C> {
    fn new(gpu: &Gpu) -> Result<NearFeatures<C>, GpuError> {
        Ok(NearFeatures {
            keys: gpu.buffer(RECORD, CONTACTS)?,
            counts: gpu.buffer(RECORD, CONTACTS)?,
            poses: gpu.buffer(RECORD, CONTACTS)?,
        })
    }
}

impl<C: Number, R: Number> PairTable<C, R> {
    /// An empty list, with room for n grains.
    fn new(gpu: &Gpu, n: usize) -> Result<PairTable<C, R>, GpuError> {
        Ok(PairTable {
            first: [gpu.zeros(n + 1, CONTACTS)?, gpu.zeros(n + 1, CONTACTS)?],
            pairs: [gpu.buffer(RECORD, CONTACTS)?, gpu.buffer(RECORD, CONTACTS)?],
            loads: [gpu.buffer(RECORD, CONTACTS)?, gpu.buffer(RECORD, CONTACTS)?],
            now: 0,
            count: 0,
            end_count: 0,
            end_first: [gpu.zeros(n + 1, CONTACTS)?, gpu.zeros(n + 1, CONTACTS)?],
            ends: [gpu.buffer(RECORD, CONTACTS)?, gpu.buffer(RECORD, CONTACTS)?],
            slots: [Slots::new(gpu)?, Slots::new(gpu)?],
            features: NearFeatures::new(gpu)?,
            work: WorkOrder {
                marks: gpu.buffer(RECORD, CONTACTS)?,
                before: gpu.buffer(RECORD, CONTACTS)?,
                order: gpu.buffer(RECORD, CONTACTS)?,
            },
        })
    }
}

impl<C: Number, R: Number> GpuShapes<C, R> {
    /// Polyhedral grains of the host in its order, without contacts, with room for this many grains. `None` if all grains are spheres.
    pub fn new(gpu: &Gpu, host: &Populations, room: usize) -> Result<Option<GpuShapes<C, R>>, GpuError> {
        let Some(polyhedra) = host.polyhedra.as_deref() else {
            return Ok(None);
        };
        let fields = &host.grains.fields;
        let mut marks: Vec<u32> = fields.shape.iter().map(|&shape| if shape > 0 { shape } else { FREE }).collect();
        marks.resize(room, FREE);
        let with_shapes = fields.angular_momentum.chunks_exact(3).zip(&fields.shape);
        let records = with_shapes.flat_map(|(vector, &shape)| [vector[0], vector[1], vector[2], f64::from(shape)]);
        let mut momentum = numbers::<C>(records);
        momentum.resize(RECORD * room, C::of(0.0));
        let orientation = if host.is_bonded() {
            None
        } else {
            let mut orientation = numbers::<C>(fields.orientation.iter().copied());
            orientation.resize(RECORD * room, C::of(0.0));
            Some(gpu.upload(&orientation, "orientations")?)
        };
        let moves_otherwise = host.grains.has_ghosts || host.bodies.are_present;
        let held = moves_otherwise.then(|| gpu.zeros(room, "shapes of grains"));
        let is_polyhedral = |&shape: &u32| shape > 0;
        let are_all = !fields.shape.is_empty() && fields.shape.iter().all(is_polyhedral);
        let are_alone = are_all && !moves_otherwise && !host.is_bonded() && !host.context.settings.decomposition_invariant;
        // One element more, as buffers cannot be empty.
        let features = polyhedra.meshes.words_of(host.walls.start.len() / ELEMENT);
        Ok(Some(GpuShapes {
            words: gpu.upload(&polyhedra.shapes.words, "shapes")?,
            numbers: gpu.upload(&numbers::<C>(polyhedra.shapes.numbers.iter().copied()), "shapes")?,
            marks: gpu.upload(&marks, "shapes of grains")?,
            are_alone,
            held: held.transpose()?,
            orientation,
            momentum: gpu.upload(&momentum, "angular momenta")?,
            pairs: PairTable::new(gpu, room)?,
            at_walls: WallTable {
                features: gpu.upload(&[&features[..], &[0; FEATURES]].concat(), "features of walls")?,
                has_meshes: host.has_mesh_walls(),
                loads: [gpu.buffer(RECORD, CONTACTS)?, gpu.buffer(RECORD, CONTACTS)?],
                now: 0,
                slots: [Slots::new(gpu)?, Slots::new(gpu)?],
            },
            counts: [gpu.buffer(room, CONTACTS)?, gpu.buffer(room, CONTACTS)?],
            workspace: Workspace::new(gpu)?,
            power: gpu.zeros(2 * RECORD * contact_cubes(1), "the ledger")?,
            wall_power: gpu.zeros(2 * RECORD * wall_cubes(1), "the ledger")?,
        }))
    }

    /// Makes room for this many grains.
    pub fn make_room_for(&mut self, gpu: &Gpu, room: usize) -> Result<(), GpuError> {
        for words in [&mut self.marks].into_iter().chain(&mut self.held) {
            gpu.lengthen(words, room, "shapes of grains")?;
        }
        for column in self.records_to_sort() {
            gpu.lengthen(column, RECORD * room, "orientations")?;
        }
        for counts in &mut self.counts {
            gpu.lengthen(counts, room, CONTACTS)?;
        }
        let list = &mut self.pairs;
        for first in list.first.iter_mut().chain(&mut list.end_first) {
            gpu.lengthen(first, room + 1, CONTACTS)?;
        }
        Ok(())
    }

    /// Number of pairs.
    pub fn listed(&self) -> usize {
        self.pairs.count
    }

    /// Number of ends of pairs of the grains here: what these pairs would take of the rows of spheres.
    pub fn listed_ends(&self) -> usize {
        self.pairs.end_count
    }

    /// Orientations, if they are here, and angular momenta, which are sorted with the grains.
    pub fn records_to_sort(&mut self) -> impl Iterator<Item = &mut Buffer<C>> {
        self.orientation.iter_mut().chain([&mut self.momentum])
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Index of the slots with the present histories. Forces that are known were computed already, and their histories are in the set for the next step.
    pub(super) fn present_slots(&self) -> usize {
        self.now ^ usize::from(self.forces_known)
    }

    /// Marks of grains that the kernel of grains does not move, all but [`FREE`], and whether there are some.
    pub(super) fn moved_by_others(&self) -> (&Buffer<u32>, bool) {
        match &self.shapes {
            Some(shapes) => (shapes.held.as_ref().unwrap_or(&shapes.marks), true),
            None => (self.member(), self.has_members()),
        }
    }

    /// Whether all grains are polyhedral and move by themselves. Then the kernels of spheres have nothing to do in a step, and are not launched.
    pub(super) fn has_only_polyhedra(&self) -> bool {
        let needs_no_others = self.has_no_other_forces() && self.has_no_other_motion();
        needs_no_others && self.shapes.as_ref().is_some_and(|shapes| shapes.are_alone)
    }

    /// Marks m grains that have just arrived behind all others, with their angular momenta, by their shapes.
    pub(super) fn mark_arrived_shapes(&self, m: usize) {
        let Some(shapes) = &self.shapes else { return };
        let (count, dim) = units(m);
        mark_arrived_shapes::launch::<C>(
            self.gpu.client(),
            count,
            dim,
            shapes.momentum.records(),
            shapes.marks.argument(),
            self.n as u32,
            m as u32,
        );
    }

    /// Marks of polyhedral grains, or a placeholder, and whether there are some.
    pub(super) fn marks_of_shapes(&self) -> (&Buffer<u32>, bool) {
        match &self.shapes {
            Some(shapes) => (&shapes.marks, true),
            None => (&self.group, false),
        }
    }

    /// Polyhedral grains with the orientations of all grains, if there are some.
    fn shapes_with_orientations(&self) -> Option<(&GpuShapes<C, R>, &Buffer<C>)> {
        Some((self.shapes.as_ref()?, self.orientations()?))
    }

    /// Computes the forces between polyhedral grains and walls, after those of spheres.
    pub(super) fn shape_wall_forces(&self, host: &Populations, parity: u32) {
        let Some((shapes, orientation)) = self.shapes_with_orientations().filter(|_| !self.forces_known) else {
            return;
        };
        let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0) else {
            return;
        };
        let at_walls = &shapes.at_walls;
        let [from, to] = [self.now, self.now ^ 1].map(|set| &at_walls.slots[set]);
        let (count, dim) = units_in_cubes_of(CONTACT_THREADS as u32, near.near * (CONTACT_THREADS / WALL_GRAINS));
        shape_walls::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            near.grains.argument(),
            near.row.argument(),
            near.list.argument(),
            near.elements.argument(),
            at_walls.features.argument(),
            near.records.argument(),
            shapes.marks.argument(),
            shapes.words.argument(),
            shapes.numbers.argument(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            orientation.records(),
            self.material.argument(),
            self.table.argument(),
            from.keys.argument(),
            from.springs.argument(),
            to.keys.argument(),
            to.springs.argument(),
            at_walls.loads[at_walls.now].records(),
            near.wall_contacts.argument(),
            self.force.records(),
            self.torque.records(),
            self.flags.argument(),
            shapes.wall_power.records(),
            R::of(host.context.stepping.dt),
            R::of(host.context.settings.overlap_limit),
            SLOTS as u32,
            near.near as u32,
            host.context.materials.count,
            parity,
            at_walls.has_meshes,
            self.has_only_polyhedra(),
        );
    }

    /// Computes the forces of pairs with a polyhedral grain, and adds them to those of walls and loads.
    pub(super) fn shape_pair_forces(&self, host: &Populations, parity: u32) {
        let Some((shapes, orientation)) = self.shapes_with_orientations().filter(|_| !self.forces_known) else {
            return;
        };
        let list = &shapes.pairs;
        let loads = &list.loads[list.now];
        if list.count > 0 {
            let [from, to] = [self.now, self.now ^ 1].map(|set| &list.slots[set]);
            let (count, dim) = units_in_cubes_of(SEARCH_THREADS as u32, search_threads(list.count));
            search_shape_pairs::launch::<R, C>(
                self.gpu.client(),
                count,
                dim,
                list.pairs[list.now].argument(),
                list.work.order.argument(),
                shapes.marks.argument(),
                shapes.words.argument(),
                shapes.numbers.argument(),
                self.position[self.now].records(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                orientation.records(),
                list.features.keys.argument(),
                list.features.counts.argument(),
                list.features.poses.records(),
                loads.records(),
                self.flags.argument(),
                sides::<C, R>(&host.context.stepping.sides),
                list.count as u32,
                parity,
                self.kind.sides,
            );
            let (count, dim) = units_in_cubes_of(NEAR_THREADS as u32, list.count);
            find_near_contacts::launch::<R, C>(
                self.gpu.client(),
                count,
                dim,
                list.pairs[list.now].argument(),
                list.work.order.argument(),
                shapes.marks.argument(),
                shapes.words.argument(),
                shapes.numbers.argument(),
                self.position[self.now].records(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                orientation.records(),
                list.features.keys.argument(),
                list.features.counts.argument(),
                to.keys.argument(),
                loads.records(),
                self.flags.argument(),
                sides::<C, R>(&host.context.stepping.sides),
                list.count as u32,
                parity,
                SLOTS,
                self.kind.sides,
            );
            let (count, dim) = units_in_cubes_of(CONTACT_THREADS as u32, list.count);
            shape_pair_contacts::launch::<R, C>(
                self.gpu.client(),
                count,
                dim,
                list.pairs[list.now].argument(),
                list.work.order.argument(),
                shapes.marks.argument(),
                shapes.words.argument(),
                shapes.numbers.argument(),
                self.position[self.now].records(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                orientation.records(),
                self.material.argument(),
                self.member().argument(),
                self.table.argument(),
                from.keys.argument(),
                from.springs.argument(),
                to.keys.argument(),
                to.springs.argument(),
                loads.records(),
                self.flags.argument(),
                shapes.power.records(),
                sides::<C, R>(&host.context.stepping.sides),
                R::of(host.context.stepping.dt),
                R::of(host.context.settings.overlap_limit),
                SLOTS as u32,
                list.count as u32,
                host.context.materials.count,
                parity,
                self.kind.sides,
                // All subdomains of a decomposition-invariant run use one kernel, with or without ghost particles.
                self.border.is_some(),
            );
        }
        // For the same reason this does not depend on whether grains are near walls.
        let near_walls = self.walls.as_ref().filter(|near| near.entries > 0 || self.border.is_some());
        let (count, dim) = units_in_cubes_of(CONTACT_THREADS as u32, self.n * (CONTACT_THREADS / SUM_GRAINS));
        add_up_shape_pairs::launch::<R>(
            self.gpu.client(),
            count,
            dim,
            list.end_first[list.now].argument(),
            list.ends[list.now].argument(),
            loads.records(),
            near_walls.map_or(&self.no_rows, |near| &near.row).argument(),
            self.force.records(),
            self.torque.records(),
            self.flags.argument(),
            self.n as u32,
            parity,
            self.holding.is_some(),
            near_walls.is_some(),
        );
    }

    /// Moves polyhedral grains, after the spheres, if there are some.
    pub(super) fn move_polyhedra(&self, host: &Populations, ahead: u32, parity: u32) {
        let Some((shapes, orientation)) = self.shapes_with_orientations() else {
            return;
        };
        let (now, next) = (self.now, self.now ^ 1);
        let strides = self.stride_bounds(host, ahead);
        let (held, _) = self.moved_by_others();
        let damped = host.context.stepping.local_damping > 0.0;
        // As for spheres, small blocks use the registers better. Sums over blocks need the others.
        let (count, dim) = if damped { units(self.n) } else { units_in_cubes_of(128, self.n) };
        move_shapes::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            held.argument(),
            shapes.words.argument(),
            shapes.numbers.argument(),
            self.position[now].records(),
            self.velocity[now].records(),
            self.spin[now].records(),
            self.half_velocity.records(),
            self.half_spin.records(),
            self.force.records(),
            self.torque.records(),
            self.reference.records(),
            self.position[next].records(),
            self.velocity[next].records(),
            self.spin[next].records(),
            orientation.records(),
            shapes.momentum.records(),
            self.flags.argument(),
            self.power.records(),
            stepping::<C, R>(&host.context.stepping),
            R::of(strides.widest_square),
            R::of(strides.square),
            strides.level,
            self.n as u32,
            parity,
            damped,
            self.has_only_polyhedra(),
        );
    }
}
