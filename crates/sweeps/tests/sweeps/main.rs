//! Tests of the loops over particles.

mod carried_histories;
mod gathered_pairs;
mod gpu_equals_native;
mod mindlin_cycles;
mod motion_lanes;
mod narrow_lanes;
mod pairs;
mod shape_meshes;
mod shape_pairs;
mod shape_pairs_on_gpu;
mod shape_search_on_gpu;
mod shape_search_over_steps;
mod wall_lanes;
