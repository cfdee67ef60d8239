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
    let second: Vec<f64> = lines[2].split(',').map(|cell| cell.parse().unwrap()).collect();
    assert_eq!((second[0], second[4], second[11]), (1.0, 5e-4, 0.0));
    let time = (second[1] - 1.25e-3) / 0.1;
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
