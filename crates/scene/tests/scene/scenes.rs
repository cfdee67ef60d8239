//! Valid scenes: the world has the values of their keys.

use crate::loaded::{GLASS, scene};
use seixo_analysis::Region;
use seixo_engine::world::{Api, DeviceChoice, Extent, ForceAssembly, Frustum, LocallyDamped, Precision, Search, ServoTarget, WallShape};
use seixo_scene::{Measure, ProbeKind, RegionServo, StageAction, StageItem, load, load_text, schema};
use std::path::{Path, PathBuf};

#[test]
fn device_and_precision_are_as_asked_for() {
    let settings = |asked: &str| {
        let text = GLASS.replace("until = 1", &format!("until = 1\n{asked}"));
        let first = scene(&format!("{text}\n[grains.one]\nmaterial = \"glass\"\nat = [[0, 0, 0]]\nradius = 1"));
        let again = scene(&first.resolved).settings;
        assert_eq!(
            (again.device, again.precision),
            (first.settings.device, first.settings.precision),
            "{asked}"
        );
        (again.device, again.precision)
    };
    assert_eq!(settings(""), (DeviceChoice::Cpu, None));
    assert_eq!(settings("precision = \"f64\""), (DeviceChoice::Cpu, Some(Precision::F64)));
    assert_eq!(settings("device = \"auto\"\nprecision = \"auto\""), (DeviceChoice::Auto, None));
    assert_eq!(
        settings("device = \"gpu\"\nprecision = \"mixed\""),
        (DeviceChoice::Gpu(None), Some(Precision::Mixed))
    );
    assert_eq!(
        settings("device = \"cuda:2\"\nprecision = \"f32\""),
        (DeviceChoice::Gpu(Some((Api::Cuda, 2))), Some(Precision::F32))
    );
}

#[test]
fn a_number_of_gpus_on_the_command_line_asks_for_a_gpu() {
    let device = |key: &str, overrides: &[(&str, &str)]| {
        let text = GLASS.replace("until = 1", &format!("until = 1\n{key}"));
        let text = format!("{text}\n[grains.one]\nmaterial = \"glass\"\nat = [[0, 0, 0]]\nradius = 1");
        let overrides: Vec<(String, String)> = overrides.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
        load_text(&text, Path::new("scene.toml"), &overrides).unwrap().settings.device
    };
    let gpus = ("run.gpus", "1");
    assert_eq!(device("", &[gpus]), DeviceChoice::Gpu(None));
    // The scene of a run folder names every device.
    assert_eq!(device("device = \"cpu\"", &[gpus]), DeviceChoice::Gpu(None));
    assert_eq!(device("device = \"wgpu:1\"", &[gpus]), DeviceChoice::Gpu(Some((Api::Wgpu, 1))));
    assert_eq!(device("", &[gpus, ("run.device", "cpu")]), DeviceChoice::Cpu);
    assert_eq!(device("gpus = 1", &[]), DeviceChoice::Cpu);
}

#[test]
fn every_search_has_a_word() {
    let grain =
        "[grains.ball]\nmaterial = \"glass\"\nfill = { region = { sphere = { center = [0, 0, 0], radius = 1 } }, count = 1, radius = 0.1 }";
    for search in Search::ALL {
        let run = format!("[run]\nsearch = \"{}\"", search.name());
        let scene = scene(&format!("{}\n{grain}", GLASS.replace("[run]", &run)));
        assert_eq!(scene.settings.search, search);
        assert!(scene.resolved.contains(search.name()));
    }
}

#[test]
fn every_force_assembly_and_choice_of_local_damping_has_a_word() {
    let grain = "[grains.ball]\nmaterial = \"glass\"\nat = [[0, 0, 0]]\nradius = 1";
    let with = |run: &str| scene(&format!("{}\n{grain}", GLASS.replace("[run]", &format!("[run]\n{run}"))));
    for assembly in ForceAssembly::ALL {
        let scene = with(&format!("assembly = \"{}\"", assembly.name()));
        assert_eq!(scene.settings.assembly, assembly);
        assert!(scene.resolved.contains(assembly.name()));
    }
    assert_eq!(with("").settings.assembly, ForceAssembly::Fused);
    for (word, meant) in [
        ("all_forces", LocallyDamped::AllForces),
        ("all_but_weight", LocallyDamped::AllButWeight),
    ] {
        let scene = with(&format!("local_damping = 0.1\nlocal_damping_of = \"{word}\""));
        assert_eq!(scene.world.locally_damped, meant);
        assert!(scene.resolved.contains(word));
    }
    assert_eq!(with("").world.locally_damped, LocallyDamped::AllForces);
}

