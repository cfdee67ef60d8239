//! What the language of scenes has at a path: for programs that edit a scene key by key.

use super::tree::Types;
use super::{keys, named, types};
use crate::diagnostics::{UnlocatedDiagnostic, did_you_mean, listed, nearest};
use crate::synonyms;
use serde_json::Value;
use std::sync::LazyLock;

/// What the language of scenes has at a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Keys of the table, in alphabetical order; empty if the user names them, or if it is a value.
    pub keys: Vec<String>,
    /// Whether it is a table, with keys of the scene or with names of the user.
    pub is_table: bool,
    /// Whether a single value or a list may stand there, perhaps beside a table.
    pub is_value: bool,
    /// Whether the user names its entries, as those of `wall`.
    pub has_names: bool,
    /// Whether it is a list of tables, as `stage`.
    pub is_list_of_tables: bool,
    /// Default of a value that is left out, numbers in SI; `None` if there is none, or if it follows from other keys.
    pub default: Option<Value>,
}

/// What the language of scenes has at a path, as in `["wall", "lid", "motion"]`. Names of the user are not checked; items of lists have their index.
///
/// # Errors
/// If a key is unknown, with a guess at the intended one.
pub fn at(path: &[&str]) -> Result<Place, UnlocatedDiagnostic> {
    static LANGUAGE: LazyLock<(Types, Value)> = LazyLock::new(types);
    let (types, whole) = &*LANGUAGE;
    let mut nodes: Vec<&Value> = vec![whole];
    for (index, key) in path.iter().enumerate() {
        let forms: Vec<&Value> = nodes.iter().flat_map(|&node| types.forms(node)).collect();
        let inside: Vec<&Value> = forms.iter().filter_map(|&form| inside(form, key)).collect();
        if inside.is_empty() {
            return Err(refused(&path[..=index], key, &forms));
        }
        nodes = inside;
    }
    let forms: Vec<&Value> = nodes.iter().flat_map(|&node| types.forms(node)).collect();
    let keys = keys_of(&forms);
    let has_names = keys.is_empty() && forms.iter().any(|form| form["additionalProperties"].is_object());
    let is_table = |form: &&Value| form["properties"].is_object();
    Ok(Place {
        is_table: has_names || forms.iter().any(is_table),
        is_value: !has_names && !forms.iter().all(is_table),
        has_names,
        is_list_of_tables: forms
            .iter()
            .any(|form| form["items"].is_object() && types.forms(&form["items"]).iter().any(is_table)),
        default: nodes.first().and_then(|&node| types.default_value(node)),
        keys: keys.into_iter().map(str::to_owned).collect(),
    })
}

/// The part of a node that has this key, or this index.
fn inside<'a>(form: &'a Value, key: &str) -> Option<&'a Value> {
    let named = || Some(&form["additionalProperties"]).filter(|values| values.is_object());
    let listed = || {
        let index: usize = key.parse().ok()?;
        let items = Some(&form["items"]).filter(|items| items.is_object());
        form["prefixItems"].get(index).or(items)
    };
    form["properties"].get(key).or_else(named).or_else(listed)
}

/// The keys of tables, in alphabetical order.
fn keys_of<'a>(forms: &[&'a Value]) -> Vec<&'a str> {
    let tables = forms.iter().filter_map(|form| form["properties"].as_object());
    let mut keys: Vec<&str> = tables.flat_map(|table| table.keys()).map(String::as_str).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The error of a path whose last key is unknown.
fn refused(path: &[&str], key: &str, forms: &[&Value]) -> UnlocatedDiagnostic {
    let known = keys_of(forms);
    let complaint = if known.is_empty() {
        let before = path[..path.len() - 1].join(".");
        UnlocatedDiagnostic::new(format!("`{before}` is no table")).remedy(format!("`seixo explain {before}` describes its values"))
    } else {
        unknown_key(key, &known)
    };
    complaint.within(&path.join("."))
}

