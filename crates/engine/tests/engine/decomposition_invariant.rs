//! Decomposition-invariant worlds: distant particles change no bit, on CPU or GPU (software Vulkan suffices; without any adapter these tests fail).

use crate::beds;
use crate::cemented::{EDGE, cemented, pressed};
use crate::devices::{after, apart, assert_same_ledger, on_cpu, on_gpu};
use crate::extended_contacts::against;
use crate::pools::{domain, drop_in, fluids, sites, tank, water, wet};
use crate::resumed::assert_same_when_resumed;
use crate::warm;
use seixo_engine::state::GrainScalar;
use seixo_engine::world::{Domain, Fluids, ForceAssembly, Interaction, LeavingPolicy, Precision, Settings, Vec3, World};
use seixo_engine::{Simulation, WorldError, plan_time_step};
use seixo_laws::contact::{Cohesion, RollingLaw, TangentialLaw, TwistingLaw};
use std::collections::BTreeMap;

/// Ids of the compared particles; distant ones have lower and higher ids.
const OWN: std::ops::Range<u32> = 10_000..100_000;
/// Speed of the distant particles, which cause frequent rebuilds of the neighbor lists \[m/s\].
const FLYING: f64 = 3.0;
/// Spacing of fluids \[m\].
const SPACING: f64 = 0.05;

/// Grains of two sizes, pressed together a little, with the compared ids.
fn bed(count: usize, tangential: TangentialLaw) -> World {
    let mut world = pressed(count, tangential);
    world.grains.id.iter_mut().for_each(|id| *id += OWN.start);
    world
}

/// The same without gravity and walls, between sides that are periodic along x and y.
fn between_periodic_sides(count: usize) -> World {
    let mut world = bed(count, TangentialLaw::Mindlin);
    let length = (count as f64).cbrt().ceil() * EDGE;
    world.walls.clear();
    world.gravity = [0.0; 3];
    world.domain = Some(Domain {
        periodic: [true, true, false],
        ..Domain::open([0.0, 0.0, -1.0], [length, length, 1.0], LeavingPolicy::Error)
    });
    world
}

/// Grains with necks and with resistance to rolling and twisting.
fn sticky(count: usize) -> World {
    let mut world = bed(count, TangentialLaw::Mindlin);
    world.interactions = vec![Some(Interaction {
        cohesion: Some(Cohesion::Jkr { surface_energy: 0.1 }),
        rolling: Some(against(RollingLaw::ElasticPlastic, 0.1)),
        twisting: Some(against(TwistingLaw::Marshall, 0.0)),
        ..beds::interaction(TangentialLaw::Mindlin)
    })];
    world
}

/// Beds of this many grains, of all kinds.
fn all_beds(count: usize) -> Vec<(&'static str, World)> {
    let mut of_one_size = bed(count, TangentialLaw::Mindlin);
    of_one_size.grains.radius.fill(5e-4);
    vec![
        ("grains of two sizes", bed(count, TangentialLaw::Mindlin)),
        ("grains of one size", of_one_size),
        ("smooth grains", bed(count, TangentialLaw::None)),
        ("sticky grains", sticky(count)),
        ("bonded grains", cemented(bed(count, TangentialLaw::Mindlin))),
        ("grains between periodic sides", between_periodic_sides(count)),
    ]
}

/// The same world with blocks of grains far above and far below that move at this speed along z; one block has lower ids, the other higher ids.
fn near_grains(world: &World, speed: f64) -> World {
    let mut world = world.clone();
    for (first_id, height) in [(0, 0.03), (OWN.end, -0.03)] {
        for k in 0..200u32 {
            let cell = [k % 5, k / 5 % 5, k / 25].map(|c| f64::from(c) * 1.02e-3);
            let center = [1.02e-3 + cell[0], 1.02e-3 + cell[1], height + cell[2]];
            world.grains.push(first_id + k, center, [0.0, 0.0, speed], [0.0; 3], 5e-4, 0, 0);
        }
    }
    if world.conduction.is_some() {
        let count = world.grains.len();
        world.grains.scalars[GrainScalar::Temperature].resize(count, 300.0);
        world.grains.scalars[GrainScalar::FilmThickness].resize(count, 1e-5);
    }
    world
}

