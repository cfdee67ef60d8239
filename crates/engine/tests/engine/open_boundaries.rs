//! Inlets and outlets of fluids: tests against physics.

use crate::channels;
use crate::channels::{CHANNEL, JET, SPACING, channel, jet, shaken, speeding};
use crate::devices::{on_threads, started};
use crate::pools::{G, drop_in, fluids, tank, water, wet};
use seixo_engine::state::FluidSnapshot;
use seixo_engine::world::{FluidInlet, FluidOutlet, Fluids, OutletForm, WallMotion, World};
use seixo_engine::{Simulation, SurroundingsChange, WorldError};

fn steps_in(simulation: &Simulation, time: f64) -> u64 {
    (time / simulation.time_step().value).round() as u64
}

/// Mean of a value over the selected particles.
fn mean(fluid: &FluidSnapshot, is_asked_for: impl Fn(&[f64; 3]) -> bool, number: impl Fn(usize) -> f64) -> f64 {
    let asked: Vec<usize> = (0..fluid.id.len()).filter(|&i| is_asked_for(&fluid.position[i])).collect();
    asked.iter().map(|&i| number(i)).sum::<f64>() / asked.len() as f64
}

#[test]
fn what_comes_is_rate_times_time_to_a_layer() {
    let [spacing, speed] = JET;
    let mut simulation = started(jet());
    for _ in 0..5 {
        simulation.advance(137).unwrap();
        // The first layer represents the fluid within half a spacing of its middle.
        let layers = (speed * simulation.time() / spacing + 0.5).floor();
        let [passed] = simulation.passed_fluids()[..] else { panic!() };
        assert_eq!(
            (passed.count as f64, simulation.fluid_particles() as f64),
            (16.0 * layers, 16.0 * layers)
        );
        assert!((passed.mass - 16.0 * layers * 1000.0 * spacing.powi(3)).abs() < 1e-12);
        let ids = simulation.fluid().unwrap().id;
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "an id was used twice");
    }
}

#[test]
fn the_front_of_a_jet_falls_as_a_stone() {
    let [spacing, speed] = JET;
    let mut simulation = started(jet());
    let steps = steps_in(&simulation, 0.1);
    simulation.advance(steps).unwrap();
    let fluid = simulation.fluid().unwrap();
    let front = fluid.position.iter().fold(0.0, |least: f64, x| least.min(x[2]));
    // The layer is released half a spacing after the beginning. The fall, 4 to 5 spacings of 25, is accurate to a spacing: following particles push
    // the particles at the end of a jet by a fraction of their distance.
    let time = simulation.time() - 0.5 * spacing / speed;
    let expected = speed * time + 0.5 * G * time * time;
    assert!((front + expected).abs() < spacing, "{front} {expected}");
    // The jet stays together, and near the axis.
    let widest = fluid.position.iter().fold(0.0, |most: f64, x| most.max(x[0].abs().max(x[1].abs())));
    assert!(widest < 3.0 * spacing, "{widest}");
}

#[test]
fn the_ledger_closes_with_what_comes_and_goes() {
    let mut simulation = started(jet());
    simulation.advance(1000).unwrap();
    let ledger = simulation.ledger();
    // Fluid enters with ½ v² per mass at height zero, plus the change of whole-step velocities by forces when a layer is released.
    let mass = simulation.passed_fluids()[0].mass;
    let expected = 0.5 * mass * JET[1].powi(2);
    assert!((ledger.inserted - expected).abs() < 0.02 * expected, "{ledger:?} {expected}");
    assert!(ledger.residual.abs() < 1e-3 * expected, "{ledger:?}");
    let mut simulation = started(channel(0.0, 10.0, 0.1));
    let start = simulation.ledger();
    assert!(start.residual.abs() < 1e-12 * start.kinetic, "{start:?}");
    simulation.advance(1000).unwrap();
    let ledger = simulation.ledger();
    let through = ledger.inserted.abs().min(ledger.left_domain.abs());
    assert!(through > start.kinetic, "{ledger:?}");
    assert!(ledger.residual.abs() < 2e-3 * through, "{ledger:?}");
}

