//! Body boundary particles: the particles, or spheres with Müller's solver, through which fluids act on bodies, and the space that these fill. Small
//! suspended grains have one, which fills no space.

use super::{AXES, Shared, cells::ROUNDING, cut::kept, form::Form, plane_flow::leaves_plane};
use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    outline::Outlines,
    schema::SceneFile,
    stage::{Stage, StageAction},
    vocabulary::Word,
};
use glam::{DQuat, DVec3};
use seixo_engine::{
    Melting,
    world::{Body, BodyBoundary, LARGEST_SUSPENDED, Particles, Solver, Vec3, World},
};
use std::collections::{BTreeMap, HashMap, btree_map::Entry};

/// Smallest distance between the surface of a body and a fluid particle at the start \[spacings\]; closer particles are moved away. Fluid particles
/// on a lattice that continues in the body are half a spacing away.
const NEAREST: f64 = 0.25;

/// Space that a body fills, and its boundary particles.
struct BodyOccupancy {
    form: Form,
    /// Positions of its boundary particles \[m\].
    offset: Vec<Vec3>,
    /// Their volumes \[m³\], in a plane flow areas \[m²\]; empty for spheres.
    volume: Vec<f64>,
}

/// The boundary particles of all bodies of sections that displace fluids, and of all suspended grains.
pub(super) fn body_boundaries(
    file: &SceneFile,
    world: &World,
    outlines: &Outlines,
    shared: &Shared,
    particles: &mut Particles,
    findings: &mut CheckState,
) -> Vec<BodyBoundary> {
    let sections: Vec<_> = file.grains.iter().collect();
    let known: HashMap<u32, usize> = world.grains.id.iter().copied().zip(0..).collect();
    let radii: HashMap<u32, f64> = world.grains.id.iter().copied().zip(world.grains.radius.iter().copied()).collect();
    let mut forms: BTreeMap<(u32, u64), BodyOccupancy> = BTreeMap::new();
    let (mut body_boundaries, mut room) = (Vec::new(), Vec::new());
    for body in &world.grains.bodies {
        let Some(&(first, offset)) = body.carries.first() else { continue };
        let group = world.grains.group[known[&first]];
        let (name, section) = sections[group as usize];
        if section.carried_by_fluid {
            match carried(shared, radii[&first]) {
                Ok(radius) => body_boundaries.push(BodyBoundary {
                    body: body.id,
                    offset: vec![[0.0; 3]],
                    slips: false,
                    suspended: Some(radius),
                    radius: Vec::new(),
                    volume: Vec::new(),
                }),
                Err(complaint) => {
                    findings.add(
                        &format!("grains.{name}.carried_by_fluid"),
                        complaint.within(&format!("grains.{name}")),
                    );
                    return Vec::new();
                }
            }
        }
        if !section.displaces_fluid {
            continue;
        }
        let path = format!("grains.{name}.displaces_fluid");
        let is_polyhedral = world.grains.shape.get(known[&first]).is_some_and(|&shape| shape > 0);
        let misplaced = || shared.across.and_then(|axis| beside_plane(body, axis));
        if let Some(complaint) = is_polyhedral.then(|| polyhedron_in(shared)).flatten().or_else(misplaced) {
            findings.add(&path, complaint.within(&format!("grains.{name}")));
            return Vec::new();
        }
        // Bodies of a section differ only in size; those with a prescribed motion are all equal.
        let size = DVec3::from(offset).length() + radii[&first];
        let key = (group, size.to_bits());
        let entry = match forms.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let outline = outlines.of_group(group).filter(|_| !shared.is_muller());
                let form = Form::of(body, &radii, outline, shared.across);
                let coupled = if is_polyhedral && !form.spheres().is_empty() {
                    Err(open_polyhedron())
                } else if shared.is_muller() {
                    form.middles(shared).map(|offset| (offset, Vec::new()))
                } else {
                    form.portions(shared)
                };
                match coupled {
                    Ok((offset, volume)) => entry.insert(BodyOccupancy { form, offset, volume }),
                    Err(complaint) => {
                        findings.add(&path, complaint.within(&format!("grains.{name}")));
                        return Vec::new();
                    }
                }
            }
        };
        let coupled = &*entry;
        let spheres = if shared.is_muller() { coupled.form.spheres() } else { &[] };
        room.push((body, key));
        body_boundaries.push(BodyBoundary {
            body: body.id,
            offset: coupled.offset.clone(),
            radius: spheres.iter().map(|(_, radius)| *radius).collect(),
            volume: coupled.volume.clone(),
            slips: false,
            suspended: None,
        });
    }
    make_room(&room, &forms, shared, particles, findings);
    body_boundaries
}

