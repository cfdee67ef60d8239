//! Changes between two steps: grains are added, removed, fixed or given other velocities; walls and gravity change.
//!
//! A change acts from the next step on. The forces of this step on grains are kept; those of weakly compressible fluids are recomputed. A change is
//! made on the host: the lists are rebuilt, and contact histories are carried over by ids as from a checkpoint. So a run resumed from a checkpoint
//! before or after the change has the same bits.

use crate::assemble::{check_grains, check_scalars};
use crate::guard::StepError;
use crate::refusal::WorldError;
use crate::scalars::GrainScalar;
use crate::world::{AxisControl, Domain, Grains, Load, Vec3, WallMotion, check_shapes};

/// A change of walls, inlets, gravity, loads, prescribed motion or the control of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum SurroundingsChange {
    /// A wall appears or vanishes.
    Wall {
        /// Index into [`crate::world::World::walls`].
        wall: usize,
        /// Whether it exists from now on.
        is_there: bool,
    },
    /// A wall gets another motion, from its current position; the point of the motion's axis is the current one.
    Motion {
        /// Index into [`crate::world::World::walls`].
        wall: usize,
        /// The new motion.
        motion: Box<WallMotion>,
    },
    /// An inlet of fluids is opened or closed; the layers of a closed inlet are at rest and act as a wall.
    Inlet {
        /// Index into [`crate::world::Fluids::inlets`].
        inlet: usize,
        /// Whether fluid may enter from now on.
        is_open: bool,
    },
    /// Gravitational acceleration from now on \[m/s²\].
    Gravity(Vec3),
    /// The grains of a group get a prescribed motion from their current positions. Free grains become one body; a body that already has such a motion
    /// gets the new one. Start and stop of the motion count from now. A group without grains stays without prescribed motion.
    Hold {
        /// Index into [`crate::world::World::groups`].
        group: u32,
        /// The prescribed motion.
        motion: Box<WallMotion>,
    },
    /// The prescribed motion of the grains of a group ends; they keep their velocities.
    Free {
        /// Index into [`crate::world::World::groups`].
        group: u32,
    },
    /// A load on a group, which replaces any earlier load on it.
    Load(Load),
    /// What sets the lengths of the periodic cell along x, y and z from now on. They must be controlled from the start, see [`Domain::control`].
    Cell([AxisControl; 3]),
}

/// Objects that may overlap others after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverlapCheck {
    /// No new overlap is possible.
    Nothing,
    /// Walls that appear.
    Walls,
    /// Grains released from prescribed motion, which may overlap walls and each other.
    Grains,
    /// A body that froze out of a fluid, which may overlap walls and grains.
    Frozen,
}

/// Rejects grains that can never be added: with bodies, invalid values, without one of these scalars, or with another one.
pub(crate) fn check_newcomers(grains: &Grains, shapes: usize, domain: Option<&Domain>, scalars: &[GrainScalar]) -> Result<(), WorldError> {
    if !grains.bodies.is_empty() {
        return Err(WorldError::WithBodies {
            what: "inlets and groups that are added later",
            remedy: "let bodies be there from the start",
        });
    }
    check_shapes(grains, shapes)?;
    check_grains(grains, domain)?;
    let foreign = grains.scalars.carried().find(|(scalar, _)| !scalars.contains(scalar));
    if let (Some((scalar, values)), Some(&id)) = (foreign, grains.id.first()) {
        return Err(WorldError::Grain {
            id,
            what: scalar.name(),
            value: values[0],
            must: scalar.without(),
        });
    }
    check_scalars(grains, scalars)
}

pub(crate) fn stopped(stop: StepError) -> WorldError {
    WorldError::Stopped(Box::new(stop))
}