#[test]
fn a_damping_is_read_in_place_of_a_restitution_and_written_back() {
    let text = |keys: &str| {
        format!(
            "run.until = 1\n[material.a]\ndensity = 1\nyoungs_modulus = 1e6\npoisson_ratio = 0\n\
             [interaction.a-a]\nfriction = 0.3\n{keys}\n\
             [grains.a]\nmaterial = \"a\"\nat = [[0, 0, 0], [3, 0, 0]]\nradius = 1"
        )
    };
    for (keys, tangential) in [
        ("normal = \"linear\"\nstiffness = 1e4\ndamping = \"500 1/s\"", 250.0),
        (
            "normal = \"linear\"\nstiffness = 1e4\ndamping = \"0.5 kHz\"\ntangential_damping = 0",
            0.0,
        ),
        ("damping = \"500 1/s\"", 250.0),
        ("tangential = \"none\"\ndamping = \"500 1/s\"", 0.0),
    ] {
        let first = scene(&text(keys));
        let pair = first.world.interaction(0, 0).unwrap();
        assert_eq!((pair.restitution, pair.damping_rates()), (1.0, [500.0, tangential]), "{keys}");
        let again = scene(&first.resolved);
        assert_eq!(again.world.interactions, first.world.interactions);
        assert_eq!(again.resolved, first.resolved);
    }
}

#[test]
fn a_run_is_decomposition_invariant_under_both_names_of_the_key() {
    let grain = "[grains.one]\nmaterial = \"glass\"\nat = [[0, 0, 0]]\nradius = 1";
    let with = |run: &str| scene(&format!("{}\n{grain}", GLASS.replace("[run]", &format!("[run]\n{run}"))));
    assert!(!with("").settings.decomposition_invariant);
    let asked = with("decomposition_invariant = true");
    assert!(asked.settings.decomposition_invariant && asked.notices.is_empty());
    let earlier = with("divisible = true");
    assert_eq!(earlier.resolved, asked.resolved);
    assert_eq!(earlier.notices.len(), 1);
    assert!(
        earlier.notices[0].contains("scene.toml:3:1: run.divisible is now called run.decomposition_invariant"),
        "{:?}",
        earlier.notices
    );
    assert!(scene(&earlier.resolved).notices.is_empty());
}

#[test]
fn masses_come_from_a_file_or_from_the_section() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bed.csv");
    let text = format!("{GLASS}\n[grains.bed]\nmaterial = \"glass\"\nfile = \"bed.csv\"\nradius = \"1 mm\"");
    let load = |text: &str| load_text(text, &folder.path().join("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    std::fs::write(&path, "id x y z\n4 0 0 0\n2 1 0 0\n").unwrap();
    assert!(load(&text).world.grains.masses.is_empty());
    let keyed = format!("{text}\nmass = \"3 mg\"");
    let all = |world: &seixo_engine::world::World| world.grains.masses.iter().map(|(&id, &mass)| (id, mass)).collect::<Vec<_>>();
    let first = load(&keyed);
    assert_eq!(all(&first.world), [(2, 3e-6), (4, 3e-6)]);
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((all(&again.world), again.resolved), (all(&first.world), first.resolved));
    // A column takes precedence.
    std::fs::write(&path, "id x y z mass[g]\n4 0 0 0 2\n2 1 0 0 5\n").unwrap();
    assert_eq!(all(&load(&keyed).world), [(2, 5e-3), (4, 2e-3)]);
    // A boundary weighs what its grains weigh.
    let held = load(&format!("{text}\nfixed = true"));
    assert_eq!((all(&held.world).len(), held.world.grains.bodies[0].mass), (2, 5e-3 + 2e-3));
    // Grains that a stage adds bring their masses.
    let later = load(&format!(
        "{text}\n[[stage]]\nname = \"wait\"\nuntil = \"duration 0.1 s\"\n[[stage]]\nname = \"come\"\nadd = [\"grains.bed\"]\n"
    ));
    assert!(later.world.grains.masses.is_empty());
    assert_eq!(later.plan.reserve.masses.get(&2), Some(&5e-3));
    let [kind] = &later.world.later.grains[..] else {
        panic!("{:?}", later.world.later.grains)
    };
    assert_eq!(kind.mass_per_radius, Some(2e-3 / 1e-3));
}

#[test]
fn files_are_relative_to_the_scene_and_absolute_once_resolved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(
        folder.path().join("bed.csv"),
        "id,x[mm],y[mm],z[mm],radius[mm]\n7,0,0,0,1\n3,5,0,0,1\n9,10,0,0,2\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("floor.stl"),
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n",
    )
    .unwrap();
    let text = format!(
        "{GLASS}\n[grains.bed]\nmaterial = \"glass\"\nfile = \"bed.csv\"\nrows = [2, -1]\nvelocity = [1, 0, 0]\n[grains.one]\nmaterial = \"glass\"\nat = [[1, 1, 1]]\nradius = 1\n[wall.floor]\nmaterial = \"glass\"\nmesh = \"floor.stl\"\nscale = \"mm\""
    );
    std::fs::write(&path, text).unwrap();
    let first = load(&path, &[]).unwrap();
    assert_eq!(first.world.grains.id, [3, 9, 0]);
    assert_eq!(first.world.grains.radius[..2], [1e-3, 2e-3]);
    assert_eq!(first.world.grains.velocity[0], [1.0, 0.0, 0.0]);
    assert_eq!(
        first.world.walls[0].shape,
        WallShape::Mesh(vec![[[0.0; 3], [1e-3, 0.0, 0.0], [0.0, 1e-3, 0.0]]])
    );
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap();
    assert_eq!(again.world.grains, first.world.grains);
    assert_eq!(again.world.walls, first.world.walls);
    assert_eq!(again.title, "scene");
}