/// The radius of a suspended grain \[m\], if such fluids can carry such grains.
fn carried(shared: &Shared, radius: f64) -> Result<f64, UnlocatedDiagnostic> {
    if shared.across.is_some() {
        return Err(UnlocatedDiagnostic::new("grains are spheres in space, and the fluid flows in a plane").remedy("leave `plane` out"));
    }
    if shared.solver != Solver::WeaklyCompressible {
        let word = Word(shared.solver).text();
        return Err(
            UnlocatedDiagnostic::new(format!("a fluid of solver = \"{word}\" does not carry small grains yet"))
                .remedy("use solver = \"wcsph\""),
        );
    }
    let largest = LARGEST_SUSPENDED * shared.support * shared.spacing;
    if radius > largest * (1.0 + 1e-9) {
        let complaint = UnlocatedDiagnostic::new(format!(
            "a grain with a radius of {radius} m is too large to be carried by a fluid that flows through it"
        ));
        return Err(complaint
            .limit(format!("a radius of at most {largest:.4e} m, a quarter of the fluid's support"))
            .remedy("use a larger spacing; or write displaces_fluid = true for what is thicker than some spacings, or use a smaller spacing for that"));
    }
    Ok(radius)
}

/// The error for polyhedral grains in fluids that flow around them only as around spheres, or in a plane.
fn polyhedron_in(shared: &Shared) -> Option<UnlocatedDiagnostic> {
    let (what, remedy) = if shared.is_muller() {
        (
            "a fluid of solver = \"muller2003\" touches the spheres of bodies, and polyhedral grains have none",
            "use solver = \"wcsph\" or \"dfsph\", or a clump: a shape of spheres, without `kind`",
        )
    } else if shared.across.is_some() {
        (
            "polyhedral grains are bodies in space, and the fluid flows in a plane",
            "leave `plane` out, or use a clump: a shape of spheres, without `kind`",
        )
    } else {
        return None;
    };
    Some(UnlocatedDiagnostic::new(what).remedy(remedy))
}

/// The error for a polyhedral grain whose surface is not closed.
fn open_polyhedron() -> UnlocatedDiagnostic {
    UnlocatedDiagnostic::new("the surface of the polyhedron is not closed, so its inside is unknown to fluids")
        .remedy("use a larger `rounding`, or `faces` with a smaller number")
}

/// The error for a body that is outside the plane of the flow, or leaves it.
fn beside_plane(body: &Body, axis: usize) -> Option<UnlocatedDiagnostic> {
    let by_motion = || leaves_plane(body.motion.as_ref()?, axis);
    let what = body.leaves_plane(axis, 0.0).or_else(by_motion)?;
    let along = AXES[axis];
    let complaint = UnlocatedDiagnostic::new(format!(
        "a body is not in the plane in which fluids flow, or leaves it, by its {what}"
    ));
    Some(
        complaint
            .limit(format!(
                "all spheres at {along} = 0, and motion with nothing along {along}, turning about {along}"
            ))
            .remedy("put it there, or choose another `plane`"),
    )
}

/// A body at its initial position.
struct Placed<'a> {
    form: &'a Form,
    orientation: DQuat,
    center: DVec3,
    /// Radius of the bounding sphere about its center \[m\].
    reach: f64,
}

impl Placed<'_> {
    /// Depth of a position in the body \[m\], and the direction from the nearest point of its surface, if it is inside or nearer than this \[m\].
    fn near(&self, at: DVec3, margin: f64, spacing: f64) -> Option<(f64, DVec3)> {
        if at.distance(self.center) >= self.reach + margin {
            return None;
        }
        let (depth, away) = self.form.surface(self.orientation.inverse() * (at - self.center), margin, spacing);
        (depth > -margin).then(|| (depth, self.orientation * away))
    }
}

