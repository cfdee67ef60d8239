//! Grains of all kinds: materials and interactions, shapes, fills, bonds, joints, boundaries and inlets.

use super::writer::{Solver, Writer};

/// One to three materials, and an interaction for each pair.
pub fn materials(writer: &mut Writer) {
    let count = 1 + writer.below(3) as usize;
    writer.materials = ["clay", "glass", "steel"][..count].to_vec();
    for at in 0..count {
        let name = writer.materials[at];
        let (density, modulus) = (writer.one_of(&[500, 2600, 7800]), writer.one_of(&[1, 5, 20]));
        writer.line(format!(
            "[material.{name}]\ndensity = \"{density} kg/m^3\"\nyoungs_modulus = \"{modulus} MPa\""
        ));
        writer.one_line(&["poisson_ratio = 0.2", "poisson_ratio = 0.45"]);
        if writer.is_hot {
            writer.line("thermal_conductivity = \"50 W/m/K\"\nspecific_heat_capacity = \"800 J/kg/K\"");
        }
    }
    for a in 0..count {
        for b in a..count {
            let pair = format!("[interaction.{}-{}]", writer.materials[a], writer.materials[b]);
            writer.line(pair);
            interaction(writer);
        }
    }
}

fn interaction(writer: &mut Writer) {
    let laws = ["hertz", "viscoelastic", "hertz", "linear", "hysteretic", "potential"];
    // Heat conduction needs a contact area.
    let known = if writer.is_hot { 2 } else { laws.len() };
    let normal = writer.one_of(&laws[..known]);
    writer.line(format!("normal = \"{normal}\""));
    match normal {
        "viscoelastic" => writer.line("dissipative_time = \"2 us\""),
        "potential" => writer.line("potential_energy = \"1e-7 J\""),
        _ => writer.one_line(&["restitution = 1", "restitution = 0.5", "restitution = 0.1"]),
    }
    if matches!(normal, "linear" | "hysteretic") {
        writer.one_line(&["stiffness = \"2000 N/m\"", "stiffness = \"20000 N/m\""]);
    }
    let laws = ["none", "linear", "mindlin", "mindlin_force", "mindlin_displacement"];
    let known = if matches!(normal, "hertz" | "viscoelastic") {
        laws.len()
    } else {
        2
    };
    let tangential = writer.one_of(&laws[..known]);
    writer.line(format!("tangential = \"{tangential}\""));
    if tangential != "none" {
        writer.one_line(&["friction = 0.3", "friction = 0.8", "friction = 0"]);
    }
    if tangential == "linear" {
        writer.line("tangential_stiffness = \"1500 N/m\"");
    }
    if writer.chance(30) {
        let laws = [
            "{ law = \"sjkr\", energy_density = \"20 kPa\" }",
            "{ law = \"dmt\", surface_energy = \"0.05 J/m^2\" }",
            "{ law = \"capillary\", surface_tension = \"0.07 N/m\", volume = \"1e-12 m^3\", contact_angle = \"20 deg\" }",
            "{ law = \"jkr\", surface_energy = \"0.05 J/m^2\" }",
        ];
        let known = if normal == "hertz" { laws.len() } else { 3 };
        let law = writer.one_of(&laws[..known]);
        writer.line(format!("cohesion = {law}"));
    }
    if writer.chance(30) {
        writer.one_line(&[
            "rolling = { law = \"constant\", coefficient = 0.1 }",
            "rolling = { law = \"elastic_plastic\", coefficient = 0.1, damping_ratio = 0.3 }",
        ]);
    }
    if writer.chance(25) {
        let laws = [
            "twisting = { law = \"constant\", coefficient = 0.05 }",
            "twisting = { law = \"elastic_plastic\", coefficient = 0.05 }",
            "twisting = { law = \"marshall\" }",
        ];
        let known = if tangential == "none" { 2 } else { laws.len() };
        writer.one_line(&laws[..known]);
    }
}

