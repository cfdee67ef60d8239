//! Silos: loads on their walls, and discharge.

use super::case_run::{CaseRun, Done, Line, Outcome, carry_on, dot, mean, run_until, straight, virial, volume_of};
use seixo_engine::Simulation;
use seixo_engine::state::GrainSnapshot;
use seixo_engine::world::{Settings, Vec3, Wall, WallShape, World};
use seixo_scene::Scene;
use std::f64::consts::PI;

/// Time between two samples \[s\].
const LOOK: f64 = 5e-3;

/// A column between walls with upward friction; values are means over the second half of a run.
struct Column {
    /// Weight of all grains \[N\].
    weight: f64,
    /// Downward force on the floor \[N\].
    floor: f64,
    /// Downward force on the walls \[N\].
    walls: f64,
    /// Outward force on the walls \[N\].
    lateral: f64,
    /// Σ f·l over all contacts, also with walls: the trace of the mean stress times the volume \[J\].
    virial: f64,
    /// Height of the bed: twice the height of its center of mass \[m\].
    height: f64,
    /// Solid volume \[m³\].
    solid: f64,
}

/// Fills a column to the height of the scene, lets it settle, and measures it.
fn column(world: World, settings: Settings, until: f64) -> Outcome<Column> {
    let gravity = -world.gravity[2];
    let normals: Vec<Vec3> = world
        .walls
        .iter()
        .map(|wall| match wall.shape {
            WallShape::Plane { normal, .. } => normal,
            _ => [0.0; 3],
        })
        .collect();
    let floor_at = world
        .walls
        .iter()
        .position(|wall| wall.name == "floor")
        .ok_or("no wall is named floor")?;
    let mut simulation = Simulation::new(world, settings)?;
    run_until(&mut simulation, 0.5 * until)?;
    let mut looks: Vec<[f64; 5]> = Vec::new();
    while simulation.time() < until {
        let next = simulation.time() + LOOK;
        run_until(&mut simulation, next)?;
        let forces: Vec<Vec3> = simulation.walls().iter().map(|wall| wall.force).collect();
        let sides = || (0..forces.len()).filter(|&k| k != floor_at);
        let now = simulation.snapshot();
        let mass: f64 = now.mass.iter().sum();
        let center = (0..now.id.len()).map(|i| now.mass[i] * now.position[i][2]).sum::<f64>() / mass;
        let floor = -forces[floor_at][2];
        let lateral: f64 = sides().map(|k| -dot(forces[k], normals[k])).sum();
        let radius = mean(&now.radius, |radius| *radius);
        let virial = virial(&mut simulation)? + radius * (floor + lateral);
        looks.push([floor, sides().map(|k| -forces[k][2]).sum(), lateral, 2.0 * center, virial]);
    }
    let grains = simulation.snapshot();
    let look = |k: usize| mean(&looks, |look| look[k]);
    Ok(Column {
        weight: gravity * grains.mass.iter().sum::<f64>(),
        floor: look(0),
        walls: look(1),
        lateral: look(2),
        height: look(3),
        virial: look(4),
        solid: volume_of(&grains.radius),
    })
}

/// Load on the floor for a weight, with the saturation load `most` \[Janssen 1895\].
fn janssens(weight: f64, most: f64) -> f64 {
    most * (1.0 - (-weight / most).exp())
}

/// Saturation load on the floor, fitted to columns of several weights by least squares.
fn saturation(columns: &[Column]) -> f64 {
    let misfit = |most: f64| -> f64 {
        columns
            .iter()
            .map(|column| (column.floor - janssens(column.weight, most)).powi(2))
            .sum()
    };
    let top = columns.iter().fold(0.0, |top: f64, column| top.max(column.weight));
    // The misfit has one minimum; each step removes a third of the range.
    let (mut low, mut high) = (1e-3 * top, 1e3 * top);
    for _ in 0..200 {
        let (left, right) = ((low * low * high).cbrt(), (low * high * high).cbrt());
        if misfit(left) < misfit(right) { high = right } else { low = left }
    }
    (low * high).sqrt()
}

