//! Pictures of every step, as \[Silva 2010, table 6.3\] counts them beside the steps.

use super::super::super::Failure;
use super::super::failed;
use super::tables::Placement;
use seixo::Simulation;
use seixo::run::glimpse;
use seixo::view::{Drawer, Few, PictureOptions, ViewError};
use seixo_engine::Shade;
use std::time::Instant;

/// Width and height of the pictures; \[Silva 2010\] does not give its own.
pub const SIZE: (u32, u32) = (1024, 768);
/// Pictures a second in \[Silva 2010\], by particles, on its CPU and on its GPU.
const PUBLISHED: [(usize, [f64; 2]); 5] = [
    (2048, [28.8, 242.3]),
    (4096, [9.7, 96.8]),
    (8192, [3.0, 34.0]),
    (16_384, [1.4, 13.9]),
    (32_768, [0.5, 4.5]),
];

/// Pictures a second of so many particles in \[Silva 2010\].
pub fn published(particles: usize, placement: Placement) -> Option<f64> {
    let (_, of_places) = PUBLISHED.iter().find(|(count, _)| *count == particles)?;
    of_places.get(placement as usize).copied()
}

/// What draws them.
pub fn drawer() -> Result<Drawer, ViewError> {
    Drawer::new(SIZE, 1)
}

/// Steps a second, each of them drawn from where it is, sphere by sphere, before the next.
pub fn drawn_per_second(mut drawer: Drawer, simulation: &mut Simulation, steps: u64) -> Result<f64, Failure> {
    let wrong = |error: ViewError| Failure::Run(error.to_string());
    let mut draw = |simulation: &mut Simulation, steps: u64| {
        for number in 0..steps {
            simulation.advance(1).map_err(failed)?;
            let Some(coming) = simulation.glance([0.0; 3], Shade::Speed).map_err(failed)? else {
                continue;
            };
            let few = Few {
                field: ("speed", "m/s"),
                ..Few::default()
            };
            let snapshot = glimpse::snapshot(coming, None, few, &PictureOptions::default(), number).map_err(wrong)?;
            drawer.load(&snapshot).and_then(|()| drawer.draw(0.0)).map_err(wrong)?;
        }
        Ok::<(), Failure>(())
    };
    draw(simulation, 5)?;
    let clock = Instant::now();
    draw(simulation, steps)?;
    Ok(steps as f64 / clock.elapsed().as_secs_f64())
}
