//! Measurement on a number of devices: a line of the table, and of the JSON file for the model.

use super::kind::Kind;
use super::model::{Growth, Sample, Step};
use crate::terminal;
use seixo_engine::PartitionExtent;
use serde::{Deserialize, Serialize};

/// Measurement on a number of devices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Version of the program.
    pub version: String,
    pub case: String,
    pub scaling: Growth,
    pub device: String,
    pub precision: String,
    /// Threads of each subdomain, on the CPU only.
    pub threads: Option<usize>,
    /// Number of GPUs among which all subdomains are distributed; none if each has a device of its own, or all are on one.
    #[serde(default)]
    pub gpus: Option<usize>,
    /// Number of subdomains; on GPUs each has a device of its own, unless `gpus` says otherwise.
    pub domains: usize,
    /// Whether sums do not depend on the number of subdomains; only with one subdomain can this be false.
    #[serde(alias = "divisible")]
    pub decomposition_invariant: bool,
    /// How subdomains select ghosts; none on one device.
    #[serde(default)]
    pub ghosts: Option<String>,
    /// Requested number of grains or water particles: the total, or per device.
    pub particles: usize,
    /// Extent of the decomposed particles \[m\], periodic axes, and the distance beyond which particles do not interact \[m\]; zero or false on one
    /// device.
    pub extent: [[f64; 2]; 3],
    pub periodic: [bool; 3],
    pub reach: f64,
    /// Total number of grains or water particles.
    pub grains: usize,
    /// Memory of the arrays on all devices, per particle.
    #[serde(default)]
    pub bytes_per_particle: f64,
    /// Steps of each measurement.
    pub steps: u64,
    /// Seconds of each measurement, in the order of measurement.
    pub measurements: Vec<f64>,
    /// Median of the measurements over their steps.
    pub seconds_per_step: f64,
    pub grain_steps_per_second: f64,
    pub slowest: f64,
    pub fastest: f64,
    pub grain_steps_per_second_and_device: f64,
    /// Rate per device over that of a single device.
    pub efficiency: Option<f64>,
    #[serde(alias = "renewals_per_step")]
    pub rebuilds_per_step: f64,
    /// Share of the time in which a single device rebuilt lists.
    #[serde(alias = "renewing")]
    pub rebuilding: Option<f64>,
    /// Share of the time that subdomains communicated and waited, on average.
    pub exchanging: f64,
    /// The same share for the subdomain that waited least, as it had the most work.
    pub least_exchanging: f64,
    /// Share of the time in which the subdomain that took longest selected ghosts, and the largest number of grains that one tested on the CPU in a
    /// step.
    #[serde(default)]
    pub selecting: f64,
    #[serde(default)]
    pub tested_per_step: f64,
    /// Messages and bytes that the busiest subdomain sends to its neighbors in a step.
    pub messages_per_step: f64,
    pub bytes_per_step: f64,
    /// Number of global reductions in a step.
    #[serde(alias = "gathers_per_step")]
    pub collectives_per_step: f64,
}

impl Measured {
    /// Case, device, precision, threads, GPUs with several domains, and version. Measurements must share them to be fitted by one model.
    pub fn title(&self) -> String {
        let threads = self
            .threads
            .map_or(String::new(), |threads| format!(", {} a domain", terminal::many(threads, "thread")));
        let gpus = self.gpus.map_or(String::new(), |gpus| {
            format!(", several domains on each of {}", terminal::many(gpus, "GPU"))
        });
        format!(
            "{} · {} ({}{threads}{gpus}) · version {}",
            self.case, self.device, self.precision, self.version
        )
    }

    /// Converts the measurement to a sample for the model.
    pub fn sample(&self) -> Sample {
        let exchanging = self.least_exchanging * self.seconds_per_step;
        Sample {
            step: Step {
                domains: self.domains,
                grains: self.grains as f64 / self.domains.max(1) as f64,
                rebuilds: self.rebuilds_per_step,
                collectives: self.collectives_per_step,
                messages: self.messages_per_step,
                bytes: self.bytes_per_step,
            },
            working: self.seconds_per_step - exchanging,
            exchanging,
            rebuilding: self.rebuilding.map(|share| share * self.seconds_per_step),
        }
    }

    /// Extent of the decomposed particles.
    pub fn space(&self) -> PartitionExtent {
        PartitionExtent {
            extent: self.extent,
            periodic: self.periodic,
            flow: None,
            reach: self.reach,
        }
    }

    /// Name of the particles.
    pub fn particle(&self) -> &'static str {
        Kind::of(&self.case).map_or("particle", Kind::particle)
    }

    /// Returns the column headers.
    pub fn heads(&self) -> String {
        let particle = self.particle();
        line([
            "domains",
            &format!("{particle}s"),
            &format!("{particle}-steps/s"),
            "slowest to fastest",
            "per domain",
            &format!("bytes a {particle}"),
            "efficiency",
            "exchanging",
            "sent a step",
            "selecting",
        ])
    }

    /// Returns the line of the table.
    pub fn line(&self) -> String {
        let is_decomposed = self.domains > 1;
        let domains = match (is_decomposed, self.decomposition_invariant) {
            (true, _) => self.domains.to_string(),
            (false, true) => "1".to_owned(),
            (false, false) => "whole".to_owned(),
        };
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let speed = |number: f64| terminal::scaled(number, "");
        let [exchanging, reported, selecting] = if is_decomposed {
            let ghosts = self.ghosts.as_deref().unwrap_or_default();
            [
                percent(self.exchanging),
                terminal::scaled(self.bytes_per_step, "B"),
                format!("{:.2} %, {ghosts}", 100.0 * self.selecting),
            ]
        } else {
            [String::new(), String::new(), String::new()]
        };
        line([
            &domains,
            &terminal::count(self.grains as u64),
            &speed(self.grain_steps_per_second),
            &format!("{} to {}", speed(self.slowest).trim_end(), speed(self.fastest).trim_end()),
            &speed(self.grain_steps_per_second_and_device),
            &format!("{:.0}", self.bytes_per_particle),
            &self.efficiency.map_or(String::new(), percent),
            &exchanging,
            &reported,
            &selecting,
        ])
    }
}

/// Formats a line of the table.
fn line(cells: [&str; 10]) -> String {
    let [
        domains,
        grains,
        speed,
        range,
        each,
        bytes,
        efficiency,
        exchanging,
        reported,
        selecting,
    ] = cells;
    let text = format!(
        "{domains:>7}  {grains:>13}  {speed:>13}  {range:>20}  {each:>10}  {bytes:>16}  {efficiency:>10}  {exchanging:>10}  {reported:>11}  {selecting:>15}"
    );
    text.trim_end().to_owned()
}
