//! Wear of walls on the GPU: a launch of its own, so that scenes without it run the kernels that they always did.

use super::{Number, OnGpu, WallRows, doubles, numbers};
use crate::simulation::Simulation;
use crate::walls::Walls;
use seixo_device::gpu::{Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::walls::wear;

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Forces between grains and walls at this step, and the wear that comes of them.
    pub(super) fn bear_on_walls(&self, host: &Simulation, parity: u32) {
        self.touch_walls(host, parity);
        let Some(near) = self.walls.as_ref().filter(|near| near.entries > 0 && !self.forces_known) else {
            return;
        };
        let Some(work) = &near.work else { return };
        let (count, dim) = units(near.near);
        wear::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            near.grains.argument(),
            near.row.argument(),
            near.list.argument(),
            near.elements.argument(),
            near.records.argument(),
            near.touches.argument(),
            work.argument(),
            self.position[self.now].argument(),
            self.velocity[self.now].argument(),
            self.spin[self.now].argument(),
            self.flags.argument(),
            R::of(host.stepping.dt),
            near.near as u32,
            parity,
            self.kind.frictional,
        );
    }

    /// Writes what the host's entries have done to walls, in the order of the lists just made; of an entry that is not in them it goes to its
    /// element.
    pub(super) fn give_wear(&self, host: &mut Simulation) -> Result<(), GpuError> {
        let Some((near, room)) = self.walls.as_ref().and_then(|near| Some((near, near.work.as_ref()?))) else {
            return Ok(());
        };
        let (order, row) = (
            self.gpu.download_part(&self.order, 0..self.n).wait()?,
            self.gpu.download(&near.row)?,
        );
        let list = self.gpu.download_part(&near.list, 0..near.entries).wait()?;
        let mut work = vec![0.0; room.len()];
        let walls = &mut host.walls;
        for (i, &old) in order.iter().take(self.n).enumerate() {
            for k in walls.row[old as usize] as usize..walls.row[old as usize + 1] as usize {
                let (element, done) = (walls.list[k], walls.work.by_entry[k]);
                match (row[i] as usize..row[i + 1] as usize).find(|&q| list[q] == element) {
                    Some(entry) => work[entry] = done,
                    None => {
                        let origin = walls.origin_of(element);
                        walls.work.by_element[origin] += done;
                    }
                }
            }
        }
        walls.work.by_entry.clear();
        self.gpu.write(room, &numbers::<C>(work));
        Ok(())
    }
}

impl<C: Number, R: Number> WallRows<C, R> {
    /// Adds what the entries have done to the host's elements; the list is about to be made anew.
    pub(super) fn book_wear(&self, gpu: &Gpu, host: &mut Simulation) -> Result<(), GpuError> {
        if let Some(work) = self.work.as_ref().filter(|_| self.entries > 0) {
            let mut copies = gpu.copies();
            let (list, work) = (copies.add(&self.list, 0..self.entries), copies.add(work, 0..self.entries));
            let arrived = copies.wait()?;
            let (list, work) = (arrived.take(list), doubles(&arrived.take(work)));
            let walls = &mut host.walls;
            Walls::book_wear(&mut walls.work.by_element, &list, &walls.elements, &work);
            walls.work.by_entry.clear();
        }
        Ok(())
    }
}
