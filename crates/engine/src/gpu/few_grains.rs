//! Steps of few grains, which last as long as their launches and as a thread waits: contacts, walls and motion are one launch, and small blocks spread
//! over all multiprocessors.
//!
//! What is chosen follows from the world and the number of grains, so a resumed run has the same. Decomposition-invariant runs choose as with many
//! grains: their subdomains have different numbers of grains, and compilers might fuse operations differently in another kernel. The forces of an
//! observation, and the step after it, are launches of other kernels with the same functions; a test compares all digits.

use super::{GpuGrains, Number};
use crate::populations::Populations;
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::few_grains::GRAINS_OF_BLOCK;

/// Number of grains up to which a step may be one launch. Half of its threads only wait in most blocks. With 128 registers a thread, an H200 still holds
/// all blocks of so many grains at once.
pub(super) const ONE_LAUNCH: usize = 32_768;

/// Blocks of a step that is one launch, with n grains.
pub(super) fn blocks_of_one_launch(n: usize) -> usize {
    n.div_ceil(GRAINS_OF_BLOCK)
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Whether the grains are few, in a run whose kernels may depend on that. It does not change while lists last.
    pub(super) fn are_few(&self, host: &Populations) -> bool {
        (1..=self.most_in_one_launch).contains(&self.n) && !host.context.settings.decomposition_invariant
    }

    /// Threads per block of the launch that computes contacts and moves grains. The smallest blocks spread few grains over all multiprocessors.
    pub(super) fn threads_of_blocks(&self, host: &Populations) -> u32 {
        // Measured on an H200 with many grains: blocks of this size use the registers better than larger ones, by 5 to 10 %.
        if self.are_few(host) { 32 } else { 128 }
    }

    /// Whether the next step is one launch: few grains that move by themselves, between walls at rest. Wear, bonds, loads, heat and what sums over blocks
    /// in each step need other launches, or what these leave in memory. So do forces that an observation left there.
    pub(super) fn is_step_one_launch(&self, host: &Populations) -> bool {
        let is_plain = self.are_steps_alike() && self.shapes.is_none() && host.context.stepping.local_damping == 0.0;
        let are_walls_at_rest = !host.walls.has_moving() && self.walls.as_ref().is_some_and(|near| near.work.is_none());
        self.are_few(host) && is_plain && are_walls_at_rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::GpuBackend;
    use crate::gpu::search_tests::world;
    use crate::program::GrainLaunch;
    use crate::simulation::Simulation;
    use crate::world::{DeviceChoice, Settings, Wall, WallMotion, WallShape, World};
    use seixo_device::gpu::Gpu;

    #[test]
    fn each_grain_has_a_place_in_a_block() {
        assert_eq!(
            [0, 1, 32, 33, 10_648, ONE_LAUNCH].map(blocks_of_one_launch),
            [0, 1, 1, 2, 333, 1024]
        );
    }

    /// A layer of 64 grains on a floor.
    fn layer() -> World {
        let radius = 5e-4;
        let sphere = |k: u32| ([f64::from(k % 8) * 1.1e-3, f64::from(k / 8) * 1.1e-3, 0.99 * radius], radius);
        let mut world = world(&(0..64).map(sphere).collect::<Vec<([f64; 3], f64)>>());
        world.walls = vec![Wall {
            name: "floor".into(),
            material: 0,
            shape: WallShape::Plane {
                point: [0.0; 3],
                normal: [0.0, 0.0, 1.0],
            },
            motion: WallMotion::default(),
            specific_wear_rate: 0.0,
        }];
        world
    }

    /// The grains of a world on a GPU, and the host that steps them.
    fn uploaded(world: World, decomposition_invariant: bool) -> (GpuGrains<f64, f64>, Populations) {
        let settings = Settings {
            device: DeviceChoice::Cpu,
            threads: 1,
            decomposition_invariant,
            ..Settings::default()
        };
        let mut host = Simulation::new(world, settings).unwrap().whole.populations;
        let remote = GpuGrains::import_host_state(Gpu::open(None).unwrap(), &mut host).unwrap();
        (remote, host)
    }

    fn take_a_step(remote: &mut GpuGrains<f64, f64>, host: &mut Populations) {
        remote.open(host, 1);
        for launch in [GrainLaunch::ForcesAndMotion, GrainLaunch::Bodies] {
            remote.launch(launch, host, 0).unwrap();
        }
        assert_eq!(remote.close(host, false).unwrap().taken, 1);
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn steps_of_few_grains_between_walls_at_rest_are_one_launch() {
        let (mut remote, mut host) = uploaded(layer(), false);
        assert!(!remote.is_step_one_launch(&host), "forces are known after an upload");
        for _ in 0..2 {
            take_a_step(&mut remote, &mut host);
            assert!(remote.is_step_one_launch(&host));
        }
        for (most, are_few) in [(63, false), (64, true)] {
            remote.most_in_one_launch = most;
            assert_eq!(remote.is_step_one_launch(&host), are_few, "64 grains, where {most} are few");
        }
        remote.observe(&mut host).unwrap();
        assert!(!remote.is_step_one_launch(&host), "forces are known after an observation");
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn other_steps_are_several_launches() {
        let mut moving = layer();
        moving.walls[0].motion.velocity = [1e-3, 0.0, 0.0];
        let mut wearing = layer();
        wearing.walls[0].specific_wear_rate = 1e-12;
        let mut damped = layer();
        damped.local_damping = 0.3;
        let mut free = layer();
        free.walls.clear();
        for (world, decomposition_invariant, what) in [
            (moving, false, "a moving wall"),
            (wearing, false, "wear"),
            (damped, false, "local damping"),
            (free, false, "no walls"),
            (layer(), true, "domains"),
        ] {
            let (mut remote, mut host) = uploaded(world, decomposition_invariant);
            take_a_step(&mut remote, &mut host);
            assert!(!remote.is_step_one_launch(&host), "{what}");
        }
    }
}
