//! Series of Gear's method for bodies that move freely.

use super::Bodies;
use crate::fields::Fields;
use seixo_laws::Vector3;
use seixo_laws::rotation::angular_acceleration_of_body;
use seixo_sweeps::bodies::orientation_at;
use seixo_sweeps::gear::{
    GearState, ORIENTATION_DERIVATIVES, POSITION_DERIVATIVES, begin, extrapolate, second_derivatives, set_higher_derivatives,
};
use seixo_sweeps::layout::{RECORD, load};
use seixo_sweeps::motion::StepParameters;

/// Second derivatives of the position and the orientation of a body.
type SecondDerivatives = ([f64; 3], [f64; 4]);

impl Bodies {
    /// Makes room for the derivatives of all bodies, if any body moves freely.
    pub(crate) fn make_room_for_gear(&mut self) {
        if !self.free().is_empty() {
            let count = self.len();
            self.position_derivatives.resize(count * POSITION_DERIVATIVES, 0.0);
            self.orientation_derivatives.resize(count * ORIENTATION_DERIVATIVES, 0.0);
        }
    }

    /// Initializes the series of body b from these forces, see [`begin()`]; nothing with other integrators or prescribed motion.
    pub(crate) fn begin_gear(&mut self, b: usize, fields: &Fields, stepping: &StepParameters<f64, f64>) {
        if self.position_derivatives.is_empty() || self.held.is_body_prescribed(b) {
            return;
        }
        let [rate, turning] = self.accelerations(b, fields, stepping);
        begin(b, &mut self.geared(), |state| second_derivatives(b, state, &rate, &turning));
    }

    /// Extrapolates the bodies that move freely by their series over a time \[s\], without forces.
    pub(crate) fn extrapolate(&mut self, time: f64) {
        for b in self.free() {
            extrapolate(b, &mut self.geared(), time);
        }
    }

    /// Second derivatives of the bodies that move freely, under these forces.
    pub(crate) fn second_derivatives(&mut self, fields: &Fields, stepping: &StepParameters<f64, f64>) -> Vec<SecondDerivatives> {
        let free = self.free();
        let of_body = |b: usize| {
            let [rate, turning] = self.accelerations(b, fields, stepping);
            second_derivatives(b, &self.geared(), &rate, &turning)
        };
        free.into_iter().map(of_body).collect()
    }

    /// Sets the third and fourth derivatives of the bodies that move freely from the second ones a time `time` \[s\] before and after.
    pub(crate) fn set_higher_derivatives(&mut self, before: &[SecondDerivatives], after: &[SecondDerivatives], time: f64) {
        for (b, (before, after)) in self.free().into_iter().zip(before.iter().zip(after)) {
            set_higher_derivatives(b, &mut self.geared(), before, after, time);
        }
    }

    /// Whether bodies move freely without derivatives.
    pub(crate) fn lack_derivatives(&self) -> bool {
        self.position_derivatives.is_empty() && !self.free().is_empty()
    }

    /// Indices of the bodies that move freely.
    fn free(&self) -> Vec<usize> {
        (0..self.len()).filter(|&b| !self.held.is_body_prescribed(b)).collect()
    }

    /// Acceleration \[m/s²\] and angular acceleration \[rad/s²\] of body b under these forces.
    fn accelerations(&self, b: usize, fields: &Fields, stepping: &StepParameters<f64, f64>) -> [Vector3<f64>; 2] {
        let (at, [rate, torque]) = (b * RECORD, self.rates(b, fields, stepping));
        let orientation = orientation_at(&self.orientation, at);
        let turning = angular_acceleration_of_body(&orientation, &load(&self.spin, at), &torque, &load(&self.moments, at));
        [rate, turning]
    }

    /// Centers, orientations and velocities, with their derivatives.
    fn geared(&mut self) -> GearState<'_> {
        GearState {
            position: &mut self.center,
            velocity: &mut self.velocity,
            half_velocity: &mut [],
            position_derivatives: &mut self.position_derivatives,
            spin: &mut self.spin,
            half_spin: &mut [],
            orientation: &mut self.orientation,
            orientation_derivatives: &mut self.orientation_derivatives,
        }
    }
}