/// Fluid without particles.
fn dry() -> Fluids {
    let mut medium = water(44.0);
    (medium.viscosity, medium.artificial_viscosity, medium.density_diffusion) = (0.5, 0.05, 0.1);
    let mut fluids = fluids(vec![medium], SPACING, 3.0, None);
    fluids.largest_speed = 4.4;
    fluids
}

/// A wet world whose particles have the compared ids.
fn named(mut world: World) -> World {
    let particles = &mut world.fluids.as_mut().expect("a wet world").particles;
    particles.id.iter_mut().for_each(|id| *id += OWN.start);
    world
}

/// A column of water that collapses in a tank.
fn column() -> World {
    named(tank(dry(), [8, 6, 10], [5, 6, 7], 3, None))
}

/// A layer of water in motion between sides that are periodic along x and y.
fn layer() -> World {
    let mut fluids = dry();
    for (k, x) in sites([0; 3], [8, 8, 6], SPACING, false).into_iter().enumerate() {
        let velocity = [0, 1, 2].map(|axis| beds::noise((3 * k + axis) as u64));
        drop_in(&mut fluids, x, velocity, 0.0);
    }
    let edge = 8.0 * SPACING;
    named(wet(
        fluids,
        0.0,
        Some(domain([0.0, 0.0, -9.0], [edge, edge, 9.0], [true, true, false])),
        Vec::new(),
    ))
}

/// The same world with drops far above and far below, as [`near_grains()`].
fn among_drops(world: &World, speed: f64) -> World {
    let mut world = world.clone();
    let fluids = world.fluids.as_mut().expect("a wet world");
    for (first_id, height) in [(0, 3.0), (OWN.end, -3.0)] {
        for (k, x) in (0u32..).zip(sites([0; 3], [5; 3], SPACING, false)) {
            drop_in(fluids, [x[0], x[1], x[2] + height], [0.0, 0.0, speed], 0.0);
            fluids.particles.id.pop();
            fluids.particles.id.push(first_id + k);
        }
    }
    world
}

/// Settings with the same time step and the same skin, whatever is far away.
fn stepped(world: &World, settings: Settings, decomposition_invariant: bool) -> Settings {
    let auto = plan_time_step(world, settings.scheme).unwrap().auto;
    Settings {
        decomposition_invariant,
        time_step: Some(0.5 * auto),
        skin: world.fluids.is_none().then_some(2e-5),
        ..settings
    }
}

/// All values of the particles with a compared id, as bits.
fn reported(simulation: &Simulation) -> BTreeMap<u32, Vec<u64>> {
    let (grains, fluid) = (simulation.snapshot(), simulation.fluid().unwrap_or_default());
    let of_grain = |k: usize| {
        let motion = [grains.position[k], grains.velocity[k], grains.angular_velocity[k]];
        let loads = [grains.force[k], grains.torque[k]];
        let scalars: Vec<f64> = grains.scalars.carried().map(|(_, column)| column[k]).collect();
        [motion.as_flattened(), loads.as_flattened(), &scalars].concat()
    };
    let of_particle = |k: usize| [&fluid.position[k][..], &fluid.velocity[k], &[fluid.density[k], fluid.pressure[k]]].concat();
    let of_grains = (0..grains.id.len()).map(|k| (grains.id[k], of_grain(k)));
    let of_particles = (0..fluid.id.len()).map(|k| (fluid.id[k], of_particle(k)));
    let own = of_grains.chain(of_particles).filter(|(id, _)| OWN.contains(id));
    own.map(|(id, numbers)| (id, numbers.into_iter().map(f64::to_bits).collect()))
        .collect()
}

/// Asserts that distant particles and the number of threads change no bit of the result; returns both final states.
#[track_caller]
fn assert_untouched(what: &str, [alone, among]: [&World; 2], settings: &Settings, steps: u64) -> [Simulation; 2] {
    let on = |threads: usize| Settings {
        threads,
        ..settings.clone()
    };
    let both = [after(alone, on(1), steps), after(among, on(3), steps)];
    let [own, with_others] = both.each_ref().map(reported);
    assert!(own.len() > 100 && own.len() == with_others.len(), "{what}: {} particles", own.len());
    for (id, numbers) in &own {
        assert!(with_others[id] == *numbers, "{what}, {settings:?}: particle {id} is elsewhere");
    }
    both
}

