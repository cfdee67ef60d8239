//! Arrays where the engine keeps them show what snapshots copy.

use crate::beds;
use crate::devices::{after, on_cpu, on_gpu};
use seixo_engine::Simulation;
use seixo_engine::state::{ArrayMemory, ArraysError, NumberType, ParticleArray};
use seixo_engine::world::{Precision, Settings};
use seixo_laws::contact::TangentialLaw;

fn named<'a, 'b>(arrays: &'a [ParticleArray<'b>], name: &str) -> &'a ParticleArray<'b> {
    arrays
        .iter()
        .find(|array| array.name == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// The numbers of particle i.
fn numbers(array: &ParticleArray, i: usize) -> Vec<f64> {
    let from = array.first + i * array.stride;
    match array.memory {
        ArrayMemory::U32(integers) => integers[from..from + array.width].iter().map(|&k| f64::from(k)).collect(),
        ArrayMemory::F64(numbers) => numbers[from..from + array.width].to_vec(),
        ArrayMemory::Cuda(..) => panic!("on a GPU"),
    }
}

#[test]
fn arrays_on_the_cpu_are_snapshots_in_the_order_of_cells() {
    let simulation = after(&beds::falling(500, TangentialLaw::Mindlin), on_cpu(), 1500);
    let (arrays, snapshot) = (simulation.arrays().unwrap(), simulation.snapshot());
    assert!(arrays.fluid.is_none());
    let of = |name| named(&arrays.grains, name);
    assert!(arrays.grains.iter().all(|array| array.is_present && array.len == 500));
    let mut touching = 0;
    let mut is_ordered = true;
    for i in 0..snapshot.id.len() {
        let id = numbers(of("id"), i)[0] as u32;
        is_ordered &= id as usize == i;
        let k = snapshot.id.binary_search(&id).unwrap();
        assert_eq!(numbers(of("position"), i), snapshot.position[k]);
        assert_eq!(numbers(of("radius"), i), [snapshot.radius[k]]);
        assert_eq!(numbers(of("mass"), i), [snapshot.mass[k]]);
        assert_eq!(numbers(of("force"), i), snapshot.force[k]);
        assert_eq!(numbers(of("torque"), i), snapshot.torque[k]);
        assert_eq!(numbers(of("coordination"), i), [f64::from(snapshot.coordination[k])]);
        touching += usize::from(snapshot.coordination[k] > 0);
        if snapshot.coordination[k] == 0 {
            // Without contacts the force is that of the weight, which does not change.
            for axis in 0..3 {
                let apart = numbers(of("velocity"), i)[axis] - snapshot.velocity[k][axis];
                assert!(apart.abs() < 1e-2, "{apart}");
            }
        }
    }
    assert!(touching > 50, "{touching}");
    assert!(!is_ordered, "arrays are sorted by cells, otherwise this test shows nothing");
}

#[test]
fn addresses_are_those_of_the_memory() {
    let simulation = Simulation::new(beds::falling(100, TangentialLaw::None), on_cpu()).unwrap();
    let [first, again] = [simulation.arrays().unwrap(), simulation.arrays().unwrap()];
    for (array, same) in first.grains.iter().zip(&again.grains) {
        assert_eq!(array.address(), same.address(), "{}", array.name);
    }
    let [position, radius] = ["position", "radius"].map(|name| named(&first.grains, name));
    let ArrayMemory::F64(memory) = position.memory else {
        panic!("doubles")
    };
    assert_eq!(position.address(), memory.as_ptr() as u64);
    assert_eq!(radius.address(), position.address() + 3 * NumberType::F64.bytes() as u64);
    assert!(first.grains.iter().all(|array| array.name != "torque"), "there is no friction");
}

#[test]
fn a_gpu_shows_addresses_through_cuda_only() {
    let world = beds::falling(100, TangentialLaw::Mindlin);
    let mut simulation = Simulation::new(world, on_gpu(Precision::F32)).unwrap();
    simulation.advance(10).unwrap();
    match simulation.arrays() {
        Ok(arrays) => {
            let [position, force] = ["position", "force"].map(|name| named(&arrays.grains, name));
            assert!(matches!(position.memory, ArrayMemory::Cuda(..)) && position.address() != 0);
            assert_eq!((position.len, position.number_type()), (100, NumberType::F32));
            assert!(position.is_present && !force.is_present, "the forces are those before the motion");
        }
        Err(error) => {
            assert!(matches!(error, ArraysError::NoAddresses { .. }), "{error}");
            assert!(error.to_string().contains("snapshot"), "{error}");
        }
    }
    simulation.observe().unwrap();
    if let Ok(arrays) = simulation.arrays() {
        assert!(named(&arrays.grains, "force").is_present);
    }
    let mixed = Simulation::new(beds::falling(100, TangentialLaw::Mindlin), on_gpu(Precision::Mixed)).unwrap();
    if let Ok(arrays) = mixed.arrays() {
        for name in ["half_step_velocity", "half_step_angular_velocity"] {
            assert_eq!(named(&arrays.grains, name).number_type(), NumberType::F64);
        }
    }
}

#[test]
fn domains_have_no_common_arrays() {
    let settings = Settings { domains: 2, ..on_cpu() };
    let simulation = Simulation::new(beds::falling(500, TangentialLaw::Mindlin), settings).unwrap();
    assert_eq!(simulation.arrays().err(), Some(ArraysError::Decomposed { domains: 2 }));
}

#[test]
fn simulations_go_to_other_threads() {
    fn sent<T: Send>() {}
    sent::<Simulation>();
}
