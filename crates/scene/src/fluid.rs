//! Fluids: from the keys of a scene to their particles, and to those of the walls that bound them.

mod across;
mod boundary;
mod cells;
mod cut;
mod ends;
mod facets;
mod fill;
mod form;
pub(crate) mod hulls;
mod images;
mod muller;
mod near_sides;
mod passages;
mod places;
mod planes;
mod pressure;
mod shells;
mod solver;
mod surface;
mod tension;
mod thickness;
mod ways;

use crate::{
    assemble::Findings,
    diagnostics::Complaint,
    fill::si,
    outline::Outlines,
    quantity::Quantity,
    schema::{FluidSection, SceneFile},
    stage::Plan,
    words::{InitialPressure, Word},
};
use glam::DVec3;
use seixo_engine::world::{
    Boundary, Domain, Fluid, FluidInlet, Fluids, Particles, Smoothing, Solver, Vec3, ViscousForce, WallMotion, World, capillary_speed,
};
use std::{
    collections::BTreeMap,
    f64::consts::{FRAC_PI_2, TAU},
    ops::Range,
};
use ways::Ways;

/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];
/// Distance beyond which particles do not see each other, where the scene does not say \[spacings\].
const USUAL_SUPPORT: f64 = 4.0;
/// The same where pressures are iterated: the wider it is, the slower they come \[spacings\].
const USUAL_SUPPORT_OF_PROJECTION: f64 = 3.0;
/// The least of it that is accepted: with less, particles have no neighbors \[spacings\].
const LEAST_SUPPORT: f64 = 1.2;
/// The most: particles then have two thousand neighbors, and walls eight layers \[spacings\].
const MOST_SUPPORT: f64 = 8.0;
/// Speed of sound over that of the fastest flow: densities then stay within 1 %.
const SOUND_OVER_FLOW: f64 = 10.0;
/// Artificial viscosity of what has no other \[-\].
const USUAL_ARTIFICIAL_VISCOSITY: f64 = 0.02;
/// Diffusion of density in what has no surface tension \[-\].
const USUAL_DIFFUSION: f64 = 0.1;

/// What all fluids of a scene share.
struct Shared {
    solver: Solver,
    /// Distance of particles \[m\].
    spacing: f64,
    /// Distance beyond which they do not see each other \[spacings\].
    support: f64,
    smoothing: Smoothing,
    viscous_force: ViscousForce,
    particle_shifting: bool,
    /// Axis across which nothing flows.
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

/// By what the particles of walls are laid out.
struct Layout {
    /// Distance of particles \[m\].
    spacing: f64,
    /// How many layers stand behind a wall.
    layers: u32,
    /// Axis across which nothing flows.
    across: Option<usize>,
    /// A corner of the lattice of the first fluid: half a spacing from its sites \[m\].
    origin: DVec3,
    /// Ends of the domain along its periodic axes \[m\].
    periods: [Option<[f64; 2]>; 3],
}

impl Layout {
    /// How deep particles stand behind a wall \[m\].
    fn band(&self) -> f64 {
        self.spacing * f64::from(self.layers)
    }

    /// Places that fill the way from one coordinate to another evenly: a spacing apart, where it is a whole number of spacings.
    fn even(&self, from: f64, to: f64) -> Vec<f64> {
        if to <= from {
            return Vec::new();
        }
        let count = count(to - from, self.spacing).max(1.0);
        let step = (to - from) / count;
        (0..count as u64).map(|k| from + (k as f64 + 0.5) * step).collect()
    }

