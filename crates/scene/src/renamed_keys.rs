//! Scene keys that had another name in earlier versions: they are read under both names.

use crate::{
    diagnostics::{Diagnostics, Place, UnlocatedDiagnostic},
    document::{Entry, Node, Value},
};

/// The table of a key, its earlier name, and its present name.
const RENAMED: &[(&str, &str, &str)] = &[("run", "divisible", "decomposition_invariant")];

/// Gives keys their present names, with a note for each. A key that the file has under both names is an error.
pub(crate) fn rename(root: &mut Node, found: &mut Diagnostics) {
    for (table, earlier, present) in RENAMED {
        let Some(keys) = table_at(root, table) else { continue };
        let Some(entry) = keys.remove(*earlier) else { continue };
        let is_override = matches!(entry.key, Place::Override(_));
        let place = entry.key.clone();
        if keys.contains_key(*present) && !is_override {
            let complaint = UnlocatedDiagnostic::new(format!("{table}.{earlier} and {table}.{present} are two names of one key"))
                .remedy(format!("remove `{earlier}`, the earlier name"));
            found.push(place, None, complaint);
            continue;
        }
        keys.insert((*present).to_owned(), entry);
        let location = found.location_text(&place);
        found.notices.push(format!(
            "{location}: {table}.{earlier} is now called {table}.{present}; please use the new name"
        ));
    }
}

/// The keys of the table at a dotted path.
fn table_at<'a>(root: &'a mut Node, path: &str) -> Option<&'a mut std::collections::BTreeMap<String, Entry>> {
    let mut node = root;
    for key in path.split('.') {
        let Value::Table(table) = &mut node.value else { return None };
        node = &mut table.get_mut(key)?.node;
    }
    match &mut node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}
