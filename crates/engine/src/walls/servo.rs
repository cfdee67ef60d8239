//! Servos: walls that move until the grains bear a load.

use super::motion::is_on;
use super::{Walls, vector};
use crate::assemble::mass_of_sphere;
use crate::world::World;
use seixo_laws::contact::{Touch, normal_force};
use seixo_sweeps::pose::{SERVO, steer};
use seixo_sweeps::views::{TOUCH, coefficients, load};

/// Share of the lacking force that a step makes up for, where the scene gives no gain. What a contact answers to a change of the wall's speed
/// comes a step late; the control is stable while this share is below one, and contacts stiffer than foreseen need a margin.
const SHARE_OF_STEP: f64 = 0.5;

/// Numbers of a servo's state: how far it went, its speed, and how far it had gone when the lists were made.
const SERVO_STATE: usize = 3;

/// What a step's motion of the wall at unit speed adds to the force of the stiffest contact that can bear `force` alone, k Δt + c \[N s/m\]:
/// tangent stiffness and dashpot of the largest grain of each material.
fn resistance(world: &World, table: &[f64], material: u32, force: f64, dt: f64) -> f64 {
    let grains = &world.grains;
    let of_material = |a: usize| grains.material.iter().zip(&grains.radius).filter(move |(m, _)| **m as usize == a);
    let resists = |a: usize, radius: f64| {
        let pair = coefficients::<f64>(table, a * world.materials.len() + material as usize);
        let mass = mass_of_sphere(radius, world.materials[a].density);
        let law = |overlap: f64| {
            let touch = Touch {
                overlap,
                contact_radius: (radius * overlap).sqrt(),
                effective_mass: mass,
            };
            normal_force::<f64>(&touch, &pair)
        };
        // The overlap that bears the force, or the radius where none below it does.
        let (mut low, mut high) = (0.0, radius);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if law(middle).elastic < force {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (more, less) = (law(1.001 * high).elastic, law(0.999 * high).elastic);
        (more - less) / (0.002 * high) * dt + law(high).damping
    };
    let largest = (0..world.materials.len()).map(|a| of_material(a).fold(0.0, |most: f64, (_, &radius)| most.max(radius)));
    let present = largest.enumerate().filter(|(_, radius)| *radius > 0.0);
    present.fold(0.0, |most, (a, radius)| most.max(resists(a, radius)))
}

impl Walls {
    /// Puts the servos up: gains follow from the interactions of the world, whose coefficients `table` holds, and the time step.
    pub(crate) fn put_servos_up(&mut self, world: &World, table: &[f64], dt: f64) {
        for (wall, record) in self.given.iter().zip(self.servos.chunks_exact_mut(SERVO)) {
            let Some(servo) = &wall.motion.servo else { continue };
            let for_each = SHARE_OF_STEP / resistance(world, table, wall.material, servo.force, dt);
            record[..3].copy_from_slice(&servo.along);
            record[3..7].copy_from_slice(&[
                servo.force,
                servo.gain.unwrap_or(for_each),
                servo.velocity_limit,
                f64::from(servo.gain.is_none()),
            ]);
        }
    }

    /// Whether a wall has a servo.
    pub fn has_servos(&self) -> bool {
        self.given.iter().any(|wall| wall.motion.servo.is_some())
    }

    /// Takes the servos to the step at this time \[s\], by the loads of the step before.
    pub fn control(&mut self, time: f64, dt: f64) {
        for (index, wall) in self.given.iter().enumerate() {
            if wall.motion.servo.is_none() {
                continue;
            }
            let direction = load::<f64>(&self.servos, index * SERVO);
            let (mut pushed, mut touching) = (0.0, 0.0);
            for (entry, touch) in self.touches.chunks_exact(TOUCH).enumerate() {
                if touch[7] > 0.0 && self.wall_of(self.list[entry]) == index {
                    pushed += vector(&touch[4..]).dot(&direction);
                    touching += 1.0;
                }
            }
            let is_on = f64::from(self.there[index] && is_on(&wall.motion, time));
            steer::<f64>(index, pushed, touching, is_on, dt, &mut self.servos);
        }
    }

    /// [`SERVO_STATE`] numbers for every servo, in the order of the walls.
    pub(crate) fn servo_state(&self) -> Vec<f64> {
        let servos = self.servos.chunks_exact(SERVO).zip(&self.listed_way).zip(&self.given);
        let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
        put_up.flat_map(|((record, &listed), _)| [record[7], record[8], listed]).collect()
    }

    /// Puts the servos where a state has them, or had them when the lists were made. The state has its numbers for every servo.
    pub(crate) fn set_servos(&mut self, state: &[f64], as_listed: bool) {
        let servos = self.servos.chunks_exact_mut(SERVO).zip(&mut self.listed_way).zip(&self.given);
        let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
        for (((record, listed), _), state) in put_up.zip(state.chunks_exact(SERVO_STATE)) {
            record[7] = if as_listed { state[2] } else { state[0] };
            record[8] = state[1];
            *listed = state[2];
        }
    }
}
