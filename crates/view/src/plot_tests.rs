use std::fs;

use seixo_engine::state::Ledger;

use crate::{
    ChartFormat, Charts, ViewError,
    color::{self, Rgb},
    plot,
};

/// A run folder with an energy ledger, a probe with two units, and a profile.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("hopper").suffix(".out").tempdir().unwrap();
    let mut energies = format!("time [s],{}\n", Ledger::NAMES.join(","));
    for i in 0..=5000 {
        let t = f64::from(i) * 1e-4;
        let fall = (1.0 - (-6.0 * t).exp()) * 0.04;
        let kinetic = 0.3 * fall * (-4.0 * t).exp();
        let ledger = Ledger {
            kinetic,
            rotational: 0.2 * kinetic,
            elastic_normal: 0.05 * fall,
            elastic_tangential: 0.01 * fall,
            gravity: 12.0 - fall,
            normal_damping: 0.45 * (fall - 1.2 * kinetic),
            tangential_damping: 0.1 * (fall - 1.2 * kinetic),
            friction: 0.39 * (fall - 1.2 * kinetic),
            initial: 12.0,
            residual: 3e-9 * (40.0 * t).sin(),
            ..Ledger::default()
        };
        let values: Vec<String> = ledger.values().iter().map(f64::to_string).collect();
        energies += &format!("{t},{}\n", values.join(","));
    }
    fs::write(folder.path().join("energies.csv"), energies + "0.51,cut o").unwrap();
    fs::create_dir(folder.path().join("probes")).unwrap();
    let rows = (0..200)
        .map(|i| f64::from(i) * 1e-3)
        .map(|t| format!("{t},{},{},{}\n", t, t * t, (9.0 * t).sin() * 30.0));
    let rows: String = rows.collect();
    fs::write(
        folder.path().join("probes/lid.csv"),
        format!("time [s],x [m],y [m],force_z [N]\n{rows}"),
    )
    .unwrap();
    fs::write(
        folder.path().join("profile.csv"),
        "pass,seconds,share,calls\ncells,0.8,0.1,20\ncontacts,6.4,0.8,5000\nkick + drift,0.8,0.1,5000\n",
    )
    .unwrap();
    folder
}

fn svg(charts: Charts) -> Vec<(String, String)> {
    let files = plot(folder().path(), charts, ChartFormat::Svg).unwrap();
    files
        .into_iter()
        .map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap()))
        .collect()
}

#[test]
fn the_ledger_has_a_curve_and_a_name_for_each_term_that_is_not_zero_throughout() {
    let files = svg(Charts::Energies);
    let [(name, text)] = &files[..] else { panic!("one chart expected") };
    assert_eq!(name, "energies.svg");
    // Eight terms and the residual. The initial energy is zero without the gravitational potential.
    assert_eq!(text.matches("<polyline").count(), 9);
    for label in ["left domain", "viscosity", "initial (no gravity)"] {
        assert!(!text.contains(label), "{label} is zero throughout");
    }
    for label in [
        "kinetic",
        "friction",
        "gravity (change)",
        "energy [mJ]",
        "residual [nJ]",
        "time [s]",
    ] {
        assert!(text.contains(&format!("{label}\n</text>")), "{label} is missing");
    }
    assert!(text.starts_with("<svg width=\"1200\""));
    assert_eq!(text.matches("<text").count(), text.matches("</text>").count());
    assert!(text.trim_end().ends_with("</svg>"));
}

#[test]
fn probes_have_a_panel_for_each_unit() {
    let files = svg(Charts::Probes);
    let [(name, text)] = &files[..] else { panic!("one chart expected") };
    assert_eq!(name, "probe-lid.svg");
    assert_eq!(text.matches("<polyline").count(), 3);
    assert!(text.contains("x, y [m]") && text.contains("force z [N]") && text.contains("time [s]"));
}

#[test]
fn tensors_and_distributions_have_panels_of_their_own() {
    let folder = folder();
    let names = "time [s],pressure [Pa],contact_xx [Pa],contact_yz [Pa],mean [-],share_0 [-],share_11 [-],cells";
    fs::write(
        folder.path().join("probes/lid.csv"),
        format!("{names}\n0,1,2,3,4,5,6,7\n1,1,2,3,NaN,5,6,7\n"),
    )
    .unwrap();
    let files = plot(folder.path(), Charts::Probes, ChartFormat::Svg).unwrap();
    let text = String::from_utf8(files[0].1.clone()).unwrap();
    for panel in ["pressure [Pa]", "contact [Pa]", "mean", "share", "cells", "contact yz", "share 11"] {
        assert!(text.contains(&format!("{panel}\n</text>")), "{panel} is missing");
    }
}

#[test]
fn places_of_riding_gauges_have_a_panel_of_their_own() {
    let folder = folder();
    let table = "time [s],height1 (0.04 0) [m],x1 [m],y1 [m]\n0,0.1,5,6\n1,0.2,5,6\n";
    fs::write(folder.path().join("probes/lid.csv"), table).unwrap();
    let files = plot(folder.path(), Charts::Probes, ChartFormat::Svg).unwrap();
    let text = String::from_utf8(files[0].1.clone()).unwrap();
    for panel in ["height1 (0.04 0) [m]", "position [m]"] {
        assert!(text.contains(&format!("{panel}\n</text>")), "{panel} is missing: {text}");
    }
}

#[test]
fn all_charts_are_also_images() {
    let folder = folder();
    let files = plot(folder.path(), Charts::All, ChartFormat::Png).unwrap();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["energies.png", "probe-lid.png", "profile.png"]);
    for (name, bytes) in &files {
        let image = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        assert_eq!(image.info().width, 2400, "{name}");
    }
}

