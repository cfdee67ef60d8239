//! The GPU and the precision that settings ask for.

use crate::refusal::WorldError;
use crate::world::{DeviceChoice, Precision, Settings};
use seixo_device::gpu::{Api, Description, Gpu, list_with};
use std::thread::{Builder, JoinHandle};

/// API and index of the requested GPU, or `Some(None)` for the first one. `None` for the CPU cores, with a notice if a GPU was preferred but is missing.
pub(crate) fn gpu_choice(choice: DeviceChoice, notices: &mut Vec<String>) -> Option<Option<(Api, usize)>> {
    match choice {
        DeviceChoice::Cpu => None,
        DeviceChoice::Gpu(choice) | DeviceChoice::Heterogeneous(choice) => Some(choice),
        DeviceChoice::Auto => {
            let listing = list_with(None);
            let found = listing.found.iter().find(|gpu| !gpu.is_software);
            if found.is_none() {
                notices.push(format!("no GPU found ({listing}): running on the CPU"));
            }
            found.map(|gpu| Some((gpu.api, gpu.index)))
        }
    }
}

/// The requested GPU; `None` for the CPU cores, with a notice if a GPU was preferred but is missing.
pub(crate) fn gpu_asked_for(choice: DeviceChoice, notices: &mut Vec<String>) -> Result<Option<Gpu>, WorldError> {
    let choice = gpu_choice(choice, notices);
    Ok(choice.map(Gpu::open).transpose()?)
}

/// GPUs that a thread opens. This waits for it when it is dropped.
pub(crate) struct OpeningGpus(Option<JoinHandle<()>>);

impl Drop for OpeningGpus {
    fn drop(&mut self) {
        // Whoever opens these GPUs again gets the error.
        let _ = self.0.take().map(JoinHandle::join);
    }
}

/// Begins to open the GPUs that these settings name, while the host prepares the world: drivers take a while to start.
pub(crate) fn open_ahead(settings: &Settings) -> OpeningGpus {
    let (DeviceChoice::Gpu(choice) | DeviceChoice::Heterogeneous(choice)) = settings.device else {
        return OpeningGpus(None);
    };
    if settings.ranks.is_some() {
        return OpeningGpus(None);
    }
    // One domain is on one GPU.
    let count = if settings.domains > 1 { settings.gpus } else { 1 };
    let open = move || {
        // Errors are returned where these GPUs are opened again.
        if count <= 1 {
            let _ = Gpu::open(choice);
        } else if let Some((api, indices)) = alike(&list_with(choice).found, choice) {
            let _ = Gpu::open_all(api, &indices[..count.min(indices.len())]);
        }
    };
    OpeningGpus(Builder::new().spawn(open).ok())
}

/// The API of the chosen GPU, or of the first one, and the indices of all GPUs that it reaches.
pub(crate) fn alike(found: &[Description], choice: Option<(Api, usize)>) -> Option<(Api, Vec<usize>)> {
    let is_chosen = |found: &&Description| choice.is_none_or(|chosen| chosen == (found.api, found.index));
    let api = found.iter().find(is_chosen)?.api;
    let alike = found.iter().filter(|found| found.api == api).map(|found| found.index);
    Some((api, alike.collect()))
}

/// Opens the only GPU on which a world with these settings may run; `None` if settings request the CPU, or a decomposition.
///
/// # Errors
/// If there is no GPU, or it does not start.
pub fn gpu_of(settings: &Settings) -> Result<Option<Gpu>, WorldError> {
    if settings.domains > 1 || settings.ranks.is_some() {
        return Ok(None);
    }
    gpu_asked_for(settings.device, &mut Vec::new())
}

/// The requested precision, or the default of this GPU.
pub(crate) fn precision_on(gpu: &Gpu, asked: Option<Precision>, notices: &mut Vec<String>) -> Result<Precision, WorldError> {
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
