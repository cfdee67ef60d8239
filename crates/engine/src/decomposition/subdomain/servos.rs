//! Servos of a decomposed world: the loads of the grains of all subdomains move their walls.

use super::{Subdomain, through};
use crate::exchange::{DecodeError, HaltReason};
use crate::walls::ServoLoad;

impl Subdomain {
    /// Reduces the loads of grains on walls with servos over all subdomains, before these move.
    pub fn reduce_servo_loads(&mut self) -> Result<(), HaltReason> {
        if !self.local.populations.walls.has_servos() {
            return Ok(());
        }
        let own = self.local.populations.walls.borne();
        let mut elsewhere = vec![ServoLoad::default(); own.len()];
        let all = through(&mut self.transport).gather(own.into_iter().flat_map(ServoLoad::to_bytes).collect())?;
        for (_, reported) in all.iter().enumerate().filter(|(rank, _)| *rank != self.rank) {
            let (reported, _) = reported.as_chunks::<{ ServoLoad::BYTES }>();
            if reported.len() != elsewhere.len() {
                return Err(DecodeError.into());
            }
            for (sum, one) in elsewhere.iter_mut().zip(reported) {
                *sum = sum.plus(ServoLoad::from_bytes(one));
            }
        }
        self.local.populations.walls.borne_elsewhere = elsewhere;
        Ok(())
    }

    /// Advances servos to the next step, after one on a GPU.
    pub fn advance_servos_on_gpu(&mut self) -> Result<(), HaltReason> {
        self.reduce_servo_loads()?;
        self.on_gpu(|remote, host| {
            remote.advance_servos(host);
            Ok(())
        })
    }
}
