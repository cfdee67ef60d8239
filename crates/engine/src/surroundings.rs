//! What fluids read of everything else in a domain.

use crate::bodies::Bodies;
use crate::context::StepContext;
use crate::grains::GrainState;
use crate::walls::Walls;

/// What fluids read of everything else in a domain.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub context: &'a StepContext,
    pub grains: &'a GrainState,
    pub bodies: &'a Bodies,
    pub walls: &'a Walls,
}
