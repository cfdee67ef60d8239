//! Numbers with units – `"2 mm"`, `"9.81 m/s^2"` – checked for dimension and range as they are read.
//!
//! ```
//! use seixo_scene::quantity::{Length, Positive, Quantity};
//!
//! let radius: Quantity<Length, Positive> = serde_json::from_str("\"2 mm\"")?;
//! assert_eq!(radius.si, 2e-3);
//! let refused = serde_json::from_str::<Quantity<Length, Positive>>("\"2 s\"").unwrap_err();
//! assert!(refused.to_string().contains("is time [s], but length [m] belongs here"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::range::*;

use crate::diagnostics::UnlocatedDiagnostic;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use std::{borrow::Cow, fmt, marker::PhantomData, ops::Bound};

/// Exponents of meter, kilogram, second, radian and kelvin: the dimension of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitExponents(pub [i32; 5]);

impl UnitExponents {
    /// The first powers; the others are zero.
    const fn of<const N: usize>(first: [i32; N]) -> UnitExponents {
        let (mut powers, mut k) = ([0; 5], 0);
        while k < N {
            powers[k] = first[k];
            k += 1;
        }
        UnitExponents(powers)
    }
}

/// A dimension that a key of the scene asks for.
pub trait Dimension: 'static {
    /// Name for users.
    const NAME: &'static str;
    /// Its SI unit; empty for a pure number.
    const UNIT: &'static str;
    /// Example of a value.
    const EXAMPLE: &'static str;
    /// Its exponents of the base units.
    const POWERS: UnitExponents;
    /// Forms of its unit, for editors; the reader accepts any product of units with these exponents.
    const FORMS: &'static [&'static str];
}

macro_rules! dimensions {
    ($($name:ident $title:literal, $unit:literal, $example:literal, $powers:expr, $forms:expr;)+) => {
        $(
            #[doc = concat!("The dimension ", $title, " \\[", $unit, "\\].")]
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $name;
            impl Dimension for $name {
                const NAME: &'static str = $title;
                const UNIT: &'static str = $unit;
                const EXAMPLE: &'static str = $example;
                const POWERS: UnitExponents = UnitExponents::of($powers);
                const FORMS: &'static [&'static str] = &$forms;
            }
        )+
        const NAMED: &[(UnitExponents, &str, &str)] = &[$((UnitExponents::of($powers), $title, $unit)),+];
        /// All dimensions: name, SI unit, example of a value, forms of its unit.
        pub(crate) const DIMENSIONS: &[(&str, &str, &str, &[&str])] = &[$(($title, $unit, $example, &$forms)),+];
    };
}

