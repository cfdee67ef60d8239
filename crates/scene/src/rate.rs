//! Rate of an inlet: mass or grains per time.

use crate::{
    diagnostics::UnlocatedDiagnostic,
    quantity::{self, Dimension, Frequency, MassRate},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use std::{borrow::Cow, fmt};

/// Mass or number of grains per time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Mass per time \[kg/s\].
    Mass(f64),
    /// Grains per time \[1/s\].
    Count(f64),
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Mass(rate) => write!(f, "{rate} kg/s"),
            Rate::Count(rate) => write!(f, "{rate} 1/s"),
        }
    }
}

impl Rate {
    /// The value in its own unit.
    pub fn value(self) -> f64 {
        match self {
            Rate::Mass(rate) | Rate::Count(rate) => rate,
        }
    }

    /// A rate of the same kind.
    pub fn with(self, value: f64) -> Rate {
        match self {
            Rate::Mass(_) => Rate::Mass(value),
            Rate::Count(_) => Rate::Count(value),
        }
    }

    fn read(text: &str) -> Result<Rate, UnlocatedDiagnostic> {
        let parsed = quantity::parse(text)?;
        let value = parsed.value;
        let rate = match parsed.powers {
            Some(powers) if powers == MassRate::POWERS => Rate::Mass(value),
            Some(powers) if powers == Frequency::POWERS => Rate::Count(value),
            other => {
                let found = other.map_or("has no unit".to_owned(), |powers| format!("is {powers}"));
                return Err(UnlocatedDiagnostic::new(format!(
                    "\"{text}\" {found}, but mass per time [kg/s] or grains per time [1/s] belongs here"
                ))
                .limit("kg/s or 1/s")
                .remedy("write it as in \"2 kg/s\" or \"1000 1/s\""));
            }
        };
        if value > 0.0 {
            return Ok(rate);
        }
        Err(UnlocatedDiagnostic::new(format!("\"{text}\" brings nothing"))
            .limit("> 0")
            .remedy("give a rate above zero"))
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<X: Deserializer<'de>>(deserializer: X) -> Result<Self, X::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Rate;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate such as \"2 kg/s\" or \"1000 1/s\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Rate, E> {
                Rate::read(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> Cow<'static, str> {
        "rate".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "examples": ["2 kg/s", "1000 1/s"] })
    }
}
