//! The pass of Gear's method, in place of kick and drift: every grain is corrected by the forces of the step before, and predicted.

use crate::fields::{Fields, PART, part_range, parts};
use crate::simulation::Simulation;
use seixo_device::Strided;
use seixo_laws::motion::Scheme;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::gear::{Geared, Pushed, TURNS, WAYS, advance_by_gear, begin, give_higher, look_ahead, rates_of};
use seixo_sweeps::motion::{Moved, STILL};
use seixo_sweeps::views::RECORD;
use std::ops::Range;

/// What moves all grains, with room for their derivatives, and what pushes them.
fn geared(fields: &mut Fields) -> (Geared<'_>, Pushed<'_>) {
    fields.ways.resize(fields.id.len() * WAYS, 0.0);
    fields.turns.resize(fields.turn.len() / RECORD * TURNS, 0.0);
    let grains = Geared {
        position: &mut fields.position,
        velocity: &mut fields.velocity,
        half_velocity: &mut fields.half_velocity,
        ways: &mut fields.ways,
        spin: &mut fields.spin,
        half_spin: &mut fields.half_spin,
        turn: &mut fields.turn,
        turns: &mut fields.turns,
    };
    let pushed = Pushed {
        force: &fields.force,
        torque: &fields.torque,
        reference: &fields.reference,
    };
    (grains, pushed)
}

impl Simulation {
    /// Whether grains move by Gear's method.
    pub(crate) fn is_geared(&self) -> bool {
        self.settings.scheme.corrects().is_some()
    }

    /// Begins Gear's method with some grains: their derivatives are those of the forces that they feel, the third and fourth are zero.
    pub(crate) fn begin_gear(&mut self, grains: Range<usize>) {
        if !self.is_geared() {
            return;
        }
        let stepping = self.stepping;
        let (mut geared, pushed) = geared(&mut self.fields);
        grains.for_each(|i| begin(i, &mut geared, &pushed, &stepping));
    }

    /// As [`Simulation::begin_gear`] at time zero, with all grains and with third and fourth derivatives, without which the first step would cost
    /// two orders: from forces where the grains will be a step later and were a step before. What contacts remember begins anew each time.
    pub(crate) fn begin_gear_at_start(&mut self) {
        if !self.is_geared() {
            return;
        }
        let n = self.fields.len();
        self.begin_gear(0..n);
        let (dt, stepping, bonds) = (self.stepping.dt, self.stepping, self.bonds.clone());
        // The first round sees forces along a series that ends with the second derivative.
        for _round in 0..2 {
            let start = self.fields.clone();
            let mut rates = Vec::new();
            for time in [-dt, dt] {
                let (mut there, _) = geared(&mut self.fields);
                (0..n).for_each(|i| look_ahead(i, &mut there, time));
                self.find_forces_anew();
                let (there, pushed) = geared(&mut self.fields);
                rates.push((0..n).map(|i| rates_of(i, &there, &pushed, &stepping)).collect::<Vec<_>>());
                self.fields = start.clone();
                self.bonds = bonds.clone();
            }
            let (mut grains, _) = geared(&mut self.fields);
            (0..n).for_each(|i| give_higher(i, &mut grains, &rates[0][i], &rates[1][i], dt));
        }
        self.find_forces_anew();
    }

    /// Forces where the grains are now, as at time zero: no contact remembers anything.
    fn find_forces_anew(&mut self) {
        self.pairs.history.fill(0.0);
        self.walls.history.fill(0.0);
        self.touch_grains();
        self.touch_walls();
        self.hold_grains();
        self.lay_loads_on(0..self.fields.len());
    }

    /// All grains one step on.
    pub(crate) fn advance_grains_by_gear(&mut self) {
        self.steps += 1;
        let share = self.settings.scheme.corrects().unwrap_or(Scheme::GEAR);
        let n = self.fields.len();
        let Fields {
            member,
            position,
            velocity,
            spin,
            half_velocity,
            half_spin,
            force,
            torque,
            reference,
            turn,
            ways,
            turns,
            ..
        } = &mut self.fields;
        let (member, force, torque, reference, stepping) = (&member[..], &force[..], &torque[..], &reference[..], &self.stepping);
        let rotating = usize::from(!turn.is_empty());
        let records = |items, per_grain: usize| Strided {
            items,
            per_part: PART * per_grain,
        };
        let data = (
            (records(&mut position[..], RECORD), records(&mut velocity[..], RECORD)),
            (records(&mut half_velocity[..], 3), records(&mut ways[..], WAYS)),
            (records(&mut spin[..], RECORD * rotating), records(&mut half_spin[..], 3 * rotating)),
            (records(&mut turn[..], RECORD * rotating), records(&mut turns[..], TURNS * rotating)),
            Strided {
                items: &mut self.moves[..],
                per_part: 1,
            },
        );
        type Numbers<'a> = (Strided<'a, f64>, Strided<'a, f64>);
        type Data<'a> = (Numbers<'a>, Numbers<'a>, Numbers<'a>, Numbers<'a>, Strided<'a, Moved<f64>>);
        self.device
            .run(parts(n), data, |part, (places, rates, spins, orientations, moves): Data| {
                let (first, end) = part_range(part, n);
                let mut geared = Geared {
                    position: places.0.items,
                    velocity: places.1.items,
                    half_velocity: rates.0.items,
                    ways: rates.1.items,
                    spin: spins.0.items,
                    half_spin: spins.1.items,
                    turn: orientations.0.items,
                    turns: orientations.1.items,
                };
                let pushed = Pushed {
                    force: &force[first * RECORD..],
                    torque: torque.get(first * RECORD..).unwrap_or(&[]),
                    reference: &reference[first * 3..],
                };
                let mut all = STILL;
                for i in 0..end - first {
                    if member.get(first + i).is_some_and(|&member| member != FREE) {
                        continue;
                    }
                    let moved = advance_by_gear(i, &mut geared, &pushed, stepping, share);
                    all.flags |= moved.flags;
                    all.stride_square = all.stride_square.max(moved.stride_square);
                    all.damping_work += moved.damping_work;
                }
                moves.items[0] = all;
            });
    }
}
