//! Reads the tree of a scene into the schema with serde, and continues after an error to find the next.

use crate::{
    diagnostics::{Diagnostics, MOST, Place, UnlocatedDiagnostic, did_you_mean, shortened},
    document::{Entry, Node, Value},
    explain,
};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor};
use std::{collections::BTreeSet, fmt};

/// Longest text that is read again after each error \[bytes\], and largest number of errors of longer ones.
const LONGEST_REREAD: usize = 1 << 20;
const MAX_OF_LONG: usize = 5;
/// Longest key that is shown completely \[characters\].
const LONGEST_KEY: usize = 64;

/// Reads the tree. It stores each error, removes the part at fault, and reads the rest again, so that one check finds many errors. Errors of a table
/// that are only due to a removed part are not reported.
pub(crate) fn read<T: for<'de> de::Deserialize<'de>>(root: Node, found: &mut Diagnostics) -> Option<T> {
    read_where(root, found, |_| true)
}

/// As [`read`], but stores only errors of the values at and below these keys. A missing key is no error, because it may still be added.
pub(crate) fn read_at<T: for<'de> de::Deserialize<'de>>(root: Node, keys: &[&str], found: &mut Diagnostics) -> Option<T> {
    read_where(root, found, |error| {
        let is_below = error.path.len() >= keys.len() && error.path.iter().zip(keys).all(|(found, key)| found == key);
        is_below && error.missing.is_none()
    })
}

/// As [`read`], but stores only the errors that are wanted.
fn read_where<T: for<'de> de::Deserialize<'de>>(
    mut root: Node,
    found: &mut Diagnostics,
    is_wanted: impl Fn(&ReadError) -> bool,
) -> Option<T> {
    let mut taken_out = BTreeSet::new();
    let most = if found.text.len() > LONGEST_REREAD { MAX_OF_LONG } else { MOST };
    loop {
        let mut error = match T::deserialize(Reader(&root)) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        error.path.reverse();
        let is_known = match error.missing {
            Some(field) => taken_out.contains(&[error.path.clone(), vec![field.to_owned()]].concat()),
            None => taken_out
                .iter()
                .any(|path: &Vec<String>| path.len() > error.path.len() && path.starts_with(&error.path)),
        };
        if !is_known && is_wanted(&error) {
            let (node, place) = root.find(error.path.iter().map(String::as_str));
            let keys: Vec<String> = error.path.iter().map(|key| shortened(key.clone(), LONGEST_KEY)).collect();
            let mut complaint = *error.complaint;
            if error.is_item
                && let Some(key) = keys.last()
            {
                complaint = complaint.remedy(match node.shown() {
                    Some(item) => format!("write `{key} = [{item}]`"),
                    None if keys.len() == 1 => format!("write `[[{key}]]`"),
                    None => format!("write `{key} = [{{ … }}]`"),
                });
            }
            let name = keys.join(".");
            if !name.is_empty() {
                complaint = complaint.within(&name);
            }
            // An override that created a table did not leave the key out: the scene did.
            let place = match (error.missing, place) {
                (Some(_), Place::Override(_)) => Place::Whole,
                (_, place) => place,
            };
            found.push(error.key.unwrap_or(place), node.shown(), complaint);
        }
        if error.path.is_empty() || found.list.len() >= most {
            return None;
        }
        while error.path.last().is_some_and(|key| key.parse::<usize>().is_ok()) {
            error.path.pop();
        }
        root.remove(&error.path);
        taken_out.insert(error.path);
    }
}

/// The error of serde, and its position.
#[derive(Debug)]
struct ReadError {
    complaint: Box<UnlocatedDiagnostic>,
    /// Keys from the innermost outward.
    path: Vec<String>,
    /// The key itself is at fault.
    key: Option<Place>,
    missing: Option<&'static str>,
    /// The value would be valid as the only one of a list.
    is_item: bool,
}

impl ReadError {
    fn new(complaint: UnlocatedDiagnostic) -> Self {
        ReadError {
            complaint: Box::new(complaint),
            path: Vec::new(),
            key: None,
            missing: None,
            is_item: false,
        }
    }
    fn within(mut self, key: &str) -> Self {
        self.path.push(key.to_owned());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.complaint.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ReadError::new(UnlocatedDiagnostic::from(message.to_string()))
    }
    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let found = match found {
            de::Unexpected::Map => "a table".to_owned(),
            de::Unexpected::Seq => "a list".to_owned(),
            other => other.to_string(),
        };
        let expected = match expected.to_string().as_str() {
            "a map" => "a table".to_owned(),
            "a sequence" => "a list".to_owned(),
            other => other.to_owned(),
        };
        ReadError::new(
            UnlocatedDiagnostic::new(format!("{found} cannot stand here"))
                .remedy(format!("write {expected}"))
                .limit(expected),
        )
    }
    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(found, expected)
    }
    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        ReadError::new(UnlocatedDiagnostic::new(format!("`{word}` is not known")).remedy(did_you_mean(word, known.iter().copied())))
    }
    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        ReadError::new(explain::unknown_key(key, known))
    }
    fn missing_field(field: &'static str) -> Self {
        let complaint = UnlocatedDiagnostic::new(format!("`{field}` is missing"))
            .remedy(format!("add `{field}`; `seixo explain {field}` describes it"));
        ReadError {
            missing: Some(field),
            ..ReadError::new(complaint)
        }
    }
}