#[test]
fn boxes_face_inward_and_count_as_one_wall() {
    let text = format!(
        "{GLASS}\n[grains.a]\nmaterial = \"glass\"\nat = [[0.5, 0.5, 0.5]]\nradius = 0.1\n[wall.box]\nmaterial = \"glass\"\nbox = {{ min = [0, 0, 0], max = [1, 1, 1], open = [\"top\"] }}\n[probe.force]\nwall_force = \"box\""
    );
    let scene = scene(&text);
    assert_eq!(
        scene.world.walls.iter().map(|wall| wall.name.as_str()).collect::<Vec<_>>(),
        ["box.left", "box.right", "box.front", "box.back", "box.bottom"]
    );
    assert_eq!(scene.probes[0].what, ProbeKind::WallForce { walls: 0..5 });
    for wall in &scene.world.walls {
        let WallShape::Plane { point, normal } = wall.shape else {
            panic!("{wall:?}")
        };
        assert_eq!(
            (glam::DVec3::splat(0.5) - glam::DVec3::from(point)).dot(normal.into()),
            0.5,
            "{}",
            wall.name
        );
    }
}

#[test]
fn each_face_of_a_box_is_a_wall_for_probes_stages_and_conditions() {
    let text = format!(
        "{GLASS}\n[grains.a]\nmaterial = \"glass\"\nat = [[0.5, 0.5, 0.5]]\nradius = 0.1\n[wall.tank]\nmaterial = \"glass\"\nbox = {{ min = [0, 0, 0], max = [1, 1, 1] }}\n\
         [probe.force]\nwall_force = \"tank.bottom\"\n[probe.torque]\nwall_torque = \"tank.top\"\n[probe.whole]\nwall_position = \"tank\"\n\
         [[stage]]\nname = \"one\"\nuntil = \"wall_force.tank.bottom > 1 N\"\nset.wall.\"tank.left\".motion = {{ translate = [1, 0, 0] }}\n\
         [[stage]]\nname = \"two\"\nremove = [\"wall.tank.top\"]\nuntil = \"wall_force.tank > 1 N\"\n[[stage]]\nname = \"three\"\nadd = [\"wall.tank.top\"]"
    );
    let first = scene(&text);
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap();
    for scene in [&first, &again] {
        let names: Vec<&str> = scene.world.walls.iter().map(|wall| wall.name.as_str()).collect();
        let faces = ["left", "right", "front", "back", "bottom", "top"].map(|face| format!("tank.{face}"));
        assert_eq!(names, faces);
        let logged: Vec<&ProbeKind> = scene.probes.iter().map(|probe| &probe.what).collect();
        let wanted = [
            ProbeKind::WallForce { walls: 4..5 },
            ProbeKind::WallTorque { walls: 5..6 },
            ProbeKind::WallPosition { walls: 0..6 },
        ];
        assert_eq!(logged, wanted.iter().collect::<Vec<_>>());
        let stages = &scene.plan.stages;
        assert!(
            matches!(&stages[0].actions[..], [StageAction::Motion(walls, motion)] if *walls == (0..1) && motion.velocity == [1.0, 0.0, 0.0]),
            "{:?}",
            stages[0].actions
        );
        assert_eq!(stages[1].actions, [StageAction::Remove(StageItem::Walls(5..6))]);
        assert_eq!(stages[2].actions, [StageAction::Add(StageItem::Walls(5..6))]);
        assert!(scene.plan.absent.is_empty(), "{:?}", scene.plan.absent);
        let of_bottom = |measure: &Measure| if *measure == Measure::WallForce(4..5) { 2.0 } else { 0.0 };
        assert!(stages[0].until.as_ref().unwrap().holds(of_bottom).is_some());
        assert!(stages[1].until.as_ref().unwrap().holds(of_bottom).is_none());
    }
}

