//! Fluids: from the keys of a scene to their particles, and to those of the walls that bound them.

pub(crate) mod body_boundary;
mod boundary;
mod cells;
mod cut;
mod ends;
mod facets;
mod fill;
mod form;
mod images;
mod muller;
mod near_sides;
mod open_boundaries;
mod open_boundary_space;
mod plane_flow;
mod planes;
mod point_index;
mod pressure;
mod shells;
mod solver;
mod surface;
mod tension;
mod thickness;
mod vessels;

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::si,
    outline::Outlines,
    quantity::Quantity,
    schema::{FluidSection, SceneFile},
    solids::Solid,
    stage::Plan,
    vocabulary::{InitialPressure, Word},
};
use glam::DVec3;
use open_boundary_space::OpenBoundarySpace;
use seixo_engine::world::{
    Domain, Fluid, FluidInlet, Fluids, Particles, SignedDistances, Smoothing, Solver, Vec3, ViscousForce, WallMotion, WallParticles, World,
    capillary_speed,
};
use std::{
    collections::BTreeMap,
    f64::consts::{FRAC_PI_2, TAU},
    ops::Range,
};

/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];
/// Default support: radius beyond which the smoothing function is zero \[spacings\].
const DEFAULT_SUPPORT: f64 = 4.0;
/// Default support of solvers that iterate pressures: a larger one slows convergence \[spacings\].
const DEFAULT_SUPPORT_OF_PROJECTION: f64 = 3.0;
/// Smallest support: with less, particles have no neighbors \[spacings\].
const MIN_SUPPORT: f64 = 1.2;
/// Largest support: particles then have two thousand neighbors, and walls eight layers \[spacings\].
const MAX_SUPPORT: f64 = 8.0;
/// Speed of sound over the largest expected speed: densities then stay within 1 %.
const SOUND_OVER_FLOW: f64 = 10.0;
/// Default artificial viscosity of fluids without viscosity \[-\].
const DEFAULT_ARTIFICIAL_VISCOSITY: f64 = 0.02;
/// Default diffusion of density of fluids without surface tension \[-\].
const DEFAULT_DIFFUSION: f64 = 0.1;

/// Settings that all fluids of a scene share.
struct Shared {
    solver: Solver,
    /// Distance of particles \[m\].
    spacing: f64,
    /// Support \[spacings\].
    support: f64,
    smoothing: Smoothing,
    viscous_force: ViscousForce,
    particle_shifting: bool,
    /// Axis normal to the plane of the flow.
    across: Option<usize>,
}

impl Shared {
    fn is_muller(&self) -> bool {
        self.solver == Solver::Muller2003
    }

    /// Volume of a particle \[m³\], in a plane its area \[m²\].
    fn volume(&self) -> f64 {
        cells::volume(self.spacing, self.across)
    }
}

/// Layout of the wall particles.
struct Layout {
    /// Distance of particles \[m\].
    spacing: f64,
    /// Number of layers behind a wall.
    layers: u32,
    /// Axis normal to the plane of the flow.
    across: Option<usize>,
    /// A corner of the lattice of the first fluid: half a spacing from its sites \[m\].
    origin: DVec3,
    /// Ends of the domain along its periodic axes \[m\].
    periods: [Option<[f64; 2]>; 3],
}

impl Layout {
    /// Depth of the layers behind a wall \[m\].
    fn band(&self) -> f64 {
        self.spacing * f64::from(self.layers)
    }

    /// Evenly distributed positions between two coordinates: a spacing apart if the distance is a whole number of spacings.
    fn even(&self, from: f64, to: f64) -> Vec<f64> {
        if to <= from {
            return Vec::new();
        }
        let count = count(to - from, self.spacing).max(1.0);
        let step = (to - from) / count;
        (0..count as u64).map(|k| from + (k as f64 + 0.5) * step).collect()
    }

    /// Whether a position is inside the domain along its periodic axes.
    fn holds(&self, at: DVec3) -> bool {
        let is_within = |axis: usize| self.periods[axis].is_none_or(|[min, max]| min <= at[axis] && at[axis] < max);
        (0..3).all(is_within)
    }
}

/// Number of particles along a length. A length that ends with half a spacing counts none for it: that particle would be at the very end.
fn count(length: f64, spacing: f64) -> f64 {
    (length / spacing + 0.5 - 1e-9).floor().max(0.0)
}

/// Ends of a domain along its periodic axes \[m\].
fn periods(domain: Option<&Domain>) -> [Option<[f64; 2]>; 3] {
    [0, 1, 2].map(|axis| {
        domain
            .filter(|domain| domain.periodic[axis])
            .map(|domain| [domain.min[axis], domain.max[axis]])
    })
}