/// As [`assert_untouched()`], with distant particles that cause rebuilds at other steps.
#[track_caller]
fn assert_untouched_at_all_moments(what: &str, worlds: [&World; 2], settings: &Settings, steps: u64) -> [Simulation; 2] {
    let both = assert_untouched(what, worlds, settings, steps);
    let [alone, among] = both.each_ref().map(Simulation::rebuilds);
    assert!(alone > 1 && among > alone, "{what}: {alone} and {among} lists");
    both
}

#[test]
fn grains_far_away_change_no_bit() {
    let mut worlds = all_beds(1200);
    worlds.push(("hot grains", warm::conducting(bed(1200, TangentialLaw::Mindlin))));
    for (what, world) in worlds {
        let settings = stepped(&world, on_cpu(), true);
        // Until a grain crosses a periodic side, the time at which it is wrapped does not matter.
        let steps = if world.domain.is_some() { 150 } else { 1000 };
        let [alone, _] = assert_untouched_at_all_moments(what, [&world, &near_grains(&world, FLYING)], &settings, steps);
        assert!(alone.contacts() > 20 && alone.ledger().normal_damping > 0.0, "{what}");
        let [made, holding] = alone.bond_counts();
        assert!(world.bonds.is_empty() || 0 < holding && holding < made, "{made} {holding}");
    }
}

#[test]
fn grains_far_away_change_bits_of_worlds_that_are_not_decomposition_invariant() {
    // Otherwise the test above would test nothing.
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = bed(1200, tangential);
        let settings = stepped(&world, on_cpu(), false);
        let both = [&world, &near_grains(&world, FLYING)].map(|world| reported(&after(world, settings.clone(), 1000)));
        assert!(both[0] != both[1], "{tangential:?}");
    }
}

#[test]
fn grains_pass_periodic_sides_alike_with_others_at_rest_far_away() {
    let mut world = between_periodic_sides(1200);
    for velocity in &mut world.grains.velocity {
        velocity[0] += 1.0;
    }
    let settings = stepped(&world, on_cpu(), true);
    let [alone, among] = assert_untouched("grains", [&world, &near_grains(&world, 0.0)], &settings, 1000);
    assert!(alone.rebuilds() > 10 && alone.rebuilds() == among.rebuilds());
    let is_first = |at: Vec3| at[0] < 2.0 * EDGE;
    let ways = world.grains.position.iter().zip(alone.snapshot().position);
    let passed = ways.filter(|&(from, to)| !is_first(*from) && is_first(to)).count();
    assert!(passed > 10, "{passed}");
}

#[test]
fn fluid_far_away_changes_no_bit() {
    let world = column();
    let settings = stepped(&world, on_cpu(), true);
    let worlds = [&world, &among_drops(&world, -FLYING)];
    assert_untouched_at_all_moments("a column", worlds, &settings, 300);
    let usual = stepped(&world, on_cpu(), false);
    let both = worlds.map(|world| reported(&after(world, usual.clone(), 300)));
    assert!(both[0] != both[1], "the domain changes it otherwise");
    let world = layer();
    let settings = stepped(&world, on_cpu(), true);
    let [alone, among] = assert_untouched("a layer", [&world, &among_drops(&world, 0.0)], &settings, 300);
    assert!(alone.rebuilds() > 3 && alone.rebuilds() == among.rebuilds());
}

#[test]
fn nothing_far_away_changes_a_bit_on_a_gpu() {
    // Software GPUs are slow: each bed runs in one precision.
    for (k, precision) in [Precision::F64, Precision::Mixed, Precision::F32].into_iter().enumerate() {
        for (what, world) in all_beds(216).into_iter().skip(k).step_by(3) {
            let settings = stepped(&world, on_gpu(precision), true);
            let worlds = [&world, &near_grains(&world, FLYING)];
            let [alone, _] = assert_untouched_at_all_moments(what, worlds, &settings, 120);
            assert!(alone.ledger().normal_damping > 0.0, "{what} {precision:?}");
        }
        let world = column();
        let settings = stepped(&world, on_gpu(precision), true);
        assert_untouched_at_all_moments("a column", [&world, &among_drops(&world, -FLYING)], &settings, 200);
    }
    // Without a skin. Smooth grains have neighbor lists all the same.
    let world = bed(216, TangentialLaw::None);
    let settings = Settings {
        skin: Some(0.0),
        ..stepped(&world, on_gpu(Precision::Mixed), true)
    };
    assert_untouched("without a skin", [&world, &near_grains(&world, FLYING)], &settings, 60);
}

