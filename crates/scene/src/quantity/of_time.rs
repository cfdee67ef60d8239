//! Quantities that may be formulas of time – `"(2 * sin(2 * pi * 5 * t)) N"`.

use super::{Any, Dimension, Quantity, example, kind, pattern};
use crate::diagnostics::UnlocatedDiagnostic;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seixo_engine::world::{Formula, TimeFunction, VectorOfTime};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use std::{borrow::Cow, fmt, marker::PhantomData};

/// A quantity of one dimension, constant or a formula of time in parentheses with a unit behind it.
pub(crate) struct OfTime<D> {
    /// The value in SI units.
    pub function: TimeFunction,
    /// What the scene says, if it is a formula.
    text: String,
    dimension: PhantomData<D>,
}

impl<D: Dimension> OfTime<D> {
    fn constant(quantity: Quantity<D, Any>) -> OfTime<D> {
        OfTime {
            function: TimeFunction::Constant(quantity.si),
            text: String::new(),
            dimension: PhantomData,
        }
    }

    fn written(text: &str) -> Result<OfTime<D>, UnlocatedDiagnostic> {
        let Some((formula, unit)) = split(text) else {
            return Quantity::written(text).map(OfTime::constant);
        };
        // One of the unit is its factor.
        let factor = Quantity::<D, Any>::written(&format!("1 {unit}"))?.si;
        let formula = Formula::read(formula, factor).map_err(|error| {
            let remedy = format!("write a formula of t in seconds and a unit, as in {}", formula_example::<D>());
            UnlocatedDiagnostic::new(error.to_string()).remedy(remedy)
        })?;
        Ok(OfTime {
            function: TimeFunction::Formula(formula),
            text: text.trim().to_owned(),
            dimension: PhantomData,
        })
    }
}

/// The formula and the unit of a text that begins with a parenthesis: the formula ends with the parenthesis that closes the last one.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    if !text.starts_with('(') {
        return None;
    }
    let end = text.rfind(')')?;
    Some((&text[..=end], &text[end + 1..]))
}

fn formula_example<D: Dimension>() -> String {
    format!("\"(2 * sin(2 * pi * 5 * t)) {}\"", D::UNIT)
}

impl<D> Clone for OfTime<D> {
    fn clone(&self) -> Self {
        OfTime {
            function: self.function.clone(),
            text: self.text.clone(),
            dimension: PhantomData,
        }
    }
}

impl<D> fmt::Debug for OfTime<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.function, f)
    }
}

impl<D> Serialize for OfTime<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.function {
            TimeFunction::Constant(value) => serializer.serialize_f64(*value),
            TimeFunction::Formula(_) => serializer.serialize_str(&self.text),
        }
    }
}

impl<'de, D: Dimension> Deserialize<'de> for OfTime<D> {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader<D>(PhantomData<D>);
        impl<D: Dimension> Visitor<'_> for Reader<D> {
            type Value = OfTime<D>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "{} such as {}, or a formula of time such as {}",
                    kind::<D>(),
                    example::<D>(),
                    formula_example::<D>()
                )
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                Quantity::checked(value).map(OfTime::constant).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                self.visit_f64(value as f64)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                OfTime::written(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<D: Dimension> JsonSchema for OfTime<D> {
    fn schema_name() -> Cow<'static, str> {
        format!("{} of time", D::NAME).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Quantity::<D, Any>::json_schema(generator);
        let formula = serde_json::json!({ "type": "string", "pattern": pattern::formula_pattern(D::FORMS) });
        if let Some(kinds) = schema.get_mut("anyOf").and_then(|kinds| kinds.as_array_mut()) {
            kinds.push(formula);
        }
        schema
    }
}

/// The function of three components.
pub(crate) fn vector_of_time<D>(vector: &[OfTime<D>; 3]) -> VectorOfTime {
    VectorOfTime([0, 1, 2].map(|axis| vector[axis].function.clone()))
}
