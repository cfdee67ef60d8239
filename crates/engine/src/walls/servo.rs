//! Servos: walls that move until the grains bear a load.

use super::motion::is_on;
use super::{Walls, vector};
use crate::assemble::mass_of_sphere;
use crate::events::Change;
use crate::refusal::Refusal;
use crate::resume::{misfit, numbers};
use crate::simulation::Simulation;
use crate::state::{Column, Sections, State};
use seixo_laws::contact::{Touch, normal_force};
use seixo_sweeps::pose::{SERVO, steer};
use seixo_sweeps::views::{RECORD, TOUCH, coefficients, load};
use std::slice::Iter;

/// Share of the lacking force that a step makes up for, where the scene gives no gain. What a contact answers to a change of the wall's speed
/// comes a step late; the control is stable while this share is below one, and contacts stiffer than foreseen need a margin.
const SHARE_OF_STEP: f64 = 0.5;

/// Numbers of a servo's state: how far it went, its speed, and how far it had gone when the lists were made.
const SERVO_STATE: usize = 3;

/// Sections of a state: those numbers, gains, and how far servos had gone whose motions ended, in the order in which they did.
const SERVOS: &str = "walls/servos";
const GAINS: &str = "walls/servo_gains";
const ENDED: &str = "walls/ended_servos";

/// Into how many parts the force that a servo is to reach is cut: 2⁷², so that a load has as many digits as forces have.
const PARTS_OF_FORCE: f64 = (1u128 << 72) as f64;

/// What grains press on the wall of a servo: a whole number of small parts of the force to be reached. A sum of whole numbers is the same in any order,
/// so that domains may each add up what their own grains do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Borne {
    parts: i128,
    touching: u64,
}

impl Borne {
    /// How many bytes one is told by.
    pub const BYTES: usize = 24;

    /// What one touch presses \[N\], where this force \[N\] is to be reached.
    fn of_touch(pressed: f64, force: f64) -> Borne {
        Borne {
            parts: (pressed / force * PARTS_OF_FORCE) as i128,
            touching: 1,
        }
    }

    /// The sum of both.
    pub fn plus(self, other: Borne) -> Borne {
        Borne {
            parts: self.parts.saturating_add(other.parts),
            touching: self.touching + other.touching,
        }
    }

    /// It as a force, where this one is to be reached \[N\].
    fn pressed(self, force: f64) -> f64 {
        self.parts as f64 / PARTS_OF_FORCE * force
    }

    /// It as bytes.
    pub fn to_bytes(self) -> [u8; Borne::BYTES] {
        let mut bytes = [0; Borne::BYTES];
        bytes[..16].copy_from_slice(&self.parts.to_le_bytes());
        bytes[16..].copy_from_slice(&self.touching.to_le_bytes());
        bytes
    }

    /// What was told by bytes.
    pub fn from_bytes(bytes: &[u8; Borne::BYTES]) -> Borne {
        let (parts, touching) = (bytes.first_chunk::<16>().copied(), bytes.last_chunk::<8>().copied());
        Borne {
            parts: i128::from_le_bytes(parts.unwrap_or_default()),
            touching: u64::from_le_bytes(touching.unwrap_or_default()),
        }
    }
}

/// The largest grain of every material that is there.
struct Largest<'a> {
    /// By material, zero where there is none \[m\].
    radius: Vec<f64>,
    /// By material \[kg/m³\].
    densities: &'a [f64],
    /// Coefficients of the interactions.
    table: &'a [f64],
}

impl Largest<'_> {
    /// What a step's motion of a wall of this material at unit speed adds to the force of the stiffest contact that can bear `force` alone,
    /// k Δt + c \[N s/m\]: tangent stiffness and dashpot of the largest grain of each material. Zero where no grain is.
    fn resistance(&self, material: u32, force: f64, dt: f64) -> f64 {
        let resists = |a: usize, radius: f64| {
            let pair = coefficients::<f64>(self.table, a * self.densities.len() + material as usize);
            let mass = mass_of_sphere(radius, self.densities[a]);
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
        let present = self.radius.iter().enumerate().filter(|(_, radius)| **radius > 0.0);
        present.fold(0.0, |most, (a, &radius)| most.max(resists(a, radius)))
    }
}

