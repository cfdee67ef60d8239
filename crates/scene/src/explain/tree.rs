//! The schema as a tree of types: the accepted values of a node, and their form.

use super::{FIRST_VERSION, Key, NAME, SECTIONS};
use crate::synonyms;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Follows `$ref`s, and skips the `null` of optional values.
pub(super) struct Types {
    pub(super) definitions: Map<String, Value>,
}

impl Types {
    /// The type behind references, with the name of the last one.
    fn resolve<'a>(&'a self, node: &'a Value) -> (&'a Value, Option<&'a str>) {
        let (mut node, mut name) = (node, None);
        loop {
            if let Some(reference) = node["$ref"].as_str() {
                let last = reference.rsplit('/').next().unwrap_or_default();
                (node, name) = (&self.definitions[last], Some(last));
            } else if let Some(only) = alternatives(node).filter(|all| all.len() == 1) {
                node = only[0];
            } else {
                return (node, name);
            }
        }
    }

    /// The possible tables of a node, each with its name, and whether the user names them or they are in a list.
    fn tables<'a>(&'a self, node: &'a Value) -> Vec<(&'a Value, Option<&'a str>, &'static str)> {
        let (node, name) = self.resolve(node);
        if let Some(values) = node.get("additionalProperties").filter(|values| values.is_object()) {
            let (inner, name) = self.resolve(values);
            return vec![(inner, name, ".NAME")];
        }
        if node["type"] == "array" && node["items"].is_object() {
            return self.tables(&node["items"]);
        }
        if node["properties"].is_object() {
            return vec![(node, name, "")];
        }
        alternatives(node).map_or_else(Vec::new, |all| all.into_iter().flat_map(|one| self.tables(one)).collect())
    }

    /// What a node may be: the types behind references and alternatives.
    pub(super) fn forms<'a>(&'a self, node: &'a Value) -> Vec<&'a Value> {
        let (node, _) = self.resolve(node);
        match alternatives(node).filter(|_| !node["properties"].is_object()) {
            Some(all) => all.into_iter().flat_map(|one| self.forms(one)).collect(),
            None => vec![node],
        }
    }

    /// Default of a node: that of the schema, or the one in its meaning; `None` if there is none, or if it is no single value.
    pub(super) fn default_value(&self, node: &Value) -> Option<Value> {
        if !node["default"].is_null() {
            return Some(node["default"].clone());
        }
        let meaning = Some(text_of(node)).filter(|text| !text.is_empty());
        let meaning = meaning.unwrap_or_else(|| text_of(self.resolve(node).0));
        serde_json::from_str(&default(node, &meaning, false, "")).ok()
    }

    /// The value of a node, its unit, and its range.
    fn kind(&self, node: &Value) -> (String, String, String) {
        let (node, _) = self.resolve(node);
        let none = String::new;
        if let (Some(dimension), Some(unit)) = (node["x-dimension"].as_str(), node["x-unit"].as_str()) {
            return (dimension.to_owned(), unit.to_owned(), range(&node["anyOf"][0]));
        }
        if let Some(words) = node["enum"].as_array() {
            let words: Vec<String> = words.iter().filter(|word| !word.is_null()).map(Value::to_string).collect();
            return ("word".to_owned(), none(), words.join(", "));
        }
        if let Some(word) = node.get("const") {
            return ("word".to_owned(), none(), word.to_string());
        }
        if let Some(all) = alternatives(node) {
            let mut kinds: Vec<(String, String, String)> = all.into_iter().map(|one| self.kind(one)).collect();
            kinds.dedup();
            let join = |k: fn(&(String, String, String)) -> &String, between: &str| {
                let mut parts: Vec<&str> = kinds.iter().map(|kind| k(kind).as_str()).filter(|part| !part.is_empty()).collect();
                parts.dedup();
                parts.join(between)
            };
            return (join(|kind| &kind.0, " or "), join(|kind| &kind.1, ", "), join(|kind| &kind.2, "; "));
        }
        match type_of(node) {
            "boolean" => ("true or false".to_owned(), none(), none()),
            "integer" => ("whole number".to_owned(), none(), range(node)),
            "number" => ("pure number".to_owned(), none(), range(node)),
            "array" if node["prefixItems"].is_array() => {
                let parts = node["prefixItems"].as_array().into_iter().flatten().map(|part| self.kind(part).0);
                (format!("list: {}", parts.collect::<Vec<_>>().join(", then ")), none(), none())
            }
            "array" => {
                let (inner, unit, range) = self.kind(&node["items"]);
                let count = match (node["minItems"].as_u64(), node["maxItems"].as_u64()) {
                    (Some(least), Some(most)) if least == most => format!("list of {least}: "),
                    (Some(least), _) => format!("list of {least} or more: "),
                    _ => "list: ".to_owned(),
                };
                (format!("{count}{inner}"), unit, range)
            }
            "object" if type_of(&node["additionalProperties"]) == "string" => ("names by name".to_owned(), none(), none()),
            "object" if node["additionalProperties"].is_object() => ("tables by name".to_owned(), none(), none()),
            "object" => ("table".to_owned(), none(), none()),
            _ => ("text".to_owned(), none(), node["pattern"].as_str().unwrap_or_default().to_owned()),
        }
    }

    /// Example for the value of a node.
    fn example(&self, node: &Value) -> String {
        let (resolved, _) = self.resolve(node);
        if let Some(example) = node["examples"].get(0).or_else(|| resolved["examples"].get(0)) {
            return self.written(node, example);
        }
        let node = resolved;
        if let (Some(unit), Some(example)) = (node["x-unit"].as_str(), node["anyOf"][1]["examples"][0].as_str()) {
            return if unit.is_empty() {
                example.to_owned()
            } else {
                format!("{example:?}")
            };
        }
        if let Some(words) = node["enum"].as_array() {
            let other = words.iter().find(|word| **word != node["default"] && !word.is_null());
            return toml(other.unwrap_or(&words[0]));
        }
        if let Some(word) = node.get("const") {
            return toml(word);
        }
        if let Some(all) = alternatives(node) {
            // Of several tables the first one is the simplest; a value says more than a word such as "auto" before it.
            let are_tables = all.iter().all(|one| !self.tables(one).is_empty());
            let shown = if are_tables { all.first() } else { all.last() };
            return shown.map_or_else(String::new, |one| self.example(one));
        }
        match type_of(node) {
            "boolean" => "true".to_owned(),
            "integer" => node["minimum"].as_i64().unwrap_or(1).max(1).to_string(),
            "array" if node["prefixItems"].is_array() => {
                let parts = node["prefixItems"].as_array().into_iter().flatten().map(|part| self.example(part));
                format!("[{}]", parts.collect::<Vec<_>>().join(", "))
            }
            "array" => {
                let one = self.example(&node["items"]);
                let item = self.resolve(&node["items"]).0;
                let is_vector = node["minItems"] == 3 && item["x-unit"].is_string() && range(&item["anyOf"][0]).is_empty();
                match node["minItems"].as_u64().unwrap_or(1) {
                    3 if is_vector && one.starts_with('"') => format!("[0, 0, {one}]"),
                    3 if is_vector && one.starts_with("0.5") => "[0, 0, 1]".to_owned(),
                    count => format!("[{}]", vec![one; count.max(1) as usize].join(", ")),
                }
            }
            "object" if node["additionalProperties"].is_object() => {
                format!("{{ {NAME} = {} }}", self.example(&node["additionalProperties"]))
            }
            "object" => {
                let required = names(&node["required"]);
                let mut shown: Vec<&str> = required.clone();
                if shown.is_empty() {
                    shown.extend(
                        node["properties"]
                            .as_object()
                            .and_then(|keys| keys.keys().next())
                            .map(String::as_str),
                    );
                }
                let parts: Vec<String> = shown
                    .iter()
                    .map(|key| format!("{key} = {}", self.example(&node["properties"][*key])))
                    .collect();
                format!("{{ {} }}", parts.join(", "))
            }
            _ => String::new(),
        }
    }

    /// A value of a node in TOML. Tables begin with the keys that they need, in the order of the schema.
    fn written(&self, node: &Value, value: &Value) -> String {
        let (node, _) = self.resolve(node);
        match value {
            Value::Object(given) => {
                let mut tables = self.tables(node).into_iter().map(|(table, ..)| table);
                let has_all = |table: &&Value| given.keys().all(|key| table["properties"].get(key).is_some());
                let table = tables.find(has_all).unwrap_or(node);
                let required = names(&table["required"]);
                let mut keys: Vec<&String> = given.keys().collect();
                keys.sort_by_key(|key| required.iter().position(|known| known == key).unwrap_or(required.len()));
                let parts = keys
                    .into_iter()
                    .map(|key| format!("{key} = {}", self.written(&table["properties"][key.as_str()], &given[key.as_str()])));
                format!("{{ {} }}", parts.collect::<Vec<_>>().join(", "))
            }
            Value::Array(items) => {
                let parts = items.iter().map(|item| self.written(&node["items"], item));
                format!("[{}]", parts.collect::<Vec<_>>().join(", "))
            }
            other => toml(other),
        }
    }

    /// The meaning of a key.
    fn key(&self, path: &str, name: &str, node: &Value, is_required: bool, table: &[&str]) -> Key {
        let (kind, unit, range) = self.kind(node);
        let (resolved, _) = self.resolve(node);
        let meaning = Some(text_of(node))
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| text_of(resolved));
        Key {
            path: format!("{path}{name}"),
            default: default(node, &meaning, is_required, &unit),
            meaning,
            kind,
            unit,
            range,
            example: self.example(node),
            since: node["x-since"].as_str().unwrap_or(FIRST_VERSION).to_owned(),
            synonyms: synonyms::of(name, table),
            listed_at: None,
        }
    }

    /// Lists the keys of the tables that may stand at a path, and then those of the tables in them; each type of table is listed at its first
    /// position. Several tables of one key each are a choice: one of them is needed.
    pub(super) fn list<'a>(&'a self, tables: &[&'a Value], path: &str, met: &mut Vec<(&'a str, String)>, keys: &mut Vec<Key>) {
        let has_one_key = |table: &&Value| table["properties"].as_object().is_some_and(|keys| keys.len() == 1);
        let is_choice = tables.len() > 1 && tables.iter().all(has_one_key);
        let mut later: Vec<(String, Vec<&'a Value>)> = Vec::new();
        for table in tables.iter().copied() {
            let Some(properties) = table["properties"].as_object() else {
                continue;
            };
            let required: BTreeSet<&str> = names(&table["required"]).into_iter().collect();
            let all: Vec<&str> = properties.keys().map(String::as_str).collect();
            let mut ordered: Vec<(&String, &Value)> = properties.iter().collect();
            if path.is_empty() {
                ordered.sort_by_key(|(name, _)| SECTIONS.iter().position(|known| known == name));
            }
            for (name, node) in ordered {
                let mut key = self.key(path, name, node, required.contains(name.as_str()), &all);
                if is_choice {
                    key.default = "one of these".to_owned();
                }
                // A choice is described as a whole, with its key.
                let of_table = text_of(table);
                if (is_choice && !of_table.is_empty()) || key.meaning.is_empty() {
                    key.meaning = of_table;
                }
                let example = &table["examples"][0][name];
                if !example.is_null() {
                    key.example = self.written(node, example);
                }
                keys.push(key);
                let at = keys.len() - 1;
                for (inner, kind, named) in self.tables(node) {
                    let inner_path = format!("{path}{name}{named}");
                    if let Some((_, listed_at)) = kind.and_then(|kind| met.iter().find(|(known, _)| *known == kind)) {
                        keys[at].listed_at = Some(listed_at.clone());
                        continue;
                    }
                    met.extend(kind.map(|kind| (kind, inner_path.clone())));
                    match later.iter_mut().find(|(place, _)| *place == inner_path) {
                        Some((_, tables)) => tables.push(inner),
                        None => later.push((inner_path, vec![inner])),
                    }
                }
            }
        }
        for (inner_path, tables) in later {
            self.list(&tables, &format!("{inner_path}."), met, keys);
        }
    }
}

