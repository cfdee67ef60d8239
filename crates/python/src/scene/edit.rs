//! Changes of a document at paths of keys; items of lists have their index.

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// Tables down to this depth have headers of their own, as `[wall.lid]`; deeper ones stand in a line.
pub const HEADERS: usize = 2;

/// What stands at a path.
pub enum Here<'a> {
    /// A table, with a header or in a line.
    Table(&'a dyn TableLike),
    /// A list of tables with headers.
    Tables(&'a ArrayOfTables),
    /// A value; no table in a line.
    Value(&'a Value),
}

impl<'a> Here<'a> {
    /// What an item is; `None` for one that was removed.
    pub fn of_item(item: &'a Item) -> Option<Here<'a>> {
        match item {
            Item::None => None,
            Item::Value(value) => Some(Here::of_value(value)),
            Item::Table(table) => Some(Here::Table(table)),
            Item::ArrayOfTables(tables) => Some(Here::Tables(tables)),
        }
    }

    fn of_value(value: &'a Value) -> Here<'a> {
        match value {
            Value::InlineTable(table) => Here::Table(table),
            value => Here::Value(value),
        }
    }
}

/// Finds what stands at a path.
pub fn find<'a>(document: &'a DocumentMut, path: &[String]) -> Option<Here<'a>> {
    let mut here = Here::Table(document.as_table());
    for key in path {
        here = match here {
            Here::Table(table) => Here::of_item(table.get(key)?)?,
            Here::Tables(tables) => Here::Table(tables.get(key.parse().ok()?)?),
            Here::Value(Value::Array(list)) => Here::of_value(list.get(key.parse().ok()?)?),
            Here::Value(_) => return None,
        };
    }
    Some(here)
}

/// Puts an item at a path below a table, and creates missing tables. `depth` is that of the first key, from 1.
///
/// # Errors
/// If a part of the path is no table, or there is no such item of a list.
pub fn put(table: &mut dyn TableLike, path: &[String], item: Item, is_inline: bool, depth: usize) -> Result<(), String> {
    let [key, rest @ ..] = path else {
        return Err("a scene is replaced as a whole by making another one".to_owned());
    };
    if rest.is_empty() {
        replace(table, key, item, is_inline);
        return Ok(());
    }
    if !table.contains_key(key) {
        let fresh = if is_inline || depth > HEADERS {
            Item::Value(InlineTable::new().into())
        } else {
            let mut fresh = Table::new();
            fresh.set_implicit(true);
            Item::Table(fresh)
        };
        table.insert(key, fresh);
    }
    match table.get_mut(key) {
        Some(Item::Table(inner)) => put(inner, rest, item, false, depth + 1),
        Some(Item::Value(Value::InlineTable(inner))) => put(inner, rest, item, true, depth + 1),
        Some(Item::Value(Value::Array(list))) => put_in_list(list, rest, item, depth + 1),
        Some(Item::ArrayOfTables(tables)) => put_in_tables(tables, rest, item, depth + 1),
        _ => Err(format!("`{key}` is a value, so nothing can be set inside it; set `{key}` itself")),
    }
}

/// Replaces the item of a key, or adds it. Comments beside a replaced value, and the position of a replaced table, are kept.
fn replace(table: &mut dyn TableLike, key: &str, mut item: Item, is_inline: bool) {
    if is_inline {
        item.make_value();
    }
    // An insertion would forget the comments above the key.
    let Some(before) = table.get_mut(key) else {
        table.insert(key, item);
        return;
    };
    match (&*before, &mut item) {
        (Item::Value(before), Item::Value(now)) => *now.decor_mut() = before.decor().clone(),
        (Item::Table(before), Item::Table(now)) => {
            now.set_position(before.position());
            *now.decor_mut() = before.decor().clone();
        }
        _ => {}
    }
    *before = item;
}

/// Index of an item among `length`, or the one after the last.
fn index_in(key: &str, length: usize) -> Result<usize, String> {
    let index = key.parse::<usize>().ok().filter(|index| *index <= length);
    index.ok_or_else(|| format!("`{key}` is no index of a list of {length}"))
}

fn put_in_list(list: &mut Array, path: &[String], item: Item, depth: usize) -> Result<(), String> {
    let [key, rest @ ..] = path else { return Ok(()) };
    let index = index_in(key, list.len())?;
    if rest.is_empty() {
        let value = item.into_value().map_err(|_| "a list cannot have an empty item".to_owned())?;
        if index == list.len() {
            list.push(value);
        } else {
            list.replace(index, value);
        }
        return Ok(());
    }
    match list.get_mut(index) {
        Some(Value::InlineTable(inner)) => put(inner, rest, item, true, depth + 1),
        Some(Value::Array(inner)) => put_in_list(inner, rest, item, depth + 1),
        _ => Err(format!("item {key} is no table, so nothing can be set inside it")),
    }
}

fn put_in_tables(tables: &mut ArrayOfTables, path: &[String], item: Item, depth: usize) -> Result<(), String> {
    let [key, rest @ ..] = path else { return Ok(()) };
    let index = index_in(key, tables.len())?;
    if rest.is_empty() {
        let mut table = item
            .into_table()
            .map_err(|_| format!("item {key} of this list is a table; give a dictionary"))?;
        match tables.get(index) {
            Some(before) => {
                table.set_position(before.position());
                *table.decor_mut() = before.decor().clone();
                tables.replace(index, table);
            }
            None => tables.push(table),
        }
        return Ok(());
    }
    match tables.get_mut(index) {
        Some(inner) => put(inner, rest, item, false, depth + 1),
        None => Err(format!("`{key}` is no index of a list of {}", tables.len())),
    }
}

/// Removes what stands at a path below a table; returns whether something stood there.
pub fn take(table: &mut dyn TableLike, path: &[String]) -> bool {
    let [key, rest @ ..] = path else { return false };
    if rest.is_empty() {
        return table.remove(key).is_some();
    }
    match table.get_mut(key) {
        Some(Item::Table(inner)) => take(inner, rest),
        Some(Item::Value(Value::InlineTable(inner))) => take(inner, rest),
        Some(Item::Value(Value::Array(list))) => take_from_list(list, rest),
        Some(Item::ArrayOfTables(tables)) => {
            let Some(index) = rest[0].parse::<usize>().ok().filter(|index| *index < tables.len()) else {
                return false;
            };
            match &rest[1..] {
                [] => {
                    tables.remove(index);
                    true
                }
                rest => tables.get_mut(index).is_some_and(|inner| take(inner, rest)),
            }
        }
        _ => false,
    }
}

fn take_from_list(list: &mut Array, path: &[String]) -> bool {
    let [key, rest @ ..] = path else { return false };
    let Some(index) = key.parse::<usize>().ok().filter(|index| *index < list.len()) else {
        return false;
    };
    if rest.is_empty() {
        list.remove(index);
        return true;
    }
    match list.get_mut(index) {
        Some(Value::InlineTable(inner)) => take(inner, rest),
        Some(Value::Array(inner)) => take_from_list(inner, rest),
        _ => false,
    }
}
