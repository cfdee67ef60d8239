//! Where periodic sides are put does not matter to what is measured, and regions side by side share out all that there is.

use super::{Dice, RADIUS, STIFFNESS, lattice, near, world};
use glam::{DMat3, DVec3};
use seixo_analysis::*;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{Domain, LeavingPolicy, Settings, Shear};
use seixo_engine::{ContactRecord, Simulation};

/// Grains along each edge of the cell.
const COUNT: usize = 6;
const EDGE: f64 = 1.97 * RADIUS;
const LENGTH: f64 = COUNT as f64 * EDGE;
const SHEAR: Shear = Shear {
    flow: 0,
    gradient: 2,
    rate: 300.0,
};
/// Stresses of the packing are some hundredths of this \[Pa\].
const PRESSURE: f64 = STIFFNESS / RADIUS;

/// A dense packing in a cell that is closed on all sides, as it is set in motion: apart from the shear, the same whether there is one or not. Its groups
/// are its halves and three grains around a corner.
fn begun(shear: Option<Shear>) -> Simulation {
    let mut dice = Dice(7);
    let centers: Vec<[f64; 3]> = lattice(COUNT, [EDGE; 3])
        .map(|center| center.map(|x| x + 0.02 * RADIUS * dice.roll()))
        .collect();
    let mut world = world(centers);
    world.groups = ["even", "odd", "few"].map(str::to_owned).to_vec();
    for k in 0..world.grains.len() {
        world.grains.group[k] = if [0, 5, 30].contains(&k) { 2 } else { (k % 2) as u32 };
        world.grains.velocity[k] = [0; 3].map(|_: i32| 0.1 * dice.roll());
        world.grains.velocity[k][0] += shear.map_or(0.0, |shear| shear.rate * world.grains.position[k][2]);
    }
    world.domain = Some(Domain {
        periodic: [true; 3],
        shear,
        ..Domain::open([0.0; 3], [LENGTH; 3], LeavingPolicy::Error)
    });
    Simulation::new(world, Settings::default()).unwrap()
}

