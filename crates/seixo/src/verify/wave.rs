//! Waves: those that a paddle makes, and one that stands.

use super::fluid::{extent, fluids_of_mut};
use super::stand::{Done, Line, Stand, run_until, straight};
use seixo_engine::Simulation;
use seixo_engine::world::{Fluids, World};
use std::f64::consts::{PI, TAU};

/// Where the surface is looked at \[m\]: more than three depths from the paddle, where nothing is left of what does not travel, and a quarter of a wave
/// apart, so that what swings in place is added at one of them as it is taken off at the other.
const GAUGES: [f64; 2] = [1.0, 1.35];
/// Time of the first look \[periods\]: waves have passed the gauges, and those that the beach throws back have not come yet.
const FROM: f64 = 3.0;
/// How long is looked \[periods\], and how often in each.
const LOOKS: [u32; 2] = [3, 50];
/// Steps down to the surface in a spacing.
const STEPS_A_SPACING: f64 = 4.0;
/// Share of the surroundings that is fluid at a free surface.
const AT_SURFACE: f64 = 0.5;

/// Largest speed of a standing wave over its speed of travel: so much of its wavelength over 2π is its amplitude.
const STEEPNESS: f64 = 0.06;
/// Half periods of a standing wave that are looked at, and looks in each. The first one is left out: until then particles leave their lattice, which takes
/// energy of its own.
const HALF_PERIODS: u32 = 6;
const LOOKS_AT_WAVE: u32 = 60;

/// The paddle, and how finely its water is divided.
struct Paddle {
    name: String,
    /// How far it goes from one end to the other \[m\].
    stroke: f64,
    /// \[s\].
    period: f64,
    spacing: f64,
    /// Up to where there can be water \[m\].
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

/// The largest height at x where fluid fills half of the surroundings \[m\].
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

/// Amplitude of what swings once in a period, and its phase, from looks that are spread evenly over whole periods.
fn first_harmonic(looks: &[(f64, f64)], period: f64) -> (f64, f64) {
    let sum = |of: fn(f64) -> f64| looks.iter().map(|(time, x)| x * of(TAU * time / period)).sum::<f64>();
    let (even, odd) = (sum(f64::cos), sum(f64::sin));
    (2.0 * even.hypot(odd) / looks.len() as f64, odd.atan2(even))
}

/// Height and speed of waves that a paddle makes in a tank with a beach, and the power that it takes.
pub fn paddled(stand: &mut Stand) -> Done {
    let scene = stand.scene()?;
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
        stand.tell("waves", &simulation, until);
    }
    let [(near, phase), (far, later)] = [0, 1].map(|k| first_harmonic(&heights[k], paddle.period));
    // The wave is later at the far gauge, by less than a period.
    let lag = (later - phase).rem_euclid(2.0 * PI) / TAU * paddle.period;
    let ledger = simulation.ledger();
    stand.compare(&[
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
    stand.curve("surface", ["time [s]", "height of the surface [m]"], lines);
    Ok(())
}

/// Sets a standing wave going, at the moment at which its surface is flat: the potential flow over a free-slip bottom with this wave number \[1/m\] and
/// this largest speed along the surface \[m/s\].
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

/// A small standing wave decays by viscosity.
pub fn standing(stand: &mut Stand) -> Done {
    let mut scene = stand.scene()?;
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
        stand.tell("a wave", &simulation, until);
    }
    // Around each whole half period the kinetic energy has a maximum.
    let peaks: Vec<(f64, f64)> = energies
        .chunks(LOOKS_AT_WAVE as usize)
        .filter_map(|around| around.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)))
        .collect();
    let logarithms: Vec<(f64, f64)> = peaks.iter().map(|(time, energy)| (*time, 0.5 * energy.ln())).collect();
    let numbered: Vec<(f64, f64)> = peaks.iter().zip(1u32..).map(|((time, _), n)| (f64::from(n), *time)).collect();
    stand.compare(&[
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
    stand.curve("decay", ["time [s]", "kinetic energy [J/m]"], lines);
    Ok(())
}
