//! `seixo bench`: throughput on this machine, and how near it is to what the memory allows.

mod bandwidth;
mod bed;

use super::{Done, Failure};
use crate::say;
use bed::Case;
use clap::Args;
use indicatif::ProgressBar;
use seixo::Simulation;
use serde::Serialize;
use std::time::Instant;

/// Measure particle-steps per second of a settled bed, with the share of each pass and of the memory's ceiling
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo bench                                      the frictional Hertz-Mindlin bed of 10⁵ grains, all cores
  seixo bench bed normal-only --particles 10000,100000 --threads 1,2
  seixo bench --settle 2000 --steps 200 --json     a quick look: the grains are still falling

Settling takes most of the time: 20 000 steps, once for each case and size. What is printed is the median of the repeats.
The floor is the time that the memory traffic of a step takes at the measured speed of a copy, each field moved once per pass that needs it.")]
pub struct BenchArguments {
    /// What to measure
    #[arg(value_enum, default_values = ["bed"])]
    cases: Vec<Case>,
    /// Numbers of grains
    #[arg(long, value_delimiter = ',', default_values_t = [100_000])]
    particles: Vec<u32>,
    /// Numbers of threads; 0 = all cores
    #[arg(long, value_delimiter = ',', default_values_t = [0])]
    threads: Vec<usize>,
    /// Share of space that the grains take at the start, 0.05 to 0.6; dense beds settle sooner
    #[arg(long, value_name = "SHARE", default_value_t = 0.30)]
    solid_fraction: f64,
    /// Steps before the measurement, in which the grains come to rest
    #[arg(long, value_name = "STEPS", default_value_t = 20_000)]
    settle: u64,
    /// Steps of one measurement
    #[arg(long, default_value_t = 500)]
    steps: u64,
    /// Measurements; their median is printed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Print one JSON object a line on the standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Measured {
    case: &'static str,
    particles: usize,
    threads: usize,
    particle_steps_per_second: f64,
    slowest: f64,
    fastest: f64,
    passes: Vec<(&'static str, f64)>,
    bytes_per_particle: f64,
    contacts_per_particle: f64,
    steps: u64,
    rebuilds: u64,
    kinetic_per_particle: f64,
    copy_bandwidth: f64,
    bytes_moved_per_particle_step: f64,
    ceiling: f64,
    share_of_ceiling: f64,
}

/// Runs the cases.
pub fn bench(arguments: &BenchArguments) -> Done {
    let wrong = |text: String| Err(Failure::Input(text).told(arguments.json));
    if arguments.steps == 0 {
        return wrong("--steps is 0, must be at least 1".to_owned());
    }
    if !(0.05..=0.6).contains(&arguments.solid_fraction) {
        return wrong(format!("--solid-fraction is {}, must be 0.05 to 0.6", arguments.solid_fraction));
    }
    for &case in &arguments.cases {
        for &particles in &arguments.particles {
            bench_case(case, particles, arguments).map_err(|failure| failure.told(arguments.json))?;
        }
    }
    Ok(())
}

/// Settles a bed once, then measures it on every number of threads, each time from the same state.
fn bench_case(case: Case, particles: u32, arguments: &BenchArguments) -> Done {
    let refused = |refusal: seixo::Refusal| Failure::Input(refusal.to_string());
    let (world, settings) = (bed::world(case, particles as usize, arguments.solid_fraction), bed::settings(0));
    let mut settling = Simulation::new(world.clone(), settings).map_err(refused)?;
    let bar = ProgressBar::new(arguments.settle);
    bar.set_message("settling");
    while settling.steps() < arguments.settle {
        let steps = (arguments.settle - settling.steps()).min(100);
        advance(&mut settling, steps)?;
        bar.set_position(settling.steps());
    }
    bar.finish_and_clear();
    let settled = settling.save();
    drop(settling);
    for &threads in &arguments.threads {
        let mut simulation = Simulation::restore(world.clone(), bed::settings(threads), &settled).map_err(refused)?;
        let measured = measure(case, &mut simulation, arguments)?;
        if arguments.json {
            say::json(&measured)?;
        } else {
            say::out(&measured.text())?;
        }
    }
    Ok(())
}

fn measure(case: Case, simulation: &mut Simulation, arguments: &BenchArguments) -> Result<Measured, Failure> {
    let particles = simulation.len();
    let (steps, repeat) = (arguments.steps, arguments.repeat);
    // Caches, and lists and scratch that grow on first use.
    advance(simulation, (steps / 10).max(1))?;
    let (rebuilds, before) = (simulation.rebuilds(), simulation.profile().clone());
    let (mut speeds, mut total) = (Vec::new(), 0.0);
    for _ in 0..repeat {
        let clock = Instant::now();
        advance(simulation, steps)?;
        let seconds = clock.elapsed().as_secs_f64();
        speeds.push(particles as f64 * steps as f64 / seconds);
        total += seconds;
    }
    speeds.sort_by(f64::total_cmp);
    let passes = simulation.profile().passes.iter().zip(&before.passes);
    let contacts = simulation.contacts() as f64 / particles as f64;
    let moved = bed::bytes_moved(case, contacts);
    let bandwidth = bandwidth::of_copying(simulation.threads());
    let speed = speeds[speeds.len() / 2];
    Ok(Measured {
        case: case.name(),
        particles,
        threads: simulation.threads(),
        particle_steps_per_second: speed,
        slowest: speeds[0],
        fastest: speeds[speeds.len() - 1],
        passes: passes.map(|(now, before)| (now.0, (now.1 - before.1) / total)).collect(),
        bytes_per_particle: simulation.bytes() as f64 / particles as f64,
        contacts_per_particle: contacts,
        steps: u64::from(repeat) * steps,
        rebuilds: simulation.rebuilds() - rebuilds,
        kinetic_per_particle: simulation.ledger().kinetic / particles as f64,
        copy_bandwidth: bandwidth,
        bytes_moved_per_particle_step: moved,
        ceiling: bandwidth / moved,
        share_of_ceiling: speed * moved / bandwidth,
    })
}

fn advance(simulation: &mut Simulation, steps: u64) -> Done {
    simulation.advance(steps).map_err(|stop| Failure::Run(stop.to_string()))
}

impl Measured {
    fn text(&self) -> String {
        let shares: Vec<String> = self
            .passes
            .iter()
            .map(|(pass, share)| format!("{pass} {:.1} %", 100.0 * share))
            .collect();
        format!(
            "{} · {} · {}\n  {} particle-steps/s ({} to {})\n  {}\n  {:.0} bytes and {:.2} contacts a grain, {} rebuilds in {} steps\n  floor: {:.0} bytes a particle-step at {} give {} particle-steps/s at most; {:.0} % of that reached",
            self.case,
            say::many(self.particles, "grain"),
            say::many(self.threads, "thread"),
            say::scaled(self.particle_steps_per_second, ""),
            say::scaled(self.slowest, ""),
            say::scaled(self.fastest, ""),
            shares.join(", "),
            self.bytes_per_particle,
            self.contacts_per_particle,
            self.rebuilds,
            self.steps,
            self.bytes_moved_per_particle_step,
            say::scaled(self.copy_bandwidth, "B/s"),
            say::scaled(self.ceiling, ""),
            100.0 * self.share_of_ceiling,
        )
    }
}
