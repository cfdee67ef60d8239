//! The stand on which a case is measured: its scene, its reference, its rows.

use super::{Bench, Case};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{Grains, Precision, Vec3, World};
use seixo_engine::{Partner, Simulation};
use seixo_scene::Scene;
use serde::Serialize;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// What may fail on the way to a figure.
pub(super) type Outcome<T> = Result<T, Box<dyn Error>>;
/// What measuring comes to.
pub(super) type Done = Outcome<()>;
/// A line of a reference: its name and its numbers.
type Record<'a, const N: usize> = (&'a str, [f64; N]);

/// A figure measured, and what it should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What is measured, with its unit.
    pub name: String,
    /// As measured.
    pub measured: f64,
    /// As it should be.
    pub expected: f64,
    /// How far the two may be apart.
    pub tolerance: f64,
    /// How far in double precision; `tolerance` adds what rounding to single precision may do.
    pub tolerance_f64: f64,
}

impl Row {
    /// Whether the two are near enough; what is not a number never is.
    pub fn passes(&self) -> bool {
        (self.measured - self.expected).abs() <= self.tolerance
    }
}

/// What rounding may do to a figure, as a share of its size.
///
/// In double precision nothing that counts. With forces in single precision, each step rounds them to 2⁻²⁴ of themselves; such roundings come
/// at random and cancel but for a few: the figures of the cases differ by up to two of them, and 16 are granted. With coordinates in single
/// precision as well, overlaps are what is left of coordinates some 300 times larger, and their rounding is larger by as much.
fn rounding(precision: Precision) -> f64 {
    let single = 16.0 * 0.5 * f64::from(f32::EPSILON);
    match precision {
        Precision::F64 => 0.0,
        Precision::Mixed => single,
        Precision::F32 => 300.0 * single,
    }
}

/// What rounding of a figure is held against: what is expected, or one where that is zero and the figure a share of something.
fn size(expected: f64) -> f64 {
    if expected == 0.0 { 1.0 } else { expected.abs() }
}

/// Points of a curve, and what the curve is.
pub(super) type Line = (String, Vec<(f64, f64)>);

/// A curve as measured, beside what is expected.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name, for a file.
    pub name: String,
    /// Quantity and unit of both axes.
    pub axes: [String; 2],
    /// What was measured and what is expected, with their names.
    pub lines: Vec<Line>,
}

/// Wall time between two words on how far a run has come.
const WORD_EVERY: Duration = Duration::from_secs(10);

/// A case being measured.
pub(super) struct Stand<'a> {
    case: &'a Case,
    bench: &'a Bench,
    start: Instant,
    told: Instant,
    pub rows: Vec<Row>,
    pub curves: Vec<Curve>,
}

impl<'a> Stand<'a> {
    pub fn new(case: &'a Case, bench: &'a Bench) -> Stand<'a> {
        Stand {
            case,
            bench,
            start: Instant::now(),
            told: Instant::now(),
            rows: Vec::new(),
            curves: Vec::new(),
        }
    }

    /// Keeps a curve, to be drawn where curves are asked for.
    pub fn curve(&mut self, name: &str, axes: [&str; 2], lines: Vec<Line>) {
        self.curves.push(Curve {
            name: name.to_owned(),
            axes: axes.map(str::to_owned),
            lines,
        });
    }

    /// Says on the error stream how far a run has come, at looks ten seconds apart and more: somebody waits for cases that take minutes.
    pub fn tell(&mut self, run: &str, simulation: &Simulation, until: f64) {
        if self.told.elapsed() < WORD_EVERY {
            return;
        }
        self.told = Instant::now();
        let (name, time, seconds) = (self.case.name, simulation.time(), self.start.elapsed().as_secs_f64());
        // Where even the error stream is gone, the figures still count.
        let _ = writeln!(io::stderr(), "{name}: {run}, {time:.4} of {until:.4} s, after {seconds:.0} s");
    }

    /// The case's scene, anew.
    pub fn scene(&self) -> Outcome<Scene> {
        self.scene_with(&[])
    }

    /// The case's scene with values changed.
    pub fn scene_with(&self, changes: &[(String, String)]) -> Outcome<Scene> {
        let path = Path::new("validation").join(self.case.name).join("scene.toml");
        let changes = [changes.to_vec(), self.bench.division.overrides()].concat();
        let mut scene = seixo_scene::load_text(self.case.scene, &path, &changes)?;
        scene.settings.threads = self.bench.threads;
        self.bench.place.apply(&mut scene.settings)?;
        Ok(scene)
    }

    /// The lines of `reference.csv`: a name and N numbers each; the first line names the columns, `#` starts a remark.
    pub fn reference<const N: usize>(&self) -> Outcome<Vec<Record<'a, N>>> {
        let lines = self.case.reference.lines().filter(|line| !line.starts_with('#')).skip(1);
        let record = |line: &'a str| -> Outcome<Record<'a, N>> {
            let mut columns = line.split(',').map(str::trim);
            let name = columns.next().unwrap_or_default();
            let numbers = columns.map(str::parse).collect::<Result<Vec<f64>, _>>()?;
            let count = numbers.len();
            let numbers = numbers
                .try_into()
                .map_err(|_| format!("reference.csv: {count} numbers beside `{name}`, not {N}"))?;
            Ok((name, numbers))
        };
        lines.map(record).collect()
    }

    /// Adds a row for each line of a reference that holds a quantity, what it should be and a tolerance, in this order.
    pub fn compare(&mut self, measured: &[f64]) -> Done {
        let reference = self.reference()?;
        if reference.len() != measured.len() {
            return Err(format!(
                "reference.csv: {} lines for {} measured quantities",
                reference.len(),
                measured.len()
            )
            .into());
        }
        for ((quantity, [expected, tolerance]), &measured) in reference.into_iter().zip(measured) {
            self.row(quantity, measured, expected, tolerance);
        }
        Ok(())
    }

    /// Adds a row.
    pub fn row(&mut self, name: impl Into<String>, measured: f64, expected: f64, tolerance: f64) {
        self.row_of(size(expected), name, measured, expected, tolerance);
    }

    /// Adds a row whose rounding is held against a size of its own, in the row's unit.
    pub fn row_of(&mut self, size: f64, name: impl Into<String>, measured: f64, expected: f64, tolerance: f64) {
        // A count is exact.
        let is_count = tolerance == 0.0;
        let rounding = if is_count { 0.0 } else { size * rounding(self.bench.precision) };
        self.rows.push(Row {
            name: name.into(),
            measured,
            expected,
            tolerance: tolerance + rounding,
            tolerance_f64: tolerance,
        });
    }

    /// Adds a row whose tolerance is a share of what is expected.
    pub fn row_within(&mut self, share: f64, name: impl Into<String>, measured: f64, expected: f64) {
        self.row(name, measured, expected, share * expected.abs());
    }
}

