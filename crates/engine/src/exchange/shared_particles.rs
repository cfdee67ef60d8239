//! Particles that two domains share.

/// Own particles that are ghosts in another subdomain, and ghosts of particles of that one, in the same order in both.
pub struct SharedParticles {
    /// The other subdomain.
    pub with: usize,
    /// Indices, or ids, of its own particles.
    pub own: Vec<u32>,
    /// Indices, or ids, of ghosts.
    pub ghosts: Vec<u32>,
}