/// An unknown key: suggests the key of that synonym, else the most similar key, else the keys of other tables with this name or synonym.
pub(crate) fn unknown_key(key: &str, known: &[&str]) -> UnlocatedDiagnostic {
    let complaint = UnlocatedDiagnostic::new("unknown key");
    let all = listed(known.iter().copied());
    if let Some(meant) = synonyms::meant(key, known) {
        let advice = match synonyms::conversion(meant, key) {
            Some(conversion) => format!("Seixo asks for `{meant}`, {conversion}"),
            None => format!("Seixo calls it `{meant}`"),
        };
        return complaint.remedy(format!("{advice}. Known here: {all}"));
    }
    if synonyms::is_of_a_pair(key, known) {
        return complaint.remedy(format!(
            "`{key}` belongs to [interaction.A-B], with the names of two materials. Known here: {all}"
        ));
    }
    let remedy = did_you_mean(key, known.iter().copied());
    if nearest(key, known.iter().copied()).is_some() {
        return complaint.remedy(remedy);
    }
    let [meant, same] = named(&keys(), key);
    match (meant.first(), same.first()) {
        (None, None) => complaint.remedy(remedy),
        (Some(only), None) | (None, Some(only)) => complaint.remedy(format!("`{}` is a key. Known here: {all}", only.path)),
        (Some(meant), Some(same)) => complaint.remedy(format!("`{}` and `{}` are keys. Known here: {all}", meant.path, same.path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_through_names_and_lists() {
        let friction = at(&["interaction", "corn-steel", "friction"]).unwrap();
        assert!(!friction.is_table && friction.is_value && friction.default.is_none());
        let walls = at(&["wall"]).unwrap();
        assert!(walls.is_table && !walls.is_value && walls.has_names && walls.keys.is_empty());
        let lid = at(&["wall", "lid"]).unwrap();
        assert!(lid.is_table && !lid.has_names && lid.keys.iter().any(|key| key == "mesh"));
        assert!(at(&["stage"]).unwrap().is_list_of_tables);
        assert!(at(&["stage", "0"]).unwrap().keys.iter().any(|key| key == "until"));
        assert!(at(&["stage", "0", "set", "wall", "lid", "motion"]).unwrap().is_table);
        assert!(at(&[]).unwrap().keys.iter().any(|key| key == "run"));
    }

    #[test]
    fn defaults_are_values() {
        let default = |path: &[&str]| at(path).unwrap().default;
        assert_eq!(default(&["run", "time_step"]), Some("auto".into()));
        assert_eq!(default(&["run", "seed"]), Some(1.into()));
        assert_eq!(default(&["interaction", "a-b", "normal"]), Some("hertz".into()));
        assert_eq!(default(&["interaction", "a-b", "rolling", "damping_ratio"]), Some(0.3.into()));
        assert_eq!(default(&["run", "until"]), None);
    }

    #[test]
    fn unknown_keys_get_the_advice_of_the_reader() {
        let refused = at(&["run", "untill"]).unwrap_err();
        assert_eq!(refused.message, "run.untill: unknown key");
        assert!(refused.remedy.starts_with("did you mean `until`?"), "{}", refused.remedy);
        let synonym = at(&["material", "steel", "young"]).unwrap_err();
        assert!(synonym.remedy.contains("`youngs_modulus`"), "{}", synonym.remedy);
        for path in [
            ["wall", "floor", "friction"],
            ["material", "steel", "restitution"],
            ["grains", "bed", "friction"],
        ] {
            let of_a_pair = at(&path).unwrap_err();
            assert!(of_a_pair.remedy.contains("belongs to [interaction.A-B]"), "{}", of_a_pair.remedy);
        }
        for word in ["mass_flow", "discharge"] {
            let counted = at(&["probe", "outlet", word]).unwrap_err();
            assert!(counted.remedy.starts_with("Seixo calls it `count_through`"), "{}", counted.remedy);
        }
        let beyond = at(&["run", "until", "then"]).unwrap_err();
        assert!(beyond.message.contains("`run.until` is no table"), "{}", beyond.message);
    }
}
