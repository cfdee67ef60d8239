//! Reasons why a command fails or stops, with exit codes.

use crate::run::RunError;
use seixo_scene::{Diagnostics, UnlocatedDiagnostic};

/// Reason why a command failed or stopped.
pub enum Failure {
    /// The input is wrong.
    Input(String),
    /// The scene is wrong.
    Scene(Box<Diagnostics>),
    /// The run or the machine failed.
    Run(String),
    /// The command was interrupted; the text explains how to continue.
    Interrupted(String),
    /// The message is printed already; only the exit code is left.
    Reported(u8),
}

/// Result of a command.
pub type Done = Result<(), Failure>;

/// Exit code of a run that was interrupted and can be resumed.
pub const INTERRUPTED: u8 = 130;

impl Failure {
    /// Exit code of the program.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Input(_) | Failure::Scene(_) => 2,
            Failure::Run(_) => 1,
            Failure::Interrupted(_) => INTERRUPTED,
            Failure::Reported(code) => *code,
        }
    }

    /// Whether the only reason is an interruption.
    pub fn is_interruption(&self) -> bool {
        self.code() == INTERRUPTED
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Scene(diagnostics) => Failure::Scene(Box::new(diagnostics)),
            error if error.is_input() => Failure::Input(error.to_string()),
            error => Failure::Run(error.to_string()),
        }
    }
}

impl From<UnlocatedDiagnostic> for Failure {
    fn from(complaint: UnlocatedDiagnostic) -> Failure {
        let UnlocatedDiagnostic { message, limit, remedy } = complaint;
        let limit = limit.map(|limit| format!(" (accepted: {limit})")).unwrap_or_default();
        Failure::Input(format!("{message}{limit}; {remedy}"))
    }
}

impl From<seixo_files::FilesError> for Failure {
    fn from(error: seixo_files::FilesError) -> Failure {
        Failure::Run(error.to_string())
    }
}
