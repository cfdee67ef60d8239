//! Who looks at a run while it goes on, and reaches into it. Nobody is waited for: what is asked for is answered between two steps.

use super::frames::{Corners, within_planes};
use super::surfaces::Surfaces;
use super::{glimpse, hands};
use seixo_analysis::force_chains;
use seixo_engine::state::{FluidSnapshot, GrainSnapshot, WallSnapshot};
use seixo_engine::{BodySnapshot, BondSnapshot, Change, ContactRecord, Glancing, Refusal, Shade, Simulation, Stop};
use seixo_files::vtk::{Field, VtkBonds, VtkContacts, VtkFluid, VtkPoints, VtkWalls};
use seixo_view::live::{Hand, Live, Making, Request, Status};
use seixo_view::{Details, Few, Parts, PictureOptions, Show, Shown, Snapshot};
use std::path::PathBuf;
use std::sync::Arc;
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
/// Wall time over which the pace is told \[s\].
const PACE_OVER: f64 = 0.5;
/// A run that is farther behind than this does not catch up, but goes on at its pace from there \[s\].
const BEHIND: f64 = 0.25;

/// Those who look at a run.
pub(super) struct Audience {
    live: Arc<Live>,
    folder: PathBuf,
    bounds: Corners,
    /// Distance of particles of fluids at rest \[m\].
    spacing: Option<f64>,
    has_grains: bool,
    /// What bodies look like that were made from meshes, if there are any.
    surfaces: Option<Arc<Surfaces>>,
    /// When simulated time was held to wall time first, and at what time, multiple and pace that was.
    anchor: Option<(Instant, f64, f64)>,
    /// When somebody asked for something last, and how long after the time before, of late \[s\].
    asked: Option<(Instant, f64)>,
    /// When the pace was told last, at what time, and how fast it was.
    pace: (Instant, f64, f64),
}

/// What a glance tells of particles: names, units, and words of the engine.
const GLANCED: [(&str, &str, Shade); 5] = [
    ("speed", "m/s", Shade::Speed),
    ("velocity_x", "m/s", Shade::Velocity(0)),
    ("velocity_y", "m/s", Shade::Velocity(1)),
    ("velocity_z", "m/s", Shade::Velocity(2)),
    ("radius", "m", Shade::Radius),
];

/// What a simulation was at a time.
struct Seen {
    time: f64,
    grains: GrainSnapshot,
    has_grains: bool,
    /// With the distance of its particles at rest \[m\].
    fluid: Option<(f64, FluidSnapshot)>,
    /// With what those look like that were made from meshes.
    bodies: Option<(Arc<Surfaces>, Vec<BodySnapshot>)>,
    walls: Vec<WallSnapshot>,
    bounds: Corners,
    contacts: Option<Vec<ContactRecord>>,
    bonds: Option<Vec<BondSnapshot>>,
}

impl Seen {
    /// The same as what viewers read from files.
    fn parts(self) -> Parts {
        let Seen { time, grains, bonds, .. } = self;
        let contacts = self.contacts.map(|contacts| {
            let is_link = match &bonds {
                Some(bonds) => force_chains(&grains, &contacts, bonds).is_link,
                None => vec![false; contacts.len()],
            };
            VtkContacts::of(&contacts, is_link, time)
        });
        Parts {
            time,
            grains: self.has_grains.then(|| VtkPoints::of(grains, time)),
            fluid: self.fluid.map(|(spacing, particles)| VtkFluid { time, spacing, particles }),
            bodies: self.bodies.map(|(surfaces, bodies)| surfaces.at(&bodies, time)),
            walls: VtkWalls::of(&self.walls, Some(within_planes(self.bounds, &self.walls)), time),
            contacts,
            bonds: bonds.map(|bonds| VtkBonds::of(&bonds, time)),
        }
    }
}

/// What somebody did to a run.
pub(super) struct Done {
    /// In words, for the log.
    pub text: String,
    /// What of it lasts.
    pub lasting: Option<Change>,
}

