//! What a stage does to a simulation as it begins.

use seixo_engine::world::Grains;
use seixo_engine::{Change, Melting, Refusal, Simulation};
use seixo_scene::{Act, Stage, Thing};

/// What a stage changes around grains that are there before it: walls, inlets of fluids and gravity.
fn surroundings(stage: &Stage) -> Vec<Change> {
    let turned =
        |walls: &std::ops::Range<usize>, is_there: bool| walls.clone().map(|wall| Change::Wall { wall, is_there }).collect::<Vec<_>>();
    let change = |act: &Act| match act {
        Act::Remove(Thing::Walls(walls)) => turned(walls, false),
        Act::Add(Thing::Walls(walls)) => turned(walls, true),
        Act::Remove(Thing::FluidInlet(inlet)) => vec![Change::Inlet {
            inlet: *inlet,
            is_open: false,
        }],
        Act::Add(Thing::FluidInlet(inlet)) => vec![Change::Inlet {
            inlet: *inlet,
            is_open: true,
        }],
        Act::Gravity(gravity) => vec![Change::Gravity(*gravity)],
        Act::Motion(walls, motion) => walls
            .clone()
            .map(|wall| Change::Motion {
                wall,
                motion: motion.clone(),
            })
            .collect(),
        _ => Vec::new(),
    };
    stage.acts.iter().flat_map(change).collect()
}

/// What a stage changes of the grains, those that come with it, too: what holds and loads them.
fn switches(stage: &Stage) -> Vec<Change> {
    let change = |act: &Act| match act {
        Act::Hold(group, motion) => Some(Change::Hold {
            group: *group,
            motion: motion.clone(),
        }),
        Act::Free(group) => Some(Change::Free { group: *group }),
        Act::Load(load) => Some(Change::Load(*load)),
        _ => None,
    };
    stage.acts.iter().filter_map(change).collect()
}

/// All that a stage changes by [`Simulation::change`].
pub(super) fn changes(stage: &Stage) -> Vec<Change> {
    [surroundings(stage), switches(stage)].concat()
}

/// Kinds of bonds that a stage makes, or dissolves.
fn bonds(stage: &Stage, comes: bool) -> Vec<usize> {
    let kind = |act: &Act| match act {
        Act::Add(Thing::Bonds(kind)) if comes => Some(*kind),
        Act::Remove(Thing::Bonds(kind)) if !comes => Some(*kind),
        _ => None,
    };
    stage.acts.iter().filter_map(kind).collect()
}

/// Bodies that melt as a stage begins.
fn melting(stage: &Stage) -> Vec<Melting> {
    let bodies = |act: &Act| match act {
        Act::Melt(_, melting) => melting.clone(),
        _ => Vec::new(),
    };
    stage.acts.iter().flat_map(bodies).collect()
}

/// The grains of a reserve that come with a stage.
fn coming(stage: &Stage, reserve: &Grains) -> Grains {
    let mut coming = Grains::default();
    let comes = |k: &usize| stage.acts.contains(&Act::Add(Thing::Group(reserve.group[*k])));
    for k in (0..reserve.len()).filter(comes) {
        coming.push(
            reserve.id[k],
            reserve.position[k],
            reserve.velocity[k],
            reserve.angular_velocity[k],
            reserve.radius[k],
            reserve.material[k],
            reserve.group[k],
        );
    }
    coming
}

fn change(simulation: &mut Simulation, changes: &[Change]) -> Result<(), Refusal> {
    if changes.is_empty() { Ok(()) } else { simulation.change(changes) }
}

/// Lets all happen that a stage begins with: what goes or melts, what surrounds the grains, what comes, how that is held and moves, and what is glued
/// together then.
pub(super) fn begin(stage: &Stage, reserve: &Grains, simulation: &mut Simulation) -> Result<(), Refusal> {
    simulation.unbond(&bonds(stage, false))?;
    if stage.acts.iter().any(|act| matches!(act, Act::Remove(Thing::Group(_)))) {
        simulation.observe().map_err(|stop| Refusal::Stopped(Box::new(stop)))?;
        let goes = |group: u32| stage.acts.contains(&Act::Remove(Thing::Group(group)));
        let ids: Vec<u32> = simulation.grains().filter(|seen| goes(seen.group)).map(|seen| seen.id).collect();
        simulation.remove(&ids)?;
    }
    simulation.melt(&melting(stage))?;
    change(simulation, &surroundings(stage))?;
    simulation.insert(&coming(stage, reserve))?;
    change(simulation, &switches(stage))?;
    for act in &stage.acts {
        if let Act::Velocity(group, velocity) = act {
            simulation.set_velocity(*group, *velocity)?;
        }
    }
    simulation.bond(&bonds(stage, true))
}
