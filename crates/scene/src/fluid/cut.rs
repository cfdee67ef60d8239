//! Fluids that are cut at planes and out of solid walls: regions are simple, but a tank may have a sloping floor and obstacles.

use super::planes::Flat;
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    schema::SceneFile,
    solids::Solid,
    stage::{Plan, StageItem},
};
use glam::DVec3;
use seixo_engine::world::{Particles, WallShape, World};

/// Smallest distance of the last particles from a plane that cuts a fluid \[spacings\]. A lattice that fits the plane has one half. Zero would fit as
/// many particles, but some of them almost inside the wall.
const NEAREST: f64 = 0.25;

/// Removes particles behind planes that are present at the start, from fluids with `cut_at_planes`. Ids count the remaining ones.
pub(super) fn cut_at_planes(
    file: &SceneFile,
    world: &World,
    plan: &Plan,
    across: Option<usize>,
    particles: &mut Particles,
    findings: &mut CheckState,
) {
    let spacing = file
        .fluid
        .values()
        .find_map(|section| section.spacing)
        .map_or(0.0, |length| length.si);
    let is_absent = |wall: usize| {
        let is_it = |thing: &StageItem| matches!(thing, StageItem::Walls(walls) if walls.contains(&wall));
        plan.absent.iter().any(is_it)
    };
    let flat = |(index, shape): (usize, &WallShape)| match shape {
        WallShape::Plane { point, normal } if !is_absent(index) => Flat::new(index as u32, (*point, *normal), [DVec3::ZERO; 2], across),
        _ => None,
    };
    let shapes = world.walls.iter().map(|wall| &wall.shape).enumerate();
    let flats: Vec<Flat> = shapes.filter_map(flat).collect();
    let is_behind = |place: DVec3| flats.iter().any(|flat| flat.before(place) < NEAREST * spacing);
    for (kind, (name, section)) in file.fluid.iter().enumerate().filter(|(_, (_, section))| section.cut_at_planes) {
        if section.fill.is_none() {
            let note = format!("fluid.{name}.cut_at_planes has no effect: it is nowhere at the start, and inlets are not cut");
            findings.notices.push(note);
            continue;
        }
        let is_own = |k: &usize| particles.kind[*k] as usize == kind;
        let stays = |k: &usize| !is_own(k) || !is_behind(particles.position[*k].into());
        let order: Vec<usize> = (0..particles.len()).filter(stays).collect();
        if !order.iter().any(is_own) {
            let complaint = UnlocatedDiagnostic::new(format!("fluid.{name}: all of its region is behind planes, and it is cut there"));
            findings.add(
                &format!("fluid.{name}.fill"),
                complaint.remedy("fill a region before the planes: where their normals point to"),
            );
            return;
        }
        *particles = kept(particles, &order);
    }
}

/// Removes particles inside of solid walls that are present at the start. Ids count the remaining ones.
pub(super) fn cut_out_solids(file: &SceneFile, solids: &[Solid], spacing: f64, particles: &mut Particles, findings: &mut CheckState) {
    let stays = |k: &usize| {
        solids
            .iter()
            .all(|solid| solid.is_beyond(particles.position[*k], NEAREST * spacing))
    };
    let order: Vec<usize> = (0..particles.len()).filter(stays).collect();
    if order.len() == particles.len() {
        return;
    }
    let is_lost = |kind: &usize| {
        let is_own = |k: &usize| particles.kind[*k] as usize == *kind;
        (0..particles.len()).any(|k| is_own(&k)) && !order.iter().any(is_own)
    };
    let lost = (0..file.fluid.len()).find(is_lost);
    if let Some(name) = lost.and_then(|kind| file.fluid.keys().nth(kind)) {
        let complaint = UnlocatedDiagnostic::new(format!(
            "fluid.{name}: all of its region is inside of walls with side = \"outside\""
        ));
        findings.add(
            &format!("fluid.{name}.fill"),
            complaint.remedy("fill a larger region, or move the walls"),
        );
        return;
    }
    *particles = kept(particles, &order);
}

/// These particles, renumbered.
pub(super) fn kept(particles: &Particles, order: &[usize]) -> Particles {
    Particles {
        id: (0..order.len() as u32).collect(),
        position: order.iter().map(|&k| particles.position[k]).collect(),
        velocity: order.iter().map(|&k| particles.velocity[k]).collect(),
        pressure: order.iter().map(|&k| particles.pressure[k]).collect(),
        kind: order.iter().map(|&k| particles.kind[k]).collect(),
    }
}
