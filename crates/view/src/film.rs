//! Pictures of the frames of a run that belong together: one camera that sees all of them, and one scale of colors.

use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::{
    PictureOptions, Shown, Snapshot, ViewError,
    camera::Camera,
    canvas::Canvas,
    coloring::Legend,
    render::Studio,
    snapshot::{FROM, frame_of},
};

/// Frames that are looked at before the first picture, to know where things will be and between which values.
const MOST_LOOKED_AT: usize = 24;
/// Places of each of these that are kept.
const MOST_PLACES: usize = 4096;

/// Draws frames of a run folder that belong together.
pub struct Film {
    folder: PathBuf,
    options: PictureOptions,
    studio: Studio,
    times: Vec<f64>,
    /// What is in view at any time: centers and radii \[m\].
    in_view: Vec<(DVec3, f64)>,
}

impl Film {
    /// The pictures of these frames.
    ///
    /// # Errors
    /// If a frame cannot be read or lacks what is to be shown, or there is nothing to draw with.
    pub fn new(folder: &Path, options: PictureOptions, frames: &[usize]) -> Result<Film, ViewError> {
        options.check()?;
        let mut film = Film {
            folder: folder.to_owned(),
            studio: Studio::offscreen()?,
            times: Vec::new(),
            in_view: Vec::new(),
            options,
        };
        let apart = frames.len().div_ceil(MOST_LOOKED_AT).max(1);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut times = Vec::new();
        for (index, &frame) in frames.iter().enumerate() {
            if index % apart != 0 && index + 1 != frames.len() {
                continue;
            }
            let snapshot = film.read(frame)?;
            times.push((index, snapshot.time));
            let seen = snapshot.in_view(&snapshot.scenery());
            film.in_view.extend(outermost(seen));
            if let Legend::Scale { range, .. } = snapshot.coloring.legend {
                (low, high) = (low.min(range.0), high.max(range.1));
            }
        }
        film.times = (0..frames.len()).map(|index| between(&times, index)).collect();
        if film.options.range.is_none() && low < high {
            film.options.range = Some((low, high));
        }
        Ok(film)
    }

    /// Simulated times of the frames \[s\]; of those that were not looked at, as if they were evenly spaced.
    pub fn times(&self) -> &[f64] {
        &self.times
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
    if balls.len() <= MOST_PLACES {
        return balls;
    }
    let directions = (0..MOST_PLACES / 4).map(|k| {
        // Evenly over the sphere (Fibonacci's lattice).
        let z = 1.0 - (2.0 * k as f64 + 1.0) / (MOST_PLACES / 4) as f64;
        let (sine, cosine) = (k as f64 * 2.399_963_229_728_653).sin_cos();
        let across = (1.0 - z * z).sqrt();
        DVec3::new(across * cosine, across * sine, z)
    });
    let some: Vec<(DVec3, f64)> = balls.iter().step_by(balls.len().div_ceil(1 << 16)).copied().collect();
    let farthest = |direction: DVec3| {
        let reach = |&(center, radius): &(DVec3, f64)| direction.dot(center) + radius;
        some.iter().copied().max_by(|a, b| reach(a).total_cmp(&reach(b)))
    };
    directions.filter_map(farthest).collect()
}

/// The time at an index, between those that are known.
fn between(known: &[(usize, f64)], index: usize) -> f64 {
    let after = known.partition_point(|&(at, _)| at <= index);
    match (known.get(after.wrapping_sub(1)), known.get(after)) {
        (Some(&(from, start)), Some(&(to, end))) => start + (end - start) * (index - from) as f64 / (to - from) as f64,
        (Some(&(_, time)), None) | (None, Some(&(_, time))) => time,
        (None, None) => 0.0,
    }
}
