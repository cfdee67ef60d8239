//! Periodic cells whose lengths are controlled: servos of stress, and strain rates.

use crate::beds;
use seixo_engine::state::{GrainSnapshot, State};
use seixo_engine::world::{
    AxisControl, CellControl, DeviceChoice, Domain, Grains, Interaction, LeavingPolicy, Settings, Shear, Wall, WallMotion, WallShape, World,
};
use seixo_engine::{Simulation, SurroundingsChange};
use seixo_laws::contact::TangentialLaw;

const RADIUS: f64 = 5e-4;

/// Confining stress \[Pa\].
const STRESS: f64 = 1e5;

fn control(axes: [AxisControl; 3]) -> Option<CellControl> {
    Some(CellControl {
        axes,
        rate_limit: 20.0,
        gain: None,
        integral_time: None,
    })
}

/// Moving grains that fill 0.44 of a cubic cell, without contacts.
fn gas(count: usize, tangential: TangentialLaw, axes: [AxisControl; 3]) -> World {
    let side = (count as f64).cbrt().ceil() as usize;
    let spacing = 2.12 * RADIUS;
    let mut world = beds::falling(1, tangential);
    world.walls.clear();
    world.gravity = [0.0; 3];
    world.materials[0].youngs_modulus = 1e8;
    world.grains = Grains::default();
    for k in 0..count {
        let cell = [k % side, k / side % side, k / side / side];
        let center = [0, 1, 2].map(|axis| (cell[axis] as f64 + 0.5) * spacing + 2e-5 * beds::noise((3 * k + axis) as u64));
        let velocity = [0, 1, 2].map(|axis| 0.05 * beds::noise((1000 * k + axis) as u64));
        world.grains.push(k as u32, center, velocity, [0.0; 3], RADIUS, 0, 0);
    }
    world.interactions = vec![Some(Interaction {
        restitution: 0.3,
        friction: if tangential == TangentialLaw::None { 0.0 } else { 0.5 },
        ..beds::interaction(tangential)
    })];
    world.domain = Some(Domain {
        periodic: [true; 3],
        control: control(axes),
        ..Domain::open([0.0; 3], [side as f64 * spacing; 3], LeavingPolicy::Error)
    });
    world
}

pub fn settings(threads: usize) -> Settings {
    Settings {
        threads,
        time_step: Some(1e-6),
        ..Settings::default()
    }
}

fn after(world: &World, threads: usize, steps: u64) -> Simulation {
    let mut simulation = Simulation::new(world.clone(), settings(threads)).unwrap();
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation
}

fn volume(simulation: &Simulation) -> f64 {
    simulation.cell().length.iter().product()
}

/// Mean normal stresses of the contacts \[Pa\], from the list of contacts: Σ f l / V.
fn stresses(simulation: &mut Simulation) -> [f64; 3] {
    let contacts = simulation.contacts_now().unwrap();
    let volume = volume(simulation);
    [0, 1, 2].map(|axis| {
        contacts
            .iter()
            .map(|contact| contact.force()[axis] * contact.branch[axis])
            .sum::<f64>()
            / volume
    })
}

/// A packing of smooth spheres at [`STRESS`] in all directions.
fn consolidated() -> Simulation {
    after(&gas(343, TangentialLaw::None, [AxisControl::Stress(STRESS); 3]), 2, 20_000)
}

#[test]
fn an_isotropic_stress_is_reached_and_stays_and_the_ledger_closes() {
    let mut simulation = consolidated();
    let fraction = 343.0 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) / volume(&simulation);
    // Smooth spheres are jammed at random close packing, and denser by their overlaps.
    assert!((0.62..0.75).contains(&fraction), "{fraction}");
    for sample in 0..10 {
        let found = stresses(&mut simulation);
        println!("{found:?} Pa");
        for stress in found {
            assert!((stress / STRESS - 1.0).abs() < 0.01, "sample {sample}: {found:?}");
        }
        simulation.advance(500).unwrap();
    }
    let ledger = simulation.ledger();
    assert!(ledger.wall_work > 0.0, "{ledger:?}");
    // The trapezoidal rule misses some of the work of collisions.
    assert!(ledger.residual.abs() < 5e-3 * ledger.wall_work, "{ledger:?}");
}

