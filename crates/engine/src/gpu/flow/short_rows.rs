//! Short rows of a weakly compressible fluid, see [`seixo_sweeps::kernels::short_rows`].
//!
//! Steps use them where only the fluid moves: with walls at rest, without bodies, inlets and outlets. So the kernel that moves the fluid sees all motion
//! of the particles of this domain, and [`GpuFluid::watch_ghosts`] that of ghosts. They say when short rows are out of date. No bit depends on that, so
//! each domain decides by itself. Short rows take as much memory as the lists. Without so much memory, steps read the rows.

use super::GpuFluid;
use crate::flow::Flow;
use crate::gpu::neighbor_lists::make_room;
use crate::gpu::{Number, stepping};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::fluid::Solver;
use seixo_sweeps::kernels::short_rows::select_short_rows;
use seixo_sweeps::layout::RECORD;

/// Skin of short rows over that of the lists \[-\].
const SHARE_OF_SKIN: f64 = 0.25;
/// How far a particle may move before rows are selected again, over half of their skin \[-\]. The rest is for rounding.
const USABLE: f64 = 0.96;
/// Least number of particles. With fewer, one more launch in each step costs more than short rows save. Tests have fewer.
const LEAST: usize = if cfg!(test) { 1 } else { 1 << 17 };
/// Least number of steps that the lists before lasted. Rows are selected several times in the life of lists, which must save more than it costs.
const LEAST_STEPS: u64 = 8;

/// Short rows of all particles.
pub(super) struct ShortRows<C> {
    /// Whether steps read them. Otherwise there are none.
    pub are_used: bool,
    pub count: Buffer<u32>,
    /// Their entries, which are placed as those of rows.
    pub list: Buffer<u32>,
    /// Records of the positions for which they were selected.
    pub selected_at: Buffer<C>,
    /// Whether they are out of date: a word for each buffer of positions, see [`seixo_sweeps::kernels::short_rows`].
    pub outdated: Buffer<u32>,
    /// Whether there shall be none, for comparison.
    #[cfg(test)]
    pub is_refused: bool,
}

impl<C: Number> ShortRows<C> {
    /// No rows.
    pub fn new(gpu: &Gpu) -> Result<ShortRows<C>, GpuError> {
        Ok(ShortRows {
            are_used: false,
            count: gpu.buffer(RECORD, "rows of neighbors")?,
            list: gpu.buffer(RECORD, "neighbors")?,
            selected_at: gpu.buffer(RECORD, "positions of the lists")?,
            outdated: gpu.zeros(2, "rows of neighbors")?,
            #[cfg(test)]
            is_refused: false,
        })
    }

    /// Gives the memory of the rows back.
    pub fn give_back(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        let empty = ShortRows::new(gpu)?;
        #[cfg(test)]
        let empty = ShortRows {
            is_refused: self.is_refused,
            ..empty
        };
        *self = empty;
        Ok(())
    }

