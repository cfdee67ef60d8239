//! The worlds that are divided: the settled bed of `seixo bench bed`, and a gas; or several of either side by side.

use super::super::bed;
use super::super::case::{Case, open_box, world_of};
use clap::ValueEnum;
use seixo_engine::world::{Domain, Leaving, Settings, World};

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A settled bed in a box: Hertz and Mindlin with friction, lists seldom made anew
    #[default]
    Bed,
    /// The same grains in flight between periodic sides, where lists are made anew all the time and many grains change hands
    Gas,
}

/// Skin of the lists \[m\]: the usual one, here told to know how wide a domain must be.
const SKIN: f64 = 0.1 * bed::DIAMETER;
/// Fewer grains than this would stand higher than wide, and be cut across another axis than a row of them.
pub const LEAST_PARTICLES: u32 = 30_000;
/// How much faster a gas starts than a bed.
const FASTER: f64 = 20.0;

impl Kind {
    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bed => "bed",
            Kind::Gas => "gas",
        }
    }

    /// Steps before the measurement, where the command line does not say.
    pub fn settle(self) -> u64 {
        match self {
            Kind::Bed => Case::Bed.habits().settle,
            Kind::Gas => 0,
        }
    }

    /// So many of it side by side along x, of so many grains each.
    pub fn world(self, side_by_side: usize, particles: usize, solid_fraction: f64) -> World {
        let (mut grains, [length, width]) = bed::row(side_by_side, bed::DIAMETER, particles, solid_fraction);
        let mut interaction = Case::Bed.interaction();
        if self == Kind::Bed {
            return world_of(grains, interaction, open_box([length, width]), -9.81);
        }
        grains.velocity.as_flattened_mut().iter_mut().for_each(|v| *v *= FASTER);
        (interaction.restitution, interaction.friction) = (1.0, 0.1);
        let (spacing, _) = bed::lattice(bed::DIAMETER, particles, solid_fraction);
        let top = grains.position.iter().map(|place| place[2]).fold(0.0, f64::max);
        let mut domain = Domain::open([0.0; 3], [length, width, top + spacing], Leaving::Error);
        domain.periodic = [true; 3];
        World {
            domain: Some(domain),
            ..world_of(grains, interaction, Vec::new(), 0.0)
        }
    }

    /// How it is stepped, but for the device.
    pub fn settings(self, threads: usize) -> Settings {
        Settings {
            skin: Some(SKIN),
            ..Case::Bed.settings(threads)
        }
    }

    /// How many domains there is room for along the floor of so many grains, each as wide as grains feel others.
    pub fn most_domains(particles: usize, solid_fraction: f64) -> usize {
        let (spacing, cells) = bed::lattice(bed::DIAMETER, particles, solid_fraction);
        (cells as f64 * spacing / (bed::DIAMETER + SKIN)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo::Simulation;

    #[test]
    fn a_row_has_the_cross_section_of_one() {
        let side = |places: &[[f64; 3]], axis: usize| places.iter().map(|place| place[axis]).fold(0.0, f64::max);
        for kind in [Kind::Bed, Kind::Gas] {
            let [one, four] = [1, 4].map(|count| kind.world(count, 3000, 0.3));
            assert_eq!((one.grains.len(), four.grains.len()), (3000, 12_000));
            let spacing = bed::lattice(bed::DIAMETER, 3000, 0.3).0;
            for axis in [1, 2] {
                let [of_one, of_four] = [&one, &four].map(|world| side(&world.grains.position, axis));
                assert!((of_one - of_four).abs() < spacing, "{kind:?}, axis {axis}: {of_one} {of_four}");
            }
            let [of_one, of_four] = [&one, &four].map(|world| side(&world.grains.position, 0));
            assert!((of_four / of_one - 4.0).abs() < 0.2, "{kind:?}: {of_one} {of_four}");
        }
    }

    #[test]
    fn as_many_domains_as_there_is_room_for_are_taken() {
        let most = Kind::most_domains(LEAST_PARTICLES as usize, 0.3);
        let begin = |domains: usize| {
            let settings = Settings {
                domains,
                ..Kind::Gas.settings(1)
            };
            Simulation::new(Kind::Gas.world(1, LEAST_PARTICLES as usize, 0.3), settings).map(|_| ())
        };
        assert!(begin(most).is_ok(), "{most}");
        let refusal = begin(most + 1).unwrap_err().to_string();
        assert!(refusal.contains(&format!("use at most {most}")), "{refusal}");
    }
}
