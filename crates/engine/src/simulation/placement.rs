//! Where a simulation is computed: upload, steps and download.

use crate::backend::Observed;
use crate::device_choice::{gpu_asked_for, precision_on};
use crate::events::stopped;
use crate::gpu::PASSES;
use crate::guard::StepError;
use crate::pass::{PASSES_OF_CPU, Pass};
use crate::pending_grains::PendingGrains;
use crate::populations::Populations;
use crate::program::{OneDomain, execute};
use crate::refusal::WorldError;
use crate::simulation::Simulation;
use crate::state::{GrainColumns, Profile, Trace};
use crate::world::{DeviceChoice, ForceAssembly, Precision, Settings, World};
use seixo_device::gpu::Gpu;
use seixo_sweeps::periodic::OPEN;

impl Simulation {
    /// Like [`precision_on`], with checks of this world.
    pub(crate) fn precision_of_world_on(&mut self, gpu: &Gpu) -> Result<Precision, WorldError> {
        let precision = precision_on(gpu, self.whole.populations.context.settings.precision, &mut self.notices)?;
        if let Some(scalar) = self.scalars().next().filter(|_| precision == Precision::F32) {
            return Err(WorldError::ScalarInSingle { scalar });
        }
        self.digits.check(precision)?;
        Ok(precision)
    }

    /// Like [`Simulation::new`], on an open GPU.
    ///
    /// # Errors
    /// As [`Simulation::new`], and if the GPU is not sufficient.
    pub fn new_on(gpu: Gpu, world: World, settings: Settings) -> Result<Simulation, WorldError> {
        let here = Settings {
            device: DeviceChoice::Cpu,
            precision: None,
            assembly: ForceAssembly::Fused,
            ..settings.clone()
        };
        let mut simulation = Simulation::new(world, here)?;
        simulation.whole.populations.context.settings = settings;
        simulation.check_assembly()?;
        simulation.go_to(gpu)?;
        Ok(simulation)
    }

    /// Moves the grains to the device of the settings.
    pub(crate) fn go_where_asked(&mut self) -> Result<(), WorldError> {
        self.check_assembly()?;
        self.note_precision_without_effect();
        if self.whole.populations.context.settings.domains > 1 {
            return self.upload(self.whole.populations.context.steps > 0);
        }
        let kept = self
            .whole
            .populations
            .why_on_host()
            .filter(|_| self.whole.populations.context.settings.device == DeviceChoice::Auto);
        let choice = if kept.is_some() {
            DeviceChoice::Cpu
        } else {
            self.whole.populations.context.settings.device
        };
        self.notices.extend(kept.map(|why| format!("{why}: running on the CPU")));
        let Some(gpu) = gpu_asked_for(choice, &mut self.notices)? else {
            return self.check_precision_of_cpu();
        };
        self.go_to(gpu)
    }

    /// Refuses a precision that the CPU does not have.
    pub(crate) fn check_precision_of_cpu(&self) -> Result<(), WorldError> {
        match self.whole.populations.context.settings.precision {
            Some(Precision::F32) => Err(WorldError::Precision {
                precision: Precision::F32.name(),
            }),
            _ => Ok(()),
        }
    }

    /// Says so if mixed precision was chosen for a world in which the CPU computes all in double precision.
    fn note_precision_without_effect(&mut self) {
        let Populations { context, grains, .. } = &self.whole.populations;
        if context.narrows_contacts() && context.settings.device == DeviceChoice::Cpu && !grains.pairs.has_shortlists {
            self.notices.push(
                "mixed precision changes nothing here: on the CPU it is for frictional contacts of grains without attraction, rolling, twisting or plastic flow"
                    .to_owned(),
            );
        }
    }

    /// Refuses a force assembly by contacts where it does not serve.
    fn check_assembly(&self) -> Result<(), WorldError> {
        let populations = &self.whole.populations;
        let (context, settings) = (&populations.context, &populations.context.settings);
        if settings.assembly == ForceAssembly::Fused {
            return Ok(());
        }
        let features = [
            (context.materials.are_extended, "attraction, rolling, twisting or plastic flow"),
            (context.sides != OPEN, "periodic sides"),
            (populations.bodies.are_present, "rigid bodies"),
            (populations.is_bonded(), "bonds"),
            (populations.has_external_loads(), "loads or prescribed motion of grains"),
            (populations.is_geared(), "Gear's methods"),
            (settings.domains > 1, "several domains"),
            (settings.decomposition_invariant, "decomposition_invariant"),
        ];
        let missing = features.into_iter().find(|(is_there, _)| *is_there);
        missing.map_or(Ok(()), |(_, what)| {
            Err(WorldError::AssemblyElsewhere {
                assembly: settings.assembly.name(),
                what,
            })
        })
    }

