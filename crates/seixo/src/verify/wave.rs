//! Waves: those of a paddle, and a standing wave.

use super::case_run::{CaseRun, Done, Line, run_until, straight};
use super::fluid::{extent, fluids_of_mut};
use seixo_engine::Simulation;
use seixo_engine::world::{Fluids, World};
use std::f64::consts::{PI, TAU};

/// Positions of the gauges \[m\]: more than three depths from the paddle, where evanescent modes have decayed. They are a quarter of a wavelength
/// apart, so that a standing part of the wave adds to one amplitude as much as it takes from the other.
const GAUGES: [f64; 2] = [1.0, 1.35];
/// Time of the first sample \[periods\]: waves have passed the gauges, and reflections from the beach have not arrived yet.
const FROM: f64 = 3.0;
/// Length of the sampling \[periods\], and number of samples per period.
const LOOKS: [u32; 2] = [3, 50];
/// Search steps per spacing for the surface.
const STEPS_A_SPACING: f64 = 4.0;
/// Filled fraction at a free surface.
const AT_SURFACE: f64 = 0.5;

/// Largest speed of a standing wave over its phase speed: the amplitude over wavelength/2π.
const STEEPNESS: f64 = 0.06;
/// Number of half periods of a standing wave that are sampled, and samples in each. The first one is left out: particles leave their lattice in it,
/// which takes additional energy.
const HALF_PERIODS: u32 = 6;
const LOOKS_AT_WAVE: u32 = 60;

/// The paddle, and the resolution of the water.
struct Paddle {
    name: String,
    /// Stroke from one end to the other \[m\].
    stroke: f64,
    /// Period \[s\].
    period: f64,
    spacing: f64,
    /// Largest height of the water \[m\].
    top: f64,
}

fn paddle(world: &World) -> Result<Paddle, &'static str> {
    let fluids = world.fluids.as_ref().ok_or("the scene has no fluid")?;
    let mut swinging = world.walls.iter().filter_map(|wall| Some((wall, wall.motion.vibrations.first()?)));
    let (wall, swing) = swinging.next().ok_or("no wall of the scene swings")?;
    let highest = fluids.particles.position.iter().map(|place| place[2]).fold(0.0, f64::max);
    Ok(Paddle {
        name: wall.name.clone(),
        stroke: 2.0 * swing.amplitude[0],
        period: 1.0 / swing.frequency,
        spacing: fluids.spacing,
        top: 2.0 * highest,
    })
}

/// Largest height at x with a filled fraction of one half \[m\].
fn surface(simulation: &Simulation, x: f64, paddle: &Paddle) -> f64 {
    let step = paddle.spacing / STEPS_A_SPACING;
    let heights: Vec<f64> = (0..(paddle.top / step) as u32).map(|k| paddle.top - step * f64::from(k)).collect();
    let points: Vec<[f64; 3]> = heights.iter().map(|&z| [x, 0.0, z]).collect();
    let shares: Vec<f64> = simulation.sample_fluid(&points).iter().map(|there| there.share).collect();
    let Some(inside) = shares.iter().position(|&share| share >= AT_SURFACE).filter(|&k| k > 0) else {
        return f64::NAN;
    };
    let [above, below] = [shares[inside - 1], shares[inside]];
    heights[inside] + step * (below - AT_SURFACE) / (below - above)
}

/// Amplitude and phase of the first harmonic, from equally spaced samples over whole periods.
fn first_harmonic(looks: &[(f64, f64)], period: f64) -> (f64, f64) {
    let sum = |of: fn(f64) -> f64| looks.iter().map(|(time, x)| x * of(TAU * time / period)).sum::<f64>();
    let (even, odd) = (sum(f64::cos), sum(f64::sin));
    (2.0 * even.hypot(odd) / looks.len() as f64, odd.atan2(even))
}

