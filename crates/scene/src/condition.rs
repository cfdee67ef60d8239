//! Conditions on a running simulation, as in "kinetic_energy < 1e-6 J or duration > 2 s".

use crate::{
    diagnostics::{UnlocatedDiagnostic, did_you_mean, listed},
    quantity::{self, Dimension, Energy, Force, Number, Time, UnitExponents, Velocity},
    walls::NamedWalls,
};
use std::ops::Range;

/// The quantity of a condition.
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
    /// Mean number of contacts of a grain, of a group or of all.
    Coordination(Option<u32>),
    /// Magnitude of the force of grains and fluids on a wall \[N\].
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

/// Comparisons joined by `or`, and more tightly by `and`.
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

/// The first number of steps that last at least, or with `is_strict` more than, this time \[s\].
fn first_step_at(time: f64, is_strict: bool, time_step: f64) -> u64 {
    let is_reached = |steps: f64| {
        let passed = steps * time_step;
        passed > time || !is_strict && passed >= time
    };
    // Rounding moves the quotient by less than a step, unless steps are too many to be counted.
    let near = (time / time_step).floor();
    let found = [near - 1.0, near, near + 1.0, near + 2.0]
        .into_iter()
        .find(|&steps| steps >= 0.0 && is_reached(steps));
    found.map_or(u64::MAX, |steps| steps as u64)
}

