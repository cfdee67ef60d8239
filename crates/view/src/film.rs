//! Pictures of the frames of a run that belong together: one camera that sees all of them, and one scale of colors.

use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::{
    PictureOptions, Shown, Snapshot, ViewError,
    camera::Camera,
    canvas::Canvas,
    coloring::Legend,
    render::Studio,
    scenery::some_of,
    snapshot::{FROM, frame_of},
};

/// Directions in which what sticks out farthest is kept in view.
const DIRECTIONS: usize = 512;
/// Places of all frames that are kept, until those are left out that do not stick out.
const MOST_PLACES: usize = 1 << 16;

/// Draws frames of a run folder that belong together.
pub struct Film {
    folder: PathBuf,
    options: PictureOptions,
    studio: Studio,
    frames: Vec<(usize, f64)>,
    damaged: Vec<ViewError>,
    /// What is in view at any time: centers and radii \[m\].
    in_view: Vec<(DVec3, f64)>,
}

impl Film {
    /// The pictures of these frames, but for those that are damaged. All are looked through, to know where things will be and between which values.
    ///
    /// # Errors
    /// If all are damaged, a frame lacks what is to be shown, or there is nothing to draw with.
    pub fn new(folder: &Path, options: PictureOptions, frames: &[usize]) -> Result<Film, ViewError> {
        options.check()?;
        let mut film = Film {
            folder: folder.to_owned(),
            studio: Studio::offscreen()?,
            frames: Vec::new(),
            damaged: Vec::new(),
            in_view: Vec::new(),
            options,
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
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
            if film.in_view.len() > MOST_PLACES {
                film.in_view = outermost(std::mem::take(&mut film.in_view));
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
        if film.options.range.is_none() && low < high {
            film.options.range = Some((low, high));
        }
        Ok(film)
    }

    /// The frames, with their simulated times \[s\].
    pub fn frames(&self) -> &[(usize, f64)] {
        &self.frames
    }

    /// What is wrong with those that are left out.
    pub fn damaged(&self) -> &[ViewError] {
        &self.damaged
    }

    /// Direction from the scene to the camera, unless a picture has its own.
    pub fn view(&self) -> [f64; 3] {
        self.options.view.unwrap_or(FROM.to_array())
    }

    /// The picture of a frame, from a direction of its own if one is given.
    ///
    /// # Errors
    /// As [`Film::new`].
    pub fn picture(&mut self, frame: usize, view: Option<[f64; 3]>) -> Result<Canvas, ViewError> {
        let snapshot = self.read(frame)?;
        let from = DVec3::from(view.unwrap_or(self.view()));
        let camera = Camera::framing(self.in_view.iter().copied(), from, frame_of(self.options.size));
        snapshot.draw_from(&self.studio, &self.options, &snapshot.scenery(), &camera)
    }

    fn read(&self, frame: usize) -> Result<Snapshot, ViewError> {
        let options = PictureOptions {
            frame: Some(frame),
            // Which fluid is which has no range.
            range: self
                .options
                .range
                .filter(|_| self.options.shown != Shown::Cracks { has_bonds: false }),
            ..self.options.clone()
        };
        Snapshot::read(&self.folder, &options)
    }
}

/// Of many balls those that stick out farthest in many directions: what frames these frames all.
fn outermost(balls: Vec<(DVec3, f64)>) -> Vec<(DVec3, f64)> {
    if balls.len() <= DIRECTIONS {
        return balls;
    }
    let directions = (0..DIRECTIONS).map(|k| {
        // Evenly over the sphere (Fibonacci's lattice).
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
