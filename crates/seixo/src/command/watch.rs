//! Output of a run on the command line: signals, the progress bar, JSON lines.

use super::{Done, Failure, Verbosity};
use crate::run::folder::{ENERGIES, FIELDS, PROBES, PROFILE};
use crate::run::{BroadPhaseRecord, Control, DecompositionRecord, Event, Observer, Outcome, Progress, RunEnd, RunError, StaticTableRecord};
use crate::terminal;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use seixo_view::{IN_TIME, frames_of};
use serde::Serialize;
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag::{register, register_conditional_default, register_conditional_shutdown};
use signal_hook::low_level::unregister;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What this process does at signals, to be removed when a command ends: a host of the command line goes on.
static REACTIONS: Mutex<Vec<SigId>> = Mutex::new(Vec::new());

fn reactions() -> MutexGuard<'static, Vec<SigId>> {
    REACTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all reactions to signals. Handlers that the process had before are still called.
pub fn release_signals() {
    for reaction in reactions().drain(..) {
        unregister(reaction);
    }
}

/// Lets these signals end the process, as before the first command.
pub fn react_by_default(signals: &[i32]) {
    for signal in signals {
        // If the handler cannot be installed, the process had none before.
        reactions().extend(register_conditional_default(*signal, Arc::new(AtomicBool::new(true))));
    }
}

/// Ignores SIGXFSZ: a write beyond the file size limit (`ulimit -f`) then fails with an error that names the file, instead of ending the program.
pub fn outlive_file_limit() {
    // If the handler cannot be installed, the signal ends the program as usual.
    reactions().extend(register(SIGXFSZ, Arc::new(AtomicBool::new(false))));
}

/// Connects signals to a run: Ctrl-C, TERM and HUP request a checkpoint and the end, USR1 a checkpoint. A second Ctrl-C ends the program at once.
pub fn signals() -> Result<Control, Failure> {
    let control = Control::default();
    let connect = || -> io::Result<()> {
        // Registered first, so that it sees only the flag of an earlier signal. TERM and HUP have no such rule: a closing terminal sends them twice.
        reactions().push(register_conditional_shutdown(SIGINT, 130, control.stop.clone())?);
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            reactions().push(register(signal, control.stop.clone())?);
        }
        reactions().push(register(SIGUSR1, control.checkpoint.clone())?);
        Ok(())
    };
    connect().map_err(|error| Failure::Run(format!("cannot listen to signals: {error}")))?;
    Ok(control)
}

/// Option of a run that another program starts.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct StopArguments {
    /// Write a checkpoint and stop when the standard input ends, as it does when the program that started this one ends, however that ends
    #[arg(long)]
    stop_at_end_of_input: bool,
}

impl StopArguments {
    /// Connects signals to a run, as [`signals`], and the end of the standard input if the option is given.
    pub fn control(&self) -> Result<Control, Failure> {
        let control = signals()?;
        if self.stop_at_end_of_input {
            let stop = control.stop.clone();
            thread::spawn(move || {
                // An input that cannot be read has ended, too.
                let _ = io::copy(&mut io::stdin(), &mut io::sink());
                stop.store(true, Ordering::Relaxed);
            });
        }
        Ok(control)
    }
}

/// Shows a run: a progress bar on the error stream, or JSON lines on the standard output.
pub struct Watcher {
    voice: Verbosity,
    bar: ProgressBar,
    is_started: bool,
    last_line: Option<Instant>,
    /// Whether the error of a failed run is printed at once, because viewers keep the program alive; and whether it was printed.
    has_viewers: bool,
    has_reported: bool,
    /// Error of the first JSON line that could not be printed.
    unsaid: Option<String>,
}

