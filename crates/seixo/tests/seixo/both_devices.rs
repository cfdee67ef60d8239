//! Scenes of `examples` on CPU and GPU (software Vulkan suffices; without any adapter these tests fail). Whole runs on both devices must satisfy the
//! same physical laws, and single steps are compared with each other.

use seixo::Simulation;
use seixo::engine::SurroundingsChange;
use seixo::engine::state::{Column, GrainSnapshot, State};
use seixo::engine::world::{DeviceChoice, Precision, Settings, Vec3, World};
use seixo::run::StageRunner;
use seixo::scene::{Scene, load};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const CPU: (DeviceChoice, Precision) = (DeviceChoice::Cpu, Precision::F64);
const GPU: DeviceChoice = DeviceChoice::Gpu(None);

fn on((device, precision): (DeviceChoice, Precision), settings: &Settings) -> Settings {
    Settings {
        device,
        precision: Some(precision),
        ..settings.clone()
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn scene(path: &Path, changes: &[(&str, &str)]) -> Scene {
    let changes: Vec<(String, String)> = changes.iter().map(|&(key, value)| (key.into(), value.into())).collect();
    load(path, &changes).unwrap_or_else(|found| panic!("{}: {found}", path.display()))
}

/// Takes steps, then updates all quantities that can be read from the simulation.
fn advance(simulation: &mut Simulation, steps: u64) {
    simulation.advance(steps).unwrap_or_else(|stop| panic!("{stop}"));
    simulation.observe().unwrap_or_else(|stop| panic!("{stop}"));
}

fn length(a: Vec3) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// a + s b.
fn along(a: Vec3, s: f64, b: Vec3) -> Vec3 {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}

fn apart(a: Vec3, b: Vec3) -> f64 {
    length(along(a, -1.0, b))
}

/// Sum of s b over the pairs (s, b).
fn total<'a>(terms: impl Iterator<Item = (f64, &'a Vec3)>) -> Vec3 {
    terms.fold([0.0; 3], |sum, (s, b)| along(sum, s, *b))
}

fn smallest_radius(grains: &GrainSnapshot) -> f64 {
    grains.radius.iter().copied().fold(f64::INFINITY, f64::min)
}

/// An example, reduced so that software Vulkan runs it in seconds.
struct Stage {
    example: &'static str,
    /// Changed values of the scene, by the paths of their keys.
    changes: &'static [(&'static str, &'static str)],
    /// Number of steps of the whole run.
    steps: u64,
    precision: Precision,
    /// Step of the CPU run at which there are many contacts, and no grain has left yet.
    in_contact: u64,
    /// Whether a sphere with this center \[m\] and radius \[m\] is inside the walls.
    fits: fn(Vec3, f64) -> bool,
    /// Whether grains leave the domain.
    loses_grains: bool,
}

