//! Cases of `seixo bench published`: their scenes, sizes and short versions.

use super::super::case::Case as TrafficCase;
use clap::ValueEnum;
use std::f64::consts::PI;

/// Case with a published set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// Rotating drum of PhasicFlow [Norouzi 2023], 250k to 8M grains: 4 s at 12 rpm in 400 000 steps
    Drum,
    /// Silo emptying of [Dosta 2024]: 100 000 grains M1 through an outlet of 60 mm, 0.2 s of filling and 5 s of emptying
    Silo,
    /// Drum mixing of [Dosta 2024]: 38 000 grains of two sizes, 5 s at 2 rad/s in 6.25 million steps
    DrumMixing,
    /// Particle impact of [Dosta 2024]: a steel ball falls into 25 000 grains, 0.1 s in 200 000 steps
    Impact,
    /// Chute flow of LAMMPS, bench/in.chute [Thompson 2022]: 32 000 grains, of which 912 are fixed, 10 000 steps
    Chute,
    /// Dam break with a box, SPHERIC test 2 [Kleefsman 2005]: 6 s, 20 mm between particles or --size
    DamBreak,
}

/// A size of the published drum.
struct DrumSize {
    particles: u32,
    /// Diameter of the grains \[m\].
    diameter: f64,
    /// Length of the drum \[m\].
    length: f64,
}

/// Table 2 of the publication.
const DRUMS: [DrumSize; 6] = [
    drum(250_000, 6e-3, 0.8),
    drum(500_000, 5e-3, 0.8),
    drum(1_000_000, 4e-3, 0.8),
    drum(2_000_000, 3e-3, 1.2),
    drum(4_000_000, 3e-3, 1.6),
    drum(8_000_000, 2e-3, 1.6),
];
/// The drum of a run without `--size`.
const USUAL_DRUM: u32 = 1_000_000;
/// Few large grains in a drum of the published length.
const SHORT_DRUM: DrumSize = drum(1_200, 0.03, 0.8);
/// Distance of the filled region from the drum at the start \[m\], and its radius \[m\].
const GAP: f64 = 1e-4;
const FILLED_RADIUS: f64 = 0.2 - GAP;
/// Volume of the water of the dam break \[m³\].
const WATER: f64 = 1.228 * 0.55;
/// Fewest fluid particles of the dam break: with fewer, the box is thinner than three spacings.
const FEWEST_PARTICLES: u32 = 5_000;

const fn drum(particles: u32, diameter: f64, length: f64) -> DrumSize {
    DrumSize {
        particles,
        diameter,
        length,
    }
}

impl DrumSize {
    /// Keys of the scene that depend on the size. The share of the filled volume gives the number of grains.
    fn overrides(&self) -> Vec<(String, String)> {
        let (radius, half) = (0.5 * self.diameter, 0.5 * self.length);
        let grains = f64::from(self.particles) * 4.0 / 3.0 * PI * radius.powi(3);
        let share = grains / (PI * FILLED_RADIUS * FILLED_RADIUS * 2.0 * (half - GAP));
        let along = |y: f64| format!("[0, {y:e}, 0]");
        overrides(&[
            ("grains.bed.fill.radius", format!("{radius:e}")),
            ("grains.bed.fill.solid_fraction", format!("{share:e}")),
            ("grains.bed.fill.region.cylinder.from", along(GAP - half)),
            ("grains.bed.fill.region.cylinder.to", along(half - GAP)),
            ("wall.drum.cylinder.from", along(-half)),
            ("wall.drum.cylinder.to", along(half)),
        ])
    }
}

