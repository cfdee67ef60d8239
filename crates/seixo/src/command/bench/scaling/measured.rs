//! What was measured on so many devices: a line of the table, and of the JSON that a model is made of.

use super::kind::Kind;
use super::model::{Growth, Sample, Step};
use crate::say;
use seixo_engine::Space;
use serde::{Deserialize, Serialize};

/// What was measured on so many devices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Version of the program.
    pub version: String,
    pub case: String,
    pub scaling: Growth,
    pub device: String,
    pub precision: String,
    /// Threads of each domain, on the CPU only.
    pub threads: Option<usize>,
    /// Domains, each on a device of its own where these are GPUs.
    pub domains: usize,
    /// Whether sums do not depend on the number of domains; they may on one only.
    pub divisible: bool,
    /// Grains, or particles of water, that were asked for: in all, or on each device.
    pub particles: usize,
    /// Where there was anything to be divided \[m\], and from which distance on it feels nothing of each other \[m\]; on one device nothing is divided.
    pub extent: [[f64; 2]; 3],
    pub periodic: [bool; 3],
    pub reach: f64,
    /// Grains, or particles of water, in all.
    pub grains: usize,
    /// Steps of each measurement.
    pub steps: u64,
    /// Seconds of every measurement, in the order in which they were taken.
    pub measurements: Vec<f64>,
    /// The median of these, over their steps.
    pub seconds_per_step: f64,
    pub grain_steps_per_second: f64,
    pub slowest: f64,
    pub fastest: f64,
    pub grain_steps_per_second_and_device: f64,
    /// The same over that of one device.
    pub efficiency: Option<f64>,
    pub renewals_per_step: f64,
    /// Share of the time in which one device made lists.
    pub renewing: Option<f64>,
    /// Share of the time in which domains told each other and waited, on average.
    pub exchanging: f64,
    /// That of the domain that waited least, since it had most to do.
    pub least_exchanging: f64,
    /// What the busiest domain tells those beside it in a step.
    pub messages_per_step: f64,
    pub bytes_per_step: f64,
    /// How often all domains wait for each other in a step.
    pub gathers_per_step: f64,
}

impl Measured {
    /// What was measured where, which measurements must have in common for a model to be made of them.
    pub fn title(&self) -> String {
        let threads = self
            .threads
            .map_or(String::new(), |threads| format!(", {} a domain", say::many(threads, "thread")));
        format!(
            "{} · {} ({}{threads}) · version {}",
            self.case, self.device, self.precision, self.version
        )
    }

    /// What a model makes of it.
    pub fn sample(&self) -> Sample {
        let exchanging = self.least_exchanging * self.seconds_per_step;
        Sample {
            step: Step {
                domains: self.domains,
                grains: self.grains as f64 / self.domains.max(1) as f64,
                renewals: self.renewals_per_step,
                gathers: self.gathers_per_step,
                messages: self.messages_per_step,
                bytes: self.bytes_per_step,
            },
            working: self.seconds_per_step - exchanging,
            exchanging,
            renewing: self.renewing.map(|share| share * self.seconds_per_step),
        }
    }

    /// What was divided.
    pub fn space(&self) -> Space {
        Space {
            extent: self.extent,
            periodic: self.periodic,
            flow: None,
            reach: self.reach,
        }
    }

    /// What it is made of.
    pub fn particle(&self) -> &'static str {
        Kind::of(&self.case).map_or("particle", Kind::particle)
    }

    /// The heads of the columns.
    pub fn heads(&self) -> String {
        let particle = self.particle();
        line([
            "domains",
            &format!("{particle}s"),
            &format!("{particle}-steps/s"),
            "slowest to fastest",
            "per domain",
            "efficiency",
            "exchanging",
            "told a step",
        ])
    }

    /// Its line of the table.
    pub fn line(&self) -> String {
        let is_divided = self.domains > 1;
        let domains = match (is_divided, self.divisible) {
            (true, _) => self.domains.to_string(),
            (false, true) => "1".to_owned(),
            (false, false) => "whole".to_owned(),
        };
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let speed = |number: f64| say::scaled(number, "");
        let [exchanging, told] = if is_divided {
            [percent(self.exchanging), say::scaled(self.bytes_per_step, "B")]
        } else {
            [String::new(), String::new()]
        };
        line([
            &domains,
            &say::count(self.grains as u64),
            &speed(self.grain_steps_per_second),
            &format!("{} to {}", speed(self.slowest).trim_end(), speed(self.fastest).trim_end()),
            &speed(self.grain_steps_per_second_and_device),
            &self.efficiency.map_or(String::new(), percent),
            &exchanging,
            &told,
        ])
    }
}

/// A line of the table.
fn line(cells: [&str; 8]) -> String {
    let [domains, grains, speed, range, each, efficiency, exchanging, told] = cells;
    let text = format!("{domains:>7}  {grains:>13}  {speed:>13}  {range:>20}  {each:>10}  {efficiency:>10}  {exchanging:>10}  {told:>11}");
    text.trim_end().to_owned()
}
