//! Tests of simulations from outside.

// What several tests use.
mod alike;
mod balls;
mod bars;
mod beds;
mod blocks;
mod bonded;
mod cemented;
mod channels;
mod clumps;
mod corners;
mod couette;
mod devices;
mod domains;
mod domains_on_a_gpu;
mod driven;
mod drops;
#[cfg(feature = "long-tests")]
mod floods;
mod floors;
mod gases;
mod ledgers;
mod meshes;
mod on_gpus;
mod overflowing;
mod pools;
mod ranked;
mod requested;
mod resumed;
mod solvers;
mod steered;
mod switched;
mod tied;
mod touching;
mod vectors;
mod vessels;
mod warm;

// Tests, a subject each.
mod arrays;
#[cfg(feature = "long-tests")]
mod assemblies;
mod at_rest;
mod bodies;
mod bodies_by_gear;
#[cfg(feature = "long-tests")]
mod bodies_by_gear_on_a_gpu;
mod bodies_in_muller;
#[cfg(feature = "long-tests")]
mod bodies_on_a_gpu;
mod bonded_faces;
mod bonds;
mod bonds_of_pairs;
#[cfg(feature = "long-tests")]
mod bonds_on_a_gpu;
mod broad_phase;
mod broad_phase_on_a_gpu;
mod cells;
mod compact_positions;
mod contact_list;
mod contact_records;
mod courant;
mod damping;
mod decomposition;
mod decomposition_bodies;
#[cfg(feature = "long-tests")]
mod decomposition_bodies_on_a_gpu;
mod decomposition_bonds;
#[cfg(feature = "long-tests")]
mod decomposition_bonds_on_a_gpu;
mod decomposition_floating;
#[cfg(feature = "long-tests")]
mod decomposition_floating_on_a_gpu;
#[cfg(feature = "long-tests")]
mod decomposition_fluids;
#[cfg(feature = "long-tests")]
mod decomposition_fluids_on_a_gpu;
mod decomposition_invariant;
mod decomposition_kinds;
#[cfg(feature = "long-tests")]
mod decomposition_kinds_on_a_gpu;
mod decomposition_migrations;
mod decomposition_muller;
mod decomposition_on_a_gpu;
mod decomposition_polyhedra;
mod decomposition_polyhedra_on_a_gpu;
mod disabled;
mod events;
mod extended_contacts;
mod external_forces;
mod few_on_a_gpu;
mod films;
mod floating;
#[cfg(feature = "long-tests")]
mod floating_on_a_gpu;
mod fluid_placements;
mod fluids;
#[cfg(feature = "long-tests")]
mod fluids_on_a_gpu;
mod freezing;
mod given_masses;
mod heat;
mod incompressible;
mod joints;
#[cfg(feature = "long-tests")]
mod joints_on_a_gpu;
mod later_bonds;
mod loads_of_time;
mod local_damping;
mod melting;
mod mesh_vessels;
mod mixed_on_the_cpu;
mod muller;
mod muller_on_a_gpu;
mod neighbor_lists;
mod on_a_gpu;
mod open_boundaries;
mod parts;
mod periodic;
mod polyhedra;
#[cfg(feature = "long-tests")]
mod polyhedra_afloat_on_a_gpu;
mod polyhedra_at_meshes;
mod polyhedra_at_walls_on_a_gpu;
mod polyhedra_coming;
mod polyhedra_floating;
mod polyhedra_floating_on_a_gpu;
mod polyhedra_held;
mod polyhedra_held_on_a_gpu;
mod polyhedra_of_parts;
mod polyhedra_on_a_gpu;
mod polyhedra_on_joints;
mod polyhedra_periodic;
mod polyhedra_saved;
mod polyhedra_with_bodies_on_a_gpu;
mod polyhedra_with_clumps;
mod polyhedra_with_heat;
mod polyhedra_with_heat_on_a_gpu;
mod prescribed_motion;
mod repeated_steps;
mod same_bits;
mod saved;
mod servos;
mod shifting;
mod skin;
mod skin_of_fluids;
mod static_tables;
mod suspension;
#[cfg(feature = "long-tests")]
mod suspension_on_a_gpu;
mod switches;
mod tension;
mod time_step;
mod timelines;
mod voxels;
mod voxels_on_a_gpu;
mod walls;
#[cfg(feature = "long-tests")]
mod walls_on_a_gpu;
mod wear;
mod xsph;
