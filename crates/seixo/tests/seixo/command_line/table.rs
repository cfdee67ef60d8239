//! Frames as text tables, and tables as the start of other scenes.

use crate::command_line::stage::Stage;

const SCENE: &str = r#"title = "two"
[run]
until = "20 us"
time_step = "0.5 us"
[material.glass]
density = "2500 kg/m^3"
youngs_modulus = "10 MPa"
poisson_ratio = 0.2
[interaction.glass-glass]
restitution = 0.5
friction = 0.3
[grains.balls]
material = "glass"
at = [[0, 0, 0], ["1.25 mm", 0, 0], [0, "1.5 mm", 0]]
radius = "0.5 mm"
velocity = ["0.1 m/s", 0, 0]
angular_velocity = [0, 0, "20 rad/s"]
[output]
every = "10 us"
fields = ["velocity", "angular_velocity", "material", "mass"]
"#;

#[test]
fn a_frame_as_a_table_starts_another_scene() {
    let stage = Stage::new();
    stage.write("two.toml", SCENE);
    stage.succeed("run two.toml --quiet");
    let done = stage.succeed("table two.out");
    assert!(done.out.contains("table.csv"), "{}", done.out);
    let table = stage.read("two.out/table.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[0],
        "id,x[m],y[m],z[m],radius[m],vx[m/s],vy[m/s],vz[m/s],wx[rad/s],wy[rad/s],wz[rad/s],material,mass[kg]"
    );
    assert_eq!(lines.len(), 4);
    // Free flight: 0.1 m/s until the last step within 20 µs.
    let second: Vec<&str> = lines[2].split(',').collect();
    assert_eq!((second[0], second[4], second[11]), ("1", "0.0005", "glass"));
    let time = (second[1].parse::<f64>().unwrap() - 1.25e-3) / 0.1;
    assert!(time > 19e-6 && time < 20.1e-6, "{}", lines[2]);

    stage.succeed("table two.out --frame 1 --fields velocity,angular_velocity --out start.csv");
    let at = SCENE.find("at = ").unwrap();
    let end = SCENE.find("[output]").unwrap();
    let from_file = format!("{}file = \"start.csv\"\n{}", &SCENE[..at], &SCENE[end..]);
    stage.write("again.toml", &from_file.replace("20 us", "10 us"));
    stage.succeed("run again.toml --quiet");
    stage.succeed("table again.out --fields none --out end.csv");
    let (end, whole) = (stage.read("end.csv"), stage.read("two.out/table.csv"));
    for (line, of_whole) in end.lines().zip(whole.lines()).skip(1) {
        let values = |line: &str| -> Vec<f64> { line.split(',').take(5).map(|cell| cell.parse().unwrap()).collect() };
        // Both runs end within a step of their time: 0.1 m/s for 0.5 µs.
        for (a, b) in values(line).iter().zip(values(of_whole)) {
            assert!((a - b).abs() < 1.1e-7, "{line} {of_whole}");
        }
    }

    let refused = stage.seixo("table two.out --fields velocity,pressure");
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .err
            .contains("no field pressure; it has: velocity, angular_velocity, material, mass"),
        "{}",
        refused.err
    );
    let refused = stage.seixo("table two.out --fluid");
    assert_eq!(refused.code, 2, "{}", refused.out);
}

#[test]
fn a_table_of_several_materials_starts_another_scene_and_one_of_clumps_is_refused() {
    let stage = Stage::new();
    // Materials are numbered in the order of their names, and grains in that of their sections.
    let clay = "[material.clay]\ndensity = \"1800 kg/m^3\"\nyoungs_modulus = \"10 MPa\"\npoisson_ratio = 0.3\n\
                [interaction.clay-clay]\nrestitution = 0.4\nfriction = 0.4\n[interaction.clay-glass]\nrestitution = 0.4\nfriction = 0.4\n";
    let fields = "fields = [\"material\"]\n";
    let scene = SCENE.replace("fields = [\"velocity\", \"angular_velocity\", \"material\", \"mass\"]\n", fields);
    let crumb = "[grains.crumb]\nmaterial = \"clay\"\nat = [[0, 0, \"5 mm\"]]\nradius = \"0.5 mm\"\n";
    stage.write("both.toml", &format!("{scene}{clay}{crumb}"));
    stage.succeed("run both.toml --quiet");
    stage.succeed("table both.out --frame 0 --out start.csv");
    let start = stage.read("start.csv");
    let materials = |table: &str| -> Vec<String> {
        let last = table.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned());
        last.collect()
    };
    assert_eq!(materials(&start), ["glass", "glass", "glass", "clay"]);
    let (at, end) = (scene.find("[grains.balls]").unwrap(), scene.find("[output]").unwrap());
    let again = |section: &str| format!("{}{section}{}{clay}", &scene[..at], &scene[end..]);
    stage.write("again.toml", &again("[grains.all]\nfile = \"start.csv\"\n"));
    stage.succeed("run again.toml --quiet");
    stage.succeed("table again.out --frame 0 --out again.csv");
    assert_eq!(stage.read("again.csv"), start);

    let pair = "[shape.pair]\nspheres = [{ at = [0, 0, 0], radius = 1 }, { at = [1, 0, 0], radius = 1 }]\n\
                [grains.pairs]\nmaterial = \"glass\"\nshape = \"pair\"\nat = [[0, 0, 0], [0, 0, \"9 mm\"]]\nradius = \"1 mm\"\n";
    let of_clumps = again(pair).replace(fields, "fields = [\"body\"]\n");
    stage.write("clumps.toml", &of_clumps);
    stage.succeed("run clumps.toml --quiet");
    stage.succeed("table clumps.out --frame 0 --out spheres.csv");
    let loose = "[grains.all]\nmaterial = \"glass\"\nfile = \"spheres.csv\"\n";
    stage.write("loose.toml", &again(loose));
    let refused = stage.seixo("check loose.toml");
    assert_eq!(refused.code, 2, "{}", refused.out);
    for phrase in [
        "loose.toml:",
        "line 3: the grain is a sphere of body ",
        "as that of line 2",
        "`shape`",
        "drop the column",
    ] {
        assert!(refused.err.contains(phrase), "no `{phrase}` in {}", refused.err);
    }
    // A boundary keeps its spheres together.
    stage.write("held.toml", &again(&format!("{loose}fixed = true\n")));
    stage.succeed("check held.toml");
}
