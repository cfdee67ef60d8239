//! Walls of all kinds, with motion, wear, heat and slip.

use super::writer::{Solver, Writer};

/// Walls around the scene, and perhaps another wall.
pub fn walls(writer: &mut Writer) {
    if writer.is_periodic() {
        beside_periodic_sides(writer);
    } else {
        around(writer);
    }
    if writer.chance(40) && !writer.is_sheared {
        rod(writer);
    }
    if writer.is_dry && writer.solver.is_none() && !writer.is_periodic() && writer.chance(20) {
        let load = writer.one_of(&["force = \"2 N\"", "stress = \"1 kPa\", area = \"10 cm^2\""]);
        let servo = format!("motion = {{ servo = {{ {load}, along = [0, 0, -1], velocity_limit = \"5 cm/s\" }} }}");
        wall(writer, "lid", "plane = { point = [0, 0, \"58 mm\"], normal = [0, 0, -1] }", &servo);
    }
    if let Some(&wall) = writer.walls.first() {
        writer.probes.push(format!("wall_position = \"{wall}\""));
        if writer.solver != Some(Solver::Muller) {
            writer.probes.push(format!("wall_force = \"{wall}\""));
            writer.probes.push(format!("wall_torque = \"{wall}\""));
        }
        if writer.is_hot {
            writer.probes.push(format!("wall_heat = \"{wall}\""));
        }
    }
}

fn wall(writer: &mut Writer, name: &'static str, surface: &str, motion: &str) {
    writer.walls.push(name);
    writer.line(format!("[wall.{name}]"));
    if writer.is_dry {
        let material = writer.materials[0];
        writer.line(format!("material = \"{material}\""));
    }
    writer.line(surface);
    writer.line(motion);
    if writer.is_hot {
        writer.perhaps(40, "temperature = \"400 K\"");
    }
    if writer.is_dry && writer.chance(15) {
        let wear = [
            "wear_coefficient = 1e-3\nhardness = \"1 GPa\"",
            "specific_wear_rate = \"2e-5 mm^3/N/m\"",
        ];
        writer.one_line(&wear);
    }
    if writer.solver.is_some_and(|solver| solver != Solver::Muller) {
        writer.perhaps(30, "slip = \"free\"");
    }
}

fn beside_periodic_sides(writer: &mut Writer) {
    let [_, along_y, along_z] = writer.periodic;
    if !along_z {
        let surface = writer.one_of(&["", "surface_velocity = [\"0.1 m/s\", 0, 0]"]);
        wall(writer, "floor", "plane = { point = [0, 0, 0], normal = [0, 0, 1] }", surface);
    }
    if !along_y {
        wall(writer, "front", "plane = { point = [0, \"-17 mm\", 0], normal = [0, 1, 0] }", "");
        wall(writer, "back", "plane = { point = [0, \"17 mm\", 0], normal = [0, -1, 0] }", "");
    }
}

fn around(writer: &mut Writer) {
    // Fluids are as wide as the box.
    let kind = if writer.solver.is_some() { 0 } else { writer.below(6) };
    let segments = if writer.chance(30) { ", segments = 12" } else { "" };
    match kind {
        0 | 1 => {
            let open = writer.one_of(&["", ", open = [\"top\"]"]);
            let motion = match writer.below(4) {
                0 => format!("motion = {}", writer.vibration()),
                1 => "surface_velocity = [\"0.1 m/s\", 0, 0]".to_owned(),
                _ => String::new(),
            };
            let surface = format!("box = {{ min = [\"-16 mm\", \"-16 mm\", 0], max = [\"16 mm\", \"16 mm\", \"60 mm\"]{open} }}");
            wall(writer, "tank", &surface, &motion);
        }
        2 => {
            wall(writer, "floor", "plane = { point = [0, 0, 0], normal = [0, 0, 1] }", "");
            wall(writer, "left", "plane = { point = [\"-16 mm\", 0, 0], normal = [1, 0, 0] }", "");
            wall(writer, "right", "plane = { point = [\"16 mm\", 0, 0], normal = [-1, 0, 0] }", "");
        }
        3 => {
            let motion = writer.one_of(&[
                "",
                "surface_rotation = { rate = \"3 rad/s\" }",
                "motion = { rotate = \"5 rad/s\", axis = [0, 0, 1], through = [0, 0, 0] }",
            ]);
            let surface =
                format!("cylinder = {{ from = [0, 0, 0], to = [0, 0, \"60 mm\"], radius = \"25 mm\", caps = [\"from\"]{segments} }}");
            wall(writer, "tank", &surface, motion);
        }
        4 => {
            let surface = format!(
                "cone = {{ from = [0, 0, 0], to = [0, 0, \"60 mm\"], radii = [\"25 mm\", \"40 mm\"], caps = [\"from\"]{segments} }}"
            );
            wall(writer, "tank", &surface, "");
        }
        _ => wall(writer, "tank", "sphere = { center = [0, 0, \"25 mm\"], radius = \"35 mm\" }", ""),
    }
}

/// A small wall above everything else.
fn rod(writer: &mut Writer) {
    let motion = if writer.is_periodic() || writer.chance(30) {
        String::new()
    } else {
        format!("motion = {}", writer.motion())
    };
    let surfaces = [
        "cylinder = { from = [0, \"-8 mm\", \"70 mm\"], to = [0, \"8 mm\", \"70 mm\"], radius = \"4 mm\", caps = [\"from\", \"to\"] }",
        "sphere = { center = [0, 0, \"70 mm\"], radius = \"5 mm\" }",
        "cone = { from = [0, 0, \"66 mm\"], to = [0, 0, \"74 mm\"], radii = [0, \"5 mm\"], caps = [\"to\"] }",
        "mesh = \"plate.obj\"\nscale = \"mm\"",
    ];
    // Müller's solver does not support meshes.
    let kinds = if writer.solver.is_some() { 3 } else { 4 };
    let surface = writer.one_of(&surfaces[..kinds]);
    wall(writer, "rod", surface, &motion);
}