/// The packing half a millisecond later.
fn packing(shear: Option<Shear>) -> (GrainSnapshot, Vec<ContactRecord>) {
    let mut simulation = begun(shear);
    let steps = (5e-4 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    let contacts = simulation.contacts_now().unwrap();
    (simulation.snapshot(), contacts)
}

/// The packing without shear, and with sides that slid by a good part of the cell.
fn packings() -> [(GrainSnapshot, Vec<ContactRecord>); 2] {
    let packings = [None, Some(SHEAR)].map(packing);
    assert!(packings.iter().all(|(_, contacts)| contacts.len() > 200));
    let slid = packings[1].0.cell.offset[0] / LENGTH;
    assert!((0.05..0.45).contains(&slid), "{slid}");
    packings
}

/// The image of a position in the domain, and the number of domains between them.
fn wrapped(place: DVec3, grains: &GrainSnapshot) -> (DVec3, f64) {
    let above = (place.z / LENGTH).floor();
    let below = place - above * (DVec3::from(grains.cell.offset) + DVec3::Z * LENGTH);
    (DVec3::from([0, 1, 2].map(|axis| below[axis].rem_euclid(LENGTH))), above)
}

/// All grains and contacts moved, and put back into the domain.
fn moved(grains: &GrainSnapshot, contacts: &[ContactRecord], by: DVec3) -> (GrainSnapshot, Vec<ContactRecord>) {
    let mut there = grains.clone();
    for (position, velocity) in there.position.iter_mut().zip(&mut there.velocity) {
        let (place, above) = wrapped(DVec3::from(*position) + by, grains);
        *position = place.to_array();
        *velocity = (DVec3::from(*velocity) - DVec3::from(grains.cell.slide) * above).to_array();
    }
    let record = |contact: &ContactRecord| {
        let from = DVec3::from(contact.center);
        let (center, _) = wrapped(from + by, grains);
        ContactRecord {
            center: center.to_array(),
            point: (DVec3::from(contact.point) + (center - from)).to_array(),
            ..*contact
        }
    };
    (there, contacts.iter().map(record).collect())
}

/// Regions inside the cell, across its sides, as long as it and longer, moved.
fn regions(by: DVec3) -> [Region; 7] {
    let at = |shares: [f64; 3]| by + DVec3::from(shares) * LENGTH;
    let upright = |min, max| Region::Box {
        min: at(min),
        max: at(max),
    };
    [
        upright([0.11, 0.23, 0.31], [0.61, 0.83, 0.71]),
        upright([-0.23, 0.37, 0.73], [0.57, 0.91, 1.41]),
        upright([0.0; 3], [1.0; 3]),
        upright([-0.31, 0.2, 0.9], [2.0, 0.7, 1.3]),
        upright([0.25, -3.1, -4.7], [0.75, 4.0, 5.0]),
        Region::Sphere {
            center: at([0.93, 0.08, 0.96]),
            radius: 0.37 * LENGTH,
        },
        Region::Cylinder {
            from: at([0.2, 0.15, 0.7]),
            to: at([0.5, 0.9, 1.2]),
            radius: 0.21 * LENGTH,
        },
    ]
}

/// Results for a moved packing of all measures that do not depend on absolute position, as numbers about 1.
fn measured(grains: &GrainSnapshot, contacts: &[ContactRecord], by: DVec3) -> Vec<f64> {
    let mut all: Vec<f64> = Vec::new();
    for region in &regions(by) {
        let stress = stress_in(region, grains, contacts, &[]);
        let stresses = [stress.contact, stress.kinetic].map(|stress| components(&(stress * (20.0 / PRESSURE))));
        all.extend(stresses.as_flattened());
        all.push(solid_fraction(region, grains));
        let fabric = fabric(Some(region), &grains.cell, contacts);
        all.extend(components(&fabric.tensor));
        all.push(fabric.contacts as f64);
        let coordination = coordination(Some(region), grains);
        all.extend([coordination.mean, coordination.without_rattlers, coordination.rattlers]);
        all.extend(coordination.shares);
        if let Region::Box { min, max } = *region {
            let mixing = mixing(grains, &[0, 1], [2, 3, 2], Some((min, max)));
            all.extend([mixing.lacey, mixing.entropy, mixing.cells as f64]);
        }
    }
    let origin = by + DVec3::new(0.8, 0.4, 0.7) * LENGTH;
    let grid = Grid::between(origin, origin + DVec3::splat(0.5 * LENGTH), 0.1 * LENGTH);
    let fields = coarse_grain(&grid, 0.12 * LENGTH, grains, contacts, &[]);
    all.extend(fields.solid_fraction);
    all.extend(fields.velocity.as_flattened());
    for stresses in [fields.contact_stress, fields.kinetic_stress] {
        all.extend(stresses.as_flattened().iter().map(|stress| stress * 20.0 / PRESSURE));
    }
    all
}

#[test]
fn where_periodic_sides_are_does_not_matter_to_what_is_measured() {
    let mut dice = Dice(23);
    for (grains, contacts) in packings() {
        let expected = measured(&grains, &contacts, DVec3::ZERO);
        let place = DVec3::from(center_of_group(&grains, 2));
        assert!(place.is_finite(), "{place}");
        for _ in 0..6 {
            let by = DVec3::from([0; 3].map(|_: i32| (2.0 * dice.roll() - 0.5) * LENGTH));
            let (grains, contacts) = moved(&grains, &contacts, by);
            for (number, (found, expected)) in measured(&grains, &contacts, by).into_iter().zip(&expected).enumerate() {
                let is_same = (found - expected).abs() <= 1e-10 || (found.is_nan() && expected.is_nan());
                assert!(is_same, "number {number}, moved by {by}: {found} instead of {expected}");
            }
            let apart = DVec3::from(center_of_group(&grains, 2)) - (place + by);
            let apart = grains.cell.nearest(apart.to_array()).of(apart.to_array());
            near(DVec3::from(apart).length(), 0.0, 1e-12 * LENGTH);
        }
    }
}

/// Boxes that divide the cell into 27 parts, which begin at this share of it.
fn parts(start: f64) -> Vec<Region> {
    let cuts = [0.0, 0.27, 0.61, 1.0].map(|share| (start + share) * LENGTH);
    let part = |k: usize| {
        let corner = |up: usize| DVec3::from([k % 3, k / 3 % 3, k / 9].map(|j| cuts[j + up]));
        Region::Box {
            min: corner(0),
            max: corner(1),
        }
    };
    (0..27).map(part).collect()
}

#[test]
fn parts_of_a_cell_add_up_to_all_of_it() {
    for (grains, contacts) in packings() {
        let virial: DMat3 = contacts
            .iter()
            .map(|contact| outer(contact.force().into(), contact.branch.into()))
            .fold(DMat3::ZERO, |sum, one| sum + one);
        let balls: f64 = grains
            .radius
            .iter()
            .map(|radius| 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3))
            .sum();
        for start in [0.0, 0.43, -2.6] {
            let (mut carried, mut solid, mut touching) = (DMat3::ZERO, 0.0, 0);
            for part in parts(start) {
                carried += stress_in(&part, &grains, &contacts, &[]).contact * part.volume();
                solid += solid_fraction(&part, &grains) * part.volume();
                touching += fabric(Some(&part), &grains.cell, &contacts).contacts;
            }
            let size = virial.to_cols_array().into_iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            for (found, expected) in carried.to_cols_array().into_iter().zip(virial.to_cols_array()) {
                near(found, expected, 1e-12 * size);
            }
            near(solid, balls, 1e-12 * balls);
            assert_eq!(touching, contacts.len());
            let whole = Region::Box {
                min: DVec3::splat(start * LENGTH),
                max: DVec3::splat((start + 1.0) * LENGTH),
            };
            let of_whole = stress_in(&whole, &grains, &contacts, &[]).contact * whole.volume();
            near(of_whole.z_axis.x, virial.z_axis.x, 1e-12 * size);
        }
    }
    // On a grid that fills the cell nothing is lost, be its points near a side or not.
    let (grains, contacts) = packing(None);
    let spacing = LENGTH / 12.0;
    let grid = Grid::between(DVec3::splat(0.3 * LENGTH), DVec3::splat(1.3 * LENGTH), spacing);
    assert_eq!(grid.points, [12; 3]);
    let fields = coarse_grain(&grid, 1.5 * spacing, &grains, &contacts, &[]);
    let mass: f64 = grains.mass.iter().sum();
    near(fields.density.iter().sum::<f64>() * grid.cell() / mass, 1.0, 1e-12);
    let virial: f64 = contacts.iter().map(|contact| contact.force()[2] * contact.branch[2]).sum();
    near(
        fields.contact_stress.iter().map(|rows| rows[8]).sum::<f64>() * grid.cell() / virial,
        1.0,
        1e-12,
    );
}

