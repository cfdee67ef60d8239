//! Who looks at a run while it goes on, and reaches into it. Nobody is waited for: what is asked for is answered between two steps.

use super::glimpse::Glimpse;
use super::hands::{Done, Hands};
use super::look::Sights;
use super::tempo::Tempo;
use seixo_engine::{Refusal, Simulation, Stop};
use seixo_view::live::{Live, Making, MakingDetails, Request, Status};
use seixo_view::{Details, PictureOptions, Show, Shown, Snapshot};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Wall time between two looks at whether viewers ask for anything \[s\]: each costs a GPU a moment without steps.
const IDLE_EVERY: f64 = 1.0 / 30.0;
/// Wall time between two looks while they do, at least \[s\]: what is taken at the first must be shown sixty times a second.
const SERVE_EVERY: f64 = 1.0 / 120.0;
/// The same, over that between two of their requests: whoever would ask more often if there were more answers gets more. Less than what the driver takes
/// for a whole batch.
const KEEN: f64 = 0.7;
/// Weight of the last request in how often they ask.
const RECENT: f64 = 0.25;
/// Wall time that a simulation goes on at once which is held to wall time \[s\]: no more than a picture shows.
const LOOK_EVERY: f64 = 1.0 / 60.0;
/// Who asked for nothing for so long looks no more \[s\].
const LEFT: f64 = 0.2;

/// Those who look at a run.
pub(super) struct Audience {
    live: Arc<Live>,
    folder: PathBuf,
    sights: Sights,
    hands: Hands,
    tempo: Tempo,
    /// When somebody asked for something last, and how long after the time before, of late \[s\].
    asked: Option<(Instant, f64)>,
    /// Answers that nobody was handed yet.
    ready: Vec<Answer>,
}

/// Lays an answer where who asked for it finds it.
type Answer = Box<dyn FnOnce(&Live)>;

impl Audience {
    /// Those at this meeting place.
    pub fn new(live: Arc<Live>, folder: PathBuf, sights: Sights) -> Audience {
        Audience {
            live,
            folder,
            sights,
            hands: Hands::default(),
            tempo: Tempo::default(),
            asked: None,
            ready: Vec::new(),
        }
    }

    /// Wall time after which they are to be answered again \[s\].
    pub fn answer_every(&self) -> f64 {
        let asked = self.asked.filter(|(last, _)| last.elapsed().as_secs_f64() <= LEFT);
        asked.map_or(IDLE_EVERY, |(_, between)| (KEEN * between).clamp(SERVE_EVERY, IDLE_EVERY))
    }

    /// Does to the simulation what viewers asked for, and notes in words what is done.
    ///
    /// # Errors
    /// As [`Hands::reach_in`].
    pub fn reach_in(&mut self, simulation: &mut Simulation, done: &mut Vec<Done>) -> Result<(), Refusal> {
        self.hands.reach_in(self.live.reins(), simulation, done)
    }

    /// Finds answers for those who wait for something, and keeps them for [`Audience::hand_over`].
    ///
    /// # Errors
    /// If the simulation stopped.
    pub fn answer(&mut self, simulation: &mut Simulation) -> Result<(), Stop> {
        let number = simulation.steps() + self.hands.acts();
        let requests = self.live.requests(number);
        if requests.iter().any(|request| matches!(request, Request::Frame(_))) {
            let between = self.asked.map_or(IDLE_EVERY, |(last, between)| {
                between + RECENT * (last.elapsed().as_secs_f64().min(LEFT) - between)
            });
            self.asked = Some((Instant::now(), between));
        }
        for request in requests {
            let answer: Answer = match request {
                Request::Frame(options) => {
                    let making = self.frame(simulation, &options, number)?;
                    Box::new(move |live: &Live| live.put_frame(&options, number, making))
                }
                Request::Details(particle) => {
                    let look = self.sights.look(simulation, Shown::Grains, particle.is_grain)?;
                    let making: MakingDetails = Box::new(move || Ok(Details::of_parts(look.parts(), particle)));
                    Box::new(move |live: &Live| live.put_details(particle, number, making))
                }
            };
            self.ready.push(answer);
        }
        Ok(())
    }

