//! Müller's fluid on a GPU gives the results of the CPU.

use crate::devices::first_skin_of_fluids;
use crate::vessels::{G, SPACING, fluids, pour, sampled_splash, sides, splash, wall, world};
use seixo_engine::state::FluidSnapshot;
use seixo_engine::world::{DeviceChoice, Domain, LeavingPolicy, Precision, Servo, ServoTarget, Settings, WallMotion, WallShape, World};
use seixo_engine::{Simulation, SurroundingsChange, WorldError};

fn settings(device: DeviceChoice, precision: Option<Precision>) -> Settings {
    Settings {
        device,
        precision,
        threads: 1,
        ..Settings::default()
    }
}

fn on(device: DeviceChoice, precision: Option<Precision>, world: World) -> Simulation {
    Simulation::new(world, settings(device, precision)).unwrap()
}

/// As [`on()`], with the same skin of the lists from start to end.
fn with_first_skin(device: DeviceChoice, precision: Option<Precision>, world: World) -> Simulation {
    let settings = Settings {
        skin: first_skin_of_fluids(&world),
        ..settings(device, precision)
    };
    Simulation::new(world, settings).unwrap()
}

/// Largest difference of two fields, relative to the largest value of the first.
fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let most = a.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let both = a.iter().flatten().zip(b.iter().flatten());
    both.fold(0.0, |most: f64, (x, y)| most.max((x - y).abs())) / most
}

pub fn after(simulation: &mut Simulation, steps: u64) -> FluidSnapshot {
    simulation.advance(steps).unwrap();
    simulation.observe().unwrap();
    simulation.fluid().unwrap()
}

/// Two fluids, one below the other, in a box that is periodic along x and contains a ball.
fn layers() -> World {
    let mut both = fluids(2.0);
    let mut oil = both.kinds[0].clone();
    oil.name = "oil".to_owned();
    (oil.density, oil.viscosity, oil.xsph, oil.restitution) = (800.0, 3.0, 0.3, 0.5);
    both.kinds.push(oil);
    pour(&mut both, [0, 0, 1], [10, 8, 9]);
    for (kind, place) in both.particles.kind.iter_mut().zip(&both.particles.position) {
        *kind = u32::from(place[2] < 5.0 * SPACING);
    }
    let mut walls = sides([10, 8]);
    // The sides across x are periodic.
    walls.remove(3);
    walls.remove(1);
    walls.push(wall(WallShape::Sphere {
        center: [0.1, 0.08, -0.02],
        radius: 0.03,
    }));
    let domain = Domain {
        periodic: [true, false, false],
        ..Domain::open([0.0, -1.0, -1.0], [10.0 * SPACING, 1.0, 2.0], LeavingPolicy::Error)
    };
    world(both, G, Some(domain), walls, vec![false; 4])
}

#[test]
fn a_gpu_goes_the_way_of_the_cpu() {
    for (name, made, precision, tolerance) in [
        ("splash", splash as fn() -> World, Precision::F64, 1e-10),
        ("layers", layers, Precision::F64, 1e-10),
        ("splash in a mesh", sampled_splash, Precision::F64, 1e-10),
        // Forces in single precision have relative errors of 10⁻⁷, which disorder amplifies.
        ("splash", splash, Precision::Mixed, 1e-4),
        ("splash in a mesh", sampled_splash, Precision::Mixed, 1e-4),
    ] {
        let mut here = with_first_skin(DeviceChoice::Cpu, None, made());
        let mut there = with_first_skin(DeviceChoice::Gpu(None), Some(precision), made());
        let (mine, its) = (after(&mut here, 120), after(&mut there, 120));
        assert_eq!((&mine.id, &mine.kind), (&its.id, &its.kind));
        let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
        assert!(x < tolerance && v < 10.0 * tolerance, "{name} {precision:?}: {x:e} {v:e}");
        // Pressures and densities belong to the same time.
        for (a, b) in mine.density.iter().zip(&its.density) {
            assert!((a - b).abs() < 1000.0 * 10.0 * tolerance, "{name} {precision:?}: {a} {b}");
        }
        // The differences of ledgers, relative to the initial energy.
        let (a, b) = (here.ledger(), there.ledger());
        let scale = a.initial.abs().max(a.viscosity);
        for (one, other) in a.values().into_iter().zip(b.values()) {
            assert!((one - other).abs() < 10.0 * tolerance * scale, "{name} {precision:?}: {a:?} {b:?}");
        }
        let [near, same] = [&here, &there].map(|simulation| simulation.fluid_neighbors().unwrap()[0]);
        assert_eq!(near > 5.0, same > 5.0);
    }
}

