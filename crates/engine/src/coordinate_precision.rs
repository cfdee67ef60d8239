//! Check that coordinates have enough digits for the positions of a world.

use crate::refusal::WorldError;
use crate::world::{Precision, World};

/// Smallest difference of positions that must be resolved, as a share of the smallest radius: overlaps are some hundredths of it.
const FINEST: f64 = 1e-3;

/// Requirements of a world on the digits of its coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoordinatePrecision {
    /// Largest coordinate of grains and fluid particles at the start, or of grains that are added later \[m\].
    farthest: f64,
    /// Smallest radius; half the spacing for fluids \[m\].
    smallest: f64,
    /// Displacement of a grain in a step, at the largest initial speed, or at the speed after a fall through a radius \[m\].
    way: f64,
}

/// Smallest difference of coordinates near this one \[m\].
fn quantum(coordinate: f64, precision: Precision) -> f64 {
    match precision {
        Precision::F32 => {
            let near = coordinate.abs() as f32;
            f64::from(near.next_up() - near)
        }
        Precision::F64 | Precision::Mixed => coordinate.abs().next_up() - coordinate.abs(),
    }
}

impl CoordinatePrecision {
    /// Requirements of a world with steps of `dt` \[s\].
    pub fn asked_by(world: &World, dt: f64) -> CoordinatePrecision {
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
        CoordinatePrecision {
            farthest,
            smallest: fluids.map_or(smallest, |fluids| smallest.min(0.5 * fluids.spacing)),
            way: dt * speeds.fold(fallen, f64::max),
        }
    }

    /// Rejects a precision whose coordinates are too coarse.
    ///
    /// # Errors
    /// If the difference of neighboring coordinates exceeds a small share of the smallest radius, or rounding removes the displacement in a step.
    pub fn check(&self, precision: Precision) -> Result<(), WorldError> {
        let CoordinatePrecision { farthest, smallest, way } = *self;
        let quantum = quantum(farthest, precision);
        let too_coarse = quantum > FINEST * smallest;
        let stands_still = way > 0.0 && way < 0.5 * quantum;
        if !too_coarse && !stands_still {
            return Ok(());
        }
        let what = if too_coarse {
            format!("{FINEST} of the smallest radius, which is {smallest:.3e} m, is the most")
        } else {
            format!("a grain moves {way:.3e} m in a step, which rounding loses")
        };
        Err(WorldError::Digits {
            precision: precision.name(),
            farthest,
            quantum,
            what,
            is_of_step: !too_coarse,
            // A longer step is no remedy for coordinates that are too coarse for overlaps.
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

    const GRAIN: CoordinatePrecision = CoordinatePrecision {
        farthest: 0.1,
        smallest: 1e-3,
        way: 1e-6,
    };

    #[test]
    fn coordinates_far_away_are_refused_by_what_they_lose() {
        let reported = |digits: CoordinatePrecision, precision: Precision| digits.check(precision).err().map(|refusal| refusal.to_string());
        for precision in [Precision::F32, Precision::Mixed, Precision::F64] {
            assert_eq!(reported(GRAIN, precision), None);
        }
        // At 4,500 km, neighboring numbers with 24 binary digits differ by 0.5 m, those with 53 digits by a nanometer.
        let away = |farthest: f64| CoordinatePrecision { farthest, ..GRAIN };
        let refused = reported(away(4.5e6), Precision::F32).unwrap();
        for phrase in ["4.500e6 m", "f32", "5.000e-1 m", "1.000e-3 m", "--precision mixed"] {
            assert!(refused.contains(phrase), "{phrase}: {refused}");
        }
        assert_eq!(reported(away(4.5e6), Precision::Mixed), None);
        let refused = reported(away(1e11), Precision::F64).unwrap();
        assert!(refused.contains("1.526e-5 m") && !refused.contains("--precision"), "{refused}");
        assert!(!refused.contains("time step"), "no step helps where overlaps are lost: {refused}");
        // The displacement of a slow grain is lost long before overlaps are.
        let slow = CoordinatePrecision { way: 1e-9, ..GRAIN };
        let refused = reported(slow, Precision::F32).unwrap();
        assert!(
            refused.contains("1.000e-9 m in a step") && refused.contains("which rounding loses"),
            "{refused}"
        );
        assert_eq!(reported(CoordinatePrecision { way: 0.0, ..GRAIN }, Precision::F32), None);
    }
}