/// Creates a progress bar on the error stream, hidden if `is_quiet`.
pub fn bar(is_quiet: bool) -> ProgressBar {
    let target = if is_quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let bar = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template("{bar:16} {percent:>3} %  ETA {eta}  {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("━╸ "));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

impl Watcher {
    /// Creates a watcher with this amount of output.
    pub fn new(voice: Verbosity) -> Watcher {
        Watcher {
            voice,
            bar: bar(voice.quiet),
            is_started: false,
            last_line: None,
            has_viewers: false,
            has_reported: false,
            unsaid: None,
        }
    }

    /// As [`Watcher::new`], for a run with viewers. Such a run ends only when the last viewer leaves, so its error is printed before.
    pub fn beside_viewers(voice: Verbosity) -> Watcher {
        Watcher {
            has_viewers: true,
            ..Watcher::new(voice)
        }
    }

    fn report(&self, notices: &[String]) {
        notices.iter().for_each(|notice| self.say(&format!("note: {notice}")));
    }

    fn say(&self, text: &str) {
        self.bar.suspend(|| terminal::note(text));
    }

    /// Prints a line of JSON. The run continues if this fails: its results are worth more than its messages.
    fn line(&mut self, value: &impl Serialize) {
        if let Err(Failure::Run(reason)) = terminal::json(value) {
            self.unsaid.get_or_insert(reason);
        }
    }

    /// Converts the error of a failed run. If it was printed already, only the exit code is left.
    pub fn failed(&self, error: RunError) -> Failure {
        let failure = Failure::from(error);
        if self.has_reported {
            Failure::Reported(failure.code())
        } else {
            failure
        }
    }

    /// Prints how the run ended, and how to resume it.
    pub fn close(&mut self, folder: &Path, ending: &RunEnd) -> Done {
        self.bar.finish_and_clear();
        let record = &ending.record;
        let ways = ways_to_look(folder);
        let folder = folder.display();
        if let Some(reason) = self.unsaid.take() {
            return Err(Failure::Run(format!("{reason}; what the run wrote is in {folder} all the same")));
        }
        if record.result == Outcome::Interrupted {
            let text = format!(
                "stopped at t = {} after a checkpoint; go on with: seixo resume {folder}",
                terminal::scaled(record.time, "s")
            );
            return Err(Failure::Interrupted(text).with_json(self.voice.json));
        }
        if self.voice.quiet || self.voice.json {
            return Ok(());
        }
        let speed = terminal::scaled(record.particle_steps_per_second, "");
        let wall = terminal::duration(record.wall_time);
        let steps = terminal::count(record.steps);
        let time = terminal::scaled(record.time, "s");
        let bodies = record.broad_phase.as_ref().map_or(String::new(), broad_phase_text);
        let fixed = record.static_table.as_ref().map_or(String::new(), static_table_text);
        let domains = record.decomposition.as_ref().map_or(String::new(), decomposition_text);
        let pace = record
            .real_time_ratio
            .map_or(String::new(), |share| format!(", {}", real_time_text(share)));
        terminal::out(&format!(
            "done: t = {time} in {steps} steps, {wall}{pace}, {speed} particle-steps/s\n{bodies}{fixed}{domains}results in {folder}{ways}"
        ))
    }
}

/// Lists the commands that can draw a run folder, as far as it has what they draw; empty if it has nothing.
fn ways_to_look(folder: &Path) -> String {
    let has = |name: &&str| folder.join(name).exists();
    let tables = [ENERGIES, PROBES, PROFILE].iter().any(has).then_some("plot");
    let commands = frames_of(folder).is_ok().then_some("picture").into_iter().chain(tables);
    let mut ways: Vec<String> = commands.map(|command| format!("`seixo {command} {}`", folder.display())).collect();
    ways.extend(frame_lists(folder));
    let Some(last) = ways.pop() else {
        return String::new();
    };
    let others = ways.join(", ");
    let or = if others.is_empty() { "" } else { " or " };
    format!(" – look at them with {others}{or}{last}")
}

/// Names the frame lists (`.pvd`) of a run folder for ParaView; `None` if there are none.
fn frame_lists(folder: &Path) -> Option<String> {
    let fields = std::fs::read_dir(folder.join(FIELDS));
    let paths = fields.into_iter().flatten().flatten().map(|entry| entry.path());
    let lists = paths.filter(|path| path.extension().is_some_and(|ending| ending == "pvd"));
    let mut names: Vec<String> = lists.map(|path| path.display().to_string()).collect();
    names.sort();
    (!names.is_empty()).then(|| format!("ParaView ({})", names.join(", ")))
}

/// Describes the reached share of the requested speed relative to wall time.
fn real_time_text(share: f64) -> String {
    if share < IN_TIME {
        format!("{:.0} % short of real time", 100.0 * (1.0 - share))
    } else {
        "in real time".to_owned()
    }
}

/// Describes the decomposition of grains and fluids in one line.
fn decomposition_text(found: &DecompositionRecord) -> String {
    let of = |counts: &[usize], what: &str| {
        let words: Vec<String> = counts.iter().map(|count| terminal::count(*count as u64)).collect();
        counts
            .iter()
            .any(|count| *count > 0)
            .then(|| format!("{} {what}", words.join(", ")))
    };
    let all = [of(&found.grains, "grains"), of(&found.fluid, "particles of fluid")];
    let all: Vec<String> = all.into_iter().flatten().collect();
    let particles = if all.is_empty() {
        "without particles".to_owned()
    } else {
        format!("with {}", all.join(" and "))
    };
    let moves = terminal::count(found.migrations);
    let by_time = found
        .imbalance_by_time
        .map(|share| format!(" and {:.0} % more work", 100.0 * share));
    format!(
        "{} {particles}; {moves} migrated; one has up to {:.0} % more particles{} than the mean; planes moved {}\n",
        terminal::many(found.grains.len(), "domain"),
        100.0 * found.imbalance_by_count,
        by_time.unwrap_or_default(),
        terminal::many(found.cut_moves as usize, "time")
    )
}

/// Describes the result of the last broad phase for clumps in one line. What a clump is near may touch it before the next rebuild.
fn broad_phase_text(found: &BroadPhaseRecord) -> String {
    let &BroadPhaseRecord {
        none,
        fluid,
        solid,
        both,
        spheres,
        near_grains,
        ..
    } = found;
    let count = |number: usize| terminal::count(number as u64);
    format!(
        "broad phase of clumps: {} near nothing, {} near fluids, {} near grains or walls, {} near both; neighbors were searched for {} of {} spheres\n",
        count(none),
        count(fluid),
        count(solid),
        count(both),
        count(near_grains),
        count(spheres),
    )
}

/// Describes the hash tables of fixed spheres in one line.
fn static_table_text(found: &StaticTableRecord) -> String {
    format!(
        "hash tables of {}: filled {}\n",
        terminal::many(found.spheres, "fixed sphere"),
        terminal::many(found.fills as usize, "time")
    )
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        if !self.is_started {
            self.is_started = true;
            self.bar.set_length(progress.steps_at_end);
            self.bar.set_position(progress.steps);
            self.bar.reset_eta();
        }
        self.bar.set_position(progress.steps);
        if self
            .last_line
            .is_some_and(|last| last.elapsed() < Duration::from_millis(if self.voice.json { 1000 } else { 100 }))
        {
            return;
        }
        self.last_line = Some(Instant::now());
        let &Progress {
            time,
            until,
            wall_time,
            particle_steps_per_second: speed,
            kinetic,
            real_time_ratio,
            steps,
            grains,
            ..
        } = progress;
        let pace = real_time_ratio.map_or(String::new(), |share| format!(" · {}", real_time_text(share)));
        self.bar.set_message(format!(
            "t = {} of {} · {} particle-steps/s · kinetic {} · {}{pace}",
            terminal::scaled(time, "s"),
            terminal::scaled(until, "s"),
            terminal::scaled(speed, ""),
            terminal::scaled(kinetic, "J"),
            terminal::duration(wall_time),
        ));
        if self.voice.json {
            self.line(&serde_json::json!({
                "event": "progress", "time": time, "until": until, "steps": steps, "grains": grains, "wall_time": wall_time,
                "particle_steps_per_second": speed, "kinetic": kinetic, "real_time_ratio": real_time_ratio,
            }));
        }
    }

    fn event(&mut self, event: &Event) {
        if self.voice.json {
            self.line(event);
            return;
        }
        if let (Event::Failed { reason, .. }, true) = (event, self.has_viewers) {
            self.bar.finish_and_clear();
            terminal::error(reason);
            self.has_reported = true;
        }
        if self.voice.quiet {
            return;
        }
        match event {
            Event::Started {
                folder,
                grains,
                fluid_particles,
                device,
                precision,
                threads,
                time_step,
                time_step_limit,
                time_step_cause,
                notices,
                ..
            } => {
                self.report(notices);
                let counted = match (*grains, *fluid_particles) {
                    (0, 0) => "no particles at the start".to_owned(),
                    (grains, 0) => terminal::many(grains, "grain"),
                    (0, particles) => terminal::many(particles, "particle"),
                    (grains, particles) => format!("{} and {}", terminal::many(grains, "grain"), terminal::many(particles, "particle")),
                };
                self.bar.suspend(|| {
                    terminal::note(&format!(
                        "{counted} on {} into {}; time step {}, stable below {} ({time_step_cause})",
                        terminal::place(device, precision, *threads),
                        folder.display(),
                        terminal::scaled(*time_step, "s"),
                        terminal::scaled(*time_step_limit, "s"),
                    ));
                });
            }
            Event::Resumed {
                checkpoint,
                time,
                device,
                precision,
                threads,
                until,
                notices,
                ..
            } => {
                self.report(notices);
                self.bar.suspend(|| {
                    terminal::note(&format!(
                        "going on from {} at t = {} of {} on {}",
                        checkpoint.display(),
                        terminal::scaled(*time, "s"),
                        terminal::scaled(*until, "s"),
                        terminal::place(device, precision, *threads),
                    ));
                });
            }
            Event::StageBegan { stage, time, .. } => self.say(&format!("t = {}: stage {stage} begins", terminal::scaled(*time, "s"))),
            Event::StageEnded { stage, reason, time, .. } => {
                self.say(&format!("t = {}: stage {stage} ends: {reason}", terminal::scaled(*time, "s")));
            }
            Event::UserAction { text, time, .. } => self.say(&format!("t = {}: {text}", terminal::scaled(*time, "s"))),
            Event::Notice { text, time, .. } => self.say(&format!("note: t = {}: {text}", terminal::scaled(*time, "s"))),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(grains: &[usize], fluid: &[usize], cut_moves: u64) -> String {
        decomposition_text(&DecompositionRecord {
            grains: grains.to_vec(),
            fluid: fluid.to_vec(),
            migrations: 3,
            imbalance_by_count: 0.0,
            imbalance_by_time: None,
            cut_moves,
        })
    }

    #[test]
    fn planes_that_moved_once_did_so_one_time() {
        let text = |cut_moves| text(&[1500, 1500], &[], cut_moves);
        assert!(text(1).ends_with("planes moved 1 time\n"), "{}", text(1));
        assert!(text(2).ends_with("planes moved 2 times\n"), "{}", text(2));
    }

    #[test]
    fn domains_that_all_particles_left_have_none() {
        let both = "2 domains with 4, 0 grains and 7, 9 particles of fluid; 3 migrated; ";
        for (text, begin) in [
            (text(&[4, 0], &[7, 9], 0), both),
            (text(&[0, 0], &[], 0), "2 domains without particles; 3 migrated; "),
        ] {
            assert!(text.starts_with(begin), "{text}");
        }
    }
}