/// A trace of nine steps of ten milliseconds each. The GPU computes fluids for eight; the CPU computes contacts from the second to the fifth, and
/// motion after the GPU.
fn trace() -> String {
    let mut table = String::from("step,processor,pass,start [s],end [s]\n");
    for step in 1..=9 {
        for (place, pass, from, to) in [
            ("cpu", "contacts", 1, 5),
            ("gpu", "fluids", 0, 8),
            ("cpu", "waiting", 5, 8),
            ("cpu", "integration", 8, 10),
        ] {
            let [from, to] = [from, to].map(|time| 1e-3 * f64::from(10 * step + time));
            table += &format!("{step},{place},{pass},{from},{to}\n");
        }
    }
    table
}

/// The image row with most pixels of a color left of the legend: its number, and start and end of the bars of that color \[px\].
fn bars(rgb: &[u8], width: usize, shade: Rgb) -> (usize, Vec<[f64; 2]>) {
    let rows = rgb.chunks_exact(3 * width).map(|row| {
        let pixels = &row.as_chunks::<3>().0[..width - 430];
        pixels.iter().map(|pixel| *pixel == shade).collect::<Vec<bool>>()
    });
    let of_shade = |(_, row): &(usize, Vec<bool>)| row.iter().filter(|&&is_of_shade| is_of_shade).count();
    let (number, row) = rows.enumerate().max_by_key(of_shade).unwrap();
    let edges: Vec<f64> = (1..row.len()).filter(|&x| row[x] != row[x - 1]).map(|x| x as f64).collect();
    (number, edges.as_chunks::<2>().0.to_vec())
}

#[test]
fn a_trace_shows_what_gpu_and_cpu_were_at_in_a_few_steps_from_its_middle() {
    let folder = folder();
    fs::write(folder.path().join("trace.csv"), trace()).unwrap();
    let files = plot(folder.path(), Charts::Trace, ChartFormat::Png).unwrap();
    let [(name, bytes)] = &files[..] else {
        panic!("one chart expected")
    };
    assert_eq!(name, "trace.png");
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let [width, height] = [reader.info().width, reader.info().height].map(|side| side as usize);
    let mut rgb = vec![0; 3 * width * height];
    reader.next_frame(&mut rgb).unwrap();

    let [contacts, fluids, motion] = [0, 1, 3].map(color::distinct);
    let ((gpu, first), (cpu, last)) = (bars(&rgb, width, fluids), bars(&rgb, width, motion));
    assert!(gpu < cpu, "the GPU is above");
    let begin = first[0][0];
    let millisecond = (last[3][1] - begin) / 40.0;
    assert!(40.0 * millisecond > 0.7 * width as f64, "four steps fill the width");
    for (shade, lane, times) in [
        (contacts, cpu, [1.0, 5.0]),
        (fluids, gpu, [0.0, 8.0]),
        (color::OTHERS, cpu, [5.0, 8.0]),
        (motion, cpu, [8.0, 10.0]),
    ] {
        let (row, found) = bars(&rgb, width, shade);
        assert_eq!((row, found.len()), (lane, 4), "{times:?}");
        for (step, ends) in found.iter().enumerate() {
            for (end, time) in ends.iter().zip(times) {
                let expected = begin + (10.0 * step as f64 + time) * millisecond;
                assert!((end - expected).abs() < 3.0, "step {step}, {time} ms: {end} and not {expected}");
            }
        }
    }

    let files = plot(folder.path(), Charts::Trace, ChartFormat::Svg).unwrap();
    let text = String::from_utf8(files[0].1.clone()).unwrap();
    for label in [
        "GPU",
        "CPU",
        "fluids",
        "contacts",
        "waiting",
        "integration",
        "time [ms] · steps 3 to 6",
    ] {
        assert!(text.contains(&format!("{label}\n</text>")), "{label} is missing");
    }
    assert!(text.contains("at work together for 40 % of the time"));
}

#[test]
fn a_damaged_trace_is_named_with_line_and_value() {
    let folder = folder();
    for (row, reported) in [
        ("4,tpu,fluids,0,1", "\"tpu\""),
        ("-4,gpu,fluids,0,1", "\"-4\""),
        ("4,gpu,fluids,0,inf", "\"inf\""),
        ("4,gpu,fluids,2,1", "fluids ends at 1 s, before it begins"),
        ("4,gpu,fluids,2", "expected step, processor"),
    ] {
        fs::write(folder.path().join("trace.csv"), format!("{}{row}\n", trace())).unwrap();
        let message = plot(folder.path(), Charts::Trace, ChartFormat::Svg).unwrap_err().to_string();
        assert!(message.contains("trace.csv:38") && message.contains(reported), "{message}");
    }
}

#[test]
fn a_damaged_table_is_named_with_line_and_value() {
    let folder = folder();
    fs::write(folder.path().join("probes/lid.csv"), "time [s],x [m]\n0,1\n1,one\n").unwrap();
    let message = plot(folder.path(), Charts::Probes, ChartFormat::Svg).unwrap_err().to_string();
    assert!(
        message.contains("lid.csv:3") && message.contains("\"one\"") && message.contains("\"x\""),
        "{message}"
    );
}

#[test]
fn an_empty_folder_says_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let error = plot(folder.path(), Charts::All, ChartFormat::Svg).unwrap_err();
    assert!(matches!(error, ViewError::NothingToPlot { .. }) && error.to_string().contains("energies.csv"));
}
