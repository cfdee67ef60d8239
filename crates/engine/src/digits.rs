//! Whether coordinates have enough digits for where a world is.

use crate::refusal::Refusal;
use crate::world::{Precision, World};

/// Share of the smallest radius by which places must be told apart: overlaps are some hundredths of it.
const FINEST: f64 = 1e-3;

/// What a world asks of the digits of its coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digits {
    /// The largest coordinate of anything that moves at the start, or comes later \[m\].
    farthest: f64,
    /// The smallest radius, of fluids half the spacing \[m\].
    smallest: f64,
    /// How far a grain goes in a step: at the largest speed that one has at the start or comes with, or after it fell through a radius \[m\].
    way: f64,
}

/// By how much coordinates about this one differ at least \[m\].
fn quantum(coordinate: f64, precision: Precision) -> f64 {
    match precision {
        Precision::F32 => {
            let near = coordinate.abs() as f32;
            f64::from(near.next_up() - near)
        }
        Precision::F64 | Precision::Mixed => coordinate.abs().next_up() - coordinate.abs(),
    }
}

impl Digits {
    /// What a world asks for that goes on in steps of `dt` \[s\].
    pub fn asked_by(world: &World, dt: f64) -> Digits {
        let (grains, later, fluids) = (&world.grains, &world.later.grains, world.fluids.as_ref());
        let length = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let in_fluids = fluids.iter().flat_map(|fluids| &fluids.particles.position);
        let places = grains.position.iter().chain(in_fluids).flatten().map(|x| x.abs());
        let farthest = places.chain(later.iter().map(|kind| kind.reach)).fold(0.0, f64::max);
        let radii = grains.radius.iter().copied().chain(later.iter().map(|kind| kind.radius[0]));
        let smallest = radii.fold(f64::INFINITY, f64::min);
        let speeds = grains.velocity.iter().map(length).chain(later.iter().map(|kind| kind.speed));
        let fallen = if smallest.is_finite() {
            (2.0 * length(&world.gravity) * smallest).sqrt()
        } else {
            0.0
        };
        Digits {
            farthest,
            smallest: fluids.map_or(smallest, |fluids| smallest.min(0.5 * fluids.spacing)),
            way: dt * speeds.fold(fallen, f64::max),
        }
    }

    /// Refuses a precision whose coordinates are too coarse.
    ///
    /// # Errors
    /// If neighboring coordinates are farther apart than a small part of the smallest radius, or the way of a step is rounded to nothing.
    pub fn check(&self, precision: Precision) -> Result<(), Refusal> {
        let Digits { farthest, smallest, way } = *self;
        let quantum = quantum(farthest, precision);
        let too_coarse = quantum > FINEST * smallest;
        let stands_still = way > 0.0 && way < 0.5 * quantum;
        if !too_coarse && !stands_still {
            return Ok(());
        }
        let what = if too_coarse {
            format!("{FINEST} of the smallest radius, which is {smallest:.3e} m, is the most")
        } else {
            format!("a grain goes {way:.3e} m in a step, which is rounded to nothing")
        };
        Err(Refusal::Digits {
            precision: precision.name(),
            farthest,
            quantum,
            what,
            is_of_step: !too_coarse,
            // A longer step does not part places that are too coarse for overlaps.
            instead: match (precision, too_coarse) {
                (Precision::F32, _) => "use --precision mixed or f64, or ",
                (_, false) => "use a longer time step, or ",
                (_, true) => "",
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAIN: Digits = Digits {
        farthest: 0.1,
        smallest: 1e-3,
        way: 1e-6,
    };

    #[test]
    fn coordinates_far_away_are_refused_by_what_they_lose() {
        let told = |digits: Digits, precision: Precision| digits.check(precision).err().map(|refusal| refusal.to_string());
        for precision in [Precision::F32, Precision::Mixed, Precision::F64] {
            assert_eq!(told(GRAIN, precision), None);
        }
        // At 4,500 km numbers of 24 binary digits are 0.5 m apart, those of 53 a nanometer.
        let away = |farthest: f64| Digits { farthest, ..GRAIN };
        let refused = told(away(4.5e6), Precision::F32).unwrap();
        for phrase in ["4.500e6 m", "f32", "5.000e-1 m", "1.000e-3 m", "--precision mixed"] {
            assert!(refused.contains(phrase), "{phrase}: {refused}");
        }
        assert_eq!(told(away(4.5e6), Precision::Mixed), None);
        let refused = told(away(1e11), Precision::F64).unwrap();
        assert!(refused.contains("1.526e-5 m") && !refused.contains("--precision"), "{refused}");
        assert!(!refused.contains("time step"), "no step helps where overlaps are lost: {refused}");
        // A slow one does not move long before overlaps are lost.
        let slow = Digits { way: 1e-9, ..GRAIN };
        let refused = told(slow, Precision::F32).unwrap();
        assert!(
            refused.contains("1.000e-9 m in a step") && refused.contains("rounded to nothing"),
            "{refused}"
        );
        assert_eq!(told(Digits { way: 0.0, ..GRAIN }, Precision::F32), None);
    }
}
