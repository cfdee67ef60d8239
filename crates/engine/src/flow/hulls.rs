//! Rigid bodies that fluids feel: the particles of their hulls, which are as those of walls, grains of their own or, to Müller's fluid, spheres; and
//! what fluids do to them.

use super::Flow;
use crate::assemble::volume_of_sphere;
use crate::bodies::Bodies;
use crate::contact_records::array;
use crate::division::{Illegible, enclose, unfold};
use crate::fields::{FluidFields, Sorted};
use crate::simulation::{Simulation, vector};
use crate::world::{Fluids, Vec3};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::{FREE, IN_SPACE, LOAD, carry, in_plane, push_on, turn_at, turning_in_plane};
use seixo_sweeps::fluid::{Carried, SUSPENDED, WALL};
use seixo_sweeps::motion::{STALE, Stepping};
use seixo_sweeps::views::{RECORD, load, store};
use std::collections::HashMap;

/// The hulls of all bodies that fluids feel.
#[derive(Default)]
pub(crate) struct Hulls {
    /// Ids of the bodies.
    body: Vec<u32>,
    /// First particle of each, and one more.
    pub row: Vec<u32>,
    /// Where particles are from the centers of their bodies, in the frames of the principal axes \[m\], and what their places hold beside: minus a volume
    /// \[m³\] or, of spheres, the distance from which on they touch fluid \[m\].
    pub offset: Vec<f64>,
    /// Of each, whether it is a grain that is smaller than the particles of fluids.
    is_suspended: Vec<bool>,
    /// Where the particles are among all.
    place: Vec<u32>,
    /// Where the bodies are in their table; those that left are nowhere.
    pub seat: Vec<Option<u32>>,
    /// Ids of the table when that was looked up.
    seated: Vec<u32>,
    /// Number of the first hull among walls and hulls, and of its first particle among those of walls and hulls.
    pub first: [u32; 2],
    /// The axis across which nothing flows, as [`in_plane()`] takes it.
    pub across: u32,
    /// Power that bodies gain \[W\].
    pub power: f64,
    /// Loads of all bodies, on their way to the table.
    pub load: Vec<f64>,
    /// What acts on the particles of all domains; nowhere but in one of several.
    heard: Option<Heard>,
}

/// What fluids do to all particles of hulls, of which a domain has but some.
struct Heard {
    /// Of every particle a force \[N\] and padding.
    rate: Vec<f64>,
    /// Where that is: by its number.
    place: Vec<u32>,
    /// Whether this domain books what bodies gain, as all find the same.
    books: bool,
}

/// Numbers that tell what acts on a particle.
const FORCE: usize = 3;

impl Hulls {
    /// Those of a plan in a world of so many walls.
    pub fn of(plan: &Fluids, walls: usize) -> Hulls {
        let mut hulls = Hulls {
            row: vec![0],
            first: [walls as u32, plan.boundary.position.len() as u32],
            across: plan.across.map_or(IN_SPACE, |axis| axis as u32),
            ..Hulls::default()
        };
        for hull in &plan.hulls {
            hulls.body.push(hull.body);
            hulls.is_suspended.push(hull.suspended.is_some());
            let whole = hull.suspended.map_or(plan.volume(), volume_of_sphere);
            let volume = |k: usize| hull.volume.get(k).copied().unwrap_or(whole);
            let beside = |k: usize| -hull.radius.get(k).map_or_else(|| volume(k), |radius| radius + 0.5 * plan.spacing);
            let records = hull.offset.iter().enumerate().map(|(k, [x, y, z])| [*x, *y, *z, beside(k)]);
            hulls.offset.extend(records.flatten());
            hulls.row.push(hulls.particles() as u32);
        }
        hulls.seat = vec![None; hulls.body.len()];
        hulls.place = vec![FREE; hulls.particles()];
        hulls
    }

    /// Whether no body is felt.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Particles of all hulls.
    fn particles(&self) -> usize {
        self.offset.len() / RECORD
    }

    /// The hull that a particle of this kind is of, if it is one.
    pub fn of_kind(&self, kind: u32) -> Option<usize> {
        let number = (kind & !(WALL | SUSPENDED)).checked_sub(self.first[0])? as usize;
        (kind & WALL != 0 && number < self.body.len()).then_some(number)
    }

    /// The hull of the body with this id, if it has one.
    pub fn of_body(&self, id: u32) -> Option<usize> {
        self.body.iter().position(|body| *body == id)
    }

    /// Id of the body of a hull.
    pub fn body(&self, hull: usize) -> u32 {
        self.body[hull]
    }

