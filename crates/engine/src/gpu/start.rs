//! The start of grains that were uploaded without forces.

use super::{GpuGrains, Number};
use crate::fields::computed;
use crate::populations::Populations;
use seixo_device::Cpu;
use seixo_device::gpu::{Buffer, GpuError};
use seixo_laws::{Coordinate, Vector3};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::motion::{acceleration, angular_acceleration};
use std::ops::Range;

/// Grains whose velocities the host has at once.
const SLAB: usize = 1 << 22;

/// The first three numbers of a record.
fn vector_of<R: Number>(record: &[R]) -> Vector3<f64> {
    Vector3 {
        x: record[0].double(),
        y: record[1].double(),
        z: record[2].double(),
    }
}

/// What is kept of a velocity between steps beside the present one, `read`, after a change by this vector; `kept` is what was kept before.
fn changed<C: Number + Coordinate<R>, R: Number>(read: &[R], kept: &[R], by: &Vector3<f64>) -> [R; RECORD] {
    let by = [by.x, by.y, by.z];
    let number = |axis: usize| {
        let between = <C as Coordinate<R>>::with_rest(read[axis], kept[axis]).double() + by[axis];
        <C as Coordinate<R>>::rest(C::of(between), read[axis])
    };
    [number(0), number(1), number(2), kept[3]]
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Takes velocities and angular velocities between steps back by half a step, as [`Populations::set_all_half_step_velocities`] does on the host: they
    /// are those at the present, where these forces act.
    pub(super) fn step_back(&self, host: &Populations) -> Result<(), GpuError> {
        for first in (0..self.n).step_by(SLAB) {
            self.step_back_slab(host, first..(first + SLAB).min(self.n))?;
        }
        Ok(())
    }

    fn step_back_slab(&self, host: &Populations, grains: Range<usize>) -> Result<(), GpuError> {
        let device: &Cpu = &host.context.device;
        let (stepping, now, n) = (&host.context.stepping, self.now, grains.len());
        let records = RECORD * grains.start..RECORD * grains.end;
        let mut copies = self.gpu.copies();
        let position = copies.add(&self.position[now], records.clone());
        let mut ask = |buffer: &Buffer<R>| copies.add(buffer, records.clone());
        let moving = [&self.velocity[now], &self.half_velocity, &self.force].map(&mut ask);
        let turning = self
            .kind
            .frictional
            .then(|| [&self.spin[now], &self.half_spin, &self.torque].map(&mut ask));
        let arrived = copies.wait()?;
        let position = arrived.take(position);
        let [velocity, kept, force] = moving.map(|ticket| arrived.take(ticket));
        let backwards = -stepping.velocity_lead;
        let half_velocity = computed(device, n, |i| {
            let at = RECORD * i..RECORD * (i + 1);
            let (read, mass) = (&velocity[at.clone()], velocity[at.start + 3].double());
            let rate = acceleration(&vector_of(read), mass, &vector_of(&force[at.clone()]), stepping).rate;
            changed::<C, R>(read, &kept[at], &rate.times(backwards))
        });
        self.gpu
            .write_items(&self.half_velocity, records.start, half_velocity.into_flattened());
        let Some(turning) = turning else { return Ok(()) };
        let [spin, kept, torque] = turning.map(|ticket| arrived.take(ticket));
        let half_spin = computed(device, n, |i| {
            let at = RECORD * i..RECORD * (i + 1);
            let (mass, radius) = (velocity[at.start + 3].double(), position[at.start + 3].double());
            let read = &spin[at.clone()];
            let rate = angular_acceleration(&vector_of(read), mass, radius, &vector_of(&torque[at.clone()]), stepping).rate;
            changed::<C, R>(read, &kept[at], &rate.times(backwards))
        });
        self.gpu.write_items(&self.half_spin, records.start, half_spin.into_flattened());
        Ok(())
    }
}
