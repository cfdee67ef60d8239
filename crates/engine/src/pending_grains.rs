//! Grains that may still be on their way from GPUs.

use crate::fields::Fields;
use crate::guard::StepError;
use crate::passes::order_of;
use crate::periodic_cell::PeriodicCell;
use crate::populations::Populations;
use crate::spheres::{SphereMotion, snapshot_of_spheres};
use crate::state::{GrainColumns, GrainSnapshot};
use seixo_device::Cpu;
use seixo_device::gpu::GpuError;
use seixo_sweeps::bodies::is_ghost;
use std::sync::Arc;

/// Waits for fields, which the threads of a device make.
type MakeFields = Box<dyn FnOnce(&Cpu) -> Result<Fields, GpuError> + Send>;

/// Fields of the free spheres of one domain that may still be on their way from its GPU; of a subdomain, with its ghosts and their marks.
pub(crate) struct PendingSpheres(MakeFields);

impl PendingSpheres {
    /// Spheres that `make` waits for.
    pub(crate) fn of(make: impl FnOnce(&Cpu) -> Result<Fields, GpuError> + Send + 'static) -> PendingSpheres {
        PendingSpheres(Box::new(make))
    }

    /// Waits for the spheres, and makes their fields on all threads of this device.
    fn arrive(self, device: &Cpu) -> Result<Fields, GpuError> {
        (self.0)(device)
    }
}

/// Grains at the time at which they were requested. GPUs may still be transferring them while they take steps.
///
/// ```
/// use seixo_engine::Simulation;
/// use seixo_engine::state::{GrainColumns, GrainSnapshot};
/// # use seixo_engine::world::{Interaction, Material, Settings, World};
///
/// fn grains_of(simulation: &mut Simulation) -> Result<GrainSnapshot, Box<dyn std::error::Error>> {
///     if let Some(grains) = simulation.request_grains(GrainColumns::ALL)? {
///         simulation.advance(10)?;
///         return Ok(grains.wait()?);
///     }
///     simulation.observe()?;
///     Ok(simulation.snapshot())
/// }
/// # let mut world = World::default();
/// # world.materials.push(Material { name: "glass".into(), density: 2500.0, youngs_modulus: 1e7, poisson_ratio: 0.2 });
/// # world.interactions.push(Some(Interaction::default()));
/// # world.groups.push("balls".into());
/// # world.grains.push(0, [0.0; 3], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
/// # let mut simulation = Simulation::new(world, Settings { threads: 1, ..Settings::default() })?;
/// assert_eq!(grains_of(&mut simulation)?.radius, [1e-3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PendingGrains {
    /// Those of each domain.
    parts: Vec<PendingSpheres>,
    motion: SphereMotion,
    columns: GrainColumns,
    cell: PeriodicCell,
    device: Arc<Cpu>,
    /// Number of completed steps, and time \[s\].
    requested_at: (u64, f64),
}

impl PendingGrains {
    /// These columns of the spheres of all domains of this world, whose periodic cell this is.
    pub(crate) fn of(parts: Vec<PendingSpheres>, world: &Populations, columns: GrainColumns, cell: PeriodicCell) -> PendingGrains {
        PendingGrains {
            parts,
            motion: world.motion_of_spheres(),
            columns,
            cell,
            device: world.context.device.clone(),
            requested_at: (world.context.steps, world.context.time()),
        }
    }

    /// Waits for the grains, on any thread, and lists them in the order of their ids.
    ///
    /// # Errors
    /// If a GPU fails; the step is that of the request.
    pub fn wait(self) -> Result<GrainSnapshot, StepError> {
        let (step, time) = self.requested_at;
        let fields = joined(self.parts, &self.device)
            .map_err(|error| StepError::of_device(format!("the grains of this step did not come from the GPU: {error}"), step, time))?;
        let order = order_of_owned(&fields);
        Ok(GrainSnapshot {
            cell: self.cell,
            ..snapshot_of_spheres(&fields, &order, &self.motion, self.columns, &self.device)
        })
    }
}

/// Waits for the spheres of all domains, and joins their fields.
fn joined(parts: Vec<PendingSpheres>, device: &Cpu) -> Result<Fields, GpuError> {
    let mut parts = parts.into_iter();
    let mut all = match parts.next() {
        Some(first) => first.arrive(device)?,
        None => Fields::default(),
    };
    for part in parts {
        all.append(&part.arrive(device)?);
    }
    Ok(all)
}

/// Indices of all spheres but ghosts, in the order of their ids.
fn order_of_owned(fields: &Fields) -> Vec<u32> {
    if fields.member.is_empty() {
        return order_of(&fields.id);
    }
    let owned: Vec<u32> = (0..fields.len() as u32).filter(|&i| !is_ghost(fields.member[i as usize])).collect();
    let ids: Vec<u32> = owned.iter().map(|&i| fields.id[i as usize]).collect();
    order_of(&ids).into_iter().map(|k| owned[k as usize]).collect()
}
