//! Conditions on a running simulation, as in "kinetic_energy < 1e-6 J or duration > 2 s".

use crate::{
    diagnostics::{Complaint, did_you_mean},
    quantity::{self, Dimension, Energy, Force, Number, Powers, Time, Velocity},
    walls::NamedWalls,
};
use std::ops::Range;

/// What a condition looks at.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Simulated time \[s\].
    Time,
    /// Simulated time since the stage began \[s\].
    Duration,
    /// Number of grains, of a group or of all.
    Grains(Option<u32>),
    /// Kinetic energy of their translation \[J\], of a group or of all.
    KineticEnergy(Option<u32>),
    /// Largest speed of a grain \[m/s\], of a group or of all.
    LargestSpeed(Option<u32>),
    /// Mean number of what a grain touches, of a group or of all.
    Coordination(Option<u32>),
    /// Force of the grains on a wall, its length \[N\].
    WallForce(Range<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sign {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const SIGNS: [(&str, Sign); 4] = [
    ("<=", Sign::LessOrEqual),
    (">=", Sign::GreaterOrEqual),
    ("<", Sign::Less),
    (">", Sign::Greater),
];

#[derive(Clone, Debug, PartialEq)]
struct Comparison {
    what: Measure,
    name: String,
    sign: Sign,
    limit: f64,
    unit: &'static str,
}

/// Comparisons joined by `or`, and closer by `and`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(Vec<Vec<Comparison>>);

/// The names that conditions may use: groups of grains, and walls.
pub(crate) struct Names<'a> {
    pub groups: &'a [String],
    pub walls: NamedWalls<'a>,
}

const EXAMPLE: &str = "write it as in \"kinetic_energy < 1e-6 J\", \"time > 2 s\", \"duration 0.5 s\", \"grains.bed > 1000\" or \"wall_force.lid > 10 N\", joined by `and` and `or`";
const MEASURES: [&str; 7] = [
    "time",
    "duration",
    "grains",
    "kinetic_energy",
    "largest_speed",
    "coordination",
    "wall_force",
];

impl Condition {
    /// Reads a condition.
    pub(crate) fn read(text: &str, names: &Names) -> Result<Condition, Complaint> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let any = words.split(|word| *word == "or").map(|all| {
            let all = all.split(|word| *word == "and");
            all.map(|words| Comparison::read(&words.join(" "), names))
                .collect::<Result<Vec<_>, _>>()
        });
        any.collect::<Result<Vec<_>, _>>().map(Condition)
    }

    /// Whether it holds for these values of what it looks at; then, why.
    pub fn holds(&self, mut value_of: impl FnMut(&Measure) -> f64) -> Option<String> {
        self.0.iter().find_map(|all| {
            let reasons = all.iter().map(|comparison| {
                let value = value_of(&comparison.what);
                let holds = match comparison.sign {
                    Sign::Less => value < comparison.limit,
                    Sign::LessOrEqual => value <= comparison.limit,
                    Sign::Greater => value > comparison.limit,
                    Sign::GreaterOrEqual => value >= comparison.limit,
                };
                holds.then(|| comparison.told(value))
            });
            reasons.collect::<Option<Vec<_>>>().map(|reasons| reasons.join(", "))
        })
    }

    /// How long it takes to hold from this time on \[s\], where all that is not about the clock takes so long.
    pub(crate) fn lasts(&self, begun: f64, unknown: f64) -> f64 {
        let lasts = |comparison: &Comparison| match (&comparison.what, comparison.sign) {
            (Measure::Duration, Sign::Greater | Sign::GreaterOrEqual) => comparison.limit,
            (Measure::Time, Sign::Greater | Sign::GreaterOrEqual) => comparison.limit - begun,
            _ => unknown,
        };
        let any = self.0.iter().map(|all| all.iter().map(lasts).fold(0.0, f64::max));
        any.fold(f64::INFINITY, f64::min)
    }

    /// Whether it looks at grains or walls, not only at the clock.
    pub fn looks_at_grains(&self) -> bool {
        let is_clock = |comparison: &Comparison| matches!(comparison.what, Measure::Time | Measure::Duration);
        !self.0.iter().flatten().all(is_clock)
    }
}

