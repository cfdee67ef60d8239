//! Grains of all sections, gathered into one table and numbered.

use crate::{
    assemble::CheckState,
    blocks::{Block, blocks},
    diagnostics::UnlocatedDiagnostic,
    fill::{ShapeSize, Surroundings, fill, refuse_too_many, si, sphere},
    grain_boundary::{self, Member},
    grain_keys::{refuse_clumps_of_inlet, refuse_couplings_of_polyhedra, refuse_ids_of_clumps, refuse_mass, refuse_to_be_carried},
    interactions::Materials,
    joint,
    outline::Outlines,
    polyhedra::{DrawnPolyhedron, PolyhedronOfInlet, polyhedra},
    quantity::of_time::vector_of_time,
    schema::{GrainsSection, JointSection, SceneFile},
    shape::{self, Placement, Shape},
    shapes_in_use::index_of,
    stage::{check_section, frozen_sections},
    start::{self, Taken},
};
use glam::DQuat;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use seixo_engine::state::{GrainScalar, StartScalars};
use seixo_engine::world::{Body, Domain, ExpectedGrains, Grains, Load, PolyhedralShape, Sphere, Vec3, VectorOfTime, WallMotion};
use seixo_files::grains_in::{self, GrainRow, Limits};
use std::{collections::BTreeMap, collections::BTreeSet, ops::RangeInclusive, path::Path};

/// Random orientations of clumps are drawn from another stream than their positions.
const TURNS: u64 = 0x7465_726e_7321_0001;

/// Tolerance of the size of a clump against that of its mesh, in meters, within which both count as equal.
const ALIKE: RangeInclusive<f64> = 1e-3..=0.1;

/// A grain before it is numbered. There may be very many, so it has nothing else of its row.
struct UnnumberedGrain {
    /// Id, if it comes with one.
    id: Option<u32>,
    position: Vec3,
    velocity: Vec3,
    angular_velocity: Vec3,
    radius: f64,
    /// Mass, if it is given \[kg\].
    mass: Option<f64>,
    /// Whether it has the size in which its shape is defined.
    is_as_drawn: bool,
    material: u32,
    orientation: DQuat,
    scalars: StartScalars,
}

impl GrainsSection {
    /// Scalars with which its grains start.
    pub(crate) fn scalars(&self) -> StartScalars {
        let mut scalars = StartScalars::default();
        scalars[GrainScalar::Temperature] = self.temperature.map(|temperature| temperature.si);
        scalars[GrainScalar::FilmThickness] = self.film_thickness.map(|thickness| thickness.si);
        scalars
    }
}

/// A section whose grains are not numbered yet.
struct Unnumbered<'a> {
    name: &'a str,
    shape: Option<String>,
    /// Whether fluids act on its grains as bodies.
    acts_on_fluid: bool,
    /// Prescribed motion of its grains; none if they move freely.
    motion: Option<WallMotion>,
    /// Joint of its bodies.
    joint: Option<JointSection>,
    loose: Vec<UnnumberedGrain>,
    bodies: Vec<GivenBody>,
    /// Blocks, one for each of its grains; none if it has no solid to cut.
    blocks: Vec<Block>,
}

/// A rigid body of another run, with its spheres and their material.
type GivenBody = (Body, Vec<Sphere>, u32);

/// What the sections of grains give.
pub(crate) struct Gathered {
    /// The grains of all sections in alphabetical order. Ids from files are kept; other grains get the free ids, counted from 0.
    pub grains: Grains,
    /// Meshes of bodies.
    pub outlines: Outlines,
    /// Shapes of polyhedral grains.
    pub shapes: Vec<PolyhedralShape>,
    /// Polyhedra that come through inlets, by the names of their sections.
    pub through_inlets: BTreeMap<String, PolyhedronOfInlet>,
}

