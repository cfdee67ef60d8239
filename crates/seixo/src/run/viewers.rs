//! Viewers of a running simulation, and their user actions. The run never waits for viewers: it answers requests between two steps.

use super::full_frame::FrameContents;
use super::pacing::Pacing;
use super::preview::PreviewFrame;
use super::user_actions::{AppliedAction, UserActions};
use seixo_engine::{Simulation, StepError, WorldError};
use seixo_view::live::{DetailsJob, Live, SnapshotJob, Status, ViewerRequest};
use seixo_view::{FrameSource, ParticleDetails, PictureOptions, Shown, Snapshot};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Wall time between two checks for requests of viewers \[s\]; each costs a GPU a moment without steps.
const IDLE_EVERY: f64 = 1.0 / 30.0;
/// Smallest wall time between two checks while there are requests \[s\]: pictures follow 60 times a second.
const SERVE_EVERY: f64 = 1.0 / 120.0;
/// Wall time between two checks over that between two requests, so that a viewer that can handle more frames gets more. It is below the share that
/// the driver rounds to a whole batch.
const KEEN: f64 = 0.7;
/// Weight of the last interval in the average interval between requests.
const RECENT: f64 = 0.25;
/// Largest wall time of steps without a check, if simulated time is tied to wall time \[s\]: that of a picture.
const LOOK_EVERY: f64 = 1.0 / 60.0;
/// Wall time without a request after which a viewer counts as inactive \[s\].
const LEFT: f64 = 0.2;

/// Serves the viewers of a run.
pub(super) struct Viewers {
    live: Arc<Live>,
    folder: PathBuf,
    frame_contents: FrameContents,
    user_actions: UserActions,
    tempo: Pacing,
    /// Time of the last request, and the average interval between requests \[s\].
    asked: Option<(Instant, f64)>,
    /// Answers that are not delivered yet.
    ready: Vec<Answer>,
}

/// Delivers an answer to the viewer that requested it.
type Answer = Box<dyn FnOnce(&Live)>;

impl Viewers {
    /// Serves the viewers of `live`.
    pub fn new(live: Arc<Live>, folder: PathBuf, frame_contents: FrameContents) -> Viewers {
        Viewers {
            live,
            folder,
            frame_contents,
            user_actions: UserActions::default(),
            tempo: Pacing::default(),
            asked: None,
            ready: Vec::new(),
        }
    }

    /// Returns the wall time until the next check for requests \[s\].
    pub fn answer_every(&self) -> f64 {
        let asked = self.asked.filter(|(last, _)| last.elapsed().as_secs_f64() <= LEFT);
        asked.map_or(IDLE_EVERY, |(_, between)| (KEEN * between).clamp(SERVE_EVERY, IDLE_EVERY))
    }

    /// Applies the requested user actions to the simulation, and records their descriptions.
    ///
    /// # Errors
    /// As [`UserActions::reach_in`].
    pub fn reach_in(&mut self, simulation: &mut Simulation, done: &mut Vec<AppliedAction>) -> Result<(), WorldError> {
        self.user_actions.reach_in(self.live.run_control(), simulation, done)
    }

    /// Prepares the answers to requests, and keeps them for [`Viewers::deliver`].
    ///
    /// # Errors
    /// If the simulation stopped.
    pub fn answer(&mut self, simulation: &mut Simulation) -> Result<(), StepError> {
        let number = simulation.steps() + self.user_actions.actions_taken();
        let requests = self.live.requests(number);
        if requests.iter().any(|request| matches!(request, ViewerRequest::Frame(_))) {
            let between = self.asked.map_or(IDLE_EVERY, |(last, between)| {
                between + RECENT * (last.elapsed().as_secs_f64().min(LEFT) - between)
            });
            self.asked = Some((Instant::now(), between));
        }
        for request in requests {
            let answer: Answer = match request {
                ViewerRequest::Frame(options) => {
                    let making = self.frame(simulation, &options, number)?;
                    Box::new(move |live: &Live| live.answer_frame(&options, number, making))
                }
                ViewerRequest::ParticleDetails(particle) => {
                    let look = self.frame_contents.look(simulation, Shown::Grains, particle.is_grain)?;
                    let making: DetailsJob = Box::new(move || Ok(ParticleDetails::of_parts(look.parts(), particle)));
                    Box::new(move |live: &Live| live.answer_details(particle, number, making))
                }
            };
            self.ready.push(answer);
        }
        Ok(())
    }

