//! What domains show each other of fluids at every step.

use super::super::FlowOnGpu;
use crate::gpu::Number;
use crate::gpu::handed::{Packed, Shows};
use crate::gpu::lists::make_room;
use seixo_device::gpu::{Buffer, Gpu, GpuError};
use seixo_laws::Coordinate;
use seixo_sweeps::views::RECORD;
use std::sync::Arc;

/// What is shared with another domain.
pub(super) struct Side<C, R> {
    /// Places of own fluid that it has copies of, and how many.
    pub own: Buffer<u32>,
    pub shown: usize,
    /// Places of copies of its fluid, and how many.
    pub copies: Buffer<u32>,
    pub followed: usize,
    /// Where own fluid is, with its volume, and how it flows, with its pressure, at this step and the one before.
    pub packed: [Arc<Packed<C, R>>; 2],
    /// The same of copies, as a letter told.
    pub told: Packed<C, R>,
}

impl<C: Number, R: Number> Side<C, R> {
    /// With so many own particles, and so many copies, in these places.
    pub fn new(gpu: &Gpu, own: &[u32], copies: &[u32]) -> Result<Side<C, R>, GpuError> {
        let mut side = Side {
            own: gpu.buffer(RECORD, "domains")?,
            shown: 0,
            copies: gpu.buffer(RECORD, "domains")?,
            followed: 0,
            packed: Packed::twice(gpu, RECORD)?,
            told: Packed::new(gpu, 1, RECORD)?,
        };
        side.show(gpu, own)?;
        side.follow(gpu, copies)?;
        Ok(side)
    }

    /// From now on the other domain is shown own fluid in these places.
    pub fn show(&mut self, gpu: &Gpu, own: &[u32]) -> Result<(), GpuError> {
        make_room(gpu, &mut self.own, own.len(), "domains")?;
        gpu.write_part(&self.own, 0, own);
        self.shown = own.len();
        Packed::make_room(&mut self.packed, gpu, self.shown, RECORD)
    }

    /// From now on copies in these places follow its fluid.
    pub fn follow(&mut self, gpu: &Gpu, copies: &[u32]) -> Result<(), GpuError> {
        make_room(gpu, &mut self.copies, copies.len(), "domains")?;
        gpu.write_part(&self.copies, 0, copies);
        self.followed = copies.len();
        make_room(gpu, &mut self.told.coordinates, RECORD * self.followed, "domains")?;
        make_room(gpu, &mut self.told.motions, RECORD * self.followed, "domains")
    }
}

impl<C: Number + Coordinate<R>, R: Number> Shows for FlowOnGpu<C, R> {
    type Coordinate = C;
    type Real = R;

    fn gpu_of_domain(&self) -> &Gpu {
        &self.gpu
    }

    fn numbers_of_motion(&self) -> usize {
        RECORD
    }

    fn packed_for(&self, side: usize) -> &Arc<Packed<C, R>> {
        &self.border().sides[side].packed[self.now]
    }

    fn shown(&self, side: usize) -> usize {
        self.border().sides[side].shown
    }

    fn followed(&self, side: usize) -> usize {
        self.border().sides[side].followed
    }

    fn put_copies(&self, side: usize, packed: &Packed<C, R>) {
        let (gpu, now, side) = (&self.gpu, self.now, &self.border().sides[side]);
        gpu.scatter(&packed.coordinates, &side.copies, side.followed, RECORD, &self.position[now]);
        gpu.scatter(&packed.motions, &side.copies, side.followed, RECORD, &self.flowing[now]);
    }
}