const SHAPES: &str = "[shape.rod]
spheres = [{ at = [-1, 0, 0], radius = 1 }, { at = [0, 0, 0], radius = 1 }, { at = [1, 0, 0], radius = 1 }]
[shape.pebble]
spheres = [{ at = [0, 0, 0], radius = 1 }, { at = [0.9, 0.1, 0], radius = 0.7 }, { at = [-0.4, 0.8, 0.2], radius = 0.6 }]
[shape.raft]
mesh = \"../../../../../examples/raft.obj\"
spheres = { radius = 0.01, fill = \"surface\" }";

/// One to three groups above each other, with bonds and an inlet.
pub fn grains(writer: &mut Writer) {
    let may_be_bodies = !writer.is_hot && !writer.is_sheared;
    let has_shapes = may_be_bodies && writer.chance(45);
    if has_shapes {
        writer.line(SHAPES);
    }
    let count = 1 + writer.below(3) as usize;
    let bottom = if writer.solver.is_some() { 24 } else { 3 };
    for (k, name) in ["lower", "middle", "upper"].into_iter().take(count).enumerate() {
        let level = bottom + 16 * k as u64;
        writer.groups.push(name);
        let material = writer.one_of(&writer.materials.clone());
        writer.line(format!("[grains.{name}]\nmaterial = \"{material}\""));
        let has_shape = has_shapes && writer.chance(60);
        group(writer, name, level, has_shape);
    }
    for name in writer.bonds.clone() {
        bonds(writer, name);
    }
    // Below the lid, if there is one.
    if count < 3 && writer.solver.is_none() && writer.chance(35) {
        inlet(writer);
    }
    probes(writer);
}

fn group(writer: &mut Writer, name: &'static str, level: u64, has_shape: bool) {
    let in_fluid = writer.solver.is_some() && writer.chance(60);
    let is_carried = in_fluid && !has_shape && writer.solver == Some(Solver::Compressible) && writer.chance(40);
    let displaces = in_fluid && !is_carried;
    let is_placed = displaces || writer.chance(35);
    let mut is_single = !has_shape && !in_fluid && !writer.is_hot;
    if has_shape {
        writer.has_bodies = true;
        writer.one_line(&["shape = \"rod\"", "shape = \"pebble\"", "shape = \"raft\""]);
    }
    let mut is_bonded = false;
    if is_placed {
        let places = [
            format!("[\"-8 mm\", 0, \"{} mm\"]", level + 5),
            format!("[\"8 mm\", 0, \"{} mm\"]", level + 5),
        ];
        let count = 1 + writer.below(2) as usize;
        writer.line(format!("at = [{}]", places[..count].join(", ")));
        // Bodies that displace a fluid are as wide as its spacing, and so is each sphere of a shape.
        writer.line(match (displaces, has_shape) {
            (true, true) => "radius = \"7 mm\"",
            (true, false) => "radius = \"4 mm\"",
            (false, _) => "radius = \"3 mm\"",
        });
    } else {
        is_bonded = !in_fluid && !has_shape && writer.solver.is_none() && writer.chance(35);
        fill(writer, name, level, (is_carried, is_bonded, has_shape));
    }
    if in_fluid {
        writer.line(if is_carried {
            "carried_by_fluid = true"
        } else {
            "displaces_fluid = true"
        });
    }
    let is_tame = !has_shape && !is_carried;
    let may_be_tied = is_placed && !is_carried && !writer.is_periodic() && !writer.is_hot && !writer.is_gear;
    match writer.below(10) {
        0 if is_tame => {
            writer.line("fixed = true");
            is_single = false;
        }
        1 if is_tame && !writer.is_periodic() => {
            let motion = writer.motion();
            writer.line(format!("motion = {motion}"));
            is_single = false;
        }
        2 | 3 if may_be_tied => {
            writer.has_bodies = true;
            is_single = false;
            writer.one_line(&[
                "joint = { hinge = { axis = [0, 1, 0] } }",
                "joint = { ball = {} }",
                "joint = { slider = { along = [0, 0, 1] } }",
            ]);
        }
        _ => {
            writer.perhaps(30, "velocity = [0, 0, \"-0.2 m/s\"]");
            writer.perhaps(25, "angular_velocity = [0, \"10 rad/s\", \"3 rad/s\"]");
            writer.perhaps(20, "force = [0, 0, \"-1e-3 N\"]");
            writer.perhaps(15, "torque = [\"1e-6 N m\", 0, 0]");
        }
    }
    if writer.is_hot {
        writer.one_line(&["temperature = \"300 K\"", "temperature = \"350 K\""]);
    }
    if is_bonded {
        writer.bonds.push(name);
    }
    if is_single {
        writer.single.push(name);
    }
}

/// Fills a region by one of the methods, for grains that are suspended, bonded, or of a shape.
fn fill(writer: &mut Writer, name: &'static str, level: u64, (is_carried, is_bonded, has_shape): (bool, bool, bool)) {
    let (low, high) = (level, level + 12);
    let middle = level + 6;
    let regions = [
        format!("box = {{ min = [\"-12 mm\", \"-12 mm\", \"{low} mm\"], max = [\"12 mm\", \"12 mm\", \"{high} mm\"] }}"),
        format!("cylinder = {{ from = [0, 0, \"{low} mm\"], to = [0, 0, \"{high} mm\"], radius = \"13 mm\" }}"),
        format!("sphere = {{ center = [0, 0, \"{middle} mm\"], radius = \"6 mm\" }}"),
        format!("cone = {{ from = [0, 0, \"{low} mm\"], to = [0, 0, \"{high} mm\"], radii = [\"13 mm\", \"7 mm\"] }}"),
    ];
    if is_bonded {
        let amount = writer.one_of(&[
            "count = 18, radius = \"2 mm\", lattice = \"cubic\"",
            "count = 12, radius = \"2 mm\", lattice = \"hexagonal\"",
            "solid_fraction = 0.5, radius = { uniform = [\"1.8 mm\", \"2.2 mm\"] }, method = \"growth\"",
        ]);
        writer.line(format!("fill = {{ region = {{ {} }}, {amount} }}", regions[0]));
        writer.many.push(name);
        return;
    }
    let region = writer.below(4) as usize;
    let is_small = region > 1 || has_shape;
    let most = if is_small { 2 } else { 18 };
    let count = 1 + writer.below(most);
    let radii = [
        "\"1.5 mm\"",
        "{ uniform = [\"1.5 mm\", \"2 mm\"] }",
        "{ normal = [\"1.8 mm\", \"0.1 mm\"] }",
        "{ discrete = { radii = [\"1 mm\", \"2 mm\"], shares = [0.5, 0.5], by = \"number\" } }",
    ];
    // Suspended grains are small compared with fluid particles.
    let radius = if is_carried { "\"1 mm\"" } else { writer.one_of(&radii) };
    let methods = ["random", "lattice", "rain"];
    let known = if writer.is_upright && region < 2 { 3 } else { 2 };
    let method = writer.one_of(&methods[..if is_small { 1 } else { known }]);
    writer.line(format!(
        "fill = {{ region = {{ {} }}, count = {count}, radius = {radius}, method = \"{method}\" }}",
        regions[region]
    ));
    if count > 5 && !has_shape {
        writer.many.push(name);
    }
}

fn bonds(writer: &mut Writer, name: &str) {
    writer.line(format!(
        "[bonds.{name}]\namong = [\"{name}\"]\nyoungs_modulus = \"1 MPa\"\ntolerance = 1"
    ));
    writer.one_line(&["law = \"beam\"", "law = \"point\""]);
    writer.perhaps(30, "tensile_strength = \"1 kPa\"");
    writer.perhaps(30, "cohesion = \"1 kPa\"\nfriction_angle = \"30 deg\"");
    writer.perhaps(20, "fracture_energy = \"0.01 J/m^2\"");
    writer.perhaps(30, "weibull_modulus = 8");
    writer.perhaps(30, "damping_ratio = 0.1");
    writer.perhaps(30, "section = \"square\"");
}

fn inlet(writer: &mut Writer) {
    let material = writer.materials[0];
    writer.line(format!("[grains.rain]\nmaterial = \"{material}\""));
    if writer.is_hot {
        writer.line("temperature = \"300 K\"");
    }
    writer.line("[grains.rain.inlet]");
    writer.one_line(&[
        "through = { disc = { center = [0, 0, \"54 mm\"], normal = [0, 0, -1], radius = \"8 mm\" } }",
        "through = { box = { min = [\"-8 mm\", \"-8 mm\", \"46 mm\"], max = [\"8 mm\", \"8 mm\", \"54 mm\"] } }",
    ]);
    let (rate, every, to) = (writer.rate(3), writer.steps(5), writer.steps(40));
    writer.line(format!("rate = \"{rate} 1/s\"\nevery = {every}\nvelocity = [0, 0, \"-1 m/s\"]"));
    writer.one_line(&["radius = \"2 mm\"", "radius = { uniform = [\"1.5 mm\", \"2 mm\"] }"]);
    writer.perhaps(30, &format!("to = {to}"));
    writer.inlets.push("rain");
}

fn probes(writer: &mut Writer) {
    let group = writer.one_of(&writer.groups.clone());
    let region = writer.region();
    let of_all = [
        "count_through = { plane = { point = [0, 0, \"10 mm\"], normal = [0, 0, -1] } }".to_owned(),
        format!("group_center = \"{group}\""),
        format!("group_force = \"{group}\""),
        "position = 0".to_owned(),
        "energy = true".to_owned(),
        "fabric = {}".to_owned(),
        format!("stress = {{ region = {region} }}"),
        format!("coordination = {{ region = {region} }}"),
        format!("solid_fraction = {{ region = {region} }}"),
    ];
    writer.probes.extend(of_all);
    if let Some(group) = writer.many.first().filter(|_| !writer.is_periodic()) {
        writer.probes.push(format!("strain = {{ group = \"{group}\" }}"));
    }
    if let [a, b, ..] = writer.groups[..] {
        writer
            .probes
            .push(format!("mixing = {{ groups = [\"{a}\", \"{b}\"], cells = [2, 2, 2] }}"));
    }
    if writer.is_hot {
        writer.probes.push(format!("group_temperature = \"{group}\""));
        writer.probes.push("heat = true".to_owned());
    }
    if !writer.bonds.is_empty() {
        writer.probes.push("bonds = true".to_owned());
        writer.probes.push("fragments = true".to_owned());
    }
}
