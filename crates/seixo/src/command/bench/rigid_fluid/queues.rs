//! Fluid and bodies that do not act on each other, as one simulation and as two: how much a GPU gains if it computes both at the same time.

use super::super::super::Failure;
use super::super::median::median;
use super::super::{failed, refused};
use super::{RigidFluidArguments, steps_before};
use seixo_device::gpu::Queue;
use seixo_engine::world::World;
use seixo_engine::world::{Grains, Settings};
use seixo_engine::{Simulation, StepError};
use serde::Serialize;
use std::panic::resume_unwind;
use std::thread;
use std::time::Instant;

/// Steps per second of fluid and bodies on a GPU, each counted once for both.
#[derive(Serialize)]
pub struct QueueComparison {
    table: &'static str,
    device: String,
    precision: &'static str,
    bodies: usize,
    body_spheres: usize,
    fluid_particles: usize,
    time_step: f64,
    /// As one simulation, whose launches are one sequence.
    steps_per_second_as_one: f64,
    /// As two simulations, one after the other.
    steps_per_second_in_turns: f64,
    /// As two simulations at the same time, each on its own queue.
    steps_per_second_at_once: f64,
    /// At the same time over one simulation: the most that two queues gain where nothing couples them.
    gain: f64,
    /// At the same time over in turns.
    gain_over_turns: f64,
    steps: u64,
    repeats: u32,
}

