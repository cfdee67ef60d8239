//! User actions: changes of a running simulation by viewers.

use seixo_engine::world::Grains;
use seixo_engine::{PlacedGrain, Simulation, SurroundingsChange, WorldError};
use seixo_view::live::{DraggedGrain, RunControl, UserAction};
use std::time::{Duration, Instant};

/// Height to which a push against gravity lifts a grain \[radii\].
const PUSH: f64 = 8.0;
/// Largest displacement of a dragged grain in a step \[radii\].
const MAX_OF_RADIUS: f64 = 0.02;
/// Wall time between two updates of the velocity of a dragged grain: that of a picture.
const DRAW_EVERY: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// Number of dropped grains along each axis, and their spacing in diameters of the largest grain.
const DROPPED_GRID: [i32; 3] = [3, 3, 2];
const APART: f64 = 1.2;

/// A user action that was applied to a run.
pub(super) struct AppliedAction {
    /// Description for the log.
    pub text: String,
    /// Lasting change of the surroundings.
    pub lasting: Option<SurroundingsChange>,
    /// Whether the action changed the simulation.
    is_act: bool,
}

impl AppliedAction {
    fn act(text: String) -> AppliedAction {
        AppliedAction {
            text,
            lasting: None,
            is_act: true,
        }
    }

    fn nothing(text: String) -> AppliedAction {
        AppliedAction {
            text,
            lasting: None,
            is_act: false,
        }
    }
}

/// A dragged grain.
#[derive(Clone, Copy)]
struct Dragging {
    id: u32,
    /// Time and step of the last update of its velocity.
    at: Instant,
    step: u64,
    /// Number of steps after which it would pass its target.
    most: u64,
    /// Whether it cannot be moved.
    is_vain: bool,
}

/// Applies the user actions of viewers.
#[derive(Default)]
pub(super) struct UserActions {
    actions: u64,
    drawing: Option<Dragging>,
}

impl UserActions {
    /// Returns how often user actions changed the run.
    pub fn actions_taken(&self) -> u64 {
        self.actions
    }

    /// Records that the state of the run changed, although no user action changed it.
    pub fn note_failure(&mut self) {
        self.actions += 1;
    }

    /// Applies the requested user actions to the simulation, and records their descriptions.
    ///
    /// # Errors
    /// If the simulation cannot continue. An action that is impossible and changes nothing is recorded as such, and is not an error.
    pub fn reach_in(
        &mut self,
        run_control: &RunControl,
        simulation: &mut Simulation,
        done: &mut Vec<AppliedAction>,
    ) -> Result<(), WorldError> {
        for hand in run_control.take_actions() {
            let one = match hand {
                UserAction::Gravity(gravity) => turn(simulation, gravity)?,
                UserAction::Push { id, along } => push(simulation, id, along)?,
                UserAction::Drop => drop_grains(simulation)?,
                // A drag lasts; the run control returns it as long as it does.
                UserAction::Drag { .. } | UserAction::LetGo => continue,
            };
            self.actions += u64::from(one.is_act);
            done.push(one);
        }
        let drawn = run_control.drawn();
        self.drawing = self.drawing.filter(|last| drawn.is_some_and(|drawn| drawn.id == last.id));
        match drawn {
            Some(drawn) if !run_control.is_stopped() => self.draw(simulation, drawn, done),
            _ => Ok(()),
        }
    }

    /// Updates the velocity of a dragged grain towards its target, if an update is due.
    fn draw(&mut self, simulation: &mut Simulation, drawn: DraggedGrain, done: &mut Vec<AppliedAction>) -> Result<(), WorldError> {
        let step = simulation.steps();
        let is_early = |last: Dragging| last.is_vain || last.step == step || last.at.elapsed() < DRAW_EVERY;
        if self.drawing.is_some_and(is_early) {
            return Ok(());
        }
        let time_step = simulation.time_step().value;
        let passed = self.drawing.map_or(0, |last| step - last.step) as f64 * time_step;
        let one = drag(simulation, drawn, passed)?;
        self.actions += u64::from(one.is_act);
        let is_vain = !one.is_act;
        // The pointer moves a hundred times a second, so only the start of a drag is logged.
        if self.drawing.is_none() || is_vain {
            done.push(one);
        }
        self.drawing = Some(Dragging {
            id: drawn.id,
            at: Instant::now(),
            step,
            most: ((drawn.within / time_step) as u64).max(1),
            is_vain,
        });
        Ok(())
    }