/// Height and speed of the waves of a paddle in a tank with a beach, and the power of the paddle.
pub fn paddled(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let paddle = paddle(&scene.world)?;
    let [periods, looks] = LOOKS;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut heights: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
    let (mut work, mut at_first) = (0.0, None);
    let until = paddle.period * (FROM + f64::from(periods));
    for look in 0..=periods * looks {
        run_until(&mut simulation, paddle.period * (FROM + f64::from(look) / f64::from(looks)))?;
        let (time, done) = (simulation.time(), simulation.ledger().wall_work);
        work = done - *at_first.get_or_insert(done);
        if look < periods * looks {
            for (gauge, x) in heights.iter_mut().zip(GAUGES) {
                gauge.push((time, surface(&simulation, x, &paddle)));
            }
        }
        case_run.print_progress("waves", &simulation, until);
    }
    let [(near, phase), (far, later)] = [0, 1].map(|k| first_harmonic(&heights[k], paddle.period));
    // The wave arrives at the far gauge later, by less than a period.
    let lag = (later - phase).rem_euclid(2.0 * PI) / TAU * paddle.period;
    let ledger = simulation.ledger();
    case_run.compare(&[
        (near + far) / paddle.stroke,
        (GAUGES[1] - GAUGES[0]) / lag,
        work / (f64::from(periods) * paddle.period),
        ledger.residual / ledger.wall_work,
    ])?;
    let lines: Vec<Line> = heights
        .into_iter()
        .zip(GAUGES)
        .map(|(gauge, x)| (format!("{x} m from the {}", paddle.name), gauge))
        .collect();
    case_run.curve("surface", ["time [s]", "height of the surface [m]"], lines);
    Ok(())
}

/// Starts a standing wave at the moment of a flat surface: the potential flow over a free-slip bottom with this wave number \[1/m\] and this largest
/// speed along the surface \[m/s\].
fn set_standing(fluids: &mut Fluids, wave_number: f64, speed: f64) {
    let [floor, surface] = extent(fluids, 2);
    let bottom = (wave_number * (surface - floor)).sinh();
    let particles = &mut fluids.particles;
    for (place, velocity) in particles.position.iter().zip(&mut particles.velocity) {
        let (sin, cos) = (wave_number * place[0]).sin_cos();
        let height = wave_number * (place[2] - floor);
        *velocity = [-speed * height.cosh() / bottom * sin, 0.0, speed * height.sinh() / bottom * cos];
    }
}

/// Viscous decay of a small standing wave.
pub fn standing(case_run: &mut CaseRun) -> Done {
    let mut scene = case_run.scene()?;
    let gravity = -scene.world.gravity[2];
    let domain = scene.world.domain.ok_or("the scene has no domain")?;
    let fluids = fluids_of_mut(&mut scene.world)?;
    let wave_number = TAU / (domain.max[0] - domain.min[0]);
    let [floor, surface] = extent(fluids, 2);
    let frequency = (gravity * wave_number * (wave_number * (surface - floor)).tanh()).sqrt();
    let rate = 2.0 * fluids.kinds[0].viscosity / fluids.kinds[0].density * wave_number * wave_number;
    set_standing(fluids, wave_number, STEEPNESS * frequency / wave_number);
    let half = PI / frequency;
    let until = (f64::from(HALF_PERIODS) + 0.5) * half;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let given = simulation.ledger().kinetic;
    let mut energies = Vec::new();
    for k in 0..HALF_PERIODS * LOOKS_AT_WAVE {
        run_until(&mut simulation, half * (0.5 + f64::from(k) / f64::from(LOOKS_AT_WAVE)))?;
        energies.push((simulation.time(), simulation.ledger().kinetic));
        case_run.print_progress("a wave", &simulation, until);
    }
    // The kinetic energy has a maximum near each whole half period.
    let peaks: Vec<(f64, f64)> = energies
        .chunks(LOOKS_AT_WAVE as usize)
        .filter_map(|around| around.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)))
        .collect();
    let logarithms: Vec<(f64, f64)> = peaks.iter().map(|(time, energy)| (*time, 0.5 * energy.ln())).collect();
    let numbered: Vec<(f64, f64)> = peaks.iter().zip(1u32..).map(|((time, _), n)| (f64::from(n), *time)).collect();
    case_run.compare(&[
        -straight(&logarithms).0 / rate,
        straight(&numbered).0 / half,
        simulation.ledger().residual / given,
    ])?;
    let first = peaks.first().copied().unwrap_or_default();
    let solution = energies
        .iter()
        .map(|(time, _)| (*time, first.1 * (-2.0 * rate * (time - first.0)).exp()))
        .collect();
    let lines: Vec<Line> = vec![("measured".to_owned(), energies), ("exp(-4νk²t)".to_owned(), solution)];
    case_run.curve("decay", ["time [s]", "kinetic energy [J/m]"], lines);
    Ok(())
}
