//! Forces by a list of contacts on a CPU, with or without a sort of their ends, equal those of the neighbor list, and so do all results.

use crate::beds::falling;
use crate::resumed::assert_same_when_resumed;
use seixo_engine::state::Ledger;
use seixo_engine::world::{ForceAssembly, Settings, World};
use seixo_engine::{Simulation, WorldError};
use seixo_laws::contact::TangentialLaw;
use seixo_laws::motion::Scheme;

const LISTS: [ForceAssembly; 2] = [ForceAssembly::ContactList, ForceAssembly::SortedContacts];

/// Radius of most grains \[m\].
const RADIUS: f64 = 5e-4;

fn settings(assembly: ForceAssembly) -> Settings {
    Settings {
        assembly,
        threads: 2,
        ..Settings::default()
    }
}

fn after(world: &World, assembly: ForceAssembly, steps: u64) -> Simulation {
    let mut simulation = Simulation::new(world.clone(), settings(assembly)).unwrap();
    simulation.advance(steps).unwrap();
    simulation
}

#[test]
fn a_list_of_contacts_gives_the_same_forces() {
    for tangential in [TangentialLaw::None, TangentialLaw::Linear, TangentialLaw::Mindlin] {
        let mut world = falling(1500, tangential);
        if tangential == TangentialLaw::Linear {
            world.interactions[0].as_mut().unwrap().tangential_stiffness = Some(1e3);
        }
        // Grains have fallen onto each other, and contacts ended.
        let fused = after(&world, ForceAssembly::Fused, 1500);
        for assembly in LISTS {
            let listed = after(&world, assembly, 1500);
            assert!(
                fused.contacts() > 400 && fused.contacts() == listed.contacts(),
                "{tangential:?} {assembly:?}: {}",
                fused.contacts()
            );
            // Sums have another order, and differences of rounding grow as grains collide.
            let [a, b] = [&fused, &listed].map(|simulation| simulation.snapshot().position);
            let apart = a.as_flattened().iter().zip(b.as_flattened());
            let apart = apart.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
            assert!(apart < 1e-9 * RADIUS, "{tangential:?} {assembly:?}: {apart:e} m");
            let (a, b) = (fused.ledger(), listed.ledger());
            for ((a, b), name) in a.values().iter().zip(b.values()).zip(Ledger::NAMES) {
                assert!(
                    (a - b).abs() < 1e-9 * fused.ledger().initial.abs(),
                    "{tangential:?} {assembly:?}: {name}: {a} {b}"
                );
            }
        }
    }
}

#[test]
fn a_run_by_a_list_of_contacts_is_resumed_to_the_bit() {
    let world = falling(300, TangentialLaw::Mindlin);
    for assembly in LISTS {
        assert_same_when_resumed(&world, &settings(assembly), [800, 400]);
    }
}

#[test]
fn what_a_list_of_contacts_does_not_serve_is_refused() {
    let world = falling(20, TangentialLaw::Mindlin);
    let refused = |settings: Settings| Simulation::new(world.clone(), settings).err().unwrap();
    for assembly in LISTS {
        let of_domains = refused(Settings {
            domains: 2,
            ..settings(assembly)
        });
        assert!(matches!(of_domains, WorldError::AssemblyElsewhere { .. }), "{of_domains}");
        let of_gear = refused(Settings {
            scheme: Scheme::Gear,
            ..settings(assembly)
        });
        // The message names the feature that is there, and no other.
        for (refusal, what) in [(of_domains, "several domains"), (of_gear, "Gear's methods")] {
            let message = format!(
                "{} does not assemble forces with {what}; write run.assembly = \"fused\"",
                assembly.name()
            );
            assert_eq!(refusal.to_string(), message);
        }
    }
}
