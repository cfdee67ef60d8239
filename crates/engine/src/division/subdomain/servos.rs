//! Servos of a world that is divided: their walls go by what the grains of all domains press.

use super::{Halt, Subdomain, through};
use crate::division::letters::Illegible;
use crate::walls::Borne;

impl Subdomain {
    /// Hears what the grains of other domains press on walls with servos, before these go on.
    pub fn hear_of_servos(&mut self) -> Result<(), Halt> {
        if !self.simulation.walls.has_servos() {
            return Ok(());
        }
        let own = self.simulation.walls.borne();
        let mut elsewhere = vec![Borne::default(); own.len()];
        let all = through(&mut self.transport).gather(own.into_iter().flat_map(Borne::to_bytes).collect())?;
        for (_, told) in all.iter().enumerate().filter(|(rank, _)| *rank != self.rank) {
            let (told, _) = told.as_chunks::<{ Borne::BYTES }>();
            if told.len() != elsewhere.len() {
                return Err(Illegible.into());
            }
            for (sum, one) in elsewhere.iter_mut().zip(told) {
                *sum = sum.plus(Borne::from_bytes(one));
            }
        }
        self.simulation.walls.borne_elsewhere = elsewhere;
        Ok(())
    }

    /// Takes servos to the next step, after one on a GPU.
    pub fn lead_servos_on_gpu(&mut self) -> Result<(), Halt> {
        self.hear_of_servos()?;
        self.on_gpu(|remote, host| {
            remote.lead(host);
            Ok(())
        })
    }
}
