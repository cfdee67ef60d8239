//! Wear of walls on the GPU: a separate launch, so that the kernels of scenes without wear stay the same.

use super::{GpuGrains, Number, WallRows, doubles, numbers};
use crate::populations::Populations;
use crate::walls::Walls;
use seixo_device::gpu::{Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::walls::wear;

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Computes the forces between grains and walls at this step, and the wear that results.
    pub(super) fn wall_forces(&self, host: &Populations, parity: u32) {
        self.wall_contacts(host, parity);
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
            near.wall_contacts.argument(),
            work.argument(),
            self.position[self.now].argument(),
            self.velocity[self.now].argument(),
            self.spin[self.now].argument(),
            self.flags.argument(),
            R::of(host.context.stepping.dt),
            near.near as u32,
            parity,
            self.kind.frictional,
        );
    }

    /// Uploads the sliding work of the host's entries, in the order of the lists that were just built. The work of an entry that is not listed is
    /// added to its element.
    pub(super) fn upload_wear(&self, host: &mut Populations) -> Result<(), GpuError> {
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
    /// Adds the sliding work of the entries to the host's elements before the list is rebuilt.
    pub(super) fn add_wear(&self, gpu: &Gpu, host: &mut Populations) -> Result<(), GpuError> {
        if let Some(work) = self.work.as_ref().filter(|_| self.entries > 0) {
            let mut copies = gpu.copies();
            let (list, work) = (copies.add(&self.list, 0..self.entries), copies.add(work, 0..self.entries));
            let arrived = copies.wait()?;
            let (list, work) = (arrived.take(list), doubles(&arrived.take(work)));
            let walls = &mut host.walls;
            Walls::add_wear(&mut walls.work.by_element, &list, &walls.elements, &work);
            walls.work.by_entry.clear();
        }
        Ok(())
    }
}
