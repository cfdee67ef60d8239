//! A folder with a small scene, for tests of single processes.

pub use crate::stage::{Done, HEAP, SEIXO, Stage};
use std::process::{Child, Command, Stdio};

impl Stage {
    /// Runs a command of the program to its end.
    pub fn seixo(&self, line: &str) -> Done {
        self.seixo_with(line, &[])
    }

    /// Runs a command of the program to its end, with environment variables.
    pub fn seixo_with(&self, line: &str, variables: &[(&str, &str)]) -> Done {
        let mut command = self.command(SEIXO, line);
        command.envs(variables.iter().copied());
        Done::of(command)
    }

    /// Starts a command of the program whose output can be read while it runs.
    pub fn start(&self, line: &str) -> Child {
        let mut command = self.command(SEIXO, line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// Sends a signal; the name is without SIG.
pub fn signal(child: &Child, name: &str) {
    let command = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
}

/// Pseudorandom whole numbers below a limit.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