#[test]
fn a_checkpoint_goes_on_anywhere() {
    let gpu = DeviceChoice::Gpu(None);
    for made in [splash, sampled_splash] {
        let whole = after(&mut on(gpu, Some(Precision::F64), made()), 100);
        let mut first = on(gpu, Some(Precision::F64), made());
        first.advance(40).unwrap();
        let state = first.save().unwrap();
        let mut there = Simulation::restore(made(), settings(gpu, Some(Precision::F64)), &state).unwrap();
        assert_eq!(whole, after(&mut there, 60));
        let mut here = Simulation::restore(made(), settings(DeviceChoice::Cpu, None), &state).unwrap();
        let other = after(&mut here, 60);
        assert!(apart(&whole.position, &other.position) < 1e-10);
    }
}

/// A block on a floor that rises, and stops for good after some steps.
fn lifted() -> World {
    let mut water = fluids(2.0);
    pour(&mut water, [0, 0, 0], [6, 6, 5]);
    let mut walls = sides([8, 6]);
    walls[0].motion = WallMotion {
        velocity: [0.0, 0.0, 0.3],
        stop: Some(0.02),
        ..WallMotion::default()
    };
    world(water, G, None, walls, vec![false; 5])
}

#[test]
fn walls_that_move_do_the_same_on_a_gpu() {
    // Stages move the pillar, a side of the box, or the cup toward the fluid, and stop it.
    for (name, made, velocity) in [
        ("splash", splash as fn() -> World, [0.0, -0.5, 0.0]),
        ("lifted", lifted, [0.5, 0.0, 0.0]),
        ("splash in a mesh", sampled_splash, [0.0, 0.0, 0.5]),
    ] {
        let mut here = on(DeviceChoice::Cpu, None, made());
        let mut there = on(DeviceChoice::Gpu(None), Some(Precision::F64), made());
        for simulation in [&mut here, &mut there] {
            simulation.advance(40).unwrap();
            for velocity in [velocity, [0.0; 3]] {
                let motion = Box::new(WallMotion {
                    velocity,
                    ..WallMotion::default()
                });
                simulation.change(&[SurroundingsChange::Motion { wall: 1, motion }]).unwrap();
                simulation.advance(40).unwrap();
            }
        }
        let (mine, its) = (after(&mut here, 0), after(&mut there, 0));
        let (x, v) = (apart(&mine.position, &its.position), apart(&mine.velocity, &its.velocity));
        assert!(x < 1e-9 && v < 1e-8, "{name}: {x:e} {v:e}");
        // Walls that move toward fluid do work on it, which enters the ledger equally on both devices.
        let (a, b) = (here.ledger(), there.ledger());
        assert!(a.wall_work > 1e-3 * a.initial, "{name}: {a:?}");
        let scale = a.initial.abs().max(a.viscosity);
        for (one, other) in a.values().into_iter().zip(b.values()) {
            assert!((one - other).abs() < 1e-8 * scale, "{name}: {a:?} {b:?}");
        }
    }
}

#[test]
fn a_servo_keeps_the_fluid_off_a_gpu() {
    let mut held = lifted();
    held.walls[0].motion = WallMotion {
        servo: Some(Servo {
            along: [0.0, 0.0, 1.0],
            target: ServoTarget::Force(10.0),
            velocity_limit: 0.1,
            gain: Some(1e-3),
            ..Servo::default()
        }),
        ..WallMotion::default()
    };
    let Err(WorldError::Fluid(what)) = Simulation::new(held, settings(DeviceChoice::Gpu(None), None)) else {
        panic!("it was accepted")
    };
    assert!(what.contains("wall vessel has a servo") && what.contains("--device cpu"), "{what}");
}
