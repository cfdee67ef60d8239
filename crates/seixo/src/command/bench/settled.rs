//! Grains that have come to rest, and are kept for the next time.

use super::super::Failure;
use super::failed;
use indicatif::ProgressBar;
use seixo::files::FilesError;
use seixo::files::checkpoint::{self, Header};
use seixo::files::layer::Disk;
use seixo::{Simulation, Stop};
use seixo_engine::state::State;
use std::path::Path;

/// What comes of grains in so many steps, which `start` makes; if they are kept in a folder, what is kept there. None where there is nothing to wait for.
pub fn settled(steps: u64, kept: Option<&Path>, start: impl FnOnce() -> Result<Simulation, Failure>) -> Result<Option<State>, Failure> {
    if steps == 0 {
        return Ok(None);
    }
    if let Some(folder) = kept.filter(|folder| folder.join(checkpoint::FILE_NAME).exists()) {
        let (_, _, state) = checkpoint::newest_valid(&Disk, folder).map_err(|error| Failure::Input(error.to_string()))?;
        return Ok(Some(state));
    }
    let mut settling = start()?;
    let state = settle_down(&mut settling, steps).map_err(failed)?;
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

/// Takes so many steps and says what came of the grains.
fn settle_down(settling: &mut Simulation, steps: u64) -> Result<State, Stop> {
    let bar = ProgressBar::new(steps);
    bar.set_message("settling");
    while settling.steps() < steps {
        settling.advance((steps - settling.steps()).min(100))?;
        bar.set_position(settling.steps());
    }
    bar.finish_and_clear();
    settling.save()
}
