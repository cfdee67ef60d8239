//! Particle shifting: voids fill, the ledger closes, and the bits are the same everywhere.

use crate::couette::{GAP, cavity, couette};
use crate::devices::{first_skin_of_fluids, started_on};
use crate::pools::{fluids, tank, water};
use seixo_engine::world::{DeviceChoice, Precision, Settings, Solver, World};
use seixo_engine::{Simulation, WorldError};

fn shifted(mut world: World) -> World {
    world.fluids.as_mut().unwrap().particle_shifting = true;
    world
}

/// The box at rest without pressure and without the particle nearest to its middle, and the position of that particle.
fn with_a_void() -> (World, [f64; 3]) {
    let mut world = cavity();
    world.walls[1].motion = world.walls[0].motion.clone();
    let fluids = world.fluids.as_mut().unwrap();
    fluids.kinds[0].background_pressure = 0.0;
    let particles = &mut fluids.particles;
    particles.pressure.fill(0.0);
    let k = particles
        .position
        .iter()
        .position(|x| (x[0] - 0.1375).abs() + (x[2] - 0.1375).abs() < 1e-6)
        .unwrap();
    let place = particles.position.remove(k);
    particles.id.remove(k);
    particles.velocity.remove(k);
    particles.pressure.remove(k);
    particles.kind.remove(k);
    (world, place)
}

#[test]
fn a_void_fills_where_particles_are_shifted() {
    let (world, place) = with_a_void();
    let share_after = |world: World| {
        let mut simulation = started_on(world, 1);
        simulation.advance(400).unwrap();
        simulation.sample_fluid(&[place])[0].share
    };
    // One particle fills a seventh of its support: V W(0) = 7/(16 π). Without shifting, no force moves others into its place.
    assert!((share_after(world.clone()) - 0.861).abs() < 0.01);
    // A hundredth of the fluid is missing, and the void is no longer less filled than its surroundings.
    assert!(share_after(shifted(world)) > 0.95);
}

#[test]
fn rows_that_shear_past_each_other_stay_even_and_their_energies_are_accounted_for() {
    let [height, speed] = GAP;
    let mut simulation = started_on(shifted(couette()), 1);
    // Shear diffuses over the gap within L²/(π² ν) = 5 s; after five of these times a hundredth of the initial state remains.
    let steps = (25.0 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    let fluid = simulation.fluid().unwrap();
    for (x, v) in fluid.position.iter().zip(&fluid.velocity) {
        assert!((v[0] - speed * x[2] / height).abs() < 0.02 * speed, "{x:?} {v:?}");
    }
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 1e-2 * ledger.viscosity, "{ledger:?}");
    let mut simulation = started_on(shifted(cavity()), 1);
    simulation.advance(1000).unwrap();
    let ledger = simulation.ledger();
    assert!(ledger.residual.abs() < 1e-2 * ledger.viscosity, "{ledger:?}");
}

#[test]
fn bits_are_the_same_on_any_number_of_threads_and_after_a_checkpoint() {
    for world in [couette, cavity] {
        let mut first = started_on(shifted(world()), 1);
        first.advance(300).unwrap();
        let mut second = started_on(shifted(world()), 3);
        second.advance(130).unwrap();
        let state = second.save().unwrap();
        let mut third = Simulation::restore(shifted(world()), Settings::default(), &state).unwrap();
        for other in [&mut second, &mut third] {
            other.advance(170).unwrap();
            assert_eq!(first.fluid(), other.fluid());
            assert_eq!(first.ledger(), other.ledger());
            assert_eq!(first.walls(), other.walls());
        }
    }
}

#[test]
fn a_gpu_shifts_alike() {
    for world in [couette, cavity] {
        let on = |device| {
            let settings = Settings {
                device,
                precision: Some(Precision::F64),
                skin: first_skin_of_fluids(&world()),
                threads: 1,
                ..Settings::default()
            };
            let mut simulation = Simulation::new(shifted(world()), settings).unwrap();
            simulation.advance(200).unwrap();
            simulation.observe().unwrap();
            simulation
        };
        let (here, there) = (on(DeviceChoice::Cpu), on(DeviceChoice::Gpu(None)));
        let (mine, its) = (here.fluid().unwrap(), there.fluid().unwrap());
        let places = mine.position.iter().flatten().zip(its.position.iter().flatten());
        // Rows in another order: two hundred steps of rounded sums.
        let off = places.fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
        assert!(off < 1e-11, "{off}");
        let (mine, its) = (here.ledger(), there.ledger());
        assert!((mine.viscosity - its.viscosity).abs() < 1e-8 * mine.viscosity, "{mine:?} {its:?}");
        assert!((mine.residual - its.residual).abs() < 1e-8 * mine.viscosity, "{mine:?} {its:?}");
    }
}

#[test]
fn what_cannot_be_shifted_is_refused_with_a_remedy() {
    let refused = |world: World| match Simulation::new(shifted(world), Settings::default()) {
        Err(WorldError::Fluid(what)) => what,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was accepted"),
    };
    let mut pool = fluids(vec![water(32.0)], 0.025, 3.0, Some(1));
    pool.largest_speed = 3.2;
    let reported = refused(tank(pool, [10, 1, 20], [10, 1, 10], 3, None));
    assert!(
        reported.contains("is at a free surface") && reported.contains("particle_shifting = false"),
        "{reported}"
    );
    let mut world = cavity();
    world.fluids.as_mut().unwrap().solver = Solver::Incompressible;
    assert!(refused(world).contains("is for solver = \"wcsph\" alone"));
    let mut world = cavity();
    let fluids = world.fluids.as_mut().unwrap();
    fluids.support = 2.0 * fluids.spacing;
    assert!(refused(world).contains("use at least 2.5"));
}
