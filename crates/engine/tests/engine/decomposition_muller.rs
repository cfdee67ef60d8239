//! Müller's solver in several domains: the result is the same for any number.

use crate::alike::assert_same;
use crate::bodies_in_muller::compressed_splash;
use crate::domains::{after, among};
use crate::domains_on_a_gpu as on_a_gpu;
use crate::ledgers::assert_same_ledger;
use crate::on_gpus;
use crate::vessels::{sampled_splash, splash};
use seixo_engine::Simulation;
use seixo_engine::world::{Precision, World};

/// A splash that falls back in a wide cup, with and without smoothing of velocities.
fn splashes() -> [(&'static str, World); 4] {
    let mut rough = splash();
    rough.fluids.as_mut().unwrap().kinds[0].xsph = 0.0;
    [
        ("a splash", splash()),
        ("a splash without XSPH", rough),
        ("a splash in a mesh", sampled_splash()),
        ("two fluids and two bodies", compressed_splash()),
    ]
}

/// Asserts that fluid and bodies do not depend on the decomposition, given how a world is after some steps in a number of domains.
#[track_caller]
fn assert_alike(what: &str, after: impl Fn(usize) -> Simulation) {
    let mut whole = after(1);
    assert!(whole.rebuilds() > 2, "{what}: {}", whole.rebuilds());
    for domains in [2, 3] {
        let what = format!("{what}, {domains} domains");
        let mut decomposed = after(domains);
        assert_same(&mut whole, &mut decomposed, &what);
        assert_same_ledger(&whole, &decomposed, &what);
        assert_eq!((whole.fluid(), whole.bodies()), (decomposed.fluid(), decomposed.bodies()), "{what}");
        let found = decomposed.decomposition().unwrap();
        assert_eq!(found.fluid.iter().sum::<usize>(), whole.fluid_particles(), "{what}");
        assert!(found.migrations > 0, "{what}: {found:?}");
    }
}

#[test]
fn any_number_of_domains_gives_the_same_bits() {
    for (what, world) in splashes() {
        assert_alike(what, |domains| after(&world, domains, 400));
    }
}

#[test]
fn a_checkpoint_goes_on_in_another_number_of_domains() {
    let world = compressed_splash();
    let mut whole = after(&world, 1, 300);
    let state = after(&world, 3, 150).save().unwrap();
    let mut again = Simulation::restore(world, among(2), &state).unwrap();
    again.advance(150).unwrap();
    again.observe().unwrap();
    assert_same(&mut whole, &mut again, "three domains, then two");
    assert_same_ledger(&whole, &again, "three domains, then two");
}

#[test]
fn any_number_of_domains_on_a_gpu_gives_the_same_bits() {
    for ((what, world), precision) in splashes()
        .into_iter()
        .zip([Precision::Mixed, Precision::F64, Precision::F64, Precision::Mixed])
    {
        assert_alike(what, |domains| on_a_gpu::after(&world, domains, precision, 300));
    }
}

#[test]
fn domains_on_a_gpu_go_on_in_another_number() {
    let world = compressed_splash();
    let mut whole = on_a_gpu::after(&world, 1, Precision::F64, 200);
    let state = on_a_gpu::after(&world, 3, Precision::F64, 100).save().unwrap();
    let mut again = Simulation::restore(world, on_gpus::among(2, Precision::F64), &state).unwrap();
    again.advance(100).unwrap();
    again.observe().unwrap();
    assert_same(&mut whole, &mut again, "three domains, then two");
    assert_same_ledger(&whole, &again, "three domains, then two");
}
