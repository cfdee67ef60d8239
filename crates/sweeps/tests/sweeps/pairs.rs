//! Physical properties that every contact law must have, for every law of the tables.

use proptest::prelude::*;
use seixo_laws::Vector3;
use seixo_laws::contact::{
    Coefficients, Cohesion, ContactHistory, ExtendedHistory, NormalLaw, PairOfLaws, PairOfMaterials, ResistanceLaw, RollingLaw,
    TangentialLaw, TwistingLaw, derive,
};
use seixo_sweeps::extended_contact::blank;
use seixo_sweeps::pair::{ContactForces, ExtendedForces, Pair, extended_contact, frictional_pair_contact, normal_pair_contact};
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
        dissipative_time: 1e-2,
        potential_energy: 10.0,
        ..PairOfMaterials::default()
    }
}

fn laws() -> &'static [Coefficients<f64>] {
    static LAWS: LazyLock<Vec<Coefficients<f64>>> = LazyLock::new(|| {
        let pairs = NormalLaw::ALL.iter().flat_map(|&n| TangentialLaw::ALL.iter().map(move |&t| (n, t)));
        pairs
            .map(|(normal, tangential)| derive(normal, tangential, &pair_of_materials()))
            .filter(|laws| !laws.is_extended())
            .map(|laws| laws.coefficients)
            .collect()
    });
    &LAWS
}

/// Every normal and tangential law, alone and with every law of cohesion and resistance.
fn compounds() -> &'static [PairOfLaws] {
    static LAWS: LazyLock<Vec<PairOfLaws>> = LazyLock::new(|| {
        let adhesives = [
            None,
            Some(Cohesion::Sjkr { energy_density: 2e3 }),
            Some(Cohesion::Dmt { surface_energy: 20.0 }),
            Some(Cohesion::Jkr { surface_energy: 20.0 }),
            Some(Cohesion::Capillary {
                surface_tension: 20.0,
                contact_angle: 0.3,
                volume: 1e-4,
            }),
        ];
        let rolling = RollingLaw::ALL.iter().map(|&law| ResistanceLaw {
            law,
            coefficient: 0.2,
            damping_ratio: 0.3,
        });
        let resistances = rolling.flat_map(|rolling| {
            TwistingLaw::ALL.iter().map(move |&law| {
                let twisting = ResistanceLaw {
                    law,
                    coefficient: 0.1,
                    damping_ratio: 0.3,
                };
                (rolling, twisting)
            })
        });
        let mut laws = Vec::new();
        for (rolling, twisting) in resistances {
            for adhesive in adhesives {
                for normal in NormalLaw::ALL {
                    if matches!(adhesive, Some(Cohesion::Jkr { .. })) && *normal != NormalLaw::Hertz {
                        continue;
                    }
                    for tangential in TangentialLaw::ALL {
                        let pair = PairOfMaterials {
                            adhesive,
                            rolling: Some(rolling),
                            twisting: Some(twisting),
                            ..pair_of_materials()
                        };
                        laws.push(derive(*normal, *tangential, &pair));
                    }
                }
            }
        }
        laws
    });
    &LAWS
}

fn vector(v: [f64; 3]) -> Vector3<f64> {
    Vector3 { x: v[0], y: v[1], z: v[2] }
}

fn array(v: &Vector3<f64>) -> [f64; 3] {
    [v.x, v.y, v.z]
}

/// Two grains in contact, their angular velocities and the contact history.
#[derive(Clone, Debug)]
struct Encounter {
    pair: Pair<f64>,
    spin_i: Vector3<f64>,
    spin_j: Vector3<f64>,
    contact_history: ContactHistory<f64>,
}

impl Encounter {
    fn outcome(&self, law: &Coefficients<f64>) -> ContactForces<f64> {
        frictional_pair_contact::<f64>(&self.pair, &self.spin_i, &self.spin_j, &self.contact_history, law, DT)
    }

    /// Response of the two in an extended contact.
    fn extended(&self, law: &PairOfLaws, extended_history: &ExtendedHistory<f64>) -> ExtendedForces<f64> {
        extended_contact::<f64>(
            &self.pair,
            &self.spin_i,
            &self.spin_j,
            &self.contact_history,
            extended_history,
            &law.coefficients,
            &law.extended_coefficients,
            DT,
        )
    }

