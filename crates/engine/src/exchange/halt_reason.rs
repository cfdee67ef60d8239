//! Why a domain among others does not go on.

use super::messages::DecodeError;
use crate::guard::StepError;
use crate::refusal::WorldError;
use seixo_device::gpu::GpuError;
use seixo_transport::Disconnected;

/// Why a subdomain does not continue.
#[derive(Debug)]
pub enum HaltReason {
    /// An error occurred in it.
    Stopped(Box<StepError>),
    /// An error occurred in another subdomain.
    Elsewhere,
    /// It failed in a way that the others do not know yet: its device is lost or has no memory left, it cannot decode a message, or it panicked.
    Lost(String),
    /// Another subdomain, which failed, cannot be reached.
    Unreached(String),
    /// Its grains cannot be listed.
    Refused(WorldError),
}

impl From<Disconnected> for HaltReason {
    fn from(lost: Disconnected) -> HaltReason {
        HaltReason::Unreached(lost.to_string())
    }
}

impl From<DecodeError> for HaltReason {
    fn from(_: DecodeError) -> HaltReason {
        HaltReason::Lost("a message from a domain cannot be decoded".to_owned())
    }
}

impl From<GpuError> for HaltReason {
    fn from(error: GpuError) -> HaltReason {
        HaltReason::Lost(error.to_string())
    }
}

impl HaltReason {
    /// Whether the subdomains did not agree on this halt, so that their states do not fit together.
    pub fn is_alone(&self) -> bool {
        matches!(self, HaltReason::Lost(_) | HaltReason::Unreached(_) | HaltReason::Refused(_))
    }

    /// This error occurred, of which the other subdomains do not know yet. The error of the run names the step.
    pub fn lost(error: &StepError) -> HaltReason {
        HaltReason::Lost(error.without_step())
    }

    /// A grain moved too far between two rebuilds.
    pub fn passed_through(id: u32) -> HaltReason {
        HaltReason::Lost(format!(
            "grain {id} went through a whole domain between two rebuilds of the lists; use fewer domains, or a shorter time step"
        ))
    }
}

impl From<WorldError> for HaltReason {
    fn from(refusal: WorldError) -> HaltReason {
        HaltReason::Refused(refusal)
    }
}

impl HaltReason {
    /// A fluid or wall particle moved too far between two rebuilds.
    pub fn fluid_passed_through(id: u32) -> HaltReason {
        HaltReason::Lost(format!(
            "particle {id} of a fluid or a wall went through a whole domain between two rebuilds of the lists; use fewer domains, or a shorter time \
             step"
        ))
    }

    /// Ghosts are in the memory of another GPU, which cannot be read.
    pub fn unreadable_ghosts() -> HaltReason {
        HaltReason::Lost("the ghosts of another GPU cannot be read".to_owned())
    }

    /// No fluid or wall particle is left in or near a subdomain.
    pub fn no_fluid() -> HaltReason {
        HaltReason::Lost("no fluid is left in a domain on a GPU, and no wall that bounds one; use fewer domains, or domains on the CPU, which may be empty".to_owned())
    }
}
