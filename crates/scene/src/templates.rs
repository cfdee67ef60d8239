//! Scenes to start from, for `seixo new`: the files of the folder `examples`.

/// A commented scene that loads without changes.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Name on the command line, and of the file without its ending.
    pub name: &'static str,
    /// Heading under which it is listed.
    pub topic: &'static str,
    /// Description in a line.
    pub about: &'static str,
    /// The scene file.
    pub text: &'static str,
    /// The files that it reads: their names in its folder, and their content.
    pub beside: &'static [(&'static str, &'static str)],
}

macro_rules! templates {
    ($($topic:literal: { $($name:literal $(with [$($beside:literal),+])?: $about:literal;)+ })+) => {
        &[$($(Template {
            name: $name,
            topic: $topic,
            about: $about,
            text: include_str!(concat!("../../../examples/", $name, ".toml")),
            beside: &[$($(($beside, include_str!(concat!("../../../examples/", $beside)))),+)?],
        }),+),+]
    };
}

/// All templates, by topic. The first is the smallest.
pub fn templates() -> &'static [Template] {
    templates! {
        "To read first": {
            "bounce": "balls bounce on pads and lose height by the square of their restitution";
        }
        "Grains": {
            "heap": "sand runs out of a tube that is lifted: angle of repose";
            "pour": "sand pours onto a round plate until it runs over the rim: angle of repose";
            "column" with ["sand.csv"]: "a dense column of sand with a sieve curve collapses";
            "clumps": "rods, jacks and pebbles of spheres pile up steeper than spheres do";
            "dice": "polyhedral grains in a rotating drum: dice with faces, edges and corners";
            "gravel" with ["plough.obj"]: "polyhedral grains on a belt: random rocks ride to a plough and pile up beside it";
            "crater": "a bed of spheres under impact: depth of a steel ball, and the force on it";
            "shear": "steady shear flow without walls: stresses over the shear rate";
            "falling_spheres": "spheres fall into a box, by brute force and explicit Euler as in slides of 2011";
        }
        "Process equipment": {
            "silo": "a cylinder with a conical hopper empties: discharge rate, load on the hopper";
            "hopper": "fill, settle and open, in stages: discharge rate and residence time";
            "drum": "two sizes of grains in a rotating drum: power and mixing index";
            "mixer" with ["mixer.stl"]: "blades from a mesh file turn in a bed of grains: power and mixing index";
            "mill" with ["lifters.obj"]: "balls and ore between lifters: power draw";
            "powder": "a cohesive powder avalanches in a drum";
            "chute" with ["liner.obj"]: "ore wears the liner of a chute: depth of wear";
            "conveyor" with ["belt.obj", "boards.obj"]: "a belt builds a stockpile: mass flow and power";
            "screen" with ["screen.obj"]: "a vibrating screen sorts two sizes: mass of both products";
            "wheel" with ["wheel.csv"]: "falling sand turns a wheel on a hinge";
            "dryer": "a hot drum warms its grains: temperatures and heat flow";
            "coating": "wet grains share their liquid films with dry ones in a drum";
        }
        "Tests of soil": {
            "oedometer": "a piston loads and unloads a dense packing: stress over strain at rest";
            "triaxial": "compression under constant pressure from the sides: peak friction angle";
            "biaxial": "the same in plane strain: friction angle, shear bands";
            "direct_shear" with ["shear_box.obj"]: "two frames shear sand under a lid: shear stress over displacement";
        }
        "Bonded grains": {
            "cantilever": "a bar of beam bonds bends under a load at its tip, as the textbook says";
            "beam": "three-point bending of bonded grains until they break";
            "gbpm": "a bar of cemented grains is pulled apart: point bonds, Gear's method, boundary grains";
            "uniaxial": "a cylinder of bonded grains is compressed until it breaks: stress over strain";
            "specimen": "a specimen is made under pressure from all sides, bonded, unloaded and crushed";
            "brazilian": "a disk of bonded grains is split along its diameter";
            "agglomerate": "a ball of bonded grains hits a plate and bursts";
            "slope": "a slope of cemented grains fails as gravity rises";
            "rock_slope": "a slope of polyhedral blocks breaks under its weight and slides";
        }
        "Fluids": {
            "dam_break": "a column of water collapses, runs through a tank and around a pillar";
            "dam_break_obstacle": "a column of water collapses and hits a block: force on it";
            "sloshing": "water swings in a tank, in a plane: period of its lowest mode";
            "wave_tank": "a paddle makes waves that run up a beach, in a plane, with gauges";
            "still_water": "water at rest in a tank, in a plane: pressure over depth";
            "glass": "a glass is filled from a tap: oil that comes through an inlet";
            "rayleigh_taylor" with ["heavy.obj", "light.obj"]: "a heavy fluid sinks through a light one, in a plane";
            "real_time_fluid": "a cube of fluid collapses in a box as in the first fluids in real time (2003)";
        }
        "Bodies in fluids": {
            "floating" with ["raft.obj"]: "a raft, cork, wood and stone fall into a tank of water";
            "wave_flume" with ["pontoon.obj"]: "a pontoon floats in waves, in a plane: heave, drift and pitch";
            "gravel_in_water": "gravel sinks through water, and some of it hits a ball that floats";
            "teapots" with ["teapot.obj"]: "a dozen teapots fall into a tank of water, and float or sink";
            "teapots_430" with ["teapot.obj"]: "430 teapots fall into a container, without fluid";
            "real_time_bodies" with ["teapot.obj"]: "teapots in fluid, as fast as in reality on a graphics card";
        }
        "All at once": {
            "everything" with ["teapot.obj"]: "sand, a block that breaks, water and teapots in one scene";
            "coupled" with ["boat.obj"]: "a wave breaks a bonded wall, carries gravel and floats boats";
        }
    }
}
