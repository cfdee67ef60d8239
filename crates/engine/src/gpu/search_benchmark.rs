//! Benchmark of hash tables on a GPU.

use super::tables::{RowSearch, Tables};
use super::{Number, Rows, numbers};
use crate::search::{FiledParticles, TableBackend};
use seixo_device::gpu::{Buffer, Gpu, GpuError};
use seixo_sweeps::layout::RECORD;

/// A group of particles, its tables and the rows of their neighbors.
struct Group<C> {
    filed: FiledParticles,
    tables: Tables<C>,
    rows: Rows<C>,
}

/// Particles on a GPU.
struct There<C> {
    gpu: Gpu,
    position: Buffer<C>,
    moving: usize,
    groups: Vec<Group<C>>,
    lengths: Buffer<u32>,
    /// A search with tables marks no candidates.
    room: Buffer<C>,
}

/// Uploads particles to a GPU: position records, the number of moving particles, and the groups that share tables.
pub(crate) fn tables_on(
    gpu: Gpu,
    single: bool,
    position: &[f64],
    moving: usize,
    filed: Vec<FiledParticles>,
) -> Result<Box<dyn TableBackend>, GpuError> {
    Ok(if single {
        Box::new(There::<f32>::new(gpu, position, moving, filed)?)
    } else {
        Box::new(There::<f64>::new(gpu, position, moving, filed)?)
    })
}

impl<C: Number> There<C> {
    fn new(gpu: Gpu, position: &[f64], moving: usize, filed: Vec<FiledParticles>) -> Result<There<C>, GpuError> {
        let groups = filed.into_iter().map(|filed| {
            Ok(Group {
                filed,
                tables: Tables::new(&gpu)?,
                rows: Rows::new(&gpu, moving)?,
            })
        });
        let groups = groups.collect::<Result<Vec<Group<C>>, GpuError>>()?;
        Ok(There {
            position: gpu.upload(&numbers::<C>(position.iter().copied()), "positions")?,
            moving,
            groups,
            lengths: gpu.buffer(moving, "lengths of rows")?,
            room: gpu.buffer(RECORD, "lengths of rows")?,
            gpu,
        })
    }
}

impl<C: Number> TableBackend for There<C> {
    fn file(&mut self, group: usize) -> Result<(), GpuError> {
        let Group { filed, tables, .. } = &mut self.groups[group];
        tables.fill(&self.gpu, &filed.tables, &self.position, filed.places.clone(), 0.0)
    }

    fn list(&mut self, group: usize) -> Result<(), GpuError> {
        let Group { filed, tables, rows } = &mut self.groups[group];
        let index = tables.index(&filed.tables, 0.0);
        let search = RowSearch {
            index,
            position: &self.position,
            n: self.moving,
            all: self.position.len() / RECORD,
            lengths: &self.lengths,
            member: None,
            room: &self.room,
            touching_first: false,
            rows_are_short: false,
        };
        rows.count(&self.gpu, &search)?;
        let entries = rows.entries(&self.gpu, self.moving)?;
        rows.fill(&self.gpu, &search, entries)
    }

    fn wait(&self) -> Result<(), GpuError> {
        self.gpu.wait()
    }

    fn listed(&self) -> Result<u64, GpuError> {
        let mut sum = 0;
        for group in &self.groups {
            sum += group.rows.ends(&self.gpu, self.moving)?;
        }
        Ok(sum)
    }
}