/// Removes fluid that starts inside bodies, and moves particles that start too near to one; ids count the remaining ones. As many particles are
/// removed as fit into the body: otherwise a flow without a free surface would have a gap around it, or a pressure.
fn make_room(
    room: &[(&Body, (u32, u64))],
    forms: &BTreeMap<(u32, u64), BodyOccupancy>,
    shared: &Shared,
    particles: &mut Particles,
    findings: &mut CheckState,
) {
    if room.is_empty() {
        return;
    }
    let spacing = shared.spacing;
    // Spheres with which particles collide need half a spacing of distance from the start.
    let (near, taken) = if shared.is_muller() { (0.5, -0.5) } else { (NEAREST, 0.0) };
    let margin = near * spacing * (1.0 - ROUNDING);
    let taken = (taken - ROUNDING) * spacing;
    let placed = room.iter().map(|(body, key)| {
        let form = &forms[key].form;
        let [w, x, y, z] = body.orientation;
        let [low, high] = form.bounds();
        Placed {
            form,
            orientation: DQuat::from_xyzw(x, y, z, w),
            center: body.center.into(),
            reach: low.abs().max(high.abs()).length(),
        }
    });
    let bodies: Vec<Placed> = placed.collect();
    let beside = |at: DVec3| -> Option<DVec3> {
        let mut moved = at;
        for body in &bodies {
            let Some((depth, away)) = body.near(at, margin, spacing) else {
                continue;
            };
            if depth > taken {
                return None;
            }
            moved += away * (margin + depth);
        }
        if let Some(axis) = shared.across {
            moved[axis] = at[axis];
        }
        // Two bodies may leave no space between them.
        let is_free = |body: &Placed| body.near(moved, margin * (1.0 - 1e-6), spacing).is_none();
        (moved == at || bodies.iter().all(is_free)).then_some(moved)
    };
    let mut order = Vec::new();
    for k in 0..particles.len() {
        if let Some(place) = beside(particles.position[k].into()) {
            particles.position[k] = place.to_array();
            order.push(k);
        }
    }
    let gone = particles.len() - order.len();
    if gone > 0 {
        findings.notices.push(format!(
            "bodies take the room of {gone} particles of fluid, {:.4e} m³; the level at the start is that of the fill",
            gone as f64 * shared.volume()
        ));
    }
    *particles = kept(particles, &order);
}

/// Difference of masses above which the user gets a note.
const REPORTED_DIFFERENCE: f64 = 0.05;

/// Determines how the bodies that stages melt do so: the fluid, and the positions of its particles.
pub(crate) fn melting(file: &SceneFile, world: &World, outlines: &Outlines, stages: &mut [Stage], findings: &mut CheckState) {
    let Some(fluids) = &world.fluids else { return };
    let sections: Vec<_> = file.grains.iter().collect();
    let known: HashMap<u32, usize> = world.grains.id.iter().copied().zip(0..).collect();
    let radii: HashMap<u32, f64> = world.grains.id.iter().copied().zip(world.grains.radius.iter().copied()).collect();
    for act in stages.iter_mut().flat_map(|stage| stage.actions.iter_mut()) {
        let StageAction::Melt(group, melting) = act else { continue };
        let group = *group;
        let (name, section) = sections[group as usize];
        let path = format!("grains.{name}.melts_into");
        let reported = |complaint: UnlocatedDiagnostic| complaint.within(&format!("grains.{name}"));
        if fluids.solver == Solver::Incompressible {
            let complaint = UnlocatedDiagnostic::new(
                "bodies do not melt into fluids of solver = \"dfsph\": its pressures drive particles that start too near to others apart at the rate of the longest step, and they keep that velocity",
            );
            findings.add(
                &path,
                reported(complaint.remedy("use solver = \"wcsph\" or \"muller2003\", or let nothing melt")),
            );
            return;
        }
        if fluids.across.is_some() {
            let complaint = UnlocatedDiagnostic::new("bodies melt into fluids that flow in space alone");
            findings.add(&path, reported(complaint.remedy("leave `plane` out, or let nothing melt")));
            return;
        }
        let into = section.melts_into.as_deref().unwrap_or_default();
        let Some(fluid) = file.fluid.keys().position(|fluid| fluid == into) else {
            continue;
        };
        let of_particle = fluids.kinds[fluid].density * fluids.volume();
        let mut rooms: BTreeMap<u64, Vec<Vec3>> = BTreeMap::new();
        let mut masses = [0.0; 2];
        for body in &world.grains.bodies {
            let Some(&(first, offset)) = body.carries.first() else { continue };
            if world.grains.group[known[&first]] != group {
                continue;
            }
            // Bodies of a section differ only in size.
            let size = DVec3::from(offset).length() + radii[&first];
            let sites = match rooms.entry(size.to_bits()) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => match Form::of(body, &radii, outlines.of_group(group), None).room(fluids.spacing) {
                    Ok(room) => entry.insert(room.iter().map(|site| site.to_array()).collect()),
                    Err(complaint) => {
                        findings.add(&path, reported(complaint));
                        return;
                    }
                },
            };
            let one = Melting {
                body: body.id,
                fluid: fluid as u32,
                sites: sites.clone(),
            };
            masses[0] += body.mass;
            masses[1] += one.particles(body.mass, of_particle) as f64 * of_particle;
            melting.push(one);
        }
        let [of_bodies, of_fluid] = masses;
        if (of_fluid - of_bodies).abs() > REPORTED_DIFFERENCE * of_bodies {
            findings.notices.push(format!(
                "grains.{name}: {of_bodies:.4e} kg will melt into {of_fluid:.4e} kg of {into}, which is what whole particles come to that have room"
            ));
        }
    }
}
