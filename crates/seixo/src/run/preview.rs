//! Previews: positions, radii and one scalar of all particles, taken without waiting for the simulation.
//!
//! ```
//! use seixo::engine::ColorScalar;
//! use seixo::run::preview;
//! use seixo::view::{PictureOptions, PreviewParts};
//!
//! let scene = seixo::scene::load_text(seixo::scene::templates()[0].text, "bounce.toml".as_ref(), &[])?;
//! let mut simulation = seixo::Simulation::new(scene.world, scene.settings)?;
//! let coming = simulation.preview([0.0; 3], ColorScalar::Speed)?.expect("a single domain has previews");
//! let parts = PreviewParts { field: ("speed", "m/s"), ..PreviewParts::default() };
//! let snapshot = preview::snapshot(coming, None, parts, &PictureOptions::default(), 0)?;
//! // The center relative to the origin, and the radius.
//! assert!(snapshot.balls.contains(&[0.0, 0.0, 0.3, 0.02]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::frames::{Corners, within_planes};
use super::full_frame::FrameContents;
use super::surfaces::{Poses, Surfaces};
use seixo_device::gpu::{Gpu, SharedBuffer};
use seixo_engine::state::WallSnapshot;
use seixo_engine::world::Settings;
use seixo_engine::{ColorScalar, GpuPreview, PendingPreview, Simulation, StepError, gpu_of};
use seixo_files::vtk::VtkWalls;
use seixo_view::{Graphics, Live, Memory, PictureOptions, Piece, PreviewParts, Shown, Snapshot, ViewError};
use std::sync::Arc;

/// Scalars of a preview: name, unit and the scalar of the engine.
const PREVIEW_SCALARS: [(&str, &str, ColorScalar); 5] = [
    ("speed", "m/s", ColorScalar::Speed),
    ("velocity_x", "m/s", ColorScalar::Velocity(0)),
    ("velocity_y", "m/s", ColorScalar::Velocity(1)),
    ("velocity_z", "m/s", ColorScalar::Velocity(2)),
    ("radius", "m", ColorScalar::Radius),
];

/// A preview, and the walls and bodies at the same time.
pub(super) struct PreviewFrame {
    coming: PendingPreview,
    parts: PreviewParts,
    walls: Vec<WallSnapshot>,
    /// Bodies and polyhedral grains that are drawn as surfaces, with these surfaces.
    poses: Option<(Arc<Surfaces>, Poses)>,
    /// Box in which planes are drawn \[m\].
    bounds: Corners,
}

impl PreviewFrame {
    /// Takes a preview of a simulation; `None` if the picture needs a full frame.
    ///
    /// # Errors
    /// If the simulation stopped.
    pub fn of(
        simulation: &mut Simulation,
        frame_contents: &FrameContents,
        options: &PictureOptions,
    ) -> Result<Option<PreviewFrame>, StepError> {
        let field = options.field.as_deref().unwrap_or("speed");
        let known = PREVIEW_SCALARS.iter().find(|(name, ..)| *name == field);
        // Without a field, a surface of fluids has one color per fluid, which a preview does not have.
        let is_enough = options.shown == Shown::Grains || (options.shown == Shown::Smooth && options.field.is_some());
        let Some(&(name, unit, shade)) = known.filter(|_| is_enough) else {
            return Ok(None);
        };
        // If the host does not have the current positions of bodies, a full frame downloads them.
        let surfaces = frame_contents.surfaces.as_ref().filter(|_| options.has_meshes);
        let poses = surfaces.map(|surfaces| Poses::now(simulation).map(|poses| (surfaces.clone(), poses)));
        if matches!(poses, Some(None)) {
            return Ok(None);
        }
        let [low, high] = frame_contents.bounds;
        let origin = [0, 1, 2].map(|axis| 0.5 * (low[axis] + high[axis]));
        let Some(coming) = simulation.preview(origin, shade)? else {
            return Ok(None);
        };
        let parts = PreviewParts {
            time: simulation.time(),
            origin,
            field: (name, unit),
            ..PreviewParts::default()
        };
        Ok(Some(PreviewFrame {
            coming,
            parts,
            walls: simulation.walls_now(),
            poses: poses.flatten(),
            bounds: frame_contents.bounds,
        }))
    }

    /// Converts the preview to a snapshot. `fields` are all fields by which particles can be colored.
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
        let PreviewFrame {
            coming,
            parts,
            walls,
            poses,
            bounds,
        } = self;
        let parts = PreviewParts {
            bodies: poses.map(|(surfaces, poses)| surfaces.at(&poses, parts.time)),
            walls: VtkWalls::of(&walls, Some(within_planes(bounds, &walls)), parts.time),
            fields,
            ..parts
        };
        snapshot(coming, graphics, parts, options, number)
    }
}

/// Lets a window draw snapshots on the GPU that runs the simulation, if this GPU supports it.
pub fn draw_where_it_runs(live: &Live, settings: &Settings) {
    // If there is no such GPU, the run reports it.
    let gpu = gpu_of(settings).ok().flatten();
    if let Some(setup) = gpu.as_ref().and_then(Gpu::graphics).cloned() {
        live.draw_on(Graphics::new(setup.instance, setup.adapter, setup.device, setup.queue));
    }
}

/// Converts a preview to a snapshot. It stays on the GPU if a window draws there; `parts` has everything except the particles.
///
/// # Errors
/// If the GPU fails.
pub fn snapshot(
    mut coming: PendingPreview,
    graphics: Option<&Graphics>,
    parts: PreviewParts,
    options: &PictureOptions,
    number: u64,
) -> Result<Snapshot, ViewError> {
    let live = |cause: String| ViewError::Live { cause };
    let on_gpu = match graphics {
        Some(graphics) => coming.share_memory().map_err(live)?.map(|on_gpu| (graphics, on_gpu)),
        None => None,
    };
    let Some((graphics, on_gpu)) = on_gpu else {
        return here(coming, parts, options, number);
    };
    let mut some = parts.clone();
    for (place, value) in on_gpu.iter().flat_map(|on_gpu| &on_gpu.survey.some) {
        // Particles without a position, and hidden particles, are left out.
        if place[3] > 0.0 && place.iter().all(|number| number.is_finite()) {
            some.places.push(*place);
            some.values.push(*value);
        }
    }
    let pieces = on_gpu.into_iter().map(piece).collect();
    let wish = options.clone();
    Ok(graphics.snapshot(
        (some, pieces),
        options,
        number,
        Box::new(move || here(coming, parts, &wish, number)),
    ))
}

fn piece(on_gpu: GpuPreview) -> Piece {
    let memory = |on_gpu: &SharedBuffer| Memory {
        buffer: on_gpu.buffer.clone(),
        part: on_gpu.part.clone(),
    };
    Piece {
        places: memory(&on_gpu.places),
        values: memory(&on_gpu.values),
        count: on_gpu.count as u32,
        is_fluid: on_gpu.is_fluid,
        corners: on_gpu.survey.corners,
        seen: on_gpu.survey.seen,
        mean_radius: on_gpu.survey.mean_radius,
        held: Arc::new(on_gpu),
    }
}

/// Converts a preview after its download.
fn here(coming: PendingPreview, parts: PreviewParts, options: &PictureOptions, number: u64) -> Result<Snapshot, ViewError> {
    let preview = coming.wait().map_err(|cause| ViewError::Live { cause })?;
    let parts = PreviewParts {
        id: preview.id,
        places: preview.places,
        values: preview.values,
        grains: preview.grains,
        ..parts
    };
    Ok(Snapshot::of_preview(parts, options, number))
}
