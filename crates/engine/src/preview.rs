//! Preview: particle data for pictures, taken at once, without sorting, sums or waiting.

use crate::flow::Flow;
use crate::world::{Vec3, vector};
use seixo_device::gpu::{GpuError, SharedBuffer};

/// Scalar by which particles are colored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorScalar {
    /// Radius \[m\].
    Radius,
    /// Speed \[m/s\].
    Speed,
    /// A component of the velocity \[m/s\]: 0, 1 or 2.
    Velocity(usize),
}

impl ColorScalar {
    /// Number of the scalar in kernels.
    pub(crate) fn number(self) -> u32 {
        match self {
            ColorScalar::Radius => 0,
            ColorScalar::Speed => 1,
            ColorScalar::Velocity(axis) => 2 + axis as u32,
        }
    }

    pub(crate) fn of(self, radius: f64, [x, y, z]: [f64; 3]) -> f64 {
        match self {
            ColorScalar::Radius => radius,
            ColorScalar::Speed => (x * x + y * y + z * z).sqrt(),
            ColorScalar::Velocity(axis) => [x, y, z][axis],
        }
    }
}

/// Particles at one time: first grains, then fluids, otherwise unordered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    /// Ids.
    pub id: Vec<u32>,
    /// Centers relative to the requested origin, and radii \[m\].
    pub places: Vec<[f32; 4]>,
    /// Values of the requested scalar.
    pub values: Vec<f32>,
    /// Number of grains.
    pub grains: usize,
}

/// A preview that a GPU may still be transferring while it continues.
pub struct PendingPreview(Box<dyn PreviewTransfer>);

/// Particles in the memory of a GPU that is used through wgpu.
pub struct GpuPreview {
    /// Centers relative to the requested origin, and radii \[m\], as four 32-bit numbers; radius 0 marks entries that are not shown.
    pub places: SharedBuffer,
    /// Values of the requested scalar, 32 bits each.
    pub values: SharedBuffer,
    /// Number of entries.
    pub count: usize,
    /// Whether they are fluid particles.
    pub is_fluid: bool,
    /// Bounds and samples on the host.
    pub survey: PreviewBounds,
}

/// Bounds and samples of particles in GPU memory.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewBounds {
    /// A sample of the particles from the whole domain: positions with radii as in `places` \[m\], and the requested scalar.
    pub some: Vec<([f32; 4], f32)>,
    /// Minimum and maximum of the four numbers of `places`, over all particles with finite positions that are shown \[m\].
    pub corners: [[f32; 4]; 2],
    /// Number of these particles.
    pub seen: usize,
    /// Their mean radius \[m\].
    pub mean_radius: f64,
}

/// A preview in transfer.
pub(crate) trait PreviewTransfer: Send {
    /// Waits for the preview.
    fn wait(self: Box<Self>) -> Result<Preview, GpuError>;
    /// Its buffers in GPU memory; `None` if no picture can be drawn from them, and on later calls.
    fn share_memory(&mut self) -> Result<Option<Vec<GpuPreview>>, GpuError>;
}

impl PreviewTransfer for Preview {
    fn wait(self: Box<Self>) -> Result<Preview, GpuError> {
        Ok(*self)
    }

    fn share_memory(&mut self) -> Result<Option<Vec<GpuPreview>>, GpuError> {
        Ok(self.id.is_empty().then(Vec::new))
    }
}

/// Grains, then fluids.
impl PreviewTransfer for [PendingPreview; 2] {
    fn wait(self: Box<Self>) -> Result<Preview, GpuError> {
        let [grains, fluids] = *self;
        let (mut preview, fluids) = (grains.0.wait()?, fluids.0.wait()?);
        preview.id.extend(fluids.id);
        preview.places.extend(fluids.places);
        preview.values.extend(fluids.values);
        Ok(preview)
    }

    fn share_memory(&mut self) -> Result<Option<Vec<GpuPreview>>, GpuError> {
        let [grains, fluids] = self;
        let (grains, fluids) = (grains.0.share_memory()?, fluids.0.share_memory()?);
        Ok(grains
            .zip(fluids)
            .map(|(grains, fluids)| grains.into_iter().chain(fluids).collect()))
    }
}

impl PendingPreview {
    /// Wraps a transfer.
    pub(crate) fn of(coming: impl PreviewTransfer + 'static) -> PendingPreview {
        PendingPreview(Box::new(coming))
    }

    /// Waits for the preview.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn wait(self) -> Result<Preview, String> {
        self.0.wait().map_err(|error| error.to_string())
    }

    /// Its buffers in GPU memory, for pictures drawn on the same device. `None` if it is elsewhere, has more digits than pictures, or was
    /// shared before.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn share_memory(&mut self) -> Result<Option<Vec<GpuPreview>>, String> {
        self.0.share_memory().map_err(|error| error.to_string())
    }
}

impl Flow {
    /// Radius of fluid particles in pictures \[m\].
    pub(crate) fn shown_radius(&self) -> f64 {
        0.5 * self.plan.spacing
    }

    pub(crate) fn preview(&self, origin: Vec3, shade: ColorScalar) -> Preview {
        let (mut preview, origin, radius) = (Preview::default(), vector(origin), self.shown_radius());
        for i in self.of_fluid() {
            let (from, v) = (self.place(i).minus(&origin), self.velocity(i));
            preview.id.push(self.fields.id[i]);
            preview.places.push([from.x, from.y, from.z, radius].map(|number| number as f32));
            preview.values.push(shade.of(radius, [v.x, v.y, v.z]) as f32);
        }
        preview
    }
}
