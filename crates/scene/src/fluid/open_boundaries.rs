//! Inlets and outlets of fluids: from their keys to the positions of their buffer particles.

use super::{AXES, Shared, count};
use crate::{
    assemble::CheckState,
    condition::unknown,
    diagnostics::UnlocatedDiagnostic,
    fill::{corners, si},
    grains::is_inside,
    inlet::{Disc, Rectangle},
    quantity::Quantity,
    schema::{FluidInletSection, FluidOutletSection, InletShape, OutletShape, SceneFile},
    stage::StageItem,
    walls::unit,
};
use glam::DVec3;
use seixo_engine::world::{Domain, Fluid, FluidInlet, FluidOutlet, LeavingPolicy, OutletForm, Particles, World};
use std::f64::consts::PI;

/// Tolerance without a note for the area of the particles against that of an inlet \[-\].
const SHARE: f64 = 0.02;
/// Largest number of particles that may enter: ids are numbers below 2^31.
const MOST: f64 = 1e9;
/// Largest number of particles per layer of an inlet or outlet: some are searched at each step.
const MAX_ACROSS: f64 = 1e6;

/// An error with its key.
type At = (&'static str, UnlocatedDiagnostic);

/// A part of a plane.
struct Patch {
    center: DVec3,
    /// Direction of the flow.
    normal: DVec3,
    along: [DVec3; 2],
    /// Half of the edges; for a disc the radius, twice \[m\].
    half: [f64; 2],
    is_round: bool,
}

impl Patch {
    fn of_disc(disc: &Disc) -> Result<Patch, UnlocatedDiagnostic> {
        let normal = DVec3::from(unit(&disc.normal)?);
        let (u, v) = normal.any_orthonormal_pair();
        Ok(Patch {
            center: si(&disc.center).into(),
            normal,
            along: [u, v],
            half: [disc.radius.si; 2],
            is_round: true,
        })
    }

    fn of_rectangle(rectangle: &Rectangle) -> Result<Patch, UnlocatedDiagnostic> {
        let [a, b] = rectangle.spanned()?;
        let along = [a, b].map(DVec3::normalize);
        Ok(Patch {
            center: si(&rectangle.center).into(),
            normal: along[0].cross(along[1]),
            along,
            half: [0.5 * a.length(), 0.5 * b.length()],
            is_round: false,
        })
    }

    /// Its section with the plane of the flow: direction, and half of its length \[m\].
    fn cut(&self, across: usize) -> Result<(DVec3, f64), UnlocatedDiagnostic> {
        let (axis, offset) = (DVec3::AXES[across], self.center[across].abs());
        let plane = format!("the plane in which fluids flow, {} = 0", AXES[across]);
        if self.normal.dot(axis).abs() > 1e-9 {
            let complaint = UnlocatedDiagnostic::new(format!("fluid would go out of {plane}"));
            return Err(complaint
                .limit(format!("0 along {}", AXES[across]))
                .remedy("turn it, or choose another `plane`"));
        }
        let is_along = |edge: &usize| self.along[*edge].dot(axis).abs() > 1.0 - 1e-9;
        let (direction, half) = match (0..2).find(is_along) {
            _ if self.is_round => (axis.cross(self.normal), (self.half[0].powi(2) - offset.powi(2)).max(0.0).sqrt()),
            Some(edge) if offset <= self.half[edge] => (self.along[1 - edge], self.half[1 - edge]),
            Some(_) => (axis, 0.0),
            None => {
                let complaint = UnlocatedDiagnostic::new(format!("its edges are aslant to {plane}"));
                return Err(complaint
                    .limit(format!("one edge along {}", AXES[across]))
                    .remedy("turn it, or use a disc"));
            }
        };
        if half > 0.0 {
            return Ok((direction, half));
        }
        let complaint = UnlocatedDiagnostic::new(format!("it does not reach {plane}"));
        Err(complaint
            .limit(format!("a center with {} = 0", AXES[across]))
            .remedy("move it, or choose another `plane`"))
    }

    /// Positions of particles in it, a spacing apart, and its area – in a plane flow its length.
    fn sites(&self, shared: &Shared) -> Result<(Vec<DVec3>, f64), UnlocatedDiagnostic> {
        let spacing = shared.spacing;
        let refuse_many = |particles: f64| {
            if particles <= MAX_ACROSS {
                return Ok(());
            }
            let complaint = UnlocatedDiagnostic::new(format!("with a spacing of {spacing} m it is {particles:.4e} particles large"));
            Err(complaint
                .limit(format!("{MAX_ACROSS:.0e} particles in one layer"))
                .remedy("use a larger spacing, or make it smaller"))
        };
        let refuse_narrow = |half: f64| {
            if 2.0 * half >= spacing * (1.0 - 1e-6) {
                return Ok(());
            }
            Err(
                UnlocatedDiagnostic::new(format!("it is {:.6} m wide, less than the spacing of {spacing} m", 2.0 * half))
                    .limit(format!(">= {spacing} m, for one particle"))
                    .remedy("widen it, or use a smaller spacing"),
            )
        };
        // Positions in a row of this number, from the middle.
        let row = |count: f64| (0..count as u64).map(move |k| (k as f64 - 0.5 * (count - 1.0)) * spacing);
        if let Some(across) = shared.across {
            let (direction, half) = self.cut(across)?;
            refuse_narrow(half)?;
            refuse_many(2.0 * half / spacing)?;
            let place = |x: f64| {
                let mut at = self.center + x * direction;
                at[across] = 0.0;
                at
            };
            return Ok((row(count(2.0 * half, spacing)).map(place).collect(), 2.0 * half));
        }
        refuse_narrow(self.half[0].min(self.half[1]))?;
        refuse_many(4.0 * self.half[0] * self.half[1] / spacing.powi(2))?;
        let [u, v] = self.along;
        let lattice = |[along_u, along_v]: [f64; 2]| -> Vec<DVec3> {
            let is_in = |x: f64, y: f64| !self.is_round || x * x + y * y <= self.half[0].powi(2);
            let rows = row(along_v).flat_map(|y| row(along_u).map(move |x| (x, y)));
            rows.filter(|&(x, y)| is_in(x, y))
                .map(|(x, y)| self.center + x * u + y * v)
                .collect()
        };
        let area = 4.0 * self.half[0] * self.half[1];
        if !self.is_round {
            return Ok((lattice(self.half.map(|half| count(2.0 * half, spacing))), area));
        }
        // With a particle in the middle or without, whichever is closer to the area.
        let (area, across) = (0.25 * PI * area, (2.0 * self.half[0] / spacing).floor());
        let [one, other] = [lattice([across; 2]), lattice([across + 1.0; 2])];
        let off = |sites: &[DVec3]| (sites.len() as f64 * spacing.powi(2) - area).abs();
        Ok((if off(&other) < off(&one) { other } else { one }, area))
    }
}

/// The inlets of a scene; `absent` lists items that are not present at the start. Fills in keys that their sections omit.
pub(super) fn inlets(
    file: &mut SceneFile,
    shared: &Shared,
    world: &World,
    absent: &[StageItem],
    findings: &mut CheckState,
) -> Vec<FluidInlet> {
    let fluids: Vec<String> = file.fluid.keys().cloned().collect();
    let until = file.run.until.si;
    let mut inlets = Vec::new();
    for (index, (name, section)) in file.inlet.iter_mut().enumerate() {
        let path = format!("inlet.{name}");
        let has_namesake = file.grains.get(name).is_some_and(|section| section.inlet.is_some());
        let made = if has_namesake {
            let complaint = UnlocatedDiagnostic::new(format!("grains.{name} has an inlet, too, and stages could not distinguish them"));
            Err(("", complaint.limit("a name of its own").remedy("rename it")))
        } else {
            inlet(name, section, shared, &fluids, findings)
        };
        let made = made.and_then(|inlet| {
            refuse_outside(
                &inlet.sites.iter().copied().map(DVec3::from).collect::<Vec<_>>(),
                world.domain.as_ref(),
            )?;
            refuse_periodic(inlet.normal.into(), world.domain.as_ref())?;
            let coming = inlet.particles_until(until, shared.spacing);
            if coming > MOST {
                let complaint = UnlocatedDiagnostic::new(format!("{coming:.2e} particles would come until {until} s"));
                return Err((
                    "",
                    complaint
                        .limit(format!("{MOST:.0e} particles"))
                        .remedy("let less come, or use a larger spacing"),
                ));
            }
            Ok(inlet)
        });
        match made {
            Ok(inlet) => inlets.push(FluidInlet {
                is_open: !absent.contains(&StageItem::FluidInlet(index)),
                ..inlet
            }),
            Err((key, complaint)) => findings.add(&format!("{path}.{key}"), complaint.within(&path)),
        }
    }
    inlets
}

fn inlet(
    name: &str,
    section: &mut FluidInletSection,
    shared: &Shared,
    fluids: &[String],
    findings: &mut CheckState,
) -> Result<FluidInlet, At> {
    let kind = match (&section.fluid, fluids) {
        (Some(wanted), _) => {
            let found = fluids.iter().position(|fluid| fluid == wanted);
            found.ok_or_else(|| ("fluid", unknown("fluid", wanted, fluids.iter())))?
        }
        (None, [_]) => 0,
        (None, _) => {
            let complaint = UnlocatedDiagnostic::new("`fluid` is missing, and the scene has several");
            return Err(("", complaint.remedy(format!("add fluid = \"{}\", or another", fluids[0]))));
        }
    };
    section.fluid = Some(fluids[kind].clone());
    let patch = match &section.through {
        InletShape::Disc(disc) => Patch::of_disc(disc),
        InletShape::Rectangle(rectangle) => Patch::of_rectangle(rectangle),
    };
    let patch = patch.map_err(|complaint| ("through", complaint))?;
    let (sites, area) = patch.sites(shared).map_err(|complaint| ("through", complaint))?;
    let layer = sites.len() as f64 * shared.volume();
    let covered = layer / shared.spacing;
    let speed = match (section.speed, section.rate) {
        (Some(speed), None) => {
            if (covered / area - 1.0).abs() > SHARE {
                let unit = if shared.across.is_some() { "m" } else { "m²" };
                findings.notices.push(format!(
                    "inlet.{name}: its particles stand for {covered:.4e} {unit} of {area:.4e} {unit}, and bring {:.4e} m³/s; write `rate` in place of \
                     `speed` if that must be right",
                    covered * speed.si
                ));
            }
            speed.si
        }
        (None, Some(rate)) => rate.si / covered,
        (given, _) => {
            let what = if given.is_some() {
                "both `speed` and `rate`"
            } else {
                "neither `speed` nor `rate`"
            };
            let complaint = UnlocatedDiagnostic::new(format!("it has {what}")).limit("exactly one of them");
            return Err(("", complaint.remedy("write speed = \"1 m/s\" or rate = \"1e-4 m^3/s\"")));
        }
    };
    let (from, to) = (section.from.si, section.to.map_or(f64::INFINITY, |to| to.si));
    if from >= to {
        let complaint = UnlocatedDiagnostic::new(format!("it would end at {to} s, before it begins at {from} s"));
        return Err((
            "to",
            complaint.limit(format!("> {from} s")).remedy("let it end later, or begin before"),
        ));
    }
    let most_layers = match section.volume {
        None => u64::MAX,
        Some(volume) if volume.si >= layer * (1.0 - 1e-9) => (volume.si / layer + 1e-9) as u64,
        Some(volume) => {
            let complaint = UnlocatedDiagnostic::new(format!("{} m³ are less than one layer of particles", volume.si));
            return Err((
                "volume",
                complaint
                    .limit(format!(">= {layer:.4e} m³"))
                    .remedy("let more come, or use a smaller spacing"),
            ));
        }
    };
    Ok(FluidInlet {
        name: name.to_owned(),
        kind: kind as u32,
        sites: sites.into_iter().map(|site| site.to_array()).collect(),
        normal: patch.normal.to_array(),
        speed,
        from,
        to,
        max_layers: most_layers,
        is_open: true,
    })
}

/// The outlets of a scene. Fills in keys that their sections omit.
pub(super) fn outlets(file: &mut SceneFile, shared: &Shared, world: &World, findings: &mut CheckState) -> Vec<FluidOutlet> {
    let backgrounds = file.fluid.values().map(|section| section.background_pressure.si);
    let background = backgrounds.fold(0.0, f64::max);
    let mut outlets = Vec::new();
    for (name, section) in &mut file.outlet {
        match outlet(name, section, shared, background, world.domain.as_ref()) {
            Ok(outlet) => outlets.push(outlet),
            Err((key, complaint)) => {
                let path = format!("outlet.{name}");
                findings.add(&format!("{path}.{key}"), complaint.within(&path));
            }
        }
    }
    outlets
}

fn outlet(
    name: &str,
    section: &mut FluidOutletSection,
    shared: &Shared,
    background: f64,
    domain: Option<&Domain>,
) -> Result<FluidOutlet, At> {
    let patch = match &section.through {
        OutletShape::Disc(disc) => Patch::of_disc(disc),
        OutletShape::Rectangle(rectangle) => Patch::of_rectangle(rectangle),
        OutletShape::Box(shape) => {
            let (min, max) = corners(shape).map_err(|complaint| ("through", complaint))?;
            let useless = [("pressure", section.pressure.is_some()), ("level", section.level.is_some())];
            if let Some((key, _)) = useless.into_iter().find(|(_, is_there)| *is_there) {
                let complaint = UnlocatedDiagnostic::new(format!("`{key}` is for a disc or a rectangle: a box takes fluid away at once"));
                return Err((key, complaint.remedy("remove it, or let fluid leave through a disc or a rectangle")));
            }
            return Ok(FluidOutlet {
                name: name.to_owned(),
                opening: OutletForm::Box {
                    min: min.to_array(),
                    max: max.to_array(),
                },
                pressure: 0.0,
                level: None,
            });
        }
    };
    let patch = patch.map_err(|complaint| ("through", complaint))?;
    // It must be wide enough for a particle, and within the flow.
    patch.sites(shared).map_err(|complaint| ("through", complaint))?;
    refuse_periodic(patch.normal, domain)?;
    let last = patch.center + shared.spacing * patch.normal;
    if domain.is_some_and(|domain| domain.leaving == LeavingPolicy::Error) {
        refuse_outside(&[patch.center, last], domain).map_err(|(key, complaint)| {
            let remedy = "enlarge world.domain: fluid goes on for about a spacing before it is taken";
            (key, complaint.remedy(remedy))
        })?;
    }
    let (center, normal) = (patch.center.to_array(), patch.normal.to_array());
    let opening = if patch.is_round {
        OutletForm::Disc {
            center,
            normal,
            radius: patch.half[0],
        }
    } else {
        OutletForm::Rectangle {
            center,
            normal,
            along: patch.along.map(|axis| axis.to_array()),
            half: patch.half,
        }
    };
    Ok(FluidOutlet {
        name: name.to_owned(),
        opening,
        pressure: section.pressure.get_or_insert(Quantity::new(background)).si,
        level: section.level.as_ref().map(si),
    })
}

/// Notes fluid that starts right behind outlets, where they no longer remove it.
pub(super) fn note_behind(outlets: &[FluidOutlet], particles: &Particles, shared: &Shared, findings: &mut CheckState) {
    let support = shared.support * shared.spacing;
    let depth = (support + shared.spacing) * (1.0 + 1e-9);
    for FluidOutlet { name, opening, .. } in outlets {
        let is_behind = |place: &&[f64; 3]| opening.past(**place).is_some_and(|past| past > depth && past < depth + support);
        let count = particles.position.iter().filter(is_behind).count();
        if count > 0 {
            findings.notices.push(format!(
                "outlet.{name}: {count} particles start farther behind it than the {depth:.4} m in which it takes fluid, and stay there; let the \
                 fluid end within that"
            ));
        }
    }
}

fn refuse_outside(places: &[DVec3], domain: Option<&Domain>) -> Result<(), At> {
    let Some(domain) = domain else { return Ok(()) };
    match places.iter().find(|place| !is_inside(&place.to_array(), domain)) {
        None => Ok(()),
        Some(place) => {
            let complaint = UnlocatedDiagnostic::new(format!("{place:.6} m is in it, outside of the domain"));
            let complaint = complaint.limit(format!("{:?} to {:?} m", domain.min, domain.max));
            Err(("through", complaint.remedy("move it, make it smaller, or enlarge world.domain")))
        }
    }
}

fn refuse_periodic(normal: DVec3, domain: Option<&Domain>) -> Result<(), At> {
    let is_across = |axis: &usize| domain.is_some_and(|domain| domain.periodic[*axis]) && normal[*axis].abs() > 1e-9;
    match (0..3).find(is_across) {
        None => Ok(()),
        Some(axis) => {
            let axis = AXES[axis];
            let complaint = UnlocatedDiagnostic::new(format!("fluid would go along {axis}, where sides are periodic and it comes back"));
            let complaint = complaint.limit(format!("a normal with 0 along {axis}"));
            Err((
                "through",
                complaint.remedy("turn it, or write \"open\" for that axis in world.domain.sides"),
            ))
        }
    }
}

/// Refuses inlets and outlets of a scene without fluids.
pub(super) fn refuse_dry(file: &SceneFile, findings: &mut CheckState) {
    let inlets = file.inlet.keys().map(|name| format!("inlet.{name}"));
    for path in inlets.chain(file.outlet.keys().map(|name| format!("outlet.{name}"))) {
        let complaint = UnlocatedDiagnostic::new(format!("{path}: it is for fluids, and the scene has none"));
        let remedy = "add a table [fluid.NAME]; grains come by `inlet` of their section [grains.NAME], and leave by a [zone.NAME]";
        findings.add(&path, complaint.remedy(remedy));
    }
}

/// Reports inlets whose fluid is faster than a tenth of its speed of sound.
pub(super) fn refuse_fast(file: &SceneFile, inlets: &[FluidInlet], kinds: &[Fluid], findings: &mut CheckState) {
    for inlet in inlets {
        let Some(fluid) = kinds.get(inlet.kind as usize) else { continue };
        let most = 0.1 * fluid.sound_speed;
        if inlet.speed > most * (1.0 + 1e-9) {
            let path = format!("inlet.{}", inlet.name);
            let is_by_rate = file.inlet.get(&inlet.name).is_some_and(|section| section.rate.is_some());
            let key = if is_by_rate { "rate" } else { "speed" };
            let complaint = UnlocatedDiagnostic::new(format!(
                "{path}: {:.4} m/s are too fast for densities to stay within 1 %",
                inlet.speed
            ));
            let limit = format!("<= {most:.4} m/s, a tenth of the speed of sound in fluid.{}", fluid.name);
            let remedy = "lower it, widen the inlet, or leave `fastest` and `sound_speed` of the fluid out";
            findings.add(&format!("{path}.{key}"), complaint.limit(limit).remedy(remedy));
        }
    }
}
