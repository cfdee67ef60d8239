//! `seixo bench search`: the ways to find pairs beside each other, as \[PUC-Rio 2009\] and \[Silva 2010\] compare them.

mod mixture;
mod pool;

use super::super::{Done, Failure, write_file};
use super::case::{with_room, world_of};
use crate::say;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use pool::Pool;
use seixo::place::{PlaceArguments, is_on_cpu};
use seixo::view::{Chart, ChartFormat, Panel, encode};
use seixo_engine::world::{Interaction, Search, Settings, Vec3};
use seixo_engine::{SearchTrial, Sharing, TableTrial};
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Compare the ways to find near pairs: as radii spread [PUC-Rio 2009], and with one, two and three hash tables [Silva 2010]
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench search                                   both comparisons on all cores
  seixo bench search --device gpu --particles 200000 --fluid 32784,262272
  seixo bench search --searches grid,grid_multi_cell,hierarchical_grid --spreads 1,16 --repeat 9 --json
  seixo bench search --plot docs/pictures              and the curves as search-spread.svg and search-tables.svg

The first comparison finds the pairs of spheres of one solid fraction, as when lists are renewed: sorting, filing in tables, counting, listing.
The number of spheres stays, the largest radius over the smallest grows, and every octave of radii has the same volume. The second
finds the neighbors of fluid particles and of spheres that make up rigid bodies, some of which never move, through one table for all, through a
table for each size, and through one more, built once, for what never moves. All ways must find as many pairs. Times are medians.")]
pub struct SearchArguments {
    /// Ways to find the pairs of the first comparison
    #[arg(long, value_name = "WAY", value_delimiter = ',', value_parser = searches(),
        default_values = ["grid", "grid_multi_cell", "hierarchical_grid", "spatial_hash", "brute_force"])]
    searches: Vec<Search>,
    /// Number of spheres of the first comparison
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    particles: u32,
    /// Largest radius over smallest, 1 to 64
    #[arg(long, value_delimiter = ',', default_values_t = [1.0, 2.0, 4.0, 8.0, 16.0])]
    spreads: Vec<f64>,
    /// Share of space that the spheres take, 0.01 to 0.32
    #[arg(long, value_name = "SHARE", default_value_t = 0.30)]
    solid_fraction: f64,
    /// Numbers of fluid particles of the second comparison
    #[arg(long, value_delimiter = ',', default_values_t = [4098, 8196, 16_392, 32_784], value_parser = clap::value_parser!(u32).range(1..))]
    fluid: Vec<u32>,
    /// Measurements, whose median is told
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Number of threads; 0 = all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    place: PlaceArguments,
    /// Draw both comparisons into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Print one JSON object a line on the standard output
    #[arg(long)]
    pub json: bool,
}

/// The words of [`Search`].
fn searches() -> impl TypedValueParser<Value = Search> {
    PossibleValuesParser::new(Search::ALL.map(Search::name))
        .map(|word| Search::ALL.into_iter().find(|search| search.name() == word).unwrap_or_default())
}

/// Most spheres among which every pair is looked at, on a CPU and on a GPU: beyond it would take minutes.
const BRUTE_FORCE_AT_MOST: [usize; 2] = [50_000, 500_000];
/// How long pairs are found before the measurements: caches fill, kernels are compiled, clocks rise.
const WARM_UP: Duration = Duration::from_millis(200);

/// A time told with what it is about.
#[derive(Serialize)]
struct Measured {
    comparison: &'static str,
    device: String,
    precision: &'static str,
    threads: usize,
    /// Name of the search, or number of tables.
    way: String,
    /// Largest radius over smallest, or number of fluid particles.
    at: f64,
    particles: usize,
    pairs: u64,
    seconds: f64,
    /// In the order in which they were taken.
    measurements: Vec<f64>,
}

