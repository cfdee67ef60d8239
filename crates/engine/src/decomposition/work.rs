//! Work of a subdomain for particles of one kind: its measured time, and the rule by which planes move for it.
//!
//! Clocks decide only where planes are. Particles have the same bits for any planes. All subdomains decide alike, as each has the loads of all.
//!
//! Planes rest unless it pays to move them. They move if a block needs 5 % more than its share of the time, at most once in ten rebuilds, and only if
//! the step gains more time until they may move again than a rebuild with moving planes takes longer than others. Both are measured.

use super::load_balancing::{Load, LoadSample};
use super::partition::Partition;
use crate::world::LoadBalance;
use std::time::{Duration, Instant};

/// Weight of earlier measurements beside a new one \[-\].
const KEPT: f64 = 0.75;

/// Number of rebuilds for which planes rest at least.
const REST: u32 = 10;

/// On GPUs, the work of a step is measured after each rebuild with a multiple of this number since planes moved, as the host waits for it.
const MEASURED_EVERY: u32 = 4;

/// A ratio of two sums in which earlier measurements count less.
#[derive(Clone, Copy, Debug, Default)]
struct Smoothed {
    above: f64,
    below: f64,
}

impl Smoothed {
    fn add(&mut self, above: f64, below: f64) {
        (self.above, self.below) = (KEPT * self.above + above, KEPT * self.below + below);
    }

    /// The ratio; `None` before the first measurement.
    fn value(&self) -> Option<f64> {
        (self.below > 0.0).then(|| self.above / self.below)
    }
}

/// Work of a subdomain for particles of one kind, and how often planes moved.
#[derive(Clone, Debug)]
pub struct Work {
    by: LoadBalance,
    /// Work time since the last rebuild \[s\], and number of steps in which it was measured.
    time: f64,
    measured: u32,
    /// Time of a particle in a step \[s\].
    cost: Smoothed,
    /// Step of the last rebuild, and number of steps between two.
    rebuilt_at: u64,
    between: Smoothed,
    /// Time of a rebuild while planes rest, and while they move \[s\].
    resting: Smoothed,
    moving: Smoothed,
    /// Number of rebuilds since planes moved, whether they moved in the last one, and how often they moved.
    rested: u32,
    has_moved: bool,
    moves: u64,
    /// Time of a particle in a step, in place of the measured one \[s\].
    #[cfg(test)]
    pub assumed_cost: Option<f64>,
}

impl Work {
    /// Work from this step on.
    pub fn new(by: LoadBalance, step: u64) -> Work {
        Work {
            by,
            time: 0.0,
            measured: 0,
            cost: Smoothed::default(),
            rebuilt_at: step,
            between: Smoothed::default(),
            resting: Smoothed::default(),
            moving: Smoothed::default(),
            rested: 0,
            has_moved: false,
            moves: 0,
            #[cfg(test)]
            assumed_cost: None,
        }
    }

    /// Adds the work time of a step.
    pub fn add(&mut self, time: Duration) {
        self.time += time.as_secs_f64();
        self.measured += 1;
    }

    /// Whether the host should wait for a GPU to measure its next step. Not at first, when kernels are compiled.
    pub fn needs_measurement(&self) -> bool {
        self.by == LoadBalance::Time && self.measured == 0 && self.rested > 0 && self.rested.is_multiple_of(MEASURED_EVERY)
    }

    /// Time of a particle in a step \[s\]; 0 if it was not measured.
    pub fn cost(&self) -> f64 {
        #[cfg(test)]
        if let Some(cost) = self.assumed_cost {
            return cost;
        }
        self.cost.value().unwrap_or(0.0)
    }

    /// Whether planes moved in this rebuild.
    pub fn have_planes_moved(&self) -> bool {
        self.has_moved
    }

    /// How often planes moved since the last call.
    pub fn take_moves(&mut self) -> u64 {
        std::mem::take(&mut self.moves)
    }

    /// The load at a rebuild at this step, with the number of particles since the last one. To be called once in each rebuild.
    pub fn load(&mut self, particles: usize, step: u64) -> Load {
        let particles = particles as f64;
        if self.measured > 0 && particles > 0.0 {
            self.cost.add(self.time, f64::from(self.measured) * particles);
        }
        self.between.add(step.saturating_sub(self.rebuilt_at) as f64, 1.0);
        (self.time, self.measured, self.rebuilt_at) = (0.0, 0, step);
        self.rested = self.rested.saturating_add(1);
        self.has_moved = false;
        let resting = self.resting.value().unwrap_or(0.0);
        Load {
            particles,
            cost: self.cost(),
            steps: self.between.value().unwrap_or(0.0),
            // Until planes have moved, that is expected to take as long again as the rest of a rebuild.
            moving: self.moving.value().map_or(resting, |moving| (moving - resting).max(0.0)),
        }
    }