    /// Moves the grains to a GPU.
    fn go_to(&mut self, gpu: Gpu) -> Result<(), WorldError> {
        let populations = &self.whole.populations;
        if let Some(why) = populations.why_cell_on_host().filter(|_| !populations.context.is_heterogeneous()) {
            return Err(WorldError::Cell(format!("{why}; use --device cpu")));
        }
        if self.whole.populations.context.is_heterogeneous() && !self.whole.populations.flows() {
            self.notices
                .push("there is no fluid that a GPU could take: everything is computed on the CPU".to_owned());
        }
        let precision = self.precision_of_world_on(&gpu)?;
        self.whole.populations.context.settings.precision = Some(precision);
        if self.whole.populations.context.is_heterogeneous() {
            let mut beside = PASSES_OF_CPU;
            beside[Pass::Fluids as usize] = "waiting";
            (self.whole.populations.profile, self.whole.populations.trace) = (Profile::beside(&beside, &PASSES), Some(Trace::new()));
        } else {
            self.whole.populations.profile = Profile::new(&PASSES);
        }
        self.whole.backend.gpu = Some(gpu);
        self.upload(false)
    }

    /// Uploads the grains, if there are any, to the subdomains or the GPU that step them. If the simulation `goes_on`, one subdomain is enough for
    /// a world that does not fill more.
    pub(crate) fn upload(&mut self, goes_on: bool) -> Result<(), WorldError> {
        let uploaded = self.upload_all(goes_on);
        self.whole.note_failed_upload(uploaded)
    }

    fn upload_all(&mut self, goes_on: bool) -> Result<(), WorldError> {
        if self.whole.populations.context.settings.domains > 1 {
            self.decompose(goes_on)?;
        }
        if self.subdomains.is_none() {
            return self.whole.upload();
        }
        if self.whole.backend.gpu.is_some() {
            // Readers then see the values of the GPUs, in their precision.
            self.whole.backend.observed = None;
            self.observe().map_err(stopped)?;
        }
        Ok(())
    }

    /// Ends the stepping on the GPU, which stays open, or in subdomains. The state on the host must be observed before.
    pub(crate) fn download(&mut self) {
        self.subdomains = None;
        self.whole.populations.ledger.is_of_subdomains = false;
        self.whole.download();
    }

    /// Name of the device: the GPU's name, or "CPU".
    pub fn device_name(&self) -> String {
        let beside = if self.whole.populations.context.is_heterogeneous() {
            "CPU and "
        } else {
            ""
        };
        self.whole
            .backend
            .gpu
            .as_ref()
            .map_or_else(|| "CPU".to_owned(), |gpu| format!("{beside}{}", gpu.description()))
    }

    /// Precision of the computation.
    pub fn precision(&self) -> Precision {
        self.whole.populations.context.precision()
    }

    /// Notices for the user on the device of the simulation.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Number of steps that the device can take now without the host. Multiples of it make a GPU wait least.
    pub fn steps_at_once(&self) -> u64 {
        let domains = self.subdomains.as_ref().map(|subdomains| &subdomains.domains[0].local);
        domains.unwrap_or(&self.whole).steps_at_once()
    }

    /// Updates all values that readers see: ledger, snapshot, momentum, walls. On the CPU they are always current.
    ///
    /// # Errors
    /// If a grain's state became impossible, or the GPU fails.
    pub fn observe(&mut self) -> Result<(), StepError> {
        if self.whole.backend.observed < Some(Observed::Everything) && self.subdomains.is_some() {
            self.observe_decomposition(Observed::Everything)?;
        }
        self.whole.observe()
    }

    /// Whether [`Simulation::request_grains`] can request the grains of this step: all of the world are free spheres on GPUs of this process, and are not
    /// observed yet. Each GPU has fewer than 2²⁵: copies of more would take gigabytes of memory of the host.
    pub fn can_request_grains(&self) -> bool {
        let are_free_spheres = || match &self.subdomains {
            Some(subdomains) => self.gathers_without_lists() && subdomains.domains.iter().all(|domain| domain.local.are_free_spheres()),
            None => self.whole.are_free_spheres(),
        };
        self.whole.backend.observed < Some(Observed::Everything) && are_free_spheres()
    }