    /// The kind of the particles of a hull.
    fn kind_of(&self, hull: usize) -> u32 {
        let number = WALL | (self.first[0] + hull as u32);
        if self.is_suspended[hull] { SUSPENDED | number } else { number }
    }

    /// Whether a hull is that of a grain which is smaller than the particles of fluids.
    pub fn has_suspended(&self) -> bool {
        self.is_suspended.contains(&true)
    }

    /// Where the body is in the table whose hull a particle of this kind is of, if it is there.
    pub fn seat_of(&self, kind: u32) -> Option<usize> {
        let seat = self.seat[self.of_kind(kind)?]?;
        Some(seat as usize)
    }

    /// Whether there can be a particle of a hull with this id and kind.
    pub fn knows(&self, id: u32, kind: u32) -> bool {
        let particle = (id & !WALL).wrapping_sub(self.first[1]);
        let hull = self.of_kind(kind).filter(|hull| self.kind_of(*hull) == kind);
        id & WALL != 0 && hull.is_some_and(|hull| (self.row[hull]..self.row[hull + 1]).contains(&particle))
    }

    /// Whether there are particles of bodies that left.
    pub fn has_lost(&self) -> bool {
        let mut hulls = self.seat.iter().zip(self.row.windows(2));
        hulls.any(|(seat, row)| seat.is_none() && self.place[row[0] as usize..row[1] as usize].iter().any(|place| *place != FREE))
    }

    /// Looks up where the bodies are; tells whether one left since the last time.
    fn find_seats(&mut self, bodies: &Bodies) -> bool {
        if self.seated == bodies.id {
            return false;
        }
        self.seated.clone_from(&bodies.id);
        let seats: HashMap<u32, u32> = bodies.id.iter().copied().zip(0..).collect();
        let mut left = false;
        for (seat, body) in self.seat.iter_mut().zip(&self.body) {
            let found = seats.get(body).copied();
            left |= seat.is_some() && found.is_none();
            *seat = found;
        }
        left
    }

    /// The lowest id above those of all bodies that fluids feel, or felt.
    pub fn lowest_free_id(&self) -> u32 {
        self.body.iter().max().map_or(0, |highest| highest + 1)
    }

    /// Takes what fluids did to bodies, in the order of their table as it is now; some may have left since they were looked up.
    pub fn take_load(&mut self, bodies: &Bodies) -> Vec<f64> {
        let mut load = std::mem::take(&mut self.load);
        if self.seated != bodies.id {
            let seats: HashMap<u32, usize> = self.seated.iter().copied().zip(0..).collect();
            let of_body = |id: &u32| load.get(LOAD * seats[id]..LOAD * (seats[id] + 1)).unwrap_or_default();
            load = bodies.id.iter().flat_map(of_body).copied().collect();
        }
        load.truncate(LOAD * bodies.len());
        load
    }

    /// How the body of a hull turns, as fluids see it \[rad/s\].
    pub fn spin(&self, bodies: &Bodies, hull: usize) -> Vector3<f64> {
        let seat = self.seat[hull].map(|seat| seat as usize * RECORD);
        seat.map_or(Vector3::zero(), |at| turning_in_plane(&load(&bodies.spin, at), self.across))
    }

    /// The particle with this id, of this hull, as its body carries it: nearest to where it is listed.
    pub fn carried(
        &self,
        bodies: &Bodies,
        (id, hull): (u32, usize),
        listed: &Vector3<f64>,
        (stepping, sides): (&Stepping<f64, f64>, u32),
    ) -> Option<Carried<f64>> {
        let seat = self.seat[hull]? as usize;
        let now = carry::<f64>(
            seat,
            ((id & !WALL) - self.first[1]) as usize,
            listed,
            listed,
            &self.offset,
            &bodies.center,
            &bodies.turn,
            &bodies.velocity,
            &bodies.spin,
            stepping,
            sides,
        );
        Some(Carried {
            position: in_plane(&now.position, listed, self.across),
            velocity: in_plane(&now.velocity, &Vector3::zero(), self.across),
            // What follows from the force of this moment cannot be part of what leads to it.
            acceleration: Vector3::zero(),
            flags: now.flags & STALE,
        })
    }
}

