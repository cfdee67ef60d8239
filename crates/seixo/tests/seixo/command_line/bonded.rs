//! Bonded grains, from the scene to tables, frames and pictures.

use crate::command_line::rows;
use crate::command_line::stage::Stage;
use seixo::files::vtk;

/// Five grains in a row with one weak bond, which breaks as its two sides fly apart; and a grain that was never bonded.
const BAR: &str = r#"
title = "bar"
[run]
until = "200 us"
[world]
gravity = [0, 0, 0]
[material.stone]
density = "2500 kg/m^3"
youngs_modulus = "100 MPa"
poisson_ratio = 0.2
[interaction.stone-stone]
restitution = 0.5
friction = 0.3
[grains.dust]
material = "stone"
at = [[0, 0, "1 cm"]]
radius = "1 mm"
[grains.left]
material = "stone"
at = [["-5.5 mm", 0, 0], ["-3.3 mm", 0, 0], ["-1.1 mm", 0, 0]]
radius = "1 mm"
velocity = ["-0.4 m/s", 0, 0]
[grains.right]
material = "stone"
at = [["1.1 mm", 0, 0], ["3.3 mm", 0, 0]]
radius = "1 mm"
velocity = ["0.4 m/s", 0, 0]
BONDS
[output]
every = "20 us"
fields = ["velocity"FIELDS]
contacts = true
"#;
const BONDS: &str = r#"
[bonds.left]
among = ["left"]
tolerance = 0.2
youngs_modulus = "100 MPa"
[bonds.right]
among = ["right"]
tolerance = 0.2
youngs_modulus = "100 MPa"
[bonds.weak]
pairs = "joint.csv"
youngs_modulus = "100 MPa"
tensile_strength = "0.1 MPa"
[probe.pieces]
fragments = true
[probe.right]
fragments = { groups = ["right", "dust"] }
[probe.stress]
stress = { region = { box = { min = ["-5 mm", "-1 mm", "-1 mm"], max = ["3 mm", "1 mm", "1 mm"] } } }
"#;

fn stage() -> Stage {
    let stage = Stage::new();
    // Ids are numbered section by section: 0 is dust, 1 to 3 are left, 4 and 5 right.
    stage.write("joint.csv", "a,b\n3,4\n");
    stage.write("bar.toml", &BAR.replace("BONDS", BONDS).replace("FIELDS", ", \"fragment\""));
    stage.write("loose.toml", &BAR.replace("BONDS", "").replace("FIELDS", ""));
    stage
}