    /// Makes room for the rows of n particles, whose lists have this many words. Returns whether there is enough memory.
    fn make_room(&mut self, gpu: &Gpu, n: usize, words: usize) -> Result<bool, GpuError> {
        let made = make_room(gpu, &mut self.list, words, "neighbors")
            .and_then(|()| make_room(gpu, &mut self.count, n, "rows of neighbors"))
            .and_then(|()| make_room(gpu, &mut self.selected_at, RECORD * n, "positions of the lists"));
        match made {
            Ok(()) => Ok(true),
            Err(GpuError::OutOfMemory { .. }) => {
                self.give_back(gpu)?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuFluid<C, R> {
    /// Decides whether steps read short rows of new lists. The first one then selects them.
    pub(super) fn prepare_short_rows(&mut self, host: &Flow) -> Result<(), GpuError> {
        let only_fluid_moves = self.carriage.is_none() && self.body_boundaries.is_none() && !self.plan.passing;
        let is_possible = only_fluid_moves && self.plan.solver == Solver::WeaklyCompressible && host.cells.skin > 0.0;
        let pays = self.n >= LEAST && self.interval >= LEAST_STEPS;
        #[cfg(test)]
        let pays = pays && !self.short.is_refused;
        self.short.are_used = is_possible && pays && self.short.make_room(&self.gpu, self.n, self.rows.list.len())?;
        if self.short.are_used {
            let mut outdated = [0u32; 2];
            outdated[self.now] = 1;
            self.gpu.write(&self.short.outdated, &outdated);
        }
        Ok(())
    }

    /// Selects the short rows for the present positions, if they are out of date.
    pub(super) fn select_short_rows(&self, host: &Flow) {
        let reach = host.plan.support + SHARE_OF_SKIN * host.cells.skin;
        let (count, dim) = units(self.n);
        select_short_rows::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.rows.tile_first.argument(),
            self.rows.count.argument(),
            self.rows.list.argument(),
            self.position[self.now].records(),
            self.compact.records[self.now].records(),
            self.short.outdated.argument(),
            self.short.count.argument(),
            self.short.list.argument(),
            self.short.selected_at.records(),
            self.compact.scale::<C, R>(),
            stepping::<C, R>(&host.stepping),
            R::of(reach * reach),
            self.now as u32,
            self.n as u32,
            self.plan.sides,
            self.compact.are_used,
        );
    }

    /// (how far a particle may move before short rows are out of date)² \[m²\].
    pub(super) fn stray_square(host: &Flow) -> R {
        let usable = 0.5 * USABLE * SHARE_OF_SKIN * host.cells.skin;
        R::of(usable * usable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{FluidGpuBackend, vector};
    use crate::simulation::Simulation;
    use crate::world::{
        DeviceChoice, Fluid, Fluids, Material, Particles, Precision, PressureTolerance, Settings, SignedDistances, Smoothing, ViscousForce,
        WallParticles, World,
    };
    use seixo_laws::Vector3;
    use seixo_sweeps::compact_position::{CompactScale, CompactScaleLaunch, compact_position};
    use seixo_sweeps::entries::TILE;
    use seixo_sweeps::kernels::short_rows::watch_ghosts;
    use seixo_sweeps::kernels::{FLAGS, HALTED};
    use seixo_sweeps::periodic::PeriodicBoundaries;

    const SPACING: f64 = 0.05;
    const SUPPORT: f64 = 3.0 * SPACING;
    /// Skin of the lists where it is given.
    const SKIN: f64 = 0.2 * SPACING;

    /// A block of water in a plane, whose upper half slides over the lower.
    fn block() -> World {
        let placed = (0..120u32).map(|k| {
            let place = [k % 12, 0, k / 12].map(|k| SPACING * f64::from(k));
            (place, [if k < 60 { -0.5 } else { 0.5 }, 0.0, 0.0])
        });
        water(placed, 1e3)
    }

    /// Two blocks of water in a plane. One is at rest. The other comes, and is near enough to act on it before lists are rebuilt; but at first it is too
    /// far for short rows.
    fn approaching() -> World {
        let gap = SUPPORT + 0.375 * SKIN - SPACING;
        let placed = (0..192u32).map(|k| {
            let [column, layer] = [k % 24, k / 24].map(|k| SPACING * f64::from(k));
            if k % 24 < 12 {
                ([column, 0.0, layer], [0.0; 3])
            } else {
                ([column + gap, 0.0, layer], [-0.5, 0.0, 0.0])
            }
        });
        water(placed, 0.0)
    }

    /// Water in a plane, of particles with these positions and velocities and this pressure.
    fn water(placed: impl Iterator<Item = ([f64; 3], [f64; 3])>, pressure: f64) -> World {
        let mut particles = Particles::default();
        for (k, (place, velocity)) in (0..).zip(placed) {
            particles.id.push(k);
            particles.position.push(place);
            particles.velocity.push(velocity);
            particles.pressure.push(pressure);
            particles.kind.push(0);
        }
        let mut water = Fluid::new("water", 1000.0, 44.0);
        (water.artificial_viscosity, water.density_diffusion) = (0.05, 0.1);
        World {
            materials: vec![Material {
                name: "wall".to_owned(),
                density: 1000.0,
                youngs_modulus: 1e9,
                poisson_ratio: 0.3,
            }],
            interactions: vec![None],
            fluids: Some(Fluids {
                solver: Solver::WeaklyCompressible,
                projection: PressureTolerance::default(),
                smoothing: Smoothing::Wendland,
                viscous_force: ViscousForce::default(),
                particle_shifting: false,
                spacing: SPACING,
                support: SUPPORT,
                across: Some(1),
                kinds: vec![water],
                particles,
                boundary: WallParticles::default(),
                slips: Vec::new(),
                inside: Vec::new(),
                signed_distances: SignedDistances::default(),
                largest_speed: 4.4,
                inlets: Vec::new(),
                outlets: Vec::new(),
                body_boundaries: Vec::new(),
            }),
            ..World::default()
        }
    }

    fn on(device: DeviceChoice) -> Simulation {
        let settings = Settings {
            device,
            precision: Some(Precision::F64),
            ..Settings::default()
        };
        Simulation::new(block(), settings).unwrap()
    }

    /// On a GPU, with sums in the order of any number of domains.
    fn among(domains: usize, precision: Precision, world: World) -> Simulation {
        let settings = Settings {
            domains,
            decomposition_invariant: true,
            threads: 2,
            device: DeviceChoice::Gpu(None),
            precision: Some(precision),
            skin: Some(SKIN),
            ..Settings::default()
        };
        Simulation::new(world, settings).unwrap()
    }

    /// The fluid of each domain.
    fn fluids(simulation: &mut Simulation) -> Vec<&mut Box<dyn FluidGpuBackend>> {
        match &mut simulation.subdomains {
            Some(all) => all
                .domains
                .iter_mut()
                .filter_map(|domain| domain.local.backend.fluids.as_mut())
                .collect(),
            None => simulation.whole.backend.fluids.iter_mut().collect(),
        }
    }

    /// Entries of short rows and of all rows in each domain.
    fn entries(simulation: &mut Simulation) -> Vec<[u64; 2]> {
        let counts = fluids(simulation).into_iter().map(|fluid| fluid.entries_of_short_rows().unwrap());
        counts.collect()
    }

    #[test]
    fn no_bit_depends_on_short_rows_in_any_number_of_domains() {
        let worlds: [(&str, World, &[usize]); 2] = [("a shear", block(), &[1, 2]), ("an approach", approaching(), &[1, 2, 3])];
        for (what, world, numbers) in worlds {
            for precision in [Precision::F64, Precision::Mixed] {
                let mut plain = among(1, precision, world.clone());
                fluids(&mut plain).into_iter().for_each(|fluid| fluid.refuse_short_rows());
                let steps = (0.03 / plain.time_step().value) as u64;
                plain.advance(3).unwrap();
                let [[short, all]] = entries(&mut plain)[..] else {
                    panic!("{what}: one domain")
                };
                assert!(short == 0 && all > 0, "{what}: {short} of {all}");
                plain.advance(steps).unwrap();
                plain.observe().unwrap();
                assert!(plain.rebuilds() > 0, "{what}");
                for &domains in numbers {
                    let what = format!("{what}, {precision:?}, {domains} domains");
                    let mut divided = among(domains, precision, world.clone());
                    divided.advance(3).unwrap();
                    let found = entries(&mut divided);
                    assert_eq!(found.len(), domains, "{what}");
                    assert!(found.iter().all(|[short, all]| 0 < *short && short < all), "{what}: {found:?}");
                    divided.advance(steps).unwrap();
                    divided.observe().unwrap();
                    assert_eq!(plain.rebuilds(), divided.rebuilds(), "{what}");
                    assert_eq!(plain.fluid(), divided.fluid(), "{what}");
                }
            }
        }
    }

    #[test]
    fn ghosts_that_stray_are_noted_by_steps_that_go() {
        let gpu = Gpu::open(None).unwrap();
        let scale = CompactScale::within(SUPPORT, &PeriodicBoundaries::open());
        let selected_at = [[0.3, 0.0, 0.1, 1.0], [0.7, 0.0, 0.2, 1.0]];
        // The particle at index 0 is no ghost.
        let selected_at = gpu.upload(selected_at.as_flattened(), "positions").unwrap();
        let place = gpu.upload(&[1u32], "domains").unwrap();
        let noted = |moved: f64, halted: u32| {
            let now = [[9.0, 0.0, 0.1, 1.0], [0.7 + moved, 0.0, 0.2, 1.0]];
            let position = gpu.upload(now.as_flattened(), "positions").unwrap();
            let mut raised = vec![0u32; FLAGS];
            raised[HALTED + 1] = halted;
            let flags = gpu.upload(&raised, "flags").unwrap();
            let compact = gpu.zeros::<u32>(2 * RECORD, "positions").unwrap();
            let outdated = gpu.zeros::<u32>(2, "rows of neighbors").unwrap();
            let (count, dim) = units(1);
            watch_ghosts::launch::<f32, f64>(
                gpu.client(),
                count,
                dim,
                place.argument(),
                position.records(),
                selected_at.records(),
                flags.argument(),
                compact.records(),
                outdated.argument(),
                CompactScaleLaunch::new(vector(&scale.per_span), vector(&scale.quantum)),
                0.01 * 0.01,
                1,
                1,
                1,
                true,
                true,
            );
            let here = Vector3 {
                x: now[1][0],
                y: now[1][1],
                z: now[1][2],
            };
            let expected = compact_position::<f64, f64>(&here, &scale);
            let records = gpu.download(&compact).unwrap();
            assert_eq!(records[RECORD..RECORD + 3], [expected.x, expected.y, expected.z]);
            assert_eq!(records[..RECORD], [0; RECORD]);
            gpu.download(&outdated).unwrap()
        };
        assert_eq!(noted(0.009, 0), [0, 0]);
        assert_eq!(noted(0.011, 0), [0, 1]);
        assert_eq!(noted(0.011, 1), [0, 0]);
    }

    #[test]
    fn short_rows_have_the_near_entries_of_rows_in_their_order() {
        let gpu = Gpu::open(None).unwrap();
        let mut simulation = on(DeviceChoice::Cpu);
        simulation.whole.populations.with_flow(|flow, surroundings| {
            let fluid = GpuFluid::<f64, f64>::import_host_state(gpu.clone(), flow, surroundings, None).unwrap();
            assert!(fluid.short.are_used);
            let first = gpu.download(&fluid.rows.tile_first).unwrap();
            let rows = |count: &Buffer<u32>, list: &Buffer<u32>| -> Vec<Vec<usize>> {
                let (count, list) = (gpu.download(count).unwrap(), gpu.download(list).unwrap());
                let start = |i: usize| first[i / TILE] as usize + i % TILE;
                let row = |i: usize| (0..count[i] as usize).map(|s| list[start(i) + s * TILE] as usize).collect();
                (0..fluid.n).map(row).collect()
            };
            let position = fluid.read(&fluid.position[fluid.now]).unwrap();
            let reach = flow.plan.support + SHARE_OF_SKIN * flow.cells.skin;
            let distance = |i: usize, j: usize| -> f64 {
                let between = |axis: usize| position[RECORD * i + axis] - position[RECORD * j + axis];
                (0..3).map(|axis| between(axis).powi(2)).sum::<f64>().sqrt()
            };
            let mut expected = rows(&fluid.rows.count, &fluid.rows.list);
            let listed: usize = expected.iter().map(Vec::len).sum();
            for (i, row) in expected.iter_mut().enumerate() {
                row.retain(|&j| distance(i, j) < reach);
            }
            fluid.select_short_rows(flow);
            let selected = rows(&fluid.short.count, &fluid.short.list);
            assert_eq!(selected, expected);
            let short: usize = selected.iter().map(Vec::len).sum();
            assert!(0 < short && short < listed, "{short} of {listed}");
        });
    }

    #[test]
    fn particles_that_stray_are_seen_by_those_that_they_approach() {
        let [mut cpu, mut gpu] = [DeviceChoice::Cpu, DeviceChoice::Gpu(None)].map(on);
        let start = {
            cpu.observe().unwrap();
            cpu.fluid().unwrap().position
        };
        for simulation in [&mut cpu, &mut gpu] {
            simulation.advance(250).unwrap();
            simulation.observe().unwrap();
        }
        let (here, there) = (cpu.fluid().unwrap().position, gpu.fluid().unwrap().position);
        let furthest = |a: &[[f64; 3]], b: &[[f64; 3]]| -> f64 {
            let apart = a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs());
            apart.fold(0.0, f64::max)
        };
        assert!(furthest(&here, &there) < 1e-9, "{:e}", furthest(&here, &there));
        // Short rows are selected again several times in the life of a list.
        assert!(
            furthest(&here, &start) > 0.3 * SPACING && cpu.rebuilds() > 0,
            "{:e}",
            furthest(&here, &start)
        );
    }
}
