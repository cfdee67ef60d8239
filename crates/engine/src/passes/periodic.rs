//! Periodic sides: current images of the domain, and wrapping of grains that left.

use crate::periodic::sides_of;
use crate::populations::Populations;
use seixo_laws::Vector3;
use seixo_laws::motion::{gravity_energy, kinetic_energy};
use seixo_sweeps::layout::{RECORD, load, store};
use seixo_sweeps::periodic::{PeriodicBoundaries, SHEARED, STRETCHED, image_velocity, wrap};

impl Populations {
    /// Whether the images of grains move, so that grains on opposite sides move past each other even at rest.
    pub(crate) fn images_move(&self) -> bool {
        [SHEARED, STRETCHED].contains(&self.context.sides)
    }

    /// Displacement of moving sides since the last rebuild \[m\]: grains on opposite sides move past each other by the same length.
    fn slid_since_listed(&self, time: f64) -> f64 {
        if self.context.sides == STRETCHED {
            let (now, listed) = (&self.context.stepping.sides.length, &self.grains.cells.sides.length);
            return now.minus(listed).length();
        }
        let speed = self.context.stepping.sides.slide.length();
        speed * (time - self.walls.listed_at).abs()
    }

    /// Whether lists are out of date because of moving sides: the sides may move by half the skin, and grains by a quarter each.
    pub(crate) fn sides_slid_too_far(&self, time: f64) -> bool {
        self.images_move() && self.slid_since_listed(time) > 0.5 * (self.grains.cells.skin - self.grains.cells.gap)
    }

    /// Length by which sides slide past each other in a step \[m\]; zero if they do not slide.
    pub(crate) fn slid_in_a_step(&self) -> f64 {
        if self.context.sides == SHEARED {
            self.context.stepping.sides.slide.length() * self.context.stepping.dt
        } else {
            0.0
        }
    }

    /// Number of steps until [`Populations::sides_slid_too_far`].
    pub(crate) fn steps_until_slid(&self) -> u64 {
        let slid = self.slid_in_a_step();
        if slid == 0.0 {
            return u64::MAX;
        }
        let lasting = 0.5 * (self.grains.cells.skin - self.grains.cells.gap) / slid;
        let taken = (self.context.time() - self.walls.listed_at) / self.context.stepping.dt;
        (lasting - taken).floor().max(0.0) as u64
    }

    /// The images `ahead` steps later. Those of a cell whose lengths are controlled move in a pass of their own.
    pub(crate) fn sides_ahead(&self, ahead: u32) -> PeriodicBoundaries<f64, f64> {
        if self.context.sides != SHEARED {
            return self.context.stepping.sides;
        }
        sides_of(
            self.context.domain.as_ref(),
            (self.context.steps + u64::from(ahead)) as f64 * self.context.stepping.dt,
        )
    }

    /// Moves the images to their current positions.
    pub(crate) fn place_sides(&mut self) {
        self.context.stepping.sides = self.sides_ahead(0);
    }

    /// Wraps grains that left through periodic sides. The change of their energies is work of the sides.
    pub(crate) fn wrap_grains(&mut self) {
        self.place_sides();
        let (sides, gravity) = (self.context.stepping.sides, self.context.stepping.gravity);
        for i in 0..self.grains.fields.len() {
            let at = i * RECORD;
            let before: Vector3<f64> = load(&self.grains.fields.position, at);
            let returned = wrap(&before, &sides);
            let moved = returned.position.minus(&before);
            if moved.dot(&moved) == 0.0 {
                continue;
            }
            if self.body_of(i).is_some() {
                store(&mut self.grains.fields.position, at, &returned.position);
                continue;
            }
            let mass = self.grains.fields.velocity[at + 3];
            let velocity: Vector3<f64> = load(&self.grains.fields.velocity, at);
            let slowed = image_velocity(returned.passed, &returned.crossed, &sides, self.context.sides);
            let after = velocity.minus(&slowed);
            self.ledger.work.wall +=
                kinetic_energy(mass, &after) - kinetic_energy(mass, &velocity) + gravity_energy(mass, &gravity, &moved);
            let kept: Vector3<f64> = load(&self.grains.fields.half_velocity, 3 * i);
            store(&mut self.grains.fields.position, at, &returned.position);
            store(&mut self.grains.fields.velocity, at, &after);
            store(&mut self.grains.fields.half_velocity, 3 * i, &kept.minus(&slowed));
        }
        let by_sides = self.bodies.put_back(&sides, &gravity);
        self.body_ledger().wall += by_sides;
    }
}
