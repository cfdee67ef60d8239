//! Positions for particles behind round walls: layers that follow the surface, and lattice sites that fill the gaps.

use super::{
    Layout, count,
    surface::{Outline, Surface, SurfaceOfRevolution},
};
use glam::{DVec2, DVec3};
use std::f64::consts::{PI, TAU};

/// Smallest distance from all other particles in an even layer \[spacings\].
const EVEN: f64 = 0.7;
/// The same for lattice sites that fill the gaps: the density there is then that of an even layer.
const LEFT: f64 = 0.9;

/// Offers positions behind a surface, the best first, each with its smallest distance from all earlier ones \[spacings\]. Some are not behind the
/// surface, since layers of one piece may extend beyond others.
pub(super) fn offer(surface: &Surface, layout: &Layout, offer: &mut dyn FnMut(DVec3, f64)) {
    let depths: Vec<f64> = (0..layout.layers).map(|layer| (f64::from(layer) + 0.5) * layout.spacing).collect();
    for &depth in &depths {
        for piece in &surface.pieces {
            let even = &mut |place: DVec3| offer(place, EVEN);
            match &piece.outline {
                // Those are of surfaces of cells.
                Outline::Triangle(..) | Outline::Segment(..) => {}
                Outline::Mantle(mantle) => rings(mantle, piece.away * depth, layout, even),
                Outline::Sphere { center, radius } => shell(*center, *radius + piece.away * depth, layout, even),
            }
        }
    }
    // The lattice of the fluid, then one twice as fine.
    in_cells(surface, layout, (layout.spacing, 0.5), &mut |place| offer(place, LEFT));
    in_cells(surface, layout, (0.5 * layout.spacing, 0.0), &mut |place| offer(place, LEFT));
}

/// Visits rings around an axis, moved along the normal of the mantle; they go on beyond its ends, where caps or other walls may go on.
fn rings(mantle: &SurfaceOfRevolution, along: f64, layout: &Layout, visit: &mut dyn FnMut(DVec3)) {
    let spacing = layout.spacing;
    let length = mantle.way.length();
    let (direction, normal) = (mantle.way / length, mantle.normal());
    let (u, v) = mantle.axis.any_orthonormal_pair();
    let on_axis = (0..3).find(|&axis| mantle.axis[axis].abs() > 1.0 - 1e-12 && direction.x == 0.0);
    let ways: Vec<f64> = match on_axis.and_then(|axis| Some((axis, layout.periods[axis]?))) {
        // A pipe through periodic sides.
        Some((axis, [min, max])) => {
            let on_pipe = |x: f64| (x - mantle.base[axis]) * mantle.axis[axis];
            layout.even(min, max).into_iter().map(on_pipe).collect()
        }
        None => {
            let rings = count(length, spacing).max(1.0);
            let (step, more) = (length / rings, i64::from(layout.layers));
            (-more..rings as i64 + more).map(|k| (k as f64 + 0.5) * step).collect()
        }
    };
    for way in ways {
        let DVec2 { x: radius, y: height } = mantle.start + direction * way + normal * along;
        if radius < 0.0 {
            continue;
        }
        let count = (TAU * radius / spacing).round().max(1.0) as u64;
        for k in 0..count {
            let (sin, cos) = (TAU * k as f64 / count as f64).sin_cos();
            visit(mantle.base + mantle.axis * height + (u * cos + v * sin) * radius);
        }
    }
}

/// Visits evenly distributed positions on a sphere, or on a circle in a plane flow.
fn shell(center: DVec3, radius: f64, layout: &Layout, visit: &mut dyn FnMut(DVec3)) {
    if radius < 0.0 {
        return;
    }
    let in_spacings = radius / layout.spacing;
    if let Some(axis) = layout.across {
        let (u, v) = (DVec3::AXES[(axis + 1) % 3], DVec3::AXES[(axis + 2) % 3]);
        let count = (TAU * in_spacings).round().max(1.0) as u64;
        for k in 0..count {
            let (sin, cos) = (TAU * k as f64 / count as f64).sin_cos();
            visit(center + (u * cos + v * sin) * radius);
        }
        return;
    }
    // Along a spiral that turns by the golden angle [Swinbank 2006].
    let golden = PI * (3.0 - 5.0_f64.sqrt());
    let count = (4.0 * PI * in_spacings * in_spacings).round().max(1.0) as u64;
    for k in 0..count {
        let height = 1.0 - (2.0 * k as f64 + 1.0) / count as f64;
        let (sin, cos) = (golden * k as f64).sin_cos();
        let wide = (1.0 - height * height).sqrt();
        visit(center + DVec3::new(wide * cos, wide * sin, height) * radius);
    }
}

/// Visits the sites of a lattice of this step that begins this share of a step from the origin, in all cells near the surface.
fn in_cells(surface: &Surface, layout: &Layout, (step, share): (f64, f64), visit: &mut dyn FnMut(DVec3)) {
    for cell in surface.cells() {
        let [along_x, along_y, along_z] = [0, 1, 2].map(|axis| -> Vec<f64> {
            if layout.across == Some(axis) {
                return vec![0.0];
            }
            let origin = layout.origin[axis] + share * step;
            let [from, to] = [cell[axis], cell[axis] + 1].map(|index| index as f64 * surface.edge);
            let first = ((from - origin) / step).ceil() as i64;
            let coordinates = (first..).map(|k| origin + k as f64 * step);
            coordinates.take_while(|x| *x < to).collect()
        });
        for &z in &along_z {
            for &y in &along_y {
                for &x in &along_x {
                    visit(DVec3::new(x, y, z));
                }
            }
        }
    }
}
