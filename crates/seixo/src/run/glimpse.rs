//! From a glance at a simulation to what is to be seen of it.

use super::frames::{Corners, within_planes};
use seixo_device::gpu::Gpu;
use seixo_engine::state::WallSnapshot;
use seixo_engine::world::Settings;
use seixo_engine::{Aboard, Glancing, Shade, Simulation, Stop, gpu_of};
use seixo_files::vtk::VtkWalls;
use seixo_view::{Few, Graphics, Live, Memory, PictureOptions, Piece, Shown, Snapshot, Surveyor, ViewError};
use std::sync::Arc;

/// What a glance tells of particles: names, units, and words of the engine.
const GLANCED: [(&str, &str, Shade); 5] = [
    ("speed", "m/s", Shade::Speed),
    ("velocity_x", "m/s", Shade::Velocity(0)),
    ("velocity_y", "m/s", Shade::Velocity(1)),
    ("velocity_z", "m/s", Shade::Velocity(2)),
    ("radius", "m", Shade::Radius),
];

/// A glance, and what was around the particles at that time.
pub(super) struct Glimpse {
    coming: Glancing,
    few: Few,
    walls: Vec<WallSnapshot>,
    /// The box in which planes are drawn \[m\].
    bounds: Corners,
}

impl Glimpse {
    /// Takes a glance at a simulation within these bounds; nothing where that is not enough for what is to be shown.
    ///
    /// # Errors
    /// If the simulation stopped.
    pub fn of(simulation: &mut Simulation, bounds: Corners, options: &PictureOptions) -> Result<Option<Glimpse>, Stop> {
        let field = options.field.as_deref().unwrap_or("speed");
        let known = GLANCED.iter().find(|(name, ..)| *name == field);
        // Without a field, fluids that become a surface have colors of their own.
        let is_enough = options.shown == Shown::Grains || (options.shown == Shown::Smooth && options.field.is_some());
        let Some(&(name, unit, shade)) = known.filter(|_| is_enough) else {
            return Ok(None);
        };
        let [low, high] = bounds;
        let origin = [0, 1, 2].map(|axis| 0.5 * (low[axis] + high[axis]));
        let Some(coming) = simulation.glance(origin, shade)? else {
            return Ok(None);
        };
        let few = Few {
            time: simulation.time(),
            origin,
            field: (name, unit),
            ..Few::default()
        };
        Ok(Some(Glimpse {
            coming,
            few,
            walls: simulation.walls_now(),
            bounds,
        }))
    }

    /// What is to be seen of it, where `fields` are all that particles can be colored by.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn snapshot(
        self,
        surveyor: Option<&Surveyor>,
        fields: Vec<String>,
        options: &PictureOptions,
        number: u64,
    ) -> Result<Snapshot, ViewError> {
        let Glimpse {
            coming,
            few,
            walls,
            bounds,
        } = self;
        let few = Few {
            walls: VtkWalls::of(&walls, Some(within_planes(bounds, &walls)), few.time),
            fields,
            ..few
        };
        snapshot(coming, surveyor, few, options, number)
    }
}

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
