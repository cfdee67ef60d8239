//! Hulls of bodies: the particles, or with Müller's solver the spheres, with which fluids feel them, and the room that these take. Small grains that
//! fluids carry have one, and take no room.

use super::{AXES, Shared, across::leaves_plane, cells::ROUNDING, cut::kept, form::Form};
use crate::{
    assemble::Findings,
    diagnostics::Complaint,
    outline::Outlines,
    schema::SceneFile,
    stage::{Act, Stage},
    words::Word,
};
use glam::{DQuat, DVec3};
use seixo_engine::{
    Melting,
    world::{Body, Hull, LARGEST_SUSPENDED, Particles, Solver, Vec3, World},
};
use std::collections::{BTreeMap, HashMap, btree_map::Entry};

/// How near the surface of a body a particle of a fluid may start \[spacings\]: what is nearer moves away from it. Beside a lattice that goes on in
/// the body it is half a spacing away.
const NEAREST: f64 = 0.25;

/// What a body fills, and what fluids feel of it.
struct Felt {
    form: Form,
    /// Places of its particles \[m\].
    offset: Vec<Vec3>,
    /// What they stand for \[m³\], in a plane \[m²\]; empty of spheres that are felt as such.
    volume: Vec<f64>,
}

/// The hulls of all bodies of sections that displace fluids, and of all grains that fluids carry.
pub(super) fn hulls(
    file: &SceneFile,
    world: &World,
    outlines: &Outlines,
    shared: &Shared,
    particles: &mut Particles,
    findings: &mut Findings,
) -> Vec<Hull> {
    let sections: Vec<_> = file.grains.iter().collect();
    let known: HashMap<u32, usize> = world.grains.id.iter().copied().zip(0..).collect();
    let radii: HashMap<u32, f64> = world.grains.id.iter().copied().zip(world.grains.radius.iter().copied()).collect();
    let mut forms: BTreeMap<(u32, u64), Felt> = BTreeMap::new();
    let (mut hulls, mut room) = (Vec::new(), Vec::new());
    for body in &world.grains.bodies {
        let Some(&(first, offset)) = body.carries.first() else { continue };
        let group = world.grains.group[known[&first]];
        let (name, section) = sections[group as usize];
        if section.carried_by_fluid {
            match carried(shared, radii[&first]) {
                Ok(radius) => hulls.push(Hull {
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
        if let Some(complaint) = shared.across.and_then(|axis| beside_plane(body, axis)) {
            findings.add(&path, complaint.within(&format!("grains.{name}")));
            return Vec::new();
        }
        // Bodies of a section differ in size alone, and those that are held are one of a kind.
        let size = DVec3::from(offset).length() + radii[&first];
        let key = (group, size.to_bits());
        let entry = match forms.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let outline = outlines.of_group(group).filter(|_| !shared.is_muller());
                let form = Form::of(body, &radii, outline, shared.across);
                let felt = if shared.is_muller() {
                    form.middles(shared).map(|offset| (offset, Vec::new()))
                } else {
                    form.portions(shared)
                };
                match felt {
                    Ok((offset, volume)) => entry.insert(Felt { form, offset, volume }),
                    Err(complaint) => {
                        findings.add(&path, complaint.within(&format!("grains.{name}")));
                        return Vec::new();
                    }
                }
            }
        };
        let felt = &*entry;
        let spheres = if shared.is_muller() { felt.form.spheres() } else { &[] };
        room.push((body, key));
        hulls.push(Hull {
            body: body.id,
            offset: felt.offset.clone(),
            radius: spheres.iter().map(|(_, radius)| *radius).collect(),
            volume: felt.volume.clone(),
            slips: false,
            suspended: None,
        });
    }
    make_room(&room, &forms, shared, particles, findings);
    hulls
}

/// The radius of a grain that is carried \[m\], if such fluids carry such grains.
fn carried(shared: &Shared, radius: f64) -> Result<f64, Complaint> {
    if shared.across.is_some() {
        return Err(Complaint::new("grains are spheres in space, and the fluid flows in a plane").remedy("leave `plane` out"));
    }
    if shared.solver != Solver::WeaklyCompressible {
        let word = Word(shared.solver).text();
        return Err(
            Complaint::new(format!("a fluid of solver = \"{word}\" does not carry small grains yet")).remedy("use solver = \"wcsph\""),
        );
    }
    let largest = LARGEST_SUSPENDED * shared.support * shared.spacing;
    if radius > largest * (1.0 + 1e-9) {
        let complaint = Complaint::new(format!(
            "a grain with a radius of {radius} m is too large to be carried by a fluid that flows through it"
        ));
        return Err(complaint
            .limit(format!("a radius of at most {largest:.4e} m, a quarter of the fluid's support"))
            .remedy("use a larger spacing; or write displaces_fluid = true for what is thicker than some spacings, or use a smaller spacing for that"));
    }
    Ok(radius)
}

/// What is wrong with a body that is not in the plane across an axis in which fluids flow, or does not stay in it.
fn beside_plane(body: &Body, axis: usize) -> Option<Complaint> {
    let by_motion = || leaves_plane(body.motion.as_ref()?, axis);
    let what = body.leaves_plane(axis, 0.0).or_else(by_motion)?;
    let along = AXES[axis];
    let complaint = Complaint::new(format!(
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

/// A body where it starts.
struct Placed<'a> {
    form: &'a Form,
    turn: DQuat,
    center: DVec3,
    /// The sphere about its center that holds it \[m\].
    reach: f64,
}

impl Placed<'_> {
    /// How deep in it a place is \[m\], and the direction from the nearest place of its surface, if it is in the body or nearer than this \[m\].
    fn near(&self, at: DVec3, margin: f64, spacing: f64) -> Option<(f64, DVec3)> {
        if at.distance(self.center) >= self.reach + margin {
            return None;
        }
        let (depth, away) = self.form.surface(self.turn.inverse() * (at - self.center), margin, spacing);
        (depth > -margin).then(|| (depth, self.turn * away))
    }
}

/// Takes fluid away that starts where bodies are, and moves what starts too near to one; ids count what stays. As many particles go as a body has
/// room for: without a free surface there would be a gap around it, or a pressure.
fn make_room(
    room: &[(&Body, (u32, u64))],
    forms: &BTreeMap<(u32, u64), Felt>,
    shared: &Shared,
    particles: &mut Particles,
    findings: &mut Findings,
) {
    if room.is_empty() {
        return;
    }
    let spacing = shared.spacing;
    // Spheres that particles touch have those half a spacing away from the start.
    let (near, taken) = if shared.is_muller() { (0.5, -0.5) } else { (NEAREST, 0.0) };
    let margin = near * spacing * (1.0 - ROUNDING);
    let taken = (taken - ROUNDING) * spacing;
    let placed = room.iter().map(|(body, key)| {
        let form = &forms[key].form;
        let [w, x, y, z] = body.orientation;
        let [low, high] = form.bounds();
        Placed {
            form,
            turn: DQuat::from_xyzw(x, y, z, w),
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
        // Between two bodies there may be no room.
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

/// Difference of masses that is told.
const TOLD: f64 = 0.05;

/// Finds out how the bodies that stages melt do so: into which fluid, and where its particles have room.
pub(crate) fn melting(file: &SceneFile, world: &World, outlines: &Outlines, stages: &mut [Stage], findings: &mut Findings) {
    let Some(fluids) = &world.fluids else { return };
    let sections: Vec<_> = file.grains.iter().collect();
    let known: HashMap<u32, usize> = world.grains.id.iter().copied().zip(0..).collect();
    let radii: HashMap<u32, f64> = world.grains.id.iter().copied().zip(world.grains.radius.iter().copied()).collect();
    for act in stages.iter_mut().flat_map(|stage| stage.acts.iter_mut()) {
        let Act::Melt(group, melting) = act else { continue };
        let group = *group;
        let (name, section) = sections[group as usize];
        let path = format!("grains.{name}.melts_into");
        let told = |complaint: Complaint| complaint.within(&format!("grains.{name}"));
        if fluids.solver != Solver::WeaklyCompressible {
            let complaint = Complaint::new("bodies melt into compressible fluids alone");
            findings.add(&path, told(complaint.remedy("use solver = \"wcsph\", or let nothing melt")));
            return;
        }
        if fluids.across.is_some() {
            let complaint = Complaint::new("bodies melt into fluids that flow in space alone");
            findings.add(&path, told(complaint.remedy("leave `plane` out, or let nothing melt")));
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
            // As of hulls, those of a section differ in size alone.
            let size = DVec3::from(offset).length() + radii[&first];
            let sites = match rooms.entry(size.to_bits()) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => match Form::of(body, &radii, outlines.of_group(group), None).room(fluids.spacing) {
                    Ok(room) => entry.insert(room.iter().map(|site| site.to_array()).collect()),
                    Err(complaint) => {
                        findings.add(&path, told(complaint));
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
        if (of_fluid - of_bodies).abs() > TOLD * of_bodies {
            findings.notices.push(format!(
                "grains.{name}: {of_bodies:.4e} kg will melt into {of_fluid:.4e} kg of {into}, which is what whole particles come to that have room"
            ));
        }
    }
}
