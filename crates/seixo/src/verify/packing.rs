//! Packings of polyhedral grains: how densely they lie after they were poured, and after they were shaken.

use super::case_run::{CaseRun, Done, Outcome, along, cross, dot, length, mean, run_until};
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{Domain, PolyhedralShape, Settings, Vec3, World};
use seixo_engine::{Simulation, SurroundingsChange};
use std::array::from_fn;
use std::ops::Range;

/// Share of gravity under which grains fall: they land as slowly as if they were poured from close above, so that hard blows need no short steps.
const SLOWLY: f64 = 0.1;
/// Longest simulated time without a chance to print progress \[s\].
const LOOK: f64 = 0.02;
/// Points of measurement along the radius of a bounding sphere.
const POINTS_A_RADIUS: f64 = 16.0;
/// Distance of the measured region from walls and from the surface of the bed, in diameters of bounding spheres.
const MARGIN: f64 = 1.2;
/// Time at which all grains have fallen \[s\].
const FALLEN: f64 = 1.2;
/// Time at which they rest under the whole gravity, and before which the floor does not move \[s\].
const POURED: f64 = 1.4;

/// Steps until a time \[s\], and reports the progress.
pub(super) fn go_on(case_run: &mut CaseRun, run: &str, simulation: &mut Simulation, until: f64) -> Done {
    // At least one step is left to take: a time is met to half a step.
    while simulation.time() + 0.6 * simulation.time_step().value < until {
        let next = (simulation.time() + LOOK).min(until);
        run_until(simulation, next)?;
        case_run.print_progress(run, simulation, until);
    }
    Ok(())
}

/// Lets the grains of a world fall slowly until the time `fallen`, and rest under the whole gravity until `rested` \[s\].
pub(super) fn poured(
    case_run: &mut CaseRun,
    run: &str,
    mut world: World,
    settings: Settings,
    [fallen, rested]: [f64; 2],
) -> Outcome<Simulation> {
    let gravity = world.gravity;
    world.gravity = gravity.map(|g| SLOWLY * g);
    let mut simulation = Simulation::new(world, settings)?;
    go_on(case_run, run, &mut simulation, fallen)?;
    simulation.change(&[SurroundingsChange::Gravity(gravity)])?;
    go_on(case_run, run, &mut simulation, rested)?;
    Ok(simulation)
}

/// Index of a wall.
pub(super) fn wall_named(world: &World, name: &str) -> Outcome<usize> {
    let found = world.walls.iter().position(|wall| wall.name == name);
    found.ok_or_else(|| format!("the scene has no wall named {name}").into())
}

/// The only shape of the grains of a world, which is convex.
pub(super) fn shape_of(world: &World) -> Outcome<PolyhedralShape> {
    match &world.shapes[..] {
        [shape] if shape.parts.len() <= 1 => Ok(shape.clone()),
        _ => Err("the scene must have one convex shape".into()),
    }
}

/// A box in which the solid fraction is measured.
pub(super) struct Inside {
    min: Vec3,
    max: Vec3,
    /// Axes along which it is the whole of a periodic domain.
    wraps: [bool; 3],
}

/// The inner region of a bed on a floor at z = 0: away from the floor, the surface, and the sides of the domain that are not periodic.
pub(super) fn inner_region(now: &GrainSnapshot, domain: &Domain) -> Outcome<Inside> {
    let margin = MARGIN * 2.0 * mean(&now.radius, |radius| *radius);
    // A bed is twice as high as its center of mass.
    let height = 2.0 * mean(&now.position, |center| center[2]);
    let corner = |axis: usize, sign: f64, side: f64| {
        let inward = if domain.periodic[axis] { 0.0 } else { margin };
        side - sign * inward
    };
    let mut inside = Inside {
        min: from_fn(|axis| corner(axis, -1.0, domain.min[axis])),
        max: from_fn(|axis| corner(axis, 1.0, domain.max[axis])),
        wraps: domain.periodic,
    };
    (inside.min[2], inside.max[2]) = (margin, height - margin);
    if (0..3).any(|axis| inside.max[axis] <= inside.min[axis]) {
        return Err(format!("the bed, {height:.4} m high, has no part that is {margin:.4} m from its ends").into());
    }
    Ok(inside)
}

/// The core of a convex shape, in scales.
struct Core {
    /// Outward unit normal of each face, and its distance from the center.
    faces: Vec<(Vec3, f64)>,
    volume: f64,
}

impl Core {
    fn of(shape: &PolyhedralShape) -> Core {
        let mut volume = 0.0;
        let faces = shape
            .faces
            .iter()
            .map(|face| {
                let corner = |k: usize| shape.vertices[face[k % face.len()] as usize];
                let area = (0..face.len()).fold([0.0; 3], |sum, k| along(sum, 0.5, cross(corner(k), corner(k + 1))));
                volume += dot(area, corner(0)) / 3.0;
                let size = length(area);
                let normal = area.map(|x| x / size);
                (normal, dot(normal, corner(0)))
            })
            .collect();
        Core { faces, volume }
    }
}

/// A vector of space in the axes of a grain with this orientation, a unit quaternion w x y z.
fn to_grain([w, x, y, z]: [f64; 4], v: Vec3) -> Vec3 {
    let axis = [-x, -y, -z];
    let twice = cross(axis, v).map(|x| 2.0 * x);
    along(along(v, w, twice), 1.0, cross(axis, twice))
}