dimensions! {
    Number          "pure number",      "",        "0.5",          [0, 0, 0, 0], ["", "%"];
    Length          "length",           "m",       "2 mm",         [1, 0, 0, 0], ["m"];
    Time            "time",             "s",       "10 ms",        [0, 0, 1, 0], ["s", "1/Hz"];
    Mass            "mass",             "kg",      "3 g",          [0, 1, 0, 0], ["kg"];
    Angle           "angle",            "rad",     "30 deg",       [0, 0, 0, 1], ["rad"];
    Velocity        "velocity",         "m/s",     "-5 m/s",       [1, 0, -1, 0], ["m/s"];
    Acceleration    "acceleration",     "m/s^2",   "-9.81 m/s^2",  [1, 0, -2, 0], ["m/s^2", "m/s/s", "N/kg"];
    AngularVelocity "angular velocity", "rad/s",   "2 rad/s",      [0, 0, -1, 1], ["rad/s", "rpm"];
    Density         "density",          "kg/m^3",  "2500 kg/m^3",  [-3, 1, 0, 0], ["kg/m^3", "kg/l"];
    Pressure        "pressure",         "Pa",      "1 GPa",        [-1, 1, -2, 0], ["Pa", "N/m^2", "J/m^3"];
    Stiffness       "stiffness",        "N/m",     "400 N/m",      [0, 1, -2, 0], ["N/m", "Pa m"];
    SurfaceEnergy   "surface energy",   "J/m^2",   "0.05 J/m^2",   [0, 1, -2, 0], ["J/m^2", "N/m"];
    SurfaceTension  "surface tension",  "N/m",     "72 mN/m",      [0, 1, -2, 0], ["N/m", "J/m^2"];
    Volume          "volume",           "m^3",     "1e-12 m^3",    [3, 0, 0, 0], ["m^3", "l"];
    VolumeRate      "volume per time",  "m^3/s",   "1e-4 m^3/s",   [3, 0, -1, 0], ["m^3/s", "l/s"];
    Force           "force",            "N",       "10 N",         [1, 1, -2, 0], ["N", "kg m/s^2"];
    Energy          "energy",           "J",       "1 mJ",         [2, 1, -2, 0], ["J", "N m", "W s"];
    Torque          "torque",           "N m",     "0.1 N m",      [2, 1, -2, 0], ["N m", "J"];
    Frequency       "frequency",        "Hz",      "50 Hz",        [0, 0, -1, 0], ["Hz", "1/s"];
    Area            "area",             "m^2",     "10 cm^2",      [2, 0, 0, 0], ["m^2"];
    Mobility        "speed per force",  "m/s/N",   "1 mm/s/N",     [0, -1, 1, 0], ["m/s/N", "m/N/s"];
    WearRate        "worn volume per work of sliding", "1/Pa", "2e-5 mm^3/N/m", [1, -1, 2, 0], ["1/Pa", "m^3/N/m", "m^3/J", "m^2/N"];
    MassRate        "mass per time",    "kg/s",    "2 kg/s",       [0, 1, -1, 0], ["kg/s"];
    Dashpot         "damping coefficient", "N s/m", "0.2 N s/m",   [0, 1, -1, 0], ["N s/m", "kg/s"];
    Viscosity       "dynamic viscosity", "Pa s",   "1e-3 Pa s",    [-1, 1, -1, 0], ["Pa s", "N s/m^2", "kg/m/s"];
    Temperature     "temperature",      "K",       "300 K",        [0, 0, 0, 0, 1], ["K"];
    SpecificEnergy  "energy per mass",  "J/kg",    "150 J/kg",     [2, 0, -2, 0], ["J/kg", "m^2/s^2"];
    Conductivity    "thermal conductivity", "W/(m K)", "1.1 W/m/K", [1, 1, -3, 0, -1], ["W/m/K"];
    HeatCapacity    "specific heat capacity", "J/(kg K)", "800 J/kg/K", [2, 0, -2, 0, -1], ["J/kg/K"];
}

impl fmt::Display for UnitExponents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name, unit)) = NAMED.iter().find(|(powers, ..)| powers == self) {
            return if unit.is_empty() {
                f.write_str(name)
            } else {
                write!(f, "{name} [{unit}]")
            };
        }
        let factors: Vec<String> = ["m", "kg", "s", "rad", "K"]
            .iter()
            .zip(self.0)
            .filter(|(_, power)| *power != 0)
            .map(|(unit, power)| {
                if power == 1 {
                    (*unit).to_owned()
                } else {
                    format!("{unit}^{power}")
                }
            })
            .collect();
        write!(f, "[{}]", factors.join(" "))
    }
}

/// A parsed text: a value in SI units, and the dimension if it has a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parsed {
    /// Value in SI units.
    pub value: f64,
    /// Dimension of the unit; `None` for a bare number.
    pub powers: Option<UnitExponents>,
}

/// A unit as a power of ten, another factor, and a dimension.
#[derive(Clone, Copy)]
struct Unit {
    ten: i32,
    factor: f64,
    powers: UnitExponents,
}

const UNITS: &str = "units are built from m, inch, l, g, t, s, min, h, Hz, N, Pa, bar, psi, J, W, K, rad, deg, rpm and %, \
                     with the prefixes n u m c k M G";
