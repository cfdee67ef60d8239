//! Equal spheres as a table that [`crate::grains_in`] reads.
//!
//! ```
//! let centers = [[0.0; 3], [0.0, 0.0, 0.25]];
//! let text = seixo_files::grains_out::spheres(&centers, 1e-3);
//! assert_eq!(text, "x[m],y[m],z[m],radius[m]\n0.0,0.0,0.0,0.001\n0.0,0.0,0.25,0.001\n");
//! ```

use std::fmt::Write as _;

/// Spheres at these centers with this radius \[m\], all digits of them.
pub fn spheres(centers: &[[f64; 3]], radius: f64) -> String {
    let mut text = String::from("x[m],y[m],z[m],radius[m]\n");
    for [x, y, z] in centers {
        let _ = writeln!(text, "{x:?},{y:?},{z:?},{radius:?}");
    }
    text
}
