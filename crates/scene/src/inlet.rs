//! Inlets: grains that enter during the run, at random free positions in a volume.

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    fill::{si, sizes},
    grains::fnv1a,
    interactions::Materials,
    polyhedra::PolyhedronOfInlet,
    quantity::{Length, Mass, NotNegative, Positive, Quantity, Time, Velocity},
    rate::Rate,
    schema::{BoxShape, CylinderRegion, Direction, Radius, SceneFile, SphereRegion, Vector},
    shape::{self, Placement},
    stage::StageItem,
    vocabulary::{LARGEST_WHOLE, WholeNumber},
    volume::Volume,
    walls::unit,
};
use glam::{DQuat, DVec3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use schemars::JsonSchema;
use seixo_engine::radius_distribution::RadiusDistribution;
use seixo_engine::state::{GrainScalar, StartScalars};
use seixo_engine::world::{Domain, ExpectedGrains, Grains, Vec3, Wall, World};
use seixo_engine::{Simulation, WorldError, free_of_walls};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Depth of an inlet through a surface, in largest radii.
const RADII_DEEP: f64 = 6.0;
/// Positions tried for a grain.
const MAX_TRIES: usize = 300;
/// Number of grains in a row without a free position, after which all others wait, too.
const MAX_FAILURES: usize = 20;
/// Solid fraction that random positions reach without a long search.
const EASY_FRACTION: f64 = 0.25;
/// Solid fraction of the grains that may wait.
const MAX_WAITING: f64 = 0.6;
/// Random numbers reserved for an event: two to this power, in words.
const WORDS_OF_EVENT: u32 = 32;
/// Volume of a sphere over its cubed radius \[-\].
const SPHERE: f64 = 4.0 / 3.0 * PI;
/// Spheres that test an inlet for walls.
const SAMPLES: usize = 512;

/// Grains that enter during the run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct InletSection {
    /// Surface or volume in which grains appear.
    pub through: Through,
    /// Mass ("2 kg/s") or number of grains ("1000 1/s") per time.
    #[schemars(example = &"0.1 kg/s")]
    pub rate: Rate,
    /// Time at which the inlet opens.
    #[serde(default)]
    #[schemars(example = &"0.1 s")]
    pub from: Quantity<Time, NotNegative>,
    /// Time at which the inlet closes; with the run if left out.
    #[schemars(example = &"2 s")]
    pub to: Option<Quantity<Time, Positive>>,
    /// Radii of the grains.
    pub radius: Radius,
    /// Velocity of the grains; that of the section is added.
    #[serde(default)]
    #[schemars(example = serde_json::json!([0, 0, "-1 m/s"]))]
    pub velocity: Vector<Velocity>,
    /// Largest number of grains.
    #[schemars(example = 1000)]
    pub count: Option<WholeNumber<1, LARGEST_WHOLE>>,
    /// Largest total mass.
    #[schemars(example = &"1 kg")]
    pub mass: Option<Quantity<Mass, Positive>>,
    /// Simulated time between two attempts to place grains; the time that grains take to leave the inlet if left out.
    pub every: Option<Quantity<Time, Positive>>,
}

/// Volume in which grains appear: directly behind a surface, or a part of space.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Through {
    /// A disc; grains enter on the side to which the normal points.
    Disc(Disc),
    /// A rectangle; grains enter on the side of the cross product of its edges.
    Rectangle(Rectangle),
    /// A box between two corners.
    Box(BoxShape),
    /// The inside of a cylinder.
    Cylinder(CylinderRegion),
    /// The inside of a sphere.
    Sphere(SphereRegion),
}

/// A disc as an inlet or outlet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "center": [0, 0, "20 cm"], "normal": [0, 0, -1], "radius": "2 cm" }))]
pub(crate) struct Disc {
    /// Center.
    pub center: Vector<Length>,
    /// Direction of the flow, of any length.
    pub normal: Direction,
    /// Radius.
    pub radius: Quantity<Length, Positive>,
}

/// A rectangle as an inlet or outlet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({ "center": [0, 0, "20 cm"], "edges": [[0, "2 cm", 0], ["4 cm", 0, 0]] }))]
pub(crate) struct Rectangle {
    /// Center.
    pub center: Vector<Length>,
    /// Two edges at right angles.
    pub edges: [Vector<Length>; 2],
}

