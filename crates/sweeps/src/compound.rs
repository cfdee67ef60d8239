//! The contact sweep of a CPU where contacts are compound: one pair after the other, in the order of the list.

use crate::contact::Tally;
use crate::pair::{Pair, depth_of, stick_together};
use crate::part::{GrainsView, Limits, PartOut, PartRows, record};
use crate::sides::{Image, SHEARED, nearest_image};
use crate::views::{COMPOUND, RECORD, coefficients, imprint_at, load, memory_at, store, store_imprint, supplement};
use seixo_laws::contact::{Imprint, Memory};
use seixo_laws::{Real, Vector3, larger, smaller};

/// Contacts of all grains of a part with the partners in their rows, a pair inside the part once if it stands in one row. An entry is looked
/// at if its grains touch, or held each other a step ago.
pub fn compound_contacts_of_part<R: Real>(grains: &GrainsView<R>, rows: &PartRows, limits: Limits<R>, out: PartOut<R>) -> Tally<R> {
    let (zero, half) = (R::new(0.0), R::new(0.5));
    let mut tally = Tally {
        normal_power: zero,
        tangential_power: zero,
        damping_power: zero,
        wall_power: zero,
        excess: R::new(-1.0),
    };
    let base = rows.row[rows.first] as usize;
    for i in rows.first..rows.end {
        let x_i = record(grains.position, i);
        for k in rows.row[i] as usize..rows.row[i + 1] as usize {
            let j = rows.neighbors[k] as usize;
            let x_j = record(grains.position, j);
            let apart = Vector3 {
                x: x_i[0] - x_j[0],
                y: x_i[1] - x_j[1],
                z: x_i[2] - x_j[2],
            };
            let Image { apart, passed } = nearest_image::<R, R>(&apart, grains.sides, SHEARED);
            let depth = depth_of::<R>(&apart, x_i[3] + x_j[3]);
            let at = (k - base) * COMPOUND;
            let before = imprint_at(out.history, at);
            let held = before.holds > zero;
            if !(depth > zero || held) {
                continue;
            }
            let (v_i, v_j) = (record(grains.velocity, i), record(grains.velocity, j));
            let slide = grains.sides.slide.times(passed);
            let pair = Pair {
                apart,
                depth,
                velocity: Vector3 {
                    x: v_i[0] - v_j[0],
                    y: v_i[1] - v_j[1],
                    z: v_i[2] - v_j[2],
                }
                .minus(&slide),
                radius_i: x_i[3],
                radius_j: x_j[3],
                mass_i: v_i[3],
                mass_j: v_j[3],
            };
            let (memory, imprint) = if held { (memory_at(out.history, at), before) } else { blank() };
            let row = (grains.material[i] * grains.materials + grains.material[j]) as usize;
            let result = stick_together::<R>(
                &pair,
                &load(grains.spin, i * RECORD),
                &load(grains.spin, j * RECORD),
                &memory,
                &imprint,
                &coefficients(grains.table, row),
                &supplement(grains.table, row),
                limits.dt,
            );
            let outcome = &result.outcome;
            let holds = result.imprint.holds > zero;
            store(out.history, at, &outcome.memory.force);
            out.history[at + 3] = outcome.memory.contact_radius;
            store_imprint(out.history, at, &result.imprint);
            let is_inside = j.wrapping_sub(rows.first) < rows.inside();
            // A pair that stands in two rows, as those across parts do, books half of its work in each.
            let share = if is_inside { R::new(1.0) } else { half };
            tally.normal_power += share * outcome.normal_power;
            tally.tangential_power += share * outcome.tangential_power;
            tally.damping_power += share * outcome.damping_power;
            tally.wall_power += share * outcome.force.dot(&slide);
            tally.excess = larger::<R>(tally.excess, outcome.overlap - limits.overlap * smaller::<R>(x_i[3], x_j[3]));
            let (force, bend) = (&outcome.force, &outcome.bend);
            let touches = R::new(if holds { 1.0 } else { 0.0 });
            give(
                out.force,
                out.torque,
                i - rows.first,
                force,
                &bend.times(outcome.arm_i).plus(&result.couple),
                touches,
            );
            if is_inside {
                give(
                    out.force,
                    out.torque,
                    j - rows.first,
                    &force.times(R::new(-1.0)),
                    &bend.times(outcome.arm_j).minus(&result.couple),
                    touches,
                );
            }
        }
    }
    tally
}

/// What a contact remembers that is new.
pub fn blank<R: Real>() -> (Memory<R>, Imprint<R>) {
    let zero = R::new(0.0);
    (
        Memory {
            force: Vector3::zero(),
            contact_radius: zero,
        },
        Imprint {
            rolling: Vector3::zero(),
            twisting: zero,
            largest_overlap: zero,
            holds: zero,
        },
    )
}

/// Adds a force and a torque to those of a grain, and a touch.
fn give<R: Real>(forces: &mut [R], torques: &mut [R], slot: usize, force: &Vector3<R>, torque: &Vector3<R>, touches: R) {
    let at = slot * RECORD;
    for (axis, (f, t)) in [(force.x, torque.x), (force.y, torque.y), (force.z, torque.z)]
        .into_iter()
        .enumerate()
    {
        forces[at + axis] += f;
        torques[at + axis] += t;
    }
    forces[at + 3] += touches;
}
