//! What domains show each other at every step: where grains are that others have copies of.

use super::parcels::{Belongings, unfold_all, widths_of};
use crate::division::{Halt, Illegible, unfold};
use crate::gpu::handed::{Packed, Shows};
use crate::gpu::lists::make_room;
use crate::gpu::places::rename_places;
use crate::gpu::{Number, OnGpu};
use seixo_device::gpu::{Buffer, Gpu, GpuError, units};
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::domain::{follow, show};
use seixo_sweeps::views::RECORD;
use std::sync::Arc;

/// What is shared with another domain.
pub(super) struct Side<C, R> {
    /// Places of own grains that it has copies of, and how many.
    pub own: Buffer<u32>,
    pub shown: usize,
    /// Places of copies of its grains, and how many.
    pub copies: Buffer<u32>,
    pub followed: usize,
    /// Where they are, at this step and the one before.
    pub packed: [Arc<Packed<C, R>>; 2],
    /// See [`OnGpu::changing`].
    pub belongings: Belongings<C>,
    told: Packed<C, R>,
    belongings_told: Belongings<C>,
}

impl<C: Number, R: Number> Side<C, R> {
    pub fn new(gpu: &Gpu) -> Result<Side<C, R>, GpuError> {
        Ok(Side {
            own: gpu.buffer(RECORD, "domains")?,
            shown: 0,
            copies: gpu.buffer(RECORD, "domains")?,
            followed: 0,
            packed: Packed::twice(gpu, 2 * RECORD)?,
            belongings: Belongings::new(),
            told: Packed::new(gpu, 1, 2 * RECORD)?,
            belongings_told: Belongings::new(),
        })
    }

    /// Room for what this side shows and is told at every step, so many numbers of what changes.
    pub fn make_room(&mut self, gpu: &Gpu, widths: &[usize]) -> Result<(), GpuError> {
        self.belongings.make_room(gpu, self.shown, widths)?;
        self.belongings_told.make_room(gpu, self.followed, widths)?;
        Packed::make_room(&mut self.packed, gpu, self.shown, 2 * RECORD)?;
        make_room(gpu, &mut self.told.coordinates, RECORD * self.followed, "domains")?;
        make_room(gpu, &mut self.told.motions, 2 * RECORD * self.followed, "domains")
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Packs where the grains are that others have copies of.
    pub(super) fn show(&self) {
        let border = self.border.as_ref().expect("a domain has a border");
        for side in border.sides.iter().filter(|side| side.shown > 0) {
            let (count, dim) = units(side.shown);
            show::launch::<R, C>(
                self.gpu.client(),
                count,
                dim,
                side.own.argument(),
                self.position[self.now].records(),
                self.velocity[self.now].records(),
                self.spin[self.now].records(),
                side.packed[self.now].coordinates.records(),
                side.packed[self.now].motions.records(),
                side.shown as u32,
                self.kind.frictional,
            );
            side.belongings.gather(&self.gpu, &self.changing(), &side.own, side.shown);
        }
    }

    /// Puts copies where these letters tell that their originals are.
    pub(super) fn follow_originals(&self, letters: &[Vec<u8>]) -> Result<(), Halt> {
        let (numbers, widths) = (self.numbers_of_motion(), widths_of(&self.changing()));
        let border = self.border.as_ref().expect("a domain has a border");
        for (k, (side, letter)) in border.sides.iter().zip(letters).enumerate() {
            let mut letter = &letter[..];
            let coordinates: Vec<C> = unfold(&mut letter)?;
            let motions: Vec<R> = unfold(&mut letter)?;
            let belongings: Vec<Vec<C>> = unfold_all(&mut letter, side.followed, &widths)?;
            if coordinates.len() != RECORD * side.followed || motions.len() != numbers * side.followed {
                return Err(Illegible.into());
            }
            if side.followed == 0 {
                continue;
            }
            self.gpu.write_part(&side.told.coordinates, 0, &coordinates);
            self.gpu.write_part(&side.told.motions, 0, &motions);
            self.put_copies(k, &side.told);
            side.belongings_told
                .scatter(&self.gpu, &belongings, &side.copies, side.followed, &self.changing());
        }
        Ok(())
    }

    fn side(&self, side: usize) -> &Side<C, R> {
        &self.border.as_ref().expect("a domain has a border").sides[side]
    }

    /// From places before the grains were sorted to those where they are now.
    pub(super) fn rename_shared(&self) {
        let border = self.border.as_ref().expect("a domain has a border");
        for side in &border.sides {
            for (places, m) in [(&side.own, side.shown), (&side.copies, side.followed)] {
                rename_places(&self.gpu, places, m, &border.place_of);
            }
        }
    }
}

impl<C: Number + Coordinate<R>, R: Number> Shows for OnGpu<C, R> {
    type Coordinate = C;
    type Real = R;

    fn gpu_of_domain(&self) -> &Gpu {
        &self.gpu
    }

    fn numbers_of_motion(&self) -> usize {
        if self.kind.frictional { 2 * RECORD } else { RECORD }
    }

    fn packed_for(&self, side: usize) -> &Arc<Packed<C, R>> {
        &self.side(side).packed[self.now]
    }

    fn shown(&self, side: usize) -> usize {
        self.side(side).shown
    }

    fn followed(&self, side: usize) -> usize {
        self.side(side).followed
    }

    fn put_copies(&self, side: usize, packed: &Packed<C, R>) {
        let side = self.side(side);
        let (count, dim) = units(side.followed);
        follow::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            side.copies.argument(),
            packed.coordinates.records(),
            packed.motions.records(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            side.followed as u32,
            self.kind.frictional,
        );
    }
}
