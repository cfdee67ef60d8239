//! Changes of a running scene by a program, by the names of the scene.

use super::RunError;
use super::course::Course;
use seixo_analysis::{RigidMotion, center_of_group};
use seixo_engine::world::{Load, Servo, VectorOfTime, WallMotion};
use seixo_engine::{SurroundingsChange, WorldError};
use seixo_scene::{Scene, UnlocatedDiagnostic};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// A change of a running scene by a program. It acts from the next step on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum UserChange {
    /// Sets gravity.
    Gravity {
        /// Gravitational acceleration \[m/s²\].
        gravity: [f64; 3],
    },
    /// Sets the motion of a wall, from its present position. It replaces a servo; the motion of the surface, as of a belt, stays.
    WallMotion {
        /// Name of the wall; of a box, that of all its faces or of one, as in "tank.top".
        wall: String,
        /// Velocity \[m/s\].
        velocity: [f64; 3],
        /// Angular velocity \[rad/s\].
        angular_velocity: [f64; 3],
        /// A point of the axis at this moment \[m\]; without, the point of the axis in the scene, which moves with the wall, or the middle of the wall if
        /// the scene gives it no axis.
        about: Option<[f64; 3]>,
    },
    /// Sets the target of a wall's servo. The velocity that the wall has besides stays.
    ServoTarget {
        /// Name of the wall.
        wall: String,
        /// A force \[N\], also for a stress on a constant area; a stress on an area between walls \[Pa\]; a torque \[N m\].
        target: f64,
    },
    /// Lets a wall appear or vanish.
    WallThere {
        /// Name of the wall.
        wall: String,
        /// Whether it exists from now on.
        there: bool,
    },
    /// Sets the force on a group of grains, which is shared equally by the grains that it has now. Torques by the scene stay if they are constant.
    GroupForce {
        /// Name of the group.
        group: String,
        /// Total force \[N\].
        force: [f64; 3],
    },
    /// Sets the velocity of all grains of a group once, except that of grains with prescribed motion and of bodies on joints.
    GroupVelocity {
        /// Name of the group.
        group: String,
        /// Velocity \[m/s\].
        velocity: [f64; 3],
    },
    /// Prescribes the motion of a group of grains, from its present position.
    GroupMotion {
        /// Name of the group.
        group: String,
        /// Velocity \[m/s\].
        velocity: [f64; 3],
        /// Angular velocity \[rad/s\].
        angular_velocity: [f64; 3],
        /// A point of the axis at this moment \[m\]; without, the center of mass of the group.
        about: Option<[f64; 3]>,
    },
    /// Ends the prescribed motion of a group of grains, which keep their velocities.
    GroupFree {
        /// Name of the group.
        group: String,
    },
    /// Sets the velocity of a rigid body once, except that of a body with prescribed motion or on a joint.
    BodyVelocity {
        /// Id of the body.
        body: u32,
        /// Velocity of its center of mass \[m/s\].
        velocity: [f64; 3],
        /// Angular velocity \[rad/s\]; as it was if left out.
        angular_velocity: Option<[f64; 3]>,
    },
}

impl fmt::Display for UserChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UserChange::Gravity { gravity } => write!(f, "gravity is {gravity:?} m/s^2"),
            UserChange::WallMotion {
                wall,
                velocity,
                angular_velocity,
                ..
            } => write!(f, "wall {wall} moves at {velocity:?} m/s and turns at {angular_velocity:?} rad/s"),
            UserChange::ServoTarget { wall, target } => write!(f, "the servo of wall {wall} has the target {target:?}"),
            UserChange::WallThere { wall, there } => write!(f, "wall {wall} {}", if *there { "appears" } else { "vanishes" }),
            UserChange::GroupForce { group, force } => write!(f, "the force on grains {group} is {force:?} N"),
            UserChange::GroupVelocity { group, velocity } => write!(f, "the velocity of grains {group} becomes {velocity:?} m/s"),
            UserChange::GroupMotion {
                group,
                velocity,
                angular_velocity,
                ..
            } => write!(
                f,
                "grains {group} are held, move at {velocity:?} m/s and turn at {angular_velocity:?} rad/s"
            ),
            UserChange::GroupFree { group } => write!(f, "grains {group} are free"),
            UserChange::BodyVelocity { body, velocity, .. } => write!(f, "the velocity of body {body} becomes {velocity:?} m/s"),
        }
    }
}

