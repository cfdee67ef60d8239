//! `seixo info --placements`: where each pass of a step can be computed.

use super::super::Done;
use crate::terminal;
use seixo_engine::world::Solver;
use seixo_engine::{Placement, PlacementRow, placement_limits, placements};
use serde_json::json;
use std::fmt::Write;

/// Prints the table.
pub fn print(as_json: bool) -> Done {
    let rows = placements();
    if as_json {
        return terminal::json(&as_value(&rows));
    }
    terminal::out(&table(&rows))
}

/// The list to which a row belongs.
fn list_of(row: &PlacementRow) -> &'static str {
    match row.solver {
        None => "grains",
        Some(Solver::WeaklyCompressible) => "fluids, wcsph",
        Some(Solver::Incompressible) => "fluids, dfsph",
        Some(Solver::Muller2003) => "fluids, muller2003",
    }
}

/// Numbers of the limits of a row on a placement, counted from one; empty if there are none.
fn numbers(row: &PlacementRow, placement: Placement) -> Vec<usize> {
    row.limits_on(placement).map(|index| index + 1).collect()
}

fn as_value(rows: &[PlacementRow]) -> serde_json::Value {
    let row = |row: &PlacementRow| {
        let on = Placement::ALL.map(|placement| (placement.name().to_owned(), json!(numbers(row, placement))));
        json!({
            "list": list_of(row),
            "pass": row.pass,
            "population": row.population.name(),
            "limits": serde_json::Map::from_iter(on),
        })
    };
    let limit = |(index, limit): (usize, &seixo_engine::PlacementLimit)| {
        let not_on: Vec<&str> = limit.not_on.iter().map(|placement| placement.name()).collect();
        json!({ "number": index + 1, "what": limit.what, "not_on": not_on, "why": limit.why })
    };
    json!({
        "passes": rows.iter().map(row).collect::<Vec<_>>(),
        "limits": placement_limits().iter().enumerate().map(limit).collect::<Vec<_>>(),
    })
}

/// A line for each pass, with a mark or the numbers of the limits below.
fn table(rows: &[PlacementRow]) -> String {
    let width = rows.iter().map(|row| row.pass.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut list = "";
    for row in rows {
        if list_of(row) != list {
            list = list_of(row);
            let names = Placement::ALL.map(|placement| format!("  {}", placement.name())).concat();
            let _ = writeln!(text, "{}{list:width$}{names}", if text.is_empty() { "" } else { "\n" });
        }
        let cell = |placement: Placement| {
            let numbers = numbers(row, placement);
            let shown = if numbers.is_empty() {
                "yes".to_owned()
            } else {
                numbers.iter().map(|number| format!("[{number}]")).collect()
            };
            format!("  {shown:0$}", placement.name().len())
        };
        let cells = Placement::ALL.map(cell).concat();
        let _ = writeln!(text, "{:width$}{}", row.pass, cells.trim_end());
    }
    text += "\nLimits:\n";
    for (limit, number) in placement_limits().iter().zip(1..) {
        let not_on: Vec<&str> = limit.not_on.iter().map(|placement| placement.name()).collect();
        let _ = writeln!(text, "  [{number}] {}: not on {}, as {}", limit.what, not_on.join(", "), limit.why);
    }
    text
}
