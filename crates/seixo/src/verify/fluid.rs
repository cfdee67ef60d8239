//! Fluids: at rest, and in laminar flows with known solutions.

use super::case_run::{CaseRun, Done, Line, along, length, mean, run_until, straight};
use seixo_engine::Simulation;
use seixo_engine::state::FluidSnapshot;
use seixo_engine::world::{Fluids, Vec3, World};
use std::f64::consts::PI;

/// Returns the fluids of a world.
pub(super) fn fluids_of(world: &World) -> Result<&Fluids, &'static str> {
    world.fluids.as_ref().ok_or("the scene has no fluid")
}

/// Returns the fluids of a world for changes before a run.
pub(super) fn fluids_of_mut(world: &mut World) -> Result<&mut Fluids, &'static str> {
    world.fluids.as_mut().ok_or("the scene has no fluid")
}

/// Returns the current fluid particles.
pub(super) fn fluid_now(simulation: &Simulation) -> Result<FluidSnapshot, &'static str> {
    simulation.fluid().ok_or("the scene has no fluid")
}

/// Extent of the fluids along an axis, from the lower end of the first particle to the upper end of the last \[m\].
pub(super) fn extent(fluids: &Fluids, axis: usize) -> [f64; 2] {
    let places = fluids.particles.position.iter().map(|place| place[axis]);
    let [low, high] = places.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    [low - 0.5 * fluids.spacing, high + 0.5 * fluids.spacing]
}

fn square(velocity: &Vec3) -> f64 {
    velocity.iter().map(|v| v * v).sum()
}

/// Water at rest in a tank.
pub fn hydrostatic(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let (until, gravity) = (scene.run.until, -scene.world.gravity[2]);
    let fluids = fluids_of(&scene.world)?;
    let ([left, right], [floor, surface]) = (extent(fluids, 0), extent(fluids, 2));
    let (density, count, depth) = (fluids.kinds[0].density, fluids.particles.len(), surface - floor);
    let weight = count as f64 * density * fluids.volume() * gravity;
    // Range of heights where the support of the kernel has only fluid.
    let (low, high) = (floor + fluids.support, surface - fluids.support);
    let heights: Vec<f64> = (0..5).map(|k| low + f64::from(k) / 4.0 * (high - low)).collect();
    let points: Vec<Vec3> = heights.iter().map(|&z| [0.5 * (left + right), 0.0, z]).collect();
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let at_first = simulation.ledger();
    run_until(&mut simulation, until)?;
    let pressures: Vec<f64> = simulation.sample_fluid(&points).iter().map(|sample| sample.pressure).collect();
    let expected: Vec<f64> = heights.iter().map(|z| density * gravity * (surface - z)).collect();
    let off = pressures.iter().zip(&expected).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
    let now = fluid_now(&simulation)?;
    let speed = mean(&now.velocity, square).sqrt();
    let force = simulation
        .walls()
        .iter()
        .fold([0.0; 2], |[x, z], wall| [x + wall.force[0], z + wall.force[2]]);
    case_run.compare(&[
        off / (density * gravity * depth),
        speed / (gravity * depth).sqrt(),
        -force[1] / weight,
        force[0] / weight,
        now.id.len() as f64 / count as f64,
        simulation.ledger().residual / at_first.gravity,
    ])?;
    let curve = |pressures: &[f64]| -> Vec<(f64, f64)> { heights.iter().copied().zip(pressures.iter().copied()).collect() };
    let lines: Vec<Line> = vec![
        ("measured".to_owned(), curve(&pressures)),
        ("ρ g depth".to_owned(), curve(&expected)),
    ];
    case_run.curve("pressure", ["height [m]", "pressure [Pa]"], lines);
    Ok(())
}

/// Velocity \[m/s\] between two plates, `z` being the distance from one plate over the gap L. A body force F per mass acts from rest for a time t;
/// `steady` = F L²/(2ν) and `time` = ν t/L² \[Morris 1997, eq. 21\].
fn between_plates(z: f64, time: f64, steady: f64) -> f64 {
    let mode = |n: u32| {
        let k = f64::from(2 * n + 1) * PI;
        (k * z).sin() * (-k * k * time).exp() / (k * k * k)
    };
    steady * (z * (1.0 - z) - 8.0 * (0..100).map(mode).sum::<f64>())
}