impl Rectangle {
    /// Its edges, if they span one \[m\].
    pub fn spanned(&self) -> Result<[DVec3; 2], UnlocatedDiagnostic> {
        let edges = self.edges.map(|edge| DVec3::from(si(&edge)));
        let [a, b] = edges;
        if a.length() * b.length() > 0.0 && a.dot(b).abs() <= 1e-6 * a.length() * b.length() {
            return Ok(edges);
        }
        Err(UnlocatedDiagnostic::new(format!("the edges {a} and {b} span no rectangle"))
            .limit("two edges with a length, at right angles")
            .remedy("write edges = [[\"4 cm\", 0, 0], [0, \"2 cm\", 0]]"))
    }
}

/// Grains that enter during a run.
#[derive(Clone, Debug)]
pub struct Inlet {
    /// Name of their section.
    pub name: String,
    /// Index into [`seixo_engine::world::World::groups`].
    pub group: u32,
    /// Mass or number of grains per time.
    pub rate: Rate,
    /// Time at which the inlet opens \[s\].
    pub from: f64,
    /// Time at which it closes \[s\]; infinite if it stays open to the end of the run.
    pub to: f64,
    /// Time between two events, at which free positions are searched \[s\].
    pub every: f64,
    most_count: f64,
    most_mass: f64,
    material: u32,
    density: f64,
    velocity: Vec3,
    angular_velocity: Vec3,
    scalars: StartScalars,
    volume: Volume,
    radii: RadiusDistribution,
    /// What its grains are; `None` for spheres.
    polyhedron: Option<PolyhedronOfInlet>,
    /// Orientation of its polyhedra relative to the axes of their shape; at random if left out.
    turn: Option<DQuat>,
    seed: u64,
    stream: u64,
}

/// Grains that entered through an inlet so far, and grains that wait for a free position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InletTotals {
    /// Number of grains that entered.
    pub count: u64,
    /// Their mass \[kg\].
    pub mass: f64,
    /// Radii of the grains that were drawn and have no position yet \[m\].
    pub waiting: Vec<f64>,
}

/// Data of an inlet that other parts of the scene give.
struct Around<'a> {
    name: &'a str,
    group: u32,
    material: u32,
    density: f64,
    velocity: Vec3,
    angular_velocity: Vec3,
    scalars: StartScalars,
    gravity: Vec3,
    polyhedron: Option<PolyhedronOfInlet>,
    turn: Option<DQuat>,
    seed: u64,
    stream: u64,
}

/// The inlets of a scene; `absent` lists items that are not present at the start, and `polyhedra` what grains of some sections are.
pub(crate) fn inlets(
    file: &mut SceneFile,
    materials: &Materials,
    world: &World,
    (absent, polyhedra): (&[StageItem], &BTreeMap<String, PolyhedronOfInlet>),
    findings: &mut CheckState,
) -> Vec<Inlet> {
    let is_there = |index: &usize| {
        !absent
            .iter()
            .any(|thing| matches!(thing, StageItem::Walls(walls) if walls.contains(index)))
    };
    let there = (0..world.walls.len()).filter(is_there);
    let walls: Vec<Wall> = there.map(|index| world.walls[index].clone()).collect();
    let seed = file.run.seed.0;
    let mut inlets = Vec::new();
    for (group, (name, section)) in file.grains.iter_mut().enumerate() {
        let scalars = section.scalars();
        // The section of the grains already reports an error.
        let turn = section.orientation.as_ref().and_then(|turn| shape::orientation(turn).ok());
        let Some(own) = &mut section.inlet else { continue };
        let path = format!("grains.{name}");
        let material = match section.material.as_deref().map(|material| materials.index(material)) {
            Some(Ok(material)) => material,
            // The section of the grains already reports this error.
            Some(Err(_)) => continue,
            None => {
                let complaint =
                    UnlocatedDiagnostic::new("`material` is missing").remedy(format!("add material = \"…\"; {}", materials.known()));
                findings.add(&path, complaint.within(&path));
                continue;
            }
        };
        let around = Around {
            name,
            group: group as u32,
            material,
            density: world.materials[material as usize].density,
            velocity: si(&section.velocity),
            angular_velocity: si(&section.angular_velocity),
            scalars,
            gravity: world.gravity,
            polyhedron: polyhedra.get(name).cloned(),
            turn,
            seed,
            stream: fnv1a(name),
        };
        let made = Inlet::new(own, &around, findings).and_then(|inlet| {
            let checked = inlet.check(world.domain.as_ref(), &walls, &mut findings.notices);
            checked.map(|()| inlet).map_err(|complaint| ("through", complaint))
        });
        match made {
            Ok(inlet) => inlets.push(inlet),
            Err((key, complaint)) => findings.add(&format!("{path}.inlet.{key}"), complaint.within(&format!("{path}.inlet"))),
        }
    }
    inlets
}

