//! Where a simulation runs: here, or on a GPU.

use crate::fields::Fields;
use crate::gpu::{OnGpu, PASSES, Remote};
use crate::guard::{Cause, Stop};
use crate::measure::NO_CONTACT;
use crate::refusal::Refusal;
use crate::resume::padded;
use crate::search::Pairs;
use crate::simulation::{PASSES_OF_CPU, Pass, Simulation};
use crate::state::{Profile, Trace};
use crate::world::{Assembly, DeviceChoice, Precision, Settings, World};
use seixo_device::gpu::{Gpu, GpuError, list};
use seixo_sweeps::bonds::BondTally;
use seixo_sweeps::motion::{Moved, STILL, TOO_CONDUCTIVE, TOO_DEEP};
use seixo_sweeps::pair::depth_of;
use seixo_sweeps::sides::OPEN;
use seixo_sweeps::sides::nearest_image;
use seixo_sweeps::views::{COMPOUND, RECORD, imprint_at, load, remembered, sign_of_second};

/// The GPU that is asked for; none for the cores of this machine, with a notice where a GPU would have been taken.
pub(crate) fn gpu_asked_for(choice: DeviceChoice, notices: &mut Vec<String>) -> Result<Option<Gpu>, Refusal> {
    let choice = match choice {
        DeviceChoice::Cpu => return Ok(None),
        DeviceChoice::Gpu(choice) | DeviceChoice::Heterogeneous(choice) => choice,
        DeviceChoice::Auto => {
            let listing = list();
            let Some(gpu) = listing.found.iter().find(|gpu| !gpu.is_software) else {
                notices.push(format!("no GPU found ({listing}): running on the CPU"));
                return Ok(None);
            };
            Some((gpu.api, gpu.index))
        }
    };
    Ok(Some(Gpu::open(choice)?))
}

/// The one GPU on which a world of these settings may run, started; none where cores of this machine are asked for, or several places.
///
/// # Errors
/// If there is none, or it does not start.
pub fn gpu_of(settings: &Settings) -> Result<Option<Gpu>, Refusal> {
    if settings.domains > 1 || settings.ranks.is_some() {
        return Ok(None);
    }
    gpu_asked_for(settings.device, &mut Vec::new())
}

/// The precision that is asked for, or else the usual one of this GPU.
pub(crate) fn precision_on(gpu: &Gpu, asked: Option<Precision>, notices: &mut Vec<String>) -> Result<Precision, Refusal> {
    let precision = asked.unwrap_or_else(|| {
        if gpu.description().has_f64 {
            return Precision::Mixed;
        }
        let name = &gpu.description().name;
        notices.push(format!("{name} has no double precision: running in f32"));
        Precision::F32
    });
    if precision != Precision::F32 {
        gpu.demand_double()?;
    }
    Ok(precision)
}

impl Simulation {
    /// As [`precision_on`], of this world.
    pub(crate) fn precision_of_world_on(&mut self, gpu: &Gpu) -> Result<Precision, Refusal> {
        let precision = precision_on(gpu, self.settings.precision, &mut self.notices)?;
        if self.conducts() && precision == Precision::F32 {
            return Err(Refusal::HeatInSingle);
        }
        self.digits.check(precision)?;
        Ok(precision)
    }

    /// As [`Simulation::new`], on a GPU that is open already.
    ///
    /// # Errors
    /// As [`Simulation::new`], and if the GPU does not suffice.
    pub fn new_on(gpu: Gpu, world: World, settings: Settings) -> Result<Simulation, Refusal> {
        let here = Settings {
            device: DeviceChoice::Cpu,
            precision: None,
            assembly: Assembly::Fused,
            ..settings.clone()
        };
        let mut simulation = Simulation::new(world, here)?;
        simulation.settings = settings;
        simulation.go_to(gpu)?;
        Ok(simulation)
    }

