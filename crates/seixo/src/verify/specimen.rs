//! Specimens of bonded grains between two platens that approach each other along z: uniaxial compression and the Brazilian test.

use super::CASES;
use super::case_run::{CaseRun, Done, Line, Outcome, mean, run_until};
use seixo_analysis::{Region, Unstrained, components, strain};
use seixo_engine::state::{Ledger, WallSnapshot};
use seixo_engine::world::{Grains, Vec3, World};
use seixo_engine::{BondBreak, Simulation};
use std::f64::consts::PI;

/// Each seed gives another packing, and other bond strengths.
const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];
/// Time between two samples \[s\].
const LOOK: f64 = 5e-5;
/// A specimen has failed if its load is below the first share of its peak, and more than the second share of its bonds is broken. The second
/// condition is needed because the small initial load fluctuates while the first grains touch the platens.
const FAILED: [f64; 2] = [0.8, 2e-3];

/// A sample of a specimen.
struct Look {
    /// Outward forces of the grains on the upper and the lower platen \[N\].
    platens: [f64; 2],
    /// Approach of the platens since the start \[m\].
    way: f64,
    /// Strains of the middle half along the load, and the mean across it, positive in compression \[-\].
    strains: [f64; 2],
}

impl Look {
    /// Mean of the loads on both platens \[N\].
    fn load(&self) -> f64 {
        0.5 * (self.platens[0] + self.platens[1])
    }
}

/// Geometry of a specimen before loading.
struct Shape {
    /// Largest distance of a grain surface from the z axis, and from the y axis \[m\].
    radii: [f64; 2],
    /// Sizes along x, y and z \[m\].
    size: Vec3,
}

impl Shape {
    fn of(grains: &Grains) -> Shape {
        let farthest = |reach: &dyn Fn(&Vec3) -> f64| {
            let reaches = grains
                .position
                .iter()
                .zip(&grains.radius)
                .map(|(center, radius)| reach(center) + radius);
            reaches.fold(f64::NEG_INFINITY, f64::max)
        };
        let size = |axis: usize| farthest(&|center| center[axis]) + farthest(&|center| -center[axis]);
        Shape {
            radii: [1, 2].map(|axis| farthest(&|center| center[0].hypot(center[axis]))),
            size: [0, 1, 2].map(size),
        }
    }
}

/// A specimen that was loaded until failure.
struct Test {
    shape: Shape,
    looks: Vec<Look>,
    /// Index of the sample with the peak load.
    peak: usize,
    breaks: Vec<BondBreak>,
    ledger: Ledger,
}

impl Test {
    /// Peak load \[N\].
    fn strength(&self) -> f64 {
        self.looks[self.peak].load()
    }

    /// Index of the first sample with half of the peak load.
    fn half(&self) -> usize {
        let half = 0.5 * self.strength();
        self.looks.iter().position(|look| look.load() >= half).unwrap_or(self.peak)
    }

    /// Returns that sample.
    fn at_half(&self) -> &Look {
        &self.looks[self.half()]
    }

    /// Mean difference of the loads on both platens from half of the peak to the peak, over the peak \[-\].
    fn imbalance(&self) -> f64 {
        let rise = &self.looks[self.half()..=self.peak];
        mean(rise, |look| (look.platens[0] - look.platens[1]).abs()) / self.strength()
    }

    /// Residual of the ledger over the work of the platens \[-\].
    fn residual(&self) -> f64 {
        (self.ledger.residual / self.ledger.wall_work).abs()
    }
}

fn wall<'a>(walls: &'a [WallSnapshot], name: &str) -> Outcome<&'a WallSnapshot> {
    let found = walls.iter().find(|wall| wall.name == name);
    found.ok_or_else(|| format!("the scene has no wall `{name}`").into())
}

/// Loads the specimen of a seed until failure.
fn press(case_run: &mut CaseRun, seed: u64) -> Outcome<Test> {
    let scene = case_run.scene_with(&[("run.seed".to_owned(), seed.to_string())])?;
    let (until, shape) = (scene.run.until, Shape::of(&scene.world.grains));
    let quarter = 0.25 * shape.size[2];
    let middle = Region::Box {
        min: [f64::NEG_INFINITY, f64::NEG_INFINITY, -quarter].into(),
        max: [f64::INFINITY, f64::INFINITY, quarter].into(),
    };
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let unstrained = Unstrained::of(0, Some(&middle), &simulation.snapshot());
    let [made, _] = simulation.bond_counts();
    let gap = |walls: &[WallSnapshot]| -> Outcome<f64> { Ok(wall(walls, "top")?.position[2] - wall(walls, "bottom")?.position[2]) };
    let opening = gap(&simulation.walls())?;
    let (mut looks, mut breaks, mut peak): (Vec<Look>, Vec<BondBreak>, usize) = (Vec::new(), Vec::new(), 0);
    while simulation.time() < until {
        let next = simulation.time() + LOOK;
        run_until(&mut simulation, next)?;
        let [across_x, across_y, along, ..] = components(&strain(&unstrained, &simulation.snapshot()).tensor);
        let walls = simulation.walls();
        let look = Look {
            platens: [wall(&walls, "top")?.force[2], -wall(&walls, "bottom")?.force[2]],
            way: opening - gap(&walls)?,
            strains: [along, 0.5 * (across_x + across_y)],
        };
        breaks.extend(simulation.drain_bond_breaks());
        let load = look.load();
        looks.push(look);
        if load > looks[peak].load() {
            peak = looks.len() - 1;
        }
        case_run.print_progress(&format!("seed {seed}"), &simulation, until);
        let [of_peak, of_bonds] = FAILED;
        if load < of_peak * looks[peak].load() && breaks.len() as f64 > of_bonds * made as f64 {
            return Ok(Test {
                shape,
                looks,
                peak,
                breaks,
                ledger: simulation.ledger(),
            });
        }
    }
    Err(format!("seed {seed}: the specimen has not failed after {until} s").into())
}

