//! What a sweep varies: lists and ranges of values, and Latin hypercube samples of them.

use seixo_scene::quantity::{self, number_and_unit};
use std::collections::HashSet;
use std::str::FromStr;

/// Most points of a sweep.
pub const MOST_POINTS: usize = 100_000;
/// Digits of the values of a range, which removes the rounding errors of its sums, and of a sample.
const DIGITS: usize = 12;
const DIGITS_OF_SAMPLE: usize = 6;
/// Part of a step by which the end of a range may be missed through rounding.
const ROUNDING: f64 = 1e-9;
/// Up to here whole numbers are exact: 2⁵³.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

const FORM: &str =
    "write it as path.to.key=VALUES, such as run.seed=1..5, interaction.a-b.friction=0.2,0.3,0.4 or \"wall.lid.height=1..5..2 mm\"";

/// A key of the scene, and the values that it takes. It is read from a text such as `run.seed=1..5`.
#[derive(Clone, Debug)]
pub struct Variation {
    /// Path of the key, such as `run.seed`.
    pub key: String,
    values: Vec<Values>,
}

#[derive(Clone, Debug)]
enum Values {
    /// A value as `--set` takes it.
    One(String),
    /// Numbers at equal steps, both ends included.
    Range(Range),
}

#[derive(Clone, Debug)]
struct Range {
    from: f64,
    to: f64,
    step: Option<f64>,
    unit: String,
    /// Whether both ends are written as whole numbers.
    is_whole: bool,
    /// As the user wrote it.
    text: String,
}

/// A number as written, and its unit, which may stand further right.
#[derive(Clone, Copy)]
struct Number<'a> {
    text: &'a str,
    value: f64,
    unit: &'a str,
}

impl<'a> Number<'a> {
    fn of(text: &'a str) -> Option<Number<'a>> {
        let text = text.trim();
        let (value, unit) = number_and_unit(text)?;
        let digits = text.strip_suffix(unit)?.trim_end();
        Some(Number { text: digits, value, unit })
    }

    /// Its value in another unit of the same quantity.
    fn in_unit(self, unit: &str) -> Result<f64, String> {
        if self.unit == unit {
            return Ok(self.value);
        }
        let one = |unit: &str| quantity::parse(&format!("1 {unit}")).map_err(|complaint| complaint.message);
        let (own, wanted) = (one(self.unit)?, one(unit)?);
        if own.powers != wanted.powers {
            return Err(format!("`{}` and `{unit}` are not units of one quantity", self.unit));
        }
        Ok(rounded(self.value * own.value / wanted.value, DIGITS))
    }
}

/// An item of the list.
enum Item<'a> {
    Text(&'a str),
    /// One number, or the two ends of a range and maybe its step.
    Numbers(&'a str, Vec<Number<'a>>),
}

impl<'a> Item<'a> {
    fn of(text: &'a str) -> Result<Item<'a>, String> {
        if text.is_empty() {
            return Err(format!("a value is missing before or after a comma; {FORM}"));
        }
        if text.starts_with(['"', '\'', '[', '{']) {
            return Ok(Item::Text(text));
        }
        let mut parts = text.split("..");
        let Some(first) = parts.next().and_then(Number::of) else {
            return Ok(Item::Text(text));
        };
        let mut numbers = vec![first];
        for part in parts {
            let number = Number::of(part);
            numbers.push(number.ok_or_else(|| format!("`{part}` in the range {text} is no number with a known unit; {FORM}"))?);
        }
        if numbers.len() > 3 {
            return Err(format!("the range {text} has more than two ends and a step; {FORM}"));
        }
        Ok(Item::Numbers(text, numbers))
    }

    fn into_values(self) -> Result<Values, String> {
        let (text, numbers) = match self {
            Item::Text(text) => return Ok(Values::One(text.to_owned())),
            Item::Numbers(text, numbers) => (text, numbers),
        };
        let unit = numbers.last().map_or("", |last| last.unit);
        let &[from, to, ref step @ ..] = &numbers[..] else {
            return Ok(Values::One(with_unit(numbers.first().map_or(text, |only| only.text), unit)));
        };
        let is_whole = [from, to]
            .iter()
            .all(|end| end.text.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit()));
        let range = Range {
            from: from.in_unit(unit)?,
            to: to.in_unit(unit)?,
            step: step.first().map(|step| step.in_unit(unit)).transpose()?,
            unit: unit.to_owned(),
            is_whole,
            text: text.to_owned(),
        };
        range.check().map(|()| Values::Range(range))
    }
}

impl FromStr for Variation {
    type Err = String;