    /// Adds the time of a rebuild, with all waits.
    pub fn rebuilt(&mut self, time: Duration) {
        let kind = if self.has_moved { &mut self.moving } else { &mut self.resting };
        kind.add(time.as_secs_f64(), 1.0);
    }

    /// Whether planes may move, given the loads of all subdomains.
    pub fn may_move(&self, cuts: &Partition, loads: &[Load]) -> bool {
        match self.times(loads) {
            None => {
                let particles: Vec<f64> = loads.iter().map(|load| load.particles).collect();
                !cuts.are_balanced(&particles)
            }
            Some(times) => {
                let mean = times.iter().sum::<f64>() / times.len() as f64;
                self.rested >= REST && !cuts.are_balanced(&times) && pays(loads, largest(&times) - mean)
            }
        }
    }

    /// The partition with planes moved, given the samples of all subdomains; `None` if planes rest.
    pub fn moved(&mut self, cuts: &Partition, samples: &mut [LoadSample]) -> Option<Partition> {
        let loads: Vec<Load> = samples.iter().map(|sample| sample.load).collect();
        if !self.may_move(cuts, &loads) {
            return None;
        }
        let times = self.times(&loads);
        for (sample, time) in samples.iter_mut().zip(times.iter().flatten()) {
            sample.weight = *time;
        }
        let moved = cuts.balanced(samples)?;
        let gain = |times: &Vec<f64>| largest(times) - largest(&moved.weights_of(samples));
        if times.as_ref().is_some_and(|times| !pays(&loads, gain(times))) {
            return None;
        }
        (self.rested, self.has_moved) = (0, true);
        self.moves += 1;
        Some(moved)
    }

    /// Work time of a step of each subdomain \[s\]; `None` if planes follow the numbers of particles, or times are not known of all.
    fn times(&self, loads: &[Load]) -> Option<Vec<f64>> {
        let is_known = |load: &Load| load.particles == 0.0 || load.cost > 0.0;
        let are_known = self.by == LoadBalance::Time && loads.iter().all(is_known);
        are_known.then(|| loads.iter().map(|load| load.particles * load.cost).collect())
    }
}

/// Whether this gain in the time of a step \[s\] pays for planes that move, until they may move again.
fn pays(loads: &[Load], gain: f64) -> bool {
    let most = |of: fn(&Load) -> f64| loads.iter().map(of).fold(0.0, f64::max);
    gain * most(|load| load.steps) * f64::from(REST) > most(|load| load.moving)
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(0.0, f64::max)
}

/// Measures the work of a subdomain on CPU cores: wall time in which it neither sends nor waits for others.
pub struct WorkClock {
    since: Instant,
    waited: Duration,
}

impl WorkClock {
    /// A clock that starts now, after this much time of sending and waiting.
    pub fn started(waited: Duration) -> WorkClock {
        WorkClock {
            since: Instant::now(),
            waited,
        }
    }