/// Pairs of key and value as the scene reads them.
fn overrides(pairs: &[(&str, String)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

impl Case {
    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Case::Drum => "drum",
            Case::Silo => "silo",
            Case::DrumMixing => "drum-mixing",
            Case::Impact => "impact",
            Case::Chute => "chute",
            Case::DamBreak => "dam-break",
        }
    }

    /// Scene of the whole run.
    pub fn scene(self) -> &'static str {
        match self {
            Case::Drum => include_str!("scenes/drum.toml"),
            Case::Silo => include_str!("scenes/silo.toml"),
            Case::DrumMixing => include_str!("scenes/drum_mixing.toml"),
            Case::Impact => include_str!("scenes/impact.toml"),
            Case::Chute => include_str!("scenes/chute.toml"),
            Case::DamBreak => include_str!("scenes/dam_break.toml"),
        }
    }

    /// Case of `seixo bench` that moves as many bytes in a step; `None` if grains leave during the run, or for fluids.
    pub fn traffic(self) -> Option<TrafficCase> {
        match self {
            Case::Drum | Case::DrumMixing | Case::Impact => Some(TrafficCase::Bed),
            Case::Chute => Some(TrafficCase::BedLinear),
            Case::Silo | Case::DamBreak => None,
        }
    }

    /// Changes of the scene for a number of particles; `None` for the usual number.
    ///
    /// # Errors
    /// If the case does not have this number.
    pub fn sized(self, particles: Option<u32>) -> Result<Vec<(String, String)>, String> {
        let refused = |sizes: &str| {
            let asked = particles.unwrap_or_default();
            Err(format!("--size is {asked}, but {} has {sizes}", self.name()))
        };
        match (self, particles) {
            (Case::Drum, _) => {
                let wanted = particles.unwrap_or(USUAL_DRUM);
                let found = DRUMS.iter().find(|drum| drum.particles == wanted);
                found.map_or_else(
                    || refused("the published sizes 250k, 500k, 1M, 2M, 4M and 8M"),
                    |drum| Ok(drum.overrides()),
                )
            }
            (_, None) => Ok(Vec::new()),
            (Case::DamBreak, Some(particles)) if particles >= FEWEST_PARTICLES => {
                let spacing = (WATER / f64::from(particles)).cbrt();
                Ok(overrides(&[("fluid.water.spacing", format!("{spacing:e}"))]))
            }
            (Case::DamBreak, Some(_)) => refused("at least 5000 particles"),
            _ => refused("one size; name only drum or dam-break, or leave --size out"),
        }
    }

    /// Changes of the scene for a run of seconds on two cores, with few particles and some hundred steps.
    pub fn short(self) -> Vec<(String, String)> {
        let text = |words: &str| words.to_owned();
        match self {
            Case::Drum => {
                let ends = overrides(&[("run.until", text("5 ms")), ("output.every", text("1 ms"))]);
                [SHORT_DRUM.overrides(), ends].concat()
            }
            Case::Silo => overrides(&[
                ("grains.bed.fill.count", text("500")),
                (
                    "stage",
                    text(r#"[{ name = "fill", until = "duration 0.3 ms" }, { name = "empty", remove = ["wall.plug"] }]"#),
                ),
                ("run.until", text("0.6 ms")),
                ("output.every", text("0.2 ms")),
            ]),
            Case::DrumMixing => overrides(&[
                ("grains.large.fill.count", text("100")),
                ("grains.small.fill.count", text("300")),
                ("run.until", text("0.4 ms")),
                ("output.every", text("0.1 ms")),
            ]),
            Case::Impact => overrides(&[
                ("grains.bed.fill.count", text("300")),
                ("run.until", text("0.2 ms")),
                ("output.every", text("0.1 ms")),
            ]),
            Case::Chute => overrides(&[
                ("grains.flow.fill.count", text("600")),
                ("run.until", text("20 ms")),
                ("output.every", text("5 ms")),
            ]),
            Case::DamBreak => overrides(&[
                ("fluid.water.spacing", text("5 cm")),
                ("run.until", text("20 ms")),
                ("output.every", text("10 ms")),
            ]),
        }
    }
}

/// Parses a number of particles, such as `250000`, `250k` or `1M`.
pub fn particles(text: &str) -> Result<u32, String> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1), |digits| (digits, 1_000_000)),
    };
    let number = digits.parse::<u32>().ok().and_then(|number| number.checked_mul(factor));
    number
        .filter(|number| *number > 0)
        .ok_or_else(|| "write a whole number of particles, such as 250000, 250k or 1M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_scene::load_text;
    use std::path::Path;

    fn scene(case: Case, changes: &[(String, String)]) -> seixo_scene::Scene {
        load_text(case.scene(), Path::new("scene.toml"), changes).unwrap_or_else(|found| panic!("{case:?}: {found}"))
    }

    #[test]
    fn every_short_scene_is_read_with_few_particles() {
        for case in Case::value_variants() {
            let scene = scene(*case, &case.short());
            let fluid = scene.world.fluids.as_ref().map_or(0, |fluids| fluids.particles.len());
            let particles = scene.world.grains.len() + fluid;
            assert!((200..20_000).contains(&particles), "{case:?}: {particles}");
        }
    }

    #[test]
    fn a_drum_has_the_published_number_of_grains() {
        let small = scene(Case::Drum, &Case::Drum.sized(Some(250_000)).unwrap());
        assert_eq!(small.world.grains.len(), 250_000);
        assert!(small.world.grains.radius.iter().all(|radius| *radius == 3e-3));
    }

    #[test]
    fn sizes_that_are_not_published_are_refused() {
        assert!(Case::Drum.sized(Some(300_000)).unwrap_err().contains("250k, 500k"));
        assert!(Case::Silo.sized(Some(100_000)).unwrap_err().contains("one size"));
        assert!(Case::DamBreak.sized(Some(10)).unwrap_err().contains("5000"));
        assert!(Case::Silo.sized(None).unwrap().is_empty());
        let changes = Case::DamBreak.sized(Some(84_425)).unwrap();
        let [(key, value)] = &changes[..] else {
            panic!("one key gives the number of particles");
        };
        assert_eq!(key, "fluid.water.spacing");
        assert!((value.parse::<f64>().unwrap() - 0.02).abs() < 1e-5, "{value}");
    }

    #[test]
    fn numbers_of_particles_may_have_a_suffix() {
        assert_eq!(
            [particles("250k"), particles("1M"), particles("7")],
            [Ok(250_000), Ok(1_000_000), Ok(7)]
        );
        assert!(particles("0").is_err() && particles("9999M").is_err() && particles("many").is_err());
    }
}
