//! Walls, rigid bodies and groups of a simulation that Python steps.

use crate::snapshots::rows;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seixo::Simulation;
use seixo::engine::BodySnapshot;
use seixo::engine::state::WallSnapshot;
use seixo::run::Session;
use seixo::scene::ProbeKind;
use std::collections::BTreeSet;

/// Names in the scene, by kind.
pub fn names(session: &Session) -> Vec<(&'static str, Vec<String>)> {
    let scene = session.scene();
    let stress = scene.probes.iter().filter(|probe| matches!(probe.what, ProbeKind::Stress(_)));
    vec![
        ("groups", scene.world.groups.clone()),
        (
            "materials",
            scene.world.materials.iter().map(|material| material.name.clone()).collect(),
        ),
        ("walls", scene.world.walls.iter().map(|wall| wall.name.clone()).collect()),
        ("fluids", session.simulation().names_of_fluids()),
        ("probes", scene.probes.iter().map(|probe| probe.name.clone()).collect()),
        ("stresses", stress.map(|probe| probe.name.clone()).collect()),
    ]
}

/// A wall at this step: what is seen of it, its velocity \[m/s\], its angular velocity \[rad/s\], and the target of its servo.
pub struct WallNow {
    seen: WallSnapshot,
    velocities: [[f64; 3]; 2],
    target: Option<f64>,
}

/// All walls at this step.
pub fn walls(simulation: &Simulation) -> Vec<WallNow> {
    let walls = simulation.walls().into_iter().enumerate();
    let now = walls.map(|(index, seen)| WallNow {
        seen,
        velocities: simulation.velocities_of_wall(index),
        target: simulation.servo_target(index),
    });
    now.collect()
}

/// Walls as arrays by the names of their columns.
pub fn arrays_of_walls(py: Python<'_>, walls: Vec<WallNow>) -> PyResult<Bound<'_, PyDict>> {
    let vectors = |of: fn(&WallNow) -> [f64; 3]| rows(py, walls.iter().map(of).collect());
    let numbers = |of: fn(&WallNow) -> f64| walls.iter().map(of).collect::<Vec<f64>>().into_pyarray(py);
    let there: Vec<bool> = walls
        .iter()
        .map(|wall| wall.seen.plane.is_some() || !wall.seen.triangles.is_empty())
        .collect();
    let arrays = PyDict::new(py);
    arrays.set_item("position", vectors(|wall| wall.seen.position)?)?;
    arrays.set_item("velocity", vectors(|wall| wall.velocities[0])?)?;
    arrays.set_item("angular_velocity", vectors(|wall| wall.velocities[1])?)?;
    arrays.set_item("force", vectors(|wall| wall.seen.force)?)?;
    arrays.set_item("torque", vectors(|wall| wall.seen.torque)?)?;
    arrays.set_item("angle", numbers(|wall| wall.seen.angle))?;
    arrays.set_item("power", numbers(|wall| wall.seen.power))?;
    arrays.set_item("servo_target", numbers(|wall| wall.target.unwrap_or(f64::NAN)))?;
    arrays.set_item("there", there.into_pyarray(py))?;
    Ok(arrays)
}

/// A rigid body at this step, and force \[N\] and torque about its center \[N m\] by its grains and by fluids.
pub struct BodyNow {
    seen: BodySnapshot,
    by_grains: [[f64; 3]; 2],
    by_fluids: [[f64; 3]; 2],
}

impl BodyNow {
    /// Force \[N\], or torque \[N m\], of grains and fluids.
    fn load(&self, which: usize) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.by_grains[which][axis] + self.by_fluids[which][axis])
    }
}

/// All rigid bodies at this step.
pub fn bodies(simulation: &Simulation) -> Vec<BodyNow> {
    let (by_grains, by_fluids) = (simulation.loads_of_grains_on_bodies(), simulation.loads_of_fluids_on_bodies());
    let loads = by_grains.into_iter().zip(by_fluids);
    let now = simulation.bodies().into_iter().zip(loads);
    now.map(|(seen, (by_grains, by_fluids))| BodyNow {
        seen,
        by_grains,
        by_fluids,
    })
    .collect()
}

/// Rigid bodies as arrays by the names of their columns.
pub fn arrays_of_bodies(py: Python<'_>, bodies: Vec<BodyNow>) -> PyResult<Bound<'_, PyDict>> {
    let vectors = |of: fn(&BodyNow) -> [f64; 3]| rows(py, bodies.iter().map(of).collect());
    let id: Vec<u32> = bodies.iter().map(|body| body.seen.id).collect();
    let mass: Vec<f64> = bodies.iter().map(|body| body.seen.mass).collect();
    let orientation: Vec<[f64; 4]> = bodies.iter().map(|body| body.seen.orientation).collect();
    let arrays = PyDict::new(py);
    arrays.set_item("id", id.into_pyarray(py))?;
    arrays.set_item("mass", mass.into_pyarray(py))?;
    arrays.set_item("inertia", vectors(|body| body.seen.moments)?)?;
    arrays.set_item("position", vectors(|body| body.seen.center)?)?;
    arrays.set_item("orientation", rows(py, orientation)?)?;
    arrays.set_item("velocity", vectors(|body| body.seen.velocity)?)?;
    arrays.set_item("angular_velocity", vectors(|body| body.seen.angular_velocity)?)?;
    arrays.set_item("force", vectors(|body| body.load(0))?)?;
    arrays.set_item("torque", vectors(|body| body.load(1))?)?;
    Ok(arrays)
}

/// Ids of the bodies that carry grains of a group, in ascending order.
pub fn bodies_of_group(simulation: &Simulation, group: u32) -> Vec<u32> {
    let of_group = simulation.grains().filter(|grain| grain.group == group);
    let ids: BTreeSet<u32> = of_group.filter_map(|grain| grain.body).collect();
    ids.into_iter().collect()
}

/// Index of the group of a body, and whether it has a prescribed motion or a joint; `None` if it has left.
pub fn group_of_body(simulation: &Simulation, body: u32) -> Option<(u32, bool)> {
    let mut grains = simulation.grains();
    grains
        .find(|grain| grain.body == Some(body))
        .map(|grain| (grain.group, grain.is_bound))
}