    /// The same two grains, separated by `gap`.
    fn parted(&self, gap: f64) -> Encounter {
        let mut parted = self.clone();
        let pair = &mut parted.pair;
        let reach = pair.radius_i + pair.radius_j;
        pair.apart = pair.apart.times((reach + gap) / pair.apart.length());
        pair.depth = -(2.0 * reach + gap) * gap;
        parted
    }

    /// The same pair with i and j exchanged.
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
            contact_history: ContactHistory {
                force: self.contact_history.force.times(-1.0),
                contact_radius: self.contact_history.contact_radius,
            },
        }
    }

    fn turned(&self, by: impl Fn(&Vector3<f64>) -> Vector3<f64>) -> Encounter {
        let mut pair = self.pair;
        pair.apart = by(&pair.apart);
        pair.velocity = by(&pair.velocity);
        let contact_history = ContactHistory {
            force: by(&self.contact_history.force),
            contact_radius: self.contact_history.contact_radius,
        };
        Encounter {
            pair,
            spin_i: by(&self.spin_i),
            spin_j: by(&self.spin_j),
            contact_history,
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
            contact_history: ContactHistory { force: stored.minus(&normal.times(stored.dot(&normal))), contact_radius: before },
        }
    }
}

prop_compose! {
    fn extended_history()(
        rolling in [-5.0..5.0f64, -5.0..5.0f64, -5.0..5.0f64],
        twisting in -2.0..2.0f64,
        largest_overlap in 0.0..0.2f64,
        holds in 0..2u32,
    ) -> ExtendedHistory<f64> {
        ExtendedHistory { rolling: vector(rolling), twisting, largest_overlap, holds: f64::from(holds) }
    }
}

