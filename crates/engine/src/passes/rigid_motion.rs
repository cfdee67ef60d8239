//! Pass of rigid bodies: it integrates their motion under the forces on their grains, and moves these grains.

use crate::bodies::Bodies;
use crate::fields::{Fields, PART, Sorted, part_range, parts};
use crate::populations::Populations;
use crate::world::{Domain, Grains, Vec3, vector};
use seixo_device::Strided;
use seixo_laws::motion::{gravity_energy, kinetic_energy};
use seixo_laws::rotation::angular_momentum;
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::bodies::{FREE, advance_body, carry, orientation_at, original_of, push_on, store_orientation, with_load};
use seixo_sweeps::gear::{ORIENTATION_DERIVATIVES, POSITION_DERIVATIVES, advance_body_by_gear};
use seixo_sweeps::joints::advance_on_joint;
use seixo_sweeps::layout::{RECORD, load, store};
use seixo_sweeps::motion::{AT_REST, MotionReport};
use seixo_sweeps::periodic::{OPEN, PERIODIC};
use std::ops::Range;

/// Factor on the mass of a body with prescribed motion in contacts. It is so large that the effective mass is that of the other grain, which moves
/// freely: such bodies have no contacts with walls or with each other.
const UNMOVED: f64 = 1e9;

/// Bodies per part, the unit of work; the same for any number of threads.
const BODIES_OF_PART: usize = 64;

impl Populations {
    /// Initializes bodies at time zero, and their grains.
    pub(crate) fn init_bodies(&mut self, grains: &Grains) {
        let (bodies, members) = Bodies::new(grains);
        let member = self.grains.fields.id.iter().map(|id| members.get(id).copied().unwrap_or(FREE));
        self.grains.fields.member = member.collect();
        self.bodies = bodies;
        self.bodies.find_places(&self.grains.fields.member);
        self.move_prescribed_bodies(true);
        self.place_members(0..self.grains.fields.len());
    }

    /// Places these grains on the bodies that carry them, if any do, with their velocities and, if they have them, orientations.
    pub(crate) fn place_members(&mut self, grains: Range<usize>) {
        for i in grains {
            let m = self.grains.fields.member[i];
            let Some(b) = self.bodies.of(m) else { continue };
            let center: Vector3<f64> = load(&self.bodies.center, b * RECORD);
            let place = center.plus(&self.bodies.arm(m));
            store(&mut self.grains.fields.position, i * RECORD, &place);
            store(&mut self.grains.fields.reference, 3 * i, &place);
            if let Some(orientation) = self.grains.fields.orientation.get_mut(i * RECORD..(i + 1) * RECORD) {
                store_orientation(orientation, 0, &self.bodies.orientation_of(m, b));
            }
            self.move_with_body(i, b);
        }
    }

    /// Sets the velocities of grain i on body b, and the mass that its contacts use.
    pub(crate) fn move_with_body(&mut self, i: usize, b: usize) {
        let (arm, at) = (self.bodies.arm(self.grains.fields.member[i]), i * RECORD);
        let spin: Vector3<f64> = load(&self.bodies.spin, b * RECORD);
        let velocity = load::<f64>(&self.bodies.velocity, b * RECORD).plus(&spin.cross(&arm));
        store(&mut self.grains.fields.velocity, at, &velocity);
        store(&mut self.grains.fields.half_velocity, 3 * i, &velocity);
        store(&mut self.grains.fields.spin, at, &spin);
        // Contacts use the inertia of the whole body, not of one of its spheres. No force moves a body with prescribed motion.
        let inertia = if self.bodies.held.is_body_prescribed(b) { UNMOVED } else { 1.0 };
        self.grains.fields.velocity[at + 3] = inertia * self.bodies.center[b * RECORD + 3];
    }

    /// The group of body b: that of its first grain.
    pub(crate) fn group_of_body(&self, b: usize) -> u32 {
        self.grains.fields.group[self.bodies.place[self.bodies.row[b] as usize] as usize]
    }

    /// Like [`Populations::set_half_step_velocities`], for bodies.
    pub(crate) fn set_half_step_body_velocities(&mut self, bodies: impl IntoIterator<Item = usize>) {
        for b in bodies {
            self.bodies.shift_to_half_step(b, &self.grains.fields, &self.context.stepping);
        }
    }

