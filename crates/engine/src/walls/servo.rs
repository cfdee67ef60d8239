//! Servos: walls with force control.

use super::motion::is_on;
use super::{Walls, vector};
use crate::checkpoint::{misfit, numbers};
use crate::events::SurroundingsChange;
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use crate::world::{CellControl, Extent, Servo, ServoTarget, Wall};
use seixo_laws::contact::{ContactPair, normal_force};
use seixo_sweeps::layout::{WALL_CONTACT, coefficients, load};
use seixo_sweeps::wall_pose::{POSE, SERVO, load_of_contact, servo_axis, steer};
use std::f64::consts::TAU;
use std::slice::Iter;

/// Share of the missing force that a step corrects, if the scene gives no gain. A contact responds to a change of the wall's speed one step
/// later. The control is stable while this share is below one, and contacts stiffer than expected need a margin.
const SHARE_OF_STEP: f64 = 0.5;

/// Integral time in units of 1/(k g), if the scene gives none. The servo moves like a plate of the mass T/g behind a dashpot 1/g. With this factor it
/// swings on samples that are over 50 times softer than the contacts at the wall are together.
const INTEGRAL_TIMES: f64 = 200.0;

/// Number of state values of a servo: displacement, speed, displacement at the rebuild of the lists, and integral part of the speed.
const SERVO_STATE: usize = 4;

/// Sections of a checkpoint: the first three of these values, gains, and displacements of servos whose motions ended, in the order of their ends.
const SERVOS: &str = "walls/servos";
const GAINS: &str = "walls/servo_gains";
const ENDED: &str = "walls/ended_servos";

/// Section of a checkpoint: the integral part of the speed of each servo, and the time step over its integral time. Versions without integral parts
/// lack it.
const INTEGRALS: &str = "walls/servo_integrals";

/// Section of a checkpoint: the target of each servo, if any was set between two steps.
const TARGETS: &str = "walls/servo_targets";

/// Number of parts of the set value of a servo: 2⁷², so that a load has as many digits as forces.
const PARTS_OF_FORCE: f64 = (1u128 << 72) as f64;

/// Load of grains on a wall with a servo: a whole number of small parts of the set value, of a stress on 1 m². A sum of whole numbers does not depend
/// on the order, so each subdomain can sum the loads of its own grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServoLoad {
    parts: i128,
    touching: u64,
}

impl ServoLoad {
    /// Bytes of an encoded load.
    pub const BYTES: usize = 24;

    /// Load of one contact \[N, N m\], for this set value \[N, N m\].
    fn of_contact(pressed: f64, set: f64) -> ServoLoad {
        ServoLoad {
            parts: (pressed / set * PARTS_OF_FORCE) as i128,
            touching: 1,
        }
    }

    /// Sum of two loads.
    pub fn plus(self, other: ServoLoad) -> ServoLoad {
        ServoLoad {
            parts: self.parts.saturating_add(other.parts),
            touching: self.touching + other.touching,
        }
    }

    /// The load as a force or torque \[N, N m\], for this set value \[N, N m\].
    fn amount(self, set: f64) -> f64 {
        self.parts as f64 / PARTS_OF_FORCE * set
    }

    /// Encodes the load.
    pub fn to_bytes(self) -> [u8; ServoLoad::BYTES] {
        let mut bytes = [0; ServoLoad::BYTES];
        bytes[..16].copy_from_slice(&self.parts.to_le_bytes());
        bytes[16..].copy_from_slice(&self.touching.to_le_bytes());
        bytes
    }

    /// Decodes a load.
    pub fn from_bytes(bytes: &[u8; ServoLoad::BYTES]) -> ServoLoad {
        let (parts, touching) = (bytes.first_chunk::<16>().copied(), bytes.last_chunk::<8>().copied());
        ServoLoad {
            parts: i128::from_le_bytes(parts.unwrap_or_default()),
            touching: u64::from_le_bytes(touching.unwrap_or_default()),
        }
    }
}