/// The grains that are there at the start, and the shapes of those that come later.
pub(crate) fn gather(
    file: &mut SceneFile,
    taken: Option<&Taken>,
    materials: &Materials,
    domain: Option<&Domain>,
    findings: &mut CheckState,
) -> Gathered {
    let (shapes, ball) = (shape::shapes(file, findings), Shape::ball());
    let polyhedra = polyhedra(file, findings);
    let densities: Vec<f64> = file.material.values().map(|section| section.density.si).collect();
    let known: Vec<String> = file.shape.keys().cloned().collect();
    let of_polyhedra = file.shape.iter().filter(|(_, section)| section.is_polyhedron());
    let of_polyhedra: BTreeSet<String> = of_polyhedra.map(|(name, _)| name.clone()).collect();
    let seed = file.run.seed.0;
    let gravity = si(&file.world.gravity);
    let across = file.fluid.values().find_map(|section| section.plane).map(|plane| plane.0.across());
    let (mut sections, mut so_far, mut through_inlet) = (Vec::new(), Vec::new(), Vec::new());
    let frozen = frozen_sections(file);
    let of_sections: Vec<StartScalars> = file.grains.values().map(GrainsSection::scalars).collect();
    for (group, (name, section)) in file.grains.iter_mut().enumerate() {
        if frozen.contains(name) {
            // Their bodies come later.
            if let Err((key, complaint)) = check_section(section, materials) {
                findings.add(&format!("grains.{name}.{key}"), complaint.within(&format!("grains.{name}")));
            }
            sections.push(Unnumbered {
                name: name.as_str(),
                shape: None,
                acts_on_fluid: true,
                motion: None,
                joint: None,
                loose: Vec::new(),
                bodies: Vec::new(),
                blocks: Vec::new(),
            });
            through_inlet.push(false);
            continue;
        }
        if let Some(taken) = taken.filter(|_| !section.has_source()) {
            let motion = start::check_section(section).and_then(|()| grain_boundary::motion(section, findings));
            let motion = motion.unwrap_or_else(|(key, complaint)| {
                findings.add(&format!("grains.{name}.{key}"), complaint.within(&format!("grains.{name}")));
                None
            });
            let (loose, bodies) = of_other_run(taken, group as u32, section);
            so_far.extend(loose.iter().map(|grain| (grain.position, grain.radius)));
            let spheres = bodies
                .iter()
                .flat_map(|(body, spheres, _)| spheres.iter().map(move |sphere| (body.place(sphere.offset), sphere.radius)));
            so_far.extend(spheres);
            sections.push(Unnumbered {
                name: name.as_str(),
                shape: None,
                acts_on_fluid: false,
                motion,
                joint: None,
                loose,
                bodies,
                blocks: Vec::new(),
            });
            through_inlet.push(false);
            continue;
        }
        let shape = section.shape.clone();
        let around = Surroundings {
            seed,
            gravity,
            grains: &so_far,
        };
        let motion = grain_boundary::motion(section, findings);
        let drawn = shape.as_ref().and_then(|name| {
            let of_clump = shapes.get(name).map(Shape::size);
            of_clump.or_else(|| polyhedra.get(name).map(DrawnPolyhedron::size))
        });
        let is_polyhedron = shape.as_ref().is_some_and(|name| of_polyhedra.contains(name));
        let found = motion.and_then(|motion| {
            refuse_clumps_of_inlet(section, is_polyhedron)?;
            refuse_couplings_of_polyhedra(section, is_polyhedron)?;
            if shape.is_some() && drawn.is_none() {
                // Its own error is reported with the shape. Without a size, others would be wrong.
                return Ok((None, Vec::new(), Vec::new()));
            }
            let blocks = blocks(name, section, seed, fnv1a(name))?;
            let loose = loose(name, section, drawn, &around, &blocks, materials, findings)?;
            refuse_ids_of_clumps(section, is_polyhedron, loose.iter().any(|grain| grain.id.is_some()))?;
            Ok((motion, loose, blocks))
        });
        let (motion, loose, blocks) = found.unwrap_or_else(|(key, complaint)| {
            let complaint = complaint.within(&format!("grains.{name}"));
            findings.add(&format!("grains.{name}.{key}"), complaint);
            (None, Vec::new(), Vec::new())
        });
        so_far.extend(loose.iter().map(|grain| (grain.position, grain.radius)));
        sections.push(Unnumbered {
            name: name.as_str(),
            shape,
            acts_on_fluid: section.key_to_fluids().is_some(),
            motion,
            joint: section.joint,
            loose,
            bodies: Vec::new(),
            blocks,
        });
        through_inlet.push(section.inlet.is_some());
    }
    let mut claimed: BTreeMap<u32, &str> = BTreeMap::new();
    for Unnumbered { name, loose, bodies, .. } in &sections {
        let of_bodies = bodies.iter().flat_map(|(_, spheres, _)| spheres).map(|sphere| sphere.id);
        for id in loose.iter().filter_map(|grain| grain.id).chain(of_bodies) {
            if let Some(first) = claimed.insert(id, name) {
                let complaint = UnlocatedDiagnostic::new(format!("grains.{name}: id {id} is already a grain of grains.{first}"));
                findings.add(
                    &format!("grains.{name}.file"),
                    complaint
                        .limit("each id once in a scene")
                        .remedy("give the grains new numbers, or drop the id column"),
                );
                break;
            }
        }
    }
    let mut free = (0_u32..).filter(|id| !claimed.contains_key(id));
    // What some grains have, all need.
    let is_given = |scalar: &GrainScalar| {
        let loose = sections.iter().flat_map(|section| &section.loose);
        let mut all = loose.map(|grain| &grain.scalars).chain(&of_sections);
        all.any(|scalars| scalars[*scalar].is_some())
    };
    let carried: Vec<GrainScalar> = GrainScalar::ALL.into_iter().filter(is_given).collect();
    let (mut grains, mut outlines) = (Grains::default(), Outlines::default());
    let mut used = Vec::<PolyhedralShape>::new();
    let mut through_inlets = BTreeMap::new();
    drop(so_far);
    // Columns that double their room as they grow would take twice the memory.
    grains.reserve(sections.iter().map(|section| section.loose.len()).sum());
    for (group, section) in sections.iter().enumerate() {
        let Unnumbered {
            name,
            shape,
            acts_on_fluid,
            motion,
            joint,
            loose,
            bodies,
            blocks,
        } = section;
        for (body, spheres, material) in bodies {
            let body = Body {
                id: grains.bodies.len() as u32,
                motion: motion.clone(),
                ..body.clone()
            };
            grains.push_body(body, spheres, *material, group as u32);
            grains.scalars.extend_to(grains.len(), &StartScalars::default(), &carried);
        }
        let polyhedron = shape.as_deref().and_then(|wanted| polyhedra.get(wanted));
        let shape = shape.as_deref().map_or(Ok(None), |wanted| shape::find(wanted, &shapes, &known));
        let shape = shape.unwrap_or_else(|complaint| {
            findings.add(&format!("grains.{name}.shape"), complaint.within(&format!("grains.{name}")));
            None
        });
        if let Some((grain, domain)) =
            domain.and_then(|domain| Some((loose.iter().find(|grain| !is_inside(&grain.position, domain))?, domain)))
        {
            let [x, y, z] = grain.position;
            let complaint = UnlocatedDiagnostic::new(format!("grains.{name}: a grain at ({x}, {y}, {z}) m starts outside of the domain"));
            findings.add(
                &format!("grains.{name}"),
                complaint
                    .limit(format!("{:?} to {:?} m", domain.min, domain.max))
                    .remedy("enlarge world.domain or move the grains"),
            );
        }
        if polyhedron.is_some() || !blocks.is_empty() {
            if let Some(drawn) = polyhedron.filter(|_| *acts_on_fluid) {
                outlines.add_polyhedron(group as u32, drawn.surface());
            }
            let of_all = polyhedron.map(|drawn| (index_of(&mut used, &drawn.shape), drawn));
            if let Some((index, drawn)) = of_all.filter(|_| through_inlet[group]) {
                let drawn = drawn.clone();
                through_inlets.insert((*name).to_owned(), PolyhedronOfInlet { index, drawn });
            }
            let (mut members, bodies_before) = (Vec::new(), grains.bodies.len());
            for (k, one) in loose.iter().enumerate() {
                let own = blocks.get(k).map(|block| (index_of(&mut used, &block.drawn.shape), &block.drawn));
                let Some((index, drawn)) = own.or(of_all) else { break };
                let Some(id) = one.id.or_else(|| free.next()) else { break };
                let placed = Placement {
                    center: one.position,
                    radius: one.radius,
                    orientation: one.orientation,
                    velocity: one.velocity,
                    angular_velocity: one.angular_velocity,
                    joint: joint.and_then(|joint| joint::joint(&joint, one.position).ok()),
                };
                let density = densities[one.material as usize];
                drawn.put(&mut grains, index, id, &placed, density, (one.material, group as u32));
                if *acts_on_fluid {
                    // Each is a body of its own. With the same motion about the same axis, they move as one.
                    grains.put_on_body(grains.len() - 1, &drawn.shape, motion.clone());
                }
                grains.scalars.extend_to(grains.len(), &one.scalars, &carried);
                members.push(Member {
                    id,
                    position: one.position,
                    radius: one.radius,
                    material: one.material,
                    density,
                    given_mass: grains.masses.get(&id).copied(),
                    is_disk: false,
                });
            }
            check_joints(name, &grains.bodies[bodies_before..], domain, findings);
            if let Some(motion) = motion.as_ref().filter(|_| !*acts_on_fluid) {
                grain_boundary::bind(&mut grains, &members, motion.clone());
            }
            continue;
        }
        // A grain that moves freely and has a joint, or displaces fluid, is a body, even as a single sphere.
        let is_ball = shape.is_none() && (*acts_on_fluid || joint.is_some()) && motion.is_none();
        if let Some(shape) = shape.or(is_ball.then_some(&ball)) {
            let flat = across.filter(|_| *acts_on_fluid).map(|axis| shape.flat(axis)).transpose();
            let flat = flat.unwrap_or_else(|complaint| {
                findings.add(&format!("grains.{name}.shape"), complaint.within(&format!("grains.{name}")));
                None
            });
            let shape = flat.as_ref().unwrap_or(shape);
            let has_mesh = !shape.outline.is_empty();
            let mesh = has_mesh.then(|| outlines.add_mesh(group as u32, &shape.outline));
            let scale = loose.first().map_or(1.0, |one| one.radius / shape.drawn);
            if has_mesh && ALIKE.contains(&(scale - 1.0).abs()) {
                findings.notices.push(format!(
                    "grains.{name}: its radius makes it {scale:.4} times as large as its mesh is drawn, in meters; leave `radius` out for that size"
                ));
            }
            for one in loose {
                let ids: Vec<u32> = one.id.into_iter().chain(free.by_ref()).take(shape.len()).collect();
                // For a flat shape, this is not the radius in space.
                let radius = if one.is_as_drawn { shape.drawn } else { one.radius };
                let placed = Placement {
                    center: one.position,
                    radius,
                    orientation: one.orientation,
                    velocity: one.velocity,
                    angular_velocity: one.angular_velocity,
                    joint: joint.and_then(|joint| joint::joint(&joint, one.position).ok()),
                };
                shape.put(
                    &mut grains,
                    &placed,
                    &ids,
                    densities[one.material as usize],
                    (one.material, group as u32),
                );
                if let Some(body) = grains.bodies.last_mut() {
                    // The same motion about the same axis: all bodies of the section move as one.
                    body.motion.clone_from(motion);
                    if let Some(mesh) = mesh {
                        outlines.add_body(mesh, radius, body);
                    }
                }
                grains.scalars.extend_to(grains.len(), &one.scalars, &carried);
            }
            // The bodies of this section are the last ones.
            check_joints(name, &grains.bodies[grains.bodies.len() - loose.len()..], domain, findings);
            continue;
        }
        if let Some(motion) = motion {
            let mut members = Vec::with_capacity(loose.len());
            for one in loose {
                let Some(id) = one.id.or_else(|| free.next()) else { break };
                members.push(Member {
                    id,
                    position: one.position,
                    radius: one.radius,
                    material: one.material,
                    density: densities[one.material as usize],
                    given_mass: one.mass,
                    is_disk: across.is_some() && *acts_on_fluid,
                });
                grains.scalars.extend_to(grains.len() + members.len(), &one.scalars, &carried);
            }
            grain_boundary::put(&mut grains, &members, motion.clone(), group as u32);
            continue;
        }
        for UnnumberedGrain {
            id,
            position,
            velocity,
            angular_velocity,
            radius,
            mass,
            material,
            scalars,
            ..
        } in loose
        {
            let Some(id) = id.or_else(|| free.next()) else { break };
            grains.masses.extend(mass.map(|mass| (id, mass)));
            grains.push(id, *position, *velocity, *angular_velocity, *radius, *material, group as u32);
            grains.scalars.extend_to(grains.len(), scalars, &carried);
        }
    }
    if let Some(taken) = taken {
        taken.give_shapes(&mut grains, &mut used);
    }
    Gathered {
        grains,
        outlines,
        shapes: used,
        through_inlets,
    }
}

