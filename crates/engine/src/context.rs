//! What all passes of a step read: the clock, the domain, the materials, and the threads that run them.

use crate::world::{DeviceChoice, Domain, LeavingPolicy, Precision, Settings, TimeStep};
use seixo_device::Cpu;
use seixo_sweeps::motion::StepParameters;
use std::sync::Arc;

/// What all passes of a step read. No pass changes it but the clock and the sides, with the domain between them.
#[derive(Clone)]
pub(crate) struct StepContext {
    pub device: Arc<Cpu>,
    pub settings: Settings,
    pub domain: Option<Domain>,
    /// Which sides of the domain are periodic.
    pub sides: u32,
    pub stepping: StepParameters<f64, f64>,
    /// Number of completed steps.
    pub steps: u64,
    pub time_step: TimeStep,
    pub materials: MaterialTable,
}

impl StepContext {
    /// Simulated time \[s\].
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.stepping.dt
    }

    /// Whether grains are on the CPU while fluids are on a GPU.
    pub fn is_heterogeneous(&self) -> bool {
        matches!(self.settings.device, DeviceChoice::Heterogeneous(_))
    }

    /// Precision of the computation.
    pub fn precision(&self) -> Precision {
        self.settings.precision.unwrap_or(Precision::F64)
    }

    /// Whether the CPU computes frictional contacts of grains in single precision. Beside a GPU, the precision is that of the GPU.
    pub fn narrows_contacts(&self) -> bool {
        let is_for_cpu = matches!(self.settings.device, DeviceChoice::Cpu | DeviceChoice::Auto);
        is_for_cpu && self.settings.precision == Some(Precision::Mixed)
    }

    /// What happens to particles that leave the domain.
    pub fn leaving(&self) -> LeavingPolicy {
        self.domain.map_or(LeavingPolicy::Delete, |domain| domain.leaving)
    }

    /// The domain outside which particles are removed when the neighbor lists are rebuilt, if there is one.
    pub fn domain_to_leave(&self) -> Option<Domain> {
        self.domain.filter(|domain| domain.leaving == LeavingPolicy::Delete)
    }

    /// Whether a center is outside the domain.
    pub fn has_left(&self, center: &[f64]) -> bool {
        self.domain.is_some_and(|domain| domain.is_outside_domain(center))
    }
}

/// The materials, and the laws of their contacts.
#[derive(Clone)]
pub(crate) struct MaterialTable {
    /// Coefficients of each pair of materials.
    pub coefficients: Vec<f64>,
    pub count: u32,
    /// Densities of the materials \[kg/m³\].
    pub densities: Vec<f64>,
    pub has_friction: bool,
    /// Whether a tangential law needs the contact radius of the previous step.
    pub needs_contact_radius: bool,
    /// Whether contacts have more than friction, see [`seixo_laws::contact::extended`].
    pub are_extended: bool,
    /// Whether all grains have the same material.
    pub is_uniform: bool,
}