#[test]
fn round_walls_close_and_turn() {
    let text = format!(
        "{GLASS}\n[grains.a]\nmaterial = \"glass\"\nat = [[0, 0, 0]]\nradius = 0.1\n[wall.drum]\nmaterial = \"glass\"\ncylinder = {{ from = [0, -1, 0], to = [0, 1, 0], radius = 2, segments = 12, caps = [\"from\", \"to\"] }}\nmotion = {{ rotate = \"60 rpm\", axis = [0, 3, 0], through = [0, 0, 0] }}"
    );
    let wall = &scene(&text).world.walls[0];
    assert!((wall.motion.angular_velocity[1] - std::f64::consts::TAU).abs() < 1e-14);
    let WallShape::Mesh(triangles) = &wall.shape else {
        panic!("{wall:?}")
    };
    // A closed surface: its area vectors cancel.
    let corner = |triangle: &[[f64; 3]; 3], index: usize| glam::DVec3::from(triangle[index]);
    let area = |t: &[[f64; 3]; 3]| 0.5 * (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0)).length();
    let side = 2.0 * 2.0 * (std::f64::consts::PI / 12.0).sin();
    let ends = 12.0 * 0.5 * 4.0 * (std::f64::consts::TAU / 12.0).sin();
    let total: f64 = triangles.iter().map(area).sum();
    assert!((total - 12.0 * side * 2.0 - 2.0 * ends).abs() < 1e-12, "{total}");
}

#[test]
fn round_walls_are_exact_unless_segments_are_given() {
    let walls = |keys: &str| {
        let text =
            format!("{GLASS}\n[grains.a]\nmaterial = \"glass\"\nat = [[0, 0, 0]]\nradius = 0.1\n[wall.w]\nmaterial = \"glass\"\n{keys}");
        let first = scene(&text);
        let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap();
        assert_eq!(again.world.walls, first.world.walls, "{}", first.resolved);
        first.world.walls
    };
    let round = |keys: &str| match &walls(keys)[0].shape {
        WallShape::Round(frusta) => frusta.clone(),
        other => panic!("{other:?}"),
    };
    let cylinder = round("cylinder = { from = [0, -1, 0], to = [0, 3, 0], radius = 2, caps = [\"to\"] }");
    let (base, axis) = ([0.0, -1.0, 0.0], [0.0, 1.0, 0.0]);
    let mantle = Frustum {
        base,
        axis,
        height: 4.0,
        radii: [2.0; 2],
    };
    assert_eq!(cylinder, [mantle, Frustum::disk([0.0, 3.0, 0.0], axis, 2.0)]);
    let cone = round("cone = { from = [0, -1, 0], to = [0, 3, 0], radii = [0, \"20 cm\"], caps = [\"from\", \"to\"] }");
    assert_eq!((cone.len(), cone[0].radii), (2, [0.0, 0.2]), "a tip has no cap");
    let sphere = &walls("sphere = { center = [1, 2, 3], radius = 5 }")[0].shape;
    let center = [1.0, 2.0, 3.0];
    assert_eq!(*sphere, WallShape::Sphere { center, radius: 5.0 });
    // The drawn mesh is closed: a polyhedron around the sphere with nearly its area.
    let corner = |triangle: &[[f64; 3]; 3], index: usize| glam::DVec3::from(triangle[index]);
    let areas = |t: &[[f64; 3]; 3]| 0.5 * (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0));
    let shown = sphere.triangles();
    let area: f64 = shown.iter().map(|t| areas(t).length()).sum();
    assert!((area / (100.0 * std::f64::consts::PI) - 1.0).abs() < 3e-3, "{area}");
    assert!(shown.iter().map(areas).sum::<glam::DVec3>().length() < 1e-9);
}

#[test]
fn walls_move_run_and_are_steered() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lift.csv"), "t[ms] z[mm] angle[deg]\n0 5 0\n100 8 90\n").unwrap();
    let text = format!(
        "{GLASS}\n[grains.a]\nmaterial = \"glass\"\nat = [[0, 0, 0]]\nradius = 0.1\n\
         [wall.a]\nmaterial = \"glass\"\nplane = {{ point = [0, 0, -1], normal = [0, 0, 1] }}\n\
         motion = {{ path = \"lift.csv\", axis = [0, 2, 0], through = [1, 0, 0], start = \"1 s\", stop = \"2 s\", vibrate = [\
         {{ amplitude = \"1 mm\", frequency = \"50 Hz\", direction = [0, 0, 2] }}, {{ amplitude = 2, frequency = 3, direction = [1, 0, 0], phase = \"90 deg\" }}] }}\n\
         surface_velocity = [\"1 m/s\", 0, 0]\n\
         [wall.b]\nmaterial = \"glass\"\ncylinder = {{ from = [0, 1, -5], to = [0, 3, -5], radius = 1 }}\nsurface_rotation = {{ rate = \"60 rpm\" }}\n\
         [wall.c]\nmaterial = \"glass\"\nplane = {{ point = [0, 0, 9], normal = [0, 0, -1] }}\n\
         motion.servo = {{ stress = \"100 kPa\", area = \"20 cm^2\", along = [0, 0, -3], velocity_limit = \"0.1 m/s\", gain = \"1 mm/s/N\" }}\n\
         [probe.torque]\nwall_torque = \"b\"\n[probe.place]\nwall_position = \"c\""
    );
    let first = load_text(&text, &folder.path().join("scene.toml"), &[]).unwrap();
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap();
    assert_eq!(again.world.walls, first.world.walls, "{}", first.resolved);
    let [a, b, c] = &first.world.walls[..] else { panic!("three walls") };
    let motion = &a.motion;
    let path = motion.path.as_ref().unwrap();
    assert_eq!(
        (path.time.as_slice(), path.axis, motion.through),
        (&[0.0, 0.1][..], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    );
    assert!((path.position[1][2] - path.position[0][2] - 3e-3).abs() < 1e-15 && (path.angle[1] - 0.5 * std::f64::consts::PI).abs() < 1e-15);
    assert_eq!(
        (motion.start, motion.stop, motion.surface.velocity),
        (1.0, Some(2.0), [1.0, 0.0, 0.0])
    );
    assert_eq!(
        (motion.vibrations[0].amplitude, motion.vibrations[1].amplitude),
        ([0.0, 0.0, 1e-3], [2.0, 0.0, 0.0])
    );
    let surface = &b.motion.surface;
    assert!((surface.angular_velocity[1] - std::f64::consts::TAU).abs() < 1e-14 && surface.through == [0.0, 1.0, -5.0]);
    let servo = c.motion.servo.unwrap();
    assert!(
        (servo.target.value() - 200.0).abs() < 1e-12 && servo.along == [0.0, 0.0, -1.0] && servo.gain == Some(1e-3),
        "{servo:?}"
    );
    assert_eq!(first.probes[0].what, ProbeKind::WallPosition { walls: 2..3 });
    assert_eq!(first.probes[1].what, ProbeKind::WallTorque { walls: 1..2 });
}