/// Refuses the bodies of a section if one of them cannot be on its joint in this domain.
fn check_joints(name: &str, of_section: &[Body], domain: Option<&Domain>, findings: &mut CheckState) {
    if let Some(flaw) = of_section.iter().find_map(|body| body.flaw_of_joint(domain)) {
        let complaint = UnlocatedDiagnostic::new(format!("grains.{name}: {}", flaw.what)).remedy(flaw.remedy);
        findings.add(&format!("grains.{name}.joint"), complaint);
    }
}

/// Free grains and rigid bodies of another run that belong to this group.
fn of_other_run(taken: &Taken, group: u32, section: &GrainsSection) -> (Vec<UnnumberedGrain>, Vec<GivenBody>) {
    let saved = taken.saved();
    let grains = &saved.grains;
    let of_group = |k: &usize| grains.group[*k] == group;
    let loose = |k: usize| {
        let mut scalars = StartScalars::default();
        for scalar in GrainScalar::ALL {
            scalars[scalar] = grains.scalars[scalar].get(k).copied();
        }
        UnnumberedGrain {
            id: Some(grains.id[k]),
            position: grains.position[k],
            velocity: grains.velocity[k],
            angular_velocity: grains.angular_velocity[k],
            radius: grains.radius[k],
            mass: grains.masses.get(&grains.id[k]).copied(),
            is_as_drawn: false,
            material: grains.material[k],
            orientation: DQuat::IDENTITY,
            scalars: scalars.or(&section.scalars()),
        }
    };
    let body = |(body, members): (&Body, Vec<usize>)| {
        let first = *members.first().filter(|&k| of_group(k))?;
        let sphere = |(&k, &(id, offset)): (&usize, &(u32, Vec3))| Sphere {
            id,
            offset,
            radius: grains.radius[k],
        };
        let spheres = members.iter().zip(&body.carries).map(sphere).collect();
        Some((body.clone(), spheres, grains.material[first]))
    };
    (
        saved.free_grains().into_iter().filter(of_group).map(loose).collect(),
        saved.bodies().into_iter().filter_map(body).collect(),
    )
}

