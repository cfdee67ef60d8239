//! What domains show each other at every step: where grains are that others have copies of. GPUs that reach each other copy that by themselves.

use super::parcels::{Belongings, unfold_all, widths_of};
use crate::division::{Halt, Illegible, unfold};
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
    /// Where they are, twice: those of the step before may still be on their way to another GPU.
    pub packed: [Arc<Packed<C, R>>; 2],
    /// See [`OnGpu::changing`].
    pub belongings: Belongings<C>,
    coordinates_told: Buffer<C>,
    motions_told: Buffer<R>,
    belongings_told: Belongings<C>,
}

/// Where grains are that another domain has copies of, and how they move.
pub(super) struct Packed<C, R> {
    pub coordinates: Buffer<C>,
    pub motions: Buffer<R>,
}

/// The same on its way to another GPU: what is to be copied, and where that is.
pub(super) struct Handing<C, R> {
    packed: Arc<Packed<C, R>>,
    grains: usize,
    gpu: Gpu,
}

impl<C: Number, R: Number> Side<C, R> {
    pub fn new(gpu: &Gpu) -> Result<Side<C, R>, GpuError> {
        Ok(Side {
            own: gpu.buffer(RECORD, "domains")?,
            shown: 0,
            copies: gpu.buffer(RECORD, "domains")?,
            followed: 0,
            packed: [Arc::new(Packed::new(gpu, 1)?), Arc::new(Packed::new(gpu, 1)?)],
            belongings: Belongings::new(),
            coordinates_told: gpu.buffer(RECORD, "domains")?,
            motions_told: gpu.buffer(2 * RECORD, "domains")?,
            belongings_told: Belongings::new(),
        })
    }

    /// Room for what this side shows and is told at every step, so many numbers of what changes.
    pub fn make_room(&mut self, gpu: &Gpu, widths: &[usize]) -> Result<(), GpuError> {
        self.belongings.make_room(gpu, self.shown, widths)?;
        self.belongings_told.make_room(gpu, self.followed, widths)?;
        for packed in &mut self.packed {
            if packed.coordinates.len() < RECORD * self.shown {
                *packed = Arc::new(Packed::new(gpu, self.shown + self.shown / 4)?);
            }
        }
        make_room(gpu, &mut self.coordinates_told, RECORD * self.followed, "domains")?;
        make_room(gpu, &mut self.motions_told, 2 * RECORD * self.followed, "domains")
    }
}

impl<C: Number, R: Number> Packed<C, R> {
    fn new(gpu: &Gpu, grains: usize) -> Result<Packed<C, R>, GpuError> {
        Ok(Packed {
            coordinates: gpu.buffer(RECORD * grains, "domains")?,
            motions: gpu.buffer(2 * RECORD * grains, "domains")?,
        })
    }
}

impl<C: Number, R: Number> Handing<C, R> {
    /// Copied to a GPU, with so many numbers of motion of each grain; none where there are no grains.
    fn copied(&self, numbers: usize, to: &Gpu) -> Result<Option<Packed<C, R>>, GpuError> {
        if self.grains == 0 {
            return Ok(None);
        }
        Ok(Some(Packed {
            coordinates: self.gpu.copy_to(&self.packed.coordinates, RECORD * self.grains, to)?,
            motions: self.gpu.copy_to(&self.packed.motions, numbers * self.grains, to)?,
        }))
    }
}

impl<C: Number + Coordinate<R>, R: Number> OnGpu<C, R> {
    /// Numbers of motion of a grain that another domain is told at every step.
    pub(super) fn numbers_of_motion(&self) -> usize {
        if self.kind.frictional { 2 * RECORD } else { RECORD }
    }

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

    /// Puts copies of a side where their originals are, as these were packed.
    fn put_copies(&self, side: &Side<C, R>, coordinates: &Buffer<C>, motions: &Buffer<R>) {
        let (count, dim) = units(side.followed);
        follow::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            side.copies.argument(),
            coordinates.records(),
            motions.records(),
            self.position[self.now].records(),
            self.velocity[self.now].records(),
            self.spin[self.now].records(),
            side.followed as u32,
            self.kind.frictional,
        );
    }

    /// Puts copies where these letters tell that their originals are.
    pub(super) fn follow_originals(&self, letters: &[Vec<u8>]) -> Result<(), Halt> {
        let (numbers, widths) = (self.numbers_of_motion(), widths_of(&self.changing()));
        let border = self.border.as_ref().expect("a domain has a border");
        for (side, letter) in border.sides.iter().zip(letters) {
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
            self.gpu.write_part(&side.coordinates_told, 0, &coordinates);
            self.gpu.write_part(&side.motions_told, 0, &motions);
            self.put_copies(side, &side.coordinates_told, &side.motions_told);
            side.belongings_told
                .scatter(&self.gpu, &belongings, &side.copies, side.followed, &self.changing());
        }
        Ok(())
    }

    fn side(&self, side: usize) -> &Side<C, R> {
        &self.border.as_ref().expect("a domain has a border").sides[side]
    }

    /// What the domain beside this one with this number is to get.
    pub(super) fn handing(&self, side: usize) -> Handing<C, R> {
        let side = self.side(side);
        Handing {
            packed: side.packed[self.now].clone(),
            grains: side.shown,
            gpu: self.gpu.clone(),
        }
    }

    /// Bytes of it.
    pub(super) fn bytes_shown(&self, side: usize) -> u64 {
        let each = RECORD * size_of::<C>() + self.numbers_of_motion() * size_of::<R>();
        (self.side(side).shown * each) as u64
    }

    /// Copies what another domain is to give, and what it is to get, between their GPUs; returns the latter.
    pub(super) fn swap_copies(&self, side: usize, theirs: &Handing<C, R>) -> Result<Option<Packed<C, R>>, Halt> {
        let (own, numbers) = (self.handing(side), self.numbers_of_motion());
        let there = own.copied(numbers, &theirs.gpu)?;
        let here = theirs.copied(numbers, &own.gpu)?;
        self.follow_copied(side, here)?;
        Ok(there)
    }

    /// Puts copies where their originals are, from what was copied to this GPU.
    pub(super) fn follow_copied(&self, side: usize, came: Option<Packed<C, R>>) -> Result<(), Halt> {
        let side = self.side(side);
        let Some(Packed { coordinates, motions }) = came else {
            return if side.followed == 0 { Ok(()) } else { Err(Illegible.into()) };
        };
        if coordinates.len() != RECORD * side.followed {
            return Err(Illegible.into());
        }
        self.put_copies(side, &coordinates, &motions);
        Ok(())
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