#[test]
fn a_stirred_channel_calms_and_keeps_its_flow() {
    let mut simulation = started(channel(0.0, 10.0, 0.1));
    let initial = simulation.fluid_particles() as f64;
    let [length, height] = CHANNEL.map(|n| n as f64 * SPACING);
    // Two flow-through times carry the initial disturbance out.
    let steps = steps_in(&simulation, 2.0 * length);
    simulation.advance(steps).unwrap();
    let fluid = simulation.fluid().unwrap();
    let [came, went] = simulation.passed_fluids()[..] else { panic!() };
    assert_eq!(fluid.id.len() as f64, initial + came.count as f64 - went.count as f64);
    // Inflow equals outflow, up to the layers that are just at the two ends.
    let layer = height / SPACING;
    assert!((came.count as f64 - went.count as f64).abs() <= 2.0 * layer, "{came:?} {went:?}");
    let background = 0.03 * 1000.0 * 100.0;
    for (x, (v, p)) in fluid.position.iter().zip(fluid.velocity.iter().zip(&fluid.pressure)) {
        // A hundredth of the velocity; pressures of sound waves, ρ c v of a two hundredth.
        assert!((v[0] - 1.0).abs() < 0.01 && v[2].abs() < 0.01, "{x:?} {v:?}");
        assert!((p - background).abs() < 0.005 * 1000.0 * 10.0, "{x:?} {p} {background}");
    }
}

#[test]
fn a_viscous_flow_takes_the_profile_of_poiseuille() {
    let viscosity = 0.05;
    let mut simulation = started(channel(viscosity, 15.0, 0.0));
    let [length, height] = CHANNEL.map(|n| n as f64 * SPACING);
    let steps = steps_in(&simulation, 2.5 * length);
    simulation.advance(steps).unwrap();
    let fluid = simulation.fluid().unwrap();
    // Re = 10: the profile is developed about a height behind the inlet. Samples are farther than a support from the outlet, which lets all fluid
    // continue as it arrives.
    let is_late = |x: &[f64; 3]| x[0] > 0.5 * length && x[0] < 0.8 * length;
    for row in 0..CHANNEL[1] {
        let [low, high] = [row, row + 1].map(|k| k as f64 * SPACING);
        let z = 0.5 * (low + high) / height;
        let expected = 6.0 * z * (1.0 - z);
        let found = mean(&fluid, |x| is_late(x) && (low..high).contains(&x[2]), |i| fluid.velocity[i][0]);
        // Ten particles across: a tenth of the largest velocity.
        assert!((found - expected).abs() < 0.15, "row {row}: {found} {expected}");
    }
    // dp/dx = −12 μ U/h².
    let pressure = |from: f64| {
        let is_there = |x: &[f64; 3]| x[0] > from * length && x[0] < (from + 0.1) * length;
        mean(&fluid, is_there, |i| fluid.pressure[i])
    };
    let slope = (pressure(0.8) - pressure(0.4)) / (0.4 * length);
    let expected = -12.0 * 1000.0 * viscosity / (height * height);
    assert!((slope - expected).abs() < 0.15 * expected.abs(), "{slope} {expected}");
    let [came, went] = simulation.passed_fluids()[..] else { panic!() };
    // Some particles stay near the walls, where they are slow.
    assert!(
        (came.count as f64 - went.count as f64).abs() < 0.03 * came.count as f64,
        "{came:?} {went:?}"
    );
}

