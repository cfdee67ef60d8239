//! A scene in the memory of the drawing device.

use std::cell::Cell;

use bytemuck::{Pod, Zeroable};
use glam::DVec3;

use super::{Pane, RenderScene, Rod, SphereBatch, device::RenderDevice};
use crate::{
    bounds::{self, Bounds},
    color::Rgb,
    gpu_particles::{Memory, MemoryHandle},
    scene_bounds::{MAX, some_of},
    surface::Surface,
};

/// Bytes in one buffer, within the limits of every device for allocations and bindings.
const BATCH: usize = 80 << 20;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct RodInstance {
    /// One end and the radius.
    start: [f32; 4],
    end: [f32; 3],
    color: [u8; 4],
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct PaneInstance {
    corners: [[f32; 3]; 3],
    normals: [[f32; 3]; 3],
    colors: [[u8; 4]; 3],
}

/// Instances in a buffer.
pub struct Batch {
    /// Number of instances.
    pub count: u32,
    /// Their vertex data.
    pub instances: wgpu::Buffer,
}

/// Spheres in buffers.
pub struct Shaded {
    /// Number of spheres.
    pub count: u32,
    /// Centers and radii.
    pub places: Memory,
    /// Guard: nothing else writes the positions while it exists. `None` if this value owns them.
    shared: Option<MemoryHandle>,
    /// Palette indices.
    pub shades: wgpu::Buffer,
    /// Inputs from which the first picture computes the palette indices, if they are missing.
    pub unshaded: Cell<Option<wgpu::BindGroup>>,
    /// Indices of the spheres that are drawn as squares.
    pub large: wgpu::Buffer,
    /// Arguments of the indirect draw of these, and the number of spheres.
    pub arguments: wgpu::Buffer,
    /// Flags of the spheres that the last picture showed.
    pub was_seen: wgpu::Buffer,
}

/// Spheres of one palette.
pub struct Colored {
    /// Spheres in batches.
    pub batches: Vec<Shaded>,
    /// 256 colors.
    pub palette: wgpu::Buffer,
    /// Bounds of all spheres at finite positions relative to the origin, or larger bounds.
    pub bounds: Bounds,
}

/// Translucent triangles.
#[derive(Default)]
pub struct Walls {
    triangles: Vec<[DVec3; 3]>,
    /// The triangles as a surface.
    pub surface: Surface,
}

impl Walls {
    /// Walls of these triangles. The known surface is reused if they did not move, and its topology if they did: both take long to compute.
    fn of(triangles: &[[DVec3; 3]], known: Walls) -> Walls {
        if known.triangles.as_slice() == triangles {
            return known;
        }
        Walls {
            triangles: triangles.to_vec(),
            surface: known.surface.moved(triangles),
        }
    }
}

/// Buffers of a scene on a device.
pub struct SceneBuffers {
    /// Origin of positions \[m\].
    pub origin: DVec3,
    /// Spheres.
    pub balls: Colored,
    /// Spheres that form a surface.
    pub water: Colored,
    /// Rods.
    pub rods: Vec<Batch>,
    /// Triangles.
    pub panes: Vec<Batch>,
    /// Walls.
    pub walls: Walls,
    /// Mean radius of the drawn objects \[m\].
    pub mean_radius: f64,
    /// Mean radius of the spheres that form a surface \[m\].
    pub radius_of_water: f64,
}

impl SceneBuffers {
    /// Uploads a scene; reuses the buffers of `last` where they fit.
    ///
    /// Uploads go with the next submission, and colors are computed with the first picture, because each submission interrupts computations on the
    /// device.
    pub fn new(painter: &RenderDevice, shade: &wgpu::ComputePipeline, stage: &RenderScene, last: Option<SceneBuffers>) -> SceneBuffers {
        let place = |point: DVec3| (point - stage.origin).as_vec3().to_array();
        let opaque = |[red, green, blue]: Rgb| [red, green, blue, 255];
        let rod = |rod: &Rod| {
            let [start, end] = rod.ends.map(place);
            RodInstance {
                start: [start[0], start[1], start[2], rod.radius as f32],
                end,
                color: opaque(rod.color),
            }
        };
        let pane = |pane: &Pane| PaneInstance {
            corners: pane.corners.map(place),
            normals: pane.normals.map(|normal| normal.as_vec3().to_array()),
            colors: pane.colors.map(opaque),
        };
        // A rod is about as long as the two radii between its ends.
        let of_rods = stage.rods.iter().map(|rod| 0.5 * (rod.ends[1] - rod.ends[0]).length());
        let [(drawn, of_balls), (drops, of_water)] = [&stage.balls, &stage.water].map(mean_radius);
        let radii = of_balls * drawn as f64 + of_water * drops as f64;
        // The spheres of a body determine its scale, unless there is nothing else.
        let is_bare = drawn + drops + stage.rods.len() + stage.panes.len() == 0;
        let panes = if is_bare { stage.bodies } else { stage.panes };
        let sides = panes.iter().map(|pane| (pane.corners[1] - pane.corners[0]).length());
        let others = stage.rods.len() + panes.len();
        let (balls, water, walls) = last.map_or_else(Default::default, |last| (last.balls.batches, last.water.batches, last.walls));
        let lengths = of_rods.chain(sides).filter(|length| length.is_finite());
        SceneBuffers {
            origin: stage.origin,
            balls: colored((painter, shade), &stage.balls, balls),
            water: colored((painter, shade), &stage.water, water),
            rods: batches(painter, &stage.rods.iter().map(rod).collect::<Vec<_>>()),
            panes: batches(painter, &stage.panes.iter().chain(stage.bodies).map(pane).collect::<Vec<_>>()),
            walls: Walls::of(stage.walls, walls),
            mean_radius: (radii + lengths.sum::<f64>()) / (drawn + drops + others).max(1) as f64,
            radius_of_water: of_water,
        }
    }
}

/// Number of spheres, drawn or not, and their mean radius. For many spheres on the host, the mean is over a sample.
fn mean_radius(balls: &SphereBatch) -> (usize, f64) {
    let some = some_of(balls.places.iter(), MAX);
    let radii = some.map(|ball| f64::from(ball[3].abs())).filter(|radius| radius.is_finite());
    let (count, sum) = radii.fold((0_u32, 0.0), |(count, sum), radius| (count + 1, sum + radius));
    let mean = sum / f64::from(count.max(1));
    let on_gpu = balls.on_gpu.iter().map(|piece| (piece.seen, piece.mean_radius));
    let add = |(count, sum), (more, mean)| (count + more, sum + mean * more as f64);
    let (count, sum) = on_gpu.fold((balls.places.len(), mean * balls.places.len() as f64), add);
    (count, sum / count.max(1) as f64)
}

impl Colored {
    /// Computes colors that are missing.
    pub fn shade(&self, encoder: &mut wgpu::CommandEncoder, shade: &wgpu::ComputePipeline) {
        for Shaded { count, unshaded, .. } in &self.batches {
            let Some(bindings) = unshaded.take() else { continue };
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(shade);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(count.div_ceil(4 * 256), 1, 1);
        }
    }
}

fn batches<T: Pod>(painter: &RenderDevice, instances: &[T]) -> Vec<Batch> {
    let batch = |instances: &[T]| Batch {
        count: instances.len() as u32,
        instances: painter.buffer(bytemuck::cast_slice(instances), wgpu::BufferUsages::VERTEX),
    };
    instances.chunks(BATCH / size_of::<T>()).map(batch).collect()
}

/// Uploads spheres, and prepares the colors of those already on the device.
fn colored((painter, shade): (&RenderDevice, &wgpu::ComputePipeline), balls: &SphereBatch, last: Vec<Shaded>) -> Colored {
    // A multiple of the four palette indices in a word, and of the alignment of buffer offsets.
    const IN_A_BATCH: usize = BATCH / 16 / 4 * 4;
    let storage = wgpu::BufferUsages::STORAGE;
    let mut last = last.into_iter();
    let mut batches = Vec::new();
    for (places, shade) in balls.places.chunks(IN_A_BATCH).zip(balls.shade.chunks(IN_A_BATCH)) {
        let (of_places, of_shades, rest) = Rest::of(last.next());
        let places_here = painter.filled(of_places, bytemuck::cast_slice(places), storage);
        let shades = painter.filled(of_shades, shade, storage);
        batches.push(rest.with(painter, places.len() as u32, (Memory::whole(places_here), None), (shades, None)));
    }
    let [low, high] = balls.ends.map(|end| end as f32);
    let ends = painter.buffer(bytemuck::cast_slice(&[low, high, 0.0, 0.0]), wgpu::BufferUsages::UNIFORM);
    for piece in balls.on_gpu {
        for start in (0..piece.count).step_by(IN_A_BATCH) {
            let end = (start + IN_A_BATCH as u32).min(piece.count);
            let part = |of: &Memory, size: u64| of.some(size * u64::from(start)..size * u64::from(end));
            let (_, of_shades, rest) = Rest::of(last.next());
            let size = u64::from(end - start).next_multiple_of(4);
            let shades = of_shades
                .filter(|known| known.size() >= size)
                .unwrap_or_else(|| painter.empty(size, storage));
            let values = part(&piece.values, 4);
            let resources = [ends.as_entire_binding(), values.binding(), shades.as_entire_binding()];
            let bindings = painter.bind_to(&shade.get_bind_group_layout(0), (0..).zip(resources));
            let shared = (part(&piece.places, 16), Some(piece.held.clone()));
            batches.push(rest.with(painter, end - start, shared, (shades, Some(bindings))));
        }
    }
    let mut palette: Vec<[u8; 4]> = balls.palette.iter().map(|&[red, green, blue]| [red, green, blue, 255]).collect();
    palette.resize(256, [0, 0, 0, 255]);
    let here = balls.bounds.unwrap_or_else(|| bounds::of(balls.places, bounds::is_somewhere));
    let on_gpu = balls.on_gpu.iter().map(|piece| piece.corners);
    Colored {
        bounds: on_gpu.fold(here, bounds::joined),
        batches,
        palette: painter.buffer(bytemuck::cast_slice(&palette), storage),
    }
}

/// Buffers of a batch besides positions and colors, for reuse.
#[derive(Default)]
struct Rest {
    large: Option<wgpu::Buffer>,
    arguments: Option<wgpu::Buffer>,
    was_seen: Option<wgpu::Buffer>,
}

impl Rest {
    /// Positions, unless they are shared, colors, and the other buffers of a batch that is no longer shown.
    fn of(last: Option<Shaded>) -> (Option<wgpu::Buffer>, Option<wgpu::Buffer>, Rest) {
        let Some(last) = last else { return Default::default() };
        let rest = Rest {
            large: Some(last.large),
            arguments: Some(last.arguments),
            was_seen: Some(last.was_seen),
        };
        (last.shared.is_none().then_some(last.places.buffer), Some(last.shades), rest)
    }

    fn with(
        self,
        painter: &RenderDevice,
        count: u32,
        (places, shared): (Memory, Option<MemoryHandle>),
        (shades, unshaded): (wgpu::Buffer, Option<wgpu::BindGroup>),
    ) -> Shaded {
        let storage = wgpu::BufferUsages::STORAGE;
        let flags = |known: Option<wgpu::Buffer>| {
            let size = 4 * u64::from(count);
            let fits = |known: &wgpu::Buffer| known.size() >= size;
            known.filter(fits).unwrap_or_else(|| painter.empty(size, storage))
        };
        let arguments = [4, 0, 0, 0, count];
        Shaded {
            count,
            places,
            shared,
            shades,
            unshaded: Cell::new(unshaded),
            large: flags(self.large),
            arguments: painter.filled(
                self.arguments,
                bytemuck::bytes_of(&arguments),
                storage | wgpu::BufferUsages::INDIRECT,
            ),
            was_seen: flags(self.was_seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surface_of_walls_that_stand_still_is_kept() {
        let mut triangles = [[DVec3::ZERO, DVec3::X, DVec3::Y], [DVec3::X, DVec3::Y, DVec3::Z]];
        let first = Walls::of(&triangles, Walls::default());
        let place = first.surface.triangles.as_ptr();
        let same = Walls::of(&triangles, first);
        assert_eq!(same.surface.triangles.as_ptr(), place);
        triangles[1][2].z += 1e-9;
        let moved = Walls::of(&triangles, same);
        assert_eq!(moved.surface.triangles[1][2].0, triangles[1][2]);
    }
}