#[test]
fn forces_of_a_decomposition_invariant_world_are_put_together_in_one_launch() {
    for assembly in [ForceAssembly::ContactList, ForceAssembly::SortedContacts] {
        let world = bed(216, TangentialLaw::Mindlin);
        let settings = Settings {
            assembly,
            ..stepped(&world, on_gpu(Precision::Mixed), true)
        };
        let refused = Simulation::new(world, settings).err();
        assert!(matches!(refused, Some(WorldError::AssemblyElsewhere { .. })), "{refused:?}");
    }
}

#[test]
fn decomposition_invariant_worlds_have_the_physics_of_others() {
    let mut worlds = all_beds(1200);
    worlds.push(("hot grains", warm::conducting(bed(1200, TangentialLaw::Mindlin))));
    for (what, world) in worlds {
        let [mut usual, mut decomposition_invariant] =
            [false, true].map(|decomposition_invariant| after(&world, stepped(&world, on_cpu(), decomposition_invariant), 60));
        // Sums in another order differ by a relative 10⁻¹⁶, and more where forces cancel. Sixty steps do not amplify that.
        let found = apart(&usual.snapshot(), &decomposition_invariant.snapshot());
        assert!(found < 1e-10, "{what}: {found:e}");
        assert_same_ledger(&usual, &decomposition_invariant, what);
        assert_eq!(usual.contacts(), decomposition_invariant.contacts(), "{what}");
        let [of_one, of_other] = [&mut usual, &mut decomposition_invariant].map(|simulation| simulation.contacts_now().unwrap());
        assert_eq!(of_one.len(), of_other.len(), "{what}");
        let largest = of_one
            .iter()
            .flat_map(|contact| contact.force())
            .fold(0.0, |most: f64, f| most.max(f.abs()));
        for (one, other) in of_one.iter().zip(&of_other) {
            assert_eq!((one.a, one.b), (other.a, other.b), "{what}");
            for (f, g) in one.force().into_iter().zip(other.force()) {
                assert!((f - g).abs() < 1e-9 * largest, "{what}: {one:?} {other:?}");
            }
        }
        for (a, b) in usual.snapshot().scalars[GrainScalar::Temperature]
            .iter()
            .zip(&decomposition_invariant.snapshot().scalars[GrainScalar::Temperature])
        {
            assert!((a - b).abs() < 1e-10, "{what}: {a} {b}");
        }
    }
    for world in [column(), layer()] {
        let [usual, decomposition_invariant] =
            [false, true].map(|decomposition_invariant| after(&world, stepped(&world, on_cpu(), decomposition_invariant), 60));
        let [here, there] = [&usual, &decomposition_invariant].map(|simulation| simulation.fluid().expect("a wet world"));
        for (a, b) in here.position.iter().flatten().zip(there.position.iter().flatten()) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
        for (a, b) in here.density.iter().zip(&there.density) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
        assert_same_ledger(&usual, &decomposition_invariant, "fluid");
        assert_eq!(usual.fluid_neighbors().unwrap(), decomposition_invariant.fluid_neighbors().unwrap());
        for (a, b) in usual.walls().iter().zip(decomposition_invariant.walls()) {
            for axis in 0..3 {
                assert!((a.force[axis] - b.force[axis]).abs() < 1e-6, "{:?} {:?}", a.force, b.force);
            }
        }
    }
}

#[test]
fn decomposition_invariant_worlds_go_on_from_a_saved_state_as_if_they_had_not_stopped() {
    for (_, world) in all_beds(1200) {
        assert_same_when_resumed(&world, &stepped(&world, on_cpu(), true), [313, 300]);
    }
    for world in [column(), layer()] {
        assert_same_when_resumed(&world, &stepped(&world, on_cpu(), true), [113, 100]);
    }
    let world = sticky(216);
    assert_same_when_resumed(&world, &stepped(&world, on_gpu(Precision::Mixed), true), [113, 100]);
}
