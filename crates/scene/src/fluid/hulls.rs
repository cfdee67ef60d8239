//! Hulls of bodies: the particles, or with Müller's solver the spheres, with which fluids feel them, and the room that these take. Small grains that
//! fluids carry have one, and take no room.

use super::{
    AXES, Shared,
    across::leaves_plane,
    cells::{Cells, ROUNDING},
    cut::kept,
};
use crate::{
    assemble::Findings,
    diagnostics::Complaint,
    fill::{Mesh, refuse_too_many_of},
    outline::Outlines,
    schema::SceneFile,
    stage::{Act, Stage},
    words::Word,
};
use glam::{DQuat, DVec3};
use seixo_engine::{
    Melting,
    world::{Body, Hull, LARGEST_SUSPENDED, Particles, Solver, Triangle, Vec3, World},
};
use std::collections::{BTreeMap, HashMap, btree_map::Entry};

/// How near the surface of a body a particle of a fluid may start \[spacings\]: what is nearer moves away from it. Beside a lattice that goes on in
/// the body it is half a spacing away.
const NEAREST: f64 = 0.25;
/// By how much more than a whole number of spacings wide a body may be for as many cells \[spacings\]: they are a quarter wider at most.
const WIDER: f64 = 0.2;
/// How often cells at a surface are halved, in space and in a plane: volumes are then right to a thousandth.
const HALVINGS: [u32; 2] = [3, 4];
/// How much of the volume of a particle of fluid the largest of a body has at least.
const LEAST: f64 = 0.5;
/// How far beyond a surface a place is looked at that tells whether the surface is one \[spacings\].
const BEYOND: f64 = 1e-3;

/// What a body fills, in the frame of its principal axes.
enum Form {
    /// A closed mesh, whose parts may overlap.
    Mesh {
        triangles: Vec<Triangle>,
        inside: Mesh,
        overlaps: bool,
    },
    /// Spheres together: centers and radii \[m\].
    Spheres(Vec<(DVec3, f64)>),
}

impl Form {
    fn of(body: &Body, radii: &HashMap<u32, f64>, outline: Option<&[Triangle]>) -> Form {
        let spheres: Vec<(DVec3, f64)> = body.carries.iter().map(|(id, at)| (DVec3::from(*at), radii[id])).collect();
        let reach = spheres.iter().map(|(at, radius)| at.length() + radius).fold(0.0, f64::max);
        let triangles = outline.map(|outline| {
            let scaled = |triangle: &Triangle| triangle.map(|corner| corner.map(|x| x * reach));
            outline.iter().map(scaled).collect::<Vec<Triangle>>()
        });
        let mesh = triangles.and_then(|triangles| Some((Mesh::new(&triangles, DVec3::ZERO).ok()?, triangles)));
        match mesh {
            Some((inside, triangles)) => Form::Mesh {
                overlaps: inside.overlaps_itself(),
                triangles,
                inside,
            },
            None => Form::Spheres(spheres),
        }
    }

    /// How deep inside a place is, negative outside \[m\], as far as it is less than `reach` either way.
    fn depth(&self, at: DVec3, reach: f64, spacing: f64) -> f64 {
        self.surface(at, reach, spacing).0
    }

    /// How deep inside a place is, as [`Form::depth`] says, and the direction from the nearest place of the surface to it; zero where none is near.
    fn surface(&self, at: DVec3, reach: f64, spacing: f64) -> (f64, DVec3) {
        match self {
            Form::Spheres(spheres) => {
                let depths = spheres.iter().map(|(center, radius)| (radius - center.distance(at), at - center));
                let (depth, away) = depths.fold((f64::NEG_INFINITY, DVec3::ZERO), |a, b| if b.0 > a.0 { b } else { a });
                (depth, away.normalize_or_zero())
            }
            Form::Mesh { inside, overlaps, .. } => {
                let is_inside = |at: DVec3| inside.is_inside(at).unwrap_or(true);
                let is_within = is_inside(at);
                let mut near: Vec<(f64, DVec3)> = Vec::new();
                inside.visit_near(at, reach, |distance, away| near.push((distance, away)));
                // Where closed parts overlap, some of their surfaces are inside.
                let is_end = |distance: f64, away: DVec3| !overlaps || is_inside(at - away * (distance + BEYOND * spacing)) != is_within;
                near.sort_by(|a, b| a.0.total_cmp(&b.0));
                let end = near.iter().find(|(distance, away)| is_end(*distance, *away));
                let (distance, away) = end.map_or((reach, DVec3::ZERO), |end| *end);
                (if is_within { distance } else { -distance }, away)
            }
        }
    }

    /// Centers and radii of its spheres \[m\]; of a mesh there are none.
    fn spheres(&self) -> &[(DVec3, f64)] {
        match self {
            Form::Mesh { .. } => &[],
            Form::Spheres(spheres) => spheres,
        }
    }

