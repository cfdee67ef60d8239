//! Bodies that melt: tests of masses, momenta and fluid levels.

use crate::devices::started_on;
use crate::domains::started as among_domains;
use crate::pools::{G, domain, drop_in, fluids, sites, tank, water, wet};
use crate::solvers::incompressible;
use crate::vectors::cross;
use crate::vessels;
use seixo_engine::world::{
    Body, BodyBoundary, DeviceChoice, Interaction, Precision, Settings, Smoothing, Solver, Sphere, StateLaw, Vec3, World,
};
use seixo_engine::{Melting, Simulation};

const DENSITY: f64 = 1000.0;
/// Spacing of particles \[m\].
pub const SPACING: f64 = 0.02;
/// Mass of a particle \[kg\].
pub const MASS: f64 = DENSITY * SPACING * SPACING * SPACING;

/// Adds a block of this many spacings to a world, with this lower corner, in place of the fluid there; returns how it melts.
fn put_block(world: &mut World, low: [i64; 3], cells: [i64; 3], density_ratio: f64, velocity: Vec3, spin: Vec3) -> Melting {
    let high = [0, 1, 2].map(|k| low[k] + cells[k]);
    let center = [0, 1, 2].map(|k| 0.5 * (low[k] + high[k]) as f64 * SPACING);
    let mass = density_ratio * MASS * cells.iter().product::<i64>() as f64;
    let squares = cells.map(|n| (n as f64 * SPACING).powi(2));
    let places = sites(low, high, SPACING, false);
    let offset: Vec<Vec3> = places.iter().map(|at| [0, 1, 2].map(|k| at[k] - center[k])).collect();
    let id = world.grains.bodies.len() as u32;
    let fluids = world.fluids.as_mut().expect("a wet world");
    fluids.body_boundaries.push(BodyBoundary {
        body: id,
        offset: offset.clone(),
        slips: true,
        // Müller's fluid feels spheres.
        radius: if fluids.solver == Solver::Muller2003 {
            vec![0.5 * SPACING; offset.len()]
        } else {
            Vec::new()
        },
        volume: Vec::new(),
        suspended: None,
    });
    let old = std::mem::take(&mut fluids.particles);
    for (place, pressure) in old.position.into_iter().zip(old.pressure) {
        let is_inside = (0..3).all(|k| place[k] > low[k] as f64 * SPACING && place[k] < high[k] as f64 * SPACING);
        if !is_inside {
            drop_in(fluids, place, [0.0; 3], pressure);
        }
    }
    let sphere = Sphere {
        id: world.grains.len() as u32,
        offset: [0.0; 3],
        radius: SPACING,
    };
    let body = Body {
        id,
        mass,
        moments: [0, 1, 2].map(|k| mass / 12.0 * (squares[(k + 1) % 3] + squares[(k + 2) % 3])),
        center,
        orientation: [1.0, 0.0, 0.0, 0.0],
        velocity,
        angular_velocity: spin,
        motion: None,
        joint: None,
        carries: Vec::new(),
    };
    world.groups = vec!["ice".to_owned()];
    world.materials[0].youngs_modulus = 1e6;
    world.interactions = vec![Some(Interaction::default())];
    world.grains.push_body(body, &[sphere], 0, 0);
    Melting {
        body: id,
        fluid: 0,
        sites: offset,
    }
}

/// Solvers into whose fluids bodies melt, and whose fluids freeze.
pub const SOLVERS: [Solver; 2] = [Solver::WeaklyCompressible, Solver::Muller2003];

/// A cube of water in space without gravity, and in it a block with nine tenths of its density that moves and rotates.
fn floating_ice_in(solver: Solver) -> (World, Melting) {
    let mut medium = water(20.0);
    if solver == Solver::Muller2003 {
        // XSPH keeps momentum only where densities are equal.
        (medium.viscosity, medium.xsph, medium.state) = (5.0, 0.0, StateLaw::Linear);
        (medium.body_stiffness, medium.body_restitution) = (500.0, 0.7);
    } else {
        (medium.artificial_viscosity, medium.density_diffusion) = (0.1, 0.1);
    }
    let mut fluids = fluids(vec![medium], SPACING, 3.0, None);
    fluids.largest_speed = 2.0;
    if solver == Solver::Muller2003 {
        (fluids.solver, fluids.smoothing) = (solver, Smoothing::Poly6);
    }
    for x in sites([0; 3], [12; 3], SPACING, false) {
        drop_in(&mut fluids, x, [0.0; 3], 0.0);
    }
    let bounds = domain([-2.0; 3], [2.0; 3], [false; 3]);
    let mut world = wet(fluids, 0.0, Some(bounds), Vec::new());
    let melting = put_block(&mut world, [4, 5, 4], [4, 3, 4], 0.9, [0.1, 0.03, -0.02], [0.3, 0.1, 0.5]);
    (world, melting)
}

