//! `seixo bench rigid-fluid`: the scenes of \[Silva 2010, tables 6.3 to 6.9\], compared with its steps per second.

mod charts;
mod frames;
mod queues;
mod scenes;
mod shape;
mod tables;

use super::super::{Done, Failure};
use super::median::spread;
use super::search::searches;
use super::{failed, refused, seconds_of, warm_up};
use crate::device_options::{DeviceArguments, is_on_cpu};
use crate::terminal;
use clap::{Args, ValueEnum};
pub use scenes::fluid_alone;
use scenes::{COARSEST, Coupling, world};
use seixo_engine::Simulation;
use seixo_engine::world::{DeviceChoice, Search, Settings};
use seixo_scene::Device;
use serde::Serialize;
use shape::{RADIUS, Shape};
use std::path::PathBuf;
use tables::{Line, Placement, Reached, Table, gain};

/// Run the scenes of [Silva 2010], tables 6.3 to 6.9, and compare with its steps per second
///
/// [Silva 2010] is the thesis of J. R. da Silva Junior (UFF 2010) on fluids and rigid bodies in real time, measured on a Core 2 Quad Q6600 (cpu) and
/// a GeForce 9600 GT (gpu). The scenes here are similar in kind and in numbers, but not equal: the thesis gives no support, spacing, springs or
/// heights.
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench rigid-fluid                                     all tables on all cores
  seixo bench rigid-fluid 6.3 6.4 --device gpu                fluid alone and bodies alone, on a GPU
  seixo bench rigid-fluid 6.6 --device cpu,gpu,heterogeneous  bodies in fluid on one after the other: tables 6.6 to 6.9
  seixo bench rigid-fluid 6.6 --device gpu,heterogeneous --split
                                                              and table 6.9 by the split of work of [Silva 2010], too
  seixo bench rigid-fluid 6.4 --mesh teapot.stl --radius 0.294
                                                              a teapot as spheres: of one that is 4.1 long and 2 high, 74
  seixo bench rigid-fluid 6.4 --sphere-floor --search spatial_hash,spatial_hash_static
                                                              what hash tables for fixed spheres save in whole runs
  seixo bench rigid-fluid 6.4 6.6 --mesh teapot.obj --radius 0.12,0.18,0.36 --device gpu
                                                              the same bodies of fewer and fewer spheres, compared with the most
  seixo bench rigid-fluid 6.5 --queues --device cuda          fluid and bodies also as two simulations at the same time
  seixo bench rigid-fluid --scale 100 --device gpu            a hundred times as many particles and bodies
  seixo bench rigid-fluid 6.6 --settle 20000 --json           later in the fall
  seixo bench rigid-fluid --device cpu,gpu --plot charts      and its figures 6.2, 6.3, 6.5 and 6.6 as SVG

Tables 6.1 and 6.2, on hash tables, are those of: seixo bench search