impl Audience {
    /// Those at this meeting place.
    pub fn new(
        live: Arc<Live>,
        folder: PathBuf,
        bounds: Corners,
        (has_grains, spacing): (bool, Option<f64>),
        surfaces: Option<Arc<Surfaces>>,
    ) -> Audience {
        Audience {
            live,
            folder,
            bounds,
            spacing,
            has_grains,
            surfaces,
            anchor: None,
            asked: None,
            pace: (Instant::now(), 0.0, 0.0),
        }
    }

    /// Wall time after which they are to be answered again \[s\].
    pub fn answer_every(&self) -> f64 {
        let asked = self.asked.filter(|(last, _)| last.elapsed().as_secs_f64() <= LEFT);
        asked.map_or(IDLE_EVERY, |(_, between)| (KEEN * between).clamp(SERVE_EVERY, IDLE_EVERY))
    }

    /// Answers those who wait for something.
    pub fn answer(&mut self, simulation: &mut Simulation) -> Result<(), Stop> {
        for request in self.live.requests() {
            let between = self.asked.map_or(IDLE_EVERY, |(last, between)| {
                between + RECENT * (last.elapsed().as_secs_f64().min(LEFT) - between)
            });
            self.asked = Some((Instant::now(), between));
            match request {
                Request::Frame(options) => {
                    let (folder, steps, wish) = (self.folder.clone(), simulation.steps(), options.clone());
                    let making: Making = match self.few(simulation, &options)? {
                        Some((few, coming)) => {
                            let graphics = self.live.graphics().cloned();
                            Box::new(move || glimpse::snapshot(coming, graphics.as_ref(), few, &wish, steps))
                        }
                        None => {
                            let seen = self.seen(simulation, options.shown, false)?;
                            Box::new(move || Snapshot::of_parts(&folder, seen.parts(), &wish, steps))
                        }
                    };
                    self.live.put_frame(&options, making);
                }
                Request::Details(particle) => {
                    let seen = self.seen(simulation, Shown::Grains, true)?;
                    self.live.put_details(particle, Ok(Details::of_parts(seen.parts(), particle)));
                }
            }
        }
        Ok(())
    }

    /// A glance at the simulation, where that is enough.
    fn few(&self, simulation: &mut Simulation, options: &PictureOptions) -> Result<Option<(Few, Glancing)>, Stop> {
        let field = options.field.as_deref().unwrap_or("speed");
        let known = GLANCED.iter().find(|(name, ..)| *name == field);
        // Without a field, fluids that become a surface have colors of their own.
        let is_enough = options.shown == Shown::Grains || (options.shown == Shown::Smooth && options.field.is_some());
        let Some(&(name, unit, shade)) = known.filter(|_| is_enough) else {
            return Ok(None);
        };
        // Where nobody knows here where bodies are, a closer look tells.
        let bodies = match self.surfaces.as_ref().filter(|_| options.has_meshes) {
            Some(surfaces) => match simulation.bodies_now() {
                Some(bodies) => Some(surfaces.at(&bodies, simulation.time())),
                None => return Ok(None),
            },
            None => None,
        };
        let [low, high] = self.bounds;
        let origin = [0, 1, 2].map(|axis| 0.5 * (low[axis] + high[axis]));
        let Some(coming) = simulation.glance(origin, shade)? else {
            return Ok(None);
        };
        let time = simulation.time();
        let walls = simulation.walls_now();
        let few = Few {
            time,
            origin,
            field: (name, unit),
            walls: VtkWalls::of(&walls, Some(within_planes(self.bounds, &walls)), time),
            bodies,
            fields: GLANCED
                .iter()
                .map(|(name, ..)| *name)
                .chain(Field::ALL.map(|(_, name)| name))
                .map(str::to_owned)
                .collect(),
            ..Few::default()
        };
        Ok(Some((few, coming)))
    }