    /// Takes the grains to the device that the settings ask for.
    pub(crate) fn go_where_asked(&mut self) -> Result<(), Refusal> {
        if self.settings.domains > 1 {
            return self.hand_over(self.steps > 0);
        }
        let kept = self.keeps_fluids_here().filter(|_| self.settings.device == DeviceChoice::Auto);
        let choice = if kept.is_some() { DeviceChoice::Cpu } else { self.settings.device };
        self.notices.extend(kept.map(|why| format!("{why}: running on the CPU")));
        let Some(gpu) = gpu_asked_for(choice, &mut self.notices)? else {
            if self.settings.assembly != Assembly::Fused {
                return Err(Refusal::Assembly {
                    assembly: self.settings.assembly.name(),
                });
            }
            return match self.settings.precision {
                None | Some(Precision::F64) => Ok(()),
                Some(precision) => Err(Refusal::Precision {
                    precision: precision.name(),
                }),
            };
        };
        self.go_to(gpu)
    }

    /// Takes the grains to a GPU.
    fn go_to(&mut self, gpu: Gpu) -> Result<(), Refusal> {
        if self.is_heterogeneous() && !self.flows() {
            self.notices
                .push("there is no fluid that a GPU could take: everything is computed on the CPU".to_owned());
        }
        let precision = self.precision_of_world_on(&gpu)?;
        self.settings.precision = Some(precision);
        let is_more = self.is_compound || self.sides != OPEN || self.carries || self.is_bonded() || self.is_driven() || self.is_geared();
        if (is_more || self.settings.divisible) && self.settings.assembly != Assembly::Fused {
            return Err(Refusal::AssemblyElsewhere {
                assembly: self.settings.assembly.name(),
            });
        }
        if self.is_heterogeneous() {
            let mut beside = PASSES_OF_CPU;
            beside[Pass::Fluids as usize] = "waiting";
            (self.profile, self.trace) = (Profile::beside(&beside, &PASSES), Some(Trace::new()));
        } else {
            self.profile = Profile::new(&PASSES);
        }
        self.gpu = Some(gpu);
        self.hand_over(false)
    }

    /// Hands the grains, if there are any, to the domains or the GPU that step them, if there are some; one domain suffices where the simulation `goes_on`
    /// and what there is does not fill more.
    pub(crate) fn hand_over(&mut self, goes_on: bool) -> Result<(), Refusal> {
        if self.settings.domains > 1 {
            self.divide(goes_on)?;
        }
        let Some(gpu) = self.gpu.clone() else { return Ok(()) };
        if self.division.is_some() {
            // What is seen is what GPUs have, in their precision.
            self.is_current = false;
        } else {
            // Fluids look at bodies that are there before them.
            if self.fields.len() > 0 && !self.is_heterogeneous() {
                self.hand_grains_over(gpu.clone())?;
            }
            self.hand_fluids_over(&gpu)?;
        }
        self.observe().map_err(|stop| match stop.cause {
            Cause::Device { what } => GpuError::Lost { cause: what }.into(),
            _ => Refusal::State { what: stop.to_string() },
        })
    }

    pub(crate) fn hand_grains_over(&mut self, gpu: Gpu) -> Result<(), Refusal> {
        let remote: Box<dyn Remote> = match self.precision() {
            Precision::F64 => Box::new(OnGpu::<f64, f64>::take_over(gpu, self)?),
            Precision::Mixed => Box::new(OnGpu::<f64, f32>::take_over(gpu, self)?),
            Precision::F32 => Box::new(OnGpu::<f32, f32>::take_over(gpu, self)?),
        };
        self.remote = Some(remote);
        self.is_current = false;
        (self.pairs, self.old_pairs, self.fields) = (Pairs::default(), Pairs::default(), Fields::default());
        self.of_second = Vec::new();
        if let Some(network) = &mut self.bonds {
            network.forget_rows();
        }
        Ok(())
    }

    /// Takes the grains back from the GPU, which stays open. What the host knows of them must be up to date.
    pub(crate) fn come_home(&mut self) {
        self.division = None;
        if self.remote.take().is_some() {
            self.note_energies_of_bonds();
        }
        self.with_flow(|flow, simulation| flow.come_home(simulation));
    }