    /// Whether a place is inside the domain along its periodic axes.
    fn holds(&self, at: DVec3) -> bool {
        let is_within = |axis: usize| self.periods[axis].is_none_or(|[min, max]| min <= at[axis] && at[axis] < max);
        (0..3).all(is_within)
    }
}

/// How many particles stand along a length. One that ends with half a spacing counts none for it: the last would stand at its very end.
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

/// The fluids of a scene; `None` for a dry one. Fills in what their sections leave out.
pub(crate) fn fluids(
    file: &mut SceneFile,
    world: &World,
    ranges: &BTreeMap<String, Range<usize>>,
    plan: &Plan,
    outlines: &Outlines,
    findings: &mut Findings,
) -> Option<Fluids> {
    if file.fluid.is_empty() {
        let slippery = file.wall.iter().filter(|(_, section)| section.slip.is_some());
        let notes = slippery.map(|(name, _)| format!("wall.{name}.slip has no effect: the scene has no fluid"));
        findings.notices.extend(notes);
        for (name, section) in &file.grains {
            let note = |key: &str| format!("grains.{name}.{key} has no effect: the scene has no fluid");
            findings.notices.extend(section.key_to_fluids().map(note));
        }
        passages::refuse_dry(file, findings);
        return None;
    }
    let shared = shared(file, findings)?;
    solver::refuse_keys(file, shared.solver, findings);
    solver::refuse_passages(file, shared.solver, findings);
    if shared.is_muller() {
        muller::refuse_values(file, findings);
        muller::refuse_surroundings(file, world, ranges, findings);
    }
    let projection = solver::projection(file, shared.solver, findings);
    let slips = boundary::slips(file, shared.is_muller(), world.walls.len(), ranges);
    complete(file, &shared, world.gravity);
    tension::complete(file, &shared, findings);
    if let Some(axis) = shared.across {
        across::refuse_flow(file, axis, world.gravity, findings);
    }
    let inlets = passages::inlets(file, &shared, world, &plan.absent, findings);
    let outlets = passages::outlets(file, &shared, world, findings);
    refuse_nowhere(file, &inlets, findings);
    if !findings.is_sound() {
        return None;
    }
    let (mut particles, origin) = fill::fill(file, &shared, world.domain.as_ref(), findings);
    cut::cut_at_planes(file, world, plan, shared.across, &mut particles, findings);
    let hulls = hulls::hulls(file, world, outlines, &shared, &mut particles, findings);
    passages::note_behind(&outlets, &particles, &shared, findings);
    if !findings.is_sound() {
        return None;
    }
    let layout = Layout {
        spacing: shared.spacing,
        layers: (shared.support - 1e-9).ceil() as u32,
        across: shared.across,
        origin,
        periods: periods(world.domain.as_ref()),
    };
    fill::note_uneven_periods(&layout, findings);
    let (boundary, inside) = if shared.is_muller() {
        let inside = muller::inside(file, world, plan, (&particles, &shared), findings);
        (Boundary::default(), inside)
    } else {
        let setting = boundary::Setting {
            file,
            world,
            ranges,
            plan,
            layout: &layout,
            particles: &particles,
            ways: &Ways::new(&inlets, &outlets, &layout, world.domain.as_ref()),
        };
        (setting.bound(findings), Vec::new())
    };
    if let Some(axis) = shared.across {
        across::refuse_changes(world, ranges, plan, &boundary, axis, findings);
    }
    let fastest = fastest(file, world, &particles, (&boundary, inlets.as_slice()), shared.spacing);
    if shared.is_muller() {
        muller::complete_stiffness(file, fastest);
        muller::complete_springs(file, &shared, !hulls.is_empty(), findings);
    }
    let kinds = kinds(file, &shared, fastest, findings);
    passages::refuse_fast(file, &inlets, &kinds, findings);
    let heads: Vec<pressure::Head> = file
        .fluid
        .values()
        .map(|section| pressure::Head {
            density: section.density.si,
            background: section.background_pressure.si,
            is_hydrostatic: section.initial_pressure == Some(Word(InitialPressure::Hydrostatic)),
        })
        .collect();
    pressure::set(&mut particles, &heads, world.gravity, &layout);
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
        hulls,
        slips,
        inside,
        fastest,
        inlets,
        outlets,
    })
}

/// Refuses fluids that are nowhere at the start and never come.
fn refuse_nowhere(file: &SceneFile, inlets: &[FluidInlet], findings: &mut Findings) {
    for (kind, (name, section)) in file.fluid.iter().enumerate() {
        let comes = inlets.iter().any(|inlet| inlet.kind as usize == kind);
        if findings.is_sound() && section.fill.is_none() && !comes {
            let complaint = Complaint::new(format!("fluid.{name}: `fill` is missing, and no inlet brings it"));
            let remedy = "add fill = { box = { min = [0, 0, 0], max = [\"1 m\", \"1 m\", \"1 m\"] } }, or a table [inlet.NAME]";
            findings.add(&format!("fluid.{name}"), complaint.remedy(remedy));
        }
    }
}

