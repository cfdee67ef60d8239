//! Conditions on a running simulation, as in "kinetic_energy < 1e-6 J or duration > 2 s".

use crate::{
    Probe, Scene,
    diagnostics::{Diagnostics, Place, UnlocatedDiagnostic, did_you_mean, listed},
    quantity::{self, Dimension, Energy, Force, Number, Time, UnitExponents, Velocity},
    walls::NamedWalls,
};
use std::{collections::BTreeMap, ops::Range};

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
    /// Value of a column of a probe at its last line in the stage, in the unit of the column.
    Probe(ProbeColumn),
    /// Drift of a column of a probe over this time \[s\]: the magnitude of the slope of a line that is fitted to the last lines in the stage, times the
    /// time; in the unit of the column.
    Drift(ProbeColumn, f64),
}

/// A column of the table of a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeColumn {
    /// Index into [`crate::Scene::probes`].
    pub probe: usize,
    /// Index of the column, not counting the time.
    pub column: usize,
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
    /// In this unit.
    limit: f64,
    unit: String,
    /// The limit as written, for a probe, whose unit is known later.
    written: String,
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
const MEASURES: [&str; 9] = [
    "time",
    "duration",
    "grains",
    "kinetic_energy",
    "largest_speed",
    "coordination",
    "wall_force",
    "probe",
    "drift",
];
/// How a column of a probe is named, and how its drift is.
const OF_PROBE: &str = "write it as in \"probe.core.sigma_zz > 100 kPa\" or \"drift.core.sigma_zz < 1 kPa over 0.5 s\"";

/// Share of the shortest time for a drift by which rounding may shorten it.
const ROUNDING: f64 = 1e-9;

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

impl Scene {
    /// The walls of this name, by their range in [`World::walls`](seixo_engine::world::World::walls): all faces of a box, or one, as in "tank.top".
    ///
    /// # Errors
    /// If there are none; the error has the most similar name.
    pub fn walls_named(&self, name: &str) -> Result<Range<usize>, UnlocatedDiagnostic> {
        self.with_walls(|walls| walls.find(name))
    }

    /// Reads a condition in the words of `until` of a stage, such as "time > 2 s or probe.core.strain_zz > 0.15".
    ///
    /// # Errors
    /// If it is no condition, or names something that the scene does not have.
    pub fn condition(&self, text: &str) -> Result<Condition, Diagnostics> {
        let read: Result<Condition, UnlocatedDiagnostic> = self.with_walls(|walls| {
            let names = Names {
                groups: &self.world.groups,
                walls,
            };
            let mut condition = Condition::read(text, &names)?;
            let known: Vec<&str> = self.probes.iter().map(|probe| probe.name.as_str()).collect();
            condition.find_columns(&self.probes, &known)?;
            Ok(condition)
        });
        read.map_err(|complaint| {
            let mut found = Diagnostics {
                file: "until".into(),
                ..Diagnostics::default()
            };
            found.push(Place::Whole, Some(format!("{text:?}")), complaint);
            found
        })
    }

    /// Passes the walls on with the ranges of their sections: a face of a box is named after the box.
    fn with_walls<T>(&self, find: impl FnOnce(NamedWalls) -> T) -> T {
        let mut sections: BTreeMap<String, Range<usize>> = BTreeMap::new();
        for (index, wall) in self.world.walls.iter().enumerate() {
            let section = wall.name.split('.').next().unwrap_or_default();
            sections.entry(section.to_owned()).or_insert(index..index).end = index + 1;
        }
        find(NamedWalls {
            sections: &sections,
            walls: &self.world.walls,
        })
    }
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

    /// Whether it needs grains or walls, not only the clock and lines of probes.
    pub fn looks_at_grains(&self) -> bool {
        let is_apart = |measure: &Measure| matches!(measure, Measure::Time | Measure::Duration | Measure::Probe(_) | Measure::Drift(..));
        !self.measures().all(is_apart)
    }

    /// Its quantities.
    pub fn measures(&self) -> impl Iterator<Item = &Measure> {
        self.0.iter().flatten().map(|comparison| &comparison.what)
    }

    /// Finds the columns of probes that it names. `known` are the names of all probes, with an error or without.
    pub(crate) fn find_columns(&mut self, probes: &[Probe], known: &[&str]) -> Result<(), UnlocatedDiagnostic> {
        self.0
            .iter_mut()
            .flatten()
            .try_for_each(|comparison| comparison.find_column(probes, known))
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
        let rest = rest.trim_start();
        if let Some(compared) = of_probe(name, rest) {
            return compared;
        }
        let (what, powers, unit) = measure(name, names)?;
        let (sign, limit) = match sign_of(rest) {
            Some(found) => found,
            // A duration needs no sign.
            None if matches!(what, Measure::Time | Measure::Duration) && !rest.is_empty() => (Sign::GreaterOrEqual, rest),
            None => return Err(compares_nothing(text, EXAMPLE)),
        };
        Ok(Comparison {
            what,
            name: name.to_owned(),
            sign,
            limit: limit_of(name, limit, powers, EXAMPLE)?,
            unit: unit.to_owned(),
            written: String::new(),
        })
    }

