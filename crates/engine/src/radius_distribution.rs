//! Distributions of radii, from which fills and inlets draw with random numbers of their own.
//!
//! ```
//! use seixo_engine::radius_distribution::RadiusDistribution;
//!
//! let (fine, coarse) = ([1e-3, 1e-3], [2e-3, 2e-3]);
//! let radii = RadiusDistribution::by_mass(&[(fine, 0.5), (coarse, 0.5)]);
//! // A coarse grain is as heavy as eight fine ones. So one of nine grains is coarse.
//! assert_eq!(radii.draw(|| 0.88), 1e-3);
//! assert_eq!(radii.draw(|| 0.89), 2e-3);
//! assert_eq!(radii.range(), [1e-3, 2e-3]);
//! ```

use std::f64::consts::PI;

/// Cut of normal and log-normal distributions, in standard deviations on both sides.
const CUT: f64 = 3.0;
/// Share that is cut from a Weibull distribution at each end: that of a normal one beyond three standard deviations.
const TAIL: f64 = 0.001_35;
/// Number of intervals of the integrals in [`RadiusDistribution::mean_cube`]; even.
const PANELS: u32 = 1000;

/// Distribution of the radii of grains, by number unless stated otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum RadiusDistribution {
    /// One radius \[m\].
    One(f64),
    /// Uniform between two radii \[m\].
    Uniform([f64; 2]),
    /// Normal, cut at three standard deviations.
    Normal {
        /// Mean \[m\].
        mean: f64,
        /// Standard deviation \[m\], below a third of the mean.
        deviation: f64,
    },
    /// Log-normal, cut at three standard deviations.
    LogNormal {
        /// Median \[m\].
        median: f64,
        /// Standard deviation of the natural logarithm \[-\].
        deviation: f64,
    },
    /// Weibull, P(r) = 1 − exp(−(r/scale)^shape), without the 0.135 % of the grains at either end.
    Weibull {
        /// Radius with 63.2 % of the grains below it \[m\].
        scale: f64,
        /// Exponent \[-\].
        shape: f64,
    },
    /// Classes with shares of the grains; made by [`RadiusDistribution::by_number`] and [`RadiusDistribution::by_mass`].
    Classes(Vec<RadiusClass>),
}

/// A class of radii between two bounds with uniform mass per radius; equal bounds give one radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadiusClass {
    /// Bounds \[m\].
    bounds: [f64; 2],
    /// Share of the grains in this class and all previous ones \[-\].
    up_to_here: f64,
}

impl RadiusClass {
    /// Mean of r³ \[m³\]. With uniform mass over r, numbers are proportional to r⁻³: (b − a) / ∫ r⁻³ dr.
    fn mean_cube(&self) -> f64 {
        let [a, b] = self.bounds;
        2.0 * a * a * b * b / (a + b)
    }

    /// The radius with a share `u` of the class below it.
    fn quantile(&self, u: f64) -> f64 {
        let [a, b] = self.bounds;
        // In units of the upper bound, so that squares of small radii do not underflow.
        let a = a / b;
        (b * a / (a * a * u + (1.0 - u)).sqrt()).clamp(self.bounds[0], b)
    }
}

impl RadiusDistribution {
    /// Makes classes from their bounds \[m\] and shares of the number of grains; shares are relative to their sum.
    pub fn by_number(classes: &[([f64; 2], f64)]) -> RadiusDistribution {
        let total: f64 = classes.iter().map(|(_, share)| share).sum();
        let mut sum = 0.0;
        let class = |&(bounds, share): &([f64; 2], f64)| {
            sum += share;
            RadiusClass {
                bounds,
                up_to_here: sum / total,
            }
        };
        RadiusDistribution::Classes(classes.iter().map(class).collect())
    }

    /// Makes classes from their bounds \[m\] and shares of the mass: those of a sieve curve that is linear between two sieves.
    pub fn by_mass(classes: &[([f64; 2], f64)]) -> RadiusDistribution {
        let largest = classes.iter().map(|(bounds, _)| bounds[1]).fold(0.0, f64::max);
        let number = |&(bounds, share): &([f64; 2], f64)| {
            let relative = RadiusClass {
                bounds: bounds.map(|bound| bound / largest),
                up_to_here: 0.0,
            };
            (bounds, share / relative.mean_cube())
        };
        RadiusDistribution::by_number(&classes.iter().map(number).collect::<Vec<_>>())
    }

