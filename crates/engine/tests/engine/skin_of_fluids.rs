//! The skin of the neighbor lists of fluids follows their motion, and changes results by no more than rounding.

use crate::alike::assert_same;
use crate::beds::noise;
use crate::devices::{on_cpu, on_gpu};
use crate::domains::{among, started};
use crate::domains_on_a_gpu;
use crate::pools::{domain, drop_in, fluids, sites, water, wet};
use crate::solvers::incompressible;
use seixo_engine::Simulation;
use seixo_engine::state::Column;
use seixo_engine::world::{Precision, Settings, World};

/// Water without pressure in a plane, that drifts through periodic sides by a `stride` in each step \[spacings\]. A share of `disorder` of the
/// velocities is without order.
fn drifting(stride: f64, disorder: f64) -> World {
    set_adrift(still(), stride, disorder)
}

/// The same water at rest.
fn still() -> World {
    let spacing = 0.05;
    let mut medium = water(44.0);
    (medium.viscosity, medium.artificial_viscosity, medium.density_diffusion) = (0.5, 0.05, 0.1);
    let mut fluids = fluids(vec![medium], spacing, 3.0, Some(1));
    fluids.largest_speed = 4.4;
    for x in sites([0; 3], [24, 1, 8], spacing, true) {
        drop_in(&mut fluids, x, [0.0; 3], 0.0);
    }
    let [length, height] = [24.0, 8.0].map(|count| count * spacing);
    let space = domain([0.0, -1.0, 0.0], [length, 1.0, height], [true, false, true]);
    wet(fluids, 0.0, Some(space), Vec::new())
}

/// Gives the water of this world the velocities of [`drifting()`].
fn set_adrift(mut world: World, stride: f64, disorder: f64) -> World {
    let spacing = world.fluids.as_ref().unwrap().spacing;
    let speed = stride * spacing / started(&world, 1).time_step().value;
    let particles = &mut world.fluids.as_mut().unwrap().particles;
    for (k, velocity) in particles.velocity.iter_mut().enumerate() {
        let [along, up] = [0, 1].map(|axis| disorder * noise((2 * k + axis) as u64));
        *velocity = [speed * (1.0 + along), 0.0, speed * up];
    }
    world
}

/// Asserts that lists of a skin that is chosen are rebuilt less often than those of the default skin, and give the same motion.
#[track_caller]
fn assert_wider_and_same(settings: &Settings) {
    let world = drifting(0.04, 0.05);
    let new = |skin| {
        let settings = Settings { skin, ..settings.clone() };
        Simulation::new(world.clone(), settings).unwrap()
    };
    let mut tuned = new(None);
    let default = tuned.skin_of_fluids();
    let mut fixed = new(default);
    for simulation in [&mut tuned, &mut fixed] {
        simulation.advance(200).unwrap();
        simulation.observe().unwrap();
    }
    assert_eq!(fixed.skin_of_fluids(), default);
    assert!(tuned.skin_of_fluids() > default, "{:?} {default:?}", tuned.skin_of_fluids());
    let [often, seldom] = [fixed.rebuilds(), tuned.rebuilds()];
    assert!(6 * seldom < 5 * often, "{seldom} {often}");
    let [one, other] = [&tuned, &fixed].map(|simulation| simulation.fluid().unwrap().velocity);
    let start = &world.fluids.as_ref().unwrap().particles.velocity;
    let speed = start[0][0];
    let off = |a: &[[f64; 3]], b: &[[f64; 3]]| {
        let both = a.iter().flatten().zip(b.iter().flatten());
        both.fold(0.0, |most: f64, (x, y)| most.max((x - y).abs())) / speed
    };
    assert!(off(&one, &other) < 1e-8, "{:e}", off(&one, &other));
    assert!(off(&one, start) > 1e-3, "no particle felt another");
}

#[test]
fn fast_fluid_gets_a_wider_skin_and_moves_alike() {
    assert_wider_and_same(&on_cpu());
}

#[test]
fn fast_fluid_on_a_gpu_gets_a_wider_skin_and_moves_alike() {
    assert_wider_and_same(&on_gpu(Precision::F64));
}

