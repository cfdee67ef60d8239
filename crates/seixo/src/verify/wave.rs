//! Waves that a paddle makes.

use super::stand::{Done, Line, Stand, run_until};
use seixo_engine::Simulation;
use seixo_engine::world::World;
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
