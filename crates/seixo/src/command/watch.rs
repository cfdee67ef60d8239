//! Watching a run from the command line: signals, the progress bar, JSON lines.

use super::{Done, Failure, Voice};
use crate::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use seixo::run::folder::FIELDS;
use seixo::run::{BroadPhaseRecord, Control, DividedRecord, Ending, Event, Observer, Outcome, Progress, RunError};
use seixo::view::IN_TIME;
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Ctrl-C, TERM and HUP ask for a checkpoint and the end, USR1 for a checkpoint; a second Ctrl-C ends at once.
pub fn signals() -> Result<Control, Failure> {
    let control = Control::default();
    let register = || -> io::Result<()> {
        // Registered first, so that it sees the flag only of the signal before. Not for the others: a closing terminal sends them twice.
        signal_hook::flag::register_conditional_shutdown(SIGINT, 130, control.stop.clone())?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, control.stop.clone())?;
        }
        signal_hook::flag::register(SIGUSR1, control.checkpoint.clone())?;
        Ok(())
    };
    register().map_err(|error| Failure::Run(format!("cannot listen to signals: {error}")))?;
    Ok(control)
}

/// Shows a run: a bar on the error stream, or lines of JSON on the standard output.
pub struct Watcher {
    voice: Voice,
    bar: ProgressBar,
    is_started: bool,
    last_line: Option<Instant>,
    /// Whether what the run failed of is said at once; and whether it was.
    has_viewers: bool,
    has_told: bool,
    /// Why the first line of JSON that could not be printed was not.
    unsaid: Option<String>,
}

/// A bar that shows how far something is on the error stream, unless it is to be quiet.
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
    /// A watcher that speaks as it was asked to.
    pub fn new(voice: Voice) -> Watcher {
        Watcher {
            voice,
            bar: bar(voice.quiet),
            is_started: false,
            last_line: None,
            has_viewers: false,
            has_told: false,
            unsaid: None,
        }
    }

    /// As [`Watcher::new`], of a run that is over only when nobody looks any more: what it failed of is said before.
    pub fn beside_viewers(voice: Voice) -> Watcher {
        Watcher {
            has_viewers: true,
            ..Watcher::new(voice)
        }
    }

    fn tell(&self, notices: &[String]) {
        notices.iter().for_each(|notice| self.say(&format!("note: {notice}")));
    }

    fn say(&self, text: &str) {
        self.bar.suspend(|| say::note(text));
    }

    /// Prints a line of JSON. The run goes on where that fails: what it writes is worth more than what it says.
    fn line(&mut self, value: &impl Serialize) {
        if let Err(Failure::Run(reason)) = say::json(value) {
            self.unsaid.get_or_insert(reason);
        }
    }

    /// What came of a run that failed; nothing is to be said of it any more if it was said already.
    pub fn failed(&self, error: RunError) -> Failure {
        let failure = Failure::from(error);
        if self.has_told { Failure::Told(failure.code()) } else { failure }
    }

    /// Says how the run ended, and how to go on if it can.
    pub fn close(&mut self, folder: &Path, ending: &Ending) -> Done {
        self.bar.finish_and_clear();
        let record = &ending.record;
        let lists = told_of_lists(folder);
        let folder = folder.display();
        if let Some(reason) = self.unsaid.take() {
            return Err(Failure::Run(format!("{reason}; what the run wrote is in {folder} all the same")));
        }
        if record.result == Outcome::Interrupted {
            let text = format!(
                "stopped at t = {} after a checkpoint; go on with: seixo resume {folder}",
                say::scaled(record.time, "s")
            );
            return Err(Failure::Interrupted(text).told(self.voice.json));
        }
        if self.voice.quiet || self.voice.json {
            return Ok(());
        }
        let speed = say::scaled(record.particle_steps_per_second, "");
        let wall = say::duration(record.wall_time);
        let steps = say::count(record.steps);
        let time = say::scaled(record.time, "s");
        let bodies = record.broad_phase.as_ref().map_or(String::new(), told_of_bodies);
        let domains = record.divided.as_ref().map_or(String::new(), told_of_domains);
        let pace = record
            .share_of_pace
            .map_or(String::new(), |share| format!(", {}", told_of_pace(share)));
        say::out(&format!(
            "done: t = {time} in {steps} steps, {wall}{pace}, {speed} particle-steps/s\n{bodies}{domains}results in {folder} – look at them with `seixo picture {folder}`, `seixo plot {folder}`{lists}"
        ))
    }
}