    /// Delivers the answers. This is best while a GPU computes steps: a viewer that reads from the GPU would delay their launch.
    pub fn deliver(&mut self) {
        let live: &Live = &self.live;
        self.ready.drain(..).for_each(|answer| answer(live));
    }

    /// Returns the job that makes a frame of the current state.
    fn frame(&self, simulation: &mut Simulation, options: &PictureOptions, number: u64) -> Result<SnapshotJob, StepError> {
        let fields = self.frame_contents.fields(simulation);
        if let Err(unknown) = options.check_field(&fields) {
            return Ok(Box::new(move || Err(unknown)));
        }
        let options = options.clone();
        if let Some(preview) = PreviewFrame::of(simulation, &self.frame_contents, &options)? {
            let graphics = self.live.graphics().cloned();
            return Ok(Box::new(move || preview.snapshot(graphics.as_ref(), fields, &options, number)));
        }
        let look = self.frame_contents.look(simulation, options.shown, false)?;
        let folder = self.folder.clone();
        Ok(Box::new(move || {
            let snapshot = Snapshot::of_parts(&folder, look.parts(), &options, number)?;
            // Without grains, a full frame has more columns than a later frame with grains.
            Ok(Snapshot { fields, ..snapshot })
        }))
    }

    /// Returns how many of these steps may be taken now. Waits if the run is paused or ahead of wall time.
    pub fn allowed(&mut self, simulation: &Simulation, steps: u64) -> u64 {
        let live = self.live.clone();
        let run_control = live.run_control();
        if run_control.is_stopped() {
            self.tempo.restart_pacing();
            self.deliver();
            run_control.wait();
            return 0;
        }
        let steps = match self.user_actions.allowed(simulation.steps(), steps) {
            Ok(steps) => steps,
            Err(until) => {
                self.wait(until);
                return 0;
            }
        };
        let allowed = run_control.steps_allowed(steps);
        let Some(rate) = run_control.rate().filter(|_| !run_control.is_paused()) else {
            self.tempo.restart_pacing();
            return allowed;
        };
        let ahead = self.tempo.ahead(simulation.time(), rate);
        if ahead > 0.0 {
            self.wait(Duration::from_secs_f64(ahead.min(LOOK_EVERY)));
        }
        if ahead > LOOK_EVERY {
            return 0;
        }
        // At most the time of a picture.
        let of_picture = rate * LOOK_EVERY / simulation.time_step().value;
        allowed.min((of_picture as u64).max(1))
    }

    /// Waits without taking steps.
    fn wait(&mut self, time: Duration) {
        self.deliver();
        sleep(time);
    }

    /// Reports the progress. Returns the reached share of the requested pace; `None` without pacing, or before the pace is known.
    pub fn report_progress(&mut self, status: Status) -> Option<f64> {
        let run_control = self.live.run_control();
        let (rate, is_paused) = (run_control.rate(), run_control.is_paused());
        self.tempo.note(status.time, rate, is_paused);
        let pace = self.tempo.pace();
        run_control.report_status(Status {
            pace: pace.or(rate).unwrap_or_default(),
            ..status
        });
        let rate = rate.filter(|_| !is_paused)?;
        pace.map(|pace| pace / rate)
    }

    /// Returns the reached share of the requested pace over the whole run; `None` without pacing.
    pub fn real_time_ratio(&self) -> Option<f64> {
        self.tempo.share()
    }

    /// Serves viewers after the run ended, or failed for this reason, until they leave.
    ///
    /// # Errors
    /// If the state of the simulation cannot be read.
    pub fn linger(&mut self, simulation: &mut Simulation, failure: Option<String>, is_left: impl Fn() -> bool) -> Result<(), StepError> {
        if failure.is_some() {
            // The run failed within a step, so the state differs from the one that viewers saw under this number.
            self.user_actions.note_failure();
        }
        self.live.run_control().end(failure);
        while self.live.stays() && !is_left() {
            self.answer(simulation)?;
            self.wait(Duration::from_secs_f64(LOOK_EVERY));
        }
        Ok(())
    }
}
