//! Numbers and their units, as they are parsed.

use super::*;

#[test]
fn units_scale_without_rounding_twice() {
    for (text, si) in [
        ("0.3 mm", 3e-4),
        ("1.5us", 1.5e-6),
        ("1 GPa", 1e9),
        ("2 g/cm^3", 2000.0),
        ("-9.81 m s⁻²", -9.81),
        ("60 rpm", std::f64::consts::TAU),
        ("400 N/m", 400.0),
        ("30 %", 0.3),
        ("1e3 m", 1e3),
        ("2 h", 7200.0),
        ("1000 1/s", 1000.0),
        ("2 mN*m", 2e-3),
        ("1 mPa*s", 1e-3),
        ("2 inch", 0.0508),
        ("0.5 in", 0.0127),
        ("5 l", 5e-3),
        ("20 ml/s", 2e-5),
        ("3 L/min", 5e-5),
        ("2.5 kg/l", 2500.0),
        ("1.5 bar", 1.5e5),
        ("10 mbar", 1e3),
    ] {
        assert_eq!(parse(text).map(|p| p.value), Ok(si), "{text}");
    }
}

/// A pound-force is the weight of 0.453 592 37 kg at 9.806 65 m/s²; tables give 6894.757 293 Pa for one on a square inch.
#[test]
fn units_of_plants_are_those_of_the_tables() {
    assert!((parse("1 psi").unwrap().value - 6_894.757_293).abs() < 1e-6);
    assert_eq!(parse("1 psi").unwrap().powers, parse("1 bar").unwrap().powers);
    assert!((parse("36 t/h").unwrap().value - 10.0).abs() < 1e-14, "kg/s");
    assert_eq!(parse("1 t/h").unwrap().powers, Some(MassRate::POWERS));
    assert_eq!(parse("1 l").unwrap().powers, Some(Volume::POWERS));
}

#[test]
fn dimensions_are_distinguished() {
    assert_eq!(parse("1 N s/m").unwrap().powers, Some(UnitExponents::of([0, 1, -1])));
    assert_eq!(parse("2 rad/s").unwrap().powers, parse("2 rpm").unwrap().powers);
    assert_eq!(parse("3 N m").unwrap().powers, Some(Torque::POWERS));
    assert_eq!(parse("3 Pa s").unwrap().powers, parse("3 kg/m/s").unwrap().powers);
    assert_ne!(parse("2 rad/s").unwrap().powers, parse("2 Hz").unwrap().powers);
    assert_eq!(UnitExponents::of([1, 1, -1]).to_string(), "[m kg s^-1]");
    assert!(
        parse("1 Gdeg").is_err()
            && parse("5 m//s").is_err()
            && parse("5 m/").is_err()
            && parse("nan m").is_err()
            && parse("1e400 m").is_err()
            && parse("1e-320 nm").is_err()
    );
}

#[test]
fn units_in_the_wrong_case_are_named_in_the_right_one() {
    for (text, meant) in [
        ("5 Mpa", "MPa"),
        ("5 mpa", "mPa"),
        ("5 MPA", "MPa"),
        ("3 KG", "kg"),
        ("10 hz", "Hz"),
        ("9.81 M/s^2", "m"),
        ("2 G/cm^3", "g"),
        ("30 Deg", "deg"),
        ("60 RPM", "rpm"),
        ("2 kG/m^3", "kg"),
    ] {
        let remedy = parse(text).unwrap_err().remedy;
        assert!(remedy.starts_with(&format!("did you mean `{meant}`?")), "{text}: {remedy}");
    }
    assert!(parse("3 feet").unwrap_err().remedy.starts_with("units are built from"));
}

#[test]
fn a_decimal_comma_is_refused_with_a_point_as_the_remedy() {
    for text in ["1,5 MPa", "-0,3", "1,000.5 m"] {
        let refused = parse(text).unwrap_err();
        assert!(
            refused.message.contains("has a decimal comma, which is not read"),
            "{}",
            refused.message
        );
        assert!(refused.remedy.contains("1.5 MPa"), "{}", refused.remedy);
    }
}

proptest::proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,40}", digits in "[-+0-9.eE_]{0,12}", unit in "[a-zµ°%²³⁻^/ *·0-9-]{0,12}") {
        let _ = parse(&text);
        let _ = parse(&format!("{digits}{unit}"));
    }

    #[test]
    fn what_is_read_is_finite(value in proptest::num::f64::ANY, unit in "(|m|mm|km|us|GPa|deg|kg/m\\^3|m\\^-9)") {
        if let Ok(parsed) = parse(&format!("{value:e} {unit}")) {
            proptest::prop_assert!(parsed.value.is_finite());
        }
    }
}