    /// Finds the column of a probe that it names, and reads its limit in the unit of the column.
    fn find_column(&mut self, probes: &[Probe], known: &[&str]) -> Result<(), UnlocatedDiagnostic> {
        let (Measure::Probe(column) | Measure::Drift(column, _)) = &mut self.what else {
            return Ok(());
        };
        let mut parts = self.name.splitn(3, '.').skip(1);
        let (probe, wanted) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let Some(index) = probes.iter().position(|other| other.name == probe) else {
            // A probe with an error is reported there.
            if known.contains(&probe) {
                return Ok(());
            }
            let complaint = UnlocatedDiagnostic::new(format!("no probe is named `{probe}`"));
            return Err(complaint.remedy(did_you_mean(probe, known.iter().copied())));
        };
        let headers = probes[index].columns();
        let name_of = |header: &String| header.split(' ').next().unwrap_or_default().to_owned();
        let names: Vec<String> = headers.iter().map(name_of).collect();
        let Some(at) = names.iter().position(|name| name == wanted) else {
            let complaint = UnlocatedDiagnostic::new(format!("probe `{probe}` has no column `{wanted}`"));
            return Err(complaint.limit(listed(names.iter().map(String::as_str))).remedy(OF_PROBE));
        };
        *column = ProbeColumn { probe: index, column: at };
        let every = probes[index].every;
        // A line through two points is no fit: it has the noise of both.
        if let Measure::Drift(_, window) = self.what
            && window < 2.0 * every * (1.0 - ROUNDING)
        {
            let complaint = UnlocatedDiagnostic::new(format!(
                "`{}` cannot be fitted over {window} s, as probe `{probe}` has a line every {every} s",
                self.name
            ));
            return Err(complaint
                .limit(format!("at least {} s, two intervals of the probe", 2.0 * every))
                .remedy("write a longer time behind `over`, or a shorter `every` of the probe"));
        }
        let unit = headers[at].split_once('[').map_or("", |(_, unit)| unit.trim_end_matches(']'));
        if unit != "-" {
            self.unit = unit.to_owned();
        }
        let one = quantity::parse(format!("1 {}", self.unit).trim())?;
        self.limit = limit_of(&self.name, &self.written, one.powers.unwrap_or_default(), OF_PROBE)? / one.value;
        Ok(())
    }
}

/// The sign at the start of a text, and the rest of the text.
fn sign_of(text: &str) -> Option<(Sign, &str)> {
    let (written, sign) = SIGNS.iter().find(|(sign, _)| text.starts_with(sign))?;
    Some((*sign, &text[written.len()..]))
}

fn compares_nothing(text: &str, example: &str) -> UnlocatedDiagnostic {
    let complaint = UnlocatedDiagnostic::new(format!("\"{text}\" compares nothing")).limit("<, <=, > or >= and a value");
    complaint.remedy(example)
}

/// The limit of a quantity of this dimension, in SI units.
fn limit_of(name: &str, written: &str, powers: UnitExponents, example: &str) -> Result<f64, UnlocatedDiagnostic> {
    let parsed = quantity::parse(written)?;
    if parsed.powers.unwrap_or_default() == powers && (parsed.powers.is_some() || powers == UnitExponents::default()) {
        return Ok(parsed.value);
    }
    let found = parsed.powers.map_or("has no unit".to_owned(), |powers| format!("is {powers}"));
    let complaint = UnlocatedDiagnostic::new(format!("\"{}\" {found}, but `{name}` is {powers}", written.trim()));
    Err(complaint.limit(powers.to_string()).remedy(example))
}

/// Reads the comparison of a column of a probe, as far as its unit is not needed; `None` for another quantity.
fn of_probe(name: &str, rest: &str) -> Option<Result<Comparison, UnlocatedDiagnostic>> {
    let kind = name.split('.').next().filter(|kind| ["probe", "drift"].contains(kind))?;
    let read = || {
        if name.split('.').count() != 3 {
            let complaint = UnlocatedDiagnostic::new(format!("`{name}` does not say which column of which probe"));
            return Err(complaint.limit(format!("{kind}.NAME.COLUMN")).remedy(OF_PROBE));
        }
        let (sign, limit) = sign_of(rest).ok_or_else(|| compares_nothing(&format!("{name} {rest}"), OF_PROBE))?;
        let (limit, over) = limit
            .split_once(" over ")
            .map_or((limit, None), |(limit, over)| (limit, Some(over)));
        let what = match (kind, over) {
            ("drift", Some(over)) => Measure::Drift(ProbeColumn::default(), window_of(name, over)?),
            ("drift", None) => {
                let complaint = UnlocatedDiagnostic::new(format!("`{name}` does not say over which time"));
                return Err(complaint.limit("over and a time, after the value").remedy(OF_PROBE));
            }
            (_, None) => Measure::Probe(ProbeColumn::default()),
            (_, Some(_)) => {
                let complaint = UnlocatedDiagnostic::new(format!("`over` is for a drift, and `{name}` is a value"));
                return Err(complaint.remedy("give the probe an `average`, and compare the column mean_NAME"));
            }
        };
        Ok(Comparison {
            what,
            name: name.to_owned(),
            sign,
            limit: f64::NAN,
            unit: String::new(),
            written: limit.to_owned(),
        })
    };
    Some(read())
}

/// The time over which a drift is measured \[s\].
fn window_of(name: &str, written: &str) -> Result<f64, UnlocatedDiagnostic> {
    let window = limit_of(name, written, Time::POWERS, OF_PROBE)?;
    if window > 0.0 {
        return Ok(window);
    }
    let complaint = UnlocatedDiagnostic::new(format!("`{name}` has no drift over {window} s"));
    Err(complaint.limit("a time > 0").remedy(OF_PROBE))
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
