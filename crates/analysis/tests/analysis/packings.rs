//! What is known of packings without computing them: lattices, a bed at rest, labels drawn at random.

mod periodic;

use glam::{DMat3, DVec3};
use seixo_analysis::*;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{Grains, Interaction, Material, Settings, Wall, WallMotion, WallShape, World};
use seixo_engine::{ContactRecord, Partner, PeriodicCell, Simulation};
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use std::sync::OnceLock;

const STIFFNESS: f64 = 300.0;
const RADIUS: f64 = 1e-3;

/// Smooth grains with linear springs.
fn world(centers: impl IntoIterator<Item = [f64; 3]>) -> World {
    let mut grains = Grains::default();
    for (id, center) in centers.into_iter().enumerate() {
        grains.push(id as u32, center, [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    }
    World {
        materials: vec![Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(Interaction {
            normal: NormalLaw::Linear,
            tangential: TangentialLaw::None,
            restitution: 0.5,
            friction: 0.0,
            stiffness: Some(STIFFNESS),
            tangential_stiffness: None,
            ..Interaction::default()
        })],
        groups: vec!["bed".into()],
        grains,
        ..World::default()
    }
}

fn looked_at(world: World) -> (GrainSnapshot, Vec<ContactRecord>) {
    let mut simulation = Simulation::new(world, Settings::default()).unwrap();
    let contacts = simulation.contacts_now().unwrap();
    (simulation.snapshot(), contacts)
}

/// Sites of a lattice with these edges \[m\].
fn lattice(count: usize, edges: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
    (0..count.pow(3))
        .map(move |k| [k % count, k / count % count, k / count / count].map(|k| k as f64))
        .map(move |k| [0, 1, 2].map(|axis| k[axis] * edges[axis]))
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

/// Numbers in 0..1 without pattern.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn a_compressed_lattice_has_the_stress_of_its_springs() {
    // Overlaps of 2, 1 and 4 % of the radius: k δ per face of the cell, on each axis.
    let overlaps = [0.02 * RADIUS, 0.01 * RADIUS, 0.04 * RADIUS];
    let edges = overlaps.map(|overlap| 2.0 * RADIUS - overlap);
    let volume: f64 = edges.iter().product();
    let expected = [0, 1, 2].map(|axis| STIFFNESS * overlaps[axis] * edges[axis] / volume);
    let (grains, contacts) = looked_at(world(lattice(14, edges)));
    // A box of whole cells, wherever it begins.
    for offset in [[0.1, 0.2, 0.3], [0.5, 0.77, 0.99]] {
        let [min, max] = [4.0, 7.0].map(|cells| DVec3::from([0, 1, 2].map(|axis| (offset[axis] + cells) * edges[axis])));
        let region = Region::Box { min, max };
        let stress = stress_in(&region, &grains, &contacts, &[]);
        let [xx, yy, zz, xy, xz, yz] = components(&stress.contact);
        for (found, expected) in [xx, yy, zz].into_iter().zip(expected) {
            near(found, expected, 1e-9 * expected);
        }
        assert!([xy, xz, yz].iter().all(|shear| shear.abs() < 1e-9 * expected[0]));
        near(pressure(&stress.contact), expected.iter().sum::<f64>() / 3.0, 1e-9 * expected[2]);
        // One grain a cell; the little that overlaps counts twice.
        near(
            solid_fraction(&region, &grains),
            4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) / volume,
            1e-12,
        );
    }
    // The stress of a grain inside, over the volume of its cell instead of its own.
    let middle = 7 * 14 * 14 + 7 * 14 + 7;
    let of_grain = stress_of_grains(&grains, &contacts, &[])[middle] * (4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) / volume);
    near(components(&of_grain)[2], expected[2], 1e-9 * expected[2]);
    near(
        pressure_of_grains(&grains, &contacts, &[])[middle],
        pressure(&stress_of_grains(&grains, &contacts, &[])[middle]),
        0.0,
    );

    // With a kernel three cells wide nothing of the lattice is left: the coarse-grained stress is that of the continuum.
    let center = DVec3::from(edges) * 6.5;
    let grid = Grid::between(center - DVec3::splat(RADIUS), center + DVec3::splat(RADIUS), 0.5 * RADIUS);
    let coarse = coarse_grain(&grid, 3.0 * RADIUS, &grains, &contacts, &[]);
    for point in 0..grid.len() {
        for (axis, expected) in expected.into_iter().enumerate() {
            near(coarse.contact_stress[point][4 * axis], expected, 2e-3 * expected);
        }
        near(coarse.density[point], grains.mass[0] / volume, 2e-3 * grains.mass[0] / volume);
    }

    let inside = Region::Box {
        min: DVec3::from(edges) * 2.5,
        max: DVec3::from(edges) * 10.5,
    };
    let count = coordination(Some(&inside), &grains);
    assert_eq!(
        (count.mean, count.without_rattlers, count.rattlers, count.shares[6]),
        (6.0, 6.0, 0.0, 1.0)
    );
    let fabric = fabric(None, &PeriodicCell::open(), &contacts);
    near(fabric.anisotropy(), 0.0, 1e-12);
    near(fabric.tensor.x_axis.x, 1.0 / 3.0, 1e-12);
    assert_eq!(fabric.contacts, 3 * 13 * 14 * 14);
}

