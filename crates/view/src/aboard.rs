//! Particles that lie in the memory of the device that draws them: a few thousand are here, to see where all are, and the others come where somebody asks
//! for one of them.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::{
    Few, PictureOptions, Snapshot, ViewError,
    bounds::{self, Bounds},
    live::Making,
    render::Painter,
};

/// A device with its queue, on which somebody computes and others draw.
#[derive(Clone, Debug)]
pub struct Graphics {
    /// Where displays are looked for.
    pub instance: wgpu::Instance,
    /// Whose device it is.
    pub adapter: wgpu::Adapter,
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    mark: DeviceMark,
}

/// Tells devices apart: those of two instances of wgpu may be called the same.
#[derive(Clone, Debug, Default)]
pub struct DeviceMark(Arc<()>);

impl DeviceMark {
    fn is(&self, other: &DeviceMark) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Graphics {
    /// A device of this adapter.
    pub fn new(instance: wgpu::Instance, adapter: wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Graphics {
        Graphics {
            instance,
            adapter,
            device,
            queue,
            mark: DeviceMark::default(),
        }
    }

    /// What draws there.
    pub(crate) fn painter(&self) -> Painter {
        Painter {
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
    /// Bytes of it.
    pub part: Range<u64>,
}

impl Memory {
    /// All of a buffer.
    pub(crate) fn whole(buffer: wgpu::Buffer) -> Memory {
        Memory {
            part: 0..buffer.size(),
            buffer,
        }
    }

    /// Some of these bytes.
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

/// Whatever keeps memory from being given to others.
pub type Held = Arc<dyn Any + Send + Sync>;

/// Spheres in the memory of a device.
#[derive(Clone)]
pub struct Piece {
    /// Centers from the origin of the snapshot and radii \[m\], as 32-bit numbers; a radius of 0 where nothing is to be seen.
    pub places: Memory,
    /// By which they are colored: a 32-bit number each.
    pub values: Memory,
    /// Whether they are particles of fluids.
    pub is_fluid: bool,
    /// How many there are.
    pub count: u32,
    /// Lowest and highest coordinates of centers, and radii, of those that are to be seen \[m\].
    pub corners: [[f32; 4]; 2],
    /// How many are.
    pub seen: usize,
    /// Mean radius of these \[m\].
    pub mean_radius: f64,
    /// As long as this is there, that memory is theirs.
    pub held: Held,
}

/// What a snapshot shows that lies on a device.
pub struct Aboard {
    on: DeviceMark,
    /// The spheres.
    pub(crate) pieces: Vec<Piece>,
    /// Makes the same snapshot of what is brought here.
    making: Mutex<Option<Making>>,
    here: OnceLock<Result<Box<Snapshot>, String>>,
}

impl std::fmt::Debug for Aboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Aboard").field("pieces", &self.pieces.len()).finish_non_exhaustive()
    }
}

impl Aboard {
    /// Of all spheres that are to be seen.
    pub(crate) fn bounds(&self) -> Bounds {
        let of_pieces = self.pieces.iter().map(|piece| piece.corners);
        of_pieces.fold(bounds::NOTHING, bounds::joined)
    }
}

impl Graphics {
    /// What is to be seen of spheres that lie on this device, of some of them that `few` has here, and of walls and all else that it tells. `making` makes the
    /// same of what is brought here.
    pub fn snapshot(&self, (few, pieces): (Few, Vec<Piece>), options: &PictureOptions, number: u64, making: Making) -> Snapshot {
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
            aboard: Some(Arc::new(Aboard {
                on: self.mark.clone(),
                pieces,
                making: Mutex::new(Some(making)),
                here: OnceLock::new(),
            })),
            ..Snapshot::of_few(few, options, number)
        }
    }
}

impl Snapshot {
    /// The same, with all its spheres here.
    ///
    /// # Errors
    /// If they cannot be brought here.
    pub fn here(&self) -> Result<&Snapshot, ViewError> {
        let Some(aboard) = &self.aboard else { return Ok(self) };
        let bring = || {
            let making = aboard.making.lock().unwrap_or_else(PoisonError::into_inner).take();
            let made = making.map_or_else(|| Ok(Snapshot::default()), |making| making());
            made.map(Box::new).map_err(|error| error.to_string())
        };
        let here = aboard.here.get_or_init(bring);
        here.as_deref().map_err(|cause| ViewError::Live { cause: cause.clone() })
    }

    /// The same, for who draws there.
    ///
    /// # Errors
    /// As [`Snapshot::here`].
    pub(crate) fn on(&self, painter: &Painter) -> Result<&Snapshot, ViewError> {
        match &self.aboard {
            Some(aboard) if aboard.on.is(&painter.mark) => Ok(self),
            _ => self.here(),
        }
    }
}
