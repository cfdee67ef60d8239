//! Writes a scene from a seed: first the choice of features, then the sections.

use super::{fluids, grains, happenings, walls};
use crate::command_line::stage::Dice;

/// Number of steps of a scene.
pub const STEPS: u64 = 50;

/// Solver of a fluid.
#[derive(Clone, Copy, PartialEq)]
pub enum Solver {
    Compressible,
    Incompressible,
    Muller,
}

/// A scene during its writing.
pub struct Writer {
    dice: Dice,
    text: String,
    /// Time step \[s\].
    step: f64,
    /// Whether there are grains.
    pub is_dry: bool,
    /// Solver of the fluids, if there are any.
    pub solver: Option<Solver>,
    /// Whether fluids flow in a plane.
    pub is_flat: bool,
    /// Whether heat is conducted.
    pub is_hot: bool,
    /// Whether grains are integrated by Gear's method, which does not support joints.
    pub is_gear: bool,
    /// Whether gravity points along −z.
    pub is_upright: bool,
    /// Periodic sides of the domain.
    pub periodic: [bool; 3],
    /// Whether sides slide (shear).
    pub is_sheared: bool,
    /// Names of materials, walls, groups of grains, inlets of grains, bonds and zones.
    pub materials: Vec<&'static str>,
    pub walls: Vec<&'static str>,
    pub groups: Vec<&'static str>,
    pub inlets: Vec<&'static str>,
    pub bonds: Vec<&'static str>,
    pub zones: Vec<&'static str>,
    /// Groups that stages may fix and load, and groups of more than five single grains.
    pub single: Vec<&'static str>,
    pub many: Vec<&'static str>,
    pub has_bodies: bool,
    /// Possible quantities of probes.
    pub probes: Vec<String>,
}

/// Returns the scene of this seed, with this time step \[s\].
pub fn scene(seed: u64, step: f64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    // The first numbers of successive seeds are similar.
    dice.below(1);
    let kind = dice.below(10);
    let mut writer = Writer {
        dice,
        text: String::new(),
        step,
        is_dry: !(6..8).contains(&kind),
        solver: None,
        is_flat: false,
        is_hot: false,
        is_gear: false,
        is_upright: true,
        periodic: [false; 3],
        is_sheared: false,
        materials: Vec::new(),
        walls: Vec::new(),
        groups: Vec::new(),
        inlets: Vec::new(),
        bonds: Vec::new(),
        zones: Vec::new(),
        single: Vec::new(),
        many: Vec::new(),
        has_bodies: false,
        probes: Vec::new(),
    };
    if kind >= 6 {
        let solvers = [Solver::Compressible, Solver::Compressible, Solver::Incompressible, Solver::Muller];
        writer.solver = Some(writer.one_of(&solvers));
    }
    writer.is_hot = writer.solver.is_none() && writer.chance(15);
    writer.sides();
    writer.run();
    writer.world();
    if writer.is_dry {
        grains::materials(&mut writer);
    }
    if writer.solver.is_some() {
        fluids::fluids(&mut writer);
    }
    walls::walls(&mut writer);
    if writer.is_dry {
        grains::grains(&mut writer);
    }
    happenings::zones(&mut writer);
    happenings::output(&mut writer);
    happenings::stages(&mut writer);
    writer.text
}

impl Writer {
    /// Adds a line, unless it is empty.
    pub fn line(&mut self, line: impl AsRef<str>) {
        if !line.as_ref().is_empty() {
            self.text.push_str(line.as_ref());
            self.text.push('\n');
        }
    }

    /// Adds a line with this probability \[%\].
    pub fn perhaps(&mut self, percent: u64, line: &str) {
        if self.chance(percent) {
            self.line(line);
        }
    }

