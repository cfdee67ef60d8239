//! The flags that say where to compute, divided among what, and with how many digits.

use clap::Args;
use seixo_engine::Simulation;
use seixo_engine::world::{Precision, Settings};
use seixo_scene::{Device, load_text, templates};
use std::path::Path;

/// Where to compute, and with how many digits: as the keys `run.device` and `run.precision` of a scene.
#[derive(Args, Clone, Debug, Default)]
pub struct PlaceArguments {
    /// Where to compute: cpu, gpu, heterogeneous (grains and bodies on the CPU, fluids at the same time on a GPU), auto (where some steps were fastest), cuda, wgpu, or of several GPUs one as in gpu:1; see `seixo info`
    #[arg(long)]
    pub device: Option<Device>,
    /// With how many digits: f64; mixed, coordinates and the velocities that move them in double, all else in single precision; f32. auto is f64 on the CPU, mixed on a GPU
    #[arg(long, value_parser = ["auto", "f64", "mixed", "f32"])]
    pub precision: Option<String>,
}

impl PlaceArguments {
    /// As `--set` for a scene.
    pub fn overrides(&self) -> Vec<(String, String)> {
        let device = self.device.map(|device| ("run.device".to_owned(), device.to_string()));
        let precision = self.precision.clone().map(|precision| ("run.precision".to_owned(), precision));
        device.into_iter().chain(precision).collect()
    }

    /// As settings of a world that comes from no scene.
    ///
    /// # Errors
    /// If the device counts GPUs, and there are fewer.
    pub fn apply(&self, settings: &mut Settings) -> Result<(), String> {
        if let Some(device) = self.device {
            settings.device = device
                .choice()
                .map_err(|complaint| format!("{}; {}", complaint.message, complaint.remedy))?;
        }
        if let Some(word) = &self.precision {
            let known = [Precision::F64, Precision::Mixed, Precision::F32];
            settings.precision = known.into_iter().find(|precision| precision.name() == word);
        }
        Ok(())
    }

    /// Starts the device with a few grains: what it is called, and with how many digits it computes.
    ///
    /// # Errors
    /// If it is not there, or does not compute like this.
    pub fn probe(&self) -> Result<(String, Precision, Vec<String>), String> {
        let mut scene = load_text(templates()[0].text, Path::new("probe.toml"), &[]).map_err(|found| found.to_string())?;
        self.apply(&mut scene.settings)?;
        let simulation = Simulation::new(scene.world, scene.settings).map_err(|refusal| refusal.to_string())?;
        Ok((simulation.device_name(), simulation.precision(), simulation.notices().to_vec()))
    }
}

/// What a world is divided among: as the keys `run.domains` and `run.gpus` of a scene.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct DivisionArguments {
    /// Domains among which grains and fluids are divided, each with its share of the threads. Results are the same bits with any number but 1, or with
    /// run.divisible = true
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub domains: Option<u32>,
    /// GPUs of this machine that grains and fluids are divided among: those of the kind that --device names, or of the best that are found
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub gpus: Option<u32>,
}

impl DivisionArguments {
    /// As `--set` for a scene.
    pub fn overrides(&self) -> Vec<(String, String)> {
        let keys = [("run.domains", self.domains), ("run.gpus", self.gpus)];
        let asked = keys
            .into_iter()
            .filter_map(|(key, count)| Some((key.to_owned(), count?.to_string())));
        asked.collect()
    }
}

/// Whether a simulation runs on the CPU.
pub fn is_on_cpu(simulation: &Simulation) -> bool {
    simulation.device_name() == "CPU"
}
