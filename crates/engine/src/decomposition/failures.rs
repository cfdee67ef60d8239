//! Failures of one subdomain: the others learn of them, and none waits forever.
//!
//! A subdomain that waits for a message of another one gets the reason from the transport. A GPU that waits for another GPU gets nothing, as it learns
//! of no failure. So hosts of several GPUs wait for these for a limited time only, and for seconds once a subdomain failed.

use super::subdomain::{Subdomain, through};
use crate::exchange::HaltReason;
use crate::guard::StepErrorCause;
use seixo_device::gpu::Gpu;
use std::time::Duration;

/// The longest wait for one of several GPUs. A batch of steps takes much less, and kernels that are compiled first do, too.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The longest wait for one after another subdomain failed.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Limits the waits for these GPUs if there are several, which may wait for each other. One alone waits for no other, and a limited wait takes longer,
/// as another thread waits.
pub fn limit_waits(gpus: &[Gpu]) {
    if gpus.iter().any(|gpu| !gpu.is_same(&gpus[0])) {
        limit(gpus, LONGEST_WAIT);
    }
}

/// Lets hosts soon stop waiting for these GPUs, as a subdomain failed.
pub(super) fn stop_waiting(gpus: &[Gpu]) {
    limit(gpus, LAST_WAIT);
}

/// Limits the waits for these GPUs. Those in software wait for no other, and may take longer.
fn limit(gpus: &[Gpu], longest: Duration) {
    let real = gpus.iter().filter(|gpu| !gpu.description().is_software);
    real.for_each(|gpu| gpu.limit_waits(Some(longest)));
}

impl Subdomain {
    /// Notifies the others that this one cannot continue, unless they were notified already.
    pub fn abort(&mut self, halt: &HaltReason) {
        let why = match halt {
            HaltReason::Stopped(_) | HaltReason::Elsewhere => return,
            HaltReason::Lost(why) => match self.device_beside(why) {
                Some(device) => format!("{device}: {why}"),
                None => why.clone(),
            },
            HaltReason::Unreached(why) => why.clone(),
            HaltReason::Refused(refusal) => refusal.to_string(),
        };
        through(&mut self.transport).fail(&why);
    }

    /// The reason with this subdomain and its device, if either is the cause.
    pub(super) fn named(&self, halt: HaltReason) -> HaltReason {
        match halt {
            HaltReason::Lost(why) => HaltReason::Lost(self.blamed(&why)),
            HaltReason::Stopped(mut stop) => {
                if let (StepErrorCause::Device { what }, Some(_)) = (&mut stop.cause, &self.local.backend.gpu) {
                    *what = self.blamed(what);
                }
                HaltReason::Stopped(stop)
            }
            halt => halt,
        }
    }

    /// A reason after the name of this subdomain and its device.
    fn blamed(&self, why: &str) -> String {
        let (rank, domains) = (self.rank, self.cuts.count());
        let device = self.device_beside(why).map_or_else(String::new, |device| format!(" on {device}"));
        format!("domain {rank} of {domains}{device}: {why}")
    }

