//! Rigid bodies of a decomposed world: the forces on their grains in all subdomains move them.

use super::{Subdomain, through};
use crate::exchange::HaltReason;

impl Subdomain {
    /// Reduces the forces on the grains of bodies over all subdomains, before bodies move.
    pub fn reduce_body_forces(&mut self) -> Result<(), HaltReason> {
        if !self.local.populations.has_loose_bodies() {
            return Ok(());
        }
        let all = through(&mut self.transport).gather(self.local.populations.body_force_message())?;
        let forces = &mut self.local.populations.bodies.body_forces;
        forces.forget();
        for reported in &all {
            forces.take_in(reported)?;
        }
        Ok(())
    }
}
