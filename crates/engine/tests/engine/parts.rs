//! Worlds on GPUs whose domains make their own grains: the motion is that of a world with all grains in one table, and the same for any number of
//! domains (software Vulkan suffices; without any adapter these tests fail).

use crate::beds::falling;
use crate::on_gpus::among;
use seixo_engine::world::{Cpu, DeviceChoice, ExpectedGrains, GrainSource, Grains, LaterAdditions, Load, Precision, Settings, Vec3, World};
use seixo_engine::{Simulation, WorldError};
use seixo_laws::contact::TangentialLaw;

/// Grains of a table, in the opposite order. A box gets some that are beside it, too.
struct Table(Grains);

impl GrainSource for Table {
    fn sample(&self) -> Vec<Vec3> {
        self.0.position.clone()
    }

    fn grains_in(&self, low: Vec3, high: Vec3, _: &Cpu) -> Grains {
        let mut grains = Grains::default();
        for (k, center) in self.0.position.iter().enumerate().rev() {
            if (0..3).all(|axis| (low[axis] - 1e-3..high[axis] + 1e-3).contains(&center[axis])) {
                grains.push_from(&self.0, k);
            }
        }
        grains
    }
}

/// A bed whose grains overlap from the start: the world with all of them, and that without, with the source of these.
fn bed() -> (World, World, Table) {
    let mut whole = falling(1000, TangentialLaw::Mindlin);
    whole.grains.radius.iter_mut().for_each(|radius| *radius *= 1.06);
    let source = Table(whole.grains.clone());
    let kind = ExpectedGrains {
        material: 0,
        radius: [2.65e-4 * (1.0 - 1e-9), 5.3e-4 * (1.0 + 1e-9)],
        mass_per_radius: None,
        shape: None,
        speed: 0.2,
        reach: 0.02,
        highest_id: Some(999),
    };
    let world = World {
        grains: Grains::default(),
        later: LaterAdditions {
            grains: vec![kind],
            ..LaterAdditions::default()
        },
        ..whole.clone()
    };
    (whole, world, source)
}

/// With a time step and a skin, as those that follow from the radii need not be the same.
fn settings(domains: usize, precision: Precision) -> Settings {
    Settings {
        time_step: Some(2e-6),
        skin: Some(1e-4),
        ..among(domains, precision)
    }
}

#[test]
fn grains_in_parts_move_as_those_of_one_table() {
    let (whole, world, source) = bed();
    let mut whole = Simulation::new(whole, settings(2, Precision::F64)).unwrap();
    let mut parts = Simulation::in_parts(&world, &source, settings(2, Precision::F64)).unwrap();
    assert_eq!((parts.len(), parts.rebuilds(), parts.steps()), (1000, whole.rebuilds(), 0));
    assert!(parts.bytes() > 0 && parts.decomposition().unwrap().grains.iter().all(|&grains| grains > 400));
    parts.observe().unwrap();
    assert!(whole.contacts() > 500);
    assert_eq!(parts.contacts(), whole.contacts());
    let (one, other) = (whole.ledger(), parts.ledger());
    for (a, b) in [
        (one.initial, other.initial),
        (one.kinetic, other.kinetic),
        (one.elastic_normal, other.elastic_normal),
    ] {
        assert!(a > 0.0 && (a - b).abs() < 1e-9 * one.initial, "{a} {b}");
    }
    assert!(other.residual.abs() < 1e-9 * one.initial, "{other:?}");
    for simulation in [&mut whole, &mut parts] {
        simulation.advance(100).unwrap();
        simulation.observe().unwrap();
    }
    let (one, other) = (whole.snapshot(), parts.snapshot());
    assert_eq!(one.id, other.id);
    // Without the half step at the start, grains would be micrometers apart.
    let apart = |a: &[Vec3], b: &[Vec3]| {
        let numbers = a.as_flattened().iter().zip(b.as_flattened());
        numbers.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    assert!(
        apart(&one.position, &other.position) < 1e-10,
        "{}",
        apart(&one.position, &other.position)
    );
    assert!(apart(&one.angular_velocity, &other.angular_velocity) < 1e-3);
}

#[test]
fn the_number_of_domains_changes_no_bit() {
    let (_, world, source) = bed();
    let after = |domains: usize| {
        let mut simulation = Simulation::in_parts(&world, &source, settings(domains, Precision::Mixed)).unwrap();
        simulation.advance(60).unwrap();
        simulation.observe_counts().unwrap();
        assert_eq!((simulation.len(), simulation.steps()), (1000, 60));
        simulation.observe().unwrap();
        simulation.snapshot()
    };
    assert_eq!(after(2), after(3));
}

#[test]
fn what_parts_cannot_be_is_refused_in_words() {
    let (whole, world, source) = bed();
    let refused = |world: &World, settings: Settings| {
        let refusal: WorldError = Simulation::in_parts(world, &source, settings).err().unwrap();
        refusal.to_string()
    };
    let mixed = || settings(2, Precision::Mixed);
    assert!(refused(&whole, mixed()).contains("grains in its table"));
    let loaded = World {
        loads: vec![Load::constant(0, [1e-6, 0.0, 0.0], [0.0; 3])],
        ..world.clone()
    };
    assert!(refused(&loaded, mixed()).contains("loads"));
    assert!(refused(&world, settings(1, Precision::Mixed)).contains("fewer than two domains"));
    let on_cpu = Settings {
        device: DeviceChoice::Cpu,
        precision: None,
        ..mixed()
    };
    assert!(refused(&world, on_cpu).contains("--gpus"));
    let mut unannounced = world.clone();
    unannounced.later.grains[0].highest_id = Some(900);
    let words = refused(&unannounced, mixed());
    assert!(words.contains("grain 9") && words.contains("announces"), "{words}");
}
