//! Servos of a decomposed world: the loads of the grains of all subdomains move their walls.

use super::{PeerExchange, Subdomain, through};
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

    /// Advances servos on a GPU by the step that was queued `ahead` steps after the clock, with the loads of the grains of all subdomains.
    pub fn control_servos_on_gpu(&mut self, ahead: u32) -> Result<(), HaltReason> {
        let populations = &self.local.populations;
        if !(populations.grains_on_gpu() && populations.walls.has_servos()) {
            return Ok(());
        }
        let (rank, peer_exchange) = (self.rank, self.peer_exchange.clone());
        match peer_exchange.as_deref().map(PeerExchange::servo_loads) {
            Some(shared) => {
                let all_domains_reported = self.on_gpu(|remote, _| Ok(remote.send_servo_loads(shared, rank, ahead)?))?;
                if all_domains_reported {
                    self.transport().gather(Vec::new())?;
                }
                self.on_gpu(|remote, _| Ok(remote.receive_servo_loads(shared, rank, ahead)?))?;
            }
            None => {
                let own = self.on_gpu(|remote, _| Ok(remote.servo_load_message()?))?;
                let all = self.transport().gather(own)?;
                self.on_gpu(|remote, _| remote.take_servo_loads(&all))?;
            }
        }
        self.on_gpu(|remote, host| {
            remote.control_servos(host, ahead);
            Ok(())
        })
    }
}
