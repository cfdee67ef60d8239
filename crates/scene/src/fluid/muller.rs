//! Fluids of Müller's solver: its requirements on scenes, and the fluid side of walls.

use super::{Shared, solver::refuse, surface::Surface};
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    quantity::Quantity,
    schema::{FluidSection, SceneFile},
    stage::{Plan, StageItem},
    vocabulary::{InitialPressure, Slip, Word},
};
use glam::DVec3;
use seixo_engine::world::{Frustum, Particles, Solver, StateLaw, Vec3, WallShape, World};
use seixo_laws::{
    Vector3,
    contact::restitution::MIN_RESTITUTION,
    wall::{beside_frustum, beside_sphere},
};

/// Default support: 32 neighbors \[spacings\].
pub(super) const DEFAULT_SUPPORT: f64 = 2.0;
/// Root of the stiffness over the largest expected speed: a fall from the surface to the bottom, at twice the weight, compresses by 4 % of density.
const ROOT_OVER_FLOW: f64 = 5.0;
/// XSPH's ε \[-\].
const DEFAULT_XSPH: f64 = 0.5;
/// Default restitution at walls: full rebound, as \[Müller 2003\] reflects \[-\].
const DEFAULT_RESTITUTION: f64 = 1.0;
/// Stiffness of springs to bodies over density × stiffness × spacing. The weight of all fluid above a particle at the bottom then compresses one
/// spring by 8 % of a spacing, and several springs by less.
const SPRING_OF_FLUID: f64 = 0.25;
/// Default restitution at a heavy body \[-\]: the stable step of explicit Euler is then not below that for sound.
const DEFAULT_BODY_RESTITUTION: f64 = 0.7;
/// Tolerance for rounding of particles that start behind a wall \[spacings\].
const ROUNDING: f64 = 1e-6;

/// Reports a speed of sound, fluids without any damping, and springs without damping or with too much.
pub(super) fn refuse_values(file: &SceneFile, findings: &mut CheckState) {
    for (name, section) in &file.fluid {
        if let Some(speed) = section.sound_speed.value() {
            let remedy = format!("write stiffness = \"{} J/kg\", the square of it, instead", speed.si * speed.si);
            refuse(name, "sound_speed", Solver::Muller2003, remedy, findings);
        }
        if let Some(share) = section.body_restitution.filter(|share| !(MIN_RESTITUTION..1.0).contains(&share.si)) {
            let complaint = UnlocatedDiagnostic::new(format!(
                "fluid.{name}: with `body_restitution` {} {}",
                share.si,
                if share.si < MIN_RESTITUTION {
                    "no damping is enough"
                } else {
                    "explicit Euler lets springs grow at any time step"
                }
            ));
            let complaint = complaint.limit(format!(">= {MIN_RESTITUTION} and < 1"));
            findings.add(
                &format!("fluid.{name}.body_restitution"),
                complaint.remedy(format!("write body_restitution = {DEFAULT_BODY_RESTITUTION}, or leave it out")),
            );
        }
        if section.viscosity.si == 0.0 && section.xsph.is_some_and(|share| share.si == 0.0) {
            let complaint = UnlocatedDiagnostic::new(format!(
                "fluid.{name}: without `viscosity` and `xsph` explicit Euler lets sound grow at any time step"
            ));
            findings.add(
                &format!("fluid.{name}.xsph"),
                complaint
                    .limit("above 0, or a viscosity above 0")
                    .remedy("write xsph = 0.5, or leave it out"),
            );
        }
    }
}

/// Reports walls and probes that the solver does not support.
pub(super) fn refuse_surroundings(file: &SceneFile, world: &World, findings: &mut CheckState) {
    let solver = "solver = \"muller2003\"";
    for (name, section) in &file.wall {
        if section.slip == Some(Word(Slip::None)) {
            let complaint = UnlocatedDiagnostic::new(format!("wall.{name}: fluid does not stick to walls with {solver}"));
            findings.add(
                &format!("wall.{name}.slip"),
                complaint.limit("\"free\"").remedy("write slip = \"free\", or leave it out"),
            );
        }
    }
    let is_dry = world.grains.is_empty() && file.grains.is_empty();
    for (name, section) in file.probe.iter().filter(|_| is_dry) {
        for (key, asked) in [
            ("wall_force", &section.wall_force),
            ("wall_torque", &section.wall_torque),
            ("wall_power", &section.wall_power),
        ] {
            if asked.is_some() {
                let complaint = UnlocatedDiagnostic::new(format!(
                    "probe.{name}: walls throw particles back with {solver}, and their force is not computed"
                ));
                findings.add(
                    &format!("probe.{name}.{key}"),
                    complaint.remedy("remove the probe, or use solver = \"wcsph\", whose walls bear pressure"),
                );
            }
        }
    }
}

/// Fills in keys that a section omits, except the stiffness.
pub(super) fn complete(section: &mut FluidSection) {
    section.state = Some(Word(StateLaw::Linear));
    section.initial_pressure = Some(Word(InitialPressure::None));
    section.artificial_viscosity.get_or_insert_default();
    section.density_diffusion.get_or_insert_default();
    section.xsph.get_or_insert(Quantity::new(DEFAULT_XSPH));
    section.restitution.get_or_insert(Quantity::new(DEFAULT_RESTITUTION));
}

