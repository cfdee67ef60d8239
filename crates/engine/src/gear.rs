//! The pass of Gear's method, in place of kick and drift: every grain is corrected by the forces of the step before, and predicted.

use crate::fields::{Fields, PART, part_range, parts};
use crate::simulation::Simulation;
use seixo_device::Strided;
use seixo_laws::motion::Scheme;
use seixo_sweeps::bodies::FREE;
use seixo_sweeps::gear::{Geared, Pushed, TURNS, WAYS, advance_by_gear, begin};
use seixo_sweeps::motion::{Moved, STILL};
use seixo_sweeps::views::RECORD;
use std::ops::Range;

impl Simulation {
    /// Whether grains move by Gear's method.
    pub(crate) fn is_geared(&self) -> bool {
        self.settings.scheme.corrects().is_some()
    }

    /// Begins Gear's method with some grains: their derivatives are those of the forces that they feel.
    pub(crate) fn begin_gear(&mut self, grains: Range<usize>) {
        if !self.is_geared() {
            return;
        }
        let fields = &mut self.fields;
        fields.ways.resize(fields.id.len() * WAYS, 0.0);
        fields.turns.resize(fields.turn.len() / RECORD * TURNS, 0.0);
        let mut geared = Geared {
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
        grains.for_each(|i| begin(i, &mut geared, &pushed, &self.stepping));
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