/// The lists of frames in a run folder that ParaView opens, in words; nothing where there is none.
fn told_of_lists(folder: &Path) -> String {
    let fields = std::fs::read_dir(folder.join(FIELDS));
    let paths = fields.into_iter().flatten().flatten().map(|entry| entry.path());
    let lists = paths.filter(|path| path.extension().is_some_and(|ending| ending == "pvd"));
    let mut names: Vec<String> = lists
        .filter_map(|path| Some(format!("{FIELDS}/{}", path.file_name()?.to_string_lossy())))
        .collect();
    names.sort();
    if names.is_empty() {
        String::new()
    } else {
        format!(", or ParaView ({})", names.join(", "))
    }
}

/// How much is reached of the pace at which simulated time is held to wall time, in words.
fn told_of_pace(share: f64) -> String {
    if share < IN_TIME {
        format!("{:.0} % short of real time", 100.0 * (1.0 - share))
    } else {
        "in real time".to_owned()
    }
}

/// How grains and fluids were divided among domains, as a line.
fn told_of_domains(found: &DividedRecord) -> String {
    let of = |counts: &[usize], what: &str| {
        let words: Vec<String> = counts.iter().map(|count| say::count(*count as u64)).collect();
        counts
            .iter()
            .any(|count| *count > 0)
            .then(|| format!("{} {what}", words.join(", ")))
    };
    let all = [of(&found.grains, "grains"), of(&found.fluid, "particles of fluid")];
    let all: Vec<String> = all.into_iter().flatten().collect();
    let moves = say::count(found.changed_hands);
    format!(
        "{} with {}; {moves} changed hands\n",
        say::many(found.grains.len(), "domain"),
        all.join(" and ")
    )
}

/// What clumps might touch when the lists were made last, as a line.
fn told_of_bodies(found: &BroadPhaseRecord) -> String {
    let &BroadPhaseRecord {
        none,
        fluid,
        solid,
        both,
        spheres,
        among_grains,
        ..
    } = found;
    let count = |number: usize| say::count(number as u64);
    format!(
        "clumps at the last list: {} near nothing, {} near fluids (F), {} near solids (C), {} near both (FC); neighbors looked for of {} of {} spheres\n",
        count(none),
        count(fluid),
        count(solid),
        count(both),
        count(among_grains),
        count(spheres),
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
            share_of_pace,
            steps,
            grains,
            ..
        } = progress;
        let pace = share_of_pace.map_or(String::new(), |share| format!(" · {}", told_of_pace(share)));
        self.bar.set_message(format!(
            "t = {} of {} · {} particle-steps/s · kinetic {} · {}{pace}",
            say::scaled(time, "s"),
            say::scaled(until, "s"),
            say::scaled(speed, ""),
            say::scaled(kinetic, "J"),
            say::duration(wall_time),
        ));
        if self.voice.json {
            self.line(&serde_json::json!({
                "event": "progress", "time": time, "until": until, "steps": steps, "grains": grains, "wall_time": wall_time,
                "particle_steps_per_second": speed, "kinetic": kinetic, "share_of_pace": share_of_pace,
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
            say::error(reason);
            self.has_told = true;
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
                self.tell(notices);
                let counted = match (*grains, *fluid_particles) {
                    (0, 0) => "nothing yet".to_owned(),
                    (grains, 0) => say::many(grains, "grain"),
                    (0, particles) => say::many(particles, "particle"),
                    (grains, particles) => format!("{} and {}", say::many(grains, "grain"), say::many(particles, "particle")),
                };
                self.bar.suspend(|| {
                    say::note(&format!(
                        "{counted} on {} into {}; time step {}, stable below {} ({time_step_cause})",
                        say::place(device, precision, *threads),
                        folder.display(),
                        say::scaled(*time_step, "s"),
                        say::scaled(*time_step_limit, "s"),
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
                self.tell(notices);
                self.bar.suspend(|| {
                    say::note(&format!(
                        "going on from {} at t = {} of {} on {}",
                        checkpoint.display(),
                        say::scaled(*time, "s"),
                        say::scaled(*until, "s"),
                        say::place(device, precision, *threads),
                    ));
                });
            }
            Event::StageBegan { stage, time, .. } => self.say(&format!("t = {}: stage {stage} begins", say::scaled(*time, "s"))),
            Event::StageEnded { stage, reason, time, .. } => {
                self.say(&format!("t = {}: stage {stage} ends: {reason}", say::scaled(*time, "s")));
            }
            Event::ByHand { text, time, .. } => self.say(&format!("t = {}: {text}", say::scaled(*time, "s"))),
            Event::Notice { text, time, .. } => self.say(&format!("note: t = {}: {text}", say::scaled(*time, "s"))),
            _ => {}
        }
    }
}
