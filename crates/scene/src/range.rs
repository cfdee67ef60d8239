//! The ranges of values that keys accept.

use seixo_laws::contact::restitution::MIN_RESTITUTION;
use std::ops::Bound;

/// The values that a key accepts.
pub trait Range: 'static {
    /// Lower end.
    const LOW: Bound<f64>;
    /// Upper end.
    const HIGH: Bound<f64>;

    /// Whether the value is finite and inside.
    fn contains(value: f64) -> bool {
        value.is_finite() && std::ops::RangeBounds::contains(&(Self::LOW, Self::HIGH), &value)
    }

    /// The range in words.
    fn text() -> String {
        let low = match Self::LOW {
            Bound::Included(v) => Some(format!(">= {v}")),
            Bound::Excluded(v) => Some(format!("> {v}")),
            Bound::Unbounded => None,
        };
        let high = match Self::HIGH {
            Bound::Included(v) => Some(format!("<= {v}")),
            Bound::Excluded(v) => Some(format!("< {v}")),
            Bound::Unbounded => None,
        };
        match (low, high) {
            (None, None) => "any finite number".to_owned(),
            (Some(one), None) | (None, Some(one)) => one,
            (Some(low), Some(high)) => format!("{low} and {high}"),
        }
    }
}

macro_rules! ranges {
    ($($(#[$doc:meta])* $name:ident $low:expr, $high:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name;
        impl Range for $name {
            const LOW: Bound<f64> = $low;
            const HIGH: Bound<f64> = $high;
        }
    )+};
}

ranges! {
    /// Any finite value.
    Any Bound::Unbounded, Bound::Unbounded;
    /// Above zero.
    Positive Bound::Excluded(0.0), Bound::Unbounded;
    /// Zero or above.
    NotNegative Bound::Included(0.0), Bound::Unbounded;
    /// Above zero, at most one.
    UpToOne Bound::Excluded(0.0), Bound::Included(1.0);
    /// Restitution of a contact.
    Restitution Bound::Included(MIN_RESTITUTION), Bound::Included(1.0);
    /// Zero or above, below one.
    BelowOne Bound::Included(0.0), Bound::Excluded(1.0);
    /// Zero to one, including both.
    ZeroToOne Bound::Included(0.0), Bound::Included(1.0);
    /// Zero or above, below a right angle \[rad\].
    BelowRightAngle Bound::Included(0.0), Bound::Excluded(std::f64::consts::FRAC_PI_2);
    /// Poisson's ratio of a stable isotropic solid.
    PoissonRatio Bound::Excluded(-1.0), Bound::Included(0.5);
}