impl Flow {
    /// Adds the particles of the hulls of all bodies that are there.
    pub fn put_hulls_up(&mut self, simulation: &Simulation) {
        let bodies = &simulation.bodies;
        self.hulls.find_seats(bodies);
        let hulls = &self.hulls;
        let mut fields = FluidFields::default();
        for (hull, seat) in hulls.seat.iter().enumerate() {
            let Some(seat) = *seat else { continue };
            let center: Vector3<f64> = load(&bodies.center, seat as usize * RECORD);
            for particle in hulls.row[hull]..hulls.row[hull + 1] {
                let id = WALL | (hulls.first[1] + particle);
                let carried = hulls.carried(bodies, (id, hull), &center, (&self.stepping, self.compiled_for.sides));
                let Some(now) = carried else { continue };
                let ([x, y, z], [u, v, w]) = (array(&now.position), array(&now.velocity));
                let beside = hulls.offset[particle as usize * RECORD + 3];
                self.put(&mut fields, [id, hulls.kind_of(hull)], [x, y, z, beside], [u, v, w, 0.0], [0.0; 3]);
            }
        }
        self.fields.append(&fields);
    }

    /// Looks up where bodies are; tells whether one that fluids feel left.
    pub fn follow_bodies(&mut self, simulation: &Simulation) -> bool {
        self.hulls.find_seats(&simulation.bodies)
    }

    /// Removes the particles of bodies that left.
    pub fn drop_hulls_of_lost_bodies(&mut self, simulation: &Simulation) {
        let is_lost = |kind: u32| self.hulls.of_kind(kind).is_some_and(|hull| self.hulls.seat[hull].is_none());
        let kinds = self.fields.kind.iter().zip(0..);
        let kept: Vec<u32> = kinds.filter(|(kind, _)| !is_lost(**kind)).map(|(_, i)| i).collect();
        if kept.len() < self.fields.len() {
            self.fields.reorder(&simulation.device, &kept);
        }
    }

    /// Notes where the particles of hulls are.
    pub fn find_hulls(&mut self) {
        if self.hulls.is_empty() {
            return;
        }
        self.hulls.place.fill(FREE);
        for &i in self.walls.iter().chain(&self.suspension.grains) {
            let [id, kind] = [self.fields.id[i as usize], self.fields.kind[i as usize]];
            if self.hulls.of_kind(kind).is_some() {
                self.hulls.place[((id & !WALL) - self.hulls.first[1]) as usize] = i;
            }
        }
    }

    /// Sums up what fluids do to bodies, in the order of the particles of their hulls.
    pub fn bear_on_bodies(&mut self, simulation: &Simulation) {
        let bodies = &simulation.bodies;
        let Hulls {
            row,
            offset,
            place,
            seat,
            load: loads,
            power,
            heard,
            ..
        } = &mut self.hulls;
        loads.clear();
        loads.resize(bodies.len() * LOAD, 0.0);
        *power = 0.0;
        let (place, rate) = match heard {
            Some(heard) => (&heard.place, &heard.rate),
            None => (&*place, &self.fields.rate),
        };
        for (hull, seat) in seat.iter().enumerate() {
            let Some(b) = seat.map(|seat| seat as usize) else { continue };
            let (first, end) = (row[hull] as usize, row[hull + 1] as usize);
            let turn = turn_at(&bodies.turn, b * RECORD);
            let push = push_on::<f64, f64>(first, end, place, offset, &turn, rate, rate, false);
            store(loads, b * LOAD, &push.force);
            store(loads, b * LOAD + RECORD, &push.torque);
            let (velocity, spin) = (load(&bodies.velocity, b * RECORD), load(&bodies.spin, b * RECORD));
            *power += push.force.dot(&velocity) + push.torque.dot(&spin);
        }
        if heard.as_ref().is_some_and(|heard| !heard.books) {
            *power = 0.0;
        }
    }

    /// Lets bodies be borne on by what all domains tell, of which one `books` what they gain.
    pub fn hear_of_hulls(&mut self, books: bool) {
        let particles = self.hulls.particles();
        self.hulls.heard = (particles > 0).then(|| Heard {
            rate: vec![0.0; particles * RECORD],
            place: (0..particles as u32).collect(),
            books,
        });
    }

    /// What acts on the particles of hulls that a domain owns, as a letter; none where no body is felt.
    pub fn tell_of_hulls(&self) -> Option<Vec<u8>> {
        self.hulls.heard.as_ref()?;
        let (mut particles, mut numbers) = (Vec::<u32>::new(), Vec::<f64>::new());
        for (particle, &i) in self.hulls.place.iter().enumerate().filter(|(_, i)| **i != FREE) {
            let force = &self.fields.rate[i as usize * RECORD..][..FORCE];
            // Zeros are there already, but for their sign.
            if !self.is_copy(i as usize) && force.iter().any(|x| x.to_bits() != 0) {
                particles.push(particle as u32);
                numbers.extend(force);
            }
        }
        let mut letter = Vec::new();
        enclose(&mut letter, &particles);
        enclose(&mut letter, &numbers);
        Some(letter)
    }