#[test]
fn two_stresses_are_kept_while_the_third_axis_is_compressed() {
    let mut simulation = consolidated();
    let (start, rate) = (simulation.cell().length[2], 2.0);
    let axes = [AxisControl::Stress(STRESS), AxisControl::Stress(STRESS), AxisControl::Rate(rate)];
    simulation.change(&[SurroundingsChange::Cell(axes)]).unwrap();
    let begun = simulation.time();
    let (mut mean, samples) = ([0.0; 3], 20);
    for _ in 0..samples {
        simulation.advance(1000).unwrap();
        let found = stresses(&mut simulation);
        mean = [0, 1, 2].map(|axis| mean[axis] + found[axis] / f64::from(samples));
    }
    println!("{mean:?} Pa");
    for axis in [0, 1] {
        assert!((mean[axis] / STRESS - 1.0).abs() < 0.02, "{mean:?}");
    }
    // A packing resists: smooth spheres have a friction angle of some 5°, so a stress ratio of 1.2.
    assert!(mean[2] > 1.05 * STRESS, "{mean:?}");
    let expected = start * (-rate * (simulation.time() - begun)).exp();
    let length = simulation.cell().length[2];
    assert!((length / expected - 1.0).abs() < 1e-5, "{length} {expected}");
}

#[test]
fn strain_rates_without_trace_keep_the_volume() {
    let (rate, steps) = (2.0, 10_000);
    let axes = [
        AxisControl::Rate(-0.5 * rate),
        AxisControl::Rate(-0.5 * rate),
        AxisControl::Rate(rate),
    ];
    let world = gas(343, TangentialLaw::Mindlin, axes);
    let (start, end) = (after(&world, 2, 0), after(&world, 2, steps));
    // Each step changes each length by a share, whose squares remain: 3/4 rate² Δt t.
    assert!((volume(&end) / volume(&start) - 1.0).abs() < 1e-6);
    assert!(end.cell().length[2] < 0.99 * start.cell().length[2]);
    let ledger = end.ledger();
    assert!(
        ledger.residual.abs() < 1e-2 * (ledger.initial.abs() + ledger.wall_work.abs()),
        "{ledger:?}"
    );
}

#[test]
fn grains_without_contacts_keep_their_share_of_each_length() {
    let rates = [3.0, 0.0, -5.0];
    let mut world = gas(27, TangentialLaw::None, rates.map(AxisControl::Rate));
    world.grains.velocity.fill([0.0; 3]);
    let length = world.domain.unwrap().max;
    let simulation = after(&world, 1, 4000);
    let (grains, cell, time) = (simulation.snapshot(), simulation.cell(), simulation.time());
    let mut kinetic = 0.0;
    for axis in 0..3 {
        let expected = length[axis] * (-rates[axis] * time).exp();
        assert!((cell.length[axis] / expected - 1.0).abs() < 1e-6, "{cell:?}");
        for (k, (position, start)) in grains.position.iter().zip(&world.grains.position).enumerate() {
            let (share, before) = (position[axis] / cell.length[axis], start[axis] / length[axis]);
            assert!((share - before).abs() < 1e-12, "{k}: {share} {before}");
            let velocity = -rates[axis] * position[axis];
            assert!((grains.velocity[k][axis] - velocity).abs() < 1e-4 * velocity.abs() + 1e-15, "{k}");
            kinetic += 0.5 * grains.mass[k] * velocity * velocity;
        }
    }
    // No contact, so the sides work for the motion of the grains alone.
    let ledger = simulation.ledger();
    assert!((ledger.wall_work / kinetic - 1.0).abs() < 1e-3, "{ledger:?}");
    assert!(ledger.residual.abs() < 1e-10 * kinetic, "{ledger:?}");
}

/// All numbers are multiples of powers of two that sums and products keep exactly, so rounding cannot depend on when a grain is wrapped.
#[test]
fn a_cell_that_is_held_changes_no_bit() {
    let unit = 1.0 / 1024.0;
    let run = |control: Option<CellControl>| {
        let mut world = gas(27, TangentialLaw::None, [AxisControl::Fixed; 3]);
        for k in 0..27 {
            world.grains.position[k] = [k % 3, k / 3 % 3, k / 9].map(|place| (2.0 * place as f64 + 1.0) * unit);
            world.grains.velocity[k] = [1.0, -0.5, 0.25];
        }
        world.domain = Some(Domain {
            periodic: [true; 3],
            control,
            ..Domain::open([0.0; 3], [6.0 * unit; 3], LeavingPolicy::Error)
        });
        let settings = Settings {
            time_step: Some(1.0 / 1_048_576.0),
            ..settings(1)
        };
        let mut simulation = Simulation::new(world, settings).unwrap();
        // The fastest component takes grains through the cell once and a half.
        simulation.advance(9216).unwrap();
        simulation.snapshot()
    };
    let (free, held) = (run(None), run(control([AxisControl::Fixed; 3])));
    assert_eq!((&free.id, &free.velocity), (&held.id, &held.velocity));
    let inside = |grains: &GrainSnapshot| {
        let places = grains.position.iter().map(|&place| grains.cell.inside(place));
        places.collect::<Vec<_>>()
    };
    assert_eq!(inside(&free), inside(&held));
}

