//! A series of pictures of a run with one camera for all frames and one color scale.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::{
    PictureOptions, Shown, Snapshot, ViewError,
    camera::Camera,
    canvas::Canvas,
    coloring::Legend,
    render::Renderer,
    scene_bounds::some_of,
    snapshot::{frame_of, outlook},
};

/// Number of directions in which the outermost places are kept.
const DIRECTIONS: usize = 512;
/// Most places of all frames that are kept before they are reduced to the outermost ones.
const MAX_PLACES: usize = 1 << 16;

/// Draws frames of a run folder as one series.
pub struct Film {
    folder: PathBuf,
    options: PictureOptions,
    studio: Renderer,
    frames: Vec<(usize, f64)>,
    damaged: Vec<ViewError>,
    /// Centers and radii of everything in view at any time \[m\].
    in_view: Vec<(DVec3, f64)>,
    /// The axis normal to a plane flow.
    plane: Option<usize>,
}

impl Film {
    /// Prepares the pictures of these frames; skips damaged frames. Reads all frames first, to find the camera and the color range for the series.
    ///
    /// # Errors
    /// If all frames are damaged, a frame lacks the requested contents, or there is no graphics adapter.
    pub fn new(folder: &Path, options: PictureOptions, frames: &[usize]) -> Result<Film, ViewError> {
        options.check()?;
        let mut film = Film {
            folder: folder.to_owned(),
            studio: Renderer::offscreen()?,
            frames: Vec::new(),
            damaged: Vec::new(),
            in_view: Vec::new(),
            plane: None,
            options,
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut planes = BTreeSet::new();
        for &frame in frames {
            let snapshot = match film.read(frame) {
                Err(damaged @ ViewError::Frame(_)) => {
                    film.damaged.push(damaged);
                    continue;
                }
                read => read?,
            };
            film.frames.push((frame, snapshot.time));
            film.in_view.extend(outermost(snapshot.in_view(&snapshot.scenery())));
            if film.in_view.len() > MAX_PLACES {
                film.in_view = outermost(std::mem::take(&mut film.in_view));
            }
            if snapshot.particles > 0 {
                planes.insert(snapshot.plane());
            }
            if let Legend::Scale { range, .. } = snapshot.coloring.legend {
                (low, high) = (low.min(range.0), high.max(range.1));
            }
        }
        if film.frames.is_empty()
            && let Some(damaged) = film.damaged.pop()
        {
            return Err(damaged);
        }
        film.plane = planes.pop_first().flatten().filter(|_| planes.is_empty());
        if film.options.range.is_none() && low < high {
            film.options.range = Some((low, high));
        }
        Ok(film)
    }

    /// The frames with their simulated times \[s\].
    pub fn frames(&self) -> &[(usize, f64)] {
        &self.frames
    }

    /// Errors of the skipped frames.
    pub fn damaged(&self) -> &[ViewError] {
        &self.damaged
    }

    /// Direction from the scene to the camera, for pictures without their own direction.
    pub fn view(&self) -> [f64; 3] {
        outlook(&self.options, self.plane).0.to_array()
    }

    /// The picture of a frame, from its own direction if one is given.
    ///
    /// # Errors
    /// As [`Film::new`].
    pub fn picture(&mut self, frame: usize, view: Option<[f64; 3]>) -> Result<Canvas, ViewError> {
        let snapshot = self.read(frame)?;
        let (from, projection) = outlook(&self.options, self.plane);
        let from = view.map_or(from, DVec3::from);
        let camera = Camera::framing(self.in_view.iter().copied(), (from, projection), frame_of(self.options.size));
        snapshot.draw_from(&self.studio, &self.options, &snapshot.scenery(), &camera)
    }

    fn read(&self, frame: usize) -> Result<Snapshot, ViewError> {
        let options = PictureOptions {
            frame: Some(frame),
            // The colors of fluids have no range.
            range: self
                .options
                .range
                .filter(|_| self.options.shown != Shown::BondBreaks { has_bonds: false }),
            ..self.options.clone()
        };
        Snapshot::read(&self.folder, &options)
    }
}

/// The balls that extend farthest in each of many directions: a camera that frames these frames all.
fn outermost(balls: Vec<(DVec3, f64)>) -> Vec<(DVec3, f64)> {
    if balls.len() <= DIRECTIONS {
        return balls;
    }
    let directions = (0..DIRECTIONS).map(|k| {
        // Evenly distributed over the sphere (Fibonacci lattice).
        let z = 1.0 - (2.0 * k as f64 + 1.0) / DIRECTIONS as f64;
        let (sine, cosine) = (k as f64 * 2.399_963_229_728_653).sin_cos();
        let across = (1.0 - z * z).sqrt();
        DVec3::new(across * cosine, across * sine, z)
    });
    let some: Vec<(DVec3, f64)> = some_of(balls.iter(), 1 << 16).copied().collect();
    let farthest = |direction: DVec3| {
        let reach = |&(center, radius): &(DVec3, f64)| direction.dot(center) + radius;
        some.iter().copied().max_by(|a, b| reach(a).total_cmp(&reach(b)))
    };
    directions.filter_map(farthest).collect()
}
