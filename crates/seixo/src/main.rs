//! The command line of Seixo.

use seixo::command::{Host, main as run_command};
use std::process::ExitCode;

#[global_allocator]
static MEMORY: seixo::device::Aligned = seixo::device::Aligned;

fn main() -> ExitCode {
    seixo::device::gpu::claim_cuda();
    run_command(std::env::args_os(), &Host::default()).into()
}
