//! Whole simulations with each method of the pair search, as \[PUC-Rio 2009\] compares grids.

use super::{Measured, Place, SearchArguments, Trial, mixture, print_world};
use crate::command::{Done, Failure};
use seixo::Simulation;
use seixo_engine::world::{Interaction, Search, Settings};
use seixo_laws::contact::{NormalLaw, TangentialLaw};

use super::super::case::{with_room, world_of};
use super::super::refused;

/// What is added to the radii of spheres that do not touch, over the smallest of them: so that many touch, and none lies inside another.
const ADDED: f64 = 0.1;

/// Measures steps of whole simulations, without friction and with it, whose cells are built in every step.
pub fn compare_runs(
    arguments: &SearchArguments,
    place: &Place,
    spread: f64,
    tangential: TangentialLaw,
    reported: &mut Vec<Measured>,
) -> Done {
    let spheres = mixture::spheres(arguments.particles as usize, spread, arguments.solid_fraction).map_err(Failure::Input)?;
    let added = ADDED * spheres.iter().map(|(_, radius)| *radius).fold(f64::INFINITY, f64::min);
    let failed = |stop: seixo::StepError| Failure::Run(stop.to_string());
    let (name, friction) = match tangential {
        TangentialLaw::None => ("normal", 0.0),
        _ => ("tangential", 0.5),
    };
    let ways = arguments.searches.iter().filter(|search| **search != Search::BruteForce);
    let mut trials = Vec::new();
    for (&search, skin) in ways.map(|search| (search, Some(0.0))).chain([(&Search::Auto, None)]) {
        let mut grains = with_room(spheres.len());
        for (id, &(center, radius)) in spheres.iter().enumerate() {
            grains.push(id as u32, center, [0.0; 3], [0.0; 3], radius + added, 0, 0);
        }
        let interaction = Interaction {
            normal: NormalLaw::Hertz,
            tangential,
            restitution: 0.5,
            friction,
            ..Interaction::default()
        };
        let settings = Settings {
            search,
            skin,
            overlap_limit: 1.0,
            ..place.settings.clone()
        };
        let mut simulation = Simulation::new(world_of(grains, interaction, Vec::new(), 0.0), settings).map_err(refused)?;
        simulation.advance(1).and_then(|()| simulation.observe()).map_err(failed)?;
        let contacts = simulation.contacts();
        let way = match skin {
            Some(_) => search.name().to_owned(),
            None => "list with skin".to_owned(),
        };
        trials.push((Trial { way, found: simulation }, contacts));
    }
    let mut times = vec![Vec::new(); trials.len()];
    // The first round warms up.
    for round in 0..=arguments.repeat {
        for ((trial, _), times) in trials.iter_mut().zip(&mut times) {
            let seconds = super::super::seconds_of(&mut trial.found, arguments.steps, 1).map_err(failed)?;
            if round > 0 {
                times.push(seconds[0] / arguments.steps as f64);
            }
        }
    }
    let first = reported.len();
    for ((trial, contacts), times) in trials.into_iter().zip(times) {
        let comparison = if tangential == TangentialLaw::None {
            "whole-normal"
        } else {
            "whole-tangential"
        };
        reported.push(place.measured(
            comparison,
            format!("{name}, {}", trial.way),
            (spread, spheres.len(), contacts),
            times,
        ));
    }
    print_world(arguments, &reported[first..])
}
