//! A GPU (software Vulkan suffices; without any adapter this test fails) finds exactly the cubes of a mesh that the CPU finds.

use crate::meshes::{ball, block, cubes_on, moved, revolved, tilted, torus};
use seixo_engine::voxels::VoxelFilling;
use seixo_engine::world::DeviceChoice;

#[test]
fn a_gpu_finds_the_same_cubes() {
    let mut open = tilted(&revolved(&[[0.0, 0.0], [0.5, 0.0], [0.0, 1.5]]));
    open.truncate(150);
    let mut two = tilted(&block([1.0, 1.3, 0.7]));
    two.extend(moved(&ball(), |place| place.map(|x| 0.5 * x + 0.3)));
    // A sheet, which is seen edge-on along two axes.
    let sheet = revolved(&[[0.2, 0.0], [1.0, 0.0]]);
    for (name, mesh) in [("torus", torus()), ("open", open), ("two", two), ("sheet", sheet)] {
        for (radius, filling) in [
            (0.2, VoxelFilling::Solid),
            (0.04, VoxelFilling::Solid),
            (0.013, VoxelFilling::Surface),
        ] {
            let here = cubes_on((DeviceChoice::Cpu, 0), &mesh, radius, filling);
            let there = cubes_on((DeviceChoice::Gpu(None), 0), &mesh, radius, filling);
            println!("{name} at {radius}: {} cubes", here.1.taken.len());
            assert!(
                here == there,
                "{name} at {radius}: {} and {} cubes",
                here.1.taken.len(),
                there.1.taken.len()
            );
        }
    }
}
