//! Sieve curves as laboratories write them: one sample, in all the forms that its table can have.

use super::with_file;
use seixo_files::sieve_in::{self, Sieve};

fn read(text: &str) -> Result<(Vec<Sieve>, Vec<String>), String> {
    let mut notes = Vec::new();
    let curve = with_file(text.as_bytes(), |path| sieve_in::read(path, &mut notes));
    let notes = notes.iter().filter_map(|note| Some(note.split_once("input: ")?.1.to_owned()));
    Ok((curve.map_err(|error| error.to_string())?, notes.collect()))
}

/// Diameter \[mm\], and the share of the mass that passes it.
const SAMPLE: [(f64, f64); 5] = [(4.0, 0.0), (6.0, 0.2), (8.0, 0.55), (10.0, 0.85), (12.0, 1.0)];

/// The curve is that of the sample, up to the rounding of sums of shares.
#[track_caller]
fn assert_sample(text: &str) -> Vec<String> {
    let (curve, notes) = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(curve.len(), SAMPLE.len(), "{text}");
    for (sieve, (diameter, passing)) in curve.iter().zip(SAMPLE) {
        assert!((sieve.radius - diameter / 2000.0).abs() < 1e-15, "{text}: {sieve:?}");
        assert!((sieve.passing - passing).abs() < 1e-12, "{text}: {sieve:?}");
    }
    notes
}

#[test]
fn all_forms_of_a_table_give_its_curve() {
    for text in [
        "diameter[mm],passing[%]\n4,0\n6,20\n8,55\n10,85\n12,100\n",
        "radius[mm] passing\n2 0\n3 0.2\n4 0.55\n5 0.85\n6 1\n",
        "\u{feff}Peneira (mm);Passante (%)\r\n4,0;0\r\n6,0;20\r\n8,0;55\r\n10,0;85\r\n12,0;100\r\n",
        "Abertura da malha (mm);% que passa\n12;100\n10;85\n8;55\n6;20\n4;0\n",
        "Siebweite in mm;Durchgang in %\n4;0\n6;20,0\n8;55\n10;85\n12;100\n",
        "Korngröße [µm]\tSiebdurchgang [M.-%]\n4000\t0\n6000\t20\n8000\t55\n10000\t85\n12000\t100\n",
        "\"Sieve size (mm)\",\"Percent passing\"\n12,100\n10,85\n8,55\n6,20\n4,0\n",
        "Sieve Size (mm)\tCumulative Passing (%)\n4\t0\n6\t20\n8\t55\n10\t85\n12\t100\n",
        // A share without a unit that ends at 100 is in percent.
        "size[mm],passing\n4,0\n6,20\n8,55\n10,85\n12,100\n",
        "Sieve size (mm),Cumulative retained (%)\n12,0\n10,15\n8,45\n6,80\n4,100\nPan,100\n",
        "Peneira (mm);% retida acumulada\n4;100\n6;80\n8;45\n10;15\n12;0\n",
        "Siebweite [mm];Rückstandssumme [%]\n4;100\n6;80\n8;45\n10;15\n12;0\n",
        // What stays on a sieve is coarser than it, and finer than the next.
        "Sieve size (mm),Retained (%)\n12,0\n10,15\n8,30\n6,35\n4,20\n",
        "Sieve size (mm),Mass retained (g)\n12,0\n10,75.0\n8,150.0\n6,175.0\n4,100.0\nPan,0\n",
        "Peneira (mm);Massa retida (g)\n12;0\n10;75,5\n8;151\n6;176,1666666666667\n4;100,6666666666667\nFundo;0\n",
        "Siebweite (mm);Siebrückstand (%)\n0;0\n4;20\n6;35\n8;30\n10;15\n12;0\n",
    ] {
        assert_eq!(assert_sample(text), [""; 0], "{text}");
    }
}

