//! Tablets flow out of a silo with a flat bottom.

use super::case_run::{CaseRun, Done, length, mean, straight};
use super::packing::{go_on, inner_region, poured, shape_of, solid_fraction, wall_named};
use super::silo::{BUILD_UP, rate};
use seixo_engine::SurroundingsChange;
use std::f64::consts::PI;

/// Times at which all tablets have fallen, and at which they rest \[s\].
const FILLED: [f64; 2] = [0.8, 0.95];
/// Time between two samples \[s\].
const LOOK: f64 = 5e-3;
/// Share of the tablets that stays in the silo: below, the bed is lower than the outlet is wide.
const LEFT: f64 = 0.45;

/// Rate, its steadiness, and its independence of the height of the fill, beside the law of \[Beverloo 1961\] for spheres of the same volume.
pub fn discharge(case_run: &mut CaseRun) -> Done {
    let reference: Vec<(&str, [f64; 2])> = case_run.reference()?;
    let ((run, [outlet, _]), limits) = reference.split_first().ok_or("reference.csv is empty")?;
    let radii = format!("[{}, \"60 mm\"]", 0.5 * outlet);
    let scene = case_run.scene_with(&[("wall.floor.cone.radii".to_owned(), radii)])?;
    let (shape, plug) = (shape_of(&scene.world)?, wall_named(&scene.world, "plug")?);
    let domain = scene.world.domain.ok_or("the scene has no domain")?;
    let gravity = length(scene.world.gravity);
    let mut simulation = poured(case_run, run, scene.world, scene.settings, FILLED)?;
    let bed = simulation.snapshot();
    let fraction = solid_fraction(&bed, &shape, &inner_region(&bed, &domain)?);
    let volume = shape.volume * mean(&bed.radius, |radius| radius.powi(3));
    let diameter = (6.0 / PI * volume).cbrt();
    let law = 0.58 * fraction * gravity.sqrt() * (outlet - 1.4 * diameter).powf(2.5) / volume;
    simulation.change(&[SurroundingsChange::Wall {
        wall: plug,
        is_there: false,
    }])?;
    let (opened, count) = (simulation.time(), bed.id.len() as f64);
    // At a third of the expected rate, a jam is likely.
    let latest = BUILD_UP + 3.0 * (1.0 - LEFT) * count / law;
    let mut left: Vec<(f64, f64)> = Vec::new();
    while left.last().is_none_or(|(_, above)| *above > LEFT * count) {
        let since = simulation.time() - opened;
        if since > latest {
            return Err(format!("{run}: after {since:.2} s the silo still holds more than {LEFT} of its tablets").into());
        }
        go_on(case_run, run, &mut simulation, opened + LOOK * (left.len() + 1) as f64)?;
        let above = simulation.snapshot().position.iter().filter(|center| center[2] > 0.0).count();
        left.push((simulation.time() - opened, above as f64));
    }
    let steady: Vec<(f64, f64)> = left.iter().copied().filter(|(time, _)| *time >= BUILD_UP).collect();
    let [start, end] = [steady.first(), steady.last()].map(|point| point.map_or(0.0, |(_, above)| *above));
    let halfway = 0.5 * (start + end);
    let (slope, offset) = straight(&steady);
    let off = mean(&steady, |(time, above)| (above - offset - slope * time).powi(2)).sqrt();
    let measured = [
        fraction,
        -slope / law,
        off / (start - end),
        rate(&left, BUILD_UP, [end, halfway]) / rate(&left, BUILD_UP, [halfway, start]),
    ];
    if limits.len() != measured.len() {
        return Err(format!("reference.csv: {} quantities, not {}", limits.len(), measured.len()).into());
    }
    for ((quantity, [expected, tolerance]), value) in limits.iter().zip(measured) {
        case_run.row(*quantity, value, *expected, *tolerance);
    }
    let last = left.last().map_or(0.0, |(time, _)| *time);
    let of_the_law = vec![(0.0, count), (last, count - law * last)];
    case_run.curve(
        "emptying",
        ["time [s]", "tablets left [-]"],
        vec![("measured".to_owned(), left), ("Beverloo 1961, C = 0.58".to_owned(), of_the_law)],
    );
    Ok(())
}
