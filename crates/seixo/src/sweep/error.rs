//! Reasons why a sweep does not begin, or ends before its points.

use crate::run::RunError;
use seixo_files::FilesError;
use seixo_scene::Diagnostics;

/// Reason why a sweep does not begin, or ends before its points. A point that fails is none; see [`State::Failed`](super::State::Failed).
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The values, or the folder, are wrong.
    #[error("{0}")]
    Input(String),
    /// The scene is wrong at each point.
    #[error("{0}")]
    Scene(Box<Diagnostics>),
    /// The folder cannot be had.
    #[error(transparent)]
    Run(Box<RunError>),
    /// A file cannot be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
}

impl From<RunError> for SweepError {
    fn from(error: RunError) -> SweepError {
        SweepError::Run(Box::new(error))
    }
}
