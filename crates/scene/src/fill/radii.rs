//! From the radii that a scene asks for to a distribution to draw from.

use crate::{
    assemble::Findings,
    diagnostics::Complaint,
    schema::{Discrete, Radius, Spread},
    words::Share,
};
use seixo_engine::sizes::Sizes;
use seixo_files::sieve_in;

/// Largest radius over smallest that a distribution may have.
const WIDEST: f64 = 1000.0;
/// How far the sum of shares may be from 1: shares are given with some digits.
const ROUNDING: f64 = 1e-6;

/// The distribution that a scene asks for; the path of a sieve curve is made absolute.
///
/// # Errors
/// When the numbers make no distribution, the file cannot be read, or the sizes differ too much.
pub(crate) fn sizes(radius: &mut Radius, findings: &Findings) -> Result<Sizes, Complaint> {
    let sizes = match radius {
        Radius::One(one) => Sizes::One(one.si),
        Radius::Spread(Spread::Uniform([low, high])) if low.si <= high.si => Sizes::Uniform([low.si, high.si]),
        Radius::Spread(Spread::Uniform([low, high])) => {
            let message = format!("the radii from {} m to {} m run backward", low.si, high.si);
            return Err(Complaint::new(message).limit("smallest first").remedy("exchange the two"));
        }
        Radius::Spread(Spread::Normal([mean, deviation])) => Sizes::Normal {
            mean: mean.si,
            deviation: deviation.si,
        },
        Radius::Spread(Spread::LogNormal((median, deviation))) => Sizes::LogNormal {
            median: median.si,
            deviation: deviation.si,
        },
        Radius::Spread(Spread::Weibull((scale, shape))) => Sizes::Weibull {
            scale: scale.si,
            shape: shape.si,
        },
        Radius::Spread(Spread::Discrete(list)) => discrete(list)?,
        Radius::Spread(Spread::Psd(file)) => {
            let whole = findings.absolute(file);
            *file = whole.display().to_string();
            let curve = sieve_in::read(&whole).map_err(|error| Complaint::of_file(&error))?;
            let classes = curve
                .windows(2)
                .map(|pair| ([pair[0].radius, pair[1].radius], pair[1].passing - pair[0].passing));
            // A stretch of the curve without mass is no class of grains.
            Sizes::by_mass(&classes.filter(|(_, share)| *share > 0.0).collect::<Vec<_>>())
        }
    };
    let [low, high] = sizes.range();
    if let Sizes::Normal { mean, deviation } = sizes
        && low <= 0.0
    {
        let message = format!("three standard deviations of {deviation} m below the mean of {mean} m leave no radius");
        return Err(Complaint::new(message)
            .limit("standard deviation below a third of the mean")
            .remedy("use a smaller standard deviation, or { uniform = [smallest, largest] }"));
    }
    // What is not a number is not narrow.
    let is_narrow = high <= WIDEST * low;
    if !is_narrow {
        let message = format!("the radii go from {low:.3e} m to {high:.3e} m, by a factor of {:.3e}", high / low);
        return Err(Complaint::new(message)
            .limit(format!("a factor of {WIDEST}"))
            .remedy("use a narrower distribution: the smallest grains set the time step of all"));
    }
    Ok(sizes)
}

fn discrete(list: &Discrete) -> Result<Sizes, Complaint> {
    let (radii, shares) = (list.radii.len(), list.shares.len());
    if radii != shares || radii == 0 {
        return Err(Complaint::new(format!("{radii} radii with {shares} shares"))
            .limit("as many shares as radii, and at least one")
            .remedy("write discrete = { radii = [\"1 mm\", \"2 mm\"], shares = [0.3, 0.7], by = \"mass\" }"));
    }
    let sum: f64 = list.shares.iter().map(|share| share.si).sum();
    if (sum - 1.0).abs() > ROUNDING {
        return Err(Complaint::new(format!("the shares add up to {sum}"))
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
        Share::Number => Sizes::by_number(&classes),
        Share::Mass => Sizes::by_mass(&classes),
    })
}