#[test]
fn a_channel_that_speeds_up_lets_out_what_comes_in() {
    let mut simulation = started(speeding());
    let [length, height] = CHANNEL.map(|n| n as f64 * SPACING);
    let initial = simulation.fluid_particles() as f64;
    let steps = steps_in(&simulation, 0.4);
    for _ in 0..6 {
        simulation.advance(steps).unwrap();
        // Sound waves with ρ c v in the starting flow compress or expand the fluid by up to a tenth. If fluid beyond the outlet kept its velocity, a
        // quarter would be held back.
        let now = simulation.fluid_particles() as f64;
        assert!((now - initial).abs() < 0.1 * initial, "{now} of {initial}");
    }
    // After two flow-through times all parts of the channel have the same mean flow, up to remaining waves.
    let fluid = simulation.fluid().unwrap();
    for part in 0..6 {
        let [from, to] = [part, part + 1].map(|k| f64::from(k) * length / 6.0);
        let inside = (0..fluid.id.len()).filter(|&i| (from..to).contains(&fluid.position[i][0]));
        let flux = inside.map(|i| fluid.velocity[i][0]).sum::<f64>() * SPACING.powi(2) / ((to - from) * height);
        assert!((flux - 1.0).abs() < 0.15, "part {part}: {flux}");
    }
    let [came, went] = simulation.passed_fluids()[..] else { panic!() };
    assert!((came.count as f64 - went.count as f64).abs() < 0.1 * initial, "{came:?} {went:?}");
}

