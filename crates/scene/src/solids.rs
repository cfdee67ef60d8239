//! Solid walls: their space, which grains and inlets may not be in.

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::Inside,
    inlet::Inlet,
    schema::{BoxShape, ConeRegion, CylinderRegion, MeshRegion, Region, SceneFile, SphereRegion, WallSection},
    stage::StageItem,
};
use glam::DVec3;
use seixo_engine::world::{Vec3, World};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// A solid wall that is present at the start.
pub(crate) struct Solid {
    /// Name of its section.
    name: String,
    space: Inside,
}

impl Solid {
    /// Whether a point is outside, at least `distance` \[m\] from its surface.
    pub fn is_beyond(&self, place: Vec3, distance: f64) -> bool {
        self.space.is_beyond(place.into(), distance)
    }
}

/// The region that a section encloses; none for a plane.
fn region_of(section: &WallSection) -> Option<Region> {
    if let Some(shape) = &section.box_ {
        return Some(Region::Box(BoxShape {
            min: shape.min,
            max: shape.max,
        }));
    }
    if let Some(shape) = &section.cylinder {
        return Some(Region::Cylinder(CylinderRegion {
            from: shape.from,
            to: shape.to,
            radius: shape.radius,
        }));
    }
    if let Some(shape) = &section.cone {
        return Some(Region::Cone(ConeRegion {
            from: shape.from,
            to: shape.to,
            radii: shape.radii,
        }));
    }
    if let Some(shape) = &section.sphere {
        return Some(Region::Sphere(SphereRegion {
            center: shape.center,
            radius: shape.radius,
        }));
    }
    section.mesh.as_ref().map(|file| {
        Region::Mesh(MeshRegion {
            file: file.clone(),
            unit: section.unit.clone(),
            scale: section.scale.unwrap_or_default(),
            rotate: section.rotate.clone(),
            shift: section.shift,
        })
    })
}

/// The solid walls that are present at the start. Reports those without an inside, as meshes that are not closed.
pub(crate) fn solids(
    file: &SceneFile,
    ranges: &BTreeMap<String, Range<usize>>,
    absent: &[StageItem],
    findings: &mut CheckState,
) -> Vec<Solid> {
    let is_absent = |range: &Range<usize>| {
        absent
            .iter()
            .any(|thing| matches!(thing, StageItem::Walls(walls) if walls == range))
    };
    let mut solids = Vec::new();
    for (name, section) in file.wall.iter().filter(|(_, section)| section.is_solid()) {
        let Some(mut region) = region_of(section) else { continue };
        // The error of a wall that was not made is reported with its shape.
        if ranges.get(name).is_none_or(|range| range.is_empty()) {
            continue;
        }
        match Inside::new(&mut region, findings) {
            Ok(_) if ranges.get(name).is_some_and(is_absent) => {}
            Ok(space) => solids.push(Solid { name: name.clone(), space }),
            Err(complaint) => findings.add(
                &format!("wall.{name}.side"),
                complaint.within(&format!("wall.{name}: a solid needs a closed surface")),
            ),
        }
    }
    solids
}

/// Refuses grains that start in solid walls, except those whose motion is prescribed: they have no contacts with walls.
pub(crate) fn refuse_grains(solids: &[Solid], world: &World, absent: &[StageItem], findings: &mut CheckState) {
    let grains = &world.grains;
    let held = grains.bodies.iter().filter(|body| body.motion.is_some());
    let held: BTreeSet<u32> = held.flat_map(|body| body.carries.iter().map(|(id, _)| *id)).collect();
    for solid in solids {
        let is_in = |k: &usize| {
            let is_there = !absent.contains(&StageItem::Group(grains.group[*k])) && !held.contains(&grains.id[*k]);
            is_there && solid.space.holds(DVec3::from(grains.position[*k]))
        };
        let mut inside = (0..grains.len()).filter(is_in);
        let Some(first) = inside.next() else { continue };
        let Solid { name, .. } = solid;
        let group = &world.groups[grains.group[first] as usize];
        let at = DVec3::from(grains.position[first]);
        let complaint = UnlocatedDiagnostic::new(format!(
            "wall.{name}: {} grains start inside of it, the first at {at:.6} m, of grains.{group}",
            1 + inside.count()
        ));
        findings.add(
            &format!("wall.{name}.side"),
            complaint
                .limit("grains outside of a wall with side = \"outside\"")
                .remedy(format!(
                    "move the grains, or take the space of the wall from grains.{group}.fill by `minus`; or leave `side` out: both sides then have contacts"
                )),
        );
    }
}

/// Refuses inlets of grains that reach into solid walls.
pub(crate) fn refuse_inlets(solids: &[Solid], inlets: &[Inlet], findings: &mut CheckState) {
    for inlet in inlets {
        let reaches = |solid: &&Solid| inlet.samples().iter().any(|(place, _)| solid.space.holds(DVec3::from(*place)));
        let Some(solid) = solids.iter().find(reaches) else { continue };
        let Inlet { name, .. } = inlet;
        let complaint = UnlocatedDiagnostic::new(format!("grains.{name}.inlet: it reaches into wall.{}, which is solid", solid.name));
        findings.add(
            &format!("grains.{name}.inlet.through"),
            complaint
                .limit("a place outside of walls with side = \"outside\"")
                .remedy("move the inlet or the wall"),
        );
    }
}
