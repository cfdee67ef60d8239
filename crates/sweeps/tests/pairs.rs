//! What every contact law owes to physics, for every law of the tables.

use proptest::prelude::*;
use seixo_laws::Vector3;
use seixo_laws::contact::{Coefficients, Memory, NormalLaw, PairOfMaterials, TangentialLaw, derive};
use seixo_sweeps::pair::{Outcome, Pair, push_apart, rub_together};
use std::sync::LazyLock;

const DT: f64 = 1e-4;

fn pair_of_materials() -> PairOfMaterials {
    PairOfMaterials {
        effective_modulus: 2e5,
        effective_shear_modulus: 8e4,
        restitution: 0.6,
        friction: 0.4,
        stiffness: 3e3,
        tangential_stiffness: 1e3,
    }
}

fn laws() -> &'static [Coefficients<f64>] {
    static LAWS: LazyLock<Vec<Coefficients<f64>>> = LazyLock::new(|| {
        let pairs = NormalLaw::ALL.iter().flat_map(|&n| TangentialLaw::ALL.iter().map(move |&t| (n, t)));
        pairs
            .map(|(normal, tangential)| derive(normal, tangential, &pair_of_materials()))
            .collect()
    });
    &LAWS
}

fn vector(v: [f64; 3]) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}

fn array(v: &Vector3<f64>) -> [f64; 3] {
    [v.x, v.y, v.z]
}

/// Two grains that touch, their spins and what the contact remembers.
#[derive(Clone, Debug)]
struct Encounter {
    pair: Pair<f64>,
    spin_i: Vector3<f64>,
    spin_j: Vector3<f64>,
    memory: Memory<f64>,
}

impl Encounter {
    fn outcome(&self, law: &Coefficients<f64>) -> Outcome<f64> {
        rub_together::<f64>(&self.pair, &self.spin_i, &self.spin_j, &self.memory, law, DT)
    }

    /// The same encounter with the roles of i and j exchanged.
    fn swapped(&self) -> Encounter {
        let Pair {
            apart,
            depth,
            velocity,
            radius_i,
            radius_j,
            mass_i,
            mass_j,
        } = self.pair;
        Encounter {
            pair: Pair {
                apart: apart.times(-1.0),
                depth,
                velocity: velocity.times(-1.0),
                radius_i: radius_j,
                radius_j: radius_i,
                mass_i: mass_j,
                mass_j: mass_i,
            },
            spin_i: self.spin_j,
            spin_j: self.spin_i,
            memory: Memory {
                force: self.memory.force.times(-1.0),
                contact_radius: self.memory.contact_radius,
            },
        }
    }

    fn turned(&self, by: impl Fn(&Vector3<f64>) -> Vector3<f64>) -> Encounter {
        let mut pair = self.pair;
        pair.apart = by(&pair.apart);
        pair.velocity = by(&pair.velocity);
        let memory = Memory {
            force: by(&self.memory.force),
            contact_radius: self.memory.contact_radius,
        };
        Encounter {
            pair,
            spin_i: by(&self.spin_i),
            spin_j: by(&self.spin_j),
            memory,
        }
    }
}

fn unit() -> impl Strategy<Value = Vector3<f64>> {
    ([-1.0..1.0, -1.0..1.0, -1.0..1.0f64])
        .prop_filter("long enough", |v| v.iter().map(|c| c * c).sum::<f64>() > 0.01)
        .prop_map(|v| {
            let v = vector(v);
            v.times(1.0 / v.length())
        })
}

