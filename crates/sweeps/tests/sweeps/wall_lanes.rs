//! Contacts with walls in the lanes of a CPU.

use seixo_laws::Vector3;
use seixo_laws::contact::{NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_sweeps::contact::PowerSums;
use seixo_sweeps::grain::Grain;
use seixo_sweeps::layout::{ELEMENT, FRUSTUM, PLANE, RECORD, SPHERE, TRIANGLE, WALL, WALL_CONTACT, add, load};
use seixo_sweeps::part::{GrainsView, Limits};
use seixo_sweeps::periodic::PeriodicBoundaries;
use seixo_sweeps::wall::walls_of;
use seixo_sweeps::wall_lanes::{WallOut, WallRows, wall_contacts_of_part};

/// Grains before the part, and in it: several batches of lanes.
const BEFORE: usize = 3;
const GRAINS: usize = 120;
const RADIUS: f64 = 1e-3;

const LIMITS: Limits<f64> = Limits { dt: 1e-5, overlap: 0.05 };

/// A pseudo-random number between −½ and ½.
fn number(k: usize) -> f64 {
    ((31 * k + 17) % 97) as f64 / 97.0 - 0.5
}

/// Elements of two walls: a floor, a step of two triangles and a ball; a pillar.
fn elements() -> Vec<f64> {
    let element = |geometry: [f64; 9], kind: f32, wall: f64| [&geometry[..], &[f64::from(kind), wall, 0.0][..]].concat();
    let high = 1.9e-3;
    [
        element([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], PLANE, 0.0),
        element([0.0, 0.0, high, 4e-3, 0.0, high, 0.0, 4e-3, high], TRIANGLE, 0.0),
        element([4e-3, 0.0, high, 4e-3, 4e-3, high, 0.0, 4e-3, high], TRIANGLE, 0.0),
        element([0.0, 5e-3, 0.0, 0.0, 0.0, 0.0, 2e-3, 0.0, 0.0], SPHERE, 0.0),
        element([5e-3, 5e-3, 0.0, 0.0, 0.0, 1.0, 1e-2, 2e-3, 2e-3], FRUSTUM, 1.0),
    ]
    .concat()
}

/// A wall that moves and turns, with a surface that runs, and one of another material at rest.
fn walls() -> Vec<f64> {
    let mut walls = vec![0.0; 2 * WALL];
    for (k, slot) in walls[..WALL].iter_mut().enumerate() {
        *slot = 0.1 * number(k);
    }
    (walls[9], walls[10], walls[WALL + 9]) = (0.0, 1.0, 1.0);
    walls
}

/// What a sweep over the contacts changes.
#[derive(Clone)]
struct Contacts {
    history: Vec<f64>,
    wall_contacts: Vec<f64>,
    force: Vec<f64>,
    torque: Vec<f64>,
}

impl Contacts {
    /// Whether an entry has a contact history: its contact radius is not zero.
    fn has_history(&self, entry: usize) -> bool {
        self.history[entry * RECORD + 3] > 0.0
    }

    /// All columns with their names.
    fn columns(&self) -> [(&'static str, &[f64]); 4] {
        [
            ("history", &self.history[..]),
            ("wall_contacts", &self.wall_contacts[..]),
            ("force", &self.force[..]),
            ("torque", &self.torque[..]),
        ]
    }
}

/// Bits of numbers. They differ for zeros of opposite signs, which are equal as numbers.
fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Bits of sums of powers.
fn bits_of_sums(sums: &PowerSums<f64>) -> Vec<u64> {
    let PowerSums {
        normal_power,
        tangential_power,
        damping_power,
        wall_power,
        excess,
        across: Vector3 { x, y, z },
    } = *sums;
    bits(&[normal_power, tangential_power, damping_power, wall_power, excess, x, y, z])
}

/// The same with each grain alone.
fn one_by_one(grains: &GrainsView<f64>, rows: &WallRows, out: &mut Contacts) -> PowerSums<f64> {
    let mut all: Option<PowerSums<f64>> = None;
    for slot in 0..GRAINS {
        let i = rows.first + slot;
        let [first, end] = [rows.row[i], rows.row[i + 1]].map(|entry| entry as usize);
        if first == end {
            continue;
        }
        let at = i * RECORD;
        let grain = Grain {
            position: load(grains.position, at),
            reach: grains.position[at + 3],
            radius: grains.position[at + 3],
            velocity: load(grains.velocity, at),
            mass: grains.velocity[at + 3],
            spin: load(grains.spin, at),
        };
        let one = walls_of::<f64, f64>(
            &grain,
            grains.material[i],
            first,
            end,
            rows.list[first],
            rows.list,
            rows.row[rows.first] as usize,
            rows.elements,
            rows.walls,
            &mut out.history,
            &mut out.wall_contacts,
            grains.materials,
            grains.table,
            LIMITS.dt,
            LIMITS.overlap,
            true,
            false,
        );
        add(&mut out.force, slot * RECORD, &one.force);
        out.force[slot * RECORD + 3] += one.contacts;
        add(&mut out.torque, slot * RECORD, &one.torque);
        let powers = &one.powers;
        all = Some(all.map_or(*powers, |all| PowerSums {
            normal_power: all.normal_power + powers.normal_power,
            tangential_power: all.tangential_power + powers.tangential_power,
            damping_power: all.damping_power + powers.damping_power,
            wall_power: all.wall_power + powers.wall_power,
            excess: all.excess.max(powers.excess),
            across: Vector3::zero(),
        }));
    }
    all.expect("some grains are near walls")
}

/// Moves grains through the walls for some steps, in lanes and one by one, and compares all bits. Materials of grains are all the same or differ.
fn assert_same_bits(normal: NormalLaw, tangential: TangentialLaw, has_materials: bool) {
    let what = format!("{normal:?} {tangential:?} {has_materials}");
    let row_of = |friction: f64| {
        let pair = PairOfMaterials {
            effective_modulus: 1e7,
            effective_shear_modulus: 4e6,
            restitution: 0.5,
            friction,
            stiffness: 1e3,
            tangential_stiffness: 1e3,
            ..PairOfMaterials::default()
        };
        derive(normal, tangential, &pair).row()
    };
    let table = [0.5, 0.2, 0.1, 0.3].map(row_of).concat();
    let (elements, walls, sides) = (elements(), walls(), PeriodicBoundaries::open());
    let material: Vec<u32> = (0..BEFORE + GRAINS).map(|i| u32::from(has_materials && i % 3 == 0)).collect();
    // Rows of one entry, of none, and of all.
    let (mut row, mut list) = (vec![0], Vec::new());
    for i in 0..BEFORE + GRAINS {
        match i % 4 {
            0 => {}
            1 => list.push(0),
            2 => list.push((i / 4 % 5) as u32),
            _ => list.extend(0..(elements.len() / ELEMENT) as u32),
        }
        row.push(list.len() as u32);
    }
    let rows = WallRows {
        first: BEFORE,
        row: &row,
        list: &list,
        elements: &elements,
        walls: &walls,
    };
    let near: Vec<u16> = (0..GRAINS as u16)
        .filter(|&slot| !(BEFORE + slot as usize).is_multiple_of(4))
        .collect();
    let of_part = &list[row[BEFORE] as usize..];
    let entries = of_part.len();
    // Entries of the first triangle in rows of all.
    let triangles: Vec<usize> = of_part
        .windows(2)
        .enumerate()
        .filter_map(|(entry, pair)| (pair == [1u32, 2]).then_some(entry))
        .collect();
    let mut lanes = Contacts {
        history: vec![0.0; entries * RECORD],
        wall_contacts: vec![0.0; entries * WALL_CONTACT],
        force: vec![0.0; GRAINS * RECORD],
        torque: vec![0.0; GRAINS * RECORD],
    };
    let mut alone = lanes.clone();
    let (mut touching, mut slid, mut passed) = (0.0, 0.0, 0);
    for step in 0..6 {
        let (mut position, mut velocity, mut spin) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..BEFORE + GRAINS {
            let own = |k: usize| number(7 * i + 13 * k);
            position.extend([
                8e-3 * own(0) + 3e-4 * f64::from(step),
                8e-3 * own(1),
                RADIUS * (0.97 + 0.05 * own(2)) + 3e-5 * f64::from(step) * own(3),
                RADIUS,
            ]);
            velocity.extend([own(4), own(5), own(6), 1e-5]);
            spin.extend([100.0 * own(7), 100.0 * own(8), 100.0 * own(9), 0.0]);
        }
        let grains = GrainsView {
            position: &position,
            velocity: &velocity,
            spin: &spin,
            material: &material,
            materials: 2,
            table: &table,
            is_uniform: !has_materials,
            sides: &sides,
        };
        let before = lanes.clone();
        let out = WallOut {
            history: &mut lanes.history,
            wall_contacts: &mut lanes.wall_contacts,
            force: &mut lanes.force,
            torque: &mut lanes.torque,
        };
        let powers = wall_contacts_of_part(&grains, &rows, &near, LIMITS, out);
        let sums = one_by_one(&grains, &rows, &mut alone);
        assert_eq!(
            bits_of_sums(&powers),
            bits_of_sums(&sums),
            "{what}, step {step}: {powers:?} {sums:?}"
        );
        for ((name, found), (_, expected)) in lanes.columns().into_iter().zip(alone.columns()) {
            assert_eq!(bits(found), bits(expected), "{what}, step {step}: {name}");
        }
        // Contacts that go from the first triangle to the second over their common edge.
        let is_on = |contacts: &Contacts, entry: usize| [entry, entry + 1].map(|entry| contacts.has_history(entry));
        passed += triangles
            .iter()
            .filter(|&&entry| is_on(&before, entry) == [true, false] && is_on(&lanes, entry) == [false, true])
            .count();
        touching += lanes.force.chunks_exact(RECORD).map(|force| force[3]).sum::<f64>();
        slid += powers.tangential_power;
    }
    assert!(touching > 200.0 && slid > 0.0 && passed > 0, "{what}: {touching} {slid} {passed}");
}

#[test]
fn contacts_in_lanes_have_the_bits_of_contacts_one_by_one() {
    for &tangential in TangentialLaw::ALL.iter().filter(|law| **law != TangentialLaw::None) {
        for normal in [NormalLaw::Hertz, NormalLaw::Linear, NormalLaw::Viscoelastic] {
            for has_materials in [false, true] {
                assert_same_bits(normal, tangential, has_materials);
            }
        }
    }
}
