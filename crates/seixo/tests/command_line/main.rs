//! Seixo as its users meet it: commands, exit codes, messages and files.

mod bonded;
mod commands;
mod devices;
mod events;
mod faults;
mod hands;
mod interruptions;
mod leaks;
mod refusals;
mod scaling;
mod slice;
mod spheres;
mod stage;
mod surface;
mod together;
