//! Tests of the program.

// What several tests use.
mod slow_disk;
mod stage;

// Tests, a subject each.
mod both_devices;
mod command_line;
#[cfg(all(feature = "window", feature = "page"))]
mod display;
mod known_cases;
#[cfg(feature = "mpi")]
mod ranks;
mod sessions;
mod verify;
