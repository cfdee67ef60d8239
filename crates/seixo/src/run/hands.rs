//! What viewers do to a run by hand.

use seixo_engine::world::Grains;
use seixo_engine::{Change, Refusal, Seen, Simulation};
use seixo_view::live::{Controls, Drawn, Hand};
use std::time::{Duration, Instant};

/// Height that a push lifts a grain by, in its radii, where it goes against gravity.
const PUSH: f64 = 8.0;
/// Of its radius, what a grain that is drawn goes in a step at most.
const MOST_OF_RADIUS: f64 = 0.02;
/// Wall time after which what is drawn along is set going anew: no more often than there are pictures.
const DRAW_EVERY: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// Grains of a handful along its sides, and how far apart they are, in diameters of the largest.
const HANDFUL: [i32; 3] = [3, 3, 2];
const APART: f64 = 1.2;

/// What somebody did to a run.
pub(super) struct Done {
    /// In words, for the log.
    pub text: String,
    /// What of it lasts.
    pub lasting: Option<Change>,
    /// Whether the run is another one for it.
    is_act: bool,
}

impl Done {
    fn act(text: String) -> Done {
        Done {
            text,
            lasting: None,
            is_act: true,
        }
    }

    fn nothing(text: String) -> Done {
        Done {
            text,
            lasting: None,
            is_act: false,
        }
    }
}

/// A grain that is drawn along.
#[derive(Clone, Copy)]
struct Drawing {
    id: u32,
    /// When it was set going last, and at which step.
    at: Instant,
    step: u64,
    /// Steps after which it would be beyond its place.
    most: u64,
    /// Whether it cannot be moved at all.
    is_vain: bool,
}

/// The hands of viewers.
#[derive(Default)]
pub(super) struct Hands {
    acts: u64,
    drawing: Option<Drawing>,
}

impl Hands {
    /// How often they changed the run.
    pub fn acts(&self) -> u64 {
        self.acts
    }

    /// Notes that the run is another one, although no hand made it so.
    pub fn note_failure(&mut self) {
        self.acts += 1;
    }

    /// Does to the simulation what viewers asked for, and notes in words what is done.
    ///
    /// # Errors
    /// If the simulation cannot go on. What cannot be done and changes nothing is no error, but noted as such.
    pub fn reach_in(&mut self, reins: &Controls, simulation: &mut Simulation, done: &mut Vec<Done>) -> Result<(), Refusal> {
        for hand in reins.hands() {
            let one = match hand {
                Hand::Gravity(gravity) => turn(simulation, gravity)?,
                Hand::Push { id, along } => push(simulation, id, along)?,
                Hand::Drop => drop_grains(simulation)?,
                // These last, and are told by the reins for as long as they do.
                Hand::Drag { .. } | Hand::LetGo => continue,
            };
            self.acts += u64::from(one.is_act);
            done.push(one);
        }
        let drawn = reins.drawn();
        self.drawing = self.drawing.filter(|last| drawn.is_some_and(|drawn| drawn.id == last.id));
        match drawn {
            Some(drawn) if !reins.stands_still() => self.draw(simulation, drawn, done),
            _ => Ok(()),
        }
    }

    /// Sets what is drawn along going towards its place, if it is time to.
    fn draw(&mut self, simulation: &mut Simulation, drawn: Drawn, done: &mut Vec<Done>) -> Result<(), Refusal> {
        let step = simulation.steps();
        let is_early = |last: Drawing| last.is_vain || last.step == step || last.at.elapsed() < DRAW_EVERY;
        if self.drawing.is_some_and(is_early) {
            return Ok(());
        }
        let time_step = simulation.time_step().value;
        let passed = self.drawing.map_or(0, |last| step - last.step) as f64 * time_step;
        let one = drag(simulation, drawn, passed)?;
        self.acts += u64::from(one.is_act);
        let is_vain = !one.is_act;
        // Who draws it along moves the pointer a hundred times a second: the first is what the log tells.
        if self.drawing.is_none() || is_vain {
            done.push(one);
        }
        self.drawing = Some(Drawing {
            id: drawn.id,
            at: Instant::now(),
            step,
            most: ((drawn.within / time_step) as u64).max(1),
            is_vain,
        });
        Ok(())
    }

    /// How many of these steps may be taken from this one on; if none, the wall time until some may.
    pub fn allowed(&self, step: u64, steps: u64) -> Result<u64, Duration> {
        let Some(drawing) = self.drawing.filter(|drawing| !drawing.is_vain) else {
            return Ok(steps);
        };
        match drawing.most.saturating_sub(step - drawing.step) {
            0 => Err(DRAW_EVERY.saturating_sub(drawing.at.elapsed())),
            left => Ok(steps.min(left)),
        }
    }
}

/// Lets gravity be another.
fn turn(simulation: &mut Simulation, gravity: [f64; 3]) -> Result<Done, Refusal> {
    let change = Change::Gravity(gravity);
    simulation.change(std::slice::from_ref(&change))?;
    let [x, y, z] = gravity;
    Ok(Done {
        lasting: Some(change),
        ..Done::act(format!("gravity is [{x}, {y}, {z}] m/s^2 by hand"))
    })
}