/// Fills in the stiffness of sections that omit it, from the largest expected speed.
pub(super) fn complete_stiffness(file: &mut SceneFile, fastest: f64) {
    let root = ROOT_OVER_FLOW * fastest;
    for section in file.fluid.values_mut().filter(|_| root > 0.0) {
        section.stiffness.get_or_insert(Quantity::new(root * root));
    }
}

/// Fills in omitted keys of the springs to bodies if fluids act on bodies; otherwise notes that the keys have no effect.
pub(super) fn complete_springs(file: &mut SceneFile, shared: &Shared, feels: bool, findings: &mut CheckState) {
    for (name, section) in &mut file.fluid {
        let given = [
            ("body_stiffness", section.body_stiffness.is_some()),
            ("body_restitution", section.body_restitution.is_some()),
        ];
        let idle = given.into_iter().filter(|(_, is_given)| *is_given && !feels);
        let notes = idle.map(|(key, _)| format!("fluid.{name}.{key} has no effect: no grains have displaces_fluid = true"));
        findings.notices.extend(notes);
        if let Some(stiffness) = section.stiffness.filter(|_| feels) {
            let usual = SPRING_OF_FLUID * section.density.si * stiffness.si * shared.spacing;
            section.body_stiffness.get_or_insert(Quantity::new(usual));
            section.body_restitution.get_or_insert(Quantity::new(DEFAULT_BODY_RESTITUTION));
        }
    }
}

fn vector([x, y, z]: Vec3) -> Vector3<f64> {
    Vector3 { x, y, z }
}

/// Distance of a position outside of a round wall – for a cylinder or cone from its mantle – and inside its ends \[m\]; `None` for other walls.
fn outside(shape: &WallShape, place: Vec3) -> Option<(f64, f64)> {
    let place = vector(place);
    let beside = match shape {
        WallShape::Round(frusta) => {
            let Frustum { base, axis, height, radii } = frusta.first()?;
            let sizes = vector([*height, radii[0], radii[1]]);
            beside_frustum::<f64>(&place, &vector(*base), &vector(*axis), &sizes)
        }
        WallShape::Sphere { center, radius } => beside_sphere::<f64>(&place, &vector(*center), *radius),
        WallShape::Plane { .. } | WallShape::Mesh(_) => return None,
    };
    Some((beside.distance, beside.within))
}

/// Whether most of the fluid that starts between the ends of a round wall, or of all fluid if there is none, is inside.
fn is_inside(shape: &WallShape, particles: &Particles) -> bool {
    let votes = |all: bool| {
        let seen = particles.position.iter().filter_map(|place| outside(shape, *place));
        let counted = seen.filter(|(_, within)| all || *within >= 0.0);
        counted.fold([0u64; 2], |[inside, outside], (distance, _)| {
            let is_in = u64::from(distance < 0.0);
            [inside + is_in, outside + 1 - is_in]
        })
    };
    let near = votes(false);
    let [inside, outside] = if near == [0, 0] { votes(true) } else { near };
    inside > outside
}

/// For each round wall of the world, whether fluids are inside. Reports fluid that starts behind a wall, or behind these surfaces of meshes.
pub(super) fn inside(
    file: &SceneFile,
    world: &World,
    plan: &Plan,
    (particles, shared): (&Particles, &Shared),
    meshes: &[Surface],
    findings: &mut CheckState,
) -> Vec<bool> {
    let inside: Vec<bool> = world.walls.iter().map(|wall| is_inside(&wall.shape, particles)).collect();
    let (slack, support) = (ROUNDING * shared.spacing, shared.support * shared.spacing);
    let is_there = |wall: usize| {
        let is_it = |thing: &StageItem| matches!(thing, StageItem::Walls(walls) if walls.contains(&wall));
        !plan.absent.iter().any(is_it)
    };
    let is_behind = |wall: usize, place: Vec3| match &world.walls[wall].shape {
        WallShape::Plane { point, normal } => vector(place).minus(&vector(*point)).dot(&vector(*normal)) < -slack,
        shape => outside(shape, place).is_some_and(|(distance, within)| {
            let depth = if inside[wall] { distance } else { -distance };
            // Other fluid may be far outside a vessel with fluid, unless the vessel has no end.
            let is_elsewhere = inside[wall] && depth >= support && !matches!(shape, WallShape::Sphere { .. });
            depth > slack && within >= 0.0 && !is_elsewhere
        }),
    };
    for (place, kind) in particles.position.iter().zip(&particles.kind) {
        let behind_mesh = || {
            let mut there = meshes.iter().filter(|mesh| is_there(mesh.wall as usize));
            Some(there.find(|mesh| mesh.depth(DVec3::from(*place)) > slack)?.wall as usize)
        };
        let behind = (0..world.walls.len()).find(|&wall| is_there(wall) && is_behind(wall, *place));
        let behind = behind.or_else(behind_mesh);
        let (Some(wall), Some(name)) = (behind, file.fluid.keys().nth(*kind as usize)) else {
            continue;
        };
        let complaint = UnlocatedDiagnostic::new(format!(
            "fluid.{name}: its particle at {place:?} m is behind wall.{}",
            world.walls[wall].name
        ));
        findings.add(
            &format!("fluid.{name}.fill"),
            complaint
                .limit("one side of a wall: of a plane that to which its normal points, of others that of most of the fluid")
                .remedy("fill a region that ends at the wall, or move the wall"),
        );
        break;
    }
    inside
}