/// Takes steps, then looks: what is read of the simulation is as it stands.
pub(super) fn advance(simulation: &mut Simulation, steps: u64) -> Done {
    simulation.advance(steps)?;
    simulation.observe()?;
    Ok(())
}

/// Σ f·l over the pairs of grains that touch \[J\]: force of a pair times the vector between its centers. A third of it over the volume is the
/// pressure that contacts carry \[Love 1927; Weber 1966\].
pub(super) fn virial(simulation: &mut Simulation) -> Outcome<f64> {
    let contacts = simulation.contacts_now()?;
    let of_grains = contacts.iter().filter(|contact| matches!(contact.b, Partner::Grain(_)));
    Ok(of_grains.map(|contact| dot(contact.force(), contact.branch)).sum())
}

/// Steps until a time \[s\], without a look in between.
pub(super) fn run_until(simulation: &mut Simulation, time: f64) -> Done {
    let steps = (time - simulation.time()) / simulation.time_step().value;
    advance(simulation, steps.round().max(0.0) as u64)
}

/// The grains of a world as they are now: what a next simulation of it starts from, with other walls or other laws.
pub(super) fn carry_on(world: &mut World, now: GrainSnapshot) {
    world.grains = Grains {
        id: now.id,
        position: now.position,
        velocity: now.velocity,
        angular_velocity: now.angular_velocity,
        radius: now.radius,
        material: now.material,
        group: now.group,
        temperature: now.temperature,
        bodies: Vec::new(),
    };
}

/// Volume of all grains \[m³\].
pub(super) fn volume_of(radii: &[f64]) -> f64 {
    radii.iter().map(|radius| 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)).sum()
}

/// Mean of what a function gives for every item.
pub(super) fn mean<T>(items: &[T], of: impl Fn(&T) -> f64) -> f64 {
    items.iter().map(of).sum::<f64>() / items.len() as f64
}

/// Slope and height at zero of the straight line nearest to points, by least squares.
pub(super) fn straight(points: &[(f64, f64)]) -> (f64, f64) {
    let (x, y) = (mean(points, |p| p.0), mean(points, |p| p.1));
    let slope = mean(points, |p| (p.0 - x) * (p.1 - y)) / mean(points, |p| (p.0 - x).powi(2));
    (slope, y - slope * x)
}

/// Index of a material.
pub(super) fn material(world: &World, name: &str) -> Result<u32, String> {
    let index = world.materials.iter().position(|material| material.name == name);
    index
        .map(|index| index as u32)
        .ok_or_else(|| format!("the scene has no material `{name}`"))
}

pub(super) fn dot(a: Vec3, b: Vec3) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn length(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

pub(super) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a + s b.
pub(super) fn along(a: Vec3, s: f64, b: Vec3) -> Vec3 {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}