#[test]
fn nothing_that_came_through_an_outlet_stays() {
    // Water without weight, or with an upward acceleration, and a slot 2 cm wide through which it flows down; the outlet is checked every 2.5 ms.
    let world = |upward: f64, drops: &[[[f64; 3]; 2]]| {
        let mut fluids = fluids(vec![water(40.0)], 0.01, 3.0, None);
        fluids.largest_speed = 4.0;
        fluids.outlets = vec![FluidOutlet {
            name: "slot".to_owned(),
            opening: OutletForm::Rectangle {
                center: [0.0; 3],
                normal: [0.0, 0.0, -1.0],
                along: [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
                half: [0.2, 0.01],
            },
            pressure: 0.0,
            level: None,
        }];
        for [place, velocity] in drops {
            drop_in(&mut fluids, *place, *velocity, 0.0);
        }
        wet(fluids, -upward, None, Vec::new())
    };
    let after_a_look = |world: World| {
        let mut simulation = started(world);
        simulation.advance(40).unwrap();
        let [went] = simulation.passed_fluids()[..] else { panic!() };
        (went.count, simulation.fluid().unwrap().id)
    };
    // All drops are 5 cm apart, beyond the support. One leaves by the side, one is 5 cm beyond the slot, farther than its range of 4 cm, and one is
    // beside it.
    let aside = [[0.0085, -0.05, 0.002], [1.0, 0.0, -2.0]];
    let far = [[0.0, 0.0, 0.002], [0.0, 0.0, -20.0]];
    let beside = [[0.03, 0.05, 0.002], [0.0, 0.0, -2.0]];
    assert_eq!(after_a_look(world(0.0, &[aside, far, beside])), (2, vec![2]));
    // It moves 2 mm down, reverses after 2 ms, and is still behind the slot.
    let turned = [[0.0, 0.0, 0.002], [0.0, 0.0, -4.0]];
    assert_eq!(after_a_look(world(2000.0, &[turned])), (1, Vec::new()));
}

#[test]
fn what_has_just_come_has_the_velocity_of_its_inlet() {
    let mut simulation = started(jet());
    for layers in 1..=3 {
        while simulation.fluid_particles() < 16 * layers {
            simulation.step().unwrap();
        }
        // Up to rounding, whatever forces act from then on.
        let velocity = simulation.fluid().unwrap().velocity;
        for v in &velocity[16 * (layers - 1)..] {
            assert!((v[2] + JET[1]).abs() < 1e-12 && v[0].abs() < 1e-12 && v[1].abs() < 1e-12, "{v:?}");
        }
    }
}

#[test]
fn an_inlet_opens_ends_and_keeps_to_its_volume() {
    let [spacing, speed] = JET;
    let timed = |change: &dyn Fn(&mut Fluids)| {
        let mut world = jet();
        change(world.fluids.as_mut().unwrap());
        let mut simulation = started(world);
        let steps = steps_in(&simulation, 0.1);
        simulation.advance(steps).unwrap();
        simulation.fluid_particles()
    };
    assert_eq!(timed(&|fluids| fluids.inlets[0].max_layers = 3), 48);
    assert_eq!(timed(&|fluids| fluids.inlets[0].is_open = false), 0);
    // From 20 ms to 50 ms there are six layers, up to half a layer on either side.
    let some = timed(&|fluids| (fluids.inlets[0].from, fluids.inlets[0].to) = (0.02, 0.05));
    assert_eq!(some as f64, 16.0 * (speed * 0.03 / spacing + 0.5).floor());
    // Closed by a stage, and opened again: meanwhile no fluid enters, and layers continue from where they stopped.
    let mut simulation = started(jet());
    let turn = |is_open| [SurroundingsChange::Inlet { inlet: 0, is_open }];
    simulation.advance(steps_in(&simulation, 0.033)).unwrap();
    simulation.change(&turn(false)).unwrap();
    let before = simulation.fluid_particles();
    simulation.advance(steps_in(&simulation, 0.02)).unwrap();
    assert_eq!(simulation.fluid_particles(), before);
    simulation.change(&turn(true)).unwrap();
    simulation.advance(steps_in(&simulation, 0.033)).unwrap();
    assert_eq!(simulation.fluid_particles() as f64, 16.0 * (speed * 0.066 / spacing + 0.5).floor());
}

#[test]
fn a_tank_holds_what_is_poured_into_it() {
    let mut medium = water(40.0);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.05, 0.1);
    let mut fluids = fluids(vec![medium], 0.025, 3.0, Some(1));
    fluids.largest_speed = 4.0;
    fluids.inlets = vec![FluidInlet {
        sites: (8..12).map(|k| [0.025 * (f64::from(k) + 0.5), 0.0, 0.5]).collect(),
        to: 0.5,
        ..channels::tap(0.025, 1, 1.0)
    }];
    let mut simulation = started(tank(fluids, [20, 1, 30], [20, 1, 6], 3, None));
    let initial = simulation.fluid_particles();
    let steps = steps_in(&simulation, 0.8);
    simulation.advance(steps).unwrap();
    // Twenty layers of four.
    let fluid = simulation.fluid().unwrap();
    assert_eq!(fluid.id.len(), initial + 80);
    // Nothing crossed the walls: a drop that hits them may approach up to a part of the spacing.
    for x in &fluid.position {
        assert!(x[0] > -0.01 && x[0] < 0.51 && x[2] > -0.01, "{x:?}");
    }
    // The energy of the fall is in the ledger: as kinetic energy, or dissipated by viscosity.
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 0.01 * ledger.inserted, "{ledger:?}");
}

#[test]
fn what_comes_does_not_heed_a_wall_that_swings_goes_comes_and_rests() {
    let mut simulation = started(shaken());
    let lid = |is_there| [SurroundingsChange::Wall { wall: 1, is_there }];
    simulation.advance(50).unwrap();
    // At the same step, before the fluid has moved.
    simulation.change(&lid(false)).unwrap();
    simulation.change(&lid(true)).unwrap();
    simulation.advance(50).unwrap();
    let motion = Box::new(WallMotion::default());
    simulation.change(&[SurroundingsChange::Motion { wall: 1, motion }]).unwrap();
    simulation.advance(100).unwrap();
    let [came, _] = simulation.passed_fluids()[..] else { panic!() };
    let layers = (simulation.time() / SPACING + 0.5).floor();
    assert_eq!(came.count as f64, layers * CHANNEL[1] as f64);
    // All of it is still between floor and lid.
    let height = CHANNEL[1] as f64 * SPACING;
    let fluid = simulation.fluid().unwrap();
    assert!(fluid.position.iter().all(|x| x[2] > 0.0 && x[2] < height));
}