/// Longest exponent of a unit and longest text of a quantity: far beyond any use, small enough for plain arithmetic.
const MAX_POWER: i32 = 9;
const LONGEST: usize = 80;
/// Largest value, and smallest nonzero value, in SI units: their squares and cubes, and products of these, are finite and nonzero, too.
const LARGEST: f64 = 1e30;
const SMALLEST: f64 = 1e-40;

/// A unit by its symbol: a power of ten, another factor, exponents of base units, and whether it accepts a prefix.
type Base = (&'static str, i32, f64, [i32; 5], bool);

/// A pound-force of 4.448 221 615 260 5 N on a square inch of 0.0254 m \[Pa\]: the avoirdupois pound times the standard gravity.
const POUND_PER_SQUARE_INCH: f64 = 0.45359237 * 9.80665 / (0.0254 * 0.0254);

const BASES: &[Base] = &[
    ("m", 0, 1.0, Length::POWERS.0, true),
    ("inch", 0, 0.0254, Length::POWERS.0, false),
    ("in", 0, 0.0254, Length::POWERS.0, false),
    ("l", -3, 1.0, Volume::POWERS.0, true),
    ("L", -3, 1.0, Volume::POWERS.0, true),
    ("g", -3, 1.0, Mass::POWERS.0, true),
    ("t", 3, 1.0, Mass::POWERS.0, false),
    ("s", 0, 1.0, Time::POWERS.0, true),
    ("min", 0, 60.0, Time::POWERS.0, false),
    ("h", 0, 3600.0, Time::POWERS.0, false),
    ("Hz", 0, 1.0, Frequency::POWERS.0, true),
    ("N", 0, 1.0, Force::POWERS.0, true),
    ("Pa", 0, 1.0, Pressure::POWERS.0, true),
    ("bar", 5, 1.0, Pressure::POWERS.0, true),
    ("psi", 0, POUND_PER_SQUARE_INCH, Pressure::POWERS.0, false),
    ("J", 0, 1.0, Energy::POWERS.0, true),
    ("W", 0, 1.0, [2, 1, -3, 0, 0], true),
    ("K", 0, 1.0, Temperature::POWERS.0, true),
    ("rad", 0, 1.0, Angle::POWERS.0, true),
    ("deg", 0, std::f64::consts::PI / 180.0, Angle::POWERS.0, false),
    ("rpm", 0, std::f64::consts::PI / 30.0, AngularVelocity::POWERS.0, false),
    ("%", -2, 1.0, Number::POWERS.0, false),
];

/// Prefixes as powers of ten.
const PREFIXES: &[(&str, i32)] = &[
    ("n", -9),
    ("u", -6),
    ("µ", -6),
    ("μ", -6),
    ("m", -3),
    ("c", -2),
    ("k", 3),
    ("M", 6),
    ("G", 9),
];

/// The unit of this symbol, including its prefix.
fn symbol(word: &str) -> Option<Unit> {
    let word = if word == "°" { "deg" } else { word };
    let base = |name: &str| BASES.iter().find(|base| base.0 == name);
    let shifted = |&(_, ten, factor, powers, _): &Base, shift: i32| Unit {
        ten: ten + shift,
        factor,
        powers: UnitExponents(powers),
    };
    if let Some(base) = base(word) {
        return Some(shifted(base, 0));
    }
    let (name, shift) = PREFIXES
        .iter()
        .find_map(|(prefix, shift)| Some((word.strip_prefix(prefix)?, *shift)))?;
    base(name).filter(|base| base.4).map(|base| shifted(base, shift))
}

/// The symbol that equals a word except for upper and lower case; of several, the one with the most equal letters.
fn in_other_case(word: &str) -> Option<String> {
    let (units, prefixed) = (BASES.iter().map(|base| base.0.to_owned()), BASES.iter().filter(|base| base.4));
    let prefixed = prefixed.flat_map(|base| PREFIXES.iter().map(move |(prefix, _)| format!("{prefix}{}", base.0)));
    let is_same = |known: &String| known.to_lowercase() == word.to_lowercase();
    let characters = |known: &String| known.chars().zip(word.chars()).filter(|(known, written)| known == written).count();
    units.chain(prefixed).filter(is_same).max_by_key(characters)
}

/// Length of the number at the start of `text`; an `e` belongs to it only when digits follow.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    while matches!(bytes.get(end), Some(b'0'..=b'9' | b'.' | b'_')) {
        end += 1;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let digits = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if matches!(bytes.get(digits), Some(b'0'..=b'9')) {
            end = digits;
            while matches!(bytes.get(end), Some(b'0'..=b'9')) {
                end += 1;
            }
        }
    }
    end
}

