//! Particles in the memory of the GPU that draws them. The host holds a sample of a few thousand for the bounds of the scene. All particles are
//! downloaded only if one of them is requested.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::{
    PictureOptions, PreviewParts, Snapshot, ViewError,
    bounds::{self, Bounds},
    live::SnapshotJob,
    render::RenderDevice,
};

/// A GPU with its queue, shared by a computation and viewers.
#[derive(Clone, Debug)]
pub struct Graphics {
    /// Instance in which displays are looked for.
    pub instance: wgpu::Instance,
    /// Adapter of the device.
    pub adapter: wgpu::Adapter,
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    mark: DeviceMark,
}

/// Identifies a device: devices of two wgpu instances may have the same name.
#[derive(Clone, Debug, Default)]
pub struct DeviceMark(Arc<()>);

impl DeviceMark {
    fn is(&self, other: &DeviceMark) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Graphics {
    /// Wraps a device of this adapter.
    pub fn new(instance: wgpu::Instance, adapter: wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Graphics {
        Graphics {
            instance,
            adapter,
            device,
            queue,
            mark: DeviceMark::default(),
        }
    }

    /// Render device for drawing there.
    pub(crate) fn painter(&self) -> RenderDevice {
        RenderDevice {
            adapter: self.adapter.get_info().name,
            device: self.device.clone(),
            queue: self.queue.clone(),
            mark: self.mark.clone(),
        }
    }
}

/// Part of a buffer.
#[derive(Clone)]
pub struct Memory {
    /// The buffer.
    pub buffer: wgpu::Buffer,
    /// Byte range in the buffer.
    pub part: Range<u64>,
}

impl Memory {
    /// A whole buffer.
    pub(crate) fn whole(buffer: wgpu::Buffer) -> Memory {
        Memory {
            part: 0..buffer.size(),
            buffer,
        }
    }

    /// A part of this memory.
    pub(crate) fn some(&self, bytes: Range<u64>) -> Memory {
        Memory {
            buffer: self.buffer.clone(),
            part: self.part.start + bytes.start..self.part.start + bytes.end,
        }
    }

    pub(crate) fn binding(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.buffer,
            offset: self.part.start,
            size: wgpu::BufferSize::new(self.part.end - self.part.start),
        })
    }
}

/// Guard that keeps memory from being reused.
pub type MemoryHandle = Arc<dyn Any + Send + Sync>;

/// Spheres in GPU memory.
#[derive(Clone)]
pub struct Piece {
    /// Centers relative to the origin of the snapshot, and radii \[m\], as 32-bit floats. A radius of 0 hides a sphere.
    pub places: Memory,
    /// Values for the color, one 32-bit float per sphere.
    pub values: Memory,
    /// Whether the spheres are fluid particles.
    pub is_fluid: bool,
    /// Number of spheres.
    pub count: u32,
    /// Lowest and highest coordinates of the centers, and radii, of the visible spheres \[m\].
    pub corners: [[f32; 4]; 2],
    /// Number of visible spheres.
    pub seen: usize,
    /// Mean radius of the visible spheres \[m\].
    pub mean_radius: f64,
    /// Guard: nothing else uses the memory while it exists.
    pub held: MemoryHandle,
}

/// Contents of a snapshot that lies in GPU memory.
pub struct GpuParticles {
    on: DeviceMark,
    /// The spheres on the GPU.
    pub(crate) pieces: Vec<Piece>,
    /// Job that makes the same snapshot from downloaded particles.
    making: Mutex<Option<SnapshotJob>>,
    here: OnceLock<Result<Box<Snapshot>, String>>,
}

impl std::fmt::Debug for GpuParticles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GpuParticles")
            .field("pieces", &self.pieces.len())
            .finish_non_exhaustive()
    }
}

impl GpuParticles {
    /// Bounds of all visible spheres.
    pub(crate) fn bounds(&self) -> Bounds {
        let of_pieces = self.pieces.iter().map(|piece| piece.corners);
        of_pieces.fold(bounds::NOTHING, bounds::joined)
    }
}

impl Graphics {
    /// A snapshot of spheres in the memory of this GPU. `parts` holds a sample of the spheres, the walls and all other contents on the host. `making`
    /// makes the same snapshot from downloaded particles.
    pub fn snapshot(
        &self,
        (parts, pieces): (PreviewParts, Vec<Piece>),
        options: &PictureOptions,
        number: u64,
        making: SnapshotJob,
    ) -> Snapshot {
        let pieces: Vec<Piece> = pieces.into_iter().filter(|piece| piece.count > 0).collect();
        let count = |is_fluid: bool| {
            let of_kind = pieces.iter().filter(|piece| piece.is_fluid == is_fluid);
            of_kind.map(|piece| piece.seen).sum::<usize>()
        };
        let (grains, particles) = (count(false), count(true));
        Snapshot {
            grains,
            particles,
            shown: grains + particles,
            gpu_particles: Some(Arc::new(GpuParticles {
                on: self.mark.clone(),
                pieces,
                making: Mutex::new(Some(making)),
                here: OnceLock::new(),
            })),
            ..Snapshot::of_preview(parts, options, number)
        }
    }
}

impl Snapshot {
    /// The same snapshot with all spheres on the host.
    ///
    /// # Errors
    /// If they cannot be downloaded.
    pub fn here(&self) -> Result<&Snapshot, ViewError> {
        let Some(gpu_particles) = &self.gpu_particles else {
            return Ok(self);
        };
        let bring = || {
            let making = gpu_particles.making.lock().unwrap_or_else(PoisonError::into_inner).take();
            let made = making.map_or_else(|| Ok(Snapshot::default()), |making| making());
            made.map(Box::new).map_err(|error| error.to_string())
        };
        let here = gpu_particles.here.get_or_init(bring);
        here.as_deref().map_err(|cause| ViewError::Live { cause: cause.clone() })
    }

    /// The same snapshot for drawing on this device: on the GPU if it lies there, else on the host.
    ///
    /// # Errors
    /// As [`Snapshot::here`].
    pub(crate) fn on(&self, painter: &RenderDevice) -> Result<&Snapshot, ViewError> {
        match &self.gpu_particles {
            Some(gpu_particles) if gpu_particles.on.is(&painter.mark) => Ok(self),
            _ => self.here(),
        }
    }
}