/// The note on grains that fluids pass through.
fn uncoupled(file: &SceneFile) -> Option<String> {
    let sections = file.grains.iter().filter(|(_, section)| section.key_to_fluids().is_none());
    let names: Vec<String> = sections.map(|(name, _)| format!("grains.{name}")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "fluids pass through {}, as if they were not there; write displaces_fluid = true for grains thicker than some spacings of the fluid, or \
             carried_by_fluid = true for smaller ones",
            names.join(", ")
        )
    })
}

/// The fluids of a scene; `None` for a scene without fluids. Fills in keys that their sections omit.
pub(crate) fn fluids(
    file: &mut SceneFile,
    world: &World,
    ranges: &BTreeMap<String, Range<usize>>,
    plan: &Plan,
    outlines: &Outlines,
    solids: &[Solid],
    findings: &mut CheckState,
) -> Option<Fluids> {
    if file.fluid.is_empty() {
        let slippery = file.wall.iter().filter(|(_, section)| section.slip.is_some());
        let notes = slippery.map(|(name, _)| format!("wall.{name}.slip has no effect: the scene has no fluid"));
        findings.notices.extend(notes);
        for (name, section) in &file.grains {
            let note = |key: &str| format!("grains.{name}.{key} has no effect: the scene has no fluid");
            findings.notices.extend(section.key_to_fluids().map(note));
        }
        open_boundaries::refuse_dry(file, findings);
        return None;
    }
    let shared = shared(file, findings)?;
    solver::refuse_keys(file, shared.solver, findings);
    solver::refuse_xsph(file, &shared, findings);
    solver::reject_open_boundaries(file, shared.solver, findings);
    if shared.is_muller() {
        muller::refuse_values(file, findings);
        muller::refuse_surroundings(file, world, findings);
    }
    let projection = solver::projection(file, shared.solver, findings);
    let slips = boundary::slips(file, shared.is_muller(), world.walls.len(), ranges);
    complete(file, &shared, world.gravity);
    tension::complete(file, &shared, findings);
    if let Some(axis) = shared.across {
        plane_flow::refuse_flow(file, axis, world.gravity, findings);
    }
    let inlets = open_boundaries::inlets(file, &shared, world, &plan.absent, findings);
    let outlets = open_boundaries::outlets(file, &shared, world, findings);
    refuse_nowhere(file, &inlets, findings);
    if !findings.is_sound() {
        return None;
    }
    let (mut particles, origin) = fill::fill(file, &shared, world.domain.as_ref(), findings);
    cut::cut_at_planes(file, world, plan, shared.across, &mut particles, findings);
    let with_bodies = particles.position.clone();
    cut::cut_out_solids(file, solids, shared.spacing, &mut particles, findings);
    let body_boundaries = body_boundary::body_boundaries(file, world, outlines, &shared, &mut particles, findings);
    findings.notices.extend(uncoupled(file));
    open_boundaries::note_behind(&outlets, &particles, &shared, findings);
    if !findings.is_sound() {
        return None;
    }
    let layout = Layout {
        spacing: shared.spacing,
        layers: if shared.is_muller() {
            vessels::LAYERS
        } else {
            (shared.support - 1e-9).ceil() as u32
        },
        across: shared.across,
        origin,
        periods: periods(world.domain.as_ref()),
    };
    fill::note_uneven_periods(&layout, findings);
    let (boundary, inside, signed_distances) = {
        let setting = boundary::FluidSurroundings {
            file,
            world,
            ranges,
            plan,
            layout: &layout,
            particles: &particles,
            ways: &OpenBoundarySpace::new(&inlets, &outlets, &layout, world.domain.as_ref()),
        };
        if shared.is_muller() {
            let meshes = vessels::surfaces(&setting, findings);
            let inside = muller::inside(file, world, plan, (&particles, &shared), &meshes, findings);
            let signed_distances = vessels::signed_distances(&setting, &meshes, findings);
            (WallParticles::default(), inside, signed_distances)
        } else {
            (setting.bound(findings), Vec::new(), SignedDistances::default())
        }
    };
    if let Some(axis) = shared.across {
        plane_flow::refuse_changes(world, ranges, plan, &boundary, axis, findings);
    }
    let fastest = fastest(file, world, &particles, (&boundary, inlets.as_slice()), shared.spacing);
    if shared.is_muller() {
        muller::complete_stiffness(file, fastest);
        let feels = !body_boundaries.is_empty() || plan.freezes().next().is_some();
        muller::complete_springs(file, &shared, feels, findings);
    }
    let kinds = kinds(file, &shared, fastest, findings);
    open_boundaries::refuse_fast(file, &inlets, &kinds, findings);
    let heads: Vec<pressure::HydrostaticState> = file
        .fluid
        .values()
        .map(|section| pressure::HydrostaticState {
            density: section.density.si,
            background: section.background_pressure.si,
            is_hydrostatic: section.initial_pressure == Some(Word(InitialPressure::Hydrostatic)),
        })
        .collect();
    let in_bodies = pressure::sites_in_bodies(&with_bodies, &particles.position, &layout);
    pressure::set(&mut particles, &in_bodies, &heads, world.gravity, &layout);
    if fastest > 0.0 {
        for section in file.fluid.values_mut() {
            section.fastest.get_or_insert(Quantity::new(fastest));
        }
    }
    Some(Fluids {
        solver: shared.solver,
        projection,
        smoothing: shared.smoothing,
        viscous_force: shared.viscous_force,
        particle_shifting: shared.particle_shifting,
        spacing: shared.spacing,
        support: shared.support * shared.spacing,
        across: shared.across,
        kinds,
        particles,
        boundary,
        body_boundaries,
        slips,
        inside,
        signed_distances,
        largest_speed: fastest,
        inlets,
        outlets,
    })
}