/// The largest present grain of each material.
pub(crate) struct Largest<'a> {
    /// Largest radius by material, zero without grains \[m\].
    pub radius: Vec<f64>,
    /// Largest mass by material \[kg\].
    pub mass: Vec<f64>,
    /// Coefficients of the interactions.
    pub table: &'a [f64],
}

/// How a contact responds to a wall.
#[derive(Clone, Copy, Default)]
struct ContactResponse {
    /// Tangent stiffness k \[N/m\].
    stiffness: f64,
    /// Increase k Δt + c of the force in a step per unit speed of the wall \[N s/m\].
    resistance: f64,
}

impl ContactResponse {
    /// That of a load to a motion, of which force and distance are these multiples.
    fn times(self, factor: f64, again: f64) -> ContactResponse {
        ContactResponse {
            stiffness: self.stiffness * factor * again,
            resistance: self.resistance * factor * again,
        }
    }

    /// Gain of a servo, and time step over its integral time, where they are not given. Without a contact that responds, the gain is `idle`.
    fn tuned(self, [gain, integral_time]: [Option<f64>; 2], idle: f64, dt: f64) -> [f64; 2] {
        let for_each = if self.resistance > 0.0 {
            SHARE_OF_STEP / self.resistance
        } else {
            idle
        };
        let gain = gain.unwrap_or(for_each);
        let share = match integral_time {
            Some(time) => dt / time,
            None => dt * gain * self.stiffness / INTEGRAL_TIMES,
        };
        [gain, share.min(1.0)]
    }
}

impl Largest<'_> {
    /// Response to a wall of this material, of the stiffest contact that can carry `force` alone.
    ///
    /// It uses the tangent stiffness and dashpot of the largest grain of each material. Zero without grains.
    fn response(&self, material: u32, force: f64, dt: f64) -> ContactResponse {
        let resists = |a: usize, radius: f64| {
            let pair = coefficients::<f64>(self.table, a * self.mass.len() + material as usize);
            let mass = self.mass[a];
            let law = |overlap: f64| {
                let touch = ContactPair {
                    overlap,
                    contact_radius: (radius * overlap).sqrt(),
                    effective_mass: mass,
                };
                normal_force::<f64>(&touch, &pair)
            };
            // The overlap that carries the force, or the radius if no smaller overlap does.
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
            let stiffness = (more - less) / (0.002 * high);
            ContactResponse {
                stiffness,
                resistance: stiffness * dt + law(high).damping,
            }
        };
        let present = self.radius.iter().enumerate().filter(|(_, radius)| **radius > 0.0);
        let responses = present.map(|(a, &radius)| resists(a, radius));
        responses.fold(ContactResponse::default(), |most, other| {
            if other.resistance > most.resistance { other } else { most }
        })
    }

    /// Gain \[1/(s Pa)\] of the servos of a cell, and time step over their integral time. A cell of contacts of stiffness k between grains that are d apart has
    /// a modulus of k/d at most: with three contacts a grain, a fifth of which acts along an axis. So d is that of the smallest grains.
    pub fn tuned_for_cell(&self, control: &CellControl, smallest: f64, dt: f64) -> [f64; 2] {
        let Some(stress) = control.largest_stress() else { return [0.0; 2] };
        let largest = self.radius.iter().copied().fold(0.0, f64::max);
        let force = stress * (2.0 * largest).powi(2);
        let present = (0..).zip(&self.radius).filter(|(_, radius)| **radius > 0.0);
        let responses = present.map(|(material, _)| self.response(material, force, dt));
        let stiffest = responses.reduce(|most, other| if other.resistance > most.resistance { other } else { most });
        // Without grains nothing responds.
        let of_cell = stiffest
            .unwrap_or_default()
            .times(if smallest > 0.0 { 0.5 / smallest } else { 0.0 }, 1.0);
        of_cell.tuned([control.gain, control.integral_time], 2.0 * control.rate_limit / stress, dt)
    }
}

/// Force \[N\] that a servo sets at the positions of the walls in `given`, at the start of their motions; for a torque the force at this lever \[m\].
fn force_at_start(servo: &Servo, given: &[Wall], lever: f64) -> f64 {
    match servo.target {
        ServoTarget::Force(force) => force,
        ServoTarget::Stress { stress, area } => stress * area.map(|extent| extent.length(given)).iter().product::<f64>(),
        ServoTarget::Torque(torque) => torque / lever,
    }
}

