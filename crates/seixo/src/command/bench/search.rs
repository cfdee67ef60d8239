//! `seixo bench search`: compares methods of the pair search, as \[PUC-Rio 2009\] and \[Silva 2010\] do.

pub mod mixture;
mod pool;
mod whole;

use super::super::{Done, Failure, create_folder};
use super::case::{with_room, world_of};
use super::median::median;
use super::write_chart;
use crate::device_options::{DeviceArguments, is_on_cpu};
use crate::terminal;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use pool::Pool;
use seixo_engine::world::{Interaction, Search, Settings, Vec3, World};
use seixo_engine::{HashTableBenchmark, SearchBenchmark, TableSharing};
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use seixo_view::{Chart, Panel};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Compare methods of the pair search: over the ratio of radii [PUC-Rio 2009] or the number of spheres, and with one to three hash tables [Silva 2010]
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench search                                   both comparisons on all cores
  seixo bench search --device gpu --particles 200000 --fluid 32784,262272
  seixo bench search --searches grid,grid_multi_cell,hierarchical_grid --spreads 1,16 --repeat 9 --json
  seixo bench search --ratio 1,2,4,8                   hash tables with larger and larger spheres of bodies
  seixo bench search --plot docs/pictures              and the curves as search-spread.svg and search-tables.svg
  seixo bench search --particles 2500,5000,10000,20000 --spreads 1 --plot docs/pictures
                                                       over the number of spheres, the curves as search-number.svg
  seixo bench search --whole --device gpu --searches grid,grid_multi_cell --particles 100000
                                                       steps of whole simulations, where grids are built in every step

The first comparison finds the pairs of spheres of one solid fraction, as when lists are rebuilt: sorting, filing in tables, counting, listing.
The number of spheres stays, the largest radius over the smallest grows, and every octave of radii has the same volume. With several numbers of
spheres, the number grows at each ratio of radii: brute force then takes a time proportional to its square, and cells to itself. The second
finds the neighbors of fluid particles and of spheres that make up rigid bodies, some of which never move, through one table for all, through a
table for each size, and through one more, built once, for what never moves. --ratio makes the spheres larger, and prints the time to fill the
tables and the time to list neighbors. All ways must find as many pairs. Times are medians.

With --whole, steps of whole simulations are timed instead: radii are larger by a tenth of the smallest, so that spheres touch, with normal
forces only, and with friction. Cells are built in every step, as in [PUC-Rio 2009]; beside it stands a neighbor list with a skin. Without friction, `grid` and
`hierarchical_grid` compute forces while they search. The other methods write a list first.")]
pub struct SearchArguments {
    /// Methods of the first comparison, separated by commas
    #[arg(long, value_name = "WAY", value_delimiter = ',', value_parser = searches(),
        default_values = ["grid", "grid_multi_cell", "hierarchical_grid", "spatial_hash", "brute_force"])]
    searches: Vec<Search>,
    /// Numbers of spheres in the first comparison, separated by commas; with more than one, it goes over them
    #[arg(long, value_delimiter = ',', default_values_t = [20_000], value_parser = clap::value_parser!(u32).range(1..))]
    particles: Vec<u32>,
    /// Ratios of the largest to the smallest radius in the first comparison, 1 to 64, separated by commas
    #[arg(long, value_delimiter = ',', default_values_t = [1.0, 2.0, 4.0, 8.0, 16.0])]
    spreads: Vec<f64>,
    /// Solid fraction of the spheres, 0.01 to 0.32
    #[arg(long, value_name = "SHARE", default_value_t = 0.30)]
    solid_fraction: f64,
    /// Numbers of fluid particles in the second comparison, separated by commas
    #[arg(long, value_delimiter = ',', default_values_t = [4098, 8196, 16_392, 32_784], value_parser = clap::value_parser!(u32).range(1..))]
    fluid: Vec<u32>,
    /// Radii of the spheres of bodies over the support of the fluid in the second comparison, 1 to 16, separated by commas
    #[arg(long, value_name = "RATIO", value_delimiter = ',', default_values_t = [1.0])]
    ratio: Vec<f64>,
    /// Time steps of whole simulations instead
    #[arg(long)]
    whole: bool,
    /// Steps of one measurement of whole simulations
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Number of measurements, of which the median is printed
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Number of CPU threads; 0 = all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    place: DeviceArguments,
    /// Draw charts of both comparisons into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Print one JSON object per line on the standard output
    #[arg(long)]
    pub json: bool,
}

impl SearchArguments {
    /// Number of spheres and ratio of radii of each world of the first comparison.
    fn mixtures(&self) -> impl Iterator<Item = (usize, f64)> {
        self.spreads
            .iter()
            .flat_map(move |&spread| self.particles.iter().map(move |&particles| (particles as usize, spread)))
    }

