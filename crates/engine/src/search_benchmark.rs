//! Benchmarks of pair searches: repeated searches of the same pairs.

use crate::device_choice::{gpu_asked_for, precision_on};
use crate::gpu::tables_on;
use crate::guard::StepError;
use crate::populations::Populations;
use crate::refusal::WorldError;
use crate::search::{FiledParticles, MAX_CLASSES, Pairs, TableBackend, Tables, size_classes};
use crate::simulation::Simulation;
use crate::world::{Precision, Settings, Vec3, World};
use seixo_device::Cpu;
use seixo_device::gpu::GpuError;
use std::time::Instant;

/// A world at rest whose pairs are searched repeatedly, as in a rebuild of the neighbor lists.
pub struct SearchBenchmark {
    simulation: Simulation,
}

impl SearchBenchmark {
    /// Sets up the world on the device of the settings.
    ///
    /// # Errors
    /// If the world cannot be simulated, or the skin is zero, with which a GPU has no list.
    pub fn new(world: World, settings: Settings) -> Result<SearchBenchmark, WorldError> {
        if let Some(value) = settings.skin.filter(|&skin| skin == 0.0) {
            return Err(WorldError::FluidSurroundings {
                what: "run.skin",
                value,
                must: "a positive length where lists are to be made",
            });
        }
        let simulation = Simulation::new(world, settings)?;
        Ok(SearchBenchmark { simulation })
    }

    /// Sorts the grains, fills the tables of the search, and lists all near pairs. Returns the wall time \[s\].
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn find(&mut self) -> Result<f64, StepError> {
        let clock = Instant::now();
        if self.simulation.whole.populations.grains_on_gpu() {
            self.simulation.whole.with_gpu_backend(|remote, host| remote.rebuild_lists(host))?;
        } else {
            let Populations { context, grains, .. } = &mut self.simulation.whole.populations;
            let (device, fields, cells, pairs) = (&context.device, &mut grains.fields, &mut grains.cells, &mut grains.pairs);
            cells.sort(device, fields, |_| true);
            pairs.fill_rows::<true>(device, &cells.index(), &fields.position, fields.len());
        }
        Ok(clock.elapsed().as_secs_f64())
    }

    /// Number of pairs found.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn pairs(&mut self) -> Result<u64, StepError> {
        if self.simulation.whole.populations.grains_on_gpu() {
            return Ok(self.simulation.whole.with_gpu_backend(|remote, _| remote.listed())? / 2);
        }
        let Pairs { row, neighbors, .. } = &self.simulation.whole.populations.grains.pairs;
        let rows = row.windows(2).enumerate();
        let later = |(i, ends): (usize, &[u32])| {
            let entries = &neighbors[ends[0] as usize..ends[1] as usize];
            entries.iter().filter(|&&j| j as usize > i).count() as u64
        };
        Ok(rows.map(later).sum())
    }

    /// The simulation, which is not stepped: for its device and precision.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }
}

/// Assignment of particles of two sizes, some of them fixed, to hash tables \[Silva 2010, tables 6.1 and 6.2\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableSharing {
    /// One table for all, with cells for the largest; rebuilt at each search.
    One,
    /// One table for each size; rebuilt at each search.
    EachSize,
    /// One table for each size of moving particles, rebuilt at each search, and one for fixed particles, built once.
    EachSizeAndStatic,
}

/// Particles whose neighbors are searched repeatedly with hash tables.
pub struct HashTableBenchmark {
    place: Box<dyn TableBackend>,
    groups: usize,
}

impl HashTableBenchmark {
    /// Particles by center and radius \[m\]. Those closer than the sum of their radii are neighbors. The first `moving` of them move.
    ///
    /// # Errors
    /// If no particle moves, or the device of the settings does not exist.
    pub fn new(
        particles: &[(Vec3, f64)],
        moving: usize,
        sharing: TableSharing,
        settings: &Settings,
    ) -> Result<HashTableBenchmark, WorldError> {
        let moving = moving.min(particles.len());
        if moving == 0 {
            return Err(WorldError::NoGrains);
        }
        let all = particles.len();
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for (center, _) in particles {
            for axis in 0..3 {
                low[axis] = low[axis].min(center[axis]);
                high[axis] = high[axis].max(center[axis]);
            }
        }
        let parts = match sharing {
            TableSharing::EachSizeAndStatic if moving < all => vec![0..moving, moving..all],
            _ => std::iter::once(0..all).collect(),
        };
        let most = if sharing == TableSharing::One { 1 } else { MAX_CLASSES };
        let filed = parts.into_iter().map(|places| {
            let radii = particles[places.clone()].iter().map(|particle| particle.1);
            let mut tables = Tables::of_buckets(&size_classes(radii, most));
            tables.lay_out(low, high, places.len(), 0.0);
            FiledParticles { tables, places }
        });
        let filed: Vec<FiledParticles> = filed.collect();
        let groups = filed.len();
        let position: Vec<f64> = particles.iter().flat_map(|(x, radius)| [x[0], x[1], x[2], *radius]).collect();
        let mut place: Box<dyn TableBackend> = match gpu_asked_for(settings.device, &mut Vec::new())? {
            None => Box::new(Here {
                device: Cpu::new(settings.threads)?,
                position,
                moving,
                rows: filed.iter().map(|_| Pairs::default()).collect(),
                filed,
            }),
            Some(gpu) => {
                let precision = precision_on(&gpu, settings.precision, &mut Vec::new())?;
                tables_on(gpu, precision == Precision::F32, &position, moving, filed)?
            }
        };
        for group in 1..groups {
            place.file(group)?;
        }
        Ok(HashTableBenchmark { place, groups })
    }

    /// Fills the tables that contain moving particles, and lists the neighbors of all moving particles. Returns the wall times of both \[s\].
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn find(&mut self) -> Result<[f64; 2], WorldError> {
        let clock = Instant::now();
        self.place.file(0)?;
        self.place.wait()?;
        let filling = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        for group in 0..self.groups {
            self.place.list(group)?;
        }
        self.place.wait()?;
        Ok([filling, clock.elapsed().as_secs_f64()])
    }

    /// Number of neighbors of all moving particles.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn neighbors(&self) -> Result<u64, WorldError> {
        Ok(self.place.listed()?)
    }
}

/// The CPU cores.
struct Here {
    device: Cpu,
    position: Vec<f64>,
    moving: usize,
    filed: Vec<FiledParticles>,
    rows: Vec<Pairs>,
}

impl TableBackend for Here {
    fn file(&mut self, group: usize) -> Result<(), GpuError> {
        let FiledParticles { tables, places } = &mut self.filed[group];
        tables.fill(&self.device, &self.position, places.clone(), 0.0);
        Ok(())
    }

    fn list(&mut self, group: usize) -> Result<(), GpuError> {
        let index = self.filed[group].tables.index(0.0);
        self.rows[group].fill_rows::<false>(&self.device, &index, &self.position, self.moving);
        Ok(())
    }

    fn wait(&self) -> Result<(), GpuError> {
        Ok(())
    }

    fn listed(&self) -> Result<u64, GpuError> {
        Ok(self.rows.iter().map(|rows| rows.neighbors.len() as u64).sum())
    }
}
