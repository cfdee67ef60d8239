//! Periodic cells whose lengths are controlled.

use crate::command_line::rows;
use crate::command_line::stage::Stage;

const SCENE: &str = include_str!("scenes/triaxial-cell.toml");

#[test]
fn a_cell_is_consolidated_and_compressed_and_resumes_bit_by_bit() {
    let stage = Stage::new();
    stage.write("cell.toml", SCENE);
    stage.succeed("run cell.toml --quiet --threads 1 --out whole");
    let [core, cell] = ["core", "cell"].map(|probe| rows(&stage.read(&format!("whole/probes/{probe}.csv"))));
    // Columns 3 to 5 are contact_xx, contact_yy and contact_zz.
    let during = |from: f64, to: f64| core.iter().filter(move |row| (from..to).contains(&row[0]));
    for row in during(0.0105, 0.012) {
        for stress in &row[3..6] {
            assert!((stress / 1e5 - 1.0).abs() < 0.01, "{row:?}");
        }
    }
    let mean = |axis: usize| during(0.014, 1.0).map(|row| row[3 + axis]).sum::<f64>() / during(0.014, 1.0).count() as f64;
    let means = [mean(0), mean(1), mean(2)];
    println!("{means:?} Pa");
    assert!(means[..2].iter().all(|stress| (stress / 1e5 - 1.0).abs() < 0.02), "{means:?}");
    assert!(means[2] > 1.2e5, "a packing with friction resists: {means:?}");
    // Lengths, logarithmic strains, volume.
    let at = |time: f64| cell.iter().find(|row| row[0] > time).unwrap();
    let (early, late) = (at(0.0135), at(0.019));
    let rate = (late[6] - early[6]) / (late[0] - early[0]);
    assert!((rate / 2.0 - 1.0).abs() < 1e-3, "{rate} 1/s");
    for row in &cell {
        assert!((row[1] - 0.014 * (-row[4]).exp()).abs() < 1e-12, "{row:?}");
        assert!((row[7] / (row[1] * row[2] * row[3]) - 1.0).abs() < 1e-12, "{row:?}");
    }
    stage.succeed("run cell.toml --quiet --until 0.008 --out half");
    stage.succeed("resume half --quiet --until 0.02 --threads 2");
    std::fs::copy(stage.path("whole/scene.toml"), stage.path("half/scene.toml")).unwrap();
    stage.assert_same("half", "whole");
    // A frame has the lengths of its time, which a slice needs.
    stage.succeed("slice whole --field solid_fraction --out slice.csv");
    let files = stage.results("whole");
    let frames = files.iter().filter(|(name, _)| name.contains("grains") && name.ends_with(".vtp"));
    let texts: Vec<String> = frames.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect();
    assert!(texts.len() > 2 && texts.iter().all(|text| text.contains("periodic_length_z")));
}

#[test]
fn what_cannot_be_controlled_is_refused_with_its_key() {
    let stage = Stage::new();
    let cases = [
        (
            "rate_limit = \"20 1/s\"",
            "integral_time = \"1 ms\"",
            ["cell.toml:12:", "a servo needs `rate_limit`"],
        ),
        (
            "rate_limit = \"20 1/s\"",
            "rate_limit = \"20 1/s\", strain_rate = { x = 1 }",
            ["cell.toml:12:", "x has a stress and a strain rate"],
        ),
        (
            "max = [\"14 mm\", \"14 mm\", \"14 mm\"]\nsides = [\"periodic\", \"periodic\", \"periodic\"]",
            "max = [\"14 mm\", \"14 mm\", \"14 mm\"]\nsides = [\"periodic\", \"periodic\", \"open\"]",
            ["cell.toml:", "the sides along z are open"],
        ),
        ("seed = 1", "seed = 1\nlocal_damping = 0.2", ["cell.toml:13:", "run.local_damping"]),
        (
            "control = { stress = { x = \"100 kPa\", y = \"100 kPa\", z = \"100 kPa\" }, rate_limit = \"20 1/s\" }\n",
            "",
            ["cell.toml:", "nothing controls the lengths of the domain"],
        ),
    ];
    for (what, by, phrases) in cases {
        assert_eq!(SCENE.matches(what).count(), 1, "{what}");
        stage.write("cell.toml", &SCENE.replace(what, by));
        let done = stage.seixo("check cell.toml");
        assert_ne!(done.code, 0, "{by}");
        for phrase in phrases {
            assert!(done.err.contains(phrase), "`{by}`: no `{phrase}` in\n{}", done.err);
        }
    }
}
