//! Lists of polyhedral grains at a rebuild of the neighbor lists: their pairs leave the rows of neighbors, and keep their contact histories.

use super::super::neighbor_lists::make_room;
use super::super::{GpuGrains, Number, Rows, WallRows, make_room_for_sums};
use super::{CONTACTS, GpuShapes, NearFeatures, Slots, contact_cubes, wall_cubes};
use crate::polyhedra::SLOTS;
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::polyhedra_lists::{
    PAIR_LOAD, WALL_LOAD, carry_shape_pairs, carry_shape_walls, count_shape_pairs, drop_shape_pairs, list_shape_ends, list_shape_pairs,
    mark_held, mark_touching_pairs, order_shape_pairs,
};
use seixo_sweeps::kernels::polyhedra_near::{KEPT, NEAR_POSE, forget_near_features};
use seixo_sweeps::layout::RECORD;

/// The grains of a subdomain at a rebuild of the lists: their marks as own grains or ghost particles, and their ids in the order before. Those whose old
/// indices are below `known` had rows then.
pub(in crate::gpu) struct ShapesOfDomain<'a> {
    pub member: &'a Buffer<u32>,
    pub old_id: &'a Buffer<u32>,
    pub known: u32,
}

impl<R: Number> Slots<R> {
    /// Makes sure that there is room for the slots of this many pairs. If there was not, the contents are lost.
    fn make_room(&mut self, gpu: &Gpu, pairs: usize) -> Result<(), GpuError> {
        make_room(gpu, &mut self.keys, SLOTS * pairs, CONTACTS)?;
        make_room(gpu, &mut self.springs, RECORD * SLOTS * pairs, CONTACTS)
    }
}

impl<C: Number> NearFeatures<C> {
    /// Makes sure that there is room for the features of this many pairs, and forgets those of the pairs before.
    fn start(&mut self, gpu: &Gpu, pairs: usize) -> Result<(), GpuError> {
        make_room(gpu, &mut self.keys, KEPT * pairs, CONTACTS)?;
        make_room(gpu, &mut self.counts, pairs, CONTACTS)?;
        make_room(gpu, &mut self.poses, RECORD * NEAR_POSE * pairs, CONTACTS)?;
        if pairs > 0 {
            let (count, dim) = units(pairs);
            forget_near_features::launch(gpu.client(), count, dim, self.counts.argument(), pairs as u32);
        }
        Ok(())
    }
}

impl<C: Number, R: Number> GpuShapes<C, R> {
    /// Moves the pairs with a polyhedral grain from the new rows of n grains to the list of pairs, with the histories of their contacts, which go to the
    /// `present` slots. `order` has the old index of each grain. Waits for the number of pairs.
    pub(in crate::gpu) fn list_pairs(
        &mut self,
        gpu: &Gpu,
        rows: &Rows<R>,
        [id, order]: [&Buffer<u32>; 2],
        n: usize,
        present: usize,
        of_domain: Option<&ShapesOfDomain<'_>>,
    ) -> Result<(), GpuError> {
        let list = &mut self.pairs;
        let (before, now) = (list.now, list.now ^ 1);
        // Without ghost particles, the marks of these are not read.
        let (member, has_ghosts) = of_domain.map_or((&list.work.marks, false), |of_domain| (of_domain.member, true));
        let rows = [&rows.tile_first, &rows.count, &rows.list];
        let (count, dim) = units(n);
        count_shape_pairs::launch(
            gpu.client(),
            count.clone(),
            dim,
            rows[0].argument(),
            rows[1].argument(),
            rows[2].argument(),
            id.argument(),
            self.marks.argument(),
            member.argument(),
            self.counts[0].argument(),
            self.counts[1].argument(),
            n as u32,
            has_ghosts,
        );
        self.workspace.exclusive_scan(gpu, &self.counts[0], n, &list.first[now])?;
        self.workspace.exclusive_scan(gpu, &self.counts[1], n, &list.end_first[now])?;
        let mut copies = gpu.copies();
        let totals = [&list.first[now], &list.end_first[now]].map(|first| copies.add(first, n..n + 1));
        let arrived = copies.wait()?;
        let [pairs, ends] = totals.map(|total| arrived.take(total)[0] as usize);
        make_room(gpu, &mut list.pairs[now], 2 * pairs, CONTACTS)?;
        make_room(gpu, &mut list.ends[now], ends, CONTACTS)?;
        make_room(gpu, &mut list.loads[now], RECORD * PAIR_LOAD * pairs, CONTACTS)?;
        list_shape_pairs::launch(
            gpu.client(),
            count.clone(),
            dim,
            rows[0].argument(),
            rows[1].argument(),
            rows[2].argument(),
            id.argument(),
            self.marks.argument(),
            member.argument(),
            list.first[now].argument(),
            list.pairs[now].argument(),
            n as u32,
            has_ghosts,
        );
        list_shape_ends::launch(
            gpu.client(),
            count.clone(),
            dim,
            rows[0].argument(),
            rows[1].argument(),
            rows[2].argument(),
            id.argument(),
            self.marks.argument(),
            member.argument(),
            list.first[now].argument(),
            list.pairs[now].argument(),
            list.end_first[now].argument(),
            list.ends[now].argument(),
            n as u32,
            has_ghosts,
        );
        drop_shape_pairs::launch(
            gpu.client(),
            count,
            dim,
            rows[0].argument(),
            rows[1].argument(),
            rows[2].argument(),
            self.marks.argument(),
            n as u32,
        );
        list.slots[present].make_room(gpu, pairs)?;
        if pairs > 0 {
            let (old, new) = (&list.slots[present ^ 1], &list.slots[present]);
            // Without subdomains, pairs are found by their indices.
            let (old_id, known) = of_domain.map_or((&self.marks, 0), |of_domain| (of_domain.old_id, of_domain.known));
            let (count, dim) = units(pairs);
            carry_shape_pairs::launch::<R>(
                gpu.client(),
                count,
                dim,
                list.pairs[now].argument(),
                order.argument(),
                list.first[before].argument(),
                list.pairs[before].argument(),
                list.end_first[before].argument(),
                list.ends[before].argument(),
                id.argument(),
                old_id.argument(),
                list.loads[before].records(),
                old.keys.argument(),
                old.springs.argument(),
                list.loads[now].records(),
                new.keys.argument(),
                new.springs.argument(),
                SLOTS as u32,
                known,
                pairs as u32,
                of_domain.is_some(),
            );
        }
        list.slots[present ^ 1].make_room(gpu, pairs)?;
        list.features.start(gpu, pairs)?;
        (list.now, list.count, list.end_count) = (now, pairs, ends);
        self.order_pairs(gpu)?;
        make_room_for_sums(gpu, &mut self.power, contact_cubes(pairs))
    }