    /// Draws a radius \[m\]; `uniform` returns independent random numbers from 0 (included) to 1 (excluded).
    pub fn draw(&self, mut uniform: impl FnMut() -> f64) -> f64 {
        match self {
            RadiusDistribution::One(radius) => *radius,
            RadiusDistribution::Uniform([low, high]) => low + (high - low) * uniform(),
            RadiusDistribution::Normal { .. } | RadiusDistribution::LogNormal { .. } => loop {
                // Box–Muller transform [Box 1958].
                let (u, v) = (1.0 - uniform(), uniform());
                let deviate = (-2.0 * u.ln()).sqrt() * (2.0 * PI * v).cos();
                if deviate.abs() <= CUT {
                    return self.at(deviate);
                }
            },
            RadiusDistribution::Weibull { .. } => self.at(TAIL + (1.0 - 2.0 * TAIL) * uniform()),
            RadiusDistribution::Classes(classes) => {
                let (which, within) = (uniform(), uniform());
                let index = classes.partition_point(|class| class.up_to_here <= which);
                classes.get(index).or(classes.last()).map_or(0.0, |class| class.quantile(within))
            }
        }
    }

    /// Radius at a standard deviate (normal, log-normal) or at a quantile (Weibull).
    fn at(&self, parameter: f64) -> f64 {
        match self {
            RadiusDistribution::Normal { mean, deviation } => mean + deviation * parameter,
            RadiusDistribution::LogNormal { median, deviation } => median * (deviation * parameter).exp(),
            RadiusDistribution::Weibull { scale, shape } => scale * (-(-parameter).ln_1p()).powf(1.0 / shape),
            RadiusDistribution::One(_) | RadiusDistribution::Uniform(_) | RadiusDistribution::Classes(_) => self.range()[0],
        }
    }

    /// Smallest and largest radius \[m\].
    pub fn range(&self) -> [f64; 2] {
        match self {
            RadiusDistribution::One(radius) => [*radius; 2],
            RadiusDistribution::Uniform(bounds) => *bounds,
            RadiusDistribution::Normal { .. } | RadiusDistribution::LogNormal { .. } => [-CUT, CUT].map(|deviate| self.at(deviate)),
            RadiusDistribution::Weibull { .. } => [TAIL, 1.0 - TAIL].map(|quantile| self.at(quantile)),
            RadiusDistribution::Classes(classes) => classes.iter().fold([f64::INFINITY, 0.0], |[low, high], class| {
                [low.min(class.bounds[0]), high.max(class.bounds[1])]
            }),
        }
    }

    /// Mean of r³ \[m³\]: 4/3 π times this, times the density, is the mean mass of a grain.
    pub fn mean_cube(&self) -> f64 {
        match self {
            RadiusDistribution::One(radius) => radius.powi(3),
            RadiusDistribution::Uniform([low, high]) => (low + high) * (low * low + high * high) / 4.0,
            RadiusDistribution::Normal { .. } | RadiusDistribution::LogNormal { .. } => {
                let density = |deviate: f64| (-0.5 * deviate * deviate).exp();
                mean([-CUT, CUT], |deviate| self.at(deviate).powi(3), density)
            }
            RadiusDistribution::Weibull { .. } => mean([TAIL, 1.0 - TAIL], |quantile| self.at(quantile).powi(3), |_| 1.0),
            RadiusDistribution::Classes(classes) => {
                let mut before = 0.0;
                let part = |class: &RadiusClass| {
                    let share = class.up_to_here - before;
                    before = class.up_to_here;
                    share * class.mean_cube()
                };
                classes.iter().map(part).sum()
            }
        }
    }
}

