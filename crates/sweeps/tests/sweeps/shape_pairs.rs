//! Properties of contacts between polyhedral grains: forces are the slopes of one energy, and a sphere is a sphere.

use seixo_laws::contact::{Coefficients, ContactHistory, NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_laws::nearest::nearest_of_edges;
use seixo_laws::rotation::{energy_of_rotation, rotated_freely};
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::near_features::NearFeatures;
use seixo_sweeps::pair::{Pair, depth_of, frictional_pair_contact};
use seixo_sweeps::shape_pairs::{EDGES, PairLoad, PosedShape, ShapePair, VERTEX_OF_I, VERTEX_OF_J, key_of, shape_contacts_over_steps};
use seixo_sweeps::shape_search::find_contacts_over_steps;
use seixo_sweeps::shapes::{
    PartEnds, ShapeGeometry, edge_end, extent_along, lay_out, nearest_on_part, part_of, rounding_of, shape_at, vertex_of,
};

/// Slots of the pairs here.
const SLOTS: usize = 32;
const DT: f64 = 1e-4;
/// Shapes of the table.
const SPHERE: u32 = 0;
pub const CUBE: u32 = 1;
const TETRAHEDRON: u32 = 2;
const CAPSULE: u32 = 3;
const DUMBBELL: u32 = 4;
/// Radius of the bounding sphere of a cube with edges of 1 m and a rounding radius of 0.1 m.
pub const CUBE_SCALE: f64 = 0.966_025_403_784_438_6;
/// Sum of the rounding radii of two such cubes \[m\].
const REACH: f64 = 0.2;

/// The table of shapes.
pub struct Table {
    pub words: Vec<u32>,
    pub numbers: Vec<f64>,
}

impl Table {
    pub fn new() -> Table {
        let bit = |k: u32, axis: u32| f64::from((k >> axis) & 1) - 0.5;
        let corners: Vec<[f64; 3]> = (0..8).map(|k| [0, 1, 2].map(|axis| bit(k, axis) / CUBE_SCALE)).collect();
        let edges: Vec<[u32; 2]> = (0..8)
            .flat_map(|k| [1, 2, 4].map(|step| [k, k | step]))
            .filter(|[first, second]| first != second)
            .collect();
        let cube = ShapeGeometry {
            rounding: 0.1 / CUBE_SCALE,
            contact_radius: 0.1 / CUBE_SCALE,
            inscribed: 0.6 / CUBE_SCALE,
            volume: 1.7,
            moments: [0.2; 3],
            vertices: &corners,
            edges: &edges,
            loops: &[0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6],
            face_ends: &[4, 8, 12, 16, 20, 24],
            parts: &[PartEnds {
                vertices: 8,
                edges: 12,
                faces: 6,
            }],
        };
        let a = 0.8 / 3.0f64.sqrt();
        let tetrahedron = ShapeGeometry {
            rounding: 0.2,
            contact_radius: 0.2,
            vertices: &[[a, a, a], [a, -a, -a], [-a, a, -a], [-a, -a, a]],
            edges: &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
            loops: &[1, 3, 2, 0, 2, 3, 0, 3, 1, 0, 1, 2],
            face_ends: &[3, 6, 9, 12],
            parts: &[PartEnds {
                vertices: 4,
                edges: 6,
                faces: 4,
            }],
            ..cube
        };
        let capsule = ShapeGeometry {
            rounding: 0.4,
            contact_radius: 0.4,
            vertices: &[[0.0, 0.0, -0.6], [0.0, 0.0, 0.6]],
            edges: &[[0, 1]],
            loops: &[],
            face_ends: &[],
            parts: &[PartEnds {
                vertices: 2,
                edges: 1,
                faces: 0,
            }],
            ..cube
        };
        let sphere = ShapeGeometry {
            rounding: 1.0,
            contact_radius: 1.0,
            vertices: &[[0.0; 3]],
            edges: &[],
            parts: &[PartEnds {
                vertices: 1,
                edges: 0,
                faces: 0,
            }],
            ..capsule
        };
        // Two spheres of half the size, as two parts.
        let dumbbell = ShapeGeometry {
            rounding: 0.5,
            contact_radius: 0.5,
            vertices: &[[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]],
            edges: &[],
            parts: &[1, 2].map(|vertices| PartEnds {
                vertices,
                edges: 0,
                faces: 0,
            }),
            ..capsule
        };
        let (mut words, mut numbers) = (Vec::new(), Vec::new());
        lay_out(
            &[sphere, cube, tetrahedron, capsule, dumbbell],
            |word| words.push(word),
            |number| numbers.push(number),
        );
        Table { words, numbers }
    }

    /// One step without earlier contacts.
    fn load(&self, pair: &ShapePair<f64, f64>, laws: &Coefficients<f64>) -> PairLoad<f64> {
        self.step(pair, laws, &mut Slots::new(SLOTS))
    }

    /// One step, of a pair that kept no features before.
    fn step(&self, pair: &ShapePair<f64, f64>, laws: &Coefficients<f64>, slots: &mut Slots) -> PairLoad<f64> {
        let mut next = slots.clone();
        let load = shape_contacts_over_steps::<f64, f64>(
            pair,
            &self.words,
            &self.numbers,
            0,
            slots.keys.len() as u32,
            &slots.keys,
            &slots.springs,
            &mut next.keys,
            &mut next.springs,
            laws,
            DT,
            0.5,
            &mut NearFeatures::none(),
        );
        *slots = next;
        load
    }

    /// Elastic energy.
    fn energy(&self, pair: &ShapePair<f64, f64>, laws: &Coefficients<f64>) -> f64 {
        self.load(pair, laws).stored.normal
    }

    /// The pair at the distance, along its `apart`, at which contact begins, less this depth.
    fn in_contact(&self, mut pair: ShapePair<f64, f64>, depth: f64, laws: &Coefficients<f64>) -> ShapePair<f64, f64> {
        let along = pair.apart.times(1.0 / pair.apart.length());
        let mut distance = 3.0;
        while self.energy(&pair, laws) == 0.0 {
            distance -= 0.005;
            pair.apart = along.times(distance);
        }
        pair.apart = along.times(distance - depth);
        pair
    }
}

/// Contact histories of a pair.
#[derive(Clone)]
struct Slots {
    keys: Vec<u32>,
    springs: Vec<f64>,
}

impl Slots {
    fn new(slots: usize) -> Slots {
        Slots {
            keys: vec![0; slots],
            springs: vec![0.0; 4 * slots],
        }
    }
}

/// Numbers from −1 to 1.
pub fn numbers_from(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

pub fn vector(random: &mut impl FnMut() -> f64) -> Vector3<f64> {
    Vector3 {
        x: random(),
        y: random(),
        z: random(),
    }
}

/// The rotation by this vector \[rad\].
pub fn rotation(v: Vector3<f64>) -> Quaternion<f64> {
    let angle = v.length();
    let scale = if angle > 0.0 { (0.5 * angle).sin() / angle } else { 0.0 };
    Quaternion {
        w: (0.5 * angle).cos(),
        x: v.x * scale,
        y: v.y * scale,
        z: v.z * scale,
    }
}

pub fn posed(shape: u32, scale: f64, orientation: Quaternion<f64>) -> PosedShape<f64, f64> {
    PosedShape {
        shape,
        scale,
        orientation,
        spin: Vector3::zero(),
        mass: 1.0,
    }
}

pub fn at_rest(apart: Vector3<f64>, i: PosedShape<f64, f64>, j: PosedShape<f64, f64>) -> ShapePair<f64, f64> {
    ShapePair {
        apart,
        velocity: Vector3::zero(),
        direction: Vector3::zero(),
        i,
        j,
    }
}

/// Two cubes with this offset, the upper one tilted by this rotation \[rad\].
fn cubes(apart: Vector3<f64>, tilt: Vector3<f64>) -> ShapePair<f64, f64> {
    let lower = posed(CUBE, CUBE_SCALE, rotation(Vector3::zero()));
    at_rest(apart, posed(CUBE, CUBE_SCALE, rotation(tilt)), lower)
}

fn materials() -> PairOfMaterials {
    PairOfMaterials {
        effective_modulus: 2e4,
        effective_shear_modulus: 8e3,
        friction: 0.4,
        stiffness: 3e3,
        tangential_stiffness: 1e3,
        ..PairOfMaterials::default()
    }
}

fn elastic() -> Coefficients<f64> {
    derive(NormalLaw::Hertz, TangentialLaw::None, &materials()).coefficients
}

/// Pairs of all shapes with corners, in random poses or with nearly parallel faces.
pub fn random_pairs(table: &Table, depth: f64) -> Vec<ShapePair<f64, f64>> {
    let mut random = numbers_from(3);
    let shapes = [(CUBE, CUBE_SCALE), (TETRAHEDRON, 1.2), (CAPSULE, 0.8)];
    let mut pairs = Vec::new();
    for trial in 0..24 {
        let spread = [2.0, 0.05, 0.003][trial % 3];
        let (of_i, of_j) = if trial % 3 == 0 {
            (shapes[trial % 9 / 3], shapes[trial % 4 % 3])
        } else {
            (shapes[0], shapes[0])
        };
        let i = posed(of_i.0, of_i.1, rotation(vector(&mut random).times(spread)));
        let j = posed(of_j.0, of_j.1, rotation(vector(&mut random).times(spread)));
        let mut along = vector(&mut random);
        if trial % 3 != 0 {
            along = along.times(0.3);
            along.z = 1.0;
        }
        let far = along.times(3.0 / along.length());
        pairs.push(table.in_contact(at_rest(far, i, j), depth, &elastic()));
    }
    pairs
}

/// The pair with i moved and turned.
fn moved(pair: &ShapePair<f64, f64>, by: &Vector3<f64>, turn_i: &Vector3<f64>, turn_j: &Vector3<f64>) -> ShapePair<f64, f64> {
    let mut moved = *pair;
    moved.apart = pair.apart.plus(by);
    moved.i.orientation = rotation(*turn_i).after(&pair.i.orientation);
    moved.j.orientation = rotation(*turn_j).after(&pair.j.orientation);
    moved
}

fn axes() -> [Vector3<f64>; 3] {
    [0, 1, 2].map(|axis| {
        let of = |other: u32| if axis == other { 1.0 } else { 0.0 };
        Vector3 {
            x: of(0),
            y: of(1),
            z: of(2),
        }
    })
}

#[test]
fn forces_and_torques_are_the_slopes_of_the_energy() {
    let (table, laws, step, zero) = (Table::new(), elastic(), 1e-6, Vector3::zero());
    let mut most = 0;
    for (trial, pair) in random_pairs(&table, 0.035).iter().enumerate() {
        let load = table.load(pair, &laws);
        most = most.max(load.contacts);
        let scale = load.force.length() + load.torque_i.length() + load.torque_j.length();
        assert!(scale > 0.0, "{trial}: no contact");
        for axis in axes() {
            let slope = |at: &dyn Fn(Vector3<f64>) -> ShapePair<f64, f64>| {
                (table.energy(&at(axis.times(-step)), &laws) - table.energy(&at(axis.times(step)), &laws)) / (2.0 * step)
            };
            let found = [
                slope(&|by| moved(pair, &by, &zero, &zero)) - load.force.dot(&axis),
                slope(&|by| moved(pair, &zero, &by, &zero)) - load.torque_i.dot(&axis),
                slope(&|by| moved(pair, &zero, &zero, &by)) - load.torque_j.dot(&axis),
            ];
            for difference in found {
                assert!(difference.abs() < 1e-6 * scale, "{trial}: {difference} of {scale}");
            }
        }
    }
    assert!(most > 4, "faces have at most {most} contacts");
}

#[test]
fn the_work_of_a_closed_path_falls_with_the_square_of_the_step() {
    let (table, laws) = (Table::new(), elastic());
    let mut random = numbers_from(5);
    let (mut coarse, mut fine, mut all) = (0.0, 0.0, 0.0);
    for pair in &random_pairs(&table, 0.03)[..12] {
        let [a, b, turn_a, turn_b] = [0.02, 0.02, 0.05, 0.05].map(|size| vector(&mut random).times(size));
        let place = |time: f64| {
            let on_path = |a: &Vector3<f64>, b: &Vector3<f64>| a.times(time.sin()).plus(&b.times(1.0 - time.cos()));
            moved(pair, &on_path(&a, &b), &on_path(&turn_a, &turn_b), &Vector3::zero())
        };
        let work = |steps: u32| {
            let (mut sum, mut size) = (0.0f64, 0.0f64);
            for k in 0..steps {
                let time = |k: f64| k * std::f64::consts::TAU / f64::from(steps);
                let (before, after) = (place(time(f64::from(k))), place(time(f64::from(k + 1))));
                let load = table.load(&place(time(f64::from(k) + 0.5)), &laws);
                let turn = after.i.orientation.after(&before.i.orientation.back());
                let turn = Vector3 {
                    x: 2.0 * turn.x,
                    y: 2.0 * turn.y,
                    z: 2.0 * turn.z,
                };
                let work = load.force.dot(&after.apart.minus(&before.apart)) + load.torque_i.dot(&turn);
                sum += work;
                size += work.abs();
            }
            (sum.abs(), size)
        };
        let (of_coarse, size) = work(100);
        coarse += of_coarse;
        fine += work(400).0;
        all += size;
    }
    // Kinks of the stiffness along the path let single paths deviate from the factor 16.
    assert!(coarse < 1e-3 * all, "{coarse} of {all}");
    assert!(fine < coarse / 8.0, "{coarse} {fine}");
}

#[test]
fn two_spheres_have_the_forces_of_spheres() {
    let table = Table::new();
    let mut random = numbers_from(9);
    let damped = PairOfMaterials {
        restitution: 0.6,
        ..materials()
    };
    for (normal, tangential) in [
        (NormalLaw::Linear, TangentialLaw::Linear),
        (NormalLaw::Hertz, TangentialLaw::Mindlin),
    ] {
        let laws = derive(normal, tangential, &damped).coefficients;
        for trial in 0..100 {
            let mut i = posed(SPHERE, 1.0 + 0.2 * random(), rotation(vector(&mut random)));
            let mut j = posed(SPHERE, 1.0 + 0.2 * random(), rotation(vector(&mut random)));
            (i.mass, j.mass) = (1.5 + random(), 1.5 + random());
            (i.spin, j.spin) = (vector(&mut random), vector(&mut random));
            let along = vector(&mut random);
            let apart = along.times((i.scale + j.scale) * (0.98 + 0.01 * random()) / along.length());
            let mut pair = at_rest(apart, i, j);
            pair.velocity = vector(&mut random);
            let spheres = Pair {
                apart,
                depth: depth_of::<f64>(&apart, i.scale + j.scale),
                velocity: pair.velocity,
                radius_i: i.scale,
                radius_j: j.scale,
                mass_i: i.mass,
                mass_j: j.mass,
            };
            let before = ContactHistory {
                force: vector(&mut random),
                contact_radius: 0.15,
            };
            let expected = frictional_pair_contact::<f64>(&spheres, &i.spin, &j.spin, &before, &laws, DT);
            let size = expected.force.length().max(1.0);
            let mut slots = Slots::new(4);
            slots.keys[0] = key_of(VERTEX_OF_I, 0, 0);
            // The number beside the spring force is the contact radius, or the share for a spring of constant stiffness.
            let number = if tangential == TangentialLaw::Mindlin { 0.15 } else { 1.0 };
            slots.springs[..4].copy_from_slice(&[before.force.x, before.force.y, before.force.z, number]);
            let load = table.step(&pair, &laws, &mut slots);
            assert_eq!((load.contacts, slots.keys[1]), (1, 0), "{trial}");
            let spring = Vector3 {
                x: slots.springs[0],
                y: slots.springs[1],
                z: slots.springs[2],
            };
            for (found, expected) in [
                (load.force, expected.force),
                (load.torque_i, expected.bend.times(expected.arm_i)),
                (load.torque_j, expected.bend.times(expected.arm_j)),
                (spring, expected.history.force),
            ] {
                assert!(found.minus(&expected).length() < 1e-12 * size, "{trial}: {found:?} {expected:?}");
            }
            let powers = [
                (load.powers.normal_power, expected.normal_power),
                (load.powers.tangential_power, expected.tangential_power),
                (load.powers.damping_power, expected.damping_power),
            ];
            for (found, expected) in powers {
                assert!((found - expected).abs() < 1e-12 * size, "{trial}: {found} {expected}");
            }
        }
    }
}

#[test]
fn action_equals_reaction_and_no_power_comes_from_damping() {
    let table = Table::new();
    let damped = PairOfMaterials {
        restitution: 0.5,
        ..materials()
    };
    let laws = derive(NormalLaw::Hertz, TangentialLaw::Mindlin, &damped).coefficients;
    let mut random = numbers_from(17);
    for (trial, pair) in random_pairs(&table, 0.03).iter().enumerate() {
        let mut pair = *pair;
        pair.velocity = vector(&mut random);
        (pair.i.spin, pair.j.spin) = (vector(&mut random), vector(&mut random));
        let mut slots = Slots::new(SLOTS);
        for step in 0..3 {
            let load = table.step(&pair, &laws, &mut slots);
            let couple = load.torque_i.plus(&load.torque_j).plus(&pair.apart.cross(&load.force));
            let size = load.torque_i.length() + load.torque_j.length() + load.force.length();
            assert!(couple.length() < 1e-12 * size, "{trial}, {step}: {couple:?} of {size}");
            assert!(
                load.powers.normal_power >= -1e-12 * size && load.powers.damping_power >= -1e-12 * size,
                "{trial}"
            );
        }
    }
}

#[test]
fn results_do_not_depend_on_the_direction_of_the_last_step() {
    let (table, laws) = (Table::new(), elastic());
    let mut random = numbers_from(23);
    let pairs = random_pairs(&table, 0.03);
    let (mut touched, mut parted) = (0, 0);
    // From pairs with several contacts to pairs without one, whose bounding spheres touch.
    for (pair, share) in pairs
        .iter()
        .flat_map(|pair| [1.0, 1.01, 1.02, 1.05, 1.2].map(|share| (pair, share)))
    {
        let mut again = *pair;
        again.apart = pair.apart.times(share);
        let first = table.load(&again, &laws);
        touched += usize::from(first.contacts > 0);
        parted += usize::from(first.contacts == 0);
        for direction in [first.direction, vector(&mut random), vector(&mut random)] {
            again.direction = direction.times(1.0 / direction.length());
            let load = table.load(&again, &laws);
            assert_eq!(
                (load.force, load.torque_i, load.torque_j, load.stored, load.contacts),
                (first.force, first.torque_i, first.torque_j, first.stored, first.contacts)
            );
        }
    }
    assert!(touched >= pairs.len() && parted >= pairs.len(), "{touched} and {parted}");
}

#[test]
fn a_search_finds_each_feature_in_contact_once_in_the_order_of_keys() {
    let table = Table::new();
    let mut random = numbers_from(29);
    let mut pairs = random_pairs(&table, 0.03);
    // Shapes of two parts, on either side.
    for trial in 0..20 {
        let one = posed(DUMBBELL, 1.0, rotation(vector(&mut random).times(2.0)));
        let other = posed([CUBE, DUMBBELL][trial % 2], 1.0, rotation(vector(&mut random).times(2.0)));
        let along = vector(&mut random);
        let far = along.times(3.0 / along.length());
        let [i, j] = if trial % 4 < 2 { [one, other] } else { [other, one] };
        pairs.push(table.in_contact(at_rest(far, i, j), 0.03, &elastic()));
    }
    let (words, numbers) = (&table.words[..], &table.numbers[..]);
    let mut kinds = [0; 4];
    for (trial, pair) in pairs.iter().enumerate() {
        let (i, j) = (&pair.i, &pair.j);
        let [shape_i, shape_j] = [i, j].map(|grain| shape_at(words, grain.shape));
        let reach = rounding_of::<f64>(&shape_i, numbers) * i.scale + rounding_of::<f64>(&shape_j, numbers) * j.scale;
        let mut keys = [0u32; SLOTS + 1];
        let mut near = NearFeatures::none();
        let found = find_contacts_over_steps::<f64, f64>(pair, words, numbers, 0, SLOTS as u32, &mut keys, &mut near);
        let keys = &keys[..found.contacts as usize + 1];
        let (last, keys) = keys.split_last().expect("the key zero comes after all");
        assert!(
            *last == 0 && keys.is_sorted() && keys.windows(2).all(|two| two[0] < two[1]),
            "{trial}: {keys:?}"
        );
        // A point of i, as seen from j, and vice versa.
        let seen_from_j = |point: &Vector3<f64>| j.orientation.back().to_space(&i.orientation.to_space(point).plus(&pair.apart));
        let seen_from_i = |point: &Vector3<f64>| i.orientation.back().to_space(&j.orientation.to_space(point).minus(&pair.apart));
        let mut touching = Vec::new();
        for v in 0..shape_i.vertices {
            let place = seen_from_j(&vertex_of(&shape_i, numbers, v, i.scale));
            for p in 0..shape_j.parts {
                let on_part = nearest_on_part(&place, &part_of(&shape_j, words, p), &shape_j, words, numbers, j.scale);
                if on_part.minus(&place).length() < reach {
                    touching.push(key_of(VERTEX_OF_I, v, p));
                }
            }
        }
        assert_eq!(keys[..touching.len()], touching, "{trial}");
        for p in 0..shape_i.parts {
            for w in 0..shape_j.vertices {
                let place = seen_from_i(&vertex_of(&shape_j, numbers, w, j.scale));
                let on_part = nearest_on_part(&place, &part_of(&shape_i, words, p), &shape_i, words, numbers, i.scale);
                if on_part.minus(&place).length() < reach {
                    touching.push(key_of(VERTEX_OF_J, p, w));
                }
            }
        }
        for e in 0..shape_i.edges {
            let [e1, e2] = [0, 1].map(|end| seen_from_j(&edge_end(&shape_i, words, numbers, e, end, i.scale)));
            for f in 0..shape_j.edges {
                let [f1, f2] = [0, 1].map(|end| edge_end(&shape_j, words, numbers, f, end, j.scale));
                let square = nearest_of_edges(&e1, &e2, &f1, &f2).square;
                if square >= 0.0 && square < reach * reach {
                    touching.push(key_of(EDGES, e, f));
                }
            }
        }
        // Features at whose ends others touch are in reach, too, but count there.
        assert!(keys.iter().all(|key| touching.contains(key)), "{trial}: {keys:?} of {touching:?}");
        keys.iter().for_each(|key| kinds[(key >> 30) as usize] += 1);
    }
    assert!(kinds[1..].iter().all(|&contacts| contacts > 5), "{kinds:?}");
}

#[test]
fn a_pair_that_is_apart_finds_planes_that_separate_it() {
    let (table, laws) = (Table::new(), elastic());
    let extent = |grain: &PosedShape<f64, f64>, along: &Vector3<f64>| {
        let axis = grain.orientation.back().to_space(along);
        extent_along::<f64>(&shape_at(&table.words, grain.shape), &table.numbers, grain.scale, &axis)
    };
    let rounding = |grain: &PosedShape<f64, f64>| rounding_of::<f64>(&shape_at(&table.words, grain.shape), &table.numbers) * grain.scale;
    let mut apart = 0;
    for pair in &random_pairs(&table, 0.03) {
        for share in [1.03, 1.05, 1.1, 1.2] {
            let mut moved = *pair;
            moved.apart = pair.apart.times(share);
            let (i, j) = (moved.i, moved.j);
            if moved.apart.length() > i.scale + j.scale {
                continue;
            }
            let load = table.load(&moved, &laws);
            if load.contacts > 0 {
                continue;
            }
            apart += 1;
            let along = load.direction;
            let gap = moved.apart.dot(&along) - extent(&i, &along.times(-1.0)) - extent(&j, &along);
            assert!(gap > rounding(&i) + rounding(&j) - 1e-9, "{gap} along {along:?}");
        }
    }
    assert!(apart > 30, "{apart}");
}

#[test]
fn faces_touch_at_the_corners_of_their_common_polygon() {
    let (table, laws) = (Table::new(), elastic());
    let overlap = 0.02;
    // The Hertz energy of one contact with R* = r/2, 8/15 E* √R* δ^{5/2}.
    let one = 8.0 / 15.0 * 2e4 * 0.05f64.sqrt() * overlap * overlap * overlap.sqrt();
    let at = |x: f64, y: f64| Vector3 {
        x,
        y,
        z: 1.0 + REACH - overlap,
    };
    for (apart, contacts) in [
        (at(0.0, 0.0), Some(4)),
        (at(0.4, 0.0), Some(4)),
        (at(0.4, 0.3), Some(4)),
        (at(1.0, 0.0), None),
    ] {
        let load = table.load(&cubes(apart, Vector3::zero()), &laws);
        if let Some(contacts) = contacts {
            assert_eq!(load.contacts, contacts, "{apart:?}");
            assert!(
                (load.stored.normal / (4.0 * one) - 1.0).abs() < 1e-9,
                "{apart:?}: {}",
                load.stored.normal / one
            );
            assert!(load.powers.excess < 0.0);
        }
        assert!(
            load.force.z > 0.0 && load.force.x.abs() + load.force.y.abs() < 1e-9 * load.force.z,
            "{load:?}"
        );
    }
    let diagonal = Vector3 {
        x: 0.0,
        y: 0.0,
        z: std::f64::consts::FRAC_PI_4,
    };
    let load = table.load(&cubes(at(0.0, 0.0), diagonal), &laws);
    assert_eq!(load.contacts, 8);
    assert!((load.stored.normal / (8.0 * one) - 1.0).abs() < 1e-9);
}

#[test]
fn corners_on_corners_count_once_whatever_rounding_errors_decide() {
    let (table, laws) = (Table::new(), elastic());
    let mut random = numbers_from(41);
    // The face with the corners 0, 1 and 2, and the distance of its plane from the center.
    let share = 1.0 / 3.0f64.sqrt();
    let normal = Vector3 {
        x: share,
        y: share,
        z: -share,
    };
    let height = 0.8 / 3.0;
    // Half a turn about the line from the middle of the face to corner 0 maps the face to itself, and the grain to its mirror image.
    let corner = Vector3 { x: 1.0, y: 1.0, z: 2.0 };
    let half_turn = rotation(corner.times(std::f64::consts::PI / 6.0f64.sqrt()));
    let overlap = 0.03;
    let one = 8.0 / 15.0 * 2e4 * 0.1f64.sqrt() * overlap * overlap * overlap.sqrt();
    for _ in 0..100 {
        let turn = rotation(vector(&mut random).times(3.0));
        let lower = posed(TETRAHEDRON, 1.0, turn);
        let upper = posed(TETRAHEDRON, 1.0, turn.after(&half_turn));
        let apart = turn.to_space(&normal.times(2.0 * height + 0.4 - overlap));
        let load = table.load(&at_rest(apart, upper, lower), &laws);
        assert_eq!(load.contacts, 3, "{turn:?}");
        assert!(
            (load.stored.normal / (3.0 * one) - 1.0).abs() < 1e-9,
            "{}",
            load.stored.normal / one
        );
    }
}

#[test]
fn cubes_that_bounce_face_on_face_get_their_energy_back() {
    let (table, laws, dt) = (Table::new(), elastic(), 2e-5);
    let moments = Vector3 {
        x: 1.0 / 6.0,
        y: 1.0 / 6.0,
        z: 1.0 / 6.0,
    };
    for tilt in [0.0, 0.01] {
        let turned = Vector3 {
            x: tilt,
            y: 0.3 * tilt,
            z: 2.0 * tilt,
        };
        let start = Vector3 { x: 0.1, y: 0.05, z: 1.22 };
        let mut pair = cubes(start, turned);
        // Velocities of both cubes at half steps, and their angular momenta.
        let (mut velocity_i, mut velocity_j) = (Vector3::<f64>::zero(), Vector3::<f64>::zero());
        velocity_i.z = -1.0;
        let (mut spin_i, mut spin_j) = (Vector3::<f64>::zero(), Vector3::<f64>::zero());
        let (mut stored, mut contacts, mut moment) = (0.0f64, 0, Vector3::<f64>::zero());
        for _ in 0..15_000 {
            let load = table.load(&pair, &laws);
            stored = stored.max(load.stored.normal);
            contacts = contacts.max(load.contacts);
            velocity_i = velocity_i.plus(&load.force.times(dt));
            velocity_j = velocity_j.minus(&load.force.times(dt));
            spin_i = spin_i.plus(&load.torque_i.times(dt));
            spin_j = spin_j.plus(&load.torque_j.times(dt));
            // The sum of torques about one point, over time.
            moment = moment.plus(&load.torque_i.plus(&load.torque_j).plus(&pair.apart.cross(&load.force)).times(dt));
            pair.apart = pair.apart.plus(&velocity_i.minus(&velocity_j).times(dt));
            pair.i.orientation = rotated_freely::<f64>(&pair.i.orientation, &spin_i, &moments, dt);
            pair.j.orientation = rotated_freely::<f64>(&pair.j.orientation, &spin_j, &moments, dt);
            pair.direction = load.direction;
        }
        assert!(contacts >= 4 && stored > 0.1, "{contacts} contacts, {stored} J");
        assert_eq!(table.load(&pair, &laws).contacts, 0);
        let energy = 0.5 * (velocity_i.dot(&velocity_i) + velocity_j.dot(&velocity_j))
            + energy_of_rotation::<f64>(&pair.i.orientation, &spin_i, &moments)
            + energy_of_rotation::<f64>(&pair.j.orientation, &spin_j, &moments);
        assert!((energy / 0.5 - 1.0).abs() < 1e-4, "{tilt}: {energy}");
        let momentum = velocity_i.plus(&velocity_j);
        assert!(
            (momentum.z + 1.0).abs() < 1e-12 && moment.length() < 1e-12,
            "{momentum:?} {moment:?}"
        );
    }
}

#[test]
fn a_cube_slides_with_the_friction_of_its_load() {
    let table = Table::new();
    for (normal, tangential) in [
        (NormalLaw::Linear, TangentialLaw::Linear),
        (NormalLaw::Hertz, TangentialLaw::Mindlin),
    ] {
        let laws = derive(normal, tangential, &materials()).coefficients;
        let at = |x: f64| Vector3 { x, y: 0.0, z: 1.18 };
        let mut pair = cubes(at(0.3), Vector3::zero());
        pair.velocity.x = 1.0;
        let mut slots = Slots::new(SLOTS);
        let mut load = table.step(&pair, &laws, &mut slots);
        let keys = slots.keys.clone();
        for k in 1..2000u32 {
            pair.apart = at(0.3 + 1e-4 * f64::from(k));
            load = table.step(&pair, &laws, &mut slots);
        }
        // The contacts are the same, and all slide.
        assert_eq!((load.contacts, &slots.keys), (4, &keys));
        assert!((load.force.x / load.force.z + 0.4).abs() < 1e-9, "{load:?}");
        // What sliding takes is μ N v.
        assert!((load.powers.tangential_power / (0.4 * load.force.z) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn contacts_without_a_slot_are_counted_and_leave_other_pairs_alone() {
    let (table, laws) = (Table::new(), elastic());
    let apart = Vector3 { x: 0.0, y: 0.0, z: 1.18 };
    let pair = cubes(apart, Vector3::zero());
    let mut keys = [7u32; 6];
    let mut springs = [7.0f64; 24];
    let load = shape_contacts_over_steps::<f64, f64>(
        &pair,
        &table.words,
        &table.numbers,
        2,
        2,
        &[0; 6],
        &[0.0; 24],
        &mut keys,
        &mut springs,
        &laws,
        DT,
        0.5,
        &mut NearFeatures::none(),
    );
    assert_eq!(load.contacts, 4);
    // Corners 0 and 1 of the upper cube are those with the lowest numbers.
    assert_eq!(keys, [7, 7, key_of(VERTEX_OF_I, 0, 0), key_of(VERTEX_OF_I, 1, 0), 7, 7]);
    assert!(springs[..8].iter().chain(&springs[16..]).all(|&number| number == 7.0));
    // Those without a slot have no force.
    let share = load.force.z / table.load(&pair, &laws).force.z;
    assert!((share - 0.5).abs() < 1e-12, "{share}");
    // Apart, the pair has no contact left, although its old slots had some: the key of the first slot is zero.
    let mut slots = Slots::new(SLOTS);
    table.step(&pair, &laws, &mut slots);
    assert!(slots.keys[3] > 0 && slots.keys[4..].iter().all(|&key| key == 0));
    let parted = cubes(apart.times(1.1), Vector3::zero());
    assert_eq!(table.step(&parted, &laws, &mut slots).contacts, 0);
    assert_eq!(slots.keys[0], 0);
}

#[test]
fn parts_of_a_shape_have_contacts_of_their_own() {
    let (table, laws) = (Table::new(), elastic());
    let upright = rotation(Vector3::zero());
    // A ball in the notch of a dumbbell touches both of its balls.
    let ball = posed(SPHERE, 0.5, upright);
    let apart = Vector3 { x: 0.85, y: 0.0, z: 0.0 };
    let in_notch = at_rest(apart, ball, posed(DUMBBELL, 1.0, upright));
    let mut slots = Slots::new(4);
    let load = table.step(&in_notch, &laws, &mut slots);
    assert_eq!(
        (load.contacts, &slots.keys[..2]),
        (2, &[key_of(VERTEX_OF_I, 0, 0), key_of(VERTEX_OF_I, 0, 1)][..])
    );
    let apart = Vector3 { x: 0.85, y: 0.0, z: 0.5 };
    let single = table.load(&at_rest(apart, ball, ball), &laws);
    assert!((load.force.x / (2.0 * single.force.x) - 1.0).abs() < 1e-12, "{load:?}");
    // The same with i and j exchanged.
    let exchanged = at_rest(in_notch.apart.times(-1.0), in_notch.j, ball);
    let other = table.load(&exchanged, &laws);
    assert_eq!(other.contacts, 2);
    assert!(other.force.plus(&load.force).length() < 1e-12 * load.force.length());
}
