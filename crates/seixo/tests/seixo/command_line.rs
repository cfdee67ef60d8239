//! Tests of the command line: commands, exit codes, messages and files.

mod bench;
mod bonded;
mod cells;
mod changes;
mod commands;
mod devices;
mod events;
mod faults;
mod features;
mod frames;
mod frames_from_a_gpu;
mod heterogeneous;
mod interruptions;
mod leaks;
mod meshes;
mod moved;
mod output;
mod owner;
mod periodic;
mod polyhedra;
mod probes;
mod published;
mod random;
mod refusals;
mod scaling;
mod servos;
mod slice;
mod spheres;
mod stage;
mod start;
mod surface;
mod sweep;
mod table;
mod tutorials;
mod user_actions;

/// Returns the columns of a table as numbers, without its header.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let numbers = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>();
    text.lines().skip(1).map(numbers).collect()
}
