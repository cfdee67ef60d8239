//! Whole simulations with each method of the pair search, as \[PUC-Rio 2009\] compares grids.

use super::super::{refused, seconds_of};
use super::{Measured, Place, SearchArguments, Trial, measure, mixture, print_world, world};
use crate::command::{Done, Failure};
use seixo_engine::Simulation;
use seixo_engine::world::{Search, Settings};
use seixo_laws::contact::TangentialLaw;

/// What is added to the radii of spheres that do not touch, over the smallest of them: so that many touch, and none lies inside another.
const ADDED: f64 = 0.1;

/// Measures steps of whole simulations, without friction and with it, whose cells are built in every step.
pub fn compare_runs(
    arguments: &SearchArguments,
    place: &Place,
    (particles, spread): (usize, f64),
    tangential: TangentialLaw,
    reported: &mut Vec<Measured>,
) -> Done {
    let spheres = mixture::spheres(particles, spread, arguments.solid_fraction).map_err(Failure::Input)?;
    let added = ADDED * spheres.iter().map(|(_, radius)| *radius).fold(f64::INFINITY, f64::min);
    let failed = |stop: seixo_engine::StepError| Failure::Run(stop.to_string());
    let (name, comparison) = match tangential {
        TangentialLaw::None => ("normal", "whole-normal"),
        _ => ("tangential", "whole-tangential"),
    };
    let ways = arguments.searches.iter().filter(|search| **search != Search::BruteForce);
    let mut trials = Vec::new();
    for (&search, skin) in ways.map(|search| (search, Some(0.0))).chain([(&Search::Auto, None)]) {
        let settings = Settings {
            search,
            skin,
            overlap_limit: 1.0,
            ..place.settings.clone()
        };
        let touching = spheres.iter().map(|&(center, radius)| (center, radius + added));
        let mut simulation = Simulation::new(world(touching, tangential), settings).map_err(refused)?;
        simulation.advance(1).and_then(|()| simulation.observe()).map_err(failed)?;
        let contacts = simulation.contacts();
        let way = match skin {
            Some(_) => search.name().to_owned(),
            None => "list with skin".to_owned(),
        };
        trials.push((Trial { way, found: simulation }, contacts));
    }
    let times = measure(arguments.repeat, &mut trials, |(trial, _)| {
        let seconds = seconds_of(&mut trial.found, arguments.steps, 1).map_err(failed)?;
        Ok(seconds[0] / arguments.steps as f64)
    })?;
    let first = reported.len();
    for ((trial, contacts), times) in trials.into_iter().zip(times) {
        reported.push(place.measured(
            comparison,
            arguments.curve(format!("{name}, {}", trial.way), spread),
            (arguments.place_of((particles, spread)), particles, contacts),
            times,
        ));
    }
    print_world(arguments, &reported[first..])
}