/// Tests the specimens of all seeds.
fn test_all(case_run: &mut CaseRun) -> Outcome<Vec<Test>> {
    SEEDS.iter().map(|&seed| press(case_run, seed)).collect()
}

/// Adds rows for a figure: the value of each seed and their mean, with a tolerance of this share; and the standard deviation over the mean, at most
/// half of the share. Returns the mean.
fn scatter(case_run: &mut CaseRun, what: &str, unit: &str, figures: &[f64], share: f64) -> f64 {
    let middle = mean(figures, |figure| *figure);
    for (seed, figure) in SEEDS.iter().zip(figures) {
        case_run.row_within(share, format!("{what}: seed {seed}, and the mean [{unit}]"), *figure, middle);
    }
    let squares: f64 = figures.iter().map(|figure| (figure - middle).powi(2)).sum();
    let deviation = (squares / (figures.len() - 1) as f64).sqrt();
    case_run.row(
        format!("{what}: standard deviation over mean [-]"),
        deviation / middle,
        0.0,
        0.5 * share,
    );
    middle
}

/// Returns a line for each seed, with a point for each sample.
fn lines(tests: &[Test], point: impl Fn(&Test, &Look) -> (f64, f64)) -> Vec<Line> {
    let line = |(seed, test): (&u64, &Test)| -> Line {
        let points = test.looks.iter().map(|look| point(test, look));
        (format!("seed {seed}"), points.collect())
    };
    SEEDS.iter().zip(tests).map(line).collect()
}

/// Largest value of a figure over all specimens.
fn largest(tests: &[Test], of: impl Fn(&Test) -> f64) -> f64 {
    tests.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
}

/// Young's modulus of the only kind of bonds \[Pa\].
fn bond_modulus(world: &World) -> Outcome<f64> {
    let bonds = world.bonds.first().ok_or("the scene has no bonds")?;
    Ok(bonds.youngs_modulus)
}

/// Compression of cylinders until failure: modulus, Poisson's ratio, strength.
pub fn uniaxial(case_run: &mut CaseRun) -> Done {
    let bond_modulus = bond_modulus(&case_run.scene()?.world)?;
    let tests = test_all(case_run)?;
    let stress = |test: &Test, load: f64| load / (PI * test.shape.radii[0].powi(2));
    let of_all = |figure: &dyn Fn(&Test) -> f64| -> Vec<f64> { tests.iter().map(figure).collect() };
    let moduli = of_all(&|test| 1e-9 * stress(test, test.at_half().load()) / test.at_half().strains[0]);
    let ratios = of_all(&|test| -test.at_half().strains[1] / test.at_half().strains[0]);
    let strengths = of_all(&|test| 1e-6 * stress(test, test.strength()));
    let strains = of_all(&|test| 100.0 * test.looks[test.peak].strains[0]);
    let modulus = scatter(case_run, "Young's modulus, secant at half of the peak", "GPa", &moduli, 0.1);
    let ratio = scatter(case_run, "Poisson's ratio at half of the peak", "-", &ratios, 0.2);
    let strength = scatter(case_run, "uniaxial strength", "MPa", &strengths, 0.2);
    let strain = scatter(case_run, "strain at the peak", "%", &strains, 0.4);
    case_run.compare(&[
        strength,
        1e9 * modulus / bond_modulus,
        ratio,
        strain,
        largest(&tests, Test::imbalance),
        largest(&tests, Test::residual),
    ])?;
    case_run.curve(
        "stress",
        ["strain along the load [%]", "stress [MPa]"],
        lines(&tests, |test, look| (100.0 * look.strains[0], 1e-6 * stress(test, look.load()))),
    );
    case_run.curve(
        "across",
        ["strain along the load [%]", "strain across the load, extension [%]"],
        lines(&tests, |_, look| (100.0 * look.strains[0], -100.0 * look.strains[1])),
    );
    Ok(())
}