/// Where everything is measured.
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
    let place = place(arguments)?;
    let where_it_is = say::place(&place.device, place.precision, place.threads);
    if !arguments.json {
        say::out(&format!(
            "pairs of {} of one solid fraction, by spread of radii · {where_it_is}",
            say::many(arguments.particles as usize, "sphere")
        ))?;
    }
    let mut of_spreads = Vec::new();
    for &spread in &arguments.spreads {
        compare_searches(arguments, &place, spread, &mut of_spreads)?;
    }
    if !arguments.json {
        say::out(&format!(
            "neighbors of fluid and rigid particles, by number of hash tables · {where_it_is}"
        ))?;
    }
    let mut of_tables = Vec::new();
    for &fluid in &arguments.fluid {
        for has_static in [false, true] {
            compare_tables(arguments, &place, &Pool::new(fluid as usize, has_static), &mut of_tables)?;
        }
    }
    let Some(folder) = &arguments.plot else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|error| Failure::Run(format!("{}: cannot create it: {error}", folder.display())))?;
    let spheres = say::count(u64::from(arguments.particles));
    let title = format!("Time to find the pairs of {spheres} spheres · {where_it_is}");
    draw(folder, "search-spread.svg", title, "largest radius / smallest radius", &of_spreads)?;
    let title = format!("Time to find neighbors through hash tables · {where_it_is}");
    draw(folder, "search-tables.svg", title, "fluid particles", &of_tables)
}

/// Starts the device with a few spheres, to say what it is.
fn place(arguments: &SearchArguments) -> Result<Place, Failure> {
    let mut settings = Settings {
        threads: arguments.threads,
        ..Settings::default()
    };
    arguments.place.apply(&mut settings).map_err(Failure::Input)?;
    let probe = trial(&mixture::spheres(2, 1.0, 0.1).map_err(Failure::Input)?, settings.clone())?;
    let simulation = probe.simulation();
    simulation.notices().iter().for_each(|notice| say::note(&format!("note: {notice}")));
    Ok(Place {
        settings,
        device: simulation.device_name(),
        precision: simulation.precision().name(),
        threads: simulation.threads(),
        is_cpu: is_on_cpu(simulation),
    })
}

/// Smooth spheres that nothing moves.
fn trial(spheres: &[(Vec3, f64)], settings: Settings) -> Result<SearchTrial, Failure> {
    let mut grains = with_room(spheres.len());
    for (id, &(center, radius)) in spheres.iter().enumerate() {
        grains.push(id as u32, center, [0.0; 3], [0.0; 3], radius, 0, 0);
    }
    let interaction = Interaction {
        normal: NormalLaw::Hertz,
        tangential: TangentialLaw::None,
        restitution: 0.5,
        friction: 0.0,
        stiffness: None,
        tangential_stiffness: None,
        ..Interaction::default()
    };
    SearchTrial::new(world_of(grains, interaction, Vec::new(), 0.0), settings).map_err(|refusal| Failure::Input(refusal.to_string()))
}

/// A way that is tried out.
struct Trial<T> {
    way: String,
    found: T,
}

fn compare_searches(arguments: &SearchArguments, place: &Place, spread: f64, told: &mut Vec<Measured>) -> Done {
    let particles = arguments.particles as usize;
    let spheres = mixture::spheres(particles, spread, arguments.solid_fraction).map_err(Failure::Input)?;
    let mut trials = Vec::new();
    for &search in &arguments.searches {
        let most = BRUTE_FORCE_AT_MOST[usize::from(!place.is_cpu)];
        if search == Search::BruteForce && particles > most {
            say::note(&format!(
                "brute_force is left out: {particles} spheres are more than the {most} that it takes here"
            ));
            continue;
        }
        let settings = Settings {
            search,
            ..place.settings.clone()
        };
        trials.push(Trial {
            way: search.name().to_owned(),
            found: trial(&spheres, settings)?,
        });
    }
    let failed = |stop: seixo::Stop| Failure::Run(stop.to_string());
    let times = measure(arguments.repeat, &mut trials, |trial| trial.found.find().map_err(failed))?;
    let first = told.len();
    for (mut trial, times) in trials.into_iter().zip(times) {
        let pairs = trial.found.pairs().map_err(failed)?;
        told.push(place.measured("spread", trial.way, (spread, particles, pairs), times));
    }
    tell(arguments, &told[first..])
}

