//! Periodic sides: where images of the domain are now, and grains that left put back.

use crate::cell::PeriodicCell;
use crate::refusal::Refusal;
use crate::simulation::{Simulation, vector};
use crate::world::{Domain, World};
use seixo_laws::Vector3;
use seixo_laws::motion::{gravity_energy, kinetic_energy};
use seixo_sweeps::sides::{FAR, OPEN, PERIODIC, SHEARED, Sides, put_back};
use seixo_sweeps::views::{RECORD, load, store};

/// Which sides of a domain are periodic, in the words of the sweeps.
pub(crate) fn kind_of(domain: Option<&Domain>) -> u32 {
    match domain {
        Some(domain) if domain.shear.is_some() => SHEARED,
        Some(domain) if domain.periodic.contains(&true) => PERIODIC,
        _ => OPEN,
    }
}

/// The images of a domain at this time \[s\].
pub(crate) fn sides_of(domain: Option<&Domain>, time: f64) -> Sides<f64, f64> {
    let mut sides = Sides::open();
    let Some(domain) = domain else { return sides };
    let cell = PeriodicCell::of(Some(domain), time);
    let pick = |axis: usize, open: f64, periodic: f64| if cell.is_periodic(axis) { periodic } else { open };
    let far = f64::from(FAR);
    sides.low = vector([0, 1, 2].map(|axis| pick(axis, -0.5 * far, cell.low[axis])));
    sides.length = vector([0, 1, 2].map(|axis| pick(axis, far, cell.length[axis])));
    (sides.offset, sides.slide) = (vector(cell.offset), vector(cell.slide));
    if let Some(shear) = domain.shear {
        sides.across = vector([0, 1, 2].map(|axis| if axis == shear.gradient { 1.0 } else { 0.0 }));
    }
    sides
}

/// Refuses a domain that is too short along a periodic axis for what reaches this far \[m\]: nothing may meet two images of another.
pub(crate) fn check_periods(domain: &Domain, reach: f64) -> Result<(), Refusal> {
    let length = |axis: usize| domain.max[axis] - domain.min[axis];
    let short = (0..3).find(|&axis| domain.periodic[axis] && length(axis) <= 2.0 * reach);
    short.map_or(Ok(()), |axis| {
        Err(Refusal::PeriodicSide {
            axis: ["x", "y", "z"][axis],
            length: length(axis),
            limit: 2.0 * reach,
        })
    })
}

/// Refuses sides that cannot be periodic: a grain must not meet an image of itself, nor two images of another.
///
/// # Errors
/// If the domain is too small for the largest grain and the reach of the lists, or sides slide that are not periodic.
pub(crate) fn check_sides(world: &World, reach: f64) -> Result<(), Refusal> {
    let Some(domain) = &world.domain else { return Ok(()) };
    check_periods(domain, reach)?;
    let Some(shear) = domain.shear else { return Ok(()) };
    let sound = shear.flow < 3 && shear.gradient < 3 && shear.flow != shear.gradient && shear.rate.is_finite();
    if !sound || !domain.periodic[shear.flow] || !domain.periodic[shear.gradient] {
        return Err(Refusal::Shear);
    }
    if world.local_damping > 0.0 {
        return Err(Refusal::DampedShear);
    }
    Ok(())
}

impl Simulation {
    /// The periodic cell at [`Simulation::time`].
    pub fn cell(&self) -> PeriodicCell {
        PeriodicCell::of(self.domain.as_ref(), self.time())
    }

    /// How far the sides slid since the lists were made \[m\]: grains across them move as far past each other.
    fn slid_since_listed(&self, time: f64) -> f64 {
        let speed = self.stepping.sides.slide.length();
        speed * (time - self.walls.listed_at).abs()
    }

    /// Whether the lists are stale because the sides slid: they may by half the skin, and grains by a quarter each.
    pub(crate) fn sides_slid_too_far(&self, time: f64) -> bool {
        self.sides == SHEARED && self.slid_since_listed(time) > 0.5 * (self.cells.skin - self.cells.gap)
    }

    /// Steps that may be taken before [`Simulation::sides_slid_too_far`].
    pub(crate) fn steps_until_slid(&self) -> u64 {
        let speed = self.stepping.sides.slide.length();
        if self.sides != SHEARED || speed == 0.0 {
            return u64::MAX;
        }
        let dt = self.stepping.dt;
        let lasting = 0.5 * (self.cells.skin - self.cells.gap) / (speed * dt);
        let taken = (self.time() - self.walls.listed_at) / dt;
        (lasting - taken).floor().max(0.0) as u64
    }

    /// The images `ahead` steps from now.
    pub(crate) fn sides_ahead(&self, ahead: u32) -> Sides<f64, f64> {
        if self.sides != SHEARED {
            return self.stepping.sides;
        }
        sides_of(self.domain.as_ref(), (self.steps + u64::from(ahead)) as f64 * self.stepping.dt)
    }

    /// Puts the images where they are now.
    pub(crate) fn place_sides(&mut self) {
        self.stepping.sides = self.sides_ahead(0);
    }

    /// Puts grains that left through periodic sides back. What their energies change by, the sides did.
    pub(crate) fn put_grains_back(&mut self) {
        self.place_sides();
        let (sides, gravity) = (self.stepping.sides, self.stepping.gravity);
        for i in 0..self.fields.len() {
            let at = i * RECORD;
            let before: Vector3<f64> = load(&self.fields.position, at);
            let returned = put_back(&before, &sides);
            let moved = returned.position.minus(&before);
            if moved.dot(&moved) == 0.0 {
                continue;
            }
            if self.body_of(i).is_some() {
                store(&mut self.fields.position, at, &returned.position);
                continue;
            }
            let mass = self.fields.velocity[at + 3];
            let velocity: Vector3<f64> = load(&self.fields.velocity, at);
            let slowed = sides.slide.times(returned.passed);
            let after = velocity.minus(&slowed);
            self.work.wall += kinetic_energy(mass, &after) - kinetic_energy(mass, &velocity) + gravity_energy(mass, &gravity, &moved);
            let kept: Vector3<f64> = load(&self.fields.half_velocity, 3 * i);
            store(&mut self.fields.position, at, &returned.position);
            store(&mut self.fields.velocity, at, &after);
            store(&mut self.fields.half_velocity, 3 * i, &kept.minus(&slowed));
        }
        let by_sides = self.bodies.put_back(&sides, &gravity);
        self.books_of_bodies().wall += by_sides;
    }
}
