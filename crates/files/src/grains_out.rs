//! Tables of grains and fluid particles as text; [`crate::grains_in`] reads those of grains.
//!
//! ```
//! let centers = [[0.0; 3], [0.0, 0.0, 0.25]];
//! let text = seixo_files::grains_out::spheres(&centers, 1e-3);
//! assert_eq!(text, "x[m],y[m],z[m],radius[m]\n0.0,0.0,0.0,0.001\n0.0,0.0,0.25,0.001\n");
//! ```

use crate::vtk::{VtkPoints, unit_of};
use std::fmt::Write as _;

/// Spheres at these centers with this radius \[m\], all digits of them.
pub fn spheres(centers: &[[f64; 3]], radius: f64) -> String {
    let mut text = String::from("x[m],y[m],z[m],radius[m]\n");
    for [x, y, z] in centers {
        let _ = writeln!(text, "{x:?},{y:?},{z:?},{radius:?}");
    }
    text
}

/// Name of a component of a field in a table: those that [`crate::grains_in`] reads where it reads the field.
fn column(field: &str, axis: &str) -> String {
    match field {
        "velocity" => format!("v{axis}"),
        "angular_velocity" => format!("w{axis}"),
        "orientation" => format!("q{axis}"),
        _ => format!("{field}_{axis}"),
    }
}

/// The particles of a frame, one a line in the order of their ids: id, center, radius, and these fields, with all digits of the file. The first line
/// has the names and units. A material is written by its name in `materials`, or by its number if that has none.
pub fn particles(points: &VtkPoints, fields: &[&str], materials: &[String]) -> String {
    let chosen: Vec<_> = points.scalars.iter().filter(|(name, ..)| fields.contains(&name.as_str())).collect();
    let mut text = String::from("id,x[m],y[m],z[m],radius[m]");
    for (name, _, width) in &chosen {
        let axes: &[&str] = match *width {
            3 => &["x", "y", "z"],
            4 => &["w", "x", "y", "z"],
            _ => &[],
        };
        let names = if axes.is_empty() {
            vec![name.clone()]
        } else {
            axes.iter().map(|axis| column(name, axis)).collect()
        };
        let unit = match unit_of(name) {
            "" => String::new(),
            unit => format!("[{}]", unit.replace('³', "^3")),
        };
        names.iter().for_each(|name| text += &format!(",{name}{unit}"));
    }
    text.push('\n');
    let mut order: Vec<usize> = (0..points.id.len()).collect();
    order.sort_unstable_by_key(|&i| points.id[i]);
    for i in order {
        let [x, y, z] = points.position[i];
        let _ = write!(text, "{},{x:?},{y:?},{z:?},{:?}", points.id[i], points.radius[i]);
        for (name, values, width) in &chosen {
            for value in &values[i * width..(i + 1) * width] {
                let _ = match materials.get(*value as usize).filter(|_| name == "material") {
                    Some(material) => write!(text, ",{material}"),
                    // Indices and counts are whole numbers.
                    None => write!(text, ",{value}"),
                };
            }
        }
        text.push('\n');
    }
    text
}