/// Refuses fluids that have neither a fill nor an inlet.
fn refuse_nowhere(file: &SceneFile, inlets: &[FluidInlet], findings: &mut CheckState) {
    for (kind, (name, section)) in file.fluid.iter().enumerate() {
        let comes = inlets.iter().any(|inlet| inlet.kind as usize == kind);
        if findings.is_sound() && section.fill.is_none() && !comes {
            let complaint = UnlocatedDiagnostic::new(format!("fluid.{name}: `fill` is missing, and no inlet brings it"));
            let remedy = "add fill = { box = { min = [0, 0, 0], max = [\"1 m\", \"1 m\", \"1 m\"] } }, or a table [inlet.NAME]";
            findings.add(&format!("fluid.{name}"), complaint.remedy(remedy));
        }
    }
}

/// The settings that all fluids share; reports differences between sections.
fn shared(file: &SceneFile, findings: &mut CheckState) -> Option<Shared> {
    let reported = |value: f64| format!("{value}");
    let spacing = agreed(
        file,
        "spacing",
        |section| section.spacing.map(|length| length.si),
        reported,
        findings,
    );
    let support = agreed(file, "support", |section| section.support.map(|ratio| ratio.si), reported, findings);
    let smoothing = agreed(file, "smoothing", |section| section.smoothing, Word::text, findings);
    let viscous_force = agreed(file, "viscous_force", |section| section.viscous_force, Word::text, findings);
    let shifting = agreed(file, "particle_shifting", |of| of.particle_shifting, |is| is.to_string(), findings);
    let plane = agreed(file, "plane", |section| section.plane, Word::text, findings);
    let solver = agreed(file, "solver", |section| section.solver, Word::text, findings);
    let solver = solver.unwrap_or_default().0;
    let usual = match solver {
        Solver::WeaklyCompressible => DEFAULT_SUPPORT,
        Solver::Incompressible => DEFAULT_SUPPORT_OF_PROJECTION,
        Solver::Muller2003 => muller::DEFAULT_SUPPORT,
    };
    let support = support.unwrap_or(usual);
    if !(MIN_SUPPORT..=MAX_SUPPORT).contains(&support) {
        let section = file.fluid.iter().find(|(_, section)| section.support.is_some());
        let name = section.map_or("", |(name, _)| name.as_str());
        let message = format!("fluid.{name}: a support of {support} spacings gives particles too few neighbors, or too many");
        let complaint = UnlocatedDiagnostic::new(message).limit(format!("{MIN_SUPPORT} to {MAX_SUPPORT} spacings"));
        findings.add(
            &format!("fluid.{name}.support"),
            complaint.remedy(format!(
                "write support = {usual}, or leave it out; it is a number of spacings, not a length"
            )),
        );
    }
    let Some(spacing) = spacing else {
        let name = file.fluid.keys().next()?;
        let complaint = UnlocatedDiagnostic::new(format!("fluid.{name}: `spacing` is missing, the distance of particles"));
        findings.add(&format!("fluid.{name}"), complaint.remedy("add spacing = \"1 cm\""));
        return None;
    };
    Some(Shared {
        solver,
        spacing,
        support,
        smoothing: if solver == Solver::Muller2003 {
            Smoothing::Poly6
        } else {
            smoothing.unwrap_or_default().0
        },
        viscous_force: viscous_force.unwrap_or_default().0,
        particle_shifting: shifting.unwrap_or_default(),
        across: plane.map(|plane| plane.0.across()),
    })
}