#[test]
fn what_a_table_leaves_open_is_noted() {
    let notes = assert_sample("diameter[mm], retained[%]\n4, 0\n6, 20\n8, 35\n10, 30\n12, 15\n");
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].starts_with("0 stays on the finest size and 15 on the coarsest") && notes[0].contains("the next finer one"),
        "{}",
        notes[0]
    );
    // A laboratory lost 0.5 % of its sample.
    let notes = assert_sample("Sieve size (mm),Retained (%)\n12,0\n10,14.925\n8,29.85\n6,34.825\n4,19.9\n");
    assert_eq!(notes, ["the retained shares add up to 99.50 %, and are divided by their sum"]);
    let notes = assert_sample(
        "No.;Sieve size (mm);Retained (g);Retained (%);Passing (%)\na;4;1;1;0\nb;6;2;2;20\nc;8;2;2;55\nd;10;2;2;85\ne;12;2;2;100\n",
    );
    assert_eq!(notes, ["columns `No.`, `Retained (%)`, `Retained (g)` are not read"]);
}

#[test]
fn wrong_tables_are_named_with_line_column_and_remedy() {
    for (text, expected) in [
        (
            "Sieve size,passing[%]\n4,0\n12,100\n",
            "input:2: column `Sieve size`: `4` would be 4 m, as the column has no unit; write the unit into the first line",
        ),
        (
            "Sieve size (mesh),passing[%]\n4,0\n12,100\n",
            "input:1: column `Sieve size` cannot be in `mesh`; use one of m, cm, mm",
        ),
        (
            "size[mm],weight\n4,0\n12,100\n",
            "input:1: a sieve curve has a column `diameter` or `radius`, and a column `passing`, `cumulative retained` or `retained`; start",
        ),
        (
            "size[mm];retained[%]\n4;20\n6;35\n8;30\n10;15\n",
            "input:5: column `retained[%]`: `15` stays on the coarsest sieve, and the size of its grains is not given; add a line",
        ),
        (
            "size[mm];retained[%]\n10;0\n8;30\n6;35\nPan;35\n",
            "input:5: column `size[mm]`: `Pan` holds 35, but the size of its finest grains is not given; write the size",
        ),
        (
            "size[mm];retained[%]\n10;0\n8;30\n6;35\n",
            "input:4: the retained shares add up to 0.6",
        ),
        (
            "size[mm];retained[g]\n10;0\n8;-30\n6;35\n",
            "input:3: column `retained[g]`: `-30` is negative; give what stays",
        ),
        ("size[mm];retained[g]\n10;0\n8;0\n", "input:3: the retained shares add up to 0"),
        (
            "size[mm];passing[%]\n12;100\n10;50\n8;60\n6;0\n",
            "input:4: column `passing[%]`: `60` is more than in the line before; no more of the mass can pass",
        ),
        (
            "size[mm];cumulative retained[%]\n4;100\n6;50\n8;60\n10;0\n",
            "input:4: column `cumulative retained[%]`: `60` is more than in the line before",
        ),
        (
            "size[mm];passing[%]\n12;100\n10;50\n11;40\n",
            "input:4: column `size[mm]`: `11` is not below the line before; give the coarsest",
        ),
        (
            "size[mm];cumulative retained[%]\n4;90\n6;0\n",
            "input:2: column `cumulative retained[%]`: `90` is where the curve starts, but nothing is finer",
        ),
        (
            "size[mm];passing\n4;0\n6;50\n8;90\n",
            "input:3: column `passing`: `50` is not a share; use numbers from 0 to 1",
        ),
        (
            "size[mm];retained[g];\n8;0;\n4;120;\n2;80;\nTotal;200;\n",
            "input:5: column `size[mm]`: `Total` is not a finite number; write it like 0.25; remove lines that are no sieves, such as a total",
        ),
    ] {
        let message = read(text).unwrap_err();
        assert!(message.contains(expected), "{text}: no `{expected}` in {message}");
    }
}