#[test]
fn threads_and_resuming_change_no_bit() {
    for tangential in [TangentialLaw::None, TangentialLaw::Mindlin] {
        let world = gas(729, tangential, [AxisControl::Stress(STRESS); 3]);
        let axes = [AxisControl::Stress(2.0 * STRESS), AxisControl::Fixed, AxisControl::Rate(10.0)];
        let changes = vec![SurroundingsChange::Cell(axes)];
        let (change_at, end) = (7000, 8000);
        let whole = |threads: usize| -> State {
            let mut simulation = after(&world, threads, change_at);
            simulation.change(&changes).unwrap();
            simulation.advance(end - change_at).unwrap();
            simulation.save().unwrap()
        };
        let first = whole(1);
        assert!(first == whole(3), "threads");
        for split in [1, 5555] {
            let state = after(&world, 2, split).save().unwrap();
            let mut rest = Simulation::restore(world.clone(), settings(3), &state).unwrap();
            rest.advance(change_at - split).unwrap();
            rest.change(&changes).unwrap();
            rest.advance(end - change_at).unwrap();
            assert!(first == rest.save().unwrap(), "split at {split}");
        }
        let mut simulation = after(&world, 2, change_at);
        simulation.change(&changes).unwrap();
        simulation.advance(500).unwrap();
        let state = simulation.save().unwrap();
        let past = [(change_at, changes.clone())];
        let mut rest = Simulation::restore_changed(world.clone(), settings(1), &state, &past).unwrap();
        rest.advance(end - change_at - 500).unwrap();
        assert!(first == rest.save().unwrap(), "after the change");
    }
}

#[test]
fn what_cannot_follow_a_cell_is_refused() {
    let whole = [AxisControl::Stress(STRESS); 3];
    let refused = |change: &dyn Fn(&mut World), settings: Settings| {
        let mut world = gas(27, TangentialLaw::Mindlin, whole);
        change(&mut world);
        let refusal = Simulation::new(world, settings).err().expect("it is refused");
        refusal.to_string()
    };
    let set = |world: &mut World, change: &dyn Fn(&mut Domain)| change(world.domain.as_mut().unwrap());
    type Case<'a> = (&'a dyn Fn(&mut World), &'a str);
    let cases: [Case; 6] = [
        (
            &|world| set(world, &|domain| domain.periodic[1] = false),
            "the sides along y are open",
        ),
        (
            &|world| {
                set(world, &|domain| {
                    domain.shear = Some(Shear {
                        flow: 0,
                        gradient: 2,
                        rate: 1.0,
                    });
                })
            },
            "sides that slide",
        ),
        (
            &|world| {
                world.walls.push(Wall {
                    name: "floor".into(),
                    material: 0,
                    shape: WallShape::Plane {
                        point: [0.0, 0.0, -1.0],
                        normal: [0.0, 0.0, 1.0],
                    },
                    motion: WallMotion::default(),
                    specific_wear_rate: 0.0,
                });
            },
            "remove the walls",
        ),
        (&|world| world.local_damping = 0.3, "run.local_damping"),
        (
            &|world| set(world, &|domain| domain.control.as_mut().unwrap().rate_limit = 0.0),
            "limit of the strain rate",
        ),
        (
            &|world| {
                set(world, &|domain| {
                    domain.control.as_mut().unwrap().axes[0] = AxisControl::Stress(-1.0)
                })
            },
            "along x",
        ),
    ];
    for (change, phrase) in cases {
        let message = refused(change, settings(1));
        assert!(message.contains(phrase), "{message}");
    }
    let domains = Settings { domains: 2, ..settings(1) };
    let message = refused(&|_| {}, domains);
    assert!(
        message.contains("lengths are controlled") && message.contains("--domains 1"),
        "{message}"
    );
    // A cell that becomes shorter than twice the reach of the lists stops the run.
    let world = gas(
        27,
        TangentialLaw::None,
        [AxisControl::Rate(100.0), AxisControl::Fixed, AxisControl::Fixed],
    );
    let mut simulation = Simulation::new(world, settings(1)).unwrap();
    let stop = simulation.advance(20_000).expect_err("the cell becomes too short").to_string();
    assert!(stop.contains("along x the domain is"), "{stop}");
}

#[test]
fn a_gpu_refuses_a_controlled_cell() {
    let on_gpu = Settings {
        device: DeviceChoice::Gpu(None),
        ..settings(1)
    };
    let world = gas(27, TangentialLaw::None, [AxisControl::Stress(STRESS); 3]);
    // Without any GPU the message says that.
    let message = Simulation::new(world, on_gpu).err().expect("it is refused").to_string();
    assert!(
        message.contains("lengths of the periodic cell are controlled") || message.contains("GPU"),
        "{message}"
    );
}
