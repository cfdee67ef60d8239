//! Start of a simulation on several GPUs, whose grains are made where they are computed: no memory holds all of them.

use super::decomposed::has_own_gpu;
use super::gathering::energies_of;
use crate::assemble::{check_grains, fields_of};
use crate::decomposition::{Subdomain, Subdomains, limit_waits, peer_exchange_for};
use crate::events::stopped;
use crate::fields::Fields;
use crate::populations::Populations;
use crate::program::Placement;
use crate::refusal::WorldError;
use crate::simulation::Simulation;
use crate::world::{DeviceChoice, ExpectedGrains, GrainSource, Grains, Precision, Settings, Vec3, World};
use seixo_device::Cpu;

/// Refuses what needs a table of all grains, or forces that the host computes.
fn refuse_as_parts(world: &World, settings: &Settings) -> Result<(), WorldError> {
    let has_servo = world.walls.iter().any(|wall| wall.motion.servo.is_some());
    let has_control = world.domain.is_some_and(|domain| domain.control.is_some());
    let features = [
        (!world.grains.is_empty(), "grains in its table"),
        (world.saved.is_some(), "grains that another simulation saved"),
        (world.fluids.is_some(), "fluids"),
        (!world.bonds.is_empty(), "bonds"),
        (!world.shapes.is_empty(), "polyhedral grains"),
        (!world.loads.is_empty(), "loads"),
        (!world.later.constrained_groups.is_empty(), "groups that may be held"),
        (world.later.freezes, "fluids that may freeze"),
        (!world.scalars().is_empty(), "heat or liquid films"),
        (has_servo, "servos"),
        (has_control, "a controlled cell"),
        (settings.scheme.corrects().is_some(), "Gear's methods"),
        (settings.ranks.is_some(), "MPI"),
        (settings.domains < 2, "fewer than two domains"),
        (
            matches!(settings.device, DeviceChoice::Heterogeneous(_)),
            "the CPU and a GPU at the same time",
        ),
    ];
    match features.into_iter().find(|(is_there, _)| *is_there) {
        Some((_, what)) => Err(WorldError::Subdomains(format!(
            "a world whose grains are made in parts does not go with {what}; start it as a whole"
        ))),
        None => Ok(()),
    }
}

/// Refuses grains that are none of these kinds, or more than spheres alone.
fn refuse_unexpected(grains: &Grains, kinds: &[ExpectedGrains]) -> Result<(), WorldError> {
    let has_more = !grains.bodies.is_empty() || !grains.shape.is_empty() || !grains.masses.is_empty();
    if has_more || grains.scalars.carried_count() > 0 {
        return Err(WorldError::Subdomains(
            "grains that are made in parts are spheres without bodies, given masses and scalars; start a world with such grains as a whole"
                .to_owned(),
        ));
    }
    for (k, &id) in grains.id.iter().enumerate() {
        let (material, radius) = (grains.material[k], grains.radius[k]);
        let is_one = |kind: &ExpectedGrains| {
            let has_size = (kind.radius[0]..=kind.radius[1]).contains(&radius);
            kind.material == material && has_size && kind.highest_id.is_some_and(|highest| id <= highest)
        };
        if !kinds.iter().any(is_one) {
            return Err(WorldError::Subdomains(format!(
                "grain {id} of material {material} and radius {radius:.4e} m is of no kind of grains that its world announces; announce its material, \
                 radius and id"
            )));
        }
    }
    Ok(())
}

