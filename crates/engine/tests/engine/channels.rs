//! Jets into air, and channels between an inlet and an outlet.

use crate::floors::floor;
use crate::pools::{G, domain, drop_in, fluids, sites, water, wet};
use seixo_engine::world::{FluidInlet, FluidOutlet, OutletForm, Vibration, World};

/// An inlet at height zero with `side` times `side` sites, from which fluid flows downward.
pub fn tap(spacing: f64, side: i64, speed: f64) -> FluidInlet {
    let middle = 0.5 * side as f64;
    let place = |k: i64| (k as f64 + 0.5 - middle) * spacing;
    FluidInlet {
        name: "tap".to_owned(),
        kind: 0,
        sites: (0..side * side).map(|k| [place(k % side), place(k / side), 0.0]).collect(),
        normal: [0.0, 0.0, -1.0],
        speed,
        from: 0.0,
        to: f64::INFINITY,
        max_layers: u64::MAX,
        is_open: true,
    }
}

/// Spacing of particles in [`jet`] \[m\], and the inlet speed \[m/s\].
pub const JET: [f64; 2] = [0.01, 2.0];

/// A jet of water, four particles wide, that falls freely.
pub fn jet() -> World {
    let [spacing, speed] = JET;
    let mut medium = water(40.0);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.02, 0.1);
    let mut fluids = fluids(vec![medium], spacing, 3.0, None);
    fluids.largest_speed = 4.0;
    fluids.inlets = vec![tap(spacing, 4, speed)];
    wet(fluids, G, Some(domain([-1.0, -1.0, -3.0], [1.0; 3], [false; 3])), Vec::new())
}

/// Spacing of particles in [`channel`] \[m\].
pub const SPACING: f64 = 0.05;

/// Length and height of [`channel`] in spacings.
pub const CHANNEL: [i64; 2] = [24, 10];

/// A plane channel in which fluid of this kinematic viscosity flows along x at 1 m/s from an inlet to an outlet. Without viscosity it slips along the
/// walls. It starts at that velocity, plus a disturbance of up to `stir` times of it.
pub fn channel(viscosity: f64, sound_speed: f64, stir: f64) -> World {
    let [length, height] = CHANNEL;
    let mut medium = water(sound_speed);
    (medium.viscosity, medium.density_diffusion) = (1000.0 * viscosity, 0.1);
    medium.artificial_viscosity = if viscosity > 0.0 { 0.0 } else { 0.02 };
    // A channel without a free surface has a background pressure: some per cent of ρ₀ c².
    let background = 0.03 * 1000.0 * sound_speed.powi(2);
    medium.background_pressure = background;
    let mut fluids = fluids(vec![medium], SPACING, 4.0, Some(1));
    fluids.largest_speed = 0.1 * sound_speed;
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        stir * ((seed >> 33) as f64 / (1u64 << 30) as f64 - 1.0)
    };
    // Sites extend beyond the outlet as far as it is checked.
    for x in sites([0; 3], [length + 5, 1, height], SPACING, true) {
        drop_in(&mut fluids, x, [1.0 + random(), 0.0, random()], background);
    }
    for [low, high] in [[-4, 0], [height, height + 4]] {
        for x in sites([-8, 0, low], [length + 9, 1, high], SPACING, true) {
            fluids.boundary.position.push(x);
            fluids.boundary.wall.push(0);
        }
    }
    fluids.slips = vec![viscosity == 0.0];
    let across: Vec<[f64; 3]> = sites([0; 3], [1, 1, height], SPACING, true);
    fluids.inlets = vec![FluidInlet {
        sites: across.into_iter().map(|[_, y, z]| [0.0, y, z]).collect(),
        normal: [1.0, 0.0, 0.0],
        ..tap(SPACING, 1, 1.0)
    }];
    let half = 0.5 * SPACING * height as f64;
    fluids.outlets = vec![FluidOutlet {
        name: "end".to_owned(),
        opening: OutletForm::Rectangle {
            center: [SPACING * length as f64, 0.0, half],
            normal: [1.0, 0.0, 0.0],
            along: [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            half: [1.0, half],
        },
        pressure: background,
        level: None,
    }];
    wet(fluids, 0.0, None, vec![floor()])
}

/// As [`channel`] with a viscous fluid that starts at a fifth of the inlet velocity.
pub fn speeding() -> World {
    let mut world = channel(0.05, 15.0, 0.0);
    world.fluids.as_mut().unwrap().particles.velocity.fill([0.2, 0.0, 0.0]);
    world
}

/// As [`channel`] with a viscous fluid and an upper wall, number 1, that oscillates along the flow.
pub fn shaken() -> World {
    let mut world = channel(0.05, 15.0, 0.0);
    let fluids = world.fluids.as_mut().unwrap();
    for (place, wall) in fluids.boundary.position.iter().zip(&mut fluids.boundary.wall) {
        *wall = u32::from(place[2] > 0.0);
    }
    fluids.slips.push(false);
    let mut lid = floor();
    lid.name = "lid".to_owned();
    lid.motion.vibrations = vec![Vibration {
        amplitude: [0.5 * SPACING, 0.0, 0.0],
        frequency: 2.0,
        phase: -std::f64::consts::FRAC_PI_2,
    }];
    world.walls.push(lid);
    world
}