    /// Whether the first comparison goes over the number of spheres, and not over the ratio of radii.
    fn is_over_number(&self) -> bool {
        self.particles.len() > 1
    }

    /// Place of a world in the first comparison.
    fn place_of(&self, (particles, spread): (usize, f64)) -> f64 {
        if self.is_over_number() { particles as f64 } else { spread }
    }

    /// Name of a curve of the first comparison.
    fn curve(&self, way: String, spread: f64) -> String {
        if self.is_over_number() && self.spreads.len() > 1 {
            format!("{way}, ratio {spread}")
        } else {
            way
        }
    }

    /// The spheres of the first comparison, and what grows in it: in a heading, and at an axis.
    fn subject(&self) -> (String, [&'static str; 2]) {
        match self.particles[..] {
            [particles] => (
                terminal::many(particles as usize, "sphere"),
                ["spread of radii", "largest radius / smallest radius"],
            ),
            _ => ("spheres".to_owned(), ["number of spheres", "spheres"]),
        }
    }
}

/// Parses the name of a [`Search`].
pub fn searches() -> impl TypedValueParser<Value = Search> {
    PossibleValuesParser::new(Search::ALL.map(Search::name))
        .map(|word| Search::ALL.into_iter().find(|search| search.name() == word).unwrap_or_default())
}

/// Largest number of spheres for brute force, on a CPU and on a GPU; more would take minutes.
const BRUTE_FORCE_AT_MOST: [usize; 2] = [50_000, 500_000];
/// Warm-up time before the measurements: caches fill, kernels are compiled, clock rates rise.
const WARM_UP: Duration = Duration::from_millis(200);

/// Measured time of a search, with its parameters.
#[derive(Serialize)]
struct Measured {
    comparison: &'static str,
    device: String,
    precision: &'static str,
    threads: usize,
    /// Name of the method, or number of tables.
    way: String,
    /// Ratio of the largest to the smallest radius, number of spheres, or number of fluid particles.
    at: f64,
    particles: usize,
    pairs: u64,
    /// Radius of the spheres of bodies over the support of the fluid, with hash tables.
    ratio: Option<f64>,
    seconds: f64,
    /// Medians of the seconds to fill tables and to list neighbors, with hash tables.
    seconds_to_fill: Option<f64>,
    seconds_to_list: Option<f64>,
    /// Seconds of each measurement, in the order of measurement.
    measurements: Vec<f64>,
}

/// Device of the measurements.
struct Place {
    settings: Settings,
    device: String,
    precision: &'static str,
    threads: usize,
    is_cpu: bool,
}

/// Runs both comparisons.
pub fn search(arguments: &SearchArguments) -> Done {
    if !(0.01..=0.32).contains(&arguments.solid_fraction) {
        let text = format!("--solid-fraction is {}, must be 0.01 to 0.32", arguments.solid_fraction);
        return Err(Failure::Input(text));
    }
    if let Some(spread) = arguments.spreads.iter().find(|spread| !(1.0..=64.0).contains(*spread)) {
        return Err(Failure::Input(format!("--spreads has {spread}, must be 1 to 64")));
    }
    if let Some(ratio) = arguments.ratio.iter().find(|ratio| !(1.0..=16.0).contains(*ratio)) {
        return Err(Failure::Input(format!("--ratio has {ratio}, must be 1 to 16")));
    }
    let place = place(arguments)?;
    let where_it_is = terminal::place(&place.device, place.precision, place.threads);
    if arguments.whole {
        return whole_simulations(arguments, &place, &where_it_is);
    }
    let (spheres, [variable, axis]) = arguments.subject();
    if !arguments.json {
        terminal::out(&format!("pairs of {spheres} of one solid fraction, by {variable} · {where_it_is}"))?;
    }
    let mut of_mixtures = Vec::new();
    for mixture in arguments.mixtures() {
        compare_searches(arguments, &place, mixture, &mut of_mixtures)?;
    }
    if !arguments.json {
        terminal::out(&format!(
            "neighbors of fluid and rigid particles, by number of hash tables · {where_it_is}"
        ))?;
    }
    let mut of_tables = Vec::new();
    for &ratio in &arguments.ratio {
        for &fluid in &arguments.fluid {
            for has_static in [false, true] {
                let pool = Pool::new(fluid as usize, has_static, ratio);
                compare_tables(arguments, &place, (&pool, ratio), &mut of_tables)?;
            }
        }
    }
    let Some(folder) = &arguments.plot else {
        return Ok(());
    };
    create_folder(folder)?;
    let title = format!("Time to find the pairs of {spheres} · {where_it_is}");
    let name = if arguments.is_over_number() {
        "search-number.svg"
    } else {
        "search-spread.svg"
    };
    draw(folder, name, title, axis, &of_mixtures)?;
    let title = format!("Time to find neighbors through hash tables · {where_it_is}");
    draw(folder, "search-tables.svg", title, "fluid particles", &of_tables)
}

/// Compares steps of whole simulations.
fn whole_simulations(arguments: &SearchArguments, place: &Place, where_it_is: &str) -> Done {
    let (spheres, [variable, axis]) = arguments.subject();
    if !arguments.json {
        terminal::out(&format!("a step of {spheres} that touch, by {variable} · {where_it_is}"))?;
    }
    if arguments.searches == [Search::BruteForce] {
        return Err(Failure::Input("--whole has no brute force: name another of --searches".to_owned()));
    }
    let mut reported = Vec::new();
    for tangential in [TangentialLaw::None, TangentialLaw::Mindlin] {
        for mixture in arguments.mixtures() {
            whole::compare_runs(arguments, place, mixture, tangential, &mut reported)?;
        }
    }
    let Some(folder) = &arguments.plot else {
        return Ok(());
    };
    create_folder(folder)?;
    let title = format!("Time of a step of {spheres} · {where_it_is}");
    draw(folder, "search-whole.svg", title, axis, &reported)
}

/// Starts the device with a few spheres to get its name.
fn place(arguments: &SearchArguments) -> Result<Place, Failure> {
    let mut settings = Settings {
        threads: arguments.threads,
        ..Settings::default()
    };
    arguments.place.apply(&mut settings).map_err(Failure::Input)?;
    let probe = trial(&mixture::spheres(2, 1.0, 0.1).map_err(Failure::Input)?, settings.clone())?;
    let simulation = probe.simulation();
    simulation
        .notices()
        .iter()
        .for_each(|notice| terminal::note(&format!("note: {notice}")));
    Ok(Place {
        settings,
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        is_cpu: is_on_cpu(simulation),
    })
}

/// Spheres at rest, without gravity and walls; with a tangential law they have friction.
fn world(spheres: impl IntoIterator<Item = (Vec3, f64)>, tangential: TangentialLaw) -> World {
    let mut grains = with_room(0);
    for (id, (center, radius)) in spheres.into_iter().enumerate() {
        grains.push(id as u32, center, [0.0; 3], [0.0; 3], radius, 0, 0);
    }
    let interaction = Interaction {
        normal: NormalLaw::Hertz,
        tangential,
        restitution: 0.5,
        friction: if tangential == TangentialLaw::None { 0.0 } else { 0.5 },
        ..Interaction::default()
    };
    world_of(grains, interaction, Vec::new(), 0.0)
}

/// The search among spheres without friction or motion.
fn trial(spheres: &[(Vec3, f64)], settings: Settings) -> Result<SearchBenchmark, Failure> {
    SearchBenchmark::new(world(spheres.iter().copied(), TangentialLaw::None), settings)
        .map_err(|refusal| Failure::Input(refusal.to_string()))
}

/// Method under test.
struct Trial<T> {
    way: String,
    found: T,
}

fn compare_searches(arguments: &SearchArguments, place: &Place, (particles, spread): (usize, f64), reported: &mut Vec<Measured>) -> Done {
    let comparison = if arguments.is_over_number() { "number" } else { "spread" };
    let at = arguments.place_of((particles, spread));
    let spheres = mixture::spheres(particles, spread, arguments.solid_fraction).map_err(Failure::Input)?;
    let mut trials = Vec::new();
    for &search in &arguments.searches {
        let most = BRUTE_FORCE_AT_MOST[usize::from(!place.is_cpu)];
        if search == Search::BruteForce && particles > most {
            terminal::note(&format!(
                "brute_force is left out: {particles} spheres are more than the {most} that it takes here"
            ));
            continue;
        }
        let settings = Settings {
            search,
            ..place.settings.clone()
        };
        trials.push(Trial {
            way: arguments.curve(search.name().to_owned(), spread),
            found: trial(&spheres, settings)?,
        });
    }
    let failed = |stop: seixo_engine::StepError| Failure::Run(stop.to_string());
    let times = measure(arguments.repeat, &mut trials, |trial| trial.found.find().map_err(failed))?;
    let first = reported.len();
    for (mut trial, times) in trials.into_iter().zip(times) {
        let pairs = trial.found.pairs().map_err(failed)?;
        reported.push(place.measured(comparison, trial.way, (at, particles, pairs), times));
    }
    print_world(arguments, &reported[first..])
}

fn compare_tables(arguments: &SearchArguments, place: &Place, (pool, ratio): (&Pool, f64), reported: &mut Vec<Measured>) -> Done {
    let refused = |refusal: seixo_engine::WorldError| Failure::Run(refusal.to_string());
    let particles = pool.particles.len();
    let (scene, ways) = match pool.moving < particles {
        true => (
            "with walls",
            &[
                (TableSharing::One, "1 table"),
                (TableSharing::EachSize, "2 tables"),
                (TableSharing::EachSizeAndStatic, "3 tables"),
            ][..],
        ),
        false => (
            "no walls",
            &[(TableSharing::One, "1 table"), (TableSharing::EachSize, "2 tables")][..],
        ),
    };
    let of_ratio = if ratio == 1.0 { String::new() } else { format!(", ratio {ratio}") };
    let mut trials = Vec::new();
    for &(sharing, tables) in ways {
        trials.push(Trial {
            way: format!("{tables}, {scene}{of_ratio}"),
            found: HashTableBenchmark::new(&pool.particles, pool.moving, sharing, &place.settings).map_err(refused)?,
        });
    }
    let times = measure(arguments.repeat, &mut trials, |trial| trial.found.find().map_err(refused))?;
    let first = reported.len();
    for (trial, times) in trials.into_iter().zip(times) {
        let pairs = trial.found.neighbors().map_err(refused)?;
        let sums = times.iter().map(|[fill, list]| fill + list).collect();
        let part = |k: usize| Some(median(times.iter().map(|parts| parts[k])));
        reported.push(Measured {
            ratio: Some(ratio),
            seconds_to_fill: part(0),
            seconds_to_list: part(1),
            ..place.measured("tables", trial.way, (pool.fluid as f64, particles, pairs), sums)
        });
    }
    print_world(arguments, &reported[first..])
}

/// Measures all trials in turn after a warm-up, so that disturbances by other processes affect all trials alike.
fn measure<T, M>(repeat: u32, trials: &mut [T], find: impl Fn(&mut T) -> Result<M, Failure>) -> Result<Vec<Vec<M>>, Failure> {
    for trial in &mut *trials {
        let clock = Instant::now();
        find(trial)?;
        while clock.elapsed() < WARM_UP {
            find(trial)?;
        }
    }
    let mut times: Vec<Vec<M>> = trials.iter().map(|_| Vec::new()).collect();
    for _ in 0..repeat {
        for (trial, times) in trials.iter_mut().zip(&mut times) {
            times.push(find(trial)?);
        }
    }
    Ok(times)
}

impl Place {
    fn measured(
        &self,
        comparison: &'static str,
        way: String,
        (at, particles, pairs): (f64, usize, u64),
        measurements: Vec<f64>,
    ) -> Measured {
        Measured {
            comparison,
            device: self.device.clone(),
            precision: self.precision,
            threads: self.threads,
            way,
            at,
            particles,
            pairs,
            ratio: None,
            seconds: median(measurements.iter().copied()),
            seconds_to_fill: None,
            seconds_to_list: None,
            measurements,
        }
    }
}

/// Prints the measurements of one world, and checks that all methods found the same number of pairs.
fn print_world(arguments: &SearchArguments, reported: &[Measured]) -> Done {
    for measured in reported {
        if arguments.json {
            terminal::json(measured)?;
            continue;
        }
        let extreme = |pick: fn(f64, f64) -> f64| measured.measurements.iter().copied().reduce(pick).unwrap_or_default();
        let parts = match (measured.seconds_to_fill, measured.seconds_to_list) {
            (Some(fill), Some(list)) => format!("; tables {}, lists {}", terminal::scaled(fill, "s"), terminal::scaled(list, "s")),
            _ => String::new(),
        };
        terminal::out(&format!(
            "  {:>6} {:<20} {:>8} ({} to {}), {:.2} times as fast as {}{parts}",
            measured.at,
            measured.way,
            terminal::scaled(measured.seconds, "s"),
            terminal::scaled(extreme(f64::min), "s"),
            terminal::scaled(extreme(f64::max), "s"),
            reported[0].seconds / measured.seconds,
            reported[0].way,
        ))?;
    }
    match reported.windows(2).find(|pair| pair[0].pairs != pair[1].pairs) {
        None => Ok(()),
        Some(pair) => Err(Failure::Run(format!(
            "{} finds {} pairs, {} finds {}: one of them is wrong; please report this",
            pair[0].way, pair[0].pairs, pair[1].way, pair[1].pairs
        ))),
    }
}

/// Draws a curve of microseconds per particle for each method.
fn draw(folder: &Path, name: &str, title: String, horizontal: &str, reported: &[Measured]) -> Done {
    let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for measured in reported {
        let point = (measured.at, 1e6 * measured.seconds / measured.particles as f64);
        match curves.iter_mut().find(|(way, _)| *way == measured.way) {
            Some((_, points)) => points.push(point),
            None => curves.push((measured.way.clone(), vec![point])),
        }
    }
    let chart = Chart {
        title,
        horizontal: horizontal.to_owned(),
        panels: vec![Panel {
            vertical: "time a particle [µs]".to_owned(),
            height: 430.0,
            curves,
            measured: Vec::new(),
        }],
        is_logarithmic: true,
    };
    write_chart(&folder.join(name), &chart)
}