/// The node as serde reads it.
struct Reader<'a>(&'a Node);

impl<'a> Reader<'a> {
    fn entries(&self) -> Result<Entries<'a>, ReadError> {
        match &self.0.value {
            Value::Table(table) => Ok(Entries {
                rest: table.iter(),
                current: None,
            }),
            _ => Err(ReadError::new(
                UnlocatedDiagnostic::new("a table belongs here").remedy("write a table, as in [section] or { key = value }"),
            )),
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::List(list) => visitor.visit_seq(Items {
                rest: list.iter().enumerate(),
            }),
            Value::Table(_) => visitor.visit_map(self.entries()?),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if matches!(self.0.value, Value::List(_)) {
            return self.deserialize_any(visitor);
        }
        let alone = Items {
            rest: std::slice::from_ref(self.0).iter().enumerate(),
        };
        let complaint = UnlocatedDiagnostic::new("a list belongs here").remedy("write a list, as in [1, 2] or [\"bed\"]");
        Err(ReadError {
            is_item: visitor.visit_seq(alone).is_ok(),
            ..ReadError::new(complaint)
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::List(list) if list.len() == length => self.deserialize_any(visitor),
            _ => Err(ReadError::new(
                UnlocatedDiagnostic::new(format!("a list of {length} values belongs here")).remedy(match length {
                    3 => "write a value for x, y and z, as in [0, 0, \"1 m\"], or [true, true, false] where a yes or no belongs",
                    _ => "write it as in [1, 100], each value with its unit",
                }),
            )),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let mut entries = self.entries()?;
        match entries.rest.find(|(key, _)| !fields.contains(&key.as_str())) {
            Some((key, entry)) => Err(ReadError {
                key: Some(entry.key.clone()),
                ..ReadError::new(explain::unknown_key(key, fields))
            }
            .within(key)),
            None => visitor.visit_map(self.entries()?),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::Table(_) => OneChoice(self.entries()?).deserialize_enum(name, variants, visitor),
            _ => Err(de::Error::custom(one_choice(variants))),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple_struct map identifier ignored_any
    }
}

/// A table with exactly one of several choices: visitors read enums with it that also accept other forms.
pub(crate) struct OneChoice<A>(pub A);

impl<'de, A: MapAccess<'de>> Deserializer<'de> for OneChoice<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_enum(Choice { entries: self.0, variants })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// The entries of such a table; the first one is the choice.
struct Choice<A> {
    entries: A,
    variants: &'static [&'static str],
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Choice<A> {
    type Error = A::Error;
    type Variant = Self;
    fn variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<(T::Value, Self), A::Error> {
        match self.entries.next_key_seed(seed)? {
            Some(choice) => Ok((choice, self)),
            None => Err(de::Error::custom(one_choice(self.variants))),
        }
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Choice<A> {
    type Error = A::Error;
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<T::Value, A::Error> {
        let value = self.entries.next_value_seed(seed)?;
        self.entries.next_key_seed(NoFurther(self.variants))?;
        Ok(value)
    }
    fn unit_variant(self) -> Result<(), A::Error> {
        Err(de::Error::custom(one_choice(self.variants)))
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, A::Error> {
        Err(de::Error::custom(one_choice(self.variants)))
    }
    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, A::Error> {
        Err(de::Error::custom(one_choice(self.variants)))
    }
}

/// Reads a key that is not allowed; these are the choices of its table.
struct NoFurther(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for NoFurther {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let key = String::deserialize(deserializer)?;
        Err(if self.0.contains(&key.as_str()) {
            de::Error::custom(one_choice(self.0))
        } else {
            de::Error::unknown_field(&key, self.0)
        })
    }
}

fn one_choice(variants: &[&str]) -> UnlocatedDiagnostic {
    let choices: Vec<String> = variants.iter().map(|variant| format!("{{ {variant} = … }}")).collect();
    UnlocatedDiagnostic::new("a table with exactly one choice belongs here").remedy(format!("write one of {}", choices.join(", ")))
}

struct Items<'a> {
    rest: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = ReadError;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        let Some((index, node)) = self.rest.next() else { return Ok(None) };
        seed.deserialize(Reader(node))
            .map(Some)
            .map_err(|error| error.within(&index.to_string()))
    }
}

struct Entries<'a> {
    rest: std::collections::btree_map::Iter<'a, String, Entry>,
    current: Option<(&'a str, &'a Node)>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = ReadError;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        let Some((key, entry)) = self.rest.next() else { return Ok(None) };
        self.current = Some((key, &entry.node));
        seed.deserialize(key.as_str().into_deserializer())
            .map(Some)
            .map_err(|error: ReadError| {
                ReadError {
                    key: Some(entry.key.clone()),
                    ..error
                }
                .within(key)
            })
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let Some((key, node)) = self.current.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(Reader(node)).map_err(|error| error.within(key))
    }
}