    /// The middles of its spheres, if fluid looks far enough to touch each.
    fn middles(&self, shared: &Shared) -> Result<Vec<Vec3>, Complaint> {
        let largest = shared.support * shared.spacing - 0.5 * shared.spacing;
        match self.spheres().iter().find(|(_, radius)| *radius > largest * (1.0 + 1e-9)) {
            Some((_, radius)) => Err(too_large(*radius, largest)),
            None => Ok(self.spheres().iter().map(|(center, _)| center.to_array()).collect()),
        }
    }

    /// Corners of the box around it \[m\].
    fn bounds(&self) -> [DVec3; 2] {
        let mut bounds = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let mut take_in = |low: DVec3, high: DVec3| bounds = [bounds[0].min(low), bounds[1].max(high)];
        match self {
            Form::Mesh { triangles, .. } => {
                let corners = triangles.iter().flatten().map(|corner| DVec3::from(*corner));
                corners.for_each(|corner| take_in(corner, corner));
            }
            Form::Spheres(spheres) => {
                for (center, radius) in spheres {
                    take_in(*center - *radius, *center + *radius);
                }
            }
        }
        bounds
    }

    /// Places and volumes of particles that fill it as deep as fluids see: of cells that go into the box around it evenly.
    fn portions(&self, shared: &Shared) -> Result<(Vec<Vec3>, Vec<f64>), Complaint> {
        let spacing = shared.spacing;
        let (cells, counts) = self.cells(spacing, shared.across)?;
        let depth = |at: DVec3, reach: f64| self.depth(at, reach, spacing);
        let deepest = (shared.support - 1e-9).ceil() * spacing * (1.0 + ROUNDING);
        let is_seen = |cell: &[i64; 3]| depth(cells.middle(*cell), 1.5 * deepest) <= deepest;
        let portions = cells.portions(each(counts).filter(is_seen), &depth);
        let enough = LEAST * shared.volume() * (1.0 - ROUNDING);
        if portions.iter().all(|portion| portion.volume < enough) {
            return Err(too_thin());
        }
        Ok(portions.iter().map(|portion| (portion.place.to_array(), portion.volume)).unzip())
    }

    /// A lattice of cells that fills the box around it evenly, and how many cells that are along the axes.
    fn cells(&self, spacing: f64, across: Option<usize>) -> Result<(Cells, [i64; 3]), Complaint> {
        let [low, high] = self.bounds();
        let mut counts = ((high - low) / spacing - WIDER).ceil().max(DVec3::ONE);
        if let Some(axis) = across {
            counts[axis] = 1.0;
        }
        refuse_too_many_of(
            "particles of bodies",
            counts.element_product(),
            "use a larger spacing, or smaller bodies",
        )?;
        let cells = Cells {
            corner: low,
            step: (high - low) / counts,
            across,
            halvings: HALVINGS[usize::from(across.is_some())],
        };
        Ok((cells, counts.to_array().map(|count| count as i64)))
    }

    /// Where particles have room if all of it becomes fluid: on a lattice about the middle of the box around it.
    fn room(&self, spacing: f64) -> Result<Vec<DVec3>, Complaint> {
        let [low, high] = self.bounds();
        let counts = ((high - low) / spacing - ROUNDING).ceil().max(DVec3::ONE);
        refuse_too_many_of(
            "particles of bodies",
            counts.element_product(),
            "use a larger spacing, or smaller bodies",
        )?;
        let cells = Cells {
            corner: 0.5 * (low + high - counts * spacing),
            step: DVec3::splat(spacing),
            across: None,
            halvings: 0,
        };
        let sites = each(counts.to_array().map(|count| count as i64)).map(|cell| cells.middle(cell));
        let sites: Vec<DVec3> = sites.filter(|at| self.depth(*at, spacing, spacing) > 0.0).collect();
        if sites.is_empty() { Err(too_thin()) } else { Ok(sites) }
    }
}

/// All cells of a block of so many, along x first, then y, then z.
fn each([along_x, along_y, along_z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (0..along_z).flat_map(move |z| (0..along_y).flat_map(move |y| (0..along_x).map(move |x| [x, y, z])))
}

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
                let form = Form::of(body, &radii, outline);
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

/// What is wrong with a body in which no particle of a hull has room.
fn too_thin() -> Complaint {
    Complaint::new("a body has no room for a particle that fluids could feel")
        .limit("bodies that fill half of a cube of a spacing at least")
        .remedy("use a smaller spacing, or leave displaces_fluid out")
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

/// What is wrong with a sphere that fluid does not see the whole of.
fn too_large(radius: f64, largest: f64) -> Complaint {
    Complaint::new(format!(
        "a sphere with a radius of {radius} m is larger than particles of solver = \"muller2003\" see, which touch it as spheres of half a spacing"
    ))
    .limit(format!("radii of at most {largest:.4e} m, the fluid's support less half a spacing"))
    .remedy("make the body of finer spheres, by a `shape`, or give the fluid a larger `support`; or use solver = \"wcsph\"")
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
                Entry::Vacant(entry) => match Form::of(body, &radii, outlines.of_group(group)).room(fluids.spacing) {
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
