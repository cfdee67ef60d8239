//! Steps of few grains, whose rows of neighbors are shared by several threads each, see [`seixo_sweeps::kernels::shared_rows`].

use super::{GpuGrains, Number};
use crate::populations::Populations;
use seixo_device::gpu::units;
use seixo_laws::Coordinate;
use seixo_sweeps::kernels::shared_rows::store_powers;

/// Number of threads up to which several share a row: about as many as a large GPU runs at once with the registers that contacts with friction take.
/// With more, threads that share a row wait for others to end. To be measured: up to which number of grains each number of threads is faster.
pub(super) const THREADS_AT_ONCE: usize = 120_000;

/// Number of threads that share a row of one of n grains, with so many threads `at_once`. The loads of a block of eight threads a row need 12 KiB of
/// shared memory, and twice as much with `wide` laws, in double precision; some GPUs have 16 KiB.
fn lanes_for(n: usize, at_once: usize, wide: bool) -> usize {
    let most = if wide { 4 } else { 8 };
    let fits = |lanes: &usize| n > 0 && *lanes <= most && n * lanes <= at_once;
    [8, 4].into_iter().find(fits).unwrap_or(1)
}

impl<C: Number + Coordinate<R>, R: Number> GpuGrains<C, R> {
    /// Number of threads that share a row in a launch of [`GpuGrains::forces_and_motion`] which may compute contacts (`touch`), and may sum the work of
    /// each step over blocks of threads (`damped`).
    ///
    /// It depends on the scene and on the number of grains, so a resumed run chooses as the first one, and a step with output as one without.
    /// Decomposition-invariant runs have one kernel for any number of grains.
    pub(super) fn lanes(&self, host: &Populations, touch: bool, damped: bool) -> usize {
        let is_alone = !host.context.settings.decomposition_invariant && !host.grains.has_ghosts;
        let has_other_launches = self.binned.is_some() || self.geared.is_some() || self.shapes.is_some();
        if touch && is_alone && !damped && !has_other_launches {
            lanes_for(self.n, self.threads_at_once, size_of::<R>() > size_of::<f32>())
        } else {
            1
        }
    }

