//! Fields on a plane whose values are known: a lattice, and a column under its weight.

use glam::DVec3;
use seixo_analysis::{CoarseFields, Grid, Scalar, coarse_grain};
use seixo_engine::Simulation;
use seixo_engine::world::{Grains, Interaction, Material, Settings, Wall, WallMotion, WallShape, World};
use seixo_laws::contact::{NormalLaw, TangentialLaw};
use std::f64::consts::PI;

const RADIUS: f64 = 1e-3;
const EDGE: f64 = 2.0 * RADIUS;
const DENSITY: f64 = 2500.0;
const GRAVITY: f64 = 9.81;
/// Grains along x and y, and along z.
const COUNT: [usize; 3] = [8, 8, 12];
/// Width of the kernel \[m\]: on a simple cubic lattice of this edge it leaves ripples of 2·10⁻³ of the mean.
const WIDTH: f64 = 1.5 * EDGE;

/// A simple cubic lattice of smooth grains that touch, in a box, settled under its weight.
fn column() -> Simulation {
    let mut grains = Grains::default();
    for k in 0..COUNT.iter().product::<usize>() {
        let site = [k % COUNT[0], k / COUNT[0] % COUNT[1], k / COUNT[0] / COUNT[1]];
        let center = site.map(|place| (place as f64 + 0.5) * EDGE);
        grains.push(k as u32, center, [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    }
    let side = COUNT[0] as f64 * EDGE;
    let plane = |(point, normal)| Wall {
        name: "box".into(),
        material: 0,
        shape: WallShape::Plane { point, normal },
        motion: WallMotion::default(),
        specific_wear_rate: 0.0,
    };
    let planes = [
        ([0.0; 3], [1.0, 0.0, 0.0]),
        ([side, 0.0, 0.0], [-1.0, 0.0, 0.0]),
        ([0.0; 3], [0.0, 1.0, 0.0]),
        ([0.0, side, 0.0], [0.0, -1.0, 0.0]),
        ([0.0; 3], [0.0, 0.0, 1.0]),
    ];
    let world = World {
        gravity: [0.0, 0.0, -GRAVITY],
        local_damping: 0.8,
        materials: vec![Material {
            name: "glass".into(),
            density: DENSITY,
            youngs_modulus: 1e7,
            poisson_ratio: 0.3,
        }],
        interactions: vec![Some(Interaction {
            normal: NormalLaw::Linear,
            tangential: TangentialLaw::None,
            restitution: 0.5,
            stiffness: Some(300.0),
            ..Interaction::default()
        })],
        groups: vec!["column".into()],
        grains,
        walls: planes.map(plane).to_vec(),
        ..World::default()
    };
    let mut simulation = Simulation::new(world, Settings::default()).unwrap();
    // The column swings with a period of 4 N √(m/k), 9 ms: ten of them.
    let steps = (0.09 / simulation.time_step().value) as u64;
    simulation.advance(steps).unwrap();
    simulation
}

/// Fields on the plane y = 8 mm where no kernel reaches out of the column, and the grid.
fn inside(simulation: &mut Simulation) -> (Grid, CoarseFields) {
    let contacts = simulation.contacts_now().unwrap();
    let spacing = 0.5e-3;
    let (low, high) = (DVec3::new(6.25e-3, 7.75e-3, 6.25e-3), DVec3::new(9.75e-3, 8.25e-3, 17.75e-3));
    let grid = Grid::between(low, high, spacing);
    let fields = coarse_grain(&grid, WIDTH, &simulation.snapshot(), &contacts, &[]);
    (grid, fields)
}

#[test]
fn a_settled_lattice_has_its_solid_fraction_and_bears_what_lies_above() {
    let mut simulation = column();
    let (grid, fields) = inside(&mut simulation);
    assert_eq!(grid.points, [7, 1, 23]);
    let fraction = PI / 6.0;
    for (name, expected) in [("solid_fraction", fraction), ("density", fraction * DENSITY)] {
        let values = name.parse::<Scalar>().unwrap().values(&fields);
        for value in values {
            // Ripples of the lattice, 2·10⁻³; the column is pressed together by 10⁻³ of its height.
            assert!((value / expected - 1.0).abs() < 5e-3, "{name}: {value} instead of {expected}");
        }
    }
    let upward = Scalar::Stress(2, 2).values(&fields);
    let (shear, pressure) = (Scalar::Stress(0, 2).values(&fields), Scalar::Pressure.values(&fields));
    let top = COUNT[2] as f64 * EDGE;
    for (index, value) in upward.iter().enumerate() {
        let height = grid.origin.z + grid.spacing * (index / grid.points[0]) as f64;
        let expected = fraction * DENSITY * GRAVITY * (top - height);
        // The force of a contact is constant over a branch, where weight grows: half a layer of eleven at most, which the kernel evens out.
        assert!(
            (value / expected - 1.0).abs() < 0.02,
            "at {height} m: {value} instead of {expected} Pa"
        );
        // Columns stand side by side, smooth, without pressing on each other.
        assert!(shear[index].abs() < 1e-3 * expected, "{}", shear[index]);
        assert!((pressure[index] / (value / 3.0) - 1.0).abs() < 0.02, "{} {value}", pressure[index]);
    }
}

#[test]
fn velocity_is_that_of_the_grains_and_words_that_mean_nothing_are_refused() {
    let mut simulation = column();
    simulation.set_velocity(0, [0.3, 0.0, -0.4]).unwrap();
    let (_, fields) = inside(&mut simulation);
    for (name, expected) in [("speed", 0.5), ("velocity_x", 0.3), ("velocity_y", 0.0), ("velocity_z", -0.4)] {
        let values = name.parse::<Scalar>().unwrap().values(&fields);
        assert!(values.iter().all(|value| (value - expected).abs() < 1e-12), "{name}");
    }
    assert!(Scalar::Temperature.values(&fields).iter().all(|value| value.abs() < 1e-12));
    let message = "speeed".parse::<Scalar>().unwrap_err();
    assert!(message.contains("speeed") && message.contains("solid_fraction"), "{message}");
}