    /// Its GPU, if it has one and this reason does not name it.
    fn device_beside(&self, why: &str) -> Option<String> {
        let device = self.local.backend.gpu.as_ref().map(|gpu| gpu.description().to_string());
        device.filter(|device| !why.contains(device.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::communication::CountingTransport;
    use super::*;
    use crate::gpu::search_tests::world;
    use crate::guard::StepError;
    use crate::simulation::Simulation;
    use crate::state::State;
    use crate::world::{DeviceChoice, Precision, Settings, World};
    use seixo_transport::Transport;
    use seixo_transport::{Channels, Disconnected};
    use std::sync::{Mutex, PoisonError};
    use std::time::Instant;

    /// Time within which all subdomains end.
    const SOON: Duration = Duration::from_secs(30);

    /// A transport whose link breaks after some messages.
    struct FailingLink {
        way: Box<dyn Transport>,
        left: u32,
    }

    impl FailingLink {
        fn pass(&mut self) -> Result<(), Disconnected> {
            self.left = self.left.saturating_sub(1);
            let (rank, why) = (self.way.rank(), "its cable was cut".to_owned());
            if self.left > 0 { Ok(()) } else { Err(Disconnected { rank, why }) }
        }
    }

    impl Transport for FailingLink {
        fn rank(&self) -> usize {
            self.way.rank()
        }

        fn ranks(&self) -> usize {
            self.way.ranks()
        }

        fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), Disconnected> {
            self.pass()?;
            self.way.send(to, message)
        }

        fn receive(&mut self, from: usize) -> Result<Vec<u8>, Disconnected> {
            self.pass()?;
            self.way.receive(from)
        }

        fn gather(&mut self, message: Vec<u8>) -> Result<Vec<Vec<u8>>, Disconnected> {
            self.pass()?;
            self.way.gather(message)
        }

        fn finish(&mut self) -> Result<(), Disconnected> {
            self.way.finish()
        }

        fn fail(&mut self, why: &str) {
            self.way.fail(why);
        }
    }

    /// A rod of grains that fly along its cuts.
    fn rod() -> World {
        let along = |k: u32| f64::from(k) * 1.1e-3;
        let spheres: Vec<([f64; 3], f64)> = (0..960).map(|k| ([along(k / 16), along(k / 4 % 4), along(k % 4)], 5e-4)).collect();
        let mut world = world(&spheres);
        world.grains.velocity.fill([0.0, 5.0, 0.0]);
        world
    }

    fn among(domains: usize, device: DeviceChoice) -> Settings {
        let precision = (device != DeviceChoice::Cpu).then_some(Precision::Mixed);
        Settings {
            domains,
            threads: 2,
            device,
            precision,
            ..Settings::default()
        }
    }

    /// Asserts that a simulation ends soon with an error that has these words, stays ended, and goes on from an earlier state in another one.
    #[track_caller]
    fn assert_ends(mut simulation: Simulation, words: &[&str], saved: &State) {
        let begun = Instant::now();
        let stop = simulation.advance(20_000).and_then(|()| simulation.observe()).unwrap_err();
        assert!(matches!(stop.cause, StepErrorCause::Device { .. }), "{stop}");
        let reason = stop.to_string();
        assert!(words.iter().all(|word| reason.contains(word)), "{words:?} in {reason}");
        assert!(simulation.observe().is_err() && simulation.advance(1).is_err());
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        let mut again = Simulation::restore(rod(), among(1, DeviceChoice::Cpu), saved).unwrap();
        again.advance(5).unwrap();
        assert_eq!(again.len(), 960);
    }

    #[test]
    fn a_link_that_breaks_ends_all_domains_with_the_reason() {
        let places = [DeviceChoice::Cpu, DeviceChoice::Gpu(None)].map(|device| [1, 20].map(|after| (device, after)));
        for (device, after) in places.into_iter().flatten() {
            let mut simulation = Simulation::new(rod(), among(3, device)).unwrap();
            simulation.advance(5).unwrap();
            let saved = simulation.save().unwrap();
            let domain = &mut simulation.subdomains.as_mut().unwrap().domains[1];
            let none = Box::new(Channels::all(1).remove(0));
            let way = std::mem::replace(&mut domain.transport, Mutex::new(CountingTransport::new(none)));
            let way = Box::new(way.into_inner().unwrap_or_else(PoisonError::into_inner));
            let link = FailingLink { way, left: after };
            domain.transport = Mutex::new(CountingTransport::new(Box::new(link)));
            assert_ends(simulation, &["domain 1 cannot be reached", "its cable was cut"], &saved);
        }
    }

    #[test]
    fn a_device_without_memory_ends_all_domains_with_the_reason() {
        let mut simulation = Simulation::new(rod(), among(2, DeviceChoice::Gpu(None))).unwrap();
        simulation.advance(5).unwrap();
        let saved = simulation.save().unwrap();
        let domains = &simulation.subdomains.as_ref().unwrap().domains;
        let gpu = domains[0].local.backend.gpu.clone().unwrap();
        gpu.fail_allocation(1);
        let name = gpu.description().name.clone();
        assert_ends(simulation, &["domain ", " of 2: ", &name, "no memory left"], &saved);
    }

    #[test]
    fn a_device_that_fails_in_an_observation_ends_all_domains() {
        for observe in [Simulation::observe, Simulation::observe_ledger] {
            let mut simulation = Simulation::new(rod(), among(2, DeviceChoice::Gpu(None))).unwrap();
            simulation.advance(5).unwrap();
            let local = &mut simulation.subdomains.as_mut().unwrap().domains[1].local;
            local.backend.failure = Some("its memory is worn out".to_owned());
            let stop = observe(&mut simulation).unwrap_err().to_string();
            assert!(
                stop.contains("domain 1 of 2 on ") && stop.ends_with(": its memory is worn out"),
                "{stop}"
            );
            assert_eq!(stop.matches("step 5").count(), 1, "{stop}");
            assert!(simulation.subdomains.as_ref().unwrap().is_broken);
            assert!(observe(&mut simulation).is_err() && simulation.advance(1).is_err() && simulation.save().is_err());
        }
    }

    #[test]
    fn an_error_that_the_others_do_not_know_names_its_step_once() {
        let mut simulation = Simulation::new(rod(), among(1, DeviceChoice::Cpu)).unwrap();
        simulation.advance(3).unwrap();
        let populations = &simulation.whole.populations;
        let too_fast = StepError {
            grain: 7,
            affected: 2,
            cause: StepErrorCause::TooFast { moved: 2.0, limit: 1.0 },
            ..populations.failed(String::new())
        };
        for (error, words) in [(populations.failed("no power".to_owned()), "no power"), (too_fast, "grain 7 at")] {
            let message = populations.halted(HaltReason::lost(&error)).to_string();
            assert!(message == error.to_string() && message.contains(words), "{message}");
            assert_eq!(message.matches("step 3").count(), 1, "{message}");
        }
    }
}
