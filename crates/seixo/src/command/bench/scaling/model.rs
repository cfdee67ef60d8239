//! Model of the time of a step on a number of devices; docs/evidence/scaling.md gives the formula and the meaning of its terms.

use super::least_squares::non_negative;
use seixo_engine::PartitionExtent;
use serde::{Deserialize, Serialize};

/// Work of the busiest device in a step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Number of devices, with one subdomain each.
    pub domains: usize,
    /// Number of grains on each device.
    pub grains: f64,
    /// Number of rebuilds of neighbor lists.
    pub rebuilds: f64,
    /// Number of global reductions.
    pub collectives: f64,
    /// Number of messages to neighbors.
    pub messages: f64,
    /// Bytes of these messages.
    pub bytes: f64,
}

/// Work and wall time of a step.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Work of the step.
    pub step: Step,
    /// Time of computation \[s\].
    pub working: f64,
    /// Time of communication, with waiting \[s\].
    pub exchanging: f64,
    /// Part of the computation in which lists were rebuilt \[s\], if it is known.
    pub rebuilding: Option<f64>,
}

/// Costs of the terms of the model \[s\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Costs {
    /// A step of one grain.
    pub grain: f64,
    /// A rebuild of lists, per grain.
    pub rebuild: f64,
    /// Extra time of a step of a subdomain compared with an undecomposed world, independent of its number of grains.
    pub domain: f64,
    /// A global reduction, per doubling of the number of devices.
    pub collective: f64,
    /// A message.
    pub message: f64,
    /// A byte of a message.
    pub byte: f64,
}

/// Comparison of several devices with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// Same total number of grains.
    Strong,
    /// Same number of grains on each device.
    Weak,
}

/// Prediction for a number of devices.
#[derive(Debug, Serialize)]
pub struct Predicted {
    pub scaling: Growth,
    pub domains: usize,
    /// Total number of grains.
    pub grains: f64,
    pub seconds_per_step: f64,
    pub grain_steps_per_second: f64,
    pub efficiency: f64,
    /// Name and share of the longest term of the step.
    pub largest: &'static str,
    pub share: f64,
    /// Longest term of the communication; none on one device.
    pub largest_of_exchange: Option<&'static str>,
    pub share_of_exchange: f64,
    /// Number of neighbors of the subdomain with the largest halo exchange.
    pub beside: usize,
}

/// Number of doublings from 1 to `domains`.
fn doublings(domains: usize) -> f64 {
    (domains as f64).log2()
}

/// 1 with several subdomains, else 0.
fn is_decomposed(domains: usize) -> f64 {
    if domains > 1 { 1.0 } else { 0.0 }
}

impl Growth {
    /// Name of the scaling.
    pub fn name(self) -> &'static str {
        match self {
            Growth::Strong => "strong",
            Growth::Weak => "weak",
        }
    }
}

impl Costs {
    /// Fits the costs to samples. If samples cannot separate two terms, one of the terms gets the whole time.
    pub fn fit(samples: &[Sample]) -> Costs {
        let rebuilding = samples.iter().filter_map(|sample| {
            let Step { grains, rebuilds, .. } = sample.step;
            sample.rebuilding.map(|seconds| ([rebuilds * grains], seconds))
        });
        let [rebuild] = non_negative(&rebuilding.collect::<Vec<_>>());
        let working = samples.iter().map(|sample| {
            let Step {
                grains, rebuilds, domains, ..
            } = sample.step;
            ([grains, is_decomposed(domains)], sample.working - rebuild * rebuilds * grains)
        });
        let [grain, domain] = non_negative(&working.collect::<Vec<_>>());
        let decomposed = samples.iter().filter(|sample| sample.step.domains > 1);
        let exchanging = decomposed.map(|sample| {
            let step = sample.step;
            let row = [step.collectives * doublings(step.domains), step.messages, step.bytes];
            (row, sample.exchanging)
        });
        let [collective, message, byte] = non_negative(&exchanging.collect::<Vec<_>>());
        Costs {
            grain,
            rebuild,
            domain,
            collective,
            message,
            byte,
        }
    }

