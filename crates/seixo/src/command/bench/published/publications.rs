//! Wall times of other programs, as published.

use super::cases::Case;
use serde::Serialize;

/// A run of another program. What a wall time includes is said by its source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// Name of the program.
    pub program: &'static str,
    /// What it ran on; empty if the source does not say.
    pub hardware: &'static str,
    /// Number of particles.
    pub particles: u32,
    /// Number of steps.
    pub steps: u64,
    /// Wall time \[s\].
    pub seconds: f64,
    /// Particles times steps over the wall time \[1/s\].
    pub particle_steps_per_second: f64,
    /// Memory over the number of particles, if published.
    pub bytes_per_particle: Option<f64>,
    /// Where it is published.
    pub source: &'static str,
}

const PHASIC_FLOW: &str = "[Norouzi 2023], benchmarks/rotatingDrum/readme.md of PhasicFlow/phasicFlow";
/// Steps of the published drum.
const DRUM_STEPS: u64 = 400_000;

/// A line of tables 3 and 4 on the drum: program, hardware, and particles, minutes and megabytes of each size.
type DrumLine = (&'static str, &'static str, &'static [(u32, f64, f64)]);

const DRUM: [DrumLine; 3] = [
    (
        "PhasicFlow 1.0",
        "RTX A4000",
        &[
            (250_000, 38.0, 344.0),
            (500_000, 73.0, 480.0),
            (1_000_000, 146.0, 802.0),
            (2_000_000, 293.0, 1386.0),
            (4_000_000, 589.0, 2590.0),
            (8_000_000, 1188.0, 4966.0),
        ],
    ),
    (
        "PhasicFlow 1.0",
        "RTX 4050 Ti (laptop)",
        &[
            (250_000, 54.0, 252.0),
            (500_000, 111.0, 412.0),
            (1_000_000, 216.0, 710.0),
            (2_000_000, 432.0, 1292.0),
        ],
    ),
    (
        "a commercial code",
        "RTX 4050 Ti (laptop)",
        &[
            (250_000, 68.0, 485.0),
            (500_000, 136.0, 897.0),
            (1_000_000, 275.0, 1525.0),
            (2_000_000, 570.0, 2724.0),
        ],
    ),
];

/// Processes and seconds of the logs of the chute: 32,000 grains, 100 steps.
const CHUTE: [(&str, f64, &str); 2] = [
    ("1 process", 0.534_174, "bench/log.6Oct16.chute.fixed.icc.1 of lammps/lammps"),
    ("4 processes", 0.171_815, "bench/log.6Oct16.chute.fixed.icc.4 of lammps/lammps"),
];

/// Runs of this case by other programs.
pub fn of(case: Case) -> Vec<Published> {
    match case {
        Case::Drum => DRUM.iter().flat_map(drum_line).collect(),
        Case::Chute => CHUTE.iter().map(chute_line).collect(),
        Case::Silo | Case::DrumMixing | Case::Impact | Case::DamBreak => Vec::new(),
    }
}

fn drum_line(&(program, hardware, sizes): &DrumLine) -> impl Iterator<Item = Published> {
    sizes.iter().map(move |&(particles, minutes, megabytes)| Published {
        program,
        hardware,
        particles,
        steps: DRUM_STEPS,
        seconds: 60.0 * minutes,
        particle_steps_per_second: f64::from(particles) * DRUM_STEPS as f64 / (60.0 * minutes),
        bytes_per_particle: Some(1e6 * megabytes / f64::from(particles)),
        source: PHASIC_FLOW,
    })
}

fn chute_line(&(hardware, seconds, source): &(&'static str, f64, &'static str)) -> Published {
    let (particles, steps): (u32, u64) = (32_000, 100);
    Published {
        program: "LAMMPS 6 Oct 2016",
        hardware,
        particles,
        steps,
        seconds,
        particle_steps_per_second: f64::from(particles) * steps as f64 / seconds,
        bytes_per_particle: None,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_grains_on_the_workstation_take_146_minutes() {
        let lines = of(Case::Drum);
        assert_eq!(lines.len(), 14);
        let line = lines
            .iter()
            .find(|line| line.hardware == "RTX A4000" && line.particles == 1_000_000)
            .unwrap();
        assert_eq!((line.seconds, line.bytes_per_particle), (8760.0, Some(802.0)));
        assert!((line.particle_steps_per_second / 4.566e7 - 1.0).abs() < 1e-3);
    }
}