/// Whether a position is in the domain.
pub(crate) fn is_inside(position: &Vec3, domain: &Domain) -> bool {
    (0..3).all(|axis| (domain.min[axis]..=domain.max[axis]).contains(&position[axis]))
}

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// The grains of a section, whose shape is defined in this size.
fn loose(
    name: &str,
    section: &mut GrainsSection,
    drawn_size: Option<ShapeSize>,
    around: &Surroundings,
    blocks: &[Block],
    materials: &Materials,
    findings: &mut CheckState,
) -> Result<Vec<UnnumberedGrain>, At> {
    let ways = [
        section.file.is_some(),
        section.fill.is_some(),
        section.at.is_some(),
        section.inlet.is_some(),
        section.blocks.is_some(),
    ];
    if ways.iter().filter(|is_given| **is_given).count() != 1 {
        return Err((
            "",
            UnlocatedDiagnostic::new("grains come from exactly one of `file`, `fill`, `at`, `blocks` and `inlet`").remedy(
                if ways.contains(&true) {
                    "keep one, and write a section for each of the others"
                } else {
                    "add one, as in at = [[0, 0, \"10 cm\"]]"
                },
            ),
        ));
    }
    if section.shape.is_none() && section.orientation.is_some() {
        return Err((
            "orientation",
            UnlocatedDiagnostic::new("`orientation` is for clumps").remedy("add shape = \"…\", or remove it"),
        ));
    }
    if let Some(key) = section.key_to_fluids().filter(|_| section.inlet.is_some()) {
        return Err((
            key,
            UnlocatedDiagnostic::new("what fluids feel is a rigid body, and bodies do not come through inlets yet")
                .limit("`file`, `fill` or `at`")
                .remedy(format!("leave `{key}` out: fluids then pass through these grains")),
        ));
    }
    joint::check(section)?;
    if section.mass.is_some() {
        refuse_mass(section).map_err(|complaint| ("mass", complaint))?;
    }
    if section.carried_by_fluid {
        refuse_to_be_carried(section)?;
    }
    if section.file.is_none() && (section.rows.is_some() || section.scale.is_some()) {
        let key = if section.rows.is_some() { "rows" } else { "scale" };
        return Err((
            key,
            UnlocatedDiagnostic::new(format!("`{key}` is for grains from a file")).remedy("remove it"),
        ));
    }
    let place = |position: Vec3, radius: Option<f64>| GrainRow {
        position,
        radius,
        ..GrainRow::default()
    };
    let mut filled = Vec::new();
    let mut rows: Vec<GrainRow> = if let Some(at) = &section.at {
        at.iter().map(|center| place(si(center), None)).collect()
    } else if section.blocks.is_some() {
        let at_place = |block: &Block| place(block.center, Some(block.drawn.drawn));
        blocks.iter().map(at_place).collect()
    } else if let Some(request) = &mut section.fill {
        if section.radius.is_some() {
            return Err((
                "radius",
                UnlocatedDiagnostic::new("the radius of a fill stands in the fill").remedy("move it into `fill = { … }`"),
            ));
        }
        // Each section has its own random stream: its grains do not depend on the rest of the scene.
        filled = fill(request, fnv1a(name), drawn_size, around, findings)?;
        Vec::new()
    } else if section.inlet.is_some() {
        if section.radius.is_some() {
            return Err((
                "radius",
                UnlocatedDiagnostic::new("the radius of an inlet stands in the inlet").remedy("move it into `inlet = { … }`"),
            ));
        }
        Vec::new()
    } else {
        let rows = from_file(section, findings)?;
        if !section.is_boundary() {
            refuse_spheres_of_clumps(&rows).map_err(|complaint| ("file", complaint))?;
        }
        rows
    };
    note_types(name, section, &rows, findings);
    note_columns(name, section, &rows, findings);
    let (velocity, angular_velocity) = (si(&section.velocity), si(&section.angular_velocity));
    let set_moving = |row: &mut GrainRow| {
        for axis in 0..3 {
            row.velocity[axis] += velocity[axis];
            row.angular_velocity[axis] += angular_velocity[axis];
        }
    };
    rows.iter_mut().for_each(set_moving);
    // A row takes more memory than all else of a grain. So grains of a fill, which may be very many, get theirs one by one.
    let has_radii = section.fill.as_ref().is_some_and(|request| request.radius.is_some());
    let of_filled = |&(position, radius): &(Vec3, f64)| {
        let mut row = place(position, has_radii.then_some(radius));
        set_moving(&mut row);
        row
    };
    if section.is_boundary() {
        grain_boundary::refuse_moving(&rows)?;
        // All of a fill move alike.
        let first: Vec<GrainRow> = filled.first().map(of_filled).into_iter().collect();
        grain_boundary::refuse_moving(&first)?;
    }
    let is_filled = section.fill.is_some();
    let drawn = section.orientation.as_ref().map(shape::orientation).transpose();
    let drawn = drawn.map_err(|complaint| ("orientation", complaint))?;
    let mut random = ChaCha12Rng::seed_from_u64(around.seed);
    random.set_stream(fnv1a(name) ^ TURNS);
    let own = section
        .material
        .as_deref()
        .map(|material| materials.index(material))
        .transpose()
        .map_err(|complaint| ("material", complaint))?;
    let mut loose = Vec::with_capacity(rows.len() + filled.len());
    for mut row in rows.into_iter().chain(filled.iter().map(of_filled)) {
        let line = row.line;
        let named = row.material.take().or(row.atom_type.take().filter(|_| own.is_none()));
        let material = match named {
            Some(material) => materials
                .index(&material)
                .map_err(|complaint| ("file", complaint.within(&format!("line {line}"))))?,
            None => own.ok_or_else(|| {
                (
                    "",
                    UnlocatedDiagnostic::new("`material` is missing").remedy(format!("add material = \"…\"; {}", materials.known())),
                )
            })?,
        };
        let given = row.radius.or(section.radius.map(|radius| radius.si));
        let radius = given.or(drawn_size.map(|size| size.radius)).ok_or_else(|| {
            (
                "",
                UnlocatedDiagnostic::new("`radius` is missing").remedy("add radius = \"2 mm\", or a radius column to the file"),
            )
        })?;
        if let Some(column) = row.mass.map(|_| "column mass").or(row.density.map(|_| "column density")) {
            refuse_mass(section).map_err(|complaint| ("file", complaint.within(column)))?;
        }
        let of_row = row.mass.or(row.density.map(|density| density * sphere(radius)));
        let mass = of_row.or(section.mass.map(|mass| mass.si));
        let orientation = match row.orientation {
            Some([w, x, y, z]) => DQuat::from_xyzw(x, y, z, w),
            None if is_filled && drawn.is_none() && section.shape.is_some() => shape::any_turn(&mut random),
            None => drawn.unwrap_or_default(),
        };
        let length = orientation.length();
        if !(length.is_finite() && length > 0.0) {
            let complaint = UnlocatedDiagnostic::new(format!("line {line}: qw, qx, qy, qz are no orientation: their length is {length}"));
            return Err((
                "file",
                complaint
                    .limit("any finite length above zero")
                    .remedy("write 1 0 0 0 for a grain that is not turned"),
            ));
        }
        let orientation = orientation.normalize();
        let scalars = row.scalars.or(&section.scalars());
        loose.push(UnnumberedGrain {
            id: row.id,
            position: row.position,
            velocity: row.velocity,
            angular_velocity: row.angular_velocity,
            radius,
            mass,
            is_as_drawn: given.is_none(),
            material,
            orientation,
            scalars,
        });
    }
    Ok(loose)
}

