//! A periodic cell whose lengths are controlled: their rates of change, and the servo of each axis.
//!
//! Strain is homogeneous. With the length L(t) a grain at rest relative to the cell is at s L(t) above the lower side, so its velocity is L'/L times its
//! height, and its acceleration L''/L times it. Only L'' needs an action on the grains: as L' changes, so do their velocities, by the share of their
//! heights \[Parrinello 1981\]. While L' is constant they keep their velocities, and images move away from each other at L'.

use crate::checkpoint::numbers;
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use crate::world::{AxisControl, CellControl, Domain, Settings, Vec3, World};
use seixo_laws::wall::servo_action;

/// Sections of a checkpoint: the values of each axis, and gain and integral share of the servos.
const AXES: &str = "cell/axes";
const SERVO: &str = "cell/servo";

/// Number of saved values of an axis: length, its rate of change, integral part of the strain rate, virial, force across the sides, and length at the
/// rebuild of the lists.
const AXIS_STATE: usize = 6;

/// State of a cell whose lengths are controlled.
#[derive(Clone, Debug)]
pub(crate) struct CellState {
    pub control: CellControl,
    /// Rates of change of the lengths \[m/s\].
    pub speed: Vec3,
    /// Integral parts of the strain rates \[1/s\].
    integral: Vec3,
    /// Strain rate per missing stress \[1/(s Pa)\].
    gain: f64,
    /// Time step over the integral time \[-\].
    share: f64,
    /// Σ f l of the contacts of the last step, along each axis \[J\].
    pub virial: Vec3,
    /// Sum of their forces across the sides \[N\], see [`seixo_sweeps::contact::PowerSums::across`].
    pub across: Vec3,
}

impl CellState {
    /// The state at the start, if the lengths of this domain are controlled.
    pub fn of(domain: Option<&Domain>) -> Option<Box<CellState>> {
        let control = domain?.control?;
        Some(Box::new(CellState {
            control,
            speed: [0.0; 3],
            integral: [0.0; 3],
            gain: 0.0,
            share: 0.0,
            virial: [0.0; 3],
            across: [0.0; 3],
        }))
    }

    /// Sets gain and integral share.
    pub fn tune(&mut self, [gain, share]: [f64; 2]) {
        (self.gain, self.share) = (gain, share);
    }

    /// Sets the rates of change of these lengths \[m\] for the next step, from the stresses in this volume \[m³\].
    pub fn steer(&mut self, length: Vec3, volume: f64) {
        for (axis, length) in length.into_iter().enumerate() {
            let (rate, integral) = match self.control.axes[axis] {
                AxisControl::Fixed => (0.0, 0.0),
                AxisControl::Rate(rate) => (rate, 0.0),
                AxisControl::Stress(target) => {
                    let missing = target - self.virial[axis] / volume;
                    let limit = self.control.rate_limit;
                    let action = servo_action::<f64>(missing, target, self.integral[axis], self.gain, self.share, limit);
                    (action.speed, action.integral)
                }
            };
            self.integral[axis] = integral;
            // No length changes by −0.
            self.speed[axis] = if rate == 0.0 { 0.0 } else { -rate * length };
        }
    }

    /// Saves the state of a cell with these lengths, now and at the rebuild of the lists \[m\].
    pub fn save(&self, [now, listed]: [Vec3; 2], to: &mut dyn Sections) {
        let of_axis = |axis: usize| {
            [
                now[axis],
                self.speed[axis],
                self.integral[axis],
                self.virial[axis],
                self.across[axis],
                listed[axis],
            ]
        };
        to.put(AXES, Column::F64((0..3).flat_map(of_axis).collect()));
        to.put(SERVO, Column::F64(vec![self.gain, self.share]));
    }

    /// Restores a saved state. Returns the lengths, now and at the rebuild of the lists \[m\].
    ///
    /// # Errors
    /// If the state is of a cell whose lengths are not controlled.
    pub fn restore(&mut self, state: &State) -> Result<[Vec3; 2], WorldError> {
        let saved = numbers(state, AXES, Some(3 * AXIS_STATE))?;
        let [gain, share] = *numbers(state, SERVO, Some(2))? else {
            unreachable!("the length was checked")
        };
        self.tune([gain, share]);
        let of_axes = |number: usize| [0, 1, 2].map(|axis| saved[axis * AXIS_STATE + number]);
        (self.speed, self.integral) = (of_axes(1), of_axes(2));
        (self.virial, self.across) = (of_axes(3), of_axes(4));
        Ok([of_axes(0), of_axes(5)])
    }
}

/// The control of a domain whose lengths are set by these axes from now on.
///
/// # Errors
/// If the lengths of the domain are not controlled, or cannot be controlled like this.
pub(crate) fn controlled(domain: Option<&Domain>, axes: [AxisControl; 3]) -> Result<CellControl, WorldError> {
    let Some((domain, control)) = domain.and_then(|domain| Some((domain, domain.control?))) else {
        let what = "nothing controls the lengths of the domain, so they cannot be set later; add a `control` to the domain";
        return Err(WorldError::Cell(what.to_owned()));
    };
    let control = CellControl { axes, ..control };
    control
        .flaw(domain.periodic)
        .map_or(Ok(control), |flaw| Err(WorldError::Cell(flaw)))
}

/// Rejects a cell whose lengths are controlled together with what does not follow them.
///
/// # Errors
/// If the control itself is wrong, or the world has anything but free grains.
pub(crate) fn check_cell(world: &World, settings: &Settings) -> Result<(), WorldError> {
    let Some((domain, control)) = world.domain.and_then(|domain| Some((domain, domain.control?))) else {
        return Ok(());
    };
    if let Some(flaw) = control.flaw(domain.periodic) {
        return Err(WorldError::Cell(flaw));
    }
    let no_bodies = world.grains.bodies.is_empty() && !world.later.freezes;
    let others = [
        (
            domain.shear.is_none(),
            "sides that slide past each other",
            "remove `shear`, or the control of its lengths",
        ),
        (
            world.walls.is_empty(),
            "walls, whose images would have to move with it",
            "remove the walls, or load the sample by walls with servos",
        ),
        (
            world.bonds.is_empty(),
            "bonds",
            "remove the bonds, or load the sample by walls with servos",
        ),
        (no_bodies, "rigid bodies", "use plain grains"),
        (world.fluids.is_none(), "fluids", "remove the fluids"),
        (
            world.local_damping == 0.0,
            "local damping, which would brake the strain itself",
            "set run.local_damping to 0, as a restitution below 1 damps contacts",
        ),
        (
            settings.scheme.corrects().is_none(),
            "Gear's methods, whose predictions do not know its servos",
            "take another integrator",
        ),
    ];
    match others.into_iter().find(|(is_absent, ..)| !is_absent) {
        None => Ok(()),
        Some((_, what, remedy)) => Err(WorldError::Cell(format!(
            "a cell whose lengths are controlled does not go with {what}; {remedy}"
        ))),
    }
}
