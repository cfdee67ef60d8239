//! From a glance at a simulation to what is to be seen of it.

use seixo_device::gpu::Gpu;
use seixo_engine::world::Settings;
use seixo_engine::{Aboard, Glancing, gpu_of};
use seixo_view::{Few, Graphics, Live, Memory, PictureOptions, Piece, Snapshot, Surveyor, ViewError};
use std::sync::Arc;

/// Lets snapshots of a run with these settings lie where it runs, for a window that draws there, where that can be.
///
/// # Errors
/// If the GPU fails.
pub fn draw_where_it_runs(live: &Live, settings: &Settings) -> Result<(), ViewError> {
    // Where there is no such GPU, the run says so.
    let gpu = gpu_of(settings).ok().flatten();
    gpu.as_ref().and_then(Gpu::graphics).map_or(Ok(()), |setup| {
        let setup = setup.clone();
        live.draw_on(Graphics::new(setup.instance, setup.adapter, setup.device, setup.queue))
    })
}

/// What is to be seen of a glance, which stays where it lies if somebody draws there; `few` tells all but the particles.
///
/// # Errors
/// If the GPU fails.
pub fn snapshot(
    coming: Glancing,
    surveyor: Option<&Surveyor>,
    few: Few,
    options: &PictureOptions,
    number: u64,
) -> Result<Snapshot, ViewError> {
    let live = |cause: String| ViewError::Live { cause };
    let lent = match surveyor {
        Some(surveyor) => coming.lend().map_err(live)?.map(|lent| (surveyor, lent)),
        None => None,
    };
    let Some((surveyor, lent)) = lent else {
        return here(coming, few, options, number);
    };
    let pieces = lent.into_iter().map(piece).collect();
    let (known, wish) = (few.clone(), options.clone());
    surveyor.snapshot((few, pieces), options, number, Box::new(move || here(coming, known, &wish, number)))
}

fn piece(aboard: Aboard) -> Piece {
    let Aboard { places, values, .. } = &aboard;
    let [places, values] = [places, values].map(|lent| Memory {
        buffer: lent.buffer.clone(),
        part: lent.part.clone(),
    });
    Piece {
        places,
        values,
        count: aboard.count as u32,
        is_fluid: aboard.is_fluid,
        held: Arc::new(aboard),
    }
}

/// The same, once it is here.
fn here(coming: Glancing, few: Few, options: &PictureOptions, number: u64) -> Result<Snapshot, ViewError> {
    let glance = coming.wait().map_err(|cause| ViewError::Live { cause })?;
    let few = Few {
        id: glance.id,
        places: glance.places,
        values: glance.values,
        grains: glance.grains,
        ..few
    };
    Ok(Snapshot::of_few(few, options, number))
}