impl Condition {
    /// Reads a condition.
    pub(crate) fn read(text: &str, names: &Names) -> Result<Condition, UnlocatedDiagnostic> {
        if text.contains(['(', ')']) {
            let complaint = UnlocatedDiagnostic::new("conditions have no parentheses").limit("comparisons joined by `and` and `or`");
            return Err(complaint.remedy("`and` binds more tightly than `or`: write \"a and b or a and c\" for \"a and (b or c)\""));
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some((word, meant)) = words.iter().find_map(|word| Some((word, meant_junction(word)?))) {
            let complaint = UnlocatedDiagnostic::new(format!("`{word}` does not join comparisons")).limit("`and` and `or`, in lower case");
            return Err(complaint.remedy(format!("write `{meant}`")));
        }
        let any = words.split(|word| *word == "or").map(|all| {
            let all = all.split(|word| *word == "and");
            all.map(|words| Comparison::read(&words.join(" "), names))
                .collect::<Result<Vec<_>, _>>()
        });
        any.collect::<Result<Vec<_>, _>>().map(Condition)
    }

    /// Whether it is true for these values of its quantities; if so, the reason.
    pub fn holds(&self, mut value_of: impl FnMut(&Measure) -> f64) -> Option<String> {
        self.0.iter().find_map(|all| {
            let reasons = all.iter().map(|comparison| {
                // An empty sum is −0, which is 0 to a reader.
                let value = value_of(&comparison.what) + 0.0;
                let holds = match comparison.sign {
                    Sign::Less => value < comparison.limit,
                    Sign::LessOrEqual => value <= comparison.limit,
                    Sign::Greater => value > comparison.limit,
                    Sign::GreaterOrEqual => value >= comparison.limit,
                };
                holds.then(|| comparison.comparison_text(value))
            });
            reasons.collect::<Option<Vec<_>>>().map(|reasons| reasons.join(", "))
        })
    }

    /// The first step at which all clocks of one of its alternatives allow it, in a stage that began at this step; `None` if no alternative has a clock.
    pub fn first_step_by_clock(&self, began: u64, time_step: f64) -> Option<u64> {
        let step = |comparison: &Comparison| {
            let is_strict = match comparison.sign {
                Sign::Greater => true,
                Sign::GreaterOrEqual => false,
                Sign::Less | Sign::LessOrEqual => return None,
            };
            match comparison.what {
                Measure::Duration => Some(began.saturating_add(first_step_at(comparison.limit, is_strict, time_step))),
                Measure::Time => Some(first_step_at(comparison.limit, is_strict, time_step)),
                _ => None,
            }
        };
        self.0.iter().filter_map(|all| all.iter().filter_map(step).max()).min()
    }

    /// Time until it becomes true, from this time on \[s\], if all comparisons without a clock take the given time.
    pub(crate) fn lasts(&self, begun: f64, unknown: f64) -> f64 {
        let lasts = |comparison: &Comparison| match (&comparison.what, comparison.sign) {
            (Measure::Duration, Sign::Greater | Sign::GreaterOrEqual) => comparison.limit,
            (Measure::Time, Sign::Greater | Sign::GreaterOrEqual) => comparison.limit - begun,
            _ => unknown,
        };
        let any = self.0.iter().map(|all| all.iter().map(lasts).fold(0.0, f64::max));
        any.fold(f64::INFINITY, f64::min)
    }

    /// The name of its first quantity of grains, if it has one.
    pub(crate) fn quantity_of_grains(&self) -> Option<&str> {
        let is_of_grains = |comparison: &&Comparison| {
            matches!(
                comparison.what,
                Measure::Grains(_) | Measure::KineticEnergy(_) | Measure::LargestSpeed(_) | Measure::Coordination(_)
            )
        };
        self.0
            .iter()
            .flatten()
            .find(is_of_grains)
            .map(|comparison| comparison.name.as_str())
    }

    /// Whether it needs grains or walls, not only the clock.
    pub fn looks_at_grains(&self) -> bool {
        let is_clock = |comparison: &Comparison| matches!(comparison.what, Measure::Time | Measure::Duration);
        !self.0.iter().flatten().all(is_clock)
    }
}

impl Comparison {
    /// The comparison that is true, with its value.
    fn comparison_text(&self, value: f64) -> String {
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

    fn read(text: &str, names: &Names) -> Result<Comparison, UnlocatedDiagnostic> {
        let at = text.find(['<', '>', ' ']).unwrap_or(text.len());
        let (name, rest) = text.split_at(at);
        if name.is_empty() {
            return Err(UnlocatedDiagnostic::new("a comparison is missing").remedy(EXAMPLE));
        }
        let (what, powers, unit) = measure(name, names)?;
        let rest = rest.trim_start();
        let sign = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
        let (sign, limit) = match sign {
            Some((text, sign)) => (*sign, &rest[text.len()..]),
            // A duration needs no sign.
            None if matches!(what, Measure::Time | Measure::Duration) && !rest.is_empty() => (Sign::GreaterOrEqual, rest),
            None => {
                let complaint = UnlocatedDiagnostic::new(format!("\"{text}\" compares nothing")).limit("<, <=, > or >= and a value");
                return Err(complaint.remedy(EXAMPLE));
            }
        };
        let parsed = quantity::parse(limit)?;
        let found = parsed.powers.unwrap_or_default();
        if found != powers || (parsed.powers.is_none() && !unit.is_empty()) {
            let found = parsed.powers.map_or("has no unit".to_owned(), |powers| format!("is {powers}"));
            return Err(
                UnlocatedDiagnostic::new(format!("\"{}\" {found}, but `{name}` is {powers}", limit.trim()))
                    .limit(powers.to_string())
                    .remedy(EXAMPLE),
            );
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

/// The word that a user means by another one between two comparisons.
fn meant_junction(word: &str) -> Option<&'static str> {
    let meant = match word {
        "&&" => "and",
        "||" => "or",
        _ => ["and", "or"].into_iter().find(|known| known.eq_ignore_ascii_case(word))?,
    };
    (meant != word).then_some(meant)
}

/// The quantity of a name, with its dimension and unit.
fn measure(name: &str, names: &Names) -> Result<(Measure, UnitExponents, &'static str), UnlocatedDiagnostic> {
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
        Some(_) => Err(UnlocatedDiagnostic::new(format!("`{word}` has no parts")).remedy(format!("write `{word}` alone"))),
    };
    match word {
        "time" => Ok((alone(Measure::Time)?, Time::POWERS, Time::UNIT)),
        "duration" => Ok((alone(Measure::Duration)?, Time::POWERS, Time::UNIT)),
        "grains" => Ok((Measure::Grains(group()?), Number::POWERS, Number::UNIT)),
        "kinetic_energy" => Ok((Measure::KineticEnergy(group()?), Energy::POWERS, Energy::UNIT)),
        "largest_speed" => Ok((Measure::LargestSpeed(group()?), Velocity::POWERS, Velocity::UNIT)),
        "coordination" => Ok((Measure::Coordination(group()?), Number::POWERS, Number::UNIT)),
        "wall_force" => {
            let Some(wall) = part else {
                let known = match listed(names.walls.sections.keys().map(String::as_str)) {
                    known if known.is_empty() => "none".to_owned(),
                    known => known,
                };
                let complaint = UnlocatedDiagnostic::new("`wall_force` does not say on which wall").limit("wall_force.NAME");
                return Err(complaint.remedy(format!("write it as in wall_force.lid; walls of the scene: {known}")));
            };
            Ok((Measure::WallForce(names.walls.find(wall)?), Force::POWERS, Force::UNIT))
        }
        _ => Err(UnlocatedDiagnostic::new(format!("a condition cannot look at `{word}`")).remedy(did_you_mean(word, MEASURES))),
    }
}

/// An error about a name, with the most similar known one.
pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String>) -> UnlocatedDiagnostic {
    let known: Vec<&str> = known.map(String::as_str).collect();
    UnlocatedDiagnostic::new(format!("no {what} is named `{name}`")).remedy(did_you_mean(name, known))
}