    /// Hands over what was found: best while a GPU is at its steps, which whoever reads there would keep from being sent to it.
    pub fn hand_over(&mut self) {
        let live: &Live = &self.live;
        self.ready.drain(..).for_each(|answer| answer(live));
    }

    /// What becomes a frame that shows the simulation as it is now.
    fn frame(&self, simulation: &mut Simulation, options: &PictureOptions, number: u64) -> Result<Making, Stop> {
        let fields = self.sights.fields(simulation);
        if let Err(unknown) = options.check_field(&fields) {
            return Ok(Box::new(move || Err(unknown)));
        }
        let options = options.clone();
        if let Some(glimpse) = Glimpse::of(simulation, &self.sights, &options)? {
            let graphics = self.live.graphics().cloned();
            return Ok(Box::new(move || glimpse.snapshot(graphics.as_ref(), fields, &options, number)));
        }
        let look = self.sights.look(simulation, options.shown, false)?;
        let folder = self.folder.clone();
        Ok(Box::new(move || {
            let snapshot = Snapshot::of_parts(&folder, look.parts(), &options, number)?;
            // Where no grain is there yet, a look finds more columns than there will be.
            Ok(Snapshot { fields, ..snapshot })
        }))
    }

    /// How many of these steps may be taken now, and waits where it stands still or is ahead of wall time.
    pub fn allowed(&mut self, simulation: &Simulation, steps: u64) -> u64 {
        let live = self.live.clone();
        let reins = live.reins();
        if reins.stands_still() {
            self.tempo.begin_anew();
            self.hand_over();
            reins.wait();
            return 0;
        }
        let steps = match self.hands.allowed(simulation.steps(), steps) {
            Ok(steps) => steps,
            Err(until) => {
                self.wait(until);
                return 0;
            }
        };
        let allowed = reins.steps_allowed(steps);
        let Some(rate) = reins.rate().filter(|_| !reins.is_paused()) else {
            self.tempo.begin_anew();
            return allowed;
        };
        let ahead = self.tempo.ahead(simulation.time(), rate);
        if ahead > 0.0 {
            self.wait(Duration::from_secs_f64(ahead.min(LOOK_EVERY)));
        }
        if ahead > LOOK_EVERY {
            return 0;
        }
        // No more than a picture shows.
        let of_picture = rate * LOOK_EVERY / simulation.time_step().value;
        allowed.min((of_picture as u64).max(1))
    }

    /// Lets wall time pass, in which no step is taken.
    fn wait(&mut self, time: Duration) {
        self.hand_over();
        sleep(time);
    }

    /// Tells how far the run is; `None` while simulated time is not held to wall time, else how much of that it reaches, once that is known.
    pub fn tell(&mut self, status: Status) -> Option<f64> {
        let reins = self.live.reins();
        let (rate, is_paused) = (reins.rate(), reins.is_paused());
        self.tempo.note(status.time, rate, is_paused);
        let pace = self.tempo.pace();
        reins.tell(Status {
            pace: pace.or(rate).unwrap_or_default(),
            ..status
        });
        let rate = rate.filter(|_| !is_paused)?;
        pace.map(|pace| pace / rate)
    }

    /// How much the whole run reached of what simulated time was held to; `None` if it was not.
    pub fn share_of_pace(&self) -> Option<f64> {
        self.tempo.share()
    }

    /// Lets those who look go on with that when the run is over, or failed for this reason, if they are to, until they leave.
    ///
    /// # Errors
    /// If what is left cannot be looked at.
    pub fn linger(&mut self, simulation: &mut Simulation, failure: Option<String>, is_left: impl Fn() -> bool) -> Result<(), Stop> {
        if failure.is_some() {
            // Amid a step: the state of this number is not what it was when somebody saw it.
            self.hands.note_failure();
        }
        self.live.reins().end(failure);
        while self.live.stays() && !is_left() {
            self.answer(simulation)?;
            self.wait(Duration::from_secs_f64(LOOK_EVERY));
        }
        Ok(())
    }
}