proptest! {
    #[test]
    fn action_equals_reaction_to_the_last_bit(e in encounter()) {
        for law in laws() {
            let (on_i, on_j) = (e.outcome(law), e.swapped().outcome(law));
            prop_assert_eq!(array(&on_i.force), array(&on_j.force.times(-1.0)));
            prop_assert_eq!(array(&on_i.history.force), array(&on_j.history.force.times(-1.0)));
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
            // The overlap is a difference of lengths: rounding of 1e-16 of the radius over an overlap of 1e-6 of it.
            prop_assert!(difference < 1e-8 * (straight.force.length() + 1e-9), "{difference} of {}", straight.force.length());
        }
    }

    #[test]
    fn smooth_grains_feel_the_normal_force_of_rough_ones(e in encounter()) {
        for law in laws() {
            let normal = e.pair.apart.times(1.0 / e.pair.apart.length());
            let resting = Encounter { spin_i: Vector3::zero(), spin_j: Vector3::zero(), ..e.clone() };
            let (smooth, rough) = (normal_pair_contact::<f64>(&e.pair, law), resting.outcome(law));
            prop_assert!((smooth.force.dot(&normal) - rough.force.dot(&normal)).abs() < 1e-9 * (1.0 + smooth.force.length()));
        }
    }

    #[test]
    fn a_extended_contact_that_adds_nothing_is_a_frictional_one(e in encounter()) {
        for law in laws() {
            let alone = PairOfLaws { coefficients: *law, extended_coefficients: compounds()[0].extended_coefficients };
            let (plain, extended) = (e.outcome(law), e.extended(&alone, &blank().1));
            let difference = plain.force.minus(&extended.outcome.force).length();
            // The overlap comes from another order of operations: rounding of 1e-16 of the radius over an overlap of 1e-6 of it.
            prop_assert!(difference < 1e-8 * (plain.force.length() + 1e-9), "{difference}");
            prop_assert_eq!(extended.couple.length(), 0.0);
        }
    }

    #[test]
    fn compound_action_equals_reaction(e in encounter(), history in extended_history(), gap in 0.0..0.05f64) {
        for e in [e.clone(), e.parted(gap)] {
            for law in compounds() {
                let opposite = ExtendedHistory { rolling: history.rolling.times(-1.0), ..history };
                let (on_i, on_j) = (e.extended(law, &history), e.swapped().extended(law, &opposite));
                prop_assert_eq!(array(&on_i.outcome.force), array(&on_j.outcome.force.times(-1.0)));
                prop_assert_eq!(array(&on_i.couple), array(&on_j.couple.times(-1.0)));
                prop_assert_eq!(array(&on_i.extended_history.rolling), array(&on_j.extended_history.rolling.times(-1.0)));
                prop_assert_eq!(on_i.extended_history.twisting, on_j.extended_history.twisting);
                prop_assert_eq!(on_i.extended_history.largest_overlap, on_j.extended_history.largest_overlap);
            }
        }
    }

    #[test]
    fn resistances_never_give_energy_to_a_contact_that_is_new(e in encounter()) {
        for law in compounds() {
            let o = e.extended(law, &ExtendedHistory { holds: 1.0, ..blank().1 }).outcome;
            // Nothing is stored in a new contact, so springs, dashpots and sliders can only take energy.
            let fresh = Encounter { contact_history: blank().0, ..e.clone() }.extended(law, &ExtendedHistory { holds: 1.0, ..blank().1 }).outcome;
            prop_assert!(o.normal_power >= -1e-9 * (1.0 + o.force.length()), "{o:?}");
            prop_assert!(fresh.tangential_power >= -1e-9 * (1.0 + fresh.force.length()), "{fresh:?}");
        }
    }

    #[test]
    fn what_holds_releases_at_its_longest_gap_and_not_before(e in encounter(), share in 0.01..0.99f64) {
        for law in compounds() {
            let effective_radius = e.pair.radius_i * e.pair.radius_j / (e.pair.radius_i + e.pair.radius_j);
            let longest = seixo_laws::contact::cohesion::longest_gap::<f64>(effective_radius, &law.extended_coefficients);
            let held = ExtendedHistory { holds: 1.0, ..blank().1 };
            let inside = e.parted(share * longest + 1e-12);
            prop_assert_eq!(inside.extended(law, &held).extended_history.holds, if longest > 0.0 { 1.0 } else { 0.0 });
            prop_assert_eq!(inside.extended(law, &blank().1).extended_history.holds, 0.0, "apart and never touched");
            let outside = e.parted(longest * 1.001 + 1e-9).extended(law, &held);
            prop_assert_eq!((outside.extended_history.holds, outside.outcome.force.length()), (0.0, 0.0));
        }
    }

    #[test]
    fn compound_laws_know_no_direction_in_space(e in encounter(), axis in unit(), angle in 0.0..6.0f64, history in extended_history()) {
        let (sin, cos) = angle.sin_cos();
        let by = |v: &Vector3<f64>| v.times(cos).plus(&axis.cross(v).times(sin)).plus(&axis.times(axis.dot(v) * (1.0 - cos)));
        let normal = e.pair.apart.times(1.0 / e.pair.apart.length());
        let flat = history.rolling.minus(&normal.times(history.rolling.dot(&normal)));
        let extended_history = ExtendedHistory { rolling: flat, ..history };
        let turned_extended_history = ExtendedHistory { rolling: by(&flat), ..history };
        for law in compounds() {
            let (straight, turned) = (e.extended(law, &extended_history), e.turned(by).extended(law, &turned_extended_history));
            let force = by(&straight.outcome.force).minus(&turned.outcome.force).length();
            let couple = by(&straight.couple).minus(&turned.couple).length();
            prop_assert!(force < 1e-7 * (straight.outcome.force.length() + 1e-6), "{force}");
            prop_assert!(couple < 1e-7 * (straight.couple.length() + straight.outcome.force.length() + 1e-6), "{couple}");
        }
    }
}

/// Normal force on one of two unit spheres, and the energy stored between them, at an overlap (negative: a gap), after they touched.
fn at_overlap(law: &PairOfLaws, overlap: f64, largest: f64) -> (f64, f64) {
    let distance = 2.0 - overlap;
    let apart = vector([distance, 0.0, 0.0]);
    let pair = Pair {
        apart,
        depth: 4.0 - distance * distance,
        velocity: Vector3::zero(),
        radius_i: 1.0,
        radius_j: 1.0,
        mass_i: 1.0,
        mass_j: 1.0,
    };
    let (contact_history, extended_history) = blank();
    let extended_history = ExtendedHistory {
        holds: 1.0,
        largest_overlap: largest,
        ..extended_history
    };
    let zero = Vector3::zero();
    let (c, s) = (&law.coefficients, &law.extended_coefficients);
    let force = extended_contact::<f64>(&pair, &zero, &zero, &contact_history, &extended_history, c, s, DT)
        .outcome
        .force
        .x;
    let stored = seixo_sweeps::contact::energy_of_extended::<f64, f64>(&apart, 1.0, 1.0, &contact_history, &extended_history, c, s);
    (force, stored.normal)
}

