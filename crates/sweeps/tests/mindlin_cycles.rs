//! What a tangential spring gives back of the work put into it while the contact is pressed more or less in between: never more with
//! `mindlin`, twice as much with the two ways in which other codes deal with a contact radius that changes.

use proptest::prelude::*;
use seixo_laws::Vector3;
use seixo_laws::contact::{Imprint, Memory, NormalLaw, PairOfLaws, PairOfMaterials, TangentialLaw, derive};
use seixo_sweeps::compound::blank;
use seixo_sweeps::pair::{Pair, stick_together};

const DT: f64 = 1e-4;
const SHALLOW: f64 = 1e-3;
/// Four times as deep: twice the contact radius, twice Mindlin's stiffness.
const DEEP: f64 = 4e-3;

/// Two unit spheres that are moved against each other, rough enough never to slide, without dashpots.
struct Contact {
    laws: PairOfLaws,
    memory: Memory<f64>,
    imprint: Imprint<f64>,
    /// Tangential force on the first.
    force: f64,
    /// Work of the motion against it so far.
    work: f64,
}

impl Contact {
    fn new(tangential: TangentialLaw) -> Contact {
        let pair = PairOfMaterials {
            effective_modulus: 2e5,
            effective_shear_modulus: 8e4,
            friction: 1e9,
            tangential_stiffness: 1e4,
            ..PairOfMaterials::default()
        };
        let (memory, imprint) = blank();
        Contact {
            laws: derive(NormalLaw::Hertz, tangential, &pair),
            memory,
            imprint,
            force: 0.0,
            work: 0.0,
        }
    }

    /// One time step at this overlap, in which the first sphere slips by `slip`.
    fn step(&mut self, overlap: f64, slip: f64) {
        let distance = 2.0 - overlap;
        let pair = Pair {
            apart: Vector3 {
                x: distance,
                y: 0.0,
                z: 0.0,
            },
            depth: 4.0 - distance * distance,
            velocity: Vector3 {
                x: 0.0,
                y: slip / DT,
                z: 0.0,
            },
            radius_i: 1.0,
            radius_j: 1.0,
            mass_i: 1.0,
            mass_j: 1.0,
        };
        let still = Vector3::zero();
        let (c, s) = (&self.laws.coefficients, &self.laws.supplement);
        let result = stick_together::<f64>(&pair, &still, &still, &self.memory, &self.imprint, c, s, DT);
        self.memory = result.outcome.memory;
        self.imprint = result.imprint;
        self.force = self.memory.force.y;
        self.work -= result.outcome.force.y * slip;
    }

    /// Slips back in small steps until the spring is free, at this overlap.
    fn relax(&mut self, overlap: f64) {
        let sense = self.force.signum();
        while self.force * sense > 0.0 {
            self.step(overlap, sense * 1e-8);
        }
    }

    /// Slips at one overlap, changes to another and slips back until the spring is free: what comes back over what was put in.
    fn cycle(tangential: TangentialLaw, out: f64, back: f64) -> f64 {
        let mut contact = Contact::new(tangential);
        for _ in 0..1000 {
            contact.step(out, 1e-8);
        }
        let put_in = contact.work;
        for k in 1..=1000 {
            contact.step(out + (back - out) * f64::from(k) / 1000.0, 0.0);
        }
        assert_eq!(contact.work, put_in, "a change of the overlap alone does no tangential work");
        contact.relax(back);
        (put_in - contact.work) / put_in
    }
}

#[test]
fn springs_give_back_what_theory_says() {
    use TangentialLaw::{Linear, Mindlin, MindlinDisplacement, MindlinForce};
    // Springs of k and 2 k for the shallow and the deep contact. A force kept from deep to shallow stretches the softer one twice as far;
    // a displacement kept from shallow to deep pulls twice as strongly.
    for (law, unloading, loading) in [
        (Linear, 1.0, 1.0),
        (Mindlin, 0.5, 0.5),
        (MindlinForce, 2.0, 0.5),
        (MindlinDisplacement, 0.5, 2.0),
    ] {
        for (expected, [out, back]) in [(unloading, [DEEP, SHALLOW]), (loading, [SHALLOW, DEEP])] {
            let found = Contact::cycle(law, out, back);
            println!("{law:?} {out} -> {back}: {found:.4}");
            // A thousandth for the last step, which ends anywhere around the free spring.
            assert!((found - expected).abs() < 1e-3, "{law:?} from {out} to {back}: {found}");
        }
    }
}

proptest! {
    #[test]
    fn mindlin_never_gives_more_than_it_got(path in proptest::collection::vec((1e-4..1e-2f64, -1e-6..1e-6f64), 1..200)) {
        let mut contact = Contact::new(TangentialLaw::Mindlin);
        for (overlap, slip) in path {
            // The overlap changes between slips, not while one is under way: then work and spring are exact.
            contact.step(overlap, 0.0);
            contact.step(overlap, slip);
            prop_assert!(contact.work >= -1e-15, "{:e} J", contact.work);
        }
    }
}
