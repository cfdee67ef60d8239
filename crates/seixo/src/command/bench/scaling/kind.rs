//! Worlds for scaling: the settled bed of `seixo bench bed`, a gas, the lattice of `seixo bench lattice`, and water; or several of them side by side.

use super::super::case::{Case, open_box, world_of};
use super::super::lattice::{self, Lattice};
use super::super::{bed, tank};
use clap::ValueEnum;
use seixo_engine::world::{Domain, LaterAdditions, LeavingPolicy, Settings, World};

/// World to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Settled bed in a box: Hertz and Mindlin laws with friction, rare rebuilds of neighbor lists
    #[default]
    Bed,
    /// The same grains in flight between periodic sides, with frequent rebuilds of neighbor lists and many migrations
    Gas,
    /// Grains with friction on a lattice, each in contact with its six neighbors from the first step. Domains on GPUs make their own grains, so that
    /// there can be more than the memory of the host holds
    Lattice,
    /// Dam break: a block of water, twice as wide as long and high, in a tank of wall particles
    Dam,
}

/// Skin of the lists of water: the default \[spacings\].
const SKIN_OF_WATER: f64 = 0.3;
/// Skin of the lists of grains: the default \[m\].
const SKIN: f64 = 0.1 * bed::DIAMETER;
const SKIN_OF_LATTICE: f64 = 0.2 * lattice::RADIUS;
/// A smaller bed would be higher than wide, and its decomposition would cut another axis than that of a row of beds.
pub const MIN_PARTICLES: u32 = 30_000;
/// Initial velocity of a gas over that of a bed \[-\].
const FASTER: f64 = 20.0;

impl Kind {
    /// Returns the world with this name on the command line.
    pub fn of(name: &str) -> Option<Kind> {
        Kind::value_variants().iter().copied().find(|kind| kind.name() == name)
    }

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bed => "bed",
            Kind::Gas => "gas",
            Kind::Lattice => "lattice",
            Kind::Dam => "dam",
        }
    }

    /// Default number of steps before the measurement.
    pub fn settle(self) -> u64 {
        match self {
            Kind::Bed => Case::Bed.defaults().settle,
            Kind::Gas | Kind::Lattice | Kind::Dam => 0,
        }
    }

    /// Name of its particles.
    pub fn particle(self) -> &'static str {
        match self {
            Kind::Bed | Kind::Gas | Kind::Lattice => "grain",
            Kind::Dam => "particle",
        }
    }

    /// Builds `side_by_side` worlds of `particles` particles each, side by side.
    pub fn world(self, side_by_side: usize, particles: usize, solid_fraction: f64) -> World {
        if self == Kind::Dam {
            return tank::row(side_by_side, particles);
        }
        if self == Kind::Lattice {
            let lattice = Lattice::row(side_by_side, particles, lattice::PRESSED);
            return World {
                grains: lattice.grains(),
                ..Case::Lattice.box_of(&lattice)
            };
        }
        let (mut grains, [length, width]) = bed::row(side_by_side, bed::DIAMETER, particles, solid_fraction);
        let mut interaction = Case::Bed.interaction();
        if self == Kind::Bed {
            return world_of(grains, interaction, open_box([length, width]), -9.81);
        }
        grains.velocity.as_flattened_mut().iter_mut().for_each(|v| *v *= FASTER);
        (interaction.restitution, interaction.friction) = (1.0, 0.1);
        let (spacing, _) = bed::lattice(bed::DIAMETER, particles, solid_fraction);
        let top = grains.position.iter().map(|place| place[2]).fold(0.0, f64::max);
        let mut domain = Domain::open([0.0; 3], [length, width, top + spacing], LeavingPolicy::Error);
        domain.periodic = [true; 3];
        World {
            domain: Some(domain),
            ..world_of(grains, interaction, Vec::new(), 0.0)
        }
    }

    /// Builds the worlds of [`Kind::world`] without their grains, and a source of these, if each domain can make its own.
    pub fn parts(self, side_by_side: usize, particles: usize) -> Option<(World, Lattice)> {
        let lattice = (self == Kind::Lattice).then(|| Lattice::row(side_by_side, particles, lattice::PRESSED))?;
        let later = LaterAdditions {
            grains: vec![lattice.kind()],
            ..LaterAdditions::default()
        };
        let world = World {
            later,
            ..Case::Lattice.box_of(&lattice)
        };
        Some((world, lattice))
    }

    /// Returns the settings for worlds of `particles` particles each, except for the device.
    pub fn settings(self, particles: usize) -> Settings {
        let (case, skin) = match self {
            Kind::Bed | Kind::Gas => (Case::Bed, SKIN),
            Kind::Lattice => (Case::Lattice, SKIN_OF_LATTICE),
            Kind::Dam => (Case::Tank, SKIN_OF_WATER / tank::edge(particles) as f64),
        };
        Settings {
            skin: Some(skin),
            ..case.settings(0)
        }
    }

    /// Axis along which several worlds stand side by side.
    pub fn row(self) -> usize {
        match self {
            Kind::Bed | Kind::Gas | Kind::Lattice => 0,
            Kind::Dam => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_lattice_in_parts_is_that_in_one_table() {
        let (frame, lattice) = Kind::Lattice.parts(2, 1000).unwrap();
        let whole = Kind::Lattice.world(2, 1000, 0.3);
        assert_eq!((frame.grains.len(), whole.grains.len()), (0, 2000));
        assert_eq!((&lattice.grains(), &frame.walls), (&whole.grains, &whole.walls));
        let side = |axis: usize| whole.grains.position.iter().map(|place| place[axis]).fold(0.0, f64::max);
        assert!((side(0) / side(1) - 2.0).abs() < 0.1 && (side(1) / side(2) - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_row_of_dams_grows_along_one_axis() {
        let extent = |world: &World| {
            let places = &world.fluids.as_ref().unwrap().particles.position;
            [0, 1, 2].map(|axis| places.iter().map(|place| place[axis]).fold(0.0, f64::max))
        };
        let [one, four] = [1, 4].map(|count| Kind::Dam.world(count, 2000, 0.3));
        assert_eq!(
            [&one, &four].map(|world| world.fluids.as_ref().unwrap().particles.len()),
            [2000, 8000]
        );
        let ([x, y, z], [far_x, far_y, far_z]) = (extent(&one), extent(&four));
        let spacing = 0.1;
        assert_eq!([x, z], [far_x, far_z]);
        assert!(y > x && (far_y - y - 6.0).abs() < 1e-9 * spacing, "{y} {far_y}");
    }
}