/// Solid fraction in a box \[-\]: the share of the points of a fine grid that are in cores of grains, times the volume of a grain over that of its core.
///
/// So the volume of each grain is taken as spread evenly over its core. This changes nothing in the mean, as grains are cut by the faces of the box at
/// random, and needs no distances from rounded edges.
pub(super) fn solid_fraction(now: &GrainSnapshot, shape: &PolyhedralShape, inside: &Inside) -> f64 {
    let core = Core::of(shape);
    let wanted = mean(&now.radius, |radius| *radius) / POINTS_A_RADIUS;
    let size: Vec3 = from_fn(|axis| inside.max[axis] - inside.min[axis]);
    let count = size.map(|length| (length / wanted).ceil().max(1.0) as i64);
    let spacing: Vec3 = from_fn(|axis| size[axis] / count[axis] as f64);
    let mut points = 0u64;
    for k in 0..now.id.len() {
        let (center, scale) = (now.position[k], now.radius[k]);
        // Along a periodic axis, a point beyond a side has one image in the box.
        let [xs, ys, zs]: [Range<i64>; 3] = from_fn(|axis| {
            let number = |x: f64| (x - inside.min[axis]) / spacing[axis] - 0.5;
            let first = number(center[axis] - scale).ceil() as i64;
            let end = number(center[axis] + scale).floor() as i64 + 1;
            if inside.wraps[axis] {
                first..end
            } else {
                first.max(0)..end.min(count[axis])
            }
        });
        for x in xs {
            for y in ys.clone() {
                for z in zs.clone() {
                    let cell = [x, y, z];
                    let from_center = from_fn(|axis| inside.min[axis] + (cell[axis] as f64 + 0.5) * spacing[axis] - center[axis]);
                    let place = to_grain(now.orientation[k], from_center);
                    let is_inside = core.faces.iter().all(|(normal, offset)| dot(*normal, place) <= offset * scale);
                    points += u64::from(is_inside);
                }
            }
        }
    }
    let all = count.iter().product::<i64>() as f64;
    points as f64 / all * shape.volume / core.volume
}

/// Grains are poured onto a floor between periodic sides, and then shaken, with several coefficients of friction, the largest first.
pub fn dice_packing(case_run: &mut CaseRun) -> Done {
    let mut fractions: Vec<[f64; 2]> = Vec::new();
    for (name, [friction, poured_least, poured_most, shaken_least, shaken_most]) in case_run.reference()? {
        let scene = case_run.scene_with(&[("interaction.acrylic-acrylic.friction".to_owned(), friction.to_string())])?;
        let (shape, until) = (shape_of(&scene.world)?, scene.run.until);
        let domain = scene.world.domain.ok_or("the scene has no domain")?;
        let mut simulation = poured(case_run, name, scene.world, scene.settings, [FALLEN, POURED])?;
        let mut measured = [0.0; 2];
        for (state, range) in [[poured_least, poured_most], [shaken_least, shaken_most]].into_iter().enumerate() {
            if state == 1 {
                go_on(case_run, name, &mut simulation, until)?;
            }
            let now = simulation.snapshot();
            measured[state] = solid_fraction(&now, &shape, &inner_region(&now, &domain)?);
            let [least, most] = range;
            case_run.row(
                format!("{name}, {}: solid fraction [-]", ["poured", "shaken"][state]),
                measured[state],
                0.5 * (least + most),
                0.5 * (most - least),
            );
        }
        fractions.push(measured);
    }
    let runs = fractions.len() as f64;
    let denser = fractions.iter().filter(|[poured, shaken]| shaken > poured).count();
    case_run.row("runs in which shaking made it denser [-]", denser as f64, runs, 0.0);
    let denser = fractions.windows(2).filter(|pair| pair[1][1] > pair[0][1]).count();
    case_run.row("steps down of friction that made it denser [-]", denser as f64, runs - 1.0, 0.0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube with round edges, in scales.
    fn cube() -> PolyhedralShape {
        let rounding = 0.1;
        let half = 0.9 / 3.0f64.sqrt();
        let vertices = (0..8).map(|k| [0, 1, 2].map(|axis| if (k >> axis) & 1 == 0 { -half } else { half }));
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let pi = std::f64::consts::PI;
        PolyhedralShape {
            rounding,
            volume: 8.0 * half.powi(3)
                + 24.0 * rounding * half * half
                + 6.0 * pi * rounding.powi(2) * half
                + 4.0 / 3.0 * pi * rounding.powi(3),
            vertices: vertices.collect(),
            faces: faces.iter().map(|face| face.to_vec()).collect(),
            ..PolyhedralShape::default()
        }
    }

    #[test]
    fn a_grain_at_a_periodic_corner_counts_once_and_a_half_outside_counts_half() {
        let shape = cube();
        let fraction = |position: Vec3, wraps: [bool; 3]| {
            let now = GrainSnapshot {
                id: vec![0],
                position: vec![position],
                radius: vec![2.0],
                orientation: vec![[0.8, 0.4, 0.4, 0.2]],
                ..GrainSnapshot::default()
            };
            let inside = Inside {
                min: [0.0; 3],
                max: [5.0; 3],
                wraps,
            };
            solid_fraction(&now, &shape, &inside) * 125.0 / (8.0 * shape.volume)
        };
        for (position, wraps, expected) in [
            ([2.5, 2.4, 2.6], [false; 3], 1.0),
            ([0.1, 4.9, 2.5], [true, true, false], 1.0),
            ([2.5, 0.0, 2.5], [true, false, true], 0.5),
        ] {
            let found = fraction(position, wraps);
            assert!((found - expected).abs() < 0.04, "{position:?}: {found}, expected {expected}");
        }
        assert!((Core::of(&shape).volume - 8.0 * (0.9 / 3.0f64.sqrt()).powi(3)).abs() < 1e-12);
    }
}
