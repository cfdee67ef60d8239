//! Slices of coarse-grained fields, and pictures of worn walls.

use crate::command_line::stage::Stage;
use std::f64::consts::PI;

/// A scene of balls of 1 mm in contact, on a simple cubic lattice with this number along each axis.
fn lattice(count: usize) -> String {
    let sites = (0..count * count * count).map(|k| [k % count, k / count % count, k / count / count]);
    let centers: Vec<String> = sites
        .map(|site| format!("[\"{} mm\", \"{} mm\", \"{} mm\"]", site[0], site[1], site[2]))
        .collect();
    format!(
        r#"title = "lattice"
[run]
until = "20 us"
[world]
gravity = [0, 0, 0]
[material.glass]
density = "2500 kg/m^3"
youngs_modulus = "10 MPa"
poisson_ratio = 0.2
[material.steel]
density = "7800 kg/m^3"
youngs_modulus = "10 MPa"
poisson_ratio = 0.3
[interaction.glass-glass]
restitution = 0.5
friction = 0.3
[interaction.glass-steel]
restitution = 0.5
friction = 0.3
[grains.balls]
material = "glass"
at = [{}]
radius = "0.5 mm"
[wall.floor]
material = "steel"
plane = {{ point = [0, 0, "-0.4999 mm"], normal = [0, 0, 1] }}
surface_velocity = ["1 m/s", 0, 0]
specific_wear_rate = "2e-5 mm^3/N/m"
[output]
every = "20 us"
"#,
        centers.join(",")
    )
}

#[test]
fn a_slice_of_a_lattice_shows_its_solid_fraction_and_says_what_it_lacks() {
    let stage = Stage::new();
    stage.write("lattice.toml", &lattice(12));
    stage.succeed("run lattice.toml --quiet");
    let done = stage.succeed("slice lattice.out --width 1.5mm");
    assert!(done.out.contains("slice_solid_fraction.png"), "{}", done.out);
    let png = std::fs::read(stage.path("lattice.out/slice_solid_fraction.png")).unwrap();
    assert_eq!(&png[1..4], b"PNG");

    for (field, expected) in [("solid_fraction", PI / 6.0), ("density", PI / 6.0 * 2500.0)] {
        stage.succeed(&format!(
            "slice lattice.out --width 1.5mm --field {field} --normal x --out slice.csv"
        ));
        let table = stage.read("slice.csv");
        assert!(table.starts_with(&format!("y [m],z [m],{field} [")), "{}", &table[..40]);
        let mut inside = 0;
        for line in table.lines().skip(1) {
            let row: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            // Kernels have a radius of 3 mm and leave ripples of 2e-3. Here they stay within 0 mm to 11 mm.
            if row[..2].iter().all(|x| (3e-3..=8e-3).contains(x)) {
                assert!((row[2] / expected - 1.0).abs() < 5e-3, "{field}: {line}");
                inside += 1;
            }
        }
        assert!(inside > 50, "{inside} points");
    }

    // A run with a fluid alone.
    std::fs::create_dir_all(stage.path("wet.out/fields")).unwrap();
    stage.write("wet.out/fields/fluid_000000.vtp", "");
    for (line, phrases) in [
        ("slice lattice.out --field pressure", &["contacts = true"][..]),
        (
            "slice lattice.out --field speeed",
            &["no field `speeed`", "solid_fraction", "seixo picture"],
        ),
        ("slice lattice.out --normal z --at 1m", &["z = 1 m", "choose --at"]),
        ("slice lattice.out --out slice.svg", &["slice.svg", ".csv", "--out slice.png"]),
        ("slice wet.out", &["wet.out", "no grains", "seixo table wet.out --fluid"]),
        ("slice lattice.out --width 1.5s", &["is time [s]", "length [m] belongs here"]),
        ("slice lattice.out --spacing 1cm", &["at most the width"]),
        ("slice lattice.out --width 1um", &["--spacing or --width"]),
        ("slice lattice.out --frame 9", &["frame 9 does not exist"]),
        ("slice nowhere.out", &["nowhere.out"]),
    ] {
        let done = stage.seixo(line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        for phrase in phrases {
            assert!(done.err.contains(phrase), "{line}: no `{phrase}` in {}", done.err);
        }
    }
}

#[test]
fn walls_that_wear_are_drawn_and_walls_that_do_not_are_refused() {
    let stage = Stage::new();
    stage.write("lattice.toml", &lattice(4));
    stage.succeed("run lattice.toml --quiet");
    stage.succeed("picture lattice.out --walls --size 320x200");
    assert!(stage.path("lattice.out/picture.png").exists());
    stage.write("lattice.toml", &lattice(4).replace("specific_wear_rate", "# specific_wear_rate"));
    stage.succeed("run lattice.toml --quiet --force");
    let refused = stage.seixo("picture lattice.out --walls --size 320x200");
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("wear_depth") && refused.err.contains("wear_coefficient"),
        "{}",
        refused.err
    );
}

#[test]
fn masses_of_a_file_that_is_gone_are_not_taken_from_densities() {
    let stage = Stage::new();
    let scene = lattice(3);
    let (start, end) = (scene.find("at = [").unwrap(), scene.find("\nradius").unwrap());
    let from_file = format!("{}file = \"balls.csv\"{}", &scene[..start], &scene[end..]);
    let rows = (0..27).map(|k| format!("{},{},{},2\n", k % 3, k / 3 % 3, k / 9));
    let table = "x[mm],y[mm],z[mm],mass[mg]\n".to_owned() + &rows.collect::<String>();
    stage.write("balls.csv", &table);
    stage.write("given.toml", &from_file);
    stage.succeed("run given.toml --quiet");
    std::fs::remove_file(stage.path("balls.csv")).unwrap();
    let refused = stage.seixo("slice given.out --width 1.5mm");
    assert!(
        refused.code == 2 && refused.err.contains("of given masses"),
        "{} {}",
        refused.code,
        refused.err
    );
    // The remedy of the message.
    stage.write("balls.csv", &table);
    stage.write(
        "given.toml",
        &from_file.replace("[output]\n", "[output]\nfields = [\"velocity\", \"mass\"]\n"),
    );
    stage.succeed("run given.toml --quiet --force");
    stage.succeed("slice given.out --width 1.5mm");
}