/// Splits `m^2`, `m²`, `m2` or `s^-1` into symbol and power.
fn power(factor: &str) -> Result<(&str, i32), UnlocatedDiagnostic> {
    let is_symbol = |c: char| c.is_alphabetic() || c == '°' || c == '%';
    let end = factor.find(|c| !is_symbol(c)).unwrap_or(factor.len());
    let (word, rest) = factor.split_at(end);
    if rest.is_empty() {
        return Ok((word, 1));
    }
    let digits: String = rest
        .strip_prefix('^')
        .unwrap_or(rest)
        .chars()
        .map(|c| match c {
            '⁻' => '-',
            '¹' => '1',
            '²' => '2',
            '³' => '3',
            other => other,
        })
        .collect();
    match digits.parse() {
        Ok(value) if (-MAX_POWER..=MAX_POWER).contains(&value) => Ok((word, value)),
        _ => Err(UnlocatedDiagnostic::new(format!("\"{factor}\" has no power that can be read"))
            .limit(format!("whole powers from -{MAX_POWER} to {MAX_POWER}"))
            .remedy("write powers as in \"m/s^2\"")),
    }
}

/// Reads a product of units such as `kg/m^3` or `N s/m`; a `/` divides by the one factor after it.
fn unit(text: &str) -> Result<Unit, UnlocatedDiagnostic> {
    let mut product = Unit {
        ten: 0,
        factor: 1.0,
        powers: UnitExponents::default(),
    };
    let mut sign = 1;
    // As in "1000 1/s".
    let text = text.trim();
    let text = text
        .strip_prefix('1')
        .filter(|rest| rest.trim_start().starts_with('/'))
        .unwrap_or(text);
    let spaced = text.replace('/', " / ").replace(['*', '·'], " ");
    for word in spaced.split_whitespace() {
        if word == "/" {
            if sign < 0 {
                return Err(
                    UnlocatedDiagnostic::new(format!("\"{text}\" has two division signs in a row")).remedy("write units as in \"kg/m^3\"")
                );
            }
            sign = -1;
            continue;
        }
        let (name, exponent) = power(word)?;
        let found = symbol(name).ok_or_else(|| {
            if ["°C", "degC", "celsius", "Celsius", "°F"].contains(&name) {
                return UnlocatedDiagnostic::new(format!("unknown unit \"{name}\""))
                    .remedy("temperatures are in K: 20 °C are \"293.15 K\"");
            }
            let meant = in_other_case(name).map_or(String::new(), |known| format!("did you mean `{known}`? Case matters: "));
            UnlocatedDiagnostic::new(format!("unknown unit \"{name}\"")).remedy(format!("{meant}{UNITS}"))
        })?;
        let exponent = sign * exponent;
        product.ten += found.ten * exponent;
        product.factor *= found.factor.powi(exponent);
        for (sum, one) in product.powers.0.iter_mut().zip(found.powers.0) {
            *sum += one * exponent;
        }
        sign = 1;
    }
    if sign < 0 {
        return Err(UnlocatedDiagnostic::new(format!("\"{text}\" ends with a division sign")).remedy("write units as in \"kg/m^3\""));
    }
    Ok(product)
}

