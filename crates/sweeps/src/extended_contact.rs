//! Contact sweep of a CPU for extended contacts: pair by pair, in the order of the list.
//!
//! ```
//! use seixo_sweeps::extended_contact::blank;
//! use seixo_sweeps::layout::{EXTENDED_HISTORY_STRIDE, extended_history_at};
//! // The history of a new contact is a record of zeros.
//! let (contact_history, extended_history) = blank::<f64>();
//! let stored = extended_history_at::<f64>(&[0.0; EXTENDED_HISTORY_STRIDE], 0);
//! assert_eq!(contact_history.force.length(), 0.0);
//! assert_eq!((extended_history.rolling, extended_history.holds), (stored.rolling, stored.holds));
//! ```

use crate::contact::PowerSums;
use crate::layout::{
    EXTENDED_HISTORY_STRIDE, RECORD, coefficients, contact_history_at, extended_coefficients, extended_history_at, load, store,
    store_extended_history,
};
use crate::pair::{Pair, depth_of, extended_contact};
use crate::part::{GrainsView, Limits, PartOut, PartRows, record};
use crate::periodic::{STRETCHED, by_components, image_velocity, nearest_image};
use seixo_laws::contact::{ContactHistory, ExtendedHistory};
use seixo_laws::{Real, Vector3, larger, smaller};

/// Contacts of all grains of a part with the partners in their rows. A pair inside the part is computed once if it is in one row. An entry is
/// evaluated if its grains overlap, or were connected a step ago. `SIDES` is [`STRETCHED`] for a stretched cell, and [`crate::periodic::SHEARED`] for all
/// others.
pub fn extended_contacts_of_part<R: Real, const SIDES: u32>(
    grains: &GrainsView<R>,
    rows: &PartRows,
    limits: Limits<R>,
    out: PartOut<R>,
) -> PowerSums<R> {
    let (zero, half) = (R::new(0.0), R::new(0.5));
    let mut power_sums = PowerSums {
        normal_power: zero,
        tangential_power: zero,
        damping_power: zero,
        wall_power: zero,
        excess: R::new(-1.0),
        across: Vector3::zero(),
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
            let image = nearest_image::<R, R>(&apart, grains.sides, SIDES);
            let apart = image.apart;
            let depth = depth_of::<R>(&apart, x_i[3] + x_j[3]);
            let at = (k - base) * EXTENDED_HISTORY_STRIDE;
            let before = extended_history_at(out.history, at);
            let held = before.holds > zero;
            if !(depth > zero || held) {
                continue;
            }
            let (v_i, v_j) = (record(grains.velocity, i), record(grains.velocity, j));
            let slide = image_velocity::<R>(image.passed, &image.crossed, grains.sides, SIDES);
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
            let (contact_history, extended_history) = if held {
                (contact_history_at(out.history, at), before)
            } else {
                blank()
            };
            let row = (grains.material[i] * grains.materials + grains.material[j]) as usize;
            let result = extended_contact::<R>(
                &pair,
                &load(grains.spin, i * RECORD),
                &load(grains.spin, j * RECORD),
                &contact_history,
                &extended_history,
                &coefficients(grains.table, row),
                &extended_coefficients(grains.table, row),
                limits.dt,
            );
            let outcome = &result.outcome;
            let holds = result.extended_history.holds > zero;
            store(out.history, at, &outcome.history.force);
            out.history[at + 3] = outcome.history.contact_radius;
            store_extended_history(out.history, at, &result.extended_history);
            let is_inside = j.wrapping_sub(rows.first) < rows.inside();
            // A pair in two rows, as across parts, adds half of its work to the ledger in each.
            let share = if is_inside { R::new(1.0) } else { half };
            power_sums.normal_power += share * outcome.normal_power;
            power_sums.tangential_power += share * outcome.tangential_power;
            power_sums.damping_power += share * outcome.damping_power;
            if SIDES == STRETCHED {
                let across = by_components::<R>(&outcome.force, &image.crossed);
                power_sums.across = power_sums.across.plus(&across.times(share));
            } else {
                power_sums.wall_power += share * outcome.force.dot(&slide);
            }
            power_sums.excess = larger::<R>(power_sums.excess, outcome.overlap - limits.overlap * smaller::<R>(x_i[3], x_j[3]));
            let (force, bend) = (&outcome.force, &outcome.bend);
            let wall_contacts = R::new(if holds { 1.0 } else { 0.0 });
            give(
                out.force,
                out.torque,
                i - rows.first,
                force,
                &bend.times(outcome.arm_i).plus(&result.couple),
                wall_contacts,
            );
            if is_inside {
                give(
                    out.force,
                    out.torque,
                    j - rows.first,
                    &force.times(R::new(-1.0)),
                    &bend.times(outcome.arm_j).minus(&result.couple),
                    wall_contacts,
                );
            }
        }
    }
    power_sums
}

/// History of a new contact.
pub fn blank<R: Real>() -> (ContactHistory<R>, ExtendedHistory<R>) {
    let zero = R::new(0.0);
    (
        ContactHistory {
            force: Vector3::zero(),
            contact_radius: zero,
        },
        ExtendedHistory {
            rolling: Vector3::zero(),
            twisting: zero,
            largest_overlap: zero,
            holds: zero,
        },
    )
}

/// Adds a force, a torque and a contact count to those of a grain.
fn give<R: Real>(forces: &mut [R], torques: &mut [R], slot: usize, force: &Vector3<R>, torque: &Vector3<R>, wall_contacts: R) {
    let at = slot * RECORD;
    for (axis, (f, t)) in [(force.x, torque.x), (force.y, torque.y), (force.z, torque.z)]
        .into_iter()
        .enumerate()
    {
        forces[at + axis] += f;
        torques[at + axis] += t;
    }
    forces[at + 3] += wall_contacts;
}
