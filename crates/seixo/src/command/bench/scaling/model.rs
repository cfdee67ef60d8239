//! What a step costs on so many devices: docs/evidence/scaling.md has the formula, and what its terms mean.

use super::least_squares::non_negative;
use seixo_engine::Space;
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
    /// Domains beside the one that tells most.
    pub beside: usize,
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

/// What is known of a world, and of what its domains tell.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Grains of the world.
    pub grains: f64,
    /// Where they are.
    pub space: Space,
    /// The axis along which several such worlds stand side by side.
    pub row: usize,
    /// Renewals of lists in a step.
    pub renewals: f64,
    /// Waits of all for all in a step.
    pub gathers: f64,
    /// Messages in a step to a domain beside.
    pub messages: f64,
    /// Bytes in a step of what is in a cubic metre that others are told of.
    pub bytes: f64,
}

impl Reference {
    /// That of one of so many worlds side by side in a space, each of so many grains, as a step tells in which it was divided.
    pub fn of(step: &Step, grains: f64, (space, row): (Space, usize), side_by_side: usize) -> Option<Reference> {
        let borders = space.borders(step.domains)?;
        let mut one = space;
        let [low, high] = space.extent[row];
        one.extent[row] = [low, low + (high - low) / side_by_side as f64];
        Some(Reference {
            grains,
            space: one,
            row,
            renewals: step.renewals,
            gathers: step.gathers,
            messages: step.messages / borders.beside as f64,
            bytes: step.bytes / borders.told,
        })
    }

    /// The space of the world, or of as many as there are devices.
    fn space(&self, scaling: Growth, domains: usize) -> Space {
        let mut space = self.space;
        if scaling == Growth::Weak {
            let [low, high] = space.extent[self.row];
            space.extent[self.row] = [low, low + (high - low) * domains as f64];
        }
        space
    }

    /// For how many devices there is room.
    pub fn most_domains(&self) -> usize {
        self.space.most_domains()
    }

    /// A step on so many devices; none where there is no room for them.
    fn step(&self, scaling: Growth, domains: usize) -> Option<(Step, usize)> {
        let borders = self.space(scaling, domains).borders(domains)?;
        let share = match scaling {
            Growth::Strong => domains as f64,
            Growth::Weak => 1.0,
        };
        let step = Step {
            domains,
            grains: self.grains / share,
            renewals: self.renewals,
            gathers: self.gathers,
            messages: self.messages * borders.beside as f64,
            bytes: self.bytes * borders.told,
        };
        Some((step, borders.beside))
    }

    /// What to expect of so many devices; nothing where there is no room for them.
    pub fn predict(&self, costs: &Costs, scaling: Growth, domains: usize) -> Option<Predicted> {
        let (step, beside) = self.step(scaling, domains)?;
        let (alone, _) = self.step(scaling, 1)?;
        let terms = costs.terms(&step);
        let seconds = costs.seconds(&step);
        let grains = step.grains * domains as f64;
        let speed = grains / seconds;
        let largest = |terms: &[(&'static str, f64)]| terms.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let (name, longest) = largest(&terms).unwrap_or_default();
        let of_exchange = largest(&terms[OF_ONE..]).filter(|(_, seconds)| *seconds > 0.0);
        Some(Predicted {
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
            beside,
        })
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

    /// A bed that is thirty layers high, of grains 1 m apart.
    fn reference(grains: f64) -> Reference {
        let side = (grains / 30.0).sqrt();
        Reference {
            grains,
            space: Space {
                extent: [[0.0, side], [0.0, side], [0.0, 30.0]],
                reach: 1.1,
                ..Space::default()
            },
            row: 0,
            renewals: 0.05,
            gathers: 1.05,
            messages: 1.05,
            bytes: 110.0,
        }
    }

    /// What steps of such costs take, off by the shares that `noise` gives.
    fn samples(costs: &Costs, noise: impl Fn(usize) -> f64) -> Vec<Sample> {
        let mut samples = Vec::new();
        for grains in [1e6, 4e6] {
            for (scaling, domains) in [1, 2, 4, 8].into_iter().flat_map(|n| [(Growth::Strong, n), (Growth::Weak, n)]) {
                let (step, _) = reference(grains).step(scaling, domains).unwrap();
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
            let mut before = reference(1e6).predict(&KNOWN, scaling, 1).unwrap();
            assert!((before.efficiency - 1.0).abs() < 1e-12 && before.largest_of_exchange.is_none());
            for domains in [2, 4, 8, 64, 1024] {
                let now = reference(1e6).predict(&KNOWN, scaling, domains).unwrap();
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
                let found = reference(1e6).predict(&alone, scaling, domains).unwrap();
                assert!((found.efficiency - 1.0).abs() < 1e-12 && found.largest == "grains", "{found:?}");
            }
        }
    }

    #[test]
    fn the_largest_term_is_named() {
        let slow = Costs { byte: 1e-7, ..KNOWN };
        let found = reference(1e6).predict(&slow, Growth::Strong, 64).unwrap();
        assert_eq!((found.largest, found.largest_of_exchange), ("bytes", Some("bytes")));
        let found = reference(1e6).predict(&KNOWN, Growth::Weak, 64).unwrap();
        assert_eq!(found.largest, "grains");
        assert!(found.share > found.share_of_exchange && found.share + found.share_of_exchange < 1.0);
        // 27 layers of 165 times 165 blocks.
        let most = reference(1e6).most_domains();
        assert_eq!(most, 27 * 165 * 165);
        assert!(reference(1e6).predict(&KNOWN, Growth::Strong, most + 1).is_none());
    }

    #[test]
    fn slabs_tell_as_much_as_before_and_blocks_less() {
        let reference = reference(1e6);
        let told = |domains: usize| reference.step(Growth::Strong, domains).unwrap();
        // A slab of a square of 183 m is told of along one side, or two: 1.1 m deep and 30 m high.
        let border = 110.0 * 1.1 * 30.0 * (1e6f64 / 30.0).sqrt();
        for (domains, sides) in [(2, 1), (4, 2), (16, 2)] {
            let (step, beside) = told(domains);
            assert_eq!(beside, sides);
            assert!(
                (step.bytes / border - sides as f64).abs() < 1e-9,
                "{domains}: {} {border}",
                step.bytes
            );
        }
        let (step, beside) = told(64);
        assert!(beside > 2 && step.bytes < border, "{beside} {} {border}", step.bytes);
        // What is known of two worlds side by side is known of one.
        let (step, _) = reference.step(Growth::Weak, 2).unwrap();
        let again = Reference::of(&step, 1e6, (reference.space(Growth::Weak, 2), 0), 2).unwrap();
        assert_eq!(again.space, reference.space);
        assert!((again.bytes / reference.bytes - 1.0).abs() < 1e-12 && (again.messages / reference.messages - 1.0).abs() < 1e-12);
    }
}
