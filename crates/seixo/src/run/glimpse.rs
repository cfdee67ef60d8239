//! From a glance at a simulation to what is to be seen of it.

use super::frames::{Corners, within_planes};
use super::look::Sights;
use super::surfaces::Surfaces;
use seixo_device::gpu::{Gpu, Lent};
use seixo_engine::state::WallSnapshot;
use seixo_engine::world::Settings;
use seixo_engine::{Aboard, BodySnapshot, Glancing, Shade, Simulation, Stop, gpu_of};
use seixo_files::vtk::VtkWalls;
use seixo_view::{Few, Graphics, Live, Memory, PictureOptions, Piece, Shown, Snapshot, ViewError};
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
    /// Bodies that are drawn as meshes, with what they look like.
    bodies: Option<(Arc<Surfaces>, Vec<BodySnapshot>)>,
    /// The box in which planes are drawn \[m\].
    bounds: Corners,
}

impl Glimpse {
    /// Takes a glance at a simulation; nothing where that is not enough for what is to be shown.
    ///
    /// # Errors
    /// If the simulation stopped.
    pub fn of(simulation: &mut Simulation, sights: &Sights, options: &PictureOptions) -> Result<Option<Glimpse>, Stop> {
        let field = options.field.as_deref().unwrap_or("speed");
        let known = GLANCED.iter().find(|(name, ..)| *name == field);
        // Without a field, fluids that become a surface have colors of their own.
        let is_enough = options.shown == Shown::Grains || (options.shown == Shown::Smooth && options.field.is_some());
        let Some(&(name, unit, shade)) = known.filter(|_| is_enough) else {
            return Ok(None);
        };
        // Where nobody knows here where bodies are, a closer look tells.
        let surfaces = sights.surfaces.as_ref().filter(|_| options.has_meshes);
        let bodies = surfaces.map(|surfaces| simulation.bodies_now().map(|bodies| (surfaces.clone(), bodies)));
        if matches!(bodies, Some(None)) {
            return Ok(None);
        }
        let [low, high] = sights.bounds;
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
            bodies: bodies.flatten(),
            bounds: sights.bounds,
        }))
    }

    /// What is to be seen of it, where `fields` are all that particles can be colored by.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn snapshot(
        self,
        graphics: Option<&Graphics>,
        fields: Vec<String>,
        options: &PictureOptions,
        number: u64,
    ) -> Result<Snapshot, ViewError> {
        let Glimpse {
            coming,
            few,
            walls,
            bodies,
            bounds,
        } = self;
        let few = Few {
            bodies: bodies.map(|(surfaces, bodies)| surfaces.at(&bodies, few.time)),
            walls: VtkWalls::of(&walls, Some(within_planes(bounds, &walls)), few.time),
            fields,
            ..few
        };
        snapshot(coming, graphics, few, options, number)
    }
}

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
