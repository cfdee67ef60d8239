//! Quantities as regular expressions, for editors, and the list of units, for readers.

use super::{BASES, Base, DIMENSIONS, PREFIXES, power, symbol};
use std::fmt::Write;

/// A number that may precede a unit.
const NUMBER: &str = r"\s*[+-]?[0-9_]*\.?[0-9_]*([eE][+-]?[0-9]+)?";

/// The symbols with these exponents, each with its prefixes.
fn symbols(word: &str) -> String {
    let Some(unit) = symbol(word) else { return word.to_owned() };
    let prefixes: String = PREFIXES.iter().map(|(prefix, _)| *prefix).collect();
    let shown = |&(name, .., takes_prefix): &Base| {
        if takes_prefix {
            format!("[{prefixes}]?{name}")
        } else {
            name.to_owned()
        }
    };
    let mut alike: Vec<String> = BASES.iter().filter(|base| base.3 == unit.powers.0).map(shown).collect();
    if word == "rad" {
        alike.push("°".to_owned());
    }
    format!("({})", alike.join("|"))
}

/// One factor of a unit, as `m^3`.
fn factor(text: &str) -> String {
    let (word, exponent) = power(text).unwrap_or((text, 1));
    let superscript = ["", "", "²", "³"]
        .get(exponent.unsigned_abs() as usize)
        .copied()
        .unwrap_or_default();
    match exponent {
        1 => symbols(word),
        _ => format!(r"{}(\^?{exponent}|{superscript})", symbols(word)),
    }
}

/// A unit such as `kg/m^3`, with all prefixes.
fn unit(form: &str) -> String {
    let mut parts = form.split('/');
    let above: Vec<String> = parts
        .next()
        .unwrap_or_default()
        .split(' ')
        .map(|word| if word == "1" { word.to_owned() } else { factor(word) })
        .collect();
    parts.fold(above.join(r"[ *·]+"), |all, below| format!(r"{all}\s*/\s*{}", factor(below)))
}

/// The pattern of a text that is a quantity with a unit of one of these forms: "5 kg" is no time.
pub(crate) fn pattern(forms: &[&str]) -> String {
    let units: Vec<String> = forms.iter().map(|form| unit(form)).collect();
    format!(r"^{NUMBER}\s*({})\s*$", units.join("|"))
}

/// The pattern of a formula in parentheses with a unit of one of these forms.
pub(crate) fn formula_pattern(forms: &[&str]) -> String {
    let units: Vec<String> = forms.iter().map(|form| unit(form)).collect();
    format!(r"^\s*\(.*\)\s*({})\s*$", units.join("|"))
}

/// The accepted units of quantities, as a text for readers.
pub(crate) fn units() -> String {
    let mut text = "A quantity is a number in SI units, or a text with a number and a unit, as in \"2 mm\".\n\
        A unit is a product of symbols: \"kg/m^3\", \"N s/m\", \"m s^-2\". A division sign divides by the one symbol after it.\n\
        Upper and lower case matter: \"mPa\" is a thousandth of a pascal, \"MPa\" a million of them.\n\n"
        .to_owned();
    let symbols = |takes_prefix: bool| -> String {
        let names: Vec<&str> = BASES.iter().filter(|base| base.4 == takes_prefix).map(|base| base.0).collect();
        names.join(", ")
    };
    let prefixes: Vec<String> = PREFIXES.iter().map(|(prefix, ten)| format!("{prefix} = 1e{ten}")).collect();
    _ = writeln!(text, "Symbols that take prefixes: {}", symbols(true));
    _ = writeln!(text, "Symbols that take none:     {}, °", symbols(false));
    _ = writeln!(text, "Prefixes:                   {}\n", prefixes.join(", "));
    _ = writeln!(text, "{:<30} {:<10} {:<14} written as", "dimension", "SI unit", "example");
    for (name, unit, example, forms) in DIMENSIONS {
        let forms: Vec<&str> = forms.iter().copied().filter(|form| !form.is_empty()).collect();
        _ = writeln!(text, "{name:<30} {unit:<10} {example:<14} {}", forms.join(", "));
    }
    text
}
