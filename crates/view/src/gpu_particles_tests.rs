use std::sync::Arc;

use crate::{
    Graphics, Memory, PictureOptions, Piece, PreviewParts, Shown, Snapshot,
    canvas::Canvas,
    render::{RenderDevice, Renderer},
};

/// Positions and radii of grains, and their values for the color.
type Spheres = (Vec<[f32; 4]>, Vec<f32>);

/// A device as a simulation provides it.
fn graphics() -> Graphics {
    let instance = wgpu::Instance::new(RenderDevice::adapters());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default())).unwrap();
    Graphics::new(instance, adapter, device, queue)
}

/// Spheres in the middle of a buffer.
fn lying(graphics: &Graphics, (places, values): &Spheres, is_fluid: bool) -> Piece {
    let put = |bytes: &[u8]| {
        let start = 256;
        let buffer = graphics.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: start + 1024 + bytes.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        // The bytes around the spheres must not be drawn.
        graphics.queue.write_buffer(&buffer, 0, &vec![0x41; buffer.size() as usize]);
        graphics.queue.write_buffer(&buffer, start, bytes);
        Memory {
            buffer,
            part: start..start + bytes.len() as u64,
        }
    };
    let seen = || places.iter().filter(|place| place[3] > 0.0);
    let ends = |axis: usize| seen().map(move |place| place[axis]);
    Piece {
        places: put(bytemuck::cast_slice(places)),
        values: put(bytemuck::cast_slice(values)),
        count: values.len() as u32,
        is_fluid,
        corners: [
            std::array::from_fn(|axis| ends(axis).fold(f32::INFINITY, f32::min)),
            std::array::from_fn(|axis| ends(axis).fold(f32::NEG_INFINITY, f32::max)),
        ],
        seen: seen().count(),
        mean_radius: ends(3).map(f64::from).sum::<f64>() / seen().count() as f64,
        held: Arc::new(()),
    }
}

/// This many spheres at irregular places in a box, from this height on.
fn heap(count: usize, height: f32) -> Spheres {
    let spread = |k: usize, step: f64| (k as f64 * step).fract() as f32;
    let place = |k: usize| {
        let [x, y, z] = [0.618_034, 0.754_878, 0.569_840].map(|step| spread(k + 1, step));
        [x, y, height + 0.5 * z, 0.01 + 0.01 * spread(k, 0.324_718)]
    };
    ((0..count).map(place).collect(), (0..count).map(|k| spread(k, 0.4142)).collect())
}

/// Picture of grains and fluids, plain or smooth.
fn pictures(studio: &Renderer, snapshot: &Snapshot, is_smooth: bool) -> Canvas {
    let options = PictureOptions {
        size: (320, 200),
        ..options(is_smooth)
    };
    snapshot.draw(studio, &options).unwrap()
}

fn options(is_smooth: bool) -> PictureOptions {
    PictureOptions {
        shown: if is_smooth { Shown::Smooth } else { Shown::Grains },
        ..PictureOptions::default()
    }
}

/// Share of pixels that differ by more than one step of the palette.
fn difference(one: &Canvas, other: &Canvas) -> f64 {
    assert_eq!((one.width, one.height), (other.width, other.height));
    let differ = one.rgb.iter().zip(&other.rgb).filter(|(a, b)| a.abs_diff(**b) > 4).count();
    differ as f64 / one.rgb.len() as f64
}

#[test]
fn what_lies_on_a_device_is_drawn_as_if_it_were_here() {
    let graphics = graphics();
    let (grains, water) = (heap(4001, 0.0), heap(3003, 0.3));
    // Invisible wall particles among those of a fluid.
    let mut among = water.clone();
    for at in (0..3000).step_by(7) {
        among.0.insert(at, [0.1, 0.2, 7.0, 0.0]);
        among.1.insert(at, 1e6);
    }
    let parts = PreviewParts {
        field: ("speed", "m/s"),
        ..PreviewParts::default()
    };
    let whole = PreviewParts {
        id: (0..7004).collect(),
        places: [grains.0.clone(), water.0.clone()].concat(),
        values: [grains.1.clone(), water.1.clone()].concat(),
        grains: 4001,
        ..parts.clone()
    };
    let studios = [Renderer::new(graphics.painter(), None).unwrap(), Renderer::offscreen().unwrap()];
    for is_smooth in [false, true] {
        let here = Snapshot::of_preview(whole.clone(), &options(is_smooth), 5);
        let pieces = vec![lying(&graphics, &grains, false), lying(&graphics, &among, true)];
        let (request, all) = (options(is_smooth), whole.clone());
        let making = Box::new(move || Ok(Snapshot::of_preview(all, &request, 5)));
        let known = PreviewParts {
            places: whole.places.clone(),
            values: whole.values.clone(),
            ..parts.clone()
        };
        let there = graphics.snapshot((known, pieces), &options(is_smooth), 5, making);
        assert_eq!((there.number, there.grains, there.particles, there.shown), (5, 4001, 3003, 7004));
        assert_eq!((there.seen(), &there.coloring.legend), (here.seen(), &here.coloring.legend));
        assert!(there.id.is_empty(), "they stay where they are");
        // On the same device, and on another one, which needs a download first.
        for studio in &studios {
            let [seen, expected] = [&there, &here].map(|snapshot| pictures(studio, snapshot, is_smooth));
            let differs = difference(&seen, &expected);
            assert!(differs < 1e-3, "smooth: {is_smooth}; {differs} of the picture is another");
            let is_empty = difference(&seen, &pictures(studio, &Snapshot::default(), is_smooth)) < 0.1;
            assert!(!is_empty, "nothing to be seen");
        }
        assert_eq!(there.here().unwrap().id, here.id);
    }
}
