//! Charts of steps per second over the size of the scene, as \[Silva 2010, figures 6.2, 6.3, 6.5 and 6.6\].

use super::super::super::{Done, create_folder};
use super::super::write_chart;
use super::tables::{Line, Placement, Reached, Table};
use seixo_view::{Chart, Panel};
use std::path::Path;

/// Particles of the fluid and of all bodies of 76 spheres.
fn size(line: &Line) -> f64 {
    (line.fluid + 76 * line.bodies) as f64
}

/// Draws the chart of a table into a folder.
pub fn draw(folder: &Path, table: Table, measured: &[(Line, Reached)]) -> Done {
    let mut curves = Vec::new();
    for placement in Placement::ALL {
        let curve = |of: fn(&(Line, Reached)) -> Reached| -> Vec<(f64, f64)> {
            let mut points: Vec<(f64, f64)> = measured
                .iter()
                .filter_map(|one| Some((size(&one.0), of(one)[placement as usize]?)))
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points
        };
        let here = curve(|(_, reached)| *reached);
        // The reference has one split of work, so one curve.
        let published = if placement == Placement::Split {
            Vec::new()
        } else {
            curve(|(line, _)| line.published)
        };
        let named = [
            (placement.name().to_owned(), here),
            (format!("{}, [Silva 2010]", placement.name()), published),
        ];
        curves.extend(named.into_iter().filter(|(_, points)| !points.is_empty()));
    }
    let chart = Chart {
        title: format!("Steps per second: {}", table.title()),
        horizontal: "particles of fluid and of bodies of 76 spheres".to_owned(),
        panels: vec![Panel {
            vertical: "steps per second".to_owned(),
            height: 430.0,
            curves,
            measured: Vec::new(),
        }],
        is_logarithmic: true,
    };
    create_folder(folder)?;
    write_chart(&folder.join(format!("rigid-fluid-{}.svg", table.number(Placement::Gpu))), &chart)
}