/// The description of a node in the schema.
fn text_of(node: &Value) -> String {
    node["description"].as_str().unwrap_or_default().replace('\n', " ")
}

/// The possible types of a node except `null`, if there are several.
fn alternatives(node: &Value) -> Option<Vec<&Value>> {
    if node.get("x-dimension").is_some() {
        return None;
    }
    let all = node["anyOf"].as_array().or_else(|| node["oneOf"].as_array())?;
    Some(all.iter().filter(|one| one["type"] != "null").collect())
}

/// The type of a node, without `null`.
fn type_of(node: &Value) -> &str {
    let several = || {
        node["type"]
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
    };
    node["type"].as_str().or_else(several).unwrap_or_default()
}

/// The texts of a list.
fn names(list: &Value) -> Vec<&str> {
    list.as_array()
        .map_or_else(Vec::new, |all| all.iter().filter_map(Value::as_str).collect())
}

/// The accepted values of a number.
fn range(node: &Value) -> String {
    let signs = [
        ("minimum", ">="),
        ("exclusiveMinimum", ">"),
        ("maximum", "<="),
        ("exclusiveMaximum", "<"),
    ];
    let bounds = signs.iter().filter_map(|(key, sign)| Some((sign, node.get(*key)?)));
    // Whole numbers up to the largest of TOML have no limit for a user.
    let bounds = bounds
        .filter(|(_, value)| value.as_i64() != Some(i64::MAX))
        .map(|(sign, value)| format!("{sign} {}", toml(value)));
    bounds.collect::<Vec<_>>().join(", ")
}

