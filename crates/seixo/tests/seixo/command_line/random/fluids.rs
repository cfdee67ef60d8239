//! Fluids of all three solvers, with inlets and outlets.

use super::writer::{Solver, Writer};

/// One fluid, or two in layers.
pub fn fluids(writer: &mut Writer) {
    let Some(solver) = writer.solver else { return };
    let are_two = writer.chance(25);
    let has_tension = solver == Solver::Compressible && !are_two && writer.chance(25);
    writer.is_flat = solver != Solver::Muller && !writer.is_dry && !writer.is_periodic() && writer.chance(25);
    let height = if are_two { 12 } else { writer.one_of(&[12, 16, 20]) };
    // Between periodic sides a fluid extends from one side to the other.
    let half = if writer.is_periodic() { 20 } else { 16 };
    let low = if are_two { "oil" } else { "water" };
    writer.line(format!("[fluid.{low}]"));
    writer.line("density = \"1000 kg/m^3\"");
    let fills = [
        format!("box = {{ min = [\"-{half} mm\", \"-{half} mm\", 0], max = [\"{half} mm\", \"{half} mm\", \"{height} mm\"] }}"),
        format!("cylinder = {{ from = [0, 0, 0], to = [0, 0, \"{height} mm\"], radius = \"12 mm\" }}"),
        "sphere = { center = [0, 0, \"12 mm\"], radius = \"10 mm\" }".to_owned(),
    ];
    let is_plain = are_two || writer.is_flat || writer.is_periodic() || writer.chance(70);
    let fill = if is_plain { 0 } else { 1 + writer.below(2) };
    writer.line(format!("fill = {{ {} }}", fills[fill as usize]));
    writer.line("spacing = \"4 mm\"\nfastest = \"0.7 m/s\"");
    if writer.is_flat {
        writer.line("plane = \"xz\"");
    }
    match solver {
        Solver::Compressible => compressible(writer, has_tension),
        Solver::Incompressible => {
            writer.line("solver = \"dfsph\"\nsupport = 3");
            writer.perhaps(30, "iterations = 20");
            writer.perhaps(30, "artificial_viscosity = 0.1");
        }
        Solver::Muller => {
            writer.line("solver = \"muller2003\"\nsupport = 2");
            writer.perhaps(50, "xsph = 0.2");
            writer.perhaps(30, "restitution = 0.5");
        }
    }
    viscosity(writer, solver);
    writer.perhaps(30, "initial_pressure = \"none\"");
    writer.perhaps(30, "velocity = [\"0.1 m/s\", 0, 0]");
    if are_two {
        writer.line("[fluid.water]\ndensity = \"900 kg/m^3\"");
        writer.line(format!(
            "fill = {{ box = {{ min = [\"-{half} mm\", \"-{half} mm\", \"12 mm\"], max = [\"{half} mm\", \"{half} mm\", \"20 mm\"] }} }}"
        ));
        viscosity(writer, solver);
    }
    if solver == Solver::Compressible && !are_two && !writer.is_flat && !writer.is_periodic() && writer.chance(30) {
        open_boundaries(writer);
    }
    let probes = [
        "fluid = true",
        "fluid_pressure = { at = [[\"1 mm\", 0, \"6 mm\"]] }",
        "fluid_velocity = { at = [[\"1 mm\", 0, \"6 mm\"], [0, 0, 0]] }",
        "front = { along = [1, 0, 0] }",
        "flow_rate = { through = { point = [0, 0, 0], normal = [1, 0, 0] } }",
    ];
    writer.probes.extend(probes.map(str::to_owned));
    if writer.is_upright {
        writer.probes.push("surface_height = { at = [[\"1 mm\", 0]] }".to_owned());
    }
}

fn compressible(writer: &mut Writer, has_tension: bool) {
    writer.one_line(&["solver = \"wcsph\"", ""]);
    if has_tension {
        writer.line("surface_tension = \"0.07 N/m\"");
        writer.perhaps(50, "contact_angle = \"60 deg\"");
    } else {
        writer.line("support = 3");
        writer.one_line(&["smoothing = \"wendland\"", "smoothing = \"cubic_spline\""]);
        writer.perhaps(30, "density_diffusion = 0.1");
    }
    writer.perhaps(30, "state = \"linear\"");
    writer.perhaps(30, "background_pressure = \"200 Pa\"");
    writer.perhaps(30, "artificial_viscosity = 0.1");
}

fn viscosity(writer: &mut Writer, solver: Solver) {
    // Müller's solver gains energy without viscosity.
    let viscosities = ["1e-3", "0.1", "1"];
    let first = if solver == Solver::Muller { 2 } else { 0 };
    let viscosity = writer.one_of(&viscosities[first..]);
    writer.line(format!("viscosity = \"{viscosity} Pa s\""));
}

/// An inlet, an outlet, or both.
fn open_boundaries(writer: &mut Writer) {
    let which = writer.below(3);
    if which < 2 {
        writer.line("[inlet.tap]\nthrough = { disc = { center = [0, 0, \"48 mm\"], normal = [0, 0, -1], radius = \"5 mm\" } }");
        writer.one_line(&["speed = \"0.3 m/s\"", "rate = \"2e-5 m^3/s\""]);
    }
    if which > 0 {
        writer.line(
            "[outlet.drain]\nthrough = { box = { min = [\"-16 mm\", \"-16 mm\", \"4 mm\"], max = [\"-8 mm\", \"16 mm\", \"40 mm\"] } }",
        );
    }
}