/// Notes that atoms of several types get the one material of their section.
fn note_types(name: &str, section: &GrainsSection, rows: &[GrainRow], findings: &mut CheckState) {
    let mut types = rows.iter().filter_map(|row| row.atom_type.as_ref());
    let first = types.next();
    if section.material.is_some() && types.any(|other| Some(other) != first) {
        findings.notices.push(format!(
            "grains.{name}: atoms of all types get the material of the section; without it, type 1 gets [material.1], and so on"
        ));
    }
}

/// Notes the keys in place of which the rows of a file have values: a column has one in each row.
fn note_columns(name: &str, section: &GrainsSection, rows: &[GrainRow], findings: &mut CheckState) {
    let (Some(file), Some(first)) = (&section.file, rows.first()) else {
        return;
    };
    let keys = [
        ("material", section.material.is_some() && first.material.is_some()),
        ("radius", section.radius.is_some() && first.radius.is_some()),
        ("mass", section.mass.is_some() && (first.mass.is_some() || first.density.is_some())),
    ];
    for (key, _) in keys.into_iter().filter(|(_, is_twice)| *is_twice) {
        let place = findings.location_text(&format!("grains.{name}.{key}"));
        findings.notices.push(format!(
            "{place}: grains.{name}: `{key}` has no effect, since a column of {file} gives it, as in line {}; remove the key or the column",
            first.line
        ));
    }
}

