//! Particles that lie in the memory of the device that draws them: a few thousand are brought here, to see where all are, and the others where somebody asks
//! for one of them.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytemuck::{Pod, Zeroable};
use glam::Vec4;

use crate::{Few, PictureOptions, Snapshot, ViewError, live::Making, render::Painter, snapshot::MOST};

const SURVEY: &str = include_str!("render/survey.wgsl");
/// Invocations in a group.
const GROUP: u32 = 256;

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
    /// As long as this is there, that memory is theirs.
    pub held: Held,
}

/// Spheres of which it is known about where they are.
pub struct Surveyed {
    /// The spheres.
    pub piece: Piece,
    /// Lowest and highest coordinates of centers, and radii \[m\].
    pub corners: [Vec4; 2],
    /// How many are to be seen.
    pub seen: usize,
    /// Mean radius of these \[m\].
    pub mean_radius: f64,
}

/// What a snapshot shows that lies on a device.
pub struct Aboard {
    on: DeviceMark,
    /// The spheres.
    pub(crate) pieces: Vec<Surveyed>,
    /// Makes the same snapshot of what is brought here.
    making: Mutex<Option<Making>>,
    here: OnceLock<Result<Box<Snapshot>, String>>,
}

impl std::fmt::Debug for Aboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Aboard").field("pieces", &self.pieces.len()).finish_non_exhaustive()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Plan {
    /// How many spheres there are.
    count: u32,
    /// Every which of them is brought here.
    stride: u32,
    /// How many are.
    brought: u32,
    padding: u32,
}

/// Finds out where spheres are that lie on a device.
pub struct Surveyor {
    graphics: Graphics,
    painter: Painter,
    survey: wgpu::ComputePipeline,
}

impl Surveyor {
    /// One for this device.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(graphics: Graphics) -> Result<Surveyor, ViewError> {
        let painter = graphics.painter();
        let survey = painter.guarded(|| Ok(painter.computation(SURVEY, "survey", &[])))?;
        Ok(Surveyor { graphics, painter, survey })
    }

    /// The device.
    pub fn graphics(&self) -> &Graphics {
        &self.graphics
    }

    /// What is to be seen of such spheres, and of walls and all else that `few` tells. `making` makes the same of what is brought here.
    ///
    /// # Errors
    /// If the device fails.
    pub fn snapshot(
        &self,
        (few, pieces): (Few, Vec<Piece>),
        options: &PictureOptions,
        number: u64,
        making: Making,
    ) -> Result<Snapshot, ViewError> {
        let all: usize = pieces.iter().map(|piece| piece.count as usize).sum();
        let stride = all.div_ceil(MOST).max(1) as u32;
        let (mut places, mut values, mut surveyed) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces.into_iter().filter(|piece| piece.count > 0) {
            let (known, some) = self.look_at(piece, stride)?;
            for [place, value] in some.into_iter().filter(|[place, _]| place[3] > 0.0) {
                places.push(place);
                values.push(value[0]);
            }
            surveyed.push(known);
        }
        let count = |is_fluid: bool| {
            let of_kind = surveyed.iter().filter(|known| known.piece.is_fluid == is_fluid);
            of_kind.map(|known| known.seen).sum::<usize>()
        };
        let (grains, particles) = (count(false), count(true));
        let few = Few { places, values, ..few };
        Ok(Snapshot {
            grains,
            particles,
            shown: grains + particles,
            aboard: Some(Arc::new(Aboard {
                on: self.painter.mark.clone(),
                pieces: surveyed,
                making: Mutex::new(Some(making)),
                here: OnceLock::new(),
            })),
            ..Snapshot::of_few(few, options, number)
        })
    }
}

/// Numbers of a sphere that was brought here: its place with its radius, and what it is colored by.
type Brought = [[f32; 4]; 2];

impl Surveyor {
    /// Some of these spheres, and what is to be known of all.
    fn look_at(&self, piece: Piece, stride: u32) -> Result<(Surveyed, Vec<Brought>), ViewError> {
        let painter = &self.painter;
        let count = piece.count;
        let brought = count.div_ceil(stride);
        let groups = brought.div_ceil(GROUP);
        let size = 16 * u64::from(2 * brought + 3 * groups);
        let bytes = painter.guarded(|| {
            let plan = Plan {
                count,
                stride,
                brought,
                padding: 0,
            };
            let plan = painter.buffer(bytemuck::bytes_of(&plan), wgpu::BufferUsages::UNIFORM);
            let found = painter.empty(size, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
            let resources = [
                plan.as_entire_binding(),
                piece.places.binding(),
                piece.values.binding(),
                found.as_entire_binding(),
            ];
            let bindings = painter.bind_to(&self.survey.get_bind_group_layout(0), (0..).zip(resources));
            let mut encoder = painter.device.create_command_encoder(&Default::default());
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.survey);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(groups, 1, 1);
            drop(pass);
            painter.fetch(encoder, size, |encoder, to| encoder.copy_buffer_to_buffer(&found, 0, to, 0, size))
        })?;
        let records: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(&bytes);
        let (brought, of_groups) = records.split_at(2 * brought as usize);
        let of_groups: &[[[f32; 4]; 3]] = of_groups.as_chunks().0;
        let mut surveyed = Surveyed {
            piece,
            corners: [Vec4::INFINITY, Vec4::NEG_INFINITY],
            seen: 0,
            mean_radius: 0.0,
        };
        for &[low, high, [radii, seen, ..]] in of_groups {
            let [lowest, highest] = surveyed.corners;
            surveyed.corners = [lowest.min(low.into()), highest.max(high.into())];
            surveyed.mean_radius += f64::from(radii);
            surveyed.seen += seen as usize;
        }
        surveyed.mean_radius /= surveyed.seen.max(1) as f64;
        Ok((surveyed, brought.as_chunks().0.to_vec()))
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
