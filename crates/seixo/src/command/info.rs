//! `seixo info`: describes this machine, a run folder, a checkpoint, a mesh or a grain file.

mod placements;

use super::{Done, Failure, features};
use crate::run::{Outcome, Record, folder};
use crate::terminal;
use clap::Args;
use seixo_device::gpu::{Description, list};
use seixo_engine::state::{Column, State};
use seixo_engine::voxels::{Edges, NonManifoldEdge, Parts, is_collapsed};
use seixo_files::checkpoint::{self, Header};
use seixo_files::layer::{Disk, Unwritten};
use seixo_files::{grains_in, mesh_in};
use seixo_scene::uses_of_mesh;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Print information on this machine, a run folder, a checkpoint, a mesh or a grain file
#[derive(Args)]
#[command(after_help = "\
Examples:
  seixo info                                        this machine, and what `--device` can be here
  seixo info silo.out                               what ran there, how it went, its newest checkpoint
  seixo info silo.out/checkpoints/state.checkpoint  its sections and the digest of its state
  seixo info hopper.stl                             solids, triangles, extent, and what is odd about its edges; what it can be used for
  seixo info bed.csv                                grains, extent, radii, columns that are not read
  seixo info --placements                           which passes of a step run on a CPU, on a GPU and in domains, and why some do not

Exit code 2 for what is not there or cannot be read, and for a mesh that can be used for nothing.")]
pub struct InfoArguments {
    /// Run folder, checkpoint, mesh or grain file; default: this machine
    path: Option<PathBuf>,
    /// Print where each pass of a step can be computed, and the reasons where it cannot
    #[arg(long, conflicts_with = "path")]
    placements: bool,
    /// Print one JSON object on the standard output
    #[arg(long)]
    json: bool,
}

/// Prints the information.
pub fn info(arguments: &InfoArguments) -> Done {
    if arguments.placements {
        return placements::print(arguments.json);
    }
    let found = match &arguments.path {
        None => Ok(machine()),
        Some(path) => look(path),
    };
    let mut found = found.map_err(|failure| failure.with_json(arguments.json))?;
    let uses = found["usable_as"].as_object();
    let is_useless = uses.is_some_and(|uses| uses.values().all(|is_usable| is_usable == &Value::Bool(false)));
    if arguments.json {
        terminal::json(&found)?;
    } else {
        let summary = found.as_object_mut().and_then(|entries| entries.remove(SUMMARY));
        let summary = summary.map_or_else(String::new, |summary| lines(&json!({ SUMMARY: summary }), 0));
        terminal::out(&format!("{}{summary}", lines(&found, 0)))?;
    }
    if is_useless { Err(Failure::Reported(2)) } else { Ok(()) }
}

/// Key of the last line, which says whether a mesh is usable.
const SUMMARY: &str = "verdict";

/// Formats an object as indented lines.
pub(super) fn lines(value: &Value, indent: usize) -> String {
    let Value::Object(entries) = value else { return String::new() };
    let width = entries.keys().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    let is_empty = |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    for (key, value) in entries.iter().filter(|(_, value)| !is_empty(value)) {
        let name = if key.contains('/') { key.clone() } else { key.replace('_', " ") };
        text += &match value {
            Value::Object(_) => format!("{:indent$}{name}\n{}", "", lines(value, indent + 2)),
            Value::String(word) => format!("{:indent$}{name:width$}  {word}\n", ""),
            _ => format!("{:indent$}{name:width$}  {value}\n", ""),
        };
    }
    text
}

/// Returns the first value of a key in a file of lines such as `key: value`.
fn first(file: &str, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

/// Returns the model of the processor, where the system has it.
pub(super) fn processor() -> Option<String> {
    first("/proc/cpuinfo", "model name")
}

fn machine() -> Value {
    let memory = first("/proc/meminfo", "MemTotal").and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let listing = list();
    let gpus = listing.found.iter().enumerate();
    let missing = listing.missing.iter().map(|line| line.split_once(": ").unwrap_or((line, "")));
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "features": features::named(true),
        "features_left_out": features::named(false),
        "processor": processor(),
        "threads": std::thread::available_parallelism().map(usize::from).unwrap_or(1),
        "memory": memory.map(|kibibytes| terminal::scaled(1024.0 * kibibytes, "B")),
        "devices": {
            "cpu": {"precision": "f64, mixed"},
            "gpus": gpus.map(|(index, gpu)| (format!("gpu:{index}"), of_gpu(gpu))).collect::<serde_json::Map<_, _>>(),
            "no_gpus_by": missing.map(|(api, reason)| (api.to_owned(), reason.into())).collect::<serde_json::Map<_, _>>(),
        },
    })
}

/// Describes a GPU, with the words that select it.
fn of_gpu(gpu: &Description) -> Value {
    json!({
        "name": gpu.name,
        "device": format!("{}:{}", gpu.api, gpu.index),
        "precision": if gpu.has_f64 { "mixed, f64, f32" } else { "f32" },
        "memory": gpu.memory.map(|bytes| terminal::scaled(bytes as f64, "B")),
        "is_software": gpu.is_software,
    })
}