/// Refuses spheres of clumps, which would fall apart: the table of a frame has a line for each sphere.
fn refuse_spheres_of_clumps(rows: &[GrainRow]) -> Result<(), UnlocatedDiagnostic> {
    let mut lines: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows {
        let Some(body) = &row.body else { continue };
        if let Some(first) = lines.insert(body, row.line) {
            let message = format!(
                "line {}: the grain is a sphere of body {body}, as that of line {first}; such a table has no clumps",
                row.line
            );
            let complaint = UnlocatedDiagnostic::new(message).limit("each body once in the column `body`");
            return Err(complaint
                .remedy("give the centers of the clumps, with qw, qx, qy and qz, and a `shape`; or drop the column for loose spheres"));
        }
    }
    Ok(())
}

fn from_file(section: &mut GrainsSection, findings: &mut CheckState) -> Result<Vec<GrainRow>, At> {
    let scale = section.scale.get_or_insert_default().factor;
    let range = *section.rows.get_or_insert([1, -1]);
    let Some(file) = &mut section.file else { return Ok(Vec::new()) };
    let whole = findings.absolute(file);
    *file = whole.display().to_string();
    refuse_a_large_file(&whole)?;
    let take = usize::try_from(range[1]).ok();
    let limits = Limits { take, ..Limits::default() };
    let mut rows =
        grains_in::read(&whole, &limits, &mut findings.notices).map_err(|error| ("file", UnlocatedDiagnostic::of_file(&error)))?;
    let total = rows.len() as i64;
    let [first, last] = range.map(|row| if row < 0 { total + 1 + row } else { row });
    if first < 1 || first > last || last > total {
        let complaint = UnlocatedDiagnostic::new(format!("rows {} to {} of a file with {total} rows", range[0], range[1]));
        return Err((
            "rows",
            complaint
                .limit(format!("1 to {total}, or -{total} to -1 from the end"))
                .remedy("write the first and the last row, as in rows = [1, -1]"),
        ));
    }
    rows.truncate(last as usize);
    rows.drain(..first as usize - 1);
    for row in &mut rows {
        row.radius = row.radius.map(|radius| radius * scale);
        row.position = row.position.map(|coordinate| coordinate * scale);
        if !row.position.iter().chain(&row.radius).all(|value| value.is_finite()) {
            let complaint = UnlocatedDiagnostic::new(format!(
                "line {}: scaled by {scale}, the grain is beyond what a double can hold",
                row.line
            ));
            return Err(("scale", complaint.remedy("use a smaller `scale`")));
        }
    }
    Ok(rows)
}

