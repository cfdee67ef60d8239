//! What stands on a stage, in the memory of the device that draws it.

use std::cell::Cell;

use bytemuck::{Pod, Zeroable};
use glam::DVec3;

use super::{Balls, Pane, Rod, Stage, device::Painter};
use crate::{
    aboard::{Held, Memory},
    bounds::{self, Bounds},
    color::Rgb,
    scenery::{MOST, some_of},
    surface::Surface,
};

/// Bytes in one buffer, within what every device allocates and binds.
const BATCH: usize = 80 << 20;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct RodInstance {
    /// One end, and the radius.
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
    /// How many.
    pub count: u32,
    /// Their records.
    pub instances: wgpu::Buffer,
}

/// Spheres in buffers.
pub struct Shaded {
    /// How many.
    pub count: u32,
    /// Centers and radii.
    pub places: Memory,
    /// As long as this is there, these are what they are; `None` where nobody else has them.
    lent: Option<Held>,
    /// Places in the palette.
    pub shades: wgpu::Buffer,
    /// From what the first picture finds these, where they are not there yet.
    pub unshaded: Cell<Option<wgpu::BindGroup>>,
    /// Which of them are drawn as squares.
    pub large: wgpu::Buffer,
    /// Arguments of an indirect draw of these, and how many spheres there are.
    pub arguments: wgpu::Buffer,
    /// Which of them the last picture showed.
    pub was_seen: wgpu::Buffer,
}

/// Spheres of one palette.
pub struct Colored {
    /// In batches.
    pub batches: Vec<Shaded>,
    /// 256 colors.
    pub palette: wgpu::Buffer,
    /// Of all that are somewhere, or of more than these, from the origin.
    pub bounds: Bounds,
}

/// Translucent triangles.
#[derive(Default)]
pub struct Walls {
    triangles: Vec<[DVec3; 3]>,
    /// As a surface.
    pub surface: Surface,
}

impl Walls {
    /// These triangles, whose surface is kept where they stand still, and what meets in it where they move: both take long to find.
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

/// What stands on a stage, on a device.
pub struct Props {
    /// From where places are counted \[m\].
    pub origin: DVec3,
    /// Spheres.
    pub balls: Colored,
    /// Spheres that become a surface.
    pub water: Colored,
    /// Rods.
    pub rods: Vec<Batch>,
    /// Triangles.
    pub panes: Vec<Batch>,
    /// Walls.
    pub walls: Walls,
    /// Mean radius of what is drawn \[m\].
    pub mean_radius: f64,
    /// Mean radius of the spheres that become a surface \[m\].
    pub radius_of_water: f64,
}

impl Props {
    /// Brings a stage to a device, into the memory of one that is shown no more where that fits.
    ///
    /// What comes from here goes with what is submitted next, and colors are found with the first picture: each submission interrupts who else computes on the
    /// device.
    pub fn new(painter: &Painter, shade: &wgpu::ComputePipeline, stage: &Stage, last: Option<Props>) -> Props {
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
        // A rod is about as long as the two radii that it stands for.
        let of_rods = stage.rods.iter().map(|rod| 0.5 * (rod.ends[1] - rod.ends[0]).length());
        let [(drawn, of_balls), (drops, of_water)] = [&stage.balls, &stage.water].map(mean_radius);
        let radii = of_balls * drawn as f64 + of_water * drops as f64;
        // Of bodies their spheres tell how fine they are, unless there is nothing else.
        let is_bare = drawn + drops + stage.rods.len() + stage.panes.len() == 0;
        let panes = if is_bare { stage.bodies } else { stage.panes };
        let sides = panes.iter().map(|pane| (pane.corners[1] - pane.corners[0]).length());
        let others = stage.rods.len() + panes.len();
        let (balls, water, walls) = last.map_or_else(Default::default, |last| (last.balls.batches, last.water.batches, last.walls));
        let lengths = of_rods.chain(sides).filter(|length| length.is_finite());
        Props {
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

/// How many spheres there are, drawn or not, and their mean radius: of those that are here, of some of them where they are many.
fn mean_radius(balls: &Balls) -> (usize, f64) {
    let some = some_of(balls.places.iter(), MOST);
    let radii = some.map(|ball| f64::from(ball[3].abs())).filter(|radius| radius.is_finite());
    let (count, sum) = radii.fold((0_u32, 0.0), |(count, sum), radius| (count + 1, sum + radius));
    let mean = sum / f64::from(count.max(1));
    let aboard = balls.aboard.iter().map(|piece| (piece.seen, piece.mean_radius));
    let add = |(count, sum), (more, mean)| (count + more, sum + mean * more as f64);
    let (count, sum) = aboard.fold((balls.places.len(), mean * balls.places.len() as f64), add);
    (count, sum / count.max(1) as f64)
}

impl Colored {
    /// Finds colors that are not there yet.
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

fn batches<T: Pod>(painter: &Painter, instances: &[T]) -> Vec<Batch> {
    let batch = |instances: &[T]| Batch {
        count: instances.len() as u32,
        instances: painter.buffer(bytemuck::cast_slice(instances), wgpu::BufferUsages::VERTEX),
    };
    instances.chunks(BATCH / size_of::<T>()).map(batch).collect()
}

/// Brings spheres to the device, and finds the colors of those that are there.
fn colored((painter, shade): (&Painter, &wgpu::ComputePipeline), balls: &Balls, last: Vec<Shaded>) -> Colored {
    // A multiple of the four shades in a word, and of what offsets of buffers are multiples of.
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
    for piece in balls.aboard {
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
            let lent = (part(&piece.places, 16), Some(piece.held.clone()));
            batches.push(rest.with(painter, end - start, lent, (shades, Some(bindings))));
        }
    }
    let mut palette: Vec<[u8; 4]> = balls.palette.iter().map(|&[red, green, blue]| [red, green, blue, 255]).collect();
    palette.resize(256, [0, 0, 0, 255]);
    let here = balls.bounds.unwrap_or_else(|| bounds::of(balls.places, bounds::is_somewhere));
    let aboard = balls.aboard.iter().map(|piece| piece.corners);
    Colored {
        bounds: aboard.fold(here, bounds::joined),
        batches,
        palette: painter.buffer(bytemuck::cast_slice(&palette), storage),
    }
}

/// What a batch has on a device besides places and colors, for a new one to take over.
#[derive(Default)]
struct Rest {
    large: Option<wgpu::Buffer>,
    arguments: Option<wgpu::Buffer>,
    was_seen: Option<wgpu::Buffer>,
}

impl Rest {
    /// Places, unless they belong to others, colors, and the rest of a batch that is shown no more.
    fn of(last: Option<Shaded>) -> (Option<wgpu::Buffer>, Option<wgpu::Buffer>, Rest) {
        let Some(last) = last else { return Default::default() };
        let rest = Rest {
            large: Some(last.large),
            arguments: Some(last.arguments),
            was_seen: Some(last.was_seen),
        };
        (last.lent.is_none().then_some(last.places.buffer), Some(last.shades), rest)
    }

    fn with(
        self,
        painter: &Painter,
        count: u32,
        (places, lent): (Memory, Option<Held>),
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
            lent,
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