impl Simulation {
    /// Tunes the servos of walls to the grains that are there, as gains follow from how these push back: at the start, and whenever something was
    /// changed between two steps. Between changes grains only go, and gains stay below what would be stable.
    pub(crate) fn tune_servos(&mut self) {
        if !self.walls.has_servos() {
            return;
        }
        let mut radius = vec![0.0f64; self.densities.len()];
        for (&material, record) in self.fields.material.iter().zip(self.fields.position.chunks_exact(RECORD)) {
            let most = &mut radius[material as usize];
            *most = most.max(record[3]);
        }
        let (densities, table) = (&self.densities[..], &self.table[..]);
        let largest = Largest { radius, densities, table };
        self.walls.put_servos_up(&largest, self.stepping.dt);
    }
}

impl Walls {
    /// Puts the servos up: gains follow from the largest grains and the time step.
    fn put_servos_up(&mut self, largest: &Largest, dt: f64) {
        for (wall, record) in self.given.iter().zip(self.servos.chunks_exact_mut(SERVO)) {
            let Some(servo) = &wall.motion.servo else { continue };
            let resistance = largest.resistance(wall.material, servo.force, dt);
            let for_each = if resistance > 0.0 {
                SHARE_OF_STEP / resistance
            } else {
                // Nothing pushes back: the wall goes as fast as it may.
                2.0 * servo.velocity_limit / servo.force
            };
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

    /// What the grains that are listed here press on each wall; nothing of those without a servo.
    pub fn borne(&self) -> Vec<Borne> {
        (0..self.given.len()).map(|wall| self.borne_by(wall)).collect()
    }

    /// What the grains that are listed here press on a wall; nothing if it has no servo.
    fn borne_by(&self, wall: usize) -> Borne {
        let Some(servo) = &self.given[wall].motion.servo else {
            return Borne::default();
        };
        let direction = load::<f64>(&self.servos, wall * SERVO);
        let mut borne = Borne::default();
        for (touch, &element) in self.touches.chunks_exact(TOUCH).zip(&self.list) {
            if touch[7] > 0.0 && self.wall_of(element) == wall {
                let pressed = vector(&touch[4..]).dot(&direction);
                borne = borne.plus(Borne::of_touch(pressed, servo.force));
            }
        }
        borne
    }

    /// Takes the servos to the step at this time \[s\], by the loads of the step before.
    pub fn control(&mut self, time: f64, dt: f64) {
        for wall in 0..self.given.len() {
            let motion = &self.given[wall].motion;
            let Some(servo) = &motion.servo else { continue };
            let elsewhere = self.borne_elsewhere.get(wall).copied().unwrap_or_default();
            let borne = self.borne_by(wall).plus(elsewhere);
            let (pressed, touching) = (borne.pressed(servo.force), borne.touching as f64);
            let is_on = f64::from(self.there[wall] && is_on(motion, time));
            steer::<f64>(wall, pressed, touching, is_on, dt, &mut self.servos);
        }
    }

    /// [`SERVO_STATE`] numbers for every servo, in the order of the walls.
    pub(crate) fn servo_state(&self) -> Vec<f64> {
        let servos = self.servos.chunks_exact(SERVO).zip(&self.listed_way).zip(&self.given);
        let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
        put_up.flat_map(|((record, &listed), _)| [record[7], record[8], listed]).collect()
    }

    /// Ends the motion of a wall, which may have a servo, for another one; it stands where it is.
    pub(super) fn end_servo(&mut self, wall: usize) {
        let record = &mut self.servos[wall * SERVO..][..SERVO];
        if self.given[wall].motion.servo.is_some() {
            self.ended_ways.push(record[7]);
        }
        record.fill(0.0);
    }

    /// Before a change that was made before: puts the servo that it ends, if it ends one, to where that was then. `ways` has how far each had gone, in
    /// the order in which they ended.
    ///
    /// # Errors
    /// If there is none left.
    pub(crate) fn recall_servo(&mut self, change: &Change, ways: &mut Iter<'_, f64>) -> Result<(), Refusal> {
        if let Change::Motion { wall, .. } = change
            && self.given[*wall].motion.servo.is_some()
        {
            let name = &self.given[*wall].name;
            let way = ways.next().ok_or_else(|| {
                misfit(&format!(
                    "wall {name} got another motion, and it does not tell how far its servo had gone by then, as versions before this one did not"
                ))
            })?;
            self.servos[*wall * SERVO + 7] = *way;
        }
        Ok(())
    }

    /// Saves servos, if there are or were any.
    pub(crate) fn save_servos(&self, to: &mut dyn Sections) {
        if self.has_servos() {
            to.put(SERVOS, Column::F64(self.servo_state()));
            let servos = self.servos.chunks_exact(SERVO).zip(&self.given);
            let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
            to.put(GAINS, Column::F64(put_up.map(|(record, _)| record[4]).collect()));
        }
        if !self.ended_ways.is_empty() {
            to.put(ENDED, Column::F64(self.ended_ways.clone()));
        }
    }

    /// Takes servos back as they were saved, with the motions that walls have now.
    ///
    /// # Errors
    /// If the state is of other servos.
    pub(crate) fn restore_servos(&mut self, state: &State) -> Result<(), Refusal> {
        if !self.has_servos() {
            return Ok(());
        }
        let count = self.given.iter().filter(|wall| wall.motion.servo.is_some()).count();
        self.set_servos(numbers(state, SERVOS, Some(count * SERVO_STATE))?, false);
        if state.get(GAINS).is_some() {
            let gains = numbers(state, GAINS, Some(count))?;
            let servos = self.servos.chunks_exact_mut(SERVO).zip(&self.given);
            let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
            put_up.zip(gains).for_each(|((record, _), &gain)| record[4] = gain);
        }
        Ok(())
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

/// How far servos had gone whose motions ended, in the order in which they did, as a state tells.
pub(crate) fn ended_ways(state: &State) -> Iter<'_, f64> {
    match state.get(ENDED) {
        Some(Column::F64(ways)) => ways.iter(),
        _ => [].iter(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_the_same_in_any_order_and_have_all_digits() {
        // In floating point, what is small drowns or not by when it comes.
        let force = 3.7;
        let pressed = [1.0 / 3.0, 1e-12, -2.5e3, 7e-17, 2.5e3, 0.1, -1e-9, 1e4 / 7.0];
        let all = |order: &[usize]| {
            let touches = order.iter().map(|&k| Borne::of_touch(pressed[k], force));
            touches.fold(Borne::default(), Borne::plus)
        };
        let [first, second, third] =
            [[0, 1, 2, 3, 4, 5, 6, 7], [4, 7, 6, 2, 1, 5, 0, 3], [7, 6, 5, 4, 3, 2, 1, 0]].map(|order| all(&order));
        assert_eq!((first, first), (second, third));
        assert_eq!((all(&[4, 7, 6]).plus(all(&[2, 1, 5, 0, 3])), first.touching), (first, 8));
        let exact = 1e4 / 7.0 + (1.0 / 3.0 + 0.1 - 1e-9 + 1e-12);
        assert!((first.pressed(force) / exact - 1.0).abs() < 1e-15, "{}", first.pressed(force));
        assert_eq!(Borne::from_bytes(&first.to_bytes()), first);
        // What is no number, or beyond all measure, is none of a servo's business.
        assert_eq!(Borne::of_touch(f64::NAN, force).plus(first).parts, first.parts);
        let most = Borne::of_touch(1e300, force);
        assert_eq!(
            most.plus(most),
            Borne {
                parts: i128::MAX,
                touching: 2
            }
        );
    }
}