/// A row is at least a dozen bytes: the size of a file bounds its grains before it is read.
fn refuse_a_large_file(path: &Path) -> Result<(), At> {
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    refuse_too_many(bytes as f64 / 64.0).map_err(|complaint| ("file", complaint))
}

/// The loads of a scene, by groups.
pub(crate) fn loads(file: &SceneFile) -> Vec<Load> {
    let load = |(group, section): (usize, &GrainsSection)| {
        let load = Load {
            group: group as u32,
            force: section.force.as_ref().map_or_else(VectorOfTime::default, vector_of_time),
            torque: section.torque.as_ref().map_or_else(VectorOfTime::default, vector_of_time),
        };
        (!load.force.is_zero() || !load.torque.is_zero()).then_some(load)
    };
    file.grains.values().enumerate().filter_map(load).collect()
}

/// Fowler, Noll and Vo's hash, variant 1a: the same on every machine and in every version.
pub(crate) fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Pairs of materials that can have contacts: grains, also those that enter later, with each other and with walls.
pub(crate) fn material_pairs(grains: &Grains, later: &[ExpectedGrains], walls: impl Iterator<Item = u32>) -> BTreeSet<(u32, u32)> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for kind in later {
        *counts.entry(kind.material).or_default() += 2;
    }
    for material in &grains.material {
        *counts.entry(*material).or_default() += 1;
    }
    let of_walls: BTreeSet<u32> = walls.collect();
    let mut pairs = BTreeSet::new();
    for (&a, &count) in &counts {
        let others = counts.keys().copied().filter(|b| *b != a || count > 1);
        pairs.extend(others.chain(of_walls.iter().copied()).map(|b| (a.min(b), a.max(b))));
    }
    pairs
}