    fn from_str(text: &str) -> Result<Variation, String> {
        let parts = text.split_once('=').map(|(key, list)| (key.trim(), list.trim()));
        let (key, list) = parts.filter(|(key, list)| !key.is_empty() && !list.is_empty()).ok_or(FORM)?;
        let items: Result<Vec<Item>, String> = split(list).into_iter().map(Item::of).collect();
        let mut items = items?;
        share_units(&mut items)?;
        let values: Result<Vec<Values>, String> = items.into_iter().map(Item::into_values).collect();
        Ok(Variation {
            key: key.to_owned(),
            values: values?,
        })
    }
}

/// Splits a list at its commas, except those in brackets and quotes.
fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0, None);
    for (at, c) in list.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts
}

/// Gives numbers without a unit the next one to their right, as in `1,2,5 mm`.
fn share_units(items: &mut [Item]) -> Result<(), String> {
    let (mut unit, mut bare) = ("", None);
    let numbers = items.iter_mut().rev().filter_map(|item| match item {
        Item::Numbers(_, numbers) => Some(numbers),
        Item::Text(_) => None,
    });
    for number in numbers.flat_map(|numbers| numbers.iter_mut().rev()) {
        match (number.unit.is_empty(), bare) {
            (true, _) if unit.is_empty() => bare = Some(number.text),
            (true, _) => number.unit = unit,
            (false, Some(bare)) => {
                let (text, own) = (number.text, number.unit);
                return Err(format!(
                    "{text} {own} has a unit, but {bare} to its right has none; write the unit of all of them last, as in 1,2,5 mm"
                ));
            }
            (false, None) => unit = number.unit,
        }
    }
    Ok(())
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() {
        number.to_owned()
    } else {
        format!("{number} {unit}")
    }
}

/// A text that is the same for all spellings of a number with one unit, such as `0.2` and `0.20`.
fn same_for_equal(value: &str) -> String {
    // Larger whole numbers, such as seeds, are not all exact.
    let number = number_and_unit(value).filter(|(number, _)| number.abs() < MOST_EXACT);
    // A negative zero is zero.
    number.map_or_else(|| value.to_owned(), |(number, unit)| with_unit(&(number + 0.0).to_string(), unit))
}

/// A value with so many significant digits.
fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

impl Range {
    fn check(&self) -> Result<(), String> {
        let (text, step) = (&self.text, self.step.unwrap_or(1.0));
        if step == 0.0 {
            return Err(format!("the step of the range {text} is zero; {FORM}"));
        }
        if (self.to - self.from) * step < 0.0 {
            return Err(format!(
                "the range {text} is empty: steps of {step} do not lead from {} to {}; write the smaller end first, as in 1..5, or a negative \
                 step, as in 5..1..-1",
                self.from, self.to
            ));
        }
        Ok(())
    }

    /// A value of the range, as `--set` takes it.
    fn spelled(&self, value: f64) -> String {
        // A negative zero is zero.
        with_unit(&(value + 0.0).to_string(), &self.unit)
    }

    /// All values, from end to end.
    fn all(&self) -> Result<Vec<String>, String> {
        let text = &self.text;
        let Some(step) = self.step.or(self.is_whole.then_some(1.0)) else {
            return Err(format!(
                "the range {text} has no step; write one behind it, as in 0.2..0.4..0.05, or draw a sample with --sample lhs:N"
            ));
        };
        let exact = (self.to - self.from) / step;
        let steps = (exact + ROUNDING).floor();
        if steps >= MOST_POINTS as f64 {
            return Err(format!(
                "the range {text} has {} values, and a sweep has at most {MOST_POINTS} points; write a larger step",
                steps + 1.0
            ));
        }
        let value = |k: usize| self.spelled(rounded(self.from + k as f64 * step, DIGITS));
        if (exact - steps).abs() > ROUNDING {
            let (last, from, to) = (value(steps as usize), self.spelled(self.from), self.spelled(self.to));
            return Err(format!(
                "the range {text} does not reach its end {to}: with steps of {} its last value is {last}; write {last} as its end, or a step that \
                 leads from {from} to {to} in equal parts",
                self.spelled(step)
            ));
        }
        Ok((0..=steps as usize).map(value).collect())
    }