fn compare_tables(arguments: &SearchArguments, place: &Place, pool: &Pool, told: &mut Vec<Measured>) -> Done {
    let refused = |refusal: seixo::Refusal| Failure::Run(refusal.to_string());
    let particles = pool.particles.len();
    let (scene, ways) = match pool.moving < particles {
        true => (
            "with walls",
            &[
                (Sharing::One, "1 table"),
                (Sharing::EachSize, "2 tables"),
                (Sharing::EachSizeAndStatic, "3 tables"),
            ][..],
        ),
        false => ("no walls", &[(Sharing::One, "1 table"), (Sharing::EachSize, "2 tables")][..]),
    };
    let mut trials = Vec::new();
    for &(sharing, tables) in ways {
        trials.push(Trial {
            way: format!("{tables}, {scene}"),
            found: TableTrial::new(&pool.particles, pool.moving, sharing, &place.settings).map_err(refused)?,
        });
    }
    let times = measure(arguments.repeat, &mut trials, |trial| trial.found.find().map_err(refused))?;
    let first = told.len();
    for (trial, times) in trials.into_iter().zip(times) {
        let pairs = trial.found.neighbors().map_err(refused)?;
        told.push(place.measured("tables", trial.way, (pool.fluid as f64, particles, pairs), times));
    }
    tell(arguments, &told[first..])
}

/// Takes measurements of all trials in turn, once everything is warm: what else the machine does meets all alike.
fn measure<T>(repeat: u32, trials: &mut [T], find: impl Fn(&mut T) -> Result<f64, Failure>) -> Result<Vec<Vec<f64>>, Failure> {
    for trial in &mut *trials {
        let clock = Instant::now();
        find(trial)?;
        while clock.elapsed() < WARM_UP {
            find(trial)?;
        }
    }
    let mut times = vec![Vec::new(); trials.len()];
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
        let mut sorted = measurements.clone();
        sorted.sort_by(f64::total_cmp);
        Measured {
            comparison,
            device: self.device.clone(),
            precision: self.precision,
            threads: self.threads,
            way,
            at,
            particles,
            pairs,
            seconds: sorted[sorted.len() / 2],
            measurements,
        }
    }
}

/// Says what was measured of one world, and makes sure that all ways found as many pairs.
fn tell(arguments: &SearchArguments, told: &[Measured]) -> Done {
    for measured in told {
        if arguments.json {
            say::json(measured)?;
            continue;
        }
        let extreme = |pick: fn(f64, f64) -> f64| measured.measurements.iter().copied().reduce(pick).unwrap_or_default();
        say::out(&format!(
            "  {:>6} {:<20} {:>8} ({} to {}), {:.2} times as fast as {}",
            measured.at,
            measured.way,
            say::scaled(measured.seconds, "s"),
            say::scaled(extreme(f64::min), "s"),
            say::scaled(extreme(f64::max), "s"),
            told[0].seconds / measured.seconds,
            told[0].way,
        ))?;
    }
    match told.windows(2).find(|pair| pair[0].pairs != pair[1].pairs) {
        None => Ok(()),
        Some(pair) => Err(Failure::Run(format!(
            "{} finds {} pairs, {} finds {}: one of them is wrong; please report this",
            pair[0].way, pair[0].pairs, pair[1].way, pair[1].pairs
        ))),
    }
}

/// Draws a curve of microseconds a particle for every way.
fn draw(folder: &Path, name: &str, title: String, horizontal: &str, told: &[Measured]) -> Done {
    let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for measured in told {
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
        }],
        is_logarithmic: true,
    };
    let bytes = encode(&chart, ChartFormat::Svg).map_err(|error| Failure::Run(error.to_string()))?;
    let path = folder.join(name);
    write_file(&path, &bytes)?;
    say::note(&path.display().to_string());
    Ok(())
}