/// As [`floating_ice_in`], in a weakly compressible fluid.
fn floating_ice() -> (World, Melting) {
    floating_ice_in(Solver::WeaklyCompressible)
}

/// Mass, momentum, and angular momentum about the origin, of all bodies and of all fluid.
pub fn totals(simulation: &Simulation) -> (f64, Vec3, Vec3) {
    let fluid = simulation.fluid().expect("a wet world");
    let of_fluid = fluid.position.iter().zip(&fluid.velocity).map(|(x, v)| (MASS, *x, *v, [0.0; 3]));
    let bodies = simulation.bodies();
    let of_bodies = bodies
        .iter()
        .map(|body| (body.mass, body.center, body.velocity, body.angular_momentum));
    let mut all = (0.0, [0.0; 3], [0.0; 3]);
    for (mass, place, velocity, turning) in of_fluid.chain(of_bodies) {
        let momentum = velocity.map(|v| mass * v);
        let moment = cross(place, momentum);
        all.0 += mass;
        for k in 0..3 {
            all.1[k] += momentum[k];
            all.2[k] += moment[k] + turning[k];
        }
    }
    all
}

/// Largest difference of two sets of positions along an axis \[m\].
pub fn apart(a: &[Vec3], b: &[Vec3]) -> f64 {
    let both = a.iter().flatten().zip(b.iter().flatten());
    both.fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}

#[test]
fn what_melts_keeps_its_momenta_and_its_mass_to_half_a_particle() {
    for solver in SOLVERS {
        let (world, melting) = floating_ice_in(solver);
        let mut simulation = started_on(world, 2);
        simulation.advance(100).expect("sound steps");
        let (before, particles, earlier) = (totals(&simulation), simulation.fluid_particles(), simulation.ledger());
        simulation.melt(&[melting]).expect("it can melt");
        let after = totals(&simulation);
        assert!(simulation.bodies().is_empty() && simulation.is_empty());
        assert!(
            (after.0 - before.0).abs() <= 0.5 * MASS * (1.0 + 1e-9),
            "{solver:?}: {} kg of {}",
            after.0,
            before.0
        );
        // Nine tenths of its sites are filled.
        assert_eq!(simulation.fluid_particles() - particles, 43, "{solver:?}");
        let of_block = 43.0 * MASS;
        for k in 0..3 {
            assert!(
                (after.1[k] - before.1[k]).abs() < 1e-11 * of_block,
                "{solver:?}: {before:?} {after:?}"
            );
            assert!(
                (after.2[k] - before.2[k]).abs() < 1e-11 * of_block * 12.0 * SPACING,
                "{solver:?}: {before:?} {after:?}"
            );
        }
        // The ledger closes at once.
        let ledger = simulation.ledger();
        assert!(
            (ledger.residual - earlier.residual).abs() < 1e-9 * earlier.kinetic,
            "{solver:?}: {earlier:?} {ledger:?}"
        );
        simulation.advance(200).expect("sound steps");
        let (later, drifted) = (simulation.ledger(), totals(&simulation));
        // Nothing acts from outside: fluid that was a body and the fluid around it act on each other alone.
        assert!(
            (0..3).all(|k| (drifted.1[k] - after.1[k]).abs() < 1e-9 * of_block),
            "{solver:?}: {after:?} {drifted:?}"
        );
        if solver == Solver::WeaklyCompressible {
            // It stays closed, to second order in the time step.
            assert!(
                (later.residual - ledger.residual).abs() < 5e-2 * ledger.kinetic,
                "{ledger:?} {later:?}"
            );
        }
    }
}

