//! A case during its measurement: scene, reference and rows.

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

/// Result of a step of the measurement.
pub(super) type Outcome<T> = Result<T, Box<dyn Error>>;
/// Result of a measurement.
pub(super) type Done = Outcome<()>;
/// Line of a reference: name and numbers.
type Record<'a, const N: usize> = (&'a str, [f64; N]);

/// A measured figure and its expected value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the figure, with its unit.
    pub name: String,
    /// Measured value.
    pub measured: f64,
    /// Expected value.
    pub expected: f64,
    /// Largest difference of the two.
    pub tolerance: f64,
    /// Tolerance in double precision; `tolerance` adds an allowance for rounding to single precision.
    pub tolerance_f64: f64,
}

impl Row {
    /// Whether the difference is within the tolerance; NaN never is.
    pub fn passes(&self) -> bool {
        (self.measured - self.expected).abs() <= self.tolerance
    }
}

/// Relative allowance for rounding.
///
/// It is zero in double precision. With forces in single precision, each step rounds them to 2⁻²⁴ of their values. These errors are random and mostly
/// cancel. The figures of the cases differ by up to two of them; the allowance is 16. With coordinates in single precision too, overlaps are
/// differences of coordinates some 300 times larger, and the allowance is larger by that factor.
fn rounding(precision: Precision) -> f64 {
    let single = 16.0 * 0.5 * f64::from(f32::EPSILON);
    match precision {
        Precision::F64 => 0.0,
        Precision::Mixed => single,
        Precision::F32 => 300.0 * single,
    }
}

/// Scale for the rounding of a figure: the expected value; or 1 if that is zero, as the figure is then a ratio.
fn size(expected: f64) -> f64 {
    if expected == 0.0 { 1.0 } else { expected.abs() }
}

/// A curve: its name and its points.
pub(super) type Line = (String, Vec<(f64, f64)>);

/// A measured curve and the expected one.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Name, used for a file.
    pub name: String,
    /// Quantity and unit of each axis.
    pub axes: [String; 2],
    /// Measured and expected lines, with their names.
    pub lines: Vec<Line>,
}

/// Wall time between two progress messages.
const WORD_EVERY: Duration = Duration::from_secs(10);

/// A case during its measurement.
pub(super) struct CaseRun<'a> {
    case: &'a Case,
    bench: &'a Bench,
    start: Instant,
    reported: Instant,
    pub rows: Vec<Row>,
    pub curves: Vec<Curve>,
}

impl<'a> CaseRun<'a> {
    pub fn new(case: &'a Case, bench: &'a Bench) -> CaseRun<'a> {
        CaseRun {
            case,
            bench,
            start: Instant::now(),
            reported: Instant::now(),
            rows: Vec::new(),
            curves: Vec::new(),
        }
    }

    /// Stores a curve, to be drawn if curves are requested.
    pub fn curve(&mut self, name: &str, axes: [&str; 2], lines: Vec<Line>) {
        self.curves.push(Curve {
            name: name.to_owned(),
            axes: axes.map(str::to_owned),
            lines,
        });
    }

    /// Prints the progress of a run to the error stream, at most every ten seconds: a user waits for cases that take minutes.
    pub fn print_progress(&mut self, run: &str, simulation: &Simulation, until: f64) {
        if self.reported.elapsed() < WORD_EVERY {
            return;
        }
        self.reported = Instant::now();
        let (name, time, seconds) = (self.case.name, simulation.time(), self.start.elapsed().as_secs_f64());
        // The figures are valid even without an error stream.
        let _ = writeln!(io::stderr(), "{name}: {run}, {time:.4} of {until:.4} s, after {seconds:.0} s");
    }

    /// Reads the scene of the case.
    pub fn scene(&self) -> Outcome<Scene> {
        self.scene_with(&[])
    }

    /// Reads the scene of the case with changed values.
    pub fn scene_with(&self, changes: &[(String, String)]) -> Outcome<Scene> {
        let path = Path::new("validation").join(self.case.name).join("scene.toml");
        let changes = [changes.to_vec(), self.bench.decomposition.overrides()].concat();
        let mut scene = seixo_scene::load_text(self.case.scene, &path, &changes)?;
        scene.settings.threads = self.bench.threads;
        self.bench.place.apply(&mut scene.settings)?;
        Ok(scene)
    }

    /// Returns the lines of `reference.csv`, each with a name and N numbers. The first line has the names of the columns, and `#` starts a comment.
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

    /// Adds a row for each line of a reference with a quantity, its expected value and a tolerance, in this order.
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

    /// Adds a row with its own scale for rounding, in the unit of the row.
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

    /// Adds a row whose tolerance is a share of the expected value.
    pub fn row_within(&mut self, share: f64, name: impl Into<String>, measured: f64, expected: f64) {
        self.row(name, measured, expected, share * expected.abs());
    }
}

/// Takes steps, then updates all quantities that can be read from the simulation.
pub(super) fn advance(simulation: &mut Simulation, steps: u64) -> Done {
    simulation.advance(steps)?;
    simulation.observe()?;
    Ok(())
}

/// Σ f·l over all pairs of grains in contact \[J\]: force of a pair times the branch vector. A third of it over the volume is the pressure of the
/// contacts \[Love 1927; Weber 1966\].
pub(super) fn virial(simulation: &mut Simulation) -> Outcome<f64> {
    let contacts = simulation.contacts_now()?;
    let of_grains = contacts.iter().filter(|contact| matches!(contact.b, Partner::Grain(_)));
    Ok(of_grains.map(|contact| dot(contact.force(), contact.branch)).sum())
}

/// Steps until a time \[s\] without intermediate observations.
pub(super) fn run_until(simulation: &mut Simulation, time: f64) -> Done {
    let steps = (time - simulation.time()) / simulation.time_step().value;
    advance(simulation, steps.round().max(0.0) as u64)
}

/// Copies the current grains to a world, as the start of another simulation with other walls or laws.
pub(super) fn carry_on(world: &mut World, now: GrainSnapshot) {
    world.grains = Grains {
        id: now.id,
        position: now.position,
        velocity: now.velocity,
        angular_velocity: now.angular_velocity,
        radius: now.radius,
        material: now.material,
        group: now.group,
        masses: std::mem::take(&mut world.grains.masses),
        scalars: now.scalars,
        ..Grains::default()
    };
}

/// Volume of all grains \[m³\].
pub(super) fn volume_of(radii: &[f64]) -> f64 {
    radii.iter().map(|radius| 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)).sum()
}

/// Mean of a function over all items.
pub(super) fn mean<T>(items: &[T], of: impl Fn(&T) -> f64) -> f64 {
    items.iter().map(of).sum::<f64>() / items.len() as f64
}

/// Slope and intercept of the least-squares line through points.
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
