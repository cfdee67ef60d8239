//! Bodies of a world that is divided: they go by what pushes on the grains of all domains.

use super::{Halt, Subdomain, through};

impl Subdomain {
    /// Hears what pushes on the grains of bodies in all domains, before bodies go on.
    pub fn hear_of_pushes(&mut self) -> Result<(), Halt> {
        if !self.simulation.has_loose_bodies() {
            return Ok(());
        }
        let all = through(&mut self.transport).gather(self.simulation.tell_pushes())?;
        let pushes = &mut self.simulation.bodies.pushes;
        pushes.forget();
        for told in &all {
            pushes.take_in(told)?;
        }
        Ok(())
    }
}
