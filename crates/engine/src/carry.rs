//! The pass of rigid bodies: they move under what their grains meet, and take their grains along.

use crate::bodies::Bodies;
use crate::fields::{Fields, PART, Sorted, part_range, parts};
use crate::simulation::{Simulation, vector};
use crate::world::{Domain, Grains, Vec3};
use seixo_device::Strided;
use seixo_laws::Vector3;
use seixo_laws::motion::{gravity_energy, kinetic_energy};
use seixo_sweeps::bodies::{FREE, advance_body, carry, original_of, push_on, turn_at, with_load};
use seixo_sweeps::joints::advance_on_joint;
use seixo_sweeps::motion::{Moved, STILL};
use seixo_sweeps::sides::{OPEN, PERIODIC};
use seixo_sweeps::views::{RECORD, load, store};

/// How many times its mass contacts feel of a body that is held: so many that the effective mass is that of the other grain, which moves freely:
/// walls and what else is held it does not touch.
const UNMOVED: f64 = 1e9;

/// Bodies per part: the unit of work, the same on any number of threads.
const BODIES_OF_PART: usize = 64;

impl Simulation {
    /// Puts bodies up at time zero, with their grains where they belong.
    pub(crate) fn put_bodies_up(&mut self, grains: &Grains) {
        let (bodies, members) = Bodies::new(grains);
        let member = self.fields.id.iter().map(|id| members.get(id).copied().unwrap_or(FREE));
        self.fields.member = member.collect();
        self.bodies = bodies;
        self.bodies.find_places(&self.fields.member);
        self.hold_bodies(true);
        for i in 0..self.fields.len() {
            let m = self.fields.member[i];
            let Some(b) = self.bodies.of(m) else { continue };
            let center: Vector3<f64> = load(&self.bodies.center, b * RECORD);
            let place = center.plus(&self.bodies.arm(m));
            store(&mut self.fields.position, i * RECORD, &place);
            store(&mut self.fields.reference, 3 * i, &place);
            self.move_with_body(i, b);
        }
    }

    /// Gives the grain at place i, which body b carries, the velocities that it has there, and the mass that contacts feel.
    pub(crate) fn move_with_body(&mut self, i: usize, b: usize) {
        let (arm, at) = (self.bodies.arm(self.fields.member[i]), i * RECORD);
        let spin: Vector3<f64> = load(&self.bodies.spin, b * RECORD);
        let velocity = load::<f64>(&self.bodies.velocity, b * RECORD).plus(&spin.cross(&arm));
        store(&mut self.fields.velocity, at, &velocity);
        store(&mut self.fields.half_velocity, 3 * i, &velocity);
        store(&mut self.fields.spin, at, &spin);
        // Contacts feel the inertia of the whole body, not of one of its spheres; nothing moves one that is held.
        let inertia = if self.bodies.held.holds(b) { UNMOVED } else { 1.0 };
        self.fields.velocity[at + 3] = inertia * self.bodies.center[b * RECORD + 3];
    }

    /// The group of body b: that of its first grain.
    pub(crate) fn group_of_body(&self, b: usize) -> u32 {
        self.fields.group[self.bodies.place[self.bodies.row[b] as usize] as usize]
    }

    /// As [`Simulation::pull_back_half_a_step`], of bodies.
    pub(crate) fn pull_bodies_back(&mut self, bodies: impl IntoIterator<Item = usize>) {
        for b in bodies {
            self.bodies.pull_back(b, &self.fields, &self.stepping);
        }
    }

    /// Gives some bodies this velocity \[m/s\], but for those that are held or on joints; they turn as before.
    pub(crate) fn set_velocity_of_bodies(&mut self, velocity: Vec3, is_chosen: impl Fn(&Simulation, usize) -> bool) {
        let velocity = vector(velocity);
        for b in 0..self.bodies.len() {
            if is_chosen(self, b) && !self.bodies.is_bound(b) {
                let at = b * RECORD;
                store(&mut self.bodies.velocity, at, &velocity);
                let [rate, _] = self.bodies.rates(b, &self.fields, &self.stepping);
                let back = rate.times(self.stepping.shows_ahead);
                store(&mut self.bodies.half_velocity, at, &velocity.minus(&back));
            }
        }
    }

    /// Kick and drift of all bodies, which take their grains along.
    pub(crate) fn advance_bodies(&mut self) {
        let mut moved = self.move_bodies();
        moved.flags |= self.hold_bodies(false);
        match self.sides {
            OPEN => self.take_grains_along::<OPEN>(),
            _ => self.take_grains_along::<PERIODIC>(),
        }
        // Grains that are carried raise their flags with their part; what the bodies themselves raise goes with the first. Where no grain is, other
        // domains see it as well.
        if let Some(first) = self.moves.first_mut() {
            first.flags |= moved.flags;
        }
        self.books_of_bodies().local_damping += moved.damping_work;
    }

