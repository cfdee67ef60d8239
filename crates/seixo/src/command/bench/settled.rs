//! Settled grains, stored for reuse.

use super::super::Failure;
use super::failed;
use indicatif::ProgressBar;
use seixo_engine::state::State;
use seixo_engine::{Simulation, StepError};
use seixo_files::FilesError;
use seixo_files::checkpoint::{self, Header};
use seixo_files::layer::Disk;
use std::path::Path;

/// Returns the state after `steps` steps of the simulation that `start` creates, or the state stored in the folder `kept`. `None` if there are no
/// steps.
pub fn settled(steps: u64, kept: Option<&Path>, start: impl FnOnce() -> Result<Simulation, Failure>) -> Result<Option<State>, Failure> {
    if steps == 0 {
        return Ok(None);
    }
    if let Some(folder) = kept.filter(|folder| folder.join(checkpoint::FILE_NAME).exists()) {
        let (_, _, state) = checkpoint::newest_valid(&Disk, folder).map_err(|error| Failure::Input(error.to_string()))?;
        return Ok(Some(state));
    }
    let mut settling = start()?;
    let state = settle_grains(&mut settling, steps).map_err(failed)?;
    if let Some(folder) = kept {
        let header = Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scene_hash: String::new(),
            time: settling.time(),
            steps,
            outputs: serde_json::Value::Null,
        };
        checkpoint::write(&Disk, folder, &header, |to| {
            state.clone().put_to(to);
            Ok(())
        })
        .map_err(|error: FilesError| Failure::Run(error.to_string()))?;
    }
    Ok(Some(state))
}

/// Runs the steps and returns the state.
fn settle_grains(settling: &mut Simulation, steps: u64) -> Result<State, StepError> {
    let bar = ProgressBar::new(steps);
    bar.set_message("settling");
    while settling.steps() < steps {
        settling.advance((steps - settling.steps()).min(100))?;
        bar.set_position(settling.steps());
    }
    bar.finish_and_clear();
    settling.save()
}
