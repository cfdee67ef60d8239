//! What stands on a stage, in the memory of the device that draws it.

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec4};

use super::{Balls, Pane, Rod, Stage, device::Painter};
use crate::{color::Rgb, snapshot::MOST, surface::Surface};

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
    pub places: wgpu::Buffer,
    /// Places in the palette.
    pub shades: wgpu::Buffer,
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
    /// Lowest and highest coordinates of centers, from the origin, and radii \[m\].
    pub corners: [Vec4; 2],
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
    /// Translucent triangles.
    pub walls: Surface,
    /// Mean radius of what is drawn \[m\].
    pub mean_radius: f64,
    /// Mean radius of the spheres that become a surface \[m\].
    pub radius_of_water: f64,
}

impl Props {
    /// Brings a stage to a device, into the memory of one that is shown no more where that fits.
    pub fn new(painter: &Painter, stage: &Stage, last: Option<Props>) -> Props {
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
        let sides = stage.panes.iter().map(|pane| (pane.corners[1] - pane.corners[0]).length());
        let bodies = stage.rods.len() + stage.panes.len();
        let drawn = stage.balls.places.len() + stage.water.places.len();
        let [of_balls, of_water] = [&stage.balls, &stage.water].map(mean_radius);
        let radii = of_balls * stage.balls.places.len() as f64 + of_water * stage.water.places.len() as f64;
        let (balls, water) = last.map_or_else(Default::default, |last| (last.balls.batches, last.water.batches));
        Props {
            origin: stage.origin,
            balls: colored(painter, &stage.balls, balls),
            water: colored(painter, &stage.water, water),
            rods: batches(painter, &stage.rods.iter().map(rod).collect::<Vec<_>>()),
            panes: batches(painter, &stage.panes.iter().map(pane).collect::<Vec<_>>()),
            walls: Surface::new(stage.walls),
            mean_radius: (radii + of_rods.chain(sides).sum::<f64>()) / (drawn + bodies).max(1) as f64,
            radius_of_water: of_water,
        }
    }
}

/// Mean radius of spheres, of some of them where they are many.
fn mean_radius(balls: &Balls) -> f64 {
    let some = balls.places.iter().step_by(balls.places.len().div_ceil(MOST).max(1));
    let count = some.len().max(1);
    some.map(|ball| f64::from(ball[3])).sum::<f64>() / count as f64
}

fn batches<T: Pod>(painter: &Painter, instances: &[T]) -> Vec<Batch> {
    let batch = |instances: &[T]| Batch {
        count: instances.len() as u32,
        instances: painter.buffer(bytemuck::cast_slice(instances), wgpu::BufferUsages::VERTEX),
    };
    instances.chunks(BATCH / size_of::<T>()).map(batch).collect()
}

fn colored(painter: &Painter, balls: &Balls, last: Vec<Shaded>) -> Colored {
    // A multiple of the four shades in a word.
    const IN_A_BATCH: usize = BATCH / 16 / 4 * 4;
    let mut last = last.into_iter();
    let batch = |(places, shade): (&[[f32; 4]], &[u8])| {
        let count = places.len() as u32;
        let mut words = shade.to_vec();
        words.resize(shade.len().next_multiple_of(4), 0);
        let [of_places, shades, large, arguments, was_seen] = last.next().map_or([const { None }; 5], |last| {
            [last.places, last.shades, last.large, last.arguments, last.was_seen].map(Some)
        });
        let storage = wgpu::BufferUsages::STORAGE;
        let size = 4 * u64::from(count);
        let flags = |known: Option<wgpu::Buffer>| {
            known
                .filter(|known| known.size() >= size)
                .unwrap_or_else(|| painter.empty(size, storage))
        };
        Shaded {
            count,
            places: painter.filled(of_places, bytemuck::cast_slice(places), storage),
            shades: painter.filled(shades, &words, storage),
            large: flags(large),
            arguments: painter.filled(
                arguments,
                bytemuck::bytes_of(&[4, 0, 0, 0, count]),
                storage | wgpu::BufferUsages::INDIRECT,
            ),
            was_seen: flags(was_seen),
        }
    };
    let batches = balls
        .places
        .chunks(IN_A_BATCH)
        .zip(balls.shade.chunks(IN_A_BATCH))
        .map(batch)
        .collect();
    let mut palette: Vec<[u8; 4]> = balls.palette.iter().map(|&[red, green, blue]| [red, green, blue, 255]).collect();
    palette.resize(256, [0, 0, 0, 255]);
    let mut corners = [Vec4::INFINITY, Vec4::NEG_INFINITY];
    for &ball in balls.places {
        let ball = Vec4::from(ball);
        corners = [corners[0].min(ball), corners[1].max(ball)];
    }
    Colored {
        corners,
        batches,
        palette: painter.buffer(bytemuck::cast_slice(&palette), wgpu::BufferUsages::STORAGE),
    }
}
