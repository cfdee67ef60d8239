//! Restitution and damping against published closed forms.

use seixo_laws::contact::restitution::{MIN_RESTITUTION, Spring, damping_ratio, restitution};

/// Restitution of a linear spring and dashpot, cut off where the force would become attractive: \[Schwager 2007, eq. 19\], for underdamped contacts.
fn schwager_poeschel(damping_ratio: f64) -> f64 {
    let damped = (1.0 - damping_ratio * damping_ratio).sqrt();
    let phase = if damping_ratio < std::f64::consts::FRAC_1_SQRT_2 {
        std::f64::consts::PI
            - (2.0 * damping_ratio * damped / (2.0 * damping_ratio * damping_ratio - 1.0))
                .atan()
                .abs()
    } else {
        (2.0 * damping_ratio * damped / (2.0 * damping_ratio * damping_ratio - 1.0)).atan()
    };
    (-damping_ratio / damped * phase).exp()
}

/// Damping ratio of a Hertzian contact with the same cut-off: the fit of \[Thornton 2013\].
fn thornton(e: f64) -> f64 {
    let h = [
        -6.918798, -16.41105, 146.8049, -796.4559, 2928.711, -7206.864, 11494.29, -11342.18, 6276.757, -1489.915,
    ];
    let exponent = h.iter().rev().fold(0.0, |sum, h| e * (h + sum));
    (1.0 / (1.0 - (1.0 + e).powi(2) * exponent.exp()) - 1.0).sqrt()
}

#[test]
fn hooke_agrees_with_the_closed_form() {
    for ratio in [0.01, 0.1, 0.3, 0.5, 0.69, 0.75, 0.9] {
        let difference = restitution(Spring::Hooke, ratio) - schwager_poeschel(ratio);
        // The end of the contact is found within one step of 1e-3 of its time.
        assert!(difference.abs() < 1e-4, "{ratio}: {difference}");
    }
}

#[test]
fn hertz_agrees_with_the_published_fit() {
    for e in [0.2, 0.3, 0.5, 0.7, 0.9] {
        let difference = restitution(Spring::Hertz, thornton(e)) - e;
        // The paper states an error below 0.002 in e for its fit.
        assert!(difference.abs() < 0.003, "{e}: {difference}");
    }
}

#[test]
fn damping_ratio_inverts_restitution() {
    for spring in [Spring::Hooke, Spring::Hertz] {
        for e in [0.01, 0.05, 0.2, 0.5, 0.9, 0.99, 0.9999] {
            assert!((restitution(spring, damping_ratio(spring, e)) - e).abs() < 1e-6, "{spring:?} {e}");
        }
        assert_eq!(damping_ratio(spring, 1.0), 0.0);
    }
}

#[test]
fn the_least_restitution_is_reached() {
    // For the linear law e = exp(−2ζ arcosh ζ/√(ζ² − 1)), [Schwager 2007, eq. 19] for overdamped contacts; far beyond critical damping this is
    // 1/(4ζ²). With u = δ^{5/4} the equation of motion of Hertz in the plane of u and velocity is the linear one with ζ√(6/5).
    let closed_form = |ratio: f64| (-2.0 * ratio * ratio.acosh() / (ratio * ratio - 1.0).sqrt()).exp();
    for (spring, factor) in [(Spring::Hooke, 1.0), (Spring::Hertz, 1.2_f64.sqrt())] {
        for (e, tolerance) in [(1e-2, 1e-3), (1e-4, 5e-3), (MIN_RESTITUTION, 0.03)] {
            let found = closed_form(factor * damping_ratio(spring, e));
            // The stiffer the dashpot, the less accurately steps of 1e-3 resolve the start of a Hertzian contact.
            assert!((found / e - 1.0).abs() < tolerance, "{spring:?} {e}: {found}");
        }
    }
}
