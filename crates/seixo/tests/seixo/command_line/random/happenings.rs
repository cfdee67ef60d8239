//! Events during a run, and outputs.

use super::writer::Writer;

/// A zone that removes grains.
pub fn zones(writer: &mut Writer) {
    if !writer.is_dry || !writer.chance(20) {
        return;
    }
    let (region, every) = (writer.region(), writer.steps(7));
    writer.line(format!("[zone.drain]\nremove = true\nregion = {region}\nevery = {every}"));
    writer.zones.push("drain");
}

/// Frames, tables, and any probes that fit the scene.
pub fn output(writer: &mut Writer) {
    let (every, energies_every) = (writer.steps(10), writer.steps(5));
    writer.line(format!("[output]\nevery = {every}\nenergies_every = {energies_every}"));
    if writer.is_dry {
        let always = [
            "velocity",
            "angular_velocity",
            "force",
            "torque",
            "material",
            "group",
            "coordination",
            "mass",
            "pressure",
        ];
        let mut fields = always.map(|field| (field, true)).to_vec();
        fields.push(("temperature", writer.is_hot));
        fields.push(("fragment", !writer.bonds.is_empty()));
        fields.push(("body", writer.has_bodies));
        let chosen: Vec<String> = fields
            .into_iter()
            .filter(|(_, is_known)| *is_known)
            .filter(|_| writer.chance(60))
            .map(|(field, _)| format!("\"{field}\""))
            .collect();
        writer.line(format!("fields = [{}]", chosen.join(", ")));
        writer.perhaps(40, "contacts = true");
        let coarse = "coarse = { region = { min = [\"-10 mm\", \"-10 mm\", 0], max = [\"10 mm\", \"10 mm\", \"20 mm\"] }, spacing = \"5 mm\", width = \"5 mm\" }";
        writer.perhaps(20, coarse);
    }
    if writer.solver.is_some() && !writer.is_flat {
        writer.perhaps(15, "surface = true");
    }
    for (k, probe) in writer.probes.clone().into_iter().enumerate() {
        if writer.chance(45) {
            let steps = writer.one_of(&[1, 3, 7, 10]);
            let every = writer.steps(steps);
            writer.line(format!("[probe.n{k}]\n{probe}\nevery = {every}"));
        }
    }
}

/// Stages that add, remove and change objects, each object once.
pub fn stages(writer: &mut Writer) {
    if !writer.chance(50) {
        return;
    }
    let parts = [
        ("wall", &writer.walls),
        ("bonds", &writer.bonds),
        ("zone", &writer.zones),
        ("inlet", &writer.inlets),
    ];
    let mut things: Vec<String> = parts
        .into_iter()
        .flat_map(|(kind, names)| names.iter().map(move |name| format!("{kind}.{name}")))
        .collect();
    // Walls around fluids stay. With zones there may be no grains left to bond.
    let is_free = |thing: &String| match thing.as_str() {
        "wall.rod" | "wall.lid" => true,
        other => !other.starts_with("wall.") && (writer.zones.is_empty() || !other.starts_with("bonds.")),
    };
    things.retain(is_free);
    let lone: Vec<&str> = writer.single.iter().copied().filter(|name| !writer.bonds.contains(name)).collect();
    if writer.groups.len() > 1 && writer.zones.is_empty() {
        things.extend(lone.iter().take(1).map(|name| format!("grains.{name}")));
    }
    let count = 1 + writer.below(3);
    let mut touched: Vec<String> = Vec::new();
    for stage in 0..count {
        writer.line(format!("[[stage]]\nname = \"s{stage}\""));
        if stage + 1 < count || writer.chance(30) {
            until(writer);
        }
        let mut lists = [Vec::new(), Vec::new()];
        for thing in &things {
            if !touched.contains(thing) && writer.chance(25) {
                touched.push(thing.clone());
                lists[writer.below(2) as usize].push(format!("\"{thing}\""));
            }
        }
        for (verb, list) in ["add", "remove"].into_iter().zip(lists) {
            if !list.is_empty() {
                writer.line(format!("{verb} = [{}]", list.join(", ")));
            }
        }
        set(writer, &lone, &mut touched);
    }
}

fn until(writer: &mut Writer) {
    let (late, long) = (writer.steps(8), writer.steps(12));
    let conditions = [
        format!("duration {long} s"),
        format!("time > {late} s"),
        "kinetic_energy < 1 J".to_owned(),
        format!("duration > {late} s and kinetic_energy > 0 J or time > {long} s"),
        "grains > 1 or largest_speed > 1 m/s".to_owned(),
    ];
    let known = if writer.is_dry { 5 } else { 4 };
    let condition = &conditions[writer.below(known) as usize];
    writer.line(format!("until = \"{condition}\""));
    let every = writer.one_of(&[1, 4]);
    let (every, hold) = (writer.steps(every), writer.steps(3));
    writer.line(format!("every = {every}"));
    writer.perhaps(20, &format!("hold = {hold}"));
}

/// Settings of a stage: gravity, a motion, or prescribed motion, load or velocity of a group that no other stage changes.
fn set(writer: &mut Writer, lone: &[&str], touched: &mut Vec<String>) {
    let mut changes = Vec::new();
    if writer.chance(20) {
        // A plane flow stays in its plane.
        changes.push("gravity = [\"1 m/s^2\", 0, \"-5 m/s^2\"]".to_owned());
    }
    let group = lone.iter().find(|name| !touched.contains(&format!("grains.{name}")));
    if let Some(group) = group.filter(|_| writer.zones.is_empty() && writer.chance(35)) {
        touched.push(format!("grains.{group}"));
        let motion = format!("motion = {}", writer.motion());
        let change = [
            "velocity = [0, 0, \"-0.1 m/s\"]",
            "force = [0, 0, \"1e-3 N\"]",
            "torque = [\"1e-6 N m\", 0, 0]",
            "fixed = true",
            motion.as_str(),
        ];
        // Motions through a periodic side are tested elsewhere.
        let known = if writer.is_periodic() { 3 } else { 5 };
        let change = change[writer.below(known) as usize];
        changes.push(format!("grains.{group} = {{ {change} }}"));
    }
    let rod = "wall.rod".to_owned();
    if writer.walls.contains(&"rod") && !touched.contains(&rod) && !writer.is_periodic() && writer.chance(30) {
        touched.push(rod);
        let motion = writer.motion();
        changes.push(format!("wall.rod = {{ motion = {motion} }}"));
    }
    if !changes.is_empty() {
        writer.line(format!("set = {{ {} }}", changes.join(", ")));
    }
}