impl Walls {
    /// Initializes the servos: gains and integral times follow from the largest grains and the time step.
    pub(crate) fn init_servos(&mut self, largest: &Largest, dt: f64) {
        for (index, wall) in self.given.iter().enumerate() {
            let Some(servo) = &wall.motion.servo else { continue };
            let record = &mut self.servos[index * SERVO..][..SERVO];
            // A torque acts on contacts at the farthest point from the axis, where they resist most: by the square of this lever.
            let lever = if servo.turns() { self.farthest[index] } else { 1.0 };
            let force = force_at_start(servo, &self.given, lever);
            let response = largest.response(wall.material, force, dt).times(lever, lever);
            // If no contact responds, the wall moves at its speed limit.
            let idle = 2.0 * servo.velocity_limit / (force * lever);
            let [gain, share] = response.tuned([servo.gain, servo.integral_time], idle, dt);
            if !servo.turns() {
                record[..3].copy_from_slice(&servo.along);
            }
            let per_grain = f64::from(servo.gain.is_none());
            let target = self.set_targets[index].unwrap_or(servo.target.value());
            record[3..7].copy_from_slice(&[target, gain, servo.velocity_limit, per_grain]);
            record[10] = share;
            record[11] = if servo.turns() { TAU } else { 0.0 };
            let area = match servo.target {
                ServoTarget::Stress { area, .. } => area,
                ServoTarget::Force(_) | ServoTarget::Torque(_) => [Extent::Length(1.0); 2],
            };
            for (extent, numbers) in area.iter().zip(record[12..18].chunks_exact_mut(3)) {
                numbers.copy_from_slice(&match extent {
                    Extent::Length(length) => [0.0, 0.0, *length],
                    Extent::Between { walls, edge } => {
                        let [one, other] = walls.map(|wall| self.first.get(wall).copied().unwrap_or_default() as f64);
                        [one, other, -2.0 * edge]
                    }
                });
            }
        }
    }

    /// Sets the target of the servo of a wall \[N, Pa, N m\], until the wall gets another motion. A wall without servo is not changed.
    pub(crate) fn set_servo_target(&mut self, wall: usize, target: f64) {
        if self.given[wall].motion.servo.is_some() {
            self.set_targets[wall] = Some(target);
            self.servos[wall * SERVO + 3] = target;
        }
    }

    /// Angle by which the servo of a wall turned it \[rad\].
    pub(super) fn turned_by_servo(&self, wall: usize) -> f64 {
        let record = &self.servos[wall * SERVO..][..SERVO];
        if record[11] > 0.0 { record[7] } else { 0.0 }
    }

    /// Whether a wall has a servo.
    pub fn has_servos(&self) -> bool {
        self.given.iter().any(|wall| wall.motion.servo.is_some())
    }

    /// Whether a servo acts on an area that is measured between walls.
    pub fn measures_areas(&self) -> bool {
        let is_between = |extent: &Extent| matches!(extent, Extent::Between { .. });
        let mut servos = self.given.iter().filter_map(|wall| wall.motion.servo.as_ref());
        servos.any(|servo| matches!(&servo.target, ServoTarget::Stress { area, .. } if area.iter().any(is_between)))
    }

    /// Load of the grains listed here on each wall; zero for walls without servo.
    pub fn borne(&self) -> Vec<ServoLoad> {
        (0..self.given.len()).map(|wall| self.borne_by(wall)).collect()
    }

    /// Load of the grains listed here on a wall; zero without servo.
    fn borne_by(&self, wall: usize) -> ServoLoad {
        let Some(servo) = &self.given[wall].motion.servo else {
            return ServoLoad::default();
        };
        let direction = load::<f64>(&self.servos, wall * SERVO);
        let pose = wall * POSE;
        let axis = servo_axis::<f64>(&self.poses, pose, self.servos[wall * SERVO + 11]);
        let through = load::<f64>(&self.poses, pose);
        let mut borne = ServoLoad::default();
        for (touch, &element) in self.wall_contacts.chunks_exact(WALL_CONTACT).zip(&self.list) {
            if touch[7] > 0.0 && self.wall_of(element) == wall {
                let pressed = load_of_contact::<f64>(&vector(&touch[4..]), &vector(touch), &direction, &axis, &through);
                borne = borne.plus(ServoLoad::of_contact(pressed, servo.target.value()));
            }
        }
        borne
    }