    /// Returns names and times \[s\] of the terms of a step; the first terms are those of a single device.
    pub fn terms(&self, step: &Step) -> [(&'static str, f64); 6] {
        [
            ("grains", self.grain * step.grains),
            ("rebuilds", self.rebuild * step.rebuilds * step.grains),
            ("domain", self.domain * is_decomposed(step.domains)),
            ("waiting for all", self.collective * step.collectives * doublings(step.domains)),
            ("messages", self.message * step.messages),
            ("bytes", self.byte * step.bytes),
        ]
    }

    /// Returns the time of a step \[s\].
    pub fn seconds(&self, step: &Step) -> f64 {
        self.terms(step).iter().map(|(_, seconds)| seconds).sum()
    }

    /// Returns the largest relative error of the model \[-\].
    pub fn deviation(&self, samples: &[Sample]) -> f64 {
        let off = |sample: &Sample| (self.seconds(&sample.step) / (sample.working + sample.exchanging) - 1.0).abs();
        samples.iter().map(off).fold(0.0, f64::max)
    }
}

/// Number of terms on a single device.
const OF_ONE: usize = 2;

/// A world and its communication, from which steps on other numbers of devices are predicted.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Number of grains of the world.
    pub grains: f64,
    /// Extent of the grains.
    pub space: PartitionExtent,
    /// Axis along which several such worlds stand side by side.
    pub row: usize,
    /// Rebuilds of lists per step.
    pub rebuilds: f64,
    /// Global reductions per step.
    pub collectives: f64,
    /// Messages per step and neighbor.
    pub messages: f64,
    /// Bytes per step and cubic meter of halo.
    pub bytes: f64,
}

impl Reference {
    /// Derives a single world from a decomposed step of `side_by_side` such worlds, each with `grains` grains.
    pub fn of(step: &Step, grains: f64, (space, row): (PartitionExtent, usize), side_by_side: usize) -> Option<Reference> {
        let borders = space.borders(step.domains)?;
        let mut one = space;
        let [low, high] = space.extent[row];
        one.extent[row] = [low, low + (high - low) / side_by_side as f64];
        Some(Reference {
            grains,
            space: one,
            row,
            rebuilds: step.rebuilds,
            collectives: step.collectives,
            messages: step.messages / borders.beside as f64,
            bytes: step.bytes / borders.reported,
        })
    }

    /// Returns the extent of the world, or in weak scaling of one world per device.
    fn space(&self, scaling: Growth, domains: usize) -> PartitionExtent {
        let mut space = self.space;
        if scaling == Growth::Weak {
            let [low, high] = space.extent[self.row];
            space.extent[self.row] = [low, low + (high - low) * domains as f64];
        }
        space
    }

    /// Returns the largest possible number of devices.
    pub fn most_domains(&self) -> usize {
        self.space.most_domains()
    }

    /// Returns the step on `domains` devices and the number of neighbors; `None` if the space is too small for them.
    fn step(&self, scaling: Growth, domains: usize) -> Option<(Step, usize)> {
        let borders = self.space(scaling, domains).borders(domains)?;
        let share = match scaling {
            Growth::Strong => domains as f64,
            Growth::Weak => 1.0,
        };
        let step = Step {
            domains,
            grains: self.grains / share,
            rebuilds: self.rebuilds,
            collectives: self.collectives,
            messages: self.messages * borders.beside as f64,
            bytes: self.bytes * borders.reported,
        };
        Some((step, borders.beside))
    }