    /// The value at a share, from 0 to 1, of the way from end to end; of whole numbers, each takes an equal part of the way.
    fn at(&self, share: f64, is_of_whole: bool) -> String {
        let (from, to) = (self.from, self.to);
        self.spelled(if is_of_whole {
            (from + (share * (to - from + 1.0)).floor()).min(to)
        } else {
            rounded(from + share * (to - from), DIGITS_OF_SAMPLE).clamp(from, to)
        })
    }
}

impl Variation {
    /// A key that takes each of these values, written as `--set` takes them.
    pub fn of_values(key: String, values: Vec<String>) -> Variation {
        Variation {
            key,
            values: values.into_iter().map(Values::One).collect(),
        }
    }

    /// All values, in the order in which they are written.
    ///
    /// # Errors
    /// If a range has no step, a step that does not reach its end, or too many values, or if a value is given twice.
    pub fn all(&self) -> Result<Vec<String>, String> {
        let mut all = Vec::new();
        for values in &self.values {
            match values {
                Values::One(text) => all.push(text.clone()),
                Values::Range(range) => all.extend(range.all()?),
            }
        }
        let mut known = HashSet::new();
        let twice = all.iter().find(|value| !known.insert(same_for_equal(value)));
        match twice {
            Some(twice) => Err(format!("{} has the value {twice} twice; leave one of the two out", self.key)),
            None => Ok(all),
        }
    }

    /// The values at these shares, from 0 to 1, of the way through them. A range without a step is continuous, unless both of its ends are whole and
    /// `is_accepted` refuses a value between two whole numbers.
    ///
    /// # Errors
    /// As [`Variation::all`], except for the continuous range.
    pub fn at(&self, shares: &[f64], is_accepted: impl FnOnce(&str) -> bool) -> Result<Vec<String>, String> {
        if let [Values::Range(range)] = &self.values[..]
            && range.step.is_none()
        {
            let is_of_whole = range.is_whole && !is_accepted(&range.spelled(range.from + 0.5));
            return Ok(shares.iter().map(|share| range.at(*share, is_of_whole)).collect());
        }
        let all = self.all()?;
        let value = |share: &f64| all[((share * all.len() as f64) as usize).min(all.len() - 1)].clone();
        Ok(shares.iter().map(value).collect())
    }
}

/// A Latin hypercube sample of this many points. It is read from a text such as `lhs:40`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    count: usize,
}

impl FromStr for Sample {
    type Err = String;

    fn from_str(text: &str) -> Result<Sample, String> {
        let count = text.strip_prefix("lhs:").and_then(|count| count.parse().ok());
        let count = count.filter(|count| (1..=MOST_POINTS).contains(count));
        count
            .map(|count| Sample { count })
            .ok_or_else(|| format!("write lhs:N with a whole number N from 1 to {MOST_POINTS}, such as lhs:40"))
    }
}