/// An error with its key of the inlet.
type At = (&'static str, UnlocatedDiagnostic);

impl Inlet {
    /// The inlet of a section. Fills in keys that the section omits.
    fn new(section: &mut InletSection, around: &Around, findings: &mut CheckState) -> Result<Inlet, At> {
        let radii = sizes(&mut section.radius, findings).map_err(|complaint| ("radius", complaint))?;
        let largest = radii.range()[1];
        let volume = volume_of(&section.through, RADII_DEEP * largest).map_err(|complaint| ("through", complaint))?;
        if volume.largest_radius() < largest {
            let message = format!("a grain of radius {largest} m does not fit into the inlet");
            return Err((
                "through",
                UnlocatedDiagnostic::new(message)
                    .limit(format!("{} m", volume.largest_radius()))
                    .remedy("enlarge it or use smaller grains"),
            ));
        }
        let (from, to) = (section.from.si, section.to.map_or(f64::INFINITY, |to| to.si));
        if from >= to {
            let message = format!("it would end at {to} s, before it begins at {from} s");
            return Err((
                "to",
                UnlocatedDiagnostic::new(message)
                    .limit(format!("> {from} s"))
                    .remedy("let it end later, or begin before"),
            ));
        }
        let velocity = DVec3::from(si(&section.velocity)) + DVec3::from(around.velocity);
        let every = match section.every {
            Some(every) => every.si,
            None => {
                let emptying = time_to_leave(&volume, &section.through, velocity, around.gravity.into());
                let emptying = emptying.map_err(|complaint| ("", complaint))?;
                // In several portions, even if all of them fit in at once.
                emptying.min(0.1 * (to - from))
            }
        };
        section.every = Some(Quantity::new(every));
        Ok(Inlet {
            name: around.name.to_owned(),
            group: around.group,
            rate: section.rate,
            from,
            to,
            every,
            most_count: section.count.map_or(f64::INFINITY, |count| count.0 as f64),
            most_mass: section.mass.map_or(f64::INFINITY, |mass| mass.si),
            material: around.material,
            density: around.density,
            velocity: velocity.to_array(),
            angular_velocity: around.angular_velocity,
            scalars: around.scalars,
            volume,
            radii,
            polyhedron: around.polyhedron.clone(),
            turn: around.turn,
            seed: around.seed,
            stream: around.stream,
        })
    }

    /// Refuses a volume outside of the domain or inside of walls; notes likely problems.
    fn check(&self, domain: Option<&Domain>, walls: &[Wall], notices: &mut Vec<String>) -> Result<(), UnlocatedDiagnostic> {
        let (low, high) = self.volume.bounds();
        if let Some(domain) = domain.filter(|domain| (0..3).any(|k| low[k] < domain.min[k] || high[k] > domain.max[k])) {
            let message = format!("the inlet, from {low:?} to {high:?} m, is not inside the domain");
            return Err(UnlocatedDiagnostic::new(message)
                .limit(format!("{:?} to {:?} m", domain.min, domain.max))
                .remedy("move it, make it smaller, or enlarge world.domain"));
        }
        let free = free_of_walls(walls, &self.samples()) as f64 / SAMPLES as f64;
        if free == 0.0 {
            return Err(
                UnlocatedDiagnostic::new("no grain fits into the inlet: all of it is inside of walls")
                    .limit("a place that is farther from all walls than a radius")
                    .remedy("move the inlet away from the walls"),
            );
        }
        let reached = EASY_FRACTION * free * self.volume.size() / self.every;
        let most = match self.rate {
            Rate::Mass(_) => reached * self.density * self.solid_share(),
            Rate::Count(_) => reached / (SPHERE * self.radii.mean_cube()),
        };
        if self.rate.value() > most {
            notices.push(format!(
                "grains.{}.inlet: {} were asked for; about {:.2e} find a place: widen it, raise the velocity of its grains, or lower the rate",
                self.name,
                self.rate,
                self.rate.with(most).value()
            ));
        }
        Ok(())
    }

    /// Spheres of the smallest radius at random positions in it \[m\].
    pub(crate) fn samples(&self) -> Vec<(Vec3, f64)> {
        let mut random = self.random(0);
        let radius = self.radii.range()[0];
        std::iter::repeat_with(|| (self.volume.place(shares(&mut random), radius), radius))
            .filter(|(place, radius)| self.volume.holds(*place, *radius))
            .take(SAMPLES)
            .collect()
    }

    /// Corners of the bounding box of its volume, parallel to the axes \[m\].
    pub fn bounds(&self) -> [Vec3; 2] {
        self.volume.bounds().into()
    }

    /// The kind of its grains.
    pub fn expected(&self) -> ExpectedGrains {
        let (low, high) = self.volume.bounds();
        ExpectedGrains {
            material: self.material,
            radius: self.radii.range(),
            mass_per_radius: None,
            shape: self.polyhedron.as_ref().map(|polyhedron| polyhedron.index),
            speed: DVec3::from(self.velocity).length(),
            reach: low.iter().chain(&high).fold(0.0, |most, x| most.max(x.abs())),
            highest_id: None,
        }
    }

    /// Amount, in kilograms or grains, that should have entered by now \[s\], if `before` entered before it opened \[s\] (again).
    pub fn due(&self, before: f64, begin: f64, now: f64) -> f64 {
        let most = match self.rate {
            Rate::Mass(_) => self.most_mass,
            Rate::Count(_) => self.most_count,
        };
        (before + self.rate.value() * (now.min(self.to) - begin.max(self.from)).max(0.0)).min(most)
    }

    /// Approximate number of grains that enter until a time \[s\].
    pub fn grains_until(&self, time: f64) -> f64 {
        let mean = self.mean_mass();
        let due = self.due(0.0, self.from, time);
        match self.rate {
            Rate::Mass(_) => (due / mean).min(self.most_count),
            Rate::Count(_) => due.min(self.most_mass / mean),
        }
    }

    /// Amount that entered, in kilograms or grains.
    pub fn amount(&self, poured: &InletTotals) -> f64 {
        match self.rate {
            Rate::Mass(_) => poured.mass,
            Rate::Count(_) => poured.count as f64,
        }
    }

    /// Amount that fits in at once without a long search, in kilograms or grains.
    pub fn filling(&self) -> f64 {
        let volume = EASY_FRACTION * self.volume.size();
        match self.rate {
            Rate::Mass(_) => volume * self.density * self.solid_share(),
            Rate::Count(_) => volume / (SPHERE * self.radii.mean_cube()),
        }
    }

    /// Places grains at free positions until the amount `due` has entered, as far as there is space; the rest waits. Random numbers depend only on
    /// the seed, the name of the inlet and the number of the `event`.
    ///
    /// # Errors
    /// If the simulation cannot be read or changed, or all ids are used.
    pub fn pour(&self, event: u64, due: f64, poured: &mut InletTotals, simulation: &mut Simulation) -> Result<(), WorldError> {
        let mut random = self.random(event);
        self.draw(due, poured, &mut random);
        if poured.waiting.is_empty() {
            return Ok(());
        }
        // Large grains first: small ones fit between them.
        poured.waiting.sort_by(|a, b| b.total_cmp(a));
        let mut id = simulation.next_id();
        let (low, high) = self.volume.bounds();
        let carried: Vec<GrainScalar> = simulation.scalars().collect();
        let mut room = simulation.room(low, high, poured.waiting[0])?;
        let (mut coming, mut waiting, mut failures) = (Grains::default(), Vec::new(), 0);
        for radius in std::mem::take(&mut poured.waiting) {
            let is_free = |place: &Vec3| self.volume.holds(*place, radius) && room.is_free(*place, radius);
            let tries = if failures < MAX_FAILURES { MAX_TRIES } else { 0 };
            let mut places = (0..tries).map(|_| self.volume.place(shares(&mut random), radius));
            let Some(place) = places.find(is_free) else {
                failures += 1;
                waiting.push(radius);
                continue;
            };
            failures = 0;
            room.take(place, radius);
            let Ok(new) = u32::try_from(id) else {
                return Err(WorldError::FluidSurroundings {
                    what: "the number of grains that ever came",
                    value: id as f64,
                    must: "below 2^32: lower the rates of the inlets",
                });
            };
            if let Some(PolyhedronOfInlet { index, drawn }) = &self.polyhedron {
                let placed = Placement {
                    center: place,
                    radius,
                    orientation: self.turn.unwrap_or_else(|| shape::any_turn(&mut random)),
                    velocity: self.velocity,
                    angular_velocity: self.angular_velocity,
                    joint: None,
                };
                drawn.put(&mut coming, *index, new, &placed, self.density, (self.material, self.group));
            } else {
                coming.push(new, place, self.velocity, self.angular_velocity, radius, self.material, self.group);
            }
            coming.scalars.extend_to(coming.len(), &self.scalars, &carried);
            id += 1;
        }
        simulation.insert(&coming)?;
        poured.waiting = waiting;
        poured.count += coming.len() as u64;
        poured.mass += coming.radius.iter().map(|&radius| self.mass_of(radius)).sum::<f64>();
        Ok(())
    }

    /// Draws the grains that are due and not drawn yet: without bias, at most half a grain too many or too few on average.
    fn draw(&self, due: f64, poured: &mut InletTotals, random: &mut ChaCha12Rng) {
        let half = 0.5 * self.mean_mass();
        let most_waiting = MAX_WAITING * self.volume.size() * self.density * self.solid_share();
        let mut waiting: f64 = poured.waiting.iter().map(|&radius| self.mass_of(radius)).sum();
        loop {
            let (mass, count) = (
                poured.mass + waiting + half,
                (poured.count + poured.waiting.len() as u64) as f64 + 0.5,
            );
            let is_due = match self.rate {
                Rate::Mass(_) => mass <= due,
                Rate::Count(_) => count <= due,
            };
            if !is_due || mass > self.most_mass || count > self.most_count || waiting > most_waiting {
                return;
            }
            let radius = self.radii.draw(|| random.random());
            waiting += self.mass_of(radius);
            poured.waiting.push(radius);
        }
    }

    fn mass_of(&self, radius: f64) -> f64 {
        self.volume_at_one() * radius.powi(3) * self.density
    }

    fn mean_mass(&self) -> f64 {
        self.density * self.volume_at_one() * self.radii.mean_cube()
    }

    /// Volume of a grain over its cubed radius \[-\].
    fn volume_at_one(&self) -> f64 {
        let polyhedron = self.polyhedron.as_ref();
        polyhedron.map_or(SPHERE, |polyhedron| polyhedron.drawn.shape.volume)
    }

    /// Volume of a grain over that of its bounding sphere \[-\].
    fn solid_share(&self) -> f64 {
        self.volume_at_one() / SPHERE
    }

    /// The random numbers of an event.
    fn random(&self, event: u64) -> ChaCha12Rng {
        let mut random = ChaCha12Rng::seed_from_u64(self.seed);
        random.set_stream(self.stream);
        random.set_word_pos(u128::from(event) << WORDS_OF_EVENT);
        random
    }
}

/// Three numbers from -1 to 1.
fn shares(random: &mut ChaCha12Rng) -> [f64; 3] {
    [random.random::<f64>(), random.random(), random.random()].map(|share| 2.0 * share - 1.0)
}

fn volume_of(through: &Through, height: f64) -> Result<Volume, UnlocatedDiagnostic> {
    match through {
        Through::Disc(disc) => {
            let center = DVec3::from(si(&disc.center));
            Volume::between(center, center + height * DVec3::from(unit(&disc.normal)?), disc.radius.si)
        }
        Through::Rectangle(rectangle) => Ok(Volume::upon(si(&rectangle.center).into(), rectangle.spanned()?, height)),
        Through::Box(shape) => Volume::upright(shape),
        Through::Cylinder(shape) => Volume::cylinder(shape),
        Through::Sphere(shape) => Ok(Volume::sphere(shape)),
    }
}

/// Time that grains take to leave the inlet \[s\]: through a surface along its normal, else along their velocity, or by their fall.
fn time_to_leave(volume: &Volume, through: &Through, velocity: DVec3, gravity: DVec3) -> Result<f64, UnlocatedDiagnostic> {
    let along = match through {
        Through::Disc(disc) => DVec3::from(unit(&disc.normal)?),
        Through::Rectangle(rectangle) => {
            let [a, b] = rectangle.edges.map(|edge| DVec3::from(si(&edge)));
            a.cross(b).normalize_or_zero()
        }
        _ if velocity != DVec3::ZERO => velocity.normalize(),
        _ => gravity.normalize_or_zero(),
    };
    let (way, speed, pull) = (volume.extent(along), velocity.dot(along), gravity.dot(along));
    // distance = speed t + ½ pull t², without the difference of large numbers; not a number if they turn back before the end.
    let time = 2.0 * way / (speed + (speed * speed + 2.0 * pull * way).sqrt());
    if time.is_finite() && time > 0.0 {
        return Ok(time);
    }
    Err(
        UnlocatedDiagnostic::new("grains would never leave the inlet: neither their velocity nor gravity takes them along")
            .limit("a velocity out of the inlet")
            .remedy("add velocity = [0, 0, \"-1 m/s\"], turn the normal, or write `every`"),
    )
}