    /// Predicts the scaling to `domains` devices; `None` if the space is too small for them.
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
        rebuild: 4e-9,
        domain: 5e-5,
        collective: 4e-6,
        message: 7e-6,
        byte: 8e-11,
    };

    /// A bed of thirty layers with a grain spacing of 1 m.
    fn reference(grains: f64) -> Reference {
        let side = (grains / 30.0).sqrt();
        Reference {
            grains,
            space: PartitionExtent {
                extent: [[0.0, side], [0.0, side], [0.0, 30.0]],
                reach: 1.1,
                ..PartitionExtent::default()
            },
            row: 0,
            rebuilds: 0.05,
            collectives: 1.05,
            messages: 1.05,
            bytes: 110.0,
        }
    }

    /// Returns steps with these costs, with relative errors given by `noise`.
    fn samples(costs: &Costs, noise: impl Fn(usize) -> f64) -> Vec<Sample> {
        let mut samples = Vec::new();
        for grains in [1e6, 4e6] {
            for (scaling, domains) in [1, 2, 4, 8].into_iter().flat_map(|n| [(Growth::Strong, n), (Growth::Weak, n)]) {
                let (step, _) = reference(grains).step(scaling, domains).unwrap();
                let [grains, lists, domain, collective, message, byte] = costs.terms(&step).map(|(_, seconds)| seconds);
                let k = samples.len();
                samples.push(Sample {
                    step,
                    working: (grains + lists + domain) * (1.0 + noise(2 * k)),
                    exchanging: (collective + message + byte) * (1.0 + noise(2 * k + 1)),
                    rebuilding: (domains == 1).then_some(lists),
                });
            }
        }
        samples
    }

    fn all(costs: &Costs) -> [f64; 6] {
        [
            costs.grain,
            costs.rebuild,
            costs.domain,
            costs.collective,
            costs.message,
            costs.byte,
        ]
    }

    #[test]
    fn known_costs_are_found() {
        let exact = samples(&KNOWN, |_| 0.0);
        let found = Costs::fit(&exact);
        for (found, known) in all(&found).iter().zip(all(&KNOWN)) {
            assert!((found / known - 1.0).abs() < 1e-8, "{found:e} {known:e}");
        }
        assert!(found.deviation(&exact) < 1e-10);
        // Errors of 1 % in the times hardly change the large terms.
        let noisy = samples(&KNOWN, |k| 0.01 * (1.7 * k as f64).sin());
        let found = Costs::fit(&noisy);
        assert!(
            (found.grain / KNOWN.grain - 1.0).abs() < 0.03 && (found.rebuild / KNOWN.rebuild - 1.0).abs() < 0.03,
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
    fn without_others_to_report_nothing_is_lost() {
        let alone = Costs {
            domain: 0.0,
            collective: 0.0,
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
        // 27 layers of 165 × 165 blocks.
        let most = reference(1e6).most_domains();
        assert_eq!(most, 27 * 165 * 165);
        assert!(reference(1e6).predict(&KNOWN, Growth::Strong, most + 1).is_none());
    }

    #[test]
    fn slabs_report_as_much_as_before_and_blocks_less() {
        let reference = reference(1e6);
        let reported = |domains: usize| reference.step(Growth::Strong, domains).unwrap();
        // The halo is a slab, 1.1 m deep, 183 m long and 30 m high, on one or two sides.
        let border = 110.0 * 1.1 * 30.0 * (1e6f64 / 30.0).sqrt();
        for (domains, sides) in [(2, 1), (4, 2), (16, 2)] {
            let (step, beside) = reported(domains);
            assert_eq!(beside, sides);
            assert!(
                (step.bytes / border - sides as f64).abs() < 1e-9,
                "{domains}: {} {border}",
                step.bytes
            );
        }
        let (step, beside) = reported(64);
        assert!(beside > 2 && step.bytes < border, "{beside} {} {border}", step.bytes);
        // The reference of two worlds side by side is that of one.
        let (step, _) = reference.step(Growth::Weak, 2).unwrap();
        let again = Reference::of(&step, 1e6, (reference.space(Growth::Weak, 2), 0), 2).unwrap();
        assert_eq!(again.space, reference.space);
        assert!((again.bytes / reference.bytes - 1.0).abs() < 1e-12 && (again.messages / reference.messages - 1.0).abs() < 1e-12);
    }
}
