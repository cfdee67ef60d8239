//! What domains send each other, wherever they are computed.

mod halt_reason;
mod messages;
mod shared_particles;

pub(crate) use halt_reason::HaltReason;
pub(crate) use messages::{
    DecodeError, append_message, enclose, enclose_records, encode, exchange, from_bytes, next_message, read, to_bytes, unfold,
    unfold_records,
};
pub(crate) use shared_particles::SharedParticles;

/// Largest number of particles of a domain whose positions are sampled for the balance of load.
pub(crate) const MAX_SAMPLED: usize = 4096;