/// What all fluids share; complains where they differ.
fn shared(file: &SceneFile, findings: &mut Findings) -> Option<Shared> {
    let told = |value: f64| format!("{value}");
    let spacing = agreed(file, "spacing", |section| section.spacing.map(|length| length.si), told, findings);
    let support = agreed(file, "support", |section| section.support.map(|ratio| ratio.si), told, findings);
    let smoothing = agreed(file, "smoothing", |section| section.smoothing, Word::text, findings);
    let viscous_force = agreed(file, "viscous_force", |section| section.viscous_force, Word::text, findings);
    let shifting = agreed(file, "particle_shifting", |of| of.particle_shifting, |is| is.to_string(), findings);
    let plane = agreed(file, "plane", |section| section.plane, Word::text, findings);
    let solver = agreed(file, "solver", |section| section.solver, Word::text, findings);
    let solver = solver.unwrap_or_default().0;
    let usual = match solver {
        Solver::WeaklyCompressible => USUAL_SUPPORT,
        Solver::Incompressible => USUAL_SUPPORT_OF_PROJECTION,
        Solver::Muller2003 => muller::USUAL_SUPPORT,
    };
    let support = support.unwrap_or(usual);
    if !(LEAST_SUPPORT..=MOST_SUPPORT).contains(&support) {
        let section = file.fluid.iter().find(|(_, section)| section.support.is_some());
        let name = section.map_or("", |(name, _)| name.as_str());
        let message = format!("fluid.{name}: a support of {support} spacings gives particles too few neighbors, or too many");
        let complaint = Complaint::new(message).limit(format!("{LEAST_SUPPORT} to {MOST_SUPPORT} spacings"));
        findings.add(
            &format!("fluid.{name}.support"),
            complaint.remedy(format!(
                "write support = {usual}, or leave it out; it is a number of spacings, not a length"
            )),
        );
    }
    let Some(spacing) = spacing else {
        let name = file.fluid.keys().next()?;
        let complaint = Complaint::new(format!("fluid.{name}: `spacing` is missing, the distance of particles"));
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

/// The value of a key that all fluids share, if one of them gives it; complains of those that give another.
fn agreed<T: Copy + PartialEq>(
    file: &SceneFile,
    key: &str,
    read: impl Fn(&FluidSection) -> Option<T>,
    told: impl Fn(T) -> String,
    findings: &mut Findings,
) -> Option<T> {
    let mut first: Option<(&str, T)> = None;
    for (name, section) in &file.fluid {
        match (first, read(section)) {
            (None, Some(value)) => first = Some((name.as_str(), value)),
            (Some((other, wanted)), Some(value)) if value != wanted => {
                let message = format!("fluid.{name}: `{key}` is {}, but fluid.{other} has {}", told(value), told(wanted));
                let complaint = Complaint::new(message).limit(format!("{}, as in fluid.{other}", told(wanted)));
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

/// Fills in what sections leave out.
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
            let diffusion = if section.surface_tension.si > 0.0 { 0.0 } else { USUAL_DIFFUSION };
            section.density_diffusion.get_or_insert(Quantity::new(diffusion));
            section.xsph.get_or_insert_default();
            section.particle_shifting = Some(shared.particle_shifting);
        }
        let is_inviscid = section.viscosity.si == 0.0;
        let artificial = if is_inviscid { USUAL_ARTIFICIAL_VISCOSITY } else { 0.0 };
        section.artificial_viscosity.get_or_insert(Quantity::new(artificial));
        let initial = if gravity == [0.0; 3] {
            InitialPressure::None
        } else {
            InitialPressure::Hydrostatic
        };
        section.initial_pressure.get_or_insert(Word(initial));
    }
}

/// The fastest flow that is expected \[m/s\]: what sections say; else what a fall through the height of all fluid gives, the fastest of what
/// moves at the start, or what comes by an inlet when it has fallen to the bottom of all walls.
fn fastest(file: &SceneFile, world: &World, particles: &Particles, (boundary, inlets): (&Boundary, &[FluidInlet]), spacing: f64) -> f64 {
    let told = file.fluid.values().filter_map(|section| section.fastest).map(|speed| speed.si);
    if let Some(fastest) = told.reduce(f64::max) {
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

/// How fast a wall moves at a place, at most, as far as its motion tells without its path \[m/s\].
fn speed(motion: &WallMotion, place: Vec3) -> f64 {
    let length = |vector: Vec3| DVec3::from(vector).length();
    let turning = |axis: Vec3, through: Vec3| DVec3::from(axis).cross(DVec3::from(place) - DVec3::from(through)).length();
    let swings = motion.vibrations.iter();
    let swinging: f64 = swings.map(|swing| TAU * swing.frequency * length(swing.amplitude)).sum();
    let surface = &motion.surface;
    length(motion.velocity)
        + turning(motion.angular_velocity, motion.through)
        + swinging
        + length(surface.velocity)
        + turning(surface.angular_velocity, surface.through)
}

/// The fluids, with sound fast enough. Where nothing is compressed, its speed says how strong artificial viscosity is, and nothing else.
fn kinds(file: &SceneFile, shared: &Shared, fastest: f64, findings: &mut Findings) -> Vec<Fluid> {
    let least = SOUND_OVER_FLOW * fastest;
    let smoothing_length = 0.5 * shared.support * shared.spacing;
    let mut kinds = Vec::new();
    for (name, section) in &file.fluid {
        let capillary = capillary_speed(section.surface_tension.si, section.density.si, smoothing_length);
        let least_by_tension = SOUND_OVER_FLOW * capillary;
        let told = section.sound_speed.value().map_or(least.max(least_by_tension), |speed| speed.si);
        let sound_speed = section.stiffness.map_or(told, |stiffness| stiffness.si.sqrt());
        let complaint = if sound_speed == 0.0 {
            let complaint = Complaint::new("nothing tells how fast it will flow, as there is no gravity and nothing moves at the start");
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
            Some(Complaint::new(message).limit(limit).remedy(remedy))
        } else if sound_speed < least_by_tension * (1.0 - 1e-9) {
            let message = format!(
                "with a sound speed of {sound_speed} m/s the surface tension changes densities near the surface by more than some per cent: it moves \
                 what is as small as a smoothing length with {capillary:.4} m/s"
            );
            let limit = format!(">= {} m/s, ten times as fast", (least_by_tension * 1e3).ceil() / 1e3);
            Some(
                Complaint::new(message)
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
