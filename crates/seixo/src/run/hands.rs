//! What viewers do to a run by hand.

use super::audience::Done;
use seixo_engine::world::Grains;
use seixo_engine::{Refusal, Seen, Simulation};

/// Height that a push lifts a grain by, in its radii, where it goes against gravity.
const PUSH: f64 = 8.0;
/// Of its radius, what a grain that is drawn goes in a step at most.
const MOST_OF_RADIUS: f64 = 0.02;
/// Grains of a handful along its sides, and how far apart they are, in diameters of the largest.
const HANDFUL: [i32; 3] = [3, 3, 2];
const APART: f64 = 1.2;

fn found(simulation: &mut Simulation, id: u32) -> Result<Option<Seen>, Refusal> {
    simulation.observe().map_err(|stop| Refusal::Stopped(Box::new(stop)))?;
    Ok(simulation.grains().find(|seen| seen.id == id))
}

fn gone(id: u32) -> Done {
    Done {
        text: format!("grain {id} is not there any more"),
        lasting: None,
    }
}

/// Gives a grain, or its body, the speed with which it would rise by a few radii on Earth.
pub fn push(simulation: &mut Simulation, id: u32, along: [f64; 3]) -> Result<Done, Refusal> {
    let Some(seen) = found(simulation, id)? else { return Ok(gone(id)) };
    let speed = (2.0 * 9.81 * PUSH * seen.radius).sqrt();
    let velocity = along.map(|part| speed * part);
    simulation.set_velocity_of(id, velocity)?;
    Ok(Done {
        text: format!(
            "grain {id} is pushed by hand to [{}, {}, {}] m/s",
            velocity[0], velocity[1], velocity[2]
        ),
        lasting: None,
    })
}

/// Draws a grain, or its body, towards a place.
pub fn drag(simulation: &mut Simulation, id: u32, to: [f64; 3], within: f64) -> Result<Done, Refusal> {
    let Some(seen) = found(simulation, id)? else { return Ok(gone(id)) };
    let apart = [0, 1, 2].map(|axis| to[axis] - seen.center[axis]);
    let length = apart.iter().map(|part| part * part).sum::<f64>().sqrt();
    let most = MOST_OF_RADIUS * seen.radius / simulation.time_step().value;
    let speed = (length / within).min(most);
    let velocity = if length > 0.0 {
        apart.map(|part| part / length * speed)
    } else {
        [0.0; 3]
    };
    simulation.set_velocity_of(id, velocity)?;
    Ok(Done {
        text: format!("grain {id} is drawn by hand towards [{}, {}, {}] m", to[0], to[1], to[2]),
        lasting: None,
    })
}

/// Lets a handful of grains like those there fall in from above all others.
pub fn drop_grains(simulation: &mut Simulation) -> Result<Done, Refusal> {
    simulation.observe().map_err(|stop| Refusal::Stopped(Box::new(stop)))?;
    let kept = simulation.snapshot();
    let free: Vec<usize> = (0..kept.id.len())
        .filter(|&i| kept.body.get(i).is_none_or(|body| *body < 0))
        .collect();
    let nothing = |text: &str| {
        Ok(Done {
            text: text.to_owned(),
            lasting: None,
        })
    };
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
    simulation.insert(&handful)?;
    Ok(Done {
        text: format!("{} grains are dropped by hand, the first with id {first}", handful.len()),
        lasting: None,
    })
}