    /// Updates the energy ledger and the positions of walls, for [`Simulation::ledger`] and [`Simulation::walls_now`] alone. It is faster than
    /// [`Simulation::observe`] where all of the world are free spheres on one or several GPUs of this process, and the same elsewhere, as among MPI ranks.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn observe_ledger(&mut self) -> Result<(), StepError> {
        if !self.can_request_grains() {
            return self.observe();
        }
        if self.subdomains.is_none() {
            return self.whole.observe_ledger();
        }
        self.whole.refuse_failed()?;
        if self.whole.backend.observed < Some(Observed::Ledger) {
            self.observe_decomposition(Observed::Ledger)?;
            self.whole.backend.observed = Some(Observed::Ledger);
        }
        Ok(())
    }

    /// Requests these columns of all grains at this step, and updates the ledger. Steps may be taken while GPUs transfer the grains. `None` where they
    /// are here already or must be observed, see [`Simulation::can_request_grains`]: on CPUs, among MPI ranks, and beside fluids, bodies, bonds, loads,
    /// polyhedral grains, scalars or worn walls.
    ///
    /// # Errors
    /// As [`Simulation::observe`].
    pub fn request_grains(&mut self, columns: GrainColumns) -> Result<Option<PendingGrains>, StepError> {
        if !self.can_request_grains() {
            return Ok(None);
        }
        self.observe_ledger()?;
        let parts = match &mut self.subdomains {
            Some(subdomains) => {
                let queued = subdomains.queue_spheres(columns);
                queued.map_err(|halt| self.whole.populations.halted(halt))?
            }
            None => vec![self.whole.queue_spheres(columns)?],
        };
        Ok(Some(PendingGrains::of(parts, &self.whole.populations, columns, self.cell())))
    }

    /// Advances by one time step. After it, positions, velocities and forces are those at [`Simulation::time`].
    ///
    /// # Errors
    /// If a grain's state became impossible; the error names it and the likely cause.
    pub fn step(&mut self) -> Result<(), StepError> {
        self.whole.refuse_failed()?;
        if self.subdomains.is_some() {
            return self.advance_decomposed(1);
        }
        if self.whole.populations.grains_on_gpu() || self.whole.populations.fluids_on_gpu() {
            return self.whole.advance_by_backend(1);
        }
        let began = self.whole.populations.now();
        let passes = self.whole.populations.passes();
        let executed = execute(&mut OneDomain(&mut self.whole.populations), passes);
        self.whole.populations.note("step", began);
        executed
    }

    /// Runs `work`, such as writing this state to files, and advances by `steps` time steps, or until one fails. GPUs take the
    /// first steps concurrently. Returns the result of the work and that of the steps.
    pub fn advance_while<T>(&mut self, steps: u64, work: impl FnOnce(&Simulation) -> T) -> (T, Result<(), StepError>) {
        let ahead = match &mut self.subdomains {
            Some(subdomains) if steps > 0 => {
                let queued = subdomains.all(|domain| domain.queue_steps(steps));
                queued.map_err(|halt| self.whole.populations.halted(halt))
            }
            Some(_) => Ok(()),
            None => self.whole.queue_steps(steps),
        };
        let worked = work(self);
        (worked, ahead.and_then(|()| self.advance(steps)))
    }

    /// Advances by `steps` time steps, or until one fails.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn advance(&mut self, steps: u64) -> Result<(), StepError> {
        self.whole.refuse_failed()?;
        if self.subdomains.is_some() {
            return self.advance_decomposed(steps);
        }
        if self.whole.populations.grains_on_gpu() || self.whole.populations.fluids_on_gpu() {
            return self.whole.advance_by_backend(steps);
        }
        if self.is_empty() && !self.whole.populations.flows() {
            self.whole.populations.pass_time(steps);
            return Ok(());
        }
        (0..steps).try_for_each(|_| self.step())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::search_tests::world;

    /// Two domains of a sheet of grains that fly across the plane between the domains, on this device.
    fn flying(device: DeviceChoice) -> Simulation {
        let sphere = |k: u32| ([f64::from(k / 4) * 1.1e-3, f64::from(k % 4) * 1.1e-3, 0.0], 5e-4);
        let mut world = world(&(0..160).map(sphere).collect::<Vec<([f64; 3], f64)>>());
        world.grains.velocity.fill([5.0, 0.0, 0.0]);
        let settings = Settings {
            domains: 2,
            threads: 2,
            device,
            ..Settings::default()
        };
        Simulation::new(world, settings).unwrap()
    }

    /// Software Vulkan suffices; without any adapter this test fails.
    #[test]
    fn gpus_of_several_domains_take_steps_while_other_work_is_done() {
        for device in [DeviceChoice::Cpu, DeviceChoice::Gpu(None)] {
            let (mut plain, mut meanwhile) = (flying(device), flying(device));
            assert_eq!(plain.steps_at_once() > 1, device != DeviceChoice::Cpu);
            for steps in [1, 40, 0, 3] {
                plain.observe().unwrap();
                meanwhile.observe().unwrap();
                let (seen, advanced) = meanwhile.advance_while(steps, |simulation| {
                    let domains = &simulation.subdomains.as_ref().unwrap().domains;
                    let are_queued = domains.iter().map(|domain| domain.local.backend.is_batch_queued);
                    (simulation.snapshot(), are_queued.collect::<Vec<bool>>())
                });
                advanced.unwrap();
                let is_ahead = steps > 0 && device != DeviceChoice::Cpu;
                assert!(seen == (plain.snapshot(), vec![is_ahead; 2]), "{device:?}, {steps} steps");
                plain.advance(steps).unwrap();
            }
            plain.observe().unwrap();
            meanwhile.observe().unwrap();
            assert_eq!((plain.steps(), meanwhile.steps()), (44, 44));
            assert!(plain.snapshot() == meanwhile.snapshot(), "{device:?}");
        }
    }
}