#[test]
fn a_box_takes_away_what_comes_into_it() {
    let mut world = jet();
    let fluids = world.fluids.as_mut().unwrap();
    fluids.outlets = vec![FluidOutlet {
        name: "tub".to_owned(),
        opening: OutletForm::Box {
            min: [-1.0, -1.0, -1.0],
            max: [1.0, 1.0, -0.1],
        },
        pressure: 0.0,
        level: None,
    }];
    let mut simulation = started(world);
    let steps = steps_in(&simulation, 0.2);
    simulation.advance(steps).unwrap();
    let [came, went] = simulation.passed_fluids()[..] else { panic!() };
    assert!(went.count > 0 && simulation.fluid_particles() as u64 == came.count - went.count);
    // Between two checks the fastest flow moves by a spacing.
    let lowest = simulation
        .fluid()
        .unwrap()
        .position
        .iter()
        .fold(0.0, |least: f64, x| least.min(x[2]));
    assert!(lowest > -0.1 - JET[0] * 1.01, "{lowest}");
}

#[test]
fn the_same_bits_on_any_number_of_threads_and_after_a_checkpoint() {
    let worlds: [fn() -> World; 3] = [jet, || channel(0.0, 10.0, 0.1), shaken];
    for world in worlds {
        let mut first = started(world());
        first.advance(500).unwrap();
        // At a step at which a layer may enter, and at others.
        for at in [211, 212, 230] {
            let mut second = Simulation::new(world(), on_threads(2)).unwrap();
            second.advance(at).unwrap();
            let state = second.save().unwrap();
            let mut third = Simulation::restore(world(), on_threads(1), &state).unwrap();
            assert_eq!(second.ledger(), third.ledger());
            third.advance(500 - at).unwrap();
            assert_eq!(first.fluid(), third.fluid());
            assert_eq!(first.ledger(), third.ledger());
            assert_eq!(first.passed_fluids(), third.passed_fluids());
        }
    }
    let mut first = started(jet());
    first.advance(50).unwrap();
    let state = first.save().unwrap();
    let mut other = jet();
    other.fluids.as_mut().unwrap().inlets.push(channels::tap(JET[0], 2, 1.0));
    let refusal = Simulation::restore(other, on_threads(1), &state).err().unwrap().to_string();
    assert!(refusal.contains("other inlets or outlets"), "{refusal}");
}

#[test]
fn what_cannot_come_is_refused_with_a_remedy() {
    let refused = |change: &dyn Fn(&mut Fluids)| {
        let mut world = channel(0.0, 10.0, 0.0);
        change(world.fluids.as_mut().unwrap());
        match Simulation::new(world, on_threads(1)) {
            Err(WorldError::Fluid(what)) => what,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was accepted"),
        }
    };
    assert!(refused(&|fluids| fluids.inlets[0].speed = 1.5).contains("at most 1 m/s, a tenth of the speed of sound"));
    assert!(refused(&|fluids| fluids.inlets[0].speed = 0.0).contains("it must be above zero"));
    assert!(refused(&|fluids| fluids.inlets[0].to = 0.0).contains("it must end after it begins"));
    assert!(refused(&|fluids| fluids.inlets[0].sites.clear()).contains("no places"));
    assert!(refused(&|fluids| fluids.inlets[0].kind = 7).contains("fluid number 7"));
    assert!(refused(&|fluids| fluids.outlets[0].pressure = f64::NAN).contains("pressure of NaN Pa"));
    assert!(refused(&|fluids| fluids.particles.id[0] = 1 << 31).contains("ids must be below 2^31"));
    // Four layers of ten.
    let too_many_ids = refused(&|fluids| fluids.particles.id[0] = (1 << 31) - 40);
    assert!(
        too_many_ids.contains("need 40 ids from 2147483609 on") && too_many_ids.contains("smaller ids"),
        "{too_many_ids}"
    );
}