    /// Bodies that nothing holds one step on; what they raised and lost, in their order.
    fn move_bodies(&mut self) -> Moved<f64> {
        let count = self.bodies.len();
        let of_bodies = count.div_ceil(BODIES_OF_PART);
        let Bodies {
            row,
            center,
            half_velocity,
            momentum,
            turn,
            moments,
            velocity,
            spin,
            offset,
            place,
            load: loads,
            pushes,
            held,
            joints,
            ..
        } = &mut self.bodies;
        let (row, moments, offset, place, loads) = (&row[..], &moments[..], &offset[..], &place[..], &loads[..]);
        let (held, joints) = (&*held, &*joints);
        let ([force, torque], stepping) = (pushes.or_of(&self.fields), &self.stepping);
        self.moves_of_bodies.resize(of_bodies, STILL);
        let records = |items| Strided {
            items,
            per_part: BODIES_OF_PART * RECORD,
        };
        let data = (
            records(&mut center[..]),
            records(&mut half_velocity[..]),
            records(&mut momentum[..]),
            records(&mut turn[..]),
            records(&mut velocity[..]),
            records(&mut spin[..]),
            Strided {
                items: &mut self.moves_of_bodies[..],
                per_part: 1,
            },
        );
        type Numbers<'a> = Strided<'a, f64>;
        type Data<'a> = (
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Numbers<'a>,
            Strided<'a, Moved<f64>>,
        );
        self.device.run(
            of_bodies,
            data,
            |part, (center, half_velocity, momentum, turn, velocity, spin, moves): Data| {
                let first = part * BODIES_OF_PART;
                let end = (first + BODIES_OF_PART).min(count);
                let mut all = STILL;
                for b in (0..end - first).filter(|b| !held.holds(first + b)) {
                    let (member, members_end) = (row[first + b] as usize, row[first + b + 1] as usize);
                    let stands = turn_at(turn.items, b * RECORD);
                    let mut push = push_on::<f64, f64>(member, members_end, place, offset, &stands, force, torque, true);
                    if !loads.is_empty() {
                        push = with_load(&push, first + b, loads);
                    }
                    let moved = if joints.bears(first + b) {
                        advance_on_joint(
                            b,
                            &push,
                            joints.rest(first),
                            center.items,
                            half_velocity.items,
                            momentum.items,
                            turn.items,
                            velocity.items,
                            spin.items,
                            stepping,
                        )
                    } else {
                        advance_body(
                            b,
                            &push,
                            center.items,
                            half_velocity.items,
                            momentum.items,
                            turn.items,
                            &moments[first * RECORD..],
                            velocity.items,
                            spin.items,
                            stepping,
                        )
                    };
                    all.flags |= moved.flags;
                    all.damping_work += moved.damping_work;
                }
                moves.items[0] = all;
            },
        );
        self.moves_of_bodies.iter().fold(STILL, |all, one| Moved {
            flags: all.flags | one.flags,
            damping_work: all.damping_work + one.damping_work,
            ..all
        })
    }

    /// Puts all carried grains where their bodies have them.
    fn take_grains_along<const SIDES: u32>(&mut self) {
        let n = self.fields.len();
        let Fields {
            member,
            position,
            velocity,
            spin,
            half_velocity,
            reference,
            ..
        } = &mut self.fields;
        let (member, reference, bodies, stepping) = (&member[..], &reference[..], &self.bodies, &self.stepping);
        let records = |items| Strided {
            items,
            per_part: PART * RECORD,
        };
        let data = (
            records(&mut position[..]),
            records(&mut velocity[..]),
            records(&mut spin[..]),
            Strided {
                items: &mut half_velocity[..],
                per_part: PART * 3,
            },
            Strided {
                items: &mut self.moves[..],
                per_part: 1,
            },
        );
        type Numbers<'a> = Strided<'a, f64>;
        type Data<'a> = (Numbers<'a>, Numbers<'a>, Numbers<'a>, Numbers<'a>, Strided<'a, Moved<f64>>);
        self.device
            .run(parts(n), data, |part, (position, velocity, spin, half_velocity, moves): Data| {
                let (first, end) = part_range(part, n);
                for (i, &m) in member.iter().enumerate().take(end).skip(first) {
                    let Some(b) = bodies.of(m) else { continue };
                    let at = (i - first) * RECORD;
                    let carried = carry::<f64>(
                        b,
                        m as usize,
                        &load(position.items, at),
                        &load(reference, 3 * i),
                        &bodies.offset,
                        &bodies.center,
                        &bodies.turn,
                        &bodies.velocity,
                        &bodies.spin,
                        stepping,
                        SIDES,
                    );
                    store(position.items, at, &carried.position);
                    store(velocity.items, at, &carried.velocity);
                    store(spin.items, at, &carried.spin);
                    store(half_velocity.items, (i - first) * 3, &carried.moving);
                    let moved = &mut moves.items[0];
                    moved.flags |= carried.flags;
                    moved.stride_square = moved.stride_square.max(carried.stride_square);
                }
            });
    }

    /// The body that carries the grain at place i.
    pub(crate) fn body_of(&self, i: usize) -> Option<usize> {
        self.fields.member.get(i).and_then(|&m| self.bodies.of(m))
    }

    /// The body that carries the grain at place i or, of a copy, the grain that it is a copy of.
    pub(crate) fn body_of_original(&self, i: usize) -> Option<usize> {
        self.fields.member.get(i).and_then(|&m| self.bodies.of(original_of(m)))
    }

    /// Whether the grain at place i is of a body that is held or on a joint.
    pub(crate) fn is_bound(&self, i: usize) -> bool {
        self.body_of(i).is_some_and(|b| self.bodies.is_bound(b))
    }

    /// Whether the grains at places i and j never touch: those of one body, and those that are held.
    pub(crate) fn never_touch(&self, i: usize, j: usize) -> bool {
        let body = self.body_of_original(i);
        body.is_some() && body == self.body_of_original(j) || self.is_held(i) && self.is_held(j)
    }

    /// Whether the grain at place i left a domain, or the center of the body that carries it.
    pub(crate) fn has_gone(&self, i: usize, domain: &Domain) -> bool {
        match self.body_of_original(i) {
            Some(b) => self.bodies.has_left(b, domain),
            None => domain.has_lost(&self.fields.position[i * RECORD..]),
        }
    }

    /// Keeps only some grains, and only bodies all of whose grains are among them; returns their places before.
    pub(crate) fn keep_grains(&mut self, stays: impl Fn(usize) -> bool) -> Vec<u32> {
        let n = self.fields.len();
        let mut of_body = vec![true; self.bodies.len()];
        for i in (0..n).filter(|&i| !stays(i)) {
            if let Some(b) = self.body_of(i) {
                of_body[b] = false;
            }
        }
        let is_kept = |&i: &u32| self.body_of(i as usize).map_or_else(|| stays(i as usize), |b| of_body[b]);
        let order: Vec<u32> = (0..n as u32).filter(is_kept).collect();
        self.fields.reorder(&self.device, &order);
        if self.carries {
            self.keep_bodies(|b| of_body[b]);
        }
        order
    }

    /// Keeps only some bodies; grains of others are not carried any more, or gone.
    pub(crate) fn keep_bodies(&mut self, stays: impl Fn(usize) -> bool) {
        let renamed = self.bodies.retain(stays);
        let carried = self.fields.member.iter_mut().filter(|m| **m != FREE);
        carried.for_each(|m| *m = renamed[*m as usize]);
        self.bodies.find_places(&self.fields.member);
    }

    /// Books what bodies take along that are removed from outside a domain.
    pub(crate) fn book_bodies_leaving(&mut self, domain: &Domain) {
        let leaving = (0..self.bodies.len()).filter(|&b| self.bodies.has_left(b, domain));
        let along: f64 = leaving.flat_map(|b| self.energies_of_body(b)).sum();
        self.books_of_bodies().left_domain += along;
    }

    /// Sorts the grains into cells without those that left, or whose body did; what bodies take along is booked.
    pub(crate) fn sort_without_lost(&mut self, domain: &Domain) {
        let lost: Vec<bool> = (0..self.fields.len()).map(|i| self.has_gone(i, domain)).collect();
        self.book_bodies_leaving(domain);
        let before = lost.contains(&true).then(|| self.keep_grains(|i| !lost[i]));
        self.cells.sort(&self.device, &mut self.fields, |_| true);
        if let Some(before) = before {
            self.cells.old_of.iter_mut().for_each(|old| *old = before[*old as usize]);
        }
    }

    /// Kinetic energy, rotational energy and potential in gravity of body b \[J\]; none of one that is held.
    pub(crate) fn energies_of_body(&self, b: usize) -> [f64; 3] {
        if self.bodies.held.holds(b) {
            return [0.0; 3];
        }
        let moving = self.bodies.moving(b, &self.fields, &self.stepping);
        let (mass, center) = (self.bodies.center[b * RECORD + 3], load::<f64>(&self.bodies.center, b * RECORD));
        [
            kinetic_energy(mass, &moving.velocity),
            self.bodies.rotational(b, &moving.momentum),
            gravity_energy(mass, &self.stepping.gravity, &center),
        ]
    }

    /// All bodies as they stand, in the order in which they were given.
    ///
    /// # Panics
    /// As [`Simulation::ledger`].
    pub fn bodies(&self) -> Vec<crate::BodySnapshot> {
        self.assert_observed();
        self.bodies.snapshot(&self.fields, &self.stepping)
    }

    /// The same without being observed, with velocities as far as they are known; `None` where a GPU or other domains have them.
    pub fn bodies_now(&self) -> Option<Vec<crate::BodySnapshot>> {
        let are_here = self.division.is_none() && !self.is_remote();
        are_here.then(|| self.bodies.snapshot(&self.fields, &self.stepping))
    }
}
