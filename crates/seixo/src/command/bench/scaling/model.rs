//! What a step costs on so many devices: docs/scaling.md has the formula, and what its terms mean.

use super::least_squares::non_negative;
use serde::{Deserialize, Serialize};

/// What is done in a step on the busiest device.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Devices, with a domain each.
    pub domains: usize,
    /// Grains on each.
    pub grains: f64,
    /// Renewals of lists.
    pub renewals: f64,
    /// Waits of all for all.
    pub gathers: f64,
    /// Messages to those beside it.
    pub messages: f64,
    /// Bytes of these.
    pub bytes: f64,
}

/// How long a step took.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// What was done in it.
    pub step: Step,
    /// Time at work \[s\].
    pub working: f64,
    /// Time of telling others, and of waiting for them \[s\].
    pub exchanging: f64,
    /// Of the time at work, that in which lists were made \[s\], where it is known.
    pub renewing: Option<f64>,
}

/// What everything costs \[s\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Costs {
    /// A step of a grain.
    pub grain: f64,
    /// A renewal of lists, a grain.
    pub renewal: f64,
    /// What a step of a domain takes longer than one of a whole world, however few its grains are.
    pub domain: f64,
    /// A wait of all for all, each time that they are twice as many.
    pub gather: f64,
    /// A message.
    pub message: f64,
    /// A byte of it.
    pub byte: f64,
}

/// How a number of devices compares with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// As many grains in all.
    Strong,
    /// As many grains on each.
    Weak,
}

/// What to expect of so many devices.
#[derive(Debug, Serialize)]
pub struct Predicted {
    pub scaling: Growth,
    pub domains: usize,
    /// In all.
    pub grains: f64,
    pub seconds_per_step: f64,
    pub grain_steps_per_second: f64,
    pub efficiency: f64,
    /// The longest term of the step, and its share.
    pub largest: &'static str,
    pub share: f64,
    /// The longest of those terms that one device does not have; none on one device.
    pub largest_of_exchange: Option<&'static str>,
    pub share_of_exchange: f64,
    /// Whether slabs are as wide as they must be.
    pub has_room: bool,
}

/// How many domains are beside the busiest of so many slabs.
pub fn sides(domains: usize) -> f64 {
    domains.saturating_sub(1).min(2) as f64
}

/// How often a number doubles from one on.
fn doublings(domains: usize) -> f64 {
    (domains as f64).log2()
}

/// One where there are several domains.
fn is_divided(domains: usize) -> f64 {
    if domains > 1 { 1.0 } else { 0.0 }
}

impl Growth {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Growth::Strong => "strong",
            Growth::Weak => "weak",
        }
    }
}

impl Costs {
    /// What these steps tell of them. Terms that samples do not tell apart go to one of these.
    pub fn fit(samples: &[Sample]) -> Costs {
        let renewing = samples.iter().filter_map(|sample| {
            let Step { grains, renewals, .. } = sample.step;
            sample.renewing.map(|seconds| ([renewals * grains], seconds))
        });
        let [renewal] = non_negative(&renewing.collect::<Vec<_>>());
        let working = samples.iter().map(|sample| {
            let Step {
                grains, renewals, domains, ..
            } = sample.step;
            ([grains, is_divided(domains)], sample.working - renewal * renewals * grains)
        });
        let [grain, domain] = non_negative(&working.collect::<Vec<_>>());
        let divided = samples.iter().filter(|sample| sample.step.domains > 1);
        let exchanging = divided.map(|sample| {
            let step = sample.step;
            let row = [step.gathers * doublings(step.domains), step.messages, step.bytes];
            (row, sample.exchanging)
        });
        let [gather, message, byte] = non_negative(&exchanging.collect::<Vec<_>>());
        Costs {
            grain,
            renewal,
            domain,
            gather,
            message,
            byte,
        }
    }