    /// Adds one of these lines.
    pub fn one_line(&mut self, lines: &[&str]) {
        let line = self.one_of(lines);
        self.line(line);
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.dice.below(limit)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Returns the time of `count` steps in seconds.
    pub fn steps(&self, count: u64) -> String {
        format!("{:e}", count as f64 * self.step)
    }

    /// Returns a rate \[1/s\] of about one per `every` steps.
    pub fn rate(&self, every: u64) -> u64 {
        (1.0 / (every as f64 * self.step)).ceil() as u64
    }

    pub fn is_periodic(&self) -> bool {
        self.periodic.contains(&true)
    }

    fn run(&mut self) {
        self.line("[run]");
        let until = self.steps(STEPS);
        self.line(format!("until = {until}"));
        let seed = self.below(1000);
        self.line(format!("seed = {seed}"));
        if self.solver.is_none() {
            let integrators = [
                "leapfrog",
                "leapfrog",
                "velocity_verlet",
                "symplectic_euler",
                "explicit_euler",
                "gear",
                "gear_of_places",
            ];
            let integrator = self.one_of(&integrators);
            self.is_gear = integrator.starts_with("gear");
            self.line(format!("integrator = \"{integrator}\""));
        }
        let searches = [
            "auto",
            "grid",
            "grid_multi_cell",
            "hierarchical_grid",
            "spatial_hash",
            "brute_force",
        ];
        let search = self.one_of(&searches);
        self.line(format!("search = \"{search}\""));
        if self.chance(25) {
            self.one_line(&["skin = 0", "skin = \"0.5 mm\"", "skin = \"1 mm\""]);
        }
        self.perhaps(20, "broad_phase = false");
        if !self.is_sheared {
            self.perhaps(20, "local_damping = 0.3");
        }
    }

    /// Chooses periodic sides, and whether they slide.
    fn sides(&mut self) {
        if !self.chance(25) {
            return;
        }
        self.periodic = self.one_of(&[[true, true, false], [true, false, false], [true; 3]]);
        if self.solver.is_some() {
            self.periodic = [true, true, false];
        }
        self.is_sheared = self.periodic == [true; 3] && self.chance(50);
    }

    fn world(&mut self) {
        self.line("[world]");
        let gravities = [
            "[0, 0, \"-9.81 m/s^2\"]",
            "[0, 0, \"-9.81 m/s^2\"]",
            "[0, 0, 0]",
            "[\"3 m/s^2\", 0, \"-9 m/s^2\"]",
        ];
        let gravity = self.one_of(&gravities);
        self.is_upright = gravity == gravities[0];
        self.line(format!("gravity = {gravity}"));
        if !self.is_periodic() && self.chance(60) {
            return;
        }
        let sides = self
            .periodic
            .map(|is_periodic| if is_periodic { "\"periodic\"" } else { "\"open\"" });
        let shear = if self.is_sheared {
            ", shear = { flow = \"x\", gradient = \"z\", rate = \"5 Hz\" }"
        } else {
            ""
        };
        self.line(format!(
            "domain = {{ min = [\"-20 mm\", \"-20 mm\", \"-10 mm\"], max = [\"20 mm\", \"20 mm\", \"80 mm\"], sides = [{}]{shear} }}",
            sides.join(", ")
        ));
        self.one_line(&["leaving = \"delete\"", "leaving = \"error\""]);
    }

    /// Returns a motion as an inline table, with any features.
    pub fn motion(&mut self) -> String {
        let translate = self.one_of(&["[0, 0, \"-20 mm/s\"]", "[\"10 mm/s\", 0, 0]", "[0, \"15 mm/s\", \"5 mm/s\"]"]);
        let rate = self.one_of(&[2, -5, 20]);
        let axis = self.one_of(&["[0, 1, 0]", "[0, 0, 1]", "[1, 0, 1]"]);
        let rotate = format!("rotate = \"{rate} rad/s\", axis = {axis}, through = [0, 0, \"20 mm\"]");
        match self.below(5) {
            0 => format!("{{ translate = {translate} }}"),
            1 => self.vibration(),
            2 => format!("{{ {rotate} }}"),
            3 => format!("{{ translate = {translate}, {rotate} }}"),
            _ => {
                let (start, stop) = (self.steps(10), self.steps(30));
                format!("{{ translate = {translate}, start = {start}, stop = {stop} }}")
            }
        }
    }

    /// Returns a small vibration as an inline table.
    pub fn vibration(&mut self) -> String {
        let (frequency, phase) = (self.one_of(&[20, 50, 200]), self.one_of(&[0, 30, 90]));
        format!(
            "{{ vibrate = [{{ direction = [0, 0, 1], amplitude = \"0.05 mm\", frequency = \"{frequency} Hz\", phase = \"{phase} deg\" }}] }}"
        )
    }

    /// Returns a region near the floor for probes and zones.
    pub fn region(&mut self) -> &'static str {
        self.one_of(&[
            "{ box = { min = [\"-10 mm\", \"-10 mm\", 0], max = [\"10 mm\", \"10 mm\", \"20 mm\"] } }",
            "{ cylinder = { from = [0, 0, 0], to = [0, 0, \"25 mm\"], radius = \"9 mm\" } }",
            "{ sphere = { center = [0, 0, \"10 mm\"], radius = \"8 mm\" } }",
        ])
    }
}