/// Mean of a function with a density that need not be normalized, by Simpson's rule.
fn mean([low, high]: [f64; 2], function: impl Fn(f64) -> f64, density: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for k in 0..=PANELS {
        let x = low + (high - low) * f64::from(k) / f64::from(PANELS);
        let weight = density(x)
            * match k {
                0 | PANELS => 1.0,
                k if k % 2 == 1 => 4.0,
                _ => 2.0,
            };
        sum += weight * function(x);
        total += weight;
    }
    sum / total
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    /// SplitMix64 \[Steele 2014\].
    fn generator(mut state: u64) -> impl FnMut() -> f64 {
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    fn drawn(sizes: &RadiusDistribution) -> Vec<f64> {
        let mut uniform = generator(1);
        let mut radii: Vec<f64> = (0..DRAWS).map(|_| sizes.draw(&mut uniform)).collect();
        radii.sort_by(f64::total_cmp);
        radii
    }

    fn every() -> Vec<RadiusDistribution> {
        let classes = [([1e-3, 2e-3], 0.2), ([2e-3, 3e-3], 0.5), ([5e-3, 5e-3], 0.3)];
        vec![
            RadiusDistribution::One(2e-3),
            RadiusDistribution::Uniform([1e-3, 3e-3]),
            RadiusDistribution::Normal {
                mean: 2e-3,
                deviation: 3e-4,
            },
            RadiusDistribution::LogNormal {
                median: 2e-3,
                deviation: 0.3,
            },
            RadiusDistribution::Weibull { scale: 2e-3, shape: 3.0 },
            RadiusDistribution::by_number(&classes),
            RadiusDistribution::by_mass(&classes),
        ]
    }

    #[test]
    fn draws_stay_in_range_and_weigh_what_is_said() {
        for sizes in every() {
            let radii = drawn(&sizes);
            let [low, high] = sizes.range();
            assert!(radii[0] >= low && radii[DRAWS - 1] <= high, "{sizes:?}");
            let cubes: Vec<f64> = radii.iter().map(|radius| radius.powi(3)).collect();
            let mean = cubes.iter().sum::<f64>() / DRAWS as f64;
            let variance = cubes.iter().map(|cube| (cube - mean).powi(2)).sum::<f64>() / DRAWS as f64;
            // Four standard errors, and the rounding error for equal radii.
            let bar = 4.0 * (variance / DRAWS as f64).sqrt() + 1e-9 * mean;
            assert!((mean - sizes.mean_cube()).abs() < bar, "{sizes:?}: {mean} {}", sizes.mean_cube());
        }
    }

    #[test]
    fn quartiles_are_those_of_the_tables() {
        // Quartiles of the uncut distributions; the cuts move them by less than 2·10⁻³ of a standard deviation. A quartile of n draws has
        // the standard error √(3/16 n) over the density there. The density is above 0.3 over a standard deviation, so the error is 3·10⁻³ of one.
        for (sizes, quartiles, deviation) in [
            (&every()[2], [2e-3 - 0.6745 * 3e-4, 2e-3, 2e-3 + 0.6745 * 3e-4], 3e-4),
            (&every()[3], [1.6337e-3, 2e-3, 2.4484e-3], 6.5e-4),
            (&every()[4], [1.3203e-3, 1.7700e-3, 2.2301e-3], 6.5e-4),
        ] {
            let radii = drawn(sizes);
            for (quarter, expected) in (1..4).zip(quartiles) {
                let found = radii[quarter * DRAWS / 4];
                assert!((found - expected).abs() < 0.015 * deviation, "{sizes:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn drawn_by_mass_the_masses_follow_the_curve() {
        let (sieves, passing) = ([1e-3, 2e-3, 3e-3, 5e-3], [0.0, 0.2, 0.7, 1.0]);
        let classes: Vec<_> = (0..3).map(|k| ([sieves[k], sieves[k + 1]], passing[k + 1] - passing[k])).collect();
        let radii = drawn(&RadiusDistribution::by_mass(&classes));
        let total: f64 = radii.iter().map(|radius| radius.powi(3)).sum();
        let expected = |radius: f64| {
            let k = sieves.partition_point(|sieve| *sieve < radius).clamp(1, 3);
            passing[k - 1] + (passing[k] - passing[k - 1]) * (radius - sieves[k - 1]) / (sieves[k] - sieves[k - 1])
        };
        let (mut sum, mut distance) = (0.0, 0.0_f64);
        for radius in &radii {
            sum += radius.powi(3) / total;
            distance = distance.max((sum - expected(*radius)).abs());
        }
        // Kolmogorov's distance at the level of 1 % is 1.63/√n. Weighted by mass, n draws are equivalent to (Σm)²/Σm² draws [Kish 1965]. If the
        // heavy grains carry all the noise, its standard deviation is at most twice that of equal weights.
        let effective = total * total / radii.iter().map(|radius| radius.powi(6)).sum::<f64>();
        assert!(distance < 2.0 * 1.63 / effective.sqrt(), "{distance} {effective}");
    }
}
