//! Scenes to start from, for `seixo new`.

/// A commented scene that loads without changes.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in a line.
    pub about: &'static str,
    /// The scene file.
    pub text: &'static str,
    /// The files that it reads: their names in its folder, and their content.
    pub beside: &'static [(&'static str, &'static str)],
}

macro_rules! templates {
    ($($folder:literal / $name:literal $(with $beside:literal)?: $about:literal;)+) => {
        &[$(Template {
            name: $name,
            about: $about,
            text: include_str!(concat!("../", $folder, "/", $name, ".toml")),
            beside: &[$(($beside, include_str!(concat!("../", $folder, "/", $beside))))?],
        }),+]
    };
}

/// All templates.
pub fn templates() -> &'static [Template] {
    templates! {
        "templates" / "bounce": "a ball bounces on a plane and loses height by the square of its restitution";
        "templates" / "pile": "grains drop from a block and come to rest as a pile in a tray";
        "templates" / "drum": "a mixture of two sizes in a rotating drum";
        "templates" / "silo": "a cylinder with a conical hopper discharges under gravity";
        "templates" / "penetration": "a steel ball hits a bed of glass beads at 5 m/s";
        "../../examples" / "cantilever": "a bar of beam bonds bends under a load at its tip, as the textbook says";
        "../../examples" / "beam": "three-point bending of bonded grains until they break";
        "../../examples" / "gbpm": "a bar of cemented grains is pulled apart: point bonds, Gear's method, boundary grains";
        "../../examples" / "uniaxial": "a cylinder of bonded grains is compressed until it breaks: stress over strain";
        "../../examples" / "specimen": "a specimen is made under pressure from all sides, bonded, unloaded and crushed";
        "../../examples" / "brazilian": "a disk of bonded grains is split along its diameter";
        "../../examples" / "agglomerate": "a ball of bonded grains hits a plate and bursts";
        "../../examples" / "slope": "a slope of cemented grains fails as gravity rises";
        "../../examples" / "falling_spheres": "spheres fall into a box, by brute force and explicit Euler as in slides of 2011";
        "../../examples" / "dam_break": "a column of water collapses, runs through a tank and around a pillar";
        "../../examples" / "glass": "a glass is filled from a tap: oil that comes through an inlet";
        "../../examples" / "real_time_fluid": "a cube of fluid collapses in a box as in the first fluids in real time (2003)";
        "../../examples" / "still_water": "water at rest in a tank, in a plane: pressure over depth";
        "../../examples" / "wave_tank": "a paddle makes waves that run up a beach, in a plane, with gauges";
        "../../examples" / "floating" with "raft.obj": "a raft, cork, wood and stone fall into a tank of water";
        "../../examples" / "teapots" with "teapot.obj": "a dozen teapots fall into a tank of water, and float or sink";
        "../../examples" / "teapots_430" with "teapot.obj": "430 teapots fall into a container";
        "../../examples" / "real_time_bodies" with "teapot.obj": "teapots in fluid, as fast as in reality on a graphics card";
        "../../examples" / "everything" with "teapot.obj": "sand, a block that breaks, water and teapots in one scene";
    "../../examples" / "coupled" with "boat.obj": "a wave breaks a bonded wall, carries gravel and floats boats";
    }
}