/// Flow between two plates, starting from rest.
pub fn poiseuille(case_run: &mut CaseRun) -> Done {
    let scene = case_run.scene()?;
    let fluids = fluids_of(&scene.world)?;
    let [lower, upper] = extent(fluids, 2);
    let distance = upper - lower;
    let kinematic = fluids.kinds[0].viscosity / fluids.kinds[0].density;
    let steady = 0.5 * scene.world.gravity[0] * distance * distance / kinematic;
    let fastest = 0.25 * steady;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut lines: Vec<Line> = Vec::new();
    for (name, [time, tolerance]) in case_run.reference()? {
        run_until(&mut simulation, time)?;
        let passed = kinematic * simulation.time() / (distance * distance);
        let now = fluid_now(&simulation)?;
        // All particles of a layer have the same velocity, so a curve has one point per layer.
        let mut layers: Vec<(f64, f64)> = now.position.iter().map(|x| x[2]).zip(now.velocity.iter().map(|v| v[0])).collect();
        layers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let expected = |height: f64| between_plates((height - lower) / distance, passed, steady);
        let off = layers
            .iter()
            .map(|(height, speed)| (speed - expected(*height)).abs())
            .fold(0.0, f64::max);
        case_run.row(
            format!("{name}: largest error over the fastest flow [-]"),
            off / fastest,
            0.0,
            tolerance,
        );
        layers.dedup_by(|a, b| (a.0 - b.0).abs() < 1e-3 * distance);
        let solution = layers.iter().map(|(height, _)| (*height, expected(*height))).collect();
        lines.push((name.to_owned(), layers));
        lines.push((format!("{name}, series"), solution));
    }
    case_run.curve("profiles", ["height [m]", "velocity [m/s]"], lines);
    Ok(())
}

/// Number of samples of decaying vortices.
const LOOKS: u32 = 40;
/// Largest displacement of particles from their lattice along either axis \[spacings\]. On a perfect lattice the flow moves particles together along
/// lines, and vortices lose energy twice as fast as by viscosity.
const STIR: f64 = 0.2;

