//! Converts the radii of a scene to a distribution.

use crate::{
    assemble::CheckState,
    diagnostics::UnlocatedDiagnostic,
    schema::{Discrete, Distribution, Radius},
    vocabulary::Share,
};
use seixo_engine::radius_distribution::RadiusDistribution;
use seixo_files::sieve_in;

/// Largest ratio of the largest to the smallest radius of a distribution.
const WIDEST: f64 = 1000.0;
/// Tolerance for the sum of shares, which are given with few digits.
const ROUNDING: f64 = 1e-6;

/// The distribution that a scene gives; the path of a sieve curve is made absolute.
///
/// # Errors
/// If the numbers are no valid distribution, the file cannot be read, or the sizes differ too much.
pub(crate) fn sizes(radius: &mut Radius, findings: &mut CheckState) -> Result<RadiusDistribution, UnlocatedDiagnostic> {
    let sizes = match radius {
        Radius::One(one) => RadiusDistribution::One(one.si),
        Radius::Spread(Distribution::Uniform([low, high])) if low.si <= high.si => RadiusDistribution::Uniform([low.si, high.si]),
        Radius::Spread(Distribution::Uniform([low, high])) => {
            let message = format!("the radii from {} m to {} m run backward", low.si, high.si);
            return Err(UnlocatedDiagnostic::new(message).limit("smallest first").remedy("exchange the two"));
        }
        Radius::Spread(Distribution::Normal([mean, deviation])) => RadiusDistribution::Normal {
            mean: mean.si,
            deviation: deviation.si,
        },
        Radius::Spread(Distribution::LogNormal((median, deviation))) => RadiusDistribution::LogNormal {
            median: median.si,
            deviation: deviation.si,
        },
        Radius::Spread(Distribution::Weibull((scale, shape))) => RadiusDistribution::Weibull {
            scale: scale.si,
            shape: shape.si,
        },
        Radius::Spread(Distribution::Discrete(list)) => discrete(list)?,
        Radius::Spread(Distribution::Psd(file)) => {
            let whole = findings.absolute(file);
            *file = whole.display().to_string();
            let curve = sieve_in::read(&whole, &mut findings.notices).map_err(|error| UnlocatedDiagnostic::of_file(&error))?;
            let classes = curve
                .windows(2)
                .map(|pair| ([pair[0].radius, pair[1].radius], pair[1].passing - pair[0].passing));
            // A segment of the curve without mass has no grains.
            RadiusDistribution::by_mass(&classes.filter(|(_, share)| *share > 0.0).collect::<Vec<_>>())
        }
    };
    let [low, high] = sizes.range();
    if let RadiusDistribution::Normal { mean, deviation } = sizes
        && low <= 0.0
    {
        let message = format!("three standard deviations of {deviation} m below the mean of {mean} m leave no radius");
        return Err(UnlocatedDiagnostic::new(message)
            .limit("standard deviation below a third of the mean")
            .remedy("use a smaller standard deviation, or { uniform = [smallest, largest] }"));
    }
    // A comparison with a value that is not a number must not count as narrow.
    let is_narrow = high <= WIDEST * low;
    if !is_narrow {
        let message = format!("the radii go from {low:.3e} m to {high:.3e} m, by a factor of {:.3e}", high / low);
        return Err(UnlocatedDiagnostic::new(message)
            .limit(format!("a factor of {WIDEST}"))
            .remedy("use a narrower distribution: the smallest grains set the time step of all"));
    }
    Ok(sizes)
}

fn discrete(list: &Discrete) -> Result<RadiusDistribution, UnlocatedDiagnostic> {
    let (radii, shares) = (list.radii.len(), list.shares.len());
    if radii != shares || radii == 0 {
        return Err(UnlocatedDiagnostic::new(format!("{radii} radii with {shares} shares"))
            .limit("as many shares as radii, and at least one")
            .remedy("write discrete = { radii = [\"1 mm\", \"2 mm\"], shares = [0.3, 0.7], by = \"mass\" }"));
    }
    let sum: f64 = list.shares.iter().map(|share| share.si).sum();
    if (sum - 1.0).abs() > ROUNDING {
        return Err(UnlocatedDiagnostic::new(format!("the shares add up to {sum}"))
            .limit("1")
            .remedy("divide each share by their sum"));
    }
    let classes = list
        .radii
        .iter()
        .zip(&list.shares)
        .map(|(radius, share)| ([radius.si; 2], share.si));
    let classes: Vec<_> = classes.filter(|(_, share)| *share > 0.0).collect();
    Ok(match list.by.0 {
        Share::Number => RadiusDistribution::by_number(&classes),
        Share::Mass => RadiusDistribution::by_mass(&classes),
    })
}
