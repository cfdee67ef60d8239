//! Numbers and vectors that depend on time.

use super::{Vec3, vector};
use exmex::{Express, FlatEx, FloatOpsFactory, MatchLiteral};
use seixo_laws::Vector3;
use std::fmt;
use std::sync::Arc;

/// Longest text of a formula \[bytes\].
const LONGEST: usize = 500;

/// A formula of time that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormulaError {
    /// It is too long to be read.
    #[error("a formula of {length} bytes is too long; the limit is {LONGEST} bytes")]
    TooLong {
        /// Its length \[bytes\].
        length: usize,
    },
    /// It cannot be read.
    #[error("the formula cannot be read: {reason}")]
    Unreadable {
        /// The reason.
        reason: String,
    },
    /// It has a name that is neither the time, a constant nor a function.
    #[error("the formula has the name `{name}`, which is neither the time `t`, `pi`, `e` nor a function")]
    UnknownName {
        /// The name.
        name: String,
    },
}

/// Numbers of formulas, also with an exponent as in `1e-3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Numbers;

impl MatchLiteral for Numbers {
    fn is_literal(text: &str) -> Option<&str> {
        let bytes = text.as_bytes();
        let digits_from = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let whole = digits_from(0);
        let has_point = bytes.get(whole) == Some(&b'.');
        let decimals = if has_point { digits_from(whole + 1) } else { 0 };
        if whole + decimals == 0 {
            return None;
        }
        let mut end = whole + usize::from(has_point) + decimals;
        // An `e` without digits behind it is Euler's number.
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let digits = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = if digits < bytes.len() { digits_from(digits) } else { 0 };
            if exponent > 0 {
                end = digits + exponent;
            }
        }
        Some(&text[..end])
    }
}

type Expression = FlatEx<f64, FloatOpsFactory<f64>, Numbers>;

/// A name in a formula.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Name {
    Time,
    Pi,
}

/// A formula of the time t \[s\], times a factor.
#[derive(Clone)]
pub struct Formula(Arc<ReadFormula>);

struct ReadFormula {
    text: String,
    factor: f64,
    expression: Expression,
    /// Names in the order of their values.
    names: Vec<Name>,
}

impl Formula {
    /// Reads a formula of the time `t` \[s\]. Its value is multiplied by `factor`, which is that of a unit.
    ///
    /// A formula has numbers, `+ - * / ^`, parentheses, `pi`, `e`, and functions such as `sin`, `cos`, `exp`, `sqrt`, `abs`, `min(a, b)` and
    /// `max(a, b)`. Angles are in radians.
    ///
    /// ```
    /// let ramp = seixo_engine::world::Formula::read("min(t / 0.1, 1)", 2.0).unwrap();
    /// assert_eq!((ramp.at(0.05), ramp.at(3.0)), (1.0, 2.0));
    /// ```
    ///
    /// # Errors
    /// If the text is too long, is no formula, or has another name.
    pub fn read(text: &str, factor: f64) -> Result<Formula, FormulaError> {
        if text.len() > LONGEST {
            return Err(FormulaError::TooLong { length: text.len() });
        }
        let expression = Expression::parse(text).map_err(|error| FormulaError::Unreadable { reason: error.to_string() })?;
        let named = |name: &String| match name.as_str() {
            "t" => Ok(Name::Time),
            "pi" => Ok(Name::Pi),
            _ => Err(FormulaError::UnknownName { name: name.clone() }),
        };
        let names = expression.var_names().iter().map(named).collect::<Result<_, _>>()?;
        Ok(Formula(Arc::new(ReadFormula {
            text: text.to_owned(),
            factor,
            expression,
            names,
        })))
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Its value at a time \[s\]; not a number where it has none.
    pub fn at(&self, time: f64) -> f64 {
        let ReadFormula {
            factor, expression, names, ..
        } = &*self.0;
        let values = names.iter().map(|name| match name {
            Name::Time => time,
            Name::Pi => std::f64::consts::PI,
        });
        expression.eval_iter(values).map_or(f64::NAN, |value| value * factor)
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}) * {}", self.0.text, self.0.factor)
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        (&self.0.text, self.0.factor) == (&other.0.text, other.0.factor)
    }
}

/// A number that may depend on time.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeFunction {
    /// The same at all times.
    Constant(f64),
    /// A formula of time.
    Formula(Formula),
}

impl TimeFunction {
    /// Its value at a time \[s\].
    pub fn at(&self, time: f64) -> f64 {
        match self {
            TimeFunction::Constant(value) => *value,
            TimeFunction::Formula(formula) => formula.at(time),
        }
    }
}

/// A vector whose components may depend on time.
///
/// ```
/// use seixo_engine::world::{Formula, TimeFunction, VectorOfTime};
///
/// let down = VectorOfTime::from([0.0, 0.0, -1.0]);
/// let swing = VectorOfTime([
///     TimeFunction::Formula(Formula::read("cos(2 * pi * t)", 1.0).unwrap()),
///     TimeFunction::Constant(0.0),
///     TimeFunction::Constant(-1.0),
/// ]);
/// assert!(!down.depends_on_time() && swing.depends_on_time());
/// assert_eq!(swing.at(1.0), [1.0, 0.0, -1.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VectorOfTime(pub [TimeFunction; 3]);

impl VectorOfTime {
    /// Its value at a time \[s\].
    pub fn at(&self, time: f64) -> Vec3 {
        [0, 1, 2].map(|axis| self.0[axis].at(time))
    }

    pub(crate) fn vector_at(&self, time: f64) -> Vector3<f64> {
        vector(self.at(time))
    }

    /// Whether a component depends on time.
    pub fn depends_on_time(&self) -> bool {
        self.0.iter().any(|component| matches!(component, TimeFunction::Formula(_)))
    }

    /// Whether it is zero at all times.
    pub fn is_zero(&self) -> bool {
        *self == VectorOfTime::default()
    }
}

impl Default for VectorOfTime {
    fn default() -> VectorOfTime {
        VectorOfTime::from([0.0; 3])
    }
}

impl From<Vec3> for VectorOfTime {
    fn from(constant: Vec3) -> VectorOfTime {
        VectorOfTime(constant.map(TimeFunction::Constant))
    }
}