#[test]
fn servos_have_areas_between_walls_and_torques() {
    let text = format!(
        "{GLASS}\n[grains.a]\nmaterial = \"glass\"\nat = [[0, 0, 0]]\nradius = 0.1\n\
         [wall.a]\nmaterial = \"glass\"\nplane = {{ point = [0, 0, 9], normal = [0, 0, -1] }}\n\
         motion.servo = {{ stress = \"100 kPa\", between = [[\"tank.left\", \"tank.right\"]], width = \"2 m\", edge = \"1 cm\", \
         along = [0, 0, -1], velocity_limit = \"0.1 m/s\", integral_time = \"5 ms\" }}\n\
         [wall.b]\nmaterial = \"glass\"\nsphere = {{ center = [0, 0, 0], radius = 5 }}\n\
         motion = {{ axis = [0, 0, 2], through = [1, 0, 0], servo = {{ torque = \"2 N m\", angular_velocity_limit = \"1 rad/s\" }} }}\n\
         [wall.tank]\nmaterial = \"glass\"\nbox = {{ min = [-1, -1, -1], max = [2, 1, 1], open = [\"top\"] }}\n"
    );
    let loaded = load_text(&text, Path::new("scene.toml"), &[]).unwrap();
    let [press, vane, ..] = &loaded.world.walls[..] else {
        panic!("walls")
    };
    let index = |name: &str| loaded.world.walls.iter().position(|wall| wall.name == name).unwrap();
    let servo = press.motion.servo.unwrap();
    let between = Extent::Between {
        walls: [index("tank.left"), index("tank.right")],
        edge: 0.01,
    };
    let area = [between, Extent::Length(2.0)];
    assert_eq!(servo.target, ServoTarget::Stress { stress: 1e5, area });
    assert_eq!(servo.integral_time, Some(5e-3));
    let servo = vane.motion.servo.unwrap();
    assert_eq!((servo.target, servo.velocity_limit), (ServoTarget::Torque(2.0), 1.0));
    assert_eq!((servo.along, vane.motion.through), ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]));
}