    /// Advances the servos to the step at this time \[s\], with the loads of the previous step.
    pub fn control(&mut self, time: f64, dt: f64) {
        for wall in 0..self.given.len() {
            let motion = &self.given[wall].motion;
            let Some(servo) = &motion.servo else { continue };
            let elsewhere = self.borne_elsewhere.get(wall).copied().unwrap_or_default();
            let borne = self.borne_by(wall).plus(elsewhere);
            let (pressed, touching) = (borne.amount(servo.target.value()), borne.touching as f64);
            let is_on = f64::from(self.there[wall] && is_on(motion, time));
            steer::<f64>(wall, pressed, touching, is_on, dt, &self.elements, &mut self.servos);
        }
    }

    /// [`SERVO_STATE`] values for each servo, in the order of the walls.
    pub(crate) fn servo_state(&self) -> Vec<f64> {
        let servos = self.servos.chunks_exact(SERVO).zip(&self.listed_way).zip(&self.given);
        let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
        put_up
            .flat_map(|((record, &listed), _)| [record[7], record[8], listed, record[9]])
            .collect()
    }

    /// Ends the motion of a wall, with or without servo, before another one; the wall stays in its position.
    pub(super) fn end_servo(&mut self, wall: usize) {
        let record = &mut self.servos[wall * SERVO..][..SERVO];
        if self.given[wall].motion.servo.is_some() {
            self.finished_displacements.push(record[7]);
            self.ended_servos_of.push(wall as u32);
        }
        record.fill(0.0);
        self.set_targets[wall] = None;
    }

    /// Restores the final displacement of a servo before a past change that ends its motion. `ways` contains the displacements of ended servos, in
    /// the order of their ends.
    ///
    /// # Errors
    /// If none is left.
    pub(crate) fn restore_servo(&mut self, change: &SurroundingsChange, ways: &mut Iter<'_, f64>) -> Result<(), WorldError> {
        if let SurroundingsChange::Motion { wall, .. } = change
            && self.given[*wall].motion.servo.is_some()
        {
            let name = &self.given[*wall].name;
            let way = ways.next().ok_or_else(|| {
                misfit(&format!(
                    "wall {name} got another motion, and this checkpoint of an earlier version lacks the displacement by its servo"
                ))
            })?;
            self.servos[*wall * SERVO + 7] = *way;
        }
        Ok(())
    }

    /// Saves servos, if there are or were any.
    pub(crate) fn save_servos(&self, to: &mut dyn Sections) {
        if self.has_servos() {
            let state = self.servo_state();
            let first_three = state.chunks_exact(SERVO_STATE).flat_map(|state| &state[..3]);
            to.put(SERVOS, Column::F64(first_three.copied().collect()));
            let servos = self.servos.chunks_exact(SERVO).zip(&self.given);
            let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
            to.put(GAINS, Column::F64(put_up.clone().map(|(record, _)| record[4]).collect()));
            to.put(
                INTEGRALS,
                Column::F64(put_up.flat_map(|(record, _)| [record[9], record[10]]).collect()),
            );
            if self.set_targets.iter().any(Option::is_some) {
                let walls = self.given.iter().zip(&self.set_targets);
                let targets = walls.filter_map(|(wall, set)| wall.motion.servo.map(|servo| set.unwrap_or(servo.target.value())));
                to.put(TARGETS, Column::F64(targets.collect()));
            }
        }
        if !self.finished_displacements.is_empty() {
            to.put(ENDED, Column::F64(self.finished_displacements.clone()));
        }
    }

