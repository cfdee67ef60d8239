//! Terminal output of the commands: readable numbers, and errors.

use crate::failure::{Failure, INTERRUPTED};
use seixo_scene::{Diagnostics, escape_controls};
use serde_json::json;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Converts the result of printing; a closed pipe (`seixo schema | head`) is not an error.
fn printed(done: io::Result<()>) -> Result<(), Failure> {
    match done {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Run(format!("cannot write to the standard output: {error}"))),
        _ => Ok(()),
    }
}

fn write(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    printed(stdout.write_all(text.trim_end().as_bytes()).and_then(|()| stdout.write_all(b"\n")))
}

/// Prints a line of text.
pub fn out(text: &str) -> Result<(), Failure> {
    write(&escape_controls(text))
}

/// Prints one JSON object on a line of its own.
pub fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::Run(format!("cannot be written as JSON: {error}")))?;
    // Escapes characters that JSON permits, such as U+009B, which some terminals read as ESC [.
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    write(&escaped)
}

/// Prints a message of the argument parser (help, version or error), and returns the exit code.
pub fn usage(reported: &clap::Error) -> u8 {
    let done = reported.print().and_then(|()| io::stdout().flush());
    let code = u8::try_from(reported.exit_code()).unwrap_or(2);
    printed(done).map_or_else(|failure| if reported.use_stderr() { code } else { failure.exit() }, |()| code)
}

/// Prints an error to the error stream; in red on a terminal, unless `NO_COLOR` is set.
pub fn error(text: &str) {
    let is_colored = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let label = if is_colored { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
    // Without an error stream, only the exit code is left.
    let _ = writeln!(io::stderr(), "{label}: {}", escape_controls(text));
}

/// Prints a note to the error stream.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_controls(text));
}

/// Prints the diagnostics of a scene to the error stream. They contain their own colors, and their quotes are escaped already.
pub fn found(diagnostics: &Diagnostics) {
    let _ = writeln!(io::stderr(), "{diagnostics}");
}

/// Formats a whole number in groups of three digits.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a number of things: `1 grain`, `2 500 grains`.
pub fn many(number: usize, thing: &str) -> String {
    format!("{} {thing}{}", count(number as u64), if number == 1 { "" } else { "s" })
}

/// Describes device, precision and threads: `CPU (f64, 2 threads)`.
pub fn place(device: &str, precision: &str, threads: usize) -> String {
    format!("{device} ({precision}, {})", many(threads, "thread"))
}

/// Formats a number with a decimal prefix and a unit: `3.2 M` particle-steps, `1.2 µ` seconds. Below the smallest prefix, it is in powers of ten.
pub fn scaled(number: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 8] = [
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
    ];
    if number == 0.0 || !number.is_finite() {
        return format!("{number} {unit}");
    }
    let size = number.abs() * (1.0 + 1e-9);
    let Some((factor, prefix)) = PREFIXES.into_iter().find(|(factor, _)| size >= *factor) else {
        return format!("{number:.2e} {unit}");
    };
    let value = number / factor;
    let decimals = if value.abs() >= 99.95 {
        0
    } else if value.abs() >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {prefix}{unit}")
}

/// Formats the edges of a box between two corners \[m\]: `20.0 mm × 40.0 mm × 1.20 m`.
pub fn size([low, high]: [[f64; 3]; 2]) -> String {
    [0, 1, 2].map(|axis| scaled(high[axis] - low[axis], "m")).join(" × ")
}

/// Formats a wall time \[s\].
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    match whole {
        _ if seconds < 10.0 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} days {} h", count(whole / 86_400), whole / 3600 % 24),
    }
}

impl Failure {
    /// Prints the message and returns the exit code.
    pub fn exit(&self) -> u8 {
        match self {
            Failure::Input(text) | Failure::Run(text) => error(text),
            Failure::Scene(diagnostics) => found(diagnostics),
            Failure::Interrupted(text) => note(text),
            Failure::Reported(_) => {}
        }
        // Otherwise the other ranks would wait for this one.
        #[cfg(feature = "mpi")]
        seixo_transport::end_job(self.code());
        self.code()
    }

    /// Prints the failure as a line of JSON, if `is_json`.
    pub fn with_json(self, is_json: bool) -> Failure {
        if !is_json {
            return self;
        }
        let line = match &self {
            Failure::Input(text) | Failure::Run(text) => json!({"event": "error", "exit_code": self.code(), "message": text}),
            Failure::Scene(found) => {
                let (diagnostics, further) = (found.to_json(), found.further());
                json!({"event": "error", "exit_code": 2, "message": "the scene is wrong", "diagnostics": diagnostics, "further_checks": further})
            }
            Failure::Interrupted(text) => json!({"event": "interrupted", "exit_code": INTERRUPTED, "message": text}),
            Failure::Reported(_) => return self,
        };
        match json(&line) {
            Ok(()) => Failure::Reported(self.code()),
            // The error stream then gets the message.
            Err(_) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [count(0), count(999), count(1_000), count(12_345_678)],
            ["0", "999", "1 000", "12 345 678"]
        );
        assert_eq!([many(1, "grain"), many(2500, "grain")], ["1 grain", "2 500 grains"]);
        assert_eq!(place("CPU", "f64", 1), "CPU (f64, 1 thread)");
        assert_eq!(scaled(4_130_000.0, "particle-steps/s"), "4.13 Mparticle-steps/s");
        assert_eq!(scaled(1.5e-6, "s"), "1.50 µs");
        assert_eq!(scaled(0.001, "m"), "1.00 mm");
        // The step of a strong dashpot is not zero.
        assert_eq!(scaled(1.674e-16, "s"), "1.67e-16 s");
        assert_eq!(scaled(0.0, "B"), "0 B");
        assert_eq!(size([[0.0, -1.0, 0.0], [0.02, 0.2, 0.0]]), "20.0 mm × 1.20 m × 0 m");
        assert_eq!(
            [duration(3.21), duration(61.0), duration(7260.0), duration(200_000.0)],
            ["3.2 s", "1 min 01 s", "2 h 01 min", "2 days 7 h"]
        );
    }
}