    /// Sets the velocity of some bodies \[m/s\], except those with prescribed motion or on joints; their rotation is kept.
    pub(crate) fn set_velocity_of_bodies(&mut self, velocity: Vec3, is_chosen: impl Fn(&Populations, usize) -> bool) {
        let velocity = vector(velocity);
        for b in 0..self.bodies.len() {
            if is_chosen(self, b) && !self.bodies.is_bound(b) {
                let at = b * RECORD;
                store(&mut self.bodies.velocity, at, &velocity);
                let [rate, _] = self.bodies.rates(b, &self.grains.fields, &self.context.stepping);
                let back = rate.times(self.context.stepping.velocity_lead);
                store(&mut self.bodies.half_velocity, at, &velocity.minus(&back));
            }
        }
    }

    /// Sets the angular velocity of some bodies \[rad/s\], except those with prescribed motion or on joints.
    pub(crate) fn set_spin_of_bodies(&mut self, spin: Vec3, is_chosen: impl Fn(&Populations, usize) -> bool) {
        let spin = vector(spin);
        for b in 0..self.bodies.len() {
            if is_chosen(self, b) && !self.bodies.is_bound(b) {
                let at = b * RECORD;
                store(&mut self.bodies.spin, at, &spin);
                let [_, rate] = self.bodies.rates(b, &self.grains.fields, &self.context.stepping);
                let moments: Vector3<f64> = load(&self.bodies.moments, at);
                let momentum = angular_momentum(&orientation_at(&self.bodies.orientation, at), &spin, &moments);
                let back = rate.times(self.context.stepping.velocity_lead);
                store(&mut self.bodies.momentum, at, &momentum.minus(&back));
            }
        }
    }

    /// Kick and drift of all bodies and of their grains.
    pub(crate) fn advance_bodies(&mut self) {
        let mut moved = self.move_bodies();
        moved.flags |= self.move_prescribed_bodies(false);
        match self.context.sides {
            OPEN => self.move_members::<OPEN>(),
            _ => self.move_members::<PERIODIC>(),
        }
        self.bodies.held.note_carried();
        // Grains of bodies raise flags in the report of their part; flags of the bodies are added to the first report. In a subdomain without grains
        // they are dropped, as other subdomains raise them, too.
        if let Some(first) = self.grains.motion_reports.first_mut() {
            first.flags |= moved.flags;
        }
        self.body_ledger().local_damping += moved.damping_work;
    }