    /// Lets time pass where there is no grain.
    pub(crate) fn rest(&mut self, steps: u64) {
        self.steps += steps;
        self.last_tally = NO_CONTACT;
        if let Some(network) = &mut self.bonds {
            network.last = BondTally::default();
        }
        self.move_walls_by(steps);
        self.hold_bodies(false);
    }

    /// Whether the grains are on a GPU.
    pub(crate) fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// What computes: the GPU's name, or "CPU".
    pub fn device_name(&self) -> String {
        let beside = if self.is_heterogeneous() { "CPU and " } else { "" };
        self.gpu
            .as_ref()
            .map_or_else(|| "CPU".to_owned(), |gpu| format!("{beside}{}", gpu.description()))
    }

    /// With how many digits it computes.
    pub fn precision(&self) -> Precision {
        self.settings.precision.unwrap_or(Precision::F64)
    }

    /// What the user should know of where the simulation runs.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// As [`Simulation::advance`], on the GPU.
    pub(crate) fn advance_remotely(&mut self, steps: u64) -> Result<(), Stop> {
        if steps == 0 {
            return Ok(());
        }
        if self.is_heterogeneous() {
            return self.advance_on_both(steps);
        }
        if self.is_remote() && self.feels_bodies_remotely() {
            return self.advance_together(steps);
        }
        let end = self.steps + steps;
        if !self.is_remote() {
            self.is_current = false;
            self.rest(steps);
            return self.advance_fluids_remotely(steps);
        }
        loop {
            self.is_current = false;
            let left = end - self.steps;
            match self.with_remote(|remote, host| remote.advance(host, left))? {
                0 => return self.advance_fluids_remotely(steps),
                raised => self.see_to_grains(raised)?,
            }
            if !self.is_remote() {
                self.rest(end - self.steps);
                return self.advance_fluids_remotely(steps);
            }
        }
    }

    /// Takes away what left the domain where bodies carry grains: on the host, as a body goes as a whole.
    pub(crate) fn take_lost_away(&mut self) -> Result<(), Stop> {
        self.observe()?;
        let Some(domain) = self.domain else { return Ok(()) };
        let lost = (0..self.fields.len()).filter(|&i| self.has_gone(i, &domain));
        let ids: Vec<u32> = lost.map(|i| self.fields.id[i]).collect();
        self.remove(&ids).map_err(|refusal| match refusal {
            Refusal::Stopped(stop) => *stop,
            refusal => self.failed(refusal.to_string()),
        })
    }

    /// The device failed.
    pub(crate) fn failed(&self, what: String) -> Stop {
        Stop {
            grain: 0,
            affected: 0,
            position: [0.0; 3],
            velocity: [0.0; 3],
            cause: Cause::Device { what },
            step: self.steps,
            time: self.time(),
        }
    }

    /// Steps that the device takes now without a word from the host: who asks for a multiple of these lets a GPU wait least.
    pub fn steps_at_once(&self) -> u64 {
        let of_grains = self.remote.as_ref().map(|remote| remote.batch(self, u64::MAX));
        let of_fluids = self
            .flow
            .as_ref()
            .and_then(|flow| flow.remote.as_ref())
            .map(|remote| remote.batch(u64::MAX));
        of_grains.into_iter().chain(of_fluids).min().unwrap_or(1)
    }

    /// Lets a GPU begin with `steps` steps, which must be taken next.
    pub(crate) fn go_ahead(&mut self, steps: u64) -> Result<(), Stop> {
        if steps == 0 || !self.is_remote() || self.feels_bodies_remotely() {
            return Ok(());
        }
        self.with_remote(|remote, host| remote.go_ahead(host, steps))
    }

    /// Brings what readers see up to date: ledger, snapshot, momentum, walls. On the CPU they always are.
    ///
    /// # Errors
    /// If a grain's state became impossible, or the GPU fails.
    pub fn observe(&mut self) -> Result<(), Stop> {
        if self.is_current {
            return Ok(());
        }
        if self.division.is_some() {
            self.observe_division()?;
        }
        self.settle_what_is_owed()?;
        // How bodies move now follows from what fluids do to them, too.
        self.observe_fluids()?;
        if self.is_remote() {
            let raised = self.with_remote(|remote, host| remote.observe(host))?;
            if raised != 0 {
                return Err(self.explained(raised));
            }
        }
        self.is_current = true;
        Ok(())
    }