/// The value of a key that all fluids share, if a section gives it; reports sections with another value.
fn agreed<T: Copy + PartialEq>(
    file: &SceneFile,
    key: &str,
    read: impl Fn(&FluidSection) -> Option<T>,
    reported: impl Fn(T) -> String,
    findings: &mut CheckState,
) -> Option<T> {
    let mut first: Option<(&str, T)> = None;
    for (name, section) in &file.fluid {
        match (first, read(section)) {
            (None, Some(value)) => first = Some((name.as_str(), value)),
            (Some((other, wanted)), Some(value)) if value != wanted => {
                let message = format!(
                    "fluid.{name}: `{key}` is {}, but fluid.{other} has {}",
                    reported(value),
                    reported(wanted)
                );
                let complaint = UnlocatedDiagnostic::new(message).limit(format!("{}, as in fluid.{other}", reported(wanted)));
                findings.add(
                    &format!("fluid.{name}.{key}"),
                    complaint.remedy(format!("`{key}` is the same in all fluids: give it in one of them")),
                );
            }
            _ => {}
        }
    }
    first.map(|(_, value)| value)
}

/// Fills in keys that sections omit.
fn complete(file: &mut SceneFile, shared: &Shared, gravity: Vec3) {
    let plane = file.fluid.values().find_map(|section| section.plane);
    for section in file.fluid.values_mut() {
        section.spacing = Some(Quantity::new(shared.spacing));
        section.support = Some(Quantity::new(shared.support));
        section.solver = Some(Word(shared.solver));
        section.plane = plane;
        if shared.is_muller() {
            muller::complete(section);
            continue;
        }
        section.smoothing = Some(Word(shared.smoothing));
        section.viscous_force = Some(Word(shared.viscous_force));
        if shared.solver == Solver::WeaklyCompressible {
            section.state.get_or_insert_default();
            let diffusion = if section.surface_tension.si > 0.0 { 0.0 } else { DEFAULT_DIFFUSION };
            section.density_diffusion.get_or_insert(Quantity::new(diffusion));
            section.xsph.get_or_insert_default();
            section.particle_shifting = Some(shared.particle_shifting);
        }
        let is_inviscid = section.viscosity.si == 0.0;
        let artificial = if is_inviscid { DEFAULT_ARTIFICIAL_VISCOSITY } else { 0.0 };
        section.artificial_viscosity.get_or_insert(Quantity::new(artificial));
        let initial = if gravity == [0.0; 3] {
            InitialPressure::None
        } else {
            InitialPressure::Hydrostatic
        };
        section.initial_pressure.get_or_insert(Word(initial));
    }
}

/// Largest expected speed of the flow \[m/s\]. If sections omit it: the largest of the speed of a fall through the height of all fluid, the speeds at
/// the start, and the speed of fluid from an inlet after a fall to the bottom of all walls.
fn fastest(
    file: &SceneFile,
    world: &World,
    particles: &Particles,
    (boundary, inlets): (&WallParticles, &[FluidInlet]),
    spacing: f64,
) -> f64 {
    let reported = file.fluid.values().filter_map(|section| section.fastest).map(|speed| speed.si);
    if let Some(fastest) = reported.reduce(f64::max) {
        return fastest;
    }
    let gravity = DVec3::from(world.gravity);
    let depths = particles.position.iter().map(|place| gravity.dot(DVec3::from(*place)));
    let (least, most) = depths.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), depth| {
        (least.min(depth), most.max(depth))
    });
    let fall = (2.0 * (most - least + gravity.length() * spacing)).max(0.0).sqrt();
    let bottoms = boundary.position.iter().map(|place| gravity.dot(DVec3::from(*place)));
    let deepest = bottoms.fold(most, f64::max);
    let from_inlets = inlets.iter().map(|inlet| {
        let depths = inlet.sites.iter().map(|site| gravity.dot(DVec3::from(*site)));
        let drop = (deepest - depths.fold(f64::INFINITY, f64::min)).max(0.0);
        (inlet.speed.powi(2) + 2.0 * drop).sqrt()
    });
    let starts = file.fluid.values().map(|section| DVec3::from(si(&section.velocity)).length());
    let of_walls = boundary
        .position
        .iter()
        .zip(&boundary.wall)
        .map(|(place, wall)| speed(&world.walls[*wall as usize].motion, *place));
    starts.chain(of_walls).chain(from_inlets).fold(fall, f64::max)
}