#[test]
fn grains_that_fly_have_the_stress_of_a_gas() {
    let (mut grains, _) = looked_at(world(lattice(12, [2.5e-3; 3])));
    // Half of them fly 0.3 m/s faster along x than the mean of 5 m/s, half slower.
    for (i, velocity) in grains.velocity.iter_mut().enumerate() {
        let sign = if (i % 12 + i / 12 % 12 + i / 144) % 2 == 0 { 1.0 } else { -1.0 };
        *velocity = [5.0 + 0.3 * sign, -1.0, 0.0];
    }
    let density = grains.mass[0] / 2.5e-3f64.powi(3);
    let region = Region::Box {
        min: DVec3::splat(2.5e-3 * 3.5),
        max: DVec3::splat(2.5e-3 * 9.5),
    };
    let stress = stress_in(&region, &grains, &[], &[]);
    near(stress.kinetic.x_axis.x, density * 0.09, 1e-9 * density);
    near(pressure(&stress.kinetic), density * 0.03, 1e-9 * density);
    assert_eq!(stress.contact, DMat3::ZERO);
    let middle = DVec3::splat(2.5e-3 * 5.6);
    let grid = Grid::between(middle, middle + DVec3::splat(1e-3), 1e-3);
    let coarse = coarse_grain(&grid, 4e-3, &grains, &[], &[]);
    near(coarse.velocity[0][0], 5.0, 1e-3);
    near(coarse.velocity[0][1], -1.0, 1e-12);
    near(coarse.temperature[0], 0.03, 1e-4);
}

/// A bed that settled in a smooth box, and the weight of its grains \[N\].
fn bed() -> &'static (GrainSnapshot, Vec<ContactRecord>, f64) {
    static BED: OnceLock<(GrainSnapshot, Vec<ContactRecord>, f64)> = OnceLock::new();
    BED.get_or_init(settled)
}