    /// Work time since the start or the last call, after this much time of sending and waiting.
    pub fn lap(&mut self, waited: Duration) -> Duration {
        let now = Instant::now();
        let lap = (now - self.since).saturating_sub(waited.saturating_sub(self.waited));
        (self.since, self.waited) = (now, waited);
        lap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::search_tests::world;
    use crate::simulation::Simulation;
    use crate::world::{DeviceChoice, Settings, Vec3, World};

    /// Positions along a rod.
    fn rod() -> Vec<Vec3> {
        (0..1000u32).map(|k| [f64::from(k) * 0.01, 0.0, 0.0]).collect()
    }

    /// Samples of two subdomains of the rod, in which a particle takes these times in a step, and planes that move take this time \[s\].
    fn samples(cuts: &Partition, costs: [f64; 2], moving: f64) -> Vec<LoadSample> {
        let sample = |block: usize| {
            let own: Vec<Vec3> = rod().into_iter().filter(|place| cuts.owner(place) == block).collect();
            LoadSample::of(own.len(), &own).with_load(Load {
                particles: own.len() as f64,
                cost: costs[block],
                steps: 100.0,
                moving,
            })
        };
        [0, 1].map(sample).to_vec()
    }

    /// Planes after the rebuild with this number, with these costs; `None` if they rest.
    fn moved(by: LoadBalance, rebuilds: u32, costs: [f64; 2], moving: f64) -> Option<Partition> {
        let cuts = Partition::cut(&rod(), 2, 0.5, None).unwrap();
        let mut work = Work::new(by, 0);
        for step in 0..rebuilds {
            work.load(500, u64::from(step));
        }
        work.moved(&cuts, &mut samples(&cuts, costs, moving))
    }

    #[test]
    fn planes_move_for_time_only_if_that_pays() {
        let below = |cuts: Option<Partition>| cuts.map(|cuts| rod().iter().filter(|place| cuts.owner(&place[..]) == 0).count());
        let slow = [3e-6, 1e-6];
        // 1,000 of the 2,000 parts of the work are done by a third of the particles.
        let found = below(moved(LoadBalance::Time, REST, slow, 0.0)).unwrap();
        assert!(found.abs_diff(333) < 20, "{found}");
        // The step gains 0.5 ms in each of 1,000 steps.
        assert!(moved(LoadBalance::Time, REST, slow, 0.4).is_some());
        assert_eq!(moved(LoadBalance::Time, REST, slow, 0.6), None);
        assert_eq!(moved(LoadBalance::Time, REST - 1, slow, 0.0), None);
        assert_eq!(moved(LoadBalance::Time, REST, [1.04e-6, 1e-6], 0.0), None);
        // The numbers of particles are even.
        assert_eq!(moved(LoadBalance::Count, REST, slow, 0.0), None);
        assert_eq!(moved(LoadBalance::Time, REST, [3e-6, 0.0], 0.0), None);
    }

    #[test]
    fn the_newest_measurements_count_most() {
        let mut work = Work::new(LoadBalance::Time, 0);
        for (step, micros) in [(10, 100), (20, 100), (30, 200)] {
            work.add(Duration::from_micros(micros));
            work.load(100, step);
        }
        let expected = (0.75 * (0.75 + 1.0) + 2.0) / (0.75 * (0.75 + 1.0) + 1.0) * 1e-6;
        assert!((work.cost() - expected).abs() < 1e-12, "{}", work.cost());
        work.rebuilt(Duration::from_millis(3));
        let load = work.load(100, 40);
        assert_eq!((load.particles, load.steps), (100.0, 10.0));
        // Without any move so far, one is expected to cost as much as a rebuild.
        assert!((load.moving - 3e-3).abs() < 1e-9, "{load:?}");
    }

    /// Grains that fly along the planes between domains, so that lists are rebuilt, and no grain changes its domain without a reason.
    fn flying(count: u32) -> World {
        let along = |k: u32| f64::from(k) * 1.1e-3;
        let sphere = |k: u32| ([along(k / 50), along(k / 10 % 5), along(k % 10)], 5e-4);
        let mut world = world(&(0..count).map(sphere).collect::<Vec<([f64; 3], f64)>>());
        world.grains.velocity.fill([0.0, 10.0, 0.0]);
        world
    }

    /// Two domains of them, on this device.
    fn two(count: u32, load_balance: LoadBalance, device: DeviceChoice) -> Simulation {
        let settings = Settings {
            domains: 2,
            threads: 2,
            skin: Some(1e-4),
            load_balance,
            device,
            ..Settings::default()
        };
        Simulation::new(flying(count), settings).unwrap()
    }

    #[test]
    fn a_slow_domain_gets_fewer_grains_and_no_bit_changes() {
        let run = |load_balance: LoadBalance, costs: [f64; 2]| {
            let mut simulation = two(2000, load_balance, DeviceChoice::Cpu);
            let domains = &mut simulation.subdomains.as_mut().unwrap().domains;
            for (domain, cost) in domains.iter_mut().zip(costs) {
                domain.work.assumed_cost = Some(cost);
            }
            simulation.advance(400).unwrap();
            simulation.observe().unwrap();
            assert!(simulation.rebuilds() > 40, "{}", simulation.rebuilds());
            (simulation.decomposition().unwrap(), simulation.snapshot())
        };
        // So slow that moving planes is nothing beside it.
        let slow = [3e-3, 1e-3];
        let (even, of_even) = run(LoadBalance::Time, [1e-3; 2]);
        let (counted, of_counted) = run(LoadBalance::Count, slow);
        let (timed, of_timed) = run(LoadBalance::Time, slow);
        for resting in [even, counted] {
            assert_eq!((resting.cut_moves, resting.grains), (0, vec![1000, 1000]));
        }
        assert!(timed.cut_moves >= 2, "{timed:?}");
        assert!((400..=700).contains(&timed.grains[0]), "{timed:?}");
        assert!(timed.migrations >= 300, "{timed:?}");
        assert!(of_timed == of_counted && of_timed == of_even);
    }

    #[test]
    fn the_time_of_a_gpu_is_measured_if_no_other_domain_uses_it() {
        let mut counted = two(1000, LoadBalance::Count, DeviceChoice::Gpu(None));
        counted.advance(60).unwrap();
        counted.observe().unwrap();
        assert!(counted.rebuilds() > 8, "{}", counted.rebuilds());
        for is_own in [true, false] {
            let mut timed = two(1000, LoadBalance::Time, DeviceChoice::Gpu(None));
            let domains = &mut timed.subdomains.as_mut().unwrap().domains;
            // All are on one GPU here, so that their times are those of both.
            domains.iter_mut().for_each(|domain| domain.has_own_gpu = is_own);
            timed.advance(60).unwrap();
            timed.observe().unwrap();
            let found = timed.decomposition().unwrap();
            assert!(found.grain_work.iter().all(|time| (*time > 0.0) == is_own), "{found:?}");
            assert_eq!(found.imbalance_by_time().is_some(), is_own, "{found:?}");
            assert!(timed.snapshot() == counted.snapshot(), "{found:?}");
        }
    }
}
