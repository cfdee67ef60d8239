//! Random sequential insertion \[Feder 1980\], into a region and into a column above it.

use super::{cells::Cells, region::Space, volume_of};
use crate::diagnostics::UnlocatedDiagnostic;
use glam::DVec3;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use seixo_engine::world::Vec3;

/// Positions tried for a grain before random insertion ends.
const MAX_TRIES: usize = 5000;
/// Solid fraction of a rain: low, so that insertion is fast and grains have few contacts before they land.
const RAIN: f64 = 0.2;
/// How often a column that is too short is extended by half of its height.
const MAX_COLUMNS: usize = 12;

/// Spheres that are placed.
struct Placed<'a> {
    space: &'a Space,
    balls: Vec<(DVec3, f64)>,
    cells: Cells,
    /// The largest sphere that is not placed yet.
    largest: f64,
}

impl Placed<'_> {
    /// Adds a sphere to the grid in which spheres of the class of `found_by` and of smaller ones search for it.
    fn add(&mut self, at: DVec3, radius: f64, found_by: f64) {
        for image in self.space.images(at, radius + self.largest) {
            self.cells.add(self.balls.len() as u32, image, radius.max(found_by));
        }
        self.balls.push((at, radius));
    }

    fn is_free(&self, at: DVec3, radius: f64) -> bool {
        let mut near = self.cells.near(at, radius).map(|index| self.balls[index as usize]);
        near.all(|(place, other)| self.space.between(at, place).length() >= (radius + other) * (1.0 + 1e-9))
    }
}

/// Positions for spheres of descending radii, each the first of its random positions that is free. The result is shorter if one finds none. `others`
/// are spheres in space that are already placed.
pub(super) fn insert(space: &Space, radii: &[f64], others: &[(Vec3, f64)], random: &mut ChaCha12Rng) -> Vec<DVec3> {
    let largest = radii.first().copied().unwrap_or(1.0);
    let mut placed = Placed {
        space,
        balls: Vec::new(),
        cells: Cells::new(largest, 0.0),
        largest,
    };
    for &(place, radius) in others {
        let at = space.to_local(place);
        // Distant spheres would only fill the cells.
        if at.abs().cmple(space.half() + radius + largest).all() {
            placed.add(at, radius, largest);
        }
    }
    let before = placed.balls.len();
    for &radius in radii {
        let half = space.half_for_centers(radius);
        let mut candidates = (0..MAX_TRIES).map(|_| (DVec3::new(random.random(), random.random(), random.random()) * 2.0 - 1.0) * half);
        let Some(at) = candidates.find(|at| space.holds(*at, radius) && placed.is_free(*at, radius)) else {
            break;
        };
        placed.add(at, radius, radius);
    }
    placed.balls.drain(before..).map(|(at, _)| at).collect()
}

/// Like [`insert`], in the region extended upward until all find a position, or only some in the largest extension.
///
/// # Errors
/// If the region is no column along gravity.
pub(super) fn rain(
    space: &mut Space,
    radii: &[f64],
    others: &[(Vec3, f64)],
    gravity: Vec3,
    random: &mut ChaCha12Rng,
) -> Result<Vec<DVec3>, UnlocatedDiagnostic> {
    let up = -DVec3::from(gravity).normalize_or_zero();
    // Rain that fits into the region itself is not moved.
    let mut times = (volume_of(radii) / (RAIN * space.volume)).max(1.0);
    let mut placed = Vec::new();
    for _ in 0..MAX_COLUMNS {
        if !space.raise(up, times) {
            return Err(
                UnlocatedDiagnostic::new("rain falls into a column along gravity, which this region is not")
                    .limit("a box with a side along gravity that does not wrap, or a cylinder along it, and gravity")
                    .remedy("set world.gravity, use such a region, or method = \"random\""),
            );
        }
        placed = insert(space, radii, others, random);
        if placed.len() == radii.len() {
            break;
        }
        times = 1.5;
    }
    Ok(placed)
}
