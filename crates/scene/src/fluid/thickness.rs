//! Mesh walls that are too thin for fluids: plates with fewer layers of wall particles, or samples of the distance, than needed to keep a fluid in.

use super::{
    boundary::FluidSurroundings,
    point_index::PointIndex,
    surface::{Outline, Surface},
};
use crate::{assemble::CheckState, diagnostics::UnlocatedDiagnostic};
use glam::DVec3;
use std::collections::BTreeMap;

/// Number of layers that may be missing from the support while the wall stays tight. Water 5 and 20 spacings deep does not pass three layers with a
/// support of four spacings, nor two with a support of three; it passes one layer less.
const SPARE: u32 = 1;
/// Largest cosine of the angle between the two sides of a plate: edges of wedges are no plates.
const OPPOSITE: f64 = -0.9;
/// Stride of the search through a wall \[spacings\].
const STRIDE: f64 = 0.25;
/// How often the last stride is halved.
const HALVINGS: u32 = 20;
/// Distance of the positions at which walls are measured \[spacings\].
const APART: f64 = 2.0;
/// Distance of fluid from a position half a spacing before a side at which the side is wet \[spacings\].
const WET: f64 = 1.0;

/// A thin part of a wall.
#[derive(Clone, Copy)]
struct Plate {
    wall: u32,
    at: DVec3,
    /// \[m\].
    thickness: f64,
    /// Whether fluid is on exactly one side of it.
    holds: bool,
}

/// Refuses mesh walls between fluid and empty space that are too thin, and notes other thin ones.
pub(super) fn refuse_thin(setting: &FluidSurroundings<'_>, surfaces: &[Surface], findings: &mut CheckState) {
    let layout = setting.layout;
    let mut fluid = PointIndex::new(layout.spacing, layout.periods);
    for place in &setting.particles.position {
        fluid.add(DVec3::from(*place), 0);
    }
    let least = layout.spacing * f64::from(layout.layers.saturating_sub(SPARE).max(1));
    let mut thinnest: BTreeMap<u32, Option<Plate>> = BTreeMap::new();
    for surface in surfaces.iter().filter(|surface| surface.is_faceted()) {
        for piece in &surface.pieces {
            thinnest.entry(piece.wall).or_default();
        }
        for plate in plates(surface, least, layout.spacing, &fluid) {
            let worst = thinnest.entry(plate.wall).or_default();
            let is_worse = |other: &Plate| (plate.holds, -plate.thickness) > (other.holds, -other.thickness);
            if worst.as_ref().is_none_or(is_worse) {
                *worst = Some(plate);
            }
        }
    }
    for (wall, plate) in thinnest {
        let name = &setting.world.walls[wall as usize].name;
        let finer = |plate: &Plate| plate.thickness * layout.spacing / least;
        match plate {
            Some(plate) if plate.holds => {
                let complaint = UnlocatedDiagnostic::new(format!(
                    "it is {:.3e} m thick at {:.4} m, where fluid is on one side: too little to hold it",
                    plate.thickness, plate.at
                ));
                let complaint = complaint.limit(format!("{least:.3e} m, {:.0} spacings", least / layout.spacing)).remedy(format!(
                    "make it thicker; or use a spacing of at most {:.3e} m; or leave the dry side out of the mesh: the wet one then holds the fluid \
                     alone",
                    finer(&plate)
                ));
                setting.complain(wall, complaint, findings);
            }
            Some(plate) => findings.notices.push(format!(
                "wall.{name}: it is {:.3e} m thick at {:.4} m; where fluid is on one side alone it goes through less than {least:.3e} m, which a spacing \
                 of {:.3e} m would do for",
                plate.thickness,
                plate.at,
                finer(&plate)
            )),
            None => {}
        }
    }
}

/// The positions on a surface at which the wall is thinner than `least`.
fn plates(surface: &Surface, least: f64, spacing: f64, fluid: &PointIndex) -> Vec<Plate> {
    let mut plates = Vec::new();
    for piece in &surface.pieces {
        let (places, normal) = match &piece.outline {
            Outline::Triangle(corners, normal) => (on_triangle(corners, APART * spacing), *normal),
            Outline::Segment([from, to], normal) => {
                let parts = (from.distance(*to) / (APART * spacing)).ceil().max(1.0) as u64;
                let share = |k: u64| (k as f64 + 0.5) / parts as f64;
                ((0..parts).map(|k| from.lerp(*to, share(k))).collect(), *normal)
            }
            Outline::Mantle(_) | Outline::Sphere { .. } => continue,
        };
        let away = normal * piece.away;
        let is_wet = |at: DVec3| fluid.nearer_than(WET * spacing, at).is_some();
        for at in places {
            if let Some(thickness) = through(surface, at, away, least, spacing) {
                let [before, behind] = [-0.5 * spacing, thickness + 0.5 * spacing].map(|way| is_wet(at + away * way));
                plates.push(Plate {
                    wall: piece.wall,
                    at,
                    thickness,
                    holds: before != behind,
                });
            }
        }
    }
    plates
}

/// Evenly distributed positions on a triangle, about this distance apart at most.
fn on_triangle([a, b, c]: &[DVec3; 3], apart: f64) -> Vec<DVec3> {
    let longest = a.distance(*b).max(b.distance(*c)).max(c.distance(*a));
    let parts = (longest / apart).ceil().max(1.0) as u64;
    let place = |i: u64, j: u64| {
        let [of_b, of_c] = [i, j].map(|k| (k as f64 + 1.0 / 3.0) / parts as f64);
        *a + (*b - *a) * of_b + (*c - *a) * of_c
    };
    (0..parts)
        .flat_map(|j| (0..parts - j).map(move |i| (i, j)))
        .map(|(i, j)| place(i, j))
        .collect()
}

/// Thickness of a wall behind a position on its surface, if it is less than `least` and ends at another side \[m\].
fn through(surface: &Surface, at: DVec3, away: DVec3, least: f64, spacing: f64) -> Option<f64> {
    let is_behind = |way: f64| surface.look(at + away * way).is_some_and(|look| look.is_behind);
    let strides = (least / (STRIDE * spacing)).ceil() as u64;
    let mut ways = (1..=strides).map(|k| k as f64 * STRIDE * spacing);
    let mut outside = ways.find(|way| !is_behind(*way))?;
    let end = surface.look(at + away * outside)?;
    if end.away.dot(away) > OPPOSITE {
        return None;
    }
    let mut inside = outside - STRIDE * spacing;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (inside + outside);
        if is_behind(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    (outside < least * (1.0 - 1e-3)).then_some(outside)
}