/// Reads a number and its unit.
///
/// ```
/// let parsed = seixo_scene::quantity::parse("-9.81 m/s^2").unwrap();
/// assert_eq!(parsed.value, -9.81);
/// assert_eq!(parsed.powers.unwrap().to_string(), "acceleration [m/s^2]");
/// ```
///
/// # Errors
/// When there is no number, the unit is unknown, or the value is not finite.
pub fn parse(text: &str) -> Result<Parsed, UnlocatedDiagnostic> {
    let text = text.trim();
    if text.len() > LONGEST {
        return Err(UnlocatedDiagnostic::new("a quantity of this length cannot be read")
            .limit(format!("at most {LONGEST} bytes"))
            .remedy("write it as in \"2 mm\""));
    }
    let (digits, rest) = text.split_at(number_length(text));
    let Ok(number) = digits.replace('_', "").parse::<f64>() else {
        return Err(UnlocatedDiagnostic::new(format!("\"{text}\" does not start with a number"))
            .remedy("write a number and a unit, as in \"2 mm\""));
    };
    if rest
        .strip_prefix(',')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        return Err(
            UnlocatedDiagnostic::new(format!("\"{text}\" has a decimal comma, which is not read"))
                .remedy("write a decimal point and no separators of thousands, as in \"1.5 MPa\""),
        );
    }
    let named = unit(rest)?;
    let scaled = if named.ten < 0 {
        number / 10_f64.powi(-named.ten)
    } else {
        number * 10_f64.powi(named.ten)
    };
    let value = scaled * named.factor;
    if !value.is_finite() || (value == 0.0) != (number == 0.0) {
        return Err(UnlocatedDiagnostic::new(format!("\"{text}\" is beyond what a double can hold"))
            .limit("1e-308 to 1e308")
            .remedy("check the exponent and the unit"));
    }
    Ok(Parsed {
        value,
        powers: (!rest.trim().is_empty()).then_some(named.powers),
    })
}

/// The number of a quantity and its unit as written, which may be empty; `None` if [`parse`] refuses the text.
///
/// ```
/// use seixo_scene::quantity::number_and_unit;
///
/// assert_eq!(number_and_unit("-9.81 m/s^2"), Some((-9.81, "m/s^2")));
/// assert_eq!(number_and_unit("silo.stl"), None);
/// ```
pub fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    parse(text).ok()?;
    let text = text.trim();
    let (digits, unit) = text.split_at(number_length(text));
    Some((digits.replace('_', "").parse().ok()?, unit.trim_start()))
}

/// A value of one dimension in one range, in SI units.
pub struct Quantity<D, R = Any> {
    /// Value in SI units.
    pub si: f64,
    kind: PhantomData<(D, R)>,
}

impl<D, R> Quantity<D, R> {
    /// A quantity from a value in SI units that is known to be in range.
    pub const fn new(si: f64) -> Self {
        Quantity { si, kind: PhantomData }
    }
}

impl<D, R> Clone for Quantity<D, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D, R> Copy for Quantity<D, R> {}
impl<D, R> Default for Quantity<D, R> {
    fn default() -> Self {
        Quantity::new(0.0)
    }
}
impl<D, R> fmt::Debug for Quantity<D, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.si, f)
    }
}
impl<D, R> Serialize for Quantity<D, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.si)
    }
}