Bodies are 76 equal spheres as in [Silva 2010], on springs and dampers without friction; here, the surface of an ellipsoid, unless --mesh says otherwise. They
start side by side, a tenth of a radius apart, and fall while they are measured. Fluid alone, and beside bodies that it does not act on, is that of
[Müller 2003] (solver = \"muller2003\"); where both act on each other, --solver says how. What is printed is the median of the repeats, with the slowest and
the fastest, simulated seconds a second, and how many steps a second each of which is drawn, the FPS of [Silva 2010], by the best graphics adapter there is.
The time step follows from springs and sound and is short, so lists of neighbors last long; [Silva 2010] does not give its own.")]
pub struct RigidFluidArguments {
    /// Tables to measure, such as 6.3 6.4; default: all
    #[arg(value_enum, value_name = "TABLE")]
    tables: Vec<Table>,
    /// Devices, one after the other, separated by commas: cpu, gpu, heterogeneous, auto, cuda or wgpu. heterogeneous computes bodies on the CPU and
    /// fluids at the same time on a GPU. gpu:1 selects one of several GPUs. `seixo info` lists the devices of this machine
    #[arg(long = "device", value_name = "DEVICE", value_delimiter = ',', default_values_t = [Device::Cpu])]
    devices: Vec<Device>,
    /// Measure each GPU a second time with the split of work of [Silva 2010]: the cores test bounding boxes of bodies while the GPU lists the fluid,
    /// and the GPU does all else
    #[arg(long)]
    split: bool,
    /// Precision on GPUs: f64, mixed or f32; the CPU always uses f64. mixed computes coordinates and the velocities that move them in double
    /// precision, all else in single precision
    #[arg(long, value_parser = ["auto", "f64", "mixed", "f32"])]
    precision: Option<String>,
    /// Factor on the number of particles and of bodies
    #[arg(long, value_name = "FACTOR", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    scale: u32,
    /// Mesh of the bodies: STL, OBJ or PLY. Spheres on its surface form a body, as with `seixo spheres`; default: an ellipsoid
    #[arg(long, value_name = "FILE", requires = "radii")]
    mesh: Option<PathBuf>,
    /// Radius of these spheres, in the unit of the mesh. With several, separated by commas, the same bodies are measured with finer and coarser spheres,
    /// and compared with the finest: the most that coarser spheres away from the focus could gain
    #[arg(long = "radius", value_name = "LENGTH", requires = "mesh", value_delimiter = ',')]
    radii: Vec<f64>,
    /// In table 6.5, also measure fluid and bodies as two simulations at the same time, each on its own queue of the GPU: the most that launches at the
    /// same time could gain
    #[arg(long)]
    queues: bool,
    /// Solver of the fluid and its interaction with bodies, in table 6.6
    #[arg(long, value_enum, default_value_t)]
    solver: Coupling,
    /// Methods of the pair search, one after the other, separated by commas. Speed-ups and charts are those of the first
    #[arg(long = "search", value_name = "WAY", value_delimiter = ',', value_parser = searches(), default_values = ["auto"])]
    searches: Vec<Search>,
    /// Lay a floor of fixed spheres below the bodies, at the height of the wall there, as in tables 6.1 and 6.2
    #[arg(long)]
    sphere_floor: bool,
    /// Number of CPU threads; 0 = all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Number of steps before the measurement
    #[arg(long, value_name = "STEPS", default_value_t = 0)]
    settle: u64,
    /// Number of steps of one measurement
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Number of measurements, of which the median is printed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Draw a chart of each table into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    pub json: bool,
}

/// Limit on the number of spheres: in fluids, a sphere has an id of 31 bits.
const MAX_SPHERES: usize = 1 << 31;
/// Number of fluid particles in the warm-up of a GPU.
const WARMING: usize = 32_768;

/// Measurement of a line of a table on one device.
#[derive(Serialize)]
struct Measured {
    /// Number of the table of \[Silva 2010\] for this device.
    table: &'static str,
    placement: &'static str,
    device: String,
    precision: &'static str,
    threads: usize,
    bodies: usize,
    body_spheres: usize,
    fluid_particles: usize,
    /// Number of wall particles.
    wall_particles: usize,
    /// Solver of the fluid, in tables with interaction of bodies and fluid.
    solver: Option<&'static str>,
    /// Method of the pair search.
    search: &'static str,
    steps_per_second: f64,
    seconds_per_step: f64,
    /// Simulated over wall time; 1 is real time.
    simulated_per_second: f64,
    slowest: f64,
    fastest: f64,
    /// Seconds of each measurement, in the order of measurement.
    measurements: Vec<f64>,
    steps: u64,
    repeats: u32,
    time_step: f64,
    rebuilds: u64,
    published_steps_per_second: Option<f64>,
    over_published: Option<f64>,
    /// Steps per second with a picture of each step, if a graphics adapter is there.
    drawn_per_second: Option<f64>,
    published_drawn_per_second: Option<f64>,
}

/// A speed-up of \[Silva 2010\]: of a GPU over a CPU in tables 6.3 to 6.5, of both at once over a GPU in table 6.9.
#[derive(Serialize)]
struct Gain {
    table: &'static str,
    bodies: usize,
    fluid_particles: usize,
    of: &'static str,
    over: &'static str,
    speed_up: f64,
    published_speed_up: Option<f64>,
}

/// A speed-up of bodies of coarser spheres over the same bodies of the finest.
#[derive(Serialize)]
struct Coarsening {
    table: &'static str,
    placement: &'static str,
    bodies: usize,
    fluid_particles: usize,
    /// Number of spheres of a body, and of one of the finest.
    spheres: usize,
    finest_spheres: usize,
    /// Ratio of steps per second.
    speed_up: f64,
    /// Ratio of simulated over wall time, since coarser spheres may allow a longer time step.
    pace: f64,
}

/// Measurements of one line and one shape, in the order of [`Placement::ALL`].
type Found = [Option<Measured>; Placement::ALL.len()];

/// Measures the tables.
pub fn rigid_fluid(arguments: &RigidFluidArguments) -> Done {
    let shapes = match &arguments.mesh {
        Some(file) => Shape::of_mesh(file, &arguments.radii)?,
        None => vec![Shape::ellipsoid()],
    };
    let tables = match arguments.tables.as_slice() {
        [] => Table::value_variants(),
        asked => asked,
    };
    if arguments.split && !arguments.devices.iter().any(|device| is_gpu(*device)) {
        return Err(Failure::Input(
            "--split shares the work of a GPU, and none of the devices is one: add --device gpu".to_owned(),
        ));
    }
    refuse_queues(arguments, tables)?;
    if tables.contains(&Table::Together) {
        refuse_coarse(arguments.solver, &shapes)?;
    }
    for &table in tables {
        let lines: Vec<Line> = table.lines().iter().map(|line| line.scaled(arguments.scale as usize)).collect();
        // Fluid alone has no bodies.
        let shapes = if table == Table::Fluid { &shapes[..1] } else { &shapes[..] };
        refuse_too_many(&lines, shapes)?;
        if !arguments.json {
            terminal::out(&title(table, shapes, arguments.solver))?;
        }
        let mut measured = Vec::new();
        for line in &lines {
            let mut of_shapes = Vec::new();
            for shape in shapes {
                of_shapes.push(measure_shape(arguments, table, line, shape)?);
                compare_with_finest(arguments, table, shapes, &of_shapes)?;
            }
            measured.push((*line, steps_per_second(&of_shapes[0])));
        }
        if let Some(folder) = &arguments.plot {
            charts::draw(folder, table, &measured)?;
        }
    }
    Ok(())
}

/// Measures a line of a table with one shape on all devices, and reports their gains over each other.
fn measure_shape(arguments: &RigidFluidArguments, table: Table, line: &Line, shape: &Shape) -> Result<Found, Failure> {
    let mut found = Found::default();
    for &device in &arguments.devices {
        for way in ways(arguments, line, device) {
            let (placement, measured) = measure(arguments, (table, line), (device, way), shape)?;
            report(arguments, &measured, || measured.text())?;
            if way.search == arguments.searches[0] {
                found[placement as usize] = Some(measured);
            }
        }
        if arguments.queues && table == Table::Apart && is_gpu(device) {
            let compared = queues::compare(
                world(table, line, shape, arguments.solver),
                settings_on(arguments, device, Way::of(arguments))?,
                arguments,
            )?;
            report(arguments, &compared, || compared.text())?;
        }
    }
    let reached = steps_per_second(&found);
    for (of, over, number) in [
        (Placement::Gpu, Placement::Cpu, table.number(Placement::Gpu)),
        (Placement::Heterogeneous, Placement::Gpu, "6.9"),
        (Placement::Split, Placement::Gpu, "6.9"),
    ] {
        if let Some(speed_up) = gain(&reached, of, over) {
            let compared = Gain {
                table: number,
                bodies: line.bodies,
                fluid_particles: line.fluid,
                of: of.name(),
                over: over.name(),
                speed_up,
                published_speed_up: gain(&line.published, of, over),
            };
            report(arguments, &compared, || compared.text())?;
        }
    }
    Ok(found)
}

fn steps_per_second(found: &Found) -> Reached {
    found.each_ref().map(|one| one.as_ref().map(|measured| measured.steps_per_second))
}

/// Compares the last of the shapes that were measured with the first, on each device.
fn compare_with_finest(arguments: &RigidFluidArguments, table: Table, shapes: &[Shape], found: &[Found]) -> Done {
    let [finest, .., last] = found else { return Ok(()) };
    for (placement, pair) in Placement::ALL.into_iter().zip(finest.iter().zip(last)) {
        if let (Some(finest), Some(coarser)) = pair {
            let compared = Coarsening {
                table: table.number(placement),
                placement: placement.name(),
                bodies: coarser.bodies,
                fluid_particles: coarser.fluid_particles,
                spheres: shapes[found.len() - 1].offsets.len(),
                finest_spheres: shapes[0].offsets.len(),
                speed_up: coarser.steps_per_second / finest.steps_per_second,
                pace: coarser.simulated_per_second / finest.simulated_per_second,
            };
            report(arguments, &compared, || compared.text())?;
        }
    }
    Ok(())
}

/// Whether a device is one GPU, without the CPU.
fn is_gpu(device: Device) -> bool {
    matches!(device, Device::Gpu(_) | Device::Of(..))
}

/// How a line of a table is measured on a device.
#[derive(Clone, Copy)]
struct Way {
    /// Method of the pair search.
    search: Search,
    /// Whether the cores find what may touch.
    split: bool,
}

impl Way {
    /// The first method of the pair search.
    fn of(arguments: &RigidFluidArguments) -> Way {
        Way {
            search: arguments.searches[0],
            split: false,
        }
    }
}

/// Each method of the pair search, and the split of work with the first one.
fn ways(arguments: &RigidFluidArguments, line: &Line, device: Device) -> Vec<Way> {
    let whole = arguments.searches.iter().map(|&search| Way { search, split: false });
    let is_split = arguments.split && is_gpu(device) && line.bodies > 0;
    let split = is_split.then_some(Way {
        split: true,
        ..Way::of(arguments)
    });
    whole.chain(split).collect()
}

/// Settings of a device.
fn settings_on(arguments: &RigidFluidArguments, device: Device, way: Way) -> Result<Settings, Failure> {
    let mut settings = Settings {
        threads: arguments.threads,
        search: way.search,
        broad_phase: way.split.then_some(true),
        ..Settings::default()
    };
    let place = DeviceArguments {
        device: Some(device),
        precision: arguments.precision.clone().filter(|_| device != Device::Cpu),
    };
    place.apply(&mut settings).map_err(Failure::Input)?;
    Ok(settings)
}

/// Number of steps before the measurement: those that were requested, and some in which caches, lists and buffers grow, and a GPU compiles its kernels.
fn steps_before(arguments: &RigidFluidArguments) -> u64 {
    arguments.settle + (arguments.steps / 10).clamp(1, 50)
}

fn report<T: Serialize>(arguments: &RigidFluidArguments, found: &T, text: impl Fn() -> String) -> Done {
    if arguments.json {
        terminal::json(found)
    } else {
        terminal::out(&text())
    }
}

/// Returns the heading of a table.
fn title(table: Table, shapes: &[Shape], coupling: Coupling) -> String {
    let numbers = if table == Table::Together {
        "6.6 to 6.9"
    } else {
        table.number(Placement::Cpu)
    };
    let mut text = format!("[Silva 2010], table {numbers}: {}", table.title());
    if table == Table::Together {
        text += &format!(", solver = \"{}\"", coupling.name());
    }
    if table != Table::Fluid {
        let kind = |shape: &Shape| format!("{}: {}", terminal::many(shape.offsets.len(), "sphere"), shape.name);
        text += &format!(" · bodies of {}", shapes.iter().map(kind).collect::<Vec<_>>().join("; of "));
    }
    text
}

/// Refuses to compare queues without the table and the device that have them.
fn refuse_queues(arguments: &RigidFluidArguments, tables: &[Table]) -> Done {
    let has_gpu = arguments.devices.iter().any(|&device| is_gpu(device));
    if !arguments.queues || has_gpu && tables.contains(&Table::Apart) {
        return Ok(());
    }
    Err(Failure::Input(
        "--queues compares two queues of a GPU in table 6.5: name this table, and a GPU with --device gpu, cuda or wgpu".to_owned(),
    ))
}

/// Refuses shapes with which bodies do not act on the fluid of table 6.6 as they should.
fn refuse_coarse(coupling: Coupling, shapes: &[Shape]) -> Done {
    let largest = COARSEST / RADIUS;
    match (coupling, shapes.last()) {
        (Coupling::Wcsph, _) if shapes.len() > 1 => Err(Failure::Input(
            "--radius has several radii, but with --solver wcsph water would pass between the boundary particles of coarse bodies: ask for one \
             radius, or leave out table 6.6"
                .to_owned(),
        )),
        // To rounding.
        (Coupling::Muller2003, Some(coarsest)) if coarsest.radius > COARSEST * (1.0 + 1e-9) => Err(Failure::Input(format!(
            "the largest --radius is {:.2} times the smallest, must be at most {largest:.2} times in table 6.6: ask for less, or leave out table 6.6",
            coarsest.radius / RADIUS
        ))),
        _ => Ok(()),
    }
}

fn refuse_too_many(lines: &[Line], shapes: &[Shape]) -> Done {
    let spheres = shapes.iter().map(|shape| shape.offsets.len()).max().unwrap_or_default();
    match lines.iter().map(|line| line.bodies).max() {
        Some(bodies) if bodies * spheres >= MAX_SPHERES => Err(Failure::Input(format!(
            "{bodies} bodies of {spheres} spheres are {} spheres, must be below {MAX_SPHERES}: ask for a smaller --scale, or a larger --radius",
            bodies * spheres
        ))),
        _ => Ok(()),
    }
}

/// Measures a line of a table on a device.
fn measure(
    arguments: &RigidFluidArguments,
    (table, line): (Table, &Line),
    (device, way): (Device, Way),
    shape: &Shape,
) -> Result<(Placement, Measured), Failure> {
    let settings = settings_on(arguments, device, way)?;
    let mut world = world(table, line, shape, arguments.solver);
    if arguments.sphere_floor {
        scenes::lay_floor(&mut world);
    }
    let wall_particles = world.fluids.as_ref().map_or(0, |fluids| fluids.boundary.position.len());
    let mut simulation = Simulation::new(world, settings.clone()).map_err(refused)?;
    simulation
        .notices()
        .iter()
        .for_each(|notice| terminal::note(&format!("note: {notice}")));
    let placement = match settings.device {
        DeviceChoice::Heterogeneous(_) => Placement::Heterogeneous,
        _ if is_on_cpu(&simulation) => Placement::Cpu,
        _ if way.split => Placement::Split,
        _ => Placement::Gpu,
    };
    if placement != Placement::Cpu {
        warm_up(fluid_alone(WARMING), settings)?;
    }
    let (steps, repeats) = (arguments.steps, arguments.repeat);
    simulation.advance(steps_before(arguments)).map_err(failed)?;
    let rebuilds = simulation.rebuilds();
    let measurements = seconds_of(&mut simulation, steps, repeats).map_err(failed)?;
    let [shortest, median, longest] = spread(measurements.iter().copied());
    let speed = |seconds: f64| steps as f64 / seconds;
    let steps_per_second = speed(median);
    let published = line.published[placement as usize];
    let rebuilt = simulation.rebuilds() - rebuilds;
    let drawn = match frames::drawer() {
        Ok(drawer) => Some(frames::drawn_per_second(drawer, &mut simulation, (steps / 5).max(1))?),
        Err(error) => {
            terminal::note(&format!("note: no pictures: {error}"));
            None
        }
    };
    let measured = Measured {
        table: table.number(placement),
        placement: placement.name(),
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        bodies: line.bodies,
        body_spheres: simulation.len(),
        fluid_particles: simulation.fluid_particles(),
        wall_particles,
        solver: (table == Table::Together).then(|| arguments.solver.name()),
        search: way.search.name(),
        steps_per_second,
        seconds_per_step: 1.0 / steps_per_second,
        simulated_per_second: steps_per_second * simulation.time_step().value,
        slowest: speed(longest),
        fastest: speed(shortest),
        measurements,
        steps: steps * u64::from(repeats),
        repeats,
        time_step: simulation.time_step().value,
        rebuilds: rebuilt,
        published_steps_per_second: published,
        over_published: published.map(|published| steps_per_second / published),
        drawn_per_second: drawn,
        published_drawn_per_second: drawn.and(line.published_pictures[placement as usize]),
    };
    Ok((placement, measured))
}

impl Measured {
    fn text(&self) -> String {
        let bodies = || {
            let spheres = terminal::many(self.body_spheres, "sphere");
            format!("{} bodies, {spheres}", terminal::count(self.bodies as u64))
        };
        let what = [
            (self.bodies > 0).then(bodies),
            (self.fluid_particles > 0).then(|| format!("{} of fluid", terminal::many(self.fluid_particles, "particle"))),
            (self.wall_particles > 0).then(|| format!("{} of walls", terminal::many(self.wall_particles, "particle"))),
        ];
        let mut text = format!(
            "  {} · {}{}\n    {:.1} steps/s ({:.1} to {:.1}), lists rebuilt {} in {} steps of {}",
            what.into_iter().flatten().collect::<Vec<_>>().join(", "),
            terminal::place(&self.device, self.precision, self.threads),
            if self.placement == Placement::Split.name() {
                ", broad phase of bodies on the cores"
            } else {
                ""
            },
            self.steps_per_second,
            self.slowest,
            self.fastest,
            terminal::many(self.rebuilds as usize, "time"),
            terminal::count(self.steps),
            terminal::scaled(self.time_step, "s"),
        );
        if self.search != Search::Auto.name() {
            text += &format!("; search = \"{}\"", self.search);
        }
        text += &format!("; {:.2} % of real time", 100.0 * self.simulated_per_second);
        if let (Some(published), Some(over)) = (self.published_steps_per_second, self.over_published) {
            text += &format!(
                "; [Silva 2010], table {}: {published:.1} – {over:.1} times as many here",
                self.table
            );
        }
        if let Some(drawn) = self.drawn_per_second {
            let (width, height) = frames::SIZE;
            text += &format!("\n    {drawn:.1} steps/s, each drawn at {width}×{height}");
        }
        if let Some(published) = self.published_drawn_per_second {
            text += &format!("; [Silva 2010]: {published:.1}");
        }
        text
    }
}

impl Gain {
    fn text(&self) -> String {
        let published = self.published_speed_up;
        let beside = published.map_or(String::new(), |gain| format!("; [Silva 2010], table {}: {gain:.2}", self.table));
        format!("    {} over {}: {:.2}{beside}", self.of, self.over, self.speed_up)
    }
}

impl Coarsening {
    fn text(&self) -> String {
        format!(
            "    {}: bodies of {} over bodies of {}: {:.2} in steps, {:.2} in simulated time",
            self.placement,
            terminal::many(self.spheres, "sphere"),
            terminal::many(self.finest_spheres, "sphere"),
            self.speed_up,
            self.pace
        )
    }
}
