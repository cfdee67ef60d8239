//! Duration of wall motions: until a stage replaces the motion, or to the end of the run.

use super::{Stage, StageAction};
use seixo_engine::world::{Domain, World};
use std::ops::Range;

/// Sets the latest end of wall motions, of those at the start and of those that stages set, in a run that ends at this time \[s\]. Only periodic
/// sides need it.
pub(crate) fn bound_motions(world: &mut World, stages: &mut [Stage], until: f64) {
    let is_periodic = |domain: Domain| domain.periodic.contains(&true);
    if !world.domain.is_some_and(is_periodic) {
        return;
    }
    // Earliest start of each stage, and its longest duration.
    let (mut earliest, mut longest) = (vec![0.0], Vec::new());
    for (k, stage) in stages.iter().enumerate() {
        let [least, most] = stage.lasts(earliest[k]);
        longest.push(most);
        earliest.push((earliest[k] + least).min(until));
    }
    let mut sets: Vec<(usize, Range<usize>)> = Vec::new();
    for (k, stage) in stages.iter().enumerate() {
        for act in &stage.actions {
            if let StageAction::Motion(walls, _) = act {
                sets.push((k, walls.clone()));
            }
        }
    }
    // A motion that starts with a stage continues until the first later stage that sets the motion of the wall.
    let lasting = |wall: usize, begins: usize, first_behind: usize| {
        let mut ends = sets.iter().filter(|(k, walls)| *k >= first_behind && walls.contains(&wall));
        let most = ends.next().map_or(f64::INFINITY, |(k, _)| longest[begins..*k].iter().sum());
        most.min(until - earliest[begins])
    };
    for (wall, given) in world.walls.iter_mut().enumerate() {
        given.motion.until = Some(lasting(wall, 0, 0));
    }
    for (k, stage) in stages.iter_mut().enumerate() {
        for act in &mut stage.actions {
            if let StageAction::Motion(walls, motion) = act {
                motion.until = walls.clone().map(|wall| lasting(wall, k, k + 1)).reduce(f64::max);
            }
        }
    }
}

impl Stage {
    /// Shortest and longest duration, if it starts at this time or later \[s\].
    fn lasts(&self, begun: f64) -> [f64; 2] {
        let Some(until) = &self.until else {
            return [f64::INFINITY; 2];
        };
        // It ends at a check, after the condition was true at all checks for the required time.
        let [least, most] = [0.0, f64::INFINITY].map(|unknown| until.lasts(begun, unknown));
        [least, most + self.hold + 2.0 * self.every]
    }
}