prop_compose! {
    fn encounter()(
        normal in unit(),
        radii in [0.5..2.0f64, 0.5..2.0f64],
        depth in 1e-6..0.1f64,
        velocity in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64],
        spins in [[-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64]],
        stored in [-50.0..50.0f64, -50.0..50.0f64, -50.0..50.0f64],
        before in 1e-3..0.5f64,
    ) -> Encounter {
        let [radius_i, radius_j] = radii;
        let overlap = depth * radius_i.min(radius_j);
        let stored = vector(stored);
        Encounter {
            pair: Pair {
                apart: normal.times(radius_i + radius_j - overlap),
                depth: (2.0 * (radius_i + radius_j) - overlap) * overlap,
                velocity: vector(velocity),
                radius_i,
                radius_j,
                mass_i: radius_i.powi(3),
                mass_j: 2.0 * radius_j.powi(3),
            },
            spin_i: vector(spins[0]),
            spin_j: vector(spins[1]),
            memory: Memory { force: stored.minus(&normal.times(stored.dot(&normal))), contact_radius: before },
        }
    }
}

proptest! {
    #[test]
    fn action_equals_reaction_to_the_last_bit(e in encounter()) {
        for law in laws() {
            let (on_i, on_j) = (e.outcome(law), e.swapped().outcome(law));
            prop_assert_eq!(array(&on_i.force), array(&on_j.force.times(-1.0)));
            prop_assert_eq!(array(&on_i.memory.force), array(&on_j.memory.force.times(-1.0)));
            prop_assert_eq!((on_i.arm_i, on_i.arm_j), (on_j.arm_j, on_j.arm_i));
        }
    }

    #[test]
    fn the_torques_balance_the_moment_of_the_forces(e in encounter()) {
        for law in laws() {
            let o = e.outcome(law);
            let moment = e.pair.apart.cross(&o.force);
            let turns = o.bend.times(o.arm_i + o.arm_j);
            let scale = o.force.length() * e.pair.apart.length() + 1e-12;
            prop_assert!(moment.plus(&turns).length() < 1e-13 * scale);
        }
    }

    #[test]
    fn friction_stays_within_coulombs_limit(e in encounter()) {
        for law in laws() {
            let o = e.outcome(law);
            let normal = e.pair.apart.times(1.0 / e.pair.apart.length());
            let pressure = o.force.dot(&normal);
            let friction = o.force.minus(&normal.times(pressure)).length();
            prop_assert!(pressure >= -1e-12);
            prop_assert!(friction <= law.friction * pressure + 1e-9 * o.force.length() + 1e-12, "{friction} {pressure}");
        }
    }

    #[test]
    fn damping_never_gives_energy(e in encounter()) {
        for law in laws() {
            let o = e.outcome(law);
            prop_assert!(o.normal_power >= -1e-12 && o.damping_power >= -1e-9, "{o:?}");
        }
    }

    #[test]
    fn laws_know_no_direction_in_space(e in encounter(), axis in unit(), angle in 0.0..6.0f64) {
        let (sin, cos) = angle.sin_cos();
        let by = |v: &Vector3<f64>| v.times(cos).plus(&axis.cross(v).times(sin)).plus(&axis.times(axis.dot(v) * (1.0 - cos)));
        for law in laws() {
            let (straight, turned) = (e.outcome(law), e.turned(by).outcome(law));
            let difference = by(&straight.force).minus(&turned.force).length();
            // The overlap is a difference of lengths: rounding of 1e-16 of the radius over a depth of 1e-6 of it.
            prop_assert!(difference < 1e-8 * (straight.force.length() + 1e-9), "{difference} of {}", straight.force.length());
        }
    }

    #[test]
    fn smooth_grains_feel_the_normal_force_of_rough_ones(e in encounter()) {
        for law in laws() {
            let normal = e.pair.apart.times(1.0 / e.pair.apart.length());
            let resting = Encounter { spin_i: Vector3::zero(), spin_j: Vector3::zero(), ..e.clone() };
            let (smooth, rough) = (push_apart::<f64>(&e.pair, law), resting.outcome(law));
            prop_assert!((smooth.force.dot(&normal) - rough.force.dot(&normal)).abs() < 1e-9 * (1.0 + smooth.force.length()));
        }
    }
}
