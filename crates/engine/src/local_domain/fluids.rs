//! Fluids of a domain on a GPU.

use super::one_gpu::OneGpu;
use super::queued_steps::compute_present_forces;
use crate::flow::Flow;
use crate::gpu::{FluidGpuBackend, GpuFluid, OPEN_BOUNDARIES};
use crate::guard::StepError;
use crate::local_domain::LocalDomain;
use crate::refusal::WorldError;
use crate::state::Profile;
use crate::surroundings::Surroundings;
use crate::world::Precision;
use seixo_device::gpu::{Gpu, GpuError};
use seixo_sweeps::motion::SKIN_EXCEEDED;
use std::any::Any;
use std::time::Instant;

impl LocalDomain {
    /// Uploads fluids, if there are any, to the GPU.
    pub(crate) fn upload_fluids(&mut self, gpu: &Gpu) -> Result<(), WorldError> {
        if self.populations.flow.as_ref().is_none_or(|flow| flow.fields.len() == 0) {
            return Ok(());
        }
        if let Some(why) = self.populations.why_fluids_on_host() {
            return Err(WorldError::Fluid(format!("{why}; use --device cpu")));
        }
        let precision = self.populations.context.precision();
        let shared = self.backend.grains.as_ref().map(|remote| remote.shared_with_fluids());
        self.backend.observed = None;
        if let Some((flow, surroundings, _)) = self.populations.fluids() {
            self.backend.fluids = Some(upload(flow, gpu.clone(), precision, shared, &surroundings)?);
        }
        Ok(())
    }

    /// Runs some work on the fluids on a GPU; does nothing if there are none.
    pub(crate) fn with_fluid_gpu_backend<T: Default>(
        &mut self,
        run: impl FnOnce(&mut dyn FluidGpuBackend, &mut Flow, &Surroundings, &mut Profile) -> Result<T, GpuError>,
    ) -> Result<T, StepError> {
        if self.backend.fluids.is_some() {
            self.refuse_failed()?;
        }
        let (Some((flow, surroundings, profile)), Some(remote)) = (self.populations.fluids(), &mut self.backend.fluids) else {
            return Ok(T::default());
        };
        let result = run(remote.as_mut(), flow, &surroundings, profile);
        result.map_err(|error| self.gpu_failed(error.to_string()))
    }

    /// Updates inlets and outlets of fluids on a GPU, if that is due.
    pub(crate) fn update_open_boundaries_if_due(&mut self) -> Result<(), StepError> {
        if self
            .populations
            .flow
            .as_ref()
            .is_some_and(|flow| flow.next_open_boundary_event() <= self.populations.context.steps)
        {
            let start = Instant::now();
            self.update_open_boundaries()?;
            self.populations.profile.add_on_gpu(OPEN_BOUNDARIES, start, 1);
        }
        Ok(())
    }

    /// Turns flags of the GPU into the error that they mean, or removes fluid that left, once its lists are out of date.
    pub(crate) fn handle_fluid_flags(&mut self, raised: u32) -> Result<(), StepError> {
        self.guard_fluids_on_gpu(raised)?;
        debug_assert_eq!(raised & !SKIN_EXCEEDED, 0);
        self.with_fluid_gpu_backend(|remote, flow, _, _| {
            // Lists of incompressible fluids were rebuilt, and counted, within the step.
            if flow.steps_since_listed > 0 {
                let lists = remote.list_counts(flow)?;
                flow.tune_skin(&lists);
            }
            Ok(())
        })?;
        // Fluid that left is removed here; the rest is uploaded again.
        self.upload_fluids_again()
    }

    /// Turns flags of the GPU into the error that they mean, if they mean one; updates the state of fluids on the host.
    pub(crate) fn guard_fluids_on_gpu(&mut self, raised: u32) -> Result<(), StepError> {
        self.observe_fluids()?;
        self.populations
            .with_flow(|flow, surroundings| flow.stopped_by(raised, surroundings))
            .map_or(Ok(()), Err)
    }