/// Columns of several heights between rough walls: the load on the floor saturates.
pub fn janssen(case_run: &mut CaseRun) -> Done {
    let mut columns = Vec::new();
    let scene = case_run.scene()?;
    let distances: Vec<f64> = scene.world.walls.iter().filter_map(side_distance).collect();
    // A prism around a circle has the same ratio of area to perimeter as the cylinder: half of the radius.
    let radius = mean(&distances, |distance| *distance);
    let area = distances.len() as f64 * radius * radius * (PI / distances.len() as f64).tan();
    let friction = scene.world.interactions[1].as_ref().map_or(f64::NAN, |pair| pair.friction);
    let (fills, limits) = split(case_run.reference()?);
    for (name, [top, _]) in fills {
        let top = format!("[0, 0, {top}]");
        let filled = case_run.scene_with(&[("grains.bed.fill.region.cylinder.to".to_owned(), top)])?;
        let column = column(filled.world, filled.settings, filled.run.until)?;
        let carried = (column.floor + column.walls) / column.weight;
        case_run.row(format!("{name}: what floor and walls carry over weight [-]"), carried, 1.0, 0.02);
        columns.push(column);
    }
    let tallest = columns.last().ok_or("no column in reference.csv")?;
    let most = saturation(&columns);
    let misfit = mean(&columns, |column| ((column.floor - janssens(column.weight, most)) / most).powi(2)).sqrt();
    // Janssen: most = ρ_b g A R/(2 K μ), ρ_b g A = weight over height.
    let ratio = tallest.weight / tallest.height * radius / (2.0 * friction * most);
    // Virial of the external forces: normal to the axis, mean stress times volume is half of lateral force times radius.
    let across = 0.5 * tallest.lateral * radius;
    let measured = [
        tallest.floor / tallest.weight,
        misfit,
        tallest.walls / (friction * tallest.lateral),
        ratio,
        across / (tallest.virial - 2.0 * across),
        tallest.solid / (area * tallest.height),
    ];
    for ((quantity, [expected, tolerance]), value) in limits.into_iter().zip(measured) {
        case_run.row(quantity, value, expected, tolerance);
    }
    let points = |of: &dyn Fn(&Column) -> f64| -> Vec<(f64, f64)> {
        columns.iter().map(|column| (column.weight / most, of(column) / most)).collect()
    };
    let end = tallest.weight / most;
    let lines: Vec<Line> = vec![
        ("measured".to_owned(), points(&|column| column.floor)),
        (
            "Janssen 1895".to_owned(),
            (0..=40).map(|k| k as f64 / 40.0 * end).map(|w| (w, janssens(w, 1.0))).collect(),
        ),
        ("without friction".to_owned(), vec![(0.0, 0.0), (end, end)]),
    ];
    case_run.curve(
        "load",
        [
            "weight over the saturated load [-]",
            "load of the floor over the saturated load [-]",
        ],
        lines,
    );
    Ok(())
}

/// Distance of a vertical plane from the axis \[m\].
fn side_distance(wall: &Wall) -> Option<f64> {
    match wall.shape {
        WallShape::Plane { point, normal } if normal[2].abs() < 0.5 => Some(-dot(point, normal)),
        _ => None,
    }
}

type Records<'a> = Vec<(&'a str, [f64; 2])>;

/// Splits a reference into the lines that set runs, whose last number is zero, and those with expected values.
fn split(reference: Records) -> (Records, Records) {
    reference.into_iter().partition(|(_, [_, last])| *last == 0.0)
}

/// Number of grains above a height.
fn above(now: &GrainSnapshot, height: f64) -> usize {
    now.position.iter().filter(|center| center[2] > height).count()
}

/// Opens an outlet and lets grains discharge for a time. Returns (time, grains above the outlet), from the moment of opening.
pub(super) fn discharge(case_run: &mut CaseRun, run: &str, scene: Scene, outlet: f64, until: f64) -> Outcome<Vec<(f64, f64)>> {
    let mut simulation = Simulation::new(scene.world, scene.settings)?;
    let mut left = Vec::new();
    while simulation.time() < until {
        let next = simulation.time() + LOOK;
        run_until(&mut simulation, next)?;
        left.push((simulation.time(), above(&simulation.snapshot(), outlet) as f64));
        case_run.print_progress(run, &simulation, until);
    }
    Ok(left)
}

/// Discharge rate in grains per second while the number of remaining grains is in this range.
pub(super) fn rate(left: &[(f64, f64)], from: f64, range: [f64; 2]) -> f64 {
    let steady = left
        .iter()
        .copied()
        .filter(|point| point.0 >= from && (range[0]..=range[1]).contains(&point.1));
    -straight(&steady.collect::<Vec<_>>()).0
}

/// Time until the flow is developed \[s\].
pub(super) const BUILD_UP: f64 = 0.1;