    /// Integrates bodies without prescribed motion over one step; returns their flags and dissipated energy, combined in their order.
    fn move_bodies(&mut self) -> MotionReport<f64> {
        let count = self.bodies.len();
        let of_bodies = count.div_ceil(BODIES_OF_PART);
        let correction = self.context.settings.scheme.corrects();
        let Bodies {
            row,
            center,
            half_velocity,
            momentum,
            orientation,
            moments,
            velocity,
            spin,
            position_derivatives,
            orientation_derivatives,
            offset,
            place,
            load: loads,
            body_forces: forces,
            held,
            joints,
            motion_reports,
            ..
        } = &mut self.bodies;
        let (row, moments, offset, place, loads) = (&row[..], &moments[..], &offset[..], &place[..], &loads[..]);
        let (held, joints) = (&*held, &*joints);
        let ([force, torque], stepping) = (forces.or_of(&self.grains.fields), &self.context.stepping);
        motion_reports.resize(of_bodies, AT_REST);
        let numbers = |items, per_body: usize| Strided {
            items,
            per_part: BODIES_OF_PART * per_body,
        };
        let data = (
            numbers(&mut center[..], RECORD),
            numbers(&mut half_velocity[..], RECORD),
            numbers(&mut momentum[..], RECORD),
            numbers(&mut orientation[..], RECORD),
            numbers(&mut velocity[..], RECORD),
            numbers(&mut spin[..], RECORD),
            (
                numbers(&mut position_derivatives[..], POSITION_DERIVATIVES),
                numbers(&mut orientation_derivatives[..], ORIENTATION_DERIVATIVES),
            ),
            Strided {
                items: &mut motion_reports[..],
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
            (Numbers<'a>, Numbers<'a>),
            Strided<'a, MotionReport<f64>>,
        );
        self.context.device.run(
            of_bodies,
            data,
            |part, (center, half_velocity, momentum, orientation, velocity, spin, derivatives, moves): Data| {
                let first = part * BODIES_OF_PART;
                let end = (first + BODIES_OF_PART).min(count);
                let mut all = AT_REST;
                for b in (0..end - first).filter(|b| !held.is_body_prescribed(first + b)) {
                    let (member, members_end) = (row[first + b] as usize, row[first + b + 1] as usize);
                    let stands = orientation_at(orientation.items, b * RECORD);
                    let mut push = push_on::<f64, f64>(member, members_end, place, offset, &stands, force, torque, true);
                    if !loads.is_empty() {
                        push = with_load(&push, first + b, loads);
                    }
                    let moved = if joints.is_on_joint(first + b) {
                        advance_on_joint(
                            b,
                            &push,
                            joints.rest(first),
                            center.items,
                            half_velocity.items,
                            momentum.items,
                            orientation.items,
                            velocity.items,
                            spin.items,
                            stepping,
                        )
                    } else if let Some(share) = correction {
                        advance_body_by_gear(
                            b,
                            &push,
                            center.items,
                            half_velocity.items,
                            momentum.items,
                            orientation.items,
                            &moments[first * RECORD..],
                            velocity.items,
                            spin.items,
                            derivatives.0.items,
                            derivatives.1.items,
                            stepping,
                            share,
                        )
                    } else {
                        advance_body(
                            b,
                            &push,
                            center.items,
                            half_velocity.items,
                            momentum.items,
                            orientation.items,
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
        self.bodies.motion_reports.iter().fold(AT_REST, |all, one| MotionReport {
            flags: all.flags | one.flags,
            damping_work: all.damping_work + one.damping_work,
            ..all
        })
    }

    /// Moves all grains of bodies to their positions on the bodies. Those of bodies that are at rest for good are there after one step.
    fn move_members<const SIDES: u32>(&mut self) {
        let n = self.grains.fields.len();
        let Fields {
            member,
            position,
            velocity,
            spin,
            half_velocity,
            reference,
            ..
        } = &mut self.grains.fields;
        let (member, reference, bodies, stepping) = (&member[..], &reference[..], &self.bodies, &self.context.stepping);
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
                items: &mut self.grains.motion_reports[..],
                per_part: 1,
            },
        );
        type Numbers<'a> = Strided<'a, f64>;
        type Data<'a> = (Numbers<'a>, Numbers<'a>, Numbers<'a>, Numbers<'a>, Strided<'a, MotionReport<f64>>);
        self.context
            .device
            .run(parts(n), data, |part, (position, velocity, spin, half_velocity, moves): Data| {
                let (first, end) = part_range(part, n);
                for (i, &m) in member.iter().enumerate().take(end).skip(first) {
                    let Some(b) = bodies.of(m) else { continue };
                    let at = (i - first) * RECORD;
                    // Across periodic sides, the image depends on the last list.
                    if SIDES == OPEN && bodies.held.is_carried(b) {
                        store(half_velocity.items, (i - first) * 3, &Vector3::<f64>::zero());
                        continue;
                    }
                    let carried = carry::<f64>(
                        b,
                        m as usize,
                        &load(position.items, at),
                        &load(reference, 3 * i),
                        &bodies.offset,
                        &bodies.center,
                        &bodies.orientation,
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

    /// Moves the grains of bodies that move freely to their positions on the bodies, with their velocities and orientations, outside of a step.
    pub(crate) fn place_members_of_free_bodies(&mut self) {
        let (fields, bodies) = (&mut self.grains.fields, &self.bodies);
        for i in 0..fields.member.len() {
            let m = fields.member[i];
            let Some(b) = bodies.of(m).filter(|b| !bodies.held.is_body_prescribed(*b)) else {
                continue;
            };
            let at = i * RECORD;
            let carried = carry::<f64>(
                b,
                m as usize,
                &load(&fields.position, at),
                &load(&fields.reference, 3 * i),
                &bodies.offset,
                &bodies.center,
                &bodies.orientation,
                &bodies.velocity,
                &bodies.spin,
                &self.context.stepping,
                self.context.sides,
            );
            store(&mut fields.position, at, &carried.position);
            store(&mut fields.velocity, at, &carried.velocity);
            store(&mut fields.spin, at, &carried.spin);
            if !fields.orientation.is_empty() {
                store_orientation(&mut fields.orientation, at, &bodies.orientation_of(m, b));
            }
        }
    }

    /// The body that carries grain i.
    pub(crate) fn body_of(&self, i: usize) -> Option<usize> {
        self.grains.fields.member.get(i).and_then(|&m| self.bodies.of(m))
    }

    /// Orientation of grain i in a world whose grains have none of their own, a unit quaternion w x y z: that of its body, or that of space.
    pub(crate) fn orientation_in_body(&self, i: usize) -> [f64; 4] {
        let Some(b) = self.body_of(i) else {
            return [1.0, 0.0, 0.0, 0.0];
        };
        let Quaternion { w, x, y, z } = self.bodies.orientation_of(self.grains.fields.member[i], b);
        [w, x, y, z]
    }

    /// The body that carries grain i or, for a ghost particle, its original.
    pub(crate) fn body_of_owner(&self, i: usize) -> Option<usize> {
        self.grains.fields.member.get(i).and_then(|&m| self.bodies.of(original_of(m)))
    }

    /// Whether grain i belongs to a body with prescribed motion or on a joint.
    pub(crate) fn is_bound(&self, i: usize) -> bool {
        self.body_of(i).is_some_and(|b| self.bodies.is_bound(b))
    }

    /// Whether grains i and j never have a contact: in the same body, or both with prescribed motion.
    pub(crate) fn excluded_from_contact(&self, i: usize, j: usize) -> bool {
        let body = self.body_of_owner(i);
        body.is_some() && body == self.body_of_owner(j) || self.is_prescribed(i) && self.is_prescribed(j)
    }

    /// Whether grain i left a domain, or the center of its body did.
    pub(crate) fn is_outside(&self, i: usize, domain: &Domain) -> bool {
        match self.body_of_owner(i) {
            Some(b) => self.bodies.has_left(b, domain),
            None => domain.is_outside_domain(&self.grains.fields.position[i * RECORD..]),
        }
    }

    /// Keeps only some grains, and only bodies all of whose grains are kept; returns their previous indices.
    pub(crate) fn retain_grains(&mut self, stays: impl Fn(usize) -> bool) -> Vec<u32> {
        let n = self.grains.fields.len();
        let mut of_body = vec![true; self.bodies.len()];
        for i in (0..n).filter(|&i| !stays(i)) {
            if let Some(b) = self.body_of(i) {
                of_body[b] = false;
            }
        }
        let is_kept = |&i: &u32| self.body_of(i as usize).map_or_else(|| stays(i as usize), |b| of_body[b]);
        let order: Vec<u32> = (0..n as u32).filter(is_kept).collect();
        self.grains.fields.reorder(&self.context.device, &order);
        if self.bodies.are_present {
            self.retain_bodies(|b| of_body[b]);
        }
        order
    }

    /// Keeps only some bodies; grains of the others become free, or were removed.
    pub(crate) fn retain_bodies(&mut self, stays: impl Fn(usize) -> bool) {
        let renamed = self.bodies.retain(stays);
        let carried = self.grains.fields.member.iter_mut().filter(|m| **m != FREE);
        carried.for_each(|m| *m = renamed[*m as usize]);
        self.bodies.find_places(&self.grains.fields.member);
    }

    /// Adds the energy of bodies that are removed outside a domain to the ledger.
    pub(crate) fn remove_body_energy(&mut self, domain: &Domain) {
        let leaving = (0..self.bodies.len()).filter(|&b| self.bodies.has_left(b, domain));
        let along: f64 = leaving.flat_map(|b| self.energies_of_body(b)).sum();
        self.body_ledger().left_domain += along;
    }

    /// Sorts the grains into cells, without those that left, or whose body did; adds the energy of these bodies to the ledger.
    pub(crate) fn sort_without_lost(&mut self, domain: &Domain) {
        let lost: Vec<bool> = (0..self.grains.fields.len()).map(|i| self.is_outside(i, domain)).collect();
        self.remove_body_energy(domain);
        let before = lost.contains(&true).then(|| self.retain_grains(|i| !lost[i]));
        self.grains.cells.order(&self.context.device, &mut self.grains.fields, |_| true);
        if let Some(before) = before {
            self.grains.cells.old_of.iter_mut().for_each(|old| *old = before[*old as usize]);
        }
    }

    /// Kinetic, rotational and potential energy of body b \[J\]; zero with prescribed motion.
    pub(crate) fn energies_of_body(&self, b: usize) -> [f64; 3] {
        if self.bodies.held.is_body_prescribed(b) {
            return [0.0; 3];
        }
        let moving = self.bodies.moving(b, &self.grains.fields, &self.context.stepping);
        let (mass, center) = (self.bodies.center[b * RECORD + 3], load::<f64>(&self.bodies.center, b * RECORD));
        [
            kinetic_energy(mass, &moving.velocity),
            self.bodies.rotational(b, &moving.momentum),
            gravity_energy(mass, &self.context.stepping.gravity, &center),
        ]
    }
}