/// Random numbers from −1 to 1, always the same (Knuth's 64-bit linear congruential generator).
fn random_numbers() -> impl FnMut() -> f64 {
    let mut state = 1u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Initializes periodic vortices in a square in the plane of x and z with a corner at zero, this side \[m\] and this speed \[m/s\]. It also sets the
/// equilibrium pressure, and displaces the particles at random.
fn set_vortices_going(fluids: &mut Fluids, side: f64, speed: f64) {
    let (background, density) = (fluids.kinds[0].background_pressure, fluids.kinds[0].density);
    let reach = STIR * fluids.spacing;
    let mut random = random_numbers();
    let particles = &mut fluids.particles;
    for ((place, velocity), pressure) in particles
        .position
        .iter_mut()
        .zip(&mut particles.velocity)
        .zip(&mut particles.pressure)
    {
        place[0] += reach * random();
        place[2] += reach * random();
        let [x, z] = [place[0], place[2]].map(|x| 2.0 * PI * x / side);
        *velocity = [-speed * x.cos() * z.sin(), 0.0, speed * x.sin() * z.cos()];
        *pressure = background - 0.25 * density * speed * speed * ((2.0 * x).cos() + (2.0 * z).cos());
    }
}

/// Viscous decay of periodic vortices.
pub fn taylor_green(case_run: &mut CaseRun) -> Done {
    let mut scene = case_run.scene()?;
    let until = scene.run.until;
    let domain = scene.world.domain.ok_or("the scene has no domain")?;
    let side = domain.max[0] - domain.min[0];
    let fluids = fluids_of_mut(&mut scene.world)?;
    let kinematic = fluids.kinds[0].viscosity / fluids.kinds[0].density;
    let (fastest, mass) = (fluids.largest_speed, fluids.kinds[0].density * side * side);
    set_vortices_going(fluids, side, fastest);
    // v ~ exp(b t), b = -8π²/Re in units of side and speed.
    let exact = -8.0 * PI * PI * kinematic / (side * side);
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let at_first = simulation.momentum_of_fluids();
    let (mut means, mut largest) = (Vec::new(), Vec::new());
    for k in 0..=LOOKS {
        run_until(&mut simulation, until * f64::from(k) / f64::from(LOOKS))?;
        let squares: Vec<f64> = fluid_now(&simulation)?.velocity.iter().map(square).collect();
        let time = simulation.time();
        means.push((time, mean(&squares, |v| *v).sqrt()));
        largest.push((time, squares.iter().copied().fold(0.0, f64::max).sqrt()));
    }
    let rate = |speeds: &[(f64, f64)]| straight(&speeds.iter().map(|(t, v)| (*t, v.ln())).collect::<Vec<_>>()).0;
    let gained = along(simulation.momentum_of_fluids(), -1.0, at_first);
    let ledger = simulation.ledger();
    case_run.compare(&[
        rate(&means) / exact,
        rate(&largest) / exact,
        length(gained) / (mass * fastest),
        ledger.residual / (0.25 * mass * fastest * fastest),
    ])?;
    let solution = largest.iter().map(|(t, _)| (*t, fastest * (exact * t).exp())).collect();
    let lines: Vec<Line> = vec![("measured".to_owned(), largest), ("exp(-8π² t/Re)".to_owned(), solution)];
    case_run.curve("decay", ["time [s]", "largest speed [m/s]"], lines);
    Ok(())
}

/// Amplitude of the wave between two fluids over its width.
const WAVE: f64 = 0.15;
/// Share of the run after which a bubble rises at a constant speed, and number of samples.
const EVENLY_FROM: f64 = 5.0 / 7.0;
const LOOKS_AT_BUBBLE: u32 = 20;

/// Sets the fluid of each particle by its position: the first above a wave around a level, the second below. Also sets the hydrostatic pressure below
/// a ceiling.
fn lay_out_wave(fluids: &mut Fluids, [level, ceiling, width]: [f64; 3], gravity: f64) {
    let density: Vec<f64> = fluids.kinds.iter().map(|fluid| fluid.density).collect();
    let background = fluids.kinds[0].background_pressure;
    let particles = &mut fluids.particles;
    for ((place, kind), pressure) in particles.position.iter().zip(&mut particles.kind).zip(&mut particles.pressure) {
        let surface = level - WAVE * width * (2.0 * PI * place[0] / width).sin();
        *kind = u32::from(place[2] < surface);
        let above = density[0] * (ceiling - place[2].max(surface)) + density[1] * (surface - place[2]).max(0.0);
        *pressure = background + gravity * above;
    }
}

/// A bubble of a light fluid rises in a heavy one.
pub fn rayleigh_taylor(case_run: &mut CaseRun) -> Done {
    let mut scene = case_run.scene()?;
    let (until, gravity) = (scene.run.until, -scene.world.gravity[2]);
    let fluids = fluids_of_mut(&mut scene.world)?;
    let ([left, right], [floor, ceiling]) = (extent(fluids, 0), extent(fluids, 2));
    lay_out_wave(fluids, [0.5 * (floor + ceiling), ceiling, right - left], gravity);
    let [heavy, light] = [0, 1].map(|kind| fluids.kinds[kind].density);
    let (wave_number, atwood) = (2.0 * PI / (right - left), (heavy - light) / (heavy + light));
    let drag = 2.0 / 3.0 * wave_number * fluids.kinds[0].viscosity / heavy;
    let expected = (2.0 * atwood * gravity / (3.0 * (1.0 + atwood) * wave_number) + drag * drag).sqrt() - drag;
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let at_first = simulation.ledger();
    let mut heights = Vec::new();
    for k in 0..=LOOKS_AT_BUBBLE {
        let share = EVENLY_FROM + (1.0 - EVENLY_FROM) * f64::from(k) / f64::from(LOOKS_AT_BUBBLE);
        run_until(&mut simulation, share * until)?;
        let now = fluid_now(&simulation)?;
        let of_light = now.position.iter().zip(&now.kind).filter(|(_, kind)| **kind == 1);
        heights.push((
            simulation.time(),
            of_light.map(|(place, _)| place[2]).fold(f64::NEG_INFINITY, f64::max),
        ));
    }
    let ledger = simulation.ledger();
    case_run.compare(&[
        straight(&heights).0 / expected,
        ledger.residual / (at_first.gravity - ledger.gravity),
    ])?;
    let (first, start) = heights[0];
    let theory = heights.iter().map(|(time, _)| (*time, start + expected * (time - first))).collect();
    let lines: Vec<Line> = vec![("measured".to_owned(), heights), ("Sohn 2009".to_owned(), theory)];
    case_run.curve("bubble", ["time [s]", "height of the bubble [m]"], lines);
    Ok(())
}

/// Sampling of a lid-driven cavity.
struct Looks {
    /// Number of particles across the cavity, for one run after the other.
    across: &'static [u32],
    /// Length of the sampling at the end of a run, and time between two samples, in units of width over lid speed.
    times: [f64; 2],
    /// Tolerance over the lid speed; the README of the case gives its reason.
    tolerance: f64,
}

/// Lid-driven cavity.
pub fn cavity(case_run: &mut CaseRun) -> Done {
    let looks = Looks {
        across: &[50, 100],
        times: [2.0, 0.05],
        tolerance: 0.02,
    };
    beneath_a_lid(case_run, &looks)
}

/// Lid-driven cavity at a Reynolds number of 1000.
pub fn cavity_1000(case_run: &mut CaseRun) -> Done {
    let looks = Looks {
        across: &[80],
        times: [10.0, 0.05],
        tolerance: 0.05,
    };
    beneath_a_lid(case_run, &looks)
}

/// Whether a row of the reference belongs to the horizontal center line.
fn is_level(name: &str) -> bool {
    name.starts_with("along")
}

/// Velocities on the center lines of a lid-driven cavity: parallel to the lid on the vertical line, and normal to it on the horizontal line, whose
/// rows of the reference begin with "along".
fn beneath_a_lid(case_run: &mut CaseRun, looks: &Looks) -> Done {
    let reference = case_run.reference::<2>()?;
    let upright = |velocities: &[f64]| -> Vec<(f64, f64)> {
        let rows = reference.iter().zip(velocities).filter(|((name, _), _)| !is_level(name));
        rows.map(|((_, [_, z]), u)| (*u, *z)).collect()
    };
    let expected: Vec<f64> = reference.iter().map(|(_, [velocity, _])| *velocity).collect();
    let mut lines: Vec<Line> = vec![("Ghia 1982".to_owned(), upright(&expected))];
    for across in looks.across {
        let spacing = ("fluid.water.spacing".to_owned(), format!("\"{} m\"", 1.0 / f64::from(*across)));
        let scene = case_run.scene_with(&[spacing])?;
        let until = scene.run.until;
        let fluids = fluids_of(&scene.world)?;
        let ([left, right], [bottom, _], speed) = (extent(fluids, 0), extent(fluids, 2), fluids.largest_speed);
        let width = right - left;
        let point = |(name, [_, share]): &(&str, [f64; 2])| -> Vec3 {
            let [x, z] = if is_level(name) { [*share, 0.5] } else { [0.5, *share] };
            [left + x * width, 0.0, bottom + z * width]
        };
        let points: Vec<Vec3> = reference.iter().map(point).collect();
        let mut simulation = Simulation::new(scene.world, scene.settings)?;
        let mut seen: Vec<Vec<f64>> = Vec::new();
        let [last, between] = looks.times.map(|times| times * width / speed);
        while simulation.time() < until - 0.5 * between {
            let next = simulation.time() + between;
            run_until(&mut simulation, next)?;
            if next > until - last {
                let samples = simulation.sample_fluid(&points);
                let rows = reference.iter().zip(&samples);
                seen.push(
                    rows.map(|((name, _), sample)| sample.velocity[if is_level(name) { 2 } else { 0 }])
                        .collect(),
                );
            }
            case_run.print_progress(&format!("{across} particles across"), &simulation, until);
        }
        let measured: Vec<f64> = (0..points.len()).map(|k| mean(&seen, |look| look[k]) / speed).collect();
        for ((name, [expected, place]), measured) in reference.iter().zip(&measured) {
            let row = format!("{across} across, {name} {place}: velocity over that of the lid [-]");
            case_run.row_of(1.0, row, *measured, *expected, looks.tolerance);
        }
        lines.push((format!("{across} across"), upright(&measured)));
    }
    case_run.curve("middle", ["velocity over that of the lid [-]", "height over width [-]"], lines);
    Ok(())
}
