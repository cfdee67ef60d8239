//! How long walls move in one way: until a stage lets them move otherwise, and to the end of the run at the latest.

use super::{Act, Stage};
use seixo_engine::world::{Domain, World};
use std::ops::Range;

/// Tells motions of walls, those at the start and those that stages set, by when they are over at the latest in a run that ends at this time \[s\]. Only
/// periodic sides ask for that.
pub(crate) fn bound_motions(world: &mut World, stages: &mut [Stage], until: f64) {
    let is_periodic = |domain: Domain| domain.periodic.contains(&true);
    if !world.domain.is_some_and(is_periodic) {
        return;
    }
    // When each stage begins at the earliest, and how long it lasts at most.
    let (mut earliest, mut longest) = (vec![0.0], Vec::new());
    for (k, stage) in stages.iter().enumerate() {
        let [least, most] = stage.lasts(earliest[k]);
        longest.push(most);
        earliest.push((earliest[k] + least).min(until));
    }
    let mut sets: Vec<(usize, Range<usize>)> = Vec::new();
    for (k, stage) in stages.iter().enumerate() {
        for act in &stage.acts {
            if let Act::Motion(walls, _) = act {
                sets.push((k, walls.clone()));
            }
        }
    }
    // A motion that begins with a stage goes on until the first of those behind it that sets the wall's.
    let lasting = |wall: usize, begins: usize, first_behind: usize| {
        let mut ends = sets.iter().filter(|(k, walls)| *k >= first_behind && walls.contains(&wall));
        let most = ends.next().map_or(f64::INFINITY, |(k, _)| longest[begins..*k].iter().sum());
        most.min(until - earliest[begins])
    };
    for (wall, given) in world.walls.iter_mut().enumerate() {
        given.motion.until = Some(lasting(wall, 0, 0));
    }
    for (k, stage) in stages.iter_mut().enumerate() {
        for act in &mut stage.acts {
            if let Act::Motion(walls, motion) = act {
                motion.until = walls.clone().map(|wall| lasting(wall, k, k + 1)).reduce(f64::max);
            }
        }
    }
}

impl Stage {
    /// How long it lasts at least and at most, if it begins at this time or later \[s\].
    fn lasts(&self, begun: f64) -> [f64; 2] {
        let Some(until) = &self.until else {
            return [f64::INFINITY; 2];
        };
        // It ends when somebody looks, and has looked before for as long as the condition must hold.
        let [least, most] = [0.0, f64::INFINITY].map(|unknown| until.lasts(begun, unknown));
        [least, most + self.hold + 2.0 * self.every]
    }
}