#[test]
fn a_bar_that_tears_is_two_fragments_in_every_table_and_frame() {
    let stage = stage();
    stage.succeed("run bar.toml --quiet");
    assert_eq!(stage.read("bar.out/bonds.csv").lines().count(), 2);

    let table = stage.read("bar.out/fragments.csv");
    assert!(table.starts_with("fragment,grains,mass [kg],diameter [m],x [m],"), "{table}");
    let pieces = rows(&table);
    assert_eq!(pieces.len(), 2, "{table}");
    assert_eq!([pieces[0][0], pieces[0][1], pieces[1][0], pieces[1][1]], [1.0, 3.0, 4.0, 2.0]);
    assert!((pieces[1][3] - 2e-3 * 2f64.cbrt()).abs() < 1e-12 && pieces[0][4] < 0.0 && pieces[1][4] > 0.0);
    assert_eq!(pieces[0][10], 1.0);
    assert!((pieces[1][10] - 0.4).abs() < 1e-12);
    // The weak bond gave both sides the same impulse before it broke.
    assert!((pieces[0][2] * pieces[0][7] + pieces[1][2] * pieces[1][7] + 0.4 * pieces[1][2] / 2.0).abs() < 1e-12 * pieces[0][2]);

    // Columns: fragments, single_grains, largest_share, largest_mass, mean_mass, d50, d80.
    let over_time = rows(&stage.read("bar.out/probes/pieces.csv"));
    assert_eq!(over_time[0][1..4], [1.0, 0.0, 1.0]);
    let last = &over_time[over_time.len() - 1];
    assert_eq!(last[1..3], [2.0, 0.0]);
    assert!((last[3] - 0.6).abs() < 1e-12 && last[4] == pieces[0][2] && last[6] == pieces[0][3]);
    let right = rows(&stage.read("bar.out/probes/right.csv"));
    assert_eq!(right[0][1..3], [1.0, 1.0]);
    // There are no contacts: all stress is that of bonds, which oscillate after the weak one broke.
    let stress = rows(&stage.read("bar.out/probes/stress.csv"));
    assert!(stress.iter().any(|row| row[3] != 0.0));

    for (frame, expected) in [
        ("000000", [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("000010", [0.0, 1.0, 1.0, 1.0, 4.0, 4.0]),
    ] {
        let grains = vtk::read_grains(&stage.path(&format!("bar.out/fields/grains_{frame}.vtp"))).unwrap();
        let (_, values, _) = grains.scalars.iter().find(|(name, _, _)| name == "fragment").unwrap();
        assert_eq!(*values, expected);
    }

    // Checkpoints contain no fragments; the table is the same after a resume.
    stage.succeed("run bar.toml --quiet --until 0.00008 --out short");
    stage.succeed("resume short --quiet --until 0.0002");
    std::fs::copy(stage.path("bar.out/scene.toml"), stage.path("short/scene.toml")).unwrap();
    stage.assert_same("short", "bar.out");
}

#[test]
fn what_the_first_stage_cannot_do_is_found_by_check() {
    let stage = stage();
    let bonded = BONDS.replace(
        "[bonds.weak]",
        "[bonds.glue]\namong = [\"left\", \"right\"]\ntolerance = 0.2\nyoungs_modulus = \"100 MPa\"\n[bonds.weak]",
    );
    let actions = "[[stage]]\nname = \"glue\"\nadd = [\"bonds.glue\", \"bonds.weak\"]\n";
    stage.write(
        "bonded.toml",
        &format!("{}{actions}", BAR.replace("BONDS", &bonded).replace("FIELDS", "")),
    );
    // The positions at the start of the stage decide that grains 3 and 4 are near enough for the glue.
    let done = stage.seixo("check bonded.toml");
    let reported = "it bonds grains 3 and 4, which are bonded already, by glue";
    assert!(
        done.code == 2 && done.err.contains(reported),
        "{}\n{}\n{}",
        done.code,
        done.out,
        done.err
    );
}

#[test]
fn bonds_cracks_and_fragments_are_drawn_and_what_is_not_there_is_refused() {
    let stage = stage();
    stage.succeed("run bar.toml --quiet");
    stage.succeed("run loose.toml --quiet");
    for what in ["--bonds", "--bonds tension", "--cracks", "--cracks --bonds", "--field fragment"] {
        stage.succeed(&format!("picture bar.out --size 320x200 --out picture.png {what}"));
        assert_eq!(&std::fs::read(stage.path("picture.png")).unwrap()[1..4], b"PNG");
        std::fs::remove_file(stage.path("picture.png")).unwrap();
    }
    stage.succeed("slice bar.out --field stress_xx --width 2mm --out slice.csv");
    let values = rows(&stage.read("slice.csv"));
    assert!(values.iter().any(|row| row[2].is_finite() && row[2] != 0.0));
    for (line, phrases) in [
        ("picture bar.out --bonds strain", &["no field named \"strain\"", "torsion"][..]),
        ("picture bar.out --bonds --contacts", &["cannot be used with"]),
        ("picture loose.out --bonds", &["bonds_000010.vtp", "[bonds.NAME]"]),
        ("picture loose.out --cracks", &["bonds.csv", "[bonds.NAME]"]),
    ] {
        let done = stage.seixo(line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        for phrase in phrases {
            assert!(done.err.contains(phrase), "{line}: no `{phrase}` in {}", done.err);
        }
    }
}