impl UserChange {
    /// Makes the change. Returns what it changes in the surroundings, for the record.
    ///
    /// # Errors
    /// If it names something that the scene does not have, a number is not finite, or the simulation refuses it.
    pub(super) fn apply(&self, scene: &Scene, course: &mut Course) -> Result<Vec<SurroundingsChange>, RunError> {
        if !self.numbers().iter().all(|number| number.is_finite()) {
            return Err(wrong(format!("{self}: a number is not finite; give finite numbers")));
        }
        course.simulation.observe().map_err(|stop| WorldError::Stopped(Box::new(stop)))?;
        let lasting = match self {
            UserChange::GroupVelocity { group, velocity } => {
                course.simulation.set_velocity(group_of(scene, group)?, *velocity)?;
                return Ok(Vec::new());
            }
            UserChange::BodyVelocity {
                body,
                velocity,
                angular_velocity,
            } => {
                check_body(course, *body)?;
                course.simulation.set_velocity_of_body(*body, *velocity, *angular_velocity)?;
                return Ok(Vec::new());
            }
            UserChange::Gravity { gravity } => vec![SurroundingsChange::Gravity(*gravity)],
            UserChange::WallThere { wall, there } => {
                let turned = |wall| SurroundingsChange::Wall { wall, is_there: *there };
                walls_of(scene, wall)?.map(turned).collect()
            }
            UserChange::WallMotion {
                wall,
                velocity,
                angular_velocity,
                about,
            } => {
                let walls = walls_of(scene, wall)?;
                let names_axis = walls.clone().any(|wall| has_axis(&scene.world.walls[wall].motion));
                let middle = (*angular_velocity != [0.0; 3] && !names_axis).then(|| middle_of(course, walls.clone()));
                let moved = |wall: usize| WallMotion {
                    velocity: *velocity,
                    angular_velocity: *angular_velocity,
                    through: about.or(middle).unwrap_or_else(|| axis_now(scene, course, wall)),
                    surface: scene.world.walls[wall].motion.surface,
                    ..WallMotion::default()
                };
                motions(walls, moved)
            }
            UserChange::ServoTarget { wall, target } => {
                let walls = walls_of(scene, wall)?;
                let motion = with_target(scene, course, (wall.as_str(), walls.clone()), *target)?;
                motions(walls, |_| motion.clone())
            }
            UserChange::GroupForce { group, force } => {
                vec![SurroundingsChange::Load(share_of_force(scene, course, group, *force)?)]
            }
            UserChange::GroupMotion {
                group,
                velocity,
                angular_velocity,
                about,
            } => {
                let index = group_of(scene, group)?;
                let through = about.unwrap_or_else(|| center_of_group(&course.simulation.snapshot(), index));
                if through.iter().any(|x| !x.is_finite()) {
                    let problem = "have no center, as there are none of them or they reach around periodic sides";
                    return Err(wrong(format!("grains {group} {problem}; give a point of the axis with `about`")));
                }
                let motion = WallMotion {
                    velocity: *velocity,
                    angular_velocity: *angular_velocity,
                    through,
                    ..WallMotion::default()
                };
                vec![SurroundingsChange::Hold {
                    group: index,
                    motion: Box::new(motion),
                }]
            }
            UserChange::GroupFree { group } => vec![SurroundingsChange::Free {
                group: group_of(scene, group)?,
            }],
        };
        for change in &lasting {
            if let SurroundingsChange::Hold { group, .. }
            | SurroundingsChange::Free { group }
            | SurroundingsChange::Load(Load { group, .. }) = change
            {
                course.simulation.announce_group(*group, &scene.world.groups[*group as usize]);
            }
        }
        course.simulation.change(&lasting)?;
        Ok(lasting)
    }