/// Müller's fluid in a box, ten spacings wide and eight deep, and a block as dense as it in the middle.
fn vessel_with_block() -> (World, Melting) {
    let fastest = (2.0 * G * 8.0 * SPACING).sqrt();
    let mut fluids = vessels::fluids(fastest);
    let fluid = &mut fluids.kinds[0];
    (fluid.restitution, fluid.body_restitution) = (0.0, 0.5);
    fluid.body_stiffness = 0.25 * DENSITY * fluid.sound_speed.powi(2) * SPACING;
    vessels::pour(&mut fluids, [0; 3], [10, 10, 8]);
    let mut world = vessels::world(fluids, G, None, vessels::sides([10, 10]), vec![false; 5]);
    let melting = put_block(&mut world, [3, 3, 2], [4; 3], 1.0, [0.0; 3], [0.0; 3]);
    (world, melting)
}

#[test]
fn a_block_that_melts_fills_its_place_in_mullers_fluid() {
    let (world, melting) = vessel_with_block();
    let mut simulation = started_on(world, 2);
    let dt = simulation.time_step().value;
    simulation.advance((0.1 / dt) as u64).expect("sound steps");
    let block = simulation.bodies()[0].center;
    simulation.melt(&[melting]).expect("it can melt");
    assert_eq!(simulation.fluid_particles(), 10 * 10 * 8);
    simulation.advance((0.3 / dt) as u64).expect("sound steps");
    let fluid = simulation.fluid().expect("a wet world");
    // Without the new particles, or if they flew apart, the place of the block would be empty.
    let near = |x: &&Vec3| (0..3).all(|k| (x[k] - block[k]).abs() < 2.0 * SPACING);
    let count = fluid.position.iter().filter(near).count();
    // Irregular fluid under its weight is up to a half denser than a lattice.
    assert!((40..=100).contains(&count), "{count} particles in the place of 64");
    let inside = |x: &Vec3| (0..2).all(|k| x[k] > -1e-9 && x[k] < 10.0 * SPACING + 1e-9) && x[2] > -1e-9;
    assert!(fluid.position.iter().all(inside), "fluid left the box");
    let fastest = fluid.velocity.iter().flatten().fold(0.0, |most: f64, v| most.max(v.abs()));
    assert!(fastest < (2.0 * G * 8.0 * SPACING).sqrt(), "{fastest} m/s");
}

#[test]
fn what_melts_does_not_depend_on_the_number_of_domains() {
    for solver in SOLVERS {
        let (world, melting) = floating_ice_in(solver);
        let melted = |domains: usize| {
            let mut simulation = among_domains(&world, domains);
            simulation.advance(40).expect("sound steps");
            simulation.melt(std::slice::from_ref(&melting)).expect("it can melt");
            simulation.advance(40).expect("sound steps");
            simulation.observe().expect("a sound state");
            simulation.fluid().expect("a wet world")
        };
        let (whole, decomposed) = (melted(1), melted(3));
        assert_eq!((whole.id.len(), &whole.id), (12 * 12 * 12 - 48 + 43, &decomposed.id), "{solver:?}");
        // The mean pressure before the body is a sum in another order.
        let off = apart(&whole.position, &decomposed.position);
        assert!(off < 1e-10, "{solver:?}: {off}");
    }
}

#[test]
fn what_melts_on_a_gpu_melts_as_on_the_cpu() {
    for solver in SOLVERS {
        let (world, melting) = floating_ice_in(solver);
        let melted = |device: DeviceChoice| {
            let is_gpu = device != DeviceChoice::Cpu;
            let settings = Settings {
                threads: 1,
                device,
                precision: is_gpu.then_some(Precision::F64),
                ..Settings::default()
            };
            let mut simulation = Simulation::new(world.clone(), settings).expect("the world is sound");
            simulation.advance(30).expect("sound steps");
            simulation.melt(std::slice::from_ref(&melting)).expect("it can melt");
            simulation.advance(30).expect("sound steps");
            simulation.observe().expect("a sound state");
            simulation.fluid().expect("a wet world")
        };
        let (here, there) = (melted(DeviceChoice::Cpu), melted(DeviceChoice::Gpu(None)));
        assert_eq!(here.id, there.id, "{solver:?}");
        let off = apart(&here.position, &there.position);
        assert!(off < 1e-9, "{solver:?}: {off}");
    }
}