/// A value in TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::Number(number) => number
            .as_f64()
            .filter(|number| number.fract() == 0.0 && number.abs() < 1e15)
            .map_or_else(|| number.to_string(), |whole| format!("{whole}")),
        Value::Array(all) => format!("[{}]", all.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// The default of a key: "required", the schema's value, or the one in its meaning.
fn default(node: &Value, meaning: &str, is_required: bool, unit: &str) -> String {
    if is_required {
        return "required".to_owned();
    }
    if let Some((before, after)) = meaning.split_once(" if left out") {
        // A sign that ends a clause is followed by a space, a decimal point is not.
        let ends_clause = |start: &usize| before[*start..].is_empty() || before[*start..].starts_with(' ');
        let mut starts = before.rmatch_indices([';', '.', ':']).map(|(at, _)| at + 1);
        let clause = before[starts.find(ends_clause).unwrap_or(0)..].trim().trim_end_matches(',');
        let ends = [after.find(". "), after.find(';'), after.strip_suffix('.').map(str::len)];
        let next = after[..ends.into_iter().flatten().min().unwrap_or(after.len())].trim_start_matches([',', ' ']);
        return if clause.is_empty() { next } else { clause }.replace('`', "");
    }
    match &node["default"] {
        Value::Null => "not set".to_owned(),
        Value::Object(_) => "empty".to_owned(),
        Value::Array(all) if all.is_empty() => "empty".to_owned(),
        number @ Value::Number(_) if !unit.is_empty() => format!("{} {unit}", toml(number)),
        value => toml(value),
    }
}