#[test]
fn servos_name_the_probe_of_a_region() {
    let text = format!(
        "{GLASS}\n[grains.a]\nmaterial = \"glass\"\nat = [[0, 0, 0]]\nradius = 0.1\n\
         [wall.a]\nmaterial = \"glass\"\nplane = {{ point = [0, 0, 9], normal = [0, 0, -1] }}\n\
         motion.servo = {{ stress = \"100 kPa\", of = \"core\", area = \"20 cm^2\", along = [0, 0, -3], velocity_limit = \"0.1 m/s\" }}\n\
         [wall.b]\nmaterial = \"glass\"\nplane = {{ point = [9, 0, 0], normal = [-1, 0, 0] }}\n\
         motion.servo = {{ stress = \"50 kPa\", of = \"mean\", between = [[\"tank.left\", \"tank.right\"]], width = \"2 m\", \
         along = [-1, 0, 0], velocity_limit = \"0.1 m/s\" }}\n\
         [wall.c]\nmaterial = \"glass\"\nplane = {{ point = [0, 9, 0], normal = [0, -1, 0] }}\n\
         motion.servo = {{ stress = \"1 kPa\", area = \"1 m^2\", along = [0, -1, 0], velocity_limit = \"0.1 m/s\" }}\n\
         [wall.tank]\nmaterial = \"glass\"\nbox = {{ min = [-1, -1, -1], max = [2, 1, 1], open = [\"top\"] }}\n\
         [probe.core]\nstress = {{ region = {{ box = {{ min = [0, 0, 0], max = [1, 1, 1] }} }} }}\nevery = \"1 ms\"\n\
         [probe.energy]\nenergy = true\n\
         [probe.mean]\nstress = {{ region = {{ box = {{ min = [0, 0, 0], max = [1, 1, 1] }} }} }}\nevery = \"2 ms\"\naverage = \"4 ms\"\n"
    );
    let loaded = load_text(&text, Path::new("scene.toml"), &[]).unwrap();
    let again = load_text(&loaded.resolved, Path::new("scene.toml"), &[]).unwrap();
    assert_eq!(again.plan.region_servos, loaded.plan.region_servos, "{}", loaded.resolved);
    let [a, b] = &loaded.plan.region_servos[..] else {
        panic!("{:?}", loaded.plan.region_servos)
    };
    let header = |servo: &RegionServo| loaded.probes[servo.measured.probe].columns()[servo.measured.column].clone();
    assert_eq!((a.name.as_str(), a.wall, a.probe.as_str()), ("a", 0, "core"));
    assert_eq!((header(a).as_str(), header(b).as_str()), ("sigma_zz [Pa]", "mean_sigma_xx [Pa]"));
    assert_eq!((a.stress, a.every, a.window), (1e5, 1e-3, 0.0));
    assert!((a.target_per_stress - 20e-4).abs() < 1e-15, "{a:?}");
    assert_eq!((b.target_per_stress, b.every, b.window), (1.0, 2e-3, 4e-3));
}

#[test]
fn hyphenated_materials_are_distinguished() {
    let scene = scene(
        "run.until = 1\n[material.hard-sand]\ndensity = 1\nyoungs_modulus = 1\npoisson_ratio = 0\n[material.sand]\ndensity = 1\nyoungs_modulus = 1\npoisson_ratio = 0\n\
         [interaction.sand-hard-sand]\nrestitution = 0.5\ntangential = \"none\"\n[interaction.sand-sand]\nrestitution = 1\nnormal = \"linear\"\nstiffness = 7\nfriction = 0.1\n\
         [grains.a]\nmaterial = \"sand\"\nat = [[0, 0, 0], [3, 0, 0]]\nradius = 1\n[grains.b]\nmaterial = \"hard-sand\"\nat = [[9, 0, 0]]\nradius = 1",
    );
    assert_eq!(scene.world.interaction(0, 1).unwrap().restitution, 0.5);
    assert_eq!(scene.world.interaction(1, 1).unwrap().tangential_stiffness, Some(2.0));
    assert!(scene.world.interaction(0, 0).is_none());
}

#[test]
fn probes_and_outputs_that_look_into_packings_load_and_load_again() {
    let text = format!(
        "{GLASS}\n[grains.a]\nmaterial = \"glass\"\nat = [[0.5, 0.5, 0.5]]\nradius = 0.1\n[grains.b]\nmaterial = \"glass\"\nat = [[1.5, 0.5, 0.5]]\nradius = 0.1\n\
         [grains.c]\nmaterial = \"glass\"\nat = [[0, 0, 1], [1, 0, 1], [0, 1, 1], [0, 0, 2]]\nradius = 0.1\n\
         [output]\ncontacts = true\ncoarse = {{ region = {{ min = [0, 0, 0], max = [1, 2, 3] }}, spacing = 0.25, width = 0.5 }}\nfields = [\"pressure\"]\n\
         [probe.coordination]\ncoordination = {{}}\n[probe.fabric]\nfabric = {{ region = {{ cylinder = {{ from = [0, 0, 0], to = [0, 0, 2], radius = 3 }} }} }}\n\
         [probe.mixing]\nmixing = {{ groups = [\"b\", \"a\"], cells = [2, 3, 4], region = {{ min = [0, 0, 0], max = [1, 2, 3] }} }}\n\
         [probe.solid]\nsolid_fraction = {{ region = {{ sphere = {{ center = [0, 0, 1], radius = 2 }} }} }}\n\
         [probe.strain]\nstrain = {{ group = \"c\", region = {{ sphere = {{ center = [0, 0, 1], radius = 2 }} }} }}\n\
         [probe.stress]\nstress = {{ region = {{ box = {{ min = [0, 0, 0], max = [1, 2, 3] }} }} }}"
    );
    let first = scene(&text);
    let (min, max) = (glam::DVec3::ZERO, glam::DVec3::new(1.0, 2.0, 3.0));
    let sphere = Region::Sphere {
        center: glam::DVec3::Z,
        radius: 2.0,
    };
    let cylinder = Region::Cylinder {
        from: glam::DVec3::ZERO,
        to: glam::DVec3::Z * 2.0,
        radius: 3.0,
    };
    let mixing = ProbeKind::Mixing {
        groups: vec![1, 0],
        cells: [2, 3, 4],
        bounds: Some([min.to_array(), max.to_array()]),
    };
    let expected = [
        ProbeKind::Coordination(None),
        ProbeKind::Fabric(Some(cylinder)),
        mixing,
        ProbeKind::SolidFraction(sphere),
        ProbeKind::Strain {
            group: 2,
            region: Some(sphere),
            since: None,
        },
        ProbeKind::Stress(Region::Box { min, max }),
    ];
    assert_eq!(first.probes.iter().map(|probe| probe.what.clone()).collect::<Vec<_>>(), expected);
    let coarse = first.output.coarse.unwrap();
    assert_eq!(
        (coarse.grid.points, coarse.grid.origin, coarse.width),
        ([4, 8, 12], glam::DVec3::splat(0.125), 0.5)
    );
    assert!(first.output.contacts);
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap();
    assert_eq!((again.probes, again.output), (first.probes, first.output));
}

