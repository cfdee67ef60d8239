//! Command-line options for device, precision and decomposition.
//!
//! ```
//! use seixo::device_options::DeviceArguments;
//! use seixo::engine::world::{Precision, Settings};
//!
//! let arguments = DeviceArguments { device: Some("cpu".parse()?), precision: Some("f64".into()) };
//! assert_eq!(arguments.overrides()[0], ("run.device".to_owned(), "cpu".to_owned()));
//! let mut settings = Settings::default();
//! arguments.apply(&mut settings)?;
//! assert_eq!(settings.precision, Some(Precision::F64));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use clap::Args;
use seixo_engine::Simulation;
use seixo_engine::world::{Precision, Settings};
use seixo_scene::{Device, load_text, templates};
use std::path::Path;

/// Options for device and precision; they set the keys `run.device` and `run.precision` of a scene.
#[derive(Args, Clone, Debug, Default)]
pub struct DeviceArguments {
    /// Device that computes: cpu, gpu, heterogeneous, auto, cuda or wgpu. heterogeneous computes grains and bodies on the CPU and fluids at the same
    /// time on a GPU; auto runs some steps on each device and takes the fastest. gpu:1 selects one of several GPUs. `seixo info` lists the devices of
    /// this machine
    #[arg(long)]
    pub device: Option<Device>,
    /// Precision: f64, mixed or f32. mixed computes coordinates and the velocities that move them in double precision, all else in single precision;
    /// on the CPU, only frictional contacts of grains are in single precision. f32 is for GPUs. auto selects f64 on the CPU, and mixed on a GPU
    #[arg(long, value_parser = ["auto", "f64", "mixed", "f32"])]
    pub precision: Option<String>,
}

impl DeviceArguments {
    /// Returns the options as `--set` pairs of a scene.
    pub fn overrides(&self) -> Vec<(String, String)> {
        let device = self.device.map(|device| ("run.device".to_owned(), device.to_string()));
        let precision = self.precision.clone().map(|precision| ("run.precision".to_owned(), precision));
        device.into_iter().chain(precision).collect()
    }

    /// Writes the options into the settings of a world that has no scene.
    ///
    /// # Errors
    /// If the device has an index, such as `gpu:1`, and there are fewer GPUs.
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

    /// Returns the options with a GPU as the device, if a number of GPUs is asked for and no device is named.
    pub fn with_gpus_of(self, decomposition: &DecompositionArguments) -> DeviceArguments {
        let implied = decomposition.gpus.map(|_| Device::Gpu(None));
        DeviceArguments {
            device: self.device.or(implied),
            ..self
        }
    }

    /// Starts the device with a few grains, and returns its name, its precision and its notices.
    ///
    /// # Errors
    /// If there is no such device, or it does not support the precision.
    pub fn probe(&self) -> Result<(String, Precision, Vec<String>), String> {
        let mut scene = load_text(templates()[0].text, Path::new("probe.toml"), &[]).map_err(|found| found.to_string())?;
        self.apply(&mut scene.settings)?;
        let simulation = Simulation::new(scene.world, scene.settings).map_err(|refusal| refusal.to_string())?;
        Ok((simulation.device_name(), simulation.precision(), simulation.notices().to_vec()))
    }
}

/// Options for the decomposition; they set the keys `run.domains` and `run.gpus` of a scene.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct DecompositionArguments {
    /// Number of subdomains of the decomposition, each with its share of the threads; default 1. All numbers above 1 give the same bits; 1 gives them
    /// too if the scene has run.decomposition_invariant = true
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub domains: Option<u32>,
    /// Number of GPUs of this machine to use, with at least one subdomain each; default 1. They are of the kind that --device or the scene names, else
    /// of the best kind found; so --device gpu is not needed beside it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub gpus: Option<u32>,
}

impl DecompositionArguments {
    /// Returns the options as `--set` pairs of a scene.
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        place: DeviceArguments,
        #[command(flatten)]
        decomposition: DecompositionArguments,
    }

    #[test]
    fn a_number_of_gpus_asks_for_a_gpu_unless_a_device_is_named() {
        for (words, device) in [
            (&["seixo"][..], None),
            (&["seixo", "--domains", "2"][..], None),
            (&["seixo", "--gpus", "1"][..], Some("gpu")),
            (&["seixo", "--gpus", "2", "--device", "cuda"][..], Some("cuda:0")),
            (&["seixo", "--device", "cpu", "--gpus", "1"][..], Some("cpu")),
        ] {
            let Line { place, decomposition } = Line::parse_from(words);
            let found = place.with_gpus_of(&decomposition).device.map(|device| device.to_string());
            assert_eq!(found.as_deref(), device, "{words:?}");
        }
    }
}