    /// Whether it is so already, exactly: this gravity, or walls that go straight at this velocity.
    ///
    /// # Errors
    /// If it names a wall that the scene does not have.
    pub(super) fn is_in_effect(&self, scene: &Scene, course: &mut Course) -> Result<bool, RunError> {
        match self {
            UserChange::Gravity { gravity } => Ok(course.simulation.gravity() == *gravity),
            UserChange::WallMotion {
                wall,
                velocity,
                angular_velocity,
                about: None,
            } if *angular_velocity == [0.0; 3] => {
                course.simulation.observe().map_err(|stop| WorldError::Stopped(Box::new(stop)))?;
                let course = &*course;
                let is_so = |wall: usize| {
                    let motion = WallMotion {
                        velocity: *velocity,
                        through: axis_now(scene, course, wall),
                        surface: scene.world.walls[wall].motion.surface,
                        ..WallMotion::default()
                    };
                    course.simulation.goes_straight_by(wall, &motion)
                };
                Ok(walls_of(scene, wall)?.all(is_so))
            }
            _ => Ok(false),
        }
    }

    /// All numbers of the change.
    fn numbers(&self) -> Vec<f64> {
        match self {
            UserChange::Gravity { gravity } => gravity.to_vec(),
            UserChange::WallMotion {
                velocity,
                angular_velocity,
                about,
                ..
            }
            | UserChange::GroupMotion {
                velocity,
                angular_velocity,
                about,
                ..
            } => [*velocity, *angular_velocity, about.unwrap_or_default()].concat(),
            UserChange::ServoTarget { target, .. } => vec![*target],
            UserChange::GroupForce { force: vector, .. } | UserChange::GroupVelocity { velocity: vector, .. } => vector.to_vec(),
            UserChange::BodyVelocity {
                velocity,
                angular_velocity,
                ..
            } => [*velocity, angular_velocity.unwrap_or_default()].concat(),
            UserChange::WallThere { .. } | UserChange::GroupFree { .. } => Vec::new(),
        }
    }
}

fn wrong(message: String) -> RunError {
    RunError::UserChange(message)
}

/// The walls of a name.
fn walls_of(scene: &Scene, name: &str) -> Result<Range<usize>, RunError> {
    scene
        .walls_named(name)
        .map_err(|UnlocatedDiagnostic { message, remedy, .. }| wrong(format!("{message}; {remedy}")))
}

/// The group of a name.
fn group_of(scene: &Scene, name: &str) -> Result<u32, RunError> {
    let groups = &scene.world.groups;
    let found = groups.iter().position(|group| group == name);
    found.map(|index| index as u32).ok_or_else(|| {
        let known = if groups.is_empty() { "none".to_owned() } else { groups.join(", ") };
        wrong(format!("no group of grains is named `{name}`; groups of the scene: {known}"))
    })
}

/// Refuses the id of a body that is not there.
fn check_body(course: &Course, id: u32) -> Result<(), RunError> {
    let bodies = course.simulation.bodies();
    if bodies.iter().any(|body| body.id == id) {
        return Ok(());
    }
    let ids = bodies.iter().map(|body| body.id);
    let known = match (ids.clone().min(), ids.max()) {
        (Some(first), Some(last)) => format!("there are {} bodies, with ids from {first} to {last}", bodies.len()),
        _ => "there are no bodies".to_owned(),
    };
    Err(wrong(format!("no body has the id {id}; {known}")))
}

/// A change for each of these walls.
fn motions(walls: Range<usize>, motion: impl Fn(usize) -> WallMotion) -> Vec<SurroundingsChange> {
    let change = |wall| SurroundingsChange::Motion {
        wall,
        motion: Box::new(motion(wall)),
    };
    walls.map(change).collect()
}