impl Sample {
    /// For each point the share of the way through the values of this key: of as many equal parts of the way as there are points, each has one point,
    /// at a random place within \[McKay 1979\].
    pub fn shares(self, seed: u64, key: &str) -> Vec<f64> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes()).update(key.as_bytes());
        let mut stream = hasher.finalize_xof();
        let mut draw = || {
            let mut bytes = [0; 8];
            stream.fill(&mut bytes);
            (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut parts: Vec<(f64, usize)> = (0..self.count).map(|part| (draw(), part)).collect();
        parts.sort_by(|a, b| a.0.total_cmp(&b.0));
        parts
            .into_iter()
            .map(|(_, part)| (part as f64 + draw()) / self.count as f64)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        text.parse::<Variation>()
            .and_then(|variation| variation.all())
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refused(text: &str) -> String {
        match text.parse::<Variation>().and_then(|variation| variation.all()) {
            Ok(values) => panic!("{text}: {values:?}"),
            Err(reason) => reason,
        }
    }

    #[test]
    fn lists_and_ranges_have_the_values_that_a_reader_expects() {
        let cases: &[(&str, &[&str])] = &[
            ("run.seed=1..5", &["1", "2", "3", "4", "5"]),
            ("run.seed=7", &["7"]),
            ("run.seed=3..1..-1", &["3", "2", "1"]),
            ("a.b=0.2, 0.30,0.4", &["0.2", "0.30", "0.4"]),
            ("a.b=0.1..0.4..0.1", &["0.1", "0.2", "0.3", "0.4"]),
            ("a.b=0..0.8..0.4", &["0", "0.4", "0.8"]),
            ("a.b=-0.1..0.1..0.1", &["-0.1", "0", "0.1"]),
            ("a.b=0.1 mm..0.3 mm..0.1 mm", &["0.1 mm", "0.2 mm", "0.3 mm"]),
            ("a.b=1,2..4,8 mm", &["1 mm", "2 mm", "3 mm", "4 mm", "8 mm"]),
            ("a.b=900um..1.1mm..0.1mm", &["0.9 mm", "1 mm", "1.1 mm"]),
            ("a.b=10us,1s", &["10 us", "1 s"]),
            ("a.b=[0,0,1],[0, 1, 0]", &["[0,0,1]", "[0, 1, 0]"]),
            ("a.b=\"x,y\",z", &["\"x,y\"", "z"]),
            ("a.b=../a.stl,3d.stl", &["../a.stl", "3d.stl"]),
            ("a.b=true,false", &["true", "false"]),
        ];
        for (text, expected) in cases {
            assert_eq!(values(text), *expected, "{text}");
        }
    }

    #[test]
    fn what_has_no_values_is_refused_with_a_remedy() {
        for (text, reported) in [
            ("run.seed", "such as run.seed=1..5"),
            ("run.seed=", "such as run.seed=1..5"),
            ("=1", "such as run.seed=1..5"),
            ("run.seed=1,,2", "a value is missing"),
            ("run.seed=5..1", "5..1 is empty"),
            ("run.seed=1..5..-1", "1..5..-1 is empty"),
            ("run.seed=1..5..0", "is zero"),
            ("run.seed=1..5..1..2", "more than two ends"),
            ("run.seed=1..9..5", "its last value is 6"),
            ("a.b=0.2..0.5..0.07", "its last value is 0.48"),
            ("a.b=9..1..-5 mm", "its last value is 4 mm"),
            ("run.seed=1,1", "run.seed has the value 1 twice"),
            ("a.b=0.2,0.20", "the value 0.20 twice"),
            ("run.seed=1..3,2", "the value 2 twice"),
            ("a.b=0.2..0.4", "as in 0.2..0.4..0.05"),
            ("a.b=1..x", "`x` in the range"),
            ("a.b=1 mm,2", "1 mm has a unit, but 2"),
            ("a.b=1 mm..2 s..1 s", "not units of one quantity"),
            ("run.seed=1..1000000", "at most 100000 points"),
        ] {
            let reason = refused(text);
            assert!(reason.contains(reported), "{text}: {reason}");
        }
    }

    #[test]
    fn a_latin_hypercube_has_one_point_in_each_part_of_each_axis() {
        let sample: Sample = "lhs:50".parse().unwrap();
        let [a, b] = ["a", "b"].map(|key| sample.shares(1, key));
        for shares in [&a, &b] {
            let mut parts: Vec<usize> = shares.iter().map(|share| (50.0 * share) as usize).collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..50).collect::<Vec<_>>());
        }
        assert_eq!(a, sample.shares(1, "a"));
        assert_ne!(a, sample.shares(2, "a"));
        // Correlations of independent permutations have the standard deviation 1/√(n − 1) = 0.14.
        let covariance: f64 = a.iter().zip(&b).map(|(a, b)| (a - 0.5) * (b - 0.5)).sum();
        let variance: f64 = a.iter().map(|a| (a - 0.5).powi(2)).sum();
        assert!((covariance / variance).abs() < 0.5);
        for text in ["lhs", "lhs:0", "lhs:x", "sobol:4"] {
            assert!(text.parse::<Sample>().unwrap_err().contains("lhs:40"), "{text}");
        }
    }

    #[test]
    fn a_sample_is_continuous_unless_only_whole_numbers_or_listed_values_are_accepted() {
        let drawn = |text: &str, accepts_fractions: bool| -> Vec<f64> {
            let variation: Variation = text.parse().unwrap();
            let drawn = variation
                .at(&"lhs:8".parse::<Sample>().unwrap().shares(1, "a"), |_| accepts_fractions)
                .unwrap();
            let mut drawn: Vec<f64> = drawn.iter().map(|value| value.parse().unwrap()).collect();
            drawn.sort_by(f64::total_cmp);
            drawn
        };
        assert_eq!(drawn("a=1..4", false), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
        assert_eq!(drawn("a=0.5,2", true), [0.5, 0.5, 0.5, 0.5, 2.0, 2.0, 2.0, 2.0]);
        for text in ["a=0..1", "a=0.0..1.0"] {
            for (k, value) in drawn(text, true).into_iter().enumerate() {
                assert!((k as f64 / 8.0..=(k + 1) as f64 / 8.0).contains(&value), "{text}: {value}");
            }
        }
    }
}