    /// Finds the order in which threads take the pairs, from the loads of the last step. Results of pairs do not depend on it.
    fn order_pairs(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        let list = &mut self.pairs;
        let (pairs, work) = (list.count, &mut list.work);
        make_room(gpu, &mut work.marks, pairs, CONTACTS)?;
        make_room(gpu, &mut work.before, pairs + 1, CONTACTS)?;
        make_room(gpu, &mut work.order, pairs, CONTACTS)?;
        if pairs == 0 {
            return Ok(());
        }
        let (count, dim) = units(pairs);
        mark_touching_pairs::launch::<R>(
            gpu.client(),
            count.clone(),
            dim,
            list.loads[list.now].records(),
            work.marks.argument(),
            pairs as u32,
        );
        self.workspace.exclusive_scan(gpu, &work.marks, pairs, &work.before)?;
        order_shape_pairs::launch(
            gpu.client(),
            count,
            dim,
            work.marks.argument(),
            work.before.argument(),
            work.order.argument(),
            pairs as u32,
        );
        Ok(())
    }
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Finds the marks of sorted grains that other kernels move, if some may be ghost particles or grains of bodies.
    pub(in crate::gpu) fn mark_held_shapes(&self) {
        let Some(shapes) = &self.shapes else { return };
        let Some(held) = &shapes.held else { return };
        let (count, dim) = units(self.n);
        let (shape, member) = (shapes.marks.argument(), self.member().argument());
        mark_held::launch(self.gpu.client(), count, dim, shape, member, held.argument(), self.n as u32);
    }

    /// Gives the new rows of walls the loads and contact histories of polyhedral grains.
    pub(in crate::gpu) fn carry_shape_walls(&mut self, near: &WallRows<C, R>) -> Result<(), GpuError> {
        let (present, known) = (self.present_slots(), self.rows_at_last_rebuild());
        let (gpu, n, entries) = (&self.gpu, self.n, near.entries);
        let Some(shapes) = &mut self.shapes else { return Ok(()) };
        let at_walls = &mut shapes.at_walls;
        let (before, now) = (at_walls.now, at_walls.now ^ 1);
        make_room(gpu, &mut at_walls.loads[now], RECORD * WALL_LOAD * entries, CONTACTS)?;
        at_walls.slots[present].make_room(gpu, entries)?;
        if entries > 0 {
            let (old, new) = (&at_walls.slots[present ^ 1], &at_walls.slots[present]);
            let (count, dim) = units(n);
            carry_shape_walls::launch::<R, C>(
                gpu.client(),
                count,
                dim,
                near.row.argument(),
                near.list.argument(),
                at_walls.features.argument(),
                self.order.argument(),
                near.old_row.argument(),
                near.old_list.argument(),
                at_walls.loads[before].records(),
                old.keys.argument(),
                old.springs.argument(),
                at_walls.loads[now].records(),
                new.keys.argument(),
                new.springs.argument(),
                SLOTS as u32,
                known,
                n as u32,
            );
        }
        at_walls.slots[present ^ 1].make_room(gpu, entries)?;
        at_walls.now = now;
        make_room_for_sums(gpu, &mut shapes.wall_power, wall_cubes(near.near))
    }
}
