//! Grains that are made where they are computed.

use super::{Grains, Vec3};
use seixo_device::Cpu;

/// The grains of a world that is too large for one table, made in parts. [`crate::Simulation::in_parts`] asks for those in the block of each subdomain, all
/// at the same time.
///
/// ```
/// use seixo_engine::world::{Cpu, GrainSource, Grains, Vec3};
///
/// /// A row of grains that touch.
/// struct Row(u32);
///
/// impl GrainSource for Row {
///     fn sample(&self) -> Vec<Vec3> {
///         (0..self.0).map(|k| [2e-3 * f64::from(k), 0.0, 0.0]).collect()
///     }
///
///     fn grains_in(&self, low: Vec3, high: Vec3, _: &Cpu) -> Grains {
///         let mut grains = Grains::default();
///         for (id, center) in (0..).zip(self.sample()) {
///             if (low[0]..high[0]).contains(&center[0]) {
///                 grains.push(id, center, [0.0; 3], [0.0; 3], 1e-3, 0, 0);
///             }
///         }
///         grains
///     }
/// }
///
/// let some = Row(10).grains_in([f64::NEG_INFINITY; 3], [9e-3, f64::INFINITY, f64::INFINITY], &Cpu::new(1)?);
/// assert_eq!(some.id, [0, 1, 2, 3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait GrainSource: Sync {
    /// Positions that are as dense as the grains, at most some millions \[m\]. Planes between subdomains divide them equally.
    fn sample(&self) -> Vec<Vec3>;

    /// The grains with centers in a box \[m\], which has its lower sides and not its upper ones, and may be infinite. Others may be among them, and are
    /// left out. A grain has the same id and values whatever the box, and no two have one id. Ids that ascend take the least time and memory. `cores` are
    /// those of the subdomain.
    fn grains_in(&self, low: Vec3, high: Vec3, cores: &Cpu) -> Grains;
}