/// Whether a motion in the scene has an axis.
fn has_axis(motion: &WallMotion) -> bool {
    let turns_by_path = motion.path.as_ref().is_some_and(|path| !path.angle.is_empty());
    let turns_by_servo = motion.servo.is_some_and(|servo| servo.turns());
    motion.angular_velocity != [0.0; 3] || motion.through != [0.0; 3] || turns_by_path || turns_by_servo
}

/// Mean of the present reference points of walls \[m\].
fn middle_of(course: &Course, walls: Range<usize>) -> [f64; 3] {
    let all = course.simulation.walls();
    let walls = &all[walls];
    let sum = |axis: usize| walls.iter().map(|wall| wall.position[axis]).sum::<f64>();
    [0, 1, 2].map(|axis| sum(axis) / walls.len() as f64)
}

/// Present position of the point of a wall that the scene names as one of its axis \[m\].
fn axis_now(scene: &Scene, course: &Course, wall: usize) -> [f64; 3] {
    let (origin, rotation) = course.simulation.motion_of_wall(wall);
    RigidMotion::new(origin, rotation).place(scene.world.walls[wall].motion.through)
}

/// The motion of a wall with another target of its servo; as of a stage, with the velocity that it has besides.
fn with_target(scene: &Scene, course: &Course, (name, walls): (&str, Range<usize>), target: f64) -> Result<WallMotion, RunError> {
    let first = walls.start;
    let given = &scene.world.walls[first].motion;
    let Some(servo) = given.servo else {
        return Err(wrong(format!(
            "wall {name} has no servo whose target could be set; write one in its section of the scene"
        )));
    };
    if target <= 0.0 {
        return Err(wrong(format!(
            "the target of the servo of wall {name} is {target:?}, must be positive"
        )));
    }
    let past = course.stage_runner.past();
    let changes = past.iter().rev().flat_map(|(_, changes)| changes.iter().rev());
    let mut motions = changes.filter_map(|change| match change {
        SurroundingsChange::Motion { wall, motion } if *wall == first => Some(&**motion),
        _ => None,
    });
    let present = motions.next().unwrap_or(given);
    let goes_straight =
        present.path.is_none() && present.vibrations.is_empty() && present.angular_velocity == [0.0; 3] && present.frame.is_none();
    if !goes_straight || servo.turns() && present.velocity != [0.0; 3] {
        return Err(wrong(format!(
            "wall {name} is moved otherwise than along a line, which would begin again with the new target; set its motion first"
        )));
    }
    Ok(WallMotion {
        velocity: present.velocity,
        // The axis of a torque does not move.
        through: if servo.turns() {
            given.through
        } else {
            axis_now(scene, course, first)
        },
        servo: Some(Servo {
            target: servo.target.with_value(target),
            ..servo
        }),
        surface: given.surface,
        ..WallMotion::default()
    })
}

/// The load on each grain of a group that is this force \[N\] on all of them.
fn share_of_force(scene: &Scene, course: &Course, name: &str, force: [f64; 3]) -> Result<Load, RunError> {
    let group = group_of(scene, name)?;
    let count = course.simulation.grains().filter(|seen| seen.group == group).count();
    if count == 0 {
        return Err(wrong(format!("there are no grains {name} that a force could act on")));
    }
    let past = course.stage_runner.past();
    let changes = past.iter().rev().flat_map(|(_, changes)| changes.iter().rev());
    let mut loads = changes.filter_map(|change| match change {
        SurroundingsChange::Load(load) => Some(load),
        _ => None,
    });
    let before = loads
        .find(|load| load.group == group)
        .or_else(|| scene.world.loads.iter().find(|load| load.group == group));
    let torque = before.map_or_else(VectorOfTime::default, |load| load.torque.clone());
    if torque.depends_on_time() {
        return Err(wrong(format!(
            "the torque on grains {name} is a formula of time, beside which a program cannot set their force; set it by a stage"
        )));
    }
    Ok(Load::constant(group, force.map(|part| part / count as f64), torque.at(0.0)))
}