#[test]
fn water_that_was_a_block_as_dense_as_water_lies_as_if_it_always_had() {
    let depth = 13;
    let fastest = (2.0 * G * f64::from(depth) * SPACING).sqrt();
    let mut medium = water(10.0 * fastest);
    (medium.artificial_viscosity, medium.density_diffusion) = (0.1, 0.1);
    let mut fluids = fluids(vec![medium], SPACING, 3.0, None);
    fluids.largest_speed = fastest;
    let cells = [10, 10, i64::from(depth) + 5];
    let mut world = tank(fluids, cells, [10, 10, i64::from(depth)], 3, None);
    let melting = put_block(&mut world, [3, 3, 5], [4; 3], 1.0, [0.0; 3], [0.0; 3]);
    let mut simulation = started_on(world, 2);
    let dt = simulation.time_step().value;
    simulation.advance((0.1 / dt) as u64).expect("sound steps");
    simulation.melt(&[melting]).expect("it can melt");
    assert_eq!(simulation.fluid_particles(), 10 * 10 * depth as usize);
    simulation.advance((0.2 / dt) as u64).expect("sound steps");
    // A hole in place of the block would release a fiftieth of this.
    let weight = simulation.fluid_particles() as f64 * MASS * G;
    let scale = weight * f64::from(depth) * SPACING;
    let kinetic = simulation.ledger().kinetic;
    assert!(kinetic < 1e-3 * scale, "{kinetic} J of {scale}");
    let fluid = simulation.fluid().expect("a wet world");
    let level = fluid.position.iter().map(|x| x[2]).fold(0.0, f64::max);
    assert!((level / SPACING - (f64::from(depth) - 0.5)).abs() < 0.5, "level at {level} m");
}

#[test]
fn going_on_from_before_and_from_after_a_body_melted_changes_no_bit() {
    SOLVERS.into_iter().for_each(go_on_from_before_and_after_melting);
}

#[track_caller]
fn go_on_from_before_and_after_melting(solver: Solver) {
    let (world, melting) = floating_ice_in(solver);
    let melting = [melting];
    let mut whole = started_on(world.clone(), 1);
    whole.advance(60).expect("sound steps");
    let before = whole.save().expect("a sound state");
    whole.melt(&melting).expect("it can melt");
    whole.advance(60).expect("sound steps");
    let after = whole.save().expect("a sound state");
    whole.advance(40).expect("sound steps");
    let end = whole.save().expect("a sound state");
    let settings = Settings {
        threads: 3,
        ..Settings::default()
    };
    let mut from_before = Simulation::restore(world.clone(), settings.clone(), &before).expect("a state of this world");
    from_before.melt(&melting).expect("it can melt");
    from_before.advance(100).expect("sound steps");
    assert!(from_before.save().expect("a sound state") == end, "{solver:?}");
    let mut from_after = Simulation::restore(world, settings, &after).expect("a state of this world");
    from_after.advance(40).expect("sound steps");
    assert!(from_after.save().expect("a sound state") == end, "{solver:?}");
}

#[test]
fn what_cannot_melt_is_refused_by_name_and_what_is_gone_is_passed_over() {
    let (world, melting) = floating_ice();
    let reported = |world: &World, melting: &[Melting]| {
        let refusal = started_on(world.clone(), 1).melt(melting).err();
        refusal.map_or("nothing".to_owned(), |refusal| refusal.to_string())
    };
    let other = |change: &dyn Fn(&mut Melting)| {
        let mut melting = melting.clone();
        change(&mut melting);
        [melting]
    };
    assert_eq!(reported(&world, &other(&|_| {})), "nothing");
    assert_eq!(reported(&world, &other(&|melting| melting.body = 7)), "nothing");
    assert!(reported(&world, &other(&|melting| melting.fluid = 3)).contains("needs a fluid that is there"));
    assert!(reported(&world, &other(&|melting| melting.sites.clear())).contains("at least one site"));
    assert!(reported(&world, &other(&|melting| melting.sites = vec![[0.0, 0.0, 5.0]])).contains("outside of the domain"));
    assert!(reported(&world, &[melting.clone(), melting.clone()]).contains("twice"));
    let mut unfelt = world.clone();
    unfelt.fluids.as_mut().expect("a wet world").body_boundaries.clear();
    assert!(reported(&unfelt, std::slice::from_ref(&melting)).contains("is not coupled to fluids"));
    let reported = reported(&incompressible(world), &[melting]);
    assert!(
        reported.contains("keep that velocity") && !reported.contains("within one step"),
        "{reported}"
    );
}