fn look(path: &Path) -> Result<Value, Failure> {
    if !path.exists() {
        return Err(Failure::Input(format!(
            "{}: there is no such file or folder; check the path",
            path.display()
        )));
    }
    if path.is_dir() {
        return run_folder(path);
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let wrong = |error: seixo_files::FilesError| Failure::Input(error.to_string());
    match ending {
        "checkpoint" | "prev" => checkpoint::read(&Disk, path)
            .map(|(header, state)| of_checkpoint(path, &header, &state))
            .map_err(wrong),
        "toml" => Err(Failure::Input(format!(
            "{0}: this is a scene; look at it with `seixo check {0}`",
            path.display()
        ))),
        // A damaged mesh must not be reported as an invalid table of grains.
        _ if mesh_in::is_mesh(path).map_err(wrong)? => mesh(path).map_err(wrong),
        _ => grains(path).map_err(wrong),
    }
}

fn run_folder(path: &Path) -> Result<Value, Failure> {
    let Some(record) = Record::read(&Disk, path) else {
        return Err(Failure::Input(format!(
            "{}: is not a run folder (it has no run.json)",
            path.display()
        )));
    };
    let frames = std::fs::read_dir(path.join(folder::FIELDS)).map_or(0, |entries| {
        let names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let count = |kind: &str| names.iter().filter(|name| name.starts_with(kind) && name.ends_with(".vtp")).count();
        count("grains_").max(count("fluid_"))
    });
    // `seixo info` only reads, so it must not complete an unfinished checkpoint.
    let newest = match checkpoint::newest_valid(&Unwritten, &path.join(folder::CHECKPOINTS)) {
        Ok((path, header, state)) => of_checkpoint(&path, &header, &state),
        Err(error) => json!(error.to_string()),
    };
    let next = (record.result != Outcome::Finished).then(|| format!("seixo resume {}", path.display()));
    Ok(json!({ "run": record, "frames": frames, "checkpoint": newest, "next": next }))
}

fn of_checkpoint(path: &Path, header: &Header, state: &State) -> Value {
    let size = |column: &Column| match column {
        Column::F64(values) => format!("{} f64", terminal::count(values.len() as u64)),
        Column::U32(values) => format!("{} u32", terminal::count(values.len() as u64)),
        Column::U64(values) => format!("{} u64", terminal::count(values.len() as u64)),
    };
    let sections: serde_json::Map<String, Value> = state
        .sections
        .iter()
        .map(|(name, column)| (name.clone(), size(column).into()))
        .collect();
    json!({
        "path": path.display().to_string(),
        "version": header.version,
        "time": header.time,
        "steps": header.steps,
        "scene_hash": header.scene_hash,
        "digest": checkpoint::digest(state),
        "sections": sections,
    })
}

fn mesh(path: &Path) -> Result<Value, seixo_files::FilesError> {
    let mesh_in::MeshFile { format, solids, triangles } = mesh_in::examine(path)?;
    let [min, max] = extent(triangles.iter().flatten());
    let in_millimeters = [min, max].map(|corner| corner.map(|coordinate| 1e-3 * coordinate));
    let size = format!(
        "{}; with unit = \"mm\" in a scene {}",
        terminal::size([min, max]),
        terminal::size(in_millimeters)
    );
    let flat = mesh_in::degenerate(&triangles);
    let first_flat = flat
        .first()
        .map(|&index| json!({ "number": index + 1, "corners": triangles[index] }));
    let edges = Edges::of(&triangles);
    let uses = uses_of_mesh(&triangles);
    let solid: Vec<_> = triangles.iter().filter(|triangle| !is_collapsed(triangle)).copied().collect();
    Ok(with_edges(
        json!({
            "path": path.display().to_string(), "format": format, "solids": solids,
            "triangles": triangles.len(), "without_area": flat.len(), "first_without_area": first_flat,
            "connected_parts": Parts::of(&solid).count(), "is_closed": edges.is_closed(), "min": min, "max": max, "size": size,
            "usable_as": { "wall": uses.wall, "body": uses.body, "region": uses.region }, SUMMARY: uses.summary,
        }),
        &edges,
    ))
}

/// Adds edges to the report of a mesh: the number of edges, the number of each kind of defect, and the ends of the first one of each kind \[m\].
pub(super) fn with_edges(mut report: Value, edges: &Edges) -> Value {
    let ends = |edge: Option<NonManifoldEdge>| json!(edge.map(|edge| edge.ends));
    let reported = [
        ("edges", json!(edges.all)),
        ("open_edges", json!(edges.open)),
        ("first_open_edge", ends(edges.first_open)),
        ("edges_of_triangles_that_disagree", json!(edges.turned)),
        ("first_edge_of_triangles_that_disagree", ends(edges.first_turned)),
        ("edges_of_more_than_two_triangles", json!(edges.has_too_many_faces)),
        ("first_edge_of_more_than_two_triangles", ends(edges.first_with_too_many_faces)),
    ];
    if let Value::Object(entries) = &mut report {
        entries.extend(reported.map(|(name, value)| (name.to_owned(), value)));
    }
    report
}

fn grains(path: &Path) -> Result<Value, seixo_files::FilesError> {
    let mut notes = Vec::new();
    let rows = grains_in::read(path, &grains_in::Limits::default(), &mut notes)?;
    if rows.is_empty() {
        notes.push(format!("{}: the file has no grains", path.display()));
    }
    let [min, max] = extent(rows.iter().map(|row| &row.position)).map(|corner| (!rows.is_empty()).then_some(corner));
    let radii: Vec<f64> = rows.iter().filter_map(|row| row.radius).collect();
    let smallest = radii.iter().copied().reduce(f64::min);
    let largest = radii.iter().copied().reduce(f64::max);
    Ok(json!({
        "path": path.display().to_string(), "grains": rows.len(), "min": min, "max": max,
        "smallest_radius": smallest, "largest_radius": largest,
        "notes": (!notes.is_empty()).then(|| notes.join("; ")),
    }))
}

/// Returns the smallest and the largest coordinates.
fn extent<'a>(points: impl Iterator<Item = &'a [f64; 3]>) -> [[f64; 3]; 2] {
    points.fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], point| {
        [[0, 1, 2].map(|k| low[k].min(point[k])), [0, 1, 2].map(|k| high[k].max(point[k]))]
    })
}