    /// Stores the powers that a launch with shared rows left in the new velocities, for the ledger, in the blocks of all other launches.
    pub(super) fn store_powers(&self) {
        let (count, dim) = units(self.n);
        store_powers::launch::<R, C>(
            self.gpu.client(),
            count,
            dim,
            self.velocity[self.now ^ 1].records(),
            self.power.records(),
            self.n as u32,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::GpuBackend;
    use crate::gpu::search_tests::{sorted, world};
    use crate::search::tests::Sphere;
    use crate::world::{Search, World};
    use seixo_device::gpu::Gpu;
    use seixo_sweeps::layout::RECORD;

    /// Grains on a lattice that touch and move apart, without walls or gravity. The last tile is not full, and rows have up to 18 entries.
    fn crowd() -> World {
        let spheres: Vec<Sphere> = (0..1000u32)
            .map(|k| ([k % 10, k / 10 % 10, k / 100].map(|c| f64::from(c) * 0.999), 0.5))
            .collect();
        let mut world = world(&spheres);
        for k in 0..1000u32 {
            let some = |factor: u32| f64::from(k * factor % 101) / 101.0 - 0.4;
            world.grains.velocity[k as usize] = [37, 59, 83].map(|factor| 0.1 * some(factor));
            world.grains.angular_velocity[k as usize] = [29, 71, 97].map(some);
        }
        world
    }

    /// What the host sees after steps.
    struct Outcome {
        /// Records of positions, velocities, angular velocities, forces and torques.
        columns: [Vec<f64>; 5],
        /// Work of normal damping, and that of tangential forces \[J\].
        work: [f64; 2],
        /// Momentum before and after \[kg m/s\].
        momentum: [[f64; 3]; 2],
    }

    /// The total momentum of grains with these records of velocity and mass.
    fn momentum(records: &[f64]) -> [f64; 3] {
        [0, 1, 2].map(|axis| records.chunks_exact(RECORD).map(|record| record[3] * record[axis]).sum::<f64>())
    }

    /// The crowd after batches of steps, each with an observation behind it, with so many threads at once; and how many share a row.
    fn outcome<C: Number + Coordinate<R>, R: Number>(at_once: usize, batches: &[u64]) -> (Outcome, usize) {
        let mut host = sorted(&crowd(), Search::Grid, 0.5, false);
        let before = momentum(&host.grains.fields.velocity);
        let mut remote = GpuGrains::<C, R>::import_host_state(Gpu::open(None).unwrap(), &mut host).unwrap();
        // The host has computed none.
        remote.forces_known = false;
        remote.threads_at_once = at_once;
        for &steps in batches {
            remote.set_out(&host, steps);
            for ahead in 0..steps as u32 {
                remote.forces_and_motion_of_grains(&host, ahead).unwrap();
                remote.finish_step(&host, ahead);
            }
            let finished = remote.collect_steps(&mut host, false).unwrap();
            assert_eq!((finished.raised, finished.taken), (0, steps));
            assert_eq!(remote.observe(&mut host).unwrap(), 0);
        }
        let lanes = remote.lanes(&host, true, false);
        let work = [host.ledger.work.normal_damping, host.ledger.work.tangential];
        let fields = &host.grains.fields;
        let columns = [&fields.position, &fields.velocity, &fields.spin, &fields.force, &fields.torque].map(|column| column.to_vec());
        let momentum = [before, momentum(&fields.velocity)];
        (Outcome { columns, work, momentum }, lanes)
    }

    /// The largest difference of vectors in two columns of records, relative to the largest component.
    fn apart(a: &[f64], b: &[f64]) -> f64 {
        assert_eq!(a.len(), b.len());
        let is_component = |k: &usize| k % RECORD < 3;
        let largest = (0..a.len()).filter(is_component).map(|k| a[k].abs()).fold(0.0, f64::max);
        let apart = (0..a.len()).filter(is_component).map(|k| (a[k] - b[k]).abs());
        apart.fold(0.0, f64::max) / largest
    }

    fn check<C: Number + Coordinate<R>, R: Number>(expected_lanes: usize, bar: f64) {
        let (alone, of_one) = outcome::<C, R>(0, &[60]);
        let (shared, of_several) = outcome::<C, R>(THREADS_AT_ONCE, &[60]);
        assert_eq!([of_one, of_several], [1, expected_lanes]);
        for (k, (a, b)) in alone.columns.iter().zip(&shared.columns).enumerate() {
            let found = apart(a, b);
            assert!(found < bar, "column {k}: {found:e}");
        }
        for (a, b) in alone.work.iter().zip(&shared.work) {
            assert!(*a > 0.0 && (a - b).abs() < bar * a, "{a} {b}");
        }
        let masses = shared.columns[1].chunks_exact(RECORD).map(|record| record[3]);
        let most = 0.1 * masses.sum::<f64>();
        let [before, after] = shared.momentum;
        for axis in 0..3 {
            assert!((after[axis] - before[axis]).abs() < bar * most, "{before:?} {after:?}");
        }
        let (observed, _) = outcome::<C, R>(THREADS_AT_ONCE, &[23, 37]);
        assert!(observed.columns == shared.columns, "an observation changes no digit");
    }

    #[test]
    fn grains_whose_rows_are_shared_move_as_with_one_thread_each() {
        check::<f64, f32>(8, 1e-4);
        check::<f64, f64>(4, 1e-10);
    }

    #[test]
    fn rows_are_shared_by_as_many_threads_as_run_at_once() {
        let lanes = |n: usize| lanes_for(n, 100_000, false);
        assert_eq!([0, 1, 12_500, 12_501, 25_000, 25_001].map(lanes), [1, 8, 8, 4, 4, 1]);
        assert_eq!([1, 25_000, 25_001].map(|n| lanes_for(n, 100_000, true)), [4, 4, 1]);
    }
}
