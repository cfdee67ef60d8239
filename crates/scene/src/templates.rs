//! Scenes to start from, for `seixo new`.

/// A commented scene that loads as it is.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// The scene file.
    pub text: &'static str,
}

macro_rules! templates {
    ($($name:literal: $about:literal;)+) => {
        &[$(Template { name: $name, about: $about, text: include_str!(concat!("../templates/", $name, ".toml")) }),+]
    };
}

/// All templates.
pub fn templates() -> &'static [Template] {
    templates! {
        "bounce": "a ball bounces on a plane and loses height by the square of its restitution";
        "pile": "grains drop from a block and come to rest as a pile in a tray";
        "drum": "a mixture of two sizes in a rotating drum";
        "silo": "a cylinder with a conical hopper discharges under gravity";
        "penetration": "a steel ball hits a bed of glass beads at 5 m/s";
    }
}