impl Simulation {
    /// Like [`Simulation::new`], for a world of more grains than the memory of the host can hold: each of [`Settings::domains`] on GPUs gets its own from
    /// the source. The world has none in its table, and announces their kinds in [`World::later`], each with its highest id.
    ///
    /// The GPUs compute the first forces, in their precision. So results agree with those of [`Simulation::new`] to rounding. They have the same bits
    /// for any number of domains. Nothing is observed yet: [`Simulation::observe_counts`] suffices for counters, while [`Simulation::observe`] copies
    /// all grains to the host.
    ///
    /// # Errors
    /// If the world or a setting cannot be simulated, or needs more than spheres and walls; without GPUs; or if a grain is of no announced kind.
    pub fn in_parts(world: &World, source: &dyn GrainSource, settings: Settings) -> Result<Simulation, WorldError> {
        refuse_as_parts(world, &settings)?;
        let (mut simulation, _) = Simulation::planned(world, settings, Fields::default())?;
        simulation.digits.check(Precision::F64)?;
        // Places the walls.
        simulation.whole.populations.rebuild_neighbor_lists();
        simulation.begin_domains(source, &world.later.grains)?;
        Ok(simulation)
    }

    /// Starts all subdomains with grains of the source, which are of these kinds.
    fn begin_domains(&mut self, source: &dyn GrainSource, kinds: &[ExpectedGrains]) -> Result<(), WorldError> {
        self.refuse_too_many_domains()?;
        self.refuse_placement(Placement::CpuDomains)?;
        let gpus = self.gpus_of_domains()?;
        if gpus.is_empty() {
            return Err(WorldError::Subdomains(
                "a world whose grains are made in parts needs GPUs; use --device gpu or --gpus".to_owned(),
            ));
        }
        self.refuse_placement(Placement::GpuDomains)?;
        let cuts = self.whole.populations.partition_all(&source.sample(), true)?;
        let (cuts, _) = cuts.ok_or(WorldError::NoGrains)?;
        limit_waits(&gpus);
        self.prepare_for(&gpus)?;
        let peer_exchange = peer_exchange_for(&gpus, self.whole.populations.walls.given.len(), false)?;
        if peer_exchange.is_some() {
            self.note_failed_links(&gpus);
        }
        let (precision, transports) = (self.precision(), self.whole.populations.context.settings.transports());
        let threads = (self.threads() / transports.len()).max(1);
        let mut domains = Vec::new();
        for transport in transports {
            let mut domain = Subdomain::new(self.share(threads)?, cuts.clone(), transport);
            domain.peer_exchange = peer_exchange.clone();
            domain.has_own_gpu = has_own_gpu(&gpus, domain.rank);
            domains.push(domain);
        }
        let count = domains.len();
        let mut subdomains = Subdomains {
            domains,
            ranks: None,
            grains: vec![0; count],
            fluid: Vec::new(),
            bytes: 0,
            costs: vec![[0.0; 2]; count],
            is_broken: false,
        };
        let (world_box, materials) = (self.whole.populations.context.domain, &self.whole.populations.context.materials);
        let make = |low: Vec3, high: Vec3, cores: &Cpu| -> Result<Fields, WorldError> {
            let grains = source.grains_in(low, high, cores);
            refuse_unexpected(&grains, kinds)?;
            check_grains(&grains, world_box.as_ref())?;
            let mut fields = fields_of(cores, &grains, &materials.densities, materials.has_friction);
            // The GPUs have zeros in their place until they compute them.
            (fields.force, fields.torque) = (Vec::new(), Vec::new());
            Ok(fields)
        };
        let begun = subdomains.all(|domain| domain.begin_on_gpu(&make, &gpus[domain.rank], precision));
        begun.map_err(|halt| self.refused_start(halt))?;
        let of_domains: Vec<&Populations> = subdomains.domains.iter().map(|domain| &domain.local.populations).collect();
        let energies = energies_of(&of_domains);
        let ledger = &mut self.whole.populations.ledger;
        (ledger.on_gpu, ledger.is_of_subdomains) = (energies, true);
        // What springs store at the start is no work since then.
        ledger.work.initial = energies.total() - energies.elastic_tangential;
        self.subdomains = Some(subdomains);
        self.whole.backend.observed = None;
        self.observe_counts().map_err(stopped)
    }
}