/// Planes, two materials, three size classes, and beads that leave the domain.
const CRATER: Stage = Stage {
    example: "crater",
    changes: &[
        ("grains.bed.fill.count", "500"),
        (
            "grains.bed.fill.region.box",
            r#"{ min = ["-25 mm", "-25 mm", "0.1 mm"], max = ["25 mm", "25 mm", "30 mm"] }"#,
        ),
        (
            "wall.box.box",
            r#"{ min = ["-25 mm", "-25 mm", 0], max = ["25 mm", "25 mm", "10 cm"], open = ["top"] }"#,
        ),
        ("grains.ball.at", r#"[[0, 0, "26 mm"]]"#),
        ("grains.ball.radius", "8 mm"),
        ("grains.ball.velocity", r#"[0, 0, "-3 m/s"]"#),
        ("world.domain.max", r#"["8 cm", "8 cm", "26.5 mm"]"#),
    ],
    steps: 3100,
    precision: Precision::F64,
    in_contact: 1000,
    fits: |center, radius| center[0].abs().max(center[1].abs()) + radius <= 0.025 && center[2] >= radius,
    loses_grains: true,
};

/// A closed rotating drum of triangles, three materials, two size classes.
const DRUM: Stage = Stage {
    example: "drum",
    changes: &[("grains.large.fill.count", "100"), ("grains.small.fill.count", "300")],
    steps: 3100,
    precision: Precision::Mixed,
    in_contact: 2500,
    fits: |center, radius| center[0].hypot(center[2]) + radius <= 0.1 && center[1].abs() + radius <= 0.02,
    loses_grains: false,
};

/// A narrower tube that is lifted faster, so that sand leaves it soon.
const HEAP: Stage = Stage {
    example: "heap",
    changes: &[
        ("grains.sand.fill.count", "350"),
        ("grains.sand.fill.region.cylinder.from", r#"[0, 0, "0.5 mm"]"#),
        ("grains.sand.fill.region.cylinder.radius", "18 mm"),
        ("wall.tube.cylinder.radius", "19 mm"),
        ("wall.tube.motion.translate", r#"[0, 0, "20 cm/s"]"#),
    ],
    steps: 2850,
    precision: Precision::F64,
    in_contact: 1900,
    fits: |center, radius| center[0].hypot(center[1]) + radius <= 0.07 && center[2] >= radius,
    loses_grains: false,
};

/// Rotating blades from a mesh file in a tank.
const MIXER: Stage = Stage {
    example: "mixer",
    changes: &[("grains.left.fill.count", "150"), ("grains.right.fill.count", "150")],
    steps: 3850,
    precision: Precision::Mixed,
    in_contact: 3200,
    fits: |center, radius| center[0].hypot(center[1]) + radius <= 0.06 && center[2] >= radius,
    loses_grains: false,
};

/// Number of initial steps without contacts, in all stages.
const FREE: u64 = 100;
/// Steps between two samples.
const LOOK: u64 = 250;
/// Largest residual of the ledger, as a share of the transferred energy. For soft grains, the "auto" time step leaves up to 4.4e-3 in these scenes,
/// on the CPU as on a GPU. The error is of second order: half the step gives a quarter of it. It is below 1e-3 in scenes that choose their own step
/// for it.
const RESIDUAL: f64 = 6e-3;

/// Allowance for rounding in a balance, as a share of the sum of all absolute terms. Forces, gravity and the time step of mixed precision have
/// relative errors of 2⁻²⁴ = 6·10⁻⁸ each; the allowance is 16 of them. In double precision a sum of hundreds of momenta has a relative error of
/// 10⁻¹⁵, and a step changes the momenta by as little as a relative 10⁻⁵.
fn rounding(precision: Precision) -> f64 {
    match precision {
        Precision::F64 => 1e-9,
        Precision::Mixed | Precision::F32 => 1e-6,
    }
}

/// Result of a run.
struct Observed {
    /// Center of mass at the end \[m\].
    center: Vec3,
    /// Residual of the ledger over the transferred energy.
    residual: f64,
    /// Radius of the smallest grain \[m\].
    radius: f64,
}

/// Sample of the balance of forces and of momentum.
struct Look {
    grains: usize,
    /// Mass of all grains \[kg\].
    mass: f64,
    /// Momentum of all grains \[kg m/s\].
    momentum: Vec3,
    /// Force of the grains on all walls \[N\].
    on_walls: Vec3,
    /// Sum of forces on grains \[N\]: pair forces cancel, wall forces remain.
    on_grains: Vec3,
    /// Sum of the magnitudes of these forces \[N\].
    pushes: f64,
}

impl Look {
    fn at(simulation: &Simulation) -> Look {
        let grains = simulation.snapshot();
        Look {
            grains: grains.id.len(),
            mass: grains.mass.iter().sum(),
            momentum: simulation.momentum().linear,
            on_walls: total(simulation.walls().iter().map(|wall| (1.0, &wall.force))),
            on_grains: total(grains.force.iter().map(|force| (1.0, force))),
            pushes: grains.force.iter().map(|&force| length(force)).sum(),
        }
    }
}

impl Stage {
    fn scene(&self) -> Scene {
        scene(&examples().join(self.example).with_extension("toml"), self.changes)
    }

    /// Runs the scene on any device and checks physical laws. Grains fall freely until the first contact. Action equals reaction. Momentum comes only
    /// from gravity and walls, so walls carry the grains that do not fall. The ledger loses no energy, and no grain passes a wall.
    fn observables(&self, settings: Settings) -> Observed {
        let world = self.scene().world;
        let (gravity, domain, count) = (world.gravity, world.domain.expect("every stage has a domain"), world.grains.len());
        let mut simulation = Simulation::new(world, settings).unwrap_or_else(|refusal| panic!("{refusal}"));
        let place = format!(
            "{} on {} in {}",
            self.example,
            simulation.device_name(),
            simulation.precision().name()
        );
        let (rounding, step) = (rounding(simulation.precision()), simulation.time_step().value);

        let at_start = simulation.snapshot();
        let mass: f64 = at_start.mass.iter().sum();
        let center = |grains: &GrainSnapshot| {
            let held: f64 = grains.mass.iter().sum();
            total(grains.mass.iter().map(|mass| mass / held).zip(&grains.position))
        };
        let drift = simulation.momentum().linear.map(|momentum| momentum / mass);
        advance(&mut simulation, FREE);
        assert_eq!(simulation.contacts(), 0, "{place}");
        let time = simulation.time();
        let way = along([0.0; 3], time, along(drift, 0.5 * time, gravity));
        let went = along(center(&simulation.snapshot()), -1.0, center(&at_start));
        assert!(apart(went, way) <= rounding * length(way), "{place}: {went:?}, {way:?} expected");

        let (mut residual, mut reaction, mut change, mut borne) = (0.0f64, 0.0f64, 0.0f64, 0.0);
        while simulation.steps() < self.steps {
            advance(&mut simulation, LOOK);
            let before = Look::at(&simulation);
            advance(&mut simulation, 1);
            let after = Look::at(&simulation);
            let unpaired = length(along(after.on_grains, 1.0, after.on_walls));
            assert!(
                unpaired <= rounding * after.pushes,
                "{place}: walls push grains by {:?} and are pushed by {:?}",
                after.on_grains,
                after.on_walls
            );
            if after.pushes > 0.0 {
                reaction = reaction.max(unpaired / after.pushes);
            }
            // A grain that leaves removes its momentum.
            if before.grains == after.grains {
                let on_walls = along(before.on_walls, 1.0, after.on_walls);
                let force = along(along([0.0; 3], after.mass, gravity), -0.5, on_walls);
                let gained = along(after.momentum, -1.0, before.momentum);
                let size = step * (after.mass * length(gravity) + 0.5 * (before.pushes + after.pushes));
                let off = apart(gained, force.map(|force| step * force)) / size;
                assert!(
                    off <= rounding,
                    "{place}: momentum changes by {gained:?}, {force:?} N acted for {step:e} s"
                );
                change = change.max(off);
            }
            let ledger = simulation.ledger();
            let taken = ledger.normal_damping + ledger.tangential_damping + ledger.friction + ledger.local_damping;
            residual = ledger.residual / (taken + ledger.kinetic + ledger.rotational);
            assert!(
                residual.abs() < RESIDUAL,
                "{place}: {residual:e} of what moved is missing in {ledger:?}"
            );
            let grains = simulation.snapshot();
            // What left waits for the next rebuild, which half the skin, rounded in the precision of the run, brings about.
            let waits = if self.loses_grains {
                0.5 * (1.0 + 1e-6) * simulation.skin()
            } else {
                0.0
            };
            for ((id, &center), radius) in grains.id.iter().zip(&grains.position).zip(&grains.radius) {
                let is_inside = (0..3).all(|axis| (domain.min[axis] - waits..=domain.max[axis] + waits).contains(&center[axis]));
                // Runs with deeper overlaps with a wall stop.
                assert!(
                    is_inside && (self.fits)(center, 0.5 * radius),
                    "{place}: grain {id} got out to {center:?}"
                );
            }
            borne = -after.on_walls[2] / (after.mass * length(gravity));
        }
        let grains = simulation.snapshot();
        println!(
            "{place}: {} of {count} grains, {} contacts, walls bear {borne:.2} of the weight; off by {reaction:.1e} in reactions, \
             {change:.1e} in momentum, {residual:.1e} in energy",
            grains.id.len(),
            simulation.contacts()
        );
        assert_eq!(
            grains.id.len() < count,
            self.loses_grains,
            "{place}: {} of {count} grains",
            grains.id.len()
        );
        assert!(simulation.contacts() > 50, "{place}");
        Observed {
            center: center(&grains),
            residual,
            radius: smallest_radius(&grains),
        }
    }

    /// Runs the scene on both devices.
    fn keeps_the_laws_everywhere(&self) {
        let settings = self.scene().settings;
        let expected = self.observables(on(CPU, &settings));
        let found = self.observables(on((GPU, self.precision), &settings));
        // Paths of single grains diverge: a collision multiplies a difference by ten, so after some collisions rounding errors reach a tenth of a
        // radius. Means of hundreds of grains agree: the center of mass to a twentieth of a radius, …
        let moved = apart(expected.center, found.center) / found.radius;
        assert!(moved < 0.05, "{}: {moved:e} R", self.example);
        // … and the ledgers to a thousandth of the transferred energy.
        let missing = (expected.residual - found.residual).abs();
        assert!(missing < 1e-3, "{}: {missing:e} more or less is missing", self.example);
    }

    /// Continues from the same state on both devices, during many collisions.
    fn stays_together(&self) {
        let Scene { world, settings, .. } = self.scene();
        // With the same skin, both remove grains that left at the same steps.
        let skin = Simulation::new(world.clone(), on(CPU, &settings)).unwrap().skin();
        let settings = Settings {
            skin: Some(skin),
            ..settings
        };
        let mut first = Simulation::new(world.clone(), on(CPU, &settings)).unwrap();
        advance(&mut first, self.in_contact);
        assert!(first.contacts() > 50, "{}: {} contacts", self.example, first.contacts());
        let state = first.save().unwrap();
        let go_on = |place| {
            let mut simulation = Simulation::restore(world.clone(), on(place, &settings), &state).unwrap();
            advance(&mut simulation, 300);
            simulation.snapshot()
        };
        let expected = go_on(CPU);
        // 10⁻¹⁶ of a coordinate of 50 radii, multiplied by ten at each of a few collisions. In mixed precision the time step has a relative error of
        // 3·10⁻⁸, and so have displacements of some radii in this time. Forces have errors of 10⁻⁶ of the largest force. Collisions multiply both
        // errors.
        for (precision, bar) in [(Precision::F64, 1e-10), (Precision::Mixed, 1e-5)] {
            let found = go_on((GPU, precision));
            assert_eq!(expected.id, found.id);
            let pairs = expected.position.iter().zip(&found.position);
            let farthest = pairs.map(|(&a, &b)| apart(a, b)).fold(0.0, f64::max) / smallest_radius(&expected);
            assert!(farthest < bar, "{} in {}: {farthest:e} R", self.example, precision.name());
        }
    }
}

#[test]
fn a_ball_throws_up_the_same_crater() {
    CRATER.keeps_the_laws_everywhere();
    CRATER.stays_together();
}

#[test]
fn a_drum_turns_the_same_grains() {
    DRUM.keeps_the_laws_everywhere();
    DRUM.stays_together();
}

#[test]
fn sand_runs_out_of_a_tube_the_same_way() {
    HEAP.keeps_the_laws_everywhere();
    HEAP.stays_together();
}

#[test]
fn blades_stir_the_same_grains() {
    MIXER.keeps_the_laws_everywhere();
    MIXER.stays_together();
}

/// Changes of the surroundings, with their steps.
type Past = Vec<(u64, Vec<SurroundingsChange>)>;

/// Returns a state with at least half as many contacts as grains, or with the largest number that the CPU reaches in some seconds; earlier changes of
/// the surroundings; and the number of contacts.
fn in_touch(scene: &Scene) -> (State, Past, u64) {
    let settings = on(CPU, &scene.settings);
    let mut simulation = Simulation::new(scene.world.clone(), settings).unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut course = StageRunner::new(&scene.plan, simulation.time_step().value);
    let (mut work, least) = (10_000_000, 50 * u64::from(!course.is_empty()));
    loop {
        let (count, contacts) = (simulation.len() as u64, simulation.contacts());
        let is_enough = 2 * contacts >= count && contacts > least;
        if is_enough || simulation.steps() >= 20_000 || work <= 0 {
            break;
        }
        course
            .happen(&mut simulation)
            .unwrap_or_else(|refusal| panic!("{}: {refusal}", scene.title));
        // A contact of a bouncing ball lasts some 60 steps.
        let steps = (course.next_step_after(simulation.steps()) - simulation.steps()).min(50);
        advance(&mut simulation, steps);
        work -= (simulation.len() as u64 * steps) as i64;
    }
    (simulation.save().unwrap(), course.past(), simulation.contacts())
}

/// Rounds the state to single precision. Positions at the last list rebuild and radii stay, since the order of the grains follows from them. The
/// error of a radius would be a hundredth of that of a coordinate.
fn rounded(state: &State) -> State {
    let mut state = state.clone();
    for (name, column) in &mut state.sections {
        let name = name.as_str();
        let is_held = ["grains/", "contacts/", "walls/"].iter().any(|part| name.starts_with(part)) && name != "grains/reference";
        if let Column::F64(values) = column
            && is_held
        {
            for (k, value) in values.iter_mut().enumerate() {
                if name != "grains/position" || k % 4 < 3 {
                    *value = f64::from(*value as f32);
                }
            }
        }
    }
    state
}

/// Returns the grains before and after a step from a state, and the wall elements in contact with each grain.
fn one_step_on(world: &World, settings: Settings, (state, past): (&State, &Past)) -> (GrainSnapshot, GrainSnapshot, BTreeSet<(u32, u32)>) {
    let mut simulation = Simulation::restore_changed(world.clone(), settings, state, past).unwrap_or_else(|refusal| panic!("{refusal}"));
    let before = simulation.snapshot();
    simulation.step().unwrap_or_else(|stop| panic!("{stop}"));
    let state = simulation.save().unwrap();
    let Some(Column::U32(touching)) = state.get("walls/touching") else {
        panic!("states list what touches walls");
    };
    let touching = touching.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    (before, simulation.snapshot(), touching)
}

/// Largest relative difference of forces and torques of all grains except `without`. Forces are divided by the largest force, or by `least` if that
/// is larger. Torques are divided by this force times the smallest radius.
fn difference(a: &GrainSnapshot, b: &GrainSnapshot, without: &BTreeSet<u32>, least: f64) -> f64 {
    assert_eq!(a.id, b.id);
    let force = a.force.iter().map(|&force| length(force)).fold(least, f64::max);
    let radius = smallest_radius(a);
    let off = |k: usize| [apart(a.force[k], b.force[k]), apart(a.torque[k], b.torque[k]) / radius].map(|off| off / force);
    let grains = (0..a.id.len()).filter(|&k| !without.contains(&a.id[k]));
    // `f64::max` would ignore NaN.
    let shares = grains.flat_map(off).inspect(|share| assert!(share.is_finite(), "{share}"));
    shares.fold(0.0, f64::max)
}

/// Force of the stiffest bonds at a strain of 10⁻³ \[N\], close to failure; zero without bonds. In a specimen at rest the force on a grain is a small
/// difference of such forces, and shows their rounding errors.
fn pull_of_bonds(world: &World) -> f64 {
    let radius = world.grains.radius.iter().copied().fold(f64::INFINITY, f64::min);
    let stiffest = world.bonds.iter().map(|bonds| bonds.youngs_modulus).fold(0.0, f64::max);
    // With a given stiffness forces are exact to the rounding of places, some 10⁻¹⁶ m times the stiffness.
    let given = world.bonds.iter().filter_map(|bonds| bonds.stiffness).fold(0.0, f64::max);
    (1e-3 * stiffest * radius * radius).max(5e-2 * given * radius)
}

/// Tolerances of the comparison of devices: 10⁻¹² in double precision, 10⁻⁵ if only coordinates are in double precision. In single precision a
/// coordinate of 0.1 m has a relative error of 2⁻²⁴ after each step, so an overlap has an error of ε = 10⁻⁸ m. Hertz's force has a relative error of
/// 3/2 ε/δ: 5·10⁻⁴ with the δ = 3·10⁻⁵ m of the softest contacts here. The force of a new contact comes from its dashpot, which grows with the fourth
/// root of the overlap (Tsuji et al. 1992). With e = 0.5, this is 0.4 (ε/δ)^¼ = 0.05 of the largest force; a grain may have two new contacts in a
/// step.
fn bar(precision: Precision) -> f64 {
    match precision {
        Precision::F64 => 1e-12,
        Precision::Mixed => 1e-5,
        Precision::F32 => 1e-1,
    }
}

/// Changes of the examples that would take minutes until their grains are in contact: a fifth of the spheres where all pairs are tested in every step,
/// and twenty of the teapots.
fn smaller(example: &str) -> &'static [(&'static str, &'static str)] {
    match example {
        "falling_spheres" => &[("grains.spheres.fill.region.box.max", r#"["11 cm", "11 cm", "5 cm"]"#)],
        "teapots_430" => &[
            ("grains.pots.fill.count", "20"),
            ("grains.pots.fill.region.box.max", r#"["42 cm", "42 cm", "69 cm"]"#),
        ],
        _ => &[],
    }
}

#[test]
fn one_step_gives_the_same_forces_in_every_example() {
    // Tests of the engine compare bodies in fluids, in smaller tanks.
    let goes = |text: String| text.contains("[grains.") && !text.contains("[fluid.");
    let is_scene = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(goes);
    let files = std::fs::read_dir(examples()).unwrap().map(|entry| entry.unwrap().path());
    let paths: BTreeSet<PathBuf> = files.filter(is_scene).collect();
    let (mut most_contacts, mut failures) = (0, vec![]);
    for path in &paths {
        let name = path.file_stem().unwrap().to_string_lossy();
        let scene = scene(path, smaller(&name));
        let (state, past, contacts) = in_touch(&scene);
        let Scene { world, settings, .. } = scene;
        assert!(contacts > 0 || !world.bonds.is_empty(), "{name}: nothing touches anything");
        most_contacts = contacts.max(most_contacts);
        let digits = 3 - usize::from(!world.scalars().is_empty() || !world.bonds.is_empty());
        for precision in [Precision::F64, Precision::Mixed, Precision::F32].into_iter().take(digits) {
            let single = (precision == Precision::F32).then(|| rounded(&state));
            let state = single.as_ref().unwrap_or(&state);
            let (start, expected, expected_touching) = one_step_on(&world, on(CPU, &settings), (state, &past));
            let (same_start, found, touching) = one_step_on(&world, on((GPU, precision), &settings), (state, &past));
            // Grains of bodies are excluded, as their velocities follow from those of the bodies.
            if precision != Precision::Mixed && world.grains.bodies.is_empty() {
                let numbers = |grains: &GrainSnapshot| (grains.position.clone(), grains.velocity.clone(), grains.force.clone());
                assert!(numbers(&start) == numbers(&same_start), "{name}: both start from the same numbers");
            }
            let off = difference(&expected, &found, &BTreeSet::new(), pull_of_bonds(&world));
            let elsewhere: BTreeSet<u32> = expected_touching.symmetric_difference(&touching).map(|&(id, _)| id).collect();
            let off_of_others = difference(&expected, &found, &elsewhere, pull_of_bonds(&world));
            let (precision_name, elsewhere) = (precision.name(), elsewhere.len());
            let reported = format!(
                "{name} in {precision_name}: {contacts} contacts, forces off by {off:.1e}, {off_of_others:.1e} but for {elsewhere} grains at other elements of walls"
            );
            println!("{reported}");
            failures.extend((off > bar(precision)).then_some(reported));
        }
    }
    assert!(most_contacts > 100, "{most_contacts} contacts at most");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