/// Grains discharge from a flat-bottomed box through round outlets of several diameters.
pub fn beverloo(case_run: &mut CaseRun) -> Done {
    let (outlets, limits) = split(case_run.reference()?);
    let floor = |diameter: f64| ("wall.floor.cone.radii".to_owned(), format!("[{}, \"60 mm\"]", 0.5 * diameter));
    let narrowest = outlets.first().ok_or("no outlet in reference.csv")?.1[0];
    let closed = case_run.scene_with(&[floor(narrowest)])?;
    let mut filled = closed.world.clone();
    let mut simulation = Simulation::new(closed.world, closed.settings)?;
    run_until(&mut simulation, closed.run.until)?;
    let bed = simulation.snapshot();
    let count = bed.id.len() as f64;
    let diameter = 2.0 * mean(&bed.radius, |radius| *radius);
    let height = 2.0 * mean(&bed.position, |center| center[2]);
    let sides: Vec<f64> = filled.walls.iter().filter_map(side_distance).collect();
    let fraction = volume_of(&bed.radius) / (height * (2.0 * mean(&sides, |side| *side)).powi(2));
    let gravity = -filled.gravity[2];
    carry_on(&mut filled, bed);
    let mut rates = Vec::new();
    let mut emptying = Vec::new();
    for (name, [outlet, _]) in &outlets {
        let mut scene = case_run.scene_with(&[floor(*outlet)])?;
        scene.world.grains = filled.grains.clone();
        scene.world.walls.retain(|wall| wall.name != "plug");
        // Duration: a number of grains that leaves the fill high; or for the widest outlet, the number that both of its rates need.
        let expected = 0.58 * fraction * gravity.sqrt() * (outlet - 1.4 * diameter).powf(2.5) / (PI / 6.0 * diameter.powi(3));
        let is_widest = rates.len() + 1 == outlets.len();
        let until = BUILD_UP + if is_widest { 0.36 * count / expected } else { 900.0 / expected };
        let left = discharge(case_run, name, scene, 0.0, until)?;
        rates.push((*outlet, rate(&left, BUILD_UP, [0.0, count])));
        emptying.push(((*name).to_owned(), left));
    }
    let open: Vec<(f64, f64)> = rates
        .iter()
        .map(|(outlet, rate)| ((outlet - 1.4 * diameter).ln(), rate.ln()))
        .collect();
    let (exponent, _) = straight(&open);
    let (slope, offset) = straight(&rates.iter().map(|(outlet, rate)| (*outlet, rate.powf(0.4))).collect::<Vec<_>>());
    let grain = PI / 6.0 * diameter.powi(3);
    let widest = &emptying.last().ok_or("no outlet in reference.csv")?.1;
    let start = widest.iter().find(|point| point.0 >= BUILD_UP).map_or(count, |point| point.1);
    let end = widest.last().map_or(0.0, |point| point.1);
    let halfway = 0.5 * (start + end);
    let (of_the_law, peer) = limits
        .split_at_checked(3)
        .filter(|(_, peer)| peer.len() == rates.len())
        .ok_or("reference.csv: not three quantities and a rate for every outlet")?;
    let measured = [
        exponent,
        -offset / (slope * diameter),
        rate(widest, BUILD_UP, [end, halfway]) / rate(widest, BUILD_UP, [halfway, start]),
    ];
    for ((quantity, [expected, tolerance]), value) in of_the_law.iter().zip(measured) {
        case_run.row(*quantity, value, *expected, *tolerance);
    }
    for ((quantity, [expected, tolerance]), (_, value)) in peer.iter().zip(&rates) {
        case_run.row(*quantity, *value, *expected, *tolerance);
    }
    let scaled = |value: f64| (value / (fraction / grain * gravity.sqrt() * diameter.powf(2.5))).powf(0.4);
    let law = |outlet: f64| (0.58f64).powf(0.4) * (outlet / diameter - 1.4);
    let points = |of: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> { (0..rates.len()).map(|k| (rates[k].0 / diameter, of(k))).collect() };
    case_run.curve(
        "outlet",
        [
            "diameter of the outlet over that of grains [-]",
            "(discharge over φ √g d^2.5)^0.4 [-]",
        ],
        vec![
            ("measured".to_owned(), points(&|k| scaled(rates[k].1))),
            ("LIGGGHTS 3.8.0".to_owned(), points(&|k| scaled(peer[k].1[0]))),
            ("Beverloo 1961, C = 0.58".to_owned(), points(&|k| law(rates[k].0))),
        ],
    );
    case_run.curve("emptying", ["time [s]", "grains left [-]"], emptying);
    Ok(())
}