#[test]
fn a_resumed_run_chooses_the_same_skins_of_fluids() {
    let world = drifting(0.04, 0.05);
    // A slow fluid of constant density gets a narrower skin, after eight lists of some hundred steps.
    for (world, settings, steps) in [
        (world.clone(), on_cpu(), 140),
        (set_adrift(incompressible(still()), 0.0006, 0.05), on_cpu(), 1300),
        (world, on_gpu(Precision::Mixed), 140),
    ] {
        let new = || Simulation::new(world.clone(), settings.clone()).unwrap();
        let mut whole = new();
        whole.advance(steps).unwrap();
        let end = whole.save().unwrap();
        let Some(Column::U64(skin)) = end.get("fluid/skin") else {
            panic!("the choice of the skin is saved");
        };
        assert_ne!(skin[0], 5, "it was not chosen again: {skin:?}");
        for before in [1, steps / 4] {
            let mut first = new();
            first.advance(before).unwrap();
            let mut second = Simulation::restore(world.clone(), settings.clone(), &first.save().unwrap()).unwrap();
            second.advance(steps - before).unwrap();
            let again = second.save().unwrap();
            assert!(
                end.get("fluid/skin") == again.get("fluid/skin"),
                "{skin:?}, resumed after {before} steps"
            );
            assert_eq!((whole.fluid(), whole.rebuilds()), (second.fluid(), second.rebuilds()));
        }
    }
}

#[test]
fn a_given_skin_of_fluids_stays() {
    let world = drifting(0.04, 0.05);
    let settings = Settings {
        skin: Some(0.2 * world.fluids.as_ref().unwrap().spacing),
        ..on_cpu()
    };
    let mut simulation = Simulation::new(world, settings.clone()).unwrap();
    simulation.advance(100).unwrap();
    assert_eq!(simulation.skin_of_fluids(), settings.skin);
    assert!(simulation.save().unwrap().get("fluid/skin").is_none());
}

#[test]
fn all_domains_choose_the_skin_of_the_undivided_fluid() {
    // A rebuild lasts seven hundred steps, and the skin is chosen after two thousand.
    let world = drifting(2.1e-4, 0.0);
    let mut whole = started(&world, 1);
    let default = whole.skin_of_fluids();
    whole.advance(2200).unwrap();
    assert!(whole.skin_of_fluids() < default, "{:?}", whole.skin_of_fluids());
    for domains in [2, 3] {
        let mut decomposed = started(&world, domains);
        decomposed.advance(2200).unwrap();
        decomposed.observe().unwrap();
        assert_eq!(
            (whole.skin_of_fluids(), whole.rebuilds()),
            (decomposed.skin_of_fluids(), decomposed.rebuilds())
        );
        assert_same(&mut whole, &mut decomposed, &format!("{domains} domains"));
    }
}

#[test]
fn all_domains_on_a_gpu_choose_the_skin_of_the_undivided_fluid() {
    // A rebuild lasts sixty steps, and the skin is chosen after eight.
    let world = drifting(0.0024, 0.0);
    let default = started(&world, 1).skin_of_fluids();
    let [whole, decomposed] = [1, 2].map(|domains| domains_on_a_gpu::after(&world, domains, Precision::Mixed, 540));
    assert!(whole.skin_of_fluids() < default, "{:?}", whole.skin_of_fluids());
    assert_eq!(
        (whole.skin_of_fluids(), whole.rebuilds()),
        (decomposed.skin_of_fluids(), decomposed.rebuilds())
    );
    assert_eq!(whole.fluid(), decomposed.fluid());
}

#[test]
fn a_run_in_domains_goes_on_from_a_wider_skin_than_it_would_choose() {
    let world = drifting(0.04, 0.05);
    let mut alone = Simulation::new(world.clone(), on_cpu()).unwrap();
    let default = alone.skin_of_fluids();
    alone.advance(150).unwrap();
    assert!(alone.skin_of_fluids() > default);
    let state = alone.save().unwrap();
    let mut resumed = [1, 2].map(|domains| {
        let mut simulation = Simulation::restore(world.clone(), among(domains), &state).unwrap();
        assert_eq!(simulation.skin_of_fluids(), alone.skin_of_fluids());
        simulation.advance(100).unwrap();
        simulation.observe().unwrap();
        simulation
    });
    let [whole, decomposed] = &mut resumed;
    assert_same(whole, decomposed, "from one run to two domains");
}
