//! Round numbers for readers: ticks, scale bars, unit prefixes.

/// The largest 1, 2 or 5 times a power of ten that is at most `value` (> 0).
pub fn round_below(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [5.0, 2.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|&round| round <= value * (1.0 + 1e-9))
        .unwrap_or(power)
}

/// Round values inside `low..=high`, at most `most` of them plus one, and the step between them.
pub fn ticks(low: f64, high: f64, most: usize) -> (Vec<f64>, f64) {
    let least = (high - low) / most as f64;
    let below = round_below(least);
    let step = if below >= least * (1.0 - 1e-9) {
        below
    } else {
        round_below(2.5 * below)
    };
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    ((first..=last).take(most + 1).map(|i| i as f64 * step).collect(), step)
}

/// A readable unit for a scale, and round numbers along it, at most `most` plus one, each with its relative position from the low end. Without
/// numbers if the scale has no length.
pub fn marks((low, high): (f64, f64), unit: &str, most: usize) -> (String, Vec<(f64, String)>) {
    let (factor, unit) = readable(low.abs().max(high.abs()), unit);
    if low >= high || !(high - low).is_finite() {
        return (unit, Vec::new());
    }
    let (values, step) = ticks(low * factor, high * factor, most);
    let mark = |value: f64| ((value / factor - low) / (high - low), number(value, step));
    (unit, values.into_iter().map(mark).collect())
}

/// Numbers 1, 2 and 5 times a power of ten inside `low..=high` (> 0), or only the powers if there are many.
pub fn logarithmic_ticks(low: f64, high: f64) -> Vec<f64> {
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let digits: &[f64] = if high / low > 1e4 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let all = powers.flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
    all.filter(|tick| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(tick))
        .collect()
}

/// A number with as many decimals as `step`.
pub fn number(value: f64, step: f64) -> String {
    let decimals = (-step.log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize;
    let text = format!("{:.decimals$}", if value == 0.0 { 0.0 } else { value });
    text.replace('-', "\u{2212}")
}

/// A number with this many significant digits, without trailing zeros.
pub fn digits(value: f64, count: i32) -> String {
    if !value.is_finite() {
        let word = if value.is_nan() { "NaN" } else { "∞" };
        return if value < 0.0 { format!("\u{2212}{word}") } else { word.to_owned() };
    }
    let step = if value == 0.0 {
        1.0
    } else {
        10f64.powi(value.abs().log10().floor() as i32 + 1 - count)
    };
    let text = number(value, step);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// A count with thousands separators.
pub fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The factor and the unit that make values up to `extent` readable: 0.0024 m/s → 1000, "mm/s".
pub fn readable(extent: f64, unit: &str) -> (f64, String) {
    const PREFIXES: [(i32, &str); 9] = [
        (-12, "p"),
        (-9, "n"),
        (-6, "µ"),
        (-3, "m"),
        (0, ""),
        (3, "k"),
        (6, "M"),
        (9, "G"),
        (12, "T"),
    ];
    if !extent.is_finite() || extent <= 0.0 || (0.1..1000.0).contains(&extent) {
        return (1.0, unit.to_string());
    }
    let power = ((extent.log10() / 3.0).floor() as i32 * 3).clamp(-12, 12);
    let (grams, rest) = match unit.strip_prefix('k') {
        Some(rest) if rest.starts_with('g') => (3, rest),
        _ => (0, unit),
    };
    let power = (power + grams).clamp(-12, 12);
    let takes_prefix = ["m", "s", "g", "N", "J", "Pa", "W", "Hz"].iter().any(|symbol| {
        rest.strip_prefix(symbol)
            .is_some_and(|after| !after.starts_with(char::is_alphabetic) && !after.starts_with(['²', '³', '^', '2', '3']))
    });
    match PREFIXES.iter().find(|(exponent, _)| *exponent == power) {
        Some((_, prefix)) if takes_prefix => (10f64.powi(grams - power), format!("{prefix}{rest}")),
        _ if (1e-2..1e5).contains(&extent) => (1.0, unit.to_string()),
        _ => (10f64.powi(grams - power), format!("10^{} {unit}", power - grams)),
    }
}

/// A round length that fills at most a fifth of the room, where a pixel is `meters` wide: in pixels, and as text.
pub fn bar(meters: f64, room: f64) -> (f64, String) {
    let length = round_below(0.2 * room * meters);
    let (factor, unit) = readable(length, "m");
    let value = length * factor;
    (length / meters, format!("{} {unit}", number(value, round_below(value))))
}

/// A quantity as `name [unit]`, or only the name for a dimensionless number.
pub fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() || unit == "-" {
        name.to_string()
    } else {
        format!("{name} [{unit}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_well_with_a_prefix() {
        for (value, unit, expected) in [
            (0.0024, "m/s", "2.4 mm/s"),
            (0.5, "m/s", "0.5 m/s"),
            (21_000.0, "N", "21 kN"),
            (3e-6, "kg", "3 mg"),
            (2e-9, "N m", "2 nN m"),
            (250.0, "rad/s", "250 rad/s"),
        ] {
            let (factor, readable_unit) = readable(value, unit);
            assert_eq!(format!("{} {readable_unit}", (value * factor * 1e6).round() / 1e6), expected);
        }
    }

    #[test]
    fn marks_of_a_scale_stand_where_their_numbers_are() {
        let (unit, found) = marks((-0.0012, 0.0024), "m/s", 6);
        assert_eq!((unit.as_str(), found.len() >= 3), ("mm/s", true), "{found:?}");
        for (part, text) in &found {
            let value: f64 = text.replace('−', "-").parse().unwrap();
            assert!((part * 3.6 - 1.2 - value).abs() < 1e-9, "{value} at {part}");
        }
        for range in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(marks(range, "m", 6).1.is_empty());
        }
    }

    #[test]
    fn digits_are_those_that_count() {
        for (value, expected) in [
            (0.0, "0"),
            (1234.5678, "1235"),
            (-0.001_234_6, "\u{2212}0.001235"),
            (f64::INFINITY, "∞"),
            (f64::NEG_INFINITY, "\u{2212}∞"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(digits(value, 4), expected);
        }
    }

    #[test]
    fn a_scale_bar_is_as_long_as_it_says() {
        let (pixels, label) = bar(0.0005, 800.0);
        assert_eq!(label, "50 mm");
        assert!((pixels - 100.0).abs() < 1e-9, "{pixels}");
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let (values, step) = ticks(-0.07, 0.31, 5);
        let labels: Vec<String> = values.iter().map(|&v| number(v, step)).collect();
        assert_eq!(labels, ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(ticks(0.0, 4.0, 5).0, [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(logarithmic_ticks(1.0, 16.0), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(logarithmic_ticks(30.0, 2e6), [1e2, 1e3, 1e4, 1e5, 1e6]);
    }
}