/// Positions of the breaks in a split disk, in the plane of x and of the load direction z.
struct Crack {
    /// Angle between the load and the direction of the largest spread of breaks \[deg\].
    angle: f64,
    /// Share of the breaks within a sixth of the diameter of the loaded diameter \[-\].
    near: f64,
    /// Share of the breaks in the middle half of the loaded diameter \[-\].
    inside: f64,
}

impl Crack {
    fn of(test: &Test) -> Crack {
        let places: Vec<[f64; 2]> = test.breaks.iter().map(|broken| [broken.place[0], broken.place[2]]).collect();
        let diameter = 2.0 * test.shape.radii[1];
        let middle = [0, 1].map(|axis| mean(&places, |place| place[axis]));
        let moment = |a: usize, b: usize| mean(&places, |place| (place[a] - middle[a]) * (place[b] - middle[b]));
        let twice = (2.0 * moment(0, 1)).atan2(moment(1, 1) - moment(0, 0));
        let share = |axis: usize, reach: f64| mean(&places, |place| f64::from(u8::from(place[axis].abs() < reach)));
        Crack {
            angle: (0.5 * twice).to_degrees().abs(),
            near: share(0, diameter / 6.0),
            inside: share(1, 0.25 * diameter),
        }
    }
}

/// Disks with two small flats split along the diameter between them: tensile strength, and positions of the breaks.
pub fn brazilian(case_run: &mut CaseRun) -> Done {
    let tests = test_all(case_run)?;
    let tension = |test: &Test, load: f64| {
        let Shape { radii: [_, radius], size } = test.shape;
        // Tension in the middle of a disk loaded on two arcs of half an angle α, over that of two line loads [Hondros 1959]: (sin 2α − α)/sin α. The
        // distance of the flats gives α.
        let alpha = (0.5 * size[2] / radius).acos();
        let of_arcs = ((2.0 * alpha).sin() - alpha) / alpha.sin();
        of_arcs * load / (PI * radius * size[1])
    };
    let strengths: Vec<f64> = tests.iter().map(|test| 1e-6 * tension(test, test.strength())).collect();
    let strength = scatter(case_run, "Brazilian strength", "MPa", &strengths, 0.3);
    let cracks: Vec<Crack> = tests.iter().map(Crack::of).collect();
    for (seed, crack) in SEEDS.iter().zip(&cracks) {
        case_run.row(format!("crack of seed {seed}: angle to the load [deg]"), crack.angle, 0.0, 15.0);
        case_run.row(
            format!("crack of seed {seed}: breaks within D/6 of the loaded diameter [-]"),
            crack.near,
            1.0,
            0.2,
        );
        case_run.row(
            format!("crack of seed {seed}: breaks in the middle half of the loaded diameter [-]"),
            crack.inside,
            0.5,
            0.3,
        );
    }
    case_run.compare(&[
        uniaxial_strength()? / strength,
        largest(&tests, Test::imbalance),
        largest(&tests, Test::residual),
    ])?;
    case_run.curve(
        "load",
        ["way of the platens over the diameter [%]", "tension in the middle [MPa]"],
        lines(&tests, |test, look| {
            (50.0 * look.way / test.shape.radii[1], 1e-6 * tension(test, look.load()))
        }),
    );
    let histogram = |(seed, test): (&u64, &Test)| (format!("seed {seed}"), across(test));
    case_run.curve(
        "crack",
        ["distance from the loaded diameter over the diameter [-]", "share of the breaks [-]"],
        SEEDS.iter().zip(&tests).map(histogram).collect(),
    );
    Ok(())
}

/// Share of the breaks over the distance from the loaded diameter, in strips of a twentieth of the diameter.
fn across(test: &Test) -> Vec<(f64, f64)> {
    const STRIPS: usize = 20;
    let mut counts = [0.0; STRIPS];
    for broken in &test.breaks {
        let strip = (0.5 * (broken.place[0] / test.shape.radii[1] + 1.0) * STRIPS as f64) as usize;
        counts[strip.min(STRIPS - 1)] += 1.0 / test.breaks.len() as f64;
    }
    let point = |(strip, count): (usize, &f64)| ((strip as f64 + 0.5) / STRIPS as f64 - 0.5, *count);
    counts.iter().enumerate().map(point).collect()
}

/// Mean strength of the case `uniaxial`, whose specimens are the same rock \[MPa\].
fn uniaxial_strength() -> Outcome<f64> {
    let case = CASES
        .iter()
        .find(|case| case.name == "uniaxial")
        .ok_or("no case is named uniaxial")?;
    let line = case.reference.lines().find(|line| line.starts_with("uniaxial strength"));
    let number = line
        .and_then(|line| line.split(',').nth(1))
        .ok_or("uniaxial/reference.csv: no strength")?;
    Ok(number.trim().parse()?)
}
