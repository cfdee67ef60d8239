//! Servos of walls between two steps: their targets, and how far they are from them.

use crate::events::stopped;
use crate::refusal::WorldError;
use crate::simulation::Simulation;
use seixo_sweeps::wall_pose::SERVO;

/// How far a servo is from its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoStatus {
    /// Share of the target load that was missing in the last step \[-\]; negative for too much load. It is 1 while nothing touches the wall, and not a
    /// number before the first step of the servo.
    pub missing: f64,
    /// Time in which the integral part of the speed grows by a constant proportional part \[s\]; infinite without an integral part, as while the world has
    /// no grains.
    pub integral_time: f64,
}

impl Simulation {
    /// Sets the target of the servo of a wall from the next step on: a force \[N\], a stress \[Pa\] or a torque \[N m\], of the kind that it has. The servo
    /// keeps its gain and its integral part, no list is rebuilt, and the target is part of checkpoints. It holds until the wall gets another motion. A
    /// wall without a servo is not changed.
    ///
    /// # Errors
    /// If there is no such wall, or the target is not a positive number; if the GPU fails.
    pub fn set_servo_target(&mut self, wall: usize, target: f64) -> Result<(), WorldError> {
        let walls = &self.whole.populations.walls.given;
        let Some(given) = walls.get(wall) else {
            return Err(WorldError::Wall {
                name: wall.to_string(),
                what: format!("there is no wall of this index, and so no servo; there are {}", walls.len()),
            });
        };
        if !(target.is_finite() && target > 0.0) {
            return Err(WorldError::Wall {
                name: given.name.clone(),
                what: format!("the target of its servo is {target}, must be a positive number"),
            });
        }
        self.whole.set_servo_target(wall, target).map_err(stopped)?;
        let domains = self.subdomains.iter_mut().flat_map(|subdomains| &mut subdomains.domains);
        for domain in domains {
            domain.local.set_servo_target(wall, target).map_err(stopped)?;
        }
        Ok(())
    }

    /// The servo of a wall in the last step; `None` for a wall without a servo.
    pub fn servo_status(&self, wall: usize) -> Option<ServoStatus> {
        // All domains have the same servos, and those of the whole world are as old as its last observation.
        let domain = self.subdomains.as_ref().and_then(|subdomains| subdomains.domains.first());
        let walls = &domain.map_or(&self.whole, |domain| &domain.local).populations.walls;
        walls.given.get(wall)?.motion.servo?;
        let record = &walls.servos[wall * SERVO..][..SERVO];
        Some(ServoStatus {
            missing: record[18] / record[19],
            integral_time: self.time_step().value / record[10],
        })
    }
}