impl Comparison {
    /// The comparison with the value that it holds for.
    fn told(&self, value: f64) -> String {
        let sign = SIGNS.iter().find(|(_, sign)| *sign == self.sign).map_or("", |(text, _)| text);
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", self.unit)
        };
        let limit = self.limit;
        if value.fract() == 0.0 && limit.fract() == 0.0 && limit.abs() < 1e15 {
            return format!("{} = {value}{unit} {sign} {limit}{unit}", self.name);
        }
        format!("{} = {value:.4e}{unit} {sign} {limit:e}{unit}", self.name)
    }

    fn read(text: &str, names: &Names) -> Result<Comparison, Complaint> {
        let at = text.find(['<', '>', ' ']).unwrap_or(text.len());
        let (name, rest) = text.split_at(at);
        if name.is_empty() {
            return Err(Complaint::new("a comparison is missing").remedy(EXAMPLE));
        }
        let (what, powers, unit) = measure(name, names)?;
        let rest = rest.trim_start();
        let sign = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
        let (sign, limit) = match sign {
            Some((text, sign)) => (*sign, &rest[text.len()..]),
            // A stretch of time needs no sign.
            None if matches!(what, Measure::Time | Measure::Duration) && !rest.is_empty() => (Sign::GreaterOrEqual, rest),
            None => {
                let complaint = Complaint::new(format!("\"{text}\" compares nothing")).limit("<, <=, > or >= and a value");
                return Err(complaint.remedy(EXAMPLE));
            }
        };
        let parsed = quantity::parse(limit)?;
        let found = parsed.powers.unwrap_or_default();
        if found != powers || (parsed.powers.is_none() && !unit.is_empty()) {
            let found = parsed.powers.map_or("has no unit".to_owned(), |powers| format!("is {powers}"));
            return Err(Complaint::new(format!("\"{}\" {found}, but `{name}` is {powers}", limit.trim()))
                .limit(powers.to_string())
                .remedy(EXAMPLE));
        }
        Ok(Comparison {
            what,
            name: name.to_owned(),
            sign,
            limit: parsed.value,
            unit,
        })
    }
}

/// What a name means, with its dimension and unit.
fn measure(name: &str, names: &Names) -> Result<(Measure, Powers, &'static str), Complaint> {
    let (word, part) = name.split_once('.').map_or((name, None), |(word, part)| (word, Some(part)));
    let group = || {
        part.map(|part| {
            let found = names.groups.iter().position(|group| group == part);
            found
                .map(|index| index as u32)
                .ok_or_else(|| unknown("group of grains", part, names.groups.iter()))
        })
        .transpose()
    };
    let alone = |what: Measure| match part {
        None => Ok(what),
        Some(_) => Err(Complaint::new(format!("`{word}` has no parts")).remedy(format!("write `{word}` alone"))),
    };
    match word {
        "time" => Ok((alone(Measure::Time)?, Time::POWERS, Time::UNIT)),
        "duration" => Ok((alone(Measure::Duration)?, Time::POWERS, Time::UNIT)),
        "grains" => Ok((Measure::Grains(group()?), Number::POWERS, Number::UNIT)),
        "kinetic_energy" => Ok((Measure::KineticEnergy(group()?), Energy::POWERS, Energy::UNIT)),
        "largest_speed" => Ok((Measure::LargestSpeed(group()?), Velocity::POWERS, Velocity::UNIT)),
        "coordination" => Ok((Measure::Coordination(group()?), Number::POWERS, Number::UNIT)),
        "wall_force" => {
            let range = names.walls.find(part.unwrap_or_default())?;
            Ok((Measure::WallForce(range), Force::POWERS, Force::UNIT))
        }
        _ => Err(Complaint::new(format!("a condition cannot look at `{word}`")).remedy(did_you_mean(word, MEASURES))),
    }
}

/// A complaint about a name, with the nearest that is known.
pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String>) -> Complaint {
    let known: Vec<&str> = known.map(String::as_str).collect();
    Complaint::new(format!("no {what} is named `{name}`")).remedy(did_you_mean(name, known))
}