/// Upper bound of the speed of a wall at a position, from its motion without its path \[m/s\].
fn speed(motion: &WallMotion, place: Vec3) -> f64 {
    let length = |vector: Vec3| DVec3::from(vector).length();
    let turning = |axis: Vec3, through: Vec3| DVec3::from(axis).cross(DVec3::from(place) - DVec3::from(through)).length();
    let swings = motion.vibrations.iter();
    let swinging: f64 = swings.map(|swing| TAU * swing.frequency * length(swing.amplitude)).sum();
    let surface = &motion.surface;
    let carried = motion
        .frame
        .map_or(0.0, |frame| length(frame.velocity) + turning(frame.angular_velocity, frame.through));
    carried
        + length(motion.velocity)
        + turning(motion.angular_velocity, motion.through)
        + swinging
        + length(surface.velocity)
        + turning(surface.angular_velocity, surface.through)
}

/// The fluids, with a sufficient speed of sound. In an incompressible fluid it only sets the strength of artificial viscosity.
fn kinds(file: &SceneFile, shared: &Shared, fastest: f64, findings: &mut CheckState) -> Vec<Fluid> {
    let least = SOUND_OVER_FLOW * fastest;
    let smoothing_length = 0.5 * shared.support * shared.spacing;
    let mut kinds = Vec::new();
    for (name, section) in &file.fluid {
        let capillary = capillary_speed(section.surface_tension.si, section.density.si, smoothing_length);
        let least_by_tension = SOUND_OVER_FLOW * capillary;
        let reported = section.sound_speed.value().map_or(least.max(least_by_tension), |speed| speed.si);
        let sound_speed = section.stiffness.map_or(reported, |stiffness| stiffness.si.sqrt());
        let complaint = if sound_speed == 0.0 {
            let complaint =
                UnlocatedDiagnostic::new("nothing says how fast it will flow, as there is no gravity and nothing moves at the start");
            let other = match shared.solver {
                Solver::WeaklyCompressible => ", or a sound_speed ten times as fast",
                Solver::Incompressible => "",
                Solver::Muller2003 => ", or a stiffness",
            };
            Some(complaint.remedy(format!("add the fastest flow that you expect, as in fastest = \"1 m/s\"{other}")))
        } else if shared.solver == Solver::WeaklyCompressible && sound_speed < least * (1.0 - 1e-9) {
            let message = format!(
                "a sound speed of {sound_speed} m/s where a flow of {fastest:.4} m/s is expected lets densities change by more than 1 %"
            );
            let limit = format!(">= {} m/s, ten times the fastest flow", (least * 1e3).ceil() / 1e3);
            let remedy = "write sound_speed = \"auto\"; or say with `fastest` how fast the flow will be, if it is slower";
            Some(UnlocatedDiagnostic::new(message).limit(limit).remedy(remedy))
        } else if sound_speed < least_by_tension * (1.0 - 1e-9) {
            let message = format!(
                "with a sound speed of {sound_speed} m/s the surface tension changes densities near the surface by more than some per cent: it moves \
                 what is as small as a smoothing length with {capillary:.4} m/s"
            );
            let limit = format!(">= {} m/s, ten times as fast", (least_by_tension * 1e3).ceil() / 1e3);
            Some(
                UnlocatedDiagnostic::new(message)
                    .limit(limit)
                    .remedy("write sound_speed = \"auto\", or use a larger spacing"),
            )
        } else {
            None
        };
        if let Some(complaint) = complaint {
            findings.add(&format!("fluid.{name}.sound_speed"), complaint.within(&format!("fluid.{name}")));
        }
        kinds.push(Fluid {
            name: name.clone(),
            density: section.density.si,
            viscosity: section.viscosity.si,
            sound_speed,
            state: section.state.unwrap_or_default().0,
            background_pressure: section.background_pressure.si,
            artificial_viscosity: section.artificial_viscosity.unwrap_or_default().si,
            density_diffusion: section.density_diffusion.unwrap_or_default().si,
            xsph: section.xsph.unwrap_or_default().si,
            restitution: section.restitution.unwrap_or_default().si,
            body_stiffness: section.body_stiffness.unwrap_or_default().si,
            body_restitution: section.body_restitution.unwrap_or_default().si,
            surface_tension: section.surface_tension.si,
            contact_angle: section.contact_angle.map_or(FRAC_PI_2, |angle| angle.si),
        });
    }
    kinds
}