/// Measures a world as one simulation, and its fluid and its bodies as two, in turns.
pub fn compare(world: World, settings: Settings, arguments: &RigidFluidArguments) -> Result<QueueComparison, Failure> {
    let (steps, before, bodies_of_world) = (arguments.steps, steps_before(arguments), world.grains.bodies.len());
    let mut one = started(world.clone(), settings.clone(), before)?;
    // Each step of all is of the same length.
    let settings = Settings {
        time_step: Some(one.time_step().value),
        ..settings
    };
    let [fluid, bodies] = halves(world.clone());
    let mut in_turns = [
        started(fluid, settings.clone(), before)?,
        started(bodies, settings.clone(), before)?,
    ];
    let mut at_once = on_queues(world, &settings, before)?;
    let mut seconds: [Vec<f64>; 3] = Default::default();
    for _ in 0..arguments.repeat {
        let clock = Instant::now();
        one.advance(steps).map_err(failed)?;
        seconds[0].push(clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        in_turns
            .iter_mut()
            .try_for_each(|simulation| simulation.advance(steps))
            .map_err(failed)?;
        seconds[1].push(clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        advance_at_once(&mut at_once, steps).map_err(failed)?;
        seconds[2].push(clock.elapsed().as_secs_f64());
    }
    let [as_one, in_turns, at_once] = seconds.map(|seconds| steps as f64 / median(seconds));
    Ok(QueueComparison {
        table: "6.5",
        device: one.device_name(),
        precision: one.precision().name(),
        bodies: bodies_of_world,
        body_spheres: one.len(),
        fluid_particles: one.fluid_particles(),
        time_step: one.time_step().value,
        steps_per_second_as_one: as_one,
        steps_per_second_in_turns: in_turns,
        steps_per_second_at_once: at_once,
        gain: at_once / as_one,
        gain_over_turns: at_once / in_turns,
        steps: steps * u64::from(arguments.repeat),
        repeats: arguments.repeat,
    })
}

/// The fluid of a world and its bodies, each alone between the walls.
fn halves(world: World) -> [World; 2] {
    let bodies = World {
        fluids: None,
        ..world.clone()
    };
    let fluid = World {
        grains: Grains::default(),
        ..world
    };
    [fluid, bodies]
}

fn started(world: World, settings: Settings, steps: u64) -> Result<Simulation, Failure> {
    let mut simulation = Simulation::new(world, settings).map_err(refused)?;
    simulation.advance(steps).map_err(failed)?;
    Ok(simulation)
}

/// Starts the fluid of a world and its bodies, each on its own queue.
fn on_queues(world: World, settings: &Settings, steps: u64) -> Result<[Simulation; 2], Failure> {
    let [fluid, bodies] = halves(world);
    let start = |queue: Queue, world: World| queue.enter(|| started(world, settings.clone(), steps));
    Ok([start(Queue::PAIR[0], fluid)?, start(Queue::PAIR[1], bodies)?])
}

/// Advances both at the same time, each by its own thread on the queue where it was started.
fn advance_at_once(both: &mut [Simulation; 2], steps: u64) -> Result<(), StepError> {
    thread::scope(|scope| {
        let threads: Vec<_> = both
            .iter_mut()
            .zip(Queue::PAIR)
            .map(|(simulation, queue)| scope.spawn(move || queue.enter(|| simulation.advance(steps))))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

impl QueueComparison {
    /// The line that is printed.
    pub fn text(&self) -> String {
        format!(
            "    as one simulation {:.1} steps/s; as two, {:.1} in turns and {:.1} at the same time on two queues: {:.2} times the one, {:.2} \
             times the turns",
            self.steps_per_second_as_one, self.steps_per_second_in_turns, self.steps_per_second_at_once, self.gain, self.gain_over_turns
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{Coupling, world};
    use super::super::shape::Shape;
    use super::super::tables::{Line, Table};
    use super::*;
    use seixo_engine::world::DeviceChoice;

    fn apart() -> World {
        let line = Line {
            fluid: 64,
            bodies: 8,
            published: [None; 4],
            published_pictures: [None; 4],
        };
        world(Table::Apart, &line, &Shape::ellipsoid(), Coupling::Muller2003)
    }

    fn given<T>(answer: Result<T, Failure>) -> T {
        answer.unwrap_or_else(|failure| match failure {
            Failure::Input(text) | Failure::Run(text) => panic!("{text}"),
            _ => panic!("it failed"),
        })
    }

    #[test]
    fn fluid_and_bodies_move_alone_as_they_do_beside_each_other() {
        let settings = Settings {
            threads: 2,
            ..Settings::default()
        };
        let one = given(started(apart(), settings.clone(), 100));
        let settings = Settings {
            time_step: Some(one.time_step().value),
            ..settings
        };
        let [fluid, bodies] = given(on_queues(apart(), &settings, 100));
        assert_eq!(bodies.bodies(), one.bodies());
        let (alone, beside) = (fluid.fluid().unwrap(), one.fluid().unwrap());
        let fall = 9.81 * one.time();
        for (a, b) in alone.velocity.iter().zip(&beside.velocity) {
            // Neighbors may be summed in another order.
            assert!((0..3).all(|k| (a[k] - b[k]).abs() < 1e-9 * fall), "{a:?} {b:?}");
        }
        assert_eq!((fluid.len(), bodies.fluid_particles(), alone.id.len()), (0, 0, 64));
    }

    #[test]
    fn two_queues_of_a_gpu_change_no_bit() {
        let settings = Settings {
            device: DeviceChoice::Gpu(None),
            ..Settings::default()
        };
        let mut at_once = given(on_queues(apart(), &settings, 10));
        advance_at_once(&mut at_once, 50).unwrap();
        for (simulation, queue) in at_once.iter_mut().zip(Queue::PAIR) {
            queue.enter(|| simulation.observe()).unwrap();
        }
        let in_turns = halves(apart()).map(|half| {
            let mut simulation = given(started(half, settings.clone(), 10));
            simulation.advance(50).unwrap();
            simulation.observe().unwrap();
            simulation
        });
        let [fluid, bodies] = at_once;
        let [fluid_alone, bodies_alone] = in_turns;
        assert_eq!(bodies.bodies(), bodies_alone.bodies());
        assert_eq!(fluid.fluid(), fluid_alone.fluid());
        assert!(bodies.time() > 0.0 && fluid.fluid_particles() == 64);
    }
}
