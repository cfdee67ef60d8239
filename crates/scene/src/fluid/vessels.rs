//! Mesh walls around fluids of Müller's solver: their surfaces, and signed distances from them.

use super::{
    AXES, Layout,
    boundary::FluidSurroundings,
    plane_flow::leaves_plane,
    surface::{Piece, Surface},
    thickness,
};
use crate::{assemble::CheckState, diagnostics::UnlocatedDiagnostic};
use glam::DVec3;
use seixo_engine::world::{SignedDistances, Vec3, WallMotion, WallShape};
use std::collections::BTreeSet;

/// Largest signed distance, on either side of a mesh \[spacings\]: several times as far as fluid moves in a step.
pub(super) const LAYERS: u32 = 2;
/// Distance of samples \[spacings\].
const SAMPLES_APART: f64 = 0.5;
/// Bytes of a sample.
const BYTES: f64 = 8.0;

/// The surfaces of mesh walls. Reports those that are too thin, and those that move through periodic sides.
pub(super) fn surfaces(setting: &FluidSurroundings<'_>, findings: &mut CheckState) -> Vec<Surface> {
    let voters = setting.voters();
    let mut surfaces = Vec::new();
    for company in setting.companies() {
        let walls = company.walls.iter().map(|&wall| (wall as u32, &setting.world.walls[wall].shape));
        let meshes: Vec<(u32, &WallShape)> = walls.filter(|(_, shape)| matches!(shape, WallShape::Mesh(_))).collect();
        let Some((first, _)) = meshes.first() else { continue };
        let motions = setting.motions_of(&company);
        if let Some((axis, key)) = motions.iter().find_map(|motion| through_sides(motion, setting.layout)) {
            let along = AXES[axis];
            let complaint = UnlocatedDiagnostic::new(format!("it moves through the periodic sides along {along}, by its {key}"));
            let complaint = complaint
                .limit(format!("motion with nothing along {along}, and turning about {along}"))
                .remedy("open these sides, choose another motion, or use solver = \"wcsph\"");
            setting.complain(*first, complaint, findings);
        }
        match Surface::all(&meshes, &motions, setting.layout, &voters) {
            Ok(found) => surfaces.extend(found),
            Err((wall, complaint)) => setting.complain(wall, complaint, findings),
        }
    }
    thickness::refuse_thin(setting, &surfaces, findings);
    surfaces
}

/// The axis of the periodic sides that a wall may pass by a motion, and the key of the motion.
fn through_sides(motion: &WallMotion, layout: &Layout) -> Option<(usize, &'static str)> {
    let periodic = (0..3).filter(|axis| layout.periods[*axis].is_some());
    let mut keys = periodic.filter_map(|axis| Some((axis, leaves_plane(motion, axis)?)));
    // A surface moves along itself.
    keys.find(|(_, key)| !key.starts_with("surface"))
}

/// Signed distances from these surfaces. Reports those that need too much memory, and meshes without any triangle.
pub(super) fn signed_distances(setting: &FluidSurroundings<'_>, surfaces: &[Surface], findings: &mut CheckState) -> SignedDistances {
    let mut distances = SignedDistances::default();
    let band = setting.layout.band();
    for surface in surfaces {
        let mut others: BTreeSet<u32> = surface.pieces.iter().map(|piece| piece.wall).collect();
        others.remove(&surface.wall);
        let walls = std::iter::once(surface.wall).chain(others).collect();
        let ends = surface.pieces.iter().map(Piece::bounds);
        let [low, high] = ends.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], [from, to]| {
            [low.min(from), high.max(to)]
        });
        let bounds = [(low - band).to_array(), (high + band).to_array()];
        let WallShape::Mesh(mesh) = &setting.world.walls[surface.wall as usize].shape else {
            continue;
        };
        let distance = |at: Vec3| (-surface.depth(DVec3::from(at))).clamp(-band, band);
        if let Err(refusal) = distances.add(walls, mesh, bounds, SAMPLES_APART * setting.layout.spacing, distance) {
            let most = SignedDistances::MAX_SAMPLES as f64;
            let complaint = UnlocatedDiagnostic::new(refusal.to_string())
                .limit(format!("{most:.3e} samples, {:.2} GB", most * BYTES / 1e9))
                .remedy("use a larger spacing, or leave parts without fluid out of the mesh");
            setting.complain(surface.wall, complaint, findings);
            return distances;
        }
    }
    let sampled: BTreeSet<u32> = distances.walls().collect();
    for (wall, index) in setting.world.walls.iter().zip(0..) {
        if findings.is_sound() && matches!(wall.shape, WallShape::Mesh(_)) && !sampled.contains(&index) {
            let complaint = UnlocatedDiagnostic::new("none of its triangles has an area");
            setting.complain(index, complaint.remedy("check the file of the mesh"), findings);
        }
    }
    distances
}