    /// Calls `visit` for every two grains that touch, by their places, with what each remembers of it.
    pub(crate) fn visit_touching(
        &mut self,
        mut visit: impl FnMut(&Simulation, u32, u32, &[f64; COMPOUND], &[f64; COMPOUND]),
    ) -> Result<(), Stop> {
        if self.is_remote() {
            let remembered = self.with_remote(|remote, _| remote.remembered())?;
            remembered.iter().for_each(|(i, j, of_i, of_j)| visit(self, *i, *j, of_i, of_j));
        } else {
            self.visit_listed(|i, j, of_i, of_j| visit(self, i, j, of_i, of_j));
        }
        Ok(())
    }

    /// As [`Simulation::visit_touching`], of pairs listed here.
    pub(crate) fn visit_listed(&self, mut visit: impl FnMut(u32, u32, &[f64; COMPOUND], &[f64; COMPOUND])) {
        let numbers = remembered(self.is_compound);
        // Smooth grains may have rows, too, but remember nothing.
        let rows = if self.frictional { self.pairs.row.len() } else { 0 };
        for i in 0..rows.saturating_sub(1) {
            for k in self.pairs.row[i] as usize..self.pairs.row[i + 1] as usize {
                let j = self.pairs.neighbors[k];
                // A pair across parts stands in two rows with opposite forces; the row of the earlier one tells both.
                if j <= i as u32 && !self.is_copy(j as usize) {
                    continue;
                }
                let record = &self.pairs.history[k * numbers..][..numbers];
                let holds = if self.is_compound {
                    imprint_at(record, 0).holds > 0.0
                } else {
                    // A record of zeros may be that of two grains that have just met head-on.
                    record.iter().any(|&number| number != 0.0) || self.do_touch(i, j as usize)
                };
                if holds {
                    let of_i = padded(record);
                    let known = self.of_second.binary_search_by_key(&(i as u32, j), |&(i, j, _)| (i, j));
                    let of_j = known.map_or_else(|_| of_partner(&of_i), |found| self.of_second[found].2);
                    visit(i as u32, j, &of_i, &of_j);
                }
            }
        }
    }

    /// Whether two grains touch.
    fn do_touch(&self, i: usize, j: usize) -> bool {
        let position = &self.fields.position;
        let apart = load(position, i * RECORD).minus(&load(position, j * RECORD));
        let apart = nearest_image::<f64, f64>(&apart, &self.stepping.sides, self.sides).apart;
        depth_of(&apart, position[i * RECORD + 3] + position[j * RECORD + 3]) > 0.0
    }

    pub(crate) fn with_remote<T>(&mut self, run: impl FnOnce(&mut dyn Remote, &mut Simulation) -> Result<T, GpuError>) -> Result<T, Stop> {
        let mut remote = self.remote.take().expect("a simulation that is not here is on a GPU");
        let result = run(remote.as_mut(), self);
        self.remote = Some(remote);
        result.map_err(|error| self.failed(error.to_string()))
    }

    /// Turns flags that the GPU raised into the error that they mean.
    pub(crate) fn explained(&mut self, raised: u32) -> Stop {
        if let Err(failed) = self.with_remote(|remote, host| remote.give_back(host)) {
            return failed;
        }
        self.moves = vec![Moved { flags: raised, ..STILL }];
        if let Err(stop) = self.guard_motion() {
            return stop;
        }
        self.renew_lists();
        self.touch_walls();
        if raised & TOO_CONDUCTIVE != 0 {
            return self.too_conductive();
        }
        debug_assert_ne!(raised & TOO_DEEP, 0);
        self.too_deep()
    }
}

/// What the second of two grains remembers of a contact, from what the first does.
pub(crate) fn of_partner(of_first: &[f64; COMPOUND]) -> [f64; COMPOUND] {
    std::array::from_fn(|c| sign_of_second::<f64>(c) * of_first[c])
}