    /// What the simulation is now.
    fn seen(&self, simulation: &mut Simulation, shown: Shown, closely: bool) -> Result<Seen, Stop> {
        simulation.observe()?;
        let has_bonds = matches!(shown, Shown::Bonds | Shown::Cracks { has_bonds: true } | Shown::ForceChains);
        let has_contacts = closely || matches!(shown, Shown::Contacts | Shown::ForceChains);
        Ok(Seen {
            time: simulation.time(),
            contacts: has_contacts.then(|| simulation.contacts_now()).transpose()?,
            bonds: has_bonds.then(|| simulation.bonds_now()),
            grains: simulation.snapshot(),
            has_grains: self.has_grains,
            fluid: self.spacing.zip(simulation.fluid()),
            bodies: self.surfaces.clone().map(|surfaces| (surfaces, simulation.bodies())),
            walls: simulation.walls(),
            bounds: self.bounds,
        })
    }

    /// Does to the simulation what viewers asked for; says what was done.
    ///
    /// # Errors
    /// If the simulation stopped.
    pub fn reach_in(&mut self, simulation: &mut Simulation) -> Result<Vec<Done>, Refusal> {
        let mut done = Vec::new();
        for hand in self.live.reins().hands() {
            let was = match hand {
                Hand::Gravity(gravity) => simulation.change(&[Change::Gravity(gravity)]).map(|()| Done {
                    text: format!("gravity is [{}, {}, {}] m/s^2 by hand", gravity[0], gravity[1], gravity[2]),
                    lasting: Some(Change::Gravity(gravity)),
                }),
                Hand::Push { id, along } => hands::push(simulation, id, along),
                Hand::Drag { id, to, within } => hands::drag(simulation, id, to, within),
                Hand::Drop => hands::drop_grains(simulation),
            };
            done.push(match was {
                Ok(done) => done,
                Err(stopped @ Refusal::Stopped(_)) => return Err(stopped),
                Err(refused) => Done {
                    text: format!("not done by hand: {refused}"),
                    lasting: None,
                },
            });
        }
        Ok(done)
    }

    /// How many of these steps may be taken now, and waits where it stands still or is ahead of wall time.
    pub fn allowed(&mut self, simulation: &Simulation, steps: u64) -> u64 {
        let reins = self.live.reins();
        let allowed = reins.steps_allowed(steps);
        if allowed == 0 {
            self.anchor = None;
            reins.wait();
            return 0;
        }
        let Some(rate) = reins.rate().filter(|_| !reins.is_paused()) else {
            self.anchor = None;
            return allowed;
        };
        let now = Instant::now();
        let (start, time, held) = *self.anchor.get_or_insert((now, simulation.time(), rate));
        let ahead = (simulation.time() - time) / rate - (now - start).as_secs_f64();
        if held != rate || ahead < -BEHIND {
            self.anchor = None;
        }
        if ahead > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(ahead.min(LOOK_EVERY)));
        }
        if ahead > LOOK_EVERY {
            return 0;
        }
        // No more than a picture shows.
        let of_picture = rate * LOOK_EVERY / simulation.time_step().value;
        allowed.min((of_picture as u64).max(1))
    }

    /// Tells how far the run is; `None` while simulated time is not held to wall time, else how much of that it reaches.
    pub fn tell(&mut self, status: Status) -> Option<f64> {
        let (then, time, pace) = &mut self.pace;
        let passed = then.elapsed().as_secs_f64();
        if passed >= PACE_OVER {
            *pace = (status.time - *time) / passed;
            (*then, *time) = (Instant::now(), status.time);
        }
        let pace = *pace;
        self.live.reins().tell(Status { pace, ..status });
        self.live.reins().rate().map(|rate| pace / rate)
    }

    /// Lets those who look go on with that when the run is over, if they are to, until they leave.
    pub fn linger(&mut self, simulation: &mut Simulation, is_left: impl Fn() -> bool) -> Result<(), Stop> {
        let reins = self.live.reins();
        reins.tell(Status {
            is_over: true,
            ..reins.status()
        });
        while self.live.stays() && !is_left() {
            self.answer(simulation)?;
            std::thread::sleep(Duration::from_secs_f64(LOOK_EVERY));
        }
        Ok(())
    }
}