/// Gives a grain, or its body, the velocity that follows from where and how large it is \[m/s\], and says what that is in these words; or why it cannot be.
fn set_going(
    simulation: &mut Simulation,
    id: u32,
    velocity: impl FnOnce(&Seen) -> [f64; 3],
    words: impl FnOnce([f64; 3]) -> String,
) -> Result<Done, Refusal> {
    simulation.observe().map_err(|stop| Refusal::Stopped(Box::new(stop)))?;
    let found = simulation.grains().find(|seen| seen.id == id);
    let Some(seen) = found else {
        return Ok(Done::nothing(format!("not done by hand: grain {id} is not there any more")));
    };
    if seen.is_bound {
        let why = "the body that carries it is held, or on a joint, and moves by that alone";
        return Ok(Done::nothing(format!("not done by hand: grain {id} cannot be moved, as {why}")));
    }
    let velocity = velocity(&seen);
    simulation.set_velocity_of(id, velocity)?;
    Ok(Done::act(words(velocity)))
}

/// Gives a grain, or its body, the speed with which it would rise by a few radii on Earth.
fn push(simulation: &mut Simulation, id: u32, along: [f64; 3]) -> Result<Done, Refusal> {
    let velocity = |seen: &Seen| along.map(|part| part * (2.0 * 9.81 * PUSH * seen.radius).sqrt());
    let words = |[x, y, z]: [f64; 3]| format!("grain {id} is pushed by hand to [{x}, {y}, {z}] m/s");
    set_going(simulation, id, velocity, words)
}

/// Draws a grain, or its body, towards a place: with a speed that goes to zero there, and against half of what gravity adds until it is drawn the next
/// time, which will be after this simulated time \[s\] again.
fn drag(simulation: &mut Simulation, Drawn { id, to, within }: Drawn, passed: f64) -> Result<Done, Refusal> {
    let (gravity, time_step) = (simulation.gravity(), simulation.time_step().value);
    let velocity = |seen: &Seen| {
        let apart = [0, 1, 2].map(|axis| to[axis] - seen.center[axis]);
        let length = apart.iter().map(|part| part * part).sum::<f64>().sqrt();
        let speed = (length / within).min(MOST_OF_RADIUS * seen.radius / time_step);
        [0, 1, 2].map(|axis| {
            let towards = if length > 0.0 { apart[axis] / length * speed } else { 0.0 };
            towards - 0.5 * passed * gravity[axis]
        })
    };
    let [x, y, z] = to;
    set_going(simulation, id, velocity, |_| {
        format!("grain {id} is drawn along by hand, first towards [{x}, {y}, {z}] m")
    })
}

/// Lets a handful of grains like those there fall in from above all others.
fn drop_grains(simulation: &mut Simulation) -> Result<Done, Refusal> {
    simulation.observe().map_err(|stop| Refusal::Stopped(Box::new(stop)))?;
    let kept = simulation.snapshot();
    let free: Vec<usize> = (0..kept.id.len())
        .filter(|&i| kept.body.get(i).is_none_or(|body| *body < 0))
        .collect();
    let nothing = |why: &str| Ok(Done::nothing(format!("not done by hand: {why}")));
    let Some(largest) = free.iter().map(|&i| kept.radius[i]).max_by(f64::total_cmp) else {
        return nothing("there is no free grain of which a handful could be taken");
    };
    let gravity = simulation.gravity();
    let strength = gravity.iter().map(|part| part * part).sum::<f64>().sqrt();
    let up = if strength > 0.0 {
        gravity.map(|part| -part / strength)
    } else {
        [0.0, 0.0, 1.0]
    };
    let height = |place: &[f64; 3]| (0..3).map(|axis| place[axis] * up[axis]).sum::<f64>();
    let top = free.iter().map(|&i| height(&kept.position[i])).fold(f64::NEG_INFINITY, f64::max);
    let middle = [0, 1, 2].map(|axis| free.iter().map(|&i| kept.position[i][axis]).sum::<f64>() / free.len() as f64);
    let lift = top - height(&middle) + 6.0 * largest;
    let side = 2.0 * APART * largest;
    let corner = [0, 1, 2].map(|axis| middle[axis] + lift * up[axis] - 0.5 * side * f64::from(HANDFUL[axis] - 1));
    let sites = (0..HANDFUL.iter().product::<i32>()).map(|k| {
        let place = [k % HANDFUL[0], k / HANDFUL[0] % HANDFUL[1], k / (HANDFUL[0] * HANDFUL[1])];
        [0, 1, 2].map(|axis| corner[axis] + side * f64::from(place[axis]))
    });
    let sites: Vec<[f64; 3]> = sites.collect();
    let end = sites.last().copied().unwrap_or(corner);
    let room = simulation.room(corner, end, largest)?;
    let taken: Vec<[f64; 3]> = sites.into_iter().filter(|&site| room.is_free(site, largest)).collect();
    let mut handful = Grains::default();
    let first = simulation.next_id();
    for (k, &site) in taken.iter().enumerate() {
        // All over those that are there.
        let like = free[k * free.len() / taken.len()];
        let Ok(id) = u32::try_from(first + k as u64) else { break };
        handful.push(
            id,
            site,
            [0.0; 3],
            [0.0; 3],
            kept.radius[like],
            kept.material[like],
            kept.group[like],
        );
        if let Some(&temperature) = kept.temperature.get(like) {
            handful.temperature.push(temperature);
        }
    }
    if handful.is_empty() {
        return nothing("there is no room above the grains for a handful more");
    }
    match simulation.check_coming(&handful) {
        Err(Refusal::Stopped(stop)) => return Err(Refusal::Stopped(stop)),
        Err(refused) => return nothing(&refused.to_string()),
        Ok(()) => {}
    }
    simulation.insert(&handful)?;
    let count = handful.len();
    Ok(Done::act(format!("{count} grains are dropped by hand, the first with id {first}")))
}