    /// Restores saved servos, for the current motions of the walls.
    ///
    /// # Errors
    /// If the state contains other servos.
    pub(crate) fn restore_servos(&mut self, state: &State) -> Result<(), WorldError> {
        if !self.has_servos() {
            return Ok(());
        }
        let count = self.given.iter().filter(|wall| wall.motion.servo.is_some()).count();
        let first_three = numbers(state, SERVOS, Some(count * 3))?;
        let integrals = match state.get(INTEGRALS) {
            Some(_) => numbers(state, INTEGRALS, Some(count * 2))?.to_vec(),
            None => vec![0.0; count * 2],
        };
        let values = first_three.chunks_exact(3).zip(integrals.chunks_exact(2));
        let values: Vec<f64> = values.flat_map(|(three, of)| [three[0], three[1], three[2], of[0]]).collect();
        self.set_servos(&values, false);
        if state.get(INTEGRALS).is_some() {
            let servos = self.servos.chunks_exact_mut(SERVO).zip(&self.given);
            let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
            put_up
                .zip(integrals.chunks_exact(2))
                .for_each(|((record, _), of)| record[10] = of[1]);
        }
        if state.get(GAINS).is_some() {
            let gains = numbers(state, GAINS, Some(count))?;
            let servos = self.servos.chunks_exact_mut(SERVO).zip(&self.given);
            let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
            put_up.zip(gains).for_each(|((record, _), &gain)| record[4] = gain);
        }
        if state.get(TARGETS).is_some() {
            let targets = numbers(state, TARGETS, Some(count))?;
            let mut targets = targets.iter();
            for wall in 0..self.given.len() {
                if self.given[wall].motion.servo.is_some()
                    && let Some(&target) = targets.next()
                {
                    self.set_servo_target(wall, target);
                }
            }
        }
        Ok(())
    }

    /// Sets the servos to a state, with [`SERVO_STATE`] values each: to the saved displacements or, with `as_listed`, to those at the rebuild of the
    /// lists.
    pub(crate) fn set_servos(&mut self, state: &[f64], as_listed: bool) {
        let servos = self.servos.chunks_exact_mut(SERVO).zip(&mut self.listed_way).zip(&self.given);
        let put_up = servos.filter(|(_, wall)| wall.motion.servo.is_some());
        for (((record, listed), _), state) in put_up.zip(state.chunks_exact(SERVO_STATE)) {
            record[7] = if as_listed { state[2] } else { state[0] };
            record[8] = state[1];
            *listed = state[2];
            record[9] = state[3];
        }
    }
}

/// Displacements of servos whose motions ended, in the order of their ends, from a checkpoint.
pub(crate) fn finished_displacements(state: &State) -> Iter<'_, f64> {
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
        // In floating point, small values vanish or not, depending on the order.
        let force = 3.7;
        let pressed = [1.0 / 3.0, 1e-12, -2.5e3, 7e-17, 2.5e3, 0.1, -1e-9, 1e4 / 7.0];
        let all = |order: &[usize]| {
            let wall_contacts = order.iter().map(|&k| ServoLoad::of_contact(pressed[k], force));
            wall_contacts.fold(ServoLoad::default(), ServoLoad::plus)
        };
        let [first, second, third] =
            [[0, 1, 2, 3, 4, 5, 6, 7], [4, 7, 6, 2, 1, 5, 0, 3], [7, 6, 5, 4, 3, 2, 1, 0]].map(|order| all(&order));
        assert_eq!((first, first), (second, third));
        assert_eq!((all(&[4, 7, 6]).plus(all(&[2, 1, 5, 0, 3])), first.touching), (first, 8));
        let exact = 1e4 / 7.0 + (1.0 / 3.0 + 0.1 - 1e-9 + 1e-12);
        assert!((first.amount(force) / exact - 1.0).abs() < 1e-15, "{}", first.amount(force));
        assert_eq!(ServoLoad::from_bytes(&first.to_bytes()), first);
        // NaN counts as zero, and very large loads saturate.
        assert_eq!(ServoLoad::of_contact(f64::NAN, force).plus(first).parts, first.parts);
        let most = ServoLoad::of_contact(1e300, force);
        assert_eq!(
            most.plus(most),
            ServoLoad {
                parts: i128::MAX,
                touching: 2
            }
        );
    }
}
