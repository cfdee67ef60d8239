//! Searches tried out: the same pairs found again and again, by one way or another, to see how long it takes.

use super::cells::{MOST_CLASSES, size_classes};
use super::pairs::Pairs;
use super::tables::Tables;
use crate::gpu::tables_on;
use crate::guard::Stop;
use crate::place::{gpu_asked_for, precision_on};
use crate::refusal::Refusal;
use crate::simulation::Simulation;
use crate::world::{Precision, Settings, Vec3, World};
use seixo_device::Cpu;
use seixo_device::gpu::GpuError;
use std::ops::Range;
use std::time::Instant;

/// A world at rest whose pairs are found again and again, as when lists are renewed.
pub struct SearchTrial {
    simulation: Simulation,
}

impl SearchTrial {
    /// Sets the world up where the settings ask for.
    ///
    /// # Errors
    /// If the world cannot be simulated, or the skin is zero, where a GPU lists nothing.
    pub fn new(world: World, settings: Settings) -> Result<SearchTrial, Refusal> {
        if let Some(value) = settings.skin.filter(|&skin| skin == 0.0) {
            return Err(Refusal::Setting {
                what: "run.skin",
                value,
                must: "a positive length where lists are to be made",
            });
        }
        let simulation = Simulation::new(world, settings)?;
        Ok(SearchTrial { simulation })
    }

    /// Sorts the grains, files them in tables where the search has some, and lists all near pairs. Says how long it took \[s\].
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn find(&mut self) -> Result<f64, Stop> {
        let clock = Instant::now();
        if self.simulation.is_remote() {
            self.simulation.with_remote(|remote, host| remote.list_anew(host))?;
        } else {
            let Simulation {
                device,
                fields,
                cells,
                pairs,
                ..
            } = &mut self.simulation;
            cells.sort(device, fields, |_| true);
            pairs.fill_rows::<true>(device, &cells.index(), &fields.position, fields.len());
        }
        Ok(clock.elapsed().as_secs_f64())
    }

    /// Number of pairs found.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn pairs(&mut self) -> Result<u64, Stop> {
        if self.simulation.is_remote() {
            return Ok(self.simulation.with_remote(|remote, _| remote.listed())? / 2);
        }
        let Pairs { row, neighbors, .. } = &self.simulation.pairs;
        let rows = row.windows(2).enumerate();
        let later = |(i, ends): (usize, &[u32])| {
            let entries = &neighbors[ends[0] as usize..ends[1] as usize];
            entries.iter().filter(|&&j| j as usize > i).count() as u64
        };
        Ok(rows.map(later).sum())
    }

    /// The simulation that nobody steps: where it is, and with how many digits.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }
}

/// How particles of two sizes, some of which never move, share hash tables \[Silva 2010, tables 6.1 and 6.2\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One table for all, whose cells suit the largest, built anew every time.
    One,
    /// A table for each size, built anew every time.
    EachSize,
    /// A table for each size of what moves, built anew every time, and one for what never moves, built once.
    EachSizeAndStatic,
}

/// Particles that are filed together, in tables by their size.
pub(crate) struct Filed {
    pub tables: Tables,
    pub places: Range<usize>,
}

/// Where tables are built and looked into.
pub(crate) trait TablePlace {
    /// Files particles of this group.
    fn file(&mut self, group: usize) -> Result<(), GpuError>;
    /// Lists, for everything that moves, its neighbors in this group.
    fn list(&mut self, group: usize) -> Result<(), GpuError>;
    /// Waits until all is done.
    fn wait(&self) -> Result<(), GpuError>;
    /// Number of neighbors listed.
    fn listed(&self) -> Result<u64, GpuError>;
}

/// Particles whose neighbors are found through hash tables, again and again.
pub struct TableTrial {
    place: Box<dyn TablePlace>,
    groups: usize,
}

impl TableTrial {
    /// Particles by center and radius \[m\]: those that are nearer than the sum of their radii are neighbors. The first `moving` of them move.
    ///
    /// # Errors
    /// If none moves, or what the settings ask for is not there.
    pub fn new(particles: &[(Vec3, f64)], moving: usize, sharing: Sharing, settings: &Settings) -> Result<TableTrial, Refusal> {
        let moving = moving.min(particles.len());
        if moving == 0 {
            return Err(Refusal::NoGrains);
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
            Sharing::EachSizeAndStatic if moving < all => vec![0..moving, moving..all],
            _ => std::iter::once(0..all).collect(),
        };
        let most = if sharing == Sharing::One { 1 } else { MOST_CLASSES };
        let filed = parts.into_iter().map(|places| {
            let radii = particles[places.clone()].iter().map(|particle| particle.1);
            let mut tables = Tables::of_buckets(&size_classes(radii, most));
            tables.lay_out(low, high, places.len(), 0.0);
            Filed { tables, places }
        });
        let filed: Vec<Filed> = filed.collect();
        let groups = filed.len();
        let position: Vec<f64> = particles.iter().flat_map(|(x, radius)| [x[0], x[1], x[2], *radius]).collect();
        let mut place: Box<dyn TablePlace> = match gpu_asked_for(settings.device, &mut Vec::new())? {
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
        Ok(TableTrial { place, groups })
    }

    /// Files what moves, and all else that shares its tables, and lists the neighbors of everything that moves. Says how long it took \[s\].
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn find(&mut self) -> Result<f64, Refusal> {
        let clock = Instant::now();
        self.place.file(0)?;
        for group in 0..self.groups {
            self.place.list(group)?;
        }
        self.place.wait()?;
        Ok(clock.elapsed().as_secs_f64())
    }

    /// Number of neighbors found, of everything that moves.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn neighbors(&self) -> Result<u64, Refusal> {
        Ok(self.place.listed()?)
    }
}

/// The cores of this machine.
struct Here {
    device: Cpu,
    position: Vec<f64>,
    moving: usize,
    filed: Vec<Filed>,
    rows: Vec<Pairs>,
}

impl TablePlace for Here {
    fn file(&mut self, group: usize) -> Result<(), GpuError> {
        let Filed { tables, places } = &mut self.filed[group];
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
