//! A folder with a small scene, and the program under test.

use seixo::files::checkpoint::{self, Header};
use seixo::files::layer::Disk;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Path of the program.
pub const SEIXO: &str = env!("CARGO_BIN_EXE_seixo");

/// Three hundred grains fall into a box while a rod moves down onto them: friction, two kinds of walls, a moving wall, all probes, all outputs.
pub const HEAP: &str = r#"
title = "Little heap"
[run]
until = "120 ms"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.clay]
density = "2500 kg/m^3"
youngs_modulus = "20 MPa"
poisson_ratio = 0.25
[interaction.clay-clay]
restitution = 0.5
friction = 0.4
[grains.heap]
material = "clay"
[grains.heap.fill]
region = { box = { min = ["-25 mm", "-25 mm", "1 mm"], max = ["25 mm", "25 mm", "70 mm"] } }
count = 300
radius = { uniform = ["2 mm", "3 mm"] }
[wall.box]
material = "clay"
box = { min = ["-25 mm", "-25 mm", 0], max = ["25 mm", "25 mm", "120 mm"], open = ["top"] }
[wall.rod]
material = "clay"
cylinder = { from = [0, "-20 mm", "90 mm"], to = [0, "20 mm", "90 mm"], radius = "5 mm", segments = 12, caps = ["from", "to"] }
motion = { translate = [0, 0, "-0.65 m/s"] }
[output]
every = "10 ms"
energies_every = "1 ms"
fields = ["velocity", "force", "coordination", "pressure"]
contacts = true
coarse = { region = { min = ["-25 mm", "-25 mm", 0], max = ["25 mm", "25 mm", "50 mm"] }, spacing = "5 mm", width = "5 mm" }
[probe.flow]
count_through = { plane = { point = [0, 0, "20 mm"], normal = [0, 0, -1] } }
every = "1 ms"
[probe.middle]
group_center = "heap"
every = "2 ms"
[probe.one]
position = 7
every = "0.7 ms"
[probe.rod]
wall_force = "rod"
[probe.ledger]
energy = true
[probe.stress]
stress = { region = { box = { min = ["-20 mm", "-20 mm", "5 mm"], max = ["20 mm", "20 mm", "15 mm"] } } }
every = "3 ms"
[probe.strain]
strain = { group = "heap", region = { cylinder = { from = [0, 0, 0], to = [0, 0, "50 mm"], radius = "25 mm" } } }
every = "3 ms"
[probe.fabric]
fabric = {}
every = "10 ms"
[probe.touches]
coordination = { region = { cylinder = { from = [0, 0, 0], to = [0, 0, "40 mm"], radius = "25 mm" } } }
every = "10 ms"
[probe.filling]
solid_fraction = { region = { sphere = { center = [0, 0, "10 mm"], radius = "8 mm" } } }
every = "10 ms"
"#;

/// Result of a command.
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Done {
    /// Runs a command to its end.
    pub fn of(mut command: Command) -> Done {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Done {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// Asserts that the command succeeded.
    pub fn succeeded(self, line: &str) -> Done {
        assert_eq!(self.code, 0, "{line}\n{}\n{}", self.out, self.err);
        self
    }
}

pub struct Stage {
    folder: TempDir,
}

impl Stage {
    /// Creates a new folder with `heap.toml`.
    pub fn new() -> Stage {
        let stage = Stage {
            folder: tempfile::tempdir().unwrap(),
        };
        stage.write("heap.toml", HEAP);
        stage
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The record of a run.
    pub fn record(&self, run: &str) -> Value {
        serde_json::from_str(&self.read(&format!("{run}/run.json"))).unwrap()
    }

    /// Creates a command in this folder.
    pub fn command(&self, program: &str, line: &str) -> Command {
        let mut command = Command::new(program);
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command of the program that must succeed.
    pub fn succeed(&self, line: &str) -> Done {
        Done::of(self.command(SEIXO, line)).succeeded(line)
    }

    /// Returns the newest valid checkpoint of a run folder, with the digest of its state.
    pub fn checkpoint(&self, run: &str) -> (Header, String) {
        let (_, header, state) = checkpoint::newest_valid(&Disk, &self.path(run).join("checkpoints")).unwrap();
        (header, checkpoint::digest(&state))
    }

    /// Returns every file of a run that must not depend on threads, interruptions or the machine, by its path in the run folder.
    pub fn results(&self, run: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.path(run), &self.path(run), &mut files);
        let of_machine = ["run.json", "log.jsonl", "profile.csv", "trace.csv"];
        files.retain(|name, _| !of_machine.contains(&name.as_str()) && !name.starts_with("checkpoints"));
        files
    }

    /// Asserts that two runs gave the same bytes of outputs and state.
    pub fn assert_same(&self, run: &str, reference: &str) {
        let ((header, digest), (expected_header, expected_digest)) = (self.checkpoint(run), self.checkpoint(reference));
        assert_eq!(
            (header.steps, digest),
            (expected_header.steps, expected_digest),
            "{run}: the final state"
        );
        let (files, expected) = (self.results(run), self.results(reference));
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            expected.keys().collect::<Vec<_>>(),
            "{run}: the files"
        );
        for (name, bytes) in &expected {
            assert!(&files[name] == bytes, "{run}: {name} differs from that of {reference}");
        }
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            files.insert(
                path.strip_prefix(root).unwrap().display().to_string(),
                std::fs::read(&path).unwrap(),
            );
        }
    }
}
