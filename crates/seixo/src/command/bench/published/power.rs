//! Mean power of a graphics card, as `nvidia-smi` reports it during a run.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

/// Options of `nvidia-smi`: index, name and power \[W\] of each card, ten times a second.
const OPTIONS: [&str; 3] = [
    "--query-gpu=index,name,power.draw",
    "--format=csv,noheader,nounits",
    "--loop-ms=100",
];

/// Power of a card at a moment.
#[derive(Debug, PartialEq)]
struct Reading {
    index: u32,
    name: String,
    /// \[W\]
    power: f64,
}

/// Samples the power of all cards until it is finished.
pub struct PowerMeter {
    sampler: Child,
    readings: JoinHandle<Vec<Reading>>,
}

impl PowerMeter {
    /// Starts to sample; `None` without `nvidia-smi`.
    pub fn start() -> Option<PowerMeter> {
        let mut command = Command::new("nvidia-smi");
        command
            .args(OPTIONS)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut sampler = command.spawn().ok()?;
        let lines = BufReader::new(sampler.stdout.take()?).lines();
        let readings = thread::spawn(move || lines.map_while(Result::ok).filter_map(|line| reading(&line)).collect());
        Some(PowerMeter { sampler, readings })
    }

    /// Ends the samples, and returns the mean power \[W\] of the card that this device is; `None` if there is none, or if several have its name.
    pub fn finish(mut self, device: &str) -> Option<f64> {
        // It has ended already if it cannot read a card.
        let _ = self.sampler.kill();
        let _ = self.sampler.wait();
        mean_power(&self.readings.join().ok()?, device)
    }
}

/// Parses a line; `None` for cards that do not report their power.
fn reading(line: &str) -> Option<Reading> {
    let (index, rest) = line.split_once(',')?;
    let (name, power) = rest.rsplit_once(',')?;
    Some(Reading {
        index: index.trim().parse().ok()?,
        name: name.trim().to_owned(),
        power: power.trim().parse().ok()?,
    })
}

/// Mean power \[W\] of the only card whose name is in that of the device.
fn mean_power(readings: &[Reading], device: &str) -> Option<f64> {
    let of_device: Vec<&Reading> = readings
        .iter()
        .filter(|reading| !reading.name.is_empty() && device.contains(&reading.name))
        .collect();
    let first = of_device.first()?;
    if of_device.iter().any(|reading| reading.index != first.index) {
        return None;
    }
    Some(of_device.iter().map(|reading| reading.power).sum::<f64>() / of_device.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_of_the_device_counts_alone() {
        let lines = [
            "0, NVIDIA H200, 300.00",
            "1, NVIDIA T4, 70.5",
            "0, NVIDIA H200, 500.00",
            "1, NVIDIA T4, [N/A]",
        ];
        let mut readings: Vec<Reading> = lines.iter().filter_map(|line| reading(line)).collect();
        assert_eq!(readings.len(), 3);
        assert_eq!(mean_power(&readings, "cuda:0 NVIDIA H200"), Some(400.0));
        assert_eq!(mean_power(&readings, "CPU"), None);
        readings.extend(reading("2, NVIDIA H200, 100.0"));
        assert_eq!(mean_power(&readings, "cuda:0 NVIDIA H200"), None, "two cards have this name");
    }
}
