//! Equal spheres as a table that [`crate::grains_in`] reads.

use std::fmt::Write as _;

/// Spheres at these centers with this radius \[m\], all digits of them.
pub fn spheres(centers: &[[f64; 3]], radius: f64) -> String {
    let mut text = String::from("x[m],y[m],z[m],radius[m]\n");
    for [x, y, z] in centers {
        let _ = writeln!(text, "{x:?},{y:?},{z:?},{radius:?}");
    }
    text
}
