//! From a glance at a simulation to what is to be seen of it.

use seixo_device::gpu::{Gpu, Lent};
use seixo_engine::world::Settings;
use seixo_engine::{Aboard, Glancing, gpu_of};
use seixo_view::{Few, Graphics, Live, Memory, PictureOptions, Piece, Snapshot, ViewError};
use std::sync::Arc;

/// Lets snapshots of a run with these settings lie where it runs, for a window that draws there, where that can be.
pub fn draw_where_it_runs(live: &Live, settings: &Settings) {
    // Where there is no such GPU, the run says so.
    let gpu = gpu_of(settings).ok().flatten();
    if let Some(setup) = gpu.as_ref().and_then(Gpu::graphics).cloned() {
        live.draw_on(Graphics::new(setup.instance, setup.adapter, setup.device, setup.queue));
    }
}

/// What is to be seen of a glance, which stays where it lies if somebody draws there; `few` tells all but the particles.
///
/// # Errors
/// If the GPU fails.
pub fn snapshot(
    mut coming: Glancing,
    graphics: Option<&Graphics>,
    few: Few,
    options: &PictureOptions,
    number: u64,
) -> Result<Snapshot, ViewError> {
    let live = |cause: String| ViewError::Live { cause };
    let lent = match graphics {
        Some(graphics) => coming.lend().map_err(live)?.map(|lent| (graphics, lent)),
        None => None,
    };
    let Some((graphics, lent)) = lent else {
        return here(coming, few, options, number);
    };
    let mut some = few.clone();
    for (place, value) in lent.iter().flat_map(|aboard| &aboard.survey.some) {
        // Neither what is nowhere nor what is not to be seen.
        if place[3] > 0.0 && place.iter().all(|number| number.is_finite()) {
            some.places.push(*place);
            some.values.push(*value);
        }
    }
    let pieces = lent.into_iter().map(piece).collect();
    let wish = options.clone();
    Ok(graphics.snapshot((some, pieces), options, number, Box::new(move || here(coming, few, &wish, number))))
}

fn piece(aboard: Aboard) -> Piece {
    let memory = |lent: &Lent| Memory {
        buffer: lent.buffer.clone(),
        part: lent.part.clone(),
    };
    Piece {
        places: memory(&aboard.places),
        values: memory(&aboard.values),
        count: aboard.count as u32,
        is_fluid: aboard.is_fluid,
        corners: aboard.survey.corners,
        seen: aboard.survey.seen,
        mean_radius: aboard.survey.mean_radius,
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
