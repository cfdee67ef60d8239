//! Sound scenes: what they say is what the world holds.

use seixo_engine::Simulation;
use seixo_engine::world::{Api, DeviceChoice, Precision, WallShape};
use seixo_scene::{ProbeKind, Scene, load, load_text, schema, templates};
use std::path::{Path, PathBuf};

fn scene(text: &str) -> Scene {
    load_text(text, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

const GLASS: &str = r#"
[run]
until = 1
[material.glass]
density = 2500
youngs_modulus = 1e9
poisson_ratio = 0.2
[interaction.glass-glass]
restitution = 0.5
friction = 0.3
"#;

fn filled(fill: &str) -> Scene {
    scene(&format!("{GLASS}\n[grains.bed]\nmaterial = \"glass\"\nfill = {fill}"))
}

fn closest_gap(scene: &Scene) -> f64 {
    let grains = &scene.world.grains;
    let mut gap = f64::INFINITY;
    for i in 0..grains.len() {
        for j in 0..i {
            let distance = glam::DVec3::from(grains.position[i]).distance(grains.position[j].into());
            gap = gap.min(distance - grains.radius[i] - grains.radius[j]);
        }
    }
    gap
}

const FILLS: &[&str] = &[
    "{ region = { box = { min = [0, 0, 0], max = [1, 1, 1] } }, count = 400, radius = { uniform = [0.02, 0.04] } }",
    "{ region = { box = { min = [0, 0, 0], max = [1, 1, 1] } }, solid_fraction = 0.55, radius = 0.04 }",
    "{ region = { box = { min = [0, 0, 0], max = [1, 1, 1] } }, solid_fraction = 0.1, radius = 0.04 }",
    "{ region = { sphere = { center = [0, 0, 0], radius = 1 } }, count = 300, radius = 0.06, method = \"random\" }",
    "{ region = { sphere = { center = [0, 0, 0], radius = 1 } }, count = 300, radius = 0.06 }",
    "{ region = { cylinder = { from = [0, 0, 0], to = [1, 1, 0], radius = 0.5 } }, solid_fraction = 0.25, radius = { normal = [0.05, 0.005] }, method = \"random\" }",
    "{ region = { cylinder = { from = [0, 0, 0], to = [1, 1, 0], radius = 0.5 } }, count = 200, radius = { normal = [0.05, 0.005] } }",
];

#[test]
fn fills_do_not_overlap_and_repeat() {
    for fill in FILLS {
        let first = filled(fill);
        assert!(closest_gap(&first) >= 0.0, "{fill}");
        assert_eq!(first.world.grains, filled(fill).world.grains, "{fill}");
        let other_seed = load_text(&first.resolved, Path::new("scene.toml"), &[("run.seed".to_owned(), "2".to_owned())]).unwrap();
        assert_ne!(first.world.grains.position, other_seed.world.grains.position, "{fill}");
    }
}

#[test]
fn fills_stay_in_their_region() {
    let inside_sphere = filled(FILLS[3]).world.grains;
    assert!(
        inside_sphere
            .position
            .iter()
            .zip(&inside_sphere.radius)
            .all(|(x, r)| glam::DVec3::from(*x).length() + r <= 1.0 + 1e-12)
    );
    let inside_cylinder = filled(FILLS[6]).world.grains;
    let axis = glam::DVec3::new(1.0, 1.0, 0.0).normalize();
    for (position, radius) in inside_cylinder.position.iter().zip(&inside_cylinder.radius) {
        let position = glam::DVec3::from(*position);
        let along = position.dot(axis);
        assert!(along >= radius - 1e-12 && along <= 2.0_f64.sqrt() - radius + 1e-12);
        assert!((position - along * axis).length() + radius <= 0.5 + 1e-12);
    }
}

#[test]
fn fills_reach_the_fraction_asked_for() {
    for (fill, fraction) in [(FILLS[1], 0.55), (FILLS[2], 0.1)] {
        let radii = filled(fill).world.grains.radius;
        let reached: f64 = radii.iter().map(|r| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3)).sum();
        assert!((reached - fraction).abs() < 1e-3, "{reached}");
    }
}

#[test]
fn fills_do_not_depend_on_other_sections() {
    let alone = filled(FILLS[3]).world.grains;
    let both = scene(&format!(
        "{GLASS}\n[grains.bed]\nmaterial = \"glass\"\nfill = {}\n[grains.alpha]\nmaterial = \"glass\"\nat = [[5, 5, 5]]\nradius = 1",
        FILLS[3]
    ));
    assert_eq!(both.world.groups, ["alpha", "bed"]);
    assert_eq!(both.world.grains.position[1..], alone.position);
}

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
fn templates_load_and_resolve_to_themselves() {
    for template in templates() {
        let first = load_text(template.text, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{}: {found}", template.name));
        assert!(first.notices.is_empty(), "{}: {:?}", template.name, first.notices);
        let again = load_text(&first.resolved, Path::new("elsewhere/scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(again.resolved, first.resolved);
        assert_eq!(
            format!("{:?}", (again.world, again.settings, again.output, again.probes)),
            format!("{:?}", (first.world, first.settings, first.output, first.probes))
        );
    }
}

#[test]
fn templates_start_and_step() {
    for template in templates() {
        let scene = load_text(template.text, Path::new("scene.toml"), &[]).unwrap();
        let count = scene.world.grains.len();
        let mut simulation = Simulation::new(scene.world, scene.settings).unwrap_or_else(|refusal| panic!("{}: {refusal}", template.name));
        for _ in 0..20 {
            simulation.step().unwrap_or_else(|stop| panic!("{}: {stop}", template.name));
        }
        assert_eq!(simulation.len(), count, "{}", template.name);
    }
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
fn hyphenated_materials_are_told_apart() {
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
fn a_complete_interaction_is_read_and_written_back() {
    use seixo_laws::contact::{Adhesive, NormalLaw, Resistance, RollingLaw, TangentialLaw, TwistingLaw};
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
    let Some(Adhesive::Capillary {
        surface_tension,
        contact_angle,
        volume,
    }) = pair.cohesion
    else {
        panic!("{:?}", pair.cohesion)
    };
    assert_eq!((surface_tension, volume), (0.072, 1e-12));
    assert!((contact_angle - std::f64::consts::FRAC_PI_6).abs() < 1e-15);
    let rolling = Resistance {
        law: RollingLaw::ElasticPlastic,
        coefficient: 0.1,
        damping_ratio: 0.7,
    };
    // Springs against rolling and twisting share a damping ratio.
    let twisting = Resistance {
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
    assert_eq!(pair.cohesion, Some(Adhesive::Dmt { surface_energy: 0.05 }));
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
        "grains",
        "wall",
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