#[test]
fn the_flow_of_a_sheared_cell_is_no_kinetic_stress() {
    let [still, sheared] = [None, Some(SHEAR)].map(|shear| begun(shear).snapshot());
    // The flow of 300/s is much faster than grains are apart from it: it changes no number by more than rounding.
    let fastest = |grains: &GrainSnapshot| grains.velocity.iter().map(|v| v[0].abs()).fold(0.0, f64::max);
    assert!(
        fastest(&sheared) > 3.0 * fastest(&still),
        "{} {}",
        fastest(&sheared),
        fastest(&still)
    );
    for by in [DVec3::ZERO, DVec3::new(0.1, 0.3, 0.6) * LENGTH] {
        for region in regions(by) {
            let [expected, found] = [&still, &sheared].map(|grains| stress_in(&region, grains, &[], &[]).kinetic);
            let apart = components(&(found - expected))
                .into_iter()
                .fold(0.0, |most: f64, x| most.max(x.abs()));
            assert!(apart < 1e-10 * pressure(&expected), "{region:?}: {found} instead of {expected}");
        }
        let grid = Grid::between(by, by + DVec3::splat(0.5 * LENGTH), 0.1 * LENGTH);
        let [expected, found] = [&still, &sheared].map(|grains| coarse_grain(&grid, 0.2 * LENGTH, grains, &[], &[]));
        for (number, (found, expected)) in found.temperature.iter().zip(&expected.temperature).enumerate() {
            assert!(
                (found - expected).abs() < 1e-10 * expected,
                "point {number}: {found} instead of {expected}"
            );
        }
        // The flow itself is in the field of velocities.
        let [faster, slower] = [grid.len() - 1, 0].map(|point| found.velocity[point][0] - expected.velocity[point][0]);
        assert!((faster - slower) / (SHEAR.rate * 0.4 * LENGTH) > 0.8, "{faster} {slower}");
    }
}
