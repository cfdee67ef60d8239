//! Pictures of every step; \[Silva 2010, tables 6.3 to 6.8\] give their rate beside the steps per second.

use super::super::super::Failure;
use super::super::failed;
use crate::run::preview;
use seixo_engine::ColorScalar;
use seixo_engine::Simulation;
use seixo_view::{OffscreenRenderer, PictureOptions, PreviewParts, ViewError};
use std::time::Instant;

/// Width and height of the pictures \[pixels\]; \[Silva 2010\] does not give its own.
pub const SIZE: (u32, u32) = (1024, 768);
/// Creates the renderer of the pictures.
pub fn drawer() -> Result<OffscreenRenderer, ViewError> {
    OffscreenRenderer::new(SIZE, 1)
}

/// Measures the steps per second if each step is drawn, sphere by sphere, before the next one.
pub fn drawn_per_second(mut drawer: OffscreenRenderer, simulation: &mut Simulation, steps: u64) -> Result<f64, Failure> {
    let wrong = |error: ViewError| Failure::Run(error.to_string());
    let mut draw = |simulation: &mut Simulation, steps: u64| {
        for number in 0..steps {
            simulation.advance(1).map_err(failed)?;
            let Some(coming) = simulation.preview([0.0; 3], ColorScalar::Speed).map_err(failed)? else {
                continue;
            };
            let parts = PreviewParts {
                field: ("speed", "m/s"),
                ..PreviewParts::default()
            };
            let snapshot = preview::snapshot(coming, None, parts, &PictureOptions::default(), number).map_err(wrong)?;
            drawer.load(&snapshot).and_then(|()| drawer.draw(0.0)).map_err(wrong)?;
        }
        Ok::<(), Failure>(())
    };
    draw(simulation, 5)?;
    let clock = Instant::now();
    draw(simulation, steps)?;
    Ok(steps as f64 / clock.elapsed().as_secs_f64())
}