    /// The terms of the time that a step takes, with their names \[s\]; those that one device has come first.
    pub fn terms(&self, step: &Step) -> [(&'static str, f64); 6] {
        [
            ("grains", self.grain * step.grains),
            ("lists", self.renewal * step.renewals * step.grains),
            ("domain", self.domain * is_divided(step.domains)),
            ("waiting for all", self.gather * step.gathers * doublings(step.domains)),
            ("messages", self.message * step.messages),
            ("bytes", self.byte * step.bytes),
        ]
    }

    /// The time that a step takes \[s\].
    pub fn seconds(&self, step: &Step) -> f64 {
        self.terms(step).iter().map(|(_, seconds)| seconds).sum()
    }

    /// By how much the model is off where it is off most \[-\].
    pub fn deviation(&self, samples: &[Sample]) -> f64 {
        let off = |sample: &Sample| (self.seconds(&sample.step) / (sample.working + sample.exchanging) - 1.0).abs();
        samples.iter().map(off).fold(0.0, f64::max)
    }
}

/// Number of the terms that one device has.
const OF_ONE: usize = 2;

/// What is known of the steps of a world on one device, and of each border that it is cut along.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Grains of the world.
    pub grains: f64,
    /// Renewals of lists in a step.
    pub renewals: f64,
    /// Waits of all for all in a step.
    pub gathers: f64,
    /// Messages in a step to a domain beside.
    pub messages: f64,
    /// Bytes of these.
    pub bytes: f64,
    /// Domains that the world has room for.
    pub most_domains: usize,
}

impl Reference {
    /// That of a world of so many grains, as a step tells in which it was divided.
    pub fn of(step: &Step, grains: f64, most_domains: usize) -> Reference {
        Reference {
            grains,
            renewals: step.renewals,
            gathers: step.gathers,
            messages: step.messages / sides(step.domains),
            bytes: step.bytes / sides(step.domains),
            most_domains,
        }
    }

    /// A step on so many devices. The cross-section stays, and with it what is told at a border.
    fn step(&self, scaling: Growth, domains: usize) -> Step {
        let share = match scaling {
            Growth::Strong => domains as f64,
            Growth::Weak => 1.0,
        };
        Step {
            domains,
            grains: self.grains / share,
            renewals: self.renewals,
            gathers: self.gathers,
            messages: self.messages * sides(domains),
            bytes: self.bytes * sides(domains),
        }
    }