    /// Lists fluids here, without those that left, and uploads them again.
    pub(crate) fn upload_fluids_again(&mut self) -> Result<(), StepError> {
        self.backend.fluids = None;
        self.populations.with_flow(|flow, surroundings| {
            flow.download(surroundings);
            flow.rebuild_neighbor_lists(surroundings);
        });
        match self.backend.gpu.clone() {
            Some(gpu) => self.upload_fluids(&gpu).map_err(|refusal| self.gpu_failed(refusal.to_string())),
            None => Ok(()),
        }
    }

    /// Updates the state of fluids on the host.
    pub(crate) fn observe_fluids(&mut self) -> Result<(), StepError> {
        if !self.populations.fluids_on_gpu() {
            return Ok(());
        }
        self.with_fluid_gpu_backend(|remote, _, surroundings, _| {
            remote.update_bodies(surroundings.bodies);
            Ok(())
        })?;
        self.observe_fluids_only()?;
        self.populations.apply_fluid_loads();
        Ok(())
    }

    /// As [`LocalDomain::observe_fluids`], with bodies where the GPU has them.
    pub(crate) fn observe_fluids_only(&mut self) -> Result<(), StepError> {
        // Among others, the present forces were computed together.
        compute_present_forces(&mut OneGpu::of(self))?;
        self.with_fluid_gpu_backend(|remote, flow, _, _| remote.observe(flow))
    }

    /// Inserts and removes fluid as far as that is due at this step, where fluids may be on a GPU.
    pub(crate) fn update_open_boundaries(&mut self) -> Result<(), StepError> {
        if !self.populations.are_open_boundaries_due()? || self.populations.fluids_on_gpu() && !self.finds_some_to_pass()? {
            return Ok(());
        }
        self.observe_fluids()?;
        let Some(before) = self.populations.insert_and_remove() else {
            return Ok(());
        };
        if self.populations.fluids_on_gpu() {
            self.backend.fluids = None;
            self.populations.with_flow(|flow, surroundings| {
                flow.is_on_gpu = false;
                flow.remove_left_and_keep_positions(surroundings);
            });
            if let Some(gpu) = self.backend.gpu.clone() {
                self.upload_fluids(&gpu).map_err(|refusal| self.gpu_failed(refusal.to_string()))?;
            }
            self.observe_fluids()?;
            self.with_fluid_gpu_backend(|remote, flow, _, _| {
                flow.set_out();
                remote.set_out(flow);
                Ok(())
            })?;
        }
        if !self.populations.fluids_on_gpu() {
            self.populations.list_inserted();
        }
        self.populations.add_inserted_energy(before);
        Ok(())
    }

    /// Whether fluid enters or leaves at this step, at which a check of outlets of fluids on a GPU may be due.
    fn finds_some_to_pass(&mut self) -> Result<bool, StepError> {
        let steps = self.populations.context.steps;
        self.with_fluid_gpu_backend(|remote, flow, _, _| {
            let finds_some = flow.next_feeding() <= steps || remote.outlets_change_any(flow)?;
            if !finds_some {
                flow.open_boundaries.next_check = steps + flow.steps_between_outlet_checks();
            }
            Ok(finds_some)
        })
    }
}

/// Uploads the particles of fluids to a GPU. `shared` is what grains on the same GPU share with them.
fn upload(
    flow: &mut Flow,
    gpu: Gpu,
    precision: Precision,
    shared: Option<Box<dyn Any>>,
    surroundings: &Surroundings,
) -> Result<Box<dyn FluidGpuBackend>, GpuError> {
    if flow.follow_bodies(surroundings) {
        flow.rebuild_lists(surroundings);
    }
    let remote: Box<dyn FluidGpuBackend> = match precision {
        Precision::F64 => Box::new(GpuFluid::<f64, f64>::import_host_state(gpu, flow, surroundings, shared)?),
        Precision::Mixed => Box::new(GpuFluid::<f64, f32>::import_host_state(gpu, flow, surroundings, shared)?),
        Precision::F32 => Box::new(GpuFluid::<f32, f32>::import_host_state(gpu, flow, surroundings, shared)?),
    };
    flow.leave_to_gpu(&surroundings.context.device);
    Ok(remote)
}