    /// Returns how many of these steps may be taken now; if none, the wall time until some may.
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

/// Changes gravity.
fn turn(simulation: &mut Simulation, gravity: [f64; 3]) -> Result<AppliedAction, WorldError> {
    let change = SurroundingsChange::Gravity(gravity);
    simulation.change(std::slice::from_ref(&change))?;
    let [x, y, z] = gravity;
    Ok(AppliedAction {
        lasting: Some(change),
        ..AppliedAction::act(format!("gravity is [{x}, {y}, {z}] m/s^2 by hand"))
    })
}

/// Sets the velocity \[m/s\] of a grain, or of its body, as a function of its position and radius. Returns a description by `words`, or the reason
/// why it is impossible.
fn set_going(
    simulation: &mut Simulation,
    id: u32,
    velocity: impl FnOnce(&PlacedGrain) -> [f64; 3],
    words: impl FnOnce([f64; 3]) -> String,
) -> Result<AppliedAction, WorldError> {
    simulation.observe().map_err(|stop| WorldError::Stopped(Box::new(stop)))?;
    let found = simulation.grains().find(|seen| seen.id == id);
    let Some(seen) = found else {
        return Ok(AppliedAction::nothing(format!(
            "not done by hand: grain {id} is not there any more"
        )));
    };
    if seen.is_bound {
        let why = "the body that carries it is held, or on a joint, and moves by that alone";
        return Ok(AppliedAction::nothing(format!(
            "not done by hand: grain {id} cannot be moved, as {why}"
        )));
    }
    let velocity = velocity(&seen);
    simulation.set_velocity_of(id, velocity)?;
    Ok(AppliedAction::act(words(velocity)))
}

/// Gives a grain, or its body, the speed with which it would rise by [`PUSH`] radii on Earth.
fn push(simulation: &mut Simulation, id: u32, along: [f64; 3]) -> Result<AppliedAction, WorldError> {
    let velocity = |seen: &PlacedGrain| along.map(|part| part * (2.0 * 9.81 * PUSH * seen.radius).sqrt());
    let words = |[x, y, z]: [f64; 3]| format!("grain {id} is pushed by hand to [{x}, {y}, {z}] m/s");
    set_going(simulation, id, velocity, words)
}

/// Drags a grain, or its body, towards a target. The speed decreases to zero at the target, and compensates half of the gravity until the next
/// update, which is expected after this simulated time \[s\] again.
fn drag(simulation: &mut Simulation, DraggedGrain { id, to, within }: DraggedGrain, passed: f64) -> Result<AppliedAction, WorldError> {
    let (gravity, time_step) = (simulation.gravity(), simulation.time_step().value);
    let velocity = |seen: &PlacedGrain| {
        let apart = [0, 1, 2].map(|axis| to[axis] - seen.center[axis]);
        let length = apart.iter().map(|part| part * part).sum::<f64>().sqrt();
        let speed = (length / within).min(MAX_OF_RADIUS * seen.radius / time_step);
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

/// Drops a few grains, similar to those in the simulation, from above all others.
fn drop_grains(simulation: &mut Simulation) -> Result<AppliedAction, WorldError> {
    simulation.observe().map_err(|stop| WorldError::Stopped(Box::new(stop)))?;
    let kept = simulation.snapshot();
    let free: Vec<usize> = (0..kept.id.len())
        .filter(|&i| kept.body.get(i).is_none_or(|body| *body < 0))
        .collect();
    let nothing = |why: &str| Ok(AppliedAction::nothing(format!("not done by hand: {why}")));
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
    let corner = [0, 1, 2].map(|axis| middle[axis] + lift * up[axis] - 0.5 * side * f64::from(DROPPED_GRID[axis] - 1));
    let sites = (0..DROPPED_GRID.iter().product::<i32>()).map(|k| {
        let place = [
            k % DROPPED_GRID[0],
            k / DROPPED_GRID[0] % DROPPED_GRID[1],
            k / (DROPPED_GRID[0] * DROPPED_GRID[1]),
        ];
        [0, 1, 2].map(|axis| corner[axis] + side * f64::from(place[axis]))
    });
    let sites: Vec<[f64; 3]> = sites.collect();
    let end = sites.last().copied().unwrap_or(corner);
    let room = simulation.room(corner, end, largest)?;
    let taken: Vec<[f64; 3]> = sites.into_iter().filter(|&site| room.is_free(site, largest)).collect();
    let mut handful = Grains::default();
    let first = simulation.next_id();
    for (k, &site) in taken.iter().enumerate() {
        // The templates are spread evenly over the existing grains.
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
        handful.scalars.push_from(&kept.scalars, like);
        handful.masses.extend(simulation.given_mass(kept.id[like]).map(|mass| (id, mass)));
    }
    if handful.is_empty() {
        return nothing("there is no room above the grains for a handful more");
    }
    match simulation.check_coming(&handful) {
        Err(WorldError::Stopped(stop)) => return Err(WorldError::Stopped(stop)),
        Err(refused) => return nothing(&refused.to_string()),
        Ok(()) => {}
    }
    simulation.insert(&handful)?;
    let count = handful.len();
    Ok(AppliedAction::act(format!(
        "{count} grains are dropped by hand, the first with id {first}"
    )))
}