fn sticking(adhesive: Option<Cohesion>, normal: NormalLaw) -> PairOfLaws {
    derive(
        normal,
        TangentialLaw::None,
        &PairOfMaterials {
            adhesive,
            ..pair_of_materials()
        },
    )
}

/// The force of every law is the derivative of the energy that it adds to the ledger.
#[test]
fn forces_are_slopes_of_stored_energies() {
    for law in compounds() {
        let longest = seixo_laws::contact::cohesion::longest_gap::<f64>(0.5, &law.extended_coefficients);
        // No plastic flow occurs in this contact, because its largest overlap was deeper.
        let largest = 0.2;
        for k in 0..200 {
            let overlap = -0.98 * longest + (0.1 + 0.98 * longest) * (f64::from(k) + 0.5) / 200.0;
            let h = 1e-6;
            if overlap.abs() < 2.0 * h {
                continue;
            }
            let slope = (at_overlap(law, overlap + h, largest).1 - at_overlap(law, overlap - h, largest).1) / (2.0 * h);
            let force = at_overlap(law, overlap, largest).0;
            // Near the rupture of a neck the slope is steep: the difference is of second order in h.
            assert!(
                (slope - force).abs() < 2e-3 * (1.0 + force.abs()),
                "{law:?} at {overlap}: {slope} {force}"
            );
        }
    }
}

/// The largest attraction of a JKR neck is 3πγR*, and it ruptures at a gap of (3/4) (4π²γ²R*/E*²)^{1/3} (\[Johnson 1985, § 5.5\], with the work of
/// adhesion 2γ). A DMT contact attracts with 4πγR* where the bodies just touch, and a capillary bridge with 4πR*σ cos θ.
#[test]
fn bodies_stick_as_strongly_as_theory_says() {
    use std::f64::consts::PI;
    let (radius, modulus, gamma) = (0.5, 2e5, 20.0);
    let jkr = sticking(Some(Cohesion::Jkr { surface_energy: gamma }), NormalLaw::Hertz);
    let torn = 0.75 * (4.0 * PI * PI * gamma * gamma * radius / (modulus * modulus)).cbrt();
    let pull = |k: u32| -at_overlap(&jkr, -torn + 2.0 * torn * f64::from(k) / 1e5, 0.0).0;
    let strongest = (1..100_000).map(pull).fold(0.0, f64::max);
    assert!((strongest / (3.0 * PI * gamma * radius) - 1.0).abs() < 1e-6, "{strongest}");
    assert!(at_overlap(&jkr, -0.9999 * torn, 0.0).0 < 0.0 && at_overlap(&jkr, -1.0001 * torn, 0.0).0 == 0.0);
    let dmt = sticking(Some(Cohesion::Dmt { surface_energy: gamma }), NormalLaw::Hertz);
    assert!((-at_overlap(&dmt, 1e-12, 0.0).0 / (4.0 * PI * gamma * radius) - 1.0).abs() < 1e-6);
    let (tension, angle, volume) = (20.0, 0.3f64, 1e-4f64);
    let bridge = Cohesion::Capillary {
        surface_tension: tension,
        contact_angle: angle,
        volume,
    };
    let wet = sticking(Some(bridge), NormalLaw::Hertz);
    assert!((-at_overlap(&wet, -1e-12, 0.0).0 / (4.0 * PI * radius * tension * angle.cos()) - 1.0).abs() < 1e-9);
    let longest = (1.0 + 0.5 * angle) * volume.cbrt();
    assert!(at_overlap(&wet, -0.9999 * longest, 0.0).0 < 0.0 && at_overlap(&wet, -1.0001 * longest, 0.0).0 == 0.0);
}