    /// What to expect of so many devices.
    pub fn predict(&self, costs: &Costs, scaling: Growth, domains: usize) -> Predicted {
        let step = self.step(scaling, domains);
        let terms = costs.terms(&step);
        let seconds = costs.seconds(&step);
        let grains = step.grains * domains as f64;
        let speed = grains / seconds;
        let alone = self.step(scaling, 1);
        let largest = |terms: &[(&'static str, f64)]| terms.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let (name, longest) = largest(&terms).unwrap_or_default();
        let of_exchange = largest(&terms[OF_ONE..]).filter(|(_, seconds)| *seconds > 0.0);
        Predicted {
            scaling,
            domains,
            grains,
            seconds_per_step: seconds,
            grain_steps_per_second: speed,
            efficiency: speed / domains as f64 / (alone.grains / costs.seconds(&alone)),
            largest: name,
            share: longest / seconds,
            largest_of_exchange: of_exchange.map(|(name, _)| name),
            share_of_exchange: of_exchange.map_or(0.0, |(_, longest)| longest / seconds),
            has_room: scaling == Growth::Weak || domains <= self.most_domains,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Costs = Costs {
        grain: 6e-10,
        renewal: 4e-9,
        domain: 5e-5,
        gather: 4e-6,
        message: 7e-6,
        byte: 8e-11,
    };

    fn reference(grains: f64) -> Reference {
        Reference {
            grains,
            renewals: 0.05,
            gathers: 1.05,
            messages: 1.05,
            // A border of a bed that is thirty layers high.
            bytes: 2.0 * 60.0 * (30.0 * grains).sqrt(),
            most_domains: (grains / 30.0).sqrt() as usize,
        }
    }

    /// What steps of such costs take, off by the shares that `noise` gives.
    fn samples(costs: &Costs, noise: impl Fn(usize) -> f64) -> Vec<Sample> {
        let mut samples = Vec::new();
        for grains in [1e6, 4e6] {
            for (scaling, domains) in [1, 2, 4, 8].into_iter().flat_map(|n| [(Growth::Strong, n), (Growth::Weak, n)]) {
                let step = reference(grains).step(scaling, domains);
                let [grains, lists, domain, gather, message, byte] = costs.terms(&step).map(|(_, seconds)| seconds);
                let k = samples.len();
                samples.push(Sample {
                    step,
                    working: (grains + lists + domain) * (1.0 + noise(2 * k)),
                    exchanging: (gather + message + byte) * (1.0 + noise(2 * k + 1)),
                    renewing: (domains == 1).then_some(lists),
                });
            }
        }
        samples
    }

    fn all(costs: &Costs) -> [f64; 6] {
        [costs.grain, costs.renewal, costs.domain, costs.gather, costs.message, costs.byte]
    }

    #[test]
    fn known_costs_are_found() {
        let exact = samples(&KNOWN, |_| 0.0);
        let found = Costs::fit(&exact);
        for (found, known) in all(&found).iter().zip(all(&KNOWN)) {
            assert!((found / known - 1.0).abs() < 1e-8, "{found:e} {known:e}");
        }
        assert!(found.deviation(&exact) < 1e-10);
        // Clocks that are off by a percent here and there move what is large by little.
        let noisy = samples(&KNOWN, |k| 0.01 * (1.7 * k as f64).sin());
        let found = Costs::fit(&noisy);
        assert!(
            (found.grain / KNOWN.grain - 1.0).abs() < 0.03 && (found.renewal / KNOWN.renewal - 1.0).abs() < 0.03,
            "{found:?}"
        );
        assert!(
            found.deviation(&noisy) < 0.05 && all(&found).iter().all(|cost| *cost >= 0.0),
            "{found:?}"
        );
    }

    #[test]
    fn what_costs_nothing_is_not_found() {
        let free = Costs {
            domain: 0.0,
            message: 0.0,
            ..KNOWN
        };
        let found = Costs::fit(&samples(&free, |_| 0.0));
        assert!(
            found.domain < 1e-9 * KNOWN.domain && found.message < 1e-9 * KNOWN.message,
            "{found:?}"
        );
        assert!((found.byte / KNOWN.byte - 1.0).abs() < 1e-6, "{found:?}");
        assert_eq!(Costs::fit(&[]), Costs::default());
    }

    #[test]
    fn more_devices_are_never_more_efficient() {
        for scaling in [Growth::Strong, Growth::Weak] {
            let mut before = reference(1e6).predict(&KNOWN, scaling, 1);
            assert!((before.efficiency - 1.0).abs() < 1e-12 && before.largest_of_exchange.is_none());
            for domains in [2, 3, 4, 8, 64, 1024] {
                let now = reference(1e6).predict(&KNOWN, scaling, domains);
                assert!(now.efficiency < before.efficiency, "{scaling:?}: {now:?}");
                let is_longer = now.seconds_per_step > before.seconds_per_step;
                assert!(is_longer || scaling == Growth::Strong, "{now:?}");
                before = now;
            }
        }
    }

    #[test]
    fn without_others_to_tell_nothing_is_lost() {
        let alone = Costs {
            domain: 0.0,
            gather: 0.0,
            message: 0.0,
            byte: 0.0,
            ..KNOWN
        };
        for scaling in [Growth::Strong, Growth::Weak] {
            for domains in [1, 2, 64, 1024] {
                let found = reference(1e6).predict(&alone, scaling, domains);
                assert!((found.efficiency - 1.0).abs() < 1e-12 && found.largest == "grains", "{found:?}");
            }
        }
    }

    #[test]
    fn the_largest_term_is_named() {
        let slow = Costs { byte: 1e-7, ..KNOWN };
        let found = reference(1e6).predict(&slow, Growth::Strong, 64);
        assert_eq!((found.largest, found.largest_of_exchange), ("bytes", Some("bytes")));
        let found = reference(1e6).predict(&KNOWN, Growth::Weak, 64);
        assert_eq!((found.largest, found.largest_of_exchange), ("grains", Some("bytes")));
        assert!(found.share > found.share_of_exchange && found.share + found.share_of_exchange < 1.0);
        assert!(found.has_room && !reference(1e6).predict(&KNOWN, Growth::Strong, 1024).has_room);
    }
}
