//! Contact records recomputed from contact histories equal the contacts that moved the grains, on the CPU and on a GPU (software Vulkan suffices).

use crate::beds;
use crate::vectors::{cross, dot, length};
use seixo_engine::world::{DeviceChoice, Precision, Settings};
use seixo_engine::{ContactRecord, Partner, Simulation};
use seixo_laws::contact::TangentialLaw;

/// Largest difference between each grain's force and the sum of its contact forces, relative to the largest force; the same for torques.
fn unexplained(simulation: &mut Simulation, contacts: &[ContactRecord]) -> [f64; 2] {
    let grains = simulation.snapshot();
    let (mut force, mut torque) = (grains.force.clone(), grains.torque.clone());
    let mut take = |id: u32, on_it: [f64; 3], point: [f64; 3]| {
        let i = grains.id.binary_search(&id).unwrap();
        let arm = [0, 1, 2].map(|k| point[k] - grains.position[i][k]);
        let turn = cross(arm, on_it);
        for k in 0..3 {
            force[i][k] -= on_it[k];
            torque[i][k] -= turn[k];
        }
    };
    for contact in contacts {
        take(contact.a, contact.force(), contact.point);
        if let Partner::Grain(id) = contact.b {
            take(id, contact.force().map(|x| -x), contact.point);
        }
    }
    let largest = |field: &[[f64; 3]]| field.iter().copied().map(length).fold(0.0, f64::max);
    let turning = largest(&grains.torque);
    // Smooth grains have no torque, and their sums contain only rounding.
    let torque = if turning > 0.0 { largest(&torque) / turning } else { 0.0 };
    [largest(&force) / largest(&grains.force), torque]
}

#[test]
fn single_contacts_add_up_to_the_forces_and_torques_of_grains_and_walls() {
    // In f64 the results differ by rounding only, which does not change whether a contact sticks or slides. In mixed precision, forces have seven
    // digits. A contact very near to Coulomb's limit may then change from sticking to sliding and lose the increment of half a step. Single-precision
    // coordinates lose two more digits for small overlaps.
    let devices = [
        (DeviceChoice::Cpu, Precision::F64, 1e-12),
        (DeviceChoice::Gpu(None), Precision::F64, 1e-12),
        (DeviceChoice::Gpu(None), Precision::Mixed, 2e-6),
        (DeviceChoice::Gpu(None), Precision::F32, 1e-4),
    ];
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::Linear, TangentialLaw::None] {
        let mut world = beds::falling(1000, tangential);
        world.interactions[0].as_mut().unwrap().tangential_stiffness = (tangential == TangentialLaw::Linear).then_some(1e3);
        for (device, precision, bar) in devices {
            let settings = Settings {
                device,
                precision: Some(precision),
                ..Settings::default()
            };
            let mut simulation = Simulation::new(world.clone(), settings).unwrap();
            simulation.advance(1500).unwrap();
            let contacts = simulation.contacts_now().unwrap();
            let count = simulation.contacts();
            // Coordinates in single precision may find a grazing contact that does not exist in double precision.
            assert!(count > 300 && count.abs_diff(contacts.len() as u64) <= if precision == Precision::F32 { 3 } else { 0 });
            let [force, torque] = unexplained(&mut simulation, &contacts);
            println!("{tangential:?} {precision:?}: force {force:.1e}, torque {torque:.1e}");
            assert!(force < bar && torque < bar, "{tangential:?} {precision:?}: {force:e} {torque:e}");

            let mut on_walls = vec![[0.0; 3]; simulation.walls().len()];
            let (mut sliding, mut sticking) = (0, 0);
            for contact in &contacts {
                assert!((length(contact.normal) - 1.0).abs() < 1e-6);
                assert!(dot(contact.normal, contact.tangential_force).abs() <= 1e-5 * (length(contact.force()) + 1e-12));
                assert!(contact.overlap > 0.0 && dot(contact.normal_force, contact.normal) >= 0.0);
                match contact.b {
                    Partner::Wall(wall) => (0..3).for_each(|k| on_walls[wall as usize][k] -= contact.force()[k]),
                    Partner::Grain(id) => assert!(contact.a < id),
                }
                let share = length(contact.tangential_force) / (0.5 * length(contact.normal_force));
                assert!(share.is_nan() || share <= 1.0 + 1e-5, "Coulomb's law: {share}");
                match share {
                    share if share > 0.999 => sliding += 1,
                    share if share > 1e-4 => sticking += 1,
                    _ => {}
                }
            }
            let is_rough = tangential != TangentialLaw::None;
            assert_eq!((sliding > 20, sticking > 20), (is_rough, is_rough), "{sliding} {sticking}");
            for (wall, sum) in simulation.walls().iter().zip(on_walls) {
                let missing = [0, 1, 2].map(|k| wall.force[k] - sum[k]);
                assert!(length(missing) <= 1e-12 * length(wall.force), "{}", wall.name);
            }
        }
    }
}

#[test]
fn two_grains_that_press_each_other_give_the_third_law_and_the_geometry_of_their_contact() {
    let mut world = beds::falling(2, TangentialLaw::None);
    (world.gravity, world.walls) = ([0.0; 3], Vec::new());
    world.grains.position = vec![[0.0; 3], [9e-4, 0.0, 0.0]];
    world.grains.velocity = vec![[0.0; 3]; 2];
    (world.grains.id, world.grains.radius) = (vec![7, 3], vec![6e-4, 4e-4]);
    let mut simulation = Simulation::new(world, Settings::default()).unwrap();
    let contacts = simulation.contacts_now().unwrap();
    let [contact] = &contacts[..] else { panic!("{contacts:?}") };
    assert_eq!((contact.a, contact.b), (3, Partner::Grain(7)));
    assert!((contact.overlap - 1e-4).abs() < 1e-15 && (contact.branch[0] - 9e-4).abs() < 1e-15 && contact.normal[0] > 0.999_999);
    // The contact point is between the surfaces, at 6e-4 and 5e-4.
    assert!((contact.point[0] - 5.5e-4).abs() < 1e-15, "{:?}", contact.point);
    // Hertz: F = 4/3 E* √R* δ^{3/2}, E* = E / (2 (1 − ν²)).
    let expected = 4.0 / 3.0 * (1e7 / (2.0 * 0.91)) * 2.4e-4f64.sqrt() * 1e-4f64.powf(1.5);
    assert!((contact.normal_force[0] / expected - 1.0).abs() < 1e-12);
}
