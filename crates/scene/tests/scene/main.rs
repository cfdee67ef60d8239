//! Tests of scenes: what is read, what is refused, and what stands at the start.

// What several tests use.
mod loaded;
mod spoiled;

// Tests, a subject each.
mod bad_events;
mod bad_fills;
mod bad_fluids;
mod bad_input;
mod body_boundaries;
mod bonds;
mod boundaries;
mod clumps;
mod convex_parts;
mod doubts;
mod fills;
mod films;
mod fluids;
mod freezing;
mod heat;
mod imports;
mod joints;
mod muller;
mod open_boundaries;
mod placing;
mod polyhedra;
mod probes;
mod random_polyhedra;
mod scenes;
mod solids;
mod spheres;
mod templates;
mod wear;