#[test]
fn what_a_later_stage_adds_is_absent_before() {
    let text = format!(
        "{GLASS}\n[grains.a]\nmaterial = \"glass\"\nat = [[0, 0, 1]]\nradius = 0.1\n[grains.b]\nmaterial = \"glass\"\nat = [[0, 0, 3], [0, 0, 4]]\nradius = 0.2\n\
         [grains.c]\nmaterial = \"glass\"\ninlet = {{ through = {{ sphere = {{ center = [0, 0, 9], radius = 1 }} }}, rate = \"10 1/s\", radius = {{ uniform = [0.1, 0.3] }}, velocity = [0, 0, -2] }}\n\
         [wall.box]\nmaterial = \"glass\"\nbox = {{ min = [-9, -9, -9], max = [9, 9, 99], open = [\"top\"] }}\n[wall.lid]\nmaterial = \"glass\"\nplane = {{ point = [0, 0, 20], normal = [0, 0, -1] }}\n\
         [zone.z]\nremove = true\nregion = {{ sphere = {{ center = [0, 0, 0], radius = 1 }} }}\n\
         [[stage]]\nname = \"one\"\nremove = [\"grains.a\"]\nuntil = \"grains.b > 1 and kinetic_energy.c < 2 mJ or duration 3 s\"\n\
         [[stage]]\nname = \"two\"\nadd = [\"grains.b\", \"wall.lid\", \"zone.z\", \"inlet.c\"]\nremove = [\"wall.box\"]\nset = {{ gravity = [0, 0, -1] }}"
    );
    let first = scene(&text);
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap();
    for scene in [&first, &again] {
        let (world, plan) = (&scene.world, &scene.plan);
        assert_eq!((world.grains.id.clone(), plan.reserve.id.clone()), (vec![0], vec![1, 2]));
        assert_eq!(world.later.walls, [5]);
        let absent = [StageItem::Group(1), StageItem::Walls(5..6), StageItem::Zone(0), StageItem::Inlet(2)];
        assert_eq!(plan.absent, absent);
        assert_eq!(
            plan.stages[1].actions[..2],
            [StageAction::Remove(StageItem::Walls(0..5)), StageAction::Add(StageItem::Group(1))]
        );
        // Grains leave a sphere of radius 1 m at 2 m/s after 1 s, ten grains later.
        assert!((plan.inlets[0].every - 1.0).abs() < 1e-12 && (plan.inlets[0].grains_until(1.0) - 10.0).abs() < 1e-9);
        let kinds: Vec<[f64; 2]> = world.later.grains.iter().map(|kind| kind.radius).collect();
        assert_eq!(kinds, [[0.1, 0.3], [0.2, 0.2]]);
        // Half of a condition is not sufficient, but the clock alone is.
        let until = plan.stages[0].until.as_ref().unwrap();
        let holds = |grains: f64, energy: f64, duration: f64| {
            until.holds(|measure| match measure {
                Measure::Grains(Some(1)) => grains,
                Measure::KineticEnergy(Some(2)) => energy,
                Measure::Duration => duration,
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(
            holds(2.0, 1.9e-3, 0.0).as_deref(),
            Some("grains.b = 2 > 1, kinetic_energy.c = 1.9000e-3 J < 2e-3 J")
        );
        assert_eq!((holds(1.0, 1.9e-3, 2.9), holds(2.0, 2.1e-3, 0.0)), (None, None));
        assert!(holds(0.0, 1.0, 3.0).is_some());
    }
}

#[test]
fn a_complete_interaction_is_read_and_written_back() {
    use seixo_laws::contact::{Cohesion, NormalLaw, ResistanceLaw, RollingLaw, TangentialLaw, TwistingLaw};
    let first = scene(
        "run.until = 1\n[material.a]\ndensity = 1\nyoungs_modulus = 1e6\npoisson_ratio = 0\n[material.b]\ndensity = 1\nyoungs_modulus = 1e6\npoisson_ratio = 0\n\
         [interaction.a-a]\nnormal = \"hertz\"\ntangential = \"mindlin_force\"\nrestitution = 0.5\nfriction = 0.4\n\
         cohesion = { law = \"capillary\", surface_tension = \"0.072 N/m\", contact_angle = \"30 deg\", volume = \"1e-12 m^3\" }\n\
         rolling = { law = \"elastic_plastic\", coefficient = 0.1, damping_ratio = 0.7 }\ntwisting = { law = \"elastic_plastic\", coefficient = 0.02 }\n\
         [interaction.a-b]\nnormal = \"viscoelastic\"\ndissipative_time = \"2 us\"\nfriction = 0.3\ntwisting = { law = \"marshall\" }\n\
         [interaction.b-b]\nnormal = \"potential\"\npotential_energy = \"1 mJ\"\ntangential = \"none\"\ncohesion = { law = \"dmt\", surface_energy = \"50 mJ/m^2\" }\n\
         [grains.a]\nmaterial = \"a\"\nat = [[0, 0, 0], [3, 0, 0]]\nradius = 1\n[grains.b]\nmaterial = \"b\"\nat = [[9, 0, 0]]\nradius = 1",
    );
    let pair = first.world.interaction(0, 0).unwrap();
    assert_eq!((pair.normal, pair.tangential), (NormalLaw::Hertz, TangentialLaw::MindlinForce));
    assert_eq!((pair.restitution, pair.friction), (0.5, 0.4));
    let Some(Cohesion::Capillary {
        surface_tension,
        contact_angle,
        volume,
    }) = pair.cohesion
    else {
        panic!("{:?}", pair.cohesion)
    };
    assert_eq!((surface_tension, volume), (0.072, 1e-12));
    assert!((contact_angle - std::f64::consts::FRAC_PI_6).abs() < 1e-15);
    let rolling = ResistanceLaw {
        law: RollingLaw::ElasticPlastic,
        coefficient: 0.1,
        damping_ratio: 0.7,
    };
    // Springs of rolling and twisting resistance share a damping ratio.
    let twisting = ResistanceLaw {
        law: TwistingLaw::ElasticPlastic,
        coefficient: 0.02,
        damping_ratio: 0.7,
    };
    assert_eq!((pair.rolling, pair.twisting), (Some(rolling), Some(twisting)));
    let pair = first.world.interaction(1, 0).unwrap();
    assert_eq!((pair.normal, pair.tangential), (NormalLaw::Viscoelastic, TangentialLaw::Mindlin));
    assert_eq!((pair.dissipative_time, pair.restitution), (Some(2e-6), 1.0));
    assert_eq!(pair.twisting.map(|twisting| twisting.law), Some(TwistingLaw::Marshall));
    let pair = first.world.interaction(1, 1).unwrap();
    assert_eq!((pair.potential_energy, pair.restitution), (Some(1e-3), 1.0));
    assert_eq!(pair.cohesion, Some(Cohesion::Dmt { surface_energy: 0.05 }));
    let again = scene(&first.resolved);
    assert_eq!(again.world.interactions, first.world.interactions);
    assert_eq!(again.resolved, first.resolved);
}

#[test]
fn schema_names_every_section() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    for section in [
        "run",
        "world",
        "material",
        "interaction",
        "shape",
        "grains",
        "wall",
        "bonds",
        "zone",
        "stage",
        "output",
        "checkpoint",
        "probe",
    ] {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
}

#[test]
fn penetration_data_load() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/dosta2024");
    if !data.exists() {
        println!("{} is absent: the penetration data were not loaded", data.display());
        assert!(std::env::var_os("CI").is_none(), "continuous integration needs {}", data.display());
        return;
    }
    let file = |name: &str| -> PathBuf { data.join(name) };
    let text = format!(
        "run.until = 0.1\n[material.glass]\ndensity = 2500\nyoungs_modulus = 1e9\npoisson_ratio = 0.2\n[material.steel]\ndensity = 7200\nyoungs_modulus = \"210 GPa\"\npoisson_ratio = 0.2\n\
         [interaction.glass-glass]\nrestitution = 0.5\nfriction = 0.3\n[interaction.glass-steel]\nrestitution = 0.4\nfriction = 0.2\n[interaction.steel-steel]\nrestitution = 0.4\nfriction = 0.2\n\
         [grains.bed]\nmaterial = \"glass\"\nfile = {:?}\nrows = [1, 25000]\n[grains.ball]\nmaterial = \"steel\"\nat = [[0, 0, 0.06]]\nradius = 0.01\nvelocity = [0, 0, -5]\n\
         [wall.box]\nmaterial = \"steel\"\nmesh = {:?}",
        file("Penetration_25KParticles.txt"),
        file("Penetration_walls.txt"),
    );
    let world = scene(&text).world;
    assert_eq!(world.grains.len(), 25_001);
    assert_eq!(world.groups, ["ball", "bed"]);
    assert!(world.grains.radius[1..].iter().all(|radius| *radius == 1e-3));
    let WallShape::Mesh(triangles) = &world.walls[0].shape else {
        panic!("no mesh")
    };
    assert!(triangles.len() >= 50, "{}", triangles.len());
}