    /// Takes in what all domains told.
    pub fn take_in_hulls(&mut self, letters: &[Vec<u8>]) -> Result<(), Illegible> {
        let Some(heard) = &mut self.hulls.heard else { return Ok(()) };
        heard.rate.fill(0.0);
        for mut letter in letters.iter().map(|letter| &letter[..]) {
            let particles: Vec<u32> = unfold(&mut letter)?;
            let numbers: Vec<f64> = unfold(&mut letter)?;
            if numbers.len() != particles.len() * FORCE {
                return Err(Illegible);
            }
            for (&particle, force) in particles.iter().zip(numbers.chunks_exact(FORCE)) {
                let at = particle as usize * RECORD;
                heard.rate.get_mut(at..at + FORCE).ok_or(Illegible)?.copy_from_slice(force);
            }
        }
        Ok(())
    }
}

impl Simulation {
    /// Lets fluids bear on bodies.
    pub(crate) fn load_bodies(&mut self) {
        let feels = self.flow.as_ref().is_some_and(|flow| !flow.hulls.is_empty());
        if !feels {
            return;
        }
        self.with_flow(|flow, simulation| flow.bear_on_bodies(simulation));
        self.take_loads_of_fluids();
    }

    /// Takes loads that fluids found.
    pub(crate) fn take_loads_of_fluids(&mut self) {
        if let Some(flow) = self.flow.as_mut().filter(|flow| !flow.hulls.is_empty()) {
            std::mem::swap(&mut flow.hulls.load, &mut self.bodies.load);
            self.bodies.load.resize(self.bodies.len() * LOAD, 0.0);
        }
    }

    /// As [`Simulation::load_bodies`], once forces were found outside of a step.
    pub(crate) fn load_bodies_anew(&mut self) {
        self.load_bodies();
        self.with_flow(|flow, _| flow.last.wall += flow.hulls.power);
    }

    /// Takes what bodies gained in a step of incompressible fluids off the work of walls.
    pub(crate) fn book_work_on_bodies(&mut self) {
        let dt = self.stepping.dt;
        self.with_flow(|flow, _| flow.work.wall += flow.hulls.power * dt);
    }

    /// What fluids do to each body, in the order of the table: force \[N\], and torque about its center of mass \[N m\].
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn loads_of_fluids_on_bodies(&self) -> Vec<[[f64; 3]; 2]> {
        self.assert_observed();
        let of_body = |b: usize| {
            let of = |at: usize| {
                let numbers = self.bodies.load.get(at..at + 3);
                numbers.map_or([0.0; 3], |numbers| [numbers[0], numbers[1], numbers[2]])
            };
            [of(b * LOAD), of(b * LOAD + RECORD)]
        };
        (0..self.bodies.len()).map(of_body).collect()
    }

    /// Adds what fluids do to bodies to the forces and torques of the grains at these places. Every grain bears its share of the volume, and what the
    /// shares of the force do not turn, they bear as torques: on a body they add up to its load.
    pub(crate) fn add_loads_of_fluids(&self, order: &[u32], force: &mut [Vec3], torque: &mut [Vec3]) {
        if self.bodies.load.is_empty() {
            return;
        }
        let bodies = &self.bodies;
        let share = |member: u32| bodies.offset[member as usize * RECORD + 3];
        let loads = self.loads_of_fluids_on_bodies().into_iter().enumerate();
        let shared: Vec<[Vector3<f64>; 2]> = loads
            .map(|(b, [push, twist])| {
                let (push, twist) = (vector(push), vector(twist));
                let members = bodies.row[b]..bodies.row[b + 1];
                let middle = members.fold(Vector3::<f64>::zero(), |sum, m| sum.plus(&bodies.arm(m).times(share(m))));
                [push, twist.minus(&middle.cross(&push))]
            })
            .collect();
        for (slot, &i) in order.iter().enumerate() {
            let Some(b) = self.body_of(i as usize) else { continue };
            let [push, twist] = shared[b].map(|whole| array(&whole.times(share(self.fields.member[i as usize]))));
            force[slot] = [0, 1, 2].map(|k| force[slot][k] + push[k]);
            torque[slot] = [0, 1, 2].map(|k| torque[slot][k] + twist[k]);
        }
    }
}