fn settled() -> (GrainSnapshot, Vec<ContactRecord>, f64) {
    let mut dice = Dice(3);
    let centers = (0..300).map(|k| {
        [k % 4, k / 4 % 4, k / 16]
            .map(|k| 1.1e-3 + 2.05e-3 * f64::from(k))
            .map(|x| x + 4e-5 * dice.roll())
    });
    let mut world = world(centers.collect::<Vec<_>>());
    let side = 8.6e-3;
    let planes = [
        ([0.0; 3], [1.0, 0.0, 0.0]),
        ([side, 0.0, 0.0], [-1.0, 0.0, 0.0]),
        ([0.0; 3], [0.0, 1.0, 0.0]),
        ([0.0, side, 0.0], [0.0, -1.0, 0.0]),
        ([0.0; 3], [0.0, 0.0, 1.0]),
    ];
    world.walls.extend(planes.map(|(point, normal)| Wall {
        name: "box".into(),
        material: 0,
        shape: WallShape::Plane { point, normal },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    }));
    (world.gravity, world.local_damping) = ([0.0, 0.0, -9.81], 0.8);
    let mut simulation = Simulation::new(world, Settings::default()).unwrap();
    let steps = (1.2 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    let contacts = simulation.contacts_now().unwrap();
    let grains = simulation.snapshot();
    let weight = 9.81 * grains.mass.iter().sum::<f64>();
    // At rest: what pulls a grain besides its weight and its contacts, all grains together, is a thousandth of the weight of the bed.
    let restless = (0..300).map(|i| (grains.force[i][2] - 9.81 * grains.mass[i]).abs()).sum::<f64>() / weight;
    println!("restless {restless:e}");
    assert!(restless < 1e-3, "{restless}");
    (grains, contacts, weight)
}

#[test]
fn a_bed_at_rest_carries_at_every_height_what_lies_above() {
    let (grains, contacts, weight) = bed();
    let width = 1.5e-3;
    let margin = DVec3::splat(2.0 * width + 1.5 * RADIUS);
    let top = grains.position.iter().fold(0.0, |top: f64, center| top.max(center[2]));
    let (low, high) = (-margin, DVec3::new(8.6e-3, 8.6e-3, top) + margin);
    let grid = Grid::between(low, high, 0.25e-3);
    let coarse = coarse_grain(&grid, width, grains, contacts, &[]);
    let (area, cell) = (grid.spacing.powi(2), grid.cell());

    // What the grid holds is all there is.
    near(coarse.density.iter().sum::<f64>() * cell * 9.81 / weight, 1.0, 1e-12);
    let virial: f64 = contacts.iter().map(|contact| contact.force()[2] * contact.branch[2]).sum();
    near(
        coarse.contact_stress.iter().map(|rows| rows[8]).sum::<f64>() * cell / virial,
        1.0,
        1e-12,
    );

    // The smooth walls carry nothing upward: σ_zz over a level is the weight above it, and its slope the weight of the level.
    let layer = grid.points[0] * grid.points[1];
    let sum = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() * area;
    let carried: Vec<f64> = coarse
        .contact_stress
        .chunks(layer)
        .map(|level| sum(&mut level.iter().map(|rows| rows[8])))
        .collect();
    let heavy: Vec<f64> = coarse
        .density
        .chunks(layer)
        .map(|level| 9.81 * sum(&mut level.iter().copied()))
        .collect();
    let steepest = heavy.iter().copied().fold(0.0, f64::max);
    let (mut levels, mut worst) = (0, [0.0f64; 2]);
    for level in 1..grid.points[2] - 1 {
        // Where the kernel reaches below the floor, the floor's own forces come in.
        if grid.origin.z + grid.spacing * level as f64 <= 2.0 * width {
            continue;
        }
        let above = grid.spacing * (heavy[level + 1..].iter().sum::<f64>() + 0.5 * heavy[level]);
        worst[0] = worst[0].max((carried[level] - above).abs() / weight);
        near(carried[level], above, 0.01 * weight);
        // Differences over two spacings miss what the kernel bends within them, (2 h / c)² of it or so.
        let slope = (carried[level - 1] - carried[level + 1]) / (2.0 * grid.spacing);
        worst[1] = worst[1].max((slope - heavy[level]).abs() / steepest);
        near(slope, heavy[level], 0.03 * steepest);
        levels += 1;
    }
    println!("{levels} levels, carried {:.1e}, slope {:.1e}", worst[0], worst[1]);
    assert!(levels > 80);

    // The same without a grid: over a slab, the mean of the weight above.
    for [bottom, top] in [[2e-3, 5e-3], [7.3e-3, 7.9e-3], [1e-2, 3e-2]] {
        let region = Region::Box {
            min: DVec3::new(-1.0, -1.0, bottom),
            max: DVec3::new(1.0, 1.0, top),
        };
        let share = |center: &[f64; 3]| ((center[2] - bottom) / (top - bottom)).clamp(0.0, 1.0);
        let expected: f64 = (0..300).map(|i| 9.81 * grains.mass[i] * share(&grains.position[i])).sum();
        let found = stress_in(&region, grains, contacts, &[]).contact.z_axis.z * 4.0;
        near(found, expected, 0.01 * weight);
    }
    let loose = coordination(None, grains);
    assert!(loose.mean > 4.0 && loose.without_rattlers >= loose.mean && (loose.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn at_every_point_inside_a_bed_the_divergence_of_stress_is_the_weight() {
    let (grains, contacts, _) = bed();
    let width = 2e-3;
    let [low, high] = [DVec3::new(4e-3, 4e-3, 6e-3), DVec3::new(4.6e-3, 4.6e-3, 2.4e-2)];
    let grid = Grid::between(low, high, 0.2e-3);
    let coarse = coarse_grain(&grid, width, grains, contacts, &[]);
    let strides = [1, grid.points[0], grid.points[0] * grid.points[1]];
    for z in 1..grid.points[2] - 1 {
        let point = z * strides[2] + strides[1] + 1;
        for row in 0..3 {
            let slope = |axis: usize| {
                let at = |point: usize| coarse.contact_stress[point][3 * row + axis];
                (at(point + strides[axis]) - at(point - strides[axis])) / (2.0 * grid.spacing)
            };
            let gravity = if row == 2 { -9.81 } else { 0.0 };
            // The walls are two widths away: nothing but gravity pulls.
            near(
                (0..3).map(slope).sum::<f64>(),
                coarse.density[point] * gravity,
                0.02 * 9.81 * coarse.density[point],
            );
        }
    }
}

fn labelled(group: impl Fn([usize; 3]) -> u32) -> GrainSnapshot {
    let mut grains = GrainSnapshot::default();
    for k in 0..1000 {
        let place = [k % 10, k / 10 % 10, k / 100];
        grains.id.push(k as u32);
        grains.position.push(place.map(|x| x as f64 + 0.5));
        grains.group.push(group(place));
    }
    grains
}

#[test]
fn mixing_is_none_when_segregated_and_whole_when_random() {
    let bounds = Some((DVec3::ZERO, DVec3::splat(10.0)));
    let halves = mixing(&labelled(|place| u32::from(place[2] >= 5)), &[0, 1], [5, 5, 4], bounds);
    near(halves.lacey, 0.0, 1e-14);
    assert_eq!(halves.entropy, 0.0);
    let even = mixing(&labelled(|place| (place[0] % 2) as u32), &[0, 1], [5, 5, 5], None);
    assert!(
        even.lacey > 1.0 && (even.entropy - 1.0).abs() < 1e-12,
        "more even than chance: {even:?}"
    );
    // Labels drawn at random, a quarter of them 1: on the average 1. One draw scatters by √(2/K) K/N, here 1 %.
    let mut dice = Dice(11);
    let draws = 60;
    let mut total = [0.0; 2];
    for _ in 0..draws {
        let labels: Vec<u32> = (0..1000).map(|_| u32::from(dice.roll() < 0.25)).collect();
        let grains = labelled(|[x, y, z]| labels[x + 10 * y + 100 * z]);
        total[0] += mixing(&grains, &[0, 1], [4, 4, 4], bounds).lacey;
        total[1] += mixing(&grains, &[1, 0], [4, 4, 4], bounds).lacey;
    }
    near(total[0] / f64::from(draws), 1.0, 0.005);
    near(total[0], total[1], 1e-9);
    // Other groups do not count; one group alone is no mixture.
    let three = labelled(|place| (place[2] % 3) as u32);
    let [two, one] = [&[0u32, 1][..], &[2]].map(|groups| mixing(&three, groups, [1, 1, 1], bounds));
    assert!(two.cells == 1 && one.lacey.is_nan() && one.entropy.is_nan());
}

#[test]
fn fabric_finds_the_anisotropy_that_contacts_were_drawn_with() {
    // E(n) = (1 + n·A n) / 4π with A = diag(−0.3, −0.3, 0.6): a = √(3/2 A:A) = 0.9.
    let mut dice = Dice(5);
    let mut contacts = Vec::new();
    while contacts.len() < 100_000 {
        let (height, angle) = (2.0 * dice.roll() - 1.0, std::f64::consts::TAU * dice.roll());
        let aside = (1.0 - height * height).sqrt();
        let normal = [aside * angle.cos(), aside * angle.sin(), height];
        if 1.6 * dice.roll() < 1.0 - 0.3 * aside * aside + 0.6 * height * height {
            contacts.push(contact(0, 1, normal, 1.0));
        }
    }
    near(fabric(None, &PeriodicCell::open(), &contacts).anisotropy(), 0.9, 0.03);
    let upright = fabric(None, &PeriodicCell::open(), &[contact(0, 1, [0.0, 0.0, 1.0], 1.0)]);
    assert_eq!((upright.tensor.z_axis.z, upright.tensor.x_axis.x), (1.0, 0.0));
}

/// A contact of two unit balls whose centers differ by twice the normal; a is at `b` + normal.
fn contact(a: u32, b: u32, normal: [f64; 3], force: f64) -> ContactRecord {
    ContactRecord {
        a,
        b: Partner::Grain(b),
        center: normal,
        point: [0.0; 3],
        branch: normal.map(|x| 2.0 * x),
        normal,
        overlap: 0.0,
        normal_force: normal.map(|x| force * x),
        tangential_force: [0.0; 3],
    }
}

#[test]
fn a_loaded_column_is_a_chain_and_what_leans_on_it_is_not() {
    // Three columns of five; the middle one carries, all lean on each other a little, two loaded grains stand alone.
    let mut grains = GrainSnapshot {
        id: (0..17).collect(),
        radius: vec![1.0; 17],
        ..GrainSnapshot::default()
    };
    let mut contacts = Vec::new();
    for column in 0..3u32 {
        for height in 0..5u32 {
            let id = 5 * column + height;
            grains.position.push([2.0 * f64::from(column), 0.0, 2.0 * f64::from(height)]);
            if height > 0 {
                contacts.push(contact(id - 1, id, [0.0, 0.0, -1.0], if column == 1 { 10.0 } else { 0.5 }));
            }
            if column > 0 {
                contacts.push(contact(id - 5, id, [-1.0, 0.0, 0.0], 0.5));
            }
        }
    }
    grains.position.extend([[50.0, 0.0, 0.0], [50.0, 0.0, 2.0]]);
    contacts.push(contact(15, 16, [0.0, 0.0, -1.0], 40.0));
    let chains = force_chains(&grains, &contacts, &[]);
    assert_eq!(chains.lengths, [5]);
    for (contact, &is_link) in contacts.iter().zip(&chains.is_link) {
        let Partner::Grain(b) = contact.b else {
            unreachable!("no walls here")
        };
        assert_eq!(is_link, (5..10).contains(&contact.a) && (5..10).contains(&b), "{} {b}", contact.a);
    }
}