impl<D: Dimension, R: Range> Quantity<D, R> {
    fn checked(value: f64) -> Result<Self, UnlocatedDiagnostic> {
        // Values that must not be zero are used as divisors.
        let is_too_small = R::LOW == Bound::Excluded(0.0) && value > 0.0 && value < SMALLEST;
        if R::contains(value) && value.abs() <= LARGEST && !is_too_small {
            return Ok(Quantity::new(value));
        }
        if R::contains(value) {
            let limit = if is_too_small {
                format!(">= {SMALLEST:e}")
            } else {
                format!("<= {LARGEST:e}")
            };
            return Err(
                UnlocatedDiagnostic::new(format!("{value:e} {} is beyond what can be reckoned with", D::UNIT).replace("  ", " "))
                    .limit(format!("{limit} {}", D::UNIT).trim_end().to_owned())
                    .remedy("check the exponent and the unit"),
            );
        }
        let message = if value.is_finite() {
            format!("{} {} is out of range", shown(value), D::UNIT)
        } else {
            format!("{value} is not a finite number")
        };
        let remedy = format!("give a value in the accepted range for {}, as in {}", D::NAME, example::<D>());
        Err(UnlocatedDiagnostic::new(message.replace("  ", " "))
            .limit(format!("{} {}", R::text(), D::UNIT).trim_end().to_owned())
            .remedy(remedy))
    }

    fn written(text: &str) -> Result<Self, UnlocatedDiagnostic> {
        let parsed = parse(text)?;
        let kind = kind::<D>();
        let wanted = || UnlocatedDiagnostic::wanted(kind.clone(), format!("write it as in {}", example::<D>()));
        match parsed.powers {
            None if D::UNIT.is_empty() => Self::checked(parsed.value),
            None => Err(UnlocatedDiagnostic {
                message: format!("\"{text}\" has no unit, {kind} is wanted"),
                ..wanted()
            }),
            Some(powers) if powers == D::POWERS => Self::checked(parsed.value),
            Some(powers) => Err(UnlocatedDiagnostic {
                message: format!("\"{text}\" is {powers}, but {kind} belongs here"),
                ..wanted()
            }),
        }
    }
}

/// A number in its most readable form.
fn shown(value: f64) -> String {
    if value == 0.0 || (1e-9..1e15).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// The dimension in words; torque and energy have the same exponents, so these are not sufficient.
fn kind<D: Dimension>() -> String {
    if D::UNIT.is_empty() {
        D::NAME.to_owned()
    } else {
        format!("{} [{}]", D::NAME, D::UNIT)
    }
}

/// A value of this dimension as a scene has it.
fn example<D: Dimension>() -> String {
    if D::UNIT.is_empty() {
        D::EXAMPLE.to_owned()
    } else {
        format!("\"{}\"", D::EXAMPLE)
    }
}

impl<'de, D: Dimension, R: Range> Deserialize<'de> for Quantity<D, R> {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader<D, R>(PhantomData<(D, R)>);
        impl<D: Dimension, R: Range> Visitor<'_> for Reader<D, R> {
            type Value = Quantity<D, R>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} such as {}", kind::<D>(), example::<D>())
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                Quantity::checked(value).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                self.visit_f64(value as f64)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Quantity::written(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

/// A value in the range, as a scene has it.
fn spelled<D: Dimension, R: Range>() -> &'static str {
    match parse(D::EXAMPLE) {
        Ok(parsed) if !R::contains(parsed.value) => D::EXAMPLE.trim_start_matches('-'),
        _ => D::EXAMPLE,
    }
}

impl<D: Dimension, R: Range> JsonSchema for Quantity<D, R> {
    fn schema_name() -> Cow<'static, str> {
        format!("{} {}", D::NAME, R::text()).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut number = json_schema!({ "type": "number" });
        for (bound, inclusive, exclusive) in [(R::LOW, "minimum", "exclusiveMinimum"), (R::HIGH, "maximum", "exclusiveMaximum")] {
            match bound {
                Bound::Included(v) => drop(number.insert(inclusive.to_owned(), v.into())),
                Bound::Excluded(v) => drop(number.insert(exclusive.to_owned(), v.into())),
                Bound::Unbounded => {}
            }
        }
        let text = json_schema!({ "type": "string", "pattern": pattern::pattern(D::FORMS), "examples": [spelled::<D, R>()] });
        json_schema!({ "anyOf": [number, text], "x-dimension": D::NAME, "x-unit": D::UNIT })
    }
}

pub(crate) mod of_time;
pub(crate) mod pattern;
#[cfg(test)]
mod tests;
