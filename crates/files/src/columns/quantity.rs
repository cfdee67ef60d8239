//! What a column measures, and the units that its header may give.

use std::f64::consts::PI;

/// What a column measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Length,
    Velocity,
    AngularVelocity,
    Mass,
    Density,
    /// Force per length.
    Stiffness,
    /// Parts of a whole.
    Share,
    Time,
    Angle,
    Temperature,
    /// Words and counts: no unit.
    Plain,
}

/// Words for hundredths in headers, as lower-case letters and digits.
const PERCENT: [&str; 7] = [
    "percent",
    "percentage",
    "pct",
    "prozent",
    "porcentagem",
    "percentagem",
    "percentual",
];

impl Quantity {
    /// The units a header may give, with their size in SI.
    pub(super) fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Quantity::Length => &[
                ("m", 1.0),
                ("cm", 1e-2),
                ("mm", 1e-3),
                ("um", 1e-6),
                ("µm", 1e-6),
                ("μm", 1e-6),
                ("micron", 1e-6),
                ("microns", 1e-6),
                ("nm", 1e-9),
                ("inch", 0.0254),
                ("in", 0.0254),
            ],
            Quantity::Velocity => &[("m/s", 1.0), ("cm/s", 1e-2), ("mm/s", 1e-3), ("um/s", 1e-6), ("km/h", 1.0 / 3.6)],
            Quantity::AngularVelocity => &[("rad/s", 1.0), ("1/s", 1.0), ("deg/s", PI / 180.0), ("rpm", PI / 30.0)],
            Quantity::Mass => &[
                ("kg", 1.0),
                ("g", 1e-3),
                ("mg", 1e-6),
                ("ug", 1e-9),
                ("µg", 1e-9),
                ("μg", 1e-9),
                ("t", 1e3),
            ],
            Quantity::Density => &[
                ("kg/m^3", 1.0),
                ("kg/m3", 1.0),
                ("kg/m³", 1.0),
                ("g/cm^3", 1e3),
                ("g/cm3", 1e3),
                ("g/cm³", 1e3),
                ("t/m^3", 1e3),
                ("t/m3", 1e3),
                ("t/m³", 1e3),
                ("kg/l", 1e3),
            ],
            Quantity::Stiffness => &[("N/m", 1.0), ("kN/m", 1e3), ("MN/m", 1e6), ("N/mm", 1e3), ("mN/m", 1e-3)],
            Quantity::Share => &[("-", 1.0), ("1", 1.0), ("%", 1e-2)],
            Quantity::Time => &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("min", 60.0)],
            Quantity::Angle => &[("rad", 1.0), ("deg", PI / 180.0)],
            Quantity::Temperature => &[("K", 1.0)],
            Quantity::Plain => &[],
        }
    }

    /// Size of a unit in SI; none if this quantity is not measured in it. Shares in `wt.-%` are in percent.
    pub(super) fn size_of(self, unit: &str) -> Option<f64> {
        let unit = if self == Quantity::Share && without_percent(unit) != unit {
            "%"
        } else {
            unit
        };
        self.units().iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
    }
}

/// A label without its percent signs and words for them.
pub(super) fn without_percent(label: &str) -> String {
    let is_word = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        PERCENT.contains(&word.as_str())
    };
    let label = label.replace('%', "");
    if label.split_whitespace().any(is_word) {
        let rest: Vec<&str> = label.split_whitespace().filter(|word| !is_word(word)).collect();
        rest.join(" ")
    } else {
        label
    }
}

/// The units in which a file of LAMMPS gives all its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitSystem {
    /// Meter, kilogram, second.
    Si,
    /// Centimeter, gram, second.
    Cgs,
    /// Micrometer, picogram, microsecond.
    Micro,
    /// Nanometer, attogram, nanosecond.
    Nano,
}

impl UnitSystem {
    /// Size of the unit of a quantity in SI.
    pub(crate) fn size_of(self, quantity: Quantity) -> f64 {
        let (length, mass, time) = match self {
            UnitSystem::Si => (1.0, 1.0, 1.0),
            UnitSystem::Cgs => (1e-2, 1e-3, 1.0),
            UnitSystem::Micro => (1e-6, 1e-15, 1e-6),
            UnitSystem::Nano => (1e-9, 1e-21, 1e-9),
        };
        match quantity {
            Quantity::Length => length,
            Quantity::Velocity => length / time,
            Quantity::AngularVelocity => 1.0 / time,
            Quantity::Mass => mass,
            Quantity::Density => mass / (length * length * length),
            Quantity::Stiffness => mass / (time * time),
            Quantity::Time => time,
            Quantity::Share | Quantity::Angle | Quantity::Temperature | Quantity::Plain => 1.0,
        }
    }
}
